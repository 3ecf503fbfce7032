"""A field in which a category of the UCS is chosen by typing parts of its names or its CatID.

What fits is shown by whoever holds the field, beside it and in place: a list that pops up would take the
focus, and stand over the sounds that are being sorted.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

MOST_SHOWN = 40
"""So many choices at most are worth a look in a list."""

_IN_PLACE = 8

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
    """``chosen(catid)`` comes with Enter; Up and Down go through what fits."""

    chosen = Signal(str)
    offers_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choices: tuple[Choice, ...] = ()
        self.shown: tuple[Choice, ...] = ()
        """What fits best of all that fits what is typed now."""
        self.current = 0
        """Which of them Enter takes."""
        self.textChanged.connect(self._on_text)

    def set_choices(self, choices: Sequence[Choice]) -> None:
        """What can be chosen."""
        self._choices = tuple(choices)

    def take(self, place: int) -> None:
        """Chooses one of what is shown."""
        if place < len(self.shown):
            catid = self.shown[place][0]
            self.clear()
            self.chosen.emit(catid)

    def _on_text(self, typed: str) -> None:
        self.shown = tuple(matching(self._choices, typed)[:_IN_PLACE])
        self.current = 0
        self.offers_changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter is kept also when nothing fits: unused, it would accept something in the window."""
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.take(self.current)
        elif steps and self.shown:
            self.current = (self.current + steps) % len(self.shown)
            self.offers_changed.emit()
        else:
            super().keyPressEvent(event)
