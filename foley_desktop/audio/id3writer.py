"""Makes ID3v2 tags (and their old companions ID3v1 and APEv2) with some fields changed, in memory.

Frames that are not edited are kept as they were, unknown ones too, and so is the version of the tag. A
tag that mutagen cannot read whole is not touched: writing it anew would lose the rest of it.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from foley_desktop.audio.mutagen_tags import ID3_FIELDS, NAMED_FIELDS, PRIVATE_COMMENTS, bounded
from foley_desktop.audio.tagfields import PLACES

NOTE = "note"
"""What marks a comment that is not the description."""

_PADDING = 512
_UTF16, _UTF8 = 1, 3


class Id3Error(ValueError):
    """A tag that is there and cannot be edited without loss."""


def edited(payload: bytes, changes: Mapping[str, str], *, add: bool = True) -> bytes:
    """An ID3v2 tag with the fields of ``changes`` set, or taken out where the value is empty.

    Args:
        payload: The tag as it is, from ``ID3`` on; empty for a new one.
        add: False changes only fields that the tag holds already.

    Raises:
        Id3Error: the tag cannot be read whole.
    """
    tag, version = _load(payload)
    kept = {key: frame for key, frame in tag.items() if _field(frame) not in changes}
    held = {_field(frame) for frame in tag.values()}
    for key in list(tag.keys()):
        if key not in kept and not _is_note(tag[key], changes):
            del tag[key]
    for field, value in changes.items():
        if value and field in PLACES and (add or field in held):
            for frame in _frames(field, value, version):
                tag.add(frame)
    if not tag and not tag.unknown_frames:
        return b""
    target = io.BytesIO()
    tag.save(target, v1=0, v2_version=version, padding=lambda info: _PADDING)
    made = target.getvalue()
    again, _ = _load(made)
    if {key: repr(frame) for key, frame in again.items() if key in kept} != {
        key: repr(frame) for key, frame in kept.items()
    } or again.unknown_frames != tag.unknown_frames:
        raise Id3Error("frames that were not edited would change")
    return made


def _load(payload: bytes) -> tuple[Any, int]:
    """The tag, and the version it is written in: 3 for ID3v2.3, 4 for ID3v2.4."""
    import mutagen.id3

    tag = mutagen.id3.ID3()
    if not payload:
        return tag, 4
    version, old = (4 if payload[3:4] == b"\x04" else 3), payload[3:4] == b"\x02"
    try:
        # Frames of 2.3 and 2.4 are taken as they are; those of 2.2 have to be translated.
        tag.load(fileobj=io.BytesIO(bounded(payload)), translate=old, v2_version=version, load_v1=False)
        if old:
            tag.update_to_v23()
    except Exception as error:
        raise Id3Error(str(error)) from error
    return tag, version


def _field(frame: Any) -> str:
    """Our field that a frame holds, or "". A note is told from a description by its mark."""
    name = frame.FrameID
    if name == "COMM":
        if frame.desc.startswith(PRIVATE_COMMENTS):
            return ""
        return "comment" if frame.desc == NOTE else "description"
    if name == "TXXX":
        return NAMED_FIELDS.get(frame.desc.strip().lower(), "")
    if name in ("TYER", "TDAT", "TIME"):
        return ""
    return ID3_FIELDS.get(name, "")


def _is_note(frame: Any, changes: Mapping[str, str]) -> bool:
    """Whether a comment of some other mark has to stay: only the plain one is the description."""
    return frame.FrameID == "COMM" and frame.desc not in ("", NOTE) and "description" in changes


def _frames(field: str, value: str, version: int) -> list[Any]:
    import mutagen.id3

    encoding = _UTF8 if version == 4 else _UTF16
    name = PLACES[field].id3
    if field == "description":
        # Twice: as the comment that players show, and by its own name, which cannot be mistaken.
        return [
            mutagen.id3.COMM(encoding=encoding, lang="eng", desc="", text=[value]),
            mutagen.id3.TXXX(encoding=encoding, desc="DESCRIPTION", text=[value]),
        ]
    if field == "comment":
        return [mutagen.id3.COMM(encoding=encoding, lang="eng", desc=NOTE, text=[value])]
    kind, _, free = name.partition(":")
    if free:
        return [mutagen.id3.TXXX(encoding=encoding, desc=free, text=[value])]
    return [getattr(mutagen.id3, kind)(encoding=encoding, text=[value])]


def edited_v1(payload: bytes, changes: Mapping[str, str]) -> bytes:
    """An ID3v1 tag (128 bytes from ``TAG`` on) with the fields changed that it has room for."""
    tag = bytearray(payload)
    for field, start, size in (("title", 3, 30), ("artist", 33, 30), ("album", 63, 30)):
        if field in changes:
            tag[start : start + size] = _latin(changes[field], size)
    if "description" in changes:
        # Version 1.1 keeps a track number behind a zero in the comment's last two bytes.
        size = 28 if tag[125] == 0 and tag[126] else 30
        tag[97 : 97 + size] = _latin(changes["description"], size)
    return bytes(tag)


def _latin(value: str, size: int) -> bytes:
    return value.encode("latin-1", "replace")[:size].ljust(size, b"\0")


def edited_ape(payload: bytes, changes: Mapping[str, str]) -> bytes:
    """An APEv2 tag with those fields changed that it holds already.

    Raises:
        Id3Error: the tag cannot be read.
    """
    import mutagen.apev2

    target = io.BytesIO(payload)
    try:
        tag = mutagen.apev2.APEv2(fileobj=target)
        for key in list(tag.keys()):
            field = NAMED_FIELDS.get(key.strip().lower(), "")
            stands_in = field == "comment" and "comment" not in changes and "description" not in tag
            if stands_in and "description" in changes:
                field = "description"
            if field in changes and tag[key].kind == 0:
                if changes[field]:
                    tag[key] = changes[field]
                else:
                    del tag[key]
        target = io.BytesIO()
        tag.save(fileobj=target)
    except Exception as error:
        raise Id3Error(str(error)) from error
    return target.getvalue()
