"""Changing the embedder: nothing that can be found is lost on the way, there and back."""

from __future__ import annotations

import json
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
from job_support import run as finish
from job_support import run_with_steps

from foley_desktop.cli import main
from foley_desktop.errors import DownloadError, GoldenSetError, ModelError
from foley_desktop.eval.golden import GoldenQuery, GoldenSet
from foley_desktop.index.embedders import clap_store
from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library.embedder_compare import compare_embedders
from foley_desktop.library.embedders import Offer
from foley_desktop.library.service import LibraryService
from foley_desktop.models import IndexReport
from foley_desktop.settings import DataFolder, Settings


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


def test_where_the_user_is_asked_a_complete_one_waits(service: LibraryService, clips: Path) -> None:
    service.embedders.asks = True
    finish(service.index([clips]))
    assert service.embedders.offer() is None
    service.use_embedder("compact")
    assert service.embedders.offer() == Offer("hash", "compact", 0, 5, complete=False)
    report = finish(service.index())
    assert report.notices[-1] == "compact knows every sound now and waits for your word to take over."
    assert (service.settings.embedder, service.settings.next_embedder) == ("hash", "compact")
    assert service.embedders.offer() == Offer("hash", "compact", 5, 5, complete=True)
    service.embedders.stay()
    assert service.embedders.offer() is None
    service.use_embedder("compact")  # its vectors are there, and still the user is asked
    assert service.embedders.offer() == Offer("hash", "compact", 5, 5, complete=True)
    service.embedders.switch("compact")
    assert (service.settings.embedder, service.settings.next_embedder) == ("compact", "")


def test_a_clip_that_cannot_be_read_any_more_holds_nothing_up(service: LibraryService, clips: Path) -> None:
    service.embedders.asks = True
    finish(service.index([clips]))
    service.use_embedder("compact")
    size = (clips / "rain.wav").stat().st_size
    os.truncate(clips / "rain.wav", 0)
    job = service.embedders.build(IndexReport(0, 0, 0, 0, (), 0.0))
    finish(job)
    assert service.embedders.offer() == Offer("hash", "compact", 4, 5, complete=True)
    assert size


def test_listening_stops_when_the_user_keeps_the_old_one(service: LibraryService, clips: Path) -> None:
    finish(service.index([clips]))
    service.use_embedder("compact")
    job = service.index()
    while not next(job).what.startswith("Listening with compact: "):
        pass
    service.embedders.stay()
    assert finish(job).notices == ()
    assert (service.settings.embedder, service.settings.next_embedder) == ("hash", "")
    assert 0 < service.embedders.progress("compact")[0] < 5, "what was heard by then is kept"


def test_an_empty_library_has_nothing_to_ask_about(service: LibraryService) -> None:
    service.embedders.asks = True
    service.use_embedder("compact")
    assert service.settings.embedder == "compact"


GOLDEN = GoldenSet(
    "set",
    (GoldenQuery("q1", "dog"), GoldenQuery("q2", "door"), GoldenQuery("q3", "a whale")),
    {"q1": {"dog.wav": 2}, "q2": {"door.wav": 1}},
)


def test_two_embedders_are_compared_before_the_switch(service: LibraryService, clips: Path) -> None:
    finish(service.index([clips]))
    service.use_embedder("compact")
    with pytest.raises(ModelError, match="knows no sound"):
        finish(compare_embedders(service, GOLDEN, "compact"))
    finish(service.embedders.build(IndexReport(0, 0, 0, 0, (), 0.0), switch=False))
    found, steps = run_with_steps(compare_embedders(service, GOLDEN, "compact", k=3))
    assert (found.old.name, found.new.name) == ("hash", "compact")
    assert found.old.model_id != found.new.model_id == "second"
    assert (found.modes, found.k, found.golden) == (("hybrid", "audio"), 3, "set")
    assert [s.done for s in steps[:-2]] == sorted(s.done for s in steps[:-2])
    assert {s.total for s in steps[:-2]} == {4 * 3}
    for mode in found.modes:
        assert set(found.metrics(mode)) >= {"ndcg@3", "recall@3", "map@3", "mrr@3"}
        # The same vectors under two names: nothing differs, and every query is there.
        assert all(old == new for old, new in found.means(mode).values())
        assert [(row.query_id, row.text) for row in found.rows(mode)] == [("q1", "dog"), ("q2", "door")]
        assert found.verdict(mode).equal == 2
    direct = finish(service.evaluate(GOLDEN, mode="audio", k=3))
    assert direct.report == found.old.evaluations["audio"].report
    assert service.settings.embedder == "hash", "a comparison changes nothing"
    assert "Queries that expect no answer are left out: 1." in found.notes
    service.embedders.switch("compact")
    direct = finish(service.evaluate(GOLDEN, mode="audio", k=3))
    assert direct.report == found.new.evaluations["audio"].report
    assert direct.meta["embedder"] == found.new.evaluations["audio"].meta["embedder"] == "second"


def test_what_cannot_be_compared_is_a_sentence(service: LibraryService, clips: Path) -> None:
    finish(service.index([clips]))
    for name, said in {"hash": "in use already", "clap": "no weights yet", "x": "no embedder"}.items():
        with pytest.raises(ModelError, match=said):
            finish(compare_embedders(service, GOLDEN, name))
    service.use_embedder("compact")
    finish(service.index())
    service.use_embedder("hash")
    nothing = GoldenSet("set", (GoldenQuery("q", "dog"),), {})
    with pytest.raises(GoldenSetError, match="No query"):
        finish(compare_embedders(service, nothing, "compact"))


def test_without_its_weights_search_goes_on_by_words(service: LibraryService, clips: Path) -> None:
    finish(service.index([clips]))
    heard = [hit.id for hit in service.search("dog").hits]
    service.settings.embedder = "clap"
    service.embedder_changed("clap", beside=True)
    trouble = service.embedders.trouble()
    assert trouble is not None and "no weights yet" in trouble.sentence and "compact" in trouble.hint
    found = service.search("dog -cat")
    assert found.hits[0].sound.name == "dog.wav"
    assert len(found.notices) == 1 and found.notices[0].startswith("Found by words and meaning alone: ")
    assert all(hit.clap_score is None and "audio" not in hit.why for hit in found.hits)
    by_sound = service.search("dog", mode="audio", wait=False)
    assert by_sound.hits[0].sound.name == "dog.wav" and by_sound.notices == found.notices
    with pytest.raises(ModelError, match="no weights yet"):
        service.search("dog", mode="audio")  # what measures or scripts is not told another thing
    report = finish(service.index())
    assert any("no weights yet" in notice for notice in report.notices)
    examined = finish(service.doctor())
    assert examined.ok and any("Nothing can be found by sound" in line for line in examined.warnings)
    service.use_embedder("hash")
    assert [hit.id for hit in service.search("dog").hits] == heard
    assert service.embedders.trouble() is None


def test_the_command_line_measures_with_another_embedder(
    tmp_path: Path, clips: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = ["--library", str(tmp_path / "cli")]
    (tmp_path / "golden.json").write_text(
        json.dumps({"queries": [{"id": "q", "text": "dog"}], "qrels": {"q": {"dog.wav": 1}}})
    )
    assert main([*library, "index", str(clips), "--embedder", "hash"]) == 0
    measure = [*library, "--json", "evaluate", str(tmp_path / "golden.json"), "--mode", "hybrid"]
    capsys.readouterr()
    assert main(measure) == 0
    plain = json.loads(capsys.readouterr().out)
    assert main([*measure, "--embedder", "hash"]) == 0
    assert json.loads(capsys.readouterr().out) == plain
    assert main([*measure, "--embedder", "clap:half"]) == 1
    assert "embedder called clap:half" in json.loads(capsys.readouterr().out)["error"]
    assert main([*measure, "--embedder", "nonesuch"]) == 2


def test_another_device_is_kept_and_anything_else_refused(service: LibraryService) -> None:
    service.embedders.move_to("cuda")
    assert Settings.load(service.data.settings_file).device == "cuda"
    with pytest.raises(ModelError, match="no device called tpu"):
        service.embedders.move_to("tpu")
    service.embedders.set_mirror(" https://mirror.example/clap ")
    assert service.embedders.market().address == "https://mirror.example/clap"
    with pytest.raises(DownloadError, match="no web address"):
        service.embedders.set_mirror("ftp://mirror")
    service.embedders.set_mirror("")
    assert Settings.load(service.data.settings_file).checkpoint_address == ""


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
def test_weights_go_and_the_original_goes_only_when_it_is_the_one(
    random_checkpoint: Path, clips: Path, tmp_path: Path
) -> None:
    data = DataFolder(tmp_path / "data")
    service = LibraryService(data, models=TwoHashes(models_folder=data.models))
    try:
        own = tmp_path / random_checkpoint.name
        own.write_bytes(random_checkpoint.read_bytes())
        finish(service.embedders.adding(own))
        assert service.embedders.deletable(own) == own.stat().st_size
        lean = data.models / "clap" / clap_store.WEIGHTS
        assert service.embedders.deletable(lean) == 0
        assert service.embedders.deletable(tmp_path / "vocab.json") == 0
        content = bytearray(own.read_bytes())
        content[-1] ^= 1
        other = tmp_path / "other" / own.name
        other.parent.mkdir()
        other.write_bytes(content)
        for file in (other, lean):
            with pytest.raises(ModelError, match="left alone"):
                finish(service.embedders.delete_original(file))
        assert finish(service.embedders.delete_original(own)) == len(content)
        assert not own.exists() and other.exists() and lean.exists()
        service.settings.embedder = "clap:half"
        with pytest.raises(ModelError, match="in use"):
            service.embedders.remove("clap")
        service.embedders.remove("clap", fall_back=True)
        assert service.settings.embedder == "compact"
        assert clap_store.names(data.models) == []
        with pytest.raises(ModelError, match="no checkpoint called clap"):
            service.embedders.remove("clap")
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
            held = {one.file: one.held_bytes for one in service.embedders.market().files}
            assert held["630k-best.pt"] == random_checkpoint.stat().st_size
            assert held["630k-audioset-best.pt"] == 0
            assert service.embedders.discard_fetched() > 3e8
            assert clap_store.names(service.data.models) == ["clap"]
        finally:
            service.close()
