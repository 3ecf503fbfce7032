"""The settings dialog of the real window: choices hold at once, are kept, and never block."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from ui_support import Desk

from foley_desktop.ui import theme
from foley_desktop.ui.messages import ErrorDialog
from foley_desktop.ui.models_page import state_words
from foley_desktop.ui.settings_dialog import SettingsDialog
from foley_desktop.workers.settings_jobs import Embedder

pytestmark = pytest.mark.gui


def kept(desk: Desk) -> dict[str, Any]:
    return json.loads((desk.library / "settings.json").read_text("utf-8"))


def opened(desk: Desk) -> SettingsDialog:
    desk.press(Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    dialog = desk.window.wings["settings"].dialog
    assert dialog is not None and dialog.isVisible()
    return dialog


def part(dialog: SettingsDialog, name: str) -> Any:
    found = dialog.findChild(QWidget, name)
    assert found is not None
    return found


def test_the_gear_opens_the_settings_once(desk: Desk) -> None:
    desk.find("settings").click()
    dialog = desk.window.wings["settings"].dialog
    desk.window.wings["settings"].open()
    assert desk.window.wings["settings"].dialog is dialog
    dialog.accept()
    desk.wait(lambda: desk.window.wings["settings"].dialog is None)
    assert opened(desk) is not dialog


def test_another_fusion_ranks_at_once_and_is_kept(desk: Desk) -> None:
    desk.type("wooden door")
    before = [row.hit.rrf_score for row in desk.model.rows]
    dialog = opened(desk)
    assert part(dialog, "fusion_weighted").isChecked()
    part(dialog, "fusion_rrf").click()
    desk.wait(lambda: kept(desk).get("fusion") == "rrf")
    desk.wait(lambda: [row.hit.rrf_score for row in desk.model.rows] != before)
    assert desk.model.rows[0].hit.rrf_score <= 3 / 61, "reciprocal ranks of three rankers"
    desk.wait(lambda: desk.window.results.balance.slider.value() == 33)
    part(dialog, "fusion_weighted").click()
    desk.wait(lambda: [row.hit.rrf_score for row in desk.model.rows] == before)


def test_what_is_chosen_and_what_could_be_is_seen(desk: Desk) -> None:
    dialog = opened(desk)
    for name, colour in (("fusion_weighted", "accent"), ("fusion_rrf", "faint")):
        button = part(dialog, name)
        image = button.grab().toImage()
        row = image.height() // 2
        seen = {image.pixelColor(x, row).name() for x in range(button.fontMetrics().height())}
        assert theme.colour(colour).name() in seen, name


def test_another_latency_takes_another_player_and_is_kept(desk: Desk) -> None:
    old = desk.window.deck.playback.player
    dialog = opened(desk)
    assert part(dialog, "output_device").currentText() == "The system's own"
    latency = part(dialog, "output_latency")
    latency.setCurrentIndex(latency.findData("high"))
    latency.activated.emit(latency.currentIndex())
    desk.wait(lambda: desk.window.deck.playback.player is not old)
    assert kept(desk)["output_latency"] == "high"
    assert dialog.sound_words.text()
    dialog.accept()
    desk.enter_results()
    assert desk.window.deck.playback.state == "playing"


def test_a_device_that_is_away_stays_chosen(desk: Desk) -> None:
    desk.service.settings.output_device = "Studio interface"
    dialog = opened(desk)
    dialog.show_devices(["Speakers"])
    device = part(dialog, "output_device")
    assert device.currentData() == "Studio interface" and device.findData("Speakers") > 0


def test_the_models_page_says_what_there_is(desk: Desk) -> None:
    dialog = opened(desk)
    desk.wait(lambda: dialog.models.cards)
    cards = dialog.models.cards
    assert set(cards) >= {"compact", "clap", "hash"}
    assert cards["hash"].state.text() == "in use, knows 10 of 10 sounds"
    assert cards["hash"].use.isHidden() and cards["clap"].use.isHidden()
    assert cards["clap"].state.text() != "ready"


def test_a_file_that_is_no_checkpoint_is_refused_with_a_reason(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "holiday.pt"
    file.write_bytes(b"no weights at all" * 100)
    dialog = opened(desk)
    desk.wait(lambda: dialog.models.cards)
    dialog.models.file_chosen.emit(str(file))
    assert dialog.models.line.running
    desk.wait(lambda: desk.window.findChild(ErrorDialog) is not None, 60_000)
    desk.window.findChild(ErrorDialog).accept()
    desk.idle()
    assert not dialog.models.line.running
    assert dialog.models.cards["clap"].use.isHidden()


def test_states_in_words() -> None:
    def embedder(**changes: Any) -> Embedder:
        values = {
            "name": "x",
            "state": "ready",
            "size_bytes": 0,
            "licence": "",
            "description": "",
            "note": "",
        }
        return Embedder(**{**values, "active": False, "following": False, **changes})

    assert state_words(embedder(state="no weights yet")) == "no weights yet"
    assert state_words(embedder(active=True, heard=1, clips=1)) == "in use, knows 1 of 1 sound"
    assert state_words(embedder(following=True, heard=0, clips=2)).startswith("takes over when")
    assert state_words(embedder()) == "ready"


def test_use_makes_another_embedder_the_one_in_use(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    dialog = opened(desk)
    desk.wait(lambda: dialog.models.cards)
    if dialog.models.cards["compact"].use.isHidden():
        pytest.skip("the compact embedder is not installed")
    indexed: list[object] = []
    monkeypatch.setattr(
        desk.window.library, "rescan", indexed.append
    )  # what listening costs is not of interest
    dialog.models.cards["compact"].use.click()
    desk.wait(lambda: dialog.models.cards["compact"].state.text().startswith("takes over when"))
    assert kept(desk)["embedder"] == "hash" and kept(desk)["next_embedder"] == "compact"
    assert indexed == [None], "its vectors are made in the background"
    dialog.models.use_wanted.emit("hash")
    desk.wait(lambda: dialog.models.cards["hash"].state.text().startswith("in use"))
    desk.wait(lambda: kept(desk)["next_embedder"] == "")
    desk.type("dog bark")
    assert desk.names()[0].startswith("dog bark")
