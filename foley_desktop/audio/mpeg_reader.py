"""MPEG audio as an :class:`AudioReader` of true length that seeks to the exact sample, and fast.

libsndfile's own seek is a guess from bitrates. Here every seek opens the stream afresh a few frames
before the target, behind a header frame that states the truth, and decodes up to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import soundfile

from foley_desktop.audio.mpeg import MpegLayout
from foley_desktop.audio.reader import AudioInfo, AudioReader
from foley_desktop.audio.sndfile_reader import SndfileReader
from foley_desktop.audio.splice import SpliceFile, Stretch
from foley_desktop.errors import AudioFileError


class MpegReader(AudioReader):
    """A layer III stream whose frames have been counted.

    Args:
        layout: The frames.
        view: Opens a view of the file made of the given pieces.
        label: The container's name, ``info.format``.
        badges: What is already known to be odd.

    Raises:
        soundfile.LibsndfileError: when libsndfile does not take it.
    """

    def __init__(
        self,
        layout: MpegLayout,
        view: Callable[[Sequence[bytes | Stretch]], SpliceFile],
        label: str,
        *,
        badges: tuple[str, ...] = (),
    ) -> None:
        self._layout = layout
        self._view = view
        self._inner = self._open(0)
        inner = self._inner.info
        info = AudioInfo(layout.frames, inner.samplerate, inner.channels, label, inner.subtype, None, badges)
        super().__init__(info, frames_known=False)

    def _open(self, sample: int) -> SndfileReader:
        pieces, before = self._layout.view_from(sample)
        source = self._view(pieces)
        try:
            inner = SndfileReader(source)
        except BaseException:
            source.close()
            raise
        while before > 0:
            got = len(inner.read(min(before, inner.block_frames)))
            if not got:
                break
            before -= got
        return inner

    def _read(self, frames: int) -> np.ndarray:
        left = self.info.frames - self._position
        return self._inner.read(min(frames, left)) if left > 0 else self._nothing()

    def _seek(self, frame: int) -> None:
        if 0 <= frame - self._position <= self.info.samplerate:
            self._skip(frame - self._position)
            return
        self._inner.close()
        try:
            self._inner = self._open(min(frame, self.info.frames))
        except (soundfile.SoundFileError, OSError, RuntimeError) as error:
            raise AudioFileError("vanished", "The file can no longer be read.", cause=error) from error

    def counted(self) -> int:
        """The length by the frames that are there; damage inside them may end the sound before."""
        return self.info.frames

    def _close(self) -> None:
        self._inner.close()
