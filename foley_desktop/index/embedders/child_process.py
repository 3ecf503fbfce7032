"""One life of the model process: its pipes, its threads, the requests that wait on it.

A thread writes and a thread reads, so that a caller is never held up by a full pipe and a deadline
always holds. Whatever ends the child, every waiting request fails, the process is reaped and both
threads end.
"""

from __future__ import annotations

import atexit
import queue
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from itertools import count
from typing import Any

import numpy as np

from foley_desktop.errors import ModelError, SilentAudioError
from foley_desktop.index.embedders import wire

_LOG_TAIL = 4000
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)


class ChildProcess:
    """A running model process.

    Args:
        command: How to start it.
        env: Its environment.
        hello: The first message.
        on_event: Called from the reading thread when ``ready`` changes.
        on_death: Called from the reading thread once, when the process has ended.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        hello: Mapping[str, Any],
        on_event: Callable[[], None],
        on_death: Callable[[ChildProcess, ModelError], None],
    ) -> None:
        self.ready = False
        self.was_ready = False
        self._on_event = on_event
        self._on_death = on_death
        self._failure: ModelError | None = None
        self._lock = threading.Lock()
        self._pending: dict[int, Future[wire.Message]] = {}
        self._progress: dict[int, Callable[[int, int, str], None]] = {}
        self.notices: list[str] = []
        self._ended = False
        self._ids = count(1)
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the process has ended
        self._process = self._started(command, env)
        self.pid = self._process.pid
        atexit.register(self._at_exit)
        self._outbox.put(wire.pack(hello))
        self._writer = threading.Thread(target=self._write, name="model-requests", daemon=True)
        self._reader = threading.Thread(target=self._read, name="model-replies", daemon=True)
        self._writer.start()
        self._reader.start()

    def _started(self, command: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=dict(env),
                bufsize=0,
                creationflags=_NO_WINDOW,
            )
        except BaseException:
            self._log.close()
            raise

    def request(
        self,
        header: Mapping[str, Any],
        numbers: np.ndarray | None,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> Future[wire.Message]:
        """Sends a request; the future gets the reply, or the error that the child reported.

        Args:
            progress: Called from the reading thread with what the child says of a long request.

        Raises:
            ModelError: when the process has ended.
        """
        number = next(self._ids)
        message = wire.pack({**header, "id": number}, numbers)
        future: Future[wire.Message] = Future()
        with self._lock:
            if self._ended:
                raise _again(self._failure)
            self._pending[number] = future
            if progress is not None:
                self._progress[number] = progress
        self._outbox.put(message)
        return future

    def owns(self, future: Future[wire.Message]) -> bool:
        """Whether this process still has to answer that request."""
        with self._lock:
            return future in self._pending.values()

    def close(self, timeout: float) -> None:
        """Asks the process to end, ends it after ``timeout`` seconds, and waits for the threads."""
        self._outbox.put(None)
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in (self._writer, self._reader):
            if thread is not threading.current_thread():
                thread.join()
        atexit.unregister(self._at_exit)

    def _at_exit(self) -> None:
        self.close(0.5)

    def _write(self) -> None:
        assert self._process.stdin is not None
        try:
            while (message := self._outbox.get()) is not None:
                wire.send(self._process.stdin.fileno(), message)
        except wire.Closed:
            pass
        finally:
            self._process.stdin.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while True:
                self._take(*wire.receive(self._process.stdout.fileno()))
        except wire.Closed:
            pass
        finally:
            self._process.stdout.close()
            self._end()

    def _take(self, header: dict[str, Any], numbers: np.ndarray) -> None:
        event = header.get("event")
        if event == "ready":
            self.ready = self.was_ready = True
            self._on_event()
        elif event == "notice":
            self.notices.append(header["text"])
        elif event == "failed":
            error = _rebuilt(header["error"])
            self._failure = error if isinstance(error, ModelError) else None
            raise wire.Closed("the models cannot be loaded")
        elif "progress" in header:
            with self._lock:
                told = self._progress.get(header["id"])
            if told is not None:
                told(*header["progress"])
        else:
            with self._lock:
                future = self._pending.pop(header["id"], None)
                self._progress.pop(header["id"], None)
            if future is None:
                return
            if "error" in header:
                future.set_exception(_rebuilt(header["error"]))
            else:
                future.set_result((header, numbers))

    def _end(self) -> None:
        """After the last reply: reaps the process and fails what still waits."""
        self._outbox.put(None)
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        error = self._failure or self._death()
        self._log.close()
        with self._lock:
            self._ended, self._failure, self.ready = True, error, False
            waiting, self._pending = list(self._pending.values()), {}
        atexit.unregister(self._at_exit)
        self._on_death(self, error)
        for future in waiting:
            future.set_exception(_again(error))

    def _death(self) -> ModelError:
        self._log.seek(0, 2)
        self._log.seek(max(0, self._log.tell() - _LOG_TAIL))
        log = self._log.read().decode("utf-8", "replace").strip()
        cause = RuntimeError(f"exit status {self._process.returncode}\n{log}".strip())
        return ModelError("The model process ended; it will be started again.", cause=cause)


def _again(error: ModelError | None) -> ModelError:
    """The same error for one more caller: an exception object must not be raised in two threads."""
    if error is None:
        return ModelError("The model process has ended.")
    return ModelError(error.sentence, hint=error.hint, cause=error.__cause__)


def _rebuilt(told: Mapping[str, str]) -> ModelError | SilentAudioError:
    """The error that the child told of."""
    if told["kind"] == "silent":
        return SilentAudioError(told["sentence"], hint=told["hint"])
    return ModelError(told["sentence"], hint=told["hint"], cause=RuntimeError(told["detail"]))
