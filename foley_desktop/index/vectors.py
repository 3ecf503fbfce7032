"""The vector index: nearest windows of sound, grouped by clip, in LanceDB.

One table a vector space; a row is a window of a clip. Up to a few hundred thousand numbers a library is
scanned exactly from memory, which LanceDB's own scan would take some fifty times longer for; larger ones are
searched through LanceDB's approximate index, and exactly where a filter leaves few clips.

Whatever found the candidates, their cosines are computed again in 64 bits, row by row, and candidates are
read past the cut, so that equal vectors get equal scores and the order never depends on how the table
came to be.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import threading
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from foley_desktop.errors import IndexStoreError
from foley_desktop.index.protocols import Where, Window, WindowHit

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

_ID = re.compile(r"[0-9A-Za-z_.:\-]{1,200}")
_NOISE = 1e-5
"""More than 32-bit cosines of the same pair ever differ; candidates are read this far past the cut."""


def table_name(model_id: str) -> str:
    """The table of a vector space, ``v_`` and a short hash of its model id."""
    return "v_" + hashlib.blake2b(model_id.encode("utf-8", "replace"), digest_size=8).hexdigest()


def tables(folder: Path) -> list[tuple[str, int, int]]:
    """``(model_id, dim, rows)`` of every vector space kept in ``folder``, by model id."""
    if not Path(folder).is_dir():
        return []
    database = _connect(folder)
    found = []
    for name in sorted(path.stem for path in Path(folder).glob("v_*.lance")):
        try:
            table = database.open_table(name)
            meta = table.schema.metadata or {}
            dim = table.schema.field("vector").type.list_size
            found.append((meta[b"model_id"].decode(), dim, table.count_rows()))
        except (ValueError, KeyError, OSError, RuntimeError):
            continue
    return sorted(found)


class LanceVectorIndex:
    """Windows of clips in one vector space. Usable from several threads and beside other processes.

    Args:
        folder: The folder of all vector tables; made when first needed.
        model_id: Which embedder, weights and pipeline the vectors are from; spaces are never mixed.
        dim: Length of a vector.

    Every method raises :class:`IndexStoreError` when the table on disk is damaged; :meth:`drop` then
    makes room for a new one.
    """

    def __init__(self, folder: Path, model_id: str, dim: int) -> None:
        self.folder = Path(folder)
        self.model_id = model_id
        self.dim = dim
        self._name = table_name(model_id)
        self._lock = threading.RLock()
        self._table: Table | None = None
        self._snapshot: _Snapshot | None = None

    # -- writing --------------------------------------------------------------------------------

    def upsert(self, clip_id: str, windows: Sequence[Window]) -> None:
        """Puts the windows of one clip in place of what was there.

        Raises:
            ValueError: for a vector of another length, with NaN, or of no length at all.
        """
        if self.upsert_many({clip_id: windows}):
            raise ValueError(f"clip {clip_id!r} has a vector that is no direction in {self.dim} dimensions")

    def upsert_many(self, clips: Mapping[str, Sequence[Window]]) -> list[str]:
        """Puts the windows of many clips in place of what was there, in one go.

        Returns:
            The ids that were refused, in order: a vector of another length, NaN, zero, or no window.
            What was there for them stays.
        """
        refused = [clip_id for clip_id, windows in clips.items() if not self._usable(clip_id, windows)]
        good = {clip_id: clips[clip_id] for clip_id in clips if clip_id not in set(refused)}
        if good:
            with self._lock, _guard():
                table = self._open()
                existing = self._existing(table, good)
                if existing:
                    table.delete(_one_of(existing))
                table.add(self._rows(good))
        return refused

    def delete(self, ids: Iterable[str]) -> None:
        """Takes clips out; ids that are not there are fine."""
        wanted = [clip_id for clip_id in ids if _ID.fullmatch(clip_id)]
        with self._lock, _guard():
            table = self._open()
            for i in range(0, len(wanted), 1000):
                existing = self._existing(table, wanted[i : i + 1000])
                if existing:
                    table.delete(_one_of(existing))

    def optimize(self) -> None:
        """Joins the small files that writing left behind and removes old versions."""
        with self._lock, _guard(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            self._open().optimize(cleanup_older_than=timedelta(0))

    def drop(self) -> None:
        """Forgets every vector of this space, also when the table is damaged."""
        with self._lock:
            self._table = self._snapshot = None
            shutil.rmtree(self.folder / f"{self._name}.lance", ignore_errors=True)

    def close(self) -> None:
        """Lets go of memory and handles; a later call opens again."""
        with self._lock:
            self._table = self._snapshot = None

    def _usable(self, clip_id: str, windows: Sequence[Window]) -> bool:
        if not _ID.fullmatch(clip_id) or not windows:
            return False
        for window in windows:
            vector = np.asarray(window.vector)
            if vector.shape != (self.dim,) or not np.isfinite(vector).all() or not np.any(vector):
                return False
        return True

    def _existing(self, table: Table, ids: Collection[str]) -> list[str]:
        found = table.search().where(_one_of(ids)).select(["clip_id"]).limit(None).to_arrow()
        return found.column("clip_id").unique().to_pylist()

    def _rows(self, clips: Mapping[str, Sequence[Window]]) -> pa.Table:
        import pyarrow as pa

        flat = [(clip_id, window) for clip_id, windows in clips.items() for window in windows]
        vectors = np.stack([_unit(window.vector) for _, window in flat])
        columns = [
            pa.array([clip_id for clip_id, _ in flat], pa.string()),
            pa.array([float(window.start_s) for _, window in flat], pa.float64()),
            pa.array([float(window.end_s) for _, window in flat], pa.float64()),
            pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel(), pa.float32()), self.dim),
        ]
        return pa.Table.from_arrays(columns, schema=self._schema())

    def _schema(self) -> pa.Schema:
        import pyarrow as pa

        fields = [
            pa.field("clip_id", pa.string()),
            pa.field("start_s", pa.float64()),
            pa.field("end_s", pa.float64()),
            pa.field("vector", pa.list_(pa.float32(), self.dim)),
        ]
        return pa.schema(fields, metadata={"model_id": self.model_id, "dim": str(self.dim)})

    def _open(self) -> Table:
        if self._table is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            database = _connect(self.folder)
            self._table = database.create_table(self._name, schema=self._schema(), exist_ok=True)
        return self._table

    # -- asking ---------------------------------------------------------------------------------

    def ids(self) -> set[str]:
        """The ids of all clips that have a vector."""
        return set(self._read().clip_ids)

    def count(self) -> int:
        """How many windows there are."""
        with self._lock, _guard():
            return self._open().count_rows()

    def knn(self, vector: np.ndarray, k: int, *, where: Where | None = None) -> list[tuple[str, float]]:
        """The ``k`` clips nearest to ``vector``, shape ``(dim,)``, as ``(id, cosine)``, best first.

        Cosines are rounded to 1e-6; equal ones are ordered by id. A zero vector is near to nothing.

        Raises:
            ValueError: for a vector of another shape or with NaN, or an unknown filter.
        """
        return [(hit.clip_id, hit.score) for hit in self.knn_windows(vector, k, where=where)]

    def knn_windows(self, vector: np.ndarray, k: int, *, where: Where | None = None) -> list[WindowHit]:
        """As :meth:`knn`, with the best window of each clip; the earliest of equally good ones."""
        query = self._query(vector)
        within = _within(where)
        if k <= 0 or not np.any(query) or (within is not None and not within):
            return []
        return self._read().nearest(query, k, within)

    def best_windows(self, vector: np.ndarray, clip_ids: Iterable[str]) -> dict[str, WindowHit]:
        """The best window of each of these clips; clips without a vector are left out."""
        wanted = set(clip_ids)
        hits = self.knn_windows(vector, len(wanted), where={"clip_id": wanted})
        return {hit.clip_id: hit for hit in hits}

    def get_vectors(self, clip_id: str) -> list[Window]:
        """The windows of a clip in time order; none if it has no vector."""
        return self._read().windows(clip_id)

    def mean_vector(self, clip_id: str) -> np.ndarray | None:
        """The direction of a clip as a whole, shape ``(dim,)``, float32, unit length, or None."""
        windows = self.get_vectors(clip_id)
        mean = np.sum([window.vector for window in windows], axis=0) if windows else np.zeros(self.dim)
        return _unit(mean) if np.any(mean) else None

    def _query(self, vector: np.ndarray) -> np.ndarray:
        query = np.asarray(vector, dtype=np.float64)
        if query.shape == (1, self.dim):
            query = query[0]
        if query.shape != (self.dim,):
            raise ValueError(f"a query vector has shape ({self.dim},), not {query.shape}")
        if not np.isfinite(query).all():
            raise ValueError("a query vector holds numbers that are not finite")
        return query

    def _read(self) -> _Snapshot:
        with self._lock, _guard():
            table = self._open()
            version = table.version
            if self._snapshot is None or self._snapshot.version != version:
                self._snapshot = _Snapshot(version, table.to_arrow(), self.dim)
            return self._snapshot


class _Snapshot:
    """All windows of one version of the table in memory, ordered by clip and time."""

    def __init__(self, version: int, rows: pa.Table, dim: int) -> None:
        self.version = version
        rows = rows.sort_by([("clip_id", "ascending"), ("start_s", "ascending"), ("end_s", "ascending")])
        flat = rows.column("vector").combine_chunks().flatten()
        self._vectors = np.asarray(flat, dtype=np.float32).reshape(-1, dim)
        self._start = np.asarray(rows.column("start_s"))
        self._end = np.asarray(rows.column("end_s"))
        encoded = rows.column("clip_id").combine_chunks().dictionary_encode()
        self.clip_ids: list[str] = encoded.dictionary.to_pylist()
        self._clip_of = np.asarray(encoded.indices, dtype=np.int64)
        self._first = np.searchsorted(self._clip_of, np.arange(len(self.clip_ids) + 1))
        self._number = {clip_id: i for i, clip_id in enumerate(self.clip_ids)}

    def windows(self, clip_id: str) -> list[Window]:
        number = self._number.get(clip_id)
        if number is None:
            return []
        span = range(self._first[number], self._first[number + 1])
        return [Window(float(self._start[i]), float(self._end[i]), self._vectors[i].copy()) for i in span]

    def nearest(self, query: np.ndarray, k: int, within: Collection[str] | None) -> list[WindowHit]:
        if within is None:
            numbers = np.arange(len(self.clip_ids))
        else:
            numbers = np.array([n for i in set(within) if (n := self._number.get(i)) is not None], np.int64)
        if not len(numbers):
            return []
        scores = self._vectors @ (query / np.linalg.norm(query)).astype(np.float32)
        best = np.maximum.reduceat(scores, self._first[:-1])[numbers]
        if k < len(numbers):
            floor = np.partition(best, len(best) - k)[len(best) - k]
            numbers = numbers[best >= floor - _NOISE]
        hits = [self._best_window(query, int(number)) for number in numbers]
        hits.sort(key=lambda hit: (-hit.score, hit.clip_id))
        return hits[:k]

    def _best_window(self, query: np.ndarray, number: int) -> WindowHit:
        first, last = self._first[number], self._first[number + 1]
        scores = cosines(self._vectors[first:last], query)
        best = first + int(np.argmax(scores))
        return WindowHit(
            self.clip_ids[number],
            float(scores[best - first]),
            float(self._start[best]),
            float(self._end[best]),
        )


def cosines(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Cosines of ``rows``, shape ``(n, dim)``, with ``query``, rounded to 1e-6, each from its row alone."""
    rows = rows.astype(np.float64)
    dots = (rows * query).sum(axis=1)
    lengths = np.sqrt((rows * rows).sum(axis=1)) * np.sqrt((query * query).sum())
    return np.clip(np.round(dots / lengths, 6), -1.0, 1.0)


def _unit(vector: np.ndarray) -> np.ndarray:
    """A vector of unit length; one that is so nearly keeps its bits."""
    length = float(np.linalg.norm(np.asarray(vector, dtype=np.float64)))
    if abs(length - 1.0) < 1e-5:
        return np.asarray(vector, dtype=np.float32)
    return (np.asarray(vector, dtype=np.float64) / length).astype(np.float32)


def _within(where: Where | None) -> Collection[str] | None:
    if where is None:
        return None
    unknown = set(where) - {"clip_id"}
    if unknown:
        raise ValueError(f"unknown filter {sorted(unknown)}; there is clip_id")
    return where.get("clip_id")


def _one_of(ids: Iterable[str]) -> str:
    """A predicate; only ids that need no quoting get here."""
    return "clip_id IN (" + ",".join(f"'{clip_id}'" for clip_id in ids) + ")"


def _connect(folder: Path):  # type: ignore[no-untyped-def]
    import lancedb

    return lancedb.connect(str(folder), read_consistency_interval=timedelta(0))


class _guard:
    """Turns what LanceDB raises about its files into an :class:`IndexStoreError`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (OSError, RuntimeError)):
            raise IndexStoreError(
                "The vector index cannot be read.",
                hint="Rebuild it with: foley-desktop doctor --rebuild",
                cause=error,
            ) from error
