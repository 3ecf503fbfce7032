"""The waveform of the clip in hand: playhead, click to play from there, regions, zoom.

What happens here is told by signals; the widget plays and renders nothing itself. Positions on the
screen and in time are floats all the way, so that a click means the time under the pointer at any
scale factor.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from foley_desktop.audio.peaks import Peaks
from foley_desktop.models import Clip, Region
from foley_desktop.ui import text, theme
from foley_desktop.ui.waveform_image import waveform_image

RULER = 18
EDGE = 5.0
"""How near to a region's edge, in pixels, the pointer takes hold of it."""
MOST_ZOOM_S = 0.005
_STEPS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600)


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
        self.peaks: Peaks | None = None
        self.region: Region | None = None
        self.position_s: float | None = None
        self._best: tuple[float, float] | None = None
        self._words = "Select a sound to see its waveform."
        self._view = (0.0, 1.0)
        self._gesture: _Gesture | None = None
        self._hover: float | None = None
        self._images: tuple[QImage, QImage] | None = None

    def sizeHint(self) -> QSize:
        return QSize(800, 170)

    # --- what is shown

    @property
    def duration_s(self) -> float:
        if self.peaks is not None and self.peaks.samplerate:
            return self.peaks.frames / self.peaks.samplerate
        return (self.clip.duration_s or 0.0) if self.clip else 0.0

    @property
    def visible_range(self) -> tuple[float, float]:
        """Start and end of the visible stretch in seconds."""
        return self._view

    def show_clip(self, clip: Clip | None, best: tuple[float, float] | None = None) -> None:
        """Takes another clip in hand; its peaks follow with :meth:`show_peaks`."""
        self.clip, self.peaks, self._best = clip, None, best
        self.position_s = None
        self._words = "Reading the waveform …" if clip else "Select a sound to see its waveform."
        self._view = (0.0, max(self.duration_s, MOST_ZOOM_S))
        self._gesture = None
        self._set_region(None)
        self._redraw()

    def show_peaks(self, clip_id: str, peaks: Peaks) -> None:
        """Draws the peaks, if the clip is still in hand."""
        if self.clip is None or self.clip.id != clip_id:
            return
        self.peaks = peaks
        self._view = (0.0, max(self.duration_s, MOST_ZOOM_S))
        self._words = "This clip holds no sound." if not peaks.frames else ""
        self._redraw()

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
        rate = self.peaks.samplerate if self.peaks else 48000
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

    def _body(self) -> QRectF:
        return QRectF(0, RULER, self.width(), max(1, self.height() - RULER))

    def _made_images(self) -> tuple[QImage, QImage] | None:
        if self._images is None and self.peaks is not None and self.peaks.frames:
            ratio = self.devicePixelRatioF()
            columns = max(1, round(self.width() * ratio))
            height = max(1, round(self._body().height() * ratio))
            rate = self.peaks.samplerate
            view = self.peaks.view(self._view[0] * rate, self._view[1] * rate, columns)
            red = theme.colour("red")
            shades = (("wave", "wave_core"), ("played", "played_core"))
            first, second = (
                waveform_image(view, height, theme.colour(body), theme.colour(core), red)
                for body, core in shades
            )
            self._images = (first, second)
        return self._images

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("window"))
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
            self._paint_ruler(painter)
        painter.end()

    def _paint_wave(self, painter: QPainter, ahead: QImage, played: QImage) -> None:
        body = self._body()
        channels = self.peaks.channels if self.peaks else 1
        painter.setPen(theme.colour("line"))
        for channel in range(channels):
            y = body.top() + body.height() * (channel + 0.5) / channels
            painter.drawLine(QPointF(0, y), QPointF(body.width(), y))
        painter.drawImage(body, ahead)
        if self.position_s is not None:
            head = min(max(0.0, self.x_of(self.position_s)), float(self.width()))
            painter.save()
            painter.setClipRect(QRectF(0, body.top(), head, body.height()))
            painter.fillRect(QRectF(0, body.top(), head, body.height()), theme.colour("window"))
            self._paint_region(painter)
            painter.drawImage(body, played)
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

    def _paint_ruler(self, painter: QPainter) -> None:
        start, end = self._view
        step = ruler_step(end - start, max(1.0, self.width() / 84))
        font = theme.digits_font(self.font())
        font.setPixelSize(10)
        painter.setFont(font)
        number = int(start / step)
        while (seconds := number * step) <= end:
            x = self.x_of(seconds)
            if x >= 0:
                painter.setPen(theme.colour("edge"))
                painter.drawLine(QPointF(x, RULER - 5), QPointF(x, RULER))
                painter.setPen(theme.colour("faint"))
                painter.drawText(QPointF(x + 3, RULER - 6), ruler_words(seconds, step))
            number += 1
        if self._hover is not None and not self._gesture:
            painter.setPen(theme.colour("text"))
            words = text.clock(self.time_at(self._hover))
            width = painter.fontMetrics().horizontalAdvance(words) + 8
            left = min(self._hover, self.width() - width)
            painter.fillRect(QRectF(left, 1, width, RULER - 2), theme.colour("raised"))
            painter.drawText(QRectF(left, 0, width, RULER), Qt.AlignmentFlag.AlignCenter, words)


def ruler_step(span_s: float, marks: float) -> float:
    """A round distance in seconds between marks, so that about ``marks`` of them fit on ``span_s``."""
    wanted = span_s / marks
    for step in _STEPS_S:
        if step >= wanted:
            return step
    return 1800.0 if wanted <= 1800 else 3600.0


def ruler_words(seconds: float, step: float) -> str:
    """The time beside a mark, as exact as the marks are close."""
    decimals = 0 if step >= 1 else 1 if step >= 0.1 else 2 if step >= 0.01 else 3
    minutes, rest = divmod(round(seconds, decimals), 60)
    width = 2 if decimals == 0 else 3 + decimals
    return f"{int(minutes)}:{rest:0{width}.{decimals}f}"
