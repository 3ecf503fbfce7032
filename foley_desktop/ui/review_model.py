"""The rows of the category review: a sound, what is suggested for it, and what became of that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from foley_desktop.library.suggesting import Suggestion
from foley_desktop.models import Clip
from foley_desktop.ui import icons, text, theme
from foley_desktop.workers.category_jobs import Proposal

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
CONFIDENCE = Qt.ItemDataRole.UserRole + 10
"""0 to 1, None where nothing is suggested; drawn as a bar."""

STATE, NAME, CATEGORY, CATID, SURE, WHY, LENGTH, FOLDER = range(8)
TITLES = ("", "Sound", "Category", "CatID", "Confidence", "Because of", "Length", "Folder")
WIDTHS = (28, 250, 220, 100, 118, 170, 66, 200)

WITNESSES = {
    "words": "words",
    "meaning": "meaning",
    "sound": "sound",
    "neighbours": "similar sounds",
}


@dataclass(slots=True)
class Line:
    """One sound. ``catid`` is what was accepted, ``place`` which suggestion is offered now."""

    clip: Clip
    suggestions: tuple[Suggestion, ...]
    place: int = 0
    catid: str = ""

    @property
    def offered(self) -> Suggestion | None:
        return self.suggestions[self.place] if self.place < len(self.suggestions) else None

    @property
    def open(self) -> bool:
        """Whether nothing has been decided yet and something is offered."""
        return not self.catid and self.offered is not None


def percent(share: float) -> str:
    """``62 %``; small shares are not called none, nor large ones certain."""
    if share < 0.005:
        return "< 1 %"
    return "> 99 %" if share > 0.995 else f"{share:.0%}".replace("%", " %")


def reasons(suggestion: Suggestion) -> list[str]:
    """Which witnesses speak for a suggestion, the strongest first."""
    ranked = sorted(suggestion.why.items(), key=lambda item: -item[1])
    return [WITNESSES.get(name, name) for name, vote in ranked if vote > 0.05]


class ReviewModel(QAbstractTableModel):
    """Lines in the order they came, or sorted by a column."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Line] = []
        self._names: dict[str, tuple[str, str]] = {}

    def set_choices(self, choices: Iterable[tuple[str, str, str]]) -> None:
        """Names of the categories by CatID."""
        self._names = {catid: (category, subcategory) for catid, category, subcategory in choices}

    def clear(self) -> None:
        self.beginResetModel()
        self.lines = []
        self.endResetModel()

    def add(self, proposals: Sequence[Proposal]) -> None:
        """More lines at the end; a clip that is there already is passed over."""
        known = {line.clip.id for line in self.lines}
        fresh = [Line(p.clip, p.suggestions) for p in proposals if p.clip.id not in known]
        if fresh:
            first = len(self.lines)
            self.beginInsertRows(NO_PARENT, first, first + len(fresh) - 1)
            self.lines += fresh
            self.endInsertRows()

    def line_at(self, row: int) -> Line | None:
        return self.lines[row] if 0 <= row < len(self.lines) else None

    def row_of(self, clip_id: str) -> int | None:
        return next((row for row, line in enumerate(self.lines) if line.clip.id == clip_id), None)

    def next_open(self, row: int) -> int | None:
        """The first undecided line below ``row``, or above it when there is none below."""
        order = [*range(row + 1, len(self.lines)), *range(0, row)]
        return next((at for at in order if self.lines[at].open), None)

    @property
    def left(self) -> int:
        """Lines without a decision."""
        return sum(not line.catid for line in self.lines)

    def above(self, threshold: float) -> dict[str, str]:
        """CatIDs by clip of the open lines whose suggestion is at least so sure."""
        return {
            line.clip.id: line.offered.catid
            for line in self.lines
            if not line.catid and line.offered is not None and line.offered.confidence >= threshold
        }

    def accept(self, catids: dict[str, str]) -> None:
        """Ticks the lines of some clips."""
        for row, line in enumerate(self.lines):
            if line.clip.id in catids:
                line.catid = catids[line.clip.id]
                self._tell(row)

    def reopen(self, ids: Iterable[str]) -> None:
        """Takes ticks away."""
        wanted = set(ids)
        for row, line in enumerate(self.lines):
            if line.clip.id in wanted:
                line.catid = ""
                self._tell(row)

    def move(self, row: int, places: int) -> None:
        """Offers the next suggestion of a line, or one before."""
        line = self.lines[row]
        line.place = max(0, min(len(line.suggestions), line.place + places))
        self._tell(row)

    def _tell(self, row: int) -> None:
        self.dataChanged.emit(self.index(row, 0), self.index(row, len(TITLES) - 1))

    # --- Qt

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(TITLES)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return TITLES[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self.line_at(index.row())
        if line is None:
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._shown(line, column)
        if role == CONFIDENCE and column == SURE:
            return line.offered.confidence if line.offered is not None and not line.catid else None
        if role == Qt.ItemDataRole.DecorationRole and column == STATE and line.catid:
            return icons.icon("check", theme.colour("accent"))
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.colour("faint") if line.catid and column != CATEGORY else None
        if role == Qt.ItemDataRole.TextAlignmentRole and column == LENGTH:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.ToolTipRole:
            return text.plain_tooltip(self._tip(line))
        return None

    def _pair(self, line: Line) -> tuple[str, str, str]:
        """CatID, category and subcategory that the line shows: accepted, or offered."""
        if line.catid:
            return (line.catid, *self._names.get(line.catid, ("", "")))
        offered = line.offered
        return (offered.catid, offered.category, offered.subcategory) if offered else ("", "", "")

    def _shown(self, line: Line, column: int) -> str:
        clip, (catid, category, subcategory) = line.clip, self._pair(line)
        if column == NAME:
            return text.file_name(clip)
        if column == CATEGORY:
            return f"{category} / {subcategory}" if catid else "nothing fits"
        if column == CATID:
            return catid
        if column == WHY:
            return ", ".join(reasons(line.offered)) if line.offered and not line.catid else ""
        if column == LENGTH:
            return text.duration(clip.duration_s)
        if column == FOLDER:
            return text.folder(clip)
        return ""

    def _tip(self, line: Line) -> str:
        lines = [text.shown(line.clip.rel_path)]
        if line.clip.description:
            lines.append(text.description(line.clip))
        for number, suggestion in enumerate(line.suggestions):
            mark = "▸ " if number == line.place and not line.catid else ""
            words = ", ".join(reasons(suggestion))
            lines.append(
                f"{mark}{suggestion.category} / {suggestion.subcategory}  {percent(suggestion.confidence)}"
                + (f"  ({words})" if words else "")
            )
        return "\n".join(lines)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sorts the lines; by confidence the undecided come first."""

        def key(line: Line) -> tuple[Any, ...]:
            if column == SURE:
                sure = line.offered.confidence if line.offered else 0.0
                return (not line.catid, sure)
            if column == STATE:
                return (bool(line.catid),)
            if column == LENGTH:
                return (line.clip.duration_s or 0.0,)
            return (self._shown(line, column).casefold(),)

        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        clips = [self.lines[index.row()].clip.id for index in before]
        self.lines.sort(key=key, reverse=order == Qt.SortOrder.DescendingOrder)
        rows = {line.clip.id: row for row, line in enumerate(self.lines)}
        after = [
            self.index(rows[clip_id], index.column()) for clip_id, index in zip(clips, before, strict=True)
        ]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()
