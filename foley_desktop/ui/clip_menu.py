"""What can be done with the selected sounds: the context menu, ratings, copying, revealing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from foley_desktop.models import Clip
from foley_desktop.ui import text
from foley_desktop.ui.deck import Deck
from foley_desktop.ui.drag import files_mime
from foley_desktop.ui.grading_model import GRADE_WORDS
from foley_desktop.ui.library_actions import LibraryActions
from foley_desktop.ui.messages import Messages
from foley_desktop.ui.results_model import ROW_ROLE
from foley_desktop.ui.results_panel import ResultsPanel


class ClipActions(QObject):
    """Acts on the selection of the results, or on the clip in the deck when nothing is selected."""

    similar_wanted = Signal(object)
    pattern_wanted = Signal(list, bool)
    """Clips to be like, or (True) to get away from."""
    wish_wanted = Signal(object)
    """A Clip that the results should differ from in a way that words say."""
    export_wanted = Signal(list)
    """Clips to render into new files."""
    takes_wanted = Signal(object)
    """The Clip of a row that stands for several takes, all of which are to be listed."""
    good_answer_wanted = Signal(list, int)
    """Clips are graded for the query that found them."""

    def __init__(
        self, results: ResultsPanel, deck: Deck, library: LibraryActions, messages: Messages, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._results = results
        self._deck = deck
        self._library = library
        self._messages = messages
        self._parent = parent
        self.additions: list[Callable[[QMenu, list[Clip]], None]] = []
        """What the wings put into the menu, each as a group of its own."""

    def clips(self) -> list[Clip]:
        """The sounds that are meant now."""
        selected = self._results.view.selected_clips()
        return selected or ([self._deck.clip] if self._deck.clip is not None else [])

    def rate(self, rating: int, clips: Sequence[Clip] | None = None) -> None:
        """Gives 0 to 5 stars: shown at once, taken back if it cannot be written."""
        chosen = [clip for clip in (clips or self.clips()) if clip.id]
        if chosen:
            self._library.rate(chosen, rating, lambda: self._restore(chosen))
            self._show(chosen, rating=rating)

    def favour(self, clips: Sequence[Clip] | None = None) -> None:
        """Makes all of them favourites, or none when all of them are."""
        chosen = [clip for clip in (clips or self.clips()) if clip.id]
        if chosen:
            favourite = not all(clip.favourite for clip in chosen)
            self._library.favour(chosen, favourite, lambda: self._restore(chosen))
            self._show(chosen, favourite=favourite)

    def _show(self, clips: Sequence[Clip], **changes: object) -> None:
        model = self._results.model
        model.change_clips([clip.id for clip in clips], **changes)
        for clip in clips:
            row = model.row_of(clip.id)
            now = model.clip_at(row) if row is not None else None
            if now is not None:
                self._deck.update_clip(now)

    def _restore(self, clips: Sequence[Clip]) -> None:
        for clip in clips:
            self._results.model.change_clips([clip.id], rating=clip.rating, favourite=clip.favourite)

    def copy_files(self) -> None:
        """Puts the files on the clipboard, for editors that take no drags."""
        clips = self.clips()
        if clips:
            QGuiApplication.clipboard().setMimeData(files_mime([clip.path for clip in clips]))
            self._messages.say(f"{text.plural(len(clips), 'file')} copied: paste into an editor or a folder.")

    def copy_paths(self) -> None:
        lines = [clip.path.encode("utf-8", "replace").decode() for clip in self.clips()]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _add_grades(self, menu: QMenu, clips: list[Clip]) -> None:
        """Whether these clips answer the query that found them: it then joins the golden set in hand."""
        found = self._results.search.found
        if found is None or found.request.kind != "text":
            return
        query = text.shown(found.request.text.strip(), 40).replace("&", "&&")
        grades = menu.addMenu(f"Good answer for “{query}”")
        for grade, words in sorted(GRADE_WORDS.items(), reverse=True):
            grades.addAction(f"{grade} {words}", partial(self.good_answer_wanted.emit, clips, grade))

    def _add_likeness(self, menu: QMenu, clips: list[Clip]) -> None:
        found = self._results.search.found
        compares = found is not None and found.request.kind == "similar"
        in_hand = self._deck.clip is not None and self._deck.clip.id == clips[0].id
        if in_hand and self._deck.region is not None:
            menu.addAction("Find similar to the selected region\tS", self._deck.find_similar)
        menu.addAction("Find similar\tS", lambda: self.similar_wanted.emit(clips[0]))
        menu.addAction("This, but …", lambda: self.wish_wanted.emit(clips[0]))
        if compares:
            menu.addAction("More like this", lambda: self.pattern_wanted.emit(clips, False))
            menu.addAction("Less like this", lambda: self.pattern_wanted.emit(clips, True))
        elif len(clips) > 1:
            menu.addAction("More like these", lambda: self.pattern_wanted.emit(clips, False))

    def show_menu(self, clips: list[Clip], position: QPoint) -> None:
        """The context menu of the results."""
        menu = QMenu(self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Play from the start\tEnter", self._deck.playback.play_from_start)
        self._add_likeness(menu, clips)
        row = self._results.view.currentIndex().data(ROW_ROLE)
        if row is not None and row.takes > 1:
            menu.addAction(f"Show all {row.takes} takes", lambda: self.takes_wanted.emit(row.clip))
        menu.addSeparator()
        label = "No favourite any more\tF" if all(c.favourite for c in clips) else "Favourite\tF"
        menu.addAction(label, lambda: self.favour(clips))
        rating = menu.addMenu("Rating")
        for stars in range(6):
            rating.addAction(f"{'★' * stars or 'No stars'}\t{stars}", partial(self.rate, stars, clips))
        self._add_grades(menu, clips)
        menu.addSeparator()
        for add in self.additions:
            add(menu, clips)
            menu.addSeparator()
        menu.addAction("Export …\tCtrl+E", lambda: self.export_wanted.emit(clips))
        menu.addAction("Copy files\tCtrl+C", self.copy_files)
        menu.addAction("Copy paths", self.copy_paths)
        menu.addAction("Show in file manager", lambda: self._library.reveal(clips[0].path))
        menu.popup(position)
