"""Writes edits from the catalog into the files, where the user asks for that and the folder is unlocked.

A clip stays the clip it was: its sound is the same, so its id is, and what is read back of the file takes the
edit's place. A file that refuses costs itself alone and keeps its edits.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from foley_desktop.audio.tagfields import WRITABLE
from foley_desktop.audio.tags import best
from foley_desktop.audio.tagwriter import write_tags
from foley_desktop.errors import LockedError, TagWriteError
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.database import as_text
from foley_desktop.library.effective import WORD_FIELDS, effective
from foley_desktop.library.meter import Meter
from foley_desktop.library.reading import read_file
from foley_desktop.library.scan import current_state
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.models import Clip, Progress
from foley_desktop.settings import DataFolder

_CATEGORY = frozenset(["category", "subcategory", "catid"])


class Refusal(NamedTuple):
    """A clip whose file was not changed, with a reason code of :class:`TagWriteError` and a sentence."""

    clip_id: str
    path: str
    reason: str
    sentence: str


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What writing came to; ``notes`` are ``(path, sentence)``."""

    written: int = 0
    unchanged: int = 0
    refused: tuple[Refusal, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    backups: tuple[str, ...] = ()


def require_unlocked(catalog: Catalog, clips: Iterable[Clip], what: str) -> None:
    """Sees to it that the owner allowed changes in all folders concerned.

    Raises:
        LockedError: one of them is locked; nothing has been touched.
    """
    roots = {root.id: root for root in catalog.roots()}
    locked = {roots[clip.root_id].path for clip in clips if roots[clip.root_id].locked}
    if locked:
        names = ", ".join(sorted(as_text(path) for path in locked))
        raise LockedError(f"{what} is refused: {names} is locked.", hint="Unlock the folder first.")


def values_to_write(catalog: Catalog, clip: Clip, *, everything: bool = False) -> dict[str, str]:
    """The values that writing puts into a clip's file, by field.

    Args:
        everything: Also what counts without having been edited, from lists, sidecars and the name.
    """
    edits = catalog.edits(clip.id)
    values = {field: edit.value for field, edit in edits.items() if field in WRITABLE}
    if everything:
        values = {field: v for field in WORD_FIELDS if (v := str(getattr(clip, field)))} | values
    if _CATEGORY & values.keys():
        values |= {field: str(getattr(clip, field)) for field in _CATEGORY}
        values["category_full"] = f"{clip.category}-{clip.subcategory}" if clip.catid else ""
    return values


def write_back(
    catalog: Catalog, ids: Collection[str], *, everything: bool = False, backup: bool = False
) -> Generator[Progress, None, WriteReport]:
    """Writes the edits of some clips into their files; see :func:`values_to_write`.

    Closing the generator at any yield stops; what was written stays written.

    Raises:
        LockedError: a folder is locked; no file has been touched.
        LibraryBusyError: the library is being indexed.
    """
    clips = list(catalog.clips(ids).values())
    require_unlocked(catalog, clips, "Writing tags")
    meter = Meter(len(clips), "Writing tags")
    written = unchanged = 0
    refused: list[Refusal] = []
    notes: list[tuple[str, str]] = []
    backups: list[str] = []
    with writer_lock(DataFolder(catalog.path.parent)):
        for clip in clips:
            values = values_to_write(catalog, clip, everything=everything)
            try:
                if clip.status != "ok":
                    raise TagWriteError("vanished", "The file is not there now.")
                outcome = write_tags(clip.path, values, backup=backup) if values else None
                if outcome is not None:
                    take_up(catalog, clip, values)
            except TagWriteError as error:
                refused.append(Refusal(clip.id, clip.path, error.reason, str(error)))
            else:
                changed = outcome is not None and outcome.changed
                written, unchanged = written + changed, unchanged + (not changed)
                if outcome is not None:
                    notes += [(clip.path, note) for note in outcome.notes]
                    backups += [outcome.backup] if outcome.backup else []
            yield meter.step(1, clip.name)
    return WriteReport(written, unchanged, tuple(refused), tuple(notes), tuple(backups))


def take_up(catalog: Catalog, clip: Clip, values: Collection[str]) -> None:
    """Reads a written file anew into the same clip; edits that the file says itself now are done with."""
    seen = current_state(clip.path)
    if seen is None:
        raise TagWriteError("vanished", "The file is not there any more.")
    outcome = read_file(clip.path, seen)
    if outcome.reading is None or outcome.reading.audio_hash != clip.audio_hash:
        return  # The next scan tells what became of it.
    words = effective(outcome.reading.tags)
    with catalog.write():
        edits = catalog.edits(clip.id)
        done = {
            field: None
            for field, edit in edits.items()
            if field in values and edit.value == words.get(field, best(outcome.reading.tags, field))
        }
        catalog.update_clip(clip.id, clip.root_id, os.fsencode(clip.rel_path), outcome.state, outcome.reading)
        catalog.put_edits({clip.id: done} if done else {})
