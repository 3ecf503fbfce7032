"""An X server of a test's own, for windows that are driven with a real pointer and real keys."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def x_server(size: str = "1400x900") -> Iterator[str]:
    """The display, such as ``:99``, of an Xvfb that ends with the context. Skips where none starts."""
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{size}x24", "-nolisten", "tcp"],
        pass_fds=[writer],
        stderr=subprocess.DEVNULL,
    )
    try:
        os.close(writer)
        with os.fdopen(reader) as said:
            number = said.readline().strip()
        if not number:
            pytest.skip("no X server could be started")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(10)
