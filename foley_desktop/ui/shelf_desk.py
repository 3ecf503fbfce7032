"""Collections and saved searches in the window: made, named, filled, run and forgotten, with a way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMenu

from foley_desktop.library.shelf import SavedSearch
from foley_desktop.models import Clip, Condition
from foley_desktop.ui import prompt, text
from foley_desktop.ui.keys import CTRL, SHIFT, Key

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

_SHOWN = 60


class ShelfDesk(QObject):
    """Part of the window. What is changed is written on a lane, then the sidebar is read anew."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._shelf = window.service.shelf
        self._dragged: list[Clip] = []
        window.sidebar.tree.drag_source = window.results.view
        window.results.view.drag_prepared.connect(self._remember_drag)
        window.actions_.additions.append(self._add_to_menu)
        window.keys.add(Key(Qt.Key.Key_S, self.save_search, CTRL | SHIFT, everywhere=True))

    def _remember_drag(self, clips: list[Clip]) -> None:
        self._dragged = list(clips)

    @property
    def dragged(self) -> list[Clip]:
        """The clips on which the button went down last."""
        return self._dragged

    def _write(self, work: Callable[[], Any], done: Callable[[Any], object], what: str) -> None:
        def after(result: Any) -> None:
            self._window.library.refresh()
            done(result)

        self._window.runner.writes.slip_in(work, after, self._window.messages.fail, what)

    def _say(self, sentence: str, undo: Callable[[], object] | None = None) -> None:
        self._window.messages.say(sentence, action="Undo" if undo else "", call=undo)

    def _relist(self, name: str) -> None:
        """What is listed changes with the collection that it is narrowed to."""
        filters = self._window.search_bar.chips.filters
        if any(c.field == "collection" and c.value == name for c in filters.conditions):
            self._window.results.search.refresh()

    # --- collections

    def show_collection(self, name: str) -> None:
        """Narrows the list to a collection."""
        self._window.search_bar.chips.add(Condition("collection", "=", name))

    def new_collection(self, clips: Sequence[Clip] = ()) -> None:
        """Asks for a name and makes a collection with some sounds in it."""
        ids = [clip.id for clip in clips if clip.id]
        about = f"{text.plural(len(ids), 'sound')} will be in it." if ids else "Fill it by dropping sounds."
        prompt.ask_line(
            self._window, "New collection", about, "", "Create", lambda name: self._create(name, ids)
        )

    def _create(self, name: str, ids: list[str]) -> None:
        def done(kept: str) -> None:
            self._say(
                f"The collection {text.shown(kept, _SHOWN)} is made.", partial(self._delete, kept, False)
            )

        self._write(lambda: self._shelf.create(name, ids), done, "The collection")

    def add(self, name: str, clips: Sequence[Clip]) -> None:
        """Puts sounds into a collection."""
        ids = [clip.id for clip in clips if clip.id]
        if not ids:
            self._say("Select the sounds that are to join the collection.")
            return

        def done(added: list[str]) -> None:
            shown = text.shown(name, _SHOWN)
            if not added:
                self._say(f"They are in {shown} already." if len(ids) > 1 else f"It is in {shown} already.")
                return
            self._relist(name)
            self._say(f"{text.plural(len(added), 'sound')} added to {shown}.",
                      lambda: self._put(self._shelf.take_out, name, added))  # fmt: skip

        self._write(lambda: self._shelf.add(name, ids), done, "The collection")

    def take_out(self, name: str, clips: Sequence[Clip]) -> None:
        """Takes sounds out of a collection."""
        ids = [clip.id for clip in clips if clip.id]

        def done(gone: list[str]) -> None:
            self._relist(name)
            self._say(f"{text.plural(len(gone), 'sound')} taken out of {text.shown(name, _SHOWN)}.",
                      lambda: self._put(self._shelf.add, name, gone))  # fmt: skip

        self._write(lambda: self._shelf.take_out(name, ids), done, "The collection")

    def _put(self, put: Callable[[str, list[str]], object], name: str, ids: list[str]) -> None:
        self._write(lambda: put(name, ids), lambda _: self._relist(name), "Undoing it")

    def rename_collection(self, name: str) -> None:
        def rename(wanted: str) -> None:
            self._write(lambda: self._shelf.rename(name, wanted), renamed, "The new name")

        def renamed(kept: str) -> None:
            chips = self._window.search_bar.chips
            if any(c.field == "collection" and c.value == name for c in chips.filters.conditions):
                chips.add(Condition("collection", "=", kept))

        about = "Saved searches that ask for it follow."
        prompt.ask_line(self._window, "Rename collection", about, name, "Rename", rename)

    def delete_collection(self, name: str) -> None:
        self._delete(name, True)

    def _delete(self, name: str, say: bool) -> None:
        def done(ids: list[str]) -> None:
            chips = self._window.search_bar.chips
            chips.remove_if(lambda c: c.field == "collection" and c.value == name)
            if say:
                self._say(f"The collection {text.shown(name, _SHOWN)} is deleted; its sounds stay.",
                          lambda: self._write(lambda: self._shelf.create(name, ids), lambda _: None,
                                              "Undoing it"))  # fmt: skip

        self._write(lambda: self._shelf.delete(name), done, "Deleting the collection")

    def _add_to_menu(self, menu: QMenu, clips: list[Clip]) -> None:
        inner = menu.addMenu("Add to collection")
        overview = self._window.sidebar.overview
        for name, _ in overview.collections if overview else ():
            inner.addAction(_safe(name), partial(self.add, name, clips))
        if not inner.isEmpty():
            inner.addSeparator()
        inner.addAction("New collection …", partial(self.new_collection, clips))
        for condition in self._window.search_bar.chips.filters.conditions:
            if condition.field == "collection" and condition.op == "=":
                name = str(condition.value)
                menu.addAction(f"Take out of {_safe(name)}", partial(self.take_out, name, clips))

    # --- saved searches

    def save_search(self) -> None:
        """Asks for a name and keeps what is searched for now: words, mode and filters."""
        request = self._window.results.search.request
        if request.kind == "similar":
            self._say("A comparison with sounds cannot be saved. Collect the sounds themselves instead.")
            return
        filters = self._window.search_bar.chips.filters
        if not request.text.strip() and not filters:
            self._say("There is nothing to save yet: type a search, or choose a filter, first.")
            return
        suggested = request.text.strip()[:_SHOWN] or ", ".join(
            str(c.value) if c.field in ("category", "subcategory", "collection") else str(c)
            for c in filters.conditions
        )
        about = "It is asked anew each time you click it."
        prompt.ask_line(
            self._window, "Save this search", about, text.shown(suggested, _SHOWN), "Save", self._save
        )

    def _save(self, name: str) -> None:
        window = self._window
        known = window.sidebar.overview.saved if window.sidebar.overview else ()
        if any(saved.name.casefold() == name.strip().casefold() for saved in known):
            window.messages.ask(
                f"Replace the saved search {text.shown(name, _SHOWN)}?",
                "What it asks now is forgotten.",
                [("Replace", partial(self._keep, name))],
            )
        else:
            self._keep(name)

    def _keep(self, name: str) -> None:
        request = self._window.results.search.request
        filters = self._window.search_bar.chips.filters

        def done(saved: SavedSearch) -> None:
            self._say(f"The search is saved as {text.shown(saved.name, _SHOWN)}.")

        self._write(
            lambda: self._shelf.save(name, request.text, request.mode, filters), done, "Saving the search"
        )

    def run_saved(self, saved: SavedSearch) -> None:
        """Asks a saved question."""
        bar, search = self._window.search_bar, self._window.results.search
        if search.request.kind == "similar":
            search.leave_similar()
        bar.mode_box.setCurrentIndex(bar.mode_box.findData(saved.mode))
        bar.chips.set_filters(saved.filters)
        search.set_mode(saved.mode)
        bar.set_query(saved.text)
        search.type(saved.text)
        search.submit()

    def replace_saved(self, saved: SavedSearch) -> None:
        """A saved search asks from now on what is searched for now."""
        if self._window.results.search.request.kind != "similar":
            self._keep(saved.name)

    def rename_saved(self, saved: SavedSearch) -> None:
        def rename(wanted: str) -> None:
            self._write(
                lambda: self._shelf.rename_search(saved.number, wanted), lambda _: None, "The new name"
            )

        prompt.ask_line(self._window, "Rename saved search", "", saved.name, "Rename", rename)

    def delete_saved(self, saved: SavedSearch) -> None:
        def restore() -> None:
            self._write(
                lambda: self._shelf.save(saved.name, saved.text, saved.mode, saved.filters),
                lambda _: None, "Undoing it",
            )  # fmt: skip

        self._write(
            lambda: self._shelf.delete_search(saved.number),
            lambda _: self._say(f"{text.shown(saved.name, _SHOWN)} is deleted.", restore),
            "Deleting the saved search",
        )


def _safe(name: str) -> str:
    """A name for a menu, where an ampersand would mark a letter."""
    return text.shown(name, _SHOWN).replace("&", "&&")
