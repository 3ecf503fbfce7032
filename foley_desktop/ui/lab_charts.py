"""What the lab's charts are drawn from, taken out of a measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foley_desktop.library.lab_table import SINGLE_RANKERS, QueryRow
from foley_desktop.models import Mode
from foley_desktop.ui.evaluation_model import metric_title
from foley_desktop.ui.lab_chart import Bar, Curves, Differences
from foley_desktop.ui.lab_words import METRIC_NAMES, View
from foley_desktop.workers.lab_jobs import Measurement


def changes(measurement: Measurement, view: View) -> Differences | str:
    """Each query's change against what the measurement is compared with, the worst loss first."""
    if view.mode not in measurement.comparisons:
        return "Choose a baseline to see how each query has changed against it."
    rows = measurement.judged_table if view.judged_only else measurement.table
    pairs = [(row, row.change[view.mode][view.metric]) for row in rows if view.mode in row.change]
    title = f"{view.mode} {view.title}, now minus {measurement.against}, n = {len(pairs)} queries"
    return Differences(title, _bars(pairs))


def against_single(measurement: Measurement, view: View) -> Differences | str:
    """What fusing gained or cost each query against the best ranker by itself."""
    singles = [mode for mode in SINGLE_RANKERS if mode in measurement.report.results]
    if "hybrid" not in measurement.report.results or not singles:
        return "Measure hybrid and at least one single ranker to see what fusing gains."
    rows = measurement.judged_table if view.judged_only else measurement.table
    pairs = [
        (
            row,
            row.metrics["hybrid"][view.metric] - max(row.metrics[mode][view.metric] for mode in singles),
        )
        for row in rows
    ]
    title = f"hybrid {view.title} minus the best of {', '.join(singles)}, n = {len(pairs)} queries"
    return Differences(title, _bars(pairs))


def _bars(pairs: Sequence[tuple[QueryRow, float]]) -> tuple[Bar, ...]:
    ordered = sorted(pairs, key=lambda pair: (pair[1], pair[0].query_id))
    return tuple(Bar(row.query_id, row.text, value) for row, value in ordered)


def over_k(measurement: Measurement, view: View, lines: Mapping[Mode, Sequence[float]]) -> Curves:
    """A metric's mean over the cut, a line a mode. Unjudged clips count, as in every run."""
    report = measurement.report
    metric = view.metric.partition("@")[0]
    deepest = max(map(len, lines.values()), default=0)
    title = (
        f"Mean {METRIC_NAMES[metric]}@k for k from 1 to {deepest}, n = {len(report.texts)} queries, "
        f"measured: {metric_title(view.metric)}"
    )
    return Curves(title, lines, report.settings.k)
