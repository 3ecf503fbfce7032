"""Measuring a large library leaves the window alone: no stall of its thread, and cancelled at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import large_library
import pytest
from lab_window import LabWindow
from stall_watch import Watchdog
from ui_support import copy_library

pytestmark = [pytest.mark.gui, pytest.mark.slow]

CLIPS = 100_000
QUERIES = 100
MOST_STALL_MS = 50.0
CANCELLED_WITHIN_S = 0.2
ATTEMPTS = 3
LONG_MS = 300_000


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    large_library.make(folder / "data", folder / "sounds", CLIPS).close()
    return folder / "data"


@pytest.fixture
def lab(qtbot: Any, library: Path, tmp_path: Path) -> Iterator[LabWindow]:
    lab = LabWindow(qtbot, copy_library(library, tmp_path / "data"))
    lab.take_set(large_library.golden(QUERIES))
    lab.search.refresh()
    lab.wait_listed()
    yield lab
    lab.close()


def test_the_window_stays_alive_while_a_hundred_queries_are_measured(lab: LabWindow) -> None:
    watch = Watchdog()
    watch.start()
    lab.measure(LONG_MS)
    lab.find("lab_save_baseline").click()
    lab.answer_line("before")
    lab.panel.baselines.choose("before")
    # A machine that is busy with other things may be late once, but not each time.
    worst: list[float] = []
    while not worst or (worst[-1] >= MOST_STALL_MS and len(worst) < ATTEMPTS):
        if worst:
            watch.start()
        measure_and_look(lab)
        watch.stop()
        assert len(lab.cells()) == QUERIES and lab.desk.measurement.comparisons
        late = [f"{gap.ms:.0f} ms at {gap.at_s:.1f} s" for gap in sorted(watch.gaps, reverse=True)[:5]]
        print(f"worst of {len(watch.gaps)} gaps:", ", ".join(late))
        worst.append(watch.worst_ms)
    assert worst[-1] < MOST_STALL_MS, worst


def measure_and_look(lab: LabWindow) -> None:
    """Measures all queries against the baseline, and opens one of them."""
    former = lab.desk.measurement
    lab.panel.queries.table.clearSelection()
    lab.find("lab_measure").click()
    lab.wait(lambda: lab.desk.measurement is not former and not lab.panel.setup.line.running, LONG_MS)
    lab.panel.queries.table.selectRow(3)
    lab.wait(lambda: lab.panel.query.details is not None)
    lab.settle()


def test_cancelling_takes_effect_within_a_fifth_of_a_second(lab: LabWindow) -> None:
    lab.measure(LONG_MS)
    for done in (2, 45, 150, 399):
        # A machine that is busy with other things may be late once, but not each time.
        took = []
        while not took or (took[-1] >= CANCELLED_WITHIN_S and len(took) < ATTEMPTS):
            took.append(cancel_at(lab, done))
        print(f"cancelled at {done} within", ", ".join(f"{seconds * 1000:.0f} ms" for seconds in took))
        assert took[-1] < CANCELLED_WITHIN_S, (done, took)


def cancel_at(lab: LabWindow, done: int) -> float:
    """Measures up to a step, cancels, and gives the seconds until that was done."""
    line = lab.panel.setup.line
    lab.find("lab_measure").click()
    lab.wait(lambda: line.bar.maximum() == 4 * QUERIES and line.bar.value() >= done, LONG_MS)
    started = time.monotonic()
    lab.find("lab_cancel").click()
    lab.wait(lambda: not line.running)
    took = time.monotonic() - started
    lab.idle()
    return took
