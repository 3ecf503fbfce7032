"""Hearing a clip: what the window talks to when someone presses Space.

Every call returns at once: it writes down what is wanted now, and a thread of its own (``feeder``) sees to
it. The audio callback (``engine``) only copies what that thread has prepared.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from foley_desktop.audio.board import Board, Request, State, advice
from foley_desktop.audio.device import ClockOpener, Opener, PortAudioOpener
from foley_desktop.audio.feeder import Feeder
from foley_desktop.audio.treatment import Treatment
from foley_desktop.errors import PlaybackError

MAX_GAIN_DB = 24.0
_LEAST_S = 0.001


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
        self._device = device
        self._opener: Opener = opener or PortAudioOpener()
        self._board = Board()
        self._feeder = Feeder(self._board, self._opener, device, latency)
        self._thread: threading.Thread | None = None
        self._reason: str | None = None

    # ---- what is

    @property
    def available(self) -> bool:
        """Whether there is something to play on. The first time this asks PortAudio (some 0.2 s)."""
        return not self.unavailable_reason

    @property
    def unavailable_reason(self) -> str:
        """Why there is no sound and what to do about it, one or two sentences; empty when there is."""
        if self._board.refusal is not None:
            return self._board.refusal
        if self._reason is None:
            try:
                self._opener.check(self._device)
                self._reason = ""
            except PlaybackError as error:
                self._reason = advice(error)
        return self._reason

    @property
    def state(self) -> State:
        return self._board.state

    @property
    def path(self) -> str:
        """The clip last asked for, empty before the first."""
        return self._board.request.path

    @property
    def duration_s(self) -> float:
        """Length of the clip in seconds, 0 until it was opened."""
        return self._board.duration_s

    @property
    def position_s(self) -> float:
        """The time in the clip that is heard now, the device's latency taken into account."""
        return self._board.position_s()

    @property
    def error(self) -> PlaybackError | None:
        """Why the last play ended or did not begin; None after the next :meth:`play` or :meth:`resume`."""
        return self._board.error

    @property
    def underruns(self) -> int:
        """How many blocks the device asked for in mid-play that were not decoded in time."""
        engine = self._board.engine
        return self._board.past_underruns + (engine.underruns if engine is not None else 0)

    # ---- what is wanted

    def play(
        self,
        path: str,
        start_s: float = 0.0,
        end_s: float | None = None,
        loop: bool = False,
        *,
        at_s: float | None = None,
        treatment: Treatment | None = None,
        peak: float | None = None,
        frames: int | None = None,
    ) -> None:
        """Plays a clip from ``start_s``; up to ``end_s`` when given, over and over when ``loop``.

        Args:
            path: Absolute path; may hold surrogate escapes.
            start_s, end_s: Seconds. With ``loop`` this is the stretch that repeats; reversed, it begins to
                sound at its end.
            at_s: Where in that stretch to begin, if not where it begins to sound.
            treatment: What is done to the sound from now on; None leaves it as it was.
            peak: The clip's highest sample (1.0 is full scale) where it is known, for normalising.
            frames: The clip's true length where it is known, for reversing.
        """
        board, start_s = self._board, max(0.0, start_s)
        with board.lock:
            if board.closing:
                return
            if path != board.request.path:
                board.duration_s = 0.0
            board.error = None
            board.state = "playing"
            at_s = start_s if at_s is None else at_s
            treatment = treatment or board.request.treatment
            skips = board.request.skip_silence
            board.ask(Request(0, path, at_s, start_s, end_s, loop, treatment, peak, frames, skips))
            self._start_feeder()

    def prepare(self) -> None:
        """Something may be played soon: opens the device, which then is given back after a while."""
        with self._board.lock:
            if not self._board.closing:
                self._board.warm = True
                self._start_feeder()
                self._board.wake.set()

    def pause(self) -> None:
        with self._board.lock:
            if self._board.state == "playing":
                self._board.state = "paused"
                self._board.apply()

    def resume(self) -> None:
        """Goes on after a pause; after a stop or the clip's end, plays again from where it rests."""
        board = self._board
        with board.lock:
            if board.closing or board.state == "playing" or not board.request.path:
                return
            was, board.state = board.state, "playing"
            board.error = None
            if was == "stopped":
                board.ask(board.request)
            else:
                board.apply()

    def toggle(self) -> None:
        """Pauses what plays, and otherwise goes on."""
        if self.state == "playing":
            self.pause()
        else:
            self.resume()

    def stop(self) -> None:
        """Silence; the position goes back to where play began."""
        with self._board.lock:
            self._board.rest()

    def seek(self, s: float) -> None:
        """Goes to a time in the clip; outside the region that is played, the region is given up."""
        board = self._board
        with board.lock:
            request, s = board.request, max(0.0, s)
            if board.duration_s:
                s = min(s, board.duration_s)
            if s < request.start_s or (request.end_s is not None and s >= request.end_s):
                request = replace(request, start_s=0.0, end_s=None)
            if request.treatment.reverse:
                s = max(s, _LEAST_S)  # at 0 the reversed clip has ended, and would begin anew
            board.ask(replace(request, at_s=s))

    def set_treatment(self, treatment: Treatment, peak: float | None = None) -> None:
        """What is done to the sound from now on; what plays goes over to it where it is.

        Args:
            peak: The highest sample of the clip last asked for where it is known.
        """
        board = self._board
        with board.lock:
            peak = board.request.peak if peak is None else peak
            self._change(replace(board.request, treatment=treatment, peak=peak))

    def set_skip_silence(self, on: bool) -> None:
        """Whether silence before the first sound and pauses of more than a second are left out."""
        with self._board.lock:
            self._change(replace(self._board.request, skip_silence=on))

    def _change(self, request: Request) -> None:
        """Takes up another form of the same request, at once if it sounds. Hold the lock."""
        board = self._board
        if request == board.request:
            return
        if board.state == "stopped":
            board.request = request
            board.wake.set()  # the feeder may have something to get ready for it
        else:
            board.ask_over(request)

    def set_loop(self, on: bool) -> None:
        """Whether what is played repeats, from now on."""
        board = self._board
        with board.lock:
            if on == board.request.loop:
                return
            board.request = replace(board.request, loop=on)
            if board.sounding is None or board.sounding[0].serial != board.request.serial:
                return
            _, source, ring = board.sounding
            source.loop = on
            if on and ring.ended:  # the end is decoded already, so the way back has to be begun anew
                board.ask_over(board.request)

    def set_gain_db(self, x: float) -> None:
        """Loudness in dB; 0 is the file's own, :data:`MAX_GAIN_DB` the most."""
        with self._board.lock:
            self._board.gain = 10.0 ** (min(x, MAX_GAIN_DB) / 20.0)
            self._board.apply()

    def close(self, timeout_s: float = 2.0) -> None:
        """Ends playback, the thread and the stream. The player cannot be used afterwards."""
        with self._board.lock:
            self._board.closing = True
            self._board.rest()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _start_feeder(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._feeder.run, name="player", daemon=True)
            self._thread.start()


class SilentPlayer(Player):
    """The same for machines without sound: the playhead runs by the clock, nothing is heard.

    Args:
        reason: The sentence for the user.
    """

    def __init__(self, reason: str = "There is no sound output.") -> None:
        super().__init__(opener=ClockOpener())
        self._silence = reason

    @property
    def unavailable_reason(self) -> str:
        return self._silence


def create_player(device: str = "", latency: str = "low") -> Player:
    """A player for this machine: a real one, or a :class:`SilentPlayer` that says why.

    Asks PortAudio for its devices (some 0.2 s): not for a GUI thread.
    """
    player = Player(device, latency)
    return player if player.available else SilentPlayer(player.unavailable_reason)
