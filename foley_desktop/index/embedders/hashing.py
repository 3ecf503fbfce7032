"""Embedders without a model: stable vectors for tests and for trying things out, no meaning.

Words are hashed into random directions, sounds are described by their spectrum. Everything depends
on numpy alone and is the same on every machine.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from foley_desktop.index.embedders.frontend import BANDS, log_mel
from foley_desktop.index.embedders.spaces import Description, Vectors, WindowedEmbedder, unit

_VERSION = "1"
_ENDINGS = ("ings", "ing", "ers", "er", "ed", "es", "s")


@lru_cache(maxsize=4096)
def _direction(word: str, dim: int) -> np.ndarray:
    """A random unit vector that belongs to a word."""
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(digest, "little"))
    return unit(rng.standard_normal(dim))


def _words(text: str) -> list[str]:
    """Lower-case words with the commonest English endings taken off."""
    words = []
    for word in re.findall(r"\w+", text.lower()):
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                word = word.removesuffix(ending)
                break
        words.append(word)
    return words


class HashTextEmbedder:
    """Texts that share words come out near one another."""

    def __init__(self, dim: int = 64) -> None:
        self.dim = dim
        self.model_id = f"hash-text-{dim}-{_VERSION}"

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        """Unit vectors, float32 ``(n, dim)``."""
        texts = [text] if isinstance(text, str) else list(text)
        rows = [np.sum([_direction(w, self.dim) for w in _words(t) or [""]], axis=0) for t in texts]
        return np.stack([unit(row) for row in rows]) if rows else np.zeros((0, self.dim), np.float32)


class HashEmbedder(WindowedEmbedder):
    """Sounds with like spectra come out near one another; texts have no bearing on sounds."""

    def __init__(self, dim: int = 64) -> None:
        super().__init__(describe(dim))
        self._text = HashTextEmbedder(dim)
        self._mixing = np.random.default_rng(dim).standard_normal((2 * BANDS, dim)).astype(np.float32)

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        return self._text.embed_text(text)

    def submit(self, samples: np.ndarray) -> Callable[[], Vectors]:
        mel = log_mel(samples)
        spectrum = np.concatenate([mel.mean(axis=0), mel.std(axis=0)])
        joint = unit((spectrum - spectrum.mean()) @ self._mixing)
        likeness = unit(spectrum)
        vectors = {self.model_id: joint, str(self.description.likeness_model_id): likeness}
        return lambda: vectors


def describe(dim: int = 64) -> Description:
    """The spaces of :class:`HashEmbedder`."""
    return Description(f"hash-{dim}-{_VERSION}", dim, f"hash-likeness-{_VERSION}", 2 * BANDS)
