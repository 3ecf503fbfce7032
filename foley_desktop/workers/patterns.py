"""Sounds to search by, as the window holds them: each is to be liked or to be got away from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foley_desktop.library.examples import Example
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip, Filters, Region, SearchResult


@dataclass(frozen=True, slots=True)
class Pattern:
    """One sound that the results are compared with; ``unlike`` are those to get away from."""

    name: str
    example: Example
    unlike: bool = False

    @classmethod
    def of(cls, clip: Clip, region: Region | None = None, *, unlike: bool = False) -> Pattern:
        """A clip of the library, or a file from outside as a clip without id."""
        return cls(clip.name, Example(clip.id or clip.path, region), unlike)

    @property
    def key(self) -> tuple[Any, ...]:
        """Two patterns of one key are the same sound."""
        example = self.example
        return (example.ref, example.region) if example.samples is None else ("", id(example))


def alike(
    service: LibraryService,
    patterns: tuple[Pattern, ...],
    wish: str,
    strength: float,
    k: int,
    filters: Filters,
) -> SearchResult:
    """What sounds like the patterns; with a wish (``metallic``, ``longer``) what differs from them by that.

    Args:
        strength: How much the wish counts, 0 to 1.
    """
    plus = [pattern.example for pattern in patterns if not pattern.unlike]
    minus = [pattern.example for pattern in patterns if pattern.unlike]
    if wish.strip():
        return service.likeness.with_words(plus, wish, strength, minus=minus, k=k, filters=filters)
    return service.likeness.similar_to(plus, minus, k=k, filters=filters)
