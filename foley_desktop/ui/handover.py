"""Sounds on their way out: rows of the results, and the region selected in the waveform."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal

from foley_desktop.errors import FoleyError
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip, Region
from foley_desktop.ui.deck import Deck
from foley_desktop.ui.drag import DragSource
from foley_desktop.ui.results_view import ResultsView
from foley_desktop.workers import jobs
from foley_desktop.workers.runner import Runner


class Handover(QObject):
    """Has files made ready while the button is down, and starts the drag when the pointer moves."""

    failed = Signal(object)

    def __init__(
        self, service: LibraryService, runner: Runner, view: ResultsView, deck: Deck, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._service = service
        self._runner = runner
        self._deck = deck
        self.rows = DragSource(self)
        self.region = DragSource(self)
        waveform = deck.waveform
        view.drag_prepared.connect(self.prepare_rows)
        view.drag_started.connect(lambda: self.rows.start(view))
        waveform.region_pressed.connect(self.prepare_region)
        waveform.region_dragged.connect(lambda: self.region.start(waveform))
        self.rows.finished.connect(view.forget_press)
        self.region.finished.connect(waveform.forget_press)
        for drag in (self.rows, self.region):
            drag.failed.connect(self.failed)

    def prepare_rows(self, clips: list[Clip]) -> None:
        """The files of some clips, in this order."""
        if clips:
            self._prepare(self.rows, clips, None)

    def prepare_region(self) -> None:
        """The selected region of the clip in hand, rendered into a file of its own."""
        if self._deck.clip is not None and self._deck.region is not None:
            self._prepare(self.region, [self._deck.clip], self._deck.region)

    def _prepare(self, drag: DragSource, clips: list[Clip], region: Region | None) -> None:
        def make(ready: Callable[[list[str]], None], broken: Callable[[FoleyError], None]) -> None:
            work = partial(jobs.drag_paths, self._service, clips, region)
            self._runner.reads.submit(work, ready, broken, key="drag", what="The drag")

        drag.prepare(clips[0].name, make)
