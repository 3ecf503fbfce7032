"""The still part of a waveform: everything but playhead, region and pointer, painted once a view.

While a clip plays only the strip that the playhead crossed is painted anew, out of two finished pictures, one
of what is still to come and one of what has been heard. They are as large in device pixels as the widget
is, so that nothing is ever scaled.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPen

from foley_desktop.models import Marker
from foley_desktop.ui import theme, waveform_marks
from foley_desktop.ui import waveform_ruler as ruler
from foley_desktop.ui.waveform_data import WaveData
from foley_desktop.ui.waveform_image import OVER_SCALE, WaveMasks, lanes_of, merged, reach_of
from foley_desktop.ui.waveform_spectrum import Spectra, paint_scales
from foley_desktop.ui.waveform_view import WaveView

LINES_FROM = 2.0
"""Pixels a frame from which samples are joined by lines; closer together, columns look alike for less."""
MOST_POINTS = 1500
"""So many samples of all channels are joined by lines at most; more would be felt."""
DOTS_FROM = 5.0
"""Pixels a frame from which each sample has a dot of its own."""
_NAMED_LANE = 13.0
_COLOURS = {False: ("wave", "wave_core"), True: ("played", "played_core")}


@dataclass(frozen=True)
class Scene:
    """What is to be seen, apart from what moves. Sizes in device-independent pixels."""

    width: int
    height: int
    ratio: float
    font: QFont
    samplerate: int
    view: WaveView
    data: WaveData | None
    spectra: Spectra | None
    markers: Sequence[Marker]
    best: tuple[float, float] | None

    @property
    def body(self) -> QRectF:
        """Where the wave stands, below ruler and markers."""
        top = ruler.HEIGHT + (waveform_marks.HEIGHT if self.markers else 0)
        return QRectF(0, top, self.width, max(1, self.height - top))

    @property
    def columns(self) -> int:
        """Device pixels from left to right."""
        return max(1, math.ceil(self.width * self.ratio))

    def x_of(self, seconds: float) -> float:
        return self.view.x_of(seconds * self.samplerate, self.width)

    def marks(self) -> list[waveform_marks.Mark]:
        return waveform_marks.placed(self.markers, self.x_of, self.width)


class Picture:
    """The painted scene; each of its two faces is made when it is first asked for."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._faces: dict[bool, QImage] = {}
        self._masks: WaveMasks | None = None

    def face(self, heard: bool) -> QImage:
        """The picture, with the wave in the colours of what is to come or of what was heard."""
        if self.scene.spectra is not None:
            heard = False
        if heard not in self._faces:
            self._faces[heard] = self._painted(heard)
        return self._faces[heard]

    def _painted(self, heard: bool) -> QImage:
        scene = self.scene
        rows = max(1, math.ceil(scene.height * scene.ratio))
        image = QImage(scene.columns, rows, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(scene.ratio)
        image.fill(theme.colour("window"))
        painter = QPainter(image)
        painter.fillRect(QRectF(0, 0, scene.width, ruler.HEIGHT), theme.colour("bar"))
        if scene.markers:
            strip = QRectF(0, ruler.HEIGHT, scene.width, waveform_marks.HEIGHT)
            painter.fillRect(strip, theme.colour("panel"))
        if scene.spectra is not None:
            scene.spectra.paint(painter, scene.view, scene.body)
            paint_scales(painter, scene.font, scene.samplerate, scene.body)
        elif scene.data is not None and scene.data.frames:
            self._paint_wave(painter, scene.data, heard)
        waveform_marks.paint(painter, scene.font, scene.marks(), ruler.HEIGHT, scene.height)
        if scene.best is not None:
            left, right = scene.x_of(scene.best[0]), scene.x_of(scene.best[1])
            area = QRectF(left, scene.body.top(), max(2.0, right - left), 3)
            painter.fillRect(area, theme.colour("accent"))
        times = (scene.view.start / scene.samplerate, scene.view.end / scene.samplerate)
        ruler.paint_ruler(painter, scene.font, scene.width, times, scene.x_of, scene.samplerate)
        painter.end()
        return image

    # --- the wave

    def _paint_wave(self, painter: QPainter, data: WaveData, heard: bool) -> None:
        scene, body = self.scene, self.scene.body
        lanes = lanes_of(data.peaks.channels, int(body.height()))
        self._paint_middles(painter, body, len(lanes))
        near = scene.view.span * LINES_FROM < scene.width
        few = len(lanes) == data.peaks.channels and scene.view.span * len(lanes) <= MOST_POINTS
        line = data.line(scene.view.start, scene.view.end) if near and few else None
        if line is not None:
            self._paint_line(painter, *line, heard)
        else:
            if self._masks is None:
                times = (scene.view.start / scene.samplerate, scene.view.end / scene.samplerate)
                view, *_ = data.view(*times, scene.columns)
                self._masks = WaveMasks(merged(view, lanes), round(body.height() * scene.ratio))
            names = _COLOURS[heard]
            colours = (theme.colour(names[0]), theme.colour(names[1]), theme.colour("red"))
            image = self._masks.coloured(*colours)
            image.setDevicePixelRatio(scene.ratio)
            painter.drawImage(QPointF(0, round(body.top() * scene.ratio) / scene.ratio), image)
        _paint_names(painter, scene.font, body, lanes)

    @staticmethod
    def _paint_middles(painter: QPainter, body: QRectF, lanes: int) -> None:
        painter.setPen(QPen(theme.colour("line"), 1))
        for lane in range(lanes):
            y = body.top() + body.height() * (lane + 0.5) / lanes
            painter.drawLine(QLineF(0, y, body.width(), y))

    def _paint_line(self, painter: QPainter, first: int, samples: np.ndarray, heard: bool) -> None:
        """The samples themselves, joined by lines; from near enough with a dot each."""
        scene, body = self.scene, self.scene.body
        frames = np.arange(first, first + len(samples))
        # A sample stands in the middle of the stretch of time that it is heard.
        x = (frames + 0.5 - scene.view.start) / scene.view.span * scene.width
        step = scene.width / scene.view.span
        lane_height = body.height() / samples.shape[1]
        body_name, core_name = _COLOURS[heard]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for channel, line in enumerate(samples.T):
            middle = body.top() + (channel + 0.5) * lane_height
            reach = reach_of(lane_height)
            y = middle - np.clip(line, -1, 1) * reach
            points = [QPointF(*place) for place in zip(x.tolist(), y.tolist(), strict=True)]
            if step >= DOTS_FROM:
                painter.setPen(QPen(theme.colour(body_name, 90), 1))
                painter.drawLines([QLineF(p.x(), middle, p.x(), p.y()) for p in points])
            painter.setPen(QPen(theme.colour(body_name), 1.4))
            # Line by line: one polyline takes fifteen times as long.
            painter.drawLines([QLineF(*ends) for ends in itertools.pairwise(points)])
            if step >= DOTS_FROM:
                dot = _dot(min(3.0, 1.2 + step / 14), scene.ratio, theme.colour(core_name))
                half = dot.width() / scene.ratio / 2
                for point in points:
                    painter.drawImage(QPointF(point.x() - half, point.y() - half), dot)
            painter.setPen(QPen(theme.colour("red"), 2))
            for at in np.flatnonzero(np.abs(line) > OVER_SCALE):
                edge = middle - math.copysign(lane_height / 2 - 1, line[at])
                painter.drawLine(QLineF(x[at] - step / 2, edge, x[at] + step / 2, edge))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _dot(radius: float, ratio: float, colour: QColor) -> QImage:
    """One dot to be put at every sample: drawing each anew costs many times as much."""
    size = 2 * math.ceil(radius + 1)
    image = QImage(round(size * ratio), round(size * ratio), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(0)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawEllipse(QPointF(size / 2, size / 2), radius, radius)
    painter.end()
    return image


def _paint_names(painter: QPainter, font: QFont, body: QRectF, lanes: list[tuple[int, int]]) -> None:
    """Which channel a lane is, where there is more than one and room for it."""
    height = body.height() / len(lanes)
    if len(lanes) < 2 and (not lanes or lanes[0][1] - lanes[0][0] < 2):
        return
    each = max(1, math.ceil(_NAMED_LANE / height))  # of narrow lanes only every so many has its name
    painter.setFont(ruler.small_font(font))
    channels = lanes[-1][1]
    for lane, (first, end) in list(enumerate(lanes))[::each]:
        words = str(first + 1) if end - first == 1 else f"{first + 1}–{end}"
        if channels == 2:
            words = "LR"[first] if end - first == 1 else "L R"
        area = QRectF(3, body.top() + lane * height + (1 if height < 20 else 3), 34, 12)
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        found = painter.boundingRect(area, flags, words).adjusted(-2, 0, 2, 0)
        painter.fillRect(found, theme.colour("window", 150))
        painter.setPen(theme.colour("dim"))
        painter.drawText(area, flags, words)
