"""The file that an export becomes: which encoding it has, how samples are put into it, how it appears.

A new file is written under a hidden name beside its target and put in place when it is whole, so that a
crash or a full disk never leaves half a sound under a good name.
"""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import soundfile

from foley_desktop.audio.bwf import Move
from foley_desktop.audio.carrying import carried, words_of
from foley_desktop.audio.reader import AudioInfo
from foley_desktop.audio.wavwriter import WavWriter, same_format
from foley_desktop.errors import RenderError

FORMATS = {".wav": "WAV", ".wave": "WAV", ".flac": "FLAC", ".aif": "AIFF", ".aiff": "AIFF", ".ogg": "OGG"}
_FULL_SCALE = float(1 << 31)
_VORBIS_FRAMES = 8192  # libvorbis puts a whole write on the stack: long ones end the process
_COMPANDED = ("ULAW", "ALAW")  # 8 bits a sample on disk, 13 and 14 once decoded


class TargetExistsError(RenderError):
    """There is a file of that name, and it may not be replaced."""


@dataclass(frozen=True)
class Encoding:
    """How samples are stored. ``bits`` a sample; ``dither`` where the source has more of them."""

    format: str
    subtype: str
    bits: int
    integer: bool
    dither: bool


def choose_encoding(target: Path, info: AudioInfo, depth: int | None, *, dither: bool = True) -> Encoding:
    """The encoding for a target's extension and a depth, None being the source's own.

    Lossy sources count as 32-bit floats, which is what they decode to. ``dither`` False leaves dither out
    where the depth falls.

    Raises:
        RenderError: when the format cannot hold that.
    """
    form = FORMATS.get(target.suffix.lower())
    if form is None:
        raise RenderError(
            f"Files ending in “{target.suffix}” cannot be written.",
            hint="Use .wav, .flac, .aif, .aiff or .ogg.",
        )
    source_bits, source_integer = _own_depth(info)
    bits, integer = source_bits, source_integer
    if depth is not None:
        bits, integer = depth, depth < 32 or (source_integer and source_bits == 32)
    if form == "OGG":
        if depth is not None:
            raise RenderError("Ogg Vorbis has no bit depth.", hint="Leave it out, or write .wav or .flac.")
        return Encoding("OGG", "VORBIS", 32, integer=False, dither=False)
    if form == "FLAC" and (bits > 24 or not integer):
        if depth is not None:
            raise RenderError("FLAC holds at most 24 bit.", hint="Choose 24 bit, or write .wav.")
        bits, integer = 24, True
    if not integer:
        return Encoding(form, "FLOAT" if bits == 32 else "DOUBLE", bits, integer=False, dither=False)
    subtype = f"PCM_{bits}" if bits > 8 else "PCM_U8" if form == "WAV" else "PCM_S8"
    return Encoding(form, subtype, bits, integer=True, dither=dither and bits < source_bits)


def _own_depth(info: AudioInfo) -> tuple[int, bool]:
    """Bits a sample, and whether they are integers."""
    if info.subtype in ("FLOAT", "DOUBLE") or info.bit_depth is None:
        return (64 if info.subtype == "DOUBLE" else 32), False
    if info.subtype in _COMPANDED:
        return 16, True
    return next(bits for bits in (8, 16, 24, 32) if info.bit_depth <= bits or bits == 32), True


def to_words(block: np.ndarray, bits: int, random: np.random.Generator | None) -> np.ndarray:
    """Integers as the upper ``bits`` of int32, clipped at full scale, out of floats or int32.

    ``random`` adds triangular dither of two least significant bits (Lipshitz, Wannamaker, Vanderkooy:
    Quantization and Dither, JAES 1992).
    """
    if block.dtype == np.int32 and bits == 32:
        return block
    scale = float(1 << (bits - 1))
    steps = block.astype(np.float64)
    steps *= scale / _FULL_SCALE if block.dtype == np.int32 else scale
    if random is not None:
        steps += random.random(steps.shape)
        steps -= random.random(steps.shape)
    np.rint(steps, out=steps)
    np.clip(np.nan_to_num(steps, copy=False, posinf=0.0, neginf=0.0), -scale, scale - 1, out=steps)
    return (steps.astype(np.int64) << (32 - bits)).astype(np.int32)


def to_floats(block: np.ndarray) -> np.ndarray:
    """Floats, full scale 1.0, out of floats or int32."""
    return block / _FULL_SCALE if block.dtype == np.int32 else block


def write_sound(
    file: BinaryIO, blocks: Iterable[np.ndarray], encoding: Encoding, source: str, move: Move
) -> None:
    """Writes blocks (floats or int32, ``(n, move.channels)``) in full.

    Raises:
        RenderError: when there is nothing to write, or the format does not take it.
        OSError: from the disk.
    """
    random = np.random.default_rng(0) if encoding.dither else None  # the same export twice is the same file
    words = (to_words(b, encoding.bits, random) if encoding.integer else to_floats(b) for b in blocks)
    if encoding.format == "WAV":
        before, after, fmt = carried(source, move)
        if fmt is not None and not same_format(fmt, encoding.subtype, move.rate, move.channels):
            fmt = None
        writer = WavWriter(file, encoding.subtype, move.rate, move.channels, before=before, fmt=fmt)
        frames = 0
        for block in words:
            writer.write(block)
            frames += len(block)
        writer.finish(after)
    else:
        frames = _write_with_libsndfile(file, words, encoding, source, move)
    if not frames:
        raise RenderError("There is no sound in this stretch of the clip.")


def _write_with_libsndfile(
    file: BinaryIO, blocks: Iterator[np.ndarray], encoding: Encoding, source: str, move: Move
) -> int:
    frames = 0
    try:
        with soundfile.SoundFile(
            file, "w", move.rate, move.channels, encoding.subtype, format=encoding.format
        ) as writer:
            said = words_of(source)
            for field, place in (("title", "title"), ("description", "comment"), ("artist", "artist")):
                if field in said:
                    setattr(writer, place, said[field])
            for block in blocks:
                for start in range(0, len(block), _VORBIS_FRAMES):
                    writer.write(np.ascontiguousarray(block[start : start + _VORBIS_FRAMES]))
                frames += len(block)
    except soundfile.LibsndfileError as error:
        raise RenderError(
            f"{encoding.format} cannot hold {move.channels} channels at {move.rate} Hz.",
            hint="Choose another sample rate or number of channels, or write .wav.",
            cause=error,
        ) from error
    return frames


@contextmanager
def new_file(target: Path, overwrite: bool) -> Iterator[BinaryIO]:
    """An empty file that becomes ``target`` when the block ends well, and vanishes when it doesn't.

    Raises:
        TargetExistsError: when a file has appeared there meanwhile and must not be replaced.
        OSError: from the disk.
    """
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with open(part, "x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            os.replace(part, target)
        else:
            _put_in_place(part, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()


def _put_in_place(part: Path, target: Path) -> None:
    """Renames without replacing. A hard link does that in one step, where the disk knows such."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise target_exists(target) from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.ENOENT):
            raise
        if target.exists():
            raise target_exists(target) from None
        os.replace(part, target)


def target_exists(target: Path) -> TargetExistsError:
    return TargetExistsError(
        f"There is already a file {printable(target.name)}.",
        hint="Choose another name, or ask to overwrite it.",
    )


def printable(name: str) -> str:
    """A file name as text that can be shown, whatever its bytes are."""
    return "".join(c if c.isprintable() else "�" for c in os.fsencode(name).decode("utf-8", "replace"))
