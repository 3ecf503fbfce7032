"""Files made for drags: rendered ahead, kept as long as an editor may refer to them.

A file begins as *made*: nobody has seen it, and it is discarded when the selection moves on. Before a drag
can begin it becomes *offered*, and from then on nothing deletes it but the user: a receiver may have taken it
whatever it answered. One whose drop was accepted is *taken*. So a crash at any moment leaves a file too many,
never one too few.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from foley_desktop.library.catalog import Catalog
from foley_desktop.library.database import as_text, decode_path

MADE, OFFERED, TAKEN = "made", "offered", "taken"


@dataclass(frozen=True, slots=True)
class Spot:
    """One file that was made for a drag. ``at_s`` is when, as Unix time; ``size`` in bytes."""

    file: str
    state: str
    clip_id: str
    project: str
    size: int
    at_s: float


class Spotted:
    """Which files were made for drags, and what became of them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, recipe: str) -> str | None:
        """A file that was made by this recipe, while it is there as it was made."""
        rows = self._catalog.rows("SELECT * FROM spotted WHERE recipe = ? ORDER BY at_s DESC", (recipe,))
        return next((decode_path(row["file"]) for row in rows if _untouched(row)), None)

    def add(self, file: Path, recipe: str, clip_id: str, project: str) -> None:
        """Remembers a file that has just been made."""
        state = os.stat(file)
        with self._catalog.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO spotted VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    os.fsencode(file), recipe, MADE, clip_id, as_text(project),
                    state.st_size, state.st_mtime_ns, time.time(),
                ),
            )  # fmt: skip

    def offer(self, files: Collection[str]) -> None:
        """A drag may begin with these files at any moment."""
        self._move(files, MADE, OFFERED)

    def withdraw(self, files: Collection[str]) -> None:
        """No drag began with these files after all."""
        self._move(files, OFFERED, MADE)

    def take(self, files: Collection[str]) -> None:
        """A receiver accepted these files."""
        self._move(files, OFFERED, TAKEN)
        self._move(files, MADE, TAKEN)

    def _move(self, files: Collection[str], old: str, new: str) -> None:
        if files:
            with self._catalog.write() as connection:
                connection.executemany(
                    "UPDATE spotted SET state = ? WHERE file = ? AND state = ?",
                    [(new, os.fsencode(file), old) for file in files],
                )

    def discard(self, keep: Collection[str] = ()) -> int:
        """Deletes what was made and never offered, but for ``keep``; gives how many files that were.

        A file that someone has changed since is not deleted: it is someone's.
        """
        rows = [
            row
            for row in self._catalog.rows("SELECT * FROM spotted WHERE state = ?", (MADE,))
            if decode_path(row["file"]) not in keep
        ]
        gone = [row["file"] for row in rows if not os.path.lexists(row["file"])]
        own = [row["file"] for row in rows if _untouched(row)]
        for raw in own:
            with contextlib.suppress(OSError):
                os.unlink(raw)
        left = [raw for raw in own if os.path.lexists(raw)]
        changed = [row["file"] for row in rows if row["file"] not in {*own, *gone}]
        if rows:
            with self._catalog.write() as connection:
                deleted = [(raw,) for raw in (*gone, *own) if raw not in left]
                connection.executemany("DELETE FROM spotted WHERE file = ? AND state = 'made'", deleted)
                connection.executemany(
                    "UPDATE spotted SET state = 'taken' WHERE file = ?", [(raw,) for raw in changed]
                )
        return len(own) - len(left)

    # --- housekeeping

    def all(self, folder: Path) -> list[Spot]:
        """Every file that was offered or taken and is still there, the oldest first.

        What lies in ``folder`` and was made before the catalog kept track is among them, as taken.
        """
        found: dict[bytes, Spot] = {}
        gone: list[tuple[bytes]] = []
        for row in self._catalog.rows("SELECT * FROM spotted WHERE state != ?", (MADE,)):
            try:
                size = os.stat(row["file"]).st_size
            except FileNotFoundError:
                gone.append((row["file"],))
                continue
            except OSError:
                continue  # its disk is away: nothing is known, so nothing changes
            found[row["file"]] = Spot(
                decode_path(row["file"]), row["state"], row["clip_id"], row["project"], size, row["at_s"]
            )
        if gone:
            with self._catalog.write() as connection:
                connection.executemany("DELETE FROM spotted WHERE file = ?", gone)
        for spot in self._strangers(folder):
            found.setdefault(os.fsencode(spot.file), spot)
        return sorted(found.values(), key=lambda spot: (spot.at_s, spot.file))

    def _strangers(self, folder: Path) -> list[Spot]:
        made = {row[0] for row in self._catalog.rows("SELECT file FROM spotted")}
        found = []
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.is_file(follow_symlinks=False):
                    continue
                if os.fsencode(entry.path) not in made:
                    state = entry.stat()
                    found.append(Spot(entry.path, TAKEN, "", "", state.st_size, state.st_mtime))
        return found

    def remove(self, spots: Sequence[Spot]) -> tuple[int, list[str]]:
        """Deletes files that the user has been shown; gives the bytes freed and what could not go, why."""
        freed, gone, refused = 0, [], []
        for spot in spots:
            try:
                os.unlink(os.fsencode(spot.file))
            except FileNotFoundError:
                pass
            except OSError as error:
                refused.append(f"{spot.file}: {error.strerror or error}")
                continue
            else:
                freed += spot.size
            gone.append((os.fsencode(spot.file),))
        if gone:
            with self._catalog.write() as connection:
                connection.executemany("DELETE FROM spotted WHERE file = ?", gone)
        return freed, refused


def surplus(spots: Sequence[Spot], most_bytes: int | None, older_than_s: float | None) -> list[Spot]:
    """What would have to go: all that is older than a moment, then the oldest until the rest fits.

    Those that no receiver took go before those that one did.

    Args:
        spots: Oldest first.
        most_bytes: What may stay in all; None for no limit.
        older_than_s: A Unix time; None for no limit.
    """
    going = [spot for spot in spots if older_than_s is not None and spot.at_s < older_than_s]
    left = [spot for spot in spots if spot not in going]
    size = sum(spot.size for spot in left)
    for spot in sorted(left, key=lambda spot: (spot.state == TAKEN, spot.at_s)):
        if most_bytes is None or size <= most_bytes:
            break
        going.append(spot)
        size -= spot.size
    return sorted(going, key=lambda spot: (spot.at_s, spot.file))


def _untouched(row) -> bool:  # type: ignore[no-untyped-def]
    """Whether a file is there and nobody has changed it since it was made."""
    try:
        state = os.stat(row["file"])
    except OSError:
        return False
    return (state.st_size, state.st_mtime_ns) == (row["size"], row["mtime_ns"])
