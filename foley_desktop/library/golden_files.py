"""Golden sets in and out of the catalog: our JSON, TREC files, tables of query, clip and grade.

A file is read and checked as a whole before the catalog is touched, so a broken one changes nothing.
The ending of a name says the kind: ``.json``, ``.csv`` and ``.tsv``; anything else is a TREC qrels file,
with the texts of its queries in ``queries.tsv`` beside it if there is one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from foley_desktop.eval.files import read_json, shown, write_text
from foley_desktop.eval.golden import GoldenSet, golden_document, parse_golden
from foley_desktop.eval.golden_csv import dump_csv, load_csv
from foley_desktop.eval.judgements import Judgement, judgement_entries, parse_judgements
from foley_desktop.eval.trec_golden import dump_trec, load_trec
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.golden_store import GoldenStore, SetInfo

QUERY_TEXTS = "queries.tsv"

Naming = Literal["id", "path"]


class Imported(NamedTuple):
    """A set that was read from a file, and a sentence for each thing worth knowing about it."""

    info: SetInfo
    notes: list[str]


class _File(NamedTuple):
    golden: GoldenSet
    judgements: tuple[Judgement, ...]
    notes: list[str]


def import_set(store: GoldenStore, path: str | os.PathLike[str], name: str = "") -> Imported:
    """Reads a file into a new golden set.

    Args:
        name: What to call it; by default as the file says. Where that is taken a number is added.

    Raises:
        GoldenSetError: one sentence that says what is wrong; nothing has changed then.
    """
    golden, judgements, notes = _read(path)
    named = GoldenSet(name or golden.name, golden.queries, golden.qrels, golden.set_id)
    info = store.add(named, judgements, any_name=True)
    if golden.set_id and info.id != golden.set_id:
        notes.append("This set is in the library already: the file was taken in as a copy.")
    return Imported(info, notes + _unknown(store, golden))


def merge_file(store: GoldenStore, set_id: str, path: str | os.PathLike[str]) -> Imported:
    """Takes the queries and judgements of a file into a set that is there: another grader's, say.

    Raises:
        GoldenSetError: one sentence that says what is wrong; nothing has changed then.
    """
    golden, judgements, notes = _read(path)
    count = store.merge(set_id, golden, judgements)
    notes.append(f"Judgements that are new or different: {count}.")
    return Imported(store.info(set_id), notes + _unknown(store, golden))


def export_set(
    store: GoldenStore, catalog: Catalog, set_id: str, path: str | os.PathLike[str], naming: Naming = "id"
) -> None:
    """Writes a set to a file of the kind that its ending says.

    Args:
        naming: Clips by ``id``, which no move of a file changes, or by ``path`` below their folder,
            which people and other libraries can read. A path that would not lead back to its clip is
            given as id.

    Raises:
        GoldenSetError: the file cannot be written, or its kind cannot hold this set.
    """
    golden = store.golden(set_id)
    names = _paths(catalog, golden) if naming == "path" else {}
    qrels = {
        query: {names.get(clip, clip): grade for clip, grade in row.items()}
        for query, row in golden.qrels.items()
    }
    golden = GoldenSet(golden.name, golden.queries, qrels, golden.set_id)
    kind = PurePath(path).suffix.lower()
    if kind in (".csv", ".tsv"):
        dump_csv(golden, path)
    elif kind == ".json":
        given = [
            Judgement(one.query, names.get(one.clip, one.clip), one.grade, one.grader, one.at_s)
            for one in store.judgements(set_id)
        ]
        document = golden_document(golden) | {"judgements": judgement_entries(given)}
        write_text(path, json.dumps(document, indent=1) + "\n", "golden file")
    else:
        dump_trec(golden, path, Path(path).with_name(QUERY_TEXTS))


def _read(path: str | os.PathLike[str]) -> _File:
    kind = PurePath(path).suffix.lower()
    if kind in (".csv", ".tsv"):
        return _File(load_csv(path), (), [])
    if kind == ".json":
        document = read_json(path, "golden file")
        golden = parse_golden(document, name=PurePath(shown(path)).stem)
        given = parse_judgements(document.get("judgements", []), golden.texts.keys())
        return _File(golden, given, [])
    texts = Path(path).with_name(QUERY_TEXTS)
    golden, notes = load_trec(path, texts if texts.is_file() else None)
    return _File(golden, (), notes)


def _unknown(store: GoldenStore, golden: GoldenSet) -> list[str]:
    clips = {clip for row in golden.qrels.values() for clip in row}
    count = sum(not store.has_clip(clip) for clip in clips)
    return [f"Clips that the library does not have: {count} of {len(clips)}."] if count else []


def _paths(catalog: Catalog, golden: GoldenSet) -> dict[str, str]:
    """By clip id, the path below its root, where that path finds the clip again."""
    ids: Collection[str] = {clip for row in golden.qrels.values() for clip in row}
    return {
        clip.id: clip.rel_path
        for clip in catalog.clips(ids).values()
        if catalog.find(clip.rel_path).id == clip.id
    }
