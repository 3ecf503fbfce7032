"""What is done to a clip's sound between the file and the ear, or between the file and a new file.

One description for the player and the renderer, so that what is heard is what is dragged out. The order is
fixed: back to front, choice of channels, varispeed, level. ``apply`` is the plain form over whole arrays that
the streaming forms of both are held against.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import soxr

from foley_desktop.audio.mix import mix_matrix
from foley_desktop.audio.stretch import stretched

SEMITONES = 24.0
"""Varispeed reaches this far up and down: four times as fast, a quarter as fast."""
GAIN_DB = 48.0
NORMALISED_DB = -1.0
"""The level that the window's switch for normalising asks for."""

_PAIR = re.compile(r"([1-9]\d?)-([1-9]\d?)", re.ASCII)
_ONE = re.compile(r"[1-9]\d?", re.ASCII)


@dataclass(frozen=True)
class Treatment:
    """How a clip is to sound; the default leaves it alone.

    Attributes:
        semitones: Varispeed, -24 to 24: 12 is twice as fast and, as on tape, an octave up.
        keep_pitch: Varispeed changes the speed only.
        reverse: Back to front.
        gain_db: -48 to 48, on top of everything else.
        normalise_db: The level in dBFS, -48 to 0, that the highest sample of the whole clip is brought to
            (its own, before anything is done to it, so that the stretches of a clip keep their balance).
        channels: ``all``; ``mono``, the mix-down; ``mid`` or ``side``, half the sum or difference of left and
            right; ``3``, that channel alone; ``3-4``, those two as left and right.
    """

    semitones: float = 0.0
    keep_pitch: bool = False
    reverse: bool = False
    gain_db: float = 0.0
    normalise_db: float | None = None
    channels: str = "all"

    def __post_init__(self) -> None:
        """Raises ValueError for what is out of range."""
        for name, value, least, most in (
            ("semitones", self.semitones, -SEMITONES, SEMITONES),
            ("gain_db", self.gain_db, -GAIN_DB, GAIN_DB),
            ("normalise_db", self.normalise_db or 0.0, -GAIN_DB, 0.0),
        ):
            if not least <= value <= most:
                raise ValueError(f"{name} must be {least:g} to {most:g}, not {value:g}")
        if not is_choice(self.channels):
            raise ValueError(f"no such choice of channels: {self.channels}")

    @property
    def is_neutral(self) -> bool:
        """Whether the sound stays as it is."""
        return self == Treatment(keep_pitch=self.keep_pitch)

    @property
    def speed(self) -> float:
        """How many seconds of the clip go by in one second, 0.25 to 4."""
        return 2.0 ** (self.semitones / 12.0)

    @property
    def stretches(self) -> bool:
        """Whether the speed changes and the pitch does not."""
        return self.keep_pitch and self.semitones != 0

    def gain(self, peak: float | None) -> float:
        """The linear gain for a clip whose highest sample is ``peak`` (1.0 is full scale, None unknown)."""
        level = 10.0 ** (self.gain_db / 20.0)
        if self.normalise_db is not None and peak:
            level *= 10.0 ** (self.normalise_db / 20.0) / peak
        return level

    def matrix(self, channels_in: int) -> np.ndarray:
        """The choice of channels as a float32 matrix ``(channels_in, chosen)`` for ``mix``.

        A clip that lacks a chosen channel is left whole, and so is every mono clip.
        """
        if channels_in == 1:
            return np.eye(1, dtype=np.float32)
        chosen = numbers(self.channels)
        if chosen and max(chosen) <= channels_in:
            return np.eye(channels_in, dtype=np.float32)[:, [n - 1 for n in chosen]]
        if self.channels == "mono":
            return mix_matrix(channels_in, 1)
        if self.channels in ("mid", "side"):
            sign = 0.5 if self.channels == "mid" else -0.5
            sides = mix_matrix(channels_in, 2)
            return sides @ np.array([[0.5], [sign]], np.float32)
        return np.eye(channels_in, dtype=np.float32)


def numbers(choice: str) -> tuple[int, ...]:
    """The channels that a choice names, counted from 1; none for those that go by a word."""
    if _ONE.fullmatch(choice):
        return (int(choice),)
    pair = _PAIR.fullmatch(choice)
    return (int(pair[1]), int(pair[2])) if pair else ()


def is_choice(choice: str) -> bool:
    """Whether this is a choice of channels."""
    named = numbers(choice)
    return choice in ("all", "mono", "mid", "side") or (bool(named) and max(named) <= 64)


def choices(channels: int) -> tuple[str, ...]:
    """What there is to choose from in a clip of so many channels, ``all`` first."""
    if channels < 2:
        return ("all",)
    singles = tuple(str(n) for n in range(1, channels + 1))
    pairs = tuple(f"{n}-{n + 1}" for n in range(1, channels, 2)) if channels > 2 else ("2-1",)
    return ("all", "mono", "mid", "side", *singles, *pairs)


def apply(
    samples: np.ndarray, samplerate: int, treatment: Treatment, *, peak: float | None = None
) -> np.ndarray:
    """The treated sound, unclipped.

    Args:
        samples: ``(n, channels)``, full scale 1.0.
        samplerate: Hz; it stays.
        peak: The highest sample of the clip that ``samples`` come from; None if they are all of it.

    Returns:
        float32 ``(n / speed, chosen channels)``.
    """
    if peak is None:
        peak = float(np.abs(samples).max()) if samples.size else 0.0
    out = samples.astype(np.float32, copy=False)[:: -1 if treatment.reverse else 1]
    out = out @ treatment.matrix(samples.shape[1])
    if treatment.stretches:
        out = stretched(out, samplerate, treatment.speed)
    elif treatment.semitones:
        out = soxr.resample(out, samplerate * treatment.speed, samplerate, "VHQ")
    return np.ascontiguousarray(out * np.float32(treatment.gain(peak)), np.float32)
