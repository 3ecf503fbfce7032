"""Markers, regions and loops that stand in WAV and AIFF files.

WAV: cue points, their labels, notes and lengths (``cue ``, ``LIST adtl``) and sampler loops (``smpl``), as in
the Multimedia Programming Interface 1.0 and its 1994 supplement. AIFF: ``MARK`` and ``INST`` of AIFF 1.3.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from foley_desktop.audio import sniff
from foley_desktop.audio.riff import Container, info_items, walk
from foley_desktop.audio.tagtext import decode_text
from foley_desktop.errors import AudioFileError
from foley_desktop.models import Marker

_MOST = 1000
_LARGEST = 1 << 20


def read_markers(path: str, samplerate: int, frames: int) -> tuple[Marker, ...]:
    """Every marker of a file in the order of their places. Never raises; nothing found is ``()``.

    Args:
        path: Absolute path.
        samplerate: The sound's rate in Hz.
        frames: Its true length; a marker beyond it is left out, a stretch that leads beyond it is cut.
    """
    try:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            kind, start = sniff.sniff(file, size, sniff.extension_of(path))
            if start or kind not in (sniff.WAV, sniff.AIFF):
                return ()
            container = walk(file, size)
            read = _riff if kind is sniff.WAV else _aiff
            found = list(_bounded(read(file, container), samplerate, frames))
    except (OSError, ValueError, AudioFileError):
        return ()
    return tuple(sorted(found, key=lambda marker: (marker.start_s, marker.end_s or 0.0, marker.text))[:_MOST])


def _bounded(places: Iterator[tuple[int, int | None, str]], samplerate: int, frames: int) -> Iterator[Marker]:
    """Frames as seconds, within the sound."""
    while True:
        try:
            start, end, text = next(places)
        except StopIteration:
            return
        except (struct.error, IndexError):
            continue  # One broken chunk; a generator that raised has ended, so the next round leaves.
        if not 0 <= start <= frames:
            continue
        last = None if end is None else min(end, frames)
        stretch = None if last is None or last <= start else last / samplerate
        yield Marker(start / samplerate, stretch, text, "file")


def _riff(file: BinaryIO, container: Container) -> Iterator[tuple[int, int | None, str]]:
    order = ">" if container.big_endian else "<"
    texts: dict[int, str] = {}
    lengths: dict[int, int] = {}
    for chunk in container.all(b"LIST"):
        payload = chunk.read(file, _LARGEST)
        if payload[:4] == b"adtl":
            for name, item in info_items(payload[4:], order):
                if len(item) < 4:
                    continue
                number = struct.unpack_from(order + "I", item)[0]
                if name == b"ltxt" and len(item) >= 8:
                    lengths[number] = struct.unpack_from(order + "I", item, 4)[0]
                    text = decode_text(item[20:])
                else:
                    text = decode_text(item[4:]) if name in (b"labl", b"note") else ""
                # A label goes before a note, whichever comes first.
                if text and (name == b"labl" or number not in texts):
                    texts[number] = text
    for chunk in container.all(b"cue "):
        payload = chunk.read(file, _LARGEST)
        for at in range(4, len(payload) - 23, 24):
            number, position, _, _, _, offset = struct.unpack_from(order + "IIIIII", payload, at)
            # Some writers fill in the position alone.
            start = offset or position
            length = lengths.get(number, 0)
            yield start, start + length if length else None, texts.get(number, "")
    for chunk in container.all(b"smpl"):
        payload = chunk.read(file, _LARGEST)
        for at in range(36, len(payload) - 23, 24):
            start, last = struct.unpack_from(order + "II", payload, at + 8)
            yield start, last + 1, "loop"  # the last frame is played too


def _aiff(file: BinaryIO, container: Container) -> Iterator[tuple[int, int | None, str]]:
    places: dict[int, tuple[int, str]] = {}
    for chunk in container.all(b"MARK"):
        payload = chunk.read(file, _LARGEST)
        position = 2
        while position + 7 <= len(payload):
            number, frame, length = struct.unpack_from(">HIB", payload, position)
            name = payload[position + 7 : position + 7 + length]
            places[number] = (frame, decode_text(name))
            position += 7 + length + (length + 1) % 2  # a Pascal string, padded to an even length
    in_loops: set[int] = set()
    for chunk in container.all(b"INST"):
        payload = chunk.read(file, 64)
        for at in (8, 14):
            if len(payload) < at + 6:
                continue
            mode, begin, end = struct.unpack_from(">HHH", payload, at)
            if mode and begin in places and end in places:
                in_loops |= {begin, end}
                yield places[begin][0], places[end][0], "loop"
    for number, (frame, text) in places.items():
        if number not in in_loops or text:
            yield frame, None, text
