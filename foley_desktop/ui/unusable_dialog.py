"""Files that could not be used or have gone, each with the reason in a sentence, to look at and try again."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.models import Clip
from foley_desktop.ui import buttons, tables, text, theme

Unusable = Sequence[tuple[Clip, str]]

_TITLES = ("File", "Why it could not be used", "Folder")
_WIDTHS = (210, 500, 180)
_NOTHING = "Every file of the library can be used."


class UnusableDialog(QDialog):
    """A table of files and reasons; nothing in it changes a file."""

    reveal_wanted = Signal(str)
    retry_wanted = Signal(list)
    """Clips that are to be read again."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("unusable_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Files that could not be used")
        self._found: list[tuple[Clip, str]] = []
        self.heading = buttons.words("Reading …", "title")
        self.narrow = QLineEdit()
        self.narrow.setObjectName("unusable_narrow")
        self.narrow.setPlaceholderText("Narrow by name, folder or reason")
        self.narrow.setFixedWidth(260)
        self.narrow.textChanged.connect(lambda _: self._hide_rows())
        self.table = QTableWidget(0, len(_TITLES))
        self.table.setObjectName("unusable_table")
        self._dress()
        self.reveal = buttons.push("Show in file manager", "Where the selected file is", self._on_reveal)
        self.retry = buttons.push(
            "Try again",
            "Read the selected files again, or all if none is selected",
            self._on_retry,
            "primary",
        )
        self.retry.setObjectName("unusable_retry")
        self.copy = buttons.push("Copy the list", "Copies paths and reasons as a table", self._on_copy)
        self._lay_out()

    def _dress(self) -> None:
        table = self.table
        table.setHorizontalHeaderLabels(list(_TITLES))
        tables.of_rows(table).setDefaultAlignment(tables.LEFT)
        for number, width in enumerate(_WIDTHS):
            table.setColumnWidth(number, width)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        table.itemSelectionChanged.connect(self._update_buttons)
        table.itemDoubleClicked.connect(lambda _: self._on_reveal())

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self.heading, 1)
        head.addWidget(self.narrow)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.copy)
        line.addStretch(1)
        line.addWidget(self.reveal)
        line.addWidget(self.retry)
        line.addWidget(buttons.push("Close", "Close", self.accept))
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(9)
        column.addLayout(head)
        column.addWidget(self.table, 1)
        column.addLayout(line)
        self.resize(QSize(940, 520))

    def show_files(self, found: Unusable) -> None:
        """Fills the table anew."""
        self._found = list(found)
        self.table.setRowCount(len(found))
        for row, (clip, sentence) in enumerate(found):
            for column, words in enumerate((text.file_name(clip), text.shown(sentence), text.folder(clip))):
                item = QTableWidgetItem(words)
                item.setToolTip(text.plain_tooltip(f"{clip.path}\n{sentence}"))
                if column:
                    item.setForeground(theme.colour("text" if column == 1 else "dim"))
                self.table.setItem(row, column, item)
        refused = sum(clip.status == "rejected" for clip, _ in found)
        gone = len(found) - refused
        parts = [f"{text.plural(refused, 'file')} could not be used"] if refused else []
        parts += [f"{text.plural(gone, 'sound')} gone"] if gone else []
        self.heading.setText(", ".join(parts) or _NOTHING)
        self._hide_rows()
        self._update_buttons()

    def _hide_rows(self) -> None:
        words = self.narrow.text().casefold().split()
        for row, (clip, sentence) in enumerate(self._found):
            hay = f"{text.shown(clip.rel_path)} {sentence}".casefold()
            self.table.setRowHidden(row, not all(word in hay for word in words))

    def _chosen(self) -> list[Clip]:
        """The selected files, or all that are shown."""
        rows = sorted({index.row() for index in self.table.selectionModel().selectedRows()})
        rows = rows or [row for row in range(len(self._found)) if not self.table.isRowHidden(row)]
        return [self._found[row][0] for row in rows]

    def _update_buttons(self) -> None:
        selected = len(self.table.selectionModel().selectedRows())
        self.reveal.setEnabled(selected == 1)
        self.retry.setEnabled(bool(self._found))
        self.copy.setEnabled(bool(self._found))
        several = f"Try {selected} again" if selected > 1 else "Try again"
        self.retry.setText(several if selected else "Try all again")

    def _on_reveal(self) -> None:
        chosen = self._chosen()
        if chosen:
            self.reveal_wanted.emit(chosen[0].path)

    def _on_retry(self) -> None:
        chosen = self._chosen()
        if chosen:
            self.retry.setEnabled(False)
            self.retry_wanted.emit(chosen)

    def _on_copy(self) -> None:
        lines = [f"{text.shown(clip.path)}\t{text.shown(sentence)}" for clip, sentence in self._found]
        QGuiApplication.clipboard().setText("\n".join(lines))
        self.copy.setText("Copied")
