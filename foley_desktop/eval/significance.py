"""How far a mean over some dozen queries can be trusted, and whether two runs really differ.

Two resampling methods without assumptions about how scores are spread: the percentile bootstrap
interval of a mean (Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13) and the
paired randomisation test (Smucker, Allan and Carterette, CIKM 2007). Both are seeded and give the same
numbers on every machine: numpy keeps the stream of ``RandomState`` as it is for good.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

DEFAULT_RESAMPLES = 10_000

SIGNIFICANT = 0.05
"""Below this p-value a difference counts as one."""

FEWEST_CHANGED = 6
"""Of fewer queries that differ no outcome is significant: five of five better has p = 2 / 2 ** 5."""

# Resamples are drawn in blocks of about this many numbers, so that memory stays small.
_BLOCK = 1_000_000

# Sums that differ by rounding alone count as equal.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs over the same queries.

    ``difference`` is the mean of the second minus the mean of the first, ``low`` and ``high`` bound its
    bootstrap interval, ``p_value`` is the chance of a difference at least that large, in either
    direction, if the two runs were alike. ``better``, ``worse`` and ``equal`` count queries.
    """

    queries: int
    difference: float
    low: float
    high: float
    p_value: float
    better: int
    worse: int
    equal: int

    @property
    def significant(self) -> bool | None:
        """Whether the difference is more than chance; None where there are too few queries to tell."""
        if 0 < self.better + self.worse < FEWEST_CHANGED:
            return None
        return self.p_value < SIGNIFICANT

    def sentence(self) -> str:
        """What the numbers say, with the p-value and the number of queries they rest on."""
        counted = f"n = {self.queries}"
        changed = self.better + self.worse
        if not changed:
            return f"No query differs ({counted})."
        p_value = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.3f}"
        if self.significant is None:
            return f"Too few queries to tell: {changed} differ ({p_value}, {counted})."
        if not self.significant:
            return f"No difference to be sure of ({p_value}, {counted})."
        return f"{'Better' if self.difference > 0.0 else 'Worse'} ({p_value}, {counted})."


def bootstrap_interval(
    values: Sequence[float], *, confidence: float = 0.95, resamples: int = DEFAULT_RESAMPLES, seed: int = 0
) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean of ``values``, as ``(low, high)``.

    ``(0.0, 0.0)`` for no values, in keeping with the mean of none; of one value the value itself.

    Raises:
        ValueError: for values that are not finite, a confidence outside (0, 1) or no resamples.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"a confidence has to lie between 0 and 1, not {confidence}")
    sample = _checked(values, resamples)
    if sample.size == 0:
        return 0.0, 0.0
    random = np.random.RandomState(seed)
    means = np.concatenate(
        [
            sample[random.randint(0, sample.size, size=(rows, sample.size))].mean(axis=1)
            for rows in _blocks(resamples, sample.size)
        ]
    )
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return float(low), float(high)


def randomisation_p_value(
    first: Sequence[float],
    second: Sequence[float],
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> float:
    """The two-sided p-value of the paired randomisation test on a difference of means, in (0, 1].

    If the runs were alike, each query's difference could as well have the other sign. The p-value is
    the share of sign patterns whose mean difference is at least the observed one: of all patterns
    where there are no more than ``resamples``, else of that many random ones and the observed one.

    Raises:
        ValueError: for lists of unequal length, values that are not finite, or no resamples.
    """
    if len(first) != len(second):
        raise ValueError(f"the runs have {len(first)} and {len(second)} values: they have to be pairs")
    differences = _checked(second, resamples) - _checked(first, resamples)
    # A query on which both agree has no sign to flip.
    differences = differences[differences != 0.0]
    if differences.size == 0:
        return 1.0
    observed = abs(math.fsum(differences)) - _ROUNDING
    if differences.size < 60 and 2**differences.size <= resamples:
        signs = _all_signs(differences.size)
        return float(np.mean(np.abs(signs @ differences) >= observed))
    random = np.random.RandomState(seed)
    as_large = sum(
        int(np.sum(np.abs(_random_signs(random, rows, differences.size) @ differences) >= observed))
        for rows in _blocks(resamples, differences.size)
    )
    return (as_large + 1) / (resamples + 1)


def compare_runs(
    first: Mapping[str, float],
    second: Mapping[str, float],
    *,
    confidence: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compares one metric of two runs, ``{query id: value}`` each, over the queries that both have.

    Raises:
        ValueError: as :func:`bootstrap_interval` does.
    """
    # Sorted, so that the order of a dict does not choose which resamples are drawn.
    queries = sorted(first.keys() & second.keys())
    before, after = [first[query] for query in queries], [second[query] for query in queries]
    changes = [new - old for old, new in zip(before, after, strict=True)]
    low, high = bootstrap_interval(changes, confidence=confidence, resamples=resamples, seed=seed)
    return Comparison(
        queries=len(queries),
        difference=math.fsum(changes) / len(changes) if changes else 0.0,
        low=low,
        high=high,
        p_value=randomisation_p_value(before, after, resamples=resamples, seed=seed),
        better=sum(change > 0.0 for change in changes),
        worse=sum(change < 0.0 for change in changes),
        equal=sum(change == 0.0 for change in changes),
    )


def _checked(values: Sequence[float], resamples: int) -> np.ndarray:
    if resamples < 1:
        raise ValueError(f"there has to be at least one resample, not {resamples}")
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not np.isfinite(sample).all():
        raise ValueError("the values have to be a row of finite numbers")
    return sample


def _blocks(resamples: int, size: int) -> Iterator[int]:
    rows = max(1, _BLOCK // size)
    for start in range(0, resamples, rows):
        yield min(rows, resamples - start)


def _all_signs(size: int) -> np.ndarray:
    """Every pattern of signs, shape ``(2 ** size, size)``."""
    patterns = np.arange(2**size)[:, None] >> np.arange(size)
    return 1.0 - 2.0 * (patterns & 1)


def _random_signs(random: np.random.RandomState, rows: int, size: int) -> np.ndarray:
    return 1.0 - 2.0 * random.randint(0, 2, size=(rows, size))
