"""One window a library: a second start hands its folders to the first window and ends.

A lock file says who is first; the system lets it go however a process ends, so that a killed window is in
nobody's way. A local socket carries what the second start wants; one that was left behind is taken away.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout
from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from foley_desktop.errors import FoleyError

log = logging.getLogger(__name__)

ANSWER_WITHIN_S = 8.0
"""How long a second start waits for the first window, which may be starting still."""

_TRY_EVERY_S = 0.2
_WAIT_MS = 3000
_STEP_MS = 20
_LONGEST = 1_000_000
_READ = b"taken\n"


class Instance(QObject):
    """The first window of a library, as others reach it."""

    called = Signal(object)
    """Somebody started a second window, with this list of folders; as an object, for Qt spoils odd names."""

    def __init__(self, library: Path, lock: FileLock | None) -> None:
        super().__init__()
        self._lock = lock
        self._callers: list[QLocalSocket] = []
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)
        name = _socket_name(library)
        if lock is not None:
            QLocalServer.removeServer(name)  # of a window that was killed
        if not self._server.listen(name):
            log.warning("other starts cannot reach this window: %s", self._server.errorString())

    def fall_silent(self) -> None:
        """The window closes: another start is to wait for its end, and not to be sent to it."""
        self._server.close()

    def close(self) -> None:
        """From now on another start opens a window of its own."""
        for socket in self._callers:
            socket.readyRead.disconnect()
            socket.disconnected.disconnect()
            socket.abort()
        self._callers.clear()
        self._server.close()
        if self._lock is not None:
            self._lock.release()

    def _on_connection(self) -> None:
        socket = self._server.nextPendingConnection()
        if socket is None:
            return
        self._callers.append(socket)
        socket.readyRead.connect(partial(self._read, socket))
        socket.disconnected.connect(partial(self._drop, socket))
        self._read(socket)

    def _drop(self, socket: QLocalSocket) -> None:
        if socket in self._callers:
            self._callers.remove(socket)
            socket.deleteLater()

    def _read(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            if socket.bytesAvailable() > _LONGEST:
                socket.abort()
            return
        folders = _folders(bytes(socket.readLine(_LONGEST).data()))
        socket.write(_READ)
        socket.flush()
        if folders is not None:
            self.called.emit(folders)


def claim(library: Path) -> Instance | None:
    """This process as the first window of ``library``; None when there is one already.

    Where no lock can be had at all (a read-only or odd file system) this window is the first.
    """
    lock = FileLock(library / "window.lock", thread_local=False)
    try:
        library.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        return None
    except (OSError, NotImplementedError) as error:
        log.info("no lock in %s: %s", library, error)
        return Instance(library, None)
    return Instance(library, lock)


def hand_over(library: Path, folders: Sequence[str], within_s: float = ANSWER_WITHIN_S) -> Instance | None:
    """Brings the first window to the front and gives it ``folders``: None.

    This process as the first, where that window has closed in the meantime.

    Raises:
        FoleyError: it neither answers nor closes.
    """
    end = time.monotonic() + within_s
    while True:
        if _told(library, folders):
            return None
        if (instance := claim(library)) is not None:
            return instance
        if time.monotonic() > end:
            raise FoleyError(
                "This library is open in another window, which does not answer.",
                hint="Close that window, or end its process.",
            )
        time.sleep(_TRY_EVERY_S)


def _told(library: Path, folders: Sequence[str]) -> bool:
    socket = QLocalSocket()
    socket.connectToServer(_socket_name(library))
    if not socket.waitForConnected(_WAIT_MS):  # at once where nobody listens
        return False
    # ASCII with escapes, so that names that are not text come through.
    socket.write(json.dumps({"folders": list(folders)}).encode() + b"\n")
    socket.flush()
    end = time.monotonic() + _WAIT_MS / 1000
    while not socket.canReadLine():
        # In short steps: PySide holds the interpreter while it waits.
        if not socket.waitForReadyRead(_STEP_MS) and time.monotonic() > end:
            return False
        time.sleep(_STEP_MS / 1000)
    answered = bytes(socket.readLine().data()) == _READ
    socket.disconnectFromServer()
    return answered


def _folders(line: bytes) -> list[str] | None:
    try:
        wanted = json.loads(line)["folders"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return [folder for folder in wanted if isinstance(folder, str)] if isinstance(wanted, list) else None


def _socket_name(library: Path) -> str:
    """Short, for a socket's path may have a hundred bytes; the same however the folder is spelt."""
    real = os.path.realpath(os.fsencode(library))
    user = str(os.getuid()) if hasattr(os, "getuid") else ""
    return "foley-desktop-" + hashlib.blake2b(real + b"\0" + user.encode(), digest_size=10).hexdigest()
