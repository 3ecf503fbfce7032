"""Why a result is where it is: a line for the selected one, and a panel that says it ranker by ranker."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from foley_desktop.library.explaining import NAMES, Explanation, explain
from foley_desktop.models import Hit
from foley_desktop.ui import buttons, icons, text, theme

MOST_WORDS = 12


class ShareBar(QWidget):
    """How much each ranker gave, as lengths of one bar."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: dict[str, float] = {}
        self.setFixedHeight(8)
        self.setMinimumWidth(80)

    def show_parts(self, fractions: dict[str, float]) -> None:
        self._parts = fractions
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("line"))
        x = 0.0
        for name, fraction in self._parts.items():
            width = self.width() * fraction
            painter.fillRect(QRectF(x, 0, width, self.height()), theme.ranker_colour(name))
            x += width
        painter.end()


class WhyLine(QFrame):
    """Under the results: the line, a share bar, and the panel when it is wanted.

    ``details_wanted`` asks for what is not looked up for every hit of a list.
    """

    details_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("why")
        theme.mark(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._hit: Hit | None = None
        self._query = ""
        self.toggle = buttons.tool(
            "chevron_right", "Why this result: ranker by ranker  (W)", size=13, checkable=True, label="Why"
        )
        self.toggle.setObjectName("why_toggle")
        self.toggle.toggled.connect(self._on_toggled)
        self.bar = ShareBar()
        self.bar.setFixedWidth(110)
        self.line = buttons.ElidedLabel("dim")
        self.line.setObjectName("why_line")
        self.panel = WhyPanel()
        self.panel.hide()
        first = QHBoxLayout()
        first.setContentsMargins(6, 0, 12, 0)
        first.setSpacing(9)
        first.addWidget(self.toggle)
        first.addWidget(self.bar)
        first.addWidget(self.line, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 2)
        column.setSpacing(0)
        column.addLayout(first)
        column.addWidget(self.panel)
        self.hide()

    @property
    def hit(self) -> Hit | None:
        return self._hit

    def show_hit(self, hit: Hit | None, query: str = "") -> None:
        """Explains another hit; None, or one that nobody ranked, hides it all."""
        self._hit, self._query = hit, query
        said = explain(hit, query) if hit is not None else None
        self.setVisible(said is not None and bool(said.parts))
        if hit is None or said is None or not said.parts:
            return
        self.line.set_words(text.shown(said.line))
        self.line.setToolTip(text.plain_tooltip(said.line))
        shares = {part.ranker: part.share for part in said.parts if part.share is not None}
        self.bar.show_parts(shares)
        self.bar.setVisible(bool(shares))
        self.panel.show_explanation(said, bool(text.moment(hit)))
        if "heard_as" not in hit.why:
            self.details_wanted.emit(hit)

    def take_details(self, hit: Hit) -> None:
        """The same hit with all that can be said of it, if it is still the one that is explained."""
        if self._hit is not None and self._hit.id == hit.id and self._hit.rank == hit.rank:
            self.show_hit(hit, self._query)

    def _on_toggled(self, on: bool) -> None:
        self.toggle.setIcon(icons.icon("chevron" if on else "chevron_right"))
        self.panel.setVisible(on)


class _Row(NamedTuple):
    name: QLabel
    rank: QLabel
    score: QLabel
    share: QLabel
    bar: ShareBar


class WhyPanel(QWidget):
    """A row for each ranker, the words that matched, the moment that fits best."""

    HEADS = ("Ranker", "Rank", "Score", "Share", "")

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("why_panel")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 6, 16, 8)
        column.setSpacing(6)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(18)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(4, 1)
        for number, head in enumerate(self.HEADS):
            self._grid.addWidget(buttons.words(head.upper(), "heading"), 0, number)
        self.rows = {name: self._make_row(number) for number, name in enumerate(NAMES, start=1)}
        column.addLayout(self._grid)
        self.words = buttons.words("", "dim", wrap=True)
        self.words.setObjectName("why_words")
        self.moment = buttons.words("", "dim")
        self.heard = buttons.words("", "dim", wrap=True)
        self.heard.setObjectName("why_heard")
        self.heard.setToolTip("What kinds of sound the model hears in this clip, whatever it is called")
        column.addWidget(self.words)
        column.addWidget(self.heard)
        column.addWidget(self.moment)

    def _make_row(self, number: int) -> _Row:
        row = _Row(buttons.words(), buttons.words(), buttons.words(), buttons.words(), ShareBar())
        for column, cell in enumerate(row):
            self._grid.addWidget(cell, number, column)
        return row

    def show_explanation(self, said: Explanation, has_moment: bool) -> None:
        """``has_moment`` says that the best window is a part of a long clip."""
        told = {part.ranker: part for part in said.parts}
        for ranker, row in self.rows.items():
            part = told.get(ranker)
            for cell in row:
                cell.setVisible(part is not None)
            if part is None:
                continue
            row.name.setText(part.name)
            row.rank.setText("–" if part.rank is None else str(part.rank))
            row.score.setText("–" if part.score is None else f"{part.score:.3f}")
            row.share.setText("–" if part.share is None else f"{part.share:.0%}")
            row.bar.setVisible(part.share is not None)
            # From the left edge, so that the bars can be compared with one another.
            row.bar.show_parts({ranker: part.share or 0.0})
        rest = len(said.matches) - MOST_WORDS
        words = " · ".join(str(match) for match in said.matches[:MOST_WORDS])
        self.words.setText(text.shown(f"Words: {words}" + (f" and {rest} more" if rest > 0 else "")))
        self.words.setVisible(bool(said.matches))
        self.heard.setText(text.shown(f"Heard as: {' · '.join(said.heard_as)}"))
        self.heard.setVisible(bool(said.heard_as))
        self.moment.setVisible(has_moment and said.window_s is not None)
        if said.window_s is not None:
            start, end = (text.clock(seconds) for seconds in said.window_s)
            self.moment.setText(f"Best moment: {start} – {end}  (M makes it the region)")
