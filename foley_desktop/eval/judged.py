"""What nobody has graded: how much of a run that is, and what it does to the numbers.

A clip without a grade counts as wrong in every metric, which punishes a search for finding something
new. Three ways to see that: *judged@k*, the share of the first answers that carry a grade; the metrics of
*condensed lists* (Sakai, SIGIR 2007), in which clips without a grade are left out; and, between two runs,
whether a good clip gave way to something graded worse or to something nobody has heard yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foley_desktop.eval.retrieval import ranked_ids

Grades = Mapping[str, int]
Row = Mapping[str, float]


def judged_at_k(qrels_q: Grades, run_q: Row, k: int = 10) -> float:
    """Share of the first ``k`` answers that carry a grade, 0 included, in [0, 1].

    The divisor is the number of answers given where that is below ``k``; 1.0 where none was given.
    """
    top = ranked_ids(run_q)[: max(k, 0)]
    return sum(clip in qrels_q for clip in top) / len(top) if top else 1.0


def unjudged(qrels_q: Grades, run_q: Row, k: int = 10) -> list[str]:
    """The clips among the first ``k`` answers that carry no grade, best first."""
    return [clip for clip in ranked_ids(run_q)[: max(k, 0)] if clip not in qrels_q]


def condensed(run: Mapping[str, Row], qrels: Mapping[str, Grades]) -> dict[str, dict[str, float]]:
    """The run without clips that carry no grade; scores stay. Queries without qrels keep no clip."""
    return {
        query: {clip: score for clip, score in row.items() if clip in qrels.get(query, {})}
        for query, row in run.items()
    }


@dataclass(frozen=True, slots=True)
class Displacement:
    """A relevant clip that stands lower in the new run than in the old one.

    Ranks count from 1; ``new_rank`` is None where the clip is not among the first k any more. ``worse``
    are clips with a lower grade that have overtaken it, ``unjudged`` those without a grade, both in the
    new run's order. Clips graded as good or better do no harm and are not listed.
    """

    clip: str
    grade: int
    old_rank: int
    new_rank: int | None
    worse: tuple[str, ...]
    unjudged: tuple[str, ...]


def displaced(qrels_q: Grades, old: Sequence[str], new: Sequence[str], k: int = 10) -> list[Displacement]:
    """What the new run's first ``k`` answers to one query put in the place of good ones.

    Args:
        qrels_q: ``{clip: grade}`` of the query.
        old: Ids of the old run, best first.
        new: Ids of the new run, best first.
        k: How many answers count.

    Returns:
        The clips with a positive grade among the first ``k`` of the old run that were overtaken by
        something graded worse or by something without a grade, by old rank.
    """
    old_rank = {clip: rank for rank, clip in enumerate(old[: max(k, 0)], start=1)}
    new_rank = {clip: rank for rank, clip in enumerate(new[: max(k, 0)], start=1)}
    found = []
    for clip, before in old_rank.items():
        grade = qrels_q.get(clip, 0)
        if grade < 1:
            continue
        after = new_rank.get(clip)
        overtakers = [
            other
            for other, rank in new_rank.items()
            if (after is None or rank < after) and old_rank.get(other, k + 1) > before
        ]
        worse = tuple(other for other in overtakers if other in qrels_q and qrels_q[other] < grade)
        unknown = tuple(other for other in overtakers if other not in qrels_q)
        if worse or unknown:
            found.append(Displacement(clip, grade, before, after, worse, unknown))
    return found
