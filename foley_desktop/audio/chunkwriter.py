"""Puts WAV and AIFF files together anew, chunk by chunk, with some chunks changed.

Every chunk that is not changed is copied with its header as it stands. What is corrected on the way is
the container alone: its outer size, and a pad byte that was left out. A file whose sound chunk lies about
its size is refused, because no place behind it can be relied on.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from foley_desktop.audio.rewrite import Fingerprint, Piece, damaged, digest, length
from foley_desktop.audio.riff import Container, walk
from foley_desktop.audio.splice import Stretch, read_at
from foley_desktop.errors import TagWriteError

_LIMIT_32 = 0xFFFFFFFF
_HEAD = 8


@dataclass(slots=True)
class Edit:
    """What becomes of a container's chunks.

    ``changed`` gives new payloads by the index of a chunk (None takes it out); ``front`` are new chunks for
    in front of the sound, ``behind`` for the end.
    """

    changed: dict[int, bytes | None] = field(default_factory=dict)
    front: list[tuple[bytes, bytes]] = field(default_factory=list)
    behind: list[tuple[bytes, bytes]] = field(default_factory=list)


def examine(file: BinaryIO, start: int, size: int) -> Container:
    """The chunks of a file that may be rewritten.

    Raises:
        TagWriteError: its sizes cannot be trusted.
    """
    if start:
        raise damaged("other data stands in front of its header")
    container = walk(file, size)
    sound = container.first(container.sound_id)
    if sound is None:
        raise damaged("it has no sound chunk")
    if container.sound_flaw == "not_finalised":
        raise damaged("it was not finalised by its recorder")
    if container.sound_flaw or container.lying_chunk:
        raise damaged("its header promises more than is there")
    if len(container.all(container.sound_id)) > 1:
        raise damaged("it has more than one sound chunk")
    if container.form in (b"RF64", b"BW64") and container.first(b"ds64") is None:
        raise damaged("its 64-bit sizes are missing")
    return container


def assemble(file: BinaryIO, container: Container, edit: Edit) -> list[Piece]:
    """The pieces of the new file, header included.

    Raises:
        TagWriteError: it would outgrow the 4 GiB that its header can state.
    """
    order = ">" if container.big_endian else "<"
    body: list[Piece] = []
    sound_at, sizes_at = 0, None
    for index, chunk in enumerate(container.chunks):
        if chunk.id == container.sound_id:
            sound_at = len(body)
        gap_from = _end_of(file, container, index - 1)
        if chunk.start - _HEAD > gap_from:
            body.append(Stretch(gap_from, chunk.start - _HEAD - gap_from))
        if chunk.id == b"ds64" and sizes_at is None:
            sizes_at = len(body)
            body.append(made(b"ds64", read_at(file, chunk.start, chunk.size), "<"))
        elif index not in edit.changed:
            body.extend(_kept(file, container, index))
        elif (payload := edit.changed[index]) is not None:
            body.append(made(chunk.id, payload, order))
    if sizes_at is not None and sizes_at > sound_at:
        raise damaged("its 64-bit sizes stand behind the sound")
    front = [made(name, payload, order) for name, payload in edit.front]
    body[sound_at:sound_at] = front
    body.extend(made(name, payload, order) for name, payload in edit.behind)
    end = _end_of(file, container, len(container.chunks) - 1)
    loose = Stretch(end, container.file_size - end)
    total = 4 + length(body)
    if container.form in (b"RF64", b"BW64") and sizes_at is not None:
        sizes = body[sizes_at]
        assert isinstance(sizes, bytes)
        if len(sizes) < _HEAD + 16:
            raise damaged("its 64-bit sizes are cut off")
        body[sizes_at] = sizes[:_HEAD] + struct.pack("<Q", total) + sizes[_HEAD + 8 :]
        total = _LIMIT_32
    elif total > _LIMIT_32:
        raise TagWriteError("unsupported", "The file is over 4 GiB, and its header cannot say so.")
    head = container.form + struct.pack(order + "I", total) + container.kind
    return [head, *body, *([loose] if loose.size else [])]


def made(name: bytes, payload: bytes, order: str) -> bytes:
    """A chunk with its header and pad byte."""
    return name + struct.pack(order + "I", len(payload)) + payload + b"\0" * (len(payload) & 1)


def _kept(file: BinaryIO, container: Container, index: int) -> list[Piece]:
    """A chunk as it stands, with the pad byte that it lacks where another one follows."""
    chunk = container.chunks[index]
    whole = Stretch(chunk.start - _HEAD, _end_of(file, container, index) - chunk.start + _HEAD)
    return [whole, b"\0"] if whole.size & 1 else [whole]


def _end_of(file: BinaryIO, container: Container, index: int) -> int:
    """The offset behind a chunk and its pad byte; behind the outer header for -1."""
    if index < 0:
        return 12
    chunk = container.chunks[index]
    end = chunk.start + chunk.size
    following = container.chunks[index + 1].start - _HEAD if index + 1 < len(container.chunks) else None
    if not chunk.size & 1 or end == following or end >= container.file_size:
        return end
    if following is None:
        # Behind the last chunk a pad byte is told from loose bytes by being the only one, or a zero.
        lonely = container.file_size == end + 1 or read_at(file, end, 1) == b"\0"
        return end + 1 if lonely else end
    return end + 1


def fingerprint(file: BinaryIO, container: Container, edited: Mapping[bytes, bytes | None]) -> Fingerprint:
    """The sound's bytes, and the payloads of all chunks but those that hold edited tags.

    Args:
        edited: Ids of chunks that may differ; with the first four bytes of the payload where only such
            chunks may.
    """
    sound = container.first(container.sound_id)
    assert sound is not None
    found = Fingerprint(digest(file, Stretch(sound.start, sound.size)))
    for chunk in container.chunks:
        mark = edited.get(chunk.id, b"")
        may_differ = chunk.id in edited and (not mark or read_at(file, chunk.start, 4) == mark)
        if chunk.id == container.sound_id or may_differ:
            continue
        start, size = chunk.start, chunk.size
        if chunk.id == b"ds64":
            start, size = start + 8, max(0, size - 8)
        found.others.append((chunk.id, digest(file, Stretch(start, size))))
    return found
