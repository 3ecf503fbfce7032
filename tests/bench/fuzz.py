"""Tens of thousands of mutants of sound files, each read and indexed among healthy ones, in a child process.

Run: python tests/bench/fuzz.py [--mutants 20000] [--keep FOLDER] [--first NUMBER]

Every mutant goes through probe, seek, tags, markers and peaks; then its whole batch is taken into one growing
library, with healthy files between. A child that says nothing for too long is killed, and its file named.
Prints one JSON document; ends with 1 when something crashed, hung, kept memory or cost a healthy neighbour
its place.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import queue
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

HANG_S = 2.0
"""Processor time one file may take."""
STUCK_S = 180.0
"""Time by the clock after which a child that says nothing is killed."""
MEMORY_MB = 200.0
BATCH = 100
HEALTHY = 5


# ---------------------------------------------------------------- the child


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def _peak_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def _held_mb() -> float:
    """Memory in use, without what the allocator keeps of memory that was given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return _resident_mb()


def _reset_peak() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def child() -> None:
    """Reads batches from stdin, examines every file, and writes what it found, a line each."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import av.logging
    from indexing import Library

    av.logging.set_level(None)
    with Library(Path(sys.argv[2])) as library:
        _examine_all(library)


def _examine_all(library: Any) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        started_mb = _held_mb()
        folder = Path(request["folder"])
        for name in request["names"]:
            _say(begin=name)
            _reset_peak()
            before, began = _resident_mb(), time.process_time()
            result = _read(str(folder / name))
            _say(
                end=name,
                result=result,
                cpu_s=time.process_time() - began,
                peak_mb=max(0.0, _peak_mb() - before),
            )
        read_mb = _held_mb()
        _say(begin="indexing")
        began = time.process_time()
        _say(end="indexing", cpu_s=time.process_time() - began, **_index(folder, library))
        _say(batch=True, read_mb=read_mb - started_mb, indexed_mb=_held_mb() - read_mb)


def _say(**values: Any) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def _read(path: str) -> str:
    import math

    import numpy as np

    from foley_desktop.audio import decode, peaks
    from foley_desktop.audio.markers import read_markers
    from foley_desktop.audio.tags import read_tags
    from foley_desktop.errors import AudioFileError

    try:
        for tag in read_tags(path):
            assert tag.value, "an empty tag"
        try:
            probe = decode.probe(path)
        except AudioFileError as error:
            read_markers(path, 48000, 0)
            return error.reason
        assert probe.info.frames > 0 and math.isfinite(probe.peak), "no sound, and not refused"
        with decode.open_audio(path) as reader:
            reader.seek(probe.info.frames // 2)
            assert np.isfinite(reader.read(1000)).all(), "a sample that is no number"
        for marker in read_markers(path, probe.info.samplerate, probe.info.frames):
            assert marker is not None
        drawn = peaks.compute(path)
        assert drawn.frames == probe.info.frames, f"{drawn.frames} frames drawn of {probe.info.frames}"
        drawn.view(0, drawn.frames, 100)
    except Exception as error:
        return f"ERROR {type(error).__name__}: {error}"
    return "ok"


def _index(folder: Path, library: Any) -> dict[str, Any]:
    """Indexes a batch; what became of each file, and which of the healthy ones are found by their words."""
    from foley_desktop.models import Condition, Filters

    report = library.index(folder)
    clips = library.catalog.list_clips(Filters((Condition("folder", "=", str(folder)),)), limit=10_000)
    ids = {clip.id for clip in clips}
    words = {i for i, _ in library.indexes.keyword.bm25("healthy neighbour", 1000, where={"clip_id": ids})}
    heard = library.indexes.likeness.ids()
    return {
        "clips": {clip.name: clip.frames for clip in clips},
        "refused": [os.path.basename(rejection.path) for rejection in report.rejected],
        "found": [clip.name for clip in clips if clip.id in words],
        "heard": [clip.name for clip in clips if clip.id in heard],
    }


# ---------------------------------------------------------------- the parent


@dataclass
class Found:
    """What the bench says; every list has to be empty."""

    mutants: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    memory: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    longest_cpu_s: float = 0.0
    longest_file: str = ""
    most_memory_mb: float = 0.0
    most_memory_file: str = ""
    read_grown_mb: float = 0.0
    """What reading kept of memory, added up over all mutants."""
    indexed_grown_mb: float = 0.0
    """The same of taking them into a library, which grows by vectors and what LanceDB keeps of commits."""
    batches: int = 0
    seconds: float = 0.0

    @property
    def harmless(self) -> bool:
        kept = self.read_grown_mb > MEMORY_MB
        return not (kept or self.errors or self.crashes or self.hangs or self.memory or self.dropped)


class Child:
    """A process that examines batches; started again after it died."""

    def __init__(self) -> None:
        # Decoders complain there at length; only what a crash leaves behind is of interest.
        self._library = tempfile.TemporaryDirectory(prefix="foley-fuzz-library-")
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  closed with the child
        self._process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", __file__, "--child", self._library.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def ask(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """What the child says about a batch; at last ``dead`` or ``stuck`` if it does not get to the end."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        while True:
            try:
                line = self._lines.get(timeout=STUCK_S)
            except queue.Empty:
                yield {"stuck": True}
                return
            if line is None:
                yield {"dead": self._process.wait(), "last_words": self._last_words()}
                return
            said = json.loads(line)
            yield said
            if "batch" in said:
                return

    def _last_words(self) -> str:
        self._complaints.seek(max(0, self._complaints.seek(0, os.SEEK_END) - 1500))
        return self._complaints.read().decode("utf-8", "replace")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()
        self._library.cleanup()
        for stream in (self._process.stdin, self._process.stdout, self._complaints):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


class Bench:
    """Makes mutants, hands them to the child batch by batch, and adds up what it says."""

    def __init__(self, keep: Path | None) -> None:
        self.found = Found()
        self._keep = keep
        self._child = Child()

    def close(self) -> None:
        self._child.close()

    def batch(self, mutants: list[tuple[str, int]], room: Path) -> None:
        """One batch of ``(seed, number)``; a file that kills the child is put aside and the rest goes on."""
        import mutants as making
        from audio_files import wav

        folder = room / "sounds"
        folder.mkdir(parents=True)
        names = []
        for at, (seed, number) in enumerate(mutants):
            name = f"{at:03} {number} {seed}"
            (folder / name).write_bytes(making.mutant(seed, number))
            names.append(name)
            if at % (len(mutants) // HEALTHY or 1) == 0:
                (folder / f"{at:03} a healthy neighbour.wav").write_bytes(wav())
        self.found.mutants += len(names)
        left: list[str] | None = names
        while left is not None:
            left = self._attempt(folder, left)

    def _attempt(self, folder: Path, names: list[str]) -> list[str] | None:
        """Names that are still to do after the child ended early; None at the end of the batch."""
        current = ""
        done: set[str] = set()
        for said in self._child.ask({"folder": str(folder), "names": names}):
            if "begin" in said:
                current = said["begin"]
            elif said.get("end") == "indexing":
                self._indexed(folder, said)
            elif "end" in said:
                done.add(current)
                self._examined(folder, said)
            elif "batch" in said:
                self.found.batches += 1
                self._grown(said["read_mb"], said["indexed_mb"])
                return None
            else:
                self._lost_child(folder, current, said)
        if current == "indexing":
            return None
        return [name for name in names if name not in done and name != current]

    def _lost_child(self, folder: Path, name: str, said: dict[str, Any]) -> None:
        if "stuck" in said:
            self.found.hangs.append(f"{name}: nothing for {STUCK_S:.0f} s")
        else:
            words = said["last_words"]
            self.found.crashes.append(f"{name}: the process ended with {said['dead']}: {words}")
        if name != "indexing":
            self._put_aside(folder / name)
            (folder / name).unlink()
        self._child.close()
        self._child = Child()

    def _examined(self, folder: Path, said: dict[str, Any]) -> None:
        found, name, result = self.found, said["end"], said["result"]
        outcome = "error" if result.startswith("ERROR") else result
        found.outcomes[outcome] = found.outcomes.get(outcome, 0) + 1
        bad = outcome == "error"
        if bad:
            found.errors.append(f"{name}: {result}")
        if said["cpu_s"] > found.longest_cpu_s:
            found.longest_cpu_s, found.longest_file = round(said["cpu_s"], 3), name
        if said["cpu_s"] > HANG_S:
            bad = True
            found.hangs.append(f"{name}: {said['cpu_s']:.1f} s")
        if said["peak_mb"] > found.most_memory_mb:
            found.most_memory_mb, found.most_memory_file = round(said["peak_mb"], 1), name
        if said["peak_mb"] > MEMORY_MB:
            bad = True
            found.memory.append(f"{name}: {said['peak_mb']:.0f} MB")
        if bad:
            self._put_aside(folder / name)

    def _indexed(self, folder: Path, said: dict[str, Any]) -> None:
        clips, refused = said["clips"], set(said["refused"])
        for path in folder.iterdir():
            name = path.name
            if "healthy" in name:
                well = clips.get(name) == 2400 and name in said["found"] and name in said["heard"]
                if not well:
                    self.found.dropped.append(name)
            elif (name in clips) == (name in refused):
                self.found.dropped.append(f"{name} (neither or both of listed and refused)")
                self._put_aside(path)

    def _grown(self, read_mb: float, indexed_mb: float) -> None:
        found = self.found
        if found.batches == 1:
            return  # what was imported counts for nobody
        found.read_grown_mb = round(found.read_grown_mb + read_mb, 1)
        found.indexed_grown_mb = round(found.indexed_grown_mb + indexed_mb, 1)
        if indexed_mb > MEMORY_MB:
            found.memory.append(f"batch {found.batches} grew by {indexed_mb:.0f} MB while it was indexed")

    def _put_aside(self, path: Path) -> None:
        if self._keep is not None and path.exists():
            self._keep.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, self._keep / path.name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant of each seed")
    parser.add_argument("--keep", type=Path, help="where mutants that did harm are put")
    parser.add_argument("--only", default="", help="seeds whose name holds this")
    arguments = parser.parse_args()
    import mutants as making

    names = [name for name in (*making.SEEDS, *making.BY_FFMPEG) if arguments.only in name]
    wanted = [(names[at % len(names)], arguments.first + at // len(names)) for at in range(arguments.mutants)]
    started = time.monotonic()
    bench = Bench(arguments.keep)
    try:
        for at in range(0, len(wanted), BATCH):
            with tempfile.TemporaryDirectory(prefix="foley-fuzz-") as room:
                bench.batch(wanted[at : at + BATCH], Path(room))
            done = min(at + BATCH, len(wanted))
            found = bench.found
            trouble = [*found.errors, *found.crashes, *found.hangs, *found.memory, *found.dropped]
            grown = f"{found.read_grown_mb:.0f} + {found.indexed_grown_mb:.0f} MB grown"
            print(
                f"{done} of {len(wanted)}, {len(trouble)} in trouble, {grown}", *trouble[-1:], file=sys.stderr
            )
    finally:
        bench.close()
    bench.found.seconds = round(time.monotonic() - started, 1)
    document = {"seeds": len(names), "harmless": bench.found.harmless, **asdict(bench.found)}
    print(json.dumps(document, indent=1))
    return 0 if bench.found.harmless else 1


if __name__ == "__main__":
    if "--child" in sys.argv:
        child()
    else:
        sys.exit(main())
