"""Writing clips into the catalog: what a scan found, tied to ids that live as long as the clip."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from foley_desktop.library.catalog_clips import join_path, name_key
from foley_desktop.library.catalog_edits import EditTables
from foley_desktop.library.catalog_state import SOUND_INDEXES, WORD_INDEXES
from foley_desktop.library.database import as_text, decode_path, to_i64
from foley_desktop.library.effective import WORD_FIELDS as _WORDS
from foley_desktop.library.filters import below
from foley_desktop.models import Marker, Rejection, Tag

UCS_NAME = "UCS name"
"""Source of the tags that a file's name gives."""

HASH_DIGITS = 16
"""How many hex digits of the audio hash an id carries."""


class FileState(NamedTuple):
    """What ``stat`` says of a file. While size, times and inode stay, so does the content."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    dev: int

    def same_content(self, other: FileState) -> bool:
        """Whether nothing was written since. The device number is left out: it changes with every mount."""
        return self[:4] == other[:4]


class KnownFile(NamedTuple):
    """A clip as the catalog last saw it."""

    id: str
    rel_path: bytes
    state: FileState
    status: str
    audio_hash: str
    sidecar: int = 0
    """Signature of the files beside it that describe it."""


class KnownRejection(NamedTuple):
    """A refused file as the catalog last saw it."""

    rel_path: bytes
    state: FileState
    reason: str
    sentence: str
    reader: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What one decode and one look at the tags tell of a file. Fields as in :class:`Clip`."""

    audio_hash: str
    duration_s: float
    frames: int
    samplerate: int
    channels: int
    bit_depth: int | None
    format: str
    subtype: str
    badges: tuple[str, ...]
    silent: bool
    title: str = ""
    description: str = ""
    keywords: str = ""
    category: str = ""
    subcategory: str = ""
    catid: str = ""
    tags: tuple[Tag, ...] = ()
    sidecar: int = 0
    markers: tuple[Marker, ...] = ()


_AUDIO = (
    "audio_hash",
    "duration_s",
    "frames",
    "samplerate",
    "channels",
    "bit_depth",
    "format",
    "subtype",
    "silent",
)
_COLUMNS = (*_AUDIO, "badges", *_WORDS, "sidecar")


class FileTables(EditTables):
    """Clips and rejections by their files."""

    def known_files(self, root_id: int, prefix: bytes) -> tuple[dict[bytes, KnownFile], list[KnownFile]]:
        """Clips below ``prefix``: those there or offline by relative path, and the missing ones."""
        sql, values = below("rel_path", prefix)
        present: dict[bytes, KnownFile] = {}
        missing: list[KnownFile] = []
        with self.errors():
            # Row by row: a library may have a million clips, and one copy of them is enough.
            for row in self.connection.execute(
                "SELECT id, rel_path, size, mtime_ns, ctime_ns, inode, dev, status, audio_hash, sidecar "
                f"FROM clips WHERE root_id = ? AND {sql} ORDER BY rel_path, id",
                (root_id, *values),
            ):
                clip = _known(row)
                if clip.status == "missing":
                    missing.append(clip)
                else:
                    present[clip.rel_path] = clip
        return present, missing

    def known_rejections(self, root_id: int, prefix: bytes) -> dict[bytes, KnownRejection]:
        """Refused files below ``prefix`` by relative path."""
        sql, values = below("rel_path", prefix)
        rows = self.rows(f"SELECT * FROM rejected WHERE root_id = ? AND {sql}", (root_id, *values))
        return {
            row["rel_path"]: KnownRejection(
                row["rel_path"], _state(row), row["reason"], row["sentence"], row["reader"]
            )
            for row in rows
        }

    def perhaps_gone(self, audio_hash: str, scanned: Sequence[int]) -> list[tuple[int, KnownFile, str, str]]:
        """Clips with that audio whose files may be gone: missing ones, and those of unscanned roots.

        Args:
            scanned: Ids of the roots of which the caller knows what is gone.

        Returns:
            ``(root id, clip, its path, its root's path)``, the oldest clip first.
        """
        marks = ",".join("?" * len(scanned))
        rows = self.rows(
            "SELECT c.*, r.path AS root_path FROM clips c JOIN roots r ON r.id = c.root_id "
            "WHERE c.audio_hash = ? AND r.online AND "
            f"(c.status = 'missing' OR (c.status = 'ok' AND c.root_id NOT IN ({marks}))) "
            "ORDER BY c.first_hash, c.ordinal",
            (audio_hash, *scanned),
        )
        return [
            (
                row["root_id"],
                _known(row),
                join_path(row["root_path"], row["rel_path"]),
                decode_path(row["root_path"]),
            )
            for row in rows
        ]

    def is_present(self, root_id: int, rel_path: bytes) -> bool:
        """Whether a clip that is not missing stands at a path."""
        sql = "SELECT 1 FROM clips WHERE root_id = ? AND rel_path = ? AND status != 'missing'"
        return bool(self.value(sql, (root_id, rel_path)))

    def still_at(self, root_id: int, ids: Sequence[str]) -> dict[str, bytes]:
        """By id, where those of these clips are that are in a root and not missing."""
        with self.id_table(ids) as table:
            rows = self.rows(
                f"SELECT c.id, c.rel_path FROM clips c JOIN {table} t ON t.id = c.id "
                "WHERE c.root_id = ? AND c.status != 'missing'",
                (root_id,),
            )
        return {row["id"]: row["rel_path"] for row in rows}

    def insert_clip(self, root_id: int, rel_path: bytes, state: FileState, reading: Reading) -> str:
        """Adds a clip that was never seen before; gives its id."""
        first_hash = reading.audio_hash[:HASH_DIGITS]
        with self.write() as connection:
            ordinal = self.value(
                "SELECT IFNULL(max(ordinal) + 1, 0) FROM clips WHERE first_hash = ?", (first_hash,)
            )
            clip_id = f"{first_hash}-{ordinal}"
            values = {
                "id": clip_id,
                "first_hash": first_hash,
                "ordinal": ordinal,
                "added_s": time.time(),
                **_place(root_id, rel_path, state),
                **_columns(reading),
            }
            names = ", ".join(values)
            marks = ", ".join(f":{name}" for name in values)
            connection.execute(f"INSERT INTO clips ({names}) VALUES ({marks})", values)
            self._write_tags(clip_id, reading.tags)
            self._write_markers(clip_id, reading.markers)
            # The id may have been here before, in a folder since forgotten: the indexes may still hold it.
            connection.execute(
                "INSERT OR REPLACE INTO indexed SELECT index_name, version, clip_id, 0, 0 FROM orphans "
                "WHERE clip_id = ?",
                (clip_id,),
            )
            connection.execute("DELETE FROM orphans WHERE clip_id = ?", (clip_id,))
            self.drop_rejections(root_id, [rel_path])
        return clip_id

    def update_clip(
        self, clip_id: str, root_id: int, rel_path: bytes, state: FileState, reading: Reading
    ) -> bool:
        """Writes what was read anew of a known clip, wherever it lies now, and makes it present.

        Returns:
            Whether anything but its file times changed.
        """
        with self.write() as connection:
            before = self.rows("SELECT * FROM clips WHERE id = ?", (clip_id,))[0]
            columns = {**_columns(reading), **self.edited_words(clip_id)}
            new_audio = before["audio_hash"] != reading.audio_hash
            new_words = (
                any(before[name] != columns[name] for name in _WORDS)
                or (before["root_id"], before["rel_path"]) != (root_id, rel_path)
                or self._file_tags(clip_id) != _storable(reading.tags)
            )
            changed = new_words or any(before[name] != columns[name] for name in (*_AUDIO, "badges"))
            values = {**_place(root_id, rel_path, state), **columns}
            settings = ", ".join(f"{name} = :{name}" for name in values)
            connection.execute(f"UPDATE clips SET {settings} WHERE id = :id", {**values, "id": clip_id})
            if new_words:
                self._write_tags(clip_id, reading.tags)
                self.invalidate([clip_id], WORD_INDEXES)
            if new_audio:
                self.invalidate([clip_id], SOUND_INDEXES)
            self._write_markers(clip_id, reading.markers)
            self.drop_rejections(root_id, [rel_path])
        return changed or before["status"] == "missing"

    def move_clip(
        self,
        clip_id: str,
        root_id: int,
        rel_path: bytes,
        state: FileState,
        said_by_name: Sequence[Tag] | None = None,
    ) -> None:
        """Re-points a clip whose very file lies elsewhere now; its content need not be read.

        Args:
            said_by_name: The tags of its new name, where that is another one.
        """
        with self.write() as connection:
            values = _place(root_id, rel_path, state)
            settings = ", ".join(f"{name} = :{name}" for name in values)
            connection.execute(f"UPDATE clips SET {settings} WHERE id = :id", {**values, "id": clip_id})
            if said_by_name is not None:
                kept = [tag for tag in self.file_tags(clip_id) if tag.source != UCS_NAME]
                self._write_tags(clip_id, [*kept, *said_by_name])
                self.write_effective(clip_id)
            self.invalidate([clip_id], WORD_INDEXES)
            self.drop_rejections(root_id, [rel_path])

    def touch_clips(self, found: Iterable[tuple[str, FileState]]) -> None:
        """Notes that unchanged clips are there (again), and the device they lie on now."""
        with self.write() as connection:
            connection.executemany(
                "UPDATE clips SET status = 'ok', retained = 0, dev = ? WHERE id = ?",
                [(to_i64(state.dev), clip_id) for clip_id, state in found],
            )

    def set_missing(self, ids: Sequence[str], *, retained: bool) -> None:
        """Clips gone from a folder that is there. ``retained`` keeps their vectors in case they return."""
        with self.write() as connection:
            connection.executemany(
                "UPDATE clips SET status = 'missing', retained = ? WHERE id = ?",
                [(int(retained), i) for i in ids],
            )

    def set_offline(self, ids: Sequence[str]) -> None:
        """Clips on a disk that is not there, below a folder that is."""
        with self.write() as connection:
            connection.executemany(
                "UPDATE clips SET status = 'offline' WHERE id = ? AND status != 'missing'",
                [(i,) for i in ids],
            )

    def reject(
        self, root_id: int, rel_path: bytes, state: FileState, reason: str, sentence: str, reader: str
    ) -> None:
        """Notes a file that cannot be used. A clip that stood there is kept, as missing."""
        values = (*(to_i64(number) for number in state),)
        with self.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO rejected VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (root_id, rel_path, reason, as_text(sentence), reader, *values),
            )
            connection.execute(
                "UPDATE clips SET status = 'missing', retained = 1 "
                "WHERE root_id = ? AND rel_path = ? AND status != 'missing'",
                (root_id, rel_path),
            )

    def drop_rejections(self, root_id: int, rel_paths: Iterable[bytes]) -> None:
        """Forgets refused files that are gone, or are usable now."""
        with self.write() as connection:
            connection.executemany(
                "DELETE FROM rejected WHERE root_id = ? AND rel_path = ?", [(root_id, p) for p in rel_paths]
            )

    def rejections(self, root_id: int, prefix: bytes = b"") -> list[Rejection]:
        """Refused files below ``prefix``, with a sentence each, by path."""
        sql, values = below("j.rel_path", prefix)
        rows = self.rows(
            "SELECT j.*, r.path AS root_path FROM rejected j JOIN roots r ON r.id = j.root_id "
            f"WHERE j.root_id = ? AND {sql} ORDER BY j.rel_path",
            (root_id, *values),
        )
        return [
            Rejection(join_path(row["root_path"], row["rel_path"]), row["reason"], row["sentence"])
            for row in rows
        ]

    def _write_tags(self, clip_id: str, tags: Sequence[Tag]) -> None:
        with self.write() as connection:
            connection.execute("DELETE FROM tags WHERE clip_id = ? AND source != 'user'", (clip_id,))
            connection.executemany(
                "INSERT INTO tags (clip_id, position, field, value, source) VALUES (?, ?, ?, ?, ?)",
                [(clip_id, n, *tag) for n, tag in enumerate(_storable(tags))],
            )

    def _write_markers(self, clip_id: str, markers: Sequence[Marker]) -> None:
        """Replaces the markers that the file holds; the user's own stay."""
        with self.write() as connection:
            connection.execute("DELETE FROM markers WHERE clip_id = ? AND source != 'user'", (clip_id,))
            connection.executemany(
                "INSERT INTO markers (clip_id, start_s, end_s, text, source) VALUES (?, ?, ?, ?, ?)",
                [(clip_id, m.start_s, m.end_s, as_text(m.text), m.source) for m in markers],
            )

    def _file_tags(self, clip_id: str) -> list[tuple[str, str, str]]:
        rows = self.rows(
            "SELECT field, value, source FROM tags WHERE clip_id = ? AND source != 'user' ORDER BY position",
            (clip_id,),
        )
        return [tuple(row) for row in rows]


def _storable(tags: Sequence[Tag]) -> list[tuple[str, str, str]]:
    return [(as_text(tag.field), as_text(tag.value), as_text(tag.source)) for tag in tags]


def _columns(reading: Reading) -> dict[str, object]:
    columns: dict[str, object] = {}
    for name in _COLUMNS:
        value = getattr(reading, name)
        if name == "badges":
            value = " ".join(value)
        elif isinstance(value, bool):
            value = int(value)
        columns[name] = as_text(value) if isinstance(value, str) else value
    return columns


def _place(root_id: int, rel_path: bytes, state: FileState) -> dict[str, object]:
    name = decode_path(rel_path).rpartition("/")[2]
    numbers = {field: to_i64(number) for field, number in zip(FileState._fields, state, strict=True)}
    return {
        "root_id": root_id,
        "rel_path": rel_path,
        "name_key": name_key(name),
        "status": "ok",
        "retained": 0,
        **numbers,
    }


def _state(row: sqlite3.Row) -> FileState:
    return FileState(row["size"], row["mtime_ns"], row["ctime_ns"], row["inode"], row["dev"])


def _known(row: sqlite3.Row) -> KnownFile:
    return KnownFile(
        row["id"], row["rel_path"], _state(row), row["status"], row["audio_hash"], row["sidecar"]
    )
