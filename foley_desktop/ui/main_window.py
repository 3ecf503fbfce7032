"""The main window: where the panels stand, and which signal of one reaches which method of another."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import (
    QMainWindow,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.audio.player import Player
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip, Condition, Filters, IndexReport, Region, Root
from foley_desktop.ui import banner, prompt, text, window_state, wings
from foley_desktop.ui.clip_menu import ClipActions
from foley_desktop.ui.deck import Deck
from foley_desktop.ui.drag import dropped_paths
from foley_desktop.ui.evaluation_panel import EvaluationPanel
from foley_desktop.ui.first_run import FirstRunPage
from foley_desktop.ui.handover import Handover
from foley_desktop.ui.keys import CTRL, SHIFT, HelpOverlay, Key, Keys
from foley_desktop.ui.lab_wing import LabWing
from foley_desktop.ui.library_actions import LibraryActions
from foley_desktop.ui.messages import Messages
from foley_desktop.ui.pages import Pages
from foley_desktop.ui.results_model import ROW_ROLE
from foley_desktop.ui.results_panel import ResultsPanel
from foley_desktop.ui.search_bar import SearchBar
from foley_desktop.ui.search_wing import SearchWing
from foley_desktop.ui.sidebar import Sidebar
from foley_desktop.ui.status import StatusLine
from foley_desktop.workers import jobs
from foley_desktop.workers.job import Job
from foley_desktop.workers.jobs import Overview, Request
from foley_desktop.workers.runner import Runner

CLOSE_WITHIN_S = 3.0


class MainWindow(QMainWindow):
    """Built once by the composition root, which passes everything in."""

    closing = Signal()
    closed = Signal()
    """All work has ended."""

    def __init__(self, service: LibraryService, runner: Runner, make_player: Callable[[], Player]) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle("Foley Desktop")
        self.setAcceptDrops(True)
        self.service = service
        self.runner = runner
        self.ended_cleanly = True
        self._closed = False
        self._remembered = ""
        self.search_bar = SearchBar()
        self.sidebar = Sidebar()
        self.results = ResultsPanel(service, runner)
        self.deck = Deck(service, runner)
        self.first_run = FirstRunPage()
        self.sound_banner = banner.sound_banner()
        self.evaluation = EvaluationPanel(self)
        self.status = StatusLine()
        self.pages = Pages()
        self._lay_out()
        self.messages = Messages(self, self.deck)
        self.help = HelpOverlay(self)
        self.library = LibraryActions(service, runner, self.messages)
        self.actions_ = ClipActions(self.results, self.deck, self.library, self.messages, self)
        self.handover = Handover(service, runner, self.results.view, self.deck, self)
        self.keys = Keys(self)
        self.lab = LabWing(self)
        self.search_wing = SearchWing(self)
        self.wings = wings.build(self)
        self._connect_search()
        self._connect_library()
        self._connect_listening()
        self._connect_evaluation()
        self._set_keys()
        window_state.restore(self, service.settings.extra)
        self._start(make_player)

    # --- layout

    def _lay_out(self) -> None:
        self.listening = QSplitter(Qt.Orientation.Vertical)
        self.lists = Pages()  # the results, and what else may stand in their place
        self.lists.addWidget(self.results)
        self.listening.addWidget(self.lists)
        self.listening.addWidget(self.deck)
        self.listening.setStretchFactor(0, 1)
        self.listening.setChildrenCollapsible(False)
        self.listening.setSizes([520, 220])
        self.columns = QSplitter(Qt.Orientation.Horizontal)
        self.columns.addWidget(self.sidebar)
        self.columns.addWidget(self.listening)
        self.columns.setStretchFactor(1, 1)
        self.columns.setSizes([236, 1000])
        for splitter in (self.listening, self.columns):
            splitter.setHandleWidth(5)
        for page in (QWidget(), self.first_run, self.columns):  # the first until it is known which
            self.pages.addWidget(page)
        central = QWidget()
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.search_bar)
        self.strips = QVBoxLayout()
        self.strips.addWidget(self.sound_banner)
        column.addLayout(self.strips)
        column.addWidget(self.pages, 1)
        self.setCentralWidget(central)
        self.setStatusBar(self.status)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.evaluation)
        self.resizeDocks([self.evaluation], [520], Qt.Orientation.Horizontal)
        self.evaluation.hide()
        self.resize(QSize(1360, 860).boundedTo(self.screen().availableSize()).expandedTo(QSize(1200, 700)))

    # --- connections

    def _connect_search(self) -> None:
        bar, search = self.search_bar, self.results.search
        bar.typed.connect(search.type)
        bar.submitted.connect(self.results.enter)
        bar.left_downwards.connect(self.results.enter)
        bar.mode_changed.connect(search.set_mode)
        bar.chips.filters_changed.connect(search.set_filters)
        bar.chips.pattern_closed.connect(search.remove_pattern)
        bar.help_pressed.connect(self.help.toggle)
        search.request_changed.connect(self._on_request)
        search.failed.connect(self.messages.fail)
        self.results.view.entered.connect(self._remember_search)

    def _connect_library(self) -> None:
        library, sidebar, chips = self.library, self.sidebar, self.search_bar.chips
        library.overview_changed.connect(self._on_overview)
        library.clips_changed.connect(self.results.search.refresh)
        library.job_started.connect(self._on_job)
        library.indexed.connect(self._on_indexed)
        self.status.jobs.changed.connect(lambda: self.results.set_indexing(self.status.jobs.is_indexing))
        library.file_dropped.connect(self._on_file_dropped)
        library.models_changed.connect(self._on_models)
        sidebar.add_wanted.connect(self.choose_folder)
        self.first_run.add_pressed.connect(self.choose_folder)
        self.first_run.demo_pressed.connect(library.make_demo)
        sidebar.rescan_wanted.connect(library.rescan)
        sidebar.remove_wanted.connect(self._ask_to_remove)
        sidebar.reveal_wanted.connect(library.reveal)
        sidebar.searchable_changed.connect(library.set_searchable)
        sidebar.everything_chosen.connect(self._show_everything)
        sidebar.favourites_chosen.connect(lambda: chips.add(Condition("favourite", "=", True)))
        sidebar.folder_chosen.connect(lambda root: chips.add(Condition("folder", "=", root.path)))
        sidebar.category_chosen.connect(self._on_category)
        sidebar.recent_chosen.connect(self.search_bar.set_query)

    def _connect_listening(self) -> None:
        view, deck = self.results.view, self.deck
        view.clip_chosen.connect(self._on_clip_chosen)
        view.rated.connect(lambda clip, rating: self.actions_.rate(rating, [clip]))
        view.favoured.connect(lambda clip: self.actions_.favour([clip]))
        view.menu_wanted.connect(self.actions_.show_menu)
        deck.similar_wanted.connect(self.find_similar)
        self.actions_.similar_wanted.connect(lambda clip: self.find_similar(clip, None))
        deck.playing_changed.connect(self.results.model.set_playing)
        self.handover.failed.connect(self.messages.fail)

    def _connect_evaluation(self) -> None:
        panel = self.evaluation
        self.search_bar.evaluation_toggled.connect(panel.setVisible)
        panel.visibilityChanged.connect(
            lambda: self.search_bar.evaluation_button.setChecked(not panel.isHidden())
        )
        panel.run_wanted.connect(self._evaluate)
        panel.query_chosen.connect(self.search_for)

    def _set_keys(self) -> None:
        key, playback, transport = Qt.Key, self.deck.playback, self.deck.transport
        self.keys.add(
            Key(key.Key_F, self.search_bar.focus_box, CTRL, everywhere=True),
            Key(key.Key_Slash, self.search_bar.focus_box),
            Key(key.Key_Escape, self._escape, everywhere=True),
            Key(key.Key_F1, self.help.toggle, everywhere=True),
            Key(key.Key_Question, self.help.toggle),
            Key(key.Key_Space, playback.toggle),
            Key(key.Key_Return, playback.play_from_start),
            Key(key.Key_Enter, playback.play_from_start),
            Key(key.Key_A, transport.audition.toggle),
            Key(key.Key_L, transport.loop.toggle),
            Key(key.Key_S, self.deck.find_similar),
            Key(key.Key_F, self.actions_.favour),
            Key(key.Key_C, self.actions_.copy_files, CTRL),
        )
        for seconds, modifiers in ((1.0, Qt.KeyboardModifier.NoModifier), (5.0, SHIFT)):
            self.keys.add(
                Key(key.Key_Left, partial(playback.nudge, -seconds), modifiers, repeats=True),
                Key(key.Key_Right, partial(playback.nudge, seconds), modifiers, repeats=True),
            )
        for stars in range(6):
            self.keys.add(Key(Qt.Key(key.Key_0 + stars), partial(self.actions_.rate, stars)))

    def _start(self, make_player: Callable[[], Player]) -> None:
        self.runner.reads.submit(
            make_player, self._take_player, self.messages.fail, what="Opening the sound output"
        )
        self.library.refresh()
        self.results.search.refresh()
        self.library.start_models()
        self._look_for_golden()
        self.search_bar.box.setFocus()

    # --- what happens when

    def _take_player(self, player: Player) -> None:
        self.deck.playback.take_player(player)
        self.sound_banner.say(player.unavailable_reason)

    def _on_overview(self, overview: Overview) -> None:
        self.sidebar.show_overview(overview)
        self.status.show_overview(overview)
        empty = not overview.roots and not self.status.jobs.is_indexing
        self.pages.setCurrentWidget(self.first_run if empty else self.columns)

    def _on_request(self, request: Request) -> None:
        self.search_bar.chips.show_patterns(request.patterns)

    def _on_job(self, job: Job) -> None:
        self.status.jobs.add(job)
        if job.kind == "index":
            self.pages.setCurrentWidget(self.columns)

    def _on_indexed(self, report: IndexReport) -> None:
        sentence = text.index_summary(report)
        lines = [f"{r.path}\t{r.sentence or r.reason}" for r in report.rejected] + list(report.notices)
        title = f"{text.plural(len(report.rejected), 'file')} could not be used"
        self.messages.say(
            sentence, action="Show" if lines else "", call=lambda: self.messages.list_lines(title, lines)
        )
        self._look_for_golden()

    def _look_for_golden(self) -> None:
        self.runner.reads.submit(lambda: jobs.golden_files(self.service), self._offer_golden)

    def _offer_golden(self, files: list[str]) -> None:
        if files:
            self.evaluation.offer_file(files[0])

    def _on_models(self, state: str, sentence: str) -> None:
        self.status.show_models(state, sentence)
        found = self.results.search.found
        if state == "ready" and found is not None and not found.complete:
            self.results.search.refresh()

    def _on_clip_chosen(self, clip: Clip) -> None:
        row = self.results.view.currentIndex().data(ROW_ROLE)
        self.deck.take(clip, row.hit if row is not None else None)

    def find_similar(self, clip: Clip, region: Region | None) -> None:
        """Lists what sounds like ``clip``, or like a region of it."""
        if self.lab.grading.active:
            self.messages.say("Leave the grading session to search.")
            return
        self.results.search.find_similar(clip, region)

    def _remember_search(self) -> None:
        request = self.results.search.request
        if request.kind == "text" and request.text.strip() != self._remembered:
            self._remembered = request.text.strip()
            self.library.remember_search(self._remembered)

    def _on_category(self, category: str, subcategory: str) -> None:
        conditions = [Condition("category", "=", category)]
        if subcategory:
            conditions.append(Condition("subcategory", "=", subcategory))
        self.search_bar.chips.add(*conditions)

    def _show_everything(self) -> None:
        self.results.search.leave_similar()
        self.search_bar.chips.set_filters(Filters())
        self.search_bar.box.clear()

    def search_for(self, query: str) -> None:
        """Searches for a query of elsewhere, as if it had been typed."""
        self.search_bar.set_query(query)
        self.results.search.submit()

    def _evaluate(self, golden_file: str, mode: str, k: int) -> None:
        job = jobs.evaluate_job(self.service, golden_file, mode, k)  # type: ignore[arg-type]
        job.failed.connect(self.messages.fail)
        self.evaluation.follow(job)
        self.status.jobs.add(job)
        self.runner.measures.submit(job)

    def _escape(self) -> None:
        if self.help.isVisible():
            self.help.hide()
        elif self.deck.playback.state != "stopped":
            self.deck.stop()
        else:
            self.search_bar.focus_box()

    # --- folders

    def choose_folder(self) -> None:
        """Opens the folder dialog; it does not block the window."""
        prompt.ask_folder(self, "Add a folder of sounds", lambda path: self.add_folders([path]))

    def add_folders(self, folders: Sequence[str]) -> None:
        """Adds folders and indexes them in the background."""
        self.library.add_folders(folders)

    def _ask_to_remove(self, root: Root) -> None:
        self.messages.ask(
            f"Remove {root.name} from the library?",
            f"Ratings and favourites of its {text.plural(root.clip_count, 'sound')} are forgotten. "
            "The files stay where they are.",
            [("Remove", lambda: self.library.remove(root))],
        )

    def _on_file_dropped(self, path: str) -> None:
        name = os.path.basename(path)
        clip = Clip(id="", path=path, root_id=0, rel_path=name, name=name)
        self.messages.ask(
            name,
            "Find sounds like this one, or add its folder to the library?",
            [
                ("Add its folder", lambda: self.add_folders([os.path.dirname(path)])),
                ("Find similar", lambda: self.find_similar(clip, None)),
            ],
        )

    # --- drops

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self._answer_copy(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._answer_copy(event)

    def _answer_copy(self, event: QDropEvent) -> None:
        """Takes files from elsewhere, as a copy whatever the sender or a held key suggests."""
        if event.mimeData().hasUrls() and event.source() is None:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
        else:
            event.ignore()

    def dropEvent(self, event: QDropEvent) -> None:
        self._answer_copy(event)
        if event.isAccepted():
            self.library.drop(*dropped_paths(event.mimeData()))

    # --- the end

    def closeEvent(self, event: QCloseEvent) -> None:
        event.accept()
        self.shut_down()

    def shut_down(self) -> None:
        """Ends all work and closes the library; safe to call twice."""
        if self._closed:
            return
        self._closed = True
        self.closing.emit()
        state = window_state.capture(self)
        audition = self.deck.auditions
        self.hide()
        self.keys.detach()
        self.results.search.stop()
        self.library.stop()
        self.lab.stop()
        self.search_wing.stop()
        for wing in self.wings.values():
            wing.stop()
        self.deck.stop()
        player = self.deck.playback.player

        def close() -> None:
            if player is not None:
                player.close()
            self.service.settings.audition_on_select = audition
            jobs.save_settings(self.service, lambda extra: extra.update(window=state))
            self.service.close()

        self.ended_cleanly = self.runner.shutdown(close, CLOSE_WITHIN_S)
        self.closed.emit()
