"""Tidying up the files that were made for drags: by size, by age, and never without showing what will go."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.library.spotted import TAKEN, Spot, surplus
from foley_desktop.ui import buttons, tables, text

DAY_S = 86400.0
MB = 1_000_000
COLUMNS = ("Goes", "File", "Project", "Taken", "Made", "Size")
_NOTHING = "No files were made for drags yet. Those that are appear here, to be looked through."


class HousekeepingDialog(QDialog):
    """Lists files and says which are to be deleted; it deletes nothing itself."""

    delete_wanted = Signal(list)
    """Spots whose files are to go."""
    show_wanted = Signal(str)

    def __init__(self, parent: QWidget, spots: Sequence[Spot]) -> None:
        super().__init__(parent)
        self.setObjectName("housekeeping_dialog")
        self.setWindowTitle("Tidy up spotted files")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(QSize(860, 520))
        self._spots: list[Spot] = []
        self.by_age = QCheckBox("Older than")
        self.days = QSpinBox()
        self.days.setRange(1, 3650)
        self.days.setValue(90)
        self.days.setSuffix(" days")
        self.by_size = QCheckBox("The oldest until the rest takes at most")
        self.megabytes = QSpinBox()
        self.megabytes.setRange(0, 10_000_000)
        self.megabytes.setValue(1000)
        self.megabytes.setSuffix(" MB")
        for check, spin, name in ((self.by_age, self.days, "days"), (self.by_size, self.megabytes, "size")):
            check.setObjectName(f"tidy_by_{name}")
            spin.setObjectName(f"tidy_{name}")
            spin.setMinimumWidth(96)
            spin.setAlignment(Qt.AlignmentFlag.AlignCenter)
            spin.setEnabled(False)
            check.toggled.connect(spin.setEnabled)
            check.toggled.connect(lambda _: self._mark())
            spin.valueChanged.connect(lambda _: self._mark())
        self.table = self._make_table()
        self.total = buttons.words("", "dim")
        self.empty = buttons.words(_NOTHING, "dim", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.delete = buttons.push("Delete", "Delete the ticked files for good", self._on_delete, "primary")
        self.delete.setObjectName("tidy_delete")
        self._lay_out()
        self.show_spots(spots)

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(0, len(COLUMNS))
        table.setObjectName("tidy_table")
        table.setHorizontalHeaderLabels(COLUMNS)
        header = tables.of_rows(table)
        header.setDefaultAlignment(tables.LEFT)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        for column, width in ((0, 52), (2, 130), (3, 74), (4, 92), (5, 86)):
            table.setColumnWidth(column, width)
        table.itemChanged.connect(lambda _: self._say_total())
        table.itemDoubleClicked.connect(lambda item: self.show_wanted.emit(self._spots[item.row()].file))
        return table

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 14)
        column.setSpacing(10)
        column.addWidget(buttons.words("Files that were made for drags", "title"))
        said = (
            "An editor's project may still refer to these files. Nothing goes by itself: tick what you are "
            "sure of. A double click shows a file in its folder."
        )
        column.addWidget(buttons.words(said, "dim", wrap=True))
        rules = QHBoxLayout()
        rules.setSpacing(8)
        rules.addWidget(QLabel("Tick:"))
        for widget in (self.by_age, self.days, self.by_size, self.megabytes):
            rules.addWidget(widget)
        rules.addStretch(1)
        column.addLayout(rules)
        column.addWidget(self.table, 1)
        column.addWidget(self.empty, 1)
        line = QHBoxLayout()
        line.addWidget(self.total, 1)
        line.addWidget(buttons.push("Close", "Delete nothing  (Esc)", self.reject))
        line.addWidget(self.delete)
        column.addLayout(line)

    def show_spots(self, spots: Sequence[Spot]) -> None:
        """The files there are, the oldest first."""
        self._spots = list(spots)
        self.table.setVisible(bool(spots))
        self.empty.setVisible(not spots)
        blocked = self.table.blockSignals(True)
        self.table.setRowCount(len(spots))
        for row, spot in enumerate(spots):
            cells = (
                "",
                text.shown(os.path.basename(spot.file), 200),
                text.shown(spot.project, 60),
                "yes" if spot.state == TAKEN else "offered",
                text.day(spot.at_s),
                size_words(spot.size),
            )
            for number, words in enumerate(cells):
                item = QTableWidgetItem(words)
                if number == 0:
                    item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable)
                    item.setCheckState(Qt.CheckState.Unchecked)
                if number == 5:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                item.setToolTip(text.plain_tooltip(spot.file))
                self.table.setItem(row, number, item)
        self.table.blockSignals(blocked)
        self._mark()

    def _mark(self) -> None:
        """Ticks what the two rules say."""
        most = self.megabytes.value() * MB if self.by_size.isChecked() else None
        older = time.time() - self.days.value() * DAY_S if self.by_age.isChecked() else None
        going = {spot.file for spot in surplus(self._spots, most, older)}
        blocked = self.table.blockSignals(True)
        for row, spot in enumerate(self._spots):
            state = Qt.CheckState.Checked if spot.file in going else Qt.CheckState.Unchecked
            self._tick(row).setCheckState(state)
        self.table.blockSignals(blocked)
        self._say_total()

    def going(self) -> list[Spot]:
        """What is ticked now."""
        return [
            spot
            for row, spot in enumerate(self._spots)
            if self._tick(row).checkState() == Qt.CheckState.Checked
        ]

    def _tick(self, row: int) -> QTableWidgetItem:
        item = self.table.item(row, 0)
        assert item is not None
        return item

    def _say_total(self) -> None:
        going = self.going()
        whole = size_words(sum(spot.size for spot in self._spots))
        self.total.setText(f"{text.plural(len(self._spots), 'file')}, {whole} in all" if self._spots else "")
        counted = f"{text.plural(len(going), 'file')}, {size_words(sum(spot.size for spot in going))}"
        self.delete.setText(f"Delete {counted}" if going else "Delete")
        self.delete.setEnabled(bool(going))

    def _on_delete(self) -> None:
        self.delete.setEnabled(False)
        self.delete_wanted.emit(self.going())


def size_words(size: int) -> str:
    """Bytes as people count them: ``12.3 MB``."""
    value = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("unreachable")
