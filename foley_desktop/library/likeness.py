"""What sounds like this: a clip, a region of it, or any audio file.

A clip of the library answers from its stored vectors; a region or a file from outside is embedded
now. The clip itself never stands in its own results, ``k`` others do if there are that many.
"""

from __future__ import annotations

import os
import time

import numpy as np

from foley_desktop.audio.decode import probe, read_mono
from foley_desktop.errors import SilentAudioError, UnknownClipError
from foley_desktop.index.embedders.host import Models
from foley_desktop.index.protocols import Embedder
from foley_desktop.index.search import vector_search
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.derived import EMBED_RATE
from foley_desktop.library.indexes import Indexes
from foley_desktop.models import Clip, Filters, Hit, Region, SearchResult

LONGEST_S = 120.0
"""Seconds of a file or region that are listened to when its vector has to be made now."""


class Likeness:
    """Nearest neighbours by sound in one library."""

    def __init__(self, catalog: Catalog, indexes: Indexes, models: Models) -> None:
        self._catalog = catalog
        self._indexes = indexes
        self._models = models

    def similar(
        self, ref: str, *, region: Region | None = None, k: int = 10, filters: Filters = Filters()
    ) -> SearchResult:
        """The ``k`` clips nearest to ``ref``, a clip id, a clip's path, or an audio file's path.

        Raises:
            UnknownClipError: neither a clip nor a file.
            AudioFileError: a file that is no audio.
            SilentAudioError: there is no sound to compare.
        """
        started = time.perf_counter()
        clip = self._clip(ref)
        vector = self._vector(clip, clip.path if clip else os.path.abspath(ref), region)
        allowed = self._catalog.matching_ids(filters)
        where = None if allowed is None else {"clip_id": allowed}
        found = vector_search(vector, vindex=self._indexes.likeness, k=k + 1, where=where)
        own = clip.id if clip else None
        ids = [hit.id for hit in found if hit.id != own][:k]
        windows = self._indexes.likeness.best_windows(vector, ids)
        clips = self._catalog.clips(ids)
        scores = {hit.id: hit.clap_score for hit in found}
        hits = []
        for clip_id in ids:
            if clip_id not in clips:
                continue
            window = windows.get(clip_id)
            rank = len(hits) + 1
            score = scores[clip_id]
            hits.append(
                Hit(
                    sound=clips[clip_id],
                    rank=rank,
                    clap_score=score,
                    start_s=window.start_s if window else None,
                    end_s=window.end_s if window else None,
                    why={"likeness": {"rank": rank, "score": score, "share": None}},
                )
            )
        took = (time.perf_counter() - started) * 1000.0
        return SearchResult(query=ref, mode="audio", hits=tuple(hits), took_ms=took)

    def duration(self, ref: str) -> float:
        """Length of a clip or file in seconds."""
        clip = self._clip(ref)
        if clip is not None and clip.duration_s is not None:
            return clip.duration_s
        return probe(os.path.abspath(ref)).info.duration_s

    def _clip(self, ref: str) -> Clip | None:
        try:
            return self._catalog.find(ref)
        except UnknownClipError:
            if os.path.isfile(ref):
                return None
            raise

    def _vector(self, clip: Clip | None, path: str, region: Region | None) -> np.ndarray:
        if clip is not None and region is None:
            if clip.silent:
                raise SilentAudioError(
                    f"{clip.name} is silent, so nothing sounds like it.", hint="Choose another clip."
                )
            stored = self._indexes.likeness.mean_vector(clip.id)
            if stored is not None:
                return stored
        start = region.start_s if region else 0.0
        end = min(region.end_s if region else LONGEST_S, start + LONGEST_S)
        sound = read_mono(path, EMBED_RATE, start, end)
        return self._embedder().embed_audio(sound, EMBED_RATE)

    def _embedder(self) -> Embedder:
        embedder = self._models.embedder(self._indexes.embedder_name)
        return getattr(embedder, "likeness", None) or embedder
