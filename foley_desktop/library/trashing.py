"""Throws files of the library into the system's wastebasket, from which they can be taken out again.

Nothing is ever deleted: where there is no wastebasket on the file's own disk, throwing it away is refused. On
Linux as the FreeDesktop.org Trash specification 1.0 has it, on macOS into ``~/.Trash``.
"""

from __future__ import annotations

import contextlib
import os
import sys
import urllib.parse
from collections.abc import Collection, Generator
from dataclasses import dataclass
from datetime import datetime

from foley_desktop.errors import TagWriteError
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.file_names import rename_exclusive
from foley_desktop.library.meter import Meter
from foley_desktop.library.writeback import Refusal, require_unlocked
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.models import Progress
from foley_desktop.settings import DataFolder


@dataclass(frozen=True, slots=True)
class TrashReport:
    """What was thrown away: ``(former path, place in the wastebasket)``; and what was not."""

    thrown: tuple[tuple[str, str], ...] = ()
    refused: tuple[Refusal, ...] = ()


def throw_away(catalog: Catalog, ids: Collection[str]) -> Generator[Progress, None, TrashReport]:
    """Puts the files of some clips into the wastebasket; their clips are missing from then on.

    Should a file be put back, the next scan finds the clip again with everything known of it.

    Raises:
        LockedError: a folder is locked; no file has been touched.
        LibraryBusyError: the library is being indexed.
    """
    clips = list(catalog.clips(ids).values())
    require_unlocked(catalog, clips, "Throwing away")
    meter = Meter(len(clips), "Throwing away")
    thrown: list[tuple[str, str]] = []
    refused: list[Refusal] = []
    with writer_lock(DataFolder(catalog.path.parent)):
        for clip in clips:
            try:
                thrown.append((clip.path, trash_file(clip.path)))
                catalog.set_missing([clip.id], retained=False)
            except TagWriteError as error:
                refused.append(Refusal(clip.id, clip.path, error.reason, str(error)))
            yield meter.step(1, clip.name)
    return TrashReport(tuple(thrown), tuple(refused))


def trash_file(path: str) -> str:
    """Puts one file into the wastebasket of its disk; gives its place there.

    Raises:
        TagWriteError: there is no wastebasket for it, or the file cannot be moved; it is where it was.
    """
    try:
        device = os.lstat(path).st_dev
    except OSError as error:
        raise TagWriteError("vanished", "The file is not there now.", cause=error) from error
    if sys.platform == "win32":
        raise TagWriteError("unsupported", "Files cannot be thrown away from here on Windows yet.")
    basket = _basket(path, device)
    if basket is None:
        raise TagWriteError(
            "unsupported",
            "There is no wastebasket on the disk of this file.",
            hint="Delete it in the file manager, if that is what you want.",
        )
    try:
        return _put_in(path, basket)
    except OSError as error:
        raise TagWriteError(
            "read_only", f"The file cannot be moved: {error.strerror}.", cause=error
        ) from error


def _basket(path: str, device: int) -> str | None:
    """The wastebasket for files of a disk: the home's where it is the same one, else the disk's own."""
    if sys.platform == "darwin":
        home = os.path.expanduser("~/.Trash")
        return home if os.path.isdir(home) and os.stat(home).st_dev == device else None
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    with contextlib.suppress(OSError):
        os.makedirs(data, mode=0o700, exist_ok=True)
        if os.stat(data).st_dev == device:
            return os.path.join(data, "Trash")
    top = os.path.dirname(os.path.realpath(path))
    while not os.path.ismount(top):
        top = os.path.dirname(top)
    shared = os.path.join(top, ".Trash")
    with contextlib.suppress(OSError):
        # An administrator's shared one counts only if nobody can interfere in it.
        status = os.lstat(shared)
        if status.st_mode & 0o1000 and os.path.isdir(shared) and not os.path.islink(shared):
            return os.path.join(shared, str(os.getuid()))
    return os.path.join(top, f".Trash-{os.getuid()}") if os.access(top, os.W_OK) else None


def _put_in(path: str, basket: str) -> str:
    if sys.platform == "darwin":
        return _moved(path, basket)
    files, notes = os.path.join(basket, "files"), os.path.join(basket, "info")
    for folder in (files, notes):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    origin = os.path.abspath(path)
    if not basket.startswith(os.path.expanduser("~")):
        origin = os.path.relpath(origin, os.path.dirname(basket))
    note = (
        f"[Trash Info]\nPath={urllib.parse.quote(os.fsencode(origin))}\n"
        f"DeletionDate={datetime.now():%Y-%m-%dT%H:%M:%S}\n"
    )
    for name in _free_names(os.path.basename(path)):
        info = os.path.join(notes, name + ".trashinfo")
        try:
            # The note reserves the name, and stands there before the file does.
            with open(info, "x", encoding="ascii") as file:
                file.write(note)
        except FileExistsError:
            continue
        try:
            target = os.path.join(files, name)
            rename_exclusive(path, target)
            return target
        except FileExistsError:
            os.unlink(info)
        except BaseException:
            os.unlink(info)
            raise
    raise OSError(0, "the wastebasket is full of files of this name")


def _moved(path: str, folder: str) -> str:
    for name in _free_names(os.path.basename(path)):
        target = os.path.join(folder, name)
        with contextlib.suppress(FileExistsError):
            rename_exclusive(path, target)
            return target
    raise OSError(0, "the wastebasket is full of files of this name")


def _free_names(name: str) -> list[str]:
    """Names to try, the file's own first; cut so that what is appended to them still fits."""
    stem, extension = os.path.splitext(name)
    kept = os.fsdecode(os.fsencode(stem)[: 230 - len(os.fsencode(extension))])
    return [kept + extension, *(f"{kept} {number}{extension}" for number in range(2, 1000))]
