"""What moves over a waveform's still picture: what was heard, the region, the playhead, the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen

from foley_desktop.ui import theme
from foley_desktop.ui.waveform_ruler import HEIGHT as RULER
from foley_desktop.ui.waveform_ruler import paint_time, small_font

if TYPE_CHECKING:
    from foley_desktop.ui.waveform import Waveform
    from foley_desktop.ui.waveform_picture import Picture
    from foley_desktop.ui.waveform_pointer import Pointer


def paint(painter: QPainter, wave: Waveform, picture: Picture, pointer: Pointer) -> None:
    """All of it; the painter's own clip keeps it to the strip that changed."""
    body = picture.scene.body
    _paint_heard(painter, wave, picture, body)
    _paint_region(painter, wave, body)
    if wave.position_s is not None:
        painter.setPen(QPen(theme.colour("text"), 1.5))
        x = wave.x_of(wave.position_s)
        painter.drawLine(QPointF(x, 0), QPointF(x, wave.height()))
    _paint_pointer(painter, wave, pointer)


def _paint_heard(painter: QPainter, wave: Waveform, picture: Picture, body: QRectF) -> None:
    if wave.position_s is None or wave.shows_spectrum:
        return
    ends = sorted(wave.x_of(at) for at in (wave.heard_from(wave.position_s), wave.position_s))
    left, right = max(0.0, ends[0]), min(ends[1], float(wave.width()))
    if right > left:
        painter.save()
        painter.setClipRect(QRectF(left, body.top(), right - left, body.height()))
        painter.drawImage(QPointF(0, 0), picture.face(True))
        painter.restore()


def _paint_region(painter: QPainter, wave: Waveform, body: QRectF) -> None:
    if wave.region is None:
        return
    left, right = wave.x_of(wave.region.start_s), wave.x_of(wave.region.end_s)
    bottom = wave.height()
    painter.fillRect(QRectF(left, RULER, max(1.0, right - left), bottom - RULER), theme.colour("blue", 46))
    painter.setPen(QPen(theme.colour("blue"), 1.4))
    for x in (left, right):
        painter.drawLine(QPointF(x, RULER), QPointF(x, bottom))
        painter.fillRect(QRectF(x - 2.5, body.center().y() - 9, 5, 18), theme.colour("blue"))
    if right - left > 70:
        painter.setFont(small_font(wave.font()))
        painter.setPen(theme.colour("blue"))
        painter.drawText(QPointF(max(4.0, left + 6), bottom - 6), "drag out")


def _paint_pointer(painter: QPainter, wave: Waveform, pointer: Pointer) -> None:
    if pointer.x is None or pointer.is_down or wave.duration_s <= 0:
        return
    painter.setPen(QPen(theme.colour("text", 70), 1))
    painter.drawLine(QPointF(pointer.x, RULER), QPointF(pointer.x, wave.height()))
    paint_time(painter, wave.font(), pointer.x, wave.time_at(pointer.x), wave.width())
