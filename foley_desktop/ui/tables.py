"""The table of measures, made once for every panel that lists queries and their metrics."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QTableView

from foley_desktop.ui import theme


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
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setAlternatingRowColors(True)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.setSortingEnabled(True)
    table.setProperty("keeps_enter", True)
    table.setFont(theme.digits_font(table.font()))
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(theme.ROW_HEIGHT)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setSortIndicatorClearable(True)
    header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    if chosen is not None:
        table.clicked.connect(chosen)
        table.activated.connect(chosen)
    return table
