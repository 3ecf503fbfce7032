"""The bin: B while something plays, several projects, hearing, dragging, copying, exporting, taking out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import QMimeData, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QWidget
from transfer_support import Receiver, choose_row
from ui_support import Desk, copy_library, drag_mouse

from foley_desktop.models import Region
from foley_desktop.ui.drag import dropped_paths

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


def panel(desk: Desk) -> Any:
    return desk.window.wings["bin"].panel


def rows(desk: Desk) -> list[tuple[str, str]]:
    model = panel(desk).model
    return [(model.index(n, 0).data(), model.index(n, 1).data()) for n in range(model.rowCount())]


def fill(desk: Desk) -> None:
    """Two sounds and a region, by the key."""
    for name, region in (
        ("dog growl.wav", None),
        ("rain on roof.wav", Region(1.0, 2.0)),
        ("cat meow.wav", None),
    ):
        count = len(rows(desk))
        choose_row(desk, name)
        if region is not None:
            desk.window.deck.waveform.set_region(region)
        desk.press(Qt.Key.Key_B)
        desk.wait(lambda count=count: len(rows(desk)) == count + 1)


def test_b_puts_sounds_and_regions_in_and_does_not_stop_what_plays(desk: Desk) -> None:
    fill(desk)
    assert rows(desk) == [
        ("dog growl.wav", "whole"), ("rain on roof.wav", "0:01.0 – 0:02.0"), ("cat meow.wav", "whole"),
    ]  # fmt: skip
    states: list[str] = []
    choose_row(desk, "wind howling.wav")
    desk.wait(lambda: desk.window.deck.playback.state == "playing")
    desk.window.deck.playback.state_changed.connect(states.append)
    desk.press(Qt.Key.Key_B)
    desk.wait(lambda: len(rows(desk)) == 4)
    assert desk.window.deck.playback.state == "playing" and states == []
    desk.press(Qt.Key.Key_B)
    desk.wait(lambda: any("already" in toast.label.text() for toast in desk.window.messages.toasts))
    assert len(rows(desk)) == 4
    assert "Bin  4" in desk.find("bin_toggle").text()


def test_what_is_said_covers_no_button_of_the_deck(desk: Desk) -> None:
    fill(desk)
    toasts = desk.window.messages.toasts
    assert toasts
    deck = desk.window.deck
    buttons = [button for button in deck.findChildren(QAbstractButton) if button.isVisible()]
    assert desk.find("bin_toggle") in buttons

    def place(widget: QWidget) -> QRect:
        return QRect(widget.mapTo(desk.window, QPoint()), widget.size())

    assert not [b.objectName() for b in buttons for t in toasts if place(b).intersects(place(t))]
    assert all(place(desk.window.results).contains(place(toast)) for toast in toasts)


def test_each_project_has_its_own_and_all_are_kept(desk: Desk, qtbot: Any, tmp_path: Path) -> None:
    fill(desk)
    projects = desk.window.wings["transfer"].projects
    projects.choose("Other")
    desk.wait(lambda: rows(desk) == [])
    choose_row(desk, "metal gate.wav")
    desk.press(Qt.Key.Key_B)
    desk.wait(lambda: len(rows(desk)) == 1)
    projects.choose("Untitled project")
    desk.wait(lambda: len(rows(desk)) == 3)
    projects.choose("Other")
    desk.wait(lambda: len(rows(desk)) == 1)
    desk.close()
    again = Desk(qtbot, tmp_path / "library")
    again.wait(lambda: rows(again) == [("metal gate.wav", "whole")])
    assert again.window.handover.manner.project.name == "Other"
    again.close()


def test_delete_takes_out_of_the_bin_and_can_be_undone(desk: Desk, made: tuple[Path, Path]) -> None:
    fill(desk)
    view = panel(desk).view
    panel(desk).show()
    view.setFocus()
    view.selectRow(1)
    desk.qtbot.keyClick(view, Qt.Key.Key_Delete)
    desk.wait(lambda: [name for name, _ in rows(desk)] == ["dog growl.wav", "cat meow.wav"])
    assert (made[1] / "weather/rain on roof.wav").exists(), "the file is not the bin's to delete"
    toast = next(t for t in desk.window.messages.toasts if "taken out" in t.label.text())
    button = next(b for b in toast.findChildren(type(panel(desk).copy)) if b.text() == "Undo")
    button.click()
    desk.wait(lambda: [name for name, _ in rows(desk)][1:2] == ["rain on roof.wav"])
    desk.find("bin_clear").click()
    desk.wait(lambda: rows(desk) == [])
    assert not panel(desk).export.isEnabled()


def test_it_is_heard_from_there_with_its_region(desk: Desk) -> None:
    fill(desk)
    panel(desk).show()
    view = panel(desk).view
    at = view.visualRect(view.model().index(1, 0)).center()
    desk.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    desk.wait(lambda: desk.window.deck.clip.name == "rain on roof.wav")
    assert desk.window.deck.region == Region(1.0, 2.0)
    desk.qtbot.keyClick(view, Qt.Key.Key_Return)
    desk.wait(lambda: desk.window.deck.playback.state == "playing")


def test_coming_into_it_plays_nothing(desk: Desk) -> None:
    fill(desk)
    desk.window.deck.stop()
    panel(desk).show()
    panel(desk).view.setFocus()
    assert desk.window.deck.clip.name == "cat meow.wav" and desk.window.deck.playback.state == "stopped"
    desk.qtbot.keyClick(panel(desk).view, Qt.Key.Key_Down)
    desk.wait(lambda: desk.window.deck.clip.name == "rain on roof.wav")


def test_it_is_dragged_as_a_whole_or_in_part(desk: Desk, receiver: Receiver, made: tuple[Path, Path]) -> None:
    fill(desk)
    panel(desk).show()
    view, wing = panel(desk).view, desk.window.wings["bin"]

    view.selectAll()
    at = view.visualRect(view.model().index(1, 0)).center()
    drag_mouse(view.viewport(), (at.x(), at.y()), release=False)
    desk.wait(lambda: wing.drag.paths)
    assert wing.drag.start(view)
    growl, rain, meow = receiver.got[-1]
    assert growl == str(made[1] / "animals/dog growl.wav") and meow == str(made[1] / "animals/cat meow.wav")
    old = soundfile.read(made[1] / "weather/rain on roof.wav", dtype="int16")[0]
    assert np.array_equal(soundfile.read(rain, dtype="int16")[0], old[48000:96000])
    clip = desk.service.clip("weather/rain on roof.wav")
    desk.wait(lambda: desk.service.transfer.usage.of(clip.id))
    assert desk.service.transfer.usage.of(clip.id)[0].region == Region(1.0, 2.0)


def test_its_files_go_to_the_clipboard(desk: Desk, made: tuple[Path, Path]) -> None:
    fill(desk)
    panel(desk).show()
    panel(desk).view.setFocus()
    panel(desk).view.selectAll()
    QGuiApplication.clipboard().setText("something else")
    desk.press(Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    desk.wait(lambda: QGuiApplication.clipboard().mimeData().hasUrls())
    paths, _ = dropped_paths(QGuiApplication.clipboard().mimeData())
    assert [Path(path).name for path in paths] == [
        "dog growl.wav", "rain on roof_1.000s-2.000s.wav", "cat meow.wav",
    ]  # fmt: skip
    assert all(Path(path).exists() for path in paths)
    desk.window.deck.waveform.set_region(Region(0.1, 0.2))
    desk.window.deck.waveform.set_region(None)
    desk.qtbot.wait(400)
    assert Path(paths[1]).exists(), "it may be pasted at any time"


def test_all_of_it_is_exported_at_once(desk: Desk, tmp_path: Path) -> None:
    fill(desk)
    panel(desk).export.click()
    dialog = desk.find("export_dialog")
    dialog.set_folder(str(tmp_path))
    assert dialog.preview.full_text() == "→ dog growl.wav, rain on roof.wav, cat meow.wav"
    dialog.template.setText("{project}_{name}_{start}")
    dialog.export.click()
    desk.idle()
    desk.wait(lambda: len(list(tmp_path.glob("*.wav"))) == 3)
    assert {path.name for path in tmp_path.glob("*.wav")} == {
        "Untitled project_dog growl.wav", "Untitled project_rain on roof_1.000s.wav",
        "Untitled project_cat meow.wav",
    }  # fmt: skip
    assert soundfile.info(tmp_path / "Untitled project_rain on roof_1.000s.wav").frames == 48000


def test_what_is_away_waits_and_is_left_out(desk: Desk, receiver: Receiver, tmp_path: Path) -> None:
    fill(desk)
    clip = desk.service.clip("animals/cat meow.wav")
    desk.service.catalog.set_missing([clip.id], retained=True)
    desk.window.wings["bin"].refresh()
    desk.wait(lambda: len(panel(desk).meant()) == 2)
    assert len(rows(desk)) == 3


def test_rows_of_the_results_can_be_dropped_on_it(desk: Desk) -> None:
    panel(desk).show()
    view = panel(desk).view
    clips = [desk.model.clip_at(desk.names().index(name)) for name in ("dog growl.wav", "cat meow.wav")]
    desk.window.handover.prepare_rows(clips)
    for source, taken in ((desk.view, True), (view, False), (None, False)):
        event = Drop(source)
        view.dropEvent(event)
        assert event.isAccepted() == taken
    desk.wait(lambda: [name for name, _ in rows(desk)] == ["dog growl.wav", "cat meow.wav"])


class Drop(QDropEvent):
    """A drop that says where it came from."""

    def __init__(self, source: object) -> None:
        self._data = QMimeData()
        copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
        super().__init__(QPointF(5, 5), copy, self._data, left, Qt.KeyboardModifier.NoModifier)
        self._source = source

    def source(self) -> Any:
        return self._source
