"""Retrieval metrics in plain Python, so that measuring the search needs no heavy dependency.

Vocabulary, as TREC has it: *qrels* are ``{query id: {clip id: grade}}`` (0 wrong, 1 acceptable,
2 ideal), a *run* is ``{query id: {clip id: score}}``. A run row is ranked by score descending, then
id ascending. On runs without equal scores every metric agrees with trec_eval: ``ndcg@k`` is its
``ndcg_cut_k``, ``recall@k`` its ``recall_k``, ``precision@k`` its ``P_k``, ``map@k`` its ``map_cut_k``
and ``mrr@k`` its ``recip_rank`` over the first k answers. The gain of nDCG is linear (Järvelin and
Kekäläinen, TOIS 2002): the grade itself. Grades below zero gain nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foley_desktop.eval.regression import regression_diff

Grades = Mapping[str, int]
Row = Mapping[str, float]

DEFAULT_METRICS: tuple[str, ...] = ("ndcg@10", "recall@10", "map@10", "mrr@10")
"""The metrics that :func:`evaluate_run` reports; nDCG is the one that gates."""

DEFAULT_CUT = 10
"""The cut of a metric name that states none."""


def ranked_ids(run_q: Row) -> list[str]:
    """The ids of a run row, best first: score descending, then id ascending; NaN ranks last."""
    return sorted(run_q, key=lambda doc: (math.inf if math.isnan(run_q[doc]) else -run_q[doc], doc))


def _top(run_q: Row, k: int) -> list[str]:
    return ranked_ids(run_q)[:k] if k > 0 else []


def _relevant(qrels_q: Grades, rel_lvl: int) -> set[str]:
    return {doc for doc, grade in qrels_q.items() if grade >= rel_lvl}


def _dcg(gains: Iterable[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def ndcg_at_k(qrels_q: Grades, run_q: Row, k: int = 10) -> float:
    """Normalised discounted cumulative gain of the first ``k`` answers, in [0, 1].

    ``sum(grade / log2(rank + 1))`` over the same sum for the ideal order. 0.0 for a query without a
    positive grade and for ``k <= 0``.
    """
    ideal = sorted((grade for grade in qrels_q.values() if grade > 0), reverse=True)[: max(k, 0)]
    if not ideal:
        return 0.0
    return _dcg(max(qrels_q.get(doc, 0), 0) for doc in _top(run_q, k)) / _dcg(ideal)


def recall_at_k(qrels_q: Grades, run_q: Row, k: int = 10, *, rel_lvl: int = 1) -> float:
    """Share of all relevant clips (grade >= ``rel_lvl``) that stand among the first ``k``, in [0, 1]."""
    relevant = _relevant(qrels_q, rel_lvl)
    if not relevant:
        return 0.0
    return len(relevant.intersection(_top(run_q, k))) / len(relevant)


def precision_at_k(qrels_q: Grades, run_q: Row, k: int = 10, *, rel_lvl: int = 1) -> float:
    """Share of ``k`` places that hold a relevant clip, in [0, 1].

    The divisor is ``k`` also where fewer answers were given; 0.0 for ``k <= 0``.
    """
    if k <= 0:
        return 0.0
    return len(_relevant(qrels_q, rel_lvl).intersection(_top(run_q, k))) / k


def average_precision_at_k(qrels_q: Grades, run_q: Row, k: int = 10, *, rel_lvl: int = 1) -> float:
    """Average precision over the first ``k`` answers, in [0, 1].

    The sum of the precisions at each relevant answer, over *all* relevant clips (trec_eval's
    ``map_cut``), not over ``min(relevant, k)``.
    """
    relevant = _relevant(qrels_q, rel_lvl)
    if not relevant:
        return 0.0
    found = 0
    precisions = []
    for rank, doc in enumerate(_top(run_q, k), start=1):
        if doc in relevant:
            found += 1
            precisions.append(found / rank)
    return math.fsum(precisions) / len(relevant)


def mrr_at_k(qrels_q: Grades, run_q: Row, k: int = 10, *, rel_lvl: int = 1) -> float:
    """1 / rank of the first relevant answer among the first ``k``, in [0, 1]; 0.0 if there is none."""
    relevant = _relevant(qrels_q, rel_lvl)
    for rank, doc in enumerate(_top(run_q, k), start=1):
        if doc in relevant:
            return 1.0 / rank
    return 0.0


def mean_over_queries(values: Iterable[float]) -> float:
    """The arithmetic mean, 0.0 of nothing. Exactly summed, so that the order of queries is no matter."""
    values = list(values)
    return math.fsum(values) / len(values) if values else 0.0


Metric = Callable[[Grades, Row, int, int], float]

_METRICS: dict[str, Metric] = {
    "ndcg": lambda qrels_q, run_q, k, _: ndcg_at_k(qrels_q, run_q, k),
    "recall": lambda qrels_q, run_q, k, level: recall_at_k(qrels_q, run_q, k, rel_lvl=level),
    "precision": lambda qrels_q, run_q, k, level: precision_at_k(qrels_q, run_q, k, rel_lvl=level),
    "map": lambda qrels_q, run_q, k, level: average_precision_at_k(qrels_q, run_q, k, rel_lvl=level),
    "mrr": lambda qrels_q, run_q, k, level: mrr_at_k(qrels_q, run_q, k, rel_lvl=level),
}

_METRIC_NAME = re.compile(r"([a-z]+)(?:@(-?[0-9]{1,9}))?")


def parse_metric(name: str) -> tuple[str, int]:
    """``"recall@5"`` into ``("recall", 5)``; a name without a cut means ``@10``.

    Raises:
        ValueError: for a metric that does not exist; the message names those that do.
    """
    match = _METRIC_NAME.fullmatch(name)
    if match is None or match[1] not in _METRICS:
        known = ", ".join(_METRICS)
        raise ValueError(f"unknown metric {name!r}: there are {known}, each with a cut as in ndcg@10")
    return match[1], int(match[2]) if match[2] is not None else DEFAULT_CUT


def metrics_at(k: int) -> tuple[str, ...]:
    """The default metrics cut at ``k`` instead of 10."""
    return tuple(f"{parse_metric(name)[0]}@{k}" for name in DEFAULT_METRICS)


@dataclass
class RetrievalReport:
    """What a run scored: by query and on average.

    ``per_query`` is ``{query id: {metric: value}}``, ``mean`` ``{metric: value}``, ``ranks`` holds the
    1-based rank of each query's best answer (0 where it was not retrieved). ``k`` is the cut the
    report stands for; each metric's own cut is part of its name.
    """

    per_query: dict[str, dict[str, float]] = field(default_factory=dict)
    mean: dict[str, float] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    k: int = 10

    def to_dict(self) -> dict[str, Any]:
        """The report as a JSON document that :meth:`from_dict` reads back without loss."""
        return {
            "k": self.k,
            "mean": dict(self.mean),
            "per_query": {query: dict(values) for query, values in self.per_query.items()},
            "ranks": dict(self.ranks),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> RetrievalReport:
        """Reads what :meth:`to_dict` wrote; further keys are ignored, missing ones get the default.

        Raises:
            ValueError: when a value has the wrong type or is not finite.
        """
        if not isinstance(document, Mapping):
            raise ValueError("a report has to be an object")
        report = cls(
            per_query={
                query: _checked_scores(values, f"per_query of {query}")
                for query, values in _checked_object(document.get("per_query", {}), "per_query").items()
            },
            mean=_checked_scores(document.get("mean", {}), "mean"),
            ranks=dict(_checked_object(document.get("ranks", {}), "ranks")),
            k=document.get("k", cls.k),
        )
        if type(report.k) is not int:
            raise ValueError("k has to be a whole number")
        if any(type(rank) is not int or rank < 0 for rank in report.ranks.values()):
            raise ValueError("ranks have to be whole numbers from 0")
        return report

    def format_regression_diff(self, baseline: RetrievalReport | Mapping[str, Any]) -> str:
        """A text for people: each mean against the baseline's, then the queries to look at.

        ``baseline`` is another report, its JSON document, a saved baseline that holds one under
        ``report``, or a bare ``{metric: mean}``.
        """
        document = baseline.to_dict() if isinstance(baseline, RetrievalReport) else baseline
        return regression_diff(self.to_dict(), document)


def _checked_object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"{what} has to be an object")
    return value


def _checked_scores(value: Any, what: str) -> dict[str, float]:
    scores = dict(_checked_object(value, what))
    for metric, score in scores.items():
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise ValueError(f"{metric} in {what} has to be a finite number")
    return scores


def _best_rank(qrels_q: Grades, run_q: Row) -> int:
    """The 1-based rank of the best-ranked among the highest-graded clips, 0 if none was retrieved."""
    highest = max(qrels_q.values(), default=0)
    if highest <= 0:
        return 0
    for rank, doc in enumerate(ranked_ids(run_q), start=1):
        if qrels_q.get(doc) == highest:
            return rank
    return 0


def evaluate_run(
    run: Mapping[str, Row],
    qrels: Mapping[str, Grades],
    *,
    k: int = 10,
    metrics: Sequence[str] = DEFAULT_METRICS,
    rel_lvl: int = 1,
) -> RetrievalReport:
    """Scores a run against qrels.

    Every query of ``qrels`` is scored, with 0.0 where the run lacks it; run rows without qrels are
    ignored. ``k`` is kept in the report and changes no value: metric names carry their own cut (use
    :func:`metrics_at` to have them all at one). ``rel_lvl`` is the lowest grade that counts as
    relevant for all metrics but nDCG.

    Raises:
        ValueError: for an unknown metric.
    """
    cuts = {name: parse_metric(name) for name in metrics}
    report = RetrievalReport(k=k)
    for query, qrels_q in qrels.items():
        row = run.get(query, {})
        report.per_query[query] = {
            name: float(_METRICS[metric](qrels_q, row, cut, rel_lvl)) for name, (metric, cut) in cuts.items()
        }
        report.ranks[query] = _best_rank(qrels_q, row)
    for name in cuts:
        report.mean[name] = mean_over_queries(values[name] for values in report.per_query.values())
    return report


def build_run(candidates: Iterable[Any]) -> dict[str, float]:
    """An ordered search result as a run row whose scores are distinct.

    Args:
        candidates: Best first, each with ``candidate.sound.id``. A clip that comes twice keeps its
            better place.

    Returns:
        ``{clip id: score}`` with whole scores falling from ``len(candidates)`` to 1, so that the
        row's order is the search's own order, whatever its scores were.
    """
    candidates = list(candidates)
    row: dict[str, float] = {}
    for rank, candidate in enumerate(candidates):
        row.setdefault(candidate.sound.id, float(len(candidates) - rank))
    return row
