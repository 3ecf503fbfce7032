"""Spectrograms and zero crossings: what sounds stands where it belongs, with bounded work."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.audio import spectrogram
from foley_desktop.audio.clip_cache import ClipCache
from foley_desktop.audio.crossings import nearest_crossing
from foley_desktop.audio.spectrogram import FLOOR_DB, ROWS, Spectrogram, compute

SynthFactory = Callable[..., Path]


def write(path: Path, samples: np.ndarray, rate: int = 48000) -> str:
    soundfile.write(path, samples.astype(np.float32), rate, subtype="FLOAT")
    return str(path)


def decibels(picture: Spectrogram) -> np.ndarray:
    return picture.levels / 255 * -FLOOR_DB + FLOOR_DB


@pytest.mark.parametrize(("rate", "hertz"), [(48000, 1000.0), (96000, 200.0), (44100, 12000.0), (8000, 60.0)])
def test_a_tone_is_a_line_at_its_pitch_and_level(tmp_path: Path, rate: int, hertz: float) -> None:
    tone = 0.1 * np.sin(2 * np.pi * hertz * np.arange(rate * 2) / rate)
    picture = compute(write(tmp_path / "t.wav", tone, rate), 0, rate * 2, 50)
    assert picture.levels.shape == (ROWS, 50) and picture.levels.dtype == np.uint8
    column = decibels(picture)[:, 25]
    assert np.argmax(column) == pytest.approx(picture.row_of(hertz) * ROWS, abs=8)
    assert column.max() == pytest.approx(-20.0, abs=2.0)  # between two bins up to 1.4 dB are lost
    assert np.median(column) < -80


def test_what_begins_late_stands_right(tmp_path: Path) -> None:
    samples = np.zeros((48000, 2))
    samples[24000:, 1] = np.random.default_rng(0).uniform(-0.5, 0.5, 24000)  # one channel only
    picture = compute(write(tmp_path / "late.wav", samples), 0, 48000, 100)
    quiet, loud = picture.levels[:, :44], picture.levels[:, 56:]
    assert quiet.max() == 0 and np.median(loud) > 100


@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.ogg"])
def test_a_part_shows_what_the_whole_shows_there(synth: SynthFactory, name: str) -> None:
    path = str(synth(name, seconds=6.0, channels=2, kind="clicks"))
    whole = compute(path, 0, 288000, 600)
    part = compute(path, 96000, 192000, 200)
    np.testing.assert_allclose(part.levels.astype(int), whole.levels[:, 200:400].astype(int), atol=3)


def test_the_work_is_bounded_by_the_picture(tmp_path: Path, synth: SynthFactory) -> None:
    path = str(synth("long.wav", seconds=600.0, samplerate=8000))
    began = time.process_time()
    compute(path, 0, 4_800_000, 200)
    assert time.process_time() - began < 2.0


def test_close_views_and_tiny_clips(synth: SynthFactory) -> None:
    path = str(synth("a.wav", seconds=0.1))
    assert compute(path, 1000, 1016, 800).levels.shape == (ROWS, 16)
    assert compute(path, 0, 1, 10).levels.shape == (ROWS, 1)
    assert compute(path, 4700, 9000, 100).levels.shape == (ROWS, 100)  # beyond the end


def test_many_channels_are_all_heard(tmp_path: Path) -> None:
    samples = np.zeros((24000, 64))
    samples[:, 63] = np.sin(2 * np.pi * 1000 * np.arange(24000) / 48000)
    picture = compute(write(tmp_path / "wide.wav", samples), 0, 24000, 20)
    assert decibels(picture).max() == pytest.approx(-18, abs=2.5)  # a 64th of the power


def test_previews_grow_and_giving_up(
    tmp_path: Path, synth: SynthFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spectrogram, "_TELL_EVERY_S", 0.0)
    path = str(synth("a.wav", seconds=3.0, kind="noise"))
    seen: list[int] = []
    compute(path, 0, 144000, 100, preview=lambda made: seen.append(int(made.levels.any(axis=0).sum())))
    assert seen == sorted(seen) and seen[0] < 50 and seen[-1] == 100
    with pytest.raises(CancelledError):
        compute(path, 0, 144000, cancelled=lambda: True)


def test_the_cache_keeps_it_and_survives_damage(tmp_path: Path, synth: SynthFactory) -> None:
    made = compute(str(synth("a.wav", kind="noise")), 0, 48000, 64)
    cache = ClipCache(tmp_path / "cache")
    assert spectrogram.load(cache, "ab") is None
    spectrogram.store(cache, "ab", made)
    found = spectrogram.load(cache, "ab")
    assert found is not None and np.array_equal(found.levels, made.levels)
    assert (found.samplerate, found.first, found.last) == (48000, 0, 48000)
    whole = cache.load_bytes("ab", "spectrogram") or b""
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for damage in (b"", whole[:20], whole[:-400], bytes(flipped), b"\xff" * 500):
        cache.store_bytes("ab", "spectrogram", damage)
        assert spectrogram.load(cache, "ab") is None


# ---------------------------------------------------------------- zero crossings


@given(st.integers(0, 1000), st.integers(2, 400), st.integers(1, 4), st.floats(0, 1))
def test_a_crossing_is_one_and_none_is_nearer(seed: int, frames: int, channels: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    samples = np.cumsum(rng.standard_normal((frames, channels)), axis=0).astype(np.float32)
    near = round(share * frames)
    loudest = samples[:, np.argmax((samples**2).sum(axis=0))]
    crossings = [b for b in range(1, frames) if loudest[b - 1] * loudest[b] <= 0]
    found = nearest_crossing(samples, near)
    if not crossings:
        assert found is None
        return
    assert found in crossings
    assert abs(found - near) == min(abs(b - near) for b in crossings)


def test_silence_is_a_crossing_everywhere_but_not_at_its_ends() -> None:
    silence = np.zeros((100, 2), np.float32)
    assert nearest_crossing(silence, 40) == 40
    assert nearest_crossing(silence, 0) == 1
    assert nearest_crossing(silence[:1], 0) is None
    assert nearest_crossing(np.ones((50, 1), np.float32), 10) is None
