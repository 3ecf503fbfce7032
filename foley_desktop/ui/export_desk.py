"""Opens the export dialog for the sounds that are meant, and has them rendered in the background."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QStandardPaths, Qt, Signal
from shiboken6 import isValid

from foley_desktop.audio.render import RenderOptions
from foley_desktop.library.presets import Preset
from foley_desktop.models import Clip, Region
from foley_desktop.ui import prompt, text
from foley_desktop.ui.export_dialog import ExportDialog
from foley_desktop.ui.export_queue import ExportQueue
from foley_desktop.ui.keys import CTRL, Key
from foley_desktop.workers import export_jobs, transfer_jobs
from foley_desktop.workers.export_jobs import Exported
from foley_desktop.workers.transfer_jobs import Manner

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow


class ExportDesk(QObject):
    """Part of the window."""

    exported = Signal(object)
    """An Exported."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._dialog: ExportDialog | None = None
        self.queue = ExportQueue(self)
        window.keys.add(Key(Qt.Key.Key_E, self.open, CTRL, everywhere=True))
        window.actions_.export_wanted.connect(self.open)
        window.handover.manner_changed.connect(self._on_manner)

    def stop(self) -> None:
        """The window closes; what is being written then ends with the runner."""

    def open(self, clips: Sequence[Clip] | None = None) -> None:
        """Asks how the selected sounds are to be exported."""
        window, deck = self._window, self._window.deck
        chosen = [clip for clip in (clips or window.actions_.clips()) if clip.status == "ok"]
        if not chosen:
            window.messages.say("Select a sound to export.")
            return
        in_hand = len(chosen) == 1 and deck.clip is not None and deck.clip.id == chosen[0].id
        self.open_for([(clip, deck.region if in_hand else None) for clip in chosen])

    def open_for(self, things: Sequence[tuple[Clip, Region | None]]) -> None:
        """Asks how some clips, or a region of one, are to be exported."""
        window = self._window
        clips = [clip for clip, _ in things]
        dialog = self._dialog = ExportDialog(
            window,
            things,
            self._folder(),
            manner=window.handover.manner,
            treatments=[window.handover.heard(clip) for clip in clips],
            queue=self.queue,
            show=window.library.reveal,
        )
        dialog.export_wanted.connect(partial(self._check, dialog, clips))
        dialog.preset_wanted.connect(self._ask_name)
        dialog.open()

    def _folder(self) -> str:
        known = self._window.service.settings.extra.get(export_jobs.FOLDER)
        if isinstance(known, str) and known:
            return known
        place = QStandardPaths.StandardLocation.MusicLocation
        music = QStandardPaths.writableLocation(place)
        return music if os.path.isdir(music) else os.path.expanduser("~")

    def _check(self, dialog: ExportDialog, clips: list[Clip], folder: str, *decided: Any) -> None:
        """Looks at the folder while the dialog is still there to be corrected."""
        window = self._window

        def go_on(flaw: str) -> None:
            if flaw and isValid(dialog):
                dialog.refuse(flaw)
                return
            if isValid(dialog):
                dialog.take()
            self.export(clips, folder, *decided)

        window.runner.reads.submit(
            partial(export_jobs.folder_flaw, folder), go_on, window.messages.fail, what="The folder"
        )

    def export(
        self,
        clips: list[Clip],
        folder: str,
        stems: list[str],
        extension: str,
        options: Sequence[RenderOptions],
    ) -> None:
        """Puts an export into the queue."""
        window = self._window
        job = export_jobs.export_job(window.service, clips, folder, stems, extension, options)
        job.failed.connect(window.messages.fail)
        job.finished.connect(self._on_exported)
        window.status.jobs.add(job)
        self.queue.add(job, folder, partial(self.export, clips, folder, stems, extension, options))
        window.runner.measures.submit(job)

    def _on_exported(self, exported: Exported) -> None:
        window, files = self._window, exported.files
        counted = text.shown(os.path.basename(files[0]), 80) if len(files) == 1 else f"{len(files)} files"
        folder = text.shown(os.path.dirname(files[0]), 120)
        sentence = f"{counted} written to {folder}."
        if exported.failed:
            sentence += f" {text.plural(len(exported.failed), 'sound')} could not be exported."
            lines = list(exported.failed)
            window.messages.say(
                sentence, action="Why", call=lambda: window.messages.list_lines("Not exported", lines)
            )
        else:
            window.messages.say(sentence, action="Show", call=lambda: window.library.reveal(files[0]))
        self.exported.emit(exported)

    # --- presets of one's own

    def _ask_name(self, preset: Preset) -> None:
        assert self._dialog is not None
        prompt.ask_line(
            self._dialog,
            "Save as preset",
            "It can be chosen for drags and exports. One of that name is replaced.",
            "",
            "Save",
            lambda name: self.save_preset(replace(preset, name=name)),
        )

    def save_preset(self, preset: Preset) -> None:
        """Keeps a preset of the user's own."""
        window = self._window
        window.runner.writes.slip_in(
            partial(transfer_jobs.save_preset, window.service, preset),
            window.handover.set_manner,
            window.messages.fail,
            "The preset",
        )

    def _on_manner(self, manner: Manner) -> None:
        if self._dialog is not None and isValid(self._dialog):
            self._dialog.show_manner(manner)
