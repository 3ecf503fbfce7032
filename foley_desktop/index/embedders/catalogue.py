"""The embedders a user can choose from, and the state each of them is in."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from foley_desktop.errors import FoleyError
from foley_desktop.index.embedders.registry import describe

READY = "ready"


class ModelInfo(NamedTuple):
    """One embedder. ``state`` is ``ready``, or a short phrase for what is missing."""

    name: str
    model_id: str | None
    dim: int | None
    state: str
    size_bytes: int
    licence: str
    description: str


def list_models(folder: Path) -> list[ModelInfo]:
    """Every embedder that can be the active one, usable or not.

    Args:
        folder: Where checkpoints that the user added are kept.
    """
    return [_compact(), _hash()]


def _compact() -> ModelInfo:
    licence = "aiSFX weights CC BY 4.0, all-MiniLM-L6-v2 Apache-2.0, bridge GPL-3.0-or-later"
    text = "Finds sounds by words and by likeness, offline, on any processor."
    try:
        from foley_desktop.index.embedders.compact import model_files

        size = sum(Path(file).stat().st_size for file in model_files())
        described = describe("compact")
    except FoleyError as error:
        return ModelInfo("compact", None, None, error.sentence, 0, licence, text)
    return ModelInfo("compact", described.model_id, described.dim, READY, size, licence, text)


def _hash() -> ModelInfo:
    described = describe("hash")
    text = "Knows no meaning; for tests and for machines without the model packages."
    return ModelInfo("hash", described.model_id, described.dim, READY, 0, "GPL-3.0-or-later", text)
