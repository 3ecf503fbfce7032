"""What the tests of the relevance lab's window share: the window on the lab's made-up library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QFileDialog, QMenu, QPushButton
from ui_support import WAIT_MS, Desk

from foley_desktop.ui.menu_button import MenuButton
from foley_desktop.ui.prompt import LineDialog

BROKEN = {"keyword": 0.0, "semantic": 0.0, "audio": 1.0}
"""A fusion that finds next to nothing: hashed sound knows no meaning."""


class LabWindow(Desk):
    """A window with the lab in front, and short words for what a user does there."""

    def __init__(self, qtbot: Any, library: Path) -> None:
        super().__init__(qtbot, library)
        self.window.search_bar.evaluation_button.setChecked(True)
        self.window.evaluation.show_lab(self.panel)
        self.settle()

    @property
    def desk(self) -> Any:
        return self.window.lab.desk

    @property
    def panel(self) -> Any:
        return self.window.lab.panel

    @property
    def grading(self) -> Any:
        return self.window.lab.grading

    @property
    def shelf(self) -> Any:
        return self.desk.shelf

    def settle(self) -> None:
        """Until everything that was asked of the lab has been done and shown."""
        for _ in range(2):  # an answer may ask once more
            done: list[object] = []
            self.window.runner.lab.slip_in(lambda: None, done.append)
            self.wait(lambda done=done: done)

    def take_set(self, golden: Any) -> str:
        """Puts a golden set into the library and in hand."""
        info = self.service.lab.sets.add(golden)
        self.desk.choose_set(info.id)
        self.settle()
        assert self.shelf.current.id == info.id
        return info.id

    def measure(self, timeout_ms: int = WAIT_MS) -> Any:
        """Presses Measure and waits for what comes of it."""
        before = self.desk.measurement
        self.find("lab_measure").click()
        line = self.panel.setup.line
        self.wait(lambda: self.desk.measurement is not before and not line.running, timeout_ms)
        self.idle()
        self.settle()
        return self.desk.measurement

    def use_fusion(self, weights: dict[str, float]) -> None:
        self.service.settings.fusion_weights = dict(weights)
        self.desk.refresh()
        self.settle()

    def entry(self, button: str, words: str) -> QAction:
        """An entry of a menu button's menu."""
        found = self.find(button)
        assert isinstance(found, MenuButton)
        return entry_of(found.make_menu(), words)

    def do(self, button: str, words: str) -> None:
        """Chooses an entry of a menu button's menu."""
        action = self.entry(button, words)
        assert action.isEnabled()
        action.trigger()

    def answer_line(self, words: str) -> None:
        """Types into the dialog that asks for a line, and confirms."""
        dialogs = self.window.findChildren(LineDialog)
        dialogs = [dialog for dialog in dialogs if dialog.isVisible()]
        dialogs[-1].line.setText(words)
        dialogs[-1].accept_button.click()
        self.settle()

    def answer(self, label: str) -> None:
        """Presses a button of the dialog that asks a question."""
        buttons = [
            b for d in self.window.findChildren(QDialog) if d.isVisible() for b in d.findChildren(QPushButton)
        ]
        next(button for button in buttons if button.text() == label).click()
        self.settle()

    def choose_file(self, path: Path) -> None:
        """Chooses a file or folder in the file dialog."""
        dialogs = [d for d in self.window.findChildren(QFileDialog) if d.isVisible()]
        dialogs[-1].fileSelected.emit(str(path))
        dialogs[-1].close()
        self.settle()

    def said(self) -> list[str]:
        """What the messages on the screen say."""
        return [toast.label.text() for toast in self.window.messages.toasts]

    def cells(self) -> dict[str, list[str]]:
        """The per-query table: ``{query id: [cell, ...]}``, in its order."""
        model = self.panel.queries.order
        rows = range(model.rowCount())
        return {
            model.index(row, 0).data(256): [
                model.index(row, column).data() for column in range(model.columnCount())
            ]
            for row in rows
        }


def entry_of(menu: QMenu, words: str) -> QAction:
    """A menu's entry by its words."""
    return next(action for action in menu.actions() if action.text() == words)
