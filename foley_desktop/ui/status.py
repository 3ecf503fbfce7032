"""The status bar: jobs at the left, the library and the models at the right."""

from __future__ import annotations

from PySide6.QtWidgets import QStatusBar

from foley_desktop.ui import buttons, icons, text, theme
from foley_desktop.ui.jobs_bar import JobsBar
from foley_desktop.workers.jobs import Overview

_MODEL_WORDS = {
    "off": ("faint", "models off"),
    "loading": ("amber", "models loading …"),
    "ready": ("accent", "models ready"),
    "failed": ("red", "models failed"),
}


class StatusLine(QStatusBar):
    """Shows what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self.jobs = JobsBar()
        self._counts = buttons.words("", "dim")
        self._models = buttons.words("", "dim")
        self._light = buttons.words()
        self._light.setFixedWidth(14)
        self.addWidget(self.jobs, 1)
        for widget in (self._counts, self._light, self._models, buttons.words(" ")):
            self.addPermanentWidget(widget)
        self.show_models("off", "The models are not started.")

    def show_overview(self, overview: Overview) -> None:
        if not overview.roots:
            self._counts.setText("")
            return
        words = f"{text.plural(overview.clip_count, 'sound')} in {text.plural(len(overview.roots), 'folder')}"
        self._counts.setText(words + "   ")

    def show_models(self, state: str, sentence: str) -> None:
        shade, words = _MODEL_WORDS.get(state, ("faint", state))
        self._light.setPixmap(icons.pixmap("dot", 14, theme.colour(shade), self.devicePixelRatioF()))
        self._models.setText(words)
        for widget in (self._light, self._models):
            widget.setToolTip(text.plain_tooltip(sentence))
