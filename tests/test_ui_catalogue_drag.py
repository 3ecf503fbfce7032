"""Sounds dragged onto a collection with a real pointer on a real X server."""

from __future__ import annotations

import json
import os
import select
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ui_support import make_library
from x_server import x_server

from foley_desktop.library.catalog import Catalog
from foley_desktop.settings import DataFolder

pytestmark = [
    pytest.mark.gui,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("Xvfb") and shutil.which("xdotool")), reason="needs Xvfb and xdotool"
    ),
]
HERE = Path(__file__).parent
WAIT_S = 20.0


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library, _ = make_library(tmp_path_factory.mktemp("shelf"))
    catalog = Catalog(DataFolder(library).catalog)
    catalog.add_to_collection("Mine")
    catalog.close()
    return library


@pytest.fixture(scope="module")
def window(library: Path) -> Iterator[dict[str, Any]]:
    """The window on a display of its own: its display, and where things stand in it."""
    with x_server("1280x900") as display:
        environment = os.environ | {
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)]),
        }
        program = subprocess.Popen(
            [sys.executable, str(HERE / "shelf_window.py"), str(library)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True,
        )  # fmt: skip
        try:
            assert program.stdout is not None
            assert select.select([program.stdout], [], [], 90)[0], "the window said nothing in time"
            said_now = program.stdout.readline()
            assert said_now, program.communicate()[1]
            yield {"display": display, **json.loads(said_now)}
        finally:
            program.terminate()
            program.communicate(timeout=20)


def drag(display: str, start: list[int], end: list[int]) -> None:
    """Presses, waits as a hand does, moves over in steps, and lets go."""

    def xdotool(*words: object) -> None:
        environment = os.environ | {"DISPLAY": display}
        subprocess.run(["xdotool", *map(str, words)], env=environment, check=True, timeout=30)

    xdotool("mousemove", *start, "mousedown", 1)
    time.sleep(0.5)
    for step in range(1, 13):
        x, y = (round(a + (b - a) * step / 12) for a, b in zip(start, end, strict=True))
        xdotool("mousemove", x, y)
        time.sleep(0.04)
    time.sleep(0.4)
    xdotool("mouseup", 1)


def members(library: Path) -> set[str]:
    connection = sqlite3.connect(DataFolder(library).catalog)
    try:
        return {row[0] for row in connection.execute("SELECT clip_id FROM collection_clips")}
    finally:
        connection.close()


def joins(library: Path, clip_id: str, within_s: float) -> bool:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if clip_id in members(library):
            return True
        time.sleep(0.1)
    return False


def test_a_dragged_row_joins_the_collection_and_its_file_stays(library: Path, window: dict[str, Any]) -> None:
    before = Path(window["paths"][2]).read_bytes()
    for _ in range(3):  # a busy machine may lose the motion of a hand
        drag(window["display"], window["rows"][2], window["collection"])
        if joins(library, window["ids"][2], WAIT_S):
            break
    assert members(library) == {window["ids"][2]}
    assert Path(window["paths"][2]).read_bytes() == before


def test_a_row_dropped_on_a_folder_changes_nothing(library: Path, window: dict[str, Any]) -> None:
    before, file = members(library), Path(window["paths"][1])
    drag(window["display"], window["rows"][1], window["folder"])
    assert not joins(library, window["ids"][1], 1.5)
    assert members(library) == before and file.is_file()
