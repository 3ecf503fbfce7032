"""What a Broadcast Wave says about its place in time, kept true when a part of it becomes a new file.

Sources: EBU Tech 3285 (bext), EBU R 98 (coding history), the iXML specification 3.0.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

_BEXT_BYTES = 602  # everything in front of the coding history
_TIME_REFERENCE_AT = 338
_VERSION_AT = 346
_UMID_AT, _UMID_BYTES = 348, 64
_LOUDNESS_AT = 412
_NOT_MEASURED = struct.pack("<5h", *[0x7FFF] * 5)
_MODES = {1: "mono", 2: "stereo"}


@dataclass(frozen=True)
class Move:
    """How a new file lies on its source: it begins at ``start_frame`` of the source (at the source's rate).

    ``altered`` says that it isn't the whole source as it was, so that measured loudness is void and the
    source's identity is not the new file's. ``last_frame`` is where its stretch ends, None at the source's
    own end; ``source_frames`` is the source's length where it is known. ``pace`` is seconds of the source in
    a second of the new file, ``backwards`` that it runs from its end to its start.
    """

    start_frame: int
    source_rate: int
    rate: int
    bits: int
    channels: int
    altered: bool
    last_frame: int | None = None
    source_frames: int | None = None
    pace: float = 1.0
    backwards: bool = False
    kept_channels: tuple[int, ...] | None = None
    """Numbers, from 0, of the source's channels that became the new ones; None where they were mixed."""

    def time_reference(self, old: int) -> int:
        """Samples since midnight, at the new file's rate."""
        return min(round((old + self.start_frame) * self.rate / self.source_rate), (1 << 64) - 1)

    def place(self, frame: int) -> int:
        """Where a frame of the source, within its stretch, lies in the new file."""
        behind = frame - self.start_frame
        if self.backwards:
            last = self.last_frame if self.last_frame is not None else self.source_frames
            behind = max(0, (last or frame) - frame)
        return round(behind * self.rate / (self.source_rate * self.pace))


def moved_bext(payload: bytes, move: Move, *, placed: bool = True) -> bytes:
    """A ``bext`` payload for the new file: time reference moved on, coding history one line longer.

    ``placed`` False: the source has no place in time, and its stretch none either.
    """
    head = bytearray(payload[:_BEXT_BYTES].ljust(_BEXT_BYTES, b"\0"))
    old = struct.unpack_from("<Q", head, _TIME_REFERENCE_AT)[0]
    if placed:
        struct.pack_into("<Q", head, _TIME_REFERENCE_AT, move.time_reference(old))
    version = struct.unpack_from("<H", head, _VERSION_AT)[0]
    if move.altered:
        head[_UMID_AT : _UMID_AT + _UMID_BYTES] = bytes(_UMID_BYTES)
    if move.altered and version >= 2:
        head[_LOUDNESS_AT : _LOUDNESS_AT + len(_NOT_MEASURED)] = _NOT_MEASURED
    history = payload[_BEXT_BYTES:].rstrip(b"\0")
    if history and not history.endswith(b"\n"):
        history += b"\r\n"
    mode = f",M={_MODES[move.channels]}" if move.channels in _MODES else ""
    line = f"A=PCM,F={move.rate},W={move.bits}{mode},T=Foley Desktop\r\n"
    return bytes(head) + history + line.encode("ascii")


def moved_ixml(payload: bytes, move: Move) -> bytes:
    """An ``iXML`` payload for the new file: its time stamps, rate and depth corrected where they stand.

    The ids of the source's own file are emptied where the new one is another, and the list of tracks is
    that of the channels that are left. Everything else stays byte for byte; so does a payload in another
    encoding than ASCII's kin.
    """
    payload = _moved_pair(
        payload, b"TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_HI", b"TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_LO", move
    )
    payload = _moved_pair(payload, b"BWF_TIME_REFERENCE_HIGH", b"BWF_TIME_REFERENCE_LOW", move)
    if move.rate != move.source_rate:
        for name in (b"FILE_SAMPLE_RATE", b"TIMESTAMP_SAMPLE_RATE"):
            payload = _replaced(payload, name, move.rate)
    payload = _replaced(payload, b"AUDIO_BIT_DEPTH", move.bits)
    if move.altered:
        for name in (b"FILE_UID", b"FAMILY_UID"):
            payload = re.sub(rb"(<" + name + rb">)[^<]*(</" + name + rb">)", rb"\1\2", payload)
        payload = _with_tracks(payload, move)
    return payload


_TRACKS = re.compile(rb"<TRACK_LIST>.*?</TRACK_LIST>", re.DOTALL)
_TRACK = re.compile(rb"<TRACK>.*?</TRACK>", re.DOTALL)


def _with_tracks(payload: bytes, move: Move) -> bytes:
    """The list of tracks as the new file has them; mixed channels are none of the source's tracks."""
    found = _TRACKS.search(payload)
    if found is None:
        return payload
    tracks = _TRACK.findall(found[0])
    kept = range(len(tracks)) if move.kept_channels is None else move.kept_channels
    if move.kept_channels is None and len(tracks) != move.channels:
        kept = range(0)
    elif [*kept] == [*range(len(tracks))]:
        return payload
    chosen = [tracks[number] for number in kept if number < len(tracks)]
    lines = [_replaced(track, b"INTERLEAVE_INDEX", number) for number, track in enumerate(chosen, 1)]
    body = b"<TRACK_LIST><TRACK_COUNT>%d</TRACK_COUNT>%s</TRACK_LIST>" % (len(lines), b"".join(lines))
    return payload[: found.start()] + body + payload[found.end() :]


def _element(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(<" + name + rb">\s*)(\d{1,20})(\s*</" + name + rb">)")


def _replaced(payload: bytes, name: bytes, value: int) -> bytes:
    return _element(name).sub(lambda match: match[1] + str(value).encode() + match[3], payload)


def _moved_pair(payload: bytes, high: bytes, low: bytes, move: Move) -> bytes:
    """Moves a 64-bit sample count that is written as two 32-bit halves; the upper one may be missing."""
    low_match, high_match = _element(low).search(payload), _element(high).search(payload)
    if low_match is None:
        return payload
    old = int(low_match[2]) + ((int(high_match[2]) << 32) if high_match else 0)
    new = move.time_reference(old)
    payload = _replaced(payload, low, new & 0xFFFFFFFF)
    return _replaced(payload, high, new >> 32)
