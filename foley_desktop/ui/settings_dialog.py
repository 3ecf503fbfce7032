"""The settings: how rankers are fused, where sound goes, which model listens; choices hold at once."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QRadioButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.settings import Settings
from foley_desktop.ui import buttons, text
from foley_desktop.ui.models_page import ModelsPage

FUSIONS = (
    ("weighted", "Weighted scores", "Each ranker counts for as much as it has earned. Recommended."),
    ("rrf", "Reciprocal ranks (RRF)", "Every ranker counts alike, by rank alone; simple and well known."),
)
LATENCIES = (("low", "Low: reacts at once"), ("high", "High: for busy machines and wireless sound"))


class SettingsDialog(QDialog):
    """Shows settings and says what is chosen; it changes nothing itself and never blocks the window."""

    fusion_chosen = Signal(str)
    output_chosen = Signal(str, str)
    """Name of a device, empty for the system's own, and latency."""

    def __init__(self, parent: QWidget, settings: Settings) -> None:
        super().__init__(parent)
        self.setObjectName("settings_dialog")
        self.setWindowTitle("Settings")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(700, 640)
        self.tabs = QTabWidget()
        self.models = ModelsPage(device=settings.device)
        self.tabs.addTab(self._search_page(settings), "Search")
        self.tabs.addTab(self._sound_page(settings), "Sound")
        self.tabs.addTab(self.models, "Models")
        close = buttons.push("Close", "Close  (Esc)", self.accept, "primary")
        line = QHBoxLayout()
        line.setContentsMargins(0, 4, 14, 12)
        line.addStretch(1)
        line.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.tabs, 1)
        column.addLayout(line)

    def _search_page(self, settings: Settings) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 14, 16, 12)
        column.setSpacing(5)
        column.addWidget(buttons.words("FUSION", "heading"))
        said = "How the lists of words, meaning and sound become one, in the mode Everything."
        column.addWidget(buttons.words(said, "dim", wrap=True))
        self.fusions = QButtonGroup(self)
        for name, label, tip in FUSIONS:
            button = QRadioButton(label)
            button.setObjectName(f"fusion_{name}")
            button.setToolTip(tip)
            button.setChecked((settings.fusion == "rrf") == (name == "rrf"))
            button.toggled.connect(lambda on, name=name: self.fusion_chosen.emit(name) if on else None)
            self.fusions.addButton(button)
            column.addSpacing(6)
            column.addWidget(button)
            column.addWidget(buttons.words(tip, "small", wrap=True))
        column.addStretch(1)
        return page

    def _sound_page(self, settings: Settings) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 14, 16, 12)
        column.setSpacing(8)
        column.addWidget(buttons.words("OUTPUT", "heading"))
        self.device = buttons.Choice()
        self.device.setObjectName("output_device")
        self.device.addItem("The system's own", "")
        if settings.output_device:
            self.device.addItem(text.shown(settings.output_device, 80), settings.output_device)
            self.device.setCurrentIndex(1)
        self.latency = buttons.Choice()
        self.latency.setObjectName("output_latency")
        for name, label in LATENCIES:
            self.latency.addItem(label, name)
        self.latency.setCurrentIndex(max(0, self.latency.findData(settings.output_latency)))
        for choice in (self.device, self.latency):
            choice.activated.connect(lambda _: self._say_output())
        grid = QGridLayout()
        grid.setColumnStretch(1, 1)
        grid.setVerticalSpacing(8)
        for row, (label, choice) in enumerate((("Device", self.device), ("Latency", self.latency))):
            grid.addWidget(buttons.words(label, "dim"), row, 0)
            grid.addWidget(choice, row, 1)
        column.addLayout(grid)
        self.sound_words = buttons.words("", "dim", wrap=True)
        column.addWidget(self.sound_words)
        column.addStretch(1)
        return page

    def _say_output(self) -> None:
        self.output_chosen.emit(str(self.device.currentData()), str(self.latency.currentData()))

    def show_devices(self, names: Sequence[str]) -> None:
        """The outputs there are; the chosen one stays even while it is away."""
        for name in names:
            if self.device.findData(name) < 0:
                self.device.addItem(text.shown(name, 80), name)
        if not names:
            self.show_sound("No sound output was found.")

    def show_sound(self, sentence: str) -> None:
        """What there is to say about the output."""
        self.sound_words.setText(text.shown(sentence, 300))
