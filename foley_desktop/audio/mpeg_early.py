"""A long MPEG stream that can be heard before its frames have been counted.

Counting reads the whole file, too long to wait for after a key press. So the beginning is opened as if it
were all, and the counting goes on a little with every block that is read; the reader of the whole takes over
where the beginning ends, or at the first seek beyond it, on the exact sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from foley_desktop.audio.mpeg_reader import MpegReader
from foley_desktop.audio.reader import AudioReader

_REACH_S = 20.0  # behind the place of a seek
_MOST_SHARE = 0.25
_MARGIN_FRAMES = 16 * 1152  # of the beginning's end, where decoding may lack what follows


class EarlyMpegReader(AudioReader):
    """Plays ``early`` and then the whole.

    Args:
        early: The stream's beginning.
        share: Which part of the stream's bytes that is, above 0 and at most 1.
        counting: Counts on with every step; at the end of the steps ``whole`` is ready to be called.
        whole: Opens the whole stream.
        more: Opens a longer beginning, given its share; None where that cannot be done.
    """

    def __init__(
        self,
        early: MpegReader,
        share: float,
        counting: Iterator[None],
        whole: Callable[[], AudioReader],
        more: Callable[[float], MpegReader | None],
    ) -> None:
        info = replace(early.info, frames=round(early.info.frames / share))
        super().__init__(info, frames_known=False)
        self._inner: AudioReader = early
        self._limit: int | None = max(0, early.info.frames - _MARGIN_FRAMES)
        self._counting, self._whole, self._more = counting, whole, more

    def _read(self, frames: int) -> np.ndarray:
        if self._limit is not None:
            if self._position > self.info.samplerate:  # the first second is in a hurry
                next(self._counting, None)
            if self._position >= self._limit:
                self._go_over(self._position)
            else:
                frames = min(frames, self._limit - self._position)
        block = self._inner.read(frames)
        self.late_badges = self._inner.late_badges
        return block

    def _seek(self, frame: int) -> None:
        if self._limit is not None and frame >= self._limit and not self._reach(frame):
            self._go_over(frame)
        else:
            self._inner.seek(frame)

    def _reach(self, frame: int) -> bool:
        """Takes a longer beginning, as long as that is much less than the whole."""
        share = (frame + _REACH_S * self.info.samplerate) / self.info.frames
        more = self._more(share) if share < _MOST_SHARE else None
        if more is None:
            return False
        if frame >= more.info.frames - _MARGIN_FRAMES:
            more.close()
            return False
        self._inner.close()
        self._inner, self._limit = more, more.info.frames - _MARGIN_FRAMES
        return True

    def _go_over(self, frame: int) -> None:
        for _ in self._counting:
            pass
        whole = self._whole()
        self._inner.close()
        self._inner, self._limit = whole, None
        self.info = whole.info
        whole.seek(frame)

    def counted(self) -> int:
        """The length, after counting to the end; the place is the same afterwards."""
        if self._limit is not None:
            self._go_over(self._position)
        return self._inner.counted()

    def _close(self) -> None:
        self._inner.close()
