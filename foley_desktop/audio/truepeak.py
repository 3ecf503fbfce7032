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
_PRODUCTS = 300_000
"""Multiplications in one matrix product. Larger ones are spread over threads, which costs far more than it
gives: on a busy machine each waits for the other."""


class TruePeak:
    """Takes blocks of one sound, ``(channels, n)``."""

    def __init__(self, samplerate: int, channels: int) -> None:
        filters = interpolators(oversampling(samplerate))
        self._gain = float(np.abs(filters).sum(axis=1).max(initial=1.0))
        self._chunk_filter = _for_chunks(filters)
        self._batch = max(4, _PRODUCTS // max(1, self._chunk_filter.size))
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
        self._interpolate(np.zeros((len(self._tail), TAPS + CHUNK), np.float32))  # after the end too
        return max(self._between, self.sample_peak), self.sample_peak

    def _interpolate(self, samples: np.ndarray) -> None:
        if not self._chunk_filter.size:
            return
        lines = np.concatenate([self._tail, samples], axis=1)
        chunks = (lines.shape[1] - TAPS + 1) // CHUNK
        for line in lines:
            if chunks > 0:
                self._look_between(line, chunks)
        self._tail = lines[:, max(0, chunks) * CHUNK :].copy()

    def _look_between(self, line: np.ndarray, chunks: int) -> None:
        """``line`` float32 ``(n,)``: looks at its first ``chunks`` chunks, the loudest first."""
        level = np.maximum.reduceat(np.abs(line), np.arange(0, len(line), CHUNK))
        level = np.maximum(level, np.append(level[1:], 0.0))[:chunks]  # taps reach into the next one
        order = np.argsort(level)[::-1]
        windows = np.lib.stride_tricks.sliding_window_view(line, CHUNK + TAPS - 1)
        for at in range(0, chunks, self._batch):
            batch = order[at : at + self._batch]
            batch = batch[level[batch] * self._gain > max(self._between, self.sample_peak)]
            if not batch.size:
                return
            found = windows[batch * CHUNK] @ self._chunk_filter
            self._between = max(self._between, float(found.max()), -float(found.min()))


def _for_chunks(filters: np.ndarray) -> np.ndarray:
    """The filters as one matrix, float32 ``(CHUNK + TAPS - 1, CHUNK * len(filters))``: every place of a chunk
    at once, which a matrix product does much faster than it does one place after the other."""
    matrix = np.zeros((CHUNK + TAPS - 1, len(filters), CHUNK), np.float32)
    for place in range(CHUNK):
        matrix[place : place + TAPS, :, place] = filters.T
    return matrix.reshape(CHUNK + TAPS - 1, -1)


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
