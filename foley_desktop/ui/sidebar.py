"""The sidebar: folders with their switches, UCS categories with counts, recent searches."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.models import Root
from foley_desktop.ui import buttons, desk_icons, icons, text, theme
from foley_desktop.workers.jobs import Overview

KIND = Qt.ItemDataRole.UserRole
VALUE = Qt.ItemDataRole.UserRole + 1
COUNT = Qt.ItemDataRole.UserRole + 2
KEY = Qt.ItemDataRole.UserRole + 3

Index = QModelIndex | QPersistentModelIndex


class Sidebar(QWidget):
    """Shows an :class:`Overview` and says what was chosen in it."""

    add_wanted = Signal()
    rescan_wanted = Signal(object)
    """A Root, or None for all of them."""
    remove_wanted = Signal(object)
    reveal_wanted = Signal(str)
    searchable_changed = Signal(object, bool)
    lock_wanted = Signal(object, bool)
    """A Root, and whether its files are to be protected from changes."""
    everything_chosen = Signal()
    favourites_chosen = Signal()
    folder_chosen = Signal(object)
    category_chosen = Signal(str, str)
    recent_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        theme.mark(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._overview: Overview | None = None
        self._filling = False
        self._switched = False
        self._known: set[str] = set()
        self.tree = self._make_tree()
        self.add_button = buttons.tool("folder_add", "Add a folder of sounds", self.add_wanted.emit)
        self.rescan_button = buttons.tool("refresh", "Rescan all folders", self._rescan)
        self.remove_button = buttons.tool(
            "remove", "Select a folder to remove it from the library", self._remove
        )
        head = QHBoxLayout()
        head.setContentsMargins(12, 7, 6, 5)
        head.setSpacing(1)
        head.addWidget(buttons.words("LIBRARY", "heading"), 1)
        for button in (self.add_button, self.rescan_button, self.remove_button):
            head.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.tree, 1)
        self._update_buttons()

    def sizeHint(self) -> QSize:
        return QSize(236, 500)

    def _make_tree(self) -> QTreeWidget:
        tree = _Tree()
        tree.setHeaderHidden(True)
        tree.setIndentation(14)
        tree.setRootIsDecorated(True)
        tree.setUniformRowHeights(False)
        tree.setItemDelegate(_Delegate(tree))
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.setExpandsOnDoubleClick(True)
        tree.setAccessibleName("Library")
        tree.itemClicked.connect(self._on_clicked)
        tree.itemActivated.connect(self._on_clicked)
        tree.itemChanged.connect(self._on_changed)
        tree.itemSelectionChanged.connect(self._update_buttons)
        tree.customContextMenuRequested.connect(self._on_menu)
        return tree

    # --- filling

    def show_overview(self, overview: Overview) -> None:
        """Shows new contents; what was open, selected and scrolled to stays so."""
        if overview == self._overview:
            return
        opened = {i.data(0, KEY) for i in self._items() if i.isExpanded()} if self._overview else None
        selected = [item.data(0, KEY) for item in self.tree.selectedItems()]
        position = self.tree.verticalScrollBar().value()
        self._overview = overview
        self._filling = True
        try:
            self.tree.clear()
            self._fill(overview)
            for item in self._items():
                section = item.data(0, KIND) == "section"
                item.setExpanded(item.data(0, KEY) in opened if opened is not None else section)
                if section and opened is not None and not any(k == item.data(0, KEY) for k in self._known):
                    item.setExpanded(True)
                item.setSelected(item.data(0, KEY) in selected)
        finally:
            self._filling = False
        self._known = {item.data(0, KEY) for item in self._items()}
        self.tree.verticalScrollBar().setValue(position)
        self._update_buttons()

    def _fill(self, overview: Overview) -> None:
        top = self.tree.invisibleRootItem()
        _item(
            top,
            "everything",
            "All sounds",
            "library",
            count=overview.clip_count,
            tip="Every sound, unfiltered",
        )
        _item(top, "favourites", "Favourites", "heart", count=overview.favourites,
              tip="Only the sounds you marked with F")  # fmt: skip
        folders = _section(top, "Folders")
        for root in overview.roots:
            self._add_root(folders, root)
        if overview.categories:
            self._add_categories(_section(top, "Categories"), overview.categories)
        if overview.recent:
            recent = _section(top, "Recent searches")
            for query in overview.recent:
                _item(recent, "recent", text.shown(query, 80), "history", value=query, tip=query)

    def _add_root(self, folders: QTreeWidgetItem, root: Root) -> None:
        state = "" if root.online else "\nNot there now: connect its drive and rescan."
        rejected = (
            f"\n{text.plural(root.rejected_count, 'file')} could not be used" if root.rejected_count else ""
        )
        lock = (
            "\nLocked: its files are not renamed, written to or thrown away. The menu unlocks it."
            if root.locked
            else "\nUnlocked: its files may be renamed, written to and thrown away. The menu locks it."
        )
        tip = f"{root.path}{state}{rejected}{lock}\nThe box switches the folder in or out of searches."
        item = _item(
            folders, "root", text.shown(root.name), "folder", value=root, count=root.clip_count, tip=tip
        )
        item.setData(0, KEY, f"root {root.id}")
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(0, Qt.CheckState.Checked if root.searchable else Qt.CheckState.Unchecked)
        if not root.online:
            font = QFont(self.tree.font())
            font.setItalic(True)
            item.setFont(0, font)

    @staticmethod
    def _add_categories(section: QTreeWidgetItem, counts: dict[tuple[str, str], int]) -> None:
        totals: dict[str, int] = {}
        for (category, _), number in counts.items():
            totals[category] = totals.get(category, 0) + number
        for category in sorted(totals):
            parent = _item(section, "category",
                text.shown(category),
                "", value=(category, ""),
                           count=totals[category])  # fmt: skip
            for (owner, subcategory), number in sorted(counts.items()):
                if owner == category and subcategory:
                    _item(parent, "category", text.shown(subcategory), "", value=(category, subcategory),
                          count=number)  # fmt: skip

    def _items(self) -> list[QTreeWidgetItem]:
        found: list[QTreeWidgetItem] = []
        waiting = [self.tree.invisibleRootItem()]
        while waiting:
            parent = waiting.pop()
            children = [parent.child(number) for number in range(parent.childCount())]
            found += [child for child in children if child is not None]
            waiting += [child for child in children if child is not None]
        return found

    # --- choosing

    @property
    def selected_root(self) -> Root | None:
        for item in self.tree.selectedItems():
            if item.data(0, KIND) == "root":
                return item.data(0, VALUE)
        return None

    def clear_selection(self) -> None:
        self.tree.clearSelection()

    def _on_clicked(self, item: QTreeWidgetItem, column: int = 0) -> None:
        kind, value = item.data(0, KIND), item.data(0, VALUE)
        if kind == "section":
            item.setExpanded(not item.isExpanded())
        elif kind == "everything":
            self.everything_chosen.emit()
        elif kind == "favourites":
            self.favourites_chosen.emit()
        elif kind == "root" and not self._switched:
            self.folder_chosen.emit(value)
        elif kind == "category":
            self.category_chosen.emit(*value)
        elif kind == "recent":
            self.recent_chosen.emit(value)
        self._switched = False

    def _on_changed(self, item: QTreeWidgetItem, column: int) -> None:
        if self._filling or item.data(0, KIND) != "root":
            return
        root: Root = item.data(0, VALUE)
        searchable = item.checkState(0) == Qt.CheckState.Checked
        if searchable != root.searchable:
            self._switched = True  # the click that set the box does not also choose the folder
            self.searchable_changed.emit(root, searchable)

    def _update_buttons(self) -> None:
        root = self.selected_root
        name = text.shown(root.name) if root else ""
        any_root = bool(self._overview and self._overview.roots)
        self.rescan_button.setEnabled(any_root)
        self.rescan_button.setToolTip(f"Rescan {name}" if root else "Rescan all folders")
        self.remove_button.setEnabled(root is not None)
        self.remove_button.setToolTip(
            f"Remove {name} from the library; its files stay where they are"
            if root
            else "Select a folder to remove it from the library"
        )

    def _rescan(self) -> None:
        self.rescan_wanted.emit(self.selected_root)

    def _remove(self) -> None:
        if (root := self.selected_root) is not None:
            self.remove_wanted.emit(root)

    def _on_menu(self, position: QPoint) -> None:
        item = self.tree.itemAt(position)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if item is not None and item.data(0, KIND) == "root":
            root: Root = item.data(0, VALUE)
            menu.addAction("Rescan", lambda: self.rescan_wanted.emit(root))
            menu.addAction("Show in file manager", lambda: self.reveal_wanted.emit(root.path))
            switch = "Leave out of searches" if root.searchable else "Take into searches"
            menu.addAction(switch, lambda: self.searchable_changed.emit(root, not root.searchable))
            menu.addAction(
                "Unlock …" if root.locked else "Lock", lambda: self.lock_wanted.emit(root, not root.locked)
            )
            menu.addSeparator()
            menu.addAction("Remove from library", lambda: self.remove_wanted.emit(root))
        else:
            menu.addAction("Add a folder …", self.add_wanted.emit)
            menu.addAction("Rescan all folders", lambda: self.rescan_wanted.emit(None))
        menu.popup(self.tree.viewport().mapToGlobal(position))


def _item(
    parent: QTreeWidgetItem,
    kind: str,
    label: str,
    icon: str,
    *,
    value: object = None,
    count: int | None = None,
    tip: str = "",
) -> QTreeWidgetItem:
    item = QTreeWidgetItem(parent, [label])
    item.setData(0, KIND, kind)
    item.setData(0, VALUE, value)
    item.setData(0, COUNT, count)
    item.setData(0, KEY, f"{kind} {value}")
    if icon:
        item.setIcon(0, icons.icon(icon, theme.colour("dim")))
    if tip:
        item.setToolTip(0, text.plain_tooltip(tip))
    return item


def _section(parent: QTreeWidgetItem, title: str) -> QTreeWidgetItem:
    item = _item(parent, "section", title, "", value=title)
    item.setFlags(Qt.ItemFlag.ItemIsEnabled)
    return item


class _Tree(QTreeWidget):
    """A tree whose arrows are drawn here: style sheets can only take them from files."""

    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        item = self.itemFromIndex(index)
        if item is None or not item.childCount() or item.data(0, KIND) == "section":
            return
        name = "chevron" if item.isExpanded() else "chevron_right"
        area = QRectF(rect.right() - 12, rect.center().y() - 5, 11, 11)
        icons.paint(painter, name, area, theme.colour("faint"))


class _Delegate(QStyledItemDelegate):
    """Section titles in small capitals, counts at the right edge."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        size.setHeight(30 if index.data(KIND) == "section" else 24)
        return size

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if index.data(KIND) == "section":
            self._paint_section(painter, option.rect, str(index.data(Qt.ItemDataRole.DisplayRole)))
            return
        count = index.data(COUNT)
        room = 0
        if count is not None:
            font = theme.digits_font(option.font)
            font.setPixelSize(11)
            words = text.count(count)
            painter.save()
            painter.setFont(font)
            room = painter.fontMetrics().horizontalAdvance(words) + 12
            painter.restore()
        narrowed = QStyleOptionViewItem(option)
        narrowed.rect = QRect(option.rect)
        super().paint(painter, narrowed, index)
        if isinstance(root := index.data(VALUE), Root):
            self._paint_lock(painter, option.rect, room + 8, root)
        if count is not None:
            painter.save()
            painter.setFont(font)
            painter.setPen(theme.colour("faint"))
            area = option.rect.adjusted(option.rect.width() - room, 0, -8, 0)
            painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
            painter.restore()

    @staticmethod
    def _paint_lock(painter: QPainter, area: QRect, room: int, root: Root) -> None:
        """A closed lock, or an open one in another colour: that one is what to be careful about."""
        name, shade = (desk_icons.LOCKED, "faint") if root.locked else (desk_icons.UNLOCKED, "amber")
        place = QRectF(area.right() - room - 10, area.center().y() - 6, 12, 12)
        icons.paint(painter, name, place, theme.colour(shade))

    @staticmethod
    def _paint_section(painter: QPainter, area: QRect, title: str) -> None:
        painter.save()
        font = QFont(painter.font())
        font.setPixelSize(11)
        font.setWeight(QFont.Weight.DemiBold)
        font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, 0.8)
        painter.setFont(font)
        painter.setPen(theme.colour("faint"))
        painter.drawText(
            area.adjusted(0, 6, -4, 0),
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
            title.upper(),
        )
        painter.restore()
