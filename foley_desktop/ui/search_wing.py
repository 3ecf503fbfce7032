"""The parts of the window by which a search is understood and steered: patterns, wishes, moments, reasons."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QDragMoveEvent, QDropEvent

from foley_desktop.models import Clip
from foley_desktop.ui import text
from foley_desktop.ui.drag import dropped_paths
from foley_desktop.ui.keys import Key
from foley_desktop.ui.record_bar import RecordBar
from foley_desktop.ui.wish_bar import WishBar
from foley_desktop.workers import jobs
from foley_desktop.workers.jobs import Dropped
from foley_desktop.workers.patterns import Pattern

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow


class SearchWing(QObject):
    """Built by the window, once its other panels are there."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.wish = WishBar()
        window.strips.addWidget(self.wish)
        self.record = RecordBar(window.runner)
        window.strips.addWidget(self.record)
        self.record.recorded.connect(self._compare_recording)
        self.record.failed.connect(window.messages.fail)
        window.search_bar.record_pressed.connect(self.record.toggle)
        self.record.active_changed.connect(window.search_bar.record_button.setChecked)
        search, actions = window.results.search, window.actions_
        search.request_changed.connect(self.wish.show_request)
        self.wish.changed.connect(search.set_wish)
        self.wish.left_downwards.connect(window.results.enter)
        actions.pattern_wanted.connect(self.add_patterns)
        actions.wish_wanted.connect(self.this_but)
        actions.takes_wanted.connect(search.open_takes)
        window.search_bar.box.installEventFilter(self)
        window.keys.add(
            Key(Qt.Key.Key_M, self.select_moment),
            Key(Qt.Key.Key_W, window.results.why.toggle.toggle),
        )

    def stop(self) -> None:
        """The window closes."""
        self.wish.stop()
        self.record.stop()

    # --- moments

    def select_moment(self) -> None:
        """Makes the marked moment of the clip in hand the region."""
        if self._window.deck.clip is not None and not self._window.deck.select_moment():
            self._window.messages.say("No moment is marked in this sound: search in longer ones.")

    # --- patterns

    def add_patterns(self, clips: Sequence[Clip], unlike: bool) -> None:
        """Compares with some more sounds, or gets away from them."""
        if self._is_grading():
            return
        search, deck = self._window.results.search, self._window.deck
        for clip in clips:
            same = deck.clip is not None and deck.clip.id == clip.id
            search.add_pattern(Pattern.of(clip, deck.region if same else None, unlike=unlike))

    def _compare_recording(self, pattern: Pattern) -> None:
        if not self._is_grading():
            self._window.results.search.compare([pattern])

    def this_but(self, clip: Clip) -> None:
        """Compares with a sound and asks how it should differ."""
        same = self._window.deck.clip is not None and self._window.deck.clip.id == clip.id
        self._window.find_similar(clip, self._window.deck.region if same else None)
        if not self._is_grading():
            self.wish.focus_box()

    def _is_grading(self) -> bool:
        return self._window.lab.grading.active

    # --- files dropped on the search box

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop):
            assert isinstance(event, QDragMoveEvent | QDropEvent)
            if event.mimeData().hasUrls():
                event.setDropAction(Qt.DropAction.CopyAction)
                event.accept()
                if event.type() == QEvent.Type.Drop:
                    self._look_at(*dropped_paths(event.mimeData()))
                return True
        return super().eventFilter(watched, event)

    def _look_at(self, paths: list[str], others: int) -> None:
        window = self._window
        window.runner.reads.submit(
            partial(jobs.sort_dropped, paths, others),
            self._compare_files,
            window.messages.fail,
            what="The drop",
        )

    def _compare_files(self, dropped: Dropped) -> None:
        window = self._window
        if dropped.files and not self._is_grading():
            window.results.search.compare([Pattern.of(outside(path)) for path in dropped.files])
        left = len(dropped.folders) + len(dropped.lists) + dropped.others
        if left or not dropped.files:
            window.messages.say(
                f"{text.plural(left, 'dropped thing')} passed over: the search box takes audio files to "
                "compare with. Drop folders on the list."
            )


def outside(path: str) -> Clip:
    """A file outside the library, as the deck and the search take it."""
    name = os.path.basename(path)
    return Clip(id="", path=path, root_id=0, rel_path=name, name=name)
