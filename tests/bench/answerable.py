"""How well the search knows that it has no answer: ``answerable.py --library DIR GOLDEN.json``.

Prints the area under the ROC curve of ``answerable``: how often a query with an answer gets a higher value
than one without, ties counting half. The library has to be indexed over the golden set's clips.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from foley_desktop.errors import UnknownClipError  # noqa: E402
from foley_desktop.eval.golden import GoldenSet, load_golden, resolve  # noqa: E402
from foley_desktop.library.service import LibraryService  # noqa: E402
from foley_desktop.models import MODES  # noqa: E402
from foley_desktop.settings import DataFolder  # noqa: E402


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The chance that a value of ``positive`` is above one of ``negative``."""
    difference = np.subtract.outer(np.array(positive), np.array(negative))
    return float(((difference > 0) + 0.5 * (difference == 0)).mean())


def answers_of(service: LibraryService, golden: GoldenSet) -> dict[str, dict[str, int]]:
    def lookup(key: str) -> str | None:
        try:
            return service.clip(key).id or None
        except UnknownClipError:
            return None

    return resolve(golden, lookup).qrels


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("golden", type=Path)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--mode", choices=MODES, default="hybrid")
    parser.add_argument("--worst", type=int, default=0, help="list so many of the worst judged queries")
    arguments = parser.parse_args()
    golden = load_golden(arguments.golden)
    service = LibraryService(DataFolder(arguments.library))
    qrels = answers_of(service, golden)
    values = {q.id: service.search(q.text, k=10, mode=arguments.mode).answerable for q in golden.queries}
    positive = [values[query] for query in qrels]
    negative = [value for query, value in values.items() if query not in qrels]
    print(f"{len(positive)} queries with an answer, mean {np.mean(positive):.3f}")
    print(f"{len(negative)} without, mean {np.mean(negative):.3f}")
    print(f"AUC {auc(positive, negative):.4f}")
    for kind in sorted({query.kind for query in golden.queries if query.id in qrels}):
        some = [values[query.id] for query in golden.queries if query.kind == kind and query.id in qrels]
        print(f"AUC of {kind} queries {auc(some, negative):.4f}")
    if arguments.worst:
        texts = {query.id: query.text for query in golden.queries}
        for has_answer in (True, False):
            some_ids = [query for query in values if (query in qrels) is has_answer]
            some_ids.sort(key=lambda query: values[query], reverse=not has_answer)
            for query in some_ids[: arguments.worst]:
                print(f"{values[query]:.3f}  {'answer' if has_answer else 'none':7} {texts[query]}")
    service.close()


if __name__ == "__main__":
    main()
