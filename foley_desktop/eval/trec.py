"""qrels and run files as TREC tools read them, so that others can check our numbers.

A qrels line is ``query 0 document grade``, a run line ``query Q0 document rank score tag``; columns
stand apart by white space, so ids that hold any (clip paths do) are written percent-encoded and
decoded on reading. Scores are written in full; note that trec_eval keeps them in single precision and
ranks equal scores by descending id, so only runs without equal scores rank there as they do here.
"""

from __future__ import annotations

import codecs
import math
import os
import re
from collections.abc import Iterator, Mapping

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.files import read_bytes, shown, write_text
from foley_desktop.eval.retrieval import ranked_ids

MAX_TREC_BYTES = 512 * 2**20
"""Larger qrels and run files are refused."""

_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_GRADE = re.compile(r"[+-]?[0-9]{1,15}(?:\.0*)?")
_TAG = "foley-desktop"


def encode_id(text: str) -> str:
    """An id without white space, control characters or lone surrogates: those and ``%`` become ``%XX``.

    Raises:
        GoldenSetError: for an empty id, which no TREC file can hold.
    """
    if not text:
        raise GoldenSetError("A TREC file cannot hold an empty id.")
    return "".join(char if char.isprintable() and char not in " %" else _escape(char) for char in text)


def _escape(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def decode_id(text: str) -> str:
    """What :func:`encode_id` was given. A ``%`` of others' making that encodes nothing is kept."""
    return _ESCAPES.sub(_unescape, text)


def _unescape(match: re.Match[str]) -> str:
    try:
        return bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return match[0]


def write_qrels(path: str | os.PathLike[str], qrels: Mapping[str, Mapping[str, int]]) -> None:
    """Writes ``{query id: {clip id: grade}}``, clips of a query by id.

    Raises:
        GoldenSetError: when an id is empty or the file cannot be written.
    """
    lines = [
        f"{encode_id(query)} 0 {encode_id(doc)} {grade}\n"
        for query, row in qrels.items()
        for doc, grade in sorted(row.items())
    ]
    write_text(path, "".join(lines), "qrels file")


def write_run(
    path: str | os.PathLike[str], run: Mapping[str, Mapping[str, float]], *, tag: str = _TAG
) -> None:
    """Writes ``{query id: {clip id: score}}`` in ranked order with ranks from 1.

    Raises:
        GoldenSetError: when an id or the tag is empty or the file cannot be written.
    """
    lines = [
        f"{encode_id(query)} Q0 {encode_id(doc)} {rank} {float(row[doc])!r} {encode_id(tag)}\n"
        for query, row in run.items()
        for rank, doc in enumerate(ranked_ids(row), start=1)
    ]
    write_text(path, "".join(lines), "run file")


def read_qrels(path: str | os.PathLike[str]) -> dict[str, dict[str, int]]:
    """Reads a qrels file; grades may be negative, as some collections have them.

    Raises:
        GoldenSetError: one sentence that names the line.
    """
    qrels: dict[str, dict[str, int]] = {}
    for number, columns in _lines(path, "qrels file"):
        if len(columns) != 4:
            raise _damage(path, "qrels file", number, f"has {len(columns)} columns instead of 4")
        if not _GRADE.fullmatch(columns[3]):
            raise _damage(
                path, "qrels file", number, f"has a grade {columns[3][:40]!r} that is no whole number"
            )
        row = qrels.setdefault(decode_id(columns[0]), {})
        doc = decode_id(columns[2])
        if doc in row:
            raise _damage(path, "qrels file", number, f"judges {doc[:80]!r} a second time")
        row[doc] = int(columns[3].partition(".")[0])
    return qrels


def read_run(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Reads a run file. As in trec_eval the scores rank, and the rank column is not looked at.

    Raises:
        GoldenSetError: one sentence that names the line.
    """
    run: dict[str, dict[str, float]] = {}
    for number, columns in _lines(path, "run file"):
        if len(columns) != 6:
            raise _damage(path, "run file", number, f"has {len(columns)} columns instead of 6")
        score = _score(columns[4])
        if score is None:
            raise _damage(path, "run file", number, f"has a score {columns[4][:40]!r} that is no number")
        row = run.setdefault(decode_id(columns[0]), {})
        doc = decode_id(columns[2])
        if doc in row:
            raise _damage(path, "run file", number, f"lists {doc[:80]!r} a second time")
        row[doc] = score
    return run


def _score(text: str) -> float | None:
    # float() takes 1_000 and digits of every script, which no other reader does.
    if "_" in text or not text.isascii():
        return None
    try:
        score = float(text)
    except ValueError:
        return None
    return None if math.isnan(score) else score


def _lines(path: str | os.PathLike[str], what: str) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and columns. Bytes are split at ASCII white space only, as C tools do."""
    data = read_bytes(path, what, MAX_TREC_BYTES).removeprefix(codecs.BOM_UTF8)
    for number, line in enumerate(data.splitlines(), start=1):
        columns = [column.decode("utf-8", "surrogateescape") for column in line.split()]
        if columns:
            yield number, columns


def _damage(path: str | os.PathLike[str], what: str, number: int, complaint: str) -> GoldenSetError:
    return GoldenSetError(f"Line {number} of the {what} {shown(path)} {complaint}.")
