"""Golden sets: queries and the clips that answer them, read with care since people write them by hand.

A golden file is ``{"queries": [{"id", "text"} ...], "qrels": {query id: {clip: grade}}}``, where a
clip is an id or a path relative to a root and a grade is 0 (wrong), 1 (acceptable) or 2 (ideal).
``name`` and ``set_id`` of the file and ``kind`` of a query are read if they are texts; further keys are
ignored. A measure is only as good as its judgements, so a damaged file is refused as a whole with one
sentence.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.files import DoubledObject, read_json, shown, write_text

GRADES = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class GoldenQuery:
    """One query. ``kind`` is a free label such as ``literal`` or ``paraphrase``; it may be empty."""

    id: str
    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Queries in the order of the file, and ``{query id: {clip: grade}}`` with clips as written there.

    ``set_id`` stays with a set that grows, through new queries, grades and names; it is empty for a set
    that has no history, which is then known by its content alone (:func:`golden_hash`).
    """

    name: str
    queries: tuple[GoldenQuery, ...] = ()
    qrels: dict[str, dict[str, int]] = field(default_factory=dict)
    set_id: str = ""

    @property
    def texts(self) -> dict[str, str]:
        """``{query id: text}``."""
        return {query.id: query.text for query in self.queries}


@dataclass(frozen=True, slots=True)
class ResolvedSet:
    """A golden set against one library.

    ``qrels`` holds clip ids; a clip that the library does not have stays under its own key, so that
    it counts as relevant and not retrieved. ``unanswerable`` are the queries without a grade of 1 or
    more (left out of ``qrels``), ``unknown`` the clips that were not found, both in file order.
    """

    qrels: dict[str, dict[str, int]]
    unanswerable: list[str]
    unknown: list[str]


def load_golden(path: str | os.PathLike[str]) -> GoldenSet:
    """Reads a golden file.

    Raises:
        GoldenSetError: one sentence that names the first damage found.
    """
    document = read_json(path, "golden file")
    return parse_golden(document, name=PurePath(shown(path)).stem)


def parse_golden(document: Any, *, name: str = "golden set") -> GoldenSet:
    """Checks a decoded golden document and makes the set; ``name`` is used where it states none.

    Raises:
        GoldenSetError: one sentence that names the first damage found.
    """
    if not isinstance(document, dict):
        raise GoldenSetError(f"A golden file has to hold an object, not {_kind_of(document)}.")
    _refuse_doubled(document, "The golden file")
    if "queries" not in document:
        raise GoldenSetError("The golden file lacks the list of queries.")
    if "qrels" not in document:
        raise GoldenSetError("The golden file lacks the qrels.")
    queries = _parse_queries(document["queries"])
    qrels = _parse_qrels(document["qrels"], {query.id for query in queries})
    return GoldenSet(_stated(document, "name") or name, queries, qrels, _stated(document, "set_id"))


def _stated(document: dict[str, Any], key: str) -> str:
    value = document.get(key)
    return value if isinstance(value, str) and value.strip() else ""


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    kinds = ((bool, "true or false"), (str, "a text"), (int | float, "a number"), (list, "a list"))
    return next((words for kind, words in kinds if isinstance(value, kind)), "an object")


def _refuse_doubled(value: dict[str, Any], where: str) -> None:
    if isinstance(value, DoubledObject):
        raise GoldenSetError(f"{where} gives {_quoted(value.doubled)} twice.")


def _quoted(text: str) -> str:
    """A text from the file for a sentence: short, and printable whatever it holds."""
    quoted = json.dumps(text, ensure_ascii=not text.isprintable())
    return quoted if len(quoted) <= 90 else quoted[:86] + '..."'


def _parse_queries(value: Any) -> tuple[GoldenQuery, ...]:
    if not isinstance(value, list):
        raise GoldenSetError(f"The queries have to be a list, not {_kind_of(value)}.")
    if not value:
        raise GoldenSetError("The golden file has no queries.")
    queries: dict[str, GoldenQuery] = {}
    for number, entry in enumerate(value, start=1):
        query = _parse_query(entry, number)
        if query.id in queries:
            raise GoldenSetError(f"The query id {_quoted(query.id)} is used twice.")
        queries[query.id] = query
    return tuple(queries.values())


def _parse_query(entry: Any, number: int) -> GoldenQuery:
    if not isinstance(entry, dict):
        raise GoldenSetError(f"Query {number} has to be an object, not {_kind_of(entry)}.")
    _refuse_doubled(entry, f"Query {number}")
    for key in ("id", "text"):
        if key not in entry:
            raise GoldenSetError(f"Query {number} lacks its {key}.")
        if not isinstance(entry[key], str):
            raise GoldenSetError(f"The {key} of query {number} has to be a text, not {_kind_of(entry[key])}.")
        if not entry[key].strip():
            raise GoldenSetError(f"The {key} of query {number} is empty.")
    # Half a surrogate pair is legal in JSON, but no index or database takes it as text.
    text = entry["text"].encode("utf-8", "replace").decode("utf-8")
    kind = entry.get("kind")
    return GoldenQuery(entry["id"], text, kind if isinstance(kind, str) else "")


def _parse_qrels(value: Any, known: set[str]) -> dict[str, dict[str, int]]:
    if not isinstance(value, dict):
        raise GoldenSetError(f"The qrels have to be an object, not {_kind_of(value)}.")
    _refuse_doubled(value, "The object of qrels")
    for query, row in value.items():
        if query not in known:
            raise GoldenSetError(f"The qrels name a query {_quoted(query)} that is not among the queries.")
        if not isinstance(row, dict):
            raise GoldenSetError(
                f"The qrels of query {_quoted(query)} have to be an object, not {_kind_of(row)}."
            )
        _refuse_doubled(row, f"The qrels of query {_quoted(query)}")
        if "" in row:
            raise GoldenSetError(f"The qrels of query {_quoted(query)} name a clip without a name.")
    return {
        query: {clip: _parse_grade(grade, query, clip) for clip, grade in row.items()}
        for query, row in value.items()
    }


def _parse_grade(grade: Any, query: str, clip: str) -> int:
    """A grade; ``2.0`` is taken, since JSON knows one kind of number, ``"2"`` and ``true`` are not."""
    if isinstance(grade, int | float) and not isinstance(grade, bool) and grade in GRADES:
        return int(grade)
    if isinstance(grade, dict | list) or (isinstance(grade, int) and grade.bit_length() > 64):
        written = _kind_of(grade)
    else:
        written = json.dumps(grade)
    written = written if len(written) <= 40 else written[:37] + "..."
    raise GoldenSetError(
        f"The grade {written} of {_quoted(clip)} in query {_quoted(query)} is not 0, 1 or 2."
    )


def golden_document(golden: GoldenSet) -> dict[str, Any]:
    """The set as the JSON document that :func:`parse_golden` reads back without loss."""
    queries = []
    for query in golden.queries:
        entry = {"id": query.id, "text": query.text}
        if query.kind:
            entry["kind"] = query.kind
        queries.append(entry)
    document = {
        "name": golden.name,
        "queries": queries,
        "qrels": {query: dict(row) for query, row in golden.qrels.items()},
    }
    return document | {"set_id": golden.set_id} if golden.set_id else document


def dump_golden(golden: GoldenSet, path: str | os.PathLike[str]) -> None:
    """Writes a golden file that :func:`load_golden` reads back without loss.

    Raises:
        GoldenSetError: when it cannot be written.
    """
    # ASCII escapes keep file names whose bytes are no text.
    write_text(path, json.dumps(golden_document(golden), indent=1) + "\n", "golden file")


def golden_hash(golden: GoldenSet) -> str:
    """32 hex digits that name what is measured: query ids, texts and grades.

    The order of queries and judgements, the set's name and the kinds of queries are no part of it.
    """
    content = [sorted([query.id, query.text] for query in golden.queries), golden.qrels]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def resolve(golden: GoldenSet, lookup: Callable[[str], str | None]) -> ResolvedSet:
    """Turns the clips of a golden set into ids of a library.

    Args:
        golden: The set.
        lookup: Gives the id of a clip named by id or path, None where the library has no such clip.

    Returns:
        The resolved set. Where two names lead to one clip, the better grade counts.
    """
    ids: dict[str, str | None] = {}
    qrels: dict[str, dict[str, int]] = {}
    unanswerable: list[str] = []
    for query in golden.queries:
        row: dict[str, int] = {}
        for clip, grade in golden.qrels.get(query.id, {}).items():
            if clip not in ids:
                ids[clip] = lookup(clip)
            key = ids[clip] or clip
            row[key] = max(grade, row.get(key, 0))
        if _is_answerable(row):
            qrels[query.id] = row
        else:
            unanswerable.append(query.id)
    return ResolvedSet(qrels, unanswerable, [clip for clip, found in ids.items() if found is None])


def _is_answerable(row: Mapping[str, int]) -> bool:
    return any(grade >= 1 for grade in row.values())
