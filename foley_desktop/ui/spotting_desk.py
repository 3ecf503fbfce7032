"""The settings of handing over, and tidying up what was made for drags."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from foley_desktop.library.spotted import Spot
from foley_desktop.ui import prompt, text
from foley_desktop.ui.housekeeping_dialog import HousekeepingDialog, size_words
from foley_desktop.ui.settings_desk import SettingsDesk
from foley_desktop.ui.settings_dialog import SettingsDialog
from foley_desktop.ui.transfer_page import TransferPage
from foley_desktop.workers import transfer_jobs

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

MUCH_BYTES = 5_000_000_000
"""From here on the window speaks of it, once at its start."""
SCRIPT_NAME = "foley_desktop_insert.lua"


class SpottingDesk(QObject):
    """Adds its page to the settings whenever they are opened."""

    changed = Signal()
    """Names, folders or receivers are others now."""

    def __init__(self, window: MainWindow, settings: SettingsDesk) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._page: TransferPage | None = None
        self._dialog: HousekeepingDialog | None = None
        settings.opened.connect(self._add_page)
        window.runner.reads.submit(
            partial(transfer_jobs.spots, window.service), self._speak_of_much, what="Counting spotted files"
        )

    def _add_page(self, dialog: SettingsDialog) -> None:
        page = self._page = TransferPage(self._window.service.settings.extra)
        dialog.tabs.addTab(page, "Handing over")
        page.changed.connect(self._change)
        page.tidy_wanted.connect(self.tidy)
        page.script_wanted.connect(self._ask_script)
        self._count()

    def open_page(self) -> None:
        """Opens the settings at this page."""
        self._settings.open()
        dialog = self._settings.dialog
        if dialog is not None and self._page is not None:
            dialog.tabs.setCurrentWidget(self._page)

    def _change(self, key: str, value: str) -> None:
        window = self._window
        window.runner.writes.slip_in(
            partial(transfer_jobs.set_manner, window.service, **{key: value}),
            lambda _: self.changed.emit(),
            window.messages.fail,
            "The setting",
        )

    # --- spotted files

    def _count(self) -> None:
        window = self._window
        window.runner.reads.submit(
            partial(transfer_jobs.spots, window.service), self._show_count, key="spots", what="Counting files"
        )

    def _show_count(self, spots: list[Spot]) -> None:
        if self._page is not None and isValid(self._page):
            size = size_words(sum(spot.size for spot in spots))
            words = f"{text.plural(len(spots), 'file')}, {size}" if spots else "nothing yet"
            self._page.show_spotted(words)

    def _speak_of_much(self, spots: list[Spot]) -> None:
        size = sum(spot.size for spot in spots)
        if size > MUCH_BYTES:
            self._window.messages.say(
                f"Files that were made for drags take {size_words(size)}.", action="Look", call=self.tidy
            )

    def tidy(self) -> None:
        """Lists what was made for drags, to be deleted by choice."""
        window = self._window
        window.runner.reads.submit(
            partial(transfer_jobs.spots, window.service),
            self._open,
            window.messages.fail,
            key="tidy",
            what="Looking through the spotted files",
        )

    def _open(self, spots: list[Spot]) -> None:
        window = self._window
        parent = self._page.window() if self._page is not None and isValid(self._page) else window
        dialog = self._dialog = HousekeepingDialog(parent, spots)
        dialog.delete_wanted.connect(self._delete)
        dialog.show_wanted.connect(window.library.reveal)
        dialog.open()

    def _delete(self, going: list[Spot]) -> None:
        window = self._window
        job = transfer_jobs.remove_spots_job(window.service, going)
        job.failed.connect(window.messages.fail)
        job.finished.connect(self._on_deleted)
        job.ended.connect(self._refresh)
        window.status.jobs.add(job)
        window.runner.measures.submit(job)

    def _on_deleted(self, done: tuple[int, list[str]]) -> None:
        freed, refused = done
        messages = self._window.messages
        if refused:
            title = f"{text.plural(len(refused), 'file')} could not be deleted"
            messages.say(f"{title}.", action="Why", call=lambda: messages.list_lines(title, refused))
        else:
            messages.say(f"{size_words(freed)} freed.")

    def _refresh(self) -> None:
        self._count()
        if self._dialog is not None and isValid(self._dialog):
            dialog, window = self._dialog, self._window
            window.runner.reads.submit(
                partial(transfer_jobs.spots, window.service),
                lambda spots: dialog.show_spots(spots) if isValid(dialog) else None,
                key="tidy",
            )

    # --- REAPER

    def _ask_script(self) -> None:
        parent = self._page.window() if self._page is not None else self._window
        prompt.ask_save(
            parent, "Save the script for REAPER", ["Lua scripts (*.lua)"], SCRIPT_NAME, self.save_script
        )

    def save_script(self, path: str) -> None:
        """Writes the script that REAPER is to load."""
        window = self._window
        window.runner.reads.submit(
            partial(transfer_jobs.save_script, window.service, path),
            lambda _: self._say_saved(),
            window.messages.fail,
            what="Saving the script",
        )

    def _say_saved(self) -> None:
        self._window.messages.say("The script is saved. In REAPER: Actions, New action, Load ReaScript.")
