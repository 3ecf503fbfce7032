"""The librarian's work as the window asks for it: looking at clips, editing them, and their files.

Nothing here knows a widget. Functions block and run on a lane of the runner; jobs run on its writing lane.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from foley_desktop.errors import FoleyError
from foley_desktop.library import name_template, ucs
from foley_desktop.library.catalog_edits import Step
from foley_desktop.library.editing import KIND as EDIT
from foley_desktop.library.editing import Shown
from foley_desktop.library.rename_log import Batch
from foley_desktop.library.renaming import RenamePlan
from foley_desktop.library.service import LibraryService
from foley_desktop.library.ucs_names import NameParts, UcsFileName
from foley_desktop.library.write_preview import FilePlan
from foley_desktop.models import Clip, Progress, Root
from foley_desktop.workers.job import Job

MOST_VALUES = 60
MANY = 500
"""Beyond so many clips their words are brought into the search by a job of its own."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the files of a selection. Sizes in bytes, lengths in seconds.

    Counters hold how many of the clips have each value. ``stated_s`` is the length that the header of a
    single file claims, where it claims another one than there is; ``sentence`` says why a rejected file
    cannot be used; ``unwritten`` counts the clips with edits that are not in their files yet.
    """

    clips: int = 0
    length_s: float = 0.0
    size_bytes: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    rates: Counter[int] = field(default_factory=Counter)
    depths: Counter[int] = field(default_factory=Counter)
    channels: Counter[int] = field(default_factory=Counter)
    badges: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    roots: tuple[Root, ...] = ()
    stated_s: float | None = None
    sentence: str = ""
    unwritten: int = 0


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything the inspector shows of a selection. ``clip`` is there when it is a single one.

    Of each field no more than :data:`MOST_VALUES` values are told, the most frequent ones; ``distinct`` says
    how many there are.
    """

    ids: tuple[str, ...]
    clip: Clip | None
    shown: dict[str, Shown]
    distinct: dict[str, int]
    facts: Facts
    rating: int = 0
    favourite: bool = False


def inspect(service: LibraryService, clips: Sequence[Clip]) -> Inspection:
    """Reads everything about some clips; they may be files outside the library, or rejected ones."""
    ids = tuple(clip.id for clip in clips if clip.id)
    fresh = service.catalog.clips(ids)
    known = list(fresh.values()) or list(clips)
    single = known[0] if len(known) == 1 else None
    ratings = {clip.rating for clip in fresh.values()}
    shown = service.desk.inspect(fresh) if fresh else {}
    return Inspection(
        tuple(fresh),
        single,
        {name: field._replace(values=field.values[:MOST_VALUES]) for name, field in shown.items()},
        {name: len({value.value for value in field.values}) for name, field in shown.items()},
        _facts(service, known, single),
        ratings.pop() if len(ratings) == 1 else 0,
        bool(fresh) and all(clip.favourite for clip in fresh.values()),
    )


def _facts(service: LibraryService, clips: Sequence[Clip], single: Clip | None) -> Facts:
    used = {clip.root_id for clip in clips}
    return Facts(
        len(clips),
        sum(clip.duration_s or 0.0 for clip in clips),
        sum(clip.size_bytes for clip in clips),
        Counter(form for clip in clips if (form := f"{clip.format} {clip.subtype}".strip())),
        Counter(clip.samplerate for clip in clips if clip.samplerate),
        Counter(clip.bit_depth for clip in clips if clip.bit_depth),
        Counter(clip.channels for clip in clips if clip.channels),
        Counter(badge for clip in clips for badge in clip.badges),
        Counter(clip.status for clip in clips),
        tuple(root for root in service.roots() if root.id in used),
        _stated(single),
        _sentence(service, single),
        service.desk.unwritten([clip.id for clip in clips if clip.id]),
    )


def _stated(clip: Clip | None) -> float | None:
    """The length that the header claims, when that is noticeably another one."""
    from foley_desktop.audio.stated import stated_length_s

    if clip is None or clip.status != "ok" or clip.duration_s is None:
        return None
    stated = stated_length_s(clip.path)
    if stated is None or abs(stated - clip.duration_s) <= max(0.1, 0.01 * clip.duration_s):
        return None
    return stated


def _sentence(service: LibraryService, clip: Clip | None) -> str:
    if clip is None or clip.status != "rejected":
        return ""
    told = (r.sentence for r in service.catalog.rejections(clip.root_id) if r.path == clip.path)
    return next(told, "This file cannot be used.")


# --- editing


def set_fields(service: LibraryService, ids: Sequence[str], values: dict[str, str], label: str) -> list[str]:
    """Sets fields in the catalog; gives the clips that changed, of which the search does not know yet."""
    return service.desk.editor.set_fields(ids, values, label)


def revert(service: LibraryService, ids: Sequence[str], fields: Sequence[str]) -> list[str]:
    """Lets the files' own values count again; gives as :func:`set_fields`."""
    return service.desk.editor.revert(ids, fields)


def make_searchable(service: LibraryService, ids: Sequence[str]) -> None:
    """Lets the search know the new words of a few clips."""
    service.desk.make_searchable(ids)


def categories() -> tuple[tuple[str, str, str], ...]:
    """``(CatID, Category, SubCategory)`` of the UCS."""
    return tuple(ucs.categories())


def clip(service: LibraryService, clip_id: str) -> Clip | None:
    """A clip as it is now."""
    return service.catalog.clip(clip_id)


def values(service: LibraryService, name: str) -> list[str]:
    """Values that a field has anywhere in the library, to complete what is typed."""
    return service.desk.editor.values(name)


class Steps(NamedTuple):
    """What undoing and doing again would concern now: label and kind, "" for nothing."""

    undo: str = ""
    redo: str = ""
    undo_kind: str = ""
    redo_kind: str = ""


def steps(service: LibraryService) -> Steps:
    """Reads both."""
    undo, redo = service.desk.next_undo(), service.desk.next_redo()
    return Steps(
        undo.label if undo else "",
        redo.label if redo else "",
        undo.kind if undo else "",
        redo.kind if redo else "",
    )


def undo_job(service: LibraryService, known: Steps) -> Job:
    """Takes the latest step back; the result is its label."""
    return Job(f"Undo: {known.undo}", lambda: service.desk.undo(), kind="undo")


def redo_job(service: LibraryService, known: Steps) -> Job:
    """Does the step again that was taken back last; the result is its label."""
    return Job(f"Redo: {known.redo}", lambda: service.desk.redo(), kind="undo")


def is_edit(kind: str) -> bool:
    """Whether a step concerns the catalog alone, no file."""
    return kind == EDIT


def forget_step(service: LibraryService) -> str:
    """Gives up the step that cannot be taken back; gives its label."""
    step: Step | None = service.desk.next_undo()
    if step is None:
        return ""
    service.desk.forget_step(step)
    return step.label


def run_through(work: Generator[Progress, None, Any]) -> Any:
    """A short job done in one go."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def refresh_job(service: LibraryService, *, meaning: bool) -> Job:
    """Makes edits searchable, and their meaning too."""
    return Job("Making edits searchable", lambda: service.desk.refresh(meaning=meaning), kind="refresh")


# --- files


def preview_write(service: LibraryService, ids: Sequence[str], *, everything: bool) -> list[FilePlan]:
    """What writing would change in a few files."""
    return service.desk.preview_write(ids, everything=everything)


def write_job(service: LibraryService, ids: Sequence[str], *, everything: bool, backup: bool) -> Job:
    """Writes values into files; the result is a WriteReport."""
    count = len(ids)
    title = f"Writing tags into {count} files" if count != 1 else "Writing tags into a file"
    return Job(
        title, lambda: service.desk.write_to_files(ids, everything=everything, backup=backup), kind="write"
    )


def trash_job(service: LibraryService, ids: Sequence[str]) -> Job:
    """Puts files into the wastebasket; the result is a TrashReport."""
    title = "Throwing a file away" if len(ids) == 1 else f"Throwing {len(ids)} files away"
    return Job(title, lambda: service.desk.throw_away(ids), kind="trash")


def lock(service: LibraryService, root_id: int, locked: bool) -> None:
    """Protects the files of a folder from changes, or permits them."""
    service.desk.set_root_locked(root_id, locked)


def locked_roots(service: LibraryService, root_ids: Sequence[int]) -> list[Root]:
    """Those of some folders that are locked."""
    return [root for root in service.roots() if root.id in set(root_ids) and root.locked]


# --- names


@dataclass(frozen=True, slots=True)
class RenamePreview:
    """A plan with what the names were made of. ``problem`` says why there is none: the pattern is wrong."""

    plan: RenamePlan
    made: dict[str, UcsFileName]
    problem: str = ""


def preview_rename(
    service: LibraryService, ids: Sequence[str], parts: NameParts, own: dict[str, str]
) -> RenamePreview:
    """New names for clips by a pattern, those of ``own`` (by id) excepted, checked against the disk."""
    try:
        name_template.check(parts.pattern)
    except FoleyError as error:
        return RenamePreview(RenamePlan(()), {}, f"{error.sentence} {error.hint}".strip())
    made = service.desk.ucs_names(ids, parts)
    names = {clip_id: own.get(clip_id, found.name) for clip_id, found in made.items()}
    return RenamePreview(service.desk.preview_rename(names), made)


def rename_job(service: LibraryService, plan: RenamePlan) -> Job:
    """Renames the files of a plan; the result is a RenameReport."""
    count = plan.to_rename
    return Job(
        "Renaming a file" if count == 1 else f"Renaming {count} files",
        lambda: service.desk.rename(plan),
        kind="rename",
    )


def rename_history(service: LibraryService, limit: int = 200) -> list[Batch]:
    """Former batches, the latest first."""
    return service.desk.rename_history(limit)


def reverse_job(service: LibraryService, log: str) -> Job:
    """Gives the files of a batch their former names again; the result is a RenameReport."""
    return Job("Taking a renaming back", lambda: service.desk.reverse_rename(log), kind="rename")
