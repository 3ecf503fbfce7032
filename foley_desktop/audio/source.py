"""A clip as the device wants it: treated, mixed, resampled, looped and faded, block after block.

All of it happens on the decoder thread, ahead of time, so that the audio callback has nothing left to do
but to copy. Free of devices, so that tests can compare what comes out with the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import soxr

from foley_desktop.audio.backward import BackwardReader
from foley_desktop.audio.decode import AudioReader, open_audio
from foley_desktop.audio.lulls import Lulls
from foley_desktop.audio.mix import mix_matrix
from foley_desktop.audio.stretch import stretch_blocks
from foley_desktop.audio.treatment import Treatment

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

    Made and read by one thread; ``loop`` may be set, and the lengths read, from any. A reversed clip is read
    as its mirror image: inside, every place is one of the clip that is played, whichever way round.

    Args:
        path: Absolute path.
        samplerate, channels: What the device takes; the clip is converted to it.
        start_s: Where to begin, in seconds; outside the region it is where the region begins to sound.
        region_s: ``(start, end)`` in seconds of what may be heard; ``end`` None is the clip's end.
        loop: Whether to go on at the region's start when its end is reached.
        treatment: What is done to the sound.
        peak: The clip's highest sample, for the treatment; None if unknown.
        frames: The clip's true length from an earlier decoding, None if unknown.
        skip_silence: Whether long silences are left out.

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
        treatment: Treatment | None = None,
        peak: float | None = None,
        frames: int | None = None,
        skip_silence: bool = False,
    ) -> None:
        self._treatment = treatment = treatment or Treatment()
        self._reader: AudioReader = open_audio(path, early=True)
        info = self._reader.info
        self._rate, self.out_rate = info.samplerate, samplerate
        self.duration_s = info.duration_s
        self._end = info.frames if self._reader.frames_known else None
        if treatment.reverse:
            self._reader = mirror = BackwardReader(self._reader, frames)
            self._end, self.duration_s = mirror.frames, mirror.frames / self._rate
        self._stretches = treatment.stretches
        self._tape_rate = self._rate * (1.0 if self._stretches else treatment.speed)
        self._chosen, self._to_device = _matrices(treatment, info.channels, channels, whole=self._stretches)
        self._gain = np.float32(treatment.gain(peak))
        self.loop = loop
        self._first, self._cut = self._region(*region_s)
        self._start = self._inside(self._turned(round(start_s * self._rate)))
        self.start_s = self._turned(self._start) / self._rate
        self._lulls = Lulls(self._rate) if skip_silence else None
        self._looped = False
        self._hard_start: bool | None = None
        self._blocks = self._faded(self._at_device())

    def position_s(self, given: int) -> float:
        """The time in the clip, in seconds, of frame ``given`` of what :meth:`read` gives."""
        frame = given / self.out_rate * self._treatment.speed * self._rate
        if self._lulls is not None:
            return self._turned(self._lulls.place(frame)) / self._rate
        frame += self._start
        last = self._last()
        if last is not None and frame > last:
            if last <= self._first or not self._looped:
                frame = last
            else:
                frame = self._first + (frame - self._first) % (last - self._first)
        return self._turned(frame) / self._rate

    def read(self) -> np.ndarray | None:
        """The next frames, float32 ``(n, channels)``, none where silence is left out; None at the end."""
        return next(self._blocks, None)

    def close(self) -> None:
        self._reader.close()

    # ---- places

    def _turned(self, frame: float) -> float:
        """A place in the file as one in what is played, and the other way."""
        return (self._end or 0) - frame if self._treatment.reverse else frame

    def _region(self, start_s: float, end_s: float | None) -> tuple[int, int | None]:
        """The first frame that may be heard, and the one behind the last where that lies inside the clip."""
        first = max(0, round(start_s * self._rate))
        cut = None if end_s is None else max(first + 1, round(end_s * self._rate))
        if cut is not None and self._end is not None and cut >= self._end:
            cut = None
        if self._treatment.reverse and self._end is not None:
            first = min(first, max(0, self._end - 1))
            return 0 if cut is None else self._end - cut, self._end - first if first else None
        return first, cut

    def _last(self) -> int | None:
        """The frame after the region's last one, None while it is unknown."""
        return self._end if self._cut is None else self._cut

    def _inside(self, frame: float) -> int:
        last = self._last()
        if frame < self._first or (last is not None and frame >= last):
            return self._first
        return int(frame)

    # ---- from the file

    def _frames_from(self, position: int) -> Iterator[tuple[int, np.ndarray]]:
        """Frames at the clip's own rate with their places, looping; each block has at least one frame."""
        self._reader.seek(position)
        fresh = True  # nothing came since the last seek: then the end is not the clip's end
        while True:
            last = self._last()
            want = _READ_FRAMES if last is None else min(_READ_FRAMES, last - position)
            block = self._reader.read(want)
            if len(block):
                block = _mixed(block, self._chosen)
                if self._hard_start is None:
                    self._hard_start = self._start == 0 and float(np.abs(block[0]).max()) < QUIET_START
                yield position, block
                position, fresh = position + len(block), False
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

    def _kept_loop(self, frames: int) -> Iterator[tuple[int, np.ndarray]]:
        """The region over and over from memory, as long as ``loop`` is on."""
        self._reader.seek(self._first)
        once = _mixed(self._reader.read(frames), self._chosen)
        while self.loop and len(once):
            yield self._first, np.tile(once, (max(1, _READ_FRAMES // len(once)), 1))

    # ---- to the device

    def _at_device(self) -> Iterator[np.ndarray]:
        """Frames at the device's rate, speed, channels and level."""
        blocks = self._converted()
        if self._stretches:
            speed = self._treatment.speed
            blocks = stretch_blocks(blocks, self.out_rate, self._chosen.shape[1], speed)
        for block in blocks:
            block = _mixed(block, self._to_device)
            yield block if self._gain == 1.0 else block * self._gain

    def _converted(self) -> Iterator[np.ndarray]:
        """Frames at the device's rate; the resampler settles on what comes before the start."""
        preroll, skip = self._preroll()
        places = self._frames_from(self._start - preroll)
        blocks = (block for _, block in places) if self._lulls is None else self._lulls.through(places)
        if self._tape_rate == self.out_rate:
            yield from blocks
            return
        channels = self._chosen.shape[1]
        stream = soxr.ResampleStream(
            self._tape_rate, self.out_rate, channels, dtype="float32", quality=self._quality
        )
        for block in blocks:
            out = stream.resample_chunk(block) if len(block) else block
            dropped = min(skip, len(out))
            skip -= dropped
            if len(out) > dropped or not len(block):
                yield out[dropped:]
        tail = stream.resample_chunk(np.empty((0, channels), np.float32), last=True)
        if len(tail) > skip:
            yield tail[skip:]

    @property
    def _quality(self) -> str:
        """As the renderer has it where the two have to agree; otherwise what is beyond hearing."""
        return "HQ" if self._tape_rate == self._rate else "VHQ"

    def _preroll(self) -> tuple[int, int]:
        """Source frames to read before the start, and the device frames that they become.

        Multiples of the shortest stretch that is a whole number of frames at both rates, so that the
        first frame given is the start exactly. Where that stretch is too long, the nearest frame. With
        varispeed there is no such stretch and with silences left out no telling, so nothing is read before.
        """
        if self._tape_rate != self._rate or self._lulls is not None or self._rate == self.out_rate:
            return 0, 0
        unit = self._rate // math.gcd(self._rate, self.out_rate)
        wanted = min(_PREROLL, self._start)
        if unit <= _READ_FRAMES:
            wanted = min(-(-_PREROLL // unit), self._start // unit) * unit
        return wanted, round(wanted * self.out_rate / self._rate)

    def _faded(self, blocks: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
        """Fades in where sound would begin abruptly, and out where the region ends inside the clip.

        The last frames are held back until it is certain that they are the last.
        """
        ramp = fade_curve(self.out_rate)
        if self._cut is not None:
            total = (self._cut - self._start) * self.out_rate / self._tape_rate
            ramp = ramp[:: max(1, math.ceil(2 * len(ramp) / max(1.0, total)))]
        given, held = 0, None
        for block in blocks:
            if len(block) and given < len(ramp) and not self._hard_start:
                block = _scaled(block, ramp[given:])
            given += len(block)
            if self._cut is None and held is None:
                yield block
                continue
            whole = block if held is None else np.concatenate((held, block))
            rest = max(0, len(whole) - len(ramp))
            held = whole[rest:]
            if rest or not len(block):
                yield whole[:rest]
        if held is not None and len(held):
            if self._cut is not None:
                held = _scaled(held, ramp[::-1][-len(held) :])
            yield held


def _matrices(
    treatment: Treatment, channels_in: int, channels_out: int, *, whole: bool
) -> tuple[np.ndarray, np.ndarray]:
    """What makes the chosen channels out of the clip's, and the device's out of those.

    All of it in the first one, and nothing in the second, unless the channels are treated in between: then
    (``whole``) at most two go through.
    """
    chosen = treatment.matrix(channels_in)
    if not whole:
        chosen = chosen @ mix_matrix(chosen.shape[1], channels_out)
    elif chosen.shape[1] > 2:
        chosen = chosen @ mix_matrix(chosen.shape[1], 2)
    return chosen, mix_matrix(chosen.shape[1], channels_out)


def _mixed(block: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    rows, columns = matrix.shape
    if rows == columns and np.array_equal(matrix, np.eye(rows, dtype=np.float32)):
        return block
    return block @ matrix


def _scaled(block: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """A copy of ``block`` with its first frames multiplied by ``gains``, as far as both reach."""
    block = block.copy()
    part = block[: len(gains)]
    part *= gains[: len(part), None]
    return block
