"""Exporting from the real window: what is chosen in the dialog is what the new file is."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox
from ui_support import Desk

from foley_desktop.audio.render import RenderOptions
from foley_desktop.models import Clip, Region
from foley_desktop.ui.export_dialog import ExportDialog
from foley_desktop.ui.messages import ErrorDialog, TextDialog
from foley_desktop.ui.prompt import LineDialog
from foley_desktop.workers.export_jobs import free_targets

pytestmark = pytest.mark.gui


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


def test_a_folder_that_cannot_be_used_is_told_where_it_was_typed(desk: Desk, tmp_path: Path) -> None:
    """The dialog stays as it was filled in, and goes on once the folder is right."""
    desk.enter_results()
    dialog = opened(desk, tmp_path / "not there")
    dialog.name.setText("a name of my own")
    dialog.export.click()
    desk.wait(lambda: dialog.flaw.isVisible())
    assert dialog.isVisible() and "is not there" in dialog.flaw.text()
    assert not (tmp_path / "not there").exists() and not desk.window.messages.toasts
    dialog.set_folder(str(tmp_path))
    finish(desk, dialog)
    desk.wait(lambda: desk.window.findChild(ExportDialog) is None)
    assert [path.name for path in tmp_path.glob("a name*")] == ["a name of my own.wav"]


def test_the_file_of_a_region_says_where_it_was(desk: Desk, tmp_path: Path) -> None:
    desk.type("wooden door slam")
    desk.enter_results()
    desk.wait(lambda: desk.window.deck.clip is not None)
    desk.window.deck.waveform.set_region(Region(0.1, 0.2))
    dialog = opened(desk, tmp_path)
    assert dialog.stems() == ["wooden door slam_0.100s-0.200s"]
    dialog.only_region.setChecked(False)
    assert dialog.stems() == ["wooden door slam"]
    dialog.name.setText("mine")
    dialog.only_region.setChecked(True)
    assert dialog.stems() == ["mine"]
    dialog.reject()


def test_nothing_selected_is_told(desk: Desk) -> None:
    desk.press(Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert desk.window.findChild(ExportDialog) is None
    assert any("Select a sound" in toast.label.text() for toast in desk.window.messages.toasts)


def test_free_names(tmp_path: Path) -> None:
    (tmp_path / "a.wav").touch()
    found = free_targets(str(tmp_path), ["a", "a", "b", "B"], ".wav")
    assert [Path(path).name for path in found] == ["a 2.wav", "a 3.wav", "b.wav", "B 2.wav"]


def test_exports_queue_up_and_each_can_be_stopped(
    desk: Desk, made: tuple[Path, Path], tmp_path: Path
) -> None:
    desk.enter_results()
    long = tmp_path / "long.wav"
    soundfile.write(long, np.zeros((180 * 96000, 2), np.int16), 96000)
    clip = Clip(id="", path=str(long), root_id=0, rel_path="", name="long.wav", duration_s=180.0)
    exports = desk.window.wings["export"]
    for name in ("one", "two", "three"):
        exports.export([clip], str(tmp_path), [name], ".flac", [RenderOptions(rate=44100)])
    dialog = opened(desk, tmp_path)
    assert dialog.queue is not None
    first, second, third = dialog.queue.rows
    assert second.state.full_text() == third.state.full_text() == "waits for its turn"
    second.cancel.click()
    assert second.state.full_text().startswith("stopped")
    desk.wait(lambda: first.bar.maximum() == 1000 and first.bar.value() > 0)
    started = time.monotonic()
    first.cancel.click()
    desk.wait(lambda: first.state.full_text().startswith("stopped"))
    assert time.monotonic() - started < 3.0, "within a file, not behind it"
    desk.wait(lambda: third.bar.maximum() == 1000 and third.bar.value() > 0)
    third.cancel.click()
    desk.idle()
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["long.wav"], "no halves"
    dialog.queue.clear_button.click()
    assert dialog.queue.rows == [] and dialog.queue.isHidden()
    dialog.reject()


def test_one_sound_that_cannot_be_exported_does_not_stop_the_others(desk: Desk, tmp_path: Path) -> None:
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"no sound at all")
    bad = Clip(id="", path=str(broken), root_id=0, rel_path="", name="broken.wav")
    good = desk.model.clip_at(0)
    (tmp_path / "out").mkdir()
    exports = desk.window.wings["export"]
    exports.export([bad, good], str(tmp_path / "out"), ["a", "b"], ".wav", [RenderOptions()] * 2)
    desk.wait(lambda: any("could not be exported" in t.label.text() for t in desk.window.messages.toasts))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.wav"]


def test_a_failed_export_is_marked_and_can_be_tried_again(desk: Desk, tmp_path: Path) -> None:
    desk.enter_results()
    folder, clip = tmp_path / "later", desk.model.clip_at(0)
    exports = desk.window.wings["export"]
    exports.export([clip], str(folder), ["a"], ".wav", [RenderOptions()])
    desk.wait(lambda: exports.queue.items[0].error is not None and exports.queue.items[0].job.is_over)
    dialog = opened(desk, tmp_path)
    assert dialog.queue is not None
    (row,) = dialog.queue.rows
    assert row.property("role") == "tile-error" and row.flaw.isVisible() and row.reveal.isHidden()
    assert row.state.full_text().startswith("Failed: ")
    row.details.click()
    told = dialog.findChild(ErrorDialog)
    assert told is not None and exports.queue.items[0].error.sentence in told.details.toPlainText()
    told.accept()
    folder.mkdir()
    row.again.click()
    desk.wait(lambda: [path.name for path in folder.iterdir()] == ["a.wav"])
    desk.idle()
    (row,) = dialog.queue.rows
    assert row.property("role") == "tile" and row.flaw.isHidden() and row.again.isHidden()
    assert row.reveal.isVisible()
    dialog.reject()


def test_an_export_that_failed_in_part_says_what_is_missing(desk: Desk, tmp_path: Path) -> None:
    desk.enter_results()
    folder, clips = tmp_path / "partly", [desk.model.clip_at(0), desk.model.clip_at(1)]
    folder.mkdir()
    exports, source = desk.window.wings["export"], Path(clips[1].path)
    away = source.rename(tmp_path / "away.wav")
    try:
        exports.export(clips, str(folder), ["a", "b"], ".wav", [RenderOptions()] * 2)
        desk.wait(lambda: exports.queue.items[0].job.is_over)
    finally:
        away.rename(source)
    dialog = opened(desk, tmp_path)
    assert dialog.queue is not None
    (row,) = dialog.queue.rows
    assert "1 sound could not be exported" in row.state.full_text()
    assert row.flaw.isVisible() and row.reveal.isVisible() and row.again.isHidden()
    row.details.click()
    told = dialog.findChild(TextDialog)
    assert told is not None and clips[1].name in told.body.toPlainText()
    told.accept()
    dialog.reject()


def test_a_preset_fills_the_fields_and_own_ones_are_kept(desk: Desk, tmp_path: Path) -> None:
    desk.enter_results()
    dialog = opened(desk, tmp_path)
    dialog.presets.setCurrentIndex(dialog.presets.findData("Pro Tools 48k/24"))
    dialog.presets.activated.emit(dialog.presets.currentIndex())
    options = dialog.options()
    assert (dialog.format.currentData(), options.rate, options.depth) == (".wav", 48000, 24)
    choose(dialog.channels, 2)
    dialog.keep.click()
    prompt = dialog.findChild(LineDialog)
    assert prompt is not None
    prompt.line.setText("Dub stage")
    prompt.accept_button.click()
    desk.wait(lambda: dialog.presets.currentData() == "Dub stage")
    kept = desk.window.handover.manner.preset
    assert (kept.name, kept.rate, kept.depth, kept.channels) == ("Dub stage", 48000, 24, 2)
    dialog.reject()
