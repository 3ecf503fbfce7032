"""The network's input follows its recipe, and clips are cut the same however they stream in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.errors import SilentAudioError
from foley_desktop.index.embedders import frontend


def noise(seconds: float, rate: int = frontend.SAMPLERATE, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (0.4 * rng.standard_normal(round(seconds * rate))).astype(np.float32)


def spans(wav: np.ndarray, rate: int, block: int = 1 << 20) -> list[tuple[float, float]]:
    cuts = frontend.cut_windows(frontend.slices(wav, block), rate)
    return [(round(cut.start_s, 2), round(cut.end_s, 2)) for cut in cuts]


def test_the_mel_spectrum_equals_librosas() -> None:
    librosa = pytest.importorskip("librosa")
    clip = noise(3.1) * np.linspace(0.0, 1.0, round(3.1 * 44100), dtype=np.float32)
    mel = librosa.feature.melspectrogram(
        y=clip / np.abs(clip).max(), sr=44100, n_fft=2048, hop_length=1024, n_mels=96,
        norm=1.0, fmin=0.0, fmax=22050.0, htk=True, power=2.0,
    )  # fmt: skip
    expected = np.log10(1.0 + 10_000.0 * mel).T / 9.457798957824707
    got = frontend.log_mel(clip)
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() < 1e-5


def test_the_level_of_a_clip_does_not_matter() -> None:
    clip = noise(1.0)
    assert np.allclose(frontend.log_mel(clip), frontend.log_mel(clip * 0.01), atol=1e-5)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.01, [(0.0, 0.01)]),
        (15.0, [(0.0, 15.0)]),
        (15.5, [(0.0, 10.0), (5.5, 15.5)]),
        (20.0, [(0.0, 10.0), (10.0, 20.0)]),
        (20.9, [(0.0, 10.0), (10.0, 20.0)]),
        (21.0, [(0.0, 10.0), (10.0, 20.0), (11.0, 21.0)]),
        (32.5, [(0.0, 10.0), (10.0, 20.0), (20.0, 30.0), (22.5, 32.5)]),
    ],
)
def test_windows_of_clips(seconds: float, expected: list[tuple[float, float]]) -> None:
    assert spans(noise(seconds), frontend.SAMPLERATE) == expected


@given(seconds=st.floats(0.05, 45.0), block=st.integers(3_000, 3_000_000))
def test_windows_do_not_depend_on_how_the_samples_come(seconds: float, block: int) -> None:
    clip = np.full(round(seconds * 8000), 0.5, dtype=np.float32)
    whole = list(frontend.cut_windows([clip], frontend.SAMPLERATE))
    parts = list(frontend.cut_windows(frontend.slices(clip, block), frontend.SAMPLERATE))
    assert [(c.start_s, c.end_s) for c in whole] == [(c.start_s, c.end_s) for c in parts]
    assert all(np.array_equal(a.samples, b.samples) for a, b in zip(whole, parts, strict=True))


@pytest.mark.parametrize("rate", [8000, 22050, 48000, 96000, 192000])
def test_any_sample_rate_keeps_the_times(rate: int) -> None:
    assert spans(noise(21.5, rate), rate) == [(0.0, 10.0), (10.0, 20.0), (11.5, 21.5)]


def test_channels_are_averaged() -> None:
    left, right = noise(0.5, seed=1), noise(0.5, seed=2)
    (stereo,) = frontend.cut_windows([np.stack([left, right], axis=1)], frontend.SAMPLERATE)
    assert np.allclose(stereo.samples, (left + right) / 2.0, atol=1e-6)


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros(0, np.float32),
        np.zeros((0, 2), np.float32),
        np.zeros(48000, np.float32),
        np.full(48000, np.nan, np.float32),
        np.array([0.1, np.inf, 0.2], np.float32),
        np.full(4800, 9e-6, np.float32),
        np.zeros((2, 2, 2), np.float32),
    ],
)
def test_what_holds_no_sound_is_refused(bad: np.ndarray) -> None:
    with pytest.raises(SilentAudioError):
        list(frontend.cut_windows([bad], 48000))


def test_a_clip_of_no_rate_is_refused() -> None:
    with pytest.raises(SilentAudioError):
        list(frontend.cut_windows([noise(0.1)], 0))


def test_silent_windows_are_left_out() -> None:
    clip = np.concatenate([noise(10.0), np.zeros(441000, np.float32), noise(10.0)])
    assert spans(clip, frontend.SAMPLERATE) == [(0.0, 10.0), (20.0, 30.0)]


def test_blocks_cover_a_spectrogram_to_its_end() -> None:
    mel = np.arange(431 * 96, dtype=np.float32).reshape(431, 96)
    blocks = frontend.blocks_of(mel, 50)
    assert blocks.shape == (8, 100, 96)
    assert np.array_equal(blocks[-1], mel[-100:])
    short = frontend.blocks_of(mel[:30], 50)
    assert short.shape == (1, 100, 96)
    assert np.array_equal(short[0, :30], mel[:30])
    assert not short[0, 30:].any()


def test_memory_does_not_grow_with_the_clip() -> None:
    block = noise(5.0)
    held: list[int] = []
    for cut in frontend.cut_windows((block for _ in range(60)), frontend.SAMPLERATE):
        held.append(cut.samples.size)
    assert len(held) == 30
    assert max(held) <= 15 * frontend.SAMPLERATE
