"""Opens the delivery dialog for the sounds that are meant, checks, and has the copies made."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QStandardPaths, Qt, Signal
from PySide6.QtWidgets import QMenu
from shiboken6 import isValid

from foley_desktop.errors import FoleyError
from foley_desktop.library.delivering import DeliveryPlan, DeliveryReport
from foley_desktop.models import Clip
from foley_desktop.ui import text
from foley_desktop.ui.deliver_dialog import DeliverDialog
from foley_desktop.ui.keys import CTRL, SHIFT, Key
from foley_desktop.workers import deliver_jobs

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow


class DeliverDesk(QObject):
    """Part of the window."""

    categories_wanted = Signal(list)
    """Clips that want a category before they are delivered."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        window.keys.add(Key(Qt.Key.Key_D, self.open, CTRL | SHIFT, everywhere=True))
        window.actions_.additions.append(self._add_to_menu)

    def _add_to_menu(self, menu: QMenu, clips: list[Clip]) -> None:
        menu.addAction("Deliver …\tCtrl+Shift+D", lambda: self.open(clips))

    def open_collection(self, name: str) -> None:
        """Delivers a whole collection."""
        window = self._window
        window.runner.reads.submit(
            lambda: deliver_jobs.members(window.service, name), self.open, window.messages.fail,
            what="The collection",
        )  # fmt: skip

    def open(self, clips: Sequence[Clip] | None = None) -> None:
        """Asks where to and under which names."""
        window = self._window
        chosen = window.actions_.clips() if clips is None else clips
        chosen = [clip for clip in chosen if clip.id]
        if not chosen:
            window.messages.say("Select the sounds to deliver.")
            return
        folder, parts = deliver_jobs.remembered(window.service.settings.extra)
        dialog = DeliverDialog(window, chosen, folder or _music_folder(), parts)
        dialog.plan_wanted.connect(partial(self._check, dialog))
        dialog.deliver_wanted.connect(partial(self._deliver, dialog))
        dialog.categories_wanted.connect(self.categories_wanted)
        self._check(dialog)
        dialog.open()

    def _check(self, dialog: DeliverDialog) -> None:
        service, ids, folder = self._window.service, dialog.ids, dialog.target
        parts, names = dialog.parts, dict(dialog.names)

        def show(plan: DeliveryPlan) -> None:
            if isValid(dialog):
                dialog.show_plan(plan)

        def fail(error: FoleyError) -> None:
            if isValid(dialog):
                dialog.show_error(error)

        self._window.runner.reads.submit(
            lambda: deliver_jobs.plan(service, ids, folder, parts, names), show, fail,
            key="delivery", what="The delivery",
        )  # fmt: skip

    def _deliver(self, dialog: DeliverDialog) -> None:
        window = self._window
        if dialog.plan is None or not dialog.plan.good:
            return
        job = deliver_jobs.deliver_job(window.service, dialog.plan, dialog.parts)
        job.failed.connect(window.messages.fail)
        job.finished.connect(self._on_delivered)
        job.cancelled.connect(
            lambda: window.messages.say("The delivery was stopped; its copies are taken away again.")
        )
        window.status.jobs.add(job)
        window.runner.measures.submit(job)
        dialog.accept()

    def _on_delivered(self, report: DeliveryReport) -> None:
        window = self._window
        copies = text.plural(len(report.files), "copy", "copies")
        folder = text.shown(report.folder, 120)
        notes = f" {text.plural(len(report.notes), 'note')} in the manifest." if report.notes else ""
        window.messages.say(
            f"{copies} and {os.path.basename(report.manifest)} delivered to {folder}.{notes}",
            action="Show",
            call=lambda: window.library.reveal(report.manifest),
        )


def _music_folder() -> str:
    music = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.MusicLocation)
    base = music or os.path.expanduser("~")
    return os.path.join(base, "Delivery")
