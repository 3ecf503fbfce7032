"""Handing sounds over, as the window asks for it: plain functions over the library's ``transfer``.

Every function blocks and runs on a lane of the runner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from foley_desktop.audio.render import Watch
from foley_desktop.library import spot_names, ucs
from foley_desktop.library.bins import FIRST, Bin
from foley_desktop.library.presets import AS_IT_IS, BUILT_IN, Preset
from foley_desktop.library.service import LibraryService
from foley_desktop.library.transfer import Order, Parcel
from foley_desktop.library.usage import How
from foley_desktop.workers import settings_jobs

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


def remember(service: LibraryService, parcels: Sequence[Parcel], how: How, place: str = "") -> float:
    """Someone took these; gives the moment that is remembered."""
    return service.transfer.taken(parcels, how, place)
