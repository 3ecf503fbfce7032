"""What writing would change, file by file, before the first file is touched."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QPainter
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.audio.tagwriter import Change
from foley_desktop.library.editing import FIELDS
from foley_desktop.library.write_preview import LOCKED, FilePlan
from foley_desktop.ui import buttons, icons, text, theme

MOST_LISTED = 1000
"""Files of a batch that are listed; of more the others are counted."""
_LABELS = {field.name: field.label for field in FIELDS} | {"category_full": "Category, whole"}
_HEADS = ("File and field", "Now", "Will be", "Where")


class _Tree(QTreeWidget):
    """A tree whose arrows are drawn here: style sheets can only take them from files."""

    def drawBranches(
        self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        item = self.itemFromIndex(index)
        if item is not None and item.childCount():
            name = "chevron" if item.isExpanded() else "chevron_right"
            area = QRectF(rect.right() - 13, rect.center().y() - 5, 11, 11)
            icons.paint(painter, name, area, theme.colour("faint"))


class WriteDialog(QDialog):
    """Takes plans in portions with :meth:`add`; ``write_wanted(ids, everything, backup)`` is the answer."""

    write_wanted = Signal(list, bool, bool)
    look_wanted = Signal(bool)
    """The plans are to be made anew, with everything that counts or with edits alone."""
    unlock_wanted = Signal(list)
    """Ids of folders."""

    def __init__(self, parent: QWidget, total: int) -> None:
        super().__init__(parent)
        self.setObjectName("write_dialog")
        self.setWindowTitle("Write to files")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(QSize(860, 560))
        self._total = total
        self._plans: list[FilePlan] = []
        self.summary = buttons.words("", "dim", wrap=True)
        self.summary.setObjectName("write_summary")
        self.tree = self._make_tree()
        self.lock = self._make_lock()
        self.backup = QCheckBox("Keep the old version of each file beside it (.bak)")
        self.backup.setObjectName("write_backup")
        self.backup.setToolTip("Needs as much room again as the files take")
        self.everything = QCheckBox("Also what comes from lists, from files beside the sounds and from names")
        self.everything.setObjectName("write_everything")
        self.everything.setToolTip("Otherwise only what was edited here is written")
        self.everything.toggled.connect(self._look_again)
        self.write = buttons.push("Write", "Write the new values into the files", self._on_write, "primary")
        self.write.setObjectName("write_start")
        self._lay_out()
        self._tell()

    def _make_tree(self) -> QTreeWidget:
        tree = _Tree()
        tree.setObjectName("write_tree")
        tree.setHeaderLabels(list(_HEADS))
        tree.setIndentation(16)
        tree.setUniformRowHeights(True)
        tree.setAlternatingRowColors(False)
        tree.setSelectionMode(QTreeWidget.SelectionMode.NoSelection)
        tree.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        tree.itemClicked.connect(lambda item: item.setExpanded(not item.isExpanded()))
        tree.setExpandsOnDoubleClick(False)
        header = tree.header()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        for column, width in enumerate((210, 220, 220)):
            tree.setColumnWidth(column, width)
        return tree

    def _make_lock(self) -> QFrame:
        strip = QFrame()
        theme.mark(strip, "banner")
        self.lock_words = buttons.words("", wrap=True)
        self.unlock = buttons.push("Unlock …", "Let the files of the folder be changed", self._on_unlock)
        self.unlock.setObjectName("write_unlock")
        line = QHBoxLayout(strip)
        line.setContentsMargins(12, 6, 8, 6)
        line.addWidget(self.lock_words, 1)
        line.addWidget(self.unlock)
        strip.hide()
        return strip

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 14)
        column.setSpacing(9)
        column.addWidget(buttons.words("Write to files", "title"))
        column.addWidget(self.summary)
        column.addWidget(self.lock)
        column.addWidget(self.tree, 1)
        column.addWidget(self.everything)
        column.addWidget(self.backup)
        said = (
            "Each file is written anew beside the old one and compared sample by sample; only then does it "
            "take the old one's place. Times and permissions stay."
        )
        column.addWidget(buttons.words(said, "small", wrap=True))
        line = QHBoxLayout()
        line.addStretch(1)
        line.addWidget(buttons.push("Cancel", "Change nothing", self.reject))
        line.addWidget(self.write)
        column.addLayout(line)

    # --- filling

    @property
    def is_complete(self) -> bool:
        """Whether all files were looked at."""
        return len(self._plans) >= self._total

    @property
    def plans(self) -> Sequence[FilePlan]:
        return self._plans

    def clear(self) -> None:
        """All files are looked at anew."""
        self._plans = []
        self.tree.clear()
        self._tell()

    def add(self, plans: Sequence[FilePlan]) -> None:
        """The next files."""
        self._plans += plans
        for plan in plans:
            if self.tree.topLevelItemCount() < MOST_LISTED:
                self._add(plan)
        self._tell()

    def finish(self) -> None:
        """No more files follow: some may have left the library meanwhile."""
        self._total = len(self._plans)
        self._tell()

    def _add(self, plan: FilePlan) -> None:
        state, shade = _state(plan)
        item = QTreeWidgetItem(self.tree, [f"{text.shown(plan.name)}   ·   {state}"])
        item.setFirstColumnSpanned(True)
        item.setToolTip(0, text.plain_tooltip(f"{plan.path}\n{state}"))
        item.setForeground(0, QBrush(theme.colour(shade)))
        for field, old, new, places in merged(plan.changes):
            cells = [
                _LABELS.get(field, field),
                text.shown(old) or "–",
                text.shown(new) or "taken out",
                places,
            ]
            child = QTreeWidgetItem(item, cells)
            for column, shade in ((0, "dim"), (1, "faint"), (2, "accent" if new else "amber"), (3, "faint")):
                child.setForeground(column, QBrush(theme.colour(shade)))
                child.setToolTip(column, text.plain_tooltip(cells[column]))
        for note in plan.notes:
            child = QTreeWidgetItem(item, ["Note", text.shown(note)])
            child.setToolTip(1, text.plain_tooltip(note))
            child.setForeground(0, QBrush(theme.colour("amber")))
        item.setExpanded(self.tree.topLevelItemCount() <= 40)

    def _tell(self) -> None:
        written = [plan for plan in self._plans if plan.will_be_written]
        refused = sum(bool(plan.reason) for plan in self._plans)
        same = len(self._plans) - len(written) - refused
        parts = [f"{text.plural(len(written), 'file')} will be written"]
        if same:
            parts.append(f"{text.count(same)} {'says' if same == 1 else 'say'} it all already")
        if refused:
            parts.append(f"{text.count(refused)} cannot be written")
        words = ", ".join(parts) + "."
        if not self.is_complete:
            words = f"Looking at the files: {text.count(len(self._plans))} of {text.count(self._total)} …"
        elif len(self._plans) > MOST_LISTED:
            words += f" The first {text.count(MOST_LISTED)} are listed."
        self.summary.setText(words)
        nothing = "Nothing to write" if self.is_complete else "Write"
        self.write.setText(f"Write {text.plural(len(written), 'file')}" if written else nothing)
        self.write.setEnabled(self.is_complete and bool(written))
        locked = [plan for plan in self._plans if plan.reason == LOCKED]
        self.lock.setVisible(bool(locked))
        self.lock_words.setText(locked[0].problem + " Its files cannot be changed." if locked else "")

    # --- answers

    def _look_again(self) -> None:
        self.clear()
        self.look_wanted.emit(self.everything.isChecked())

    def _on_unlock(self) -> None:
        self.unlock_wanted.emit(sorted({plan.root_id for plan in self._plans if plan.reason == LOCKED}))

    def _on_write(self) -> None:
        ids = [plan.clip_id for plan in self._plans if plan.will_be_written]
        self.accept()
        self.write_wanted.emit(ids, self.everything.isChecked(), self.backup.isChecked())


def merged(changes: Sequence[Change]) -> list[tuple[str, str, str, str]]:
    """``(field, old, new, places)``: places in which the same happens are one line."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for change in changes:
        found.setdefault((change.field, change.old, change.new), []).append(change.source)
    return [(field, old, new, ", ".join(places)) for (field, old, new), places in found.items()]


def _state(plan: FilePlan) -> tuple[str, str]:
    if plan.reason:
        return text.shown(plan.problem), "red"
    if plan.changes:
        fields = len({change.field for change in plan.changes})
        return text.plural(fields, "field changes", "fields change"), "text"
    return "says it all already", "faint"
