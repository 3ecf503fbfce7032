"""Keeps the interpreter alive under a PySide6 that loses references.

PySide6 6.12.0 gives the result of every ``emit()`` away without taking a reference for it. From Python
3.12 on True and None cannot die; on 3.11 the interpreter aborts after some hundred signals. Where
that pair meets, the singletons are given more references than any run can lose.
"""

from __future__ import annotations

import ctypes
import sys

import PySide6

PLENTY = 1 << 40


def is_needed(python: tuple[int, ...], pyside: str) -> bool:
    """Whether this pair of versions loses references to True."""
    return python[:2] < (3, 12) and pyside.split(".")[:2] == ["6", "12"]


def keep_singletons() -> None:
    """Makes True, False and None outlive the process, where that is needed."""
    if sys.implementation.name == "cpython" and is_needed(sys.version_info[:2], PySide6.__version__):
        for singleton in (True, False, None):
            ctypes.c_ssize_t.from_address(id(singleton)).value += PLENTY
