"""Fades at the ends of a sound that is streamed: its length need not be known before its end has come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np


def rising(frames: int) -> np.ndarray:
    """Gains ``(frames, 1)`` from 0 up to 1: a raised cosine, which has no corner at either end."""
    return (0.5 - 0.5 * np.cos(np.pi * (np.arange(frames) + 0.5) / frames)).astype(np.float32)[:, None]


def faded(blocks: Iterable[np.ndarray], fade_in: int, fade_out: int) -> Iterator[np.ndarray]:
    """``blocks`` (floats, ``(n, channels)``) with their first and last frames faded.

    A sound that is shorter than a fade is faded as far as it goes.
    """
    for block in _faded_out(_faded_in(blocks, fade_in), fade_out):
        if len(block):
            yield block


def _faded_in(blocks: Iterable[np.ndarray], frames: int) -> Iterator[np.ndarray]:
    gains, done = rising(frames) if frames else np.ones((0, 1), np.float32), 0
    for block in blocks:
        count = min(len(block), frames - done)
        if count > 0:
            block = block.copy()
            block[:count] *= gains[done : done + count]
            done += count
        yield block


def _faded_out(blocks: Iterable[np.ndarray], frames: int) -> Iterator[np.ndarray]:
    """Holds the last ``frames`` back until it is certain that nothing follows them."""
    held: np.ndarray | None = None
    for block in blocks:
        whole = block if held is None else np.concatenate((held, block))
        if frames:
            yield whole[: max(0, len(whole) - frames)]
            held = whole[max(0, len(whole) - frames) :]
        else:
            yield whole
    if held is not None and len(held):
        yield held * rising(frames)[: len(held)][::-1]
