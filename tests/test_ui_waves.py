"""The waveform in the window: markers, snapping, spectrogram, loudness, following, tiny ones in the table."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import QPoint, Qt
from ui_support import Desk, copy_library, drag_mouse, index, use_hash_embedder, write_clip

from foley_desktop.audio.decode import read_frames
from foley_desktop.audio.render import RenderOptions
from foley_desktop.models import Region
from foley_desktop.ui.results_model import BY_NAME, COLUMNS
from foley_desktop.ui.wave_bar import decibels

pytestmark = pytest.mark.gui
RATE = 48000


def chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def add_markers(path: Path) -> None:
    """A cue point at 1 s and a named region from 2 s to 2.5 s."""
    cues = ((1, RATE), (2, 2 * RATE))
    body = struct.pack("<I", 2)
    for number, frame in cues:
        body += struct.pack("<II4sIII", number, frame, b"data", 0, 0, frame)
    texts = chunk(b"labl", struct.pack("<I", 1) + b"knock\0") + chunk(
        b"labl", struct.pack("<I", 2) + b"creak\0"
    )
    length = chunk(b"ltxt", struct.pack("<II4sHHHH", 2, RATE // 2, b"rgn ", 0, 0, 0, 0))
    raw = path.read_bytes() + chunk(b"cue ", body) + chunk(b"LIST", b"adtl" + texts + length)
    path.write_bytes(raw[:4] + struct.pack("<I", len(raw) - 8) + raw[8:])


@pytest.fixture(scope="module")
def waves_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("waves")
    sounds, library = base / "sounds", base / "library"
    add_markers(write_clip(sounds / "a marked.wav", 4.0, RATE, 2))
    slow = 0.5 * np.sin(2 * np.pi * 100 * np.arange(4 * RATE) / RATE)  # a crossing each 240 frames
    soundfile.write(sounds / "b slow.wav", slow.astype(np.float32), RATE, subtype="PCM_24")
    soundfile.write(sounds / "c silent.wav", np.zeros((RATE, 1)), RATE)
    for number in range(60):
        write_clip(sounds / "many" / f"d {number:02}.wav", 0.2, seed=number)
    use_hash_embedder(library)
    index(library, sounds)
    return library


@pytest.fixture
def desk(qtbot: Any, waves_library: Path, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(qtbot, copy_library(waves_library, tmp_path / "library"))
    desk.wait_listed()
    desk.window.deck.transport.audition.setChecked(False)
    yield desk
    desk.close()


def take(desk: Desk, name: str) -> Any:
    row = next(row for row in desk.model.rows if row.clip.name.startswith(name))
    desk.window.deck.take(row.clip)
    wave = desk.window.deck.waveform
    desk.wait(lambda: wave.is_complete)
    return wave


def test_markers_of_the_file_are_drawn_clicked_and_selected(desk: Desk) -> None:
    wave = take(desk, "a marked")
    desk.wait(lambda: len(wave.scene().markers) == 2)
    assert [(m.text, m.start_s, m.end_s) for m in wave.scene().markers] == [
        ("knock", 1.0, None),
        ("creak", 2.0, 2.5),
    ]
    seeks: list[float] = []
    wave.seeked.connect(seeks.append)
    flag = QPoint(round(wave.x_of(1.0)) + 3, 24)
    desk.qtbot.mouseClick(wave, Qt.MouseButton.LeftButton, pos=flag)
    assert seeks == [1.0]
    desk.qtbot.mouseMove(wave, flag)
    desk.wait(lambda: "knock" in wave.toolTip())
    desk.qtbot.mouseDClick(wave, Qt.MouseButton.LeftButton, pos=QPoint(round(wave.x_of(2.2)), 24))
    assert wave.region == Region(2.0, 2.5)


def test_edges_snap_to_zero_crossings_but_not_with_alt(desk: Desk, tmp_path: Path) -> None:
    wave = take(desk, "b slow")
    bar = desk.window.deck.waves.bar
    drag_mouse(wave, (211, 90), (300, 90), (507, 90))
    placed = wave.region_frames
    desk.wait(lambda: wave.region_frames != placed)
    first, last = wave.region_frames
    samples = read_frames(wave.clip.path, 0, 4 * RATE)[0][:, 0]
    for boundary, was in zip((first, last), placed, strict=True):
        assert samples[boundary - 1] * samples[boundary] <= 0 and abs(boundary - was) <= 120
    assert f"{last - first:,} frames" in bar.selection.full_text()
    target = tmp_path / "region.wav"
    options = RenderOptions(start_s=wave.region.start_s, end_s=wave.region.end_s)
    desk.service.export(wave.clip.id, target, options)
    np.testing.assert_array_equal(read_frames(str(target), 0, 4 * RATE)[0][:, 0], samples[first:last])
    bar.snap.setChecked(False)
    drag_mouse(wave, (601, 90), (650, 90), (733, 90))
    free = wave.region_frames
    desk.idle()
    desk.qtbot.wait(80)
    assert wave.region_frames == free
    bar.snap.setChecked(True)
    wave.settle(True)  # as a release with Alt held does
    desk.qtbot.wait(80)
    assert wave.region_frames == free


def test_the_keyboard_zooms_nudges_and_turns_to_the_spectrogram(desk: Desk) -> None:
    wave = take(desk, "b slow")
    desk.view.setFocus()
    for _ in range(4):
        desk.press(Qt.Key.Key_Plus)
    assert wave.view.span < 0.2 * wave.view.frames
    scroller = desk.find("wave_scroll")
    assert scroller.isVisible()
    scroller.setValue(0)
    assert wave.view.start == 0.0
    desk.press(Qt.Key.Key_Z)
    assert wave.view.is_whole and not scroller.isVisible()
    wave.select_frames(RATE, 2 * RATE)
    desk.press(Qt.Key.Key_Z, Qt.KeyboardModifier.ShiftModifier)
    start, end = wave.visible_range
    assert 0.9 < start < 1.0 and 2.0 < end < 2.1
    control = Qt.KeyboardModifier.ControlModifier
    desk.press(Qt.Key.Key_Right, control)
    first, last = wave.region_frames
    assert first > RATE and last == 2 * RATE
    desk.press(Qt.Key.Key_Left, control | Qt.KeyboardModifier.ShiftModifier)
    assert wave.region_frames[0] == first and wave.region_frames[1] < last
    desk.press(Qt.Key.Key_G)
    desk.wait(lambda: wave.shows_spectrum and wave.spectra.whole is not None)
    desk.press(Qt.Key.Key_G)
    assert not wave.shows_spectrum


def test_the_spectrogram_is_made_finer_where_one_looks_closer(desk: Desk) -> None:
    wave = take(desk, "a marked")
    desk.window.deck.waves.bar.spectrum.setChecked(True)
    columns = wave.scene().columns
    desk.wait(lambda: wave.spectra.wanted(wave.view, columns) is None)
    wave.look(wave.view.showing(RATE, 1.02 * RATE))
    assert wave.spectra.wanted(wave.view, columns) is not None
    desk.wait(lambda: wave.spectra.wanted(wave.view, columns) is None)
    picture = wave.grab().toImage()
    shades = {picture.pixelColor(x, y).rgb() for x in range(60, 600, 9) for y in range(40, 100, 5)}
    assert len(shades) > 20, "colours of many levels"
    desk.window.deck.waves.bar.spectrum.setChecked(False)


def test_loudness_is_told_and_silence_is_minus_infinity(desk: Desk) -> None:
    bar = desk.window.deck.waves.bar
    take(desk, "b slow")
    desk.wait(lambda: "LUFS" in bar.loudness.text())
    peak = float(bar.sample_peak.text().removeprefix("peak ").removesuffix(" dB").replace("−", "-"))
    assert peak == pytest.approx(-6.0, abs=0.05)
    take(desk, "c silent")
    desk.wait(lambda: bar.loudness.text() == "−∞ LUFS")
    assert bar.true_peak.text() == "−∞ dBTP"
    assert [decibels(level) for level in (-23.04, 0.0, -0.04, 1.26)] == ["−23.0", "0.0", "−0.0", "+1.3"]


def test_zoomed_in_the_view_follows_the_playhead_but_not_someone_who_looks_elsewhere(desk: Desk) -> None:
    wave = take(desk, "b slow")
    wave.look(wave.view.showing(0, RATE))
    for at in (0.2, 0.9, 1.01):
        wave.set_position(at)
    start, end = wave.visible_range
    assert start < 1.01 < end and start == pytest.approx(0.97, abs=0.05)
    wave.look(wave.view.showing(3 * RATE, 4 * RATE))
    wave.set_position(1.1)
    wave.set_position(1.2)
    assert wave.visible_range == (3.0, 4.0)


def test_while_playing_only_a_strip_is_painted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    wave = take(desk, "b slow")
    wave.set_position(1.0)
    wave.repaint()
    asked: list[int] = []
    monkeypatch.setattr(wave, "update", lambda *area: asked.append(area[2] if area else wave.width()))
    for step in range(1, 20):
        wave.set_position(1.0 + step / 60)
    assert max(asked) < 20
    face = wave._picture.face(False)
    wave.set_position(1.5)
    assert wave._picture.face(False) is face, "the picture itself stays"


def test_rows_that_are_seen_get_their_tiny_waves_and_no_others(desk: Desk) -> None:
    sketches = desk.window.wings["waves"].sketches
    desk.wait(lambda: sketches.is_idle and len(sketches._outlines) > 10)
    seen, known = sketches._seen(), set(sketches._outlines)
    assert seen and seen <= known and len(known) < 63
    cell = desk.view.visualRect(desk.model.index(0, BY_NAME["wave"]))
    picture = desk.view.viewport().grab(cell).toImage()
    colours = {picture.pixelColor(x, picture.height() // 2).rgb() for x in range(8, picture.width() - 8, 3)}
    assert len(colours) > 1, "something is drawn in the cell"
    desk.view.scrollToBottom()
    desk.wait(lambda: sketches._seen() <= set(sketches._outlines))
    desk.window.wings["waves"].columns.set_shown("wave", False)
    assert sketches._seen() == set()


def test_a_tiny_wave_steps_back_while_a_large_one_is_read(desk: Desk) -> None:
    sketches = desk.window.wings["waves"].sketches
    desk.wait(lambda: sketches.is_idle and bool(sketches._outlines))
    sketches.wait(True)
    sketches._outlines.clear()
    desk.view.viewport().repaint()
    desk.qtbot.wait(100)
    assert not sketches._outlines and not sketches.is_idle
    sketches.wait(False)
    desk.wait(lambda: sketches.is_idle and bool(sketches._outlines))


def test_columns_are_chosen_in_the_header_and_remembered(
    qtbot: Any, waves_library: Path, tmp_path: Path
) -> None:
    library = copy_library(waves_library, tmp_path / "library")
    desk = Desk(qtbot, library)
    menu = desk.window.wings["waves"].columns.build()
    ticks = {action.text(): action for action in menu.actions()}
    assert len(ticks) == len(COLUMNS) and not ticks["Name"].isEnabled()
    ticks["Wave"].trigger()
    assert desk.view.isColumnHidden(BY_NAME["wave"])
    menu.deleteLater()
    desk.window.deck.waves.bar.snap.setChecked(False)
    desk.close()
    again = Desk(qtbot, library)
    assert again.view.isColumnHidden(BY_NAME["wave"])
    assert not again.window.deck.waves.bar.snap.isChecked()
    again.close()
