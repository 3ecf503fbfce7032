"""FFmpeg (through PyAV) as an :class:`AudioReader`, for what libsndfile does not read: MPEG-4, WMA, video.

PyAV is imported here only when such a file is opened. The container format is always given by name,
so that FFmpeg never takes a playlist or a network address out of a user's file.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from io import IOBase
from typing import Any

import numpy as np

from foley_desktop.audio.ffmpeg_limits import limit_memory
from foley_desktop.audio.reader import AudioInfo, AudioReader
from foley_desktop.errors import AudioFileError

_OPEN_DEADLINE_S = 2.0
_MAX_ERRORS = 64
"""Undecodable packets in a row after which the rest of a file is given up."""
_VIDEO_DEMUXERS = {"mov", "matroska", "avi", "flv", "mpeg", "mpegts", "asf", "ogg"}
_STATING_DEMUXERS = {"matroska", "avi", "asf", "wv", "tta", "ape"}
"""Those whose headers state a length, which FFmpeg does not guess from the file's size."""
_MAX_PADDING = 4096
"""Samples that an encoder may have added behind the end that an MPEG-4 track states."""
_MAX_CHANNELS = 64
_PREROLL_S = 0.5
_EXACT_BY_REWIND_S = 120
_LOSSLESS_BITS = {"alac": None, "flac": None, "wavpack": None, "ape": None, "tta": None}


class _Source:
    """The file as FFmpeg reads it; opening gives up after a while, whatever loop the file provokes."""

    def __init__(self, file: IOBase) -> None:
        self._file = file
        self.deadline: float | None = None

    def read(self, size: int) -> bytes:
        if self.deadline is not None and time.monotonic() > self.deadline:
            return b""
        try:
            return self._file.read(size)
        except (OSError, ValueError):
            return b""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()


class _Borrowed(_Source):
    """A source that is left open."""

    def close(self) -> None:
        pass


class AvReader(AudioReader):
    """The first audio stream of a file through FFmpeg.

    Args:
        file: Binary file, which the reader then owns.
        demuxer: FFmpeg's name of the container format.
        label: The format's name for people, also ``info.format``.
        badges: What is already known to be odd.

    Raises:
        AudioFileError: ``unsupported_codec`` when FFmpeg has no way to decode it, ``not_audio`` when
            there is no sound in it.
    """

    def __init__(self, file: IOBase, demuxer: str, label: str, *, badges: tuple[str, ...] = ()) -> None:
        self._av = _load(label)
        self._source = _Source(file)
        self._demuxer = demuxer
        self._label = label
        self._container: Any = None
        self._damaged = False
        try:
            self._open()
            first = self._next_frame()
            if first is None:
                raise AudioFileError("empty", f"No sound could be decoded from this {label} file.")
        except BaseException:
            self._close()
            raise
        self._start_pts = first.pts
        channels, rate = len(first.layout.channels), first.sample_rate
        if not 1 <= channels <= _MAX_CHANNELS or not 100 <= rate <= 100_000_000:
            self._close()
            raise AudioFileError("corrupt_header", "The file claims an impossible channel count or rate.")
        self._pending: deque[np.ndarray] = deque()
        info = AudioInfo(
            frames=self._hint(rate),
            samplerate=rate,
            channels=channels,
            format=label,
            subtype=self._stream.codec_context.name.upper(),
            bit_depth=self._bit_depth(first),
            badges=badges,
        )
        super().__init__(info, frames_known=False)
        self._pending.append(_samples(first))
        self._stated_end = info.frames if demuxer == "mov" and self._counts_samples() else 0
        # With a picture beside it, the container's length need not be the sound's.
        container: Any = self._container
        alone = demuxer in _STATING_DEMUXERS and len(container.streams) == 1
        self._promised = self._stated_end or (info.frames if alone else 0)

    def _open(self) -> None:
        self._source.seek(0)
        self._source.deadline = time.monotonic() + _OPEN_DEADLINE_S
        try:
            self._container = self._av.open(
                self._source,
                "r",
                format=self._demuxer,
                metadata_errors="replace",
                options={"probesize": "5000000"},
            )
            stream = self._container.streams.best("audio")
        except Exception as error:
            raise AudioFileError(
                "unsupported_codec",
                f"This {self._label} file is damaged or in an unsupported codec.",
                cause=error,
            ) from error
        finally:
            self._source.deadline = None
        if stream is None and self._demuxer in _VIDEO_DEMUXERS:
            raise AudioFileError("not_audio", f"This {self._label} file has no sound in it.")
        if stream is None or stream.codec_context is None:
            raise AudioFileError(
                "unsupported_codec", f"The codec of this {self._label} file is not supported."
            )
        self._stream = stream
        self._frames = self._decode()

    def _decode(self) -> Iterator[Any]:
        """Decoded frames from where the container stands. Damaged packets are stepped over."""
        errors = 0
        packets = self._container.demux(self._stream)
        while errors < _MAX_ERRORS:
            try:
                packet = next(packets, None)
                if packet is None:
                    return
                frames = packet.decode()
            except (self._av.error.EOFError, StopIteration):
                return
            except self._av.FFmpegError:
                errors += 1
                self._damaged = True
                continue
            errors = 0
            yield from frames

    def _next_frame(self) -> Any | None:
        for frame in self._frames:
            if frame.samples > 0:
                return frame
        return None

    def _hint(self, rate: int) -> int:
        stream = self._stream
        if stream.duration and stream.time_base:
            return max(0, int(stream.duration * stream.time_base * rate))
        if self._container.duration and self._container.duration > 0:
            return int(self._container.duration * rate // self._av.time_base)
        return 0

    def _bit_depth(self, frame: Any) -> int | None:
        if (
            self._stream.codec_context.name not in _LOSSLESS_BITS
            and not self._stream.codec_context.name.startswith("pcm_")
        ):
            return None
        return {"u8": 8, "s16": 16, "s32": 24, "flt": 32, "dbl": 64}.get(frame.format.name.removesuffix("p"))

    def _read(self, frames: int) -> np.ndarray:
        if not self._pending and not self._fetch():
            return self._nothing()
        block = self._pending.popleft()
        if len(block) > frames:
            self._pending.appendleft(block[frames:])
            block = block[:frames]
        if 0 < self._stated_end < self._position + len(block) and self._is_padding():
            block = block[: max(0, self._stated_end - self._position)]
        return block

    def _fetch(self) -> bool:
        """Puts the next decoded frame into the queue; False at the end."""
        frame = self._next_frame()
        if frame is None or len(frame.layout.channels) != self.info.channels:
            lacking = self._promised - self._position
            whole = self._promised > 0 and lacking <= 0  # only a tag behind the sound was no packet
            if (self._damaged and not whole) or lacking > max(_MAX_PADDING, self._promised // 50):
                self.late_badges = ("truncated",)
            return False
        self._pending.append(_samples(frame))
        return True

    def _is_padding(self) -> bool:
        """Whether so little follows the stated end that it is the encoder's padding, not sound."""
        while sum(map(len, self._pending)) <= _MAX_PADDING:
            if not self._fetch():
                self._pending.clear()
                return True
        self._stated_end = 0
        return False

    def _counts_samples(self) -> bool:
        """Whether the stream's time stamps are sample numbers."""
        base = self._stream.time_base
        return base is not None and base.numerator == 1 and base.denominator == self.info.samplerate

    def _seek(self, frame: int) -> None:
        """By decoding from the start, which alone gives the same bits; far out by time stamps if they count
        samples: the place is exact then too, but codecs that make up noise make it up anew."""
        rate = self.info.samplerate
        near = 0 <= frame - self._position <= 10 * rate
        if not near and not (frame > _EXACT_BY_REWIND_S * rate and self._jump(frame)):
            self._restart()
        self._skip(frame - self._position)

    def _jump(self, frame: int) -> bool:
        early = frame - int(_PREROLL_S * self.info.samplerate)
        if self._start_pts is None or not self._counts_samples() or early <= 0:
            return False
        try:
            self._container.seek(self._start_pts + early, stream=self._stream, backward=True)
            self._frames = self._decode()
            self._pending.clear()
            landed = self._next_frame()
            # The first frame behind a seek lacks the overlap with the one before it.
            landed = self._next_frame() if landed is not None else None
        except self._av.FFmpegError:
            return False
        if landed is None or landed.pts is None or not 0 <= landed.pts - self._start_pts <= frame:
            return False
        self._position = landed.pts - self._start_pts
        self._pending.append(_samples(landed))
        return True

    def _restart(self) -> None:
        self._container.close()
        self._open()
        self._pending.clear()
        self._position = 0

    def _close(self) -> None:
        if self._container is not None:
            self._container.close()
        self._source.close()


def read_metadata(file: IOBase, demuxer: str) -> dict[str, str]:
    """What a container says about itself and its first audio stream, by FFmpeg's names in lower case.

    Empty when FFmpeg does not take the file. The file stays open.
    """
    try:
        av = _load(demuxer)
        source = _Borrowed(file)
        source.deadline = time.monotonic() + _OPEN_DEADLINE_S
        source.seek(0)
        options = {"probesize": "5000000"}
        with av.open(source, "r", format=demuxer, metadata_errors="replace", options=options) as container:
            streams = [stream.metadata for stream in container.streams.audio[:1]]
            found = [*streams, container.metadata]
    except Exception:  # a damaged container is told of where it is decoded
        return {}
    return {str(key).lower(): str(value) for metadata in found for key, value in metadata.items()}


def _load(label: str) -> Any:
    try:
        import av
        import av.error
    except ImportError as error:
        raise AudioFileError(
            "unsupported_codec",
            f"{label} needs the package av, which is not installed.",
            hint="Install it with: pip install av",
            cause=error,
        ) from error
    limit_memory(av)
    return av


def _samples(frame: Any) -> np.ndarray:
    """A frame's samples as float32 ``(n, channels)``; integers scaled so that full scale is 1.0."""
    raw = frame.to_ndarray()
    block = raw.T if frame.format.is_planar else raw.reshape(-1, len(frame.layout.channels))
    if block.dtype == np.uint8:
        return (block.astype(np.float32) - 128.0) / 128.0
    if block.dtype.kind == "i":
        scale = 2.0 ** (8 * block.dtype.itemsize - 1)
        return np.ascontiguousarray(block / scale, np.float32)
    return np.ascontiguousarray(block, np.float32)
