"""The catalogue's windows on a real library: sidebar, filters, suggestions, lists, deliveries, faults."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import soundfile
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QMenu, QPushButton, QTreeWidgetItem
from ui_support import Desk, copy_library, index, make_library, write_clip

from foley_desktop.audio.tags import best, read_tags
from foley_desktop.models import Condition
from foley_desktop.ui.deliver_dialog import DeliverDialog
from foley_desktop.ui.deliver_model import NAME, STATE
from foley_desktop.ui.filter_menu import FilterMenu
from foley_desktop.ui.list_dialog import ListDialog
from foley_desktop.ui.prompt import LineDialog
from foley_desktop.ui.review_model import CONFIDENCE, SURE
from foley_desktop.ui.sidebar_tree import KIND, VALUE, walk
from foley_desktop.ui.typed_filters import taken_out
from foley_desktop.ui.unusable_dialog import UnusableDialog

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
COUNT = 13


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The ten clips of all window tests, two with a category, one cut short, and two that are no sounds."""
    base = tmp_path_factory.mktemp("catalogue")
    library, sounds = make_library(base)
    write_clip(sounds / "ucs" / "DOORWood_Slam_ABC_LIB.wav", 0.3, seed=20)
    write_clip(sounds / "ucs" / "DOORMetl_Bang_ABC_LIB.wav", 0.3, seed=21)
    cut = write_clip(sounds / "ucs" / "short one.wav", 1.0, seed=22)
    cut.write_bytes(cut.read_bytes()[:30_000])
    (sounds / "page.wav").write_text("<html>no sound</html>")
    (sounds / "empty.wav").touch()
    index(library, sounds)
    return library, sounds


@pytest.fixture
def desk(qtbot: Any, made: tuple[Path, Path], tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(qtbot, copy_library(made[0], tmp_path / "library"))
    desk.wait_listed(COUNT)
    desk.wait(lambda: desk.window.sidebar.overview is not None)
    yield desk
    desk.close()


def rows(desk: Desk, kind: str) -> dict[str, QTreeWidgetItem]:
    """Rows of the sidebar of a kind that are shown, by their words."""
    top = desk.window.sidebar.tree.invisibleRootItem()
    return {i.text(0): i for i in walk(top) if i.data(0, KIND) == kind and not i.isHidden()}


def click(desk: Desk, item: QTreeWidgetItem) -> None:
    tree = desk.window.sidebar.tree
    parent = item.parent()
    while parent is not None:
        parent.setExpanded(True)
        parent = parent.parent()
    tree.scrollToItem(item)
    desk.qtbot.mouseClick(tree.viewport(), LEFT, pos=tree.visualItemRect(item).center())


def answer(desk: Desk, typed: str) -> None:
    """Types into the dialog that asks for a line, and confirms."""
    desk.wait(lambda: any(d.isVisible() for d in desk.window.findChildren(LineDialog)))
    (dialog,) = (d for d in desk.window.findChildren(LineDialog) if d.isVisible())
    dialog.line.selectAll()
    desk.qtbot.keyClicks(dialog.line, typed)
    desk.qtbot.keyClick(dialog.line, Qt.Key.Key_Return)


def toast(desk: Desk, words: str) -> Any:
    desk.wait(lambda: any(words in t.label.text() for t in desk.window.messages.toasts))
    return next(t for t in desk.window.messages.toasts if words in t.label.text())


def undo(desk: Desk, words: str) -> None:
    """Presses the button of the message that says so."""
    button = next(b for b in toast(desk, words).findChildren(QPushButton) if b.text() == "Undo")
    button.click()


def chips(desk: Desk) -> list[str]:
    return [chip.label.text() for chip in desk.window.search_bar.chips.chips()]


# --- sidebar


def test_categories_stand_in_a_tree_and_narrow_the_list(desk: Desk) -> None:
    found = rows(desk, "category")
    assert list(found) == ["No category", "DOORS", "METAL", "WOOD"]
    click(desk, found["WOOD"])
    desk.wait_listed(1)
    assert chips(desk) == ["DOORS", "WOOD"]
    click(desk, rows(desk, "category")["No category"])
    desk.wait_listed(COUNT - 2)
    assert chips(desk) == ["no category"]


def test_the_sidebar_is_narrowed_by_typing(desk: Desk) -> None:
    sidebar = desk.window.sidebar
    assert sidebar.narrow.isVisible()
    desk.qtbot.keyClicks(sidebar.narrow, "wood")
    assert list(rows(desk, "category")) == ["DOORS", "WOOD"] and not rows(desk, "everything")
    sidebar.narrow.clear()
    desk.qtbot.keyClicks(sidebar.narrow, "doormetl")
    assert list(rows(desk, "category")) == ["DOORS", "METAL"], "by the CatID too"
    desk.qtbot.keyClick(sidebar.narrow, Qt.Key.Key_Escape)
    assert rows(desk, "everything") and len(rows(desk, "category")) == 4


def test_counts_follow_an_edit_and_its_undo(desk: Desk) -> None:
    clip = next(row.clip for row in desk.model.rows if row.clip.name == "metal gate.wav")
    desk.window.wings["catalogue"].review.drop("DOORMetl", [clip])
    desk.wait(lambda: [c.clips for c in desk.window.sidebar.overview.categories] == [3])
    desk.wait(lambda: desk.service.clip(clip.id).catid == "DOORMetl")
    undo(desk, "1 sound set to DOORMetl")
    desk.wait(lambda: desk.window.sidebar.overview.unlabelled == COUNT - 2)
    assert desk.service.clip(clip.id).catid == ""


def test_a_collection_is_made_by_the_menu_listed_renamed_and_deleted(desk: Desk) -> None:
    desk.view.selectRow(0)
    desk.view.selectAll()
    clips = desk.view.selected_clips()[:3]
    desk.window.actions_.show_menu(clips, QPoint(100, 100))
    menu = next(m for m in desk.window.findChildren(QMenu) if m.isVisible())
    inner = next(a.menu() for a in menu.actions() if a.text() == "Add to collection")
    menu.close()
    next(a for a in inner.actions() if a.text() == "New collection …").trigger()
    answer(desk, "Mine & yours")
    desk.wait(lambda: rows(desk, "collection"))
    click(desk, rows(desk, "collection")["Mine & yours"])
    desk.wait_listed(3)
    shelf = desk.window.wings["catalogue"].shelf
    shelf.take_out("Mine & yours", clips[:1])
    desk.wait_listed(2)
    undo(desk, "1 sound taken out")
    desk.wait_listed(3)
    shelf.rename_collection("Mine & yours")
    answer(desk, "Ours")
    desk.wait(lambda: chips(desk) == ["collection Ours"])
    desk.wait(lambda: list(rows(desk, "collection")) == ["Ours"])
    shelf.delete_collection("Ours")
    desk.wait(lambda: rows(desk, "new collection"))
    desk.wait_listed(COUNT)
    undo(desk, "is deleted")
    desk.wait(lambda: desk.window.sidebar.overview.collections == (("Ours", 3),))


def test_a_search_is_saved_and_run_again_with_one_click(desk: Desk) -> None:
    desk.window.search_bar.chips.add(Condition("duration", "<", 3.0))
    desk.type("wooden door")
    desk.window.search_bar.mode_box.setCurrentIndex(1)
    desk.search.set_mode("keyword")
    desk.wait_listed()
    names = desk.names()
    desk.press(Qt.Key.Key_S, CTRL | SHIFT)
    answer(desk, "Short doors")
    desk.wait(lambda: rows(desk, "saved"))
    assert rows(desk, "saved")["Short doors"].data(0, VALUE).mode == "keyword"
    desk.window._show_everything()
    desk.search.set_mode("hybrid")
    desk.window.search_bar.mode_box.setCurrentIndex(0)
    desk.wait_listed(COUNT)
    click(desk, rows(desk, "saved")["Short doors"])
    desk.wait(lambda: desk.search.is_answered and desk.names() == names)
    assert (desk.box.text(), desk.window.search_bar.mode) == ("wooden door", "keyword")
    assert chips(desk) == ["length < 3 s"]


def test_damage_is_a_filter_and_refused_files_are_told_and_tried_again(
    desk: Desk, made: tuple[Path, Path]
) -> None:
    click(desk, rows(desk, "badge")["Cut short"])
    desk.wait_listed(1)
    assert chips(desk) == ["cut short"] and desk.names() == ["short one.wav"]
    click(desk, rows(desk, "unusable")["Could not be used"])
    desk.wait(lambda: desk.window.findChildren(UnusableDialog))
    (dialog,) = desk.window.findChildren(UnusableDialog)
    desk.wait(lambda: dialog.table.rowCount() == 2)
    told = {dialog.table.item(row, 0).text(): dialog.table.item(row, 1).text() for row in range(2)}
    assert set(told) == {"page.wav", "empty.wav"} and all(words.endswith(".") for words in told.values())
    page = made[1] / "page.wav"
    before = page.read_bytes()
    write_clip(page, 0.2, seed=30)
    try:
        dialog.table.selectRow(list(told).index("page.wav"))
        dialog.retry.click()
        desk.idle()
        desk.wait(lambda: dialog.table.rowCount() == 1)
    finally:
        page.write_bytes(before)
    assert dialog.heading.text() == "1 file could not be used"
    dialog.accept()


# --- filters by typing


@pytest.mark.parametrize(
    ("query", "finished", "rest", "filters"),
    [
        ("rain duration<5 ", False, "rain ", ["duration<5"]),
        ("rain duration<5", False, "rain duration<5", []),
        ("rain duration<5", True, "rain", ["duration<5"]),
        ('folder="Sound Effects" door', True, "door", ["folder=Sound Effects"]),
        ("RATE>=44.1k channels=stereo", True, "", ["rate>=44100", "channels=2"]),
        ("a<b x=y 3<4 desc:x=1", True, "a<b x=y 3<4 desc:x=1", []),
        ("mc^2=e", True, "mc^2=e", []),
    ],
)
def test_filters_are_taken_out_of_a_query(query: str, finished: bool, rest: str, filters: list[str]) -> None:
    left, conditions, wrong = taken_out(query, finished=finished)
    assert (left, [str(condition) for condition in conditions], wrong) == (rest, filters, None)


def test_a_filter_typed_into_the_search_box_becomes_a_chip(desk: Desk) -> None:
    desk.box.setFocus()
    desk.qtbot.keyClicks(desk.box, "duration<1 dog")
    desk.wait(lambda: chips(desk) == ["length < 1 s"] and desk.box.text() == "dog")
    desk.qtbot.keyClicks(desk.box, " channels=2")
    desk.qtbot.keyClick(desk.box, Qt.Key.Key_Return)
    desk.wait(lambda: chips(desk) == ["length < 1 s", "channels = 2"] and desk.box.text() == "dog")
    desk.wait(lambda: desk.search.is_answered)
    assert all(row.clip.channels == 2 and row.clip.duration_s < 1 for row in desk.model.rows)
    desk.qtbot.keyClicks(desk.box, " duration<soon")
    desk.qtbot.keyClick(desk.box, Qt.Key.Key_Return)
    toast(desk, "needs a number")
    assert desk.box.text() == "dog duration<soon"


def test_the_filter_menu_takes_typed_filters_and_says_what_is_wrong(desk: Desk) -> None:
    desk.qtbot.mouseClick(desk.window.search_bar.filter_button, LEFT)
    (menu,) = desk.window.findChildren(FilterMenu)
    line = menu.typed.line
    desk.qtbot.keyClicks(line, "duration<4, flavour=sweet")
    desk.qtbot.keyClick(line, Qt.Key.Key_Return)
    assert menu.isVisible() and "no filter called 'flavour'" in menu.typed.said.text()
    line.clear()
    desk.qtbot.keyClicks(line, "duration<4 badge=cut short, rate>=48k")
    desk.qtbot.keyClick(line, Qt.Key.Key_Return)
    desk.wait(lambda: chips(desk) == ["length < 4 s", "cut short", "rate ≥ 48 kHz"])
    assert not menu.isVisible()
    desk.wait_listed(1)


# --- suggestions


def reviewed(desk: Desk) -> Any:
    """The review of everything without a category, once all is found."""
    desk.press(Qt.Key.Key_C, CTRL | SHIFT)
    review = desk.window.wings["catalogue"].review
    desk.wait(lambda: len(review.model.lines) == COUNT - 2)
    desk.idle()
    desk.wait(lambda: review.page.progress.isHidden())
    return review


def test_suggestions_are_heard_accepted_refused_corrected_and_taken_back(desk: Desk) -> None:
    review = reviewed(desk)
    page, model = review.page, review.model
    sure = [model.index(row, SURE).data(CONFIDENCE) for row in range(model.rowCount())]
    assert sure == sorted(sure, reverse=True) and 0 < sure[0] <= 1
    first = model.lines[0]
    page.table.setFocus()
    desk.press(Qt.Key.Key_Down)
    desk.wait(lambda: desk.window.deck.clip is not None and desk.window.deck.clip.id == first.clip.id)
    desk.wait(lambda: len(page.offer_buttons()) == len(first.suggestions) == 5)
    desk.press(Qt.Key.Key_Return)
    wanted = first.suggestions[0].catid
    desk.wait(lambda: desk.service.clip(first.clip.id).catid == wanted)
    desk.wait(lambda: page.undo.isEnabled())
    second = model.lines[1]
    assert page.table.currentIndex().row() == 1, "on to the next"
    refused, following = second.suggestions[0].catid, second.suggestions[1].catid
    desk.press(Qt.Key.Key_X)
    assert second.offered.catid == following
    desk.wait(lambda: desk.service.shelf.refused([second.clip.id]) == {second.clip.id: {refused}})
    desk.press(Qt.Key.Key_3)
    desk.wait(lambda: desk.service.clip(second.clip.id).catid == second.suggestions[2].catid)
    third = model.lines[2]
    desk.press(Qt.Key.Key_E)
    desk.qtbot.keyClicks(page.field, "thunder weather")
    assert [catid for catid, _, _ in page.field.shown] == ["THUN"]
    desk.qtbot.keyClick(page.field, Qt.Key.Key_Return)
    desk.wait(lambda: desk.service.clip(third.clip.id).catid == "THUN")
    desk.wait(lambda: len(review._decisions) == 4)
    for _ in range(4):
        desk.press(Qt.Key.Key_U)
        desk.qtbot.wait(20)
    ids = [line.clip.id for line in (first, second, third)]
    desk.wait(lambda: [desk.service.clip(i).catid for i in ids] == ["", "", ""])
    desk.wait(lambda: desk.service.shelf.refused(ids) == {})
    desk.wait(lambda: model.left == COUNT - 2)
    assert second.place == 0 and not page.undo.isEnabled()
    desk.press(Qt.Key.Key_Escape)
    desk.press(Qt.Key.Key_Escape)
    desk.wait(lambda: desk.window.lists.currentWidget() is desk.window.results)


def test_all_suggestions_above_a_threshold_are_accepted_as_one_step(desk: Desk) -> None:
    review = reviewed(desk)
    page, model = review.page, review.model
    page.threshold.setValue(5)
    above = model.above(0.05)
    assert page.all.text() == f"Accept {len(above)}" and len(above) > 1
    desk.qtbot.mouseClick(page.all, LEFT)
    desk.wait(lambda: all(desk.service.clip(i).catid == catid for i, catid in above.items()))
    desk.wait(lambda: desk.window.sidebar.overview.unlabelled == COUNT - 2 - len(above))
    desk.wait(page.undo.isEnabled)
    desk.qtbot.mouseClick(page.undo, LEFT)
    desk.wait(lambda: desk.window.sidebar.overview.unlabelled == COUNT - 2)
    desk.type("rain")
    assert desk.window.lists.currentWidget() is desk.window.results, "who searches wants to see what is found"
    assert desk.window.keys._over == {}


def test_finding_categories_is_stopped_by_leaving(desk: Desk) -> None:
    desk.press(Qt.Key.Key_C, CTRL | SHIFT)
    review = desk.window.wings["catalogue"].review
    job = review._job
    assert review.active and not job.is_over
    review.leave()
    desk.idle()
    assert job.is_over and not review.model.lines
    assert desk.window.lists.currentWidget() is desk.window.results


# --- lists of other librarians


def test_a_list_is_read_mapped_previewed_imported_and_taken_back(desk: Desk, tmp_path: Path) -> None:
    listed = tmp_path / "their list.csv"
    table = [
        ["Filename", "Description", "Geräusch", "CatID", "Rating"],
        ["dog growl.wav", "Knurren", "Hund;böse", "ANMLDog", "3"],
        ["C:\\sounds\\ucs\\DOORWood_Slam_ABC_LIB.wav", "A slam", "Tür", "DOORMetl", "5"],
        ["not there.wav", "x", "", "", ""],
    ]
    listed.write_bytes("\n".join("\t".join(row) for row in table).encode("cp1252"))
    desk.window.wings["catalogue"].lists.open(str(listed))
    desk.wait(lambda: desk.window.findChildren(ListDialog))
    (dialog,) = desk.window.findChildren(ListDialog)
    desk.wait(lambda: dialog.found.changes)
    assert (dialog.encoding.currentData(), dialog.delimiter.currentData()) == ("cp1252", "\t")
    assert dialog.table.mapping == {0: "file name", 1: "description", 3: "catid"}
    assert dialog.unmatched.toPlainText() == "not there.wav"
    dialog.table.choice(2).setCurrentIndex(dialog.table.choice(2).findData("keywords"))
    desk.wait(lambda: any(change.field == "keywords" for change in dialog.found.changes))
    replaced = {(c.clip.name, c.field) for c in dialog.found.changes if c.replaces}
    assert ("DOORWood_Slam_ABC_LIB.wav", "catid") in replaced
    assert dialog.model.changes[0].replaces, "what replaces other words stands first"
    dialog.replace_words.setChecked(False)
    desk.wait(lambda: dialog.accept_button.isEnabled() and not dialog.found.conflicts)
    dialog.accept_button.click()
    toast(desk, "2 sounds changed by their list.csv")
    by_name = {row.clip.name: row.clip.id for row in desk.model.rows}
    growl = desk.service.clip(by_name["dog growl.wav"])
    slam = desk.service.clip(by_name["DOORWood_Slam_ABC_LIB.wav"])
    assert (growl.description, growl.keywords, growl.catid) == ("Knurren", "Hund;böse", "ANMLDog")
    assert (slam.description, slam.catid) == ("Slam", "DOORWood"), "what was there stays"
    assert slam.keywords == "Tür", "what was empty is filled"
    desk.wait(lambda: [c.name for c in desk.window.sidebar.overview.categories] == ["ANIMALS", "DOORS"])
    undo(desk, "2 sounds changed")
    desk.wait(lambda: desk.service.clip(growl.id).description == "")
    assert desk.service.clip(slam.id).keywords == "" and desk.service.clip(growl.id).catid == ""


def test_a_list_read_wrongly_can_be_read_otherwise(desk: Desk, tmp_path: Path) -> None:
    listed = tmp_path / "list.csv"
    listed.write_bytes("File Name;Description\ndog growl.wav;Größe".encode("mac_roman"))
    desk.window.wings["catalogue"].lists.open(str(listed))
    desk.wait(lambda: desk.window.findChildren(ListDialog))
    (dialog,) = desk.window.findChildren(ListDialog)
    desk.wait(lambda: dialog.found.changes)
    assert dialog.found.changes[0].after != "Größe"
    dialog.encoding.setCurrentIndex(dialog.encoding.findData("mac_roman"))
    dialog.encoding.activated.emit(dialog.encoding.currentIndex())
    desk.wait(lambda: dialog.found.changes and dialog.found.changes[0].after == "Größe")
    dialog.table.choice(0).setCurrentIndex(0)
    desk.wait(lambda: "No column says" in dialog.summary.text())
    assert not dialog.accept_button.isEnabled()
    dialog.reject()


def test_a_list_dropped_on_the_window_is_opened(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "dropped.CSV").write_text("Filename,Description\ndog growl.wav,Grrr\n")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "dropped.CSV"))])
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    desk.window.dropEvent(QDropEvent(QPointF(300, 300), copy, data, LEFT, none))
    desk.wait(lambda: desk.window.findChildren(ListDialog))
    (dialog,) = desk.window.findChildren(ListDialog)
    desk.wait(lambda: [change.after for change in dialog.found.changes] == ["Grrr"])
    assert not desk.window.messages.toasts
    dialog.reject()


def test_a_file_without_a_table_is_refused_in_a_sentence(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "prose.csv").write_text("just a line")
    desk.window.wings["catalogue"].lists.open(str(tmp_path / "prose.csv"))
    toast(desk, "There is no table in this file.")
    assert not desk.window.findChildren(ListDialog)


# --- deliveries


def fingerprint(folder: Path) -> dict[str, str]:
    return {
        str(
            path.relative_to(folder)
        ): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_copies_are_checked_made_and_the_originals_left_alone(
    desk: Desk, made: tuple[Path, Path], tmp_path: Path
) -> None:
    before = fingerprint(made[1])
    ids = {row.clip.name: row.clip.id for row in desk.model.rows}
    gate = ids["metal gate.wav"]
    desk.service.desk.set_fields([gate], {"catid": "DOORMetl", "description": "An old gate"})
    desk.view.select_ids([gate, ids["dog growl.wav"]], gate)
    desk.press(Qt.Key.Key_D, CTRL | SHIFT)
    dialog = desk.window.findChild(DeliverDialog)
    desk.wait(lambda: dialog.plan is not None)
    assert not dialog.accept_button.isEnabled()
    assert "category" in dialog.model.index(0, STATE).data() + dialog.model.index(1, STATE).data()
    dialog.set_folder(str(tmp_path / "out"))
    desk.qtbot.keyClicks(dialog.creator, "JD")
    desk.qtbot.keyClicks(dialog.source, "SHOW")
    desk.wait(lambda: dialog.plan.folder.endswith("out") and dialog.leave_out.isVisible())
    dialog.leave_out.click()
    desk.wait(lambda: dialog.accept_button.isEnabled())
    name = dialog.model.index(0, NAME)
    assert name.data() == "DOORMetl_Metal Gate_JD_SHOW.wav"
    assert dialog.model.setData(name, "DOORMetl_Old Gate_JD_SHOW")
    desk.wait(lambda: dialog.plan.items[0].name == "DOORMetl_Old Gate_JD_SHOW.wav")
    desk.wait(dialog.accept_button.isEnabled)
    dialog.accept_button.click()
    toast(desk, "1 copy and manifest.csv delivered")
    copy = tmp_path / "out" / "DOORMetl_Old Gate_JD_SHOW.wav"
    assert best(read_tags(str(copy)), "description") == "An old gate"
    original, _ = soundfile.read(made[1] / "doors" / "metal gate.wav", dtype="int16")
    assert (soundfile.read(copy, dtype="int16")[0] == original).all()
    with open(tmp_path / "out" / "manifest.csv", encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["FileName"], row["CatID"], row["OriginalName"]) == (copy.name, "DOORMetl", "metal gate.wav")
    assert fingerprint(made[1]) == before
    kept = desk.service.settings.extra["delivery"]
    assert (kept["creator"], kept["source"], kept["folder"]) == ("JD", "SHOW", str(tmp_path / "out"))


def test_a_name_that_is_taken_stops_a_delivery_before_its_first_file(desk: Desk, tmp_path: Path) -> None:
    taken = tmp_path / "DOORWood_Slam_ABC_LIB.wav"
    taken.write_bytes(b"mine")
    ids = {row.clip.name: row.clip.id for row in desk.model.rows}
    desk.view.select_ids([ids["DOORWood_Slam_ABC_LIB.wav"], ids["DOORMetl_Bang_ABC_LIB.wav"]])
    desk.window.wings["catalogue"].deliveries.open()
    dialog = desk.window.findChild(DeliverDialog)
    dialog.set_folder(str(tmp_path))
    desk.wait(lambda: dialog.plan is not None and dialog.plan.folder == str(tmp_path))
    assert "1 of 2 copies has a problem" in dialog.summary.text()
    assert not dialog.accept_button.isEnabled()
    dialog.only_wrong.setChecked(True)
    hidden = [dialog.table.isRowHidden(row) for row in range(2)]
    assert sum(hidden) == 1
    dialog.reject()
    assert [path.name for path in tmp_path.glob("*.wav")] == [taken.name] and taken.read_bytes() == b"mine"


def test_nothing_selected_to_deliver_is_told(desk: Desk) -> None:
    desk.press(Qt.Key.Key_D, CTRL | SHIFT)
    toast(desk, "Select the sounds to deliver.")
