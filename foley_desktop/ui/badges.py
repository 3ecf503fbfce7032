"""What the faults of files are called on screen, and what they mean."""

from __future__ import annotations

from collections.abc import Iterable

BADGES: dict[str, tuple[str, str]] = {
    "truncated": ("cut short", "The file ends before the length that its header promises."),
    "not_finalised": ("not finalised", "The recorder never wrote the final sizes; the sound is all there."),
    "non_finite_samples": ("bad samples", "Some samples are no numbers. They are played as silence."),
    "over_full_scale": ("over full scale", "Samples beyond full scale; a fixed-point export clips them."),
    "extension_mismatch": ("other kind than named", "The file is of another kind than its ending says."),
    "chained_stream": ("several streams", "Several streams follow one another in the file."),
    "trailing_bytes": ("extra bytes", "Bytes follow behind the sound that belong to nothing known."),
}


def words(code: str) -> str:
    """A badge's code in words."""
    return BADGES.get(code, (code.replace("_", " "), ""))[0]


def meaning(code: str) -> str:
    """One sentence about what a badge means."""
    return BADGES.get(code, ("", ""))[1]


def listed(codes: Iterable[str]) -> str:
    """Several badges in words."""
    return ", ".join(words(code) for code in codes)
