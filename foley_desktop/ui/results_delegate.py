"""How the cells of the results table are painted: stars and heart, score bars, tiny waves, the playing row.

Painted as plain text by hand: Qt never gets a chance to read a tag as markup.
"""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from foley_desktop.models import Clip
from foley_desktop.ui import icons, text, theme
from foley_desktop.ui.results_model import COLUMNS, ROW_ROLE, ResultsModel
from foley_desktop.workers.jobs import Row

_HEART_WIDTH = 20
_STAR_STEP = 13
_PADDING = 6
_QUIET = frozenset({"category", "rate", "channels", "depth", "format", "time", "used", "folder"})


def rating_at(cell: QRect, position: QPoint) -> int | None:
    """What lies under the pointer in a rating cell: 0 the heart, 1 to 5 a star, None nothing."""
    x = position.x() - cell.left() - _PADDING
    if 0 <= x < _HEART_WIDTH:
        return 0
    star = (x - _HEART_WIDTH) // _STAR_STEP + 1
    return star if 1 <= star <= 5 else None


class SketchSource(Protocol):
    """Who has small waveforms to paint."""

    def image(self, clip: Clip, cell: QRect, ratio: float, selected: bool) -> QImage | None:
        """The picture of a clip for a cell, at ``ratio`` device pixels a pixel; None while there is none."""


class ResultsDelegate(QStyledItemDelegate):
    """Paints one cell; see the module."""

    sketches: SketchSource | None = None

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row, model = index.data(ROW_ROLE), index.model()
        if not isinstance(row, Row) or not isinstance(model, ResultsModel):
            return
        column = COLUMNS[index.column()]
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        playing = row.clip.id == model.playing_id and bool(row.clip.id)
        painter.save()
        painter.setClipRect(option.rect)
        if selected:
            active = bool(option.state & QStyle.StateFlag.State_Active)
            painter.fillRect(option.rect, theme.colour("selection" if active else "selection_idle"))
        elif option.features & QStyleOptionViewItem.ViewItemFeature.Alternate:
            painter.fillRect(option.rect, theme.colour("stripe"))
        if column.name == "rating":
            _paint_rating(painter, option.rect, row, playing, selected)
        elif column.name == "wave":
            self._paint_sketch(painter, option.rect, row, selected)
        elif column.name == "score":
            self._paint_score(painter, option, row, model.top_score)
        else:
            self._paint_words(painter, option, index, column.name, row, playing, selected)
        painter.restore()

    def _paint_words(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
        name: str,
        row: Row,
        playing: bool,
        selected: bool,
    ) -> None:
        area = option.rect.adjusted(_PADDING, 0, -_PADDING, 0)
        font = theme.digits_font(option.font)
        shade = "dim" if name in _QUIET or (name == "description" and not selected) else "text"
        if name == "name":
            if playing:
                shade = "accent"
            if row.clip.badges:
                mark = QRectF(area.right() - 13, area.center().y() - 6, 13, 13)
                icons.paint(painter, "warning", mark, theme.colour("amber"))
                area.setRight(area.right() - 18)
        if row.clip.status != "ok":
            shade = "faint"
            font.setItalic(True)
        painter.setFont(font)
        painter.setPen(theme.colour(shade))
        side = Qt.AlignmentFlag.AlignRight if COLUMNS[index.column()].numeric else Qt.AlignmentFlag.AlignLeft
        words = index.data(Qt.ItemDataRole.DisplayRole) or ""
        elided = QFontMetrics(font).elidedText(words, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, side | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, elided)

    def _paint_sketch(self, painter: QPainter, cell: QRect, row: Row, selected: bool) -> None:
        area = cell.adjusted(_PADDING, 0, -_PADDING, 0)
        if self.sketches is None or area.width() < 8:
            return
        ratio = painter.device().devicePixelRatio()
        image = self.sketches.image(row.clip, area, ratio, selected)
        if image is not None:
            top = area.top() + (area.height() - image.height() / ratio) / 2
            painter.drawImage(QPointF(area.left(), round(top * ratio) / ratio), image)

    def _paint_score(
        self, painter: QPainter, option: QStyleOptionViewItem, row: Row, top_score: float
    ) -> None:
        score = text.best_score(row.hit)
        if score is None:
            return
        area = option.rect.adjusted(_PADDING, 0, -_PADDING, 0)
        painter.setFont(theme.digits_font(option.font))
        painter.setPen(theme.colour("dim"))
        painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{score:.3f}")
        bar = QRectF(area.left(), area.center().y() - 2, area.width() - 44, 5)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("line"))
        painter.drawRoundedRect(bar, 2.5, 2.5)
        parts = text.shares(row.hit) or {_only_ranker(row): 1.0}
        filled = bar.width() * min(1.0, max(0.0, score / top_score))
        x = bar.left()
        for ranker, share in parts.items():
            width = filled * share
            painter.fillRect(QRectF(x, bar.top(), width, bar.height()), theme.ranker_colour(ranker))
            x += width


def _only_ranker(row: Row) -> str:
    """Whose score it is where nothing was fused."""
    told = [name for name in theme.RANKER_COLOURS if row.hit is not None and name in row.hit.why]
    return "likeness" if "likeness" in told else told[0] if told else "semantic"


def _paint_rating(painter: QPainter, cell: QRect, row: Row, playing: bool, selected: bool) -> None:
    quiet = theme.colour("faint" if selected else "edge")
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    middle = cell.center().y() + 0.5
    left = cell.left() + _PADDING
    heart = QRectF(left + 1, middle - 5, 11, 10)
    if playing:
        icons.paint(painter, "play", QRectF(left - 1, middle - 7, 14, 14), theme.colour("accent"))
    elif row.clip.favourite:
        painter.fillPath(icons.heart_path(heart), theme.colour("red"))
    else:
        painter.strokePath(icons.heart_path(heart), quiet)
    for star in range(5):
        centre = QPointF(left + _HEART_WIDTH + _STAR_STEP * (star + 0.5) - 1, middle)
        filled = star < row.clip.rating
        if filled:
            painter.fillPath(icons.star_path(centre, 5.6), theme.colour("amber"))
        else:
            painter.setBrush(quiet)
            painter.drawEllipse(centre, 1.2, 1.2)
