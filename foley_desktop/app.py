"""The composition root of the window: builds everything once and passes it on by constructor."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow

from foley_desktop import __version__
from foley_desktop.audio.player import Player, create_player
from foley_desktop.errors import FoleyError
from foley_desktop.index.embedders.host import Models
from foley_desktop.library.service import LibraryService
from foley_desktop.settings import DataFolder
from foley_desktop.ui import icons, theme
from foley_desktop.ui.main_window import MainWindow
from foley_desktop.workers.instance import claim, hand_over
from foley_desktop.workers.job import as_foley_error
from foley_desktop.workers.runner import Runner

log = logging.getLogger(__name__)


def create_window(
    library: Path, *, models: Models | None = None, make_player: Callable[[], Player] | None = None
) -> QMainWindow:
    """The main window on the library in ``library``, not shown yet.

    Closing it ends its threads and processes within 3 s. A QApplication is made if there is none.

    Args:
        models: The embedders, instead of a process of their own.
        make_player: Makes the player, on a worker thread, instead of asking for a sound card.

    Raises:
        FoleyError: when the library cannot be opened.
    """
    application = _application()
    theme.apply(application)
    application.setWindowIcon(icons.app_icon())
    service = LibraryService(DataFolder(Path(os.path.abspath(library))), models=models)
    settings = service.settings
    player = make_player or partial(create_player, settings.output_device, settings.output_latency)
    return MainWindow(service, Runner(), player)


def run_gui(library: Path | None, folders: list[str]) -> int:
    """Opens the window, indexes ``folders`` in the background, and returns the exit code.

    Where a window is open on the library already, it comes to the front and takes the folders instead.
    """
    application = _application()
    folder = Path(os.path.abspath(library or DataFolder.default().path))
    wanted = [os.path.abspath(path) for path in folders]
    try:
        instance = claim(folder) or hand_over(folder, wanted)
        if instance is None:
            return 0
        window = create_window(folder)
    except FoleyError as error:
        print(f"foley-desktop: {error.sentence} {error.hint}".rstrip(), file=sys.stderr)
        return 1
    assert isinstance(window, MainWindow)
    instance.called.connect(partial(_come_forward, window))
    window.closing.connect(instance.fall_silent)
    sys.excepthook = partial(_show_unexpected, window)
    ticking = _let_signals_in(window)
    window.closed.connect(application.quit)
    application.aboutToQuit.connect(window.shut_down)
    window.show()
    if wanted:
        window.add_folders(wanted)
    code = application.exec()
    ticking.stop()
    instance.close()
    window.shut_down()
    sys.excepthook = sys.__excepthook__
    if not window.ended_cleanly:
        # A thread hangs in a call that cannot be interrupted; nothing it could still do is wanted.
        log.info("a worker did not end in time")
        logging.shutdown()
        os._exit(code)
    return code


def _application() -> QApplication:
    found = QApplication.instance()
    if isinstance(found, QApplication):
        return found
    application = QApplication(sys.argv[:1])
    application.setApplicationName("foley-desktop")
    application.setApplicationDisplayName("Foley Desktop")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("foley-desktop")
    return application


def _come_forward(window: MainWindow, folders: list[str]) -> None:
    """A second start wants this library: its window shows itself."""
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()
    if folders:
        window.add_folders(folders)


def _let_signals_in(window: MainWindow) -> QTimer:
    """Ctrl+C and a polite kill close the window; Python sees signals only when it gets to run."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: window.close())
    timer = QTimer()
    timer.timeout.connect(lambda: None)
    timer.start(250)
    return timer


def _show_unexpected(
    window: MainWindow, kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """What nobody caught takes the same road as every other error."""
    log.error("unexpected", exc_info=(kind, error, trace))
    if issubclass(kind, KeyboardInterrupt):
        window.close()
    else:
        window.messages.fail(as_foley_error(error, "The last step"))
