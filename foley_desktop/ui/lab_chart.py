"""Two pictures of a measurement: the differences of all queries, sorted, and a metric over the cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip, QWidget

from foley_desktop.models import Mode
from foley_desktop.ui import text, theme
from foley_desktop.ui.lab_words import signed

LEFT, RIGHT, TOP, BOTTOM = 46, 14, 26, 24
"""Margins around the plot in pixels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One query's difference, with its text for the tooltip."""

    query_id: str
    text: str
    value: float


@dataclass(frozen=True, slots=True)
class Differences:
    """Bars from the worst loss to the best gain; ``title`` names metric, mode, what is compared, and n."""

    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """A metric's mean at k = 1, 2 … by mode; ``k`` is the cut that the report stands for."""

    title: str
    lines: Mapping[Mode, Sequence[float]]
    k: int


class Chart(QWidget):
    """Paints :class:`Differences`, :class:`Curves`, or a sentence when there is nothing to paint."""

    query_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("lab_chart")
        self.setMouseTracking(True)
        self.setMinimumHeight(120)
        self._content: Differences | Curves | str = ""
        self._at: int | None = None

    def sizeHint(self) -> QSize:
        return QSize(480, 220)

    @property
    def content(self) -> Differences | Curves | str:
        return self._content

    def show_content(self, content: Differences | Curves | str) -> None:
        """A picture, or a sentence."""
        self._content = content
        self._at = None
        self.setAccessibleDescription(content if isinstance(content, str) else content.title)
        self.update()

    # --- geometry

    def plot(self) -> QRectF:
        """Where the data stands."""
        return QRectF(self.rect()).adjusted(LEFT, TOP, -RIGHT, -BOTTOM)

    def curve_plot(self) -> QRectF:
        """Where curves stand: there is room for their names beside their ends."""
        return self.plot().adjusted(0, 0, -62, 0)

    def bar_at(self, x: float) -> int | None:
        """The number of the bar at a place, None outside."""
        content, area = self._content, self.plot()
        if not isinstance(content, Differences) or not content.bars or area.width() <= 0:
            return None
        number = int((x - area.left()) / area.width() * len(content.bars))
        return number if 0 <= number < len(content.bars) and x >= area.left() else None

    def cut_at(self, x: float) -> int | None:
        """The k at a place of the curves, from 1; None outside."""
        content, area = self._content, self.curve_plot()
        if not isinstance(content, Curves) or area.width() <= 0:
            return None
        last = max(map(len, content.lines.values()), default=0)
        k = round((x - area.left()) / area.width() * max(1, last - 1)) + 1
        return k if 1 <= k <= last else None

    # --- mouse

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        at = self.bar_at(x) if isinstance(self._content, Differences) else self.cut_at(x)
        if at != self._at:
            self._at = at
            self.update()
        words = self.words_at(x)
        if words:
            QToolTip.showText(event.globalPosition().toPoint(), text.plain_tooltip(words), self)
        else:
            QToolTip.hideText()

    def words_at(self, x: float) -> str:
        """What the picture says at a place."""
        content = self._content
        bar, k = self.bar_at(x), self.cut_at(x)
        if isinstance(content, Differences) and bar is not None:
            return f"{content.bars[bar].text}\n{signed(content.bars[bar].value)}\nClick to look at this query"
        if isinstance(content, Curves) and k is not None:
            lines = [f"{mode} {row[k - 1]:.3f}" for mode, row in content.lines.items() if k <= len(row)]
            return "\n".join([f"k = {k}", *lines])
        return ""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self.bar_at(event.position().x())
        if isinstance(self._content, Differences) and number is not None:
            self.query_chosen.emit(self._content.bars[number].query_id)

    def leaveEvent(self, event: object) -> None:
        self._at = None
        self.update()

    # --- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("panel"))
        font = self.font()
        font.setPixelSize(11)
        painter.setFont(theme.digits_font(font))
        content = self._content
        if isinstance(content, str):
            painter.setPen(theme.colour("faint"))
            painter.drawText(
                self.rect().adjusted(20, 0, -20, 0),
                Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap,
                content,
            )
        else:
            self._title(painter, content.title)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if isinstance(content, Differences):
                self._paint_bars(painter, content)
            else:
                self._paint_curves(painter, content)
        painter.end()

    def _title(self, painter: QPainter, title: str) -> None:
        painter.setPen(theme.colour("dim"))
        area = self.rect().adjusted(10, 5, -10, 0)
        words = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, words)

    def _grid(self, painter: QPainter, area: QRectF, values: Sequence[tuple[float, str]]) -> None:
        """Level lines with their labels; ``values`` are places from 0 (bottom) to 1 and words."""
        for place, words in values:
            y = area.bottom() - place * area.height()
            painter.setPen(QPen(theme.colour("line"), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(theme.colour("faint"))
            label = QRectF(0, y - 8, LEFT - 6, 16)
            painter.drawText(label, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_bars(self, painter: QPainter, content: Differences) -> None:
        area, bars = self.plot(), content.bars
        top = max(0.1, max(abs(bar.value) for bar in bars)) if bars else 1.0
        self._grid(painter, area, [(0.0, signed(-top)), (0.5, "0"), (1.0, signed(top))])
        width = area.width() / max(1, len(bars))
        zero = area.center().y()
        painter.setPen(Qt.PenStyle.NoPen)
        for number, bar in enumerate(bars):
            height = abs(bar.value) / top * area.height() / 2
            left = area.left() + number * width
            gap = min(1.0, width / 5)
            box = QRectF(
                left + gap, zero - height if bar.value > 0 else zero, max(1.0, width - 2 * gap), height
            )
            if number == self._at:
                painter.fillRect(QRectF(left, area.top(), width, area.height()), theme.colour("hover"))
            if bar.value:
                painter.fillRect(box, theme.colour("accent" if bar.value > 0 else "red"))
        painter.setPen(QPen(theme.colour("edge"), 1))
        painter.drawLine(QPointF(area.left(), zero), QPointF(area.right(), zero))
        worse, better = sum(b.value < 0 for b in bars), sum(b.value > 0 for b in bars)
        below = QRectF(area.left(), area.bottom() + 4, area.width(), 16)
        for side, words, colour in (
            (Qt.AlignmentFlag.AlignLeft, f"− {worse} worse", "red"),
            (Qt.AlignmentFlag.AlignHCenter, f"{len(bars) - worse - better} equal", "faint"),
            (Qt.AlignmentFlag.AlignRight, f"+ {better} better", "accent"),
        ):
            painter.setPen(theme.colour(colour))
            painter.drawText(below, side | Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_curves(self, painter: QPainter, content: Curves) -> None:
        area = self.curve_plot()
        last = max(map(len, content.lines.values()), default=1)
        self._grid(painter, area, [(n / 4, f"{n / 4:.2f}") for n in range(5)])
        step = area.width() / max(1, last - 1)

        def x_of(k: int) -> float:
            return area.left() + (k - 1) * step

        painter.setPen(theme.colour("faint"))
        for k in sorted({1, *range(10, last + 1, 10), last}):
            label = QRectF(x_of(k) - 16, area.bottom() + 4, 32, 16)
            painter.drawText(label, Qt.AlignmentFlag.AlignCenter, f"{'k ' if k == 1 else ''}{k}")
        for k, colour in ((content.k, "edge"), (self._at, "faint")):
            if k is not None and k <= last:
                painter.setPen(QPen(theme.colour(colour), 1, Qt.PenStyle.DashLine))
                painter.drawLine(QPointF(x_of(k), area.top()), QPointF(x_of(k), area.bottom()))
        ends = []
        for mode, row in content.lines.items():
            points = [
                QPointF(x_of(k), area.bottom() - value * area.height()) for k, value in enumerate(row, 1)
            ]
            painter.setPen(QPen(theme.ranker_colour(mode), 2))
            painter.drawPolyline(QPolygonF(points))
            ends.append((points[-1].y(), mode))
        lowest = area.top() - 20
        for y, mode in sorted(ends):
            lowest = max(y, lowest + 13)
            painter.setPen(theme.ranker_colour(mode))
            painter.drawText(QPointF(area.right() + 8, lowest + 4), mode)
