"""Takes in another librarian's list: asks for the file, shows what would change, imports it, undoes it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt
from shiboken6 import isValid

from foley_desktop.library.lists import ListPreview, SoundList
from foley_desktop.ui import edit_notice, prompt, text
from foley_desktop.ui.keys import CTRL, SHIFT, Key
from foley_desktop.ui.list_dialog import ListDialog
from foley_desktop.workers import category_jobs, list_jobs
from foley_desktop.workers.list_jobs import Imported

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

_KINDS = ["Lists of sounds (*.csv *.tsv *.txt *.tab)", "All files (*)"]


class ListDesk(QObject):
    """Part of the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        window.keys.add(Key(Qt.Key.Key_I, self.choose, CTRL | SHIFT, everywhere=True))
        window.library.list_dropped.connect(self.open)

    def choose(self) -> None:
        """Asks for a list."""
        prompt.ask_open(self._window, "Import a list of sounds", _KINDS, self.open)

    def open(self, path: str) -> None:
        """Reads a list and shows what it would change."""
        window = self._window

        def work() -> tuple[SoundList, tuple[tuple[str, str], ...]]:
            return window.service.desk.read_list(path), list_jobs.fields(window.service)

        window.runner.reads.submit(work, self._show, window.messages.fail, what="The list")

    def _show(self, read: tuple[SoundList, tuple[tuple[str, str], ...]]) -> None:
        dialog = ListDialog(self._window, *read)
        dialog.reading_wanted.connect(partial(self._read_again, dialog))
        dialog.preview_wanted.connect(partial(self._preview, dialog))
        dialog.import_wanted.connect(partial(self._import, dialog))
        self._preview(dialog)
        dialog.open()

    def _read_again(self, dialog: ListDialog, encoding: str, delimiter: str) -> None:
        window, path = self._window, dialog.sounds.path
        window.runner.reads.submit(
            lambda: window.service.desk.read_list(path, encoding=encoding, delimiter=delimiter),
            _while_open(dialog, dialog.show_list),
            _while_open(dialog, dialog.show_error),
            key="list",
            what="The list",
        )

    def _preview(self, dialog: ListDialog) -> None:
        window = self._window
        sounds, mapping = dialog.sounds, dialog.table.mapping
        replace, several = dialog.replace_words.isChecked(), dialog.for_several.isChecked()

        def show(found: ListPreview) -> None:
            if dialog.sounds is sounds:
                dialog.show_preview(found)

        window.runner.reads.submit(
            lambda: list_jobs.preview(window.service, sounds, mapping, replace, several),
            _while_open(dialog, show),
            _while_open(dialog, dialog.show_error),
            key="list preview",
            what="The preview",
        )

    def _import(self, dialog: ListDialog) -> None:
        window = self._window
        job = list_jobs.import_job(window.service, dialog.sounds, dialog.found)
        job.finished.connect(self._on_imported)
        job.failed.connect(window.messages.fail)
        window.status.jobs.add(job)
        window.runner.writes.submit(job)
        dialog.accept()

    def _changed(self, _: object = None) -> None:
        edit_notice.after_edit(self._window)

    def _on_imported(self, imported: Imported) -> None:
        window = self._window
        self._changed()
        name = text.shown(os.path.basename(imported.name), 80)
        if not imported.step:
            window.messages.say(f"{name} changed nothing.")
            return

        def take_back() -> None:
            window.runner.writes.slip_in(
                lambda: category_jobs.undo_step(window.service, imported.step),
                self._changed,
                window.messages.fail,
                "Taking the import back",
            )

        window.messages.say(
            f"{text.plural(imported.clips, 'sound')} changed by {name}.", action="Undo", call=take_back
        )


def _while_open(dialog: ListDialog, call: Callable[[Any], None]) -> Callable[[Any], None]:
    """``call``, but not once the dialog has been left."""

    def made(value: Any) -> None:
        if isValid(dialog):
            call(value)

    return made
