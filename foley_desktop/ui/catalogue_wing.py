"""The catalogue's windows as a part of the main window: what the sidebar asks for, and who does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from foley_desktop.models import Condition
from foley_desktop.ui.deliver_desk import DeliverDesk
from foley_desktop.ui.list_desk import ListDesk
from foley_desktop.ui.review_desk import ReviewDesk
from foley_desktop.ui.shelf_desk import ShelfDesk
from foley_desktop.ui.typed_filters import TypedFilters
from foley_desktop.ui.unusable_desk import UnusableDesk

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow


class CatalogueWing(QObject):
    """Built by the window, once its other panels are there."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.shelf = ShelfDesk(window)
        self.review = ReviewDesk(window)
        self.lists = ListDesk(window)
        self.deliveries = DeliverDesk(window)
        self.unusable = UnusableDesk(window)
        self.typed_filters = TypedFilters(window)
        self.deliveries.categories_wanted.connect(self.review.start)
        self._answers = self._table()
        window.sidebar.asked.connect(self._on_asked)

    def stop(self) -> None:
        """The window closes."""
        self.review.stop()

    def _table(self) -> dict[str, Callable[[Any], object]]:
        shelf, window = self.shelf, self._window
        return {
            "collection.show": shelf.show_collection,
            "collection.new": lambda _: shelf.new_collection(window.results.view.selected_clips()),
            "collection.add": lambda name: shelf.add(name, window.actions_.clips()),
            "collection.drop": lambda name: shelf.add(name, shelf.dragged),
            "new collection.drop": lambda _: shelf.new_collection(shelf.dragged),
            "collection.rename": shelf.rename_collection,
            "collection.delete": shelf.delete_collection,
            "favourites.drop": lambda _: window.actions_.favour(
                [c for c in shelf.dragged if not c.favourite]
            ),
            "saved.show": shelf.run_saved,
            "saved.new": lambda _: shelf.save_search(),
            "saved.rename": shelf.rename_saved,
            "saved.replace": shelf.replace_saved,
            "saved.delete": shelf.delete_saved,
            "category.drop": lambda pair: self.review.drop(pair[2], shelf.dragged),
            "categories.suggest": lambda _: self.review.start(),
            "list.import": lambda _: self.lists.choose(),
            "deliver": lambda _: self.deliveries.open(),
            "collection.deliver": self.deliveries.open_collection,
            "unusable.show": lambda _: self.unusable.open(),
            "badge.show": lambda code: window.search_bar.chips.add(Condition("badge", "=", code)),
        }

    def _favour_dropped(self) -> None:
        fresh = [clip for clip in self.shelf.dragged if not clip.favourite]
        if fresh:
            self._window.actions_.favour(fresh)

    def _on_asked(self, what: str, value: object) -> None:
        answer = self._answers.get(what)
        if answer is not None:
            answer(value)
