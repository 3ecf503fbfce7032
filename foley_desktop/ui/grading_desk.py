"""Runs a grading session in the window: what the keys mean meanwhile, what is heard, what is kept.

The session itself lives on the lab lane, where every step is kept in the order it was made. The window
shows a grade before it is kept, so that grading is as fast as hearing; when keeping it fails, the sheet is
read anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from foley_desktop.errors import FoleyError
from foley_desktop.library.golden_store import SetInfo
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip
from foley_desktop.ui import text
from foley_desktop.ui.deck import Deck
from foley_desktop.ui.grading_model import CandidatesModel
from foley_desktop.ui.grading_page import CandidatesView, GradingBanner
from foley_desktop.ui.keys import CTRL, Key
from foley_desktop.ui.messages import Messages
from foley_desktop.workers.runner import Runner

if TYPE_CHECKING:
    from foley_desktop.library.grading import GradingSession, Sheet

LOOKED_AT_MS = 400
"""A candidate that was looked at for so long is where a later sitting goes on."""


class GradingDesk(QObject):
    """One session at a time."""

    began = Signal()
    ended = Signal()
    judged = Signal()
    """The judgements of the set have changed, and the session is over."""
    keys_changed = Signal(object)
    """The keys that hold before all others from now on; none when the session is over."""

    def __init__(self, service: LibraryService, runner: Runner, deck: Deck, messages: Messages) -> None:
        super().__init__()
        self._service = service
        self._runner = runner
        self._deck = deck
        self._messages = messages
        self._session: GradingSession | None = None
        self._info: SetInfo | None = None
        self._grader = ""
        self._sitting = 0
        self._waits = False
        self.model = CandidatesModel()
        self.view = CandidatesView(self.model)
        self.banner = GradingBanner()
        self._looked_at = QTimer(self)
        self._looked_at.setSingleShot(True)
        self._looked_at.setInterval(LOOKED_AT_MS)
        self._looked_at.timeout.connect(self._keep_place)
        self._connect()

    def _connect(self) -> None:
        banner = self.banner
        banner.grade_pressed.connect(self.grade)
        banner.undo_pressed.connect(self.undo)
        banner.skip_pressed.connect(self.skip)
        banner.next_pressed.connect(self.finish)
        banner.widen_pressed.connect(self.widen)
        banner.leave_pressed.connect(self.leave)
        self.view.clip_chosen.connect(self._on_clip)
        self._deck.playing_changed.connect(self.model.set_playing)

    @property
    def active(self) -> bool:
        """Whether a session is on: the banner is shown and digits grade."""
        return self._info is not None

    # --- beginning and ending

    def start(
        self,
        info: SetInfo,
        grader: str,
        *,
        focus: Mapping[str, Collection[str]] | None = None,
        restart: bool = False,
        query_id: str = "",
    ) -> None:
        """Begins a session on a set, or goes on where this grader stopped.

        ``focus`` limits it to some clips of some queries, ``query_id`` takes up a certain query.
        """
        if self.active:
            self._flush()
        self._sitting += 1
        self._info, self._grader, self._session = info, grader, None
        service = self._service

        def begin() -> tuple[GradingSession, Sheet]:
            session = service.lab.session(info.id, grader, focus=focus, restart=restart)
            if query_id:
                session.go_to(query_id)
            return session, session.sheet()

        self._wait()
        self.keys_changed.emit(self._keys())
        self.began.emit()
        self._ask(begin, self._take_session, "The grading session")

    def leave(self) -> None:
        """Ends the session; the next one goes on from here."""
        if not self.active:
            return
        self._flush()
        self._sitting += 1
        self._session = self._info = None
        self._waits = False
        self.banner.hide()
        self.keys_changed.emit(())
        self.ended.emit()
        # Behind everything that is still to be kept.
        self._runner.lab.slip_in(lambda: None, lambda _: self.judged.emit())

    def stop(self) -> None:
        """The window closes: what is on its way is still kept."""
        if self.active:
            self._flush()

    # --- steps

    def grade(self, grade: int) -> None:
        """Grades the candidate in hand and goes to the next one without a grade."""
        row, session = self.view.current_row(), self._session
        clip = self.model.clip_at(row)
        if clip is None or session is None or self._waits:
            return
        self.model.set_grade(row, grade)
        self._looked_at.stop()
        self._runner.lab.slip_in(
            partial(session.grade, clip.id, grade), None, self._guarded(self._on_not_kept), "The grade"
        )
        self._show_counts()
        following = self.model.next_unjudged(row)
        if following is not None:
            self.view.go_to(following)

    def undo(self) -> None:
        session = self._session
        if session is None or self._waits:
            return
        self._flush()

        def undo() -> Sheet | None:
            return session.sheet() if session.undo() is not None else None

        self._wait()
        self._ask(undo, self._take_undone, "Undoing")

    def skip(self) -> None:
        self._move_on("skip")

    def finish(self) -> None:
        self._move_on("finish")

    def widen(self) -> None:
        """From some clips to the whole set."""
        session = self._session
        if session is not None and not self._waits:

            def widen() -> Sheet:
                session.widen()
                return session.sheet()

            self._wait()
            self._ask(widen, self._take_sheet, "The grading session")

    def _move_on(self, step: str) -> None:
        session = self._session
        if session is None or self._waits:
            return
        self._looked_at.stop()
        call: Callable[[], bool] = getattr(session, step)

        def move() -> tuple[Sheet | None, tuple[str, ...]]:
            more = call()
            return (session.sheet() if more else None), session.skipped

        self._wait()
        self._ask(move, self._take_next, "The next query")

    # --- answers

    def _take_session(self, answer: tuple[GradingSession, Sheet]) -> None:
        self._session = answer[0]
        self._take_sheet(answer[1])

    def _take_sheet(self, sheet: Sheet) -> None:
        assert self._info is not None and self._session is not None
        self._waits = False
        self.model.show_candidates(sheet.candidates)
        self.view.set_empty_words("No mode finds anything for this query.")
        self.banner.show_sheet(sheet, self._info.name, self._grader, self._session.focused)
        self._show_counts()
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        place = self.model.row_of(sheet.clip_id)
        if place is not None and self.model.grade_at(place) is not None:
            place = self.model.next_unjudged(place) if self.model.unjudged else place
        elif place is None:
            place = self.model.next_unjudged(-1)
        if self.model.rowCount():
            self.view.go_to(place if place is not None else 0)

    def _take_undone(self, sheet: Sheet | None) -> None:
        if sheet is None:
            self._messages.say("There is nothing to undo in this set.")
            self._reload()
        else:
            self._take_sheet(sheet)

    def _take_next(self, answer: tuple[Sheet | None, tuple[str, ...]]) -> None:
        sheet, skipped = answer
        if sheet is not None:
            self._take_sheet(sheet)
            return
        info, grader = self._info, self._grader
        assert info is not None
        self.leave()
        sentence = f"Every query of {text.shown(info.name, 60)} is graded or skipped."
        if skipped:
            self._messages.say(
                f"{sentence} Skipped: {len(skipped)}.",
                action="Grade them",
                call=lambda: self.start(info, grader, query_id=skipped[0]),
            )
        else:
            self._messages.say(sentence)

    def _reload(self) -> None:
        session = self._session
        if session is not None:
            self._wait()
            self._ask(session.sheet, self._take_sheet, "The grading session")

    def _on_not_kept(self, error: FoleyError) -> None:
        self._messages.fail(error)
        self._reload()

    def _on_failed(self, error: FoleyError) -> None:
        self._messages.fail(error)
        self.leave()

    # --- parts

    def _ask(self, work: Callable[[], Any], done: Callable[[Any], None], what: str) -> None:
        self._runner.lab.slip_in(work, self._guarded(done), self._guarded(self._on_failed), what)

    def _guarded(self, call: Callable[[Any], None]) -> Callable[[Any], None]:
        """An answer that comes after the session it belongs to is nobody's."""
        sitting = self._sitting
        return lambda value: call(value) if sitting == self._sitting else None

    def _wait(self) -> None:
        assert self._info is not None
        self._waits = True
        self._looked_at.stop()
        self.model.show_candidates(())
        self.view.set_empty_words("")
        self.banner.show_waiting(self._info.name, self._grader)

    def _show_counts(self) -> None:
        self.banner.show_counts(self.model.unjudged, self.model.rowCount())

    def _on_clip(self, clip: Clip) -> None:
        self._deck.take(clip)
        self._looked_at.start()

    def _keep_place(self) -> None:
        clip, session = self.model.clip_at(self.view.current_row()), self._session
        if clip is not None and session is not None and not self._waits:
            self._runner.lab.slip_in(partial(session.look_at, clip.id), what="The place")

    def _flush(self) -> None:
        if self._looked_at.isActive():
            self._looked_at.stop()
            self._keep_place()

    def _escape(self) -> None:
        if self._deck.playback.state != "stopped":
            self._deck.stop()
        else:
            self.view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _keys(self) -> tuple[Key, ...]:
        key = Qt.Key
        digits = [Key(Qt.Key(key.Key_0 + grade), partial(self.grade, grade)) for grade in range(3)]
        # Keys that act on the list of results, which is not to be seen now.
        rest = [Key(name, _nothing) for name in (key.Key_3, key.Key_4, key.Key_5, key.Key_F, key.Key_S)]
        rest += [Key(key.Key_Slash, _nothing), Key(key.Key_C, _nothing, CTRL), Key(key.Key_F, _nothing, CTRL)]
        return (
            *digits,
            *rest,
            Key(key.Key_N, self.finish),
            Key(key.Key_K, self.skip),
            Key(key.Key_U, self.undo),
            Key(key.Key_Z, self.undo, CTRL),
            Key(key.Key_Escape, self._escape, everywhere=True),
        )


def _nothing() -> None:
    """A key that rests."""
