"""Learning the fusion from grades: what it gained in training and what on queries that had no say.

Nothing is applied but by the button, and one button takes it back.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from foley_desktop.library.rankers import RANKERS
from foley_desktop.library.tuning import Tuning
from foley_desktop.ui import buttons, text, theme
from foley_desktop.ui.job_line import JobLine
from foley_desktop.ui.lab_words import change_colour, counts_words, fusion_words, signed, signed_interval
from foley_desktop.workers.job import Job
from foley_desktop.workers.lab_jobs import Shelf


class FusionPanel(QWidget):
    """Shows a :class:`Tuning` and asks for one, for its use, and for going back."""

    tune_wanted = Signal()
    apply_wanted = Signal(object)
    revert_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._tuning: Tuning | None = None
        self._shelf = Shelf()
        self.in_use = buttons.words("", "dim", wrap=True)
        self.in_use.setObjectName("lab_fusion_in_use")
        self.tune_button = buttons.push(
            "Tune fusion on this set",
            "Search weights and depth by cross-validation over the queries; nothing is applied",
            self.tune_wanted.emit,
        )
        self.tune_button.setObjectName("lab_tune")
        self.revert_button = buttons.push(
            "Revert", "Go back to the fusion from before the last tuning", self.revert_wanted.emit
        )
        self.revert_button.setObjectName("lab_revert")
        self.apply_button = buttons.push("Apply", "Search with the tuned fusion from now on", self._apply)
        self.apply_button.setObjectName("lab_apply")
        self.why_not = buttons.words("", "", wrap=True)
        self.why_not.setObjectName("lab_too_few")
        _paint(self.why_not, "amber")
        self.line = JobLine()
        self.line.changed.connect(lambda _: self._update())
        self.training = _Gain("Training gain")
        self.held_out = _Gain("Held-out gain")
        self.sentence = buttons.words("", "", wrap=True)
        self.sentence.setObjectName("lab_tuning")
        self.weights = QGridLayout()
        self.weights.setHorizontalSpacing(18)
        self.weights.setVerticalSpacing(3)
        self._outcome = QWidget()
        self._lay_out()
        self.show_tuning(None)

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(6)
        line.addWidget(self.tune_button)
        line.addWidget(self.revert_button)
        line.addStretch(1)
        tiles = QHBoxLayout()
        tiles.setSpacing(8)
        tiles.addWidget(self.training, 1)
        tiles.addWidget(self.held_out, 1)
        last = QHBoxLayout()
        last.addLayout(self.weights)
        last.addStretch(1)
        last.addWidget(self.apply_button)
        inside = QVBoxLayout(self._outcome)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(7)
        inside.addLayout(tiles)
        inside.addWidget(self.sentence)
        inside.addLayout(last)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 8)
        column.setSpacing(7)
        column.addWidget(self.in_use)
        column.addLayout(line)
        column.addWidget(self.why_not)
        column.addWidget(self.line)
        column.addWidget(self._outcome)
        column.addStretch(1)

    def show_shelf(self, shelf: Shelf) -> None:
        other = (shelf.current and shelf.current.id) != (self._shelf.current and self._shelf.current.id)
        self._shelf = shelf
        self.in_use.setText(f"Fusion in use: {fusion_words(shelf.fusion)}")
        self.why_not.setText(shelf.too_few)
        if other:
            self.show_tuning(None)
        self._update()

    def follow(self, job: Job) -> None:
        self.line.follow(job)
        job.finished.connect(self.show_tuning)

    def show_tuning(self, tuning: Tuning | None) -> None:
        """What a tuning found; None clears it."""
        self._tuning = tuning
        self._outcome.setVisible(tuning is not None)
        if tuning is not None:
            self._show_gains(tuning)
            self._show_weights(tuning)
            self.sentence.setText(tuning.sentence())
            better = tuning.worthwhile
            theme.mark(self.apply_button, "primary" if better else "")
            self.apply_button.style().polish(self.apply_button)
            self.apply_button.setText("Apply" if better else "Apply anyway")
            self.apply_button.setEnabled(tuning.fusion != tuning.before)
        self._update()

    def _show_gains(self, tuning: Tuning) -> None:
        out, metric = tuning.held_out, f"nDCG@{tuning.k}"
        counted = f"n = {tuning.queries} queries"
        self.training.show_gain(
            tuning.training,
            f"{metric} on the {counted} that the weights were chosen on, which flatters them",
        )
        p_value = "p < 0.001" if out.p_value < 0.001 else f"p = {out.p_value:.3f}"
        self.held_out.show_gain(
            out.difference,
            f"{metric}, 95 % interval {signed_interval(out.low, out.high)}, {p_value}, {counted}, each "
            f"scored with weights chosen without it: {counts_words(out)}",
        )

    def _show_weights(self, tuning: Tuning) -> None:
        while self.weights.count():
            item = self.weights.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        heads = ("weight of", "in use", "tuned", f"chosen by each of the {len(tuning.folds)} folds")
        for column, words in enumerate(heads):
            self.weights.addWidget(buttons.words(words, "faint"), 0, column)
        fusions = (tuning.before, tuning.fusion, *tuning.folds)
        for line, ranker in enumerate(RANKERS, 1):
            shares = [fusion.weights[ranker] / (sum(fusion.weights.values()) or 1.0) for fusion in fusions]
            folds = "  ".join(f"{share:.2f}" for share in shares[2:])
            for column, words in enumerate((ranker, f"{shares[0]:.2f}", f"{shares[1]:.2f}", folds)):
                self.weights.addWidget(buttons.words(words, "" if column < 3 else "dim"), line, column)
        depths = ("depth", str(tuning.before.depth), str(tuning.fusion.depth))
        for column, words in enumerate((*depths, "  ".join(str(fold.depth) for fold in tuning.folds))):
            self.weights.addWidget(buttons.words(words, "dim"), len(RANKERS) + 1, column)

    def _apply(self) -> None:
        if self._tuning is not None:
            self.apply_button.setEnabled(False)
            self.apply_wanted.emit(self._tuning)

    def _update(self) -> None:
        ready = self._shelf.current is not None and not self._shelf.too_few and not self.line.running
        self.tune_button.setEnabled(ready)
        self.why_not.setVisible(bool(self._shelf.too_few))
        self.revert_button.setVisible(self._shelf.can_revert)


class _Gain(QFrame):
    """A figure with its name above and what it rests on below."""

    def __init__(self, title: str) -> None:
        super().__init__()
        theme.mark(self, "tile")
        self.figure = buttons.words("", "figure")
        self.figure.setObjectName("lab_" + title.lower().replace(" ", "_").replace("-", "_"))
        self.words = buttons.words("", "small", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 8, 8)
        column.setSpacing(1)
        column.addWidget(buttons.words(title, "small"))
        column.addWidget(self.figure)
        column.addWidget(self.words)
        column.addStretch(1)

    def show_gain(self, value: float, words: str) -> None:
        self.figure.setText(signed(value))
        palette = self.figure.palette()
        palette.setColor(self.figure.foregroundRole(), change_colour(value))
        self.figure.setPalette(palette)
        self.words.setText(words)
        self.setToolTip(text.plain_tooltip(words))


def _paint(label: QLabel, colour: str) -> None:
    palette = label.palette()
    palette.setColor(label.foregroundRole(), theme.colour(colour))
    label.setPalette(palette)
