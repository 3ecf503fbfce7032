"""The time ruler above a waveform."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter

from foley_desktop.ui import text, theme

HEIGHT = 18
MARK_GAP = 84
"""Pixels between two marks, about."""
_STEPS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600)


def paint_ruler(
    painter: QPainter, font: QFont, width: int, view: tuple[float, float], x_of: Callable[[float], float]
) -> None:
    """Marks and times over ``view``, seconds from left to right."""
    start, end = view
    step = ruler_step(end - start, max(1.0, width / MARK_GAP))
    small = theme.digits_font(font)
    small.setPixelSize(10)
    painter.setFont(small)
    number = int(start / step)
    while (seconds := number * step) <= end:
        x = x_of(seconds)
        if x >= 0:
            painter.setPen(theme.colour("edge"))
            painter.drawLine(QPointF(x, HEIGHT - 5), QPointF(x, HEIGHT))
            painter.setPen(theme.colour("faint"))
            painter.drawText(QPointF(x + 3, HEIGHT - 6), ruler_words(seconds, step))
        number += 1


def paint_time(painter: QPainter, x: float, seconds: float, width: int) -> None:
    """The exact time at the pointer."""
    words = text.clock(seconds)
    room = painter.fontMetrics().horizontalAdvance(words) + 8
    area = QRectF(min(x, width - room), 1, room, HEIGHT - 2)
    painter.fillRect(area, theme.colour("raised"))
    painter.setPen(theme.colour("text"))
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, words)


def ruler_step(span_s: float, marks: float) -> float:
    """A round distance in seconds between marks, so that about ``marks`` of them fit on ``span_s``."""
    wanted = span_s / marks
    for step in _STEPS_S:
        if step >= wanted:
            return step
    return 1800.0 if wanted <= 1800 else 3600.0


def ruler_words(seconds: float, step: float) -> str:
    """The time beside a mark, as exact as the marks are close."""
    decimals = 0 if step >= 1 else 1 if step >= 0.1 else 2 if step >= 0.01 else 3
    minutes, rest = divmod(round(seconds, decimals), 60)
    width = 2 if decimals == 0 else 3 + decimals
    return f"{int(minutes)}:{rest:0{width}.{decimals}f}"
