"""Where blocks of sound go: a device of PortAudio, or a clock where there is none.

Only this module and the recorder know sounddevice. PortAudio's list of devices is frozen when it starts,
so it is started anew when a device was lost or none was found, and only while nothing is open.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from foley_desktop.errors import PlaybackError

OPEN_INPUTS: set[object] = set()
"""Streams that record now. PortAudio is one for the whole process and is never started anew under them."""

Render = Callable[[np.ndarray, float], None]
"""Fills a block, given when its first frame will be heard; see ``Engine.render``."""

MAX_CHANNELS = 64
LATENCIES_S = {"low": 0.04, "high": 0.12}
"""Least buffer by the name of a latency. Devices offer less, but the callback shares its interpreter with a
window, and when that is busy some 10 ms are not enough."""
LEAD_IN_S = 0.06
"""Silence that a stream begins with: sound servers swallow up to 50 ms of what a new stream brings, and that
would be the attack of the clip."""
FALTER_S = 0.3
"""A stream that asked for no more than this since it ran dry has faltered, see :class:`Output`."""


class Output(Protocol):
    """An open device. ``name`` as its list has it, ``samplerate`` in Hz, ``channels`` as opened."""

    name: str
    samplerate: int
    channels: int

    def start(self, render: Render) -> None:
        """Begins to ask ``render`` for blocks, on a thread of its own."""

    @property
    def alive(self) -> bool:
        """False once the device has stopped by itself."""

    @property
    def faltered(self) -> bool:
        """Whether the stream ran dry just before it last asked for a block.

        PortAudio over a sound server's ALSA plugin may never ask again after that, though the device is
        there; opened again it plays.
        """

    @property
    def latency_s(self) -> float:
        """Seconds from a block's rendering until it is heard."""

    def close(self) -> None:
        """Stops at once and frees the device; may block when the device is gone."""


class Opener(Protocol):
    """Finds and opens an output; ``name`` empty is the default device."""

    def check(self, name: str) -> None:
        """Raises PlaybackError when there is nothing to play on."""

    def open(self, name: str, latency: str) -> Output:
        """Raises PlaybackError when no device takes us."""

    def refresh(self) -> None:
        """Looks for devices anew, if that is possible now."""


@dataclass(frozen=True)
class _Device:
    index: int
    name: str
    samplerate: int
    channels: int
    latencies_s: tuple[tuple[str, float], ...]


class PortAudioOpener:
    """Devices by way of sounddevice, which is imported on first use."""

    def __init__(self) -> None:
        self._open: list[PortAudioOutput] = []

    def check(self, name: str) -> None:
        self._find(load_sounddevice(), name)

    def open(self, name: str, latency: str) -> PortAudioOutput:
        """Opens the device of this name, else the default one, in the device's own format."""
        sd = load_sounddevice()
        chosen = self._find(sd, name)
        fallback = self._find(sd, "") if name else chosen
        failure: Exception | None = None
        for device in dict.fromkeys((chosen, fallback)):
            # Two channels suit nearly every device; a few take nothing but all they have.
            for channels in dict.fromkeys((min(2, device.channels), min(MAX_CHANNELS, device.channels))):
                try:
                    output = PortAudioOutput(sd, device, channels, latency)
                except (sd.PortAudioError, ValueError) as error:
                    failure = failure or error
                    continue
                self._open = [other for other in self._open if not other.closed] + [output]
                return output
        raise PlaybackError(
            f"The sound device {chosen.name} cannot be opened.",
            hint="Another program may be using it; choose another output device in the settings.",
            cause=failure,
        )

    def refresh(self) -> None:
        self._open = [output for output in self._open if not output.closed]
        if not self._open and not OPEN_INPUTS and (sd := sys.modules.get("sounddevice")) is not None:
            with contextlib.suppress(sd.PortAudioError):
                sd._terminate()
            with contextlib.suppress(sd.PortAudioError):
                sd._initialize()

    def _find(self, sd: ModuleType, name: str) -> _Device:
        """The device whose name, or name with host API, is ``name``, else contains it, else the default."""
        apis = sd.query_hostapis()
        outputs = [device for device in sd.query_devices() if device["max_output_channels"] > 0]
        if not outputs:
            raise PlaybackError("No sound output was found.", hint="Connect or switch on a sound device.")

        def full(device: dict[str, Any]) -> str:
            return f"{device['name']}, {apis[device['hostapi']]['name']}"

        found = outputs[0]
        default = sd.default.device[1]
        if default < 0:
            default = next(
                (api["default_output_device"] for api in apis if api["default_output_device"] >= 0), -1
            )
        for device in outputs:
            if device["index"] == default:
                found = device
        if name:
            found = next(
                (d for match in (_same, _within) for d in outputs if match(name, d["name"], full(d))), found
            )
        rate = round(found["default_samplerate"])
        latencies_s = tuple(
            (kind, max(least, found[f"default_{kind}_output_latency"])) for kind, least in LATENCIES_S.items()
        )
        return _Device(
            found["index"], found["name"], rate or 48000, found["max_output_channels"], latencies_s
        )


def _same(name: str, short: str, full: str) -> bool:
    return name in (short, full)


def _within(name: str, short: str, full: str) -> bool:
    return name.casefold() in full.casefold()


class PortAudioOutput:
    """A stream of sounddevice. Raises what sounddevice raises when the device does not take it."""

    def __init__(self, sd: ModuleType, device: _Device, channels: int, latency: str) -> None:
        self.name, self.samplerate, self.channels = device.name, device.samplerate, channels
        self.closed = False
        self._lead_in = round(LEAD_IN_S * device.samplerate)  # frames still to come
        self._since_dry = sys.maxsize  # frames asked for since the stream ran dry
        self._render: Render | None = None
        self._stream = sd.OutputStream(
            samplerate=device.samplerate,
            device=device.index,
            channels=channels,
            dtype="float32",
            latency=dict(device.latencies_s).get(latency, LATENCIES_S["high"]),
            callback=self._callback,
        )
        self.latency_s = float(self._stream.latency)

    def start(self, render: Render) -> None:
        self._render = render
        self._stream.start()

    @property
    def alive(self) -> bool:
        return bool(self._stream.active)

    @property
    def faltered(self) -> bool:
        return self._since_dry <= FALTER_S * self.samplerate

    def close(self) -> None:
        with contextlib.suppress(Exception):  # a device that is gone may answer with anything
            self._stream.close(ignore_errors=True)
        self.closed = True

    def _callback(self, out: np.ndarray, frames: int, moment: Any, status: Any) -> None:
        self._since_dry = frames if status.output_underflow else self._since_dry + frames
        if self._lead_in > 0:
            self._lead_in -= frames
            out.fill(0.0)
            return
        delay = moment.outputBufferDacTime - moment.currentTime
        if not 0.0 < delay < 2.0:  # some host APIs leave these times empty
            delay = self.latency_s
        assert self._render is not None
        self._render(out, time.perf_counter() + delay)


def load_sounddevice() -> ModuleType:
    """The module sounddevice.

    Raises:
        PlaybackError: it or PortAudio is not installed.
    """
    try:
        import sounddevice
    except OSError as error:  # sounddevice is there, PortAudio is not
        how = (
            "Install libportaudio2 (Debian and Ubuntu: sudo apt install libportaudio2), then start again."
            if sys.platform.startswith("linux")
            else "Install PortAudio, then start again."
        )
        raise PlaybackError(
            "There is no sound because PortAudio is missing.", hint=how, cause=error
        ) from error
    except ImportError as error:
        raise PlaybackError(
            "There is no sound because the Python package sounddevice is missing.",
            hint="Run packaging/bootstrap.py setup.",
            cause=error,
        ) from error
    return sounddevice


class ClockOpener:
    """Opens :class:`ClockOutput`, always."""

    def check(self, name: str) -> None:
        """There is always a clock."""

    def open(self, name: str, latency: str) -> ClockOutput:
        return ClockOutput()

    def refresh(self) -> None:
        """A clock never changes."""


class ClockOutput:
    """A device without a sound: asks for blocks as a clock would and throws them away."""

    BLOCK_S = 0.01
    faltered = False

    def __init__(self, samplerate: int = 48000, channels: int = 2) -> None:
        self.name, self.samplerate, self.channels = "silence", samplerate, channels
        self.latency_s = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, render: Render) -> None:
        self._thread = threading.Thread(target=self._run, args=(render,), name="silent output", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, render: Render) -> None:
        block = np.zeros((round(self.BLOCK_S * self.samplerate), self.channels), np.float32)
        due = time.perf_counter()
        while not self._stop.wait(max(0.0, due - time.perf_counter())):
            render(block, due)
            due = max(due + self.BLOCK_S, time.perf_counter() - 0.5)  # after a long halt, don't catch up
