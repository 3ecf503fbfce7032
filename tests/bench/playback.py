"""How fast clips begin to sound and waveforms appear: ``python tests/bench/playback.py [--device NAME]``.

Prints one line a measurement. Without a device the player's clock stands in for one; with ``--pulse`` a
private PulseAudio with a null sink does, and what it plays is recorded and compared with the file.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
import soxr

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]

from pulse import PulseSink, aligned_correlation  # noqa: E402

from foley_desktop.audio.engine import Engine  # noqa: E402
from foley_desktop.audio.peaks import PeakCache, compute  # noqa: E402
from foley_desktop.audio.player import Player, SilentPlayer  # noqa: E402
from foley_desktop.audio.source import ClipSource  # noqa: E402


def show(what: str, value: float, unit: str, note: str = "") -> None:
    print(f"{what:<58} {value:10.3f} {unit:<4} {note}", flush=True)


def median_ms(call: Callable[[], object], times: int) -> float:
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        spent.append((time.perf_counter() - began) * 1e3)
    return statistics.median(spent)


def write(path: Path, seconds: float, rate: int) -> str:
    noise = soxr.resample(np.random.default_rng(3).uniform(-1, 1, (round(seconds * 4000), 2)), 4000, rate)
    noise *= 0.5 / np.abs(noise).max()
    with soundfile.SoundFile(path, "w", rate, 2) as file:
        for start in range(0, len(noise), 8192):  # libvorbis crashes on long writes
            file.write(noise[start : start + 8192])
    return str(path)


def bench_callback() -> None:
    for frames in (64, 512, 2048):
        engine = Engine(48000, 2, ring_s=60)
        ring = engine.spare()
        assert ring is not None
        ring.write(np.zeros((48000 * 50, 2), np.float32))
        engine.audible = True
        engine.post(ring)
        block = np.empty((frames, 2), np.float32)
        spent = median_ms(lambda e=engine, b=block: e.render(b, 0.0), 1000)
        show(f"callback, {frames} frames", spent * 1e3, "us", f"{spent / (frames / 48):.2%} of its time")


def bench_sources(folder: Path) -> None:
    for name, rate in (
        ("a.wav", 48000),
        ("b.wav", 96000),
        ("c.flac", 44100),
        ("d.mp3", 44100),
        ("e.ogg", 44100),
    ):
        path = write(folder / name, 60.0, rate)

        def begin(at_s: float, path: str = path) -> None:
            source = ClipSource(path, 48000, 2, start_s=at_s)
            source.read()
            source.close()

        show(
            f"first block, {name[2:]} {rate} Hz, from the start", median_ms(lambda b=begin: b(0.0), 20), "ms"
        )
        show(f"first block, {name[2:]} {rate} Hz, from 0:45", median_ms(lambda b=begin: b(45.0), 20), "ms")


def bench_player(player: Player, folder: Path) -> None:
    clips = [write(folder / f"clip{i}.wav", 3.0, 44100) for i in range(30)]

    def until_heard(start_s: float) -> float:
        began = time.perf_counter()
        while player.position_s <= start_s and time.perf_counter() - began < 5:
            time.sleep(0.0005)
        return (time.perf_counter() - began) * 1e3

    player.play(clips[0])
    show("play until heard, device closed", until_heard(0.0), "ms")
    switches = []
    for clip in clips:
        player.play(clip, start_s=0.5)
        switches.append(until_heard(0.5))
        time.sleep(0.02)
    show(
        "play until heard, switching, median", statistics.median(switches), "ms", f"worst {max(switches):.1f}"
    )
    calls = [median_ms(lambda c=clip: player.play(c), 1) for clip in clips]
    show("the call itself, worst of 30", max(calls), "ms")
    before, used = player.underruns, time.process_time()
    player.play(write(folder / "long.flac", 30.0, 96000), loop=True)
    time.sleep(5.0)
    show("underruns in 5 s of 96 kHz FLAC", player.underruns - before, "")
    show("processor, one core", (time.process_time() - used) / 5 * 100, "%")
    show("close", median_ms(player.close, 1), "ms")


def bench_peaks(folder: Path) -> None:
    path = folder / "long.wav"
    block = np.random.default_rng(0).uniform(-0.5, 0.5, (960_000, 2))
    with soundfile.SoundFile(path, "w", 96000, 2, "PCM_24") as file:
        for _ in range(60):
            file.write(block)
    began = time.perf_counter()
    peaks = compute(str(path))
    show("peaks of 10 min, 96 kHz stereo, 24 bit", time.perf_counter() - began, "s")
    cache = PeakCache(folder / "cache")
    cache.store("abcd", peaks)
    show("the same from the cache", median_ms(lambda: cache.load("abcd"), 10), "ms")
    show("a view of 2000 columns", median_ms(lambda: peaks.view(0, peaks.frames, 2000), 50), "ms")


def bench_pulse(folder: Path) -> None:
    code = (
        "import sys, time; from foley_desktop.audio.player import Player; p = Player('pulse', sys.argv[2]);"
        "p.play(sys.argv[1]);\nwhile p.position_s < 3: time.sleep(.01)\np.close()"
    )
    path = write(folder / "pulse.wav", 4.0, 44100)
    for rate in (44100, 48000):
        with PulseSink(rate) as sink:
            for latency in ("low", "high"):
                sink.start_recording()
                env = {**sink.env, "PYTHONPATH": os.fspath(Path(__file__).resolve().parents[2])}
                subprocess.run(
                    [sys.executable, "-c", code, path, latency], env=env, check=True, capture_output=True
                )
                recorded = sink.stop_recording().mean(axis=1)
                whole = soxr.resample(soundfile.read(path)[0].mean(axis=1), 44100, rate)
                found = aligned_correlation(recorded, whole[rate // 20 : rate * 2])[0]
                show(f"correlation behind the sink at {rate} Hz, latency {latency}", found, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="play on this device of PortAudio instead of a clock")
    parser.add_argument("--pulse", action="store_true", help="measure behind a private PulseAudio too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench_callback()
        bench_sources(folder)
        bench_player(SilentPlayer() if arguments.device is None else Player(arguments.device), folder)
        bench_peaks(folder)
        if arguments.pulse:
            bench_pulse(folder)


if __name__ == "__main__":
    main()
