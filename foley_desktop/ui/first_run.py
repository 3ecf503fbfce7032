"""What the window shows while the library is empty: what this is, and the two ways to begin."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from foley_desktop.ui import buttons, icons, theme

LEAD = (
    "Foley Desktop listens to your folders and finds sounds by words, by meaning and by likeness. "
    "Everything stays on this computer, and your files are never changed."
)
# Fixed heights, because layouts reckon wrapped labels too low.
LEAD_HEIGHT, CARD_HEIGHT, GAP = 58, 80, 10
STEPS = (
    ("search", "Search as you think", "“heavy door slam”, a mood, or words that no file name holds."),
    ("audition", "Hear it at once", "Up and Down play each sound. Space stops, a click seeks."),
    ("similar", "Find more like it", "One key lists what sounds alike, down to a selected region."),
    ("library", "Drag it out", "A row or a region goes straight into your editor as a file."),
)


class FirstRunPage(QWidget):
    """``add_pressed`` and ``demo_pressed`` say which way was chosen."""

    add_pressed = Signal()
    demo_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("first_run")
        self.add_button = buttons.push(
            "Add a folder …", "Choose a folder of sounds; its files are only read", self.add_pressed.emit,
            "primary-large",
        )  # fmt: skip
        self.demo_button = buttons.push(
            "Try the demo library", "Makes about 40 sounds to play with", self.demo_pressed.emit, "large"
        )
        choice = QHBoxLayout()
        choice.setSpacing(12)
        choice.addWidget(self.add_button)
        choice.addWidget(self.demo_button)
        choice.addStretch(1)
        self._inner = QWidget()
        self._inner.setFixedWidth(680)
        column = QVBoxLayout(self._inner)
        column.setContentsMargins(44, 40, 44, 36)
        column.setSpacing(10)
        column.addWidget(buttons.words("Find the sound you hear in your head.", "hero"))
        lead = buttons.words(LEAD, "lead", wrap=True)
        lead.setFixedHeight(LEAD_HEIGHT)
        lead.setAlignment(Qt.AlignmentFlag.AlignTop)
        column.addWidget(lead)
        column.addSpacing(12)
        column.addLayout(choice)
        column.addWidget(buttons.words("… or drop a folder anywhere on this window.", "faint"))
        column.addSpacing(18)
        column.addWidget(self._steps())
        outer = QVBoxLayout(self)
        outer.addStretch(2)
        outer.addWidget(self._inner, 0, Qt.AlignmentFlag.AlignHCenter)
        outer.addStretch(3)

    def _steps(self) -> QWidget:
        steps = QWidget()
        steps.setFixedHeight(2 * CARD_HEIGHT + GAP)
        grid = QGridLayout(steps)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(GAP)
        for number, (icon, title, words) in enumerate(STEPS):
            card = QFrame()
            theme.mark(card, "card")
            line = QHBoxLayout(card)
            line.setContentsMargins(14, 12, 14, 12)
            line.setSpacing(12)
            mark = buttons.words()
            mark.setPixmap(icons.pixmap(icon, 22, theme.colour("accent"), self.devicePixelRatioF()))
            line.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
            column = QVBoxLayout()
            column.setSpacing(3)
            column.addWidget(buttons.words(title, "title"))
            said = buttons.words(words, "dim", wrap=True)
            said.setAlignment(Qt.AlignmentFlag.AlignTop)
            column.addWidget(said, 1)
            line.addLayout(column, 1)
            card.setFixedHeight(CARD_HEIGHT)
            grid.addWidget(card, number // 2, number % 2)
        return steps

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.colour("panel"))
        pen = QPen(theme.colour("edge"), 1.5, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.drawRoundedRect(QRectF(self._inner.geometry()), 14, 14)
        painter.end()
