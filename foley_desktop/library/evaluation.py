"""Runs a golden set through the search and turns the outcome into a report.

The measuring itself is in ``foley_desktop.eval``; this module brings the two together: it looks
clips up, searches query by query as a cancellable job, and keeps what is needed to repeat it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from foley_desktop.errors import UnknownClipError
from foley_desktop.eval.compare import DEFAULT_TOLERANCE, check_comparable, gate, ranked_run, rescore
from foley_desktop.eval.golden import GoldenSet, golden_hash, resolve
from foley_desktop.eval.retrieval import RetrievalReport, build_run, evaluate_run, metrics_at
from foley_desktop.eval.trec import write_qrels, write_run
from foley_desktop.models import Mode, Progress, SearchResult

RUN_DEPTH = 100
"""How deep a run is at least: missing answers are looked for this far down."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A report with everything that stands behind it.

    ``run`` is ``{qid: {clip_id: score}}``, ``qrels`` the judgements by clip id, ``texts`` the query
    texts, ``latency_ms`` the time of each search, ``meta`` what is needed to repeat the measurement
    (golden hash, embedder, fusion, library size).
    """

    mode: Mode
    k: int
    report: RetrievalReport
    run: dict[str, dict[str, float]]
    qrels: dict[str, dict[str, int]]
    texts: dict[str, str]
    unanswerable: list[str]
    unknown_clips: list[str]
    latency_ms: dict[str, float] = field(default_factory=dict)
    answerable: dict[str, float] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)

    def baseline_document(self) -> dict[str, Any]:
        """The report as it is saved as a baseline, with the run and what each query asked."""
        return {
            **self.meta,
            "mode": self.mode,
            "k": self.k,
            "report": self.report.to_dict(),
            "run": ranked_run(self.run),
            "texts": self.texts,
        }

    def write_trec(self, folder: Path) -> None:
        """Writes ``qrels.txt`` and ``run.txt`` in TREC format into ``folder``."""
        folder.mkdir(parents=True, exist_ok=True)
        write_qrels(folder / "qrels.txt", self.qrels)
        write_run(folder / "run.txt", self.run, tag=f"foley-{self.mode}")


def conditions(golden: GoldenSet, mode: Mode, k: int, meta: Mapping[str, Any]) -> dict[str, Any]:
    """What a measurement is known by before it has begun; enough to refuse a baseline at once.

    Args:
        meta: As :meth:`foley_desktop.library.service.LibraryService.measurement_conditions` gives it.
    """
    named = {"golden": golden.name, "golden_hash": golden_hash(golden), "set_id": golden.set_id}
    return {**meta, **named, "mode": mode, "k": k}


class Outcome(NamedTuple):
    """A measurement against a baseline: sentences on what differs, the diff as text, and the gate."""

    notes: list[str]
    text: str
    passed: bool


def hold_against(
    evaluation: Evaluation, baseline: Mapping[str, Any], tolerance: float = DEFAULT_TOLERANCE
) -> Outcome:
    """Compares a measurement with a baseline and says whether it may pass.

    Where the golden set has grown since, both are scored with today's judgements.

    Raises:
        GoldenSetError: the baseline is of another mode, golden set or cut.
    """
    notes = check_comparable(baseline, evaluation.baseline_document())
    report = evaluation.report
    if baseline["golden_hash"] != evaluation.meta["golden_hash"]:
        k = evaluation.k
        both = rescore(
            baseline, evaluation.run, evaluation.qrels, evaluation.texts, k=k, metrics=metrics_at(k)
        )
        if both.left_out:
            notes.append(f"Queries that the baseline does not have are left out: {len(both.left_out)}.")
        baseline, report = {**baseline, "report": both.old.to_dict()}, both.new
    return Outcome(notes, report.format_regression_diff(baseline), gate(report, baseline, tolerance))


def evaluate(
    golden: GoldenSet,
    *,
    search: Callable[[str, int], SearchResult],
    find_id: Callable[[str], str],
    mode: Mode,
    k: int,
    meta: dict[str, Any],
) -> Generator[Progress, None, Evaluation]:
    """Searches every query of ``golden`` and scores the run; yields after each query.

    Args:
        search: ``(text, depth) -> SearchResult``.
        find_id: Clip id for an id or path; raises UnknownClipError.
        k: Cut of the metrics; the run itself is ``max(100, k)`` deep.
    """

    def lookup(key: str) -> str | None:
        try:
            return find_id(key) or None
        except UnknownClipError:
            return None

    resolved = resolve(golden, lookup)
    run: dict[str, dict[str, float]] = {}
    latency: dict[str, float] = {}
    answerable: dict[str, float] = {}
    started = time.monotonic()
    for done, query in enumerate(golden.queries):
        elapsed = time.monotonic() - started
        rate = done / elapsed if done and elapsed > 0 else None
        remaining = (len(golden.queries) - done) / rate if rate else None
        yield Progress(done, len(golden.queries), query.text, rate, remaining)
        result = search(query.text, max(RUN_DEPTH, k))
        run[query.id] = build_run(result.hits)
        latency[query.id] = result.took_ms
        answerable[query.id] = result.answerable
    scored = {qid: row for qid, row in run.items() if qid in resolved.qrels}
    report = evaluate_run(scored, resolved.qrels, k=k, metrics=metrics_at(k))
    yield Progress(len(golden.queries), len(golden.queries), "scoring")
    return Evaluation(
        mode=mode,
        k=k,
        report=report,
        run=run,
        qrels=resolved.qrels,
        texts={query.id: query.text for query in golden.queries},
        unanswerable=list(resolved.unanswerable),
        unknown_clips=list(resolved.unknown),
        latency_ms=latency,
        answerable=answerable,
        meta=conditions(golden, mode, k, meta),
    )
