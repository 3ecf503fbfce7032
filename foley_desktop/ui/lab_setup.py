"""What is measured and how: modes, metrics, the cut, whose grades count, which folder is left out."""

from __future__ import annotations

from functools import partial
from typing import cast

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSpinBox, QToolButton, QVBoxLayout, QWidget

from foley_desktop.library.lab import METRICS, LabSettings
from foley_desktop.models import MODES, Mode, Root
from foley_desktop.ui import buttons, icons, text, theme
from foley_desktop.ui.evaluation_model import metric_tip
from foley_desktop.ui.job_line import JobLine
from foley_desktop.ui.lab_words import METRIC_NAMES, MODE_TIPS
from foley_desktop.ui.menu_button import MenuButton, plain
from foley_desktop.workers.lab_jobs import Shelf

DEEPEST = 1000


class SetupBar(QWidget):
    """``measure_wanted`` asks for a measurement, ``without_wanted(root)`` for one without a folder."""

    measure_wanted = Signal()
    without_wanted = Signal(object)
    settings_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._shelf = Shelf()
        self._metrics = list(LabSettings().metrics)
        self._graders: tuple[str, ...] | None = None
        self.modes = {mode: self._mode_button(mode) for mode in MODES}
        self.metrics_button = MenuButton("Metrics", "Which metrics are measured", self._fill_metrics)
        self.metrics_button.setObjectName("lab_metrics")
        self.cut = self._make_cut()
        self.level = buttons.Choice()
        self.level.setObjectName("lab_level")
        self.level.setToolTip("The lowest grade that counts as relevant, for all metrics but nDCG")
        for grade, words in ((1, "from grade 1"), (2, "grade 2 only")):
            self.level.addItem(words, grade)
        self.graders_button = MenuButton("Everybody", "Whose grades count", self._fill_graders)
        self.without_button = MenuButton(
            "Without", "Measure again without a folder: did it make the search worse?", self._fill_roots
        )
        self.without_button.setObjectName("lab_without")
        self.measure_button = buttons.push(
            "Measure", "Run every query of the set through these modes", self.measure_wanted.emit, "primary"
        )
        self.measure_button.setObjectName("lab_measure")
        self.line = JobLine()
        self.line.cancel_button.setObjectName("lab_cancel")
        self.line.changed.connect(lambda _: self._on_changed())
        self._lay_out()
        self.show_shelf(Shelf())

    def _mode_button(self, mode: Mode) -> QToolButton:
        button = QToolButton()
        button.setObjectName(f"lab_mode_{mode}")
        button.setText(mode)
        button.setIcon(icons.icon("dot", theme.ranker_colour(mode)))
        button.setIconSize(QSize(10, 10))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setCheckable(True)
        button.setChecked(True)
        button.setToolTip(f"Measure {mode}: {MODE_TIPS[mode]}")
        theme.mark(button, "mode")
        button.toggled.connect(lambda _: self._on_changed())
        return button

    def _make_cut(self) -> QSpinBox:
        cut = QSpinBox()
        cut.setObjectName("lab_k")
        cut.setRange(1, DEEPEST)
        cut.setValue(10)
        cut.setPrefix("k ")
        cut.setAlignment(Qt.AlignmentFlag.AlignCenter)
        cut.setFixedWidth(64)
        cut.setToolTip("How many answers count")
        return cut

    def _lay_out(self) -> None:
        first = QHBoxLayout()
        first.setSpacing(4)
        for button in self.modes.values():
            first.addWidget(button)
        first.addStretch(1)
        first.addWidget(self.measure_button)
        second = QHBoxLayout()
        second.setSpacing(6)
        for widget in (
            self.metrics_button,
            self.cut,
            self.level,
            self.graders_button,
            self.without_button,
        ):
            second.addWidget(widget)
        second.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(first)
        column.addLayout(second)
        column.addWidget(self.line)

    # --- choosing

    def settings(self) -> LabSettings:
        """What is to be measured."""
        return LabSettings(
            modes=tuple(mode for mode, button in self.modes.items() if button.isChecked()),
            k=self.cut.value(),
            metrics=tuple(name for name in METRICS if name in self._metrics),
            rel_lvl=cast(int, self.level.currentData()),
            graders=self._graders,
        )

    def show_shelf(self, shelf: Shelf) -> None:
        self._shelf = shelf
        if self._graders is not None and not set(self._graders) <= set(shelf.graders):
            self._graders = None
        self.graders_button.setText(plain(self._graders[0], 20) if self._graders else "Everybody")
        self.graders_button.setVisible(len(shelf.graders) > 1)
        self.without_button.setEnabled(len(shelf.roots) > 1)
        self._on_changed()

    def toggle_metric(self, name: str) -> None:
        """Takes a metric in or out; one always stays."""
        if name in self._metrics and len(self._metrics) > 1:
            self._metrics.remove(name)
        elif name not in self._metrics:
            self._metrics.append(name)
        self._on_changed()

    def set_graders(self, graders: tuple[str, ...] | None) -> None:
        self._graders = graders
        self.show_shelf(self._shelf)

    def _on_changed(self) -> None:
        some = any(button.isChecked() for button in self.modes.values())
        ready = some and bool(self._shelf.answered) and not self.line.running
        self.measure_button.setEnabled(ready)
        self.without_button.setEnabled(ready and len(self._shelf.roots) > 1)
        if self._shelf.current is not None and not self._shelf.answered:
            self.measure_button.setToolTip("No query of this set has an answer yet: grade some clips first")
        else:
            self.measure_button.setToolTip("Run every query of the set through these modes")
        self.settings_changed.emit()

    def _fill_metrics(self, menu: QMenu) -> None:
        for name in METRICS:
            action = menu.addAction(METRIC_NAMES[name], partial(self.toggle_metric, name))
            action.setCheckable(True)
            action.setChecked(name in self._metrics)
            action.setToolTip(metric_tip(name))

    def _fill_graders(self, menu: QMenu) -> None:
        choices = [("Everybody's grades", None), *((name, (name,)) for name in self._shelf.graders)]
        for label, graders in choices:
            action = menu.addAction(plain(label, 40), partial(self.set_graders, graders))
            action.setCheckable(True)
            action.setChecked(graders == self._graders)

    def _fill_roots(self, menu: QMenu) -> None:
        for root in self._shelf.roots:
            action = menu.addAction(f"Compare without {plain(root.name, 60)}", partial(self._without, root))
            action.setToolTip(text.plain_tooltip(root.path))

    def _without(self, root: Root) -> None:
        self.without_wanted.emit(root)
