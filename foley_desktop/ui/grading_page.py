"""What a grading session looks like: a banner that says which keys grade, and the candidates to hear."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHBoxLayout, QTableView, QVBoxLayout, QWidget

from foley_desktop.library.grading import Sheet
from foley_desktop.models import Clip
from foley_desktop.ui import buttons, tables, text, theme
from foley_desktop.ui.grading_model import GRADE_WORDS, WIDTHS, CandidatesModel

_TIPS = {0: "No answer to this query", 1: "Would do", 2: "Just what is asked for"}


class GradingBanner(QFrame):
    """Shown across the window as long as digits grade. Says the query, what is left, and the keys."""

    grade_pressed = Signal(int)
    undo_pressed = Signal()
    skip_pressed = Signal()
    next_pressed = Signal()
    widen_pressed = Signal()
    leave_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("grading_banner")
        theme.mark(self, "grading")
        self.heading = buttons.words("GRADING", "grading-heading")
        self.where = buttons.ElidedLabel("dim")
        self.query = buttons.ElidedLabel("title")
        self.query.setObjectName("grading_query")
        self.counts = buttons.words("", "dim")
        self.counts.setObjectName("grading_counts")
        self.grades = [self._grade_button(grade) for grade in GRADE_WORDS]
        self.widen = self._button(
            "Whole set", "Grade the whole set, not only these clips", self.widen_pressed
        )
        self.undo = self._button(
            "Undo  U", "Take the last grade or skip back  (U or Ctrl+Z)", self.undo_pressed
        )
        self.skip = self._button("Skip  K", "Leave this query for later  (K)", self.skip_pressed)
        self.next = self._button("Next query  N", "This query is done  (N)", self.next_pressed)
        self.leave = self._button(
            "Leave", "End the session; it goes on from here the next time", self.leave_pressed
        )
        self._lay_out()
        self.hide()

    def _button(self, label: str, tip: str, signal: object) -> QWidget:
        button = buttons.push(label, tip, signal.emit)  # type: ignore[attr-defined]
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keys stay with the candidates
        return button

    def _grade_button(self, grade: int) -> QWidget:
        button = buttons.push(
            f"{grade}  {GRADE_WORDS[grade]}",
            f"{_TIPS[grade]}  ({grade})",
            partial(self.grade_pressed.emit, grade),
            f"grade-{grade}",
        )
        button.setObjectName(f"grading_grade_{grade}")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button

    def _lay_out(self) -> None:
        first = QHBoxLayout()
        first.setSpacing(8)
        first.addWidget(self.heading)
        first.addWidget(self.where, 1)
        for button in (self.widen, self.undo, self.skip, self.next, self.leave):
            first.addWidget(button)
        second = QHBoxLayout()
        second.setSpacing(8)
        second.addWidget(self.query, 1)
        second.addWidget(self.counts)
        second.addSpacing(6)
        for button in self.grades:
            second.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 7, 10, 8)
        column.setSpacing(6)
        column.addLayout(first)
        column.addLayout(second)

    def show_waiting(self, set_name: str, grader: str) -> None:
        """While candidates are looked for; nothing can be graded then."""
        self.where.set_words(text.shown(f"{set_name} · grader {grader}", 120))
        self.query.set_words("Looking for candidates in every mode …")
        self.counts.setText("")
        self._enable(False)
        self.widen.hide()
        self.show()

    def show_sheet(self, sheet: Sheet, set_name: str, grader: str, focused: bool) -> None:
        where = f"{set_name} · query {sheet.number} of {sheet.total} · {sheet.done} done · grader {grader}"
        if focused:
            where = f"Only clips that took the place of good ones · {where}"
        self.where.set_words(text.shown(where, 200))
        self.query.set_words(f"“{text.shown(sheet.query.text, 200)}”")
        self.query.setToolTip(text.plain_tooltip(sheet.query.text))
        self.widen.setVisible(focused)
        self._enable(True)
        self.show()

    def show_counts(self, unjudged: int, total: int) -> None:
        """How many of the candidates have no grade yet."""
        if not total:
            self.counts.setText("no candidates: N for the next query")
        elif unjudged:
            self.counts.setText(f"{total - unjudged} of {total} graded, {unjudged} unjudged")
        else:
            self.counts.setText(f"all {total} graded: N for the next query")
        theme.mark(self.next, "primary" if not unjudged else "")
        self.next.style().polish(self.next)

    def _enable(self, enabled: bool) -> None:
        for button in (*self.grades, self.undo, self.skip, self.next):
            button.setEnabled(enabled)


class CandidatesView(QTableView):
    """The candidates; moving to one says so, whether by arrow, click, or because one was graded."""

    clip_chosen = Signal(object)

    def __init__(self, model: CandidatesModel) -> None:
        super().__init__()
        self.setObjectName("grading_candidates")
        self._candidates = model
        self._empty = ""
        self.setModel(model)
        header = tables.of_rows(self, several=False, room=2)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header.setStretchLastSection(True)
        for number, width in enumerate(WIDTHS[:-1]):
            self.setColumnWidth(number, width)
        self.selectionModel().currentRowChanged.connect(self._on_current)

    def current_row(self) -> int:
        return self.currentIndex().row()

    def go_to(self, row: int) -> None:
        self.selectRow(row)
        self.scrollTo(self._candidates.index(row, 0))

    def set_empty_words(self, words: str) -> None:
        self._empty = words
        self.viewport().update()

    def keyboardSearch(self, search: str) -> None:
        """Letters are keys of the window here, not a search for names."""

    def _on_current(self, current: QModelIndex, previous: QModelIndex) -> None:
        clip: Clip | None = self._candidates.clip_at(current.row())
        if clip is not None:
            self.clip_chosen.emit(clip)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._candidates.rowCount() or not self._empty:
            return
        painter = QPainter(self.viewport())
        painter.setPen(theme.colour("dim"))
        painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, self._empty)
        painter.end()
