"""The means of a measurement: a row a mode, a column a metric, each with its interval and its change.

The cell that is selected is what the rest of the lab looks at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from foley_desktop.eval.retrieval import mean_over_queries
from foley_desktop.library.lab_compare import LabComparison
from foley_desktop.models import Mode
from foley_desktop.ui import icons, text, theme
from foley_desktop.ui.evaluation_model import metric_tip, metric_title, quality_colour
from foley_desktop.ui.lab_words import (
    MINUS,
    MODE_TIPS,
    TOO_FEW,
    View,
    change_colour,
    counts_words,
    interval,
    number,
    p_words,
    signed,
    signed_interval,
)
from foley_desktop.workers.lab_jobs import Measurement

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()

CELL_ROLE = Qt.ItemDataRole.UserRole
ROW_HEIGHT = 35
MODE_WIDTH = 86


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says: a number and, where there are any, a change, and two smaller words below."""

    value: str
    colour: QColor
    change: str = ""
    change_colour: QColor | None = None
    below: str = ""
    below_right: str = ""
    tip: str = ""


class MeansModel(QAbstractTableModel):
    """Rows are modes; columns are the mode's name, when compared the gate, every metric, and judged@k."""

    def __init__(self) -> None:
        super().__init__()
        self._measurement: Measurement | None = None
        self._judged_only = False
        self._modes: list[Mode] = []
        self._metrics: list[str] = []

    def show_measurement(self, measurement: Measurement | None, judged_only: bool) -> None:
        self.beginResetModel()
        self._measurement = measurement
        self._judged_only = judged_only
        self._modes = list(measurement.modes) if measurement else []
        self._metrics = list(measurement.report.settings.names) if measurement else []
        self.endResetModel()

    def place_of(self, view: View) -> QModelIndex:
        """The cell of a mode and metric; an invalid index where it is not shown."""
        if view.mode not in self._modes or view.metric not in self._metrics:
            return QModelIndex()
        return self.index(self._modes.index(view.mode), self._metrics.index(view.metric) + self._first)

    def at(self, index: Index) -> tuple[Mode, str | None]:
        """Mode and metric of a cell; no metric in the columns that have none."""
        metric = index.column() - self._first
        return self._modes[index.row()], self._metrics[metric] if 0 <= metric < len(self._metrics) else None

    @property
    def _first(self) -> int:
        """The column of the first metric."""
        return 2 if self._measurement is not None and self._measurement.against else 1

    # --- what the cells say

    def cell(self, row: int, column: int) -> Cell:
        assert self._measurement is not None
        mode = self._modes[row]
        if column == 0:
            return Cell(mode, theme.colour("text"), tip=MODE_TIPS[mode])
        if column < self._first:
            return self._gate_cell(mode)
        metric = column - self._first
        return (
            self._metric_cell(mode, self._metrics[metric])
            if metric < len(self._metrics)
            else self._judged_cell(mode)
        )

    def _metric_cell(self, mode: Mode, metric: str) -> Cell:
        measurement = self._measurement
        assert measurement is not None
        result = measurement.report.results[mode]
        report = result.condensed if self._judged_only else result.report
        bounds = measurement.judged_intervals[mode] if self._judged_only else result.intervals
        value, (low, high) = report.mean[metric], bounds[metric]
        cell = {
            "value": number(value),
            "colour": quality_colour(value),
            "below": interval(low, high),
        }
        tip = (
            f"{mode} {metric_title(metric)}{' judged only' if self._judged_only else ''}\n"
            f"mean {value:.4f} over n = {len(report.per_query)} queries\n"
            f"95 % bootstrap interval {interval(low, high)}"
        )
        comparison = measurement.comparisons.get(mode)
        if comparison is not None:
            found = (comparison.condensed if self._judged_only else comparison.statistics)[metric]
            cell |= {
                "change": signed(found.difference),
                "change_colour": change_colour(found.difference),
                "below_right": p_words(found),
            }
            tip += (
                f"\nagainst {measurement.against}: {signed(found.difference)} "
                f"({signed_interval(found.low, found.high)})\n{found.sentence()} {counts_words(found)}"
            )
        elif mode in measurement.refusals:
            tip += f"\n{measurement.refusals[mode]}"
        return Cell(**cell, tip=tip)  # type: ignore[arg-type]

    def _judged_cell(self, mode: Mode) -> Cell:
        assert self._measurement is not None
        result, k = self._measurement.report.results[mode], self._measurement.report.settings.k
        value = mean_over_queries(result.judged.values())
        count = sum(len(clips) for clips in result.unjudged.values())
        return Cell(
            number(value),
            theme.colour("dim"),
            below=f"{count:,} unjudged",
            tip=f"judged@{k}: the share of the first {k} answers that carry a grade, mean over "
            f"n = {len(result.judged)} queries.\n{count:,} answers among them carry none: unjudged.",
        )

    def _gate_cell(self, mode: Mode) -> Cell:
        assert self._measurement is not None
        comparison = self._measurement.comparisons.get(mode)
        if comparison is None:
            reason = self._measurement.refusals.get(mode, "")
            return Cell("–", theme.colour("faint"), below="not compared", tip=reason)
        return Cell(
            "passes" if comparison.passed else "FAILS",
            theme.colour("accent" if comparison.passed else "red"),
            below=f"floor {comparison.floor:.3f}".replace("-", MINUS),
            tip=gate_words(comparison),
        )

    def markdown(self) -> str:
        """The table as Markdown: each mean with its interval and, when compared, its change and p-value."""
        if self._measurement is None:
            return ""
        count = self.columnCount()
        lines = [[str(self.headerData(n, Qt.Orientation.Horizontal)) for n in range(count)], ["---"] * count]
        for row in range(self.rowCount()):
            cells = [self.cell(row, column) for column in range(count)]
            lines.append(
                [
                    ", ".join(filter(None, (cell.value, cell.below, cell.change, cell.below_right)))
                    for cell in cells
                ]
            )
        queries = len(self._measurement.report.texts)
        against = f", against {self._measurement.against}" if self._measurement.against else ""
        head = f"Means over n = {queries} queries with 95 % bootstrap intervals{against}.\n\n"
        return head + "".join("| " + " | ".join(line) + " |\n" for line in lines)

    # --- what Qt asks

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._modes)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        if parent.isValid() or self._measurement is None:
            return 0
        return len(self._metrics) + self._first + 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        cell = self.cell(index.row(), index.column())
        if role == CELL_ROLE:
            return cell
        if role == Qt.ItemDataRole.DisplayRole:
            return " ".join(filter(None, (cell.value, cell.change)))
        if role == Qt.ItemDataRole.ToolTipRole:
            return text.plain_tooltip(cell.tip)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or self._measurement is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            k = self._measurement.report.settings.k
            heads = ("Mode", "Gate")[: self._first]
            titles = [*heads, *map(metric_title, self._metrics), f"judged@{k}"]
            return titles[section]
        if role == Qt.ItemDataRole.ToolTipRole and 0 <= section - self._first < len(self._metrics):
            metric = self._metrics[section - self._first]
            return f"{metric_title(metric)}: {metric_tip(metric)}. Mean with its 95 % bootstrap interval."
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None


def gate_words(comparison: LabComparison) -> str:
    """The gate in one line: metric, number, floor, outcome."""
    metric = f"ndcg@{comparison.new.k}"
    now = comparison.new.mean.get(metric)
    stands = f" {now:.3f}" if now is not None else ""
    outcome = "passes" if comparison.passed else "FAILS"
    return (
        f"Gate, {comparison.mode} {metric_title(metric)}:{stands} {outcome} the floor {comparison.floor:.3f}"
    )


class MeansDelegate(QStyledItemDelegate):
    """Paints a :class:`Cell` in two lines."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        cell: Cell = index.data(CELL_ROLE)
        painter.save()
        selected = bool(option.state & QStyle.StateFlag.State_Selected)  # type: ignore[attr-defined]
        if selected:
            painter.fillRect(option.rect, theme.colour("selection"))  # type: ignore[attr-defined]
        area: QRect = option.rect.adjusted(7, 3, -5, -3)  # type: ignore[attr-defined]
        base: QFont = option.font  # type: ignore[attr-defined]
        if index.column() == 0:
            dot = QRect(area.left() - 1, area.center().y() - 5, 10, 10)
            icons.paint(painter, "dot", dot.toRectF(), theme.ranker_colour(cell.value))
            area.adjust(13, 0, 0, 0)
            _write(painter, area, cell.value, cell.colour, base, Qt.AlignmentFlag.AlignLeft)
            painter.restore()
            return
        top = QRect(area.left(), area.top() - 1, area.width(), 17)
        low = QRect(area.left(), area.top() + 15, area.width(), 14)
        figures = theme.digits_font(base)
        strong = QFont(figures)
        strong.setWeight(QFont.Weight.DemiBold)
        small = QFont(figures)
        small.setPixelSize(11)
        width = _write(painter, top, cell.value, cell.colour, strong, Qt.AlignmentFlag.AlignLeft)
        if cell.change:
            colour = cell.change_colour or theme.colour("dim")
            rest = top.adjusted(width + 7, 0, 0, 0)
            _write(painter, rest, cell.change, colour, figures, Qt.AlignmentFlag.AlignLeft)
        shade = theme.colour("dim" if selected else "faint")
        used = _write(painter, low, cell.below, shade, small, Qt.AlignmentFlag.AlignLeft)
        if cell.below_right:
            colour = theme.colour("amber" if cell.below_right == TOO_FEW else "dim")
            _write(painter, low.adjusted(used + 6, 0, 0, 0), cell.below_right, colour, small,
                   Qt.AlignmentFlag.AlignLeft)  # fmt: skip
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(150 if index.data(CELL_ROLE).change else 88, ROW_HEIGHT)


def _write(
    painter: QPainter, area: QRect, words: str, colour: QColor, font: QFont, side: Qt.AlignmentFlag
) -> int:
    """Writes one line and gives its width in pixels."""
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(area, side | Qt.AlignmentFlag.AlignVCenter, words)
    return painter.fontMetrics().horizontalAdvance(words)


class MeansTable(QTableView):
    """``looked_at(mode, metric)`` when the user selects a mean; ``metric`` is None beside the metrics."""

    looked_at = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("lab_means")
        self.means = MeansModel()
        self._quiet = False
        self.setModel(self.means)
        self.setItemDelegate(MeansDelegate(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setProperty("keeps_enter", True)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.selectionModel().currentChanged.connect(self._on_current)
        self.hide()

    def show_measurement(self, measurement: Measurement | None, view: View) -> None:
        self._quiet = True
        self.means.show_measurement(measurement, view.judged_only)
        self.setVisible(measurement is not None)
        if measurement is not None:
            self.resizeColumnsToContents()
            self.setColumnWidth(0, MODE_WIDTH)
            self._fit()
            place = self.means.place_of(view)
            if place.isValid():
                self.setCurrentIndex(place)
        self._quiet = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """As high as its rows, and a scroll bar where one is needed."""
        header = self.horizontalHeader()
        height = self.means.rowCount() * ROW_HEIGHT + header.sizeHint().height() + 2
        if header.length() > self.viewport().width():
            height += self.horizontalScrollBar().sizeHint().height()
        if height != self.height():
            self.setFixedHeight(height)

    def _on_current(self, current: QModelIndex, previous: QModelIndex) -> None:
        if current.isValid() and not self._quiet:
            self.looked_at.emit(*self.means.at(current))
