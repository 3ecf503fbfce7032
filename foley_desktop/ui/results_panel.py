"""The middle of the window: how many results there are, what waits, what is to be known, the table."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from foley_desktop.library.service import LibraryService
from foley_desktop.models import Hit
from foley_desktop.ui import banner, buttons, text, theme
from foley_desktop.ui.balance import BalanceSlider
from foley_desktop.ui.results_model import COLUMNS, ROW_ROLE, ResultsModel
from foley_desktop.ui.results_view import ResultsView
from foley_desktop.ui.search_controller import SearchController
from foley_desktop.ui.why import WhyLine
from foley_desktop.workers.jobs import Found, Request
from foley_desktop.workers.runner import Runner

UNANSWERABLE = 0.3
"""Below this the library most likely holds no answer: on the development queries and on those of the packages
that no training has seen, three in five and four in five of the queries without one, one in seven and one in
five of the others."""
NOTHING_FITS = "Nothing here fits well. What follows are only the nearest sounds there are."


class ResultsPanel(QWidget):
    """Table, header line and notices around one :class:`SearchController`."""

    def __init__(self, service: LibraryService, runner: Runner, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = ResultsModel()
        self.view = ResultsView(self.model)
        self.search = SearchController(service, runner, self.model, lambda: self.view.is_entered)
        self._kept: tuple[list[str], str] = ([], "")
        self._enters = False
        self._indexing = False
        self._count = buttons.words("", "dim")
        self._took = buttons.words("", "faint")
        self.new_chip = buttons.push(
            "", "Show what has been found since", self.search.show_waiting, "chip-new"
        )
        self.new_chip.setObjectName("new_results")
        self.new_chip.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.new_chip.hide()
        self.notice = banner.notice_line()
        self.doubt = banner.doubt_line()
        self.hidden = banner.hidden_line()
        self.balance = BalanceSlider()
        self.balance.hide()
        self.fold_button = buttons.tool(
            "takes", "Fold numbered takes of one sound into one row", size=16, checkable=True
        )
        self.fold_button.setObjectName("fold_takes")
        self.fold_button.toggled.connect(self.search.fold_takes)
        self.why = WhyLine()
        self._service, self._runner = service, runner
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        head = QWidget()
        theme.mark(head, "panel")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        head.setFixedHeight(32)
        line = QHBoxLayout(head)
        line.setContentsMargins(12, 0, 12, 0)
        line.setSpacing(10)
        line.addWidget(self._count)
        line.addWidget(self._took)
        line.addWidget(self.new_chip)
        line.addStretch(1)
        line.addWidget(self.balance)
        line.addWidget(self.fold_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        for strip in (self.notice, self.doubt, self.hidden):
            column.addWidget(strip)
        column.addWidget(self.view, 1)
        column.addWidget(self.why)

    def _connect(self) -> None:
        self.model.modelAboutToBeReset.connect(self._keep_selection)
        self.search.asked.connect(self._on_asked)
        self.view.end_wanted.connect(lambda: self.search.fetch_all(self.view.go_to_end))
        self.search.request_changed.connect(self._on_typed_again)
        self.search.failed.connect(lambda _: self._took.setText(""))
        self.search.listed.connect(self._on_listed)
        self.search.noticed.connect(self._say_notices)
        self.search.waiting_changed.connect(self._on_waiting)
        self.balance.changed.connect(self.search.set_balance)
        self.view.selectionModel().currentRowChanged.connect(lambda *_: self._explain())
        self.view.selectionModel().selectionChanged.connect(lambda *_: self._explain())
        self.model.dataChanged.connect(lambda *_: self._explain())
        self.why.details_wanted.connect(self._fetch_details)
        # Once the panel has taken its room.
        self.why.toggle.toggled.connect(lambda _: QTimer.singleShot(0, self, self._keep_in_sight))

    def _keep_selection(self) -> None:
        current = self.view.current_clip()
        self._kept = ([clip.id for clip in self.view.selected_clips()], current.id if current else "")

    def set_indexing(self, indexing: bool) -> None:
        """Whether folders are being read: an empty list then says that sounds are on their way."""
        self._indexing = indexing
        if self.search.found is not None:
            self.view.set_empty_words(*_empty_words(self.search.found, indexing))

    def enter(self) -> None:
        """Brings the selection into the results of what is typed now, as soon as they are there."""
        self.search.finish_typing()
        if self.search.is_answered:
            self.view.enter()
        else:
            self._enters = True

    def _on_typed_again(self, request: Request) -> None:
        if request.typing:
            self._enters = False

    def _on_asked(self) -> None:
        self._took.setText("searching …" if self.search.request.kind != "list" else "")

    def _on_listed(self, found: Found) -> None:
        if self.search.keeps_selection and self._kept[0]:
            self.view.select_ids(*self._kept)
            self.view.scrollTo(self.view.currentIndex())
        else:
            self.view.scrollToTop()
        self._show_sorting(found)
        self._say_count(found)
        self._say_notices(found)
        self.view.set_empty_words(*_empty_words(found, self._indexing))
        if self._enters:
            self._enters = False
            self.view.enter()

    def _show_sorting(self, found: Found) -> None:
        """Puts the header's arrow where the order of the rows really comes from."""
        column, descending = -1, False
        if self.model.sorting is not None:
            column, descending = self.model.sorting
        elif found.request.kind == "list" and (found.request.order_by, found.request.descending) != (
            "name",
            False,
        ):
            names = [c.order_by for c in COLUMNS]
            column, descending = names.index(found.request.order_by), found.request.descending
        header = self.view.horizontalHeader()
        blocked = header.blockSignals(True)
        header.setSortIndicator(
            column, Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
        )
        header.blockSignals(blocked)
        header.viewport().update()

    def _say_count(self, found: Found) -> None:
        noun = "sound" if found.request.kind == "list" else "result"
        counted = text.plural(found.total, noun)
        rows = self.model.rowCount()
        folds = self.search.folds_takes and not found.more and rows < found.total
        self._count.setText(f"{counted} in {text.plural(rows, 'row')}" if folds else counted)

    def _say_notices(self, found: Found) -> None:
        self._took.setText("" if found.request.kind == "list" else f"{found.took_ms:.0f} ms")
        self.notice.say("  ".join(found.notices))
        self.doubt.say(NOTHING_FITS if _is_doubtful(found) and not self._indexing else "")
        self._say_hidden(found)
        if found.neutral is not None:
            self.balance.set_neutral(found.neutral)
        request = found.request
        self.balance.setVisible(request.kind == "text" and request.mode == "hybrid" and bool(found.rows))
        self._explain()

    def _say_hidden(self, found: Found) -> None:
        """What is hidden because it sounds like an excluded word, and the way to it and back."""
        if not found.hidden:
            self.hidden.say("")
        elif found.request.show_hidden:
            counted = text.plural(found.hidden, "sound")
            self.hidden.say(
                f"{counted} of these sound like what you left out.", "Hide", self._hide_what_sounds
            )
        else:
            self.hidden.say(f"{text.count(found.hidden)} hidden by sound.", "Show", self._show_what_sounds)

    def _show_what_sounds(self) -> None:
        self.search.set_show_hidden(True)

    def _hide_what_sounds(self) -> None:
        self.search.set_show_hidden(False)

    # --- why

    def current_hit(self) -> Hit | None:
        """The hit of the selected row, if it came from a search."""
        row = self.view.currentIndex().data(ROW_ROLE) if self.view.is_entered else None
        return row.hit if row is not None else None

    def _keep_in_sight(self) -> None:
        if self.view.is_entered:
            self.view.scrollTo(self.view.currentIndex())

    def _explain(self) -> None:
        found = self.search.found
        query = found.request.text if found is not None and found.request.kind == "text" else ""
        self.why.show_hit(self.current_hit(), query)

    def _fetch_details(self, hit: Hit) -> None:
        found, service = self.search.found, self._service
        if found is not None and found.request.kind == "text":
            query = found.request.text
            self._runner.reads.submit(
                lambda: service.searcher.explained(query, hit), self.why.take_details, key="why"
            )

    def _on_waiting(self, number: int) -> None:
        self.new_chip.setVisible(number != 0)
        self.new_chip.setText(f"{number} new" if number > 0 else "Better order")


def _is_doubtful(found: Found) -> bool:
    """Whether a full search found nothing that it would stand up for."""
    full = found.request.kind == "text" and found.complete and bool(found.rows)
    return full and found.answerable < UNANSWERABLE


def _empty_words(found: Found, indexing: bool) -> tuple[str, str]:
    request = found.request
    if indexing and request.kind == "list" and not request.filters:
        return "Reading the folder …", "Sounds appear here as they are found; you can search them at once."
    if request.kind == "text":
        advice = "Try fewer or other words"
        advice += ", or remove a filter above." if request.filters else ", or search by Sound or Meaning."
        return f"Nothing found for “{text.shown(request.text.strip(), 60)}”", advice
    if request.kind == "similar":
        advice = "Add folders, remove a filter, or rescan: only what was listened to can be compared."
        return "No other sounds to compare with", advice
    if request.filters:
        return "No sound passes these filters", "Remove a filter above to see more."
    return "No sounds yet", "Add a folder with the button at the top of the sidebar, or drop one here."
