"""What the user adds to clips, and what the app remembers for the user.

Ratings, favourites, notes, markers, own tags, collections, searches.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from foley_desktop.errors import CatalogError
from foley_desktop.library.catalog_state import WORD_INDEXES, IndexState
from foley_desktop.library.database import as_text
from foley_desktop.models import Marker

_REMEMBERED_SEARCHES = 500


class UserTables(IndexState):
    """The user's own layer over the clips."""

    def set_rating(self, ids: Iterable[str], rating: int) -> None:
        """``rating`` from 0 (none) to 5.

        Raises:
            CatalogError: the rating is out of range.
        """
        if not 0 <= rating <= 5:
            raise CatalogError("A rating is a number from 0 to 5.")
        self._set("rating", ids, rating)

    def set_favourite(self, ids: Iterable[str], favourite: bool) -> None:
        self._set("favourite", ids, int(favourite))

    def set_note(self, ids: Iterable[str], note: str) -> None:
        self._set("note", ids, as_text(note))

    def note(self, clip_id: str) -> str:
        return self.value("SELECT note FROM clips WHERE id = ?", (as_text(clip_id),)) or ""

    def _set(self, column: str, ids: Iterable[str], value: Any) -> None:
        with self.write() as connection:
            connection.executemany(f"UPDATE clips SET {column} = ? WHERE id = ?", [(value, i) for i in ids])

    def set_user_tags(self, clip_id: str, tags: Sequence[str]) -> None:
        """Replaces the user's own tags of a clip; rescans leave them alone."""
        values = [text for tag in tags if (text := " ".join(as_text(tag).split()))]
        with self.write() as connection:
            connection.execute("DELETE FROM tags WHERE clip_id = ? AND source = 'user'", (clip_id,))
            connection.executemany(
                "INSERT INTO tags (clip_id, position, field, value, source) "
                "SELECT id, ?, 'keywords', ?, 'user' FROM clips WHERE id = ?",
                [(n, value, clip_id) for n, value in enumerate(dict.fromkeys(values))],
            )
            self.invalidate([clip_id], WORD_INDEXES)

    # --- markers

    def add_marker(self, clip_id: str, start_s: float, end_s: float | None = None, text: str = "") -> int:
        """A point or a stretch of a clip, in seconds; gives its number."""
        with self.write() as connection:
            cursor = connection.execute(
                "INSERT INTO markers (clip_id, start_s, end_s, text) VALUES (?, ?, ?, ?)",
                (clip_id, start_s, end_s, as_text(text)),
            )
        return int(cursor.lastrowid or 0)

    def markers(self, clip_id: str) -> list[tuple[int, float, float | None, str]]:
        """``(number, start_s, end_s, text)`` by start."""
        rows = self.rows("SELECT * FROM markers WHERE clip_id = ? ORDER BY start_s, id", (clip_id,))
        return [(row["id"], row["start_s"], row["end_s"], row["text"]) for row in rows]

    def clip_markers(self, clip_id: str) -> list[Marker]:
        """Markers of a clip by start: those of its file, and the user's own."""
        rows = self.rows("SELECT * FROM markers WHERE clip_id = ? ORDER BY start_s, id", (as_text(clip_id),))
        return [Marker(row["start_s"], row["end_s"], row["text"], row["source"]) for row in rows]

    def remove_marker(self, number: int) -> None:
        with self.write() as connection:
            connection.execute("DELETE FROM markers WHERE id = ?", (number,))

    # --- collections

    def collections(self) -> list[tuple[str, int]]:
        """``(name, number of clips)`` by name."""
        rows = self.rows(
            "SELECT n.name, count(m.clip_id) FROM collections n LEFT JOIN collection_clips m "
            "ON m.collection_id = n.id GROUP BY n.id ORDER BY n.name"
        )
        return [(row[0], row[1]) for row in rows]

    def add_to_collection(self, name: str, ids: Iterable[str] = ()) -> None:
        """Adds clips to a collection, which is made when there is none of that name."""
        name = " ".join(as_text(name).split())
        if not name:
            raise CatalogError("A collection needs a name.")
        now = time.time()
        with self.write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO collections (name, created_s) VALUES (?, ?)", (name, now)
            )
            number = self.value("SELECT id FROM collections WHERE name = ?", (name,))
            connection.executemany(
                "INSERT OR IGNORE INTO collection_clips SELECT ?, id, ? FROM clips WHERE id = ?",
                [(number, now, i) for i in ids],
            )

    def remove_from_collection(self, name: str, ids: Iterable[str]) -> None:
        with self.write() as connection:
            connection.executemany(
                "DELETE FROM collection_clips WHERE clip_id = ? AND collection_id = "
                "(SELECT id FROM collections WHERE name = ?)",
                [(i, as_text(name)) for i in ids],
            )

    def remove_collection(self, name: str) -> None:
        """Forgets a collection; its clips stay in the library."""
        with self.write() as connection:
            connection.execute("DELETE FROM collections WHERE name = ?", (as_text(name),))

    # --- searches

    def remember_search(self, query: str) -> None:
        """Puts a query on top of the recent searches."""
        query = " ".join(as_text(query).split())
        if not query:
            return
        with self.write() as connection:
            connection.execute(
                "INSERT INTO searches (query, at_s) VALUES (?, ?) "
                "ON CONFLICT (query) DO UPDATE SET at_s = excluded.at_s, count = count + 1",
                (query, time.time()),
            )
            connection.execute(
                "DELETE FROM searches WHERE query NOT IN "
                "(SELECT query FROM searches ORDER BY at_s DESC, rowid DESC LIMIT ?)",
                (_REMEMBERED_SEARCHES,),
            )

    def recent_searches(self, limit: int = 20) -> list[str]:
        """Queries, latest first."""
        rows = self.rows("SELECT query FROM searches ORDER BY at_s DESC, rowid DESC LIMIT ?", (limit,))
        return [row[0] for row in rows]
