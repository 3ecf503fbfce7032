"""Puts a new version of a file in the place of the old one, so that at every moment one whole file is there.

The new one is written under a hidden name in the same folder, brought to the disk, and renamed over the old
one in one step. The hidden name is no sound's name, so that no scan takes it up, and what a killed process
left behind is cleared away by the next one that works in the folder.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import signal
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

from foley_desktop.audio.target import printable
from foley_desktop.errors import TagWriteError

try:
    import fcntl
except ImportError:  # Windows, which refuses to replace a file that is open elsewhere
    fcntl = None  # type: ignore[assignment]

_PART = re.compile(rb"\.foley-[0-9a-f]{32}\.part\Z")
_SPARE_BYTES = 1 << 20
"""Free space that is asked for beyond the file itself, for its new texts."""


class State(NamedTuple):
    """What tells whether anybody wrote to a file."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


def state_of(path: str) -> State:
    status = os.stat(path)
    return State(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def check(path: str) -> State:
    """Whether a file may be replaced now: its state, or the reason why not.

    Raises:
        TagWriteError: it is gone, write-protected, in use, or its folder or disk takes no new file.
    """
    name = printable(os.path.basename(path))
    folder = os.path.dirname(path)
    try:
        status = os.stat(path)
        around = os.stat(folder)
    except OSError as error:
        raise TagWriteError("vanished", f"The file {name} is not there any more.", cause=error) from error
    if not stat.S_ISREG(status.st_mode):
        raise TagWriteError("unsupported", f"{name} is not a file.")
    # The bits are looked at besides the system's answer: an administrator is allowed everything.
    if not status.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise TagWriteError("read_only", f"The file {name} is write-protected.", hint="Allow writing to it.")
    if not around.st_mode & 0o222 or not os.access(folder, os.W_OK | os.X_OK):
        raise TagWriteError("read_only", f"The folder of {name} is write-protected.")
    if is_open_for_writing(path):
        raise TagWriteError(
            "in_use",
            f"Another program has {name} open for writing.",
            hint="Close it there first.",
        )
    with contextlib.suppress(OSError):
        if shutil.disk_usage(folder).free < status.st_size + _SPARE_BYTES:
            raise no_space(name)
    return state_of(path)


def no_space(name: str, cause: BaseException | None = None) -> TagWriteError:
    return TagWriteError(
        "no_space",
        f"There is not enough free space on the disk to write {name} anew.",
        hint="Free some space; the file is as it was.",
        cause=cause,
    )


def is_open_for_writing(path: str) -> bool:
    """Whether some program could be writing to the file just now. False where the system cannot tell.

    Linux grants a lease for reading only while nobody has the file open for writing.
    """
    if fcntl is None or not hasattr(fcntl, "F_SETLEASE"):
        return False
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        # Should somebody open it in this very moment, the notice must not be one that ends the process.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(handle)
    return False


@contextmanager
def part_beside(folder: str) -> Iterator[tuple[str, BinaryIO]]:
    """A new hidden file in ``folder``, open for writing; taken away again unless it was renamed."""
    sweep(folder)
    path = os.path.join(folder, f".foley-{uuid.uuid4().hex}.part")
    with open(path, "x+b") as file:
        try:
            os.chmod(path, 0o600)
            _lock(file)
            yield path, file
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)


def sweep(folder: str) -> int:
    """Takes away what killed processes left half-written in a folder; gives the number of files."""
    removed = 0
    with contextlib.suppress(OSError), os.scandir(os.fsencode(folder)) as listing:
        for entry in listing:
            if _PART.match(entry.name) and _is_abandoned(entry.path):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)
                    removed += 1
    return removed


def _lock(file: BinaryIO) -> None:
    if fcntl is not None:
        with contextlib.suppress(OSError):  # some network drives know no locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_abandoned(path: bytes) -> bool:
    """Whether no process holds the file's lock. On Windows removing an open file fails by itself."""
    if fcntl is None:
        return True
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def to_disk(file: BinaryIO) -> None:
    """Waits until the disk has what was written."""
    file.flush()
    os.fsync(file.fileno())


def take_over(source: str, part: str) -> None:
    """Gives a new file the owner, permissions, attributes and times of the old one."""
    status = os.stat(source)
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(part, status.st_uid, status.st_gid)
    shutil.copystat(source, part)


def put_in_place(part: str, path: str) -> None:
    """Renames the new file over the old one, and brings the folder to the disk."""
    os.replace(part, path)
    sync_folder(os.path.dirname(path))


def sync_folder(folder: str) -> None:
    """Brings a folder's list of names to the disk, where the system can."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def keep_backup(path: str) -> str:
    """A second name ``….bak`` for the file as it is now, or a copy where the disk knows no second names."""
    folder, name = os.path.split(path)
    for number in range(1, 10_000):
        ending = ".bak" if number == 1 else f".bak{number}"
        raw = os.fsencode(name)[: 255 - len(ending)]
        backup = os.path.join(folder, os.fsdecode(raw) + ending)
        try:
            os.link(path, backup)
        except FileExistsError:
            continue
        except OSError:
            if os.path.lexists(backup):
                continue
            _copy_whole(path, backup)
        return backup
    raise TagWriteError("failed", "There are too many backups of this file already.")


def _copy_whole(path: str, backup: str) -> None:
    with part_beside(os.path.dirname(path)) as (part, file):
        with open(path, "rb") as source:
            shutil.copyfileobj(source, file, 1 << 20)
        to_disk(file)
        take_over(path, part)
        os.rename(part, backup)
