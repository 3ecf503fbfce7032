"""The time ruler above a waveform."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter

from foley_desktop.ui import text, theme

HEIGHT = 18
MARK_GAP = 84
"""Pixels between two marks, about."""
_STEPS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600)
_PARTS = {2: 4, 15: 3, 30: 3, 120: 4, 1800: 6, 3600: 4}


def paint_ruler(
    painter: QPainter,
    font: QFont,
    width: float,
    view: tuple[float, float],
    x_of: Callable[[float], float],
    samplerate: int,
) -> None:
    """Marks and times over ``view``, seconds from left to right; close up, the numbers of frames."""
    start, end = view
    marks = max(1.0, width / MARK_GAP)
    step = ruler_step(end - start, marks)
    in_frames = (end - start) / marks < _STEPS_S[0]
    if in_frames:
        step = frame_step((end - start) * samplerate, marks) / samplerate
    painter.setFont(small_font(font))
    parts = 5 if in_frames else _PARTS.get(round(step), 5)
    painter.setPen(theme.colour("edge"))
    first = math.floor(start / step)
    fine = [x_of((first + n / parts) * step) for n in range(parts * (math.ceil((end - start) / step) + 2))]
    painter.drawLines([QLineF(x, HEIGHT - 3, x, HEIGHT) for x in fine if 0 <= x <= width])
    number = first
    while (seconds := number * step) <= end:
        x = x_of(seconds)
        if x > -MARK_GAP:
            painter.setPen(theme.colour("edge"))
            painter.drawLine(QPointF(x, HEIGHT - 8), QPointF(x, HEIGHT))
            painter.setPen(theme.colour("dim"))
            words = text.count(round(seconds * samplerate)) if in_frames else ruler_words(seconds, step)
            painter.drawText(QPointF(x + 3, HEIGHT - 6), words)
        number += 1


def paint_time(painter: QPainter, font: QFont, x: float, seconds: float, width: int) -> None:
    """The exact time at the pointer."""
    painter.setFont(small_font(font))
    words = text.clock(seconds)
    room = painter.fontMetrics().horizontalAdvance(words) + 8
    area = QRectF(max(0.0, min(x, width - room)), 1, room, HEIGHT - 2)
    painter.fillRect(area, theme.colour("raised"))
    painter.setPen(theme.colour("text"))
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, words)


def small_font(font: QFont) -> QFont:
    """The font of everything written on a waveform."""
    small = theme.digits_font(font)
    small.setPixelSize(10)
    return small


def ruler_step(span_s: float, marks: float) -> float:
    """A round distance in seconds between marks, so that about ``marks`` of them fit on ``span_s``."""
    wanted = span_s / marks
    for step in _STEPS_S:
        if step >= wanted:
            return step
    return 1800.0 if wanted <= 1800 else 3600.0


def frame_step(frames: float, marks: float) -> int:
    """A round number of frames between marks, so that about ``marks`` of them fit on ``frames``."""
    wanted = max(1.0, frames / marks)
    ten = 10 ** math.floor(math.log10(wanted))
    return next(round(ten * factor) for factor in (1, 2, 5, 10) if ten * factor >= wanted)


def ruler_words(seconds: float, step: float) -> str:
    """The time beside a mark, as exact as the marks are close."""
    decimals = 0 if step >= 1 else 1 if step >= 0.1 else 2 if step >= 0.01 else 3
    minutes, rest = divmod(round(seconds, decimals), 60)
    width = 2 if decimals == 0 else 3 + decimals
    hours, minutes = divmod(int(minutes), 60)
    if hours:
        return f"{hours}:{minutes:02d}:{rest:0{width}.{decimals}f}"
    return f"{minutes}:{rest:0{width}.{decimals}f}"
