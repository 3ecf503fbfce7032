"""Which frequencies sound when: short Fourier transforms over a clip, on a logarithmic scale of frequency.

The work is bounded by the picture, not by the clip: a column of pixels looks at a few windows within its
stretch, so two hours cost about what ten minutes do.
"""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass

import numpy as np

from foley_desktop.audio.clip_cache import ClipCache
from foley_desktop.audio.decode import open_audio
from foley_desktop.audio.reader import AudioReader

ROWS = 288
COLUMNS = 2048
"""Columns of the picture of a whole clip, which is kept in the cache."""
LOWEST_HZ = 20.0
FLOOR_DB = -120.0
WINDOW_S = 0.08
"""About the length of the longest window; close views take shorter ones."""
SHORTEST_WINDOW = 512
MOST_WINDOWS = 8
"""So many windows of all channels together are looked at in a column."""

_EASY_TO_SEEK = frozenset({"WAV", "WAVEX", "RF64", "W64", "AIFF", "AU", "CAF"})
_TELL_EVERY_S = 0.15
_BATCH = 16  # columns that are transformed together
_MAGIC = b"FDSPECT\x01"
_HEADER = struct.Struct("<8sIQQIII")  # magic, rate, first, last, rows, columns, CRC-32


@dataclass(frozen=True)
class Spectrogram:
    """``levels`` is uint8 ``(rows, columns)`` of the frames from ``first`` up to ``last``: 0 is
    :data:`FLOOR_DB` or less, 255 a sine of full scale. The top row is the highest frequency. Each level is
    the loudest within its stretch and band, channels averaged by power."""

    samplerate: int
    first: int
    last: int
    levels: np.ndarray

    @property
    def highest_hz(self) -> float:
        return self.samplerate / 2

    def row_of(self, hertz: float) -> float:
        """Where a frequency lies, from 0 at the top to 1 at the bottom."""
        lowest = lowest_hz(self.samplerate)
        return 1.0 - float(np.log(hertz / lowest) / np.log(self.highest_hz / lowest))


def lowest_hz(samplerate: int) -> float:
    """The bottom of the scale: 20 Hz, lower only where the rate is very low."""
    return min(LOWEST_HZ, samplerate / 20)


def compute(
    path: str,
    first: int,
    last: int,
    columns: int = COLUMNS,
    *,
    preview: Callable[[Spectrogram], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Spectrogram:
    """The picture of the frames from ``first`` up to ``last``.

    Args:
        columns: Width in pixels; no more than there are frames are made.
        preview: Called now and then with the picture so far; what is to come is black in it.
        cancelled: Asked between a few columns.

    Raises:
        AudioFileError: when the file cannot be used as audio.
        concurrent.futures.CancelledError: when ``cancelled`` said so.
    """
    columns = max(1, min(columns, last - first))
    with open_audio(path) as reader:
        plan = _Plan(reader.info.samplerate, reader.info.channels, first, last, columns)
        feed = _Feed(reader)
        levels = np.zeros((ROWS, columns), np.uint8)
        picture = Spectrogram(plan.samplerate, first, last, levels)
        told = time.monotonic()
        for left in range(0, columns, _BATCH):
            if cancelled is not None and cancelled():
                raise CancelledError
            right = min(columns, left + _BATCH)
            levels[:, left:right] = plan.levels([feed.window(*place) for place in plan.places(left, right)])
            if preview is not None and time.monotonic() - told >= _TELL_EVERY_S:
                preview(Spectrogram(plan.samplerate, first, last, levels.copy()))
                told = time.monotonic()
    return picture


class _Plan:
    """Which windows are looked at, and what becomes of them."""

    def __init__(self, samplerate: int, channels: int, first: int, last: int, columns: int) -> None:
        self.samplerate = samplerate
        self._first, self._width = first, (last - first) / columns
        longest = 1 << round(np.log2(max(SHORTEST_WINDOW, WINDOW_S * samplerate)))
        closest = 1 << int(np.ceil(np.log2(max(1.0, 32 * self._width))))
        self._size = int(min(longest, max(SHORTEST_WINDOW, closest)))
        most = max(1, MOST_WINDOWS // channels)
        self._each = int(min(most, max(1, np.ceil(2 * self._width / self._size))))
        self._shape = np.hanning(self._size + 1)[:-1].astype(np.float32)
        self._full = float(self._shape.sum() / 2) ** 2  # power of a full-scale sine
        self._bands = _Bands(samplerate, self._size)

    def places(self, left: int, right: int) -> list[tuple[int, int]]:
        """First frame and length of each window of some columns, in order."""
        count = (right - left) * self._each
        middles = self._first + (left + (np.arange(count) + 0.5) / self._each) * self._width
        return [(int(middle) - self._size // 2, self._size) for middle in middles]

    def levels(self, windows: list[np.ndarray]) -> np.ndarray:
        """uint8 ``(rows, columns)`` of the windows ``(n, channels)`` of some columns."""
        stacked = np.stack(windows).transpose(0, 2, 1) * self._shape
        spectra = np.fft.rfft(stacked, axis=2)
        power = (spectra.real**2 + spectra.imag**2).mean(axis=1) / self._full
        loudest = power.reshape(-1, self._each, power.shape[1]).max(axis=1)
        decibels = 10 * np.log10(np.maximum(self._bands.of(loudest), 1e-13))
        scaled = (decibels - FLOOR_DB) * (255 / -FLOOR_DB)
        return np.clip(np.rint(scaled), 0, 255).astype(np.uint8).T[::-1]


class _Bands:
    """Gathers the bins of a transform into rows of equal musical width."""

    def __init__(self, samplerate: int, size: int) -> None:
        lowest = lowest_hz(samplerate)
        edges = lowest * (samplerate / 2 / lowest) ** (np.arange(ROWS + 1) / ROWS) * size / samplerate
        bins = size // 2 + 1
        low, high = edges[:-1], edges[1:]
        self._first = np.floor(low).astype(np.int64).clip(0, bins - 1)
        self._last = np.maximum(np.ceil(high).astype(np.int64).clip(1, bins), self._first + 1)
        middle = np.sqrt(low * high).clip(0, bins - 1.001)
        self._below = middle.astype(np.int64)
        self._share = (middle - self._below).astype(np.float32)
        self._narrow = high - low < 1.0

    def of(self, power: np.ndarray) -> np.ndarray:
        """Power ``(n, bins)`` as ``(n, rows)``, lowest first: the loudest bin of a wide band; between bins,
        where a band is narrower than one, what lies between them."""
        padded = np.concatenate([power, np.zeros((len(power), 1), power.dtype)], axis=1)
        pairs = np.stack([self._first, self._last], axis=1).ravel()
        wide = np.maximum.reduceat(padded, pairs, axis=1)[:, ::2]
        between = power[:, self._below] * (1 - self._share) + power[:, self._below + 1] * self._share
        return np.where(self._narrow, between, wide)


class _Feed:
    """Gives windows at rising places, reading as little as it can."""

    def __init__(self, reader: AudioReader) -> None:
        self._reader = reader
        self._seeks = reader.info.format in _EASY_TO_SEEK
        self._held = np.empty((0, reader.info.channels), np.float32)
        self._start = 0
        self._begun = False

    def window(self, first: int, size: int) -> np.ndarray:
        """``size`` frames from ``first`` on, float32 ``(size, channels)``; outside the clip there is 0."""
        ahead = max(0, -first)
        first = max(0, first)
        self._forget_before(first)
        lacking = first + size - ahead - self._start - len(self._held)
        if lacking > 0:
            self._held = np.concatenate([self._held, self._reader.read(lacking)])
        out = np.zeros((size, self._held.shape[1]), np.float32)
        found = self._held[first - self._start :][: size - ahead]
        out[ahead : ahead + len(found)] = found
        return out

    def _forget_before(self, first: int) -> None:
        held_end = self._start + len(self._held)
        if first < held_end:
            self._held, self._start = self._held[first - self._start :], first
            return
        self._held, self._start = self._held[:0], first
        if self._seeks or not self._begun:
            self._reader.seek(first)  # a codec that seeks by decoding does so once, to the first window
        else:
            gap = first - held_end
            while gap > 0 and len(dropped := self._reader.read(min(gap, self._reader.block_frames))):
                gap -= len(dropped)
        self._begun = True


def load(cache: ClipCache, key: str) -> Spectrogram | None:
    """The stored picture of a whole clip, or None."""
    data = cache.load_bytes(key, "spectrogram")
    if data is None or len(data) < _HEADER.size:
        return None
    magic, rate, first, last, rows, columns, checksum = _HEADER.unpack_from(data)
    if magic != _MAGIC or rows != ROWS or columns > COLUMNS or not rate:
        return None
    try:
        body = zlib.decompressobj().decompress(data[_HEADER.size :], rows * columns + 1)
    except zlib.error:
        return None
    if len(body) != rows * columns or zlib.crc32(body) != checksum:
        return None
    return Spectrogram(rate, first, last, np.frombuffer(body, np.uint8).reshape(rows, columns))


def store(cache: ClipCache, key: str, picture: Spectrogram) -> None:
    """Keeps the picture of a whole clip."""
    body = np.ascontiguousarray(picture.levels).tobytes()
    rows, columns = picture.levels.shape
    head = (_MAGIC, picture.samplerate, picture.first, picture.last, rows, columns, zlib.crc32(body))
    cache.store_bytes(key, "spectrogram", _HEADER.pack(*head) + zlib.compress(body, 1))
