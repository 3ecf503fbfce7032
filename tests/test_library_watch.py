"""Watching folders: changes are told once, after they have come to rest."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from foley_desktop.library.watch import Watcher, outermost


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
    try:
        assert "compared" in watcher.notice
        time.sleep(0.4)
        (tmp_path / "new.wav").write_bytes(b"x")
        told.wait()
    finally:
        watcher.stop()
    assert told.calls[0] == [str(tmp_path)]


def test_folders_inside_others_are_left_out() -> None:
    assert outermost(["/a/b", "/a", "/ab", "/a/c/d", "/b"]) == ["/a", "/ab", "/b"]
    assert outermost(["/", "/x"]) == ["/"]
