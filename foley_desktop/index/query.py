"""What the user typed, understood by us: words, phrases, exclusions, fields.

No search engine's query language ever sees raw text: brackets, quotes and colons that a person pastes
are not syntax, and every string is a query. The operators are ``"a phrase"``, ``-word``, ``NOT word``,
``word OR word``, ``word then word`` and ``field:word`` for the fields in :data:`FIELDS`. ``AND`` between two
words asks for what stands there anyway.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from foley_desktop.index.words import analyse

LONGEST_QUERY = 500
"""Characters of a query that are read; the rest of a longer text is ignored."""

MOST_PARTS = 64
"""Parts of a query that are searched; later ones are ignored."""

FIELDS = {"name": "name", "desc": "desc", "cat": "cat", "folder": "folder", "ext": "ext"}
"""Field prefixes a user may write, and what they are called in the index."""

_CLEAN = dict.fromkeys(map(ord, "“”„‟«»＂"), '"') | dict.fromkeys([*range(32), *range(127, 160)], " ")
_FIELD = re.compile(rf"({'|'.join(FIELDS)}):(?=[^\s:/\\])", re.IGNORECASE)
_MINUS = "-\u2010\u2011\u2013\u2212\ufe63\uff0d"
"""What stands before an excluded word, also where a word processor has made something nicer of it."""
_LEVEL = re.compile(rf"[{_MINUS}]\d+(?:[.,]\d+)?\s?(?:db|lufs|lkfs|lu\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Word:
    """One thing asked for: a chunk between blanks, or a phrase in quotes.

    ``parts`` are its words in order, ``wholes`` its joined forms (see :mod:`foley_desktop.index.words`),
    ``field`` limits it to one field, ``phrase`` says that the parts have to stand in this order.
    """

    text: str
    parts: tuple[str, ...]
    wholes: tuple[str, ...] = ()
    field: str = ""
    phrase: bool = False

    @property
    def required(self) -> bool:
        """A phrase or a word with a field has to match; plain words only rank."""
        return self.phrase or bool(self.field)


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query understood. ``groups`` hold alternatives (``OR``); all groups are wanted.

    ``prefix`` is the word the user may still be typing, or None. ``blank`` says that nothing was typed at
    all, which asks for everything; a text of mere punctuation is not blank and asks for nothing.
    ``plain`` is the text for an embedder: the wanted words as typed, without operators, exclusions and kinds
    of files (``ext:wav``), which say nothing of a sound.
    ``steps`` are the parts of ``plain`` that are to be heard one after the other (``thunder then rain``),
    two or more, or none.
    """

    groups: tuple[tuple[Word, ...], ...] = ()
    excluded: tuple[Word, ...] = ()
    prefix: str | None = None
    plain: str = ""
    blank: bool = False
    steps: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[Word, ...]:
        """Every wanted word or phrase, in order."""
        return tuple(word for group in self.groups for word in group)

    @property
    def terms(self) -> tuple[str, ...]:
        """The parts of all plain words."""
        return tuple(part for word in self.words if not word.phrase for part in word.parts)

    @property
    def phrases(self) -> tuple[tuple[str, ...], ...]:
        """The parts of each quoted phrase."""
        return tuple(word.parts for word in self.words if word.phrase)

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """``(field, text)`` of every word limited to a field."""
        return tuple((word.field, word.text) for word in self.words if word.field)

    @property
    def only_excludes(self) -> bool:
        """True for a query like ``-thunder``: everything but."""
        return not self.groups and bool(self.excluded)


@dataclass(slots=True)
class _Chunk:
    text: str
    quoted: bool = False
    excluded: bool = False
    field: str = ""
    last: bool = False
    parts: tuple[str, ...] = ()
    wholes: tuple[str, ...] = ()

    @property
    def is_bare(self) -> bool:
        return not (self.quoted or self.excluded or self.field)

    @property
    def is_operator(self) -> bool:
        return self.is_bare and self.text in ("OR", "NOT", "AND")

    @property
    def is_spoken(self) -> bool:
        """Whether it tells an embedder what is wanted."""
        return not (self.excluded or self.is_operator or self.field == "ext")

    @property
    def word(self) -> Word:
        phrase = self.quoted and len(self.parts) > 1
        return Word(self.text, self.parts, self.wholes, self.field, phrase)


def parse_query(text: str) -> ParsedQuery:
    """Understands any string; never raises. Only the first 500 characters are read."""
    text = _clean(text[:LONGEST_QUERY])
    if not text.strip():
        return ParsedQuery(blank=True)
    groups: list[tuple[Word, ...]] = []
    excluded: list[Word] = []
    steps: list[list[str]] = [[]]
    chunks = _chunks(text)
    either = False
    for i, chunk in enumerate(chunks):
        operator = _operator(chunks, i)
        if operator == "NOT":
            chunks[i + 1].excluded = True
        elif operator == "OR" and groups:
            either = True
        elif operator == "AND" and (groups or excluded):
            continue
        elif steps[-1] and _is_then(chunks, i):
            steps.append([])
            either = False
        elif chunk.excluded:
            excluded.append(chunk.word)
            either = False
        else:
            if chunk.field != "ext":
                steps[-1].append(chunk.text)
            alternatives = groups.pop() if either else ()
            groups.append((*alternatives, chunk.word))
            either = False
    spoken = tuple(" ".join(step) for step in steps)
    return ParsedQuery(
        groups=tuple(groups),
        excluded=tuple(excluded),
        prefix=_prefix(chunks),
        plain=" ".join(spoken),
        steps=spoken if len(spoken) > 1 else (),
    )


def _clean(text: str) -> str:
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text.translate(_CLEAN)


def _chunks(text: str) -> list[_Chunk]:
    """Cuts at blanks and at quotes that open a chunk; a quote without a partner is a blank."""
    chunks: list[_Chunk] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        chunk, position = _chunk(text, position)
        if chunk.text:
            chunks.append(chunk)
    if chunks and not chunks[-1].quoted and not text[-1].isspace():
        chunks[-1].last = True
    budget = MOST_PARTS
    for chunk in chunks:
        parts, wholes = analyse(chunk.text)
        chunk.parts, chunk.wholes = tuple(parts[:budget]), tuple(wholes[:budget])
        budget -= len(chunk.parts)
    return [chunk for chunk in chunks if chunk.parts]


def _chunk(text: str, position: int) -> tuple[_Chunk, int]:
    chunk = _Chunk("")
    if _excludes(text, position):
        chunk.excluded = True
        position += 1
    field = _FIELD.match(text, position)
    if field:
        chunk.field = FIELDS[field[1].lower()]
        position = field.end()
    if text[position] == '"':
        end = text.find('"', position + 1)
        if end > 0:
            chunk.text, chunk.quoted = text[position + 1 : end].strip(), True
            return chunk, end + 1
        position += 1
    end = position
    while end < len(text) and not text[end].isspace():
        end += 1
    chunk.text = text[position:end]
    return chunk, end


def _excludes(text: str, position: int) -> bool:
    """A minus directly before a word or phrase; ``-20dBFS`` is a level, not an exclusion."""
    if text[position] not in _MINUS or position + 1 >= len(text):
        return False
    following = text[position + 1]
    return (following.isalnum() or following == '"') and not _LEVEL.match(text, position)


def _operator(chunks: list[_Chunk], i: int) -> str:
    """OR or NOT when chunk ``i`` is one and has something to work on, else nothing."""
    if i + 1 == len(chunks) or not chunks[i].is_operator:
        return ""
    if chunks[i].text == "NOT" and chunks[i + 1].is_operator:
        return ""
    return chunks[i].text


def _is_then(chunks: list[_Chunk], i: int) -> bool:
    """Whether chunk ``i`` is the word *then* by itself, with a wanted word somewhere behind it."""
    if not chunks[i].is_bare or chunks[i].text.casefold() != "then":
        return False
    pairs = itertools.pairwise(chunks[i:])
    return any(c.is_spoken and not (before.is_operator and before.text == "NOT") for before, c in pairs)


def _prefix(chunks: list[_Chunk]) -> str | None:
    if not chunks or not chunks[-1].last or chunks[-1].excluded:
        return None
    return chunks[-1].parts[-1]
