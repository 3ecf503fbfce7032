"""Measures CLAP in the app against the bare network, in one run, and prints one JSON document.

``python tests/bench/clap.py [--checkpoint FILE] [--windows N]``: seconds until the model process is ready,
windows per second of the bare network, of the model process and of indexing a folder of clips, and the peak
memory of the model process. Without a checkpoint random weights in the true architecture are made first.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[1])]

import clap_files  # noqa: E402

from foley_desktop.index.embedders import catalogue, clap, clap_checkpoint, clap_store  # noqa: E402
from foley_desktop.index.embedders.host import ModelHost, default_threads  # noqa: E402
from foley_desktop.library.service import LibraryService  # noqa: E402
from foley_desktop.settings import DataFolder, Settings  # noqa: E402


def made_checkpoint(folder: Path) -> Path:
    import torch

    clap_files.write_tokenizer(folder)
    torch.save(clap_files.published(clap_files.random_weights()), folder / "random.pt")
    return folder / "random.pt"


def noise(seconds: float) -> np.ndarray:
    return (0.3 * np.random.default_rng(0).standard_normal(round(48000 * seconds))).astype(np.float32)


def bare(models: Path, windows: int, threads: int) -> float:
    """Windows per second of the network alone."""
    import torch

    torch.set_num_threads(threads)
    model: Any = clap_checkpoint.load(models / clap_store.NAME / clap_store.WEIGHTS)
    given = [{"waveform": torch.from_numpy(clap.prepared(noise(10.0))), "longer": torch.tensor([False])}]
    with torch.inference_mode():
        model.get_audio_embedding(given)
        started = time.perf_counter()
        for _ in range(windows):
            model.get_audio_embedding(given)
    return windows / (time.perf_counter() - started)


def hosted(models: Path, windows: int, threads: int) -> dict[str, Any]:
    """Ready time, windows per second and peak memory of the model process."""
    with ModelHost(("minilm", "clap"), models_folder=models, threads=threads) as host:
        started = time.perf_counter()
        assert host.wait_ready(600), host.error
        ready = time.perf_counter() - started
        embedder = host.embedder("clap")
        started = time.perf_counter()
        embedder.embed_text("a dog barks in the distance")
        query_ms = (time.perf_counter() - started) * 1000
        embedder.embed_audio(noise(1.0), 48000)
        clip = noise(10.0 * windows)
        started = time.perf_counter()
        embedder.embed_windows(clip, 48000)
        rate = windows / (time.perf_counter() - started)
        status = Path(f"/proc/{host.pid}/status").read_text().splitlines()
        peak = next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))
    return {"ready_s": ready, "query_ms": query_ms, "windows_per_s": rate, "peak_mib": peak}


def indexed(models: Path, folder: Path, windows: int) -> float:
    """Windows per second while clips of one window each are indexed."""
    import soundfile

    clips = folder / "clips"
    clips.mkdir()
    for number in range(windows):
        soundfile.write(clips / f"{number}.wav", np.roll(noise(10.0), number * 999), 48000)
    data = DataFolder(folder / "data")
    data.create()
    data.models.symlink_to(models)
    service = LibraryService(data, settings=Settings(embedder="clap"))
    try:
        first = last = 0.0
        for step in service.index([clips]):
            if step.what.startswith("Listening"):
                last = time.perf_counter()
                first = first or last
        return (windows - 1) / (last - first)
    finally:
        service.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--windows", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = folder / "models"
        started = time.perf_counter()
        catalogue.add_checkpoint(arguments.checkpoint or made_checkpoint(folder), models)
        added = time.perf_counter() - started
        threads = default_threads()
        found = {"add_s": added, "threads": threads}
        found |= hosted(models, arguments.windows, threads)
        found["indexing_windows_per_s"] = indexed(models, folder, arguments.windows)
        found["bare_windows_per_s"] = bare(models, arguments.windows, threads)
    found["share_of_bare"] = found["indexing_windows_per_s"] / found["bare_windows_per_s"]
    print(json.dumps({key: round(value, 3) for key, value in found.items()}))


if __name__ == "__main__":
    main()
