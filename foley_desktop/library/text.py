"""The words of a clip: what the meaning ranker embeds and the keyword index takes in.

Whole paths drown a clip's meaning in words that all clips share, so a name is cleaned (case, digits
and separators split; take numbers and codes dropped; UCS codes spelt out), and of the folders above it
only the nearest that speaks of sound comes in. What that means is taken from the UCS: its categories
name what sounds and how, whereas package, product and author names are not in it.
"""

from __future__ import annotations

import functools
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence

from foley_desktop.index.protocols import Document
from foley_desktop.library import ucs
from foley_desktop.library.codes import is_code
from foley_desktop.library.database import as_text, guessed_text
from foley_desktop.models import Clip, Tag

TEXT_VERSION = "3"
"""Changes whenever :func:`meaning_text` gives other words, so that their vectors are made anew."""

DOCUMENT_VERSION = "3"
"""Changes whenever :func:`keyword_document` gives other words, so that the index takes them in anew."""


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_GENERIC = _set_of(
    """
    a all audio audiofiles audiolib base bin build clip clips common content contents data default
    doc docs download downloads effect effects export exported exports file files final flac fx
    games home lib library libraries local main master media misc mnt mono mp3 music new ogg old opt
    other output pack package pack1 packs private public raw recording recordings res resource
    resources sample samples sfx share shared snd sound soundeffects soundfx sounds soundset src
    stereo system take takes temp tmp track tracks untitled user users usr various version versions
    volumes wav wave waves wavs
    """
)
"""Folder words that say nothing about a sound."""

_VAGUE = _set_of(
    """
    activity adr archived asset board body by commercial composite container controlled data
    designed equipment experimental game general generic group grab hard high historical hitech in
    interface large loop lofi misc mix motion movement musical natural object of place presence
    production progres prop public quiet real recreational reference sample scene small source test
    tonal tone track trademarked traditional user utility video visual work wtf
    """
)
"""Words of the UCS that say nothing about a sound when a folder is called so, in the singular."""

_NOISE = _set_of(
    """
    sfx fx snd sound sounds wav wave ogg mp3 flac aiff aif take tk ver version copy final master mix
    edit mono stereo st lr khz hz bit kbps untitled
    """
)
"""Words of a file name that say nothing about a sound, as long as other words remain."""

_ANY_FILE = _set_of("audio clip file id item nr number recording sample track")
"""Words that stand before the code of a file that has no name."""

_CAMEL = re.compile(
    r"(?<=[a-zà-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]{2})|(?<=[^\W\d_]{3})(?=\d)|(?<=\d)(?=[^\W\d_]{3})"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_JUNK = re.compile(
    r"https?:|www\.|@|\.(?:com|org|net)\b|©|\(c\)|copyright|creative commons|\bcc[- ]by|\bno id\b"
    r"|\b(?:processed|encoded|made|created|generated|edited|converted|ripped|exported|mastered|modified"
    r"|resampled)\b.{0,12}\b(?:by|with|in|at|from|using|for)\b|\bgenerated sound file\b|\brecorded on\b"
    r"|sound forge|audacity|\bpro tools\b|\blavf|\blame\b|\bsox\b|^resampled$|converter|sample mix|iphone",
    re.IGNORECASE,
)
_ARCHIVE = re.compile(r"\.\w{1,4}\Z")
"""Folders named like a file are unpacked archives, not places for sounds of a kind."""

_NO_LABELS = _set_of(
    "category_full url copyright user_data date time time_reference umid software coding_history"
) | {
    "track",
    "language",
    "encoded by",
    "loudness",
    "loudness range",
    "true peak",
    "momentary loudness",
    "short-term loudness",
    "master speed",
    "current speed",
    "timecode rate",
    "timecode flag",
}
"""Fields whose values nobody searches for: dates, measures, tools and addresses would only be in the way."""

_LONGEST = 300
"""Characters of a tag that are looked at."""

_TAKE = re.compile(r"\d+|[vxbm]\d+|\d+[a-z]{1,2}|[a-z]0\d*|[a-z]|\d+x", re.IGNORECASE)


def split_words(text: str) -> list[str]:
    """Words of a name: split at separators, at a change of case and between letters and digits."""
    plain = unicodedata.normalize("NFKC", guessed_text(text))
    return _WORD.findall(_CAMEL.sub(" ", plain))


def clean_name(stem: str) -> str:
    """A file name (without extension) as words that tell what is heard, lower case.

    Take numbers, codes and words like ``sfx`` are dropped unless nothing else would remain. Of a UCS
    name the effect's name and what its CatID stands for are kept, not who made it.
    """
    name = ucs.parse_name(stem)
    if name is None:
        return " ".join(_telling(split_words(stem)))
    words = _telling(split_words(f"{name.vendor_category} {name.fx_name} {name.user_category}"))
    return " ".join(_once([*words, *_category_words(name.category, name.subcategory)]))


def _telling(words: Iterable[str]) -> list[str]:
    lower = [word.lower() for word in words]
    named = [word for word in lower if not _TAKE.fullmatch(word)]
    telling = [word for word in named if word not in _NOISE]
    return telling or named or lower


def _category_words(category: str, subcategory: str) -> list[str]:
    words = [word.lower() for word in split_words(f"{subcategory} {category}")]
    return [word for word in words if word not in ("misc", "general")]


def nearest_folders(rel_path: str, root: str = "", count: int = 1, *, any_words: bool = False) -> str:
    """Words of the ``count`` nearest folders that speak of sound, the nearest last, lower case.

    Args:
        rel_path: The clip's path below its root.
        root: The root's own path; its name counts as the farthest folder.
        any_words: Takes any words that are not generic, for a clip whose name says nothing.
    """
    folders = [os.path.basename(root), *rel_path.replace(os.sep, "/").split("/")[:-1]]
    found: list[str] = []
    for folder in reversed(folders):
        if _ARCHIVE.search(folder):
            continue
        words = [word.lower() for word in split_words(folder)]
        words = [word for word in words if word not in _GENERIC and not _TAKE.fullmatch(word)]
        if not any_words:
            words = [word for word in words if _singular(word) in _sound_words()]
        if words:
            found.insert(0, " ".join(words))
        if len(found) == count:
            break
    return " ".join(found)


@functools.cache
def _sound_words() -> frozenset[str]:
    """The words of the UCS' categories and subcategories, in the singular."""
    words = (word for _, *pair in ucs.categories() for name in pair for word in split_words(name))
    return frozenset(_singular(word.lower()) for word in words) - _VAGUE


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def meaning_text(clip: Clip, tags: Sequence[Tag] = ()) -> str:
    """What a clip says about itself, as a short text for the text embedder; empty if it says nothing.

    The cleaned name with the nearest telling folder in front, then title, description, keywords and
    the user's own tags as far as they add words. A name that is a mere code is left out.
    """
    stem = os.path.splitext(clip.name)[0]
    name = "" if _is_code(stem) else clean_name(stem)
    says_nothing = all(_TAKE.fullmatch(word) or word in _NOISE for word in name.split())
    folders = nearest_folders(clip.rel_path, _root(clip), any_words=says_nothing)
    named = {_singular(word) for word in name.split()}
    words = [word for word in folders.split() if _singular(word) not in named]
    parts = [" ".join(_once([*words, *name.split()]))]
    said = named | {_singular(word) for word in words}
    own = " ".join(tag.value for tag in tags if tag.source == "user")
    category = " ".join(_category_words(clip.category, clip.subcategory))
    for value in (clip.title, clip.description, clip.keywords, category, own):
        told = telling_words(value)
        if any(_singular(word) not in said for word in told):
            parts.append(" ".join(told))
            said.update(_singular(word) for word in told)
    return ". ".join(part for part in parts if part)


def _is_code(stem: str) -> bool:
    """Whether a name is a code alone, or beside words that say nothing: ``clip_8f3a09c2``."""
    words = [word.lower() for word in _WORD.findall(guessed_text(stem))]
    return all(word in _NOISE or word in _ANY_FILE or is_code(word) for word in words)


def _once(words: Iterable[str]) -> list[str]:
    """Words without those that came before in the singular or plural."""
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(_singular(word), word)
    return list(first.values())


def telling_words(value: str) -> list[str]:
    """Words of a tag as far as they speak of the sound; none of addresses, licences and tool names."""
    value = value[:_LONGEST]
    if _JUNK.search(value):
        return []
    words = [word.lower() for word in split_words(value)]
    words = [word for word in words if not _TAKE.fullmatch(word)]
    return words if any(word not in _NOISE for word in words) else []


def keyword_document(clip: Clip, tags: Sequence[Tag] = ()) -> Document:
    """The words of a clip by field, as the keyword index takes them; ``tags`` is all that was written of it.

    Labels that no field of its own shows (designer, track names, a title that another one outdid) are found
    like words of the description.
    """
    stem, extension = os.path.splitext(clip.name)
    said = {clip.title, clip.description, clip.keywords, clip.category, clip.subcategory, clip.catid, ""}
    others = (tag.value for tag in tags if tag.field not in _NO_LABELS and tag.source != "user")
    labels = dict.fromkeys(value for value in others if value not in said and value not in clip.keywords)
    return Document(
        clip_id=clip.id,
        name=_findable(stem),
        folder=_findable(f"{_root_words(clip)} {clip.rel_path.rpartition('/')[0]}".strip()),
        title=clip.title,
        description=" ".join([clip.description, *labels]).strip(),
        keywords=clip.keywords,
        category=f"{clip.category} {clip.subcategory} {clip.catid}".strip(),
        tags=" ".join(tag.value for tag in tags if tag.source == "user"),
        ext=as_text(extension[1:].lower()),
    )


def _findable(name: str) -> str:
    """A name as it is probably meant, and where bytes of it are no text also as it is shown."""
    guessed, shown = guessed_text(name), as_text(name)
    return guessed if guessed == shown else f"{guessed} {shown}"


def _root(clip: Clip) -> str:
    return clip.path[: -len(clip.rel_path)].rstrip(os.sep) if clip.rel_path else ""


def _root_words(clip: Clip) -> str:
    """The name of the root as far as it is no word that any folder of sounds may be called by."""
    words = split_words(os.path.basename(_root(clip)))
    return " ".join(word for word in words if word.lower() not in _GENERIC)
