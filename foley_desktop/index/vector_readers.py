"""Two ways of reading one version of a vector table: from memory, and through LanceDB.

A table that fits is held in memory and scanned exactly, some fifty times faster than LanceDB's own scan.
A larger one is searched through LanceDB's approximate index, and exactly where a filter leaves few clips.

Whatever found the candidates, their cosines are computed again in 64 bits, row by row, and candidates are
read past the cut, so that equal vectors get equal scores and the order never depends on how the table
came to be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Set
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from foley_desktop.index.protocols import Window, WindowHit

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

NOISE = 1e-5
"""More than 32-bit cosines of the same pair ever differ; candidates are read this far past the cut."""

SMALL_SHARE = 0.05
FEW_IDS = 2000
"""Filters of so small a share of the clips, or of so few, are answered exactly in a large table."""

BREADTH = 2000
"""Least number of candidates that the approximate index looks at: recall@50 of 1.000 on 100,000 tightly
clustered vectors, where 250 gave 0.90; 8 ms."""

_CLIPS_AT_ONCE = 4096
_ORDER = ["clip_id", "start_s", "end_s"]
_COLUMNS = ["clip_id", "start_s", "end_s", "vector"]


def cosines(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Cosines of ``rows``, shape ``(n, dim)``, with ``query``, rounded to 1e-6, each from its row alone."""
    rows = rows.astype(np.float64)
    dots = (rows * query).sum(axis=1)
    lengths = np.sqrt((rows * rows).sum(axis=1)) * np.sqrt((query * query).sum())
    return np.clip(np.round(dots / lengths, 6), -1.0, 1.0)


def one_of(ids: Iterable[str]) -> str:
    """A predicate that holds for these clips. The ids need no quoting, see ``vectors.is_id``."""
    return "clip_id IN (" + ",".join(f"'{clip_id}'" for clip_id in ids) + ")"


class _Rows:
    """Some rows of the table, by clip and time."""

    def __init__(self, rows: pa.Table, dim: int) -> None:
        import pyarrow.compute as pc

        keys = rows.select(_ORDER)
        order = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in _ORDER])
        ascending = keys.take(order)
        self.vectors = _in_order(rows.column("vector").chunks, np.asarray(order), dim)
        self.start = np.asarray(ascending.column("start_s"))
        self.end = np.asarray(ascending.column("end_s"))
        encoded = ascending.column("clip_id").combine_chunks().dictionary_encode()
        self.clip_ids: list[str] = encoded.dictionary.to_pylist()
        numbers = np.asarray(encoded.indices, dtype=np.int64)
        self.first = np.searchsorted(numbers, np.arange(len(self.clip_ids) + 1))

    def windows(self, number: int) -> list[Window]:
        span = range(self.first[number], self.first[number + 1])
        return [Window(float(self.start[i]), float(self.end[i]), self.vectors[i].copy()) for i in span]

    def best_windows(self, query: np.ndarray, numbers: np.ndarray) -> list[WindowHit]:
        """The best window of each clip, best clip first, equal ones by id; the earliest of equal windows."""
        hits: list[WindowHit] = []
        for start in range(0, len(numbers), _CLIPS_AT_ONCE):
            some = numbers[start : start + _CLIPS_AT_ONCE]
            places, scores = self._best_places(query, some)
            starts, ends = self.start[places].tolist(), self.end[places].tolist()
            names = [self.clip_ids[number] for number in some]
            hits += map(WindowHit, names, scores.tolist(), starts, ends)
        hits.sort(key=lambda hit: (-hit.score, hit.clip_id))
        return hits

    def _best_places(self, query: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By clip: the row of its best window and that window's cosine."""
        counts = self.first[numbers + 1] - self.first[numbers]
        heads = np.concatenate(([0], np.cumsum(counts)[:-1]))
        rows = np.arange(counts.sum()) + np.repeat(self.first[numbers] - heads, counts)
        scores = cosines(self.vectors[rows], query)
        best = np.maximum.reduceat(scores, heads)
        contenders = np.where(scores == np.repeat(best, counts), rows, len(self.start))
        return np.minimum.reduceat(contenders, heads), best


def _in_order(chunks: Iterable[pa.FixedSizeListArray], order: np.ndarray, dim: int) -> np.ndarray:
    """The rows of all chunks in ``order``, shape ``(n, dim)``; Arrow would take twenty times as long."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    vectors = np.empty((len(order), dim), np.float32)
    done = 0
    for chunk in chunks:
        part = np.asarray(chunk.flatten(), dtype=np.float32).reshape(len(chunk), dim)
        vectors[place[done : done + len(chunk)]] = part
        done += len(chunk)
    return vectors


class MemoryReader:
    """All windows in memory.

    Args:
        table: A handle that stays at ``version``.
    """

    def __init__(self, table: Table, version: int, dim: int) -> None:
        self.version = version
        self._rows = _Rows(table.to_arrow(), dim)
        self._number = {clip_id: i for i, clip_id in enumerate(self._rows.clip_ids)}

    @property
    def clip_ids(self) -> Collection[str]:
        return self._number.keys()

    @property
    def count(self) -> int:
        return len(self._rows.start)

    def windows(self, clip_ids: Collection[str]) -> dict[str, list[Window]]:
        """The windows of these clips in time order; clips without any are left out."""
        numbers = {clip_id: self._number.get(clip_id) for clip_id in clip_ids}
        return {i: self._rows.windows(number) for i, number in numbers.items() if number is not None}

    def _numbers(self, within: Collection[str]) -> np.ndarray:
        ids = within if isinstance(within, Set) else set(within)
        known = map(self._number.get, ids)
        return np.fromiter((number for number in known if number is not None), np.int64)

    def nearest(self, query: np.ndarray, k: int, within: Collection[str] | None) -> list[WindowHit]:
        """The best window of each of the ``k`` best clips, exactly."""
        rows = self._rows
        numbers = np.arange(len(rows.clip_ids)) if within is None else self._numbers(within)
        if not len(numbers):
            return []
        if k < len(numbers):
            scores = rows.vectors @ (query / np.linalg.norm(query)).astype(np.float32)
            best = np.maximum.reduceat(scores, rows.first[:-1])[numbers]
            floor = np.partition(best, len(best) - k)[len(best) - k]
            numbers = numbers[best >= floor - NOISE]
        return rows.best_windows(query, numbers)[:k]


class TableReader:
    """Windows that stay on disk.

    Args:
        table: A handle that stays at ``version``, so that row ids keep their meaning.
        indexed: Whether the table has an approximate index; without it every search scans.
    """

    def __init__(self, table: Table, version: int, dim: int, *, indexed: bool) -> None:
        self.version = version
        self._table = table
        self._dim = dim
        self._indexed = indexed

    @cached_property
    def clip_ids(self) -> frozenset[str]:
        rows = self._table.search().select(["clip_id"]).limit(None).to_arrow()
        return frozenset(rows.column("clip_id").unique().to_pylist())

    @cached_property
    def count(self) -> int:
        return self._table.count_rows()

    def windows(self, clip_ids: Collection[str]) -> dict[str, list[Window]]:
        """The windows of these clips in time order; clips without any are left out."""
        if not clip_ids:
            return {}
        wanted = one_of(sorted(clip_ids))
        found = self._table.search().where(wanted).select(_COLUMNS).limit(None).to_arrow()
        if not found.num_rows:
            return {}
        rows = _Rows(found, self._dim)
        return {clip_id: rows.windows(number) for number, clip_id in enumerate(rows.clip_ids)}

    def nearest(self, query: np.ndarray, k: int, within: Collection[str] | None) -> list[WindowHit]:
        """The best window of each of the ``k`` best clips.

        Exact where ``within`` holds few clips or there is no approximate index.
        """
        if within is None:
            return self._collect(query, k, self._search(query, approximate=self._indexed), 1.0, None)
        known = self.clip_ids.intersection(within)
        if not known:
            return []
        share = len(known) / len(self.clip_ids)
        if len(known) <= FEW_IDS or share < SMALL_SHARE:
            search = self._search(query, approximate=False, where=one_of(sorted(known)))
            return self._collect(query, k, search, 1.0, None)
        return self._collect(query, k, self._search(query, approximate=self._indexed), share, known)

    def _search(
        self, query: np.ndarray, *, approximate: bool, where: str | None = None
    ) -> Callable[[int], pa.Table]:
        def search(limit: int) -> pa.Table:
            builder: Any = self._table.search(query.astype(np.float32), vector_column_name="vector")
            builder = builder.distance_type("cosine").select(["clip_id", "_distance"]).limit(limit)
            builder = builder.with_row_id(True)
            if where is not None:
                builder = builder.where(where, prefilter=True)
            if approximate:
                builder = builder.ef(max(BREADTH, 2 * limit)).nprobes(1000)
            else:
                builder = builder.bypass_vector_index()
            return builder.to_arrow()

        return search

    def _collect(
        self,
        query: np.ndarray,
        k: int,
        search: Callable[[int], pa.Table],
        share: float,
        within: Collection[str] | None,
    ) -> list[WindowHit]:
        """Reads windows, nearest first, until the best ``k`` clips among ``within`` are certain."""
        per_clip = max(1.0, min(4.0, self.count / max(len(self.clip_ids), 1)))
        limit = int((4 * k + 64) * per_clip / share)
        while True:
            limit = min(limit, self.count + 1)
            found = search(limit)
            hits = self._best_windows(query, found, within)
            if found.num_rows < limit:
                return hits[:k]
            farthest = 1.0 - float(found.column("_distance")[-1].as_py())
            if len(hits) >= k and farthest < hits[k - 1].score - NOISE:
                return hits[:k]
            limit *= 4

    def _best_windows(
        self, query: np.ndarray, found: pa.Table, within: Collection[str] | None
    ) -> list[WindowHit]:
        ids = found.column("_rowid").to_pylist()
        if within is not None:
            clips = found.column("clip_id").to_pylist()
            ids = [row for row, clip_id in zip(ids, clips, strict=True) if clip_id in within]
        if not ids:
            return []
        rows = _Rows(self._table.take_row_ids(ids).select(_COLUMNS).to_arrow(), self._dim)
        return rows.best_windows(query, np.arange(len(rows.clip_ids)))
