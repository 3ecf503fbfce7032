"""libsndfile as an :class:`AudioReader`: forward reading that survives wrong counts and damaged ends."""

from __future__ import annotations

from dataclasses import replace
from io import IOBase

import numpy as np
import soundfile

from foley_desktop.audio.reader import AudioInfo, AudioReader
from foley_desktop.errors import AudioFileError

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
_UNCOMPRESSED = {"PCM_S8", "PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW"}
_NO_SEEK = {"GSM610", "G721_32", "G723_24", "G723_40", "DWVW_12", "DWVW_16", "DWVW_24", "DWVW_N"}
_EXACT_BY_REWIND_S = {"VORBIS": 120.0, "MPEG_LAYER_II": 120.0, "MPEG_LAYER_I": 120.0, "OPUS": 1.0}
"""Up to this place (seconds) these codecs are sought by decoding from the start, some 400 times faster than
real time: libsndfile's own seek lands up to some thousand frames beside on many files,
and in Opus of a few frames."""
_LEAD_FRAMES = dict.fromkeys(("VORBIS", "MPEG_LAYER_II", "MPEG_LAYER_I"), 16384)
"""Farther out they are sought natively, this many frames early, since a packet leans on those before it."""
_NEAR_FRAMES = 2048
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
    """One file, or one corrected view of a file, through libsndfile.

    Args:
        source: Path as libsndfile takes it, or a seekable binary file object, which the reader owns.
        badges: What is already known to be odd.
        frames_known: Whether the caller has checked the count against the bytes present.
        promised: How many frames the header states, if less than that means that sound is missing.
        step: Frames that the codec packs together, all alike (0: it varies). After an error the file is read
            again in such steps, so that the sound ends just before the damage however much is read at once.
        limit: Frames after which whatever libsndfile still delivers is no sound of this file.
        rewind_to_seek: Whether only decoding from the start finds a place for certain.

    Raises:
        soundfile.LibsndfileError: when libsndfile does not take it.
    """

    def __init__(
        self,
        source: bytes | str | IOBase,
        *,
        badges: tuple[str, ...] = (),
        frames_known: bool = False,
        promised: int = 0,
        step: int = 0,
        limit: int | None = None,
        rewind_to_seek: bool = False,
    ) -> None:
        self._source = source
        self._file = _ForwardSoundFile(source)
        self._ended = False
        self._at = 0
        self._promised = promised
        self._step = step
        self._stepping = False
        self._limit = limit
        subtype = self._file.subtype
        ogg_flac = self._file.format == "OGG" and subtype.startswith("PCM")  # seeks to the wrong place
        self._rewinds = rewind_to_seek or ogg_flac or subtype in _NO_SEEK
        info = AudioInfo(
            frames=self._file.frames if 0 <= self._file.frames < _HINT_LIMIT else 0,
            samplerate=self._file.samplerate,
            channels=self._file.channels,
            format="WAV" if self._file.format in ("WAVEX", "RF64") else self._file.format,
            subtype=subtype,
            bit_depth=_BIT_DEPTHS.get(subtype),
            badges=badges,
        )
        super().__init__(info, frames_known=frames_known)

    def stop_at_bytes(self, size: int) -> None:
        """Ends uncompressed sound after ``size`` bytes of it, where libsndfile would read on."""
        if self.info.subtype in _UNCOMPRESSED and self.info.bit_depth:
            limit = size * 8 // (self.info.bit_depth * self.info.channels)
            if limit < self.info.frames:
                self._limit = limit
                self.info = replace(self.info, frames=limit)

    def _read(self, frames: int) -> np.ndarray:
        if self._limit is not None:
            frames = min(frames, self._limit - self._at)
        if self._ended or frames <= 0:
            return self._nothing()
        if self._stepping:
            frames = min(frames, self._step - self._at % self._step)
        block = np.full((frames, self.info.channels), np.nan, np.float32)
        try:
            count = self._file.buffer_read_into(block, "float32")
        except (soundfile.SoundFileError, RuntimeError):
            if self._step and not self._stepping:
                self._stepping = True
                return self._read_again(frames)
            # Damage: what was decoded before it stands in the block, the rest is still NaN.
            unread = np.isnan(block).all(axis=1)
            count = int(np.argmax(unread)) if unread.any() else frames
            if self._stepping:
                # A step that is full in spite of the error holds the next frame, not this one.
                count = count if count < frames else 0
                self._limit = self._at + count
            # Behind all that was promised there may be a tag that is no frame.
            self._end(damaged=not 0 < self._promised <= self._at + count)
        count = max(0, count)
        self._at += count
        if count < frames:
            self._end(damaged=self._at < self._promised)
        return block[:count]

    def _read_again(self, frames: int) -> np.ndarray:
        """What follows up to the damage: behind it libsndfile may go on with sound from anywhere."""
        place, position = self._at, self._position
        self._rewind()
        self._skip(place)
        self._position = position
        return self._read(frames) if self._at == place else self._nothing()

    def _end(self, *, damaged: bool) -> None:
        self._ended = True
        if damaged:
            self.late_badges = ("truncated",)

    def _seek(self, frame: int) -> None:
        """Natively where libsndfile is exact; otherwise by decoding, from the start if need be."""
        ahead = frame - self._position
        # A codec starts anew after a seek; plain samples are sought for nothing.
        near = _NEAR_FRAMES if self.info.subtype in _UNCOMPRESSED else self.info.samplerate
        if self.frames_known and frame >= self.info.frames:
            self._at, self._ended = frame, True
        elif not self._ended and 0 <= ahead <= near:
            self._skip(ahead)
        elif self._must_rewind(frame):
            self._rewind()
            self._skip(frame)
        else:
            lead = min(frame, _LEAD_FRAMES.get(self.info.subtype, 0))
            try:
                self._file.seek(frame - lead)
                self._at, self._ended = frame - lead, False
            except (soundfile.SoundFileError, RuntimeError):
                # After a failed seek libsndfile may read on from anywhere.
                self._rewind()
                lead = frame
            self._skip(lead)

    def _must_rewind(self, frame: int) -> bool:
        limit = _EXACT_BY_REWIND_S.get(self.info.subtype, 0.0) * self.info.samplerate
        return self._rewinds or frame < limit

    def _rewind(self) -> None:
        """Opens the source once more at its beginning.

        Raises:
            AudioFileError: when it is no longer there, or no longer the same.
        """
        self._file.close()
        try:
            if not isinstance(self._source, (bytes, str)):
                self._source.seek(0)
            self._file = _ForwardSoundFile(self._source)
        except (soundfile.SoundFileError, OSError, RuntimeError) as error:
            self._ended = True
            raise AudioFileError("vanished", "The file can no longer be read.", cause=error) from error
        self._at, self._ended = 0, False

    def _close(self) -> None:
        self._file.close()
        if not isinstance(self._source, (bytes, str)):
            self._source.close()
