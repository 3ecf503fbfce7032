"""From the guessed caption of a training clip to words that a person would search with.

The corpus names its clips in the shorthand of games and drum machines (``bja pacific hh``, ``gib
splat``, ``plats pt strt``). A bridge trained on such words learns the shorthand, so they are spelled
out first, as ``shorthand.txt`` has it; words that only name a character, a folder or a kit are dropped.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def shorthand() -> dict[str, str]:
    """What each word of shorthand means; an empty meaning drops it."""
    meanings = {}
    for line in Path(__file__).with_name("shorthand.txt").read_text("utf-8").splitlines():
        words, colon, meaning = line.partition(":")
        if colon and not line.startswith("#"):
            meanings |= dict.fromkeys(words.split(), meaning.strip())
    return meanings


def spelled_out(caption: str) -> str:
    """The caption in plain words; empty when nothing of it describes a sound."""
    words: list[str] = []
    for word in caption.lower().split():
        if word.isdigit() or len(word) < 2:
            continue
        for plain in shorthand().get(word, word).split():
            if plain not in words:
                words.append(plain)
    return " ".join(words)
