"""Which embedders there are, and how each is described and loaded.

``describe`` functions are light: they hash files and read headers. ``load`` functions and tasks may
import heavy libraries and are meant for the model process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders import clap_store
from foley_desktop.index.embedders.spaces import Description, WindowedEmbedder
from foley_desktop.index.protocols import TextEmbedder


class Place(NamedTuple):
    """Where checkpoints that the user added lie, and the device (``cpu``, ``cuda``, ``mps``) they run on."""

    models: Path | None = None
    device: str = "cpu"


HERE = Place()


class Entry(NamedTuple):
    """How one embedder comes to be. Text embedders have ``load_text`` alone."""

    describe: Callable[[Place], Description]
    load_text: Callable[[Place], TextEmbedder]
    load_audio: Callable[[Place], WindowedEmbedder] | None = None


def _describe_minilm(_place: Place) -> Description:
    from foley_desktop.index.embedders import minilm

    return Description(minilm.model_id(), minilm.DIM)


def _load_minilm(_place: Place) -> TextEmbedder:
    from foley_desktop.index.embedders.minilm import shared

    return shared()


def _describe_compact(_place: Place) -> Description:
    from foley_desktop.index.embedders import compact

    return compact.describe()


def _load_compact_text(_place: Place) -> TextEmbedder:
    from foley_desktop.index.embedders.compact import CompactText

    return CompactText()


def _load_compact(_place: Place) -> WindowedEmbedder:
    from foley_desktop.index.embedders.compact import CompactEmbedder

    return CompactEmbedder()


def _describe_hash(_place: Place) -> Description:
    from foley_desktop.index.embedders import hashing

    return hashing.describe()


def _load_hash(_place: Place) -> WindowedEmbedder:
    from foley_desktop.index.embedders.hashing import HashEmbedder

    return HashEmbedder()


def _describe_hash_text(_place: Place) -> Description:
    from foley_desktop.index.embedders.hashing import HashTextEmbedder

    text = HashTextEmbedder()
    return Description(text.model_id, text.dim)


def _load_hash_text(_place: Place) -> TextEmbedder:
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


def _devices(report: object) -> dict[str, Any]:
    from foley_desktop.index.embedders import clap

    return clap.devices(report)


TASKS: dict[str, Callable[..., dict[str, Any]]] = {"clap.take": clap_store.take, "devices": _devices}
"""Work for a model process that is no embedding, as ``task(report, **arguments)``."""


def _describe_clap(name: str, place: Place) -> Description:
    from foley_desktop.index.embedders import clap

    return clap.describe(place.models, name)


def _load_clap(name: str, place: Place) -> WindowedEmbedder:
    from foley_desktop.index.embedders import clap

    clap_store.note(place.models, name)
    assert place.models is not None
    return clap.shared(place.models, name, place.device)


def entry(name: str) -> Entry:
    """The embedder of this name; ``clap`` and ``clap-…`` are checkpoints that the user added, with ``:half``
    heard with in half precision.

    Raises:
        ModelError: when there is none.
    """
    if clap_store.is_name(name):
        load = partial(_load_clap, name)
        return Entry(partial(_describe_clap, name), load, load)
    try:
        return _ENTRIES[name]
    except KeyError:
        known = ", ".join(sorted([*_ENTRIES, clap_store.NAME]))
        raise ModelError(f"There is no model called {name}.", hint=f"Known models: {known}.") from None


def describe(name: str, place: Place = HERE) -> Description:
    """The spaces of an embedder, without loading it.

    Raises:
        ModelError: when it does not exist, is not installed, or has no weights yet.
    """
    return entry(name).describe(place)


def text_model(names: tuple[str, ...]) -> str:
    """Which of these models ranks by the meaning of words: MiniLM, or hashed words beside "hash"."""
    for name in names:
        if name in TEXT_EMBEDDERS:
            return name
    return "hash-text" if "hash" in names else "minilm"
