"""The front door of sound: opens whatever is in a file as a stream of float32 frames.

Everything that reads samples (player, peaks, embedders, export) comes through here, so that a file
with a lying header is understood once and alike everywhere. Nothing is allocated from what a header
promises; lengths are hints until ``probe`` has decoded the whole file.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import soxr

from foley_desktop.audio import openers
from foley_desktop.audio.reader import AudioInfo, AudioReader
from foley_desktop.errors import AudioFileError

__all__ = [
    "AUDIO_EXTENSIONS",
    "VIDEO_EXTENSIONS",
    "AudioInfo",
    "AudioReader",
    "Probe",
    "is_media_name",
    "iter_mono",
    "open_audio",
    "probe",
    "read_frames",
    "read_mono",
]

AUDIO_EXTENSIONS = frozenset({
    ".wav", ".wave", ".bwf", ".rf64", ".w64", ".aif", ".aiff", ".aifc", ".caf", ".au", ".snd", ".voc", ".sd2",
    ".flac", ".ogg", ".oga", ".opus", ".spx", ".mp3", ".mp2", ".m4a", ".m4b", ".aac", ".alac", ".wma", ".wv",
    ".ape", ".tta", ".mpc", ".dsf", ".ac3", ".eac3", ".ec3", ".amr", ".awb", ".mka", ".weba", ".mp1", ".mpga",
    ".m4r", ".amb", ".svx", ".8svx", ".16sv", ".nist", ".sph", ".ircam", ".paf", ".pvf", ".wve", ".avr",
    ".sds", ".xi",
})  # fmt: skip
VIDEO_EXTENSIONS = frozenset({
    ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".wmv", ".mpg", ".mpeg", ".mts", ".m2ts", ".ogv",
    ".flv", ".f4v", ".3gp", ".3g2", ".asf", ".m2t",
})  # fmt: skip

SILENCE_PEAK = 1e-5
"""A clip that never rises above this (-100 dBFS) counts as silent."""


def is_media_name(name: str) -> bool:
    """Whether a file name (or path) ends like an audio or video file, whatever its case."""
    extension = os.path.splitext(name)[1].lower()
    return extension in AUDIO_EXTENSIONS or extension in VIDEO_EXTENSIONS


@dataclass(frozen=True)
class Probe:
    """What one full decode of a file tells.

    ``info.frames`` is the true length. ``peak`` is the largest absolute sample, 1.0 = full scale;
    ``audio_hash`` 32 hex digits over the decoded float32 frames, the rate and the channel count, so it
    stays when tags are edited; ``silent`` a peak below -100 dBFS. ``badges`` equals ``info.badges``.
    """

    info: AudioInfo
    peak: float
    audio_hash: str
    silent: bool
    badges: tuple[str, ...]


def open_audio(path: str, *, early: bool = False) -> AudioReader:
    """Opens a file for streaming; a context manager.

    Args:
        path: Absolute path; may hold surrogate escapes for bytes that are not text.
        early: For listening: whether to begin before a long file has been looked through. The length and
            what is odd about the file may show only later then.

    Raises:
        AudioFileError: with a reason code, when the file cannot be used as audio.
    """
    size = _stat_size(path)
    if size == 0:
        raise AudioFileError("empty", "The file is empty: it has no bytes at all.")
    try:
        return openers.open_reader(path, size, early=early)
    except OSError as error:
        raise _os_error(error) from error


def _stat_size(path: str) -> int:
    """Size in bytes of a regular, readable file; otherwise the reason why not, as an AudioFileError."""
    try:
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode):
            os.close(os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)))
    except (OSError, ValueError) as error:
        raise _os_error(error) from error
    if not stat.S_ISREG(status.st_mode):
        raise AudioFileError("not_audio", "This is not a file.")
    return status.st_size


def _os_error(error: Exception) -> AudioFileError:
    if isinstance(error, PermissionError):
        return AudioFileError("no_permission", "The file may not be read.", cause=error)
    if isinstance(error, OSError) and error.errno not in (errno.ENOENT, errno.ENOTDIR):
        return AudioFileError("vanished", f"The file cannot be reached: {error.strerror}.", cause=error)
    return AudioFileError("vanished", "The file is no longer there.", cause=error)


def probe(path: str) -> Probe:
    """Decodes the whole file once, streaming, and says what is in it.

    Raises:
        AudioFileError: as :func:`open_audio`; ``empty`` also when not a single frame comes out, and
            ``still_being_written`` when the file changed its size meanwhile.
    """
    size = _stat_size(path)
    with open_audio(path) as reader:
        info = reader.info
        digest = hashlib.blake2b(digest_size=16)
        frames, peak = 0, 0.0
        for block in _blocks(reader, None):
            frames += len(block)
            peak = max(peak, float(np.max(block)), -float(np.min(block)))
            digest.update(np.ascontiguousarray(block).data)
        badges = _late_badges(reader, frames, peak)
    if _stat_size(path) != size:
        raise AudioFileError("still_being_written", "The file is still being written.")
    if not frames:
        raise AudioFileError("empty", "The file holds no sound.")
    digest.update(f"{info.samplerate} {info.channels}".encode())
    info = replace(info, frames=frames).with_badges(*badges)
    return Probe(info, peak, digest.hexdigest(), peak < SILENCE_PEAK, info.badges)


def _late_badges(reader: AudioReader, frames: int, peak: float) -> list[str]:
    """What only decoding showed. Lossy codecs overshoot full scale as a matter of course: no badge."""
    badges = list(reader.late_badges)
    if reader.frames_known and frames < reader.info.frames:
        badges.append("truncated")
    if reader.non_finite:
        badges.append("non_finite_samples")
    if peak > 1.0 and reader.info.subtype in ("FLOAT", "DOUBLE"):
        badges.append("over_full_scale")
    return badges


def read_frames(path: str, start_frame: int, frames: int) -> tuple[np.ndarray, int]:
    """``frames`` frames from ``start_frame`` on, fewer at the end.

    Returns:
        float32 ``(n, channels)`` and the file's sample rate in Hz.
    """
    with open_audio(path) as reader:
        reader.seek(start_frame)
        blocks = list(_blocks(reader, max(0, frames)))
        whole = np.concatenate(blocks) if blocks else np.empty((0, reader.info.channels), np.float32)
        return whole, reader.info.samplerate


def read_mono(path: str, samplerate: int, start_s: float = 0.0, end_s: float | None = None) -> np.ndarray:
    """The sound between two times (seconds) as mono float32 ``(n,)`` at ``samplerate`` Hz.

    Mono is the mean of the channels.
    """
    with open_audio(path) as reader:
        blocks = list(_mono_blocks(reader, samplerate, start_s, end_s))
    return np.concatenate(blocks) if blocks else np.empty(0, np.float32)


def iter_mono(path: str, samplerate: int, block_s: float) -> Iterator[np.ndarray]:
    """The whole sound as mono float32 blocks of exactly ``block_s`` seconds, the last one shorter.

    Memory is bounded by one block plus one internal read, whatever the file's length.
    """
    size = max(1, round(block_s * samplerate))
    pending: list[np.ndarray] = []
    held = 0
    with open_audio(path) as reader:
        for piece in _mono_blocks(reader, samplerate, 0.0, None):
            pending.append(piece)
            held += len(piece)
            if held < size:
                continue
            joined = np.concatenate(pending)
            whole = held - held % size
            for start in range(0, whole, size):
                yield joined[start : start + size].copy()
            pending, held = [joined[whole:]], held - whole
    if held:
        yield np.concatenate(pending)


def _blocks(reader: AudioReader, frames: int | None) -> Iterator[np.ndarray]:
    """What follows, at most ``frames`` frames (None: to the end), in bounded blocks."""
    left = frames
    while left is None or left > 0:
        want = reader.block_frames if left is None else min(left, reader.block_frames)
        block = reader.read(want)
        if not len(block):
            return
        if left is not None:
            left -= len(block)
        yield block


def _mono_blocks(
    reader: AudioReader, samplerate: int, start_s: float, end_s: float | None
) -> Iterator[np.ndarray]:
    """Mono blocks at another rate. soxr keeps its state from block to block, so there are no seams."""
    rate = reader.info.samplerate
    start = max(0, round(start_s * rate))
    frames = None if end_s is None else max(0, round(end_s * rate) - start)
    reader.seek(start)
    stream = None if rate == samplerate else soxr.ResampleStream(rate, samplerate, 1, dtype="float32")
    for block in _blocks(reader, frames):
        mono = block[:, 0].copy() if block.shape[1] == 1 else block.mean(axis=1, dtype=np.float32)
        if stream is not None:
            mono = stream.resample_chunk(mono)
        if len(mono):
            yield mono
    if stream is not None and len(tail := stream.resample_chunk(np.empty(0, np.float32), last=True)):
        yield tail
