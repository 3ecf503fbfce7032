"""The highest point of a sound between its samples: true peak as in annex 2 of ITU-R BS.1770-5.

The sound is interpolated to at least 192 kHz by a windowed sine cardinal. No interpolated point can rise
beyond the samples around it by more than the filter's gain, so only the stretches that could still set a
new record are interpolated: of most sounds very few.
"""

from __future__ import annotations

import numpy as np

TAPS = 24
"""Samples that each interpolated point is made of."""
CHUNK = 64
"""Samples that are taken or passed over together."""
_BATCH = 512


class TruePeak:
    """Takes blocks of one sound, ``(channels, n)``."""

    def __init__(self, samplerate: int, channels: int) -> None:
        self._filters = interpolators(oversampling(samplerate))
        self._gain = float(np.abs(self._filters).sum(axis=1).max(initial=1.0))
        self._tail = np.zeros((channels, TAPS - 1), np.float32)  # before the start there is silence
        self.sample_peak = 0.0
        self._between = 0.0

    def add(self, samples: np.ndarray) -> None:
        """Takes float32 ``(channels, n)``."""
        if samples.shape[1]:
            self.sample_peak = max(self.sample_peak, float(samples.max()), -float(samples.min()))
            self._interpolate(samples)

    def finish(self) -> tuple[float, float]:
        """True peak and sample peak, 1.0 = full scale."""
        self._interpolate(np.zeros((len(self._tail), TAPS), np.float32))  # after the end too
        return max(self._between, self.sample_peak), self.sample_peak

    def _interpolate(self, samples: np.ndarray) -> None:
        if not len(self._filters):
            return
        for channel, fresh in enumerate(samples):
            line = np.concatenate([self._tail[channel], fresh])
            self._tail[channel] = line[-(TAPS - 1) :]
            self._look_between(line)

    def _look_between(self, line: np.ndarray) -> None:
        """``line`` float32 ``(n,)``: looks at every place that has all its taps."""
        places = len(line) - TAPS + 1
        if places <= 0:
            return
        starts = np.arange(0, len(line), CHUNK)
        level = np.maximum.reduceat(np.abs(line), starts)
        # The taps of a chunk's places reach into the next one.
        level = np.maximum(level, np.append(level[1:], 0.0))
        order = np.argsort(level)[::-1]
        order = order[order * CHUNK < places]
        padded = np.append(line, np.zeros(CHUNK + TAPS, np.float32))
        windows = np.lib.stride_tricks.sliding_window_view(padded, TAPS)
        for at in range(0, len(order), _BATCH):
            batch = order[at : at + _BATCH]
            batch = batch[level[batch] * self._gain > max(self._between, self.sample_peak)]
            if not batch.size:
                return
            rows = (batch[:, None] * CHUNK + np.arange(CHUNK)).ravel()
            found = windows[rows[rows < places]] @ self._filters.T
            self._between = max(self._between, float(np.abs(found).max()))


def oversampling(samplerate: int) -> int:
    """How many times the rate is raised, so that it becomes 192 kHz or more: 4, 2 or 1."""
    return 4 if samplerate < 96_000 else 2 if samplerate < 192_000 else 1


def interpolators(factor: int) -> np.ndarray:
    """Filters of the places between two samples, float32 ``(factor - 1, TAPS)``, each with a sum of 1."""
    half = TAPS // 2
    distance = np.arange(TAPS)[None] - (half - 1) - np.arange(1, factor)[:, None] / factor
    window = np.i0(7.0 * np.sqrt(np.clip(1 - (distance / half) ** 2, 0, 1))) / np.i0(7.0)
    filters = np.sinc(distance) * window
    filters /= filters.sum(axis=1, keepdims=True)
    return filters.astype(np.float32)
