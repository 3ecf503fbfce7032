"""Takes changes on disk up quietly, as jobs that the window submits when the watcher tells of some."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence

from foley_desktop.library.service import LibraryService
from foley_desktop.library.watch import outermost
from foley_desktop.models import IndexReport, Progress
from foley_desktop.workers.job import Job

KIND = "watch"


def take_up_job(service: LibraryService, folders: Sequence[str] | None) -> Job:
    """Indexes what changed in some folders (None: every root); its result is an IndexReport, or None.

    Folders that belong to no root any more are passed over: a watcher's news may be older than the removal
    of a folder, and must not bring it back.
    """

    def work() -> Generator[Progress, None, IndexReport | None]:
        roots = [root.path for root in service.roots()]
        wanted = roots if folders is None else _known(folders, roots)
        if not wanted:
            return None
        return (yield from service.index(wanted))

    return Job("Looking for changes", work, kind=KIND)


def _known(folders: Sequence[str], roots: Sequence[str]) -> list[str]:
    """``folders`` as far as they lie in a root and are there; a root is also taken up when it is not."""
    known = set(roots)
    inner = [f for f in folders if f not in known and os.path.isdir(f) and _root_of(f, roots)]
    return outermost([*(folder for folder in folders if folder in known), *inner])


def _root_of(folder: str, roots: Sequence[str]) -> bool:
    return any(folder.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def changes_anything(report: IndexReport | None) -> bool:
    """Whether what is listed may be out of date after a run."""
    return report is not None and bool(report.added or report.updated or report.missing or report.notices)
