"""The models a user can choose from, and the state each of them is in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from foley_desktop.errors import FoleyError
from foley_desktop.index.embedders.registry import describe


class ModelInfo(NamedTuple):
    """One model. ``state`` is ``installed`` or ``missing``; ``reason`` says what is missing."""

    name: str
    model_id: str | None
    dim: int | None
    state: Literal["installed", "missing"]
    size_bytes: int
    licence: str
    description: str
    reason: str = ""


def list_models() -> list[ModelInfo]:
    """Every model that can be the active embedder, whether it is installed or not."""
    return [_compact()]


def _compact() -> ModelInfo:
    licence = "aiSFX weights CC BY 4.0, all-MiniLM-L6-v2 Apache-2.0, bridge GPL-3.0-or-later"
    text = "Finds sounds by words and by likeness, offline, on any processor."
    try:
        from foley_desktop.index.embedders.compact import model_files

        size = sum(Path(file).stat().st_size for file in model_files())
        described = describe("compact")
    except FoleyError as error:
        return ModelInfo("compact", None, None, "missing", 0, licence, text, error.sentence)
    return ModelInfo("compact", described.model_id, described.dim, "installed", size, licence, text)
