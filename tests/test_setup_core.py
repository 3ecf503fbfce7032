"""The core is tested a second time where there is no Qt: every room but the window's must do without it.

Not by uninstalling it: a finder ahead of all others refuses to import it, here and in every process that the
tests start. pytest-qt stays out as well, as it would where PySide6 is not installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
REPOSITORY = TESTS.parent

ROOMS = ("audio", "eval", "index", "library")
CORE = (*ROOMS, "cli", "models", "settings", "errors")

# Python imports a module of this name by itself whenever it starts.
WITHOUT_QT = """
import importlib.abc
import sys


class NoQt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("PySide6", "shiboken6"):
            raise ModuleNotFoundError(f"No module named {name!r} (kept away by the test)", name=name)
        return None


sys.meta_path.insert(0, NoQt())
"""


@pytest.fixture
def without_qt(tmp_path: Path) -> dict[str, str]:
    """An environment in which no Python process can import Qt."""
    folder = tmp_path / "no qt"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WITHOUT_QT)
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "FOLEY_HYPOTHESIS": "brief"}


def python(*arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=1100
    )


def test_qt_really_is_away(without_qt):
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import PySide6.QtCore'])"
    for code in ("import PySide6", "import shiboken6", script):
        assert "kept away by the test" in python("-c", code, environment=without_qt).stderr


@pytest.mark.slow
def test_the_core_passes_its_tests_without_qt(without_qt, tmp_path, tmp_path_factory):
    # Beside the other temporary folders, not below one: some tests open the way to theirs for another user.
    base = tmp_path_factory.getbasetemp().parent / f"core-{os.getpid()}"
    files = sorted(str(f) for room in CORE for f in TESTS.glob(f"test_{room}*.py"))
    report = tmp_path / "report.xml"
    result = python(
        *("-m", "pytest", "-q", "-p", "no:pytest-qt", "-p", "no:cacheprovider"),
        *(
            "-m",
            "not gui and not slow and not model",
            f"--junitxml={report}",
            f"--basetemp={base}",
        ),
        *files,
        environment=without_qt,
    )
    shutil.rmtree(base, ignore_errors=True)
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-2000:]

    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    passed = [case.get("classname", "") for case in cases if case.find("skipped") is None]
    per_room = {room: sum(name.startswith(f"tests.test_{room}") for name in passed) for room in ROOMS}
    assert all(count >= 10 for count in per_room.values()), per_room
