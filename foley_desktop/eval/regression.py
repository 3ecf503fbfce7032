"""The text that says where a run differs from a baseline, kept apart from the arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LISTED_QUERIES = 10
"""How many queries each list of the text names."""


def regression_diff(current: Mapping[str, Any], baseline: Mapping[str, Any]) -> str:
    """Means against the baseline's with signed differences, the queries that fell, the lowest ones.

    Args:
        current: A report as ``RetrievalReport.to_dict`` gives it.
        baseline: The same, or a document that holds it under ``report``, or ``{metric: mean}``.
    """
    baseline = _unwrap(baseline)
    old_queries = _object(baseline.get("per_query"))
    lines = [f"mean over {_count(current['per_query'])} against the baseline"]
    if old_queries and len(old_queries) != len(current["per_query"]):
        lines[0] += f" over {_count(old_queries)}"
    lines += _mean_lines(current["mean"], _numbers(baseline.get("mean")))
    metric = _leading_metric(current["mean"])
    if metric is not None:
        lines += _fallen_lines(current, old_queries, metric)
        lines += _lowest_lines(current, metric)
    return "\n".join(lines)


def _unwrap(baseline: Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(baseline.get("report"), Mapping):
        return baseline["report"]
    if "mean" in baseline or "per_query" in baseline:
        return baseline
    return {"mean": baseline}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _numbers(value: Any) -> dict[str, float]:
    """The numbers of a saved object; whatever else a file may hold there cannot be compared."""
    return {
        name: number
        for name, number in _object(value).items()
        if isinstance(number, int | float) and not isinstance(number, bool)
    }


def _count(queries: Mapping[str, Any]) -> str:
    return "1 query" if len(queries) == 1 else f"{len(queries)} queries"


def _leading_metric(mean: Mapping[str, float]) -> str | None:
    """The metric queries are ordered by: nDCG where it was measured, else the first one."""
    return next((name for name in mean if name.partition("@")[0] == "ndcg"), next(iter(mean), None))


def _mean_lines(mean: Mapping[str, float], old: Mapping[str, float]) -> list[str]:
    lines = []
    for name in [*mean, *(name for name in old if name not in mean)]:
        if name not in mean:
            lines.append(f"  {name:<14} baseline {old[name]:.4f}  now not measured")
        elif name not in old:
            lines.append(f"  {name:<14} baseline not measured  now {mean[name]:.4f}")
        else:
            change = mean[name] - old[name]
            lines.append(f"  {name:<14} baseline {old[name]:.4f}  now {mean[name]:.4f}  {change:+.4f}")
    return lines


def _place(current: Mapping[str, Any], query: str) -> str:
    rank = current["ranks"].get(query, 0)
    return f"best answer at rank {rank}" if rank else "best answer not retrieved"


def _fallen_lines(current: Mapping[str, Any], old: Mapping[str, Any], metric: str) -> list[str]:
    changes = []
    for query, values in current["per_query"].items():
        before = _numbers(old.get(query)).get(metric)
        if before is not None and values[metric] < before:
            changes.append((values[metric] - before, query, before, values[metric]))
    if not changes:
        return []
    lines = [f"queries that fell most in {metric} ({len(changes)} fell)"]
    for change, query, before, now in sorted(changes)[:LISTED_QUERIES]:
        lines.append(
            f"  {query}  baseline {before:.4f}  now {now:.4f}  {change:+.4f}  {_place(current, query)}"
        )
    return lines


def _lowest_lines(current: Mapping[str, Any], metric: str) -> list[str]:
    low = sorted(
        (values[metric], query) for query, values in current["per_query"].items() if values[metric] < 1.0
    )
    if not low:
        return []
    lines = [f"worst queries by {metric}"]
    lines += [f"  {query}  {value:.4f}  {_place(current, query)}" for value, query in low[:LISTED_QUERIES]]
    return lines
