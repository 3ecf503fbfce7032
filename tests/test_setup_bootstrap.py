"""The set-up really sets up: a real virtual environment, real pip, on a project small enough for a test.

The project in miniature brings its own build backend and requires nothing, so that no network is needed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

BOOTSTRAP = Path(__file__).resolve().parent.parent / "packaging" / "bootstrap.py"

BACKEND = """
import base64, hashlib, pathlib, sys, time, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    {before}
    root = pathlib.Path.cwd()
    name = "foley_desktop-1.0-py3-none-any.whl"
    info = "foley_desktop-1.0.dist-info/"
    files = {{
        "foley_desktop.pth": str(root),
        info + "METADATA": "Metadata-Version: 2.1\\nName: foley-desktop\\nVersion: 1.0\\n",
        info + "WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }}
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
        wheel.writestr(info + "RECORD", "".join(f"{{path}},,\\n" for path in [*files, info + "RECORD"]))
    return name
"""

PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "foley-desktop"
version = "1.0"
"""

APP = """
import os, sys
print(sys.argv[1:], os.getcwd(), sys.prefix)
sys.exit(7)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout in miniature, in a folder with a blank, that needs no package and no network."""
    root = tmp_path / "a folder"
    package = root / "foley_desktop"
    package.mkdir(parents=True)
    (root / "packaging").mkdir()
    shutil.copy(BOOTSTRAP, root / "packaging" / "bootstrap.py")
    (root / "packaging" / "requirements.txt").write_text("# nothing\n")
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "backend.py").write_text(BACKEND.format(before=""))
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(APP)
    return root


def bootstrap(
    project: Path, *arguments: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(project / "packaging" / "bootstrap.py"), *arguments],
        cwd=cwd,
        env=make_environment(**environment),
        capture_output=True,
        text=True,
        timeout=120,
    )


def make_environment(**changes: str) -> dict[str, str]:
    """Ours, as a root that has apt nowhere to be found: these tests install nothing into the system."""
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not Path(p, "apt-get").exists())
    return {**os.environ, "PATH": path, **changes}


def test_a_fresh_start_sets_up_and_goes_on_as_the_app_and_a_second_one_only_goes_on(project, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "foley_desktop.py").write_text("raise SystemExit('the wrong module')")

    first = bootstrap(project, "run", "rain", "sub dir/wind", cwd=elsewhere)
    assert first.returncode == 7, first.stderr
    assert first.stdout.strip() == f"['gui', 'rain', 'sub dir/wind'] {elsewhere} {project / '.venv'}"
    log = (project / "build" / "bootstrap.log").read_text()
    assert " -m pip install " in log

    (project / "build" / "bootstrap.log").unlink()
    began = time.monotonic()
    second = bootstrap(project, "run", "rain", cwd=elsewhere)
    assert time.monotonic() - began < 3
    assert second.returncode == 7
    assert not (project / "build" / "bootstrap.log").exists(), "a second start called a command"
    assert "Installing" not in second.stderr


def test_a_changed_pin_installs_again_and_a_moved_checkout_starts_from_nothing(project, tmp_path):
    assert bootstrap(project, "setup").returncode == 0
    marker = project / ".venv" / "kept"
    marker.touch()
    (project / "pyproject.toml").write_text(PROJECT + 'description = "changed"\n')
    again = bootstrap(project, "setup")
    assert again.returncode == 0 and "Installing Foley Desktop itself" in again.stderr
    assert marker.exists(), "what was installed already stays"

    moved = project.rename(tmp_path / "another folder")
    result = bootstrap(moved, "run")
    assert result.returncode == 7 and str(moved / ".venv") in result.stdout
    assert not (moved / ".venv" / "kept").exists()


def test_a_killed_set_up_heals(project):
    (project / "backend.py").write_text(BACKEND.format(before="print(flush=True); time.sleep(60)"))
    running = subprocess.Popen(
        [sys.executable, str(project / "packaging" / "bootstrap.py"), "setup"],
        env=make_environment(),
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    log = project / "build" / "bootstrap.log"
    wait_for(lambda: log.exists() and "--editable" in log.read_text(), "pip at work on the project")
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    half = project / ".venv" / "half"
    half.touch()

    (project / "backend.py").write_text(BACKEND.format(before=""))
    result = bootstrap(project, "run")
    assert result.returncode == 7, result.stderr
    assert not half.exists()


def test_two_starts_at_once_install_once(project):
    starts = [
        subprocess.Popen(
            [sys.executable, str(project / "packaging" / "bootstrap.py"), "run"],
            env=make_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [start.communicate(timeout=120)[1] for start in starts]
    assert [start.returncode for start in starts] == [7, 7]
    assert sum("Installing Foley Desktop itself" in text for text in said) == 1


@pytest.mark.parametrize(
    ("requirement", "before", "reason"),
    [
        ("numpy==2.4.6", "", "the package index cannot be reached"),
        ("", "import errno, os; raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))", "the disk is full"),
    ],
)
def test_a_failure_is_one_sentence_and_a_log_and_the_next_start_takes_it_up(
    project, requirement, before, reason
):
    (project / "packaging" / "requirements.txt").write_text(requirement)
    (project / "backend.py").write_text(BACKEND.format(before=before))
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "1", "PIP_CONFIG_FILE": os.devnull}
    nowhere |= {"PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": "", "PIP_NO_CACHE_DIR": "1"}
    failed = bootstrap(project, "run", **nowhere)
    assert failed.returncode == 1
    last = failed.stderr.strip().splitlines()[-1]
    assert re.fullmatch(rf"The set-up stopped in pip: {reason}.*\. The log is .*bootstrap\.log", last)
    assert "Traceback" not in failed.stderr

    (project / "packaging" / "requirements.txt").write_text("")
    (project / "backend.py").write_text(BACKEND.format(before=""))
    assert bootstrap(project, "run").returncode == 7


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's loader and path")
def test_what_the_system_lacks_is_named_tried_once_and_no_reason_to_stop(project, tmp_path):
    """An apt that cannot help, as without a network: the exact command is printed, the set-up goes on."""
    programs = tmp_path / "programs"
    programs.mkdir()
    calls = tmp_path / "calls"
    apt = programs / "apt-get"
    apt.write_text(f'#!/bin/sh\necho "$@" >> "{calls}"\nexit 100\n')
    apt.chmod(0o755)

    first = bootstrap(project, "setup", PATH=str(programs))
    assert first.returncode == 0, first.stderr
    assert re.search(r"^  (sudo )?apt-get install .*pulseaudio.* xdotool xvfb$", first.stderr, re.MULTILINE)
    if os.geteuid() == 0:
        asked = calls.read_text().splitlines()
        assert asked[0] == "update" and asked[1].startswith("install -y") and "xvfb" in asked[1]
        calls.unlink()

    second = bootstrap(project, "run", PATH=str(programs))
    third = bootstrap(project, "setup", PATH=str(programs))
    assert second.returncode == 7 and third.returncode == 0
    assert "apt-get install" in third.stderr
    assert not calls.exists(), "a second start tried again what had failed"


def test_no_display_is_a_sentence_before_anything_is_installed(project):
    for display in ("", ":99887"):
        result = bootstrap(
            project, "run", QT_QPA_PLATFORM="xcb", DISPLAY=display, WAYLAND_DISPLAY="", XDG_RUNTIME_DIR=""
        )
        assert result.returncode == 1
        assert re.match(r"There is no display|The display :99887 cannot be opened", result.stderr)
        assert "Traceback" not in result.stderr
        assert not (project / ".venv").exists()


@pytest.mark.parametrize("arguments", [(), ("fly",), ("--help",), ("setup", "too-much")])
def test_wrong_usage_names_the_commands(project, arguments):
    result = bootstrap(project, *arguments)
    assert result.returncode == 2
    assert all(f"bootstrap.py {command}" in result.stderr for command in ("run", "test", "setup"))
    assert not (project / ".venv").exists()


def wait_for(condition: Callable[[], bool], what: str, timeout_s: float = 60.0) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"waited for {what}"
        time.sleep(0.05)


# ---------------------------------------------------------------- its parts


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("foley_bootstrap", BOOTSTRAP)
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.parametrize("version", [(2, 7), (3, 8), (3, 10)])
def test_an_old_python_is_told_so(module, version):
    with pytest.raises(module.SetupError, match=rf"needs Python 3\.11 or newer; this is {version[0]}\."):
        module.check_python(version)


def test_this_python_and_newer_ones_are_taken(module):
    module.check_python((3, 11))
    module.check_python((3, 14))


def test_a_line_the_set_up_does_not_understand_is_refused(module):
    with pytest.raises(module.SetupError, match="numpy==1"):
        module.read_requirements("numpy==1 ; python_version < '3.12'\n")
    assert module.read_requirements("a==1  # why\n\n# no\nb==2 ; extra == \"test\"\n") == {
        "": ["a==1"], "no-deps": [], "build": [], "test": ["b==2"],
    }  # fmt: skip


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's loader")
def test_every_library_that_qt_and_portaudio_want_is_on_the_list(module):
    """What Qt's own plugin is linked to, beyond what the listed packages bring along, is listed."""
    if not shutil.which("readelf"):
        pytest.skip("readelf is not installed")
    qt = Path(importlib.util.find_spec("PySide6").origin).parent / "Qt"
    linked = [qt / "plugins" / "platforms" / "libqxcb.so", qt / "lib" / "libQt6XcbQpa.so.6"]
    listing = subprocess.run(["readelf", "-d", *linked], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(libxcb-.*|libxkbcommon.*|libX11-xcb.*)\]", listing))
    assert needed and needed <= set(module.LIBRARIES) | {"libxcb-render.so.0", "libX11.so.6"}
