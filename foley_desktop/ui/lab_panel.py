"""The relevance lab as it is laid out: set, setup, means and verdict, the queries, and three closer looks.

Narrow, everything stands in one column; where there is room the queries stand beside the rest.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMenu,
    QScrollArea,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.ui import buttons, text, theme
from foley_desktop.ui.lab_baselines import BaselineBar
from foley_desktop.ui.lab_chart import Chart
from foley_desktop.ui.lab_fusion import FusionPanel
from foley_desktop.ui.lab_means import MeansTable, gate_words
from foley_desktop.ui.lab_queries import QueriesPanel
from foley_desktop.ui.lab_query import QueryPanel
from foley_desktop.ui.lab_sets import SetsBar
from foley_desktop.ui.lab_setup import SetupBar
from foley_desktop.ui.lab_verdict import Verdict
from foley_desktop.ui.lab_words import View
from foley_desktop.ui.menu_button import MenuButton
from foley_desktop.workers.lab_jobs import Measurement, Shelf

WIDE = 960
"""From this width on the queries stand beside the rest."""
LEAST = 478
"""What the bars above the means need."""

CHARTS: tuple[tuple[str, str], ...] = (
    ("single", "Hybrid minus best single ranker"),
    ("change", "Change of each query"),
    ("curves", "Metric over k"),
)
_REPORT: tuple[tuple[str, str, str], ...] = (
    ("conditions", "Conditions …", "Everything needed to repeat this measurement"),
    ("save_report", "Save as JSON …", "The whole report"),
    ("save_trec", "Save as TREC files …", "qrels.txt and a run file a mode, into a folder"),
)


class LabPanel(QWidget):
    """Holds the parts; who fills and connects them is :class:`foley_desktop.ui.lab_desk.LabDesk`."""

    report_wanted = Signal(str)
    chart_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("lab")
        self.sets = SetsBar()
        self.setup = SetupBar()
        self.baselines = BaselineBar()
        self.caption = buttons.ElidedLabel("faint")
        self.gate = buttons.ElidedLabel()
        self.gate.setObjectName("lab_gate")
        self.report_button = MenuButton("Report", "Conditions, JSON, TREC files", self._fill_report)
        self.report_button.setObjectName("lab_report")
        self.means = MeansTable()
        self.verdict = Verdict()
        self.queries = QueriesPanel()
        self.chart = Chart()
        self.chart_choice = buttons.Choice()
        self.chart_choice.setObjectName("lab_chart_choice")
        self.chart_choice.setToolTip("What the chart shows")
        for name, label in CHARTS:
            self.chart_choice.addItem(label, name)
        self.chart_choice.activated.connect(lambda _: self.chart_changed.emit())
        self.query = QueryPanel()
        self.fusion = FusionPanel()
        self.tabs = QTabWidget()
        self.tabs.setObjectName("lab_tabs")
        self._lay_out()
        self.show_measurement(None, View())

    def _lay_out(self) -> None:
        theme.mark(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        caption = QHBoxLayout()
        caption.setSpacing(6)
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(self.gate)
        words.addWidget(self.caption)
        caption.addLayout(words, 1)
        caption.addWidget(self.report_button)
        head = QWidget()
        column = QVBoxLayout(head)
        column.setContentsMargins(12, 10, 12, 6)
        column.setSpacing(8)
        for widget in (self.sets, self.setup, self.baselines):
            column.addWidget(widget)
        column.addLayout(caption)
        column.addWidget(self.means)
        column.addWidget(self.verdict)
        column.addStretch(1)
        self.tabs.addTab(self._chart_page(), "Chart")
        self.tabs.addTab(self.query, "Query")
        self.tabs.addTab(self._scrolled(self.fusion), "Fusion")
        rows = QWidget()
        inside = QVBoxLayout(rows)
        inside.setContentsMargins(12, 4, 12, 4)
        inside.addWidget(self.queries)
        head.setMinimumWidth(LEAST)
        self._head = head
        self.head = self._scrolled(head)
        self.head.setMinimumWidth(LEAST)
        self.column = _splitter(Qt.Orientation.Vertical, self.head)
        self.lists = _splitter(Qt.Orientation.Vertical, rows, self.tabs)
        self.halves = _splitter(Qt.Orientation.Vertical, self.column, self.lists)
        self.halves.setStretchFactor(1, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.halves)

    @staticmethod
    def _scrolled(widget: QWidget) -> QScrollArea:
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(widget)
        return area

    def _chart_page(self) -> QWidget:
        page = QWidget()
        line = QHBoxLayout()
        line.setContentsMargins(8, 6, 8, 0)
        line.addWidget(self.chart_choice)
        line.addStretch(1)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(line)
        column.addWidget(self.chart, 1)
        return page

    def _fill_report(self, menu: QMenu) -> None:
        for name, label, tip in _REPORT:
            menu.addAction(label, partial(self.report_wanted.emit, name)).setToolTip(tip)

    # --- what is shown

    def show_shelf(self, shelf: Shelf) -> None:
        for part in (self.sets, self.setup, self.baselines, self.fusion):
            part.show_shelf(shelf)

    def show_measurement(self, measurement: Measurement | None, view: View) -> None:
        self.means.show_measurement(measurement, view)
        self.verdict.show_measurement(measurement, view)
        self.queries.show_measurement(measurement, view)
        self.report_button.setVisible(measurement is not None)
        self.baselines.save_button.setEnabled(measurement is not None)
        self.caption.set_words("" if measurement is None else _caption(measurement))
        self._show_gate(measurement, view)
        self._share_room()

    def _show_gate(self, measurement: Measurement | None, view: View) -> None:
        found = measurement.comparisons.get(view.mode) if measurement else None
        self.gate.setVisible(found is not None)
        if found is not None:
            self.gate.set_words(gate_words(found) + ".")
            palette = self.gate.palette()
            palette.setColor(self.gate.foregroundRole(), theme.colour("accent" if found.passed else "red"))
            self.gate.setPalette(palette)

    def show_tab(self, widget: QWidget) -> None:
        """Brings one of the closer looks to the front."""
        for number in range(self.tabs.count()):
            page = self.tabs.widget(number)
            if page is widget or (page is not None and page.isAncestorOf(widget)):
                self.tabs.setCurrentIndex(number)

    def show_chart(self, name: str) -> None:
        """Chooses what the chart shows, without saying so."""
        self.chart_choice.setCurrentIndex(self.chart_choice.findData(name))

    # --- room

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = event.size().width() >= WIDE
        if wide != (self.halves.orientation() == Qt.Orientation.Horizontal):
            self.halves.setOrientation(Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical)
            (self.column if wide else self.lists).addWidget(self.tabs)
        self._share_room()

    def _share_room(self) -> None:
        """Gives the head what it needs, and the rest to the queries and the closer looks."""
        needed = self._head.heightForWidth(max(LEAST, self.head.width()))
        needed = max(needed, self._head.sizeHint().height()) + 16
        height = self.height()
        if self.halves.orientation() == Qt.Orientation.Horizontal:
            left = max(LEAST, min(round(self.width() * 0.48), 640))
            self.halves.setSizes([left, self.width() - left])
            self.column.setSizes([min(needed, round(height * 0.62)), max(200, height - needed)])
            return
        head = min(needed, max(180, round(height * 0.54)))
        self.halves.setSizes([head, max(200, height - head)])
        self.lists.setSizes([max(1, (height - head) // 2)] * 2)


def _splitter(orientation: Qt.Orientation, *widgets: QWidget) -> QSplitter:
    splitter = QSplitter(orientation)
    for widget in widgets:
        splitter.addWidget(widget)
    splitter.setChildrenCollapsible(False)
    splitter.setHandleWidth(5)
    return splitter


def _caption(measurement: Measurement) -> str:
    report = measurement.report
    conditions = report.conditions
    words = f"Means over n = {text.plural(len(report.texts), 'query', 'queries')}, 95 % intervals"
    if measurement.against:
        words += f", against {text.shown(measurement.against, 60)}"
    words += f" · {text.count(conditions['library_size'])} clips"
    if report.settings.rel_lvl != 1:
        words += " · relevant: grade 2 only"
    if report.settings.graders:
        words += f" · grades of {text.shown(', '.join(report.settings.graders), 40)}"
    if report.settings.left_out:
        words += f" · without {text.shown(report.settings.left_out, 60)}"
    return words
