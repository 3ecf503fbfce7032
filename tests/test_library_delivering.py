"""Delivering copies: everything is checked first, the originals are only read, and failures leave nothing."""

from __future__ import annotations

import csv
import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from indexing import Library
from job_support import run
from torture import heard, is_root

from foley_desktop.audio.tags import best, read_tags
from foley_desktop.errors import DeliveryError
from foley_desktop.library import delivering
from foley_desktop.library.delivering import COLUMNS, MANIFEST, deliver, plan_delivery
from foley_desktop.library.editing import Editor
from foley_desktop.library.ucs_names import NameParts

Synth = Callable[..., Path]
PARTS = NameParts(creator="ABC", source="MyLib")


@pytest.fixture
def sounds(tmp_path: Path, synth: Synth) -> Path:
    folder = tmp_path / "sounds"
    for number, name in enumerate(("door.wav", "rain.flac", "deep/door.wav", "dog.mp3")):
        synth(folder / name, 0.2, kind="noise", seed=number)
    return folder


@pytest.fixture
def library(tmp_path: Path, sounds: Path) -> Iterator[Library]:
    with Library(tmp_path / "library") as opened:
        opened.index(sounds)
        editor = Editor(opened.catalog)
        ids = opened.ids()
        editor.set_fields(list(ids.values()), {"catid": "DOORWood", "title": "Castle Gate"})
        editor.set_fields(
            [ids["rain.flac"]], {"catid": "RAIN", "title": "=SUM(1)", "description": "Tür, nass"}
        )
        yield opened


def fingerprints(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_copies_get_ucs_names_and_the_catalogs_words(library: Library, sounds: Path, tmp_path: Path) -> None:
    before = fingerprints(sounds)
    target = tmp_path / "out" / "delivery"
    plan = plan_delivery(library.catalog, list(library.ids().values()), str(target), PARTS)
    assert plan.good and not target.exists(), "planning makes nothing"
    report = run(deliver(library.catalog, plan))
    assert fingerprints(sounds) == before
    assert sorted(os.listdir(target)) == [
        "DOORWood_Castle Gate 2_ABC_MyLib.wav",
        "DOORWood_Castle Gate_ABC_MyLib.mp3",
        "DOORWood_Castle Gate_ABC_MyLib.wav",
        "RAIN_=SUM(1)_ABC_MyLib.flac",
        MANIFEST,
    ]
    assert len(report.files) == 4 and report.notes == ()
    sound_by_name = {item.name: heard(Path(item.clip.path)) for item in plan.items}
    for file in report.files:
        assert heard(Path(file)) == sound_by_name[Path(file).name]
    tags = read_tags(str(target / "RAIN_=SUM(1)_ABC_MyLib.flac"))
    assert (best(tags, "catid"), best(tags, "description")) == ("RAIN", "Tür, nass")
    with open(target / MANIFEST, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(COLUMNS) and len(rows) == 4
    rain = next(row for row in rows if row["CatID"] == "RAIN")
    assert rain["FXName"] == "'=SUM(1)", "a spreadsheet must not compute it"
    assert (rain["Description"], rain["Duration"], rain["SampleRate"]) == ("Tür, nass", "0.200", "48000")
    assert rain["OriginalPath"] == str(sounds / "rain.flac")
    assert library.index().unchanged == 4


def test_what_stands_against_it_is_said_before_the_first_file(
    library: Library, sounds: Path, tmp_path: Path, synth: Synth
) -> None:
    synth(sounds / "bare.wav", 0.1, kind="noise", seed=8)
    library.index()
    ids, target = library.ids(), tmp_path / "out"
    target.mkdir()
    (target / "doorwood_castle gate_abc_mylib.WAV").write_bytes(b"x")

    def problems(parts: NameParts = PARTS, **names: str) -> str:
        chosen = {ids[rel.replace("__", "/").replace("_", ".")]: name for rel, name in names.items()}
        plan = plan_delivery(library.catalog, list(ids.values()), str(target), parts, names=chosen)
        with pytest.raises(DeliveryError):
            run(deliver(library.catalog, plan))
        assert os.listdir(target) == ["doorwood_castle gate_abc_mylib.WAV"]
        return " ".join([*plan.problems, *(p for item in plan.items for p in item.problems)])

    assert "no category" in problems() and "already a file" in problems()
    assert "creator" in problems(NameParts(source="x")) and "source" in problems(NameParts("x"))
    assert "no complete UCS name" in problems(rain_flac="rain.flac") or "category" in problems()
    assert "not every system" in problems(rain_flac="RAIN_a?b_A_B.flac")
    assert "255 is the most" in problems(rain_flac=f"RAIN_{'x' * 250}_A_B.flac")
    assert "same name" in problems(rain_flac="RAIN_x_A_B.flac", dog_mp3="rain_X_a_b.flac")
    (sounds / "rain.flac").unlink()
    assert "cannot be read" in problems()
    missing = plan_delivery(library.catalog, list(ids.values()), str(sounds / "door.wav" / "x"), PARTS)
    assert missing.problems
    os.chmod(target, 0o555)
    try:
        assert "cannot be written" in problems()
    finally:
        os.chmod(target, 0o755)


def test_stopping_and_failing_leave_nothing(
    library: Library, sounds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    plan = plan_delivery(library.catalog, list(library.ids().values()), str(target), PARTS)
    job = deliver(library.catalog, plan)
    next(job)
    assert len(os.listdir(target)) == 1
    job.close()
    assert not target.exists()
    whole = delivering.write_copy
    calls = []

    def failing(source: str, values: dict[str, str], path: str) -> Any:
        calls.append(path)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        return whole(source, values, path)

    monkeypatch.setattr(delivering, "write_copy", failing)
    with pytest.raises(DeliveryError) as caught:
        run(deliver(library.catalog, plan))
    assert "No space" in str(caught.value) and not target.exists()


@pytest.mark.skipif(not is_root(), reason="only root can mount a small disk")
def test_a_disk_that_is_too_small_is_found_out_first(library: Library, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        plan = plan_delivery(library.catalog, list(library.ids().values()), str(disk), PARTS)
        assert plan.problems == ("There is not enough free space on the disk.",)
        with pytest.raises(DeliveryError):
            run(deliver(library.catalog, plan))
        assert os.listdir(disk) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)
