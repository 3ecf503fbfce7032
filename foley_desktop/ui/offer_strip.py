"""A quiet strip across the window, a sentence with a few answers: an embedder waits for the user's word."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from foley_desktop.ui import buttons, icons, text, theme


class OfferStrip(QFrame):
    """Hidden while it has nothing to say. What was hidden by hand stays so until something else is said."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("offer_strip")
        theme.mark(self, "notice")
        self.sentence = ""
        self._dismissed = ""
        self._mark = buttons.words()
        self._mark.setFixedSize(QSize(16, 16))
        self.label = buttons.ElidedLabel()
        self._answers = QHBoxLayout()
        self._answers.setSpacing(6)
        line = QHBoxLayout(self)
        line.setContentsMargins(14, 4, 8, 4)
        line.setSpacing(9)
        line.addWidget(self._mark)
        line.addWidget(self.label, 1)
        line.addLayout(self._answers)
        line.addWidget(buttons.tool("close", "Hide this", self._dismiss, size=12))
        line.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def say(
        self,
        sentence: str,
        answers: Sequence[tuple[str, str, Callable[[], object]]] = (),
        *,
        wrong: bool = False,
    ) -> None:
        """Shows a sentence with answers ``(label, tooltip, call)``; an empty one hides the strip."""
        if sentence != self.sentence:
            self._dismissed = ""
            self.sentence = sentence
            theme.mark(self, "banner" if wrong else "notice")
            for widget in (self, self.label):
                self.style().unpolish(widget)  # it looks by the mark that it had when it was made
                self.style().polish(widget)
            icon, shade = ("warning", "amber") if wrong else ("info", "blue")
            self._mark.setPixmap(icons.pixmap(icon, 16, theme.colour(shade), self.devicePixelRatioF()))
            self.label.set_words(text.shown(sentence, 300))
            self.label.setToolTip(text.plain_tooltip(sentence))
            self._offer(answers)
        self.setVisible(bool(sentence) and sentence != self._dismissed)

    def _offer(self, answers: Sequence[tuple[str, str, Callable[[], object]]]) -> None:
        while self._answers.count():
            item = self._answers.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for label, tip, call in answers:
            self._answers.addWidget(buttons.push(label, tip, call))

    def answer(self, label: str) -> QPushButton:
        """The button of an answer.

        Raises:
            KeyError: there is none of that label.
        """
        for place in range(self._answers.count()):
            item = self._answers.itemAt(place)
            widget = item.widget() if item else None
            if isinstance(widget, QPushButton) and widget.text() == label:
                return widget
        raise KeyError(label)

    def _dismiss(self) -> None:
        self._dismissed = self.sentence
        self.hide()
