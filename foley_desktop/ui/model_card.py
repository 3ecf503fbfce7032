"""One embedder on the Models page: its state, what it costs, and what can be done with it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout

from foley_desktop.models import Progress
from foley_desktop.ui import buttons, icons, text, theme
from foley_desktop.workers.settings_jobs import Embedder


class ModelCard(QFrame):
    """``wanted(what, name)`` asks for something to be done; ``use`` is the button to choose it."""

    wanted = Signal(str, str)

    def __init__(self, embedder: Embedder, active: str = "") -> None:
        super().__init__()
        theme.mark(self, "tile")
        self.embedder = embedder
        self.setObjectName(f"model_{embedder.name}")
        light = buttons.words()
        shade = "accent" if embedder.active else "blue" if embedder.following else "faint"
        light.setPixmap(icons.pixmap("dot", 14, theme.colour(shade), self.devicePixelRatioF()))
        self.state = buttons.words(state_words(embedder), "dim")
        self.use = buttons.push("Use", f"Let {embedder.name} listen to your sounds, then find them with it")
        self.use.setObjectName(f"use_{embedder.name}")
        self.use.setVisible(embedder.ready and not embedder.active and not embedder.following)
        head = QHBoxLayout()
        head.setSpacing(7)
        head.addWidget(light)
        head.addWidget(buttons.words(text.shown(embedder.name, 60), "title"))
        head.addWidget(self.state, 1)
        head.addWidget(self.use)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 9, 12, 10)
        self._column.setSpacing(4)
        self._column.addLayout(head)
        self._column.addWidget(buttons.words(text.shown(embedder.description), wrap=True))
        if embedder.note:
            self._column.addWidget(buttons.words(text.shown(embedder.note), "dim", wrap=True))
        size = f"{embedder.size_bytes / 1e6:.0f} MB · " if embedder.size_bytes else ""
        said = text.shown(f"{size}Licence: {embedder.licence}")
        self._column.addWidget(buttons.words(said, "small", wrap=True))
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.left = buttons.ElidedLabel("dim")
        self._column.addWidget(self.left)
        self._column.addWidget(self.bar)
        self._add_actions(active)
        self.show_listening(None)

    def _add_actions(self, active: str) -> None:
        one = self.embedder
        name = text.shown(one.name, 40)
        actions = QHBoxLayout()
        actions.setSpacing(6)
        actions.addStretch(1)
        self.answers: dict[str, QPushButton] = {}
        offered: list[tuple[str, str, str]] = []
        if one.removable:
            offered.append(("remove", "Remove …", f"Delete the weights of {name}; you are asked first"))
        if one.following:
            offered.append(
                ("stay", f"Keep {text.shown(active, 30)}", f"Do without {name}; what it heard is kept")
            )
            if not one.complete:
                offered.append(("listen", "Listen now", f"Let {name} go on listening to your sounds"))
            if one.heard:
                offered.append(
                    ("compare", "Compare …", "Both side by side on a golden set, before you switch")
                )
                offered.append(("switch", "Switch", f"Find sounds with {name} from now on"))
        for what, label, tip in offered:
            role = "primary" if what == "switch" and one.complete else ""
            button = buttons.push(label, tip, partial(self.wanted.emit, what, one.name), role)
            button.setObjectName(f"{what}_{one.name}")
            self.answers[what] = button
            actions.addWidget(button)
        if offered:
            self._column.addSpacing(2)
            self._column.addLayout(actions)

    def show_numbers(self, embedder: Embedder) -> None:
        """How many sounds it knows by now."""
        self.embedder = embedder
        self.state.setText(state_words(embedder))

    def show_listening(self, step: Progress | None, *, indexing: bool = False) -> None:
        """How far listening is; None while it does not listen, be it that folders are read first."""
        one = self.embedder
        waits = one.following and not one.complete
        for widget in (self.bar, self.left):
            widget.setVisible(waits and indexing)
        if "listen" in self.answers:
            self.answers["listen"].setVisible(not indexing)
        if step is None:
            self.bar.setRange(0, 0)
            self.left.set_words("Listens as soon as the folders are read …")
        else:
            self.bar.setRange(0, max(0, step.total))
            self.bar.setValue(step.done)
            self.left.set_words(f"Listening: {text.progress(step)}")


def state_words(embedder: Embedder) -> str:
    """What is to be said of an embedder in a few words."""
    if not embedder.ready:
        missing = "in use, but " if embedder.active else ""
        return missing + text.shown(embedder.state, 120)
    known = ""
    if embedder.heard is not None and embedder.clips:
        known = f", knows {text.count(embedder.heard)} of {text.plural(embedder.clips, 'sound')}"
    if embedder.active:
        return "in use" + known
    if embedder.following and embedder.complete:
        return "waits for your word" + known
    return ("takes over when it has heard everything" if embedder.following else "ready") + known
