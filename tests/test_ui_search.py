"""Searching in the real window: off the GUI thread, newest question first, and rows that keep still."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, Qt, QThread
from ui_support import Desk, LateModels, copy_library, write_clip

from foley_desktop.library import searching
from foley_desktop.models import Condition
from foley_desktop.ui.results_model import BY_NAME
from foley_desktop.ui.search_controller import SETTLE_MS

pytestmark = pytest.mark.gui
Key = Qt.Key


@pytest.fixture
def library(made: tuple[Path, Path], tmp_path: Path) -> Path:
    return copy_library(made[0], tmp_path / "library")


@pytest.fixture
def desk(qtbot: Any, library: Path) -> Iterator[Desk]:
    desk = Desk(qtbot, library)
    desk.wait_listed(10)
    yield desk
    desk.close()


def test_the_window_begins_with_everything_by_name(desk: Desk) -> None:
    assert desk.names() == sorted(desk.names(), key=str.casefold)
    assert len(desk.names()) == 10


def test_typing_finds(desk: Desk) -> None:
    desk.type("dog bark")
    assert set(desk.names()[:2]) == {"dog bark large.wav", "dog bark small.wav"}
    desk.type("")
    desk.wait_listed(10)


def test_the_search_runs_off_the_gui_thread(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    gui = QCoreApplication.instance().thread()  # type: ignore[union-attr]
    asked_in: list[tuple[bool, int]] = []
    hybrid_search = searching.hybrid_search

    def watched(*args: Any, **options: Any) -> Any:
        asked_in.append((QThread.currentThread() is gui, threading.get_ident()))
        return hybrid_search(*args, **options)

    monkeypatch.setattr(searching, "hybrid_search", watched)
    desk.type("wooden door")
    assert asked_in, "the hybrid search has been asked"
    assert not any(in_gui for in_gui, _ in asked_in)
    assert {thread for _, thread in asked_in} == {asked_in[0][1]}, "there is one search lane"
    assert asked_in[0][1] != threading.get_ident()


def test_answers_to_older_questions_are_never_listed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, running = threading.Event(), threading.Event()
    search = desk.service.search

    def slow(query: str, **options: Any) -> Any:
        result = search(query, **options)
        if query == "dog":
            running.set()
            gate.wait(10)
        return result

    monkeypatch.setattr(desk.service, "search", slow)
    listed: list[str] = []
    desk.search.listed.connect(lambda found: listed.append(found.request.text))
    desk.box.setFocus()
    desk.qtbot.keyClicks(desk.box, "dog")
    desk.wait(running.is_set)
    desk.qtbot.keyClicks(desk.box, " growl")
    gate.set()
    desk.wait(lambda: "dog growl" in listed)
    desk.qtbot.wait(100)
    assert "dog" not in listed
    assert desk.names()[0] == "dog growl.wav"


def test_keys_in_quick_succession_ask_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, bool]] = []
    search = desk.service.search

    def counted(query: str, **options: Any) -> Any:
        asked.append((query, options["typing"]))
        return search(query, **options)

    monkeypatch.setattr(desk.service, "search", counted)
    desk.type("thunder rumble")
    assert asked == [("thunder rumble", True), ("thunder rumble", False)]


def test_a_pause_in_a_restricting_word_does_not_empty_the_list(desk: Desk) -> None:
    desk.box.setFocus()
    desk.qtbot.keyClicks(desk.box, "name:thun")
    desk.wait(lambda: desk.names() == ["thunder rumble.wav"])
    desk.qtbot.wait(SETTLE_MS + 400)
    assert desk.names() == ["thunder rumble.wav"], "nothing is called just 'thun'"
    desk.press(Key.Key_Return)
    desk.wait(lambda: desk.view.is_entered)
    assert desk.view.current_clip().name == "thunder rumble.wav"


def test_down_goes_into_the_results_and_plays(desk: Desk) -> None:
    desk.type("dog bark")
    desk.enter_results()
    first = desk.model.clip_at(0)
    assert desk.view.current_clip() == first == desk.window.deck.clip
    assert desk.window.deck.playback.state == "playing"
    desk.press(Key.Key_Down)
    assert desk.window.deck.clip == desk.model.clip_at(1)
    assert desk.window.deck.playback.player.path == desk.model.clip_at(1).path
    desk.wait(lambda: desk.window.deck.waveform._data is not None)


def test_enter_goes_into_the_answer_to_what_is_typed_now(desk: Desk) -> None:
    desk.box.setFocus()
    desk.qtbot.keyClicks(desk.box, "metal gate")
    desk.press(Key.Key_Return)
    desk.wait(lambda: desk.view.is_entered)
    assert desk.search.found.request.text == "metal gate"
    assert desk.view.current_clip().name == "metal gate.wav"


def test_what_was_searched_for_good_is_remembered(desk: Desk) -> None:
    desk.type("wind howling")
    assert desk.service.recent_searches() == [], "typing alone is not worth remembering"
    desk.enter_results()
    desk.wait(lambda: desk.service.recent_searches() == ["wind howling"])
    desk.wait(lambda: desk.window.sidebar._overview.recent == ("wind howling",))


# --- rows keep still


def test_while_the_models_load_words_answer_at_once_and_say_so(qtbot: Any, library: Path) -> None:
    models = LateModels()
    desk = Desk(qtbot, library, models)
    desk.wait_listed(10)
    desk.type("dog bark")
    assert set(desk.names()) == {"dog bark large.wav", "dog bark small.wav", "dog growl.wav"}
    notice = desk.window.results.notice
    assert notice.isVisible() and "loading" in notice.label.full_text()
    assert not desk.view.is_entered
    models.finish()
    desk.wait(lambda: desk.search.found.complete)
    assert desk.model.rowCount() == 10, "the full answer takes the place of the words' answer"
    assert not desk.window.results.new_chip.isVisible()
    assert "loading" not in notice.label.full_text()
    desk.close()


def test_the_selection_never_jumps_when_late_hits_arrive(qtbot: Any, library: Path) -> None:
    models = LateModels()
    desk = Desk(qtbot, library, models)
    desk.wait_listed(10)
    desk.type("dog bark")
    desk.enter_results()
    desk.press(Key.Key_Down)
    names, row = desk.names(), desk.view.currentIndex().row()
    clip, position = desk.view.current_clip(), desk.view.visualRect(desk.view.currentIndex())
    resets: list[object] = []
    for signal in (
        desk.model.modelReset,
        desk.model.layoutChanged,
        desk.model.rowsInserted,
        desk.model.rowsRemoved,
    ):
        signal.connect(lambda *_: resets.append(1))
    models.finish()
    chip = desk.window.results.new_chip
    desk.wait(chip.isVisible)
    assert resets == [] and desk.names() == names
    assert desk.view.currentIndex().row() == row and desk.view.current_clip() == clip
    assert desk.view.visualRect(desk.view.currentIndex()) == position
    assert chip.text() == "7 new"
    chip.click()
    assert desk.model.rowCount() == 10 and not chip.isVisible()
    assert desk.view.current_clip().id == clip.id, "the selection stays with its clip"
    assert [c.id for c in desk.view.selected_clips()] == [clip.id]
    desk.close()


def test_new_files_wait_while_the_selection_is_in_the_list(desk: Desk, made: tuple[Path, Path]) -> None:
    desk.enter_results()
    desk.press(Key.Key_Down)
    names, clip = desk.names(), desk.view.current_clip()
    added = write_clip(made[1] / "aaa" / "aardvark.wav", 0.3, seed=77)
    try:
        desk.window.library.rescan(None)
        desk.idle()
        chip = desk.window.results.new_chip
        desk.wait(chip.isVisible)
        assert desk.names() == names and desk.view.current_clip() == clip
        assert chip.text() == "1 new"
        chip.click()
        assert desk.names()[0] == "aardvark.wav" and desk.view.current_clip().id == clip.id
    finally:
        added.unlink()


def test_new_files_are_listed_at_once_while_nothing_is_selected(desk: Desk, made: tuple[Path, Path]) -> None:
    added = write_clip(made[1] / "aaa" / "abacus.wav", 0.3, seed=78)
    try:
        desk.window.library.rescan(None)
        desk.wait(lambda: desk.names()[:1] == ["abacus.wav"])
        assert not desk.window.results.new_chip.isVisible()
        desk.idle()
    finally:
        added.unlink()


def test_sorting_keeps_the_selection_and_does_not_play(desk: Desk) -> None:
    desk.type("dog")
    desk.enter_results()
    clip = desk.view.current_clip()
    desk.window.deck.stop()
    desk.view.sortByColumn(BY_NAME["duration"], Qt.SortOrder.DescendingOrder)
    lengths = [row.clip.duration_s for row in desk.model.rows]
    assert lengths == sorted(lengths, reverse=True)
    assert desk.view.current_clip().id == clip.id
    assert [c.id for c in desk.view.selected_clips()] == [clip.id]
    assert desk.window.deck.playback.state == "stopped"


def test_a_new_question_comes_in_the_search_s_own_order(desk: Desk) -> None:
    desk.view.sortByColumn(BY_NAME["duration"], Qt.SortOrder.AscendingOrder)
    desk.type("wooden door slam")
    assert desk.names()[0] == "wooden door slam.wav"
    assert desk.view.horizontalHeader().sortIndicatorSection() == -1


# --- similar, filters, modes


def test_find_similar_has_a_chip_that_leads_back(desk: Desk) -> None:
    desk.type("dog bark small")
    desk.enter_results()
    desk.find("find_similar").click()
    chips = desk.window.search_bar.chips
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.kind == "similar")
    clip = desk.window.deck.clip
    assert clip.name == "dog bark small.wav"
    assert clip.name not in desk.names() and desk.model.rowCount() == 9
    assert [chip.label.text() for chip in chips.chips()] == [f"similar to {clip.name}"]
    assert not desk.view.is_entered, "a new list, a new start"
    chips.chips()[0].closed.emit()
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.kind == "text")
    assert desk.names()[0] == "dog bark small.wav" and not chips.isVisible()


def test_similar_to_a_region_asks_for_the_region(desk: Desk) -> None:
    desk.type("rain on roof")
    desk.enter_results()
    desk.wait(lambda: desk.window.deck.waveform._data is not None)
    from foley_desktop.models import Region

    desk.window.deck.waveform.set_region(Region(1.0, 2.5))
    assert "region" in desk.find("find_similar").text()
    desk.press(Key.Key_S)
    desk.wait(lambda: desk.search.found.request.kind == "similar")
    assert desk.search.found.request.patterns[0].example.region == Region(1.0, 2.5)
    assert desk.model.rowCount() > 0


def test_filters_are_chips_that_can_be_taken_away(desk: Desk) -> None:
    chips = desk.window.search_bar.chips
    chips.add(Condition("duration", "<", 1.0))
    desk.wait_listed(3)
    chips.add(Condition("channels", "=", 2.0))
    desk.wait_listed(1)
    assert desk.names() == ["dog bark large.wav"]
    assert [chip.label.text() for chip in chips.chips()] == ["length < 1 s", "channels = 2"]
    chips.chips()[0].closed.emit()
    desk.wait_listed(3)
    assert [chip.label.text() for chip in chips.chips()] == ["channels = 2"]


def test_each_mode_can_be_chosen(desk: Desk) -> None:
    desk.type("dog bark")
    assert desk.model.rowCount() == 10
    box = desk.window.search_bar.mode_box
    box.setCurrentIndex(box.findData("keyword"))
    box.activated.emit(box.currentIndex())
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.mode == "keyword")
    assert desk.model.rowCount() == 3


def test_an_empty_answer_says_what_to_do(desk: Desk) -> None:
    box = desk.window.search_bar.mode_box
    box.setCurrentIndex(box.findData("keyword"))
    box.activated.emit(box.currentIndex())
    desk.type("xylophone")
    title, advice = desk.view._empty
    assert desk.model.rowCount() == 0 and "xylophone" in title and advice


@pytest.mark.parametrize(
    "query", ["(" * 5000, '"', "-", "door)", "AND", "\\", "don't", "a:b", "*", "💥", "<b>"]
)
def test_no_query_is_an_error(desk: Desk, query: str) -> None:
    failures: list[object] = []
    desk.search.failed.connect(failures.append)
    desk.box.setText(query)
    desk.wait_listed()
    assert failures == []


def test_a_failed_search_leaves_no_rows_of_another_question(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from foley_desktop.errors import FilterError

    def broken(*args: Any, **options: Any) -> Any:
        raise FilterError("The filter is not understood.")

    monkeypatch.setattr(desk.service, "search", broken)
    desk.box.setText("anything")
    desk.wait(lambda: desk.window.messages.toasts)
    assert desk.model.rowCount() == 0
    assert "not understood" in desk.window.messages.toasts[0].label.text()


def test_after_find_similar_down_begins_at_the_top(desk: Desk) -> None:
    desk.type("dog bark small")
    desk.enter_results()
    desk.press(Key.Key_Down)
    desk.press(Key.Key_S)
    desk.wait(lambda: desk.search.found.request.kind == "similar")
    desk.press(Key.Key_Down)
    assert desk.view.currentIndex().row() == 0 and desk.window.deck.clip == desk.model.clip_at(0)


def test_changes_that_come_faster_than_answers_keep_no_answer_away(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, asked = desk.service.search, []

    def slow(query: str, **options: Any) -> Any:
        asked.append(query)
        threading.Event().wait(0.3)
        return search(query, **options)

    monkeypatch.setattr(desk.service, "search", slow)
    desk.box.setText("dog growl")
    for _ in range(20):
        desk.qtbot.wait(50)
        desk.search.refresh()
    assert desk.search.is_answered and desk.names()[0] == "dog growl.wav"
    answered = len(asked)
    desk.wait(lambda: len(asked) > answered)
    assert answered <= 6, "asked again only once it was answered"
