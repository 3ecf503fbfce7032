"""The icons of the librarian's desk: editing, writing into files, renaming, locks.

Beside :mod:`foley_desktop.ui.icons`, on the same grid; importing this module adds them there.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPainterPath

from foley_desktop.ui import icons

LOCKED, UNLOCKED, INSPECT = "lock", "unlock", "inspect"


def _path(p: QPainter, *points: tuple[float, float]) -> None:
    path = QPainterPath(QPointF(*points[0]))
    for point in points[1:]:
        path.lineTo(QPointF(*point))
    p.drawPath(path)


def _lock(p: QPainter) -> None:
    p.fillRect(QRectF(5.5, 11, 13, 9), p.pen().color())
    p.drawRoundedRect(QRectF(5.5, 11, 13, 9), 1.5, 1.5)
    p.drawArc(QRectF(8, 4, 8, 12), 0, 180 * 16)


def _unlock(p: QPainter) -> None:
    p.drawRoundedRect(QRectF(5.5, 11, 13, 9), 1.5, 1.5)
    p.drawArc(QRectF(8, 3, 8, 10), 30 * 16, 150 * 16)
    _path(p, (8, 8), (8, 11))


def _inspect(p: QPainter) -> None:
    p.drawRoundedRect(QRectF(4, 4, 16, 16), 2, 2)
    for y, end in ((8.5, 16), (12, 16), (15.5, 12.5)):
        _path(p, (8, y), (end, y))


def _undo(p: QPainter) -> None:
    _path(p, (8, 4.5), (4, 8.5), (8, 12.5))
    _path(p, (4, 8.5), (14, 8.5))
    p.drawArc(QRectF(9, 8.5, 10.5, 10.5), -90 * 16, 180 * 16)
    _path(p, (14, 19), (9, 19))


def _redo(p: QPainter) -> None:
    _path(p, (16, 4.5), (20, 8.5), (16, 12.5))
    _path(p, (20, 8.5), (10, 8.5))
    p.drawArc(QRectF(4.5, 8.5, 10.5, 10.5), 90 * 16, 180 * 16)
    _path(p, (10, 19), (15, 19))


def _write(p: QPainter) -> None:
    _path(p, (12, 3.5), (12, 13.5))
    _path(p, (8, 9.5), (12, 13.5), (16, 9.5))
    _path(p, (4.5, 15), (4.5, 20), (19.5, 20), (19.5, 15))


def _rename(p: QPainter) -> None:
    _path(p, (5, 19), (6, 14.5), (15.5, 5), (19, 8.5), (9.5, 18), (5, 19))
    _path(p, (13, 7.5), (16.5, 11))


def _trash(p: QPainter) -> None:
    _path(p, (4.5, 7), (19.5, 7))
    _path(p, (9.5, 7), (9.5, 4), (14.5, 4), (14.5, 7))
    _path(p, (6.5, 7), (7.5, 20), (16.5, 20), (17.5, 7))


icons.add(
    {
        LOCKED: _lock,
        UNLOCKED: _unlock,
        INSPECT: _inspect,
        "undo": _undo,
        "redo": _redo,
        "write": _write,
        "rename": _rename,
        "trash": _trash,
    }
)
