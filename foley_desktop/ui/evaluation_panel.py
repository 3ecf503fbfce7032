"""The Evaluation panel: choose a golden file, run it in the background, read how good the search is.

Beside that quick run stands the relevance lab, which works on the golden sets of the library.
"""

from __future__ import annotations

import os
from typing import cast

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QDockWidget,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QProgressBar,
    QSpinBox,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.library.evaluation import Evaluation
from foley_desktop.models import Mode, Progress
from foley_desktop.ui import buttons, tables, text, theme
from foley_desktop.ui.evaluation_model import (
    EvaluationModel,
    metric_tip,
    metric_title,
    quality_colour,
)
from foley_desktop.ui.search_bar import MODES
from foley_desktop.workers.job import Job

EMPTY = "Choose a golden file and press Run. A golden file holds queries and the clips that answer them."


class EvaluationPanel(QDockWidget):
    """``run_wanted(file, mode, k)`` asks for a run; the job that follows is shown with :meth:`follow`."""

    run_wanted = Signal(str, str, int)
    query_chosen = Signal(str)
    lab_wanted = Signal(str)
    """A golden file is to be taken into the relevance lab."""
    wide_wanted = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Evaluation", parent)
        self.setObjectName("evaluation_panel")
        self.setAllowedAreas(Qt.DockWidgetArea.RightDockWidgetArea | Qt.DockWidgetArea.BottomDockWidgetArea)
        self._job: Job | None = None
        self.model = EvaluationModel()
        self.order = tables.NumberOrder(self.model)
        self.golden = self._make_golden()
        self.mode_box = buttons.Choice()
        self.mode_box.setObjectName("evaluation_mode")
        self.mode_box.setToolTip("Which search is measured")
        for mode, label, tip in MODES:
            self.mode_box.addItem(label, mode)
            self.mode_box.setItemData(self.mode_box.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.cut = QSpinBox()
        self.cut.setObjectName("evaluation_k")
        self.cut.setRange(1, 1000)
        self.cut.setValue(10)
        self.cut.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.cut.setFixedWidth(58)
        self.cut.setToolTip("How many answers count")
        self.run_button = buttons.push(
            "Run", "Measure the search with this golden file", self._run, "primary"
        )
        self.run_button.setObjectName("evaluation_run")
        self.run_button.setEnabled(False)
        self.cancel_button = buttons.push("Cancel", "Stop measuring", self._cancel)
        self.progress_bar = QProgressBar()
        self.progress_bar.setTextVisible(False)
        self.progress_words = buttons.ElidedLabel("dim")
        self.tiles = QHBoxLayout()
        self.tiles.setSpacing(8)
        self.table = self._make_table()
        self._filler = QWidget()
        self.summary = buttons.words(EMPTY, "dim", wrap=True)
        self.unanswerable = buttons.words("", "faint", wrap=True)
        self.unanswerable.setObjectName("evaluation_unanswerable")
        self.lab_button = buttons.push(
            "To the lab", "Take this golden file into the library's relevance lab", self._to_lab
        )
        self.lab_button.setObjectName("evaluation_to_lab")
        self.lab_button.setEnabled(False)
        self.wide_button = buttons.tool(
            "wide", "Give this panel most of the window, or give it back", checkable=True
        )
        self.wide_button.toggled.connect(self.wide_wanted)
        self.pages = QTabWidget()
        self.pages.setObjectName("evaluation_pages")
        self.pages.setCornerWidget(self.wide_button)
        self.pages.addTab(self._lay_out(), "Golden file")
        self.setWidget(self.pages)
        self._show_running(False)
        self.show_evaluation(None)

    def _make_golden(self) -> QLineEdit:
        line = QLineEdit()
        line.setObjectName("evaluation_golden")
        line.setPlaceholderText("Golden file (JSON)")
        line.setToolTip("The file with queries and the clips that answer them")
        line.textChanged.connect(lambda _: self._update_run())
        line.returnPressed.connect(self._run)
        return line

    def _make_table(self) -> QTableView:
        return tables.measures("evaluation_table", self.order, self._on_chosen)

    def _lay_out(self) -> QWidget:
        choose = buttons.push("Choose …", "Choose a golden file", self.choose_file)
        first = QHBoxLayout()
        first.setSpacing(6)
        first.addWidget(self.golden, 1)
        first.addWidget(choose)
        first.addWidget(self.lab_button)
        second = QHBoxLayout()
        second.setSpacing(6)
        second.addWidget(buttons.words("Search", "dim"))
        second.addWidget(self.mode_box)
        second.addSpacing(8)
        second.addWidget(buttons.words("at", "dim"))
        second.addWidget(self.cut)
        second.addStretch(1)
        second.addWidget(self.cancel_button)
        second.addWidget(self.run_button)
        inner = QWidget()
        theme.mark(inner, "panel")
        inner.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inner.setMinimumWidth(430)
        column = QVBoxLayout(inner)
        column.setContentsMargins(12, 12, 12, 10)
        column.setSpacing(9)
        column.addLayout(first)
        column.addLayout(second)
        column.addWidget(self.progress_bar)
        column.addWidget(self.progress_words)
        column.addLayout(self.tiles)
        column.addWidget(self.summary)
        column.addWidget(self.table, 1)
        column.addWidget(self._filler, 1)
        column.addWidget(self.unanswerable)
        return inner

    # --- choosing and running

    def choose_file(self) -> None:
        """Opens the file dialog; it does not block the window."""
        dialog = QFileDialog(self, "Choose a golden file", os.path.dirname(self.golden.text()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["Golden files (*.json)", "All files (*)"])
        dialog.fileSelected.connect(self.golden.setText)
        dialog.open()

    def offer_file(self, path: str) -> None:
        """Fills in a golden file that is at hand, unless one is chosen already."""
        if not self.golden.text().strip():
            self.golden.setText(path)

    def add_lab(self, lab: QWidget) -> None:
        """Puts the relevance lab beside the quick run."""
        self.pages.addTab(lab, "Relevance lab")

    def show_lab(self, lab: QWidget) -> None:
        self.pages.setCurrentWidget(lab)

    def _to_lab(self) -> None:
        self.lab_wanted.emit(os.path.expanduser(self.golden.text().strip()))

    def _run(self) -> None:
        path = self.golden.text().strip()
        if path and self._job is None:
            self.run_wanted.emit(
                os.path.expanduser(path), cast(Mode, self.mode_box.currentData()), self.cut.value()
            )

    def _update_run(self) -> None:
        chosen = bool(self.golden.text().strip())
        self.run_button.setEnabled(chosen and self._job is None)
        self.lab_button.setEnabled(chosen)

    def follow(self, job: Job) -> None:
        """Shows a run's progress, then its result."""
        self._job = job
        self._show_running(True)
        self.progress_bar.setRange(0, 0)
        self.progress_words.set_words("Reading the golden file …")
        job.progressed.connect(self._on_progress)
        job.finished.connect(self.show_evaluation)
        job.ended.connect(self._on_ended)

    def _cancel(self) -> None:
        if self._job is not None:
            self.progress_words.set_words("Cancelling …")
            self._job.cancel()

    def _on_progress(self, step: Progress) -> None:
        self.progress_bar.setRange(0, max(0, step.total))
        self.progress_bar.setValue(step.done)
        self.progress_words.set_words(f"{text.progress(step)} · {text.shown(step.what, 80)}")

    def _on_ended(self) -> None:
        self._job = None
        self._show_running(False)
        self._update_run()

    def _show_running(self, running: bool) -> None:
        self.run_button.setVisible(not running)
        for widget in (self.cancel_button, self.progress_bar, self.progress_words):
            widget.setVisible(running)

    # --- the result

    def show_evaluation(self, evaluation: Evaluation | None) -> None:
        """Fills means, table and the list of unanswerable queries."""
        self.model.show_evaluation(evaluation)
        self._fill_tiles(evaluation)
        self.table.setVisible(evaluation is not None)
        self._filler.setVisible(evaluation is None)
        if evaluation is None:
            self.summary.setText(EMPTY)
            self.unanswerable.hide()
            return
        self._size_columns()
        self.summary.setText(_summary(evaluation))
        self._show_unanswerable(evaluation)

    def _fill_tiles(self, evaluation: Evaluation | None) -> None:
        while self.tiles.count():
            item = self.tiles.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        if evaluation is None:
            return
        for metric, value in evaluation.report.mean.items():
            tile = QFrame()
            theme.mark(tile, "tile")
            tile.setToolTip(metric_tip(metric))
            column = QVBoxLayout(tile)
            column.setContentsMargins(10, 6, 4, 7)
            column.setSpacing(0)
            column.addWidget(buttons.words(metric_title(metric), "small"))
            figure = buttons.words(f"{value:.3f}", "figure")
            figure.setObjectName(f"evaluation_mean_{metric}")
            palette = figure.palette()
            palette.setColor(figure.foregroundRole(), quality_colour(value))
            figure.setPalette(palette)
            column.addWidget(figure)
            self.tiles.addWidget(tile, 1)

    def _size_columns(self) -> None:
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for section in range(1, self.model.columnCount()):
            header.setSectionResizeMode(section, QHeaderView.ResizeMode.Interactive)
            last = section == self.model.columnCount() - 1
            self.table.setColumnWidth(section, 44 if last else 58)

    def _show_unanswerable(self, evaluation: Evaluation) -> None:
        lines = []
        if evaluation.unanswerable:
            texts = [f"“{text.shown(evaluation.texts.get(q, q), 60)}”" for q in evaluation.unanswerable]
            lines.append(
                "Expecting no answer, left out of the means: " + ", ".join(texts[:12]) + _rest(texts, 12)
            )
        if evaluation.unknown_clips:
            names = [text.shown(clip, 80) for clip in evaluation.unknown_clips]
            lines.append(
                f"{text.plural(len(names), 'clip')} not in the library, counted as not found: "
                + ", ".join(names[:3]) + _rest(names, 3)
            )  # fmt: skip
        self.unanswerable.setText("\n".join(lines))
        self.unanswerable.setVisible(bool(lines))

    def _on_chosen(self, index: QModelIndex) -> None:
        self.query_chosen.emit(self.model.query_text(self.order.mapToSource(index).row()))


def _rest(items: list[str], shown: int) -> str:
    return f" and {len(items) - shown} more" if len(items) > shown else ""


def _summary(evaluation: Evaluation) -> str:
    label = next((label for mode, label, _ in MODES if mode == evaluation.mode), evaluation.mode)
    times = sorted(evaluation.latency_ms.values())
    parts = [
        f"{text.plural(len(evaluation.report.per_query), 'query', 'queries')}, searched by {label.lower()}"
    ]
    found_first = sum(1 for rank in evaluation.report.ranks.values() if rank == 1)
    parts.append(f"best answer first in {found_first}")
    if times:
        parts.append(f"{times[len(times) // 2]:.0f} ms a search")
    return " · ".join(parts)
