"""Puts a FLAC file together anew with other Vorbis comments; every other block and all frames stay.

Blocks as in RFC 9639, comments as in the Vorbis I specification, section 5.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import BinaryIO, NamedTuple

from foley_desktop.audio import flac, id3writer
from foley_desktop.audio.mutagen_tags import NAMED_FIELDS
from foley_desktop.audio.rewrite import Fingerprint, Piece, Rewritten, damaged, digest
from foley_desktop.audio.splice import Stretch, read_at
from foley_desktop.audio.tagfields import PLACES
from foley_desktop.errors import TagWriteError

_COMMENTS, _PADDING = 4, 1
_VENDOR = b"Foley Desktop"
_LARGEST_BLOCK = 0xFFFFFF


class Block(NamedTuple):
    """A metadata block: its type, and where its payload lies."""

    kind: int
    payload: Stretch


def rewrite(file: BinaryIO, start: int, size: int, changes: Mapping[str, str]) -> Rewritten:
    """A FLAC file with the fields of ``changes`` set.

    Raises:
        TagWriteError: its blocks do not lead to its sound.
    """
    blocks, frames = _blocks(file, start, size)
    pieces: list[Piece] = [b"fLaC"]
    comments = [block for block in blocks if block.kind == _COMMENTS]
    kept: list[tuple[int, Piece]] = []
    for block in blocks:
        if block.kind != _COMMENTS:
            kept.append((block.kind, block.payload))
        elif block is comments[0]:
            payload = edited(read_at(file, *block.payload), changes)
            kept.append((_COMMENTS, payload))
    if not comments:
        kept.insert(1, (_COMMENTS, edited(b"", changes)))
    for number, (kind, part) in enumerate(kept):
        length = part.size if isinstance(part, Stretch) else len(part)
        if length > _LARGEST_BLOCK:
            raise TagWriteError("unsupported", "The texts are longer than a FLAC file can hold.")
        last = 0x80 if number == len(kept) - 1 else 0
        pieces += [bytes((kind | last,)) + length.to_bytes(3, "big"), part]
    return Rewritten([*in_front(file, start, changes), *pieces, frames])


def in_front(file: BinaryIO, start: int, changes: Mapping[str, str]) -> list[Piece]:
    """ID3 tags that some tool put before the file's real beginning: edited where they can be."""
    if not start:
        return []
    try:
        return [id3writer.edited(read_at(file, 0, start), changes, add=False)]
    except id3writer.Id3Error:
        return [Stretch(0, start)]


def fingerprint(file: BinaryIO, start: int, size: int) -> Fingerprint:
    """What must be the same before and after; see :mod:`foley_desktop.audio.rewrite`."""
    blocks, frames = _blocks(file, start, size)
    found = Fingerprint(digest(file, frames))
    for block in blocks:
        if block.kind not in (_COMMENTS, _PADDING):
            found.others.append((bytes((block.kind,)), digest(file, block.payload)))
    return found


def _blocks(file: BinaryIO, start: int, size: int) -> tuple[list[Block], Stretch]:
    layout = flac.read_layout(file, start, size)
    if not layout.sane:
        raise damaged("its metadata blocks do not fit together")
    blocks, position = [], start + 4
    while True:
        head = read_at(file, position, 4)
        length = int.from_bytes(head[1:4], "big")
        blocks.append(Block(head[0] & 0x7F, Stretch(position + 4, length)))
        position += 4 + length
        if head[0] & 0x80:
            return blocks, Stretch(position, size - position)


def edited(payload: bytes, changes: Mapping[str, str]) -> bytes:
    """A comment block (as in FLAC and, behind its mark, in Ogg) with the fields set.

    Comments that are not edited stay byte for byte, whatever their encoding.

    Raises:
        TagWriteError: the block's lengths make no sense.
    """
    vendor, comments = _parsed(payload) if payload else (_VENDOR, [])
    kept = [c for c in comments if NAMED_FIELDS.get(_name(c), "") not in changes]
    for field, value in changes.items():
        if value and field in PLACES:
            kept.append(f"{PLACES[field].vorbis}={value}".encode("utf-8", "replace"))
    return b"".join(
        (
            struct.pack("<I", len(vendor)) + vendor,
            struct.pack("<I", len(kept)),
            *(struct.pack("<I", len(comment)) + comment for comment in kept),
        )
    )


def comment_end(payload: bytes) -> int:
    """Where a comment block ends: in Ogg more may stand behind it (RFC 7845, section 5.2)."""
    vendor, comments = _parsed(payload)
    return 8 + len(vendor) + sum(4 + len(comment) for comment in comments)


def _name(comment: bytes) -> str:
    return comment.partition(b"=")[0].decode("latin-1").strip().lower()


def _parsed(payload: bytes) -> tuple[bytes, list[bytes]]:
    comments: list[bytes] = []
    try:
        length = struct.unpack_from("<I", payload)[0]
        vendor, position = payload[4 : 4 + length], 4 + length
        count = struct.unpack_from("<I", payload, position)[0]
        position += 4
        for _ in range(count):
            length = struct.unpack_from("<I", payload, position)[0]
            position += 4
            if position + length > len(payload):
                raise struct.error("a comment is cut off")
            comments.append(payload[position : position + length])
            position += length
    except struct.error as error:
        raise damaged("its comments are cut off") from error
    return vendor, comments
