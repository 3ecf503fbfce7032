"""The default embedder: works offline at once, from packages of the registry and our own bridge.

Sound goes through two networks, aiSFX and YAMNet, and the bridge into a joint space with MiniLM's sentences
and the kinds of sound there are; likeness is measured in the whitened space of the networks. One pass makes
both vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from foley_desktop.index.embedders import bridge, minilm, yamnet
from foley_desktop.index.embedders.aisfx_net import EMBEDDING_DIM, AisfxNetwork, checkpoint_path
from foley_desktop.index.embedders.frontend import SAMPLERATE, blocks_of, log_mel
from foley_desktop.index.embedders.spaces import Description, Vectors, WindowedEmbedder
from foley_desktop.index.embedders.weights import fingerprint

PIPELINE = "5"
"""Changes when windows, features or pooling do, so that old vectors are never mixed with new ones."""

HOP_FRAMES = 50
"""Blocks overlap by half, as in the network's own paper."""


def model_files() -> list[Path]:
    """The files this embedder reads.

    Raises:
        FoleyError: when a package or the bridge is missing.
    """
    return [checkpoint_path(), *yamnet.model_files(), *minilm.model_files(), bridge.bridge_file()]


def describe() -> Description:
    """Ids and sizes of the two spaces, without loading a model."""
    heard = (checkpoint_path(), *yamnet.model_files(), bridge.bridge_file())
    joint = fingerprint(*heard, *minilm.model_files())
    sound = fingerprint(*heard)
    return Description(
        f"compact-{joint}-{PIPELINE}",
        bridge.DIM,
        f"compact-likeness-{sound}-{PIPELINE}",
        bridge.LIKENESS_DIM,
        padding=bridge.PADDING,
    )


LIKELY = 0.1
"""From this probability on a kind of sound is named."""


def heard_as(windows: Sequence[np.ndarray], count: int = 4) -> list[str]:
    """What kinds of sound a clip seems to hold, the likeliest first, by AudioSet's names; may be empty.

    ``windows`` are its vectors of the joint space, ``(992,)`` each; no model is run.
    """
    if not windows:
        return []
    likely = np.mean([bridge.shared().probabilities(vector) for vector in windows], axis=0)
    names = yamnet.class_names()
    return [names[i] for i in np.argsort(-likely, kind="stable")[:count] if likely[i] >= LIKELY]


class CompactText:
    """Queries in the joint space. Needs MiniLM and the bridge, but not the network."""

    def __init__(self) -> None:
        self.model_id = describe().model_id
        self.dim = bridge.DIM
        self._minilm = minilm.shared()
        self._bridge = bridge.shared()

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        """Unit vectors, float32 ``(n, dim)``."""
        texts = [text] if isinstance(text, str) else list(text)
        plain = self._minilm.embed_text(texts)
        as_sound = self._minilm.embed_text([f"sound of {one}" for one in texts])
        rows = [self._bridge.question(plain[i : i + 1], as_sound[i : i + 1]) for i in range(len(texts))]
        return np.concatenate(rows) if rows else np.zeros((0, self.dim), dtype=np.float32)


class Listener:
    """The two networks that listen."""

    def __init__(self) -> None:
        self._aisfx = AisfxNetwork()
        self._yamnet = yamnet.YamnetNetwork()

    def __call__(self, samples: np.ndarray) -> bridge.Listened:
        """What they make of one window, float32 mono ``(n,)`` at 44.1 kHz that is not silent."""
        import soxr

        blocks = self._aisfx.features(blocks_of(log_mel(samples), HOP_FRAMES))
        heads = self._aisfx.head_features(blocks[:, :EMBEDDING_DIM])
        embeddings, logits = self._yamnet(soxr.resample(samples, SAMPLERATE, yamnet.SAMPLERATE))
        return bridge.Listened(blocks, heads, embeddings, logits)


class CompactEmbedder(WindowedEmbedder):
    """aiSFX, YAMNet, the bridge and MiniLM as one embedder with a sound-only space beside the joint one.

    Args:
        weights: Another bridge than the application's own, for measuring it.
    """

    def __init__(self, weights: Path | None = None) -> None:
        super().__init__(describe())
        self._listener = Listener()
        self._bridge = bridge.Bridge(weights) if weights else bridge.shared()
        self._text: CompactText | None = None

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        if self._text is None:
            self._text = CompactText()
        return self._text.embed_text(text)

    def submit(self, samples: np.ndarray) -> Callable[[], Vectors]:
        joint, likeness = self._bridge.vectors(self._listener(samples))
        vectors = {self.model_id: joint, str(self.description.likeness_model_id): likeness}
        return lambda: vectors
