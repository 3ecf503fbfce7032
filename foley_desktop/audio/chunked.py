"""WAV and AIFF as libsndfile needs them: what the header says, what is true, and a corrected header.

libsndfile plays a file as it is whenever its answer agrees with the bytes present; otherwise it is
handed a small true header of our own in front of the untouched sound.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import BinaryIO

from foley_desktop.audio.riff import Chunk, Container, walk
from foley_desktop.audio.splice import Stretch, read_at
from foley_desktop.errors import AudioFileError

_MAX_CHANNELS = 1024
_RATES = range(100, 100_000_000)
"""Hz. Outside of it a rate is damage: no recorder has it, and resampling from it would never end."""
_PCM_TAG = 0x0001
_PCM_TAGS = {_PCM_TAG, 0x0003, 0x0006, 0x0007}
_EXTENSIBLE = 0xFFFE
_GSM_TAG = 0x0031
_ADPCM_TAGS = {0x0002, 0x0011}
_LOOK_SAMPLES = 1 << 16
_MPEG_TAGS = {0x0050, 0x0055}
_KNOWN_TAGS = _PCM_TAGS | {0x0002, 0x0011, 0x0031, 0x0038, 0x0040, 0x0045, 0x0050, 0x0055, _EXTENSIBLE}
_FFMPEG_TAGS = {0x0020, 0x028F, 0x2000, 0xF1AC}
"""What FFmpeg decodes out of WAV and libsndfile does not: Yamaha ADPCM, G.722, AC-3, FLAC."""
_TAG_NAMES = {
    0x0000: "an unnamed codec",
    0x0022: "TrueSpeech",
    0x0042: "G.723.1",
    0x0050: "MPEG layer 2",
    0x0092: "Dolby AC-3",
    0x00FF: "AAC",
    0x0130: "ACELP",
    0x0160: "Windows Media Audio",
    0x0161: "Windows Media Audio",
    0x0162: "Windows Media Audio Pro",
    0x0163: "Windows Media Audio Lossless",
    0x0164: "Windows Media Audio over S/PDIF",
    0x0270: "ATRAC3",
    0x2000: "Dolby AC-3",
    0x2001: "DTS",
    0x566F: "Vorbis in WAV",
    0x674F: "Vorbis in WAV",
    0x6771: "Vorbis in WAV",
    0xF1AC: "FLAC in WAV",
}
_MEDIA_GUID_TAIL = bytes.fromhex("0000 0000 1000 8000 00aa 0038 9b71".replace(" ", ""))
_AMBISONIC_GUID_TAIL = bytes.fromhex("0000 2107 d311 8644 c8c1 ca00 0000".replace(" ", ""))
_AIFF_PCM_BYTES = {
    **dict.fromkeys((b"ulaw", b"ULAW", b"alaw", b"ALAW"), 1),
    b"raw ": 1,
    **dict.fromkeys((b"in24", b"ni24", b"42ni"), 3),
    **dict.fromkeys((b"fl32", b"FL32", b"in32", b"ni32", b"23ni"), 4),
    **dict.fromkeys((b"fl64", b"FL64"), 8),
}
_AIFF_AS = {
    **dict.fromkeys((b"ni24", b"42ni"), (b"sowt", 24)),
    **dict.fromkeys((b"ni32", b"23ni"), (b"sowt", 32)),
    b"in24": (b"twos", 24),
    b"in32": (b"twos", 32),
    b"raw ": (b"raw ", 8),
}
"""Codecs that libsndfile reads under another name, and the bits that the header has to state for it."""
_AIFF_PLAIN = {b"NONE", b"none", b"twos", b"sowt"}
_AIFF_OTHERS = {b"ima4", b"GSM ", b"agsm", b"DWVW"}


@dataclass(frozen=True, slots=True)
class Layout:
    """What the chunks of a WAV or AIFF file come to.

    ``frames`` is the true count for uncompressed sound and None where only decoding tells; ``limit`` is
    where a block codec must stop (libsndfile decodes a byte of padding as one more block); ``pieces``
    is the same sound behind a correct header; ``known_codec`` says whether libsndfile should be able to
    decode it, ``codec`` names it for people. ``stream`` is the stretch with the sound and
    ``stream_kind`` what stands in it if that is a stream of its own (``mpeg``, ``ogg``); ``for_ffmpeg`` a
    codec that is left to FFmpeg.
    """

    frames: int | None
    limit: int | None
    pieces: tuple[bytes | Stretch, ...]
    badges: tuple[str, ...]
    known_codec: bool
    codec: str
    sizes_lie: bool
    stream: Stretch | None = None
    stream_kind: str = ""
    for_ffmpeg: bool = False


def read_layout(file: BinaryIO, size: int) -> Layout:
    """Understands a file that begins like WAV or AIFF.

    Raises:
        AudioFileError: ``corrupt_header`` when it lacks what every such file has or holds impossible
            values; ``empty`` when there is a header and no sound.
    """
    container = walk(file, size)
    return _aiff(file, container) if container.form == b"FORM" else _wav(file, container)


def _corrupt(what: str) -> AudioFileError:
    return AudioFileError("corrupt_header", f"The file's header is damaged: {what}.")


def _check(channels: int, samplerate: float) -> None:
    if not 1 <= channels <= _MAX_CHANNELS:
        raise _corrupt(f"it claims {channels} channels")
    if not samplerate < _RATES.stop or int(samplerate) not in _RATES:
        raise _corrupt(f"it claims a sample rate of {samplerate:g} Hz")


def _badges(container: Container, *more: str) -> tuple[str, ...]:
    found = [*more]
    if container.sound_flaw:
        found.insert(0, container.sound_flaw)
    if container.has_trailing_bytes:
        found.append("trailing_bytes")
    return tuple(dict.fromkeys(found))


# --- WAV ---------------------------------------------------------------------------------------


def _wav(file: BinaryIO, container: Container) -> Layout:
    order = ">" if container.big_endian else "<"
    chunk, data = container.first(b"fmt "), container.first(b"data")
    if chunk is None or chunk.size < 14 or chunk.size < min(chunk.promised, 16):
        raise _corrupt("the description of the format is missing or cut off")
    fmt = chunk.read(file, 1 << 12)
    tag, channels, rate, _, align = struct.unpack_from(order + "HHIIH", fmt)
    bits = struct.unpack_from(order + "H", fmt, 14)[0] if len(fmt) >= 16 else 8
    _check(channels, rate)
    real_tag, known = _real_tag(fmt, tag, order)
    if data is None:
        raise _corrupt("there is no sound data behind it")
    wide = 0
    if real_tag == _PCM_TAG and order == "<" and len(fmt) >= 16:
        wide = _container_bytes(file, data, channels, bits, align)
    if wide:
        bits = 8 * wide
        fmt = fmt[:14] + struct.pack("<H", bits) + fmt[16:]
    frame_bytes = _frame_bytes(channels, bits, align) if real_tag in _PCM_TAGS else None
    if data.size == 0 or (frame_bytes and data.size < frame_bytes):
        raise AudioFileError("empty", "The file has a header but no sound.")
    frames, extra = None, []
    if frame_bytes:
        frames = data.size // frame_bytes
        if data.size % frame_bytes and not container.sound_flaw:
            extra.append("truncated")
    if not container.sound_flaw and container.promised == 0 and container.form in (b"RIFF", b"RIFX"):
        extra.append("not_finalised")
    return Layout(
        frames=frames,
        limit=_limit(file, container, data, fmt, real_tag),
        pieces=_wav_pieces(file, container, fmt, data, frame_bytes),
        badges=_badges(container, *extra),
        known_codec=known,
        codec=_TAG_NAMES.get(real_tag, f"codec 0x{real_tag:04X}"),
        sizes_lie=bool(container.sound_flaw or wide),
        stream=Stretch(data.start, data.size),
        stream_kind=_stream_kind(file, real_tag, data),
        for_ffmpeg=real_tag in _FFMPEG_TAGS,
    )


def _limit(file: BinaryIO, container: Container, data: Chunk, fmt: bytes, tag: int) -> int | None:
    """Frames after which a block codec's padding follows. Of ADPCM the fact chunk tells, if it is credible:
    the sound then ends within the last block."""
    if tag == _GSM_TAG and data.size >= 65:
        return data.size // 65 * 320
    fact = container.first(b"fact")
    if tag not in _ADPCM_TAGS or fact is None or fact.size < 4 or len(fmt) < 20:
        return None
    order = ">" if container.big_endian else "<"
    align, samples = struct.unpack_from(order + "H", fmt, 12)[0], struct.unpack_from(order + "H", fmt, 18)[0]
    stated = struct.unpack(order + "I", fact.read(file, 4))[0]
    blocks = data.size // align if align else 0
    return stated if blocks > 1 and (blocks - 1) * samples < stated <= blocks * samples else None


def _container_bytes(file: BinaryIO, data: Chunk, channels: int, bits: int, align: int) -> int:
    """The bytes of a sample that is kept in more of them than its bits need, 24 bits in 4 for instance.

    0 when it is not, or when only a wrong block align says so: bytes that are no part of a sample are 0.
    """
    least, wide = (bits + 7) // 8, align // channels
    if align % channels or not least < wide <= 4 or least == 1:
        return 0
    if not bits:
        return wide
    end = data.start + data.size - data.size % wide
    for start in range(data.start, end, wide * _LOOK_SAMPLES):
        sound = read_at(file, start, min(end - start, wide * _LOOK_SAMPLES))
        if sound.strip(b"\0"):
            return 0 if any(any(sound[byte::wide]) for byte in range(wide - least)) else wide
    return 0


def _stream_kind(file: BinaryIO, tag: int, data: Chunk) -> str:
    if tag in _MPEG_TAGS:
        return "mpeg"
    return "ogg" if tag not in _KNOWN_TAGS and read_at(file, data.start, 4) == b"OggS" else ""


def _real_tag(fmt: bytes, tag: int, order: str) -> tuple[int, bool]:
    """The codec's tag, taken out of WAVE_FORMAT_EXTENSIBLE's GUID, and whether it is one we know."""
    if tag != _EXTENSIBLE or len(fmt) < 40:
        return tag, tag in _KNOWN_TAGS
    inner = struct.unpack_from(order + "H", fmt, 24)[0]
    tail = fmt[26:40]
    known = inner in _KNOWN_TAGS and tail in (_MEDIA_GUID_TAIL, _AMBISONIC_GUID_TAIL)
    return inner, known


def _frame_bytes(channels: int, bits: int, align: int) -> int | None:
    """Bytes of one frame; by the block align if it can be right, else by the bits of a sample."""
    if align and align % channels == 0 and align // channels <= 8:
        return align
    width = (bits + 7) // 8
    return width * channels if 1 <= width <= 8 else None


def _wav_pieces(
    file: BinaryIO, container: Container, fmt: bytes, data: Chunk, frame_bytes: int | None
) -> tuple[bytes | Stretch, ...]:
    order = ">" if container.big_endian else "<"
    size = data.size - data.size % frame_bytes if frame_bytes else data.size
    head = b"WAVE" + _chunk(b"fmt ", fmt, order)
    fact = container.first(b"fact")
    if fact is not None and frame_bytes is None:
        head += _chunk(b"fact", fact.read(file, 64), order)
    whole = len(head) + 8 + size
    if whole < 0xFFFFFFF0:
        form = b"RIFX" if container.big_endian else b"RIFF"
        header = form + struct.pack(order + "I", whole) + head + b"data" + struct.pack(order + "I", size)
    else:
        ds64 = struct.pack("<QQQI", whole + 36, size, size // (frame_bytes or 1), 0)
        head = b"WAVE" + _chunk(b"ds64", ds64, "<") + head[4:]
        header = b"RF64" + struct.pack("<I", 0xFFFFFFFF) + head + b"data" + struct.pack("<I", 0xFFFFFFFF)
    return header, Stretch(data.start, size)


def _chunk(name: bytes, payload: bytes, order: str) -> bytes:
    return name + struct.pack(order + "I", len(payload)) + payload + b"\0" * (len(payload) & 1)


# --- AIFF --------------------------------------------------------------------------------------


def _aiff(file: BinaryIO, container: Container) -> Layout:
    chunk, sound = container.first(b"COMM"), container.first(b"SSND")
    if chunk is None or chunk.size < 18:
        raise _corrupt("the description of the format is missing or cut off")
    comm = chunk.read(file, 1 << 12)
    channels, promised, bits = struct.unpack_from(">hIh", comm)
    rate = _extended(comm[8:18])
    _check(channels, rate)
    codec = comm[18:22] if container.kind == b"AIFC" and len(comm) >= 22 else b"NONE"
    if sound is None or sound.size <= 8:
        if promised == 0 or sound is not None:
            raise AudioFileError("empty", "The file has a header but no sound.")
        raise _corrupt("there is no sound data behind it")
    offset = struct.unpack(">I", sound.read(file, 4))[0]
    start = sound.start + 8 + (offset if offset < sound.size - 8 else 0)
    present = sound.start + sound.size - start
    width = _AIFF_PCM_BYTES.get(codec) or ((bits + 7) // 8 if codec in _AIFF_PLAIN and 1 <= bits <= 32 else 0)
    frames, extra = None, []
    if width:
        held = present // (width * channels)
        if held == 0:
            raise AudioFileError("empty", "The file has a header but no sound.")
        frames = min(promised, held) or held
        if promised > held and not container.sound_flaw:
            extra.append("truncated")
        if promised == 0 and not container.sound_flaw:
            extra.append("not_finalised")
        comm = comm[:2] + struct.pack(">I", frames) + comm[6:]
    renamed = _AIFF_AS.get(codec)
    if renamed:
        comm = comm[:6] + struct.pack(">h", renamed[1]) + comm[8:18] + renamed[0] + comm[22:]
    head = container.kind + _chunk(b"COMM", comm, ">")
    head += b"SSND" + struct.pack(">III", present + 8, 0, 0)
    header = b"FORM" + struct.pack(">I", (len(head) + present) & 0xFFFFFFFF) + head
    return Layout(
        frames=frames,
        limit=None,
        pieces=(header, Stretch(start, present)),
        badges=_badges(container, *extra),
        known_codec=bool(width) or codec in _AIFF_OTHERS,
        codec=f"codec {codec.decode('latin-1').strip()!r}",
        sizes_lie=bool(container.sound_flaw or renamed) or promised == 0,
    )


def _extended(raw: bytes) -> float:
    """An 80-bit IEEE 754 number, as AIFF keeps its sample rate; 0 for what is none."""
    exponent, mantissa = struct.unpack(">HQ", raw)
    if exponent & 0x8000 or exponent == 0x7FFF:
        return 0.0
    try:
        return mantissa * 2.0 ** (exponent - 16383 - 63)
    except OverflowError:
        return 0.0
