"""Where blocking work runs, so that the GUI thread only ever paints and reacts.

Three kinds of lane, each a QThread or a few of them:

- a *task lane* for short questions. A task may carry a key; of several with one key only the newest
  counts: the ones that wait are dropped, the answer of the one that runs is thrown away.
- a *job lane* for long work, one job after the other, with progress and cancellation. Small writes
  (a rating, a favourite) slip in between two steps of the job that runs, so they stay on the one
  writing thread and still never wait for minutes.

Answers come back through a :class:`Mailbox` and are delivered in the GUI thread, always.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt, QThread, Signal, Slot

from foley_desktop.errors import FoleyError
from foley_desktop.models import Progress
from foley_desktop.workers.collector import Collector
from foley_desktop.workers.job import Job, as_foley_error

log = logging.getLogger(__name__)

Done = Callable[[Any], None]
Failed = Callable[[FoleyError], None]


class Mailbox(QObject):
    """Carries calls from any thread into the event loop of the thread it was made in."""

    _posted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._open = True
        self._posted.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def post(self, call: Callable[[], None]) -> None:
        """Has ``call`` made soon, in the mailbox's own thread; ignored after :meth:`close`."""
        if self._open:
            self._posted.emit(call)

    def close(self) -> None:
        """From now on nothing is delivered, not even what is on its way."""
        self._open = False

    @Slot(object)
    def _deliver(self, call: Callable[[], None]) -> None:
        if self._open:
            call()


@dataclass(slots=True)
class _Task:
    work: Callable[[], Any]
    done: Done | None
    failed: Failed | None
    key: str | None
    ticket: int
    what: str


class TaskLane:
    """Short work on ``threads`` threads. See the module for what a key does."""

    def __init__(self, name: str, mailbox: Mailbox, threads: int = 1) -> None:
        self._mailbox = mailbox
        self._waiting: deque[_Task] = deque()
        self._ready = threading.Condition()
        self._newest: dict[str, int] = {}
        self._tickets = 0
        self._ending = False
        self._threads = [_Thread(self._loop, f"{name}-{n}") for n in range(threads)]
        for thread in self._threads:
            thread.start()

    def submit(
        self,
        work: Callable[[], Any],
        done: Done | None = None,
        failed: Failed | None = None,
        *,
        key: str | None = None,
        what: str = "This",
    ) -> None:
        """Runs ``work``, then ``done(result)`` or ``failed(error)`` in the GUI thread.

        A newer task of the same ``key`` silences this one for good.
        """
        with self._ready:
            if self._ending:
                return
            self._tickets += 1
            if key is not None:
                self._waiting = deque(task for task in self._waiting if task.key != key)
                self._newest[key] = self._tickets
            self._waiting.append(_Task(work, done, failed, key, self._tickets, what))
            self._ready.notify()

    def forget(self, key: str) -> None:
        """No task of ``key`` that was submitted so far is answered any more."""
        with self._ready:
            self._tickets += 1
            self._newest[key] = self._tickets
            self._waiting = deque(task for task in self._waiting if task.key != key)

    def end(self) -> None:
        """Drops what waits and lets the threads run out. Returns at once."""
        with self._ready:
            self._ending = True
            self._waiting.clear()
            self._ready.notify_all()

    def wait(self, timeout_s: float) -> bool:
        """Whether all threads have ended within ``timeout_s``."""
        return _wait_all(self._threads, timeout_s)

    def _loop(self) -> None:
        while self._step():
            pass

    def _step(self) -> bool:
        """Does the next task; False at the end. Holds on to nothing between tasks."""
        with self._ready:
            while not self._waiting and not self._ending:
                self._ready.wait()
            if self._ending:
                return False
            task = self._waiting.popleft()
        done, failed = self._answer(task, task.done), self._answer(task, task.failed)
        perform(task.work, self._mailbox, done, failed, task.what)
        return True

    def _answer(self, task: _Task, call: Callable[[Any], None] | None) -> Callable[[Any], None]:
        def answer(value: Any) -> None:
            current = task.key is None or self._newest.get(task.key) == task.ticket
            if call is not None and current:
                call(value)

        return answer


class JobLane:
    """Long jobs, one at a time, in order."""

    TELL_EVERY_S = 0.05

    def __init__(self, name: str, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._jobs: deque[Job] = deque()
        self._small: deque[_Task] = deque()
        self._kept: list[Job] = []
        self._ready = threading.Condition()
        self._running: Job | None = None
        self._ending = False
        self._thread = _Thread(self._loop, name)
        self._thread.start()

    def submit(self, job: Job) -> Job:
        """Queues ``job``; it is kept alive until it is over."""
        job.when_cancelled(self._drop_waiting)
        # Kept here so that a job, a Qt object of the GUI thread, never dies on the lane's thread.
        self._kept = [old for old in self._kept if not old.is_over]
        self._kept.append(job)
        with self._ready:
            if not self._ending:
                self._jobs.append(job)
                self._ready.notify()
        return job

    def slip_in(
        self,
        work: Callable[[], Any],
        done: Done | None = None,
        failed: Failed | None = None,
        what: str = "This",
    ) -> None:
        """Runs a small piece of work before the next step of whatever job is running."""
        with self._ready:
            if not self._ending:
                self._small.append(_Task(work, done, failed, None, 0, what))
                self._ready.notify()

    def end(self) -> None:
        """Cancels everything; small writes that wait are still done. Returns at once."""
        with self._ready:
            self._ending = True
            self._jobs.clear()
            if self._running is not None:
                self._running.cancel()
            self._ready.notify_all()

    def wait(self, timeout_s: float) -> bool:
        return _wait_all([self._thread], timeout_s)

    def _drop_waiting(self, job: Job) -> None:
        with self._ready:
            waiting = job in self._jobs
            if waiting:
                self._jobs.remove(job)
        if waiting:
            job.take("cancelled")

    def _loop(self) -> None:
        while self._step():
            pass

    def _step(self) -> bool:
        """Does the next thing; False when there is none left to do. Holds on to nothing between steps."""
        with self._ready:
            while not self._small and not self._jobs and not self._ending:
                self._ready.wait()
            if self._ending and not self._small:
                return False
            self._running = job = None if self._small else self._jobs.popleft()
        if job is None:
            self._do_small()
        else:
            self._perform(job)
            self._running = None
        return True

    def _do_small(self) -> None:
        while self._small:
            task = self._small.popleft()
            perform(task.work, self._mailbox, task.done, task.failed, task.what)

    def _perform(self, job: Job) -> None:
        self._tell(job, "running")
        try:
            outcome = job.work()
            if isinstance(outcome, Generator):
                outcome = self._drain(job, outcome)
        except _Cancelled:
            self._tell(job, "cancelled")
        except BaseException as error:
            failure = as_foley_error(error, job.title)
            # While closing, the library goes away under a job that could not stop in time.
            level = logging.DEBUG if self._ending else logging.WARNING
            # What can be explained is told in a line; its trace is among the details that can be copied.
            trace = failure is not error
            log.log(level, "job %r failed: %s", job.title, failure.sentence, exc_info=trace)
            self._tell(job, "failed", failure)
        else:
            self._tell(job, "finished", outcome)

    def _drain(self, job: Job, steps: Generator[Progress, None, Any]) -> Any:
        told = 0.0
        while True:
            if job.cancel_requested:
                steps.close()
                raise _Cancelled
            try:
                step = next(steps)
            except StopIteration as stop:
                return stop.value
            now = time.monotonic()
            if now - told >= self.TELL_EVERY_S or step.done == step.total:
                told = now
                self._mailbox.post(partial(job.show_progress, step))
            self._do_small()

    def _tell(self, job: Job, state: str, value: Any = None) -> None:
        self._mailbox.post(lambda: job.take(state, value))


class _Cancelled(Exception):
    pass


def perform(
    work: Callable[[], Any], mailbox: Mailbox, done: Done | None, failed: Failed | None, what: str
) -> None:
    """Runs ``work`` here and posts its outcome to ``done`` or ``failed``."""
    try:
        result = work()
    except BaseException as error:
        failure = as_foley_error(error, what)
        log.info("%s failed: %s", what, failure.sentence, exc_info=True)
        if failed is not None:
            mailbox.post(lambda: failed(failure))
    else:
        if done is not None:
            mailbox.post(lambda: done(result))


class _Thread(QThread):
    def __init__(self, loop: Callable[[], None], name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._loop = loop

    def run(self) -> None:
        threading.current_thread().name = self.objectName()
        self._loop()


def _wait_all(threads: list[_Thread], timeout_s: float) -> bool:
    end = time.monotonic() + timeout_s
    return all(thread.wait(max(0, round(1000 * (end - time.monotonic())))) for thread in threads)


class Runner:
    """All lanes of the window.

    ``search`` has one thread (the newest query wins), ``reads`` a small pool. ``listening`` looks into the
    sound of the clip in hand and ``sketches`` draws those of the table: both may take a while, are asked to
    give up when nobody looks any more, and so never stand in the way of a read. ``spotting`` makes the files
    for drags, one drag after the other. ``writes`` and ``measures`` are job lanes: what changes the library,
    and what only reads it for long. ``lab`` does what is asked about golden sets in the order it was asked;
    it is never behind an index run.
    """

    def __init__(self) -> None:
        self._collector = Collector()
        self.mailbox = Mailbox()
        self.search = TaskLane("search", self.mailbox)
        self.is_ending = False
        self.reads = TaskLane("reads", self.mailbox, threads=2)
        self.listening = TaskLane("listening", self.mailbox, threads=2)
        self.sketches = TaskLane("sketches", self.mailbox)
        self.spotting = TaskLane("spotting", self.mailbox)
        self.writes = JobLane("writes", self.mailbox)
        self.measures = JobLane("measures", self.mailbox)
        self.lab = JobLane("lab", self.mailbox)
        # Qt aborts a process that leaves with a thread running, whoever forgot to close the window.
        atexit.register(self.shutdown)

    def shutdown(self, close: Callable[[], None] | None = None, timeout_s: float = 3.0) -> bool:
        """Cancels all work, closes what it worked on, and waits for every thread.

        ``close`` runs on a thread of its own once the lanes are idle, or half-way through the time
        when one of them hangs: closing the models is what frees a thread that waits for them.

        Returns:
            Whether all has ended in time. After False only leaving the process hard is safe.
        """
        atexit.unregister(self.shutdown)
        self.is_ending = True
        deadline = time.monotonic() + timeout_s
        tasks = (self.search, self.reads, self.listening, self.sketches, self.spotting)
        lanes = (*tasks, self.writes, self.measures, self.lab)
        self.mailbox.close()
        for lane in lanes:
            lane.end()
        half = time.monotonic() + timeout_s / 2
        idle = all(lane.wait(max(0.0, half - time.monotonic())) for lane in lanes)
        closed = True
        if close is not None:
            closer = _Thread(lambda: _quietly(close), "closing")
            closer.start()
            closed = _wait_all([closer], max(0.0, deadline - time.monotonic()))
            if not closed:
                _abandon(lambda: closer.wait(_LAST_WAIT_MS), closer)
        if not idle:
            idle = all(lane.wait(max(0.0, deadline - time.monotonic())) for lane in lanes)
            if not idle:
                _abandon(lambda: all(lane.wait(_LAST_WAIT_MS / 1000) for lane in lanes), self)
        if idle and closed:
            self._collector.end()  # else a thread still runs, and must not collect
        return idle and closed


_ABANDONED: list[object] = []
"""Threads that did not end in time. Kept, because Qt aborts when one is destroyed while it runs."""

_LAST_WAIT_MS = 10_000
"""How long the end of the program waits for a thread that cannot be stopped, inside an import say."""


def _abandon(wait: Callable[[], object], kept: object) -> None:
    _ABANDONED.append(kept)
    atexit.register(wait)


def _quietly(close: Callable[[], None]) -> None:
    try:
        close()
    except Exception:
        log.exception("closing the library failed")
