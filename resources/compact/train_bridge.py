"""Trains the compact embedder's bridge, and measures it on packages it was not trained on.

    python resources/compact/train_bridge.py --corpus DIR --manifest FILE --out FILE
        [--cache DIR] [--golden FILE] [--report FILE] [--seconds 60] [--seed 0]

``--corpus`` is the folder that the ids of the manifest are relative to. Features are kept in ``--cache``
(beside the corpus by default), one file a clip, so that a stopped run goes on where it was. Two runs over the
same clips give the same weights. With ``--golden`` the clips are split into folds by package, each fold is
embedded by a bridge that saw none of its packages nor a copy of one of its clips, and the metrics over all
clips together are printed; the held-out packages are never trained on, there or in the weights that ship.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(REPOSITORY), str(Path(__file__).resolve().parent)]

import captions as captions_module  # noqa: E402
import fitting  # noqa: E402
import numpy as np  # noqa: E402

from foley_desktop.errors import FoleyError  # noqa: E402
from foley_desktop.eval.retrieval import evaluate_run  # noqa: E402
from foley_desktop.index.embedders import bridge, yamnet  # noqa: E402
from foley_desktop.index.embedders.compact import Listener  # noqa: E402
from foley_desktop.index.embedders.frontend import SAMPLERATE, SILENCE_PEAK  # noqa: E402
from foley_desktop.index.embedders.minilm import MiniLMEmbedder  # noqa: E402

HELD_OUT = {
    "ufoai-sound",
    "openttd-opensfx",
    "micropolis-data",
    "sound-theme-freedesktop",
    "scratch",
    "minetest-data",
}
FOLDS = 5
COPY_COSINE = 0.9985


def main(arguments: Sequence[str] | None = None) -> None:
    options = parsed(arguments)
    entries = [json.loads(line) for line in options.manifest.read_text("utf-8").splitlines() if line.strip()]
    heard = listened(entries, options.corpus, options.cache, options.seconds)
    entries = [entry for entry in entries if entry["id"] in heard]
    trainer = Trainer(entries, [heard[entry["id"]] for entry in entries], options.seed)
    report: dict[str, Any] = {"clips": len(entries)}
    if options.golden:
        report["folds"] = trainer.measured(json.loads(options.golden.read_text("utf-8")))
    trained = trainer.trainable(np.ones(len(entries), bool))
    report["trained_on"] = trainer.counts(trained)
    save(trainer.fit(trained), options.out)
    report["bytes"] = options.out.stat().st_size
    print(json.dumps(report if not options.report else {k: report[k] for k in ("clips", "bytes")}, indent=1))
    if options.report:
        options.report.write_text(json.dumps(report, indent=1) + "\n", "utf-8")


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    for name in ("--corpus", "--manifest", "--out"):
        parser.add_argument(name, type=Path, required=True)
    for name in ("--cache", "--golden", "--report"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seconds", type=float, default=60.0, help="of a clip, at most (60)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    options.cache = options.cache or options.corpus.parent / "features"
    return options


def listened(
    entries: list[dict[str, Any]], corpus: Path, cache: Path, seconds: float
) -> dict[str, bridge.Listened]:
    """What the networks make of every clip that holds sound, by id; from the cache if known."""
    cache.mkdir(parents=True, exist_ok=True)
    listener: Listener | None = None
    found: dict[str, bridge.Listened] = {}
    for number, entry in enumerate(entries):
        kept = cache / f"{entry['sha256'][:24]}-{seconds:g}.npz"
        if not kept.exists():
            listener = listener or Listener()
            part = kept.with_suffix(".part")
            with open(part, "wb") as file:
                np.savez(file, *embedded(listener, corpus / entry["id"], seconds))
            os.replace(part, kept)
        with np.load(kept) as arrays:
            if arrays.files:
                found[entry["id"]] = bridge.Listened(*(arrays[n].astype(np.float32) for n in arrays.files))
        if number % 500 == 0:
            print(f"listened to {number} of {len(entries)}", file=sys.stderr)
    return found


def embedded(listener: Listener, path: Path, seconds: float) -> tuple[np.ndarray, ...]:
    """What is made of one clip's beginning, float16; nothing when it cannot be read or is silent."""
    from foley_desktop.audio.decode import read_mono

    try:
        samples = read_mono(str(path), SAMPLERATE, 0.0, seconds)
    except FoleyError:
        samples = np.zeros(0, np.float32)
    if float(np.max(np.abs(samples), initial=0.0)) < SILENCE_PEAK:
        return ()
    return tuple(part.astype(np.float16) for part in listener(samples))


class Trainer:
    """The corpus as the fitting needs it, and the folds over it."""

    def __init__(self, entries: list[dict[str, Any]], heard: list[bridge.Listened], seed: int) -> None:
        self.entries, self.heard, self.seed = entries, heard, seed
        self.packages = np.array([entry["package"] for entry in entries])
        self.words = [captions_module.spelled_out(entry.get("text") or "") for entry in entries]
        self._minilm = MiniLMEmbedder()
        self.captions = self._embedded(self.words)
        self.phrases, self.names = self._phrases(), self._names()
        self.copies = copies(heard)

    def _embedded(self, texts: list[str]) -> np.ndarray:
        different = sorted(set(texts))
        vectors = dict(zip(different, self._minilm.embed_text(different), strict=True))
        return np.stack([vectors[text] for text in texts])

    def _phrases(self) -> fitting.Phrases:
        folder = Path(__file__).resolve().parent
        with open(folder.parent / "ucs" / "ucs-8.2.csv", encoding="utf-8-sig", newline="") as file:
            rows = [(row["Category"], row["SubCategory"]) for row in csv.DictReader(file)]
        names = sorted({category for category, _ in rows})
        phrases = [
            (f"{category} {sub}".lower() if sub != "MISC" else category.lower(), category)
            for category, sub in rows
        ]
        for line in (folder / "phrases.txt").read_text("utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                category, listed = line.split(":", 1)
                phrases += [(phrase.strip(), category) for phrase in listed.split(";")]
        return self._called([(phrase, names.index(category)) for phrase, category in sorted(set(phrases))])

    def _names(self) -> fitting.Phrases:
        """YAMNet's classes as a whole and by the parts of their names: "Burst, pop", "burst", "pop"."""
        parts = set()
        for number, name in enumerate(yamnet.class_names()):
            parts |= {(part.strip().lower(), number) for part in (name, *name.split(","))}
        return self._called(sorted(parts))

    def _called(self, phrases: list[tuple[str, int]]) -> fitting.Phrases:
        return fitting.Phrases(
            self._embedded([phrase for phrase, _ in phrases]),
            self._embedded([f"sound of {phrase}" for phrase, _ in phrases]),
            np.array([thing for _, thing in phrases]),
        )

    def trainable(self, allowed: np.ndarray) -> np.ndarray:
        """The allowed clips that have a caption, are not held out, and are no copy of one that is."""
        held = np.isin(self.packages, sorted(HELD_OUT)) | ~allowed
        described = np.array([bool(words) for words in self.words])
        return ~held & described & ~np.isin(self.copies, self.copies[held])

    def fit(self, chosen: np.ndarray) -> dict[str, np.ndarray]:
        """A bridge trained on the chosen clips. Captions that many clips share count less each."""
        numbers = np.flatnonzero(chosen)
        often = Counter(self.words[i] for i in numbers)
        clips = fitting.Clips(
            [self.heard[i] for i in numbers],
            [self.words[i] for i in numbers],
            self.captions[numbers],
            np.array([often[self.words[i]] ** -0.5 for i in numbers], np.float32),
        )
        return fitting.fit(clips, self.phrases, self.names, self.seed)

    def folds(self) -> np.ndarray:
        """The fold of each clip, by package; the held-out packages are one fold of their own."""
        load = [0] * FOLDS
        fold = dict.fromkeys(HELD_OUT, FOLDS)
        order = np.random.default_rng(self.seed).permutation(sorted(set(self.packages) - HELD_OUT))
        sizes = Counter(self.packages.tolist())
        for package in sorted(order.tolist(), key=lambda name: -sizes[name]):
            fold[package] = int(np.argmin(load))
            load[fold[package]] += sizes[package]
        return np.array([fold[package] for package in self.packages])

    def held_out(self) -> Iterator[tuple[np.ndarray, bridge.Bridge]]:
        """For each fold the numbers of its clips, and a bridge that saw nothing of its packages."""
        folds = self.folds()
        for fold in range(FOLDS + 1):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "bridge.safetensors"
                save(self.fit(self.trainable(folds != fold)), file)
                yield np.flatnonzero(folds == fold), bridge.Bridge(file)

    def measured(self, golden: dict[str, Any]) -> dict[str, dict[str, float]]:
        """Metrics by kind of query, over all clips together, each embedded by a bridge that never saw it."""
        return self.metrics(golden, self.held_out_scores([query["text"] for query in golden["queries"]]))

    def held_out_scores(self, texts: list[str]) -> np.ndarray:
        """The cosine of every text with every clip by a bridge that never saw it, ``(texts, clips)``."""
        scores = np.zeros((len(texts), len(self.entries)), np.float32)
        for tested, trained in self.held_out():
            heard = [trained.vectors(self.heard[i])[0] for i in tested]
            scores[:, tested] = self.questions(trained, texts) @ np.stack(heard).T
        return scores

    def questions(self, trained: bridge.Bridge, texts: list[str]) -> np.ndarray:
        sounding = self._minilm.embed_text([f"sound of {text}" for text in texts])
        return trained.question(self._minilm.embed_text(texts), sounding)

    def metrics(self, golden: dict[str, Any], scores: np.ndarray) -> dict[str, dict[str, float]]:
        ids = [entry["id"] for entry in self.entries]
        by_kind: dict[str, list[int]] = defaultdict(list)
        for number, query in enumerate(golden["queries"]):
            if any(grade > 0 for grade in golden["qrels"].get(query["id"], {}).values()):
                by_kind[query.get("kind", "query")].append(number)
        out = {}
        for kind, numbers in by_kind.items():
            names = [golden["queries"][number]["id"] for number in numbers]
            qrels = {name: golden["qrels"][name] for name in names}
            run = {
                name: {ids[i]: float(scores[n, i]) for i in np.argsort(-scores[n], kind="stable")[:1000]}
                for name, n in zip(names, numbers, strict=True)
            }
            out[kind] = {"queries": float(len(names)), **evaluate_run(run, qrels, k=10).mean}
        return out

    def counts(self, chosen: np.ndarray) -> dict[str, list[Any]]:
        """Clips by package, with the licence the manifest gives."""
        licences = {entry["package"]: entry.get("license", "") for entry in self.entries}
        often = Counter(self.packages[chosen].tolist())
        return {package: [number, licences[package]] for package, number in sorted(often.items())}


def copies(heard: list[bridge.Listened]) -> np.ndarray:
    """A number for each clip that copies share: packages pass sounds on, sometimes encoded anew."""
    vectors = bridge.unit_rows(np.stack([one.blocks[:, :1024].mean(axis=0) for one in heard]))
    length = np.array([len(one.blocks) for one in heard])
    group = np.arange(len(heard))
    for first in range(0, len(heard), 500):
        near = vectors[first : first + 500] @ vectors.T > COPY_COSINE
        for a, b in zip(*np.nonzero(near), strict=True):
            if group[a + first] != group[b] and abs(int(length[a + first]) - int(length[b])) <= 1:
                group[group == group[b]] = group[a + first]
    return group


def save(arrays: dict[str, np.ndarray], path: Path) -> None:
    """Writes the weights; the same weights give the same bytes."""
    from safetensors.numpy import save_file

    ordered = {name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}
    save_file(ordered, str(path), metadata={"format": bridge.FORMAT})
    path.chmod(0o644)
    print(f"{path.name}: {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}", file=sys.stderr)


if __name__ == "__main__":
    main()
