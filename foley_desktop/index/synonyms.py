"""Words that name the same sound: spellings, abbreviations of file names, onomatopoeia.

Who asks for a swish also wants what someone called a whoosh, and ``AMB`` is an ambience. The table is our
own, ``resources/words/synonyms.tsv``. What stands for a word counts less than the word itself, so that the
table adds answers and never reorders those that use the asker's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from foley_desktop.index.words import stems
from foley_desktop.settings import resource

SAME, SHORT, LIKE = "same", "short", "like"

KIND_WEIGHTS = {SAME: 0.8, SHORT: 0.6, LIKE: 0.3}
"""What a word counts that stands in for the one asked for."""

_TOKEN = re.compile(r"[^\W\d_]+")


class Synonym(NamedTuple):
    """A word that stands for another: as one word (``voiceover``), as spelt, and what it counts, 0 to 1."""

    word: str
    spelt: str
    weight: float
    kind: str


def synonyms(word: str) -> tuple[Synonym, ...]:
    """What may stand for a folded word, the weightiest first; nothing for a word that is not in the table.

    A word is also looked up by its stem: ``whooshes`` finds what stands for ``whoosh``.
    """
    table = _table()
    stem = stems([word])[0]
    return table.get(word) or table.get(stem, ())


def spellings(word: str) -> tuple[str, ...]:
    """Other spellings and irregular forms of a folded word: ``colour`` is ``color``."""
    return tuple(other.word for other in synonyms(word) if other.kind == SAME)


def spelt_out(text: str) -> str:
    """``text`` with its abbreviations written out, for a reader who knows words but no file names.

    ``AMB forest INT`` is ``ambience forest interior``. Everything else stays as it is.
    """

    def write_out(found: re.Match[str]) -> str:
        return _abbreviations().get(found[0].casefold(), found[0])

    return _TOKEN.sub(write_out, text)


def read_lines(lines: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """``(kind, words)`` of a table's lines; see the head of the table.

    Raises:
        ValueError: for a line that is neither a comment nor an entry.
    """
    entries = []
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        kind, _, rest = line.partition("\t")
        words = tuple(rest.split())
        if kind not in KIND_WEIGHTS or len(words) < 2 or len(set(words)) < len(words):
            raise ValueError(f"no entry of a table of synonyms: {line!r}")
        entries.append((kind, words))
    return entries


@cache
def _entries() -> tuple[tuple[str, tuple[str, ...]], ...]:
    text = resource("words/synonyms.tsv").read_text("utf-8")
    return tuple(read_lines(text.splitlines()))


@cache
def _table() -> Mapping[str, tuple[Synonym, ...]]:
    found: dict[str, dict[str, Synonym]] = {}

    def add(word: str, other: str, kind: str) -> None:
        synonym = Synonym(other.replace("_", ""), other.replace("_", " "), KIND_WEIGHTS[kind], kind)
        known = found.setdefault(word.replace("_", ""), {})
        if synonym.word not in known or known[synonym.word].weight < synonym.weight:
            known[synonym.word] = synonym

    for kind, words in _entries():
        # An abbreviation stands for each reading and each reading for it, the readings not for one another.
        pairs = [(words[0], other) for other in words[1:]] if kind == SHORT else _pairs(words)
        for left, right in pairs:
            add(left, right, kind)
            add(right, left, kind)
    table = {word: tuple(sorted(known.values(), key=lambda s: -s.weight)) for word, known in found.items()}
    by_stem = dict(zip(stems(table), table.values(), strict=True))
    return {**by_stem, **table}


def _pairs(words: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(left, right) for n, left in enumerate(words) for right in words[n + 1 :]]


@cache
def _abbreviations() -> Mapping[str, str]:
    readings = {words[0]: words[1].replace("_", " ") for kind, words in _entries() if kind == SHORT}
    return {short: reading for short, reading in readings.items() if short not in _WORDS_OF_THEIR_OWN}


_WORDS_OF_THEIR_OWN = frozenset(
    {"os", "st", "med", "rec", "imp", "trans", "mag", "mic", "amp", "tv", "rt", "ac"}
)
"""Abbreviations that a model of language reads well, or that may be meant as they stand."""
