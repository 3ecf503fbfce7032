"""FLAC files whose metadata blocks lie: finds the sound and keeps only what a decoder needs.

Block and frame headers as in RFC 9639.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import BinaryIO

from foley_desktop.audio.splice import Stretch, read_at
from foley_desktop.errors import AudioFileError

_STREAMINFO_BYTES = 34
_SEARCH_BYTES = 32 << 20
_STEP = 1 << 20
_MAX_BLOCKS = 512
_TAIL_BYTES = 2048
_LAST_BYTES = 1 << 17
_MIN_BLOCK = 16
_MAX_CANDIDATES = 200_000
_SYNC = re.compile(rb"\xff[\xf8\xf9]")


@dataclass(frozen=True, slots=True)
class FlacLayout:
    """``pieces`` is STREAMINFO and the frames alone; ``promised`` the total of frames it states (0: unknown).

    ``sane`` says that the metadata blocks lead to the first frame, so that the file can be decoded
    as it is; ``block`` how many samples per channel all frames hold but the last (0: it varies).
    """

    pieces: tuple[bytes | Stretch, ...]
    promised: int
    sane: bool
    block: int


def read_layout(file: BinaryIO, start: int, size: int) -> FlacLayout:
    """Understands a file that has ``fLaC`` at ``start``.

    Raises:
        AudioFileError: ``corrupt_header`` without a STREAMINFO, ``empty`` without a frame behind it.
    """
    info = read_at(file, start + 4, 4 + _STREAMINFO_BYTES)
    if len(info) < 4 + _STREAMINFO_BYTES or info[0] & 0x7F:
        raise AudioFileError("corrupt_header", "The file's header is damaged: it does not say its format.")
    promised = (info[17] & 0x0F) << 32 | int.from_bytes(info[18:22], "big")
    position, last, sane = start + 8 + _STREAMINFO_BYTES, bool(info[0] & 0x80), True
    blocks = 0
    while not last:
        blocks += 1
        block = read_at(file, position, 4)
        end = position + 4 + int.from_bytes(block[1:4], "big")
        if (
            blocks > _MAX_BLOCKS
            or len(block) < 4
            or block[0] & 0x7F == 0x7F
            or end > size
            or _is_frame(read_at(file, position, 16))
        ):
            sane = False
            break
        last, position = bool(block[0] & 0x80), end
    if not _is_frame(read_at(file, position, 16)):
        sane = False
        found = _find_frame(file, position, size) or _find_frame(file, start + 8 + _STREAMINFO_BYTES, size)
        if found is None:
            raise AudioFileError("empty", "The file has a header but no sound.")
        position = found
    if promised and (
        size - position > _most_bytes(info, promised) or _goes_on(file, position, size, promised)
    ):
        # More sound than the header admits: with an unknown total a decoder goes on to the end.
        info = info[:17] + bytes([info[17] & 0xF0]) + bytes(4) + info[22:]
        promised, sane = 0, False
    head = b"fLaC\x80\x00\x00\x22" + info[4:]
    least, most = struct.unpack(">HH", info[4:8])
    alike = most if least == most >= _MIN_BLOCK else 0
    return FlacLayout((head, Stretch(position, size - position)), promised, sane, alike)


def _most_bytes(info: bytes, frames: int) -> int:
    """More than so many frames of sound ever take, with what tag editors hang behind them."""
    fields = int.from_bytes(info[14:22], "big")
    channels, bits = (fields >> 41 & 7) + 1, (fields >> 36 & 31) + 1
    return frames * channels * (bits + 7) // 8 * 5 // 4 + _TAIL_BYTES


def _goes_on(file: BinaryIO, first: int, size: int, promised: int) -> bool:
    """Whether a frame near the file's end ends behind the total: its header tells where it belongs."""
    model = read_at(file, first, 16)
    tail = max(first, size - _LAST_BYTES)
    data = read_at(file, tail, size - tail)
    block = _block_size(model)
    for match in _SYNC.finditer(data):
        head = data[match.start() : match.start() + 16].ljust(16, b"\0")
        alike = head[1] == model[1] and not ((head[2] ^ model[2]) | (head[3] ^ model[3])) & 0x0F
        if alike and _is_frame(head):
            start = _coded_number(head) * (1 if head[1] & 1 else block)
            if start + _block_size(head) > promised:
                return True
    return False


def _block_size(head: bytes) -> int:
    """Samples per channel in the frame with this header (RFC 9639, section 9.1.1)."""
    code, at = head[2] >> 4, 4 + _coded_length(head[4])
    if code == 6:
        return head[at] + 1
    if code == 7:
        return int.from_bytes(head[at : at + 2], "big") + 1
    return 192 if code == 1 else 576 << code - 2 if code < 6 else 256 << code - 8


def _coded_number(head: bytes) -> int:
    """The frame's number, or its first sample's where block sizes vary: coded like UTF-8."""
    length = _coded_length(head[4])
    if length == 1:
        return head[4]
    number = head[4] & (0x7F >> length)
    for byte in head[5 : 4 + length]:
        number = number << 6 | byte & 0x3F
    return number


def _find_frame(file: BinaryIO, start: int, size: int) -> int | None:
    """The first frame header from ``start`` on, by its sync code and checksum."""
    candidates = 0
    for position in range(start, min(size, start + _SEARCH_BYTES), _STEP):
        stretch = read_at(file, position, _STEP + 16)
        for match in _SYNC.finditer(stretch):
            candidates += 1
            if _is_frame(stretch[match.start() : match.start() + 16]):
                return position + match.start()
            if candidates > _MAX_CANDIDATES:
                return None
    return None


def _is_frame(head: bytes) -> bool:
    """Whether these bytes begin with a frame header: sync code, no reserved values, CRC-8 correct."""
    if len(head) < 6 or head[0] != 0xFF or head[1] & 0xFE != 0xF8:
        return False
    block_code, rate_code = head[2] >> 4, head[2] & 0x0F
    if block_code == 0 or rate_code == 15 or head[3] >> 4 > 10 or head[3] & 1:
        return False
    length = 4 + _coded_length(head[4])
    length += {6: 1, 7: 2}.get(block_code, 0) + {12: 1, 13: 2, 14: 2}.get(rate_code, 0)
    return 4 < length < len(head) and _crc8(head[:length]) == head[length]


def _coded_length(first: int) -> int:
    """Bytes of the UTF-8-like frame number that begins with ``first``; -4 makes an impossible one fail."""
    if first < 0x80:
        return 1
    ones = 8 - (first ^ 0xFF).bit_length()
    return ones if 2 <= ones <= 7 else -4


def _crc8(data: bytes) -> int:
    """CRC-8 of RFC 9639: polynomial 0x07, initial value 0."""
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value << 1 ^ 0x07 if value & 0x80 else value << 1) & 0xFF
    return value
