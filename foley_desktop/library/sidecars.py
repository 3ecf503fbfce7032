"""Words about a sound that stand in a file beside it: ``door.txt``, ``.csv`` or ``.xml`` for ``door.wav``.

They are read like tags of the file itself, with a source of their own, and read again when they change.
Nothing in them is believed to be well formed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterator
from xml.etree import ElementTree

from foley_desktop.audio.riff_tags import loose_leaves
from foley_desktop.audio.tagtext import clean
from foley_desktop.library.list_fields import FILE_NAME, PATH, decoded, field_of, table
from foley_desktop.models import Tag

SIDECAR_EXTENSIONS = (".txt", ".csv", ".xml")
SOURCE = "sidecar"

_ENDINGS = tuple(
    e for extension in SIDECAR_EXTENSIONS for e in (extension, extension.upper(), extension.title())
)
_MOST_BYTES = 1 << 18
_LONGEST = 4000
"""Characters of running text that are taken as a description."""
_MOST_TAGS = 100
_PAIR = re.compile(r"\s*([^\W\d_][\w /-]{1,30}?)\s*[:=]\s*(\S.*)")


def sidecar_names(name: bytes, there: Collection[bytes]) -> list[bytes]:
    """Which of the names in a folder belong to the sound called ``name``."""
    stem = os.path.splitext(name)[0]
    wanted = (stem + ending.encode() for ending in _ENDINGS)
    return [candidate for candidate in wanted if candidate in there]


def sidecar_paths(path: str) -> list[str]:
    """The files beside a sound that describe it."""
    stem = os.path.splitext(path)[0]
    found: list[str] = []
    for ending in _ENDINGS:
        # Where case makes no difference to the system, both spellings lead to one file.
        if os.path.isfile(stem + ending) and not any(os.path.samefile(stem + ending, f) for f in found):
            found.append(stem + ending)
    return found


def signature(paths: Collection[str | bytes]) -> int:
    """A number that changes when one of these files does; 0 for no files."""
    digest = hashlib.blake2b(digest_size=8)
    seen = False
    for path in sorted(os.fsencode(path) for path in paths):
        try:
            status = os.stat(path)
        except OSError:
            continue
        seen = True
        # Not the name: it changes with the sound's, and what it says stays.
        digest.update(os.path.splitext(path)[1] + f" {status.st_size} {status.st_mtime_ns};".encode())
    return int.from_bytes(digest.digest(), "big", signed=True) if seen else 0


def read_sidecars(path: str) -> tuple[tuple[Tag, ...], int]:
    """The tags in the files beside a sound, and their :func:`signature`. Never raises."""
    paths = sidecar_paths(path)
    if not paths:
        return (), 0
    mark = signature(paths)
    found: dict[Tag, None] = {}
    for sidecar in paths:
        try:
            with open(sidecar, "rb") as file:
                text = decoded(file.read(_MOST_BYTES))
            for field, value in _pairs(os.path.splitext(sidecar)[1].lower(), text, os.path.basename(path)):
                if (value := clean(value)) and len(found) < _MOST_TAGS:
                    found[Tag(field, value, SOURCE)] = None
        except (OSError, ValueError, RecursionError):
            continue
    return tuple(found), mark


def _pairs(extension: str, text: str, name: str) -> Iterator[tuple[str, str]]:
    if extension == ".csv":
        return _from_table(text, name)
    return _from_xml(text) if extension == ".xml" else _from_lines(text)


def _from_lines(text: str) -> Iterator[tuple[str, str]]:
    """Fields of lines like ``Description: …``; all other lines are the description."""
    rest: list[str] = []
    described = False
    for line in text.splitlines():
        match = _PAIR.fullmatch(line)
        field = field_of(match[1]) if match else ""
        if match and field and field not in (FILE_NAME, PATH):
            described = described or field == "description"
            yield field, match[2]
        elif line.strip() and not (match and field):
            rest.append(line.strip())
    if rest and not described:
        yield "description", " ".join(rest)[:_LONGEST]


def _from_table(text: str, name: str) -> Iterator[tuple[str, str]]:
    """Fields of a table with a heading: of the row that names the sound, or of the only one. Or of pairs."""
    rows = table(text)
    if not rows:
        return
    fields = [field_of(cell) for cell in rows[0]]
    if len(rows) > 1 and (sum(map(bool, fields)) > 1 or len(fields) == 1):
        named = [row for row in rows[1:] if _is_about(row, fields, name)]
        about = named or (rows[1:] if len(rows) == 2 else [])
        for row in about[:1]:
            yield from ((f, v) for f, v in zip(fields, row, strict=False) if f and f not in (FILE_NAME, PATH))
        return
    for row in rows:
        if len(row) >= 2 and (field := field_of(row[0])) and field not in (FILE_NAME, PATH):
            yield field, row[1]


def _is_about(row: list[str], fields: list[str], name: str) -> bool:
    wanted = {name.casefold(), os.path.splitext(name)[0].casefold()}
    return any(
        cell.replace("\\", "/").rpartition("/")[2].casefold() in wanted
        for cell, field in zip(row, fields, strict=False)
        if field in (FILE_NAME, PATH)
    )


def _from_xml(text: str) -> Iterator[tuple[str, str]]:
    """Fields of elements and attributes by their names."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return
    try:
        root = ElementTree.fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text.lstrip("\ufeff")))
    except ElementTree.ParseError:
        for _, name, value in loose_leaves(text):
            if (field := field_of(name)) and field not in (FILE_NAME, PATH):
                yield field, value
        return
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        name = element.tag.rpartition("}")[2]
        value = element.text or ""
        for key, content in element.attrib.items():
            if key.lower() in ("name", "key", "id") and not field_of(name):
                name, value = content, element.attrib.get("value", value)
            elif (field := field_of(key)) and field not in (FILE_NAME, PATH):
                yield field, content
        if not len(element) and (field := field_of(name)) and field not in (FILE_NAME, PATH):
            yield field, value
