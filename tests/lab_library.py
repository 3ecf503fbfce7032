"""A small library and golden set for the tests of the relevance lab: made up in seconds, without a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

from foley_desktop.eval.golden import GoldenQuery, GoldenSet
from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library.service import LibraryService
from foley_desktop.settings import DataFolder, Settings

THINGS = ("dog", "door", "rain", "engine", "bell", "glass", "wind", "fire")
DOINGS = ("bark", "creak", "heavy", "start", "ring", "break", "howl", "crackle")
PLACES = ("kitchen", "street", "forest")


def write_clips(root: Path) -> Path:
    """24 clips: each thing with its doing in three places, in folders by place."""
    rng = np.random.default_rng(7)
    for thing, doing in zip(THINGS, DOINGS, strict=True):
        for place in PLACES:
            file = root / place / f"{thing} {doing} {place}.wav"
            file.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(file, 0.3 * rng.standard_normal(2205), 22050)
    return root


def open_library(data: Path, *, embedder: str = "hash") -> LibraryService:
    """A library with hashed vectors; what was indexed there before is there again."""
    folder = DataFolder(data)
    folder.create()
    settings = Settings.load(folder.settings_file)
    settings.embedder = embedder
    settings.save(folder.settings_file)
    return LibraryService(folder, models=InProcessModels(("hash", "hash-text")), settings=settings)


def index(service: LibraryService, *folders: Path) -> None:
    """Indexes to the end."""
    for _ in service.index(list(folders) or None):
        pass


def make_golden(name: str = "made up") -> GoldenSet:
    """A query for each thing: its clip in the kitchen is ideal, that in the street acceptable.

    The clip in the forest is graded wrong, so every clip with the query's words carries a grade.
    """
    queries = tuple(
        GoldenQuery(f"q{n:03}", f"{thing} {doing}") for n, (thing, doing) in enumerate(pairs(), 1)
    )
    qrels = {
        query.id: {
            f"{place}/{query.text} {place}.wav": grade for place, grade in zip(PLACES, (2, 1, 0), strict=True)
        }
        for query in queries
    }
    return GoldenSet(name, queries, qrels)


def pairs() -> list[tuple[str, str]]:
    return list(zip(THINGS, DOINGS, strict=True))
