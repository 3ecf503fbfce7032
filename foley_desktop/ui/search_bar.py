"""The top of the window: the search box, the mode, filters, and what the search has to say."""

from __future__ import annotations

from typing import cast, get_args

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from foley_desktop.models import Mode
from foley_desktop.ui import buttons, icons, theme
from foley_desktop.ui.chips import ChipBar
from foley_desktop.ui.filter_menu import FilterMenu

MODES: tuple[tuple[Mode, str, str], ...] = (
    ("hybrid", "Everything", "Words, meaning and sound together"),
    ("keyword", "Words", "Only names, folders and tags, word by word"),
    ("semantic", "Meaning", "What the clip's own words mean"),
    ("audio", "Sound", "Your words against the sound itself"),
)
assert {mode for mode, _, _ in MODES} == set(get_args(Mode))

LONGEST_QUERY = 500


class SearchBar(QWidget):
    """Search box, mode and chips. ``typed`` comes with every change, ``submitted`` with Enter."""

    typed = Signal(str)
    submitted = Signal()
    left_downwards = Signal()
    mode_changed = Signal(str)
    help_pressed = Signal()
    evaluation_toggled = Signal(bool)
    record_pressed = Signal()
    settings_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.box = self._make_box()
        self.mode_box = self._make_modes()
        self.chips = ChipBar()
        self.filter_button = buttons.tool(
            "filter",
            "Add a filter: length, channels, rate, rating …",
            self._show_filters,
            label="Filter",
            folds=True,
        )
        self.evaluation_button = buttons.tool(
            "chart",
            "Evaluation: measure how good the search is",
            checkable=True,
            label="Evaluate",
            folds=True,
        )
        self.evaluation_button.toggled.connect(self.evaluation_toggled)
        self.record_button = buttons.tool(
            "microphone", "Search by a sound: record it with the microphone", self._on_record, checkable=True
        )
        self.record_button.setObjectName("record")
        self.settings_button = buttons.tool("gear", "Settings  (Ctrl+,)", self.settings_pressed.emit)
        self.settings_button.setObjectName("settings")
        self.help_button = buttons.tool("help", "All keys  (F1 or ?)", self.help_pressed.emit)
        self._lay_out()

    def _make_box(self) -> QLineEdit:
        box = QLineEdit()
        box.setObjectName("search_box")
        box.setPlaceholderText("Search by words, meaning or sound: heavy wooden door slam …")
        box.setToolTip(
            'Ctrl+F or /   ·   "exact phrase"   ·   -without   ·   duration<5   ·   Down: into the results'
        )
        box.setClearButtonEnabled(False)
        box.setMaxLength(LONGEST_QUERY)
        action = box.addAction(
            icons.icon("search", theme.colour("faint")), QLineEdit.ActionPosition.LeadingPosition
        )
        action.setToolTip("Search")
        self._clear = box.addAction(
            icons.icon("close", theme.colour("dim")), QLineEdit.ActionPosition.TrailingPosition
        )
        self._clear.setToolTip("Clear the search")
        self._clear.setVisible(False)
        self._clear.triggered.connect(lambda _=False: box.clear())
        box.textChanged.connect(self._on_text)
        box.returnPressed.connect(self.submitted)
        box.installEventFilter(self)
        return box

    def _make_modes(self) -> QComboBox:
        modes = buttons.Choice()
        modes.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        modes.setAccessibleName("Search mode")
        modes.setToolTip("What is searched")
        for mode, label, tip in MODES:
            modes.addItem(label, mode)
            modes.setItemData(modes.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        modes.activated.connect(lambda _: self.mode_changed.emit(self.mode))
        return modes

    def _lay_out(self) -> None:
        brand = buttons.words("FOLEY", "brand")
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(brand)
        line.addSpacing(8)
        line.addWidget(self.box, 1)
        line.addWidget(self.record_button)
        line.addWidget(self.mode_box)
        line.addWidget(self.filter_button)
        line.addWidget(buttons.rule(vertical=True))
        line.addWidget(self.evaluation_button)
        line.addWidget(self.settings_button)
        line.addWidget(self.help_button)
        self._line = line
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 9, 12, 9)
        column.setSpacing(7)
        column.addLayout(line)
        column.addWidget(self.chips)

    @property
    def mode(self) -> Mode:
        return cast(Mode, self.mode_box.currentData())

    def add_button(self, button: QWidget) -> None:
        """Takes in the button of another part of the window, before that of the evaluation."""
        self._line.insertWidget(self._line.indexOf(self.evaluation_button), button)

    def set_query(self, query: str) -> None:
        """Puts a query into the box, as if it had been typed."""
        self.box.setText(query)
        self.box.setCursorPosition(len(query))

    def focus_box(self) -> None:
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.box.selectAll()

    def _on_text(self, query: str) -> None:
        self._clear.setVisible(bool(query))
        self.typed.emit(query)

    def _on_record(self) -> None:
        self.record_button.setChecked(False)  # whoever records says when it has begun
        self.record_pressed.emit()

    def _show_filters(self) -> None:
        menu = FilterMenu(self.chips)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.filter_button.mapToGlobal(self.filter_button.rect().bottomLeft()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.box and event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            if event.key() == Qt.Key.Key_Down and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.left_downwards.emit()
                return True
        return super().eventFilter(watched, event)
