"""Waveform summaries: equal to a plain loop over the samples, fast, and safe against broken caches."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.audio import peaks as peaks_module
from foley_desktop.audio.peaks import (
    BASE_BIN,
    LEVEL_STEP,
    PREVIEW_BIN,
    PeakCache,
    Peaks,
    compute,
    view_samples,
)
from foley_desktop.errors import AudioFileError

SynthFactory = Callable[..., Path]


def write(path: Path, samples: np.ndarray, rate: int = 48000) -> str:
    soundfile.write(path, samples, rate, subtype="FLOAT")
    return str(path)


def naive_view(samples: np.ndarray, edges: np.ndarray, bin_frames: int) -> np.ndarray:
    """Minimum, maximum and RMS of whole bins that touch each column; the slow and obvious way."""
    out = np.zeros((samples.shape[1], len(edges) - 1, 3), np.float32)
    for column, (left, right) in enumerate(itertools.pairwise(edges)):
        if right <= 0 or left >= len(samples):
            continue
        bins = -(-len(samples) // bin_frames)
        first = min(max(int(np.floor(left / bin_frames)), 0), bins - 1)
        last = max(first + 1, min(int(np.ceil(right / bin_frames)), bins))
        part = samples[first * bin_frames : last * bin_frames]
        out[:, column, 0], out[:, column, 1] = part.min(axis=0), part.max(axis=0)
        out[:, column, 2] = np.sqrt((part.astype(np.float64) ** 2).mean(axis=0))
    return out


@pytest.fixture(scope="module")
def noise(tmp_path_factory: pytest.TempPathFactory) -> tuple[np.ndarray, Peaks]:
    samples = np.random.default_rng(0).uniform(-1.5, 1.5, (256 * 4**5 + 77, 2)).astype(np.float32)
    samples *= np.linspace(0, 1, len(samples), dtype=np.float32)[:, None]
    return samples, compute(write(tmp_path_factory.mktemp("peaks") / "noise.wav", samples))


def test_levels_cover_the_clip(noise: tuple[np.ndarray, Peaks]) -> None:
    samples, peaks = noise
    assert (peaks.frames, peaks.channels, peaks.samplerate) == (len(samples), 2, 48000)
    assert [level.frames_per_bin for level in peaks.levels] == [
        BASE_BIN * LEVEL_STEP**i for i in range(len(peaks.levels))
    ]
    for level in peaks.levels:
        assert level.bins.shape == (3, 2, -(-len(samples) // level.frames_per_bin))
        assert level.bins[0].min() == samples.min() and level.bins[1].max() == samples.max()
    assert peaks.levels[-1].bins.shape[2] <= 256 < peaks.levels[-2].bins.shape[2]


@given(start=st.floats(-1e5, 3e5), span=st.floats(10, 4e5), columns=st.integers(1, 300))
def test_a_view_equals_the_plain_loop(
    noise: tuple[np.ndarray, Peaks], start: float, span: float, columns: int
) -> None:
    samples, peaks = noise
    got = peaks.view(start, start + span, columns)
    per_column = span / columns
    bin_frames = max([e.frames_per_bin for e in peaks.levels if e.frames_per_bin <= per_column] or [BASE_BIN])
    expected = naive_view(samples, start + per_column * np.arange(columns + 1), bin_frames)
    assert got.dtype == np.float32 and got.shape == (2, columns, 3)
    np.testing.assert_array_equal(got[..., :2], expected[..., :2])
    np.testing.assert_allclose(got[..., 2], expected[..., 2], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("start", "end", "columns"), [(0, 0, 10), (5, 1, 10), (0, 100, 0), (0, 100, -3)])
def test_empty_views(noise: tuple[np.ndarray, Peaks], start: int, end: int, columns: int) -> None:
    assert not noise[1].view(start, end, columns).any()


@given(st.integers(1, 500), st.integers(1, 200))
def test_a_view_of_samples_shows_every_sample(frames: int, columns: int) -> None:
    samples = np.random.default_rng(frames).uniform(-1, 1, (frames, 2)).astype(np.float32)
    got = view_samples(samples, columns)
    assert got.shape == (2, columns, 3)
    assert got[..., 0].min() == samples.min() and got[..., 1].max() == samples.max()
    assert (got[..., 0] <= got[..., 1]).all()


@pytest.mark.parametrize("frames", [1, 19, 255, 256, 257, 336])
def test_tiny_clips_have_a_waveform(tmp_path: Path, frames: int) -> None:
    samples = np.linspace(-0.5, 0.5, frames, dtype=np.float32)
    peaks = compute(write(tmp_path / "tiny.wav", samples))
    view = peaks.view(0, frames, 100)
    assert view[..., 0].min() == samples.min() and view[..., 1].max() == samples.max()


def test_many_channels_and_over_full_scale(tmp_path: Path) -> None:
    samples = np.tile(np.arange(1, 33, dtype=np.float32) / 8, (3000, 1))
    view = compute(write(tmp_path / "wide.wav", samples)).view(0, 3000, 7)
    np.testing.assert_array_equal(view[:, :, 1], np.tile(samples[:1].T, (1, 7)))


def test_damaged_samples_do_not_reach_the_painter(tmp_path: Path) -> None:
    samples = np.array([0.1, np.nan, np.inf, -np.inf, -0.2] * 100, np.float32)
    view = compute(write(tmp_path / "nan.wav", samples)).view(0, 500, 10)
    assert np.isfinite(view).all() and view[..., 1].max() == np.float32(0.1)


def test_progress_and_cancel(tmp_path: Path, synth: SynthFactory) -> None:
    path = str(synth("long.flac", seconds=30.0, channels=2))
    shares: list[float] = []
    compute(path, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) > 3
    with pytest.raises(CancelledError):
        compute(path, cancelled=lambda: True)


def test_what_is_no_audio_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"hello")
    with pytest.raises(AudioFileError):
        compute(str(tmp_path / "a.wav"))


# ---------------------------------------------------------------- the cache


def same(a: Peaks, b: Peaks) -> bool:
    return (a.samplerate, a.frames, a.channels, len(a.levels)) == (
        b.samplerate, b.frames, b.channels, len(b.levels),
    ) and all(np.array_equal(x.bins, y.bins) for x, y in zip(a.levels, b.levels, strict=True))  # fmt: skip


def test_the_cache_gives_back_what_it_got(tmp_path: Path, noise: tuple[np.ndarray, Peaks]) -> None:
    cache = PeakCache(tmp_path / "peaks")
    assert cache.load("ab" * 16) is None
    cache.store("ab" * 16, noise[1])
    found = PeakCache(tmp_path / "peaks").load("ab" * 16)
    assert found is not None and same(found, noise[1])
    # The file is not asked for again: it isn't even there.
    assert same(cache.get("ab" * 16, str(tmp_path / "gone.wav")), noise[1])


def test_broken_cache_files_are_computed_anew(tmp_path: Path, synth: SynthFactory) -> None:
    path = str(synth("a.wav", seconds=2.0, channels=2, kind="noise"))
    cache = PeakCache(tmp_path / "peaks")
    good = cache.get("c0ffee", path)
    (file,) = (tmp_path / "peaks").rglob("*.peaks")
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[-5] ^= 1
    for damage in (
        b"",
        whole[:10],
        whole[:-1],
        whole + b"x",
        bytes(flipped),
        b"\0" * len(whole),
        b"\xff" * 200,
    ):
        file.write_bytes(damage)
        assert cache.load("c0ffee") is None
        assert same(cache.get("c0ffee", path), good)
        assert file.read_bytes() == whole


@given(st.binary(max_size=300))
def test_any_bytes_in_the_cache_are_survived(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("cache")
    (folder / "ab").mkdir()
    (folder / "ab" / "abcd.peaks").write_bytes(b"FDPEAKS\x01" + data)
    assert PeakCache(folder).load("abcd") is None


def test_the_least_recently_used_go_first(tmp_path: Path, synth: SynthFactory) -> None:
    peaks = compute(str(synth("a.wav", seconds=2.0)))
    cache = PeakCache(tmp_path / "peaks")
    cache.store("aa00", peaks)
    (file,) = (tmp_path / "peaks").rglob("*.peaks")
    size = file.stat().st_size
    cache = PeakCache(tmp_path / "peaks", max_bytes=10 * size)
    for i in range(1, 10):
        cache.store(f"aa{i:02}", peaks)
        old = time.time() - 1000 + i
        os.utime(tmp_path / "peaks" / "aa" / f"aa{i:02}.peaks", (old, old))
    assert cache.load("aa01") is not None  # used just now
    for i in range(10, 13):
        cache.store(f"aa{i:02}", peaks)
    left = {path.stem for path in (tmp_path / "peaks").rglob("*.peaks")}
    assert {"aa01", "aa12"} <= left and not {"aa02", "aa03"} & left
    assert len(left) <= 10


def test_a_folder_that_cannot_be_written_costs_only_speed(tmp_path: Path, synth: SynthFactory) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = PeakCache(tmp_path / "file" / "peaks")
    assert cache.get("abcd", str(synth("a.wav"))).frames == 48000


@pytest.mark.parametrize("key", ["", "../x", "a/b", "a b", "é"])
def test_keys_are_hashes(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="not an audio hash"):
        PeakCache(tmp_path).load(key)


def test_a_view_takes_less_than_a_frame(noise: tuple[np.ndarray, Peaks]) -> None:
    _, peaks = noise
    times = []
    for _ in range(30):
        began = time.perf_counter()
        peaks.view(1000, peaks.frames - 1000, 2000)
        times.append(time.perf_counter() - began)
    assert min(times) < 0.002


def test_every_field_case_that_plays_has_a_waveform(shared_dir: Path) -> None:
    files = [path for path in sorted((shared_dir / "field_cases" / "files").rglob("*")) if path.is_file()]
    drawn = 0
    for path in files:
        try:
            peaks = compute(str(path))
        except AudioFileError:
            continue
        drawn += 1
        assert np.isfinite(peaks.view(0, max(1, peaks.frames), 500)).all(), path.name
    assert drawn > 10


def test_previews_cover_what_was_read_and_the_outline_is_read_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peaks_module, "_PREVIEW_EVERY_S", 0.0)
    samples = np.random.default_rng(1).uniform(-1, 1, (900_000, 2)).astype(np.float32)
    seen: list[Peaks] = []
    whole = compute(write(tmp_path / "a.wav", samples), preview=seen.append)
    assert len(seen) > 1 and [p.frames for p in seen] == sorted(p.frames for p in seen)
    for part in seen:
        assert part.levels[0].bins[0].min() == samples[: part.frames].min()
        assert part.base_bin == PREVIEW_BIN
    cache = PeakCache(tmp_path / "peaks")
    cache.store("ab", whole)
    outline = cache.load_outline("ab")
    assert outline is not None and outline.frames_per_bin == whole.outline.frames_per_bin
    np.testing.assert_array_equal(outline.bins, whole.outline.bins)
    assert 256 < outline.bins.shape[2] <= 1024


@pytest.mark.parametrize("most", [200, 1000, 4000])
def test_a_very_large_clip_is_kept_coarser_and_still_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(peaks_module, "MOST_BINS", most)
    samples = np.random.default_rng(2).uniform(-1, 1, (700_123, 2)).astype(np.float32)
    peaks = compute(write(tmp_path / "a.wav", samples))
    assert peaks.base_bin == {200: 4096, 1000: 4096, 4000: 1024}[most]
    starts = np.arange(0, len(samples), peaks.base_bin)
    np.testing.assert_array_equal(peaks.levels[0].bins[0], np.minimum.reduceat(samples, starts).T)
    power = np.add.reduceat(samples.astype(np.float64) ** 2, starts)
    sizes = np.diff(starts, append=len(samples))[:, None]
    np.testing.assert_allclose(peaks.levels[0].bins[2], np.sqrt(power / sizes).T, rtol=1e-4)
    cache = PeakCache(tmp_path / "peaks")
    cache.store("ab", peaks)
    found = cache.load("ab")
    assert found is not None and same(found, peaks)
