"""In the transport: reverse, the way to all that is done to the sound, and a chip that says what is done.

The panel opens above the button and stays open while it is used; everything in it is heard at once.
"""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QPainter, QPainterPath, QPolygonF
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QHBoxLayout, QSlider, QVBoxLayout, QWidget

from foley_desktop.audio.treatment import NORMALISED_DB, SEMITONES, Treatment, choices
from foley_desktop.models import Clip
from foley_desktop.ui import buttons, icons, theme, treatment_words

_CENTS = 10  # steps of the speed slider in a semitone
_GAIN_DB = 24
_CHIP_WIDTH = 220
_CHIP_HEIGHT = 24


def _draw_reverse(painter: QPainter) -> None:
    painter.drawLine(QLineF(20, 12, 5, 12))
    painter.drawPolyline(QPolygonF((QPointF(10, 6.5), QPointF(4.5, 12), QPointF(10, 17.5))))
    painter.drawLine(QLineF(20, 7, 20, 17))


def _draw_treat(painter: QPainter) -> None:
    for x, y in ((6, 15), (12, 8), (18, 13)):
        painter.drawLine(QLineF(x, 4, x, y - 2.5))
        painter.drawLine(QLineF(x, y + 2.5, x, 20))
        path = QPainterPath()
        path.addEllipse(QPointF(x, y), 2.4, 2.4)
        painter.drawPath(path)


icons.add({"reverse": _draw_reverse, "treat": _draw_treat})


class TreatmentPanel(QFrame):
    """Everything that can be done to the sound. Says what is chosen; holds nothing itself."""

    altered = Signal(dict)
    """Parts of the treatment by name."""
    reset_pressed = Signal()
    hold_toggled = Signal(bool)
    skip_toggled = Signal(bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("treatment_panel")
        theme.mark(self, "tile")
        self._count: int | None = None
        self.speed = self._slider("Varispeed", round(SEMITONES * _CENTS), "Varispeed, −24 to +24 semitones")
        self.speed.setObjectName("treatment_speed")
        self.speed.valueChanged.connect(lambda value: self._say(semitones=value / _CENTS))
        self.gain = self._slider(
            "Gain", _GAIN_DB * 2, "Gain of this sound, −24 to +24 dB: its own, beside the listening volume"
        )
        self.gain.valueChanged.connect(lambda value: self._say(gain_db=value / 2))
        self._speed_words, self._gain_words = buttons.words("", "dim"), buttons.words("", "dim")
        self.channels = buttons.Choice()
        self.channels.setObjectName("treatment_channels")
        self.channels.setAccessibleName("Channels")
        self.channels.setToolTip("Which channels are heard")
        self.channels.activated.connect(lambda _: self._say(channels=self.channels.currentData()))
        self.keep_pitch = self._check("Keep the pitch", "Change the speed only  (P)")
        self.keep_pitch.toggled.connect(lambda on: self._say(keep_pitch=on))
        self.reverse = self._check("Reverse", "Back to front  (R)")
        self.reverse.toggled.connect(lambda on: self._say(reverse=on))
        self.normalise = self._check(
            f"Normalise to {treatment_words.decibels(NORMALISED_DB)}FS",
            "Bring the highest sample of the clip to this level  (N)",
        )
        self.normalise.toggled.connect(lambda on: self._say(normalise_db=NORMALISED_DB if on else None))
        self.skip = self._check(
            "Skip silence", "Jump over silence before the first sound, and over pauses of more than a second"
        )
        self.skip.toggled.connect(self.skip_toggled)
        self.hold = self._check("Hold for the next sounds", "Otherwise each sound begins as it is")
        self.hold.toggled.connect(self.hold_toggled)
        self.reset = buttons.push("Reset", "The sound as it is  (\\)", self.reset_pressed.emit)
        self._lay_out()

    def _slider(self, name: str, reach: int, tip: str) -> QSlider:
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(-reach, reach)
        slider.setPageStep(_CENTS)
        slider.setMinimumWidth(190)
        slider.setAccessibleName(name)
        slider.setToolTip(tip)
        return slider

    def _check(self, label: str, tip: str) -> QCheckBox:
        box = QCheckBox(label)
        box.setToolTip(tip)
        return box

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 14)
        column.setSpacing(9)
        column.addWidget(buttons.words("WHAT IS DONE TO THE SOUND", "heading"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(9)
        grid.setColumnMinimumWidth(2, 62)
        grid.setColumnStretch(1, 1)
        rows = (("Varispeed", self.speed, self._speed_words), ("Gain", self.gain, self._gain_words))
        for row, (label, slider, words) in enumerate(rows):
            words.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            words.setFont(theme.digits_font(words.font()))
            grid.addWidget(buttons.words(label, "dim"), row, 0)
            grid.addWidget(slider, row, 1)
            grid.addWidget(words, row, 2)
        grid.addWidget(buttons.words("Channels", "dim"), 2, 0)
        grid.addWidget(self.channels, 2, 1, 1, 2)
        column.addLayout(grid)
        for box in (self.keep_pitch, self.reverse, self.normalise):
            column.addWidget(box)
        column.addWidget(buttons.rule())
        column.addWidget(self.skip)
        last = QHBoxLayout()
        last.addWidget(self.hold)
        last.addStretch(1)
        last.addWidget(self.reset)
        column.addLayout(last)

    def show_treatment(self, treatment: Treatment) -> None:
        """How things stand; says nothing."""
        for widget, value in (
            (self.speed, round(treatment.semitones * _CENTS)),
            (self.gain, round(treatment.gain_db * 2)),
        ):
            widget.blockSignals(True)
            widget.setValue(value)
            widget.blockSignals(False)
        for box, on in (
            (self.keep_pitch, treatment.keep_pitch),
            (self.reverse, treatment.reverse),
            (self.normalise, treatment.normalise_db is not None),
        ):
            box.blockSignals(True)
            box.setChecked(on)
            box.blockSignals(False)
        self._speed_words.setText(treatment_words.semitones(treatment.semitones))
        self._gain_words.setText(treatment_words.decibels(treatment.gain_db))
        self.channels.setCurrentIndex(max(0, self.channels.findData(treatment.channels)))
        self.reset.setEnabled(not treatment.is_neutral)

    def show_count(self, count: int | None) -> None:
        """How many channels there are to choose from."""
        self.channels.clear()
        for choice in choices(count or 1):
            self.channels.addItem(treatment_words.channels(choice, count), choice)
        self.channels.setEnabled((count or 1) > 1)

    def _say(self, **parts: object) -> None:
        self.altered.emit(parts)


class TreatmentBar(QWidget):
    """The buttons. The chip stands elsewhere in the transport."""

    reverse_toggled = Signal(bool)
    reset_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(4)
        self.reverse = buttons.tool("reverse", "Reverse: back to front  (R)", checkable=True)
        self.reverse.setObjectName("reverse")
        self.reverse.toggled.connect(self.reverse_toggled)
        tip = "Varispeed, gain, channels, normalise …  (V;  [ and ] change the speed)"
        self.open = buttons.tool("treat", tip, self.open_panel)
        self.open.setObjectName("treatment")
        for button in (self.reverse, self.open):
            line.addWidget(button)
        self.panel = TreatmentPanel(self)
        self.chip = QFrame()
        self.chip.setObjectName("treatment_chip")
        theme.mark(self.chip, "chip-accent")
        self.words = buttons.ElidedLabel()
        close = buttons.tool("close", "The sound as it is  (\\)", self.reset_pressed.emit, size=12)
        close.setFixedSize(16, 16)
        theme.mark(close, "chip-close")
        inside = QHBoxLayout(self.chip)
        inside.setContentsMargins(10, 0, 5, 0)
        inside.setSpacing(4)
        inside.addWidget(self.words)
        inside.addWidget(close)
        self.chip.setMaximumWidth(_CHIP_WIDTH)
        self.chip.setFixedHeight(_CHIP_HEIGHT)
        self.chip.hide()
        self._clip: Clip | None = None

    def open_panel(self) -> None:
        """Opens the panel above its button, or closes it."""
        if self.panel.isVisible():
            self.panel.hide()
            return
        self.panel.adjustSize()
        corner = self.open.mapToGlobal(QPoint(0, 0))
        top = corner.y() - self.panel.height() - 6
        if top < self.screen().availableGeometry().top():
            top = corner.y() + self.open.height() + 6
        self.panel.move(corner.x(), top)
        self.panel.show()
        self.panel.speed.setFocus()

    def show_clip(self, clip: Clip | None) -> None:
        """The clip in hand, which has channels to choose from."""
        self._clip = clip
        self.panel.show_count(clip.channels if clip else None)

    def show_treatment(self, treatment: Treatment) -> None:
        """How things stand."""
        self.reverse.blockSignals(True)
        self.reverse.setChecked(treatment.reverse)
        self.reverse.blockSignals(False)
        self.panel.show_treatment(treatment)
        said = treatment_words.summary(treatment, self._clip.channels if self._clip else None)
        self.words.set_words(said)
        self.chip.setToolTip(said)
        self.chip.setVisible(bool(said))
