"""New payloads of the chunks in which a WAV file keeps its words: bext, LIST INFO, iXML and ID3.

A field goes into each of them that has a place for it, because every editor and librarian reads another
one. bext as in EBU Tech 3285, LIST INFO as in the Multimedia Programming Interface 1.0, texts in UTF-8.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import BinaryIO

from foley_desktop.audio import chunkwriter, id3writer, ixml
from foley_desktop.audio.chunkwriter import Edit
from foley_desktop.audio.rewrite import Fingerprint, Rewritten, damaged
from foley_desktop.audio.riff import Container, info_items
from foley_desktop.audio.riff_tags import INFO_FIELDS
from foley_desktop.audio.tagfields import BEXT_FIELDS, PLACES, fitted

EDITED: Mapping[bytes, bytes | None] = {
    b"bext": None,
    b"iXML": None,
    b"id3 ": None,
    b"ID3 ": None,
    b"LIST": b"INFO",
}
"""Chunks that editing may change; of the lists only those of kind INFO."""

_BEXT_BYTES = 602
_BEXT_VERSION_AT = 346
_LARGEST = 16 << 20


def rewrite(file: BinaryIO, start: int, size: int, changes: Mapping[str, str]) -> Rewritten:
    """A WAV, RF64 or BW64 file with the fields of ``changes`` set.

    Raises:
        TagWriteError: its structure cannot be trusted.
    """
    container = chunkwriter.examine(file, start, size)
    edit, notes = Edit(), []
    lists = [i for i, c in enumerate(container.chunks) if c.id == b"LIST" and c.read(file, 4) == b"INFO"]
    order = ">" if container.big_endian else "<"
    for index, chunk in enumerate(container.chunks):
        if chunk.id not in EDITED or (chunk.id == b"LIST" and index not in lists):
            continue
        if chunk.size > _LARGEST:
            raise damaged("one of its text chunks is larger than any text")
        payload = chunk.read(file, _LARGEST)
        if chunk.id == b"LIST":
            new: bytes | None = info(payload, changes, add=index == lists[0], order=order)
        else:
            new = _changed(chunk.id, payload, changes, container.big_endian)
            if new is None:
                notes.append(f"The {chunk.id.decode().strip()} chunk is damaged and stays as it is.")
                continue
        if new != payload:
            edit.changed[index] = new or None
    _add(container, edit, {field: value for field, value in changes.items() if value}, bool(lists))
    for field, (_, room) in BEXT_FIELDS.items():
        if len(changes.get(field, "").encode("utf-8", "replace")) > room:
            notes.append(
                f"The bext chunk has room for {room} bytes; the {field} is cut there and whole elsewhere."
            )
    return Rewritten(chunkwriter.assemble(file, container, edit), tuple(notes))


def fingerprint(file: BinaryIO, start: int, size: int) -> Fingerprint:
    """What must be the same before and after; see :mod:`foley_desktop.audio.rewrite`."""
    return chunkwriter.fingerprint(file, chunkwriter.examine(file, start, size), EDITED)


def _changed(name: bytes, payload: bytes, changes: Mapping[str, str], big_endian: bool) -> bytes | None:
    """The new payload of a chunk that is there; None where it cannot be edited without loss."""
    try:
        if name == b"bext":
            return bext(payload, changes, big_endian)
        return ixml.edited(payload, changes) if name == b"iXML" else id3writer.edited(payload, changes)
    except (ixml.IxmlError, id3writer.Id3Error):
        return None


def _add(container: Container, edit: Edit, values: Mapping[str, str], has_info: bool) -> None:
    """Chunks that are not there yet and have something to say."""
    there = {chunk.id for chunk in container.chunks}
    if b"bext" not in there and any(field in values for field in BEXT_FIELDS):
        edit.front.append((b"bext", bext(b"", values, container.big_endian)))
    if not has_info:
        order = ">" if container.big_endian else "<"
        edit.behind.append((b"LIST", info(b"", values, add=True, order=order)))
    if b"iXML" not in there:
        edit.behind.append((b"iXML", ixml.edited(b"", values)))
    if not there & {b"id3 ", b"ID3 "}:
        edit.behind.append((b"id3 ", id3writer.edited(b"", values)))
    edit.behind = [(name, payload) for name, payload in edit.behind if payload]


def bext(payload: bytes, changes: Mapping[str, str], big_endian: bool = False) -> bytes:
    """A bext payload with its texts set; too long ones are cut at a character boundary."""
    if payload and not any(field in changes for field in BEXT_FIELDS):
        return payload
    body = bytearray(payload.ljust(_BEXT_BYTES, b"\0"))
    if not payload:
        struct.pack_into(">H" if big_endian else "<H", body, _BEXT_VERSION_AT, 1)
    for field, (start, room) in BEXT_FIELDS.items():
        if field in changes:
            body[start : start + room] = fitted(changes[field], room).ljust(room, b"\0")
    return bytes(body)


def info(payload: bytes, changes: Mapping[str, str], *, add: bool, order: str) -> bytes:
    """A LIST payload of kind INFO with the fields set; empty when nothing is left in it.

    Args:
        add: False changes only items that are there.
    """
    items: list[tuple[bytes, bytes]] = []
    written: set[str] = set()
    for name, raw in info_items(payload[4:], order):
        field = INFO_FIELDS.get(name.upper(), "")
        if field not in changes:
            items.append((name, raw))
        elif changes[field] and (name == PLACES[field].info or not PLACES[field].info):
            items.append((name, _text(changes[field])))
            written.add(field)
    for field, value in changes.items():
        place = PLACES[field].info
        if add and value and place and field not in written:
            items.append((place, _text(value)))
    if not items:
        return b""
    return b"INFO" + b"".join(chunkwriter.made(name, raw, order) for name, raw in items)


def _text(value: str) -> bytes:
    return value.encode("utf-8", "replace") + b"\0"
