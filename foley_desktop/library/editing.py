"""Editing the words of one or many clips, in the catalog alone, with a way back for every step.

The user sees one value a field: a shared one, or that the selection is mixed; beside it every value anyone
wrote, with its source. What is set here counts at once and reaches the files only when it is written there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from foley_desktop.audio.tagfields import WRITABLE
from foley_desktop.audio.tags import best
from foley_desktop.audio.tagtext import clean
from foley_desktop.errors import CatalogError
from foley_desktop.library import ucs
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.catalog_edits import Edit, Step
from foley_desktop.library.effective import WORD_FIELDS, effective
from foley_desktop.models import Clip, Tag

KIND = "edit"
"""What the steps of this module are called in the catalog."""


class Field(NamedTuple):
    """A field of the inspector. ``long`` ones deserve several lines."""

    name: str
    label: str
    group: str
    long: bool = False


FIELDS: tuple[Field, ...] = (
    Field("title", "Title", "Sound"),
    Field("description", "Description", "Sound", long=True),
    Field("keywords", "Keywords", "Sound", long=True),
    Field("comment", "Notes", "Sound", long=True),
    Field("catid", "CatID", "Category"),
    Field("category", "Category", "Category"),
    Field("subcategory", "Subcategory", "Category"),
    Field("user_category", "User category", "Category"),
    Field("vendor_category", "Vendor category", "Category"),
    Field("genre", "Genre", "Category"),
    Field("mood", "Mood", "Category"),
    Field("designer", "Designer", "Origin"),
    Field("recordist", "Recordist", "Origin"),
    Field("artist", "Artist", "Origin"),
    Field("creator", "Creator ID", "Origin"),
    Field("source_id", "Source ID", "Origin"),
    Field("originator", "Originator", "Origin"),
    Field("library", "Library", "Origin"),
    Field("manufacturer", "Manufacturer", "Origin"),
    Field("album", "Album", "Origin"),
    Field("copyright", "Copyright", "Origin"),
    Field("url", "Web page", "Origin"),
    Field("location", "Location", "Recording"),
    Field("microphone", "Microphone", "Recording"),
    Field("perspective", "Perspective", "Recording"),
    Field("project", "Project", "Recording"),
    Field("show", "Show", "Recording"),
    Field("scene", "Scene", "Recording"),
    Field("take", "Take", "Recording"),
    Field("tape", "Tape", "Recording"),
    Field("user_data", "User data", "Recording"),
    Field("source", "Source", "Recording"),
)
"""What the inspector shows and edits, in this order."""

EDITABLE = frozenset(field.name for field in FIELDS)
assert EDITABLE.issubset(WRITABLE)
_CATEGORY = ("category", "subcategory", "catid")


class Value(NamedTuple):
    """One value that someone wrote, where it stands, and in how many of the clips."""

    value: str
    source: str
    clips: int


class Shown(NamedTuple):
    """A field over a selection of clips.

    ``value`` is what counts in all of them, or empty when it differs (``mixed``); ``edited`` counts the clips
    in which the user set it; ``values`` are all that were found, the most frequent first.
    """

    value: str
    mixed: bool
    edited: int
    values: tuple[Value, ...]


class Editor:
    """Edits of one library."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    # --- looking

    def inspect(self, ids: Iterable[str]) -> dict[str, Shown]:
        """Every field of :data:`FIELDS` over some clips, by name; other fields that have values follow."""
        clips = self._catalog.clips(ids)
        counting: dict[str, Counter[str]] = {field.name: Counter() for field in FIELDS}
        found: dict[str, Counter[tuple[str, str]]] = {field.name: Counter() for field in FIELDS}
        edited: Counter[str] = Counter()
        for clip_id, tags, edits in self._catalog.words_of(clips):
            edited.update(edits.keys())
            by_field: dict[str, list[Tag]] = {}
            for tag in tags:
                by_field.setdefault(tag.field, []).append(tag)
            for field, edit in edits.items():
                if edit.value:
                    found.setdefault(field, Counter())[edit.value, edit.source] += 1
            for field, inside in by_field.items():
                found.setdefault(field, Counter()).update((tag.value, tag.source) for tag in inside)
            for field in {*by_field, *edits, *WORD_FIELDS}:
                value = _value(clips[clip_id], by_field.get(field, ()), edits, field)
                counting.setdefault(field, Counter())[value] += 1
        return {
            field: _shown(values, len(clips), edited[field], found.get(field, Counter()))
            for field, values in counting.items()
        }

    def values(self, field: str, limit: int = 200) -> list[str]:
        """Values that a field has anywhere in the library, the most frequent first, to choose from."""
        rows = self._catalog.rows(
            "SELECT value, count(*) AS n FROM (SELECT value FROM tags WHERE field = :field UNION ALL "
            "SELECT value FROM edits WHERE field = :field AND value != '') GROUP BY value "
            "ORDER BY n DESC, value LIMIT :limit",
            {"field": field, "limit": limit},
        )
        return [row[0] for row in rows]

    def current(self, clip: Clip, fields: Iterable[str]) -> dict[str, str]:
        """The values of some fields that count now."""
        tags, edits = self._catalog.file_tags(clip.id), self._catalog.edits(clip.id)
        return {field: _value(clip, tags, edits, field) for field in fields}

    # --- changing

    def set_fields(self, ids: Collection[str], values: Mapping[str, str], label: str = "") -> list[str]:
        """Sets fields of some clips; an empty value counts as one. One step to take back.

        A CatID brings its category and subcategory along; a category and subcategory of the UCS their CatID.

        Returns:
            Ids of the clips that changed.

        Raises:
            CatalogError: a field cannot be edited, or there is no such CatID.
        """
        cleaned = _checked(values)
        clips = self._catalog.clips(ids)
        changes = {clip.id: _with_category(clip, cleaned) for clip in clips.values()}
        names = ", ".join(field.label.lower() for field in FIELDS if field.name in values)
        return self.apply(changes, label or f"Edit {names}")

    def apply(
        self, changes: Mapping[str, Mapping[str, str]], label: str, *, source: str = "edit"
    ) -> list[str]:
        """Sets values by clip id and field as one step; see :meth:`set_fields`."""
        clips = self._catalog.clips(changes)
        document: list[list[Any]] = []
        edits: dict[str, dict[str, Edit | None]] = {}
        for clip in clips.values():
            tags, known = self._catalog.file_tags(clip.id), self._catalog.edits(clip.id)
            words = effective(tags)
            for field, value in changes[clip.id].items():
                before = _value(clip, tags, known, field)
                own = words[field] if field in WORD_FIELDS else best(tags, field)
                after = None if value == own else Edit(value, source)
                if value == before and (after is None) == (known.get(field) is None):
                    continue
                edits.setdefault(clip.id, {})[field] = after
                document.append([clip.id, field, known.get(field), before, after, value])
        if not document:
            return []
        with self._catalog.write():
            changed = self._catalog.put_edits(edits)
            self._catalog.add_step(KIND, label, document)
        return changed

    def revert(self, ids: Iterable[str], fields: Collection[str] | None = None) -> list[str]:
        """Lets the files' own values count again (``fields`` None: all); one step to take back."""
        changes: dict[str, dict[str, str]] = {}
        for clip_id in self._catalog.clips(ids):
            tags = self._catalog.file_tags(clip_id)
            edits = self._catalog.edits(clip_id)
            wanted = set(edits) if fields is None else set(fields) & set(edits)
            if wanted & set(_CATEGORY):
                wanted |= set(_CATEGORY) & set(edits)
            changes[clip_id] = {field: _file_value(tags, field) for field in wanted}
        return self.apply({i: fields for i, fields in changes.items() if fields}, "Back to the files' values")

    # --- taking back

    def undo(self, step: Step) -> list[str]:
        """Takes a step of this kind back; gives the ids of the clips that changed."""
        return self._put(step, [(i, field, before, value) for i, field, before, value, _, _ in step.document])

    def redo(self, step: Step) -> list[str]:
        """Does a step again that was taken back."""
        return self._put(step, [(i, field, after, value) for i, field, _, _, after, value in step.document])

    def _put(self, step: Step, wanted: Sequence[tuple[str, str, Any, str]]) -> list[str]:
        """Sets edits as they were. Where the file's own value has changed since, the old one is an edit."""
        edits: dict[str, dict[str, Edit | None]] = {}
        for clip_id, field, edit, value in wanted:
            found = Edit(*edit) if edit else None
            if found is None and _file_value(self._catalog.file_tags(clip_id), field) != value:
                found = Edit(value, "edit")
            edits.setdefault(clip_id, {})[field] = found
        with self._catalog.write():
            changed = self._catalog.put_edits(edits)
            self._catalog.mark_step(step.number, undone=not step.undone)
        return changed


def _shown(values: Counter[str], clips: int, edited: int, found: Counter[tuple[str, str]]) -> Shown:
    missing = clips - values.total()
    if missing:
        values[""] += missing
    mixed = len(values) > 1
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return Shown(
        "" if mixed else next(iter(values), ""),
        mixed,
        edited,
        tuple(Value(value, source, count) for (value, source), count in ranked),
    )


def _checked(values: Mapping[str, str]) -> dict[str, str]:
    cleaned = {}
    for field, value in values.items():
        if field not in EDITABLE:
            raise CatalogError(f"The field {field} cannot be edited.")
        cleaned[field] = clean(value)
    catid = cleaned.get("catid")
    if catid:
        cleaned["catid"] = ucs.canonical(catid)
        if not cleaned["catid"]:
            raise CatalogError(
                f"The UCS has no CatID {catid}.", hint="Choose one of its categories, or leave it empty."
            )
    return cleaned


def _with_category(clip: Clip, values: dict[str, str]) -> dict[str, str]:
    """``values`` with category, subcategory and CatID made to agree."""
    if "catid" in values:
        catid = values["catid"]
        category, subcategory = ucs.table()[catid] if catid else ("", "")
        return {**values, "category": category, "subcategory": subcategory}
    if not {"category", "subcategory"} & values.keys():
        return values
    category = values.get("category", clip.category)
    subcategory = values.get("subcategory", clip.subcategory)
    return {**values, "catid": ucs.catid_of(category, subcategory)}


def _value(clip: Clip, tags: Sequence[Tag], edits: Mapping[str, Edit], field: str) -> str:
    """The value that counts."""
    if field in WORD_FIELDS:
        return str(getattr(clip, field))
    return edits[field].value if field in edits else best(tags, field)


def _file_value(tags: Sequence[Tag], field: str) -> str:
    """The value that would count without the user's edits."""
    return effective(tags)[field] if field in WORD_FIELDS else best(tags, field)
