"""A sound kept aside on its way into a new file, because its end or its peak has to be known first."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

_BLOCK_FRAMES = 1 << 16
_IN_MEMORY = 64 << 20  # bytes that are kept in memory before the rest goes to disk


def floats(block: np.ndarray) -> np.ndarray:
    """Samples of any type as float32, full scale 1.0; what is not a number becomes 0."""
    if block.dtype == np.int32:
        return (block / float(1 << 31)).astype(np.float32)
    return np.nan_to_num(block.astype(np.float32, copy=False), posinf=0.0, neginf=0.0)


class Spool:
    """Blocks kept aside, in memory and then on disk, because their end has to be known first."""

    def __init__(self, folder: Path, blocks: Iterable[np.ndarray]) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, dir=os.fspath(folder))  # noqa: SIM115
        self._peak, self._frames = 0.0, 0
        self._channels, self._dtype = 1, np.dtype(np.float32)
        for block in blocks:
            self._channels, self._dtype = block.shape[1], block.dtype
            self._frames += len(block)
            finite = floats(block)
            self._peak = max(self._peak, float(finite.max()), -float(finite.min()))
            self._file.write(np.ascontiguousarray(block).tobytes())

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def backwards(self) -> Iterator[np.ndarray]:
        """The blocks from the last frame to the first."""
        for end in range(self._frames, 0, -_BLOCK_FRAMES):
            start = max(0, end - _BLOCK_FRAMES)
            yield self._read(start, end)[::-1]

    def scaled_to(self, peak: float) -> Iterator[np.ndarray]:
        """The blocks with their highest sample at ``peak``; silence stays silent."""
        gain = np.float32(peak / self._peak) if self._peak else np.float32(1.0)
        for start in range(0, self._frames, _BLOCK_FRAMES):
            yield floats(self._read(start, min(self._frames, start + _BLOCK_FRAMES))) * gain

    def _read(self, start: int, end: int) -> np.ndarray:
        size = self._channels * self._dtype.itemsize
        self._file.seek(start * size)
        return np.frombuffer(self._file.read((end - start) * size), self._dtype).reshape(-1, self._channels)
