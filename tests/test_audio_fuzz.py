"""Mutants of sound files: bits flipped, pieces cut, sizes replaced. They play or they are refused.

Deterministic: the same mutants on every run. None may hang (by the processor's time, so that a busy
machine does not matter), crash or raise anything but a reason.
"""

from __future__ import annotations

import math
import random
import time
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from audio_files import (
    TONE,
    aiff,
    bext,
    chunk,
    coded_by_ffmpeg,
    comm,
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

from foley_desktop.audio import decode
from foley_desktop.audio.tags import read_tags
from foley_desktop.errors import AudioFileError

MUTANTS = 40
LIMIT_S = 2.0
REASONS = {"empty", "not_audio", "unsupported_codec", "corrupt_header"}
SHORT = sweep(0.3, 24000)
IXML = chunk(b"iXML", b"<BWFXML><NOTE>rain</NOTE></BWFXML>")
SEEDS = {
    "tagged.wav": wav(info((b"INAM", b"T")), chunk(b"id3 ", id3((b"TIT2", "T"))), IXML, before=[bext(b"D")]),
    "extensible.wav": riff(fmt(0xFFFE, 2, bits=24, extra=extensible(1, 24)), chunk(b"data", pcm(24))),
    "ima.wav": encoded(SHORT, 24000, "WAV", "IMA_ADPCM"),
    "ms.wav": encoded(np.stack([SHORT, SHORT], 1), 24000, "WAV", "MS_ADPCM"),
    "gsm.wav": encoded(SHORT, 8000, "WAV", "GSM610"),
    "rf64.wav": encoded(SHORT, 24000, "RF64", "FLOAT"),
    "a.aif": aiff(comm(), ssnd(pcm(16, order=">"))),
    "a.flac": flac((4, vorbis_comment(b"TITLE=Door")), (6, bytes(100))),
    "coded.flac": encoded(TONE, 48000, "FLAC", "PCM_24"),
    "vorbis.ogg": encoded(SHORT, 24000, "OGG", "VORBIS"),
    "opus.opus": encoded(SHORT, 24000, "OGG", "OPUS") * 2,
    "a.mp3": id3((b"TIT2", "Door")) + encoded(SHORT, 24000, "MP3", "MPEG_LAYER_III"),
    "alac.caf": encoded(SHORT, 24000, "CAF", "ALAC_16"),
    "a.w64": encoded(SHORT, 24000, "W64", "PCM_16"),
    "a.au": encoded(SHORT, 24000, "AU", "PCM_16"),
    "a.voc": encoded(SHORT, 24000, "VOC", "PCM_U8"),
}
BY_FFMPEG = {
    "a.m4a": ("ipod", "aac"),
    "a.mkv": ("matroska", "aac"),
    "a.aac": ("adts", "aac"),
    "a.wv": ("wv", "wavpack"),
}


def mutate(data: bytes, rng: random.Random) -> bytes:
    """One to three wounds, most of them near the front, where the headers are."""
    body = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        if len(body) < 16:
            break
        place = rng.randrange(min(len(body), 160) if rng.random() < 0.7 else len(body))
        kind = rng.randrange(6)
        if kind == 0:
            body[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            body[place : place + 4] = rng.choice([b"\xff" * 4, bytes(4), b"\xff\xff\xff\x7f", b"\0\0\0\1"])
        elif kind == 2:
            del body[rng.randrange(len(body)) :]
        elif kind == 3:
            del body[place : place + rng.randint(1, 40)]
        elif kind == 4:
            body[place:place] = rng.randbytes(rng.randint(1, 40))
        else:
            start = rng.randrange(len(body))
            body[place:place] = body[start : start + rng.randint(1, 2000)]
    return bytes(body)


def outcome(path: Path) -> str:
    """``ok`` or the reason; anything else escapes. Seeks too, and reads the tags."""
    began = time.process_time()
    try:
        probe = decode.probe(str(path))
        assert probe.info.frames > 0 and math.isfinite(probe.peak)
        with decode.open_audio(str(path)) as reader:
            reader.seek(probe.info.frames // 2)
            assert np.isfinite(reader.read(1000)).all()
        found = "ok"
    except AudioFileError as error:
        assert error.reason in REASONS, error.reason
        found = error.reason
    for tag in read_tags(str(path)):
        assert tag.value and tag.value == tag.value.strip(), tag
        assert not {"Cc", "Cs"} & {unicodedata.category(character) for character in tag.value}, tag
    assert time.process_time() - began < LIMIT_S
    return found


@pytest.mark.parametrize("name", SEEDS)
def test_mutants_play_or_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(SEEDS[name])
    assert outcome(path) == "ok", "the seed itself plays"
    for number in range(MUTANTS):
        path.write_bytes(mutate(SEEDS[name], random.Random(f"{name} {number}")))
        outcome(path)


@pytest.mark.parametrize("name", BY_FFMPEG)
def test_mutants_of_what_ffmpeg_reads(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    coded_by_ffmpeg(path, sweep(0.3, 44100), 44100, *BY_FFMPEG[name], title="Door")
    seed = path.read_bytes()
    assert outcome(path) == "ok"
    for number in range(MUTANTS // 2):
        path.write_bytes(mutate(seed, random.Random(f"{name} {number}")))
        outcome(path)


@pytest.mark.parametrize("name", ["tagged.wav", "a.aif", "a.flac", "opus.opus", "a.mp3"])
def test_every_cut_plays_or_is_refused(name: str, tmp_path: Path) -> None:
    """Cut at each of the first 120 bytes, then at every hundredth part."""
    data, path = SEEDS[name], tmp_path / name
    for end in [*range(min(120, len(data))), *range(120, len(data), max(1, len(data) // 100))]:
        path.write_bytes(data[:end])
        outcome(path)


@pytest.mark.parametrize(
    "start", [b"RIFF\xff\xff\xff\xffWAVE", b"FORM\xff\xff\xff\xffAIFF", b"fLaC", b"OggS\0\2", b"ID3\4\0\0"]
)
def test_rubbish_behind_a_good_beginning(start: bytes, tmp_path: Path) -> None:
    for number in range(MUTANTS // 4):
        path = tmp_path / "a.wav"
        path.write_bytes(start + random.Random(f"{start!r} {number}").randbytes(20_000))
        outcome(path)


def test_a_million_tiny_chunks_take_no_time(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(riff(fmt(), b"junk\0\0\0\0" * 1_000_000, chunk(b"data", pcm(16))))
    outcome(path)
    path.write_bytes(riff(fmt(), b"LIST\xff\xff\xff\xff" * 200_000))
    outcome(path)
    path.write_bytes(b"fLaC\0\0\0\x22" + bytes(34) + b"\1\0\0\0" * 1_000_000)
    outcome(path)
    path.write_bytes(b"OggS\0\2" * 500_000)
    outcome(path)
    path.write_bytes(b"\xff\xfb\x90\x64" + b"\xff" * 2_000_000)
    outcome(path)
    path.write_bytes(b"ID3\4\0\0\0\0\0\0" * 200_000)
    outcome(path)
