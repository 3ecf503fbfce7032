"""The Models page of the settings: which embedders there are, what each one needs, which one is in use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from foley_desktop.ui import buttons, icons, text, theme
from foley_desktop.ui.job_line import JobLine
from foley_desktop.workers.settings_jobs import Embedder

TYPES = "Checkpoints (*.pt *.pth *.safetensors vocab.json merges.txt);;All files (*)"


class ModelsPage(QWidget):
    """Shows what it is told; ``use_wanted(name)`` and ``file_chosen(path)`` say what is wanted."""

    use_wanted = Signal(str)
    file_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("models_page")
        self.cards: dict[str, ModelCard] = {}
        self._list = QVBoxLayout()
        self._list.setSpacing(8)
        self._words = buttons.words("Looking for models …", "faint")
        self._list.addWidget(self._words)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 8, 0)
        column.addLayout(self._list)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inner)
        self.choose = buttons.push(
            "Choose a checkpoint file …", "Add LAION-CLAP weights, or RoBERTa's tokenizer", self.choose_file
        )
        self.choose.setObjectName("choose_checkpoint")
        self.line = JobLine()
        bottom = QHBoxLayout()
        bottom.addWidget(self.choose)
        bottom.addWidget(self.line, 1)
        bottom.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(16, 14, 8, 12)
        outer.setSpacing(10)
        said = "Turns sounds and words into vectors. Another one listens to every clip before it takes over."
        outer.addWidget(buttons.words(said, "dim", wrap=True))
        outer.addWidget(area, 1)
        outer.addLayout(bottom)

    def show_embedders(self, embedders: Sequence[Embedder]) -> None:
        """Replaces the list."""
        self._words.hide()
        for card in self.cards.values():
            card.hide()
            card.deleteLater()
        self.cards = {}
        for embedder in embedders:
            card = ModelCard(embedder)
            card.use.clicked.connect(partial(self._use, embedder.name))
            self.cards[embedder.name] = card
            self._list.addWidget(card)

    def _use(self, name: str, _checked: bool = False) -> None:
        for card in self.cards.values():
            card.use.setEnabled(False)
        self.use_wanted.emit(name)

    def choose_file(self) -> None:
        """Opens a file dialog; it does not block."""
        dialog = QFileDialog(self, "Choose a checkpoint file")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(TYPES)
        dialog.fileSelected.connect(self.file_chosen)
        dialog.open()


class ModelCard(QFrame):
    """One embedder with its state and, where it can be chosen, a button for that."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        theme.mark(self, "tile")
        self.setObjectName(f"model_{embedder.name}")
        light = buttons.words()
        shade = "accent" if embedder.active else "blue" if embedder.following else "faint"
        light.setPixmap(icons.pixmap("dot", 14, theme.colour(shade), self.devicePixelRatioF()))
        self.state = buttons.words(state_words(embedder), "dim")
        self.use = buttons.push("Use", f"Find sounds with {embedder.name}")
        self.use.setObjectName(f"use_{embedder.name}")
        self.use.setVisible(embedder.ready and not embedder.active and not embedder.following)
        head = QHBoxLayout()
        head.setSpacing(7)
        head.addWidget(light)
        head.addWidget(buttons.words(text.shown(embedder.name, 60), "title"))
        head.addWidget(self.state, 1)
        head.addWidget(self.use)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 9, 12, 10)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(buttons.words(text.shown(embedder.description), wrap=True))
        if embedder.note:
            column.addWidget(buttons.words(text.shown(embedder.note), "dim", wrap=True))
        size = f"{embedder.size_bytes / 1e6:.0f} MB · " if embedder.size_bytes else ""
        column.addWidget(buttons.words(text.shown(f"{size}Licence: {embedder.licence}"), "small", wrap=True))


def state_words(embedder: Embedder) -> str:
    """What is to be said of an embedder in a few words."""
    if not embedder.ready:
        return text.shown(embedder.state, 120)
    known = ""
    if embedder.heard is not None and embedder.clips:
        known = f", knows {text.count(embedder.heard)} of {text.plural(embedder.clips, 'sound')}"
    if embedder.active:
        return "in use" + known
    return ("takes over when it has heard everything" if embedder.following else "ready") + known
