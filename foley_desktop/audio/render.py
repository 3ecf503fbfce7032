"""New files out of clips: exports, and the regions that are dragged into an editor.

Without options a new file holds the source's own samples. With them, the order is: stretch of the source,
reverse, channels, speed and rate in one resampling, level, depth. A treatment has the same order and goes in
with them, so that what was heard is what is written. The source is only ever read.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import soundfile
import soxr

from foley_desktop.audio.bwf import Move
from foley_desktop.audio.decode import AudioInfo, AudioReader, open_audio
from foley_desktop.audio.fades import faded
from foley_desktop.audio.mix import mix, mix_matrix
from foley_desktop.audio.naming import NAME_BYTES, clock_name, cut_name, plain_name
from foley_desktop.audio.render_options import RenderOptions as RenderOptions
from foley_desktop.audio.spool import Spool, floats
from foley_desktop.audio.stretch import stretch_blocks
from foley_desktop.audio.target import (
    TargetExistsError,
    choose_encoding,
    new_file,
    printable,
    target_exists,
    write_sound,
)
from foley_desktop.audio.treatment import Treatment, numbers
from foley_desktop.errors import RenderError

Watch = Callable[[float], None]
_BLOCK_FRAMES = 1 << 16
_LOSSY = {ending: (ending,) for ending in (".mp3", ".opus")} | dict.fromkeys(
    (".ogg", ".oga"), (".ogg", ".oga")
)
_EXACT_TYPES = {"PCM_32": "int32", "FLOAT": "float32", "DOUBLE": "float64"}


def export(
    source: str,
    target: Path,
    options: RenderOptions | None = None,
    *,
    overwrite: bool = False,
    watch: Watch | None = None,
) -> AudioInfo:
    """Renders a new file; its format follows the target's extension (.wav, .flac, .aif, .aiff, .ogg).

    Without options a lossy clip that keeps its extension is copied, .mp3 and .opus too.
    A WAVE file keeps the source's bext (time reference moved to the new start, coding history continued),
    iXML and INFO. Dither is added only where the depth falls.

    Args:
        source: Absolute path of the clip.
        target: Where to write; its folder must be there.
        overwrite: Whether a file that is there may be replaced. The source itself never is.
        watch: Told now and then how many seconds of the source have been read; what it raises ends the
            rendering, and nothing is left of the new file.

    Returns:
        What was written.

    Raises:
        AudioFileError: when the source cannot be used as audio.
        RenderError: when the target cannot be written, with what to do.
    """
    options = _plainest(options or RenderOptions())
    options.check()
    try:
        _check_target(source, target, overwrite)
        if not _copied(source, target, options, overwrite):
            with ExitStack() as stack:
                _render(stack, source, target, options, overwrite, watch)
        with open_audio(os.fspath(target)) as written:
            return written.info
    except OSError as error:
        raise RenderError(
            f"The file {printable(target.name)} cannot be written: {error.strerror or error}.",
            hint="Choose another folder, or make room on the disk.",
            cause=error,
        ) from error


def _plainest(options: RenderOptions) -> RenderOptions:
    """The same without what has no effect."""
    if options.treatment.is_neutral:
        return replace(options, treatment=Treatment(), peak=None)
    return options


def render_region(source: str, start_s: float, end_s: float, folder: Path, name_stem: str) -> Path:
    """Renders a stretch of a clip, with the clip's own samples, as a WAVE file of a new name for a drag.

    Args:
        start_s, end_s: Seconds of the source.
        folder: Made when it is not there. What lies in it is never replaced.
        name_stem: What the name begins with, usually the clip's own name without extension.

    Raises:
        AudioFileError, RenderError: as :func:`export`.
    """
    ending = f"_{clock_name(start_s)}-{clock_name(end_s)}"
    return render_new(source, RenderOptions(start_s=start_s, end_s=end_s), folder, name_stem, ending, ".wav")


def render_new(
    source: str,
    options: RenderOptions,
    folder: Path,
    stem: str,
    ending: str,
    extension: str,
    watch: Watch | None = None,
) -> Path:
    """Renders into a new file of ``folder``, called ``stem`` + ``ending`` + ``extension``.

    A number is put behind ``ending`` where there is such a file already. The stem is tamed for every file
    system and cut so that the whole name keeps to the bytes that they and editors take.

    Raises:
        AudioFileError, RenderError: as :func:`export`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RenderError(f"The folder {printable(str(folder))} cannot be made.", cause=error) from error
    for number in itertools.count(1):
        tail = ending + (f"_{number}" if number > 1 else "") + extension
        target = folder / (cut_name(plain_name(stem), NAME_BYTES - len(tail.encode())) + tail)
        try:
            export(source, target, options, watch=watch)
        except TargetExistsError:
            continue
        return target
    raise AssertionError("unreachable")


def _copied(source: str, target: Path, options: RenderOptions, overwrite: bool) -> bool:
    """Copies a lossy clip that is to stay as it is: only its own stream decodes to its own samples."""
    if options != RenderOptions(dither=options.dither) or target.suffix.lower() not in _LOSSY.get(
        _ending(source), ()
    ):
        return False
    with open_audio(source) as reader:
        if reader.info.bit_depth is not None or reader.info.badges:
            return False
    with open(os.fsencode(source), "rb") as original, new_file(target, overwrite) as copy:
        shutil.copyfileobj(original, copy, 1 << 20)
    return True


def _altering(options: RenderOptions) -> bool:
    """Whether anything is to come out in another way than the source has it."""
    return options != RenderOptions(dither=options.dither)


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lower()


# ---------------------------------------------------------------- the chain


def _render(
    stack: ExitStack,
    source: str,
    target: Path,
    options: RenderOptions,
    overwrite: bool,
    watch: Watch | None,
) -> None:
    reader = stack.enter_context(open_audio(source))
    info = reader.info
    encoding = choose_encoding(target, info, options.depth, dither=options.dither)
    first, last = _stretch(reader, options)
    blocks = _frames(_best_reader(stack, source, reader), first, last)
    if watch is not None:
        blocks = _watched(blocks, info.samplerate, watch)
    treatment = options.treatment
    if options.reverse != treatment.reverse:
        blocks = stack.enter_context(Spool(target.parent, blocks)).backwards()
    blocks, chosen = _chosen(blocks, treatment, info.channels)
    channels = options.channels or chosen
    blocks = _mixed(blocks, chosen, channels)
    speed, rate = options.speed or 1.0, options.rate or info.samplerate
    if treatment.stretches:
        blocks = map(floats, blocks)
        blocks = stretch_blocks(blocks, info.samplerate, channels, treatment.speed)
    else:
        speed *= treatment.speed
    blocks = _resampled(blocks, info.samplerate * speed, rate, channels)
    blocks = _levelled(blocks, source, options)
    if options.normalise_db is not None:
        spool = stack.enter_context(Spool(target.parent, blocks))
        blocks = spool.scaled_to(10.0 ** (options.normalise_db / 20.0))
    if options.fade_in_s or options.fade_out_s:
        fades = [round(seconds * rate) for seconds in (options.fade_in_s, options.fade_out_s)]
        blocks = faded(map(floats, blocks), *fades)
    frames = info.frames if reader.frames_known else None
    move = Move(
        first,
        info.samplerate,
        rate,
        encoding.bits,
        channels,
        altered=_altering(options),
        last_frame=min(last, frames) if last is not None and frames is not None else last,
        source_frames=frames,
        pace=(options.speed or 1.0) * treatment.speed,
        backwards=options.reverse != treatment.reverse,
        kept_channels=_kept_channels(treatment, info.channels, channels),
    )
    write_sound(stack.enter_context(new_file(target, overwrite)), blocks, encoding, source, move)


def _kept_channels(treatment: Treatment, channels_in: int, channels: int) -> tuple[int, ...] | None:
    """Numbers, from 0, of the source's channels that are the new ones; None where they were mixed."""
    picked = tuple(number - 1 for number in numbers(treatment.channels))
    kept = picked if picked and max(picked) < channels_in else tuple(range(channels_in))
    mixes = treatment.channels in ("mono", "mid", "side") and channels_in > 1
    return None if mixes or len(kept) != channels else kept


def _check_target(source: str, target: Path, overwrite: bool) -> None:
    if not target.parent.is_dir():
        raise RenderError(f"The folder {printable(str(target.parent))} is not there.")
    if target.exists():
        if os.path.exists(source) and os.path.samefile(source, target):
            raise RenderError("The clip itself is never overwritten.", hint="Choose another name.")
        if not overwrite or target.is_dir():
            raise target_exists(target)


def _stretch(reader: AudioReader, options: RenderOptions) -> tuple[int, int | None]:
    """First frame, and the frame behind the last one; None is the clip's end."""
    rate = reader.info.samplerate
    first = round((options.start_s or 0.0) * rate)
    last = None if options.end_s is None else max(first + 1, round(min(options.end_s, 1e9) * rate))
    if reader.frames_known and first >= reader.info.frames:
        raise RenderError(f"The start lies behind the clip's end at {reader.info.duration_s:.3f} s.")
    return first, last


def _best_reader(stack: ExitStack, source: str, reader: AudioReader) -> AudioReader | _ExactReader:
    """A reader that loses nothing: float32 holds 24 bits, so deeper samples are read as they are.

    Only where libsndfile reads the file without help; what needed mending is read as float32.
    """
    info = reader.info
    if info.subtype not in _EXACT_TYPES:
        return reader
    try:
        file = stack.enter_context(soundfile.SoundFile(os.fsencode(source)))
    except soundfile.LibsndfileError:
        return reader
    shape = (file.frames, file.samplerate, file.channels, file.subtype)
    if shape != (info.frames, info.samplerate, info.channels, info.subtype):
        return reader
    return _ExactReader(file, _EXACT_TYPES[info.subtype])


class _ExactReader:
    """libsndfile in the file's own sample type."""

    def __init__(self, file: soundfile.SoundFile, dtype: str) -> None:
        self._file, self._dtype = file, dtype

    def seek(self, frame: int) -> None:
        self._file.seek(frame)

    def read(self, frames: int) -> np.ndarray:
        return self._file.read(frames, self._dtype, always_2d=True)


def _frames(reader: AudioReader | _ExactReader, first: int, last: int | None) -> Iterator[np.ndarray]:
    reader.seek(first)
    left = last - first if last is not None else None
    while left is None or left > 0:
        block = reader.read(_BLOCK_FRAMES if left is None else min(left, _BLOCK_FRAMES))
        if not len(block):
            return
        if left is not None:
            left -= len(block)
        yield block


def _mixed(blocks: Iterable[np.ndarray], channels_in: int, channels: int) -> Iterator[np.ndarray]:
    if channels == channels_in:
        return iter(blocks)
    try:
        matrix = mix_matrix(channels_in, channels)
    except ValueError as error:
        raise RenderError(f"{channels_in} channels can be reduced to 1 or 2 only.", cause=error) from error
    return (mix(floats(block), matrix) for block in blocks)


def _watched(blocks: Iterator[np.ndarray], rate: int, watch: Watch) -> Iterator[np.ndarray]:
    done = 0
    for block in blocks:
        watch(done / rate)
        done += len(block)
        yield block


def _chosen(
    blocks: Iterator[np.ndarray], treatment: Treatment, channels: int
) -> tuple[Iterator[np.ndarray], int]:
    """The treatment's channels, and how many they are."""
    picked = [number - 1 for number in numbers(treatment.channels)]
    if picked and max(picked) < channels:  # in the samples' own type
        return (np.ascontiguousarray(block[:, picked]) for block in blocks), len(picked)
    matrix = treatment.matrix(channels)
    if matrix.shape == (channels, channels):
        return blocks, channels
    return (mix(floats(block), matrix) for block in blocks), matrix.shape[1]


def _levelled(blocks: Iterator[np.ndarray], source: str, options: RenderOptions) -> Iterator[np.ndarray]:
    """The treatment's gain."""
    treatment = options.treatment
    peak = options.peak
    if treatment.normalise_db is not None and peak is None:
        peak = clip_peak(source)
    gain = np.float32(treatment.gain(peak))
    if gain == 1.0:
        return blocks
    return (floats(block) * gain for block in blocks)


def clip_peak(source: str) -> float:
    """The highest sample of a clip, 1.0 being full scale; decodes all of it.

    Raises:
        AudioFileError: when the clip cannot be used as audio.
    """
    peak = 0.0
    with open_audio(source) as reader:
        while len(block := reader.read(reader.block_frames)):
            peak = max(peak, float(block.max()), -float(block.min()))
    return peak


def _resampled(
    blocks: Iterator[np.ndarray], rate_in: float, rate: int, channels: int
) -> Iterator[np.ndarray]:
    if rate_in == rate:
        yield from blocks
        return
    stream = soxr.ResampleStream(rate_in, rate, channels, dtype="float32", quality="VHQ")
    for block in blocks:
        if len(out := stream.resample_chunk(floats(block))):
            yield out
    if len(out := stream.resample_chunk(np.empty((0, channels), np.float32), last=True)):
        yield out
