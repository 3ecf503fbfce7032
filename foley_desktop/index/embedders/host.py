"""The application's end of the model process.

Importing a deep-learning library takes seconds and a model can die of lack of memory; neither may
touch the window. So models live in a child process, started afresh (never forked) with this
process's module path. A dead child costs the calls that were waiting on it and is replaced at the
next call.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from foley_desktop.errors import FoleyError, ModelError
from foley_desktop.index.embedders import CHILD_FLAG, registry, wire
from foley_desktop.index.embedders.child_process import ChildProcess
from foley_desktop.index.embedders.remote import RemoteEmbedder, RemoteText
from foley_desktop.index.embedders.spaces import Description, WindowedEmbedder
from foley_desktop.index.protocols import TextEmbedder

State = Literal["off", "loading", "ready", "failed"]

IDLE_S = 30.0
"""After so long without use a model that is not the active one is let go of."""

_RETRY_AFTER_S = 2.0
_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from foley_desktop.index.embedders.host_child import main; main()"
)


def child_command() -> list[str]:
    """How to start a model process that sees the same modules as this one."""
    if not sys.executable:
        raise ModelError("The model process cannot be started: the interpreter's path is unknown.")
    if getattr(sys, "frozen", False):
        return [sys.executable, CHILD_FLAG]
    path = [os.path.abspath(entry) for entry in sys.path]
    # -P keeps modules in the current folder from taking the place of installed ones.
    return [sys.executable, "-P", "-c", _BOOT, json.dumps(path)]


def child_environment(threads: int) -> dict[str, str]:
    """Few threads that sleep when idle, and no library that looks for a network."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONWARNINGS"}
    env |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    env |= {"OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "TOKENIZERS_PARALLELISM": "false"}
    return env | {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


def default_threads() -> int:
    """All cores but one, at most four: the rest belongs to decoding, sound and the window."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(4, cores - 1))


class Models(Protocol):
    """What the library needs of its models, in a process of their own or in this one."""

    @property
    def state(self) -> State: ...

    @property
    def error(self) -> FoleyError | None: ...

    def start(self) -> None: ...

    def wait_ready(self, timeout: float | None = None) -> bool: ...

    @property
    def notices(self) -> Sequence[str]: ...

    def activate(self, name: str) -> None: ...

    def forget(self, name: str) -> None: ...

    def describe(self, name: str, /) -> Description: ...

    def describe_text(self) -> Description: ...

    def text_embedder(self) -> TextEmbedder: ...

    def embedder(self, name: str = "compact") -> WindowedEmbedder: ...

    def close(self, timeout: float = 2.0) -> None: ...


class ModelHost:
    """Models in a child process, for any number of calling threads.

    Args:
        names: The models it hosts. The first text model among them ranks by meaning.
        threads: Threads a model may use; by default all cores but one, at most four.
        models_folder: Where checkpoints that the user added lie.
        device: ``cpu``, ``cuda`` or ``mps``, for the models that can choose.
    """

    def __init__(
        self,
        names: Sequence[str] = ("minilm", "compact"),
        *,
        threads: int | None = None,
        models_folder: Path | None = None,
        device: str = "cpu",
    ) -> None:
        self.names = tuple(names)
        self._place = registry.Place(models_folder, device)
        self._text_name = registry.text_model(self.names)
        self._threads = threads or default_threads()
        self._changed = threading.Condition()
        self._child: ChildProcess | None = None
        self._error: ModelError | None = None
        self._failed_at = 0.0
        self._closed = False

    def __enter__(self) -> ModelHost:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def state(self) -> State:
        """``off`` before the first start and after the end, ``ready`` when texts are answered."""
        with self._changed:
            if self._child is not None:
                return "ready" if self._child.ready else "loading"
            return "failed" if self._error is not None and not self._closed else "off"

    @property
    def error(self) -> ModelError | None:
        """Why the model process failed last; None while it runs."""
        with self._changed:
            return None if self._child is not None else self._error

    @property
    def notices(self) -> list[str]:
        """What the running child has to say of its models: a device that was not there, for one."""
        with self._changed:
            return list(self._child.notices) if self._child is not None else []

    @property
    def pid(self) -> int | None:
        """The process id of the running child."""
        with self._changed:
            return self._child.pid if self._child is not None else None

    def start(self) -> None:
        """Starts the child if none runs, without waiting for it. A failure shows in ``state``."""
        try:
            self._running()
        except ModelError as error:
            with self._changed:
                self._error = self._error or error

    def wait_ready(self, timeout: float | None = None) -> bool:
        """Starts the child and waits until it answers texts; False when it failed or time ran out."""
        self.start()
        with self._changed:
            self._changed.wait_for(lambda: self._child is None or self._child.ready, timeout)
            return self._child is not None and self._child.ready

    def describe(self, name: str, /) -> Description:
        """The spaces of a model, without starting anything.

        Raises:
            ModelError: when there is no such model, it is not installed or has no weights.
        """
        return registry.describe(name, self._place)

    def describe_text(self) -> Description:
        """The space of the text embedder, without starting the process."""
        return self.describe(self._text_name)

    def activate(self, name: str) -> None:
        """Makes this the embedder that a new child loads at once. The running child goes on with both, until
        the other one has not been used for a while."""
        with self._changed:
            self.names = (self._text_name, name)
        self._keep()

    def forget(self, name: str) -> None:
        """Lets go of a model at once: its weights are gone, or will be."""
        self._keep(name)

    def _keep(self, *forget: str) -> None:
        with self._changed:
            child = self._child
        if child is not None:
            with contextlib.suppress(ModelError):
                child.request({"op": "keep", "names": self._hello_names(), "forget": forget}, None)

    @property
    def device(self) -> str:
        """What the models that can choose run on: ``cpu``, ``cuda`` or ``mps``."""
        return self._place.device

    def move_to(self, device: str) -> None:
        """Lets the models run on another device. A running child ends; the next call starts another."""
        with self._changed:
            if device == self._place.device:
                return
            self._place = self._place._replace(device=device)
            child, self._child = self._child, None
        if child is not None:
            child.close(0.0)

    def text_embedder(self) -> TextEmbedder:
        """The embedder of words alone.

        Raises:
            ModelError: when it is not installed.
        """
        return RemoteText(self, self._text_name, self.describe_text())

    def embedder(self, name: str = "compact") -> RemoteEmbedder:
        """A joint embedder of text and sound.

        Raises:
            ModelError: when it does not exist or is not installed.
        """
        if registry.entry(name).load_audio is None:
            raise ModelError(f"The model {name} does not hear sound.")
        return RemoteEmbedder(self, name, self.describe(name))

    def warm(self, name: str = "compact") -> None:
        """Lets a model load its part for sound in the background, before the first clip needs it."""
        self.submit({"op": "warm", "model": name})

    def submit(self, header: dict[str, Any], numbers: np.ndarray | None = None) -> Future[wire.Message]:
        """Sends a request to the child, which is started if need be.

        Raises:
            ModelError: when it cannot be started.
        """
        return self._running().request(header, numbers)

    def task(
        self, name: str, arguments: dict[str, Any], progress: Callable[[int, int, str], None]
    ) -> Future[wire.Message]:
        """Starts long work that is no embedding; what it made stands as ``made`` in the reply's header.

        Raises:
            ModelError: when the child cannot be started.
        """
        return self._running().request({"op": "task", "task": name, "arguments": arguments}, None, progress)

    def wait(self, future: Future[wire.Message], timeout: float) -> wire.Message:
        """The reply to a request. A child that does not answer in time is ended.

        Raises:
            ModelError: when the child failed, died or did not answer.
        """
        try:
            return future.result(timeout)
        except FutureTimeout:
            self._replace(future)
            raise ModelError("The model did not answer in time; it will be started again.") from None

    def _replace(self, future: Future[wire.Message]) -> None:
        """Ends the child that owes a reply; the next call starts another."""
        with self._changed:
            child = self._child
            if child is None or not child.owns(future):
                return
            self._child = None
        child.close(0.0)

    def close(self, timeout: float = 2.0) -> None:
        """Ends the child for sure, and every thread with it. Calls that wait raise ModelError."""
        with self._changed:
            self._closed = True
            child, self._child = self._child, None
            self._changed.notify_all()
        if child is not None:
            child.close(timeout)

    def _running(self) -> ChildProcess:
        with self._changed:
            if self._closed:
                raise ModelError("The model process has been closed.")
            if self._child is not None:
                return self._child
            if self._error is not None and time.monotonic() - self._failed_at < _RETRY_AFTER_S:
                raise ModelError(self._error.sentence, hint=self._error.hint, cause=self._error)
            folder = os.fspath(self._place.models) if self._place.models else None
            hello = {
                "names": self._hello_names(),
                "idle_s": IDLE_S,
                "threads": self._threads,
                "models": folder,
                "device": self._place.device,
            }
            try:
                self._child = ChildProcess(
                    child_command(), child_environment(self._threads), hello, self._on_event, self._on_death
                )
            except (OSError, subprocess.SubprocessError, ModelError) as error:
                self._failed_at = time.monotonic()
                self._error = ModelError("The model process cannot be started.", cause=error)
                raise self._error from error
            return self._child

    def _hello_names(self) -> list[str]:
        return list(dict.fromkeys((self._text_name, *self.names))) if self.names else []

    def _on_event(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _on_death(self, child: ChildProcess, error: ModelError) -> None:
        with self._changed:
            if self._child is child:
                self._child = None
                self._error = error
                # A child that worked is replaced at once, one that could not load only after a while.
                self._failed_at = 0.0 if child.was_ready else time.monotonic()
            self._changed.notify_all()


class InProcessModels:
    """The interface of :class:`ModelHost` without a process, for tests and tools."""

    def __init__(
        self, names: Sequence[str] = ("hash",), *, models_folder: Path | None = None, device: str = "cpu"
    ) -> None:
        self.names = tuple(names)
        self._place = registry.Place(models_folder, device)
        self.notices: list[str] = []
        self.state: State = "off"
        self.error: FoleyError | None = None

    def describe(self, name: str, /) -> Description:
        return registry.describe(name, self._place)

    def activate(self, name: str) -> None:
        """Nothing to do: every embedder is loaded when asked for."""

    def forget(self, name: str) -> None:
        """Nothing to do: no embedder is held."""

    def start(self) -> None:
        self.state = "ready"

    def wait_ready(self, timeout: float | None = None) -> bool:
        self.start()
        return True

    def warm(self, name: str = "compact") -> None:
        self.start()

    def describe_text(self) -> Description:
        """The space of the text embedder."""
        return self.describe(registry.text_model(self.names))

    def text_embedder(self) -> TextEmbedder:
        self.start()
        return registry.entry(registry.text_model(self.names)).load_text(self._place)

    def embedder(self, name: str = "compact") -> WindowedEmbedder:
        load = registry.entry(name).load_audio
        if load is None:
            raise ModelError(f"The model {name} does not hear sound.")
        self.start()
        return load(self._place)

    def close(self, timeout: float = 2.0) -> None:
        self.state = "off"
