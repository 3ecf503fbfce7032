"""The frames of one clip on their way from the decoder thread to the audio callback, without a lock.

One thread writes, one reads. Each owns one counter that only ever grows, and sees the other's as it was a
moment ago: too little free space or too few frames, never wrong ones.
"""

from __future__ import annotations

import numpy as np


class Ring:
    """A preallocated ring of float32 frames for a single producer and a single consumer.

    Attributes:
        frames: The memory, ``(size, channels)``.
        written, taken: Frames that went in and out since :meth:`reset`; frame i lies at ``i % size``.
        ended: Set by the producer when nothing more will come.
        lull: Set by the producer while it looks for the next sound behind a silence that is left out.
        serial: Which request the frames belong to; the owner's business.
        level: How far a fade has come; the consumer's business.
    """

    __slots__ = ("ended", "frames", "level", "lull", "serial", "size", "taken", "written")

    def __init__(self, size: int, channels: int) -> None:
        self.frames = np.zeros((size, channels), np.float32)
        self.size = size
        self.reset(0)

    def reset(self, serial: int) -> None:
        """Empties the ring for a new request; only while no other thread uses it."""
        self.written = self.taken = self.level = 0
        self.ended = self.lull = False
        self.serial = serial

    @property
    def free(self) -> int:
        """How many frames the producer may write now."""
        return self.size - (self.written - self.taken)

    @property
    def ready(self) -> int:
        """How many frames the consumer may take now."""
        return self.written - self.taken

    @property
    def finished(self) -> bool:
        """Whether everything that will ever come has been taken."""
        return self.ended and self.taken == self.written

    def write(self, block: np.ndarray) -> int:
        """Copies in what fits of ``block`` ``(n, channels)``; returns how many frames that was."""
        count = min(len(block), self.free)
        at = self.written % self.size
        first = min(count, self.size - at)
        self.frames[at : at + first] = block[:first]
        self.frames[: count - first] = block[first:count]
        self.written += count  # last, so that the consumer never sees frames that are not there yet
        return count
