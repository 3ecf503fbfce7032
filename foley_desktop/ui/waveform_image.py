"""Paints peaks into an image: numpy works out how much of each pixel is covered, Qt gives it colour.

Both are quick enough for the GUI thread: some milliseconds for a window's width.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter

OVER_SCALE = 1.0005
"""Samples beyond this count as over full scale; a little room for rounding of 16-bit files."""
OVER_MARK = 2
"""Height in pixels of the marks at a lane's edges where a column leaves full scale."""


class WaveMasks:
    """The shape of a waveform, without colours.

    Args:
        view: float32 ``(channels, columns, 3)`` of minimum, maximum and RMS in full scale 1. Channels
            stand one above the other, each in a lane of its own.
        height: In pixels.
    """

    def __init__(self, view: np.ndarray, height: int) -> None:
        channels, columns, _ = view.shape
        self.width, self.height = max(1, columns), max(1, height)
        self._body = np.zeros((self.height, _padded(self.width)), np.uint8)
        self._core = np.zeros_like(self._body)
        self._over: list[QRect] = []
        lane = height / max(1, channels)
        for channel in range(channels):
            top, bottom = round(channel * lane), round((channel + 1) * lane)
            if bottom - top >= 2 and columns:
                self._add_lane(_joined(view[channel]), top, bottom)

    def _add_lane(self, bins: np.ndarray, top: int, bottom: int) -> None:
        height = bottom - top
        half = np.float32(height / 2)
        reach = np.float32(height / 2 - min(3.0, height * 0.06))
        low, high = np.clip(bins[:, 0], -1, 1), np.clip(bins[:, 1], -1, 1)
        # RMS is drawn around the middle, but never beyond what the wave itself reaches.
        inner_high = np.clip(bins[:, 2], 0, np.maximum(high, 0))
        inner_low = np.clip(-bins[:, 2], np.minimum(low, 0), 0)
        columns = len(bins)
        self._body[top:bottom, :columns] = _cover(half - high * reach, half - low * reach, height, 1.0)
        core = _cover(half - inner_high * reach, half - inner_low * reach, height, 0.0)
        self._core[top:bottom, :columns] = np.minimum(core, self._body[top:bottom, :columns])
        for column in np.flatnonzero(np.maximum(bins[:, 1], -bins[:, 0]) > OVER_SCALE):
            self._over.append(QRect(int(column), top, 1, OVER_MARK))
            self._over.append(QRect(int(column), bottom - OVER_MARK, 1, OVER_MARK))

    def coloured(self, body: QColor, core: QColor, over: QColor) -> QImage:
        """The waveform with ``body`` from minimum to maximum, ``core`` up to RMS, ``over`` for marks."""
        image = self._tinted(self._body, body)
        painter = QPainter(image)
        painter.drawImage(0, 0, self._tinted(self._core, core))
        for mark in self._over:
            painter.fillRect(mark, over)
        painter.end()
        return image

    def _tinted(self, mask: np.ndarray, colour: QColor) -> QImage:
        image = QImage(self.width, self.height, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(colour)
        # The mask borrows the array's memory, which lives longer than this call.
        alpha = QImage(mask.data, self.width, self.height, mask.shape[1], QImage.Format.Format_Alpha8)
        painter = QPainter(image)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_DestinationIn)
        painter.drawImage(0, 0, alpha, flags=Qt.ImageConversionFlag.NoOpaqueDetection)
        painter.end()
        return image


def _padded(width: int) -> int:
    """Bytes in a line of an 8-bit image: Qt wants multiples of four."""
    return -(-width // 4) * 4


def _joined(bins: np.ndarray) -> np.ndarray:
    """Columns that reach at least to their left neighbour, so that a steep line has no gaps."""
    joined = bins.copy()
    joined[1:, 0] = np.minimum(bins[1:, 0], bins[:-1, 1])
    joined[1:, 1] = np.maximum(bins[1:, 1], bins[:-1, 0])
    return joined


def _cover(top: np.ndarray, bottom: np.ndarray, height: int, thinnest: float) -> np.ndarray:
    """How much of each pixel lies between ``top`` and ``bottom``: uint8 ``(height, columns)``, 255 is all.

    A column that is thinner than ``thinnest`` pixels is drawn so thick.
    """
    lacking = np.maximum(0.0, thinnest - (bottom - top)).astype(np.float32) / 2
    rows = np.arange(height, dtype=np.float32)[:, None]
    covered = np.minimum((bottom + lacking).astype(np.float32), rows + 1)
    covered -= np.maximum((top - lacking).astype(np.float32), rows)
    np.clip(covered, 0.0, 1.0, out=covered)
    covered *= 255.0
    return covered.astype(np.uint8)
