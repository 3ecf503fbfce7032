"""A grading session in the real window: digits grade while the banner is shown, and only then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_library import index, make_golden, open_library, write_clips
from lab_window import LabWindow
from PySide6.QtCore import Qt
from ui_support import copy_library

from foley_desktop.library.grading import shuffled
from foley_desktop.models import MODES

pytestmark = pytest.mark.gui
Key = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grading")
    service = open_library(folder / "data")
    index(service, write_clips(folder / "clips"))
    service.settings.grader = "Anna"
    service.settings.save(service.data.settings_file)
    service.close()
    return folder / "data"


@pytest.fixture
def lab(qtbot: Any, library: Path, tmp_path: Path) -> Iterator[LabWindow]:
    lab = LabWindow(qtbot, copy_library(library, tmp_path / "data"))
    yield lab
    lab.close()


@pytest.fixture
def set_id(lab: LabWindow) -> str:
    return lab.take_set(make_golden())


def begin(lab: LabWindow) -> None:
    """Presses Grade and waits for the candidates."""
    lab.find("lab_grade").click()
    wait_for_sheet(lab)


def wait_for_sheet(lab: LabWindow) -> None:
    lab.wait(lambda: lab.grading.model.rowCount() > 0 and not lab.grading._waits)
    lab.settle()


def query(lab: LabWindow) -> str:
    return lab.find("grading_query").full_text()


def clip(lab: LabWindow) -> Any:
    return lab.grading.model.clip_at(lab.grading.view.current_row())


def judged(lab: LabWindow, set_id: str) -> dict[tuple[str, str], tuple[str, int]]:
    lab.settle()
    return {
        (one.query, one.clip): (one.grader, one.grade)
        for one in lab.service.lab.sets.judgements(set_id)
        if one.grader
    }


def test_candidates_of_every_mode_are_shown_shuffled_and_nothing_says_which(
    lab: LabWindow, set_id: str
) -> None:
    begin(lab)
    assert lab.find("grading_banner").isVisible() and lab.window.lists.currentWidget() is lab.grading.view
    assert query(lab) == "“dog bark”"
    found = {h.id for mode in MODES for h in lab.service.search("dog bark", k=20, mode=mode).hits}
    model = lab.grading.model
    ids = [model.clip_at(row).id for row in range(model.rowCount())]
    assert set(ids) == found and ids == shuffled(found, set_id, "q001")
    heads = [model.headerData(n, Qt.Orientation.Horizontal) for n in range(model.columnCount())]
    assert heads == ["Grade", "Name", "Description", "Length", "Folder"]
    shown = " ".join(
        str(model.index(row, column).data(role))
        for row in range(model.rowCount())
        for column in range(model.columnCount())
        for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
    )
    assert not any(mode in shown for mode in (*MODES, "rank", "score"))
    assert lab.find("grading_counts").text() == f"0 of {len(ids)} graded, {len(ids)} unjudged"


def test_digits_grade_and_go_on_to_the_next_which_is_heard(lab: LabWindow, set_id: str) -> None:
    begin(lab)
    assert lab.grading.view.hasFocus() and lab.window.deck.clip == clip(lab)
    seen = []
    for key, grade in ((Key.Key_2, 2), (Key.Key_0, 0), (Key.Key_1, 1)):
        seen.append((clip(lab).id, grade))
        lab.press(key)
        assert lab.window.deck.clip == clip(lab) and clip(lab).id != seen[-1][0]
        assert lab.window.deck.playback.state == "playing"
    assert judged(lab, set_id) == {("q001", clip_id): ("Anna", grade) for clip_id, grade in seen}
    assert [lab.service.clip(clip_id).rating for clip_id, _ in seen] == [0, 0, 0]
    total = lab.grading.model.rowCount()
    assert lab.find("grading_counts").text() == f"3 of {total} graded, {total - 3} unjudged"
    lab.press(Key.Key_Up)
    assert clip(lab).id == seen[2][0] and lab.window.deck.clip.id == seen[2][0]
    lab.find("grading_grade_2").click()
    assert judged(lab, set_id)["q001", seen[2][0]] == ("Anna", 2)


def test_the_other_keys_of_sounds_rest_meanwhile(lab: LabWindow, set_id: str) -> None:
    lab.wait_listed(24)
    lab.view.selectRow(3)
    begin(lab)
    before = [(row.clip.rating, row.clip.favourite) for row in lab.model.rows]
    for key in (Key.Key_3, Key.Key_4, Key.Key_5, Key.Key_F, Key.Key_S, Key.Key_Slash):
        lab.press(key)
    lab.press(Key.Key_F, CTRL)
    lab.press(Key.Key_C, CTRL)
    lab.settle()
    assert [(row.clip.rating, row.clip.favourite) for row in lab.model.rows] == before
    assert not lab.view.selectedIndexes(), "nothing that is not to be seen is meant by a key"
    assert lab.search.request.kind == "list" and lab.grading.view.hasFocus() and not judged(lab, set_id)
    lab.press(Key.Key_Space)
    assert lab.window.deck.playback.state == "paused", "playing goes on as ever"
    lab.press(Key.Key_L)
    assert lab.window.deck.playback.loop
    lab.press(Key.Key_L)


def test_digits_rate_before_and_after(lab: LabWindow, set_id: str) -> None:
    lab.wait_listed(24)
    lab.view.selectRow(0)
    lab.view.setFocus()
    lab.press(Key.Key_2)
    first = lab.model.clip_at(0)
    assert first.rating == 2
    begin(lab)
    lab.press(Key.Key_1)
    lab.grading.banner.leave.click()
    lab.settle()
    assert (
        not lab.find("grading_banner").isVisible() and lab.window.lists.currentWidget() is lab.window.results
    )
    lab.view.selectRow(0)
    lab.press(Key.Key_1)
    assert lab.model.clip_at(0).rating == 1
    assert len(judged(lab, set_id)) == 1
    lab.press(Key.Key_4)
    assert lab.model.clip_at(0).rating == 4


def test_loading_a_query_never_changes_what_keys_do(lab: LabWindow, set_id: str) -> None:
    lab.window.evaluation.query_chosen.emit("wind howl")
    lab.wait(lambda: lab.search.is_answered and lab.search.found.request.text == "wind howl")
    lab.enter_results()
    lab.press(Key.Key_2)
    assert lab.model.clip_at(0).rating == 2 and not judged(lab, set_id)
    begin(lab)
    graded = clip(lab).id
    lab.window.evaluation.query_chosen.emit("glass break")
    lab.wait(lambda: lab.search.is_answered and lab.search.found.request.text == "glass break")
    assert lab.grading.active and lab.find("grading_banner").isVisible()
    lab.grading.view.setFocus()
    lab.press(Key.Key_2)
    assert judged(lab, set_id) == {("q001", graded): ("Anna", 2)}, "still the session's query"
    assert all(row.clip.rating in (0, 2) for row in lab.model.rows)


def test_digits_typed_into_a_field_are_digits(lab: LabWindow, set_id: str) -> None:
    begin(lab)
    lab.window.evaluation.pages.setCurrentIndex(0)
    field = lab.find("evaluation_golden")
    field.setFocus()
    lab.qtbot.keyClicks(field, "012nku")
    assert field.text() == "012nku" and not judged(lab, set_id) and query(lab) == "“dog bark”"


def test_next_skip_and_undo(lab: LabWindow, set_id: str) -> None:
    begin(lab)
    first = clip(lab).id
    lab.press(Key.Key_2)
    lab.press(Key.Key_N)
    lab.wait(lambda: query(lab) == "“door creak”")
    wait_for_sheet(lab)
    lab.press(Key.Key_K)
    lab.wait(lambda: query(lab) == "“rain heavy”")
    wait_for_sheet(lab)
    lab.press(Key.Key_U)
    lab.wait(lambda: query(lab) == "“door creak”")
    wait_for_sheet(lab)
    lab.press(Key.Key_Z, CTRL)
    lab.wait(lambda: query(lab) == "“dog bark”")
    wait_for_sheet(lab)
    assert clip(lab).id == first and lab.grading.model.grade_at(lab.grading.view.current_row()) is None
    assert not judged(lab, set_id)
    lab.press(Key.Key_U)
    wait_for_sheet(lab)
    assert "There is nothing to undo in this set." in lab.said() and query(lab) == "“dog bark”"


def test_a_session_goes_on_where_it_stopped_also_in_another_window(
    qtbot: Any, lab: LabWindow, set_id: str
) -> None:
    begin(lab)
    lab.press(Key.Key_N)
    lab.wait(lambda: query(lab) == "“door creak”")
    wait_for_sheet(lab)
    for key in (Key.Key_0, Key.Key_0, Key.Key_1):
        lab.press(key)
    lab.press(Key.Key_Down)
    place = clip(lab).id
    lab.close()
    again = LabWindow(qtbot, lab.library)
    assert again.shelf.current.id == set_id and not again.grading.active
    begin(again)
    assert query(again) == "“door creak”" and clip(again).id == place
    assert again.grading.model.rowCount() - again.grading.model.unjudged == 3
    again.grading.leave()
    again.do("lab_grader_menu", "Grade from the first query again")
    wait_for_sheet(again)
    assert query(again) == "“dog bark”"
    again.close()


def test_the_end_of_the_set_is_said_and_what_was_skipped_can_be_taken_up(lab: LabWindow, set_id: str) -> None:
    begin(lab)
    lab.press(Key.Key_K)
    for number in range(2, 9):
        lab.wait(lambda number=number: f"query {number} of 8" in lab.grading.banner.where.full_text())
        wait_for_sheet(lab)
        lab.press(Key.Key_N)
    lab.wait(lambda: not lab.grading.active)
    (toast,) = [t for t in lab.window.messages.toasts if "graded or skipped" in t.label.text()]
    assert "Skipped: 1." in toast.label.text()
    from PySide6.QtWidgets import QPushButton

    next(b for b in toast.findChildren(QPushButton) if b.text() == "Grade them").click()
    wait_for_sheet(lab)
    assert query(lab) == "“dog bark”" and lab.grading.active


def test_nothing_else_is_searched_meanwhile(lab: LabWindow, set_id: str) -> None:
    bar = lab.window.search_bar
    begin(lab)
    parts = (bar.box, bar.mode_box, bar.filter_button, lab.window.sidebar)
    assert not any(part.isEnabled() for part in parts)
    lab.window.find_similar(clip(lab), None)
    assert "Leave the grading session to search." in lab.said() and lab.search.request.kind == "list"
    lab.press(Key.Key_Escape)
    assert lab.window.deck.playback.state == "stopped" and lab.grading.active
    lab.press(Key.Key_Escape)
    assert lab.grading.view.hasFocus() and lab.grading.active
    lab.grading.leave()
    assert all(part.isEnabled() for part in parts)


def test_a_set_that_goes_away_ends_its_session_with_one_sentence(lab: LabWindow, set_id: str) -> None:
    begin(lab)
    lab.service.lab.sets.delete(set_id)
    lab.press(Key.Key_N)
    lab.wait(lambda: not lab.grading.active)
    lab.settle()
    assert any("not there any more" in sentence for sentence in lab.said())
    assert lab.shelf.current is None and not lab.find("lab_grade").isEnabled()


def test_a_grade_that_cannot_be_kept_is_not_shown_as_kept(
    lab: LabWindow, set_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from foley_desktop.errors import CatalogError
    from foley_desktop.library.grading import GradingSession

    def full(*_: object) -> None:
        raise CatalogError("The disk is full.")

    begin(lab)
    monkeypatch.setattr(GradingSession, "grade", full)
    lab.press(Key.Key_2)
    lab.settle()
    wait_for_sheet(lab)
    assert lab.grading.model.unjudged == lab.grading.model.rowCount() and not judged(lab, set_id)


def test_a_session_left_while_it_looks_for_candidates_stays_left(lab: LabWindow, set_id: str) -> None:
    lab.find("lab_grade").click()
    lab.press(Key.Key_2)
    lab.grading.leave()
    lab.settle()
    assert not lab.grading.active and lab.grading.model.rowCount() == 0 and not judged(lab, set_id)
    assert lab.window.lists.currentWidget() is lab.window.results
