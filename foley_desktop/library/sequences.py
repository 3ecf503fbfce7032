"""One after the other: ``thunder then rain`` prefers clips that thunder first and rain later.

Only clips of several windows can tell. For the windows in time order let ``O`` be the best mean cosine
of the steps over windows that follow one another, ``R`` the best over windows in reverse order, and ``S``
the best within a single window. The ranker's score of a clip is::

    cosine of the best window with the whole query  +  max(0, O - max(R, S))

so that a clip in which everything sounds all the time, or the other way round, gains nothing, and a clip
without windows to compare keeps its place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from foley_desktop.index.protocols import Where, Window, WindowHit
from foley_desktop.index.vector_readers import cosines
from foley_desktop.index.vectors import LanceVectorIndex

REACH = 300
"""How many clips nearest to the whole and to each step are looked at for their order, at least."""


class Order(NamedTuple):
    """What order adds to a clip's score, and the first and last window of the steps."""

    bonus: float
    first: int
    last: int


def order_of(scores: np.ndarray) -> Order:
    """How well windows hold the steps one after the other.

    Args:
        scores: Cosine of each window with each step, shape ``(windows, steps)``, windows in time order.
    """
    forward, first, last = _best_chain(scores)
    backward, _, _ = _best_chain(scores[:, ::-1])
    together = float(scores.mean(axis=1).max())
    return Order(max(0.0, forward - max(backward, together)), first, last)


def _best_chain(scores: np.ndarray) -> tuple[float, int, int]:
    """The best mean of steps in windows that follow one another, and its first and last window."""
    windows, steps = scores.shape
    if windows < steps:
        return float("-inf"), 0, 0
    best = scores[:, 0].astype(np.float64)
    start = np.arange(windows)
    for step in range(1, steps):
        next_best = np.full(windows, -np.inf)
        next_start = np.zeros(windows, np.int64)
        leader = step - 1
        for window in range(step, windows):
            if best[window - 1] > best[leader]:
                leader = window - 1
            next_best[window] = best[leader] + scores[window, step]
            next_start[window] = start[leader]
        best, start = next_best, next_start
    last = int(np.argmax(best))
    return float(best[last]) / steps, int(start[last]), last


class SoundSequence:
    """The sound ranker for a query of steps.

    Args:
        index: The joint space of text and sound.
        whole: The vector of all wanted words, shape ``(dim,)``.
        steps: The vector of each step, two or more.
    """

    def __init__(self, index: LanceVectorIndex, whole: np.ndarray, steps: Sequence[np.ndarray]) -> None:
        self._index = index
        self._whole = whole
        self._steps = [np.asarray(step, np.float64) for step in steps]
        self._orders: dict[str, tuple[float, WindowHit]] = {}

    def ranked(self, k: int, where: Where | None = None) -> list[tuple[str, float]]:
        """The ``k`` best clips as ``(id, score)``, score descending, then id ascending."""
        if k <= 0:
            return []
        reach = max(k, REACH)
        scores = dict(self._index.knn(self._whole, reach, where=where))
        for step in self._steps:
            near = [clip_id for clip_id, _ in self._index.knn(step, reach, where=where)]
            more = [clip_id for clip_id in near if clip_id not in scores]
            scores |= {i: hit.score for i, hit in self._index.best_windows(self._whole, more).items()}
        self._look(scores)
        total = {i: round(score + self._orders[i][0], 6) for i, score in scores.items()}
        return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))[:k]

    def windows(self, clip_ids: Collection[str]) -> dict[str, WindowHit]:
        """Where in each clip to listen: from the first step to the last where there is an order, else the
        best window. The score is the cosine of the best window with the whole query."""
        best = self._index.best_windows(self._whole, clip_ids)
        self._look(best)
        spans = {i: self._orders[i] for i in best}
        return {
            i: span._replace(score=best[i].score) if bonus else best[i] for i, (bonus, span) in spans.items()
        }

    def _look(self, clip_ids: Collection[str]) -> None:
        new = [clip_id for clip_id in clip_ids if clip_id not in self._orders]
        windows = self._index.get_many(new)
        for clip_id in new:
            self._orders[clip_id] = self._order(clip_id, windows.get(clip_id, []))

    def _order(self, clip_id: str, windows: Sequence[Window]) -> tuple[float, WindowHit]:
        if len(windows) < len(self._steps):
            return 0.0, WindowHit(clip_id, 0.0, 0.0, 0.0)
        rows = np.stack([window.vector for window in windows])
        order = order_of(np.stack([cosines(rows, step) for step in self._steps], axis=1))
        return order.bonus, WindowHit(clip_id, 0.0, windows[order.first].start_s, windows[order.last].end_s)
