"""The embedders of one library: which is active, how another one takes its place, how weights get in.

A new embedder's vectors take hours to make on a large library, and until then there is nothing to find
with it. So the active one goes on answering, and the next one takes its place when no clip would lose its
sound by that. Vectors of embedders that are not active stay: going back costs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foley_desktop.errors import FoleyError, ModelError
from foley_desktop.index.embedders import catalogue
from foley_desktop.library.catalog_state import SOUND_INDEXES
from foley_desktop.library.derived import Derived
from foley_desktop.library.indexes import Indexes
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.models import IndexReport, Progress

if TYPE_CHECKING:
    from foley_desktop.library.service import LibraryService

Job = Generator[Progress, None, IndexReport]


class Embedders:
    """The embedders of a library, as its service, the window and the command line see them."""

    def __init__(self, service: LibraryService) -> None:
        self._service = service

    @property
    def _settings(self):  # type: ignore[no-untyped-def]
        return self._service.settings

    def document(self) -> dict[str, Any]:
        """What there is: ``active``, ``next`` (one whose vectors are being made, or None), ``models``."""
        models = [info._asdict() for info in catalogue.list_models(self._service.data.models)]
        following = self._settings.next_embedder or None
        return {"active": self._settings.embedder, "next": following, "models": models}

    def progress(self, name: str) -> tuple[int, int]:
        """Clips whose sound an embedder knows, of all clips that are there.

        Raises:
            ModelError: there is no such embedder, or it has no weights.
        """
        indexes = self._service.indexes.of(name)
        catalog = self._service.catalog
        clips = len(catalog.all_ids(searchable_only=False))
        return clips - len(self._pending(indexes)), clips

    # --- choosing

    def use(self, name: str) -> None:
        """Makes an embedder the active one: at once if no clip loses its sound by that, otherwise when
        indexing has made its vectors.

        Raises:
            ModelError: there is none of that name, or it has no weights yet.
        """
        self._check(name)
        settings = self._settings
        if name == settings.embedder:
            self._keep(name, "")
        elif self._at_once(name):
            self.switch(name)
        else:
            self._keep(settings.embedder, name)

    def _check(self, name: str) -> None:
        known = {info.name: info for info in catalogue.list_models(self._service.data.models)}
        if name not in known:
            names = ", ".join(known)
            raise ModelError(f"There is no embedder called {name}.", hint=f"Choose one of: {names}.")
        if known[name].state != catalogue.READY:
            raise ModelError(
                f"The embedder {name} cannot be used yet: {known[name].state}.",
                hint="Add its weights with: foley-desktop models add FILE",
            )

    def _at_once(self, name: str) -> bool:
        service = self._service
        if not service.shares_models(name):
            return True  # the meaning of words has to be made anew as well: a search would mix two rankers
        try:
            return self.complete(name)
        except FoleyError:
            return True  # the active embedder is not there: nothing can be lost

    def complete(self, name: str, unreadable: frozenset[str] = frozenset()) -> bool:
        """Whether every clip that can be found by sound now could be found so with this embedder.

        Args:
            unreadable: Clips that could not be listened to and do not count.
        """
        service = self._service
        old, new = service.indexes, service.indexes.of(name)
        return not any(
            lost - unreadable
            for lost in (
                set(service.catalog.pending(index, new.version(index)))
                & set(service.catalog.indexed_ids(index, old.version(index)))
                for index in SOUND_INDEXES
            )
        )

    def switch(self, name: str) -> None:
        """Makes an embedder the active one now, whether its vectors are complete or not."""
        beside = self._service.shares_models(name)
        self._keep(name, "")
        self._service.embedder_changed(name, beside=beside)

    def _keep(self, active: str, following: str) -> None:
        settings = self._settings
        settings.embedder, settings.next_embedder = active, following
        settings.save(self._service.data.settings_file)

    # --- making vectors

    def _pending(self, indexes: Indexes) -> set[str]:
        catalog = self._service.catalog
        return {i for index in SOUND_INDEXES for i in catalog.pending(index, indexes.version(index))}

    def after(self, indexing: Job) -> Job:
        """Indexing, and the next embedder's vectors after it."""
        return (yield from self.build((yield from indexing)))

    def build(self, report: IndexReport, *, switch: bool = True) -> Job:
        """Makes the next embedder's vectors and lets it take over; ``report`` with what there is to say.

        Args:
            switch: Let it take over when complete. Otherwise :meth:`switch` does, after a comparison.
        """
        name = self._settings.next_embedder
        if not name:
            return report
        service = self._service
        notices: list[str] = []
        try:
            with writer_lock(service.data):
                derived = Derived(service.catalog, service.indexes.of(name), service.models)
                yield from derived.sound()
            notices += derived.notices
            # The choice may have changed while this ran.
            chosen = switch and self._settings.next_embedder == name
            if chosen and self.complete(name, frozenset(derived.unreadable)):
                self.switch(name)
                notices.append(f"Sounds are found with {name} now.")
        except ModelError as error:
            notices.append(f"{name}: {error} What is left to do is taken up at the next run.")
        return replace(report, notices=(*report.notices, *notices))

    # --- weights

    def adding(self, file: str | os.PathLike[str]) -> Generator[Progress, None, str]:
        """Takes a checkpoint or tokenizer file in; the name of the embedder that can be used now.

        Raises:
            ModelError: the file is none that can be used.
        """
        return catalogue.adding(Path(os.path.abspath(file)), self._service.data.models)

    def remove(self, name: str) -> None:
        """Deletes the weights of an embedder that is not in use. Its vectors stay.

        Raises:
            ModelError: it is in use, or there is none.
        """
        if name in (self._settings.embedder, self._settings.next_embedder):
            raise ModelError(f"The embedder {name} is in use.", hint="Choose another one first.")
        from foley_desktop.index.embedders import clap_store

        clap_store.remove(self._service.data.models, name)
