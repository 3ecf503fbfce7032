"""How a tagged file is put together: pieces of the old one and bytes of our own, one behind the other.

Each kind of file has a module with two functions. ``rewrite`` says what the new file consists of; what is
not edited stays a stretch of the old file, so that it cannot change. ``fingerprint`` reads a file, old or
new, on its own and says what must be the same in both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, TypeAlias

from foley_desktop.audio.splice import Stretch
from foley_desktop.errors import TagWriteError

Piece: TypeAlias = bytes | Stretch

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The pieces of the new file, and remarks for the user about what did not fit."""

    pieces: Iterable[Piece]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Fingerprint:
    """What editing tags must not change: the sound's bytes, and everything else that is no edited tag."""

    sound: str
    others: list[tuple[bytes, str]] = field(default_factory=list)


def damaged(what: str) -> TagWriteError:
    """The refusal of a file whose structure cannot be trusted."""
    return TagWriteError(
        "damaged", f"Tags are not written into this file: {what}.", hint="Export it into a new file first."
    )


def unsupported(label: str) -> TagWriteError:
    return TagWriteError(
        "unsupported",
        f"Tags cannot be written into {label} files.",
        hint="WAV, AIFF, FLAC, MP3 and Ogg files take them.",
    )


def copied(file: BinaryIO, pieces: Iterable[Piece]) -> Iterator[bytes]:
    """The bytes of the pieces in blocks.

    Raises:
        TagWriteError: the old file ends too early: it was cut meanwhile.
    """
    for piece in pieces:
        if isinstance(piece, Stretch):
            yield from stretch_bytes(file, piece)
        elif piece:
            yield piece


def stretch_bytes(file: BinaryIO, stretch: Stretch) -> Iterator[bytes]:
    """A stretch of a file in blocks; see :func:`copied`."""
    position, left = stretch
    while left:
        file.seek(position)
        block = file.read(min(left, _BLOCK))
        if not block:
            raise TagWriteError("changed", "The file became shorter while it was read.")
        yield block
        position += len(block)
        left -= len(block)


def digest(file: BinaryIO, *stretches: Stretch) -> str:
    """32 hex digits of the bytes in some stretches of a file."""
    found = hashlib.blake2b(digest_size=16)
    for stretch in stretches:
        for block in stretch_bytes(file, stretch):
            found.update(block)
    return found.hexdigest()


def length(pieces: Iterable[Piece]) -> int:
    """Bytes of some pieces."""
    return sum(piece.size if isinstance(piece, Stretch) else len(piece) for piece in pieces)
