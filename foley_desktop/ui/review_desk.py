"""Suggested categories in the window: found in the background, heard, accepted, refused, and taken back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMenu

from foley_desktop.models import Clip, Progress
from foley_desktop.ui import edit_notice, text
from foley_desktop.ui.keys import CTRL, SHIFT, Key
from foley_desktop.ui.review_model import SURE, ReviewModel
from foley_desktop.ui.review_page import ReviewPage
from foley_desktop.workers import category_jobs
from foley_desktop.workers.category_jobs import Accepted, Proposal
from foley_desktop.workers.job import Job

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

_THRESHOLD = "category_threshold"
_AT_ONCE = 50
"""Up to so many categories are set in between; more of them are a job of their own."""


class _Decision(NamedTuple):
    """Something that can be taken back. ``refused`` is a ``(clip id, CatID)`` pair, or empty."""

    words: str
    accepted: Accepted | None = None
    refused: tuple[str, str] | None = None


class ReviewDesk(QObject):
    """Shows the page in place of the results, and does what is said there."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.model = ReviewModel()
        self.page = ReviewPage(self.model)
        self.active = False
        self._job: Job | None = None
        self._sitting = 0
        self._decisions: list[_Decision] = []
        self._subject: tuple[Any, ...] = ()
        window.lists.addWidget(self.page)
        window.keys.add(Key(Qt.Key.Key_C, self.start, CTRL | SHIFT, everywhere=True))
        window.actions_.additions.append(self._add_to_menu)
        self._connect()

    def _connect(self) -> None:
        page, window = self.page, self._window
        page.accept_pressed.connect(self.accept)
        page.reject_pressed.connect(self.reject)
        page.choice_pressed.connect(self.accept)
        page.category_chosen.connect(self.accept_category)
        page.all_pressed.connect(self.accept_above)
        page.undo_pressed.connect(self.undo)
        page.cancel_pressed.connect(self._cancel)
        page.leave_pressed.connect(self.leave)
        page.table.moved.connect(self._on_moved)
        page.table.selectionModel().selectionChanged.connect(lambda *_: self._show_line())
        page.table.doubleClicked.connect(lambda _: window.deck.playback.play_from_start())
        window.results.search.request_changed.connect(self._on_request)
        window.lab.grading.began.connect(self._give_way)

    def stop(self) -> None:
        """The window closes."""
        self._cancel()

    def _add_to_menu(self, menu: QMenu, clips: list[Clip]) -> None:
        menu.addAction("Suggest categories …", lambda: self.start(clips))

    # --- beginning and ending

    def start(self, clips: Sequence[Clip] | None = None) -> None:
        """Finds categories for some sounds, or for all that have none, and shows them as they come."""
        window = self._window
        if window.lab.grading.active:
            window.messages.say("Leave the grading session first.")
            return
        self._cancel()
        self._sitting += 1
        self._decisions.clear()
        self.model.clear()
        threshold = window.service.settings.extra.get(_THRESHOLD)
        if isinstance(threshold, int) and 5 <= threshold <= 100:
            self.page.threshold.setValue(threshold)
        ids = [clip.id for clip in clips if clip.id] if clips else None
        window.runner.reads.submit(category_jobs.choices, self._take_choices, window.messages.fail,
                                   what="The categories")  # fmt: skip
        self._find(ids)
        self._show()

    def _show(self) -> None:
        window = self._window
        self.active = True
        self._subject = window.results.search.request.subject
        window.results.view.clearSelection()
        window.lists.setCurrentWidget(self.page)
        window.keys.lay_over(*self._keys())
        self.page.refresh_all()
        self.page.show_undo("")
        self._show_line()
        self.page.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _keys(self) -> list[Key]:
        key = Qt.Key
        found = [
            Key(key.Key_Return, self.accept),
            Key(key.Key_Enter, self.accept),
            Key(key.Key_X, self.reject),
            Key(key.Key_Delete, self.reject),
            Key(key.Key_E, self.page.focus_field),
            Key(key.Key_U, self.undo),
            Key(key.Key_Z, self.undo, CTRL),
            Key(key.Key_Escape, self._escape, everywhere=True),
        ]
        places = range(5)
        return found + [Key(Qt.Key(key.Key_1 + n), partial(self.accept, n)) for n in places]

    def _escape(self) -> None:
        if self.page.field.hasFocus():
            self.page.field.clear()
            self.page.table.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self._window.deck.playback.state != "stopped":
            self._window.deck.stop()
        else:
            self.leave()

    def leave(self) -> None:
        """Back to the results."""
        if not self.active:
            return
        window = self._window
        self._give_way()
        window.keys.lay_over()
        window.deck.stop()
        window.lists.setCurrentWidget(window.results)
        window.results.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _give_way(self) -> None:
        """Something else takes the page's place and its keys."""
        if not self.active:
            return
        self.active = False
        self._cancel()
        self._sitting += 1
        threshold = self.page.threshold.value()
        self._window.service.settings.extra[_THRESHOLD] = threshold

    def _on_request(self, request: Any) -> None:
        """Whoever searches wants to see what is found."""
        if self.active and request.subject != self._subject:
            self.leave()
            self._window.search_bar.box.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- finding

    def _find(self, ids: list[str] | None) -> None:
        window, sitting = self._window, self._sitting

        def take(proposals: list[Proposal]) -> None:
            window.runner.mailbox.post(partial(self._take, sitting, proposals))

        job = category_jobs.suggest_job(window.service, ids, take)
        job.progressed.connect(self._on_progress)
        job.failed.connect(window.messages.fail)
        job.ended.connect(partial(self._on_ended, job))
        self._job = job
        window.status.jobs.add(job)
        window.runner.measures.submit(job)
        self.page.show_running(0, 0)

    def _cancel(self) -> None:
        if self._job is not None and not self._job.is_over:
            self._job.cancel()

    def _take_choices(self, choices: tuple[tuple[str, str, str], ...]) -> None:
        self.model.set_choices(choices)
        self.page.field.set_choices(choices)

    def _take(self, sitting: int, proposals: list[Proposal]) -> None:
        if sitting != self._sitting:
            return
        self.model.add(proposals)
        self.page.refresh_all()

    def _on_progress(self, step: Progress) -> None:
        self.page.show_running(step.done, step.total)

    def _on_ended(self, job: Job) -> None:
        if job is not self._job or not self.active:
            return
        words = {
            "finished": "Every sound has a category.",
            "cancelled": "Stopped before anything was found.",
            "failed": "Nothing could be found.",
        }
        self.page.show_ended(words[job.state])
        self.page.refresh_all()
        if not self._decisions and self.page.table.currentIndex().row() < 0 and self.model.lines:
            self.page.table.sortByColumn(SURE, Qt.SortOrder.DescendingOrder)

    # --- the line in hand

    def _on_moved(self, row: int) -> None:
        line = self.model.line_at(row)
        if line is not None and self.active:
            self._window.deck.take(line.clip)
            edit_notice.look(self._window)

    def _show_line(self) -> None:
        rows = self.page.table.rows()
        current = self.page.table.currentIndex().row()
        line = self.model.line_at(current if current in rows else rows[0] if rows else -1)
        self.page.show_line(line, len(rows))

    def _targets(self) -> list[int]:
        """The rows that are meant: those selected, or the first open one when there is none."""
        rows = self.page.table.rows()
        if rows:
            return rows
        first = self.model.next_open(-1)
        if first is not None:
            self.page.table.go_to(first)
        return []

    # --- deciding

    def accept(self, place: int | None = None) -> None:
        """Accepts what is offered for the selected lines, or the suggestion of a place."""
        catids = {}
        for row in self._targets():
            line = self.model.lines[row]
            wanted = line.place if place is None else place
            if wanted < len(line.suggestions) and (place is not None or not line.catid):
                catids[line.clip.id] = line.suggestions[wanted].catid
        if catids:
            self._accept(catids)
            self._go_on()
        elif self.page.table.rows() and place is None:
            self._go_on()

    def accept_category(self, catid: str) -> None:
        """Gives the selected lines a category that was typed."""
        catids = {self.model.lines[row].clip.id: catid for row in self._targets()}
        self.page.table.setFocus(Qt.FocusReason.OtherFocusReason)
        if catids:
            self._accept(catids)
            self._go_on()

    def accept_above(self, threshold: float) -> None:
        """Accepts every open suggestion that is at least so sure."""
        catids = self.model.above(threshold)
        if catids:
            self._accept(catids)

    def _accept(self, catids: dict[str, str]) -> None:
        """Shown at once, taken back if it cannot be written."""
        window, service = self._window, self._window.service
        self.model.accept(catids)
        self._after()

        def done(accepted: Accepted) -> None:
            words = "Take back " + (
                f"{text.plural(len(catids), 'category', 'categories')}"
                if len(catids) > 1
                else next(iter(catids.values()))
            )
            self._decisions.append(_Decision(words, accepted))
            self.page.show_undo(words)
            edit_notice.after_edit(window, catids)

        def fail(error: Any) -> None:
            self.model.reopen(catids)
            self._after()
            window.messages.fail(error)

        if len(catids) <= _AT_ONCE:
            window.runner.writes.slip_in(
                lambda: category_jobs.accept(service, catids), done, fail, "The category"
            )
            return
        job = category_jobs.accept_job(service, catids)
        job.finished.connect(done)
        job.failed.connect(fail)
        job.cancelled.connect(lambda: (self.model.reopen(catids), self._after()))
        window.status.jobs.add(job)
        window.runner.writes.submit(job)

    def reject(self) -> None:
        """What is offered for the line in hand is not offered again; the next suggestion is."""
        rows = self.page.table.rows()
        if not rows:
            self._targets()
            return
        row = rows[0]
        line = self.model.lines[row]
        if line.offered is None or line.catid:
            return
        refused = (line.clip.id, line.offered.catid)
        self.model.move(row, 1)
        self._decisions.append(_Decision(f"Offer {refused[1]} again", refused=refused))
        self.page.show_undo(self._decisions[-1].words)
        self._after()
        self._write(lambda: self._window.service.shelf.refuse(*refused), lambda _: None)

    def undo(self) -> None:
        """Takes the last decision of this sitting back."""
        if not self._decisions:
            return
        decision = self._decisions.pop()
        self.page.show_undo(self._decisions[-1].words if self._decisions else "")
        if decision.refused is not None:
            clip_id, catid = decision.refused
            row = self.model.row_of(clip_id)
            if row is not None:
                self.model.move(row, -1)
                self.page.table.go_to(row)
            self._write(lambda: self._window.service.shelf.refuse(clip_id, catid, False), lambda _: None)
        elif decision.accepted is not None:
            accepted = decision.accepted
            self._write(lambda: category_jobs.take_back(self._window.service, accepted), self._taken_back)
        self._after()

    def _taken_back(self, ids: Collection[str]) -> None:
        self.model.reopen(ids)
        row = self.model.row_of(next(iter(ids))) if len(ids) == 1 else None
        if row is not None:
            self.page.table.go_to(row)
        edit_notice.after_edit(self._window, ids)
        self._after()

    def _write(self, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        self._window.runner.writes.slip_in(work, done, self._window.messages.fail, "The decision")

    def _after(self) -> None:
        self.page.refresh_all()
        self._show_line()

    def _go_on(self) -> None:
        """To the next line without a decision."""
        rows = self.page.table.rows()
        following = self.model.next_open(rows[-1] if rows else -1)
        if following is not None:
            self.page.table.go_to(following)

    # --- categories by hand

    def drop(self, catid: str, clips: Sequence[Clip]) -> None:
        """Gives sounds a category that they were dropped on."""
        catids = {clip.id: catid for clip in clips if clip.id}
        if catids and catid:
            self._set_by_hand(catids)

    def _set_by_hand(self, catids: Mapping[str, str]) -> None:
        window = self._window

        def changed(_: object = None) -> None:
            edit_notice.after_edit(window, catids)

        def done(accepted: Accepted) -> None:
            changed()
            catid = next(iter(catids.values()))
            window.messages.say(
                f"{text.plural(len(catids), 'sound')} set to {catid}.",
                action="Undo",
                call=lambda: self._write(lambda: category_jobs.take_back(window.service, accepted), changed),
            )

        self._write(lambda: category_jobs.accept(window.service, catids), done)
