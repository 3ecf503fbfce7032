"""Writes tags into sound files without ever putting the sound at risk.

The new file is made beside the old one, checked against it (the sound's bytes, its decoded samples and every
chunk that was not edited must be the same, and the tags must read back), and only then takes its place. Any
doubt, any error and any kill on the way leaves the old file as it was.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import BinaryIO, NamedTuple

from foley_desktop.audio import aifftags, flactags, mpegtags, oggtags, replacing, sniff, wavtags
from foley_desktop.audio.decode import Probe, probe
from foley_desktop.audio.foreign_chunks import FOREIGN_SOURCES
from foley_desktop.audio.rewrite import Fingerprint, Piece, copied, length, unsupported
from foley_desktop.audio.splice import SpliceFile
from foley_desktop.audio.tagfields import WRITABLE
from foley_desktop.audio.tags import is_cut, read_open, read_tags
from foley_desktop.audio.tagtext import clean
from foley_desktop.audio.target import printable, target_exists
from foley_desktop.errors import AudioFileError, FoleyError, TagWriteError
from foley_desktop.models import Tag

__all__ = ["WRITABLE", "Change", "Foreseen", "Written", "can_write", "foresee", "write_copy", "write_tags"]

_MODULES: Mapping[sniff.Kind, ModuleType] = {
    sniff.WAV: wavtags,
    sniff.AIFF: aifftags,
    sniff.FLAC: flactags,
    sniff.OGG: oggtags,
    sniff.MPEG: mpegtags,
}
_TAGS_END = 20 << 20
"""Bytes within which the tags of an Ogg file lie, cover pictures included."""
_EXTENSIONS = frozenset().union(*(kind.extensions for kind in _MODULES))


@dataclass(frozen=True, slots=True)
class Written:
    """What writing came to.

    ``changed`` is False when the file said all of it already and was left alone; ``notes`` are sentences
    about what did not fit; ``backup`` is the path of the old version where one was kept.
    """

    path: str
    changed: bool
    notes: tuple[str, ...] = ()
    backup: str = ""


class Change(NamedTuple):
    """A value in one place of a file, before and after; an empty one means that it is not there.

    ``source`` is the place's name as in :data:`foley_desktop.audio.tags.SOURCES`.
    """

    field: str
    source: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What writing would change, place by place, and sentences about what would not fit."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()


def can_write(name: str) -> bool:
    """Whether files that end like this take tags; the file itself may still be refused."""
    return os.path.splitext(name)[1].lower() in _EXTENSIONS


def write_tags(path: str, changes: Mapping[str, str], *, backup: bool = False) -> Written:
    """Sets tags in a file; the file's sound, times and permissions stay.

    Args:
        path: Absolute path; may hold surrogate escapes. A symlink is followed.
        changes: New values by field, of those in :data:`WRITABLE`; an empty one takes the field out.
        backup: Keeps the old version beside the new one, ending in ``.bak``.

    Raises:
        TagWriteError: the tags are not written, and the file is as it was.
    """
    path = os.path.realpath(path)
    values = _checked(changes)
    seen = replacing.check(path)
    if _says_already(path, values):
        return Written(path, changed=False)
    with _explained(path), replacing.part_beside(os.path.dirname(path)) as (part, target):
        notes = _make(path, part, target, values)
        replacing.take_over(path, part)
        kept = replacing.keep_backup(path) if backup else ""
        # A backup is a second name, which changes the file's ctime; everything else must still be as seen.
        now = replacing.state_of(path)
        same = now == seen if not backup else now._replace(ctime_ns=0) == seen._replace(ctime_ns=0)
        if not same or replacing.is_open_for_writing(path):
            raise TagWriteError("changed", "Another program wrote to the file meanwhile.")
        notes += _other_names(path, besides=1 if kept else 0)
        replacing.put_in_place(part, path)
    return Written(path, changed=True, notes=notes, backup=kept)


def _other_names(path: str, besides: int = 0) -> tuple[str, ...]:
    """A remark where the file has further names (hard links), ``besides`` of which are ours."""
    count = os.stat(path).st_nlink - 1 - besides
    if count < 1:
        return ()
    return (
        f"The file has {count} other {'name' if count == 1 else 'names'}, with the old tags from now on.",
    )


def foresee(path: str, changes: Mapping[str, str]) -> Foreseen:
    """What :func:`write_tags` would change in a file, found by putting the new one together unwritten.

    Raises:
        TagWriteError: it would be refused, as far as that can be told without decoding the sound.
    """
    path = os.path.realpath(path)
    values = _checked(changes)
    replacing.check(path)
    if _says_already(path, values):
        return Foreseen(())
    with _explained(path), open(path, "rb") as source:
        size = source.seek(0, os.SEEK_END)
        module, start = _module(source, size, path)
        rewritten = module.rewrite(source, start, size, values)
        made = SpliceFile(source, _begun(rewritten.pieces), owns=False)
        before, after = read_open(path, source), read_open(path, io.BufferedReader(made))
        notes = rewritten.notes + _other_names(path)
        return Foreseen(tuple(_differences(before, after, values)), notes)


def _begun(pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces of a new file; of one that is made page by page only as much as its tags can take."""
    if isinstance(pieces, Sequence):
        return list(pieces)
    begun: list[Piece] = []
    size = 0
    for piece in pieces:
        begun.append(piece)
        size += length([piece])
        if size > _TAGS_END:
            break
    return begun


def _differences(before: Sequence[Tag], after: Sequence[Tag], values: Mapping[str, str]) -> Iterator[Change]:
    for field in values:
        places = dict.fromkeys(tag.source for tag in (*before, *after) if tag.field == field)
        for place in places:
            old, new = (
                " · ".join(tag.value for tag in tags if (tag.field, tag.source) == (field, place))
                for tags in (before, after)
            )
            if old != new:
                yield Change(field, place, old, new)


def write_copy(source: str, changes: Mapping[str, str], target: str) -> Written:
    """Makes a new file with the source's sound, its tags, and ``changes``; the source is only read.

    A kind of file that takes no tags, or one whose structure cannot be trusted, is copied byte for byte,
    and ``notes`` say so.

    Raises:
        TagWriteError: the copy was not made.
        TargetExistsError: there is a file of that name.
    """
    values = _checked(changes)
    folder = os.path.dirname(target)
    with _explained(source), replacing.part_beside(folder) as (part, file):
        notes: tuple[str, ...] = ()
        try:
            if values:
                notes = _make(source, part, file, values)
            else:
                _copy(source, file)
        except TagWriteError as error:
            if error.reason not in ("unsupported", "damaged"):
                raise
            notes = (error.sentence,)
            _copy(source, file)
        replacing.take_over(source, part)
        # A copy of a write-protected file is the user's to change.
        os.chmod(part, os.stat(part).st_mode | 0o600)
        _appear(part, target)
    return Written(target, changed=True, notes=notes)


def _checked(changes: Mapping[str, str]) -> dict[str, str]:
    unknown = [field for field in changes if field not in WRITABLE]
    if unknown:
        raise TagWriteError("unsupported", f"The field {unknown[0]} cannot be written into files.")
    return {field: clean(value) for field, value in changes.items()}


def _says_already(path: str, values: Mapping[str, str]) -> bool:
    """Whether the file holds every value already, and no other one of the same field where we would write."""
    tags = [tag for tag in read_tags(path) if tag.source not in FOREIGN_SOURCES]
    return all(
        {tag.value for tag in tags if tag.field == field and not is_cut(tag.value, value)}
        == ({value} if value else set())
        for field, value in values.items()
    )


def _make(path: str, part: str, target: BinaryIO, values: Mapping[str, str]) -> tuple[str, ...]:
    """Writes the new file into ``target`` and checks it against the old one; gives remarks."""
    with open(path, "rb") as source:
        size = source.seek(0, os.SEEK_END)
        module, start = _module(source, size, path)
        before = module.fingerprint(source, start, size)
        rewritten = module.rewrite(source, start, size, values)
        _fill(target, copied(source, rewritten.pieces))
    _verify_bytes(module, part, before)
    _verify_sound(path, part)
    _verify_tags(part, values)
    return rewritten.notes


def _module(file: BinaryIO, size: int, path: str) -> tuple[ModuleType, int]:
    kind, start = sniff.sniff(file, size, sniff.extension_of(path))
    module = _MODULES.get(kind)
    if module is None:
        raise unsupported(kind.label)
    return module, start


def _fill(target: BinaryIO, blocks: Iterable[bytes]) -> None:
    for block in blocks:
        target.write(block)
    replacing.to_disk(target)


def _copy(source: str, target: BinaryIO) -> None:
    target.seek(0)
    target.truncate()
    with open(source, "rb") as file:
        _fill(target, iter(lambda: file.read(1 << 20), b""))


def _verify_bytes(module: ModuleType, part: str, before: Fingerprint) -> None:
    with open(part, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        _, start = sniff.sniff(file, size, "")
        after: Fingerprint = module.fingerprint(file, start, size)
    if after.sound != before.sound:
        raise TagWriteError("failed", "The copy with the new tags does not hold the same sound.")
    if after.others != before.others:
        raise TagWriteError("failed", "Other parts of the file would have changed.")


def _verify_sound(path: str, part: str) -> None:
    old, new = _heard(path), _heard(part)
    if (old.audio_hash, old.info.frames) != (new.audio_hash, new.info.frames):
        raise TagWriteError("failed", "The copy with the new tags does not sound the same.")


def _heard(path: str) -> Probe:
    try:
        return probe(path)
    except AudioFileError as error:
        raise TagWriteError(
            "damaged", f"Tags are not written into this file: {error.sentence}", cause=error
        ) from error


def _verify_tags(part: str, values: Mapping[str, str]) -> None:
    tags = read_tags(part)
    for field, value in values.items():
        found = [tag.value for tag in tags if tag.field == field]
        if value and value not in found:
            raise TagWriteError("failed", f"The {field} would not be read back from the file.")


def _appear(part: str, target: str) -> None:
    """Gives a finished copy its name, which nobody may have taken."""
    try:
        os.link(part, target)
    except FileExistsError as error:
        raise target_exists_at(target) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        if os.path.lexists(target):
            raise target_exists_at(target) from error
        os.rename(part, target)
    replacing.sync_folder(os.path.dirname(target))


def target_exists_at(target: str) -> FoleyError:
    from pathlib import Path

    return target_exists(Path(target))


class _explained:
    """Turns what the system and the parsers raise into a :class:`TagWriteError`."""

    def __init__(self, path: str) -> None:
        self._name = printable(os.path.basename(path))

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is None or (isinstance(error, FoleyError) and not isinstance(error, AudioFileError)):
            return
        if isinstance(error, AudioFileError):
            reason = "vanished" if error.reason == "vanished" else "damaged"
            sentence = f"Tags are not written into this file: {error.sentence}"
            raise TagWriteError(reason, sentence, cause=error) from error
        if not isinstance(error, Exception):
            return
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise replacing.no_space(self._name, error) from error
        if isinstance(error, PermissionError) or (isinstance(error, OSError) and error.errno == errno.EROFS):
            raise TagWriteError("read_only", f"{self._name} cannot be written to.", cause=error) from error
        what = error.strerror if isinstance(error, OSError) and error.strerror else "its parts do not fit"
        raise TagWriteError(
            "failed", f"Tags were not written into {self._name}: {what}.", cause=error
        ) from error
