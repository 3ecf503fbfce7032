"""One request for a file over http, read in a thread of its own.

A server that falls silent, or does not answer at all, holds up neither the caller nor a cancellation: the
caller looks into a short queue, and closing shuts the socket down under the thread.
"""

from __future__ import annotations

import contextlib
import http.client
import queue
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Generator
from dataclasses import dataclass
from typing import IO, Any

from foley_desktop.errors import DownloadError
from foley_desktop.library.meter import Meter
from foley_desktop.models import Progress

_CHUNK = 256 << 10
_BUFFERED = 16
_POLL_S = 0.1


class Lost(Exception):
    """The connection broke off or fell silent; it may be worth another attempt."""


class Unfit(Lost):
    """What was fetched is no part of the file that the server has now."""


@dataclass(frozen=True, slots=True)
class Answer:
    """``resumed`` means that only the missing part comes; ``total`` bytes is the whole file."""

    resumed: bool
    total: int
    validator: str | None


class Connection:
    """One request, read by a thread of its own into a short queue. Close it."""

    def __init__(self, address: str, start: int, validator: str | None, silence_s: float) -> None:
        if urllib.parse.urlsplit(address).scheme not in ("http", "https"):
            raise DownloadError("The address has to begin with https:// or http://.")
        headers = {"Accept-Encoding": "identity", "User-Agent": "foley-desktop"}
        if start:
            headers["Range"] = f"bytes={start}-"
            if validator:
                headers["If-Range"] = validator
        self._request = urllib.request.Request(address, headers=headers)
        self._silence_s = silence_s
        self._queue: queue.Queue[Any] = queue.Queue(_BUFFERED)
        self._closed = threading.Event()
        self._sockets: list[socket.socket] = []
        self._thread = threading.Thread(target=self._read, name="download", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the thread, also one that waits for a silent server."""
        self._closed.set()
        while self._thread.is_alive():
            for open_socket in list(self._sockets):
                with contextlib.suppress(OSError):
                    open_socket.shutdown(socket.SHUT_RDWR)
            with contextlib.suppress(queue.Empty):
                self._queue.get_nowait()
            self._thread.join(0.02)
            if not self._sockets:
                return  # still looking for the server, which cannot be cut short; it ends by itself

    def answer(self, held: int, size: int | None) -> Generator[Progress, None, Answer]:
        """What the server has to say of the file; ``held`` bytes of it are there already.

        Raises:
            DownloadError: it refuses.
            Lost: it cannot be reached, or does not answer.
        """
        response = yield from self._next(Progress(held, size or 0, "Connecting"))
        return _understood(response, held)

    def chunk(self, meter: Meter) -> Generator[Progress, None, bytes]:
        """The next bytes.

        Raises:
            Lost: there are none though there should be.
        """
        chunk = yield from self._next(meter)
        if not chunk:
            raise Lost("the connection ended early")
        return bytes(chunk)

    def _next(self, shown: Progress | Meter) -> Generator[Progress, None, Any]:
        since = time.monotonic()
        while True:
            try:
                item = self._queue.get(timeout=_POLL_S)
            except queue.Empty:
                if time.monotonic() - since > self._silence_s:
                    raise Lost("the server fell silent") from None
                yield shown if isinstance(shown, Progress) else shown.step(0)
                continue
            if isinstance(item, Exception):
                raise item
            return item

    # --- in the thread

    def _read(self) -> None:
        try:
            opener = _opener(self._sockets)
            with opener.open(self._request, timeout=self._silence_s) as response:
                self._put(response)
                while not self._closed.is_set():
                    chunk = response.read1(_CHUNK)
                    self._put(chunk)
                    if not chunk:
                        return
        except urllib.error.HTTPError as error:
            self._put(_refusal(error))
        except urllib.error.URLError as error:
            self._put(_failure(error.reason))
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._put(Lost(f"{type(error).__name__}: {error}"))

    def _put(self, item: Any) -> None:
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._queue.put(item, timeout=_POLL_S)
                return


def _opener(sockets: list[socket.socket]) -> urllib.request.OpenerDirector:
    """Opens http and https alone, and notes the sockets so that they can be shut down."""

    def noting(kind: type[http.client.HTTPConnection]) -> Any:
        class Noting(kind):  # type: ignore[valid-type, misc]
            def connect(self) -> None:
                super().connect()
                sockets.append(self.sock)

        return Noting

    class Http(urllib.request.HTTPHandler):
        def http_open(self, request: urllib.request.Request) -> Any:
            return self.do_open(noting(http.client.HTTPConnection), request)

    class Https(urllib.request.HTTPSHandler):
        def https_open(self, request: urllib.request.Request) -> Any:
            return self.do_open(noting(http.client.HTTPSConnection), request)

    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(), Http(), Https(), _Redirects(),
        urllib.request.HTTPDefaultErrorHandler(), urllib.request.HTTPErrorProcessor(),
    ):  # fmt: skip
        opener.add_handler(handler)
    return opener


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never from a protected connection to an open one."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        scheme = urllib.parse.urlsplit(newurl).scheme
        if scheme not in ("http", "https") or (req.type == "https" and scheme != "https"):
            raise urllib.error.URLError(DownloadError("The server redirects to an address that is not safe."))
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _failure(reason: object) -> Exception:
    if isinstance(reason, DownloadError):
        return reason
    if isinstance(reason, ssl.SSLCertVerificationError):
        return DownloadError("The server cannot prove who it is: its certificate is not valid.", cause=reason)
    return Lost(str(reason))


def _refusal(error: urllib.error.HTTPError) -> Exception:
    error.close()
    if error.code == 416:
        return Unfit("the server's file is shorter than what was fetched")
    if error.code in (408, 425, 429) or error.code >= 500:
        return Lost(f"HTTP status {error.code}")
    if error.code in (404, 410):
        return DownloadError("The server does not have this file.", hint="Check the address.", cause=error)
    if error.code in (401, 403, 407):
        return DownloadError("The server does not allow this file to be fetched.", cause=error)
    return DownloadError(f"The server refused: {error.code} {error.reason}.", cause=error)


def _understood(response: Any, held: int) -> Answer:
    headers = response.headers
    validator = headers.get("ETag") or headers.get("Last-Modified")
    if validator and validator.startswith("W/"):
        validator = None  # says that a file means the same, not that it is the same
    if headers.get("Content-Encoding", "identity") != "identity":
        raise DownloadError("The server sends the file in another encoding than it is wanted in.")
    if response.status == 206:
        unit, _, rest = headers.get("Content-Range", "").partition(" ")
        span, _, whole = rest.partition("/")
        if unit == "bytes" and span.startswith(f"{held}-") and whole.isdigit():
            return Answer(True, int(whole), validator)
        raise DownloadError("The server sent another part of the file than was asked for.")
    length = headers.get("Content-Length", "")
    if not length.isdigit():
        raise DownloadError("The server does not say how long the file is, so that a cut would not show.")
    return Answer(False, int(length), validator)
