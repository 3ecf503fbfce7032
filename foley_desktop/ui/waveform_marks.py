"""Cue points and regions of a file, drawn with their names in a strip under the time ruler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPen, QPolygonF

from foley_desktop.models import Marker
from foley_desktop.ui import text, theme
from foley_desktop.ui.waveform_ruler import small_font

HEIGHT = 15
_FLAG = 7.0
_GRIP = 5.0
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Mark:
    """A marker and where it stands in the strip; ``left`` and ``right`` in pixels."""

    marker: Marker
    left: float
    right: float

    @property
    def words(self) -> str:
        return text.shown(self.marker.text.strip(), _LONGEST_NAME)


def placed(markers: Sequence[Marker], x_of: Callable[[float], float], width: float) -> list[Mark]:
    """The markers that are seen."""
    marks = []
    for marker in markers:
        left = x_of(marker.start_s)
        right = x_of(marker.end_s) if marker.end_s is not None else left
        if right >= 0 and left <= width:
            marks.append(Mark(marker, left, right))
    return marks


def at(marks: Sequence[Mark], x: float, names: float = 0.0) -> Mark | None:
    """The mark under a place of the strip: the nearest flag at hand, else the shortest region there."""
    near = [mark for mark in marks if mark.left - _GRIP <= x <= mark.left + _FLAG + _GRIP]
    if near:
        return min(near, key=lambda mark: abs(x - mark.left))
    inside = [mark for mark in marks if mark.left <= x <= max(mark.right, mark.left + names)]
    return min(inside, key=lambda mark: mark.right - mark.left, default=None)


def tip(marker: Marker) -> str:
    """What a marker says when it is pointed at."""
    name = text.shown(marker.text.strip(), 200) or ("Region" if marker.end_s is not None else "Marker")
    if marker.end_s is None:
        return f"{name}\n{text.clock(marker.start_s)}\nClick: play from here"
    length = text.clock(marker.end_s - marker.start_s)
    times = f"{text.clock(marker.start_s)} – {text.clock(marker.end_s)}, {length} long"
    return f"{name}\n{times}\nClick: play from its start. Double click: select it"


def paint(painter: QPainter, font: QFont, marks: Sequence[Mark], top: float, bottom: float) -> None:
    """Flags, bars and names in the strip from ``top`` on, and thin lines down to ``bottom``."""
    painter.setFont(small_font(font))
    for mark in marks:
        if mark.marker.end_s is not None:
            _paint_region(painter, mark, top, bottom)
    for mark in marks:
        if mark.marker.end_s is None:
            _paint_cue(painter, mark, top, bottom)
    for number, mark in enumerate(marks):
        following = marks[number + 1].left if number + 1 < len(marks) else float("inf")
        _paint_name(painter, mark, following, top)


def _paint_cue(painter: QPainter, mark: Mark, top: float, bottom: float) -> None:
    colour = theme.colour("amber")
    painter.setPen(QPen(theme.colour("amber", 110), 1))
    painter.drawLine(QLineF(mark.left, top, mark.left, bottom))
    flag = QPolygonF(
        [QPointF(mark.left, top + 2), QPointF(mark.left + _FLAG, top + 5.5), QPointF(mark.left, top + 9)]
    )
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawPolygon(flag)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _paint_region(painter: QPainter, mark: Mark, top: float, bottom: float) -> None:
    area = QRectF(mark.left, top + 1, max(2.0, mark.right - mark.left), HEIGHT - 3)
    painter.fillRect(area, theme.colour("violet", 60))
    painter.setPen(QPen(theme.colour("violet", 120), 1))
    for x in (mark.left, mark.right):
        painter.drawLine(QLineF(x, top + 1, x, bottom))


def _paint_name(painter: QPainter, mark: Mark, following: float, top: float) -> None:
    """The name as far as there is room for it before the next mark."""
    is_region = mark.marker.end_s is not None
    left = max(0.0, mark.left) + (4 if is_region else _FLAG + 3)
    end = min(mark.right - 2, following) if is_region else following
    room = min(end - left - 3, 400.0)
    if room < 16 or not mark.words:
        return
    words = painter.fontMetrics().elidedText(mark.words, Qt.TextElideMode.ElideRight, int(room))
    painter.setPen(theme.colour("violet" if is_region else "amber"))
    painter.drawText(QRectF(left, top, room + 3, HEIGHT - 1), Qt.AlignmentFlag.AlignVCenter, words)
