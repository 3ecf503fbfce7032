"""Several streams in one file, one behind the other, as one sound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from foley_desktop.audio.reader import AudioInfo, AudioReader


class ChainReader(AudioReader):
    """Readers of one rate and channel count, of which one at a time is open.

    Args:
        info: The whole: rate and channels of all links, the sum of their frames, badges.
        links: Opens each link's reader, in order.
    """

    def __init__(self, info: AudioInfo, links: Sequence[Callable[[], AudioReader]]) -> None:
        super().__init__(info, frames_known=False)
        self._links = links
        self._index = 0
        self._current = links[0]()

    def _read(self, frames: int) -> np.ndarray:
        while not len(block := self._current.read(frames)):
            if self._index + 1 == len(self._links):
                return self._nothing()
            self._open(self._index + 1)
        return block

    def _seek(self, frame: int) -> None:
        """By decoding: only that tells how long the links are."""
        if frame < self._position:
            self._open(0)
            self._position = 0
        self._skip(frame - self._position)

    def _open(self, index: int) -> None:
        self._current.close()
        self._index = index
        self._current = self._links[index]()

    def _close(self) -> None:
        self._current.close()


def whole(parts: Sequence[AudioInfo]) -> AudioInfo:
    """What a chain of these links is as one sound."""
    return replace(parts[0], frames=sum(part.frames for part in parts))
