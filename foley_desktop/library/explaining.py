"""Why a hit is where it is: one readable line, and the same in parts for a panel.

Everything comes from the hit itself, so that a line can be shown wherever a hit is at hand. Words of hits
far down a list are looked up by :meth:`foley_desktop.library.searching.Searcher.explained` first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from foley_desktop.index.query import parse_query
from foley_desktop.index.search import AUDIO, KEYWORD, SEMANTIC
from foley_desktop.index.synonyms import synonyms
from foley_desktop.models import Hit

LIKENESS = "likeness"
NAMES = {KEYWORD: "words", SEMANTIC: "meaning", AUDIO: "sound", LIKENESS: "likeness"}
"""What the rankers are called for a person, in the order in which they are told."""

MOST_WORDS = 6
"""Words of a line; a panel has them all."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one ranker had to do with a hit.

    ``rank`` is its place in the ranker's own list, None below the list's end; ``score`` BM25 or a cosine;
    ``share`` its part of what speaks for the hit in the fused score, 0 to 1; None where nothing was fused.
    """

    ranker: str
    name: str
    rank: int | None
    score: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Match:
    """A word found in a clip, the fields it stands in, and the word asked for where that is another."""

    word: str
    fields: tuple[str, ...]
    stands_for: str = ""

    def __str__(self) -> str:
        word = f"{self.word} for {self.stands_for}" if self.stands_for else self.word
        return f"{word} ({', '.join(self.fields)})"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit is where it is.

    ``window_s`` is the best moment in seconds, ``score`` the fused score, ``sounds_like`` the excluded text
    that the clip sounds like although it is shown, ``heard_as`` the kinds of sound it seems to hold; each
    None or empty where it does not apply.
    """

    parts: tuple[Part, ...]
    matches: tuple[Match, ...]
    window_s: tuple[float, float] | None
    score: float | None
    sounds_like: str = ""
    heard_as: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """``Words: dog (name) · meaning #2 0.71 · sound #14 0.33 at 0:12``; may be empty."""
        told: list[str] = []
        if self.matches:
            rest = len(self.matches) - MOST_WORDS
            words = ", ".join(str(match) for match in self.matches[:MOST_WORDS])
            told.append(f"words: {words}" + (f" and {rest} more" if rest > 0 else ""))
        for part in self.parts:
            if part.ranker != KEYWORD and part.score is not None:
                told.append(_told(part) + self._moment(part))
        if self.sounds_like:
            told.append(f"sounds like {self.sounds_like}")
        line = " · ".join(told)
        return line[:1].upper() + line[1:]

    def _moment(self, part: Part) -> str:
        heard = part.ranker in (AUDIO, LIKENESS)
        return f" at {_clock(self.window_s[0])}" if heard and self.window_s and self.window_s[0] > 0.0 else ""


def explain(hit: Hit, query: str = "") -> Explanation:
    """Explains a hit from its ``why``.

    Args:
        query: What was asked; with it a synonym can name the word it stands for.
    """
    window = (hit.start_s, hit.end_s) if hit.start_s is not None and hit.end_s is not None else None
    sounds_like = hit.why.get("sounds_like", "")
    return Explanation(
        parts=_parts(hit.why),
        matches=_matches(hit.why.get("matched") or {}, query),
        window_s=window,
        score=hit.rrf_score,
        sounds_like=sounds_like if isinstance(sounds_like, str) else "",
        heard_as=tuple(hit.why.get("heard_as") or ()),
    )


def _parts(why: Mapping[str, object]) -> tuple[Part, ...]:
    told = {name: entry for name in NAMES if isinstance(entry := why.get(name), Mapping)}
    shares = {name: max(float(entry.get("share") or 0.0), 0.0) for name, entry in told.items()}
    total = sum(shares.values())
    return tuple(
        Part(
            ranker=name,
            name=NAMES[name],
            rank=entry.get("rank"),
            score=entry.get("score"),
            share=shares[name] / total if total > 0.0 else None,
        )
        for name, entry in told.items()
    )


def _matches(matched: Mapping[str, list[str]], query: str) -> tuple[Match, ...]:
    asked = {form for word in parse_query(query).words for form in (*word.parts, *word.wholes)}
    return tuple(
        Match(word, tuple(fields), "" if word in asked else _asked_for(word, asked))
        for word, fields in matched.items()
        if fields
    )


def _asked_for(word: str, asked: set[str]) -> str:
    """The word of the query that ``word`` stands for."""
    found = (form for form in sorted(asked) if any(other.word == word for other in synonyms(form)))
    return next(found, "")


def _told(part: Part) -> str:
    rank = f" #{part.rank}" if part.rank is not None else ""
    return f"{part.name}{rank} {part.score:.2f}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
