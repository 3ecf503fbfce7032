"""Words in chunks of WAV and AIFF that are read and never written: other programs keep them for themselves.

Display titles (``DISP``), traffic data of radio stations (``cart``, AES46), XMP packets of Adobe's programs
(``_PMX``), Soundminer's chunk as far as it is XML, and the names of cue points and markers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from foley_desktop.audio.riff import info_items
from foley_desktop.audio.tagtext import clean, decode_text
from foley_desktop.models import Tag

FOREIGN_SOURCES = ("XMP", "cart", "DISP", "Soundminer", "cue")
"""Places that are only read: a value in them may stand beside a newer one that we wrote elsewhere."""

_TEXT_TYPE = b"\1\0\0\0"
"""CF_TEXT of Windows' clipboard, the type of a DISP chunk that is text."""

_CART_FIELDS = (
    ("title", 4, 64),
    ("artist", 68, 64),
    ("cut", 132, 64),
    ("client", 196, 64),
    ("category", 260, 64),
    ("classification", 324, 64),
)
_CART_TEXT_AT = 2048
_RDF_ITEM = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}li"
_XMP_SPACES = ("http://purl.org/dc/elements/1.1/", "http://ns.adobe.com/xmp/1.0/DynamicMedia/")
_XMP_FIELDS = {
    "title": "title",
    "description": "description",
    "subject": "keywords",
    "creator": "artist",
    "rights": "copyright",
    "artist": "artist",
    "album": "album",
    "genre": "genre",
    "scene": "scene",
    "takeNumber": "take",
    "tapeName": "tape",
    "shotLocation": "location",
    "projectName": "project",
    "logComment": "comment",
    "comment": "comment",
    "engineer": "engineer",
    "instrument": "instrument",
    "composer": "designer",
}
_PACKET = re.compile(r"<x:xmpmeta\b.*</x:xmpmeta\s*>|<rdf:RDF\b.*</rdf:RDF\s*>", re.DOTALL)


def display_title(payload: bytes) -> Iterator[Tag]:
    """The text of a ``DISP`` chunk; pictures are passed over."""
    is_text = payload[:4] == _TEXT_TYPE
    if is_text and (value := decode_text(payload[4:])):
        yield Tag("title", value, "DISP")


def cart(payload: bytes) -> Iterator[Tag]:
    """The texts of a ``cart`` chunk that speak of the sound."""
    for field, start, size in _CART_FIELDS:
        if value := decode_text(payload[start : start + size], size):
            yield Tag(field, value, "cart")
    if value := decode_text(payload[_CART_TEXT_AT:]):
        yield Tag("comment", value, "cart")


def xmp(payload: bytes) -> Iterator[Tag]:
    """Titles, descriptions, keywords and the like of an XMP packet.

    Raises:
        ElementTree.ParseError: it is no XML.
    """
    packet = _PACKET.search(payload.decode("utf-8", "replace"))
    if packet is None or "<!DOCTYPE" in packet[0] or "<!ENTITY" in packet[0]:
        return
    for element in ElementTree.fromstring(packet[0]).iter():
        pairs = list(element.attrib.items())
        items = [item.text or "" for item in element.iter(_RDF_ITEM)]
        if isinstance(element.tag, str):
            pairs += [(element.tag, text) for text in items or [element.text or ""]]
        for name, text in pairs:
            space, _, local = name.lstrip("{").partition("}")
            field = _XMP_FIELDS.get(local, "") if space in _XMP_SPACES else ""
            if field and (value := clean(text)):
                yield Tag(field, value, "XMP")


def marker_names(payload: bytes, order: str) -> Iterator[Tag]:
    """Labels, notes and the texts of regions in a ``LIST`` chunk of kind ``adtl``."""
    for name, item in info_items(payload[4:], order):
        start = {b"labl": 4, b"note": 4, b"ltxt": 20}.get(name)
        if start is not None and (value := decode_text(item[start:])):
            yield Tag("marker", value, "cue")


def aiff_marker_names(payload: bytes) -> Iterator[Tag]:
    """Names of the markers in AIFF's ``MARK`` chunk."""
    position = 2
    while position + 7 <= len(payload):
        length = payload[position + 6]
        if value := decode_text(payload[position + 7 : position + 7 + length]):
            yield Tag("marker", value, "cue")
        position += 7 + length + (length + 1) % 2
