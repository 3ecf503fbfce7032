"""Icons of what hands sounds over: the bin, the way out, as heard."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QPainter, QPainterPath, QPolygonF

from foley_desktop.ui import icons


def _bin(painter: QPainter) -> None:
    corners = (QPointF(3.5, 13), QPointF(6.5, 5.5), QPointF(17.5, 5.5), QPointF(20.5, 13), QPointF(20.5, 19))
    painter.drawPolygon(QPolygonF((*corners, QPointF(3.5, 19))))
    slot = QPainterPath(QPointF(3.5, 13))
    slot.lineTo(8.5, 13)
    slot.cubicTo(9.5, 16.5, 14.5, 16.5, 15.5, 13)
    slot.lineTo(20.5, 13)
    painter.drawPath(slot)


def _out(painter: QPainter) -> None:
    painter.drawPolyline(QPolygonF((QPointF(10, 5), QPointF(4.5, 5), QPointF(4.5, 19), QPointF(10, 19))))
    painter.drawLine(QLineF(9.5, 12, 20, 12))
    painter.drawPolyline(QPolygonF((QPointF(15.5, 7.5), QPointF(20, 12), QPointF(15.5, 16.5))))


def _ear(painter: QPainter) -> None:
    path = QPainterPath(QPointF(7, 10))
    path.cubicTo(7, 2.5, 18, 2.5, 18, 10)
    path.cubicTo(18, 14.5, 13.5, 14.5, 13.5, 18)
    path.cubicTo(13.5, 21.5, 8.5, 21.5, 8.5, 17.5)
    painter.drawPath(path)
    painter.drawArc(QRectF(10, 7.5, 5, 5), 0, 16 * 200)


icons.add({"bin": _bin, "out": _out, "ear": _ear})
