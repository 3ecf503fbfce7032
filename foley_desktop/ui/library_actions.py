"""What the window does to the library: folders, index runs, ratings, and keeping the sidebar true."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip, IndexReport, Progress, Root
from foley_desktop.ui import platform, text
from foley_desktop.ui.messages import Messages
from foley_desktop.workers import jobs
from foley_desktop.workers.job import Job
from foley_desktop.workers.jobs import Dropped
from foley_desktop.workers.runner import Runner

REFRESH_EVERY_S = 1.0
MODELS_EVERY_MS = 400
LATER_MS = 1500
"""When everything is made ready for a first search, even in a library that is empty still."""


class LibraryActions(QObject):
    """Every method returns at once; the work is done on the lanes."""

    overview_changed = Signal(object)
    clips_changed = Signal()
    """Clips came, went or changed: what is listed may be out of date."""
    job_started = Signal(object)
    indexed = Signal(object)
    """An IndexReport."""
    file_dropped = Signal(str)
    """One audio file was dropped that is no folder."""
    list_dropped = Signal(str)
    """A list of another librarian was dropped."""
    models_changed = Signal(str, str)
    """State of the models and a sentence for it."""

    def __init__(self, service: LibraryService, runner: Runner, messages: Messages) -> None:
        super().__init__()
        self._service = service
        self._runner = runner
        self._messages = messages
        self._refreshed_s = 0.0
        self._models = ("", "")
        self._models_timer = QTimer(self)
        self._models_timer.setInterval(MODELS_EVERY_MS)
        self._models_timer.timeout.connect(self._ask_models)

    # --- reading

    def refresh(self) -> None:
        """Reads anew what the sidebar shows."""
        self._runner.reads.submit(
            lambda: jobs.overview(self._service), self.overview_changed.emit, self._messages.fail,
            key="overview", what="Reading the library",
        )  # fmt: skip

    def start_models(self) -> None:
        """Starts the models in the background and watches them until they are ready."""
        self._runner.reads.submit(lambda: jobs.start_models(self._service), what="Starting the models")
        self._models_timer.start()
        QTimer.singleShot(LATER_MS, self, self._import_indexes)

    def _import_indexes(self) -> None:
        self._runner.reads.submit(jobs.import_indexes, what="Opening the indexes")

    def _ask_models(self) -> None:
        work = partial(jobs.readiness, self._service)
        self._runner.reads.submit(work, self._take_models, key="models")

    def _take_models(self, state: tuple[str, str]) -> None:
        if state[0] in ("ready", "failed"):
            self._models_timer.stop()
        if state != self._models:
            self._models = state
            self.models_changed.emit(*state)

    def stop(self) -> None:
        self._models_timer.stop()

    # --- folders

    def add_folders(self, folders: Sequence[str]) -> None:
        """Adds folders and indexes them."""
        if folders:
            self.scan(jobs.index_job(self._service, list(folders)))

    def rescan(self, root: Root | None) -> None:
        """Looks at a folder anew, or at all of them."""
        self.scan(jobs.index_job(self._service, [root.path] if root else None))

    def make_demo(self) -> None:
        self.scan(jobs.demo_job(self._service))

    def remove(self, root: Root) -> None:
        """Forgets a folder and what is known about its sounds."""
        job = jobs.remove_job(self._service, root)
        job.finished.connect(
            lambda _: self._messages.say(f"{text.shown(root.name)} was removed. Its files are untouched.")
        )
        self._run(job)

    def set_searchable(self, root: Root, searchable: bool) -> None:
        """Takes a folder into searches, or leaves it out."""
        self._write(
            lambda: self._service.set_root_searchable(root.id, searchable),
            lambda: self._after_change(),
            "The switch",
        )

    def drop(self, paths: Sequence[str], others: int) -> None:
        """Takes what was dropped on the window: folders are added, one file is offered to the window."""
        self._runner.reads.submit(
            lambda: jobs.sort_dropped(paths, others), self._take_dropped, self._messages.fail, what="The drop"
        )

    def _take_dropped(self, dropped: Dropped) -> None:
        self.add_folders(dropped.folders)
        if len(dropped.files) == 1 and not dropped.folders:
            self.file_dropped.emit(dropped.files[0])
        elif dropped.files:
            self.add_folders(jobs.folders_of(dropped.files))
        if dropped.lists:
            self.list_dropped.emit(dropped.lists[0])
        if dropped.others:
            others = text.plural(dropped.others, "dropped thing")
            self._messages.say(f"{others} passed over: only folders, audio files and lists count.")

    def scan(self, job: Job) -> None:
        """Runs a job whose result is an IndexReport."""
        job.progressed.connect(self._on_index_progress)
        job.finished.connect(self._on_indexed)
        self._run(job)

    def _run(self, job: Job) -> None:
        job.failed.connect(self._messages.fail)
        job.started.connect(self.refresh)
        job.ended.connect(self._after_change)
        self._runner.writes.submit(job)
        self.job_started.emit(job)

    def _on_index_progress(self, step: Progress) -> None:
        now = time.monotonic()
        if now - self._refreshed_s >= REFRESH_EVERY_S:
            self._refreshed_s = now
            self._after_change()

    def _on_indexed(self, report: IndexReport) -> None:
        self.indexed.emit(report)

    def _after_change(self) -> None:
        self.refresh()
        self.clips_changed.emit()

    def reveal(self, path: str) -> None:
        """Shows a file or folder in the desktop's file manager."""

        def show(folder: str | None) -> None:
            if folder is not None and not platform.open_folder(folder):
                self._messages.say("No file manager answered.")

        self._runner.reads.submit(
            partial(platform.reveal, path), show, self._messages.fail, what="The file manager"
        )

    # --- clips

    def rate(self, clips: Sequence[Clip], rating: int, failed: Callable[[], None]) -> None:
        ids = [clip.id for clip in clips if clip.id]
        self._write(lambda: self._service.set_rating(ids, rating), lambda: None, "The rating", failed)

    def favour(self, clips: Sequence[Clip], favourite: bool, failed: Callable[[], None]) -> None:
        ids = [clip.id for clip in clips if clip.id]
        self._write(
            lambda: self._service.set_favourite(ids, favourite), self.refresh, "The favourite", failed
        )

    def remember_search(self, query: str) -> None:
        """Puts a query into the recent searches."""
        self._write(lambda: self._service.remember_search(query), self.refresh, "Remembering the search")

    def _write(
        self,
        work: Callable[[], object],
        done: Callable[[], None],
        what: str,
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        def fail(error: Exception) -> None:
            failed()
            self._messages.fail(error)  # type: ignore[arg-type]

        self._runner.writes.slip_in(work, lambda _: done(), fail, what)
