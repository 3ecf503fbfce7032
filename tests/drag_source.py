"""A program for the drag tests: the real window on a library, saying where to take hold of things.

With a second argument, ``backwards``, sounds are heard back to front and leave as they are heard.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from ui_support import NO_SOUND

from foley_desktop.app import create_window
from foley_desktop.audio.player import SilentPlayer
from foley_desktop.audio.treatment import Treatment
from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.models import Region
from foley_desktop.ui.main_window import MainWindow


def place(widget: QWidget, point: QPoint) -> list[int]:
    at = widget.mapToGlobal(point)
    return [at.x(), at.y()]


def main(library: str, manner: str = "") -> int:
    application = QApplication([])
    window = create_window(
        Path(library), models=InProcessModels(), make_player=lambda: SilentPlayer(NO_SOUND)
    )
    assert isinstance(window, MainWindow)
    window.setGeometry(0, 0, 900, 800)
    window.show()
    view, waveform = window.results.view, window.deck.waveform
    if manner == "backwards":
        window.wings["transfer"].set_manner(drag_as_heard=True)  # type: ignore[attr-defined]

    def tell() -> None:
        if window.results.model.rowCount() < 10:
            return
        if window.deck.clip is None:
            view.enter()
            return
        if waveform._data is None or window.handover.manner.as_heard != (manner == "backwards"):
            return
        timer.stop()
        if manner == "backwards":
            window.deck.playback.set_treatment(Treatment(reverse=True))
        waveform.set_region(Region(0.25 * waveform.duration_s, 0.75 * waveform.duration_s))
        rows = [view.visualRect(view.model().index(n, 1)).center() for n in range(4)]
        document = {
            "rows": [place(view.viewport(), point) for point in rows],
            "paths": [window.results.model.clip_at(n).path for n in range(4)],
            "region": place(waveform, QPoint(waveform.width() // 2, waveform.height() // 2)),
            "clip": window.deck.clip.path,
            "stretch": [waveform.region.start_s, waveform.region.end_s],
        }
        print(json.dumps(document), flush=True)

    timer = QTimer()
    timer.timeout.connect(tell)
    timer.start(100)
    return application.exec()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
