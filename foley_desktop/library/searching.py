"""How the app searches: four modes over three rankers, and nearest neighbours by sound.

``hybrid_search`` does the ranking and the fusion. What is added here is the library around it: the
filters as ids, exclusions and phrases that hold for every ranker, the window of a clip that fits best,
why a clip is where it is, and an answer in words alone while the models are still loading.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foley_desktop.index.embedders.host import Models
from foley_desktop.index.protocols import Where, WindowHit
from foley_desktop.index.query import ParsedQuery, parse_query
from foley_desktop.index.search import (
    AUDIO,
    KEYWORD,
    SEMANTIC,
    FusedHit,
    Ranker,
    hybrid_search,
    vector_search,
)
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.fusing import Fusion, answerable
from foley_desktop.library.indexes import Indexes
from foley_desktop.library.rankers import QueryRankers, QueryText, Scores
from foley_desktop.models import Filters, Hit, Mode, SearchResult
from foley_desktop.settings import Settings

log = logging.getLogger(__name__)

LOADING = "Words only for now: the models are still loading."
NO_KEYWORDS = "Keywords are unavailable: run doctor to rebuild the keyword index."
WITH_REASONS = 50
"""For how many hits the matched words are looked up at once; the rest are explained when asked."""


@dataclass(slots=True)
class _Found:
    """The ranked lists behind one result, and what was noticed on the way."""

    hits: list[FusedHit] = field(default_factory=list)
    lists: dict[str, Scores] = field(default_factory=dict)
    shares: dict[str, dict[str, float]] = field(default_factory=dict)
    windows: dict[str, WindowHit] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


class Searcher:
    """Searches one library. Stateless between calls and safe to use from several threads."""

    def __init__(self, catalog: Catalog, indexes: Indexes, models: Models, settings: Settings) -> None:
        self._catalog = catalog
        self._indexes = indexes
        self._models = models
        self._settings = settings

    @property
    def fusion(self) -> Fusion:
        """The fusion of the hybrid mode as the settings have it."""
        return Fusion.of(self._settings)

    def rankers(self, query: str, filters: Filters = Filters()) -> tuple[QueryRankers, Where | None]:
        """Each ranker by itself for a query, and the restriction that filters and exclusions come to."""
        parsed = parse_query(query)
        return QueryRankers(self._indexes, self._models, parsed), self._where(filters, parsed)

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        mode: Mode = "hybrid",
        filters: Filters = Filters(),
        wait: bool = True,
        typing: bool = False,
    ) -> SearchResult:
        """The ``k`` best clips for ``query``.

        Args:
            mode: ``keyword`` BM25 alone; ``semantic`` the query's meaning against each clip's own
                words; ``audio`` the query against the sound; ``hybrid`` all of them, fused.
            filters: Conditions that every hit fulfils.
            wait: Wait for the models. Otherwise ``hybrid`` answers in words alone until they are
                ready, and the result says so and is not ``complete``.
            typing: The last word may still be unfinished and matches as a prefix.

        Raises:
            ModelError: with ``wait``, when the models cannot be started and the mode needs them.
        """
        started = time.perf_counter()
        parsed = parse_query(query)
        if parsed.blank:
            return self._everything(query, mode, filters, k, started)
        where = self._where(filters, parsed)
        usable = mode == "keyword" or not parsed.plain or wait or self._models.state == "ready"
        if usable:
            found = self._find(query, parsed, mode, k, where, typing)
        else:
            self._models.start()
            found = self._by_words(query, parsed, k, where, typing) if mode == "hybrid" else _Found()
            found.notices.append(self._why_words_only())
        hits = self._hits(query, found, mode)
        return SearchResult(
            query=query,
            mode=mode,
            hits=hits,
            took_ms=(time.perf_counter() - started) * 1000.0,
            answerable=self._answerable(found, parsed, hits),
            notices=tuple(found.notices),
            complete=usable,
        )

    def _why_words_only(self) -> str:
        error = self._models.error
        if self._models.state == "failed" and error is not None:
            return f"Words only: {error}"
        return LOADING

    def _everything(self, query: str, mode: Mode, filters: Filters, k: int, started: float) -> SearchResult:
        clips = self._catalog.list_clips(filters, "name", False, k, 0)
        hits = tuple(Hit(clip, rank) for rank, clip in enumerate(clips, start=1))
        took = (time.perf_counter() - started) * 1000.0
        return SearchResult(query=query, mode=mode, hits=hits, took_ms=took)

    def _where(self, filters: Filters, parsed: ParsedQuery) -> Where | None:
        """Filters, exclusions and required phrases as one restriction that every ranker gets."""
        allowed = self._catalog.matching_ids(filters)
        wanted = self._indexes.keyword.permitted(parsed)
        if wanted is not None:
            allowed = wanted if allowed is None else frozenset(allowed) & wanted
        return None if allowed is None else {"clip_id": allowed}

    # --- the modes

    def _find(
        self, query: str, parsed: ParsedQuery, mode: Mode, k: int, where: Where | None, typing: bool
    ) -> _Found:
        if mode == "keyword" or not parsed.plain:
            return self._by_words(query, parsed, k, where, typing)
        if mode == "semantic":
            return self._by_meaning(parsed, k, where)
        if mode == "audio":
            return self._by_sound(parsed, k, where)
        return self._by_all(query, parsed, k, where, typing)

    def _by_words(self, query: str, parsed: ParsedQuery, k: int, where: Where | None, typing: bool) -> _Found:
        scores = self._indexes.keyword.search(parsed, k, where=where, prefix_last=typing)
        hits = [FusedHit(clip_id, bm25_score=score) for clip_id, score in scores]
        return _Found(hits, {KEYWORD: scores})

    def _by_meaning(self, parsed: ParsedQuery, k: int, where: Where | None) -> _Found:
        text = QueryText(self._models.text_embedder(), parsed.plain)
        scores = self._indexes.semantic.knn(text.vector, k, where=where)
        return _Found([FusedHit(clip_id) for clip_id, _ in scores], {SEMANTIC: scores})

    def _by_sound(self, parsed: ParsedQuery, k: int, where: Where | None) -> _Found:
        text = QueryText(self._models.embedder(self._indexes.embedder_name), parsed.plain)
        hits = vector_search(text.vector, vindex=self._indexes.audio, k=k, where=where)
        found = _Found(hits, {AUDIO: [(hit.id, hit.clap_score or 0.0) for hit in hits]})
        found.windows = self._indexes.audio.best_windows(text.vector, [hit.id for hit in hits])
        return found

    def _by_all(self, query: str, parsed: ParsedQuery, k: int, where: Where | None, typing: bool) -> _Found:
        indexes = self._indexes
        rankers = QueryRankers(indexes, self._models, parsed, typing)
        found = _Found()

        def missed(name: str, error: Exception) -> None:
            log.warning("the %s ranker failed: %s", name, error)
            found.notices.append(NO_KEYWORDS if name == KEYWORD else f"Without the {name} part: {error}")

        fusion = self.fusion
        found.hits = hybrid_search(
            query,
            embedder=rankers.sound,
            vindex=indexes.audio,
            kindex=rankers.words,
            k=k,
            candidate_k=max(fusion.depth, k),
            where=where,
            rankers=[Ranker(SEMANTIC, lambda _, n, w: rankers.ranked(SEMANTIC, n, w))],
            fuse=fusion.function(rankers.scores, rankers.best, found.shares),
            trace=found.lists,
            on_error=missed,
        )
        if found.lists.get(AUDIO):
            found.windows = indexes.audio.best_windows(rankers.sound.vector, [hit.id for hit in found.hits])
        return found

    # --- what a hit says of itself

    def _hits(self, query: str, found: _Found, mode: Mode) -> tuple[Hit, ...]:
        clips = self._catalog.clips([hit.id for hit in found.hits])
        ranks = {name: _ranked(scores) for name, scores in found.lists.items()}
        hits: list[Hit] = []
        for hit in found.hits:
            clip = clips.get(hit.id)
            if clip is None:
                continue
            window = found.windows.get(hit.id)
            rank = len(hits) + 1
            hits.append(
                Hit(
                    sound=clip,
                    rank=rank,
                    rrf_score=hit.rrf_score,
                    clap_score=window.score if window else hit.clap_score,
                    bm25_score=hit.bm25_score,
                    start_s=window.start_s if window else None,
                    end_s=window.end_s if window else None,
                    why=self._why(query, hit, ranks, found.shares, rank <= WITH_REASONS),
                )
            )
        return tuple(hits)

    def _why(
        self,
        query: str,
        hit: FusedHit,
        ranks: Mapping[str, Mapping[str, tuple[int, float]]],
        shares: Mapping[str, Mapping[str, float]],
        with_words: bool,
    ) -> dict[str, Any]:
        why: dict[str, Any] = {}
        for name, by_id in ranks.items():
            rank, score = by_id.get(hit.id, (None, None))
            share = shares.get(hit.id, {}).get(name)
            if rank is not None or share:
                why[name] = {"rank": rank, "score": score, "share": share}
        if with_words and KEYWORD in why and why[KEYWORD]["rank"] is not None:
            why["matched"] = self._indexes.keyword.explain(query, hit.id)
        return why

    def _answerable(self, found: _Found, parsed: ParsedQuery, hits: Sequence[Hit]) -> float:
        if not parsed.plain:
            return 1.0 if hits else 0.0
        semantic = found.lists.get(SEMANTIC)
        top = [hit.id for hit in hits[:10]]
        coverage = max(self._indexes.keyword.coverage(parsed, top).values(), default=0.0)
        return round(answerable(semantic[0][1] if semantic else None, coverage), 6)


def _ranked(scores: Scores) -> dict[str, tuple[int, float]]:
    return {clip_id: (rank, score) for rank, (clip_id, score) in enumerate(scores, start=1)}
