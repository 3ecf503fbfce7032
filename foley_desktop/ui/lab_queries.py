"""The per-query table with its filter, its choice of columns, and copying."""

from __future__ import annotations

from functools import partial
from typing import cast

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.library import lab_table
from foley_desktop.library.lab_table import QueryRow
from foley_desktop.ui import buttons, tables, text
from foley_desktop.ui.lab_model import (
    DEFAULT_KINDS,
    FILTERS,
    METRIC_KINDS,
    OTHER_KINDS,
    QUERY_ROLE,
    QueriesModel,
    arrange,
    chosen_rows,
    kind_of,
)
from foley_desktop.ui.lab_words import METRIC_NAMES, View
from foley_desktop.ui.menu_button import MenuButton
from foley_desktop.workers.lab_jobs import Measurement

_NARROW, _WIDE, _QUERY = 70, 78, 190


class QueriesPanel(QWidget):
    """``query_chosen(id)`` when the user moves to a query; ``wanted(name, id)`` from its context menu."""

    query_chosen = Signal(str)
    wanted = Signal(str, str)
    judged_only_changed = Signal(bool)
    copied = Signal(str)
    """What has been put on the clipboard, in words."""
    text_wanted = Signal(str)
    """A text that somebody else makes is to be copied: ``diff`` or ``means``."""

    def __init__(self) -> None:
        super().__init__()
        self._measurement: Measurement | None = None
        self._view = View()
        self._quiet = False
        self.kinds = set(DEFAULT_KINDS)
        self.model = QueriesModel()
        self.order = tables.NumberOrder(self.model)
        self.filter = buttons.Choice()
        self.filter.setObjectName("lab_filter")
        self.filter.setToolTip("Which queries are listed")
        self.filter.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.filter.setMinimumContentsLength(5)
        for name, label, tip in FILTERS:
            self.filter.addItem(label, name)
            self.filter.setItemData(self.filter.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.filter.activated.connect(lambda _: self._fill())
        self.count = buttons.words("", "dim")
        self.count.setObjectName("lab_count")
        self.judged_only = QCheckBox("Judged only")
        self.judged_only.setObjectName("lab_judged_only")
        self.judged_only.setToolTip(
            "Leave clips that nobody has graded out of every list before it is scored"
        )
        self.judged_only.toggled.connect(self.judged_only_changed)
        self.columns_button = MenuButton("Columns", "Which columns are shown", self._fill_columns)
        self.columns_button.setObjectName("lab_columns")
        self.copy_button = MenuButton(
            "Copy", "Copy the table, the means, the regression diff", self._fill_copy
        )
        self.copy_button.setObjectName("lab_copy")
        self.table = self._make_table()
        line = QHBoxLayout()
        line.setSpacing(6)
        line.addWidget(self.filter, 1)
        line.addWidget(self.count)
        line.addWidget(self.judged_only)
        line.addWidget(self.columns_button)
        line.addWidget(self.copy_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(line)
        column.addWidget(self.table, 1)

    def _make_table(self) -> QTableView:
        table = tables.measures("lab_table", self.order)
        table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.customContextMenuRequested.connect(self._show_menu)
        table.selectionModel().currentRowChanged.connect(self._on_current)
        return table

    # --- what is shown

    def show_measurement(self, measurement: Measurement | None, view: View) -> None:
        self._measurement, self._view = measurement, view
        self.setEnabled(measurement is not None)
        self._fill()

    def set_filter(self, name: str) -> None:
        """Lists other queries."""
        self.filter.setCurrentIndex(self.filter.findData(name))
        self._fill()

    def toggle_kind(self, kind: str) -> None:
        """Shows a kind of column, or hides it."""
        self.kinds ^= {kind}
        self._fill()

    def select_query(self, query_id: str) -> None:
        """Brings a query into view and chooses it."""
        place = self.model.place_of(query_id)
        if place is None:
            self.set_filter("all")
            place = self.model.place_of(query_id)
        if place is not None:
            index = self.order.mapFromSource(self.model.index(place, 0))
            self.table.selectRow(index.row())
            self.table.scrollTo(index)

    def current_query(self) -> str:
        return self.table.currentIndex().data(QUERY_ROLE) or ""

    def _fill(self) -> None:
        measurement, view = self._measurement, self._view
        keys, kept = [column.key for column in self.model.columns], self.current_query()
        self._quiet = True
        if measurement is None:
            self.model.show_rows((), (), 10)
            self.count.setText("")
        else:
            name = cast(str, self.filter.currentData())
            rows = chosen_rows(measurement, view, name)
            columns = arrange(measurement, view, self.kinds)
            sort = self.table.horizontalHeader().sortIndicatorSection()
            if name != "all" or [column.key for column in columns] != keys:
                sort = -1
            self.model.show_rows(rows, columns, measurement.report.settings.k)
            if sort < 0:
                self.table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
            if [column.key for column in columns] != keys:
                self._size_columns()
            self.count.setText(f"{text.count(len(rows))} of {text.count(len(measurement.table))}")
            if kept and (place := self.model.place_of(kept)) is not None:
                self.table.selectRow(self.order.mapFromSource(self.model.index(place, 0)).row())
        self._quiet = False

    def _size_columns(self) -> None:
        for section, column in enumerate(self.model.columns):
            kind = kind_of(column.key)
            wide = ":" in kind or kind in ("unjudged", "judged")
            width = _QUERY if kind == "query" else _WIDE if wide else _NARROW
            self.table.setColumnWidth(section, width + 10 * kind.startswith("change:"))

    def _on_current(self, current: QModelIndex, previous: QModelIndex) -> None:
        query_id = current.data(QUERY_ROLE)
        if query_id and not self._quiet:
            self.query_chosen.emit(query_id)

    # --- menus

    def _fill_columns(self, menu: QMenu) -> None:
        metrics = self._measurement.report.settings.metrics if self._measurement else ()
        compared = bool(self._measurement and self._measurement.comparisons)
        for part, words in METRIC_KINDS.items():
            for metric in metrics if part != "change" or compared else ():
                self._add_kind(menu, f"{part}:{metric}", f"{METRIC_NAMES[metric]}{words}")
            menu.addSeparator()
        for kind, words in OTHER_KINDS.items():
            self._add_kind(menu, kind, words)

    def _add_kind(self, menu: QMenu, kind: str, words: str) -> None:
        action = menu.addAction(words, partial(self.toggle_kind, kind))
        action.setCheckable(True)
        action.setChecked(kind in self.kinds)

    def _fill_copy(self, menu: QMenu) -> None:
        menu.addAction("Table as CSV", self.copy_csv)
        menu.addAction("Table as Markdown", self.copy_markdown)
        menu.addSeparator()
        menu.addAction("Means as Markdown", lambda: self.text_wanted.emit("means"))
        diff = menu.addAction(f"Regression diff, {self._view.mode}", lambda: self.text_wanted.emit("diff"))
        diff.setEnabled(bool(self._measurement and self._view.mode in self._measurement.comparisons))

    def _show_menu(self, position: QPoint) -> None:
        query_id = self.table.indexAt(position).data(QUERY_ROLE)
        if not query_id:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Search for this query", partial(self.wanted.emit, "search", query_id))
        menu.addAction("Grade this query", partial(self.wanted.emit, "grade", query_id))
        menu.popup(self.table.viewport().mapToGlobal(position))

    # --- copying

    def shown_rows(self) -> list[QueryRow]:
        """The rows as they stand in the table, sorted and filtered."""
        places = [self.order.mapToSource(self.order.index(n, 0)).row() for n in range(self.order.rowCount())]
        return [self.model.row(place) for place in places]

    def copy_csv(self) -> None:
        QGuiApplication.clipboard().setText(lab_table.to_csv(self.shown_rows(), self.model.columns))
        self.copied.emit(f"{text.plural(self.order.rowCount(), 'row')} copied as CSV.")

    def copy_markdown(self) -> None:
        QGuiApplication.clipboard().setText(lab_table.to_markdown(self.shown_rows(), self.model.columns))
        self.copied.emit(f"{text.plural(self.order.rowCount(), 'row')} copied as Markdown.")
