"""The review of suggested categories: a table to listen through, and what can be said about each line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.ui import buttons, tables, text, theme
from foley_desktop.ui.category_field import CategoryField
from foley_desktop.ui.chips import FlowLayout
from foley_desktop.ui.review_model import CONFIDENCE, SURE, TITLES, WIDTHS, Index, Line, ReviewModel, percent

THRESHOLD = 80


class ReviewTable(QTableView):
    """The lines; moving to one says so."""

    moved = Signal(int)

    def __init__(self, model: ReviewModel) -> None:
        super().__init__()
        self.setObjectName("review_table")
        self.empty_words = ""
        self.setModel(model)
        self.setItemDelegate(_Delegate(self))
        header = tables.of_rows(self, room=2)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header.setStretchLastSection(True)
        header.setDefaultAlignment(tables.LEFT)
        header.setMinimumSectionSize(28)
        for number, width in enumerate(WIDTHS[:-1]):
            self.setColumnWidth(number, width)
        header.setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        self.setSortingEnabled(True)
        self.selectionModel().currentRowChanged.connect(lambda now, _: self._on_current(now))

    def _on_current(self, current: QModelIndex) -> None:
        if current.isValid():
            self.moved.emit(current.row())

    def rows(self) -> list[int]:
        """Selected rows from the top."""
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    def go_to(self, row: int) -> None:
        self.selectRow(row)
        self.scrollTo(self.model().index(row, 1))

    def keyboardSearch(self, search: str) -> None:
        """Letters are keys of the window here, not a search for names."""

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.model().rowCount() or not self.empty_words:
            return
        painter = QPainter(self.viewport())
        painter.setPen(theme.colour("dim"))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(self.viewport().rect().adjusted(40, 0, -40, 0), flags, self.empty_words)
        painter.end()


class _Delegate(QStyledItemDelegate):
    """Confidence as a bar with its figure."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        sure = index.data(CONFIDENCE)
        if index.column() != SURE or sure is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.digits_font(option.font))
        rect = option.rect
        groove = QRectF(rect.x() + 8, rect.center().y() - 2, rect.width() - 58, 5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("edge"))
        painter.drawRoundedRect(groove, 2.5, 2.5)
        shade = "accent" if sure >= 0.8 else "amber" if sure >= 0.4 else "red"
        painter.setBrush(theme.colour(shade))
        painter.drawRoundedRect(QRectF(groove.x(), groove.y(), max(5.0, groove.width() * sure), 5), 2.5, 2.5)
        painter.setPen(theme.colour("dim"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(rect.adjusted(0, 0, -8, 0), right, percent(sure))
        painter.restore()


class ReviewPage(QWidget):
    """Says what is wanted; :class:`foley_desktop.ui.review_desk.ReviewDesk` does it."""

    accept_pressed = Signal()
    reject_pressed = Signal()
    choice_pressed = Signal(int)
    """The suggestion of this place was chosen for the line in hand."""
    category_chosen = Signal(str)
    all_pressed = Signal(float)
    undo_pressed = Signal()
    cancel_pressed = Signal()
    leave_pressed = Signal()

    def __init__(self, model: ReviewModel) -> None:
        super().__init__()
        self.setObjectName("review")
        theme.mark(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.table = ReviewTable(model)
        self.title = buttons.words("Categories", "title")
        self.counts = buttons.ElidedLabel("dim")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(130)
        self.cancel = buttons.push("Stop", "Stop finding; what was found stays", self.cancel_pressed.emit)
        self.threshold = QSpinBox()
        self.threshold.setObjectName("review_threshold")
        self.threshold.setRange(5, 100)
        self.threshold.setSuffix(" %")
        self.threshold.setValue(THRESHOLD)
        self.threshold.setFixedWidth(64)
        self.threshold.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.threshold.setToolTip("Suggestions at least this sure are accepted together")
        self.threshold.valueChanged.connect(lambda _: self.refresh_all())
        self.all = buttons.push(
            "Accept", "Accept every suggestion that is at least so sure", self._on_all, "primary"
        )
        self.all.setObjectName("review_all")
        self.undo = buttons.push("Undo", "Take the last decision back  (Ctrl+Z or U)", self.undo_pressed.emit)
        self.undo.setObjectName("review_undo")
        self.leave = buttons.push("Close", "Back to the sounds  (Esc)", self.leave_pressed.emit)
        self.leave.setObjectName("review_close")
        self.name = buttons.ElidedLabel("title")
        self.field = CategoryField()
        self.field.setObjectName("review_field")
        self.field.setPlaceholderText("Another category …  (E)")
        self.field.setMinimumWidth(290)
        self.field.setToolTip("Type parts of a category's names or its CatID, then Enter  (E)")
        self.field.chosen.connect(self.category_chosen)
        self.field.offers_changed.connect(self._show_offers)
        self.reject = buttons.push(
            "Not this  X", "Never suggest this for the sound again; offer the next one  (X)",
            self.reject_pressed.emit,
        )  # fmt: skip
        self.reject.setObjectName("review_reject")
        self.offers = QWidget()
        self._offers = FlowLayout(self.offers, 6)
        self._offers.setContentsMargins(0, 0, 0, 0)
        self._model = model
        self._line: Line | None = None
        self._lay_out()
        for button in (self.cancel, self.all, self.undo, self.leave, self.reject):
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keys stay with the table

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(14, 8, 10, 8)
        head.setSpacing(8)
        head.addWidget(self.title)
        head.addWidget(self.counts, 1)
        head.addWidget(self.progress)
        head.addWidget(self.cancel)
        head.addWidget(buttons.words("At least", "dim"))
        head.addWidget(self.threshold)
        head.addWidget(self.all)
        head.addWidget(self.undo)
        head.addWidget(self.leave)
        strip = QFrame()
        theme.mark(strip, "bar")
        strip.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        below = QVBoxLayout(strip)
        below.setContentsMargins(14, 7, 10, 9)
        below.setSpacing(7)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.name, 1)
        line.addWidget(self.reject)
        line.addWidget(self.field)
        below.addLayout(line)
        below.addWidget(self.offers)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.table, 1)
        column.addWidget(strip)
        self._strip = strip
        strip.hide()

    def _on_all(self) -> None:
        self.all_pressed.emit(self.threshold.value() / 100)

    # --- showing

    def show_running(self, done: int, total: int) -> None:
        """Finding goes on; ``total`` 0 while it is not known."""
        self.progress.setRange(0, total)
        self.progress.setValue(done)
        self.progress.show()
        self.cancel.show()
        if not self.table.model().rowCount():
            self.table.empty_words = "Listening and reading …"
            self.table.viewport().update()

    def show_ended(self, words: str) -> None:
        """Finding has ended; ``words`` stand where nothing was found."""
        self.progress.hide()
        self.cancel.hide()
        self.table.empty_words = words
        self.table.viewport().update()

    def refresh_all(self) -> None:
        """The counts, and how many lines would be accepted together."""
        total, left = len(self._model.lines), self._model.left
        done = total - left
        self.counts.set_words(
            f"{text.plural(left, 'sound')} to decide" + (f", {text.count(done)} done" if done else "")
            if total
            else ""
        )
        above = len(self._model.above(self.threshold.value() / 100))
        self.all.setText(f"Accept {text.count(above)}" if above else "Accept all")
        self.all.setEnabled(bool(above))

    def show_undo(self, words: str) -> None:
        """What would be taken back, "" for nothing."""
        self.undo.setEnabled(bool(words))
        self.undo.setToolTip(f"{words}  (Ctrl+Z or U)" if words else "Nothing to take back")

    def show_line(self, line: Line | None, selected: int) -> None:
        """What can be said about the line in hand."""
        self._line = line
        self._strip.setVisible(line is not None)
        if line is None:
            return
        words = text.file_name(line.clip) if selected < 2 else f"{text.plural(selected, 'sound')} selected"
        self.name.set_words(words)
        self.reject.setEnabled(line.open)
        self._show_offers()

    def _show_offers(self) -> None:
        """What fits what is being typed, or else the suggestions of the line."""
        self._offers.clear()
        if self.field.shown:
            for place, (catid, category, subcategory) in enumerate(self.field.shown):
                tip = f"Give it {catid}" + ("  (Enter)" if place == self.field.current else "")
                role = "primary" if place == self.field.current else ""
                call = partial(self.field.take, place)
                self._add_offer(f"{category} / {subcategory}", tip, call, role)
        elif self.field.text().strip():
            self._offers.addWidget(buttons.words("No category of the UCS has these letters.", "dim"))
        elif self._line is not None:
            self._offer_suggestions(self._line)
        self.offers.updateGeometry()

    def _offer_suggestions(self, line: Line) -> None:
        for number, suggestion in enumerate(line.suggestions):
            offered = number == line.place and not line.catid
            taken = suggestion.catid == line.catid
            name = f"{suggestion.category} / {suggestion.subcategory}"
            label = f"{number + 1}  {name}  {percent(suggestion.confidence)}"
            tip = f"Give it {suggestion.catid}  ({number + 1}{', or Enter' if offered else ''})"
            call = partial(self.choice_pressed.emit, number)
            self._add_offer(label, tip, call, "primary" if offered or taken else "")

    def _add_offer(self, label: str, tip: str, call: Callable[[], object], role: str) -> None:
        button = buttons.push(label, tip, call, role)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._offers.addWidget(button)

    def focus_field(self) -> None:
        """To the field for another category, when there is a line to give it to."""
        if self._strip.isVisible():
            self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def offer_buttons(self) -> Sequence[QPushButton]:
        """The buttons of the suggestions, for whoever wants to look."""
        return [b for b in self.offers.findChildren(QPushButton) if not b.isHidden()]


assert len(TITLES) == len(WIDTHS)
