"""How much sound the headers of AU, CAF and Wave64 files promise, for the badge "cut short".

libsndfile decodes these containers well, but silently: half a file is a shorter file to it, and in
Wave64 it takes bytes behind the sound for more of it.
"""

from __future__ import annotations

import struct
from typing import BinaryIO, NamedTuple

from foley_desktop.audio.splice import Stretch, read_at

_MAX_CHUNKS = 256
_W64_DATA = b"data\xf3\xac\xd3\x11\x8c\xd1\x00\xc0\x4f\x8e\xdb\x8a"


class Promise(NamedTuple):
    """Bytes of sound that a header states, and those that are there.

    ``patch`` is the place of a size field and what it has to say, where libsndfile needs it right.
    """

    promised: int
    present: int
    patch: tuple[int, bytes] | None = None

    @property
    def badge(self) -> str:
        """``truncated``, ``not_finalised`` (the recorder never wrote the size) or nothing."""
        if self.patch is not None and not self.promised:
            return "not_finalised"
        return "truncated" if self.promised > self.present else ""

    @property
    def bytes_of_sound(self) -> int:
        return self.promised or self.present

    def pieces(self, start: int, size: int) -> list[bytes | Stretch]:
        """The file from ``start`` to its ``size`` with the corrected field."""
        if self.patch is None:
            return [Stretch(start, size - start)]
        at, field = self.patch
        behind = at + len(field)
        return [Stretch(start, at - start), field, Stretch(behind, size - behind)]


def read_promise(file: BinaryIO, start: int, size: int) -> Promise | None:
    """The promise of an AU, CAF or Wave64 file that begins at ``start``; None if it makes none."""
    head = read_at(file, start, 24)
    if head[:4] in (b".snd", b"dns.") and len(head) >= 12:
        offset, stated = struct.unpack_from(">II" if head[:4] == b".snd" else "<II", head, 4)
        present = size - start - offset
        patch = None
        if present > 0 and (stated == 0 or present < stated != 0xFFFFFFFF):
            order = ">I" if head[:4] == b".snd" else "<I"
            patch = (start + 8, struct.pack(order, min(present, 0xFFFFFFFF)))
        if stated == 0 and patch:
            return Promise(0, present, patch)
        return _promise(stated if stated != 0xFFFFFFFF else 0, present, patch)
    if head[:4] == b"caff":
        return _caf(file, start + 8, size)
    if head[:4] == b"riff":
        return _w64(file, start + 40, size)
    return None


def _promise(promised: int, present: int, patch: tuple[int, bytes] | None = None) -> Promise | None:
    return Promise(promised, max(0, present), patch) if promised > 0 else None


def _caf(file: BinaryIO, position: int, size: int) -> Promise | None:
    """A CAF data chunk begins with an edit count of 4 bytes; a size of -1 promises nothing."""
    for _ in range(_MAX_CHUNKS):
        head = read_at(file, position, 12)
        if len(head) < 12:
            return None
        stated = struct.unpack(">q", head[4:])[0]
        if head[:4] == b"data":
            present = size - position - 12
            patch = (position + 4, struct.pack(">q", present))
            if 0 <= stated <= 4 < present and not _is_caf_chunk(read_at(file, position + 12 + stated, 12)):
                return Promise(0, present - 4, patch)
            return _promise(stated - 4, present - 4, patch if stated > present >= 4 else None)
        if stated < 0:
            return None
        position += 12 + stated
    return None


def _is_caf_chunk(head: bytes) -> bool:
    """Whether these twelve bytes may begin a chunk: four letters and a size of at most some gigabytes."""
    return len(head) == 12 and all(0x20 <= byte <= 0x7E for byte in head[:4]) and head[4:7] == b"\0\0\0"


def _w64(file: BinaryIO, position: int, size: int) -> Promise | None:
    """A Wave64 chunk's size includes the 24 bytes of its header."""
    for _ in range(_MAX_CHUNKS):
        head = read_at(file, position, 24)
        if len(head) < 24:
            return None
        stated = struct.unpack("<q", head[16:])[0]
        if head[:16] == _W64_DATA:
            present = size - position - 24
            if stated <= 0 < present:
                return Promise(0, present, (position + 16, struct.pack("<q", present + 24)))
            return _promise(stated - 24, present)
        if stated < 24:
            return None
        position += (stated + 7) // 8 * 8
    return None
