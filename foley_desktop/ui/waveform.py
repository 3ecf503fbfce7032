"""The waveform of the clip in hand: playhead, click to play from there, regions, zoom.

What happens here is told by signals; the widget plays and renders nothing itself. Positions on the
screen and in time are floats all the way, so that a click means the time under the pointer at any
scale factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from foley_desktop.audio.peaks import Peaks
from foley_desktop.models import Clip, Region
from foley_desktop.ui import text, theme
from foley_desktop.ui.waveform_data import WaveData
from foley_desktop.ui.waveform_image import WaveMasks
from foley_desktop.ui.waveform_ruler import HEIGHT as RULER
from foley_desktop.ui.waveform_ruler import paint_ruler, paint_time

EDGE = 5.0
"""How near to a region's edge, in pixels, the pointer takes hold of it."""
MOST_ZOOM_S = 0.005
MOST_OF_IT = 0.8


@dataclass(slots=True)
class _Gesture:
    """A press of the left button: where it began and what it does."""

    kind: str  # "seek", "select", "start", "end", "carry"
    x: float
    anchor_s: float


class Waveform(QWidget):
    """See the module. All times are seconds of the clip."""

    seeked = Signal(float)
    """A click: play from there."""
    region_changed = Signal(object)
    """A Region, or None."""
    samples_wanted = Signal(object, int, int)
    """A Clip, the first frame and the number of frames that are wanted for the view."""
    region_pressed = Signal()
    """The button went down inside the region: it may be dragged out."""
    region_dragged = Signal()
    """The pointer moved far enough with the button still down."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("waveform")
        self.setMouseTracking(True)
        self.setMinimumHeight(96)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.clip: Clip | None = None
        self._data: WaveData | None = None
        self._asked: tuple[int, int] | None = None
        self.region: Region | None = None
        self.position_s: float | None = None
        self._best: tuple[float, float] | None = None
        self._words = "Select a sound to see its waveform."
        self._view = (0.0, 1.0)
        self._gesture: _Gesture | None = None
        self._hover: float | None = None
        self._images: tuple[QImage, QImage, QRectF] | None = None

    def sizeHint(self) -> QSize:
        return QSize(800, 170)

    # --- what is shown

    @property
    def best(self) -> tuple[float, float] | None:
        """Start and end of the moment that fits the search, where it is marked."""
        return self._best

    @property
    def duration_s(self) -> float:
        if self._data is not None:
            return self._data.duration_s
        return (self.clip.duration_s or 0.0) if self.clip else 0.0

    @property
    def visible_range(self) -> tuple[float, float]:
        """Start and end of the visible stretch in seconds."""
        return self._view

    def show_clip(self, clip: Clip | None, best: tuple[float, float] | None = None) -> None:
        """Takes another clip in hand; its peaks follow with :meth:`show_peaks`."""
        self.clip, self._data, self._asked = clip, None, None
        self.position_s = None
        self._words = "Reading the waveform …" if clip else "Select a sound to see its waveform."
        self.set_best(best)
        self._view = (0.0, max(self.duration_s, MOST_ZOOM_S))
        self._gesture = None
        self._set_region(None)
        self._redraw()

    def set_best(self, best: tuple[float, float] | None) -> None:
        """Marks the moment that fits the search."""
        if best is not None and best[1] - best[0] > MOST_OF_IT * self.duration_s:
            best = None  # it is all of it
        self._best = best
        self.update()

    def show_peaks(self, clip_id: str, peaks: Peaks) -> None:
        """Draws the peaks, if the clip is still in hand."""
        if self.clip is None or self.clip.id != clip_id:
            return
        self._data = WaveData(peaks)
        self._view = (0.0, max(self.duration_s, MOST_ZOOM_S))
        self._words = "This clip holds no sound." if not peaks.frames else ""
        self._redraw()

    def show_samples(self, clip_id: str, first: int, samples: np.ndarray) -> None:
        """Draws samples, float32 ``(n, channels)`` from frame ``first``, where peaks are too coarse."""
        if self.clip is not None and self.clip.id == clip_id and self._data is not None:
            self._data.add_samples(first, samples)
            self._images = None
            self.update()

    def show_trouble(self, clip_id: str, sentence: str) -> None:
        """Says in place of the waveform why there is none."""
        if self.clip is not None and self.clip.id == clip_id:
            self._words = sentence
            self._redraw()

    def set_position(self, seconds: float | None) -> None:
        """Moves the playhead; None hides it."""
        if seconds == self.position_s:
            return
        self.position_s = seconds
        self.update()

    def set_region(self, region: Region | None) -> None:
        self._set_region(region)

    def _set_region(self, region: Region | None) -> None:
        if region != self.region:
            self.region = region
            self.region_changed.emit(region)
        self.update()

    # --- time and pixels

    def time_at(self, x: float) -> float:
        """The time under a horizontal position, kept within the clip."""
        start, end = self._view
        seconds = start + (end - start) * x / max(1.0, float(self.width()))
        return min(max(0.0, seconds), self.duration_s)

    def x_of(self, seconds: float) -> float:
        """The horizontal position of a time; may lie outside the widget."""
        start, end = self._view
        return (seconds - start) / max(1e-9, end - start) * self.width()

    # --- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self.duration_s <= 0:
            return
        x = event.position().x()
        kind, anchor = self._grip(x)
        self._gesture = _Gesture(kind, x, anchor)
        if kind == "carry":
            self.region_pressed.emit()

    def _grip(self, x: float) -> tuple[str, float]:
        """What a press at ``x`` takes hold of, and the time that stays fixed meanwhile."""
        if self.region is not None:
            left, right = self.x_of(self.region.start_s), self.x_of(self.region.end_s)
            if abs(x - left) <= EDGE:
                return "start", self.region.end_s
            if abs(x - right) <= EDGE:
                return "end", self.region.start_s
            if left < x < right:
                return "carry", self.time_at(x)
        return "seek", self.time_at(x)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        self._hover = x
        gesture = self._gesture
        if gesture is None or not event.buttons() & Qt.MouseButton.LeftButton:
            grip = self._grip(x)[0] if self.duration_s > 0 else ""
            shapes = {"start": Qt.CursorShape.SizeHorCursor, "end": Qt.CursorShape.SizeHorCursor,
                      "carry": Qt.CursorShape.OpenHandCursor}  # fmt: skip
            self.setCursor(shapes.get(grip, Qt.CursorShape.IBeamCursor))
            self.update()
            return
        far = abs(x - gesture.x) >= QApplication.startDragDistance()
        if gesture.kind == "seek" and far:
            gesture.kind = "select"
        if gesture.kind in ("select", "start", "end"):
            self._stretch(gesture.anchor_s, self.time_at(x))
        elif gesture.kind == "carry" and far:
            self.region_dragged.emit()
        self.update()

    def _stretch(self, one: float, other: float) -> None:
        """Selects between two times, at least one sample long."""
        rate = self._data.peaks.samplerate if self._data else 48000
        start, end = sorted((one, other))
        shortest = 1.0 / max(1, rate)
        if end - start < shortest:
            end = min(self.duration_s, start + shortest)
            start = max(0.0, end - shortest)
        if end > start:
            self._set_region(Region(start, end))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        gesture, self._gesture = self._gesture, None
        if gesture is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if gesture.kind == "seek":
            self._set_region(None)
            self.seeked.emit(gesture.anchor_s)
        elif (
            gesture.kind == "carry"
            and abs(event.position().x() - gesture.x) < QApplication.startDragDistance()
        ):
            self.seeked.emit(gesture.anchor_s)

    def forget_press(self) -> None:
        """After a drag: the release went elsewhere."""
        self._gesture = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Back to the whole clip when zoomed in; else the whole clip becomes the region."""
        if event.button() != Qt.MouseButton.LeftButton or self.duration_s <= 0:
            return
        self._gesture = None
        if self._view != (0.0, self.duration_s):
            self._look_at(0.0, self.duration_s)
        else:
            self._set_region(Region(0.0, self.duration_s))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Up and down zooms around the pointer; sideways, or with Shift, moves along."""
        if self.duration_s <= 0:
            return
        start, end = self._view
        span = end - start
        angle = event.angleDelta()
        if angle.x() or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            step = -(angle.x() or angle.y()) / 1200 * span
            step = min(max(step, -start), self.duration_s - end)
            self._look_at(start + step, end + step)
        elif angle.y():
            fixed = self.time_at(event.position().x())
            share = (fixed - start) / span
            span = min(self.duration_s, max(MOST_ZOOM_S, span * 0.8 ** (angle.y() / 120)))
            start = min(max(0.0, fixed - share * span), self.duration_s - span)
            self._look_at(start, start + span)
        event.accept()

    def _look_at(self, start: float, end: float) -> None:
        self._view = (start, end)
        self._redraw()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover = None
        self.update()

    # --- painting

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._redraw()

    def _redraw(self) -> None:
        self._images = None
        self.update()
        if self._data is None or self.clip is None:
            return
        wanted = self._data.wanted(*self._view, self._columns())
        if wanted is not None and wanted != self._asked:
            self._asked = wanted
            self.samples_wanted.emit(self.clip, *wanted)

    def _columns(self) -> int:
        return max(1, round(self.width() * self.devicePixelRatioF()))

    def _body(self) -> QRectF:
        return QRectF(0, RULER, self.width(), max(1, self.height() - RULER))

    def _made_images(self) -> tuple[QImage, QImage, QRectF] | None:
        """The wave ahead and the wave played, and where they belong."""
        if self._images is None and self._data is not None and self._data.peaks.frames:
            body = self._body()
            height = max(1, round(body.height() * self.devicePixelRatioF()))
            view, start, end = self._data.view(*self._view, self._columns())
            masks, red = WaveMasks(view, height), theme.colour("red")
            ahead = masks.coloured(theme.colour("wave"), theme.colour("wave_core"), red)
            played = masks.coloured(theme.colour("played"), theme.colour("played_core"), red)
            left, right = self.x_of(start), self.x_of(end)
            self._images = (ahead, played, QRectF(left, body.top(), right - left, body.height()))
        return self._images

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("window"))
        if self.clip is not None:
            painter.fillRect(QRectF(0, 0, self.width(), RULER), theme.colour("bar"))
        images = self._made_images()
        if images is None:
            painter.setPen(theme.colour("faint"))
            painter.drawText(self._body(), Qt.AlignmentFlag.AlignCenter, text.shown(self._words))
        else:
            self._paint_region(painter)
            self._paint_wave(painter, *images)
            self._paint_marks(painter)
        if self.duration_s > 0:
            paint_ruler(painter, self.font(), self.width(), self._view, self.x_of)
            if self._hover is not None and self._gesture is None:
                paint_time(painter, self._hover, self.time_at(self._hover), self.width())
        painter.end()

    def _paint_wave(self, painter: QPainter, ahead: QImage, played: QImage, place: QRectF) -> None:
        body = self._body()
        channels = self._data.peaks.channels if self._data else 1
        painter.setPen(theme.colour("line"))
        for channel in range(channels):
            y = body.top() + body.height() * (channel + 0.5) / channels
            painter.drawLine(QPointF(0, y), QPointF(body.width(), y))
        painter.drawImage(place, ahead)
        if self.position_s is not None:
            region = self.region
            inside = region is not None and region.start_s <= self.position_s <= region.end_s
            tail = max(0.0, self.x_of(region.start_s)) if region is not None and inside else 0.0
            head = min(max(tail, self.x_of(self.position_s)), float(self.width()))
            heard = QRectF(tail, body.top(), head - tail, body.height())
            painter.save()
            painter.setClipRect(heard)
            painter.fillRect(heard, theme.colour("window"))
            self._paint_region(painter)
            painter.drawImage(place, played)
            painter.restore()

    def _paint_region(self, painter: QPainter) -> None:
        if self.region is None:
            return
        left, right = self.x_of(self.region.start_s), self.x_of(self.region.end_s)
        area = QRectF(left, RULER, max(1.0, right - left), self.height() - RULER)
        painter.fillRect(area, theme.colour("blue", 46))

    def _paint_marks(self, painter: QPainter) -> None:
        if self._best is not None:
            left, right = self.x_of(self._best[0]), self.x_of(self._best[1])
            painter.fillRect(QRectF(left, RULER, max(2.0, right - left), 3), theme.colour("accent"))
        if self.region is not None:
            painter.setPen(QPen(theme.colour("blue"), 1.4))
            for seconds in (self.region.start_s, self.region.end_s):
                x = self.x_of(seconds)
                painter.drawLine(QPointF(x, RULER), QPointF(x, self.height()))
            words = f" {text.clock(self.region.duration_s)}  drag out "
            left = max(4.0, self.x_of(self.region.start_s) + 5)
            painter.drawText(QPointF(left, self.height() - 7), words.strip())
        if self._hover is not None and self._gesture is None:
            painter.setPen(QPen(theme.colour("text", 70), 1))
            painter.drawLine(QPointF(self._hover, RULER), QPointF(self._hover, self.height()))
        if self.position_s is not None:
            x = self.x_of(self.position_s)
            painter.setPen(QPen(theme.colour("text"), 1.5))
            painter.drawLine(QPointF(x, 0), QPointF(x, self.height()))
