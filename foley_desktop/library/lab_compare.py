"""Two measurements held against each other: what changed, whether that can be chance, and why it changed.

Against a baseline both runs are scored with today's judgements, over the queries that both have. Where a
good clip fell, it matters whether something graded worse took its place or something nobody has graded:
the first is a fault of the search, the second may be a find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.compare import (
    DEFAULT_TOLERANCE,
    check_comparable,
    gate,
    rescore,
    run_of_ranks,
)
from foley_desktop.eval.judged import Displacement, condensed, displaced
from foley_desktop.eval.retrieval import RetrievalReport, evaluate_run, mean_over_queries
from foley_desktop.eval.significance import Comparison, compare_runs
from foley_desktop.library.evaluation import RUN_DEPTH
from foley_desktop.library.lab import LabReport
from foley_desktop.models import Mode


@dataclass(frozen=True, slots=True)
class QueryChange:
    """One query, new minus old: ``{metric: difference}``, the same without unjudged clips, and what fell."""

    difference: dict[str, float]
    condensed: dict[str, float]
    displaced: tuple[Displacement, ...]

    @property
    def by_worse(self) -> bool:
        """Whether a good clip was overtaken by something graded worse."""
        return any(one.worse for one in self.displaced)

    @property
    def by_unjudged(self) -> tuple[str, ...]:
        """The clips without a grade that overtook good ones, each once."""
        return tuple(dict.fromkeys(clip for one in self.displaced for clip in one.unjudged))


@dataclass(frozen=True, slots=True)
class LabComparison:
    """One mode, old against new.

    ``statistics`` holds the paired comparison of each metric, ``condensed`` the same without clips that
    nobody graded. ``notes`` say what differs between the two besides the run. ``passed`` says whether
    the mean nDCG is above the ``floor``.
    """

    mode: Mode
    notes: tuple[str, ...]
    old: RetrievalReport
    new: RetrievalReport
    statistics: dict[str, Comparison]
    condensed: dict[str, Comparison]
    changes: dict[str, QueryChange]
    left_out: tuple[str, ...]
    floor: float
    passed: bool

    @property
    def text(self) -> str:
        """The regression diff, to be copied."""
        return self.new.format_regression_diff(self.old)

    @property
    def to_grade(self) -> dict[str, list[str]]:
        """``{query id: clip ids}`` that overtook good clips and have no grade: what to grade next."""
        found = {query: list(change.by_unjudged) for query, change in self.changes.items()}
        return {query: clips for query, clips in found.items() if clips}

    def sorted_differences(self, metric: str) -> list[tuple[str, float]]:
        """``(query id, difference)``, the worst loss first."""
        pairs = [(query, change.difference[metric]) for query, change in self.changes.items()]
        return sorted(pairs, key=lambda pair: (pair[1], pair[0]))


def against_baseline(
    report: LabReport, mode: Mode, baseline: Mapping[str, Any], tolerance: float = DEFAULT_TOLERANCE
) -> LabComparison:
    """Compares one mode of a report with a baseline document, both scored with today's judgements.

    Raises:
        GoldenSetError: the baseline is of another mode or golden set, keeps no run, or its run is not
            deep enough; or this mode was not measured.
    """
    _check_measured(report, mode)
    current = report.baseline_document(mode)
    notes = check_comparable(baseline, current, same_cut=False)
    if not baseline.get("run"):
        raise GoldenSetError(
            "The baseline keeps no run, so it cannot be scored with today's judgements.",
            hint="Save a new one.",
        )
    settings = report.settings
    if settings.k > max(RUN_DEPTH, baseline["k"]):
        raise GoldenSetError(
            f"The run of the baseline is not deep enough for k = {settings.k}.",
            hint=f"Measure at k = {max(RUN_DEPTH, baseline['k'])} or less.",
        )
    for key in ("library_hash", "library_size"):
        if key in baseline and baseline[key] != current[key]:
            then, now = baseline.get("library_size", "unknown"), current["library_size"]
            notes.append(f"The library differs: {then} clips then, {now} now.")
            break
    if (baseline.get("left_out") or "") != settings.left_out:
        notes.append("A folder was left out in one of the two.")
    run = run_of_ranks(report.results[mode].run)
    options: dict[str, Any] = {"k": settings.k, "rel_lvl": settings.rel_lvl}
    both = rescore(baseline, run, report.qrels, report.texts, metrics=settings.names, **options)
    if both.left_out:
        notes.append(f"Queries that the baseline does not have are left out: {len(both.left_out)}.")
    qrels = {query: report.qrels[query] for query in both.new.per_query}
    return _comparison(
        report,
        mode,
        (run_of_ranks({query: baseline["run"][query] for query in qrels}), qrels, both.old),
        (run, qrels, both.new),
        notes=notes,
        left_out=both.left_out,
        tolerance=tolerance,
    )


def between_reports(
    before: LabReport, after: LabReport, mode: Mode, tolerance: float = DEFAULT_TOLERANCE
) -> LabComparison:
    """Compares two measurements of one set, each scored with the grades it was measured with.

    That is how a measurement without a folder is held against one with it: what only that folder can
    answer does not count against the search that had to do without.

    Raises:
        GoldenSetError: the two are of different sets or cuts, or one lacks this mode.
    """
    for report in (before, after):
        _check_measured(report, mode)
    if before.conditions["set_id"] != after.conditions["set_id"] or before.texts.keys().isdisjoint(
        after.texts
    ):
        raise GoldenSetError("The two measurements are of different golden sets.")
    if before.settings.names != after.settings.names or before.settings.rel_lvl != after.settings.rel_lvl:
        raise GoldenSetError("The two measurements have different metrics.")
    common = [query for query in after.qrels if before.texts.get(query) == after.texts[query]]
    sides = []
    for report in (before, after):
        qrels = {query: report.qrels[query] for query in common}
        scored = _only(report.results[mode].report, common)
        sides.append((run_of_ranks(report.results[mode].run), qrels, scored))
    notes = [
        f"Measured without {report.settings.left_out} {when}."
        for report, when in ((before, "before"), (after, "now"))
        if report.settings.left_out
    ]
    left_out = tuple(query for query in after.qrels if query not in common)
    return _comparison(after, mode, sides[0], sides[1], notes=notes, left_out=left_out, tolerance=tolerance)


_Side = tuple[dict[str, dict[str, float]], dict[str, dict[str, int]], RetrievalReport]


def _comparison(
    report: LabReport,
    mode: Mode,
    old: _Side,
    new: _Side,
    *,
    notes: Sequence[str],
    left_out: Sequence[str],
    tolerance: float,
) -> LabComparison:
    (old_run, old_qrels, old_report), (new_run, new_qrels, new_report) = old, new
    settings = report.settings
    options: dict[str, Any] = {"k": settings.k, "metrics": settings.names, "rel_lvl": settings.rel_lvl}
    old_clean = evaluate_run(condensed(old_run, old_qrels), old_qrels, **options)
    new_clean = evaluate_run(condensed(new_run, new_qrels), new_qrels, **options)
    ndcg = f"ndcg@{settings.k}"
    gated = [evaluate_run(run, qrels, k=settings.k, metrics=(ndcg,)) for run, qrels, _ in (old, new)]
    lowest = gated[0].mean[ndcg] - tolerance
    changes = {
        query: QueryChange(
            _difference(old_report, new_report, query),
            _difference(old_clean, new_clean, query),
            tuple(displaced(row, list(old_run[query]), list(new_run[query]), settings.k)),
        )
        for query, row in new_qrels.items()
    }
    return LabComparison(
        mode=mode,
        notes=tuple(notes),
        old=old_report,
        new=new_report,
        statistics={name: _paired(old_report, new_report, name) for name in settings.names},
        condensed={name: _paired(old_clean, new_clean, name) for name in settings.names},
        changes=changes,
        left_out=tuple(left_out),
        floor=lowest,
        passed=gate(gated[1], {"k": settings.k, "report": gated[0].to_dict()}, tolerance),
    )


def _check_measured(report: LabReport, mode: Mode) -> None:
    if mode not in report.results:
        raise GoldenSetError(f"The mode {mode} was not measured.")


def _only(report: RetrievalReport, queries: Sequence[str]) -> RetrievalReport:
    per_query = {query: report.per_query[query] for query in queries}
    mean = {name: mean_over_queries(row[name] for row in per_query.values()) for name in report.mean}
    return RetrievalReport(per_query, mean, {query: report.ranks[query] for query in queries}, report.k)


def _difference(old: RetrievalReport, new: RetrievalReport, query: str) -> dict[str, float]:
    before = old.per_query[query]
    return {name: value - before[name] for name, value in new.per_query[query].items()}


def _paired(old: RetrievalReport, new: RetrievalReport, metric: str) -> Comparison:
    return compare_runs(
        {query: values[metric] for query, values in old.per_query.items()},
        {query: values[metric] for query, values in new.per_query.items()},
    )
