"""ID3 (all versions), APEv2, MP4 and ASF tags through mutagen, as our own fields.

mutagen is imported only when such a tag is met. Whatever it raises on a damaged tag costs that tag.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from foley_desktop.audio.tagfields import PLACES
from foley_desktop.audio.tagtext import clean, repair_latin
from foley_desktop.models import Tag

ID3_FIELDS = {
    "TIT1": "grouping",
    "TIT2": "title",
    "TIT3": "subtitle",
    "TPE1": "artist",
    "TALB": "album",
    "TCON": "genre",
    "TDRC": "date",
    "TCOP": "copyright",
    "TKWD": "keywords",
    "TCAT": "category",
    "TDES": "description",
    "TOWN": "library",
    "TPUB": "publisher",
    "TCOM": "designer",
    "TENC": "encoded by",
    "TSSE": "software",
}
NAMED_FIELDS = {
    "title": "title",
    "description": "description",
    "comment": "comment",
    "keywords": "keywords",
    "keyword": "keywords",
    "tags": "keywords",
    "category": "category",
    "subcategory": "subcategory",
    "catid": "catid",
    "genre": "genre",
    "artist": "artist",
    "author": "artist",
    "album": "album",
    "date": "date",
    "year": "date",
    "copyright": "copyright",
    "publisher": "publisher",
    "library": "library",
    "originator": "originator",
    "microphone": "microphone",
    "location": "location",
    "fxname": "title",
    **{places.vorbis.lower(): field for field, places in PLACES.items()},
}
_MP4_FIELDS = {
    "\xa9nam": "title",
    "\xa9cmt": "comment",
    "desc": "description",
    "ldes": "description",
    "keyw": "keywords",
    "\xa9gen": "genre",
    "\xa9ART": "artist",
    "\xa9alb": "album",
    "\xa9day": "date",
    "\xa9grp": "grouping",
    "catg": "category",
    "cprt": "copyright",
}
_ASF_FIELDS = {
    "Title": "title",
    "Author": "artist",
    "Description": "description",
    "Copyright": "copyright",
    "WM/AlbumTitle": "album",
    "WM/Genre": "genre",
    "WM/Category": "category",
    "WM/Year": "date",
}
PRIVATE_COMMENTS = ("iTun", "c0", "Songs-DB", "MusicMatch")
"""Descriptions of ID3 comments in which players keep numbers of their own."""


def read_id3(payload: bytes) -> Iterator[Tag]:
    """The tags of an ID3v2 tag in memory that begins with ``ID3``."""
    yield from _id3(io.BytesIO(payload), load_v1=False)


def read_id3_file(file: BinaryIO) -> Iterator[Tag]:
    """ID3v2 at a file's beginning, or ID3v1 at its end."""
    file.seek(0)
    yield from _id3(file, load_v1=True)


def _id3(file: BinaryIO, *, load_v1: bool) -> Iterator[Tag]:
    import mutagen.id3

    try:
        found = mutagen.id3.ID3(fileobj=file, load_v1=load_v1)
    except Exception:
        return
    tags: list[Tag] = []
    for frame in list(found.values()):
        try:
            tags.extend(_frame(frame))
        except Exception:  # A frame that mutagen read but cannot show.
            continue
    # A description also stands in the comment, where every player looks; it is no comment of its own.
    described = {tag.value for tag in tags if tag.field == "description"}
    said = {tag.value for tag in tags if tag.field in ("description", "comment")}
    shortened = {short for value in said for short in _in_v1(value) if short != value}
    yield from (tag for tag in tags if tag.field != "comment" or tag.value not in described | shortened)


def _in_v1(value: str) -> Iterator[str]:
    """What is left of a text in the comment of ID3v1: Latin-1, 30 bytes, or 28 where a track stands there."""
    latin = value.encode("latin-1", "replace").decode("latin-1")
    for size in (28, 30):
        yield clean(latin[:size])


def _frame(frame: Any) -> Iterator[Tag]:
    name = frame.FrameID
    if name == "COMM":
        field = "" if frame.desc.startswith(PRIVATE_COMMENTS) else "comment"
    elif name == "TXXX":
        field = NAMED_FIELDS.get(frame.desc.strip().lower(), "")
    else:
        field = ID3_FIELDS.get(name, "")
    if not field:
        return
    values = frame.genres if name == "TCON" else frame.text
    for value in values:
        text = str(value)
        if frame.encoding == 0:
            text = repair_latin(text)
        if text := clean(text):
            yield Tag(field, text, "ID3")


def read_ape(file: BinaryIO) -> Iterator[Tag]:
    """An APEv2 tag at a file's end."""
    import mutagen.apev2

    try:
        file.seek(0)
        found = mutagen.apev2.APEv2(fileobj=file)
        items = [(key, str(value)) for key, value in found.items() if value.kind == 0]
    except Exception:
        return
    yield from named(((key, value.replace("\0", " / ")) for key, value in items), "APEv2")


def read_mp4(file: BinaryIO) -> Iterator[Tag]:
    """iTunes-style metadata of an MPEG-4 file."""
    import mutagen.mp4

    yield from _mapped(lambda: mutagen.mp4.MP4(fileobj=file).tags, _MP4_FIELDS, "MP4", file)


def read_asf(file: BinaryIO) -> Iterator[Tag]:
    """Metadata of a Windows Media file."""
    import mutagen.asf

    yield from _mapped(lambda: mutagen.asf.ASF(fileobj=file).tags, _ASF_FIELDS, "ASF", file)


def _mapped(load: Any, fields: dict[str, str], source: str, file: BinaryIO) -> Iterator[Tag]:
    try:
        file.seek(0)
        found = load() or {}
        items = [(key, value) for key in fields for value in found.get(key, ())]
    except Exception:
        return
    for key, value in items:
        if text := clean(str(value)):
            yield Tag(fields[key], text, source)


def named(pairs: Any, source: str) -> Iterator[Tag]:
    """Tags from free ``(name, text)`` pairs, as Vorbis comments and APEv2 hold them."""
    for name, text in pairs:
        field = NAMED_FIELDS.get(name.strip().lower())
        if field and (value := clean(text)):
            yield Tag(field, value, source)
