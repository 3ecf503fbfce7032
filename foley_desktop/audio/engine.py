"""The audio callback's work: copying frames out of rings, with fades between them.

What runs here runs on the sound card's deadline: nothing is allocated but numpy's views, nothing waits.
A new clip gets a ring of its own and is prepared there while the old one still sounds; handing it over is
one assignment. Free of devices, so that tests can pull blocks and look at every sample.
"""

from __future__ import annotations

import time

import numpy as np

from foley_desktop.audio.ring import Ring
from foley_desktop.audio.source import fade_curve

RING_S = 1.0
"""Seconds that a ring holds: how long the decoder may be held up before it is heard."""

_SLIDE = 8192


class Engine:
    """Mixes at most two rings, one coming and one leaving, into blocks of the device's format.

    Three threads meet here. The owner sets ``audible``, ``wanted`` and ``gain``; the decoder thread takes a
    ring with :meth:`spare`, fills it and gives it back with :meth:`post`; the device's thread calls
    :meth:`render`. A ring moves posted -> current -> leaving -> spare, always entering the next place
    before it leaves the last one.

    Attributes:
        audible: False fades out and holds; True goes on where it stopped.
        wanted: A ring with a lower serial fades out and is dropped.
        gain: Linear gain; a change is spread over one block.
        calls: How many blocks were rendered.
        underruns: How many of them found too few frames in mid-play.
    """

    def __init__(self, samplerate: int, channels: int, ring_s: float = RING_S) -> None:
        self.samplerate = samplerate
        self.channels = channels
        self.audible = False
        self.wanted = 0
        self.gain = 1.0
        self.calls = 0
        self.underruns = 0
        size = max(1024, round(ring_s * samplerate))
        self._rings = tuple(Ring(size, channels) for _ in range(3))
        self._posted: Ring | None = None
        self._current: Ring | None = None
        self._leaving: Ring | None = None
        self._rise = fade_curve(samplerate)[:, None]
        self._fall = np.ascontiguousarray(self._rise[::-1])
        self._full = len(self._rise)
        self._scratch = np.zeros((self._full, channels), np.float32)
        self._steps = np.linspace(0.0, 1.0, _SLIDE, endpoint=False, dtype=np.float32)[:, None]
        self._gains = np.ones((_SLIDE, 1), np.float32)
        self._last_gain = 1.0
        # What is heard, as of the last block that took frames: read and written around an odd/even count.
        self._version = 0
        self._mark_serial = -1
        self._mark_taken = 0
        self._mark_count = 0
        self._mark_floor = 0
        self._mark_time = 0.0
        self._flowing = False

    # ---- the decoder thread

    def spare(self) -> Ring | None:
        """A ring that nothing else uses, or None until the last change has been taken up."""
        posted = self._posted  # in the order in which rings move, so that none is overlooked
        current = self._current
        leaving = self._leaving
        if posted is not None:
            return None
        return next((r for r in self._rings if r is not current and r is not leaving), None)

    def post(self, ring: Ring) -> None:
        """Hands over a ring of :meth:`spare`; it replaces the one that sounds with the next block."""
        self._posted = ring

    # ---- any thread

    def heard(self, now: float) -> tuple[int, int]:
        """The serial of what is heard at ``now`` (``time.perf_counter``) and which of its frames."""
        for _ in range(100):
            version = self._version
            serial, taken, count = self._mark_serial, self._mark_taken, self._mark_count
            floor, mark_time = self._mark_floor, self._mark_time
            if version == self._version and version % 2 == 0:
                break
            time.sleep(0)
        frame = taken + min(count, int((now - mark_time) * self.samplerate))
        return serial, max(floor, frame)

    # ---- the device's thread

    def render(self, out: np.ndarray, heard_at: float) -> None:
        """Fills ``out`` (float32 ``(n, device channels)``), values -1 to 1.

        Args:
            out: More channels than the engine has stay silent.
            heard_at: When its first frame will be heard, on the clock of ``time.perf_counter``.
        """
        out.fill(0.0)
        mixed = out if out.shape[1] == self.channels else out[:, : self.channels]
        if self._leaving is not None:
            self._fade_away(self._leaving, mixed)
            if self._leaving.level == 0:
                self._leaving = None
        if self._posted is not None and self._leaving is None:
            self._take_up(mixed)
        ring = self._current
        if ring is not None:
            before = ring.taken
            if self.audible and ring.serial >= self.wanted:
                self._play(ring, mixed)
            else:
                self._fade_away(ring, mixed)
                if ring.level == 0 and ring.serial < self.wanted:
                    self._current = None
            self._mark(ring, before, heard_at)
        self._finish(mixed)
        self.calls += 1

    def _take_up(self, out: np.ndarray) -> None:
        old, new = self._current, self._posted
        assert new is not None
        # The source has faded it in already; what is no longer wanted does not sound at all.
        new.level = self._full if self.audible and new.serial >= self.wanted else 0
        if old is not None and old.level > 0:
            self._leaving = old
        self._current = new
        self._posted = None
        self._flowing = False
        if self._leaving is not None:
            self._fade_away(self._leaving, out)
            if self._leaving.level == 0:
                self._leaving = None

    def _play(self, ring: Ring, out: np.ndarray) -> None:
        count = min(len(out), ring.ready)
        if count < len(out) and not (ring.ended or ring.lull):
            # Looked at again: the decoder may have put in the last frames between the two questions.
            count = min(len(out), ring.ready)
            self.underruns += count < len(out) and not ring.ended
        at = 0
        if ring.level < self._full:
            at = min(count, self._full - ring.level)
            self._add(ring, out, 0, at, self._rise[ring.level : ring.level + at])
            ring.level += at
        self._add(ring, out, at, count - at, None)

    def _fade_away(self, ring: Ring, out: np.ndarray) -> None:
        count = min(len(out), ring.level, ring.ready)
        start = self._full - ring.level
        ring.level = 0 if ring.ready == count else ring.level - count
        self._add(ring, out, 0, count, self._fall[start : start + count])

    def _add(self, ring: Ring, out: np.ndarray, at: int, count: int, gains: np.ndarray | None) -> None:
        """Adds the ring's next ``count`` frames to ``out`` from ``at`` on."""
        while count > 0:
            begin = ring.taken % ring.size
            size = min(count, ring.size - begin)
            frames = ring.frames[begin : begin + size]
            if gains is not None:
                frames = np.multiply(frames, gains[:size], out=self._scratch[:size])
                gains = gains[size:]
            target = out[at : at + size]
            np.add(target, frames, out=target)
            ring.taken += size
            at += size
            count -= size

    def _mark(self, ring: Ring, before: int, heard_at: float) -> None:
        count = ring.taken - before
        if count == 0:
            self._flowing = False
            return
        self._version += 1
        if not self._flowing:
            self._mark_floor = before  # what came before has been heard, or was another ring's
            self._flowing = True
        self._mark_serial = ring.serial
        self._mark_taken, self._mark_count = before, count
        self._mark_time = heard_at
        self._version += 1

    def _finish(self, out: np.ndarray) -> None:
        """Gain, and the only place where anything is clipped."""
        gain, last = self.gain, self._last_gain
        if gain != last:
            self._slide(out, last, gain)
            self._last_gain = gain
        elif gain != 1.0:
            np.multiply(out, gain, out=out)
        np.minimum(out, 1.0, out=out)
        np.maximum(out, -1.0, out=out)

    def _slide(self, out: np.ndarray, last: float, gain: float) -> None:
        """Spreads a change of gain over the block, up to :data:`_SLIDE` frames of it."""
        size = min(len(out), _SLIDE)
        every = _SLIDE // size
        ramp = self._gains[:size]
        np.multiply(self._steps[: size * every : every], gain - last, out=ramp)
        np.add(ramp, last, out=ramp)
        np.multiply(out[:size], ramp, out=out[:size])
        np.multiply(out[size:], gain, out=out[size:])
