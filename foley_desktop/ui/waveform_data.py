"""What there is to draw of a clip: its peaks, and the samples themselves where peaks are too coarse."""

from __future__ import annotations

import math

import numpy as np

from foley_desktop.audio.peaks import Peaks, view_samples

WHOLE_VALUES = 2_000_000
"""A clip of at most so many values (frames times channels) is fetched whole."""
MOST_VALUES = 6_000_000


class WaveData:
    """Peaks of one clip, joined by samples as they come. Times are in seconds, positions in frames.

    Args:
        peaks: Those of the whole clip, or of what has been read of it so far.
        frames: The clip's length where the peaks do not reach its end yet.
    """

    def __init__(self, peaks: Peaks, frames: int | None = None) -> None:
        self.peaks = peaks
        self.frames = peaks.frames if frames is None else frames
        self._samples: np.ndarray | None = None
        self._first = 0

    @property
    def duration_s(self) -> float:
        return self.frames / self.peaks.samplerate if self.peaks.samplerate else 0.0

    def add_samples(self, first: int, samples: np.ndarray) -> None:
        """Takes float32 ``(n, channels)`` that begin at frame ``first``."""
        self._first, self._samples = first, samples

    def take_samples_of(self, other: WaveData) -> None:
        """Keeps the samples that came while the peaks were still being read."""
        self._first, self._samples = other._first, other._samples

    def wanted(self, start_s: float, end_s: float, columns: int) -> tuple[int, int] | None:
        """First frame and number of frames to fetch for this view; None when there is enough."""
        rate, frames, channels = self.peaks.samplerate, self.frames, self.peaks.channels
        if not frames or not self._is_close(start_s, end_s, columns) or self._covers(start_s, end_s):
            return None
        if frames * channels <= WHOLE_VALUES:
            return 0, frames
        span = end_s - start_s
        first = max(0, math.floor((start_s - span) * rate))
        last = min(frames, math.ceil((end_s + span) * rate))
        if (last - first) * channels > MOST_VALUES:
            first, last = max(0, math.floor(start_s * rate)), min(frames, math.ceil(end_s * rate))
        return (first, last - first) if (last - first) * channels <= MOST_VALUES else None

    def _is_close(self, start_s: float, end_s: float, columns: int) -> bool:
        return (end_s - start_s) * self.peaks.samplerate < self.peaks.base_bin * columns

    def _covers(self, start_s: float, end_s: float) -> bool:
        if self._samples is None:
            return False
        rate = self.peaks.samplerate
        last = min(self.frames, math.ceil(end_s * rate))
        return self._first <= math.floor(start_s * rate) and last <= self._first + len(self._samples)

    def view(self, start_s: float, end_s: float, columns: int) -> tuple[np.ndarray, float, float]:
        """What to draw, and from which to which time it reaches.

        Returns:
            float32 ``(channels, columns, 3)`` of minimum, maximum and RMS; start and end in seconds.
        """
        rate = self.peaks.samplerate
        samples = self._samples
        if samples is not None and self._is_close(start_s, end_s, columns) and self._covers(start_s, end_s):
            start, end = start_s * rate - self._first, end_s * rate - self._first
            return view_samples(samples, columns, start, end), start_s, end_s
        return self.peaks.view(start_s * rate, end_s * rate, columns), start_s, end_s

    def line(self, start: float, end: float) -> tuple[int, np.ndarray] | None:
        """The samples to join by lines between two places in frames, with one more at either side: the
        number of the first, and float32 ``(n, channels)``. None where they are not at hand."""
        if self._samples is None:
            return None
        first, last = max(0, math.floor(start) - 1), min(self.frames, math.ceil(end) + 2)
        inside = self._first <= math.floor(start) and min(self.frames, math.ceil(end)) <= self._held_end
        if not inside:
            return None
        first, last = max(first, self._first), min(last, self._held_end)
        return first, self._samples[first - self._first : last - self._first]

    @property
    def _held_end(self) -> int:
        return self._first + (0 if self._samples is None else len(self._samples))
