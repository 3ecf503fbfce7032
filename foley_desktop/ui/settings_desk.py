"""Opens the settings and does what is chosen there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from shiboken6 import isValid

from foley_desktop.audio.player import Player
from foley_desktop.ui.keys import CTRL, Key
from foley_desktop.ui.settings_dialog import SettingsDialog
from foley_desktop.workers import settings_jobs

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
        dialog.open()
        window.runner.reads.submit(settings_jobs.output_devices, self._show_devices, what="The sound devices")
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
