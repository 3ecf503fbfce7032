"""Measures CLAP in the app against the bare network, in one run, and prints one JSON document.

``python tests/bench/clap.py [--checkpoint FILE] [--embedder clap|clap:half] [--rounds N] [--windows N]``:
seconds and peak memory of taking a checkpoint in; seconds until the model process is ready and until the
first window and the first query are answered; its peak memory; and windows per second of indexing a folder
against those of the bare network of the same weights at full precision. The two are measured in turns, at
the same priority and with as many threads, and the median of the rounds' shares counts, so that what else
the machine does meanwhile weighs on both. ``cpu_share`` is the same in seconds of processor time.
Without a checkpoint random weights in the true architecture are made first.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[1])]

import clap_files  # noqa: E402

from foley_desktop.index.embedders import catalogue, clap, clap_checkpoint, clap_store  # noqa: E402
from foley_desktop.index.embedders.host import ModelHost, default_threads  # noqa: E402
from foley_desktop.library.service import LibraryService  # noqa: E402
from foley_desktop.settings import DataFolder, Settings  # noqa: E402

NICENESS = 5
"""That of the thread which listens in the model process."""


def made_checkpoint(folder: Path) -> Path:
    import torch

    clap_files.write_tokenizer(folder)
    torch.save(clap_files.published(clap_files.random_weights()), folder / "random.pt")
    return folder / "random.pt"


def noise(seconds: float, seed: int = 0) -> np.ndarray:
    return (0.3 * np.random.default_rng(seed).standard_normal(round(48000 * seconds))).astype(np.float32)


def peak_mib(pid: int) -> int:
    """The largest resident memory of a process so far; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), 0)


def cpu_s(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def added(checkpoint: Path, models: Path) -> dict[str, float]:
    """Seconds and peak memory of taking a checkpoint in."""
    started, peak = time.perf_counter(), 0
    for _ in catalogue.adding(checkpoint, models):
        for task in Path("/proc/self/task").iterdir():
            for child in (task / "children").read_text().split():
                peak = max(peak, peak_mib(int(child)))
    return {"add_s": time.perf_counter() - started, "add_peak_mib": peak}


def started(models: Path, embedder: str, threads: int) -> dict[str, float]:
    """Seconds until a model process is ready, and until it has heard and read something."""
    found: dict[str, float] = {}
    with ModelHost(("minilm", embedder), models_folder=models, threads=threads) as host:
        begun = time.perf_counter()
        assert host.wait_ready(600), host.error
        found["ready_s"] = time.perf_counter() - begun
        host.embedder(embedder).embed_audio(noise(1.0), 48000)
        found["first_window_s"] = time.perf_counter() - begun
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            host.embedder(embedder).embed_text("a dog barks in the distance")
            times.append((time.perf_counter() - begun) * 1000)
        found["query_ms"] = statistics.median(times)
    return found


class Rounds:
    """Bare and indexed windows in turns."""

    def __init__(self, models: Path, folder: Path, embedder: str, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)
        self._torch = torch
        self._model: Any = clap_checkpoint.load(models / clap_store.NAME / clap_store.WEIGHTS)
        self._folder = folder
        data = DataFolder(folder / "data")
        data.create()
        data.models.symlink_to(models)
        self.service = LibraryService(data, settings=Settings(embedder=embedder))
        self._hear(2)
        self.indexed(0, 2)

    def _hear(self, windows: int) -> None:
        given = [
            {
                "waveform": self._torch.from_numpy(clap.prepared(noise(10.0))),
                "longer": self._torch.tensor([False]),
            }
        ]
        with self._torch.inference_mode():
            for _ in range(windows):
                self._model.get_audio_embedding(given)

    def bare(self, windows: int) -> tuple[float, float]:
        """Windows a second of the network alone, and its processor time a window."""
        begun, used = time.perf_counter(), time.process_time()
        self._hear(windows)
        return windows / (time.perf_counter() - begun), (time.process_time() - used) / windows

    def indexed(self, number: int, windows: int) -> tuple[float, float]:
        """The same of indexing a folder of clips of one window each: the model process alone is counted."""
        clips = self._folder / f"clips {number}"
        clips.mkdir()
        for clip in range(windows + 1):
            soundfile.write(clips / f"{clip}.wav", noise(10.0, seed=1000 * number + clip), 48000)
        first = last = used = since = 0.0
        host: Any = self.service.models
        for step in self.service.index([clips]):
            if step.what.startswith("Listening"):
                last, used = time.perf_counter(), cpu_s(host.pid)
                if not first:
                    first, since = last, used
        return windows / (last - first), (used - since) / windows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--embedder", default="clap")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--windows", type=int, default=12)
    arguments = parser.parse_args()
    os.nice(max(0, NICENESS - os.nice(0)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = folder / "models"
        found: dict[str, float] = {"threads": default_threads()}
        found |= added(arguments.checkpoint or made_checkpoint(folder), models)
        found |= started(models, arguments.embedder, default_threads())
        rounds = Rounds(models, folder, arguments.embedder, default_threads())
        try:
            pairs = [
                (rounds.bare(arguments.windows), rounds.indexed(number, arguments.windows))
                for number in range(1, arguments.rounds + 1)
            ]
            host: Any = rounds.service.models
            found["peak_mib"] = peak_mib(host.pid)
        finally:
            rounds.service.close()
    found["bare_windows_per_s"] = statistics.median(bare[0] for bare, _ in pairs)
    found["indexing_windows_per_s"] = statistics.median(indexed[0] for _, indexed in pairs)
    found["share_of_bare"] = statistics.median(indexed[0] / bare[0] for bare, indexed in pairs)
    found["bare_cpu_s"] = statistics.median(bare[1] for bare, _ in pairs)
    found["indexing_cpu_s"] = statistics.median(indexed[1] for _, indexed in pairs)
    found["cpu_share"] = statistics.median(bare[1] / indexed[1] for bare, indexed in pairs)
    print(json.dumps({"embedder": arguments.embedder} | {key: round(v, 3) for key, v in found.items()}))


if __name__ == "__main__":
    main()
