"""Paints peaks into an image: numpy works out how much of each pixel is covered, a palette gives it colour.

Both are quick enough for the GUI thread: some milliseconds for a window's width.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QColor, QImage

OVER_SCALE = 1.0005
"""Samples beyond this count as over full scale; a little room for rounding of 16-bit files."""
OVER_MARK = 2
"""Height in pixels of the marks at a lane's edges where a column leaves full scale."""
SMALLEST_LANE = 6
"""Channels whose lanes would be lower than this, in pixels, share one."""

_HALF, _OVER = 127, 255


def lanes_of(channels: int, height: int, smallest: int = SMALLEST_LANE) -> list[tuple[int, int]]:
    """Which channels, first and one behind the last, share a lane of a picture ``height`` pixels high."""
    most = max(1, height // smallest)
    each = -(-channels // most)
    return [(first, min(channels, first + each)) for first in range(0, channels, each)]


def merged(view: np.ndarray, lanes: list[tuple[int, int]]) -> np.ndarray:
    """A view with one channel a lane: the envelope of those that share it, and their greatest RMS."""
    if len(lanes) == len(view):
        return view
    out = np.empty((len(lanes), *view.shape[1:]), np.float32)
    for lane, (first, end) in enumerate(lanes):
        out[lane, :, 0] = view[first:end, :, 0].min(axis=0)
        out[lane, :, 1:] = view[first:end, :, 1:].max(axis=0)
    return out


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
        # 0 nothing, up to _HALF the wave's body, from there on its core, _OVER a mark.
        self._shades = np.zeros((self.height, self.width), np.uint8)
        lane = height / max(1, channels)
        for channel in range(channels):
            top, bottom = round(channel * lane), round((channel + 1) * lane)
            if bottom - top >= 2 and columns:
                self._add_lane(_joined(view[channel]), top, bottom)

    def _add_lane(self, bins: np.ndarray, top: int, bottom: int) -> None:
        height = bottom - top
        # The middle of a row of pixels, so that silence is one sharp line in every lane.
        half, reach = np.float32(height // 2 + 0.5), np.float32(reach_of(height))
        low, high = np.clip(bins[:, 0], -1, 1), np.clip(bins[:, 1], -1, 1)
        # RMS is drawn around the middle, but never beyond what the wave itself reaches.
        inner_high = np.clip(bins[:, 2], 0, np.maximum(high, 0))
        inner_low = np.clip(-bins[:, 2], np.minimum(low, 0), 0)
        lane = self._shades[top:bottom]
        np.right_shift(_cover(half - high * reach, half - low * reach, height, 1.0), 1, out=lane)
        core = _cover(half - inner_high * reach, half - inner_low * reach, height, 0.0) >> 1
        np.minimum(core, lane, out=core)  # a wave that stays on one side of the middle has no core there
        core += _HALF * (core > 0).view(np.uint8)
        np.maximum(lane, core, out=lane)
        over = np.maximum(bins[:, 1], -bins[:, 0]) > OVER_SCALE
        lane[:OVER_MARK, over] = _OVER
        lane[-OVER_MARK:, over] = _OVER

    def coloured(self, body: QColor, core: QColor, over: QColor) -> QImage:
        """The waveform with ``body`` from minimum to maximum, ``core`` up to RMS, ``over`` for marks."""
        pixels = np.take(_palette(body, core, over), self._shades, mode="clip")
        form = QImage.Format.Format_ARGB32_Premultiplied
        # The copy owns its memory; the array goes with this call.
        return QImage(pixels.data, self.width, self.height, 4 * self.width, form).copy()


def reach_of(height: float) -> float:
    """How far full scale lies from the middle of a lane, in pixels."""
    return height / 2 - min(3.0, height * 0.06)


def _palette(body: QColor, core: QColor, over: QColor) -> np.ndarray:
    """Premultiplied colours by shade, uint32 ``(256,)``."""
    ends = [np.array([c.red(), c.green(), c.blue(), 255.0]) for c in (body, core, over)]
    steps = np.arange(256)
    cover = np.clip(steps / _HALF, 0, 1)[:, None]
    share = np.clip((steps - _HALF) / _HALF, 0, 1)[:, None]
    mixed = (ends[0] * (1 - share) + ends[1] * share) * cover
    mixed[_OVER] = ends[2]
    red, green, blue, alpha = np.rint(mixed).astype(np.uint32).T
    return alpha << 24 | red << 16 | green << 8 | blue


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
    lacking = np.maximum(0.0, thinnest - (bottom - top)) / 2
    top = np.clip(top - lacking, 0, height)
    bottom = np.clip(bottom + lacking, top, height)
    first = np.minimum(np.floor(top), height - 1).astype(np.int16)
    last = np.clip(np.ceil(bottom) - 1, first, height - 1).astype(np.int16)
    rows = np.arange(height, dtype=np.int16)[:, None]
    inside = rows >= first
    inside &= rows <= last
    covered = inside.view(np.uint8)
    np.negative(covered, out=covered)  # 1 becomes 255
    columns = np.arange(len(top))
    # Only the outermost pixels of a column are covered in part.
    covered[last, columns] = np.rint(255 * (bottom - np.maximum(top, last)))
    covered[first, columns] = np.rint(255 * (np.minimum(bottom, first + 1) - top))
    return covered
