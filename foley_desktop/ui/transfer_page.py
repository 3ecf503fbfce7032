"""The settings of handing over: names and folder of new files, editors, REAPER."""

from __future__ import annotations

import os
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.library import presets, receivers, spot_names
from foley_desktop.models import Clip, Region
from foley_desktop.ui import buttons, prompt, text

_SAMPLE = Clip(
    id="x", path="", root_id=0, rel_path="", name="barn door slam.wav", samplerate=48000, channels=2,
    catid="DOORWood", category="DOORS", subcategory="WOOD", duration_s=4.2,
)  # fmt: skip


class TransferPage(QScrollArea):
    """Shows the settings' free part and says what is changed in it."""

    changed = Signal(str, str)
    """Key and value of the settings' free part."""
    tidy_wanted = Signal()
    script_wanted = Signal()

    def __init__(self, extra: dict[str, Any]) -> None:
        super().__init__()
        self.setObjectName("transfer_page")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._extra = extra
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(16, 14, 16, 12)
        self._column.setSpacing(6)
        self.lines: dict[str, QLineEdit] = {}
        self._files()
        self._editors()
        self._reaper()
        self._column.addStretch(1)
        self.setWidget(inside)

    def _files(self) -> None:
        self._heading("New files", "Regions, and sounds that are converted or treated on their way out.")
        grid = self._grid()
        template = self._line(grid, 0, "File names", presets.TEMPLATE, spot_names.DEFAULT)
        fields = "\n".join(f"{{{name}}}  {words}" for name, words in spot_names.FIELDS.items())
        template.setToolTip(text.plain_tooltip(fields))
        template.textChanged.connect(lambda _: self._preview())
        self.preview = buttons.ElidedLabel("small")
        grid.addWidget(self.preview, 1, 1)
        self._folder_line(grid, 2, "Folder", presets.FOLDER, "the spotted folder of this library")
        self.spotted = buttons.ElidedLabel("dim")
        self.spotted.set_words("Counting …")
        tidy = buttons.push("Tidy up …", "See what was made for drags, and delete what you are sure of")
        tidy.setObjectName("tidy_up")
        tidy.clicked.connect(lambda _=False: self.tidy_wanted.emit())
        grid.addWidget(buttons.words("Made so far", "dim"), 3, 0)
        line = QHBoxLayout()
        line.addWidget(self.spotted, 1)
        line.addWidget(tidy)
        grid.addLayout(line, 3, 1)
        self._preview()

    def _editors(self) -> None:
        self._heading("Send to", "Programs and folders in the context menu of the sounds.")
        grid = self._grid()
        self._line(grid, 0, "Editor", receivers.EDITOR_NAME, "its name, such as Audacity")
        command = self._line(grid, 1, "Its command", receivers.EDITOR, "such as  audacity {files}")
        command.setToolTip(
            text.plain_tooltip(
                "{files}  all files, each an argument of its own\n{file}  one file: the program is started "
                "for each\nwithout either, the files come last\nNo shell reads it."
            )
        )
        self._folder_line(grid, 2, "Folder", receivers.SEND_FOLDER, "where copies go, such as an inbox")

    def _reaper(self) -> None:
        self._heading(
            "REAPER",
            "Files go to its edit cursor: load the script into REAPER's action list, and enter its command "
            "ID with the address of the web interface. Without one, let the script watch a list file.",
        )
        grid = self._grid()
        self._line(grid, 0, "Address", receivers.REAPER_ADDRESS, "http://localhost:8080")
        self._line(grid, 1, "Command ID", receivers.REAPER_ACTION, "_RS…")
        self._line(grid, 2, "List file", receivers.REAPER_FILE, "only without the web interface")
        script = buttons.push("Save the script …", "Save the script that REAPER is to load")
        script.setObjectName("reaper_script")
        script.clicked.connect(lambda _=False: self.script_wanted.emit())
        grid.addWidget(script, 3, 1, Qt.AlignmentFlag.AlignLeft)

    # --- pieces

    def _heading(self, title: str, said: str) -> None:
        if self._column.count():
            self._column.addSpacing(10)
        self._column.addWidget(buttons.words(title.upper(), "heading"))
        self._column.addWidget(buttons.words(said, "dim", wrap=True))

    def _grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setVerticalSpacing(7)
        grid.setHorizontalSpacing(12)
        grid.setColumnMinimumWidth(0, 84)
        grid.setColumnStretch(1, 1)
        self._column.addLayout(grid)
        return grid

    def _line(self, grid: QGridLayout, row: int, label: str, key: str, hint: str) -> QLineEdit:
        line = self._field(key, hint)
        grid.addWidget(buttons.words(label, "dim"), row, 0)
        grid.addWidget(line, row, 1)
        return line

    def _field(self, key: str, hint: str) -> QLineEdit:
        known = self._extra.get(key)
        line = QLineEdit(known if isinstance(known, str) else "")
        line.setObjectName(key)
        line.setPlaceholderText(hint)
        line.editingFinished.connect(lambda: self._on_edited(key))
        self.lines[key] = line
        return line

    def _folder_line(self, grid: QGridLayout, row: int, label: str, key: str, hint: str) -> None:
        line = self._field(key, hint)
        browse = buttons.push("Choose …", "Choose a folder", lambda: self._choose(key))
        place = QHBoxLayout()
        place.setSpacing(8)
        place.addWidget(line, 1)
        place.addWidget(browse)
        grid.addWidget(buttons.words(label, "dim"), row, 0)
        grid.addLayout(place, row, 1)

    def _choose(self, key: str) -> None:
        prompt.ask_folder(
            self,
            "Choose a folder",
            lambda folder: (self.lines[key].setText(folder), self._on_edited(key)),
            self.lines[key].text(),
        )

    def _on_edited(self, key: str) -> None:
        value = self.lines[key].text().strip()
        if key == presets.TEMPLATE and value and spot_names.flaw(value):
            return  # what is wrong is said below the line; the old one stays in force
        if key == presets.FOLDER and value and not os.path.isabs(value):
            return
        if value != self._extra.get(key, ""):
            self.changed.emit(key, value)

    def _preview(self) -> None:
        template = self.lines[presets.TEMPLATE].text().strip() or spot_names.DEFAULT
        said = spot_names.flaw(template)
        if not said:
            stem = spot_names.stem(template, _SAMPLE, Region(1.0, 2.5), project="My project")
            said = f"→ {stem}.wav"
        self.preview.set_words(said)

    def show_spotted(self, words: str) -> None:
        """How much was made so far."""
        self.spotted.set_words(words)
