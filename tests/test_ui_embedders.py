"""Embedders in the real window: one listens, both are compared, the user says which one stays."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clap_files
import pytest
from file_server import serving_folder
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from ui_support import Desk, copy_library, middle

from foley_desktop.index.embedders import clap_store
from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library.checkpoints import Fetchable, Market
from foley_desktop.settings import Settings
from foley_desktop.ui.download_dialog import DownloadDialog
from foley_desktop.ui.embedder_wing import EmbedderWing
from foley_desktop.ui.messages import ErrorDialog, Question
from foley_desktop.ui.models_page import ModelsPage

pytestmark = pytest.mark.gui

GOLDEN = {
    "queries": [
        {"id": "q1", "text": "dog bark"},
        {"id": "q2", "text": "creaking door"},
        {"id": "q3", "text": "a submarine"},
    ],
    "qrels": {
        "q1": {"animals/dog bark small.wav": 2, "animals/dog bark large.wav": 2},
        "q2": {"doors/wooden door creak.wav": 2},
    },
}


class TwoHashes(InProcessModels):
    """The hash embedder under a second name with an id of its own, so that switching needs no weights."""

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
def library(made: tuple[Path, Path], tmp_path: Path) -> Path:
    (tmp_path / "golden.json").write_text(json.dumps(GOLDEN), "utf-8")
    return copy_library(made[0], tmp_path / "library")


@pytest.fixture
def desk(qtbot: Any, library: Path) -> Iterator[Desk]:
    desk = Desk(qtbot, library, TwoHashes(models_folder=library / "models"))
    desk.wait_listed(10)
    yield desk
    desk.close()


def wing(desk: Desk) -> EmbedderWing:
    found = desk.window.wings["embedders"]
    assert isinstance(found, EmbedderWing)
    return found


def kept(desk: Desk) -> tuple[str, str]:
    settings = Settings.load(desk.library / "settings.json")
    return settings.embedder, settings.next_embedder


def models_page(desk: Desk) -> ModelsPage:
    desk.press(Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    dialog = desk.window.wings["settings"].dialog
    assert dialog is not None
    dialog.tabs.setCurrentWidget(dialog.models)
    desk.wait(lambda: dialog.models.cards)
    return dialog.models


def click(desk: Desk, parent: QWidget, name: str) -> None:
    """Clicks a button as soon as it can be clicked."""

    def ready() -> Any:
        found = [one for one in parent.findChildren(QWidget, name) if one.isVisible() and one.isEnabled()]
        return found[-1] if found else None

    desk.wait(lambda: ready() is not None)
    desk.qtbot.mouseClick(ready(), Qt.MouseButton.LeftButton)


def answer(desk: Desk, label: str) -> None:
    """Answers the question that stands on the window."""
    desk.wait(lambda: desk.window.findChild(Question) is not None, 120_000)
    question = desk.window.findChild(Question)
    (button,) = [b for b in question.findChildren(QWidget) if getattr(b, "text", str)() == label]
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def listened(desk: Desk) -> EmbedderWing:
    """After the second embedder has heard everything."""
    page, found = models_page(desk), wing(desk)
    click(desk, page, "use_compact")
    desk.wait(lambda: found.standing.offer is not None and found.standing.offer.complete, 60_000)
    desk.idle()
    return found


def compared(desk: Desk, tmp_path: Path) -> Any:
    found = listened(desk)
    desk.window.evaluation.golden.setText(str(tmp_path / "golden.json"))
    desk.wait(lambda: "compare" in found.models.cards["compact"].answers)
    click(desk, desk.window.wings["settings"].dialog, "compare_compact")
    page = found.page
    desk.wait(page.isVisible)
    click(desk, page, "embedder_compare")
    desk.wait(lambda: page.comparison is not None, 60_000)
    desk.idle()
    return page


def test_the_other_one_listens_and_waits_for_the_users_word(desk: Desk) -> None:
    found = listened(desk)
    assert kept(desk) == ("hash", "compact"), "it does not take over by itself"
    assert found.strip.isVisible()
    assert "compact knows every sound now" in found.strip.sentence
    card = found.models.cards["compact"]
    assert card.state.text() == "waits for your word, knows 10 of 10 sounds"
    assert set(card.answers) == {"stay", "compare", "switch"}
    click(desk, card, "switch_compact")
    desk.wait(lambda: kept(desk) == ("compact", ""))
    desk.wait(lambda: found.strip.isHidden())
    desk.wait(lambda: found.models.cards["compact"].state.text().startswith("in use"))
    desk.idle()
    click(desk, found.models, "use_hash")  # back: its vectors are there, and the user is asked again
    desk.wait(lambda: found.standing.offer is not None and found.standing.offer.complete)
    found.strip.answer("Switch to hash").click()
    desk.wait(lambda: kept(desk) == ("hash", ""))
    desk.type("dog bark")
    assert desk.names()[0].startswith("dog bark")


def test_both_are_measured_side_by_side_before_the_switch(desk: Desk, tmp_path: Path) -> None:
    page = compared(desk, tmp_path)
    assert page.golden.currentText() == "File: golden.json"
    assert page.other.currentData() == "compact"
    for metric in ("ndcg@10", "recall@10", "map@10", "mrr@10"):
        old, new, change = (
            page.findChild(QWidget, f"embedder_{metric}_{which}") for which in ("old", "new", "change")
        )
        assert 0.0 < float(old.text()) <= 1.0 and old.text() == new.text()
        assert change.text() == "0.000", "the same vectors under two names"
    assert "No query differs (n = 2)." in page.verdict.text()
    assert "expect no answer are left out: 1." in page.notes.text()
    assert page.model.rowCount() == 2
    assert [page.model.query_text(row) for row in range(2)] == ["dog bark", "creaking door"]
    page.mode_box.setCurrentIndex(page.mode_box.findData("audio"))
    page.mode_box.activated.emit(1)
    alone = page.comparison.means("audio")["ndcg@10"]
    assert page.findChild(QWidget, "embedder_ndcg@10_old").text() == f"{alone[0]:.3f}"
    table = page.findChild(QWidget, "embedder_table")
    desk.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=middle(table, 0, 0))
    desk.wait(lambda: desk.box.text() == "dog bark")
    click(desk, page, "embedder_switch")
    desk.wait(lambda: kept(desk) == ("compact", ""))
    desk.wait(lambda: page.switch_button.text() == "Switch to hash")
    heads = [page.means.itemAtPosition(0, column).widget().text() for column in (1, 2, 3)]
    assert heads == ["hash", "compact", "Change"], "what was in use then is not any more"
    click(desk, page, "embedder_switch")
    desk.wait(lambda: kept(desk) == ("hash", ""))


def test_after_the_comparison_the_old_one_can_stay(desk: Desk, tmp_path: Path) -> None:
    page = compared(desk, tmp_path)
    assert page.stay_button.text() == "Keep hash"
    click(desk, page, "embedder_stay")
    desk.wait(lambda: kept(desk) == ("hash", ""))
    desk.wait(lambda: wing(desk).strip.isHidden())
    desk.wait(lambda: page.stay_button.isHidden())
    assert page.switch_button.isVisible(), "what was measured is still there to act on"


def test_without_a_golden_set_or_another_embedder_it_says_what_to_do(desk: Desk) -> None:
    found = wing(desk)
    found.show_page()
    desk.wait(lambda: found.standing.active == "hash")
    assert "No other embedder has listened" in found.page.lack.text()
    assert not found.page.compare_button.isEnabled()
    click(desk, found.page, "embedder_models")
    desk.wait(lambda: desk.window.wings["settings"].dialog is not None)
    assert desk.window.wings["settings"].dialog.tabs.currentWidget() is found.models
    desk.window.wings["settings"].dialog.accept()


def test_one_that_waits_is_remembered_at_the_next_start(qtbot: Any, library: Path) -> None:
    first = Desk(qtbot, library, TwoHashes())
    first.wait_listed(10)
    listened(first)
    first.close()
    again = Desk(qtbot, library, TwoHashes())
    try:
        again.wait(lambda: wing(again).strip.isVisible())
        wing(again).strip.answer("Keep hash").click()
        again.wait(lambda: kept(again) == ("hash", ""))
        again.wait(lambda: wing(again).strip.isHidden())
    finally:
        again.close()


def test_weights_that_are_gone_leave_words_and_an_offer(qtbot: Any, library: Path) -> None:
    settings = Settings.load(library / "settings.json")
    settings.embedder = "clap"
    settings.save(library / "settings.json")
    desk = Desk(qtbot, library, TwoHashes())
    try:
        desk.wait(lambda: wing(desk).strip.isVisible())
        assert (
            "by words and meaning alone: The embedder clap has no weights yet." in wing(desk).strip.sentence
        )
        desk.type("dog bark")
        assert desk.names()[0].startswith("dog bark")
        desk.window.search_bar.mode_changed.emit("audio")
        desk.wait_listed()
        assert desk.names()[0].startswith("dog bark")
        assert desk.window.findChild(ErrorDialog) is None
        wing(desk).strip.answer("Use compact").click()
        desk.wait(lambda: kept(desk) == ("compact", ""))
        desk.wait(lambda: wing(desk).strip.isHidden())
        desk.idle()
    finally:
        desk.close()


def test_a_strip_that_was_hidden_stays_so_until_something_else_is_said(desk: Desk) -> None:
    strip = wing(desk).strip
    strip.say("One.", [("Yes", "yes", lambda: None)])
    assert strip.isVisible()
    strip._dismiss()
    strip.say("One.")
    assert strip.isHidden()
    strip.say("Two.")
    assert strip.isVisible()
    with pytest.raises(KeyError):
        strip.answer("Yes")
    strip.say("")
    assert strip.isHidden()


# --- fetching


def market(**changes: Any) -> Market:
    one = Fetchable("630k-best.pt", "sounds", 1_860_000_000, 0, 2_900_000_000, False, "CC0-1.0")
    values = {
        "files": (one,),
        "address": "",
        "publisher": "https://publisher.example/clap/",
        "tokenizer": "https://publisher.example/roberta/",
        "folder": "/data/models",
        "free_bytes": 9_000_000_000,
    }
    return Market(**{**values, **changes})


def test_nothing_is_fetched_before_the_user_has_seen_and_agreed(desk: Desk) -> None:
    dialog = DownloadDialog(desk.window, market())
    desk.qtbot.addWidget(dialog)
    dialog.open()
    agreed: list[tuple[str, str]] = []
    dialog.agreed.connect(lambda *said: agreed.append(said))
    words = " ".join(label.text() for label in dialog.findChildren(QWidget) if hasattr(label, "text"))
    for said in ("https://publisher.example/clap/630k-best.pt", "1.9 GB", "CC0-1.0", "9.0 GB free in /data"):
        assert said in words
    assert "No checksum" in dialog.warning.text()
    desk.qtbot.keyClicks(dialog.address, "mirror")
    assert not dialog.accept_button.isEnabled() and "https://" in dialog.warning.text()
    dialog.address.setText("http://mirror/clap")
    assert dialog.accept_button.isEnabled() and "not encrypted" in dialog.warning.text()
    assert agreed == []
    desk.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    assert agreed == [("630k-best.pt", "http://mirror/clap")]


def test_too_little_room_and_a_part_that_is_there(desk: Desk) -> None:
    full = DownloadDialog(desk.window, market(free_bytes=1_000_000))
    assert not full.accept_button.isEnabled() and "not enough room" in full.warning.text()
    part = Fetchable("630k-best.pt", "sounds", 1_860_000_000, 930_000_000, 2_000_000_000, True, "CC0-1.0")
    begun = DownloadDialog(desk.window, market(files=(part,)))
    assert begun.accept_button.text() == "Go on fetching"
    assert begun.warning.isHidden()
    for dialog in (full, begun):
        dialog.close()


@pytest.mark.model
@pytest.mark.slow
def test_weights_are_fetched_used_and_removed(desk: Desk, tmp_path: Path) -> None:
    checkpoint = clap_files.shared_checkpoint()
    names = ("vocab.json", "merges.txt")
    files = {f"/{name}": checkpoint.parent / name for name in names} | {"/630k-best.pt": checkpoint}
    models = desk.service.data.models
    page = models_page(desk)
    with serving_folder(files) as address:
        click(desk, page, "download_checkpoint")
        desk.wait(lambda: page.findChild(DownloadDialog) is not None)
        dialog = page.findChild(DownloadDialog)
        dialog.choice.setCurrentIndex(dialog.choice.findData("630k-best.pt"))
        dialog.address.setText(address)
        click(desk, dialog, "download_agree")
        answer(desk, "Delete the file")
        desk.wait(lambda: not (models / "fetched").exists(), 60_000)
    desk.idle()
    assert clap_store.names(models) == ["clap"] and clap_store.text_trouble(models) == ""
    assert Settings.load(desk.library / "settings.json").checkpoint_address == address
    desk.wait(lambda: page.cards["clap"].state.text() == "ready, knows 0 of 10 sounds")
    desk.service.settings.next_embedder = "clap"
    wing(desk).refresh()
    desk.wait(lambda: "stay" in page.cards["clap"].answers)
    click(desk, page, "remove_clap")
    answer(desk, "Delete the weights")
    desk.wait(lambda: clap_store.names(models) == [])
    desk.idle()
    assert kept(desk) == ("hash", "")


# --- with CLAP


@pytest.mark.model
@pytest.mark.slow
def test_to_clap_and_back_though_its_process_is_killed(
    qtbot: Any, made: tuple[Path, Path], tmp_path: Path
) -> None:
    """The whole road with real models: compact, CLAP beside it, a kill in the middle, both measured."""
    from foley_desktop.library.service import LibraryService
    from foley_desktop.settings import DataFolder

    library = tmp_path / "library"
    (tmp_path / "golden.json").write_text(json.dumps(GOLDEN), "utf-8")
    service = LibraryService(DataFolder(library))
    for _ in service.index([made[1]]):
        pass
    assert service.add_checkpoint(str(clap_files.shared_checkpoint())) == "clap"
    service.close()
    desk = Desk(qtbot, library, own_models=True)
    try:
        desk.wait_listed(10)
        found, page = wing(desk), models_page(desk)
        click(desk, page, "use_clap")
        host: Any = desk.service.models
        desk.wait(
            lambda: "Listening with clap" in page.cards["clap"].left.full_text() or _listens(desk), 120_000
        )
        first = host.pid
        os.kill(first, signal.SIGKILL)
        desk.wait(lambda: found.standing.offer is not None and found.standing.offer.complete, 120_000)
        desk.idle()
        assert host.pid not in (None, first)
        assert found.standing.offer.heard == 10, "no clip is lost"
        assert set(desk.service.indexes.of("clap").audio.ids()) == set(desk.service.indexes.audio.ids())
        desk.window.evaluation.golden.setText(str(tmp_path / "golden.json"))
        found.show_page("clap")
        click(desk, found.page, "embedder_compare")
        desk.wait(lambda: found.page.comparison is not None, 120_000)
        sides = found.page.comparison.old, found.page.comparison.new
        assert [side.name for side in sides] == ["compact", "clap"]
        assert found.page.comparison.means("audio")["ndcg@10"][0] > 0.0
        for name in ("clap", "compact"):
            click(desk, found.page, "embedder_switch")
            desk.wait(lambda name=name: kept(desk) == (name, ""), 60_000)
            desk.idle()
            desk.type("dog bark " + name)
            desk.wait(lambda: desk.search.found.complete, 60_000)
            assert desk.names()[0].startswith("dog bark")
            desk.wait(lambda name=name: found.standing.active == name)
    finally:
        desk.close()


def _listens(desk: Desk) -> bool:
    steps = [job.progress for job in desk.window.status.jobs.jobs if job.progress is not None]
    time.sleep(0.01)
    return any(step.what.startswith("Listening with clap: ") for step in steps)
