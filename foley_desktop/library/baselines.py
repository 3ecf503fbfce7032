"""Baselines of golden sets: kept in the catalog, and as files for use outside the app.

One baseline is one mode's result; those of a report are saved together under one name. It keeps its full
run, so that old and new can both be scored with whatever has been graded by then.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.compare import baseline_ndcg, load_baseline, make_baseline, ranked_run, save_baseline
from foley_desktop.eval.files import shown
from foley_desktop.eval.golden import golden_hash
from foley_desktop.eval.retrieval import evaluate_run, metrics_at
from foley_desktop.eval.trec import read_run, write_run
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.golden_sets import one_line
from foley_desktop.library.golden_store import GoldenStore
from foley_desktop.library.lab import LabReport
from foley_desktop.models import MODES, Mode

OUTSIDE = "not ours"
"""Embedder and fusion of a run that was made elsewhere."""


@dataclass(frozen=True, slots=True)
class BaselineInfo:
    """A baseline in a list; ``ndcg`` is its mean at its own cut, as it was when it was saved."""

    id: int
    set_id: str
    name: str
    mode: Mode
    saved_s: float
    golden_hash: str
    embedder: str
    fusion: str
    library_size: int | None
    k: int
    ndcg: float


class BaselineStore:
    """The baselines of one library. Thread-safe, as the catalog is."""

    def __init__(self, catalog: Catalog, store: GoldenStore, clock: Callable[[], float] = time.time) -> None:
        self._catalog = catalog
        self._store = store
        self._clock = clock

    def save(self, report: LabReport, name: str, *, replace: bool = False) -> list[BaselineInfo]:
        """Keeps every mode of a report under one name.

        Raises:
            GoldenSetError: the name is empty, or taken and not to be replaced; or the report is of no
                set of this library.
        """
        set_id = report.conditions["set_id"]
        documents = {mode: report.baseline_document(mode) for mode in report.results}
        return self._keep(set_id, name, documents, replace=replace)

    def of_set(self, set_id: str) -> list[BaselineInfo]:
        """The baselines of a set, the latest first."""
        rows = self._catalog.rows(
            "SELECT * FROM baselines WHERE set_id = ? ORDER BY saved_s DESC, name, mode", (set_id,)
        )
        return [_info(row) for row in rows]

    def load(self, baseline_id: int) -> dict[str, Any]:
        """The document of a baseline.

        Raises:
            GoldenSetError: it is not there any more.
        """
        text = self._catalog.value("SELECT document FROM baselines WHERE id = ?", (baseline_id,))
        if text is None:
            raise GoldenSetError("This baseline is not there any more.")
        return json.loads(text)

    def named(self, set_id: str, name: str) -> dict[Mode, dict[str, Any]]:
        """The documents that were saved together under a name, by mode; none if there is no such name."""
        rows = self._catalog.rows(
            "SELECT mode, document FROM baselines WHERE set_id = ? AND name = ?", (set_id, one_line(name))
        )
        return {row["mode"]: json.loads(row["document"]) for row in rows}

    def delete(self, set_id: str, name: str) -> None:
        """Forgets the baselines of a name."""
        with self._catalog.write() as connection:
            connection.execute(
                "DELETE FROM baselines WHERE set_id = ? AND name = ?", (set_id, one_line(name))
            )

    # --- files

    def export_file(self, baseline_id: int, path: str | os.PathLike[str]) -> None:
        """Writes a baseline as ``foley-desktop evaluate --baseline`` reads it.

        Raises:
            GoldenSetError: it is gone, or the file cannot be written.
        """
        save_baseline(path, self.load(baseline_id))

    def export_run(self, baseline_id: int, path: str | os.PathLike[str]) -> None:
        """Writes a baseline's run as a TREC run file.

        Raises:
            GoldenSetError: it is gone, or the file cannot be written.
        """
        document = self.load(baseline_id)
        run = {
            query: {clip: float(len(row) - place) for place, clip in enumerate(row)}
            for query, row in document["run"].items()
        }
        write_run(path, run, tag=f"foley-{document['mode']}")

    def import_file(self, set_id: str, path: str | os.PathLike[str], name: str = "") -> BaselineInfo:
        """Takes a baseline file in, of ``evaluate --save`` or another library.

        Raises:
            GoldenSetError: the file is damaged, of another golden set, or the name is taken.
        """
        document = load_baseline(path)
        golden = self._store.golden(set_id)
        if document.get("set_id") != set_id and document["golden_hash"] != golden_hash(golden):
            raise GoldenSetError("The baseline was measured with another golden set.")
        if document["mode"] not in MODES:
            raise GoldenSetError(f"The baseline is of a mode {document['mode'][:40]!r} that there is not.")
        stated = document.get("name")
        name = name or (stated if isinstance(stated, str) else "") or PurePath(shown(path)).stem
        return self._keep(set_id, name, {document["mode"]: document})[0]

    def import_run(
        self, set_id: str, path: str | os.PathLike[str], name: str = "", mode: Mode = "hybrid"
    ) -> BaselineInfo:
        """Takes a TREC run file of another search in, as a baseline to be compared with.

        Its query ids have to be the set's; clips may be named by id or path.

        Raises:
            GoldenSetError: the file is damaged, has no query of the set, or the name is taken.
        """
        golden = self._store.golden(set_id)
        rows = {query: row for query, row in read_run(path).items() if query in golden.texts}
        if not rows:
            raise GoldenSetError(f"The run file {shown(path)} has no query of this golden set.")
        run = {
            query: {self._store.clip_id(clip): score for clip, score in row.items()}
            for query, row in rows.items()
        }
        document = make_baseline(
            evaluate_run(run, golden.qrels, metrics=metrics_at(10)),
            mode=mode,
            golden_hash=golden_hash(golden),
            embedder=OUTSIDE,
            fusion=OUTSIDE,
            set_id=set_id,
            run=ranked_run(run),
            texts=golden.texts,
        )
        return self._keep(set_id, name or PurePath(shown(path)).stem, {mode: document})[0]

    # --- parts

    def _keep(
        self, set_id: str, name: str, documents: Mapping[Any, Mapping[str, Any]], *, replace: bool = False
    ) -> list[BaselineInfo]:
        name = one_line(name)
        if not name:
            raise GoldenSetError("A baseline needs a name.")
        self._store.info(set_id)
        now = self._clock()
        saved = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        kept = []
        with self._catalog.write() as connection:
            if replace:
                self.delete(set_id, name)
            for mode, document in documents.items():
                if mode in self.named(set_id, name):
                    raise GoldenSetError(f"There is a baseline called {name} already.")
                text = json.dumps({"saved": saved, **document, "name": name, "set_id": set_id})
                cursor = connection.execute(
                    "INSERT INTO baselines (set_id, name, mode, saved_s, document) VALUES (?, ?, ?, ?, ?)",
                    (set_id, name, mode, now, text),
                )
                kept.append(cursor.lastrowid)
        return [info for info in self.of_set(set_id) if info.id in kept]


def _info(row: sqlite3.Row) -> BaselineInfo:
    document = json.loads(row["document"])
    return BaselineInfo(
        id=row["id"],
        set_id=row["set_id"],
        name=row["name"],
        mode=row["mode"],
        saved_s=row["saved_s"],
        golden_hash=document["golden_hash"],
        embedder=document["embedder"],
        fusion=document["fusion"],
        library_size=document.get("library_size"),
        k=document["k"],
        ndcg=baseline_ndcg(document),
    )
