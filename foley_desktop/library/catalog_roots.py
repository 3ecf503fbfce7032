"""The catalog's folders: each is a root of its own, or lies within one.

Two spellings of one folder (a symlink, a trailing slash) are one root. A folder inside a root belongs
to that root; a folder around roots takes them in, and their clips keep their ids.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from typing import NamedTuple

from foley_desktop.errors import CatalogError
from foley_desktop.library.database import Database, as_text, decode_path
from foley_desktop.library.filters import below, folder_bytes
from foley_desktop.models import Root

_ROOTS = """
SELECT r.*,
    (SELECT count(*) FROM clips c WHERE c.root_id = r.id AND c.status != 'missing') AS clip_count,
    (SELECT count(*) FROM rejected j WHERE j.root_id = r.id) AS rejected_count
FROM roots r
"""


class Volume(NamedTuple):
    """What tells one disk from another: an identity of the file system, and its device number."""

    identity: str
    dev: int | None


class RootTable(Database):
    """Folders of the catalog."""

    def roots(self) -> list[Root]:
        """All folders, by path."""
        return [_root(row) for row in self.rows(_ROOTS + "ORDER BY r.path")]

    def root_ids(self) -> set[int]:
        """The ids of all folders, without counting their clips."""
        return {row["id"] for row in self.rows("SELECT id FROM roots")}

    def root(self, root_id: int) -> Root | None:
        rows = self.rows(_ROOTS + "WHERE r.id = ?", (root_id,))
        return _root(rows[0]) if rows else None

    def add_root(self, path: str | os.PathLike[str]) -> Root:
        """The root that ``path`` belongs to: a new one, or the one that it is or lies in already.

        Raises:
            CatalogError: a new path is no folder.
        """
        return self.place(path)[0]

    def place(self, path: str | os.PathLike[str]) -> tuple[Root, bytes]:
        """As :meth:`add_root`, with the folder's path below the root (``b""`` for the root itself)."""
        folder = folder_bytes(os.path.abspath(os.fspath(path)))
        with self.write() as connection:
            found = self._containing(folder)
            if found is not None:
                return found
            if not os.path.isdir(folder):
                raise CatalogError(
                    f"There is no folder {as_text(os.fsdecode(folder))}.",
                    hint="Check the path, and that the drive is there.",
                )
            real = os.path.realpath(folder)
            inner = [(r["id"], r["path"], r["real"]) for r in self.rows("SELECT id, path, real FROM roots")]
            cursor = connection.execute(
                "INSERT INTO roots (path, real, added_s) VALUES (?, ?, ?)", (folder, real, time.time())
            )
            root_id = cursor.lastrowid
            assert root_id is not None
            for inner_id, inner_path, inner_real in inner:
                below_it = _relative(inner_path, (folder, real)) or _relative(inner_real, (folder, real))
                if below_it:
                    self._absorb(root_id, inner_id, below_it)
            root = self.root(root_id)
            assert root is not None
            return root, b""

    def _containing(self, folder: bytes) -> tuple[Root, bytes] | None:
        """The root around ``folder``, and what remains below it. The path as given is tried first."""
        roots = self.rows("SELECT id, path, real FROM roots ORDER BY length(path) DESC")
        for spelling in (folder, os.path.realpath(folder)):
            for row in roots:
                below_it = _relative(spelling, (row["path"], row["real"]))
                if below_it is not None:
                    root = self.root(row["id"])
                    assert root is not None
                    return root, below_it
        return None

    def _absorb(self, root_id: int, inner_id: int, prefix: bytes) -> None:
        """Moves the clips of an inner root into the one around it. Their words change: folder names."""
        connection = self.connection
        start = prefix + b"/"
        connection.execute(
            "UPDATE indexed SET fresh = 0 WHERE index_name IN ('keyword', 'semantic') "
            "AND clip_id IN (SELECT id FROM clips WHERE root_id = ?)",
            (inner_id,),
        )
        for table in ("clips", "rejected"):
            connection.execute(
                f"UPDATE {table} SET root_id = ?, rel_path = CAST(? || rel_path AS BLOB) WHERE root_id = ?",
                (root_id, start, inner_id),
            )
        connection.execute("DELETE FROM roots WHERE id = ?", (inner_id,))

    def remove_root(self, root_id: int) -> None:
        """Forgets a folder and its clips; the files are not touched.

        What the derived indexes still hold of it stays on record until it has been deleted there.
        """
        with self.write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO orphans SELECT index_name, version, clip_id FROM indexed "
                "WHERE clip_id IN (SELECT id FROM clips WHERE root_id = ?)",
                (root_id,),
            )
            connection.execute(
                "DELETE FROM indexed WHERE clip_id IN (SELECT id FROM clips WHERE root_id = ?)", (root_id,)
            )
            connection.execute("DELETE FROM clips WHERE root_id = ?", (root_id,))
            connection.execute("DELETE FROM roots WHERE id = ?", (root_id,))

    def set_root_searchable(self, root_id: int, searchable: bool) -> None:
        """Whether searches look into this folder."""
        with self.write() as connection:
            connection.execute("UPDATE roots SET searchable = ? WHERE id = ?", (int(searchable), root_id))

    def set_root_online(self, root_id: int, online: bool) -> None:
        """Whether the folder is there; its clips turn ``offline`` or back to ``ok``. Nothing is lost."""
        before, after = ("offline", "ok") if online else ("ok", "offline")
        with self.write() as connection:
            connection.execute("UPDATE roots SET online = ? WHERE id = ?", (int(online), root_id))
            connection.execute(
                "UPDATE clips SET status = ? WHERE root_id = ? AND status = ?", (after, root_id, before)
            )

    def set_root_locked(self, root_id: int, locked: bool) -> None:
        """Whether files of the folder are protected from renaming, writing and throwing away."""
        with self.write() as connection:
            connection.execute("UPDATE roots SET locked = ? WHERE id = ?", (int(locked), root_id))

    def ids_of_root(self, root_id: int) -> list[str]:
        """Ids of all clips of a folder, whatever their status."""
        return [row["id"] for row in self.rows("SELECT id FROM clips WHERE root_id = ?", (root_id,))]

    def volume(self, root_id: int) -> Volume:
        """The disk on which the folder was last seen."""
        row = self.rows("SELECT volume, dev FROM roots WHERE id = ?", (root_id,))[0]
        return Volume(row["volume"], row["dev"])

    def set_volume(self, root_id: int, volume: Volume, real: bytes) -> None:
        """Notes the disk on which the folder was just seen, and its path without symlinks."""
        if self.rows(
            "SELECT 1 FROM roots WHERE id = ? AND volume = ? AND dev IS ? AND real = ?",
            (root_id, volume.identity, volume.dev, real),
        ):
            return
        with self.write() as connection:
            connection.execute(
                "UPDATE roots SET volume = ?, dev = ?, real = ? WHERE id = ?",
                (volume.identity, volume.dev, real, root_id),
            )

    def has_clips(self, root_id: int, prefix: bytes = b"") -> bool:
        """Whether the catalog knows clips below ``prefix`` that are not missing."""
        sql, values = below("rel_path", prefix)
        return bool(
            self.value(
                f"SELECT 1 FROM clips WHERE root_id = ? AND status != 'missing' AND {sql} LIMIT 1",
                (root_id, *values),
            )
        )


def _relative(folder: bytes, tops: Sequence[bytes]) -> bytes | None:
    """``folder`` relative to the first of ``tops`` that it is or lies in."""
    for top in tops:
        if folder == top:
            return b""
        start = top if top.endswith(b"/") else top + b"/"
        if folder.startswith(start):
            return folder[len(start) :]
    return None


def _root(row: sqlite3.Row) -> Root:
    path = decode_path(row["path"])
    return Root(
        id=row["id"],
        path=path,
        name=as_text(os.path.basename(path) or path),
        online=bool(row["online"]),
        searchable=bool(row["searchable"]),
        clip_count=row["clip_count"],
        rejected_count=row["rejected_count"],
        locked=bool(row["locked"]),
    )
