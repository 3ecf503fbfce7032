"""Learning the fusion from grades: which weights and depth serve a golden set best, and how sure that is.

Each query's complete score lists are collected once; after that every candidate fusion is a matrix product.
The weights are those of the whole set, but what they promise is measured by cross-validation: for each part
of the queries they are chosen on the others, so that the gain is one on queries that had no say. Nothing is
applied here.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.retrieval import build_run, mean_over_queries, ndcg_at_k
from foley_desktop.eval.significance import Comparison, compare_runs
from foley_desktop.library.evaluation import RUN_DEPTH
from foley_desktop.library.fusing import Fusion
from foley_desktop.library.rankers import RANKERS
from foley_desktop.library.searching import Searcher
from foley_desktop.models import Progress

FEWEST_QUERIES = 20
"""With fewer graded queries a fold of them says nothing about the next query."""

FOLDS = 5
SEED = 0
STEPS = 20
"""Weights are tried in steps of 1 / 20 of their sum."""

DEPTHS = (50, 200)
"""How deep lists are read. With every candidate's scores complete, more depth hardly changes the top."""

_EVEN = 1e-9


@dataclass(frozen=True, slots=True)
class Tuning:
    """What tuning on a golden set found.

    ``fusion`` is best on all queries, ``before`` the one in use. ``training`` is the mean gain in nDCG@k of
    the former on the queries it was chosen on, which flatters it; ``held_out`` compares what each query gets
    from weights chosen without it to what it gets now, with its interval and p-value. ``folds`` are the
    fusions that the parts chose: how much they differ says how certain the choice is.
    """

    fusion: Fusion
    before: Fusion
    k: int
    queries: int
    before_mean: float
    training: float
    held_out: Comparison
    folds: tuple[Fusion, ...]

    @property
    def worthwhile(self) -> bool:
        """Whether the held-out gain is one that chance does not explain."""
        return bool(self.held_out.significant) and self.held_out.difference > 0.0

    def sentence(self) -> str:
        """The outcome with both gains, for a person to decide by."""
        out = self.held_out
        gains = (
            f"Held-out gain {out.difference:+.3f} ({out.low:+.3f} to {out.high:+.3f}), training gain "
            f"{self.training:+.3f} nDCG@{self.k} on {self.queries} queries."
        )
        if self.fusion == self.before:
            return f"The fusion in use is the best there is for this set. {gains}"
        if self.worthwhile:
            return gains
        return f"{gains} The held-out gain may be chance."


@dataclass(frozen=True, slots=True)
class _Table:
    """One query's candidates by id; arrays of shape ``(clips, rankers)``.

    ``scores`` are over each ranker's best, NaN where it knows nothing of a clip; ``ranks`` count from 1,
    0 where its list did not reach the clip.
    """

    ids: list[str]
    scores: np.ndarray
    ranks: np.ndarray
    grades: Mapping[str, int]


def tune(
    texts: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]],
    *,
    searcher: Searcher,
    k: int = 10,
    seed: int = SEED,
) -> Generator[Progress, None, Tuning]:
    """Searches the weights and the depth of the weighted fusion; yields before each query,
    twice.

    Args:
        texts: ``{query id: text}``.
        qrels: Grades by clip id, of the queries that have an answer.
        searcher: Asked for every ranker's lists, and for what the fusion in use gives.
        k: The cut of nDCG, by which fusions are judged.
        seed: Decides which queries make a fold.

    Raises:
        GoldenSetError: fewer than 20 queries have an answer; the sentence says why that matters.
    """
    refuse_too_few(len(qrels))
    queries = sorted(qrels)
    tables: list[_Table | None] = []
    now: dict[str, float] = {}
    before = searcher.fusion
    trials = _trials(before)
    total = 2 * len(queries)
    for done, query in enumerate(queries):
        yield Progress(done, total, texts[query])
        found = searcher.search(texts[query], k=max(RUN_DEPTH, k), mode="hybrid")
        now[query] = ndcg_at_k(qrels[query], build_run(found.hits), k)
        tables.append(_collect(searcher, texts[query], qrels[query], max(*DEPTHS, RUN_DEPTH)))
    values = np.zeros((len(trials), len(queries)))
    for column, (query, table) in enumerate(zip(queries, tables, strict=True)):
        yield Progress(len(queries) + column, total, "Trying weights")
        values[:, column] = now[query] if table is None else _gains(table, trials, k)
    if trials[0] == before:
        values[0] = [now[query] for query in queries]
    best = _best(values.mean(axis=1))
    folds, held_out = _cross_validate(values, queries, seed)
    return Tuning(
        fusion=trials[best],
        before=before,
        k=k,
        queries=len(queries),
        before_mean=mean_over_queries(now.values()),
        training=mean_over_queries(values[best][i] - now[query] for i, query in enumerate(queries)),
        held_out=compare_runs(now, held_out),
        folds=tuple(trials[choice] for choice in folds),
    )


def refuse_too_few(queries: int) -> None:
    """Raises :class:`GoldenSetError` with the reason where a set has too few graded queries to learn from."""
    if queries < FEWEST_QUERIES:
        raise GoldenSetError(
            f"Tuning needs at least {FEWEST_QUERIES} graded queries and this set has {queries}: on fewer, "
            "weights that fit them by chance cannot be told from weights that are better.",
            hint="Grade more queries first.",
        )


def _trials(current: Fusion) -> list[Fusion]:
    """What is tried, in the order of preference among equals.

    The fusion in use comes first, if it is a weighted one, so that an equal one never replaces it; then
    those nearest to the app's own weights.
    """
    own = Fusion().weights
    found = []
    for parts in itertools.product(range(STEPS + 1), repeat=len(RANKERS)):
        if sum(parts) == STEPS:
            weights = {name: part / STEPS for name, part in zip(RANKERS, parts, strict=True)}
            away = sum((weights[name] - own[name] / sum(own.values())) ** 2 for name in RANKERS)
            found.append((round(away, 9), weights))
    found.sort(key=lambda pair: (pair[0], sorted(pair[1].items())))
    trials = [Fusion("weighted", weights, depth) for _, weights in found for depth in DEPTHS]
    return [current, *trials] if current.name == "weighted" and current.depth <= max(DEPTHS) else trials


def _collect(searcher: Searcher, text: str, grades: Mapping[str, int], depth: int) -> _Table | None:
    """Every ranker's list for a query and all scores of whatever is in any; None where nothing is fused."""
    rankers, where = searcher.rankers(text)
    if not rankers.fused:
        return None
    best = rankers.best
    lists = {name: rankers.ranked(name, depth, where) for name in RANKERS}
    ids = sorted({clip for hits in lists.values() for clip, _ in hits})
    place = {clip: row for row, clip in enumerate(ids)}
    scores = np.full((len(ids), len(RANKERS)), np.nan)
    ranks = np.zeros((len(ids), len(RANKERS)), np.int64)
    for column, (name, hits) in enumerate(lists.items()):
        scale = best.get(name, 1.0)
        known = dict(hits)
        more = rankers.scores(name, [clip for clip in ids if clip not in known])
        # A ranker whose best possible score is 0 has no say, as in fuse_scores.
        for clip, score in [*hits, *more.items()] if scale > 0.0 else ():
            scores[place[clip], column] = score / scale
        for rank, (clip, _) in enumerate(hits, start=1):
            ranks[place[clip], column] = rank
    return _Table(ids, scores, ranks, grades)


def _gains(table: _Table, trials: Sequence[Fusion], k: int) -> np.ndarray:
    """nDCG@k of one query under each of the fusions, shape ``(trials,)``."""
    values = np.zeros(len(trials))
    for depth in {fusion.depth for fusion in trials}:
        chosen = [number for number, fusion in enumerate(trials) if fusion.depth == depth]
        weights = np.array([[trials[number].weights[name] for name in RANKERS] for number in chosen])
        tops = _tops(table, weights, max(depth, RUN_DEPTH), k)
        # Most weights put the same clips on top, and each such list needs to be scored but once.
        distinct, which = np.unique(tops, axis=0, return_inverse=True)
        values[chosen] = np.array([_ndcg(table, top, k) for top in distinct])[which.ravel()]
    return values


def _tops(table: _Table, weights: np.ndarray, depth: int, k: int) -> np.ndarray:
    """The first ``k`` rows of a table under weights of shape ``(trials, rankers)``, -1 behind the last.

    They are ranked exactly as :class:`Fusion` ranks its lists. Shape ``(trials, k)``.
    """
    rows = np.flatnonzero(((table.ranks > 0) & (table.ranks <= depth)).any(axis=1))
    scores = np.nan_to_num(table.scores[rows])
    known = ~np.isnan(table.scores[rows])
    # No matrix product: how that sums depends on the machine.
    fused = sum(np.outer(weights[:, column], scores[:, column]) for column in range(len(RANKERS)))
    ranked = sum(np.outer(weights[:, column] > 0.0, known[:, column]) for column in range(len(RANKERS)))
    keys = np.where(ranked, -np.round(fused, 6), np.inf)
    order = np.argsort(keys, axis=1, kind="stable")[:, :k]
    return np.where(np.take_along_axis(keys, order, axis=1) < np.inf, rows[order], -1)


def _ndcg(table: _Table, top: np.ndarray, k: int) -> float:
    return ndcg_at_k(table.grades, {table.ids[row]: -float(r) for r, row in enumerate(top) if row >= 0}, k)


def _best(means: np.ndarray) -> int:
    """The first trial that no other beats by more than rounding."""
    return int(np.flatnonzero(means >= means.max() - _EVEN)[0])


def _cross_validate(
    values: np.ndarray, queries: Sequence[str], seed: int
) -> tuple[list[int], dict[str, float]]:
    """The trial that each fold's other queries choose, and what each query gets from its fold's choice."""
    order = np.random.RandomState(seed).permutation(len(queries))
    choices: list[int] = []
    held_out: dict[str, float] = {}
    for fold in range(FOLDS):
        out = order[fold::FOLDS]
        choice = _best(np.delete(values, out, axis=1).mean(axis=1))
        choices.append(choice)
        held_out |= {queries[i]: float(values[choice, i]) for i in out}
    return choices, held_out
