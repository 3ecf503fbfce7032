"""What the window's tests share: a real library of made-up clips, and a window on a copy of it."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

from foley_desktop.app import create_window
from foley_desktop.audio.player import SilentPlayer
from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library.service import LibraryService
from foley_desktop.settings import DataFolder
from foley_desktop.ui.main_window import MainWindow

WAIT_MS = 15_000
NO_SOUND = "No sound output was found. Install libportaudio2."

CLIPS = (
    ("animals/dog bark small.wav", 0.4, 44100, 1),
    ("animals/dog bark large.wav", 0.9, 48000, 2),
    ("animals/dog growl.wav", 1.3, 48000, 1),
    ("animals/cat meow.wav", 0.7, 22050, 1),
    ("doors/wooden door creak.wav", 2.5, 48000, 1),
    ("doors/wooden door slam.wav", 1.0, 48000, 2),
    ("doors/metal gate.wav", 3.2, 96000, 1),
    ("weather/rain on roof.wav", 6.0, 48000, 2),
    ("weather/thunder rumble.wav", 4.0, 48000, 1),
    ("weather/wind howling.wav", 5.0, 44100, 1),
)


def write_clip(path: Path, seconds: float, samplerate: int = 48000, channels: int = 1, seed: int = 0) -> Path:
    """A decaying noise burst that differs by ``seed``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = round(seconds * samplerate)
    rng = np.random.default_rng(seed)
    decay = np.exp(-np.arange(frames) / (0.3 * frames))[:, None]
    tone = np.sin(2 * np.pi * (150 + 90 * seed) * np.arange(frames) / samplerate)[:, None]
    samples = 0.4 * decay * (0.6 * tone + 0.4 * rng.uniform(-1, 1, (frames, channels)))
    soundfile.write(path, samples.astype(np.float32), samplerate, subtype="PCM_16")
    return path


def use_hash_embedder(library: Path) -> None:
    """Lets a library start with the embedder that needs no weights."""
    library.mkdir(parents=True, exist_ok=True)
    (library / "settings.json").write_text(json.dumps({"embedder": "hash"}), "utf-8")


def index(library: Path, folder: Path, models: InProcessModels | None = None) -> None:
    """Indexes a folder without a window."""
    service = LibraryService(DataFolder(library), models=models or InProcessModels())
    try:
        for _ in service.index([str(folder)]):
            pass
    finally:
        service.close()


def make_library(base: Path) -> tuple[Path, Path]:
    """A folder of sounds and an indexed library of them: ``(library, sounds)``."""
    sounds, library = base / "sounds", base / "library"
    for number, (name, seconds, samplerate, channels) in enumerate(CLIPS):
        write_clip(sounds / name, seconds, samplerate, channels, seed=number)
    use_hash_embedder(library)
    index(library, sounds)
    return library, sounds


class LateModels(InProcessModels):
    """Models that stay in the state ``loading`` until :meth:`finish`."""

    def __init__(self) -> None:
        super().__init__()
        self._finished = False

    def start(self) -> None:
        self.state = "ready" if self._finished else "loading"

    def finish(self) -> None:
        self._finished = True
        self.state = "ready"


class Desk:
    """A window under test with short words for what a user does."""

    def __init__(
        self, qtbot: Any, library: Path, models: InProcessModels | None = None, *, own_models: bool = False
    ) -> None:
        self.qtbot = qtbot
        self.library = library
        used = None if own_models else models or InProcessModels()
        window = create_window(library, models=used, make_player=lambda: SilentPlayer(NO_SOUND))
        assert isinstance(window, MainWindow)
        self.window = window
        qtbot.addWidget(window)
        window.resize(1300, 850)
        window.show()
        qtbot.waitExposed(window)
        self.wait(lambda: window.deck.playback.player is not None)
        self.wait(lambda: window.pages.currentIndex() > 0)

    @property
    def service(self) -> LibraryService:
        return self.window.service

    @property
    def box(self) -> Any:
        return self.window.search_bar.box

    @property
    def view(self) -> Any:
        return self.window.results.view

    @property
    def model(self) -> Any:
        return self.window.results.model

    @property
    def search(self) -> Any:
        return self.window.results.search

    def wait(self, condition: Callable[[], object], timeout_ms: int = WAIT_MS) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=timeout_ms)

    def find(self, name: str) -> Any:
        found = self.window.findChild(QWidget, name)
        assert found is not None, f"there is no widget called {name}"
        return found

    def wait_listed(self, count: int | None = None) -> None:
        """Until the answer to what is asked now is in the table."""
        self.wait(lambda: self.search.is_answered and not self.search._debounce.isActive())
        if count is not None:
            self.wait(lambda: self.model.rowCount() == count)

    def type(self, query: str) -> None:
        """Types into the search box and waits for the settled answer."""
        self.box.setFocus()
        self.box.clear()
        self.qtbot.keyClicks(self.box, query)
        self.wait(lambda: self.search.found is not None and self.search.found.request.text == query)
        self.wait(lambda: not self.search.found.request.typing or not query)

    def names(self) -> list[str]:
        return [row.clip.name for row in self.model.rows]

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Presses a key on whatever has the focus."""
        target = self.window.focusWidget() or self.window
        self.qtbot.keyClick(target, key, modifiers)

    def enter_results(self) -> None:
        self.box.setFocus()
        self.press(Qt.Key.Key_Down)
        self.wait(lambda: self.view.is_entered)

    def idle(self) -> None:
        """Until no job runs."""
        self.wait(lambda: not self.window.status.jobs.jobs, 60_000)

    def close(self) -> float:
        """Closes the window and gives the seconds it took."""
        started = time.monotonic()
        self.window.close()
        took = time.monotonic() - started
        assert self.window.ended_cleanly
        return took


def drag_mouse(widget: QWidget, *points: tuple[float, float], release: bool = True) -> None:
    """Presses at the first point, moves through the others, and releases at the last one."""

    def send(kind: QEvent.Type, x: float, y: float, button: Qt.MouseButton, held: Qt.MouseButton) -> None:
        at = QPointF(x, y)
        everywhere = widget.mapToGlobal(at)
        event = QMouseEvent(kind, at, everywhere, button, held, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(widget, event)

    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    send(QEvent.Type.MouseButtonPress, *points[0], left, left)
    for x, y in points[1:]:
        send(QEvent.Type.MouseMove, x, y, none, left)
    if release:
        send(QEvent.Type.MouseButtonRelease, *points[-1], left, none)


def copy_library(library: Path, target: Path) -> Path:
    """A library of one's own; the sounds stay where they are."""
    shutil.copytree(library, target)
    return target


def middle(view: Any, row: int, column: int) -> QPoint:
    """The middle of a cell in the coordinates of the table's viewport."""
    return view.visualRect(view.model().index(row, column)).center()


ODD_NAMES = (
    "100% rain.wav",
    "take #3.wav",
    "what?.wav",
    "line\nbreak.wav",
    "tab\tname.wav",
    "per%20cent.wav",
    "quote ' and \".wav",
    "plus+and;semi.wav",
    "Tür ö 爆炸 🎧.wav",
    b"caf\xe9.wav".decode("utf-8", "surrogateescape"),
)
"""Names that break careless URLs; the last one is not text at all."""

if sys.platform == "win32":
    ODD_NAMES = tuple(name for name in ODD_NAMES if not set(name) & set('\n\t?"'))
