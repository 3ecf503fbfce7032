"""Where each field of ours stands in each kind of tag: one table that reading and writing agree on.

A field is written to the place that other librarians and editors read it from, and into every further
place of the file that holds it already, so that no old value survives beside the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Places(NamedTuple):
    """Names of one field; an empty one means that the kind of tag has no place of its own for it.

    ``info`` is a RIFF INFO id, ``ixml`` an element of iXML, ``id3`` a text frame (``TXXX:NAME`` for a free
    one), ``vorbis`` a comment's name, ``aiff`` a text chunk.
    """

    info: bytes
    ixml: str
    id3: str
    vorbis: str
    aiff: bytes


def _free(name: str, info: bytes = b"", vorbis: str = "") -> Places:
    return Places(info, name, f"TXXX:{name}", vorbis or name, b"")


PLACES: Mapping[str, Places] = {
    "title": Places(b"INAM", "FXNAME", "TIT2", "TITLE", b"NAME"),
    "description": Places(b"ICMT", "DESCRIPTION", "COMM", "DESCRIPTION", b"ANNO"),
    "keywords": _free("KEYWORDS", b"IKEY"),
    "category": _free("CATEGORY"),
    "subcategory": _free("SUBCATEGORY"),
    "catid": _free("CATID"),
    "category_full": _free("CATEGORYFULL"),
    "user_category": _free("USERCATEGORY"),
    "vendor_category": _free("VENDORCATEGORY"),
    "comment": Places(b"", "NOTES", "COMM:note", "NOTES", b""),
    "artist": Places(b"IART", "ARTIST", "TPE1", "ARTIST", b"AUTH"),
    "designer": _free("DESIGNER"),
    "recordist": _free("RECORDIST"),
    "manufacturer": _free("MANUFACTURER"),
    "library": _free("LIBRARY"),
    "album": Places(b"IPRD", "", "TALB", "ALBUM", b""),
    "genre": Places(b"IGNR", "GENRE", "TCON", "GENRE", b""),
    "mood": _free("MOOD"),
    "location": _free("LOCATION"),
    "microphone": _free("MICROPHONE"),
    "perspective": _free("PERSPECTIVE"),
    "source": _free("SOURCE"),
    "creator": _free("CREATORID"),
    "source_id": _free("SOURCEID"),
    "user_data": _free("USERDATA"),
    "project": _free("PROJECT"),
    "scene": _free("SCENE"),
    "take": _free("TAKE"),
    "tape": _free("TAPE"),
    "show": _free("SHOW"),
    "url": _free("URL"),
    "originator": _free("", b"ISRC", "ORIGINATOR")._replace(id3="TXXX:ORIGINATOR"),
    "copyright": Places(b"ICOP", "RIGHTS", "TCOP", "COPYRIGHT", b"(c) "),
}
"""Every field that can be written, by our name for it."""

WRITABLE = tuple(PLACES)

BEXT_FIELDS: Mapping[str, tuple[int, int]] = {"description": (0, 256), "originator": (256, 32)}
"""Offset and width in bytes of the fields that a ``bext`` chunk has room for (EBU Tech 3285)."""

TOP_LEVEL_IXML = frozenset(["PROJECT", "SCENE", "TAKE", "TAPE"])
"""Elements that the iXML specification puts directly below the root; all others belong to ``USER``."""


def fitted(text: str, size: int) -> bytes:
    """``text`` in UTF-8, cut at a character boundary to at most ``size`` bytes."""
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore").encode("utf-8")
