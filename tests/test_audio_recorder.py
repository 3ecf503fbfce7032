"""Recording: what the device gives is what is kept, its level, its end, and devices that are not there."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from pulse import PulseSink, aligned_correlation

from foley_desktop.audio.recorder import QUIETEST_DBFS, Recorder, Recording, Take, dbfs
from foley_desktop.errors import RecordingError

RATE = 8000
REPOSITORY = Path(__file__).resolve().parent.parent


class ScriptedInput:
    """A device that gives the blocks it is told to give, each from a thread of its own."""

    samplerate = RATE

    def __init__(self, name: str = "") -> None:
        self.name, self.closed, self.wanted = name, False, True
        self.take: Take | None = None

    def start(self, take: Take) -> None:
        self.take = take

    @property
    def alive(self) -> bool:
        return not self.closed and self.wanted

    def close(self) -> None:
        self.closed = True

    def give(self, block: np.ndarray) -> None:
        def run() -> None:
            assert self.take is not None
            self.wanted = self.take(block.astype(np.float32))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()


class Refusing(ScriptedInput):
    def start(self, take: Take) -> None:
        raise OSError("busy")


def recorder_of(source: ScriptedInput, longest_s: float = 10.0) -> Recorder:
    return Recorder("mic", longest_s, lambda name: source)


def test_blocks_become_one_mono_take() -> None:
    source = ScriptedInput()
    recorder = recorder_of(source)
    assert recorder.available and not recorder.recording and recorder.elapsed_s == 0.0
    recorder.start()
    rng = np.random.default_rng(1)
    blocks = [rng.uniform(-1, 1, (size, 2)) for size in (1, 255, 1024, 7)]
    for block in blocks:
        source.give(block)
    assert recorder.recording and recorder.elapsed_s == pytest.approx(1287 / RATE)
    take = recorder.stop()
    expected = np.concatenate(blocks).astype(np.float32).mean(axis=1)
    assert take.samplerate == RATE and take.samples.dtype == np.float32
    assert np.allclose(take.samples, expected, atol=1e-7)
    assert take.duration_s == pytest.approx(1287 / RATE)
    assert source.closed and not recorder.recording


def test_the_level_is_that_of_the_last_tenth_of_a_second() -> None:
    source = ScriptedInput()
    recorder = recorder_of(source)
    assert recorder.level_dbfs == QUIETEST_DBFS
    recorder.start()
    assert recorder.level_dbfs == QUIETEST_DBFS
    source.give(np.full((RATE // 10, 1), 1.0))
    assert recorder.level_dbfs == pytest.approx(0.0)
    source.give(np.full((RATE // 10, 1), -0.5))
    assert recorder.level_dbfs == pytest.approx(-6.02, abs=0.01)
    source.give(np.zeros((RATE // 10, 1)))
    assert recorder.level_dbfs == QUIETEST_DBFS
    assert recorder.stop().peak_dbfs == pytest.approx(0.0)


def test_it_ends_by_itself_at_its_longest_and_keeps_what_it_has() -> None:
    source = ScriptedInput()
    recorder = recorder_of(source, longest_s=0.1)
    recorder.start()
    source.give(np.full((RATE, 1), 0.25))
    assert not recorder.recording and not source.wanted
    assert recorder.elapsed_s == pytest.approx(0.1)
    assert np.array_equal(recorder.stop().samples, np.full(RATE // 10, 0.25, np.float32))


def test_a_new_take_does_not_hold_the_old_one() -> None:
    sources = [ScriptedInput(), ScriptedInput()]
    recorder = Recorder("", 10.0, lambda name: sources.pop(0))
    first, second = sources
    recorder.start()
    first.give(np.ones((100, 1)))
    recorder.start()
    assert first.closed
    second.give(np.full((50, 1), 0.5))
    assert np.array_equal(recorder.stop().samples, np.full(50, 0.5, np.float32))


def test_cancelling_leaves_nothing() -> None:
    source = ScriptedInput()
    recorder = recorder_of(source)
    recorder.cancel()
    recorder.start()
    source.give(np.ones((10, 1)))
    recorder.cancel()
    assert source.closed and recorder.elapsed_s == 0.0
    with pytest.raises(RecordingError, match="no recording"):
        recorder.stop()


def test_failures_are_sentences() -> None:
    source = Refusing()
    with pytest.raises(RecordingError, match="cannot be opened") as caught:
        recorder_of(source).start()
    assert caught.value.hint and source.closed
    silent_device = ScriptedInput()
    recorder = recorder_of(silent_device)
    recorder.start()
    with pytest.raises(RecordingError, match="Nothing came"):
        recorder.stop()


def test_levels_in_decibels() -> None:
    assert dbfs(np.array([0.1, -1.0])) == 0.0
    assert dbfs(np.array([])) == dbfs(np.zeros(5)) == dbfs(np.array([1e-9])) == QUIETEST_DBFS
    assert Recording(np.array([0.5], np.float32), 1).peak_dbfs == pytest.approx(-6.02, abs=0.01)


def child(script: str, *arguments: object, env: dict[str, str]) -> str:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    done = subprocess.run(command, env=env, cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


NO_DEVICE = """
    from foley_desktop.audio.recorder import Recorder
    from foley_desktop.errors import RecordingError
    recorder = Recorder()
    print(recorder.available, recorder.unavailable_reason)
    try:
        recorder.start()
    except RecordingError as error:
        print(error.sentence, error.hint)
"""


def test_a_machine_without_a_microphone_says_so() -> None:
    lines = child(NO_DEVICE, env=dict(os.environ)).splitlines()
    if lines[0].startswith("True"):
        pytest.skip("this machine has a microphone")
    assert lines[0].startswith("False ") and ("microphone" in lines[0] or "PortAudio" in lines[0])
    assert lines[1] == lines[0].removeprefix("False ")


PLAY_AND_RECORD = """
    import sys, time
    import numpy as np
    from foley_desktop.audio.player import create_player
    from foley_desktop.audio.recorder import Recorder
    recorder, player = Recorder("pulse", longest_s=20.0), create_player("pulse", "high")
    assert recorder.available, recorder.unavailable_reason
    recorder.start()
    while recorder.elapsed_s < 0.3:
        time.sleep(0.02)
    print(recorder.level_dbfs)
    player.play(sys.argv[1])
    time.sleep(2.0)
    print(recorder.level_dbfs, recorder.recording)
    player.close()
    take = recorder.stop()
    print(take.samplerate, recorder.recording)
    np.save(sys.argv[2], take.samples)
"""


@pytest.mark.slow
def test_what_a_player_plays_comes_in_by_the_monitor(tmp_path: Path) -> None:
    rate = 48000
    moments = np.arange(6 * rate) / rate
    chirp = 0.5 * np.sin(2 * np.pi * (200 * moments + 150 * moments**2))
    soundfile.write(tmp_path / "chirp.wav", chirp, rate)
    seen = []
    with PulseSink(rate) as pulse:
        for _ in range(3):  # a busy machine loses a block now and then: PulseAudio's, not ours
            out = child(
                PLAY_AND_RECORD, tmp_path / "chirp.wav", tmp_path / "take.npy", env=pulse.env
            ).splitlines()
            before, during = float(out[0]), float(out[1].split()[0])
            samples = np.load(tmp_path / "take.npy")
            recorded_rate = int(out[2].split()[0])
            assert out[1].endswith("True") and out[2].endswith("False")
            assert before < -80.0 and during == pytest.approx(-6.0, abs=1.5)
            assert samples.dtype == np.float32 and samples.ndim == 1 and len(samples) > 2 * recorded_rate
            stretch = chirp[round(0.05 * rate) : round(1.2 * rate)]
            if recorded_rate != rate:
                import soxr

                stretch = soxr.resample(stretch, rate, recorded_rate)
            seen.append(aligned_correlation(samples, stretch)[0])
            if seen[-1] > 0.95:
                return
            time.sleep(0.5)
    raise AssertionError(f"correlations: {seen}")
