"""Former renamings: what each did, and the way back."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QPlainTextEdit,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.library.rename_log import Batch
from foley_desktop.ui import buttons, text

EMPTY = "Nothing has been renamed yet. What will be is listed here and can be taken back at any time."
CHOOSE = "Taking a batch back gives its files their former names, as a step of its own."
MOST_NAMES = 500


class RenameHistory(QDialog):
    """``reverse_wanted(log)`` asks for a batch to be taken back."""

    reverse_wanted = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("rename_history")
        self.setWindowTitle("Rename history")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(QSize(760, 500))
        self._batches: list[Batch] = []
        self.words = buttons.words("Reading …", "dim", wrap=True)
        self.list = QTreeWidget()
        self.list.setObjectName("rename_batches")
        self.list.setHeaderLabels(["When", "Files", "First of them"])
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.list.setColumnWidth(0, 140)
        self.list.setColumnWidth(1, 60)
        self.list.currentItemChanged.connect(lambda *_: self._show())
        self.names = QPlainTextEdit()
        self.names.setReadOnly(True)
        self.names.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.back = buttons.push(
            "Take back", "Give the files of this batch their former names", self._on_back, "primary"
        )
        self.back.setObjectName("rename_back")
        self.back.setEnabled(False)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(self.list)
        split.addWidget(self.names)
        split.setChildrenCollapsible(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 14)
        column.setSpacing(9)
        column.addWidget(buttons.words("Rename history", "title"))
        column.addWidget(self.words)
        column.addWidget(split, 1)
        line = QHBoxLayout()
        line.addStretch(1)
        line.addWidget(buttons.push("Close", "Close", self.reject))
        line.addWidget(self.back)
        column.addLayout(line)

    def show_batches(self, batches: Sequence[Batch]) -> None:
        """What was read from the logs."""
        self._batches = list(batches)
        self.list.clear()
        for batch in batches:
            old, new = batch.names[0] if batch.names else ("", "")
            first = f"{text.shown(old, 80)}  →  {text.shown(new, 80)}"
            QTreeWidgetItem(self.list, [batch.at, text.count(batch.files), first])
        self.words.setText(CHOOSE if batches else EMPTY)
        if (first_item := self.list.topLevelItem(0)) is not None:
            self.list.setCurrentItem(first_item)
        self._show()

    def _current(self) -> Batch | None:
        item = self.list.currentItem()
        row = self.list.indexOfTopLevelItem(item) if item is not None else -1
        return self._batches[row] if 0 <= row < len(self._batches) else None

    def _show(self) -> None:
        batch = self._current()
        self.back.setEnabled(batch is not None)
        lines = [] if batch is None else [
            f"{text.shown(old)}  →  {text.shown(new)}" for old, new in batch.names[:MOST_NAMES]
        ]  # fmt: skip
        if batch is not None and batch.files > MOST_NAMES:
            lines.append(f"and {text.count(batch.files - MOST_NAMES)} more")
        self.names.setPlainText("\n".join(lines))

    def _on_back(self) -> None:
        batch = self._current()
        if batch is not None:
            self.accept()
            self.reverse_wanted.emit(batch.log)
