"""The words of a clip: what the meaning ranker embeds and the keyword index takes in.

Whole paths drown a clip's meaning in words that all clips share, so a name is cleaned (case, digits
and separators split; take numbers and codes dropped; UCS codes spelt out) and only the nearest folders
that say something stand beside it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence

from foley_desktop.index.protocols import Document
from foley_desktop.library import ucs
from foley_desktop.library.database import as_text
from foley_desktop.models import Clip, Tag

TEXT_VERSION = "1"
"""Changes whenever :func:`meaning_text` gives other words, so that their vectors are made anew."""


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_GENERIC = _set_of(
    """
    a all audio audiofiles audiolib base bin build clip clips common content contents data default
    doc docs download downloads effect effects export exported exports file files final flac fx
    games home lib library libraries local main master media misc mnt mono mp3 music new ogg old opt
    other output pack package pack1 packs private public raw recording recordings res resource
    resources sample samples sfx share shared snd sound soundeffects soundfx sounds soundset src
    stereo system temp tmp track tracks untitled user users usr various version versions volumes wav
    wave waves wavs
    """
)
"""Folder words that say nothing about a sound."""

_NOISE = _set_of(
    """
    sfx fx snd sound sounds wav wave ogg mp3 flac aiff aif take tk ver version copy final master mix
    edit mono stereo st lr khz hz bit kbps untitled
    """
)
"""Words of a file name that say nothing about a sound, as long as other words remain."""

_CAMEL = re.compile(
    r"(?<=[a-zà-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]{2})|(?<=[^\W\d_]{3})(?=\d)|(?<=\d)(?=[^\W\d_]{3})"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_TAKE = re.compile(r"\d+|[vxbm]\d+|\d+[a-z]{1,2}|[a-z]0\d*|[a-z]|\d+x", re.IGNORECASE)


def split_words(text: str) -> list[str]:
    """Words of a name: split at separators, at a change of case and between letters and digits."""
    plain = unicodedata.normalize("NFKC", as_text(text))
    return _WORD.findall(_CAMEL.sub(" ", plain))


def clean_name(stem: str) -> str:
    """A file name (without extension) as words that tell what is heard, lower case.

    Take numbers, codes and words like ``sfx`` are dropped unless nothing else would remain. Of a UCS
    name the effect's name and what its CatID stands for are kept, not who made it.
    """
    name = ucs.parse_name(stem)
    if name is None:
        return " ".join(_telling(split_words(stem)))
    words = _telling(split_words(f"{name.fx_name} {name.user_category}"))
    return " ".join(dict.fromkeys([*words, *_category_words(name.category, name.subcategory)]))


def _telling(words: Iterable[str]) -> list[str]:
    lower = [word.lower() for word in words]
    named = [word for word in lower if not _TAKE.fullmatch(word)]
    telling = [word for word in named if word not in _NOISE]
    return telling or named or lower


def _category_words(category: str, subcategory: str) -> list[str]:
    return [
        word.lower() for word in split_words(f"{subcategory} {category}") if word.lower() not in ("misc", "&")
    ]


def nearest_folders(rel_path: str, root: str = "", count: int = 2) -> str:
    """Words of the ``count`` nearest folders that say something, the nearest last, lower case.

    Args:
        rel_path: The clip's path below its root.
        root: The root's own path; its name is used when no folder below it says anything.
    """
    *folders, _ = rel_path.replace(os.sep, "/").split("/")
    found: list[str] = []
    for folder in reversed(folders):
        words = _folder_words(folder)
        if words:
            found.insert(0, " ".join(words))
        if len(found) == count:
            break
    return " ".join(found)


def _folder_words(folder: str) -> list[str]:
    if re.search(r"\.\w{1,4}$", folder):
        return []
    words = [word.lower() for word in split_words(folder)]
    return [word for word in words if word not in _GENERIC and not _TAKE.fullmatch(word)]


def meaning_text(clip: Clip, tags: Sequence[Tag] = ()) -> str:
    """What a clip says about itself, as one line for the text embedder."""
    stem = os.path.splitext(clip.name)[0]
    parts = [clean_name(stem), nearest_folders(clip.rel_path)]
    return ". ".join(part for part in parts if part)


def keyword_document(clip: Clip, tags: Sequence[Tag] = ()) -> Document:
    """The words of a clip by field, as the keyword index takes them."""
    stem, extension = os.path.splitext(clip.name)
    folders = clip.rel_path.rpartition("/")[0]
    own = [tag.value for tag in tags if tag.source == "user"]
    other = [
        tag.value for tag in tags if tag.source != "user" and tag.field in ("keywords", "comment", "album")
    ]
    return Document(
        clip_id=clip.id,
        name=_text(stem),
        folder=_text(folders),
        title=clip.title,
        description=clip.description,
        keywords=" ".join([clip.keywords, *other]).strip(),
        category=f"{clip.category} {clip.subcategory} {clip.catid}".strip(),
        tags=" ".join(own),
        ext=extension[1:].lower(),
    )


def _text(value: str) -> str:
    return as_text(value)
