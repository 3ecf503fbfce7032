"""What a waveform is drawn from: minimum, maximum and loudness of ever longer stretches of a clip.

Drawing an hour of sound must cost no more than drawing a second, so a clip is summarised once, kept on
disk under the hash of its audio, and any stretch is then drawn from the coarsest summary that is still
finer than a pixel.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from foley_desktop.audio.decode import open_audio

BASE_BIN = 256
"""Frames in one bin of the finest level."""
LEVEL_STEP = 4
"""How many bins of a level make one of the next."""
COARSEST_BINS = 256
"""A level of at most this many bins is the last one."""
DEFAULT_CACHE_BYTES = 2 << 30

_MAGIC = b"FDPEAKS\x01"
_HEADER = struct.Struct("<8sIIQIII")  # magic, rate, channels, frames, base bin, level step, CRC-32
_MIN, _MAX, _RMS = 0, 1, 2


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

    def view(self, start_frame: float, end_frame: float, columns: int) -> np.ndarray:
        """What ``columns`` pixel columns show of the frames from ``start_frame`` up to ``end_frame``.

        Returns:
            float32 ``(channels, columns, 3)``: minimum, maximum and RMS. Columns outside the clip are 0.
            A column narrower than :data:`BASE_BIN` frames shows the whole bin it lies in; for closer
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


def view_samples(samples: np.ndarray, columns: int) -> np.ndarray:
    """As :meth:`Peaks.view`, from float32 samples ``(n, channels)`` spread over all columns."""
    frames, channels = samples.shape
    out = np.zeros((channels, max(0, columns), 3), np.float32)
    if frames and columns > 0:
        bins = np.ascontiguousarray(samples.T)
        edges = np.arange(columns + 1) * (frames / columns)
        first = np.floor(edges[:-1]).astype(np.int64).clip(0, frames - 1)
        last = np.maximum(np.ceil(edges[1:]).astype(np.int64).clip(1, frames), first + 1)
        out[:] = _gather(np.stack([bins, bins, np.abs(bins)]), first, last)
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
) -> Peaks:
    """Summarises a file, streaming.

    Args:
        path: Absolute path.
        progress: Called now and then with the share done, 0 to 1.
        cancelled: Asked between blocks.

    Raises:
        AudioFileError: when the file cannot be used as audio.
        concurrent.futures.CancelledError: when ``cancelled`` said so.
    """
    parts: list[np.ndarray] = []
    frames = 0
    with open_audio(path) as reader:
        info = reader.info
        for block in _whole_bins(reader.read, max(1, (1 << 18) // info.channels // BASE_BIN) * BASE_BIN):
            if cancelled is not None and cancelled():
                raise CancelledError
            frames += len(block)
            parts.append(_summarise(block))
            if progress is not None:
                progress(min(1.0, frames / info.frames) if info.frames else 0.0)
    base = np.concatenate(parts, axis=2) if parts else np.zeros((3, info.channels, 0), np.float32)
    if progress is not None:
        progress(1.0)
    return Peaks(info.samplerate, frames, info.channels, _levels(base, frames))


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


def _levels(base: np.ndarray, frames: int) -> tuple[Level, ...]:
    levels = [Level(BASE_BIN, base)]
    while (bins := levels[-1].bins).shape[2] > COARSEST_BINS:
        starts = np.arange(0, bins.shape[2], LEVEL_STEP)
        sizes = np.diff(starts, append=frames / levels[-1].frames_per_bin)
        power = bins[_RMS] ** 2
        power[:, -1] *= frames / levels[-1].frames_per_bin - (bins.shape[2] - 1)
        coarse = np.empty((3, bins.shape[1], len(starts)), np.float32)
        np.minimum.reduceat(bins[_MIN], starts, axis=1, out=coarse[_MIN])
        np.maximum.reduceat(bins[_MAX], starts, axis=1, out=coarse[_MAX])
        np.sqrt(np.add.reduceat(power, starts, axis=1) / sizes, out=coarse[_RMS])
        levels.append(Level(levels[-1].frames_per_bin * LEVEL_STEP, coarse))
    return tuple(levels)


class PeakCache:
    """Summaries on disk, one file a clip; thread-safe.

    The key is the clip's audio hash, so a changed file never meets an old summary. The least recently
    used files go when the folder outgrows ``max_bytes``. A file that is damaged, of another version or
    cut short counts as absent. A folder that cannot be written to costs speed, never a waveform.
    """

    def __init__(self, folder: Path, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._total: int | None = None

    def load(self, key: str) -> Peaks | None:
        """The stored summary, or None."""
        file = self._file(key)
        try:
            peaks = _unpack(file.read_bytes())
        except OSError:
            return None
        if peaks is not None:
            with contextlib.suppress(OSError):  # marks the use; a read-only folder may refuse
                os.utime(file)
        return peaks

    def store(self, key: str, peaks: Peaks) -> None:
        """Keeps a summary. Does nothing where the folder cannot be written to."""
        file = self._file(key)
        part = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}.part")
        data = _pack(peaks)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(data)
            os.replace(part, file)
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink()
            return
        self._make_room(len(data))

    def get(
        self,
        key: str,
        path: str,
        *,
        progress: Callable[[float], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Peaks:
        """The stored summary, or a computed one that is then stored. Raises as :func:`compute`."""
        peaks = self.load(key)
        if peaks is None:
            peaks = compute(path, progress=progress, cancelled=cancelled)
            self.store(key, peaks)
        return peaks

    def _file(self, key: str) -> Path:
        if not key or not key.isascii() or not key.isalnum():
            raise ValueError(f"not an audio hash: {key!r}")
        return self._folder / key[:2] / f"{key}.peaks"

    def _make_room(self, added: int) -> None:
        """Deletes the least recently used files down to nine tenths once the limit is passed."""
        with self._lock:
            if self._total is not None:
                self._total += added
            if self._total is not None and self._total <= self._max_bytes:
                return
            files = sorted(self._entries())
            self._total = sum(size for _, size, _ in files)
            if self._total <= self._max_bytes:
                return
            for _, size, file in files[:-1]:  # the newest stays, even when it alone is too big
                if self._total <= self._max_bytes * 0.9:
                    break
                with contextlib.suppress(OSError):
                    file.unlink()
                    self._total -= size

    def _entries(self) -> Iterator[tuple[int, int, Path]]:
        for file in self._folder.glob("*/*.peaks"):
            with contextlib.suppress(OSError):
                status = file.stat()
                yield status.st_mtime_ns, status.st_size, file


def _pack(peaks: Peaks) -> bytes:
    """Header, then the finest level as little-endian float32; the others follow from it at once."""
    body = peaks.levels[0].bins.astype("<f4").tobytes()
    head = (_MAGIC, peaks.samplerate, peaks.channels, peaks.frames, BASE_BIN, LEVEL_STEP, zlib.crc32(body))
    return _HEADER.pack(*head) + body


def _unpack(data: bytes) -> Peaks | None:
    if len(data) < _HEADER.size:
        return None
    magic, rate, channels, frames, base_bin, step, checksum = _HEADER.unpack_from(data)
    body = memoryview(data)[_HEADER.size :]
    bins = -(-frames // BASE_BIN)
    if (magic, base_bin, step) != (_MAGIC, BASE_BIN, LEVEL_STEP) or not rate or not channels:
        return None
    if len(body) != 3 * channels * bins * 4 or zlib.crc32(body) != checksum:
        return None
    base = np.frombuffer(body, "<f4").reshape(3, channels, bins)
    return Peaks(rate, frames, channels, _levels(base, frames))
