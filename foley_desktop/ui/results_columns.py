"""Which columns of the results are shown: a menu on the table's header."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QMenu

from foley_desktop.ui.results_model import BY_NAME, COLUMNS
from foley_desktop.ui.results_view import ResultsView

_ALWAYS = frozenset({"name"})


class ColumnMenu(QObject):
    """Owned by the view. What is hidden is kept with the header's state."""

    def __init__(self, view: ResultsView) -> None:
        super().__init__(view)
        self._view = view
        header = view.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._show)

    def build(self) -> QMenu:
        """The menu: a tick for each column that is shown."""
        menu = QMenu(self._view)
        header = self._view.horizontalHeader()
        order = sorted(range(len(COLUMNS)), key=header.visualIndex)
        for number in order:
            column = COLUMNS[number]
            action = menu.addAction("Rating" if column.name == "rating" else column.title)
            action.setCheckable(True)
            action.setChecked(not header.isSectionHidden(number))
            action.setEnabled(column.name not in _ALWAYS)
            action.toggled.connect(partial(self.set_shown, column.name))
        return menu

    def set_shown(self, name: str, shown: bool) -> None:
        """Shows or hides a column."""
        self._view.horizontalHeader().setSectionHidden(BY_NAME[name], not shown)

    def _show(self, position: QPoint) -> None:
        menu = self.build()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self._view.horizontalHeader().mapToGlobal(position))
