"""From samples to what the aiSFX network sees, in numpy alone.

The recipe has to be met exactly, since the network was trained behind it: 44.1 kHz mono, normalised
to its peak, centred frames of 2048 samples every 1024, power spectrum, 96 triangular bands on the
HTK mel scale whose weights add up to one, ``log10(1 + 10000 m) / 9.4578``, blocks of 100 frames
(Ma and Lerch, "Representation Learning for the Automatic Indexing of Sound Effects Libraries",
ISMIR 2022). Windows are cut while the samples stream by, so that the memory needed does not depend
on the length of a clip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from foley_desktop.errors import SilentAudioError

SAMPLERATE = 44_100
FRAME = 2048
HOP = 1024
BANDS = 96
BLOCK_FRAMES = 100
LOG_MAX = 9.457798957824707

WHOLE_CLIP_S = 15.0
WINDOW_S = 10.0
MIN_TAIL_S = 1.0

SILENCE_PEAK = 1e-5
"""Linear peak under which samples count as silence, about -100 dBFS."""

_FADED_PEAK_RATIO = 1e-3
_CHUNK_FRAMES = 2048


class WindowRule(NamedTuple):
    """How clips are cut for a model: a short clip is one window, a long one consecutive windows.

    ``samplerate`` is in Hz; ``whole_s`` is the longest clip that stays whole, ``window_s`` the length
    of a window, ``tail_s`` the shortest rest that gets a last window, one that ends with the clip; a
    shorter rest is left out. A window whose peak is under ``silence_peak`` holds no sound.
    """

    samplerate: int = SAMPLERATE
    whole_s: float = WHOLE_CLIP_S
    window_s: float = WINDOW_S
    tail_s: float = MIN_TAIL_S
    silence_peak: float = SILENCE_PEAK


PLAIN_RULE = WindowRule()


class Cut(NamedTuple):
    """A window of a clip: seconds, and float32 mono samples at the rule's rate, shape ``(n,)``."""

    start_s: float
    end_s: float
    samples: np.ndarray


def hz_to_mel(hz: np.ndarray | float) -> np.ndarray | float:
    """The mel scale of HTK: ``2595 log10(1 + f / 700)``."""
    return 2595.0 * np.log10(1.0 + np.asarray(hz) / 700.0)


@lru_cache(maxsize=1)
def mel_filters() -> np.ndarray:
    """Triangles of unit sum, float32 ``(96, 1025)``, from 0 Hz to 22050 Hz."""
    edges_mel = np.linspace(0.0, float(hz_to_mel(SAMPLERATE / 2)), BANDS + 2)
    edges = 700.0 * (10.0 ** (edges_mel / 2595.0) - 1.0)
    bins = np.arange(FRAME // 2 + 1) * (SAMPLERATE / FRAME)
    rising = (bins[None, :] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins[None, :]) / (edges[2:] - edges[1:-1])[:, None]
    weights = np.maximum(0.0, np.minimum(rising, falling))
    total = weights.sum(axis=1, keepdims=True)
    filters: np.ndarray = (weights / np.where(total > 0.0, total, 1.0)).astype(np.float32)
    filters.setflags(write=False)
    return filters


def log_mel(samples: np.ndarray) -> np.ndarray:
    """The network's input for one window, float32 ``(1 + n // 1024, 96)`` in about [0, 1].

    ``samples`` is float32 mono ``(n,)`` at 44.1 kHz, not yet normalised.
    """
    peak = float(np.max(np.abs(samples), initial=0.0))
    padded = np.zeros(samples.size + FRAME, dtype=np.float32)
    np.divide(samples, max(peak, SILENCE_PEAK), out=padded[FRAME // 2 : FRAME // 2 + samples.size])
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::HOP]
    window = np.hanning(FRAME + 1)[:-1].astype(np.float32)
    filters = mel_filters().T
    out = np.empty((frames.shape[0], BANDS), dtype=np.float32)
    for first in range(0, frames.shape[0], _CHUNK_FRAMES):
        spectrum = np.fft.rfft(frames[first : first + _CHUNK_FRAMES] * window, axis=1)
        power = spectrum.real**2 + spectrum.imag**2
        out[first : first + _CHUNK_FRAMES] = power.astype(np.float32) @ filters
    return np.log10(1.0 + 10_000.0 * out) / np.float32(LOG_MAX)


def blocks_of(mel: np.ndarray, hop_frames: int) -> np.ndarray:
    """Cuts a spectrogram ``(t, 96)`` into ``(blocks, 100, 96)``.

    The last block is right-aligned; a window shorter than a block is padded with zeros, which is
    what silence looks like to the network.
    """
    frames = mel.shape[0]
    if frames <= BLOCK_FRAMES:
        block = np.zeros((1, BLOCK_FRAMES, BANDS), dtype=np.float32)
        block[0, :frames] = mel
        return block
    starts = list(range(0, frames - BLOCK_FRAMES + 1, hop_frames))
    if starts[-1] != frames - BLOCK_FRAMES:
        starts.append(frames - BLOCK_FRAMES)
    return np.stack([mel[start : start + BLOCK_FRAMES] for start in starts])


def to_mono(wav: np.ndarray) -> np.ndarray:
    """Float32 ``(n,)`` from ``(n,)`` or ``(n, channels)``; channels are averaged.

    Raises:
        SilentAudioError: for empty input and for samples that are NaN or infinite.
    """
    wav = np.asarray(wav)
    if wav.ndim not in (1, 2):
        raise SilentAudioError("This is not audio: samples must be (n,) or (n, channels).")
    if wav.size == 0:
        raise SilentAudioError("The clip is empty, so there is no sound to compare.")
    mono = wav.astype(np.float32, copy=False) if wav.ndim == 1 else wav.mean(axis=1, dtype=np.float32)
    if not np.isfinite(mono).all():
        raise SilentAudioError("The clip holds samples that are not numbers.")
    return mono


def slices(wav: np.ndarray, block: int = 1 << 20) -> Iterator[np.ndarray]:
    """The samples of an array as blocks, without copying."""
    for first in range(0, len(wav), block):
        yield wav[first : first + block]


def resampled(blocks: Iterable[np.ndarray], sr: int, rate: int = SAMPLERATE) -> Iterator[np.ndarray]:
    """Mono blocks at ``sr`` Hz as mono blocks at ``rate`` Hz."""
    if sr == rate:
        for block in blocks:
            yield to_mono(block)
        return
    import soxr

    stream = soxr.ResampleStream(sr, rate, 1, dtype="float32")
    for block in blocks:
        yield stream.resample_chunk(to_mono(block))
    yield stream.resample_chunk(np.zeros(0, dtype=np.float32), last=True)


def cut_windows(blocks: Iterable[np.ndarray], sr: int, rule: WindowRule = PLAIN_RULE) -> Iterator[Cut]:
    """Streams a clip and yields its windows that hold sound.

    By default a clip of up to 15 s is one window, a longer one consecutive windows of 10 s; a tail of
    at least 1 s gets a last window that ends with the clip. Silent windows are left out.

    Args:
        blocks: Float32 arrays ``(n,)`` or ``(n, channels)`` of any length, in order.
        sr: Their sample rate in Hz.
        rule: How to cut.

    Raises:
        SilentAudioError: when no window holds sound, or a sample is not a number.
    """
    if not sr > 0:
        raise SilentAudioError("The clip has no sample rate.")
    found = False
    for cut in _windows(resampled(blocks, sr, rule.samplerate), rule):
        if float(np.max(np.abs(cut.samples), initial=0.0)) >= rule.silence_peak:
            found = True
            yield cut
    if not found:
        raise SilentAudioError("The clip is silent, so there is no sound to compare.")


def _windows(blocks: Iterable[np.ndarray], rule: WindowRule) -> Iterator[Cut]:
    rate = rule.samplerate
    whole, size = round(rule.whole_s * rate), round(rule.window_s * rate)
    pending = np.zeros(0, dtype=np.float32)
    before = np.zeros(0, dtype=np.float32)
    start = 0
    for block in blocks:
        pending = np.concatenate([pending, block]) if pending.size else block
        # Once the clip has proved long, every full window can go.
        while pending.size > whole or (start and pending.size >= size):
            before, pending = pending[:size].copy(), pending[size:]
            yield _cut(start, before, rate)
            start += size
    if start == 0:
        yield _cut(0, pending, rate)
        return
    if pending.size >= rule.tail_s * rate:
        joined = np.concatenate([before, pending])
        yield _cut(start + pending.size - size, joined[-size:], rate)


def _cut(start: int, samples: np.ndarray, rate: int) -> Cut:
    return Cut(start / rate, (start + samples.size) / rate, samples)


def audible(peaks: list[float]) -> list[bool]:
    """Which windows to keep, by their peaks: those within 60 dB of the clip's loudest one.

    Each window is normalised by its own peak, so the hiss under a long fade would otherwise come
    out as loud as the sound itself.
    """
    loudest = max(peaks, default=0.0)
    return [peak >= loudest * _FADED_PEAK_RATIO for peak in peaks]
