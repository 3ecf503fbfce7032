"""What a waveform is drawn from: minimum, maximum and loudness of ever longer stretches of a clip.

Drawing an hour of sound must cost no more than drawing a second, so a clip is summarised once, kept on
disk under the hash of its audio, and any stretch is then drawn from the coarsest summary that is still
finer than a pixel.
"""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass

import numpy as np

from foley_desktop.audio.clip_cache import Buffer, ClipCache
from foley_desktop.audio.decode import open_audio

BASE_BIN = 256
"""Frames in one bin of the finest level of all but the very largest clips."""
LEVEL_STEP = 4
"""How many bins of a level make one of the next."""
COARSEST_BINS = 256
"""A level of at most this many bins is the last one."""
MOST_BINS = 4_000_000
"""Bins times channels that are kept of a clip (48 MB); the finest level of a larger one is coarser."""
PREVIEW_BIN = 4096
"""Frames in one bin of the finest level of what is shown while a clip is still being read."""
OUTLINE_BINS = 1024
"""The outline of a clip is its finest level of at most so many bins."""

_MAGIC = b"FDPEAKS\x02"
# magic, rate, channels, frames, frames a bin of the base and of the outline, CRC-32 of each
_HEADER = struct.Struct("<8sIIQIIII")
_MIN, _MAX, _RMS = 0, 1, 2
_PREVIEW_EVERY_S = 0.15


@dataclass(frozen=True)
class Level:
    """One summary. ``bins`` is float32 ``(3, channels, n)``: minimum, maximum and RMS of each stretch of
    ``frames_per_bin`` frames; the last stretch may be shorter."""

    frames_per_bin: int
    bins: np.ndarray


@dataclass(frozen=True)
class Peaks:
    """The summary of a whole clip, finest level first. ``frames`` is the decoded length."""

    samplerate: int
    frames: int
    channels: int
    levels: tuple[Level, ...]

    @property
    def duration_s(self) -> float:
        return self.frames / self.samplerate

    @property
    def base_bin(self) -> int:
        """Frames in one bin of the finest level."""
        return self.levels[0].frames_per_bin

    @property
    def outline(self) -> Level:
        """The finest level of at most :data:`OUTLINE_BINS` bins."""
        return next(level for level in self.levels if level.bins.shape[2] <= OUTLINE_BINS)

    def view(self, start_frame: float, end_frame: float, columns: int) -> np.ndarray:
        """What ``columns`` pixel columns show of the frames from ``start_frame`` up to ``end_frame``.

        Returns:
            float32 ``(channels, columns, 3)``: minimum, maximum and RMS. Columns outside the clip are 0.
            A column narrower than :attr:`base_bin` frames shows the whole bin it lies in; for closer
            views draw the samples themselves (:func:`view_samples`).
        """
        columns = max(0, columns)
        out = np.zeros((self.channels, columns, 3), np.float32)
        span = (end_frame - start_frame) / columns if columns else 0.0
        if span <= 0 or not self.frames:
            return out
        edges = start_frame + span * np.arange(columns + 1)
        inside = np.flatnonzero((edges[1:] > 0) & (edges[:-1] < self.frames))
        if not inside.size:
            return out
        level = self._level_for(span)
        count = level.bins.shape[2]
        first = np.floor(edges[inside] / level.frames_per_bin).astype(np.int64).clip(0, count - 1)
        last = np.ceil(edges[inside + 1] / level.frames_per_bin).astype(np.int64).clip(1, count)
        tail = self.frames / level.frames_per_bin - (count - 1)
        out[:, inside] = _gather(level.bins, first, np.maximum(last, first + 1), tail)
        return out

    def _level_for(self, frames_per_column: float) -> Level:
        fitting = [level for level in self.levels if level.frames_per_bin <= frames_per_column]
        return fitting[-1] if fitting else self.levels[0]


def view_samples(
    samples: np.ndarray, columns: int, start: float = 0.0, end: float | None = None
) -> np.ndarray:
    """As :meth:`Peaks.view`, from float32 samples ``(n, channels)``: those from ``start`` up to ``end``
    (by default all), which may lie between two of them, spread over all columns."""
    frames, channels = samples.shape
    end = float(frames) if end is None else end
    out = np.zeros((channels, max(0, columns), 3), np.float32)
    if frames and columns > 0 and end > start:
        edges = start + np.arange(columns + 1) * ((end - start) / columns)
        inside = np.flatnonzero((edges[1:] > 0) & (edges[:-1] < frames))
        if inside.size:
            first = np.floor(edges[inside]).astype(np.int64).clip(0, frames - 1)
            last = np.maximum(np.ceil(edges[inside + 1]).astype(np.int64).clip(1, frames), first + 1)
            bins = np.ascontiguousarray(samples[first[0] : last[-1]].T)
            out[:, inside] = _gather(np.stack([bins, bins, np.abs(bins)]), first - first[0], last - first[0])
    return out


def _gather(bins: np.ndarray, first: np.ndarray, last: np.ndarray, tail: float = 1.0) -> np.ndarray:
    """Combines bins ``first[i]`` up to ``last[i]`` into column i: float32 ``(channels, columns, 3)``.

    ``tail`` is the share of a whole bin that the very last one holds; loudness is weighed with it.
    ``reduceat`` over (first, last) pairs gives the wanted stretches at the even places. It takes no index
    at the very end, so one more bin is put there, which no stretch contains.
    """
    offset, stop = int(first[0]), int(last.max())
    part = np.zeros((*bins.shape[:2], stop - offset + 1), np.float32)
    part[..., :-1] = bins[..., offset:stop]
    pairs = np.stack([first, last], axis=1).ravel() - offset
    low = np.minimum.reduceat(part[_MIN], pairs, axis=1)[:, ::2]
    high = np.maximum.reduceat(part[_MAX], pairs, axis=1)[:, ::2]
    power, sizes = part[_RMS] ** 2, (last - first).astype(np.float64)
    if stop == bins.shape[2]:
        power[:, -2] *= tail  # the one behind it is the extra bin
        sizes[last == stop] -= 1.0 - tail
    power = np.add.reduceat(power, pairs, axis=1)[:, ::2] / sizes
    return np.stack([low, high, np.sqrt(power)], axis=2)


def compute(
    path: str,
    *,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    preview: Callable[[Peaks], None] | None = None,
) -> Peaks:
    """Summarises a file, streaming.

    Args:
        path: Absolute path.
        progress: Called now and then with the share done, 0 to 1.
        cancelled: Asked between blocks.
        preview: Called now and then, where it takes longer, with a coarse summary of what was read so far.

    Raises:
        AudioFileError: when the file cannot be used as audio.
        concurrent.futures.CancelledError: when ``cancelled`` said so.
    """
    with open_audio(path) as reader:
        info = reader.info
        builder = _Builder(info.samplerate, info.channels)
        began = told = time.monotonic()
        for block in _whole_bins(reader.read, builder.block_frames):
            if cancelled is not None and cancelled():
                raise CancelledError
            builder.add(block)
            if progress is not None:
                progress(min(1.0, builder.frames / info.frames) if info.frames else 0.0)
            now = time.monotonic()
            if preview is not None and now - told >= max(_PREVIEW_EVERY_S, (now - began) / 5):
                preview(builder.preview())
                told = now
    if progress is not None:
        progress(1.0)
    return builder.finish()


class _Growing:
    """Bins, one part behind the other, in memory that doubles: what was given out stays as it was."""

    def __init__(self, channels: int) -> None:
        self._bins = np.empty((3, channels, 1024), np.float32)
        self.count = 0

    def add(self, part: np.ndarray) -> None:
        end = self.count + part.shape[2]
        if end > self._bins.shape[2]:
            larger = np.empty((*self._bins.shape[:2], max(end, 2 * self._bins.shape[2])), np.float32)
            larger[..., : self.count] = self.bins
            self._bins = larger
        self._bins[..., self.count : end] = part
        self.count = end

    @property
    def bins(self) -> np.ndarray:
        return self._bins[..., : self.count]


class _Builder:
    """A summary in the making. Its finest level becomes coarser as often as a clip turns out larger than
    what is kept; what a header promises plays no part."""

    def __init__(self, samplerate: int, channels: int) -> None:
        self.frames = 0
        self._rate, self._channels = samplerate, channels
        self._bin = BASE_BIN
        self._fine, self._coarse = _Growing(channels), _Growing(channels)
        self.block_frames = max(1, (1 << 18) // channels // PREVIEW_BIN) * PREVIEW_BIN

    def add(self, block: np.ndarray) -> None:
        """Takes the next ``block_frames`` frames; fewer only at the end."""
        bins = _summarise(block)
        coarse, size = bins, BASE_BIN
        while size < PREVIEW_BIN:
            if size == self._bin:
                bins = coarse
            coarse, size = _coarser(coarse, len(block) / size), size * LEVEL_STEP
        self.frames += len(block)
        self._fine.add(coarse if self._bin == PREVIEW_BIN else bins)
        self._coarse.add(coarse)
        if self._fine.count * self._channels > MOST_BINS and self._bin < PREVIEW_BIN:
            thinned = _coarser(self._fine.bins, self.frames / self._bin)
            self._fine = _Growing(self._channels)
            self._fine.add(thinned)
            self._bin *= LEVEL_STEP

    def preview(self) -> Peaks:
        return self._peaks(self._coarse.bins, PREVIEW_BIN)

    def finish(self) -> Peaks:
        return self._peaks(self._fine.bins, self._bin)

    def _peaks(self, base: np.ndarray, size: int) -> Peaks:
        return Peaks(self._rate, self.frames, self._channels, _levels(base, self.frames, size))


def _whole_bins(read: Callable[[int], np.ndarray], size: int) -> Iterator[np.ndarray]:
    """Blocks of exactly ``size`` frames, the last one shorter, however little a read returns."""
    pending: list[np.ndarray] = []
    held = 0
    while len(block := read(size - held)):
        pending.append(block)
        held += len(block)
        if held == size:
            yield pending[0] if len(pending) == 1 else np.concatenate(pending)
            pending, held = [], 0
    if held:
        yield np.concatenate(pending)


def _summarise(block: np.ndarray) -> np.ndarray:
    """Bins of :data:`BASE_BIN` frames, the last one shorter: float32 ``(3, channels, n)``."""
    # One channel after the other in memory: reductions over interleaved frames are 20 times slower.
    samples = np.ascontiguousarray(block.T)
    whole = len(block) // BASE_BIN
    bins = np.empty((3, samples.shape[0], -(-len(block) // BASE_BIN)), np.float32)
    _reduce_bins(samples[:, : whole * BASE_BIN], BASE_BIN, bins[..., :whole])
    if whole < bins.shape[2]:
        _reduce_bins(samples[:, whole * BASE_BIN :], len(block) - whole * BASE_BIN, bins[..., whole:])
    return bins


def _reduce_bins(samples: np.ndarray, size: int, out: np.ndarray) -> None:
    stacked = samples.reshape(samples.shape[0], -1, size)
    stacked.min(axis=2, out=out[_MIN])
    stacked.max(axis=2, out=out[_MAX])
    power = np.einsum("cbn,cbn->cb", stacked, stacked)
    np.sqrt(power / size, out=out[_RMS])


def _levels(base: np.ndarray, frames: int, base_bin: int) -> tuple[Level, ...]:
    levels = [Level(base_bin, base)]
    while (bins := levels[-1].bins).shape[2] > COARSEST_BINS:
        size = levels[-1].frames_per_bin
        levels.append(Level(size * LEVEL_STEP, _coarser(bins, frames / size)))
    return tuple(levels)


def _coarser(bins: np.ndarray, filled: float) -> np.ndarray:
    """Each :data:`LEVEL_STEP` bins made one. ``filled`` counts the bins that frames fill, 4.5 where the
    fifth is half full."""
    starts = np.arange(0, bins.shape[2], LEVEL_STEP)
    sizes = np.diff(starts, append=filled)
    power = bins[_RMS] ** 2
    power[:, -1] *= filled - (bins.shape[2] - 1)
    coarse = np.empty((3, bins.shape[1], len(starts)), np.float32)
    np.minimum.reduceat(bins[_MIN], starts, axis=1, out=coarse[_MIN])
    np.maximum.reduceat(bins[_MAX], starts, axis=1, out=coarse[_MAX])
    np.sqrt(np.add.reduceat(power, starts, axis=1) / sizes, out=coarse[_RMS])
    return coarse


class PeakCache(ClipCache):
    """Summaries on disk. One that is damaged, of another version or cut short counts as absent."""

    def load(self, key: str) -> Peaks | None:
        """The stored summary, or None."""
        data = self.load_bytes(key, "peaks")
        return None if data is None else _unpack(data)

    def load_outline(self, key: str) -> Level | None:
        """The outline of a stored summary, without reading the rest of it; or None."""
        head = self.load_bytes(key, "peaks", _HEADER.size)
        fields = None if head is None else _Fields.of(head)
        if fields is None:
            return None
        data = self.load_bytes(key, "peaks", _HEADER.size + fields.outline_bytes) or b""
        return fields.outline(data)

    def store(self, key: str, peaks: Peaks) -> None:
        """Keeps a summary. Does nothing where the folder cannot be written to."""
        self.store_bytes(key, "peaks", *_pack(peaks))

    def get(
        self,
        key: str,
        path: str,
        *,
        progress: Callable[[float], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        preview: Callable[[Peaks], None] | None = None,
    ) -> Peaks:
        """The stored summary, or a computed one that is then stored. Raises as :func:`compute`."""
        peaks = self.load(key)
        if peaks is None:
            peaks = compute(path, progress=progress, cancelled=cancelled, preview=preview)
            self.store(key, peaks)
        return peaks


@dataclass(frozen=True, slots=True)
class _Fields:
    """The header of a stored summary. Behind it stand the outline and the base as little-endian float32
    ``(3, channels, n)``; all else follows from the base at once."""

    rate: int
    channels: int
    frames: int
    base_bin: int
    outline_bin: int
    outline_sum: int
    base_sum: int

    @classmethod
    def of(cls, data: bytes) -> _Fields | None:
        if len(data) < _HEADER.size:
            return None
        magic, *values = _HEADER.unpack_from(data)
        fields = cls(*values)
        usable = fields.rate and fields.channels and fields.base_bin and fields.outline_bin
        return fields if magic == _MAGIC and usable else None

    @property
    def outline_bytes(self) -> int:
        return 12 * self.channels * -(-self.frames // self.outline_bin)

    def outline(self, data: bytes) -> Level | None:
        body = data[_HEADER.size : _HEADER.size + self.outline_bytes]
        if len(body) != self.outline_bytes or zlib.crc32(body) != self.outline_sum:
            return None
        return Level(self.outline_bin, np.frombuffer(body, "<f4").reshape(3, self.channels, -1))

    def peaks(self, data: bytes) -> Peaks | None:
        body = memoryview(data)[_HEADER.size + self.outline_bytes :]
        bins = -(-self.frames // self.base_bin)
        if self.outline(data) is None or len(body) != 12 * self.channels * bins:
            return None
        if zlib.crc32(body) != self.base_sum:
            return None
        base = np.frombuffer(body, "<f4").reshape(3, self.channels, bins)
        return Peaks(self.rate, self.frames, self.channels, _levels(base, self.frames, self.base_bin))


def _pack(peaks: Peaks) -> list[Buffer]:
    """Header, outline and base, without a copy of them."""
    outline, base = (
        [np.ascontiguousarray(line, "<f4").view(np.uint8).data for plane in level.bins for line in plane]
        for level in (peaks.outline, peaks.levels[0])
    )
    sizes = (peaks.base_bin, peaks.outline.frames_per_bin)
    sums = (_checksum(outline), _checksum(base))
    head = _HEADER.pack(_MAGIC, peaks.samplerate, peaks.channels, peaks.frames, *sizes, *sums)
    return [head, *outline, *base]


def _checksum(pieces: list[memoryview]) -> int:
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
    return checksum


def _unpack(data: bytes) -> Peaks | None:
    fields = _Fields.of(data)
    return None if fields is None else fields.peaks(data)
