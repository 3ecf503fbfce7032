"""One field of the inspector: its label, its editor, and every value that somebody wrote, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRect, QSize, QStringListModel, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QCompleter, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from foley_desktop.audio.tags import SOURCES, is_cut
from foley_desktop.library.editing import Field, Shown, Value
from foley_desktop.ui import buttons, text, theme
from foley_desktop.ui.category_field import MOST_SHOWN, Choice, label, matching
from foley_desktop.ui.inspector_edit import Editor, LineEditor, LongEditor

LABEL_WIDTH = 112
MOST_VALUES = 5
_SOURCE_WIDTH = 58
_COUNT_WIDTH = 34
_LINE_PX = 16
_MOST_LINES = 3
_TOLD_IN_TIP = 12

SOURCE_NAMES = {"edit": "edited", "list": "list", "sidecar": "beside", "UCS name": "name", "user": "you"}
_RANK = {source: rank for rank, source in enumerate(("edit", "list", *SOURCES))}


_WRAPPED = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop


class Told(NamedTuple):
    """A value with everyone who says so, and in how many of the clips at most."""

    value: str
    sources: tuple[str, ...]
    clips: int


def told(values: Sequence[Value]) -> list[Told]:
    """Values side by side: each once, the most trusted first. One that was merely cut joins the whole one."""
    ranked = sorted(values, key=lambda v: (_RANK.get(v.source, len(_RANK)), -v.clips, v.value))
    found: dict[str, dict[str, int]] = {}
    for value, source, clips in ranked:
        whole = next((v.value for v in ranked if is_cut(value, v.value)), value)
        sources = found.setdefault(whole, {})
        sources[source] = sources.get(source, 0) + clips
    return [Told(value, tuple(sources), max(sources.values())) for value, sources in found.items()]


def source_words(sources: Sequence[str]) -> str:
    """``bext, iXML`` as it stands beside a value."""
    return ", ".join(SOURCE_NAMES.get(source, source) for source in sources)


def source_tag(sources: Sequence[str]) -> str:
    """The same in the little room inside a field: ``bext +2``."""
    more = len(sources) - 1
    return source_words(sources[:1]) + (f" +{more}" if more > 0 else "")


class SourceLine(QAbstractButton):
    """``bext   Old wooden door``: a click takes that value."""

    def __init__(self, said: Told, counts: bool, many: bool) -> None:
        super().__init__()
        self.said = said
        self._counts = counts
        self._place = f"{said.clips} ×" if many else source_tag(said.sources)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        who = source_words(said.sources)
        tip = f"{who}: {said.value}" + ("\nThis is what counts." if counts else "\nClick to take this value.")
        self.setToolTip(text.plain_tooltip(tip))
        self.setAccessibleName(tip)
        self._font = self.font()
        self._font.setPixelSize(11)
        self._left = 7 + _SOURCE_WIDTH
        if many:  # A number that is cut would be another number.
            self._left = 7 + max(_COUNT_WIDTH, QFontMetrics(self._font).horizontalAdvance(self._place) + 8)

    def sizeHint(self) -> QSize:
        return QSize(120, _LINE_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many lines as the value needs, within bounds."""
        super().resizeEvent(event)
        metrics = QFontMetrics(self._font)
        room = QRect(0, 0, max(40, self.width() - self._left - 4), 1000)
        needed = metrics.boundingRect(room, _WRAPPED, text.shown(self.said.value, 300)).height()
        lines = min(_MOST_LINES, max(1, round(needed / metrics.lineSpacing())))
        self.setFixedHeight(_LINE_PX if lines == 1 else lines * metrics.lineSpacing() + 3)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.underMouse():
            painter.fillRect(self.rect(), theme.colour("raised"))
        painter.setFont(self._font)
        painter.setPen(theme.colour("accent" if self._counts else "faint"))
        metrics = painter.fontMetrics()
        place = metrics.elidedText(self._place, Qt.TextElideMode.ElideRight, self._left - 11)
        painter.drawText(QRect(7, 1, self._left, self.height()), Qt.AlignmentFlag.AlignTop, place)
        painter.setPen(theme.colour("text" if self._counts else "dim"))
        room = QRect(self._left, 1, self.width() - self._left - 4, self.height())
        words = text.shown(self.said.value, 300)
        if self.height() <= _LINE_PX:
            words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, _WRAPPED, words)
        painter.end()


class CategoryEditor(LineEditor):
    """The CatID, found by typing parts of the category's names. Only CatIDs of the UCS are taken."""

    refused = Signal(str)
    """What was typed names no category; the field is as it was."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choices: tuple[Choice, ...] = ()
        self._offered: list[Choice] = []
        self._labels = QStringListModel(self)
        completer = QCompleter(self._labels, self)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        completer.setMaxVisibleItems(12)
        # Narrow as the field is, the CatID at the end of a line stays in sight.
        if (popup := completer.popup()) is not None:
            popup.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        # Later than Qt's own slot, which puts the whole line of the list into the field.
        completer.activated.connect(self._on_chosen, Qt.ConnectionType.QueuedConnection)
        self.setCompleter(completer)
        self.textEdited.connect(self._offer)

    def set_choices(self, choices: Sequence[Choice]) -> None:
        """The table of the UCS."""
        self._choices = tuple(choices)

    def _offer(self, typed: str) -> None:
        self._offered = matching(self._choices, typed)[:MOST_SHOWN]
        self._labels.setStringList([label(choice) for choice in self._offered])

    def _on_chosen(self, line: str) -> None:
        for choice in self._offered:
            if label(choice) == line:
                self.setText(choice[0])
                self._touched = True
                self.take()

    def take(self) -> None:
        typed = self.text().strip()
        if not self.is_dirty or not typed:
            super().take()
            return
        exact = next((c[0] for c in self._choices if c[0].casefold() == typed.casefold()), "")
        catid = exact or (self._offered[0][0] if self._offered else "")
        if not catid and self._choices:
            self.give_up()
            self.refused.emit(typed)
            return
        self.setText(catid or typed)
        self._touched = True
        super().take()


class FieldRow(QWidget):
    """``taken(field, value)`` and ``reverted(field)`` say what the user wants."""

    taken = Signal(str, str)
    reverted = Signal(str)
    entered = Signal(str)

    def __init__(self, field: Field, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = field
        self.editor: Editor = _editor(field)
        self.editor.setObjectName(f"inspect_{field.name}")
        self.editor.setAccessibleName(field.label)
        self.editor.taken.connect(lambda value: self.taken.emit(field.name, value))
        self.editor.entered.connect(lambda: self.entered.emit(field.name))
        self.name = buttons.words(field.label, "dim")
        self.name.setFixedWidth(LABEL_WIDTH)
        self.note = buttons.words("", "note")
        self.note.setFixedWidth(LABEL_WIDTH)
        self.note.hide()
        self.back = buttons.tool("undo", "Back to what the file says", self._on_back, size=13)
        self.back.hide()
        self.lines = QVBoxLayout()
        self.lines.setContentsMargins(0, 1, 0, 3)
        self.lines.setSpacing(0)
        self._lined: tuple[object, ...] = ()
        self._lay_out()

    def _lay_out(self) -> None:
        titles = QVBoxLayout()
        titles.setContentsMargins(0, 5, 0, 0)
        titles.setSpacing(1)
        titles.addWidget(self.name)
        titles.addWidget(self.note)
        titles.addStretch(1)
        edit = QHBoxLayout()
        edit.setSpacing(2)
        edit.addWidget(self.editor, 1)
        edit.addWidget(self.back, 0, Qt.AlignmentFlag.AlignTop)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 1, 0, 1)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(0)
        grid.addLayout(titles, 0, 0, 2, 1)
        grid.addLayout(edit, 0, 1)
        grid.addLayout(self.lines, 1, 1)
        grid.setColumnStretch(1, 1)

    def set_open(self, can_edit: bool) -> None:
        """Whether there is anything to edit now."""
        self.editor.setReadOnly(not can_edit)

    def show_field(self, shown: Shown, clips: int, distinct: int) -> None:
        """What is known of the field over ``clips`` clips, which have so many ``distinct`` values."""
        values = told(shown.values)
        many = clips > 1
        count = len(values) if distinct <= len(shown.values) else distinct
        conflict = len(values) > 1 and (not many or count <= MOST_VALUES)
        counts = next((said for said in values if said.value == shown.value), None)
        sources = source_tag(counts.sources) if counts is not None and not shown.mixed else ""
        hint = "mixed values" if shown.mixed else ""
        if shown.mixed and len(values) == 1:
            hint = f"mixed values: “{values[0].value}” or nothing"
        elif shown.mixed and values:
            hint = f"mixed values ({text.count(count)})"
        self.editor.show_value(shown.value, shown.mixed, text.shown(hint, 120), sources)
        self.editor.setToolTip(text.plain_tooltip(self._tip(shown, values, many, count)))
        self.back.setVisible(shown.edited > 0)
        note = ("edited" if shown.edited else "") or ("sources differ" if conflict and not many else "")
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self._show_lines(values if conflict else [], shown, many)

    def _tip(self, shown: Shown, values: Sequence[Told], many: bool, distinct: int) -> str:
        lines = [self.field.label + (" (Enter takes it, Esc gives it up)" if shown.values else "")]
        for said in values[:_TOLD_IN_TIP]:
            count = f"{said.clips} × " if many else ""
            lines.append(f"{count}{said.value}   ({source_words(said.sources)})")
        if distinct > _TOLD_IN_TIP:
            lines.append(f"and {text.count(distinct - _TOLD_IN_TIP)} more values")
        return "\n".join(lines)

    def _show_lines(self, values: Sequence[Told], shown: Shown, many: bool) -> None:
        wanted = (*values[:MOST_VALUES], shown.value, shown.mixed)
        if wanted == self._lined:
            return
        self._lined = wanted
        while (item := self.lines.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for said in values[:MOST_VALUES]:
            line = SourceLine(said, said.value == shown.value and not shown.mixed, many)
            line.clicked.connect(lambda _=False, value=said.value: self.taken.emit(self.field.name, value))
            self.lines.addWidget(line)

    def _on_back(self) -> None:
        self.editor.give_up()
        self.reverted.emit(self.field.name)


def _editor(field: Field) -> Editor:
    if field.name == "catid":
        return CategoryEditor()
    return LongEditor() if field.long else LineEditor()
