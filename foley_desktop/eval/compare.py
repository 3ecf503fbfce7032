"""Baselines: a saved report with what it was measured on, and the gate against falling below it.

A baseline document is ``{"mode", "golden_hash", "embedder", "fusion", "k", "report": {...}}`` and may
carry further keys. Two measurements can be compared when mode, golden set and cut are the same; another
embedder or fusion is what a comparison is for, so it is named and the gate still holds.

The same golden set is one with the same content (``golden_hash``), or the same set grown (``set_id``). A
set that has grown needs the baseline's own run: ``"run": {query id: [clip id, ...]}``, best first, and
``"texts": {query id: text}``. Old and new are then both scored with today's judgements, over the queries
that both have.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.files import read_json, write_text
from foley_desktop.eval.retrieval import DEFAULT_METRICS, RetrievalReport, evaluate_run, ranked_ids

DEFAULT_TOLERANCE = 0.02
"""How far nDCG may fall below the baseline's before the gate closes."""

# A fall of exactly the tolerance passes, whatever the last bit of the subtraction says.
_ROUNDING = 1e-9


def make_baseline(
    report: RetrievalReport, *, mode: str, golden_hash: str, embedder: str, fusion: str, **further: Any
) -> dict[str, Any]:
    """The document of a measurement; ``further`` are JSON values to keep beside it."""
    return {
        **further,
        "mode": mode,
        "golden_hash": golden_hash,
        "embedder": embedder,
        "fusion": fusion,
        "k": report.k,
        "report": report.to_dict(),
    }


def save_baseline(path: str | os.PathLike[str], document: Mapping[str, Any]) -> None:
    """Writes a baseline document as JSON.

    Raises:
        GoldenSetError: when it is no baseline or cannot be written.
    """
    _check_document(document)
    write_text(path, json.dumps(document, indent=1, sort_keys=True) + "\n", "baseline")


def load_baseline(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads a baseline document, further keys included.

    Raises:
        GoldenSetError: one sentence that says what is wrong with the file.
    """
    document = read_json(path, "baseline")
    _check_document(document)
    return document


def _check_document(document: Any) -> None:
    if not isinstance(document, Mapping):
        raise GoldenSetError("A baseline has to be a JSON object.")
    for key in ("mode", "golden_hash", "embedder", "fusion"):
        if not isinstance(document.get(key), str):
            raise GoldenSetError(f"The baseline lacks its {key}.", hint="Save one with evaluate --save.")
    if type(document.get("k")) is not int:
        raise GoldenSetError("The baseline lacks its k.", hint="Save one with evaluate --save.")
    baseline_ndcg(document)
    _check_run(document)


def _check_run(document: Mapping[str, Any]) -> None:
    run, texts = document.get("run", {}), document.get("texts", {})
    if not (isinstance(run, Mapping) and all(_is_ids(row) for row in run.values())):
        raise GoldenSetError("The run of the baseline is damaged.")
    if not (isinstance(texts, Mapping) and all(isinstance(text, str) for text in texts.values())):
        raise GoldenSetError("The query texts of the baseline are damaged.")


def _is_ids(row: Any) -> bool:
    return isinstance(row, list) and all(isinstance(clip, str) for clip in row)


def ranked_run(run: Mapping[str, Mapping[str, float]]) -> dict[str, list[str]]:
    """A run as a baseline keeps it: ``{query id: [clip id, ...]}``, best first, without scores."""
    return {query: ranked_ids(row) for query, row in run.items()}


def run_of_ranks(ranked: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """A run whose scores are whole numbers that fall by one from place to place."""
    return {
        query: {clip: float(len(row) - place) for place, clip in enumerate(row)}
        for query, row in ranked.items()
    }


def _metric(document: Mapping[str, Any]) -> str:
    return f"ndcg@{document['k']}"


def baseline_report(document: Mapping[str, Any]) -> RetrievalReport:
    """The report of a baseline document.

    Raises:
        GoldenSetError: when it has none or a damaged one.
    """
    try:
        return RetrievalReport.from_dict(document["report"])
    except KeyError as error:
        raise GoldenSetError("The baseline lacks its report.", cause=error) from error
    except ValueError as error:
        raise GoldenSetError(f"The report of the baseline is damaged: {error}.", cause=error) from error


def baseline_ndcg(document: Mapping[str, Any]) -> float:
    """The baseline's mean nDCG at its own cut, the number that gates.

    Raises:
        GoldenSetError: when the document has none.
    """
    mean = baseline_report(document).mean
    if _metric(document) not in mean:
        raise GoldenSetError(f"The report of the baseline lacks {_metric(document)}.")
    return mean[_metric(document)]


def check_comparable(
    baseline: Mapping[str, Any], current: Mapping[str, Any], *, same_cut: bool = True
) -> list[str]:
    """Whether a measurement may be held against a baseline.

    Args:
        baseline: A baseline document.
        current: The document of the present measurement, or its ``mode``, ``golden_hash``,
            ``embedder``, ``fusion`` and ``k``, and ``set_id`` if it has one.
        same_cut: Refuse another cut. Where both are scored anew the cut is no matter.

    Returns:
        One sentence for each difference that does not forbid the comparison.

    Raises:
        GoldenSetError: when mode, golden set or cut differ.
    """
    if baseline["mode"] != current["mode"]:
        raise GoldenSetError(
            f"The baseline was measured in mode {baseline['mode']}, this run in mode {current['mode']}."
        )
    changed = baseline["golden_hash"] != current["golden_hash"]
    if changed and not _has_grown(baseline, current):
        raise GoldenSetError("The baseline was measured with another golden set.")
    if same_cut and baseline["k"] != current["k"]:
        raise GoldenSetError(
            f"The baseline was measured at k = {baseline['k']}, this run at k = {current['k']}."
        )
    notes = ["The golden set has changed since the baseline: both are scored with today's judgements."]
    return notes[: int(changed)] + [
        f"The {key} differs: {baseline[key]} in the baseline, {current[key]} now."
        for key in ("embedder", "fusion")
        if baseline[key] != current[key]
    ]


def _has_grown(baseline: Mapping[str, Any], current: Mapping[str, Any]) -> bool:
    return bool(baseline.get("run") and current.get("set_id")) and baseline.get("set_id") == current["set_id"]


@dataclass(frozen=True, slots=True)
class Rescored:
    """A baseline's run and a present one, both scored with the same judgements over the same queries.

    ``left_out`` are the queries that the baseline did not run, or ran with another text.
    """

    old: RetrievalReport
    new: RetrievalReport
    left_out: tuple[str, ...] = ()


def rescore(
    baseline: Mapping[str, Any],
    run: Mapping[str, Mapping[str, float]],
    qrels: Mapping[str, Mapping[str, int]],
    texts: Mapping[str, str],
    *,
    k: int = 10,
    metrics: Sequence[str] = DEFAULT_METRICS,
    rel_lvl: int = 1,
) -> Rescored:
    """Scores a baseline's run and the present ``run`` with the judgements ``qrels``.

    Args:
        baseline: A document with ``run`` and ``texts``.
        run: ``{query id: {clip id: score}}``.
        qrels: Only queries that have an answer.
        texts: What each query asked.
        k: The cut that both reports stand for.
        metrics: As in :func:`foley_desktop.eval.retrieval.evaluate_run`.
        rel_lvl: As there.

    Raises:
        GoldenSetError: when there is no query that both have.
        ValueError: for an unknown metric.
    """
    old_run, old_texts = baseline.get("run") or {}, baseline.get("texts") or {}
    common = {
        query: row
        for query, row in qrels.items()
        if query in old_run and query in run and old_texts.get(query) == texts.get(query)
    }
    if not common:
        raise GoldenSetError("The baseline and this run have no query in common.")
    options: dict[str, Any] = {"k": k, "metrics": metrics, "rel_lvl": rel_lvl}
    return Rescored(
        evaluate_run(run_of_ranks({query: old_run[query] for query in common}), common, **options),
        evaluate_run(run, common, **options),
        tuple(query for query in qrels if query not in common),
    )


def floor(baseline: Mapping[str, Any], tolerance: float = DEFAULT_TOLERANCE) -> float:
    """The lowest mean nDCG that passes: the baseline's minus ``tolerance``.

    Raises:
        GoldenSetError: when the baseline has no nDCG at its cut.
        ValueError: for a tolerance below 0.
    """
    if not (math.isfinite(tolerance) and tolerance >= 0.0):
        raise ValueError(f"a tolerance has to be a number from 0, not {tolerance}")
    return baseline_ndcg(baseline) - tolerance


def gate(report: RetrievalReport, baseline: Mapping[str, Any], tolerance: float = DEFAULT_TOLERANCE) -> bool:
    """True when the report's mean nDCG at the baseline's cut is not below the floor.

    Raises:
        GoldenSetError: when either side lacks that metric.
        ValueError: for a tolerance below 0.
    """
    lowest = floor(baseline, tolerance)
    if _metric(baseline) not in report.mean:
        raise GoldenSetError(f"This run did not measure {_metric(baseline)}, by which the baseline gates.")
    return report.mean[_metric(baseline)] >= lowest - _ROUNDING
