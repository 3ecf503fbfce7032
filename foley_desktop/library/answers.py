"""What the rankers said to one query, kept, so that it can be fused anew without asking them again.

A slider between words and sound re-ranks at every step, and nothing but the fusion changes. Also the place
where exclusions by sound take effect: a list is read deeper until enough of it has survived.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from foley_desktop.index.protocols import Where, WindowHit
from foley_desktop.index.search import AUDIO, KEYWORD, SEMANTIC, Ranker
from foley_desktop.library.excluding import SoundExclusion
from foley_desktop.library.rankers import QueryRankers, Scores


class Answers:
    """The rankers' lists for one query under one restriction, each asked for once.

    Args:
        rankers: The rankers for the query.
        where: What every list is restricted to.
        exclusion: What is hidden by sound, if anything is.

    Attributes:
        problem: Why nothing is hidden by sound although the query asks for it; a sentence, or empty.
    """

    def __init__(
        self, rankers: QueryRankers, where: Where | None, exclusion: SoundExclusion | None = None
    ) -> None:
        self.rankers = rankers
        self.where = where
        self.exclusion = exclusion
        self.problem = ""
        self._raw: dict[str, tuple[int, Scores]] = {}
        self._scores: dict[str, dict[str, float | None]] = {}
        self._windows: dict[str, WindowHit | None] = {}

    # -- lists

    def raw(self, name: str, k: int) -> Scores:
        """A ranker's ``k`` best, hidden ones among them."""
        depth, found = self._raw.get(name, (0, []))
        if depth < k:
            depth, found = k, self.rankers.ranked(name, k, self.where)
            self._raw[name] = depth, found
        return found[:k]

    def listed(self, name: str, k: int) -> Scores:
        """A ranker's ``k`` best of what is not hidden."""
        if self.exclusion is None:
            return self.raw(name, k)
        depth = k
        while True:
            found = self.raw(name, depth)
            hidden = self.exclusion.hidden(clip_id for clip_id, _ in found)
            kept = [pair for pair in found if pair[0] not in hidden]
            if len(kept) >= k or len(found) < depth:
                return kept[:k]
            depth = 2 * depth + len(hidden)

    def scores(self, name: str, ids: Collection[str]) -> dict[str, float]:
        """What a ranker gives certain clips; those it knows nothing about are left out."""
        known = self._scores.setdefault(name, {})
        unknown = [clip_id for clip_id in ids if clip_id not in known]
        if unknown:
            known |= {**dict.fromkeys(unknown), **self.rankers.scores(name, unknown)}
        return {clip_id: score for clip_id in ids if (score := known[clip_id]) is not None}

    def windows(self, ids: Collection[str]) -> dict[str, WindowHit]:
        """Where in each clip to listen; clips without a sound vector are left out."""
        unknown = [clip_id for clip_id in ids if clip_id not in self._windows]
        if unknown:
            self._windows |= {**dict.fromkeys(unknown), **self.rankers.windows(unknown)}
        return {clip_id: window for clip_id in ids if (window := self._windows[clip_id]) is not None}

    def hidden(self, ids: Collection[str]) -> set[str]:
        """Those of the clips that are hidden by sound."""
        return set() if self.exclusion is None else self.exclusion.hidden(ids)

    def lists(self, *, hide: bool) -> Lists:
        """These answers as ``hybrid_search`` takes them, with what is hidden or without."""
        return Lists(self.listed if hide else self.raw)


class Lists:
    """The vector index, the keyword index and the further rankers of one query in one.

    Args:
        ask: ``(ranker name, k)`` to the ranker's list. Queries, vectors and restrictions are settled there.
    """

    def __init__(self, ask: Callable[[str, int], Scores]) -> None:
        self.ask = ask

    def knn(self, vector: np.ndarray, k: int, *, where: Where | None = None) -> Scores:
        return self.ask(AUDIO, k)

    def bm25(self, query: str, k: int, *, where: Where | None = None) -> Scores:
        return self.ask(KEYWORD, k)

    @property
    def further(self) -> list[Ranker]:
        return [Ranker(SEMANTIC, lambda query, k, where: self.ask(SEMANTIC, k))]
