"""What the columns of other librarians' lists and sidecar files mean: from their headings to our fields.

Headings differ in spelling, case and separators alone more often than not, so they are compared without.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from foley_desktop.audio.mutagen_tags import NAMED_FIELDS
from foley_desktop.audio.riff_tags import IXML_FIELDS
from foley_desktop.audio.tagfields import WRITABLE

FILE_NAME, PATH = "file name", "path"
"""Columns that say which sound a row is about."""

_NAMES = {
    FILE_NAME: "filename file name soundname soundfile audiofile audiofilename clip clipname recordname "
    "sound wav wavname fichier dateiname datei nomfichier",
    PATH: "path filepath fullpath pathname filelocation fullfilename relativepath uri pfad chemin",
    "title": "title fxname effectname fx tracktitle soundtitle shortname displayname titel titre",
    "description": "description desc longdescription bwdescription bwfdescription fulldescription details "
    "beschreibung descripcion descrizione",
    "keywords": "keywords keyword tags tag searchterms stichworte motscles schlagworte",
    "comment": "comment comments notes note remarks usercomments memo bemerkung commentaire",
    "category": "category cat maincategory kategorie categorie",
    "subcategory": "subcategory subcat secondarycategory unterkategorie souscategorie",
    "catid": "catid ucscatid ucsid categoryid",
    "category_full": "categoryfull fullcategory catfull",
    "user_category": "usercategory usercat",
    "vendor_category": "vendorcategory vendorcat",
    "artist": "artist author performer interpret",
    "designer": "designer sounddesigner",
    "recordist": "recordist recordedby recorder recordingengineer",
    "manufacturer": "manufacturer vendor publisher label company hersteller",
    "library": "library libraryname collection packname product volume bibliothek bibliotheque",
    "album": "album cdtitle cdname disc",
    "genre": "genre",
    "mood": "mood feeling",
    "location": "location reclocation recordinglocation place ort lieu",
    "microphone": "microphone mic mics microphones mikrofon micro",
    "perspective": "perspective micperspective recmedium distance",
    "creator": "creatorid creator",
    "source_id": "sourceid",
    "source": "source",
    "user_data": "userdata",
    "project": "project projekt",
    "scene": "scene szene",
    "take": "take",
    "tape": "tape reel",
    "show": "show",
    "url": "url website link webpage",
    "originator": "originator",
    "copyright": "copyright rights rightsowner license licence",
}
_BY_NAME = {name: field for field, names in _NAMES.items() for name in names.split()}
_NO_LETTERS = re.compile(r"[\W_]+")
_STATED_DELIMITER = re.compile(r"\Asep=([,;|\t])\r?\n?", re.IGNORECASE)
"""A first line by which Excel says what the delimiter is."""

_MOST_TITLE_LINES = 5
_MOST_LONE_QUOTES = 50
DELIMITERS = (",", "\t", ";", "|")


def field_of(heading: str) -> str:
    """Our field for a heading, :data:`FILE_NAME`, :data:`PATH`, or "" for one that is not known."""
    name = _NO_LETTERS.sub("", heading).lower()
    found = _BY_NAME.get(name, "")
    if not found:
        found = NAMED_FIELDS.get(name, "") or IXML_FIELDS.get(name, "")
    return found if found in WRITABLE or found in (FILE_NAME, PATH) else ""


def encoding_of(raw: bytes) -> str:
    """The likeliest encoding of a text, as Python calls it: UTF-8, UTF-16, or Windows' older one."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    # Excel writes UTF-16 without a mark at times: every other byte of its plain letters is zero.
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(raw) > 3 and raw[first:64:2].count(0) > len(raw[first:64:2]) // 2:
            return encoding
    try:
        raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def decoded(raw: bytes, encoding: str = "") -> str:
    """Text of a file in an encoding, or in the one that :func:`encoding_of` finds; never raises."""
    return raw.decode(encoding or encoding_of(raw), "replace").removeprefix("\ufeff")


def delimiter_of(text: str) -> str:
    """The delimiter that most of the first lines of a table agree on."""
    stated = _STATED_DELIMITER.match(text)
    if stated:
        return stated[1]
    sample = [line for line in text.splitlines()[:20] if line.strip()]
    return max(DELIMITERS, key=lambda mark: _agreement(sample, mark))


def table(text: str, delimiter: str = "") -> list[list[str]]:
    """The rows of a CSV or TSV text, cells trimmed, empty rows left out; never raises.

    Without a delimiter it is the one that :func:`delimiter_of` finds.
    """
    delimiter = delimiter or delimiter_of(text)
    lines: Sequence[str] = list(io.StringIO(_STATED_DELIMITER.sub("", text).replace("\0", ""), newline=""))
    rows: list[list[str]] = []
    for _ in range(_MOST_LONE_QUOTES):
        found, rest = _read_rows(lines, delimiter)
        rows += found
        if not rest:
            break
        # A lone quotation mark opened a cell that never ends: its line is taken as it stands.
        rows.append(rest[0].rstrip("\r\n").split(delimiter))
        lines = rest[1:]
    else:
        rows += [line.rstrip("\r\n").split(delimiter) for line in lines]
    return _headed([row for row in ([cell.strip() for cell in row] for row in rows) if any(row)])


def _read_rows(lines: Sequence[str], delimiter: str) -> tuple[list[list[str]], Sequence[str]]:
    """The rows of some lines, and the lines from the one on whose quotation marks are never closed."""
    rows: list[list[str]] = []
    start = 0
    reader = csv.reader(iter(lines), delimiter=delimiter)
    try:
        for row in reader:
            ended = reader.line_num < len(lines) or reader.line_num == start + 1
            if not ended and sum(line.count('"') for line in lines[start:]) % 2:
                return rows, lines[start:]
            rows.append(row)
            start = reader.line_num
    except csv.Error:
        return rows, lines[start:]
    return rows, ()


def _headed(rows: list[list[str]]) -> list[list[str]]:
    """Rows from the heading on: a line or two above a table are the name of the list."""
    for number, row in enumerate(rows[: min(_MOST_TITLE_LINES, len(rows) - 1)]):
        if sum(map(bool, row)) > 1 or any(map(field_of, row)):
            return rows[number:]
    return rows


def _agreement(lines: Sequence[str], delimiter: str) -> tuple[int, int]:
    """How many lines have as many delimiters as the first, if it has any; and how many it has."""
    if not lines or delimiter not in lines[0]:
        return (0, 0)
    first = lines[0].count(delimiter)
    return (sum(line.count(delimiter) == first for line in lines), first)
