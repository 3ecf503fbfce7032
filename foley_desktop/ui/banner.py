"""Quiet strips across the window: no sound, and what the search has to say about its own answer."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from foley_desktop.ui import buttons, icons, text, theme


class Strip(QFrame):
    """One line with an icon; hidden while it has nothing to say."""

    def __init__(self, role: str, icon: str, colour: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, role)
        mark = buttons.words()
        mark.setPixmap(icons.pixmap(icon, 16, theme.colour(colour), self.devicePixelRatioF()))
        mark.setFixedSize(QSize(16, 16))
        self.label = buttons.ElidedLabel()
        self._action = buttons.push("", "", self._act)
        self._action.hide()
        self._call: Callable[[], object] | None = None
        self._close = buttons.tool("close", "Hide this", self.hide, size=12)
        line = QHBoxLayout(self)
        line.setContentsMargins(14, 4, 8, 4)
        line.setSpacing(9)
        line.addWidget(mark)
        line.addWidget(self.label, 1)
        line.addWidget(self._action)
        line.addWidget(self._close, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def say(self, sentence: str, action: str = "", call: Callable[[], object] | None = None) -> None:
        """Shows a sentence; an empty one hides the strip."""
        self.label.set_words(text.shown(sentence, 400))
        self.label.setToolTip(text.plain_tooltip(sentence))
        self._call = call
        self._action.setText(action)
        self._action.setToolTip(action)
        self._action.setVisible(bool(action and call))
        self.setVisible(bool(sentence))

    def _act(self) -> None:
        if self._call is not None:
            self._call()


def sound_banner() -> Strip:
    """Says why there is no sound."""
    strip = Strip("banner", "muted", "amber")
    strip.setObjectName("sound_banner")
    return strip


def notice_line() -> Strip:
    """Says what is to be known about the results."""
    strip = Strip("notice", "info", "blue")
    strip.setObjectName("notice")
    return strip


def doubt_line() -> Strip:
    """Says above weak results that there is most likely no answer."""
    strip = Strip("banner", "warning", "amber")
    strip.setObjectName("no_answer")
    return strip


def hidden_line() -> Strip:
    """Says how much is hidden by sound."""
    strip = Strip("notice", "filter", "blue")
    strip.setObjectName("hidden_by_sound")
    return strip
