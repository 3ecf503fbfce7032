"""Which of a clip's many values counts: the words by which it is shown, searched and filtered.

A pure function of everything that was written about the clip, so that the outcome is the same whether a
file was just read or a user's edit was just taken back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foley_desktop.audio.foreign_chunks import FOREIGN_SOURCES
from foley_desktop.audio.tags import best
from foley_desktop.library import ucs
from foley_desktop.models import Tag

WORD_FIELDS = ("title", "description", "keywords", "category", "subcategory", "catid")
"""The fields that a clip carries itself; every other one stands in its tags alone."""


def effective(tags: Sequence[Tag], edits: Mapping[str, str] | None = None) -> dict[str, str]:
    """The value of each of :data:`WORD_FIELDS`.

    Args:
        tags: What the file, its name and the files beside it say.
        edits: What the user set instead, by field; an empty value counts too.
    """
    category, subcategory, catid = _category(tags)
    found = {
        "title": best(tags, "title"),
        "description": best(tags, "description") or best(tags, "comment"),
        "keywords": ", ".join(_keywords(tags)),
        "category": category,
        "subcategory": subcategory,
        "catid": catid,
    }
    return found | {field: value for field, value in (edits or {}).items() if field in found}


def _keywords(tags: Sequence[Tag]) -> list[str]:
    """Keywords of all places together; of places that are never written only where there are no others."""
    found = [tag for tag in tags if tag.field == "keywords"]
    ours = [tag for tag in found if tag.source not in FOREIGN_SOURCES]
    return list(dict.fromkeys(tag.value for tag in ours or found))


def _category(tags: Sequence[Tag]) -> tuple[str, str, str]:
    """Category, SubCategory and CatID: from a CatID, from category tags, or from the file's name."""
    catid = ucs.canonical(best(tags, "catid"))
    if catid:
        return (*ucs.table()[catid], catid)
    category, subcategory = best(tags, "category"), best(tags, "subcategory")
    catid = ucs.catid_of(category, subcategory)
    if catid:
        return (*ucs.table()[catid], catid)
    return category, subcategory, ""
