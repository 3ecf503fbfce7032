"""Mutants of sound files: bits flipped, pieces cut, moved, sizes that lie. They play or they are refused.

Deterministic: the same mutants on every run. None may hang (by the processor's time, so that a busy
machine does not matter), crash or raise anything but a reason.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import mutants
import numpy as np
import pytest
from audio_files import chunk, fmt, pcm, riff, wav
from indexing import Library

from foley_desktop.audio import decode
from foley_desktop.audio.tags import read_tags
from foley_desktop.errors import AudioFileError

REPOSITORY = Path(__file__).resolve().parent.parent
MUTANTS = 25
"""Of each seed that libsndfile reads; of those for FFmpeg 20."""
LIMIT_S = 2.0
REASONS = {"empty", "not_audio", "unsupported_codec", "corrupt_header"}


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


@pytest.mark.parametrize("name", mutants.SEEDS)
def test_mutants_play_or_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(mutants.SEEDS[name])
    assert outcome(path) == "ok", "the seed itself plays"
    for number in range(MUTANTS):
        path.write_bytes(mutants.mutant(name, number))
        outcome(path)


@pytest.mark.parametrize("name", mutants.BY_FFMPEG)
def test_mutants_of_what_ffmpeg_reads(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(mutants.made_by_ffmpeg(name))
    assert outcome(path) == "ok"
    for number in range(20):
        path.write_bytes(mutants.mutant(name, number))
        outcome(path)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the peak of memory")
def test_a_lying_avi_takes_no_memory_and_plays(tmp_path: Path) -> None:
    """Its header makes FFmpeg ask for two gigabytes; a child, whose peak of memory is its own."""
    path = tmp_path / "a.avi"
    path.write_bytes(mutants.mutant("a.avi", 1104))
    # Not ru_maxrss: that begins with the peak of the process that the child was forked from.
    script = (
        "import sys, re, pathlib; from foley_desktop.audio.decode import probe;"
        "print(probe(sys.argv[1]).info.frames);"
        "said = pathlib.Path('/proc/self/status').read_text();"
        "print(int(re.search(r'VmHWM:\\s*(\\d+) kB', said)[1]) // 1024)"
    )
    command = [sys.executable, "-c", script, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=REPOSITORY)
    assert done.returncode == 0, done.stderr
    frames, most_mb = map(int, done.stdout.split())
    assert frames == 12288 and most_mb < 400, done.stdout


def test_healthy_sounds_among_mutants_are_all_indexed(tmp_path: Path) -> None:
    """A batch as ``tests/bench/fuzz.py`` runs hundreds of: all are listed or refused, none is lost."""
    folder = tmp_path / "sounds"
    folder.mkdir()
    names, healthy = [], []
    for at, seed in enumerate((*mutants.SEEDS, *mutants.BY_FFMPEG)):
        names.append(f"{at:02} {seed}")
        (folder / names[-1]).write_bytes(mutants.mutant(seed, 1000))
        if at % 8 == 0:
            healthy.append(f"{at:02} a healthy neighbour.wav")
            (folder / healthy[-1]).write_bytes(wav())
    with Library(tmp_path / "library") as library:
        report = library.index(folder)
        listed = library.ids()
        refused = {Path(rejection.path).name for rejection in report.rejected}
        assert set(listed) | refused == {*names, *healthy} and not set(listed) & refused
        found = {clip_id for clip_id, _ in library.indexes.keyword.bm25("healthy neighbour", 100)}
        assert {listed[name] for name in healthy} <= found
        assert {listed[name] for name in healthy} <= library.indexes.likeness.ids()


@pytest.mark.parametrize("name", ["tagged.wav", "a.aif", "a.flac", "opus.opus", "a.mp3"])
def test_every_cut_plays_or_is_refused(name: str, tmp_path: Path) -> None:
    """Cut at each of the first 120 bytes, then at every hundredth part."""
    data, path = mutants.SEEDS[name], tmp_path / name
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
