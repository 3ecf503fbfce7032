"""The exports of a session: what waits, what is being written and how far, what came of it; each can stop."""

from __future__ import annotations

import os
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QScrollArea, QVBoxLayout, QWidget
from shiboken6 import isValid

from foley_desktop.errors import FoleyError
from foley_desktop.models import Progress
from foley_desktop.ui import buttons, icons, text, theme
from foley_desktop.ui.job_line import show_step
from foley_desktop.ui.messages import ErrorDialog, TextDialog
from foley_desktop.workers.export_jobs import Exported
from foley_desktop.workers.job import Job

MOST = 50


class ExportItem(QObject):
    """One export: its job, what came of it, and ``again``, which asks for the same once more."""

    changed = Signal()

    def __init__(self, job: Job, place: str, again: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self.job = job
        self.place = place
        self.again = again
        self.result: Exported | None = None
        self.error: FoleyError | None = None
        job.started.connect(self.changed)
        job.progressed.connect(lambda _: self.changed.emit())
        job.finished.connect(self._on_finished)
        job.failed.connect(self._on_failed)
        job.ended.connect(self.changed)

    def _on_finished(self, result: Exported) -> None:
        self.result = result

    def _on_failed(self, error: FoleyError) -> None:
        self.error = error

    def words(self) -> str:
        """How it stands."""
        if self.job.cancel_requested and not self.job.is_over:
            return "stopping …"
        if self.job.state == "waiting":
            return "waits for its turn"
        if self.job.state == "cancelled":
            return "stopped; whole files that were made stay"
        if self.error is not None:
            return f"Failed: {text.shown(self.error.sentence, 300)}"
        if self.result is not None:
            files = self.result.files
            what = os.path.basename(files[0]) if len(files) == 1 else f"{len(files)} files"
            made = f"{text.shown(what, 120)} in {text.shown(self.place, 200)}"
            left = len(self.result.failed)
            return (f"{text.plural(left, 'sound')} could not be exported; " if left else "") + made
        return _running(self.job.progress)


def _running(step: Progress | None) -> str:
    if step is None:
        return "begins"
    left = f" · {text.remaining(step.remaining_s)} left" if step.remaining_s is not None else ""
    counted = f"{step.done + 1} of {step.total} · " if step.total > 1 else ""
    return f"{counted}{text.shown(step.what, 80)}{left}"


class ExportQueue(QObject):
    """The exports in the order they were asked for."""

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.items: list[ExportItem] = []

    def add(self, job: Job, place: str, again: Callable[[], object]) -> ExportItem:
        """Takes an export in; what is over and long past makes room."""
        item = ExportItem(job, place, again, self)
        self.items.append(item)
        over = [one for one in self.items if one.job.is_over]
        for old in over[: max(0, len(self.items) - MOST)]:
            self._drop(old)
        job.ended.connect(self.changed)
        self.changed.emit()
        return item

    def clear(self) -> None:
        """Forgets what is over; the files stay."""
        for item in [one for one in self.items if one.job.is_over]:
            self._drop(item)
        self.changed.emit()

    def retry(self, item: ExportItem) -> None:
        """Asks for a failed export once more, in its stead."""
        self._drop(item)
        self.changed.emit()
        item.again()

    def _drop(self, item: ExportItem) -> None:
        self.items.remove(item)
        item.deleteLater()


class QueueRow(QFrame):
    """One export with its bar and its buttons: stop it, show what it made, or try again what failed."""

    def __init__(self, item: ExportItem, queue: ExportQueue, show: Callable[[str], object]) -> None:
        super().__init__()
        theme.mark(self, "tile")
        self.item = item
        self._queue = queue
        self._show = show
        self.flaw = buttons.words()
        self.flaw.setObjectName("flaw")
        self.title = buttons.ElidedLabel()
        self.title.set_words(text.shown(item.job.title, 120))
        self.state = buttons.ElidedLabel("small")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.cancel = buttons.tool("close", "Stop this export", self._cancel, size=13)
        self.reveal = buttons.push("Show", "Show the new files in the file manager", self._reveal)
        self.details = buttons.push("Details", "Why it could not be exported", self._explain)
        self.again = buttons.push("Try again", "Export the same once more", self._retry)
        left = QVBoxLayout()
        left.setSpacing(3)
        for widget in (self.title, self.state, self.bar):
            left.addWidget(widget)
        line = QHBoxLayout(self)
        line.setContentsMargins(10, 6, 8, 7)
        line.addWidget(self.flaw)
        line.addLayout(left, 1)
        for button in (self.cancel, self.details, self.again, self.reveal):
            line.addWidget(button)
        item.changed.connect(self._update)
        self._update()

    def _update(self) -> None:
        if not isValid(self):
            return
        job = self.item.job
        self.state.set_words(self.item.words())
        self.state.setToolTip(text.plain_tooltip("\n".join(self._details())))
        self.bar.setVisible(not job.is_over)
        if job.state == "running" and not job.cancel_requested and job.progress is not None:
            show_step(self.bar, job.progress)
        else:
            self.bar.setRange(0, 0 if job.state == "running" else 1)
        self.cancel.setVisible(not job.is_over)
        self.cancel.setEnabled(not job.cancel_requested)
        self.reveal.setVisible(bool(self.item.result and self.item.result.files))
        self._show_flaw()

    def _show_flaw(self) -> None:
        """Marks what failed in red, and what failed in part in amber."""
        item = self.item
        partly = item.result is not None and bool(item.result.failed)
        failed = item.error is not None
        for widget in (self.flaw, self.details):
            widget.setVisible(failed or partly)
        self.again.setVisible(failed)
        if failed or partly:
            colour = theme.colour("red" if failed else "amber")
            self.flaw.setPixmap(icons.pixmap("warning", 18, colour, self.devicePixelRatioF()))
        if failed:
            theme.mark(self, "tile-error")
            self.style().unpolish(self)
            self.style().polish(self)

    def _details(self) -> list[str]:
        if self.item.error is not None:
            return [self.item.error.sentence, self.item.error.hint, self.item.place]
        if self.item.result is not None:
            return [*self.item.result.failed, *self.item.result.files][:30]
        return [self.item.place]

    def _cancel(self) -> None:
        self.item.job.cancel()
        self._update()

    def _explain(self) -> None:
        if self.item.error is not None:
            ErrorDialog(self.window(), self.item.error).open()
        elif self.item.result is not None:
            TextDialog(self.window(), "Not exported", self.item.result.failed).open()

    def _retry(self) -> None:
        self._queue.retry(self.item)

    def _reveal(self) -> None:
        if self.item.result is not None:
            self._show(self.item.result.files[0])


class QueueView(QWidget):
    """The queue as a list; hidden while there is nothing in it."""

    def __init__(self, queue: ExportQueue, show: Callable[[str], object]) -> None:
        super().__init__()
        self.setObjectName("export_queue")
        self._queue = queue
        self._show = show
        self.rows: list[QueueRow] = []
        self._column = QVBoxLayout()
        self._column.setContentsMargins(0, 0, 4, 0)
        self._column.setSpacing(5)
        self._column.addStretch(1)
        inside = QWidget()
        inside.setLayout(self._column)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(inside)
        head = QHBoxLayout()
        head.addWidget(buttons.words("QUEUE", "heading"), 1)
        self.clear_button = buttons.push("Clear finished", "Take finished exports off the list", queue.clear)
        head.addWidget(self.clear_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(scroll, 1)
        queue.changed.connect(self._update)
        self._update()

    def _update(self) -> None:
        if not isValid(self):
            return
        known = {row.item: row for row in self.rows}
        for row in [row for row in self.rows if row.item not in self._queue.items]:
            self.rows.remove(row)
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        for item in self._queue.items:
            if item not in known:
                row = QueueRow(item, self._queue, self._show)
                self.rows.append(row)
                self._column.insertWidget(self._column.count() - 1, row)
        self.clear_button.setEnabled(any(item.job.is_over for item in self._queue.items))
        self.setVisible(bool(self.rows))
