"""The one road for messages to the user: a toast for small things, a dialog with details for serious ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from foley_desktop.errors import CatalogError, FoleyError, IndexStoreError, ModelError
from foley_desktop.ui import buttons, icons, text, theme

SHOWN_MS = 6000
ERROR_SHOWN_MS = 12000
MOST_TOASTS = 4

Answers = Sequence[tuple[str, Callable[[], object]]]

_SERIOUS = (CatalogError, IndexStoreError, ModelError)


class Toast(QFrame):
    """A message that goes away by itself, with at most one button."""

    left = Signal()

    def __init__(
        self, parent: QWidget, sentence: str, *, error: bool, action: str, call: Callable[[], object] | None
    ):
        super().__init__(parent)
        theme.mark(self, "toast-error" if error else "toast")
        self.setMaximumWidth(460)
        mark = buttons.words()
        mark.setPixmap(
            icons.pixmap("warning" if error else "info", 18, theme.colour("red" if error else "accent"),
                         self.devicePixelRatioF())
        )  # fmt: skip
        self.label = buttons.words(text.shown(sentence, 300), wrap=True)
        self.label.setMinimumWidth(200)
        close = buttons.tool("close", "Dismiss", self.leave, size=13)
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 8, 6, 8)
        line.setSpacing(9)
        line.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(self.label, 1)
        if action and call is not None:
            line.addWidget(buttons.push(action, action, lambda: (call(), self.leave())))
        line.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)

    def leave(self) -> None:
        self.hide()
        self.left.emit()
        self.deleteLater()


class ErrorDialog(QDialog):
    """An error with its technical details, to read and to copy. It never blocks the window."""

    def __init__(self, parent: QWidget, error: FoleyError) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Foley Desktop")
        self.resize(QSize(620, 340))
        sentence = buttons.words(text.shown(error.sentence), "title", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(9)
        column.addWidget(sentence)
        if error.hint:
            column.addWidget(buttons.words(text.shown(error.hint), "dim", wrap=True))
        self.details = QPlainTextEdit()
        self.details.setReadOnly(True)
        safe = "".join(c if c == "\n" else text.shown(c) for c in error.details())
        self.details.setPlainText(safe)
        column.addWidget(self.details, 1)
        line = QHBoxLayout()
        self.copy_button = buttons.push("Copy details", "Copies the text above", self.copy)
        line.addWidget(self.copy_button)
        line.addStretch(1)
        close = buttons.push("Close", "Close", self.accept, "primary")
        line.addWidget(close)
        column.addLayout(line)
        close.setFocus()

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self.details.toPlainText())
        self.copy_button.setText("Copied")


class Question(QDialog):
    """A question with a button for each answer and one to leave it. It never blocks the window."""

    def __init__(self, parent: QWidget, title: str, sentence: str, answers: Answers) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Foley Desktop")
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(9)
        column.addWidget(buttons.words(text.shown(title, 120), "title", wrap=True))
        said = buttons.words(text.shown(sentence, 400), "dim", wrap=True)
        said.setMinimumWidth(400)
        column.addWidget(said)
        column.addSpacing(6)
        line = QHBoxLayout()
        line.addStretch(1)
        line.addWidget(buttons.push("Cancel", "Change nothing", self.reject))
        for label, call in answers:
            line.addWidget(buttons.push(label, label, partial(self._answer, call), "primary"))
        column.addLayout(line)

    def _answer(self, call: Callable[[], object]) -> None:
        self.accept()
        call()


class TextDialog(QDialog):
    """A list of lines to read and to copy."""

    def __init__(self, parent: QWidget, title: str, lines: Sequence[str]) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Foley Desktop")
        self.resize(QSize(760, 420))
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(9)
        column.addWidget(buttons.words(text.shown(title), "title", wrap=True))
        self.body = QPlainTextEdit("\n".join(text.shown(line) for line in lines))
        self.body.setReadOnly(True)
        self.body.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        column.addWidget(self.body, 1)
        line = QHBoxLayout()
        line.addWidget(buttons.push("Copy", "Copies the lines above", self.copy))
        line.addStretch(1)
        line.addWidget(buttons.push("Close", "Close", self.accept, "primary"))
        column.addLayout(line)

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self.body.toPlainText())


class Messages(QObject):
    """Shows messages over ``host``, the newest at the bottom right.

    While ``above`` is to be seen they stand above it: it is full of buttons, and none may be covered.
    """

    def __init__(self, host: QWidget, above: QWidget | None = None) -> None:
        super().__init__(host)
        self._host, self._above = host, above
        self._toasts: list[Toast] = []
        self._last: tuple[str, Toast] | None = None
        host.installEventFilter(self)

    @property
    def toasts(self) -> list[Toast]:
        return list(self._toasts)

    def say(self, sentence: str, *, action: str = "", call: Callable[[], object] | None = None) -> Toast:
        """A short remark, with a button when there is something to do about it."""
        return self._show(sentence, error=False, action=action, call=call, shown_ms=SHOWN_MS)

    def fail(self, error: FoleyError) -> None:
        """The road every error takes."""
        if isinstance(error, _SERIOUS) or (type(error) is FoleyError and error.__cause__ is not None):
            self.explain(error)
            return
        sentence = f"{error.sentence} {error.hint}".strip()
        self._show(sentence, error=True, action="Details", call=lambda: self.explain(error),
                   shown_ms=ERROR_SHOWN_MS)  # fmt: skip

    def ask(self, title: str, sentence: str, answers: Answers) -> None:
        """A question; nothing happens unless one of ``answers`` is chosen."""
        Question(self._host, title, sentence, answers).open()

    def list_lines(self, title: str, lines: Sequence[str]) -> None:
        """Many lines in a dialog of their own."""
        TextDialog(self._host, title, lines).open()

    def explain(self, error: FoleyError) -> None:
        """The dialog with the details."""
        ErrorDialog(self._host, error).open()

    def _show(
        self, sentence: str, *, error: bool, action: str, call: Callable[[], object] | None, shown_ms: int
    ) -> Toast:
        if self._last is not None and self._last[0] == sentence and self._last[1] in self._toasts:
            return self._last[1]  # the same again: one is enough
        toast = Toast(self._host, sentence, error=error, action=action, call=call)
        toast.left.connect(lambda: self._forget(toast))
        self._toasts.append(toast)
        for old in self._toasts[:-MOST_TOASTS]:
            old.leave()
        QTimer.singleShot(shown_ms, toast, toast.leave)
        self._last = (sentence, toast)
        toast.show()
        self._place()
        return toast

    def _forget(self, toast: Toast) -> None:
        if toast in self._toasts:
            self._toasts.remove(toast)
            self._place()

    def _place(self) -> None:
        right, bottom = self._host.width() - 18, self._host.height() - 44
        above = self._above
        if above is not None and above.isVisible():
            place = above.mapTo(self._host, QPoint(above.width(), 0))
            right, bottom = place.x() - 18, place.y() - 8
        for toast in reversed(self._toasts):
            width = min(460, max(260, toast.sizeHint().width()))
            height = max(toast.heightForWidth(width), toast.sizeHint().height())
            toast.setGeometry(right - width, bottom - height, width, height)
            toast.raise_()
            bottom -= height + 8

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self._toasts:
            self._place()
        return super().eventFilter(watched, event)
