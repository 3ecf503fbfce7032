"""Opens the export dialog for the sounds that are meant, and has them rendered in the background."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QStandardPaths, Qt

from foley_desktop.audio.render import RenderOptions
from foley_desktop.models import Clip
from foley_desktop.ui import text
from foley_desktop.ui.export_dialog import ExportDialog
from foley_desktop.ui.keys import CTRL, Key
from foley_desktop.workers import export_jobs

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow


class ExportDesk(QObject):
    """Part of the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        window.keys.add(Key(Qt.Key.Key_E, self.open, CTRL, everywhere=True))
        window.actions_.export_wanted.connect(self.open)

    def stop(self) -> None:
        """The window closes; what is being written then ends with the runner."""

    def open(self, clips: Sequence[Clip] | None = None) -> None:
        """Asks how the selected sounds are to be exported."""
        window = self._window
        chosen = [clip for clip in (clips or window.actions_.clips()) if clip.status == "ok"]
        if not chosen:
            window.messages.say("Select a sound to export.")
            return
        deck = window.deck
        in_hand = len(chosen) == 1 and deck.clip is not None and deck.clip.id == chosen[0].id
        dialog = ExportDialog(window, chosen, deck.region if in_hand else None, self._folder())
        dialog.export_wanted.connect(partial(self._export, chosen))
        dialog.open()

    def _folder(self) -> str:
        known = self._window.service.settings.extra.get(export_jobs.FOLDER)
        if isinstance(known, str) and known:
            return known
        place = QStandardPaths.StandardLocation.MusicLocation
        music = QStandardPaths.writableLocation(place)
        return music if os.path.isdir(music) else os.path.expanduser("~")

    def _export(
        self, clips: list[Clip], folder: str, stems: list[str], extension: str, options: RenderOptions
    ) -> None:
        window = self._window
        job = export_jobs.export_job(window.service, clips, folder, stems, extension, options)
        job.failed.connect(window.messages.fail)
        job.finished.connect(self._on_exported)
        window.status.jobs.add(job)
        window.runner.measures.submit(job)

    def _on_exported(self, made: list[str]) -> None:
        if made:
            counted = text.shown(os.path.basename(made[0]), 80) if len(made) == 1 else f"{len(made)} files"
            folder = text.shown(os.path.dirname(made[0]), 120)
            self._window.messages.say(
                f"{counted} written to {folder}.",
                action="Show",
                call=lambda: self._window.library.reveal(made[0]),
            )
