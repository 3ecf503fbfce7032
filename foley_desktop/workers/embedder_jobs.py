"""What the window asks and does about embedders: standing, comparing, switching, fetching, letting go.

Nothing here knows a widget. Every function blocks and runs on a lane of the runner.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from foley_desktop.errors import FoleyError
from foley_desktop.library.checkpoints import Market
from foley_desktop.library.embedder_compare import EmbedderComparison, compare_embedders
from foley_desktop.library.embedders import Offer
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Progress
from foley_desktop.workers.job import Job


@dataclass(frozen=True, slots=True)
class Standing:
    """How the embedders stand: the active one, the one that is to take over, and what is wrong."""

    active: str
    offer: Offer | None
    trouble: str
    """Why nothing can be found by sound; empty while it can."""


@dataclass(frozen=True, slots=True)
class Golden:
    """A golden set to compare on: one of the library's by its id, or a file."""

    set_id: str = ""
    file: str = ""


def standing(service: LibraryService) -> Standing:
    """How the embedders stand now."""
    trouble = service.embedders.trouble()
    return Standing(
        service.settings.embedder,
        service.embedders.offer(),
        "" if trouble is None else trouble.sentence,
    )


def compare_job(service: LibraryService, golden: Golden, name: str, k: int) -> Job:
    """Evaluates the active embedder and another one; its result is an EmbedderComparison."""

    def work() -> Generator[Progress, None, EmbedderComparison]:
        from foley_desktop.eval.golden import load_golden

        yield Progress(0, 0, "Looking up clips")
        if golden.file:
            chosen = load_golden(Path(golden.file))
        else:
            service.lab.sets.adopt(golden.set_id)
            chosen = service.lab.sets.golden(golden.set_id)
        return (yield from compare_embedders(service, chosen, name, k=k))

    return Job(f"Comparing {name}", work, kind="evaluate")


def use(service: LibraryService, name: str) -> bool:
    """Chooses an embedder; whether there are sounds it does not know."""
    service.use_embedder(name)
    return _is_deaf_to_some(service, name)


def switch(service: LibraryService, name: str) -> bool:
    """Makes an embedder the active one now; whether there are sounds it does not know."""
    service.embedders.check(name)
    service.embedders.switch(name)
    return _is_deaf_to_some(service, name)


def stay(service: LibraryService) -> str:
    """Keeps the active embedder and gives its name."""
    service.embedders.stay()
    return service.settings.embedder


def remove(service: LibraryService, name: str) -> bool:
    """Deletes the weights of an embedder; whether compact took its place without knowing every sound."""
    before = service.settings.embedder
    service.embedders.remove(name, fall_back=True)
    after = service.settings.embedder
    return after != before and _is_deaf_to_some(service, after)


def _is_deaf_to_some(service: LibraryService, name: str) -> bool:
    try:
        heard, clips = service.embedders.progress(name)
    except FoleyError:
        return False
    return heard < clips


@dataclass(frozen=True, slots=True)
class Added:
    """A checkpoint that was taken in. ``file`` is needed no more and takes ``spare_bytes``; 0 if it is."""

    name: str
    file: str
    spare_bytes: int
    fetched: bool = False


def add_job(service: LibraryService, file: str) -> Job:
    """Takes a checkpoint file in; its result is what was added."""

    def work() -> Generator[Progress, None, Added]:
        name = yield from service.embedders.adding(file)
        return Added(name, file, service.embedders.deletable(file))

    return Job(f"Reading {os.path.basename(file)}", work, kind="checkpoint")


def fetch_job(service: LibraryService, file: str, address: str) -> Job:
    """Fetches a published checkpoint, which the user has agreed to, and takes it in; as :func:`add_job`."""

    def work() -> Generator[Progress, None, Added]:
        service.embedders.set_mirror(address)
        size = sum(one.about_bytes for one in service.embedders.market().files if one.file == file)
        name = yield from service.embedders.fetching(file, agreed=True)
        return Added(name, file, size, fetched=True)

    return Job(f"Fetching {file}", work, kind="checkpoint")


def delete_job(service: LibraryService, added: Added) -> Job:
    """Deletes the file a checkpoint came from, which the user has agreed to; the bytes that are free then."""

    def work() -> Generator[Progress, None, int]:
        if added.fetched:
            return service.embedders.discard_fetched()
        return (yield from service.embedders.delete_original(added.file))

    return Job(f"Deleting {os.path.basename(added.file)}", work, kind="checkpoint")


def market(service: LibraryService) -> Market:
    """What can be fetched."""
    return service.embedders.market()


def devices(service: LibraryService) -> list[str]:
    """What torch can use here."""
    return service.embedders.devices()


def move(service: LibraryService, device: str) -> str:
    """Lets CLAP run on another device and loads it there; what the models have to say about that."""
    service.embedders.move_to(device)
    models = service.models
    if not models.wait_ready(120.0):
        return str(models.error or "")
    return " ".join(models.notices)
