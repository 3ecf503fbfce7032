"""Sound files built byte by byte, as broken as a test wants them.

``TONE`` is the sound in nearly all of them: 2400 frames of mono at 48 kHz whose peak is 0.5.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

RATE = 48000
FRAMES = 2400
TONE = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(FRAMES) / RATE)
BEXT_TIME_REFERENCE = 3600 * RATE
MEDIA_GUID = bytes.fromhex("000000001000800000aa00389b71")


def pcm(bits: int, samples: np.ndarray = TONE, order: str = "<") -> bytes:
    """Samples as signed integers of 16, 24 or 32 bits; the peak 0.5 comes out exactly."""
    whole = np.clip(np.round(samples * 2.0 ** (bits - 1)), -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    wide = (whole.astype(np.int64) << (32 - bits)).astype(">i4").tobytes()
    width = bits // 8
    big = b"".join(wide[at : at + width] for at in range(0, len(wide), 4))
    if order == ">":
        return big
    return b"".join(big[at : at + width][::-1] for at in range(0, len(big), width))


# ---------------------------------------------------------------- WAV


def chunk(name: bytes, payload: bytes, size: int | None = None, pad: bytes | None = b"\0") -> bytes:
    """A RIFF chunk; ``size`` overrides what it states, ``pad=None`` leaves an odd one unpadded."""
    stated = len(payload) if size is None else size
    return name + struct.pack("<I", stated) + payload + ((pad or b"") if len(payload) & 1 else b"")


def fmt(
    tag: int = 1,
    channels: int = 1,
    rate: int = RATE,
    bits: int = 16,
    align: int | None = None,
    extra: bytes = b"",
) -> bytes:
    align = channels * bits // 8 if align is None else align
    base = struct.pack("<HHIIHH", tag, channels, rate, rate * align, align, bits)
    return chunk(b"fmt ", base + extra)


def extensible(tag: int, valid_bits: int, mask: int = 4, guid: bytes = MEDIA_GUID) -> bytes:
    """The extra bytes of a WAVE_FORMAT_EXTENSIBLE format chunk."""
    return struct.pack("<HHIH", 22, valid_bits, mask, tag) + guid


def riff(*chunks: bytes, size: int | None = None, form: bytes = b"RIFF") -> bytes:
    body = b"WAVE" + b"".join(chunks)
    return form + struct.pack("<I", len(body) if size is None else size) + body


def wav(*behind: bytes, before: Sequence[bytes] = ()) -> bytes:
    """A sound 16-bit file with chunks of one's own around the sound."""
    return riff(*before, fmt(), chunk(b"data", pcm(16)), *behind)


def ds64(data_size: int, riff_size: int = 0) -> bytes:
    return chunk(b"ds64", struct.pack("<QQQI", riff_size, data_size, data_size // 2, 0))


def info(*items: tuple[bytes, bytes]) -> bytes:
    return chunk(b"LIST", b"INFO" + b"".join(chunk(name, value) for name, value in items))


def bext(description: bytes = b"", originator: bytes = b"", date: bytes = b"", time: bytes = b"") -> bytes:
    """A bext chunk with a time reference of one hour; texts longer than their field are cut."""
    body = description.ljust(256, b"\0")[:256] + originator.ljust(32, b"\0")[:32] + bytes(32)
    body += date.ljust(10, b"\0")[:10] + time.ljust(8, b"\0")[:8] + struct.pack("<QH", BEXT_TIME_REFERENCE, 1)
    return chunk(b"bext", body.ljust(602, b"\0"))


# ---------------------------------------------------------------- AIFF


def aiff_chunk(name: bytes, payload: bytes, size: int | None = None) -> bytes:
    stated = len(payload) if size is None else size
    return name + struct.pack(">I", stated) + payload + b"\0" * (len(payload) & 1)


def comm(frames: int = FRAMES, bits: int = 16, codec: bytes = b"", channels: int = 1) -> bytes:
    body = struct.pack(">hIh", channels, frames, bits) + bytes.fromhex("400ebb80000000000000")
    return aiff_chunk(b"COMM", body + (codec + b"\x04name\0" if codec else b""))


def ssnd(sound: bytes, size: int | None = None) -> bytes:
    return aiff_chunk(b"SSND", bytes(8) + sound, size)


def aiff(*chunks: bytes, kind: bytes = b"AIFF") -> bytes:
    body = kind + b"".join(chunks)
    return b"FORM" + struct.pack(">I", len(body)) + body


# ---------------------------------------------------------------- tags


def id3(*frames: tuple[bytes, str], version: int = 3, total: int | None = None) -> bytes:
    """An ID3v2 tag of text frames in Latin-1 (2.3) or UTF-8 (2.4), padded to ``total`` bytes."""
    body = b""
    for name, text in frames:
        raw = b"\0" + text.encode("latin-1") if version == 3 else b"\3" + text.encode()
        body += name + struct.pack(">I", len(raw)) + b"\0\0" + raw
    body = body.ljust((total or 0) - 10, b"\0")
    size = bytes(len(body) >> shift & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3" + bytes((version, 0, 0)) + size + body


def vorbis_comment(*comments: bytes) -> bytes:
    packed = b"".join(struct.pack("<I", len(comment)) + comment for comment in comments)
    return struct.pack("<I", 5) + b"field" + struct.pack("<I", len(comments)) + packed


# ---------------------------------------------------------------- FLAC


def _crc(data: bytes, bits: int, polynomial: int) -> int:
    value, top, mask = 0, 1 << (bits - 1), (1 << bits) - 1
    for byte in data:
        value ^= byte << (bits - 8)
        for _ in range(8):
            value = (value << 1 ^ polynomial if value & top else value << 1) & mask
    return value


def flac_frames(block: int = 1200, samples: np.ndarray = TONE) -> list[bytes]:
    """Frames of verbatim 16-bit mono samples at 48 kHz (RFC 9639)."""
    frames = []
    for number, start in enumerate(range(0, len(samples), block)):
        part = pcm(16, samples[start : start + block], ">")
        head = b"\xff\xf8\x7a\x08" + bytes((number,)) + struct.pack(">H", len(part) // 2 - 1)
        head += bytes((_crc(head, 8, 0x07),))
        frame = head + b"\x02" + part
        frames.append(frame + struct.pack(">H", _crc(frame, 16, 0x8005)))
    return frames


def flac(
    *blocks: tuple[int, bytes] | tuple[int, bytes, int],
    total: int = FRAMES,
    frames: Sequence[bytes] | None = None,
    block: int = 1200,
) -> bytes:
    """A FLAC file with metadata blocks ``(type, payload[, stated length])`` behind STREAMINFO."""
    stream = struct.pack(">HH", block, block) + bytes(6)
    stream += (RATE << 44 | 15 << 36 | total).to_bytes(8, "big") + bytes(16)
    every = [(0, stream), *blocks]
    head = b"fLaC"
    for index, (kind, payload, *length) in enumerate(every):
        last = 0x80 if index == len(every) - 1 else 0
        stated = length[0] if length else len(payload)
        head += bytes((kind | last,)) + int(stated).to_bytes(3, "big") + payload
    return head + b"".join(flac_frames(block) if frames is None else frames)


# ---------------------------------------------------------------- coded by libsndfile and FFmpeg


def sweep(seconds: float, rate: int, seed: int = 0) -> np.ndarray:
    """A rising tone with some noise: no stretch of it is like another."""
    t = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(seed).standard_normal(len(t))
    return (0.4 * np.sin(2 * np.pi * (300 + 200 * t) * t) + 0.02 * noise).astype(np.float32)


def encoded(samples: np.ndarray, rate: int, file_format: str, subtype: str, **options: Any) -> bytes:
    """A whole file as libsndfile writes it."""
    target = io.BytesIO()
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    with soundfile.SoundFile(
        target, "w", rate, channels, format=file_format, subtype=subtype, **options
    ) as file:
        file.write(samples)
    return target.getvalue()


def coded_by_ffmpeg(
    path: Path,
    samples: np.ndarray,
    rate: int,
    container: str,
    codec: str,
    *,
    picture: bool = False,
    **tags: str,
) -> None:
    """Writes mono ``samples`` through PyAV, with a video stream beside them if ``picture``."""
    import av

    with av.open(str(path), "w", format=container) as file:
        file.metadata.update(tags)
        video: Any = None
        if picture:
            video = file.add_stream("mpeg4", rate=25)
            video.width, video.height, video.pix_fmt = 64, 64, "yuv420p"
        audio: Any = file.add_stream(codec, rate=rate)
        audio.layout = "mono"
        if codec.startswith("wma"):
            audio.bit_rate = 64_000  # without one it refuses to open
        if picture:
            for shade in range(50):
                image = np.full((64, 64, 3), shade, np.uint8)
                file.mux(video.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
            file.mux(video.encode())
        context = audio.codec_context
        resampler = av.AudioResampler(context.format, "mono", rate, frame_size=context.frame_size or 1024)
        frame = av.AudioFrame.from_ndarray(samples[None, :], format="fltp", layout="mono")
        frame.sample_rate, frame.pts = rate, 0
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            file.mux(audio.encode(piece))
        file.mux(audio.encode())


# ---------------------------------------------------------------- Ogg pages


def ogg_pages(data: bytes) -> list[bytes]:
    pages, at = [], 0
    while at < len(data):
        count = data[at + 26]
        end = at + 27 + count + sum(data[at + 27 : at + 27 + count])
        pages.append(data[at:end])
        at = end
    return pages


def sealed(page: bytes) -> bytes:
    """A page with its checksum (RFC 3533) made right."""
    blank = page[:22] + bytes(4) + page[26:]
    return page[:22] + struct.pack("<I", _crc(blank, 32, 0x04C11DB7)) + page[26:]


def without_end_flag(data: bytes) -> bytes:
    *pages, last = ogg_pages(data)
    return b"".join(pages) + sealed(last[:5] + bytes((last[5] & ~4,)) + last[6:])


def with_opus_rate(data: bytes, rate: int) -> bytes:
    first, *pages = ogg_pages(data)
    at = first.index(b"OpusHead") + 12
    return sealed(first[:at] + struct.pack("<I", rate) + first[at + 4 :]) + b"".join(pages)
