"""How fast a long job goes and how long it still takes."""

from __future__ import annotations

import time
from collections import deque

from foley_desktop.library.database import as_text
from foley_desktop.models import Progress

_MEMORY_S = 20.0


class Meter:
    """Counts steps of one phase; the rate is that of the last twenty seconds."""

    def __init__(self, total: int, what: str) -> None:
        self.total = total
        self.done = 0
        self._what = what
        self._recent: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])

    def step(self, count: int = 1, name: str = "") -> Progress:
        """Notes that ``count`` more are done; ``name`` tells with which of them."""
        self.done += count
        now = time.monotonic()
        self._recent.append((now, self.done))
        while len(self._recent) > 2 and now - self._recent[0][0] > _MEMORY_S:
            self._recent.popleft()
        start, before = self._recent[0]
        rate = (self.done - before) / (now - start) if now > start and self.done > before else None
        remaining = max(0, self.total - self.done) / rate if rate else None
        what = f"{self._what}: {as_text(name)}" if name else self._what
        return Progress(self.done, max(self.total, self.done), what, rate, remaining)
