"""The bin as a dock: what was picked for the project, to be heard, dragged, copied, sent or exported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QFont,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QDockWidget,
    QHBoxLayout,
    QHeaderView,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.library.bins import Pick
from foley_desktop.ui import buttons, icons, tables, text, theme
from foley_desktop.ui import transfer_icons as _icons  # noqa: F401  (brings its icons)
from foley_desktop.ui.menu_button import MenuButton

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
TITLES = ("Name", "Region", "Length")
_EMPTY = ("The bin is empty", "B puts the selected sound or region here; playing goes on.")


class BinModel(QAbstractTableModel):
    """Picks as rows."""

    def __init__(self) -> None:
        super().__init__()
        self.picks: list[Pick] = []

    def set_picks(self, picks: Sequence[Pick]) -> None:
        self.beginResetModel()
        self.picks = list(picks)
        self.endResetModel()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.picks)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(TITLES)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return TITLES[section]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or not 0 <= index.row() < len(self.picks):
            return None
        pick = self.picks[index.row()]
        usable = pick.clip is not None and pick.clip.status == "ok"
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(pick, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            if pick.clip is None:
                return "The library does not know this sound now. Add its folder again."
            missing = "" if usable else "\nnot there now: connect its drive, or rescan its folder"
            region = pick.region
            exact = f"\n{text.clock(region.start_s)} – {text.clock(region.end_s)}" if region else ""
            return text.plain_tooltip(pick.clip.path + exact + missing)
        if role == Qt.ItemDataRole.ForegroundRole and not usable:
            return theme.colour("faint")
        if role == Qt.ItemDataRole.FontRole and not usable:
            font = QFont()
            font.setItalic(True)
            return font
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() > 0:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    @staticmethod
    def _words(pick: Pick, column: int) -> str:
        if column == 0:
            return text.file_name(pick.clip) if pick.clip is not None else "unknown sound"
        if column == 1:
            if pick.region is None:
                return "whole"
            return f"{text.duration(pick.region.start_s)} – {text.duration(pick.region.end_s)}"
        if pick.region is not None:
            return text.duration(pick.region.duration_s)
        return text.duration(pick.clip.duration_s) if pick.clip is not None else ""


class BinView(QTableView):
    """The rows of the bin; they are dragged out like those of the results."""

    drag_prepared = Signal(list)
    """The button went down: these Picks may be dragged."""
    drag_started = Signal()
    chosen = Signal(object)
    """The user moved to this Pick."""
    play_wanted = Signal(object)
    remove_wanted = Signal()
    copy_wanted = Signal()
    dropped = Signal()
    """Something of this window was dropped here."""

    def __init__(self, model: BinModel) -> None:
        super().__init__()
        self.setObjectName("bin")
        self._bin = model
        self._pressed: QPoint | None = None
        self._by_user = False
        self.setModel(model)
        header = tables.of_rows(self)
        self.setDragEnabled(True)  # keeps the selection when a selected row is pressed
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setAcceptDrops(True)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(50)
        for column, width in ((1, 118), (2, 62)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            self.setColumnWidth(column, width)
        # In here these keys are the bin's: Delete takes out of it and touches no file.
        own = (Qt.Key.Key_Delete, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_C)
        self.setProperty("own_keys", [int(key) for key in own])
        self.selectionModel().currentRowChanged.connect(lambda current, _: self._on_current(current))
        self.doubleClicked.connect(lambda index: self.play_wanted.emit(self._bin.picks[index.row()]))

    def selected(self) -> list[Pick]:
        """The selected things in their order."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self._bin.picks[row] for row in rows if row < len(self._bin.picks)]

    def _on_current(self, current: QModelIndex) -> None:
        if current.isValid() and self._by_user:
            self.chosen.emit(self._bin.picks[current.row()])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_wanted.emit()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.play_wanted.emit(self._bin.picks[self.currentIndex().row()])
        else:
            self._by_user = True
            super().keyPressEvent(event)
            self._by_user = False

    def keyboardSearch(self, search: str) -> None:
        """Letters are keys of the window here, not a search for names."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = None
        position = event.position().toPoint()
        index = self.indexAt(position)
        if event.button() == Qt.MouseButton.LeftButton and index.isValid():
            self._pressed = position
        self._by_user = True
        super().mousePressEvent(event)
        self._by_user = False
        if self._pressed is not None:
            self.drag_prepared.emit(self.selected() or [self._bin.picks[index.row()]])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None or not event.buttons() & Qt.MouseButton.LeftButton:
            super().mouseMoveEvent(event)
            return
        far = (event.position().toPoint() - self._pressed).manhattanLength()
        if far >= QApplication.startDragDistance():
            self.drag_started.emit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pressed = None
        super().mouseReleaseEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self._answer(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._answer(event)

    def dropEvent(self, event: QDropEvent) -> None:
        self._answer(event)
        if event.isAccepted():
            self.dropped.emit()

    def _answer(self, event: QDropEvent) -> None:
        """Takes rows and regions of this window; files from elsewhere are the window's to take."""
        if event.source() is not None and event.source() is not self:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
        else:
            event.ignore()

    def forget_press(self) -> None:
        """After a drag: the release went elsewhere, so the next move must not start another one."""
        self._pressed = None
        self.setState(QAbstractItemView.State.NoState)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._bin.rowCount():
            return
        painter = QPainter(self.viewport())
        area = self.viewport().rect().adjusted(16, 0, -16, 0)
        middle = area.center().y()
        mark = QRect(area.center().x() - 18, middle - 66, 36, 36)
        icons.paint(painter, "bin", mark.toRectF(), theme.colour("edge"))
        wrap = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        for words, top, size, shade in (
            (_EMPTY[0], middle - 18, 15, "dim"),
            (_EMPTY[1], middle + 10, 12, "faint"),
        ):
            font = self.font()
            font.setPixelSize(size)
            painter.setFont(font)
            painter.setPen(theme.colour(shade))
            painter.drawText(QRect(area.left(), top, area.width(), 60), wrap, words)
        painter.end()


class BinPanel(QDockWidget):
    """The dock around the view: the project on top, what can be done with all of it below."""

    copy_wanted = Signal()
    export_wanted = Signal()

    def __init__(self, parent: QWidget, fill_projects: Any, fill_send: Any) -> None:
        super().__init__("Bin", parent)
        self.setObjectName("bin_panel")
        self.setAllowedAreas(Qt.DockWidgetArea.LeftDockWidgetArea | Qt.DockWidgetArea.RightDockWidgetArea)
        self.model = BinModel()
        self.view = BinView(self.model)
        self.project = MenuButton("", "The project whose bin this is", fill_projects)
        self.count = buttons.words("", "dim")
        self.copy = buttons.push(
            "Copy files", "Put the files on the clipboard  (Ctrl+C)", self.copy_wanted.emit
        )
        self.copy.setObjectName("bin_copy")
        self.export = buttons.push(
            "Export …", "Export all of it, or what is selected", self.export_wanted.emit
        )
        self.export.setObjectName("bin_export")
        self.send = MenuButton("Send to", "Hand the files to an editor", fill_send)
        self.remove = buttons.tool(
            "remove", "Take what is selected out of the bin  (Delete)", self.view.remove_wanted.emit, size=16
        )
        self.remove.setObjectName("bin_remove")
        self.clear = buttons.tool("close", "Empty the bin", size=14)
        self.clear.setObjectName("bin_clear")
        self._lay_out()
        self.view.selectionModel().selectionChanged.connect(lambda *_: self._update())
        self.model.modelReset.connect(self._update)
        self._update()

    def _lay_out(self) -> None:
        body = QWidget()
        theme.mark(body, "panel")
        body.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(body)
        column.setContentsMargins(8, 7, 8, 8)
        column.setSpacing(7)
        head = QHBoxLayout()
        head.setSpacing(7)
        head.addWidget(self.project, 1)
        head.addWidget(self.count)
        head.addWidget(self.remove)
        head.addWidget(self.clear)
        column.addLayout(head)
        column.addWidget(self.view, 1)
        line = QHBoxLayout()
        line.setSpacing(7)
        for button in (self.copy, self.send, self.export):
            line.addWidget(button)
        line.addStretch(1)
        column.addLayout(line)
        self.setWidget(body)

    def show_picks(self, picks: Sequence[Pick]) -> None:
        """What lies in the bin now; what was selected stays so."""
        kept = {pick.id for pick in self.view.selected()}
        self.model.set_picks(picks)
        flags = self.view.selectionModel().SelectionFlag
        for row, pick in enumerate(picks):
            if pick.id in kept:
                self.view.selectionModel().select(self.model.index(row, 0), flags.Select | flags.Rows)

    def meant(self) -> list[Pick]:
        """What is selected, else everything; what is not there is left out."""
        chosen = self.view.selected() or self.model.picks
        return [pick for pick in chosen if pick.clip is not None and pick.clip.status == "ok"]

    def _update(self) -> None:
        picks, selected = self.model.picks, self.view.selected()
        lengths = [
            pick.region.duration_s if pick.region else (pick.clip.duration_s or 0.0) if pick.clip else 0.0
            for pick in (selected or picks)
        ]
        some = f"{len(selected)} of " if selected and len(selected) < len(picks) else ""
        self.count.setText(f"{some}{len(picks)} · {text.duration(sum(lengths))}" if picks else "")
        usable = bool(self.meant())
        for button in (self.copy, self.export, self.send):
            button.setEnabled(usable)
        self.remove.setEnabled(bool(selected))
        self.clear.setEnabled(bool(picks))
