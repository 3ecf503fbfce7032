"""How soon a waveform stands in the real window, and what it costs: ``python tests/bench/waveform.py``.

Opens the window on a library that holds a ten-minute 96 kHz stereo WAV and a two-hour one, takes them in hand
again and again and prints one JSON document: seconds until the waveform is complete, cold (nothing of it in
our cache; ``disk`` is what reading the bytes alone takes, just before) and from the cache,
the growth of memory, how long the window gave no sign meanwhile, and what a frame of playing costs to paint.
Times are medians of wall time; ``load`` says how busy the machine was with other things.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]

from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402
from stall_watch import Watchdog  # noqa: E402
from ui_support import index, use_hash_embedder  # noqa: E402

from foley_desktop.app import create_window  # noqa: E402
from foley_desktop.audio.player import SilentPlayer  # noqa: E402
from foley_desktop.index.embedders.host import InProcessModels  # noqa: E402
from foley_desktop.models import Clip  # noqa: E402
from foley_desktop.ui.main_window import MainWindow  # noqa: E402

TEN_MINUTES, TWO_HOURS = "ten minutes.wav", "two hours.wav"


def write(path: Path, seconds: int, rate: int) -> None:
    """Stereo noise of 24 bits whose level wanders, written second by second."""
    rng = np.random.default_rng(7)
    block = rng.uniform(-1, 1, (rate, 2))
    with soundfile.SoundFile(path, "w", rate, 2, "PCM_24") as file:
        for second in range(seconds):
            file.write(np.roll(block, 997 * second, axis=0) * (0.1 + 0.4 * np.sin(second / 9) ** 2))


class Labour(QObject):
    """The processor time that the GUI thread spends from one 5 ms tick to the next, in milliseconds: what it
    does itself, however busy the machine is."""

    def __init__(self) -> None:
        super().__init__()
        self.spent: list[float] = []
        self._last = time.thread_time()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        self.spent.clear()
        self._last = time.thread_time()
        self._timer.start(5)

    def stop(self) -> None:
        self._timer.stop()

    def _tick(self) -> None:
        now = time.thread_time()
        self.spent.append((now - self._last) * 1e3)
        self._last = now


class PaintClock(QObject):
    """How long each paint of one widget takes, in milliseconds."""

    def __init__(self, widget: Any) -> None:
        super().__init__()
        self.spent: list[float] = []
        self._widget, self._busy = widget, False
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.Paint or self._busy:
            return False
        self._busy = True
        began = time.perf_counter()
        self._widget.event(event)
        self.spent.append((time.perf_counter() - began) * 1e3)
        self._busy = False
        return True


class Bench:
    """A window and short words for what is measured in it."""

    def __init__(self, library: Path) -> None:
        self.app = QApplication.instance() or QApplication([])
        self.library = library
        window = create_window(library, models=InProcessModels(), make_player=lambda: SilentPlayer(""))
        assert isinstance(window, MainWindow)
        self.window, self.deck, self.wave = window, window.deck, window.deck.waveform
        window.resize(1360, 860)
        window.show()
        self.spin(lambda: window.deck.playback.player is not None)
        self.spin(lambda: window.results.model.rowCount() == 2)
        self.deck.transport.audition.setChecked(False)
        self.clips = {row.clip.name: row.clip for row in window.results.model.rows}
        self.pause(1.0)

    def spin(self, until: Callable[[], object], timeout_s: float = 300.0) -> None:
        """Lets the event loop run as it does in the app until ``until`` holds, asked every 2 ms."""
        loop, timer = QEventLoop(), QTimer()
        end = time.perf_counter() + timeout_s

        def ask() -> None:
            if until() or time.perf_counter() > end:
                loop.quit()

        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(ask)
        timer.start(2)
        loop.exec()
        timer.stop()
        assert time.perf_counter() <= end, "it never came"

    def pause(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        self.spin(lambda: time.perf_counter() >= end)

    def clip(self, name: str) -> Clip:
        return next(clip for known, clip in self.clips.items() if known.startswith(Path(name).stem))

    def take(self, name: str) -> float:
        """Seconds from taking a clip in hand until all of its waveform is painted."""
        self.window.deck.take(self.clip(name))
        began = time.perf_counter()
        self.spin(lambda: self.wave.is_complete)
        self.wave.repaint()
        return time.perf_counter() - began

    def read_through(self, name: str) -> float:
        """Seconds that the disk takes for the file's bytes; afterwards the system has them at hand."""
        began = time.perf_counter()
        with open(self.clip(name).path, "rb", buffering=0) as file:
            while file.read(1 << 22):
                pass
        return time.perf_counter() - began

    def let_go(self, forget: bool) -> None:
        """Nothing in hand, and nothing kept on disk when ``forget``."""
        self.deck.waves.show_clip(Clip(id="", path="", root_id=0, rel_path="", name="", status="missing"))
        self.pause(0.4)
        if forget:
            shutil.rmtree(self.library / "peaks", ignore_errors=True)


def memory_mb() -> float:
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def measure_ten_minutes(bench: Bench, rounds: int) -> dict[str, Any]:
    cold, labour, warm, grown, disk = [], [], [], [], []
    bench.take(TEN_MINUTES)
    for _ in range(rounds):
        bench.let_go(forget=True)
        disk.append(bench.read_through(TEN_MINUTES))
        before, used = memory_mb(), time.process_time()
        cold.append(bench.take(TEN_MINUTES))
        labour.append(time.process_time() - used)
        grown.append(memory_mb() - before)
        bench.let_go(forget=False)
        warm.append(bench.take(TEN_MINUTES))
    return {
        "cold_s": round(statistics.median(cold), 3),
        "cold_best_s": round(min(cold), 3),
        "disk_s": round(statistics.median(disk), 3),
        "cold_processor_s": round(statistics.median(labour), 3),
        "cached_ms": round(statistics.median(warm) * 1e3, 1),
        "memory_growth_mb": round(max(grown), 1),
    }


def measure_two_hours(bench: Bench, watch: Watchdog, labour: Labour) -> dict[str, Any]:
    bench.let_go(forget=True)
    disk = bench.read_through(TWO_HOURS)
    bench.deck.waves.bar.spectrum.setChecked(False)
    before = memory_mb()
    first: list[float] = []
    began = time.perf_counter()
    watch.start()
    labour.start()
    bench.deck.take(bench.clip(TWO_HOURS))

    def complete() -> bool:
        if not first and bench.wave._data is not None:
            first.append(time.perf_counter() - began)
        return bench.wave.is_complete

    bench.spin(complete)
    drawn = time.perf_counter() - began
    bench.spin(lambda: "LUFS" in bench.deck.waves.bar.loudness.text())
    measured = time.perf_counter() - began
    bench.deck.waves.bar.spectrum.setChecked(True)
    began = time.perf_counter()
    bench.spin(lambda: any((bench.library / "peaks").rglob("*.spectrogram")))
    pictured = time.perf_counter() - began
    for _ in range(30):
        bench.wave.zoom(0.6)
        bench.pause(0.05)
    bench.pause(1.0)
    bench.deck.waves.bar.spectrum.setChecked(False)
    for _ in range(30):
        bench.wave.zoom(1 / 0.6)
        bench.pause(0.05)
    watch.stop()
    labour.stop()
    gaps = sorted(gap.ms for gap in watch.gaps)
    own = sorted(labour.spent)
    return {
        "disk_s": round(disk, 2),
        "first_picture_s": round(first[0], 3),
        "complete_s": round(drawn, 2),
        "loudness_s": round(measured, 2),
        "spectrogram_s": round(pictured, 2),
        "memory_growth_mb": round(memory_mb() - before, 1),
        "window_worst_gap_ms": round(gaps[-1], 1),
        "window_gap_p99_ms": round(gaps[int(len(gaps) * 0.99)], 2),
        "gaps_over_16_ms": sum(gap > 16 for gap in gaps),
        "gui_work_worst_ms": round(own[-1], 1),
        "gui_work_p99_ms": round(own[int(len(own) * 0.99)], 2),
        "gui_work_over_16_ms": sum(one > 16 for one in own),
        "ticks": len(gaps),
    }


def measure_playing(bench: Bench, watch: Watchdog) -> dict[str, Any]:
    """Ten minutes in hand, playing, zoomed to a stretch in which the playhead crosses pixels all the time."""
    bench.take(TEN_MINUTES)
    wave = bench.wave
    wave.look(wave.view.showing(0, 96000 * 20))
    bench.pause(0.5)
    clock = PaintClock(wave)
    watch.start()
    bench.deck.playback.play_from(0.0)
    used, began = time.process_time(), time.perf_counter()
    bench.pause(6.0)
    took = time.perf_counter() - began
    used = time.process_time() - used
    watch.stop()
    bench.deck.stop()
    paints = sorted(clock.spent)
    wave.removeEventFilter(clock)
    full = []
    for _ in range(30):
        wave._repaint_picture()
        began = time.perf_counter()
        wave.repaint()
        full.append((time.perf_counter() - began) * 1e3)
    return {
        "frames_per_s": round(len(paints) / took, 1),
        "paint_median_ms": round(statistics.median(paints), 3),
        "paint_p99_ms": round(paints[int(len(paints) * 0.99)], 3),
        "whole_picture_ms": round(statistics.median(full), 2),
        "one_core_share": round(used / took, 3),
        "window_worst_gap_ms": round(watch.worst_ms, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="keep the made-up clips and the library here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        base = arguments.folder or Path(name)
        sounds, library = base / "sounds", base / "library"
        if not sounds.exists():
            sounds.mkdir(parents=True)
            write(sounds / TEN_MINUTES, 600, 96000)
            write(sounds / TWO_HOURS, 7200, 48000)
        if not library.exists():
            use_hash_embedder(library)
            index(library, sounds)
        bench, watch = Bench(library), Watchdog()
        load = [os.getloadavg()[0]]
        found = {"ten_minutes": measure_ten_minutes(bench, arguments.rounds)}
        found["playing"] = measure_playing(bench, watch)
        found["two_hours"] = measure_two_hours(bench, watch, Labour())
        load.append(os.getloadavg()[0])
        began = time.perf_counter()
        bench.window.close()
        closing = {"close_s": round(time.perf_counter() - began, 2), "clean": bench.window.ended_cleanly}
        print(json.dumps({**found, **closing, "load": [round(x, 1) for x in load]}, indent=1))


if __name__ == "__main__":
    main()
