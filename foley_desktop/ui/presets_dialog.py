"""The presets by which sounds leave: looking at them, changing them, keeping one's own."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.errors import RenderError
from foley_desktop.library import spot_names
from foley_desktop.library.presets import BUILT_IN, Preset, check, named
from foley_desktop.models import Clip, Region
from foley_desktop.ui import buttons, prompt, text
from foley_desktop.ui.preset_form import PresetForm
from foley_desktop.workers.transfer_jobs import Manner

_SAMPLE = Clip(
    id="x",
    path="",
    root_id=0,
    rel_path="",
    name="DOORWood_Barn Door Slam_JD_FARM.wav",
    catid="DOORWood",
    category="DOORS",
    subcategory="WOOD",
    title="Barn Door Slam",
    description="Heavy barn door, slam",
    samplerate=96000,
    channels=2,
    duration_s=4.2,
)
"""Whose name shows what a template does."""


class PresetsDialog(QDialog):
    """Shows presets and says what is to be kept or forgotten; it changes nothing itself."""

    save_wanted = Signal(object)
    remove_wanted = Signal(str)

    def __init__(self, parent: QWidget, manner: Manner) -> None:
        super().__init__(parent)
        self.setObjectName("presets_dialog")
        self.setWindowTitle("Presets")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._manner = manner
        self._folder = ""
        self.list = QListWidget()
        self.list.setObjectName("presets_list")
        self.list.setFixedWidth(190)
        self.list.setSpacing(2)
        self.list.currentItemChanged.connect(lambda *_: self._on_chosen())
        self.name = QLineEdit()
        self.name.setObjectName("preset_name")
        self.name.setMaxLength(60)
        self.template = QLineEdit()
        self.template.setObjectName("preset_template")
        fields = "\n".join(f"{{{name}}}  {words}" for name, words in spot_names.FIELDS.items())
        self.template.setToolTip(text.plain_tooltip(fields))
        self.folder = QLineEdit()
        self.folder.setObjectName("preset_folder")
        self.folder.setPlaceholderText("the spotted folder")
        self.folder.textEdited.connect(self._on_folder)
        self.form = PresetForm("preset")
        self.said = buttons.ElidedLabel("small")
        self.save = buttons.push("Save", "Keep this preset and use it", self._on_save, "primary")
        self.save.setObjectName("preset_save")
        self.remove = buttons.push("Remove", "Forget this preset of your own", self._on_remove)
        for line in (self.name, self.template):
            line.textChanged.connect(lambda _: self._look())
        self.form.changed.connect(self._look)
        self._lay_out()
        self.show_manner(manner)

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setVerticalSpacing(8)
        grid.setHorizontalSpacing(12)
        browse = buttons.push("Choose …", "Choose a folder for the new files", self.choose_folder)
        place = QHBoxLayout()
        place.setSpacing(8)
        place.addWidget(self.folder, 1)
        place.addWidget(browse)
        grid.addWidget(buttons.words("Name", "dim"), 0, 0)
        grid.addWidget(self.name, 0, 1)
        grid.addWidget(buttons.words("File names", "dim"), 1, 0)
        grid.addWidget(self.template, 1, 1)
        grid.addWidget(self.said, 2, 1)
        grid.addWidget(buttons.words("Folder", "dim"), 3, 0)
        grid.addLayout(place, 3, 1)
        grid.setColumnMinimumWidth(0, 76)
        grid.setColumnStretch(1, 1)
        right = QVBoxLayout()
        right.setSpacing(12)
        right.addLayout(grid)
        right.addWidget(buttons.rule())
        right.addWidget(self.form)
        right.addStretch(1)
        middle = QHBoxLayout()
        middle.setSpacing(16)
        middle.addWidget(self.list)
        middle.addLayout(right, 1)
        line = QHBoxLayout()
        line.addWidget(self.remove)
        line.addStretch(1)
        line.addWidget(buttons.push("Close", "Close  (Esc)", self.reject))
        line.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 14)
        column.setSpacing(12)
        column.addWidget(buttons.words("How sounds leave", "title"))
        said = (
            "Change the fields and save under a name of your own. Where nothing is chosen, nothing changes."
        )
        column.addWidget(buttons.words(said, "dim", wrap=True))
        column.addLayout(middle, 1)
        column.addLayout(line)
        self.resize(820, 430)

    def show_manner(self, manner: Manner) -> None:
        """The presets there are now."""
        self._manner = manner
        own = {preset.name for preset in manner.presets} - {preset.name for preset in BUILT_IN}
        blocked = self.list.blockSignals(True)
        self.list.clear()
        for preset in manner.presets:
            item = QListWidgetItem(text.shown(preset.name, 60) + ("  ·  own" if preset.name in own else ""))
            item.setData(Qt.ItemDataRole.UserRole, preset.name)
            item.setToolTip(text.plain_tooltip(preset.words()))
            self.list.addItem(item)
            if preset.name == manner.preset.name:
                self.list.setCurrentItem(item)
        self.list.blockSignals(blocked)
        self._on_chosen()

    def _chosen(self) -> Preset | None:
        item = self.list.currentItem()
        name = item.data(Qt.ItemDataRole.UserRole) if item is not None else ""
        return named(self._manner.presets, str(name))

    def _on_chosen(self) -> None:
        preset = self._chosen()
        if preset is None:
            return
        self.form.show_preset(preset)
        self.name.setText(preset.name)
        self.template.setText(preset.template)
        self.template.setPlaceholderText(f"as in the settings: {self._manner.template}")
        self.set_folder(preset.folder)
        changed = preset not in BUILT_IN
        self.remove.setEnabled(changed)
        self.remove.setText("Reset" if changed and named(BUILT_IN, preset.name) else "Remove")
        self._look()

    def preset(self) -> Preset:
        """What the fields say now."""
        return self.form.preset(self.name.text().strip(), self.template.text().strip(), self._folder)

    def _look(self) -> None:
        """Shows what a name would be, or what is wrong."""
        preset = self.preset()
        try:
            check(preset)
        except RenderError as error:
            self.said.set_words(error.sentence)
            self.save.setEnabled(False)
            return
        stem = spot_names.stem(
            preset.template or self._manner.template,
            _SAMPLE,
            Region(1.0, 2.5),
            project=self._manner.project.name,
        )
        self.said.set_words(f"→ {stem}{preset.extension_for(_SAMPLE)}")
        self.save.setEnabled(preset != self._chosen())

    def _on_save(self) -> None:
        self.save_wanted.emit(self.preset())

    def _on_remove(self) -> None:
        preset = self._chosen()
        if preset is not None:
            self.remove_wanted.emit(preset.name)

    def _on_folder(self, shown: str) -> None:
        self._folder = shown.strip()
        self._look()

    def choose_folder(self) -> None:
        """Opens a folder dialog; it does not block."""
        prompt.ask_folder(self, "New files go to", self.set_folder, self._folder)

    def set_folder(self, folder: str) -> None:
        """New files go there; empty for the spotted folder."""
        self._folder = folder
        self.folder.setText(text.shown(folder))
        self._look()
