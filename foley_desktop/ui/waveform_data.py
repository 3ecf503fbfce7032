"""What there is to draw of a clip: its peaks, and the samples themselves where peaks are too coarse."""

from __future__ import annotations

import math

import numpy as np

from foley_desktop.audio.peaks import BASE_BIN, Peaks, view_samples

WHOLE_VALUES = 2_000_000
"""A clip of at most so many values (frames times channels) is fetched whole."""
MOST_VALUES = 6_000_000


class WaveData:
    """Peaks of one clip, joined by samples as they come. Times are in seconds, positions in frames."""

    def __init__(self, peaks: Peaks) -> None:
        self.peaks = peaks
        self._samples: np.ndarray | None = None
        self._first = 0

    @property
    def duration_s(self) -> float:
        return self.peaks.frames / self.peaks.samplerate if self.peaks.samplerate else 0.0

    def add_samples(self, first: int, samples: np.ndarray) -> None:
        """Takes float32 ``(n, channels)`` that begin at frame ``first``."""
        self._first, self._samples = first, samples

    def wanted(self, start_s: float, end_s: float, columns: int) -> tuple[int, int] | None:
        """First frame and number of frames to fetch for this view; None when there is enough."""
        rate, frames, channels = self.peaks.samplerate, self.peaks.frames, self.peaks.channels
        if not frames or (end_s - start_s) * rate >= BASE_BIN * columns or self._covers(start_s, end_s):
            return None
        if frames * channels <= WHOLE_VALUES:
            return 0, frames
        span = end_s - start_s
        first = max(0, math.floor((start_s - span) * rate))
        last = min(frames, math.ceil((end_s + span) * rate))
        if (last - first) * channels > MOST_VALUES:
            first, last = max(0, math.floor(start_s * rate)), min(frames, math.ceil(end_s * rate))
        return (first, last - first) if (last - first) * channels <= MOST_VALUES else None

    def _covers(self, start_s: float, end_s: float) -> bool:
        if self._samples is None:
            return False
        rate = self.peaks.samplerate
        last = min(self.peaks.frames, math.ceil(end_s * rate))
        return self._first <= math.floor(start_s * rate) and last <= self._first + len(self._samples)

    def view(self, start_s: float, end_s: float, columns: int) -> tuple[np.ndarray, float, float]:
        """What to draw, and from which to which time it reaches.

        Returns:
            float32 ``(channels, columns, 3)`` of minimum, maximum and RMS; start and end in seconds,
            which may lie a frame outside what was asked for.
        """
        rate = self.peaks.samplerate
        fine = (end_s - start_s) * rate < BASE_BIN * columns
        if fine and self._samples is not None and self._covers(start_s, end_s):
            first = math.floor(start_s * rate)
            last = min(self.peaks.frames, max(first + 1, math.ceil(end_s * rate)))
            part = self._samples[first - self._first : last - self._first]
            return view_samples(part, columns), first / rate, last / rate
        return self.peaks.view(start_s * rate, end_s * rate, columns), start_s, end_s
