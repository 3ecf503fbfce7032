"""Whether two people who graded the same clips mean the same by their grades.

Cohen's kappa with quadratic weights (Cohen, *Psychological Bulletin* 70, 1968): chance agreement is taken
out, and a 0 against a 2 counts four times as much as a 1 against a 2, because grades are steps of a scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foley_desktop.eval.golden import GRADES

_BANDS = ((0.0, "poor"), (0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two graders agree on the clips that both graded.

    ``kappa`` is 1.0 for full agreement, 0.0 for what chance alone would give, below 0 for less than
    that; None where it has no value: nothing was graded by both, or both gave one and the same grade
    throughout. ``exact`` is the share of equal grades, in [0, 1]. ``table[i][j]`` counts the clips that
    the first grader gave ``i`` and the second ``j``.
    """

    clips: int
    kappa: float | None
    exact: float
    table: tuple[tuple[int, ...], ...]

    def sentence(self) -> str:
        """The agreement in words, with the bands of Landis and Koch (*Biometrics* 33, 1977)."""
        if not self.clips:
            return "No clip was graded by both."
        counted = "1 clip" if self.clips == 1 else f"{self.clips} clips"
        same = f"{self.exact:.0%} of the grades are equal"
        if self.kappa is None:
            return f"On {counted} both gave the same grade throughout, so kappa has no value."
        band = next((word for limit, word in _BANDS if self.kappa <= limit), "almost perfect")
        return f"Kappa {self.kappa:.2f} ({band}) on {counted}; {same}."


def weighted_kappa(table: Sequence[Sequence[int]]) -> float | None:
    """Cohen's kappa with quadratic weights of a square table of counts, None where it has no value.

    ``1 - sum(w * observed) / sum(w * expected)`` with ``w = (i - j) ** 2``; the expected counts are those
    of two graders who keep their own habits and know nothing of the clip.

    Raises:
        ValueError: when the table is not square.
    """
    size = len(table)
    if any(len(row) != size for row in table):
        raise ValueError("a table of agreement has to be square")
    total = sum(map(sum, table))
    rows = [sum(row) for row in table]
    columns = [sum(row[j] for row in table) for j in range(size)]
    pairs = [(i, j) for i in range(size) for j in range(size)]
    expected = math.fsum((i - j) ** 2 * rows[i] * columns[j] / total for i, j in pairs) if total else 0.0
    if expected == 0.0:
        return None
    return 1.0 - math.fsum((i - j) ** 2 * table[i][j] for i, j in pairs) / expected


def agreement(first: Mapping[str, Mapping[str, int]], second: Mapping[str, Mapping[str, int]]) -> Agreement:
    """Compares two graders' qrels, ``{query id: {clip: grade}}`` each, over what both graded."""
    table = [[0] * len(GRADES) for _ in GRADES]
    for query, row in first.items():
        for clip, grade in row.items():
            other = second.get(query, {}).get(clip)
            if other is not None:
                table[grade][other] += 1
    clips = sum(map(sum, table))
    equal = sum(table[grade][grade] for grade in GRADES)
    return Agreement(
        clips, weighted_kappa(table), equal / clips if clips else 0.0, tuple(tuple(row) for row in table)
    )
