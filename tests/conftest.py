"""What every test stands on: a home of its own, no network, made-up clips, and nothing left running.

The suite runs twice over the core: once whole, once by ``test_setup_core.py`` in an interpreter in which Qt
cannot be imported. So nothing here may need PySide6 or pytest-qt, though both are used where they are.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import ipaddress
import multiprocessing
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
GRACE_S = 5.0
"""How long a test's threads and processes may take to end after it."""

# Every process that descends from this one carries the mark, orphans too: that is how they are found.
_MARK = f"FOLEY_TEST_SESSION={uuid.uuid4().hex}"


def _prepare_environment() -> None:
    """Points every place a library might read or write of the user's into a temporary home.

    At import, not in a fixture: transformers and Qt read their settings when they are imported.
    """
    home = Path(tempfile.mkdtemp(prefix="foley-home-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    runtime = home / "run"
    runtime.mkdir(mode=0o700)
    os.environ |= {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "APPDATA": str(home / "appdata"),
        "LOCALAPPDATA": str(home / "appdata"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_RUNTIME_DIR": str(runtime),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONFAULTHANDLER": "1",
    }
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    name, value = _MARK.split("=")
    os.environ[name] = value


def _import_or_none(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


_prepare_environment()
QT_CORE = _import_or_none("PySide6.QtCore")

# The core's tests run where there is no PySide6; the window's do not, and say so by their names.
collect_ignore_glob = (
    [] if QT_CORE else ["test_ui_*", "test_workers_*", "test_app_*", "test_gui_*", "test_window_*"]
)

hypothesis = _import_or_none("hypothesis")
if hypothesis is not None:
    _settings: dict[str, Any] = {
        "deadline": None,
        "derandomize": True,
        "database": None,
        "suppress_health_check": [
            hypothesis.HealthCheck.too_slow,
            hypothesis.HealthCheck.function_scoped_fixture,
        ],
    }
    hypothesis.settings.register_profile("ci", **_settings)
    hypothesis.settings.register_profile("brief", max_examples=10, **_settings)
    hypothesis.settings.register_profile("thorough", max_examples=2000, **_settings)
    hypothesis.settings.load_profile(os.environ.get("FOLEY_HYPOTHESIS", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Keeps pytest-qt's setting in pyproject.toml a known one where pytest-qt is not."""
    with contextlib.suppress(ValueError):
        parser.addini("qt_log_level_fail", "pytest-qt's, unused without it")
    with contextlib.suppress(ValueError):
        parser.addini("qt_log_ignore", "pytest-qt's, unused without it", type="linelist")


# ---------------------------------------------------------------- clips and folders


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of reference material: ``FOLEY_SHARED``, or ``shared`` beside the repository."""
    folder = Path(os.environ.get("FOLEY_SHARED") or REPOSITORY.parent / "shared").resolve()
    if not folder.is_dir():
        pytest.skip(f"the reference material is not there: {folder} (set FOLEY_SHARED)")
    return folder


@pytest.fixture
def library_dir(tmp_path: Path) -> Path:
    """A data folder that does not exist yet, with a blank in its name."""
    return tmp_path / "library data"


SynthFactory = Callable[..., Path]


@pytest.fixture
def synth(tmp_path: Path) -> SynthFactory:
    """Writes a made-up clip.

    ``synth(path, seconds=1.0, samplerate=48000, channels=1, kind="tone", seed=0, subtype="PCM_16") -> Path``.
    ``path`` may be relative to ``tmp_path``; its extension chooses the format, which takes its own subtype if
    it has no ``subtype``. ``kind`` is tone, noise, clicks or silence, with peaks of 0.5. The same arguments
    give the same samples; another ``seed`` gives another pitch, noise or rhythm.
    """

    def write(
        path: str | Path,
        seconds: float = 1.0,
        samplerate: int = 48000,
        channels: int = 1,
        kind: str = "tone",
        seed: int = 0,
        subtype: str = "PCM_16",
    ) -> Path:
        import soundfile

        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        samples = make_samples(kind, round(seconds * samplerate), samplerate, channels, seed)
        extension = target.suffix[1:].upper()
        file_format = {"AIF": "AIFF", "OGA": "OGG", "OPUS": "OGG"}.get(extension, extension)
        if not soundfile.check_format(file_format, subtype):
            subtype = "OPUS" if extension == "OPUS" else soundfile.default_subtype(file_format)
        soundfile.write(os.fsencode(target), samples, samplerate, subtype=subtype, format=file_format)
        return target

    return write


def make_samples(kind: str, frames: int, samplerate: int, channels: int = 1, seed: int = 0) -> Any:
    """Float32 samples of shape ``(frames, channels)``, peaks of 0.5; see :func:`synth` for the kinds."""
    import numpy as np

    rng = np.random.default_rng(seed)
    seconds = np.arange(frames)[:, None] / samplerate
    if kind == "tone":
        pitches = 220.0 * 2 ** ((seed % 24 + 7 * np.arange(channels)) / 12)
        samples = 0.5 * np.sin(2 * np.pi * pitches * seconds)
    elif kind == "noise":
        samples = rng.uniform(-0.5, 0.5, (frames, channels))
    elif kind == "clicks":
        every = max(1, samplerate // (4 + seed % 8))
        samples = np.zeros((frames, channels))
        samples[::every] = 0.5
    elif kind == "silence":
        samples = np.zeros((frames, channels))
    else:
        raise ValueError(f"no such kind of clip: {kind}")
    return samples.astype(np.float32)


# ---------------------------------------------------------------- nothing leaves, nothing stays


def _is_local(host: object) -> bool:
    if host in (None, "", b"", "localhost", b"localhost", socket.gethostname()):
        return True
    try:
        address = ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host))
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    """Any name look-up or connection beyond this machine fails with a sentence that says so."""

    def refuse(host: object) -> None:
        raise OSError(f"tests have no network; something asked for {host!r}")

    def guard(name: str) -> Callable[..., Any]:
        original = getattr(socket.socket, name)

        def guarded(self: socket.socket, *args: Any) -> Any:
            address = args[-1]
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(address[0]):
                refuse(address[0])
            return original(self, *args)

        return guarded

    lookup = socket.getaddrinfo

    def guarded_lookup(host: Any, *args: Any, **options: Any) -> Any:
        if not _is_local(host):
            refuse(host)
        return lookup(host, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, guard(name), raising=False)
        patch.setattr(socket, "getaddrinfo", guarded_lookup)
        yield


def _descendants() -> dict[int, str]:
    """Living processes that come from this test session, orphans included: pid to command line."""
    if not sys.platform.startswith("linux"):
        return {child.pid: child.name for child in multiprocessing.active_children() if child.pid}
    multiprocessing.active_children()  # reaps those that have ended
    mark, own = _MARK.encode(), {os.getpid(), getattr(resource_tracker._resource_tracker, "_pid", None)}
    found = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) in own:
            continue
        try:
            environment = Path(entry.path, "environ").read_bytes()
            if mark in environment.split(b"\0"):
                command = Path(entry.path, "cmdline").read_bytes()
                found[int(entry.name)] = command.replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except OSError:  # ended meanwhile, or another user's
            continue
    return found


def _threads() -> set[threading.Thread]:
    """Threads that have to end: those that would keep the interpreter, and every one of ours."""

    def is_ours(thread: threading.Thread) -> bool:
        target = getattr(thread, "_target", None)
        return f"{type(thread).__module__} {getattr(target, '__module__', '')}".find("foley_desktop") >= 0

    return {t for t in threading.enumerate() if t.is_alive() and (not t.daemon or is_ours(t))}


def _left_over(threads: set[threading.Thread], processes: dict[int, str]) -> list[str]:
    """What runs now and did not before, once it has had its grace."""
    end = time.monotonic() + GRACE_S
    while True:
        left = [f"thread {thread.name}" for thread in _threads() - threads]
        left += [f"process {pid}: {line}" for pid, line in _descendants().items() if pid not in processes]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.02)


@pytest.fixture(autouse=True, scope="session")
def _nothing_left_at_the_end() -> Iterator[None]:
    threads, processes = _threads(), _descendants()
    yield
    left = _left_over(threads, processes)
    assert not left, "still running after the last test: " + "; ".join(left)


@pytest.fixture(autouse=True)
def _nothing_left_running(_nothing_left_at_the_end: None) -> Iterator[None]:
    """A test ends what it starts. What a fixture of a wider scope started before it may stay."""
    threads, processes = _threads(), _descendants()
    yield
    left = _left_over(threads, processes)
    assert not left, "still running after the test: " + "; ".join(left)


_late_qt_messages: list[str] = []


def pytest_sessionstart() -> None:
    """Listens to Qt outside a test's own phase, where pytest-qt does not: teardown above all.

    Before the first test, so that pytest-qt puts this listener back whenever it stops listening itself.
    """
    if QT_CORE is None:
        return
    quiet = (QT_CORE.QtMsgType.QtDebugMsg, QT_CORE.QtMsgType.QtInfoMsg)

    def note(kind: Any, _context: Any, text: str) -> None:
        if kind not in quiet and not text.startswith("This plugin does not support"):
            _late_qt_messages.append(text)

    QT_CORE.qInstallMessageHandler(note)


@pytest.fixture(autouse=True)
def _no_late_qt_messages(_nothing_left_running: None) -> Iterator[None]:
    yield
    messages, _late_qt_messages[:] = list(_late_qt_messages), []
    assert not messages, "Qt complained outside the test: " + "; ".join(messages)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A library of ten made-up clips and the folder of its sounds, for the tests of the window."""
    from ui_support import make_library

    return make_library(tmp_path_factory.mktemp("made"))


@pytest.fixture
def desk(qtbot: Any, made: tuple[Path, Path], tmp_path: Path) -> Iterator[Any]:
    """A window on a copy of that library, all ten listed."""
    from ui_support import Desk, copy_library

    desk = Desk(qtbot, copy_library(made[0], tmp_path / "library"))
    desk.wait_listed(10)
    yield desk
    desk.close()
