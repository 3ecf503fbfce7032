"""Walks a folder for audio and video files, without ever opening one.

What other programs leave beside sounds (AppleDouble companions, trash, hidden folders) is passed
over. A folder that cannot be read is reported and does not end the walk.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from foley_desktop.audio.decode import is_media_name
from foley_desktop.library.catalog_files import FileState
from foley_desktop.library.catalog_roots import Volume
from foley_desktop.library.database import to_i64
from foley_desktop.library.sidecars import sidecar_names, signature

_TRASH = (b"$recycle.bin", b"recycler", b"#recycle", b"@recycle")
SKIPPED_FOLDERS = frozenset(
    [*_TRASH, b"@eadir", b"@recently-snapshot", b"system volume information", b"__macosx"]
)
"""Folders that hold what was thrown away or other programs' leftovers, by lower-case name."""

_DEEPEST = 200


class FoundFile(NamedTuple):
    """A media file below a root. ``rel_path`` has slashes whatever the system; see :class:`FileState`."""

    rel_path: bytes
    state: FileState
    problem: str = ""
    """Empty for a regular file; otherwise why it cannot be read: ``vanished``, ``not_audio``."""
    sidecar: int = 0
    """Signature of the files beside it that describe it; 0 without any."""


@dataclass(slots=True)
class Surroundings:
    """What a walk noticed beside files: folders it could not read, and devices it came across."""

    unreadable: list[tuple[bytes, str]] = field(default_factory=list)
    """``(path relative to the root, the system's words)``"""

    entries: int = 0
    """Everything seen, media or not: a folder with none is an empty mount point."""


def walk(root: str, prefix: bytes = b"", surroundings: Surroundings | None = None) -> Iterator[FoundFile]:
    """The media files below ``root``/``prefix``, ordered by the bytes of their path.

    Symlinks to files are files. A symlink to a folder is followed when it leads out of the root and
    not back to a folder around itself; inside the root the folder is met anyway.

    Args:
        root: Absolute path; may hold surrogate escapes.
        prefix: Path below the root at which to start.
        surroundings: Filled with what else there is to know.
    """
    noted = surroundings if surroundings is not None else Surroundings()
    top = os.fsencode(root)
    start = os.path.join(top, prefix) if prefix else top
    yield from _Walk(os.path.realpath(top), noted).folder(start, prefix, ())


class _Walk:
    def __init__(self, real_top: bytes, noted: Surroundings) -> None:
        self._real_top = real_top
        self._noted = noted
        self._linked: set[tuple[int, int]] = set()

    def folder(self, path: bytes, rel: bytes, around: tuple[tuple[int, int], ...]) -> Iterator[FoundFile]:
        try:
            status = os.stat(path)
            entries = self._entries(path)
        except (FileNotFoundError, NotADirectoryError):
            return  # gone since it was listed, and its files with it
        except OSError as error:
            self._noted.unreadable.append((rel, error.strerror or type(error).__name__))
            return
        place = (status.st_dev, status.st_ino)
        if place in around or len(around) >= _DEEPEST:
            return
        start = rel + b"/" if rel else b""
        names = {name for name, is_folder, _ in entries if not is_folder}
        for name, is_folder, entry in entries:
            if is_folder:
                if self._wanted(name, entry):
                    yield from self.folder(entry.path, start + name, (*around, place))
            elif _is_media(name):
                beside = sidecar_names(name, names)
                sidecar = signature([os.path.join(path, other) for other in beside]) if beside else 0
                yield _found(entry.path, start + name)._replace(sidecar=sidecar)

    def _entries(self, path: bytes) -> list[tuple[bytes, bool, os.DirEntry[bytes]]]:
        """Name, whether it is a folder, and entry; ordered as their full paths are."""
        with os.scandir(path) as listing:
            found = [(entry.name, _is_folder(entry), entry) for entry in listing]
        self._noted.entries += len(found)
        return sorted(found, key=lambda item: item[0] + b"/" if item[1] else item[0])

    def _wanted(self, name: bytes, entry: os.DirEntry[bytes]) -> bool:
        if name.startswith(b"."):
            return False
        if name.lower() in SKIPPED_FOLDERS:
            return not os.access(entry.path, os.R_OK | os.X_OK)  # the attempt to read it reports it
        if not entry.is_symlink():
            return True
        real = os.path.realpath(entry.path)
        if real == self._real_top or real.startswith(self._real_top.rstrip(b"/") + b"/"):
            return False
        try:
            status = os.stat(real)
        except OSError:
            return False
        place = (status.st_dev, status.st_ino)
        if place in self._linked:
            return False
        self._linked.add(place)
        return True


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_media(name: bytes) -> bool:
    return not name.startswith(b"._") and is_media_name(os.fsdecode(name))


def _found(path: bytes, rel_path: bytes) -> FoundFile:
    try:
        status = os.stat(path)
    except OSError:
        # A dangling link, or deleted since the folder was listed.
        return FoundFile(rel_path, FileState(0, 0, 0, 0, 0), "vanished")
    return FoundFile(rel_path, state_of(status), "" if stat.S_ISREG(status.st_mode) else "not_audio")


def state_of(status: os.stat_result) -> FileState:
    """What tells whether a file was written, from ``stat``; every number fits 64 bits with a sign."""
    return FileState(
        to_i64(status.st_size),
        to_i64(status.st_mtime_ns),
        to_i64(status.st_ctime_ns),
        to_i64(status.st_ino),
        to_i64(status.st_dev),
    )


def current_state(path: str) -> FileState | None:
    """The state of a file now; None when it is not there."""
    try:
        return state_of(os.stat(path))
    except (OSError, ValueError):
        return None


def volume_of(path: str) -> Volume | None:
    """The disk on which a folder lies; None when the folder is not there or cannot be listed."""
    try:
        with os.scandir(path):
            status = os.stat(path)
    except OSError:
        return None
    identity = ""
    if hasattr(os, "statvfs"):
        try:
            identity = f"{os.statvfs(path).f_fsid:x}"
        except OSError:
            identity = ""
    return Volume(identity, to_i64(status.st_dev))
