"""What exported files are to be: where, which format, under which names; and the queue of exports below."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.audio.naming import plain_name
from foley_desktop.audio.render import RenderOptions
from foley_desktop.audio.treatment import Treatment
from foley_desktop.library import spot_names
from foley_desktop.library.presets import NEUTRAL, Preset, named
from foley_desktop.models import Clip, Region
from foley_desktop.ui import buttons, prompt, text
from foley_desktop.ui.export_queue import ExportQueue, QueueView
from foley_desktop.ui.preset_form import PresetForm
from foley_desktop.workers.transfer_jobs import Manner

OWN_NAMES = "{name}"
DEFAULT_FORMAT = ".wav"


class ExportDialog(QDialog):
    """Asks; ``export_wanted(folder, stems, extension, options)`` says what was decided."""

    export_wanted = Signal(str, list, str, list)
    preset_wanted = Signal(object)
    """A Preset of the fields as they are now, to be kept under a name that is asked for."""

    def __init__(
        self,
        parent: QWidget,
        things: Sequence[tuple[Clip, Region | None]],
        folder: str,
        *,
        manner: Manner,
        treatments: Sequence[Treatment] = (),
        queue: ExportQueue | None = None,
        show: Callable[[str], object] = lambda path: None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("export_dialog")
        self.setWindowTitle("Export")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._clips = [clip for clip, _ in things]
        self._regions = [region for _, region in things]
        self._manner = manner
        self._treatments = list(treatments) or [NEUTRAL] * len(things)
        self._folder = folder
        self._closes = False
        self._proposed = ""
        self.form = PresetForm("export")
        self.format, self.rate, self.bits = self.form.format, self.form.rate, self.form.bits
        self.channels, self.normalise, self.level = self.form.channels, self.form.normalise, self.form.level
        self._make_names()
        self._make_place()
        self._make_switches()
        self._make_presets()
        self.queue = QueueView(queue, show) if queue is not None else None
        self.export = buttons.push(
            "Export", "Write the new files and close  (Enter)", self._on_export, "primary"
        )
        self.export.setObjectName("export_start")
        self.export.setDefault(True)
        self.enqueue = buttons.push(
            "Add to queue", "Write the new files; the dialog stays for another", self._on_enqueue
        )
        self.enqueue.setObjectName("export_enqueue")
        self._lay_out()
        self.format.setCurrentIndex(self.format.findData(DEFAULT_FORMAT))
        if manner.preset.name != manner.presets[0].name:
            self._choose_preset(manner.preset)
        self._propose()

    # --- parts

    def _make_names(self) -> None:
        single = len(self._clips) == 1
        self.name = QLineEdit("" if single else f"{len(self._clips)} sounds, named by the template")
        self.name.setObjectName("export_name")
        self.name.setEnabled(single)
        self.name.setVisible(single)
        self.template = QLineEdit(OWN_NAMES)
        self.template.setObjectName("export_template")
        self.template.setVisible(not single)
        fields = "\n".join(f"{{{name}}}  {words}" for name, words in spot_names.FIELDS.items())
        self.template.setToolTip(text.plain_tooltip(fields))
        self.preview = buttons.ElidedLabel("small")
        self.preview.setObjectName("export_preview")
        self.name.textChanged.connect(lambda _: self._preview())
        self.template.textChanged.connect(lambda _: self._preview())

    def _make_place(self) -> None:
        self.folder = QLineEdit(text.shown(self._folder))
        self.folder.setObjectName("export_folder")
        self.folder.textEdited.connect(self._on_folder)
        self.browse = buttons.push("Choose …", "Choose a folder", self.choose_folder)
        self.flaw = buttons.words("", "wrong", wrap=True)
        self.flaw.setObjectName("export_flaw")
        self.flaw.hide()

    def _make_switches(self) -> None:
        some, region = any(self._regions), self._regions[0]
        self.only_region = QCheckBox("Only the regions, each a file of its own")
        self.only_region.setObjectName("export_region")
        self.only_region.setVisible(some)
        self.only_region.setChecked(some)
        self.only_region.toggled.connect(self.form.handle.setEnabled)
        self.only_region.toggled.connect(lambda _: self._propose())
        self.form.handle.setEnabled(some)
        if region is not None and len(self._clips) == 1:
            stretch = f"{text.clock(region.start_s)} – {text.clock(region.end_s)}"
            self.only_region.setText(f"Only the selected region, {stretch}")
        self.as_heard = QCheckBox("As heard: with speed, direction, channels and level as they are set now")
        self.as_heard.setObjectName("export_as_heard")
        treated = not all(treatment.is_neutral for treatment in self._treatments)
        self.as_heard.setVisible(treated)
        self.as_heard.setChecked(self._manner.as_heard and treated)
        self.format.currentIndexChanged.connect(lambda _: self._preview())

    def _make_presets(self) -> None:
        self.presets = buttons.Choice()
        self.presets.setObjectName("export_preset")
        self.presets.setToolTip("Fills in the fields below; change them as you like")
        for preset in self._manner.presets:
            self.presets.addItem(text.shown(preset.name, 60), preset.name)
        self.presets.activated.connect(lambda _: self._on_preset())
        self.keep = buttons.push(
            "Save as preset …", "Keep these fields under a name, for drags and exports", self._on_keep
        )
        self.keep.setObjectName("export_save_preset")

    # --- layout

    def _lay_out(self) -> None:
        single = len(self._clips) == 1
        title = text.shown(self._clips[0].name, 80) if single else text.plural(len(self._clips), "sound")
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 14)
        column.setSpacing(10)
        column.addWidget(buttons.words(f"Export {title}", "title", wrap=True))
        grid = QGridLayout()
        grid.setVerticalSpacing(8)
        grid.setHorizontalSpacing(12)
        names = QVBoxLayout()
        names.setSpacing(3)
        for widget in (self.name, self.template, self.preview):
            names.addWidget(widget)
        place = QVBoxLayout()
        place.setSpacing(3)
        place.addLayout(_beside(self.folder, self.browse))
        place.addWidget(self.flaw)
        rows: tuple[tuple[str, QHBoxLayout | QVBoxLayout], ...] = (
            ("Preset", _beside(self.presets, self.keep)),
            ("Name" if single else "Names", names),
            ("Folder", place),
        )
        for number, (label, what) in enumerate(rows):
            words = buttons.words(label, "dim")
            grid.addWidget(words, number, 0, Qt.AlignmentFlag.AlignTop)
            words.setContentsMargins(0, 5, 0, 0)
            grid.addLayout(what, number, 1)
        grid.setColumnMinimumWidth(0, 76)
        grid.setColumnStretch(1, 1)
        column.addLayout(grid)
        column.addWidget(buttons.rule())
        column.addWidget(self.form)
        column.addWidget(self.only_region)
        column.addWidget(self.as_heard)
        said = "What stays as it is comes out bit for bit. A file of that name is never replaced."
        column.addWidget(buttons.words(said, "small", wrap=True))
        if self.queue is not None:
            self.queue.setMinimumHeight(150)
            column.addWidget(self.queue, 1)
        line = QHBoxLayout()
        line.addStretch(1)
        for button in (
            buttons.push("Close", "Close  (Esc); exports go on", self.reject),
            self.enqueue,
            self.export,
        ):
            line.addWidget(button)
        column.addLayout(line)
        self.setMinimumWidth(700)

    def _on_folder(self, shown: str) -> None:
        self._folder = shown
        self.flaw.hide()

    def choose_folder(self) -> None:
        """Opens a folder dialog; it does not block."""
        prompt.ask_folder(self, "Export to", self.set_folder, self._folder)

    def set_folder(self, folder: str) -> None:
        self._folder = folder
        self.folder.setText(text.shown(folder))

    # --- presets

    def _on_preset(self) -> None:
        preset = named(self._manner.presets, str(self.presets.currentData()))
        if preset is not None:
            self._choose_preset(preset)

    def _choose_preset(self, preset: Preset) -> None:
        self.presets.setCurrentIndex(self.presets.findData(preset.name))
        self.form.show_preset(preset)
        if preset.folder:
            self.set_folder(preset.folder)
        if preset.template:
            self.template.setText(preset.template)
            if len(self._clips) == 1:
                self.name.setText(self._stem(0, preset.template))

    def _on_keep(self) -> None:
        template = (
            "" if self.template.text() == OWN_NAMES or not self.template.isVisible() else self.template.text()
        )
        self.preset_wanted.emit(self.form.preset("", template))

    def show_manner(self, manner: Manner) -> None:
        """Presets have changed: a new one is chosen at once."""
        known = {preset.name for preset in self._manner.presets}
        self._manner = manner
        self.presets.clear()
        for preset in manner.presets:
            self.presets.addItem(text.shown(preset.name, 60), preset.name)
        fresh = [preset.name for preset in manner.presets if preset.name not in known]
        self.presets.setCurrentIndex(max(0, self.presets.findData(fresh[0] if fresh else manner.preset.name)))

    # --- what was decided

    def _propose(self) -> None:
        """Another name while nobody has typed one: that of a region says where it was."""
        if len(self._clips) == 1 and self.name.text() in ("", self._proposed):
            stem = self._own_stem()
            self._proposed = text.shown(stem, 200).strip()
            self.name.setText(self._proposed)
        self._preview()

    def _own_stem(self) -> str:
        if self._region(0) is not None:
            return self._stem(0, spot_names.DEFAULT)
        return os.path.splitext(self._clips[0].name)[0]

    def _region(self, number: int) -> Region | None:
        return self._regions[number] if self.only_region.isChecked() else None

    def _stem(self, number: int, template: str) -> str:
        project = self._manner.project.name
        return spot_names.stem(template, self._clips[number], self._region(number), project=project)

    def stems(self) -> list[str]:
        """The names of the new files, without extension, in the clips' order."""
        template = self.template.text()
        own = [os.path.splitext(clip.name)[0] for clip in self._clips]
        if len(own) > 1:
            return own if template == OWN_NAMES else [self._stem(n, template) for n in range(len(own))]
        typed, proposed = self.name.text().strip(), self._own_stem()
        if typed in ("", text.shown(proposed, 200).strip()):
            return [proposed]
        return [typed.replace("/", "-").replace("\\", "-")]

    def _preview(self) -> None:
        said = spot_names.flaw(self.template.text()) if len(self._clips) > 1 else ""
        self.export.setEnabled(not said)
        self.enqueue.setEnabled(not said)
        if said:
            self.preview.set_words(said)
            return
        preset = self.form.preset("")
        named_so = [
            stem + preset.extension_for(clip) for clip, stem in zip(self._clips, self.stems(), strict=True)
        ]
        shown = ", ".join(text.shown(plain_name(name), 120) for name in named_so[:3])
        self.preview.set_words(f"→ {shown}" + (" …" if len(named_so) > 3 else ""))

    def options(self, number: int = 0) -> RenderOptions:
        """What changes of one of the sounds, as it is chosen now."""
        treatment = self._treatments[number] if self.as_heard.isChecked() else NEUTRAL
        return self.form.preset("").options(self._clips[number], self._region(number), treatment)

    def _say(self) -> None:
        options = [self.options(number) for number in range(len(self._clips))]
        self.export_wanted.emit(self._folder, self.stems(), str(self.format.currentData()), options)

    def _on_enqueue(self) -> None:
        self._closes = False
        self._say()

    def _on_export(self) -> None:
        self._closes = True
        self._say()

    def take(self) -> None:
        """What was decided can be done: the dialog closes if it was to."""
        self.flaw.hide()
        if self._closes:
            self.accept()

    def refuse(self, flaw: str) -> None:
        """It cannot, for the folder's sake; everything stays as it was typed."""
        self._closes = False
        self.flaw.setText(text.shown(flaw))
        self.flaw.show()
        self.folder.setFocus()
        self.folder.selectAll()


def _beside(wide: QWidget, narrow: QWidget) -> QHBoxLayout:
    line = QHBoxLayout()
    line.setSpacing(8)
    line.addWidget(wide, 1)
    line.addWidget(narrow)
    return line
