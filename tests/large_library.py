"""A library of any number of clips that are not there: catalog, words and random vectors, made in bulk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from lab_library import open_library

from foley_desktop.eval.golden import GoldenQuery, GoldenSet
from foley_desktop.index.protocols import Document, Window
from foley_desktop.index.vectors import LanceVectorIndex
from foley_desktop.library.service import LibraryService

THINGS = (
    "door", "rain", "dog", "engine", "glass", "wind", "bell", "fire", "water", "crowd",
    "metal", "wood", "train", "bird", "cloth", "steps", "thunder", "phone", "clock", "saw",
)  # fmt: skip
DOINGS = ("open", "close", "heavy", "soft", "far", "near", "break", "start", "stop", "loop")
_BATCH = 20_000


def clip_id(number: int) -> str:
    return f"clip-{number:07}"


def words(number: int) -> str:
    """Every thousandth clip has the same words, with its number behind."""
    thing = THINGS[number % len(THINGS)]
    doing = DOINGS[number // len(THINGS) % len(DOINGS)]
    return f"{thing} {doing} take {number}"


def make(folder: Path, sounds: Path, count: int) -> LibraryService:
    """An open library with ``count`` clips, of which no file is there."""
    sounds.mkdir(parents=True, exist_ok=True)
    service = open_library(folder)
    root = service.add_root(sounds)
    with service.catalog.write() as connection:
        connection.executemany(
            "INSERT INTO clips (id, root_id, rel_path, name_key, first_hash, ordinal, audio_hash, "
            "duration_s, frames, samplerate, channels, format, size, mtime_ns, ctime_ns, inode, dev, "
            "added_s) "
            "VALUES (?, ?, ?, ?, ?, 0, ?, 1.0, 48000, 48000, 1, 'WAV', 1, 1, 1, ?, 1, 1.0)",
            (
                (clip_id(n), root.id, f"{words(n)}.wav".encode(), words(n), clip_id(n), clip_id(n), n)
                for n in range(count)
            ),
        )
    service.indexes.keyword.upsert(
        Document(clip_id(n), name=words(n), folder="synthetic", ext="wav") for n in range(count)
    )
    service.indexes.keyword.commit()
    for seed, index in enumerate((service.indexes.semantic, service.indexes.audio)):
        _fill(index, count, seed)
    return service


def _fill(index: LanceVectorIndex, count: int, seed: int) -> None:
    for start, vectors in _vectors(count, index.dim, seed):
        index.upsert_many(
            {clip_id(start + n): [Window(0.0, 1.0, vector)] for n, vector in enumerate(vectors)}
        )
    index.optimize()


def _vectors(count: int, dim: int, seed: int) -> Iterator[tuple[int, np.ndarray]]:
    rng = np.random.default_rng(seed)
    for start in range(0, count, _BATCH):
        rows = rng.standard_normal((min(_BATCH, count - start), dim)).astype(np.float32)
        yield start, rows / np.linalg.norm(rows, axis=1, keepdims=True)


def golden(queries: int) -> GoldenSet:
    """A set whose queries are the words of some clips, which are their ideal answers."""
    asked = [GoldenQuery(f"q{n:03}", words(7 * n)) for n in range(queries)]
    qrels = {query.id: {clip_id(7 * n): 2, clip_id(7 * n + 200): 1} for n, query in enumerate(asked)}
    return GoldenSet("synthetic", tuple(asked), qrels)
