"""One window a library: a second start brings the first to the front, with its folders, and ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ui_support
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from ui_support import write_clip

from foley_desktop.errors import FoleyError
from foley_desktop.library.catalog import Catalog
from foley_desktop.settings import DataFolder
from foley_desktop.workers import instance as module
from foley_desktop.workers.instance import Instance, claim, hand_over


@pytest.fixture
def first(tmp_path: Path, qtbot: Any) -> Iterator[Instance]:
    claimed = claim(tmp_path / "library")
    assert claimed is not None
    yield claimed
    claimed.close()


def in_thread(call: Any) -> tuple[threading.Thread, list[Any]]:
    """What another process would do; the outcome is in the list when the thread has ended."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(call())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcome


def test_folders_come_through_whatever_their_names(first: Instance, tmp_path: Path, qtbot: Any) -> None:
    library = tmp_path / "library"
    assert claim(library) is None
    folders = ["/sounds/caf\udce9", "/a b/“x”\n", "/爆炸"]
    with qtbot.waitSignal(first.called, timeout=10_000) as caught:
        thread, outcome = in_thread(lambda: hand_over(library, folders))
    qtbot.waitUntil(lambda: not thread.is_alive(), timeout=10_000)
    thread.join()
    assert caught.args == [folders] and outcome == [None]
    with qtbot.waitSignal(first.called, timeout=10_000) as caught:
        thread, _ = in_thread(lambda: hand_over(library, []))
    qtbot.waitUntil(lambda: not thread.is_alive(), timeout=10_000)
    thread.join()
    assert caught.args == [[]], "without folders it just comes to the front"


def test_a_window_that_does_not_answer_is_told_of(tmp_path: Path, qtbot: Any) -> None:
    lock = module.FileLock(tmp_path / "window.lock", thread_local=False)
    with lock, pytest.raises(FoleyError, match="does not answer"):
        hand_over(tmp_path, [], within_s=0.3)


def test_a_start_while_the_first_window_closes_becomes_the_first(tmp_path: Path, qtbot: Any) -> None:
    closing = claim(tmp_path)
    assert closing is not None
    heard: list[list[str]] = []
    closing.called.connect(heard.append)
    closing.fall_silent()
    with pytest.raises(FoleyError, match="does not answer"):
        hand_over(tmp_path, ["/sounds"], within_s=0.3)  # it has not closed yet
    closing.close()
    following = hand_over(tmp_path, ["/sounds"])
    assert following is not None and not heard
    following.close()


def test_rubbish_on_the_socket_harms_nobody(first: Instance, tmp_path: Path, qtbot: Any) -> None:
    heard: list[list[str]] = []
    first.called.connect(heard.append)
    for rubbish in (b"\n", b"{}\n", b"[" * 100_000 + b"\n", b'{"folders": 5}\n', b'{"folders": [1, "/a"]}\n'):
        socket = QLocalSocket()
        socket.connectToServer(module._socket_name(tmp_path / "library"))
        assert socket.waitForConnected(3000)
        socket.write(rubbish)
        socket.flush()
        qtbot.waitUntil(socket.canReadLine, timeout=10_000)
        socket.disconnectFromServer()
    assert heard == [["/a"]]


def test_a_socket_left_behind_is_in_nobodys_way(tmp_path: Path, qtbot: Any) -> None:
    name = module._socket_name(tmp_path)
    server = QLocalServer()
    assert server.listen(name)
    stale = server.fullServerName()
    server.close()
    Path(stale).touch()
    claimed = claim(tmp_path)
    assert claimed is not None
    with qtbot.waitSignal(claimed.called, timeout=10_000):
        thread, _ = in_thread(lambda: hand_over(tmp_path, []))
    thread.join(10)
    claimed.close()


def test_a_second_start_hands_its_folders_over_and_a_killed_window_is_replaced(tmp_path: Path) -> None:
    library, sounds = tmp_path / "library", tmp_path / "sounds"
    write_clip(sounds / "dog bark.wav", 0.3)
    ui_support.use_hash_embedder(library)
    environment = os.environ | {
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
    }
    command = [sys.executable, "-m", "foley_desktop", "--library", str(library), "gui"]

    def start(*folders: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*command, *folders], env=environment, stderr=subprocess.PIPE)

    windows = [start()]
    try:
        wait(lambda: (library / "window.lock").exists())
        second = start(str(sounds))
        _, complaints = second.communicate(timeout=60)
        assert second.returncode == 0, complaints
        with_catalog = DataFolder(library).catalog
        wait(lambda: with_catalog.exists() and names(with_catalog) == ["dog bark.wav"])
        windows[0].send_signal(signal.SIGKILL)
        windows[0].wait(10)
        windows += [start(), start()]
        wait(lambda: any(window.poll() is not None for window in windows[1:]))
        ended = next(window for window in windows[1:] if window.poll() is not None)
        assert ended.returncode == 0, "one of two at once is the first, whichever"
        (left,) = (window for window in windows[1:] if window is not ended)
        assert left.poll() is None
        left.send_signal(signal.SIGTERM)
        _, complaints = left.communicate(timeout=60)
        assert left.returncode == 0 and b"Traceback" not in complaints
    finally:
        for window in windows:
            window.kill()
            window.wait(10)
            if window.stderr is not None:
                window.stderr.close()


def names(file: Path) -> list[str]:
    catalog = Catalog(file)
    try:
        return [clip.name for clip in catalog.list_clips()]
    finally:
        catalog.close()


def wait(condition: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)
