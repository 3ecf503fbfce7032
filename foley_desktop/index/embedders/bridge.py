"""From the features of a sound to the space of words, in a handful of small matrix products.

A vector of the joint space has two parts. The first is MiniLM's space, into which a sound's features are
mapped by a kernel regression and a few small networks, all trained by
``resources/compact/train_bridge.py``. The second is what the aiSFX network was taught by professional
libraries: how likely each category of the Universal Category System is. A query finds its categories by
looking up the phrases it is near. The inner product of two vectors is thus the sum of two scores, "the
words fit" and "the category fits"; a padding dimension keeps every sound's vector at length one without
losing how sure the first part is, which its length tells (Bachrach et al., "Speeding up the Xbox
recommender system using a Euclidean transformation", RecSys 2014).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders.weights import read_safetensors
from foley_desktop.settings import resource

FORMAT = "4"
WORDS = 384
DIM = 480
"""384 of words, 82 of categories, padding; divisible by 32, as quantising indexes like it."""

HIDDEN = 256 + 128
"""Columns of hidden layers before the logits of each head, see ``AisfxNetwork.head_features``."""

_CLIP = 6.0
_TEMPERATURE = 2.0
_FLOOR = 1e-2
_PHRASE_TEMPERATURE = 0.05
_TINY = 1e-9


def bridge_file() -> Path:
    """The trained weights that come with the application."""
    return resource("compact/bridge.safetensors")


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Rows scaled to length one, float32; rows of zeros stay."""
    out: np.ndarray = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), _TINY)
    return out.astype(np.float32)


def softmax(rows: np.ndarray) -> np.ndarray:
    """Each row as probabilities."""
    out: np.ndarray = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return out / out.sum(axis=-1, keepdims=True)


def pooled(blocks: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """The features of one window from those of its blocks, float32 ``(n,)``.

    ``blocks`` are aiSFX embeddings ``(t, 512)``, ``heads`` the first heads' layers for each of them.
    The embedding enters as the logarithm of its mean and of its maximum, since a few of its
    dimensions would outweigh all others otherwise.
    """
    return np.concatenate([loudness(blocks), heads.mean(axis=0)])


def loudness(blocks: np.ndarray) -> np.ndarray:
    """Logarithms of the mean and the maximum of each embedding dimension, float32 ``(1024,)``."""
    return np.concatenate([np.log1p(blocks.mean(axis=0)), np.log1p(blocks.max(axis=0))])


def category_evidence(heads: np.ndarray, columns: list[np.ndarray], categories: int) -> np.ndarray:
    """How much speaks for each category: the logarithm of its mean probability, ``(categories,)``.

    ``columns`` say for each of the first heads which category each of its classes is. A category that
    a head does not know is judged by the others.
    """
    total = np.zeros(categories, dtype=np.float32)
    voices = np.zeros(categories, dtype=np.float32)
    first = 0
    for known in columns:
        logits = heads[:, first + HIDDEN : first + HIDDEN + known.size]
        first += HIDDEN + known.size
        total[known] += softmax(logits / _TEMPERATURE).mean(axis=0)
        voices[known] += 1.0
    return np.log(total / np.maximum(voices, 1.0) + _FLOOR).astype(np.float32)


def category_question(vectors: np.ndarray, phrases: np.ndarray, first_of: np.ndarray) -> np.ndarray:
    """Which categories texts are about, ``(n, categories)`` of probabilities.

    ``phrases`` are sorted by category, ``first_of`` holds the first phrase of each; a category is as
    near to a text as its nearest phrase.
    """
    nearest = np.maximum.reduceat(vectors @ phrases.T, first_of, axis=1)
    return softmax(nearest / _PHRASE_TEMPERATURE)


class Bridge:
    """The trained weights.

    Raises:
        ModelError: when the file is missing, damaged or of another version.
    """

    def __init__(self, path: Path | None = None) -> None:
        arrays, metadata = read_safetensors(path or bridge_file())
        if metadata.get("format") != FORMAT:
            raise ModelError("The bridge's weights are of another version of Foley Desktop.")
        try:
            self._load({name: np.asarray(array) for name, array in arrays.items()})
        except KeyError as error:
            raise ModelError("The bridge's file lacks a layer.", cause=error) from error

    def _load(self, raw: dict[str, np.ndarray]) -> None:
        arrays = {k: v.astype(np.float32) if v.dtype.kind == "f" else v for k, v in raw.items()}
        self._features = arrays["mean"], arrays["scale"], arrays["projection"]
        self._kernel = arrays["kernel.centres"], arrays["kernel.coefficients"]
        self._width, self._kernel_gain = (float(x) for x in arrays["kernel.scalars"])
        self._networks: list[tuple[np.ndarray, ...]] = []
        while f"net{len(self._networks)}.w1" in arrays:
            name = f"net{len(self._networks)}."
            self._networks.append(tuple(arrays[name + part] for part in ("w1", "b1", "w2", "b2")))
        self._network_gain = float(arrays["networks.gain"][0])
        self._columns = [arrays[f"categories.head{i}"] for i in range(3)]
        self._evidence_mean = arrays["categories.mean"]
        self._evidence_gain = float(arrays["categories.gain"][0])
        self._phrases, self._first_of = arrays["phrases"], arrays["phrases.first"]
        self._words_mean = arrays["words.mean"]
        self._length = float(arrays["length"][0])
        self._likeness = tuple(arrays[f"likeness.{part}"] for part in ("mean", "scale", "projection"))
        self._likeness_words, self._words_share = arrays["likeness.words"], float(arrays["likeness.share"][0])

    def words(self, features: np.ndarray) -> np.ndarray:
        """The place of a sound among words, float32 ``(384,)``, the longer the surer."""
        mean, scale, projection = self._features
        x = np.clip((features - mean) / scale, -_CLIP, _CLIP) @ projection
        centres, coefficients = self._kernel
        distances = np.square(centres - x).sum(axis=1)
        out = np.exp(-distances / self._width) @ coefficients * self._kernel_gain
        for w1, b1, w2, b2 in self._networks:
            hidden = np.maximum(x @ w1 + b1, 0.0) @ w2 + b2
            out = out + unit_rows(hidden) * (self._network_gain / len(self._networks))
        return out.astype(np.float32)

    def vectors(self, blocks: np.ndarray, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The two vectors of one window, float32 of unit length: ``(480,)`` joint, ``(512,)`` likeness.

        ``blocks`` are aiSFX embeddings ``(t, 512)``, ``heads`` the first heads' layers ``(t, n)``.
        """
        words = self.words(pooled(blocks, heads))
        return self._joint(words, heads), self.likeness(words, blocks)

    def _joint(self, words: np.ndarray, heads: np.ndarray) -> np.ndarray:
        evidence = category_evidence(heads, self._columns, self._evidence_mean.size)
        evidence = (evidence - self._evidence_mean) * self._evidence_gain
        out = np.zeros(DIM, dtype=np.float32)
        out[:WORDS] = words
        out[WORDS : WORDS + evidence.size] = evidence
        norm = float(np.linalg.norm(out))
        out[-1] = np.sqrt(max(self._length**2 - norm**2, 0.0))
        return unit_rows(out)

    def likeness(self, words: np.ndarray, blocks: np.ndarray) -> np.ndarray:
        """The place of a sound among sounds, float32 ``(512,)`` of unit length.

        The whitened embedding, and beside it, with less weight, what kind of sound it seems to be.
        """
        mean, scale, projection = self._likeness
        heard = unit_rows(np.clip((loudness(blocks) - mean) / scale, -_CLIP, _CLIP) @ projection)
        meant = unit_rows(words @ self._likeness_words) * self._words_share
        return unit_rows(np.concatenate([heard, meant]))

    def question(self, plain: np.ndarray, as_sound: np.ndarray) -> np.ndarray:
        """The joint space's vectors of texts, float32 ``(n, 480)``, unit rows.

        ``plain`` are MiniLM vectors of the texts, ``as_sound`` those of "sound of" them.
        """
        out = np.zeros((len(plain), DIM), dtype=np.float32)
        if len(plain):
            out[:, :WORDS] = unit_rows(unit_rows(plain + as_sound) - self._words_mean)
            asked = category_question(plain, self._phrases, self._first_of)
            out[:, WORDS : WORDS + asked.shape[1]] = asked
        return unit_rows(out)


@lru_cache(maxsize=1)
def shared() -> Bridge:
    """The one bridge of this process."""
    return Bridge()
