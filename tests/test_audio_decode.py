"""The decoder against every kind of broken header we know, and the promises of its readers.

The cases are named by kind; the numbers in them are what is really in the made-up file.
"""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from audio_files import (
    FRAMES,
    RATE,
    TONE,
    aiff,
    aiff_chunk,
    chunk,
    coded_by_ffmpeg,
    comm,
    ds64,
    encoded,
    extensible,
    flac,
    flac_frames,
    fmt,
    id3,
    info,
    ogg_pages,
    pcm,
    riff,
    sealed,
    ssnd,
    sweep,
    vorbis_comment,
    wav,
    with_opus_rate,
    without_end_flag,
)

from foley_desktop.audio import decode, pyav_reader
from foley_desktop.audio.mpeg import frame_length
from foley_desktop.errors import AudioFileError

FLOAT = TONE.astype("<f4")
SOUND = chunk(b"data", pcm(16))
BIG_ENDIAN = pcm(16, order=">")
ONES = 0xFFFFFFFF


def stated(size: int) -> bytes:
    """The sound chunk with a size that is not its own."""
    return chunk(b"data", pcm(16), size)


def rf64(*chunks: bytes, form: bytes = b"RF64") -> bytes:
    return riff(*chunks, size=ONES, form=form)


def with_values(**at: float) -> bytes:
    """A float file with values of one's own at frames 10, 11, …"""
    samples = FLOAT.copy()
    samples[10 : 10 + len(at)] = list(at.values())
    return riff(fmt(3, bits=32), chunk(b"data", samples.tobytes()))


# name: (file name, bytes, frames, peak, badges)
PLAYABLE: dict[str, tuple[str, bytes, int, float, set[str]]] = {
    "sane": ("a.wav", wav(), FRAMES, 0.5, set()),
    "big endian": ("a.wav", encoded(TONE, RATE, "WAV", "PCM_16", endian="BIG"), FRAMES, 0.5, set()),
    # sizes that lie
    "sizes of all ones": (
        "a.wav", riff(fmt(), stated(ONES), size=ONES), FRAMES, 0.5, {"not_finalised"},
    ),
    "sizes of all ones, text behind": (
        "a.wav",
        riff(fmt(), stated(ONES), info((b"ICMT", b"tail")), size=ONES),
        FRAMES, 0.5, {"not_finalised"},
    ),
    "sizes 0": ("a.wav", riff(fmt(), stated(0), size=0), FRAMES, 0.5, {"not_finalised"}),
    "sound size 0": ("a.wav", riff(fmt(), stated(0), size=36), FRAMES, 0.5, {"not_finalised"}),
    "sound size 0, text behind": (
        "a.wav", riff(fmt(), stated(0), info((b"ICMT", b"tail"))), FRAMES, 0.5, {"not_finalised"},
    ),
    "twice the size": ("a.wav", riff(fmt(), stated(9600)), FRAMES, 0.5, {"truncated"}),
    "not a whole frame": ("a.wav", riff(fmt(), chunk(b"data", pcm(16) + b"x")), FRAMES, 0.5, {"truncated"}),
    # 64-bit sizes
    "RF64": (
        "a.wav", rf64(ds64(4800, 4880), fmt(), stated(ONES)),
        FRAMES, 0.5, set(),
    ),
    "BW64": (
        "a.wav", rf64(ds64(4800, 4880), fmt(), stated(ONES), form=b"BW64"),
        FRAMES, 0.5, set(),
    ),
    "RF64, true 32-bit sizes": (
        "a.wav", riff(ds64(0), fmt(), SOUND, form=b"RF64"), FRAMES, 0.5, set()
    ),
    "RF64, never finalised": (
        "a.wav", rf64(ds64(0), fmt(), stated(ONES)),
        FRAMES, 0.5, {"not_finalised"},
    ),
    # odd chunks and bad padding
    "text without pad byte": (
        "a.wav", riff(fmt(), chunk(b"LIST", b"INFO" + chunk(b"ICMT", b"odd", pad=None), pad=None),
                      SOUND),
        FRAMES, 0.5, set(),
    ),
    "nine mu-law samples": (
        "a.wav", riff(fmt(7, rate=8000, bits=8, extra=b"\0\0"), chunk(b"fact", struct.pack("<I", 9)),
                      chunk(b"data", bytes(range(9)), pad=None), info((b"ICMT", b"mu"))),
        9, 0.98, set(),
    ),
    "loose bytes in a LIST": (
        "a.wav", riff(fmt(), chunk(b"LIST", b"INFO" + chunk(b"ICMT", b"door") + b"\0\1\2", pad=None),
                      SOUND),
        FRAMES, 0.5, set(),
    ),
    "odd 24-bit sound without pad byte": (
        "a.wav", riff(fmt(bits=24), chunk(b"data", pcm(24) + pcm(24)[:3], pad=None), info((b"ICMT", b"x"))),
        FRAMES + 1, 0.5, set(),
    ),
    "a LIST that swallows the sound": (
        "a.wav", riff(fmt(), chunk(b"LIST", b"INFO", 0x7000), SOUND), FRAMES, 0.5, set()
    ),
    "stray bytes before the sound": (
        "a.wav", riff(fmt(), bytes(8), SOUND), FRAMES, 0.5, set()
    ),
    "bytes behind the end": ("a.wav", wav() + b"\0", FRAMES, 0.5, {"trailing_bytes"}),
    "ID3 in front of RIFF": ("a.wav", id3((b"TIT2", "Door")) + wav(), FRAMES, 0.5, set()),
    "text behind the stated end": (
        "a.wav", riff(fmt(), SOUND, info((b"ICMT", b"x")), size=4836),
        FRAMES, 0.5, {"trailing_bytes"},
    ),
    # extensible
    "24 of 32 bits": (
        "a.wav", riff(fmt(0xFFFE, bits=32, extra=extensible(1, 24)), chunk(b"data", pcm(32))),
        FRAMES, 0.5, set(),
    ),
    "mask of all ones": (
        "a.wav", riff(fmt(0xFFFE, extra=extensible(1, 16, ONES)), SOUND),
        FRAMES, 0.5, set(),
    ),
    # values
    "12 dB over": (
        "a.wav", riff(fmt(3, bits=32), chunk(b"data", (8 * FLOAT).tobytes())),
        FRAMES, 4.0, {"over_full_scale"},
    ),
    "exactly full scale": ("a.wav", with_values(a=1.0, b=-1.0), FRAMES, 1.0, set()),
    "infinities": ("a.wav", with_values(a=np.inf, b=-np.inf), FRAMES, 0.5, {"non_finite_samples"}),
    "not a number": ("a.wav", with_values(a=np.nan), FRAMES, 0.5, {"non_finite_samples"}),
    "largest float, summing up to infinity": (
        "a.wav", with_values(a=3.4e38, b=3.4e38), FRAMES, 3.4e38, {"over_full_scale"}
    ),
    "denormals": (
        "a.wav", riff(fmt(3, bits=32), chunk(b"data", np.full(FRAMES, 1e-40, "<f4").tobytes())),
        FRAMES, 0.0, set(),
    ),
    # small
    "one sample": ("a.wav", riff(fmt(), chunk(b"data", b"\0\x40")), 1, 0.5, set()),
    "19 samples": ("a.wav", riff(fmt(), chunk(b"data", pcm(16)[:38])), 19, 0.5, set()),
    "silence": ("a.wav", riff(fmt(), chunk(b"data", bytes(4800))), FRAMES, 0.0, set()),
    # channels
    "5.1": ("a.wav", encoded(np.tile(TONE[:400, None], 6), RATE, "WAVEX", "PCM_16"), 400, 0.5, set()),
    "block align 0": ("a.wav", riff(fmt(align=0), SOUND), FRAMES, 0.5, set()),
    # FLAC
    "count 0": ("a.flac", flac(total=0), FRAMES, 0.5, set()),
    "ten times the count": ("a.flac", flac(total=24000), FRAMES, 0.5, {"truncated"}),
    "the largest count": ("a.flac", flac(total=2**36 - 1), FRAMES, 0.5, {"truncated"}),
    "ID3 in front": ("a.flac", id3((b"TIT2", "Door"), total=1024) + flac(), FRAMES, 0.5, set()),
    "a picture of 218 MB": (
        "a.flac", flac((6, bytes(40), 0xFFFFFF), (4, vorbis_comment(b"TITLE=x"))), FRAMES, 0.5, set()
    ),
    "comments longer than the file": ("a.flac", flac((4, vorbis_comment(), 60000)), FRAMES, 0.5, set()),
    "comments too short": ("a.flac", flac((4, vorbis_comment(b"TITLE=x"), 3)), FRAMES, 0.5, set()),
    "second frame cut": (
        "a.flac", flac(frames=[flac_frames()[0], flac_frames()[1][:900]]), 1200, 0.5, {"truncated"}
    ),
    # AIFF
    "sowt": ("a.aifc", aiff(comm(codec=b"sowt"), ssnd(pcm(16)), kind=b"AIFC"), FRAMES, 0.5, set()),
    "64-bit float, sound first": (
        "a.aifc", aiff(ssnd(TONE.astype(">f8").tobytes()), comm(bits=64, codec=b"fl64"), kind=b"AIFC"),
        FRAMES, 0.5, set(),
    ),
    "odd name without pad byte": (
        "a.aif", aiff(b"NAME\0\0\0\3odd", comm(), ssnd(BIG_ENDIAN)), FRAMES, 0.5, set()
    ),
    "half of the AIFF": ("a.aif", aiff(comm(), ssnd(BIG_ENDIAN[:2400])), 1200, 0.5, {"truncated"}),
    "AIFF sizes 0": (
        "a.aif", aiff(comm(frames=0), ssnd(BIG_ENDIAN, 0)), FRAMES, 0.5, {"not_finalised"}
    ),
    "AIFF with an offset": (
        "a.aif", aiff(comm(), aiff_chunk(b"SSND", b"\0\0\0\x10\0\0\0\0" + b"\x7f" * 16 + BIG_ENDIAN)),
        FRAMES, 0.5, set(),
    ),
    # names that promise something else
    "AIFF named .wav": ("a.wav", aiff(comm(), ssnd(BIG_ENDIAN)), FRAMES, 0.5, {"extension_mismatch"}),
    "FLAC named .ogg": ("a.ogg", flac(), FRAMES, 0.5, {"extension_mismatch"}),
    "capital letters": ("A.WAV", wav(), FRAMES, 0.5, set()),
}  # fmt: skip

REFUSED: dict[str, tuple[str, bytes, str]] = {
    "no bytes": ("a.wav", b"", "empty"),
    "no samples": ("a.wav", riff(fmt(), chunk(b"data", b"")), "empty"),
    "no samples but text": ("a.wav", riff(fmt(), chunk(b"data", b""), info((b"ICMT", b"x"))), "empty"),
    "FLAC without frames": ("a.flac", flac(frames=[]), "empty"),
    "AIFF without samples": ("a.aif", aiff(comm(frames=0), ssnd(b"")), "empty"),
    "a tag and nothing else": ("a.mp3", id3((b"TIT2", "Door"), total=1024), "empty"),
    "three bytes": ("a.wav", b"RIF", "not_audio"),
    "eleven bytes": ("a.wav", wav()[:11], "not_audio"),
    "nothing but the four letters of AIFF": ("a.aif", b"FORM", "not_audio"),
    "a picture in IFF": ("a.iff", b"FORM\0\0\2\0ILBMBMHD" + bytes(500), "not_audio"),
    "a picture in HEIF": ("a.m4a", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(200), "not_audio"),
    "a web page": ("a.wav", b"\n<!DOCTYPE html><html><title>404</title></html>", "not_audio"),
    "a Git LFS pointer": ("a.wav", b"version https://git-lfs.github.com/spec/v1\noid 0\n", "not_audio"),
    "zeros": ("a.wav", bytes(5000), "not_audio"),
    "a text": ("a.mp3", "Tür und Tor, a text of some length\n".encode() * 20, "not_audio"),
    "MIDI": ("a.wav", b"MThd\0\0\0\6\0\1\0\1\0\x60MTrk" + bytes(50), "not_audio"),
    "cut in fmt": ("a.wav", wav()[:30], "corrupt_header"),
    "no sound chunk": ("a.wav", riff(fmt()), "corrupt_header"),
    "no fmt": ("a.wav", riff(SOUND), "corrupt_header"),
    "0 channels": ("a.wav", riff(fmt(channels=0, align=2), SOUND), "corrupt_header"),
    "65535 channels": ("a.wav", riff(fmt(channels=65535, align=2), SOUND), "corrupt_header"),
    "rate 0": ("a.wav", riff(fmt(rate=0), SOUND), "corrupt_header"),
    "rate of 1 Hz": ("a.wav", riff(fmt(rate=1), SOUND), "corrupt_header"),
    "FLAC without STREAMINFO": ("a.flac", b"fLaC" + bytes(3), "corrupt_header"),
    "WMA in WAV": ("a.wav", riff(fmt(0x161, align=4096), chunk(b"data", bytes(9000))), "unsupported_codec"),
    "ATRAC3 in WAV": ("a.wav", riff(fmt(0x270, align=384), chunk(b"data", bytes(500))), "unsupported_codec"),
    "unknown GUID": (
        "a.wav", riff(fmt(0xFFFE, extra=extensible(1, 16, guid=b"\xde\xad" * 7)), SOUND),
        "unsupported_codec",
    ),
    "QDM2 in AIFF-C": (
        "a.aifc", aiff(comm(codec=b"QDM2"), ssnd(bytes(400)), kind=b"AIFC"), "unsupported_codec"
    ),
    "MPEG-4 without an index": (
        "a.m4a", b"\0\0\0\x20ftypM4A \0\0\0\0M4A mp42isom" + bytes(4), "unsupported_codec"
    ),
    "Windows Media without content": (
        "a.wma", bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c") + bytes(100), "unsupported_codec"
    ),
}  # fmt: skip


def _samples_in(width: int, samples: np.ndarray = TONE, bits: int = 16) -> bytes:
    """Samples of ``bits`` at the upper end of ``width`` little-endian bytes."""
    low = bytes(width - bits // 8)
    data, size = pcm(bits, samples), bits // 8
    return b"".join(low + data[at : at + size] for at in range(0, len(data), size))


for _bits, _width in ((16, 3), (16, 4), (24, 4), (20, 4)):
    _held = _samples_in(_width, bits=24 if _bits > 16 else 16)
    _quiet = bytes(_width * 70_000)
    PLAYABLE[f"{_bits} of {8 * _width} bits by the block align alone"] = (
        "a.wav", riff(fmt(bits=_bits, align=_width), chunk(b"data", _held)), FRAMES, 0.5, set(),
    )  # fmt: skip
    PLAYABLE[f"{_bits} of {8 * _width} bits, extensible, after silence"] = (
        "a.wav",
        riff(
            fmt(0xFFFE, bits=_bits, align=_width, extra=extensible(1, _bits)),
            chunk(b"data", _quiet + _held),
        ),
        FRAMES + 70_000, 0.5, set(),
    )  # fmt: skip
for _align in (3, 4, 100):
    PLAYABLE[f"a block align of {_align} that is wrong"] = (
        "a.wav", riff(fmt(align=_align), SOUND), FRAMES, 0.5, set()
    )  # fmt: skip
PLAYABLE["0 bits, right block align"] = (
    "a.wav", riff(chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, RATE, 2 * RATE, 2, 0)), SOUND),
    FRAMES, 0.5, set(),
)  # fmt: skip
for _codec, _bits, _order in ((b"in24", 24, ">"), (b"42ni", 24, "<"), (b"in32", 32, ">"), (b"23ni", 32, "<")):
    PLAYABLE[f"AIFF-C {_codec.decode()} that states 16 bits"] = (
        "a.aifc", aiff(comm(codec=_codec), ssnd(pcm(_bits, order=_order)), kind=b"AIFC"), FRAMES, 0.5, set()
    )  # fmt: skip
PLAYABLE["AIFF-C unsigned bytes that state 16 bits"] = (
    "a.aifc",
    aiff(comm(codec=b"raw "), ssnd(bytes(byte ^ 0x80 for byte in pcm(16)[1::2])), kind=b"AIFC"),
    FRAMES, 0.5, set(),
)  # fmt: skip
for _stated, _badge in ((0x7FFFFFFF, "truncated"), (48000, "truncated"), (0, "not_finalised")):
    PLAYABLE[f"AU of the size {_stated:#x}"] = (
        "a.au", struct.pack(">4s5I", b".snd", 24, _stated, 3, RATE, 1) + BIG_ENDIAN, FRAMES, 0.5, {_badge}
    )  # fmt: skip
_caf = encoded(TONE, RATE, "CAF", "PCM_16")
for _stated in (0, 4):
    _at = _caf.index(b"data") + 4
    PLAYABLE[f"CAF of the size {_stated}"] = (
        "a.caf", _caf[:_at] + struct.pack(">q", _stated) + _caf[_at + 8 :], FRAMES, 0.5, {"not_finalised"}
    )  # fmt: skip
REFUSED["CAF without sound but with a chunk behind"] = (
    "a.caf",
    _caf[:_at] + struct.pack(">q", 4) + bytes(4) + b"free" + struct.pack(">q", 100) + bytes(100),
    "empty",
)
for _zeros in (70_000, 393_217):
    PLAYABLE[f"{_zeros} zeros before the sound"] = (
        "a.wav", riff(fmt(), bytes(_zeros), SOUND), FRAMES, 0.5, set()
    )  # fmt: skip
    PLAYABLE[f"{_zeros} zeros before everything"] = (
        "a.wav", riff(bytes(_zeros), fmt(), SOUND), FRAMES, 0.5, set()
    )  # fmt: skip
for _more in (1, 2, 5, 20, 256):
    PLAYABLE[f"bext {_more} bytes too long, over the format"] = (
        "a.wav", riff(chunk(b"bext", bytes(602), 602 + _more), fmt(), SOUND), FRAMES, 0.5, set()
    )  # fmt: skip
_w64 = encoded(TONE, RATE, "W64", "PCM_16")
_at = _w64.index(b"data\xf3\xac\xd3\x11") + 16
PLAYABLE["Wave64 of the size 0"] = (
    "a.w64", _w64[:_at] + bytes(8) + _w64[_at + 8 :], FRAMES, 0.5, {"not_finalised"}
)  # fmt: skip
for _total in (2, 600, 1199, 1200, 2399):
    PLAYABLE[f"FLAC that admits {_total} of its frames"] = ("a.flac", flac(total=_total), FRAMES, 0.5, set())

for _name, _format in {"a.au": "AU", "a.caf": "CAF", "a.w64": "W64"}.items():
    _data = encoded(TONE, RATE, _format, "PCM_16")
    PLAYABLE[f"{_format} with bytes behind"] = (_name, _data + bytes(100), FRAMES, 0.5, set())
    PLAYABLE[f"{_format} cut"] = (_name, _data[:-2400], FRAMES - 1200, 0.5, {"truncated"})


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, bytes], str]:
    """Writes bytes into a file of the given name and returns its path."""

    def write(name: str, data: bytes) -> str:
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return write


Put = Callable[[str, bytes], str]


@pytest.mark.parametrize("case", PLAYABLE)
def test_plays_what_is_there(case: str, put: Put) -> None:
    name, data, frames, peak, badges = PLAYABLE[case]
    path = put(name, data)
    before = Path(path).read_bytes()
    probe = decode.probe(path)
    assert probe.info.frames == frames
    assert probe.peak == pytest.approx(peak, rel=1e-3)
    assert set(probe.badges) == badges
    assert probe.badges == probe.info.badges
    assert Path(path).read_bytes() == before, "the user's file is never written"


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_with_a_reason_and_a_short_sentence(case: str, put: Put) -> None:
    name, data, reason = REFUSED[case]
    with pytest.raises(AudioFileError) as caught:
        decode.probe(put(name, data))
    assert caught.value.reason == reason
    assert caught.value.sentence.endswith(".") and len(caught.value.sentence) < 90


def test_samples_are_those_of_the_file(put: Put) -> None:
    samples = np.random.default_rng(0).uniform(-1, 1, (5000, 2)).astype(np.float32)
    path = put("a.wav", encoded(samples, 44100, "WAV", "FLOAT"))
    with decode.open_audio(path) as reader:
        assert (reader.info.frames, reader.info.samplerate, reader.info.channels) == (5000, 44100, 2)
        assert (reader.info.subtype, reader.info.bit_depth, reader.frames_known) == ("FLOAT", 32, True)
        assert reader.info.duration_s == pytest.approx(5000 / 44100)
        first, rest, nothing = reader.read(100), reader.read(10**9), reader.read(10)
    assert np.array_equal(first, samples[:100])
    assert np.array_equal(rest, samples[100:]), "a read gives all it was asked for, up to the end"
    assert nothing.shape == (0, 2) and nothing.dtype == np.float32


CODED = {
    "WAV 24": ("a.wav", "WAV", "PCM_24", 48000),
    "FLAC": ("a.flac", "FLAC", "PCM_16", 44100),
    "Vorbis": ("a.ogg", "OGG", "VORBIS", 44100),
    "Opus": ("a.opus", "OGG", "OPUS", 48000),
    "MP3": ("a.mp3", "MP3", "MPEG_LAYER_III", 44100),
    "MP3 at 22 kHz": ("a.mp3", "MP3", "MPEG_LAYER_III", 22050),
    "IMA ADPCM": ("a.wav", "WAV", "IMA_ADPCM", 22050),
    "MS ADPCM": ("a.wav", "WAV", "MS_ADPCM", 22050),
    "GSM": ("a.wav", "WAV", "GSM610", 8000),
    "G.721": ("a.wav", "WAV", "G721_32", 8000),
    "ALAC": ("a.caf", "CAF", "ALAC_16", 44100),
    "DWVW": ("a.aif", "AIFF", "DWVW_16", 44100),
}


@pytest.mark.parametrize("case", CODED)
def test_seeks_to_the_exact_frame(case: str, put: Put) -> None:
    name, file_format, subtype, rate = CODED[case]
    path = put(name, encoded(sweep(5, rate), rate, file_format, subtype))
    whole, samplerate = decode.read_frames(path, 0, 10**9)
    assert samplerate == rate and len(whole) == decode.probe(path).info.frames
    rng = np.random.default_rng(1)
    with decode.open_audio(path) as reader:
        for place in [0, len(whole) - 1, 1, *rng.integers(0, len(whole), 20)]:
            reader.seek(int(place))
            got = reader.read(3000)
            assert reader.position == place + len(got)
            np.testing.assert_allclose(got, whole[place : place + 3000], atol=1e-6)
        reader.seek(len(whole) + 10**6)
        assert len(reader.read(10)) == 0
        reader.seek(7)
        np.testing.assert_allclose(reader.read(5), whole[7:12], atol=1e-6)


@pytest.mark.parametrize(
    "case", ["count 0", "ten times the count", "second frame cut", "a picture of 218 MB"]
)
def test_seeks_in_a_flac_whose_header_lies(case: str, put: Put) -> None:
    name, data, frames, *_ = PLAYABLE[case]
    path = put(name, data)
    for place in (1199, 100, frames - 1, frames + 5, 0, 23000):
        got, _ = decode.read_frames(path, place, 50)
        expected = TONE[:frames][place : place + 50]
        assert got.shape == (len(expected), 1)
        np.testing.assert_allclose(got[:, 0], expected, atol=1e-4)


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("stated, frames", [(5000, 5000), (2, None), (50_000, None), (0, None)])
def test_ms_adpcm_ends_where_a_credible_count_says(
    channels: int, stated: int, frames: int | None, put: Put
) -> None:
    samples = np.tile(sweep(5000 / RATE, RATE)[:, None], channels)
    data = bytearray(encoded(samples, RATE, "WAV", "MS_ADPCM"))
    at = data.index(b"data") + 4
    blocks = struct.unpack_from("<I", data, at)[0] // struct.unpack_from("<H", data, 32)[0]
    struct.pack_into("<I", data, data.index(b"fact") + 8, stated)
    whole = blocks * struct.unpack_from("<H", data, 38)[0]
    assert whole > 5000, "the last block is padded"
    assert decode.probe(put("a.wav", bytes(data))).info.frames == (frames or whole)


@pytest.mark.parametrize("codec", ["adpcm_yamaha", "g722", "flac", "ac3"])
def test_wav_with_a_codec_that_only_ffmpeg_reads_plays(codec: str, tmp_path: Path) -> None:
    samples = sweep(0.5, RATE)
    path = tmp_path / "a.wav"
    coded_by_ffmpeg(path, samples, RATE, "wav", "adpcm_g722" if codec == "g722" else codec)
    probe = decode.probe(str(path))
    assert abs(probe.info.frames - len(samples)) < 2400
    whole, _ = decode.read_frames(str(path), 0, 10**9)
    with decode.open_audio(str(path)) as reader:
        reader.seek(10_000)
        np.testing.assert_allclose(reader.read(500), whole[10_000:10_500], atol=1e-6)
    best = max(
        np.corrcoef(whole[lead + 1000 : lead + 20_000, 0], samples[1000:20_000])[0, 1]
        for lead in range(0, 600)
    )
    assert best > 0.95


def test_gsm_ends_with_its_last_whole_block(put: Put) -> None:
    """libsndfile decodes the pad byte of an odd chunk as one more block, full of noise."""
    blocks = encoded(np.zeros(2240, np.float32), 8000, "WAV", "GSM610")
    at = blocks.index(b"data") + 8
    sound = blocks[at : at + 7 * 65]
    header = fmt(0x31, rate=8000, bits=0, align=65, extra=struct.pack("<HH", 2, 320))
    path = put("a.wav", riff(header, chunk(b"fact", struct.pack("<I", 2200)), chunk(b"data", sound)))
    assert decode.probe(path).info.frames == 2240


# ---------------------------------------------------------------- MP3


def mp3(mode: str = "VARIABLE") -> bytes:
    """Four seconds at 44.1 kHz behind a Xing (variable) or Info (constant rate) frame."""
    return encoded(sweep(4, 44100), 44100, "MP3", "MPEG_LAYER_III", bitrate_mode=mode, compression_level=0.5)


def with_xing_count(data: bytes, factor: float) -> bytes:
    at = data.index(b"Xing") + 8
    count = struct.unpack_from(">I", data, at)[0]
    return data[:at] + struct.pack(">I", int(count * factor)) + data[at + 4 :]


def without_xing(data: bytes) -> bytes:
    return data[frame_length(data[:4]) :]


@pytest.mark.parametrize("factor", [10, 0.1, 0])
def test_mp3_length_does_not_come_from_the_xing_count(factor: float, put: Put) -> None:
    path = put("a.mp3", with_xing_count(mp3(), factor))
    assert decode.probe(path).info.frames == pytest.approx(4 * 44100, abs=1152)
    with decode.open_audio(path) as reader:
        assert reader.info.frames == decode.probe(path).info.frames


def test_mp3_of_variable_rate_without_a_xing_frame_is_whole(put: Put) -> None:
    quiet_then_loud = np.concatenate([np.zeros(44100, np.float32), sweep(3, 44100)])
    data = encoded(quiet_then_loud, 44100, "MP3", "MPEG_LAYER_III", bitrate_mode="VARIABLE")
    probe = decode.probe(put("a.mp3", without_xing(data)))
    assert probe.info.frames == pytest.approx(4 * 44100, abs=3 * 1152)


@pytest.mark.parametrize(
    "case, lead, tail",
    [
        ("ID3v1", b"", b"TAG" + b"Door".ljust(125, b"\0")),
        ("ID3v2 of 3 kB", id3((b"TIT2", "Door"), total=3072), b""),
        ("zeros in front", bytes(5000), b""),
        ("zeros behind a tag", id3((b"TIT2", "Door")) + bytes(3000), b""),
        ("rubbish in front", np.random.default_rng(0).bytes(3000), b""),
        ("zeros behind", b"", bytes(3000)),
        ("APEv2", b"", b"APETAGEX" + struct.pack("<IIII", 2000, 32, 0, 0) + bytes(8)),
    ],
)
def test_what_stands_around_an_mp3_changes_nothing(case: str, lead: bytes, tail: bytes, put: Put) -> None:
    plain = decode.probe(put("plain.mp3", mp3()))
    probe = decode.probe(put("a.mp3", lead + mp3() + tail))
    assert (probe.audio_hash, probe.info.frames, probe.badges) == (plain.audio_hash, plain.info.frames, ())


def test_mp3_plays_on_behind_rubbish_in_its_middle(put: Put) -> None:
    data = mp3()
    path = put("a.mp3", data[: len(data) // 2] + b"\0rubbish" * 400 + data[len(data) // 2 :])
    assert decode.probe(path).info.frames == pytest.approx(4 * 44100, abs=3 * 1152)


def test_half_an_mp3_is_cut_short(put: Put) -> None:
    probe = decode.probe(put("a.mp3", mp3()[: len(mp3()) // 2]))
    assert "truncated" in probe.badges and 44100 < probe.info.frames < 3 * 44100


def test_mp3_named_wav_says_so(put: Put) -> None:
    assert decode.probe(put("a.wav", mp3())).badges == ("extension_mismatch",)


def test_mp3_inside_wav_plays_and_seeks(put: Put) -> None:
    body = without_xing(mp3("CONSTANT"))
    extra = struct.pack("<HHIHHH", 12, 1, 2, 417, 1, 0)
    header = fmt(0x55, rate=44100, bits=0, align=1, extra=extra)
    path = put("a.wav", riff(header, chunk(b"fact", bytes(4)), chunk(b"data", body)))
    whole, _ = decode.read_frames(path, 0, 10**9)
    assert len(whole) == pytest.approx(4 * 44100, abs=3 * 1152)
    late, _ = decode.read_frames(path, 150_000, 1000)
    np.testing.assert_allclose(late, whole[150_000:151_000], atol=1e-6)
    assert decode.probe(path).info.format == "WAV"


def test_mp3_is_what_libsndfile_makes_of_a_sound_file(put: Put) -> None:
    path = put("a.mp3", mp3())
    whole, _ = decode.read_frames(path, 0, 10**9)
    reference, _ = soundfile.read(path, dtype="float32", always_2d=True)
    assert np.array_equal(whole, reference)


# ---------------------------------------------------------------- Ogg

OPUS = encoded(sweep(2, 48000), 48000, "OGG", "OPUS")
VORBIS = encoded(sweep(2, 48000), 48000, "OGG", "VORBIS")


@pytest.mark.parametrize("rate", [0, 7, 8000, 16000, 24000, 44100, 96000, 2**32 - 1])
def test_opus_plays_at_48_khz_whatever_its_header_remarks(rate: int, put: Put) -> None:
    probe = decode.probe(put("a.opus", with_opus_rate(OPUS, rate)))
    assert (probe.info.frames, probe.info.samplerate, probe.badges) == (96000, 48000, ())
    assert probe.audio_hash == decode.probe(put("b.opus", OPUS)).audio_hash


@pytest.mark.parametrize("first, second", [(OPUS, OPUS), (VORBIS, VORBIS), (VORBIS, OPUS)])
def test_chained_streams_are_one_sound(first: bytes, second: bytes, put: Put) -> None:
    path = put("a.ogg", first + second)
    probe = decode.probe(path)
    assert probe.info.frames == 2 * 96000
    assert probe.badges == ("chained_stream",)
    whole, _ = decode.read_frames(path, 0, 10**9)
    alone, _ = decode.read_frames(put("b.ogg", second), 0, 10**9)
    assert np.array_equal(whole[96000:], alone)
    with decode.open_audio(path) as reader:
        for place in (100_000, 5, 95_990, 191_999):
            reader.seek(place)
            np.testing.assert_allclose(reader.read(20), whole[place : place + 20], atol=1e-6)


def test_chained_flac_is_one_sound(put: Put, tmp_path: Path) -> None:
    """As FFmpeg writes it, which libsndfile does not read."""
    samples = sweep(0.5, RATE)
    coded_by_ffmpeg(tmp_path / "one.oga", samples, RATE, "ogg", "flac")
    path = put("a.oga", (tmp_path / "one.oga").read_bytes() * 2)
    probe = decode.probe(path)
    assert (probe.info.frames, probe.badges) == (2 * len(samples), ("chained_stream",))
    whole, _ = decode.read_frames(path, len(samples) - 100, 10**9)
    np.testing.assert_allclose(whole[100:, 0], samples, atol=2**-15)


@pytest.mark.parametrize("count", [1, 2, 19])
def test_opus_of_a_few_frames_is_sought_exactly(count: int, put: Put) -> None:
    path = put("a.opus", encoded(TONE[100 : 100 + count], RATE, "OGG", "OPUS"))
    whole, _ = decode.read_frames(path, 0, 10**9)
    assert len(whole) == count
    with decode.open_audio(path) as reader:
        for place in (count // 2, count - 1, 0):
            reader.seek(place)
            np.testing.assert_allclose(reader.read(100), whole[place:], atol=1e-6)


def test_a_chain_stops_where_the_rate_changes(put: Put) -> None:
    other = encoded(sweep(1, 44100), 44100, "OGG", "VORBIS")
    probe = decode.probe(put("a.ogg", VORBIS + other))
    assert (probe.info.frames, probe.info.samplerate, probe.badges) == (96000, 48000, ("chained_stream",))


@pytest.mark.parametrize("data", [OPUS, VORBIS], ids=["Opus", "Vorbis"])
def test_ogg_without_an_end_flag_is_whole(data: bytes, put: Put) -> None:
    assert decode.probe(put("a.ogg", without_end_flag(data))).info.frames == 96000


@pytest.mark.parametrize("data", [OPUS, VORBIS], ids=["Opus", "Vorbis"])
def test_a_cut_ogg_page_keeps_its_whole_packets(data: bytes, put: Put) -> None:
    *_, last = ogg_pages(data)
    cut = decode.probe(put("a.ogg", data[: len(data) - len(last) // 2]))
    without_page = decode.probe(put("b.ogg", data[: len(data) - len(last)]))
    assert without_page.info.frames < cut.info.frames < 96000
    assert "truncated" in cut.badges


def test_an_absurd_granule_position_is_no_length(put: Put) -> None:
    *pages, last = ogg_pages(VORBIS)
    data = b"".join(pages) + sealed(last[:6] + struct.pack("<q", 2**62) + last[14:])
    path = put("a.ogg", data)
    assert decode.probe(path).info.frames == pytest.approx(96000, abs=2048)
    with decode.open_audio(path) as reader:
        assert reader.info.frames < 10**9


# ---------------------------------------------------------------- through FFmpeg

BY_FFMPEG = {
    "AAC": ("a.m4a", "ipod", "aac", False),
    "ALAC": ("a.m4a", "ipod", "alac", False),
    "raw AAC": ("a.aac", "adts", "aac", False),
    "video": ("a.mp4", "mp4", "aac", True),
    "Matroska": ("a.mkv", "matroska", "aac", True),
    "Ogg FLAC": ("a.oga", "ogg", "flac", False),
    "QuickTime": ("a.mov", "mov", "pcm_s24le", False),
    "AVI": ("a.avi", "avi", "pcm_s16le", True),
    "transport stream": ("a.ts", "mpegts", "mp2", False),
    "WavPack": ("a.wv", "wv", "wavpack", False),
    "CAF with ALAC": ("a.caf", "caf", "alac", False),
}


@pytest.mark.parametrize("case", BY_FFMPEG)
def test_plays_and_seeks_what_only_ffmpeg_reads(case: str, tmp_path: Path) -> None:
    name, container, codec, picture = BY_FFMPEG[case]
    path, sound = tmp_path / name, sweep(2, 44100)
    coded_by_ffmpeg(path, sound, 44100, container, codec, picture=picture)
    probe = decode.probe(str(path))
    assert (probe.info.samplerate, probe.info.channels, probe.badges) == (44100, 1, ())
    assert probe.info.frames == pytest.approx(len(sound), abs=2 * 2048)
    whole, _ = decode.read_frames(str(path), 0, 10**9)
    assert len(whole) == probe.info.frames
    lag = int(np.argmax(np.correlate(whole[:20000, 0], sound[5000:15000], "valid"))) - 5000
    aligned = whole[5000 + lag : 15000 + lag, 0]
    assert np.corrcoef(aligned, sound[5000:15000])[0, 1] > 0.95
    with decode.open_audio(str(path)) as reader:
        for place in (60_000, 100, 44_100, len(whole) - 5):
            reader.seek(place)
            np.testing.assert_allclose(reader.read(2000), whole[place : place + 2000], atol=1e-6)


def test_an_mpeg4_track_ends_where_it_says(tmp_path: Path) -> None:
    path = tmp_path / "a.m4a"
    coded_by_ffmpeg(path, sweep(2, 44100), 44100, "ipod", "aac")
    assert decode.probe(str(path)).info.frames == 88200


@pytest.mark.parametrize("name", ["a.wav", "a.mp3", "a.flac"])
def test_mpeg4_under_another_name_plays_and_says_so(name: str, tmp_path: Path) -> None:
    coded_by_ffmpeg(tmp_path / "b.m4a", sweep(1, 44100), 44100, "ipod", "aac")
    path = (tmp_path / "b.m4a").rename(tmp_path / name)
    assert decode.probe(str(path)).badges == ("extension_mismatch",)


def test_far_seeks_in_long_mpeg4_go_by_time_stamps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lossless sound shows that the place is exact; shortened, so that two seconds count as far."""
    monkeypatch.setattr(pyav_reader, "_EXACT_BY_REWIND_S", 1)
    path = tmp_path / "a.m4a"
    coded_by_ffmpeg(path, sweep(30, 44100), 44100, "ipod", "alac")
    whole, _ = decode.read_frames(str(path), 0, 10**9)
    with decode.open_audio(str(path)) as reader:
        for place in (1_200_000, 300_000, 900_001):
            reader.seek(place)
            assert np.array_equal(reader.read(100), whole[place : place + 100])


# ---------------------------------------------------------------- mono, hash, paths


def test_mono_is_the_mean_and_keeps_time_at_any_rate(put: Put) -> None:
    t = np.arange(48000) / 48000
    stereo = np.stack([0.5 * np.sin(2 * np.pi * 440 * t), np.zeros(48000)], 1)
    path = put("a.wav", encoded(stereo, 48000, "WAV", "FLOAT"))
    np.testing.assert_allclose(decode.read_mono(path, 48000), stereo.mean(axis=1), atol=1e-7)
    at_16k = decode.read_mono(path, 16000)
    assert at_16k.shape == (16000,) and at_16k.dtype == np.float32
    expected = 0.25 * np.sin(2 * np.pi * 440 * np.arange(16000) / 16000)
    np.testing.assert_allclose(at_16k[500:-500], expected[500:-500], atol=1e-3)
    part = decode.read_mono(path, 16000, 0.25, 0.75)
    assert len(part) == 8000
    np.testing.assert_allclose(part[500:-500], expected[4500:11500], atol=1e-3)
    assert len(decode.read_mono(path, 16000, 2.0, 3.0)) == 0


def test_blocks_of_mono_join_without_a_seam(put: Put) -> None:
    path = put("a.flac", encoded(sweep(3.3, 44100), 44100, "FLAC", "PCM_16"))
    blocks = list(decode.iter_mono(path, 48000, 0.5))
    assert [len(block) for block in blocks[:-1]] == [24000] * 6
    assert 0 < len(blocks[-1]) <= 24000
    assert np.array_equal(np.concatenate(blocks), decode.read_mono(path, 48000))


def test_the_hash_is_of_the_sound_alone(put: Put) -> None:
    plain = decode.probe(put("a.wav", wav()))
    tagged = decode.probe(put("b.wav", wav(info((b"ICMT", b"a door")), before=[chunk(b"JUNK", bytes(100))])))
    assert plain.audio_hash == tagged.audio_hash and len(plain.audio_hash) == 32
    other_rate = decode.probe(put("c.wav", riff(fmt(rate=44100), SOUND)))
    as_stereo = decode.probe(put("d.wav", riff(fmt(channels=2), SOUND)))
    shorter = decode.probe(put("e.wav", riff(fmt(), chunk(b"data", pcm(16)[:-2]))))
    hashes = {p.audio_hash for p in (plain, other_rate, as_stereo, shorter)}
    assert len(hashes) == 4


def test_silence_is_below_minus_100_dbfs(put: Put) -> None:
    def probe(level: float) -> decode.Probe:
        return decode.probe(put("a.wav", encoded(np.full(100, level), RATE, "WAV", "FLOAT")))

    assert probe(0.0).silent and probe(0.9e-5).silent and not probe(1.1e-5).silent


def test_names_that_are_not_text_open(tmp_path: Path) -> None:
    for raw in (b"caf\xe9.wav", "日本 #%20 'x'\n.wav".encode(), b"x" * 251 + b".wav"):
        path = os.path.join(str(tmp_path), os.fsdecode(raw))
        with open(path, "wb") as file:
            file.write(riff(fmt(), stated(0)))
        assert decode.probe(path).info.frames == FRAMES


def test_missing_files_folders_and_pipes_have_reasons(tmp_path: Path) -> None:
    (tmp_path / "folder.wav").mkdir()
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "loop.wav").symlink_to(tmp_path / "loop.wav")
    (tmp_path / "file").write_bytes(b"x")
    for name, reason in {
        "gone.wav": "vanished",
        "file/inside.wav": "vanished",
        "loop.wav": "vanished",
        "folder.wav": "not_audio",
        "pipe.wav": "not_audio",
        "nul\0.wav": "vanished",
    }.items():
        with pytest.raises(AudioFileError) as caught:
            decode.open_audio(str(tmp_path / name))
        assert caught.value.reason == reason, name


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_says_so(put: Put) -> None:
    path = put("a.wav", wav())
    os.chmod(path, 0)
    with pytest.raises(AudioFileError) as caught:
        decode.probe(path)
    assert caught.value.reason == "no_permission"


def test_a_refused_open_is_no_permission(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where the tests run as root: the system's answer is made up, ours is real."""
    path = put("a.wav", wav())

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(decode.os, "open", refuse)
    with pytest.raises(AudioFileError) as caught:
        decode.open_audio(path)
    assert caught.value.reason == "no_permission"


def test_a_file_that_grows_while_it_is_read_is_still_being_written(
    put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put("a.wav", wav())
    read = decode.AudioReader.read

    def read_and_grow(self: decode.AudioReader, frames: int) -> np.ndarray:
        with open(path, "ab") as file:
            file.write(b"more")
        return read(self, frames)

    monkeypatch.setattr(decode.AudioReader, "read", read_and_grow)
    with pytest.raises(AudioFileError) as caught:
        decode.probe(path)
    assert caught.value.reason == "still_being_written"


def test_a_vanished_file_ends_a_seek_with_a_reason(put: Put) -> None:
    path = put("a.ogg", VORBIS)
    with decode.open_audio(path) as reader:
        reader.read(90000)
        os.remove(path)
        with pytest.raises(AudioFileError) as caught:
            reader.seek(0)
    assert caught.value.reason == "vanished"


def test_media_names() -> None:
    for name in ("a.wav", "A.WAV", "b.Flac", "c.m4a", "d.mov", "/x/y.aiff", "e.opus", "f.wma"):
        assert decode.is_media_name(name), name
    for name in ("wav", "a.txt", "a.wav.bak", ".wav", "a", "a.mid"):
        assert not decode.is_media_name(name), name


# ---------------------------------------------------------------- size


def test_a_riff_over_4_gib_has_its_true_length(tmp_path: Path) -> None:
    path = tmp_path / "big.wav"
    size = (1 << 32) + 2_000_000
    header = riff(fmt(), b"data" + struct.pack("<I", size & ONES), size=(size + 36) & ONES)
    with open(path, "wb") as file:
        file.write(header)
        file.truncate(len(header) + size)
        file.seek(len(header) + size - 2)
        file.write(struct.pack("<h", 16384))
    with decode.open_audio(str(path)) as reader:
        assert (reader.info.frames, reader.frames_known) == (size // 2, True)
        reader.seek(size // 2 - 1)
        assert reader.read(10).tolist() == [[0.5]]


def test_a_seek_past_the_end_of_a_long_file_does_not_decode_it(tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    with open(path, "wb") as file:
        file.write(riff(fmt(), b"data" + struct.pack("<I", 2_000_000_000), size=2_000_000_036))
        file.truncate(2_000_000_044)
    with decode.open_audio(str(path)) as reader:
        began = time.process_time()
        reader.seek(10**12)
        assert len(reader.read(10)) == 0
        reader.seek(999_999_990)
        assert len(reader.read(100)) == 10
        assert time.process_time() - began < 0.5


def test_memory_stays_flat(put: Put) -> None:
    path = put("a.wav", encoded(np.zeros((4_000_000, 2), np.int16), 48000, "WAV", "PCM_16"))
    tracemalloc.start()
    decode.probe(path)
    for _ in decode.iter_mono(path, 44100, 1.0):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12e6, f"{peak / 1e6:.0f} MB for a file of 32 MB as float"


def test_a_wide_file_is_read_in_small_blocks(put: Put) -> None:
    path = put("a.wav", encoded(np.zeros((100, 1024), np.int16), 48000, "WAV", "PCM_16"))
    with decode.open_audio(path) as reader:
        assert reader.info.channels == 1024 and reader.block_frames * 1024 <= 1 << 18
        assert reader.read(10**6).shape == (100, 1024)


def test_importing_the_decoder_is_light() -> None:
    code = (
        "import sys, foley_desktop.audio.decode, foley_desktop.audio.tags;"
        "print([m for m in ('av', 'mutagen', 'torch', 'PySide6', 'lancedb', 'wavinfo') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_an_open_reader_leaves_no_file_open(put: Put) -> None:
    files = {
        "a.wav": wav(),
        "b.wav": riff(fmt(), stated(0)),
        "c.mp3": mp3(),
        "d.ogg": OPUS + OPUS,
        "e.flac": flac(total=0),
        "f.wav": b"RIFF",
        "g.m4a": b"\0\0\0\x20ftypM4A " + bytes(60),
    }
    paths = [put(name, data) for name, data in files.items()]
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for path in paths:
        try:
            with decode.open_audio(path) as reader:
                reader.read(10)
                reader.seek(5)
        except AudioFileError:
            pass
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


def test_encoding_helpers_are_sound() -> None:
    """The builders of this file, against libsndfile: a sane file of each is read as it is meant."""
    for data in (wav(), flac(), aiff(comm(), ssnd(BIG_ENDIAN))):
        samples, rate = soundfile.read(io.BytesIO(data))
        assert rate == RATE
        np.testing.assert_allclose(samples, TONE, atol=1e-4)


def long_mp3(path: Path, minutes: float) -> Path:
    """An MP3 of many minutes, out of four seconds that are repeated: frames follow frames."""
    sound = np.cumsum(np.random.default_rng(5).uniform(-1, 1, (44100 * 4, 2)), axis=0)
    sound = (sound - sound.mean(axis=0)) * np.hanning(len(sound))[:, None]
    buffer = io.BytesIO()
    soundfile.write(buffer, sound / np.abs(sound).max() * 0.5, 44100, format="MP3")
    path.write_bytes(buffer.getvalue() * round(minutes * 15))
    return path


def test_a_long_mp3_is_heard_before_it_is_counted_and_is_the_same(tmp_path: Path) -> None:
    path = str(long_mp3(tmp_path / "long.mp3", 2))
    with decode.open_audio(path, early=True) as early:
        hint = early.info.frames
        first = early.read(44100 * 2)
        assert type(early).__name__ == "EarlyMpegReader"
        with decode.open_audio(path) as counted:
            assert hint == pytest.approx(counted.info.frames, rel=0.1)
            np.testing.assert_array_equal(first, counted.read(44100 * 2))
            while len(block := early.read(30011)):  # across the place where the whole takes over
                np.testing.assert_array_equal(block, counted.read(30011))
            assert not len(counted.read(1))
            assert early.info.frames == counted.info.frames


def test_seeks_in_a_long_mp3_land_on_the_same_sample_counted_or_not(tmp_path: Path) -> None:
    path = str(long_mp3(tmp_path / "long.mp3", 4))
    whole, rate = decode.read_frames(path, 0, 1 << 30)
    for place in (rate * 200, rate * 3, 1, rate * 35 + 17):
        os.utime(path)  # another file, as far as anyone can tell: nothing is remembered of it
        with decode.open_audio(path, early=True) as reader:
            reader.seek(place)
            np.testing.assert_array_equal(reader.read(5000), whole[place : place + 5000])
            reader.seek(rate * 2)
            np.testing.assert_array_equal(reader.read(5000), whole[rate * 2 : rate * 2 + 5000])


@pytest.mark.parametrize("order", [">", "<"])
def test_an_au_file_whose_size_was_never_written_plays_whole(order: str, tmp_path: Path) -> None:
    """A recorder that crashed leaves the size at zero; DEC-01, in another container."""
    sound = pcm(16, order=order)
    magic = b".snd" if order == ">" else b"dns."
    path = tmp_path / "a.au"
    path.write_bytes(magic + struct.pack(f"{order}5I", 24, 0, 3, 48000, 1) + sound)
    probed = decode.probe(str(path))
    assert (probed.info.frames, probed.badges) == (2400, ("not_finalised",))
    assert probed.peak == pytest.approx(0.5, abs=0.001)


def test_a_flac_file_that_admits_less_than_it_holds_plays_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.flac"
    path.write_bytes(flac(total=100))
    assert decode.probe(str(path)).info.frames == 2400
    with decode.open_audio(str(path)) as reader:
        reader.seek(2000)
        assert len(reader.read(10_000)) == 400


def test_a_stereo_flac_file_that_admits_half_of_its_sound_plays_whole(put: Put) -> None:
    """Its frames differ in how they couple the channels, and take less room than the total allows."""
    t = np.arange(100_000) / RATE
    samples = 0.4 * np.stack([np.sin(700 * t), np.sin(700 * t) * np.cos(t)], axis=1)
    data = bytearray(encoded(samples, RATE, "FLAC", "PCM_16"))
    data[22:26] = struct.pack(">I", 50_000)
    assert decode.probe(put("a.flac", bytes(data))).info.frames == 100_000


def test_a_flac_file_ends_before_its_damage_however_much_is_read_at_once(put: Put) -> None:
    samples = sweep(2, RATE)
    data = bytearray(encoded(samples, RATE, "FLAC", "PCM_16"))
    middle = len(data) // 2
    data[middle : middle + 50] = bytes(50)
    path = put("a.flac", bytes(data))
    probe = decode.probe(path)
    assert 20_000 < probe.info.frames < 76_000
    assert probe.badges == ("truncated",)
    for size in (300, 4096, 10_007):
        with decode.open_audio(path) as reader:
            blocks = []
            while len(block := reader.read(size)):
                blocks.append(block)
            heard = np.concatenate(blocks)
            assert len(heard) == probe.info.frames
            np.testing.assert_allclose(heard[:, 0], samples[: len(heard)], atol=2**-15)
            reader.seek(len(heard) - 400)
            np.testing.assert_array_equal(reader.read(1000), heard[-400:])


@pytest.mark.parametrize("case", ["Matroska with FLAC", "WavPack", "True Audio"])
def test_the_end_of_a_file_for_ffmpeg_is_missed_and_a_tag_behind_it_is_not(case: str, tmp_path: Path) -> None:
    container, codec = {
        "Matroska with FLAC": ("matroska", "flac"),
        "WavPack": ("wv", "wavpack"),
        "True Audio": ("tta", "tta"),
    }[case]
    path = tmp_path / "a.bin"
    coded_by_ffmpeg(path, sweep(6, RATE), RATE, container, codec)
    data = path.read_bytes()
    path.write_bytes(data + b"TAG" + bytes(125))
    probe = decode.probe(str(path))
    assert (probe.info.frames, probe.badges) == (6 * RATE, ())
    path.write_bytes(data[: len(data) * 3 // 4])
    if codec != "tta":  # FFmpeg takes no such file without all of its index
        assert decode.probe(str(path)).badges == ("truncated",)


def test_a_tag_behind_a_flac_file_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.flac"
    path.write_bytes(flac() + b"TAG" + b"Door".ljust(125, b"\0"))
    probed = decode.probe(str(path))
    assert (probed.info.frames, probed.badges) == (2400, ())
