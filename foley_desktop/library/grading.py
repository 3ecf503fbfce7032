"""Grading sessions: one query at a time, its candidates pooled from every mode, in an order that gives
nothing away.

Pooling is TREC's way to judge fairly (Sparck Jones and van Rijsbergen, 1975): the union of what every
ranker puts on top. The order comes from a hash of set, query and clip, so it is the same each time and a
clip that joins later moves no other. A session is kept in the catalog after every step: closing the app in
its middle loses nothing, and what was done in an earlier sitting can still be undone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.golden import GoldenQuery
from foley_desktop.eval.trec import decode_id, encode_id
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.golden_store import GoldenStore, one_line
from foley_desktop.models import Clip

POOL_DEPTH = 20
"""How many of each mode's first results are pooled."""

Pool = Callable[[str], Collection[str]]
"""``query text -> clip ids`` that any mode puts on top."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A clip to grade; ``grade`` is what this grader gave it, None while it is unjudged."""

    clip: Clip
    grade: int | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """The query on the table with everything to grade for it.

    ``clip_id`` is where the grader stopped, empty at the start. ``number`` counts from 1 among ``total``
    queries, ``done`` says how many of those have been finished or skipped.
    """

    query: GoldenQuery
    candidates: tuple[Candidate, ...]
    clip_id: str
    number: int
    total: int
    done: int

    @property
    def unjudged(self) -> int:
        """How many candidates this grader has not graded."""
        return sum(candidate.grade is None for candidate in self.candidates)

    def next_unjudged(self, after: str = "") -> str:
        """The id of the first ungraded candidate behind a clip, from the top again; empty if none is left."""
        ids = [candidate.clip.id for candidate in self.candidates]
        start = ids.index(after) + 1 if after in ids else 0
        rotated = [*self.candidates[start:], *self.candidates[:start]]
        return next((candidate.clip.id for candidate in rotated if candidate.grade is None), "")


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo took back: a grade of a clip, or the skipping of a query."""

    what: Literal["grade", "skip"]
    query_id: str
    clip_id: str = ""


@dataclass(slots=True)
class _State:
    """What is kept of a session. ``focus`` limits it to some clips of some queries; None is no limit."""

    query: str = ""
    clip: str = ""
    skipped: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    focus: dict[str, list[str]] | None = None


def shuffled(clip_ids: Collection[str], set_id: str, query_id: str) -> list[str]:
    """Clip ids in an order that depends on set, query and clip alone."""

    def place(clip_id: str) -> bytes:
        key = json.dumps([set_id, query_id, clip_id]).encode("ascii")
        return hashlib.blake2b(key, digest_size=16).digest()

    return sorted(set(clip_ids), key=place)


class GradingSession:
    """One grader's way through a golden set. Every method may be slow: the pool is searched for.

    Args:
        store: The golden sets.
        catalog: The clips.
        set_id: The set.
        grader: Who grades; a name.
        pool: Finds the candidates of a query.
        focus: ``{query id: clip ids}``: grade only these; the way through the whole set is kept for
            later. None goes on where this grader stopped.
        restart: Begin with the whole set at the first query again; grades stay.

    Raises:
        GoldenSetError: there is no such set, it has no queries, or the grader has no name.
    """

    def __init__(
        self,
        store: GoldenStore,
        catalog: Catalog,
        set_id: str,
        grader: str,
        pool: Pool,
        *,
        focus: Mapping[str, Collection[str]] | None = None,
        restart: bool = False,
    ) -> None:
        self.set_id = set_id
        self.grader = one_line(grader)
        self._store = store
        self._catalog = catalog
        self._pool = pool
        if not self.grader:
            raise GoldenSetError("A grading session needs the grader's name.")
        store.adopt(set_id)
        self._whole, self._focus = (_State(), None) if restart else self._load()
        if focus is not None:
            self._focus = _State(focus={query: sorted(clips) for query, clips in focus.items() if clips})
        self._settle()
        self._save()

    @property
    def _state(self) -> _State:
        return self._whole if self._focus is None else self._focus

    # --- where we are

    @property
    def focused(self) -> bool:
        """Whether only some clips are asked for."""
        return self._focus is not None

    @property
    def skipped(self) -> tuple[str, ...]:
        """Ids of the queries that were skipped."""
        return tuple(dict.fromkeys(self._state.skipped))

    def sheet(self) -> Sheet:
        """The current query with its candidates, as shuffled.

        Besides the pool these are the clips that anybody graded before, so that two graders of one set
        judge the same clips. Clips that are not there now are left out.

        Raises:
            GoldenSetError: the set or its last query has been removed.
            ModelError: the models cannot be started.
        """
        self._settle()
        order = self._order()
        query = self._queries()[self._state.query]
        grades = self._store.grades(self.set_id, query.id, self.grader)
        if self._state.focus is not None:
            ids: Collection[str] = self._state.focus[query.id]
        else:
            ids = [*self._pool(query.text), *self._store.judged_clips(self.set_id, query.id)]
        clips = self._catalog.clips(shuffled(ids, self.set_id, query.id)).values()
        return Sheet(
            query=query,
            candidates=tuple(Candidate(clip, grades.get(clip.id)) for clip in clips if clip.status == "ok"),
            clip_id=self._state.clip,
            number=order.index(query.id) + 1,
            total=len(order),
            done=sum(q in self._state.finished or q in self._state.skipped for q in order),
        )

    # --- steps

    def grade(self, clip_id: str, grade: int | None) -> None:
        """Gives the current query's clip 0, 1 or 2; None takes the grade back.

        Raises:
            GoldenSetError: there is no such grade.
        """
        query_id = self._state.query
        with self._catalog.write():
            before = self._store.judge(self.set_id, query_id, clip_id, grade, self.grader)
            self._log(clip_id, before.grade if before else None, before.at_s if before else None)
            self._state.clip = clip_id
            self._save()

    def look_at(self, clip_id: str) -> None:
        """Notes which clip the grader is at, for the next start."""
        self._store.info(self.set_id)
        self._state.clip = clip_id
        self._save()

    def skip(self) -> bool:
        """Leaves the current query for later; False when no query is left that is open.

        The last query of some that were asked for leads back to the whole set, the next time.
        """
        with self._catalog.write():
            if self._state.query in self._order():
                self._log(None, None, None)
                self._state.skipped = [*self._state.skipped, self._state.query]
            return self._advance()

    def finish(self) -> bool:
        """Closes the current query, graded through or not; False when no query is left that is open."""
        if self._state.query in self._order():
            self._state.finished = [*self._state.finished, self._state.query]
        return self._advance()

    def go_to(self, query_id: str) -> None:
        """Takes a certain query up, also one that was finished or skipped.

        Raises:
            GoldenSetError: it is not part of this session.
        """
        if query_id not in self._order():
            raise GoldenSetError("This query is not part of the grading session.")
        self._go(query_id)
        self._save()

    def widen(self) -> None:
        """Ends the limit to some clips: back to where the way through the whole set stopped."""
        self._focus = None
        self._settle()
        self._save()

    def undo(self) -> Undone | None:
        """Takes the last grade or skip back and goes where it was; None when there is nothing left."""
        with self._catalog.write() as connection:
            rows = self._catalog.rows(
                "SELECT * FROM grading_steps WHERE set_id = ? AND grader = ? ORDER BY id DESC LIMIT 1",
                (self.set_id, self.grader),
            )
            if not rows:
                return None
            step = rows[0]
            connection.execute("DELETE FROM grading_steps WHERE id = ?", (step["id"],))
            query_id = decode_id(step["query_id"])
            if query_id not in self._queries():
                return self.undo()
            self._reopen(query_id)
            if step["clip"] is None:
                self._save()
                return Undone("skip", query_id)
            clip_id = decode_id(step["clip"])
            self._store.judge(
                self.set_id, query_id, clip_id, step["grade_before"], self.grader, at_s=step["at_before"]
            )
            self._state.clip = clip_id
            self._save()
            return Undone("grade", query_id, clip_id)

    # --- parts

    def _queries(self) -> dict[str, GoldenQuery]:
        return {query.id: query for query in self._store.queries(self.set_id)}

    def _order(self) -> list[str]:
        focus = self._state.focus
        return [query_id for query_id in self._queries() if focus is None or query_id in focus]

    def _next_open(self, after: str) -> str | None:
        order = self._order()
        start = order.index(after) + 1 if after in order else 0
        closed = {*self._state.skipped, *self._state.finished}
        return next((q for q in [*order[start:], *order[:start]] if q not in closed), None)

    def _advance(self) -> bool:
        following = self._next_open(self._state.query)
        if following is not None:
            self._go(following)
        self._save(without_focus=following is None)
        return following is not None

    def _settle(self) -> None:
        """Sees to it that the current query is there: queries can be removed at any time."""
        if self._focus is not None and not self._order():
            self._focus = None
        order = self._order()
        if not order:
            raise GoldenSetError("There is nothing to grade.", hint="Add a query to the golden set first.")
        if self._state.query not in order:
            self._go(self._next_open("") or order[0])

    def _go(self, query_id: str) -> None:
        self._state.query, self._state.clip = query_id, ""

    def _reopen(self, query_id: str) -> None:
        if self._focus is not None and query_id not in (self._focus.focus or {}):
            self._focus = None
        self._go(query_id)
        self._state.skipped = [q for q in self._state.skipped if q != query_id]
        self._state.finished = [q for q in self._state.finished if q != query_id]

    def _log(self, clip_id: str | None, grade_before: int | None, at_before: float | None) -> None:
        clip = None if clip_id is None else encode_id(clip_id)
        self._catalog.connection.execute(
            "INSERT INTO grading_steps (set_id, grader, query_id, clip, grade_before, at_before) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (self.set_id, self.grader, encode_id(self._state.query), clip, grade_before, at_before),
        )

    def _save(self, *, without_focus: bool = False) -> None:
        focus = None if self._focus is None or without_focus else asdict(self._focus)
        text = json.dumps({"whole": asdict(self._whole), "focus": focus})
        with self._catalog.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO grading_sessions VALUES (?, ?, ?)", (self.set_id, self.grader, text)
            )

    def _load(self) -> tuple[_State, _State | None]:
        text = self._catalog.value(
            "SELECT state FROM grading_sessions WHERE set_id = ? AND grader = ?", (self.set_id, self.grader)
        )
        if text is None:
            return _State(), None
        kept = json.loads(text)
        return _State(**kept["whole"]), _State(**kept["focus"]) if kept["focus"] else None
