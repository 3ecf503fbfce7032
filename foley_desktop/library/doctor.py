"""Checks whether the derived indexes agree with the catalog, and mends them.

The catalog is the truth. What an index lacks is marked as pending and made again, what it holds too
much of is deleted, and an index that cannot be opened is thrown away and rebuilt.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Generator
from dataclasses import dataclass

from foley_desktop.audio.player import create_player
from foley_desktop.errors import FoleyError
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.indexes import Indexes
from foley_desktop.library.places import clear_the_way, discard
from foley_desktop.library.watch import is_remote
from foley_desktop.models import IndexReport, Progress
from foley_desktop.settings import DataFolder

INDEX_NAMES = ("keyword", "semantic", "audio", "likeness")


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """``ok`` judges catalog and indexes after the repair; warnings never make it False."""

    ok: bool
    repaired: tuple[str, ...]
    warnings: tuple[str, ...]


def examine(
    catalog: Catalog,
    indexes: Indexes,
    data: DataFolder,
    *,
    rebuild: bool,
    refill: Callable[[], Generator[Progress, None, IndexReport]],
) -> Generator[Progress, None, DoctorReport]:
    """Checks everything and repairs what is derived.

    Args:
        rebuild: Throw the derived indexes away first.
        refill: Makes what the bookkeeping says is missing (the second half of indexing).
    """
    repaired: list[str] = []
    problems: list[str] = []
    deaf = indexes.deaf()
    names = INDEX_NAMES if deaf is None else INDEX_NAMES[:2]
    total = len(names) + 2
    yield Progress(0, total, "catalog")
    damage = catalog.integrity()
    problems += damage
    repaired += clear_the_way(data)
    if rebuild:
        indexes.close()
        discard(data.keywords)
        discard(data.vectors)
        for name in INDEX_NAMES:
            catalog.unmark(name)
        repaired.append("all derived indexes are built anew")
    for step, name in enumerate(names, start=1):
        yield Progress(step, total, f"{name} index")
        repaired += _compare(catalog, indexes, data, name)
    refilled = yield from refill()
    yield Progress(total - 1, total, "result")
    for name in names:
        problems += _remaining(catalog, indexes, name)
    absent = [] if deaf is None else [f"Nothing can be found by sound: {deaf} {deaf.hint}".strip()]
    warnings = absent + list(refilled.notices) + problems + _surroundings(data)
    return DoctorReport(ok=not problems, repaired=tuple(repaired), warnings=tuple(warnings))


def _compare(catalog: Catalog, indexes: Indexes, data: DataFolder, name: str) -> list[str]:
    """Brings bookkeeping and index into step; a broken index is dropped whole."""
    version = indexes.version(name)
    try:
        held = getattr(indexes, name).ids()
    except FoleyError:
        folder, lost_with_it = (
            (data.keywords, INDEX_NAMES[:1]) if name == "keyword" else (data.vectors, INDEX_NAMES[1:])
        )
        indexes.close()
        discard(folder)
        for other in lost_with_it:
            catalog.unmark(other)
        return [f"the {name} index could not be read and is built anew"]
    booked = set(catalog.indexed_ids(name, version))
    known = set(catalog.all_ids(searchable_only=False))
    expected = booked - catalog.without_entry(name)
    lost = expected - held
    stray = held - known
    said = []
    if lost:
        catalog.unmark(name, lost)
        said.append(f"{len(lost)} clips were missing from the {name} index")
    if stray:
        getattr(indexes, name).delete(stray)
        said.append(f"{len(stray)} entries of the {name} index belonged to no clip")
    return said


def _remaining(catalog: Catalog, indexes: Indexes, name: str) -> list[str]:
    held = getattr(indexes, name).ids()
    booked = set(catalog.indexed_ids(name, indexes.version(name)))
    lost = booked - catalog.without_entry(name) - held
    return [f"{len(lost)} clips are still missing from the {name} index"] if lost else []


def _surroundings(data: DataFolder) -> list[str]:
    """What is wrong around the library: a network drive under it, no sound card, no CLAP package."""
    warnings = []
    if is_remote(str(data.path)):
        warnings.append(
            f"The library folder {data.path} lies on a network drive, where its catalog is slow and may be "
            "damaged. Keep it on a disk of this machine; the sounds may lie anywhere."
        )
    player = create_player()
    try:
        if not player.available:
            warnings.append(player.unavailable_reason)
    finally:
        player.close()
    if importlib.util.find_spec("laion_clap") is None:
        warnings.append("The laion-clap package is not installed; the clap embedder cannot be used.")
    return warnings
