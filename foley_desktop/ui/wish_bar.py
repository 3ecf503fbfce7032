"""“This, but …”: words for how the sounds found should differ from those they are compared with."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QSlider, QWidget

from foley_desktop.ui import buttons, icons, theme
from foley_desktop.workers.jobs import Request

PAUSE_MS = 250
"""After this long without a key or a move of the slider the words are searched for."""
LONGEST = 200


class WishBar(QFrame):
    """Visible while sounds are compared. ``changed(words, strength)`` comes once the user pauses."""

    changed = Signal(str, float)
    left_downwards = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("wish_bar")
        theme.mark(self, "notice")
        self.box = QLineEdit()
        self.box.setObjectName("wish")
        self.box.setMaxLength(LONGEST)
        self.box.setPlaceholderText("metallic, more distant, less wooden, longer …")
        self.box.setToolTip("How the sounds found should differ from this one")
        self.box.textEdited.connect(lambda _: self._on_changed())
        self.box.returnPressed.connect(self._on_return)
        self.strength = QSlider(Qt.Orientation.Horizontal)
        self.strength.setObjectName("wish_strength")
        self.strength.setRange(0, 100)
        self.strength.setValue(50)
        self.strength.setFixedWidth(130)
        self.strength.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.strength.setAccessibleName("Strength of the words")
        self.strength.valueChanged.connect(lambda _: self._on_changed())
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE_MS)
        self._timer.timeout.connect(self._speak)
        self._lay_out()
        self._say_strength()
        self.hide()

    def _lay_out(self) -> None:
        mark = buttons.words()
        mark.setPixmap(icons.pixmap("similar", 16, theme.colour("blue"), self.devicePixelRatioF()))
        line = QHBoxLayout(self)
        line.setContentsMargins(14, 4, 14, 4)
        line.setSpacing(9)
        line.addWidget(mark)
        line.addWidget(buttons.words("This, but"))
        line.addWidget(self.box, 1)
        line.addWidget(buttons.words("the sound", "small"))
        line.addWidget(self.strength)
        line.addWidget(buttons.words("the words", "small"))

    def show_request(self, request: Request) -> None:
        """Follows what is asked: visible with sounds, empty when there are others."""
        self.setVisible(request.kind == "similar")
        if request.wish != self.box.text() and not self._timer.isActive():
            self.box.setText(request.wish)

    def focus_box(self) -> None:
        """For “This, but …” of the menu."""
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.box.selectAll()

    def _on_changed(self) -> None:
        self._say_strength()
        self._timer.start()

    def _on_return(self) -> None:
        self._speak()
        self.left_downwards.emit()

    def _speak(self) -> None:
        self._timer.stop()
        self.changed.emit(self.box.text(), self.strength.value() / 100)

    def stop(self) -> None:
        self._timer.stop()

    def _say_strength(self) -> None:
        value = self.strength.value()
        self.strength.setToolTip(f"Strength of the words: {value} %. At 0 only the sound counts.")
        self.strength.setEnabled(bool(self.box.text().strip()))
