"""What is to be delivered where, under which names, with everything checked before the first copy is made."""

from __future__ import annotations

import os
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.errors import FoleyError
from foley_desktop.library.delivering import DeliveryPlan
from foley_desktop.library.ucs_names import NameParts
from foley_desktop.models import Clip
from foley_desktop.ui import buttons, prompt, tables, text, theme
from foley_desktop.ui.deliver_model import NAME, DeliveryModel

CHECK_MS = 250


class DeliverDialog(QDialog):
    """Shows and asks; checking and copying are done by whoever hears its signals."""

    plan_wanted = Signal()
    deliver_wanted = Signal()
    categories_wanted = Signal(list)
    """These clips have no category yet; whoever delivers wants to give them one first."""

    def __init__(self, parent: QWidget, clips: Sequence[Clip], folder: str, parts: NameParts) -> None:
        super().__init__(parent)
        self.setObjectName("deliver_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Deliver")
        self._clips = list(clips)
        self.ids = [clip.id for clip in clips]
        self.names: dict[str, str] = {}
        self.plan: DeliveryPlan | None = None
        self._folder = folder
        self.folder = self._line("deliver_folder", text.shown(folder), "The folder is made if need be")
        self.folder.textEdited.connect(self._on_folder)
        self.browse = buttons.push("Choose …", "Choose a folder", self.choose_folder)
        self.creator = self._line("deliver_creator", parts.creator, "Who made the sounds, such as JD")
        self.source = self._line("deliver_source", parts.source, "Project, show or library, such as MYSHOW")
        self.user_category = self._line(
            "deliver_user_category", parts.user_category, "Optional, behind the CatID"
        )
        self.user_data = self._line("deliver_user_data", parts.user_data, "Optional, at the end of each name")
        self.replace_own = QCheckBox("Also where a sound has its own")
        self.replace_own.setObjectName("deliver_replace")
        self.replace_own.setToolTip("Off, these IDs are used only where a sound has none")
        self.replace_own.setChecked(parts.replace)
        self.model = DeliveryModel()
        self.table = self._make_table()
        self.only_wrong = QCheckBox("Only those with problems")
        self.only_wrong.setObjectName("deliver_only_wrong")
        self.leave_out = buttons.push(
            "Leave these out", "Deliver only the sounds without problems", self._on_leave_out
        )
        self.leave_out.setObjectName("deliver_leave_out")
        self.suggest = buttons.push(
            "Suggest categories …", "Closes this and suggests a category for each that has none",
            self._on_suggest,
        )  # fmt: skip
        self.suggest.setObjectName("deliver_suggest")
        self.summary = buttons.words("Checking …", wrap=True)
        self.summary.setObjectName("deliver_summary")
        self.accept_button = buttons.push("Deliver", "Make the copies; the originals are only read",
                                          self.deliver_wanted.emit, "primary")  # fmt: skip
        self.accept_button.setObjectName("deliver_start")
        self.accept_button.setEnabled(False)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(CHECK_MS)
        self._timer.timeout.connect(self.plan_wanted)
        self._lay_out()
        self._connect()
        (self.creator if not parts.creator else self.table).setFocus()

    @staticmethod
    def _line(name: str, value: str, tip: str) -> QLineEdit:
        line = QLineEdit(value)
        line.setObjectName(name)
        line.setToolTip(tip)
        line.setPlaceholderText(tip)
        return line

    def _make_table(self) -> QTableView:
        view = QTableView()
        view.setObjectName("deliver_table")
        view.setModel(self.model)
        header = tables.of_rows(view, editable=True, room=2)
        header.setDefaultAlignment(tables.LEFT)
        header.setStretchLastSection(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        view.setColumnWidth(0, 220)
        view.setColumnWidth(NAME, 380)
        return view

    def _lay_out(self) -> None:
        single = len(self._clips) == 1
        what = text.file_name(self._clips[0]) if single else text.plural(len(self._clips), "sound")
        place = QHBoxLayout()
        place.setSpacing(8)
        place.addWidget(self.folder, 1)
        place.addWidget(self.browse)
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(7)
        grid.addWidget(buttons.words("Folder", "dim"), 0, 0)
        grid.addLayout(place, 0, 1, 1, 4)
        cells = (
            ("Creator ID", self.creator, "Source ID", self.source),
            ("User category", self.user_category, "User data", self.user_data),
        )
        for row, (first, left, second, right) in enumerate(cells, 1):
            grid.addWidget(buttons.words(first, "dim"), row, 0)
            grid.addWidget(left, row, 1)
            grid.addWidget(buttons.words(second, "dim"), row, 2)
            grid.addWidget(right, row, 3)
        grid.addWidget(self.replace_own, 1, 4)
        for number in (1, 3):
            grid.setColumnStretch(number, 1)
        said = QHBoxLayout()
        said.setSpacing(8)
        said.addWidget(self.only_wrong)
        said.addWidget(self.leave_out)
        said.addWidget(self.suggest)
        said.addStretch(1)
        hint = "Double click a name to change it. The catalog's words are written into the copies."
        said.addWidget(buttons.words(hint, "small"))
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.summary, 1)
        line.addWidget(buttons.push("Cancel", "Make no copies", self.reject))
        line.addWidget(self.accept_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(9)
        column.addWidget(buttons.words(f"Deliver {what} under UCS names", "title", wrap=True))
        column.addLayout(grid)
        column.addWidget(self.table, 1)
        column.addLayout(said)
        column.addLayout(line)
        self.resize(QSize(1000, 600))

    def _connect(self) -> None:
        for line in (self.creator, self.source, self.user_category, self.user_data):
            line.textEdited.connect(lambda _: self._ask())
        self.replace_own.toggled.connect(lambda _: self._ask())
        self.only_wrong.toggled.connect(lambda _: self._hide_rows())
        self.model.renamed.connect(self._on_renamed)

    # --- asking

    def _ask(self) -> None:
        self.accept_button.setEnabled(False)
        self._timer.start()

    def _on_folder(self, typed: str) -> None:
        self._folder = os.path.expanduser(typed.strip())
        self._ask()

    def _on_renamed(self, clip_id: str, name: str) -> None:
        if name:
            self.names[clip_id] = name
        else:
            self.names.pop(clip_id, None)
        self._ask()

    def choose_folder(self) -> None:
        """Opens a folder dialog; it does not block."""
        prompt.ask_folder(self, "Deliver to", self.set_folder, self._folder)

    def set_folder(self, folder: str) -> None:
        """Another folder to deliver to."""
        self._folder = folder
        self.folder.setText(text.shown(folder))
        self._ask()

    @property
    def target(self) -> str:
        """The folder the copies go to."""
        return self._folder

    @property
    def parts(self) -> NameParts:
        """What the names share."""
        return NameParts(
            self.creator.text().strip(),
            self.source.text().strip(),
            self.user_category.text().strip(),
            self.user_data.text().strip(),
            self.replace_own.isChecked(),
        )

    # --- showing

    def show_plan(self, plan: DeliveryPlan) -> None:
        """Names and problems as they are now."""
        self.plan = plan
        self.model.show_plan(plan)
        self._hide_rows()
        wrong = sum(bool(item.problems) for item in plan.items)
        self.only_wrong.setVisible(bool(wrong) or self.only_wrong.isChecked())
        self.leave_out.setVisible(0 < wrong < len(plan.items))
        self.suggest.setVisible(any(not item.clip.catid for item in plan.items))
        copies = text.plural(len(plan.items), "copy", "copies")
        if plan.problems:
            self._say(" ".join(plan.problems), good=False)
        elif wrong:
            verb = "has a problem" if wrong == 1 else "have problems"
            sentence = f"{text.count(wrong)} of {copies} {verb}. Nothing is made until all are ready."
            self._say(sentence, good=False)
        else:
            size = f"{max(0.1, plan.size_bytes / 1e6):,.1f} MB"
            self._say(f"{copies}, {size} at most, and {plan.manifest} beside them.", good=True)
        self.accept_button.setEnabled(plan.good)
        self.accept_button.setText(f"Deliver {copies}" if plan.good else "Deliver")

    def show_error(self, error: FoleyError) -> None:
        """Why it cannot be checked."""
        self.plan = None
        self._say(f"{error.sentence} {error.hint}".strip(), good=False)

    def _on_leave_out(self) -> None:
        if self.plan is not None:
            kept = {item.clip.id for item in self.plan.items if not item.problems}
            self.ids = [clip_id for clip_id in self.ids if clip_id in kept]
            self.only_wrong.setChecked(False)
            self._ask()

    def _on_suggest(self) -> None:
        if self.plan is not None:
            self.categories_wanted.emit([i.clip for i in self.plan.items if not i.clip.catid])
            self.reject()

    def _hide_rows(self) -> None:
        for row, item in enumerate(self.model.items):
            self.table.setRowHidden(row, self.only_wrong.isChecked() and not item.problems)

    def _say(self, words: str, *, good: bool) -> None:
        self.summary.setText(text.shown(words, 400))
        theme.mark(self.summary, "dim" if good else "wrong")
        self.summary.style().polish(self.summary)
