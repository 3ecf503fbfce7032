"""The model process: reads requests, runs the models, ends when the application does.

Three threads. The main one reads requests and so notices at once when the application is gone, even
killed. One answers texts, a single query before batches of texts. One embeds sound and does other long
work, at a lower priority and only loaded when the first sound comes, so that a search never waits for an
import. A model that is neither the active one nor in use for a while is let go of: while one embedder takes
the place of another both are held, and half a gigabyte must not stay behind.
Standard output belongs to the protocol: what anything prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import queue
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from foley_desktop.errors import FoleyError, ModelError, SilentAudioError
from foley_desktop.index.embedders import wire
from foley_desktop.index.embedders.registry import HERE, TASKS, TEXT_EMBEDDERS, Place, entry
from foley_desktop.index.embedders.spaces import WindowedEmbedder
from foley_desktop.index.protocols import TextEmbedder

_AUDIO_NICENESS = 5

Request = tuple[dict[str, Any], np.ndarray]


class _Lane(threading.Thread):
    """Answers requests one at a time, the most urgent first, else in the order they came."""

    def __init__(self, name: str, answer: Callable[[Request], bytes], send: Callable[[bytes], None]) -> None:
        super().__init__(name=name, daemon=True)
        self._queue: queue.PriorityQueue[tuple[int, int, Request]] = queue.PriorityQueue()
        self._count = count()
        self._answer = answer
        self._send = send

    def put(self, request: Request) -> None:
        urgency = int(request[0].get("urgency", 1))
        self._queue.put((urgency, next(self._count), request))

    def run(self) -> None:
        while True:
            _, _, request = self._queue.get()
            try:
                reply = self._answer(request)
            except BaseException as error:
                reply = wire.pack({"id": request[0].get("id"), "error": _told(error)})
            self._send(reply)


class _Child:
    """The models of this process and the two lanes that use them."""

    def __init__(self, requests: int, replies: int) -> None:
        self._requests = requests
        self._replies = replies
        self._sending = threading.Lock()
        self._texts: dict[str, TextEmbedder] = {}
        self._sounds: dict[str, WindowedEmbedder] = {}
        self._threads = 1
        self._place = HERE
        self._noticed: set[str] = set()
        self._kept: set[str] = set()
        self._used: dict[str, float] = {}
        self._idle_s = 30.0
        self._spared = threading.Event()
        self._warm = False
        self._text_lane = _Lane("texts", self._text, self._send)
        self._sound_lane: _Lane | None = None

    def serve(self) -> None:
        """Serves until the application closes its end."""
        hello, _ = wire.receive(self._requests)
        self._threads = int(hello["threads"])
        models = hello.get("models")
        self._place = Place(Path(models) if models else None, hello.get("device", "cpu"))
        self._kept = set(hello["names"])
        self._idle_s = float(hello.get("idle_s", self._idle_s))
        threading.Thread(target=self._load, args=(hello["names"],), name="load", daemon=True).start()
        threading.Thread(target=self._sweep, name="sweep", daemon=True).start()
        while True:
            self._take(wire.receive(self._requests))

    def _take(self, request: Request) -> None:
        header = request[0]
        if header["op"] == "keep":
            self._kept = set(header["names"])
            self._let_go(header["forget"])
            self._spared.set()
            self._send(wire.pack({"id": header["id"]}))
        elif header["op"] == "text" and (not self._warm or header["model"] in self._texts):
            self._text_lane.put(request)
        else:
            # Loading a model takes seconds, for which no query to another one should wait.
            self._start_sound_lane().put(request)

    def _load(self, names: list[str]) -> None:
        try:
            for name in names:
                try:
                    self._load_text(name)
                except ModelError:
                    # An embedder of sound that cannot read says so when asked; words go on without it.
                    if name in TEXT_EMBEDDERS:
                        raise
        except BaseException as error:
            self._send(wire.pack({"event": "failed", "error": _told(error)}))
            return
        self._text_lane.start()
        self._warm = True
        self._send(wire.pack({"event": "ready"}))

    def _load_text(self, name: str) -> TextEmbedder:
        embedder = entry(name).load_text(self._place)
        self._tell_notice(embedder)
        embedder.embed_text("ready")
        self._texts[name] = embedder
        return embedder

    def _tell_notice(self, embedder: object) -> None:
        text = getattr(embedder, "notice", "")
        if text and text not in self._noticed:
            self._noticed.add(text)
            self._send(wire.pack({"event": "notice", "text": text}))

    def _start_sound_lane(self) -> _Lane:
        if self._sound_lane is None:
            self._sound_lane = _Lane("sounds", self._sound, self._send)
            self._sound_lane.start()
        return self._sound_lane

    def _text(self, request: Request) -> bytes:
        header, _ = request
        name = header["model"]
        embedder = self._texts.get(name) or self._load_text(name)
        self._note_use(name)
        vectors = embedder.embed_text(header["texts"])
        return wire.pack({"id": header["id"], "rows": len(vectors)}, vectors)

    def _sound(self, request: Request) -> bytes:
        header, samples = request
        if header["op"] == "task":
            return self._task(header)
        if header["op"] == "text":
            return self._text(request)
        name = header["model"]
        embedder = self._sounds.get(name) or self._load_sound(name)
        self._sounds[name] = embedder
        self._note_use(name)
        if header["op"] == "warm":
            return wire.pack({"id": header["id"]})
        layout, flat = wire.joined(embedder.submit(samples)())
        return wire.pack({"id": header["id"], "layout": layout}, flat)

    # --- letting go

    def _note_use(self, name: str) -> None:
        self._used[name] = time.monotonic()
        if name not in self._kept:
            self._spared.set()

    def _let_go(self, names: Iterable[str]) -> None:
        known = [name for name in names if name in self._texts or name in self._sounds]
        for name in known:
            self._texts.pop(name, None)
            self._sounds.pop(name, None)
        if known:
            gc.collect()

    def _sweep(self) -> None:
        """Lets go of spare models when their time has come; sleeps while there are none."""
        wait: float | None = None
        while True:
            self._spared.wait(wait)
            self._spared.clear()
            now = time.monotonic()
            spare = {*list(self._texts), *list(self._sounds)} - self._kept
            due = {name: self._used.get(name, 0.0) + self._idle_s for name in spare}
            self._let_go([name for name, when in due.items() if when <= now])
            wait = min((when - now for when in due.values() if when > now), default=None)

    def _task(self, header: dict[str, Any]) -> bytes:
        def report(done: int, total: int, what: str) -> None:
            self._send(wire.pack({"id": header["id"], "progress": [done, total, what]}))

        return wire.pack({"id": header["id"], "made": TASKS[header["task"]](report, **header["arguments"])})

    def _load_sound(self, name: str) -> WindowedEmbedder:
        load = entry(name).load_audio
        if load is None:
            raise KeyError(f"{name} does not embed sound")
        _lower_priority()
        embedder = load(self._place)
        self._tell_notice(embedder)
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.set_num_threads(self._threads)
        return embedder

    def _send(self, message: bytes) -> None:
        try:
            with self._sending:
                wire.send(self._replies, message)
        except wire.Closed:
            os._exit(0)


def _lower_priority() -> None:
    """Lets queries and the window go before indexing. Linux alone can do so for one thread."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _AUDIO_NICENESS)


def _told(error: BaseException) -> dict[str, str]:
    """An error as the application needs it to raise its like."""
    detail = "".join(traceback.format_exception(error))
    if isinstance(error, FoleyError):
        kind = "silent" if isinstance(error, SilentAudioError) else "model"
        return {"kind": kind, "sentence": error.sentence, "hint": error.hint, "detail": detail}
    sentence = "The model ran out of memory." if isinstance(error, MemoryError) else "The model failed."
    return {"kind": "model", "sentence": sentence, "hint": "", "detail": detail}


def main() -> None:
    """Runs the model process on its standard input and output; does not return."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    faulthandler.enable()
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    try:
        _Child(requests, replies).serve()
    except wire.Closed:
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    main()
