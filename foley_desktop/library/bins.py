"""Bins: what was picked for a project, clips and regions of clips, in the order they were picked.

There is one bin for each project, and one project is the current one: renders are named by it and uses are
remembered with it. Clips are held by id, so that a bin outlives a folder that is taken out and put back.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from foley_desktop.errors import CatalogError
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.database import as_text
from foley_desktop.models import Clip, Region

FIRST = "Untitled project"
"""What the first project is called until it is renamed."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The bin of one project. ``count`` is how many things lie in it."""

    id: int
    name: str
    count: int = 0
    current: bool = False


@dataclass(frozen=True, slots=True)
class Pick:
    """One thing in a bin. ``clip`` is None while the library does not know the clip."""

    id: int
    clip_id: str
    clip: Clip | None
    region: Region | None = None
    added_s: float = 0.0


class Bins:
    """The projects' bins in one catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def all(self) -> list[Bin]:
        """Every bin by name; there is always one, and always one that is current."""
        found = self._read()
        if not any(one.current for one in found):
            self.choose(found[0].name if found else FIRST)
            found = self._read()
        return found

    def _read(self) -> list[Bin]:
        rows = self._catalog.rows(
            "SELECT b.id, b.name, b.current, count(i.id) AS count FROM bins b "
            "LEFT JOIN bin_items i ON i.bin_id = b.id GROUP BY b.id ORDER BY b.name COLLATE NOCASE"
        )
        return [Bin(row["id"], row["name"], row["count"], bool(row["current"])) for row in rows]

    def current(self) -> Bin:
        """The bin of the project in hand."""
        return next(one for one in self.all() if one.current)

    def choose(self, name: str) -> None:
        """Makes a project the current one; it is made if there is none of that name.

        Raises:
            CatalogError: the name is empty.
        """
        name = _named(name)
        with self._catalog.write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO bins (name, created_s) VALUES (?, ?)", (name, time.time())
            )
            connection.execute("UPDATE bins SET current = (name = ?)", (name,))

    def rename(self, bin_id: int, name: str) -> None:
        """Gives a project another name.

        Raises:
            CatalogError: the name is empty or another project's.
        """
        name = _named(name)
        with self._catalog.write() as connection:
            other = self._catalog.value("SELECT id FROM bins WHERE name = ? AND id != ?", (name, bin_id))
            if other is not None:
                raise CatalogError(f"There is already a project {name}.", hint="Choose another name.")
            connection.execute("UPDATE bins SET name = ? WHERE id = ?", (name, bin_id))

    def remove(self, bin_id: int) -> None:
        """Forgets a project and what lies in its bin. Sounds and files that were made stay."""
        with self._catalog.write() as connection:
            connection.execute("DELETE FROM bins WHERE id = ?", (bin_id,))

    def picks(self, bin_id: int) -> list[Pick]:
        """What lies in a bin, in the order it was put in."""
        rows = self._catalog.rows("SELECT * FROM bin_items WHERE bin_id = ? ORDER BY id", (bin_id,))
        clips = self._catalog.clips(row["clip_id"] for row in rows)
        return [
            Pick(
                row["id"],
                row["clip_id"],
                clips.get(row["clip_id"]),
                None if row["start_s"] is None else Region(row["start_s"], row["end_s"]),
                row["added_s"],
            )
            for row in rows
        ]

    def add(self, bin_id: int, things: Sequence[tuple[str, Region | None]]) -> int:
        """Puts clips (by id) and regions of them into a bin; gives how many were not in it yet."""
        here = {(pick.clip_id, pick.region) for pick in self.picks(bin_id)}
        fresh = [thing for thing in dict.fromkeys(things) if thing not in here and thing[0]]
        now = time.time()
        with self._catalog.write() as connection:
            connection.executemany(
                "INSERT INTO bin_items (bin_id, clip_id, start_s, end_s, added_s) VALUES (?, ?, ?, ?, ?)",
                [(bin_id, clip, r.start_s if r else None, r.end_s if r else None, now) for clip, r in fresh],
            )
        return len(fresh)

    def take_out(self, picks: Sequence[Pick]) -> None:
        """Takes things out of their bin."""
        with self._catalog.write() as connection:
            connection.executemany("DELETE FROM bin_items WHERE id = ?", [(pick.id,) for pick in picks])

    def put_back(self, bin_id: int, picks: Sequence[Pick]) -> None:
        """Undoes :meth:`take_out`: each thing lies where it lay."""
        with self._catalog.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO bin_items (id, bin_id, clip_id, start_s, end_s, added_s) "
                "SELECT ?, id, ?, ?, ?, ? FROM bins WHERE id = ?",
                [
                    (
                        pick.id,
                        pick.clip_id,
                        pick.region.start_s if pick.region else None,
                        pick.region.end_s if pick.region else None,
                        pick.added_s,
                        bin_id,
                    )
                    for pick in picks
                ],
            )


def _named(name: str) -> str:
    name = " ".join(as_text(name).split())
    if not name:
        raise CatalogError("A project needs a name.")
    return name
