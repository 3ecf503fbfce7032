"""Paints peaks into an image with numpy: every pixel's cover at once, smooth edges, in a few ms."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QColor, QImage

OVER_SCALE = 1.0005
"""Samples beyond this count as over full scale; a little room for rounding of 16-bit files."""


def waveform_image(view: np.ndarray, height: int, body: QColor, core: QColor, over: QColor) -> QImage:
    """Draws ``view``, float32 ``(channels, columns, 3)`` of minimum, maximum and RMS in full scale 1.

    Channels stand one above the other. ``body`` is drawn between minimum and maximum, ``core`` between
    minus and plus RMS, and ``over`` marks, at the lane's edges, columns that leave full scale.
    """
    channels, columns, _ = view.shape
    image = np.zeros((max(1, height), max(1, columns), 4), np.float32)
    lane = height / max(1, channels)
    for channel in range(channels):
        top, bottom = round(channel * lane), round((channel + 1) * lane)
        if bottom - top >= 2 and columns:
            image[top:bottom] = _lane(_joined(view[channel]), bottom - top, body, core, over)
    pixels = np.ascontiguousarray(np.clip(image * 255 + 0.5, 0, 255).astype(np.uint8))
    made = QImage(pixels.data, pixels.shape[1], pixels.shape[0], QImage.Format.Format_RGBA8888_Premultiplied)
    return made.copy()  # owns its memory: the array dies here


def _joined(bins: np.ndarray) -> np.ndarray:
    """Columns that reach at least to their left neighbour, so that a steep line has no gaps."""
    joined = bins.copy()
    joined[1:, 0] = np.minimum(bins[1:, 0], bins[:-1, 1])
    joined[1:, 1] = np.maximum(bins[1:, 1], bins[:-1, 0])
    return joined


def _lane(bins: np.ndarray, height: int, body: QColor, core: QColor, over: QColor) -> np.ndarray:
    half = height / 2
    reach = half - min(3.0, height * 0.06)
    low, high, rms = bins[:, 0], bins[:, 1], bins[:, 2]
    outer = _cover(half - np.clip(high, -1, 1) * reach, half - np.clip(low, -1, 1) * reach, height)
    inner_rms = np.minimum(rms, np.maximum(np.abs(low), np.abs(high)))
    inner = _cover(half - np.clip(inner_rms, 0, 1) * reach, half + np.clip(inner_rms, 0, 1) * reach, height)
    inner = np.minimum(inner, outer)
    painted = (outer - inner)[..., None] * _rgba(body) + inner[..., None] * _rgba(core)
    is_over = np.maximum(high, -low) > OVER_SCALE
    if is_over.any():
        painted[:2, is_over] = _rgba(over)
        painted[-2:, is_over] = _rgba(over)
    return painted


def _cover(top: np.ndarray, bottom: np.ndarray, height: int) -> np.ndarray:
    """How much of each pixel lies between ``top`` and ``bottom``, at least one pixel a column."""
    lacking = np.maximum(0.0, 1.0 - (bottom - top)) / 2
    rows = np.arange(height, dtype=np.float32)[:, None]
    return np.clip(np.minimum(bottom + lacking, rows + 1) - np.maximum(top - lacking, rows), 0.0, 1.0)


def _rgba(colour: QColor) -> np.ndarray:
    alpha = colour.alphaF()
    return np.array(
        [colour.redF() * alpha, colour.greenF() * alpha, colour.blueF() * alpha, alpha], np.float32
    )
