"""Judgements in the catalog, beside the golden sets they belong to.

A judgement names its clip by id and so follows the file wherever it moves; a clip that a file named and
the library does not have is kept under that name until it turns up. Each judgement says who gave it and
when, and several people may grade one set.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable

from foley_desktop.errors import GoldenSetError, UnknownClipError
from foley_desktop.eval.agreement import Agreement, agreement
from foley_desktop.eval.golden import GRADES, GoldenQuery, GoldenSet
from foley_desktop.eval.judgements import IMPORTED, Judgement, merged
from foley_desktop.eval.trec import decode_id, encode_id
from foley_desktop.library.golden_sets import SetInfo, SetTables, clean, one_line

__all__ = ["GoldenStore", "SetInfo"]


class GoldenStore(SetTables):
    """The golden sets of one library with what was graded."""

    # --- whole sets

    def create(self, name: str) -> SetInfo:
        """A new, empty set.

        Raises:
            GoldenSetError: the name is empty or taken.
        """
        return self.add(GoldenSet(one_line(name)))

    def add(
        self, golden: GoldenSet, judgements: Collection[Judgement] = (), *, any_name: bool = False
    ) -> SetInfo:
        """Takes in a whole set, all of it or nothing.

        It keeps its ``set_id`` unless the catalog has a set of that id, and then gets a new one. The
        qrels are what counts: judgements that come to another grade are left out.

        Args:
            judgements: Who gave the grades; those that nobody here gave count as imported.
            any_name: Choose another name where this one is taken, instead of refusing.

        Raises:
            GoldenSetError: the name is empty or taken.
        """
        given = self._by_id(_explained(golden, judgements, self._clock()))
        with self._catalog.write():
            set_id = self._insert(golden, any_name=any_name)
            self._keep(set_id, given)
        return self.info(set_id)

    def duplicate(self, set_id: str, name: str = "") -> SetInfo:
        """A new set with the same queries and judgements; baselines and sessions are not taken along."""
        golden = self.golden(set_id)
        copy = GoldenSet(name or f"{golden.name} copy", golden.queries, golden.qrels)
        return self.add(copy, self.judgements(set_id), any_name=not name)

    def merge(self, set_id: str, golden: GoldenSet, judgements: Collection[Judgement] = ()) -> int:
        """Takes another set's queries and judgements into this one, all of them or none.

        Queries are matched by text. Of two grades by one grader the later counts.

        Returns:
            How many judgements are new or different.
        """
        given = self._by_id(_explained(golden, judgements, self._clock()))
        with self._catalog.write():
            known = {(j.query, j.clip, j.grader): j for j in self.judgements(set_id)}
            ids = {query.id: self.add_query(set_id, query.text, query.kind).id for query in golden.queries}
            new = []
            for one in given:
                moved = Judgement(ids[one.query], one.clip, one.grade, one.grader, one.at_s)
                old = known.get((moved.query, moved.clip, moved.grader))
                if old is None or (old.at_s <= moved.at_s and old.grade != moved.grade):
                    new.append(moved)
            self._keep(set_id, new)
        return len(new)

    # --- judgements

    def judge(
        self,
        set_id: str,
        query_id: str,
        clip: str,
        grade: int | None,
        grader: str,
        *,
        at_s: float | None = None,
    ) -> Judgement | None:
        """Grades a clip for a query with 0, 1 or 2; None takes this grader's grade back.

        Args:
            at_s: When it was given; now, if None.

        Returns:
            The same grader's judgement that stood there before.

        Raises:
            GoldenSetError: there is no such query or grade.
        """
        if grade is not None and (isinstance(grade, bool) or grade not in GRADES):
            raise GoldenSetError("A grade is 0, 1 or 2.")
        with self._catalog.write() as connection:
            if all(query.id != query_id for query in self.queries(set_id)):
                raise GoldenSetError("This query is not in the golden set any more.")
            before = self._one(set_id, query_id, clip, one_line(grader))
            connection.execute(
                "DELETE FROM judgements WHERE set_id = ? AND query_id = ? AND clip = ? AND grader = ?",
                (set_id, encode_id(query_id), encode_id(clip), one_line(grader)),
            )
            if grade is not None:
                at_s = self._clock() if at_s is None else at_s
                self._keep(set_id, [Judgement(query_id, clip, grade, one_line(grader), at_s)])
        return before

    def good_answer(
        self, set_id: str, text: str, clip_id: str, grader: str, grade: int = 2
    ) -> tuple[GoldenQuery, Judgement | None]:
        """Grades a result of a normal search, whose query joins the set if it is new there.

        Returns:
            The query, and the same grader's judgement that stood there before.
        """
        query = self.add_query(set_id, text)
        return query, self.judge(set_id, query.id, clip_id, grade, grader)

    def judgements(self, set_id: str) -> tuple[Judgement, ...]:
        """Every judgement of a set, by query, clip and grader."""
        rows = self._catalog.rows(
            "SELECT j.* FROM judgements j JOIN golden_queries q USING (set_id, query_id) WHERE set_id = ? "
            "ORDER BY q.position, query_id, clip, grader",
            (set_id,),
        )
        return tuple(_judgement(row) for row in rows)

    def grades(self, set_id: str, query_id: str, grader: str) -> dict[str, int]:
        """What one grader gave the clips of a query."""
        rows = self._catalog.rows(
            "SELECT clip, grade FROM judgements "
            "WHERE set_id = ? AND query_id = ? AND grader = ? ORDER BY clip",
            (set_id, encode_id(query_id), one_line(grader)),
        )
        return {decode_id(row["clip"]): row["grade"] for row in rows}

    def judged_clips(self, set_id: str, query_id: str) -> list[str]:
        """The clips that anybody has graded for a query."""
        rows = self._catalog.rows(
            "SELECT DISTINCT clip FROM judgements WHERE set_id = ? AND query_id = ? ORDER BY clip",
            (set_id, encode_id(query_id)),
        )
        return [decode_id(row["clip"]) for row in rows]

    def graders(self, set_id: str) -> dict[str, int]:
        """How many judgements each person gave, by name; those from files are left out."""
        rows = self._catalog.rows(
            "SELECT grader, count(*) FROM judgements WHERE set_id = ? AND grader != ? GROUP BY 1 ORDER BY 1",
            (set_id, IMPORTED),
        )
        return {row[0]: row[1] for row in rows}

    def golden(self, set_id: str, graders: Collection[str] | None = None) -> GoldenSet:
        """The set as it is measured with, one grade a clip; see :func:`merged` for which one counts.

        Args:
            graders: Only these people's grades; None is everybody's.
        """
        info = self.info(set_id)
        qrels = merged(self.judgements(set_id), graders)
        queries = self.queries(set_id)
        rows = {query.id: dict(sorted(qrels[query.id].items())) for query in queries if query.id in qrels}
        return GoldenSet(info.name, queries, rows, info.id)

    def agreement(self, set_id: str, first: str, second: str) -> Agreement:
        """How two graders agree on the clips that both graded."""
        given = self.judgements(set_id)
        return agreement(merged(given, [first]), merged(given, [second]))

    def adopt(self, set_id: str) -> int:
        """Gives judgements that name a clip by path its id, now that the library has it.

        Returns:
            How many judgements found their clip.
        """
        rows = self._catalog.rows(
            "SELECT DISTINCT clip FROM judgements WHERE set_id = ? "
            "AND NOT EXISTS (SELECT 1 FROM clips WHERE id = clip)",
            (set_id,),
        )
        names = [decode_id(row["clip"]) for row in rows]
        found = {name: clip_id for name in names if (clip_id := self.clip_id(name)) != name}
        if not found:
            return 0
        with self._catalog.write() as connection:
            moved = [one for one in self.judgements(set_id) if one.clip in found]
            connection.executemany(
                "DELETE FROM judgements WHERE set_id = ? AND clip = ?",
                [(set_id, encode_id(name)) for name in found],
            )
            known = {(one.query, one.clip, one.grader) for one in self.judgements(set_id)}
            self._keep(
                set_id,
                [
                    Judgement(one.query, found[one.clip], one.grade, one.grader, one.at_s)
                    for one in moved
                    if (one.query, found[one.clip], one.grader) not in known
                ],
            )
        return len(moved)

    def clip_id(self, name: str) -> str:
        """The id of a clip named by id or path, or the name itself where the library has no such clip."""
        try:
            return self._catalog.find(name).id or name
        except UnknownClipError:
            return name

    def has_clip(self, name: str) -> bool:
        """Whether an id or path names a clip of the library."""
        return self._catalog.clip(self.clip_id(name)) is not None

    # --- parts

    def _by_id(self, judgements: Iterable[Judgement]) -> list[Judgement]:
        """Judgements by clip id where the library has the clip; of two names of one clip the better grade."""
        ids: dict[str, str] = {}
        best: dict[tuple[str, str, str], Judgement] = {}
        for one in judgements:
            if one.clip not in ids:
                ids[one.clip] = self.clip_id(one.clip)
            found = Judgement(one.query, ids[one.clip], one.grade, one_line(one.grader), one.at_s)
            key = (found.query, found.clip, found.grader)
            if key not in best or best[key].grade < found.grade:
                best[key] = found
        return list(best.values())

    def _keep(self, set_id: str, judgements: Iterable[Judgement]) -> None:
        self._catalog.connection.executemany(
            "INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?, ?, ?)",
            [
                (set_id, encode_id(one.query), encode_id(one.clip), clean(one.grader), one.grade, one.at_s)
                for one in judgements
            ],
        )

    def _one(self, set_id: str, query_id: str, clip: str, grader: str) -> Judgement | None:
        rows = self._catalog.rows(
            "SELECT * FROM judgements WHERE set_id = ? AND query_id = ? AND clip = ? AND grader = ?",
            (set_id, encode_id(query_id), encode_id(clip), grader),
        )
        return _judgement(rows[0]) if rows else None


def _explained(golden: GoldenSet, judgements: Collection[Judgement], at_s: float) -> list[Judgement]:
    """The judgements that come to the grades of the set's qrels, and nobody's where they do not."""
    given = merged(judgements)
    kept = [
        one
        for one in judgements
        if golden.qrels.get(one.query, {}).get(one.clip) == given[one.query][one.clip]
    ]
    explained = {(one.query, one.clip) for one in kept}
    return kept + [
        Judgement(query, clip, grade, IMPORTED, at_s)
        for query, row in golden.qrels.items()
        for clip, grade in row.items()
        if (query, clip) not in explained
    ]


def _judgement(row: sqlite3.Row) -> Judgement:
    return Judgement(
        decode_id(row["query_id"]), decode_id(row["clip"]), row["grade"], row["grader"], row["at_s"]
    )
