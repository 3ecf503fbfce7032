"""Shows the files that could not be used, and has them tried again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from shiboken6 import isValid

from foley_desktop.models import Clip
from foley_desktop.ui.unusable_dialog import Unusable, UnusableDialog
from foley_desktop.workers import unusable_jobs

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow


class UnusableDesk(QObject):
    """Part of the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def open(self) -> None:
        """The dialog; it does not block the window."""
        dialog = UnusableDialog(self._window)
        dialog.reveal_wanted.connect(self._window.library.reveal)
        dialog.retry_wanted.connect(partial(self._retry, dialog))
        self._fill(dialog)
        dialog.open()

    def _fill(self, dialog: UnusableDialog) -> None:
        def show(found: Unusable) -> None:
            if isValid(dialog):
                dialog.show_files(found)

        window = self._window
        window.runner.reads.submit(
            window.service.shelf.unusable, show, window.messages.fail, what="The list of files"
        )

    def _retry(self, dialog: UnusableDialog, clips: list[Clip]) -> None:
        job = unusable_jobs.retry_job(self._window.service, clips)
        job.ended.connect(partial(self._fill, dialog))
        self._window.library.scan(job)
