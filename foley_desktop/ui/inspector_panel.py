"""The inspector: every field of the selected sounds, who says what, and the technical facts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.library.editing import FIELDS, Shown
from foley_desktop.ui import buttons, icons, inspector_facts, text, theme
from foley_desktop.ui.category_field import Choice
from foley_desktop.ui.inspector_row import LABEL_WIDTH, CategoryEditor, FieldRow, source_words, told
from foley_desktop.workers.edit_jobs import Inspection, Steps

NOTHING = "Nothing selected"
ADVICE = "Select a sound, or many of them, to see and edit everything that is known about them."
_GROUPS = tuple(dict.fromkeys(field.group for field in FIELDS))
_UNKNOWN = Shown("", False, 0, ())
_MOST_OTHERS = 12
"""Values of one label that are listed; a file may have hundreds of markers."""


class Section(QWidget):
    """A heading that folds what is below it."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.toggle = buttons.tool("chevron", f"Fold {title}", self._fold, size=11, label=title.upper())
        theme.mark(self.toggle, "section")
        self.body = QWidget()
        self.rows = QVBoxLayout(self.body)
        self.rows.setContentsMargins(12, 0, 10, 8)
        self.rows.setSpacing(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(1)
        column.addWidget(self.toggle)
        column.addWidget(self.body)

    @property
    def is_folded(self) -> bool:
        return self.body.isHidden()

    def _fold(self) -> None:
        self.set_folded(not self.is_folded)

    def set_folded(self, folded: bool) -> None:
        self.body.setHidden(folded)
        self.toggle.setIcon(icons.icon("chevron_right" if folded else "chevron"))
        self.toggle.setToolTip(f"{'Show' if folded else 'Fold'} {self.title}")


class InspectorPanel(QDockWidget):
    """Shows an :class:`Inspection` and says what the user changed in it.

    Every change names the clips it is meant for: those that were shown when it was typed.
    """

    field_set = Signal(list, str, str)
    """Ids, field, value."""
    field_reverted = Signal(list, str)
    rated = Signal(int)
    favoured = Signal()
    undo_wanted = Signal()
    redo_wanted = Signal()
    write_wanted = Signal()
    refused = Signal(str)
    """Why what was typed was not taken; a sentence."""
    words_wanted = Signal(str)
    """Someone types into this field: values to complete with are wanted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Inspector", parent)
        self.setObjectName("inspector_dock")
        self.setAllowedAreas(Qt.DockWidgetArea.RightDockWidgetArea | Qt.DockWidgetArea.LeftDockWidgetArea)
        self._inspection: Inspection | None = None
        self._rating = 0
        self.rows = {field.name: FieldRow(field) for field in FIELDS}
        self.sections = {group: Section(group) for group in (*_GROUPS, "Other labels", "File")}
        for row in self.rows.values():
            row.taken.connect(self._on_taken)
            row.reverted.connect(self._on_reverted)
            row.entered.connect(self.words_wanted)
            row.editor.undo_wanted.connect(self.undo_wanted)
            row.editor.redo_wanted.connect(self.redo_wanted)
            self.sections[row.field.group].rows.addWidget(row)
        catid = self.rows["catid"].editor
        assert isinstance(catid, CategoryEditor)
        catid.refused.connect(
            lambda typed: self.refused.emit(f"The UCS has no category “{text.shown(typed, 60)}”.")
        )
        self._others = self._grid("Other labels")
        self._facts = self._grid("File")
        self.pages = QStackedWidget()
        self.pages.addWidget(self._empty_page())
        self.pages.addWidget(self._lay_out())
        self.setWidget(self.pages)
        self.show_steps(Steps())

    # --- layout

    def _lay_out(self) -> QWidget:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 10)
        column.setSpacing(0)
        for section in self.sections.values():
            column.addWidget(section)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inside)
        page = QWidget()
        outer = QVBoxLayout(page)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self._head())
        outer.addWidget(buttons.rule())
        outer.addWidget(scroll, 1)
        outer.addWidget(self._foot())
        page.setMinimumWidth(300)
        return page

    def _head(self) -> QWidget:
        self.title = buttons.ElidedLabel("title")
        self.title.setObjectName("inspector_title")
        self.summary = buttons.ElidedLabel("dim")
        self.warnings = buttons.words("", "warn", wrap=True)
        self.warnings.setObjectName("inspector_warnings")
        self.undo = buttons.tool("undo", "", self.undo_wanted.emit, size=16)
        self.redo = buttons.tool("redo", "", self.redo_wanted.emit, size=16)
        self.stars = [
            buttons.tool("star", text.plural(n, "star"), partial(self._on_star, n), size=14)
            for n in range(1, 6)
        ]
        self.heart = buttons.tool("heart", "Favourite  (F)", self.favoured.emit, size=15)
        third = QHBoxLayout()
        third.setSpacing(0)
        for star in (*self.stars, self.heart):
            third.addWidget(star)
        third.addStretch(1)
        third.addWidget(self.undo)
        third.addWidget(self.redo)
        head = QWidget()
        theme.mark(head, "panel")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(head)
        column.setContentsMargins(12, 9, 8, 4)
        column.setSpacing(3)
        column.addWidget(self.title)
        column.addWidget(self.summary)
        column.addWidget(self.warnings)
        column.addLayout(third)
        return head

    def _foot(self) -> QWidget:
        self.unwritten = buttons.words("", "dim", wrap=True)
        self.write = buttons.push(
            "Write to files …", "See what would change in the files, and write it  (Ctrl+S)",
            self.write_wanted.emit,
        )  # fmt: skip
        self.write.setObjectName("inspector_write")
        self.foot = QFrame()
        theme.mark(self.foot, "bar")
        line = QHBoxLayout(self.foot)
        line.setContentsMargins(12, 7, 10, 7)
        line.addWidget(self.unwritten, 1)
        line.addWidget(self.write)
        return self.foot

    def _empty_page(self) -> QWidget:
        page = QWidget()
        theme.mark(page, "panel")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.nothing = buttons.words(NOTHING, "lead")
        advice = buttons.words(ADVICE, "faint", wrap=True)
        column = QVBoxLayout(page)
        column.setContentsMargins(26, 0, 26, 0)
        column.addStretch(2)
        for label in (self.nothing, advice):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(label)
        column.addStretch(3)
        return page

    def _grid(self, title: str) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(3)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.setColumnStretch(1, 1)
        self.sections[title].rows.addLayout(grid)
        return grid

    # --- showing

    @property
    def inspection(self) -> Inspection | None:
        return self._inspection

    @property
    def ids(self) -> tuple[str, ...]:
        """The clips that what is typed now is meant for."""
        return self._inspection.ids if self._inspection is not None else ()

    def begin(self, count: int) -> None:
        """Something else is selected and being read: what was typed is taken, nothing can be typed now."""
        self.flush()
        self._inspection = None
        for row in self.rows.values():
            row.set_open(False)
        if count > 1:
            self.title.set_words(text.plural(count, "sound"))
            self.summary.set_words("reading …")

    def show_inspection(self, found: Inspection) -> None:
        """Shows what was read. Of the clips that were shown before, what is being typed stays."""
        self._inspection = found
        self.pages.setCurrentIndex(1 if found.facts.clips else 0)
        if not found.facts.clips:
            return
        title, summary = inspector_facts.headline(found)
        self.title.set_words(title)
        self.title.setToolTip(text.plain_tooltip(found.clip.path if found.clip is not None else title))
        self.summary.set_words(summary)
        warnings = inspector_facts.warnings(found)
        self.warnings.setText(
            "\n".join(f"{w.words}: {w.sentence}" if w.sentence else w.words for w in warnings)
        )
        self.warnings.setVisible(bool(warnings))
        for name, row in self.rows.items():
            row.set_open(bool(found.ids))
            row.show_field(found.shown.get(name, _UNKNOWN), len(found.ids), found.distinct.get(name, 0))
        self._show_others(found)
        _fill(self._facts, inspector_facts.lines(found))
        self._show_rating(found.rating, found.favourite, bool(found.ids))
        self._show_unwritten(found.facts.unwritten, len(found.ids))

    def _show_others(self, found: Inspection) -> None:
        known = {field.name for field in FIELDS}
        lines = []
        for name, shown in sorted(found.shown.items()):
            if name in known or not shown.values:
                continue
            values = told(shown.values)
            label = name.replace("_", " ")
            if shown.mixed:
                words = f"{text.count(found.distinct[name])} values"
                lines.append((label, f"{words}   ({source_words(values[0].sources)})"))
                continue
            for said in values[:_MOST_OTHERS]:
                lines.append((label, f"{said.value}   ({source_words(said.sources)})"))
                label = ""
            if len(values) > _MOST_OTHERS:
                lines.append(("", f"and {text.count(len(values) - _MOST_OTHERS)} more"))
        _fill(self._others, lines)
        self.sections["Other labels"].setVisible(bool(lines))

    def _show_rating(self, rating: int, favourite: bool, can_rate: bool) -> None:
        self._rating = rating
        for number, star in enumerate(self.stars, start=1):
            star.setIcon(icons.icon("star", theme.colour("amber" if number <= rating else "edge")))
            star.setVisible(can_rate)
        name, shade = ("heart_filled", "red") if favourite else ("heart", "edge")
        self.heart.setIcon(icons.icon(name, theme.colour(shade)))
        self.heart.setVisible(can_rate)

    def _show_unwritten(self, count: int, clips: int) -> None:
        self.foot.setVisible(count > 0)
        if clips == 1:
            self.unwritten.setText("Edited here, not in the file yet.")
        else:
            self.unwritten.setText(f"{text.count(count)} of them edited here, not in their files yet.")

    def show_steps(self, steps: Steps) -> None:
        """What undo and redo would do, in their tooltips."""
        for button, word, label, key in (
            (self.undo, "Undo", steps.undo, "Ctrl+Z"),
            (self.redo, "Redo", steps.redo, "Ctrl+Shift+Z"),
        ):
            button.setEnabled(bool(label))
            tip = (
                f"{word}: {text.shown(lowered(label), 120)}  ({key})"
                if label
                else f"Nothing to {word.lower()}"
            )
            button.setToolTip(text.plain_tooltip(tip))

    def set_categories(self, choices: Sequence[Choice]) -> None:
        """The table of the UCS, to choose a CatID from."""
        editor = self.rows["catid"].editor
        assert isinstance(editor, CategoryEditor)
        editor.set_choices(choices)
        self.rows["category"].editor.complete_with(sorted({category for _, category, _ in choices}))
        self.rows["subcategory"].editor.complete_with(sorted({sub for _, _, sub in choices}))

    # --- what the user does

    def flush(self) -> None:
        """Takes what is being typed, for the clips it was typed for."""
        for row in self.rows.values():
            row.editor.take()

    def focus_field(self, name: str = "title") -> None:
        """Puts the cursor into a field."""
        row = self.rows[name]
        self.sections[row.field.group].set_folded(False)
        row.editor.setFocus(Qt.FocusReason.ShortcutFocusReason)
        row.editor.selectAll()

    def _on_taken(self, field: str, value: str) -> None:
        if self.ids:
            self.field_set.emit(list(self.ids), field, value)

    def _on_reverted(self, field: str) -> None:
        if self.ids:
            self.field_reverted.emit(list(self.ids), field)

    def _on_star(self, number: int) -> None:
        self.rated.emit(0 if number == self._rating else number)


def lowered(label: str) -> str:
    """A step's label inside a sentence: ``Description of …`` as ``description of …``."""
    return label[:1].lower() + label[1:]


def _fill(grid: QGridLayout, lines: Sequence[tuple[str, str]]) -> None:
    """Lines of label and value, reusing the labels that are there."""
    for number in range(max(len(lines), grid.rowCount())):
        cells = [_cell(grid, number, column) for column in (0, 1)]
        if number < len(lines) and cells[0] is None:
            cells = [buttons.words("", "dim"), _selectable()]
            for column, label in enumerate(cells):
                assert label is not None
                grid.addWidget(label, number, column, Qt.AlignmentFlag.AlignTop)
        for column, label in enumerate(cells):
            if label is not None:
                label.setText(lines[number][column] if number < len(lines) else "")
                label.setVisible(number < len(lines))


def _cell(grid: QGridLayout, row: int, column: int) -> QLabel | None:
    item = grid.itemAtPosition(row, column)
    found = item.widget() if item is not None else None
    return found if isinstance(found, QLabel) else None


def _selectable() -> QLabel:
    label = buttons.words("", "", wrap=True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setMinimumWidth(60)
    return label
