"""The folders of the derived indexes on disk: emptied when they are thrown away, freed of what is none.

A file or a dangling link of an index's name would keep every run from mending it. Such a thing is no
work of ours, so it is put aside under another name and never deleted. A folder that is a link stays one.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from foley_desktop.errors import FoleyError
from foley_desktop.settings import DataFolder

_OURS = re.compile(r".+\.lance|meta\.json|\.managed\.json|\.tantivy-.+\.lock|[0-9a-f]{32}\..+")
"""Names of what LanceDB and Tantivy make."""


def clear_the_way(data: DataFolder) -> list[str]:
    """Puts aside what stands in place of an index folder; a sentence for each.

    Raises:
        FoleyError: when that is not possible.
    """
    return [said for folder in (data.keywords, data.vectors) if (said := _put_aside(folder))]


def _put_aside(folder: Path) -> str:
    if folder.is_dir() or not os.path.lexists(folder):
        return ""
    aside = next(
        path
        for number in range(1, 10_000)
        if not os.path.lexists(path := folder.with_name(f"{folder.name}.aside-{number}"))
    )
    try:
        os.rename(folder, aside)
    except OSError as error:
        raise FoleyError(
            f"{folder} is no folder and cannot be moved out of the way.",
            hint="Move it away by hand.",
            cause=error,
        ) from error
    return f"{folder.name} was no folder: it was put aside as {aside.name}, and the index is built anew."


def discard(folder: Path) -> None:
    """Empties an index's folder as far as possible. Behind a link only what is ours goes."""
    if not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if not _OURS.fullmatch(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            Path(entry.path).unlink(missing_ok=True)
