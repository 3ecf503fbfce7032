"""What is wanted of the player and what is so: the one place where its callers and its thread meet."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from typing import Literal

from foley_desktop.audio.engine import Engine
from foley_desktop.audio.ring import Ring
from foley_desktop.audio.source import ClipSource
from foley_desktop.audio.treatment import Treatment
from foley_desktop.errors import FoleyError, PlaybackError

State = Literal["stopped", "playing", "paused"]

OVER_S = 0.02
OVER_STRETCHED_S = 0.06
"""How long it takes, more or less, until another form of what sounds is ready to take over."""


@dataclass(frozen=True)
class Request:
    """What is to be heard.

    Attributes:
        at_s: Where to begin, in seconds of the clip.
        start_s, end_s: What may be heard.
        peak, frames: The clip's highest sample and true length where they are known already.
    """

    serial: int = 0
    path: str = ""
    at_s: float = 0.0
    start_s: float = 0.0
    end_s: float | None = None
    loop: bool = False
    treatment: Treatment = field(default_factory=Treatment)
    peak: float | None = None
    frames: int | None = None
    skip_silence: bool = False


def advice(error: FoleyError) -> str:
    """An error's sentence, and its hint behind it if there is one."""
    return f"{error.sentence} {error.hint}".strip()


class Board:
    """What is wanted and what is so, between the callers and the feeder.

    Attributes:
        lock: Held, for moments, by whoever changes ``request`` or ``state``; never by the callback.
        wake: Set when there is something new for the feeder.
        request, state: What is wanted now. Every change of ``request`` that has to be heard has a new serial.
        sounding: The request that was taken up last, its source and its ring; set by the feeder.
        engine: What renders, while a device is open; set by the feeder.
        warm: Set when a device should be ready for what may be played next; the feeder takes it back.
        refusal: Why the device could not be opened the last time, empty if it could, None before the first.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wake = threading.Event()
        self.closing = self.warm = False
        self.state: State = "stopped"
        self.request = Request()
        self.error: PlaybackError | None = None
        self.duration_s = 0.0
        self.gain = 1.0
        self.past_underruns = 0
        self.refusal: str | None = None
        self.engine: Engine | None = None
        self.sounding: tuple[Request, ClipSource, Ring] | None = None
        self._wanted = 0  # what has a lower serial falls silent
        self._before: tuple[Request, ClipSource, Ring] | None = None

    def ask(self, request: Request) -> None:
        """Makes a request the latest; what sounds now fades out with the next block. Hold the lock."""
        self._before = None
        self.request = replace(request, serial=self.request.serial + 1)
        self._wanted = self.request.serial
        self.apply()

    def ask_over(self, request: Request) -> None:
        """The same for another form of what sounds now, which goes on until the new form takes over."""
        sounding = self.sounding
        if self.state != "playing":
            self.ask(replace(request, at_s=self.position_s()))
            return
        at_s = self.request.at_s
        if sounding is not None and sounding[0].serial == self.request.serial:
            _, source, ring = sounding
            over_s = OVER_STRETCHED_S if request.treatment.stretches else OVER_S
            at_s = source.position_s(ring.taken + round(over_s * source.out_rate) if ring.taken else 0)
            self._before = sounding
        self.request = replace(request, at_s=at_s, serial=self.request.serial + 1)
        self.apply()

    def rest(self, at_s: float | None = None) -> None:
        """Silence; the position goes to ``at_s``, None is where play began. Hold the lock."""
        self.state = "stopped"
        self.ask(replace(self.request, at_s=self.request.start_s if at_s is None else at_s))

    def apply(self) -> None:
        """Tells the engine and wakes the feeder. Hold the lock."""
        if (engine := self.engine) is not None:
            engine.wanted = self._wanted
            engine.audible = self.state == "playing"
            engine.gain = self.gain
        self.wake.set()

    def position_s(self) -> float:
        """The time in the clip that is heard now."""
        request, sounding, engine = self.request, self.sounding, self.engine
        if self.state != "stopped" and engine is not None:
            serial, frame = engine.heard(time.perf_counter())
            for asked, source, _ in filter(None, (sounding, self._before)):
                if serial == asked.serial and (serial == request.serial or self._wanted <= serial):
                    return source.position_s(frame)
        return request.at_s
