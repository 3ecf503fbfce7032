"""A treatment in words: what the chip and the menus say."""

from __future__ import annotations

from foley_desktop.audio.treatment import Treatment, numbers

_CHOICES = {
    "all": "All channels",
    "mono": "Mono mix-down",
    "mid": "Mid (L + R)",
    "side": "Side (L − R)",
    "2-1": "Left and right swapped",
}


def semitones(value: float) -> str:
    """As musicians write it: ``−3 st``, ``+0.5 st``."""
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return f"{sign}{abs(value):g} st"


def decibels(value: float) -> str:
    """A level or a change of level: ``+6 dB``, ``−1.5 dB``."""
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return f"{sign}{abs(value):g} dB"


def channels(choice: str, count: int | None) -> str:
    """A choice of channels in a clip of ``count`` of them."""
    named = numbers(choice)
    if count == 2 and len(named) == 1:
        return "Left only" if named == (1,) else "Right only"
    if choice in _CHOICES:
        return _CHOICES[choice]
    return f"Channel {choice}" if len(named) == 1 else f"Channels {named[0]} and {named[1]}"


def _short(choice: str, count: int | None) -> str:
    if choice in ("mono", "mid", "side"):
        return choice
    if choice == "2-1":
        return "swapped"
    return channels(choice, count).lower()


def summary(treatment: Treatment, count: int | None) -> str:
    """The whole treatment in a few words; empty when it does nothing."""
    parts = []
    if treatment.semitones:
        kept = ", pitch kept" if treatment.keep_pitch else ""
        parts.append(semitones(treatment.semitones) + kept)
    if treatment.reverse:
        parts.append("reversed")
    if treatment.channels != "all":
        parts.append(_short(treatment.channels, count))
    if treatment.normalise_db is not None:
        parts.append("normalised")
    if treatment.gain_db:
        parts.append(decibels(treatment.gain_db))
    return " · ".join(parts)
