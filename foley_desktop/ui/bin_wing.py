"""The bin as a part of the window: B puts sounds and regions into it, and from it they are handed over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from foley_desktop.library.bins import Pick
from foley_desktop.models import Clip, Region
from foley_desktop.ui import text
from foley_desktop.ui.bin_panel import BinPanel
from foley_desktop.ui.drag import files_mime
from foley_desktop.ui.export_desk import ExportDesk
from foley_desktop.ui.keys import CTRL, Key
from foley_desktop.ui.transfer_wing import TransferWing
from foley_desktop.workers import transfer_jobs
from foley_desktop.workers.transfer_jobs import BinState, Copied, Manner

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

WIDTH = 390


class BinWing(QObject):
    """Part of the window."""

    def __init__(self, window: MainWindow, transfer: TransferWing, exports: ExportDesk) -> None:
        super().__init__(window)
        self._window = window
        self._transfer = transfer
        self._exports = exports
        self._bin_id = 0
        self.panel = BinPanel(window, transfer.projects.fill, self._fill_send)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.panel)
        window.resizeDocks([self.panel], [WIDTH], Qt.Orientation.Horizontal)
        self.panel.hide()
        self._connect()
        window.keys.add(
            Key(Qt.Key.Key_B, self.add),
            Key(Qt.Key.Key_B, lambda: self.panel.setVisible(self.panel.isHidden()), CTRL, everywhere=True),
        )
        window.actions_.additions.append(self._add_to_menu)
        self.refresh()

    def _connect(self) -> None:
        window, panel, view = self._window, self.panel, self.panel.view
        bar = self._transfer.bar
        bar.bin_toggled.connect(panel.setVisible)
        panel.visibilityChanged.connect(lambda _: bar.bin.setChecked(not panel.isHidden()))
        panel.copy_wanted.connect(self.copy)
        view.copy_wanted.connect(self.copy)
        view.dropped.connect(lambda: self.put(window.handover.things))
        panel.export_wanted.connect(self.export)
        panel.clear.clicked.connect(lambda _=False: self.take_out(panel.model.picks))
        view.remove_wanted.connect(lambda: self.take_out(view.selected()))
        view.chosen.connect(self._take_in_hand)
        view.play_wanted.connect(self._play)
        self.drag = window.handover.source(view, view.forget_press)
        view.drag_prepared.connect(self._prepare)
        view.drag_started.connect(lambda: self.drag.start(view))
        window.handover.manner_changed.connect(self._on_manner)
        window.library.clips_changed.connect(self.refresh)

    def stop(self) -> None:
        """The window closes."""

    # --- what lies in it

    def refresh(self) -> None:
        """Reads the bin of the current project."""
        window = self._window
        window.runner.reads.submit(
            partial(transfer_jobs.bin_state, window.service), self._show, key="bin", what="Reading the bin"
        )

    def _show(self, state: BinState) -> None:
        self._bin_id = state.manner.project.id
        self._window.handover.set_manner(state.manner)
        self.panel.show_picks(state.picks)

    def _on_manner(self, manner: Manner) -> None:
        self.panel.project.setText(text.shown(manner.project.name, 40).replace("&", "&&"))
        if manner.project.id != self._bin_id or manner.project.count != len(self.panel.model.picks):
            self.refresh()

    def _change(self, work: Callable[[], Any], done: Callable[[BinState], None]) -> None:
        self._window.runner.writes.slip_in(work, done, self._window.messages.fail, "The bin")

    def add(self, clips: Sequence[Clip] | None = None) -> None:
        """Puts the sounds that are meant, or the region of the one in hand, into the bin. Playing goes on."""
        things = self._transfer.things(clips)
        if things:
            self.put(things)
        else:
            self._window.messages.say("Select a sound to put it into the bin.")

    def put(self, things: Sequence[tuple[Clip, Region | None]]) -> None:
        """Puts clips and regions into the bin."""
        named = [(clip.id, region) for clip, region in things if clip.id]
        self._change(partial(transfer_jobs.add_to_bin, self._window.service, named), self._on_added)

    def _on_added(self, state: BinState) -> None:
        self._show(state)
        project = text.shown(state.manner.project.name, 40)
        if state.added and not self.panel.isVisible():
            counted = text.plural(state.added, "thing")
            self._window.messages.say(
                f"{counted} put into the bin of {project}.", action="Show", call=self.panel.show
            )
        elif not state.added:
            self._window.messages.say(f"That lies in the bin of {project} already.")

    def take_out(self, picks: Sequence[Pick]) -> None:
        """Takes things out of the bin; that can be undone."""
        if picks:
            self._change(
                partial(transfer_jobs.take_out_of_bin, self._window.service, list(picks)), self._on_taken_out
            )

    def _on_taken_out(self, state: BinState) -> None:
        self._show(state)
        bin_id = state.manner.project.id
        self._window.messages.say(
            f"{text.plural(len(state.removed), 'thing')} taken out of the bin.",
            action="Undo",
            call=lambda: self._change(
                partial(transfer_jobs.put_back_into_bin, self._window.service, bin_id, state.removed),
                self._show,
            ),
        )

    # --- hearing

    def _take_in_hand(self, pick: Pick) -> None:
        """Takes it in hand as a row of the results would be; its region is selected."""
        deck = self._window.deck
        if pick.clip is None or pick.clip.status != "ok":
            return
        if self._window.results.view.is_entered:
            self._window.results.view.clearSelection()
        deck.take(pick.clip)
        if pick.region is not None:
            deck.waveform.set_region(pick.region)

    def _play(self, pick: Pick) -> None:
        self._take_in_hand(pick)
        self._window.deck.playback.play_from_start()

    # --- handing over

    def things(self) -> list[tuple[Clip, Region | None]]:
        """What is selected in the bin, else all of it, as far as it is there."""
        return [(pick.clip, pick.region) for pick in self.panel.meant() if pick.clip is not None]

    def _prepare(self, picks: list[Pick]) -> None:
        things = [(p.clip, p.region) for p in picks if p.clip is not None and p.clip.status == "ok"]
        if things:
            self._window.handover.prepare(self.drag, things)

    def export(self) -> None:
        """Opens the export dialog for it; of regions each is a file of its own."""
        things = self.things()
        if things:
            self._exports.open_for(things)

    def copy(self) -> None:
        """Puts the files on the clipboard, for editors that take no drags."""
        things, window = self.things(), self._window
        if things:
            orders = window.handover.orders(things)
            window.runner.spotting.submit(
                partial(transfer_jobs.copy_ready, window.service, orders, window.handover.manner.preset),
                self._on_copied,
                window.messages.fail,
                key="copy",
                what="Copying",
            )

    def _on_copied(self, copied: Copied) -> None:
        QGuiApplication.clipboard().setMimeData(files_mime(copied.files))
        counted = text.plural(len(copied.files), "file")
        self._window.messages.say(f"{counted} copied: paste into an editor or a folder.")

    # --- menus

    def _fill_send(self, menu: QMenu) -> None:
        self._transfer.fill_send(menu, self.things())

    def _add_to_menu(self, menu: QMenu, clips: list[Clip]) -> None:
        region = any(region is not None for _, region in self._transfer.things(clips))
        what = "Put the region into the bin" if region else "Put into the bin"
        menu.addAction(f"{what}\tB", partial(self.add, clips))
