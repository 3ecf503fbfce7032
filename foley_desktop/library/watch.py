"""Watches folders and tells which of them changed, once they have come to rest.

A file that is being copied grows for a while, so a change is told only when size and times of what
changed have been still for two seconds. Where the system cannot tell (too many folders for its limit,
a network drive), folders are compared now and then instead, and that is said. A root that goes away
with its drive, or comes back, is told of too.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from foley_desktop.audio.decode import is_media_name
from foley_desktop.library.catalog_files import FileState
from foley_desktop.library.database import as_text
from foley_desktop.library.scan import current_state, walk

log = logging.getLogger(__name__)

STILL_S = 2.0
POLL_S = 30.0
ROOTS_S = 3.0
"""How often it is looked whether each root is there: the system does not tell of a drive that goes away."""

_LOOK_S = 0.25
_PATIENCE = 30
"""After so many times its rest a change is told of although something beside it still moves."""

_SHARE = 0.05
"""How much of its time a watcher may spend on comparing: large folders are compared less often."""

_JOIN_S = 5.0
_REMOTE = frozenset({
    "9p", "afs", "ceph", "cifs", "davfs", "fuse.davfs", "fuse.glusterfs", "fuse.gvfsd-fuse", "fuse.rclone",
    "fuse.s3fs", "fuse.sshfs", "glusterfs", "ncpfs", "nfs", "nfs4", "smb3", "smbfs",
})  # fmt: skip
"""File systems whose changes from elsewhere the system does not tell of."""

Changed = Callable[[list[str]], None]


@dataclass(frozen=True, slots=True)
class _Rules:
    on_change: Changed
    still_s: float
    poll_s: float
    events: bool


class Watcher:
    """Calls ``on_change`` with folders to index again, from a thread of its own.

    Args:
        on_change: Gets absolute paths of folders, none inside another; must not block long. They are
            there, but for a root that went away.
        still_s: How long a change has to rest before it is told.
        poll_s: How often folders are compared where the system does not tell of changes.
        events: False compares from the start.
    """

    def __init__(
        self, on_change: Changed, *, still_s: float = STILL_S, poll_s: float = POLL_S, events: bool = True
    ) -> None:
        self._rules = _Rules(on_change, still_s, poll_s, events)
        self._round: _Round | None = None

    @property
    def notice(self) -> str:
        """A sentence for the user when folders are compared instead of watched."""
        return self._round.notice if self._round is not None else ""

    @property
    def is_watching(self) -> bool:
        return self._round is not None

    def start(self, roots: Sequence[str]) -> None:
        """Begins to watch folders; replaces a former start. Returns at once, see :meth:`wait_ready`.

        Folders that are not there are watched as soon as they come.
        """
        self.stop(wait=False)
        self._round = _Round(self._rules, roots)
        self._round.start()

    def wait_ready(self, timeout_s: float) -> bool:
        """Whether everything that is there is being watched, at the latest after ``timeout_s``."""
        return self._round is not None and self._round.ready.wait(timeout_s)

    def stop(self, *, wait: bool = True) -> None:
        """Ends watching; nothing more is told.

        Args:
            wait: Return when every thread has ended, but for one that a drive without an answer holds.
        """
        ended, self._round = self._round, None
        if ended is not None:
            ended.end()
            if wait and ended is not threading.current_thread():
                ended.join(_JOIN_S)


class _Round(threading.Thread):
    """One start of a watcher: its roots, and what is known of them."""

    def __init__(self, rules: _Rules, roots: Sequence[str]) -> None:
        super().__init__(name="foley-watch", daemon=True)
        self._rules = rules
        self._roots = list(roots)
        self._there: dict[str, tuple[int, int] | None] = {}
        self._observer: Any = None
        self._watched: dict[str, Any] = {}
        self._polled: dict[str, bytes | None] = {}
        self._before: dict[str, bytes | None] = {}
        self._restless: dict[str, tuple[FileState | None, float, float]] = {}
        self._lock = threading.Lock()
        self._stop_asked = threading.Event()
        self.ready = threading.Event()
        self.notice = ""

    def end(self) -> None:
        """Asks the thread to end; from now on nothing is told."""
        self._stop_asked.set()

    def run(self) -> None:
        try:
            self._look_after_roots()
            self._compare()
            self.ready.set()
            self._go_on()
        finally:
            if self._observer is not None:
                self._observer.stop()
                self._observer.join()

    def _go_on(self) -> None:
        poll_s, roots_s = self._rules.poll_s, min(ROOTS_S, self._rules.poll_s)
        next_poll, next_roots = time.monotonic() + poll_s, time.monotonic() + roots_s
        while not self._stop_asked.wait(min(_LOOK_S, poll_s)):
            changed, began = self._settled(), time.monotonic()
            if began >= next_roots:
                changed += self._look_after_roots()
                next_roots = _later(began, roots_s)
            if began >= next_poll:
                changed += self._compare()
                next_poll = _later(began, poll_s)
            if changed and not self._stop_asked.is_set():
                self._tell(outermost(changed))

    def _tell(self, folders: list[str]) -> None:
        try:
            self._rules.on_change(folders)
        except Exception:
            log.exception("a change of %s could not be taken up", [as_text(f) for f in folders])

    # --- roots that come and go

    def _look_after_roots(self) -> list[str]:
        """Watches roots that have come; gives those that came or went since the last look."""
        changed = []
        for root in self._roots:
            there, before = _identity(root), self._there.get(root)
            if self._stop_asked.is_set():
                break
            if there != before:
                self._forget(root)
                if there is not None:
                    self._attend(root)
                if root in self._there:
                    changed.append(root)
            self._there[root] = there
        return changed

    def _attend(self, root: str) -> None:
        if not self._observe(root):
            self._polled[root] = None
            self.notice = (
                "The system does not tell of changes in some folders, so they are compared every "
                f"{self._rules.poll_s:.0f} seconds instead."
            )

    def _forget(self, root: str) -> None:
        """A root is gone, and what watched it with it."""
        self._polled.pop(root, None)
        self._before.pop(root, None)
        watch = self._watched.pop(root, None)
        if watch is not None:
            self._observer.unschedule(watch)

    # --- what the system tells

    def _observe(self, root: str) -> bool:
        """Asks the system to tell of changes below ``root``; False if it cannot."""
        if not self._rules.events or is_remote(root):
            return False
        from watchdog.observers import Observer

        try:
            if self._observer is None:
                observer = Observer()
                observer.start()
                self._observer = observer
            handler: Any = _Handler(self._note)
            self._watched[root] = self._observer.schedule(handler, root, recursive=True)
        except OSError as error:
            # The limit of watches, or a file system without them.
            log.warning("%r cannot be watched: %s", root, error)
            return False
        return True

    def _note(self, path: str) -> None:
        now = time.monotonic()
        with self._lock:
            first = self._restless[path][2] if path in self._restless else now
            self._restless[path] = (current_state(path), now, first)

    def _settled(self) -> list[str]:
        """Folders of changes that have come to rest, unless something beside them still moves."""
        now, still_s = time.monotonic(), self._rules.still_s
        with self._lock:
            for path, (seen, _, first) in list(self._restless.items()):
                state = current_state(path)
                if state != seen:
                    self._restless[path] = (state, now, first)
            resting = {path for path, (_, since, _) in self._restless.items() if now - since >= still_s}
            moving = [path for path in self._restless if path not in resting]
            folders = set()
            for path in resting:
                folder = path if path in self._roots else os.path.dirname(path)
                impatient = now - self._restless[path][2] >= _PATIENCE * still_s
                if impatient or not any(other.startswith(folder + os.sep) for other in moving):
                    folders.add(folder)
                    del self._restless[path]
        return [folder for folder in folders if folder in self._roots or os.path.isdir(folder)]

    # --- where the system does not tell

    def _compare(self) -> list[str]:
        """Roots that look the same as at the last comparison, and not as when they were last told of."""
        changed = []
        for root, told in list(self._polled.items()):
            looks = self._signature(root)
            if self._stop_asked.is_set():
                break
            if told is None:
                self._polled[root] = looks
            elif looks != told and self._before.get(root) == looks:
                self._polled[root] = looks
                changed.append(root)
            self._before[root] = looks
        return changed

    def _signature(self, root: str) -> bytes:
        """A digest of the names and states of all media files below a folder."""
        digest = hashlib.blake2b(digest_size=16)
        for file in walk(root):
            if self._stop_asked.is_set():
                break
            digest.update(file.rel_path + b"\0" + repr(file.state[:4]).encode() + b"\0")
        return digest.digest()


def _later(began: float, interval_s: float) -> float:
    """When to do again what took from ``began`` until now."""
    now = time.monotonic()
    return now + max(interval_s, (now - began) / _SHARE)


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


def _identity(root: str) -> tuple[int, int] | None:
    """What tells a folder from another one that takes its place, as a mount point does its disk's."""
    try:
        status = os.stat(root)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None


def is_remote(root: str) -> bool:
    """Whether a folder lies on a network drive, as far as the system says."""
    return file_system(os.path.realpath(root), _mounts()) in _REMOTE


def _mounts() -> Iterator[tuple[str, str]]:
    """Mount points and their file systems; none where the system does not list them."""
    try:
        with open("/proc/self/mounts", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return
    for line in lines:
        fields = line.split(b" ")
        if len(fields) > 2:
            yield os.fsdecode(_unescaped(fields[1])), os.fsdecode(fields[2])


def _unescaped(place: bytes) -> bytes:
    """A path as the system's list of mounts has it, where blanks and the like are octal codes."""
    for byte in b" \t\n\\":
        place = place.replace(b"\\%03o" % byte, bytes([byte]))
    return place


def file_system(path: str, mounts: Iterable[tuple[str, str]]) -> str:
    """The file system of the innermost of ``(mount point, file system)`` around ``path``; "" if unknown."""
    found, depth = "", 0
    for place, kind in mounts:
        start = place.rstrip("/") + "/"
        if f"{path}/".startswith(start) and len(start) >= depth:  # the last of several at one place counts
            found, depth = kind, len(start)
    return found


def outermost(folders: Iterable[str]) -> list[str]:
    """``folders`` without those that lie inside another one of them, in order."""
    kept: list[str] = []
    for folder in sorted(set(folders)):
        if not kept or not folder.startswith(kept[-1].rstrip(os.sep) + os.sep):
            kept.append(folder)
    return kept
