"""Ogg streams that libsndfile does not read whole: chained links, and Opus headers without a rate.

Pages and their checksum as in RFC 3533, the Opus header as in RFC 7845.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import BinaryIO

from foley_desktop.audio.splice import Stretch, read_at

_SCAN_BYTES = 1 << 20
_OPUS_RATES = (8000, 12000, 16000, 24000, 48000)
_MAX_LINKS = 512


@dataclass(frozen=True, slots=True)
class Link:
    """One stream of a chain: the corrected pieces of the file that hold it."""

    pieces: tuple[bytes | Stretch, ...]
    repaired: bool


@dataclass(frozen=True, slots=True)
class OggLayout:
    """The links of an Ogg file in order; ``video`` says that a picture stream is multiplexed in."""

    links: tuple[Link, ...]
    truncated: bool
    video: bool


def read_layout(file: BinaryIO, start: int, size: int) -> OggLayout:
    """Splits an Ogg file where a stream begins after another has ended. Never raises for its content."""
    firsts = _first_pages(file, start, size)
    groups = _chain(file, firsts)
    ends = [*(group[0] for group in groups[1:]), size]
    links = tuple(_link(file, group[0], end) for group, end in zip(groups, ends, strict=True))
    video = any(_is_video(file, page) for page in firsts)
    return OggLayout(links, truncated=_cut_off(file, start, size), video=video)


def _first_pages(file: BinaryIO, start: int, size: int) -> list[int]:
    """Offsets of all pages that begin a stream (RFC 3533: header type flag 0x02), checksum correct."""
    found: list[int] = []
    position = start
    while position < size and len(found) < _MAX_LINKS:
        stretch = read_at(file, position, _SCAN_BYTES + 5)
        at = stretch.find(b"OggS\0")
        while 0 <= at < _SCAN_BYTES:
            if at + 5 < len(stretch) and stretch[at + 5] & 2 and _begins(file, position + at, start):
                found.append(position + at)
            at = stretch.find(b"OggS\0", at + 1)
        position += _SCAN_BYTES
    return found or [start]


def _begins(file: BinaryIO, offset: int, start: int) -> bool:
    """Whether a page is whole and, except for the file's very first one, its checksum correct."""
    page = _page(file, offset)
    return page is not None and (offset == start or _checksum_holds(page))


def _chain(file: BinaryIO, firsts: list[int]) -> list[list[int]]:
    """Groups first pages: those that follow one another directly are one multiplexed link."""
    groups: list[list[int]] = []
    expected = -1
    for offset in firsts:
        if offset == expected:
            groups[-1].append(offset)
        else:
            groups.append([offset])
        expected = offset + len(_page(file, offset) or b"")
    return groups


def _link(file: BinaryIO, start: int, end: int) -> Link:
    whole = Stretch(start, end - start)
    page = _page(file, start)
    if page is None:
        return Link((whole,), repaired=False)
    body = 27 + page[26]
    if page[body : body + 8] != b"OpusHead" or len(page) < body + 16:
        return Link((whole,), repaired=False)
    if struct.unpack_from("<I", page, body + 12)[0] in (*_OPUS_RATES, 44100):
        return Link((whole,), repaired=False)
    # Opus always decodes at 48 kHz; the field is a remark about the source that libsndfile insists on.
    fixed = bytearray(page)
    struct.pack_into("<I", fixed, body + 12, 48000)
    struct.pack_into("<I", fixed, 22, 0)
    struct.pack_into("<I", fixed, 22, _checksum(bytes(fixed)))
    return Link((bytes(fixed), Stretch(start + len(page), end - start - len(page))), repaired=True)


def _page(file: BinaryIO, offset: int) -> bytes | None:
    """A whole page, header and body (at most 65,307 bytes); None if it is cut off or none is there."""
    head = read_at(file, offset, 27)
    if len(head) < 27 or head[:5] != b"OggS\0":
        return None
    table = read_at(file, offset + 27, head[26])
    length = 27 + len(table) + sum(table)
    page = read_at(file, offset, length)
    return page if len(table) == head[26] and len(page) == length else None


def _is_video(file: BinaryIO, offset: int) -> bool:
    page = _page(file, offset)
    if page is None:
        return False
    body = page[27 + page[26] :]
    return body.startswith((b"\x80theora", b"BBCD\0", b"\x01video"))


def _cut_off(file: BinaryIO, start: int, size: int) -> bool:
    """Whether the file ends inside a page."""
    window = max(start, size - 2 * 65307)
    tail = read_at(file, window, size - window)
    at = len(tail)
    while (at := tail.rfind(b"OggS\0", 0, at)) >= 0:
        if at + 27 > len(tail):
            return True
        count = tail[at + 26]
        table = tail[at + 27 : at + 27 + count]
        if len(table) < count or at + 27 + count + sum(table) > len(tail):
            # A page's body may hold the four letters by chance: then an outer page ends in the file.
            if not _ends_inside_whole_page(tail, at):
                return True
            continue
        return False
    return True


def _ends_inside_whole_page(tail: bytes, suspect: int) -> bool:
    at = suspect
    while (at := tail.rfind(b"OggS\0", 0, at)) >= 0:
        count = tail[at + 26]
        end = at + 27 + count + sum(tail[at + 27 : at + 27 + count])
        if end == len(tail):
            return True
        if end <= suspect:
            return False
    return False


def _make_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = (value << 1 ^ 0x04C11DB7 if value & 0x80000000 else value << 1) & 0xFFFFFFFF
        table.append(value)
    return tuple(table)


_TABLE = _make_table()


def _checksum(page: bytes) -> int:
    """CRC-32 of RFC 3533: polynomial 0x04C11DB7, not reflected, initial value 0."""
    value = 0
    for byte in page:
        value = (value << 8 & 0xFFFFFFFF) ^ _TABLE[value >> 24 ^ byte]
    return value


def _checksum_holds(page: bytes) -> bool:
    stated = struct.unpack_from("<I", page, 22)[0]
    return _checksum(page[:22] + b"\0\0\0\0" + page[26:]) == stated
