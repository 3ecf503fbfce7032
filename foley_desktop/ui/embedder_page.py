"""Two embedders side by side in the Evaluation panel, and the word on which of them listens from now on."""

from __future__ import annotations

import os
from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QSpinBox,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.library.embedder_compare import COMPARED_MODES, EmbedderComparison
from foley_desktop.models import Mode
from foley_desktop.ui import buttons, tables, text, theme
from foley_desktop.ui.embedder_model import EmbedderModel
from foley_desktop.ui.evaluation_model import metric_tip, metric_title, quality_colour
from foley_desktop.ui.job_line import JobLine
from foley_desktop.ui.lab_words import change_colour, counts_words, signed
from foley_desktop.ui.search_bar import MODES
from foley_desktop.workers.embedder_jobs import Golden, Standing
from foley_desktop.workers.job import Job
from foley_desktop.workers.lab_jobs import Shelf
from foley_desktop.workers.settings_jobs import Embedder

EMPTY = (
    "Which embedder finds more in your library? Choose a golden set and another embedder that has heard your "
    "sounds, and compare: both answer every query, once with words, meaning and sound, once by sound alone."
)
NO_SET = "There is no golden set yet: make one in the relevance lab, or choose a file."
NO_OTHER = "No other embedder has listened to your sounds yet: choose one in the settings, under Models."


class EmbedderPage(QWidget):
    """``compare_wanted(golden, name, k)`` asks for a comparison; the job is shown with :meth:`follow`."""

    compare_wanted = Signal(object, str, int)
    switch_wanted = Signal(str)
    stay_wanted = Signal()
    models_wanted = Signal()
    file_wanted = Signal()
    query_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("embedder_page")
        theme.mark(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.comparison: EmbedderComparison | None = None
        self._standing = Standing("", None, "")
        self._sets: list[tuple[str, Golden]] = []
        self._file: list[tuple[str, Golden]] = []
        self.golden = _choice("embedder_golden", "The golden set that both are measured with")
        self.other = _choice("embedder_other", "The embedder to compare with the one in use")
        self.cut = QSpinBox()
        self.cut.setObjectName("embedder_k")
        self.cut.setRange(1, 1000)
        self.cut.setValue(10)
        self.cut.setFixedWidth(58)
        self.cut.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.cut.setToolTip("How many answers count")
        self.compare_button = buttons.push(
            "Compare",
            "Measure both embedders with this golden set; nothing is changed",
            self._compare,
            "primary",
        )
        self.compare_button.setObjectName("embedder_compare")
        self.line = JobLine()
        self.line.changed.connect(lambda _: self._update())
        self.lack = buttons.words("", "dim", wrap=True)
        self.models_button = buttons.push("Models …", "The settings, page Models", self.models_wanted.emit)
        self.models_button.setObjectName("embedder_models")
        self.mode_box = _choice("embedder_mode", "Which search the figures below are of")
        for mode in COMPARED_MODES:
            label = next(label for name, label, _ in MODES if name == mode)
            self.mode_box.addItem("Sound alone" if mode == "audio" else label, mode)
        self.mode_box.activated.connect(lambda _: self._fill())
        self.metric_box = _choice("embedder_metric", "Which metric the table of queries shows")
        self.metric_box.activated.connect(lambda _: self._fill())
        self.means = QGridLayout()
        self.means.setHorizontalSpacing(18)
        self.means.setVerticalSpacing(3)
        self.verdict = buttons.words("", wrap=True)
        self.verdict.setObjectName("embedder_verdict")
        self.notes = buttons.words("", "dim", wrap=True)
        self.notes.setObjectName("embedder_notes")
        self.model = EmbedderModel()
        self.table = self._make_table()
        self.switch_button = buttons.push("", "", self._switch, "primary")
        self.switch_button.setObjectName("embedder_switch")
        self.stay_button = buttons.push("", "", self.stay_wanted.emit)
        self.stay_button.setObjectName("embedder_stay")
        self._lay_out()
        self.show_comparison(None)
        self._update()

    def _make_table(self) -> QTableView:
        self.order = tables.NumberOrder(self.model)
        return tables.measures("embedder_table", self.order, self._on_chosen)

    def _lay_out(self) -> None:
        first, second, looks, ends = QHBoxLayout(), QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        for line in (first, second, looks, ends):
            line.setSpacing(6)
        first.addWidget(buttons.words("Golden set", "dim"))
        first.addWidget(self.golden, 1)
        first.addWidget(buttons.push("Choose …", "Choose a golden file", self.file_wanted.emit))
        second.addWidget(buttons.words("With", "dim"))
        second.addWidget(self.other, 1)
        second.addWidget(buttons.words("at", "dim"))
        second.addWidget(self.cut)
        second.addWidget(self.compare_button)
        looks.addWidget(self.mode_box)
        looks.addWidget(self.metric_box)
        looks.addStretch(1)
        ends.addStretch(1)
        ends.addWidget(self.stay_button)
        ends.addWidget(self.switch_button)
        lack = QHBoxLayout()
        lack.addWidget(self.lack, 1)
        lack.addWidget(self.models_button)
        self.found = QWidget()
        inside = QVBoxLayout(self.found)
        inside.setContentsMargins(0, 4, 0, 0)
        inside.setSpacing(9)
        inside.addLayout(self.means)
        inside.addWidget(self.verdict)
        inside.addWidget(self.notes)
        inside.addLayout(looks)
        inside.addWidget(self.table, 1)
        inside.addLayout(ends)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 10)
        column.setSpacing(9)
        column.addLayout(first)
        column.addLayout(second)
        column.addWidget(self.line)
        column.addLayout(lack)
        column.addWidget(self.found, 1)
        self.filler = QWidget()
        column.addWidget(self.filler, 1)

    # --- what can be chosen

    def show_shelf(self, shelf: Shelf) -> None:
        """The library's golden sets; the one in hand is chosen unless another one was here."""
        self._sets = [(info.name, Golden(set_id=info.id)) for info in shelf.sets]
        self._fill_golden(Golden(set_id=shelf.current.id) if shelf.current else None)

    def show_file(self, path: str) -> None:
        """The golden file that is chosen beside the sets; chosen from here it is meant for here."""
        path = os.path.expanduser(path.strip())
        self._file = [(f"File: {os.path.basename(path)}", Golden(file=path))] if path else []
        self._fill_golden(None)
        if path and self.isVisible():
            self.golden.setCurrentIndex(self.golden.count() - 1)

    def _fill_golden(self, wanted: Golden | None) -> None:
        before = self.golden.currentData()
        known = [*self._sets, *self._file]
        self.golden.clear()
        for label, golden in known:
            self.golden.addItem(text.shown(label, 60), golden)
        values = [golden for _, golden in known]
        chosen = next((one for one in (before, wanted) if one in values), None)
        self.golden.setCurrentIndex(values.index(chosen) if chosen is not None else min(0, len(values) - 1))
        self._update()

    def show_embedders(self, embedders: Sequence[Embedder], standing: Standing) -> None:
        """The embedders that know sounds and are not in use; the one that is to take over comes first."""
        other_active = standing.active != self._standing.active
        self._standing = standing
        before = self.other.currentData()
        offered = standing.offer.name if standing.offer else ""
        names = [one.name for one in embedders if one.ready and not one.active and one.heard]
        self.other.clear()
        for name in sorted(names, key=lambda name: name != offered):
            self.other.addItem(text.shown(name, 60), name)
        self.other.setCurrentIndex(max(0, self.other.findData(offered or before)) if names else -1)
        if other_active:
            self._fill()
        self._update()

    def choose(self, name: str) -> None:
        """Chooses an embedder to compare with."""
        self.other.setCurrentIndex(max(0, self.other.findData(name)))
        self._update()

    def _update(self) -> None:
        running = self.line.running
        lack = NO_OTHER if not self.other.count() else NO_SET if not self.golden.count() else ""
        self.compare_button.setEnabled(not running and not lack)
        empty = self.comparison is None and not running
        self.lack.setText(lack or (EMPTY if empty else ""))
        self.lack.setVisible(bool(lack) or empty)
        self.models_button.setVisible(lack == NO_OTHER)
        self._update_ends()

    # --- comparing

    def _compare(self) -> None:
        golden, name = self.golden.currentData(), self.other.currentData()
        if golden is not None and name and not self.line.running:
            self.compare_wanted.emit(golden, name, self.cut.value())

    def follow(self, job: Job) -> None:
        """Shows a comparison's progress, then its result."""
        job.finished.connect(self.show_comparison)
        self.line.follow(job)

    def show_comparison(self, comparison: EmbedderComparison | None) -> None:
        """Shows what was measured."""
        self.comparison = comparison
        self.found.setVisible(comparison is not None)
        self.filler.setVisible(comparison is None)
        if comparison is not None:
            chosen = self.metric_box.currentText()
            self.metric_box.clear()
            for metric in comparison.metrics(comparison.modes[0]):
                self.metric_box.addItem(metric_title(metric), metric)
            self.metric_box.setCurrentIndex(max(0, self.metric_box.findText(chosen)))
            self.notes.setText("\n".join(text.shown(note, 200) for note in comparison.notes))
            self.notes.setVisible(bool(comparison.notes))
        self._fill()
        self._update()

    def _fill(self) -> None:
        comparison, mode = self.comparison, self._mode
        metric = self.metric_box.currentData() or ""
        self.model.show(comparison, mode, metric)
        while self.means.count():
            item = self.means.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.hide()
                widget.setParent(None)
                widget.deleteLater()
        if comparison is None:
            return
        self._fill_means(comparison, mode)
        found = comparison.verdict(mode)
        self.verdict.setText(
            f"{metric_title(f'ndcg@{comparison.k}')} with {text.shown(comparison.new.name, 40)}: "
            f"{found.sentence()} {counts_words(found)}."
        )
        self._size_columns()

    @property
    def _mode(self) -> Mode:
        mode: Mode = self.mode_box.currentData()
        return mode

    def _fill_means(self, comparison: EmbedderComparison, mode: Mode) -> None:
        names = (f"{comparison.old.name}, in use", comparison.new.name, "Change")
        if comparison.old.name != self._standing.active:
            names = (comparison.old.name, comparison.new.name, "Change")
        for column, name in enumerate(names, start=1):
            title = buttons.words(text.shown(name, 40), "small")
            self.means.addWidget(title, 0, column, Qt.AlignmentFlag.AlignRight)
        for row, (metric, (old, new)) in enumerate(comparison.means(mode).items(), start=1):
            title = buttons.words(metric_title(metric), "dim")
            title.setToolTip(metric_tip(metric))
            self.means.addWidget(title, row, 0)
            cells = (
                (f"{old:.3f}", quality_colour(old)),
                (f"{new:.3f}", quality_colour(new)),
                (signed(new - old), change_colour(new - old)),
            )
            for column, (words, colour) in enumerate(cells, start=1):
                label = buttons.words(words)
                label.setObjectName(f"embedder_{metric}_{('old', 'new', 'change')[column - 1]}")
                label.setFont(theme.digits_font(label.font()))
                palette = label.palette()
                palette.setColor(label.foregroundRole(), colour)
                label.setPalette(palette)
                label.setToolTip(comparison.verdict(mode, metric).sentence())
                self.means.addWidget(label, row, column, Qt.AlignmentFlag.AlignRight)
        self.means.setColumnStretch(0, 1)

    def _size_columns(self) -> None:
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for section in range(1, self.model.columnCount()):
            header.setSectionResizeMode(section, QHeaderView.ResizeMode.Interactive)
            self.table.setColumnWidth(section, 74 if section <= 3 else 46)

    # --- the word

    def _update_ends(self) -> None:
        """Who can take over after this comparison: the one that is not in use."""
        comparison, active = self.comparison, self._standing.active
        names = [] if comparison is None else [comparison.old.name, comparison.new.name]
        can = active in names and not self.line.running
        self.switch_button.setVisible(can)
        self.stay_button.setVisible(can and self._standing.offer is not None)
        if can:
            other = next(name for name in names if name != active)
            self.switch_button.setText(f"Switch to {text.shown(other, 40)}")
            self.switch_button.setToolTip(f"Find sounds with {other} from now on; going back costs nothing")
            self.stay_button.setText(f"Keep {text.shown(active, 40)}")
            self.stay_button.setToolTip(f"Go on with {active}; what {other} has heard is kept")

    def _switch(self) -> None:
        comparison, active = self.comparison, self._standing.active
        if comparison is not None:
            names = (comparison.old.name, comparison.new.name)
            self.switch_wanted.emit(next(name for name in names if name != active))

    def _on_chosen(self, index: QModelIndex) -> None:
        self.query_chosen.emit(self.model.query_text(self.order.mapToSource(index).row()))


def _choice(name: str, tip: str) -> QComboBox:
    choice: QComboBox = buttons.Choice()
    choice.setObjectName(name)
    choice.setToolTip(tip)
    choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    choice.setMinimumContentsLength(12)
    return choice
