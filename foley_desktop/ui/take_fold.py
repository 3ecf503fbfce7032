"""Takes of one sound as one row of the table: only a view, what was found stays as it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from foley_desktop.library.takes import fold
from foley_desktop.workers.jobs import Row


def folded(rows: Sequence[Row], opened: Collection[str] = ()) -> list[Row]:
    """``rows`` with takes of one sound behind the first of them.

    Args:
        opened: Ids of first takes whose others are to stand in the table all the same.
    """
    by_id = {row.clip.id: row for row in rows}
    listed: list[Row] = []
    for group in fold([row.clip for row in rows]):
        members = [by_id[clip.id] for clip in group.rows]
        if len(members) == 1 or members[0].clip.id in opened:
            listed += members
        else:
            listed.append(replace(members[0], takes=len(members), label=group.label))
    return listed
