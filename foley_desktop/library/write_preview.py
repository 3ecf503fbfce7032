"""What "Write to files" would do to each file, looked at before the first one is touched."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from foley_desktop.audio.tagwriter import Change, can_write, foresee
from foley_desktop.errors import FoleyError, TagWriteError
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.database import as_text
from foley_desktop.library.writeback import values_to_write
from foley_desktop.models import Clip, Root

LOCKED = "locked"
"""The reason code of a file whose folder is locked."""

_MENDED = "Its header was never finished: the sizes in it are put right with this."


@dataclass(frozen=True, slots=True)
class FilePlan:
    """One file: the values that change, place by place, or why it will not be written.

    ``reason`` is a code of :class:`TagWriteError`, empty where nothing stands against writing; ``problem`` is
    its sentence. ``notes`` are remarks on what will not fit. A file that says everything already has neither.
    """

    clip_id: str
    path: str
    name: str
    root_id: int
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""
    problem: str = ""

    @property
    def will_be_written(self) -> bool:
        return bool(self.changes) and not self.reason


def preview_write(catalog: Catalog, ids: Collection[str], *, everything: bool = False) -> list[FilePlan]:
    """Looks at the files of some clips; reads their tags, writes nothing. For a few dozen clips a call.

    Args:
        everything: Also what counts without having been edited, from lists, sidecars and the name.
    """
    roots = {root.id: root for root in catalog.roots()}
    return [
        _plan(catalog, clip, roots[clip.root_id], everything=everything)
        for clip in catalog.clips(ids).values()
    ]


def _plan(catalog: Catalog, clip: Clip, root: Root, *, everything: bool) -> FilePlan:
    plan = FilePlan(clip.id, clip.path, clip.name, clip.root_id)
    try:
        _check(clip, root)
        values = values_to_write(catalog, clip, everything=everything)
        if not values:
            return plan
        foreseen = foresee(clip.path, values)
    except FoleyError as error:
        reason = error.reason if isinstance(error, TagWriteError) else "failed"
        return replace(plan, reason=reason, problem=error.sentence)
    mended = (_MENDED,) if foreseen.changes and "not_finalised" in clip.badges else ()
    return replace(plan, changes=foreseen.changes, notes=(*foreseen.notes, *mended))


def _check(clip: Clip, root: Root) -> None:
    """What the catalog alone can tell against writing.

    Raises:
        TagWriteError: it is not possible now.
    """
    if not root.online or clip.status == "offline":
        raise TagWriteError(
            "vanished", f"The folder {as_text(root.name)} is not there now: connect its drive and rescan."
        )
    if clip.status != "ok":
        raise TagWriteError("vanished", "The file is not there now.")
    if root.locked:
        raise TagWriteError(LOCKED, f"The folder {as_text(root.name)} is locked.")
    if not can_write(clip.name):
        kind = clip.format or "such"
        raise TagWriteError(
            "unsupported",
            f"Tags cannot be written into {kind} files; WAV, AIFF, FLAC, MP3 and Ogg take them.",
        )
