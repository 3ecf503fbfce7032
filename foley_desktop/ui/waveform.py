"""The waveform of the clip in hand: playhead, click to play from there, regions, zoom.

What happens here is told by signals; the widget plays, reads and renders nothing itself. Positions on the
screen and in time are floats all the way, so that a click means the time under the pointer at any
scale factor; a region begins and ends at whole frames, so that what is selected is what is rendered.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from foley_desktop.audio.peaks import Peaks
from foley_desktop.audio.spectrogram import Spectrogram
from foley_desktop.models import Clip, Marker, Region
from foley_desktop.ui import text, theme
from foley_desktop.ui import waveform_overlay as overlay
from foley_desktop.ui.waveform_data import WaveData
from foley_desktop.ui.waveform_picture import Picture, Scene
from foley_desktop.ui.waveform_pointer import Pointer
from foley_desktop.ui.waveform_spectrum import Spectra
from foley_desktop.ui.waveform_view import WaveView, nudged, stretched

MOST_OF_IT = 0.8
FOLLOW_AT = 0.04
"""Where in the view the playhead stands after it ran out of it, as a share of the width."""
_UNKNOWN_RATE = 48000


class Waveform(QWidget):
    """See the module. All times are seconds of the clip."""

    seeked = Signal(float)
    """A click: play from there."""
    region_changed = Signal(object)
    """A Region, or None."""
    region_settled = Signal(bool)
    """An edge of the region was let go of; True where it must stay exactly there."""
    samples_wanted = Signal(object, int, int)
    """A Clip, the first frame and the number of frames that are wanted for the view."""
    view_changed = Signal()
    """Another stretch is seen, or another clip."""
    region_pressed = Signal()
    """The button went down inside the region: it may be dragged out."""
    region_dragged = Signal()
    """The pointer moved far enough with the button still down."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("waveform")
        self.setMouseTracking(True)
        self.setMinimumHeight(132)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.clip: Clip | None = None
        self.region: Region | None = None
        self.position_s: float | None = None
        self.backwards = False
        self.view = WaveView.whole(0)
        self.shows_spectrum = False
        self.spectra = Spectra()
        self._data: WaveData | None = None
        self._rate = _UNKNOWN_RATE
        self._asked: tuple[int, int] | None = None
        self._markers: tuple[Marker, ...] = ()
        self._best: tuple[float, float] | None = None
        self._words = "Select a sound to see its waveform."
        self._pointer = Pointer(self)
        self._picture: Picture | None = None

    def sizeHint(self) -> QSize:
        return QSize(800, 170)

    # --- what is shown

    @property
    def best(self) -> tuple[float, float] | None:
        """Start and end of the moment that fits the search, where it is marked."""
        return self._best

    @property
    def samplerate(self) -> int:
        return self._rate

    @property
    def duration_s(self) -> float:
        return self.view.frames / self._rate

    @property
    def visible_range(self) -> tuple[float, float]:
        """Start and end of the visible stretch in seconds."""
        return self.view.start / self._rate, self.view.end / self._rate

    @property
    def is_complete(self) -> bool:
        """Whether all of the clip in hand is drawn."""
        return self._data is not None and self._data.peaks.frames == self.view.frames

    def show_clip(self, clip: Clip | None, best: tuple[float, float] | None = None) -> None:
        """Takes another clip in hand; its peaks follow with :meth:`show_peaks`."""
        self.clip, self._data, self._asked, self._markers = clip, None, None, ()
        self.position_s = None
        self.spectra.clear()
        self._rate = (clip.samplerate if clip else None) or _UNKNOWN_RATE
        frames = (clip.frames or round((clip.duration_s or 0.0) * self._rate)) if clip else 0
        self._words = "Reading the waveform …" if clip else "Select a sound to see its waveform."
        self.set_best(best)
        self._pointer.forget()
        self.set_region(None)
        self.look(WaveView.whole(frames))

    def set_best(self, best: tuple[float, float] | None) -> None:
        """Marks the moment that fits the search."""
        frames = self.clip.frames if self.clip else None
        length = frames / self._rate if frames else self.duration_s
        if best is not None and best[1] - best[0] > MOST_OF_IT * length:
            best = None  # it is all of it
        self._best = best
        self._redraw()

    def show_peaks(self, clip_id: str, peaks: Peaks, *, partial: bool = False) -> None:
        """Draws the peaks, if the clip is still in hand; ``partial`` ones are of what was read so far."""
        if self.clip is None or self.clip.id != clip_id:
            return
        old = self._data
        self._rate = peaks.samplerate or self._rate
        frames = max(peaks.frames, self.view.frames) if partial else peaks.frames
        self._data = WaveData(peaks, frames)
        if old is not None:
            self._data.take_samples_of(old)
        self._words = "" if partial or peaks.frames else "This clip holds no sound."
        if frames != self.view.frames:
            self.look(WaveView.whole(frames))
        else:
            self._redraw()

    def show_samples(self, clip_id: str, first: int, samples: np.ndarray) -> None:
        """Draws samples, float32 ``(n, channels)`` from frame ``first``, where peaks are too coarse."""
        if self.clip is not None and self.clip.id == clip_id and self._data is not None:
            self._data.add_samples(first, samples)
            self._repaint_picture()

    def show_markers(self, clip_id: str, markers: Sequence[Marker]) -> None:
        """Draws cue points and regions of the file."""
        if self.clip is not None and self.clip.id == clip_id:
            self._markers = tuple(markers)
            self._redraw()

    def show_spectrogram(self, clip_id: str, picture: Spectrogram, *, partial: bool = False) -> None:
        """Takes a picture of the clip or of a stretch of it; a ``partial`` one is still being made."""
        if self.clip is not None and self.clip.id == clip_id:
            self.spectra.add(picture, partial)
            self._repaint_picture()

    def show_spectrum(self, shown: bool) -> None:
        """Shows the spectrogram in place of the wave."""
        self.shows_spectrum = shown
        self._redraw()

    def show_trouble(self, clip_id: str, sentence: str) -> None:
        """Says in place of the waveform why there is none."""
        if self.clip is not None and self.clip.id == clip_id:
            self._words = sentence
            self._redraw()

    # --- the playhead

    def set_position(self, seconds: float | None) -> None:
        """Moves the playhead; None hides it. Zoomed in, the view follows it out of sight."""
        old = self.position_s
        if seconds == old:
            return
        self.position_s = seconds
        if seconds is not None and self._follow(old, seconds):
            return
        if old is None or seconds is None or self.heard_from(old) != self.heard_from(seconds):
            self.update()  # more than the strip between the two changes its colour
            return
        inside = [min(max(0.0, self.x_of(at)), float(self.width())) for at in (old, seconds)]
        left, right = int(min(inside)) - 3, int(max(inside)) + 4
        self.update(left, 0, right - left, self.height())

    def set_backwards(self, backwards: bool) -> None:
        """Whether the playhead runs from right to left: what was heard is then right of it."""
        if backwards != self.backwards:
            self.backwards = backwards
            self.update()

    def _follow(self, old: float | None, new: float) -> bool:
        """Turns the page when the playhead leaves it; someone who looks elsewhere is left there."""
        start, end = self.visible_range
        seen = old is None or start <= old <= end
        if self.view.is_whole or self._pointer.is_down or start <= new <= end or not seen:
            return False
        self.look(self.view.moved((new - start - FOLLOW_AT * (end - start)) * self._rate))
        return True

    # --- the region

    def set_region(self, region: Region | None) -> None:
        """Selects a stretch, or nothing."""
        if region != self.region:
            self.region = region
            self.region_changed.emit(region)
        self.update()

    @property
    def region_frames(self) -> tuple[int, int] | None:
        """First frame of the region, and the one behind its last."""
        if self.region is None:
            return None
        return round(self.region.start_s * self._rate), round(self.region.end_s * self._rate)

    def select_frames(self, first: int, last: int) -> None:
        """Selects the frames from ``first`` up to ``last``."""
        self.set_region(Region(first / self._rate, last / self._rate))

    def stretch(self, one_s: float, other_s: float) -> None:
        """Selects between two times: whole frames, at least one."""
        frames = stretched(one_s * self._rate, other_s * self._rate, self.view.frames)
        if frames is not None:
            self.select_frames(*frames)

    def settle(self, exactly: bool = False) -> None:
        """An edge was put where it is to be, give or take a zero crossing."""
        if self.region is not None:
            self.region_settled.emit(exactly)

    def nudge(self, edge: str, pixels: int) -> None:
        """Moves the region's ``start`` or ``end`` by some pixels, at least by a frame each."""
        frames = self.region_frames
        if frames is None:
            return
        step = max(1, round(self.view.span / max(1, self.width())))
        self.select_frames(*nudged(frames, edge, pixels * step, self.view.frames))
        self.settle(True)

    # --- time and pixels

    def time_at(self, x: float) -> float:
        """The time under a horizontal position, kept within the clip."""
        return self.view.frame_at(x, self.width()) / self._rate

    def x_of(self, seconds: float) -> float:
        """The horizontal position of a time; may lie outside the widget."""
        return self.view.x_of(seconds * self._rate, self.width())

    def look(self, view: WaveView) -> None:
        """Shows another stretch of the clip."""
        self.view = view
        self._redraw()
        self.view_changed.emit()

    def zoom(self, factor: float) -> None:
        """Shows ``factor`` times as much, around the playhead where it is seen, else around the middle."""
        share = 0.5
        if self.position_s is not None and 0 <= self.x_of(self.position_s) <= self.width():
            share = self.x_of(self.position_s) / max(1, self.width())
        self.look(self.view.zoomed(factor, share))

    def fit(self) -> None:
        """Shows all of the clip."""
        self.look(WaveView.whole(self.view.frames))

    def fit_region(self) -> None:
        """Shows the region, with a little room at its sides; without one, all of the clip."""
        frames = self.region_frames
        if frames is None:
            self.fit()
            return
        room = 0.04 * (frames[1] - frames[0])
        self.look(self.view.showing(frames[0] - room, frames[1] + room))

    # --- events

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pointer.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pointer.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._pointer.double_click(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._pointer.wheel(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QNativeGestureEvent) and self._pointer.pinch(event):
            return True
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._redraw()
        return super().event(event)

    def forget_press(self) -> None:
        """After a drag: the release went elsewhere."""
        self._pointer.forget()

    def leaveEvent(self, event: QEvent) -> None:
        self._pointer.leave()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._redraw()
        self.view_changed.emit()

    # --- painting

    def scene(self) -> Scene:
        """What there is to see now."""
        return Scene(
            width=self.width(),
            height=self.height(),
            ratio=self.devicePixelRatioF(),
            font=self.font(),
            samplerate=self._rate,
            view=self.view,
            data=self._data,
            spectra=self.spectra if self.shows_spectrum else None,
            markers=self._markers,
            best=self._best,
        )

    def _repaint_picture(self) -> None:
        self._picture = None
        self.update()

    def _redraw(self) -> None:
        self._repaint_picture()
        if self._data is None or self.clip is None:
            return
        wanted = self._data.wanted(*self.visible_range, self.scene().columns)
        if wanted is not None and wanted != self._asked:
            self._asked = wanted
            self.samples_wanted.emit(self.clip, *wanted)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._picture is None:
            self._picture = Picture(self.scene())
        painter = QPainter(self)
        painter.drawImage(QPointF(0, 0), self._picture.face(False))
        if self._data is None or not self._data.frames:
            painter.setPen(theme.colour("faint"))
            words = text.shown(self._words)
            painter.drawText(self._picture.scene.body, Qt.AlignmentFlag.AlignCenter, words)
        overlay.paint(painter, self, self._picture, self._pointer)
        painter.end()

    def heard_from(self, position_s: float) -> float:
        """Where what was heard up to a position begins: at an end of the region, when it lies in one.

        That is the left end, or the right one of what is played backwards.
        """
        region = self.region
        if region is not None and region.start_s <= position_s <= region.end_s:
            return region.end_s if self.backwards else region.start_s
        return self.duration_s if self.backwards else 0.0
