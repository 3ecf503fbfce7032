"""Runs the relevance lab in the window: what is chosen, measured, compared, looked at, tuned.

Every method returns at once. What changes a golden set or asks about one goes over the lab lane in the order
it was asked; measuring and tuning are jobs of their own lane.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from foley_desktop.library.lab_details import QueryDetails
from foley_desktop.library.service import LibraryService
from foley_desktop.library.tuning import Tuning
from foley_desktop.models import Root
from foley_desktop.ui import lab_charts
from foley_desktop.ui.deck import Deck
from foley_desktop.ui.grading_desk import GradingDesk
from foley_desktop.ui.lab_files import LabFiles
from foley_desktop.ui.lab_panel import LabPanel
from foley_desktop.ui.lab_words import View
from foley_desktop.ui.messages import Messages
from foley_desktop.workers import lab_jobs
from foley_desktop.workers.job import Job
from foley_desktop.workers.lab_jobs import Measurement, Shelf
from foley_desktop.workers.runner import Runner


class LabDesk(QObject):
    """Connects a :class:`LabPanel` with the library's lab."""

    job_started = Signal(object)
    search_wanted = Signal(str)
    fusion_changed = Signal()
    """Another fusion is in use: what is listed may stand in another order now."""
    shelf_changed = Signal(object)
    clip_taken = Signal()
    """A clip of the lab is in hand, not one of the results."""

    def __init__(
        self,
        service: LibraryService,
        runner: Runner,
        messages: Messages,
        deck: Deck,
        grading: GradingDesk,
        panel: LabPanel,
    ) -> None:
        super().__init__()
        self._service = service
        self._runner = runner
        self._messages = messages
        self._deck = deck
        self._grading = grading
        self.panel = panel
        self.shelf = Shelf()
        self.view = View()
        self.measurement: Measurement | None = None
        self._kept: dict[str, Measurement] = {}
        self._curves: dict[tuple[int, str], lab_charts.Curves] = {}
        self.files = LabFiles(service, runner, messages, self, panel)
        self._connect()

    def _connect(self) -> None:
        panel, grading = self.panel, self._grading
        panel.sets.set_chosen.connect(self.choose_set)
        panel.sets.wanted.connect(self._on_wanted)
        panel.baselines.wanted.connect(self._on_wanted)
        panel.report_wanted.connect(self._on_wanted)
        panel.baselines.chosen.connect(self.compare_with)
        panel.setup.measure_wanted.connect(self.measure)
        panel.setup.without_wanted.connect(self.measure_without)
        panel.means.looked_at.connect(self._on_looked_at)
        panel.queries.judged_only_changed.connect(lambda on: self.look_at(replace(self.view, judged_only=on)))
        panel.queries.query_chosen.connect(self.show_query)
        panel.queries.wanted.connect(self._on_query_wanted)
        panel.queries.text_wanted.connect(self._copy)
        panel.queries.copied.connect(self._messages.say)
        panel.chart.query_chosen.connect(panel.queries.select_query)
        panel.chart_changed.connect(self._draw)
        panel.verdict.grade_displaced.connect(self.grade_displaced)
        panel.query.clip_chosen.connect(self._on_clip)
        panel.query.play_wanted.connect(self._deck.playback.play_from_start)
        panel.query.search_wanted.connect(self.search_wanted)
        panel.query.grade_wanted.connect(self._judge)
        panel.fusion.tune_wanted.connect(self.tune)
        panel.fusion.apply_wanted.connect(self.apply)
        panel.fusion.revert_wanted.connect(self.revert)
        grading.judged.connect(self.refresh)

    # --- the set in hand

    def refresh(self, set_id: str = "") -> None:
        """Reads anew what the choosers show; ``set_id`` takes another set in hand."""
        wanted = set_id or (self.shelf.current.id if self.shelf.current else "")
        self._runner.lab.slip_in(
            lambda: lab_jobs.shelf(self._service, wanted), self._take_shelf, self._messages.fail,
            "Reading the golden sets",
        )  # fmt: skip

    def choose_set(self, set_id: str) -> None:
        """Takes another golden set in hand, now and at the next start."""
        if set_id:
            self._runner.lab.slip_in(partial(lab_jobs.remember, self._service, golden_set=set_id))
            self.refresh(set_id)

    def _take_shelf(self, shelf: Shelf) -> None:
        before = self.shelf.current.id if self.shelf.current else ""
        self.shelf = shelf
        self.panel.show_shelf(shelf)
        self.panel.verdict.show_stale(self._stale_words())
        self.shelf_changed.emit(shelf)
        now = shelf.current.id if shelf.current else ""
        if now != before:
            self._show(self._kept.get(now))

    def _on_wanted(self, name: str) -> None:
        """What a menu or button asks for; most of it is about files and names."""
        info = self.shelf.current
        if name in ("grade", "restart") and info is not None:
            self._grading.start(info, self.shelf.grader, restart=name == "restart")
        else:
            self.files.do(name)

    # --- measuring

    def measure(self) -> None:
        """Runs the set in hand through the chosen modes."""
        info = self.shelf.current
        if info is not None and not self.panel.setup.line.running:
            settings, baseline = self.panel.setup.settings(), self.panel.baselines.name
            self._run(lab_jobs.measure_job(self._service, info, settings, baseline))

    def measure_without(self, root: Root) -> None:
        """Measures with a folder and without it, and compares."""
        info, settings = self.shelf.current, self.panel.setup.settings()
        if info is None or self.panel.setup.line.running:
            return
        whole = self.measurement.report if self.measurement else None
        if whole is not None and (whole.settings != settings or whole.conditions["set_id"] != info.id):
            whole = None
        self.panel.baselines.choose("")
        self._run(lab_jobs.without_job(self._service, info, settings, root, whole))

    def compare_with(self, baseline: str) -> None:
        """Holds the measurement on the screen against another baseline."""
        if self.measurement is not None and not self.panel.setup.line.running:
            self._run(lab_jobs.compare_job(self._service, self.measurement, baseline))

    def _run(self, job: Job) -> None:
        job.finished.connect(self._take_measurement)
        job.failed.connect(self._messages.fail)
        self.panel.setup.line.follow(job)
        self._runner.measures.submit(job)
        self.job_started.emit(job)

    def _take_measurement(self, measurement: Measurement) -> None:
        set_id = measurement.report.conditions["set_id"]
        self._kept[set_id] = measurement
        self.refresh()
        if self.shelf.current is not None and self.shelf.current.id == set_id:
            self._show(measurement)

    def _show(self, measurement: Measurement | None) -> None:
        before, self.measurement = self.measurement, measurement
        self._curves.clear()
        view = self.view
        if measurement is not None and measurement.against and not (before and before.against):
            self.panel.show_chart("change")
        if measurement is not None:
            names = measurement.report.settings.names
            if view.metric not in names:
                same = [name for name in names if name.partition("@")[0] == view.metric.partition("@")[0]]
                view = replace(view, metric=(same or list(names))[0])
            if view.mode not in measurement.modes:
                view = replace(view, mode=measurement.modes[0])
        self.panel.query.show_words("Choose a query in the table to see what each ranker brought for it.")
        self.look_at(view)

    def _stale_words(self) -> str:
        """What is not any more as it was measured."""
        info, measurement = self.shelf.current, self.measurement
        if info is None or measurement is None:
            return ""
        changed = []
        if measurement.report.conditions["fusion"] != self.shelf.fusion:
            changed.append("another fusion is in use")
        if (info.queries, info.judged) != measurement.set_size:
            changed.append("the set has other queries or grades")
        return f"Since this was measured: {', '.join(changed)}. Measure again." if changed else ""

    # --- looking

    def look_at(self, view: View) -> None:
        """Another metric or mode, with or without unjudged clips."""
        other_mode = view.mode != self.view.mode
        self.view = view
        self.panel.show_measurement(self.measurement, view)
        self.panel.verdict.show_stale(self._stale_words())
        self._draw()
        shown = self.panel.query.details
        if shown is not None and other_mode:
            self._fetch_details(shown.query_id)

    def _on_looked_at(self, mode: str, metric: str | None) -> None:
        self.look_at(replace(self.view, mode=mode, metric=metric or self.view.metric))  # type: ignore[arg-type]

    def show_query(self, query_id: str) -> None:
        """The closer look at one query."""
        self.panel.show_tab(self.panel.query)
        self._fetch_details(query_id)

    def _fetch_details(self, query_id: str) -> None:
        measurement, mode = self.measurement, self.view.mode
        if measurement is None:
            return
        report = measurement.report

        def take(details: QueryDetails) -> None:
            if self.measurement is measurement:
                settings = report.settings
                self.panel.query.show_details(details, settings.k, settings.rel_lvl, settings.depth)

        self._runner.reads.submit(
            lambda: self._service.lab.details(report, mode, query_id), take, self._messages.fail,
            key="lab_details", what="The closer look",
        )  # fmt: skip

    def _on_query_wanted(self, name: str, query_id: str) -> None:
        info = self.shelf.current
        if name == "grade" and info is not None:
            self._grading.start(info, self.shelf.grader, query_id=query_id)
        elif name == "search" and self.measurement is not None:
            self.search_wanted.emit(self.measurement.report.texts[query_id])

    def _on_clip(self, clip: object) -> None:
        self.clip_taken.emit()
        self._deck.take(clip)  # type: ignore[arg-type]

    def _judge(self, query_id: str, clip_id: str, grade: int | None) -> None:
        info, grader = self.shelf.current, self.shelf.grader
        if info is not None:
            self._runner.lab.slip_in(
                lambda: self._service.lab.sets.judge(info.id, query_id, clip_id, grade, grader),
                lambda _: self.refresh(), self._messages.fail, "The grade",
            )  # fmt: skip

    def grade_displaced(self) -> None:
        """Grades exactly the clips that took the place of good ones and carry no grade."""
        info, measurement = self.shelf.current, self.measurement
        comparison = measurement.comparisons.get(self.view.mode) if measurement else None
        if info is not None and comparison is not None and comparison.to_grade:
            self._grading.start(info, self.shelf.grader, focus=comparison.to_grade)

    # --- charts and texts

    def _draw(self) -> None:
        measurement, kind = self.measurement, self.panel.chart_choice.currentData()
        if measurement is None:
            self.panel.chart.show_content("Measure the set to see a chart.")
        elif kind == "change":
            self.panel.chart.show_content(lab_charts.changes(measurement, self.view))
        elif kind == "single":
            self.panel.chart.show_content(lab_charts.against_single(measurement, self.view))
        else:
            self._draw_curves(measurement)

    def _draw_curves(self, measurement: Measurement) -> None:
        view, metric = self.view, self.view.metric.partition("@")[0]
        key = (id(measurement.report), metric)
        if key in self._curves:
            self.panel.chart.show_content(self._curves[key])
            return
        self.panel.chart.show_content("Scoring at every k …")

        def take(lines: dict[str, list[float]]) -> None:
            if self.measurement is measurement:
                self._curves[key] = lab_charts.over_k(measurement, view, lines)  # type: ignore[arg-type]
                self._draw()

        self._runner.reads.submit(
            lambda: lab_jobs.curves(measurement.report, metric), take, self._messages.fail,
            key="lab_curves", what="The curves",
        )  # fmt: skip

    def _copy(self, what: str) -> None:
        measurement = self.measurement
        if measurement is None:
            return
        comparison = measurement.comparisons.get(self.view.mode)
        if what == "means":
            QGuiApplication.clipboard().setText(self.panel.means.means.markdown())
            self._messages.say("The means are copied as Markdown.")
        elif comparison is not None:
            QGuiApplication.clipboard().setText(comparison.text)
            self._messages.say(
                f"The regression diff of {self.view.mode} is copied.",
                action="Show",
                call=lambda: self._messages.list_lines(
                    f"{self.view.mode} against {measurement.against}", comparison.text.splitlines()
                ),
            )

    # --- tuning

    def tune(self) -> None:
        """Searches fusion weights on the set in hand; nothing is applied."""
        info = self.shelf.current
        if info is not None and not self.panel.fusion.line.running:
            job = lab_jobs.tune_job(self._service, info, self.panel.setup.cut.value())
            job.failed.connect(self._messages.fail)
            self.panel.fusion.follow(job)
            self._runner.measures.submit(job)
            self.job_started.emit(job)

    def apply(self, tuning: Tuning) -> None:
        """Searches with a tuned fusion from now on."""
        self._change_fusion(
            lambda: self._service.lab.apply(tuning), "The tuned fusion is in use.", action="Revert"
        )

    def revert(self) -> None:
        """Goes back to the fusion from before the last tuning."""
        self._change_fusion(self._service.lab.revert, "The fusion from before is in use again.")

    def _change_fusion(self, change: object, sentence: str, action: str = "") -> None:
        def done(_: object) -> None:
            self._messages.say(
                f"{sentence} Measure again to see what it does.", action=action, call=self.revert
            )
            self.refresh()
            self.fusion_changed.emit()

        self._runner.lab.slip_in(change, done, self._messages.fail, "The fusion")  # type: ignore[arg-type]
