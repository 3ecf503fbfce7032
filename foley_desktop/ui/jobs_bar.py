"""The jobs in the status bar: what runs, how far it is, how fast, and a cross to cancel it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from foley_desktop.models import Progress
from foley_desktop.ui import buttons, text
from foley_desktop.ui.job_line import show_step
from foley_desktop.workers.job import Job

MOST_SHOWN = 2


class JobView(QWidget):
    """One job: title, bar, numbers, cancel."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.title = buttons.ElidedLabel()
        self.title.set_words(text.shown(job.title, 60))
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(130)
        self.bar.setRange(0, 0)
        self.numbers = buttons.ElidedLabel("dim")
        self.numbers.set_words(text.progress(job.progress))
        self.cancel = buttons.tool("close", f"Cancel: {text.shown(job.title, 60)}", self._cancel, size=13)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(7)
        for widget in (self.title, self.bar, self.numbers, self.cancel):
            line.addWidget(widget)
        job.progressed.connect(self._on_progress)

    def _on_progress(self, step: Progress) -> None:
        if self.job.cancel_requested:
            return
        show_step(self.bar, step)
        self.numbers.set_words(text.progress(step))
        self.setToolTip(text.plain_tooltip(step.what))

    def _cancel(self) -> None:
        self.cancel.setEnabled(False)
        self.numbers.set_words("cancelling …")
        self.bar.setRange(0, 0)
        self.job.cancel()


class JobsBar(QWidget):
    """The jobs that are not over yet, the first ones shown, the others counted."""

    changed = Signal(int)
    """How many jobs are not over."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("jobs")
        self._views: list[JobView] = []
        self._line = QHBoxLayout(self)
        self._line.setContentsMargins(8, 2, 0, 2)
        self._line.setSpacing(18)
        self._more = buttons.words("", "dim")
        self._more.hide()
        self._idle = buttons.words("No jobs running", "faint")
        self._line.addWidget(self._idle)
        self._line.addWidget(self._more)
        self._line.addStretch(1)

    @property
    def jobs(self) -> list[Job]:
        return [view.job for view in self._views]

    @property
    def is_indexing(self) -> bool:
        """Whether a folder is being read, or waits for it."""
        return any(job.kind == "index" for job in self.jobs)

    def add(self, job: Job) -> None:
        """Shows a job until it is over."""
        view = JobView(job)
        self._views.append(view)
        self._line.insertWidget(self._line.indexOf(self._more), view)
        job.ended.connect(lambda: self._drop(view), Qt.ConnectionType.SingleShotConnection)
        self._arrange()

    def _drop(self, view: JobView) -> None:
        if view in self._views:
            self._views.remove(view)
            self._line.removeWidget(view)
            view.hide()
            view.deleteLater()
            self._arrange()

    def _arrange(self) -> None:
        for number, view in enumerate(self._views):
            view.setVisible(number < MOST_SHOWN)
        waiting = max(0, len(self._views) - MOST_SHOWN)
        self._more.setText(f"+ {waiting} more")
        self._more.setVisible(waiting > 0)
        self._idle.setVisible(not self._views)
        self.changed.emit(len(self._views))
