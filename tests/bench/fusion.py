"""How much fusing adds, on clips whose packages no bridge has heard: ``fusion.py --library DIR …``.

    python tests/bench/fusion.py --library DIR --corpus DIR --manifest FILE --golden FILE [--cache DIR]

The library has to be indexed over the corpus; words and meaning are asked there, so ``--no-audio`` will do.
The scores by sound come from bridges each trained without the package of the clips it judges, as
``train_bridge.py`` measures them. The four lists are then fused by the application's own fusion. Printed are
nDCG@10, recall@10 and MRR of the four modes by kind of query, and how well ``answerable`` tells the queries
that have an answer from those that have none, as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "resources" / "compact"), str(Path(__file__).parent)]

import train_bridge  # noqa: E402
from answerable import auc  # noqa: E402

from foley_desktop.eval.retrieval import evaluate_run  # noqa: E402
from foley_desktop.index.query import parse_query  # noqa: E402
from foley_desktop.index.search import AUDIO, KEYWORD, SEMANTIC  # noqa: E402
from foley_desktop.library.fusing import SOUNDS_ASKED, Fusion, answerable  # noqa: E402
from foley_desktop.library.rankers import QueryRankers  # noqa: E402
from foley_desktop.library.service import LibraryService  # noqa: E402
from foley_desktop.settings import DataFolder  # noqa: E402

DEPTH = 100
Scores = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    for name in ("--library", "--corpus", "--manifest", "--golden"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    golden = json.loads(options.golden.read_text("utf-8"))
    heard = by_sound(options, [query["text"] for query in golden["queries"]])
    service = LibraryService(DataFolder(options.library))
    try:
        print(json.dumps(measured(service, golden, heard), indent=1))
    finally:
        service.close()


def by_sound(options: argparse.Namespace, texts: list[str]) -> list[Scores]:
    """For each text the cosine of every clip, by its path below the corpus."""
    entries = [json.loads(line) for line in options.manifest.read_text("utf-8").splitlines() if line.strip()]
    cache = options.cache or options.corpus.parent / "features"
    listened = train_bridge.listened(entries, options.corpus, cache, 60.0)
    entries = [entry for entry in entries if entry["id"] in listened]
    trainer = train_bridge.Trainer(entries, [listened[entry["id"]] for entry in entries], seed=0)
    scores = trainer.held_out_scores(texts)
    ids = [entry["id"] for entry in entries]
    return [dict(zip(ids, map(float, row), strict=True)) for row in scores]


def best(scores: Scores, count: int) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:count]


def measured(service: LibraryService, golden: dict[str, Any], heard: list[Scores]) -> dict[str, Any]:
    """The table, by mode and kind."""
    ids = service.catalog.all_ids()
    paths = {clip_id: clip.rel_path for clip_id, clip in service.catalog.clips(ids).items()}
    runs: dict[str, dict[str, Scores]] = defaultdict(dict)
    sure: dict[str, float] = {}
    for query, sounds in zip(golden["queries"], heard, strict=True):
        lists, said = asked(service, query["text"], paths, sounds)
        for mode, scores in lists.items():
            runs[mode][query["id"]] = {clip: -float(place) for place, (clip, _) in enumerate(scores)}
        sure[query["id"]] = said
    return table(golden, runs, sure)


def asked(
    service: LibraryService, text: str, paths: dict[str, str], sounds: Scores
) -> tuple[dict[str, list[tuple[str, float]]], float]:
    """The lists of the four modes for one query, clips by path, and ``answerable``."""
    parsed = parse_query(text)
    rankers = QueryRankers(service.indexes, service.models, parsed)
    everything = {name: dict(rankers.ranked(name, len(paths))) for name in (KEYWORD, SEMANTIC)}
    whole = {
        name: {paths[clip]: score for clip, score in scores.items()} for name, scores in everything.items()
    }
    whole[AUDIO] = sounds

    def complete(name: str, clips: Collection[str]) -> Scores:
        return {clip: whole[name][clip] for clip in clips if clip in whole[name]}

    fusion = Fusion()
    fuse = fusion.function(complete, rankers.best, {})
    assert fuse is not None
    lists = {name: best(scores, DEPTH) for name, scores in whole.items()}
    fused = fuse(lists, DEPTH)
    lists["hybrid"] = [(hit.id, hit.rrf_score or 0.0) for hit in fused]
    unit = service.indexes.sure_cosine or 1.0
    evidence = [score / unit for _, score in lists[AUDIO][:SOUNDS_ASKED]]
    meaning = lists[SEMANTIC][0][1] if lists[SEMANTIC] else None
    return lists, answerable(meaning, rankers.coverage, evidence)


def table(
    golden: dict[str, Any], runs: dict[str, dict[str, Scores]], sure: dict[str, float]
) -> dict[str, Any]:
    """Metrics by mode and kind; the area under the ROC curve over all queries."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for query in golden["queries"]:
        relevant = any(grade > 0 for grade in golden["qrels"].get(query["id"], {}).values())
        kinds[query["kind"] if relevant else "none"].append(query["id"])
    out: dict[str, Any] = {}
    for mode, run in runs.items():
        out[mode] = {}
        for kind in sorted(set(kinds) - {"none"}):
            qrels = {query: golden["qrels"][query] for query in kinds[kind]}
            mean = evaluate_run({query: run[query] for query in qrels}, qrels, k=10).mean
            out[mode][kind] = {"queries": len(qrels), **{name: round(v, 4) for name, v in mean.items()}}
    have = [sure[query] for kind, queries in kinds.items() if kind != "none" for query in queries]
    out["answerable_auc"] = round(auc(have, [sure[query] for query in kinds["none"]]), 4)
    return out


if __name__ == "__main__":
    main()
