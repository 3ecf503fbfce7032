"""The golden sets of a library and their queries; what was graded is :mod:`golden_store`'s.

A set has an id of its own that stays through new names, queries and grades, so that a baseline knows it
again.
"""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.golden import GoldenQuery, GoldenSet
from foley_desktop.eval.trec import decode_id, encode_id
from foley_desktop.library.catalog import Catalog

_SETS = """
SELECT s.*,
    (SELECT count(*) FROM golden_queries q WHERE q.set_id = s.id) AS queries,
    (SELECT count(*) FROM (SELECT DISTINCT query_id, clip FROM judgements j WHERE j.set_id = s.id)) AS judged
FROM golden_sets s
"""


@dataclass(frozen=True, slots=True)
class SetInfo:
    """One golden set in a list: ``judged`` counts its graded pairs of query and clip."""

    id: str
    name: str
    queries: int
    judged: int
    created_s: float


class SetTables:
    """Golden sets and queries in the catalog. Thread-safe, as the catalog is.

    Methods that take a ``set_id`` raise :class:`GoldenSetError` when there is no such set.

    Args:
        catalog: Where they are kept.
        clock: Seconds since 1970.
    """

    def __init__(self, catalog: Catalog, clock: Callable[[], float] = time.time) -> None:
        self._catalog = catalog
        self._clock = clock

    # --- sets

    def sets(self) -> list[SetInfo]:
        """All sets, by name."""
        return [_info(row) for row in self._catalog.rows(_SETS + "ORDER BY s.name, s.id")]

    def info(self, set_id: str) -> SetInfo:
        rows = self._catalog.rows(_SETS + "WHERE s.id = ?", (set_id,))
        if not rows:
            raise GoldenSetError("This golden set is not there any more.")
        return _info(rows[0])

    def rename(self, set_id: str, name: str) -> SetInfo:
        """Gives a set another name; it stays the same set.

        Raises:
            GoldenSetError: the name is empty or taken.
        """
        self.info(set_id)
        with self._catalog.write() as connection:
            name = self._checked_name(name, set_id)
            connection.execute("UPDATE golden_sets SET name = ? WHERE id = ?", (name, set_id))
        return self.info(set_id)

    def delete(self, set_id: str) -> None:
        """Forgets a set with its judgements, sessions and baselines."""
        with self._catalog.write() as connection:
            connection.execute("DELETE FROM golden_sets WHERE id = ?", (set_id,))

    def _insert(self, golden: GoldenSet, *, any_name: bool) -> str:
        """Writes a set and its queries; gives its id. To be called within a transaction."""
        name = self._free_name(golden.name) if any_name else self._checked_name(golden.name)
        set_id = clean(golden.set_id)
        if not set_id or any(info.id == set_id for info in self.sets()):
            set_id = uuid.uuid4().hex
        connection = self._catalog.connection
        connection.execute("INSERT INTO golden_sets VALUES (?, ?, ?)", (set_id, name, self._clock()))
        connection.executemany(
            "INSERT INTO golden_queries VALUES (?, ?, ?, ?, ?)",
            [
                (set_id, encode_id(query.id), place, query.text, clean(query.kind))
                for place, query in enumerate(golden.queries)
            ],
        )
        return set_id

    def _checked_name(self, name: str, set_id: str = "") -> str:
        name = one_line(name)
        if not name:
            raise GoldenSetError("A golden set needs a name.")
        if self._catalog.value("SELECT 1 FROM golden_sets WHERE name = ? AND id != ?", (name, set_id)):
            raise GoldenSetError(f"There is a golden set called {name} already.")
        return name

    def _free_name(self, name: str) -> str:
        taken = {info.name.casefold() for info in self.sets()}
        name = one_line(name) or "golden set"
        names = (name, *(f"{name} {number}" for number in range(2, len(taken) + 3)))
        return next(candidate for candidate in names if candidate.casefold() not in taken)

    # --- queries

    def queries(self, set_id: str) -> tuple[GoldenQuery, ...]:
        """The queries of a set in their order."""
        self.info(set_id)
        rows = self._catalog.rows(
            "SELECT * FROM golden_queries WHERE set_id = ? ORDER BY position, query_id", (set_id,)
        )
        return tuple(GoldenQuery(decode_id(row["query_id"]), row["text"], row["kind"]) for row in rows)

    def add_query(self, set_id: str, text: str, kind: str = "") -> GoldenQuery:
        """The query of a set with this text; a new one at the end where there is none.

        Case and blanks do not make another query.

        Raises:
            GoldenSetError: the text is empty.
        """
        text = one_line(text)
        if not text:
            raise GoldenSetError("A query needs a text.")
        with self._catalog.write() as connection:
            known = self.queries(set_id)
            for query in known:
                if one_line(query.text).casefold() == text.casefold():
                    return query
            query = GoldenQuery(_next_id({query.id for query in known}), text, clean(kind))
            place = self._catalog.value(
                "SELECT IFNULL(max(position), -1) + 1 FROM golden_queries WHERE set_id = ?", (set_id,)
            )
            connection.execute(
                "INSERT INTO golden_queries VALUES (?, ?, ?, ?, ?)",
                (set_id, encode_id(query.id), place, text, query.kind),
            )
        return query

    def edit_query(self, set_id: str, query_id: str, text: str) -> None:
        """Gives a query another text; its judgements stay.

        Raises:
            GoldenSetError: the text is empty.
        """
        if not one_line(text):
            raise GoldenSetError("A query needs a text.")
        with self._catalog.write() as connection:
            connection.execute(
                "UPDATE golden_queries SET text = ? WHERE set_id = ? AND query_id = ?",
                (one_line(text), set_id, encode_id(query_id)),
            )

    def remove_query(self, set_id: str, query_id: str) -> None:
        """Takes a query and its judgements out of a set."""
        with self._catalog.write() as connection:
            connection.execute(
                "DELETE FROM golden_queries WHERE set_id = ? AND query_id = ?", (set_id, encode_id(query_id))
            )


def _next_id(taken: Collection[str]) -> str:
    number = len(taken) + 1
    while f"q{number:03}" in taken:
        number += 1
    return f"q{number:03}"


def clean(value: str) -> str:
    """Text that a database can hold."""
    return value.encode("utf-8", "replace").decode("utf-8")


def one_line(value: str) -> str:
    """Clean text with single blanks and none at its ends."""
    return " ".join(clean(value).split())


def _info(row: sqlite3.Row) -> SetInfo:
    return SetInfo(row["id"], row["name"], row["queries"], row["judged"], row["created_s"])
