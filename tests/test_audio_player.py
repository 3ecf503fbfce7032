"""Playing: every sample on its way to the device, the player's states, and devices that fail."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import soxr
from hypothesis import given
from hypothesis import strategies as st
from outputs import TestOpener, wait_for
from pulse import PulseSink, aligned_correlation

from foley_desktop.audio.engine import Engine
from foley_desktop.audio.mix import mix, mix_matrix
from foley_desktop.audio.player import Player, SilentPlayer
from foley_desktop.audio.ring import Ring
from foley_desktop.audio.source import ClipSource, fade_curve, fade_frames
from foley_desktop.errors import AudioFileError

RATE = 48000
FADE = fade_frames(RATE)


def write(path: Path, samples: np.ndarray, rate: int = RATE) -> str:
    soundfile.write(os.fsencode(path), samples, rate, subtype="FLOAT", format="WAV")
    return str(path)


def ramp_clip(path: Path, seconds: float, rate: int = RATE) -> str:
    """A clip whose sample values tell where in it they stand: value = seconds / 100."""
    return write(path, (np.arange(round(seconds * rate)) / rate / 100).astype(np.float32), rate)


def tone(seconds: float, hertz: float = 440.0, rate: int = RATE, channels: int = 2) -> np.ndarray:
    wave = 0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)
    return np.repeat(wave[:, None], channels, axis=1).astype(np.float32)


def read_all(source: ClipSource, limit: int = 1 << 22) -> np.ndarray:
    """Everything a source gives, or its first ``limit`` frames if it goes on and on."""
    blocks: list[np.ndarray] = []
    while sum(map(len, blocks)) < limit and (block := source.read()) is not None:
        blocks.append(block)
    source.close()
    return np.concatenate(blocks)[:limit] if blocks else np.zeros((0, 1), np.float32)


@pytest.fixture
def opener() -> TestOpener:
    return TestOpener()


@pytest.fixture
def player(opener: TestOpener) -> Iterator[Player]:
    player = Player(opener=opener)
    yield player
    player.close()


# ---------------------------------------------------------------- from file to device, sample by sample


@pytest.mark.parametrize("rate", [8000, 22050, 44100, 48000, 96000])
@pytest.mark.parametrize("start_s", [0.0, 1.0])
def test_source_gives_the_file_at_the_devices_rate(tmp_path: Path, rate: int, start_s: float) -> None:
    rng = np.random.default_rng(1)
    samples = soxr.resample(rng.uniform(-0.5, 0.5, (2000 * 2, 2)), 2000, rate, "VHQ").astype(np.float32)
    samples[0] = 0.0
    path = write(tmp_path / "noise.wav", samples, rate)
    expected = soxr.resample(samples, rate, RATE, "HQ")[round(start_s * RATE) :]

    got = read_all(ClipSource(path, RATE, 2, start_s=start_s))

    assert abs(len(got) - len(expected)) <= 1
    n = min(len(got), len(expected))
    begin = FADE if start_s else 0
    np.testing.assert_allclose(got[begin:n], expected[begin:n], atol=1e-4)
    if start_s:
        np.testing.assert_allclose(got[:FADE], expected[:FADE] * fade_curve(RATE)[:, None], atol=1e-4)


def test_the_files_own_start_is_hard_only_when_it_begins_in_silence(tmp_path: Path) -> None:
    attack = tone(0.1)
    cut_open = attack[40:]  # begins near the top of the wave
    assert np.array_equal(read_all(ClipSource(write(tmp_path / "a.wav", attack), RATE, 2)), attack)
    faded = read_all(ClipSource(write(tmp_path / "b.wav", cut_open), RATE, 2))
    assert np.abs(faded[0]).max() < 0.001 < np.abs(cut_open[0]).max()
    assert np.array_equal(faded[FADE:], cut_open[FADE:])


def test_a_region_ends_in_a_fade_and_the_file_in_none(tmp_path: Path) -> None:
    samples = tone(1.0, 1000.0)
    path = write(tmp_path / "a.wav", samples)
    whole = read_all(ClipSource(path, RATE, 2))
    assert np.array_equal(whole, samples)
    region = read_all(ClipSource(path, RATE, 2, start_s=0.2, region_s=(0.2, 0.5001)))
    assert len(region) == round(0.3001 * RATE)
    assert np.abs(region[-1]).max() < 0.001
    np.testing.assert_allclose(
        region[FADE:-FADE], samples[9600 + FADE : 9600 + len(region) - FADE], atol=1e-6
    )


def test_the_whole_clip_loops_without_a_seam(tmp_path: Path) -> None:
    samples = tone(0.5, 440.0)
    source = ClipSource(write(tmp_path / "a.wav", samples), RATE, 2, loop=True)
    got = read_all(source, 3 * len(samples) + 100)
    np.testing.assert_array_equal(got, np.tile(samples, (4, 1))[: len(got)])
    assert source.position_s(round(1.3 * RATE)) == pytest.approx(0.3, abs=1e-4)


def test_a_long_loop_is_read_again_from_the_file(tmp_path: Path) -> None:
    samples = np.random.default_rng(0).uniform(-0.5, 0.5, (8000 * 12, 1)).astype(np.float32)
    samples[0] = 0
    path = write(tmp_path / "long.wav", samples, 8000)
    got = read_all(ClipSource(path, 8000, 1, start_s=1.0, region_s=(1.0, 11.5), loop=True), 8000 * 22)
    expected = np.tile(samples[8000 : round(11.5 * 8000)], (3, 1))[: len(got)]
    np.testing.assert_array_equal(got[40:], expected[40:])


@pytest.mark.parametrize("frames", [1, 2, 19])
def test_loops_of_a_few_samples_go_round(tmp_path: Path, frames: int) -> None:
    path = ramp_clip(tmp_path / "a.wav", 0.5)
    region = (0.1, 0.1 + frames / RATE)
    got = read_all(ClipSource(path, RATE, 1, start_s=0.1, region_s=region, loop=True), 20000)
    expected = np.tile(np.arange(4800, 4800 + frames) / RATE / 100, 20000)[:20000]
    np.testing.assert_allclose(got[FADE:, 0], expected[FADE:], atol=1e-6)


def test_tiny_clips_play(tmp_path: Path) -> None:
    for frames in (1, 19, 336):
        path = write(tmp_path / f"{frames}.wav", np.full((frames, 1), 0.0005, np.float32), 44100)
        assert 0 < len(read_all(ClipSource(path, RATE, 2))) <= frames * 48 // 44 + 2


def test_loop_switched_off_ends_at_the_end_of_the_pass(tmp_path: Path) -> None:
    source = ClipSource(write(tmp_path / "a.wav", tone(0.5)), RATE, 2, loop=True)
    frames = 0
    while frames < RATE:
        block = source.read()
        assert block is not None
        frames += len(block)
    source.loop = False
    while (block := source.read()) is not None:
        frames += len(block)
    source.close()
    assert frames % 24000 == 0


def test_every_field_case_that_can_be_opened_plays_from_anywhere(shared_dir: Path) -> None:
    played = 0
    for path in sorted((shared_dir / "field_cases" / "files").iterdir()):
        try:
            whole = read_all(ClipSource(str(path), RATE, 2))
        except AudioFileError:
            continue
        played += 1
        assert np.isfinite(whole).all(), path.name
        for share in (0.5, 0.75):
            start_s = len(whole) / RATE * share
            rest = read_all(ClipSource(str(path), RATE, 2, start_s=start_s))
            assert abs(len(rest) - len(whole) * (1 - share)) < 60, path.name
        assert len(read_all(ClipSource(str(path), RATE, 2, loop=True), 3 * len(whole))) == 3 * len(whole), (
            path.name
        )
    assert played > 10


def test_surround_is_mixed_down_and_mono_goes_to_both_sides() -> None:
    quarter = 0.5**0.5
    names = ("left", "right", "centre", "lfe", "surround left", "surround right")
    heard = dict(zip(names, mix_matrix(6, 2).tolist(), strict=True))
    assert heard["left"] == [1, 0] and heard["right"] == [0, 1] and heard["lfe"] == [0, 0]
    assert heard["centre"] == pytest.approx([quarter, quarter])
    assert heard["surround left"] == pytest.approx([quarter, 0])
    assert mix(np.ones((3, 1), np.float32), mix_matrix(1, 2)).tolist() == [[1, 1]] * 3
    assert mix(np.array([[1, 0]], np.float32), mix_matrix(2, 1)).tolist() == [[0.5]]


@given(st.integers(1, 64))
def test_any_channel_count_mixes_to_stereo_without_losing_a_side(channels: int) -> None:
    matrix = mix_matrix(channels, 2)
    assert matrix.shape == (channels, 2)
    assert (matrix.sum(axis=0) > 0.4).all()


# ---------------------------------------------------------------- the ring and the engine


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), max_size=60))
def test_ring_gives_back_what_went_in(steps: list[tuple[int, int]]) -> None:
    ring = Ring(64, 1)
    sent = received = 0
    engine = Engine(RATE, 1)
    for put, take in steps:
        sent += ring.write(np.arange(sent, sent + put, dtype=np.float32)[:, None])
        count = min(take, ring.ready)
        out = np.zeros((take, 1), np.float32)
        engine._add(ring, out, 0, count, None)
        assert out[:count, 0].tolist() == list(range(received, received + count))
        received += count
    assert 0 <= sent - received <= 64


@given(st.lists(st.integers(1, 900), min_size=1, max_size=30))
def test_block_sizes_do_not_change_the_sound(sizes: list[int]) -> None:
    samples = np.random.default_rng(0).uniform(-0.9, 0.9, (sum(sizes), 2)).astype(np.float32)
    engine = Engine(RATE, 2)
    ring = engine.spare()
    assert ring is not None
    ring.reset(1)
    ring.write(samples)
    ring.ended = True
    engine.audible, engine.wanted = True, 1
    engine.post(ring)
    got = []
    for size in sizes:
        block = np.empty((size, 2), np.float32)
        engine.render(block, 0.0)
        got.append(block)
    played = np.concatenate(got)
    np.testing.assert_array_equal(played, samples[: len(played)])
    assert engine.underruns == 0


def test_a_ring_that_runs_dry_counts_as_underrun_and_the_end_does_not() -> None:
    engine = Engine(RATE, 2)
    ring = engine.spare()
    assert ring is not None
    ring.write(np.ones((100, 2), np.float32))
    engine.audible = True
    engine.post(ring)
    block = np.empty((200, 2), np.float32)
    engine.render(block, 0.0)
    assert engine.underruns == 1
    assert block[:100].min() == 1 and not block[100:].any()
    ring.ended = True
    engine.render(block, 0.0)
    assert engine.underruns == 1


def test_the_callback_allocates_nothing() -> None:
    engine = Engine(RATE, 2)
    ring = engine.spare()
    assert ring is not None
    ring.write(np.zeros((40000, 2), np.float32))
    engine.audible = True
    engine.post(ring)
    block = np.empty((512, 2), np.float32)
    for gain in (0.5, 1.0):  # every path once
        engine.gain = gain
        engine.render(block, 0.0)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(60):
            engine.render(block, 0.0)
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < 1500  # a few views and numbers; a block alone would be 4096
    assert now - before < 500


def test_only_the_output_clips(tmp_path: Path, player: Player, opener: TestOpener) -> None:
    loud = 8 * tone(0.3)
    player.set_gain_db(-20 * np.log10(8))
    player.play(write(tmp_path / "loud.wav", loud))
    wait_for(lambda: player.state == "stopped")
    sound = opener.sound
    start = int(np.flatnonzero(sound[:, 0])[0]) - 1
    # The gain slides in over the first block; from then on the wave is whole, though the file is over.
    np.testing.assert_allclose(sound[start + 480 : start + 9600], tone(0.3)[480:9600], atol=1e-4)
    player.set_gain_db(0.0)
    player.play(str(tmp_path / "loud.wav"))
    wait_for(lambda: player.state == "stopped")
    assert np.abs(opener.sound).max() == 1.0


# ---------------------------------------------------------------- the player


def test_what_reaches_the_device_is_the_file(tmp_path: Path, player: Player, opener: TestOpener) -> None:
    samples = tone(0.5, 300.0)
    samples[:, 1] *= -0.5
    player.play(write(tmp_path / "a.wav", samples))
    wait_for(lambda: player.state == "stopped")
    sound = opener.sound
    start = int(np.flatnonzero(np.abs(sound).max(axis=1))[0]) - 1
    np.testing.assert_allclose(sound[start : start + len(samples)], samples, atol=1e-4)
    assert not sound[start + len(samples) :].any()
    assert player.underruns == 0 and player.error is None
    assert player.duration_s == pytest.approx(0.5)


def test_a_wide_device_gets_sound_on_its_first_two_channels(tmp_path: Path) -> None:
    opener = TestOpener(channels=12)
    player = Player(opener=opener)
    player.play(write(tmp_path / "a.wav", tone(0.2, channels=1)))
    wait_for(lambda: player.state == "stopped")
    player.close()
    assert np.abs(opener.sound[:, :2]).max(axis=0).min() > 0.4 and not opener.sound[:, 2:].any()


def test_calls_return_at_once(tmp_path: Path, player: Player) -> None:
    path = write(tmp_path / "a.wav", tone(2.0))
    calls = (
        lambda: player.play(path),
        lambda: player.seek(1.0),
        player.pause,
        player.resume,
        player.toggle,
        player.stop,
    )
    # The quickest of several rounds: a busy machine may be late in any of them.
    took = [math.inf] * len(calls)
    for _ in range(5):
        for n, call in enumerate(calls):
            began = time.perf_counter()
            call()
            took[n] = min(took[n], time.perf_counter() - began)
    assert max(took) < 0.016, took


@pytest.mark.parametrize("latency_s", [0.01, 0.12])
@pytest.mark.parametrize("rate", [44100, 48000])
def test_position_is_what_is_heard(tmp_path: Path, latency_s: float, rate: int) -> None:
    opener = TestOpener(latency_s)
    player = Player(opener=opener)
    player.play(ramp_clip(tmp_path / "ramp.wav", 20.0, rate))
    errors = []
    try:
        for target in (None, 7.0, 3.3333, 12.5):
            if target is not None:
                player.seek(target)
                assert abs(player.position_s - target) < 0.005  # where it is going, before it is heard
            wait_for(lambda t=target: player.position_s > (t or 0.0) + 0.02)
            for _ in range(20):
                time.sleep(0.015)
                before, position, after = time.perf_counter(), player.position_s, time.perf_counter()
                # Where this thread or the device's was held up, nothing can be told.
                if after - before < 0.001 and (heard := opener.outputs[-1].heard(after)) is not None:
                    errors.append(heard * 100 - position)
    finally:
        player.close()
    assert len(errors) > 20
    assert np.abs(errors).max() < 0.005


def largest_step(sound: np.ndarray) -> float:
    return float(np.abs(np.diff(sound, axis=0)).max())


def test_no_clicks_at_seek_pause_switch_and_stop(tmp_path: Path, player: Player, opener: TestOpener) -> None:
    low, high = write(tmp_path / "a.wav", tone(5.0, 200.0)), write(tmp_path / "b.wav", tone(5.0, 320.0))
    natural = largest_step(tone(1.0, 320.0))
    player.play(low)
    for move in (
        lambda: player.seek(2.00123),
        player.pause,
        player.resume,
        lambda: player.play(high, start_s=1.2345),
        lambda: player.play(low),
        lambda: player.seek(0.7),
        player.stop,
        lambda: player.play(high, 0.5, 0.7013),
    ):
        time.sleep(0.12)
        move()
    wait_for(lambda: player.state == "stopped")
    sound = opener.sound
    assert np.abs(sound).max() > 0.45
    # A fade adds at most its own slope; two clips may meet while one leaves and one comes.
    assert largest_step(sound) < 2 * natural + 0.5 * np.pi / 2 / FADE


def test_pause_holds_and_resume_goes_on(tmp_path: Path, player: Player, opener: TestOpener) -> None:
    player.play(ramp_clip(tmp_path / "ramp.wav", 10.0), start_s=5.0)
    wait_for(lambda: player.position_s > 5.2)
    player.pause()
    assert player.state == "paused"
    time.sleep(0.15)
    held = player.position_s
    time.sleep(0.1)
    assert player.position_s == held and not opener.outputs[-1].blocks[-1][1].any()
    player.toggle()
    assert player.state == "playing"
    wait_for(lambda: player.position_s > held + 0.05)
    assert player.position_s < held + 0.2


def test_seeking_while_paused_is_heard_on_resume(tmp_path: Path, player: Player, opener: TestOpener) -> None:
    player.play(ramp_clip(tmp_path / "ramp.wav", 10.0))
    wait_for(lambda: player.position_s > 0.1)
    player.pause()
    player.seek(8.0)
    time.sleep(0.1)
    assert player.state == "paused" and player.position_s == 8.0
    player.resume()
    wait_for(lambda: player.position_s > 8.1)
    heard = opener.outputs[-1].sound[-480:, 0].max() * 100
    assert heard == pytest.approx(8.15, abs=0.1)


def test_stop_and_the_end_go_back_to_the_start(tmp_path: Path, player: Player) -> None:
    path = ramp_clip(tmp_path / "ramp.wav", 1.0)
    player.play(path, start_s=0.4, end_s=0.6)
    wait_for(lambda: player.position_s > 0.45)
    player.stop()
    assert (player.state, player.position_s, player.path) == ("stopped", 0.4, path)
    player.toggle()
    wait_for(lambda: player.position_s > 0.45)
    wait_for(lambda: player.state == "stopped")
    assert player.position_s == 0.4
    player.seek(0.8)
    player.toggle()
    assert player.position_s >= 0.8
    wait_for(lambda: player.state == "stopped")


def test_loop_can_be_switched_while_playing(tmp_path: Path, player: Player) -> None:
    player.play(ramp_clip(tmp_path / "ramp.wav", 0.4))
    wait_for(lambda: player.position_s > 0.1)  # by now the end is decoded
    player.set_loop(True)
    time.sleep(0.6)
    assert player.state == "playing" and player.position_s < 0.4
    player.set_loop(False)
    wait_for(lambda: player.state == "stopped")


def test_thirty_selections_in_three_seconds(tmp_path: Path, player: Player, opener: TestOpener) -> None:
    # Each clip is a constant, so that every sample tells whose it is.
    paths = [
        write(tmp_path / f"{i}.wav", np.full((RATE * 4, 2), 0.02 * (i + 1), np.float32)) for i in range(30)
    ]
    threads = threading.active_count()
    for path in paths:
        player.play(path)
        time.sleep(0.1)
    assert threading.active_count() <= threads + 2  # the player's and the device's
    wait_for(lambda: player.position_s > 0.05)
    assert player.path == paths[-1] and len(opener.outputs) == 1
    sound = opener.sound[:, 0]
    last = np.flatnonzero(np.abs(sound - 0.6) < 1e-4)
    assert len(last) and not (np.abs(sound[last[0] :] - 0.6) > 1e-4).any()
    # What holds still is silence or one of the clips, in the order asked for.
    still = sound[1:-1][(np.diff(sound)[:-1] == 0) & (np.diff(sound)[1:] == 0)]
    clips = still / 0.02
    np.testing.assert_allclose(clips, np.round(clips), atol=1e-4)
    steady = [int(clip) for clip in np.round(clips) if clip]
    assert steady == sorted(steady)
    assert player.underruns == 0


def test_holding_the_arrow_key_over_broken_files(tmp_path: Path, player: Player, opener: TestOpener) -> None:
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"RIFF\x24\0\0\0WAVEfmt ")
    one = write(tmp_path / "one.wav", np.array([0.0005], np.float32))
    paths = [str(broken), one, str(tmp_path / "gone.wav"), write(tmp_path / "a.wav", tone(0.5, 300.0))]
    for i in range(200):
        player.play(paths[i % 4])
        time.sleep(0.005)
    wait_for(lambda: player.position_s > 0.05)
    assert player.path == paths[3] and player.error is None and player.state == "playing"


@pytest.mark.parametrize("content", [b"", b"not audio at all, but long enough to be looked at" * 20])
def test_a_clip_that_cannot_be_read_is_an_error_and_not_the_end(
    tmp_path: Path, player: Player, content: bytes
) -> None:
    bad = tmp_path / "bad.wav"
    bad.write_bytes(content)
    player.play(str(bad))
    wait_for(lambda: player.error is not None)
    assert player.state == "stopped" and str(player.error)
    player.play(write(tmp_path / "good.wav", tone(0.2)))
    assert player.error is None
    wait_for(lambda: player.position_s > 0.01)


def test_names_that_are_not_text_play(tmp_path: Path, player: Player) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9 # \n.wav")
    player.play(write(path, tone(0.1)))
    wait_for(lambda: player.duration_s > 0)
    assert player.error is None


def test_the_callback_needs_no_lock(tmp_path: Path, player: Player, opener: TestOpener) -> None:
    player.play(write(tmp_path / "a.wav", tone(3.0)))
    wait_for(lambda: player.position_s > 0.05)
    with player._board.lock:
        before = len(opener.outputs[-1].blocks)
        time.sleep(0.2)
        assert len(opener.outputs[-1].blocks) > before + 10
    assert player.underruns == 0


def test_close_is_quick_and_final(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", tone(5.0))
    took: list[float] = []
    while not took or (took[-1] >= 0.5 and len(took) < 3):  # a busy machine may be late once
        opener = TestOpener()
        player = Player(opener=opener)
        player.play(path)
        wait_for(lambda player=player: player.position_s > 0.05)
        began = time.perf_counter()
        player.close()
        took.append(time.perf_counter() - began)
    assert took[-1] < 0.5, took
    assert opener.outputs[-1].closed
    player.close()
    player.play(path)
    player.resume()
    assert player.state == "stopped" and len(opener.outputs) == 1
    assert largest_step(opener.sound) < 0.1  # it faded out


# ---------------------------------------------------------------- devices that fail


def test_a_device_that_falls_silent_pauses_and_play_goes_on(
    tmp_path: Path, player: Player, opener: TestOpener
) -> None:
    opener.dies_after = 0.5
    player.play(ramp_clip(tmp_path / "ramp.wav", 10.0))
    wait_for(lambda: player.position_s > 0.3)
    began = time.perf_counter()
    wait_for(lambda: player.state == "paused", 3.0)
    assert time.perf_counter() - began < 1.5
    assert player.error is not None and "stopped" in str(player.error) and player.error.hint
    held = player.position_s
    assert 0.3 < held < 0.7
    wait_for(lambda: opener.outputs[0].closed)
    opener.dies_after = 1e9
    player.resume()
    wait_for(lambda: player.position_s > held + 0.1)
    assert player.error is None and len(opener.outputs) == 2 and opener.refreshed == 1


def test_a_stream_that_ran_dry_is_opened_again_once(
    tmp_path: Path, player: Player, opener: TestOpener
) -> None:
    opener.dies_after, opener.falters = 0.5, True
    player.play(ramp_clip(tmp_path / "ramp.wav", 10.0))
    wait_for(lambda: opener.outputs)
    opener.dies_after = 1.0
    wait_for(lambda: len(opener.outputs) == 2)
    held = player.position_s
    assert 0.3 < held < 0.7 and player.state == "playing"
    wait_for(lambda: player.position_s > held + 0.3)
    assert player.error is None and opener.refreshed == 0
    wait_for(lambda: player.state == "paused")  # it stays silent: gone after all
    assert player.error is not None and "stopped" in str(player.error)
    assert held + 0.3 < player.position_s < held + 1.2 and len(opener.outputs) == 2


def test_a_device_that_refuses_says_so_and_can_be_tried_again(
    tmp_path: Path, player: Player, opener: TestOpener
) -> None:
    path = write(tmp_path / "a.wav", tone(1.0))
    opener.refuses = True
    player.play(path, start_s=0.25)
    wait_for(lambda: player.error is not None)
    assert player.state == "stopped" and player.position_s == 0.25
    assert not player.available and player.unavailable_reason == "There is no device. Plug one in."
    opener.refuses, opener.refuses_to_start = False, True
    player.resume()
    wait_for(lambda: player.error is not None)
    assert player.state == "stopped" and "does not start" in str(player.error)
    time.sleep(0.1)
    assert len(opener.outputs) == 1  # not tried over and over
    opener.refuses_to_start = False
    player.resume()
    wait_for(lambda: player.position_s > 0.3)
    assert player.error is None and player.available and player.unavailable_reason == ""


def test_the_device_is_given_back_when_nothing_plays(
    tmp_path: Path, player: Player, opener: TestOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foley_desktop.audio.feeder.IDLE_CLOSE_S", 0.1)
    player.play(ramp_clip(tmp_path / "ramp.wav", 10.0), start_s=4.0)
    wait_for(lambda: player.position_s > 4.1)
    player.pause()
    wait_for(lambda: opener.outputs[-1].closed)
    held = player.position_s
    assert player.state == "paused" and 4.1 < held < 4.4
    player.resume()
    wait_for(lambda: player.position_s > held + 0.1)
    assert len(opener.outputs) == 2 and player.position_s < held + 0.4


CHILD = """
    import sys, time
    {before}
    from foley_desktop.audio.player import Player, create_player
    player = create_player()
    print(type(player).__name__, player.available, player.unavailable_reason)
    player.play(sys.argv[1])
    end = time.monotonic() + 5
    while player.position_s < 0.05 and time.monotonic() < end:
        time.sleep(0.01)
    print(player.state, player.position_s >= 0.05)
    player.close()
    real = Player()
    real.play(sys.argv[1])
    while real.error is None and time.monotonic() < end:
        time.sleep(0.01)
    print(real.state, real.error)
    real.close()
"""


def run_child(before: str, path: str, env: dict[str, str]) -> list[str]:
    code = textwrap.dedent(CHILD).format(before=before)
    root = str(Path(__file__).resolve().parent.parent)
    env = {**os.environ, "PYTHONPATH": root, **env}
    done = subprocess.run(
        [sys.executable, "-c", code, path], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()


def test_without_portaudio_everything_but_the_sound_works(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", tone(1.0))
    hide = "import ctypes.util; ctypes.util.find_library = lambda name: None"
    first, second, third = run_child(hide, path, {})
    assert first.startswith("SilentPlayer False There is no sound because PortAudio is missing.")
    if sys.platform.startswith("linux"):
        assert "libportaudio2" in first
    assert second == "playing True"
    assert third == "stopped There is no sound because PortAudio is missing."


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="hides the devices by way of ALSA")
def test_without_a_device_everything_but_the_sound_works(tmp_path: Path) -> None:
    pytest.importorskip("sounddevice", exc_type=OSError, reason="PortAudio is not installed")
    cards = Path("/proc/asound/cards")
    if cards.exists() and "no soundcards" not in cards.read_text():
        pytest.skip("this machine has a sound card, which cannot be hidden")
    path = write(tmp_path / "a.wav", tone(1.0))
    (tmp_path / "asound.conf").write_text("pcm.!default { type pulse }\n")
    nowhere = {"ALSA_CONFIG_PATH": str(tmp_path / "asound.conf"), "PULSE_SERVER": f"unix:{tmp_path}/none"}
    first, second, third = run_child("", path, nowhere)
    assert first.startswith("SilentPlayer False No sound output was found.")
    assert second == "playing True"
    assert third == "stopped No sound output was found."


def test_the_silent_player_has_the_same_interface(tmp_path: Path) -> None:
    silent = SilentPlayer("There is no sound here.")
    assert not silent.available and silent.unavailable_reason == "There is no sound here."
    assert {n for n in dir(Player) if n[0] != "_"} == {n for n in dir(SilentPlayer) if n[0] != "_"}
    silent.play(write(tmp_path / "a.wav", tone(0.4)))
    wait_for(lambda: silent.position_s > 0.05)
    assert not silent.available
    before, position, after = time.perf_counter(), silent.position_s, time.perf_counter()
    time.sleep(0.15)
    least = time.perf_counter() - after
    moved = silent.position_s - position
    assert least - 0.005 <= moved <= time.perf_counter() - before + 0.005
    wait_for(lambda: silent.state == "stopped")
    assert silent.error is None
    silent.close()


# ---------------------------------------------------------------- a real device, recorded

PLAY = """
    import sys, time
    from foley_desktop.audio.player import create_player
    player = create_player("pulse", "high")
    assert player.available, player.unavailable_reason
    player.play(sys.argv[1])
    while player.position_s < 1.6:
        time.sleep(0.01)
    player.seek(float(sys.argv[2]))
    while player.position_s < float(sys.argv[2]) + 1.6:
        time.sleep(0.01)
    assert player.error is None, player.error
    player.close()
"""


def play_child(pulse: PulseSink, code: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    root = str(Path(__file__).resolve().parent.parent)
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        env={**pulse.env, "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.fixture(scope="module", params=[44100, 48000])
def pulse(request: pytest.FixtureRequest) -> Iterator[PulseSink]:
    with PulseSink(request.param) as sink:
        yield sink


def coloured_noise(rate: int, seconds: float) -> np.ndarray:
    """Noise as most sounds are: strong below 2 kHz, so that one lost frame does not hide the rest."""
    noise = np.random.default_rng(3).uniform(-1, 1, (round(seconds * 4000), 2))
    samples = soxr.resample(noise, 4000, rate)
    return (0.5 * samples / np.abs(samples).max()).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [44100, 48000])
def test_what_is_heard_is_the_file(pulse: PulseSink, tmp_path: Path, rate: int) -> None:
    seek_s = 3.3
    samples = coloured_noise(rate, 6.0)
    path = write(tmp_path / "noise.wav", samples, rate)
    whole = soxr.resample(samples.mean(axis=1), rate, pulse.rate)
    stretches = [
        whole[round((at + 0.02) * pulse.rate) : round((at + 1.5) * pulse.rate)] for at in (0, seek_s)
    ]
    seen = []
    for _ in range(3):  # a busy machine loses a block now and then: PulseAudio's, not ours
        pulse.start_recording()
        child = play_child(pulse, PLAY, path, seek_s)
        _, errors = child.communicate(timeout=60)
        recorded = pulse.stop_recording().mean(axis=1)
        assert child.returncode == 0, errors
        (start, at_start), (seek, at_seek) = (aligned_correlation(recorded, part) for part in stretches)
        seen.append((start, seek))
        if min(seen[-1]) > 0.95:
            assert 1.4 < (at_seek - at_start) / pulse.rate < 2.0
            return
    raise AssertionError(f"correlations from the start and after seeking: {seen}")


VANISH = """
    import sys, time
    from foley_desktop.audio.player import create_player
    player = create_player("pulse", "high")
    player.play(sys.argv[1])
    def show(condition):
        end = time.monotonic() + 10
        while not condition() and time.monotonic() < end:
            time.sleep(0.005)
        print(player.state, round(player.position_s, 3), player.error, sep="|", flush=True)
    show(lambda: player.position_s > 0.3)
    sys.stdin.readline()
    began = time.monotonic()
    show(lambda: player.error is not None)
    print(time.monotonic() - began, flush=True)
    sys.stdin.readline()
    player.resume()
    show(lambda: player.position_s > 0.9)
    player.close()
"""


@pytest.mark.slow
def test_a_sound_server_that_dies_pauses_and_comes_back(tmp_path: Path) -> None:
    path = write(tmp_path / "noise.wav", coloured_noise(48000, 20.0))
    with PulseSink(48000) as pulse:
        child = play_child(pulse, VANISH, path, stdin=subprocess.PIPE)
        assert child.stdin is not None and child.stdout is not None

        def go_on() -> None:
            assert child.stdin is not None
            child.stdin.write("\n")
            child.stdin.flush()

        try:
            assert child.stdout.readline().startswith("playing|0.3")
            pulse.stop()
            go_on()
            state, position, error = child.stdout.readline().strip().split("|")
            assert state == "paused" and "has stopped" in error and 0.3 <= float(position) < 3
            assert float(child.stdout.readline()) < 1.0
            pulse.start()
            go_on()
            state, _, error = child.stdout.readline().strip().split("|")
            assert state == "playing" and error == "None"
            _, errors = child.communicate(timeout=20)
            assert child.returncode == 0, errors
        finally:
            child.kill()
            child.communicate()
