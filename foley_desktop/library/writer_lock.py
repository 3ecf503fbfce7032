"""One writer at a time: a lock file in the data folder, held while a library is indexed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from foley_desktop.errors import FoleyError, LibraryBusyError
from foley_desktop.settings import DataFolder


@contextmanager
def writer_lock(data: DataFolder) -> Iterator[None]:
    """Holds the lock. The system lets it go when the process ends, however it ends.

    Raises:
        LibraryBusyError: another process, or another thread of this one, holds it.
    """
    lock = FileLock(data.writer_lock, thread_local=False)
    try:
        lock.acquire(timeout=0)
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
