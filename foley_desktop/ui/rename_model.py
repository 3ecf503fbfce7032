"""The preview of a batch of new names as a table: old name, new name, and what is to be said about it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from foley_desktop.library.renaming import Row
from foley_desktop.library.ucs_names import UcsFileName
from foley_desktop.ui import text, theme

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
OLD, NEW, REMARK = range(3)
_HEADS = ("Now", "New name", "Remark")


class RenameModel(QAbstractTableModel):
    """``named(clip_id, name)`` comes when the user gives a name by hand; an empty one takes it back."""

    named = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self._all: list[Row] = []
        self._rows: list[Row] = []
        self._made: dict[str, UcsFileName] = {}
        self._own: frozenset[str] = frozenset()
        self._only_problems = False

    # --- rows

    @property
    def rows(self) -> Sequence[Row]:
        """What is listed."""
        return self._rows

    def show_rows(self, rows: Sequence[Row], made: dict[str, UcsFileName], own: frozenset[str]) -> None:
        """Shows a plan; ``own`` are the clips whose names were given by hand."""
        self.beginResetModel()
        self._all, self._made, self._own = list(rows), made, own
        self._rows = self._listed()
        self.endResetModel()

    def show_only_problems(self, only: bool) -> None:
        self.beginResetModel()
        self._only_problems = only
        self._rows = self._listed()
        self.endResetModel()

    def _listed(self) -> list[Row]:
        if not self._only_problems:
            return list(self._all)
        return [row for row in self._all if row.problems or self._lacks(row)]

    def _lacks(self, row: Row) -> tuple[str, ...]:
        found = self._made.get(row.clip_id)
        return found.lacks if found is not None and row.clip_id not in self._own else ()

    def remark(self, row: Row) -> tuple[str, str]:
        """What is to be said about a row, and the colour for it."""
        if row.problems:
            return " ".join(row.problems), "red"
        if lacks := self._lacks(row):
            return " ".join(lacks), "amber"
        if row.unchanged:
            return "stays as it is", "faint"
        if row.case_only:
            return "only the case changes", "accent"
        if row.companions:
            beside = ", ".join(os.path.splitext(old)[1] for old, _ in row.companions)
            return f"together with its {beside}", "dim"
        return "", "dim"

    # --- what Qt asks

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(_HEADS)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == NEW else flags

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _HEADS[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.EditRole:
            return text.shown(row.new_name)
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.colour(self._shade(row, column))
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        words = (row.name, row.new_name, self.remark(row)[0])[column]
        if role == Qt.ItemDataRole.DisplayRole:
            return text.shown(words)
        return text.plain_tooltip(row.path if column == OLD else words)

    def _shade(self, row: Row, column: int) -> str:
        if column == REMARK:
            return self.remark(row)[1]
        if column == OLD:
            return "dim"
        if row.problems:
            return "red"
        return "faint" if row.unchanged else "text"

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row = self._rows[index.row()]
        name = str(value).strip()
        if name == text.shown(row.new_name):
            return False
        # An ending that was typed away by mistake is not meant.
        ending = os.path.splitext(row.name)[1]
        if name and not name.casefold().endswith(ending.casefold()):
            name += ending
        self.named.emit(row.clip_id, name)
        return True
