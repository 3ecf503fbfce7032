"""Small makers for the buttons and labels that every panel is built of."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QComboBox, QFrame, QLabel, QPushButton, QSizePolicy, QToolButton

from foley_desktop.ui import icons, theme

_GAP = "\u2009"
"""Qt sets the words of a button close against its icon."""


def tool(
    name: str,
    tip: str,
    pressed: Callable[[], object] | None = None,
    *,
    size: int = 18,
    checkable: bool = False,
    label: str = "",
    colour: QColor | None = None,
    folds: bool = False,
) -> QToolButton:
    """A flat icon button with a tooltip. It never takes the focus: the keyboard has keys of its own.

    One that ``folds`` leaves its label out where there is no room for it.
    """
    button = FoldingButton() if folds else QToolButton()
    button.setIcon(icons.icon(name, colour))
    button.setIconSize(QSize(size, size))
    button.setToolTip(tip)
    button.setAccessibleName(label or tip)
    button.setCheckable(checkable)
    button.setAutoRaise(True)
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    theme.mark(button, "labelled" if label else "flat")
    if label:
        button.setText(_GAP + label)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    if pressed is not None:
        button.clicked.connect(lambda _=False: pressed())
    return button


class FoldingButton(QToolButton):
    """A button with words beside its icon, which is left with the icon where there is little room.

    The hint stays that with the words: a bar that grows again gives it the room to show them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._words = QSize()

    def sizeHint(self) -> QSize:
        if self.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon or self._words.isEmpty():
            self._words = super().sizeHint()
        return self._words

    def minimumSizeHint(self) -> QSize:
        height = self.sizeHint().height()
        return QSize(self.iconSize().width() + height // 2, height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = event.size().width() >= self.sizeHint().width()
        beside, alone = (
            Qt.ToolButtonStyle.ToolButtonTextBesideIcon,
            Qt.ToolButtonStyle.ToolButtonIconOnly,
        )
        if (style := beside if room else alone) != self.toolButtonStyle():
            self.setToolButtonStyle(style)


def push(label: str, tip: str, pressed: Callable[[], object] | None = None, role: str = "") -> QPushButton:
    """A push button with words on it."""
    button = QPushButton(label)
    button.setToolTip(tip)
    button.setAutoDefault(False)
    if role:
        theme.mark(button, role)
    if pressed is not None:
        button.clicked.connect(lambda _=False: pressed())
    return button


def words(text: str = "", role: str = "", *, wrap: bool = False) -> QLabel:
    """A label that shows its text as plain text, whatever is in it."""
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    label.setWordWrap(wrap)
    if role:
        theme.mark(label, role)
    return label


def rule(vertical: bool = False) -> QFrame:
    """A thin line between two groups."""
    line = QFrame()
    theme.mark(line, "rule")
    if vertical:
        line.setFixedWidth(1)
    else:
        line.setFixedHeight(1)
    return line


def relabel(button: QToolButton, label: str) -> None:
    """Other words on a button made by :func:`tool`."""
    button.setText(_GAP + label)


class Choice(QComboBox):
    """A combo box whose arrow is drawn here: style sheets can only take one from a file."""

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        area = QRectF(self.width() - 21, (self.height() - 14) / 2, 14, 14)
        shade = theme.colour("dim" if self.isEnabled() else "faint")
        icons.paint(painter, "chevron", area, shade)
        painter.end()


class ElidedLabel(QLabel):
    """One line of plain text that gives way: too long for its place it ends in an ellipsis."""

    def __init__(self, role: str = "") -> None:
        super().__init__()
        self._full = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setMinimumWidth(30)
        if role:
            theme.mark(self, role)

    def set_words(self, text: str) -> None:
        self._full = text
        self._elide()

    def full_text(self) -> str:
        return self._full

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._elide()

    def minimumSizeHint(self) -> QSize:
        return QSize(30, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:
        width = self.fontMetrics().horizontalAdvance(self._full) + 8
        return QSize(width, super().sizeHint().height())

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._full, Qt.TextElideMode.ElideRight, max(10, self.width()))
        super().setText(shown)
