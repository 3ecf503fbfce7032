"""The waveform: what is clicked is what is meant, to the pixel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QNativeGestureEvent, QPointingDevice, QWheelEvent
from PySide6.QtWidgets import QApplication
from ui_support import drag_mouse, write_clip

from foley_desktop.audio.decode import read_frames
from foley_desktop.audio.peaks import BASE_BIN, compute
from foley_desktop.models import Clip, Region
from foley_desktop.ui import theme
from foley_desktop.ui.waveform import Waveform
from foley_desktop.ui.waveform_data import WaveData
from foley_desktop.ui.waveform_image import WaveMasks
from foley_desktop.ui.waveform_ruler import ruler_step, ruler_words

pytestmark = pytest.mark.gui
SECONDS, WIDTH = 4.0, 800


def clip_of(path: Path, seconds: float = SECONDS) -> Clip:
    return Clip(
        id="c1", path=str(path), root_id=1, rel_path=path.name, name=path.name, duration_s=seconds,
        frames=round(seconds * 48000), samplerate=48000, channels=1,
    )  # fmt: skip


def ends(region: Region | None) -> tuple[float, float]:
    assert region is not None
    return region.start_s, region.end_s


@pytest.fixture
def wave(qtbot: Any, tmp_path: Path) -> Waveform:
    path = write_clip(tmp_path / "a.wav", SECONDS)
    made = Waveform()
    qtbot.addWidget(made)
    made.resize(WIDTH, 160)
    made.show()
    qtbot.waitExposed(made)
    made.show_clip(clip_of(path))
    made.show_peaks("c1", compute(str(path)))
    return made


def test_backwards_what_was_heard_is_right_of_the_playhead(wave: Waveform) -> None:
    def heard() -> list[bool]:
        return [now != before for now, before in zip(colours(), plain, strict=True)]

    def colours() -> list[int]:
        shown = wave.grab().toImage()
        return [shown.pixel(x, 90) for x in (100, 300, 500, 700)]

    plain = colours()
    wave.set_position(2.0)
    assert heard() == [True, True, False, False]
    wave.set_backwards(True)
    assert heard() == [False, False, True, True]
    wave.set_region(Region(1.0, 3.0))
    assert wave.heard_from(2.0) == 3.0 and wave.heard_from(3.5) == SECONDS
    wave.set_backwards(False)
    assert wave.heard_from(2.0) == 1.0 and wave.heard_from(3.5) == 0.0


def test_a_pinch_zooms_around_the_fingers(wave: Waveform) -> None:
    def pinch(value: float) -> None:
        at = QPointF(200, 80)
        device = QPointingDevice.primaryPointingDevice()
        kind = Qt.NativeGestureType.ZoomNativeGesture
        everywhere = QPointF(wave.mapToGlobal(at))
        QApplication.sendEvent(
            wave, QNativeGestureEvent(kind, device, 2, at, at, everywhere, value, QPointF(0, 0))
        )

    under = wave.time_at(200)
    pinch(0.5)
    start, end = wave.visible_range
    assert end - start == pytest.approx(SECONDS / 1.5, rel=0.01)
    assert wave.time_at(200) == pytest.approx(under, abs=0.01)
    for _ in range(20):
        pinch(-0.5)
    assert wave.visible_range == (0.0, SECONDS)


def test_a_click_means_the_time_under_the_pointer(wave: Waveform, qtbot: Any) -> None:
    seeks: list[float] = []
    wave.seeked.connect(seeks.append)
    for x in (0, 1, 133, 400, 777, 799):
        qtbot.mouseClick(wave, Qt.MouseButton.LeftButton, pos=QPoint(x, 90))
    pixel = SECONDS / WIDTH
    assert seeks == pytest.approx([x * pixel for x in (0, 1, 133, 400, 777, 799)], abs=pixel / 2)
    assert wave.x_of(seeks[2]) == pytest.approx(133, abs=1e-6)


def test_dragging_selects_and_a_click_beside_it_lets_go(wave: Waveform, qtbot: Any) -> None:
    regions: list[Region | None] = []
    wave.region_changed.connect(regions.append)
    drag_mouse(wave, (600, 90), (500, 90), (200, 90))
    assert ends(regions[-1]) == pytest.approx((1.0, 3.0))
    qtbot.mouseClick(wave, Qt.MouseButton.LeftButton, pos=QPoint(700, 90))
    assert regions[-1] is None and wave.region is None


def test_a_click_inside_the_region_plays_from_there_and_keeps_it(wave: Waveform, qtbot: Any) -> None:
    wave.set_region(Region(1.0, 3.0))
    seeks: list[float] = []
    wave.seeked.connect(seeks.append)
    qtbot.mouseClick(wave, Qt.MouseButton.LeftButton, pos=QPoint(400, 90))
    assert seeks == [pytest.approx(2.0)] and wave.region == Region(1.0, 3.0)


def test_the_edges_of_a_region_can_be_moved(wave: Waveform) -> None:
    wave.set_region(Region(1.0, 3.0))
    drag_mouse(wave, (202, 90), (150, 90), (100, 90))
    assert ends(wave.region) == pytest.approx((0.5, 3.0))
    drag_mouse(wave, (599, 90), (650, 90), (799, 90))
    assert ends(wave.region) == pytest.approx((0.5, 3.995), abs=0.01)


def test_pulling_at_the_region_asks_for_it_first_and_then_drags_it(wave: Waveform) -> None:
    wave.set_region(Region(1.0, 3.0))
    told: list[str] = []
    wave.region_pressed.connect(lambda: told.append("pressed"))
    wave.region_dragged.connect(lambda: told.append("dragged"))
    drag_mouse(wave, (400, 90), (401, 90))
    assert told == ["pressed"], "a hand that trembles is no drag"
    drag_mouse(wave, (400, 90), (430, 60), (460, 20))
    assert told[1] == "pressed" and "dragged" in told[2:]
    assert wave.region == Region(1.0, 3.0)


def test_no_region_is_shorter_than_a_sample_or_leaves_the_clip(wave: Waveform) -> None:
    drag_mouse(wave, (790, 90), (2000, 90))
    assert wave.region is not None and wave.region.end_s <= SECONDS
    wave.stretch(SECONDS, SECONDS)
    assert wave.region.duration_s == pytest.approx(1 / 48000)
    wave.stretch(0.0, 0.0)
    assert ends(wave.region) == pytest.approx((0.0, 1 / 48000))


def wheel(wave: Waveform, x: float, steps: int, modifiers: Qt.KeyboardModifier) -> None:
    at = QPointF(x, 90)
    event = QWheelEvent(
        at, wave.mapToGlobal(at), QPoint(0, 0), QPoint(0, 120 * steps), Qt.MouseButton.NoButton, modifiers,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    wave.wheelEvent(event)


def test_zooming_keeps_the_time_under_the_pointer(wave: Waveform) -> None:
    none = Qt.KeyboardModifier.NoModifier
    before = wave.time_at(600)
    for _ in range(8):
        wheel(wave, 600, 1, none)
    start, end = wave.visible_range
    assert end - start < SECONDS / 4
    assert wave.time_at(600) == pytest.approx(before, abs=1e-9)
    for _ in range(40):
        wheel(wave, 600, -1, none)
    assert wave.visible_range == (0.0, SECONDS)
    for _ in range(200):
        wheel(wave, 300, 1, none)
    start, end = wave.visible_range
    assert 0 < end - start < 0.01 and start >= 0 and end <= SECONDS


def test_moving_along_stops_at_the_ends(wave: Waveform) -> None:
    none, shift = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
    for _ in range(6):
        wheel(wave, 400, 1, none)
    span = wave.visible_range[1] - wave.visible_range[0]
    for _ in range(100):
        wheel(wave, 400, -1, shift)
    assert wave.visible_range == (pytest.approx(SECONDS - span), pytest.approx(SECONDS))


def test_what_comes_late_for_another_clip_is_not_drawn(wave: Waveform, tmp_path: Path) -> None:
    other = write_clip(tmp_path / "b.wav", 1.0, seed=3)
    peaks = compute(str(other))
    wave.show_clip(Clip(id="c2", path="x", root_id=1, rel_path="x", name="x", duration_s=9.0))
    wave.show_peaks("c1", peaks)
    wave.show_samples("c1", 0, np.zeros((10, 1), np.float32))
    assert wave.duration_s == 9.0
    wave.show_peaks("c2", peaks)
    assert wave.duration_s == pytest.approx(1.0)


def test_close_views_ask_for_samples_once(qtbot: Any, tmp_path: Path) -> None:
    path = write_clip(tmp_path / "a.wav", 0.05)
    wave = Waveform()
    qtbot.addWidget(wave)
    wave.resize(WIDTH, 160)
    wanted: list[tuple[int, int]] = []
    wave.samples_wanted.connect(lambda clip, first, frames: wanted.append((first, frames)))
    wave.show_clip(clip_of(path, 0.05))
    wave.show_peaks("c1", compute(str(path)))
    assert wanted == [(0, 2400)]
    wave.show_samples("c1", 0, read_frames(str(path), 0, 2400)[0])
    wave._redraw()
    assert len(wanted) == 1


@pytest.mark.parametrize("frames", [1, 19, 300, 48000])
def test_tiny_clips_are_drawn_and_selected(qtbot: Any, tmp_path: Path, frames: int) -> None:
    path = write_clip(tmp_path / "t.wav", frames / 48000)
    wave = Waveform()
    qtbot.addWidget(wave)
    wave.resize(WIDTH, 160)
    wave.show_clip(clip_of(path, frames / 48000))
    wave.show_peaks("c1", compute(str(path)))
    wave.show_samples("c1", 0, read_frames(str(path), 0, frames)[0])
    for _ in range(50):
        wheel(wave, 400, 1, Qt.KeyboardModifier.NoModifier)
    drag_mouse(wave, (100, 90), (700, 90))
    assert wave.region is not None and wave.region.duration_s >= 0.999 / 48000
    wave.grab()


def test_samples_and_peaks_show_the_same_wave(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "a.wav", 1.0, channels=2)
    data = WaveData(compute(str(path)))
    columns = 48000 // BASE_BIN
    span = columns * BASE_BIN / 48000
    coarse, *_ = data.view(0.0, span, columns)
    assert data.wanted(0.0, span, columns) is None
    assert data.wanted(0.0, span, columns + 1) == (0, 48000)
    data.add_samples(0, read_frames(str(path), 0, 48000)[0])
    fine, start, end = data.view(0.0, span, columns + 1)
    assert (start, end) == (0.0, pytest.approx(span)) and fine.shape == (2, columns + 1, 3)
    assert fine[..., 1].max() == pytest.approx(coarse[..., 1].max())
    assert fine[..., 0].min() == pytest.approx(coarse[..., 0].min())


def test_the_picture_is_as_high_as_the_sound_is_loud() -> None:
    view = np.zeros((2, 10, 3), np.float32)
    view[0, 5] = (-0.5, 0.5, 0.3)
    view[1, 7] = (-2.0, 2.0, 1.0)
    body, core, over = (theme.colour(name) for name in ("wave", "wave_core", "red"))
    image = WaveMasks(view, 100).coloured(body, core, over)
    assert (image.width(), image.height()) == (10, 100)

    def filled(x: int) -> int:
        return sum(image.pixelColor(x, y).alpha() > 200 for y in range(100))

    assert 20 <= filled(5) <= 24, "half of what a lane of 50 has, but for its margins"
    assert image.pixelColor(7, 50) == over and image.pixelColor(7, 99) == over, "beyond full scale is marked"
    assert image.pixelColor(5, 50) != over


def test_a_wave_that_stays_on_one_side_is_not_filled_down_to_the_middle() -> None:
    view = np.full((1, 9, 3), (0.6, 0.8, 0.7), np.float32)
    body, core, over = (theme.colour(name) for name in ("wave", "wave_core", "red"))
    image = WaveMasks(view, 100).coloured(body, core, over)
    assert image.pixelColor(5, 50 - round(0.65 * 47)) == core
    assert image.pixelColor(5, 50 - round(0.75 * 47)) == body
    assert image.pixelColor(5, 50 - round(0.3 * 47)).alpha() == 0
    assert image.pixelColor(5, 60).alpha() == 0


def test_steep_lines_have_no_gaps() -> None:
    view = np.zeros((1, 4, 3), np.float32)
    for column, level in enumerate((-0.9, 0.9, -0.9, 0.9)):
        view[0, column] = (level, level, 0.0)
    white = theme.colour("text")
    image = WaveMasks(view, 60).coloured(white, white, white)
    covered = [any(image.pixelColor(x, y).alpha() > 100 for x in range(4)) for y in range(6, 54)]
    assert all(covered)


@pytest.mark.parametrize(
    ("span", "step"), [(0.005, 0.0005 * 2), (1.0, 0.1), (60.0, 10), (3600.0, 600), (90000, 3600)]
)
def test_the_ruler_has_round_steps(span: float, step: float) -> None:
    assert ruler_step(span, 10) == pytest.approx(step)


def test_ruler_words() -> None:
    assert [ruler_words(s, d) for s, d in ((65.0, 1), (0.25, 0.05), (0.005, 0.001))] == [
        "1:05",
        "0:00.25",
        "0:00.005",
    ]


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.75, 2.0])
def test_a_click_is_exact_at_every_scale(wave: Waveform, ratio: float) -> None:
    for device_x in range(0, round(WIDTH * ratio), 97):
        x = device_x / ratio
        assert wave.x_of(wave.time_at(x)) * ratio == pytest.approx(device_x, abs=1.0)
