"""Writes WAVE files chunk by chunk: libsndfile writes no bext, no iXML and nothing in front of the sound.

Layout: RIFF header, a JUNK chunk that becomes ``ds64`` when the file outgrows 4 GiB (EBU Tech 3306),
``fmt ``, ``fact`` where needed, the given chunks, ``data``, further chunks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import BinaryIO

import numpy as np

Chunks = Iterable[tuple[bytes, bytes]]

ENCODINGS = {
    "PCM_U8": (1, 8),
    "PCM_16": (1, 16),
    "PCM_24": (1, 24),
    "PCM_32": (1, 32),
    "FLOAT": (3, 32),
    "DOUBLE": (3, 64),
}
"""Encodings that can be written, by libsndfile's name: format tag and bits a sample."""

_EXTENSIBLE = 0xFFFE
_GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")  # after the two bytes of the format tag
# Usual speaker masks (WAVEFORMATEXTENSIBLE, mmreg.h); 0 leaves the channels without a place.
_MASKS = {3: 0x7, 4: 0x33, 5: 0x37, 6: 0x3F, 7: 0x13F, 8: 0x63F}
_LIMIT_32 = 0xFFFFFFFF


class WavWriter:
    """A WAVE file being written.

    Args:
        file: Empty, seekable, binary; stays open.
        encoding: One of :data:`ENCODINGS`.
        rate: Sample rate in Hz.
        channels: Number of channels.
        before: Chunks (id, payload) to put in front of the sound.
        fmt: A ``fmt `` payload of the same format to be used as it is, for its speaker places.
    """

    def __init__(
        self,
        file: BinaryIO,
        encoding: str,
        rate: int,
        channels: int,
        *,
        before: Chunks = (),
        fmt: bytes | None = None,
    ) -> None:
        self._file = file
        self._encoding = encoding
        tag, bits = ENCODINGS[encoding]
        self._frame_bytes = channels * bits // 8
        self._data_bytes = 0
        file.write(b"RIFF\0\0\0\0WAVE")
        self._chunk(b"JUNK", bytes(28))
        self._chunk(b"fmt ", fmt or _fmt(tag, bits, rate, channels))
        self._fact_at = 0
        if tag != 1:
            self._fact_at = file.tell() + 8
            self._chunk(b"fact", bytes(4))
        for name, payload in before:
            self._chunk(name, payload)
        self._data_at = file.tell() + 8
        file.write(b"data\0\0\0\0")

    def write(self, block: np.ndarray) -> None:
        """Appends frames ``(n, channels)``.

        Integer encodings take int32 whose upper bits count (full scale is 2**31), the others floats.
        """
        data = encode(block, self._encoding)
        self._data_bytes += len(data)
        self._file.write(data)

    def finish(self, after: Chunks = ()) -> None:
        """Puts further chunks behind the sound and fills in the sizes."""
        if self._data_bytes % 2:
            self._file.write(b"\0")
        for name, payload in after:
            self._chunk(name, payload)
        riff = self._file.tell() - 8
        frames = self._data_bytes // self._frame_bytes
        if riff > _LIMIT_32:
            self._patch(0, b"RF64" + struct.pack("<I", _LIMIT_32))
            self._patch(12, b"ds64" + struct.pack("<IQQQI", 28, riff, self._data_bytes, frames, 0))
            self._patch(self._data_at - 4, struct.pack("<I", _LIMIT_32))
        else:
            self._patch(4, struct.pack("<I", riff))
            self._patch(self._data_at - 4, struct.pack("<I", self._data_bytes))
        if self._fact_at:
            self._patch(self._fact_at, struct.pack("<I", min(frames, _LIMIT_32)))
        self._file.seek(0, 2)

    def _chunk(self, name: bytes, payload: bytes) -> None:
        self._file.write(name + struct.pack("<I", len(payload)) + payload + b"\0" * (len(payload) % 2))

    def _patch(self, at: int, data: bytes) -> None:
        self._file.seek(at)
        self._file.write(data)


def encode(block: np.ndarray, encoding: str) -> bytes:
    """The bytes of a block as WAVE has them: little-endian, interleaved, 8 bits unsigned."""
    tag, bits = ENCODINGS[encoding]
    if tag == 3:
        return block.astype("<f4" if bits == 32 else "<f8").tobytes()
    words = np.ascontiguousarray(block, "<i4")
    if bits == 32:
        return words.tobytes()
    if bits == 24:
        return words.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes()
    if bits == 16:
        return (words >> 16).astype("<i2").tobytes()
    return ((words >> 24) + 128).astype(np.uint8).tobytes()


def _fmt(tag: int, bits: int, rate: int, channels: int) -> bytes:
    align = channels * bits // 8
    head = (channels, rate, rate * align, align, bits)
    if channels > 2:
        tail = struct.pack("<HHI", 22, bits, _MASKS.get(channels, 0)) + struct.pack("<H", tag) + _GUID_TAIL
        return struct.pack("<HHIIHH", _EXTENSIBLE, *head) + tail
    return struct.pack("<HHIIHH", tag, *head) + (struct.pack("<H", 0) if tag != 1 else b"")


def same_format(fmt: bytes, encoding: str, rate: int, channels: int) -> bool:
    """Whether a ``fmt `` payload found elsewhere describes exactly this format."""
    if len(fmt) < 16:
        return False
    tag, bits = ENCODINGS[encoding]
    found, *head = struct.unpack_from("<HHIIHH", fmt)
    if found == _EXTENSIBLE and len(fmt) >= 40:
        found = struct.unpack_from("<H", fmt, 24)[0]
    elif found == _EXTENSIBLE:
        return False
    align = channels * bits // 8
    return found == tag and head == [channels, rate, rate * align, align, bits]
