"""The fields of a preset: what a sound becomes on its way out. Shared by the export and presets dialogs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QGridLayout, QHBoxLayout, QWidget

from foley_desktop.library.presets import Preset
from foley_desktop.ui import buttons

AS_IT_IS = "as it is"
FORMATS = ((".wav", "WAV"), (".flac", "FLAC"), (".aiff", "AIFF"), (".ogg", "Ogg Vorbis"))
RATES = (44100, 48000, 88200, 96000, 192000)
DEPTHS = ((16, "16 bit"), (24, "24 bit"), (32, "32 bit float"))


class PresetForm(QWidget):
    """Shows and edits everything of a preset but its name, template and folder."""

    changed = Signal()

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix
        self.format = self.choice("format", [(label, extension) for extension, label in FORMATS], own="")
        self.rate = self.choice("rate", [(f"{rate / 1000:g} kHz", rate) for rate in RATES], own=None)
        self.bits = self.choice("depth", [(label, bits) for bits, label in DEPTHS], own=None)
        self.channels = self.choice("channels", [("mono", 1), ("stereo", 2)], own=None)
        self.format.currentIndexChanged.connect(lambda _: self._on_format())
        self.dither = self._check("dither", "Dither where the depth falls")
        self.dither.setToolTip("Triangular dither, so that quiet tails fade instead of breaking up")
        self.dither.setChecked(True)
        self.normalise = self._check("normalise", "Normalise to")
        self.level = self.spin("level", -60.0, 0.0, -1.0, " dBFS")
        self.level.setEnabled(False)
        self.normalise.toggled.connect(self.level.setEnabled)
        self.handle = self.spin("handle", 0.0, 60.0, 0.0, " s")
        self.handle.setToolTip("Seconds of the sound before and after a region, as far as there are any")
        self.fade_in = self.spin("fade_in", 0.0, 60.0, 0.0, " s")
        self.fade_out = self.spin("fade_out", 0.0, 60.0, 0.0, " s")
        self._lay_out()

    def choice(self, name: str, entries: Sequence[tuple[str, object]], own: object) -> QComboBox:
        """A choice whose first entry leaves things as they are."""
        choice = buttons.Choice()
        choice.setObjectName(f"{self._prefix}_{name}")
        choice.addItem(AS_IT_IS, own)
        for label, value in entries:
            choice.addItem(label, value)
        choice.currentIndexChanged.connect(lambda _: self.changed.emit())
        return choice

    def spin(self, name: str, least: float, most: float, value: float, unit: str) -> QDoubleSpinBox:
        spin = QDoubleSpinBox()
        spin.setObjectName(f"{self._prefix}_{name}")
        spin.setRange(least, most)
        spin.setDecimals(1 if unit.strip() != "s" else 2)
        spin.setValue(value)
        spin.setSuffix(unit)
        spin.setMinimumWidth(70)
        spin.setAlignment(Qt.AlignmentFlag.AlignCenter)
        spin.valueChanged.connect(lambda _: self.changed.emit())
        return spin

    def _check(self, name: str, label: str) -> QCheckBox:
        check = QCheckBox(label)
        check.setObjectName(f"{self._prefix}_{name}")
        check.toggled.connect(lambda _: self.changed.emit())
        return check

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(8)
        grid.setHorizontalSpacing(12)
        loud = _row(self.normalise, self.level)
        fades = _row(buttons.words("in", "dim"), self.fade_in, buttons.words("out", "dim"), self.fade_out)
        handles = _row(self.handle, buttons.words("around a region", "dim"))
        fields: tuple[tuple[str, QWidget | QHBoxLayout, str, QWidget | QHBoxLayout], ...] = (
            ("Format", self.format, "Depth", self.bits),
            ("Sample rate", self.rate, "Channels", self.channels),
            ("Level", loud, "Fades", fades),
            ("Handles", handles, "", _row(self.dither)),
        )
        for number, (label, left, other, right) in enumerate(fields):
            for column, words, what in ((0, label, left), (2, other, right)):
                grid.addWidget(buttons.words(words, "dim"), number, column)
                if isinstance(what, QWidget):
                    grid.addWidget(what, number, column + 1)
                else:
                    grid.addLayout(what, number, column + 1)
        grid.setColumnMinimumWidth(0, 76)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)

    def _on_format(self) -> None:
        """Vorbis has no depth; the others keep what was chosen."""
        lossy = self.format.currentData() == ".ogg"
        self.bits.setEnabled(not lossy)
        if lossy:
            self.bits.setCurrentIndex(0)

    def show_preset(self, preset: Preset) -> None:
        """Puts the preset's values into the fields."""
        for choice, value in (
            (self.format, preset.extension),
            (self.rate, preset.rate),
            (self.bits, preset.depth),
            (self.channels, preset.channels),
        ):
            at = choice.findData(value)
            if at < 0:
                choice.addItem(str(value), value)
                at = choice.count() - 1
            choice.setCurrentIndex(at)
        self.normalise.setChecked(preset.normalise_db is not None)
        if preset.normalise_db is not None:
            self.level.setValue(preset.normalise_db)
        self.handle.setValue(preset.handle_s)
        self.fade_in.setValue(preset.fade_in_s)
        self.fade_out.setValue(preset.fade_out_s)
        self.dither.setChecked(preset.dither)

    def preset(self, name: str, template: str = "", folder: str = "") -> Preset:
        """What the fields say now."""
        return Preset(
            name,
            str(self.format.currentData()),
            self.rate.currentData(),
            self.bits.currentData(),
            self.channels.currentData(),
            self.level.value() if self.normalise.isChecked() else None,
            self.handle.value(),
            self.fade_in.value(),
            self.fade_out.value(),
            self.dither.isChecked(),
            template,
            folder,
        )


def _row(*widgets: QWidget) -> QHBoxLayout:
    line = QHBoxLayout()
    line.setSpacing(7)
    for widget in widgets:
        line.addWidget(widget)
    line.addStretch(1)
    return line
