"""From what two networks hear in a sound, and from words, into the space where both meet.

The inner product of a sound and a text is the sum of three scores, each with columns of its own:

* *heard*: the sound's whitened features against what sounds of such words were like in training (the text is
  mapped into the space of sounds by a kernel regression over captions);
* *categories*: how likely the aiSFX network, which professional libraries taught, finds each category of the
  Universal Category System, against the categories of the phrases that the text is near;
* *classes*: how likely YAMNet, which AudioSet taught, finds each of its 521 everyday sounds, against the
  classes whose names the text is near.

Padding keeps every sound's vector at length one without losing how sure the last two scores are, which their
lengths tell (Bachrach et al., "Speeding up the Xbox recommender system using a Euclidean transformation for
inner-product spaces", RecSys 2014). Trained by ``resources/compact/train_bridge.py``.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders.aisfx_net import EMBEDDING_DIM
from foley_desktop.index.embedders.weights import read_safetensors
from foley_desktop.index.embedders.yamnet import CLASSES
from foley_desktop.settings import resource

FORMAT = "6"
HEARD = 384
CATEGORIES = 82
DIM = 992
"""Heard, categories, classes, padding; divisible by 32, as quantising indexes like it."""
KINDS = 128
"""Columns by which the likeness space compares what kinds of sound two clips seem to be."""
LIKENESS_DIM = HEARD + KINDS
_USED = HEARD + CATEGORIES + CLASSES
PADDING = DIM - _USED

HIDDEN = 256 + 128
"""Columns of hidden layers before the logits of each head, see ``AisfxNetwork.head_features``."""

CAPTION_WIDTH = 0.2
_CLIP = 6.0
_TEMPERATURE = 2.0
_FLOOR = 1e-2
_PHRASE_TEMPERATURE = 0.05
_NAME_TEMPERATURE = 0.04
_TINY = 1e-9


class Listened(NamedTuple):
    """What the networks make of one window.

    Of aiSFX, for each of t blocks: ``blocks`` are ``AisfxNetwork.features`` ``(t, 1920)``, ``heads`` the
    first heads' layers ``(t, n)``. Of YAMNet, for each of u patches: ``embeddings`` ``(u, 1024)`` and
    ``logits`` ``(u, 521)``.
    """

    blocks: np.ndarray
    heads: np.ndarray
    embeddings: np.ndarray
    logits: np.ndarray


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


def timbre(listened: Listened) -> np.ndarray:
    """What is heard of one window, float32 ``(4480,)``: means and maxima over time of both networks.

    Logarithms, since a few dimensions would outweigh all others otherwise.
    """
    blocks, embeddings = listened.blocks, listened.embeddings
    parts = [blocks.mean(axis=0), blocks[:, :EMBEDDING_DIM].max(axis=0)]
    parts += [embeddings.mean(axis=0), embeddings.max(axis=0)]
    return np.log1p(np.concatenate(parts))


def category_evidence(heads: np.ndarray, columns: list[np.ndarray]) -> np.ndarray:
    """How much speaks for each category: the logarithm of its mean probability, ``(82,)``.

    ``columns`` say for each of the first heads which category each of its classes is. A category that
    a head does not know is judged by the others.
    """
    total = np.zeros(CATEGORIES, dtype=np.float32)
    voices = np.zeros(CATEGORIES, dtype=np.float32)
    first = 0
    for known in columns:
        logits = heads[:, first + HIDDEN : first + HIDDEN + known.size]
        first += HIDDEN + known.size
        total[known] += softmax(logits / _TEMPERATURE).mean(axis=0)
        voices[known] += 1.0
    return np.log(total / np.maximum(voices, 1.0) + _FLOOR).astype(np.float32)


def class_evidence(logits: np.ndarray) -> np.ndarray:
    """How much speaks for each class: the logarithm of its mean probability, float32 ``(521,)``."""
    probabilities = 1.0 / (1.0 + np.exp(-np.clip(logits.astype(np.float32), -30.0, 30.0)))
    return np.log(probabilities.mean(axis=0) + _FLOOR).astype(np.float32)


def about(vectors: np.ndarray, phrases: np.ndarray, first_of: np.ndarray, temperature: float) -> np.ndarray:
    """Which of some things texts are about, ``(n, things)`` of probabilities.

    ``phrases`` are sorted by what they name, ``first_of`` holds the first phrase of each thing; a thing is as
    near to a text as its nearest phrase.
    """
    nearest = np.maximum.reduceat(vectors @ phrases.T, first_of, axis=1)
    return softmax(nearest / temperature)


def caption_kernel(vectors: np.ndarray, captions: np.ndarray) -> np.ndarray:
    """How alike texts and captions are, in (0, 1]: ``exp((cosine - 1) / width)``."""
    out: np.ndarray = np.exp((vectors @ captions.T - 1.0) / CAPTION_WIDTH)
    return out


class Projection:
    """Standardised features on principal directions."""

    def __init__(self, arrays: dict[str, np.ndarray], name: str) -> None:
        self._mean, self._scale, self._to = (arrays[f"{name}.{p}"] for p in ("mean", "scale", "projection"))

    def __call__(self, features: np.ndarray) -> np.ndarray:
        out: np.ndarray = np.clip((features - self._mean) / self._scale, -_CLIP, _CLIP) @ self._to
        return out


class Bridge:
    """The trained weights.

    Raises:
        ModelError: when the file is missing, damaged or of another version.
    """

    def __init__(self, path: Path | None = None) -> None:
        arrays, metadata = read_safetensors(path or bridge_file())
        if metadata.get("format") != FORMAT:
            raise ModelError("The bridge's weights are of another version of Foley Desktop.")
        self._take(arrays)

    @classmethod
    def of(cls, arrays: dict[str, np.ndarray]) -> Bridge:
        """A bridge from the arrays that its file would hold."""
        made = cls.__new__(cls)
        made._take(arrays)
        return made

    def _take(self, arrays: dict[str, np.ndarray]) -> None:
        try:
            self._load({name: np.asarray(array) for name, array in arrays.items()})
        except KeyError as error:
            raise ModelError("The bridge's file lacks a layer.", cause=error) from error

    def _load(self, raw: dict[str, np.ndarray]) -> None:
        arrays = {k: v.astype(np.float32) if v.dtype.kind == "f" else v for k, v in raw.items()}
        self._heard = Projection(arrays, "heard")
        self._captions = restored(arrays, "captions")
        self._caption_coefficients = arrays["captions.coefficients"]
        self._phrases, self._first_of = restored(arrays, "phrases"), arrays["phrases.first"]
        self._columns = [arrays[f"categories.head{i}"] for i in range(3)]
        self._evidence_mean = arrays["categories.mean"]
        self._names, self._first_name = restored(arrays, "names"), arrays["names.first"]
        self._class_mean, self._kinds = arrays["classes.mean"], arrays["classes.kinds"]
        self._gains = [float(gain) for gain in arrays["gains"]]
        self._length = float(arrays["length"][0])
        self._kinds_share = float(arrays["likeness.share"][0])

    def vectors(self, listened: Listened) -> tuple[np.ndarray, np.ndarray]:
        """The two vectors of one window, float32 of unit length: ``(992,)`` joint, ``(512,)`` likeness."""
        parts = self.answer_parts(listened)
        return self._joint(parts), self._likeness(parts[0], parts[2])

    def answer_parts(self, listened: Listened) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What one window answers to each part: ``(384,)`` of unit length, ``(82,)``, ``(521,)``, float32.

        The last two are how much more than usual speaks for each category and each class.
        """
        heard = unit_rows(self._heard(timbre(listened)))
        categories = category_evidence(listened.heads, self._columns) - self._evidence_mean
        return heard, categories, class_evidence(listened.logits) - self._class_mean

    def _joint(self, parts: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
        out = np.zeros(DIM, dtype=np.float32)
        np.concatenate([part * gain for part, gain in zip(parts, self._gains, strict=True)], out=out[:_USED])
        norm = float(np.linalg.norm(out))
        out[-1] = np.sqrt(max(self._length**2 - norm**2, 0.0))
        return unit_rows(out)

    def _likeness(self, heard: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """The place of a sound among sounds, float32 ``(512,)`` of unit length.

        What is heard, and beside it, with less weight, what kind of sound it seems to be.
        """
        return unit_rows(np.concatenate([heard, unit_rows(classes @ self._kinds) * self._kinds_share]))

    def probabilities(self, joint: np.ndarray) -> np.ndarray:
        """How likely each of YAMNet's classes is in a window, float32 ``(521,)``, from its joint vector."""
        first = HEARD + CATEGORIES
        evidence = joint[first : first + CLASSES] * (self._length / self._gains[2]) + self._class_mean
        out: np.ndarray = np.clip(np.exp(evidence) - _FLOOR, 0.0, 1.0)
        return out

    def question(self, plain: np.ndarray, as_sound: np.ndarray) -> np.ndarray:
        """The joint space's vectors of texts, float32 ``(n, 992)``, unit rows.

        ``plain`` are MiniLM vectors of the texts, ``as_sound`` those of "sound of" them.
        """
        out = np.zeros((len(plain), DIM), dtype=np.float32)
        if len(plain):
            out[:, :_USED] = np.concatenate(self.question_parts(plain, as_sound), axis=1)
        return unit_rows(out)

    def question_parts(
        self, plain: np.ndarray, as_sound: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What texts ask of each part: ``(n, 384)``, ``(n, 82)``, ``(n, 521)``."""
        both = unit_rows(plain + as_sound)
        heard = unit_rows(caption_kernel(both, self._captions) @ self._caption_coefficients)
        categories = about(plain, self._phrases, self._first_of, _PHRASE_TEMPERATURE)
        return heard, categories, about(plain, self._names, self._first_name, _NAME_TEMPERATURE)


def restored(arrays: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Unit rows from the whole numbers they are stored as."""
    return unit_rows(arrays[name].astype(np.float32))


@lru_cache(maxsize=1)
def shared() -> Bridge:
    """The one bridge of this process."""
    return Bridge()
