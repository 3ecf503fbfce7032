"""One query looked at closely: who brought each clip, and where the missing ones are.

The ranked list is the measured one; where each clip stands in each ranker is asked anew, deeper than any
search reads, so that a relevant clip in place 700 is told apart from one that a ranker does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from foley_desktop.library.catalog import Catalog
from foley_desktop.library.lab import LabReport
from foley_desktop.library.rankers import RANKERS
from foley_desktop.library.searching import Searcher
from foley_desktop.models import Clip, Filters, Mode

DEEP = 1000
"""How far down each ranker's list is looked through."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A clip in one ranker's list: its rank from 1, and its score.

    ``rank`` is None below :data:`DEEP`; ``score`` too is None where the ranker knows nothing of the clip:
    none of the query's words, or no vector.
    """

    rank: int | None
    score: float | None


@dataclass(frozen=True, slots=True)
class DetailRow:
    """One clip of the list, or one that is missing from it.

    ``rank`` is its place in the measured run, None where it is not in it; ``grade`` None without one.
    ``clip`` is None for a graded clip that the library does not have. ``standings`` are by ranker.
    """

    clip_id: str
    clip: Clip | None
    rank: int | None
    grade: int | None
    standings: Mapping[str, Standing]

    def brought_by(self, depth: int) -> tuple[str, ...]:
        """The rankers that had the clip among their first ``depth``."""
        ranks = {name: standing.rank for name, standing in self.standings.items()}
        return tuple(name for name, rank in ranks.items() if rank is not None and rank <= depth)


@dataclass(frozen=True, slots=True)
class QueryDetails:
    """A query of a report: the answers it got, and the relevant clips that are not among the first k."""

    query_id: str
    text: str
    mode: Mode
    ranked: tuple[DetailRow, ...]
    missing: tuple[DetailRow, ...]


def details(
    report: LabReport,
    mode: Mode,
    query_id: str,
    *,
    searcher: Searcher,
    catalog: Catalog,
    filters: Filters = Filters(),
    limit: int = 50,
) -> QueryDetails:
    """Explains one query of a report.

    Args:
        report: The measurement.
        mode: Which of its runs.
        query_id: A query of the report.
        searcher: Asked for each ranker's list.
        catalog: Asked for the clips.
        filters: What the measurement was limited to.
        limit: How many answers to list.

    Raises:
        KeyError: the report has no such mode or query.
        ModelError: the models cannot be started.
    """
    run, grades = report.results[mode].run[query_id], report.qrels[query_id]
    relevant = [clip for clip, grade in grades.items() if grade >= report.settings.rel_lvl]
    shown, top = run[:limit], set(run[: report.settings.k])
    missing = sorted((clip for clip in relevant if clip not in top), key=lambda clip: (-grades[clip], clip))
    wanted = list(dict.fromkeys([*shown, *missing]))
    standings = _standings(searcher, report.texts[query_id], wanted, filters)
    clips = catalog.clips(wanted)
    places = {clip: place for place, clip in enumerate(run, start=1)}

    def row(clip_id: str) -> DetailRow:
        return DetailRow(
            clip_id, clips.get(clip_id), places.get(clip_id), grades.get(clip_id), standings[clip_id]
        )

    return QueryDetails(
        query_id, report.texts[query_id], mode, tuple(map(row, shown)), tuple(map(row, missing))
    )


def _standings(
    searcher: Searcher, text: str, clip_ids: Iterable[str], filters: Filters
) -> dict[str, dict[str, Standing]]:
    rankers, where = searcher.rankers(text, filters)
    found: dict[str, dict[str, Standing]] = {clip_id: {} for clip_id in clip_ids}
    for name in RANKERS:
        listed = rankers.ranked(name, DEEP, where)
        known = {clip: (rank, score) for rank, (clip, score) in enumerate(listed, start=1)}
        below = rankers.scores(name, [clip_id for clip_id in found if clip_id not in known])
        for clip_id, standings in found.items():
            rank, score = known.get(clip_id, (None, below.get(clip_id)))
            standings[name] = Standing(rank, score)
    return found
