"""Delivering copies: checking what was asked for, and making the copies as a job."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from foley_desktop.library.delivering import DeliveryPlan, DeliveryReport
from foley_desktop.library.service import LibraryService
from foley_desktop.library.ucs_names import NameParts
from foley_desktop.models import Clip, Condition, Filters, Progress
from foley_desktop.workers.job import Job

SETTINGS = "delivery"
"""The key of the settings' free part that holds what the last delivery shared."""

MOST = 100_000


def members(service: LibraryService, name: str) -> list[Clip]:
    """The clips of a collection, by name."""
    return service.browse(Filters((Condition("collection", "=", name),)), limit=MOST)


def plan(
    service: LibraryService,
    ids: Sequence[str],
    folder: str,
    parts: NameParts,
    names: Mapping[str, str],
) -> DeliveryPlan:
    """See :func:`foley_desktop.library.delivering.plan_delivery`."""
    return service.desk.plan_delivery(ids, folder, parts, names)


def deliver_job(service: LibraryService, checked: DeliveryPlan, parts: NameParts) -> Job:
    """Makes the copies; the result is a :class:`DeliveryReport`. Cancelled, it takes them away again."""

    def work() -> Generator[Progress, None, DeliveryReport]:
        report = yield from service.desk.deliver(checked)
        shared = {name: value for name, value in asdict(parts).items() if name != "longest"}
        service.settings.extra[SETTINGS] = {"folder": checked.folder, **shared}
        return report

    count = len(checked.items)
    title = f"Delivering {checked.items[0].clip.name}" if count == 1 else f"Delivering {count:,} sounds"
    return Job(title, work, kind="deliver")


def remembered(extra: Mapping[str, Any]) -> tuple[str, NameParts]:
    """Folder and shared parts of the last delivery; what is broken is as if it had never been kept."""
    kept = extra.get(SETTINGS)
    if not isinstance(kept, dict):
        return "", NameParts()
    words = {
        name: kept[name]
        for name in ("creator", "source", "user_category", "user_data")
        if isinstance(kept.get(name), str)
    }
    folder = kept["folder"] if isinstance(kept.get("folder"), str) else ""
    return folder, NameParts(**words, replace=kept.get("replace") is True)
