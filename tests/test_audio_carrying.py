"""What a new file says of itself, as wavinfo and ffprobe read it, from a poly recording with everything."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from wavinfo import WavInfoReader

from foley_desktop.audio.bwf import Move
from foley_desktop.audio.carrying import cue_chunks, moved_markers
from foley_desktop.audio.fades import faded, rising
from foley_desktop.audio.render import RenderOptions, export
from foley_desktop.audio.treatment import Treatment
from foley_desktop.audio.wavwriter import WavWriter
from foley_desktop.models import Marker

RATE, FRAMES, CHANNELS = 48000, 96000, 6
MORNING = 48000 * 3600 * 9
TRACKS = "".join(
    f"<TRACK><CHANNEL_INDEX>{n}</CHANNEL_INDEX><INTERLEAVE_INDEX>{n}</INTERLEAVE_INDEX>"
    f"<NAME>mic {n}</NAME></TRACK>"
    for n in range(1, CHANNELS + 1)
)
IXML = f"""<?xml version="1.0" encoding="UTF-8"?><BWFXML><IXML_VERSION>2.10</IXML_VERSION>
<PROJECT>Harbour</PROJECT><SCENE>12</SCENE><TAKE>3</TAKE><FILE_UID>MINE0001</FILE_UID>
<SPEED><FILE_SAMPLE_RATE>48000</FILE_SAMPLE_RATE><AUDIO_BIT_DEPTH>24</AUDIO_BIT_DEPTH>
<TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_HI>{MORNING >> 32}</TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_HI>
<TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_LO>{MORNING & 0xFFFFFFFF}</TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_LO>
<TIMESTAMP_SAMPLE_RATE>48000</TIMESTAMP_SAMPLE_RATE></SPEED>
<TRACK_LIST><TRACK_COUNT>{CHANNELS}</TRACK_COUNT>{TRACKS}</TRACK_LIST></BWFXML>"""
PLACES = [(4800, 0, "slate"), (36000, 0, "slam"), (48000, 12000, "tail"), (84000, 0, "cut")]


def samples() -> np.ndarray:
    count = np.arange(FRAMES * CHANNELS).reshape(-1, CHANNELS)
    return ((count * 7919 % (1 << 24) - (1 << 23)) << 8).astype(np.int32)


@pytest.fixture(scope="module")
def poly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("poly") / "harbour 12-3.wav"
    head = b"Harbour gate, six microphones".ljust(256, b"\0") + b"Recorder".ljust(32, b"\0")
    head += b"REF1".ljust(32, b"\0") + b"2024-05-0109:00:00" + struct.pack("<QH", MORNING, 2)
    head += bytes(range(1, 65)) + struct.pack("<5h", -2300, 500, -100, -1800, -2000)
    bext = head.ljust(602, b"\0") + b"A=PCM,F=48000,W=24,T=Recorder\r\n"
    with path.open("w+b") as file:
        writer = WavWriter(file, "PCM_24", RATE, CHANNELS, before=[(b"bext", bext), (b"iXML", IXML.encode())])
        writer.write(samples())
        writer.finish(cue_chunks(PLACES))
    return path


def probed(path: Path) -> dict[str, Any]:
    if shutil.which("ffprobe") is None:
        pytest.skip("needs ffprobe")
    command = ["ffprobe", "-v", "error", "-of", "json", "-show_streams", "-show_format", str(path)]
    return dict(json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout))


def cues(path: Path) -> list[tuple[int, str, int]]:
    """``(frame, label, length)`` as wavinfo reads them."""
    found = WavInfoReader(str(path)).cues
    labels = {label.name: label.text for label in found.labels}
    lengths = {span.name: span.length for span in found.ranges}
    read = [(cue.sample_offset, labels.get(cue.name, ""), lengths.get(cue.name, 0)) for cue in found.cues]
    return sorted(read)


def test_a_region_is_placed_where_it_was_recorded(poly: Path, tmp_path: Path) -> None:
    export(str(poly), tmp_path / "out.wav", RenderOptions(start_s=0.5, end_s=1.5))
    read = WavInfoReader(str(tmp_path / "out.wav"), bext_encoding="utf-8")
    assert read.bext.time_reference == MORNING + 24000
    assert read.bext.description == "Harbour gate, six microphones"
    assert read.bext.originator == "Recorder"
    history = read.bext.coding_history.splitlines()
    assert history == ["A=PCM,F=48000,W=24,T=Recorder", "A=PCM,F=48000,W=24,T=Foley Desktop"]
    assert not any(read.bext.umid or b""), "the new file is not that recording"
    assert (read.fmt.channel_count, read.fmt.sample_rate, read.fmt.bits_per_sample) == (CHANNELS, RATE, 24)
    assert read.ixml.project == "Harbour" and read.ixml.scene == "12" and read.ixml.take == "3"
    assert [track.name for track in read.ixml.track_list] == [f"mic {n}" for n in range(1, 7)]
    assert cues(tmp_path / "out.wav") == [(12000, "slam", 0), (24000, "tail", 12000)]
    document = probed(tmp_path / "out.wav")
    assert int(document["format"]["tags"]["time_reference"]) == MORNING + 24000
    assert document["streams"][0]["channels"] == CHANNELS
    assert document["streams"][0]["sample_rate"] == "48000"
    assert float(document["format"]["duration"]) == pytest.approx(1.0, abs=1e-4)
    new = soundfile.read(tmp_path / "out.wav", dtype="int32")[0]
    assert np.array_equal(new, samples()[24000:72000])
    assert b"MINE0001" not in (tmp_path / "out.wav").read_bytes()


def test_another_rate_moves_time_and_cues_with_it(poly: Path, tmp_path: Path) -> None:
    export(str(poly), tmp_path / "out.wav", RenderOptions(start_s=0.5, end_s=1.5, rate=96000, depth=16))
    read = WavInfoReader(str(tmp_path / "out.wav"), bext_encoding="utf-8")
    assert read.bext.time_reference == (MORNING + 24000) * 2
    assert cues(tmp_path / "out.wav") == [(24000, "slam", 0), (48000, "tail", 24000)]
    assert int(probed(tmp_path / "out.wav")["format"]["tags"]["time_reference"]) == (MORNING + 24000) * 2


def test_backwards_and_faster_keeps_cues_on_their_sounds(poly: Path, tmp_path: Path) -> None:
    options = RenderOptions(start_s=0.5, end_s=1.5, reverse=True, speed=2.0)
    export(str(poly), tmp_path / "out.wav", options)
    assert cues(tmp_path / "out.wav") == [(6000, "tail", 6000), (18000, "slam", 0)]


def test_a_whole_copy_keeps_every_claim(poly: Path, tmp_path: Path) -> None:
    export(str(poly), tmp_path / "out.wav")
    assert cues(tmp_path / "out.wav") == [(f, t, n) for f, n, t in PLACES]
    data = (tmp_path / "out.wav").read_bytes()
    assert bytes(range(1, 65)) in data and b"MINE0001" in data


def test_mixed_channels_are_no_tracks_of_the_recorder(poly: Path, tmp_path: Path) -> None:
    export(str(poly), tmp_path / "out.wav", RenderOptions(channels=2))
    read = WavInfoReader(str(tmp_path / "out.wav"))
    assert list(read.ixml.track_list) == [] and read.ixml.project == "Harbour"


def test_chosen_channels_keep_their_tracks(poly: Path, tmp_path: Path) -> None:
    treatment = Treatment(channels="3-4", reverse=True, semitones=12.0)
    export(str(poly), tmp_path / "out.wav", RenderOptions(start_s=0.5, end_s=1.5, treatment=treatment))
    read = WavInfoReader(str(tmp_path / "out.wav"))
    assert [(track.name, track.interleave_index) for track in read.ixml.track_list] == [
        ("mic 3", "1"),
        ("mic 4", "2"),
    ]
    assert cues(tmp_path / "out.wav") == [(6000, "tail", 6000), (18000, "slam", 0)]


def test_a_source_of_another_kind_says_what_it_is(synth: Callable[..., Path], tmp_path: Path) -> None:
    source = synth("in.flac", seconds=0.5)
    from foley_desktop.audio.tagwriter import write_tags

    write_tags(str(source), {"title": "Gate", "description": "A gate, rusty"})
    export(str(source), tmp_path / "out.wav", RenderOptions(start_s=0.1, end_s=0.2))
    read = WavInfoReader(str(tmp_path / "out.wav"), bext_encoding="utf-8")
    assert read.bext.description == "A gate, rusty" and read.bext.time_reference == 0
    assert read.info.title == "Gate"
    for name in ("out.flac", "out.ogg", "out.aiff"):
        export(str(source), tmp_path / name)
        with soundfile.SoundFile(tmp_path / name) as file:
            assert (file.title, file.comment) == ("Gate", "A gate, rusty"), name


@given(
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 500)), max_size=6),
    st.integers(0, 1000),
    st.integers(1, 1000),
    st.booleans(),
)
def test_markers_stay_inside_and_in_step(
    spans: list[tuple[int, int]], first: int, size: int, backwards: bool
) -> None:
    move = Move(first, 1000, 2000, 24, 1, True, last_frame=first + size, backwards=backwards)
    markers = [Marker(s / 1000, (s + n) / 1000 if n else None) for s, n in spans]
    moved = moved_markers(markers, move)
    assert all(frame >= 0 and frame + length <= 2 * size for frame, length, _ in moved)
    inside = [s for s, n in spans if s < first + size and s + n >= first and not (n and s + n == first)]
    assert len(moved) == len(inside)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.integers(0, 60), st.integers(0, 60))
def test_fades_do_not_depend_on_how_the_sound_is_cut(sizes: list[int], rise: int, fall: int) -> None:
    sound = np.ones((sum(sizes), 2), np.float32)
    whole = np.concatenate(list(faded([sound], rise, fall)))
    parts = np.split(sound, np.cumsum(sizes)[:-1])
    assert np.array_equal(np.concatenate(list(faded(parts, rise, fall))), whole)
    assert len(whole) == len(sound) and sound.all(), "and the source is as it was"
    if rise and rise + fall <= len(sound):
        assert np.array_equal(whole[:rise], np.repeat(rising(rise), 2, axis=1))
        assert np.all(whole[rise : len(sound) - fall] == 1)


def test_fades_are_rendered(synth: Callable[..., Path], tmp_path: Path) -> None:
    source = synth("in.wav", seconds=1.0, kind="noise", subtype="FLOAT")
    export(str(source), tmp_path / "out.wav", RenderOptions(fade_in_s=0.1, fade_out_s=0.2))
    old, new = soundfile.read(source)[0], soundfile.read(tmp_path / "out.wav")[0]
    gains = np.concatenate([rising(4800), np.ones((33600, 1)), rising(9600)[::-1]])[:, 0]
    assert new == pytest.approx(old * gains, abs=1e-6)
