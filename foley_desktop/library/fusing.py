"""How the app fuses its rankers, and how sure it is that there is an answer at all.

Two fusions: ``weighted`` adds scores (see :func:`foley_desktop.index.search.fuse_scores`) and is the
app's default; ``rrf`` is plain reciprocal rank fusion with equal weights, the documented default of
``hybrid_search``. Before scores are added every ranker is asked about every candidate, so that a clip
is never judged by where another ranker's list happened to be cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from foley_desktop.index.search import (
    AUDIO,
    KEYWORD,
    RRF_K,
    SCORE_WEIGHTS,
    SEMANTIC,
    FusedHit,
    ScoredIds,
    fuse_scores,
)

Complete = Callable[[str, Collection[str]], dict[str, float]]
"""``(ranker name, ids) -> {id: score}`` for clips that the ranker's list did not reach."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """A fusion by name and its weights."""

    name: str = "weighted"
    weights: Mapping[str, float] = field(default_factory=lambda: dict(SCORE_WEIGHTS))

    def describe(self) -> str:
        """What a report names, so that it can be repeated: ``weighted audio=0.2 keyword=0.4 …``."""
        if self.name == "rrf":
            return f"rrf k={RRF_K}"
        weights = (f"{name}={weight:g}" for name, weight in sorted(self.weights.items()))
        return " ".join([self.name, *weights])

    def function(
        self, complete: Complete, best: Mapping[str, float], shares: dict[str, dict[str, float]]
    ) -> Callable[[Mapping[str, ScoredIds], int], list[FusedHit]] | None:
        """The fusion as ``hybrid_search`` takes it; None is its own default, RRF.

        Args:
            complete: Scores of further candidates.
            best: By ranker, the highest score that this query could reach.
            shares: Is filled with each ranker's part of a hit's score.
        """
        if self.name == "rrf":
            return None

        def fuse(lists: Mapping[str, ScoredIds], k: int) -> list[FusedHit]:
            candidates = {clip_id for hits in lists.values() for clip_id, _ in hits}
            full = {}
            for name, hits in lists.items():
                missing = candidates - {clip_id for clip_id, _ in hits}
                full[name] = [*hits, *complete(name, missing).items()] if missing else list(hits)
            return fuse_scores(full, self.weights, k=k, best=best, floors=FLOORS, shares=shares)

        return fuse


FLOORS = {KEYWORD: 0.0, SEMANTIC: 0.0, AUDIO: 0.0}
"""Scores of clips a ranker knows nothing about: no words matched, no vector to compare."""


def answerable(best_semantic: float | None, coverage: float) -> float:
    """Estimates from 0 to 1 whether the library holds an answer to a query.

    Args:
        best_semantic: Highest cosine between the query and a clip's own words, None without vectors.
        coverage: Largest part of the query's words that one clip has, 0 to 1.
    """
    evidence = coverage if best_semantic is None else 0.5 * coverage + max(best_semantic, 0.0)
    return 1.0 / (1.0 + math.exp(-8.0 * (evidence - 0.6)))
