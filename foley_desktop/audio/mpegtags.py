"""Puts an MP3 file together anew with other tags around its frames.

ID3v2 stands in front; an APEv2 tag and an ID3v1 tag may stand behind, and are kept in step where they do.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import BinaryIO, NamedTuple

from foley_desktop.audio import id3writer
from foley_desktop.audio.rewrite import Fingerprint, Piece, Rewritten, damaged, digest
from foley_desktop.audio.splice import Stretch, read_at

_V1_BYTES = 128
_APE_BYTES = 32


class Layout(NamedTuple):
    """Where an MP3 file's parts lie. ``front`` is the first ID3v2 tag; all but ``sound`` may be empty."""

    front: Stretch
    sound: Stretch
    ape: Stretch
    v1: Stretch


def rewrite(file: BinaryIO, start: int, size: int, changes: Mapping[str, str]) -> Rewritten:
    """An MP3 file with the fields of ``changes`` set.

    Raises:
        TagWriteError: one of its tags cannot be read.
    """
    layout = _layout(file, size)
    try:
        pieces: list[Piece] = [id3writer.edited(read_at(file, *layout.front), changes), layout.sound]
        if layout.ape.size:
            pieces.append(id3writer.edited_ape(read_at(file, *layout.ape), changes))
        if layout.v1.size:
            pieces.append(id3writer.edited_v1(read_at(file, *layout.v1), changes))
    except id3writer.Id3Error as error:
        raise damaged("one of its tags is broken") from error
    return Rewritten(pieces)


def fingerprint(file: BinaryIO, start: int, size: int) -> Fingerprint:
    """What must be the same before and after; see :mod:`foley_desktop.audio.rewrite`."""
    return Fingerprint(digest(file, _layout(file, size).sound))


def _layout(file: BinaryIO, size: int) -> Layout:
    front, end = _front(file, size), size
    v1 = Stretch(end, 0)
    if end - front >= _V1_BYTES and read_at(file, end - _V1_BYTES, 3) == b"TAG":
        end -= _V1_BYTES
        v1 = Stretch(end, _V1_BYTES)
    ape = _ape(file, front, end)
    return Layout(Stretch(0, front), Stretch(front, ape.start - front), ape, v1)


def _front(file: BinaryIO, size: int) -> int:
    """The offset behind the first ID3v2 tag (ID3v2.4 structure, section 3); 0 without one."""
    head = read_at(file, 0, 10)
    if len(head) < 10 or head[:3] != b"ID3" or head[3] == 0xFF or max(head[6:10]) > 0x7F:
        return 0
    length = head[6] << 21 | head[7] << 14 | head[8] << 7 | head[9]
    end = 10 + length + (10 if head[5] & 0x10 else 0)
    if end > size:
        raise damaged("its tag promises more than is there")
    return end


def _ape(file: BinaryIO, begin: int, end: int) -> Stretch:
    """The APEv2 tag that ends at ``end``, by its footer."""
    footer = read_at(file, end - _APE_BYTES, _APE_BYTES) if end - begin >= _APE_BYTES else b""
    if footer[:8] != b"APETAGEX":
        return Stretch(end, 0)
    size, _, flags = struct.unpack_from("<III", footer, 12)
    size += _APE_BYTES if flags & 0x80000000 else 0
    if size > end - begin:
        raise damaged("its tag promises more than is there")
    return Stretch(end - size, size)
