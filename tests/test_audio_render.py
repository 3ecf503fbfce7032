"""Exports: the source's own samples, true conversions, and a Broadcast Wave's place in time."""

from __future__ import annotations

import errno
import io
import json
import os
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.audio import riff
from foley_desktop.audio.bwf import Move, moved_bext, moved_ixml
from foley_desktop.audio.decode import open_audio
from foley_desktop.audio.reader import AudioInfo
from foley_desktop.audio.render import RenderOptions, export, render_region
from foley_desktop.audio.target import choose_encoding, to_words
from foley_desktop.audio.wavwriter import WavWriter, encode
from foley_desktop.errors import AudioFileError, RenderError

SynthFactory = Callable[..., Path]
DTYPES = {"PCM_32": "int32", "FLOAT": "float32", "DOUBLE": "float64"}


def read(path: Path, dtype: str = "int32") -> np.ndarray:
    return soundfile.read(os.fsencode(path), dtype=dtype, always_2d=True)[0]


def chunks(path: Path) -> dict[bytes, bytes]:
    with path.open("rb") as file:
        found = riff.walk(file, path.stat().st_size)
        return {chunk.id: chunk.read(file) for chunk in found.chunks}


def full_range(frames: int, channels: int, seed: int = 0) -> np.ndarray:
    """Random int32 samples of all magnitudes, the extremes among them."""
    rng = np.random.default_rng(seed)
    shape = (frames, channels)
    samples = rng.integers(-(1 << 31), 1 << 31, shape, dtype=np.int64) >> rng.integers(0, 31, shape)
    samples[0], samples[1] = (1 << 31) - 1, -(1 << 31)
    return samples.astype(np.int32)


def bext(time_reference: int, history: str = "A=ANALOGUE,M=mono,T=tape\r\n", version: int = 2) -> bytes:
    head = b"A door".ljust(256, b"\0") + b"Recorder".ljust(32, b"\0") + b"REF".ljust(32, b"\0")
    head += b"2024-05-0112:30:00" + struct.pack("<QH", time_reference, version) + bytes(range(64))
    head += struct.pack("<5h", -2300, 500, -100, -1800, -2000)
    return head.ljust(602, b"\0") + history.encode()


IXML = b"""<?xml version="1.0" encoding="UTF-8"?><BWFXML><SPEED><FILE_SAMPLE_RATE>48000</FILE_SAMPLE_RATE>
<AUDIO_BIT_DEPTH>24</AUDIO_BIT_DEPTH>
<TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_HI>1</TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_HI>
<TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_LO>4294967290</TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_LO>
<TIMESTAMP_SAMPLE_RATE>48000</TIMESTAMP_SAMPLE_RATE></SPEED><NOTE>T\xc3\xbcr</NOTE></BWFXML>"""


def broadcast_wave(path: Path, frames: int = 48000, time_reference: int = 1_000_000, **more: Any) -> Path:
    words = (np.arange(frames * 2).reshape(-1, 2) * 7919 % (1 << 24) << 8).astype(np.int64).astype(np.int32)
    before = [(b"bext", bext(time_reference, **more)), (b"iXML", IXML)]
    with path.open("w+b") as file:
        writer = WavWriter(file, "PCM_24", 48000, 2, before=before)
        writer.write(words)
        writer.finish([(b"LIST", b"INFOINAM\x05\0\0\0Door\0\0")])
    return path


def time_reference(path: Path) -> int:
    return struct.unpack_from("<Q", chunks(path)[b"bext"], 338)[0]


# ---------------------------------------------------------------- the source's own samples


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"])
@pytest.mark.parametrize("channels", [1, 2, 6])
def test_without_options_every_bit_stays(tmp_path: Path, subtype: str, channels: int) -> None:
    source, target = tmp_path / "in.wav", tmp_path / "out.wav"
    samples: np.ndarray = full_range(5003, channels)
    if subtype in ("FLOAT", "DOUBLE"):
        samples = np.random.default_rng(0).standard_normal((5003, channels)) * 2  # over full scale too
    soundfile.write(source, samples, 44100, subtype=subtype)
    info = export(str(source), target)
    assert (info.samplerate, info.channels, info.subtype, info.frames) == (44100, channels, subtype, 5003)
    dtype = DTYPES.get(subtype, "int32")
    assert np.array_equal(read(target, dtype), read(source, dtype))
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("name", "subtype"),
    [
        ("in.flac", "PCM_16"),
        ("in.flac", "PCM_24"),
        ("in.aiff", "PCM_24"),
        ("in.aiff", "PCM_32"),
        ("in.caf", "DOUBLE"),
    ],
)
@pytest.mark.parametrize("target", ["out.wav", "out.aiff"])
def test_other_containers_lose_nothing(tmp_path: Path, name: str, subtype: str, target: str) -> None:
    soundfile.write(tmp_path / name, full_range(4001, 2), 48000, subtype=subtype)
    info = export(str(tmp_path / name), tmp_path / target)
    assert info.subtype == subtype
    dtype = DTYPES.get(subtype, "int32")
    assert np.array_equal(read(tmp_path / target, dtype), read(tmp_path / name, dtype))


def test_flac_targets_keep_what_flac_can_hold(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "in.wav", full_range(4001, 2), 48000, subtype="PCM_24")
    assert export(str(tmp_path / "in.wav"), tmp_path / "out.flac").subtype == "PCM_24"
    assert np.array_equal(read(tmp_path / "out.flac"), read(tmp_path / "in.wav"))


@pytest.mark.parametrize("ending", ["ogg", "oga", "opus", "mp3"])
def test_a_lossy_clip_without_options_stays_itself(tmp_path: Path, synth: SynthFactory, ending: str) -> None:
    source = synth(f"in.{ending}", seconds=1.0, samplerate=48000, channels=2, kind="noise")
    target = tmp_path / f"out.{ending}"
    info = export(str(source), target)
    assert target.read_bytes() == source.read_bytes() and info.channels == 2
    with pytest.raises(RenderError, match="already"):
        export(str(source), target)
    if ending == "ogg":
        export(str(source), tmp_path / "reversed.ogg", RenderOptions(reverse=True))
        assert (tmp_path / "reversed.ogg").read_bytes() != source.read_bytes()


def test_a_name_that_lies_about_its_codec_is_not_copied(tmp_path: Path, synth: SynthFactory) -> None:
    source = synth("in.mp3", seconds=1.0, samplerate=48000, kind="noise").rename(tmp_path / "in.ogg")
    assert export(str(source), tmp_path / "out.ogg").subtype == "VORBIS"


@pytest.mark.parametrize("name", ["in.ogg", "in.mp3"])
def test_lossy_clips_become_what_they_decode_to(tmp_path: Path, synth: SynthFactory, name: str) -> None:
    source = synth(name, seconds=1.0, samplerate=44100, channels=2, kind="noise")
    info = export(str(source), tmp_path / "out.wav")
    assert info.subtype == "FLOAT"
    assert np.array_equal(read(tmp_path / "out.wav", "float32"), decoded(source))


def test_companded_and_adpcm_clips_keep_their_decoded_samples(tmp_path: Path) -> None:
    tone = 0.5 * np.sin(np.arange(8000) / 10)
    for subtype in ("ULAW", "ALAW", "IMA_ADPCM"):
        source, target = tmp_path / f"{subtype}.wav", tmp_path / f"{subtype} out.wav"
        soundfile.write(source, tone, 8000, subtype=subtype)
        export(str(source), target)
        with open_audio(str(source)) as one, open_audio(str(target)) as other:
            assert np.array_equal(one.read(8000), other.read(8000))


def test_a_mended_header_exports_the_whole_sound(tmp_path: Path) -> None:
    source = broadcast_wave(tmp_path / "in.wav")
    whole = read(source)
    data = bytearray(source.read_bytes())
    at = data.index(b"data")
    data[at + 4 : at + 8] = bytes(4)  # a recorder that crashed
    source.write_bytes(data[: at + 8 + 48000 * 6])
    export(str(source), tmp_path / "out.wav")
    assert np.array_equal(read(tmp_path / "out.wav"), whole)


def test_speaker_places_are_kept(tmp_path: Path) -> None:
    source = tmp_path / "in.wav"
    words = full_range(100, 4)
    fmt = struct.pack("<HHIIHH", 0xFFFE, 4, 48000, 48000 * 12, 12, 24)
    fmt += struct.pack("<HHIH", 22, 24, 0x107, 1) + bytes.fromhex("000000001000800000aa00389b71")
    with source.open("w+b") as file:
        writer = WavWriter(file, "PCM_24", 48000, 4, fmt=fmt)
        writer.write(words)
        writer.finish()
    export(str(source), tmp_path / "out.wav")
    assert chunks(tmp_path / "out.wav")[b"fmt "] == fmt
    export(str(source), tmp_path / "out16.wav", RenderOptions(depth=16))
    assert chunks(tmp_path / "out16.wav")[b"fmt "] != fmt


# ---------------------------------------------------------------- conversions


@given(
    start=st.integers(0, 999),
    size=st.integers(1, 1500),
    backwards=st.booleans(),
    rate=st.sampled_from([8000, 44100]),
)
def test_a_stretch_is_exactly_those_samples(
    tmp_path_factory: pytest.TempPathFactory, start: int, size: int, backwards: bool, rate: int
) -> None:
    folder = tmp_path_factory.mktemp("stretch")
    samples = full_range(1000, 2)
    soundfile.write(folder / "in.wav", samples, rate, subtype="PCM_32")
    options = RenderOptions(start_s=start / rate, end_s=(start + size) / rate, reverse=backwards)
    export(str(folder / "in.wav"), folder / "out.wav", options)
    expected = samples[start : start + size]
    assert np.array_equal(read(folder / "out.wav"), expected[::-1] if backwards else expected)


def test_reverse_of_a_long_clip_goes_by_way_of_the_disk(
    tmp_path: Path, synth: SynthFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foley_desktop.audio.spool._IN_MEMORY", 100_000)
    source = synth("in.flac", seconds=6.0, channels=2, kind="noise")
    export(str(source), tmp_path / "out.wav", RenderOptions(reverse=True))
    assert np.array_equal(read(tmp_path / "out.wav"), read(source)[::-1])


@pytest.mark.parametrize(("rate", "new_rate"), [(44100, 48000), (48000, 44100), (96000, 48000)])
def test_rate_conversion_keeps_pitch_length_and_level(tmp_path: Path, rate: int, new_rate: int) -> None:
    tone = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(rate * 2) / rate)
    soundfile.write(tmp_path / "in.wav", tone, rate, subtype="FLOAT")
    info = export(str(tmp_path / "in.wav"), tmp_path / "out.wav", RenderOptions(rate=new_rate))
    assert info.samplerate == new_rate and abs(info.frames - new_rate * 2) <= 1
    expected = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(info.frames) / new_rate)
    got = read(tmp_path / "out.wav", "float32")[:, 0]
    np.testing.assert_allclose(got[500:-500], expected[500:-500], atol=1e-5)


def test_speed_is_that_of_a_tape(tmp_path: Path) -> None:
    tone = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(96000) / 48000)
    soundfile.write(tmp_path / "in.wav", tone, 48000, subtype="FLOAT")
    info = export(str(tmp_path / "in.wav"), tmp_path / "out.wav", RenderOptions(speed=0.5))
    assert info.samplerate == 48000 and abs(info.frames - 192000) <= 1
    got = read(tmp_path / "out.wav", "float32")[:, 0]
    expected = 0.5 * np.sin(2 * np.pi * 500 * np.arange(info.frames) / 48000)
    np.testing.assert_allclose(got[500:-500], expected[500:-500], atol=1e-5)


def test_channels_are_mixed(tmp_path: Path) -> None:
    samples = np.zeros((100, 6), np.float32)
    samples[:, 2] = 0.5  # centre
    soundfile.write(tmp_path / "in.wav", samples, 48000, subtype="FLOAT")
    export(str(tmp_path / "in.wav"), tmp_path / "stereo.wav", RenderOptions(channels=2))
    np.testing.assert_allclose(read(tmp_path / "stereo.wav", "float32"), 0.5 * 0.5**0.5, rtol=1e-6)
    export(str(tmp_path / "stereo.wav"), tmp_path / "mono.wav", RenderOptions(channels=1))
    np.testing.assert_allclose(read(tmp_path / "mono.wav", "float32"), 0.5 * 0.5**0.5, rtol=1e-6)
    with pytest.raises(RenderError, match="6 channels can be reduced to 1 or 2 only"):
        export(str(tmp_path / "in.wav"), tmp_path / "three.wav", RenderOptions(channels=3))
    assert not (tmp_path / "three.wav").exists() and not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("target", ["out.wav", "out.flac", "out.aiff"])
def test_dither_only_where_the_depth_falls(tmp_path: Path, target: str) -> None:
    quiet = np.full((48000, 1), round(0.3 * (1 << 16)), np.int32)  # 0.3 of a 16-bit step, forever
    soundfile.write(tmp_path / "in.wav", quiet, 48000, subtype="PCM_24")
    info = export(str(tmp_path / "in.wav"), tmp_path / target, RenderOptions(depth=16))
    assert info.subtype == "PCM_16"
    steps = read(tmp_path / target, "int16")
    assert set(np.unique(steps)) == {-1, 0, 1}  # triangular: never farther than 1.5 steps
    assert steps.mean() == pytest.approx(0.3, abs=0.02)  # what would have been rounded away is still there
    assert steps.std() == pytest.approx((1 / 6 + 1 / 12) ** 0.5, abs=0.02)
    export(str(tmp_path / "in.wav"), tmp_path / f"deep {target}", RenderOptions(depth=24))
    assert np.array_equal(read(tmp_path / f"deep {target}"), read(tmp_path / "in.wav"))
    silence = np.zeros((1000, 1), np.int16)
    soundfile.write(tmp_path / "silence.wav", silence, 48000, subtype="PCM_16")
    export(str(tmp_path / "silence.wav"), tmp_path / f"silent {target}", RenderOptions(rate=44100, depth=16))
    assert not read(tmp_path / f"silent {target}").any()


def test_the_same_export_twice_is_the_same_file(tmp_path: Path, synth: SynthFactory) -> None:
    source = synth("in.wav", subtype="PCM_24", kind="noise")
    for name in ("a.wav", "b.wav"):
        export(str(source), tmp_path / name, RenderOptions(depth=16, rate=44100))
    assert (tmp_path / "a.wav").read_bytes() == (tmp_path / "b.wav").read_bytes()


def test_normalise_sets_the_highest_sample(tmp_path: Path, synth: SynthFactory) -> None:
    source = synth("in.wav", kind="noise", channels=2, subtype="PCM_24")
    export(str(source), tmp_path / "out.wav", RenderOptions(normalise_db=-6.0))
    assert np.abs(read(tmp_path / "out.wav", "float64")).max() == pytest.approx(10 ** (-6 / 20), abs=1e-6)
    silent = synth("silent.wav", kind="silence")
    export(str(silent), tmp_path / "still.wav", RenderOptions(normalise_db=0.0))
    assert not read(tmp_path / "still.wav").any()


def test_over_full_scale_is_clipped_and_never_wrapped(tmp_path: Path) -> None:
    loud = np.array([4.0, -4.0, 1.0, -1.0, 0.5, np.nan, np.inf], np.float32)
    soundfile.write(tmp_path / "in.wav", loud, 48000, subtype="FLOAT")
    export(str(tmp_path / "in.wav"), tmp_path / "out.wav", RenderOptions(depth=24))
    got = read(tmp_path / "out.wav", "float64")[:, 0]
    np.testing.assert_allclose(got, [1, -1, 1, -1, 0.5, 0, 0], atol=1e-6)


@pytest.mark.slow
def test_a_long_ogg_is_written_by_a_thread_with_a_small_stack(tmp_path: Path, synth: SynthFactory) -> None:
    source = synth("in.wav", seconds=120.0, channels=2)
    before = threading.stack_size(512 << 10)  # what macOS gives a thread
    try:
        thread = threading.Thread(target=export, args=(str(source), tmp_path / "out.ogg"))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert soundfile.info(tmp_path / "out.ogg").frames == 120 * 48000


def test_ogg_is_written(tmp_path: Path, synth: SynthFactory) -> None:
    source = synth("in.wav", seconds=2.0, samplerate=44100, channels=2)
    info = export(str(source), tmp_path / "out.OGG")
    assert (info.subtype, info.channels, info.samplerate) == ("VORBIS", 2, 44100)
    error = read(tmp_path / "out.OGG", "float32") - read(source, "float32")
    assert np.sqrt((error**2).mean()) < 0.02


@given(st.lists(st.floats(-2, 2, width=32), min_size=1, max_size=50), st.sampled_from([8, 16, 24, 32]))
def test_words_round_and_clip(values: list[float], bits: int) -> None:
    block = np.array(values, np.float32)[:, None]
    words = to_words(block, bits, None)
    step = 2.0 ** -(bits - 1)
    expected = np.clip(block.astype(np.float64), -1, 1 - step)
    assert np.abs(words / 2.0**31 - expected).max() <= step / 2
    assert not (words & ((1 << (32 - bits)) - 1)).any()


# ---------------------------------------------------------------- Broadcast Wave


def test_whole_copies_keep_the_time_and_continue_the_history(tmp_path: Path) -> None:
    source = broadcast_wave(tmp_path / "in.wav")
    export(str(source), tmp_path / "out.wav")
    old, new = chunks(source), chunks(tmp_path / "out.wav")
    assert new[b"bext"][:602] == old[b"bext"][:602]
    line = b"A=PCM,F=48000,W=24,M=stereo,T=Foley Desktop\r\n"
    assert new[b"bext"][602:] == b"A=ANALOGUE,M=mono,T=tape\r\n" + line
    assert new[b"iXML"] == old[b"iXML"] and new[b"LIST"] == old[b"LIST"]
    names = [*new]
    assert names.index(b"bext") < names.index(b"data")


def test_a_region_moves_the_time_reference(tmp_path: Path) -> None:
    source = broadcast_wave(tmp_path / "in.wav")
    export(str(source), tmp_path / "out.wav", RenderOptions(start_s=0.25, end_s=0.5))
    assert time_reference(tmp_path / "out.wav") == 1_000_000 + 12_000
    assert np.array_equal(read(tmp_path / "out.wav"), read(source)[12000:24000])
    loudness = struct.unpack_from("<5h", chunks(tmp_path / "out.wav")[b"bext"], 412)
    assert set(loudness) == {0x7FFF}  # measured over the whole, so no longer true
    text = chunks(tmp_path / "out.wav")[b"iXML"].decode()
    # 2**32 + 4294967290 + 12000, in two halves
    assert "_HI>2</" in text and "_LO>11994</" in text and "<NOTE>Tür</NOTE>" in text


def test_another_rate_counts_in_its_own_samples(tmp_path: Path) -> None:
    source = broadcast_wave(tmp_path / "in.wav", time_reference=48000 * 3600)
    options = RenderOptions(start_s=0.5, rate=44100, depth=16)
    export(str(source), tmp_path / "out.wav", options)
    assert time_reference(tmp_path / "out.wav") == 44100 * 3600 + 22050
    new = chunks(tmp_path / "out.wav")
    assert new[b"bext"].endswith(b"A=PCM,F=44100,W=16,M=stereo,T=Foley Desktop\r\n")
    text = new[b"iXML"].decode()
    assert "<FILE_SAMPLE_RATE>44100<" in text and "<AUDIO_BIT_DEPTH>16<" in text


@pytest.mark.parametrize("size", [0, 200, 346, 601])
def test_a_short_bext_is_made_whole(size: int) -> None:
    move = Move(10, 48000, 48000, 24, 6, altered=True)
    new = moved_bext(bext(5)[:size], move)
    assert len(new) > 602 and new[: min(size, 338)] == bext(5)[: min(size, 338)]
    assert struct.unpack_from("<Q", new, 338)[0] == (15 if size >= 346 else 10)
    assert new.endswith(b"A=PCM,F=48000,W=24,T=Foley Desktop\r\n")


@given(st.binary(max_size=400), st.integers(0, 1 << 40))
def test_any_ixml_and_bext_survive(payload: bytes, start: int) -> None:
    move = Move(start, 48000, 96000, 16, 1, altered=True)
    assert len(moved_bext(payload, move)) >= 602
    moved_ixml(payload, move)
    text = b"<BWF_TIME_REFERENCE_LOW>7</BWF_TIME_REFERENCE_LOW>"
    value = int(moved_ixml(text, move).split(b">")[1].split(b"<")[0])
    assert value == (2 * (start + 7)) & 0xFFFFFFFF


class SparseFile(io.BytesIO):
    """Counts what is written behind the first megabyte and does not keep it: 4 GiB without a disk."""

    extra = 0

    def write(self, data: Any) -> int:
        if super().tell() >= 1 << 20 and len(data) > 1 << 16:
            self.extra += len(data)
            return len(data)
        return super().write(data)

    def tell(self) -> int:
        return super().tell() + self.extra


def test_more_than_four_gibibytes_become_rf64() -> None:
    file = SparseFile()
    writer = WavWriter(file, "PCM_16", 48000, 2)
    block = np.zeros((1 << 22, 2), np.int32)
    for _ in range(270):  # 16 MiB each
        writer.write(block)
    writer.finish()
    head = file.getvalue()[:200]
    assert head[:4] == b"RF64" and head[4:8] == b"\xff" * 4 and head[12:16] == b"ds64"
    riff_size, data_size, frames = struct.unpack_from("<QQQ", head, 20)
    assert data_size == 270 << 24 and frames == data_size // 4 and riff_size > data_size
    assert head[head.index(b"data") + 4 :][:4] == b"\xff" * 4


def test_eight_bits_are_unsigned() -> None:
    assert encode(np.array([[0], [-(1 << 31)], [127 << 24]], np.int32), "PCM_U8") == bytes([128, 0, 255])


# ---------------------------------------------------------------- what must not happen


def test_nothing_is_overwritten_unasked(tmp_path: Path, synth: SynthFactory) -> None:
    source, target = synth("in.wav"), tmp_path / "there.wav"
    target.write_bytes(b"precious")
    with pytest.raises(RenderError, match=r"already a file there\.wav"):
        export(str(source), target)
    assert target.read_bytes() == b"precious"
    export(str(source), target, overwrite=True)
    assert np.array_equal(read(target), read(source))


def test_the_clip_itself_is_never_overwritten(tmp_path: Path, synth: SynthFactory) -> None:
    source = synth("in.wav")
    before = source.read_bytes()
    (tmp_path / "link.wav").symlink_to(source)
    os.link(source, tmp_path / "hard.wav")
    for target in (source, tmp_path / "link.wav", tmp_path / "hard.wav"):
        with pytest.raises(RenderError, match="never overwritten"):
            export(str(source), target, RenderOptions(reverse=True), overwrite=True)
    assert source.read_bytes() == before


def test_a_file_that_appears_meanwhile_stays(
    tmp_path: Path, synth: SynthFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = synth("in.wav"), tmp_path / "out.wav"
    monkeypatch.setattr("foley_desktop.audio.render._check_target", lambda *_: target.write_bytes(b"quicker"))
    with pytest.raises(RenderError, match="already a file"):
        export(str(source), target)
    assert target.read_bytes() == b"quicker" and not list(tmp_path.glob(".*"))


def test_disks_without_hard_links_work_too(
    tmp_path: Path, synth: SynthFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    source = synth("in.wav")
    export(str(source), tmp_path / "out.wav")
    assert np.array_equal(read(tmp_path / "out.wav"), read(source))


def test_a_full_disk_leaves_nothing(
    tmp_path: Path, synth: SynthFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(WavWriter, "finish", full)
    with pytest.raises(RenderError, match="No space left"):
        export(str(synth("in.wav")), tmp_path / "out.wav")
    assert [path.name for path in tmp_path.iterdir()] == ["in.wav"]


@pytest.mark.parametrize(
    "options",
    [
        {"start_s": -1.0}, {"start_s": float("nan")}, {"start_s": 0.5, "end_s": 0.5}, {"end_s": float("nan")},
        {"rate": 0}, {"depth": 12}, {"channels": 0}, {"normalise_db": 3.0}, {"speed": 0.0},
        {"speed": float("nan")}, {"start_s": 5.0},
    ],
)  # fmt: skip
def test_senseless_options_are_explained(
    tmp_path: Path, synth: SynthFactory, options: dict[str, Any]
) -> None:
    source = synth("in.wav")
    with pytest.raises(RenderError) as caught:
        export(str(source), tmp_path / "out.wav", RenderOptions(**options))
    assert str(caught.value).endswith(".")
    assert [path.name for path in tmp_path.iterdir()] == ["in.wav"]


def test_what_a_format_cannot_hold_is_explained(tmp_path: Path, synth: SynthFactory) -> None:
    source = synth("in.wav", channels=2)
    wide = synth("wide.wav", channels=12, subtype="PCM_24")
    for path, target, options in (
        (source, "out.mp3", RenderOptions()),
        (source, "out", RenderOptions()),
        (source, "out.flac", RenderOptions(depth=32)),
        (source, "out.ogg", RenderOptions(depth=16)),
        (wide, "out.flac", RenderOptions()),
        (source, "nowhere/out.wav", RenderOptions()),
    ):
        with pytest.raises(RenderError):
            export(str(path), tmp_path / target, options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.wav", "wide.wav"]


def test_what_is_no_audio_says_so(tmp_path: Path) -> None:
    (tmp_path / "in.wav").write_bytes(b"hello" * 100)
    with pytest.raises(AudioFileError):
        export(str(tmp_path / "in.wav"), tmp_path / "out.wav")
    with pytest.raises(AudioFileError):
        export(str(tmp_path / "gone.wav"), tmp_path / "out.wav")


@pytest.mark.parametrize(
    "subtype", ["PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ALAC_20", "VORBIS", "ULAW"]
)
@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.aif", "a.ogg"])
def test_every_encoding_chosen_can_be_written(name: str, subtype: str) -> None:
    depth = {"VORBIS": None, "ALAC_20": 20, "ULAW": 8, "FLOAT": 32, "DOUBLE": 64}.get(subtype, 16)
    if subtype.startswith("PCM"):
        depth = int(subtype[4:])
    chosen = choose_encoding(Path(name), AudioInfo(1, 48000, 1, "?", subtype, depth), None)
    assert soundfile.check_format(chosen.format, chosen.subtype)


# ---------------------------------------------------------------- regions for drags


def test_a_dragged_region_gets_a_name_of_its_own_each_time(tmp_path: Path, synth: SynthFactory) -> None:
    source = synth("Door slam.wav", seconds=2.0, channels=2, kind="noise", subtype="PCM_24")
    folder = tmp_path / "spotted"
    paths = [render_region(str(source), 0.5, 1.25, folder, "Door slam") for _ in range(3)]
    assert [path.name for path in paths] == [
        "Door slam_0.500s-1.250s.wav", "Door slam_0.500s-1.250s_2.wav", "Door slam_0.500s-1.250s_3.wav",
    ]  # fmt: skip
    for path in paths:
        assert np.array_equal(read(path), read(source)[24000:60000])


@given(st.text(max_size=300) | st.binary(max_size=300).map(os.fsdecode))
def test_any_clips_name_becomes_a_name_that_disks_take(
    tmp_path_factory: pytest.TempPathFactory, stem: str
) -> None:
    folder = tmp_path_factory.mktemp("names")
    soundfile.write(folder / "in.wav", np.zeros(100), 48000)
    path = render_region(str(folder / "in.wav"), 0.0, 0.001, folder / "out", stem)
    assert path.parent == folder / "out" and path.is_file() and path.suffix == ".wav"
    assert len(path.name.encode("utf-8")) <= 255 and path.name.isprintable()  # and no surrogates


def test_long_names_are_cut_between_characters(tmp_path: Path, synth: SynthFactory) -> None:
    path = render_region(str(synth("in.wav")), 0.1, 0.2, tmp_path, "ä" * 127 + "b")
    assert len(path.name.encode()) in (239, 240) and path.name.endswith("ä_0.100s-0.200s.wav")


def test_a_source_with_a_name_that_is_no_text(tmp_path: Path) -> None:
    source = tmp_path / os.fsdecode(b"caf\xe9.wav")
    soundfile.write(os.fsencode(source), np.zeros(1000), 48000)
    assert render_region(str(source), 0.0, 0.01, tmp_path, source.stem).name == "caf__0.000s-0.010s.wav"
    with pytest.raises(RenderError, match=r"already a file caf�\.wav"):
        export(str(tmp_path / "caf__0.000s-0.010s.wav"), source)


# ---------------------------------------------------------------- files that broke other tools


def test_every_field_case_that_plays_can_be_exported(shared_dir: Path, tmp_path: Path) -> None:
    folder = shared_dir / "field_cases"
    cases = json.loads((folder / "expected.json").read_text("utf-8"))
    done = 0
    for name, case in cases.items():
        source = folder / "files" / case["file"]
        before = source.read_bytes()
        try:
            heard = decoded(source)
        except AudioFileError:
            continue
        info = export(str(source), tmp_path / f"{name}.wav")
        written = decoded(tmp_path / f"{name}.wav")
        assert np.array_equal(written, heard), name
        assert info.channels == heard.shape[1], name
        assert source.read_bytes() == before, name
        done += 1
    assert done > 10


def decoded(path: Path) -> np.ndarray:
    with open_audio(str(path)) as reader:
        blocks = []
        while len(block := reader.read(1 << 16)):
            blocks.append(block)
        return np.concatenate(blocks) if blocks else np.zeros((0, reader.info.channels), np.float32)
