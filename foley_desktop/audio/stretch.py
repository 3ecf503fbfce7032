"""Another speed at the same pitch, in a stream: Rubber Band over pieces, joined where they agree.

Rubber Band comes by way of pedalboard, which has it for whole arrays only. A two-hour clip cannot wait for
that, so the sound is stretched piece by piece, each with some of its surroundings, and a new piece is joined
to the last one where their waves agree best (the splice of WSOLA: Verhelst and Roelands, ICASSP 1993). Where
the pieces lie depends on nothing but their place in the sound, so it never matters how it is fed.

The first piece is what someone who pressed a key waits for. Slower than the clip, it is made with Rubber
Band's short window, which takes a third of the time and keeps attacks about as well as the several windows
that Rubber Band chooses otherwise. Faster, it is not: there the short window blurs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

_FIRST_S = 0.15
_LONGEST_S = 1.2
_CONTEXT_S = 0.12
"""Seconds of the source on either side of a piece that let Rubber Band settle."""
_JOIN_S = 0.03
_SEARCH_S = 0.012
_LEAST = 1024  # frames that Rubber Band makes something of


class Stretch:
    """Takes blocks of a sound, gives blocks of the same sound at another speed.

    Args:
        samplerate: Hz.
        channels: Of every block.
        speed: 2 is twice as fast.
    """

    def __init__(self, samplerate: int, channels: int, speed: float) -> None:
        self._rate, self._channels, self._speed = samplerate, channels, speed
        self._context = round(_CONTEXT_S * samplerate)
        self._join = round(_JOIN_S * samplerate)
        self._search = round(_SEARCH_S * samplerate)
        self._source = np.zeros((0, channels), np.float32)
        self._source_at = 0  # the frame of the sound that the kept source begins with
        self._begin, self._size = 0, round(_FIRST_S * samplerate)  # of the next piece, in what is given
        self._tail: np.ndarray | None = None  # what the last piece goes on with

    def push(self, block: np.ndarray) -> Iterator[np.ndarray]:
        """Takes float32 ``(n, channels)``; gives the blocks that are ready, often none.

        Each is made when it is asked for, so that the first can sound before the others are made; all have
        to be taken before the next call.
        """
        self._source = np.concatenate((self._source, block))
        while self._source_at + len(self._source) >= self._needed():
            piece = self._piece(self._begin + self._size)
            self._forget()
            yield piece

    def finish(self) -> Iterator[np.ndarray]:
        """The rest, after the last block: all told ``round(n / speed)`` frames."""
        total = round((self._source_at + len(self._source)) / self._speed)
        while self._begin < total:
            yield self._piece(min(self._begin + self._size, total))

    def _needed(self) -> int:
        """How much of the source the next piece asks for, from the sound's beginning."""
        end = self._begin + self._size + self._join + self._search
        return round(end * self._speed) + self._context + 1

    def _piece(self, end: int) -> np.ndarray:
        """What is given from ``_begin`` to ``end``, joined to the piece before."""
        first = max(0, round((self._begin - self._search) * self._speed) - self._context)
        last = round((end + self._join + self._search) * self._speed) + self._context
        source = self._source[first - self._source_at : last - self._source_at]
        quickly = self._begin == 0 and self._speed < 1
        out = _rubber_band(source, self._rate, self._speed, quickly=quickly)
        at = self._begin - round(first / self._speed)
        want = end - self._begin
        piece = out
        if self._tail is not None:
            at += _best_lag(self._tail, out[max(0, at - self._search) :], min(self._search, at))
            piece = _joined(self._tail, out, at)
        whole = _padded(piece[at:], want)
        self._tail = out[at + want : at + want + self._join]
        self._begin, self._size = end, min(3 * self._size // 2, round(_LONGEST_S * self._rate))
        return whole

    def _forget(self) -> None:
        """Lets go of the source that no further piece will look at."""
        first = max(0, round((self._begin - self._search) * self._speed) - self._context)
        self._source = self._source[first - self._source_at :]
        self._source_at = first


def load() -> None:
    """Loads Rubber Band, up to 0.1 s: for when a stretched sound may soon be asked for."""
    import pedalboard  # noqa: F401


def _rubber_band(source: np.ndarray, samplerate: int, speed: float, *, quickly: bool) -> np.ndarray:
    from pedalboard import time_stretch  # slow to import, and rarely wanted

    if len(source) < _LEAST:
        source = np.concatenate((source, np.zeros((_LEAST - len(source), source.shape[1]), np.float32)))
    out = time_stretch(
        np.ascontiguousarray(source.T),
        float(samplerate),
        speed,
        high_quality=True,
        use_long_fft_window=False if quickly else None,
        preserve_formants=False,  # at the same pitch they stay where they are; keeping them costs time
    )
    return np.ascontiguousarray(out.T)


def _best_lag(tail: np.ndarray, out: np.ndarray, before: int) -> int:
    """How many frames later than planned, at least ``-before``, ``out`` goes on best from ``tail``.

    ``out`` begins ``before`` frames ahead of the planned place.
    """
    wanted = tail.mean(axis=1, dtype=np.float64)
    wave = out[: 2 * before + len(tail)].mean(axis=1, dtype=np.float64)
    places = len(wave) - len(wanted) + 1
    if places < 1 or not wanted.any():
        return 0
    size = 1 << (len(wave) + len(wanted)).bit_length()
    likeness = np.fft.irfft(np.fft.rfft(wave, size) * np.conj(np.fft.rfft(wanted, size)), size)[:places]
    energy = np.concatenate(([0.0], np.cumsum(wave**2)))
    likeness /= np.sqrt(np.maximum(energy[len(wanted) :][:places] - energy[:places], 1e-12))
    return int(np.argmax(likeness)) - before


def _joined(tail: np.ndarray, out: np.ndarray, at: int) -> np.ndarray:
    """``out`` with the frames from ``at`` on faded over from ``tail``, keeping its power."""
    count = min(len(tail), len(out) - at)
    if count <= 0:
        return out
    out = out.copy()
    old, new = tail[:count], out[at : at + count]
    rise = np.sin((np.arange(count) + 0.5) * (np.pi / 2 / count))[:, None] ** 2
    powers = np.sqrt(float(np.vdot(old, old)) * float(np.vdot(new, new)))
    alike = min(1.0, max(0.0, float(np.vdot(old, new)) / powers)) if powers else 1.0
    power = rise**2 + (1 - rise) ** 2 + 2 * alike * rise * (1 - rise)
    out[at : at + count] = (old * (1 - rise) + new * rise) / np.sqrt(power)
    return out


def _padded(block: np.ndarray, frames: int) -> np.ndarray:
    """Exactly ``frames`` frames; Rubber Band's own rounding may leave the last piece a few short."""
    if len(block) >= frames:
        return block[:frames]
    return np.concatenate((block, np.zeros((frames - len(block), block.shape[1]), np.float32)))


def stretch_blocks(
    blocks: Iterable[np.ndarray], samplerate: int, channels: int, speed: float
) -> Iterator[np.ndarray]:
    """The blocks of a whole sound at another speed; the same ones at speed 1."""
    if speed == 1.0:
        yield from blocks
        return
    stretch = Stretch(samplerate, channels, speed)
    for block in blocks:
        yield from stretch.push(block)
    yield from stretch.finish()


def stretched(samples: np.ndarray, samplerate: int, speed: float) -> np.ndarray:
    """A whole sound ``(n, channels)`` at another speed."""
    parts = list(stretch_blocks([samples], samplerate, samples.shape[1], speed))
    return np.concatenate(parts) if parts else samples[:0]
