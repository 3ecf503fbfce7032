"""Watches folders and tells which of them changed, once they have come to rest.

A file that is being copied grows for a while, so a change is told only when size and times of what
changed have been still for two seconds. Where the system cannot tell (too many folders for its limit,
a network drive), folders are compared every half minute instead, and that is said.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from foley_desktop.audio.decode import is_media_name
from foley_desktop.library.catalog_files import FileState
from foley_desktop.library.database import as_text
from foley_desktop.library.scan import current_state, walk

log = logging.getLogger(__name__)

STILL_S = 2.0
POLL_S = 30.0
_LOOK_S = 0.25

Changed = Callable[[list[str]], None]


class Watcher:
    """Calls ``on_change`` with folders to index again, from a thread of its own.

    Args:
        on_change: Gets absolute paths of existing folders, none inside another; must not block long.
        still_s: How long a change has to rest before it is told.
        poll_s: How often folders are compared where the system does not tell of changes.
        events: False compares from the start.
    """

    def __init__(
        self, on_change: Changed, *, still_s: float = STILL_S, poll_s: float = POLL_S, events: bool = True
    ) -> None:
        self._on_change = on_change
        self._still_s = still_s
        self._poll_s = poll_s
        self._events = events
        self._observer: Any = None
        self._polled: dict[str, bytes | None] = {}
        self._restless: dict[str, tuple[FileState | None, float]] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.notice = ""
        """A sentence for the user when folders are compared instead of watched."""

    def start(self, roots: Sequence[str]) -> None:
        """Begins to watch folders; those that are not there are left out. Replaces a former start."""
        self.stop()
        self._stop.clear()
        self.notice = ""
        there = [root for root in roots if os.path.isdir(root)]
        polled = there if not self._events else self._observe(there)
        if polled and self._events:
            self.notice = (
                "The system cannot watch all folders, so they are compared every "
                f"{self._poll_s:.0f} seconds instead."
            )
        self._polled = dict.fromkeys(polled)
        self._thread = threading.Thread(target=self._run, name="foley-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends watching; returns when every thread has ended."""
        self._stop.set()
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None
        self._restless.clear()

    # --- what the system tells

    def _observe(self, roots: Sequence[str]) -> list[str]:
        """Asks the system to tell of changes below ``roots``; gives those it cannot watch."""
        from watchdog.observers import Observer

        observer = Observer()
        left = []
        handler = _Handler(self._note)
        observer.start()
        for root in roots:
            try:
                observer.schedule(handler, root, recursive=True)  # type: ignore[arg-type]
            except OSError as error:
                # The limit of watches, or a file system without them.
                log.warning("%r cannot be watched: %s", root, error)
                left.append(root)
        self._observer = observer
        return left

    def _note(self, path: str) -> None:
        with self._lock:
            self._restless[path] = (current_state(path), time.monotonic())

    def _settled(self) -> list[str]:
        """Folders of changes that have come to rest, unless something beside them still moves."""
        now = time.monotonic()
        with self._lock:
            for path, (seen, since) in list(self._restless.items()):
                state = current_state(path)
                if state != seen:
                    self._restless[path] = (state, now)
                elif now - since < self._still_s:
                    continue
            resting = {p for p, (_, since) in self._restless.items() if now - since >= self._still_s}
            moving = [path for path in self._restless if path not in resting]
            folders = []
            for path in resting:
                folder = os.path.dirname(path)
                if not any(other.startswith(folder + os.sep) for other in moving):
                    folders.append(folder)
                    del self._restless[path]
        return [folder for folder in folders if os.path.isdir(folder)]

    # --- where the system does not tell

    def _compared(self, before: dict[str, bytes | None]) -> list[str]:
        """Roots that look the same as at the last comparison, and not as when they were last told of."""
        changed = []
        for root, told in self._polled.items():
            looks = _signature(root)
            if told is None:
                self._polled[root] = looks
            elif looks != told and before.get(root) == looks:
                self._polled[root] = looks
                changed.append(root)
            before[root] = looks
        return changed

    def _run(self) -> None:
        before: dict[str, bytes | None] = {}
        self._compared(before)
        next_poll = time.monotonic() + self._poll_s
        while not self._stop.wait(min(_LOOK_S, self._poll_s)):
            changed = self._settled()
            if self._polled and time.monotonic() >= next_poll:
                changed += self._compared(before)
                next_poll = time.monotonic() + self._poll_s
            if changed and not self._stop.is_set():
                try:
                    self._on_change(outermost(changed))
                except Exception:
                    log.exception("a change of %s could not be taken up", [as_text(f) for f in changed])


class _Handler:
    """Takes watchdog's events; those of media files and of folders are noted."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note

    def dispatch(self, event: Any) -> None:
        if event.event_type in ("opened", "closed_no_write"):
            return
        for path in (event.src_path, getattr(event, "dest_path", "")):
            name = os.fsdecode(path) if path else ""
            if not name or (event.is_directory and event.event_type == "modified"):
                continue  # a folder is "modified" whenever something in it is, which is told by itself
            if event.is_directory or is_media_name(name):
                self._note(name)


def _signature(root: str) -> bytes:
    """A digest of the names and states of all media files below a folder."""
    digest = hashlib.blake2b(digest_size=16)
    for file in walk(root):
        digest.update(file.rel_path + b"\0" + repr(file.state[:4]).encode() + b"\0")
    return digest.digest()


def outermost(folders: Iterable[str]) -> list[str]:
    """``folders`` without those that lie inside another one of them, in order."""
    kept: list[str] = []
    for folder in sorted(set(folders)):
        if not kept or not folder.startswith(kept[-1].rstrip(os.sep) + os.sep):
            kept.append(folder)
    return kept
