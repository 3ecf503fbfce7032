"""Takes of one sound as one row: ``door_creak_01`` to ``door_creak_40`` in the same folder.

Only a view of a result: the command line, grading and the metrics always see every clip.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from foley_desktop.library import ucs
from foley_desktop.models import Clip, Hit

Row = TypeVar("Row", Clip, Hit)

_NUMBERED = re.compile(r"(?P<base>.*?)(?P<gap>[\s_.\-(\[]*)(?P<number>\d{1,3})[)\]]?", re.DOTALL)
_TAKE_WORD = re.compile(r"(?<=[\s_.\-])(?:take|tk|alt|var|v)\Z", re.IGNORECASE)
_GAPS = " \t_.-(["
_FEWEST_LETTERS, _FEWEST_WITH_GAP = 3, 2
"""So many letters a name has at least; shorter ones are codes, as F16 and F-16."""


@dataclass(frozen=True, slots=True)
class Fold(Generic[Row]):
    """Rows that are takes of one sound, in the order of the result; ``first`` stands for them."""

    rows: tuple[Row, ...]
    base: str

    @property
    def first(self) -> Row:
        return self.rows[0]

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def label(self) -> str:
        """``door_creak ×40``, or the name of a clip by itself."""
        return _clip(self.first).name if self.count == 1 else f"{self.base} ×{self.count}"


def fold(rows: Iterable[Row]) -> list[Fold[Row]]:
    """Puts takes of one sound together, each fold where its best row stood.

    Takes lie in one folder and their names differ in a number of up to three digits at the end alone, or in
    a UCS name at the end of the effect's name. A number that is part of a larger one or of a code (``5.1``,
    ``24-96``, ``MKH8040``, ``F16``) is no take.
    """
    groups: dict[tuple[object, ...], list[Row]] = {}
    bases: dict[tuple[object, ...], str] = {}
    for row in rows:
        clip = _clip(row)
        key, base = _key(clip)
        groups.setdefault(key, []).append(row)
        bases.setdefault(key, base)
    return [Fold(tuple(members), bases[key]) for key, members in groups.items()]


def _key(clip: Clip) -> tuple[tuple[object, ...], str]:
    """What takes of one sound have in common, and their name."""
    shared, base = take_of(os.path.splitext(clip.name)[0])
    if not shared:
        return ("", clip.id or clip.path), base
    return (clip.root_id, os.path.dirname(clip.rel_path), *shared), base


def take_of(stem: str) -> tuple[tuple[str, ...], str]:
    """What the takes of a file name share: to compare by, empty without a number; and to show."""
    name = ucs.parse_name(stem)
    if name is not None:
        base = _without_number(name.fx_name)
        if base:
            others = (name.catid, name.user_category, name.creator, name.source, name.user_data)
            return (base.casefold(), *others), base
    base = _without_number(stem)
    return ((base.casefold(),) if base else ()), base or stem


def _without_number(text: str) -> str:
    """``text`` without the take's number, empty when it has none."""
    found = _NUMBERED.fullmatch(text)
    if found is None or found["base"][-1:].isdigit():
        return ""
    base = _TAKE_WORD.sub("", found["base"]).rstrip(_GAPS)
    letters = [char for char in base if char.isalpha()]
    fewest = _FEWEST_WITH_GAP if found["gap"] or base != found["base"] else _FEWEST_LETTERS
    return base if len(letters) >= fewest or not "".join(letters).isascii() else ""


def _clip(row: Clip | Hit) -> Clip:
    return row.sound if isinstance(row, Hit) else row
