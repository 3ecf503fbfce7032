"""The copies of a delivery: which sound, under which name, and what stands against it."""

from __future__ import annotations

import os
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from foley_desktop.library.delivering import DeliveryPlan, Item
from foley_desktop.ui import icons, text, theme

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
SOUND, NAME, STATE = range(3)
_TITLES = ("Sound", "Name of the copy", "Check")


class DeliveryModel(QAbstractTableModel):
    """The items of a plan. A name can be typed; ``renamed(id, name)`` says so, "" for the made one."""

    renamed = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.items: tuple[Item, ...] = ()

    def show_plan(self, plan: DeliveryPlan) -> None:
        """The same sounds with other names keep their rows, and what is selected."""
        if [i.clip.id for i in plan.items] == [i.clip.id for i in self.items]:
            self.items = plan.items
            if self.items:
                self.dataChanged.emit(self.index(0, 0), self.index(len(self.items) - 1, STATE))
            return
        self.beginResetModel()
        self.items = plan.items
        self.endResetModel()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.items)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(_TITLES)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _TITLES[section]
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == NAME else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        item, column = self.items[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            cells = (text.file_name(item.clip), text.shown(item.name), _check(item))
            return cells[column]
        if role == Qt.ItemDataRole.EditRole and column == NAME:
            return item.name
        if role == Qt.ItemDataRole.DecorationRole and column == STATE:
            name, shade = ("warning", "red") if item.problems else ("check", "accent")
            return icons.icon(name, theme.colour(shade))
        if role == Qt.ItemDataRole.ForegroundRole:
            if column == STATE:
                return theme.colour("red" if item.problems else "dim")
            return theme.colour("dim") if column == SOUND else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return text.plain_tooltip("\n".join((item.clip.path, item.name, *item.problems, *item.remarks)))
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Takes a typed name; an empty one lets the made name count again."""
        item = self.items[index.row()]
        typed = str(value).strip()
        if role != Qt.ItemDataRole.EditRole or index.column() != NAME or typed == item.name:
            return False
        ending = os.path.splitext(item.clip.name)[1]
        if typed and not typed.lower().endswith(ending.lower()):
            typed += ending
        self.renamed.emit(item.clip.id, typed)
        return True


def _check(item: Item) -> str:
    return text.shown(" ".join(item.problems or item.remarks), 300) or "ready"
