"""New payloads of the chunks in which an AIFF file keeps its words: its own text chunks, and ID3.

The text chunks have room for a name, an author, an annotation and a copyright (AIFF 1.3); everything
else goes into the ID3 chunk alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

from foley_desktop.audio import chunkwriter, id3writer
from foley_desktop.audio.chunkwriter import Edit
from foley_desktop.audio.rewrite import Fingerprint, Rewritten, damaged
from foley_desktop.audio.riff_tags import AIFF_FIELDS
from foley_desktop.audio.tagfields import PLACES

EDITED: Mapping[bytes, bytes | None] = dict.fromkeys((*AIFF_FIELDS, b"ID3 ", b"id3 "))

_LARGEST = 16 << 20


def rewrite(file: BinaryIO, start: int, size: int, changes: Mapping[str, str]) -> Rewritten:
    """An AIFF or AIFF-C file with the fields of ``changes`` set.

    Raises:
        TagWriteError: its structure cannot be trusted.
    """
    container = chunkwriter.examine(file, start, size)
    edit, seen = Edit(), set()
    for index, chunk in enumerate(container.chunks):
        if chunk.id not in EDITED:
            continue
        if chunk.size > _LARGEST:
            raise damaged("one of its text chunks is larger than any text")
        field = AIFF_FIELDS.get(chunk.id, "")
        if field:
            # Of several annotations the first is the description; the others are somebody's notes.
            if field in changes and chunk.id not in seen:
                edit.changed[index] = _text(changes[field]) or None
        else:
            payload = chunk.read(file, _LARGEST)
            try:
                new = id3writer.edited(payload, changes)
            except id3writer.Id3Error:
                new = payload
            if new != payload:
                edit.changed[index] = new or None
        seen.add(chunk.id)
    values = {field: value for field, value in changes.items() if value}
    edit.behind = [
        (PLACES[field].aiff, _text(value))
        for field, value in values.items()
        if PLACES[field].aiff and PLACES[field].aiff not in seen
    ]
    if not seen & {b"ID3 ", b"id3 "} and (made := id3writer.edited(b"", values)):
        edit.behind.append((b"ID3 ", made))
    return Rewritten(chunkwriter.assemble(file, container, edit))


def fingerprint(file: BinaryIO, start: int, size: int) -> Fingerprint:
    """What must be the same before and after; see :mod:`foley_desktop.audio.rewrite`."""
    return chunkwriter.fingerprint(file, chunkwriter.examine(file, start, size), EDITED)


def _text(value: str) -> bytes:
    return value.encode("utf-8", "replace")
