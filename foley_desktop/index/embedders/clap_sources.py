"""Where published CLAP checkpoints are, and what is known of them.

Nothing is fetched from here: the user is asked first, and may name a mirror instead. Sizes are rounded;
a checksum is that of the publisher's own pages, None where those were not seen.
"""

from __future__ import annotations

from typing import NamedTuple

PUBLISHER = "https://huggingface.co/lukewys/laion_clap/resolve/main/"
TOKENIZER = "https://huggingface.co/FacebookAI/roberta-base/resolve/main/"


class Offer(NamedTuple):
    """A checkpoint that can be fetched. ``about_bytes`` is its rounded size."""

    file: str
    about_bytes: int
    sha256: str | None
    suits: str


OFFERS = (
    Offer(
        "630k-audioset-best.pt",
        1_860_000_000,
        "8053c9775516af2f4902e1e8281e356cc1bf7a85e8b761908170767b77c3f037",
        "sounds of every kind",
    ),
    Offer("630k-best.pt", 1_860_000_000, None, "sounds of every kind, trained without AudioSet"),
    Offer(
        "music_speech_audioset_epoch_15_esc_89.98.pt",
        2_352_471_003,
        "51c68f12f9d7ea25fdaaccf741ec7f81e93ee594455410f3bca4f47f88d8e006",
        "music, speech and sounds",
    ),
    Offer(
        "music_audioset_epoch_15_esc_90.14.pt",
        2_350_000_000,
        "fae3e9c087f2909c28a09dc31c8dfcdacbc42ba44c70e972b58c1bd1caf6dedd",
        "music and sounds",
    ),
)


def offer(file: str) -> Offer | None:
    """What is known of a published file, by its name."""
    return next((known for known in OFFERS if known.file == file), None)
