"""How a spectrogram is shown: its colours, the scale of frequencies, and which picture fits a view best."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QLinearGradient, QPainter

from foley_desktop.audio.spectrogram import FLOOR_DB, Spectrogram, lowest_hz
from foley_desktop.ui import theme
from foley_desktop.ui.waveform_ruler import small_font
from foley_desktop.ui.waveform_view import WaveView

QUIETEST_DB, LOUDEST_DB = -105.0, -10.0
"""What the colours span."""
MOST_COLUMNS = 4096
_STOPS = (
    (0.0, "#0b0e11"),
    (0.22, "#10262f"),
    (0.45, "#1b5a5c"),
    (0.65, "#3fb9a5"),
    (0.82, "#f2ae53"),
    (1.0, "#fff3d6"),
)
_MARKED_HZ = (30, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 40000, 80000)
_LABEL_GAP = 14.0
_DETAILS_KEPT = 4


class Spectra:
    """The pictures there are of one clip: one of all of it, and some of close views."""

    def __init__(self) -> None:
        self._pictures: list[tuple[Spectrogram, QImage, bool]] = []

    def clear(self) -> None:
        self._pictures = []

    def add(self, picture: Spectrogram, partial: bool = False) -> None:
        """Takes a picture; a later one of the same stretch replaces it. A ``partial`` one is shown, but still
        waited for."""
        place = (picture.first, picture.last)
        kept = [old for old in self._pictures if (old[0].first, old[0].last) != place]
        kept.append((picture, _image(picture.levels), not partial))
        kept.sort(key=lambda one: one[0].last - one[0].first, reverse=True)
        self._pictures = kept[:1] + kept[1:][-_DETAILS_KEPT:]

    @property
    def whole(self) -> Spectrogram | None:
        return self._pictures[0][0] if self._pictures else None

    def wanted(self, view: WaveView, columns: int) -> tuple[int, int, int] | None:
        """First frame, last frame and columns of the picture to be made for a view; None where what there
        is will do."""
        if view.frames < 1:
            return None
        if not self._pictures or not self._pictures[0][2]:
            return 0, view.frames, MOST_COLUMNS // 2
        fine_enough = 1.6 * view.span / columns
        for picture, _, complete in self._pictures:
            inside = complete and picture.first <= max(0, int(view.start)) and view.end <= picture.last + 1
            width = (picture.last - picture.first) / picture.levels.shape[1]
            if inside and (width <= fine_enough or width <= 1.0):
                return None
        first = max(0, int(view.start - view.span / 2))
        last = min(view.frames, int(view.end + view.span / 2) + 1)
        return first, last, min(MOST_COLUMNS, max(1, round(columns * (last - first) / view.span)))

    def paint(self, painter: QPainter, view: WaveView, body: QRectF) -> None:
        """Everything at hand of the view, finer pictures over coarser ones."""
        painter.fillRect(body, QColor(_STOPS[0][1]))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for picture, image, _ in self._pictures:
            first, last = max(view.start, picture.first), min(view.end, picture.last)
            if first >= last:
                continue
            scale = image.width() / (picture.last - picture.first)
            source = QRectF(
                (first - picture.first) * scale, 0, max(1e-3, (last - first) * scale), image.height()
            )
            left, right = view.x_of(first, body.width()), view.x_of(last, body.width())
            painter.drawImage(QRectF(left, body.top(), right - left, body.height()), image, source)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)


def paint_scales(painter: QPainter, font: QFont, samplerate: int, body: QRectF) -> None:
    """Frequencies at the left edge, and what the colours mean at the right."""
    painter.setFont(small_font(font))
    scale = Spectrogram(samplerate, 0, 1, np.zeros((1, 1), np.uint8))
    lowest, highest = lowest_hz(samplerate), samplerate / 2
    taken = body.bottom() + _LABEL_GAP
    for hertz in _MARKED_HZ:
        y = body.top() + scale.row_of(hertz) * body.height() if lowest < hertz < highest else -1.0
        if not body.top() + 6 < y < min(body.bottom() - 5, taken - _LABEL_GAP):
            continue
        taken = y
        painter.setPen(theme.colour("text", 34))
        painter.drawLine(QLineF(0, y, body.width(), y))
        words = f"{hertz // 1000} kHz" if hertz >= 1000 else f"{hertz} Hz"
        _label(painter, words, QRectF(3, y - 6, 46, 12), Qt.AlignmentFlag.AlignLeft)
    if body.height() < 84 or body.width() < 240:
        return
    bar = QRectF(body.right() - 14, body.top() + 8, 7, body.height() - 16)
    gradient = QLinearGradient(bar.bottomLeft(), bar.topLeft())
    for at, name in _STOPS:
        gradient.setColorAt(at, QColor(name))
    painter.fillRect(bar.adjusted(-1, -1, 1, 1), theme.colour("edge"))
    painter.fillRect(bar, gradient)
    for decibels in (-20, -60, -100):
        share = (decibels - QUIETEST_DB) / (LOUDEST_DB - QUIETEST_DB)
        y = bar.bottom() - share * bar.height()
        area = QRectF(bar.left() - 50, y - 6, 46, 12)
        _label(painter, f"−{-decibels} dB", area, Qt.AlignmentFlag.AlignRight)


def _label(painter: QPainter, words: str, area: QRectF, side: Qt.AlignmentFlag) -> None:
    """Small words that stand out on any colour."""
    flags = side | Qt.AlignmentFlag.AlignVCenter
    found = painter.boundingRect(area, flags, words).adjusted(-2, 0, 2, 0)
    painter.fillRect(found, theme.colour("window", 170))
    painter.setPen(theme.colour("text", 210))
    painter.drawText(area, flags, words)


def _image(levels: np.ndarray) -> QImage:
    """The picture in colours."""
    rows, columns = levels.shape
    pixels = np.take(_palette(), levels, mode="clip")
    form = QImage.Format.Format_RGB32
    return QImage(pixels.data, columns, rows, 4 * columns, form).copy()  # the copy owns its memory


def _palette() -> np.ndarray:
    """Colours by level, uint32 ``(256,)``."""
    decibels = FLOOR_DB + np.arange(256) / 255 * -FLOOR_DB
    share = np.clip((decibels - QUIETEST_DB) / (LOUDEST_DB - QUIETEST_DB), 0, 1)
    places = [at for at, _ in _STOPS]
    colours = [QColor(name) for _, name in _STOPS]
    parts = [
        np.interp(share, places, [part(colour) for colour in colours])
        for part in (QColor.red, QColor.green, QColor.blue)
    ]
    red, green, blue = (np.rint(part).astype(np.uint32) for part in parts)
    return np.uint32(0xFF000000) | red << 16 | green << 8 | blue
