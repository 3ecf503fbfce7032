"""Small files about clips, kept under the hash of their audio: waveforms, loudness, spectrograms.

All of them can be made again from the audio, so the least recently used go when the folder outgrows its
limit, a damaged one counts as absent, and a folder that cannot be written to costs speed and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

Buffer: TypeAlias = bytes | memoryview
DEFAULT_CACHE_BYTES = 2 << 30
KINDS = ("peaks", "loudness", "spectrogram")


class ClipCache:
    """One file a clip and kind; thread-safe.

    The key is the clip's audio hash, so a changed file never meets what was known of the old one.
    """

    def __init__(self, folder: Path, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._total: int | None = None

    def load_bytes(self, key: str, kind: str, limit: int = -1) -> bytes | None:
        """What is stored, or its first ``limit`` bytes; None where nothing is. Marks its use."""
        file = self._file(key, kind)
        try:
            with file.open("rb") as opened:
                data = opened.read(limit)
        except OSError:
            return None
        with contextlib.suppress(OSError):  # a read-only folder may refuse
            os.utime(file)
        return data

    def store_bytes(self, key: str, kind: str, *data: Buffer) -> None:
        """Keeps ``data``, one piece after the other. Does nothing where the folder cannot be written to."""
        file = self._file(key, kind)
        part = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}.part")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as opened:
                for piece in data:
                    opened.write(piece)
                size = opened.tell()
            os.replace(part, file)
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink()
            return
        self._make_room(size)

    def _file(self, key: str, kind: str) -> Path:
        if not key or not key.isascii() or not key.isalnum():
            raise ValueError(f"not an audio hash: {key!r}")
        return self._folder / key[:2] / f"{key}.{kind}"

    def _make_room(self, added: int) -> None:
        """Deletes the least recently used files down to nine tenths once the limit is passed."""
        with self._lock:
            if self._total is not None:
                self._total += added
            if self._total is not None and self._total <= self._max_bytes:
                return
            files = sorted(self._entries())
            self._total = sum(size for _, size, _ in files)
            if self._total <= self._max_bytes:
                return
            for _, size, file in files[:-1]:  # the newest stays, even when it alone is too big
                if self._total <= self._max_bytes * 0.9:
                    break
                with contextlib.suppress(OSError):
                    file.unlink()
                    self._total -= size

    def _entries(self) -> Iterator[tuple[int, int, Path]]:
        for kind in KINDS:
            for file in self._folder.glob(f"*/*.{kind}"):
                with contextlib.suppress(OSError):
                    status = file.stat()
                    yield status.st_mtime_ns, status.st_size, file
