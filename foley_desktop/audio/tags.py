"""What people wrote into a sound file about it: every value found, with the place it stood in.

The reader never gives up on a file because of one damaged tag, and never raises: a sound without
readable text is still a sound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

from foley_desktop.audio import sniff
from foley_desktop.audio.foreign_chunks import FOREIGN_SOURCES
from foley_desktop.audio.splice import SpliceFile, Stretch
from foley_desktop.audio.tagtext import clean
from foley_desktop.errors import AudioFileError
from foley_desktop.models import Tag

__all__ = ["SOURCES", "best", "read_open", "read_tags"]

SOURCES = (
    "user",
    "bext",
    "iXML",
    "INFO",
    "ID3",
    "Vorbis",
    "MP4",
    "ASF",
    "APEv2",
    "AIFF",
    "Matroska",
    "AVI",
    "Flash video",
    *FOREIGN_SOURCES,
)
"""Places of a tag, the one that is believed first in front."""

_FALLBACKS = {"description": ("description", "comment", "subject", "title")}
"""Fields that stand in for one that nobody filled, in this order."""

_MAX_TAGS = 500


def read_tags(path: str) -> tuple[Tag, ...]:
    """Every value found in the file, in file order, each once. Never raises; nothing found is ``()``.

    Fields are lower case: ``title``, ``description``, ``comment``, ``keywords``, ``category``,
    ``subcategory``, ``catid``, ``artist``, ``originator``, ``date``, ``time_reference`` (samples since
    midnight, as text) and others; ``source`` is one of :data:`SOURCES`. Values are single lines
    without control characters, and are plain text, not markup.
    """
    try:
        with open(path, "rb") as file:
            return read_open(path, file)
    except (OSError, ValueError):
        return ()


def read_open(name: str, file: BinaryIO) -> tuple[Tag, ...]:
    """As :func:`read_tags`, of a seekable file that is open; ``name`` says by its ending what it may be.

    Raises:
        OSError, ValueError: the file cannot be read.
    """
    return tuple(_unique(_read(name, file, file.seek(0, 2))))


def best(tags: Sequence[Tag], field: str) -> str:
    """The value of ``field`` that deserves most trust, or "".

    Sources are believed in the order of :data:`SOURCES`. A missing description is stood in for by a
    comment, a subject or a title.
    """
    rank = {source: index for index, source in enumerate(SOURCES)}
    for name in _FALLBACKS.get(field, (field,)):
        found = [tag for tag in tags if tag.field == name and tag.value]
        if found:
            first = min(found, key=lambda tag: rank.get(tag.source, len(rank))).value
            return next((tag.value for tag in found if is_cut(first, tag.value)), first)
    return ""


def is_cut(value: str, whole: str) -> bool:
    """Whether ``value`` is ``whole`` cut off where a bext chunk has no more room: 256 bytes."""
    size = len(value.encode("utf-8", "replace"))
    return len(whole) > len(value) and 250 <= size <= 256 and whole.startswith(value)


def _read(path: str, file: BinaryIO, size: int) -> Iterator[Tag]:
    try:
        kind, start = sniff.sniff(file, size, sniff.extension_of(path))
    except AudioFileError:
        # Perhaps a tag without sound: its words are still worth having.
        yield from _id3_in_front(file, size)
        return
    yield from _safely(_readers(kind, file, start, size))


def _readers(kind: sniff.Kind, file: BinaryIO, start: int, size: int) -> Iterator[Iterable[Tag]]:
    from foley_desktop.audio import mutagen_tags, riff_tags, vorbis_tags

    if start and kind is not sniff.MPEG:
        yield _id3_in_front(file, size)
    if kind in (sniff.WAV, sniff.AIFF):
        view = SpliceFile(file, [Stretch(start, size - start)], owns=False) if start else file
        yield riff_tags.read_riff(view, size - start)  # type: ignore[arg-type]
    elif kind is sniff.FLAC:
        yield vorbis_tags.read_flac(file, start, size)
    elif kind is sniff.OGG:
        yield vorbis_tags.read_ogg(file, start)
    elif kind is sniff.MP4:
        yield list(mutagen_tags.read_mp4(file)) or _by_ffmpeg(file, kind.code, "MP4")
    elif kind is sniff.ASF:
        yield mutagen_tags.read_asf(file)
    elif kind in (sniff.MPEG, sniff.ADTS, sniff.TTA):
        yield mutagen_tags.read_id3_file(file)
        yield mutagen_tags.read_ape(file)
    elif kind in (sniff.WAVPACK, sniff.APE, sniff.MUSEPACK):
        yield mutagen_tags.read_ape(file)
    elif kind in (sniff.MATROSKA, sniff.AVI, sniff.FLASH):
        yield _by_ffmpeg(file, kind.code, kind.label)


def _by_ffmpeg(file: BinaryIO, demuxer: str, source: str) -> Iterator[Tag]:
    """The words of a video's container, as far as they have a field here."""
    from foley_desktop.audio.mutagen_tags import NAMED_FIELDS
    from foley_desktop.audio.pyav_reader import read_metadata

    for name, value in read_metadata(file, demuxer).items():  # type: ignore[arg-type]
        if name in NAMED_FIELDS and (text := clean(value)):
            yield Tag(NAMED_FIELDS[name], text, source)


def _id3_in_front(file: BinaryIO, size: int) -> Iterator[Tag]:
    from foley_desktop.audio import mutagen_tags

    if sniff.skip_id3(file, size):
        yield from mutagen_tags.read_id3_file(file)


def _safely(groups: Iterator[Iterable[Tag]]) -> Iterator[Tag]:
    """All tags of all groups. One group's failure, of whatever kind, does not touch the others."""
    for group in groups:
        try:
            yield from group
        except Exception:
            continue


def _unique(tags: Iterable[Tag]) -> Iterator[Tag]:
    seen: set[Tag] = set()
    for tag in tags:
        if tag not in seen and len(seen) < _MAX_TAGS:
            seen.add(tag)
            yield tag
