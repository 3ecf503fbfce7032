"""Treatments: what the player gives, block by block, against references worked out in other ways."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from foley_desktop.audio import stretch
from foley_desktop.audio.backward import BackwardReader
from foley_desktop.audio.decode import open_audio, read_frames
from foley_desktop.audio.render import RenderOptions, export
from foley_desktop.audio.source import ClipSource, fade_frames
from foley_desktop.audio.stretch import Stretch, stretched
from foley_desktop.audio.treatment import Treatment, apply, choices, is_choice, numbers

RATE = 48000
FADE = fade_frames(RATE)
AS_GOOD_AS_EQUAL = 1e-4


def write(path: Path, samples: np.ndarray, rate: int = RATE, subtype: str = "FLOAT") -> str:
    soundfile.write(os.fsencode(path), samples, rate, subtype=subtype)
    return str(path)


def chord(
    moments_s: np.ndarray, length_s: float, hertz: tuple[float, ...] = (220.0, 997.0, 3100.0)
) -> np.ndarray:
    """A sound given by a formula, at any moment, so that any speed of it can be written down as exactly."""
    swell = np.where(
        (moments_s >= 0) & (moments_s <= length_s), np.sin(np.pi * moments_s / length_s) ** 4, 0.0
    )
    waves = [np.sin(2 * np.pi * h * moments_s + i) for i, h in enumerate(hertz)]
    return 0.8 / len(hertz) * swell * np.sum(waves, axis=0)


def chord_clip(
    path: Path, seconds: float = 1.0, rate: int = RATE, hertz: tuple[float, ...] = (220.0, 997.0)
) -> str:
    return write(
        path, chord(np.arange(round(seconds * rate)) / rate, seconds, hertz).astype(np.float32), rate
    )


def noise(frames: int, channels: int, seed: int = 0) -> np.ndarray:
    samples = np.random.default_rng(seed).uniform(-0.5, 0.5, (frames, channels)).astype(np.float32)
    samples[0] = samples[-1] = 0.0
    return samples


def heard(
    path: str, treatment: Treatment, *, channels: int = 1, limit: int = 1 << 22, **options: object
) -> np.ndarray:
    """What the player's source gives at the device's rate."""
    source = ClipSource(path, RATE, channels, treatment=treatment, **options)  # type: ignore[arg-type]
    blocks, count = [], 0
    while count < limit and (block := source.read()) is not None:
        blocks.append(block)
        count += len(block)
    source.close()
    return np.concatenate(blocks)[:limit]


def assert_close(got: np.ndarray, expected: np.ndarray, frames: int = 2) -> None:
    """Equal but for the last rounding of a length and of a sample."""
    assert abs(len(got) - len(expected)) <= frames
    both = min(len(got), len(expected))
    np.testing.assert_allclose(got[:both], expected[:both], atol=AS_GOOD_AS_EQUAL)


# ---------------------------------------------------------------- varispeed


@pytest.mark.parametrize("semitones", [-24.0, -7.0, -0.1, 0.1, 5.0, 12.0, 24.0])
@pytest.mark.parametrize("rate", [44100, 48000])
def test_varispeed_is_the_same_formula_at_another_speed(tmp_path: Path, semitones: float, rate: int) -> None:
    path = chord_clip(tmp_path / "a.wav", 1.0, rate)
    treatment = Treatment(semitones=semitones)
    got = heard(path, treatment)[:, 0]
    moments_s = np.arange(len(got)) / RATE * treatment.speed
    assert_close(got, chord(moments_s, 1.0, (220.0, 997.0)))
    assert len(got) == pytest.approx(RATE / treatment.speed, abs=2)


@pytest.mark.parametrize("rate", [8000, 192000, 384000])
def test_varispeed_from_the_lowest_rate_to_the_highest(tmp_path: Path, rate: int) -> None:
    # What no device plays comes down to where it is heard: nothing may be lost on the way.
    hertz = (rate / 10, rate / 6)
    path = chord_clip(tmp_path / "a.wav", 0.5, rate, hertz)
    got = heard(path, Treatment(semitones=-24))[:, 0]
    assert_close(got, chord(np.arange(len(got)) / RATE / 4, 0.5, hertz))


def test_the_place_is_told_in_the_clips_own_time(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", noise(2 * RATE, 1))
    source = ClipSource(path, RATE, 1, start_s=0.5, treatment=Treatment(semitones=12))
    assert [source.position_s(n) for n in (0, RATE // 4, RATE)] == pytest.approx([0.5, 1.0, 2.0])
    source.close()
    back = ClipSource(path, RATE, 1, start_s=1.5, treatment=Treatment(semitones=-12, reverse=True))
    assert [back.position_s(n) for n in (0, RATE, 9 * RATE)] == pytest.approx([1.5, 1.0, 0.0])
    back.close()


# ---------------------------------------------------------------- the same pitch


@pytest.mark.parametrize("semitones", [-24.0, -3.0, 4.0, 24.0])
def test_with_pitch_kept_a_tone_stays_and_its_length_changes(tmp_path: Path, semitones: float) -> None:
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(3 * RATE) / RATE)
    path = write(tmp_path / "a.wav", tone.astype(np.float32))
    treatment = Treatment(semitones=semitones, keep_pitch=True)
    got = heard(path, treatment)[:, 0]
    assert len(got) == round(3 * RATE / treatment.speed)
    inner = got[len(got) // 6 : -len(got) // 6]
    spectrum = np.abs(np.fft.rfft(inner * np.hanning(len(inner))))
    assert spectrum.argmax() * RATE / len(inner) == pytest.approx(440, abs=RATE / len(inner))
    levels = np.abs(inner[: len(inner) // 480 * 480].reshape(-1, 480)).max(axis=1)
    assert levels.min() > 0.47 and levels.max() < 0.53  # the joins are not heard


def test_with_pitch_kept_blows_fall_where_they_should(tmp_path: Path) -> None:
    samples = np.zeros(4 * RATE, np.float32)
    samples[RATE // 2 :: RATE // 2] = 0.9
    got = heard(write(tmp_path / "a.wav", samples), Treatment(semitones=-4, keep_pitch=True))[:, 0]
    speed = Treatment(semitones=-4).speed
    for blow in range(1, 8):
        due = round(blow * RATE / 2 / speed)
        near = np.abs(got[due - 2400 : due + 2400])
        assert near.max() > 0.2
        assert abs(int(near.argmax()) - 2400) < 0.012 * RATE + 480


@pytest.mark.parametrize("semitones", [-5, 5, 12, 24])
def test_with_pitch_kept_an_early_blow_falls_where_it_should(tmp_path: Path, semitones: int) -> None:
    speed = Treatment(semitones=semitones).speed
    samples = np.zeros(2 * RATE, np.float32)
    samples[round(0.08 * speed * RATE)] = 0.9
    got = heard(write(tmp_path / "a.wav", samples), Treatment(semitones=semitones, keep_pitch=True))[:, 0]
    assert np.abs(got).max() > 0.2
    assert int(np.abs(got).argmax()) == pytest.approx(0.08 * RATE, abs=0.005 * RATE)


def test_with_pitch_kept_the_first_block_does_not_wait_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, real = [], stretch._rubber_band

    def counted(source: np.ndarray, *given: float, **how: bool) -> np.ndarray:
        made.append(len(source))
        return real(source, *given, **how)

    monkeypatch.setattr(stretch, "_rubber_band", counted)
    path = write(tmp_path / "a.wav", noise(2 * RATE, 1))
    source = ClipSource(path, RATE, 1, treatment=Treatment(semitones=-24, keep_pitch=True))
    block = source.read()
    source.close()
    assert block is not None and len(block) >= 0.1 * RATE
    assert len(made) == 1


def test_the_stretcher_is_loaded_before_it_is_wanted() -> None:
    code = """
import sys, time
from foley_desktop.audio.device import ClockOpener
from foley_desktop.audio.player import Player
from foley_desktop.audio.treatment import Treatment
player = Player(opener=ClockOpener())
player.prepare()
player.set_treatment(Treatment(semitones=3))
time.sleep(0.1)
early = "pedalboard" in sys.modules
player.set_treatment(Treatment(semitones=3, keep_pitch=True))
began = time.monotonic()
while "pedalboard" not in sys.modules and time.monotonic() < began + 20:
    time.sleep(0.01)
print(early, "pedalboard" in sys.modules)
player.close(20)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["False", "True"], done.stderr


@given(st.lists(st.integers(1, 15000), min_size=1, max_size=8), st.sampled_from([0.25, 0.8, 1.3, 4.0]))
@settings(max_examples=8)
def test_stretching_does_not_depend_on_the_blocks(sizes: list[int], speed: float) -> None:
    samples = noise(sum(sizes), 2)
    stream = Stretch(16000, 2, speed)
    parts, at = [np.zeros((0, 2), np.float32)], 0
    for size in sizes:
        parts += stream.push(samples[at : at + size])
        at += size
    parts += stream.finish()
    whole = stretched(samples, 16000, speed)
    assert len(whole) == round(len(samples) / speed)
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_silence_and_next_to_nothing_can_be_stretched() -> None:
    for frames in (0, 1, 7, 5000):
        assert stretched(np.zeros((frames, 2), np.float32), RATE, 0.5).shape == (2 * frames, 2)
        assert not stretched(np.zeros((frames, 2), np.float32), RATE, 3.0).any()


# ---------------------------------------------------------------- reverse


@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.aiff", "a.ogg", "a.mp3", "a.w64"])
def test_reverse_is_the_clip_mirrored_in_every_format(tmp_path: Path, name: str) -> None:
    samples = noise(RATE * 3, 2)
    soundfile.write(tmp_path / name, samples, RATE)
    path = str(tmp_path / name)
    whole, _ = read_frames(path, 0, 1 << 30)
    expected = whole[::-1]
    got = heard(path, Treatment(reverse=True), channels=2)
    assert got.shape == expected.shape
    assert_close(got[FADE:], expected[FADE:], 0)


def test_reverse_begins_where_it_is_told_and_goes_backwards(tmp_path: Path) -> None:
    samples = noise(2 * RATE, 1)
    path = write(tmp_path / "a.wav", samples)
    got = heard(path, Treatment(reverse=True), start_s=1.25)
    np.testing.assert_array_equal(got[FADE:], samples[: round(1.25 * RATE)][::-1][FADE:])
    region = heard(path, Treatment(reverse=True), start_s=0.5, region_s=(0.5, 1.0))
    np.testing.assert_array_equal(region[FADE:-FADE], samples[24000:48000][::-1][FADE:-FADE])
    assert np.abs(region[[0, -1]]).max() < 0.001


def test_reverse_of_a_loop_goes_round_backwards(tmp_path: Path) -> None:
    samples = noise(2 * RATE, 1)
    path = write(tmp_path / "a.wav", samples)
    got = heard(path, Treatment(reverse=True), start_s=0.25, region_s=(0.25, 0.75), loop=True, limit=80000)
    expected = np.tile(samples[12000:36000][::-1], (4, 1))[:80000]
    np.testing.assert_array_equal(got[FADE:], expected[FADE:])


def test_a_reversed_clip_is_read_a_few_blocks_at_a_time(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", noise(RATE * 60, 1), subtype="PCM_16")
    with BackwardReader(open_audio(path)) as reader:
        first = reader.read(64)
        reader.seek(RATE * 59)
        last = reader.read(RATE)
    samples, _ = soundfile.read(path, dtype="float32", always_2d=True)
    np.testing.assert_array_equal(first, samples[-64:][::-1])
    np.testing.assert_array_equal(last, samples[:RATE][::-1])


# ---------------------------------------------------------------- channels and level


def test_channels_are_chosen_in_any_of_sixty_four(tmp_path: Path) -> None:
    samples = noise(RATE // 4, 64)
    path = write(tmp_path / "a.wav", samples)

    def alone(choice: str, channels: int) -> np.ndarray:
        return heard(path, Treatment(channels=choice), channels=channels)

    np.testing.assert_array_equal(alone("64", 1)[:, 0], samples[:, 63])
    np.testing.assert_array_equal(alone("7", 2), samples[:, [6, 6]])  # one alone is heard on both sides
    np.testing.assert_array_equal(alone("3-64", 2), samples[:, [2, 63]])
    np.testing.assert_array_equal(alone("2-1", 2), samples[:, [1, 0]])
    left, right = samples[:, 0::2].mean(axis=1), samples[:, 1::2].mean(axis=1)
    np.testing.assert_allclose(alone("all", 2), np.stack([left, right], axis=1), atol=1e-6)
    np.testing.assert_allclose(alone("mono", 1)[:, 0], samples.mean(axis=1), atol=1e-6)


def test_mid_and_side_are_half_the_sum_and_half_the_difference(tmp_path: Path) -> None:
    samples = noise(4000, 2)
    path = write(tmp_path / "a.wav", samples)
    mid = heard(path, Treatment(channels="mid"))[:, 0]
    side = heard(path, Treatment(channels="side"))[:, 0]
    np.testing.assert_allclose(mid + side, samples[:, 0], atol=1e-6)
    np.testing.assert_allclose(mid - side, samples[:, 1], atol=1e-6)


def test_a_clip_that_lacks_the_channel_is_left_whole(tmp_path: Path) -> None:
    samples = noise(4000, 2)
    path = write(tmp_path / "a.wav", samples)
    np.testing.assert_array_equal(heard(path, Treatment(channels="5"), channels=2), samples)
    mono = write(tmp_path / "m.wav", samples[:, :1])
    for choice in ("side", "mid", "3-4", "mono"):
        np.testing.assert_array_equal(heard(mono, Treatment(channels=choice)), samples[:, :1])


@pytest.mark.parametrize("channels", [1, 2, 5, 64])
def test_what_is_offered_can_be_chosen(channels: int) -> None:
    offered = choices(channels)
    assert offered[0] == "all" and len(set(offered)) == len(offered)
    assert all(is_choice(choice) and max(numbers(choice), default=1) <= channels for choice in offered)
    assert not any(is_choice(bad) for bad in ("", "0", "65", "1-", "1-2-3", "left", "٣"))


def test_level_goes_by_the_clips_peak(tmp_path: Path) -> None:
    samples = noise(4000, 2) / 8
    path = write(tmp_path / "a.wav", samples)
    peak = float(np.abs(samples).max())
    quiet = heard(path, Treatment(normalise_db=-6.0), channels=2, peak=peak)
    assert np.abs(quiet).max() == pytest.approx(10 ** (-6 / 20), rel=1e-5)
    np.testing.assert_allclose(quiet, samples * (10 ** (-6 / 20) / peak), atol=1e-6)
    loud = heard(path, Treatment(gain_db=12.0, normalise_db=-6.0), channels=2, peak=peak)
    assert np.abs(loud).max() == pytest.approx(10 ** (6 / 20), rel=1e-5)  # only the device clips
    unknown = heard(path, Treatment(normalise_db=-6.0), channels=2)
    np.testing.assert_array_equal(unknown, samples)


@pytest.mark.parametrize(
    "wrong",
    [
        {"semitones": 24.5},
        {"semitones": float("nan")},
        {"gain_db": -50},
        {"normalise_db": 1.0},
        {"channels": "x"},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Treatment(**wrong)  # type: ignore[arg-type]


# ---------------------------------------------------------------- what is heard is what is written


@pytest.mark.parametrize(
    "treatment",
    [
        Treatment(),
        Treatment(semitones=-5.3),
        Treatment(semitones=9, reverse=True),
        Treatment(semitones=-5, keep_pitch=True),
        Treatment(semitones=7, keep_pitch=True, reverse=True, channels="side"),
        Treatment(channels="2-1", gain_db=-3.0),
        Treatment(channels="mono", normalise_db=-1.0, reverse=True),
        Treatment(keep_pitch=True),
    ],
    ids=repr,
)
def test_player_renderer_and_reference_agree(tmp_path: Path, treatment: Treatment) -> None:
    samples = noise(RATE, 2)
    for _ in range(3):  # as most sounds are: less at the top
        samples[1:] = (samples[1:] + samples[:-1]) / 2
    path = write(tmp_path / "a.wav", samples)
    peak = float(np.abs(samples).max())
    start, end = 4801, 43000
    options = RenderOptions(start_s=start / RATE, end_s=end / RATE, treatment=treatment)
    export(path, tmp_path / "out.wav", options)
    written, _ = soundfile.read(tmp_path / "out.wav", dtype="float32", always_2d=True)
    reference = apply(samples[start:end], RATE, treatment, peak=peak)
    channels = reference.shape[1]
    region = (start / RATE, end / RATE)
    got = heard(path, treatment, channels=channels, peak=peak, start_s=region[0], region_s=region)
    np.testing.assert_allclose(written, reference, atol=1e-6)
    assert abs(len(got) - len(reference)) <= 2
    inner = slice(FADE, len(reference) - FADE - 2)
    np.testing.assert_allclose(got[inner], reference[inner], atol=AS_GOOD_AS_EQUAL)


def test_a_treatment_that_does_nothing_leaves_an_export_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", noise(1000, 1), subtype="PCM_16")
    export(path, tmp_path / "one.wav", RenderOptions())
    export(path, tmp_path / "two.wav", RenderOptions(treatment=Treatment(keep_pitch=True)))
    assert (tmp_path / "one.wav").read_bytes() == (tmp_path / "two.wav").read_bytes()


# ---------------------------------------------------------------- silence left out


def with_pauses(*parts: tuple[float, float]) -> np.ndarray:
    """Seconds and level of each part: noise above or below what counts as silence."""
    rng = np.random.default_rng(1)
    return np.concatenate([rng.uniform(-v, v, round(s * RATE)) for s, v in parts]).astype(np.float32)[:, None]


def test_silence_is_left_out_and_places_stay_true(tmp_path: Path) -> None:
    samples = with_pauses(
        (2.0, 0.0), (0.5, 0.4), (0.8, 0.0005), (0.5, 0.4), (3.0, 0.0005), (0.5, 0.4), (2.0, 0.0)
    )
    path = write(tmp_path / "a.wav", samples)
    source = ClipSource(path, RATE, 1, skip_silence=True)
    got = []
    while (block := source.read()) is not None:
        got.append(block)
    source.close()
    sound = np.concatenate(got)[:, 0]
    # The short pause stays; of the long ones a little remains on either side.
    assert 0.5 * 3 + 0.8 < len(sound) / RATE < 0.5 * 3 + 0.8 + 0.9
    for frame in range(0, len(sound), 97):
        place = source.position_s(frame) * RATE
        assert place == pytest.approx(round(place), abs=1e-3)
        if abs(sound[frame]) > 0.001:
            assert sound[frame] == pytest.approx(samples[round(place), 0], abs=1e-6)
    assert source.position_s(0) == pytest.approx(1.95, abs=0.011)
    assert np.abs(np.diff(sound))[np.abs(sound[1:]) < 0.0006].max() < 0.45


def test_a_clip_of_nothing_but_silence_ends_at_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", with_pauses((5.0, 0.0005)))
    assert len(heard(path, Treatment(), skip_silence=True)) == 0


def test_silence_is_left_out_of_reversed_loops_too(tmp_path: Path) -> None:
    samples = with_pauses((0.3, 0.4), (2.0, 0.0), (0.3, 0.4))
    path = write(tmp_path / "a.wav", samples)
    got = heard(path, Treatment(reverse=True), skip_silence=True, loop=True, limit=3 * RATE)
    assert np.count_nonzero(np.abs(got) > 0.001) > 0.6 * len(got)


# ---------------------------------------------------------------- seeks


@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.aiff", "a.ogg", "a.mp3", "a.w64", "a.caf", "a.au"])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_seek_lands_within_a_sample_in_every_format(tmp_path: Path, name: str, reverse: bool) -> None:
    soundfile.write(tmp_path / name, noise(RATE * 4, 2), RATE)
    path = str(tmp_path / name)
    whole, _ = read_frames(path, 0, 1 << 30)
    for place in (3.217, 0.901, 2.5):
        source = ClipSource(path, RATE, 2, start_s=place, treatment=Treatment(reverse=reverse))
        block = source.read()
        assert block is not None and source.position_s(0) == pytest.approx(place, abs=0.5 / RATE)
        source.close()
        at = round(place * RATE)
        expected = whole[:at][::-1] if reverse else whole[at:]
        np.testing.assert_allclose(block[FADE:], expected[FADE : len(block)], atol=AS_GOOD_AS_EQUAL)
