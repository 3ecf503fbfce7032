"""The editors of the inspector: what is typed is kept until it is confirmed, and told exactly once.

An editor shows a value, or that the selection's values differ. It is *dirty* from the first key until the
value is taken (Enter, leaving the field, another selection) or given up (Esc). While it is dirty nothing that
is read anew replaces what was typed.
"""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QSize, QStringListModel, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QPlainTextEdit, QWidget

from foley_desktop.ui import theme

MOST_LINES = 5
_SOURCE_PX = 10


def _is_undo(event: QKeyEvent) -> bool:
    return event.key() in (Qt.Key.Key_Z, Qt.Key.Key_Y) and bool(
        event.modifiers() & Qt.KeyboardModifier.ControlModifier
    )


def _is_redo(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_Y or bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)


class LineEditor(QLineEdit):
    """A field of one line. ``taken(value)`` comes when a value is confirmed."""

    taken = Signal(str)
    entered = Signal()
    undo_wanted = Signal()
    redo_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value = ""
        self._mixed = False
        self._touched = False
        self._source = ""
        theme.mark(self, "field")
        self._words = QStringListModel(self)
        completer = QCompleter(self._words, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setMaxVisibleItems(9)
        self.setCompleter(completer)
        self.textEdited.connect(self._on_edited)
        self.returnPressed.connect(self.take)

    @property
    def is_dirty(self) -> bool:
        """Whether something was typed that nobody was told yet."""
        return self._touched and (self._mixed or self.text() != self._value)

    def show_value(self, value: str, mixed: bool, hint: str = "", source: str = "") -> None:
        """Shows what counts now; what is being typed stays."""
        if self.is_dirty:
            return
        self._value, self._mixed, self._touched = value, mixed, False
        self._show_source(source)
        if self.text() != value:
            self.setText(value)
        if not self.hasFocus():
            self.home(False)
        self.setPlaceholderText(hint)

    def complete_with(self, words: list[str]) -> None:
        """Values to offer while typing."""
        self._words.setStringList(words)

    def take(self) -> None:
        """Tells the typed value, if there is one."""
        if self.is_dirty:
            self._value, self._mixed, self._touched = self.text(), False, False
            self._mark()
            completer = self.completer()
            if completer is not None and (popup := completer.popup()) is not None:
                popup.hide()
            self.taken.emit(self._value)

    def give_up(self) -> None:
        """Back to what was shown before."""
        self._touched = False
        self.setText(self._value)
        self._mark()

    def _on_edited(self) -> None:
        self._touched = True
        self._mark()

    def _mark(self) -> None:
        self.setProperty("own_keys", [int(Qt.Key.Key_Escape)] if self._touched else None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._touched:
            self.give_up()
        elif _is_undo(event) and not self._touched:
            (self.redo_wanted if _is_redo(event) else self.undo_wanted).emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._show_source(self._source)
        self.entered.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
            self.take()
        self._show_source(self._source)

    # --- where the value stands

    def _show_source(self, source: str) -> None:
        self._source = source
        room = 0 if self.hasFocus() or not source else self._source_width() + 4
        self.setTextMargins(0, 0, room, 0)
        self.update()

    def _source_width(self) -> int:
        font = self.font()
        font.setPixelSize(_SOURCE_PX)
        return round(QFontMetricsF(font).horizontalAdvance(self._source)) + 4

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._source and not self.hasFocus():
            painter = QPainter(self)
            font = self.font()
            font.setPixelSize(_SOURCE_PX)
            painter.setFont(font)
            painter.setPen(theme.colour("faint"))
            painter.drawText(
                self.rect().adjusted(0, 0, -8, 0),
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                self._source,
            )
            painter.end()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if not self.isReadOnly():
            menu.addSeparator()
            menu.addAction("Empty this field", self.empty)
        menu.popup(event.globalPos())

    def empty(self) -> None:
        """Takes the value away, also where it differs from sound to sound."""
        self.clear()
        self._touched = True
        self.take()


class LongEditor(QPlainTextEdit):
    """A field with room for several lines of one text; Enter confirms. Otherwise as :class:`LineEditor`."""

    taken = Signal(str)
    entered = Signal()
    undo_wanted = Signal()
    redo_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value = ""
        self._mixed = False
        self._touched = False
        self._showing = False
        theme.mark(self, "field")
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.textChanged.connect(self._on_changed)

    @property
    def is_dirty(self) -> bool:
        return self._touched and (self._mixed or self.toPlainText() != self._value)

    def text(self) -> str:
        return self.toPlainText()

    def show_value(self, value: str, mixed: bool, hint: str = "", source: str = "") -> None:
        if self.is_dirty:
            return
        self._value, self._mixed, self._touched = value, mixed, False
        if self.toPlainText() != value:
            self._put(value)
        self.setPlaceholderText(hint)

    def complete_with(self, words: list[str]) -> None:
        """Long texts are not completed."""

    def take(self) -> None:
        if self.is_dirty:
            self._value, self._mixed, self._touched = self.toPlainText(), False, False
            self._mark()
            self.taken.emit(self._value)

    def give_up(self) -> None:
        self._touched = False
        self._put(self._value)
        self._mark()

    def empty(self) -> None:
        self._put("")
        self._touched = True
        self.take()

    def _put(self, value: str) -> None:
        self._showing = True
        try:
            self.setPlainText(value)
        finally:
            self._showing = False
        self._fit()

    def _on_changed(self) -> None:
        if not self._showing:
            self._touched = True
            self._mark()
        self._fit()

    def _mark(self) -> None:
        self.setProperty("own_keys", [int(Qt.Key.Key_Escape)] if self._touched else None)

    def _fit(self) -> None:
        """As many lines as the text has, within bounds."""
        needed = max(1, round(self.document().size().height()))
        lines = min(MOST_LINES, needed)
        off, on = Qt.ScrollBarPolicy.ScrollBarAlwaysOff, Qt.ScrollBarPolicy.ScrollBarAsNeeded
        self.setVerticalScrollBarPolicy(on if needed > lines else off)
        height = round(lines * QFontMetricsF(self.font()).lineSpacing()) + 11
        if height != self.minimumHeight():
            self.setFixedHeight(height)

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(120, self.minimumHeight() or 48)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Pasted lines become one, as values are."""
        self.insertPlainText(" ".join(source.text().split()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.take()
        elif event.key() == Qt.Key.Key_Escape and self._touched:
            self.give_up()
        elif _is_undo(event) and not self._touched:
            (self.redo_wanted if _is_redo(event) else self.undo_wanted).emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.entered.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
            self.take()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if not self.isReadOnly():
            menu.addSeparator()
            menu.addAction("Empty this field", self.empty)
        menu.popup(event.globalPos())


Editor = LineEditor | LongEditor
