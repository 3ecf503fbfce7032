"""The slider between words and sound: moving it ranks what was found anew, at once."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QSlider, QWidget

from foley_desktop.ui import buttons, icons, theme

STEPS = 100
EVERY_MS = 40
"""While the slider moves it speaks at most this often."""


class BalanceSlider(QWidget):
    """``changed`` comes with a balance from 0 (words) to 1 (sound), or None for the fusion's own."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._neutral = 0.5
        self._balance: float | None = None
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("balance")
        self.slider.setRange(0, STEPS)
        self.slider.setFixedWidth(110)
        self.slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.slider.setAccessibleName("Balance between words and sound")
        self.slider.valueChanged.connect(self._on_moved)
        self.reset_button = buttons.tool(
            "refresh", "Back to the balance that the search has by itself", self.reset, size=13
        )
        self.reset_button.setObjectName("balance_reset")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(lambda: self.changed.emit(self._balance))
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        for label, ranker in (("words", "keyword"), ("sound", "audio")):
            mark = buttons.words()
            mark.setPixmap(icons.pixmap("dot", 10, theme.ranker_colour(ranker), self.devicePixelRatioF()))
            mark.setFixedSize(QSize(10, 12))
            words = buttons.words(label, "small")
            if ranker == "audio":
                line.addWidget(self.slider)
                line.addWidget(words)
                line.addWidget(mark)
            else:
                line.addWidget(mark)
                line.addWidget(words)
        line.addWidget(self.reset_button)
        keep = self.reset_button.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.reset_button.setSizePolicy(keep)
        self._show()

    @property
    def balance(self) -> float | None:
        """What is chosen; None while it rests where the fusion has it."""
        return self._balance

    def set_neutral(self, neutral: float) -> None:
        """Where the slider rests when nothing is chosen."""
        self._neutral = neutral
        self._show()

    def reset(self) -> None:
        """Leaves the balance to the fusion again."""
        if self._balance is not None:
            self._balance = None
            self._show()
            self._timer.start()

    def _on_moved(self, value: int) -> None:
        self._balance = value / STEPS
        self._show()
        if not self._timer.isActive():
            self._timer.start()

    def _show(self) -> None:
        value = self._neutral if self._balance is None else self._balance
        blocked = self.slider.blockSignals(True)
        self.slider.setValue(round(value * STEPS))
        self.slider.blockSignals(blocked)
        self.reset_button.setVisible(self._balance is not None)
        own = " – the search's own" if self._balance is None else ""
        self.slider.setToolTip(f"How much the sound counts beside the words: {value:.0%}{own}")
