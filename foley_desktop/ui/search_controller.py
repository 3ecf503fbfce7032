"""What is asked and what is listed: debounce, newest question wins, and results that keep still.

The rules: an answer to an older question is never shown. A new question replaces the list. A later
answer to the *same* question (the models are ready now, a folder has been indexed) replaces it only
while the user's selection is not in the results; once it is, rows never move or vanish, and the later
answer waits until the user asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal

from foley_desktop.errors import FoleyError
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip, Filters, Mode, Region
from foley_desktop.ui.results_model import ResultsModel
from foley_desktop.ui.take_fold import folded
from foley_desktop.workers import jobs
from foley_desktop.workers.jobs import Found, Request, Row
from foley_desktop.workers.patterns import Pattern
from foley_desktop.workers.runner import Runner

DEBOUNCE_MS = 120
MOST_AT_ONCE = 100_000
"""How many clips are loaded into the table when all of them are to be selected."""
SETTLE_MS = 700
"""After this long without a key the last word counts as finished."""


class SearchController(QObject):
    """Turns what the user wants into requests, and answers into rows of ``model``."""

    asked = Signal()
    """A question is on its way."""
    request_changed = Signal(object)
    """What is asked for now, or again after a question failed."""
    listed = Signal(object)
    """A Found is in the table now."""
    noticed = Signal(object)
    """A Found whose rows wait has something to say about those that are listed."""
    waiting_changed = Signal(int)
    """So many new results wait; 0 for none, -1 when only their order changed."""
    failed = Signal(object)

    def __init__(
        self, service: LibraryService, runner: Runner, model: ResultsModel, is_entered: Callable[[], bool]
    ) -> None:
        super().__init__()
        self._service = service
        self._runner = runner
        self._model = model
        self._is_entered = is_entered
        self._request = Request()
        self._words_before = Request()
        self.found: Found | None = None
        self.keeps_selection = False
        """Whether what is being listed is the same list in another order."""
        self.folds_takes = False
        """Whether takes of one sound stand as one row."""
        self._opened: set[str] = set()
        self._late: Found | None = None
        self._lists_next = False
        self._under_way: Request | None = None
        self._again = False
        self._debounce = self._timer(DEBOUNCE_MS, self._ask)
        self._settle = self._timer(SETTLE_MS, self._ask_settled)
        model.page_wanted.connect(lambda offset: self._fetch_page(offset))
        model.order_wanted.connect(self.set_order)

    def _timer(self, interval_ms: int, call: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        timer.timeout.connect(call)
        return timer

    @property
    def request(self) -> Request:
        return self._request

    @property
    def is_answered(self) -> bool:
        """Whether the table shows the answer to what is asked now."""
        return self.found is not None and self.found.request.subject == self._request.subject

    def finish_typing(self) -> None:
        """The user moves into the results: what is listed for these words stays."""
        if self.is_answered:
            self._debounce.stop()
        elif self._debounce.isActive():
            self.submit()

    # --- questions

    def type(self, text: str) -> None:
        """The text in the box changed: ask once the typing pauses."""
        self._request = replace(
            self._request, text=text, patterns=(), wish="", typing=True, show_hidden=False
        )
        self._settle.stop()
        self._debounce.start()

    def submit(self) -> None:
        """Ask at once: the text is finished."""
        self._request = replace(self._request, typing=False)
        self._ask()

    def set_mode(self, mode: Mode) -> None:
        self._request = replace(self._request, mode=mode)
        self._ask()

    def set_filters(self, filters: Filters) -> None:
        self._request = replace(self._request, filters=filters)
        self._ask()

    def set_order(self, order_by: str, descending: bool) -> None:
        """Another order of the unsearched list."""
        self._request = replace(self._request, order_by=order_by, descending=descending)
        self._ask()

    def set_balance(self, balance: float | None) -> None:
        """Between words (0) and sound (1); None leaves it to the fusion."""
        self._request = replace(self._request, balance=balance)
        if self._request.kind == "text":
            self._ask()

    def set_show_hidden(self, show: bool) -> None:
        """Whether what sounds like an excluded word is listed all the same."""
        self._request = replace(self._request, show_hidden=show)
        self._ask()

    # --- sounds to compare with

    def find_similar(self, clip: Clip, region: Region | None) -> None:
        self.compare([Pattern.of(clip, region)])

    def compare(self, patterns: Sequence[Pattern]) -> None:
        """Asks what sounds like these."""
        if self._request.kind != "similar":
            self._words_before = self._request
        self._request = replace(self._request, patterns=tuple(patterns), wish="", typing=False)
        self._ask()

    def add_pattern(self, pattern: Pattern) -> None:
        """Compares with one more sound; the same one on the other side takes the place of the old."""
        others = [old for old in self._request.patterns if old.key != pattern.key]
        if self._request.kind != "similar":
            self.compare([pattern])
            return
        self._set_patterns((*others, pattern))

    def remove_pattern(self, pattern: Pattern) -> None:
        self._set_patterns(tuple(old for old in self._request.patterns if old != pattern))

    def _set_patterns(self, patterns: tuple[Pattern, ...]) -> None:
        if all(pattern.unlike for pattern in patterns):
            self.leave_similar()
            return
        self._request = replace(self._request, patterns=patterns, typing=False)
        self._ask()

    def set_wish(self, wish: str, strength: float) -> None:
        """How the sounds found should differ from those they are compared with."""
        self._request = replace(self._request, wish=wish, strength=strength)
        self._ask()

    def leave_similar(self) -> None:
        """Back to the words that were searched before."""
        self._request = replace(
            self._words_before, filters=self._request.filters, mode=self._request.mode, typing=False
        )
        self._ask()

    def refresh(self) -> None:
        """The same question again, because the library or the models have changed.

        A question that is under way is not silenced by its own repetition: it is asked again once it
        is answered. Otherwise changes that come faster than answers would keep every answer away.
        """
        if self._under_way == self._request:
            self._again = True
        elif not self._debounce.isActive():
            self._ask()

    def stop(self) -> None:
        self._debounce.stop()
        self._settle.stop()

    def _ask(self) -> None:
        self._debounce.stop()
        request, service, limit = self._request, self._service, self._limit()
        self._under_way, self._again = request, False
        if request.kind == "text" and request.typing:
            self._settle.start()
        self.request_changed.emit(request)
        self.asked.emit()
        self._runner.search.submit(
            lambda: jobs.find(service, request, limit),
            self._take,
            self._fail,
            key="search",
            what="The search",
        )

    def _ask_settled(self) -> None:
        """The last word is finished. In the results already, the user keeps what is listed."""
        if self._request.typing and not self._is_entered():
            self._request = replace(self._request, typing=False)
            self._ask()

    def _limit(self) -> int:
        settings = self._service.settings
        if self._request.kind == "similar":
            return settings.similar_k
        if self._request.kind == "text":
            return settings.results_k
        same = self.found is not None and self.found.request.subject == self._request.subject
        return max(jobs.PAGE, self._model.rowCount()) if same else jobs.PAGE

    # --- answers

    def _answered(self) -> None:
        """The question under way is not any more; what changed meanwhile is asked for now."""
        again, self._under_way, self._again = self._again, None, False
        if again:
            self.refresh()

    def _take(self, found: Found) -> None:
        self._show(found)
        self._answered()

    def _show(self, found: Found) -> None:
        if found.request.subject != self._request.subject:
            return
        same = self.found is not None and self.found.request.subject == found.request.subject
        if self._is_unfinished(found):
            self._request = replace(self._request, typing=True)
            return
        if self._lists_next or not (same and self._is_entered()):
            self._lists_next = False
            self._list(found, keep_sort=same)
            return
        self._hold_back(found)

    def _is_unfinished(self, found: Found) -> bool:
        """Whether the word that was being typed finds something as a beginning only: a pause ends no word."""
        former = self.found
        return (
            former is not None
            and bool(former.rows)
            and former.request.typing
            and former.request == replace(found.request, typing=True)
            and not found.rows
        )

    def _hold_back(self, found: Found) -> None:
        assert self.found is not None
        rows = self._in_view(found.rows)
        listed, fresh = self._model.arrival_ids(), [row.clip.id for row in rows]
        new = len(set(fresh).difference(listed))
        same_rows = listed == fresh
        self._model.refresh_rows(rows)
        self.found = replace(found, rows=self.found.rows, more=self.found.more)
        self.noticed.emit(self.found)
        self._late = None if same_rows else found
        self.waiting_changed.emit(0 if same_rows else new or -1)

    def list_next(self) -> None:
        """The next answer is listed at once: the user took rows away, and knows that the list changes."""
        self._lists_next = True

    def show_waiting(self) -> None:
        """Lists the results that wait; the selection stays with its clips."""
        if self._late is not None:
            self._list(self._late, keep_sort=True)

    def _list(self, found: Found, *, keep_sort: bool) -> None:
        self.keeps_selection = self._same_but_order(found) or self._late is not None
        self.found = found
        self._late = None
        if not self.keeps_selection:
            self._opened.clear()
        self._model.set_rows(self._in_view(found.rows), found.more, keep_sort=keep_sort)
        self.waiting_changed.emit(0)
        self.listed.emit(found)

    def _same_but_order(self, found: Found) -> bool:
        before = self.found.request if self.found is not None else None
        if before is not None and before.kind == found.request.kind == "text":
            return replace(found.request, balance=before.balance).subject == before.subject
        if before is None or found.request.kind != "list" or before.kind != "list":
            return False
        return before.filters == found.request.filters

    def _fail(self, error: FoleyError) -> None:
        if self._request.kind == "similar" and self.found is not None:
            self._request = self.found.request  # what is listed is still the answer to that
            self.request_changed.emit(self._request)
        elif not self.is_answered:
            # Rows of an older question would pass for the answer to this one.
            self._list(Found(self._request, (), notices=(error.sentence,)), keep_sort=False)
        self.failed.emit(error)
        self._answered()

    # --- takes

    def fold_takes(self, fold: bool) -> None:
        """Whether takes of one sound stand as one row; the selection stays."""
        self.folds_takes = fold
        self._opened.clear()
        self._list_again()

    def open_takes(self, clip: Clip) -> None:
        """Lists the takes behind the row of this clip."""
        self._opened.add(clip.id)
        self._list_again()

    def _in_view(self, rows: Sequence[Row]) -> Sequence[Row]:
        return folded(rows, self._opened) if self.folds_takes else rows

    def _list_again(self) -> None:
        found = self.found
        if found is None:
            return
        if found.request.kind == "list" and self._model.rowCount() > len(found.rows):
            self._ask()  # pages that came later are in the table alone
            return
        self.keeps_selection = True
        self._model.set_rows(self._in_view(found.rows), found.more, keep_sort=True)
        self.listed.emit(found)

    # --- pages of the unsearched list

    def fetch_all(self, done: Callable[[], None]) -> None:
        """Loads what is left of a long list, and calls ``done`` once it is in the table."""
        self._fetch_page(self._model.rowCount(), MOST_AT_ONCE, done)

    def _fetch_page(
        self, offset: int, size: int = jobs.PAGE, done: Callable[[], None] = lambda: None
    ) -> None:
        if self.found is None or self.found.request.kind != "list":
            self._model.page_failed()
            return
        request, service = self.found.request, self._service

        def take(clips: list[Clip]) -> None:
            if self.found is not None and self.found.request == request:
                rows = self._in_view([Row(clip) for clip in clips[:size]])
                self._model.add_page(rows, more=len(clips) > size)
                done()

        def fail(error: FoleyError) -> None:
            self._model.page_failed()
            self.failed.emit(error)

        self._runner.reads.submit(
            lambda: jobs.page(service, request, offset, size + 1),
            take,
            fail,
            key="page",
            what="The list",
        )
