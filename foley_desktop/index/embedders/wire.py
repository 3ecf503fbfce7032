"""How the application and its model process talk: framed messages over two pipes.

A message is two lengths, a JSON header and raw float32 numbers. Nothing is ever unpickled, so
neither side can be made to run what the other one sends.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_LENGTHS = struct.Struct("<II")
_MAX_HEADER = 64 << 20
_MAX_PAYLOAD = 1 << 30


Message = tuple[dict[str, Any], np.ndarray]
"""A header and flat float32 numbers."""


class Closed(Exception):
    """The other side is gone, or what it sent is no message."""


def pack(header: Mapping[str, Any], numbers: np.ndarray | None = None) -> bytes:
    """A message as bytes; ``numbers`` are sent flat, as float32."""
    head = json.dumps(header).encode("ascii")
    body = b"" if numbers is None else np.ascontiguousarray(numbers, dtype="<f4").tobytes()
    return _LENGTHS.pack(len(head), len(body)) + head + body


def send(fd: int, message: bytes) -> None:
    """Writes a whole message.

    Raises:
        Closed: when the other side is gone.
    """
    view = memoryview(message)
    try:
        while view:
            view = view[os.write(fd, view[: 1 << 20]) :]
    except (OSError, ValueError) as error:
        raise Closed(str(error)) from error


def receive(fd: int) -> Message:
    """Waits for the next message: its header and its numbers, flat.

    Raises:
        Closed: at the end of the stream or when it holds no message.
    """
    head_size, body_size = _LENGTHS.unpack(_exactly(fd, _LENGTHS.size))
    if head_size > _MAX_HEADER or body_size > _MAX_PAYLOAD or body_size % 4:
        raise Closed("not a message")
    try:
        header = json.loads(_exactly(fd, head_size))
    except ValueError as error:
        raise Closed("not a message") from error
    if not isinstance(header, dict):
        raise Closed("not a message")
    return header, np.frombuffer(_exactly(fd, body_size), dtype="<f4")


def _exactly(fd: int, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    got = 0
    while got < size:
        try:
            part = os.read(fd, min(size - got, 1 << 20))
        except OSError as error:
            raise Closed(str(error)) from error
        if not part:
            raise Closed("end of stream")
        view[got : got + len(part)] = part
        got += len(part)
    return data


def joined(vectors: Mapping[str, np.ndarray]) -> tuple[list[list[Any]], np.ndarray]:
    """Vectors by space as ``[[space, length], …]`` and one flat array."""
    layout = [[space, int(vector.size)] for space, vector in vectors.items()]
    return layout, np.concatenate(list(vectors.values()))


def parted(layout: Sequence[Sequence[Any]], flat: np.ndarray) -> dict[str, np.ndarray]:
    """The inverse of :func:`joined`."""
    out: dict[str, np.ndarray] = {}
    first = 0
    for space, length in layout:
        out[str(space)] = flat[first : first + int(length)].copy()
        first += int(length)
    return out
