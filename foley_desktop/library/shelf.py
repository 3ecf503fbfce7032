"""What a library keeps in order beside its categories: collections, saved searches, and files with faults.

Collections are lists of clips by hand; a saved search is a question that is asked anew each time. Saved
searches name collections by their name, so renaming one renames it there too.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast, get_args

from foley_desktop.errors import CatalogError, FilterError
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.database import as_text
from foley_desktop.library.filters import filters_to_sql
from foley_desktop.models import Clip, Condition, Filters, Mode

LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A question kept under a name: words, where they are looked for, and filters."""

    number: int
    name: str
    text: str = ""
    mode: Mode = "hybrid"
    filters: Filters = Filters()


class Shelf:
    """Collections, saved searches and faults of one library. Blocking and thread-safe."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    # --- collections

    def collections(self) -> list[tuple[str, int]]:
        """``(name, number of clips)`` by name."""
        return self._catalog.collections()

    def create(self, name: str, ids: Collection[str] = ()) -> str:
        """A new collection, with some clips in it; gives its name as it is kept.

        Raises:
            CatalogError: there is one of that name already, or the name is empty.
        """
        name = _name(name, "A collection")
        if any(name.casefold() == known.casefold() for known, _ in self.collections()):
            raise CatalogError(f"There is a collection called {name} already.", hint="Choose another name.")
        self._catalog.add_to_collection(name, ids)
        return name

    def add(self, name: str, ids: Collection[str]) -> list[str]:
        """Puts clips into a collection; gives the ids of those that were not in it."""
        before = self._ids(name)
        self._catalog.add_to_collection(name, ids)
        return [clip_id for clip_id in ids if clip_id not in before]

    def take_out(self, name: str, ids: Collection[str]) -> list[str]:
        """Takes clips out of a collection; gives the ids of those that were in it."""
        before = self._ids(name)
        self._catalog.remove_from_collection(name, ids)
        return [clip_id for clip_id in ids if clip_id in before]

    def members(self, name: str) -> list[str]:
        """Ids of the clips in a collection."""
        return sorted(self._ids(name))

    def _ids(self, name: str) -> frozenset[str]:
        rows = self._catalog.rows(
            "SELECT m.clip_id FROM collection_clips m JOIN collections n ON n.id = m.collection_id "
            "WHERE n.name = ?",
            (as_text(name),),
        )
        return frozenset(row[0] for row in rows)

    def rename(self, name: str, wanted: str) -> str:
        """Another name for a collection, also where saved searches ask for it.

        Raises:
            CatalogError: there is no such collection, or another one of the new name.
        """
        wanted = _name(wanted, "A collection")
        with self._catalog.write() as connection:
            try:
                found = connection.execute(
                    "UPDATE collections SET name = ? WHERE name = ?", (wanted, as_text(name))
                )
            except sqlite3.IntegrityError as error:
                raise CatalogError(
                    f"There is a collection called {wanted} already.",
                    hint="Choose another name.",
                    cause=error,
                ) from error
            if not found.rowcount:
                raise CatalogError(f"There is no collection called {as_text(name)}.")
            for saved in self.saved():
                filters = _renamed(saved.filters, name, wanted)
                if filters != saved.filters:
                    document = _document(saved.text, saved.mode, filters)
                    connection.execute(
                        "UPDATE saved_searches SET document = ? WHERE id = ?", (document, saved.number)
                    )
        return wanted

    def delete(self, name: str) -> list[str]:
        """Forgets a collection; gives the ids of its clips, which stay in the library."""
        members = self.members(name)
        self._catalog.remove_collection(name)
        return members

    # --- saved searches

    def saved(self) -> list[SavedSearch]:
        """Saved searches by name; one that this version does not understand is left out."""
        rows = self._catalog.rows("SELECT * FROM saved_searches ORDER BY name COLLATE NOCASE, id")
        found = (_saved(row) for row in rows)
        return [search for search in found if search is not None]

    def save(self, name: str, text: str, mode: Mode, filters: Filters) -> SavedSearch:
        """Keeps a question; one of the same name is replaced.

        Raises:
            CatalogError: the name is empty, or there is nothing to keep.
        """
        name, text = _name(name, "A saved search"), " ".join(as_text(text).split())
        if not text and not filters:
            raise CatalogError("There is nothing to save.", hint="Type a search, or choose a filter, first.")
        with self._catalog.write() as connection:
            connection.execute(
                "INSERT INTO saved_searches (name, document, saved_s) VALUES (?, ?, ?) ON CONFLICT (name) DO "
                "UPDATE SET name = excluded.name, document = excluded.document, saved_s = excluded.saved_s",
                (name, _document(text, mode, filters), time.time()),
            )
            number = self._catalog.value("SELECT id FROM saved_searches WHERE name = ?", (name,))
        return SavedSearch(int(number), name, text, mode, filters)

    def rename_search(self, number: int, wanted: str) -> str:
        """Another name for a saved search.

        Raises:
            CatalogError: another one has that name.
        """
        wanted = _name(wanted, "A saved search")
        with self._catalog.write() as connection:
            try:
                connection.execute("UPDATE saved_searches SET name = ? WHERE id = ?", (wanted, number))
            except sqlite3.IntegrityError as error:
                sentence = f"There is a saved search called {wanted} already."
                raise CatalogError(sentence, hint="Choose another name.", cause=error) from error
        return wanted

    def delete_search(self, number: int) -> None:
        """Forgets a saved search."""
        with self._catalog.write() as connection:
            connection.execute("DELETE FROM saved_searches WHERE id = ?", (number,))

    # --- suggestions that were refused

    def refused(self, ids: Collection[str]) -> dict[str, frozenset[str]]:
        """CatIDs that the user refused, by clip."""
        found: dict[str, set[str]] = {}
        for row in self._catalog.rows("SELECT clip_id, catid FROM refused_categories"):
            found.setdefault(row[0], set()).add(row[1])
        return {i: frozenset(found[i]) for i in ids if i in found}

    def refuse(self, clip_id: str, catid: str, refused: bool = True) -> None:
        """Never suggests this category for this clip again, or (``refused`` False) does."""
        with self._catalog.write() as connection:
            if refused:
                connection.execute(
                    "INSERT OR IGNORE INTO refused_categories SELECT id, ? FROM clips WHERE id = ?",
                    (catid, clip_id),
                )
            else:
                connection.execute(
                    "DELETE FROM refused_categories WHERE clip_id = ? AND catid = ?", (clip_id, catid)
                )

    # --- faults

    def badges(self) -> dict[str, int]:
        """Number of clips by badge code, for the badges that there are."""
        counts: dict[str, int] = {}
        for row in self._catalog.rows(
            "SELECT c.badges, count(*) FROM clips c JOIN roots r ON r.id = c.root_id "
            "WHERE c.badges != '' AND c.status != 'missing' AND r.searchable GROUP BY c.badges"
        ):
            for code in row[0].split():
                counts[code] = counts.get(code, 0) + row[1]
        return dict(sorted(counts.items()))

    def unusable_count(self) -> int:
        """How many files :meth:`unusable` lists."""
        rejected = self._catalog.value("SELECT count(*) FROM rejected", ())
        missing = self._catalog.value("SELECT count(*) FROM clips WHERE status = 'missing'", ())
        return int(rejected) + int(missing)

    def unusable(self) -> list[tuple[Clip, str]]:
        """Files that could not be used, each with the sentence that says why; then clips that are gone."""
        rejected = self._catalog.rejected()
        sentences = {
            (row["root_id"], bytes(row["rel_path"])): row["sentence"]
            for row in self._catalog.rows("SELECT root_id, rel_path, sentence FROM rejected")
        }
        found = [(clip, sentences.get((clip.root_id, _raw(clip)), clip.reason or "")) for clip in rejected]
        gone = self._catalog.list_clips(
            limit=-1, searchable_only=False, statuses=("missing",), order_by="folder"
        )
        return found + [(clip, "The file is not where it was.") for clip in gone]

    def forget_rejections(self, clips: Sequence[Clip]) -> None:
        """Has refused files read again by the next scan although they have not changed."""
        by_root: dict[int, list[bytes]] = {}
        for clip in clips:
            if clip.status == "rejected":
                by_root.setdefault(clip.root_id, []).append(_raw(clip))
        for root_id, rel_paths in by_root.items():
            self._catalog.drop_rejections(root_id, rel_paths)


def _raw(clip: Clip) -> bytes:
    return os.fsencode(clip.rel_path)


def _name(name: str, what: str) -> str:
    plain = " ".join(as_text(name).split())[:LONGEST_NAME]
    if not plain:
        raise CatalogError(f"{what} needs a name.")
    return plain


def _renamed(filters: Filters, name: str, wanted: str) -> Filters:
    return Filters(
        tuple(
            Condition(c.field, c.op, wanted)
            if c.field == "collection" and str(c.value).casefold() == name.casefold()
            else c
            for c in filters.conditions
        )
    )


def _document(text: str, mode: str, filters: Filters) -> str:
    """As JSON in ASCII: names of folders need not be text, and their odd bytes survive as escapes."""
    conditions = [[c.field, c.op, c.value] for c in filters.conditions]
    return json.dumps({"text": text, "mode": mode, "filters": conditions})


def _saved(row: sqlite3.Row) -> SavedSearch | None:
    try:
        document = json.loads(row["document"])
        mode = document["mode"] if document["mode"] in get_args(Mode) else "hybrid"
        filters = Filters(tuple(Condition(field, op, value) for field, op, value in document["filters"]))
        filters_to_sql(filters)
        return SavedSearch(row["id"], row["name"], str(document["text"]), cast(Mode, mode), filters)
    except (ValueError, TypeError, KeyError, FilterError):
        return None
