"""Text out of the chunks of WAV and AIFF: bext, iXML, LIST INFO, ID3, and AIFF's own text chunks.

Every chunk is read on its own and every field within it too, so that one damaged place costs one
value. bext as in EBU Tech 3285, iXML as its public specification and the ASWG extension describe it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO
from xml.etree import ElementTree

from foley_desktop.audio.mutagen_tags import read_id3
from foley_desktop.audio.riff import Chunk, Container, info_items, walk
from foley_desktop.audio.tagtext import clean, decode_text
from foley_desktop.models import Tag

INFO_FIELDS = {
    b"INAM": "title",
    b"TITL": "title",
    b"ICMT": "description",
    b"COMM": "description",
    b"ISBJ": "subject",
    b"IKEY": "keywords",
    b"IGNR": "genre",
    b"GENR": "genre",
    b"IART": "artist",
    b"ICRD": "date",
    b"ICOP": "copyright",
    b"ISFT": "software",
    b"IPRD": "album",
    b"IENG": "engineer",
    b"ITCH": "engineer",
    b"ISRC": "originator",
    b"ISRF": "medium",
    b"IMED": "medium",
    b"ITRK": "track",
    b"IPRT": "track",
    b"ICAT": "category",
    b"ICMS": "commissioned by",
    b"IARL": "archive",
}
_BEXT_FIELDS = (
    ("description", 0, 256),
    ("originator", 256, 32),
    ("originator_reference", 288, 32),
    ("date", 320, 10),
    ("time", 330, 8),
)
_BEXT_FIXED_BYTES = 602
_MAX_TEXT = 1 << 20
_LIMITS = {b"id3 ": 16 << 20, b"ID3 ": 16 << 20}
"""Bytes of a chunk that are read at most; an ID3 tag has its pictures before its text at times."""
IXML_FIELDS = {
    "bwf_description": "description",
    "description": "description",
    "bwf_originator": "originator",
    "bwf_originator_reference": "originator_reference",
    "bwf_origination_date": "date",
    "bwf_time_reference_low": "",
    "fxname": "title",
    "title": "title",
    "trackname": "title",
    "tracktitle": "title",
    "category": "category",
    "subcategory": "subcategory",
    "catid": "catid",
    "categoryfull": "category_full",
    "usercategory": "user_category",
    "vendorcategory": "vendor_category",
    "keywords": "keywords",
    "note": "comment",
    "notes": "comment",
    "usercomments": "comment",
    "project": "project",
    "scene": "scene",
    "take": "take",
    "tape": "tape",
    "library": "library",
    "show": "show",
    "source": "source",
    "manufacturer": "manufacturer",
    "designer": "designer",
    "recordist": "recordist",
    "location": "location",
    "microphone": "microphone",
    "mictype": "microphone",
    "micperspective": "perspective",
    "perspective": "perspective",
    "artist": "artist",
    "genre": "genre",
    "mood": "mood",
    "creatorid": "creator",
    "sourceid": "source_id",
    "userdata": "user_data",
    "url": "url",
    "rights": "copyright",
    "rightsowner": "copyright",
    "originalstudio": "studio",
    "contenttype": "content_type",
    "isaudiofile": "",
}
AIFF_FIELDS = {b"NAME": "title", b"AUTH": "artist", b"ANNO": "description", b"(c) ": "copyright"}
_ELEMENT = re.compile(r"<([A-Za-z_][\w.-]*)(?:\s[^<>]*)?>([^<>]*)</\1\s*>")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))


def read_riff(file: BinaryIO, size: int) -> Iterator[Tag]:
    """All text of a WAV or AIFF file, chunk by chunk. Never raises for damaged content."""
    container = walk(file, size)
    for chunk in container.chunks:
        reader = _READERS.get(chunk.id)
        if reader is None:
            continue
        try:
            yield from reader(chunk.read(file, _LIMITS.get(chunk.id, _MAX_TEXT)), container, chunk)
        except Exception:  # A broken chunk must not hide the good ones behind it.
            continue
    # A whole ID3 tag that some tool glued on behind the last chunk.
    if container.end < size:
        rest = Chunk(b"", container.end, size - container.end, 0).read(file)
        at = rest.find(b"ID3")
        if at >= 0:
            yield from read_id3(rest[at:])


def _bext(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    for field, start, size in _BEXT_FIELDS:
        if value := decode_text(payload[start : start + size], size):
            yield Tag(field, value, "bext")
    if len(payload) >= 346:
        reference = struct.unpack_from("<Q", payload, 338)[0]
        if reference:
            yield Tag("time_reference", str(reference), "bext")
    if history := decode_text(payload[_BEXT_FIXED_BYTES:]):
        yield Tag("coding_history", history, "bext")


def _list(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    if payload[:4] != b"INFO":
        return
    for name, raw in info_items(payload[4:], ">" if container.big_endian else "<"):
        if value := decode_text(raw):
            yield Tag(INFO_FIELDS.get(name.upper(), name.decode("ascii").strip().lower()), value, "INFO")


def _ixml(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    seen: set[tuple[str, str]] = set()
    for name, text in _elements(payload):
        field = IXML_FIELDS.get(name.lower().replace(" ", ""))
        value = clean(text)
        if field and value and (field, value) not in seen:
            seen.add((field, value))
            yield Tag(field, value, "iXML")


def _elements(payload: bytes) -> Iterator[tuple[str, str]]:
    """``(name, text)`` of the elements without children, also from XML that is cut off or ill formed."""
    text = _xml_text(payload)
    if "<!DOCTYPE" not in text and "<!ENTITY" not in text:
        try:
            root = ElementTree.fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))
        except (ElementTree.ParseError, ValueError):
            pass
        else:
            for element in root.iter():
                if len(element) == 0 and isinstance(element.tag, str):
                    yield element.tag.rpartition("}")[2], element.text or ""
            return
    for match in _ELEMENT.finditer(text):
        value = match[2]
        for entity, character in _ENTITIES:
            value = value.replace(entity, character)
        yield match[1], value


def _xml_text(payload: bytes) -> str:
    if payload[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return payload.decode("utf-16", "replace").strip("\0")
    payload = payload.strip(b"\0 \r\n\t").removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"")
    try:
        return payload.decode("utf-8")
    except UnicodeDecodeError:
        return payload.decode("cp1252", "replace")


def _id3(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    yield from read_id3(payload)


def _aiff_text(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    if container.form == b"FORM" and (value := decode_text(payload)):
        yield Tag(AIFF_FIELDS[chunk.id], value, "AIFF")


def _aiff_comments(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    if container.form != b"FORM" or len(payload) < 2:
        return
    position = 2
    for _ in range(struct.unpack(">H", payload[:2])[0]):
        if position + 8 > len(payload):
            return
        size = struct.unpack_from(">H", payload, position + 6)[0]
        if value := decode_text(payload[position + 8 : position + 8 + size]):
            yield Tag("comment", value, "AIFF")
        position += 8 + size + (size & 1)


_READERS: dict[bytes, Callable[[bytes, Container, Chunk], Iterator[Tag]]] = {
    b"bext": _bext,
    b"LIST": _list,
    b"iXML": _ixml,
    b"id3 ": _id3,
    b"ID3 ": _id3,
    b"NAME": _aiff_text,
    b"AUTH": _aiff_text,
    b"ANNO": _aiff_text,
    b"(c) ": _aiff_text,
    b"COMT": _aiff_comments,
}
