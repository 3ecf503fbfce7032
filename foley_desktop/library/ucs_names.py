"""File names by the UCS for clips of the library: what each part is taken from, and what is missing.

Parts come from the name a clip has, where that is a UCS name already, then from its tags, then from what the
user gave for the whole batch.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foley_desktop.audio.tags import best
from foley_desktop.library import ucs
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.file_names import LONGEST_BYTES, fitted, tame
from foley_desktop.library.text import split_words
from foley_desktop.models import Clip, Tag


@dataclass(frozen=True, slots=True)
class NameParts:
    """What a batch of names shares; each is used where a clip has nothing of its own.

    ``replace`` takes the batch's creator and source even where a clip has others. ``longest`` bounds a name's
    bytes; the effect's name is what is cut.
    """

    creator: str = ""
    source: str = ""
    user_category: str = ""
    user_data: str = ""
    replace: bool = False
    longest: int = LONGEST_BYTES


@dataclass(frozen=True, slots=True)
class UcsFileName:
    """A name with extension, and sentences about what it lacks to be a whole one."""

    name: str
    lacks: tuple[str, ...] = ()


def ucs_names(catalog: Catalog, ids: Sequence[str], parts: NameParts) -> dict[str, UcsFileName]:
    """UCS names of some clips by id. Names that would be the same get a number behind the effect's name."""
    clips = catalog.clips(ids)
    made: dict[str, UcsFileName] = {}
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
    stem, extension = os.path.splitext(clip.name)
    current = ucs.parse_name(stem)
    catid = clip.catid
    lacks = [] if catid else ["The clip has no category yet."]
    fx_name = _fx_name(clip, stem, current)
    creator = _chosen(parts.creator, parts.replace, current.creator if current else "", best(tags, "creator"))
    source = _chosen(parts.source, parts.replace, current.source if current else "", best(tags, "source_id"))
    lacks += [] if creator else ["The creator's ID is missing."]
    lacks += [] if source else ["The source's ID is missing."]
    lacks += [] if fx_name else ["The effect has no name."]
    category, subcategory = ucs.table().get(catid, ("", ""))
    wanted = ucs.UcsName(
        catid,
        category,
        subcategory,
        tame(_first(current.user_category if current else "", parts.user_category)),
        fx_name + (f" {number}" if number > 1 else ""),
        tame(creator),
        tame(source),
        tame(_first(current.user_data if current else "", parts.user_data)),
        tame(current.vendor_category if current else ""),
    )
    if not catid:
        return UcsFileName(clip.name, tuple(lacks))
    return UcsFileName(_within(wanted, extension, parts.longest, number), tuple(lacks))


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
