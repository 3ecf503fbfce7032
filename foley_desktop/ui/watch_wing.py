"""Keeps the library in step with the disk: what changes there is taken up quietly, in the background.

The first look comes a while after the start, so that it is in nobody's way. News waits while folders are
being read anyway. What is found waits behind the "N new" chip once the selection is in the results.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from foley_desktop.errors import FoleyError, LibraryBusyError
from foley_desktop.library.watch import STILL_S, Watcher
from foley_desktop.models import IndexReport, Progress
from foley_desktop.ui import buttons, text
from foley_desktop.ui.settings_desk import SettingsDesk
from foley_desktop.ui.settings_dialog import SettingsDialog
from foley_desktop.workers import settings_jobs, watch_jobs
from foley_desktop.workers.jobs import Overview

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

log = logging.getLogger(__name__)

FIRST_LOOK_MS = 6_000
BUSY_AGAIN_MS = 15_000
REFRESH_EVERY_S = 2.0
_EXPLAINED = (
    "New, changed and deleted sounds are noticed while the window is open, and once at its start. "
    "Files that are still being copied are taken up when they have been still for two seconds."
)


class WatchWing(QObject):
    """Part of the window."""

    def __init__(self, window: MainWindow, settings: SettingsDesk, still_s: float = STILL_S) -> None:
        super().__init__(window)
        self._window = window
        self.watcher = Watcher(self._on_told, still_s=still_s)
        self._roots: tuple[str, ...] = ()
        self._waiting: set[str] = set()
        self._everything = False
        self._busy = False
        self._closed = False
        self._refreshed_s = 0.0
        self._first = self._timer(FIRST_LOOK_MS, self._look_at_everything)
        self._again = self._timer(BUSY_AGAIN_MS, self._take_up)
        window.library.overview_changed.connect(self._on_overview)
        window.status.jobs.changed.connect(lambda _: self._take_up())
        settings.opened.connect(self._add_page)

    def _timer(self, interval_ms: int, call: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        timer.timeout.connect(call)
        return timer

    def stop(self) -> None:
        """The window closes. The watcher's threads end by themselves; nothing more is heard of them."""
        self._closed = True
        self._first.stop()
        self._again.stop()
        self.watcher.stop(wait=False)

    @property
    def is_on(self) -> bool:
        return self._window.service.settings.watch_folders

    # --- what is watched

    def _on_overview(self, overview: Overview) -> None:
        roots = tuple(root.path for root in overview.roots)
        if self._closed or roots == self._roots:
            return
        known, self._roots = self._roots, roots
        if self.is_on:
            self.watcher.start(roots)
            if roots and not known:
                self._first.start()

    def set_on(self, on: bool) -> None:
        """Whether folders are watched from now on; kept for the next start."""
        window = self._window
        window.runner.writes.slip_in(
            lambda: settings_jobs.change(window.service, watch_folders=on),
            lambda _: self._switch(on),
            window.messages.fail,
            "The setting",
        )

    def _switch(self, on: bool) -> None:
        if self._closed:
            return
        if on:
            self.watcher.start(self._roots)
            self._look_at_everything()
        else:
            self.watcher.stop(wait=False)
            self._first.stop()
            self._waiting.clear()
            self._everything = False

    # --- what changed

    def _on_told(self, folders: list[str]) -> None:
        """On the watcher's thread."""
        self._window.runner.mailbox.post(lambda: self._note(folders))

    def _note(self, folders: Sequence[str]) -> None:
        if self.watcher.is_watching:
            self._waiting.update(folders)
            self._take_up()

    def _look_at_everything(self) -> None:
        self._everything = bool(self._roots)
        self._take_up()

    def _take_up(self) -> None:
        """Starts on what is waiting, unless folders are being read already: their end brings it back here."""
        window = self._window
        if self._closed or self._busy or self._again.isActive() or window.status.jobs.is_indexing:
            return
        if not (self._waiting or self._everything):
            return
        folders = None if self._everything else sorted(self._waiting)
        self._everything = False
        self._waiting.clear()
        self._busy = True
        job = watch_jobs.take_up_job(window.service, folders)
        job.progressed.connect(self._on_progress)
        job.finished.connect(self._on_finished)
        job.failed.connect(lambda error: self._on_failed(error, folders))
        job.ended.connect(self._on_ended)
        window.runner.writes.submit(job)
        window.status.jobs.add(job)

    def _on_progress(self, step: Progress) -> None:
        """New sounds are searchable as they are read; the list hears of them now and then."""
        now = time.monotonic()
        if step.what.startswith("Reading") and now - self._refreshed_s >= REFRESH_EVERY_S:
            self._refreshed_s = now
            self._tell()

    def _on_finished(self, report: IndexReport | None) -> None:
        if watch_jobs.changes_anything(report):
            self._tell()
        elif report is not None:
            self._window.library.refresh()  # a file that cannot be used is counted in the sidebar

    def _on_failed(self, error: FoleyError, folders: Sequence[str] | None) -> None:
        if not isinstance(error, LibraryBusyError):
            self._window.messages.fail(error)
            return
        # Another process indexes this library, perhaps these very folders: it is asked for again later.
        self._everything = self._everything or folders is None
        self._waiting.update(folders or ())
        self._again.start()

    def _on_ended(self) -> None:
        self._busy = False
        self._take_up()

    def _tell(self) -> None:
        self._window.library.refresh()
        self._window.library.clips_changed.emit()

    # --- the switch in the settings

    def _add_page(self, dialog: SettingsDialog) -> None:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 14, 16, 12)
        column.setSpacing(5)
        column.addWidget(buttons.words("CHANGES ON DISK", "heading"))
        switch = QCheckBox("Watch folders for changes")
        switch.setObjectName("watch_folders")
        switch.setToolTip("Whether changes on disk are taken up by themselves")
        switch.setChecked(self.is_on)
        column.addWidget(switch)
        column.addWidget(buttons.words(_EXPLAINED, "dim", wrap=True))
        notice = buttons.words("", "dim", wrap=True)
        column.addWidget(notice)
        column.addStretch(1)
        switch.toggled.connect(self.set_on)
        dialog.tabs.addTab(page, "Folders")
        notice.setText(text.shown(self.watcher.notice, 300))
