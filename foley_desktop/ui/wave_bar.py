"""The line under the waveform: what is selected, how loud the clip is, and how the waveform is shown."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from foley_desktop.audio.loudness import Loudness
from foley_desktop.ui import buttons, text, theme

HEIGHT = 28
MEASURING = "…"
HINT = "Drag to select, click to play from there, wheel to zoom"
_ROOM_FOR_PEAK = 760


class WaveBar(QWidget):
    """Shows what it is told; says which button was pressed."""

    spectrum_toggled = Signal(bool)
    snap_toggled = Signal(bool)
    zoom_in_pressed = Signal()
    zoom_out_pressed = Signal()
    fit_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "bar")
        self.setObjectName("wave_bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(HEIGHT)
        self.selection = buttons.ElidedLabel("small")
        self.selection.setObjectName("selection_times")
        self.loudness = _figure("loudness")
        self.true_peak = _figure("true_peak")
        self.sample_peak = _figure("sample_peak")
        self.spectrum = buttons.tool("spectrum", "Spectrogram or wave  (G)", size=16, checkable=True)
        self.spectrum.setObjectName("spectrum")
        self.spectrum.toggled.connect(self.spectrum_toggled)
        self.snap = buttons.tool(
            "snap", "Edges snap to zero crossings; hold Alt to place one freely", size=16, checkable=True
        )
        self.snap.setObjectName("snap")
        self.snap.setChecked(True)
        self.snap.toggled.connect(self.snap_toggled)
        self._lay_out()
        self.show_region(None, 1)
        self.show_loudness(None)

    def _lay_out(self) -> None:
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 0, 8, 0)
        line.setSpacing(2)
        line.addWidget(self.selection, 1)
        for figure in (self.loudness, self.true_peak, self.sample_peak):
            line.addSpacing(12)
            line.addWidget(figure)
        line.addSpacing(14)
        line.addWidget(self.snap)
        line.addWidget(buttons.tool("remove", "Zoom out  (−)", self.zoom_out_pressed.emit, size=16))
        line.addWidget(buttons.tool("add", "Zoom in  (+)", self.zoom_in_pressed.emit, size=16))
        tip = "The whole clip  (Z); the region with Shift"
        line.addWidget(buttons.tool("wide", tip, self.fit_pressed.emit, size=16))
        line.addWidget(self.spectrum)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.sample_peak.setVisible(self.width() >= _ROOM_FOR_PEAK)

    def show_region(self, frames: tuple[int, int] | None, samplerate: int) -> None:
        """The times of what is selected, exact to the frame."""
        if frames is None:
            self.selection.set_words(HINT)
            self.selection.setToolTip("")
            return
        first, last = frames
        start, end, length = (text.clock(n / samplerate) for n in (first, last, last - first))
        self.selection.set_words(f"{start} – {end}   {length} long   {text.plural(last - first, 'frame')}")
        self.selection.setToolTip(
            f"The selection begins with frame {text.count(first)} and ends before frame {text.count(last)}.\n"
            "Ctrl+Left and Ctrl+Right move its start, with Shift its end."
        )

    def show_loudness(self, found: Loudness | None, words: str = "") -> None:
        """The levels; without them ``words`` in their place."""
        if found is None:
            self.loudness.setText(words)
            for figure in (self.true_peak, self.sample_peak):
                figure.setText("")
            self.loudness.setToolTip("Loudness is being measured" if words else "")
            return
        self.loudness.setText(f"{decibels(found.integrated_lufs)} LUFS")
        self.loudness.setToolTip(_tip(found))
        self.true_peak.setText(f"{decibels(found.true_peak_dbtp)} dBTP")
        self.true_peak.setToolTip("True peak: the highest point, between samples too")
        self.sample_peak.setText(f"peak {decibels(found.sample_peak_db)} dB")
        self.sample_peak.setToolTip("Sample peak: the highest sample, in dB of full scale")


def decibels(level: float) -> str:
    """A level with one decimal and a true minus: ``−23.1``, ``−∞``."""
    if not math.isfinite(level):
        return "−∞"
    return f"{level:+.1f}".replace("-", "−") if level > 0.04 else f"{level:.1f}".replace("-", "−")


def _tip(found: Loudness) -> str:
    loudest = f"Loudest 400 ms: {decibels(found.momentary_lufs)} LUFS"
    if found.is_short:
        return "Loudness of the whole clip, which is too short to be gated (under 400 ms)"
    return f"Integrated loudness (EBU R 128)\n{loudest}"


def _figure(name: str) -> QLabel:
    label = buttons.words("", "small")
    label.setObjectName(name)
    label.setFont(theme.digits_font(label.font()))
    return label
