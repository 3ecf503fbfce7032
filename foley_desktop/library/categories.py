"""The tree of categories as the sidebar shows it: what the library holds of each, and how many have none."""

from __future__ import annotations

from typing import NamedTuple

from foley_desktop.library import ucs
from foley_desktop.library.catalog import Catalog
from foley_desktop.models import Condition, Filters


class Branch(NamedTuple):
    """A subcategory of the tree. ``catid`` is empty for one that is not of the UCS."""

    subcategory: str
    catid: str
    clips: int

    def filters(self, category: str) -> Filters:
        """What narrows a search to it."""
        return Filters(
            (Condition("category", "=", category), Condition("subcategory", "=", self.subcategory))
        )


class Category(NamedTuple):
    """A category with its subcategories in alphabetical order; ``known`` says that it is one of the UCS."""

    name: str
    known: bool
    clips: int
    branches: tuple[Branch, ...]

    @property
    def filters(self) -> Filters:
        return Filters((Condition("category", "=", self.name),))


UNLABELLED = Filters((Condition("category", "=", ""),))
"""What narrows a search to clips without a category."""


def category_tree(catalog: Catalog, *, whole: bool = False) -> tuple[Category, ...]:
    """Categories by name, with the number of clips in each.

    Args:
        whole: Also the categories of the UCS of which the library holds nothing, as when one is chosen.
    """
    counts: dict[str, dict[str, int]] = {}
    if whole:
        for _, category, subcategory in ucs.categories():
            counts.setdefault(category, {})[subcategory] = 0
    # Spellings that differ in case are one category, under the spelling of the UCS where it has it.
    known = {category.casefold(): category for _, category, _ in ucs.categories()}
    for (category, subcategory), clips in catalog.category_counts().items():
        name = known.get(category.casefold(), category)
        branches = counts.setdefault(name, {})
        catid = ucs.catid_of(name, subcategory)
        part = ucs.table()[catid][1] if catid else subcategory
        branches[part] = branches.get(part, 0) + clips
    return tuple(
        Category(
            name,
            name.casefold() in known,
            sum(branches.values()),
            tuple(Branch(part, ucs.catid_of(name, part), clips) for part, clips in sorted(branches.items())),
        )
        for name, branches in sorted(counts.items(), key=lambda item: item[0].casefold())
    )


def unlabelled(catalog: Catalog) -> int:
    """How many clips have no category yet."""
    return catalog.count(UNLABELLED)
