"""The derived indexes can be lost, damaged or left behind, and come back in step with the catalog."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from indexing import Library

from foley_desktop.library.derived import delete_everywhere, listen
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.models import Filters

Synth = Callable[..., Path]


@pytest.fixture
def library(tmp_path: Path, synth: Synth) -> Iterator[Library]:
    for n in range(5):
        synth(tmp_path / "sounds" / f"door {n}.wav", 0.1 + 0.1 * n, kind="noise", seed=n)
    with Library(tmp_path / "library") as opened:
        opened.index(tmp_path / "sounds")
        yield opened


def reopen(library: Library) -> Library:
    library.indexes.close()
    return Library(library.data.path)


@pytest.mark.parametrize("name", ["keywords", "vectors"])
def test_an_index_that_was_deleted_is_made_again(library: Library, name: str) -> None:
    before = library.picture()
    library.indexes.close()
    shutil.rmtree(library.data.path / name)
    with reopen(library) as again:
        again.index()
        assert again.picture() == before


def test_a_damaged_keyword_index_is_made_again_and_said_so(library: Library, synth: Synth) -> None:
    before = library.found()
    library.indexes.close()
    for path in library.data.keywords.iterdir():
        if path.is_file() and not path.name.endswith(".lock"):
            path.write_bytes(b"\0" * 100)
    with reopen(library) as again:
        again.catalog.invalidate(again.catalog.all_ids()[:1], ["keyword"])
        report = again.index()
        assert any("keyword index was damaged" in notice for notice in report.notices)
        assert again.found() == before


def test_a_damaged_vector_table_is_made_again(library: Library) -> None:
    before = library.found()
    ids = library.catalog.all_ids()
    library.indexes.close()
    for path in sorted(library.data.vectors.rglob("*")):
        if path.is_file():
            path.write_bytes(b"\0" * 10)
    with reopen(library) as again:
        for name in ("semantic", "audio", "likeness"):
            again.catalog.invalidate(ids[:1], [name])
        again.index()
        assert again.found() == before


def test_clips_are_taken_out_everywhere_at_once(library: Library) -> None:
    root = library.catalog.roots()[0]
    gone = library.catalog.ids_of_root(root.id)
    library.catalog.remove_root(root.id)
    delete_everywhere(library.indexes, gone)
    for name in ("keyword", "semantic", "audio", "likeness"):
        assert getattr(library.indexes, name).ids() == set(), name


def test_while_someone_is_indexing_taking_out_waits_for_the_next_run(library: Library) -> None:
    root = library.catalog.roots()[0]
    gone = library.catalog.ids_of_root(root.id)
    library.catalog.remove_root(root.id)
    with writer_lock(library.data):
        delete_everywhere(library.indexes, gone)
    assert library.indexes.keyword.ids() == set(gone)
    assert library.catalog.matching_ids(Filters()) == frozenset()
    library.refill()
    assert library.indexes.keyword.ids() == set() == library.indexes.audio.ids()
    assert library.catalog.matching_ids(Filters()) is None


def test_vectors_of_another_embedder_are_taken_out_too(library: Library) -> None:
    ids = library.catalog.all_ids()
    from foley_desktop.index.vectors import LanceVectorIndex

    other = LanceVectorIndex(library.data.vectors, "other-model", 8)
    windows = library.indexes.audio.get_vectors(ids[0])
    other.upsert(ids[0], [window._replace(vector=window.vector[:8]) for window in windows])
    library.catalog.begin_indexing("audio", "other-model", ids[:1])
    library.catalog.mark_indexed("audio", "other-model", ids[:1])
    os.unlink(library.catalog.find(ids[0]).path)
    library.index()
    assert other.ids() == set()
    assert library.catalog.stale("audio") == {}


def test_indexes_stay_small_on_disk(library: Library, tmp_path: Path, synth: Synth) -> None:
    for n in range(5, 12):
        synth(tmp_path / "sounds" / f"rain {n}.wav", 0.1, kind="noise", seed=n)
        library.index()
    files = [path for path in library.data.vectors.rglob("*") if path.is_file()]
    assert len(files) < 40, "each run compacts what it wrote"


def test_a_long_clip_is_heard_to_its_end_in_windows(library: Library, tmp_path: Path, synth: Synth) -> None:
    path = synth(tmp_path / "long.wav", 47.0, samplerate=22_050, kind="noise", seed=3)
    embedder = library.models.embedder("hash")
    windows = listen(embedder, str(path))[embedder.model_id]
    assert windows[0].start_s == 0.0
    assert windows[-1].end_s == pytest.approx(47.0, abs=0.01)
    assert all(later.start_s <= earlier.end_s + 1e-6 for earlier, later in pairwise(windows))
