"""Names of new sound files: what every file system and editor takes, whatever the source is called."""

from __future__ import annotations

import os

NAME_BYTES = 240
"""The longest name, of the 255 bytes that file systems take; editors add endings of their own."""


def clock_name(seconds: float) -> str:
    """A time for a file name: ``1m02.500s``, minutes only where there are some."""
    minutes, rest = divmod(round(seconds * 1000), 60000)
    return f"{minutes}m{rest / 1000:06.3f}s" if minutes else f"{rest / 1000:.3f}s"


def plain_name(stem: str) -> str:
    """A name that every file system and editor takes: bytes that are no text and reserved signs go."""
    text = os.fsencode(stem).decode("utf-8", "replace").replace("�", "_")
    text = "".join(c if c.isprintable() and c not in '<>:"/\\|?*' else "_" for c in text)
    return text.strip(" .") or "clip"


def cut_name(text: str, size: int) -> str:
    """At most ``size`` bytes of UTF-8, cut between characters."""
    return text.encode("utf-8")[:size].decode("utf-8", "ignore").rstrip(" .")
