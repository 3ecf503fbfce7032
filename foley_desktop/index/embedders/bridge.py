"""From the features of a sound to the space of words: a few small networks, averaged.

The weights were trained by ``resources/compact/train_bridge.py``, see the model card beside them. A
window's features are standardised and projected, each network maps them into MiniLM's space, and
the sum of their unit vectors is what a query is compared with. All of it is a handful of small
matrix products, done with numpy.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders.frontend import BLOCK_FRAMES
from foley_desktop.index.embedders.weights import read_safetensors
from foley_desktop.settings import resource

FORMAT = "2"
_CLIP = 6.0


def bridge_file() -> Path:
    """The trained weights that come with the application."""
    return resource("compact/bridge.safetensors")


def pooled(blocks: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """The features of one window from those of its blocks, float32 ``(n,)``.

    ``blocks`` are aiSFX embeddings ``(t, 512)``, ``heads`` the first heads' layers for each of them.
    The embedding enters as the logarithm of its mean and of its maximum, since a few of its
    dimensions would outweigh all others otherwise.
    """
    return np.concatenate([np.log1p(blocks.mean(axis=0)), np.log1p(blocks.max(axis=0)), heads.mean(axis=0)])


class Bridge:
    """The trained networks.

    Raises:
        ModelError: when the file is missing, damaged or of another version.
    """

    def __init__(self, path: Path | None = None) -> None:
        arrays, metadata = read_safetensors(path or bridge_file())
        if metadata.get("format") != FORMAT:
            raise ModelError("The bridge's weights are of another version of Foley Desktop.")
        try:
            self._load({name: np.asarray(array, dtype=np.float32) for name, array in arrays.items()})
        except KeyError as error:
            raise ModelError("The bridge's file lacks a layer.", cause=error) from error

    def _load(self, arrays: dict[str, np.ndarray]) -> None:
        self._mean, self._scale, self._projection = arrays["mean"], arrays["scale"], arrays["projection"]
        self._likeness = arrays["likeness.mean"], arrays["likeness.scale"]
        self._networks: list[tuple[np.ndarray, ...]] = []
        while f"net{len(self._networks)}.w1" in arrays:
            name = f"net{len(self._networks)}."
            self._networks.append(tuple(arrays[name + part] for part in ("w1", "b1", "w2", "b2")))
        if not self._networks:
            raise KeyError("net0.w1")

    def words(self, features: np.ndarray) -> np.ndarray:
        """The place of a sound among words, float32 ``(384,)`` of unit length."""
        x = np.clip((features - self._mean) / self._scale, -_CLIP, _CLIP) @ self._projection
        total = np.zeros(self._networks[0][3].size, dtype=np.float32)
        for w1, b1, w2, b2 in self._networks:
            out = np.maximum(x @ w1 + b1, 0.0) @ w2 + b2
            total += out / max(float(np.linalg.norm(out)), 1e-9)
        return total / np.float32(max(float(np.linalg.norm(total)), 1e-9))

    def likeness(self, blocks: np.ndarray) -> np.ndarray:
        """The place of a sound among sounds, float32 ``(512,)`` of unit length."""
        mean, scale = self._likeness
        out = np.clip((np.log1p(blocks.mean(axis=0)) - mean) / scale, -_CLIP, _CLIP)
        return (out / max(float(np.linalg.norm(out)), 1e-9)).astype(np.float32)


__all__ = ["BLOCK_FRAMES", "FORMAT", "Bridge", "bridge_file", "pooled"]
