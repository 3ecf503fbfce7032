"""Every icon of the window, drawn by code on a grid of 24 units.

Nothing is loaded from a file and no symbol font is needed, so the icons look the same everywhere and
follow the palette. An icon has a dim face for disabled buttons and an accent face for checked ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from foley_desktop.ui import theme

GRID = 24.0
_SIZES = (16, 20, 32, 48)

Drawing = Callable[[QPainter], None]


def icon(name: str, colour: QColor | None = None, checked: QColor | None = None) -> QIcon:
    """The icon called ``name`` in the text colour, or in ``colour``."""
    normal = colour or theme.colour("text")
    faces = (
        (QIcon.Mode.Normal, QIcon.State.Off, normal),
        (QIcon.Mode.Normal, QIcon.State.On, checked or colour or theme.colour("accent")),
        (QIcon.Mode.Disabled, QIcon.State.Off, theme.colour("faint")),
        (QIcon.Mode.Disabled, QIcon.State.On, theme.colour("faint")),
    )
    made = QIcon()
    for size in _SIZES:
        for mode, state, face in faces:
            made.addPixmap(pixmap(name, size, face), mode, state)
    return made


def pixmap(name: str, size: int, colour: QColor, ratio: float = 1.0) -> QPixmap:
    """One face of an icon, ``size`` device-independent pixels square."""
    made = QPixmap(QSize(round(size * ratio), round(size * ratio)))
    made.setDevicePixelRatio(ratio)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    paint(painter, name, QRectF(0, 0, size, size), colour)
    painter.end()
    return made


def paint(painter: QPainter, name: str, area: QRectF, colour: QColor) -> None:
    """Draws an icon into ``area`` of a painter that is already open."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(area.topLeft())
    painter.scale(area.width() / GRID, area.height() / GRID)
    pen = QPen(colour, 2.0)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    _DRAWINGS[name](painter)
    painter.restore()


def app_icon() -> QIcon:
    """The application's own icon."""
    made = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        face = QPixmap(size, size)
        face.fill(Qt.GlobalColor.transparent)
        painter = QPainter(face)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("bar"))
        painter.drawRoundedRect(QRectF(0, 0, size, size), size * 0.22, size * 0.22)
        paint(
            painter,
            "library",
            QRectF(size * 0.14, size * 0.14, size * 0.72, size * 0.72),
            theme.colour("accent"),
        )
        painter.end()
        made.addPixmap(face)
    return made


def star_path(centre: QPointF, radius: float) -> QPainterPath:
    """A five-pointed star standing on two points."""
    path = QPainterPath()
    for corner in range(10):
        reach = radius if corner % 2 == 0 else radius * 0.42
        angle = math.pi * (corner / 5 - 0.5)
        point = QPointF(centre.x() + reach * math.cos(angle), centre.y() + reach * math.sin(angle))
        path.moveTo(point) if corner == 0 else path.lineTo(point)
    path.closeSubpath()
    return path


def heart_path(area: QRectF) -> QPainterPath:
    """A heart that fills ``area``."""
    x, y, w, h = area.x(), area.y(), area.width(), area.height()
    path = QPainterPath(QPointF(x + w / 2, y + h))
    path.cubicTo(x - w * 0.28, y + h * 0.48, x + w * 0.08, y - h * 0.22, x + w / 2, y + h * 0.24)
    path.cubicTo(x + w * 0.92, y - h * 0.22, x + w * 1.28, y + h * 0.48, x + w / 2, y + h)
    return path


def _fill(painter: QPainter, path: QPainterPath) -> None:
    painter.fillPath(path, painter.pen().color())


def _polygon(*points: tuple[float, float]) -> QPainterPath:
    path = QPainterPath()
    path.addPolygon(QPolygonF([QPointF(x, y) for x, y in points]))
    path.closeSubpath()
    return path


def _lines(painter: QPainter, *lines: tuple[float, float, float, float]) -> None:
    for x1, y1, x2, y2 in lines:
        painter.drawLine(QPointF(x1, y1), QPointF(x2, y2))


def _arc(painter: QPainter, x: float, y: float, r: float, start: float, span: float) -> None:
    painter.drawArc(QRectF(x - r, y - r, 2 * r, 2 * r), round(16 * start), round(16 * span))


def _play(p: QPainter) -> None:
    _fill(p, _polygon((7, 4.5), (19.5, 12), (7, 19.5)))


def _pause(p: QPainter) -> None:
    p.fillRect(QRectF(6, 5, 4, 14), p.pen().color())
    p.fillRect(QRectF(14, 5, 4, 14), p.pen().color())


def _stop(p: QPainter) -> None:
    p.fillRect(QRectF(6, 6, 12, 12), p.pen().color())


def _loop(p: QPainter) -> None:
    path = QPainterPath(QPointF(4, 12))
    path.lineTo(4, 11)
    path.arcTo(QRectF(4, 7, 8, 8), 180, -90)
    path.lineTo(19, 7)
    p.drawPath(path)
    _lines(p, (16, 4, 19, 7), (16, 10, 19, 7))
    path = QPainterPath(QPointF(20, 12))
    path.lineTo(20, 13)
    path.arcTo(QRectF(12, 9, 8, 8), 0, -90)
    path.lineTo(5, 17)
    p.drawPath(path)
    _lines(p, (8, 14, 5, 17), (8, 20, 5, 17))


def _similar(p: QPainter) -> None:
    for x, half in ((3.5, 3), (7, 7), (10.5, 4)):
        _lines(p, (x, 12 - half, x, 12 + half))
    _arc(p, 17, 10.5, 3.8, 0, 360)
    _lines(p, (19.8, 13.6, 22, 16.5))


def _search(p: QPainter) -> None:
    _arc(p, 10.5, 10.5, 6, 0, 360)
    _lines(p, (15, 15, 20, 20))


def _folder(p: QPainter) -> None:
    path = _polygon((3, 18.5), (3, 6), (9, 6), (11.5, 8.5), (21, 8.5), (21, 18.5))
    p.drawPath(path)


def _folder_add(p: QPainter) -> None:
    _folder(p)
    _lines(p, (12, 11, 12, 16), (9.5, 13.5, 14.5, 13.5))


def _add(p: QPainter) -> None:
    _lines(p, (12, 5, 12, 19), (5, 12, 19, 12))


def _remove(p: QPainter) -> None:
    _lines(p, (5, 12, 19, 12))


def _close(p: QPainter) -> None:
    _lines(p, (7, 7, 17, 17), (17, 7, 7, 17))


def _refresh(p: QPainter) -> None:
    _arc(p, 12, 12, 7, 40, 285)
    _lines(p, (17.4, 3.6, 17.4, 7.6), (13.4, 7.6, 17.4, 7.6))


def _heart(p: QPainter) -> None:
    p.drawPath(heart_path(QRectF(3.5, 5, 17, 15)))


def _heart_filled(p: QPainter) -> None:
    _fill(p, heart_path(QRectF(3.5, 5, 17, 15)))


def _star(p: QPainter) -> None:
    _fill(p, star_path(QPointF(12, 12.6), 9.5))


def _chart(p: QPainter) -> None:
    _lines(p, (4, 20, 20, 20))
    for x, top in ((6.5, 13), (12, 6), (17.5, 10)):
        p.fillRect(QRectF(x - 1.6, top, 3.2, 20 - top), p.pen().color())


def _volume(p: QPainter) -> None:
    _fill(p, _polygon((3, 9.5), (7, 9.5), (12, 5), (12, 19), (7, 14.5), (3, 14.5)))
    _arc(p, 12, 12, 4.5, -50, 100)
    _arc(p, 12, 12, 8.5, -50, 100)


def _muted(p: QPainter) -> None:
    _fill(p, _polygon((3, 9.5), (7, 9.5), (12, 5), (12, 19), (7, 14.5), (3, 14.5)))
    _lines(p, (15.5, 9.5, 20.5, 14.5), (20.5, 9.5, 15.5, 14.5))


def _help(p: QPainter) -> None:
    path = QPainterPath(QPointF(8.2, 9))
    path.cubicTo(8.2, 3.6, 16, 3.8, 15.8, 8.8)
    path.cubicTo(15.6, 12, 12, 12, 12, 15)
    p.drawPath(path)
    p.drawPoint(QPointF(12, 19.4))


def _audition(p: QPainter) -> None:
    _arc(p, 12, 13, 7.5, 0, 180)
    for x in (4.5, 19.5):
        p.drawRoundedRect(QRectF(x - 1.5 if x < 12 else x - 1.8, 13, 3.3, 6), 1.4, 1.4)


def _filter(p: QPainter) -> None:
    _lines(p, (4, 7, 20, 7), (7, 12, 17, 12), (10, 17, 14, 17))


def _warning(p: QPainter) -> None:
    p.drawPath(_polygon((12, 4), (21, 19.5), (3, 19.5)))
    _lines(p, (12, 10, 12, 14))
    p.drawPoint(QPointF(12, 16.9))


def _info(p: QPainter) -> None:
    _arc(p, 12, 12, 8.5, 0, 360)
    _lines(p, (12, 11.5, 12, 16))
    p.drawPoint(QPointF(12, 8))


def _library(p: QPainter) -> None:
    for x, half in ((3, 2), (6.6, 6), (10.2, 9), (13.8, 4.5), (17.4, 7), (21, 2)):
        _lines(p, (x, 12 - half, x, 12 + half))


def _history(p: QPainter) -> None:
    _arc(p, 12, 12, 8, 0, 360)
    _lines(p, (12, 7.5, 12, 12), (12, 12, 15.2, 14))


def _category(p: QPainter) -> None:
    p.drawPath(_polygon((3.5, 12.5), (12.5, 3.5), (20, 3.8), (20.5, 11.5), (11.5, 20.5)))
    p.drawPoint(QPointF(16.2, 7.8))


def _sparkle(p: QPainter) -> None:
    path = QPainterPath(QPointF(12, 3))
    for x, y in ((21, 12), (12, 21), (3, 12), (12, 3)):
        path.quadTo(QPointF(12, 12), QPointF(x, y))
    _fill(p, path)


def _chevron(p: QPainter) -> None:
    _lines(p, (6, 9, 12, 15), (18, 9, 12, 15))


def _chevron_right(p: QPainter) -> None:
    _lines(p, (9, 6, 15, 12), (9, 18, 15, 12))


def _wide(p: QPainter) -> None:
    _lines(p, (3, 12, 21, 12), (3, 12, 7, 8), (3, 12, 7, 16), (21, 12, 17, 8), (21, 12, 17, 16))


def _takes(p: QPainter) -> None:
    _lines(p, (4, 6, 20, 6), (8, 11, 20, 11), (8, 16, 20, 16), (4, 9, 4, 16))


def _gear(p: QPainter) -> None:
    _arc(p, 12, 12, 3, 0, 360)
    _arc(p, 12, 12, 6.3, 0, 360)
    for x, y in ((1, 0), (0.7, 0.7), (0, 1), (-0.7, 0.7), (-1, 0), (-0.7, -0.7), (0, -1), (0.7, -0.7)):
        _lines(p, (12 + 6.8 * x, 12 + 6.8 * y, 12 + 9 * x, 12 + 9 * y))


def _microphone(p: QPainter) -> None:
    p.drawRoundedRect(QRectF(9, 3, 6, 11), 3, 3)
    _arc(p, 12, 11, 6.5, 180, 180)
    _lines(p, (12, 17.5, 12, 21), (8.5, 21, 15.5, 21))


def _spectrum(p: QPainter) -> None:
    p.drawRoundedRect(QRectF(3, 4, 18, 16), 2, 2)
    for x, top in ((7, 14), (10.4, 8), (13.8, 11), (17, 15.5)):
        _lines(p, (x, top, x, 17))


def _snap(p: QPainter) -> None:
    path = QPainterPath(QPointF(4.5, 4))
    path.lineTo(4.5, 12.5)
    path.arcTo(QRectF(4.5, 5, 15, 15), 180, 180)
    path.lineTo(19.5, 4)
    p.drawPath(path)
    path = QPainterPath(QPointF(10, 4))
    path.lineTo(10, 12.5)
    path.arcTo(QRectF(10, 10.5, 4, 4), 180, 180)
    path.lineTo(14, 4)
    p.drawPath(path)
    _lines(p, (4.5, 4, 10, 4), (14, 4, 19.5, 4), (4.5, 8.5, 10, 8.5), (14, 8.5, 19.5, 8.5))


def _dot(p: QPainter) -> None:
    p.setBrush(p.pen().color())
    p.drawEllipse(QPointF(12, 12), 5, 5)


_DRAWINGS: dict[str, Drawing] = {
    "play": _play,
    "pause": _pause,
    "stop": _stop,
    "loop": _loop,
    "similar": _similar,
    "search": _search,
    "folder": _folder,
    "folder_add": _folder_add,
    "add": _add,
    "remove": _remove,
    "close": _close,
    "refresh": _refresh,
    "heart": _heart,
    "heart_filled": _heart_filled,
    "star": _star,
    "chart": _chart,
    "volume": _volume,
    "muted": _muted,
    "help": _help,
    "audition": _audition,
    "filter": _filter,
    "warning": _warning,
    "info": _info,
    "library": _library,
    "history": _history,
    "category": _category,
    "sparkle": _sparkle,
    "takes": _takes,
    "gear": _gear,
    "microphone": _microphone,
    "spectrum": _spectrum,
    "snap": _snap,
    "dot": _dot,
    "wide": _wide,
    "chevron": _chevron,
    "chevron_right": _chevron_right,
}


def add(drawings: Mapping[str, Drawing]) -> None:
    """Takes in the icons of another module, drawn on the same grid."""
    _DRAWINGS.update(drawings)
