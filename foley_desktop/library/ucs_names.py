"""File names by the UCS for clips of the library: what each part is taken from, and what is missing.

Parts come from the name a clip has, where that is a UCS name already, then from its tags, then from what the
user gave for the whole batch.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foley_desktop.audio.tags import best
from foley_desktop.library import name_template, ucs
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.file_names import LONGEST_BYTES, fitted, tame
from foley_desktop.library.name_template import UCS_PATTERN
from foley_desktop.library.text import split_words
from foley_desktop.models import Clip, Tag


@dataclass(frozen=True, slots=True)
class NameParts:
    """What a batch of names shares; each is used where a clip has nothing of its own.

    ``replace`` takes the batch's creator and source even where a clip has others. ``longest`` bounds a name's
    bytes; the effect's name is what is cut. ``pattern`` is one of :mod:`foley_desktop.library.name_template`.
    """

    creator: str = ""
    source: str = ""
    user_category: str = ""
    user_data: str = ""
    replace: bool = False
    longest: int = LONGEST_BYTES
    pattern: str = UCS_PATTERN


@dataclass(frozen=True, slots=True)
class UcsFileName:
    """A name with extension, and sentences about what it lacks to be a whole one."""

    name: str
    lacks: tuple[str, ...] = ()


def ucs_names(catalog: Catalog, ids: Sequence[str], parts: NameParts) -> dict[str, UcsFileName]:
    """UCS names of some clips by id. Names that would be the same get a number behind the effect's name.

    Raises:
        RenameError: the pattern cannot be used.
    """
    clips = catalog.clips(ids)
    made: dict[str, UcsFileName] = {}
    if parts.pattern != UCS_PATTERN:
        for place, clip in enumerate(clips.values(), start=1):
            made[clip.id] = _by_pattern(clip, _wanted(clip, catalog.tags(clip.id), parts, 1), parts, place)
        return made
    taken: set[str] = set()
    for clip in clips.values():
        tags = catalog.tags(clip.id)
        number, found = 1, ucs_name(clip, tags, parts)
        while found.name.casefold() in taken:
            number += 1
            found = ucs_name(clip, tags, parts, number)
        taken.add(found.name.casefold())
        made[clip.id] = found
    return made


def ucs_name(clip: Clip, tags: Sequence[Tag], parts: NameParts, number: int = 1) -> UcsFileName:
    """The UCS name of one clip; ``number`` from 2 on tells it from others of the same name."""
    wanted = _wanted(clip, tags, parts, number)
    lacks = _lacks(wanted, ("catid", "creator", "source", "fx_name"))
    if not wanted.catid:
        return UcsFileName(clip.name, lacks)
    extension = os.path.splitext(clip.name)[1]
    return UcsFileName(_within(wanted, extension, parts.longest, number), lacks)


_LACKING = {
    "catid": "The clip has no category yet.",
    "creator": "The creator's ID is missing.",
    "source": "The source's ID is missing.",
    "fx_name": "The effect has no name.",
}


def _lacks(wanted: ucs.UcsName, needed: Sequence[str]) -> tuple[str, ...]:
    return tuple(words for part, words in _LACKING.items() if part in needed and not getattr(wanted, part))


def _by_pattern(clip: Clip, wanted: ucs.UcsName, parts: NameParts, place: int) -> UcsFileName:
    """A name by the user's own pattern; what is too long is cut at its end."""
    stem, extension = os.path.splitext(clip.name)
    values = wanted._asdict() | {
        "title": tame(clip.title),
        "description": tame(clip.description),
        "name": tame(stem),
        "number": f"{place:03}",
    }
    made = tame(name_template.fill(parts.pattern, values))
    lacks = _lacks(wanted, name_template.parts_of(parts.pattern))
    return UcsFileName(fitted(made, extension, parts.longest) if made else clip.name, lacks)


def _wanted(clip: Clip, tags: Sequence[Tag], parts: NameParts, number: int) -> ucs.UcsName:
    """The parts of a clip's name, each from where it is known best."""
    stem = os.path.splitext(clip.name)[0]
    current = ucs.parse_name(stem)
    fx_name = _fx_name(clip, stem, current)
    creator = _chosen(parts.creator, parts.replace, current.creator if current else "", best(tags, "creator"))
    source = _chosen(parts.source, parts.replace, current.source if current else "", best(tags, "source_id"))
    category, subcategory = ucs.table().get(clip.catid, ("", ""))
    return ucs.UcsName(
        clip.catid,
        category,
        subcategory,
        tame(_first(current.user_category if current else "", parts.user_category)),
        fx_name + (f" {number}" if number > 1 else ""),
        tame(creator),
        tame(source),
        tame(_first(current.user_data if current else "", parts.user_data)),
        tame(current.vendor_category if current else ""),
    )


def _within(name: ucs.UcsName, extension: str, longest: int, number: int) -> str:
    """The composed name, with the effect's name cut so far that all of it fits."""
    ending = f" {number}" if number > 1 else ""
    fx_name = name.fx_name.removesuffix(ending)
    whole = ucs.compose(name) + extension
    while len(os.fsencode(whole)) > longest and fx_name:
        over = len(os.fsencode(whole)) - longest
        fx_name = fitted(fx_name, "", max(0, len(os.fsencode(fx_name)) - over))
        whole = ucs.compose(name._replace(fx_name=fx_name + ending)) + extension
    return whole


def _fx_name(clip: Clip, stem: str, current: ucs.UcsName | None) -> str:
    """The effect's name: of a UCS name its own, otherwise the title, otherwise the words of the name."""
    if current is not None and current.fx_name:
        return tame(current.fx_name)
    if clip.title:
        return tame(clip.title.replace("_", " "))
    words = split_words(stem)
    return tame(" ".join(word if not word.islower() else word.capitalize() for word in words))


def _chosen(given: str, replace: bool, *own: str) -> str:
    return _first(given, *own) if replace else _first(*own, given)


def _first(*values: str) -> str:
    return next((value for value in values if value.strip()), "")


def new_names(names: Mapping[str, UcsFileName]) -> dict[str, str]:
    """The names alone, by id."""
    return {clip_id: found.name for clip_id, found in names.items()}
