"""The Universal Category System, version 8.2: its category table, and file names built by it.

A UCS name is ``CatID[-UserCategory]_[VendorCategory-]FXName_CreatorID_SourceID[_UserData]``, and the CatID
stands for a Category and a SubCategory.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from foley_desktop.settings import resource


class UcsName(NamedTuple):
    """The parts of a UCS file name. ``catid`` is spelt as in the table; parts that are absent are empty."""

    catid: str
    category: str
    subcategory: str
    user_category: str
    fx_name: str
    creator: str
    source: str
    user_data: str
    vendor_category: str = ""

    @property
    def complete(self) -> bool:
        """Whether all four required parts are there."""
        return bool(self.catid and self.fx_name and self.creator and self.source)


@functools.cache
def table() -> Mapping[str, tuple[str, str]]:
    """``{CatID: (Category, SubCategory)}``, in the table's order."""
    with open(resource("ucs/ucs-8.2.csv"), encoding="utf-8-sig", newline="") as file:
        return {row["CatID"]: (row["Category"], row["SubCategory"]) for row in csv.DictReader(file)}


@functools.cache
def _by_lower() -> Mapping[str, str]:
    return {catid.lower(): catid for catid in table()}


@functools.cache
def _by_category() -> Mapping[tuple[str, str], str]:
    return {(pair[0].lower(), pair[1].lower()): catid for catid, pair in table().items()}


def category(catid: str) -> tuple[str, str] | None:
    """Category and SubCategory of a CatID, whatever its case."""
    exact = _by_lower().get(catid.lower())
    return None if exact is None else table()[exact]


def catid_of(category_name: str, subcategory: str) -> str:
    """The CatID of a Category and SubCategory, or an empty string."""
    return _by_category().get((category_name.strip().lower(), subcategory.strip().lower()), "")


def canonical(catid: str) -> str:
    """A CatID as the table spells it, or an empty string."""
    return _by_lower().get(catid.strip().lower(), "")


def categories() -> Iterator[tuple[str, str, str]]:
    """``(CatID, Category, SubCategory)`` of the whole table."""
    for catid, (name, subcategory) in table().items():
        yield catid, name, subcategory


def parse_name(stem: str) -> UcsName | None:
    """Reads a file name (without extension) by the UCS, or gives None when it is not one.

    The first part has to be a CatID of the table, spelt as there. In another case it counts only when
    all four required parts are there. Some CatIDs are words (``RAIN``): they don't count in another
    case, nor in names written in capitals throughout.
    """
    first, *rest = stem.split("_")
    if not rest:
        return None
    given, _, user_category = first.partition("-")
    catid = canonical(given)
    if not catid:
        return None
    is_word = catid.isupper()
    if (is_word and stem.isupper()) or (catid != given and (is_word or len(rest) < 3)):
        return None
    name, subcategory = table()[catid]
    fx_name, creator, source = (*rest[:3], "", "")[:3]
    vendor = ""
    if len(rest) >= 3:  # without the other parts it is just as likely a hyphen of the name itself
        vendor, fx_name = _split_vendor(fx_name)
    user_data = "_".join(rest[3:])
    return UcsName(catid, name, subcategory, user_category, fx_name, creator, source, user_data, vendor)


def _split_vendor(fx_name: str) -> tuple[str, str]:
    """A vendor's category in front of an effect's name, and the name; ``T-Shirt`` and ``a - b`` have none."""
    vendor, hyphen, rest = fx_name.partition("-")
    letters = sum(character.isalpha() for character in vendor)
    if hyphen and letters >= 2 and rest.strip() and vendor == vendor.strip() and rest == rest.lstrip():
        return vendor, rest
    return "", fx_name


def compose(name: UcsName) -> str:
    """The file name (without extension) that :func:`parse_name` reads as ``name``.

    Parts are cleaned of what would end them: underscores anywhere, hyphens in categories and where one in
    the effect's name would be taken for a vendor's category.
    """
    user = _part(name.user_category, "-")
    vendor = _part(name.vendor_category, "-")
    fx_name = _part(name.fx_name)
    if vendor:
        fx_name = f"{vendor}-{fx_name}"
    elif _split_vendor(fx_name)[0]:
        fx_name = fx_name.replace("-", " ")
    parts = [f"{name.catid}-{user}" if user else name.catid, fx_name, _part(name.creator), _part(name.source)]
    if name.user_data:
        parts.append("_".join(part for part in map(_part, name.user_data.split("_")) if part))
    return "_".join(parts).rstrip("_")


def _part(text: str, also: str = "") -> str:
    for separator in "_" + also:
        text = text.replace(separator, " ")
    return " ".join(text.split())
