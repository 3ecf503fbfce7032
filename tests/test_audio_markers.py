"""Markers, regions and loops out of WAV and AIFF files."""

from __future__ import annotations

import struct
from pathlib import Path

import audio_files as make
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.audio.markers import read_markers
from foley_desktop.models import Marker


def cue(*points: tuple[int, int]) -> bytes:
    """A cue chunk of (number, frame)."""
    entries = b"".join(struct.pack("<II4sIII", n, 0, b"data", 0, 0, frame) for n, frame in points)
    return make.chunk(b"cue ", struct.pack("<I", len(points)) + entries)


def adtl(*items: tuple[bytes, bytes]) -> bytes:
    return make.chunk(b"LIST", b"adtl" + b"".join(make.chunk(name, value) for name, value in items))


def label(number: int, text: bytes) -> tuple[bytes, bytes]:
    return b"labl", struct.pack("<I", number) + text + b"\0"


def stretch(number: int, frames: int) -> tuple[bytes, bytes]:
    return b"ltxt", struct.pack("<II4sHHHH", number, frames, b"rgn ", 0, 0, 0, 0)


def smpl(*loops: tuple[int, int]) -> bytes:
    entries = b"".join(struct.pack("<IIIIII", 0, 0, first, last, 0, 0) for first, last in loops)
    return make.chunk(b"smpl", struct.pack("<9I", 0, 0, 20833, 60, 0, 0, 0, len(loops), 0) + entries)


def markers(path: Path) -> tuple[Marker, ...]:
    return read_markers(str(path), make.RATE, make.FRAMES)


def test_cue_points_regions_and_loops_of_a_wav_file(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(
        make.wav(
            cue((1, 480), (2, 960), (7, 0)),
            adtl(label(1, b"hit"), stretch(2, 240), label(2, "Tür".encode()), (b"note", b"\1\0\0\0a note\0")),
            smpl((100, 579)),
        )
    )
    assert markers(path) == (
        Marker(0.0, None, "", "file"),
        Marker(100 / 48000, 580 / 48000, "loop", "file"),
        Marker(0.01, None, "hit", "file"),
        Marker(0.02, 0.025, "Tür", "file"),
    )


def test_markers_of_an_aiff_file(tmp_path: Path) -> None:
    path = tmp_path / "a.aif"
    marks = struct.pack(">H", 3)
    for number, frame, name in ((1, 480, b"hit"), (2, 960, b""), (3, 1440, b"")):
        text = bytes((len(name),)) + name + b"\0" * ((len(name) + 1) % 2)
        marks += struct.pack(">HI", number, frame) + text
    inst = bytes(8) + struct.pack(">HHH", 1, 2, 3) + struct.pack(">HHH", 0, 0, 0)
    path.write_bytes(
        make.aiff(
            make.comm(),
            make.aiff_chunk(b"MARK", marks),
            make.aiff_chunk(b"INST", inst),
            make.ssnd(make.pcm(16, order=">")),
        )
    )
    assert markers(path) == (Marker(0.01, None, "hit", "file"), Marker(0.02, 0.03, "loop", "file"))


def test_what_lies_outside_the_sound_is_left_out_or_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(make.wav(cue((1, 5000), (2, 2000)), adtl(stretch(2, 10_000)), smpl((3000, 2))))
    assert markers(path) == (Marker(2000 / 48000, 0.05, "", "file"),)


@pytest.mark.parametrize("content", [b"", b"RIFF", make.wav(), make.flac(), b"x" * 100])
def test_files_without_markers(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(content)
    assert markers(path) == ()
    assert read_markers(str(tmp_path / "gone.wav"), 1, 1) == ()


@given(name=st.sampled_from([b"cue ", b"smpl", b"LIST"]), payload=st.binary(max_size=120))
def test_any_content_gives_markers_within_the_sound(tmp_path: Path, name: bytes, payload: bytes) -> None:
    path = tmp_path / "a.wav"
    body = b"adtl" + payload if name == b"LIST" else payload
    path.write_bytes(make.wav(make.chunk(name, body), cue((1, 480))))
    found = markers(path)
    assert Marker(0.01, None, "", "file") in found or any(m.start_s == 0.01 for m in found)
    for marker in found:
        assert 0 <= marker.start_s <= 0.05
        assert marker.end_s is None or marker.start_s < marker.end_s <= 0.05
