"""Exporting from the real window: what is chosen in the dialog is what the new file is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox
from ui_support import Desk, copy_library, make_library

from foley_desktop.models import Region
from foley_desktop.ui.export_dialog import ExportDialog
from foley_desktop.workers.export_jobs import free_targets

pytestmark = pytest.mark.gui


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_library(tmp_path_factory.mktemp("export"))


@pytest.fixture
def desk(qtbot: Any, made: tuple[Path, Path], tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(qtbot, copy_library(made[0], tmp_path / "library"))
    desk.wait_listed(10)
    yield desk
    desk.close()


def opened(desk: Desk, folder: Path) -> ExportDialog:
    desk.press(Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    dialog = desk.window.findChild(ExportDialog)
    assert dialog is not None and dialog.isVisible()
    dialog.set_folder(str(folder))
    return dialog


def choose(box: QComboBox, value: object) -> None:
    box.setCurrentIndex(box.findData(value))


def finish(desk: Desk, dialog: ExportDialog) -> None:
    dialog.export.click()
    desk.wait(lambda: any("written to" in t.label.text() for t in desk.window.messages.toasts))
    desk.idle()


def test_without_a_choice_the_samples_come_out_as_they_are(
    desk: Desk, made: tuple[Path, Path], tmp_path: Path
) -> None:
    desk.type("wooden door slam")
    desk.enter_results()
    finish(desk, opened(desk, tmp_path))
    new, rate = soundfile.read(tmp_path / "wooden door slam.wav", dtype="int16")
    old, _ = soundfile.read(made[1] / "doors/wooden door slam.wav", dtype="int16")
    assert rate == 48000 and np.array_equal(new, old)
    assert desk.service.settings.extra["export_folder"] == str(tmp_path), "the next export begins there"


def test_what_is_chosen_is_what_the_file_is(desk: Desk, tmp_path: Path) -> None:
    desk.type("rain on roof")
    desk.enter_results()
    desk.window.deck.waveform.set_region(Region(1.0, 2.5))
    dialog = opened(desk, tmp_path)
    assert dialog.only_region.isChecked() and "0:01.000" in dialog.only_region.text()
    dialog.name.setText("wet/roof")
    choose(dialog.format, ".flac")
    choose(dialog.rate, 44100)
    choose(dialog.bits, 24)
    choose(dialog.channels, 1)
    dialog.normalise.setChecked(True)
    dialog.level.setValue(-6.0)
    finish(desk, dialog)
    made = tmp_path / "wet-roof.flac"
    info = soundfile.info(made)
    assert (info.samplerate, info.channels, info.subtype, info.format) == (44100, 1, "PCM_24", "FLAC")
    assert info.duration == pytest.approx(1.5, abs=0.001)
    peak = np.abs(soundfile.read(made)[0]).max()
    assert 20 * np.log10(peak) == pytest.approx(-6.0, abs=0.1)


def test_several_sounds_keep_their_names_and_replace_nothing(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "dog growl.wav").write_bytes(b"mine")
    desk.type("dog")
    desk.enter_results()
    desk.view.selectAll()
    chosen = {Path(clip.name).stem for clip in desk.view.selected_clips()}
    dialog = opened(desk, tmp_path)
    assert not dialog.name.isEnabled() and dialog.only_region.isHidden()
    finish(desk, dialog)
    written = {path.stem for path in tmp_path.glob("*.wav")}
    assert (tmp_path / "dog growl.wav").read_bytes() == b"mine"
    assert written == chosen | {"dog growl 2"}


def test_vorbis_has_no_depth(desk: Desk, tmp_path: Path) -> None:
    desk.enter_results()
    dialog = opened(desk, tmp_path)
    choose(dialog.bits, 24)
    choose(dialog.format, ".ogg")
    assert not dialog.bits.isEnabled() and dialog.options().depth is None
    finish(desk, dialog)
    assert [soundfile.info(path).subtype for path in tmp_path.glob("*.ogg")] == ["VORBIS"]


def test_an_export_that_fails_says_why(desk: Desk, tmp_path: Path) -> None:
    desk.enter_results()
    dialog = opened(desk, tmp_path / "not there")
    dialog.export.click()
    desk.idle()
    desk.wait(lambda: desk.window.messages.toasts)
    assert not (tmp_path / "not there").exists()


def test_nothing_selected_is_told(desk: Desk) -> None:
    desk.press(Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert desk.window.findChild(ExportDialog) is None
    assert any("Select a sound" in toast.label.text() for toast in desk.window.messages.toasts)


def test_free_names(tmp_path: Path) -> None:
    (tmp_path / "a.wav").touch()
    found = free_targets(str(tmp_path), ["a", "a", "b", "B"], ".wav")
    assert [Path(path).name for path in found] == ["a 2.wav", "a 3.wav", "b.wav", "B 2.wav"]
