"""Single judgements: who gave which clip which grade for which query, and when.

A golden set's qrels hold one grade a clip. Where several people graded, each judgement is kept, and
:func:`merged` says which grade counts. In a golden file they stand beside the qrels under
``judgements``, a list of ``{"query", "clip", "grade", "grader", "at"}``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.golden import GRADES

IMPORTED = ""
"""The grader of grades that came from a file and name nobody."""

_LATEST_S = 4102444800.0  # the year 2100; beyond lies nothing but damage


@dataclass(frozen=True, slots=True)
class Judgement:
    """One grade, 0, 1 or 2. ``clip`` is an id or a path, ``at_s`` seconds since 1970."""

    query: str
    clip: str
    grade: int
    grader: str = IMPORTED
    at_s: float = 0.0


def merged(
    judgements: Iterable[Judgement], graders: Collection[str] | None = None
) -> dict[str, dict[str, int]]:
    """The qrels that count, ``{query id: {clip: grade}}``.

    Where people disagree the lower median of their grades counts: of two the lower, of three the middle
    one. A grade from a file counts only where no person has graded the clip.

    Args:
        judgements: At most one by grader, query and clip.
        graders: Only these; None is everybody.
    """
    grades: dict[str, dict[str, list[int]]] = {}
    imported: dict[str, dict[str, int]] = {}
    for one in judgements:
        if graders is not None and one.grader not in graders:
            continue
        if one.grader == IMPORTED:
            imported.setdefault(one.query, {})[one.clip] = one.grade
        else:
            grades.setdefault(one.query, {}).setdefault(one.clip, []).append(one.grade)
    result = {query: dict(row) for query, row in imported.items()}
    for query, row in grades.items():
        for clip, given in row.items():
            result.setdefault(query, {})[clip] = sorted(given)[(len(given) - 1) // 2]
    return result


def judgement_entries(judgements: Iterable[Judgement]) -> list[dict[str, Any]]:
    """Judgements as they stand in a golden file; the time to the second, in UTC."""
    return [
        {
            "query": one.query,
            "clip": one.clip,
            "grade": one.grade,
            "grader": one.grader,
            "at": datetime.fromtimestamp(one.at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        for one in judgements
    ]


def parse_judgements(value: Any, queries: Collection[str]) -> tuple[Judgement, ...]:
    """Reads what :func:`judgement_entries` made.

    Raises:
        GoldenSetError: one sentence that names the first damage found.
    """
    if not isinstance(value, list):
        raise GoldenSetError("The judgements of a golden file have to be a list.")
    found: dict[tuple[str, str, str], Judgement] = {}
    for number, entry in enumerate(value, start=1):
        one = _parse(entry, number)
        if one.query not in queries:
            raise GoldenSetError(f"Judgement {number} is for a query that is not among the queries.")
        key = (one.query, one.clip, one.grader)
        if key in found:
            raise GoldenSetError(f"Judgement {number} grades a clip that the same grader graded before.")
        found[key] = one
    return tuple(found.values())


def _parse(entry: Any, number: int) -> Judgement:
    if not isinstance(entry, dict):
        raise GoldenSetError(f"Judgement {number} has to be an object.")
    query, clip, grader = (entry.get(key) for key in ("query", "clip", "grader"))
    if not (isinstance(query, str) and isinstance(clip, str) and clip and isinstance(grader, str)):
        raise GoldenSetError(f"Judgement {number} has to name a query, a clip and a grader.")
    grade = entry.get("grade")
    if isinstance(grade, bool) or not isinstance(grade, int) or grade not in GRADES:
        raise GoldenSetError(f"The grade of judgement {number} is not 0, 1 or 2.")
    return Judgement(query, clip, grade, grader, _parse_time(entry.get("at"), number))


def _parse_time(value: Any, number: int) -> float:
    try:
        moment = datetime.fromisoformat(value)
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError, OSError) as error:
        raise GoldenSetError(f"The time of judgement {number} is not a time.", cause=error) from error
    if not (math.isfinite(seconds) and 0.0 <= seconds < _LATEST_S):
        raise GoldenSetError(f"The time of judgement {number} is not a time.")
    return seconds
