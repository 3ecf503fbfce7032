"""The per-query table of two embedders side by side: query, a metric under each, the change, both ranks."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from foley_desktop.library.embedder_compare import EmbedderComparison, QueryPair
from foley_desktop.models import Mode
from foley_desktop.ui import tables, text, theme
from foley_desktop.ui.evaluation_model import metric_title, quality_colour
from foley_desktop.ui.lab_words import change_colour, signed

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()

QUERY, OLD, NEW, CHANGE, OLD_RANK, NEW_RANK = range(6)


class EmbedderModel(QAbstractTableModel):
    """Rows are the queries of a comparison, in one mode and one metric."""

    def __init__(self) -> None:
        super().__init__()
        self._comparison: EmbedderComparison | None = None
        self._rows: list[QueryPair] = []
        self._metric = ""

    def show(self, comparison: EmbedderComparison | None, mode: Mode, metric: str) -> None:
        """Shows the queries of a comparison, or nothing."""
        self.beginResetModel()
        self._comparison = comparison
        self._metric = metric
        self._rows = comparison.rows(mode) if comparison else []
        self.endResetModel()

    def query_text(self, row: int) -> str:
        return self._rows[row].text

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else NEW_RANK + 1

    def _value(self, row: QueryPair, column: int) -> Any:
        if column == QUERY:
            return row.text
        if column in (OLD_RANK, NEW_RANK):
            return (row.old_rank if column == OLD_RANK else row.new_rank) or None
        old, new = row.old[self._metric], row.new[self._metric]
        return {OLD: old, NEW: new, CHANGE: new - old}[column]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        column = index.column()
        value = self._value(self._rows[index.row()], column)
        if role == tables.SORT_ROLE:
            return value.casefold() if column == QUERY else value
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(column, value)
        if role == Qt.ItemDataRole.TextAlignmentRole and column != QUERY:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ForegroundRole and column != QUERY:
            return self._colour(column, value)
        if role == Qt.ItemDataRole.ToolTipRole:
            if column == QUERY:
                return text.plain_tooltip(f"{value}\nClick to search for it")
            return "The best answer was not found" if value is None else None
        return None

    @staticmethod
    def _words(column: int, value: Any) -> str:
        if column == QUERY:
            return text.shown(value)
        if value is None:
            return "–"
        if column in (OLD_RANK, NEW_RANK):
            return str(value)
        return signed(value) if column == CHANGE else f"{value:.3f}"

    @staticmethod
    def _colour(column: int, value: Any) -> Any:
        if column in (OLD_RANK, NEW_RANK):
            return theme.colour("dim" if value else "red")
        return change_colour(value) if column == CHANGE else quality_colour(value)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or self._comparison is None:
            return None
        old, new = self._comparison.old.name, self._comparison.new.name
        metric = metric_title(self._metric)
        titles = ("Query", old, new, "Change", "Best", "Best")
        tips = (
            "What was searched",
            f"{metric} with {old}",
            f"{metric} with {new}",
            f"{new} minus {old}",
            f"Rank of the best answer with {old}",
            f"Rank of the best answer with {new}",
        )
        if role == Qt.ItemDataRole.DisplayRole:
            return text.shown(titles[section], 30)
        if role == Qt.ItemDataRole.ToolTipRole:
            return text.plain_tooltip(tips[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if section == QUERY else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        return None
