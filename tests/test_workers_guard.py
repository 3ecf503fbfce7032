"""A run with many signals outlives a PySide6 that loses references."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import QObject, Signal

from foley_desktop.workers.qt_guard import is_needed

pytestmark = pytest.mark.gui


@pytest.mark.parametrize(
    ("python", "pyside", "expected"),
    [
        ((3, 11), "6.12.0", True),
        ((3, 12), "6.12.0", False),
        ((3, 11), "6.11.3", False),
        ((3, 13), "6.13.0", False),
    ],
)
def test_which_pair_needs_it(python: tuple[int, int], pyside: str, expected: bool) -> None:
    assert is_needed(python, pyside) is expected


class Sender(QObject):
    sent = Signal()


def test_true_survives_many_signals(qtbot: object) -> None:
    sender = Sender()
    for _ in range(20_000):
        sender.sent.emit()
    assert sys.getrefcount(True) > 0 and (True is not None)
