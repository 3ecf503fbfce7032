"""What the user wrote over the words of a file, in the catalog alone, and the steps to take it back.

An edit stands beside the file's own values and counts before them; rescans leave it alone. The clip's
columns always hold what counts, so that searches and filters know nothing of edits.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from foley_desktop.library.catalog_state import WORD_INDEXES, IndexState
from foley_desktop.library.database import as_text
from foley_desktop.library.effective import WORD_FIELDS, effective
from foley_desktop.models import Tag

_MOST_STEPS = 200


class Edit(NamedTuple):
    """A value that counts before the file's own; ``source`` is ``edit`` or ``list``."""

    value: str
    source: str


class Step(NamedTuple):
    """Something that can be taken back, or done again once it was. ``document`` is as its kind has it."""

    number: int
    kind: str
    label: str
    at_s: float
    undone: bool
    document: Any


class EditTables(IndexState):
    """The ``edits`` and ``steps`` tables."""

    def edits(self, clip_id: str) -> dict[str, Edit]:
        """Edits of a clip by field."""
        rows = self.rows(
            "SELECT field, value, source FROM edits WHERE clip_id = ? ORDER BY field", (as_text(clip_id),)
        )
        return {row["field"]: Edit(row["value"], row["source"]) for row in rows}

    def edited_ids(self) -> list[str]:
        """Ids of clips with edits that may be written into their files, in path order."""
        return [
            row[0]
            for row in self.rows(
                "SELECT c.id FROM clips c JOIN roots r ON r.id = c.root_id WHERE c.status != 'missing' AND "
                "EXISTS (SELECT 1 FROM edits e WHERE e.clip_id = c.id) ORDER BY r.path, c.rel_path"
            )
        ]

    def count_edited(self, ids: Iterable[str]) -> int:
        """How many of some clips have edits."""
        with self.id_table(ids) as wanted:
            found = self.value(
                f"SELECT count(*) FROM {wanted} w WHERE EXISTS (SELECT 1 FROM edits e WHERE e.clip_id = w.id)"
            )
        return int(found)

    def file_tags(self, clip_id: str) -> list[Tag]:
        """What the file, its name and the files beside it say: everything but the user's own."""
        rows = self.rows(
            "SELECT field, value, source FROM tags WHERE clip_id = ? AND source != 'user' ORDER BY position",
            (as_text(clip_id),),
        )
        return [Tag(*row) for row in rows]

    def words_of(self, ids: Iterable[str]) -> Iterator[tuple[str, list[Tag], dict[str, Edit]]]:
        """Id, tags (the user's own and what was edited left out) and edits of many clips, in two readings.

        Clips of which nothing was written come too; unknown ones don't.
        """
        with self.id_table(ids) as wanted:
            tags: dict[str, list[Tag]] = {
                row[0]: [] for row in self.rows(f"SELECT c.id FROM clips c JOIN {wanted} w ON w.id = c.id")
            }
            for row in self.rows(
                f"SELECT clip_id, field, value, source FROM tags JOIN {wanted} w ON w.id = clip_id "
                "WHERE source != 'user' ORDER BY clip_id, position"
            ):
                tags[row[0]].append(Tag(row[1], row[2], row[3]))
            edits: dict[str, dict[str, Edit]] = {}
            for row in self.rows(
                f"SELECT clip_id, field, value, source FROM edits JOIN {wanted} w ON w.id = clip_id "
                "ORDER BY clip_id, field"
            ):
                edits.setdefault(row[0], {})[row[1]] = Edit(row[2], row[3])
        for clip_id, found in tags.items():
            yield clip_id, found, edits.get(clip_id, {})

    def put_edits(self, changes: Mapping[str, Mapping[str, Edit | None]]) -> list[str]:
        """Sets edits, or takes them out where None stands, by clip id and field; one transaction.

        Returns:
            The ids whose words are other now; their entries in the word indexes are out of date.
        """
        changed: list[str] = []
        now = time.time()
        with self.write() as connection:
            for clip_id, fields in changes.items():
                if not self.value("SELECT 1 FROM clips WHERE id = ?", (clip_id,)):
                    continue
                for field, edit in fields.items():
                    connection.execute(
                        "DELETE FROM edits WHERE clip_id = ? AND field = ?", (clip_id, as_text(field))
                    )
                    if edit is not None:
                        connection.execute(
                            "INSERT INTO edits VALUES (?, ?, ?, ?, ?)",
                            (clip_id, as_text(field), as_text(edit.value), edit.source, now),
                        )
                self.write_effective(clip_id)
                changed.append(clip_id)
            self.invalidate(changed, WORD_INDEXES)
        return changed

    def edited_words(self, clip_id: str) -> dict[str, str]:
        """The clip's word columns as far as edits determine them."""
        return {field: edit.value for field, edit in self.edits(clip_id).items() if field in WORD_FIELDS}

    def write_effective(self, clip_id: str) -> None:
        """Brings the clip's columns in step with its tags and edits."""
        words = effective(self.file_tags(clip_id), self.edited_words(clip_id))
        columns = {field: as_text(value) for field, value in words.items()}
        settings = ", ".join(f"{field} = :{field}" for field in WORD_FIELDS)
        with self.write() as connection:
            connection.execute(f"UPDATE clips SET {settings} WHERE id = :id", {**columns, "id": clip_id})

    # --- steps

    def add_step(self, kind: str, label: str, document: Any) -> int:
        """Puts a step on the stack; what had been taken back can't be done again from here on."""
        with self.write() as connection:
            connection.execute("DELETE FROM steps WHERE undone")
            cursor = connection.execute(
                "INSERT INTO steps (kind, label, at_s, document) VALUES (?, ?, ?, ?)",
                (kind, as_text(label), time.time(), json.dumps(document)),
            )
            connection.execute(
                "DELETE FROM steps WHERE id NOT IN (SELECT id FROM steps ORDER BY id DESC LIMIT ?)",
                (_MOST_STEPS,),
            )
        return int(cursor.lastrowid or 0)

    def next_step(self, *, undone: bool) -> Step | None:
        """The step that undoing (or, with ``undone``, doing again) would concern."""
        order = "id" if undone else "id DESC"
        rows = self.rows(f"SELECT * FROM steps WHERE undone = ? ORDER BY {order} LIMIT 1", (int(undone),))
        return _step(rows[0]) if rows else None

    def steps(self, limit: int = 50) -> list[Step]:
        """The latest steps, latest first."""
        return [_step(row) for row in self.rows("SELECT * FROM steps ORDER BY id DESC LIMIT ?", (limit,))]

    def mark_step(self, number: int, *, undone: bool, document: Any = None) -> None:
        """Notes that a step was taken back, or done again; with what is needed for the way back."""
        with self.write() as connection:
            connection.execute("UPDATE steps SET undone = ? WHERE id = ?", (int(undone), number))
            if document is not None:
                connection.execute(
                    "UPDATE steps SET document = ? WHERE id = ?", (json.dumps(document), number)
                )

    def drop_steps(self, numbers: Iterable[int]) -> None:
        """Forgets steps that can neither be taken back nor done again."""
        with self.write() as connection:
            connection.executemany("DELETE FROM steps WHERE id = ?", [(number,) for number in numbers])


def _step(row: Any) -> Step:
    return Step(
        row["id"], row["kind"], row["label"], row["at_s"], bool(row["undone"]), json.loads(row["document"])
    )
