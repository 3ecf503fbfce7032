"""The sidebar: folders with their switches, collections, saved and past searches, categories, faults."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QTreeWidgetItem, QVBoxLayout, QWidget

from foley_desktop.models import Root
from foley_desktop.ui import buttons, icons, sidebar_sections, text, theme
from foley_desktop.ui.sidebar_tree import KEY, KIND, VALUE, SidebarDelegate, SidebarTree, walk
from foley_desktop.workers.jobs import Overview

NARROW_FROM = 10
"""From so many rows below the sections on there is a field to narrow them."""

MORE: tuple[tuple[str, str], ...] = (
    ("New collection …", "collection.new"),
    ("Save this search …\tCtrl+Shift+S", "saved.new"),
    ("", ""),
    ("Suggest categories …\tCtrl+Shift+C", "categories.suggest"),
    ("Import a list …\tCtrl+Shift+I", "list.import"),
    ("Deliver the selected sounds …\tCtrl+Shift+D", "deliver"),
    ("", ""),
    ("Files that could not be used …", "unusable.show"),
)
"""The menu of everything that is done with the library as a whole, and what it asks for."""


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
    asked = Signal(str, object)
    """Something else is wanted of a row, such as ``collection.rename``, and the row's value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        theme.mark(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._overview: Overview | None = None
        self._filling = False
        self._switched = False
        self._known: set[str] = set()
        self._before_narrow: set[str] | None = None
        self.tree = self._make_tree()
        self.narrow = self._make_narrow()
        self.add_button = buttons.tool("folder_add", "Add a folder of sounds", self.add_wanted.emit)
        self.rescan_button = buttons.tool("refresh", "Rescan all folders", self._rescan)
        self.remove_button = buttons.tool(
            "remove", "Select a folder to remove it from the library", self._remove
        )
        head = QHBoxLayout()
        head.setContentsMargins(12, 7, 6, 5)
        head.setSpacing(1)
        head.addWidget(buttons.words("LIBRARY", "heading"), 1)
        self.more_button = buttons.tool("more", "Lists, categories, deliveries and more", self._show_more)
        self.more_button.setObjectName("sidebar_more")
        for button in (self.add_button, self.rescan_button, self.remove_button, self.more_button):
            head.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        inset = QHBoxLayout()
        inset.setContentsMargins(10, 0, 8, 5)
        inset.addWidget(self.narrow)
        column.addLayout(inset)
        column.addWidget(self.tree, 1)
        self._update_buttons()

    def sizeHint(self) -> QSize:
        return QSize(236, 500)

    def _make_tree(self) -> SidebarTree:
        tree = SidebarTree()
        tree.setHeaderHidden(True)
        tree.setIndentation(14)
        tree.setRootIsDecorated(True)
        tree.setUniformRowHeights(False)
        tree.setItemDelegate(SidebarDelegate(tree))
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.setExpandsOnDoubleClick(True)
        tree.setAccessibleName("Library")
        tree.itemClicked.connect(self._on_clicked)
        tree.itemActivated.connect(self._on_clicked)
        tree.itemChanged.connect(self._on_changed)
        tree.itemSelectionChanged.connect(self._update_buttons)
        tree.customContextMenuRequested.connect(self._on_menu)
        tree.plus_pressed.connect(lambda what: self.asked.emit(f"{what}.new", None))
        tree.dropped.connect(lambda kind, value: self.asked.emit(f"{kind}.drop", value))
        return tree

    def _make_narrow(self) -> QLineEdit:
        field = _NarrowField()
        field.setObjectName("sidebar_narrow")
        field.setPlaceholderText("Narrow the list")
        field.setToolTip(
            "Only rows with these letters: categories, CatIDs, collections, folders …  (Esc ends it)"
        )
        field.setClearButtonEnabled(False)
        field.addAction(icons.icon("filter", theme.colour("faint")), QLineEdit.ActionPosition.LeadingPosition)
        field.textChanged.connect(self._on_narrow)
        field.hide()
        return field

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
        self.tree.blockSignals(True)  # each cell would be told of otherwise, and there are thousands
        try:
            self.tree.clear()
            sidebar_sections.fill(self.tree.invisibleRootItem(), overview, self.tree.font())
            for item in self._items():
                section = item.data(0, KIND) == "section"
                item.setExpanded(item.data(0, KEY) in opened if opened is not None else section)
                if section and opened is not None and not any(k == item.data(0, KEY) for k in self._known):
                    item.setExpanded(True)
                item.setSelected(item.data(0, KEY) in selected)
        finally:
            self.tree.blockSignals(False)
            self._filling = False
        self._known = {item.data(0, KEY) for item in self._items()}
        self._offer_narrowing()
        self.tree.verticalScrollBar().setValue(position)
        self._update_buttons()

    def _offer_narrowing(self) -> None:
        long = sum(item.data(0, KIND) != "section" for item in self._items()) >= NARROW_FROM
        self.narrow.setVisible(long or bool(self.narrow.text()))
        if self.narrow.text():
            self._on_narrow(self.narrow.text())

    def _items(self) -> list[QTreeWidgetItem]:
        return list(walk(self.tree.invisibleRootItem()))

    # --- narrowing

    def _on_narrow(self, typed: str) -> None:
        """Shows only rows that hold what was typed, with what they stand in and what stands in them."""
        words = typed.casefold().split()
        was = self._before_narrow
        if words and was is None:
            self._before_narrow = {i.data(0, KEY) for i in self._items() if i.isExpanded()}
        for item in self._items():
            item.setHidden(bool(words) and item.data(0, KIND) != "section")
        for item in self._items():
            if words and item.data(0, KIND) != "section" and _holds(item, words):
                _show_with_kin(item)
        for section in (i for i in self._items() if i.data(0, KIND) == "section"):
            below = [section.child(n) for n in range(section.childCount())]
            section.setHidden(bool(words) and all(child is None or child.isHidden() for child in below))
            section.setExpanded(section.isExpanded() or bool(words))
        if not words and was is not None:
            self._before_narrow = None
            for item in self._items():
                item.setExpanded(item.data(0, KEY) in was)

    # --- choosing

    @property
    def overview(self) -> Overview | None:
        """What is shown; None before it has been read."""
        return self._overview

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
            self.category_chosen.emit(*value[:2])
        elif kind == "recent":
            self.recent_chosen.emit(value)
        elif kind == "save search":
            self.asked.emit("saved.new", None)
        elif kind == "new collection":
            self.asked.emit("collection.new", None)
        else:
            self.asked.emit(f"{kind}.show", value)
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
        elif item is not None and (
            entries := sidebar_sections.menu_of(item.data(0, KIND), item.data(0, VALUE), self.asked.emit)
        ):
            for entry in entries:
                menu.addSeparator() if entry is None else menu.addAction(*entry)
        else:
            menu.addAction("Add a folder …", self.add_wanted.emit)
            menu.addAction("Rescan all folders", lambda: self.rescan_wanted.emit(None))
        menu.popup(self.tree.viewport().mapToGlobal(position))

    def _show_more(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for label, action in MORE:
            if not label:
                menu.addSeparator()
            else:
                menu.addAction(label, partial(self.asked.emit, action, None))
        menu.popup(self.more_button.mapToGlobal(self.more_button.rect().bottomLeft()))


def _holds(item: QTreeWidgetItem, words: list[str]) -> bool:
    """Whether a row has each of the words in its label or, for a category, in its CatID."""
    value = item.data(0, VALUE)
    catid = value[2] if item.data(0, KIND) == "category" else ""
    parent = item.parent()
    above = parent.text(0) if parent is not None and parent.data(0, KIND) == "category" else ""
    text_ = f"{above} {item.text(0)} {catid}".casefold()
    own = f"{item.text(0)} {catid}".casefold()
    return all(word in text_ for word in words) and any(word in own for word in words)


def _show_with_kin(item: QTreeWidgetItem) -> None:
    item.setHidden(False)
    for child in walk(item):
        child.setHidden(False)
    parent = item.parent()
    while parent is not None:
        parent.setHidden(False)
        parent.setExpanded(True)
        parent = parent.parent()


class _NarrowField(QLineEdit):
    """Esc empties it; empty, it leaves the key to the window."""

    def __init__(self) -> None:
        super().__init__()
        self.textChanged.connect(lambda typed: self.setProperty("keeps_escape", bool(typed)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
            return
        super().keyPressEvent(event)
