"""libsndfile as an :class:`AudioReader`: forward reading that survives wrong counts and damaged ends."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import soundfile

from foley_desktop.audio.reader import AudioInfo, AudioReader

_BIT_DEPTHS = {
    "PCM_S8": 8,
    "PCM_U8": 8,
    "PCM_16": 16,
    "PCM_24": 24,
    "PCM_32": 32,
    "FLOAT": 32,
    "DOUBLE": 64,
    "ULAW": 8,
    "ALAW": 8,
    "ALAC_16": 16,
    "ALAC_20": 20,
    "ALAC_24": 24,
    "ALAC_32": 32,
    "DWVW_12": 12,
    "DWVW_16": 16,
    "DWVW_24": 24,
    "DPCM_8": 8,
    "DPCM_16": 16,
}
_EXACT_FRAMES = {"PCM_S8", "PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW"}
_NO_SEEK = {"GSM610", "G721_32", "G723_24", "G723_40", "DWVW_12", "DWVW_16", "DWVW_24", "DWVW_N"}
_HINT_LIMIT = 1 << 40
"""More frames than any real file has: a count at or above it is a placeholder, not a length."""


class _ForwardSoundFile(soundfile.SoundFile):
    """soundfile that reads on where it is.

    The library's own ``read`` seeks after every block and stops at the header's count; on files whose
    count is wrong, or whose codec seeks badly, that loses sound. What says it cannot seek is read
    straight on; ``seek`` itself still works.
    """

    def seekable(self) -> bool:
        return False


class SndfileReader(AudioReader):
    """One file, or one virtual file, through libsndfile.

    Args:
        source: Path as bytes, or a seekable binary file object, which the reader then owns.
        badges: What is already known to be odd.

    Raises:
        soundfile.LibsndfileError: when libsndfile does not take it.
    """

    def __init__(self, source: bytes | Any, *, badges: tuple[str, ...] = ()) -> None:
        self._source = source
        self._file = _ForwardSoundFile(source)
        self._ended = False
        frames = self._file.frames if 0 <= self._file.frames < _HINT_LIMIT else 0
        subtype = self._file.subtype
        super().__init__(
            AudioInfo(
                frames=frames,
                samplerate=self._file.samplerate,
                channels=self._file.channels,
                format=self._file.format,
                subtype=subtype,
                bit_depth=_BIT_DEPTHS.get(subtype),
                badges=badges,
            ),
            frames_known=subtype in _EXACT_FRAMES and self._file.format != "FLAC",
        )

    def _read(self, frames: int) -> np.ndarray:
        if self._ended:
            return self._nothing()
        frames = min(frames, self.block_frames)
        block = np.full((frames, self.info.channels), np.nan, np.float32)
        try:
            count = self._file.buffer_read_into(block, "float32")
        except (soundfile.LibsndfileError, RuntimeError):
            # A damaged end: what was decoded before the error stands in the block, the rest is NaN.
            count = int(np.argmin(np.isfinite(block[:, 0]))) if np.isnan(block[:, 0]).any() else frames
            self._ended = True
        if count <= 0:
            self._ended = True
        return block[: max(0, count)]

    def _seek(self, frame: int) -> None:
        self._ended = False
        if self.info.subtype not in _NO_SEEK:
            try:
                self._file.seek(frame)
                return
            except (soundfile.LibsndfileError, RuntimeError):
                pass
        self._reopen()
        self._skip(frame)

    def _reopen(self) -> None:
        self._file.close()
        if not isinstance(self._source, bytes):
            self._source.seek(0)
        self._file = _ForwardSoundFile(self._source)

    def _skip(self, frames: int) -> None:
        while frames > 0:
            got = len(self._read(frames))
            if not got:
                return
            frames -= got

    def _close(self) -> None:
        self._file.close()
        if not isinstance(self._source, bytes):
            self._source.close()


def open_path(path: str) -> SndfileReader:
    """Opens a path as libsndfile finds it, without repairs."""
    return SndfileReader(os.fsencode(path))
