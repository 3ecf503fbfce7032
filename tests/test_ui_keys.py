"""The keyboard: every key does its work, and none of them while a text field wants letters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QWidget
from ui_support import Desk, make_library

from foley_desktop.ui.keys import HELP

pytestmark = pytest.mark.gui
Key = Qt.Key
LETTERS = "aslf012345/? "


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_library(tmp_path_factory.mktemp("keys"))[0]


@pytest.fixture
def desk(qtbot: Any, library: Path) -> Iterator[Desk]:
    desk = Desk(qtbot, library)
    desk.wait_listed(10)
    yield desk
    desk.close()


def state_of(desk: Desk) -> tuple[Any, ...]:
    """Everything a letter key could change."""
    deck = desk.window.deck
    clips = [(row.clip.id, row.clip.rating, row.clip.favourite) for row in desk.model.rows]
    return (
        clips, deck.playback.state, deck.auditions, deck.playback.loop, deck.clip,
        desk.search.request.kind == "similar", desk.window.help.isVisible(),
    )  # fmt: skip


def test_letters_are_only_letters_in_the_search_box(desk: Desk) -> None:
    desk.enter_results()
    desk.window.deck.stop()
    desk.box.setFocus()
    desk.search.stop()
    before = state_of(desk)
    desk.qtbot.keyClicks(desk.box, LETTERS)
    desk.search.stop()
    assert desk.box.text() == LETTERS
    assert state_of(desk) == before


@pytest.mark.parametrize("field", ["evaluation_golden", "evaluation_k"])
def test_letters_are_only_letters_in_the_evaluation_panel(desk: Desk, field: str) -> None:
    desk.enter_results()
    desk.window.deck.stop()
    desk.window.evaluation.show()
    widget = desk.find(field)
    widget.setFocus()
    before = state_of(desk)
    desk.qtbot.keyClicks(widget, "aslf012345")
    assert state_of(desk) == before
    if field == "evaluation_golden":
        assert widget.text() == "aslf012345"


def test_arrows_in_a_text_field_move_its_cursor(desk: Desk) -> None:
    desk.enter_results()
    moved: list[float] = []
    desk.window.deck.playback.moved.connect(moved.append)
    desk.window.deck.playback.toggle()
    moved.clear()
    desk.box.setFocus()
    desk.box.setText("door")
    desk.search.stop()
    desk.press(Key.Key_Left)
    assert desk.box.cursorPosition() == 3 and moved == []


def test_space_plays_and_pauses(desk: Desk) -> None:
    desk.enter_results()
    playback = desk.window.deck.playback
    desk.press(Key.Key_Space)
    assert playback.state == "paused"
    desk.press(Key.Key_Space)
    assert playback.state == "playing"
    desk.find("play").click()
    assert playback.state == "paused"


def test_up_and_down_audition_unless_switched_off(desk: Desk) -> None:
    desk.enter_results()
    playback = desk.window.deck.playback
    for row in (1, 2, 3):
        desk.press(Key.Key_Down)
        assert playback.player.path == desk.model.clip_at(row).path and playback.state == "playing"
        assert desk.model.playing_id == desk.model.clip_at(row).id
    desk.press(Key.Key_Up)
    assert playback.player.path == desk.model.clip_at(2).path
    desk.press(Key.Key_A)
    assert not desk.window.deck.auditions
    desk.press(Key.Key_Down)
    assert playback.state == "stopped" and desk.window.deck.clip == desk.model.clip_at(3)
    assert desk.model.playing_id == ""
    desk.press(Key.Key_A)
    desk.press(Key.Key_Down)
    assert playback.state == "playing"


def test_up_on_the_first_row_stays_there(desk: Desk) -> None:
    desk.enter_results()
    desk.press(Key.Key_Up)
    assert desk.view.currentIndex().row() == 0 and desk.view.is_entered


def test_home_and_end_go_to_the_first_and_the_last_row(desk: Desk) -> None:
    desk.enter_results()
    playback, column = desk.window.deck.playback, desk.view.currentIndex().column()
    last = desk.model.rowCount() - 1
    for key, row in ((Key.Key_End, last), (Key.Key_Home, 0)):
        desk.press(key)
        assert (desk.view.currentIndex().row(), desk.view.currentIndex().column()) == (row, column)
        assert playback.clip == desk.model.clip_at(row) and len(desk.view.selected_clips()) == 1
    assert last > 1 and desk.view.horizontalScrollBar().value() == 0


def test_enter_plays_from_the_start(desk: Desk) -> None:
    desk.type("rain")
    desk.enter_results()
    playback = desk.window.deck.playback
    desk.wait(lambda: playback.position_s > 0.1)
    playback.play_from(3.0)
    desk.wait(lambda: playback.position_s > 3.0)
    desk.press(Key.Key_Return)
    assert playback.position_s < 0.5 and playback.state == "playing"


def test_left_and_right_seek(desk: Desk) -> None:
    desk.type("rain")
    desk.enter_results()
    playback = desk.window.deck.playback
    desk.wait(lambda: playback.position_s > 0.05)
    desk.press(Key.Key_Space)
    at = playback.position_s
    desk.press(Key.Key_Right)
    desk.wait(lambda: playback.position_s == pytest.approx(at + 1.0, abs=0.1))
    desk.press(Key.Key_Right)
    desk.press(Key.Key_Left)
    desk.press(Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    desk.wait(lambda: playback.position_s == pytest.approx(0.0, abs=0.1))
    desk.press(Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    desk.wait(lambda: playback.position_s == pytest.approx(5.0, abs=0.1))


def test_escape_stops_and_then_goes_back_to_the_box(desk: Desk) -> None:
    desk.enter_results()
    assert desk.window.deck.playback.state == "playing"
    desk.press(Key.Key_Escape)
    assert desk.window.deck.playback.state == "stopped"
    assert desk.view.hasFocus()
    desk.press(Key.Key_Escape)
    assert desk.box.hasFocus()


@pytest.mark.parametrize(
    ("key", "modifiers"),
    [(Key.Key_F, Qt.KeyboardModifier.ControlModifier), (Key.Key_Slash, Qt.KeyboardModifier.NoModifier)],
)
def test_the_ways_to_the_box(desk: Desk, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
    desk.type("dog")
    desk.enter_results()
    desk.press(key, modifiers)
    assert desk.box.hasFocus() and desk.box.selectedText() == "dog"


def test_ratings_and_favourites_are_shown_at_once_and_kept(desk: Desk) -> None:
    desk.type("wooden door slam")
    desk.enter_results()
    clip_id = desk.view.current_clip().id
    desk.press(Key.Key_4)
    desk.press(Key.Key_F)
    assert desk.model.clip_at(0).rating == 4 and desk.model.clip_at(0).favourite
    desk.wait(lambda: desk.service.clip(clip_id).rating == 4 and desk.service.clip(clip_id).favourite)
    desk.wait(lambda: desk.window.sidebar._overview.favourites == 1)
    desk.press(Key.Key_0)
    desk.press(Key.Key_F)
    desk.wait(lambda: desk.service.clip(clip_id).rating == 0 and not desk.service.clip(clip_id).favourite)


def test_a_rating_goes_to_every_selected_sound(desk: Desk) -> None:
    desk.enter_results()
    desk.press(Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    desk.press(Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    desk.press(Key.Key_2)
    assert [row.clip.rating for row in desk.model.rows] == [2, 2, 2] + [0] * 7
    desk.press(Key.Key_0)
    assert not any(row.clip.rating for row in desk.model.rows)


def test_a_rating_that_cannot_be_written_is_taken_back(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from foley_desktop.errors import LibraryBusyError

    def busy(*args: object) -> None:
        raise LibraryBusyError("Another process is writing to this library.")

    monkeypatch.setattr(desk.service, "set_rating", busy)
    desk.enter_results()
    desk.press(Key.Key_5)
    assert desk.model.clip_at(0).rating == 5
    desk.wait(lambda: desk.model.clip_at(0).rating == 0)
    assert "Another process" in desk.window.messages.toasts[0].label.text()


def test_l_loops(desk: Desk) -> None:
    desk.enter_results()
    desk.press(Key.Key_L)
    assert desk.window.deck.playback.loop and desk.window.deck.transport.loop.isChecked()
    desk.press(Key.Key_L)
    assert not desk.window.deck.playback.loop


def test_s_finds_similar(desk: Desk) -> None:
    desk.enter_results()
    desk.press(Key.Key_S)
    desk.wait(lambda: desk.search.found.request.kind == "similar")


@pytest.mark.parametrize("key", [Key.Key_F1, Key.Key_Question])
def test_all_keys_are_shown_and_hidden(desk: Desk, key: Qt.Key) -> None:
    desk.enter_results()
    desk.press(key)
    assert desk.window.help.isVisible()
    desk.press(Key.Key_Escape)
    assert not desk.window.help.isVisible() and desk.window.deck.playback.state == "playing"
    desk.press(key)
    desk.press(key)
    assert not desk.window.help.isVisible()


def test_f1_works_in_the_box_and_a_question_mark_is_typed_there(desk: Desk) -> None:
    desk.box.setFocus()
    desk.press(Key.Key_F1)
    assert desk.window.help.isVisible()
    desk.press(Key.Key_F1)
    desk.qtbot.keyClicks(desk.box, "?")
    assert not desk.window.help.isVisible() and desk.box.text() == "?"


def test_copying_puts_the_files_on_the_clipboard(desk: Desk) -> None:
    desk.enter_results()
    desk.press(Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    desk.press(Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    urls = QGuiApplication.clipboard().mimeData().urls()
    assert [url.toLocalFile() for url in urls] == [desk.model.clip_at(n).path for n in range(2)]
    QGuiApplication.clipboard().clear()  # Qt's offscreen clipboard does not survive files at exit


def test_arrows_in_the_sidebar_belong_to_the_sidebar(desk: Desk) -> None:
    desk.enter_results()
    tree = desk.window.sidebar.tree
    tree.setFocus()
    folders = tree.topLevelItem(2)
    tree.setCurrentItem(folders.child(0))
    moved: list[float] = []
    desk.window.deck.playback.moved.connect(moved.append)
    desk.window.deck.playback._timer.stop()
    desk.press(Key.Key_Left)
    assert moved == []
    desk.press(Key.Key_Space)
    assert desk.window.deck.playback.state == "paused", "Space still plays and pauses"
    desk.window.deck.stop()


def test_every_button_has_a_tooltip(desk: Desk) -> None:
    desk.window.evaluation.show()
    ours = [b for b in desk.window.findChildren(QAbstractButton) if not b.objectName().startswith("qt_")]
    lacking = [
        (type(button).__name__, button.text(), button.parentWidget())
        for button in ours
        if not button.toolTip() and type(button).__module__.startswith("PySide6") and button.isVisible()
        and button.metaObject().className() in ("QToolButton", "QPushButton")
        and button.parentWidget() is not desk.box
    ]  # fmt: skip
    assert lacking == []
    assert len(ours) > 12


def test_the_names_that_others_rely_on(desk: Desk) -> None:
    for name in (
        "search_box", "results", "waveform", "play", "find_similar", "sidebar", "jobs",
        "evaluation_panel", "evaluation_run", "evaluation_table",
    ):  # fmt: skip
        assert len(desk.window.findChildren(QWidget, name)) == 1, name


def test_the_help_names_every_key_of_the_design() -> None:
    caps = " ".join(keys for _, lines in HELP for keys, _ in lines).split()
    for cap in (
        "Ctrl+F",
        "/",
        "Down",
        "Up",
        "Esc",
        "Enter",
        "Left",
        "Right",
        "Space",
        "A",
        "S",
        "F",
        "L",
        "F1",
        "?",
    ):
        assert cap in caps
