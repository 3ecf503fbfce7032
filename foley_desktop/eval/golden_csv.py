"""Golden sets as a table of query, clip and grade, for people who judge in a spreadsheet.

Three columns, with a header line or without; with one, the columns may stand in any order and further
ones are ignored. Commas, semicolons and tabs separate, whichever the first line has. A row with a query
and nothing else is a query that nobody has graded yet, so a plain list of queries is read as well. What a
spreadsheet makes of the grades (``2.0``) is not taken: there the numbers were rewritten, and other cells
may have been too.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections.abc import Iterator
from pathlib import PurePath

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.files import MAX_JSON_BYTES, read_bytes, shown, write_text
from foley_desktop.eval.golden import GRADES, GoldenQuery, GoldenSet

COLUMNS = ("query", "clip", "grade")

_WHAT = "CSV file"
_DELIMITERS = (",", ";", "\t")
_GRADES = {str(grade): grade for grade in GRADES}


def load_csv(path: str | os.PathLike[str]) -> GoldenSet:
    """Reads a table of query text, clip and grade.

    Queries get the ids ``q001``, ``q002`` … in the order in which they first come.

    Raises:
        GoldenSetError: one sentence that names the line and what is wrong with it.
    """
    name = shown(path)
    data = read_bytes(path, _WHAT, MAX_JSON_BYTES).removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise GoldenSetError(
            f"The {_WHAT} {name} is not UTF-8 text (byte {error.start}).",
            hint="Save it as CSV UTF-8.",
            cause=error,
        ) from error
    grades: dict[str, dict[str, int]] = {}
    for number, (query, clip, grade) in _rows(text, name):
        _take(grades.setdefault(query, {}), clip, grade, number, name)
    if not grades:
        raise GoldenSetError(f"The {_WHAT} {name} has no queries.")
    ids = {query: f"q{number:03}" for number, query in enumerate(grades, start=1)}
    return GoldenSet(
        PurePath(name).stem,
        tuple(GoldenQuery(ids[query], query) for query in grades),
        {ids[query]: row for query, row in grades.items() if row},
    )


def _take(row: dict[str, int], clip: str, grade: str, number: int, name: str) -> None:
    if not clip and not grade:
        return
    if not clip:
        raise _damage(name, number, "grades no clip")
    if grade not in _GRADES:
        raise _damage(name, number, f"has a grade {grade[:40]!r} that is not 0, 1 or 2")
    if clip in row:
        raise _damage(name, number, f"grades {clip[:80]!r} a second time for the same query")
    row[clip] = _GRADES[grade]


def _rows(text: str, name: str) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """Line numbers and cells without blanks around them; empty lines and the header are left out."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    places: tuple[int, ...] | None = None
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if places is None:
                places, is_header = _places(cells)
                if is_header:
                    continue
            yield reader.line_num, _cells(cells, places, reader.line_num, name)
    except csv.Error as error:
        raise GoldenSetError(
            f"Line {reader.line_num} of the {_WHAT} {name} is not CSV: {error}.", cause=error
        ) from error


def _places(cells: list[str]) -> tuple[tuple[int, ...], bool]:
    """Where query, clip and grade stand, and whether this first row is a header."""
    names = [cell.casefold() for cell in cells]
    if all(column in names for column in COLUMNS):
        return tuple(names.index(column) for column in COLUMNS), True
    return (0, 1, 2), False


def _cells(cells: list[str], places: tuple[int, ...], number: int, name: str) -> tuple[str, str, str]:
    if len(cells) <= max(places) and any(cells[1:]):
        raise _damage(name, number, f"has {len(cells)} columns; query, clip and grade are needed")
    query, clip, grade = (cells[place] if place < len(cells) else "" for place in places)
    if not query:
        raise _damage(name, number, "names no query")
    return query, clip, grade


def _damage(name: str, number: int, complaint: str) -> GoldenSetError:
    return GoldenSetError(f"Line {number} of the {_WHAT} {name} {complaint}.")


def dump_csv(golden: GoldenSet, path: str | os.PathLike[str]) -> None:
    """Writes a table that :func:`load_csv` reads back, with a header, clips of a query in their order.

    Query ids and kinds have no place in it.

    Raises:
        GoldenSetError: when it cannot be written, a clip's name is no text or has blanks at its ends, or two
            queries have the same text and grade a clip differently.
    """
    rows: dict[str, dict[str, int]] = {}
    for query in golden.queries:
        row = rows.setdefault(query.text.strip(), {})
        for clip, grade in golden.qrels.get(query.id, {}).items():
            if clip != clip.strip() or not _is_text(clip):
                raise GoldenSetError(
                    "A CSV file cannot hold every file name of this set.", hint="Name the clips by id."
                )
            if row.setdefault(clip, grade) != grade:
                raise GoldenSetError(f"Two queries {query.text[:80]!r} grade the same clip differently.")
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for text, row in rows.items():
        writer.writerows([(text, clip, grade) for clip, grade in row.items()] or [(text, "", "")])
    write_text(path, out.getvalue(), _WHAT)


def _is_text(clip: str) -> bool:
    return clip.encode("utf-8", "replace").decode("utf-8") == clip
