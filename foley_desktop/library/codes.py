"""Names that are mere codes: ``8f3a09c2``, ``xk_qzvwp``, ``0042``.

Models of language make something of any letters, so a code would stand somewhere among the meanings and get
in the way of clips that mean something, and of the sound. A word is taken for a code when it changes between
letters and digits more than names do, or when it is unknown and its letters follow one another as those of
words do not. What follows what is learnt from the words of sounds that come with the application; scripts
other than the Latin one are never taken for codes.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

from foley_desktop.index.words import fold_accents, stems
from foley_desktop.settings import resource

LEAST_PLAUSIBLE = -3.4
"""Mean logarithm of the chance of each letter after the one before, below which letters make no word."""

SHORTEST = 4
"""Shorter unknown words are judged by their vowels alone: too few letters to tell."""

_WORD_LISTS = ("ucs/ucs-8.2.csv", "words/synonyms.tsv", "compact/phrases.txt")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LATIN = re.compile(r"[a-z]{2,}")
_PIECES = re.compile(r"[a-z]+|\d+")
_MOST_PIECES = 2
_HEX = re.compile(r"[0-9a-f]{6,}")
_MANY_PARTS, _SHORT_PART = 4, 3
_SHORTEST_HALF = 3
_SMOOTHING = 0.3


def is_code(word: str) -> bool:
    """Whether a run of letters and digits, in any case, says nothing to a reader."""
    plain = fold_accents(word)
    folded = plain.casefold()
    if not folded.isascii():
        return False
    pieces = _PIECES.findall(folded)
    letters = [piece for piece in pieces if piece.isalpha()]
    parts = [part.lower() for part in _CAMEL.sub(" ", plain).split()]
    if any(_is_known(piece) for piece in {*letters, *parts} if len(piece) >= SHORTEST):
        return False
    if not letters or len(pieces) > _MOST_PIECES or (len(pieces) > 1 and _HEX.fullmatch(folded)):
        return True
    if len(parts) >= _MANY_PARTS and len(folded) < _SHORT_PART * len(parts):
        return True
    longest = max(letters, key=len)
    if len(longest) < SHORTEST:
        return longest not in _known() and (
            len(pieces) > 1 or not any(vowel in longest for vowel in "aeiouy")
        )
    return plausibility(longest) < LEAST_PLAUSIBLE


def _is_known(word: str) -> bool:
    """Whether a word, or both words that it is made of, are among those of sounds."""
    known = _known()
    return word in known or stems([word])[0] in known or halves(word) is not None


def halves(word: str) -> tuple[str, str] | None:
    """The two words of sounds that an unknown one is made of, as in ``heavytraffic``; None for any other.

    Args:
        word: In lower case.
    """
    known = _known()
    if word in known:
        return None
    cuts = range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1)
    found = [(word[:cut], word[cut:]) for cut in cuts if word[:cut] in known and word[cut:] in known]
    # Of several the one of the most even halves: short words are found by chance.
    return max(found, key=lambda pair: min(map(len, pair)), default=None)


def all_codes(words: Iterable[str]) -> bool:
    """Whether none of the words says anything."""
    return all(is_code(word) for word in words)


def plausibility(word: str) -> float:
    """The mean logarithm of the chance of each letter after the one before, of a lower-case Latin word."""
    table = _chances()
    steps = list(pairwise(f"^{word}$"))
    return sum(table.get(step, table["?", "?"]) for step in steps) / len(steps)


@functools.cache
def _known() -> frozenset[str]:
    words = set(_words())
    return frozenset(words | set(stems(words)))


@functools.cache
def _words() -> tuple[str, ...]:
    found: set[str] = set()
    for name in _WORD_LISTS:
        text = resource(name).read_text("utf-8-sig")
        found.update(_LATIN.findall(_CAMEL.sub(" ", text).lower()))
    return tuple(sorted(found))


@functools.cache
def _chances() -> Mapping[tuple[str, str], float]:
    pairs = Counter(pair for word in _words() for pair in pairwise(f"^{word}$"))
    befores: Counter[str] = Counter()
    for (before, _), count in pairs.items():
        befores[before] += count
    symbols = [*"abcdefghijklmnopqrstuvwxyz", "^", "$"]
    return {
        (before, after): math.log(
            (pairs[before, after] + _SMOOTHING) / (befores[before] + _SMOOTHING * (len(symbols) - 1))
        )
        for before in symbols
        for after in symbols
    } | {("?", "?"): math.log(_SMOOTHING / 1000)}
