"""The measurement of the relevance lab: one golden set through several modes, side by side.

A laboratory's manners: the report names everything that is needed to repeat it, and the same library, set
and settings give the same bytes. What a clock says is no part of it, so latencies are kept beside it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foley_desktop.errors import GoldenSetError, UnknownClipError
from foley_desktop.eval.compare import make_baseline, ranked_run, run_of_ranks
from foley_desktop.eval.files import shown
from foley_desktop.eval.golden import GoldenSet, ResolvedSet, resolve
from foley_desktop.eval.judged import condensed, judged_at_k, unjudged
from foley_desktop.eval.retrieval import (
    DEFAULT_METRICS,
    RetrievalReport,
    build_run,
    evaluate_run,
    parse_metric,
)
from foley_desktop.eval.significance import DEFAULT_RESAMPLES, bootstrap_interval
from foley_desktop.eval.trec import write_qrels, write_run
from foley_desktop.library.evaluation import RUN_DEPTH
from foley_desktop.models import MODES, Mode, Progress, SearchResult

METRICS: tuple[str, ...] = ("ndcg", "recall", "precision", "map", "mrr")
"""Everything that can be measured, without a cut."""

CONFIDENCE = 0.95

Search = Callable[[str, int, Mode], SearchResult]


@dataclass(frozen=True, slots=True)
class LabSettings:
    """What is measured.

    ``metrics`` are names without a cut, ``k`` is the cut of all of them. ``rel_lvl`` is the lowest grade
    that counts as relevant (1 or 2) for all but nDCG. ``left_out`` is the path of a folder that is
    searched without; ``graders`` whose grades count, None for everybody's.

    Raises:
        ValueError: for what does not exist.
    """

    modes: tuple[Mode, ...] = MODES
    k: int = 10
    metrics: tuple[str, ...] = tuple(parse_metric(name)[0] for name in DEFAULT_METRICS)
    rel_lvl: int = 1
    left_out: str = ""
    graders: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for chosen, known in ((self.modes, MODES), (self.metrics, METRICS)):
            if not chosen or len(set(chosen)) != len(chosen) or not set(chosen) <= set(known):
                raise ValueError(f"{chosen} is no choice of {', '.join(known)}")
        if self.k < 1 or self.rel_lvl not in (1, 2):
            raise ValueError("the cut has to be 1 or more, the lowest relevant grade 1 or 2")

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics with their cut, ``ndcg@10``."""
        return tuple(f"{metric}@{self.k}" for metric in self.metrics)

    @property
    def depth(self) -> int:
        """How many answers each search is asked for."""
        return max(RUN_DEPTH, self.k)

    def describe(self) -> dict[str, Any]:
        """The settings as a report states them."""
        return {
            "modes": list(self.modes),
            "k": self.k,
            "metrics": list(self.names),
            "rel_lvl": self.rel_lvl,
            "depth": self.depth,
            "left_out": self.left_out,
            "graders": None if self.graders is None else list(self.graders),
            "intervals": {"confidence": CONFIDENCE, "resamples": DEFAULT_RESAMPLES, "seed": 0},
        }


@dataclass(frozen=True, slots=True)
class ModeResult:
    """What one mode scored. By query id: ``judged`` judged@k, ``unjudged`` clips without a grade.

    ``condensed`` is the report over lists without clips that nobody graded. ``intervals`` bound each mean,
    ``{metric: (low, high)}``. ``run`` holds the ranked clip ids.
    """

    report: RetrievalReport
    condensed: RetrievalReport
    judged: dict[str, float]
    unjudged: dict[str, list[str]]
    intervals: dict[str, tuple[float, float]]
    run: dict[str, list[str]]

    def to_dict(self) -> dict[str, Any]:
        return {
            "report": self.report.to_dict(),
            "condensed": self.condensed.to_dict(),
            "judged": self.judged,
            "unjudged": self.unjudged,
            "intervals": {metric: list(bounds) for metric, bounds in self.intervals.items()},
            "run": self.run,
        }


@dataclass(frozen=True, slots=True)
class LabReport:
    """A golden set measured.

    ``conditions`` name what is needed to repeat it. ``qrels`` are the grades by clip id that were used,
    of the queries that have an answer; ``unanswerable`` are the others, ``unknown_clips`` graded clips
    that the library does not have, ``notices`` what searches had to say. ``latency_ms`` is
    ``{mode: {query id: ms}}`` and no part of the document.
    """

    settings: LabSettings
    conditions: dict[str, Any]
    texts: dict[str, str]
    qrels: dict[str, dict[str, int]]
    unanswerable: tuple[str, ...]
    unknown_clips: tuple[str, ...]
    notices: tuple[str, ...]
    results: dict[Mode, ModeResult]
    latency_ms: dict[Mode, dict[str, float]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The report as a JSON document; the same for the same library, set and settings."""
        return {
            "conditions": self.conditions,
            "queries": self.texts,
            "qrels": self.qrels,
            "unanswerable": list(self.unanswerable),
            "unknown_clips": list(self.unknown_clips),
            "notices": list(self.notices),
            "modes": {mode: result.to_dict() for mode, result in self.results.items()},
        }

    def to_json(self) -> str:
        """The document as text, in ASCII, keys sorted."""
        return json.dumps(self.to_dict(), indent=1, sort_keys=True, allow_nan=False) + "\n"

    def write_trec(self, folder: Path) -> None:
        """Writes ``qrels.txt`` and a ``run-MODE.txt`` for each mode into ``folder``, which is made.

        Raises:
            GoldenSetError: when a file cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GoldenSetError(f"The folder {shown(folder)} cannot be made.", cause=error) from error
        write_qrels(folder / "qrels.txt", self.qrels)
        for mode, result in self.results.items():
            write_run(folder / f"run-{mode}.txt", run_of_ranks(result.run), tag=f"foley-{mode}")

    def baseline_document(self, mode: Mode, **further: Any) -> dict[str, Any]:
        """One mode's result as a baseline; ``further`` are values to keep beside it.

        A report that does not hold nDCG gets it, because that is what gates.
        """
        result, conditions = self.results[mode], dict(self.conditions)
        ndcg = f"ndcg@{self.settings.k}"
        report = result.report
        if ndcg not in report.mean:
            more = evaluate_run(
                run_of_ranks(result.run), self.qrels, k=report.k, metrics=(*report.mean, ndcg)
            )
            report = RetrievalReport(more.per_query, more.mean | report.mean, report.ranks, report.k)
        return make_baseline(
            report,
            mode=mode,
            golden_hash=conditions.pop("golden_hash"),
            embedder=conditions.pop("embedder"),
            fusion=conditions.pop("fusion"),
            run=result.run,
            texts=self.texts,
            **conditions,
            **further,
        )


def measure(
    golden: GoldenSet,
    settings: LabSettings,
    *,
    search: Search,
    find_id: Callable[[str], str],
    conditions: Callable[[], Mapping[str, Any]],
    without: Collection[str] = (),
) -> Generator[Progress, None, LabReport]:
    """Runs the queries of a golden set through every mode and scores them.

    Yields before each search and each interval, so that closing takes effect after one of them at most.

    Args:
        golden: The set.
        settings: What to measure.
        search: ``(text, depth, mode) -> SearchResult``.
        find_id: Clip id for an id or path; raises UnknownClipError.
        conditions: What the report has to name besides the settings; asked before and after.
        without: Ids of clips that are searched without. Grades of theirs do not count.

    Raises:
        GoldenSetError: no query of the set has an answer.
    """
    before = dict(conditions())
    yield Progress(0, 0, "Looking up clips")
    resolved = _resolved(golden, find_id, frozenset(without))
    if not resolved.qrels:
        raise GoldenSetError("No query of this golden set has an answer yet.", hint="Grade some clips first.")
    texts = {query.id: query.text for query in golden.queries if query.id in resolved.qrels}
    steps = [(query, mode) for query in texts for mode in settings.modes]
    runs: dict[Mode, dict[str, dict[str, float]]] = {mode: {} for mode in settings.modes}
    latency: dict[Mode, dict[str, float]] = {mode: {} for mode in settings.modes}
    notices: set[str] = set()
    started = time.monotonic()
    for done, (query, mode) in enumerate(steps):
        elapsed = time.monotonic() - started
        rate = done / elapsed if done and elapsed > 0 else None
        remaining = (len(steps) - done) / rate if rate else None
        yield Progress(done, len(steps), f"{mode}: {texts[query]}", rate, remaining)
        result = search(texts[query], settings.depth, mode)
        runs[mode][query] = build_run(result.hits)
        latency[mode][query] = result.took_ms
        notices.update(result.notices)
    results = {}
    for mode, run in runs.items():
        scored = score(run, resolved.qrels, settings)
        for metric in settings.names:
            yield Progress(len(steps), len(steps), f"{mode}: how sure {metric} is")
            values = [row[metric] for _, row in sorted(scored.report.per_query.items())]
            scored.intervals[metric] = bootstrap_interval(values, confidence=CONFIDENCE)
        results[mode] = scored
    if dict(conditions()) != before:
        notices.add("The library or its settings changed while they were measured.")
    return LabReport(
        settings=settings,
        conditions=before | settings.describe(),
        texts=texts,
        qrels=resolved.qrels,
        unanswerable=tuple(resolved.unanswerable),
        unknown_clips=tuple(resolved.unknown),
        notices=tuple(sorted(notices)),
        results=results,
        latency_ms=latency,
    )


def score(
    run: Mapping[str, Mapping[str, float]], qrels: Mapping[str, Mapping[str, int]], settings: LabSettings
) -> ModeResult:
    """What is said about one mode's run, but for the intervals of the means."""
    options: dict[str, Any] = {"k": settings.k, "metrics": settings.names, "rel_lvl": settings.rel_lvl}
    report = evaluate_run(run, qrels, **options)
    return ModeResult(
        report=report,
        condensed=evaluate_run(condensed(run, qrels), qrels, **options),
        judged={query: judged_at_k(row, run.get(query, {}), settings.k) for query, row in qrels.items()},
        unjudged={query: unjudged(row, run.get(query, {}), settings.k) for query, row in qrels.items()},
        intervals={},
        run=ranked_run(run),
    )


def _resolved(golden: GoldenSet, find_id: Callable[[str], str], without: frozenset[str]) -> ResolvedSet:
    def lookup(key: str) -> str | None:
        try:
            return find_id(key) or None
        except UnknownClipError:
            return None

    resolved = resolve(golden, lookup)
    if not without:
        return resolved
    kept = {
        query: {clip: grade for clip, grade in row.items() if clip not in without}
        for query, row in resolved.qrels.items()
    }
    qrels = {query: row for query, row in kept.items() if any(row.values())}
    unanswerable = [query.id for query in golden.queries if query.id not in qrels]
    return ResolvedSet(qrels, unanswerable, resolved.unknown)
