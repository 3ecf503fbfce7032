"""Measures the vector index against LanceDB as it comes, in one run, and prints one JSON document.

``python tests/bench/vectors.py [--rows N] [--dim D] [--approximate]``: the same random vectors, queries and
filters go to our index and to a plain LanceDB table with the same rows; times are milliseconds at the median
and at the 95th percentile. With ``--approximate`` both sides get an approximate index, and recall@50 is told.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from foley_desktop.index.protocols import Window
from foley_desktop.index.vectors import LanceVectorIndex

K = 50
SHARES = (0.0001, 0.04, 0.5)


def vectors(rows: int, dim: int) -> np.ndarray:
    """Unit rows in clusters of some forty, as the takes of a library are."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((max(rows // 40, 1), dim))
    spread = rng.standard_normal((rows, 48)) @ rng.standard_normal((48, dim)) / 7
    found = 0.6 * centres[rng.integers(0, len(centres), rows)] + 0.8 * spread
    found += 0.3 * rng.standard_normal((rows, dim))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def timed(call: Callable[[np.ndarray], Any], queries: np.ndarray) -> tuple[dict[str, float], list[Any]]:
    """Each query once after a warm-up."""
    call(queries[0])
    took, answers = [], []
    for query in queries:
        started = time.perf_counter()
        answers.append(call(query))
        took.append((time.perf_counter() - started) * 1000)
    return {"p50": round(float(np.median(took)), 2), "p95": round(float(np.quantile(took, 0.95)), 2)}, answers


def recall(
    answers: Sequence[Any], rows: np.ndarray, queries: np.ndarray, ids: list[str], passing: Any
) -> float:
    """Share of the true best ``K`` that was found."""
    mask = np.ones(len(ids), bool) if passing is None else np.isin(ids, list(passing))
    hit = wanted = 0
    for query, answer in zip(queries, answers, strict=True):
        scores = np.where(mask, rows @ query, -2.0)
        best = {ids[i] for i in np.argsort(-scores)[: min(K, int(mask.sum()))]}
        hit += len(best & set(answer))
        wanted += len(best)
    return round(hit / wanted, 4)


def measure(rows: int, dim: int, approximate: bool, folder: Path) -> dict[str, Any]:
    """Times and recall of both sides."""
    import lancedb

    data = vectors(rows, dim)
    ids = [f"{number * 2654435761 % 2**32:08x}-0" for number in range(rows)]
    rng = np.random.default_rng(1)
    queries = data[rng.integers(0, rows, 20)] + rng.standard_normal((20, dim)).astype(np.float32) / dim**0.5
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    limits = {"memory_bytes": 0, "approximate_above": rows} if approximate else {}
    ours = LanceVectorIndex(folder, "bench", dim, **limits)
    result: dict[str, Any] = {"rows": rows, "dim": dim, "k": K, "approximate": approximate}
    started = time.perf_counter()
    for start in range(0, rows, 1000):
        batch = zip(ids[start : start + 1000], data[start : start + 1000], strict=True)
        ours.upsert_many({clip_id: [Window(0.0, 1.0, row)] for clip_id, row in batch})
    result["write_s"] = round(time.perf_counter() - started, 2)
    started = time.perf_counter()
    ours.optimize()
    result["optimize_s"] = round(time.perf_counter() - started, 2)
    started = time.perf_counter()
    ours.knn(queries[0], K)
    result["first_search_ms"] = round((time.perf_counter() - started) * 1000, 2)
    (table_path,) = folder.glob("v_*.lance")
    engine = lancedb.connect(str(folder)).open_table(table_path.stem)

    def raw(query: np.ndarray, where: str | None) -> list[str]:
        search = engine.search(query, vector_column_name="vector").distance_type("cosine").limit(K)
        if where is not None:
            search = search.where(where, prefilter=True)
        return search.select(["clip_id", "_distance"]).to_arrow().column("clip_id").to_pylist()

    for share in (None, *SHARES):
        passing = (
            None if share is None else frozenset(rng.choice(ids, max(1, int(share * rows)), replace=False))
        )
        where = None if passing is None else "clip_id IN (" + ",".join(f"'{i}'" for i in passing) + ")"
        restriction = None if passing is None else {"clip_id": passing}
        own, own_answers = timed(
            lambda query, w=restriction: [i for i, _ in ours.knn(query, K, where=w)], queries
        )
        plain, raw_answers = timed(lambda query, w=where: raw(query, w), queries)
        result["all" if share is None else f"{share:.2%}"] = {
            "ours_ms": own | {"recall": recall(own_answers, data, queries, ids, passing)},
            "engine_ms": plain | {"recall": recall(raw_answers, data, queries, ids, passing)},
        }
    ours.close()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--approximate", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        result = measure(arguments.rows, arguments.dim, arguments.approximate, Path(folder))
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
