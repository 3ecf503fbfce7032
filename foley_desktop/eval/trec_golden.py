"""Golden sets from TREC collections and back.

A qrels file names queries by id alone; their texts come from a file of ``id<TAB>text`` lines beside it,
as most collections have one. Without it the id itself is searched for, which is right for collections
whose ids are the queries, and can be edited where it is not.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping
from pathlib import PurePath

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.files import MAX_JSON_BYTES, read_bytes, shown, write_text
from foley_desktop.eval.golden import GRADES, GoldenQuery, GoldenSet
from foley_desktop.eval.trec import decode_id, encode_id, read_qrels, write_qrels

_WHAT = "file of query texts"
_HIGHEST = max(GRADES)


def load_trec(
    qrels: str | os.PathLike[str], texts: str | os.PathLike[str] | None = None
) -> tuple[GoldenSet, list[str]]:
    """A golden set from a qrels file.

    Args:
        qrels: The qrels file.
        texts: A file of ``id<TAB>text`` lines. Queries without grades come from there too.

    Returns:
        The set, and a sentence for each thing that was changed: grades below 0 become 0, those above 2
        become 2, a query without a text gets its id for one.

    Raises:
        GoldenSetError: one sentence that says what is wrong with either file.
    """
    graded = read_qrels(qrels)
    known = read_texts(texts) if texts is not None else {}
    ids = [*known, *(query for query in graded if query not in known)]
    if not ids:
        raise GoldenSetError(f"The qrels file {shown(qrels)} has no queries.")
    notes = _notes(graded, [query for query in ids if query not in known])
    rows = {
        query: {clip: min(max(grade, 0), _HIGHEST) for clip, grade in row.items()}
        for query, row in graded.items()
    }
    queries = tuple(GoldenQuery(query, known.get(query) or _as_text(query)) for query in ids)
    return GoldenSet(PurePath(shown(qrels)).stem, queries, rows), notes


def _as_text(query: str) -> str:
    return query.encode("utf-8", "replace").decode("utf-8")


def _notes(graded: Mapping[str, Mapping[str, int]], without_text: list[str]) -> list[str]:
    grades = [grade for row in graded.values() for grade in row.values()]
    counts = {
        "Queries without a text, searched for by their id": len(without_text),
        "Grades below 0, taken as 0": sum(grade < 0 for grade in grades),
        f"Grades above {_HIGHEST}, taken as {_HIGHEST}": sum(grade > _HIGHEST for grade in grades),
    }
    return [f"{what}: {count}." for what, count in counts.items() if count]


def read_texts(path: str | os.PathLike[str]) -> dict[str, str]:
    """Reads ``id<TAB>text`` lines, ids percent-decoded as in qrels files; empty lines are left out.

    Raises:
        GoldenSetError: one sentence that names the line.
    """
    name = shown(path)
    data = read_bytes(path, _WHAT, MAX_JSON_BYTES).removeprefix(codecs.BOM_UTF8)
    texts: dict[str, str] = {}
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        if not line.strip():
            continue
        encoded, tab, text = line.partition("\t")
        if not tab or not encoded.strip() or not text.strip():
            raise GoldenSetError(f"Line {number} of the {_WHAT} {name} is not an id, a tab and a text.")
        query = decode_id(encoded.strip())
        if query in texts:
            raise GoldenSetError(f"Line {number} of the {_WHAT} {name} gives a query id a second time.")
        texts[query] = text.strip()
    return texts


def dump_trec(
    golden: GoldenSet, qrels: str | os.PathLike[str], texts: str | os.PathLike[str] | None = None
) -> None:
    """Writes the qrels file and, if asked for, the texts of the queries beside it.

    Raises:
        GoldenSetError: when a file cannot be written.
    """
    write_qrels(qrels, golden.qrels)
    if texts is not None:
        lines = [f"{encode_id(query.id)}\t{' '.join(query.text.split())}\n" for query in golden.queries]
        write_text(texts, "".join(lines), _WHAT)
