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

from foley_desktop.audio import foreign_chunks
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
_BEXT_VERSION_AT = 346
_UMID = slice(348, 412)
_LOUDNESS_AT = 412
_LOUDNESS = (
    ("loudness", "LUFS"),
    ("loudness range", "LU"),
    ("true peak", "dBTP"),
    ("momentary loudness", "LUFS"),
    ("short-term loudness", "LUFS"),
)
"""Fields of version 2 in hundredths, in file order (EBU Tech 3285 v2, section 2.4)."""
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
    "location_name": "location",
    "originator": "originator",
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
"""Our field for the name of an element; an empty one means that it is of no use."""

_IXML_TECHNICAL = frozenset([
    "ixml_version", "track_count", "channel_index", "interleave_index", "function", "circled", "file_uid",
    "ubits", "sync_point_type", "sync_point_function", "sync_point_comment", "sync_point_low",
    "sync_point_high", "sync_point_event_duration", "sync_point_count", "original_filename",
    "parent_filename", "parent_uid", "family_uid", "family_name", "file_set_start_time_hi",
    "file_set_start_time_lo", "file_set_index", "total_files", "file_sample_rate", "audio_bit_depth",
    "digitizer_sample_rate", "timestamp_samples_since_midnight_hi", "timestamp_samples_since_midnight_lo",
    "timestamp_sample_rate", "default_event_duration", "bwf_origination_time", "bwf_time_reference_high",
    "bwf_version", "bwf_umid", "bwf_reserved", "bwf_coding_history", "bwf_loudness_value",
    "bwf_loudness_range", "bwf_max_true_peak_level", "bwf_max_momentary_loudness",
    "bwf_max_short_term_loudness", "attr_list", "type", "version",
])  # fmt: skip
"""Elements that hold numbers of the recorder's and no words about the sound, lower case."""

_SPEED = {
    "note": "speed note",
    "master_speed": "master speed",
    "current_speed": "current speed",
    "timecode_rate": "timecode rate",
    "timecode_flag": "timecode flag",
}
AIFF_FIELDS = {b"NAME": "title", b"AUTH": "artist", b"ANNO": "description", b"(c) ": "copyright"}
_TOKEN = re.compile(r"<(/?)([A-Za-z_][\w.:-]*)(?:\s[^<>]*?)?(/?)>|([^<]+|<)")
_DEEPEST = 100
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
    order = ">" if container.big_endian else "<"
    if len(payload) >= _BEXT_VERSION_AT:
        reference = struct.unpack_from(order + "Q", payload, 338)[0]
        if reference:
            yield Tag("time_reference", str(reference), "bext")
    yield from _bext_measured(payload, order)
    if history := decode_text(payload[_BEXT_FIXED_BYTES:]):
        yield Tag("coding_history", history, "bext")


def _bext_measured(payload: bytes, order: str) -> Iterator[Tag]:
    """The UMID of version 1 and the loudness of version 2, where they are filled in."""
    if len(payload) < _BEXT_FIXED_BYTES:
        return
    version = struct.unpack_from(order + "H", payload, _BEXT_VERSION_AT)[0]
    umid = payload[_UMID]
    if version >= 1 and any(umid):
        # The basic form has 32 bytes, the extended one 64 (SMPTE 330M).
        yield Tag("umid", (umid if any(umid[32:]) else umid[:32]).hex(), "bext")
    values = struct.unpack_from(order + "5h", payload, _LOUDNESS_AT)
    if version >= 2 and any(values):
        for (field, unit), value in zip(_LOUDNESS, values, strict=True):
            if -9999 <= value <= 9999:  # what was not measured is written as 0x7FFF
                yield Tag(field, f"{value / 100:g} {unit}", "bext")


def _list(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    order = ">" if container.big_endian else "<"
    if payload[:4] == b"adtl":
        yield from foreign_chunks.marker_names(payload, order)
    if payload[:4] != b"INFO":
        return
    for name, raw in info_items(payload[4:], order):
        if value := decode_text(raw):
            yield Tag(INFO_FIELDS.get(name.upper(), name.decode("ascii").strip().lower()), value, "INFO")


def _ixml(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    yield from xml_tags(payload, "iXML")


def xml_tags(payload: bytes, source: str) -> Iterator[Tag]:
    """Tags from the elements of an XML document as iXML has them, each value once.

    An element that nobody here has heard of is a field under its own name.
    """
    seen: set[tuple[str, str]] = set()
    kind = ""
    for parent, name, text in _elements(payload):
        value = clean(text)
        if parent == "attr" and name in ("name", "value"):
            # Steinberg's pairs: <ATTR><NAME>…</NAME><VALUE>…</VALUE></ATTR>
            kind, field = (value, "") if name == "name" else ("", _ixml_field("", kind))
        else:
            field = _ixml_field(parent, name)
        if field and value and (field, value) not in seen:
            seen.add((field, value))
            yield Tag(field, value, source)


def _ixml_field(parent: str, name: str) -> str:
    name = name.lower().replace(" ", "")
    if parent == "track" and name == "name":
        return "track name"
    if parent == "speed" and name in _SPEED:
        return _SPEED[name]
    if name in IXML_FIELDS:
        return IXML_FIELDS[name]
    technical = name in _IXML_TECHNICAL or parent in ("sync_point", "history", "file_set")
    return "" if technical or parent == "speed" else name.replace("_", " ")


def _elements(payload: bytes) -> Iterator[tuple[str, str, str]]:
    """Parent's name, name and text of the elements without children, names in lower case.

    Also from XML that is cut off or ill formed, as far as it goes.
    """
    text = _xml_text(payload)
    if "<!DOCTYPE" not in text and "<!ENTITY" not in text:
        try:
            root = ElementTree.fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))
        except (ElementTree.ParseError, ValueError):
            pass
        else:
            yield from _leaves(root, "")
            return
    yield from loose_leaves(text)


def _leaves(element: ElementTree.Element, parent: str) -> Iterator[tuple[str, str, str]]:
    waiting = [(element, parent)]
    while waiting:
        element, parent = waiting.pop()
        if not isinstance(element.tag, str):
            continue
        name = element.tag.rpartition("}")[2].lower()
        if not len(element):
            yield parent, name, element.text or ""
        waiting += [(child, name) for child in reversed(element)]


def loose_leaves(text: str) -> Iterator[tuple[str, str, str]]:
    """Parent's name, name and text of the elements without children, of a text that may be ill formed."""
    open_names: list[str] = []
    said = ""
    for match in _TOKEN.finditer(text):
        closes, name, empty, words = match.groups()
        if words is not None:
            said += words
            continue
        name = name.rpartition(":")[2].lower()
        if not closes:
            said = ""
            if len(open_names) > _DEEPEST:
                return
            if not empty:
                open_names.append(name)
        elif name in open_names:
            if said.strip() and open_names[-1] == name:
                for entity, character in _ENTITIES:
                    said = said.replace(entity, character)
                yield open_names[-2] if len(open_names) > 1 else "", name, said
            while open_names.pop() != name:
                pass
            said = ""


def _xml_text(payload: bytes) -> str:
    if payload[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return payload.decode("utf-16", "replace").strip("\0")
    for start, encoding in ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be")):
        if payload.startswith(start):
            return payload.decode(encoding, "replace").strip("\0")
    payload = payload.strip(b"\0 \r\n\t").removeprefix(b"\xef\xbb\xbf")
    # What stands behind a zero was left over from something else.
    document, _, rest = payload.partition(b"\0")
    payload = document if document.endswith((b">", b">\n")) else document + rest.replace(b"\0", b"")
    try:
        return payload.decode("utf-8")
    except UnicodeDecodeError:
        return payload.decode("cp1252", "replace")


def _id3(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    yield from read_id3(payload)


def _display_title(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    yield from foreign_chunks.display_title(payload)


def _cart(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    yield from foreign_chunks.cart(payload)


def _xmp(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    yield from foreign_chunks.xmp(payload)


def _soundminer(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    """What of Soundminer's chunk is XML; the rest of it is nobody else's to read."""
    start = payload.find(b"<")
    if start >= 0 and b"</" in payload:
        yield from xml_tags(payload[start : payload.rfind(b">") + 1], "Soundminer")


def _aiff_marks(payload: bytes, container: Container, chunk: Chunk) -> Iterator[Tag]:
    if container.form == b"FORM":
        yield from foreign_chunks.aiff_marker_names(payload)


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
    b"MARK": _aiff_marks,
    b"DISP": _display_title,
    b"cart": _cart,
    b"_PMX": _xmp,
    b"SMED": _soundminer,
}
