"""Hearing a clip: what the window talks to when someone presses Space.

Every call returns at once. It writes down what is wanted now; one decoder thread, looking only at the
latest wish, opens the device, fills a ring and hands it to the engine. So thirty selections in three
seconds never pile up, and a slow disk or a device that has died stalls that thread and not the window.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from foley_desktop.audio.device import ClockOpener, Opener, Output, PortAudioOpener
from foley_desktop.audio.engine import Engine
from foley_desktop.audio.ring import Ring
from foley_desktop.audio.source import FADE_S, ClipSource
from foley_desktop.errors import FoleyError, PlaybackError

State = Literal["stopped", "playing", "paused"]

PRIME_S = 0.1
"""Seconds that are decoded before a clip begins to sound."""
LOST_AFTER_S = 0.8
"""A device that has not asked for a block for this long is gone."""
IDLE_CLOSE_S = 5.0
"""Seconds after which a device that plays nothing is given back."""

_TICK_S = 0.02


@dataclass(frozen=True)
class _Request:
    """What is to be heard. ``at_s`` is where to begin, the region what may be heard."""

    serial: int
    path: str
    at_s: float
    start_s: float = 0.0
    end_s: float | None = None
    loop: bool = False


class Player:
    """Plays one clip at a time; thread-safe, never blocks, knows no Qt.

    Args:
        device: Name of an output as PortAudio lists it, or a part of it; empty is the default.
        latency: ``low`` or ``high``.
        opener: Where outputs come from; tests pass one of their own.

    A clip that cannot be read or a device that refuses ends in state ``stopped`` with :attr:`error` set; a
    device that vanishes in mid-play in ``paused``, so that :meth:`resume` goes on there.
    """

    def __init__(self, device: str = "", latency: str = "low", *, opener: Opener | None = None) -> None:
        self._device, self._latency = device, latency
        self._opener: Opener = opener or PortAudioOpener()
        self._lock = threading.Lock()  # between callers and the decoder thread; the callback takes none
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._state: State = "stopped"
        self._request = _Request(0, "", 0.0)
        self._error: PlaybackError | None = None
        self._duration_s = 0.0
        self._gain = 1.0
        self._checked = False
        self._reason = ""
        self._past_underruns = 0
        # Written by the decoder thread only:
        self._output: Output | None = None
        self._engine: Engine | None = None
        self._sounding: tuple[_Request, ClipSource] | None = None
        self._ring: Ring | None = None
        self._rest: np.ndarray | None = None
        self._stale_devices = False
        self._calls, self._waited_s, self._looked_at, self._idle_since = -1, 0.0, 0.0, 0.0

    # ---- what is

    @property
    def available(self) -> bool:
        """Whether there is something to play on. The first time this asks PortAudio (some 0.2 s)."""
        if not self._checked:
            try:
                self._opener.check(self._device)
            except PlaybackError as error:
                self._reason = _whole(error)
            self._checked = True
        return not self._reason

    @property
    def unavailable_reason(self) -> str:
        """Why there is no sound, and what to do about it; empty when there is."""
        return "" if self.available else self._reason

    @property
    def state(self) -> State:
        return self._state

    @property
    def path(self) -> str:
        """The clip last asked for, empty before the first."""
        return self._request.path

    @property
    def duration_s(self) -> float:
        """Length of the clip in seconds, 0 until it was opened."""
        return self._duration_s

    @property
    def position_s(self) -> float:
        """The time in the clip that is heard now, the device's latency taken into account."""
        request, sounding, engine = self._request, self._sounding, self._engine
        if self._state != "stopped" and sounding is not None and engine is not None:
            serial, frame = engine.heard(time.perf_counter())
            if serial == request.serial == sounding[0].serial:
                return sounding[1].position_s(frame)
        return request.at_s

    @property
    def error(self) -> PlaybackError | None:
        """Why the last play ended or did not begin; None after the next :meth:`play`."""
        return self._error

    @property
    def underruns(self) -> int:
        """How many blocks the device asked for in mid-play that were not decoded in time."""
        engine = self._engine
        return self._past_underruns + (engine.underruns if engine is not None else 0)

    # ---- what is wanted

    def play(self, path: str, start_s: float = 0.0, end_s: float | None = None, loop: bool = False) -> None:
        """Plays a clip from ``start_s``; up to ``end_s`` when given, over and over when ``loop``.

        Args:
            path: Absolute path; may hold surrogate escapes.
            start_s, end_s: Seconds. With ``loop`` this is the stretch that repeats.
        """
        start_s = max(0.0, start_s)
        with self._lock:
            if self._closing:
                return
            if path != self._request.path:
                self._duration_s = 0.0
            self._error = None
            self._state = "playing"
            self._ask(_Request(0, path, start_s, start_s, end_s, loop))

    def pause(self) -> None:
        with self._lock:
            if self._state == "playing":
                self._state = "paused"
                self._apply()

    def resume(self) -> None:
        """Goes on after a pause; after a stop or the clip's end, plays again from where it rests."""
        with self._lock:
            if self._closing or self._state == "playing" or not self._request.path:
                return
            was, self._state = self._state, "playing"
            self._error = None
            if was == "stopped":
                self._ask(self._request)
            else:
                self._apply()

    def toggle(self) -> None:
        if self._state == "playing":
            self.pause()
        else:
            self.resume()

    def stop(self) -> None:
        """Silence; the position goes back to where play began."""
        with self._lock:
            self._state = "stopped"
            self._ask(replace(self._request, at_s=self._request.start_s))

    def seek(self, s: float) -> None:
        """Goes to a time in the clip; outside the region that is played, the region is given up."""
        with self._lock:
            request, s = self._request, max(0.0, s)
            if self._duration_s:
                s = min(s, self._duration_s)
            if s < request.start_s or (request.end_s is not None and s >= request.end_s):
                request = replace(request, start_s=0.0, end_s=None)
            self._ask(replace(request, at_s=s))

    def set_loop(self, on: bool) -> None:
        """Whether what is played repeats, from now on."""
        with self._lock:
            if on == self._request.loop:
                return
            sounding, ring = self._sounding, self._ring
            self._request = replace(self._request, loop=on)
            if sounding is not None and sounding[0].serial == self._request.serial:
                sounding[1].loop = on
                if on and self._state == "playing" and ring is not None and ring.ended:
                    self._ask(replace(self._request, at_s=sounding[1].position_s(ring.taken)))

    def set_gain_db(self, x: float) -> None:
        """Loudness in dB, 0 is the file's own."""
        with self._lock:
            self._gain = 10.0 ** (min(x, 24.0) / 20.0)
            self._apply()

    def close(self, timeout_s: float = 2.0) -> None:
        """Ends playback, the decoder thread and the stream. The player cannot be used afterwards."""
        with self._lock:
            self._closing = True
            self._state = "stopped"
            self._apply()
            thread = self._thread
        self._wake.set()
        if thread is not None:
            thread.join(timeout_s)

    # ---- held by the lock

    def _ask(self, request: _Request) -> None:
        """Makes a request the latest; what sounds now fades out with the next block."""
        self._request = replace(request, serial=self._request.serial + 1)
        self._apply()

    def _apply(self) -> None:
        if (engine := self._engine) is not None:
            engine.wanted = self._request.serial
            engine.audible = self._state == "playing"
            engine.gain = self._gain
        if self._thread is None and self._state == "playing" and not self._closing:
            self._thread = threading.Thread(target=self._run, name="player", daemon=True)
            self._thread.start()
        self._wake.set()

    # ---- the decoder thread

    def _run(self) -> None:
        wait = 0.0
        while not self._closing:
            self._wake.wait(wait)
            self._wake.clear()
            request = self._request
            try:
                wait = self._step(request)
            except Exception as error:
                self._fail(request, error)
                wait = 0.0
        if self._engine is not None and self._sounding is not None:
            time.sleep(FADE_S * 4)  # lets the fade out of close() reach the device
        self._drop_source()
        self._release(self._output)

    def _step(self, request: _Request) -> float:
        """Does what the latest request needs next; returns how long to wait for another one."""
        if self._state == "playing":
            if self._output is not None and self._lost():
                self._device_lost()
                return 0.0
            if self._sounding is None or self._sounding[0].serial != request.serial:
                return self._begin(request)
            self._fill(request)
            return self._after_fill(request)
        if self._sounding is not None and self._sounding[0].serial != request.serial:
            self._drop_source()
        return self._idle()

    def _begin(self, request: _Request) -> float:
        """Prepares a ring for a new request and hands it over, unless a newer request came meanwhile."""
        engine = self._engine or self._open_output()
        ring = engine.spare()
        if ring is None:
            return 0.001
        self._drop_source()
        source = ClipSource(
            request.path,
            engine.samplerate,
            engine.channels,
            start_s=request.at_s,
            region_s=(request.start_s, request.end_s),
            loop=request.loop,
        )
        ring.reset(request.serial)
        self._ring, self._sounding = ring, (request, source)
        prime = min(ring.size // 2, round(max(PRIME_S, 2 * self._latency_s()) * engine.samplerate))
        while ring.ready < prime and not ring.ended:
            if self._request.serial != request.serial:
                return 0.0
            self._decode(ring, source)
        with self._lock:
            if self._request.serial == request.serial:
                self._duration_s = source.duration_s
                source.loop = self._request.loop
        engine.post(ring)
        return 0.0

    def _fill(self, request: _Request) -> None:
        assert self._sounding is not None and self._ring is not None
        ring, source = self._ring, self._sounding[1]
        while not ring.ended and ring.free and self._request.serial == request.serial:
            self._decode(ring, source)

    def _decode(self, ring: Ring, source: ClipSource) -> None:
        """Moves one block from the source into the ring; what does not fit waits for the next time."""
        block = self._rest if self._rest is not None else source.read()
        self._rest = None
        if block is None:
            with self._lock:
                if self._request.serial == ring.serial:
                    self._duration_s = source.duration_s
            ring.ended = True
            return
        count = ring.write(block)
        if count < len(block):
            self._rest = block[count:]

    def _after_fill(self, request: _Request) -> float:
        """At the clip's end waits until it has been heard, then stops."""
        engine, ring = self._engine, self._ring
        assert engine is not None and ring is not None
        if not ring.finished:
            return _TICK_S
        serial, frame = engine.heard(time.perf_counter())
        if ring.written and serial == request.serial and frame < ring.written:
            return min(_TICK_S, (ring.written - frame) / engine.samplerate)
        with self._lock:
            if self._request.serial == request.serial and self._state == "playing":
                self._state = "stopped"
                self._ask(replace(self._request, at_s=self._request.start_s))
        return 0.0

    def _idle(self) -> float:
        """Gives the device back when nothing was played for a while; a pause is kept as a position."""
        if self._output is None:
            return 3600.0
        now = time.perf_counter()
        if self._idle_since == 0.0:
            self._idle_since = now
        left = self._idle_since + IDLE_CLOSE_S - now
        if left > 0:
            return left
        self._forget_output()
        return 3600.0

    def _open_output(self) -> Engine:
        if self._stale_devices:
            self._opener.refresh()
            self._stale_devices = False
        try:
            output = self._opener.open(self._device, self._latency)
        except PlaybackError as error:
            self._stale_devices = True
            self._checked, self._reason = True, _whole(error)
            raise
        engine = Engine(output.samplerate, min(2, output.channels))
        with self._lock:
            self._output, self._engine = output, engine
            self._checked, self._reason = True, ""
            self._apply()
        try:
            output.start(engine.render)
        except Exception as error:
            self._forget_output()
            self._stale_devices = True
            raise PlaybackError(
                f"The sound device {output.name} does not start.",
                hint="Choose another output device in the settings, or connect it again.",
                cause=error,
            ) from error
        self._calls, self._waited_s, self._looked_at = -1, 0.0, time.perf_counter()
        return engine

    def _latency_s(self) -> float:
        return self._output.latency_s if self._output is not None else 0.0

    def _lost(self) -> bool:
        """Whether the device has stopped asking for blocks.

        Only time in which this thread itself ran counts: when the whole process was held up (a long
        import, a suspended laptop) the device is not to blame.
        """
        assert self._engine is not None and self._output is not None
        now, self._idle_since = time.perf_counter(), 0.0
        passed, self._looked_at = min(now - self._looked_at, 4 * _TICK_S), now
        if self._engine.calls != self._calls:
            self._calls, self._waited_s = self._engine.calls, 0.0
        else:
            self._waited_s += passed
        return self._waited_s > LOST_AFTER_S or not self._output.alive

    def _device_lost(self) -> None:
        name = self._output.name if self._output is not None else ""
        self._forget_output()
        self._stale_devices = True
        with self._lock:
            self._error = PlaybackError(
                f"The sound device {name} has stopped.",
                hint="Press play to go on, on this device if it is back, otherwise on the default one.",
            )
            if self._state == "playing":
                self._state = "paused"

    def _forget_output(self) -> None:
        """Lets go of the device; what was to be heard begins, when asked for again, where it is now."""
        with self._lock:
            position = self.position_s
            output, engine = self._output, self._engine
            self._output = self._engine = None
            self._idle_since = 0.0
            if engine is not None:
                self._past_underruns += engine.underruns
            if self._state != "stopped":
                self._ask(replace(self._request, at_s=position))
        self._drop_source()
        self._release(output)

    def _release(self, output: Output | None) -> None:
        """Closes a device, on a thread of its own: a device that is gone may never answer."""
        if output is not None:
            closer = threading.Thread(target=output.close, name="player: closing", daemon=True)
            closer.start()
            closer.join(1.0)

    def _drop_source(self) -> None:
        sounding, self._sounding, self._ring, self._rest = self._sounding, None, None, None
        if sounding is not None:
            with contextlib.suppress(Exception):
                sounding[1].close()

    def _fail(self, request: _Request, error: Exception) -> None:
        """Ends the request that could not be fulfilled, unless a newer one has replaced it."""
        if not isinstance(error, PlaybackError):
            sentence = error.sentence if isinstance(error, FoleyError) else "This clip cannot be played."
            hint = error.hint if isinstance(error, FoleyError) else ""
            error = PlaybackError(sentence, hint=hint, cause=error)
        with self._lock:
            if self._request.serial == request.serial:
                self._error = error
                self._state = "stopped"
                self._ask(replace(self._request, at_s=self._request.start_s))


def _whole(error: PlaybackError) -> str:
    return f"{error.sentence} {error.hint}".strip()


class SilentPlayer(Player):
    """The same for machines without sound: the playhead runs by the clock, nothing is heard."""

    def __init__(self, reason: str = "There is no sound output.") -> None:
        super().__init__(opener=ClockOpener())
        self._checked, self._silent_reason = True, reason

    @property
    def available(self) -> bool:
        return False

    @property
    def unavailable_reason(self) -> str:
        return self._silent_reason


def create_player(device: str = "", latency: str = "low") -> Player:
    """A player for this machine: a real one, or a :class:`SilentPlayer` that says why.

    Asks PortAudio for its devices (some 0.2 s): not for a GUI thread.
    """
    player = Player(device, latency)
    return player if player.available else SilentPlayer(player.unavailable_reason)
