"""A job's progress where it was asked for: a bar, numbers, what it is at, and a button to stop it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from foley_desktop.models import Progress
from foley_desktop.ui import buttons, text
from foley_desktop.workers.job import Job


def show_step(bar: QProgressBar, step: Progress) -> None:
    """Sets a bar to how far a job is."""
    if step.share is not None:
        bar.setRange(0, 1000)
        bar.setValue(round(1000 * step.share))
    else:
        bar.setRange(0, max(0, step.total))
        bar.setValue(step.done)


class JobLine(QWidget):
    """Visible while it follows a job."""

    changed = Signal(bool)
    """Whether a job runs now."""

    def __init__(self) -> None:
        super().__init__()
        self._job: Job | None = None
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.words = buttons.ElidedLabel("dim")
        self.cancel_button = buttons.push("Cancel", "Stop this", self.cancel)
        left = QVBoxLayout()
        left.setSpacing(3)
        left.addWidget(self.words)
        left.addWidget(self.bar)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(8)
        line.addLayout(left, 1)
        line.addWidget(self.cancel_button)
        self.hide()

    @property
    def running(self) -> bool:
        return self._job is not None

    def follow(self, job: Job) -> None:
        """Shows a job until it is over."""
        self._job = job
        self.bar.setRange(0, 0)
        self.words.set_words("Waiting …")
        self.cancel_button.setEnabled(True)
        self.show()
        job.progressed.connect(self._on_progress)
        job.ended.connect(self._on_ended)
        self.changed.emit(True)

    def cancel(self) -> None:
        if self._job is not None:
            self.cancel_button.setEnabled(False)
            self.words.set_words("Cancelling …")
            self._job.cancel()

    def _on_progress(self, step: Progress) -> None:
        if self._job is None or self._job.cancel_requested:
            return
        show_step(self.bar, step)
        what = text.shown(step.what, 80)
        self.words.set_words(f"{text.progress(step)} · {what}" if step.total else what)

    def _on_ended(self) -> None:
        self._job = None
        self.hide()
        self.changed.emit(False)
