"""How often "find similar" finds what is alike, across packages: the likeness space against the plain one.

    python tests/bench/similar.py --corpus DIR --manifest FILE --golden FILE [--cache DIR]

Every clip that answers a golden query is looked up among all clips of other packages. A neighbour is right
when it answers one of the same queries. Printed is the share of right neighbours among the first 1, 5 and 10,
over those clips that have a right neighbour at all, for

* the plain space: the mean embedding of aiSFX, logarithm, standardised;
* the likeness space as the application has it (no label went into it);
* the joint space of text and sound, each clip by a bridge that was trained without its package.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "resources" / "compact")]

import numpy as np  # noqa: E402
import train_bridge  # noqa: E402

from foley_desktop.index.embedders import bridge  # noqa: E402
from foley_desktop.index.embedders.aisfx_net import EMBEDDING_DIM  # noqa: E402

CUTS = (1, 5, 10)


def main() -> None:
    options = parsed()
    golden = json.loads(options.golden.read_text("utf-8"))
    entries = [json.loads(line) for line in options.manifest.read_text("utf-8").splitlines() if line.strip()]
    heard = train_bridge.listened(entries, options.corpus, options.cache, 60.0)
    entries = [entry for entry in entries if entry["id"] in heard]
    trainer = train_bridge.Trainer(entries, [heard[entry["id"]] for entry in entries], seed=0)
    ids = [entry["id"] for entry in entries]
    answers = answered(golden["qrels"])
    spaces = {"plain": plain(trainer)} | learned(trainer)
    print(f"{'space':<10}" + "".join(f"  P@{cut:<5}" for cut in CUTS))
    for name, vectors in spaces.items():
        found = precision(vectors, ids, trainer.packages, answers)
        print(f"{name:<10}" + "".join(f"  {found[cut]:.4f} " for cut in CUTS))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    for name in ("--corpus", "--manifest", "--golden"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    options.cache = options.cache or options.corpus.parent / "features"
    return options


def answered(qrels: Mapping[str, Mapping[str, int]]) -> dict[str, set[str]]:
    """The queries that each clip answers."""
    queries: dict[str, set[str]] = defaultdict(set)
    for query, grades in qrels.items():
        for clip, grade in grades.items():
            if grade > 0:
                queries[clip].add(query)
    return dict(queries)


def precision(
    vectors: np.ndarray, ids: Sequence[str], packages: np.ndarray, answers: Mapping[str, set[str]]
) -> dict[int, float]:
    """Share of right neighbours among the first k of other packages, by k; ``vectors`` have unit rows."""
    asked = [number for number, clip in enumerate(ids) if clip in answers]
    shares: dict[int, list[float]] = {cut: [] for cut in CUTS}
    for number in asked:
        right = np.array([bool(answers.get(clip, set()) & answers[ids[number]]) for clip in ids])
        elsewhere = packages != packages[number]
        if not (right & elsewhere).any():
            continue
        scores = np.where(elsewhere, vectors @ vectors[number], -np.inf)
        order = np.argsort(-scores, kind="stable")[: max(CUTS)]
        for cut in CUTS:
            shares[cut].append(float(right[order[:cut]].mean()))
    return {cut: float(np.mean(values)) for cut, values in shares.items()}


def plain(trainer: train_bridge.Trainer) -> np.ndarray:
    """The mean embedding, logarithm, standardised over the training clips."""
    x = np.log1p(np.stack([one.blocks[:, :EMBEDDING_DIM].mean(axis=0) for one in trainer.heard]))
    known = x[trainer.trainable(np.ones(len(x), bool))]
    deviation = known.std(axis=0)
    return bridge.unit_rows(np.clip((x - known.mean(axis=0)) / (deviation + 1e-3 * known.std()), -6.0, 6.0))


def learned(trainer: train_bridge.Trainer) -> dict[str, np.ndarray]:
    """The application's two spaces over all clips, nothing of a clip's package being in its training."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bridge.safetensors"
        train_bridge.save(trainer.fit(trainer.trainable(np.ones(len(trainer.entries), bool))), file)
        whitening = bridge.Bridge(file)
    likeness = np.stack([whitening.vectors(one)[1] for one in trainer.heard])
    joint = np.zeros((len(trainer.entries), bridge.DIM), np.float32)
    for tested, trained in trainer.held_out():
        for number in tested:
            joint[number] = trained.vectors(trainer.heard[number])[0]
    return {"likeness": likeness, "joint": joint}


if __name__ == "__main__":
    main()
