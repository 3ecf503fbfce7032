"""What the mouse does on a waveform: play from there, select, take an edge, drag out, zoom, move along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from foley_desktop.models import Region
from foley_desktop.ui import waveform_marks
from foley_desktop.ui import waveform_ruler as ruler

if TYPE_CHECKING:
    from foley_desktop.ui.waveform import Waveform

EDGE = 5.0
"""How near to a region's edge, in pixels, the pointer takes hold of it."""
_ZOOM_STEP = 0.8
_CURSORS = {
    "start": Qt.CursorShape.SizeHorCursor,
    "end": Qt.CursorShape.SizeHorCursor,
    "carry": Qt.CursorShape.OpenHandCursor,
    "mark": Qt.CursorShape.PointingHandCursor,
}


@dataclass(slots=True)
class _Gesture:
    """A press of the left button: where it began, what it does, and the time that stays fixed meanwhile."""

    kind: str  # "seek", "select", "start", "end", "carry", "mark"
    x: float
    anchor_s: float


class Pointer:
    """Turns the mouse events of one waveform into what they mean."""

    def __init__(self, waveform: Waveform) -> None:
        self._wave = waveform
        self._gesture: _Gesture | None = None
        self._pressed_at = QPointF()
        self.x: float | None = None
        """Where the pointer is; None while it is elsewhere."""

    @property
    def is_down(self) -> bool:
        return self._gesture is not None

    def forget(self) -> None:
        """What was begun ends without an effect."""
        self._gesture = None

    def leave(self) -> None:
        self.x = None

    # --- buttons

    def press(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._wave.duration_s <= 0:
            return
        x = event.position().x()
        kind, anchor = self._grip(event.position())
        self._gesture = _Gesture(kind, x, anchor)
        if kind == "carry":
            self._wave.region_pressed.emit()

    def _grip(self, at: QPointF) -> tuple[str, float]:
        """What a press takes hold of, and the time that stays fixed meanwhile."""
        wave, x = self._wave, at.x()
        mark = self.mark_at(at)
        if mark is not None:
            return "mark", mark.marker.start_s
        if wave.region is not None:
            left, right = wave.x_of(wave.region.start_s), wave.x_of(wave.region.end_s)
            # Of a narrow region each edge still has its outer side.
            if abs(x - left) <= EDGE and abs(x - left) <= abs(x - right):
                return "start", wave.region.end_s
            if abs(x - right) <= EDGE:
                return "end", wave.region.start_s
            if left < x < right:
                return "carry", wave.time_at(x)
        return "seek", wave.time_at(x)

    def mark_at(self, at: QPointF) -> waveform_marks.Mark | None:
        """The marker under the pointer, which stands in the strip below the ruler."""
        scene = self._wave.scene()
        if not scene.markers or not ruler.HEIGHT <= at.y() < scene.body.top():
            return None
        return waveform_marks.at(scene.marks(), at.x(), names=40.0)

    def move(self, event: QMouseEvent) -> None:
        wave, x = self._wave, event.position().x()
        self.x = x
        gesture = self._gesture
        if gesture is None or not event.buttons() & Qt.MouseButton.LeftButton:
            self._hover(event.position())
            return
        far = abs(x - gesture.x) >= QApplication.startDragDistance()
        if gesture.kind == "seek" and far:
            gesture.kind = "select"
        if gesture.kind in ("select", "start", "end"):
            wave.stretch(gesture.anchor_s, wave.time_at(x))
        elif gesture.kind == "carry" and far:
            wave.region_dragged.emit()
        wave.update()

    def _hover(self, at: QPointF) -> None:
        wave = self._wave
        grip = self._grip(at)[0] if wave.duration_s > 0 else ""
        wave.setCursor(_CURSORS.get(grip, Qt.CursorShape.IBeamCursor))
        mark = self.mark_at(at)
        wave.setToolTip(waveform_marks.tip(mark.marker) if mark is not None else "")
        wave.update()

    def release(self, event: QMouseEvent) -> None:
        gesture, self._gesture = self._gesture, None
        if gesture is None or event.button() != Qt.MouseButton.LeftButton:
            return
        wave = self._wave
        moved = abs(event.position().x() - gesture.x) >= QApplication.startDragDistance()
        free = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if gesture.kind == "seek":
            wave.set_region(None)
            wave.seeked.emit(gesture.anchor_s)
        elif gesture.kind in ("select", "start", "end"):
            wave.settle(free)
        elif not moved:
            wave.seeked.emit(gesture.anchor_s)

    def double_click(self, event: QMouseEvent) -> None:
        """On a region of the file: selects it. Else back to the whole clip when zoomed in; else the whole
        clip becomes the region."""
        wave = self._wave
        if event.button() != Qt.MouseButton.LeftButton or wave.duration_s <= 0:
            return
        self._gesture = None
        mark = self.mark_at(event.position())
        if mark is not None:
            end_s = mark.marker.end_s
            if end_s is not None:
                wave.stretch(mark.marker.start_s, end_s)
        elif not wave.view.is_whole:
            wave.fit()
        else:
            wave.set_region(Region(0.0, wave.duration_s))

    # --- wheel and trackpad

    def wheel(self, event: QWheelEvent) -> None:
        """Up and down zooms around the pointer; sideways, or with Shift, moves along."""
        wave = self._wave
        if wave.duration_s <= 0:
            return
        angle, view = event.angleDelta(), wave.view
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if shift or abs(angle.x()) > abs(angle.y()):
            wave.look(view.moved(-(angle.x() or angle.y()) / 1200 * view.span))
        elif angle.y():
            share = event.position().x() / max(1, wave.width())
            wave.look(view.zoomed(_ZOOM_STEP ** (angle.y() / 120), share))
        event.accept()

    def pinch(self, event: QNativeGestureEvent) -> bool:
        """Two fingers on a trackpad zoom around the pointer."""
        if event.gestureType() != Qt.NativeGestureType.ZoomNativeGesture or self._wave.duration_s <= 0:
            return False
        share = event.position().x() / max(1, self._wave.width())
        self._wave.look(self._wave.view.zoomed(1 / max(0.2, 1 + event.value()), share))
        return True
