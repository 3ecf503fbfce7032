"""Handing over as a part of the window: the bar below the waveform, presets, projects, sending, uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QMenu, QToolTip

from foley_desktop.library import spot_names
from foley_desktop.library.presets import ACTIVE, HEARD
from foley_desktop.library.transfer import Parcel
from foley_desktop.library.usage import Use
from foley_desktop.models import Clip, Region
from foley_desktop.ui import text
from foley_desktop.ui.export_desk import ExportDesk
from foley_desktop.ui.menu_button import plain
from foley_desktop.ui.presets_dialog import PresetsDialog
from foley_desktop.ui.projects import Projects
from foley_desktop.ui.results_model import BY_NAME, ROW_ROLE
from foley_desktop.ui.settings_desk import SettingsDesk
from foley_desktop.ui.spotting_desk import SpottingDesk
from foley_desktop.ui.transfer_bar import TransferBar
from foley_desktop.workers import transfer_jobs
from foley_desktop.workers.export_jobs import Exported
from foley_desktop.workers.transfer_jobs import Manner, Sent

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

MANY = 200
"""Of more selected rows than this only the number is told: looking at each would hold the window up."""
_HOW = {"drag": "dragged out", "export": "exported", "editor": "sent"}


class TransferWing(QObject):
    """Part of the window."""

    def __init__(self, window: MainWindow, settings: SettingsDesk, exports: ExportDesk) -> None:
        super().__init__(window)
        self._window = window
        self.projects = Projects(window)
        self.bar = TransferBar(self.projects.fill)
        self.spotting = SpottingDesk(window, settings)
        deck_column = window.deck.layout()
        assert deck_column is not None
        deck_column.addWidget(self.bar)
        self._receivers: list[tuple[str, str]] = []
        self._connect(exports)
        self.refresh()

    def _connect(self, exports: ExportDesk) -> None:
        window, bar = self._window, self.bar
        bar.preset_chosen.connect(lambda name: self.set_manner(**{ACTIVE: name}))
        bar.heard_toggled.connect(lambda on: self.set_manner(**{HEARD: on}))
        bar.edit_wanted.connect(self.edit_presets)
        handover = window.handover
        handover.manner_changed.connect(self._on_manner)
        handover.handed_over.connect(self._on_handed_over)
        handover.slow.connect(
            lambda: window.messages.say("The files are being made: keep holding, or drag again in a moment.")
        )
        exports.exported.connect(self._on_exported)
        self.spotting.changed.connect(self.refresh)
        window.deck.waveform.region_changed.connect(lambda _: self._preview())
        window.deck.playback.treatment_changed.connect(lambda _: self._on_treatment())
        view = window.results.view
        view.selectionModel().selectionChanged.connect(lambda *_: self._preview())
        view.model().dataChanged.connect(lambda *_: self._preview())
        # A reset takes the selection away without saying so.
        view.model().modelReset.connect(self._preview)
        view.viewport().installEventFilter(self)
        window.actions_.additions.append(self._add_to_menu)

    def stop(self) -> None:
        """The window closes."""
        self._window.handover.stop()

    # --- the manner

    def refresh(self) -> None:
        """Reads anew how sounds leave."""
        window = self._window
        window.runner.reads.submit(
            partial(transfer_jobs.manner, window.service),
            window.handover.set_manner,
            window.messages.fail,
            key="manner",
            what="Reading how sounds are handed over",
        )
        window.runner.reads.submit(
            partial(transfer_jobs.receivers, window.service), self._take_receivers, key="receivers"
        )

    def _take_receivers(self, receivers: list[tuple[str, str]]) -> None:
        self._receivers = receivers

    def set_manner(self, **extra: object) -> None:
        """Changes how sounds leave."""
        window = self._window
        window.runner.writes.slip_in(
            partial(transfer_jobs.set_manner, window.service, **extra),
            window.handover.set_manner,
            window.messages.fail,
            "The choice",
        )

    def _on_manner(self, manner: Manner) -> None:
        self.bar.show_manner(manner)
        self._preview()

    def _on_treatment(self) -> None:
        self._window.handover.treatment_changed()
        self._preview()

    def edit_presets(self) -> None:
        """Opens the presets."""
        window = self._window
        dialog = PresetsDialog(window, window.handover.manner)
        dialog.save_wanted.connect(
            lambda preset: window.runner.writes.slip_in(
                partial(transfer_jobs.save_preset, window.service, preset),
                window.handover.set_manner,
                window.messages.fail,
                "The preset",
            )
        )
        dialog.remove_wanted.connect(
            lambda name: window.runner.writes.slip_in(
                partial(transfer_jobs.remove_preset, window.service, name),
                window.handover.set_manner,
                window.messages.fail,
                "The preset",
            )
        )
        window.handover.manner_changed.connect(dialog.show_manner)
        dialog.open()

    # --- what the next drag brings

    def _preview(self) -> None:
        window = self._window
        manner, treatment = window.handover.manner, window.handover.treatment
        selection = window.results.view.selectionModel().selection()
        many_rows = sum(selection.at(number).height() for number in range(selection.count()))
        if many_rows > MANY:
            self.bar.show_preview(f"→ {text.count(many_rows)} sounds", "")
            return
        things = self.things()
        if not things:
            self.bar.show_preview("", "")
            return
        preset = manner.preset
        names = []
        for clip, region in things[:2]:
            if region is None and preset.leaves(clip, treatment(clip)):
                names.append(text.file_name(clip))
            else:
                stem = spot_names.stem(
                    preset.template or manner.template,
                    clip,
                    preset.widened(clip, region),
                    project=manner.project.name,
                )
                names.append(stem + preset.extension_for(clip))
        original = things[0][1] is None and preset.leaves(things[0][0], treatment(things[0][0]))
        many = f" and {len(things) - 1} more" if len(things) > 1 else ""
        folder = "the file itself" if original else f"in {preset.folder or manner.folder}"
        self.bar.show_preview(f"→ {text.shown(names[0], 200)}{many}", f"{names[0]}{many}\n{folder}")

    def things(self, clips: Sequence[Clip] | None = None) -> list[tuple[Clip, Region | None]]:
        """The sounds that are meant now; the region where one clip is meant and has one."""
        chosen = [clip for clip in (clips or self._window.actions_.clips()) if clip.status == "ok"]
        deck = self._window.deck
        in_hand = len(chosen) == 1 and deck.clip is not None and deck.clip.id == chosen[0].id
        return [(clip, deck.region if in_hand else None) for clip in chosen]

    # --- sending

    def _add_to_menu(self, menu: QMenu, clips: list[Clip]) -> None:
        things = self.things(clips)
        send = menu.addMenu("Send to")
        self.fill_send(send, things)
        send.setEnabled(bool(things))

    def fill_send(self, menu: QMenu, things: Sequence[tuple[Clip, Region | None]]) -> None:
        """A menu of what files can be sent to."""
        for name, label in self._receivers:
            menu.addAction(plain(label, 60), partial(self.send, things, name))
        if self._receivers:
            menu.addSeparator()
        menu.addAction("Set up editors …", self.spotting.open_page)

    def send(self, things: Sequence[tuple[Clip, Region | None]], name: str) -> None:
        """Makes files as a drag would and hands them to a receiver."""
        window = self._window
        orders = window.handover.orders(things)
        job = transfer_jobs.send_job(window.service, orders, window.handover.manner.preset, name)
        job.failed.connect(window.messages.fail)
        job.finished.connect(self._on_sent)
        window.status.jobs.add(job)
        window.runner.measures.submit(job)

    def _on_sent(self, sent: Sent) -> None:
        self._window.messages.say(sent.sentence)
        self._on_handed_over(list(sent.parcels), sent.at_s)

    # --- uses

    def _on_handed_over(self, parcels: list[Parcel], at_s: float) -> None:
        self._show_uses([parcel.order.clip for parcel in parcels], at_s)

    def _on_exported(self, exported: Exported) -> None:
        self._show_uses(exported.clips, exported.at_s)

    def _show_uses(self, clips: Sequence[Clip], at_s: float) -> None:
        """Shows new uses at once; they are written already."""
        model = self._window.results.model
        for clip_id, times in Counter(clip.id for clip in clips if clip.id).items():
            row = model.row_of(clip_id)
            shown = model.clip_at(row) if row is not None else None
            if shown is not None:
                model.change_clips([clip_id], uses=shown.uses + times, used_s=at_s)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The uses of a clip as a tooltip of its cell: they are read when someone asks."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self._window.results.view.indexAt(event.pos())
            row = index.data(ROW_ROLE) if index.isValid() else None
            if row is not None and index.column() == BY_NAME["used"] and row.clip.uses:
                self._tell_uses(row.clip, event.globalPos())
                return True
        return super().eventFilter(watched, event)

    def _tell_uses(self, clip: Clip, at: QPoint) -> None:
        window = self._window
        window.runner.reads.submit(
            partial(transfer_jobs.uses, window.service, clip.id),
            lambda uses: QToolTip.showText(at, text.plain_tooltip(use_words(uses)), window.results.view),
            key="uses",
            what="The uses of the sound",
        )


def use_words(uses: Sequence[Use]) -> str:
    """Uses as lines: when, how, of what, where to, for which project."""
    lines = []
    for use in uses:
        parts = [f"{text.day(use.at_s)}, {text.hour(use.at_s)}: {_HOW.get(use.how, use.how)}"]
        if use.region is not None:
            parts.append(f"{text.clock(use.region.start_s)} – {text.clock(use.region.end_s)}")
        if use.place:
            parts.append(f"to {use.place}")
        if use.project:
            parts.append(f"for {use.project}")
        lines.append(", ".join(parts))
    return "\n".join(lines)
