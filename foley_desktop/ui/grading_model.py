"""The candidates of one query in a grading session, as shuffled; which mode found them is not to be seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from foley_desktop.library.grading import Candidate
from foley_desktop.models import Clip
from foley_desktop.ui import text, theme

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()

GRADE_WORDS = {0: "wrong", 1: "acceptable", 2: "ideal"}
GRADE_COLOURS = {0: "red", 1: "amber", 2: "accent"}


def grade_words(grade: int | None) -> str:
    """``2 ideal``; ``unjudged`` where there is no grade."""
    return "unjudged" if grade is None else f"{grade} {GRADE_WORDS[grade]}"


def grade_colour(grade: int | None) -> str:
    """The palette's name for a grade's colour."""
    return "faint" if grade is None else GRADE_COLOURS[grade]


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    show: Callable[[Clip], str]
    width: int
    numeric: bool = False


_COLUMNS = (
    _Column("Grade", lambda clip: "", 112),
    _Column("Name", text.file_name, 300),
    _Column("Description", text.description, 240),
    _Column("Length", lambda clip: text.duration(clip.duration_s), 70, True),
    _Column("Folder", text.folder, 200),
)
WIDTHS = tuple(column.width for column in _COLUMNS)


class CandidatesModel(QAbstractTableModel):
    """Rows are candidates; grades change at once, whoever keeps them."""

    def __init__(self) -> None:
        super().__init__()
        self._clips: list[Clip] = []
        self._grades: list[int | None] = []
        self._playing = ""

    def show_candidates(self, candidates: Sequence[Candidate]) -> None:
        self.beginResetModel()
        self._clips = [candidate.clip for candidate in candidates]
        self._grades = [candidate.grade for candidate in candidates]
        self.endResetModel()

    def clip_at(self, row: int) -> Clip | None:
        return self._clips[row] if 0 <= row < len(self._clips) else None

    def grade_at(self, row: int) -> int | None:
        return self._grades[row]

    def row_of(self, clip_id: str) -> int | None:
        return next((row for row, clip in enumerate(self._clips) if clip.id == clip_id), None)

    @property
    def unjudged(self) -> int:
        return sum(grade is None for grade in self._grades)

    def set_grade(self, row: int, grade: int | None) -> None:
        self._grades[row] = grade
        self.dataChanged.emit(self.index(row, 0), self.index(row, len(_COLUMNS) - 1))

    def next_unjudged(self, row: int) -> int | None:
        """The next row without a grade, from the top again behind the last; None when all have one."""
        count = len(self._grades)
        rows = ((row + step) % count for step in range(1, count + 1)) if count else iter(())
        return next((found for found in rows if self._grades[found] is None), None)

    def set_playing(self, clip_id: str) -> None:
        """Marks the row that is heard."""
        old, self._playing = self._playing, clip_id
        for row in (self.row_of(old), self.row_of(clip_id)):
            if row is not None:
                self.dataChanged.emit(self.index(row, 0), self.index(row, len(_COLUMNS) - 1))

    # --- what Qt asks

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._clips)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(_COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or not 0 <= index.row() < len(self._clips):
            return None
        clip, column = self._clips[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return grade_words(self._grades[index.row()]) if column == 0 else _COLUMNS[column].show(clip)
        if role == Qt.ItemDataRole.ForegroundRole:
            if column == 0:
                return theme.colour(grade_colour(self._grades[index.row()]))
            if column == 1:
                return theme.colour("accent") if clip.id == self._playing else None
            return theme.colour("dim")
        if role == Qt.ItemDataRole.TextAlignmentRole and _COLUMNS[column].numeric:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole and column:
            return text.plain_tooltip(clip.path)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if _COLUMNS[section].numeric else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None
