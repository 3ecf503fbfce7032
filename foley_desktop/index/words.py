"""Text into words, the same way for what is indexed and for what is asked.

File names are not prose: ``AMBForst_B00M01``, ``DoorSlam-02``, ``MKH8040`` and ``5.1`` have to be found
whole and in parts, with or without accents, in any script. A text becomes *parts*, which keep their
order so that phrases work, and *wholes*, the joined forms of whatever was split.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

LONGEST_WORD = 64
"""Words are cut at this many characters, on both sides alike."""

SHORTEST_ENDING = 5
"""Letters that the last part of a compound has at least; shorter ones occur by chance."""

_APOSTROPHES = dict.fromkeys(map(ord, "’‘‛ʼʻ`´＇′ʹ"), "'")
_INVISIBLE = dict.fromkeys([0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10)])
_BEFORE = {**_APOSTROPHES, **_INVISIBLE}

_MARKS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff]+")
_LETTERS = str.maketrans(
    {
        "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ħ": "h", "Ħ": "H",
        "ı": "i", "ŧ": "t", "Ŧ": "T", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH",
        "ẞ": "SS", "ŋ": "n", "Ŋ": "N",
    }
)  # fmt: skip


def fold_accents(text: str) -> str:
    """``text`` in compatibility form without accents, case kept: ``Türschlag ½`` is ``Turschlag 1⁄2``.

    Only the marks of alphabets are dropped; the voicing marks of kana are kept.
    """
    if text.isascii():
        return text.replace("`", "'")
    decomposed = unicodedata.normalize("NFKD", text.translate(_BEFORE))
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed).translate(_LETTERS))


def _is_cjk(code: int) -> bool:
    return (
        0x2E80 <= code <= 0x2FDF
        or code in (0x3005, 0x3007)
        or 0x3040 <= code <= 0x31FF
        or 0x3400 <= code <= 0x9FFF
        or 0xAC00 <= code <= 0xD7A3
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x3FFFF
    )


class _Classes(dict[int, str]):
    """Character to class: U capital, l other letter, d digit, C CJK, ' apostrophe, else itself or blank."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if _is_cjk(code) and category[0] in "LN":
            found = "C"
        elif category in ("Lu", "Lt"):
            found = "U"
        elif category[0] in "LM":
            found = "l"
        elif category[0] == "N":
            found = "d"
        elif char in "'.-/:":
            found = char
        else:
            found = " "
        self[code] = found
        return found


_CLASSES = _Classes()
_RUN = re.compile(r"C+|[Uld]+(?:'[Uld]+)*")
_PART = re.compile(r"U{2,}l(?![Uld])|U+(?=Ul)|U?l+|U+|d+")
_ENDINGS = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})
_NUMBER = re.compile(r"(?<![Uld])d+(?:[.\-/:]d+)+(?![Uld])")


class Analysis(NamedTuple):
    """``parts`` in reading order; ``wholes`` are joined forms of what was split, and CJK bigrams."""

    parts: list[str]
    wholes: list[str]


def analyse(text: str) -> Analysis:
    """Words of ``text``, folded: without accents, case folded, split at case, digits and separators.

    ``DoorSlam_MKH8040 5.1`` gives the parts door, slam, mkh, 8040, 5, 1 and the wholes doorslam,
    mkh8040, 5.1. Never raises; text without a letter or digit gives nothing.
    """
    folded = fold_accents(text)
    classes = folded.translate(_CLASSES)
    parts: list[str] = []
    wholes: list[str] = []
    for run in _RUN.finditer(classes):
        start, end = run.span()
        if classes[start] == "C":
            parts.extend(folded[start:end])
            wholes.extend(folded[i : i + 2] for i in range(start, end - 1))
            continue
        found = _run_parts(folded, classes, start, end)
        parts.extend(found)
        whole = folded[start:end].replace("'", "").casefold()[:LONGEST_WORD]
        if found != [whole]:
            wholes.append(whole)
    if any(c in classes for c in ".-/:"):
        for number in _NUMBER.finditer(classes):
            digits = re.split(r"[.\-/:]", folded[number.start() : number.end()])
            wholes.append(".".join(digits)[:LONGEST_WORD])
    return Analysis(parts, wholes)


def _run_parts(folded: str, classes: str, start: int, end: int) -> list[str]:
    found: list[str] = []
    for part in _PART.finditer(classes, start, end):
        word = folded[part.start() : part.end()].casefold()[:LONGEST_WORD]
        after_apostrophe = part.start() > start and classes[part.start() - 1] == "'"
        if not (after_apostrophe and part.end() == end and word in _ENDINGS):
            found.append(word)
    return found


def joinable(word: str) -> bool:
    """Whether a word is long enough to stand in a compound: ``doorbell`` is ``door_bell``."""
    return len(word) >= 3 and word.isalpha()


def joined(parts: Iterable[str]) -> list[str]:
    """Neighbouring parts written as one word."""
    pairs = itertools.pairwise(parts)
    return [left + right for left, right in pairs if joinable(left) and joinable(right)]


def is_compound(word: str, ending: str) -> bool:
    """Whether ``word`` may be a compound that ends in ``ending``, as ``heavytraffic`` in ``traffic``."""
    return (
        len(ending) >= SHORTEST_ENDING
        and len(word) >= len(ending) + 3
        and word.endswith(ending)
        and word.isalpha()
    )


def backwards(words: Iterable[str]) -> list[str]:
    """Words so long that they may be compounds, backwards: a dictionary is looked up by beginnings."""
    return [word[::-1] for word in words if len(word) >= SHORTEST_ENDING + 3 and word.isalpha()]


def tokenize(text: str) -> list[str]:
    """Every word under which ``text`` can be found: its parts, then its wholes."""
    parts, wholes = analyse(text)
    return parts + wholes


@cache
def _stemmer():  # type: ignore[no-untyped-def]
    import tantivy

    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return analyzer.filter(tantivy.Filter.stemmer("english")).build()


def stems(words: Iterable[str]) -> list[str]:
    """English stems (Snowball) of folded words, one for each, in the same order."""
    words = list(words)
    found = _stemmer().analyze(" ".join(words))
    return found if len(found) == len(words) else words


_FUNCTION_WORDS = """a an and are as at be been being by did do does for from had has have he her his how i in
into is it its like me my not of off on onto or our out over she some somebody someone something sound
sounds that the their them there these they this those to under up very was we were what when where which
while who with without you your"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that carry little in a query beside others; they count less there, never nothing."""
