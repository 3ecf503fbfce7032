"""The vector index: nearest windows of sound, grouped by clip, in LanceDB.

One table a vector space; a row is a window of a clip, ``(clip_id, start_s, end_s, vector)``. This module
writes and keeps tables in order; how they are read stands in :mod:`foley_desktop.index.vector_readers`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from foley_desktop.errors import IndexStoreError
from foley_desktop.index.protocols import Where, Window, WindowHit
from foley_desktop.index.vector_readers import MemoryReader, TableReader, one_of
from foley_desktop.index.where import clips_within

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.db import DBConnection
    from lancedb.table import Table

MEMORY_BYTES = 256 * 2**20
"""Tables of up to so many bytes of vectors are held in memory and scanned exactly."""

APPROXIMATE_ABOVE = 100_000
"""Windows from which on a table that is not held in memory gets an approximate index."""

_PARTITION = 250_000
_IDS_A_DELETE = 1000
_ID = re.compile(r"[0-9A-Za-z_.:\-]{1,200}")
_Reader = MemoryReader | TableReader
_Answer = TypeVar("_Answer")


def is_id(text: str) -> bool:
    """Whether ``text`` can be a clip's id here: printable ASCII that needs no quoting anywhere."""
    return _ID.fullmatch(text) is not None


def table_name(model_id: str) -> str:
    """The table of a vector space, ``v_`` and a short hash of its model id."""
    return "v_" + hashlib.blake2b(model_id.encode("utf-8", "replace"), digest_size=8).hexdigest()


def tables(folder: Path) -> list[tuple[str, int, int]]:
    """``(model_id, dim, rows)`` of every readable vector space in ``folder``, by model id."""
    names = sorted(path.stem for path in Path(folder).glob("v_*.lance"))
    found = []
    for name in names:
        try:
            table = _connect(folder).open_table(name)
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
        memory_bytes: Up to which size the vectors are held in memory; 0 leaves them on disk.
        approximate_above: From how many windows on a table on disk gets an approximate index.

    What is written can be found at once, by every handle in every process. Every method raises
    :class:`IndexStoreError` when the table on disk is damaged; :meth:`drop` then makes room for a new
    one.
    """

    def __init__(
        self,
        folder: Path,
        model_id: str,
        dim: int,
        *,
        memory_bytes: int = MEMORY_BYTES,
        approximate_above: int = APPROXIMATE_ABOVE,
    ) -> None:
        self.folder = Path(folder)
        self.model_id = model_id
        self.dim = dim
        self._memory_bytes = memory_bytes
        self._approximate_above = approximate_above
        self._name = table_name(model_id)
        # Two locks, because building an index takes minutes in which searches go on.
        self._write_lock = threading.RLock()
        self._read_lock = threading.RLock()
        self._watched: Table | None = None
        self._reader: _Reader | None = None

    # -- writing --------------------------------------------------------------------------------

    def upsert(self, clip_id: str, windows: Sequence[Window]) -> None:
        """Puts the windows of one clip in place of what was there.

        Raises:
            ValueError: for no window, a vector of another length, with NaN, or of no length at all.
        """
        if self.upsert_many({clip_id: windows}):
            raise ValueError(f"clip {clip_id!r} has no vector of {self.dim} dimensions that points anywhere")

    def upsert_many(self, clips: Mapping[str, Sequence[Window]]) -> list[str]:
        """Puts the windows of many clips in place of what was there, in one go.

        Returns:
            The ids that were refused, in order: no window, a vector of another length, NaN or zero.
            What was there for them stays.
        """
        good = {clip_id: windows for clip_id, windows in clips.items() if self._usable(clip_id, windows)}
        if good:
            with self._writing() as table:
                _delete(table, good)
                table.add(self._rows(good))
        return [clip_id for clip_id in clips if clip_id not in good]

    def delete(self, ids: Iterable[str]) -> None:
        """Takes clips out; ids that are not there are fine."""
        wanted = [clip_id for clip_id in ids if is_id(clip_id)]
        if wanted:
            with self._writing() as table:
                _delete(table, wanted)

    def optimize(self) -> None:
        """Joins the small files that writing left behind, removes old versions, and keeps a large table's
        indexes complete. The first time that a table is large this takes minutes."""
        with self._writing() as table, warnings.catch_warnings():
            # It warns of readers that are still at an old version. Ours take the new one, see _ask.
            warnings.simplefilter("ignore", UserWarning)
            self._index_large(table)
            table.optimize(cleanup_older_than=timedelta(0))

    def drop(self) -> None:
        """Forgets every vector of this space, also when the table is damaged."""
        with self._write_lock, self._read_lock:
            self.close()
            path = self.folder / f"{self._name}.lance"
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Lets go of memory and handles; a later call opens again."""
        with self._read_lock:
            self._watched = self._reader = None

    @contextmanager
    def _writing(self) -> Iterator[Table]:
        with self._write_lock, self._guarded():
            yield self._open()

    def _usable(self, clip_id: str, windows: Sequence[Window]) -> bool:
        return is_id(clip_id) and bool(windows) and all(self._points(w.vector) for w in windows)

    def _points(self, vector: np.ndarray) -> bool:
        vector = np.asarray(vector)
        return vector.shape == (self.dim,) and bool(np.isfinite(vector).all()) and bool(np.any(vector))

    def _index_large(self, table: Table) -> None:
        from lancedb.index import BTree, HnswSq

        # Without a choice Lance complains on stderr about every such index.
        os.environ.setdefault("LANCE_INCLUDE_VECTOR_CENTROIDS", "false")
        rows = table.count_rows()
        if rows * self.dim * 4 <= self._memory_bytes or rows < self._approximate_above:
            return
        indexed = {column for index in table.list_indices() for column in index.columns}
        if "clip_id" not in indexed:
            table.create_index("clip_id", config=BTree())
        if "vector" not in indexed:
            partitions = max(1, round(rows / _PARTITION))
            table.create_index("vector", config=HnswSq(distance_type="cosine", num_partitions=partitions))

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

    # -- opening --------------------------------------------------------------------------------

    def _open(self) -> Table:
        """A handle that follows the table, made empty if there is none."""
        self.folder.mkdir(parents=True, exist_ok=True)
        database = _connect(self.folder)
        table = database.create_table(self._name, schema=self._schema(), exist_ok=True)
        if table.schema.field("vector").type.list_size != self.dim:
            raise ValueError(f"the table of {self.model_id} holds vectors of another length than {self.dim}")
        return table

    def _latest(self) -> _Reader:
        """Reads the latest version of the table, whoever wrote it."""
        with self._read_lock:
            if self._watched is None:
                self._watched = self._open()
            version = self._watched.version
            if self._reader is None or self._reader.version != version:
                self._reader = None
                self._reader = self._make_reader(version)
            return self._reader

    def _make_reader(self, version: int) -> _Reader:
        pinned = _connect(self.folder).open_table(self._name)
        pinned.checkout(version)
        if pinned.count_rows() * self.dim * 4 <= self._memory_bytes:
            return MemoryReader(pinned, version, self.dim)
        indexed = any("vector" in index.columns for index in pinned.list_indices())
        return TableReader(pinned, version, self.dim, indexed=indexed)

    def _ask(self, question: Callable[[_Reader], _Answer]) -> _Answer:
        """Asks again when the version that was being read has just been tidied away by a writer."""
        for _ in range(3):
            try:
                with self._guarded():
                    return question(self._latest())
            except IndexStoreError:
                self.close()
        with self._guarded():
            return question(self._latest())

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turns what LanceDB raises about its files into an :class:`IndexStoreError`."""
        try:
            yield
        except (OSError, RuntimeError, ValueError) as error:
            raise IndexStoreError(
                "The vector index cannot be read or written.",
                hint="Rebuild it with: foley-desktop doctor --rebuild",
                cause=error,
            ) from error

    # -- asking ---------------------------------------------------------------------------------

    def ids(self) -> set[str]:
        """The ids of all clips that have a vector."""
        return self._ask(lambda reader: set(reader.clip_ids))

    def version(self) -> int:
        """A number that every writing changes."""
        return self._ask(lambda reader: reader.version)

    def count(self) -> int:
        """How many windows there are."""
        return self._ask(lambda reader: reader.count)

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
        within = clips_within(where)
        if k <= 0 or not np.any(query) or (within is not None and not within):
            return []
        return self._ask(lambda reader: reader.nearest(query, k, within))

    def best_windows(self, vector: np.ndarray, clip_ids: Iterable[str]) -> dict[str, WindowHit]:
        """The best window of each of these clips; clips without a vector are left out."""
        wanted = set(clip_ids)
        hits = self.knn_windows(vector, len(wanted), where={"clip_id": wanted})
        return {hit.clip_id: hit for hit in hits}

    def get_vectors(self, clip_id: str) -> list[Window]:
        """The windows of a clip in time order; none if it has no vector."""
        return self.get_many([clip_id]).get(clip_id, [])

    def get_many(self, clip_ids: Iterable[str]) -> dict[str, list[Window]]:
        """The windows of many clips at once, each in time order; clips without a vector are left out."""
        wanted = {clip_id for clip_id in clip_ids if is_id(clip_id)}
        return self._ask(lambda reader: reader.windows(wanted))

    def mean_vector(self, clip_id: str) -> np.ndarray | None:
        """The direction of a clip as a whole, shape ``(dim,)``, float32, unit length, or None."""
        windows = self.get_vectors(clip_id)
        if not windows:
            return None
        mean = np.stack([window.vector for window in windows]).mean(axis=0, dtype=np.float64)
        return _unit(mean) if np.linalg.norm(mean) > 1e-6 else None

    def _query(self, vector: np.ndarray) -> np.ndarray:
        query = np.asarray(vector, dtype=np.float64)
        if query.shape == (1, self.dim):
            query = query[0]
        if query.shape != (self.dim,):
            raise ValueError(f"a query vector has shape ({self.dim},), not {query.shape}")
        if not np.isfinite(query).all():
            raise ValueError("a query vector holds numbers that are not finite")
        return query


def _delete(table: Table, ids: Collection[str]) -> None:
    """Deletes clips that are there; a version is written only if there is one."""
    wanted = list(ids)
    for start in range(0, len(wanted), _IDS_A_DELETE):
        some = one_of(wanted[start : start + _IDS_A_DELETE])
        if table.count_rows(some):
            table.delete(some)


def _unit(vector: np.ndarray) -> np.ndarray:
    """A vector of unit length; one that is so nearly keeps its bits."""
    length = float(np.linalg.norm(np.asarray(vector, dtype=np.float64)))
    if abs(length - 1.0) < 1e-5:
        return np.asarray(vector, dtype=np.float32)
    return (np.asarray(vector, dtype=np.float64) / length).astype(np.float32)


def _connect(folder: Path) -> DBConnection:
    import lancedb

    return lancedb.connect(str(folder), read_consistency_interval=timedelta(0))
