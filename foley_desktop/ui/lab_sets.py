"""The golden set in hand: choosing it, all that can be done with it, grading it, who graded it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from foley_desktop.ui import buttons, text
from foley_desktop.ui.menu_button import MenuButton, plain
from foley_desktop.workers.lab_jobs import Shelf

_SET_ACTIONS: tuple[tuple[str, str, str], ...] = (
    ("create", "New …", "A new, empty golden set"),
    ("rename", "Rename …", "Another name for this set; it stays the same set"),
    ("duplicate", "Duplicate …", "A new set with the same queries and judgements"),
    ("delete", "Delete …", "Forget this set with its judgements and baselines"),
    ("", "", ""),
    ("queries", "Add queries …", "Add queries, one a line"),
    ("edit", "Edit or remove queries …", "The queries of this set"),
    ("", "", ""),
    ("import", "Import …", "Read a set: our JSON, TREC qrels, or a CSV of query, clip, grade"),
    ("merge", "Take a file into this set …", "Another grader's judgements, say"),
    ("export", "Export …", "Write this set: .json, .csv, or .qrels for TREC"),
)
_FOR_ANY = frozenset({"create", "import"})


class SetsBar(QWidget):
    """Shows a :class:`Shelf`. ``wanted(name)`` says what is to be done with the set in hand."""

    set_chosen = Signal(str)
    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shelf = Shelf()
        self.choice: QComboBox = buttons.Choice()
        self.choice.setObjectName("lab_set")
        self.choice.setToolTip("The golden set: queries, and the clips that answer them")
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.choice.setMinimumContentsLength(12)
        self.choice.activated.connect(lambda _: self.set_chosen.emit(self.choice.currentData() or ""))
        self.menu_button = MenuButton("Set", "New, rename, import, export …", self._fill_set_menu)
        self.menu_button.setObjectName("lab_set_menu")
        self.grade_button = buttons.push(
            "Grade",
            "Hear candidates and grade them; goes on where you stopped",
            lambda: self.wanted.emit("grade"),
        )
        self.grade_button.setObjectName("lab_grade")
        self.more_button = MenuButton(
            "Grader", "Who grades, agreement, starting over", self._fill_grading_menu
        )
        self.more_button.setObjectName("lab_grader_menu")
        self.facts = buttons.ElidedLabel("dim")
        self.facts.setObjectName("lab_set_facts")
        line = QHBoxLayout()
        line.setSpacing(6)
        line.addWidget(self.choice, 1)
        line.addWidget(self.menu_button)
        line.addWidget(self.grade_button)
        line.addWidget(self.more_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(line)
        column.addWidget(self.facts)

    def show_shelf(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.choice.clear()
        for info in shelf.sets:
            self.choice.addItem(text.shown(info.name, 60), info.id)
            self.choice.setItemData(
                self.choice.count() - 1,
                text.plain_tooltip(
                    f"{info.name}\n{text.plural(info.queries, 'query', 'queries')}, "
                    f"{text.plural(info.judged, 'graded pair')} of query and clip"
                ),
                Qt.ItemDataRole.ToolTipRole,
            )
        if shelf.current is None:
            self.choice.addItem("No golden set yet", "")
        else:
            self.choice.setCurrentIndex(self.choice.findData(shelf.current.id))
        self.choice.setEnabled(shelf.current is not None)
        self.grade_button.setEnabled(bool(shelf.queries))
        self.facts.set_words(_facts(shelf))
        self.facts.setToolTip(text.plain_tooltip(_facts(shelf)))

    def _fill_set_menu(self, menu: QMenu) -> None:
        for name, label, tip in _SET_ACTIONS:
            if not name:
                menu.addSeparator()
                continue
            action = menu.addAction(label, partial(self.wanted.emit, name))
            action.setToolTip(tip)
            action.setEnabled(name in _FOR_ANY or self._shelf.current is not None)

    def _fill_grading_menu(self, menu: QMenu) -> None:
        shelf = self._shelf
        menu.addAction(f"Grader: {plain(shelf.grader, 40)} …", lambda: self.wanted.emit("grader"))
        again = menu.addAction("Grade from the first query again", lambda: self.wanted.emit("restart"))
        again.setEnabled(bool(shelf.queries))
        agree = menu.addAction("Agreement of graders …", lambda: self.wanted.emit("agreement"))
        agree.setEnabled(bool(shelf.agreements))
        if not shelf.agreements:
            agree.setToolTip("Two people have to grade this set first")


def _facts(shelf: Shelf) -> str:
    info = shelf.current
    if info is None:
        return "A golden set is what the search is measured with: make one, or import one."
    parts = [
        text.plural(info.queries, "query", "queries"),
        f"{text.count(shelf.answered)} with an answer",
        text.plural(info.judged, "graded pair"),
    ]
    parts += [f"{text.shown(name, 30)} {text.count(count)}" for name, count in shelf.graders.items()]
    if shelf.agreements:
        first, second, agreed = max(shelf.agreements, key=lambda one: one[2].clips)
        kappa = "no value" if agreed.kappa is None else f"{agreed.kappa:.2f}"
        parts.append(
            f"kappa {kappa} on n = {agreed.clips} ({text.shown(first, 20)}, {text.shown(second, 20)})"
        )
    return " · ".join(parts)


def agreement_lines(shelf: Shelf) -> list[str]:
    """Every two graders' agreement with the table of their grades."""
    lines = ["Cohen's kappa with quadratic weights, on the clips that both graded.", ""]
    for first, second, agreed in shelf.agreements:
        lines += [f"{first} and {second}: {agreed.sentence()}"]
        if agreed.clips:
            lines.append(f"  {first:>20} \\ {second}:   0    1    2")
            lines += [
                f"  {grade:>20}   " + " ".join(f"{count:>4}" for count in row)
                for grade, row in enumerate(agreed.table)
            ]
        lines.append("")
    return lines
