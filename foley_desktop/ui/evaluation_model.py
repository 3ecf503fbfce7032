"""The per-query table of an evaluation: query, every metric, rank of the best answer."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from foley_desktop.library.evaluation import Evaluation
from foley_desktop.ui import tables, text, theme

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()

QUERY_ID_ROLE = Qt.ItemDataRole.UserRole

_NAMES = {"ndcg": "nDCG", "recall": "Recall", "precision": "Prec.", "map": "mAP", "mrr": "MRR"}
_TIPS = {
    "ndcg": "How well graded answers stand at the top; the number that counts",
    "recall": "The share of all good answers that was found",
    "precision": "The share of good answers among those shown",
    "map": "Precision, averaged over the places of the good answers",
    "mrr": "1 / rank of the first good answer",
}


def metric_title(metric: str) -> str:
    """``ndcg@10`` as a heading: ``nDCG@10``."""
    name, at, cut = metric.partition("@")
    return _NAMES.get(name, name) + at + cut


def metric_tip(metric: str) -> str:
    return _TIPS.get(metric.partition("@")[0], metric)


def quality_colour(value: float) -> QColor:
    """From red over amber to the accent as a metric goes from 0 to 1."""
    return theme.colour("red" if value < 0.34 else "amber" if value < 0.67 else "accent")


class EvaluationModel(QAbstractTableModel):
    """Rows are the queries of the report, columns the query text, its metrics and the best rank."""

    def __init__(self) -> None:
        super().__init__()
        self._evaluation: Evaluation | None = None
        self._queries: list[str] = []
        self._metrics: list[str] = []

    @property
    def metrics(self) -> list[str]:
        return list(self._metrics)

    def show_evaluation(self, evaluation: Evaluation | None) -> None:
        self.beginResetModel()
        self._evaluation = evaluation
        report = evaluation.report if evaluation else None
        self._queries = list(report.per_query) if report else []
        self._metrics = list(report.mean) if report else []
        self.endResetModel()

    def query_text(self, row: int) -> str:
        assert self._evaluation is not None
        return self._evaluation.texts.get(self._queries[row], self._queries[row])

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._queries)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._metrics) + 2

    def _value(self, row: int, column: int) -> Any:
        """The number in a metric or rank cell; None for a best answer that was not found."""
        assert self._evaluation is not None
        query = self._queries[row]
        report = self._evaluation.report
        if column <= len(self._metrics):
            return report.per_query[query].get(self._metrics[column - 1])
        return report.ranks.get(query) or None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        if role == QUERY_ID_ROLE:
            return self._queries[row]
        if column == 0:
            words = self.query_text(row)
            if role == Qt.ItemDataRole.DisplayRole:
                return text.shown(words)
            if role == Qt.ItemDataRole.ToolTipRole:
                return text.plain_tooltip(f"{words}\nClick to search for it")
            return words.casefold() if role == tables.SORT_ROLE else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        value = self._value(row, column)
        if role == tables.SORT_ROLE:
            return value
        is_rank = column > len(self._metrics)
        if role == Qt.ItemDataRole.DisplayRole:
            if value is None:
                return "–"
            return str(value) if is_rank else f"{value:.3f}"
        if role == Qt.ItemDataRole.ForegroundRole:
            if is_rank:
                return theme.colour("dim" if value else "red")
            return quality_colour(value or 0.0)
        if role == Qt.ItemDataRole.ToolTipRole and is_rank and value is None:
            return "The best answer was not found"
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        is_metric = 1 <= section <= len(self._metrics)
        if role == Qt.ItemDataRole.DisplayRole:
            if is_metric:
                return metric_title(self._metrics[section - 1]).partition("@")[0]
            return "Query" if section == 0 else "Best"
        if role == Qt.ItemDataRole.ToolTipRole:
            if is_metric:
                metric = self._metrics[section - 1]
                return f"{metric_title(metric)}: {metric_tip(metric)}"
            return "What was searched" if section == 0 else "Rank of the best answer"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if section == 0 else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        return None
