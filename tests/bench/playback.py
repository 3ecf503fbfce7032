"""How fast clips begin to sound, and whether they go on: ``python tests/bench/playback.py [--device NAME]``.

Prints one JSON document. Without a device a clock stands in for one, and the moment is taken when a clip's
first sample is handed to it; a device's own latency comes on top. With ``--pulse`` a private PulseAudio with
a null sink plays too, and what it plays is recorded and compared with the file. ``--minutes 10`` plays that
long while an index job runs in the same process, and counts how often the ring ran empty.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]

from pulse import PulseSink, aligned_correlation  # noqa: E402

from foley_desktop.audio.device import ClockOutput, Render  # noqa: E402
from foley_desktop.audio.engine import Engine  # noqa: E402
from foley_desktop.audio.player import Player  # noqa: E402
from foley_desktop.audio.treatment import Treatment  # noqa: E402

TWO_HOURS_S = 7200
AUDITIONS = 200
PACE_S = 0.1


class Listener(ClockOutput):
    """A device by the clock that notes when sound arrives, and when it was late to ask for it."""

    BLOCK_S = 0.005

    def __init__(self) -> None:
        super().__init__(48000, 2)
        self.late_blocks = 0
        self.arrived_at: float | None = None
        self.waits_for: float | None = None
        self._last = 0.0

    def start(self, render: Render) -> None:
        def listening(out: np.ndarray, heard_at: float) -> None:
            now = time.perf_counter()
            self.late_blocks += self._last > 0 and now - self._last > 0.04
            self._last = now
            render(out, heard_at)
            value = float(out[-1, 0])
            wanted = self.waits_for
            if self.arrived_at is None and value and (wanted is None or abs(value - wanted) < 1e-3):
                self.arrived_at = now

        super().start(listening)


class Listening:
    """Opens listeners; all of them are kept."""

    def __init__(self) -> None:
        self.outputs: list[Listener] = []

    def check(self, name: str) -> None:
        """There is always a clock."""

    def open(self, name: str, latency: str) -> Listener:
        self.outputs.append(Listener())
        return self.outputs[-1]

    def refresh(self) -> None:
        """A clock never changes."""

    def until_heard(
        self, play: Callable[[], None], value: float | None = None, patience_s: float = 10.0
    ) -> float:
        """Milliseconds from the call until its first sample, or the sample ``value``, is handed over."""
        output = self.outputs[-1]
        output.waits_for, output.arrived_at = value, None
        began = time.perf_counter()
        play()
        while output.arrived_at is None and time.perf_counter() < began + patience_s:
            time.sleep(0.0005)
        return (output.arrived_at - began) * 1e3 if output.arrived_at else float("inf")


def spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "median": round(statistics.median(ordered), 2),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 2),
        "worst": round(ordered[-1], 2),
    }


def hum(seconds: float, rate: int) -> np.ndarray:
    """Noise as most sounds are: strong below 2 kHz; loud from the first sample on."""
    noise = soxr.resample(np.random.default_rng(3).uniform(-1, 1, (round(seconds * 4000), 2)), 4000, rate)
    noise *= 0.4 / np.abs(noise).max()
    noise[:64] = 0.2
    return noise


def write(path: Path, samples: np.ndarray, rate: int, times: int = 1) -> str:
    with soundfile.SoundFile(path, "w", rate, samples.shape[1]) as file:
        for _ in range(times):
            for start in range(0, len(samples), 8192):  # libvorbis crashes on long writes
                file.write(samples[start : start + 8192])
    return str(path)


def two_hours(folder: Path) -> dict[str, str]:
    """Two hours each as WAV (its rest a hole in the file), FLAC and MP3."""
    sound = hum(60.0, 44100)
    words = (sound * 32767).astype("<i2").tobytes()
    size = TWO_HOURS_S * 44100 * 4
    wav = folder / "two_hours.wav"
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 2, 44100, 176400, 4, 16)
    head = struct.pack("<4sI4s", b"RIFF", size + 36, b"WAVE") + form + struct.pack("<4sI", b"data", size)
    with wav.open("wb") as file:
        file.write(head + words)
        for minute in (60, 90, 119):
            file.seek(44 + minute * len(words))
            file.write(words)
        file.truncate(44 + size)
    flac = write(folder / "two_hours.flac", sound, 44100, TWO_HOURS_S // 60)
    buffer = io.BytesIO()
    soundfile.write(buffer, sound, 44100, format="MP3")
    mp3 = folder / "two_hours.mp3"
    mp3.write_bytes(buffer.getvalue() * (TWO_HOURS_S // 60))
    return {"wav": str(wav), "flac": flac, "mp3": str(mp3)}


def bench_callback() -> dict[str, float]:
    """Microseconds that one block takes in the callback."""
    spent = {}
    for frames in (64, 512, 2048):
        engine = Engine(48000, 2, ring_s=60)
        ring = engine.spare()
        assert ring is not None
        ring.write(np.zeros((48000 * 50, 2), np.float32))
        engine.audible = True
        engine.post(ring)
        block = np.empty((frames, 2), np.float32)
        times = []
        for _ in range(1000):
            began = time.perf_counter()
            engine.render(block, 0.0)
            times.append((time.perf_counter() - began) * 1e6)
        spent[str(frames)] = round(statistics.median(times), 1)
    return spent


def bench_starts(folder: Path) -> dict[str, Any]:
    """From the call until the first sample is handed to the device, ms."""
    short = write(folder / "short.wav", hum(3.0, 44100), 44100)
    clips = {"3 s wav": short, **{f"2 h {kind}": path for kind, path in two_hours(folder).items()}}
    opener = Listening()
    player = Player(opener=opener)
    player.prepare()
    while not opener.outputs:
        time.sleep(0.001)
    found: dict[str, Any] = {}
    manners = {"": Treatment(), ", reversed": Treatment(reverse=True), ", −5 st": Treatment(semitones=-5)}
    for semitones in (-24, -5, 24):
        words = f", {semitones:+d} st, pitch kept".replace("-", "−")
        manners[words] = Treatment(semitones=semitones, keep_pitch=True)
    for name, path in clips.items():
        frames = soundfile.info(path).frames if path.endswith(("wav", "flac")) else None
        for at_s, place in ((0.0, "start"), (5400.0, "1:30:00")):
            if at_s and name.startswith("3 s"):
                continue
            for words, treatment in manners.items():
                if words and at_s:
                    continue
                times = []
                for _ in range(7):
                    player.stop()
                    time.sleep(0.05)
                    play = partial(player.play, path, at_s=at_s, treatment=treatment, frames=frames)
                    times.append(opener.until_heard(play))
                found[f"{name}, {place}{words}"] = {"first": round(times[0], 2), **spread(times[1:])}
    player.close()
    return found


def bench_auditions(folder: Path) -> dict[str, Any]:
    """Two hundred clips, ten a second: each tells by its level that it is the one that is heard."""
    levels = [0.1 + 0.003 * i for i in range(AUDITIONS)]
    paths = [
        write(folder / f"{i}.{'wav' if i % 2 else 'flac'}", np.full((48000, 2), level), 48000)
        for i, level in enumerate(levels)
    ]
    opener = Listening()
    player = Player(opener=opener)
    player.prepare()
    while not opener.outputs:
        time.sleep(0.001)
    threads, times, calls = threading.active_count(), [], []
    due = time.perf_counter()
    for path, level in zip(paths, levels, strict=True):
        due = max(due + PACE_S, time.perf_counter())
        began = time.perf_counter()
        times.append(opener.until_heard(lambda p=path: player.play(p), level, PACE_S))
        calls.append((time.perf_counter() - began) * 1e3)
        time.sleep(max(0.0, due - time.perf_counter()))
    result = {
        "heard": sum(1 for one in times if one < float("inf")),
        "of": AUDITIONS,
        "ms": spread([one for one in times if one < float("inf")]),
        "threads more": threading.active_count() - threads,
        "ring ran empty": player.underruns,
        "devices opened": len(opener.outputs),
    }
    player.close()
    return result


def bench_changes(folder: Path) -> dict[str, dict[str, float]]:
    """From the call that changes the treatment in mid-play until its first sample is handed over, ms."""
    level = 0.4
    sides = np.stack([np.full(48000 * 60, level), np.full(48000 * 60, level / 4)], axis=1)
    path = write(folder / "level.flac", sides, 48000)
    opener = Listening()
    player = Player(opener=opener)
    player.play(path, frames=len(sides))
    time.sleep(1.0)
    changes = {
        "gain": (Treatment(gain_db=-6.0), level * 10 ** (-6 / 20)),
        "channel": (Treatment(channels="2"), level / 4),
        "reverse and channel": (Treatment(reverse=True, channels="mid"), level * 0.625),
        "varispeed and gain": (Treatment(semitones=5.0, gain_db=-12.0), level * 10 ** (-12 / 20)),
    }
    found = {}
    for name, (treatment, value) in changes.items():
        times = []
        for _ in range(8):
            player.set_treatment(Treatment())
            time.sleep(0.15)
            times.append(opener.until_heard(partial(player.set_treatment, treatment), value))
        found[name] = spread(times)
    player.close()
    return found


def bench_long(folder: Path, minutes: float, device: str | None) -> dict[str, Any]:
    """Plays on while an index job runs in this process as the window's does."""
    from foley_desktop.index.embedders.host import InProcessModels
    from foley_desktop.library.service import LibraryService
    from foley_desktop.settings import DataFolder

    sounds = folder / "sounds"
    sounds.mkdir()
    rng = np.random.default_rng(0)
    for i in range(400):
        write(sounds / f"wooden door {i}.wav", rng.uniform(-0.3, 0.3, (48000 * (1 + i % 5), 2)), 48000)
    stop, rounds, clips = threading.Event(), 0, 0

    def index() -> None:
        nonlocal rounds, clips
        while not stop.is_set():
            data = DataFolder(folder / f"library{rounds}")
            data.create()
            data.settings_file.write_text('{"embedder": "hash"}')
            service = LibraryService(data, models=InProcessModels())
            for progress in service.index([str(sounds)]):
                clips = rounds * 400 + progress.done
                if stop.is_set():
                    break
            service.close()
            rounds += 1

    path = write(folder / "played.flac", hum(30.0, 96000), 96000)
    opener = Listening()
    player = Player(device, "high") if device else Player(opener=opener)
    player.play(path, loop=True)
    worker = threading.Thread(target=index)
    worker.start()
    began, used, pauses = time.monotonic(), time.process_time(), 0
    while time.monotonic() < began + minutes * 60:
        time.sleep(0.25)
        if player.state == "paused":
            pauses += 1
            player.resume()
    result = {
        "minutes": minutes,
        "played": "96 kHz stereo FLAC, looped",
        "ring ran empty": player.underruns,
        "device losses": pauses,
        "device asked late": sum(output.late_blocks for output in opener.outputs),
        "libraries indexed meanwhile": rounds,
        "processor, cores": round((time.process_time() - used) / (minutes * 60), 2),
        "load of the machine": [round(value, 1) for value in os.getloadavg()],
    }
    stop.set()
    worker.join()
    player.close()
    return result


def bench_pulse(folder: Path) -> dict[str, float]:
    """Correlation of what a sound server plays with the file."""
    code = (
        "import sys, time; from foley_desktop.audio.player import Player; p = Player('pulse', sys.argv[2]);"
        "p.play(sys.argv[1]);\nwhile p.position_s < 3: time.sleep(.01)\np.close()"
    )
    path = write(folder / "pulse.wav", hum(4.0, 44100), 44100)
    found = {}
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
                match = aligned_correlation(recorded, whole[: rate * 2])[0]
                found[f"{rate} Hz, {latency}"] = round(match, 4)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="play the long run on this device of PortAudio, not by a clock")
    parser.add_argument("--pulse", action="store_true", help="measure behind a private PulseAudio too")
    parser.add_argument("--minutes", type=float, default=0.0, help="how long to play beside an index job")
    parser.add_argument(
        "--only", choices=("callback", "starts", "changes", "auditions", "long"), help="one part alone"
    )
    arguments = parser.parse_args()
    found: dict[str, Any] = {}
    parts: dict[str, Callable[[Path], Any]] = {
        "callback": lambda _: bench_callback(),
        "starts": bench_starts,
        "changes": bench_changes,
        "auditions": bench_auditions,
    }
    if arguments.minutes:
        parts["long"] = lambda folder: bench_long(folder, arguments.minutes, arguments.device)
    if arguments.pulse:
        parts["pulse"] = bench_pulse
    for name, part in parts.items():
        if arguments.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                found[name] = part(Path(folder))
    print(json.dumps(found, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
