"""Real drags on a real X server: another process gets the very bytes, as a copy, and nothing else."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import Qt
from ui_support import make_library
from x_server import x_server

pytestmark = [
    pytest.mark.gui,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("Xvfb") and shutil.which("xdotool")), reason="needs Xvfb and xdotool"
    ),
]
HERE = Path(__file__).parent
TARGET = (1100, 250)


class Program:
    """A child process that talks in lines."""

    def __init__(self, command: list[str], display: str) -> None:
        environment = os.environ | {
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)]),
        }
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
        )

    def speaks(self, timeout_s: float) -> bool:
        assert self.process.stdout is not None
        return bool(select.select([self.process.stdout], [], [], timeout_s)[0])

    def line(self, timeout_s: float = 60.0) -> str:
        assert self.process.stdout is not None
        if not self.speaks(timeout_s):
            pytest.fail("the other program said nothing in time")
        said = self.process.stdout.readline()
        if not said:
            pytest.fail(f"the other program ended: {self.process.communicate()[1]}")
        return said

    def end(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=20)


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    with x_server() as number:
        yield number


@pytest.fixture(scope="module")
def source(display: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    library, _ = make_library(tmp_path_factory.mktemp("drag"))
    program = Program([sys.executable, str(HERE / "drag_source.py"), str(library)], display)
    yield json.loads(program.line())
    program.end()


@pytest.fixture(scope="module")
def backwards(display: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A window in which sounds are heard back to front and leave like that."""
    library, _ = make_library(tmp_path_factory.mktemp("backwards"))
    program = Program([sys.executable, str(HERE / "drag_source.py"), str(library), "backwards"], display)
    yield json.loads(program.line())
    program.end()


@pytest.fixture
def target(display: str) -> Iterator[Program]:
    program = Program([sys.executable, str(HERE / "drag_target.py")], display)
    assert program.line() == "ready\n"
    time.sleep(0.3)
    yield program
    program.end()


def xdotool(display: str, *words: object) -> None:
    subprocess.run(
        ["xdotool", *map(str, words)], env=os.environ | {"DISPLAY": display}, check=True, timeout=30
    )


def drag(display: str, start: list[int], keys: tuple[str, ...] = ()) -> None:
    """Presses, waits as a hand does, moves over in steps, and lets go."""
    x, y = start
    xdotool(display, "mousemove", x, y, "mousedown", 1)
    time.sleep(0.5)
    for key in keys:
        xdotool(display, "keydown", key)
    for step in range(1, 13):
        share = step / 12
        xdotool(display, "mousemove", round(x + (TARGET[0] - x) * share), round(y + (TARGET[1] - y) * share))
        time.sleep(0.04)
    time.sleep(0.3)
    xdotool(display, "mouseup", 1)
    for key in keys:
        xdotool(display, "keyup", key)


def dragged(
    display: str, start: list[int], program: Program, keys: tuple[str, ...] = ()
) -> tuple[list[str], dict[str, Any]]:
    """Drags until the other program has something; a busy machine may lose the motion of a hand."""
    for _ in range(2):
        drag(display, start, keys)
        if program.speaks(15):
            break
    else:
        drag(display, start, keys)
    document = json.loads(program.line(20))
    lines = document["uris"].split("\r\n")
    return [os.fsdecode(unquote_to_bytes(line[len("file://") :])) for line in lines if line], document


def test_a_row_arrives_as_the_very_file(display: str, source: dict[str, Any], target: Program) -> None:
    before = Path(source["paths"][2]).read_bytes()
    paths, document = dragged(display, source["rows"][2], target)
    assert paths == [source["paths"][2]]
    assert Path(paths[0]).read_bytes() == before
    assert document["possible"] == Qt.DropAction.CopyAction.value, "nothing but a copy is offered"
    assert document["action"] == Qt.DropAction.CopyAction.value


def test_shift_makes_no_move_of_it(display: str, source: dict[str, Any], target: Program) -> None:
    paths, document = dragged(display, source["rows"][3], target, keys=("shift",))
    assert paths == [source["paths"][3]] and os.path.exists(paths[0])
    assert document["action"] == Qt.DropAction.CopyAction.value


def test_many_rows_arrive_in_their_order(display: str, source: dict[str, Any], target: Program) -> None:
    before = [Path(path).read_bytes() for path in source["paths"][:3]]
    xdotool(display, "mousemove", *source["rows"][0], "click", 1)
    time.sleep(0.3)
    xdotool(display, "keydown", "shift", "mousemove", *source["rows"][2], "click", 1, "keyup", "shift")
    time.sleep(0.3)
    paths, document = dragged(display, source["rows"][1], target)
    assert paths == source["paths"][:3]
    assert document["action"] == Qt.DropAction.CopyAction.value, "though a move was asked for"
    assert [Path(path).read_bytes() for path in source["paths"][:3]] == before


def test_a_region_arrives_as_a_file_of_its_own(display: str, source: dict[str, Any], target: Program) -> None:
    # The rows dragged before have taken their clips in hand: select the first one again.
    xdotool(display, "mousemove", *source["rows"][0], "click", 1)
    time.sleep(1.0)
    x, y = source["region"]
    xdotool(display, "mousemove", x - 150, y, "mousedown", 1)
    for step in range(1, 7):
        xdotool(display, "mousemove", x - 150 + 50 * step, y)
        time.sleep(0.03)
    xdotool(display, "mouseup", 1)
    time.sleep(0.3)
    (path,), document = dragged(display, source["region"], target)
    assert document["action"] == Qt.DropAction.CopyAction.value
    assert path != source["paths"][0]
    whole, part = soundfile.info(source["paths"][0]), soundfile.info(path)
    assert (part.samplerate, part.channels) == (whole.samplerate, whole.channels)
    assert 0 < part.frames < whole.frames
    old, new = (soundfile.read(file, dtype="int16", always_2d=True)[0] for file in (source["paths"][0], path))
    starts = np.flatnonzero((old[: whole.frames - part.frames + 1] == new[0]).all(axis=1))
    assert any(np.array_equal(old[start : start + part.frames], new) for start in starts)


def test_a_region_arrives_as_it_is_heard(display: str, backwards: dict[str, Any], target: Program) -> None:
    (path,), document = dragged(display, backwards["region"], target)
    assert document["possible"] == Qt.DropAction.CopyAction.value
    old, rate = soundfile.read(backwards["clip"], dtype="int16", always_2d=True)
    first, last = (round(seconds * rate) for seconds in backwards["stretch"])
    new, new_rate = soundfile.read(path, dtype="int16", always_2d=True)
    assert new_rate == rate and np.array_equal(new, old[first:last][::-1])


def test_a_row_arrives_as_it_is_heard(display: str, backwards: dict[str, Any], target: Program) -> None:
    (path,), _ = dragged(display, backwards["rows"][0], target)
    assert path != backwards["paths"][0], "not the original, which is heard otherwise"
    old, rate = soundfile.read(backwards["paths"][0], dtype="int16", always_2d=True)
    new, new_rate = soundfile.read(path, dtype="int16", always_2d=True)
    assert new_rate == rate and np.array_equal(new, old[::-1])
