"""The player under treatments: what changes in mid-play, where it goes on, and what reaches the device."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from outputs import RATE, TestOpener, wait_for

from foley_desktop.audio.player import Player
from foley_desktop.audio.treatment import Treatment, apply

LENGTH_S = 8.0
QUIET = 0.0005  # a clip that begins below this begins without a fade


@pytest.fixture
def opener() -> TestOpener:
    return TestOpener()


@pytest.fixture
def player(opener: TestOpener) -> Iterator[Player]:
    player = Player(opener=opener)
    yield player
    player.close()


@pytest.fixture
def ramp(tmp_path: Path) -> str:
    """A clip whose samples tell where in it they stand: value = seconds / 100."""
    path = tmp_path / "ramp.wav"
    samples = (np.arange(round(LENGTH_S * RATE)) / RATE / 100).astype(np.float32)
    soundfile.write(os.fsencode(path), samples, RATE, subtype="FLOAT")
    return str(path)


def pace(sound: np.ndarray) -> float:
    """How many seconds of the ramp go by in a second, over the last tenth of a second."""
    return float(np.median(np.diff(sound[-4800:, 0]))) * 100 * RATE


def test_what_reaches_the_device_is_the_treated_clip(
    tmp_path: Path, player: Player, opener: TestOpener
) -> None:
    rng = np.random.default_rng(4)
    samples = np.cumsum(rng.uniform(-1, 1, (RATE // 2, 2)), axis=0)
    samples = (samples * np.hanning(len(samples))[:, None] / np.abs(samples).max() / 2).astype(np.float32)
    path = tmp_path / "a.wav"
    soundfile.write(os.fsencode(path), samples, RATE, subtype="FLOAT")
    treatment = Treatment(semitones=-4.5, reverse=True, gain_db=-2.0, channels="2-1")
    player.set_treatment(treatment)
    player.play(str(path))
    wait_for(lambda: player.state == "stopped")
    expected = apply(samples, RATE, treatment)
    start = int(np.flatnonzero(np.abs(opener.sound).max(axis=1))[0])
    lead = int(np.flatnonzero(np.abs(expected).max(axis=1))[0])
    got = opener.sound[start - lead : start - lead + len(expected)]
    np.testing.assert_allclose(got, expected, atol=1e-4)


@pytest.mark.parametrize(
    "treatment", [Treatment(semitones=12), Treatment(semitones=-12), Treatment(reverse=True)]
)
def test_a_change_is_heard_soon_and_where_one_is(
    ramp: str, player: Player, opener: TestOpener, treatment: Treatment
) -> None:
    player.play(ramp, start_s=3.0)
    wait_for(lambda: player.position_s > 3.3)
    output = opener.outputs[0]
    before = len(output.blocks)
    player.set_treatment(treatment)
    time.sleep(0.35)
    sound = opener.sound[before * 480 :, 0]
    steps = np.diff(sound) * 100 * RATE
    speed = treatment.speed * (-1 if treatment.reverse else 1)
    changed = int(np.flatnonzero(np.abs(steps - speed) < 0.05)[0])
    assert changed / RATE < 0.15  # the machine is shared; the bench tells how long it takes
    # It goes on where it was, with neither a hole nor a click.
    assert abs(sound[changed] - sound[0]) * 100 < 0.15 + changed / RATE
    assert sound.min() > 0.8 * sound[0]
    assert np.abs(np.diff(sound)).max() < 0.002
    assert player.position_s == pytest.approx(output.heard(time.perf_counter() - 0.0) * 100, abs=0.05)
    assert len(opener.outputs) == 1 and player.underruns == 0


def test_many_changes_in_a_row_end_at_the_last(ramp: str, player: Player, opener: TestOpener) -> None:
    player.play(ramp, start_s=2.0)
    wait_for(lambda: player.position_s > 2.1)
    for step in range(1, 13):
        player.set_treatment(Treatment(semitones=-step))
        time.sleep(0.01)
    wait_for(lambda: abs(pace(opener.sound) - 0.5) < 0.01)
    assert 2.1 < player.position_s < 2.9
    start = int(np.flatnonzero(opener.sound[:, 0])[0]) + 480
    assert opener.sound[start:, 0].min() > 0.018  # it never fell silent in between


def test_reverse_plays_from_the_end_and_rests_there(ramp: str, player: Player, opener: TestOpener) -> None:
    player.set_treatment(Treatment(reverse=True))
    player.play(ramp)
    wait_for(lambda: opener.outputs and 0 < player.position_s < LENGTH_S - 0.05)
    assert player.position_s > LENGTH_S - 2
    player.seek(1.0)
    wait_for(lambda: player.position_s < 0.99)
    assert pace(opener.sound) == pytest.approx(-1.0, abs=0.02)
    player.seek(0.0)
    wait_for(lambda: player.state == "stopped")


def test_seeks_are_exact_while_treated(ramp: str, player: Player, opener: TestOpener) -> None:
    for treatment in (Treatment(semitones=7), Treatment(semitones=-12, reverse=True)):
        player.set_treatment(treatment)
        player.play(ramp, at_s=1.0)
        for place in (5.0, 2.5):
            player.seek(place)
            wait_for(lambda place=place: abs(player.position_s - place) > 0.05)
            now = time.perf_counter()
            at = player.position_s
            heard = opener.outputs[-1].heard(now)
            assert heard is not None and heard * 100 == pytest.approx(at, abs=0.012)
            assert abs(at - place) < 1.0


def test_a_treatment_chosen_in_a_pause_holds_when_it_ends(
    ramp: str, player: Player, opener: TestOpener
) -> None:
    player.play(ramp, start_s=4.0)
    wait_for(lambda: player.position_s > 4.1)
    player.pause()
    held = player.position_s
    player.set_treatment(Treatment(semitones=-12))
    assert player.position_s == pytest.approx(held, abs=0.05)
    player.resume()
    wait_for(lambda: player.position_s > held + 0.1)
    assert pace(opener.sound) == pytest.approx(0.5, abs=0.01)


def test_the_level_can_change_when_the_peak_is_known(ramp: str, player: Player, opener: TestOpener) -> None:
    player.set_treatment(Treatment(normalise_db=0.0))
    player.play(ramp, start_s=4.0)
    wait_for(lambda: player.position_s > 4.1)
    assert opener.sound[-1, 0] == pytest.approx(0.041, abs=0.005)
    player.set_treatment(Treatment(normalise_db=0.0), peak=LENGTH_S / 100)
    wait_for(lambda: opener.sound[-1, 0] > 0.5)


def test_silence_is_skipped_while_playing(tmp_path: Path, player: Player, opener: TestOpener) -> None:
    samples = np.zeros((20 * RATE, 1), np.float32)
    samples[6 * RATE : 7 * RATE] = samples[18 * RATE :] = 0.25
    path = tmp_path / "a.wav"
    soundfile.write(os.fsencode(path), samples, RATE, subtype="FLOAT")
    player.play(str(path))
    wait_for(lambda: player.position_s > 0.1)
    player.set_skip_silence(True)
    wait_for(lambda: player.position_s > 5.9, 2.0)
    wait_for(lambda: player.position_s > 18.1, 4.0)
    assert player.underruns == 0
    assert opener.sound[-1, 0] == pytest.approx(0.25)


def test_the_loop_of_a_region_goes_on_under_another_treatment(
    ramp: str, player: Player, opener: TestOpener
) -> None:
    player.play(ramp, start_s=2.0, end_s=2.4, loop=True)
    wait_for(lambda: player.position_s > 2.2)
    player.set_treatment(Treatment(semitones=12, reverse=True))
    time.sleep(0.8)
    tail = opener.sound[-RATE // 4 :, 0] * 100
    assert tail.min() > 1.95 and tail.max() < 2.45  # the resampler rings a little at the seam
    assert np.median(np.diff(tail)) * RATE == pytest.approx(-2.0, abs=0.02)
    assert player.state == "playing" and 2.0 <= player.position_s <= 2.4


def test_a_device_that_was_prepared_is_running_when_it_is_needed(
    ramp: str, player: Player, opener: TestOpener
) -> None:
    player.prepare()
    wait_for(lambda: opener.outputs and len(opener.outputs[0].blocks) > 3)
    assert not opener.sound.any() and player.state == "stopped" and player.error is None
    player.play(ramp, start_s=3.0)
    wait_for(lambda: player.position_s > 3.1)
    assert len(opener.outputs) == 1


def test_a_device_that_cannot_be_prepared_is_not_complained_about(
    ramp: str, player: Player, opener: TestOpener
) -> None:
    opener.refuses = True
    player.prepare()
    time.sleep(0.1)
    assert player.error is None and player.state == "stopped"
    opener.refuses = False
    player.play(ramp)
    wait_for(lambda: player.position_s > 0.05)
