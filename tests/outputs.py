"""Devices for tests of the player: they run by the clock, keep what they are given, and fail on demand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from foley_desktop.audio.device import Render
from foley_desktop.errors import PlaybackError

RATE = 48000


class TestOutput:
    """A device that keeps what it is given, with the time at which each block would be heard."""

    __test__ = False

    def __init__(self, latency_s: float, channels: int, dies_after: float, block: int) -> None:
        self.name, self.samplerate, self.channels = "test", RATE, channels
        self.latency_s = latency_s
        self.blocks: list[tuple[float, np.ndarray]] = []
        self.closed = False
        self.refuses_to_start = False
        self.faltered = False
        self._dies_after = dies_after
        self._block = block
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, render: Render) -> None:
        if self.refuses_to_start:
            raise OSError("device busy")
        self._thread = threading.Thread(target=self._run, args=(render,), name="test output")
        self._thread.start()

    @property
    def alive(self) -> bool:
        return True  # the treacherous kind: it stops and does not say so

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.closed = True

    def _run(self, render: Render) -> None:
        began = due = time.perf_counter()
        while not self._stop.wait(max(0.0, due - time.perf_counter())):
            if due - began > self._dies_after:
                continue
            block = np.full((self._block, self.channels), np.nan, np.float32)
            render(block, due + self.latency_s)
            self.blocks.append((due + self.latency_s, block))
            due += self._block / self.samplerate

    def heard(self, moment: float) -> float | None:
        """The left sample that is heard at ``moment``; None when its block came too late."""
        for start, block in reversed(self.blocks):
            index = int((moment - start) * self.samplerate)
            if 0 <= index < len(block):
                return float(block[index, 0])
        return None

    @property
    def sound(self) -> np.ndarray:
        return np.concatenate([block for _, block in self.blocks])


class TestOpener:
    """Opens test outputs; ``refuses`` makes that fail, ``dies_after`` makes them fall silent (seconds).

    With ``falters`` they ran dry before that.
    """

    __test__ = False

    def __init__(self, latency_s: float = 0.05, channels: int = 2, block: int = 480) -> None:
        self.latency_s, self.channels, self.block = latency_s, channels, block
        self.dies_after = 1e9
        self.refuses = False
        self.refuses_to_start = self.falters = False
        self.outputs: list[TestOutput] = []
        self.refreshed = 0

    def check(self, name: str) -> None:
        if self.refuses:
            raise PlaybackError("There is no device.", hint="Plug one in.")

    def open(self, name: str, latency: str) -> TestOutput:
        self.check(name)
        output = TestOutput(self.latency_s, self.channels, self.dies_after, self.block)
        output.refuses_to_start, output.faltered = self.refuses_to_start, self.falters
        self.outputs.append(output)
        return output

    def refresh(self) -> None:
        self.refreshed += 1

    @property
    def sound(self) -> np.ndarray:
        return self.outputs[-1].sound


def wait_for(condition: Callable[[], object], seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.002)
