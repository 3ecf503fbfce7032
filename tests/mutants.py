"""Seeds in every container we read, and wounds for them: bits flipped, pieces cut, moved, doubled, size lies.

Shared by the suite (hundreds of mutants) and ``tests/bench/fuzz.py`` (tens of thousands). The same seed and
number give the same mutant always.
"""

from __future__ import annotations

import itertools
import random
import struct
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from audio_files import (
    TONE,
    aiff,
    aiff_chunk,
    bext,
    chunk,
    coded_by_ffmpeg,
    comm,
    ds64,
    encoded,
    extensible,
    flac,
    fmt,
    id3,
    info,
    pcm,
    riff,
    ssnd,
    sweep,
    vorbis_comment,
    wav,
)

SHORT = sweep(0.3, 24000)
IXML = chunk(b"iXML", b"<BWFXML><PROJECT>P</PROJECT><SCENE>1</SCENE><NOTE>rain</NOTE></BWFXML>")
CUE = chunk(b"cue ", struct.pack("<IIIIIII", 1, 1, 100, 0x61746164, 0, 0, 100))
ADTL = chunk(b"LIST", b"adtl" + chunk(b"labl", struct.pack("<I", 1) + b"Slam\0"))
SMPL = chunk(
    b"smpl", struct.pack("<9I", 0, 0, 20833, 60, 0, 0, 0, 1, 0) + struct.pack("<6I", 0, 0, 10, 900, 0, 0)
)
DATA = chunk(b"data", pcm(16))
MARK = aiff_chunk(b"MARK", struct.pack(">HHI", 1, 1, 100) + b"\x04Slam\0")

SEEDS: dict[str, bytes] = {
    "tagged.wav": wav(info((b"INAM", b"T")), chunk(b"id3 ", id3((b"TIT2", "T"))), IXML, before=[bext(b"D")]),
    "marked.wav": wav(CUE, ADTL, SMPL, before=[bext(b"Door", b"Me", b"2024-02-30")]),
    "extensible.wav": riff(fmt(0xFFFE, 2, bits=24, extra=extensible(1, 24)), chunk(b"data", pcm(24))),
    "float.wav": encoded(SHORT, 24000, "WAV", "DOUBLE"),
    "ulaw.wav": encoded(SHORT, 8000, "WAV", "ULAW"),
    "ima.wav": encoded(SHORT, 24000, "WAV", "IMA_ADPCM"),
    "ms.wav": encoded(np.stack([SHORT, SHORT], 1), 24000, "WAV", "MS_ADPCM"),
    "gsm.wav": encoded(SHORT, 8000, "WAV", "GSM610"),
    "rf64.wav": encoded(SHORT, 24000, "RF64", "FLOAT"),
    "bw64.wav": riff(
        ds64(len(pcm(16))),
        fmt(),
        bext(b"D"),
        chunk(b"data", pcm(16), size=2**32 - 1),
        form=b"BW64",
        size=2**32 - 1,
    ),
    "a.aif": aiff(comm(), ssnd(pcm(16, order=">"))),
    "marked.aif": aiff(
        comm(),
        MARK,
        aiff_chunk(b"NAME", b"Door"),
        aiff_chunk(b"ID3 ", id3((b"TIT2", "T"))),
        ssnd(pcm(16, order=">")),
    ),
    "sowt.aifc": aiff(comm(codec=b"sowt"), ssnd(pcm(16)), kind=b"AIFC"),
    "float.aifc": encoded(SHORT, 24000, "AIFF", "FLOAT"),
    "ima.aifc": encoded(SHORT, 24000, "AIFF", "IMA_ADPCM"),
    "a.flac": flac((4, vorbis_comment(b"TITLE=Door")), (6, bytes(100))),
    "coded.flac": encoded(TONE, 48000, "FLAC", "PCM_24"),
    "vorbis.ogg": encoded(SHORT, 24000, "OGG", "VORBIS"),
    "flac.oga": encoded(SHORT, 24000, "OGG", "OPUS") + encoded(SHORT, 24000, "OGG", "VORBIS"),
    "opus.opus": encoded(SHORT, 24000, "OGG", "OPUS") * 2,
    "a.mp3": id3((b"TIT2", "Door")) + encoded(SHORT, 24000, "MP3", "MPEG_LAYER_III"),
    "v24.mp3": id3((b"TIT2", "Tür"), version=4)
    + encoded(SHORT, 44100, "MP3", "MPEG_LAYER_III")
    + b"TAG"
    + bytes(125),
    "pcm.caf": encoded(SHORT, 24000, "CAF", "PCM_24"),
    "alac.caf": encoded(SHORT, 24000, "CAF", "ALAC_16"),
    "a.w64": encoded(SHORT, 24000, "W64", "PCM_16"),
    "a.au": encoded(SHORT, 24000, "AU", "PCM_16"),
    "adpcm.au": encoded(SHORT, 24000, "AU", "G721_32"),
    "a.voc": encoded(SHORT, 24000, "VOC", "PCM_U8"),
    "sphere.wav": encoded(SHORT, 24000, "NIST", "PCM_16"),
    "ircam.snd": encoded(SHORT, 24000, "IRCAM", "PCM_16"),
    "paris.wav": encoded(SHORT, 24000, "PAF", "PCM_16"),
    "svx.aif": encoded(SHORT, 24000, "SVX", "PCM_16"),
}
"""Whole files by name; each of them plays."""

BY_FFMPEG = {
    "a.m4a": ("ipod", "aac"),
    "alac.m4a": ("ipod", "alac"),
    "a.mkv": ("matroska", "aac"),
    "a.mov": ("mov", "pcm_s16le"),
    "a.aac": ("adts", "aac"),
    "a.wv": ("wv", "wavpack"),
    "a.wma": ("asf", "wmav2"),
    "a.avi": ("avi", "ac3"),
    "a.tta": ("tta", "tta"),
    "a.mpg": ("mpeg", "mp2"),
}
"""Container and codec of the seeds that FFmpeg makes."""


@cache
def made_by_ffmpeg(name: str) -> bytes:
    """A seed of a format that only FFmpeg writes."""
    with tempfile.TemporaryDirectory(prefix="foley-seed-") as folder:
        path = Path(folder) / name
        coded_by_ffmpeg(path, sweep(0.3, 44100), 44100, *BY_FFMPEG[name], title="Door")
        return path.read_bytes()


# ---------------------------------------------------------------- pieces


def _chunks(data: bytes, at: int, head: int, size: Callable[[int], int]) -> list[int]:
    """Where the pieces of a file begin whose chunks state their own size; ends with the file's length."""
    starts = [0]
    while at + head <= len(data):
        starts.append(at)
        at += max(1, head + size(at))
    return [*dict.fromkeys(start for start in starts if start < len(data)), len(data)]


def _number(data: bytes, at: int, length: int, order: str) -> int:
    return int.from_bytes(data[at : at + length], order)  # type: ignore[arg-type]


def pieces(data: bytes) -> list[int]:
    """Where the parts of a file begin, by its container: chunks, pages, blocks, atoms; or every 64 bytes."""
    if data[:4] in (b"RIFF", b"RF64", b"BW64"):
        return _chunks(data, 12, 8, lambda at: (_number(data, at + 4, 4, "little") + 1) & ~1)
    if data[:4] == b"FORM":
        return _chunks(data, 12, 8, lambda at: (_number(data, at + 4, 4, "big") + 1) & ~1)
    if data[:4] == b"caff":
        return _chunks(data, 8, 12, lambda at: _number(data, at + 4, 8, "big"))
    if data[:4] == b"riff":
        return _chunks(data, 40, 24, lambda at: max(0, _number(data, at + 16, 8, "little") - 24))
    if data[4:8] in (b"ftyp", b"wide"):
        return _chunks(data, 0, 8, lambda at: max(0, _number(data, at, 4, "big") - 8))
    if data[:4] == b"fLaC":
        return _chunks(data, 4, 4, lambda at: _number(data, at + 1, 3, "big"))
    if data[:4] == b"OggS":
        return _chunks(data, 0, 27, lambda at: data[at + 26] + sum(data[at + 27 : at + 27 + data[at + 26]]))
    return [*range(0, len(data), 64), len(data)]


def _size_fields(data: bytes) -> list[tuple[int, int, str]]:
    """Where sizes stand: ``(offset, length, byte order)``; those of the pieces, and the container's own."""
    starts = pieces(data)[:-1]
    if data[:4] in (b"RIFF", b"RF64", b"BW64"):
        return [(at + 4, 4, "little") for at in starts]
    if data[:4] == b"FORM":
        return [(at + 4, 4, "big") for at in starts]
    if data[:4] == b"caff":
        return [(at + 4, 8, "big") for at in starts[1:]]
    if data[:4] == b"riff":
        return [(16, 8, "little"), *((at + 16, 8, "little") for at in starts[1:])]
    if data[4:8] in (b"ftyp", b"wide"):
        return [(at, 4, "big") for at in starts]
    if data[:4] == b"fLaC":
        return [(at + 1, 3, "big") for at in starts[1:]]
    if data[:4] == b"OggS":
        return [(at + 26, 1, "big") for at in starts]
    if data[:3] == b"ID3":
        return [(6, 4, "big")]
    return [(at, 4, "little") for at in range(4, min(64, len(data) - 4), 4)]


# ---------------------------------------------------------------- wounds


def _flip(body: bytearray, place: int, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 1, 8))):
        body[min(len(body) - 1, place + rng.randrange(8))] ^= 1 << rng.randrange(8)


def _overwrite(body: bytearray, place: int, rng: random.Random) -> None:
    body[place : place + 4] = rng.choice(
        [b"\xff" * 4, bytes(4), b"\xff\xff\xff\x7f", b"\0\0\0\1", b"\x80\0\0\0"]
    )


def _cut(body: bytearray, place: int, rng: random.Random) -> None:
    del body[rng.randrange(len(body)) :]


def _lose(body: bytearray, place: int, rng: random.Random) -> None:
    del body[place : place + rng.randint(1, 40)]


def _insert(body: bytearray, place: int, rng: random.Random) -> None:
    body[place:place] = rng.randbytes(rng.randint(1, 40))


def _repeat(body: bytearray, place: int, rng: random.Random) -> None:
    start = rng.randrange(len(body))
    body[place:place] = body[start : start + rng.randint(1, 2000)]


def _shuffle(body: bytearray, place: int, rng: random.Random) -> None:
    """Pieces in another order, or one of them doubled, or left out, or one of another kind put between."""
    starts = pieces(bytes(body))
    parts = [bytes(body[a:b]) for a, b in itertools.pairwise(starts)]
    front, rest = parts[:1], parts[1:]
    if not rest:
        return
    kind = rng.randrange(4)
    if kind == 0:
        rng.shuffle(rest)
    elif kind == 1:
        rest.insert(rng.randrange(len(rest) + 1), rng.choice(rest) * rng.choice((1, 1, 50)))
    elif kind == 2:
        del rest[rng.randrange(len(rest))]
    else:
        stranger = rng.choice(
            [IXML, CUE, ADTL, SMPL, bext(b"X"), b"fmt \x10\0\0\0" + bytes(16), b"OggS" + bytes(23)]
        )
        rest.insert(rng.randrange(len(rest) + 1), stranger)
    body[:] = b"".join(front + rest)


def _lie(body: bytearray, place: int, rng: random.Random) -> None:
    """A size that is nothing, everything, one too many, half, double."""
    fields = _size_fields(bytes(body))
    if not fields:
        return
    at, length, order = rng.choice(fields)
    true, most = _number(bytes(body), at, length, order), 256**length - 1
    lies = (
        0,
        1,
        most,
        most // 2,
        most // 2 + 1,
        true + 1,
        max(0, true - 1),
        true // 2,
        true * 2,
        rng.randint(0, most),
    )
    body[at : at + length] = min(most, rng.choice(lies)).to_bytes(length, order)  # type: ignore[arg-type]


WOUNDS = (_flip, _flip, _overwrite, _cut, _lose, _insert, _repeat, _shuffle, _shuffle, _lie, _lie)


def mutate(data: bytes, rng: random.Random) -> bytes:
    """One to three wounds, most of them near the front, where the headers are."""
    body = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        if len(body) < 16:
            break
        place = rng.randrange(min(len(body), 160) if rng.random() < 0.7 else len(body))
        rng.choice(WOUNDS)(body, place, rng)
    return bytes(body)


def mutant(name: str, number: int) -> bytes:
    """The mutant of a seed with this number, the same at every call."""
    seed = SEEDS[name] if name in SEEDS else made_by_ffmpeg(name)
    return mutate(seed, random.Random(f"{name} {number}"))
