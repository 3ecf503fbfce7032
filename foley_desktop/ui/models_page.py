"""The Models page of the settings: which embedders there are, what each one needs, which one is in use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from foley_desktop.models import Progress
from foley_desktop.ui import buttons, text
from foley_desktop.ui.job_line import JobLine
from foley_desktop.ui.model_card import ModelCard, state_words
from foley_desktop.workers.settings_jobs import Embedder

__all__ = ["ModelsPage", "state_words"]

TYPES = "Checkpoints (*.pt *.pth *.safetensors vocab.json merges.txt);;All files (*)"
DEVICES = {"cpu": "the processor", "cuda": "the GPU (CUDA)", "mps": "the GPU (Metal)"}


class ModelsPage(QWidget):
    """Shows what it is told. ``wanted(what, name)`` says what is to be done with an embedder: ``compare``,
    ``switch``, ``stay``, ``listen``, ``remove``; ``use_wanted(name)`` and ``file_chosen(path)`` what is
    wanted."""

    use_wanted = Signal(str)
    wanted = Signal(str, str)
    file_chosen = Signal(str)
    download_wanted = Signal()
    device_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None, device: str = "cpu") -> None:
        super().__init__(parent)
        self.setObjectName("models_page")
        self.cards: dict[str, ModelCard] = {}
        self._shown: list[Embedder] = []
        self._listening: tuple[Progress | None, bool] = None, False
        self._list = QVBoxLayout()
        self._list.setSpacing(8)
        self._words = buttons.words("Looking for models …", "faint")
        self._list.addWidget(self._words)
        self.choose = buttons.push(
            "Choose a checkpoint file …", "Add LAION-CLAP weights, or RoBERTa's tokenizer", self.choose_file
        )
        self.choose.setObjectName("choose_checkpoint")
        self.download = buttons.push(
            "Download …",
            "Fetch LAION-CLAP's published weights; you are asked first",
            self.download_wanted.emit,
        )
        self.download.setObjectName("download_checkpoint")
        self.line = JobLine()
        self.line.changed.connect(lambda on: self.download.setEnabled(not on))
        self.device = buttons.Choice()
        self.device.setObjectName("clap_device")
        self.device.activated.connect(lambda _: self.device_chosen.emit(str(self.device.currentData())))
        self.device_words = buttons.words("", "small", wrap=True)
        self.device_words.setObjectName("clap_device_words")
        self.show_devices([], device)
        self._lay_out()

    def _lay_out(self) -> None:
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
        runs = QHBoxLayout()
        runs.setSpacing(8)
        runs.addWidget(buttons.words("CLAP runs on", "dim"))
        runs.addWidget(self.device)
        runs.addWidget(self.device_words, 1)
        bottom = QHBoxLayout()
        bottom.addWidget(self.choose)
        bottom.addWidget(self.download)
        bottom.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(16, 14, 8, 12)
        outer.setSpacing(10)
        said = "Turns sounds and words into vectors. Another one listens to every clip before it takes over."
        outer.addWidget(buttons.words(said, "dim", wrap=True))
        outer.addWidget(area, 1)
        outer.addWidget(self.line)
        outer.addLayout(runs)
        outer.addLayout(bottom)

    def show_embedders(self, embedders: Sequence[Embedder]) -> None:
        """Shows what there is. Where only numbers have changed the cards stay, and with them the buttons
        under the mouse."""
        before, self._shown = self._shown, list(embedders)
        if [one.without_numbers for one in before] == [one.without_numbers for one in embedders]:
            for one in embedders:
                self.cards[one.name].show_numbers(one)
            return
        self._words.hide()
        for card in self.cards.values():
            card.hide()
            card.deleteLater()
        self.cards = {}
        active = next((one.name for one in embedders if one.active), "")
        for embedder in embedders:
            card = ModelCard(embedder, active)
            card.use.clicked.connect(partial(self._use, embedder.name))
            card.wanted.connect(self.wanted)
            self.cards[embedder.name] = card
            self._list.addWidget(card)
        step, indexing = self._listening
        self.show_listening(step, indexing=indexing)

    def show_listening(self, step: Progress | None, *, indexing: bool) -> None:
        """How far the embedder that is to take over is with listening; None while it does not listen.

        Args:
            indexing: Folders are read, or wait for it, and it listens after that.
        """
        self._listening = step, indexing
        for card in self.cards.values():
            card.show_listening(step, indexing=indexing)

    def _use(self, name: str, _checked: bool = False) -> None:
        for card in self.cards.values():
            card.use.setEnabled(False)
        self._shown = []
        self.use_wanted.emit(name)

    def choose_file(self) -> None:
        """Opens a file dialog; it does not block."""
        dialog = QFileDialog(self, "Choose a checkpoint file")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(TYPES)
        dialog.fileSelected.connect(self.file_chosen)
        dialog.open()

    # --- devices

    def show_devices(self, usable: Sequence[str], chosen: str) -> None:
        """The devices that torch can use; before that is known only the one that is chosen."""
        names = list(dict.fromkeys((*usable, chosen)))
        self.device.clear()
        for name in names:
            self.device.addItem(DEVICES.get(name, name), name)
        self.device.setCurrentIndex(names.index(chosen))
        self.device.setEnabled(len(names) > 1)
        only = bool(usable) and names == ["cpu"]
        self.device.setToolTip("torch sees no GPU here" if only else "What CLAP's networks run on")
        if only:
            self.show_device_words("torch sees no GPU here.")

    def show_device_words(self, sentence: str) -> None:
        """What there is to say of the device: that it was not there, for one."""
        self.device_words.setText(text.shown(sentence, 300))
