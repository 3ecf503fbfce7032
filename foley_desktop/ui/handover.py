"""Sounds on their way out by hand: rows of the results, the region in the waveform, what lies in a bin.

Files are made ready before a drag can begin. The region is rendered as soon as it has come to rest, so that
it is there when the hand comes back to it; rows that have to be rendered are made while the button is down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QWidget

from foley_desktop.audio.treatment import Treatment
from foley_desktop.errors import FoleyError
from foley_desktop.library.presets import NEUTRAL
from foley_desktop.library.service import LibraryService
from foley_desktop.library.transfer import Order, Parcel
from foley_desktop.models import Clip, Region
from foley_desktop.ui.deck import Deck
from foley_desktop.ui.drag import DragSource
from foley_desktop.ui.results_view import ResultsView
from foley_desktop.workers import transfer_jobs
from foley_desktop.workers.runner import Runner
from foley_desktop.workers.transfer_jobs import Manner

AT_REST_MS = 250
SLOW_MS = 600


class Handover(QObject):
    """Has files made ready while the button is down, and starts the drag when the pointer moves."""

    failed = Signal(object)
    handed_over = Signal(list, float)
    """Parcels that a receiver took, and the moment that is remembered."""
    slow = Signal()
    """The files of a drag take a moment, and the button is still down."""
    manner_changed = Signal(object)
    """Sounds leave in another Manner from now on."""

    def __init__(
        self, service: LibraryService, runner: Runner, view: ResultsView, deck: Deck, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._service = service
        self._runner = runner
        self._deck = deck
        self.manner = transfer_jobs.PLAIN
        self._offered: list[Parcel] = []
        self._began = False
        self._press = self._ahead = 0
        self.rows = self.source(view, view.forget_press)
        self.region = self.source(deck.waveform, deck.waveform.forget_press)
        view.drag_prepared.connect(self.prepare_rows)
        view.drag_started.connect(lambda: self.rows.start(view))
        deck.waveform.region_pressed.connect(self.prepare_region)
        deck.waveform.region_dragged.connect(lambda: self.region.start(deck.waveform))
        self.things: tuple[tuple[Clip, Region | None], ...] = ()
        """What was taken hold of last."""
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(AT_REST_MS)
        self._rest.timeout.connect(self._make_region_ahead)
        deck.waveform.region_changed.connect(lambda _: self._on_region())

    def source(self, widget: QWidget, forget_press: Callable[[], None]) -> DragSource:
        """A further place that drags go out from; the caller connects its presses and moves."""
        drag = DragSource(self)
        drag.began.connect(self._on_began)
        drag.taken.connect(self._on_taken)
        drag.finished.connect(forget_press)
        drag.failed.connect(self.failed)
        return drag

    def set_manner(self, manner: Manner) -> None:
        """From now on files leave like this."""
        if manner != self.manner:
            self.manner = manner
            self._rest.start()
            self.manner_changed.emit(manner)

    def heard(self, clip: Clip) -> Treatment:
        """How a sound is heard now: what is done to the one in hand, and to others where it is held."""
        hand, playback = self._deck.clip, self._deck.playback
        in_hand = hand is not None and (hand.id, hand.path) == (clip.id, clip.path)
        return playback.treatment if in_hand or playback.holds else NEUTRAL

    def treatment(self, clip: Clip) -> Treatment:
        """What is done to a sound that leaves now."""
        return self.heard(clip) if self.manner.as_heard else NEUTRAL

    def treatment_changed(self) -> None:
        """What is done to the sound while listening has changed; that may be what leaves."""
        if self.manner.as_heard:
            self._rest.start()

    def orders(self, things: Sequence[tuple[Clip, Region | None]]) -> list[Order]:
        """What is to leave, treated as things stand now."""
        return [Order(clip, region, self.treatment(clip)) for clip, region in things]

    # --- making ready

    def prepare_rows(self, clips: list[Clip]) -> None:
        """The files of some clips, in this order."""
        if clips:
            self.prepare(self.rows, [(clip, None) for clip in clips])

    def prepare_region(self) -> None:
        """The selected region of the clip in hand, rendered into a file of its own."""
        if self._deck.clip is not None and self._deck.region is not None:
            self.prepare(self.region, [(self._deck.clip, self._deck.region)])

    def prepare(self, drag: DragSource, things: Sequence[tuple[Clip, Region | None]]) -> None:
        """The button went down on some things: has their files made ready for ``drag``."""
        self._withdraw()
        self.things = tuple(things)
        orders = self.orders(things)
        self._press += 1
        self._began = False
        press = self._press

        def wanted() -> bool:
            # Asked on a worker: attribute reads, no Qt.
            return press == self._press and not self._runner.is_ending

        def make(ready: Callable[[list[str]], None], broken: Callable[[FoleyError], None]) -> None:
            def done(parcels: list[Parcel]) -> None:
                self._offered, self._began = parcels, False
                ready([parcel.file for parcel in parcels])

            work = partial(transfer_jobs.make_ready, self._service, orders, self.manner.preset, wanted)
            self._runner.spotting.submit(work, done, broken, key="drag", what="The drag")

        drag.prepare(things[0][0].name, make)
        QTimer.singleShot(SLOW_MS, self, partial(self._look, drag, press))

    def _look(self, drag: DragSource, press: int) -> None:
        held = QApplication.mouseButtons() & Qt.MouseButton.LeftButton
        if press == self._press and drag.paths is None and not self._began and held:
            self.slow.emit()

    def _on_region(self) -> None:
        # Who selects holds nothing else. What may be held is not touched otherwise, whatever changes.
        self._withdraw()
        self._rest.start()

    def _make_region_ahead(self) -> None:
        clip, region = self._deck.clip, self._deck.region
        orders = self.orders([(clip, region)]) if clip is not None and region is not None else []
        self._ahead += 1
        number = self._ahead

        def wanted() -> bool:
            # Asked on a worker: attribute reads, no Qt.
            return number == self._ahead and not self._runner.is_ending

        work = partial(transfer_jobs.make_ahead, self._service, orders, self.manner.preset, wanted)
        self._runner.spotting.submit(work, key="ahead", what="Rendering the region")

    def _withdraw(self) -> None:
        """What was offered and never dragged may be discarded again."""
        parcels, self._offered = self._offered, []
        if parcels and not self._began:
            self._runner.spotting.submit(partial(transfer_jobs.withdraw, self._service, parcels))

    def stop(self) -> None:
        """The window closes: what was never dragged goes, with the last small writes."""
        self._rest.stop()
        parcels = [] if self._began else self._offered
        work = partial(transfer_jobs.tidy_up, self._service, parcels)
        self._runner.writes.slip_in(work, what="Discarding what was not dragged")

    # --- what became of it

    def _on_began(self) -> None:
        self._began = True

    def _on_taken(self) -> None:
        parcels = self._offered
        self._runner.spotting.submit(
            partial(transfer_jobs.remember, self._service, parcels, "drag"),
            partial(self.handed_over.emit, parcels),
            self.failed.emit,
            what="Remembering the drag",
        )
