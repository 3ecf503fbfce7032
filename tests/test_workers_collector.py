"""Garbage is collected by the GUI thread alone while workers run."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any

import pytest
from PySide6.QtCore import QObject

from foley_desktop.workers.collector import BURST
from foley_desktop.workers.runner import Runner

pytestmark = pytest.mark.gui


class Ring(QObject):
    """A Qt object in a circle of references, as closed dialogs are."""

    ended_in: list[int] = []  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.myself = self
        weakref.finalize(self, lambda: Ring.ended_in.append(threading.get_ident()))


def churn() -> int:
    """Makes so many containers that the interpreter would collect several times."""
    return sum(len([[n] for n in range(1000)]) for _ in range(200)) + len([Keep() for _ in range(5000)])


class Keep:
    def __init__(self) -> None:
        self.other = self


def test_circles_with_qt_objects_end_in_the_gui_thread(qtbot: Any) -> None:
    gc.collect()
    Ring.ended_in.clear()
    runner = Runner()
    for _ in range(50):
        Ring()
    answers: list[int] = []
    for _ in range(4):
        runner.reads.submit(churn, answers.append)
    qtbot.waitUntil(lambda: len(answers) == 4, timeout=20_000)
    qtbot.waitUntil(lambda: len(Ring.ended_in) == 50, timeout=20_000)
    assert set(Ring.ended_in) == {threading.get_ident()}
    assert runner.shutdown()


def test_what_a_worker_reads_in_bulk_is_passed_over(qtbot: Any) -> None:
    runner = Runner()
    before = gc.get_freeze_count()
    read: list[list[list[int]]] = []
    runner.reads.submit(lambda: [[n] for n in range(2 * BURST)], read.append)
    qtbot.waitUntil(lambda: bool(read) and gc.get_count()[0] < BURST, timeout=20_000)
    assert gc.get_freeze_count() - before > BURST
    read.clear()
    assert gc.get_freeze_count() - before < BURST, "and freed all the same when nobody needs it"
    assert runner.shutdown()


def test_collection_and_turns_are_handed_back_when_the_last_window_is_gone(qtbot: Any) -> None:
    assert gc.isenabled()
    interval = sys.getswitchinterval()
    one, other = Runner(), Runner()
    assert not gc.isenabled() and sys.getswitchinterval() < interval
    assert one.shutdown() and one.shutdown()
    assert not gc.isenabled() and sys.getswitchinterval() < interval, "the other one still works"
    assert other.shutdown()
    assert sys.getswitchinterval() == interval
    assert gc.isenabled()
