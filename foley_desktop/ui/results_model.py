"""The rows of the results table: a lazy Qt model over rows that the search lane delivers.

The model never reads anything itself. It formats a cell when the view asks for it, sorts numbers as
numbers with unknown values last in both directions, and asks for the next page when the view gets
near the end of a long list.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from foley_desktop.models import Clip
from foley_desktop.ui import text
from foley_desktop.workers.jobs import Row

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()

ROW_ROLE = Qt.ItemDataRole.UserRole
SORT_ROLE = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its header, how a row is shown and sorted, and the catalog's name for the order.

    ``key`` gives None for what is unknown. ``order_by`` is empty where only loaded rows can be sorted.
    """

    name: str
    title: str
    tip: str
    show: Callable[[Row], str]
    key: Callable[[Row], Any]
    order_by: str = ""
    numeric: bool = False
    width: int = 80


def _fold(value: str) -> str | None:
    return value.casefold() or None


COLUMNS: tuple[Column, ...] = (
    Column(
        "rating",
        "★",
        "Favourite and rating (F, 0–5)",
        lambda row: "",
        lambda row: (row.clip.rating + 10 * row.clip.favourite) or None,
        "rating",
        True,
        92,
    ),
    Column(
        "name",
        "Name",
        "File name",
        lambda row: text.shown(row.label) if row.takes > 1 else text.file_name(row.clip),
        lambda row: _fold(row.clip.name),
        "name",
        width=204,
    ),
    Column(
        "wave",
        "Wave",
        "What the sound looks like; right-click any heading to choose the columns",
        lambda row: "",
        lambda row: None,
        width=104,
    ),
    Column(
        "category",
        "Category",
        "UCS category and subcategory",
        lambda row: text.category(row.clip),
        lambda row: _fold(f"{row.clip.category}\t{row.clip.subcategory}".strip()),
        "category",
        width=120,
    ),
    Column(
        "description",
        "Description",
        "What the file's own tags say",
        lambda row: text.description(row.clip),
        lambda row: _fold(row.clip.description or row.clip.title or row.clip.keywords),
        "description",
        width=150,
    ),
    Column(
        "duration",
        "Length",
        "Duration",
        lambda row: text.duration(row.clip.duration_s),
        lambda row: row.clip.duration_s,
        "duration",
        True,
        64,
    ),
    Column(
        "rate",
        "kHz",
        "Sample rate",
        lambda row: text.rate(row.clip.samplerate),
        lambda row: row.clip.samplerate,
        "rate",
        True,
        60,
    ),
    Column(
        "channels",
        "Ch",
        "Channels",
        lambda row: text.number(row.clip.channels),
        lambda row: row.clip.channels,
        "channels",
        True,
        34,
    ),
    Column(
        "depth",
        "Bit",
        "Bit depth",
        lambda row: text.number(row.clip.bit_depth),
        lambda row: row.clip.bit_depth,
        "depth",
        True,
        36,
    ),
    Column(
        "format",
        "Format",
        "File format",
        lambda row: text.shown(row.clip.format),
        lambda row: _fold(row.clip.format),
        "format",
        width=58,
    ),
    Column(
        "score",
        "Score",
        "How well it fits, and which ranker said so",
        lambda row: text.score(row.hit),
        lambda row: text.best_score(row.hit),
        "",
        True,
        104,
    ),
    Column(
        "time",
        "At",
        "Where in a long clip the search fits best; it opens there",
        lambda row: text.moment(row.hit),
        lambda row: text.moment_s(row.hit),
        "",
        True,
        56,
    ),
    Column(
        "used",
        "Used",
        "When it was last dragged, exported or sent, and how often",
        lambda row: text.used(row.clip),
        lambda row: row.clip.used_s,
        "used",
        width=84,
    ),
    Column(
        "folder",
        "Folder",
        "Folder below the root",
        lambda row: text.folder(row.clip),
        lambda row: _fold(os.path.dirname(row.clip.rel_path)),
        "folder",
        width=200,
    ),
)
BY_NAME = {column.name: number for number, column in enumerate(COLUMNS)}


def sorted_rows(rows: Iterable[Row], column: int, descending: bool) -> list[Row]:
    """``rows`` by one column; equal ones keep their order, unknown ones come last either way."""
    key = COLUMNS[column].key
    known: list[tuple[Any, Row]] = []
    unknown: list[tuple[Any, Row]] = []
    for row in rows:
        value = key(row)
        (unknown if value is None else known).append((value, row))
    known.sort(key=lambda pair: pair[0], reverse=descending)
    return [row for _, row in known] + [row for _, row in unknown]


class ResultsModel(QAbstractTableModel):
    """See the module. ``page_wanted(offset)`` and ``order_wanted(order_by, descending)`` are answered
    by whoever feeds the model."""

    page_wanted = Signal(int)
    order_wanted = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[Row] = []
        self._arrival: list[Row] = []
        self._by_id: dict[str, int] = {}
        self._more = False
        self._fetching = False
        self._sort: tuple[int, bool] | None = None
        self.playing_id = ""
        self.top_score = 1.0
        """The best score of the list: what a full score bar stands for."""

    # --- rows

    @property
    def rows(self) -> Sequence[Row]:
        return self._rows

    def clip_at(self, row: int) -> Clip | None:
        return self._rows[row].clip if 0 <= row < len(self._rows) else None

    def row_of(self, clip_id: str) -> int | None:
        return self._by_id.get(clip_id)

    def arrival_ids(self) -> list[str]:
        """The ids in the order they came in, whatever the table is sorted by."""
        return [row.clip.id for row in self._arrival]

    def set_rows(self, rows: Sequence[Row], more: bool = False, *, keep_sort: bool = False) -> None:
        """Replaces everything. Without ``keep_sort`` the rows stand as they came."""
        self.beginResetModel()
        self._arrival = list(rows)
        if not keep_sort:
            self._sort = None
        self._rows = self._in_order(self._arrival)
        self._more = more
        self._fetching = False
        scores = [score for row in rows if (score := text.best_score(row.hit)) is not None]
        self.top_score = max([score for score in scores if score > 0], default=1.0)
        self._reindex()
        self.endResetModel()

    def add_page(self, rows: Sequence[Row], more: bool) -> None:
        """Appends the next page of a long list; clips that are listed already are passed over."""
        fresh = [row for row in rows if row.clip.id not in self._by_id]
        self._more = more
        self._fetching = False
        if fresh:
            first = len(self._rows)
            self.beginInsertRows(NO_PARENT, first, first + len(fresh) - 1)
            self._rows.extend(fresh)
            self._arrival.extend(fresh)
            self._by_id.update({row.clip.id: first + number for number, row in enumerate(fresh)})
            self.endInsertRows()

    def page_failed(self) -> None:
        self._fetching = False
        self._more = False

    def refresh_rows(self, rows: Sequence[Row]) -> None:
        """Takes new values for rows that are listed; nothing moves, nothing is added."""
        fresh = {row.clip.id: row for row in rows}
        self._replace(lambda row: fresh.get(row.clip.id, row))

    def change_clips(self, ids: Iterable[str], **changes: Any) -> None:
        """Shows changed fields of clips at once; the catalog is written elsewhere."""
        wanted = set(ids)
        self._replace(
            lambda row: replace(row, clip=replace(row.clip, **changes)) if row.clip.id in wanted else row
        )

    def set_playing(self, clip_id: str) -> None:
        """Marks the row that is heard."""
        if clip_id == self.playing_id:
            return
        old, self.playing_id = self.playing_id, clip_id
        for row in (self._by_id.get(old), self._by_id.get(clip_id)):
            if row is not None:
                self.dataChanged.emit(self.index(row, 0), self.index(row, len(COLUMNS) - 1))

    def _replace(self, change: Callable[[Row], Row]) -> None:
        changed = {id(row): change(row) for row in self._rows}
        self._arrival = [changed.get(id(row), row) for row in self._arrival]
        self._rows = [changed[id(row)] for row in self._rows]
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(COLUMNS) - 1))

    def _in_order(self, rows: list[Row]) -> list[Row]:
        return list(rows) if self._sort is None else sorted_rows(rows, *self._sort)

    def _reindex(self) -> None:
        self._by_id = {row.clip.id: number for number, row in enumerate(self._rows)}

    # --- sorting

    @property
    def sorting(self) -> tuple[int, bool] | None:
        """Column and direction the rows are sorted by here; None for the order they came in."""
        return self._sort

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sorts by ``column``; -1 brings back the order of arrival."""
        descending = order == Qt.SortOrder.DescendingOrder
        if self._more:
            # Not all is loaded: only the catalog knows what comes first.
            order_by = COLUMNS[column].order_by if column >= 0 else "name"
            if order_by:
                self.order_wanted.emit(order_by, descending and column >= 0)
            return
        self._sort = (column, descending) if column >= 0 else None
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        kept = [(index, self._rows[index.row()].clip.id) for index in old]
        self._rows = self._in_order(self._arrival)
        self._reindex()
        new = [self.index(self._by_id[clip_id], index.column()) for index, clip_id in kept]
        self.changePersistentIndexList(old, new)
        self.layoutChanged.emit()

    # --- what Qt asks

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and self._more and not self._fetching

    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            self._fetching = True
            self.page_wanted.emit(len(self._rows))

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row, column = self._rows[index.row()], COLUMNS[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.show(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return text.plain_tooltip(self._tip(row, column))
        if role == Qt.ItemDataRole.TextAlignmentRole and column.numeric:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == ROW_ROLE:
            return row
        if role == SORT_ROLE:
            return column.key(row)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section].title
        if role == Qt.ItemDataRole.ToolTipRole:
            return COLUMNS[section].tip
        if role == Qt.ItemDataRole.TextAlignmentRole:
            column = COLUMNS[section]
            right = column.numeric and column.name != "rating"
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    @staticmethod
    def _tip(row: Row, column: Column) -> str:
        if column.name == "score":
            return text.why(row.hit)
        if column.name == "rating":
            return f"{row.clip.rating} of 5" + (", a favourite" if row.clip.favourite else "")
        if column.name == "used":
            return text.used_tip(row.clip)
        if column.name in ("name", "folder"):
            lines = [row.clip.path]
            if row.takes > 1:
                lines.append(f"the best of {row.takes} takes; the menu shows them all")
            if row.clip.badges:
                lines.append("note: " + ", ".join(badge.replace("_", " ") for badge in row.clip.badges))
            return "\n".join(lines)
        return column.show(row) if column.name in ("description", "category") else ""
