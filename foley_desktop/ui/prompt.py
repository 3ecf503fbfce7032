"""Dialogs that ask for words. None of them blocks the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.ui import buttons, text


class LineDialog(QDialog):
    """Asks for one line, such as a name."""

    def __init__(
        self,
        parent: QWidget,
        title: str,
        sentence: str,
        value: str,
        accept: str,
        call: Callable[[str], object],
    ) -> None:
        super().__init__(parent)
        _prepare(self)
        self._call = call
        self.line = QLineEdit(value)
        self.line.setObjectName("prompt_line")
        self.line.setMinimumWidth(380)
        self.line.setMaxLength(200)
        self.line.selectAll()
        self.accept_button = buttons.push(accept, accept, self._accept, "primary")
        self.accept_button.setObjectName("prompt_accept")
        self.line.textChanged.connect(lambda value: self.accept_button.setEnabled(bool(value.strip())))
        self.accept_button.setEnabled(bool(value.strip()))
        self.line.returnPressed.connect(self._accept)
        column = _column(self, title, sentence)
        column.addWidget(self.line)
        column.addLayout(_answers(self, self.accept_button))
        self.line.setFocus()

    def _accept(self) -> None:
        value = self.line.text().strip()
        if value:
            self.accept()
            self._call(value)


class LinesDialog(QDialog):
    """Asks for any number of lines."""

    def __init__(
        self,
        parent: QWidget,
        title: str,
        sentence: str,
        accept: str,
        call: Callable[[list[str]], object],
        value: str = "",
    ) -> None:
        super().__init__(parent)
        _prepare(self)
        self.resize(QSize(560, 380))
        self._call = call
        self.body = QPlainTextEdit(value)
        self.body.setObjectName("prompt_lines")
        self.body.setTabChangesFocus(True)
        self.accept_button = buttons.push(accept, accept, self._accept, "primary")
        self.accept_button.setObjectName("prompt_accept")
        column = _column(self, title, sentence)
        column.addWidget(self.body, 1)
        column.addLayout(_answers(self, self.accept_button))
        self.body.setFocus()

    def _accept(self) -> None:
        lines = [line.strip() for line in self.body.toPlainText().splitlines()]
        self.accept()
        self._call([line for line in lines if line])


def _prepare(dialog: QDialog) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle("Foley Desktop")


def _column(dialog: QDialog, title: str, sentence: str) -> QVBoxLayout:
    column = QVBoxLayout(dialog)
    column.setContentsMargins(20, 18, 20, 14)
    column.setSpacing(9)
    column.addWidget(buttons.words(text.shown(title, 120), "title", wrap=True))
    if sentence:
        column.addWidget(buttons.words(text.shown(sentence, 400), "dim", wrap=True))
    return column


def _answers(dialog: QDialog, accept: QWidget) -> QHBoxLayout:
    line = QHBoxLayout()
    line.addStretch(1)
    line.addWidget(buttons.push("Cancel", "Change nothing", dialog.reject))
    line.addWidget(accept)
    return line


def ask_line(
    parent: QWidget, title: str, sentence: str, value: str, accept: str, call: Callable[[str], object]
) -> None:
    """Asks for one line and hands it to ``call``, unless the dialog is left."""
    LineDialog(parent, title, sentence, value, accept, call).open()


def ask_open(parent: QWidget, title: str, filters: list[str], call: Callable[[str], object]) -> None:
    """Asks for a file that is there."""
    dialog = QFileDialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    _ask(dialog, filters, call)


def ask_save(
    parent: QWidget, title: str, filters: list[str], name: str, call: Callable[[str], object]
) -> None:
    """Asks where to save a file. Its ending is the user's: it says the kind."""
    dialog = QFileDialog(parent, title)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.selectFile(name)
    _ask(dialog, filters, call)


def ask_folder(parent: QWidget, title: str, call: Callable[[str], object], start: str = "") -> None:
    """Asks for a folder; the dialog opens in ``start``, or where the last one was."""
    dialog = QFileDialog(parent, title, start)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
    _ask(dialog, [], call)


def _ask(dialog: QFileDialog, filters: list[str], call: Callable[[str], object]) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if filters:
        dialog.setNameFilters(filters)
    dialog.fileSelected.connect(call)
    dialog.open()
