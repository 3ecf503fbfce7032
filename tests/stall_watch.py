"""Watches the GUI thread: a timer that should come every 5 ms, and how late it was.

A busy machine makes every thread wait for a processor now and then. The kernel tells how long this thread
could have run and was not let; that is no stall of ours and is taken off.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt, QTimer

TICK_MS = 5


class Gap(NamedTuple):
    """How long the GUI thread gave no sign, in milliseconds, and since the watch began, in seconds."""

    ms: float
    at_s: float


class Watchdog(QObject):
    """Runs from :meth:`start` to :meth:`stop` in the thread that made it."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps: list[Gap] = []
        self._schedule = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        self.gaps.clear()
        self._began = self._last = time.perf_counter()
        self._waited = self._wait_s()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    @property
    def worst_ms(self) -> float:
        return max((gap.ms for gap in self.gaps), default=0.0)

    def _tick(self) -> None:
        now, waited = time.perf_counter(), self._wait_s()
        lost = (now - self._last) - (waited - self._waited)
        self.gaps.append(Gap(lost * 1000 - TICK_MS, self._last - self._began))
        self._last, self._waited = now, waited

    def _wait_s(self) -> float:
        """Seconds this thread has waited for a processor so far; 0 where the kernel does not say."""
        try:
            return int(self._schedule.read_text().split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return 0.0
