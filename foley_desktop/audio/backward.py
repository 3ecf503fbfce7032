"""A clip from its end to its beginning, read in blocks, as if it were a file of its own.

Whatever plays forwards then plays backwards too: regions, loops and seeks are those of the mirrored clip.
"""

from __future__ import annotations

import numpy as np

from foley_desktop.audio.reader import AudioReader

_FIRST_FRAMES = 8192
_MOST_SAMPLES = 1 << 22
"""Samples (16 MB) that are read ahead at most: where a format seeks by decoding, seeks have to be few."""


class BackwardReader(AudioReader):
    """The mirrored clip; frame ``i`` is frame ``frames - 1 - i`` of ``reader``, which it then owns.

    Args:
        frames: The clip's true length where it is known, from an earlier decoding; None otherwise. If the
            reader does not know it either, it has to find out.
    """

    def __init__(self, reader: AudioReader, frames: int | None = None) -> None:
        if reader.frames_known or not frames:
            frames = reader.counted()
        super().__init__(reader.info, frames_known=True)
        self.frames = frames
        self._reader = reader
        self._block = self._nothing()  # mirrored, and not given yet
        self._at = 0  # the mirrored frame that ``_block`` begins with
        self._size = _FIRST_FRAMES

    def _read(self, frames: int) -> np.ndarray:
        if not len(self._block):
            self._fetch()
        given, self._block = self._block[:frames], self._block[frames:]
        self._at += len(given)
        return given

    def _fetch(self) -> None:
        """Reads the stretch before the last one; twice as much every time, up to a limit."""
        last = self.frames - self._at
        count = min(self._size, last)
        if count <= 0:
            return
        self._reader.seek(last - count)
        block = self._reader.read(count)
        if len(block) < count:  # the clip is shorter than it was
            missing = np.zeros((count - len(block), self.info.channels), np.float32)
            block = np.concatenate((block, missing))
        self._block = np.ascontiguousarray(block[::-1])
        self._size = min(2 * self._size, max(_FIRST_FRAMES, _MOST_SAMPLES // self.info.channels))

    def _seek(self, frame: int) -> None:
        ahead = frame - self._at
        if 0 <= ahead <= len(self._block):
            self._block = self._block[ahead:]
        else:
            self._block, self._size = self._nothing(), _FIRST_FRAMES
        self._at = frame

    def _close(self) -> None:
        self._reader.close()
