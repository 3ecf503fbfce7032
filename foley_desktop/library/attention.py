"""What the user looks at right now, so that it is listened to first.

A plain hint from the window to an index run: it changes the order of the work and nothing of its outcome.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence


class Attention:
    """Ids of the clips on the screen. Setting and reading is safe from any thread: it is one reference."""

    def __init__(self) -> None:
        self._ids: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The clips on the screen, from top to bottom."""
        return self._ids

    def look_at(self, ids: Sequence[str]) -> None:
        """The screen shows these now."""
        self._ids = tuple(ids)


def in_turn(pending: Collection[str], attention: Attention | None) -> Iterator[str]:
    """All of ``pending`` once, in their order; what is on the screen while it is asked for comes first."""
    waiting = dict.fromkeys(pending)
    for clip_id in pending:
        while attention is not None and (seen := next((i for i in attention.ids if i in waiting), None)):
            del waiting[seen]
            yield seen
        if clip_id in waiting:
            del waiting[clip_id]
            yield clip_id
