"""The import of another librarian's list: how it is read, what its columns mean, and what would change."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QSplitter,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.errors import FoleyError
from foley_desktop.library.lists import Change, ListPreview, SoundList
from foley_desktop.ui import buttons, tables, text, theme
from foley_desktop.ui.list_mapping import MappingTable
from foley_desktop.workers.list_jobs import DELIMITER_NAMES, ENCODINGS

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
_TITLES = ("Sound", "Field", "Now", "From the list")
_WIDTHS = (240, 120, 260, 260)


class ChangesModel(QAbstractTableModel):
    """What would change, value by value; what replaces other words is marked."""

    def __init__(self, labels: dict[str, str]) -> None:
        super().__init__()
        self._labels = labels
        self.changes: Sequence[Change] = ()

    def show_changes(self, changes: Sequence[Change]) -> None:
        self.beginResetModel()
        self.changes = changes
        self.endResetModel()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.changes)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(_TITLES)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _TITLES[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        change = self.changes[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            label = self._labels.get(change.field, change.field)
            cells = (text.file_name(change.clip), label, change.before or "—", change.after)
            return text.shown(cells[index.column()], 300)
        if role == Qt.ItemDataRole.ForegroundRole:
            if index.column() == 2:
                return theme.colour("amber" if change.replaces else "faint")
            return theme.colour("dim") if index.column() == 1 else None
        if role == Qt.ItemDataRole.ToolTipRole:
            place = text.shown(change.clip.rel_path)
            return text.plain_tooltip(f"{place}\nNow: {change.before or 'nothing'}\nThen: {change.after}")
        return None


class ListDialog(QDialog):
    """Shows and asks; reading and looking are done by whoever hears its signals."""

    reading_wanted = Signal(str, str)
    """The list is to be read again in this encoding and with this delimiter."""
    preview_wanted = Signal()
    import_wanted = Signal()

    def __init__(self, parent: QWidget, sounds: SoundList, fields: Sequence[tuple[str, str]]) -> None:
        super().__init__(parent)
        self.setObjectName("list_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Import a list")
        self._fields = fields
        self.sounds = sounds
        self.found = ListPreview()
        self.encoding = self._choice("list_encoding", ENCODINGS, "How the letters of the file are written")
        self.delimiter = self._choice("list_delimiter", DELIMITER_NAMES, "What stands between two cells")
        self.size_words = buttons.words("", "dim")
        self.table = MappingTable()
        self.model = ChangesModel(dict(fields))
        self.changes = self._make_changes()
        self.unmatched, self.several = self._lines(), self._lines()
        self.tabs = QTabWidget()
        self.tabs.setObjectName("list_tabs")
        self.replace_words = QCheckBox("Replace words that are there")
        self.replace_words.setObjectName("list_replace")
        self.replace_words.setToolTip("Off, only fields that are empty are filled")
        self.replace_words.setChecked(True)
        self.for_several = QCheckBox("Rows that fit several sounds are for all of them")
        self.for_several.setObjectName("list_several")
        self.for_several.setToolTip("Off, such rows are passed over")
        self.for_several.setChecked(True)
        self.summary = buttons.words("", wrap=True)
        self.summary.setObjectName("list_summary")
        self.accept_button = buttons.push("Import", "Set these words in the catalog; no file is touched",
                                          self.import_wanted.emit, "primary")  # fmt: skip
        self.accept_button.setObjectName("list_import")
        self._lay_out()
        self._connect()
        self.show_list(sounds)

    @staticmethod
    def _choice(name: str, entries: Sequence[tuple[str, str]], tip: str) -> QComboBox:
        choice = buttons.Choice()
        choice.setObjectName(name)
        choice.setToolTip(tip)
        for value, label in entries:
            choice.addItem(label, value)
        return choice

    @staticmethod
    def _lines() -> QPlainTextEdit:
        lines = QPlainTextEdit()
        lines.setReadOnly(True)
        lines.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        return lines

    def _make_changes(self) -> QTableView:
        view = QTableView()
        view.setObjectName("list_changes")
        view.setModel(self.model)
        header = tables.of_rows(view)
        header.setDefaultAlignment(tables.LEFT)
        header.setStretchLastSection(True)
        for number, width in enumerate(_WIDTHS[:-1]):
            view.setColumnWidth(number, width)
        return view

    def _lay_out(self) -> None:
        title = f"Import {text.shown(os.path.basename(self.sounds.path), 80)}"
        how = QHBoxLayout()
        how.setSpacing(8)
        for label, widget in (("Letters", self.encoding), ("Separator", self.delimiter)):
            how.addWidget(buttons.words(label, "dim"))
            how.addWidget(widget)
        how.addSpacing(8)
        how.addWidget(self.size_words)
        how.addStretch(1)
        self.tabs.addTab(self.changes, "Changes")
        self.tabs.addTab(self.unmatched, "Not found")
        self.tabs.addTab(self.several, "Several sounds")
        halves = QSplitter(Qt.Orientation.Vertical)
        halves.addWidget(self.table)
        halves.addWidget(self.tabs)
        halves.setChildrenCollapsible(False)
        halves.setSizes([240, 240])
        options = QHBoxLayout()
        options.setSpacing(18)
        options.addWidget(self.replace_words)
        options.addWidget(self.for_several)
        options.addStretch(1)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.summary, 1)
        line.addWidget(buttons.push("Cancel", "Change nothing", self.reject))
        line.addWidget(self.accept_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(9)
        column.addWidget(buttons.words(title, "title", wrap=True))
        column.addLayout(how)
        column.addWidget(halves, 1)
        column.addLayout(options)
        column.addLayout(line)
        self.resize(QSize(940, 640))

    def _connect(self) -> None:
        for choice in (self.encoding, self.delimiter):
            choice.activated.connect(
                lambda _: self.reading_wanted.emit(self.encoding.currentData(), self.delimiter.currentData())
            )
        self.table.changed.connect(self._ask)
        self.replace_words.toggled.connect(lambda _: self._ask())
        self.for_several.toggled.connect(lambda _: self._ask())

    def _ask(self) -> None:
        self.accept_button.setEnabled(False)
        self.preview_wanted.emit()

    # --- showing

    def show_list(self, sounds: SoundList) -> None:
        """The list as it was read, with what its columns are taken for."""
        self.sounds = sounds
        for choice, value in ((self.encoding, sounds.encoding), (self.delimiter, sounds.delimiter)):
            choice.setCurrentIndex(max(0, choice.findData(value)))
        rows, columns = text.plural(len(sounds.rows), "row"), text.plural(len(sounds.columns), "column")
        self.size_words.setText(f"{rows}, {columns}")
        self.table.show_list(sounds, self._fields)
        self._ask()

    def show_preview(self, found: ListPreview) -> None:
        """What would change."""
        self.found = found
        # What replaces other words stands first: it is what deserves a look.
        self.model.show_changes(sorted(found.changes, key=lambda change: not change.replaces))
        rows = text.plural(len(self.sounds.rows), "row")
        self.tabs.setTabText(0, f"Changes  {text.count(len(found.changes))}")
        self.tabs.setTabText(1, f"Not found  {text.count(len(found.unmatched))}")
        self.tabs.setTabText(2, f"Several sounds  {text.count(found.ambiguous)}")
        self._fill(self.unmatched, found.unmatched, "Every row is about a sound of the library.")
        named = [f"{name}  –  {text.plural(count, 'sound')}" for name, count in found.several]
        self._fill(self.several, named, "Every row is about one sound at most.")
        words = [f"{text.count(found.matched)} of {rows} found."]
        if found.changes:
            values, clips = text.plural(len(found.changes), "value"), text.plural(found.clips, "sound")
            words.append(f"{values} would be set in {clips}.")
            if found.conflicts:
                verb = "replaces" if found.conflicts == 1 else "replace"
                words.append(f"{text.count(found.conflicts)} of them {verb} other words.")
        else:
            words.append("Nothing would change.")
        self._say(" ".join([*words, *found.notes[:3]]), good=True)
        self.accept_button.setEnabled(bool(found.changes))
        count = len(found.changes)
        self.accept_button.setText(f"Import {text.plural(count, 'value')}" if count else "Import")

    @staticmethod
    def _fill(lines: QPlainTextEdit, said: Sequence[str], nothing: str) -> None:
        lines.setPlainText("\n".join(text.shown(line) for line in said) or nothing)

    def show_error(self, error: FoleyError) -> None:
        """Why there is nothing to import as it is chosen now."""
        self.model.show_changes(())
        self.accept_button.setEnabled(False)
        self._say(f"{error.sentence} {error.hint}".strip(), good=False)

    def _say(self, words: str, *, good: bool) -> None:
        self.summary.setText(text.shown(words, 400))
        theme.mark(self.summary, "dim" if good else "wrong")
        self.summary.style().polish(self.summary)
