"""Changing the embedder: nothing that can be found is lost on the way, there and back."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clap_files
import pytest
from file_server import serving_folder

from foley_desktop.errors import DownloadError, ModelError
from foley_desktop.index.embedders import clap_store
from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library.service import LibraryService
from foley_desktop.models import IndexReport
from foley_desktop.settings import DataFolder, Settings


def finish(job: Any) -> Any:
    while True:
        try:
            next(job)
        except StopIteration as done:
            return done.value


@pytest.fixture(scope="session")
def random_checkpoint() -> Path:
    """A checkpoint of the true architecture but for RoBERTa's depth, its tokenizer beside it."""
    return clap_files.shared_checkpoint()


@pytest.fixture
def clips(synth: Any, tmp_path: Path) -> Path:
    for number, (name, kind) in enumerate(
        {"dog": "noise", "door": "clicks", "rain": "noise", "tone": "tone", "still": "silence"}.items()
    ):
        synth(f"clips/{name}.wav", seconds=0.5, kind=kind, seed=number)
    return tmp_path / "clips"


class TwoHashes(InProcessModels):
    """The hash embedder under two names and with two ids, so that switching needs no weights."""

    def describe(self, name: str, /) -> Any:
        described = super().describe("hash" if name == "compact" else name)
        if name != "compact":
            return described
        return described._replace(model_id="second", likeness_model_id="second-likeness")

    def embedder(self, name: str = "hash") -> Any:
        embedder = super().embedder("hash")
        if name == "compact":
            embedder.description = self.describe(name)
            embedder.model_id = embedder.description.model_id
        return embedder


@pytest.fixture
def service(tmp_path: Path) -> Iterator[LibraryService]:
    data = DataFolder(tmp_path / "data")
    library = LibraryService(data, models=TwoHashes(), settings=Settings(embedder="hash"))
    yield library
    library.close()


def sounds(service: LibraryService, embedder: str) -> set[str]:
    return set(service.indexes.of(embedder).audio.ids())


def test_an_empty_library_switches_at_once(service: LibraryService) -> None:
    service.use_embedder("compact")
    assert (service.settings.embedder, service.settings.next_embedder) == ("compact", "")
    saved = Settings.load(service.data.settings_file)
    assert (saved.embedder, saved.next_embedder) == ("compact", "")


def test_the_old_embedder_answers_until_the_new_one_is_complete(service: LibraryService, clips: Path) -> None:
    finish(service.index([clips]))
    before = service.search("dog", mode="audio")
    service.use_embedder("compact")
    document = service.models_document()
    assert (document["active"], document["next"]) == ("hash", "compact")
    assert service.embedders.progress("compact") == (0, 5)
    assert [h.id for h in service.search("dog", mode="audio").hits] == [h.id for h in before.hits]
    job = service.index()
    for step in job:
        if step.what.startswith("Listening"):
            break
    assert service.search("dog", mode="audio").hits
    job.close()
    assert (service.settings.embedder, service.settings.next_embedder) == ("hash", "compact")
    report: IndexReport = finish(service.index())
    assert "found with compact" in report.notices[-1]
    assert (service.settings.embedder, service.settings.next_embedder) == ("compact", "")
    assert service.embedders.progress("compact") == (5, 5)
    assert sounds(service, "hash") == sounds(service, "compact")
    assert len(sounds(service, "compact")) == 4
    service.use_embedder("hash")  # its vectors are still there
    assert (service.settings.embedder, service.settings.next_embedder) == ("hash", "")
    assert [h.id for h in service.search("dog", mode="audio").hits] == [h.id for h in before.hits]


def test_a_clip_that_came_meanwhile_is_made_up_for_by_going_back(
    service: LibraryService, clips: Path, synth: Any
) -> None:
    finish(service.index([clips]))
    service.use_embedder("compact")
    finish(service.index())
    synth("clips/late.wav", seconds=0.5, kind="noise", seed=9)
    finish(service.index())
    service.use_embedder("hash")
    assert service.settings.next_embedder == "hash"
    finish(service.index())
    assert service.settings.embedder == "hash"
    assert sounds(service, "hash") == sounds(service, "compact")


def test_new_clips_are_found_with_the_old_embedder_while_the_next_one_waits(
    service: LibraryService, clips: Path, synth: Any
) -> None:
    finish(service.index([clips]))
    service.use_embedder("compact")
    synth("clips/late.wav", seconds=0.5, kind="noise", seed=9)
    job = service.index()
    while len(sounds(service, "hash")) < 5:
        next(job)
    assert service.settings.embedder == "hash"
    job.close()


def test_choosing_the_active_one_gives_the_next_one_up(service: LibraryService, clips: Path) -> None:
    finish(service.index([clips]))
    service.use_embedder("compact")
    service.use_embedder("hash")
    assert service.settings.next_embedder == ""
    finish(service.index())
    assert service.settings.embedder == "hash"


def test_without_sound_nothing_changes_and_a_comparison_can_come_first(
    service: LibraryService, clips: Path
) -> None:
    finish(service.index([clips]))
    service.use_embedder("compact")
    finish(service.index(audio=False))
    assert service.settings.next_embedder == "compact"
    report = finish(service.embedders.build(IndexReport(0, 0, 0, 0, (), 0.0), switch=False))
    assert report.notices == ()
    assert service.settings.embedder == "hash"
    assert service.embedders.complete("compact")
    service.embedders.switch("compact")
    assert service.settings.embedder == "compact"


def test_what_cannot_be_chosen_is_a_sentence(service: LibraryService) -> None:
    with pytest.raises(ModelError, match="no embedder called nonesuch"):
        service.use_embedder("nonesuch")
    with pytest.raises(ModelError, match="no weights yet"):
        service.use_embedder("clap")
    with pytest.raises(ModelError, match="in use"):
        service.embedders.remove("hash")


def test_a_damaged_next_index_leaves_the_active_one_alone(service: LibraryService, clips: Path) -> None:
    finish(service.index([clips]))
    service.use_embedder("compact")
    finish(service.index())
    service.use_embedder("hash")
    service.indexes.of("compact").audio.drop()
    finish(service.index())
    assert service.settings.embedder == "hash"
    assert len(sounds(service, "hash")) == 4


# --- with CLAP


@pytest.mark.model
@pytest.mark.slow
def test_clap_from_file_to_found_sounds_though_its_process_is_killed(
    random_checkpoint: Path, clips: Path, tmp_path: Path
) -> None:
    service = LibraryService(DataFolder(tmp_path / "data"))
    try:
        steps = list(service.embedders.adding(random_checkpoint))
        assert {"Writing the weights", "Checking the file"} <= {step.what for step in steps}
        assert random_checkpoint.exists()
        info = {m["name"]: m for m in service.models_document()["models"]}["clap"]
        assert (info["state"], info["dim"]) == ("ready", 512)
        assert info["note"] == "Unverified weights from 630k random.pt."
        killed: list[int] = []

        def kill() -> None:
            models: Any = service.models
            assert models.wait_ready(120)
            while not killed:
                pid = models.pid
                if pid is not None and models._child is not None and models._child._pending:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                time.sleep(0.01)

        job = service.index([clips], embedder="clap")
        killer = threading.Thread(target=kill)
        for step in job:
            if step.what.startswith("Listening") and not killer.ident:
                killer.start()
        killer.join(60)
        assert killed
        assert (service.settings.embedder, service.settings.next_embedder) == ("clap", "")
        finish(service.index())
        assert len(service.indexes.audio.ids()) == 4
        found = service.search("dog", mode="audio")
        assert len(found.hits) == 4
        assert service.search("dog").hits[0].sound.name == "dog.wav"
        assert len(service.similar("dog.wav").hits) == 3
    finally:
        service.close()


@pytest.mark.model
def test_a_file_that_is_no_checkpoint_leaves_nothing_behind(tmp_path: Path) -> None:
    service = LibraryService(DataFolder(tmp_path / "data"))
    try:
        (tmp_path / "x.pt").write_bytes(b"PK\x03\x04 and no more")
        with pytest.raises(ModelError, match="is not complete"):
            finish(service.embedders.adding(tmp_path / "x.pt"))
        with pytest.raises(ModelError, match="no file"):
            service.add_checkpoint(str(tmp_path / "nowhere.pt"))
        assert clap_store.names(service.data.models) == []
        assert not list(service.data.models.glob(".adding*"))
    finally:
        service.close()


@pytest.mark.model
def test_a_checkpoint_is_fetched_from_a_mirror_after_agreement_alone(
    random_checkpoint: Path, tmp_path: Path
) -> None:
    names = ("vocab.json", "merges.txt", "630k-best.pt")
    files = {f"/clap/{name}": random_checkpoint.parent / name for name in names}
    files["/clap/630k-best.pt"] = random_checkpoint
    with serving_folder(files) as address:
        settings = Settings(checkpoint_address=address + "/clap")
        service = LibraryService(DataFolder(tmp_path / "data"), settings=settings)
        try:
            with pytest.raises(DownloadError, match="agree"):
                finish(service.embedders.fetching("630k-best.pt", agreed=False))
            with pytest.raises(ModelError, match="no published checkpoint"):
                finish(service.embedders.fetching("other.pt", agreed=True))
            with pytest.raises(DownloadError, match="does not have"):
                finish(service.embedders.fetching("music_audioset_epoch_15_esc_90.14.pt", agreed=True))
            assert clap_store.names(service.data.models) == []
            assert finish(service.embedders.fetching("630k-best.pt", agreed=True)) == "clap"
            assert clap_store.text_trouble(service.data.models) == ""
            assert service.embedders.discard_fetched() > 3e8
            assert clap_store.names(service.data.models) == ["clap"]
        finally:
            service.close()
