"""Recording from a microphone, for a sound to search by.

A device's thread copies into memory that was laid out before it started, mixed down to one channel at the
device's own rate. Everything else is read from there by whoever asks.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from foley_desktop.audio.device import OPEN_INPUTS, load_sounddevice
from foley_desktop.errors import PlaybackError, RecordingError

LONGEST_S = 30.0
"""Seconds after which a recording ends by itself."""

QUIETEST_DBFS = -120.0
"""What the level of silence is shown as."""

_METER_S = 0.1
_MOST_CHANNELS = 2
_LATENCY_S = 0.05

Take = Callable[[np.ndarray], bool]
"""Takes a block, float32 ``(n, channels)``; False when it wants no more."""


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What was recorded: float32 mono ``(n,)``, values -1 to 1, at ``samplerate`` Hz."""

    samples: np.ndarray
    samplerate: int

    @property
    def duration_s(self) -> float:
        return len(self.samples) / self.samplerate

    @property
    def peak_dbfs(self) -> float:
        """Highest sample in dBFS, :data:`QUIETEST_DBFS` for silence."""
        return dbfs(self.samples)


class Input(Protocol):
    """An open device that gives blocks once started. ``samplerate`` in Hz."""

    samplerate: int

    def start(self, take: Take) -> None:
        """Begins to hand blocks to ``take``, on a thread of its own."""

    @property
    def alive(self) -> bool:
        """False once the device has stopped by itself."""

    def close(self) -> None:
        """Stops at once and frees the device."""


class Recorder:
    """Records one take at a time. Calls may come from any one thread.

    Args:
        device: Name of the input device; empty is the default one.
        longest_s: Seconds after which it stops by itself; :meth:`stop` still gives them.
        open_input: Opens a device by name; for tests.
    """

    def __init__(
        self,
        device: str = "",
        longest_s: float = LONGEST_S,
        open_input: Callable[[str], Input] | None = None,
    ) -> None:
        self.device = device
        self.longest_s = longest_s
        self._open = open_input or PortAudioInput
        self._input: Input | None = None
        self._buffer = np.zeros(0, np.float32)
        self._taken = 0

    @property
    def available(self) -> bool:
        """Whether there is a device to record from."""
        return not self.unavailable_reason

    @property
    def unavailable_reason(self) -> str:
        """One sentence that says why nothing can be recorded and what to do; empty when it can."""
        if self._open is not PortAudioInput:
            return ""
        try:
            find_input(self.device)
        except RecordingError as error:
            return f"{error.sentence} {error.hint}".strip()
        return ""

    def start(self) -> None:
        """Begins a recording; one that runs is thrown away.

        Raises:
            RecordingError: there is no input device, or it refuses.
        """
        self.cancel()
        source = self._open(self.device)
        self._buffer = np.zeros(max(1, round(self.longest_s * source.samplerate)), np.float32)
        self._taken = 0
        self._input = source
        try:
            source.start(self._take)
        except Exception as error:
            self.cancel()
            raise _refused(error) from error

    def stop(self) -> Recording:
        """Ends the recording and gives it; what came before the device was lost counts too.

        Raises:
            RecordingError: nothing was begun, or nothing came.
        """
        source = self._input
        if source is None:
            raise RecordingError("There is no recording to stop.")
        self.cancel()
        samples, self._buffer = self._buffer[: self._taken].copy(), np.zeros(0, np.float32)
        if not len(samples):
            raise RecordingError(
                "Nothing came from the input device.", hint="Check that it is connected and not muted."
            )
        return Recording(samples, source.samplerate)

    def cancel(self) -> None:
        """Ends a recording without a result."""
        source, self._input = self._input, None
        if source is not None:
            source.close()

    @property
    def recording(self) -> bool:
        """Whether sound is still being taken in; False also when the longest time is over."""
        return self._input is not None and self._input.alive and self._taken < len(self._buffer)

    @property
    def elapsed_s(self) -> float:
        """Seconds taken in so far."""
        source = self._input
        return self._taken / source.samplerate if source is not None else 0.0

    @property
    def level_dbfs(self) -> float:
        """Highest sample of the last tenth of a second in dBFS, for a meter."""
        source = self._input
        if source is None:
            return QUIETEST_DBFS
        taken = self._taken
        return dbfs(self._buffer[max(0, taken - round(_METER_S * source.samplerate)) : taken])

    def _take(self, block: np.ndarray) -> bool:
        """On the device's thread."""
        taken = self._taken
        count = min(len(block), len(self._buffer) - taken)
        np.mean(block[:count], axis=1, out=self._buffer[taken : taken + count])
        self._taken = taken + count  # last, so that whoever reads sees whole blocks
        return taken + count < len(self._buffer)


def dbfs(samples: np.ndarray) -> float:
    """The highest absolute sample in dB below full scale, at least :data:`QUIETEST_DBFS`."""
    peak = float(np.max(np.abs(samples))) if len(samples) else 0.0
    return max(20.0 * math.log10(peak), QUIETEST_DBFS) if peak > 0.0 else QUIETEST_DBFS


def find_input(name: str) -> dict[str, Any]:
    """What PortAudio knows of the input whose name contains ``name``, else of the default one.

    Raises:
        RecordingError: PortAudio is missing or there is no input.
    """
    try:
        sd = load_sounddevice()
    except PlaybackError as error:
        sentence = error.sentence.replace("There is no sound", "Nothing can be recorded")
        raise RecordingError(sentence, hint=error.hint, cause=error) from error
    inputs = [device for device in sd.query_devices() if device["max_input_channels"] > 0]
    if not inputs:
        raise RecordingError("No microphone was found.", hint="Connect or switch on an input device.")
    for device in inputs:
        if name and name.casefold() in device["name"].casefold():
            return dict(device)
    default = sd.default.device[0]
    return dict(next((device for device in inputs if device["index"] == default), inputs[0]))


class PortAudioInput:
    """An input stream of sounddevice.

    Raises:
        RecordingError: there is no input, or it refuses.
    """

    def __init__(self, name: str) -> None:
        device = find_input(name)
        self._sd: ModuleType = load_sounddevice()
        self.samplerate = round(device["default_samplerate"]) or 48000
        self._take: Take | None = None
        try:
            self._stream = self._sd.InputStream(
                samplerate=self.samplerate,
                device=device["index"],
                channels=min(_MOST_CHANNELS, device["max_input_channels"]),
                dtype="float32",
                latency=max(_LATENCY_S, device["default_low_input_latency"]),
                callback=self._callback,
            )
        except (self._sd.PortAudioError, ValueError) as error:
            raise _refused(error, device["name"]) from error
        OPEN_INPUTS.add(self)

    def start(self, take: Take) -> None:
        self._take = take
        self._stream.start()

    @property
    def alive(self) -> bool:
        return bool(self._stream.active)

    def close(self) -> None:
        with contextlib.suppress(Exception):  # a device that is gone may answer with anything
            self._stream.close(ignore_errors=True)
        OPEN_INPUTS.discard(self)

    def _callback(self, block: np.ndarray, frames: int, moment: Any, status: Any) -> None:
        assert self._take is not None
        if not self._take(block):
            raise self._sd.CallbackStop


def _refused(error: Exception, name: str = "") -> RecordingError:
    return RecordingError(
        f"The input device {name} cannot be opened.".replace("  ", " "),
        hint="Another program may be using it, or it may be forbidden to record; choose another device.",
        cause=error,
    )
