"""The keyboard: one table of keys, who answers them, and the overlay that shows them.

Keys are caught by a filter over the window rather than by shortcuts, because what a key means depends
on where the focus is: letters, digits, Space and the arrows belong to a text field that has it, arrows
and Enter to a list that has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QTextEdit,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.ui import buttons, theme

NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
CTRL = Qt.KeyboardModifier.ControlModifier

_COLUMNS = 3
_HEADING_LINES = 2

HELP: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Search",
        (
            ("Ctrl+F  /", "to the search box"),
            ("Down", "from the box into the results"),
            ("Enter", "from the box into the results, at once"),
            ('"…"', "an exact phrase"),
            ("-word", "without this word"),
            ("Esc", "stop; again: back to the box"),
        ),
    ),
    (
        "Listen",
        (
            ("Up  Down", "select and audition"),
            ("A", "audition on selecting, on or off"),
            ("Space", "play or pause"),
            ("Enter", "play from the start"),
            ("Left  Right", "seek 1 s, with Shift 5 s"),
            ("L", "loop the clip or the region"),
            ("R", "reverse"),
            ("[  ]", "slower, faster by a semitone"),
            ("Shift+[  ]", "by an octave; with Ctrl by a tenth"),
            ("P", "varispeed keeps the pitch, or not"),
            ("C", "next choice of channels"),
            ("N", "normalise"),
            ("V", "all that is done to the sound"),
            ("\\", "the sound as it is"),
        ),
    ),
    (
        "Waveform",
        (
            ("Click", "play from there"),
            ("Drag", "select a region; Alt: no snapping"),
            ("Drag the region", "out to an editor, as a file"),
            ("Wheel  +  −", "zoom; wheel with Shift: move along"),
            ("Z", "the whole clip; with Shift: the region"),
            ("Double click", "the whole clip; a named region: select it"),
            ("Ctrl+←  Ctrl+→", "move the start; with Shift the end"),
            ("G", "spectrogram or wave"),
        ),
    ),
    (
        "Sounds",
        (
            ("S", "find similar, to the region if there is one"),
            ("M", "the moment that fits becomes the region"),
            ("W", "why this result is where it is"),
            ("F", "favourite"),
            ("0 – 5", "rating"),
            ("Drag rows", "out to an editor, as files"),
            ("B", "into the project's bin; playing goes on"),
            ("Ctrl+B", "show or hide the bin"),
            ("Ctrl+C", "copy the files"),
            ("Ctrl+E", "export as new files"),
            ("Ctrl+,", "settings"),
            ("F1  ?", "show or hide these keys"),
        ),
    ),
    (
        "Librarian",
        (
            ("I", "inspector: all fields of the selected sounds"),
            ("Ctrl+I", "edit them; Enter takes a value, Esc gives it up"),
            ("Ctrl+Z", "undo; with Shift: redo"),
            ("Ctrl+S", "write edits into the files"),
            ("F2", "rename the files"),
            ("Delete", "throw the files away"),
        ),
    ),
    (
        "Catalogue",
        (
            ("Ctrl+Shift+C", "suggest categories"),
            ("Enter  1 – 5", "in there: accept; X not this, E another, U undo"),
            ("Ctrl+Shift+S", "save this search"),
            ("Ctrl+Shift+I", "import a list of another librarian"),
            ("Ctrl+Shift+D", "deliver copies under UCS names"),
            ("duration<5", "in the search box, or the filter menu: a filter"),
        ),
    ),
    (
        "Grading, only while its banner is shown",
        (
            ("0  1  2", "wrong, acceptable, ideal; ratings rest"),
            ("N", "next query"),
            ("K", "skip this query for now"),
            ("U  Ctrl+Z", "undo"),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the window. ``everywhere`` also holds while a text field has the focus."""

    key: Qt.Key
    call: Callable[[], object]
    modifiers: Qt.KeyboardModifier = NONE
    everywhere: bool = False
    repeats: bool = False


def takes_text(widget: QWidget | None) -> bool:
    """Whether letters typed now are meant as text."""
    if isinstance(widget, QComboBox):
        return widget.isEditable()
    return isinstance(widget, QLineEdit | QTextEdit | QPlainTextEdit | QAbstractSpinBox)


_LIST_KEYS = frozenset({Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Return, Qt.Key.Key_Enter})
_BUTTON_KEYS = frozenset({Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter})
_OWN_SHIFT = frozenset({Qt.Key.Key_Question, Qt.Key.Key_Slash})
"""Characters that need Shift on some keyboards and not on others."""


class Keys(QObject):
    """Answers the keys of ``window``."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._keys: dict[tuple[int, int], Key] = {}
        self._over: dict[tuple[int, int], Key] = {}
        application = QApplication.instance()
        assert application is not None
        application.installEventFilter(self)

    def add(self, *keys: Key) -> None:
        for key in keys:
            self._keys[int(key.key), key.modifiers.value] = key

    def lay_over(self, *keys: Key) -> None:
        """Puts ``keys`` before all others, in place of those laid over so far; without any, ends that."""
        self._over = {(int(key.key), key.modifiers.value): key for key in keys}

    def detach(self) -> None:
        """Stops listening."""
        application = QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.KeyPress or not isinstance(watched, QWidget):
            return False
        if watched.window() is not self._window or QApplication.activePopupWidget() is not None:
            return False
        assert isinstance(event, QKeyEvent)
        found = self._find(event)
        if found is None or self._belongs_to(watched, found):
            return False
        if not event.isAutoRepeat() or found.repeats:
            found.call()
        return True

    def _find(self, event: QKeyEvent) -> Key | None:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() in _OWN_SHIFT:
            modifiers &= ~SHIFT
        pressed = (event.key(), modifiers.value)
        return self._over.get(pressed) or self._keys.get(pressed)

    @staticmethod
    def _belongs_to(widget: QWidget, key: Key) -> bool:
        """Whether the widget with the focus has first call on the key."""
        if int(key.key) in (widget.property("own_keys") or ()):
            return True
        if takes_text(widget):
            leaves = key.key == Qt.Key.Key_Escape and bool(widget.property("keeps_escape"))
            return leaves or not key.everywhere
        if int(key.key) in (widget.property("own_keys") or ()):
            return True
        if isinstance(widget, QAbstractButton):
            return key.key in _BUTTON_KEYS
        if isinstance(widget, QComboBox):
            return key.key in _BUTTON_KEYS
        if isinstance(widget, QTreeView):
            return key.key in _LIST_KEYS
        return bool(widget.property("keeps_enter")) and key.key in _LIST_KEYS


class HelpOverlay(QWidget):
    """All keys over the dimmed window; any click or key closes it."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        self.setObjectName("help_overlay")
        self._host = host
        card = QFrame()
        theme.mark(card, "help")
        column = QVBoxLayout(card)
        column.setContentsMargins(30, 22, 30, 24)
        column.setSpacing(16)
        head = QHBoxLayout()
        head.addWidget(buttons.words("All keys", "hero"), 1)
        head.addWidget(buttons.tool("close", "Close  (Esc)", self.hide), 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(head)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setSizeAdjustPolicy(QScrollArea.SizeAdjustPolicy.AdjustToContents)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self._columns())
        column.addWidget(scroll, 1)
        column.addWidget(buttons.words("Letters do nothing here while you type in a text field.", "faint"))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(18, 18, 18, 18)
        outer.addWidget(card)
        host.installEventFilter(self)
        self.hide()

    def _columns(self) -> QWidget:
        """The groups in their order, in columns of about one length."""
        host = QWidget()
        theme.mark(host, "bar")
        line = QHBoxLayout(host)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(30)
        share = sum(len(lines) + _HEADING_LINES for _, lines in HELP) / _COLUMNS
        columns: list[QVBoxLayout] = []
        done = 0.0
        for title, lines in HELP:
            size = len(lines) + _HEADING_LINES
            if done + size / 2 > len(columns) * share or not columns:
                columns.append(QVBoxLayout())
                columns[-1].setSpacing(18)
                line.addLayout(columns[-1], 1)
            columns[-1].addLayout(self._group(title, lines))
            done += size
        for column in columns:
            column.addStretch(1)
        return host

    @staticmethod
    def _group(title: str, lines: tuple[tuple[str, str], ...]) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(buttons.words(title.upper(), "heading"))
        for keys, words in lines:
            line = QHBoxLayout()
            line.setSpacing(5)
            caps = QWidget()
            caps.setFixedWidth(142)
            cap_line = QHBoxLayout(caps)
            cap_line.setContentsMargins(0, 0, 0, 0)
            cap_line.setSpacing(5)
            for cap in keys.split("  "):
                cap_line.addWidget(buttons.words(cap, "key"))
            cap_line.addStretch(1)
            line.addWidget(caps, 0, Qt.AlignmentFlag.AlignTop)
            line.addWidget(buttons.words(words, "dim", wrap=True), 1)
            column.addLayout(line)
        return column

    def toggle(self) -> None:
        """Shows or hides the overlay."""
        if self.isVisible():
            self.hide()
            return
        self.setGeometry(self._host.rect())
        self.show()
        self.raise_()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self.setGeometry(self._host.rect())
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("window", 190))
        painter.end()
