"""Takes in the lists of other librarians: CSV and TSV tables of file names and what was written about them.

Which column means what is guessed and shown, so that the user can correct it; then every row is matched with
the clips it is about, and what would change is shown. Applied, the values count like edits, with a source of
their own, as one step to take back. The files themselves are not touched.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from foley_desktop.audio.tagtext import clean
from foley_desktop.errors import ImportListError
from foley_desktop.library import ucs
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.catalog_clips import name_key
from foley_desktop.library.database import as_text
from foley_desktop.library.editing import EDITABLE, Editor
from foley_desktop.library.list_fields import (
    FILE_NAME,
    PATH,
    decoded,
    delimiter_of,
    encoding_of,
    field_of,
    table,
)
from foley_desktop.models import Clip

SOURCE = "list"
_MOST_BYTES = 256 << 20
_SAMPLES = 5
_CATEGORY = ("category", "subcategory", "catid")


class Column(NamedTuple):
    """A column of a list: its heading, what it is taken for ("" for nothing), and some of its cells."""

    heading: str
    field: str
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SoundList:
    """A list as it was read. ``rows`` are without the heading, each as long as ``columns``."""

    path: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    encoding: str = ""
    delimiter: str = ""

    @property
    def mapping(self) -> dict[int, str]:
        """What each column is taken for, by its number."""
        return {number: column.field for number, column in enumerate(self.columns) if column.field}


class Change(NamedTuple):
    """One value that would change."""

    clip: Clip
    field: str
    before: str
    after: str

    @property
    def replaces(self) -> bool:
        """Whether other words stand there now."""
        return bool(self.before)


@dataclass(frozen=True, slots=True)
class ListPreview:
    """What applying a list would do.

    ``matched`` and ``unmatched`` count rows, ``ambiguous`` those that name several clips; ``several`` says
    which, with how many clips each. ``notes`` are sentences about cells that were passed over.
    """

    changes: tuple[Change, ...] = ()
    matched: int = 0
    ambiguous: int = 0
    unmatched: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    several: tuple[tuple[str, int], ...] = ()

    @property
    def conflicts(self) -> int:
        """How many of the changes replace other words."""
        return sum(change.replaces for change in self.changes)

    @property
    def clips(self) -> int:
        """In how many clips something would change."""
        return len({change.clip.id for change in self.changes})


def read_list(path: str, *, encoding: str = "", delimiter: str = "") -> SoundList:
    """Reads a list and guesses what its columns mean, also its encoding and delimiter unless they are given.

    Raises:
        ImportListError: it cannot be read, or holds no table with a heading.
    """
    try:
        with open(path, "rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ImportListError(f"The list cannot be read: {error.strerror}.", cause=error) from error
    if len(raw) > _MOST_BYTES:
        raise ImportListError("The list is too large.", hint="Export it in parts.")
    encoding = encoding or encoding_of(raw)
    text = decoded(raw, encoding)
    delimiter = delimiter or delimiter_of(text)
    rows = table(text, delimiter)
    if len(rows) < 2:
        raise ImportListError(
            "There is no table in this file.", hint="Export the list as CSV or TSV, with its headings."
        )
    width = len(rows[0])
    body = tuple(tuple((row + [""] * width)[:width]) for row in rows[1:])
    fields = _guessed(rows[0], body)
    samples = [tuple(dict.fromkeys(row[n] for row in body if row[n]))[:_SAMPLES] for n in range(width)]
    columns = tuple(
        Column(as_text(heading), fields[number], samples[number]) for number, heading in enumerate(rows[0])
    )
    return SoundList(path, columns, body, encoding, delimiter)


def _guessed(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A field for each column, by its heading, each field once; the file's column by its cells if need be."""
    fields = []
    for heading in headings:
        found = field_of(heading)
        fields.append(found if found not in fields else "")
    if FILE_NAME not in fields and PATH not in fields:
        from foley_desktop.audio.decode import is_media_name

        for number in range(len(headings)):
            cells = [row[number] for row in rows[:200] if row[number]]
            if cells and sum(is_media_name(cell) for cell in cells) > len(cells) // 2:
                slashes = sum("/" in cell or "\\" in cell for cell in cells)
                fields[number] = PATH if slashes > len(cells) // 2 else FILE_NAME
                break
    return fields


def preview_list(
    catalog: Catalog,
    sounds: SoundList,
    mapping: Mapping[int, str],
    *,
    replace: bool = True,
    several: bool = True,
) -> ListPreview:
    """What a list would change with its columns meaning ``mapping``.

    Args:
        replace: Also replaces words that are there; else only what is empty is filled.
        several: Rows that name several clips are for all of them; else they are passed over.

    Raises:
        ImportListError: no column says which sound a row is about, or one means a field that can't be set.
    """
    keys = {number: f for number, f in mapping.items() if f in (FILE_NAME, PATH)}
    fields = {number: f for number, f in mapping.items() if f and number not in keys}
    if not keys:
        raise ImportListError(
            "No column says which sound a row is about.", hint="Choose the column with the file names."
        )
    wrong = [f for f in fields.values() if f not in EDITABLE and f != "category_full"]
    if wrong:
        raise ImportListError(f"The field {wrong[0]} cannot be set from a list.")
    finder = _Finder(catalog)
    matched = 0
    named_twice: list[tuple[str, int]] = []
    unmatched: list[str] = []
    notes: dict[str, None] = {}
    wanted: dict[str, dict[str, str]] = {}
    for row in sounds.rows:
        names = [row[number] for number in sorted(keys, key=lambda n: keys[n] != PATH) if row[number]]
        found = finder.find(names)
        if not found:
            unmatched.append(as_text(names[0]) if names else "(no name)")
            continue
        matched += 1
        if len(found) > 1:
            named_twice.append((as_text(names[0]), len(found)))
            if not several:
                continue
        values = _values(row, fields, notes)
        for clip_id in found:
            wanted.setdefault(clip_id, {}).update(values)
    changes = tuple(_changes(catalog, wanted))
    if not replace:
        changes = _filling(changes)
        wanted = {}
        for change in changes:
            wanted.setdefault(change.clip.id, {})[change.field] = change.after
    return ListPreview(
        changes, matched, len(named_twice), tuple(unmatched), tuple(notes), wanted, tuple(named_twice)
    )


def _filling(changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes that replace nothing. A clip's category is one thing: all of it is empty, or it stays."""
    taken = {change.clip.id for change in changes if change.field in _CATEGORY and change.replaces}
    return tuple(
        change
        for change in changes
        if not change.replaces and not (change.field in _CATEGORY and change.clip.id in taken)
    )


def apply_list(catalog: Catalog, sounds: SoundList, preview: ListPreview) -> list[str]:
    """Sets what a preview showed, as one step; gives the ids of the clips that changed."""
    name = as_text(os.path.basename(sounds.path))
    return Editor(catalog).apply(preview.values, f"Import {name}", source=SOURCE)


def _values(row: Sequence[str], fields: Mapping[int, str], notes: dict[str, None]) -> dict[str, str]:
    """The fields that a row sets; an empty cell sets nothing. Categories get the spelling of the UCS."""
    values = {f: clean(row[number]) for number, f in fields.items() if clean(row[number])}
    full = values.pop("category_full", "")
    if full and "category" not in values:
        category, _, subcategory = full.partition("-")
        values |= {"category": category.strip(), "subcategory": subcategory.strip()}
    catid = values.pop("catid", "")
    known = ucs.canonical(catid) or ucs.catid_of(values.get("category", ""), values.get("subcategory", ""))
    if catid and not ucs.canonical(catid):
        notes[f"{catid} is no CatID of the UCS; it was passed over."] = None
    if known:
        category, subcategory = ucs.table()[known]
        values |= {"catid": known, "category": category, "subcategory": subcategory}
    elif "category" in values:
        values["catid"] = ""
    return values


def _changes(catalog: Catalog, wanted: Mapping[str, Mapping[str, str]]) -> Iterator[Change]:
    editor = Editor(catalog)
    for clip in catalog.clips(wanted).values():
        current = editor.current(clip, wanted[clip.id])
        for name, value in wanted[clip.id].items():
            if current[name] != value:
                yield Change(clip, name, current[name], value)


class _Finder:
    """Finds the clips that a cell names: by path, by the end of one, by file name, by its stem."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._names: dict[str, list[tuple[str, str]]] = {}
        self._stems: dict[str, list[tuple[str, str]]] = {}
        for row in catalog.rows("SELECT id, rel_path, name_key FROM clips WHERE status != 'missing'"):
            entry = (row["id"], name_key(os.fsdecode(row["rel_path"])))
            self._names.setdefault(row["name_key"], []).append(entry)
            self._stems.setdefault(os.path.splitext(row["name_key"])[0], []).append(entry)

    def find(self, cells: Sequence[str]) -> list[str]:
        """Ids of the clips that a row is about; of several of one name those whose folders agree most."""
        for cell in cells:
            if os.path.isabs(cell):
                clip = self._catalog.clip_by_path(cell)
                if clip is not None and clip.id and clip.status != "missing":
                    return [clip.id]
        for cell in cells:
            wanted = name_key(cell.removeprefix("file://").replace("\\", "/").replace(":/", "/"))
            name = wanted.rpartition("/")[2]
            found = self._names.get(name) or self._stems.get(name) or []
            if found:
                agreement = [(_common_end(path, wanted), clip_id) for clip_id, path in found]
                most = max(agreement)[0]
                return sorted(clip_id for common, clip_id in agreement if common == most)
        return []


def _common_end(one: str, other: str) -> int:
    """How many folders in front of the name two paths share."""
    count = 0
    for a, b in zip(one.split("/")[-2::-1], other.split("/")[-2::-1], strict=False):
        if a != b:
            break
        count += 1
    return count
