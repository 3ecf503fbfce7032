"""What left the library: which clip, how, where to, for which project and when.

Only what was really taken counts: a drop that was accepted, a file that was written, an editor that was told.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from foley_desktop.library.catalog import Catalog
from foley_desktop.library.database import as_text, decode_path
from foley_desktop.models import Region

How = Literal["drag", "export", "editor"]


@dataclass(frozen=True, slots=True)
class Use:
    """One time that a clip was used.

    ``file`` is what was handed over: the clip's own file, or one rendered from it. ``place`` says where to: a
    folder, the name of an editor, or nothing where nobody knows, as with a drag. ``at_s`` is a Unix time.
    """

    clip_id: str
    how: How
    file: str
    place: str = ""
    project: str = ""
    region: Region | None = None
    at_s: float = 0.0


class Usage:
    """The memory of uses in one catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def record(self, uses: Sequence[Use]) -> float:
        """Remembers uses that have just happened; gives the moment they are remembered with."""
        now = time.time()
        rows = [
            (
                use.clip_id,
                use.how,
                as_text(use.place),
                as_text(use.project),
                os.fsencode(use.file),
                use.region.start_s if use.region else None,
                use.region.end_s if use.region else None,
                use.at_s or now,
            )
            for use in uses
            if use.clip_id
        ]
        if rows:
            with self._catalog.write() as connection:
                connection.executemany(
                    "INSERT INTO uses (clip_id, how, place, project, file, start_s, end_s, at_s) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    rows,
                )
        return now

    def of(self, clip_id: str, limit: int = 20) -> list[Use]:
        """The uses of a clip, the latest first."""
        rows = self._catalog.rows(
            "SELECT * FROM uses WHERE clip_id = ? ORDER BY at_s DESC, id DESC LIMIT ?", (clip_id, limit)
        )
        return [
            Use(
                row["clip_id"],
                row["how"],
                decode_path(row["file"]),
                row["place"],
                row["project"],
                None if row["start_s"] is None else Region(row["start_s"], row["end_s"]),
                row["at_s"],
            )
            for row in rows
        ]

    def forget(self, clip_ids: Sequence[str]) -> None:
        """Lets clips count as never used."""
        with self._catalog.write() as connection:
            connection.executemany("DELETE FROM uses WHERE clip_id = ?", [(i,) for i in clip_ids])
