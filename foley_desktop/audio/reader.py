"""What every decoder of this room offers: a stream of float32 frames, and what is known about it.

Kept apart from ``decode`` so that the backends (libsndfile, PyAV) can build on it without importing
the front door.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import numpy as np

BLOCK_SAMPLES = 1 << 18
"""Samples (frames x channels) that one internal read holds at most, so that memory stays flat."""


@dataclass(frozen=True)
class AudioInfo:
    """The shape of a sound.

    ``frames`` counts samples per channel and may be a hint (see ``AudioReader.frames_known``);
    ``format`` and ``subtype`` are libsndfile's names (``WAV``, ``PCM_24``) or the container and codec
    of the fallback (``MP4``, ``AAC``); ``bit_depth`` is None for lossy codecs. ``badges`` are codes of
    what is odd about the file: ``truncated``, ``not_finalised``, ``non_finite_samples``,
    ``over_full_scale``, ``extension_mismatch``, ``chained_stream``, ``trailing_bytes``.
    """

    frames: int
    samplerate: int
    channels: int
    format: str
    subtype: str
    bit_depth: int | None
    badges: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        return self.frames / self.samplerate

    def with_badges(self, *codes: str) -> AudioInfo:
        """The same with further badges, each once."""
        return replace(self, badges=tuple(dict.fromkeys((*self.badges, *codes))))


class AudioReader:
    """A sound being read from the front, in blocks; the base of all backends.

    Not thread-safe: one reader belongs to one thread. Subclasses implement ``_read``, ``_seek`` and
    ``_close``.

    Attributes:
        info: What is known before decoding.
        frames_known: Whether ``info.frames`` is certain, not a header's promise.
        non_finite: How many NaN or infinite samples ``read`` has replaced by 0 so far.
        late_badges: Badges that only decoding revealed, complete once ``read`` returned 0 frames.
    """

    def __init__(self, info: AudioInfo, *, frames_known: bool) -> None:
        self.info = info
        self.frames_known = frames_known
        self.non_finite = 0
        self.late_badges: tuple[str, ...] = ()
        self._position = 0

    @property
    def position(self) -> int:
        """The frame that the next ``read`` begins with."""
        return self._position

    @property
    def block_frames(self) -> int:
        """A good number of frames to read at once: bounded memory whatever the channel count."""
        return max(1, BLOCK_SAMPLES // max(1, self.info.channels))

    def read(self, frames: int) -> np.ndarray:
        """The next ``frames`` frames as float32 ``(n, channels)``; fewer only at the end, then none.

        NaN and infinities come out as 0. Damage in mid-file ends the sound there: what was decoded
        before it is returned.
        """
        parts: list[np.ndarray] = []
        while frames > 0:
            part = self._read(min(frames, self.block_frames))
            if not len(part):
                break
            frames -= len(part)
            self._position += len(part)
            parts.append(self._clean(part))
        if not parts:
            return self._nothing()
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def seek(self, frame: int) -> None:
        """Goes to ``frame`` (0 or more) exactly; past the end, the next ``read`` returns nothing."""
        frame = max(0, frame)
        if frame != self._position:
            self._seek(frame)
            self._position = frame

    def counted(self) -> int:
        """The true length in frames, by decoding what has not been read yet where nothing else tells it."""
        if self.frames_known:
            return self.info.frames
        while len(self.read(self.block_frames)):
            pass
        return self.position

    def close(self) -> None:
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _skip(self, frames: int) -> None:
        """Decodes ``frames`` frames and drops them, for subclasses that seek by decoding."""
        while frames > 0:
            got = len(self._read(min(frames, self.block_frames)))
            if not got:
                return
            frames -= got
            self._position += got

    def _nothing(self) -> np.ndarray:
        return np.empty((0, self.info.channels), np.float32)

    def _clean(self, block: np.ndarray) -> np.ndarray:
        """Counts and zeroes what is not a number. The sum is the cheap test: it is finite if all are."""
        with np.errstate(over="ignore", invalid="ignore"):
            suspicious = block.size and not np.isfinite(np.sum(block))
        if suspicious:
            good = np.isfinite(block)
            bad = int(block.size - np.count_nonzero(good))
            if bad:
                self.non_finite += bad
                block = np.where(good, block, np.float32(0.0))
        return block

    def _read(self, frames: int) -> np.ndarray:
        """At least one and at most ``frames`` frames; none only at the end."""
        raise NotImplementedError

    def _seek(self, frame: int) -> None:
        """Makes ``_read`` go on at ``frame``. ``self._position`` is still the old one."""
        raise NotImplementedError

    def _close(self) -> None:
        raise NotImplementedError
