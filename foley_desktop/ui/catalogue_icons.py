"""Icons of the catalogue's windows: collections, saved searches, lists coming in, copies going out."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QPainter, QPolygonF

from foley_desktop.ui import icons


def _collection(painter: QPainter) -> None:
    painter.drawRoundedRect(QRectF(4, 9, 16, 11), 2, 2)
    painter.drawLine(QLineF(6.5, 5.8, 17.5, 5.8))


def _bookmark(painter: QPainter) -> None:
    corners = (QPointF(6.5, 4), QPointF(17.5, 4), QPointF(17.5, 20), QPointF(12, 15.5), QPointF(6.5, 20))
    painter.drawPolygon(QPolygonF(corners))


def _check(painter: QPainter) -> None:
    painter.drawPolyline(QPolygonF((QPointF(5, 12.5), QPointF(10, 17.5), QPointF(19, 6.5))))


def _list_in(painter: QPainter) -> None:
    for y in (5.5, 12.0, 18.5):
        painter.drawLine(QLineF(13, y, 20, y))
    painter.drawLine(QLineF(3.5, 12, 10, 12))
    painter.drawPolyline(QPolygonF((QPointF(7, 9), QPointF(10, 12), QPointF(7, 15))))


def _deliver(painter: QPainter) -> None:
    painter.drawPolyline(QPolygonF((QPointF(4, 14), QPointF(4, 20), QPointF(20, 20), QPointF(20, 14))))
    painter.drawLine(QLineF(12, 15, 12, 4))
    painter.drawPolyline(QPolygonF((QPointF(7.5, 8.5), QPointF(12, 4), QPointF(16.5, 8.5))))


def _more(painter: QPainter) -> None:
    painter.setBrush(painter.pen().color())
    for x in (5.5, 12.0, 18.5):
        painter.drawEllipse(QPointF(x, 12), 1.1, 1.1)


icons.add(
    {
        "collection": _collection,
        "bookmark": _bookmark,
        "check": _check,
        "list_in": _list_in,
        "deliver": _deliver,
        "more": _more,
    }
)
