"""The inspector: what it shows of one sound and of many, and that nothing typed is ever lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from librarian import CREAK, CUT, FLAC, GATE, SLAM, Librarian, make_library
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from ui_support import copy_library

from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library.editing import Value
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip
from foley_desktop.settings import DataFolder
from foley_desktop.ui.inspector_row import SourceLine, Told, told
from foley_desktop.workers import edit_jobs

pytestmark = pytest.mark.gui
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_library(tmp_path_factory.mktemp("librarian"))


@pytest.fixture
def desk(qtbot: Any, made: Path, tmp_path: Path) -> Iterator[Librarian]:
    desk = Librarian(qtbot, copy_library(made, tmp_path / "library"))
    yield desk
    desk.close()


def add_clips(desk: Librarian, count: int) -> None:
    """Clips of which no file is there."""
    root = desk.service.roots()[0]
    with desk.service.catalog.write() as connection:
        connection.executemany(
            "INSERT INTO clips (id, root_id, rel_path, name_key, first_hash, ordinal, audio_hash, size, "
            "mtime_ns, ctime_ns, inode, dev, added_s) VALUES (?, ?, ?, ?, ?, 0, ?, 1, 1, 1, ?, 1, 1.0)",
            [
                (f"m{n}", root.id, f"m/{n}.wav".encode(), f"{n}.wav", f"m{n}", f"m{n}", n)
                for n in range(count)
            ],
        )


# --- showing


def test_the_key_opens_and_closes_it_and_nothing_selected_says_what_to_do(desk: Librarian) -> None:
    assert not desk.panel.isVisible()
    QTest.keyClick(desk.window, Qt.Key.Key_I)
    assert desk.panel.isVisible() and desk.window.findChild(object, "inspector_button").isChecked()
    desk.wait(lambda: desk.panel.inspection is not None)
    assert desk.panel.pages.currentIndex() == 0 and desk.panel.nothing.isVisible()
    QTest.keyClick(desk.window, Qt.Key.Key_I)
    assert not desk.panel.isVisible()


def test_the_number_of_clips_beside_a_value_is_never_cut(desk: Librarian) -> None:
    line = SourceLine(Told("Door", ("bext",), 12_345), counts=True, many=True)
    needed = QFontMetrics(line._font).horizontalAdvance("12345 ×")
    assert line._left - 11 >= needed


def test_beside_the_inspector_the_window_keeps_to_a_small_screen(desk: Librarian) -> None:
    desk.window.resize(1280, 720)
    desk.inspect(CREAK)
    transport = desk.window.deck.transport
    QTest.keyClick(desk.window, Qt.Key.Key_R)
    QTest.keyClick(desk.window, Qt.Key.Key_N)
    chip = desk.window.findChild(QWidget, "treatment_chip")
    desk.wait(lambda: chip.isVisible() and desk.panel.isVisible())
    assert desk.window.width() == 1280
    assert desk.window.minimumSizeHint().width() <= 1280
    shown = [w for w in transport.findChildren(QWidget) if w.isVisible() and w.parentWidget() is transport]
    for widget in shown:
        assert transport.rect().contains(widget.geometry()), widget
    desk.window.resize(1900, 720)
    desk.wait(lambda: transport._volume.isVisible() and transport.find_similar.width() > 100)
    least = transport.minimumSizeHint().width()
    desk.window.resize(desk.window.minimumSizeHint().width(), 720)
    desk.wait(lambda: not transport._volume.isVisible())
    assert 0 <= least - transport.minimumSizeHint().width() < 20, "what can give way does not count"


def test_values_that_differ_stand_side_by_side_with_their_sources(desk: Librarian) -> None:
    desk.inspect(CREAK)
    assert desk.editor("description").toPlainText() == "Old wooden door"
    lines = desk.panel.rows["description"].findChildren(SourceLine)
    assert [(line.said.value, line.said.sources) for line in lines] == [
        ("Old wooden door", ("bext",)),
        ("Old wooden door, close", ("iXML",)),
        ("Door", ("INFO",)),
    ]
    assert desk.panel.rows["description"].note.text() == "sources differ"
    assert desk.editor("library").text() == "Barn"
    assert not desk.panel.rows["library"].findChildren(SourceLine)
    assert desk.editor("category").text() == "DOORS" and desk.editor("catid").text() == "DOORCreak"


def test_all_values_of_a_label_without_a_field_of_its_own_are_listed(desk: Librarian) -> None:
    desk.inspect(CREAK)
    grid = desk.panel._others
    cells = [[grid.itemAtPosition(row, column) for column in (0, 1)] for row in range(grid.rowCount())]
    shown = [
        [cell.widget().text() for cell in row] for row in cells if row[0] and not row[0].widget().isHidden()
    ]
    assert [line for line in shown if "iXML" in line[1]] == [
        ["track name", "Boom   (iXML)"],
        ["", "Plant   (iXML)"],
    ]


def test_a_click_on_a_value_takes_it(desk: Librarian) -> None:
    desk.inspect(CREAK)
    line = desk.panel.rows["description"].findChildren(SourceLine)[1]
    QTest.mouseClick(line, Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.clip(CREAK).description == "Old wooden door, close")


def test_facts_and_damage_in_sentences(desk: Librarian) -> None:
    desk.inspect(CUT)
    assert desk.panel.title.full_text() == CUT
    assert (
        "cut short: The file ends before the length that its header promises." in desk.panel.warnings.text()
    )
    facts = {}
    grid = desk.panel._facts
    for row in range(grid.rowCount()):
        cells = [grid.itemAtPosition(row, column) for column in (0, 1)]
        if cells[0] is not None and not cells[0].widget().isHidden():
            facts[cells[0].widget().text()] = cells[1].widget().text()
    assert facts["Sample rate"] == "48,000 Hz" and facts["Channels"] == "1 (mono)"
    assert facts["Length"] == "0:00.050 · 2,400 samples"
    assert facts["Header says"] == "0:10.000, which is wrong"
    assert facts["Folder"] == "sounds (locked)"


def test_a_rejected_file_shows_its_sentence(desk: Librarian, tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "web page.wav").write_bytes(b"<html>" * 200)
    for _ in desk.service.index([str(folder)], audio=False):
        pass
    (rejected,) = desk.service.catalog.rejected()
    found = edit_jobs.inspect(desk.service, [rejected])
    desk.panel.show()
    desk.panel.show_inspection(found)
    assert desk.panel.warnings.text() == "cannot be used: This is a web page, not a sound."
    assert desk.editor("title").isReadOnly() and desk.panel.ids == ()


def test_a_value_that_bext_cut_off_is_no_conflict() -> None:
    whole = "x" * 300
    assert told([Value(whole[:256], "bext", 1), Value(whole, "iXML", 1)]) == [(whole, ("bext", "iXML"), 1)]


# --- editing


def test_an_edit_is_in_the_catalog_and_found_at_once_and_taken_back_by_key(desk: Librarian) -> None:
    desk.inspect(GATE)
    desk.edit("title", "Squealing hinge")
    desk.wait(lambda: desk.clip(GATE).title == "Squealing hinge")
    desk.wait(lambda: desk.inspector._steps.undo == f"Title of {GATE}")
    assert f"Undo: title of {GATE}  (Ctrl+Z)" in desk.panel.undo.toolTip()
    desk.wait(lambda: desk.panel.foot.isVisible())
    desk.type("squealing")
    desk.wait(lambda: desk.names()[:1] == [GATE])
    desk.key(Qt.Key.Key_Z, CTRL)
    desk.wait(lambda: desk.clip(GATE).title == "")
    desk.wait(lambda: f"Undone: title of {GATE}." in desk.said())
    desk.key(Qt.Key.Key_Z, CTRL | SHIFT)
    desk.wait(lambda: desk.clip(GATE).title == "Squealing hinge")


def test_undo_inside_a_field_takes_letters_back_while_typing_and_steps_otherwise(desk: Librarian) -> None:
    desk.inspect(GATE)
    desk.edit("designer", "Ann")
    desk.wait(lambda: desk.inspector._steps.undo == f"Designer of {GATE}")
    editor = desk.editor("title")
    desk.edit("title", "abc", enter=False)
    QTest.keyClick(editor, Qt.Key.Key_Z, CTRL)
    assert editor.text() == "" and desk.inspector._steps.undo == f"Designer of {GATE}"
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    QTest.keyClick(editor, Qt.Key.Key_Z, CTRL)
    desk.wait(lambda: desk.inspector._steps.undo == "")
    assert desk.service.desk.inspect([desk.clip(GATE).id])["designer"].value == ""


def test_many_sounds_share_values_or_are_mixed_and_only_what_was_touched_changes(desk: Librarian) -> None:
    desk.inspect(CREAK, SLAM, FLAC)
    assert desk.panel.title.full_text() == "3 sounds"
    assert desk.editor("title").text() == "" and desk.editor("title").placeholderText() == "mixed values (2)"
    before = {name: desk.clip(name) for name in (CREAK, SLAM, FLAC)}
    desk.edit("keywords", "wood, old")
    desk.wait(lambda: all(desk.clip(name).keywords == "wood, old" for name in before))
    desk.wait(lambda: "Keywords of 3 sounds changed." in desk.said())
    for name, old in before.items():
        now = desk.clip(name)
        assert (now.title, now.description, now.category) == (old.title, old.description, old.category)
    assert len(desk.service.catalog.steps()) == 1
    desk.wait(lambda: desk.editor("keywords").toPlainText() == "wood, old")
    desk.key(Qt.Key.Key_Z, CTRL)
    desk.wait(lambda: [desk.clip(name).keywords for name in before] == ["", "", ""])


def test_only_the_latest_step_is_offered_to_be_undone(desk: Librarian) -> None:
    desk.inspect(SLAM, GATE)
    desk.edit("designer", "Ann")
    desk.wait(lambda: "Designer of 2 sounds changed." in desk.said())
    desk.edit("library", "Attic")
    desk.wait(lambda: "Library of 2 sounds changed." in desk.said())
    assert "Designer of 2 sounds changed." not in desk.said()


def test_mixed_values_can_be_emptied_all_at_once(desk: Librarian) -> None:
    desk.inspect(CREAK, SLAM)
    desk.editor("title").empty()
    desk.wait(lambda: desk.clip(CREAK).title == desk.clip(SLAM).title == "")


def test_leaving_mixed_fields_untouched_writes_nothing(desk: Librarian) -> None:
    desk.inspect(CREAK, SLAM)
    for field in ("title", "description", "catid", "library"):
        desk.editor(field).setFocus()
        QTest.keyClick(desk.editor(field), Qt.Key.Key_Return)
    desk.key(Qt.Key.Key_I)
    desk.idle()
    assert desk.service.catalog.steps() == []


def test_what_is_typed_goes_to_the_sound_it_was_typed_for(desk: Librarian) -> None:
    desk.inspect(SLAM)
    desk.edit("title", "Typed for the slam", enter=False)
    desk.select(GATE)
    desk.wait(lambda: desk.clip(SLAM).title == "Typed for the slam")
    assert desk.clip(GATE).title == "" and desk.editor("title").text() == ""


def test_what_is_typed_survives_a_selection_that_the_program_changes(desk: Librarian) -> None:
    desk.inspect(SLAM)
    desk.edit("title", "Half a ti", enter=False)
    desk.view.select_ids([desk.clip(GATE).id], desk.clip(GATE).id)
    desk.wait_inspected(GATE)
    desk.wait(lambda: desk.clip(SLAM).title == "Half a ti")
    assert desk.clip(GATE).title == ""


def test_what_is_read_anew_does_not_replace_what_is_being_typed(desk: Librarian) -> None:
    desk.inspect(SLAM)
    desk.edit("title", "Still typing", enter=False)
    desk.service.desk.set_fields([desk.clip(SLAM).id], {"designer": "Elsewhere", "title": "Elsewhere"})
    desk.inspector._look_again()
    desk.wait(lambda: desk.editor("designer").text() == "Elsewhere")
    assert desk.editor("title").text() == "Still typing" and desk.editor("title").is_dirty


def test_closing_the_window_keeps_what_was_typed(qtbot: Any, made: Path, tmp_path: Path) -> None:
    desk = Librarian(qtbot, copy_library(made, tmp_path / "library"))
    desk.inspect(GATE)
    desk.edit("description", "Typed before closing", enter=False)
    desk.close()
    models = InProcessModels(("hash",))
    service = LibraryService(DataFolder(tmp_path / "library"), models=models)
    assert service.catalog.find(GATE).description == "Typed before closing"
    service.close()
    models.close()


def test_escape_gives_up_and_the_window_keeps_its_search(desk: Librarian) -> None:
    desk.inspect(SLAM)
    desk.edit("title", "Never mind", enter=False)
    QTest.keyClick(desk.editor("title"), Qt.Key.Key_Escape)
    assert desk.editor("title").text() == "Slam" and desk.editor("title").hasFocus()
    desk.select(GATE)
    desk.idle()
    assert desk.clip(SLAM).title == "Slam" and desk.service.catalog.steps() == []


def test_a_category_is_found_by_typing_parts_of_it(desk: Librarian) -> None:
    desk.inspect(GATE, FLAC)
    desk.wait(lambda: desk.editor("catid")._choices)
    desk.edit("catid", "door wood")
    for name in (GATE, FLAC):
        desk.wait(lambda name=name: desk.clip(name).catid == "DOORWood")
        assert (desk.clip(name).category, desk.clip(name).subcategory) == ("DOORS", "WOOD")
    desk.wait(lambda: desk.editor("category").text() == "DOORS")
    desk.edit("catid", "no such thing")
    assert "The UCS has no category “no such thing”." in desk.said()
    assert desk.editor("catid").text() == "DOORWood"


def test_back_to_what_the_file_says(desk: Librarian) -> None:
    desk.inspect(SLAM)
    desk.edit("title", "Other")
    desk.wait(lambda: desk.panel.rows["title"].back.isVisible())
    lines = desk.panel.rows["title"].findChildren(SourceLine)
    assert [(line.said.value, line.said.sources) for line in lines] == [
        ("Other", ("edit",)),
        ("Slam", ("INFO",)),
    ]
    QTest.mouseClick(desk.panel.rows["title"].back, Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.clip(SLAM).title == "Slam")
    assert desk.service.catalog.edits(desk.clip(SLAM).id) == {}


def test_values_of_the_library_complete_what_is_typed(desk: Librarian) -> None:
    desk.inspect(GATE)
    desk.editor("library").setFocus()
    desk.wait(lambda: desk.editor("library")._words.stringList() == ["Barn"])


def test_stars_and_heart_rate_the_selection(desk: Librarian) -> None:
    desk.inspect(SLAM, GATE)
    QTest.mouseClick(desk.panel.stars[2], Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.clip(SLAM).rating == desk.clip(GATE).rating == 3)
    QTest.mouseClick(desk.panel.heart, Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.clip(SLAM).favourite and desk.clip(GATE).favourite)


def test_pasted_lines_become_one(desk: Librarian) -> None:
    from PySide6.QtGui import QGuiApplication

    desk.inspect(GATE)
    QGuiApplication.clipboard().setText("first\nsecond\r\n  third")
    desk.editor("description").setFocus()
    desk.editor("description").paste()
    QTest.keyClick(desk.editor("description"), Qt.Key.Key_Return)
    desk.wait(lambda: desk.clip(GATE).description == "first second third")


def test_many_hundreds_are_edited_as_one_step_and_found_after_a_job(desk: Librarian) -> None:
    add_clips(desk, 600)
    ids = [f"m{n}" for n in range(600)]
    assert len(ids) > edit_jobs.MANY
    desk.inspector.set_field(ids, "description", "Marvellous multitude")
    desk.wait(lambda: "Description of 600 sounds changed." in desk.said())

    def found() -> set[str]:
        return {hit.id for hit in desk.service.search("marvellous", mode="keyword", k=1000).hits}

    desk.wait(lambda: found() == set(ids))
    assert desk.inspector._steps.undo == "Description of 600 sounds"


def test_a_file_outside_the_library_can_be_looked_at_but_not_edited(desk: Librarian, tmp_path: Path) -> None:
    clip = Clip(id="", path=str(tmp_path / "x.wav"), root_id=0, rel_path="x.wav", name="x.wav")
    desk.panel.show()
    desk.panel.show_inspection(edit_jobs.inspect(desk.service, [clip]))
    assert desk.panel.title.full_text() == "x.wav" and desk.editor("title").isReadOnly()


def test_all_of_a_long_list_can_be_selected(desk: Librarian) -> None:
    add_clips(desk, 1200)
    desk.search.refresh()
    desk.wait_listed(500)
    desk.key(Qt.Key.Key_End)
    desk.wait(lambda: desk.view.currentIndex().row() == 1204)
    desk.key(Qt.Key.Key_I)
    desk.key(Qt.Key.Key_A, CTRL)
    desk.wait(lambda: len(desk.panel.ids) == 1205)
    assert desk.panel.title.full_text() == "1,205 sounds"
    assert len(desk.view.selected_clips()) == 1205
    desk.service.desk.editor.apply({f"m{n}": {"designer": f"D{n}"} for n in range(1200)}, "Many values")
    found = edit_jobs.inspect(desk.service, desk.view.selected_clips())
    assert found.distinct["designer"] == 1200
    assert len(found.shown["designer"].values) == edit_jobs.MOST_VALUES, "what is shown is shown at once"
    desk.panel.show_inspection(found)
    assert desk.editor("designer").placeholderText() == "mixed values (1,200)"


def test_the_catid_stays_in_sight_where_lines_are_cut(desk: Librarian) -> None:
    completer = desk.editor("catid").completer()
    assert completer is not None and completer.popup() is not None
    assert completer.popup().textElideMode() == Qt.TextElideMode.ElideMiddle
