"""Walks the chunks of RIFF, RIFX, RF64, BW64 and AIFF files the way they are found in the wild.

Recorders crash, pipes cannot patch sizes, and many writers forget a pad byte. So nothing here
believes a size: every chunk is cut to the bytes that are there, the next one is looked for where it
can really be, and what was promised is kept beside it. Shared by the decoder and the tag reader.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import BinaryIO

from foley_desktop.audio.splice import read_at

_KNOWN_IDS = (
    b"fmt ", b"data", b"fact", b"LIST", b"bext", b"iXML", b"axml", b"chna", b"id3 ", b"ID3 ", b"cue ",
    b"plst", b"smpl", b"inst", b"acid", b"PEAK", b"JUNK", b"junk", b"FLLR", b"PAD ", b"ds64", b"_PMX",
    b"levl", b"umid", b"cart", b"DISP", b"afsp", b"minf", b"elm1", b"regn", b"SMED", b"LGWV", b"ResU",
    b"strc", b"dbmd", b"link", b"wavl", b"slnt", b"SyLp", b"qlty", b"r64m", b"ovwf", b"AFAn",
    b"COMM", b"SSND", b"FVER", b"NAME", b"AUTH", b"ANNO", b"(c) ", b"MARK", b"INST", b"COMT", b"APPL",
    b"CHAN", b"MIDI", b"AESD", b"SAXL", b"basc", b"trns", b"cate",
)  # fmt: skip
_KNOWN = frozenset(_KNOWN_IDS)
_KNOWN_PATTERN = re.compile(b"|".join(re.escape(name) for name in _KNOWN_IDS))
_PRINTABLE = re.compile(rb"[ -~]{4}")
_PLACEHOLDER = 0x7FFFF000
"""A 32-bit size at or above this, beyond the file's end, was put there to be patched later."""
_UNKNOWN_32 = 0xFFFFFFFF
_MAX_CHUNKS = 4096
_RESYNC_BYTES = 1 << 16
_RESYNC_REACH = 2 << 20
_TAIL_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk: its payload is the ``size`` bytes from ``start`` that are really in the file.

    ``promised`` is the size its header states.
    """

    id: bytes
    start: int
    size: int
    promised: int

    def read(self, file: BinaryIO, limit: int = 16 << 20) -> bytes:
        """The payload, at most ``limit`` bytes of it."""
        return read_at(file, self.start, min(self.size, limit))


@dataclass(slots=True)
class Container:
    """The chunks of a file in file order, and what does not fit.

    ``form`` is ``RIFF``, ``RIFX``, ``RF64``, ``BW64`` or ``FORM``; ``kind`` the four letters behind
    the size (``WAVE``, ``AIFF``, ``AIFC``). ``end`` is the first byte that no chunk accounts for.
    ``sound_flaw`` tells how the sound chunk's size was wrong: ``""``, ``not_finalised`` (a
    placeholder) or ``truncated`` (bytes are missing); ``lying_chunk`` that another one claims more
    than the file has.
    """

    form: bytes
    kind: bytes
    promised: int
    file_size: int
    chunks: list[Chunk] = field(default_factory=list)
    end: int = 12
    sound_flaw: str = ""
    lying_chunk: bool = False
    sizes_64: dict[bytes, int] = field(default_factory=dict)

    @property
    def big_endian(self) -> bool:
        return self.form in (b"FORM", b"RIFX")

    @property
    def sound_id(self) -> bytes:
        return b"SSND" if self.form == b"FORM" else b"data"

    def first(self, name: bytes) -> Chunk | None:
        return next((chunk for chunk in self.chunks if chunk.id == name), None)

    def all(self, *names: bytes) -> list[Chunk]:
        return [chunk for chunk in self.chunks if chunk.id in names]

    @property
    def has_trailing_bytes(self) -> bool:
        """Whether bytes stand behind the end that the outermost size states.

        An outermost size that is a placeholder, or that ends before the sound does, says nothing.
        """
        if self.file_size > self.end:
            return True
        stated = 8 + self.promised
        sound = self.first(self.sound_id)
        if sound is None or stated < sound.start + sound.size:
            return False
        return self.file_size > stated + (stated & 1)


def walk(file: BinaryIO, file_size: int) -> Container:
    """Finds the chunks of a file that begins with one of the known four letters.

    Never raises for what is in the file; a container without chunks comes back empty.
    """
    head = read_at(file, 0, 12).ljust(12, b"\0")
    order = ">" if head[:4] in (b"FORM", b"RIFX") else "<"
    found = Container(head[:4], head[8:12], struct.unpack_from(order + "I", head, 4)[0], file_size)
    position = 12
    while position + 8 <= file_size and len(found.chunks) < _MAX_CHUNKS:
        header = read_at(file, position, 8)
        if len(header) < 8:
            break
        name, promised = header[:4], struct.unpack(order + "I", header[4:])[0]
        if not _plausible(name) or (
            name not in _KNOWN and position + 8 + promised > file_size and _is_id_near(file, position)
        ):
            resumed = _resync(file, position + 1, file_size)
            if resumed is None:
                break
            position = resumed
            continue
        chunk = _measure(file, found, name, position + 8, promised)
        found.chunks.append(chunk)
        if name == b"ds64":
            _read_ds64(file, found, chunk)
        position = _next_header(file, chunk.start + chunk.size, file_size)
        found.end = min(position, file_size)
    if found.first(found.sound_id) is None:
        _rescue_sound(file, found, order)
    _rescue_format(file, found, order)
    return found


def info_items(payload: bytes, order: str = "<") -> list[tuple[bytes, bytes]]:
    """The ``(id, value)`` pairs inside a LIST chunk's payload, its four-letter type left out.

    Values are cut to the bytes present; a missing pad byte is noticed, loose bytes are skipped.
    """
    items: list[tuple[bytes, bytes]] = []
    position = 0
    while len(items) < _MAX_CHUNKS:
        name = _PRINTABLE.search(payload, position)
        if name is None or name.end() + 4 > len(payload):
            break
        size = struct.unpack_from(order + "I", payload, name.end())[0]
        end = name.end() + 4 + size
        items.append((name[0], payload[name.end() + 4 : end]))
        # A pad byte that is itself the first letter of an id is no pad byte.
        padded = size & 1 and not _item_at(payload, end, order)
        position = end + (1 if padded else 0)
    return items


def _item_at(payload: bytes, position: int, order: str) -> bool:
    """Whether an item that fits into the payload begins here rather than one byte later."""

    def fits(at: int) -> bool:
        if at + 8 > len(payload) or not _plausible(payload[at : at + 4]):
            return False
        return at + 8 + struct.unpack_from(order + "I", payload, at + 4)[0] <= len(payload)

    return fits(position) and not fits(position + 1)


def _plausible(name: bytes) -> bool:
    return len(name) == 4 and all(0x20 <= byte <= 0x7E for byte in name)


def _measure(file: BinaryIO, found: Container, name: bytes, start: int, promised: int) -> Chunk:
    """Cuts a chunk to what is there; the sound chunk's size is worked out afresh if it lies."""
    if promised == _UNKNOWN_32 and name in found.sizes_64:
        promised = found.sizes_64[name]
    present = found.file_size - start
    order = ">" if found.big_endian else "<"
    if name != found.sound_id or found.first(name) is not None:
        if promised <= present:
            return Chunk(name, start, promised, promised)
        # Searched once in a file: behind the first lie everything may be one.
        tail = found.file_size if found.lying_chunk else _tail_start(file, start, found.file_size, order)
        found.lying_chunk = True
        return Chunk(name, start, tail - start, promised)
    if present >= 1 << 32 and found.form in (b"RIFF", b"RIFX", b"FORM"):
        return _measure_wrapped(file, found, start, promised, order)
    if 0 < promised <= present:
        return Chunk(name, start, promised, promised)
    if promised == 0 and (present == 0 or _is_chain(file, start, found.file_size, order)):
        return Chunk(name, start, 0, 0)
    size = _tail_start(file, start, found.file_size, order) - start
    found.sound_flaw = "not_finalised" if promised == 0 or promised >= _PLACEHOLDER else "truncated"
    if found.form in (b"RF64", b"BW64") and promised not in (0, _UNKNOWN_32):
        found.sound_flaw = "truncated"
    return Chunk(name, start, size, promised)


def _measure_wrapped(file: BinaryIO, found: Container, start: int, promised: int, order: str) -> Chunk:
    """The sound chunk of a file over 4 GiB whose 32-bit size has wrapped, or never was patched."""
    present = found.file_size - start
    behind = (present - promised) % (1 << 32)
    if behind <= _TAIL_BYTES and promised != _UNKNOWN_32:
        return Chunk(found.sound_id, start, present - behind, promised)
    found.sound_flaw = "not_finalised"
    size = _tail_start(file, start, found.file_size, order) - start
    return Chunk(found.sound_id, start, size, promised)


def _read_ds64(file: BinaryIO, found: Container, chunk: Chunk) -> None:
    """64-bit sizes of RF64 (EBU Tech 3306): riff, data, sample count, then a table of others."""
    payload = chunk.read(file, 1 << 16)
    if len(payload) < 16:
        return
    riff, data = struct.unpack_from("<QQ", payload)
    found.sizes_64[b"data"] = data
    if found.promised == _UNKNOWN_32:
        found.promised = riff
    if len(payload) < 28:
        return
    count = struct.unpack_from("<I", payload, 24)[0]
    for index in range(min(count, (len(payload) - 28) // 12)):
        name, size = struct.unpack_from("<4sQ", payload, 28 + 12 * index)
        found.sizes_64.setdefault(name, size)


def _next_header(file: BinaryIO, end: int, file_size: int) -> int:
    """Where the chunk behind a payload's end begins: at the end, or one pad byte later.

    Known names decide, whatever the sizes' parity; between two strangers the rule (pad odd offsets)
    holds unless a letter stands where the pad byte should be.
    """
    if end >= file_size:
        return end
    peek = read_at(file, end, 5)
    here, later = peek[:4], peek[1:5]
    if here in _KNOWN:
        return end
    if later in _KNOWN:
        return end + 1
    if not end & 1:
        return end
    return end if _plausible(here) and peek[:1].isalpha() else end + 1


def _resync(file: BinaryIO, position: int, file_size: int) -> int | None:
    """The next known chunk that fits into the file, within a bounded stretch."""
    # Zeros are stepped over farther: some recorders leave hundreds of kilobytes of them.
    stretch = read_at(file, position, _RESYNC_REACH)
    zeros = len(stretch) - len(stretch.lstrip(b"\0"))
    match = _KNOWN_PATTERN.search(stretch, zeros, zeros + _RESYNC_BYTES)
    if match is None or position + match.start() + 8 > file_size:
        return None
    return position + match.start()


def _is_id_near(file: BinaryIO, position: int) -> bool:
    """Whether a known chunk begins within what was taken for the header of another one."""
    return _KNOWN_PATTERN.search(read_at(file, position + 1, 10)) is not None


def _is_chain(
    file: BinaryIO, position: int, file_size: int, order: str, dead: set[int] | None = None
) -> bool:
    """Whether known chunks follow one another from here to the very end of the file.

    ``dead`` collects places from which they do not, so that many attempts share what they found out.
    """
    dead = set() if dead is None else dead
    while position not in dead and len(dead) < _MAX_CHUNKS:
        dead.add(position)
        header = read_at(file, position, 8)
        if len(header) < 8 or header[:4] not in _KNOWN:
            return False
        end = position + 8 + struct.unpack(order + "I", header[4:])[0]
        if end == file_size or (end & 1 and end + 1 == file_size):
            return True
        if end > file_size:
            return False
        position = _next_header(file, end, file_size)
    return False


def _tail_start(file: BinaryIO, start: int, file_size: int, order: str) -> int:
    """Where the chunks behind a sound of unknown size begin; the file's end if there are none."""
    window = max(start, file_size - _TAIL_BYTES)
    dead: set[int] = set()
    for match in _KNOWN_PATTERN.finditer(read_at(file, window, file_size - window)):
        if _is_chain(file, window + match.start(), file_size, order, dead):
            return window + match.start()
    return file_size


def _rescue_sound(file: BinaryIO, found: Container, order: str) -> None:
    """A chunk whose size swallowed the sound chunk: look for its name in the first stretch behind it."""
    for chunk in list(found.chunks):
        if chunk.id in (b"fmt ", b"COMM") and chunk.promised <= chunk.size:
            continue
        stretch = read_at(file, chunk.start, _RESYNC_BYTES)
        at = stretch.find(found.sound_id)
        if at < 0 or at + 8 > len(stretch):
            continue
        # Chunks that lie within one another cannot be put together anew.
        found.lying_chunk = True
        described = b"COMM" if found.form == b"FORM" else b"fmt "
        place = stretch.rfind(described, 0, at)
        if found.first(described) is None and 0 <= place <= at - 8:
            size = struct.unpack_from(order + "I", stretch, place + 4)[0]
            present = min(size, at - place - 8)
            found.chunks.append(Chunk(described, chunk.start + place + 8, present, size))
        promised = struct.unpack_from(order + "I", stretch, at + 4)[0]
        found.chunks.append(_measure(file, found, found.sound_id, chunk.start + at + 8, promised))
        found.end = found.file_size
        return


def _rescue_format(file: BinaryIO, found: Container, order: str) -> None:
    """The same for the description of the format."""
    name = b"COMM" if found.form == b"FORM" else b"fmt "
    sound = found.first(found.sound_id)
    if sound is None or found.first(name) is not None:
        return
    for chunk in list(found.chunks):
        stretch = (
            read_at(file, chunk.start, min(chunk.size + 8, _RESYNC_BYTES)) if chunk is not sound else b""
        )
        at = stretch.rfind(name)
        if at < 0 or at + 8 > len(stretch):
            continue
        size = struct.unpack_from(order + "I", stretch, at + 4)[0]
        if 14 <= size <= 1 << 12:
            start = chunk.start + at + 8
            found.chunks.append(Chunk(name, start, min(size, found.file_size - start), size))
            found.lying_chunk = True
            return
