"""Bookkeeping of what is in which derived index, so that a killed run resumes where it stopped.

Index names are ``keyword``, ``semantic``, ``audio`` and ``likeness``; the version says which schema
or model made the entries. The road of a clip into an index: :meth:`begin_indexing` (on record, not
yet done), the index commits, :meth:`mark_indexed` (done). Whatever changes the clip in between puts
it back to pending, and the final mark then leaves it so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from foley_desktop.library.catalog_roots import RootTable
from foley_desktop.library.database import as_text

WORD_INDEXES = ("keyword", "semantic")
SOUND_INDEXES = ("audio", "likeness")

_DIRTY, _DONE, _WRITING = 0, 1, 2


class IndexState(RootTable):
    """The ``indexed`` table."""

    def pending(self, index_name: str, version: str) -> list[str]:
        """Ids of clips that are there and not yet in the index in this version, in path order."""
        rows = self.rows(
            "SELECT c.id FROM clips c JOIN roots r ON r.id = c.root_id LEFT JOIN indexed i "
            "ON i.index_name = ? AND i.version = ? AND i.clip_id = c.id "
            f"WHERE c.status = 'ok' AND IFNULL(i.fresh, 0) != {_DONE} ORDER BY r.path, c.rel_path",
            (index_name, version),
        )
        return [row[0] for row in rows]

    def begin_indexing(self, index_name: str, version: str, ids: Iterable[str]) -> None:
        """Puts on record that entries of these clips are about to be written."""
        with self.write() as connection:
            connection.executemany(
                f"INSERT INTO indexed SELECT ?, ?, id, {_WRITING}, 0 FROM clips WHERE id = ? "
                f"ON CONFLICT DO UPDATE SET fresh = {_WRITING}",
                [(index_name, version, i) for i in ids],
            )

    def mark_indexed(
        self, index_name: str, version: str, ids: Collection[str], *, empty: Collection[str] = ()
    ) -> None:
        """Notes that the index has committed these clips. Those invalidated meanwhile stay pending.

        Args:
            empty: Those of them that have no entry because there is nothing to index: silent clips.
        """
        empty = frozenset(empty)
        with self.write() as connection:
            connection.executemany(
                f"INSERT INTO indexed SELECT ?, ?, id, {_DONE}, ? FROM clips WHERE id = ? "
                f"ON CONFLICT DO UPDATE SET fresh = {_DONE}, empty = excluded.empty WHERE fresh = {_WRITING}",
                [(index_name, version, int(i in empty), i) for i in ids],
            )
            if index_name in WORD_INDEXES:
                # One table serves all versions of these, so the new entry has replaced the old one.
                connection.executemany(
                    "DELETE FROM indexed WHERE index_name = ? AND version != ? AND clip_id = ?",
                    [(index_name, version, i) for i in ids],
                )

    def unmark(
        self, index_name: str, ids: Iterable[str] | None = None, *, version: str | None = None
    ) -> None:
        """Forgets that clips (None: all) are in an index, in whatever version: they become pending.

        Args:
            version: Forget this version of the index alone, whole.
        """
        with self.write() as connection:
            if version is not None:
                for table in ("indexed", "orphans"):
                    connection.execute(
                        f"DELETE FROM {table} WHERE index_name = ? AND version = ?", (index_name, version)
                    )
                return
            if ids is None:
                connection.execute("DELETE FROM indexed WHERE index_name = ?", (index_name,))
                connection.execute("DELETE FROM orphans WHERE index_name = ?", (index_name,))
                return
            connection.executemany(
                "DELETE FROM indexed WHERE index_name = ? AND clip_id = ?",
                [(index_name, as_text(i)) for i in ids],
            )

    def invalidate(self, ids: Iterable[str], index_names: Iterable[str]) -> None:
        """Makes clips pending because they changed; what the indexes hold of them stays on record."""
        names = list(index_names)
        with self.write() as connection:
            connection.executemany(
                f"UPDATE indexed SET fresh = {_DIRTY} WHERE clip_id = ? AND index_name = ?",
                [(i, name) for i in ids for name in names],
            )

    def indexed_ids(self, index_name: str, version: str) -> list[str]:
        """Ids of the clips that are in the index and up to date, whatever their status."""
        rows = self.rows(
            f"SELECT clip_id FROM indexed WHERE index_name = ? AND version = ? AND fresh = {_DONE}",
            (index_name, version),
        )
        return [row[0] for row in rows]

    def without_entry(self, index_name: str) -> frozenset[str]:
        """Ids of the clips of which an index holds nothing because there is nothing of them to hold."""
        if index_name in SOUND_INDEXES:
            return self.without_vectors()
        rows = self.rows("SELECT clip_id FROM indexed WHERE empty AND index_name = ?", (index_name,))
        return frozenset(row[0] for row in rows)

    def without_vectors(self) -> frozenset[str]:
        """Ids of the clips that have no sound vector because there is no sound in them."""
        rows = self.rows(
            "SELECT id FROM clips WHERE silent UNION SELECT clip_id FROM indexed "
            "WHERE empty AND index_name IN (?, ?)",
            SOUND_INDEXES,
        )
        return frozenset(row[0] for row in rows)

    def stale(self, index_name: str) -> dict[str, list[str]]:
        """By version, the ids whose entries an index should no longer hold.

        Clips of forgotten folders and clips that are missing. After a mass disappearance the vectors
        of missing clips are kept, because they are dear and the files may come back; their words are
        not, because BM25 counts every document.
        """
        kept = "" if index_name == "keyword" else "AND NOT c.retained"
        rows = self.rows(
            "SELECT i.version, i.clip_id FROM indexed i JOIN clips c ON c.id = i.clip_id "
            f"WHERE i.index_name = ? AND c.status = 'missing' {kept} "
            "UNION SELECT version, clip_id FROM orphans WHERE index_name = ?",
            (index_name, index_name),
        )
        return _by_version(rows)

    def dirty(self, index_name: str) -> dict[str, list[str]]:
        """By version, the ids whose entries in an index are out of date."""
        rows = self.rows(
            f"SELECT version, clip_id FROM indexed WHERE index_name = ? AND fresh != {_DONE}", (index_name,)
        )
        return _by_version(rows)

    def forget_indexed(self, index_name: str, version: str, ids: Iterable[str]) -> None:
        """Notes that the index has deleted its entries of these ids."""
        parameters = [(index_name, version, i) for i in ids]
        with self.write() as connection:
            for table in ("indexed", "orphans"):
                connection.executemany(
                    f"DELETE FROM {table} WHERE index_name = ? AND version = ? AND clip_id = ?", parameters
                )

    def is_marked(self, index_name: str, version: str) -> bool:
        """Whether the bookkeeping knows of any entry in this version of the index."""
        question = "SELECT 1 FROM indexed WHERE index_name = ? AND version = ? LIMIT 1"
        return bool(self.value(question, (index_name, version)))

    def untidy(self, index_name: str) -> bool:
        """Whether an index was written to since it was last merged or compacted."""
        return self.value("SELECT value FROM meta WHERE key = ?", ("untidy " + index_name,)) == "1"

    def set_untidy(self, index_name: str, untidy: bool) -> None:
        if self.untidy(index_name) != untidy:
            with self.write() as connection:
                connection.execute(
                    "INSERT OR REPLACE INTO meta VALUES (?, ?)", ("untidy " + index_name, str(int(untidy)))
                )


def _by_version(rows: Iterable) -> dict[str, list[str]]:  # type: ignore[type-arg]
    found: dict[str, list[str]] = {}
    for version, clip_id in rows:
        found.setdefault(version, []).append(clip_id)
    return found
