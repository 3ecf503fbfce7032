"""ID3 (all versions), APEv2, MP4 and ASF tags through mutagen, as our own fields.

mutagen is imported only when such a tag is met. Whatever it raises on a damaged tag costs that tag.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from foley_desktop.audio.tagfields import PLACES
from foley_desktop.audio.tagtext import clean, decode_text, repair_latin
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
    "TPE2": "band",
    "TPE3": "conductor",
    "TPE4": "remixer",
    "TEXT": "lyricist",
    "TOPE": "original artist",
    "TOAL": "original album",
    "TMOO": "mood",
    "TLAN": "language",
    "TSST": "part",
    "TMED": "medium",
    "TRCK": "track",
    "USLT": "lyrics",
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
    **{field: field for field in PLACES},
    **{places.vorbis.lower(): field for field, places in PLACES.items()},
}
"""Our field for a free name in lower case; see :func:`field_named` for all others."""

_NO_WORDS = re.compile(
    r"(?:replaygain|musicbrainz|acoustid|r128|itun|itunes|accurate|cover ?art|metadata_block|mp3gain|discid"
    r"|waveformatextensible|major_brand|minor_version|compatible_brands|encoder|encoded|cuesheet|rating"
    r"|bpm|length|songs-db|id3v2_priv|smpte|handler_name|creation_time|coding_history|umid|time_reference)"
    r"|[^a-z]+\Z",
    re.IGNORECASE,
)
"""Names under which programs keep numbers, pictures and notes to themselves."""

_LONGEST_NAME = 40
_CODED = re.compile(r"[!-~]{120}")
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
    "\xa9wrt": "designer",
    "aART": "band",
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
    "WM/Composer": "designer",
    "WM/Mood": "mood",
    "WM/Keywords": "keywords",
    "WM/SubTitle": "subtitle",
    "WM/Publisher": "publisher",
}
PRIVATE_COMMENTS = ("iTun", "c0", "Songs-DB", "MusicMatch")
"""Descriptions of ID3 comments in which players keep numbers of their own."""


def read_id3(payload: bytes) -> Iterator[Tag]:
    """The tags of an ID3v2 tag in memory that begins with ``ID3``, and that may state too large a size."""
    yield from _id3(io.BytesIO(bounded(payload)), load_v1=False)


def bounded(payload: bytes) -> bytes:
    """An ID3v2 tag whose header states no more than is there."""
    shifts = (21, 14, 7, 0)
    stated = sum((byte & 0x7F) << shift for byte, shift in zip(payload[6:10], shifts, strict=False))
    present = len(payload) - 10
    if not 0 < present < stated:
        return payload
    return payload[:6] + bytes(present >> shift & 0x7F for shift in shifts) + payload[10:]


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
        field = field_named(frame.desc)
    else:
        field = ID3_FIELDS.get(name, "")
    if not field:
        return
    values = frame.genres if name == "TCON" else [frame.text] if name == "USLT" else frame.text
    for value in values:
        text = str(value)
        if frame.encoding == 0:
            text = repair_latin(text)
        text = clean(text)
        if text and not (name == "TXXX" and _is_data(frame.desc, text)):
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

    found: dict[str, Any] = {}

    def load() -> Any:
        found.update(mutagen.mp4.MP4(fileobj=file).tags or {})
        return found

    yield from _mapped(load, _MP4_FIELDS, "MP4", file)
    # Names of one's own: "----:com.apple.iTunes:KEYWORDS".
    free = [(key.rpartition(":")[2], values) for key, values in found.items() if key.startswith("----:")]
    pairs = [(name, bytes(value)) for name, values in free for value in values]
    yield from named(((name, decode_text(value)) for name, value in pairs), "MP4")


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
        field = field_named(name)
        if field and (value := clean(text)) and not _is_data(name, value):
            yield Tag(field, value, source)


def _is_data(name: str, value: str) -> bool:
    """Whether something stands under a name of its own that is coded data rather than words."""
    return clean(name).lower() not in NAMED_FIELDS and bool(_CODED.match(value))


def field_named(name: str) -> str:
    """Our field for a free name: a known one, or the name itself; "" where programs keep no words."""
    name = clean(name).lower()
    known = NAMED_FIELDS.get(name)
    if known is not None:
        return known
    return "" if not name or len(name) > _LONGEST_NAME or _NO_WORDS.match(name) else name.replace("_", " ")
