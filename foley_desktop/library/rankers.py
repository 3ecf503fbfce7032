"""The rankers as one query sees them: its vectors made once, its exclusions understood once.

Searching, explaining and tuning all ask here, so that what is tuned or explained is what searches.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from foley_desktop.index.embedders.host import Models
from foley_desktop.index.protocols import TextEmbedder, Where
from foley_desktop.index.query import ParsedQuery
from foley_desktop.index.search import AUDIO, KEYWORD, SEMANTIC
from foley_desktop.index.synonyms import spelt_out
from foley_desktop.library.indexes import Indexes

if TYPE_CHECKING:
    from foley_desktop.index.keywords import KeywordIndex

Scores = list[tuple[str, float]]

RANKERS = (KEYWORD, SEMANTIC, AUDIO)


class QueryText:
    """A text embedder that sees a query's plain words whatever it is given, and keeps the vector."""

    def __init__(self, embedder: TextEmbedder, plain: str) -> None:
        self._embedder = embedder
        self._plain = plain
        self.model_id = embedder.model_id
        self.dim = embedder.dim
        self._vector: np.ndarray | None = None

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        return self.vector[np.newaxis]

    @property
    def vector(self) -> np.ndarray:
        """Shape ``(dim,)``; computed once."""
        if self._vector is None:
            self._vector = self._embedder.embed_text(spelt_out(self._plain))[0]
        return self._vector


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
        models: The embedders; making one waits for it.
        parsed: The query. One without plain words (``-thunder``) has words alone to rank by.
        typing: The last word may be unfinished.

    Raises:
        ModelError: the models cannot be started.
    """

    def __init__(self, indexes: Indexes, models: Models, parsed: ParsedQuery, typing: bool = False) -> None:
        self._indexes = indexes
        self._parsed = parsed
        self.words = QueryWords(indexes.keyword, parsed, typing)
        self.meaning = QueryText(models.text_embedder(), parsed.plain)
        self.sound = QueryText(models.embedder(indexes.embedder_name), parsed.plain)

    @property
    def fused(self) -> bool:
        """Whether there is anything to fuse: a query that only excludes is answered by words alone."""
        return bool(self._parsed.plain)

    @property
    def best(self) -> dict[str, float]:
        """By ranker, the highest score that this query could reach, where that is known."""
        return {KEYWORD: self._indexes.keyword.max_score(self._parsed)}

    def ranked(self, name: str, k: int, where: Where | None = None) -> Scores:
        """The ``k`` best of one ranker as ``(id, score)``, best first."""
        if name == KEYWORD:
            return self.words.bm25("", k, where=where)
        if not self.fused:
            return []
        if name == SEMANTIC:
            return self._indexes.semantic.knn(self.meaning.vector, k, where=where)
        return self._indexes.audio.knn(self.sound.vector, k, where=where)

    def scores(self, name: str, ids: Collection[str]) -> dict[str, float]:
        """What a ranker gives certain clips; those it knows nothing about are left out."""
        return dict(self.ranked(name, len(ids), {"clip_id": ids})) if ids else {}
