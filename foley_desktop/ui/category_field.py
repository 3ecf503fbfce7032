"""A field in which a category of the UCS is chosen by typing parts of its names or its CatID."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QLineEdit, QWidget

MOST_SHOWN = 40

Choice = tuple[str, str, str]
"""CatID, Category, SubCategory."""


def label(choice: Choice) -> str:
    """``DOORS / CREAK   DOORCreak``."""
    catid, category, subcategory = choice
    return f"{category} / {subcategory}   {catid}"


def matching(choices: Sequence[Choice], typed: str) -> list[Choice]:
    """Choices that hold every typed word, those first whose words or CatID begin with them."""
    words = typed.casefold().replace("/", " ").split()
    if not words:
        return []
    ranked = []
    for number, choice in enumerate(choices):
        catid, category, subcategory = (part.casefold() for part in choice)
        hay = f"{category} {subcategory} {catid}"
        if all(word in hay for word in words):
            parts = [*category.split(), *subcategory.split(), catid]
            begins = sum(any(part.startswith(word) for part in parts) for word in words)
            exact = catid == "".join(words)
            ranked.append((-exact, -begins, number, choice))
    return [choice for *_, choice in sorted(ranked)]


class CategoryField(QLineEdit):
    """``chosen(catid)`` comes when one is taken from the list or typed and confirmed with Enter."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choices: tuple[Choice, ...] = ()
        self._shown: list[Choice] = []
        self._model = QStringListModel(self)
        completer = QCompleter(self._model, self)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setMaxVisibleItems(12)
        completer.activated.connect(self._on_activated)
        self.setCompleter(completer)
        self.textEdited.connect(self._on_edited)
        self.returnPressed.connect(self._on_return)

    def set_choices(self, choices: Sequence[Choice]) -> None:
        """What can be chosen."""
        self._choices = tuple(choices)

    @property
    def shown(self) -> list[str]:
        """CatIDs that are offered for what is typed now."""
        return [catid for catid, _, _ in self._shown]

    def _on_edited(self, typed: str) -> None:
        self._shown = matching(self._choices, typed)[:MOST_SHOWN]
        self._model.setStringList([label(choice) for choice in self._shown])

    def _on_activated(self, chosen: str) -> None:
        for choice in self._shown:
            if label(choice) == chosen:
                self._take(choice[0])
                return

    def _on_return(self) -> None:
        if self._shown and self.text().strip():
            self._take(self._shown[0][0])

    def _take(self, catid: str) -> None:
        self._shown = []
        completer = self.completer()
        popup = completer.popup() if completer is not None else None
        if popup is not None:
            popup.hide()
        self.clear()
        self.chosen.emit(catid)
