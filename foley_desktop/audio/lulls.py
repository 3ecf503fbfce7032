"""Leaving out silence while auditioning: what comes before the first sound, and long pauses within.

Works on blocks as they are read and remembers what it left out, so that a place in what is heard can be told
as a place in the clip.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

import numpy as np

from foley_desktop.audio.fades import rising

QUIET = 0.001
"""Below this, -60 dBFS, is silence."""
LONGEST_S = 1.0
"""A pause within the sound that is longer is cut short; before the first sound any is."""
_LEFT_S = 0.2  # of a pause that is cut short, after the sound before it: its reverberation
_LEAD_S = 0.05  # before the next sound: its attack
_CELL_S = 0.01
_FADE_S = 0.005


class Lulls:
    """Takes blocks of a sound with their places, gives blocks without long silences.

    Args:
        samplerate: Hz.
    """

    def __init__(self, samplerate: int) -> None:
        self._cell = max(1, round(_CELL_S * samplerate))
        self._left, self._lead = round(_LEFT_S * samplerate), round(_LEAD_S * samplerate)
        self._longest = round(LONGEST_S * samplerate)
        self._rise = rising(max(1, round(_FADE_S * samplerate)))
        self._held: list[np.ndarray] = []  # quiet, and not given yet
        self._holds = 0
        self._held_at = 0  # the place of the first held frame
        self._cut = True  # inside a pause that is cut short: what was to be left of it has been given
        self._given = 0
        self._starts: list[int] = [0]  # for each stretch given: its first frame in what is given …
        self._places: list[int] = []  # … and in the clip

    def place(self, given: float) -> float:
        """Where in the clip, in frames, frame ``given`` of what came out stands."""
        index = bisect_right(self._starts, given) - 1
        if index >= len(self._places):
            return given
        return self._places[index] + given - self._starts[index]

    def through(self, blocks: Iterable[tuple[int, np.ndarray]]) -> Iterator[np.ndarray]:
        """The blocks, each with its place in frames; an empty one wherever a whole block was left out."""
        expected = None
        for place, block in blocks:
            if place != expected and expected is not None:
                yield from self._release(0 if self._cut else self._holds)
                self._cut = False
            expected = place + len(block)
            yielded = False
            for at, part, loud in self._parts(place, block):
                for out in self._loud(at, part) if loud else self._quiet(at, part):
                    yielded = True
                    yield out
            if not yielded:
                yield block[:0]
        if not self._cut:
            yield from self._release(self._holds)

    def _parts(self, place: int, block: np.ndarray) -> Iterator[tuple[int, np.ndarray, bool]]:
        """The block cut where silence begins or ends, to a hundredth of a second."""
        edges = np.arange(0, len(block), self._cell)
        loud = np.maximum.reduceat(np.abs(block).max(axis=1), edges) >= QUIET
        turns = np.flatnonzero(np.diff(loud)) + 1
        starts = [0, *(int(edges[turn]) for turn in turns)]
        for begin, end in zip(starts, [*starts[1:], len(block)], strict=True):
            yield place + begin, block[begin:end], bool(loud[begin // self._cell])

    def _loud(self, place: int, part: np.ndarray) -> Iterator[np.ndarray]:
        if self._cut:
            skipped = self._holds - self._lead
            self._drop(max(0, skipped))
            if self._held and skipped > 0:
                self._held[0] = _scaled(self._held[0], self._rise)
        if not self._held:
            self._held_at = place
        yield from self._release(self._holds)
        self._cut = False
        yield self._given_from(place, part)

    def _quiet(self, place: int, part: np.ndarray) -> Iterator[np.ndarray]:
        if not self._held:
            self._held_at = place
        self._held.append(part)
        self._holds += len(part)
        if not self._cut and self._holds > self._longest:
            whole = np.concatenate(self._held)
            self._held, self._holds = [whole], len(whole)
            fall = self._rise[::-1]
            left = whole[: self._left].copy()
            left[-len(fall) :] *= fall
            yield self._given_from(self._held_at, left)
            self._drop(len(left))
            self._cut = True
        if self._cut:
            self._drop(max(0, self._holds - self._lead - self._cell))

    def _release(self, frames: int) -> Iterator[np.ndarray]:
        """Gives the held frames."""
        if frames:
            yield self._given_from(self._held_at, np.concatenate(self._held))
        self._held, self._holds = [], 0

    def _given_from(self, place: int, block: np.ndarray) -> np.ndarray:
        if not self._places or self.place(self._given) != place:
            self._starts[len(self._places) :] = [self._given]
            self._places.append(place)
        self._given += len(block)
        return block

    def _drop(self, frames: int) -> None:
        """Lets go of the first held frames."""
        self._holds -= frames
        self._held_at += frames
        while frames > 0:
            first = self._held[0]
            if len(first) > frames:
                self._held[0] = first[frames:]
                return
            frames -= len(first)
            del self._held[0]


def _scaled(block: np.ndarray, gains: np.ndarray) -> np.ndarray:
    block = block.copy()
    block[: len(gains)] *= gains[: len(block)]
    return block
