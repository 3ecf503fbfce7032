"""One query of a measurement, looked at closely: its answers with grades, who brought each of them and at
which rank, and where the relevant clips stand that are missing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QMenu,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.library.lab_details import DEEP, DetailRow, QueryDetails, Standing
from foley_desktop.library.rankers import RANKERS
from foley_desktop.models import Clip
from foley_desktop.ui import buttons, text, theme
from foley_desktop.ui.grading_model import GRADE_WORDS, grade_colour, grade_words

ROW_ROLE = Qt.ItemDataRole.UserRole
_GRADE = 2
_FIRST_RANKER = 3
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class DetailsTree(QTreeWidget):
    """Groups of clips; letters are keys of the window, not a search for names."""

    def keyboardSearch(self, search: str) -> None:
        """Nothing."""


class QueryPanel(QWidget):
    """``clip_chosen(clip)`` when the user moves to one; ``grade_wanted(query id, clip id, grade)``."""

    clip_chosen = Signal(object)
    play_wanted = Signal()
    search_wanted = Signal(str)
    grade_wanted = Signal(str, str, object)

    def __init__(self) -> None:
        super().__init__()
        self._details: QueryDetails | None = None
        self._k = 10
        self.title = buttons.ElidedLabel("title")
        self.title.setObjectName("lab_query_title")
        self.facts = buttons.ElidedLabel("dim")
        self.search_button = buttons.push("Search for it", "Put this query into the search box", self._search)
        self.tree = self._make_tree()
        head = QHBoxLayout()
        head.setContentsMargins(8, 6, 8, 0)
        head.setSpacing(8)
        head.addWidget(self.title, 1)
        head.addWidget(self.search_button)
        facts = QHBoxLayout()
        facts.setContentsMargins(8, 0, 8, 0)
        facts.addWidget(self.facts)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addLayout(head)
        column.addLayout(facts)
        column.addWidget(self.tree, 1)
        self.show_words("Choose a query in the table to see what each ranker brought for it.")

    def _make_tree(self) -> QTreeWidget:
        tree = DetailsTree()
        tree.setObjectName("lab_details")
        tree.setColumnCount(_FIRST_RANKER + len(RANKERS))
        tree.setHeaderLabels(["Clip", "Rank", "Grade", *RANKERS])
        for section, name in enumerate(RANKERS, _FIRST_RANKER):
            tree.headerItem().setToolTip(section, f"The clip's rank in the {name} ranker alone")
        for section in (1, *range(_FIRST_RANKER, tree.columnCount())):
            tree.headerItem().setTextAlignment(section, _RIGHT)
        tree.setUniformRowHeights(True)
        tree.setAlternatingRowColors(True)
        tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.setIndentation(12)
        tree.setFont(theme.digits_font(tree.font()))
        header = tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, header.ResizeMode.Stretch)
        for section, width in enumerate([46, 88, *[62] * len(RANKERS)], 1):
            header.setSectionResizeMode(section, header.ResizeMode.Interactive)
            tree.setColumnWidth(section, width)
        tree.currentItemChanged.connect(self._on_current)
        tree.itemActivated.connect(lambda *_: self.play_wanted.emit())
        tree.customContextMenuRequested.connect(self._show_menu)
        return tree

    # --- what is shown

    @property
    def details(self) -> QueryDetails | None:
        return self._details

    def show_words(self, words: str) -> None:
        """A sentence instead of a query."""
        self._details = None
        self.title.set_words("")
        self.facts.set_words(words)
        self.search_button.hide()
        self.tree.clear()

    def show_details(self, details: QueryDetails, k: int, rel_lvl: int, depth: int) -> None:
        """A query's answers, the missing relevant clips first."""
        self._details, self._k = details, k
        self.title.set_words(f"“{text.shown(details.text, 120)}”")
        self.title.setToolTip(text.plain_tooltip(details.text))
        self.facts.set_words(
            f"{details.mode} · first {len(details.ranked)} answers of a run {depth} deep · ranks of each "
            f"ranker alone, down to {text.count(DEEP)}"
        )
        self.search_button.show()
        self.tree.blockSignals(True)
        self.tree.clear()
        relevant = f"relevant clip{'' if len(details.missing) == 1 else 's'} (from grade {rel_lvl})"
        self._add_group(
            f"Missing: {len(details.missing)} {relevant} not among the first {k}", details.missing
        )
        self._add_group(f"Answers: {len(details.ranked)}", details.ranked)
        self.tree.blockSignals(False)

    def _add_group(self, title: str, rows: Iterable[DetailRow]) -> None:
        group = QTreeWidgetItem([title])
        group.setFlags(Qt.ItemFlag.ItemIsEnabled)
        group.setForeground(0, theme.colour("dim"))
        for row in rows:
            group.addChild(self._item(row))
        self.tree.addTopLevelItem(group)
        group.setFirstColumnSpanned(True)
        group.setExpanded(True)

    def _item(self, row: DetailRow) -> QTreeWidgetItem:
        name = text.file_name(row.clip) if row.clip else f"not in the library: {text.shown(row.clip_id, 80)}"
        item = QTreeWidgetItem([name, str(row.rank) if row.rank else "–"])
        item.setData(0, ROW_ROLE, row)
        item.setToolTip(0, text.plain_tooltip(row.clip.path if row.clip else row.clip_id))
        item.setTextAlignment(1, _RIGHT)
        item.setForeground(1, theme.colour("text" if row.rank and row.rank <= self._k else "faint"))
        if row.clip is None or row.clip.status != "ok":
            item.setForeground(0, theme.colour("faint"))
        _show_grade(item, row.grade)
        for section, ranker in enumerate(RANKERS, _FIRST_RANKER):
            standing = row.standings[ranker]
            brought = standing.rank is not None and standing.rank <= self._k
            item.setText(section, standing_words(standing))
            item.setToolTip(section, _standing_tip(ranker, standing))
            item.setTextAlignment(section, _RIGHT)
            item.setForeground(section, theme.ranker_colour(ranker) if brought else theme.colour("faint"))
        return item

    def rows(self) -> list[DetailRow]:
        """Every row that is shown, in order."""
        return [item.data(0, ROW_ROLE) for item in self.items()]

    def items(self) -> list[QTreeWidgetItem]:
        """The items of the clips, in order."""
        groups = [self.tree.topLevelItem(number) for number in range(self.tree.topLevelItemCount())]
        return [
            item for group in groups if group for n in range(group.childCount()) if (item := group.child(n))
        ]

    # --- what is done

    def _on_current(self, current: QTreeWidgetItem | None, previous: object) -> None:
        row: DetailRow | None = current.data(0, ROW_ROLE) if current else None
        clip: Clip | None = row.clip if row else None
        if clip is not None:
            self.clip_chosen.emit(clip)

    def _search(self) -> None:
        if self._details is not None:
            self.search_wanted.emit(self._details.text)

    def _show_menu(self, position: QPoint) -> None:
        item = self.tree.itemAt(position)
        if item is not None and item.data(0, ROW_ROLE) is not None:
            menu = self.make_menu(item)
            menu.popup(self.tree.viewport().mapToGlobal(position))

    def make_menu(self, item: QTreeWidgetItem) -> QMenu:
        """Grades for a clip of the list."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for grade, words in GRADE_WORDS.items():
            menu.addAction(f"Grade {grade}: {words}", partial(self._grade, item, grade))
        menu.addAction("Take my grade back", partial(self._grade, item, None))
        return menu

    def _grade(self, item: QTreeWidgetItem, grade: int | None) -> None:
        if self._details is not None:
            row: DetailRow = item.data(0, ROW_ROLE)
            _show_grade(item, grade)
            self.grade_wanted.emit(self._details.query_id, row.clip_id, grade)


def _show_grade(item: QTreeWidgetItem, grade: int | None) -> None:
    item.setText(_GRADE, grade_words(grade))
    item.setForeground(_GRADE, theme.colour(grade_colour(grade)))


def standing_words(standing: Standing) -> str:
    """A rank; ``> 1000`` below what is looked through; a dash where the ranker knows nothing of the clip."""
    if standing.rank is not None:
        return str(standing.rank)
    return "–" if standing.score is None else f"> {DEEP}"


def _standing_tip(ranker: str, standing: Standing) -> str:
    if standing.rank is None and standing.score is None:
        return f"{ranker} knows nothing of this clip: none of the words, or no vector"
    place = f"rank {standing.rank}" if standing.rank else f"below rank {DEEP}"
    return f"{ranker}: {place}" + ("" if standing.score is None else f", score {standing.score:.4f}")
