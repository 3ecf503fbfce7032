"""The embedders of one library: which is active, how another one takes its place, how weights get in.

A new embedder's vectors take hours to make on a large library, and until then there is nothing to find
with it. So the active one goes on answering, and the next one takes its place when no clip would lose its
sound by that. Vectors of embedders that are not active stay: going back costs nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foley_desktop.errors import DownloadError, FoleyError, ModelError
from foley_desktop.index.embedders import catalogue, clap_sources, clap_store
from foley_desktop.index.embedders.clap_tokenizer import FILES
from foley_desktop.library.catalog_state import SOUND_INDEXES
from foley_desktop.library.derived import Derived
from foley_desktop.library.download import Source, download
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

    def fetching(self, file: str, *, agreed: bool) -> Generator[Progress, None, str]:
        """Fetches a published checkpoint with RoBERTa's tokenizer, and takes both in.

        The files come from the publisher, or from the address in the settings, where they have to lie under
        the same names. What was fetched stays until :meth:`discard_fetched`.

        Args:
            file: A name of :data:`foley_desktop.index.embedders.clap_sources.OFFERS`.
            agreed: Whether the user has agreed to the download.

        Returns:
            The name of the embedder that can be used now.

        Raises:
            DownloadError: it cannot be fetched; also where the user has not agreed.
            ModelError: it is not offered, or cannot be used.
        """
        if not agreed:
            raise DownloadError("Nothing is fetched before you agree to it.")
        known = clap_sources.offer(file)
        if known is None:
            raise ModelError(f"There is no published checkpoint called {file}.")
        folder = self._fetched
        mirror = self._settings.checkpoint_address
        base = mirror.rstrip("/") + "/" if mirror else ""
        needs_tokenizer = bool(clap_store.text_trouble(self._service.data.models))
        for name in FILES if needs_tokenizer else ():
            if not (folder / name).is_file():
                yield from download(Source((base or clap_sources.TOKENIZER) + name), folder / name)
        if not (folder / file).is_file():
            source = Source((base or clap_sources.PUBLISHER) + file, known.sha256)
            # The lean copy has to find room beside it.
            yield from download(source, folder / file, reserve=1 << 30)
        return (yield from self.adding(folder / file))

    @property
    def _fetched(self) -> Path:
        return self._service.data.models / "fetched"

    def discard_fetched(self) -> int:
        """Deletes what was fetched, once the user has agreed to that; the bytes that are free again."""
        files = [path for path in self._fetched.glob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        shutil.rmtree(self._fetched, ignore_errors=True)
        return size

    def remove(self, name: str) -> None:
        """Deletes the weights of an embedder that is not in use. Its vectors stay.

        Raises:
            ModelError: it is in use, or there is none.
        """
        if name in (self._settings.embedder, self._settings.next_embedder):
            raise ModelError(f"The embedder {name} is in use.", hint="Choose another one first.")
        clap_store.remove(self._service.data.models, name)
