"""Chips: the filters in force, what is being compared with, and results that wait."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QLayoutItem, QWidget

from foley_desktop.models import Condition, Filters
from foley_desktop.ui import badges, buttons, icons, text, theme
from foley_desktop.workers.patterns import Pattern

_SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"}


def condition_words(condition: Condition) -> str:
    """A condition as it stands on its chip: ``length < 5 s``, ``DOORS``, ``favourites``."""
    field, value = condition.field, condition.value
    if field == "favourite":
        return "favourites" if value else "not favourites"
    if field == "used" and isinstance(value, bool):
        return "used already" if value == (condition.op == "=") else "never used"
    if field == "used":
        return f"last used {_SIGNS.get(condition.op, condition.op)} {text.shown(str(value))}"
    if field == "project" and condition.op == "=":
        return f"used in {text.shown(str(value))}"
    if field in ("category", "subcategory") and condition.op == "=":
        return text.shown(str(value)) or f"no {field}"
    if field == "badge":
        return ("" if condition.op == "=" else "not ") + badges.words(str(value))
    if field == "collection" and condition.op == "=":
        return f"collection {text.shown(str(value))}"
    if field == "folder" and condition.op == "=":
        name = str(value).rstrip("/\\").replace("\\", "/").rpartition("/")[2]
        return "in " + text.shown(name or str(value))
    sign = _SIGNS.get(condition.op, condition.op)
    if field == "rate" and isinstance(value, float):
        return f"rate {sign} {value / 1000:g} kHz"
    name, unit = {"duration": ("length", " s"), "depth": ("depth", " bit"), "rating": ("rating", " ★")}.get(
        field, (field, "")
    )
    shown = f"{value:g}" if isinstance(value, float) else text.shown(str(value))
    return f"{name} {sign} {shown}{unit}"


class Chip(QFrame):
    """A rounded label with a cross."""

    closed = Signal()

    def __init__(self, words: str, tip: str, *, role: str = "chip", icon: str = "") -> None:
        super().__init__()
        theme.mark(self, role)
        self.setToolTip(text.plain_tooltip(tip))
        line = QHBoxLayout(self)
        line.setContentsMargins(9, 1, 4, 1)
        line.setSpacing(4)
        if icon:
            mark = buttons.words()
            mark.setPixmap(icons.pixmap(icon, 14, theme.colour("accent"), self.devicePixelRatioF()))
            line.addWidget(mark)
        self.label = buttons.words(words)
        line.addWidget(self.label)
        close = buttons.tool("close", f"Remove: {text.shown(words)}", self.closed.emit, size=11)
        theme.mark(close, "chip-close")
        close.setFixedSize(16, 16)
        line.addWidget(close)
        self.setFixedHeight(22)


def _pattern_chip(pattern: Pattern, *, first: bool) -> Chip:
    region = pattern.example.region
    stretch = f" {text.clock(region.start_s)} – {text.clock(region.end_s)}" if region else ""
    name = text.shown(pattern.name, 60)
    if pattern.unlike:
        return Chip(f"less like {name}", f"Away from {pattern.name}{stretch}", role="chip-unlike")
    words = f"similar to {name}" if first else f"and {name}"
    return Chip(words, f"{pattern.name}{stretch}", role="chip-accent", icon="similar")


class ChipBar(QWidget):
    """The chips of a :class:`Filters`, and one for each sound that is being compared with."""

    filters_changed = Signal(object)
    pattern_closed = Signal(object)
    """The Pattern of a chip whose cross was pressed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._filters = Filters()
        self._patterns: tuple[Pattern, ...] = ()
        self._line = FlowLayout(self, 6)
        self._line.setContentsMargins(0, 0, 0, 0)
        self.hide()

    @property
    def filters(self) -> Filters:
        return self._filters

    def set_filters(self, filters: Filters) -> None:
        """Takes other filters and says so."""
        if filters != self._filters:
            self._filters = filters
            self._rebuild()
            self.filters_changed.emit(filters)

    def add(self, *conditions: Condition) -> None:
        """Adds conditions; one on the same field and comparison takes the place of the old one."""
        replaced = {(condition.field, condition.op) for condition in conditions}
        if any(condition.field in ("category", "folder") for condition in conditions):
            replaced |= {(c.field, "=") for c in conditions} | {("subcategory", "=")}
        kept = tuple(c for c in self._filters.conditions if (c.field, c.op) not in replaced)
        self.set_filters(Filters(kept + conditions))

    def remove_if(self, unwanted: Callable[[Condition], bool]) -> None:
        """Takes away the conditions of which ``unwanted`` says so."""
        self.set_filters(Filters(tuple(c for c in self._filters.conditions if not unwanted(c))))

    def show_patterns(self, patterns: tuple[Pattern, ...]) -> None:
        """Names the sounds that the results are compared with; none of them ends that."""
        if patterns != self._patterns:
            self._patterns = patterns
            self._rebuild()

    def chips(self) -> list[Chip]:
        """The chips as they stand, for whoever wants to look."""
        return self.findChildren(Chip, options=Qt.FindChildOption.FindDirectChildrenOnly)

    def _rebuild(self) -> None:
        self._line.clear()
        for pattern in self._patterns:
            chip = _pattern_chip(pattern, first=pattern == self._patterns[0])
            chip.closed.connect(partial(self.pattern_closed.emit, pattern))
            self._line.addWidget(chip)
        for condition in self._filters.conditions:
            chip = Chip(condition_words(condition), f"Only: {condition}")
            chip.closed.connect(self._remover(condition))
            self._line.addWidget(chip)
        shown = bool(self._patterns or self._filters)
        self.setVisible(shown)
        self.updateGeometry()

    def _remover(self, condition: Condition) -> Callable[[], None]:
        def remove() -> None:
            kept = tuple(c for c in self._filters.conditions if c != condition)
            self.set_filters(Filters(kept))

        return remove

    def lift(self, conditions: tuple[Condition, ...]) -> None:
        """Takes some conditions away."""
        self.remove_if(lambda condition: condition in conditions)


class FlowLayout(QLayout):
    """Widgets in lines from left to right, as many lines as it takes."""

    def __init__(self, parent: QWidget, gap: int) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def clear(self) -> None:
        """Removes and deletes every widget."""
        while self._items:
            widget = self._items.pop().widget()
            if widget is not None:
                widget.hide()
                widget.setParent(None)
                widget.deleteLater()
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # type: ignore[override]
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # type: ignore[override]
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, area: QRect) -> None:
        super().setGeometry(area)
        self._place(area, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize(0, 0)
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, area: QRect, *, move: bool) -> int:
        x, y, tallest = area.x(), area.y(), 0
        for item in self._items:
            size = item.sizeHint()
            if x > area.x() and x + size.width() > area.right() + 1:
                x, y, tallest = area.x(), y + tallest + self._gap, 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self._gap
            tallest = max(tallest, size.height())
        return y + tallest - area.y()
