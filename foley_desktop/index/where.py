"""What the push-down filter of both indexes says."""

from __future__ import annotations

from collections.abc import Collection

from foley_desktop.index.protocols import Where


def clips_within(where: Where | None) -> Collection[str] | None:
    """The ids that a filter lets pass, None for all.

    Raises:
        ValueError: for a filter on anything but ``clip_id``.
    """
    if where is None:
        return None
    unknown = set(where) - {"clip_id"}
    if unknown:
        raise ValueError(f"unknown filter {sorted(unknown)}; there is clip_id")
    return where.get("clip_id")
