"""One writer at a time: a lock file in the data folder, held while a library is indexed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from foley_desktop.errors import FoleyError, LibraryBusyError
from foley_desktop.settings import DataFolder

_PATIENCE_S = 0.3
"""Longer than anybody holds the lock who only asks whether it is free."""


def is_being_written(data: DataFolder) -> bool:
    """Whether this library is being indexed now, here or in another process."""
    lock = FileLock(data.writer_lock, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:
        return False
    lock.release()
    return False


@contextmanager
def writer_lock(data: DataFolder) -> Iterator[None]:
    """Holds the lock. The system lets it go when the process ends, however it ends.

    Raises:
        LibraryBusyError: another process, or another thread of this one, holds it.
    """
    lock = FileLock(data.writer_lock, thread_local=False)
    try:
        lock.acquire(timeout=_PATIENCE_S)
    except Timeout as error:
        raise LibraryBusyError(
            "This library is being indexed already.",
            hint="Wait until it is done, or stop the other job.",
            cause=error,
        ) from error
    except OSError as error:
        raise FoleyError(
            f"The library folder {data.path} cannot be written to.",
            hint="Choose another folder with --library DIR.",
            cause=error,
        ) from error
    try:
        yield
    finally:
        lock.release()
