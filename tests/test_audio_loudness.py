"""Loudness and true peak: equal to other implementations, whatever the rate, the channels and the blocks."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from foley_desktop.audio import loudness
from foley_desktop.audio.clip_cache import ClipCache
from foley_desktop.audio.loudness import Loudness, Meter, measure
from foley_desktop.audio.truepeak import TruePeak, interpolators, oversampling

SynthFactory = Callable[..., Path]


def programme(rate: int, channels: int, seconds: float = 8.0, seed: int = 0) -> np.ndarray:
    """Noise that swells, pauses and is coloured, so that both gates and the weighting have work to do."""
    rng = np.random.default_rng(seed)
    frames = round(seconds * rate)
    noise = rng.standard_normal((frames, channels))
    noise = np.cumsum(noise, axis=0) * 0.02 + 0.1 * noise
    noise -= noise.mean(axis=0)
    at = np.arange(frames) / rate
    swell = np.where(at % 4 < 1, 0.001, 0.1 + 0.9 * np.sin(np.pi * at / seconds) ** 2)
    out = noise * swell[:, None]
    return (0.7 * out / np.abs(out).max()).astype(np.float32)


def write(path: Path, samples: np.ndarray, rate: int) -> str:
    soundfile.write(path, samples, rate, subtype="FLOAT")
    return str(path)


@pytest.mark.parametrize(("rate", "channels"), [(48000, 1), (44100, 2), (96000, 2), (22050, 3), (8000, 1)])
def test_as_loud_as_pyloudnorm_says(tmp_path: Path, rate: int, channels: int) -> None:
    import pyloudnorm

    samples = programme(rate, channels)
    found = measure(write(tmp_path / "a.wav", samples, rate))
    meter = pyloudnorm.Meter(rate, filter_class="DeMan")
    assert found.integrated_lufs == pytest.approx(meter.integrated_loudness(samples), abs=0.02)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg as the other implementation")
@pytest.mark.parametrize(("rate", "channels"), [(48000, 2), (44100, 1), (96000, 2), (48000, 6)])
def test_as_loud_as_ffmpeg_says(tmp_path: Path, rate: int, channels: int) -> None:
    samples = programme(rate, channels, seed=channels)
    path = write(tmp_path / "a.wav", samples, rate)
    command = [
        "ffmpeg",
        "-nostats",
        "-i",
        path,
        "-filter_complex",
        "ebur128=peak=true+sample",
        "-f",
        "null",
        "-",
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    summary = said[said.rindex("Summary:") :]
    loud, sample, true = (
        float(re.search(pattern, summary, re.S)[1])  # type: ignore[index]
        for pattern in (
            r"I:\s+(\S+) LUFS",
            r"Sample peak:\s+Peak:\s+(\S+) dBFS",
            r"True peak:\s+Peak:\s+(\S+)",
        )
    )
    found = measure(path)
    assert found.integrated_lufs == pytest.approx(loud, abs=0.11)  # ffmpeg rounds to a tenth
    assert found.sample_peak_db == pytest.approx(sample, abs=0.06)
    assert found.true_peak_dbtp == pytest.approx(true, abs=0.15)


def test_the_calibration_tone_of_the_recommendation() -> None:
    # A sine of 997 Hz at full scale in one front channel reads -3.01 LKFS.
    tone = np.sin(2 * np.pi * 997 * np.arange(48000 * 3) / 48000).astype(np.float32)[:, None]
    meter = Meter(48000, 1)
    meter.add(tone)
    assert meter.finish().integrated_lufs == pytest.approx(-3.01, abs=0.02)


def test_silence_is_minus_infinity(tmp_path: Path, synth: SynthFactory) -> None:
    found = measure(str(synth("s.wav", seconds=2.0, channels=2, kind="silence")))
    assert found == Loudness(-math.inf, -math.inf, -math.inf, -math.inf)


def test_what_is_too_short_to_be_gated_has_the_loudness_of_all_of_it() -> None:
    tone = np.sin(2 * np.pi * 997 * np.arange(48000) / 48000).astype(np.float32)[:, None]
    meter = Meter(48000, 1)
    meter.add(tone[:12000])
    found = meter.finish()
    assert found.is_short and found.integrated_lufs == pytest.approx(-3.01, abs=0.15)
    empty = Meter(48000, 2).finish()
    assert empty.integrated_lufs == -math.inf and empty.true_peak_dbtp == -math.inf


@settings(max_examples=15)
@given(st.lists(st.integers(200, 30_000), min_size=1, max_size=6))
def test_the_blocks_it_comes_in_change_nothing(sizes: list[int]) -> None:
    samples = programme(44100, 2, 2.0)
    whole = Meter(44100, 2)
    whole.add(samples)
    pieces, at, turn = Meter(44100, 2), 0, 0
    while at < len(samples):
        size = sizes[turn % len(sizes)]
        pieces.add(samples[at : at + size])
        at, turn = at + size, turn + 1
    one, other = whole.finish(), pieces.finish()
    assert other.integrated_lufs == pytest.approx(one.integrated_lufs, abs=1e-6)
    assert other.momentary_lufs == pytest.approx(one.momentary_lufs, abs=1e-6)
    assert other.true_peak_dbtp == pytest.approx(one.true_peak_dbtp, abs=1e-4)
    assert other.sample_peak_db == one.sample_peak_db


@pytest.mark.parametrize("rate", [44100, 48000, 96000])
def test_the_true_peak_between_samples(rate: int) -> None:
    # A sine at a quarter of the rate, caught 45 degrees off its crests: 3 dB lie between the samples.
    at = np.arange(rate // 2)
    tone = np.sin(np.pi / 2 * at + np.pi / 4) * np.hanning(len(at))
    peak = TruePeak(rate, 1)
    peak.add(tone.astype(np.float32)[None])
    true, sample = peak.finish()
    assert sample == pytest.approx(math.sqrt(0.5), abs=1e-4)
    assert 20 * math.log10(true) == pytest.approx(0.0, abs=0.05)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.floats(0.05, 0.42))
def test_the_true_peak_is_that_of_an_oversampled_copy(seed: int, highest: float) -> None:
    rng = np.random.default_rng(seed)
    spectrum = np.zeros(2049, complex)
    top = int(highest * 4096)
    spectrum[1:top] = rng.standard_normal(top - 1) + 1j * rng.standard_normal(top - 1)
    line = np.fft.irfft(spectrum) * np.hanning(4096)
    line = (line / np.abs(line).max()).astype(np.float32)
    peak = TruePeak(48000, 1)
    for at in range(0, 4096, 700):
        peak.add(line[None, at : at + 700])
    dense = np.abs(soxr.resample(line, 48000, 192000, quality="VHQ")).max()
    assert 20 * math.log10(peak.finish()[0] / dense) == pytest.approx(0.0, abs=0.06)


def test_rates_that_are_high_enough_are_left_alone() -> None:
    assert [oversampling(rate) for rate in (8000, 48000, 96000, 192000, 384000)] == [4, 4, 2, 1, 1]
    assert interpolators(1).shape[0] == 0
    peak = TruePeak(192000, 1)
    peak.add(np.array([[0.25, -0.5]], np.float32))
    assert peak.finish() == (0.5, 0.5)


def test_giving_up(synth: SynthFactory) -> None:
    with pytest.raises(CancelledError):
        measure(str(synth("a.wav")), cancelled=lambda: True)


def test_the_cache_keeps_it_and_survives_anything(tmp_path: Path) -> None:
    cache = ClipCache(tmp_path)
    assert loudness.load(cache, "ab12") is None
    for kept in (
        Loudness(-23.0, -20.5, -0.3, -0.5),
        Loudness(-math.inf, -math.inf, -math.inf, -math.inf, True),
    ):
        loudness.store(cache, "ab12", kept)
        assert loudness.load(cache, "ab12") == kept
    for damage in (
        b"",
        b"{",
        b"[]",
        b"7",
        b'{"version": 1}',
        b'{"version": 0}',
        b"\xff\xfe",
        b'{"version":1,"x":2}',
    ):
        cache.store_bytes("ab12", "loudness", damage)
        assert loudness.load(cache, "ab12") is None
