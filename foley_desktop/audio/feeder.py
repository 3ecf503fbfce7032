"""The thread behind the player: opens the device, decodes ahead, notices when the device is gone.

It looks only at the latest wish on the :class:`Board`, so thirty selections in three seconds never pile up,
and a slow disk or a device that has died stalls this thread and not the window.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import replace

import numpy as np

from foley_desktop.audio.board import Board, Request, advice
from foley_desktop.audio.device import Opener, Output
from foley_desktop.audio.engine import Engine
from foley_desktop.audio.ring import Ring
from foley_desktop.audio.source import FADE_S, ClipSource
from foley_desktop.audio.stretch import load as load_stretcher
from foley_desktop.errors import FoleyError, PlaybackError

PRIME_S = 0.1
"""Seconds that are decoded before a clip begins to sound."""
LOST_AFTER_S = 0.8
"""A device that has not asked for a block for this long is gone."""
START_PATIENCE_S = 4.0
"""The same for one that has filled its buffer and not begun yet: sinks that sleep take a while to wake."""
FALTERED_AFTER_S = 0.25
"""The same for one that ran dry and may be waiting for itself: it is opened again, and the clip goes on."""
FALTER_AGAIN_S = 3.0
"""Opened again and silent again within this time, it is gone after all."""
IDLE_CLOSE_S = 20.0
"""Seconds after which a device that plays nothing is given back."""

_TICK_S = 0.02
_FIRST_FILL_S = 0.3  # blocks asked for later than this after the start are not the first filling


class Feeder:
    """Fulfils the board's latest request until ``board.closing``; :meth:`run` is the thread's body.

    Args:
        opener: Where outputs come from.
        device, latency: As :class:`foley_desktop.audio.player.Player` has them.
    """

    def __init__(self, board: Board, opener: Opener, device: str, latency: str) -> None:
        self._board = board
        self._opener, self._device, self._latency = opener, device, latency
        self._output: Output | None = None
        self._rest: np.ndarray | None = None  # decoded, and still without a place in the ring
        self._stale_devices = False
        self._calls, self._waited_s, self._looked_at = 0, 0.0, 0.0
        self._started_at, self._started, self._flowing = 0.0, False, False
        self._reopened_at = -FALTER_AGAIN_S
        self._idle_since: float | None = None

    def run(self) -> None:
        board, wait = self._board, 0.0
        while True:
            board.wake.wait(wait)
            board.wake.clear()
            if board.closing:
                break
            request = board.request
            try:
                wait = self._step(request)
            except Exception as error:
                self._fail(request, error)
                wait = 0.0
        if board.sounding is not None and self._output is not None:
            time.sleep(4 * FADE_S)  # lets the fade out reach the device
        self._drop_source()
        self._release(self._output)

    def _step(self, request: Request) -> float:
        """Does what the latest request needs next; returns how long to wait for another one."""
        board = self._board
        if board.state != "playing":
            if board.sounding is not None and board.sounding[0].serial != request.serial:
                self._drop_source()
            return self._idle()
        self._idle_since = None
        if self._output is not None and self._started and self._lost(self._output, board.engine):
            if not self._reopened(self._output):
                self._device_lost(self._output)
            return 0.0
        if board.sounding is None or board.sounding[0].serial != request.serial:
            return self._begin(request)
        return self._go_on(*board.sounding)

    # ---- clips

    def _begin(self, request: Request) -> float:
        """Prepares a ring for a new request and hands it over, unless a newer request came meanwhile."""
        board = self._board
        engine = board.engine or self._open_output()
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
            treatment=request.treatment,
            peak=request.peak,
            frames=request.frames,
            skip_silence=request.skip_silence,
        )
        ring.reset(request.serial)
        board.sounding = (request, source, ring)
        latency_s = self._output.latency_s if self._output is not None else 0.0
        prime = min(ring.size // 2, round(max(PRIME_S, 2 * latency_s) * engine.samplerate))
        while ring.ready < prime and not ring.ended:
            if board.request.serial != request.serial:
                return 0.0
            self._decode(ring, source)
        with board.lock:
            if board.request.serial == request.serial:
                board.duration_s = source.duration_s
                source.loop = board.request.loop
        engine.post(ring)
        if not self._started:
            self._start_output(engine)
        return 0.0

    def _go_on(self, request: Request, source: ClipSource, ring: Ring) -> float:
        """Keeps the ring full; at the clip's end waits until it has been heard, then stops."""
        board, engine = self._board, self._board.engine
        assert engine is not None
        while not ring.ended and ring.free and board.request.serial == request.serial:
            self._decode(ring, source)
        if not ring.finished:
            return _TICK_S
        serial, frame = engine.heard(time.perf_counter())
        if ring.written and serial == request.serial and frame < ring.written:
            return min(_TICK_S, (ring.written - frame) / engine.samplerate)
        with board.lock:
            if board.request.serial == request.serial and board.state == "playing":
                board.rest()
        return 0.0

    def _decode(self, ring: Ring, source: ClipSource) -> None:
        """Moves one block from the source into the ring; what does not fit waits for the next time."""
        board = self._board
        block = self._rest if self._rest is not None else source.read()
        self._rest = None
        if block is None:
            with board.lock:
                if board.request.serial == ring.serial:
                    board.duration_s = source.duration_s
            ring.ended = True
            return
        ring.lull = not len(block)
        count = ring.write(block)
        if count < len(block):
            self._rest = block[count:]

    def _drop_source(self) -> None:
        sounding, self._board.sounding, self._rest = self._board.sounding, None, None
        if sounding is not None:
            with contextlib.suppress(Exception):
                sounding[1].close()

    def _fail(self, request: Request, error: Exception) -> None:
        """Ends the request that could not be fulfilled, unless a newer one has replaced it.

        When it is the device's fault the position stays, to go on there; a broken clip has none.
        """
        clip_at_fault = not isinstance(error, PlaybackError)
        if not isinstance(error, PlaybackError):
            sentence = error.sentence if isinstance(error, FoleyError) else "This clip cannot be played."
            hint = error.hint if isinstance(error, FoleyError) else ""
            error = PlaybackError(sentence, hint=hint, cause=error)
        with self._board.lock:
            if self._board.request.serial == request.serial and self._board.state != "stopped":
                self._board.error = error
                self._board.rest(None if clip_at_fault else request.at_s)

    # ---- the device

    def _open_output(self) -> Engine:
        board = self._board
        if self._stale_devices:
            self._opener.refresh()
        self._stale_devices = True  # until it is known that the device works
        try:
            output = self._opener.open(self._device, self._latency)
        except PlaybackError as error:
            board.refusal = advice(error)
            raise
        engine = Engine(output.samplerate, min(2, output.channels))
        self._output = output
        self._started = False
        with board.lock:
            board.engine = engine
            board.apply()
        return engine

    def _start_output(self, engine: Engine) -> None:
        """Starts the stream, once there is something to play: its first blocks are sound already."""
        output = self._output
        assert output is not None
        try:
            output.start(engine.render)
        except Exception as error:
            self._forget_output()
            failure = PlaybackError(
                f"The sound device {output.name} does not start.",
                hint="Choose another output device in the settings, or connect it again.",
                cause=error,
            )
            self._board.refusal = advice(failure)
            self._fail(self._board.request, failure)  # whatever is wanted by now: there is no device for it
            return
        self._stale_devices = False
        self._board.refusal = ""
        self._calls, self._waited_s, self._looked_at = 0, 0.0, time.perf_counter()
        self._started_at, self._started, self._flowing = self._looked_at, True, False

    def _lost(self, output: Output, engine: Engine | None) -> bool:
        """Whether the device has stopped asking for blocks.

        Only time in which this thread itself ran counts: when the whole process was held up (a long
        import, a suspended laptop) the device is not to blame.
        """
        now = time.perf_counter()
        passed, self._looked_at = min(now - self._looked_at, 4 * _TICK_S), now
        calls = engine.calls if engine is not None else 0
        if calls != self._calls:
            self._flowing = self._flowing or now - self._started_at > _FIRST_FILL_S
            self._calls, self._waited_s = calls, 0.0
        else:
            self._waited_s += passed
        patience = LOST_AFTER_S if self._flowing else START_PATIENCE_S
        if self._may_reopen(output, now):
            patience = FALTERED_AFTER_S
        return self._waited_s > patience or not output.alive

    def _may_reopen(self, output: Output, now: float) -> bool:
        return output.faltered and output.alive and now - self._reopened_at > FALTER_AGAIN_S

    def _reopened(self, output: Output) -> bool:
        """Lets go of a stream that only faltered; what is to be heard goes on with the next one."""
        now = time.perf_counter()
        if not self._may_reopen(output, now):
            return False
        self._reopened_at = now
        self._forget_output()
        return True

    def _device_lost(self, output: Output) -> None:
        board = self._board
        with board.lock:
            board.error = PlaybackError(
                f"The sound device {output.name} has stopped.",
                hint="Press play to go on, on this device if it is back, otherwise on the default one.",
            )
            if board.state == "playing":
                board.state = "paused"
        self._stale_devices = True
        self._forget_output()

    def _idle(self) -> float:
        """Gives the device back when nothing was played for a while; a pause is kept as a position."""
        if self._board.warm:
            self._board.warm = False
            self._idle_since = None
            self._warm_up()
        if self._board.request.treatment.stretches:
            load_stretcher()
        if self._output is None:
            return 3600.0
        now = time.perf_counter()
        self._idle_since = self._idle_since or now
        left = self._idle_since + IDLE_CLOSE_S - now
        if left <= 0:
            self._forget_output()
        return max(0.0, left)

    def _warm_up(self) -> None:
        """Opens the device before it is needed; what stands in the way is told when something is played."""
        if self._output is None and not self._stale_devices:
            with contextlib.suppress(PlaybackError):
                self._start_output(self._open_output())

    def _forget_output(self) -> None:
        """Lets go of the device; what was to be heard begins, when asked for again, where it is now."""
        board = self._board
        with board.lock:
            position = board.position_s()
            engine, board.engine = board.engine, None
            if engine is not None:
                board.past_underruns += engine.underruns
            if board.state != "stopped":
                board.ask(replace(board.request, at_s=position))
        output, self._output = self._output, None
        self._drop_source()
        self._release(output)

    def _release(self, output: Output | None) -> None:
        """Closes a device, on a thread of its own: a device that is gone may never answer."""
        if output is not None:
            closer = threading.Thread(target=output.close, name="player: closing", daemon=True)
            closer.start()
            closer.join(1.0)
