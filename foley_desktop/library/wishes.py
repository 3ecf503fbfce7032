"""How a sound should differ, read from a few words: ``metallic``, ``less wooden``, ``but longer``."""

from __future__ import annotations

from typing import Literal, NamedTuple

from foley_desktop.index.query import parse_query

_FILLERS = frozenset({"but", "more", "much", "bit", "a", "and", "little", "slightly", "sounding"})
_AWAY = frozenset({"less", "not", "without"})
_LENGTHS: dict[str, Literal["<", ">"]] = {"longer": ">", "shorter": "<"}


class Wish(NamedTuple):
    """``towards`` and ``away`` are texts, ``length`` compares a clip's duration with the example's."""

    towards: str = ""
    away: str = ""
    length: Literal["", "<", ">"] = ""

    def __bool__(self) -> bool:
        return any(self)


def read_wish(text: str) -> Wish:
    """Reads any text; words like *but* and *more* are dropped where others remain."""
    parsed = parse_query(text)
    towards: list[str] = []
    away = [word.text for word in parsed.excluded]
    length: Literal["", "<", ">"] = ""
    leads_away = False
    for word in parsed.plain.split():
        bare = word.strip(",.;:!?").casefold()
        if bare in _LENGTHS:
            length = _LENGTHS[bare]
        elif bare in _AWAY:
            leads_away = True
            continue
        elif bare in _FILLERS:
            continue
        elif bare:
            (away if leads_away else towards).append(word.strip(",.;:!?"))
        leads_away = False
    return Wish(" ".join(towards), " ".join(away), length)
