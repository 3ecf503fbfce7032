"""What every embedder of sound shares: clips become windows, windows become vectors.

An embedder only has to say how one window of samples becomes its vectors, one for each of its
spaces: the joint space of text and sound, and a sound-only space for likeness where it has one. The
proxies of the model process share this code, so that a clip is cut in the caller's process, window
by window, and never travels as a whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from foley_desktop.index.embedders.frontend import PLAIN_RULE, WindowRule, audible, cut_windows, slices
from foley_desktop.index.protocols import Window

Vectors = dict[str, np.ndarray]
"""The vectors of one window by space, float32 of unit length."""

_AHEAD = 3


class Description(NamedTuple):
    """The spaces of an embedder. ``likeness_*`` is None without a sound-only space of its own.

    ``rule`` says how it wants clips cut. ``padding`` is the number of last columns of the joint space in
    which no text points: they only bring vectors of sounds to unit length.
    """

    model_id: str
    dim: int
    likeness_model_id: str | None = None
    likeness_dim: int | None = None
    rule: WindowRule = PLAIN_RULE
    padding: int = 0

    def dims(self) -> dict[str, int]:
        """Length of the vectors by space."""
        dims = {self.model_id: self.dim}
        if self.likeness_model_id is not None and self.likeness_dim is not None:
            dims[self.likeness_model_id] = self.likeness_dim
        return dims


def unit(vector: np.ndarray) -> np.ndarray:
    """``vector`` scaled to length one, float32; the zero vector stays what it is."""
    vector = np.asarray(vector, dtype=np.float32)
    norm = float(np.linalg.norm(vector))
    return vector / np.float32(norm) if norm > 0.0 else vector


class WindowedEmbedder:
    """The part of an embedder that does not depend on the model.

    Clips are cut by the ``rule`` of its description; sound at its rate needs no resampling. Every
    method that takes sound raises :class:`foley_desktop.errors.SilentAudioError` for silence, for
    empty input and for samples that are not numbers.
    """

    def __init__(self, description: Description) -> None:
        self.description = description
        self.model_id = description.model_id
        self.dim = description.dim
        self.rule = description.rule

    @property
    def likeness(self) -> Likeness:
        """The space in which nearness means that two sounds are alike."""
        return Likeness(self)

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        """Unit vectors of the joint space, float32 ``(n, dim)``."""
        raise NotImplementedError

    def submit(self, samples: np.ndarray) -> Callable[[], Vectors]:
        """Starts on one window, float32 mono at the rule's rate; the call of what comes back waits for it."""
        raise NotImplementedError

    def embed_stream(self, blocks: Iterable[np.ndarray], sr: int) -> dict[str, list[Window]]:
        """The windows of a clip by space, from blocks of samples in order.

        Memory does not grow with the clip. ``blocks`` are float32 ``(n,)`` or ``(n, channels)`` of
        any length, at ``sr`` Hz.
        """
        return self.begin_stream(blocks, sr)()

    def begin_stream(self, blocks: Iterable[np.ndarray], sr: int) -> Callable[[], dict[str, list[Window]]]:
        """Takes all of a clip in, as :meth:`embed_stream` does, and leaves its last windows running.

        Calling what comes back waits for them, so that the next clip can be read meanwhile.
        """
        running: deque[tuple[float, float, float, Callable[[], Vectors]]] = deque()
        done: list[tuple[float, float, float, Vectors]] = []

        def settle(left: int) -> None:
            while len(running) > left:
                start, end, peak, wait = running.popleft()
                done.append((start, end, peak, wait()))

        for cut in cut_windows(blocks, sr, self.rule):
            peak = float(np.max(np.abs(cut.samples)))
            running.append((cut.start_s, cut.end_s, peak, self.submit(cut.samples)))
            settle(_AHEAD - 1)

        def windows() -> dict[str, list[Window]]:
            settle(0)
            keep = audible([peak for _, _, peak, _ in done])
            kept = [entry for entry, good in zip(done, keep, strict=True) if good]
            return {
                space: [Window(start, end, vectors[space]) for start, end, _, vectors in kept]
                for space in self.description.dims()
            }

        return windows

    def embed_spaces(self, wav: np.ndarray, sr: int) -> dict[str, list[Window]]:
        """The windows of a clip by space, the network run once for all of them."""
        wav = np.asarray(wav)
        return self.embed_stream(slices(wav) if wav.size else [wav], sr)

    def embed_windows(self, wav: np.ndarray, sr: int) -> list[Window]:
        """The windows of a clip in the joint space."""
        return self.embed_spaces(wav, sr)[self.model_id]

    def embed_audio(self, wav: np.ndarray, sr: int) -> np.ndarray:
        """One vector for a clip in the joint space, float32 ``(dim,)``: the mean of its windows."""
        return mean_vector(self.embed_windows(wav, sr))


class Likeness:
    """The sound-only space of an embedder, or its joint space where it has no other."""

    def __init__(self, owner: WindowedEmbedder) -> None:
        self._owner = owner
        described = owner.description
        self.model_id = described.likeness_model_id or described.model_id
        self.dim = described.likeness_dim or described.dim
        self.rule = described.rule

    def embed_windows(self, wav: np.ndarray, sr: int) -> list[Window]:
        """The windows of a clip in this space."""
        return self._owner.embed_spaces(wav, sr)[self.model_id]

    def embed_audio(self, wav: np.ndarray, sr: int) -> np.ndarray:
        """One vector for a clip in this space, float32 ``(dim,)``."""
        return mean_vector(self.embed_windows(wav, sr))


def mean_vector(windows: Sequence[Window]) -> np.ndarray:
    """The direction in which the windows point together, float32 of unit length."""
    return unit(np.mean([window.vector for window in windows], axis=0))
