"""Reading the catalog's clips: by id, by path, by filter."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from foley_desktop.errors import CatalogError, UnknownClipError
from foley_desktop.index.protocols import Document
from foley_desktop.library.catalog_roots import RootTable
from foley_desktop.library.database import as_text, decode_path
from foley_desktop.library.filters import filters_to_sql
from foley_desktop.library.text import keyword_document
from foley_desktop.models import Clip, Filters, Tag

_FROM = "FROM clips c JOIN roots r ON r.id = c.root_id"
_SELECT = f"SELECT c.*, r.path AS root_path {_FROM}"
_SEARCHABLE = "c.status = 'ok' AND r.searchable"
_CHUNK = 500

ORDERS = {
    "name": "c.name_key",
    "path": "r.path, c.rel_path",
    "folder": "r.path, c.rel_path",
    "duration": "c.duration_s",
    "rate": "c.samplerate",
    "samplerate": "c.samplerate",
    "channels": "c.channels",
    "depth": "c.bit_depth",
    "bit_depth": "c.bit_depth",
    "rating": "c.rating",
    "favourite": "c.favourite",
    "size": "c.size",
    "size_bytes": "c.size",
    "date": "c.mtime_ns",
    "mtime": "c.mtime_ns",
    "added": "c.added_s",
    "format": "c.format",
    "category": "NULLIF(c.category || ' ' || c.subcategory, ' ')",
    "title": "NULLIF(c.title, '')",
    "description": "NULLIF(c.description, '')",
    "status": "c.status",
    "used": "(SELECT max(u.at_s) FROM uses u WHERE u.clip_id = c.id)",
}
"""Columns that :meth:`ClipQueries.list_clips` orders by; what is unknown comes last in both directions."""

_REMEMBERED_SETS = 8


def name_key(name: str) -> str:
    """A file name as it is compared and sorted: one normal form, one case, whatever bytes it has."""
    return unicodedata.normalize("NFKC", as_text(name)).casefold()


def _can_be_a_path(ref: str) -> bool:
    """Half a surrogate pair, as JSON may hold one, stands for no byte of any file name."""
    try:
        os.fsencode(ref)
    except UnicodeEncodeError:
        return False
    return True


def join_path(root: bytes, rel_path: bytes) -> str:
    """The absolute path of a clip."""
    return os.path.join(decode_path(root), decode_path(rel_path).replace("/", os.sep))


class ClipQueries(RootTable):
    """Clips as the rest of the app sees them."""

    _sets: OrderedDict[tuple[Filters, bool], tuple[str, frozenset[str] | None]]
    _sets_guard: threading.Lock

    def clip(self, clip_id: str) -> Clip | None:
        return self.clips([clip_id]).get(clip_id)

    def clips(self, ids: Iterable[str]) -> dict[str, Clip]:
        """The clips of some ids, in their order; unknown ids are left out."""
        wanted = list(dict.fromkeys(ids))
        found: dict[str, Clip] = {}
        for start in range(0, len(wanted), _CHUNK):
            part = [as_text(i) for i in wanted[start : start + _CHUNK]]
            marks = ",".join("?" * len(part))
            for row in self.rows(f"{_SELECT} WHERE c.id IN ({marks})", part):
                found[row["id"]] = to_clip(row)
        used = self._used([found[i] for i in wanted if i in found])
        return {clip.id: clip for clip in used}

    def _used(self, clips: Sequence[Clip]) -> list[Clip]:
        """``clips`` with how often and when they were last handed over."""
        uses: dict[str, tuple[int, float]] = {}
        for start in range(0, len(clips), _CHUNK):
            part = [clip.id for clip in clips[start : start + _CHUNK]]
            marks = ",".join("?" * len(part))
            sql = f"SELECT clip_id, count(*), max(at_s) FROM uses WHERE clip_id IN ({marks}) GROUP BY clip_id"
            uses |= {row[0]: (row[1], row[2]) for row in self.rows(sql, part)}
        if not uses:
            return list(clips)
        return [
            replace(clip, uses=uses[clip.id][0], used_s=uses[clip.id][1]) if clip.id in uses else clip
            for clip in clips
        ]

    def clip_by_path(self, path: str) -> Clip | None:
        """The clip at an absolute path, rejected ones included; one that is there before one that is gone."""
        path = os.path.abspath(path)
        found = self._at(path)
        if found is None:
            real = os.path.realpath(path)
            found = self._at(real) if real != path else None
        return found

    def _at(self, path: str) -> Clip | None:
        raw = os.fsencode(path)
        for row in self.rows("SELECT id, path, real FROM roots ORDER BY length(path) DESC"):
            for top in {row["path"], row["real"]}:
                start = top if top.endswith(b"/") else top + b"/"
                if raw.startswith(start):
                    found = self._best_of(raw[len(start) :], row["id"])
                    if found is not None:
                        return found
        return None

    def _best_of(self, rel_path: bytes, root_id: int | None = None) -> Clip | None:
        """The clip or rejected file at a relative path: present, then rejected, then missing."""
        condition, values = "rel_path = ?", [rel_path]
        if root_id is not None:
            condition, values = condition + " AND root_id = ?", [rel_path, root_id]  # type: ignore[list-item]
        clips = [to_clip(row) for row in self.rows(f"{_SELECT} WHERE c.{condition}", values)]
        present = [clip for clip in clips if clip.status != "missing"]
        ranked = sorted(present, key=lambda clip: (clip.status != "ok", clip.root_id))
        rejected = self._rejected(f"WHERE j.{condition}", values)
        missing = sorted(clips, key=lambda clip: (-clip.added_s, clip.id))
        return next(iter([*ranked, *rejected, *missing]), None)

    def find(self, ref: str) -> Clip:
        """The clip that an id, an absolute path or a path relative to its root names, whatever its status.

        A path relative to the working directory is tried last. Names that differ in their Unicode
        normal form alone are the same.

        Raises:
            UnknownClipError: there is none.
        """
        found = None
        if ref and "\0" not in ref and _can_be_a_path(ref):
            found = self.clip(ref) or (self.clip_by_path(ref) if os.path.isabs(ref) else self._relative(ref))
        if found is None:
            raise UnknownClipError(
                f"The library has no clip {as_text(ref)}.",
                hint="Name a clip by its id, its path, or its path below an indexed folder.",
            )
        return self._used([found])[0]

    def _relative(self, ref: str) -> Clip | None:
        rel = os.path.normpath(ref).replace(os.sep, "/")
        found = self._best_of(os.fsencode(rel)) or self.clip_by_path(ref)
        if found is not None:
            return found
        key = name_key(os.path.basename(rel))
        wanted = unicodedata.normalize("NFC", as_text(rel))
        for row in self.rows(f"{_SELECT} WHERE c.name_key = ? ORDER BY c.status != 'ok', r.path", (key,)):
            if unicodedata.normalize("NFC", as_text(decode_path(row["rel_path"]))) == wanted:
                return to_clip(row)
        return None

    def tags(self, clip_id: str) -> list[Tag]:
        """Everything someone wrote about the clip, with its source; what the user set instead comes first."""
        rows = self.rows(
            "SELECT field, value, source, -1 AS position FROM edits WHERE clip_id = :id AND value != '' "
            "UNION ALL SELECT field, value, source, position FROM tags WHERE clip_id = :id "
            "ORDER BY position, source, field",
            {"id": as_text(clip_id)},
        )
        return [Tag(row["field"], row["value"], row["source"]) for row in rows]

    def all_ids(self, searchable_only: bool = True) -> list[str]:
        """Ids in path order: those a search may find, or every clip the catalog holds."""
        where = _SEARCHABLE if searchable_only else "1"
        return [
            row[0]
            for row in self.rows(f"SELECT c.id {_FROM} WHERE {where} ORDER BY r.path, c.rel_path, c.id")
        ]

    def fingerprint(self) -> str:
        """32 hex digits that name the set of clips that a search may find."""
        digest = hashlib.blake2b(digest_size=16)
        with self.errors():
            # One row at a time: all of a large library's at once would set off the garbage collector, which
            # stops every thread.
            for row in self.connection.execute(f"SELECT c.id {_FROM} WHERE {_SEARCHABLE} ORDER BY c.id"):
                digest.update(row[0].encode() + b"\n")
        return digest.hexdigest()

    def matching_ids(self, filters: Filters, *, searchable_only: bool = True) -> frozenset[str] | None:
        """Ids of the clips that pass, or None when the derived indexes need no restriction at all.

        Missing and offline clips never pass, nor, with ``searchable_only``, those of folders that
        are switched off.

        Raises:
            FilterError: the filters are not understood.
        """
        generation, key = self.generation(), (filters, searchable_only)
        with self._sets_guard:
            known = self._sets.get(key)
            if known is not None and known[0] == generation:
                self._sets.move_to_end(key)
                return known[1]
        ids = self._matching(filters, searchable_only)
        with self._sets_guard:
            self._sets[key] = (generation, ids)
            while len(self._sets) > _REMEMBERED_SETS:
                self._sets.popitem(last=False)
        return ids

    def _matching(self, filters: Filters, searchable_only: bool) -> frozenset[str] | None:
        if not filters and not self._anything_hidden(searchable_only):
            return None
        where, values = filters_to_sql(filters)
        switch = _SEARCHABLE if searchable_only else "c.status = 'ok'"
        return frozenset(
            row[0] for row in self.rows(f"SELECT c.id {_FROM} WHERE {switch} AND {where}", values)
        )

    def _anything_hidden(self, searchable_only: bool) -> bool:
        """Whether a derived index holds clips that a search must not find."""
        off = "EXISTS (SELECT 1 FROM roots WHERE NOT searchable) OR " if searchable_only else ""
        return bool(
            self.value(
                f"SELECT {off} EXISTS (SELECT 1 FROM orphans) OR EXISTS (SELECT 1 FROM clips c "
                "JOIN indexed i ON i.clip_id = c.id WHERE c.status != 'ok')"
            )
        )

    def list_clips(
        self,
        filters: Filters = Filters(),
        order_by: str = "name",
        descending: bool = False,
        limit: int = 500,
        offset: int = 0,
        *,
        searchable_only: bool = True,
        statuses: Sequence[str] = ("ok", "offline"),
    ) -> list[Clip]:
        """One page of the clips that pass, ordered by a column of :data:`ORDERS`; unknown values last.

        Raises:
            CatalogError: there is no such order.
            FilterError: the filters are not understood.
        """
        column = ORDERS.get(order_by)
        if column is None:
            raise CatalogError(
                f"Clips cannot be ordered by {order_by}.", hint="Orders: " + ", ".join(ORDERS) + "."
            )
        direction = "DESC" if descending else "ASC"
        parts = [f"{part.strip()} {direction} NULLS LAST" for part in _split_columns(column)]
        where, values = self._listed(filters, searchable_only, statuses)
        order = ", ".join([*parts, "c.name_key", "c.id"])
        sql = f"{_SELECT} WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?"
        return self._used([to_clip(row) for row in self.rows(sql, [*values, limit, offset])])

    def count(
        self,
        filters: Filters = Filters(),
        *,
        searchable_only: bool = True,
        statuses: Sequence[str] = ("ok", "offline"),
    ) -> int:
        """How many clips :meth:`list_clips` would list in all."""
        where, values = self._listed(filters, searchable_only, statuses)
        return int(self.value(f"SELECT count(*) {_FROM} WHERE {where}", values))

    def _listed(self, filters: Filters, searchable_only: bool, statuses: Sequence[str]) -> tuple[str, list]:  # type: ignore[type-arg]
        where, values = filters_to_sql(filters)
        switch = " AND r.searchable" if searchable_only else ""
        marks = ",".join("?" * len(statuses))
        return f"c.status IN ({marks}){switch} AND {where}", [*statuses, *values]

    def category_counts(self) -> dict[tuple[str, str], int]:
        """How many clips stand in each (Category, SubCategory); clips without one are left out."""
        rows = self.rows(
            f"SELECT c.category, c.subcategory, count(*) {_FROM} WHERE c.status != 'missing' "
            "AND r.searchable AND c.category != '' GROUP BY 1, 2 ORDER BY 1, 2"
        )
        return {(row[0], row[1]): row[2] for row in rows}

    def rejected(self, root_id: int | None = None) -> list[Clip]:
        """Files that were refused, with their reasons, by path."""
        if root_id is None:
            return self._rejected("", [])
        return self._rejected("WHERE j.root_id = ?", [root_id])

    def _rejected(self, where: str, values: list) -> list[Clip]:  # type: ignore[type-arg]
        rows = self.rows(
            "SELECT j.*, r.path AS root_path FROM rejected j JOIN roots r ON r.id = j.root_id "
            f"{where} ORDER BY r.path, j.rel_path",
            values,
        )
        return [_to_rejected(row) for row in rows]

    def document(self, clip_id: str) -> Document:
        """The words of one clip for the keyword index.

        Raises:
            UnknownClipError: there is none.
        """
        found = self.documents([clip_id])
        if not found:
            raise UnknownClipError(f"The library has no clip {as_text(clip_id)}.")
        return found[0]

    def documents(self, ids: Iterable[str]) -> list[Document]:
        """The words of some clips for the keyword index; unknown ids are left out."""
        clips = self.clips(ids)
        tags = self._tags_of(list(clips))
        return [keyword_document(clip, tags.get(i, [])) for i, clip in clips.items()]

    def _tags_of(self, ids: Sequence[str]) -> dict[str, list[Tag]]:
        found: dict[str, list[Tag]] = {}
        for start in range(0, len(ids), _CHUNK):
            part = ids[start : start + _CHUNK]
            marks = ",".join("?" * len(part))
            sql = (
                "SELECT clip_id, field, value, source, -1 AS position FROM edits "
                f"WHERE clip_id IN ({marks}) UNION ALL "
                f"SELECT clip_id, field, value, source, position FROM tags WHERE clip_id IN ({marks}) "
                "ORDER BY clip_id, position, source, field"
            )
            for row in self.rows(sql, [*part, *part]):
                found.setdefault(row["clip_id"], []).append(Tag(row["field"], row["value"], row["source"]))
        return found


def _split_columns(column: str) -> list[str]:
    return [column] if "(" in column else column.split(",")


def to_clip(row: sqlite3.Row) -> Clip:
    """A row of clips joined with its root's path."""
    rel_path = decode_path(row["rel_path"])
    return Clip(
        id=row["id"],
        path=join_path(row["root_path"], row["rel_path"]),
        root_id=row["root_id"],
        rel_path=rel_path,
        name=rel_path.rpartition("/")[2],
        status=row["status"],
        badges=tuple(row["badges"].split()),
        duration_s=row["duration_s"],
        frames=row["frames"],
        samplerate=row["samplerate"],
        channels=row["channels"],
        bit_depth=row["bit_depth"],
        format=row["format"],
        subtype=row["subtype"],
        title=row["title"],
        description=row["description"],
        keywords=row["keywords"],
        category=row["category"],
        subcategory=row["subcategory"],
        catid=row["catid"],
        rating=row["rating"],
        favourite=bool(row["favourite"]),
        size_bytes=row["size"],
        mtime_s=row["mtime_ns"] / 1e9,
        added_s=row["added_s"],
        audio_hash=row["audio_hash"],
        silent=bool(row["silent"]),
    )


def _to_rejected(row: sqlite3.Row) -> Clip:
    rel_path = decode_path(row["rel_path"])
    return Clip(
        id="",
        path=join_path(row["root_path"], row["rel_path"]),
        root_id=row["root_id"],
        rel_path=rel_path,
        name=rel_path.rpartition("/")[2],
        status="rejected",
        reason=row["reason"],
        size_bytes=row["size"],
        mtime_s=row["mtime_ns"] / 1e9,
    )
