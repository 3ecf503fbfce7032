"""A read-only file made of pieces: bytes of our own and stretches of a file on disk.

With it a header that lies can be corrected for libsndfile without touching the user's file and
without reading the sound into memory.
"""

from __future__ import annotations

import io
import os
from bisect import bisect_right
from collections.abc import Sequence
from typing import BinaryIO, NamedTuple


class Stretch(NamedTuple):
    """``size`` bytes from offset ``start`` of the file on disk."""

    start: int
    size: int


class SpliceFile(io.RawIOBase):
    """Bytes and stretches of ``file``, one behind the other, as one seekable file.

    Closes ``file`` with itself unless ``owns`` is False. Never raises from reading: a file that shrank
    or a drive that went away reads as its end, because exceptions cannot pass through a decoder in C.
    """

    def __init__(self, file: BinaryIO, pieces: Sequence[bytes | Stretch], *, owns: bool = True) -> None:
        super().__init__()
        self._owns = owns
        self._file = file
        self._pieces = [piece for piece in pieces if _length(piece)]
        self._starts: list[int] = []
        self._size = 0
        for piece in self._pieces:
            self._starts.append(self._size)
            self._size += _length(piece)
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = min(max(0, base + offset), self._size)
        return self._position

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        view = memoryview(buffer).cast("B")
        done = 0
        while done < len(view) and self._position < self._size:
            got = self._read_piece(view[done:])
            if not got:
                break
            done += got
            self._position += got
        return done

    def _read_piece(self, view: memoryview) -> int:
        """Reads from the one piece at the position, as much as it has."""
        index = bisect_right(self._starts, self._position) - 1
        piece, inside = self._pieces[index], self._position - self._starts[index]
        want = min(len(view), _length(piece) - inside)
        if isinstance(piece, bytes):
            view[:want] = piece[inside : inside + want]
            return want
        try:
            self._file.seek(piece.start + inside)
            data = self._file.read(want)
        except (OSError, ValueError):
            return 0
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed and self._owns:
            self._file.close()
        super().close()


def _length(piece: bytes | Stretch) -> int:
    return piece.size if isinstance(piece, Stretch) else len(piece)


def read_at(file: BinaryIO, offset: int, size: int) -> bytes:
    """Up to ``size`` bytes from ``offset``; fewer at the end or when the drive fails."""
    try:
        file.seek(offset)
        return file.read(size)
    except (OSError, ValueError):
        return b""
