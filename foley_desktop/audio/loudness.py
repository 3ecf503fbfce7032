"""How loud a clip is: integrated loudness, true peak and sample peak, in one pass and little memory.

ITU-R BS.1770-5 and EBU R 128, streaming: what is kept of a two-hour file are the powers of its tenths of a
second. The K-weighting is the recommendation's own, carried from 48 kHz to other rates by the analogue
prototype behind its coefficients (B. De Man, "Evaluation of implementations of the EBU R128 loudness
measurement", AES 145, 2018). Lies in the audio room, beside the waveforms whose cache it shares.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import asdict, dataclass

import numpy as np

from foley_desktop.audio.clip_cache import ClipCache
from foley_desktop.audio.decode import open_audio
from foley_desktop.audio.truepeak import TruePeak

STEP_S = 0.1
BLOCK_STEPS = 4
"""A gating block lasts 400 ms and overlaps the next by three quarters."""
ABSOLUTE_GATE = -70.0
RELATIVE_GATE = -10.0
VERSION = 1

_PARTS = ("special", "linalg", "optimize", "ndimage", "interpolate", "stats", "signal")
_SURROUND = 10**0.15  # +1.5 dB
_WEIGHTS = {
    4: (1.0, 1.0, _SURROUND, _SURROUND),
    5: (1.0, 1.0, 1.0, _SURROUND, _SURROUND),
    6: (1.0, 1.0, 1.0, 0.0, _SURROUND, _SURROUND),
    8: (1.0, 1.0, 1.0, 0.0, _SURROUND, _SURROUND, _SURROUND, _SURROUND),
}


@dataclass(frozen=True, slots=True)
class Loudness:
    """Levels of a clip; ``-inf`` is silence.

    Attributes:
        integrated_lufs: Gated loudness in LUFS. ``-inf`` too where no block passes the absolute gate.
        momentary_lufs: The loudest 400 ms, in LUFS.
        true_peak_dbtp: The highest point between and at the samples, in dB of full scale.
        sample_peak_db: The highest sample, in dB of full scale.
        is_short: The clip is shorter than a gating block; then the loudness is that of all of it, ungated.
    """

    integrated_lufs: float
    momentary_lufs: float
    true_peak_dbtp: float
    sample_peak_db: float
    is_short: bool = False


def measure(path: str, *, cancelled: Callable[[], bool] | None = None) -> Loudness:
    """Measures a file, streaming.

    Channels weigh as the recommendation says for quad, 5.0, 5.1 and 7.1 in the order of WAV files (the LFE
    not at all); in every other number of channels, where nobody knows what they are, all alike.

    Raises:
        AudioFileError: when the file cannot be used as audio.
        concurrent.futures.CancelledError: when ``cancelled`` said so.
    """
    _import_filters(cancelled)
    with open_audio(path) as reader:
        meter = Meter(reader.info.samplerate, reader.info.channels)
        while len(block := reader.read(reader.block_frames)):
            if cancelled is not None and cancelled():
                raise CancelledError
            meter.add(block)
    return meter.finish()


def _import_filters(cancelled: Callable[[], bool] | None) -> None:
    """Imports the filters step by step: all at once they take a second or more in which nothing could be
    given up."""
    for part in _PARTS:
        if cancelled is not None and cancelled():
            raise CancelledError
        importlib.import_module(f"scipy.{part}")


class Meter:
    """Takes blocks of one sound and says at the end how loud it was."""

    def __init__(self, samplerate: int, channels: int) -> None:
        from scipy.signal import sosfilt

        self._filter = sosfilt
        self._sections = k_weighting(samplerate)
        self._state = np.zeros((len(self._sections), channels, 2))
        self._weights = np.array(_WEIGHTS.get(channels, (1.0,) * channels))
        self._rate, self._channels = samplerate, channels
        self._powers: list[np.ndarray] = []
        self._open, self._open_frames = np.zeros(channels), 0  # the step that is not full yet
        self._steps = 0
        self._frames = 0
        self._all = np.zeros(channels)
        self._true_peak = TruePeak(samplerate, channels)

    def add(self, block: np.ndarray) -> None:
        """Takes float32 ``(n, channels)``."""
        samples = np.ascontiguousarray(block.T)
        self._true_peak.add(samples)
        weighted, self._state = self._filter(self._sections, samples, axis=1, zi=self._state)
        self._frames += len(block)
        at, length = 0, samples.shape[1]
        while at < length:
            # Steps begin at rounded frames, so that they stay true to time at any rate.
            end = round((self._steps + 1) * STEP_S * self._rate)
            begin = round(self._steps * STEP_S * self._rate)
            take = min(length - at, end - begin - self._open_frames)
            part = weighted[:, at : at + take]
            self._open += np.einsum("cn,cn->c", part, part)
            self._open_frames += take
            at += take
            if self._open_frames >= end - begin:
                self._close_step()

    def _close_step(self) -> None:
        self._all += self._open
        self._powers.append(self._open / max(1, self._open_frames))
        self._open, self._open_frames = np.zeros(self._channels), 0
        self._steps += 1

    def finish(self) -> Loudness:
        """The levels of all that was added."""
        true_peak, sample_peak = self._true_peak.finish()
        peaks = (_db(true_peak), _db(sample_peak))
        if len(self._powers) < BLOCK_STEPS:
            whole = lufs(float(np.dot(self._all + self._open, self._weights)) / max(1, self._frames))
            return Loudness(whole, whole, *peaks, is_short=True)
        steps = np.array(self._powers) @ self._weights
        sums = np.cumsum(np.concatenate([[0.0], steps]))
        blocks = (sums[BLOCK_STEPS:] - sums[:-BLOCK_STEPS]) / BLOCK_STEPS
        return Loudness(integrated(blocks), lufs(float(blocks.max())), *peaks)


def integrated(blocks: np.ndarray) -> float:
    """Gated loudness in LUFS of the weighted mean squares ``(n,)`` of overlapping 400 ms blocks."""
    loud = blocks[blocks > _power(ABSOLUTE_GATE)]
    if not loud.size:
        return -math.inf
    gate = _power(lufs(float(loud.mean())) + RELATIVE_GATE)
    return lufs(float(loud[loud > gate].mean()))


def lufs(power: float) -> float:
    """Loudness of a K-weighted mean square, summed over channels."""
    return -0.691 + 10 * math.log10(power) if power > 1e-20 else -math.inf


def _power(loudness: float) -> float:
    return float(10 ** ((loudness + 0.691) / 10))


def _db(level: float) -> float:
    return 20 * math.log10(level) if level > 1e-10 else -math.inf


def k_weighting(samplerate: int) -> np.ndarray:
    """The two second-order sections of the K-weighting at ``samplerate`` Hz, float64 ``(2, 6)``."""
    gain, quality, centre = 3.999843853973347, 0.7071752369554196, 1681.974450955533
    k = math.tan(math.pi * min(centre / samplerate, 0.49))
    high = 10 ** (gain / 20)
    middle = high**0.4996667741545416
    scale = 1 + k / quality + k * k
    shelf = [
        (high + middle * k / quality + k * k) / scale,
        2 * (k * k - high) / scale,
        (high - middle * k / quality + k * k) / scale,
        1.0,
        2 * (k * k - 1) / scale,
        (1 - k / quality + k * k) / scale,
    ]
    quality, centre = 0.5003270373238773, 38.13547087602444
    k = math.tan(math.pi * centre / samplerate)
    scale = 1 + k / quality + k * k
    high_pass = [1.0, -2.0, 1.0, 1.0, 2 * (k * k - 1) / scale, (1 - k / quality + k * k) / scale]
    return np.array([shelf, high_pass])


def load(cache: ClipCache, key: str) -> Loudness | None:
    """What was measured before, or None."""
    data = cache.load_bytes(key, "loudness", 4096)
    try:
        stored = json.loads(data or b"")
        if stored.pop("version") != VERSION:
            return None
        short = stored.pop("is_short") is True
        return Loudness(**{name: float(value) for name, value in stored.items()}, is_short=short)
    except (ValueError, TypeError, AttributeError, KeyError):
        return None


def store(cache: ClipCache, key: str, loudness: Loudness) -> None:
    """Keeps what was measured."""
    cache.store_bytes(key, "loudness", json.dumps({"version": VERSION, **asdict(loudness)}).encode())
