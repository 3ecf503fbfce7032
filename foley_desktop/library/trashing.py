"""Throws files of the library into the system's wastebasket, and takes them out again.

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
from foley_desktop.library.catalog_edits import Step
from foley_desktop.library.database import as_text
from foley_desktop.library.file_names import rename_exclusive
from foley_desktop.library.meter import Meter
from foley_desktop.library.scan import current_state
from foley_desktop.library.writeback import Refusal, require_unlocked
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.models import Progress
from foley_desktop.settings import DataFolder

KIND = "trash"
"""What the steps of this module are called in the catalog."""


@dataclass(frozen=True, slots=True)
class TrashReport:
    """What was thrown away: ``(former path, place in the wastebasket)``; and what was not."""

    thrown: tuple[tuple[str, str], ...] = ()
    refused: tuple[Refusal, ...] = ()


def throw_away(
    catalog: Catalog, ids: Collection[str], label: str = "", *, step: Step | None = None
) -> Generator[Progress, None, TrashReport]:
    """Puts the files of some clips into the wastebasket; their clips are missing from then on.

    Should a file be put back, by :func:`put_back` or by hand, its clip is what it was. Closing the generator
    stops; what was thrown away by then can be taken back as one step too.

    Args:
        step: The step that this does again; without one it is a step of its own.

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
        try:
            for clip in clips:
                try:
                    thrown.append((clip.path, trash_file(clip.path)))
                    # Its vectors stay for the case that it comes back.
                    catalog.set_missing([clip.id], retained=True)
                except TagWriteError as error:
                    refused.append(Refusal(clip.id, clip.path, error.reason, str(error)))
                yield meter.step(1, clip.name)
        finally:
            if thrown and step is None:
                name = as_text(os.path.basename(thrown[0][0]))
                counted = f"{len(thrown)} files" if len(thrown) > 1 else name
                catalog.add_step(KIND, label or f"Throw away {counted}", {"thrown": thrown})
            elif thrown and step is not None:
                catalog.mark_step(step.number, undone=False, document={"thrown": thrown})
    return TrashReport(tuple(thrown), tuple(refused))


def put_back(catalog: Catalog, step: Step) -> Generator[Progress, None, int]:
    """Takes the files of a step out of the wastebasket again; gives their number.

    Raises:
        TagWriteError: a file is not in the wastebasket any more, or its place is taken. What could be put
            back has been; when nothing could, the step is forgotten.
        LibraryBusyError: the library is being indexed.
    """
    thrown = [(str(path), str(place)) for path, place in step.document["thrown"]]
    meter = Meter(len(thrown), "Putting back")
    failed: list[str] = []
    with writer_lock(DataFolder(catalog.path.parent)):
        for path, place in thrown:
            try:
                take_out(path, place)
            except OSError:
                failed.append(path)
            else:
                _present(catalog, path)
            yield meter.step(1, os.path.basename(path))
        if len(failed) == len(thrown):
            catalog.drop_steps([step.number])
        else:
            catalog.mark_step(step.number, undone=True)
    if failed:
        name = as_text(os.path.basename(failed[0]))
        which = name if len(failed) == 1 else f"{name} and {len(failed) - 1} more"
        raise TagWriteError(
            "vanished",
            f"{which} cannot be put back: not in the wastebasket any more, or there is another file now.",
            hint="Look into the wastebasket with the file manager.",
        )
    return len(thrown)


def take_out(path: str, place: str) -> None:
    """Moves a file from its place in the wastebasket to where it was.

    Raises:
        OSError: it is not there any more, or something else is where it was; nothing has changed.
    """
    rename_exclusive(place, path)
    files, name = os.path.split(place)
    note = os.path.join(os.path.dirname(files), "info", name + ".trashinfo")
    if os.path.basename(files) == "files":
        with contextlib.suppress(OSError):
            os.unlink(note)


def _present(catalog: Catalog, path: str) -> None:
    """The clip of a file that is back is there again, under its id."""
    clip, state = catalog.clip_by_path(path), current_state(path)
    if clip is not None and clip.status == "missing" and state is not None:
        catalog.move_clip(clip.id, clip.root_id, os.fsencode(clip.rel_path), state)


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
