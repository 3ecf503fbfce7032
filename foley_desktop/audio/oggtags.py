"""Puts an Ogg file together anew with other comments in its first stream; all other packets stay.

Vorbis, Opus, Speex and FLAC in Ogg. Header packets are laid out on pages afresh; when that takes another
number of pages, the pages behind them are renumbered and sealed again. Pages as in RFC 3533.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import BinaryIO, NamedTuple

from foley_desktop.audio import flactags
from foley_desktop.audio.rewrite import Fingerprint, Piece, Rewritten, damaged, unsupported
from foley_desktop.audio.splice import Stretch, read_at

_HEADERS = ((b"\x01vorbis", 3), (b"OpusHead", 2), (b"Speex   ", 2))
"""How a stream's first packet begins, and how many header packets it has."""

_MOST_HEADERS = 16 << 20
_PAGE_SEGMENTS = 255
_BIT_SWAP = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


class Page(NamedTuple):
    """A page: where it lies, and its parts."""

    start: int
    head: bytes
    table: bytes
    body: bytes

    @property
    def end(self) -> int:
        return self.start + 27 + len(self.table) + len(self.body)

    @property
    def serial(self) -> bytes:
        return self.head[14:18]

    @property
    def ends_stream(self) -> bool:
        return bool(self.head[5] & 4)


class Headers(NamedTuple):
    """The first stream's header packets behind the first, and where their pages lie."""

    first: Page
    packets: list[bytes]
    pages: int
    end: int


def rewrite(file: BinaryIO, start: int, size: int, changes: Mapping[str, str]) -> Rewritten:
    """An Ogg file with the fields of ``changes`` set in its first stream.

    Raises:
        TagWriteError: the stream is of another kind, multiplexed, or its pages are damaged.
    """
    headers = _headers(file, start)
    packets = [_edited(headers.packets[0], changes), *headers.packets[1:]]
    pages = list(_paged(packets, headers.first))
    pieces: list[Piece] = [Stretch(start, headers.first.end - start), *pages]
    shift = len(pages) - headers.pages
    if not shift:
        pieces.append(Stretch(headers.end, size - headers.end))
        return Rewritten([*flactags.in_front(file, start, changes), *pieces])
    front = flactags.in_front(file, start, changes)
    return Rewritten(_Renumbered(file, [*front, *pieces], headers, size, shift))


class _Renumbered:
    """Pieces whose later pages are counted on by ``shift``. Can be gone through again, in bounded memory."""

    def __init__(self, file: BinaryIO, pieces: list[Piece], headers: Headers, size: int, shift: int) -> None:
        self._file, self._pieces, self._headers = file, pieces, headers
        self._size, self._shift = size, shift

    def __iter__(self) -> Iterator[Piece]:
        yield from self._pieces
        position, serial = self._headers.end, self._headers.first.serial
        while position < self._size:
            page = _page(self._file, position)
            if page is None:
                raise damaged("its pages are broken")
            if page.serial == serial:
                number = struct.unpack_from("<I", page.head, 18)[0] + self._shift
                head = page.head[:18] + struct.pack("<I", number & 0xFFFFFFFF) + page.head[22:]
                yield _sealed(head + page.table + page.body)
            else:
                yield Stretch(page.start, page.end - page.start)
            position = page.end
            if page.serial == serial and page.ends_stream:
                yield Stretch(position, self._size - position)
                return


def fingerprint(file: BinaryIO, start: int, size: int) -> Fingerprint:
    """What must be the same before and after; see :mod:`foley_desktop.audio.rewrite`.

    The sound is every packet but the comments, with the page flags and positions that go with them.
    """
    headers = _headers(file, start)
    sound = hashlib.blake2b(digest_size=16)
    sound.update(headers.first.body)
    for packet in headers.packets[1:]:
        sound.update(packet)
    position = headers.end
    while position < size:
        page = _page(file, position)
        if page is None:
            sound.update(b"loose")
            for block in iter(lambda: file.read(1 << 20), b""):
                sound.update(block)
            break
        # All of the head but the page's number and checksum.
        sound.update(page.head[:18] + page.head[26:] + page.table + page.body)
        position = page.end
        file.seek(position)
    return Fingerprint(sound.hexdigest())


def _headers(file: BinaryIO, start: int) -> Headers:
    first = _page(file, start)
    count = _header_count(first)
    if first is None or count is None:
        raise unsupported("this kind of Ogg")
    packets: list[bytes] = []
    pending, position, pages = b"", first.end, 0
    while len(packets) < count - 1:
        page = _page(file, position)
        if page is None or position - start > _MOST_HEADERS:
            raise damaged("its headers are cut off")
        if page.serial != first.serial:
            raise unsupported("multiplexed Ogg")
        pages, position = pages + 1, page.end
        offset = 0
        for lacing in page.table:
            pending += page.body[offset : offset + lacing]
            offset += lacing
            if lacing < 255:
                packets.append(pending)
                pending = b""
    if pending or len(packets) != count - 1:
        raise damaged("its sound begins on the page of its headers")
    return Headers(first, packets, pages, position)


def _header_count(first: Page | None) -> int | None:
    """Header packets of a stream by its first page, itself included; None for an unknown kind."""
    if first is None:
        return None
    if first.body.startswith(b"\x7fFLAC") and len(first.body) > 9:
        # The mapping gives the number of header packets behind this one; 0 leaves it open.
        behind = struct.unpack_from(">H", first.body, 7)[0]
        return behind + 1 if behind else None
    return next((count for mark, count in _HEADERS if first.body.startswith(mark)), None)


def _edited(packet: bytes, changes: Mapping[str, str]) -> bytes:
    """The comment packet anew, with its mark in front and whatever stood behind the comments."""
    for mark in (b"\x03vorbis", b"OpusTags"):
        if packet.startswith(mark):
            body = packet[len(mark) :]
            return mark + flactags.edited(body, changes) + body[flactags.comment_end(body) :]
    if packet[:1] in (b"\x04", b"\x84"):
        comments = flactags.edited(packet[4:], changes)
        return packet[:1] + len(comments).to_bytes(3, "big") + comments
    return flactags.edited(packet, changes) + packet[flactags.comment_end(packet) :]


def _paged(packets: list[bytes], first: Page) -> Iterator[bytes]:
    """Header packets on pages behind the first, position 0; -1 where no packet ends on a page."""
    lacings: list[int] = []
    for packet in packets:
        lacings += [255] * (len(packet) // 255) + [len(packet) % 255]
    data, offset, continued = b"".join(packets), 0, False
    number = struct.unpack_from("<I", first.head, 18)[0]
    for begin in range(0, len(lacings), _PAGE_SEGMENTS):
        number += 1
        table = bytes(lacings[begin : begin + _PAGE_SEGMENTS])
        body = data[offset : offset + sum(table)]
        offset += len(body)
        position = 0 if any(lacing < 255 for lacing in table) else -1
        head = b"OggS\0" + bytes((1 if continued else 0,)) + struct.pack("<q", position)
        head += first.serial + struct.pack("<II", number, 0) + bytes((len(table),))
        yield _sealed(head + table + body)
        continued = table[-1] == 255


def _page(file: BinaryIO, offset: int) -> Page | None:
    head = read_at(file, offset, 27)
    if len(head) < 27 or head[:5] != b"OggS\0":
        return None
    table = read_at(file, offset + 27, head[26])
    body = read_at(file, offset + 27 + len(table), sum(table))
    if len(table) < head[26] or len(body) < sum(table):
        return None
    return Page(offset, head, table, body)


def _sealed(page: bytes) -> bytes:
    """A page with its checksum: CRC-32 of polynomial 0x04C11DB7, not reflected, initial value 0.

    zlib's is the reflected one over inverted bits: swapping the bits of every byte in and of the result
    out, and undoing the inversions, makes one of the other.
    """
    blank = page[:22] + b"\0\0\0\0" + page[26:]
    swapped = zlib.crc32(blank.translate(_BIT_SWAP), 0xFFFFFFFF) ^ 0xFFFFFFFF
    value = int(f"{swapped:032b}"[::-1], 2)
    return page[:22] + struct.pack("<I", value) + page[26:]
