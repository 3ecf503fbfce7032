"""Helps the tests of indexing: a real library with the hash embedder, and a picture of what is in it."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from job_support import run_with_steps

from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.indexes import Indexes
from foley_desktop.library.ingest import ingest, refill
from foley_desktop.models import IndexReport, Progress
from foley_desktop.settings import DataFolder

QUERIES = ("door", "rain roof", "gravel", "dog barking", "wind", "clip")


class Library:
    """Catalog, indexes and models of one data folder; a context manager."""

    def __init__(self, folder: Path, models: Any = None) -> None:
        self.data = DataFolder(folder)
        self.data.create()
        self.models = models or InProcessModels(("hash",))
        self.catalog = Catalog(self.data.catalog)
        self.indexes = Indexes(self.data, self.models, "hash")
        self.steps: list[Progress] = []

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.indexes.close()
        self.catalog.close()
        self.models.close()

    def index(self, *folders: Path | str, audio: bool = True) -> IndexReport:
        """Indexes folders (none: every root) to the end."""
        chosen = [os.fspath(folder) for folder in folders] or None
        return self.run(ingest(self.catalog, self.indexes, chosen, models=self.models, audio=audio))

    def refill(self) -> IndexReport:
        return self.run(refill(self.catalog, self.indexes, models=self.models))

    def run(self, job: Generator[Progress, None, IndexReport]) -> IndexReport:
        report, self.steps = run_with_steps(job)
        return report

    def ids(self) -> dict[str, str]:
        """Clip id by relative path, of the clips that are there."""
        return {clip.rel_path: clip.id for clip in self.catalog.list_clips(limit=100_000)}

    def picture(self) -> dict[str, Any]:
        """Everything that should be the same however the library came to be."""
        clips = self.catalog.rows("SELECT * FROM clips ORDER BY id")
        passing = {"added_s", "root_id"}
        columns = [name for name in clips[0].keys() if name not in passing] if clips else []  # noqa: SIM118
        tags = self.catalog.rows("SELECT * FROM tags ORDER BY clip_id, source, position")
        booked = self.catalog.rows("SELECT * FROM indexed ORDER BY index_name, version, clip_id")
        rejected = self.catalog.rows("SELECT rel_path, reason FROM rejected ORDER BY rel_path")
        return {
            "clips": [tuple(row[name] for name in columns) for row in clips],
            "tags": [tuple(row) for row in tags],
            "rejected": [tuple(row) for row in rejected],
            "booked": [tuple(row) for row in booked],
            "found": self.found(),
        }

    def found(self, queries: Sequence[str] = QUERIES) -> dict[str, Any]:
        """What each ranker finds, with scores."""
        embedder = self.models.embedder("hash")
        text = self.models.text_embedder()
        results: dict[str, Any] = {}
        for query in queries:
            results[f"keyword {query}"] = self.indexes.keyword.bm25(query, 50)
            results[f"semantic {query}"] = self.indexes.semantic.knn(text.embed_text(query)[0], 50)
            results[f"audio {query}"] = self.indexes.audio.knn_windows(embedder.embed_text(query)[0], 50)
        for clip_id in sorted(self.indexes.likeness.ids()):
            mean = self.indexes.likeness.mean_vector(clip_id)
            results[f"likeness {clip_id}"] = self.indexes.likeness.knn(mean, 10)
        return results


def change_audio(path: Path) -> None:
    """Rewrites a WAV file with other samples of the same length, so that its size stays."""
    import soundfile

    samples, rate = soundfile.read(path, dtype="float32")
    soundfile.write(path, samples[::-1] * 0.5, rate, subtype="PCM_16")


def append_info_tag(path: Path, tag: bytes, text: str) -> None:
    """Appends a LIST INFO chunk to a WAV file, as a tag editor does; the audio stays as it is."""
    raw = text.encode() + b"\0"
    raw += b"\0" * (len(raw) % 2)
    body = b"INFO" + tag + len(raw).to_bytes(4, "little") + raw
    content = path.read_bytes() + b"LIST" + len(body).to_bytes(4, "little") + body
    path.write_bytes(content[:4] + (len(content) - 8).to_bytes(4, "little") + content[8:])
