"""What a new WAVE file takes over from its source beside the sound: words, place in time, cue points.

A whole copy keeps its source's chunks byte for byte. Of a stretch, or of sound that was changed, everything
that counts frames is counted anew, and what identifies the source's own recording (UMID, file ids) is left
out: it would be a claim that is not true.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence

from foley_desktop.audio import riff, wavtags
from foley_desktop.audio.bwf import Move, moved_bext, moved_ixml
from foley_desktop.audio.markers import read_markers
from foley_desktop.audio.tags import best, read_tags
from foley_desktop.audio.wavwriter import Chunks
from foley_desktop.models import Marker

_RIFF = (b"RIFF", b"RF64", b"BW64")
_KEPT = frozenset([b"bext", b"iXML", b"LIST", b"id3 ", b"ID3 ", b"fmt ", b"cue ", b"smpl"])
_WORDS = ("title", "description", "keywords", "category", "artist", "originator", "date", "time")
_LONGEST = 2**31  # frames: what a marker's place may be taken from, where the source's length is unknown


def carried(source: str, move: Move) -> tuple[Chunks, Chunks, bytes | None]:
    """Chunks for in front of the sound and behind it, and the source's own ``fmt `` payload if it is a WAVE.

    Raises:
        OSError: the source cannot be read.
    """
    with open(os.fsencode(source), "rb") as file:
        if file.read(4) not in _RIFF:
            return _made_of_tags(source, move), _cue_chunks(source, move), None
        found = riff.walk(file, os.fstat(file.fileno()).st_size)
        payloads = [(chunk.id, chunk.read(file)) for chunk in found.chunks if chunk.id in _KEPT]
    front = {b"bext": moved_bext, b"iXML": moved_ixml}
    before = [(name, front[name](payload, move)) for name, payload in payloads if name in front and payload]
    after = [(n, p) for n, p in payloads if n in (b"id3 ", b"ID3 ") or (n == b"LIST" and p[:4] == b"INFO")]
    if move.altered:
        after += _cue_chunks(source, move)
    else:
        after += [(n, p) for n, p in payloads if n in (b"cue ", b"smpl") or p[:4] == b"adtl"]
    return before, after, next((payload for name, payload in payloads if name == b"fmt "), None)


def words_of(source: str) -> dict[str, str]:
    """What a file of any kind says of itself, by field."""
    tags = read_tags(source)
    return {field: value for field in _WORDS if (value := best(tags, field))}


def _made_of_tags(source: str, move: Move) -> list[tuple[bytes, bytes]]:
    """``bext`` and ``LIST INFO`` for a source that has words of another kind."""
    words = words_of(source)
    if not words:
        return []
    texts = {field: value for field, value in words.items() if field in wavtags.BEXT_FIELDS}
    body = bytearray(wavtags.bext(b"", texts))
    reference = best(read_tags(source), "time_reference")
    if reference.isdecimal() and int(reference) < 1 << 64:
        struct.pack_into("<Q", body, 338, int(reference))
        made = moved_bext(bytes(body), move)
    else:
        made = moved_bext(bytes(body), move, placed=False)
    info = wavtags.info(b"INFO", {f: v for f, v in words.items() if f in _IN_INFO}, add=True, order="<")
    return [(b"bext", made), *([(b"LIST", info)] if info else [])]


_IN_INFO = ("title", "description", "keywords", "artist")


def _cue_chunks(source: str, move: Move) -> list[tuple[bytes, bytes]]:
    markers = read_markers(source, move.source_rate, move.source_frames or _LONGEST)
    return cue_chunks(moved_markers(markers, move))


def moved_markers(markers: Sequence[Marker], move: Move) -> list[tuple[int, int, str]]:
    """Markers of the source as ``(frame, length, text)`` of the new file; those outside it are left out.

    A stretch that reaches over an end of the new file is cut there. ``length`` is 0 for a point.
    """
    last = move.last_frame
    moved = []
    for marker in markers:
        start = round(marker.start_s * move.source_rate)
        end = start if marker.end_s is None else round(marker.end_s * move.source_rate)
        if end < move.start_frame or (end == move.start_frame and end != start):
            continue
        if last is not None and start >= last:
            continue
        if marker.end_s is None and start < move.start_frame:
            continue
        ends = [max(start, move.start_frame), end if last is None else min(end, last)]
        placed = sorted(move.place(frame) for frame in ends)
        moved.append((placed[0], placed[1] - placed[0], marker.text))
    return sorted(moved)


def cue_chunks(places: Sequence[tuple[int, int, str]]) -> list[tuple[bytes, bytes]]:
    """``cue `` and ``LIST adtl`` of ``(frame, length, text)``; nothing for no places.

    As the Multimedia Programming Interface 1.0 has them.
    """
    if not places:
        return []
    cue = struct.pack("<I", len(places))
    labels = b"adtl"
    for number, (frame, length, text) in enumerate(places, 1):
        frame = min(frame, 0xFFFFFFFF)
        cue += struct.pack("<II4sIII", number, frame, b"data", 0, 0, frame)
        if length:
            size = min(length, 0xFFFFFFFF)
            labels += b"ltxt" + struct.pack("<III4sHHHH", 20, number, size, b"rgn ", 0, 0, 0, 0)
        if text:
            raw = struct.pack("<I", number) + text.encode("utf-8", "replace") + b"\0"
            labels += b"labl" + struct.pack("<I", len(raw)) + raw + b"\0" * (len(raw) % 2)
    return [(b"cue ", cue), *([(b"LIST", labels)] if len(labels) > 4 else [])]
