"""The demo library: the same files every time, named and tagged as a good library would be."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from indexing import Library

from foley_desktop.library import ucs
from foley_desktop.library.demo import GOLDEN_NAME, create_demo, demo_clips, wav_bytes


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return create_demo(tmp_path_factory.mktemp("demo") / "clips")


def test_clips_are_ucs_named_48_khz_24_bit_and_sound_in_full(demo: Path) -> None:
    files = sorted(demo.glob("*.wav"))
    assert 40 <= len(files) <= 60
    assert sum(file.stat().st_size for file in files) < 40_000_000
    for file in files:
        name = ucs.parse_name(file.stem)
        assert name is not None and name.creator == "FOLEY" and name.source == "DEMO", file.name
        samples, rate = soundfile.read(file, always_2d=True)
        assert (rate, soundfile.info(file).subtype) == (48_000, "PCM_24")
        assert np.isfinite(samples).all()
        assert np.max(np.abs(samples)) == pytest.approx(10 ** (-3 / 20), abs=1e-3)
        assert np.sqrt(np.mean(samples**2)) > 0.004, f"{file.name} is next to silent"
        assert abs(np.mean(samples)) < 0.02, f"{file.name} has an offset"
        assert np.max(np.abs(samples[-1])) < 0.02, f"{file.name} ends with a click"


def test_no_two_clips_are_alike(demo: Path) -> None:
    digests = {hashlib.sha256(file.read_bytes()).hexdigest() for file in demo.glob("*.wav")}
    assert len(digests) == len(demo_clips())


def test_the_same_bytes_every_time(demo: Path) -> None:
    for clip in demo_clips()[::9]:
        assert (demo / clip.file_name).read_bytes() == wav_bytes(clip)


def test_a_second_call_leaves_what_is_there_and_is_quick(demo: Path) -> None:
    stamps = {file: file.stat().st_mtime_ns for file in demo.iterdir()}
    started = time.monotonic()
    create_demo(demo)
    assert time.monotonic() - started < 2.0
    assert {file: file.stat().st_mtime_ns for file in demo.iterdir()} == stamps


def test_the_golden_set_names_clips_that_are_there(demo: Path) -> None:
    document = json.loads((demo / GOLDEN_NAME).read_text("utf-8"))
    queries = [query["id"] for query in document["queries"]]
    assert len(set(queries)) == len(queries) >= 15
    assert set(document["qrels"]) == set(queries)
    answers = [clip for row in document["qrels"].values() for clip in row]
    assert all((demo / clip).is_file() for clip in answers)
    assert sum(not row for row in document["qrels"].values()) == 3


def test_indexed_it_has_categories_descriptions_and_finds_its_own(demo: Path, tmp_path: Path) -> None:
    with Library(tmp_path / "library") as library:
        report = library.index(demo, audio=False)
        assert (report.added, report.rejected) == (len(demo_clips()), ())
        clip = library.catalog.find("ANMLDog_Dog Barking_FOLEY_DEMO.wav")
        assert (clip.category, clip.subcategory, clip.catid) == ("ANIMALS", "DOG", "ANMLDog")
        assert (clip.title, clip.description) == ("Dog Barking", "A large dog barks four times")
        assert {tag.source for tag in library.catalog.tags(clip.id)} == {"bext", "INFO", "UCS name"}
        assert library.indexes.keyword.bm25("dog barking", 3)[0][0] == clip.id
        assert library.catalog.category_counts()["FOOTSTEPS", "HUMAN"] == 4
