"""Retrieval as orchestration and fusion: several ranked lists become one, in the same way everywhere.

Only the protocols of this package are known here, no model and no store, so that one fusion rule
serves every backend and can be tested by itself. The default is reciprocal rank fusion (Cormack,
Clarke and Büttcher, SIGIR 2009), which needs no common scale of scores::

    score(d) = sum over rankers of weight / (k + rank of d)        k = 60, weight = 1

:func:`fuse_scores` is the alternative where the scores do have a scale: a weighted sum that knows how
sure a ranker was, not only in which order. Sums are exactly rounded (``math.fsum``), so neither the
order of rankers nor the platform changes a result, and equal sums stay equal: ties go by id.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from foley_desktop.index.protocols import KeywordIndex, TextEmbedder, VectorIndex, Where

ScoredIds = Sequence[tuple[str, float]]

RRF_K: int = 60
"""The damping constant of reciprocal rank fusion in its standard value; larger is flatter."""

DEFAULT_CANDIDATE_K: int = 50
"""How deep each ranker's list is read before fusing: deeper than the result, so that a clip in the
middle of one list and on top of another still comes up."""

AUDIO = "audio"
"""The vector list's name in weights, traces and score lists."""

KEYWORD = "keyword"
"""The BM25 list's name there."""

SEMANTIC = "semantic"
"""The name of the list that ranks by the meaning of each clip's own words."""

SCORE_WEIGHTS: Mapping[str, float] = MappingProxyType({SEMANTIC: 1.0, KEYWORD: 0.4, AUDIO: 0.2})
"""Weights of :func:`fuse_scores` as measured on the development corpus."""

SCORE_FLOORS: Mapping[str, float] = MappingProxyType({KEYWORD: 0.0})
"""What a clip scores in a list that lacks it, where the list's own lowest score is not right: a clip
without a word of the query has a BM25 score of nothing."""

_SCORE_DIGITS = 6


@dataclass(frozen=True, slots=True)
class FusedHit:
    """One clip found, with the scores that put it there.

    ``rrf_score`` is the fused score (None where nothing was fused), ``clap_score`` the cosine of the
    vector list, ``bm25_score`` the keyword list's score; each is None where the clip was not in that
    list.
    """

    id: str
    rrf_score: float | None = None
    clap_score: float | None = None
    bm25_score: float | None = None


@dataclass(frozen=True, slots=True)
class Ranker:
    """A further ranked list: ``search(query, k, where)`` gives ``(id, score)``, best first."""

    name: str
    search: Callable[[str, int, Where | None], ScoredIds]


def reciprocal_rank_fusion(
    ranked_id_lists: Iterable[Sequence[str]], *, k: int = RRF_K, weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Fuses ranked id lists by reciprocal rank.

    Args:
        ranked_id_lists: Ids, best first; the lists may overlap and differ in length. An id that a
            list names twice counts once, at its better place.
        k: The damping constant, 0 or more.
        weights: One factor of 0 or more a list; 1 each if None.

    Returns:
        ``(id, fused score)``, score descending, then id ascending.

    Raises:
        ValueError: for a negative ``k`` or weight, or another number of weights than of lists.
    """
    if k < 0:
        raise ValueError(f"the constant of rank fusion has to be 0 or more, not {k}")
    lists = list(ranked_id_lists)
    factors = [1.0] * len(lists) if weights is None else [_checked_weight(weight) for weight in weights]
    shares: dict[str, list[float]] = {}
    for ids, factor in zip(lists, factors, strict=True):
        for rank, clip_id in enumerate(dict.fromkeys(ids), start=1):
            shares.setdefault(clip_id, []).append(factor / (k + rank))
    return _in_order((clip_id, math.fsum(parts)) for clip_id, parts in shares.items())


def _in_order(scored: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    return sorted(scored, key=lambda item: (-item[1], item[0]))


def _checked_weight(weight: float) -> float:
    if not (math.isfinite(weight) and weight >= 0.0):
        raise ValueError(f"a ranker's weight has to be a number from 0, not {weight}")
    return weight


def _first_scores(hits: ScoredIds) -> dict[str, float]:
    """``{id: score}`` with an id's first score, which is its best in a list that is best first."""
    scores: dict[str, float] = {}
    for clip_id, score in hits:
        scores.setdefault(clip_id, float(score))
    return scores


def fuse_hits(
    vector_hits: ScoredIds, keyword_hits: ScoredIds, *, k: int, rrf_k: int = RRF_K
) -> list[FusedHit]:
    """Fuses a vector list and a keyword list by reciprocal rank.

    Args:
        vector_hits: ``(id, cosine)``, best first.
        keyword_hits: ``(id, BM25 score)``, best first.
        k: How many hits to return.
        rrf_k: The damping constant.

    Returns:
        The best ``k`` with their raw scores; none for ``k <= 0``.
    """
    return _fuse_ranked({AUDIO: vector_hits, KEYWORD: keyword_hits}, {}, k=k, rrf_k=rrf_k)


def _fuse_ranked(
    lists: Mapping[str, ScoredIds], weights: Mapping[str, float], *, k: int, rrf_k: int
) -> list[FusedHit]:
    fused = reciprocal_rank_fusion(
        [[clip_id for clip_id, _ in hits] for hits in lists.values()],
        k=rrf_k,
        weights=[weights.get(name, 1.0) for name in lists],
    )
    return _with_raw_scores(fused[: max(k, 0)], lists)


def _with_raw_scores(fused: ScoredIds, lists: Mapping[str, ScoredIds]) -> list[FusedHit]:
    cosines = _first_scores(lists.get(AUDIO, ()))
    bm25 = _first_scores(lists.get(KEYWORD, ()))
    return [FusedHit(clip_id, score, cosines.get(clip_id), bm25.get(clip_id)) for clip_id, score in fused]


def hybrid_search(
    query: str,
    *,
    embedder: TextEmbedder,
    vindex: VectorIndex,
    kindex: KeywordIndex,
    k: int = 10,
    candidate_k: int = DEFAULT_CANDIDATE_K,
    rrf_k: int = RRF_K,
    where: Where | None = None,
    weights: Mapping[str, float] | None = None,
    rankers: Sequence[Ranker] = (),
    trace: dict[str, list[tuple[str, float]]] | None = None,
    on_error: Callable[[str, Exception], None] | None = None,
    fuse: Callable[[Mapping[str, ScoredIds], int], list[FusedHit]] | None = None,
) -> list[FusedHit]:
    """Asks the vector index, the keyword index and further rankers, and fuses by reciprocal rank.

    Without ``weights`` and ``rankers`` the result is that of :func:`fuse_hits` over the two lists. A
    blank query finds nothing and asks nobody.

    Args:
        query: What the user typed.
        embedder: Its ``embed_text`` makes the query vector, shape ``(dim,)`` or ``(1, dim)``.
        vindex: The vector index, the list named ``audio``.
        kindex: The keyword index, the list named ``keyword``.
        k: How many hits to return.
        candidate_k: How deep each list is read.
        rrf_k: The damping constant.
        where: A restriction that every ranker gets as it is.
        weights: A factor of 0 or more by ranker name; 1 where none is given. A ranker of weight 0 is
            not asked. Names of rankers that take no part are ignored.
        rankers: Further lists.
        trace: If given, is filled with ``{ranker name: [(id, score), ...]}``.
        on_error: If given, is told the name and the error of a ranker that fails; the search goes on
            without it. Otherwise the error is passed on.
        fuse: Another fusion, called with ``({ranker name: [(id, score), ...]}, k)``; None is rank fusion.

    Raises:
        ValueError: for a weight below 0, or two rankers of one name.
    """
    weights = {name: _checked_weight(weight) for name, weight in (weights or {}).items()}
    asked = _all_rankers(embedder, vindex, kindex, rankers)
    if not query.strip():
        return []
    lists: dict[str, list[tuple[str, float]]] = {}
    for ranker in asked:
        if weights.get(ranker.name, 1.0) == 0.0:
            continue
        try:
            lists[ranker.name] = list(ranker.search(query, candidate_k, where))
        except Exception as error:
            if on_error is None:
                raise
            on_error(ranker.name, error)
    if trace is not None:
        trace.update(lists)
    if fuse is not None:
        return fuse(lists, k)
    return _fuse_ranked(lists, weights, k=k, rrf_k=rrf_k)


def _all_rankers(
    embedder: TextEmbedder, vindex: VectorIndex, kindex: KeywordIndex, further: Sequence[Ranker]
) -> list[Ranker]:
    def by_sound(query: str, k: int, where: Where | None) -> ScoredIds:
        return vindex.knn(_query_vector(embedder, query), k=k, where=where)

    def by_words(query: str, k: int, where: Where | None) -> ScoredIds:
        return kindex.bm25(query, k=k, where=where)

    rankers = [Ranker(AUDIO, by_sound), Ranker(KEYWORD, by_words), *further]
    names = [ranker.name for ranker in rankers]
    if len(set(names)) != len(names):
        raise ValueError(f"two rankers have the same name: {', '.join(names)}")
    return rankers


def _query_vector(embedder: TextEmbedder, query: str) -> np.ndarray:
    import numpy as np

    vector = np.asarray(embedder.embed_text(query))
    return vector[0] if vector.ndim == 2 else vector


def vector_search(
    qvec: np.ndarray, *, vindex: VectorIndex, k: int = 10, where: Where | None = None
) -> list[FusedHit]:
    """Nearest neighbours alone, without a keyword list: what sounds like this.

    Args:
        qvec: The query vector, shape ``(dim,)``, of unit length.
        vindex: The vector index.
        k: How many hits to return.
        where: A restriction that the index gets as it is.

    Returns:
        Up to ``k`` hits in the index's own order, the cosine in ``clap_score`` and no fused score.
    """
    if k <= 0:
        return []
    return [
        FusedHit(clip_id, clap_score=float(score))
        for clip_id, score in vindex.knn(qvec, k=k, where=where)[:k]
    ]


def fuse_scores(
    lists: Mapping[str, ScoredIds],
    weights: Mapping[str, float] = SCORE_WEIGHTS,
    *,
    k: int,
    best: Mapping[str, float] | None = None,
    floors: Mapping[str, float] = SCORE_FLOORS,
    shares: dict[str, dict[str, float]] | None = None,
) -> list[FusedHit]:
    """Fuses score lists by a weighted sum: ``sum over rankers of weight * score / best``.

    With the defaults that is meaning cosine + 0.4 x BM25 over the query's best possible BM25 score
    + 0.2 x sound cosine.

    A clip that a list lacks counts there with the list's *floor*: the one given in ``floors``, else
    the lowest score in the list. A list cut at its k-th hit says just that about the others, that
    they scored no more, and so a clip is never worse off for having been listed. A caller who knows
    every candidate's score should give full lists, then no floor is needed.

    Args:
        lists: ``{ranker name: [(id, score), ...]}`` in any order. Scores that are not finite count as
            missing; of several scores of an id the best counts.
        weights: A factor of 0 or more by ranker name; 1 where none is given. A list of weight 0 adds
            neither scores nor clips.
        k: How many hits to return; none for ``k <= 0``.
        best: By ranker name what the scores are divided by, the highest that this query could reach;
            1 where none is given. A list whose best is 0 or less has no say.
        floors: By ranker name the score, before dividing, of clips that the list lacks.
        shares: If given, is filled with ``{id: {ranker name: its part of the fused score}}`` of the
            hits returned.

    Returns:
        Fused score descending, then id ascending. The fused score, in ``rrf_score``, is rounded to
        1e-6, so that the last bits of a matrix product never decide the order. ``clap_score`` and
        ``bm25_score`` are the raw scores of the lists ``audio`` and ``keyword``.

    Raises:
        ValueError: for a weight below 0.
    """
    scales = _scales(lists, weights, best or {})
    scores = {name: _best_scores(lists[name]) for name in scales}
    missing = {name: floors.get(name, min(listed.values(), default=0.0)) for name, listed in scores.items()}
    parts = {
        clip_id: {name: scale * scores[name].get(clip_id, missing[name]) for name, scale in scales.items()}
        for clip_id in {clip_id for listed in scores.values() for clip_id in listed}
    }
    # Adding 0.0 turns the -0.0 that rounding can leave into 0.0, so that equal results print alike.
    fused = _in_order(
        (clip_id, round(math.fsum(part.values()), _SCORE_DIGITS) + 0.0) for clip_id, part in parts.items()
    )[: max(k, 0)]
    if shares is not None:
        shares.update({clip_id: parts[clip_id] for clip_id, _ in fused})
    return _with_raw_scores(fused, {name: list(listed.items()) for name, listed in scores.items()})


def _scales(
    lists: Mapping[str, ScoredIds], weights: Mapping[str, float], best: Mapping[str, float]
) -> dict[str, float]:
    """What each list's scores are multiplied by; lists that have no say are left out."""
    scales = {}
    for name in lists:
        weight = _checked_weight(weights.get(name, 1.0))
        highest = best.get(name, 1.0)
        if weight > 0.0 and highest > 0.0:
            scales[name] = weight / highest
    return scales


def _best_scores(hits: ScoredIds) -> dict[str, float]:
    scores: dict[str, float] = {}
    for clip_id, score in hits:
        if math.isfinite(score):
            scores[clip_id] = max(float(score), scores.get(clip_id, -math.inf))
    return scores
