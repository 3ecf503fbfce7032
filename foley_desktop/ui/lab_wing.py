"""The relevance lab as a part of the window: where it stands, and what it shares with the other panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer

from foley_desktop.models import Clip
from foley_desktop.ui import text
from foley_desktop.ui.grading_desk import GradingDesk
from foley_desktop.ui.grading_model import grade_words
from foley_desktop.ui.lab_desk import LabDesk
from foley_desktop.ui.lab_panel import LabPanel
from foley_desktop.workers import lab_jobs
from foley_desktop.workers.jobs import Overview
from foley_desktop.workers.lab_jobs import GoodAnswer, Shelf

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

NARROW = 520
RELAYOUT_MS = 60
WIDE_SHARE = 0.72
"""How much of the window the Evaluation panel takes when it is made wide."""


class LabWing(QObject):
    """Built by the window, once its other panels are there."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._chosen_page = False
        service, runner = window.service, window.runner
        self.grading = GradingDesk(service, runner, window.deck, window.messages)
        self.panel = LabPanel()
        self.desk = LabDesk(service, runner, window.messages, window.deck, self.grading, self.panel)
        window.lists.addWidget(self.grading.view)
        window.strips.addWidget(self.grading.banner)
        window.evaluation.add_lab(self.panel)
        self._connect()
        self.desk.refresh()

    def _connect(self) -> None:
        window, desk, grading = self._window, self.desk, self.grading
        desk.job_started.connect(window.status.jobs.add)
        desk.search_wanted.connect(window.search_for)
        desk.fusion_changed.connect(window.results.search.refresh)
        desk.clip_taken.connect(window.results.view.clearSelection)
        desk.shelf_changed.connect(self._on_shelf)
        grading.keys_changed.connect(lambda keys: window.keys.lay_over(*keys))
        grading.began.connect(lambda: self._show_grading(True))
        grading.ended.connect(lambda: self._show_grading(False))
        window.evaluation.lab_wanted.connect(self._take_file)
        window.evaluation.wide_wanted.connect(self._on_wide)
        window.evaluation.visibilityChanged.connect(self._on_visibility)
        window.actions_.good_answer_wanted.connect(self.good_answer)
        window.library.overview_changed.connect(self._on_overview)

    def stop(self) -> None:
        """The window closes."""
        self.grading.stop()

    def capture(self) -> dict[str, Any]:
        """What is kept of the lab's arrangement, as plain values."""
        return {"columns": sorted(self.panel.queries.kinds), "chart": self.panel.chart_choice.currentIndex()}

    def restore(self, state: object) -> None:
        """Puts a captured arrangement back; what is broken is passed over."""
        if not isinstance(state, dict):
            return
        kinds, chart = state.get("columns"), state.get("chart")
        if isinstance(kinds, list) and all(isinstance(kind, str) for kind in kinds):
            self.panel.queries.kinds = set(kinds)
        if type(chart) is int and 0 <= chart < self.panel.chart_choice.count():
            self.panel.chart_choice.setCurrentIndex(chart)

    # --- what happens when

    def _on_shelf(self, shelf: Shelf) -> None:
        if not self._chosen_page:
            self._chosen_page = True
            if shelf.sets:
                self._window.evaluation.show_lab(self.panel)

    def _on_overview(self, overview: Overview) -> None:
        if [root.id for root in overview.roots] != [root.id for root in self.desk.shelf.roots]:
            self.desk.refresh()

    def _show_grading(self, on: bool) -> None:
        """While a session is on its candidates stand where the results do, and nothing else is searched."""
        window = self._window
        window.results.view.clearSelection()
        window.lists.setCurrentWidget(self.grading.view if on else window.results)
        bar = window.search_bar
        for widget in (bar.box, bar.mode_box, bar.filter_button, bar.chips, window.sidebar):
            widget.setEnabled(not on)
        window.deck.stop()
        (self.grading.view if on else window.results.view).setFocus(Qt.FocusReason.OtherFocusReason)

    def _take_file(self, path: str) -> None:
        self._window.evaluation.show_lab(self.panel)
        self.desk.files.import_file(path)

    def _on_visibility(self) -> None:
        """The other panels come back when this one is closed."""
        if self._window.evaluation.isHidden():
            self._window.evaluation.wide_button.setChecked(False)

    def _on_wide(self, wide: bool) -> None:
        window = self._window
        window.sidebar.setVisible(not wide)
        width = round(window.width() * WIDE_SHARE) if wide else NARROW
        # Once the layouts have learnt, one after the other, of the room that is there now.
        QTimer.singleShot(
            RELAYOUT_MS,
            self,
            lambda: window.resizeDocks([window.evaluation], [width], Qt.Orientation.Horizontal),
        )

    # --- grading results of a normal search

    def good_answer(self, clips: Sequence[Clip], grade: int) -> None:
        """Grades results for the query that found them; it joins the set in hand."""
        window, found = self._window, self._window.results.search.found
        if found is None or found.request.kind != "text":
            return
        words, set_id = found.request.text, self.desk.shelf.current.id if self.desk.shelf.current else ""
        ids = [clip.id for clip in clips if clip.id]
        window.runner.lab.slip_in(
            lambda: lab_jobs.good_answer(window.service, set_id, words, ids, grade),
            self._on_good_answer, window.messages.fail, "The grade",
        )  # fmt: skip

    def _on_good_answer(self, done: GoodAnswer) -> None:
        window = self._window
        counted = text.plural(len(done.before), "clip")
        new = " The query is new in it." if done.new_query else ""

        def take_back() -> None:
            window.runner.lab.slip_in(
                lambda: lab_jobs.take_back(window.service, done), lambda _: self.desk.refresh(),
                window.messages.fail, "Taking the grade back",
            )  # fmt: skip

        window.messages.say(
            f"{counted} graded {grade_words(done.grade)} for “{text.shown(done.query.text, 60)}” in "
            f"{text.shown(done.set.name, 40)}.{new}",
            action="Undo",
            call=take_back,
        )
        self.desk.refresh(done.set.id)
