"""The waveform with what stands around it, and the reading and measuring behind it.

Peaks come first and grow while a long file is read. Loudness and spectrogram follow once the clip has stayed
in hand for a moment, on lanes of their own: whoever steps through a list waits for none of them, and what
is not looked at any more is given up in the middle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QScrollBar, QVBoxLayout, QWidget

from foley_desktop.audio.loudness import Loudness
from foley_desktop.audio.peaks import Peaks
from foley_desktop.audio.spectrogram import Spectrogram
from foley_desktop.errors import FoleyError
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip, Marker, Region
from foley_desktop.ui import wave_bar
from foley_desktop.ui.wave_bar import WaveBar
from foley_desktop.ui.waveform import Waveform
from foley_desktop.workers.runner import Runner

REST_MS = 180
"""A clip that stays in hand so long is listened to."""
ZOOM_STEP = 0.6
_SCROLL_UNITS = 1_000_000_000


@dataclass(slots=True, eq=False)
class _Look:
    """One look at a clip; whatever works for it ends when it is over. Asked on workers: no Qt."""

    clip: Clip
    runner: Runner
    stretch: tuple[int, int, int] | None = None
    """Of which frames a spectrogram is being made, and in how many columns."""
    over: bool = False

    def is_over(self) -> bool:
        return self.over or self.runner.is_ending


class WaveDesk(QWidget):
    """Waveform, scroll bar and the line below. Built by the deck."""

    reading_changed = Signal(bool)
    """The waveform in hand is being read, or is there."""

    def __init__(self, service: LibraryService, runner: Runner, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._service, self._runner = service, runner
        self._look: _Look | None = None
        self._close_look: _Look | None = None
        self._settled: tuple[int, int] | None = None
        self.waveform = Waveform()
        self.bar = WaveBar()
        self.scroller = QScrollBar(Qt.Orientation.Horizontal)
        self.scroller.setObjectName("wave_scroll")
        self.scroller.setFixedHeight(9)
        policy = self.scroller.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.scroller.setSizePolicy(policy)
        self.scroller.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.waveform, 1)
        column.addWidget(self.scroller)
        column.addWidget(self.bar)
        self._rest = self._timer(REST_MS, self._listen)
        self._spectrum_rest = self._timer(REST_MS, self._look_closer)
        self._connect()

    def _timer(self, interval_ms: int, call: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        timer.timeout.connect(call)
        return timer

    def _connect(self) -> None:
        wave, bar = self.waveform, self.bar
        wave.samples_wanted.connect(self._fetch_samples)
        wave.view_changed.connect(self._on_view)
        wave.region_changed.connect(self._on_region)
        wave.region_settled.connect(self._on_settled)
        self.scroller.valueChanged.connect(self._on_scrolled)
        bar.zoom_in_pressed.connect(partial(wave.zoom, ZOOM_STEP))
        bar.zoom_out_pressed.connect(partial(wave.zoom, 1 / ZOOM_STEP))
        bar.fit_pressed.connect(wave.fit)
        bar.spectrum_toggled.connect(self._show_spectrum)

    # --- the clip in hand

    def show_clip(self, clip: Clip, best: tuple[float, float] | None = None) -> None:
        """Takes another clip in hand and begins to read it."""
        for look in (self._look, self._close_look):
            if look is not None:
                look.over = True
        self._look, self._close_look = _Look(clip, self._runner), None
        self._rest.stop()
        self.waveform.show_clip(clip, best)
        self.bar.show_loudness(None)
        if clip.status != "ok":
            self._runner.reads.forget("peaks")
            self.reading_changed.emit(False)
            sentence = "This sound is not there now: connect its drive and rescan."
            self.waveform.show_trouble(clip.id, sentence)
            return
        self.bar.show_loudness(None, wave_bar.MEASURING)
        self._fetch_peaks(self._look)
        self._read(
            "markers",
            lambda: self._service.pictures.markers(clip),
            partial(self._take_markers, self._look),
        )

    def capture(self) -> dict[str, Any]:
        """How the waveform is shown, to be kept."""
        return {"snap": self.bar.snap.isChecked(), "spectrum": self.bar.spectrum.isChecked()}

    def restore(self, state: object) -> None:
        """Takes what :meth:`capture` gave; anything else is passed over."""
        if isinstance(state, dict):
            self.bar.snap.setChecked(state.get("snap") is not False)
            self.bar.spectrum.setChecked(state.get("spectrum") is True)

    # --- reading

    def _read(self, key: str, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        # Without it the waveform shows less, which is no error to speak of.
        self._runner.reads.submit(work, done, key=key, what="Reading the waveform")

    def _fetch_peaks(self, look: _Look) -> None:
        clip, wave, mailbox = look.clip, self.waveform, self._runner.mailbox

        def show(peaks: Peaks) -> None:
            mailbox.post(lambda: None if look.over else wave.show_peaks(clip.id, peaks, partial=True))

        def done(peaks: Peaks) -> None:
            self.reading_changed.emit(False)
            wave.show_peaks(clip.id, peaks)
            self._rest.start()
            self._on_view()

        def fail(error: FoleyError) -> None:
            self.reading_changed.emit(False)
            wave.show_trouble(clip.id, f"{error.sentence} {error.hint}".strip())
            self.bar.show_loudness(None)

        self.reading_changed.emit(True)

        def work() -> Peaks:
            return self._service.pictures.peaks(clip, cancelled=look.is_over, preview=show)

        self._runner.reads.submit(work, done, fail, key="peaks", what="Reading the waveform")

    def _fetch_samples(self, clip: Clip, first: int, frames: int) -> None:
        def done(samples: np.ndarray) -> None:
            self.waveform.show_samples(clip.id, first, samples)

        self._read("samples", lambda: self._service.pictures.samples(clip, first, frames), done)

    def _take_markers(self, look: _Look, markers: tuple[Marker, ...]) -> None:
        if not look.over:
            self.waveform.show_markers(look.clip.id, markers)

    # --- listening

    def _listen(self) -> None:
        look = self._look
        if look is None or look.over:
            return

        def done(found: Loudness) -> None:
            if not look.over:
                self.bar.show_loudness(found)

        def fail(_: FoleyError) -> None:
            if not look.over:
                self.bar.show_loudness(None)

        def work() -> Loudness:
            return self._service.pictures.loudness(look.clip, cancelled=look.is_over)

        self._runner.listening.submit(work, done, fail, key="loudness", what="Measuring the loudness")

    def _show_spectrum(self, shown: bool) -> None:
        self.waveform.show_spectrum(shown)
        if shown:
            self._look_closer()
        elif self._close_look is not None:
            self._close_look.over = True
            self._close_look = None

    def _look_closer(self) -> None:
        """Has the spectrogram made that fits what is seen."""
        wave, look = self.waveform, self._look
        if not wave.shows_spectrum or look is None or look.over or look.clip.status != "ok":
            return
        wanted = wave.spectra.wanted(wave.view, wave.scene().columns)
        if wanted is not None and (self._close_look is None or self._close_look.stretch != wanted):
            self._make_spectrogram(look.clip, wanted)

    def _make_spectrogram(self, clip: Clip, stretch: tuple[int, int, int]) -> None:
        if self._close_look is not None:
            self._close_look.over = True
        self._close_look = close = _Look(clip, self._runner, stretch)
        wave, mailbox = self.waveform, self._runner.mailbox

        def take(picture: Spectrogram, partial: bool) -> None:
            if not close.over:
                wave.show_spectrogram(clip.id, picture, partial=partial)

        def done(picture: Spectrogram) -> None:
            take(picture, False)
            close.stretch = None
            self._spectrum_rest.start()  # of a close view only the whole clip may have come

        def show(picture: Spectrogram) -> None:
            mailbox.post(lambda: take(picture, True))

        def work() -> Spectrogram:
            pictures = self._service.pictures
            return pictures.spectrogram(clip, *stretch, cancelled=close.is_over, preview=show)

        self._runner.listening.submit(work, done, key="spectrum", what="The spectrogram")

    # --- the view

    def _on_view(self) -> None:
        view = self.waveform.view
        unit = -(-view.frames // _SCROLL_UNITS) or 1
        blocked = self.scroller.blockSignals(True)
        self.scroller.setRange(0, round((max(1, view.frames) - view.span) / unit))
        self.scroller.setPageStep(max(1, round(view.span / unit)))
        self.scroller.setSingleStep(max(1, round(view.span / unit / 10)))
        self.scroller.setValue(round(view.start / unit))
        self.scroller.blockSignals(blocked)
        self.scroller.setVisible(not view.is_whole)
        if self.waveform.shows_spectrum:
            self._spectrum_rest.start()

    def _on_scrolled(self, value: int) -> None:
        view = self.waveform.view
        unit = -(-view.frames // _SCROLL_UNITS) or 1
        self.waveform.look(view.moved(value * unit - view.start))

    # --- the region

    def _on_region(self, region: Region | None) -> None:
        if region is None:
            self._settled = None
        self.bar.show_region(self.waveform.region_frames, self.waveform.samplerate)

    def _on_settled(self, exactly: bool) -> None:
        """Moves the edges that were just placed to the nearest zero crossings."""
        frames, look = self.waveform.region_frames, self._look
        before, self._settled = self._settled or (), frames
        if exactly or frames is None or look is None or not self.bar.snap.isChecked():
            return
        moved = tuple(frame for frame in frames if frame not in before)

        def done(snapped: tuple[int, ...]) -> None:
            if not look.over and self.waveform.region_frames == frames:
                to = dict(zip(moved, snapped, strict=True))
                first, last = (to.get(frame, frame) for frame in frames)
                if first < last:
                    self._settled = first, last
                    self.waveform.select_frames(first, last)

        total = self.waveform.view.frames
        self._read("snap", lambda: self._service.pictures.snapped(look.clip, moved, total), done)
