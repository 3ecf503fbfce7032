"""Opens the settings and does what is chosen there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from shiboken6 import isValid

from foley_desktop.audio.player import Player
from foley_desktop.errors import FoleyError
from foley_desktop.ui import text
from foley_desktop.ui.keys import CTRL, Key
from foley_desktop.ui.settings_dialog import SettingsDialog
from foley_desktop.workers import settings_jobs
from foley_desktop.workers.settings_jobs import Embedder

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow


class SettingsDesk(QObject):
    """Part of the window; the dialog lives as long as it is open."""

    opened = Signal(object)
    """The dialog that is open now."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._dialog: SettingsDialog | None = None
        window.search_bar.settings_pressed.connect(self.open)
        window.keys.add(Key(Qt.Key.Key_Comma, self.open, CTRL, everywhere=True))
        window.library.models_changed.connect(lambda *_: self._refresh_models())
        # Also while folders are read: what a model knows grows.
        window.library.overview_changed.connect(lambda _: self._refresh_models())

    def stop(self) -> None:
        """The window closes, and its dialogs with it."""

    @property
    def dialog(self) -> SettingsDialog | None:
        """The open dialog."""
        return self._dialog if self._dialog is not None and isValid(self._dialog) else None

    def open(self) -> None:
        """Shows the settings."""
        if self.dialog is not None:
            self.dialog.raise_()
            return
        window = self._window
        dialog = self._dialog = SettingsDialog(window, window.service.settings)
        dialog.fusion_chosen.connect(self._set_fusion)
        dialog.output_chosen.connect(self._set_output)
        dialog.models.use_wanted.connect(self._use_embedder)
        dialog.models.file_chosen.connect(self.add_checkpoint)
        dialog.open()
        window.runner.reads.submit(settings_jobs.output_devices, self._show_devices, what="The sound devices")
        self._refresh_models()
        self.opened.emit(dialog)

    def _show_devices(self, names: list[str]) -> None:
        if self.dialog is not None:
            self.dialog.show_devices(names)

    # --- fusion and sound

    def _set_fusion(self, name: str) -> None:
        window = self._window
        window.runner.writes.slip_in(
            partial(settings_jobs.change, window.service, fusion=name),
            lambda _: window.results.search.refresh(),
            window.messages.fail,
            "The setting",
        )

    def _set_output(self, device: str, latency: str) -> None:
        window = self._window
        window.deck.stop()
        window.runner.reads.submit(
            partial(settings_jobs.open_output, window.service, device, latency),
            self._take_player,
            window.messages.fail,
            key="output",
            what="Opening the sound output",
        )

    def _take_player(self, player: Player) -> None:
        window, old = self._window, self._window.deck.playback.player
        window.deck.playback.take_player(player)
        window.sound_banner.say(player.unavailable_reason)
        if self.dialog is not None:
            self.dialog.show_sound(player.unavailable_reason or "Sound goes there from now on.")
        if old is not None:
            window.runner.reads.submit(old.close, what="Closing the sound output")

    # --- models

    def _refresh_models(self) -> None:
        if self.dialog is not None:
            window = self._window
            window.runner.reads.submit(
                partial(settings_jobs.embedders, window.service),
                self._show_embedders,
                window.messages.fail,
                key="embedders",
                what="Looking for models",
            )

    def _show_embedders(self, embedders: list[Embedder]) -> None:
        if self.dialog is not None:
            self.dialog.models.show_embedders(embedders)

    def _use_embedder(self, name: str) -> None:
        window = self._window

        def failed(error: FoleyError) -> None:
            self._refresh_models()
            window.messages.fail(error)

        # Behind an index run that is going on: it works with the embedder it began with.
        job = settings_jobs.use_embedder_job(window.service, name)
        job.finished.connect(partial(self._on_used, name))
        job.failed.connect(failed)
        job.cancelled.connect(self._refresh_models)
        window.status.jobs.add(job)
        window.runner.writes.submit(job)

    def _on_used(self, name: str, unheard: bool) -> None:
        window = self._window
        self._refresh_models()
        window.library.start_models()
        window.results.search.refresh()
        if unheard:
            window.messages.say(f"{text.shown(name, 60)} is listening to your sounds now.")
            window.library.rescan(None)

    def add_checkpoint(self, file: str) -> None:
        """Takes weights in, in the background."""
        window = self._window
        job = settings_jobs.add_checkpoint_job(window.service, file)
        job.failed.connect(window.messages.fail)
        job.finished.connect(
            lambda name: window.messages.say(f"{text.shown(str(name), 60)} is ready: choose it under Models.")
        )
        job.ended.connect(self._refresh_models)
        if self.dialog is not None:
            self.dialog.models.line.follow(job)
        window.status.jobs.add(job)
        window.runner.measures.submit(job)
