"""MPEG audio (MP3) frame by frame: how long it really is, where every frame lies, and a true Xing header.

A count in a Xing header may be wrong or missing, and libsndfile then cuts the sound at a guess from the
first frame's bitrate. So the frames are counted here, which takes some milliseconds a minute of sound,
and libsndfile is handed a header that states the truth. Frame headers as in ISO 11172-3 and 13818-3.
"""

from __future__ import annotations

import re
import struct
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from foley_desktop.audio.splice import Stretch, read_at

_BITRATES = {
    (1, 1): (0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (1, 2): (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (1, 3): (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (2, 1): (0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (2, 2): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (2, 3): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_SYNC = re.compile(rb"(?=\xff[\xe2-\xff][\x10-\xef])")
_CHUNK = 1 << 20
_MAX_GAPS = 1000
_MAX_LONG_SEARCHES = 16
_RESERVOIR_BYTES = 4096
"""A frame may lean on up to 511 bytes of main data in frames before it; this is on the safe side."""
_PHASE_FRAMES = 8
"""mpg123's filter bank turns through 16 positions, 18 or 36 steps a frame: after this many frames it stands
where it began, and a stream begun there decodes to the same bits."""
DECODER_DELAY = 529
"""Samples that decoding itself adds in front; mpg123 drops them where an encoder's delay is stated."""


def frame_length(header: bytes) -> int:
    """Bytes of the MPEG audio frame that four header bytes describe; 0 if they describe none."""
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:
        return 0
    version, layer = header[1] >> 3 & 3, 4 - (header[1] >> 1 & 3)
    rate_index, bitrate_index = header[2] >> 2 & 3, header[2] >> 4
    if version == 1 or layer == 4 or rate_index == 3 or bitrate_index in (0, 15):
        return 0
    bitrate = 1000 * _BITRATES[1 if version == 3 else 2, layer][bitrate_index]
    rate, padding = _RATES[version][rate_index], header[2] >> 1 & 1
    if layer == 1:
        return (12 * bitrate // rate + padding) * 4
    return (72 if layer == 3 and version != 3 else 144) * bitrate // rate + padding


def same_stream(one: bytes, other: bytes) -> bool:
    """Whether two frame headers agree in version, layer and sample rate."""
    return one[1] & 0xFE == other[1] & 0xFE and one[2] & 0x0C == other[2] & 0x0C


def find_stream(data: bytes, limit: int, at_end: bool) -> int | None:
    """The first frame header in ``data``, before ``limit``, whose next frame follows where it should.

    ``at_end`` says that the file ends with ``data``: then a single whole frame at the very end counts.
    """
    for match in _SYNC.finditer(data, 0, max(0, min(limit, len(data) - 3)) + 3):
        position = match.start()
        header = data[position : position + 4]
        length = frame_length(header)
        if length:
            behind = data[position + length : position + length + 4]
            if frame_length(behind) and same_stream(header, behind):
                return position
            if at_end and position + length == len(data):
                return position
    return None


@dataclass(slots=True)
class MpegLayout:
    """All frames of an MPEG stream.

    ``offsets`` holds the place of every audio frame in the file (a Xing, Info or VBRI frame is none),
    ``stretches`` where they follow one another without rubbish between them. ``stated`` is the count in
    the header frame (None without one); ``delay`` and ``padding`` are its samples to drop at both ends
    (-1: not stated). ``cut`` says that the file ends inside a frame.
    """

    header: bytes
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    stretches: list[Stretch] = field(default_factory=list)
    stated: int | None = None
    delay: int = -1
    padding: int = -1
    cut: bool = False

    @property
    def layer(self) -> int:
        return 4 - (self.header[1] >> 1 & 3)

    @property
    def samples_per_frame(self) -> int:
        if self.layer == 1:
            return 384
        return 576 if self.layer == 3 and self.header[1] >> 3 & 3 != 3 else 1152

    @property
    def frames(self) -> int:
        """Length in samples per channel, encoder's delay and padding dropped where they are stated."""
        whole = len(self.offsets) * self.samples_per_frame
        if self.delay < 0:
            return whole
        return max(0, whole - self.skipped - max(0, self._padding - DECODER_DELAY))

    @property
    def _padding(self) -> int:
        """What to drop at the end: nothing if the end is lost."""
        return 0 if self.truncated else self.padding

    @property
    def skipped(self) -> int:
        """Decoded samples that are dropped at the beginning."""
        return self.delay + DECODER_DELAY if self.delay >= 0 else 0

    @property
    def truncated(self) -> bool:
        """Whether the file ends inside a frame, or long before the stated count is reached."""
        return self.cut or (self.stated or 0) > len(self.offsets) + 2

    def view_from(self, sample: int) -> tuple[list[bytes | Stretch], int]:
        """The stream behind a header frame that states the truth, begun where ``sample`` can be decoded.

        Returns:
            The pieces, and how many samples that mpg123 delivers lie before ``sample``.
        """
        target = min((sample + self.skipped) // self.samples_per_frame, len(self.offsets) - 1)
        begin = bisect_right(self.offsets, max(0, self.offsets[target] - _RESERVOIR_BYTES)) - 1
        begin = max(0, min(begin, target - 4))
        begin -= begin % _PHASE_FRAMES
        count = len(self.offsets) - begin
        if begin == 0 and self.delay >= 0:
            return [_info_frame(self.header, count, self.delay, self._padding), *self.stretches], sample
        # Behind a header frame mpg123 drops its own delay even if no encoder's delay is stated.
        if begin == 0:
            lead = _PHASE_FRAMES * self.samples_per_frame - DECODER_DELAY
            silence = bytes(_plain_frame(self.header, 1)) * _PHASE_FRAMES
            return [
                _info_frame(self.header, count + _PHASE_FRAMES, 0, 0),
                silence,
                *self.stretches,
            ], lead + sample
        before = sample + self.skipped - begin * self.samples_per_frame - DECODER_DELAY
        return [_info_frame(self.header, count, 0, 0), *self._from(self.offsets[begin])], before

    def _from(self, offset: int) -> list[Stretch]:
        """What the stretches hold from a place in the file on."""
        cut = ((max(offset, part.start), part.start + part.size) for part in self.stretches)
        return [Stretch(start, end - start) for start, end in cut if end > start]


def read_layout(file: BinaryIO, start: int, size: int) -> MpegLayout | None:
    """Counts the frames of the stream whose first frame is at ``start``; None if there is no frame.

    Reads the whole file once, in blocks.
    """
    layout = MpegLayout(b"")
    for _ in counting(layout, file, start, size):
        pass
    return layout if layout.offsets else None


def counting(layout: MpegLayout, file: BinaryIO, start: int, size: int) -> Iterator[None]:
    """The same into ``layout``, a block of the file with every step."""
    window = _Window(file, size)
    layout.header = header = window.get(start, 4)
    if not frame_length(header):
        return
    position = start
    first = window.get(start, frame_length(header))
    if layout.layer == 3 and _read_info(layout, first):
        position += len(first)
    yield from _count(layout, window, position, size)


def _count(layout: MpegLayout, window: _Window, position: int, size: int) -> Iterator[None]:
    """Follows the frames to the end; where they break off, the next pair of frames is looked for."""
    lengths: dict[int, int] = {}
    head1, head2 = layout.header[1] & 0xFE, layout.header[2] & 0x0C
    begin = position
    offsets = layout.offsets
    while len(layout.stretches) < _MAX_GAPS:
        data, base = window.around(position)
        end = base + len(data)
        while position + 4 <= end:
            at = position - base
            one, two = data[at + 1], data[at + 2]
            key = one << 8 | two
            length = lengths.get(key)
            if length is None:
                length = frame_length(bytes((0xFF, one, two, 0)))
                lengths[key] = length = length if one & 0xFE == head1 and two & 0x0C == head2 else 0
            if not length or data[at] != 0xFF or position + length > size:
                break
            offsets.append(position)
            position += length
        else:
            yield
            if end < size:
                continue
        if position > begin:
            layout.stretches.append(Stretch(begin, position - begin))
        if position + 4 > size:
            break
        resumed = window.find(position + 1)
        if resumed is None or not same_stream(window.get(resumed, 4), layout.header):
            tail = window.get(position, 4)
            layout.cut = bool(frame_length(tail)) and same_stream(tail, layout.header)
            break
        position = begin = resumed


class _Window:
    """A file in blocks of a megabyte, one of them held."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._base = 0
        self._data = b""
        self._long_searches = 0

    def around(self, position: int) -> tuple[bytes, int]:
        """A block that has the four bytes at ``position`` (as far as the file has them), and its offset."""
        if not self._base <= position <= self._base + len(self._data) - 4:
            self._base, self._data = position, read_at(self._file, position, _CHUNK)
        return self._data, self._base

    def get(self, position: int, size: int) -> bytes:
        return read_at(self._file, position, size)

    def find(self, position: int) -> int | None:
        """Where frames go on behind rubbish: nearby, or, a few times in a file, within half a megabyte."""
        for reach in (1 << 13, _CHUNK // 2):
            self._long_searches += reach > 1 << 13
            if self._long_searches > _MAX_LONG_SEARCHES:
                return None
            data = self.get(position, reach + (1 << 13))
            found = find_stream(data, reach, position + len(data) >= self._size)
            if found is not None:
                return position + found
        return None


def _info_offset(frame: bytes) -> int:
    """Where a Xing or Info mark stands in a layer III frame: behind the side information."""
    mono = frame[3] >> 6 == 3
    if frame[1] >> 3 & 3 == 3:
        return 4 + (17 if mono else 32)
    return 4 + (9 if mono else 17)


def _read_info(layout: MpegLayout, frame: bytes) -> bool:
    """Reads a Xing, Info or VBRI header frame; False if this is an ordinary frame."""
    if frame[36:40] == b"VBRI":
        if len(frame) >= 54:
            layout.stated = struct.unpack_from(">I", frame, 50)[0]
        return True
    for at in (_info_offset(frame), _info_offset(frame) + 2):
        if frame[at : at + 4] in (b"Xing", b"Info"):
            break
    else:
        return False
    flags = frame[at + 7] if len(frame) > at + 7 else 0
    position = at + 8
    if flags & 1 and len(frame) >= position + 4:
        layout.stated = struct.unpack_from(">I", frame, position)[0]
    position += 4 * (flags & 1)
    position += 4 * (flags >> 1 & 1) + 100 * (flags >> 2 & 1) + 4 * (flags >> 3 & 1)
    if len(frame) >= position + 24:
        three = int.from_bytes(frame[position + 21 : position + 24], "big")
        if three:
            layout.delay, layout.padding = three >> 12, three & 0xFFF
    return True


def _plain_frame(header: bytes, least: int) -> bytearray:
    """A silent layer III frame of the stream's kind with at least ``least`` bytes, if there is one."""
    for index in range(1, 15):
        fixed = bytes((0xFF, header[1] | 1, index << 4 | header[2] & 0x0C, header[3] & 0xC0))
        if frame_length(fixed) >= max(least, _info_offset(fixed)):
            break
    return bytearray(fixed.ljust(frame_length(fixed), b"\0"))


def _info_frame(header: bytes, count: int, delay: int, padding: int) -> bytes:
    """A header frame that states the count of frames and the samples to drop at both ends."""
    at = _info_offset(header)
    frame = _plain_frame(header, at + 12 + 36)
    struct.pack_into(">4sII", frame, at, b"Info", 1, count)
    frame[at + 12 : at + 21] = b"LAME3.100"
    frame[at + 33 : at + 36] = (delay << 12 | padding).to_bytes(3, "big")
    return bytes(frame)
