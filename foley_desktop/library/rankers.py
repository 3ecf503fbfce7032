"""The rankers as one query sees them: its vectors made once, its exclusions understood once.

Searching, explaining and tuning all ask here, so that what is tuned or explained is what searches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from foley_desktop.errors import IndexStoreError
from foley_desktop.index.embedders.host import Models
from foley_desktop.index.protocols import TextEmbedder, Where, WindowHit
from foley_desktop.index.query import ParsedQuery
from foley_desktop.index.search import AUDIO, KEYWORD, SEMANTIC
from foley_desktop.index.synonyms import spelt_out
from foley_desktop.library.excluding import SoundExclusion, audible_exclusions
from foley_desktop.library.indexes import Indexes
from foley_desktop.library.sequences import SoundSequence

if TYPE_CHECKING:
    from foley_desktop.index.keywords import KeywordIndex

Scores = list[tuple[str, float]]

RANKERS = (KEYWORD, SEMANTIC, AUDIO)

COVERAGE_DEPTH = 20
"""How many of the best clips by words are asked how much of the query they cover."""


class QueryText:
    """A text embedder that sees a query's plain words whatever it is given, and keeps the vector.

    Args:
        make: Gives the embedder when it is first needed; may wait for it.
        plain: The wanted words.
    """

    def __init__(self, make: Callable[[], TextEmbedder], plain: str) -> None:
        self._make = make
        self._plain = plain
        self._vector: np.ndarray | None = None

    @cached_property
    def _embedder(self) -> TextEmbedder:
        return self._make()

    def load(self) -> None:
        """Waits for the embedder."""
        _ = self._embedder

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dim(self) -> int:
        return self._embedder.dim

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        return self.vector[np.newaxis]

    @property
    def vector(self) -> np.ndarray:
        """Shape ``(dim,)``; computed once."""
        if self._vector is None:
            self._vector = self.vectors([self._plain])[0]
        return self._vector

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of other texts, shape ``(n, dim)``; abbreviations are written out first."""
        return self._embedder.embed_text([spelt_out(text) for text in texts])


class QueryWords:
    """The keyword index for one parsed query, as ``hybrid_search`` takes it."""

    def __init__(self, index: KeywordIndex, parsed: ParsedQuery, typing: bool = False) -> None:
        self._index = index
        self._parsed = parsed
        self._typing = typing

    def bm25(self, query: str, k: int, *, where: Where | None = None) -> Scores:
        return self._index.search(self._parsed, k, where=where, prefix_last=self._typing)


class QueryRankers:
    """The three rankers for one parsed query.

    Args:
        indexes: The derived indexes.
        models: The embedders; each is waited for when it is first needed.
        parsed: The query. One without plain words (``-thunder``) has words alone to rank by.
        typing: The last word may be unfinished.

    Every method raises ModelError when a model that it needs cannot be started.
    """

    def __init__(self, indexes: Indexes, models: Models, parsed: ParsedQuery, typing: bool = False) -> None:
        self._indexes = indexes
        self._parsed = parsed
        self.words = QueryWords(indexes.keyword, parsed, typing)
        self.meaning = QueryText(models.text_embedder, parsed.plain)
        self.sound = QueryText(lambda: models.embedder(indexes.embedder_name), parsed.plain)

    def start(self) -> None:
        """Waits for both embedders, so that a missing one is told before anything is asked."""
        self.meaning.load()
        self.sound.load()

    @property
    def fused(self) -> bool:
        """Whether there is anything to fuse: a query that only excludes is answered by words alone."""
        return bool(self._parsed.plain)

    @cached_property
    def best(self) -> dict[str, float]:
        """By ranker, what its scores are divided by before they are weighed, where that is not 1.

        For words it is the highest score that this query could reach, over the largest part of the
        query that any clip covers: where no clip has but a few of the words, words alone say little.
        For sound it is the cosine at which the embedder is sure.
        """
        sound = {AUDIO: self._indexes.sure_cosine or 1.0}
        try:
            words = self._indexes.keyword.max_score(self._parsed) / max(self.coverage, 1e-6)
        except IndexStoreError:
            return sound  # a damaged index gives no scores that could be divided
        return {KEYWORD: words, **sound}

    @cached_property
    def coverage(self) -> float:
        """The largest part of the query's words that one of the best clips by words has, 0 to 1."""
        found = [clip_id for clip_id, _ in self.words.bm25("", COVERAGE_DEPTH)]
        return max(self._indexes.keyword.coverage(self._parsed, found).values(), default=0.0)

    @cached_property
    def sequence(self) -> SoundSequence | None:
        """What ranks by sound when the query has steps (``thunder then rain``)."""
        if not self._parsed.steps:
            return None
        steps = list(self.sound.vectors(self._parsed.steps))
        return SoundSequence(self._indexes.audio, self.sound.vector, steps)

    @cached_property
    def exclusion(self) -> SoundExclusion | None:
        """What the query's exclusions hide by sound, if they and the embedder can."""
        texts = audible_exclusions(self._parsed) if self._indexes.hears_words else ()
        if not texts:
            return None
        unwanted = dict(zip(texts, self.sound.vectors(texts), strict=True))
        return SoundExclusion(self._indexes.audio, self.sound.vector, unwanted)

    def ranked(self, name: str, k: int, where: Where | None = None) -> Scores:
        """The ``k`` best of one ranker as ``(id, score)``, best first."""
        if name == KEYWORD:
            return self.words.bm25("", k, where=where)
        if not self.fused:
            return []
        if name == SEMANTIC:
            return self._indexes.semantic.knn(self.meaning.vector, k, where=where)
        if self.sequence is not None:
            return self.sequence.ranked(k, where)
        return self._indexes.audio.knn(self.sound.vector, k, where=where)

    def scores(self, name: str, ids: Collection[str]) -> dict[str, float]:
        """What a ranker gives certain clips; those it knows nothing about are left out."""
        return dict(self.ranked(name, len(ids), {"clip_id": ids})) if ids else {}

    def windows(self, ids: Collection[str]) -> dict[str, WindowHit]:
        """Where in each clip to listen: its best window, or from the first step to the last."""
        if self.sequence is not None:
            return self.sequence.windows(ids)
        return self._indexes.audio.best_windows(self.sound.vector, ids)
