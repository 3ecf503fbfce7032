"""The menu of filters: the usual ones to click, and a line in which any of them can be typed."""

from __future__ import annotations

import re
from datetime import date, timedelta

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QVBoxLayout, QWidget, QWidgetAction

from foley_desktop.errors import FilterError
from foley_desktop.library.filters import FIELDS, parse_where
from foley_desktop.models import Condition, Filters
from foley_desktop.ui import badges, buttons, theme
from foley_desktop.ui.chips import ChipBar

QUICK_FILTERS: tuple[tuple[str, tuple[Condition, ...]], ...] = (
    ("Shorter than 1 s", (Condition("duration", "<", 1.0),)),
    ("Shorter than 5 s", (Condition("duration", "<", 5.0),)),
    ("5 to 30 s", (Condition("duration", ">=", 5.0), Condition("duration", "<=", 30.0))),
    ("Longer than 30 s", (Condition("duration", ">", 30.0),)),
    ("Mono", (Condition("channels", "=", 1.0),)),
    ("Stereo", (Condition("channels", "=", 2.0),)),
    ("More than 2 channels", (Condition("channels", ">", 2.0),)),
    ("48 kHz or more", (Condition("rate", ">=", 48000.0),)),
    ("96 kHz or more", (Condition("rate", ">=", 96000.0),)),
    ("24 bit or more", (Condition("depth", ">=", 24.0),)),
    ("3 stars or more", (Condition("rating", ">=", 3.0),)),
    ("5 stars", (Condition("rating", "=", 5.0),)),
    ("Favourites", (Condition("favourite", "=", True),)),
    ("Used already", (Condition("used", "=", True),)),
    ("Never used", (Condition("used", "=", False),)),
)
_BREAKS = frozenset({4, 7, 10, 13})
_FORMATS = ("WAV", "FLAC", "AIFF", "MP3", "OGG", "W64")
_DAYS = (("Changed today", 0), ("Changed in the last week", 7), ("Changed in the last month", 30))
_BETWEEN = re.compile(r"\s*[,;]\s*|\s+(?=[A-Za-z_]+\s*(?:<=|>=|!=|==|=|<|>))")
_HINT = "duration<5, rate>=48k, badge=cut short …"
_SAID = "Enter adds them. Fields: " + ", ".join(FIELDS) + "."


def typed_filters(typed: str) -> Filters:
    """Filters from expressions with commas or blanks between them.

    Raises:
        FilterError: one of them is not understood.
    """
    return parse_where([part for part in _BETWEEN.split(typed.strip()) if part])


class FilterLine(QWidget):
    """A line for expressions; what is wrong with them is said below it."""

    entered = Signal(object)
    """The Filters that were typed and confirmed."""

    def __init__(self) -> None:
        super().__init__()
        self.line = _Line()
        self.line.setObjectName("filter_line")
        self.line.setPlaceholderText(_HINT)
        self.line.setMinimumWidth(400)
        self.line.setToolTip("Type filters and press Enter; they may stand in the search box as well")
        self.said = buttons.words(_SAID, "small", wrap=True)
        self.said.setObjectName("filter_said")
        self.said.setFixedHeight(2 * self.said.fontMetrics().lineSpacing() + 2)
        self.said.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.line.textChanged.connect(lambda _: self._say(_SAID, "small"))
        self.line.returnPressed.connect(self._on_enter)
        column = QVBoxLayout(self)
        column.setContentsMargins(9, 7, 9, 5)
        column.setSpacing(5)
        column.addWidget(self.line)
        column.addWidget(self.said)

    def _on_enter(self) -> None:
        if not self.line.text().strip():
            return
        try:
            filters = typed_filters(self.line.text())
        except FilterError as error:
            self._say(error.sentence, "wrong")
            return
        self.entered.emit(filters)

    def _say(self, words: str, role: str) -> None:
        """In place: a menu does not make room for more once it is open."""
        self.said.setText(words)
        theme.mark(self.said, role)
        self.said.style().polish(self.said)


class _Line(QLineEdit):
    """Keeps Enter from the menu, which would take it for a choice."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()


class FilterMenu(QMenu):
    """Filters in force have a tick; choosing one again lifts it."""

    def __init__(self, chips: ChipBar) -> None:
        super().__init__(chips)
        self._chips = chips
        self.typed = FilterLine()
        self.typed.entered.connect(self._on_typed)
        action = QWidgetAction(self)
        action.setDefaultWidget(self.typed)
        self.addAction(action)
        self.addSeparator()
        for number, (label, conditions) in enumerate(QUICK_FILTERS):
            if number in _BREAKS:
                self.addSeparator()
            self._add(self, label, conditions)
        self.addSeparator()
        self._add_more()
        self.addSeparator()
        clear = self.addAction("Remove all filters")
        clear.setEnabled(bool(chips.filters))
        clear.triggered.connect(lambda _=False: chips.set_filters(Filters()))
        self.aboutToShow.connect(self.typed.line.setFocus)

    def _add_more(self) -> None:
        formats = self.addMenu("Format")
        for name in _FORMATS:
            self._add(formats, name, (Condition("format", "=", name),))
        days = self.addMenu("Date")
        for label, back in _DAYS:
            day = (date.today() - timedelta(days=back)).isoformat()
            self._add(days, label, (Condition("date", ">=", day),))
        damage = self.addMenu("Damage")
        for code, (words, _) in badges.BADGES.items():
            self._add(damage, words.capitalize(), (Condition("badge", "=", code),))
        self._add(self, "No category", (Condition("category", "=", ""),))

    def _add(self, menu: QMenu, label: str, conditions: tuple[Condition, ...]) -> None:
        action = menu.addAction(label)
        action.setCheckable(True)
        action.setChecked(all(c in self._chips.filters.conditions for c in conditions))
        action.triggered.connect(
            lambda on: self._chips.add(*conditions) if on else self._chips.lift(conditions)
        )

    def _on_typed(self, filters: Filters) -> None:
        self._chips.add(*filters.conditions)
        self.close()
