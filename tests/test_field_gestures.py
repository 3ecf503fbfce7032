"""The gestures of the field cases that concern files, tags and names, by the command line and the desk."""

from __future__ import annotations

import csv
import json
import os
import shutil
import struct
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import audio_files as make
import numpy as np
import pytest
import soundfile
from indexing import Library
from job_support import run as finish
from torture import heard

from foley_desktop.audio import decode
from foley_desktop.audio.render import render_region
from foley_desktop.audio.source import ClipSource
from foley_desktop.audio.tags import best, read_tags
from foley_desktop.audio.tagwriter import write_tags
from foley_desktop.cli import main
from foley_desktop.errors import TagWriteError
from foley_desktop.library.database import as_text
from foley_desktop.library.delivering import MANIFEST, deliver, plan_delivery
from foley_desktop.library.editing import Editor
from foley_desktop.library.filters import parse_where
from foley_desktop.library.renaming import preview, rename
from foley_desktop.library.ucs_names import NameParts
from foley_desktop.models import Clip

Synth = Callable[..., Path]
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command of a library of the test's own with ``--json`` and gives the document."""

    def call(*arguments: str) -> dict[str, Any]:
        capsys.readouterr()
        code = main(["--library", str(tmp_path / "library"), *arguments, "--json"])
        out, err = capsys.readouterr()
        assert code == 0, err
        return json.loads(out)

    return call


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library(tmp_path / "library") as opened:
        yield opened


# ---------------------------------------------------------------- all files of the field cases


def test_every_field_file_comes_out_of_the_command_line_as_expected(
    shared_dir: Path, tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared_dir / "field_cases" / "files"
    expected = json.loads((shared_dir / "field_cases" / "expected.json").read_text("utf-8"))
    report = run("index", str(folder), "--no-audio", "--embedder", "hash")
    reasons = {Path(item["path"]).name: item["reason"] for item in report["rejected"]}
    assert report["added"] + len(reasons) == len(expected), "every file is added or refused"
    table, wrong = [_LINE.format("file", "", "expected", "got", "frames", "badges", "about")], []
    with Library(tmp_path / "library") as library:
        for name, case in expected.items():
            clip = library.catalog.find(str(folder / case["file"]))
            flaws = _flaws(case, clip, reasons.get(case["file"]))
            table.append(_line(name, case, clip, flaws))
            wrong += [f"{name}: {flaw}" for flaw in flaws]
    again = run("index", str(folder), "--no-audio", "--embedder", "hash")
    assert (again["added"], again["updated"], again["unchanged"]) == (0, 0, report["added"])
    assert again["rejected"] == report["rejected"], "refused files are named at every run"
    with capsys.disabled():
        print("\n" + "\n".join(table))
    assert not wrong, "\n".join(wrong)


_LINE = "{:9} {:6} {:28} {:28} {:>8} {:26} {}"


def _line(name: str, case: dict[str, Any], clip: Clip, flaws: list[str]) -> str:
    """A row of the table: what is expected of a file, and what it came to."""
    if case["expect"] == "reject":
        expected = f"refused: {case['reason']}"
    else:
        expected = f"plays, {case['frames']} frames" + (
            f" ±{case['frame_tolerance']}" if case["frame_tolerance"] else ""
        )
    got = f"refused: {clip.reason}" if clip.reason else "plays"
    frames = "" if clip.frames is None else str(clip.frames)
    state = "WRONG" if flaws else "ok"
    return _LINE.format(name, state, expected, got, frames, " ".join(clip.badges), case["about"])


def _flaws(case: dict[str, Any], clip: Clip, reason: str | None) -> list[str]:
    if case["expect"] == "reject":
        return [] if reason == case["reason"] == clip.reason else [f"reason {reason}, {clip.reason}"]
    flaws = [f"refused: {reason}"] if reason else []
    if clip.frames is None or abs(clip.frames - case["frames"]) > case["frame_tolerance"]:
        flaws.append(f"{clip.frames} frames instead of {case['frames']}")
    if (clip.samplerate, clip.channels) != (case["samplerate"], case["channels"]):
        flaws.append(f"{clip.samplerate} Hz, {clip.channels} channels")
    if case["warn"] and case["warn"] not in clip.badges:
        flaws.append(f"badges {clip.badges} without {case['warn']}")
    if case["description"] and clip.description != case["description"]:
        flaws.append(f"description {clip.description!r}")
    return flaws


def test_badges_can_be_filtered_by(library: Library, tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "sounds"
    folder.mkdir()
    data = make.pcm(16)
    (folder / "whole.wav").write_bytes(make.wav())
    (folder / "cut.wav").write_bytes(make.riff(make.fmt(), make.chunk(b"data", data, size=2 * len(data))))
    (folder / "open.wav").write_bytes(make.riff(make.fmt(), make.chunk(b"data", data, size=0xFFFFFFFF)))
    floats = np.array([0.1, np.nan, 2.0], "<f4").tobytes()
    (folder / "bad.wav").write_bytes(make.riff(make.fmt(3, bits=32), make.chunk(b"data", floats)))
    library.index(folder)
    for words, names in (
        ("cut short", {"cut.wav"}),
        ("truncated", {"cut.wav"}),
        ("not finalised", {"open.wav"}),
        ("bad samples", {"bad.wav"}),
        ("over full scale", {"bad.wav"}),
    ):
        found = library.catalog.list_clips(parse_where([f"badge={words}"]))
        assert {clip.name for clip in found} == names, words
    library.indexes.close()
    hits = run("search", "cut", "--mode", "keyword", "--where", "badge=cut short")["hits"]
    assert [hit["name"] for hit in hits] == ["cut.wav"]


# ---------------------------------------------------------------- names (FSY-01 to FSY-04, IDX-01)


def test_both_normal_forms_are_two_files_that_either_spelling_finds(
    tmp_path: Path, run: Run, synth: Synth
) -> None:
    """FSY-01."""
    folder = tmp_path / "sounds"
    composed = "Türschlag café.wav"
    decomposed = unicodedata.normalize("NFD", composed)
    for number, name in enumerate((composed, decomposed)):
        synth(folder / name, 0.1, kind="noise", seed=number)
    assert run("index", str(folder), "--embedder", "hash")["added"] == 2
    for query in ("Türschlag", unicodedata.normalize("NFD", "Türschlag"), "turschlag", "cafe"):
        hits = run("search", query, "--mode", "keyword")["hits"]
        assert {hit["name"] for hit in hits} == {composed, decomposed}, query
    paths = {os.path.basename(hit["path"]) for hit in hits}
    assert paths == {composed, decomposed}, "the path is kept as the system gave it"
    assert run("show", str(folder / decomposed))["id"] != run("show", str(folder / composed))["id"]


AWKWARD = [
    b"caf\xe9.wav",
    b"\xff\xfe\x00"[:2] + b"bytes.wav",
    "🚪 door.wav".encode(),
    b"#hash.wav",
    b"100%20literal.wav",
    b"[brackets] {all} (kinds).wav",
    b'don\'t "quote".wav',
    b"line\nbreak.wav",
    b"tab\there.wav",
    "\u202eright to left.wav".encode(),
    "שלום.wav".encode(),
    b"-leading dash.wav",
    b"--json.wav",
    b" leading blank.wav",
    b"trailing dot..wav",
    b"semi;colon & and $HOME `x`.wav",
    b"back\\slash.wav",
    b"x' OR 1=1 --.wav",
    b"con.wav",
    "é".encode() * 125 + b".wav",
    b"x" * 251 + b".wav",
]


@pytest.fixture
def awkward(tmp_path: Path, synth: Synth) -> dict[str, str]:
    """A folder of sounds with awkward names: the hash of each one's samples by its path."""
    folder = tmp_path / "sounds"
    folder.mkdir()
    hashes = {}
    for number, raw in enumerate(AWKWARD):
        plain = synth("plain.wav", 0.1, kind="noise", seed=number)
        path = os.fsdecode(os.path.join(os.fsencode(folder), raw))
        shutil.copyfile(plain, path)
        hashes[path] = heard(plain)
    return hashes


def test_awkward_names_are_indexed_shown_found_played_and_exported(
    tmp_path: Path, awkward: dict[str, str], run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """FSY-02, FSY-03, FSY-04a and b."""
    report = run("index", str(tmp_path / "sounds"), "--embedder", "hash")
    assert (report["added"], report["rejected"]) == (len(AWKWARD), [])
    with Library(tmp_path / "library") as library:
        for path in awkward:
            clip = library.catalog.find(path)
            assert clip.path == path and clip.frames == 4800
            assert library.catalog.find(os.path.basename(path)).id == clip.id
            # A dash in front means "without" in a query.
            words = as_text(os.path.splitext(clip.name)[0]).lstrip("-")
            assert clip.id in {found for found, _ in library.indexes.keyword.bm25(words, 5)}, path
            source = ClipSource(path, 44100, 2)
            played = 0
            while (block := source.read()) is not None:
                played += len(block)
            source.close()
            assert abs(played - 4410) <= 2, "the sound card gets the whole of it"
            region = render_region(path, 0.05, 0.1, tmp_path / "regions", os.path.splitext(clip.name)[0])
            assert len(os.fsencode(region.name)) <= 255 and soundfile.info(os.fsencode(region)).frames == 2400
    for path in list(awkward)[:12]:
        assert os.fsencode(run("show", path)["path"]) == os.fsencode(path)
        assert main(["--library", str(tmp_path / "library"), "show", path]) == 0
        printed = capsys.readouterr().out
        assert "\u202e" not in printed and all(line.isprintable() for line in printed.splitlines())


def test_awkward_names_are_tagged_delivered_renamed_and_deleted(
    library: Library, tmp_path: Path, awkward: dict[str, str]
) -> None:
    """FSY-02, FSY-03, IDX-01."""
    library.index(tmp_path / "sounds")
    library.catalog.set_root_locked(library.catalog.roots()[0].id, False)
    ids = {path: library.catalog.find(path).id for path in awkward}
    Editor(library.catalog).set_fields(list(ids.values()), {"catid": "DOORWood", "title": "Gate"})
    for path in awkward:
        assert write_tags(path, {"artist": "Somebody"}).changed
        assert best(read_tags(path), "artist") == "Somebody"
    plan = plan_delivery(library.catalog, list(ids.values()), str(tmp_path / "out"), NameParts("ABC", "Lib"))
    finish(deliver(library.catalog, plan))
    names = {item.clip.path: item.name for item in plan.items}
    for path, sound in awkward.items():
        assert heard(tmp_path / "out" / names[path]) == sound
    with open(tmp_path / "out" / MANIFEST, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(AWKWARD) and all(row["OriginalName"] for row in rows)
    wanted = {ids[path]: f"good name {number}.wav" for number, path in enumerate(awkward)}
    finish(rename(library.catalog, preview(library.catalog, wanted)))
    assert sorted(os.listdir(tmp_path / "sounds")) == sorted(wanted.values())
    report = library.index()
    assert (report.added, report.missing) == (0, 0)
    assert {clip.id: clip.name for clip in library.catalog.list_clips()} == wanted
    for number in range(1, len(AWKWARD)):
        (tmp_path / "sounds" / f"good name {number}.wav").unlink()
    library.index()
    assert library.indexes.keyword.ids() == {next(iter(ids.values()))} == library.indexes.audio.ids()


def test_very_long_paths_and_names_that_grow(tmp_path: Path, run: Run, synth: Synth) -> None:
    """FSY-04: over 800 bytes of path; a region's name is cut by bytes, its ending kept."""
    folder = tmp_path / "sounds"
    deep = folder / ("é" * 120) / ("x" * 250) / ("y" * 250)
    path = deep / ("ü" * 125 + ".wav")
    deep.mkdir(parents=True)
    # libsndfile takes no path this long, so the sound is made elsewhere.
    shutil.copyfile(synth("short.wav", 0.2), path)
    assert len(os.fsencode(path)) > 800
    assert run("index", str(folder), "--embedder", "hash")["added"] == 1
    with Library(tmp_path / "library") as library:
        clip = library.catalog.list_clips()[0]
        region = render_region(clip.path, 0.05, 0.1, tmp_path / "regions", os.path.splitext(clip.name)[0])
        assert region.suffix == ".wav" and len(os.fsencode(region.name)) <= 255
        os.fsencode(region.name).decode("utf-8")
        assert soundfile.info(region).frames == 2400


# ---------------------------------------------------------------- files that change (FSY-08 to FSY-10)


def test_a_replacement_with_an_older_time_is_noticed(library: Library, tmp_path: Path, synth: Synth) -> None:
    """FSY-08: ``cp -p`` over a file, with a time from long ago."""
    path = synth("sounds/a.wav", 0.2, kind="noise", seed=1)
    library.index(path.parent)
    other = synth("other.wav", 0.3, kind="noise", seed=2)
    os.utime(other, (10**9, 10**9))
    shutil.copy2(other, path)
    assert path.stat().st_mtime == 10**9
    assert library.index().updated == 1
    assert library.catalog.find("a.wav").frames == 14400


def test_a_file_that_grows_ends_with_its_final_length(library: Library, tmp_path: Path, synth: Synth) -> None:
    """FSY-08: indexed while it is copied, and again afterwards; no lasting error."""
    content = synth("whole.wav", 0.5, kind="noise").read_bytes()
    folder = tmp_path / "sounds"
    folder.mkdir()
    path = folder / "a.wav"
    for end in range(1000, len(content) + 5000, 5000):
        path.write_bytes(content[:end])
        library.index(folder, audio=False)
    library.index(folder)
    clip = library.catalog.find("a.wav")
    assert (clip.status, clip.frames, clip.badges) == ("ok", 24000, ())
    assert library.catalog.rejected() == []


def test_times_of_1970_and_2100_sort_and_show(library: Library, tmp_path: Path, synth: Synth) -> None:
    """FSY-10a and b."""
    folder = tmp_path / "sounds"
    for number, (name, seconds) in enumerate(
        (("b.wav", 0), ("c.wav", 1_700_000_000), ("a.wav", 4_102_444_800))
    ):
        os.utime(synth(folder / name, 0.1, kind="noise", seed=number), (seconds, seconds))
    library.index(folder)
    names = [clip.name for clip in library.catalog.list_clips(order_by="date")]
    assert names == ["b.wav", "c.wav", "a.wav"]
    old = library.catalog.list_clips(parse_where(["date<1980-01-01"]))
    new = library.catalog.list_clips(parse_where(["date>=2099-01-01"]))
    assert [clip.name for clip in old + new] == ["b.wav", "a.wav"]


# ---------------------------------------------------------------- tags (MET-08)


def test_writing_a_description_into_the_files_of_met_08(tmp_path: Path) -> None:
    """RF64, an odd sound with a strange pad byte, an iXML of many sizes, a read-only file, a cut one."""
    data = make.pcm(16)
    odd = make.pcm(24, np.append(make.TONE, 0.25))
    big_xml = b"<BWFXML><SCENE>1</SCENE>" + b"<NOTE>x</NOTE>" * 20_000 + b"</BWFXML>"
    sized = make.chunk(b"data", data, size=0xFFFFFFFF)
    files = {
        "rf64.wav": make.riff(make.ds64(len(data)), make.fmt(), sized, form=b"RF64", size=0xFFFFFFFF),
        "odd.wav": make.riff(
            make.fmt(bits=24), make.chunk(b"data", odd, pad=b"Q"), make.info((b"INAM", b"x\0"))
        ),
        "xml.wav": make.wav(make.chunk(b"iXML", big_xml), make.chunk(b"zZz1", struct.pack("<I", 7))),
    }
    for name, content in files.items():
        path = tmp_path / name
        path.write_bytes(content)
        before = decode.probe(str(path)).audio_hash
        write_tags(str(path), {"description": "New words"})
        assert decode.probe(str(path)).audio_hash == before, name
        assert best(read_tags(str(path)), "description") == "New words", name
    assert struct.pack("<I", 7) in (tmp_path / "xml.wav").read_bytes()
    os.chmod(tmp_path / "odd.wav", 0o444)
    with pytest.raises(TagWriteError):
        write_tags(str(tmp_path / "odd.wav"), {"description": "Other"})


# ---------------------------------------------------------------- the indexes (IDX-02, IDX-03, IDX-06)


def test_sounds_added_one_by_one_leave_no_heap_of_files(
    library: Library, tmp_path: Path, synth: Synth
) -> None:
    """IDX-02: every run tidies up, so that the store stays the size of what is in it."""
    folder = tmp_path / "sounds"
    counts = []
    for number in range(8):
        synth(folder / f"door {number}.wav", 0.1, kind="noise", seed=number)
        library.index(folder)
        counts.append(sum(1 for path in library.data.vectors.rglob("*") if path.is_file()))
    assert library.indexes.likeness.count() == 8
    assert counts[-1] <= counts[1] + 3, counts


def test_sounds_without_any_sound_cost_only_themselves(
    library: Library, tmp_path: Path, synth: Synth
) -> None:
    """IDX-03: nothing but NaN, nothing but infinity, silence; the neighbours are listened to."""
    folder = tmp_path / "sounds"
    good = synth(folder / "door.wav", 0.3, kind="noise")
    synth(folder / "silence.wav", 0.3, kind="silence")
    for name, value in (("nan.wav", np.nan), ("inf.wav", np.inf)):
        floats = np.full(4800, value, "<f4").tobytes()
        (folder / name).write_bytes(make.riff(make.fmt(3, bits=32), make.chunk(b"data", floats)))
    report = library.index(folder)
    assert report.added == 4 and not report.rejected
    heard = {library.catalog.find(str(good)).id}
    assert library.indexes.audio.ids() == library.indexes.likeness.ids() == heard
    assert "non_finite_samples" in library.catalog.find("nan.wav").badges
    assert library.catalog.find("silence.wav").silent
    again = library.index()
    assert (again.added, again.updated) == (0, 0), "they are not listened to at every run"


def test_a_write_waits_for_another_process_that_holds_the_catalog(library: Library, tmp_path: Path) -> None:
    """IDX-06: the lock is held for a while, by another process; the rating is kept all the same."""
    (tmp_path / "sounds").mkdir()
    (tmp_path / "sounds" / "a.wav").write_bytes(make.wav())
    library.index(tmp_path / "sounds")
    (clip,) = library.catalog.list_clips()
    holder = (
        "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('BEGIN IMMEDIATE'); print('held', flush=True); time.sleep(2); c.execute('COMMIT')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(library.data.catalog)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        library.catalog.set_rating([clip.id], 4)
        assert process.wait(30) == 0
    assert library.catalog.find("a.wav").rating == 4


def test_a_catalog_on_a_network_drive_is_warned_of(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """IDX-06. The system's list of mounts is the only thing that a test cannot have."""
    run("models", "use", "hash")
    assert not any("network" in warning for warning in run("doctor")["warnings"])
    mounts = [("/", "ext4"), (os.path.realpath(tmp_path), "cifs")]
    monkeypatch.setattr("foley_desktop.library.watch._mounts", lambda: iter(mounts))
    report = run("doctor")
    assert report["ok"] and any("network drive" in warning for warning in report["warnings"])
