"""Chooses the decoder for a file, and helps it over headers that lie.

One function for each kind of file; ``open_reader`` picks it by the first bytes. libsndfile reads a
file as it is if it can; the corrected views of ``chunked``, ``flac`` and ``ogg`` are for the others.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, BinaryIO, Generic, TypeVar

import soundfile

from foley_desktop.audio import chain, chunked, flac, mpeg, ogg, sniff
from foley_desktop.audio.chain import ChainReader
from foley_desktop.audio.mpeg_early import EarlyMpegReader
from foley_desktop.audio.mpeg_reader import MpegReader
from foley_desktop.audio.promised import read_promise
from foley_desktop.audio.reader import AudioInfo, AudioReader
from foley_desktop.audio.sndfile_reader import SndfileReader
from foley_desktop.audio.splice import SpliceFile, Stretch
from foley_desktop.errors import AudioFileError

Layout = TypeVar("Layout")

_DEMUXERS = {sniff.MPEG_PS.code: "mpeg"}
_EARLY_BYTES = 1 << 19
"""How much of a long MPEG stream is enough to begin with: 13 seconds at least."""
_EARLY_FRAMES = 200
_SNDFILE_ERRORS = (soundfile.SoundFileError, RuntimeError, OSError, TypeError, ValueError, AssertionError)


def open_reader(path: str, size: int, *, early: bool = False) -> AudioReader:
    """Opens a regular, readable file of ``size`` bytes (more than 0).

    Args:
        early: Whether to give what can be read at once before the whole file has been looked through; the
            length is a hint then.

    Raises:
        AudioFileError: when it cannot be used as audio.
        OSError: when it cannot be opened.
    """
    extension = sniff.extension_of(path)
    with open(path, "rb") as file:
        kind, start = sniff.sniff(file, size, extension)
        badges = ("extension_mismatch",) if sniff.mismatch(kind, extension) else ()
        return _OPENERS.get(kind.code, _open_av)(_Job(path, file, size, start, kind, badges, early))


@dataclass(frozen=True, slots=True)
class _Job:
    """What an opener knows: the path, an open file it may look into, and what was found so far."""

    path: str
    file: BinaryIO
    size: int
    start: int
    kind: sniff.Kind
    badges: tuple[str, ...]
    early: bool

    def direct(self) -> bytes | str:
        """The path as libsndfile takes it: bytes, because names need not be text."""
        return self.path if sys.platform == "win32" else os.fsencode(self.path)

    def splice(self, pieces: Sequence[bytes | Stretch]) -> SpliceFile:
        """A corrected view of the file, with a handle of its own."""
        return SpliceFile(open(self.path, "rb"), pieces)

    def rest(self) -> SpliceFile:
        return self.splice([Stretch(self.start, self.size - self.start)])

    def view(self) -> BinaryIO:
        """The open file from where it really begins, to look into; not to be closed."""
        if not self.start:
            return self.file
        return SpliceFile(self.file, [Stretch(self.start, self.size - self.start)], owns=False)  # type: ignore[return-value]


def _try(source: Any, badges: tuple[str, ...], **options: Any) -> SndfileReader | Exception:
    """A reader, or the reason why libsndfile refused."""
    try:
        return SndfileReader(source, badges=badges, **options)
    except _SNDFILE_ERRORS as error:
        if not isinstance(source, (bytes, str)):
            source.close()
        return error


def _open_chunked(job: _Job) -> AudioReader:
    """WAV and AIFF: as they are if libsndfile counts what is really there, else behind a true header."""
    layout = chunked.read_layout(job.view(), job.size - job.start)
    badges = (*layout.badges, *job.badges)
    if layout.stream is not None and layout.stream_kind:
        inside = Stretch(job.start + layout.stream.start, layout.stream.size)
        if layout.stream_kind == "mpeg":
            return _open_frames(job, inside, badges, job.kind.label)
        return _open_links(job, inside, badges)
    known = layout.frames is not None
    if not job.start and not layout.sizes_lie:
        reader = _try(job.direct(), badges, frames_known=known, limit=layout.limit)
        if isinstance(reader, SndfileReader):
            if not known or reader.info.frames == layout.frames:
                return reader
            reader.close()
    pieces = [
        Stretch(piece.start + job.start, piece.size) if isinstance(piece, Stretch) else piece
        for piece in layout.pieces
    ]
    reader = _try(job.splice(pieces), badges, frames_known=known, limit=layout.limit)
    if isinstance(reader, SndfileReader):
        return reader
    if layout.for_ffmpeg:
        with suppress(AudioFileError):
            return _by_ffmpeg(job, "wav", badges, job.splice(pieces))
    if not layout.known_codec:
        raise AudioFileError(
            "unsupported_codec",
            f"The sound is stored as {layout.codec}, which is not supported.",
            cause=reader,
        )
    raise _refused(job, reader)


def _open_flac(job: _Job) -> AudioReader:
    layout = flac.read_layout(job.file, job.start, job.size)
    options = {
        "promised": layout.promised,
        "limit": layout.promised or None,
        "step": layout.block,
        "rewind_to_seek": not layout.promised,
    }
    if layout.sane:
        reader = _try(job.direct(), job.badges, **options)
        if isinstance(reader, SndfileReader):
            return reader
    reader = _try(job.splice(layout.pieces), job.badges, **options)
    if isinstance(reader, SndfileReader):
        return reader
    raise _refused(job, reader)


def _open_ogg(job: _Job) -> AudioReader:
    return _open_links(job, Stretch(job.start, job.size - job.start), job.badges)


def _open_links(job: _Job, where: Stretch, badges: tuple[str, ...]) -> AudioReader:
    key = _identity(job, where)
    layout = _PAGED.get(key) or ogg.read_layout(job.file, where.start, where.start + where.size)
    _PAGED.put(key, layout)
    if layout.video:
        return _by_ffmpeg(job, "ogg", badges)
    if layout.truncated:
        badges = tuple(dict.fromkeys((*badges, "truncated")))
    if len(layout.links) > 1:
        return _open_chain(job, layout, (*badges, "chained_stream"))
    whole = where == Stretch(0, job.size) and not layout.links[0].repaired
    reader = _try(job.direct() if whole else job.splice(layout.links[0].pieces), badges)
    if isinstance(reader, SndfileReader):
        return reader
    try:
        return _by_ffmpeg(job, "ogg", badges)
    except AudioFileError:
        raise _refused(job, reader) from reader


def _open_chain(job: _Job, layout: ogg.OggLayout, badges: tuple[str, ...]) -> AudioReader:
    """All links that agree with the first one in rate and channels, up to the first that does not."""
    links: list[Callable[[], AudioReader]] = []
    infos: list[AudioInfo] = []
    error: Exception | None = None
    for link in layout.links:
        try:
            reader = _open_link(job, link.pieces, badges)
        except AudioFileError as refusal:
            error = error or refusal
            continue
        reader.close()
        if infos and _shape(reader.info) != _shape(infos[0]):
            break
        infos.append(reader.info)
        links.append(partial(_open_link, job, link.pieces, ()))
    if not links:
        raise _refused(job, error)
    return ChainReader(chain.whole(infos), links)


def _shape(info: AudioInfo) -> tuple[int, int]:
    return info.samplerate, info.channels


def _open_link(job: _Job, pieces: Sequence[bytes | Stretch], badges: tuple[str, ...]) -> AudioReader:
    """One link, through FFmpeg where libsndfile does not take it (FLAC as FFmpeg writes it)."""
    try:
        reader = _try(job.splice(pieces), badges)
        if isinstance(reader, SndfileReader):
            return reader
        return _by_ffmpeg(job, "ogg", badges, job.splice(pieces))
    except OSError as error:
        raise AudioFileError("vanished", "The file can no longer be read.", cause=error) from error


def _open_mpeg(job: _Job) -> AudioReader:
    return _open_frames(job, Stretch(job.start, job.size - job.start), job.badges, job.kind.label)


def _open_frames(job: _Job, where: Stretch, badges: tuple[str, ...], label: str) -> AudioReader:
    """Layer III by counted frames; layers I and II, which have no header frame to correct, as they are."""
    key = _identity(job, where)
    layout = _COUNTED.get(key)
    if layout is None and job.early and where.size > _EARLY_BYTES:
        return _open_early(job, where, badges, label, key)
    layout = layout or mpeg.read_layout(job.file, where.start, where.start + where.size)
    if layout is None:
        raise AudioFileError("corrupt_header", f"No frame of the MPEG audio in this {label} file is whole.")
    _COUNTED.put(key, layout)
    return _open_counted(job, layout, badges, label)


def _open_counted(job: _Job, layout: mpeg.MpegLayout, badges: tuple[str, ...], label: str) -> AudioReader:
    if layout.truncated:
        badges = tuple(dict.fromkeys((*badges, "truncated")))
    try:
        if layout.layer == 3:
            return MpegReader(layout, job.splice, label, badges=badges)
        return SndfileReader(job.splice(layout.stretches), badges=badges)
    except _SNDFILE_ERRORS as error:
        raise _refused(job, error) from error


def _open_early(
    job: _Job, where: Stretch, badges: tuple[str, ...], label: str, key: tuple[object, ...]
) -> AudioReader:
    """The beginning of a long stream, as far as frames lie in it, and the rest when it has been counted."""
    early = mpeg.read_layout(job.file, where.start, where.start + _EARLY_BYTES)
    if early is None or early.layer != 3 or len(early.offsets) < _EARLY_FRAMES:
        return _open_frames(replace(job, early=False), where, badges, label)
    layout = mpeg.MpegLayout(b"")

    def counting() -> Iterator[None]:
        with open(job.path, "rb") as file:
            yield from mpeg.counting(layout, file, where.start, where.start + where.size)
        _COUNTED.put(key, layout)

    try:
        reader = MpegReader(early, job.splice, label, badges=badges)
    except _SNDFILE_ERRORS as error:
        raise _refused(job, error) from error
    whole = partial(_open_counted, job, layout, badges, label)

    def more(share: float) -> MpegReader | None:
        with open(job.path, "rb") as file:
            longer = mpeg.read_layout(file, where.start, where.start + round(share * where.size))
        try:
            return MpegReader(longer, job.splice, label, badges=badges) if longer is not None else None
        except _SNDFILE_ERRORS:
            return None

    return EarlyMpegReader(reader, _EARLY_BYTES / where.size, counting(), whole, more)


def _identity(job: _Job, where: Stretch) -> tuple[object, ...]:
    """What tells a file from itself after a change."""
    status = os.fstat(job.file.fileno())
    return job.path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, where


class _Remembered(Generic[Layout]):
    """The last layouts, so that a seek in a long file does not look it through again."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._layouts: OrderedDict[tuple[object, ...], Layout] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[object, ...]) -> Layout | None:
        with self._lock:
            if key in self._layouts:
                self._layouts.move_to_end(key)
            return self._layouts.get(key)

    def put(self, key: tuple[object, ...], layout: Layout) -> None:
        with self._lock:
            self._layouts[key] = layout
            while len(self._layouts) > self._most:
                self._layouts.popitem(last=False)


_COUNTED: _Remembered[mpeg.MpegLayout] = _Remembered(8)
_PAGED: _Remembered[ogg.OggLayout] = _Remembered(8)


def _open_sndfile(job: _Job) -> AudioReader:
    promise = read_promise(job.file, job.start, job.size)
    badges = (*job.badges, promise.badge) if promise and promise.badge else job.badges
    source: Any = job.direct() if not job.start else job.rest()
    if promise and promise.patch:
        source = job.splice(promise.pieces(job.start, job.size))
    reader = _try(source, badges)
    if isinstance(reader, SndfileReader):
        if promise:
            reader.stop_at_bytes(promise.bytes_of_sound)
        return reader
    if job.kind.label == "CAF":
        return _by_ffmpeg(job, "caf", badges)
    raise _refused(job, reader)


def _open_av(job: _Job) -> AudioReader:
    return _by_ffmpeg(job, _DEMUXERS.get(job.kind.code, job.kind.code), job.badges)


def _by_ffmpeg(
    job: _Job, demuxer: str, badges: tuple[str, ...], source: SpliceFile | None = None
) -> AudioReader:
    from foley_desktop.audio.pyav_reader import AvReader

    return AvReader(source or job.rest(), demuxer, job.kind.label, badges=badges)


def _refused(job: _Job, error: Exception | None) -> AudioFileError:
    label = f" {job.kind.label}" if job.kind.label else ""
    return AudioFileError("corrupt_header", f"This{label} file is damaged and cannot be read.", cause=error)


_OPENERS: dict[str, Callable[[_Job], AudioReader]] = {
    sniff.WAV.code: _open_chunked,
    sniff.AIFF.code: _open_chunked,
    sniff.FLAC.code: _open_flac,
    sniff.OGG.code: _open_ogg,
    sniff.MPEG.code: _open_mpeg,
    sniff.SNDFILE.code: _open_sndfile,
}
