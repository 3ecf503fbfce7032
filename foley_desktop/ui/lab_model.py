"""The per-query table of the lab: which columns stand in it, what a cell shows, how rows are sorted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from foley_desktop.library import lab_table
from foley_desktop.library.lab_table import Column, QueryRow
from foley_desktop.ui import tables, text, theme
from foley_desktop.ui.evaluation_model import metric_tip, metric_title, quality_colour
from foley_desktop.ui.lab_words import METRIC_NAMES, MODE_TIPS, NONE, View, change_colour, number, signed
from foley_desktop.workers.lab_jobs import Measurement

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()

QUERY_ROLE = Qt.ItemDataRole.UserRole

OTHER_KINDS: dict[str, str] = {
    "id": "Query id",
    "graded": "Graded clips",
    "rank": "Rank of the best answer",
    "unjudged": "Unjudged among the first k",
    "judged": "judged@k",
    "latency": "Latency in ms",
}
METRIC_KINDS: dict[str, str] = {"value": "", "change": " change", "condensed": " judged only"}
DEFAULT_KINDS = frozenset({"graded", "value:ndcg", "change:ndcg", "rank"})

FILTERS: tuple[tuple[str, str, str], ...] = (
    ("all", "All queries", "In the order of the set"),
    ("worst", f"Worst {lab_table.WORST}", "Lowest in the metric and mode that are looked at, worst first"),
    ("worse", "Got worse", "Lower than in what it is compared with, the largest loss first"),
    ("below", "Hybrid below its best single ranker", "Fusing cost something here, the largest gap first"),
    ("displaced", "Good ones displaced by unjudged", "Something nobody graded took the place of a good clip"),
    ("unjudged", "With unjudged answers", "Answers among the first k that carry no grade"),
)


def kind_of(key: str) -> str:
    """A column's kind whatever the mode and cut: ``value:ndcg``, ``change:ndcg``, ``rank``, ``graded``."""
    head, _, mode = key.rpartition(":")
    if not head:
        return mode
    before, _, last = head.rpartition(":")
    metric = last.partition("@")[0]
    return f"{before or 'value'}:{metric}" if "@" in last else last


def mode_of(key: str) -> str:
    """The mode a column is about; empty for those of the query itself."""
    head, _, mode = key.rpartition(":")
    return mode if head else ""


def arrange(measurement: Measurement, view: View, kinds: Collection[str]) -> list[Column]:
    """The chosen columns: the query's own first, then by metric and mode, a change beside its value."""
    report = measurement.report
    metrics = [name.partition("@")[0] for name in report.settings.names]
    modes = ["", *report.results]
    groups = ["query", "id", "graded", *metrics, "rank", "unjudged", "judged", "latency"]

    def place(column: Column) -> tuple[int, int, int]:
        before, _, metric = kind_of(column.key).rpartition(":")
        part = ["", "value", "change", "condensed"].index(before)
        return groups.index(metric), modes.index(mode_of(column.key)), part

    found = []
    for column in lab_table.columns(report, measurement.comparisons):
        kind = kind_of(column.key)
        if kind != "query" and kind not in kinds:
            continue
        if view.judged_only and kind.startswith("condensed:"):
            continue
        if view.judged_only and kind.startswith(("value:", "change:")):
            column = replace(column, title=f"{column.title} judged only")
        found.append(column)
    return sorted(found, key=place)


def chosen_rows(measurement: Measurement, view: View, name: str) -> list[QueryRow]:
    """The rows that pass a filter, in its order."""
    table = measurement.judged_table if view.judged_only else measurement.table
    mode, metric = view.mode, view.metric
    comparison = measurement.comparisons.get(mode)
    filters: dict[str, Callable[[], list[QueryRow]]] = {
        "worst": lambda: lab_table.worst(table, mode, metric),
        "worse": lambda: lab_table.got_worse(table, mode, metric),
        "below": lambda: lab_table.below_best_single(table, metric),
        "displaced": lambda: [r for r in table if comparison and r.query_id in comparison.to_grade],
        "unjudged": lambda: [r for r in table if r.unjudged[mode]],
    }
    return filters[name]() if name in filters else list(table)


class QueriesModel(QAbstractTableModel):
    """Rows are queries as :func:`chosen_rows` gives them, columns as :func:`arrange` does."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[QueryRow] = []
        self._columns: list[Column] = []
        self._k = 10

    def show_rows(self, rows: Sequence[QueryRow], columns: Sequence[Column], k: int) -> None:
        self.beginResetModel()
        self._rows, self._columns, self._k = list(rows), list(columns), k
        self.endResetModel()

    @property
    def columns(self) -> list[Column]:
        return list(self._columns)

    def row(self, number: int) -> QueryRow:
        return self._rows[number]

    def place_of(self, query_id: str) -> int | None:
        return next((n for n, row in enumerate(self._rows) if row.query_id == query_id), None)

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], self._columns[index.column()]
        if role == QUERY_ROLE:
            return row.query_id
        value = column.value(row)
        if role == tables.SORT_ROLE:
            return value.casefold() if isinstance(value, str) else value
        kind = kind_of(column.key)
        if role == Qt.ItemDataRole.DisplayRole:
            return _shown(kind, value)
        if role == Qt.ItemDataRole.ForegroundRole:
            return _colour(kind, value)
        if role == Qt.ItemDataRole.TextAlignmentRole and kind not in ("query", "id"):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            if kind == "query":
                return text.plain_tooltip(row.text)
            return text.plain_tooltip(f"{row.text}\n{column.title}: {_shown(kind, value)}")
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= len(self._columns):
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return heading(column.key, self._k)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _heading_tip(column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            left = kind_of(column.key) in ("query", "id")
            side = Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        return None


def heading(key: str, k: int) -> str:
    """A heading in two lines: the mode, and what of it."""
    kind, mode = kind_of(key), mode_of(key)
    if not mode:
        return {"query": "Query", "id": "Id", "graded": "Graded"}[kind]
    before, _, metric = kind.rpartition(":")
    if before:
        name = f"{METRIC_NAMES.get(metric, metric)}@{k}"
        what = {"value": name, "change": f"Δ\u00a0{name}", "condensed": f"{name} judged"}[before]
    else:
        what = {"rank": "rank", "unjudged": "unjudged", "judged": f"judged@{k}", "latency": "ms"}[kind]
    return f"{mode}\n{what}"


def _heading_tip(column: Column) -> str:
    mode = mode_of(column.key)
    kind = kind_of(column.key)
    if not mode:
        return {
            "query": "What was searched",
            "id": "The query's id",
            "graded": "Clips that carry a grade for it",
        }[kind]
    metric = kind.rpartition(":")[2]
    words = metric_tip(metric) if ":" in kind else OTHER_KINDS[kind]
    title = metric_title(column.title) if ":" in kind else column.title
    return f"{title}: {words}. {mode} is {MODE_TIPS[mode]}."


def _shown(kind: str, value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, str):
        return text.shown(value)
    if kind.startswith("change:"):
        return signed(value)
    if kind == "latency":
        return f"{value:.0f}"
    return number(value) if isinstance(value, float) else str(value)


def _colour(kind: str, value: Any) -> Any:
    if kind.startswith("change:"):
        return change_colour(value)
    if kind.startswith(("value:", "condensed:")):
        return quality_colour(value or 0.0)
    if kind == "rank":
        return theme.colour("dim" if value else "red")
    return None if kind == "query" else theme.colour("dim")
