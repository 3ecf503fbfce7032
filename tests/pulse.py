"""A sound card for machines without one: a private PulseAudio with a null sink that can be listened to.

PortAudio looks for devices when it is loaded, so whatever plays must be a child process that is started
with :attr:`PulseSink.env`; it then finds the device ``pulse``, which is also the default one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pytest

_ALSA = "".join(
    f"{kind}.{name} {{ type pulse }}\n" for kind in ("pcm", "ctl") for name in ("!default", "pulse")
)
_PATIENCE_S = 10.0


def missing() -> str:
    """Why there can be no PulseSink here; empty when there can."""
    for tool, package in (
        ("pulseaudio", "pulseaudio"),
        ("parec", "pulseaudio-utils"),
        ("pactl", "pulseaudio-utils"),
    ):
        if shutil.which(tool) is None:
            return f"{tool} is not installed (Debian: {package})"
    if not any(Path("/usr").glob("lib*/**/alsa-lib/libasound_module_pcm_pulse.so")):
        return "ALSA's pulse plugin is not installed (Debian: libasound2-plugins)"
    return ""


class PulseSink:
    """A running PulseAudio of its own; a context manager. Skips the test where that is not possible.

    Args:
        rate: Sample rate of the sink and of what is recorded, Hz.

    Attributes:
        env: The whole environment for a child process that is to play here.
    """

    NAME = "foley"

    def __init__(self, rate: int = 48000, channels: int = 2) -> None:
        if reason := missing():
            pytest.skip(reason)
        self.rate, self.channels = rate, channels
        self._folder = Path(tempfile.mkdtemp(prefix="foley-pulse-"))
        self._socket = self._folder / "native"
        alsa = self._folder / "asound.conf"
        alsa.write_text(_ALSA)
        self.env: dict[str, str] = {
            **os.environ,
            "XDG_RUNTIME_DIR": str(self._folder),
            "PULSE_RUNTIME_PATH": str(self._folder / "pulse"),
            "PULSE_STATE_PATH": str(self._folder / "pulse"),
            "PULSE_SERVER": f"unix:{self._socket}",
            "ALSA_CONFIG_PATH": str(alsa),
        }
        self._server: subprocess.Popen[bytes] | None = None
        self._recorder: subprocess.Popen[bytes] | None = None
        self._recording = self._folder / "recording.raw"

    def __enter__(self) -> PulseSink:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(self._recorder)
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self) -> None:
        """Starts the server, also again after :meth:`stop`: a device that comes back."""
        modules = (
            f"module-native-protocol-unix auth-anonymous=1 socket={self._socket}",
            f"module-null-sink sink_name={self.NAME} rate={self.rate} channels={self.channels}",
        )
        command = ["pulseaudio", "-n", "--daemonize=no", "--system=no", "--use-pid-file=no"]
        command += ["--exit-idle-time=-1", "--disable-shm", "--log-target=stderr"]
        for module in modules:
            command += ["-L", module]
        log = (self._folder / "log").open("ab")
        with log:
            # The server must not look for itself.
            env = {name: value for name, value in self.env.items() if name != "PULSE_SERVER"}
            self._server = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        self._wait_for_sink()

    def stop(self) -> None:
        """Ends the server, as if the device were unplugged."""
        self._end(self._server)
        self._server = None

    def start_recording(self) -> None:
        """Begins to record what the sink plays; returns once frames arrive."""
        assert self._recorder is None, "already recording"
        command = ["parec", "--raw", f"--device={self.NAME}.monitor", "--format=float32le"]
        command += [f"--rate={self.rate}", f"--channels={self.channels}", "--latency-msec=50"]
        with self._recording.open("wb") as file:
            self._recorder = subprocess.Popen(command, env=self.env, stdout=file)
        self._wait("parec records nothing", lambda: self._recording.stat().st_size > 0)

    def stop_recording(self) -> np.ndarray:
        """What was recorded since :meth:`start_recording`: float32 ``(n, channels)``."""
        assert self._recorder is not None, "not recording"
        time.sleep(0.1)  # what has been played still has to come through
        self._end(self._recorder)
        self._recorder = None
        samples = np.fromfile(self._recording, "<f4")
        return samples[: len(samples) // self.channels * self.channels].reshape(-1, self.channels)

    def record(self, seconds: float) -> np.ndarray:
        """What is played in the next ``seconds``: float32 ``(n, channels)``."""
        self.start_recording()
        time.sleep(seconds)
        return self.stop_recording()

    def _wait_for_sink(self) -> None:
        def there() -> bool:
            if self._server is not None and self._server.poll() is not None:
                raise RuntimeError(
                    "PulseAudio ended: " + (self._folder / "log").read_text("utf-8", "replace")
                )
            command = ["pactl", "list", "short", "sinks"]
            answer = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
            return self.NAME in answer.stdout

        self._wait("PulseAudio does not answer", there)

    @staticmethod
    def _wait(problem: str, done: Any) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not done():
            if time.monotonic() > end:
                raise RuntimeError(problem)
            time.sleep(0.02)

    @staticmethod
    def _end(process: subprocess.Popen[bytes] | None) -> None:
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def aligned_correlation(recorded: np.ndarray, expected: np.ndarray) -> tuple[float, int]:
    """How well ``expected`` is found in ``recorded``, both mono at the same rate.

    Returns:
        Pearson's correlation at the best offset, and the offset in frames.
    """
    recorded, expected = recorded.astype(np.float64), expected.astype(np.float64)
    if len(recorded) < len(expected):
        return 0.0, 0
    size = 1 << (len(recorded) + len(expected) - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(recorded, size) * np.conj(np.fft.rfft(expected, size)), size)
    offset = int(np.argmax(product[: len(recorded) - len(expected) + 1]))
    found = recorded[offset : offset + len(expected)]
    if not found.std() or not expected.std():
        return 0.0, offset
    return float(np.corrcoef(found, expected)[0, 1]), offset
