"""The window keeps the library in step with the disk, quietly, and never under the user's hands."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ui_support
from PySide6.QtCore import Qt
from ui_support import Desk, write_clip

from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.settings import DataFolder, Settings
from foley_desktop.ui import watch_wing
from foley_desktop.ui.messages import Toast


@pytest.fixture
def watched(tmp_path: Path, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Desk, Path]]:
    """A window whose folders are watched with little patience, and the folder."""
    monkeypatch.setattr(watch_wing, "FIRST_LOOK_MS", 300)
    monkeypatch.setattr(watch_wing, "BUSY_AGAIN_MS", 300)
    sounds, library = tmp_path / "sounds", tmp_path / "library"
    for name in ("dog bark.wav", "door slam.wav"):
        write_clip(sounds / name, 0.4, seed=len(name))
    ui_support.use_hash_embedder(library)
    ui_support.index(library, sounds)
    settings = json.loads((library / "settings.json").read_text("utf-8")) | {"watch_folders": True}
    (library / "settings.json").write_text(json.dumps(settings), "utf-8")
    desk = Desk(qtbot, library)
    yield desk, sounds
    desk.window.close()


def wing(desk: Desk) -> watch_wing.WatchWing:
    found = desk.window.wings["watch"]
    assert isinstance(found, watch_wing.WatchWing)
    return found


def wait_watching(desk: Desk) -> None:
    """Until the first look is over and the folder is watched."""
    desk.wait(lambda: wing(desk).watcher.wait_ready(0))
    desk.wait(lambda: not wing(desk)._first.isActive() and not wing(desk)._busy)


def test_new_and_deleted_sounds_appear_and_go_by_themselves(watched: tuple[Desk, Path]) -> None:
    desk, sounds = watched
    desk.wait_listed(2)
    wait_watching(desk)
    write_clip(sounds / "new" / "rain on roof.wav", 0.4, seed=5)
    desk.wait_listed(3)
    assert "rain on roof.wav" in desk.names()
    (sounds / "door slam.wav").unlink()
    desk.wait(lambda: desk.names() == ["dog bark.wav", "rain on roof.wav"])


def test_changes_of_the_time_before_the_start_are_found(
    tmp_path: Path, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """IDX-05: what a killed run left undone is taken up by the next window too."""
    monkeypatch.setattr(watch_wing, "FIRST_LOOK_MS", 100)
    sounds, library = tmp_path / "sounds", tmp_path / "library"
    write_clip(sounds / "dog bark.wav", 0.4)
    library.mkdir()
    (library / "settings.json").write_text('{"embedder": "hash"}', "utf-8")
    ui_support.index(library, sounds)
    write_clip(sounds / "added while nobody looked.wav", 0.4, seed=3)
    desk = Desk(qtbot, library)
    desk.wait_listed(2)
    desk.window.close()


def test_rows_stay_while_the_selection_is_in_the_results(watched: tuple[Desk, Path]) -> None:
    desk, sounds = watched
    desk.wait_listed(2)
    wait_watching(desk)
    desk.box.setFocus()
    desk.press(Qt.Key.Key_Down)
    before = desk.names()
    write_clip(sounds / "a first of all.wav", 0.4, seed=7)
    chip = desk.window.results.new_chip
    desk.wait(chip.isVisible)
    assert chip.text() == "1 new" and desk.names() == before
    desk.qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    desk.wait(lambda: len(desk.names()) == 3)


def test_a_drive_that_goes_away_turns_its_sounds_offline_and_back(
    watched: tuple[Desk, Path], tmp_path: Path
) -> None:
    """FSY-09, in the window."""
    desk, sounds = watched
    desk.wait_listed(2)
    wait_watching(desk)
    ids = set(desk.service.catalog.all_ids())
    sounds.rename(tmp_path / "away")
    sounds.mkdir()
    desk.wait(lambda: not desk.service.roots()[0].online)
    sounds.rmdir()
    (tmp_path / "away").rename(sounds)
    desk.wait(lambda: desk.service.roots()[0].online)
    assert set(desk.service.catalog.all_ids()) == ids


def test_it_waits_while_somebody_else_indexes(watched: tuple[Desk, Path]) -> None:
    desk, sounds = watched
    wait_watching(desk)
    with writer_lock(DataFolder(desk.library)):
        write_clip(sounds / "late.wav", 0.4, seed=9)
        desk.wait(lambda: wing(desk)._again.isActive())
    desk.wait_listed(3)
    assert not desk.window.findChildren(Toast), "nobody is told of what ends well"


def test_a_folder_that_was_removed_does_not_come_back(watched: tuple[Desk, Path]) -> None:
    desk, sounds = watched
    wait_watching(desk)
    root = desk.service.roots()[0]
    desk.window.library.remove(root)
    desk.wait(lambda: not desk.service.roots())
    wing(desk)._note([str(sounds)])
    desk.wait(lambda: not wing(desk)._busy and not wing(desk)._waiting)
    assert desk.service.roots() == []


def test_the_switch_in_the_settings(watched: tuple[Desk, Path]) -> None:
    desk, sounds = watched
    wait_watching(desk)
    desk.window.wings["settings"].open()
    switch = desk.find("watch_folders")
    assert switch.isChecked()
    switch.click()
    desk.wait(lambda: not wing(desk).watcher.is_watching)
    assert Settings.load(desk.library / "settings.json").watch_folders is False
    write_clip(sounds / "unnoticed.wav", 0.4, seed=4)
    desk.qtbot.wait(2500)
    assert desk.service.catalog.find("dog bark.wav") and len(desk.service.catalog.all_ids()) == 2
    switch.click()
    desk.wait(lambda: len(desk.service.catalog.all_ids()) == 3)


def test_closing_while_it_looks_for_changes(watched: tuple[Desk, Path]) -> None:
    desk, sounds = watched
    wait_watching(desk)
    for number in range(30):
        shutil.copy(sounds / "dog bark.wav", sounds / f"copy {number}.wav")
    desk.qtbot.wait(2300)
    desk.window.close()
    assert desk.window.ended_cleanly, "within the three seconds that the window gives its threads"
    assert not wing(desk).watcher.is_watching
