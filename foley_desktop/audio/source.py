"""A clip as the device wants it: mixed, resampled, looped and faded, block after block.

All of it happens on the decoder thread, ahead of time, so that the audio callback has nothing left to do
but to copy. Free of devices, so that tests can compare what comes out with the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import soxr

from foley_desktop.audio.decode import open_audio
from foley_desktop.audio.mix import mix, mix_matrix

FADE_S = 0.005
"""Length of every fade: at a start or an end inside the file, at pause, stop, seek and switch."""
QUIET_START = 0.001
"""A file whose first frame stays below this (-60 dBFS) starts without a fade: its attack stays hard."""

_READ_FRAMES = 8192
_KEPT_LOOP_S = 10.0  # shorter loops are kept in memory: no seeks, and one-sample loops cost nothing
_PREROLL = 1024  # source frames before the start that settle the resampler


def fade_frames(samplerate: int) -> int:
    """Frames in one fade."""
    return max(1, round(FADE_S * samplerate))


def fade_curve(samplerate: int) -> np.ndarray:
    """Gains of a fade-in, float32 ``(n,)``: a raised cosine from just above 0 to just below 1."""
    n = fade_frames(samplerate)
    return (np.sin(np.arange(0.5, n) * (math.pi / 2 / n)) ** 2).astype(np.float32)


class ClipSource:
    """Reads one clip, from one position on, as float32 frames of the device.

    Made and read by one thread; ``loop`` may be set, and the lengths read, from any.

    Args:
        path: Absolute path.
        samplerate, channels: What the device takes; the clip is converted to it.
        start_s: Where to begin, in seconds; outside the region it is its start.
        region_s: ``(start, end)`` in seconds of what may be heard; ``end`` None is the clip's end.
        loop: Whether to go on at the region's start when its end is reached.

    Attributes:
        start_s: Where it does begin: the nearest frame of the clip.
        duration_s: Length of the whole clip, exact once its end was read.
        loop: See above; heard from the next time the end is read.

    Raises:
        AudioFileError: when the file cannot be used as audio.
    """

    def __init__(
        self,
        path: str,
        samplerate: int,
        channels: int,
        *,
        start_s: float = 0.0,
        region_s: tuple[float, float | None] = (0.0, None),
        loop: bool = False,
    ) -> None:
        self._reader = open_audio(path)
        info = self._reader.info
        self._rate, self._out_rate = info.samplerate, samplerate
        self._matrix = mix_matrix(info.channels, channels)
        self._end = info.frames if self._reader.frames_known else None
        self.duration_s = info.duration_s
        self.loop = loop
        self._first = max(0, round(region_s[0] * self._rate))
        self._cut: int | None = None  # the region's end where it lies inside the clip
        if region_s[1] is not None:
            self._cut = max(self._first + 1, round(region_s[1] * self._rate))
            if self._end is not None and self._cut >= self._end:
                self._cut = None
        self._start = self._inside(round(start_s * self._rate))
        self.start_s = self._start / self._rate
        self._looped = False
        self._hard_start: bool | None = None
        self._blocks = self._faded(self._converted())

    def position_s(self, given: int) -> float:
        """The time in the clip, in seconds, of frame ``given`` of what :meth:`read` gives."""
        position = self.start_s + given / self._out_rate
        last = self._last()
        if last is None or position <= last / self._rate:
            return position
        if last <= self._first or not self._looped:
            return last / self._rate
        start = self._first / self._rate
        return start + (position - start) % (last / self._rate - start)

    def read(self) -> np.ndarray | None:
        """The next frames, float32 ``(n, channels)`` with n > 0, or None at the end."""
        return next(self._blocks, None)

    def close(self) -> None:
        self._reader.close()

    def _last(self) -> int | None:
        """The frame after the region's last one, None while it is unknown."""
        return self._end if self._cut is None else self._cut

    def _inside(self, frame: int) -> int:
        last = self._last()
        if frame < self._first or (last is not None and frame >= last):
            return self._first
        return frame

    # ---- from the file

    def _frames_from(self, position: int) -> Iterator[np.ndarray]:
        """Mixed frames at the clip's own rate, looping; each block has at least one frame."""
        self._reader.seek(position)
        fresh = True  # nothing came since the last seek: then the end is not the clip's end
        while True:
            last = self._last()
            want = _READ_FRAMES if last is None else min(_READ_FRAMES, last - position)
            block = self._reader.read(want)
            if len(block):
                if self._hard_start is None:
                    self._hard_start = self._start == 0 and float(np.abs(block[0]).max()) < QUIET_START
                position, fresh = position + len(block), False
                yield mix(block, self._matrix)
                continue
            if want > 0 and not fresh:
                self._learn_end(position)
            if not self.loop or position <= self._first:
                return
            self._looped = True
            last = self._last()
            if last is not None and last - self._first <= _KEPT_LOOP_S * self._rate:
                yield from self._kept_loop(last - self._first)
                return
            position, fresh = self._first, True
            self._reader.seek(position)

    def _learn_end(self, frames: int) -> None:
        self._end, self.duration_s = frames, frames / self._rate
        if self._cut is not None and self._cut >= frames:
            self._cut = None

    def _kept_loop(self, frames: int) -> Iterator[np.ndarray]:
        """The region over and over from memory, as long as ``loop`` is on."""
        self._reader.seek(self._first)
        parts = []
        while frames > 0 and len(block := self._reader.read(frames)):
            parts.append(mix(block, self._matrix))
            frames -= len(block)
        if not parts:
            return
        once = np.concatenate(parts)
        while self.loop:
            yield np.tile(once, (max(1, _READ_FRAMES // len(once)), 1))

    # ---- to the device

    def _converted(self) -> Iterator[np.ndarray]:
        """Frames at the device's rate; the resampler settles on what comes before the start."""
        if self._rate == self._out_rate:
            yield from self._frames_from(self._start)
            return
        preroll, skip = self._preroll()
        stream = soxr.ResampleStream(
            self._rate, self._out_rate, self._matrix.shape[1], dtype="float32", quality="HQ"
        )
        for block in self._frames_from(self._start - preroll):
            out = stream.resample_chunk(block)
            dropped = min(skip, len(out))
            skip -= dropped
            if len(out) > dropped:
                yield out[dropped:]
        tail = stream.resample_chunk(np.empty((0, self._matrix.shape[1]), np.float32), last=True)
        if len(tail) > skip:
            yield tail[skip:]

    def _preroll(self) -> tuple[int, int]:
        """Source frames to read before the start, and the device frames that they become.

        Multiples of the shortest stretch that is a whole number of frames at both rates, so that the
        first frame given is the start exactly. Where that stretch is too long, the nearest frame.
        """
        unit = self._rate // math.gcd(self._rate, self._out_rate)
        wanted = min(_PREROLL, self._start)
        if unit <= _READ_FRAMES:
            wanted = min(-(-_PREROLL // unit), self._start // unit) * unit
        return wanted, round(wanted * self._out_rate / self._rate)

    def _faded(self, blocks: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
        """Fades in where sound would begin abruptly, and out where the region ends inside the clip."""
        ramp = fade_curve(self._out_rate)
        total = None
        if self._cut is not None:
            total = max(1, round((self._cut - self._start) * self._out_rate / self._rate))
            ramp = ramp[:: -(-2 * len(ramp) // total)] if total < 2 * len(ramp) else ramp
        given = 0
        for block in blocks:
            if given < len(ramp) and not self._hard_start:
                block = _scaled(block, ramp[given:], 0)
            if total is not None and self.loop and given + len(block) > total:
                total = None  # it goes round: the region's end is no longer where it stops
            if total is not None and not self.loop:
                block = block[: max(0, total - given)]
                tail = total - len(ramp) - given  # where in this block the fade-out begins
                if tail < len(block):
                    block = _scaled(block, ramp[::-1][max(0, -tail) :], max(0, tail))
            given += len(block)
            if len(block):
                yield block


def _scaled(block: np.ndarray, gains: np.ndarray, at: int) -> np.ndarray:
    """A copy of ``block`` with its frames from ``at`` on multiplied by ``gains``, as far as both reach."""
    block = block.copy()
    part = block[at : at + len(gains)]
    part *= gains[: len(part), None]
    return block
