"""What is done to the sound, by keys and panel: shown, heard, kept or forgotten with the clip."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from outputs import TestOpener
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from ui_support import Desk, make_library, use_hash_embedder

from foley_desktop.audio.player import Player, SilentPlayer
from foley_desktop.audio.treatment import Treatment
from foley_desktop.models import Region
from foley_desktop.ui import treatment_words
from foley_desktop.ui.keys import HELP
from foley_desktop.ui.treatment_wing import TreatmentWing

pytestmark = pytest.mark.gui
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_library(tmp_path_factory.mktemp("treatment"))[0]


@pytest.fixture
def desk(qtbot: Any, library: Path) -> Iterator[Desk]:
    use_hash_embedder(library)  # and no habits kept from the last window
    desk = Desk(qtbot, library)
    desk.wait_listed(10)
    yield desk
    desk.close()


def wing(desk: Desk) -> TreatmentWing:
    found = desk.window.wings["treatment"]
    assert isinstance(found, TreatmentWing)
    return found


def press(desk: Desk, key: Qt.Key, modifiers: Any = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(desk.window.results.view, key, modifiers)


def take(desk: Desk, name: str) -> None:
    view, model = desk.window.results.view, desk.window.results.model
    desk.wait(lambda: model.rowCount() >= 10)
    for row in range(model.rowCount()):
        view.selectRow(row)
        if desk.window.deck.clip is not None and desk.window.deck.clip.name == name:
            view.setFocus()
            return
    raise AssertionError(name)


def test_keys_change_what_is_heard_and_the_chip_says_so(desk: Desk) -> None:
    take(desk, "rain on roof.wav")
    playback = desk.window.deck.playback
    for key, modifiers in (
        (Qt.Key.Key_BracketLeft, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_BracketLeft, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_BracketRight, CTRL),
        (Qt.Key.Key_R, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_C, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_C, Qt.KeyboardModifier.NoModifier),
    ):
        press(desk, key, modifiers)
    assert playback.treatment == Treatment(semitones=-1.9, reverse=True, channels="mid")
    bar = wing(desk).bar
    assert bar.chip.isVisible() and bar.reverse.isChecked()
    assert bar.words.full_text() == "−1.9 st · reversed · mid"
    assert playback.player is not None
    assert playback.player._board.request.treatment == playback.treatment
    press(desk, Qt.Key.Key_BraceLeft, SHIFT)
    press(desk, Qt.Key.Key_BraceLeft, SHIFT)
    assert playback.treatment.semitones == -24.0  # as far as it goes
    press(desk, Qt.Key.Key_Backslash)
    assert playback.treatment.is_neutral and not bar.chip.isVisible()


def test_the_panel_and_the_keys_tell_the_same(desk: Desk) -> None:
    take(desk, "dog bark large.wav")
    panel, playback = wing(desk).bar.panel, desk.window.deck.playback
    press(desk, Qt.Key.Key_V)
    assert panel.isVisible()
    offered = [panel.channels.itemData(i) for i in range(panel.channels.count())]
    assert offered == ["all", "mono", "mid", "side", "1", "2", "2-1"]
    panel.speed.setValue(55)
    panel.gain.setValue(-6)
    panel.keep_pitch.click()
    panel.channels.setCurrentIndex(5)
    panel.channels.activated.emit(5)
    assert playback.treatment == Treatment(semitones=5.5, gain_db=-3.0, keep_pitch=True, channels="2")
    assert wing(desk).said() == "+5.5 st, pitch kept · right only · −3 dB"
    playback.set_treatment(Treatment(reverse=True))
    assert panel.reverse.isChecked() and not panel.keep_pitch.isChecked() and panel.speed.value() == 0
    assert desk.window.deck.waveform.backwards
    panel.reset.click()
    assert playback.treatment.is_neutral
    press(desk, Qt.Key.Key_V)
    panel.hide()


def test_another_sound_begins_as_it_is_unless_held(desk: Desk) -> None:
    take(desk, "rain on roof.wav")
    playback = desk.window.deck.playback
    press(desk, Qt.Key.Key_R)
    press(desk, Qt.Key.Key_P)
    take(desk, "cat meow.wav")
    assert playback.treatment == Treatment(keep_pitch=True)
    wing(desk).bar.panel.hold.click()
    press(desk, Qt.Key.Key_R)
    take(desk, "wind howling.wav")
    assert playback.treatment == Treatment(keep_pitch=True, reverse=True)
    assert playback.player is not None
    desk.wait(lambda: playback.player._board.request.treatment.reverse)


def test_normalising_finds_the_peak_of_the_clip_in_hand(desk: Desk) -> None:
    take(desk, "metal gate.wav")
    playback = desk.window.deck.playback
    press(desk, Qt.Key.Key_N)
    desk.wait(lambda: playback.peak is not None)
    assert playback.peak == pytest.approx(0.39, abs=0.02)
    assert playback.treatment.normalise_db == -1.0
    playback.set_peak("another", 0.001)
    assert playback.peak == pytest.approx(0.39, abs=0.02)


def test_habits_are_kept_for_the_next_time(desk: Desk) -> None:
    panel = wing(desk).bar.panel
    panel.skip.click()
    panel.hold.click()
    panel.keep_pitch.click()
    desk.window.wings["treatment"].stop()
    kept = desk.service.settings.extra["treatment"]
    assert kept == {"hold": True, "skip_silence": True, "keep_pitch": True}


def test_a_reversed_region_plays_from_its_end(desk: Desk) -> None:
    take(desk, "rain on roof.wav")
    deck = desk.window.deck
    deck.stop()
    deck.waveform.set_region(Region(1.0, 3.0))
    press(desk, Qt.Key.Key_R)
    press(desk, Qt.Key.Key_Space)
    player = deck.playback.player
    assert player is not None
    desk.wait(lambda: 2.0 < player.position_s < 2.99)
    first = player.position_s
    desk.wait(lambda: player.position_s < first - 0.05)


def test_every_control_has_a_name_and_a_tooltip_and_every_key_is_listed(desk: Desk) -> None:
    bar = wing(desk).bar
    panel = bar.panel
    for widget in (
        bar.reverse, bar.open, panel.speed, panel.gain, panel.channels, panel.keep_pitch, panel.reverse,
        panel.normalise, panel.skip, panel.hold, panel.reset,
    ):  # fmt: skip
        assert widget.toolTip()
    listed = " ".join(keys for _, lines in HELP for keys, _ in lines).split()
    assert {"R", "[", "]", "Shift+[", "P", "C", "N", "V", "\\"} <= set(listed)


@pytest.mark.parametrize(
    ("choice", "count", "words"),
    [("1", 2, "Left only"), ("2", 2, "Right only"), ("3", 6, "Channel 3"), ("3-4", 6, "Channels 3 and 4")],
)
def test_channels_have_names(choice: str, count: int, words: str) -> None:
    assert treatment_words.channels(choice, count) == words


class VanishingPlayer(SilentPlayer):
    """A player whose device can be pulled out."""

    def __init__(self) -> None:
        super().__init__("")
        self.opener = TestOpener()
        Player.__init__(self, opener=self.opener)


def test_a_device_that_is_pulled_out_is_told_by_a_banner_until_play_goes_on(desk: Desk) -> None:
    take(desk, "rain on roof.wav")
    window, playback = desk.window, desk.window.deck.playback
    playback.stop()
    first = playback.player
    player = VanishingPlayer()
    playback.take_player(player)
    assert first is not None
    first.close()
    player.opener.dies_after = 0.5
    press(desk, Qt.Key.Key_Space)
    words = window.sound_banner.label
    desk.wait(lambda: window.sound_banner.isVisible() and "has stopped" in words.full_text())
    assert playback.state == "paused"
    assert not window.messages.toasts  # said once
    held = player.position_s
    assert 0.2 < held < 1.5
    player.opener.dies_after = 1e9
    press(desk, Qt.Key.Key_Space)
    desk.wait(lambda: player.position_s > held + 0.1)
    assert "has stopped" not in words.full_text() or window.sound_banner.isHidden()
    assert len(player.opener.outputs) == 2
