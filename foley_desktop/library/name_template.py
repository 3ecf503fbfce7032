"""Names put together by a pattern of the user's own, where the UCS one does not fit.

A pattern is text with parts in braces, ``{catid}_{fx_name}``. What stands in brackets is left out when one of
its parts is empty: ``{catid}[-{user_category}]``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from foley_desktop.errors import RenameError

UCS_PATTERN = "{catid}[-{user_category}]_[{vendor_category}-]{fx_name}_{creator}_{source}[_{user_data}]"
"""The names of the Universal Category System."""

PARTS: Mapping[str, str] = {
    "catid": "CatID",
    "category": "category",
    "subcategory": "subcategory",
    "user_category": "user category",
    "vendor_category": "vendor category",
    "fx_name": "name of the effect",
    "creator": "creator's ID",
    "source": "source's ID",
    "user_data": "user data",
    "title": "title",
    "description": "description",
    "name": "name the file has now",
    "number": "number in the batch",
}
"""What may stand in braces, and what it means."""

_GROUP = re.compile(r"\[([^\[\]]*)\]")
_PART = re.compile(r"\{([^{}]*)\}")


def check(pattern: str) -> None:
    """Whether a pattern can be used.

    Raises:
        RenameError: it names a part that does not exist, has a bracket too many, or no part at all.
    """
    found = _PART.findall(pattern)
    unknown = [part for part in found if part not in PARTS]
    if unknown:
        raise RenameError(
            f"A name has no part {{{unknown[0]}}}.",
            hint=f"There are: {', '.join(f'{{{p}}}' for p in PARTS)}.",
        )
    rest = _PART.sub("", _GROUP.sub("", pattern))
    if any(character in rest for character in "{}[]") or any(
        character in _PART.sub("", group) for group in _GROUP.findall(pattern) for character in "{}"
    ):
        raise RenameError("A bracket of the pattern has no other half.", hint="Brackets don't nest.")
    if not found:
        raise RenameError("The pattern has no part, so all files would get the same name.")


def parts_of(pattern: str) -> tuple[str, ...]:
    """The parts that a pattern needs: those in no brackets."""
    return tuple(dict.fromkeys(_PART.findall(_GROUP.sub("", pattern))))


def fill(pattern: str, values: Mapping[str, str]) -> str:
    """The pattern with its parts put in; one that is not in ``values`` is empty.

    Raises:
        RenameError: see :func:`check`.
    """
    check(pattern)

    def group(found: re.Match[str]) -> str:
        inside = found[1]
        return inside if all(values.get(part) for part in _PART.findall(inside)) else ""

    return _PART.sub(lambda found: values.get(found[1], ""), _GROUP.sub(group, pattern))
