"""Finding categories for clips and accepting them, as jobs and small pieces of work."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass

from foley_desktop.errors import FoleyError
from foley_desktop.library import ucs
from foley_desktop.library.categories import UNLABELLED
from foley_desktop.library.service import LibraryService
from foley_desktop.library.suggesting import Suggestion
from foley_desktop.models import Clip, Progress
from foley_desktop.workers.job import Job

MOST = 100_000


@dataclass(frozen=True, slots=True)
class Proposal:
    """A clip and the categories it may have, the likeliest first."""

    clip: Clip
    suggestions: tuple[Suggestion, ...]


@dataclass(frozen=True, slots=True)
class Accepted:
    """Categories that were set, as a step that can be taken back; ``step`` 0 when nothing changed."""

    catids: dict[str, str]
    step: int = 0


def choices() -> tuple[tuple[str, str, str], ...]:
    """``(CatID, Category, SubCategory)`` of everything that can be chosen."""
    return tuple(ucs.categories())


def suggest_job(
    service: LibraryService, ids: Sequence[str] | None, take: Callable[[list[Proposal]], object]
) -> Job:
    """Finds categories for some clips, or (None) for all without one; the result is how many clips.

    ``take`` is called on the job's thread with what each step found; what was found stays when the job is
    cancelled.
    """

    def work() -> Generator[Progress, None, int]:
        if ids is None:
            clips = {clip.id: clip for clip in service.browse(UNLABELLED, limit=MOST)}
        else:
            clips = dict(service.catalog.clips(ids))

        def hand_over(found: Mapping[str, tuple[Suggestion, ...]]) -> None:
            take([Proposal(clips[clip_id], made) for clip_id, made in found.items()])

        yield Progress(0, len(clips), "Finding categories")
        made = yield from service.desk.suggest_categories(list(clips), hand_over)
        return len(made)

    return Job("Finding categories", work, kind="categories")


def accept(service: LibraryService, catids: Mapping[str, str]) -> Accepted:
    """Sets categories by clip; see :meth:`foley_desktop.library.desk.Desk.accept_categories`."""
    changed = service.desk.accept_categories(catids)
    step = service.desk.next_undo() if changed else None
    return Accepted(dict(catids), step.number if step else 0)


def accept_job(service: LibraryService, catids: Mapping[str, str]) -> Job:
    """The same for many clips, behind what is being written; the result is an :class:`Accepted`."""
    return Job(f"Setting {len(catids):,} categories", lambda: accept(service, catids), kind="categories")


def take_back(service: LibraryService, accepted: Accepted) -> Collection[str]:
    """Undoes what :func:`accept` did; gives the ids of its clips. See :func:`undo_step`."""
    undo_step(service, accepted.step)
    return accepted.catids.keys()


def undo_step(service: LibraryService, number: int) -> None:
    """Takes a step back if it is the latest one; 0 is none.

    Raises:
        FoleyError: something else was changed since.
    """
    if not number:
        return
    step = service.desk.next_undo()
    if step is None or step.number != number:
        raise FoleyError(
            "Something else was changed since.", hint="Take that back first, in the list of sounds."
        )
    for _ in service.desk.undo():
        pass
