"""How tables look and behave, said once: rows chosen whole, measures of queries, numbers in order."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from foley_desktop.ui import theme

SORT_ROLE = Qt.ItemDataRole.UserRole + 1
"""What a row is sorted by: a number, a text, or None where there is nothing."""
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

_EDIT = QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed


def of_rows(table: QTableView, *, several: bool = True, editable: bool = False, room: int = 0) -> QHeaderView:
    """Dresses a table whose rows are chosen whole.

    Tab leaves a table that is only read, and goes from cell to cell in one that is edited.

    Args:
        several: Whether more than one row can be chosen.
        editable: Whether cells are edited by a double click or F2.
        room: Pixels a row is higher than usual.

    Returns:
        Its headings.
    """
    modes = QAbstractItemView.SelectionMode
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(modes.ExtendedSelection if several else modes.SingleSelection)
    table.setEditTriggers(_EDIT if editable else QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(editable)
    table.setAlternatingRowColors(True)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(theme.ROW_HEIGHT + room)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    return header


def measures(
    name: str, model: QAbstractItemModel, chosen: Callable[[QModelIndex], object] | None = None
) -> QTableView:
    """A read-only table of rows that are chosen whole, sorted by a click on a heading.

    Args:
        name: The table's object name.
        chosen: Is called with an index of the row that is clicked or entered.
    """
    table = QTableView()
    table.setObjectName(name)
    table.setModel(model)
    header = of_rows(table, several=False)
    table.setSortingEnabled(True)
    table.setProperty("keeps_enter", True)
    table.setFont(theme.digits_font(table.font()))
    header.setSortIndicatorClearable(True)
    header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    if chosen is not None:
        table.clicked.connect(chosen)
        table.activated.connect(chosen)
    return table


class NumberOrder(QSortFilterProxyModel):
    """Sorts numbers as numbers; what there is none of comes last in both directions."""

    def __init__(self, source: QAbstractTableModel) -> None:
        super().__init__()
        self.setSortRole(SORT_ROLE)
        self.setSourceModel(source)

    def lessThan(
        self, left: QModelIndex | QPersistentModelIndex, right: QModelIndex | QPersistentModelIndex
    ) -> bool:
        one, other = left.data(SORT_ROLE), right.data(SORT_ROLE)
        if one is None or other is None:
            ascending = self.sortOrder() == Qt.SortOrder.AscendingOrder
            return (other is None and one is not None) == ascending if one is not other else False
        if one == other:
            return left.row() < right.row()
        return one < other
