"""How the app searches: four modes over three rankers, and nearest neighbours by sound.

``hybrid_search`` does the ranking and the fusion. What is added here is the library around it: the
filters as ids, exclusions that hold for every ranker, the window of a clip that fits best, why a
clip is where it is, and an answer in words alone while the models are still loading.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from foley_desktop.errors import FoleyError, ModelError, SilentAudioError, UnknownClipError
from foley_desktop.index.embedders.host import Models
from foley_desktop.index.protocols import TextEmbedder, Where, WindowHit
from foley_desktop.index.query import ParsedQuery, parse_query
from foley_desktop.index.search import DEFAULT_CANDIDATE_K, Ranker, hybrid_search, vector_search
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.fusing import Fusion, answerable
from foley_desktop.library.indexes import Indexes
from foley_desktop.models import Clip, Filters, Hit, Mode, Region, SearchResult

log = logging.getLogger(__name__)

Scores = list[tuple[str, float]]

LOADING = "Words only for now: the models are still loading."
NO_VECTORS = "No sound vectors yet: index with sound to search by meaning of the sound."


class _QueryText:
    """A text embedder that sees a query's plain words, and remembers the last vector."""

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
        if self._vector is None:
            self._vector = self._embedder.embed_text(self._plain)[0]
        return self._vector


class _Nothing:
    """A ranker that finds nothing, for the modes that leave one out."""

    dim = 0

    def upsert(self, clip_id: str, windows: object) -> None:
        raise NotImplementedError

    def knn(self, vector: np.ndarray, k: int, *, where: Where | None = None) -> Scores:
        return []

    def bm25(self, query: str, k: int, *, where: Where | None = None) -> Scores:
        return []
