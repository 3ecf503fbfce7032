"""The per-query table of a report: rows, columns to choose from, filters, and text to copy.

Free of any window, so that what is shown, what is copied and what is tested are the same.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from foley_desktop.eval.compare import run_of_ranks
from foley_desktop.eval.retrieval import evaluate_run
from foley_desktop.library.lab import LabReport
from foley_desktop.library.lab_compare import LabComparison
from foley_desktop.models import Mode

Comparisons = Mapping[Mode, LabComparison]
Value = str | int | float | None

SINGLE_RANKERS: tuple[Mode, ...] = ("keyword", "semantic", "audio")
WORST = 20


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One query of a report. The dictionaries are by mode; those of metrics by mode, then metric.

    ``graded`` counts its clips with a grade, ``unjudged`` the answers among the first k without one,
    ``best_rank`` is that of its best answer (0: not retrieved), ``change`` new minus baseline, where the
    baseline has the query.
    """

    query_id: str
    text: str
    graded: int
    unjudged: Mapping[Mode, int]
    judged: Mapping[Mode, float]
    metrics: Mapping[Mode, Mapping[str, float]]
    condensed: Mapping[Mode, Mapping[str, float]]
    best_rank: Mapping[Mode, int]
    latency_ms: Mapping[Mode, float]
    change: Mapping[Mode, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Column:
    """A column that can be chosen: a stable key, a title, and what stands in a row (None: nothing)."""

    key: str
    title: str
    value: Callable[[QueryRow], Value]


def rows(report: LabReport, comparisons: Comparisons | None = None) -> list[QueryRow]:
    """A row for each query that was measured, in the set's order."""
    comparisons = comparisons or {}
    results = report.results
    return [
        QueryRow(
            query_id=query,
            text=text,
            graded=len(report.qrels[query]),
            unjudged={mode: len(result.unjudged[query]) for mode, result in results.items()},
            judged={mode: result.judged[query] for mode, result in results.items()},
            metrics={mode: result.report.per_query[query] for mode, result in results.items()},
            condensed={mode: result.condensed.per_query[query] for mode, result in results.items()},
            best_rank={mode: result.report.ranks[query] for mode, result in results.items()},
            latency_ms={mode: times[query] for mode, times in report.latency_ms.items()},
            change={
                mode: comparison.changes[query].difference
                for mode, comparison in comparisons.items()
                if query in comparison.changes
            },
        )
        for query, text in report.texts.items()
    ]


def columns(report: LabReport, comparisons: Comparisons | None = None) -> list[Column]:
    """Every column that this report can fill."""
    found = [
        Column("query", "Query", lambda row: row.text),
        Column("id", "Id", lambda row: row.query_id),
        Column("graded", "Graded", lambda row: row.graded),
    ]
    k = report.settings.k
    for mode in report.results:
        for metric in report.settings.names:
            found += _metric_columns(mode, metric, mode in (comparisons or {}))
        found += [
            Column(f"rank:{mode}", f"{mode} best rank", _of(lambda row, m: row.best_rank[m] or None, mode)),
            Column(f"unjudged:{mode}", f"{mode} unjudged", _of(lambda row, m: row.unjudged[m], mode)),
            Column(f"judged:{mode}", f"{mode} judged@{k}", _of(lambda row, m: row.judged[m], mode)),
            Column(f"latency:{mode}", f"{mode} ms", _of(lambda row, m: row.latency_ms.get(m), mode)),
        ]
    return found


def _of(value: Callable[[QueryRow, Mode], Value], mode: Mode) -> Callable[[QueryRow], Value]:
    return lambda row: value(row, mode)


def _metric_columns(mode: Mode, metric: str, compared: bool) -> list[Column]:
    made = [
        Column(f"{metric}:{mode}", f"{mode} {metric}", lambda row: row.metrics[mode][metric]),
        Column(
            f"condensed:{metric}:{mode}",
            f"{mode} {metric} judged only",
            lambda row: row.condensed[mode][metric],
        ),
    ]
    if compared:
        made.append(
            Column(
                f"change:{metric}:{mode}",
                f"{mode} {metric} change",
                lambda row: row.change.get(mode, {}).get(metric),
            )
        )
    return made


# --- filters


def worst(table: Iterable[QueryRow], mode: Mode, metric: str, count: int = WORST) -> list[QueryRow]:
    """The queries that do worst, worst first."""
    return sorted(table, key=lambda row: (row.metrics[mode][metric], row.query_id))[:count]


def got_worse(table: Iterable[QueryRow], mode: Mode, metric: str) -> list[QueryRow]:
    """The queries that fell against the baseline, the largest loss first."""
    fallen = [row for row in table if row.change.get(mode, {}).get(metric, 0.0) < 0.0]
    return sorted(fallen, key=lambda row: (row.change[mode][metric], row.query_id))


def below_best_single(table: Iterable[QueryRow], metric: str) -> list[QueryRow]:
    """The queries on which hybrid does worse than the best ranker by itself, the largest gap first."""

    def gap(row: QueryRow) -> float:
        singles = [row.metrics[mode][metric] for mode in SINGLE_RANKERS if mode in row.metrics]
        hybrid = row.metrics.get("hybrid")
        return max(singles) - hybrid[metric] if singles and hybrid else 0.0

    return sorted((row for row in table if gap(row) > 0.0), key=lambda row: (-gap(row), row.query_id))


# --- text


def to_csv(table: Iterable[QueryRow], chosen: Sequence[Column]) -> str:
    """The table as CSV with a header; numbers in full, an empty cell where there is none."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.title for column in chosen])
    for row in table:
        values = [column.value(row) for column in chosen]
        writer.writerow(["" if value is None else value for value in values])
    return out.getvalue()


def to_markdown(table: Iterable[QueryRow], chosen: Sequence[Column]) -> str:
    """The table as Markdown, numbers to four places, those of changes with their sign."""
    lines = [_line([column.title for column in chosen]), _line(["---"] * len(chosen))]
    for row in table:
        lines.append(_line([_cell(column, column.value(row)) for column in chosen]))
    return "\n".join(lines) + "\n"


def _cell(column: Column, value: Value) -> str:
    if isinstance(value, float):
        return f"{value:+.4f}" if column.key.startswith("change:") else f"{value:.4f}"
    return "" if value is None else " ".join(str(value).split()).replace("\\", "\\\\").replace("|", "\\|")


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


# --- charts


def curve(report: LabReport, mode: Mode, metric: str, up_to: int = 50) -> list[float]:
    """The mean of a metric (a name without a cut) at k = 1, 2 … ``up_to``."""
    names = [f"{metric}@{k}" for k in range(1, min(up_to, report.settings.depth) + 1)]
    scored = evaluate_run(
        run_of_ranks(report.results[mode].run), report.qrels, metrics=names, rel_lvl=report.settings.rel_lvl
    )
    return [scored.mean[name] for name in names]
