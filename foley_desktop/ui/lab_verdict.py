"""What the selected mean says in words: comparison, what took the place of good answers, interval."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from foley_desktop.library.lab_compare import LabComparison
from foley_desktop.ui import buttons, text, theme
from foley_desktop.ui.lab_words import (
    View,
    counts_words,
    interval,
    number,
    signed,
    signed_interval,
)
from foley_desktop.workers.lab_jobs import Measurement


class Verdict(QWidget):
    """Follows a :class:`Measurement` and a :class:`View`."""

    grade_displaced = Signal()
    """Grade exactly the clips that took the place of good ones and carry no grade."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = buttons.words("", "dim", wrap=True)
        self.mean.setObjectName("lab_verdict_mean")
        self.change = buttons.words("", "", wrap=True)
        self.change.setObjectName("lab_verdict_change")
        self.displaced = buttons.words("", "dim", wrap=True)
        self.displaced.setObjectName("lab_displaced")
        self.grade_button = buttons.push(
            "Grade those", "Grade exactly the clips that nobody has graded yet", self.grade_displaced.emit
        )
        self.grade_button.setObjectName("lab_grade_displaced")
        self.stale = buttons.words("", "", wrap=True)
        self.stale.setObjectName("lab_stale")
        self.notes = buttons.words("", "faint", wrap=True)
        self.notes.setObjectName("lab_notes")
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.displaced, 1)
        line.addWidget(self.grade_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addWidget(self.change)
        column.addLayout(line)
        column.addWidget(self.mean)
        column.addWidget(self.notes)
        column.addWidget(self.stale)
        self.hide()

    def show_measurement(self, measurement: Measurement | None, view: View) -> None:
        self.setVisible(measurement is not None)
        if measurement is None:
            return
        self.mean.setText(mean_words(measurement, view))
        comparison = measurement.comparisons.get(view.mode)
        self._show_change(measurement, comparison, view)
        self._show_displaced(comparison)
        lines = [*measurement.report.notices, *(comparison.notes if comparison else ())]
        self._say(self.notes, "  ".join(text.shown(line) for line in lines))

    def show_stale(self, words: str) -> None:
        """What has changed since this was measured; empty for nothing."""
        self._say(self.stale, words, "amber")

    def _show_change(self, measurement: Measurement, found: LabComparison | None, view: View) -> None:
        if found is None:
            refusal = measurement.refusals.get(view.mode, "")
            self._say(self.change, text.shown(refusal), "amber")
            return
        statistics = (found.condensed if view.judged_only else found.statistics)[view.metric]
        colour = "dim"
        if statistics.significant:
            colour = "accent" if statistics.difference > 0 else "red"
        self._say(
            self.change,
            f"Against {text.shown(measurement.against, 80)}: {signed(statistics.difference)} "
            f"({signed_interval(statistics.low, statistics.high)}). {statistics.sentence()} "
            f"{counts_words(statistics)}.",
            colour,
        )

    def _show_displaced(self, found: LabComparison | None) -> None:
        words, to_grade = ("", 0) if found is None else displaced_words(found)
        self._say(self.displaced, words)
        self.grade_button.setVisible(to_grade > 0)
        self.grade_button.setText(f"Grade those {to_grade}")

    @staticmethod
    def _say(label: QLabel, words: str, colour: str = "") -> None:
        label.setText(words)
        label.setVisible(bool(words))
        if colour:
            palette = label.palette()
            palette.setColor(label.foregroundRole(), theme.colour(colour))
            label.setPalette(palette)


def mean_words(measurement: Measurement, view: View) -> str:
    """``hybrid nDCG@10: mean 0.727, 95 % interval 0.651 – 0.802, n = 67 queries.``"""
    result = measurement.report.results[view.mode]
    report = result.condensed if view.judged_only else result.report
    bounds = measurement.judged_intervals[view.mode] if view.judged_only else result.intervals
    left = len(measurement.report.unanswerable)
    words = (
        f"{view.mode} {view.title}: mean {number(report.mean[view.metric])}, 95 % interval "
        f"{interval(*bounds[view.metric])}, n = {text.plural(len(report.per_query), 'query', 'queries')}."
    )
    if left:
        words += f" {text.count(left)} without an answer left out."
    if measurement.report.unknown_clips:
        unknown = text.plural(len(measurement.report.unknown_clips), "graded clip")
        words += f" {unknown} not in the library, counted as not found."
    return words


def displaced_words(found: LabComparison) -> tuple[str, int]:
    """What overtook good answers, in words, and how many pairs of query and clip that leaves to grade."""
    fallen = [one for change in found.changes.values() for one in change.displaced]
    worse = sum(one.worse != () for one in fallen)
    unknown = sum(one.unjudged != () for one in fallen)
    to_grade = sum(len(clips) for clips in found.to_grade.values())
    if not fallen:
        return "", 0
    return (
        f"{text.plural(len(fallen), 'good answer')} overtaken: {worse} by something graded worse, "
        f"{unknown} by something unjudged.",
        to_grade,
    )
