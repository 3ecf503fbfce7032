"""Writing into files, renaming, throwing away, and the locks before all of it, in the window."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from librarian import CREAK, CUT, FLAC, GATE, SLAM, Librarian, make_library
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from torture import heard
from ui_support import index

from foley_desktop.audio.tags import best, read_tags
from foley_desktop.audio.tagwriter import Change
from foley_desktop.library.write_preview import FilePlan
from foley_desktop.ui.messages import Question, TextDialog
from foley_desktop.ui.rename_dialog import RenameDialog
from foley_desktop.ui.rename_history import RenameHistory
from foley_desktop.ui.rename_model import NEW, OLD, REMARK
from foley_desktop.ui.write_dialog import WriteDialog, merged

pytestmark = pytest.mark.gui
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_library(tmp_path_factory.mktemp("filing")).parent


@pytest.fixture
def desk(qtbot: Any, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Librarian]:
    """A library over files of its own: they are changed here."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    shutil.copytree(made / "sounds", tmp_path / "sounds")
    (tmp_path / "library").mkdir()
    shutil.copy(made / "library" / "settings.json", tmp_path / "library")
    index(tmp_path / "library", tmp_path / "sounds")
    desk = Librarian(qtbot, tmp_path / "library")
    yield desk
    desk.close()


@pytest.fixture
def sounds(tmp_path: Path) -> Path:
    return tmp_path / "sounds"


def lines_of(dialog: Any) -> list[str]:
    """Every line of the tree, children indented."""
    found = []
    for number in range(dialog.tree.topLevelItemCount()):
        item = dialog.tree.topLevelItem(number)
        found.append(item.text(0))
        found += [
            "  " + " | ".join(item.child(n).text(c) for c in range(4)) for n in range(item.childCount())
        ]
    return found


# --- locks


def test_the_sidebar_unlocks_once_it_was_said_what_that_permits_and_locks_at_once(desk: Librarian) -> None:
    root = desk.service.roots()[0]
    assert root.locked
    desk.window.sidebar.lock_wanted.emit(root, False)
    question = desk.dialog(Question)
    assert desk.service.roots()[0].locked, "nothing happens before the answer"
    said = " ".join(label.text() for label in question.findChildren(QLabel))
    assert "renamed, written to and thrown away" in said
    desk.press_button(question, "Unlock")
    desk.wait(lambda: not desk.service.roots()[0].locked)
    desk.wait(lambda: not desk.window.sidebar._overview.roots[0].locked)
    desk.window.sidebar.lock_wanted.emit(desk.service.roots()[0], True)
    desk.wait(lambda: desk.service.roots()[0].locked)


@pytest.mark.parametrize("key", [Qt.Key.Key_F2, Qt.Key.Key_Delete])
def test_what_a_lock_refuses_says_where_to_unlock_and_can_go_on(desk: Librarian, key: Qt.Key) -> None:
    desk.select(GATE)
    desk.key(key)
    question = desk.dialog(Question)
    desk.press_button(question, "Cancel")
    assert desk.service.roots()[0].locked
    desk.key(key)
    desk.press_button(desk.dialog(Question), "Unlock and go on")
    if key == Qt.Key.Key_F2:
        desk.dialog(RenameDialog).reject()
    else:
        desk.wait(lambda: any("trash" in b.text() for b in buttons_of(desk)))
    assert not desk.service.roots()[0].locked


def buttons_of(desk: Librarian) -> list[Any]:
    return [
        b for q in desk.window.findChildren(Question) if q.isVisible() for b in q.findChildren(QPushButton)
    ]


# --- writing


def test_writing_is_previewed_unlocked_and_done_with_the_sound_untouched(
    desk: Librarian, sounds: Path
) -> None:
    before = {name: heard(sounds / name) for name in (SLAM, FLAC)}
    desk.inspect(SLAM, FLAC)
    desk.edit("title", "New title")
    desk.key(Qt.Key.Key_S, CTRL)
    dialog = desk.dialog(WriteDialog)
    desk.wait(lambda: dialog.is_complete)
    assert not dialog.write.isEnabled() and dialog.lock.isVisible()
    assert "The folder sounds is locked." in lines_of(dialog)[0]
    QTest.mouseClick(dialog.unlock, Qt.MouseButton.LeftButton)
    desk.press_button(desk.dialog(Question), "Unlock")
    desk.wait(lambda: dialog.is_complete and dialog.write.isEnabled())
    assert lines_of(dialog) == [
        f"{SLAM}   ·   1 field changes",
        "  Title | Slam | New title | INFO",
        "  Title | – | New title | iXML, ID3",
        f"{FLAC}   ·   1 field changes",
        "  Title | – | New title | Vorbis",
    ]
    dialog.backup.setChecked(True)
    desk.press_button(dialog, "Write 2 files")
    desk.wait(lambda: "2 files written." in desk.said())
    for name, sound in before.items():
        assert best(read_tags(str(sounds / name)), "title") == "New title"
        assert heard(sounds / name) == sound
    assert best(read_tags(str(sounds / f"{SLAM}.bak")), "title") == "Slam"
    desk.wait(lambda: not desk.panel.foot.isVisible())
    assert desk.service.catalog.edits(desk.clip(SLAM).id) == {}


def test_a_file_that_cannot_be_written_says_why_and_costs_itself_alone(desk: Librarian, sounds: Path) -> None:
    desk.unlock()
    desk.inspect(CUT, SLAM, GATE)
    desk.edit("designer", "Ann")
    os.chmod(sounds / SLAM, 0o444)
    desk.key(Qt.Key.Key_S, CTRL)
    dialog = desk.dialog(WriteDialog)
    desk.wait(lambda: dialog.is_complete)
    assert dialog.summary.text() == "1 file will be written, 2 cannot be written."
    cut, slam, gate, *_ = [line for line in lines_of(dialog) if not line.startswith("  ")]
    assert "promises more than is there" in cut and "write-protected" in slam and "1 field" in gate
    os.chmod(sounds / GATE, 0o444)  # between the look and the deed
    desk.press_button(dialog, "Write 1 file")
    desk.wait(lambda: any("could not be" in said for said in desk.said()))
    toast = desk.window.messages.toasts[-1]
    desk.press_button(toast, "Show")
    assert "write-protected" in desk.dialog(TextDialog).body.toPlainText()
    assert desk.service.catalog.edits(desk.clip(GATE).id)["designer"].value == "Ann", "the edit is kept"


def test_nothing_to_write_says_so(desk: Librarian) -> None:
    desk.unlock()
    desk.select(GATE)
    desk.key(Qt.Key.Key_S, CTRL)
    dialog = desk.dialog(WriteDialog)
    desk.wait(lambda: dialog.is_complete)
    assert dialog.summary.text() == "0 files will be written, 1 says it all already."
    assert not dialog.write.isEnabled() and dialog.write.text() == "Nothing to write"


def test_what_lists_and_names_say_is_written_on_demand(desk: Librarian) -> None:
    desk.unlock()
    desk.select(CREAK)
    desk.key(Qt.Key.Key_S, CTRL)
    dialog = desk.dialog(WriteDialog)
    desk.wait(lambda: dialog.is_complete)
    assert not dialog.write.isEnabled()
    dialog.everything.setChecked(True)
    desk.wait(lambda: dialog.is_complete and dialog.write.isEnabled())
    assert "  Description | Door | Old wooden door | INFO" in lines_of(dialog)


def test_places_in_which_the_same_happens_are_one_line() -> None:
    changes = [
        Change("title", "INFO", "a", "b"),
        Change("title", "ID3", "a", "b"),
        Change("title", "iXML", "", "b"),
    ]
    assert merged(changes) == [("title", "a", "b", "INFO, ID3"), ("title", "", "b", "iXML")]


def test_a_long_preview_tells_how_far_it_is(desk: Librarian) -> None:
    dialog = WriteDialog(desk.window, 3)
    dialog.add([FilePlan("1", "/a.wav", "a.wav", 1, (Change("title", "INFO", "", "x"),))])
    assert dialog.summary.text() == "Looking at the files: 1 of 3 …" and not dialog.write.isEnabled()
    dialog.finish()
    assert dialog.summary.text() == "1 file will be written." and dialog.write.isEnabled()
    dialog.reject()


# --- renaming


def rename(desk: Librarian, *names: str, pattern: str) -> Any:
    desk.unlock()
    desk.select(*names)
    desk.key(Qt.Key.Key_F2)
    dialog = desk.dialog(RenameDialog)
    dialog.pattern.setEditText(pattern)
    desk.wait(lambda: dialog._plan is not None and not dialog._timer.isActive())
    return dialog


def settled(desk: Librarian, dialog: Any) -> None:
    """Until the table shows the names of what is chosen now."""
    asked = [0]
    dialog.preview_wanted.connect(lambda *_: asked.__setitem__(0, asked[0] + 1))
    dialog.ask()
    shown: list[int] = []
    dialog.model.modelReset.connect(lambda: shown.append(1))
    desk.wait(lambda: shown)


def cells(dialog: Any) -> list[tuple[str, str, str]]:
    model = dialog.model
    return [
        tuple(model.index(row, column).data() for column in (OLD, NEW, REMARK))  # type: ignore[misc]
        for row in range(model.rowCount())
    ]


def test_names_by_the_ucs_are_previewed_applied_and_taken_back_as_one(desk: Librarian, sounds: Path) -> None:
    ids = {name: desk.clip(name).id for name in (CREAK, SLAM)}
    desk.service.catalog.add_to_collection("Mine", list(ids.values()))
    desk.service.desk.set_fields([ids[SLAM]], {"catid": "DOORWood"})
    desk.inspect(CREAK, SLAM)
    desk.unlock()
    desk.key(Qt.Key.Key_F2)
    dialog = desk.dialog(RenameDialog)
    desk.wait(lambda: dialog.model.rowCount() == 2)
    assert "The creator's ID is missing." in cells(dialog)[0][2]
    QTest.keyClicks(dialog.creator, "AB")
    QTest.keyClicks(dialog.source, "BARN")
    new = ["DOORCreak_Creak_AB_BARN.wav", "DOORWood_Slam_AB_BARN.wav"]
    desk.wait(lambda: [cell[1] for cell in cells(dialog)] == new)
    assert dialog.summary.text() == "2 files would get a new name."
    desk.press_button(dialog, "Rename 2 files")
    desk.wait(lambda: "2 files renamed." in desk.said())
    assert {name for name in new if (sounds / name).exists()} == set(new)
    assert {clip.id for clip in map(desk.clip, new)} == set(ids.values())
    assert dict(desk.service.catalog.collections())["Mine"] == 2
    desk.wait(lambda: set(new) <= set(desk.names()))
    named = desk.window.deck.transport._name
    desk.wait(lambda: named.full_text() in new)
    desk.wait(lambda: any(name in desk.find("drag_preview").full_text() for name in new))
    desk.wait(lambda: desk.window.service.settings.extra.get("rename", {}).get("creator") == "AB")
    desk.key(Qt.Key.Key_Z, CTRL)
    desk.wait(lambda: (sounds / CREAK).exists() and (sounds / SLAM).exists())
    desk.wait(lambda: "Undone: rename 2 files." in desk.said())
    assert not any((sounds / name).exists() for name in new)


def test_conflicts_are_marked_in_words_and_only_the_good_ones_are_renamed(
    desk: Librarian, sounds: Path
) -> None:
    dialog = rename(desk, CREAK, SLAM, GATE, pattern="{name}")
    settled(desk, dialog)
    assert [cell[2] for cell in cells(dialog)] == ["stays as it is"] * 3
    model = dialog.model
    for row, name in enumerate(("nul", "door slam.WAV", FLAC.replace("flac", "wav"))):
        model.setData(model.index(row, NEW), name)
        settled(desk, dialog)
    remarks = [cell[2] for cell in cells(dialog)]
    assert remarks == ["Windows reserves this name for a device.", "only the case changes", ""]
    assert cells(dialog)[0][1] == "nul.wav", "the ending was added"
    model.setData(model.index(2, NEW), "door slam.wav")
    settled(desk, dialog)
    assert "Two files would get the same name." in cells(dialog)[1][2] and "same name" in cells(dialog)[2][2]
    assert not dialog.apply.isEnabled()
    model.setData(model.index(2, NEW), "gate.wav")
    settled(desk, dialog)
    dialog.only_problems.setChecked(True)
    assert [cell[0] for cell in cells(dialog)] == [CREAK]
    dialog.leave_out.setChecked(True)
    desk.press_button(dialog, "Rename 2 files")
    desk.wait(lambda: "2 files renamed." in desk.said())
    assert {"door slam.WAV", "gate.wav", CREAK} <= set(os.listdir(sounds))


def test_a_pattern_that_cannot_be_used_says_why(desk: Librarian) -> None:
    dialog = rename(desk, GATE, pattern="{name}")
    dialog.pattern.setEditText("{colour}")
    desk.wait(lambda: "no part {colour}" in dialog.summary.text())
    assert not dialog.apply.isEnabled() and dialog.model.rowCount() == 0
    dialog.pattern.setEditText("{name} {number}")
    desk.wait(lambda: [cell[1] for cell in cells(dialog)] == ["Gate 001.wav"])


def test_the_history_reverses_a_batch_later(desk: Librarian, sounds: Path) -> None:
    desk.inspector.filing.show_history()
    empty = desk.dialog(RenameHistory)
    desk.wait(lambda: "Nothing has been renamed yet" in empty.words.text())
    assert not empty.back.isEnabled()
    empty.reject()
    dialog = rename(desk, GATE, SLAM, pattern="{number} {name}")
    desk.wait(lambda: dialog.apply.isEnabled())
    desk.press_button(dialog, "Rename 2 files")
    desk.wait(lambda: "2 files renamed." in desk.said())
    desk.wait(lambda: "002 Gate.wav" in desk.names())
    desk.service.desk.set_fields([desk.clip("002 Gate.wav").id], {"title": "A later step"})
    desk.inspector.filing.show_history()
    history = desk.dialog(RenameHistory)
    desk.wait(lambda: history.list.topLevelItemCount() == 1)
    assert "Gate.wav  →  002 Gate.wav" in history.names.toPlainText()
    desk.press_button(history, "Take back")
    desk.wait(lambda: {GATE, SLAM} <= set(os.listdir(sounds)))
    desk.wait(lambda: GATE in desk.names())  # the catalog learns of it after the folder
    desk.wait(lambda: desk.clip(GATE).title == "A later step")


# --- throwing away


def test_files_go_to_the_trash_once_confirmed_and_come_back(desk: Librarian, sounds: Path) -> None:
    desk.unlock()
    desk.service.set_rating([desk.clip(GATE).id], 4)
    desk.select(GATE)
    desk.key(Qt.Key.Key_Delete)
    desk.press_button(desk.dialog(Question), "Cancel")
    assert (sounds / GATE).exists()
    desk.key(Qt.Key.Key_Delete)
    desk.press_button(desk.dialog(Question), "Move to trash")
    desk.wait(lambda: "1 file moved to the trash." in desk.said())
    assert not (sounds / GATE).exists()
    desk.wait(lambda: GATE not in desk.names())
    assert not desk.window.results.new_chip.isVisible(), "the row goes without being asked for"
    toast = next(t for t in desk.window.messages.toasts if "moved to the trash" in t.label.text())
    desk.press_button(toast, "Undo")
    desk.wait(lambda: (sounds / GATE).exists())
    desk.wait(lambda: desk.clip(GATE).status == "ok")
    assert desk.clip(GATE).rating == 4


def test_a_step_that_cannot_be_taken_back_can_be_given_up(desk: Librarian, sounds: Path) -> None:
    desk.unlock()
    gate = desk.clip(GATE).id
    desk.service.desk.set_fields([gate], {"title": "Before"})
    plan = desk.service.desk.preview_rename({gate: "other.wav"})
    for _ in desk.service.desk.rename(plan):
        pass
    (sounds / GATE).write_bytes(b"in the way")
    desk.view.setFocus()
    desk.key(Qt.Key.Key_Z, CTRL)
    desk.press_button(desk.dialog(Question), "Give it up")
    desk.wait(lambda: desk.inspector._steps.undo == "Edit title")
    desk.key(Qt.Key.Key_Z, CTRL)
    desk.wait(lambda: desk.clip("other.wav").title == "")
