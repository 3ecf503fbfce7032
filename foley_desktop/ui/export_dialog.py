"""What an exported file is to be: where, which format, and what of it changes."""

from __future__ import annotations

import os
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.audio.render import RenderOptions
from foley_desktop.models import Clip, Region
from foley_desktop.ui import buttons, text

FORMATS = ((".wav", "WAV"), (".flac", "FLAC"), (".aiff", "AIFF"), (".ogg", "Ogg Vorbis"))
RATES = (44100, 48000, 88200, 96000, 192000)
DEPTHS = ((16, "16 bit"), (24, "24 bit"), (32, "32 bit float"))
AS_IT_IS = "as it is"


class ExportDialog(QDialog):
    """Asks; ``export_wanted(folder, stems, extension, options)`` says what was decided."""

    export_wanted = Signal(str, list, str, object)

    def __init__(self, parent: QWidget, clips: Sequence[Clip], region: Region | None, folder: str) -> None:
        super().__init__(parent)
        self.setObjectName("export_dialog")
        self.setWindowTitle("Export")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._clips = list(clips)
        self._region = region
        single = len(clips) == 1
        stem = os.path.splitext(clips[0].name)[0]
        self.name = QLineEdit(text.shown(stem, 200) if single else f"{len(clips)} sounds, their own names")
        self.name.setObjectName("export_name")
        self.name.setEnabled(single)
        self.folder = QLineEdit(text.shown(folder))
        self.folder.setObjectName("export_folder")
        self._folder = folder
        self.folder.textEdited.connect(self._on_folder)
        self.browse = buttons.push("Choose …", "Choose a folder", self.choose_folder)
        self.format = self._choice("export_format", [(label, extension) for extension, label in FORMATS])
        self.rate = self._choice("export_rate", [(f"{rate / 1000:g} kHz", rate) for rate in RATES], own=True)
        self.bits = self._choice("export_depth", [(label, bits) for bits, label in DEPTHS], own=True)
        self.channels = self._choice("export_channels", [("mono", 1), ("stereo", 2)], own=True)
        self.format.currentIndexChanged.connect(lambda _: self._on_format())
        self.normalise = QCheckBox("Normalise to")
        self.normalise.setObjectName("export_normalise")
        self.level = QDoubleSpinBox()
        self.level.setObjectName("export_level")
        self.level.setRange(-60.0, 0.0)
        self.level.setDecimals(1)
        self.level.setValue(-1.0)
        self.level.setSuffix(" dBFS")
        self.level.setMinimumWidth(96)
        self.level.setEnabled(False)
        self.normalise.toggled.connect(self.level.setEnabled)
        self.only_region = QCheckBox("Only the selected region")
        self.only_region.setObjectName("export_region")
        self.only_region.setVisible(region is not None and single)
        self.only_region.setChecked(region is not None and single)
        if region is not None:
            stretch = f"{text.clock(region.start_s)} – {text.clock(region.end_s)}"
            self.only_region.setText(f"Only the selected region, {stretch}")
        self.export = buttons.push("Export", "Write the new file  (Enter)", self._on_export, "primary")
        self.export.setObjectName("export_start")
        self.export.setDefault(True)
        self._lay_out(single)

    @staticmethod
    def _choice(name: str, entries: Sequence[tuple[str, object]], *, own: bool = False) -> QComboBox:
        choice = buttons.Choice()
        choice.setObjectName(name)
        if own:
            choice.addItem(AS_IT_IS, None)
        for label, value in entries:
            choice.addItem(label, value)
        return choice

    def _lay_out(self, single: bool) -> None:
        title = text.shown(self._clips[0].name, 80) if single else text.plural(len(self._clips), "sound")
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 14)
        column.setSpacing(10)
        column.addWidget(buttons.words(f"Export {title}", "title", wrap=True))
        grid = QGridLayout()
        grid.setVerticalSpacing(8)
        grid.setHorizontalSpacing(12)
        place = QHBoxLayout()
        place.setSpacing(8)
        place.addWidget(self.folder, 1)
        place.addWidget(self.browse)
        loud = QHBoxLayout()
        loud.setSpacing(8)
        loud.addWidget(self.normalise)
        loud.addWidget(self.level)
        loud.addStretch(1)
        rows: tuple[tuple[str, QWidget | QHBoxLayout], ...] = (
            ("Name", self.name),
            ("Folder", place),
            ("Format", self.format),
            ("Sample rate", self.rate),
            ("Depth", self.bits),
            ("Channels", self.channels),
            ("Level", loud),
        )
        for number, (label, what) in enumerate(rows):
            grid.addWidget(buttons.words(label, "dim"), number, 0)
            if isinstance(what, QWidget):
                grid.addWidget(what, number, 1)
            else:
                grid.addLayout(what, number, 1)
        grid.setColumnStretch(1, 1)
        column.addLayout(grid)
        column.addWidget(self.only_region)
        said = "What stays as it is comes out bit for bit. A file of that name is never replaced."
        column.addWidget(buttons.words(said, "small", wrap=True))
        line = QHBoxLayout()
        line.addStretch(1)
        line.addWidget(buttons.push("Cancel", "Change nothing", self.reject))
        line.addWidget(self.export)
        column.addLayout(line)
        self.setMinimumWidth(480)

    def _on_folder(self, shown: str) -> None:
        self._folder = shown

    def _on_format(self) -> None:
        """Vorbis has no depth; the others keep what was chosen."""
        lossy = self.format.currentData() == ".ogg"
        self.bits.setEnabled(not lossy)
        if lossy:
            self.bits.setCurrentIndex(0)

    def choose_folder(self) -> None:
        """Opens a folder dialog; it does not block."""
        dialog = QFileDialog(self, "Export to", self._folder)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        dialog.fileSelected.connect(self.set_folder)
        dialog.open()

    def set_folder(self, folder: str) -> None:
        self._folder = folder
        self.folder.setText(text.shown(folder))

    def options(self) -> RenderOptions:
        """What changes, as it is chosen now."""
        region = self._region if self.only_region.isChecked() else None
        return RenderOptions(
            start_s=region.start_s if region else None,
            end_s=region.end_s if region else None,
            rate=self.rate.currentData(),
            depth=self.bits.currentData(),
            channels=self.channels.currentData(),
            normalise_db=self.level.value() if self.normalise.isChecked() else None,
        )

    def _on_export(self) -> None:
        stems = [os.path.splitext(clip.name)[0] for clip in self._clips]
        typed = self.name.text().strip()
        if len(stems) == 1 and typed != text.shown(stems[0], 200).strip():
            stems = [typed.replace("/", "-").replace("\\", "-") or stems[0]]
        self.accept()
        self.export_wanted.emit(self._folder, stems, str(self.format.currentData()), self.options())
