"""Vorbis comments of FLAC, Ogg Vorbis, Opus and Speex, read leniently from the raw blocks.

Comments ought to be UTF-8; where they are not, the text is decoded as in other tags instead of being
lost. Structure as in the Vorbis I specification, section 5.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import BinaryIO

from foley_desktop.audio.mutagen_tags import named
from foley_desktop.audio.splice import read_at
from foley_desktop.audio.tagtext import decode_text
from foley_desktop.models import Tag

_MAX_PACKET = 1 << 20
"""Text stands at the beginning of a comment packet often enough; covers in it may have many MB."""
_MIN_BLOCK = 1 << 14
_MAX_COMMENTS = 2000
_MAX_BLOCKS = 128
_NAMES = re.compile(rb"(?i)(title|description|comment|keywords|category|subcategory|artist|genre)=")


def read_flac(file: BinaryIO, start: int, size: int) -> Iterator[Tag]:
    """The comments of a FLAC file that has ``fLaC`` at ``start``; a block that lies about its size is
    read as far as it makes sense."""
    position = start + 4
    for _ in range(_MAX_BLOCKS):
        head = read_at(file, position, 4)
        if len(head) < 4:
            return
        length = int.from_bytes(head[1:4], "big")
        if head[0] & 0x7F == 4:
            # The comments' own lengths say where they end; the block's may be wrong.
            yield from _comments(read_at(file, position + 4, min(max(length, _MIN_BLOCK), _MAX_PACKET)))
        position += 4 + length
        if head[0] & 0x80 or position >= size:
            return


def read_ogg(file: BinaryIO, start: int) -> Iterator[Tag]:
    """The comments of the first stream that has any, from its second packet."""
    packet = _second_packet(file, start)
    for mark in (b"\x03vorbis", b"OpusTags"):
        if packet.startswith(mark):
            yield from _comments(packet[len(mark) :])
            return
    if packet[:1] in (b"\x04", b"\x84") and len(packet) > 4:
        yield from _comments(packet[4:])
    elif packet:
        yield from _comments(packet)


def _second_packet(file: BinaryIO, start: int) -> bytes:
    """The second packet of the stream that begins at ``start``, put together from its pages."""
    packet, packets, serial, position = bytearray(), 0, b"", start
    for _ in range(_MAX_PACKET // 255):
        head = read_at(file, position, 27)
        if len(head) < 27 or head[:4] != b"OggS":
            break
        table = read_at(file, position + 27, head[26])
        body = read_at(file, position + 27 + len(table), sum(table))
        position += 27 + len(table) + sum(table)
        serial = serial or head[14:18]
        if head[14:18] != serial:
            continue
        offset = 0
        for lacing in table:
            if packets == 1:
                packet += body[offset : offset + lacing]
            offset += lacing
            if lacing < 255:
                packets += 1
            if packets > 1 or len(packet) > _MAX_PACKET:
                return bytes(packet)
    return bytes(packet)


def _comments(block: bytes) -> Iterator[Tag]:
    yield from named(_pairs(block), "Vorbis")


def _pairs(block: bytes) -> Iterator[tuple[str, str]]:
    """Name and value of each comment; of a block whose lengths make no sense, what can be found in it."""
    if len(block) < 8:
        return
    position = 4 + struct.unpack_from("<I", block)[0]
    if position + 4 > len(block):
        yield from _salvage(block)
        return
    count = struct.unpack_from("<I", block, position)[0]
    position += 4
    for _ in range(min(count, _MAX_COMMENTS)):
        if position + 4 > len(block):
            return
        length = struct.unpack_from("<I", block, position)[0]
        if position + 4 + length > len(block):
            yield from _salvage(block[position:])
            return
        name, equals, value = block[position + 4 : position + 4 + length].partition(b"=")
        if equals and name:
            yield name.decode("latin-1"), decode_text(value)
        position += 4 + length


def _salvage(block: bytes) -> Iterator[tuple[str, str]]:
    """Comments found by their names, each as long as the length in front of it says, if it can be."""
    for match in _NAMES.finditer(block, 4):
        length = struct.unpack_from("<I", block, match.start() - 4)[0] - (match.end() - match.start())
        if 0 < length <= len(block) - match.end():
            yield match[1].decode("ascii"), decode_text(block[match.end() : match.end() + length])
