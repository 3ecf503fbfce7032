"""A sound to search by: a clip of the library, a region of one, a file from outside, or a recording."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from foley_desktop.audio.decode import read_mono
from foley_desktop.errors import SilentAudioError, UnknownClipError
from foley_desktop.index.embedders.host import Models
from foley_desktop.index.embedders.spaces import Likeness as LikenessSpace
from foley_desktop.index.embedders.spaces import WindowedEmbedder
from foley_desktop.index.vectors import LanceVectorIndex
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.indexes import Indexes
from foley_desktop.models import Clip, Region

LONGEST_S = 120.0
"""Seconds of a file, region or recording that are listened to when its vector has to be made now."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """What a search by sound is given.

    Either ``ref``, a clip's id, a clip's path or an audio file's path, of which ``region`` may choose a
    part; or ``samples``, float32 mono ``(n,)`` at ``samplerate`` Hz, as a recorder gives them.
    """

    ref: str = ""
    region: Region | None = None
    samples: np.ndarray | None = None
    samplerate: int = 0

    @property
    def name(self) -> str:
        """What to call it in a title."""
        return os.path.basename(self.ref) if self.ref else "recording"


def examples(given: Sequence[str | Example]) -> list[Example]:
    """References and examples, all as examples."""
    return [one if isinstance(one, Example) else Example(one) for one in given]


class Ears:
    """Gives the vectors of examples in a library's two sound spaces."""

    def __init__(self, catalog: Catalog, indexes: Indexes, models: Models) -> None:
        self._catalog = catalog
        self._indexes = indexes
        self._models = models

    def clip(self, example: Example) -> Clip | None:
        """The library's clip behind an example, None for a file or recording from outside.

        Raises:
            UnknownClipError: neither a clip nor a file.
        """
        if example.samples is not None:
            return None
        try:
            return self._catalog.find(example.ref)
        except UnknownClipError:
            if os.path.isfile(example.ref):
                return None
            raise

    def alike(self, example: Example) -> np.ndarray:
        """The vector in the space of likeness, unit length.

        Raises:
            UnknownClipError, AudioFileError, SilentAudioError: there is no sound to compare.
        """
        return self._vector(example, self._indexes.likeness, lambda: self.embedder.likeness)

    def joint(self, example: Example) -> np.ndarray:
        """The vector in the joint space of text and sound, unit length. Raises as :meth:`alike`."""
        return self._vector(example, self._indexes.audio, lambda: self.embedder)

    @property
    def embedder(self) -> WindowedEmbedder:
        """The active embedder; waits for it."""
        return self._models.embedder(self._indexes.embedder_name)

    def _vector(
        self, example: Example, index: LanceVectorIndex, space: Callable[[], WindowedEmbedder | LikenessSpace]
    ) -> np.ndarray:
        clip = self.clip(example)
        if clip is not None and example.region is None:
            if clip.silent:
                raise SilentAudioError(
                    f"{clip.name} is silent, so nothing sounds like it.", hint="Choose another clip."
                )
            stored = index.mean_vector(clip.id)
            if stored is not None:
                return stored
        embedder = space()
        if example.samples is not None:
            longest = round(LONGEST_S * example.samplerate)
            return embedder.embed_audio(example.samples[:longest], example.samplerate)
        region, rate = example.region, embedder.rule.samplerate
        start = region.start_s if region else 0.0
        end = min(region.end_s if region else LONGEST_S, start + LONGEST_S)
        path = clip.path if clip else os.path.abspath(example.ref)
        return embedder.embed_audio(read_mono(path, rate, start, end), rate)
