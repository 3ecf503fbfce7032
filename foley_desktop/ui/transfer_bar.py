"""The line below the waveform: how sounds leave, under which name, for which project, and the bin."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from foley_desktop.ui import buttons, icons, text, theme
from foley_desktop.ui import transfer_icons as _icons  # noqa: F401  (brings its icons)
from foley_desktop.ui.menu_button import MenuButton
from foley_desktop.workers.transfer_jobs import PLAIN, Manner

EDIT = "\0edit"
ROOM_FOR_PREVIEW = 860
ROOM_FOR_LABEL = 760


class TransferBar(QWidget):
    """Shows a Manner and says what is chosen; it changes nothing itself."""

    preset_chosen = Signal(str)
    edit_wanted = Signal()
    heard_toggled = Signal(bool)
    bin_toggled = Signal(bool)

    def __init__(self, fill_projects: Callable[[QMenu], object]) -> None:
        super().__init__()
        self.setObjectName("transfer_bar")
        theme.mark(self, "bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(34)
        self._preset = PLAIN.preset.name
        self.mark = buttons.words()
        self.mark.setPixmap(icons.pixmap("out", 16, theme.colour("dim"), self.devicePixelRatioF()))
        self.mark.setToolTip("How sounds leave: dragged rows, dragged regions, the bin, and “Send to”")
        self.label = buttons.words("Drag out as", "dim")
        self.label.setMinimumWidth(1)  # it is hidden before it would be cut
        self.preset = buttons.Choice()
        self.preset.setObjectName("drag_preset")
        self.preset.setAccessibleName("Preset for what leaves the window")
        self.preset.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.preset.setMinimumWidth(110)
        self.preset.activated.connect(lambda _: self._on_preset())
        self.heard = buttons.tool(
            "ear",
            "As heard: speed, direction, channels and level as they are set for listening go into the files",
            checkable=True,
            label="As heard",
            size=16,
            folds=True,
        )
        self.heard.setObjectName("drag_as_heard")
        self.heard.toggled.connect(self.heard_toggled)
        self.preview = buttons.ElidedLabel("small")
        self.preview.setObjectName("drag_preview")
        self.project = MenuButton(
            "", "The project that files are named by and uses are remembered for", fill_projects
        )
        self.project.setObjectName("project")
        self.project.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.project.setMinimumWidth(90)
        self.project.setMaximumWidth(170)
        self.bin = buttons.tool("bin", "", checkable=True, label="Bin", size=16, folds=True)
        self.bin.setObjectName("bin_toggle")
        self.bin.toggled.connect(self.bin_toggled)
        self._lay_out()
        self.show_manner(PLAIN)

    def _lay_out(self) -> None:
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 3, 12, 3)
        line.setSpacing(8)
        for widget in (self.mark, self.label, self.preset, self.heard):
            line.addWidget(widget)
        line.addWidget(self.preview, 1)
        line.addWidget(self.project)
        line.addWidget(self.bin)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What is least needed gives way first when there is little room."""
        super().resizeEvent(event)
        self.preview.setMinimumWidth(30 if self.width() >= ROOM_FOR_PREVIEW else 1)
        self.label.setVisible(self.width() >= ROOM_FOR_LABEL)

    def show_manner(self, manner: Manner) -> None:
        """How sounds leave now."""
        self._preset = manner.preset.name
        blocked = self.preset.blockSignals(True)
        self.preset.clear()
        for preset in manner.presets:
            self.preset.addItem(text.shown(preset.name, 40), preset.name)
            tip = text.plain_tooltip(preset.words())
            self.preset.setItemData(self.preset.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.preset.insertSeparator(self.preset.count())
        self.preset.addItem("Presets …", EDIT)
        self.preset.setCurrentIndex(max(0, self.preset.findData(self._preset)))
        self.preset.setToolTip(text.plain_tooltip(f"{manner.preset.name}: {manner.preset.words()}"))
        self.preset.blockSignals(blocked)
        blocked = self.heard.blockSignals(True)
        self.heard.setChecked(manner.as_heard)
        self.heard.blockSignals(blocked)
        project = manner.project
        self.project.setText(text.shown(project.name, 28).replace("&", "&&"))
        buttons.relabel(self.bin, f"Bin  {project.count}" if project.count else "Bin")
        self.bin.setToolTip(
            f"The bin of this project: {text.plural(project.count, 'thing')}. B adds the sound or the region"
        )

    def show_preview(self, words: str, tip: str) -> None:
        """What the next drag would bring."""
        self.preview.set_words(words)
        self.preview.setToolTip(text.plain_tooltip(tip))

    def _on_preset(self) -> None:
        chosen = str(self.preset.currentData())
        if chosen == EDIT:
            self.preset.setCurrentIndex(max(0, self.preset.findData(self._preset)))
            self.edit_wanted.emit()
        else:
            self.preset_chosen.emit(chosen)
