"""Steering a search in the real window: no answer, reasons, balance, takes, moments, patterns, wishes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from ui_support import Desk, index, use_hash_embedder, write_clip

from foley_desktop.audio.recorder import Recorder, Take
from foley_desktop.models import Region
from foley_desktop.ui.results_model import BY_NAME

pytestmark = pytest.mark.gui
Key = Qt.Key


def similar(desk: Desk, name: str = "dog bark small") -> None:
    """Finds sounds like the first result of a search."""
    desk.type(name)
    desk.enter_results()
    desk.press(Key.Key_S)
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.kind == "similar")


def chips(desk: Desk) -> list[str]:
    return [chip.label.text() for chip in desk.window.search_bar.chips.chips()]


# --- no answer, hidden by sound


def test_a_query_without_an_answer_says_so_above_the_results(desk: Desk) -> None:
    line = desk.find("no_answer")
    desk.type("xylophone quasar")
    assert desk.model.rowCount() > 0 and desk.search.found.answerable < 0.25
    assert line.isVisible() and "Nothing" in line.label.full_text()
    desk.type("wooden door slam")
    assert not line.isVisible()


def test_what_is_hidden_by_sound_is_counted_and_shown_on_demand(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    search, asked = desk.service.search, []

    def hiding(query: str, **options: Any) -> Any:
        # The hash embedder hears no words, so nothing is ever hidden with it.
        asked.append(options["show_hidden"])
        return replace(search(query, **options), hidden_by_sound=3 if "-" in query else 0)

    monkeypatch.setattr(desk.service, "search", hiding)
    line = desk.find("hidden_by_sound")
    desk.type("door -slam")
    assert line.isVisible() and line.label.full_text() == "3 hidden by sound."
    line._action.click()
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.show_hidden)
    assert asked[-1] and "sound like what you left out" in line.label.full_text()
    line._action.click()
    desk.wait(lambda: desk.search.is_answered and not desk.search.found.request.show_hidden)
    assert not asked[-1]
    desk.type("door")
    assert not line.isVisible()


# --- why


def test_the_selected_result_explains_itself(desk: Desk) -> None:
    why = desk.window.results.why
    desk.type("wooden door slam")
    assert not why.isVisible(), "nothing is selected yet"
    desk.enter_results()
    said = why.line.full_text()
    assert why.isVisible() and "door" in said and "name" in said and "meaning #" in said
    desk.press(Key.Key_W)
    assert why.panel.isVisible()
    told = {name: row for name, row in why.panel.rows.items() if row.name.isVisible()}
    assert set(told) == {"keyword", "semantic", "audio"}
    assert told["keyword"].rank.text() == "1" and told["keyword"].share.text().endswith("%")
    assert "wooden" in why.panel.words.text()
    desk.press(Key.Key_Down)
    assert why.hit.id == desk.model.clip_at(1).id and why.line.full_text() != said
    desk.press(Key.Key_W)
    assert not why.panel.isVisible()


def test_words_of_hits_far_down_are_looked_up_when_asked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from foley_desktop.library import searching

    monkeypatch.setattr(searching, "WITH_REASONS", 0)
    desk.type("wooden door")
    assert "matched" not in desk.model.rows[0].hit.why
    desk.enter_results()
    desk.wait(lambda: "wooden (name" in desk.window.results.why.line.full_text())


def test_the_plain_list_has_no_reasons(desk: Desk) -> None:
    desk.enter_results()
    assert not desk.window.results.why.isVisible()


# --- balance


def test_the_slider_ranks_anew_at_once_and_can_be_reset(desk: Desk) -> None:
    balance = desk.window.results.balance
    assert not balance.isVisible(), "a list without a search has nothing to balance"
    desk.type("dog bark")
    assert balance.isVisible() and balance.balance is None and not balance.reset_button.isVisible()
    neutral, before = balance.slider.value(), desk.names()
    desk.enter_results()
    chosen = desk.view.current_clip()
    balance.slider.setValue(100)
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.balance == 1.0)
    assert sorted(desk.names()) == sorted(before) and desk.names() != before
    scores = [row.hit.clap_score for row in desk.model.rows]
    assert scores == sorted(scores, reverse=True), "sound alone counts"
    assert desk.view.current_clip() == chosen and not desk.window.results.new_chip.isVisible()
    balance.reset_button.click()
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.balance is None)
    assert desk.names() == before and balance.slider.value() == neutral
    box = desk.window.search_bar.mode_box
    box.setCurrentIndex(box.findData("keyword"))
    box.activated.emit(box.currentIndex())
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.mode == "keyword")
    assert not balance.isVisible()


# --- takes


def test_takes_fold_into_one_row_and_out_again(qtbot: Any, tmp_path: Path) -> None:
    sounds, library = tmp_path / "sounds", tmp_path / "library"
    for number in range(1, 6):
        write_clip(sounds / f"door_creak_{number:02d}.wav", 0.3, seed=number)
    write_clip(sounds / "rain.wav", 0.4)
    use_hash_embedder(library)
    index(library, sounds)
    desk = Desk(qtbot, library)
    desk.wait_listed(6)
    fold = desk.find("fold_takes")
    desk.view.selectRow(5)
    fold.click()
    assert [desk.model.index(row, BY_NAME["name"]).data() for row in range(2)] == [
        "door_creak ×5",
        "rain.wav",
    ]
    assert desk.model.rowCount() == 2 and desk.view.current_clip().name == "rain.wav", "the selection stays"
    assert "6 sounds in 2 rows" in desk.window.results._count.text()
    desk.type("creak")
    assert desk.model.rowCount() == 2 and desk.model.rows[0].takes == 5
    desk.window.actions_.takes_wanted.emit(desk.model.clip_at(0))
    assert desk.model.rowCount() == 6
    desk.type("door creak")
    assert desk.model.rowCount() == 2, "another question, folded again"
    desk.close()
    again = Desk(qtbot, library)
    again.wait_listed(2)
    assert again.find("fold_takes").isChecked()
    again.find("fold_takes").click()
    assert again.model.rowCount() == 6
    again.close()


# --- moments


@pytest.fixture
def long_desk(qtbot: Any, tmp_path: Path) -> Iterator[Desk]:
    sounds, library = tmp_path / "sounds", tmp_path / "library"
    rate = 22050
    rng = np.random.default_rng(1)
    quiet = 0.02 * np.sin(2 * np.pi * 110 * np.arange(rate * 40) / rate)
    quiet[rate * 24 : rate * 28] = 0.5 * rng.uniform(-1, 1, rate * 4)
    sounds.mkdir()
    soundfile.write(sounds / "long ambience.wav", quiet, rate)
    write_clip(sounds / "short ambience.wav", 3.0)
    use_hash_embedder(library)
    index(library, sounds)
    desk = Desk(qtbot, library)
    desk.wait_listed(2)
    yield desk
    desk.close()


def test_a_long_result_opens_at_its_best_moment(long_desk: Desk) -> None:
    desk = long_desk
    desk.type("ambience")
    row = desk.names().index("long ambience.wav")
    hit = desk.model.rows[row].hit
    shown = desk.model.index(row, BY_NAME["time"]).data()
    other = desk.model.index(1 - row, BY_NAME["time"]).data()
    assert hit.start_s is not None and shown and other == "", "short clips have no moments"
    desk.view.setFocus()
    desk.view.selectRow(row)
    deck = desk.window.deck
    assert deck.waveform.best == (hit.start_s, hit.end_s)
    desk.wait(lambda: deck.playback.position_s >= hit.start_s)
    assert deck.playback.position_s < hit.start_s + 3.0
    desk.press(Key.Key_Return)
    assert deck.playback.position_s < 0.5, "Enter plays from the start all the same"
    desk.press(Key.Key_M)
    assert deck.region == Region(hit.start_s, hit.end_s)


def test_without_auditioning_space_begins_at_the_moment(long_desk: Desk) -> None:
    desk = long_desk
    desk.type("ambience")
    desk.press(Key.Key_Escape)
    desk.window.deck.transport.audition.setChecked(False)
    row = desk.names().index("long ambience.wav")
    start = desk.model.rows[row].hit.start_s
    desk.view.setFocus()
    desk.view.selectRow(row)
    assert desk.window.deck.playback.state == "stopped"
    assert desk.window.deck.waveform.position_s == start
    desk.press(Key.Key_Space)
    desk.wait(lambda: desk.window.deck.playback.position_s >= start)


def test_m_without_a_moment_says_why(desk: Desk) -> None:
    desk.type("dog bark")
    desk.enter_results()
    desk.press(Key.Key_M)
    assert desk.window.deck.region is None
    assert any("moment" in toast.label.text() for toast in desk.window.messages.toasts)


# --- patterns and wishes


def test_several_sounds_to_be_like_and_unlike(desk: Desk) -> None:
    similar(desk)
    alone = desk.names()
    like, unlike = desk.model.clip_at(3), desk.model.clip_at(5)
    desk.window.actions_.pattern_wanted.emit([like], False)
    desk.window.actions_.pattern_wanted.emit([unlike], True)
    desk.wait(lambda: desk.search.is_answered and len(desk.search.found.request.patterns) == 3)
    assert chips(desk) == ["similar to dog bark small.wav", f"and {like.name}", f"less like {unlike.name}"]
    assert desk.model.rowCount() == 7 and not {like.name, unlike.name} & set(desk.names())
    assert desk.names() != [name for name in alone if name not in (like.name, unlike.name)] or len(alone) == 9
    desk.window.actions_.pattern_wanted.emit([unlike], False)
    desk.wait(lambda: desk.search.is_answered and chips(desk)[-1] == f"and {unlike.name}")
    desk.window.search_bar.chips.chips()[0].closed.emit()
    desk.wait(lambda: desk.search.is_answered and len(desk.search.found.request.patterns) == 2)
    assert "dog bark small.wav" in desk.names()


def test_without_a_sound_to_be_like_it_goes_back_to_the_words(desk: Desk) -> None:
    similar(desk)
    desk.window.actions_.pattern_wanted.emit([desk.model.clip_at(3)], True)
    desk.wait(lambda: desk.search.is_answered and len(desk.search.found.request.patterns) == 2)
    desk.window.search_bar.chips.chips()[0].closed.emit()
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.kind == "text")
    assert chips(desk) == [] and not desk.find("wish_bar").isVisible()


def test_this_but_asks_for_words_and_their_strength(desk: Desk) -> None:
    bar, box, strength = desk.find("wish_bar"), desk.find("wish"), desk.find("wish_strength")
    assert not bar.isVisible()
    desk.type("dog bark small")
    desk.enter_results()
    desk.window.actions_.wish_wanted.emit(desk.view.current_clip())
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.kind == "similar")
    assert bar.isVisible() and box.hasFocus()
    desk.qtbot.keyClicks(box, "metallic gate")
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.wish == "metallic gate")
    half = desk.names()
    assert {"audio", "likeness"} <= set(desk.model.rows[0].hit.why)
    strength.setValue(100)
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.strength == 1.0)
    assert sorted(desk.names()) == sorted(half)
    words_alone = [row.hit.why["audio"]["score"] for row in desk.model.rows]
    assert words_alone == sorted(words_alone, reverse=True)
    box.clear()
    desk.qtbot.keyClicks(box, "longer")
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.wish == "longer")
    assert all(row.clip.duration_s > 0.4 for row in desk.model.rows)
    desk.press(Key.Key_Return)
    desk.wait(lambda: desk.view.is_entered)


def drop_on_box(desk: Desk, path: Path) -> bool:
    """Drops a file on the search box; whether it was taken."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, left, none)
    QApplication.sendEvent(desk.box, enter)  # Qt drops nothing where nothing has entered
    event = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, left, none)
    QApplication.sendEvent(desk.box, event)
    return enter.isAccepted() and event.isAccepted()


def test_an_audio_file_dropped_on_the_search_box_finds_similar(desk: Desk, tmp_path: Path) -> None:
    outside = write_clip(tmp_path / "elsewhere" / "my own.wav", 0.4, 44100, seed=0)
    taken = drop_on_box(desk, outside)
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.kind == "similar")
    assert taken and desk.box.text() == ""
    assert chips(desk) == ["similar to my own.wav"]
    assert desk.names()[0] == "dog bark small.wav", "the same samples"
    (tmp_path / "text.txt").write_text("no sound")
    drop_on_box(desk, tmp_path / "text.txt")
    desk.wait(lambda: any("passed over" in toast.label.text() for toast in desk.window.messages.toasts))
    assert chips(desk) == ["similar to my own.wav"]


def test_similar_to_the_selected_region_is_in_the_menu(desk: Desk) -> None:
    desk.type("rain on roof")
    desk.enter_results()
    desk.window.deck.waveform.set_region(Region(1.0, 2.0))
    desk.window.actions_.show_menu(desk.view.selected_clips(), desk.view.mapToGlobal(QPointF(5, 5)).toPoint())
    menu = QApplication.activePopupWidget()
    action = next(a for a in menu.actions() if "selected region" in a.text())
    action.trigger()
    menu.close()
    desk.wait(lambda: desk.search.found.request.kind == "similar")
    assert desk.search.found.request.patterns[0].example.region == Region(1.0, 2.0)


# --- recording


class PlayedIn:
    """Stands for an input device: gives a sound's samples as soon as it is started."""

    alive = True

    def __init__(self, samples: np.ndarray, samplerate: int) -> None:
        self.samplerate = samplerate
        self._samples = samples

    def start(self, take: Take) -> None:
        take(self._samples)

    def close(self) -> None:
        pass


def record(desk: Desk, samples: np.ndarray, rate: int) -> None:
    bar = desk.window.search_wing.record
    bar.recorder = Recorder(open_input=lambda _: PlayedIn(samples, rate))
    desk.find("record").click()
    desk.wait(lambda: bar.state == "recording")
    assert bar.isVisible() and desk.find("record").isChecked()


def test_a_recording_is_searched_by(desk: Desk, made: tuple[Path, Path]) -> None:
    samples, rate = soundfile.read(made[1] / "doors/metal gate.wav", dtype="float32", always_2d=True)
    record(desk, samples, rate)
    bar = desk.window.search_wing.record
    desk.wait(lambda: bar.meter.highest_dbfs > -60.0 or bar.recorder.elapsed_s > 3.0)
    desk.find("record_use").click()
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.kind == "similar")
    assert chips(desk) == ["similar to recording, 0:03.2"] and not bar.isVisible()
    assert desk.names()[0] == "metal gate.wav"


def test_silence_from_the_microphone_is_told(desk: Desk) -> None:
    record(desk, np.zeros((4800, 1), np.float32), 48000)
    desk.find("record").click()
    desk.wait(lambda: any("Nothing was heard" in t.label.text() for t in desk.window.messages.toasts))
    assert not desk.find("record").isChecked() and chips(desk) == []


def test_a_recording_can_be_thrown_away(desk: Desk) -> None:
    record(desk, np.full((4800, 1), 0.3, np.float32), 48000)
    desk.window.search_wing.record.cancel_button.click()
    desk.wait(lambda: not desk.window.search_wing.record.isVisible())
    assert chips(desk) == [] and not desk.find("record").isChecked()
