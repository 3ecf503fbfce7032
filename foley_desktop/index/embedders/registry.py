"""Which embedders there are, and how each is described and loaded.

``describe`` functions are light: they hash files and read headers. ``load`` functions may import
heavy libraries and are meant for the model process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders.spaces import Description, WindowedEmbedder
from foley_desktop.index.protocols import TextEmbedder


class Entry(NamedTuple):
    """How one embedder comes to be. Text embedders have ``load_text`` alone."""

    describe: Callable[[], Description]
    load_text: Callable[[], TextEmbedder]
    load_audio: Callable[[], WindowedEmbedder] | None = None


def _describe_minilm() -> Description:
    from foley_desktop.index.embedders import minilm

    return Description(minilm.model_id(), minilm.DIM)


def _load_minilm() -> TextEmbedder:
    from foley_desktop.index.embedders.minilm import shared

    return shared()


def _describe_compact() -> Description:
    from foley_desktop.index.embedders import compact

    return compact.describe()


def _load_compact_text() -> TextEmbedder:
    from foley_desktop.index.embedders.compact import CompactText

    return CompactText()


def _load_compact() -> WindowedEmbedder:
    from foley_desktop.index.embedders.compact import CompactEmbedder

    return CompactEmbedder()


def _describe_hash() -> Description:
    from foley_desktop.index.embedders import hashing

    return hashing.describe()


def _load_hash() -> WindowedEmbedder:
    from foley_desktop.index.embedders.hashing import HashEmbedder

    return HashEmbedder()


def _describe_hash_text() -> Description:
    from foley_desktop.index.embedders.hashing import HashTextEmbedder

    text = HashTextEmbedder()
    return Description(text.model_id, text.dim)


def _load_hash_text() -> TextEmbedder:
    from foley_desktop.index.embedders.hashing import HashTextEmbedder

    return HashTextEmbedder()


_ENTRIES = {
    "minilm": Entry(_describe_minilm, _load_minilm),
    "compact": Entry(_describe_compact, _load_compact_text, _load_compact),
    "hash": Entry(_describe_hash, _load_hash, _load_hash),
    "hash-text": Entry(_describe_hash_text, _load_hash_text),
}

TEXT_EMBEDDERS = ("minilm", "hash-text")
"""Embedders of text alone, any of which can be the meaning ranker."""


def entry(name: str) -> Entry:
    """The embedder of this name.

    Raises:
        ModelError: when there is none.
    """
    try:
        return _ENTRIES[name]
    except KeyError:
        known = ", ".join(sorted(_ENTRIES))
        raise ModelError(f"There is no model called {name}.", hint=f"Known models: {known}.") from None


def describe(name: str) -> Description:
    """The spaces of an embedder, without loading it.

    Raises:
        ModelError: when it does not exist or is not installed.
    """
    return entry(name).describe()


def text_model(names: tuple[str, ...]) -> str:
    """Which of these models ranks by the meaning of words: MiniLM, or hashed words beside "hash"."""
    for name in names:
        if name in TEXT_EMBEDDERS:
            return name
    return "hash-text" if "hash" in names else "minilm"
