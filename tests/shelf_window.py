"""A program for the drag tests: the real window on a library, saying where its rows and collections stand."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from ui_support import NO_SOUND

from foley_desktop.app import create_window
from foley_desktop.audio.player import SilentPlayer
from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.ui.main_window import MainWindow
from foley_desktop.ui.sidebar_tree import KIND, walk


def place(widget: QWidget, point: QPoint) -> list[int]:
    at = widget.mapToGlobal(point)
    return [at.x(), at.y()]


def main(library: str) -> int:
    application = QApplication([])
    window = create_window(
        Path(library), models=InProcessModels(), make_player=lambda: SilentPlayer(NO_SOUND)
    )
    assert isinstance(window, MainWindow)
    window.setGeometry(0, 0, 1200, 800)
    window.show()
    view, tree = window.results.view, window.sidebar.tree

    def tell() -> None:
        overview = window.sidebar.overview
        if window.results.model.rowCount() < 10 or overview is None or not overview.collections:
            return
        timer.stop()
        rows = {item.data(0, KIND): item for item in walk(tree.invisibleRootItem())}
        document = {
            "ids": [window.results.model.clip_at(n).id for n in range(4)],
            "paths": [window.results.model.clip_at(n).path for n in range(4)],
            "rows": [
                place(view.viewport(), view.visualRect(view.model().index(n, 1)).center()) for n in range(4)
            ],
            "collection": place(tree.viewport(), tree.visualItemRect(rows["collection"]).center()),
            "folder": place(tree.viewport(), tree.visualItemRect(rows["root"]).center()),
        }
        print(json.dumps(document), flush=True)

    timer = QTimer()
    timer.timeout.connect(tell)
    timer.start(300)
    return application.exec()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
