"""What people call the sounds of each category of the UCS: phrases of our own, to compare clips with.

The table is ``resources/ucs/words.tsv``; a category's own name and subcategory are phrases too.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from foley_desktop.errors import FoleyError
from foley_desktop.index.words import stems
from foley_desktop.library import ucs
from foley_desktop.library.text import split_words
from foley_desktop.settings import resource

_NOT_SAID = frozenset(["misc", "general", "source"])
_LITTLE_WORDS = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "into", "it", "of", "on", "or", "the", "to", "with"]
)
_PACK_SCALE = 480.0
"""A coordinate of a unit vector in 384 dimensions hardly ever reaches 127 / 480."""

NEVER = frozenset(catid for catid, (category, _) in ucs.table().items() if category == "ARCHIVED")
"""Categories for files of a production's own, which no sound and no name suggests."""


class Phrase(NamedTuple):
    """What some sounds of a category are called; ``stems`` are its words without endings."""

    catid: str
    text: str
    stems: frozenset[str]


@functools.cache
def phrases() -> tuple[Phrase, ...]:
    """All phrases, those of one category together, in the table's order."""
    own, by_subcategory = _lines()
    found: list[Phrase] = []
    for catid, category, subcategory in ucs.categories():
        if catid in NEVER:
            continue
        name = " ".join(word.lower() for word in split_words(category))
        part = " ".join(w for word in split_words(subcategory) if (w := word.lower()) not in _NOT_SAID)
        texts = own.get(catid, [])
        if not texts and subcategory in by_subcategory:
            texts = [f"{name} {phrase}" for phrase in by_subcategory[subcategory]]
        # The general category alone may be called by the category's name: "doors" is no sliding door.
        texts = [*texts, f"{part} {name}".strip() if part else name]
        for text in dict.fromkeys(texts):
            found.append(Phrase(catid, text, stemmed(text)))
    return tuple(found)


def _lines() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Phrases by CatID, and by subcategory for those that have no line of their own."""
    own: dict[str, list[str]] = {}
    by_subcategory: dict[str, list[str]] = {}
    for line in resource("ucs/words.tsv").read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        key, _, rest = line.partition("\t")
        texts = [text for part in rest.split(";") if (text := part.strip())]
        if key.startswith("* "):
            by_subcategory[key[2:]] = texts
        else:
            own[key] = texts
    return own, by_subcategory


def stemmed(text: str) -> frozenset[str]:
    """The telling words of a text, lower case, without endings."""
    words = [word.lower() for word in split_words(text)]
    return frozenset(stems([word for word in words if word not in _LITTLE_WORDS]))


@functools.cache
def weights() -> Mapping[str, float]:
    """How telling each stem is: the fewer categories use it, the more."""
    used: Counter[str] = Counter()
    for catid_words in _words_by_catid().values():
        used.update(catid_words)
    total = len(_words_by_catid())
    return {word: math.log(1 + total / count) for word, count in used.items()}


@functools.cache
def _words_by_catid() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for phrase in phrases():
        found.setdefault(phrase.catid, set()).update(phrase.stems)
    return {catid: frozenset(words) for catid, words in found.items()}


def words_scores(words: Iterable[str]) -> dict[str, float]:
    """How well each category's phrases are said by some stems, from 0 to about 1; zeros are left out.

    A phrase counts by how much of it is said, and by how much of what is said it explains.
    """
    said = frozenset(words)
    weight = weights()
    total = sum(weight.get(word, 0.0) for word in said)
    best: dict[str, float] = {}
    if not total:
        return best
    for phrase in phrases():
        common = phrase.stems & said
        if not common:
            continue
        shared = sum(weight[word] for word in common)
        whole = sum(weight[word] for word in phrase.stems)
        score = (shared / whole) ** 1.5 * (shared / total) ** 0.5
        best[phrase.catid] = max(best.get(phrase.catid, 0.0), score)
    return best


@functools.cache
def version() -> str:
    """Changes whenever the phrases do."""
    digest = hashlib.blake2b(digest_size=6)
    for phrase in phrases():
        digest.update(f"{phrase.catid} {phrase.text}\n".encode())
    return digest.hexdigest()


# --- vectors of the phrases, as they are shipped


def packed(vectors: np.ndarray) -> np.ndarray:
    """Unit vectors as int8, whose cosines are right to about 0.005."""
    return np.clip(np.rint(vectors * _PACK_SCALE), -127, 127).astype(np.int8)


def shipped_vectors(model_id: str) -> np.ndarray | None:
    """The vectors of all phrases in a model's space, float32 ``(phrases, dim)``; None for another model."""
    try:
        with np.load(resource("ucs/words.npz")) as file:
            if (str(file["model_id"]), str(file["version"])) != (model_id, version()):
                return None
            vectors = file["vectors"].astype(np.float32)
    except (OSError, ValueError, KeyError, FoleyError):
        return None
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
