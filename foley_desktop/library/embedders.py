"""The embedders of one library: which is active, how another one takes its place.

A new embedder's vectors take hours to make on a large library, and until then there is nothing to find
with it. So the active one goes on answering, and the next one takes its place when no clip would lose its
sound by that: by itself on the command line, after the user's word in the window, where both can be compared
first. Vectors of embedders that are not active stay: going back costs nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

from foley_desktop.errors import FoleyError, ModelError
from foley_desktop.index.embedders import catalogue
from foley_desktop.index.embedders.host import ModelHost
from foley_desktop.library.catalog_state import SOUND_INDEXES
from foley_desktop.library.checkpoints import Checkpoints
from foley_desktop.library.derived import Derived
from foley_desktop.library.indexes import Indexes
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.models import IndexReport, Progress

Job = Generator[Progress, None, IndexReport]

DEVICES = ("cpu", "cuda", "mps")
DEVICES_WITHIN_S = 120.0


@dataclass(frozen=True, slots=True)
class Offer:
    """The embedder that is to take over: it knows the sound of ``heard`` of ``clips`` that are there.

    ``complete`` says that it knows all it can, or that nothing which is found by sound now would be lost.
    """

    active: str
    name: str
    heard: int
    clips: int
    complete: bool


class Embedders(Checkpoints):
    """The embedders of a library, as its service, the window and the command line see them.

    ``asks`` says whether one that is complete waits for the user's word before it takes over.
    """

    asks = False

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

    def offer(self) -> Offer | None:
        """How far the next embedder is; None while there is none, or its weights are gone."""
        name = self._settings.next_embedder
        if not name:
            return None
        try:
            heard, clips = self.progress(name)
            missing = self._pending(self._service.indexes.of(name))
            complete = missing <= self._unreadable.get(name, frozenset())
            if not complete and self._service.shares_models(name):
                complete = self._knows_sounds(self._settings.embedder) and self.complete(name)
        except FoleyError:
            return None
        return Offer(self._settings.embedder, name, heard, clips, complete)

    def _knows_sounds(self, name: str) -> bool:
        try:
            return self.progress(name)[0] > 0
        except FoleyError:
            return False

    def trouble(self) -> ModelError | None:
        """Why nothing can be found by sound, in a sentence and a hint: the active embedder is not there."""
        return self._service.indexes.deaf()

    # --- choosing

    def use(self, name: str) -> None:
        """Makes an embedder the active one: at once if no clip loses its sound by that, otherwise when
        indexing has made its vectors. Where the user is asked first, only what cannot be compared is at once.

        Raises:
            ModelError: there is none of that name, or it has no weights yet.
        """
        self.check(name)
        settings = self._settings
        if name == settings.embedder:
            self._keep(name, "")
        elif self._at_once(name) and not (self.asks and self.comparable(name)):
            self.switch(name)
        else:
            self._keep(settings.embedder, name)

    def check(self, name: str) -> None:
        """Says why an embedder cannot be used.

        Raises:
            ModelError: there is none of that name, or it has no weights yet.
        """
        known = {info.name: info for info in catalogue.list_models(self._service.data.models)}
        if name not in known:
            names = ", ".join(known)
            raise ModelError(f"There is no embedder called {name}.", hint=f"Choose one of: {names}.")
        if known[name].state != catalogue.READY:
            raise ModelError(
                f"The embedder {name} cannot be used yet: {known[name].state}.",
                hint="Add its weights with: foley-desktop models add FILE",
            )

    def comparable(self, name: str) -> bool:
        """Whether the active embedder and another one both know sounds, so that they can be compared."""
        shares = self._service.shares_models(name)
        return shares and self._knows_sounds(self._settings.embedder) and self._knows_sounds(name)

    def _at_once(self, name: str) -> bool:
        service = self._service
        if not service.shares_models(name):
            return True  # the meaning of words has to be made anew as well: a search would mix two rankers
        try:
            return self.complete(name)
        except FoleyError:
            return True  # the active embedder is not there: nothing can be lost

    def complete(self, name: str) -> bool:
        """Whether every clip that can be found by sound now could be found so with this embedder. Clips that
        it tried to listen to in vain do not count."""
        service = self._service
        old, new = service.indexes, service.indexes.of(name)
        return not any(
            lost - self._unreadable.get(name, frozenset())
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

    def stay(self) -> None:
        """Keeps the active embedder. The vectors of the one that was to take over stay as well."""
        self._keep(self._settings.embedder, "")

    def _keep(self, active: str, following: str) -> None:
        settings = self._settings
        settings.embedder, settings.next_embedder = active, following
        settings.save(self._service.data.settings_file)

    def _leave(self, name: str) -> None:
        """The weights of this embedder will be gone: compact takes its place, complete or not."""
        settings = self._settings
        if name == settings.next_embedder:
            self.stay()
        if name == settings.embedder:
            self.switch("compact")
        self._service.models.forget(name)

    # --- making vectors

    def _pending(self, indexes: Indexes) -> set[str]:
        catalog = self._service.catalog
        return {i for index in SOUND_INDEXES for i in catalog.pending(index, indexes.version(index))}

    def after(self, indexing: Job) -> Job:
        """Indexing, and the next embedder's vectors after it."""
        return (yield from self.build((yield from indexing)))

    def build(self, report: IndexReport, *, switch: bool = True) -> Job:
        """Makes the next embedder's vectors, and lets it take over unless the user is asked first.

        Args:
            switch: False lets it wait in any case; :meth:`switch` makes it the active one.

        Returns:
            ``report`` with what there is to say.
        """
        name = self._settings.next_embedder
        if not name:
            return report
        service = self._service
        notices: list[str] = []
        try:
            with writer_lock(service.data):
                derived = Derived(service.catalog, service.indexes.of(name), service.models)
                with contextlib.closing(derived.sound()) as listening:
                    for step in listening:
                        if self._settings.next_embedder != name:
                            return report  # the user has decided otherwise meanwhile
                        yield replace(step, what=step.what.replace("Listening", f"Listening with {name}", 1))
            notices += derived.notices
            self._unreadable[name] = frozenset(derived.unreadable)
            if switch and self._settings.next_embedder == name and self.complete(name):
                notices.append(self._take_over(name))
        except ModelError as error:
            notices.append(f"{name}: {error} What is left to do is taken up at the next run.")
        return replace(report, notices=(*report.notices, *notices))

    def _take_over(self, name: str) -> str:
        if self.asks and self.comparable(name):
            return f"{name} knows every sound now and waits for your word to take over."
        self.switch(name)
        return f"Sounds are found with {name} now."

    # --- devices

    def devices(self) -> list[str]:
        """The devices that torch can use here, the processor first; waits for the model process. None are
        known while the models in use need no such process.

        Raises:
            ModelError: the model process cannot be started.
        """
        models = self._service.models
        if not isinstance(models, ModelHost):
            return []
        future = models.task("devices", {}, lambda *_: None)
        return [str(name) for name in models.wait(future, DEVICES_WITHIN_S)[0]["made"]["devices"]]

    def move_to(self, device: str) -> None:
        """Lets CLAP run on another device from now on; what torch cannot use gives way to the processor, and
        the models' notices say so.

        Raises:
            ModelError: for something that is no device.
        """
        if device not in DEVICES:
            raise ModelError(f"There is no device called {device}.", hint=f"Choose one of: {DEVICES}.")
        self._settings.device = device
        self._settings.save(self._service.data.settings_file)
        models = self._service.models
        if isinstance(models, ModelHost):
            models.move_to(device)
