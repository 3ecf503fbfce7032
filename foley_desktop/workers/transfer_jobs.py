"""Handing sounds over, as the window asks for it: plain functions over the library's ``transfer``.

Every function blocks and runs on a lane of the runner.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foley_desktop.audio.render import Watch
from foley_desktop.errors import TransferError
from foley_desktop.library import spot_names, ucs
from foley_desktop.library.bins import FIRST, Bin, Pick
from foley_desktop.library.presets import AS_IT_IS, BUILT_IN, Preset
from foley_desktop.library.reaper import script
from foley_desktop.library.receivers import REAPER_FILE
from foley_desktop.library.service import LibraryService
from foley_desktop.library.spotted import Spot
from foley_desktop.library.transfer import Order, Parcel
from foley_desktop.library.usage import How, Use
from foley_desktop.models import Progress, Region
from foley_desktop.workers import settings_jobs
from foley_desktop.workers.job import Job

Wanted = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Manner:
    """How sounds leave now: by which preset, as heard or not, named how and for which project."""

    presets: tuple[Preset, ...]
    preset: Preset
    as_heard: bool
    template: str
    folder: str
    projects: tuple[Bin, ...]

    @property
    def project(self) -> Bin:
        return next(one for one in self.projects if one.current)


PLAIN = Manner(BUILT_IN, AS_IT_IS, False, spot_names.DEFAULT, "", (Bin(0, FIRST, 0, True),))
"""Until it is known how."""


def manner(service: LibraryService) -> Manner:
    """How sounds leave now."""
    ucs.table()  # read here, so that no name that the window makes up has to
    transfer = service.transfer
    presets = transfer.presets
    return Manner(
        tuple(presets.all()),
        presets.active,
        presets.as_heard,
        presets.template,
        str(transfer.folder),
        tuple(transfer.bins.all()),
    )


def set_manner(service: LibraryService, **extra: Any) -> Manner:
    """Sets keys of :mod:`foley_desktop.library.presets` in the settings; gives the new manner."""
    service.settings.extra.update(extra)
    settings_jobs.change(service)
    return manner(service)


def save_preset(service: LibraryService, preset: Preset) -> Manner:
    """Keeps a preset of the user's own and makes it the one in force."""
    service.transfer.presets.save(preset)
    return set_manner(service, preset=preset.name)


def remove_preset(service: LibraryService, name: str) -> Manner:
    """Forgets a preset of the user's own."""
    service.transfer.presets.remove(name)
    return set_manner(service)


def make_ahead(
    service: LibraryService, orders: Sequence[Order], preset: Preset, wanted: Wanted
) -> list[Parcel]:
    """Discards what was rendered and never dragged, and renders what may be dragged soon.

    Raises:
        concurrent.futures.CancelledError: it is not ``wanted`` any more; nothing is left of it.
    """
    parcels = service.transfer.prepare(orders, preset, _watching(wanted)) if orders else []
    service.transfer.discard(parcels)
    return parcels


def _watching(wanted: Wanted) -> Watch:
    def watch(_: float) -> None:
        if not wanted():
            raise CancelledError

    return watch


def make_ready(
    service: LibraryService, orders: Sequence[Order], preset: Preset, wanted: Wanted
) -> list[Parcel]:
    """The files for a drag that may begin at any moment, unless it is not ``wanted`` any more by then.

    Raises:
        FoleyError: one of them cannot be had; then there are none.
        concurrent.futures.CancelledError: it is not wanted any more.
    """
    parcels = service.transfer.prepare(orders, preset, _watching(wanted))
    if wanted():
        service.transfer.offer(parcels)
    return parcels


def withdraw(service: LibraryService, parcels: Sequence[Parcel]) -> None:
    """No drag began with these."""
    service.transfer.withdraw(parcels)


def tidy_up(service: LibraryService, parcels: Sequence[Parcel]) -> None:
    """No drag began with these, and none will: discards them and what else was made ahead."""
    service.transfer.withdraw(parcels)
    service.transfer.discard()


def remember(service: LibraryService, parcels: Sequence[Parcel], how: How, place: str = "") -> float:
    """Someone took these; gives the moment that is remembered."""
    return service.transfer.taken(parcels, how, place)


def uses(service: LibraryService, clip_id: str) -> list[Use]:
    """When and how a clip was used, the latest first."""
    return service.transfer.usage.of(clip_id, 12)


# --- projects and their bins


def choose_project(service: LibraryService, name: str) -> Manner:
    """Makes a project the current one."""
    service.transfer.bins.choose(name)
    return manner(service)


def rename_project(service: LibraryService, bin_id: int, name: str) -> Manner:
    """Gives a project another name."""
    service.transfer.bins.rename(bin_id, name)
    return manner(service)


def remove_project(service: LibraryService, bin_id: int) -> Manner:
    """Forgets a project and its bin."""
    service.transfer.bins.remove(bin_id)
    return manner(service)


@dataclass(frozen=True, slots=True)
class BinState:
    """A bin after a change. ``added`` is how many things came into it, ``removed`` what was taken out."""

    manner: Manner
    picks: tuple[Pick, ...]
    added: int = 0
    removed: tuple[Pick, ...] = ()


def bin_state(service: LibraryService) -> BinState:
    """The current project's bin."""
    bins = service.transfer.bins
    return BinState(manner(service), tuple(bins.picks(bins.current().id)))


def add_to_bin(service: LibraryService, things: Sequence[tuple[str, Region | None]]) -> BinState:
    """Puts clips, by id, and regions of them into the current project's bin."""
    bins = service.transfer.bins
    added = bins.add(bins.current().id, things)
    return replace(bin_state(service), added=added)


def take_out_of_bin(service: LibraryService, picks: Sequence[Pick]) -> BinState:
    """Takes things out of the bin."""
    service.transfer.bins.take_out(picks)
    return replace(bin_state(service), removed=tuple(picks))


def put_back_into_bin(service: LibraryService, bin_id: int, picks: Sequence[Pick]) -> BinState:
    """Undoes taking out."""
    service.transfer.bins.put_back(bin_id, picks)
    return bin_state(service)


# --- sending, and what lies in the spotted folder


def receivers(service: LibraryService) -> list[tuple[str, str]]:
    """``(name, label)`` of what files can be sent to."""
    return [(receiver.name, receiver.label) for receiver in service.transfer.receivers]


def send_job(service: LibraryService, orders: Sequence[Order], preset: Preset, name: str) -> Job:
    """Makes files and hands them to a receiver; the result is its sentence and the parcels."""

    def work() -> Generator[Progress, None, Sent]:
        receiver = next((one for one in service.transfer.receivers if one.name == name), None)
        if receiver is None:
            raise TransferError(f"{name} is not set up.", hint="See the settings, under Handing over.")
        parcels: list[Parcel] = []
        for number, order in enumerate(orders):
            yield Progress(number, len(orders), order.clip.name)
            parcels += service.transfer.prepare([order], preset)
        service.transfer.offer(parcels)
        said = receiver.send([parcel.file for parcel in parcels])
        at = service.transfer.taken(parcels, "editor", name)
        return Sent(said, tuple(parcels), at)

    return Job(f"Sending to {name}", work, kind="send")


@dataclass(frozen=True, slots=True)
class Sent:
    """What a receiver said, and what it got when."""

    sentence: str
    parcels: tuple[Parcel, ...]
    at_s: float


@dataclass(frozen=True, slots=True)
class Copied:
    """Files that were made ready for the clipboard."""

    files: tuple[str, ...]


def copy_ready(service: LibraryService, orders: Sequence[Order], preset: Preset) -> Copied:
    """Makes files that may be pasted at any time from now on, so they are kept like those of a drag."""
    parcels = service.transfer.prepare(orders, preset)
    service.transfer.offer(parcels)
    return Copied(tuple(parcel.file for parcel in parcels))


def spots(service: LibraryService) -> list[Spot]:
    """Every file that was made for a drag, the oldest first."""
    return service.transfer.spotted.all(service.transfer.folder)


def remove_spots_job(service: LibraryService, going: Sequence[Spot]) -> Job:
    """Deletes files that the user was shown; the result is the bytes freed and what could not go, why."""

    def work() -> Generator[Progress, None, tuple[int, list[str]]]:
        freed, refused = 0, list[str]()
        for number, spot in enumerate(going):
            yield Progress(number, len(going), spot.file)
            size, left = service.transfer.spotted.remove([spot])
            freed, refused = freed + size, refused + left
        return freed, refused

    return Job(f"Deleting {len(going)} spotted files", work, kind="spotted")


def save_script(service: LibraryService, path: str) -> None:
    """Writes the script that REAPER is to load, for the list file of the settings if there is one.

    Raises:
        TransferError: it cannot be written.
    """
    watched = service.settings.extra.get(REAPER_FILE)
    try:
        Path(path).write_text(script(watched if isinstance(watched, str) else ""), "utf-8")
    except OSError as error:
        raise TransferError(
            f"The script cannot be written: {error.strerror or error}.",
            hint="Choose another folder.",
            cause=error,
        ) from error
