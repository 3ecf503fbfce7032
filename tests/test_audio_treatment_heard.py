"""Treatments behind a sound server: what its monitor records against references worked out apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import soundfile
from pulse import PulseSink, aligned_correlation

RATE = 48000
SECONDS = 1.2
REGION = (0.3, 0.9)
QUIET = 0.004

PLAY = """
    import json, sys, time
    from foley_desktop.audio import device
    from foley_desktop.audio.player import create_player
    from foley_desktop.audio.treatment import Treatment
    device.LATENCIES_S["high"] = 0.5  # what is played counts here, not when
    path, how = sys.argv[1], json.loads(sys.argv[2])
    player = create_player("pulse", "high")
    assert player.available, player.unavailable_reason
    player.set_gain_db(how.get("listening_db", 0.0))
    player.set_treatment(Treatment(**how.get("treatment", {})))
    stretch = how.get("start_s", 0.0), how.get("end_s"), how.get("loop", False)
    player.play(path, *stretch, peak=how.get("peak"))
    began = time.monotonic()
    while player.position_s == 0.0 and time.monotonic() < began + 5:
        time.sleep(0.002)
    began = time.monotonic()
    while player.state == "playing" and time.monotonic() < began + how.get("for_s", 20):
        time.sleep(0.005)
    player.stop()
    time.sleep(0.4)
    assert player.error is None, player.error
    player.close()
"""


@dataclass
class Case:
    """What is asked of the player, and what must come out: the left and right that are expected."""

    how: dict[str, object]
    expected: np.ndarray
    ends: bool = True
    """Whether it ends by itself, so that its length can be told."""


def sound(moments_s: np.ndarray) -> np.ndarray:
    """The clip as a formula, left and right: anything can be worked out from it at any speed."""
    inside = (moments_s >= 0) & (moments_s < SECONDS)
    swell = np.where(inside, 0.3 + 0.7 * np.sin(np.pi * moments_s / SECONDS) ** 2, 0.0)
    sides = []
    for side, hertz in enumerate((310.0, 487.0)):
        bent = hertz * moments_s * (1 + 0.4 * moments_s)  # rises, so that no other place is like it
        wave = np.sin(2 * np.pi * bent) + 0.5 * np.sin(2 * np.pi * (2.7 + side) * bent + 1)
        sides.append(0.3 * swell * wave)
    return np.stack(sides, axis=1)


def moments(start_s: float, end_s: float, speed: float = 1.0) -> np.ndarray:
    return np.arange(start_s, end_s, speed / RATE)


def cases() -> dict[str, Case]:
    whole = sound(moments(0, SECONDS))
    region = sound(moments(*REGION))
    slow = 2 ** (-7 / 12)
    return {
        "region": Case({"start_s": REGION[0], "end_s": REGION[1]}, region),
        "loop": Case(
            {"start_s": REGION[0], "end_s": REGION[1], "loop": True, "for_s": 1.9},
            np.tile(region, (3, 1))[: round(1.7 * RATE)],
            ends=False,
        ),
        "reverse": Case({"treatment": {"reverse": True}}, sound(moments(SECONDS - 1 / RATE, -1e-9, -1.0))),
        "varispeed": Case({"treatment": {"semitones": -7.0}}, sound(moments(0, SECONDS, slow))),
        "faster": Case({"treatment": {"semitones": 12.0}}, sound(moments(0, SECONDS, 2.0))),
        "channel": Case({"treatment": {"channels": "2"}}, whole[:, [1, 1]]),
        "side": Case(
            {"treatment": {"channels": "side"}}, np.repeat((whole[:, :1] - whole[:, 1:]) / 2, 2, axis=1)
        ),
        "gain": Case({"treatment": {"gain_db": -9.0}}, whole * 10 ** (-9 / 20)),
        "normalise": Case(
            {"treatment": {"normalise_db": -3.0}, "peak": float(np.abs(whole).max())},
            whole * (10 ** (-3 / 20) / np.abs(whole).max()),
        ),
    }


CASES = cases()


@pytest.fixture(scope="module")
def pulse() -> Iterator[PulseSink]:
    with PulseSink(RATE) as sink:
        yield sink


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("heard") / "clip.wav"
    soundfile.write(path, sound(moments(0, SECONDS)), RATE, subtype="FLOAT")
    return path


def play(pulse: PulseSink, clip: Path, how: dict[str, object]) -> np.ndarray:
    """What the monitor records while a player in another process plays."""
    root = Path(__file__).resolve().parent.parent
    env = {**os.environ, **pulse.env, "PYTHONPATH": str(root)}
    pulse.start_recording()
    command = [sys.executable, "-c", textwrap.dedent(PLAY), str(clip), json.dumps(how)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    recorded = pulse.stop_recording()
    assert done.returncode == 0, done.stderr
    return recorded


def heard_s(recorded: np.ndarray) -> float:
    loud = np.flatnonzero(np.abs(recorded).max(axis=1) > QUIET)
    return (loud[-1] + 1 - loud[0]) / RATE if loud.size else 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CASES))
def test_what_is_heard_is_what_was_asked_for(pulse: PulseSink, clip: Path, name: str) -> None:
    case = CASES[name]
    seen = []
    for _ in range(3):  # a busy machine loses a block now and then: the sound server's, not ours
        recorded = play(pulse, clip, case.how)
        matches = [aligned_correlation(recorded[:, side], case.expected[:, side])[0] for side in (0, 1)]
        length = abs(heard_s(recorded) - heard_s(case.expected))
        level = np.abs(recorded).max() / np.abs(case.expected).max()
        seen.append((matches, length, level))
        if min(matches) > 0.95 and (not case.ends or length < 0.02) and abs(level - 1) < 0.05:
            return
    raise AssertionError(f"{name}: correlation of left and right, error of length (s), level: {seen}")
