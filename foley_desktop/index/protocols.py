"""The seams of retrieval: what an embedder, a vector index and a keyword index have to offer.

``where`` is a push-down that both indexes take. It is a dict with one key:
``{"clip_id": <collection of ids>}`` restricts the search to those clips (an empty collection
finds nothing). The catalog is the only truth about a clip's length, rating or category, so a filter
is resolved there and arrives here as ids; nothing has to be copied into the indexes or kept in step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

Where = Mapping[str, Collection[str]]


class Window(NamedTuple):
    """A stretch of one clip in seconds and its L2-normalised float32 vector, shape ``(dim,)``."""

    start_s: float
    end_s: float
    vector: np.ndarray


class WindowHit(NamedTuple):
    """The best window of a clip for a query: cosine in [-1, 1], seconds."""

    clip_id: str
    score: float
    start_s: float
    end_s: float


@runtime_checkable
class TextEmbedder(Protocol):
    """Text into a vector space. ``embed_text`` always returns shape ``(n, dim)``, float32, unit rows."""

    model_id: str
    dim: int

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray: ...


@runtime_checkable
class Embedder(TextEmbedder, Protocol):
    """A joint space of text and sound.

    ``embed_audio`` returns ``(dim,)`` float32 of unit length, ``embed_windows`` the windows of the
    whole clip. Input is float32 mono ``(n,)`` or ``(n, channels)`` at ``sr`` Hz; silence, NaN and
    empty input raise :class:`foley_desktop.errors.SilentAudioError`.
    """

    def embed_audio(self, wav: np.ndarray, sr: int) -> np.ndarray: ...

    def embed_windows(self, wav: np.ndarray, sr: int) -> list[Window]: ...


@runtime_checkable
class VectorIndex(Protocol):
    """Nearest neighbours among window vectors, grouped by clip."""

    dim: int

    def upsert(self, clip_id: str, windows: Sequence[Window]) -> None: ...

    def knn(self, vector: np.ndarray, k: int, *, where: Where | None = None) -> list[tuple[str, float]]:
        """The ``k`` clips nearest to ``vector`` as ``(id, cosine)``, best first, each clip once."""
        ...


@runtime_checkable
class KeywordIndex(Protocol):
    """BM25 over the words of each clip."""

    def bm25(self, query: str, k: int, *, where: Where | None = None) -> list[tuple[str, float]]:
        """The ``k`` best matches as ``(id, bm25_score)``, best first."""
        ...


class Document(NamedTuple):
    """The words of one clip, by field, as the keyword index takes them."""

    clip_id: str
    name: str = ""
    folder: str = ""
    title: str = ""
    description: str = ""
    keywords: str = ""
    category: str = ""
    tags: str = ""
    ext: str = ""


Documents = Iterable[Document]
