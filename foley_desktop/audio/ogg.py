"""Ogg streams that libsndfile does not read whole: chained links, and Opus headers without a rate.

Pages and their checksum as in RFC 3533, the Opus header as in RFC 7845.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import BinaryIO

from foley_desktop.audio.splice import Stretch, read_at

_SCAN_BYTES = 1 << 20
_OPUS_RATES = (44100, 48000)
"""Stated rates at which libsndfile decodes at 48 kHz; at others it refuses, or throws the treble away."""
_MAX_PAGE = 27 + 255 + 255 * 255
_MAX_FIRST_PAGE = 1024
_MAX_CANDIDATES = 5000
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
    tried = 0
    position = start
    while position < size and len(found) < _MAX_LINKS and tried < _MAX_CANDIDATES:
        stretch = read_at(file, position, _SCAN_BYTES + 5)
        at = stretch.find(b"OggS\0")
        while 0 <= at < _SCAN_BYTES and tried < _MAX_CANDIDATES:
            tried += 1 if at + 5 < len(stretch) and stretch[at + 5] & 2 else 0
            if at + 5 < len(stretch) and stretch[at + 5] & 2 and _begins(file, position + at, start):
                found.append(position + at)
            at = stretch.find(b"OggS\0", at + 1)
        position += _SCAN_BYTES
    return found or [start]


def _begins(file: BinaryIO, offset: int, start: int) -> bool:
    """Whether a whole page is here and, but for the file's first one, small and of correct checksum."""
    page = _page(file, offset)
    if page is None or offset == start:
        return page is not None
    return len(page) <= _MAX_FIRST_PAGE and _checksum_holds(page)


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
    """The pieces of one stream, its first and its last page corrected where they need it."""
    first = _page(file, start)
    body = first[27 + first[26] :] if first else b""
    head = _with_rate(first, len(first) - len(body)) if first and body.startswith(b"OpusHead") else None
    tail_at, tail = _tail(file, start, end, needs_end=body.startswith(b"OpusHead"))
    middle = start + len(first) if first and head else start
    if tail_at < middle or (head is None and tail is None):
        return Link((Stretch(start, end - start),), repaired=False)
    pieces = (head or b"", Stretch(middle, tail_at - middle), tail or b"")
    return Link(pieces, repaired=True)


def _with_rate(page: bytes, body: int) -> bytes | None:
    """An Opus header page that states 48 kHz, if libsndfile would not decode at it for what is stated.

    Opus always decodes at 48 kHz; the field is a mere remark about the source.
    """
    if len(page) < body + 16 or struct.unpack_from("<I", page, body + 12)[0] in _OPUS_RATES:
        return None
    return _sealed(page[: body + 12] + struct.pack("<I", 48000) + page[body + 16 :])


def _tail(file: BinaryIO, start: int, end: int, *, needs_end: bool) -> tuple[int, bytes | None]:
    """The offset of a stream's last page and what has to stand there instead; None if it is fine.

    A page that is cut off keeps its whole packets. ``needs_end`` adds a missing end-of-stream flag:
    without it libsndfile drops the last packet of an Opus stream.
    """
    at = _last_page(file, start, end)
    if at is None:
        return end, None
    data = read_at(file, at, end - at)
    count = data[26] if len(data) > 26 else 0
    table = data[27 : 27 + count]
    body = data[27 + count :]
    if count and len(table) == count and sum(table) <= len(body):
        if data[5] & 4 or not needs_end:
            return end, None
        whole = 27 + count + sum(table)
        return at, _sealed(data[:5] + bytes((data[5] | 4,)) + data[6:whole])
    packets = _whole_packets(table, body)
    if not packets:
        return at, b""
    kept = sum(len(packet) // 255 + 1 for packet in packets)
    granule = data[6:14]
    if needs_end:
        before = _granule_before(file, start, at)
        granule = struct.pack("<q", before + sum(_opus_samples(packet) for packet in packets))
    head = data[:5] + bytes((data[5] | 4,)) + granule + data[14:26] + bytes((kept,)) + table[:kept]
    return at, _sealed(head + b"".join(packets))


def _whole_packets(table: bytes, body: bytes) -> list[bytes]:
    """The packets of a page that end within the bytes present."""
    packets: list[bytes] = []
    begin = end = 0
    for lacing in table:
        end += lacing
        if end > len(body):
            break
        if lacing < 255:
            packets.append(body[begin:end])
            begin = end
    return packets


def _granule_before(file: BinaryIO, start: int, at: int) -> int:
    """The sample count at the end of the page before ``at``; 0 if only headers stand there."""
    previous = _last_page(file, start, at)
    if previous is None or previous >= at:
        return 0
    granule = struct.unpack("<q", read_at(file, previous + 6, 8))[0]
    return granule if 0 <= granule < 1 << 48 else 0


def _opus_samples(packet: bytes) -> int:
    """Samples at 48 kHz that an Opus packet decodes to, by its first bytes (RFC 6716, section 3.1)."""
    if not packet:
        return 0
    config, code = packet[0] >> 3, packet[0] & 3
    if config < 12:
        samples = (480, 960, 1920, 2880)[config & 3]
    elif config < 16:
        samples = (480, 960)[config & 1]
    else:
        samples = (120, 240, 480, 960)[config & 3]
    frames = (1, 2, 2, packet[1] & 0x3F if len(packet) > 1 else 0)[code]
    return samples * frames


def _last_page(file: BinaryIO, start: int, end: int) -> int | None:
    """Where the last page of a stream begins, whole or not: pages are followed to the end."""
    window = max(start, end - 2 * _MAX_PAGE)
    data = read_at(file, window, end - window)
    candidate = data.find(b"OggS\0")
    dead: set[int] = set()
    while candidate >= 0:
        at = candidate
        while at not in dead:
            dead.add(at)
            table = data[at + 27 : at + 27 + data[at + 26]] if at + 26 < len(data) else b""
            following = at + 27 + len(table) + sum(table)
            if following + 27 > len(data):
                return window + at
            if data[following : following + 5] != b"OggS\0":
                break
            at = following
        candidate = data.find(b"OggS\0", candidate + 1)
    return None


def _sealed(page: bytes) -> bytes:
    """A page with its checksum made right."""
    blank = page[:22] + b"\0\0\0\0" + page[26:]
    return page[:22] + struct.pack("<I", _checksum(blank)) + page[26:]


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
    at = _last_page(file, start, size)
    if at is None:
        return False
    data = read_at(file, at, _MAX_PAGE)
    table = data[27 : 27 + data[26]] if len(data) > 26 else b""
    return len(data) < 27 or len(table) < data[26] or 27 + len(table) + sum(table) > len(data)


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
