"""The queries of a golden set, to be reworded or taken out. Nothing changes before it is confirmed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from foley_desktop.eval.golden import GoldenQuery
from foley_desktop.ui import buttons, text

ID_ROLE = Qt.ItemDataRole.UserRole
TEXT_ROLE = Qt.ItemDataRole.UserRole + 1


class QueriesDialog(QDialog):
    """``call(edited, removed)`` gets the new texts by query id and the ids that were taken out."""

    def __init__(
        self,
        parent: QWidget,
        queries: Sequence[GoldenQuery],
        call: Callable[[dict[str, str], list[str]], object],
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Foley Desktop")
        self.resize(QSize(620, 460))
        self._call = call
        self._removed: list[str] = []
        self.list = QListWidget()
        self.list.setObjectName("queries_list")
        self.list.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        for query in queries:
            item = QListWidgetItem(text.shown(query.text, 500))
            item.setData(ID_ROLE, query.id)
            item.setData(TEXT_ROLE, item.text())
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            self.list.addItem(item)
        self.keep_button = buttons.push("Keep changes", "Reword and take out as shown", self._keep, "primary")
        self.keep_button.setObjectName("prompt_accept")
        line = QHBoxLayout()
        line.addWidget(buttons.push("Take out", "Take the selected queries out of the set", self.take_out))
        line.addStretch(1)
        line.addWidget(buttons.push("Cancel", "Change nothing", self.reject))
        line.addWidget(self.keep_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(9)
        column.addWidget(buttons.words("Queries", "title"))
        words = "Double click to reword one; its judgements stay. A query that is taken out loses them."
        column.addWidget(buttons.words(words, "dim", wrap=True))
        column.addWidget(self.list, 1)
        column.addLayout(line)

    def take_out(self) -> None:
        """Takes the selected queries off the list."""
        for item in self.list.selectedItems():
            self._removed.append(item.data(ID_ROLE))
            self.list.takeItem(self.list.row(item))

    def _keep(self) -> None:
        items = [self.list.item(number) for number in range(self.list.count())]
        edited = {
            item.data(ID_ROLE): item.text()
            for item in items
            if item.text() != item.data(TEXT_ROLE) and item.text().strip()
        }
        self.accept()
        if edited or self._removed:
            self._call(edited, self._removed)
