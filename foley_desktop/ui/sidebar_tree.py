"""The tree of the sidebar: how its rows are drawn, and sounds that are dropped on them.

Sections are rows without an icon whose title stands in small capitals; one to which something can be added
has a plus at its right edge.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFont,
    QMouseEvent,
    QPainter,
)
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QTreeWidget, QTreeWidgetItem

from foley_desktop.ui import catalogue_icons as _  # noqa: F401  (brings its icons)
from foley_desktop.ui import desk_icons, icons, text, theme

KIND = Qt.ItemDataRole.UserRole
VALUE = Qt.ItemDataRole.UserRole + 1
COUNT = Qt.ItemDataRole.UserRole + 2
KEY = Qt.ItemDataRole.UserRole + 3
ADDS = Qt.ItemDataRole.UserRole + 4
"""What the plus of a section adds, "" where there is none."""

Index = QModelIndex | QPersistentModelIndex
PLUS_WIDTH = 30


def add_item(
    parent: QTreeWidgetItem,
    kind: str,
    label: str,
    icon: str,
    *,
    value: object = None,
    key: str = "",
    count: int | None = None,
    tip: str = "",
) -> QTreeWidgetItem:
    """A row. ``key`` is what it is known by when the tree is filled anew."""
    item = QTreeWidgetItem(parent, [label])
    item.setData(0, KIND, kind)
    item.setData(0, VALUE, value)
    item.setData(0, COUNT, count)
    item.setData(0, KEY, key or f"{kind} {value}")
    if icon:
        item.setIcon(0, icons.icon(icon, theme.colour("dim")))
    if tip:
        item.setToolTip(0, text.plain_tooltip(tip))
    return item


def add_section(parent: QTreeWidgetItem, title: str, *, adds: str = "", tip: str = "") -> QTreeWidgetItem:
    """A section's title; ``adds`` is what its plus is there for."""
    item = add_item(parent, "section", title, "", value=title, tip=tip)
    item.setFlags(Qt.ItemFlag.ItemIsEnabled)
    item.setData(0, ADDS, adds)
    return item


def walk(parent: QTreeWidgetItem) -> Iterator[QTreeWidgetItem]:
    """Every row below ``parent``, parents before children."""
    for number in range(parent.childCount()):
        child = parent.child(number)
        if child is not None:
            yield child
            yield from walk(child)


_LOCK_ROOM = 18


class SidebarTree(QTreeWidget):
    """Draws its own arrows: style sheets can only take them from files."""

    plus_pressed = Signal(str)
    dropped = Signal(str, object)
    """Sounds of the results were dropped on a row of this kind and value."""

    TAKES = ("collection", "category", "favourites", "new collection")

    def __init__(self) -> None:
        super().__init__()
        self.drag_source: object = None
        """The widget whose drags are taken; files from elsewhere are for the window."""
        self._over: QTreeWidgetItem | None = None
        self.setAcceptDrops(True)
        self.setAutoExpandDelay(700)

    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        item = self.itemFromIndex(index)
        if item is None or not item.childCount() or item.data(0, KIND) == "section":
            return
        name = "chevron" if item.isExpanded() else "chevron_right"
        area = QRectF(rect.right() - 12, rect.center().y() - 5, 11, 11)
        icons.paint(painter, name, area, theme.colour("faint"))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        item = self.itemAt(event.position().toPoint())
        if item is not None and event.button() == Qt.MouseButton.LeftButton and item.data(0, ADDS):
            right = self.visualItemRect(item).right()
            if event.position().x() >= right - PLUS_WIDTH:
                self.plus_pressed.emit(item.data(0, ADDS))
                return
        super().mousePressEvent(event)

    # --- drops

    @property
    def drop_row(self) -> QTreeWidgetItem | None:
        """The row that would take what is dragged over it now."""
        return self._over

    def _target(self, at: QPoint, source: object) -> QTreeWidgetItem | None:
        if source is None or source is not self.drag_source:
            return None
        item = self.itemAt(at)
        if item is None or item.data(0, KIND) not in self.TAKES:
            return None
        known = item.data(0, KIND) != "category" or bool(item.data(0, VALUE)[2])
        return item if known else None

    def _consider(self, event: QDropEvent) -> None:
        before, self._over = self._over, self._target(event.position().toPoint(), event.source())
        if before is not self._over:
            self.viewport().update()
        if self._over is not None:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
        elif event.source() is not None and event.source() is self.drag_source:
            # Taken all the same, so that the next row below the pointer is asked too.
            event.setDropAction(Qt.DropAction.IgnoreAction)
            event.accept()
        else:
            event.ignore()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self._consider(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._consider(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._over = None
        self.viewport().update()

    def dropEvent(self, event: QDropEvent) -> None:
        self._consider(event)
        item, self._over = self._over, None
        self.viewport().update()
        if item is not None:
            self.dropped.emit(item.data(0, KIND), item.data(0, VALUE))


class SidebarDelegate(QStyledItemDelegate):
    """Section titles in small capitals, counts at the right edge."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        size.setHeight(30 if index.data(KIND) == "section" else 24)
        return size

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if index.data(KIND) == "section":
            title = str(index.data(Qt.ItemDataRole.DisplayRole))
            self._paint_section(painter, option.rect, title, bool(index.data(ADDS)))
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
        root = index.data(VALUE) if index.data(KIND) == "root" else None
        taken = room + _LOCK_ROOM if root is not None else room
        narrowed.rect = option.rect.adjusted(0, 0, -taken, 0) if taken else QRect(option.rect)
        self._paint_ground(painter, option, index)
        super().paint(painter, narrowed, index)
        if root is not None:
            self._paint_lock(painter, option.rect.right() - room, option.rect.center().y(), root.locked)
        if count is not None:
            painter.save()
            painter.setFont(font)
            painter.setPen(theme.colour("faint"))
            area = option.rect.adjusted(option.rect.width() - room, 0, -8, 0)
            painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
            painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The full width of the row, of which the style paints only the part left of the count."""
        tree = self.parent()
        assert isinstance(tree, SidebarTree)
        over = tree.drop_row is not None and tree.indexFromItem(tree.drop_row) == index
        selected = bool(option.state & option.state.State_Selected)
        hovered = bool(option.state & option.state.State_MouseOver)
        if over or selected or hovered:
            painter.fillRect(option.rect, theme.colour("selection" if over or selected else "raised"))
        if over:
            painter.save()
            painter.setPen(theme.colour("accent"))
            painter.drawRect(option.rect.adjusted(0, 0, -1, -1))
            painter.restore()

    @staticmethod
    def _paint_lock(painter: QPainter, right: int, middle: int, locked: bool) -> None:
        """A closed lock, or an open one in another colour: that one is what to be careful about."""
        name, shade = (desk_icons.LOCKED, "faint") if locked else (desk_icons.UNLOCKED, "amber")
        icons.paint(painter, name, QRectF(right - 12, middle - 6, 12, 12), theme.colour(shade))

    @staticmethod
    def _paint_section(painter: QPainter, area: QRect, title: str, plus: bool) -> None:
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
        if plus:
            icons.paint(
                painter, "add", QRectF(area.right() - 22, area.center().y() - 4, 14, 14), theme.colour("dim")
            )
