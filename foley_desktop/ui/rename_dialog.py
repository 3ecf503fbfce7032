"""Renaming many files at once: a pattern, what the names share, and every name before anything happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QSpinBox,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.library.file_names import LONGEST_BYTES
from foley_desktop.library.name_template import PARTS, UCS_PATTERN
from foley_desktop.library.renaming import RenamePlan
from foley_desktop.library.ucs_names import NameParts
from foley_desktop.ui import buttons, tables, text
from foley_desktop.ui.rename_model import NEW, OLD, RenameModel
from foley_desktop.workers.edit_jobs import RenamePreview

UCS = "UCS name"
PATTERNS = (
    (UCS, UCS_PATTERN),
    ("CatID and title", "{catid}_{fx_name}"),
    ("Category, title, number", "{category} {title} {number}"),
    ("Name and creator", "{name}[_{creator}]"),
)
WAIT_MS = 250


class RenameDialog(QDialog):
    """``preview_wanted(parts, own)`` asks for a plan, which :meth:`show_preview` shows.

    ``rename_wanted(plan)`` is the answer.
    """

    preview_wanted = Signal(object, dict)
    rename_wanted = Signal(object)
    history_wanted = Signal()

    def __init__(self, parent: QWidget, ids: Sequence[str], known: dict[str, Any]) -> None:
        super().__init__(parent)
        self.setObjectName("rename_dialog")
        self.setWindowTitle("Rename files")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(QSize(1060, 620))
        self._count = len(ids)
        self._own: dict[str, str] = {}
        self._plan: RenamePlan | None = None
        self.model = RenameModel()
        self.model.named.connect(self._on_named)
        self.table = self._make_table()
        self.pattern = self._make_pattern(known.get("pattern"))
        self.creator = self._line("rename_creator", "creator's ID", known.get("creator"))
        self.source = self._line("rename_source", "source's ID", known.get("source"))
        self.user_category = self._line("rename_user_category", "none", known.get("user_category"))
        self.user_data = self._line("rename_user_data", "none", known.get("user_data"))
        self.replace = QCheckBox("also where a file has other ones")
        self.replace.setObjectName("rename_replace")
        self.longest = QSpinBox()
        self.longest.setObjectName("rename_longest")
        self.longest.setRange(40, LONGEST_BYTES)
        self.longest.setValue(LONGEST_BYTES)
        self.longest.setSuffix(" bytes")
        self.longest.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.longest.setFixedWidth(96)
        self.longest.setToolTip("Longer names are cut; file systems take 255 bytes")
        self.only_problems = QCheckBox("Only what needs a look")
        self.only_problems.setObjectName("rename_only_problems")
        self.only_problems.toggled.connect(self.model.show_only_problems)
        self.leave_out = QCheckBox("Leave out files that cannot be renamed")
        self.leave_out.setObjectName("rename_leave_out")
        self.leave_out.toggled.connect(lambda _: self._tell())
        self.summary = buttons.words("Making the names …", "dim", wrap=True)
        self.summary.setObjectName("rename_summary")
        self.apply = buttons.push("Rename", "Give the files their new names", self._on_apply, "primary")
        self.apply.setObjectName("rename_start")
        self.apply.setEnabled(False)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(WAIT_MS)
        self._timer.timeout.connect(self.ask)
        self.pattern.editTextChanged.connect(lambda _: self._timer.start())
        self.replace.toggled.connect(lambda _: self._timer.start())
        self.longest.valueChanged.connect(lambda _: self._timer.start())
        self._lay_out()

    def _line(self, name: str, hint: str, value: object) -> QLineEdit:
        line = QLineEdit(value if isinstance(value, str) else "")
        line.setObjectName(name)
        line.setPlaceholderText(hint)
        line.textEdited.connect(lambda _: self._timer.start())
        return line

    def _make_pattern(self, known: object) -> QComboBox:
        box = buttons.Choice()
        box.setObjectName("rename_pattern")
        box.setEditable(True)
        box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        for label, pattern in PATTERNS:
            box.addItem(pattern)
            box.setItemData(box.count() - 1, label, Qt.ItemDataRole.ToolTipRole)
        box.setEditText(known if isinstance(known, str) and known else UCS_PATTERN)
        parts = "\n".join(f"{{{part}}}  {meaning}" for part, meaning in PARTS.items())
        box.setToolTip(text.plain_tooltip(f"{parts}\n[…] is left out when one of its parts is empty"))
        return box

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setObjectName("rename_table")
        table.setModel(self.model)
        header = tables.of_rows(table, editable=True)
        header.setDefaultAlignment(tables.LEFT)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        table.setColumnWidth(OLD, 240)
        table.setColumnWidth(NEW, 330)
        return table

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(7)
        cells: tuple[tuple[int, int, str, QWidget], ...] = (
            (1, 0, "Creator", self.creator),
            (1, 2, "Source", self.source),
            (2, 0, "User category", self.user_category),
            (2, 2, "User data", self.user_data),
        )
        grid.addWidget(buttons.words("Pattern", "dim"), 0, 0)
        grid.addWidget(self.pattern, 0, 1, 1, 4)
        for row, first, label, widget in cells:
            grid.addWidget(buttons.words(label, "dim"), row, first)
            grid.addWidget(widget, row, first + 1)
        grid.addWidget(self.replace, 1, 4)
        longest = QHBoxLayout()
        longest.setSpacing(8)
        longest.addWidget(buttons.words("Longest", "dim"))
        longest.addWidget(self.longest)
        longest.addStretch(1)
        grid.addLayout(longest, 2, 4)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 14)
        column.setSpacing(9)
        column.addWidget(buttons.words(f"Rename {text.plural(self._count, 'file')}", "title"))
        column.addLayout(grid)
        line = QHBoxLayout()
        line.addWidget(self.summary, 1)
        line.addWidget(self.only_problems)
        column.addLayout(line)
        column.addWidget(self.table, 1)
        said = (
            "A double click on a new name changes it by hand. Either all files are renamed or none; ratings, "
            "collections and edits stay with them."
        )
        column.addWidget(buttons.words(said, "small", wrap=True))
        last = QHBoxLayout()
        last.addWidget(
            buttons.push("History …", "Former renamings, to take them back", self.history_wanted.emit)
        )
        last.addStretch(1)
        last.addWidget(self.leave_out)
        last.addWidget(buttons.push("Cancel", "Change nothing", self.reject))
        last.addWidget(self.apply)
        column.addLayout(last)

    # --- the plan

    def parts(self) -> NameParts:
        """What the names share, as it is chosen now."""
        return NameParts(
            creator=self.creator.text().strip(),
            source=self.source.text().strip(),
            user_category=self.user_category.text().strip(),
            user_data=self.user_data.text().strip(),
            replace=self.replace.isChecked(),
            longest=self.longest.value(),
            pattern=self.pattern.currentText().strip(),
        )

    def remembered(self) -> dict[str, Any]:
        """What the next renaming begins with."""
        parts = self.parts()
        return {
            "pattern": parts.pattern,
            "creator": parts.creator,
            "source": parts.source,
            "user_category": parts.user_category,
            "user_data": parts.user_data,
        }

    def ask(self) -> None:
        """Asks for the names of what is chosen now."""
        self._timer.stop()
        self.apply.setEnabled(False)
        self.preview_wanted.emit(self.parts(), dict(self._own))

    def show_preview(self, found: RenamePreview) -> None:
        """The plan that was asked for."""
        self._plan = None if found.problem else found.plan
        self.model.show_rows(found.plan.rows, found.made, frozenset(self._own))
        if found.problem:
            self.summary.setText(text.shown(found.problem))
            self.apply.setEnabled(False)
            return
        self._tell()

    def _on_named(self, clip_id: str, name: str) -> None:
        if name:
            self._own[clip_id] = name
        else:
            self._own.pop(clip_id, None)
        self.ask()

    def _tell(self) -> None:
        plan = self._plan
        if plan is None:
            return
        good = self._to_do(plan)
        problems = plan.problems
        parts = [f"{text.plural(plan.to_rename, 'file')} would get a new name"]
        if problems:
            parts.append(f"{text.count(problems)} cannot be renamed that way")
        if unfinished := sum(1 for row in plan.rows if self.model.remark(row)[1] == "amber"):
            parts.append(f"{text.count(unfinished)} {'lacks' if unfinished == 1 else 'lack'} a part")
        self.summary.setText(", ".join(parts) + ".")
        self.leave_out.setVisible(problems > 0)
        self.apply.setText(f"Rename {text.plural(len(good), 'file')}" if good else "Rename")
        self.apply.setEnabled(bool(good) and (not problems or self.leave_out.isChecked()))
        self.apply.setToolTip(
            "Give the files their new names"
            if self.apply.isEnabled() or not problems
            else "Change the names marked red, or leave them out"
        )

    @staticmethod
    def _to_do(plan: RenamePlan) -> list[Any]:
        return [row for row in plan.rows if not row.problems and not row.unchanged]

    def _on_apply(self) -> None:
        if self._plan is not None:
            good = RenamePlan(tuple(self._to_do(self._plan)))
            self.accept()
            self.rename_wanted.emit(good)
