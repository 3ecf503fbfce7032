"""The default embedder: works offline at once, from packages of the registry and our own bridge.

Sound goes through the aiSFX network and the bridge into MiniLM's space of sentences, where queries
live; likeness is measured in the space of the network itself. One pass makes both vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from foley_desktop.index.embedders import minilm
from foley_desktop.index.embedders.aisfx_net import EMBEDDING_DIM, AisfxNetwork, checkpoint_path
from foley_desktop.index.embedders.bridge import Bridge, bridge_file, pooled
from foley_desktop.index.embedders.frontend import blocks_of, log_mel
from foley_desktop.index.embedders.spaces import Description, Vectors, WindowedEmbedder, unit
from foley_desktop.index.embedders.weights import fingerprint

PIPELINE = "1"
"""Changes when windows, features or pooling do, so that old vectors are never mixed with new ones."""

_HOP_FRAMES = 50


def model_files() -> list[Path]:
    """The files this embedder reads.

    Raises:
        ModelError: when a package is missing.
    """
    return [checkpoint_path(), *minilm.model_files(), bridge_file()]


def describe() -> Description:
    """Ids and sizes of the two spaces, without loading a model."""
    sound = fingerprint(checkpoint_path(), bridge_file())
    joint = fingerprint(checkpoint_path(), *minilm.model_files(), bridge_file())
    return Description(
        f"compact-{joint}-{PIPELINE}", minilm.DIM, f"compact-likeness-{sound}-{PIPELINE}", EMBEDDING_DIM
    )


class CompactText:
    """Queries in the joint space: the query and "sound of" it, halfway between."""

    def __init__(self) -> None:
        self.model_id = describe().model_id
        self.dim = minilm.DIM
        self._minilm = minilm.shared()

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        """Unit vectors, float32 ``(n, 384)``."""
        texts = [text] if isinstance(text, str) else list(text)
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        both = self._minilm.embed_text([*texts, *(f"sound of {t}" for t in texts)])
        return np.stack([unit(a + b) for a, b in zip(both[: len(texts)], both[len(texts) :], strict=True)])


@lru_cache(maxsize=1)
def _text() -> CompactText:
    return CompactText()


class CompactEmbedder(WindowedEmbedder):
    """aiSFX, the bridge and MiniLM as one embedder with a sound-only space beside the joint one."""

    def __init__(self, bridge: Path | None = None) -> None:
        super().__init__(describe())
        self._network = AisfxNetwork()
        self._bridge = Bridge(bridge)

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        return _text().embed_text(text)

    def submit(self, samples: np.ndarray) -> Callable[[], Vectors]:
        blocks = self._network.embed(blocks_of(log_mel(samples), _HOP_FRAMES))
        features = pooled(blocks, self._network.head_features(blocks))
        vectors = {
            self.model_id: self._bridge.words(features),
            str(self.description.likeness_model_id): self._bridge.likeness(blocks),
        }
        return lambda: vectors
