"""A server on this machine that serves one file, well or badly."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class FileServer:
    """What it serves and how; ``requests`` notes the Range header of every request."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.etag: str | None = '"1"'
        self.cut_after: int | None = None
        self.silent_after: int | None = None
        self.status: int | None = None
        self.redirect: str | None = None
        self.without_length = False
        self.pause_s = 0.0
        self.address = ""
        self.requests: list[str | None] = []
        self.done = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    serves: FileServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        what = self.serves
        what.requests.append(self.headers.get("Range"))
        if what.redirect and self.path != "/moved":
            self._head(302, {"Location": what.redirect, "Content-Length": "0"})
        elif what.status:
            self._head(what.status, {"Content-Length": "0"})
        else:
            self._serve(what)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _serve(self, what: FileServer) -> None:
        start = 0
        asked = self.headers.get("Range")
        if asked and self.headers.get("If-Range", what.etag) == what.etag:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start > len(what.content):
            self._head(416, {"Content-Length": "0"})
            return
        body = what.content[start:]
        headers = {} if what.without_length else {"Content-Length": str(len(body))}
        if what.etag:
            headers["ETag"] = what.etag
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(what.content) - 1}/{len(what.content)}"
        self._head(206 if start else 200, headers)
        self._send(what, body)

    def _send(self, what: FileServer, body: bytes) -> None:
        sent = 0
        for first in range(0, len(body), 1 << 14):
            if what.cut_after is not None and sent >= what.cut_after:
                return
            if what.silent_after is not None and sent >= what.silent_after:
                what.done.wait(20)
                return
            try:
                self.wfile.write(body[first : first + (1 << 14)])
                self.wfile.flush()
            except OSError:
                return
            sent += 1 << 14
            time.sleep(what.pause_s)


@contextmanager
def serving(content: bytes) -> Iterator[FileServer]:
    """Runs a server until the block ends."""
    what = FileServer(content)
    handler = type("Handler", (_Handler,), {"serves": what})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = False
    what.address = f"http://127.0.0.1:{server.server_port}/weights.pt"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield what
    finally:
        what.done.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serving_folder(files: Mapping[str, Path]) -> Iterator[str]:
    """Serves files by path, plainly; the address of the server."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            file = files.get(self.path)
            self.send_response(200 if file else 404)
            self.send_header("Content-Length", str(file.stat().st_size if file else 0))
            self.end_headers()
            if file:
                with open(file, "rb") as opened:
                    shutil.copyfileobj(opened, self.wfile)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
