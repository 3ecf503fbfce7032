"""Handing over in the window: presets, as heard, names, spotted files, projects, sending, uses."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QToolTip
from transfer_support import Receiver, choose_row
from ui_support import Desk, copy_library, middle

from foley_desktop.audio.treatment import Treatment
from foley_desktop.library.presets import Preset
from foley_desktop.library.transfer import Order
from foley_desktop.models import Region
from foley_desktop.ui import spotting_desk
from foley_desktop.ui.housekeeping_dialog import HousekeepingDialog
from foley_desktop.ui.presets_dialog import PresetsDialog
from foley_desktop.ui.results_model import BY_NAME
from foley_desktop.ui.transfer_page import TransferPage
from foley_desktop.ui.transfer_wing import use_words

pytestmark = pytest.mark.gui


@pytest.fixture
def desk(qtbot: Any, made: tuple[Path, Path], tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(qtbot, copy_library(made[0], tmp_path / "library"))
    desk.wait_listed(10)
    desk.wait(lambda: desk.window.handover.manner.project.id)
    yield desk
    desk.close()


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Receiver:
    return Receiver.instead(monkeypatch)


def drag_rows(desk: Desk, *names: str) -> None:
    clips = [desk.model.clip_at(desk.names().index(name)) for name in names]
    handover = desk.window.handover
    handover.prepare_rows(clips)
    desk.wait(lambda: handover.rows.paths)
    assert handover.rows.start(desk.view)


def drag_region(desk: Desk) -> None:
    handover = desk.window.handover
    handover.prepare_region()
    desk.wait(lambda: handover.region.paths)
    assert handover.region.start(desk.window.deck.waveform)


def spotted(desk: Desk) -> list[Path]:
    folder = desk.service.transfer.folder
    return sorted(folder.glob("*")) if folder.is_dir() else []


# ---------------------------------------------------------------- regions


def test_a_region_is_made_while_it_rests_and_goes_with_the_next_one(desk: Desk, receiver: Receiver) -> None:
    choose_row(desk, "rain on roof.wav")
    wave = desk.window.deck.waveform
    wave.set_region(Region(1.0, 2.0))
    desk.wait(lambda: [p.name for p in spotted(desk)] == ["rain on roof_1.000s-2.000s.wav"])
    wave.set_region(Region(1.0, 3.0))
    desk.wait(lambda: [p.name for p in spotted(desk)] == ["rain on roof_1.000s-3.000s.wav"])
    made_at = spotted(desk)[0].stat().st_mtime_ns
    drag_region(desk)
    (path,) = receiver.got[0]
    assert os.stat(path).st_mtime_ns == made_at, "it was there before the drag"
    wave.set_region(Region(2.0, 3.0))
    desk.wait(lambda: len(spotted(desk)) == 2)
    wave.set_region(None)
    desk.wait(lambda: [str(p) for p in spotted(desk)] == [path])


def test_a_press_without_a_drag_leaves_nothing(desk: Desk, receiver: Receiver) -> None:
    choose_row(desk, "rain on roof.wav")
    desk.window.deck.waveform.set_region(Region(1.0, 2.0))
    handover = desk.window.handover
    handover.prepare_region()
    desk.wait(lambda: handover.region.paths)
    desk.window.deck.waveform.set_region(None)
    desk.wait(lambda: not spotted(desk))
    assert receiver.got == []


def test_a_drag_that_was_given_up_keeps_its_file_and_is_no_use(desk: Desk, receiver: Receiver) -> None:
    receiver.answer = Qt.DropAction.IgnoreAction
    clip = choose_row(desk, "rain on roof.wav")
    desk.window.deck.waveform.set_region(Region(1.0, 2.0))
    drag_region(desk)
    desk.window.deck.waveform.set_region(Region(1.5, 2.0))
    desk.wait(lambda: len(spotted(desk)) == 2)
    desk.window.deck.waveform.set_region(None)
    desk.wait(lambda: len(spotted(desk)) == 1)
    assert desk.service.transfer.usage.of(clip.id) == []


def test_nothing_that_is_held_is_taken_away(desk: Desk, receiver: Receiver) -> None:
    handover = desk.window.handover
    desk.service.transfer.presets.save(Preset("p", ".flac"))
    desk.window.wings["transfer"].set_manner(preset="p")
    desk.wait(lambda: handover.manner.preset.name == "p")
    handover.prepare_rows([desk.model.clip_at(0)])
    desk.wait(lambda: handover.rows.paths)
    handover._make_region_ahead()  # as when the preset was changed a moment ago
    done: list[object] = []
    desk.window.runner.spotting.submit(lambda: None, done.append)
    desk.wait(lambda: done)
    assert handover.rows.start(desk.view)
    assert soundfile.info(receiver.got[0][0]).format == "FLAC"


def test_closing_discards_what_was_never_dragged_and_keeps_what_was(
    qtbot: Any, made: tuple[Path, Path], tmp_path: Path, receiver: Receiver
) -> None:
    desk = Desk(qtbot, copy_library(made[0], tmp_path / "library"))
    desk.wait_listed(10)
    choose_row(desk, "rain on roof.wav")
    desk.window.deck.waveform.set_region(Region(1.0, 2.0))
    drag_region(desk)
    desk.window.deck.waveform.set_region(Region(2.0, 3.0))
    desk.wait(lambda: len(spotted(desk)) == 2)
    desk.window.handover.prepare_region()
    desk.wait(lambda: desk.window.handover.region.paths)
    folder = desk.service.transfer.folder
    desk.close()
    assert [str(path) for path in folder.iterdir()] == receiver.got[0]


# ---------------------------------------------------------------- rows, presets, as heard


def test_rows_are_originals_until_a_preset_says_otherwise(
    desk: Desk, receiver: Receiver, made: tuple[Path, Path]
) -> None:
    drag_rows(desk, "cat meow.wav", "rain on roof.wav")
    assert receiver.got[-1] == [
        str(made[1] / "animals/cat meow.wav"),
        str(made[1] / "weather/rain on roof.wav"),
    ]
    chooser = desk.find("drag_preset")
    chooser.setCurrentIndex(chooser.findData("Pro Tools 48k/24"))
    chooser.activated.emit(chooser.currentIndex())
    desk.wait(lambda: desk.window.handover.manner.preset.name == "Pro Tools 48k/24")
    drag_rows(desk, "cat meow.wav", "rain on roof.wav")
    for path in receiver.got[-1]:
        info = soundfile.info(path)
        assert (info.samplerate, info.subtype) == (48000, "PCM_24")
    assert [Path(path).name for path in receiver.got[-1]] == ["cat meow.wav", "rain on roof.wav"]
    assert desk.service.settings.extra["preset"] == "Pro Tools 48k/24", "and it is so the next time"


def test_what_is_heard_is_what_is_dragged_when_it_is_asked_for(
    desk: Desk, receiver: Receiver, made: tuple[Path, Path]
) -> None:
    source = made[1] / "doors/wooden door slam.wav"
    old = soundfile.read(source)[0]
    choose_row(desk, "wooden door slam.wav")
    desk.window.deck.playback.set_treatment(Treatment(reverse=True, channels="2"))
    drag_rows(desk, "wooden door slam.wav")
    assert receiver.got[-1] == [str(source)]
    desk.find("drag_as_heard").click()
    desk.wait(lambda: desk.window.handover.manner.as_heard)
    drag_rows(desk, "wooden door slam.wav")
    new = soundfile.read(receiver.got[-1][0])[0]
    assert np.array_equal(new, old[::-1, 1])
    drag_rows(desk, "cat meow.wav")
    assert receiver.got[-1] == [str(made[1] / "animals/cat meow.wav")], "that one was not heard backwards"
    desk.window.deck.playback.holds = True
    drag_rows(desk, "cat meow.wav")
    meow = soundfile.read(made[1] / "animals/cat meow.wav")[0]
    assert np.array_equal(soundfile.read(receiver.got[-1][0])[0], meow[::-1]), "now it would be"
    desk.window.deck.waveform.set_region(Region(0.25, 0.5))
    drag_region(desk)
    assert np.array_equal(soundfile.read(receiver.got[-1][0])[0], old[12000:24000][::-1, 1])
    assert soundfile.read(source)[0].shape == old.shape, "the original is as it was"


def test_the_bar_says_what_would_come(desk: Desk) -> None:
    bar = desk.window.wings["transfer"].bar
    choose_row(desk, "rain on roof.wav")
    assert bar.preview.full_text() == "→ rain on roof.wav"
    desk.window.deck.waveform.set_region(Region(1.0, 2.0))
    assert bar.preview.full_text() == "→ rain on roof_1.000s-2.000s.wav"
    desk.view.selectAll()
    assert bar.preview.full_text().endswith("and 9 more")


def test_presets_of_ones_own_are_kept_and_used(desk: Desk, receiver: Receiver) -> None:
    desk.window.wings["transfer"].edit_presets()
    dialog = desk.window.findChild(PresetsDialog)
    assert dialog is not None and not dialog.save.isEnabled()
    dialog.name.setText("Mine")
    dialog.template.setText("{project} {nmae}")
    assert "{nmae}" in dialog.said.full_text() and not dialog.save.isEnabled()
    dialog.template.setText("{project} {name}")
    dialog.form.format.setCurrentIndex(dialog.form.format.findData(".flac"))
    dialog.form.rate.setCurrentIndex(dialog.form.rate.findData(44100))
    assert dialog.said.full_text() == "→ Untitled project DOORWood_Barn Door Slam_JD_FARM.flac"
    dialog.save.click()
    desk.wait(lambda: desk.window.handover.manner.preset.name == "Mine")
    drag_rows(desk, "dog growl.wav")
    (path,) = receiver.got[-1]
    assert Path(path).name == "Untitled project dog growl.flac" and soundfile.info(path).samplerate == 44100
    desk.wait(
        lambda: dialog.list.currentItem() is not None and dialog.list.currentItem().text().startswith("Mine")
    )
    dialog.remove.click()
    desk.wait(lambda: desk.window.handover.manner.preset.name == "As it is")
    dialog.reject()


# ---------------------------------------------------------------- uses


def test_only_completed_drops_are_uses_and_they_show_at_once(desk: Desk, receiver: Receiver) -> None:
    receiver.answer = Qt.DropAction.IgnoreAction
    drag_rows(desk, "dog growl.wav")
    receiver.answer = Qt.DropAction.CopyAction
    drag_rows(desk, "cat meow.wav")
    row = desk.names().index("cat meow.wav")
    cell = desk.model.index(row, BY_NAME["used"])
    desk.wait(lambda: cell.data() == "today")
    drag_rows(desk, "cat meow.wav")
    desk.wait(lambda: cell.data() == "2× today")
    assert "Used 2 times" in cell.data(Qt.ItemDataRole.ToolTipRole)
    unused = desk.model.index(desk.names().index("dog growl.wav"), BY_NAME["used"])
    assert unused.data() == ""
    clip = desk.model.clip_at(row)
    words = use_words(desk.service.transfer.usage.of(clip.id))
    assert words.count("\n") == 1 and "dragged out, for Untitled project" in words
    desk.view.scrollTo(cell)
    place = middle(desk.view, row, BY_NAME["used"])
    viewport = desk.view.viewport()
    QApplication.sendEvent(viewport, QHelpEvent(QEvent.Type.ToolTip, place, viewport.mapToGlobal(place)))
    desk.wait(lambda: "dragged out" in QToolTip.text())
    QToolTip.hideText()
    menu = desk.window.search_bar.chips
    from foley_desktop.models import Condition

    menu.add(Condition("used", "=", True))
    desk.wait_listed(1)
    assert desk.names() == ["cat meow.wav"]
    assert [chip.label.text() for chip in menu.chips()] == ["used already"]


def test_an_export_is_a_use(desk: Desk, tmp_path: Path) -> None:
    choose_row(desk, "dog growl.wav")
    desk.window.wings["export"].open()
    dialog = desk.find("export_dialog")
    dialog.set_folder(str(tmp_path))
    dialog.export.click()
    desk.idle()
    cell = desk.model.index(desk.names().index("dog growl.wav"), BY_NAME["used"])
    desk.wait(lambda: cell.data() == "today")
    (use,) = desk.service.transfer.usage.of(desk.window.deck.clip.id)
    assert (use.how, use.place, use.file) == ("export", str(tmp_path), str(tmp_path / "dog growl.wav"))


# ---------------------------------------------------------------- sending


def entries(desk: Desk) -> QMenu:
    menu = QMenu(desk.window)
    desk.window.wings["transfer"].fill_send(menu, desk.window.wings["transfer"].things())
    return menu


def test_an_editor_is_set_up_and_gets_the_region(desk: Desk, tmp_path: Path) -> None:
    out = tmp_path / "got.txt"
    editor = tmp_path / "editor.py"
    editor.write_text(f"import sys; open({str(out)!r}, 'w').write(sys.argv[1])")
    assert [action.text() for action in entries(desk).actions()] == ["Set up editors …"]
    desk.window.wings["settings"].open()
    page = desk.window.findChild(TransferPage)
    assert page is not None
    for key, value in (("editor_name", "Ed"), ("editor_command", f"{sys.executable} '{editor}' {{file}}")):
        line = page.findChild(QLineEdit, key)
        line.setText(value)
        line.editingFinished.emit()
    desk.window.wings["settings"].dialog.accept()
    desk.wait(lambda: entries(desk).actions()[0].text() == "Open in Ed")
    choose_row(desk, "rain on roof.wav")
    desk.window.deck.waveform.set_region(Region(1.0, 2.0))
    entries(desk).actions()[0].trigger()
    desk.idle()
    desk.wait(lambda: out.exists() and out.read_text())
    assert out.read_text() == str(desk.service.transfer.folder / "rain on roof_1.000s-2.000s.wav")
    desk.wait(lambda: any("Opened in Ed." in t.label.text() for t in desk.window.messages.toasts))
    (use,) = desk.service.transfer.usage.of(desk.window.deck.clip.id)
    assert (use.how, use.place) == ("editor", "Ed")


def test_settings_name_the_files(desk: Desk, receiver: Receiver, tmp_path: Path) -> None:
    desk.window.wings["settings"].open()
    page = desk.window.findChild(TransferPage)
    assert page is not None
    template = page.findChild(QLineEdit, "spotted_template")
    template.setText("{nmae}")
    assert "{nmae}" in page.preview.full_text()
    template.editingFinished.emit()
    template.setText("{date}_{name}_{start}")
    assert page.preview.full_text().endswith("_barn door slam_1.000s.wav")
    template.editingFinished.emit()
    folder = page.findChild(QLineEdit, "spotted_folder")
    folder.setText(str(tmp_path / "my spots"))
    folder.editingFinished.emit()
    desk.wait(lambda: desk.window.handover.manner.folder == str(tmp_path / "my spots"))
    desk.window.wings["settings"].dialog.accept()
    choose_row(desk, "rain on roof.wav")
    desk.window.deck.waveform.set_region(Region(1.0, 2.0))
    drag_region(desk)
    today = time.strftime("%Y-%m-%d")
    assert receiver.got[-1] == [str(tmp_path / "my spots" / f"{today}_rain on roof_1.000s.wav")]


# ---------------------------------------------------------------- projects and housekeeping


def test_the_project_names_files_and_is_remembered(desk: Desk, receiver: Receiver) -> None:
    projects = desk.window.wings["transfer"].projects
    projects.choose("Night Film")
    desk.wait(lambda: desk.window.handover.manner.project.name == "Night Film")
    assert desk.find("project").text() == "Night Film"
    desk.service.transfer.presets.save(Preset("p", template="{project}_{name}"))
    desk.window.wings["transfer"].set_manner(preset="p")
    desk.wait(lambda: desk.window.handover.manner.preset.name == "p")
    drag_rows(desk, "dog growl.wav")
    assert Path(receiver.got[-1][0]).name == "Night Film_dog growl.wav"
    clip = desk.model.clip_at(desk.names().index("dog growl.wav"))
    desk.wait(lambda: desk.service.transfer.usage.of(clip.id))
    assert desk.service.transfer.usage.of(clip.id)[0].project == "Night Film"
    menu = QMenu()
    projects.fill(menu)
    assert [(a.text(), a.isChecked()) for a in menu.actions()[:2]] == [
        ("Night Film", True), ("Untitled project", False),
    ]  # fmt: skip


def test_tidying_up_shows_what_will_go_and_deletes_only_that(desk: Desk) -> None:
    transfer = desk.service.transfer
    clip = choose_row(desk, "rain on roof.wav")
    manner = desk.window.handover.manner
    parcels = transfer.prepare([Order(clip, Region(0.0, e)) for e in (1.0, 2.0, 3.0)], manner.preset)
    transfer.offer(parcels)
    transfer.taken(parcels[:1])
    desk.window.wings["transfer"].spotting.tidy()
    desk.wait(lambda: desk.window.findChild(HousekeepingDialog))
    dialog = desk.window.findChild(HousekeepingDialog)
    assert dialog.table.rowCount() == 3 and not dialog.delete.isEnabled(), "nothing goes by itself"
    dialog.by_size.setChecked(True)
    dialog.megabytes.setValue(0)
    assert len(dialog.going()) == 3
    dialog.table.item(0, 0).setCheckState(Qt.CheckState.Unchecked)
    assert dialog.delete.text().startswith("Delete 2 files")
    dialog.delete.click()
    desk.idle()
    desk.wait(lambda: dialog.table.rowCount() == 1)
    assert [os.path.exists(parcel.file) for parcel in parcels] == [True, False, False]
    dialog.reject()


def test_much_is_spoken_of_but_never_deleted(
    qtbot: Any, made: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spotting_desk, "MUCH_BYTES", 999)
    library = copy_library(made[0], tmp_path / "library")
    (library / "spotted").mkdir()
    (library / "spotted" / "old.wav").write_bytes(bytes(1000))
    desk = Desk(qtbot, library)
    desk.wait(lambda: any("take 1.0 kB" in toast.label.text() for toast in desk.window.messages.toasts))
    desk.close()
    assert (library / "spotted" / "old.wav").exists()


def test_a_copied_path_is_the_plain_path(desk: Desk, made: tuple[Path, Path]) -> None:
    choose_row(desk, "cat meow.wav")
    desk.window.actions_.copy_paths()
    assert QGuiApplication.clipboard().text() == str(made[1] / "animals/cat meow.wav")
