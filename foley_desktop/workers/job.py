"""A long piece of work as the window sees it, and how an error becomes one that can be shown."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from foley_desktop.errors import FoleyError
from foley_desktop.models import Progress


def as_foley_error(error: BaseException, what: str) -> FoleyError:
    """``error`` itself when it can be shown to a user, else one that wraps it and names ``what``."""
    if isinstance(error, FoleyError):
        return error
    return FoleyError(f"{what} did not work.", hint="The details say more; please report them.", cause=error)


class Job(QObject):
    """A long piece of work: a generator that yields Progress and returns a result, or a function.

    Every signal is emitted in the GUI thread. ``ended`` follows each of the three outcomes.
    """

    started = Signal()
    progressed = Signal(object)
    finished = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    ended = Signal()

    def __init__(self, title: str, work: Callable[[], Any], *, kind: str = "") -> None:
        super().__init__()
        self.title = title
        self.kind = kind
        self.work = work
        self.state = "waiting"
        self.progress: Progress | None = None
        self._cancel = threading.Event()
        self._on_cancel: Callable[[Job], None] = lambda job: None

    @property
    def cancel_requested(self) -> bool:
        return self._cancel.is_set()

    @property
    def is_over(self) -> bool:
        return self.state in ("finished", "failed", "cancelled")

    def cancel(self) -> None:
        """Asks the job to end at its next step; one that still waits ends at once."""
        self._cancel.set()
        self._on_cancel(self)

    def take(self, state: str, value: Any = None) -> None:
        """Moves to ``state`` and says so. Called in the GUI thread by the lane."""
        if self.is_over:
            return
        self.state = state
        if state == "running":
            self.started.emit()
            return
        if state == "finished":
            self.finished.emit(value)
        elif state == "failed":
            self.failed.emit(value)
        else:
            self.cancelled.emit()
        self.ended.emit()

    def show_progress(self, step: Progress) -> None:
        """Tells a step. Called in the GUI thread by the lane."""
        if not self.is_over:
            self.progress = step
            self.progressed.emit(step)

    def when_cancelled(self, call: Callable[[Job], None]) -> None:
        """Has ``call`` told when someone cancels."""
        self._on_cancel = call
