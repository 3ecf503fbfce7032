"""Watching folders: changes are told once, after they have come to rest."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from foley_desktop.library.watch import Watcher, file_system, outermost


class Told:
    """Collects what a watcher tells."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, folders: list[str]) -> None:
        self.calls.append(folders)

    def wait(self, count: int = 1, seconds: float = 10.0) -> None:
        end = time.monotonic() + seconds
        while len(self.calls) < count and time.monotonic() < end:
            time.sleep(0.02)
        assert len(self.calls) >= count


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture(params=["events", "polling"])
def watcher(request: pytest.FixtureRequest, told: Told) -> Iterator[Watcher]:
    made = Watcher(told, still_s=1.0, poll_s=1.0, events=request.param == "events")
    yield made
    made.stop()


def test_a_growing_file_is_told_of_once_when_it_rests(watcher: Watcher, told: Told, tmp_path: Path) -> None:
    watcher.start([str(tmp_path)])
    time.sleep(0.5)
    with open(tmp_path / "long copy.wav", "wb") as file:
        for _ in range(12):
            file.write(b"x" * 1000)
            file.flush()
            time.sleep(0.1)
            assert told.calls == [], "told of while it was being written"
    told.wait()
    time.sleep(1.2)
    assert told.calls == [[str(tmp_path)]]


def test_moved_and_deleted_things_are_told_of(watcher: Watcher, told: Told, tmp_path: Path) -> None:
    (tmp_path / "root" / "a").mkdir(parents=True)
    (tmp_path / "root" / "a" / "x.wav").write_bytes(b"x")
    (tmp_path / "root" / "notes.txt").write_bytes(b"x")
    root = tmp_path / "root"
    watcher.start([str(root), str(tmp_path / "not there")])
    time.sleep(0.5)
    (root / "a").rename(root / "b")
    told.wait(1)
    (root / "b" / "x.wav").unlink()
    told.wait(2)
    (root / "notes.txt").write_bytes(b"changed")
    time.sleep(2.5)
    assert len(told.calls) == 2
    assert all(folder == str(root) or folder.startswith(str(root)) for call in told.calls for folder in call)


def test_names_that_are_not_text_are_told_of(told: Told, tmp_path: Path) -> None:
    watcher = Watcher(told, still_s=0.2)
    watcher.start([str(tmp_path)])
    try:
        folder = os.path.join(os.fsencode(tmp_path), b"caf\xe9")
        os.mkdir(folder)
        time.sleep(0.3)
        with open(os.path.join(folder, b"\xff.wav"), "wb") as file:
            file.write(b"x")
        told.wait()
    finally:
        watcher.stop()
    assert all(os.path.isdir(folder) for call in told.calls for folder in call)


def test_a_system_out_of_watches_is_compared_and_said_so(
    told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from watchdog.observers import Observer

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    monkeypatch.setattr(Observer, "schedule", full)
    watcher = Watcher(told, still_s=0.2, poll_s=0.2)
    watcher.start([str(tmp_path)])
    assert watcher.wait_ready(10)
    try:
        assert "compared" in watcher.notice
        time.sleep(0.4)
        (tmp_path / "new.wav").write_bytes(b"x")
        told.wait()
    finally:
        watcher.stop()
    assert told.calls[0] == [str(tmp_path)]


def test_a_root_that_goes_away_and_comes_back_is_told_of(
    watcher: Watcher, told: Told, tmp_path: Path
) -> None:
    """FSY-09: renamed away, an empty folder in its place, and back again."""
    root = tmp_path / "drive"
    root.mkdir()
    (root / "a.wav").write_bytes(b"x")
    watcher.start([str(root)])
    assert watcher.wait_ready(10)
    root.rename(tmp_path / "elsewhere")
    root.mkdir()
    told.wait(1)
    assert set(told.calls[-1]) == {str(root)}
    time.sleep(1.5)
    root.rmdir()
    (tmp_path / "elsewhere").rename(root)
    before = len(told.calls)
    told.wait(before + 1)
    time.sleep(1.5)
    (root / "b.wav").write_bytes(b"x")
    told.wait(len(told.calls) + 1)
    assert all(call == [str(root)] for call in told.calls)


def test_a_file_that_is_written_for_long_does_not_hold_the_others_back(told: Told, tmp_path: Path) -> None:
    (tmp_path / "takes").mkdir()
    watcher = Watcher(told, still_s=0.1, poll_s=30.0)
    watcher.start([str(tmp_path)])
    assert watcher.wait_ready(10)
    try:
        with open(tmp_path / "takes" / "recording.wav", "wb") as recording:
            (tmp_path / "done.wav").write_bytes(b"x")
            end = time.monotonic() + 20
            while not told.calls and time.monotonic() < end:
                recording.write(b"x" * 100)
                recording.flush()
                time.sleep(0.02)
        assert told.calls[0] == [str(tmp_path)]
    finally:
        watcher.stop()


def test_stopping_while_a_large_folder_is_compared_takes_no_time(told: Told, tmp_path: Path) -> None:
    for number in range(3000):
        (tmp_path / f"{number}.wav").touch()
    watcher = Watcher(told, events=False)
    watcher.start([str(tmp_path)])
    began = time.monotonic()
    watcher.stop()
    assert time.monotonic() - began < 3
    assert not watcher.is_watching


def test_network_drives_are_known_by_their_mounts() -> None:
    mounts = [
        ("/", "ext4"),
        ("/mnt/a b", "nfs4"),
        ("/mnt", "ext4"),
        ("/mnt/nas", "cifs"),
        ("/mnt/nas", "ext4"),
    ]
    assert file_system("/mnt/a b/sounds", mounts) == "nfs4"
    assert file_system("/mnt/a", mounts) == "ext4"
    assert file_system("/mnt/nas", mounts) == "ext4", "the last mount at a place counts"
    assert file_system("/home", [("/", "ext4")]) == "ext4"
    assert file_system("/home", []) == ""


def test_folders_inside_others_are_left_out() -> None:
    assert outermost(["/a/b", "/a", "/ab", "/a/c/d", "/b"]) == ["/a", "/ab", "/b"]
    assert outermost(["/", "/x"]) == ["/"]
