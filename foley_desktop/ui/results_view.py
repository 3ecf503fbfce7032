"""The table of results: selecting, dragging rows out, and what an empty table says.

The view tells whether a selection came from the user (arrow keys, a click) or from the program, so
that only the user's own steps are auditioned.
"""

from __future__ import annotations

from PySide6.QtCore import (
    QByteArray,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QHeaderView, QTableView, QWidget

from foley_desktop.models import Clip
from foley_desktop.ui import icons, tables, theme
from foley_desktop.ui.results_delegate import ResultsDelegate, rating_at
from foley_desktop.ui.results_model import BY_NAME, COLUMNS, ResultsModel

TOP_LEFT = QPoint(0, 0)


class ResultsView(QTableView):
    """Shows a :class:`ResultsModel`."""

    clip_chosen = Signal(object)
    """The user moved to this clip."""
    all_wanted = Signal()
    """All of a long list is to be selected, of which only a part is loaded."""
    end_wanted = Signal()
    """The last row of a long list is to be selected, of which only a part is loaded."""
    entered = Signal()
    """The selection came into the results."""
    drag_prepared = Signal(object)
    """The button went down on a row: these clips may be dragged."""
    drag_started = Signal()
    """The pointer moved far enough with the button down."""
    rated = Signal(object, int)
    favoured = Signal(object)
    menu_wanted = Signal(object, QPoint)

    def __init__(self, model: ResultsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("results")
        self._results = model
        self._quiet = False
        self._pressed: QPoint | None = None
        self._empty = ("", "")
        self.setModel(model)
        self.setItemDelegate(ResultsDelegate(self))
        self._dress()
        self.selectionModel().currentRowChanged.connect(self._on_current)
        self.customContextMenuRequested.connect(self._on_menu)

    def _dress(self) -> None:
        header = tables.of_rows(self)
        self.setDragEnabled(True)  # keeps the selection when a selected row is pressed; see mouseMoveEvent
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.verticalHeader().setMinimumSectionSize(theme.ROW_HEIGHT)
        header.setSectionsMovable(True)
        header.setMinimumSectionSize(34)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setSortIndicatorClearable(True)
        for number, column in enumerate(COLUMNS[:-1]):
            self.setColumnWidth(number, column.width)
        self.setSortingEnabled(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)

    def restore_columns(self, state: QByteArray) -> None:
        """Takes widths and order of columns from a saved header, but not how it was sorted."""
        header = self.horizontalHeader()
        if not header.restoreState(state):
            return
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)

    # --- selection

    def selected_clips(self) -> list[Clip]:
        """The selected clips in view order."""
        ranges = self.selectionModel().selection()
        # By ranges: ten thousand rows are one of them, but ten thousand indexes.
        parts = [(part.top(), part.bottom()) for part in ranges]  # type: ignore[attr-defined]
        rows = sorted({row for top, bottom in parts for row in range(top, bottom + 1)})
        return [clip for row in rows if (clip := self._results.clip_at(row)) is not None]

    def current_clip(self) -> Clip | None:
        return self._results.clip_at(self.currentIndex().row())

    @property
    def is_entered(self) -> bool:
        """Whether the user's selection is in the results."""
        return self.selectionModel().hasSelection()

    def select_ids(self, ids: list[str], current_id: str = "") -> None:
        """Selects what is listed of ``ids``; the program's doing, so nothing is auditioned."""
        rows = [row for clip_id in ids if (row := self._results.row_of(clip_id)) is not None]
        selection = QItemSelection()
        for row in rows:
            selection.select(self._results.index(row, 0), self._results.index(row, len(COLUMNS) - 1))
        current = self._results.row_of(current_id)
        self._quiet = True
        try:
            flags = QItemSelectionModel.SelectionFlag
            if current is not None:
                self.selectionModel().setCurrentIndex(self._results.index(current, 1), flags.NoUpdate)
            self.selectionModel().select(selection, flags.ClearAndSelect)
        finally:
            self._quiet = False

    def selectAll(self) -> None:
        """Everything that is listed, also what has not been scrolled into sight yet."""
        if self._results.canFetchMore(QModelIndex()):
            self.all_wanted.emit()
        else:
            super().selectAll()

    def enter(self) -> bool:
        """Brings focus and selection into the results; False when there is nothing to enter."""
        if not self._results.rowCount():
            return False
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if not self.is_entered:
            self.selectRow(0)
        return True

    def _on_current(self, current: QModelIndex, previous: QModelIndex) -> None:
        clip = self._results.clip_at(current.row())
        if self._quiet or clip is None:
            return
        self.entered.emit()
        self.clip_chosen.emit(clip)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() == Qt.Key.Key_Up and plain and self.currentIndex().row() <= 0 and self.is_entered:
            event.accept()  # stays on the first row instead of scrolling or losing the selection
            return
        super().keyPressEvent(event)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Home and End go to the first and the last row, and not to columns that would hide the names."""
        if action == QAbstractItemView.CursorAction.MoveEnd and self._results.canFetchMore(QModelIndex()):
            self.end_wanted.emit()
            return self.currentIndex()
        ends = {QAbstractItemView.CursorAction.MoveHome: 0}
        ends[QAbstractItemView.CursorAction.MoveEnd] = self._results.rowCount() - 1
        if action in ends:
            return self._results.index(ends[action], max(0, self.currentIndex().column()))
        return super().moveCursor(action, modifiers)

    def go_to_end(self) -> None:
        """Takes the last row in hand."""
        self.selectRow(self._results.rowCount() - 1)

    def keyboardSearch(self, search: str) -> None:
        """Letters are keys of the window here, not a search for names."""

    # --- mouse: rating, dragging

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = None
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index.isValid():
            if self._rate(index, event.position().toPoint()):
                return
            self._pressed = event.position().toPoint()
        super().mousePressEvent(event)
        if self._pressed is not None:
            self.drag_prepared.emit(self._clips_to_drag(index))

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

    def forget_press(self) -> None:
        """After a drag: the release went elsewhere, so the next move must not start another one."""
        self._pressed = None
        self.setState(QAbstractItemView.State.NoState)

    def _clips_to_drag(self, index: QModelIndex) -> list[Clip]:
        clips = self.selected_clips()
        pressed = self._results.clip_at(index.row())
        if pressed is not None and pressed.id not in {clip.id for clip in clips}:
            return [pressed]
        return clips

    def _rate(self, index: QModelIndex, position: QPoint) -> bool:
        if index.column() != BY_NAME["rating"]:
            return False
        clip = self._results.clip_at(index.row())
        what = rating_at(self.visualRect(index), position)
        if clip is None or what is None:
            return False
        if what == 0:
            self.favoured.emit(clip)
        else:
            self.rated.emit(clip, 0 if clip.rating == what else what)
        return True

    def _on_menu(self, position: QPoint) -> None:
        if self.indexAt(position).isValid():
            self.menu_wanted.emit(self.selected_clips(), self.viewport().mapToGlobal(position))

    # --- empty

    def set_empty_words(self, title: str, advice: str) -> None:
        """What the table says while it has no rows."""
        self._empty = (title, advice)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._results.rowCount() or not self._empty[0]:
            return
        painter = QPainter(self.viewport())
        area = self.viewport().rect()
        middle = area.center().y() - 10
        mark = QRect(area.center().x() - 20, middle - 62, 40, 40)
        icons.paint(painter, "search", mark.toRectF(), theme.colour("edge"))
        lines = ((self._empty[0], middle, 16, "dim"), (self._empty[1], middle + 28, 13, "faint"))
        for words, top, size, shade in lines:
            font = self.font()
            font.setPixelSize(size)
            painter.setFont(font)
            painter.setPen(theme.colour(shade))
            line = QRect(area.left() + 20, top, area.width() - 40, 26)
            painter.drawText(line, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter, words)
        painter.end()
