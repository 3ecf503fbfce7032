"""Which column of a list means what: a row for each column, with some of its cells and a choice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QHeaderView, QTableWidget, QTableWidgetItem

from foley_desktop.library.list_fields import FILE_NAME, PATH
from foley_desktop.library.lists import SoundList
from foley_desktop.ui import buttons, text, theme

NOTHING = "—"
_HEADINGS = ("Column in the list", "Some of its cells", "Is taken as")


class MappingTable(QTableWidget):
    """``changed`` comes when another meaning is chosen. Each meaning is given to one column at most."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__(0, len(_HEADINGS))
        self.setObjectName("list_mapping")
        self.setHorizontalHeaderLabels(list(_HEADINGS))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(34)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Fixed)
        self.setColumnWidth(0, 210)
        self.setColumnWidth(2, 210)
        self._choices: list[QComboBox] = []

    def show_list(self, sounds: SoundList, fields: Sequence[tuple[str, str]]) -> None:
        """The columns of a list, each with what it is taken for by itself."""
        self._choices = []
        self.setRowCount(len(sounds.columns))
        for row, column in enumerate(sounds.columns):
            self.setItem(row, 0, QTableWidgetItem(text.shown(column.heading, 80) or f"Column {row + 1}"))
            cells = QTableWidgetItem(text.shown("  ·  ".join(column.samples), 300))
            cells.setForeground(theme.colour("dim"))
            cells.setToolTip(text.plain_tooltip("\n".join(column.samples)))
            self.setItem(row, 1, cells)
            self.setCellWidget(row, 2, self._make_choice(row, column.field, fields))
        self._colour()

    def _make_choice(self, row: int, field: str, fields: Sequence[tuple[str, str]]) -> QComboBox:
        choice = buttons.Choice()
        choice.setObjectName(f"list_field_{row}")
        choice.setMaxVisibleItems(24)
        choice.addItem(NOTHING, "")
        for name, label in fields:
            choice.addItem(label, name)
        choice.setCurrentIndex(max(0, choice.findData(field)))
        choice.currentIndexChanged.connect(partial(self._on_choice, row))
        self._choices.append(choice)
        return choice

    def _on_choice(self, row: int, _: int) -> None:
        wanted = self._choices[row].currentData()
        for other, choice in enumerate(self._choices):
            if other != row and wanted and choice.currentData() == wanted:
                choice.blockSignals(True)
                choice.setCurrentIndex(0)
                choice.blockSignals(False)
        self._colour()
        self.changed.emit()

    def _colour(self) -> None:
        """Columns that are taken stand out; those that find the sounds most of all."""
        for row, choice in enumerate(self._choices):
            item = self.item(row, 0)
            field = choice.currentData()
            shade = "accent" if field in (FILE_NAME, PATH) else "text" if field else "faint"
            if item is not None:
                item.setForeground(theme.colour(shade))

    @property
    def mapping(self) -> dict[int, str]:
        """Our fields by the number of the column."""
        return {n: choice.currentData() for n, choice in enumerate(self._choices) if choice.currentData()}

    def choice(self, row: int) -> QComboBox:
        """The choice of a column."""
        return self._choices[row]
