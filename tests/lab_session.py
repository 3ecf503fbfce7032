"""A program for the scripted lab session: the real window on a library, saying how things stand when asked.

It takes no orders but "state": whatever is done is done by real keys and a real pointer.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QWidget
from ui_support import NO_SOUND

from foley_desktop.app import create_window
from foley_desktop.audio.player import SilentPlayer
from foley_desktop.ui.lab_means import CELL_ROLE
from foley_desktop.ui.main_window import MainWindow

NAMES = (
    "search_box", "results", "lab_set", "lab_set_menu", "lab_grade", "lab_measure", "lab_baseline",
    "lab_save_baseline", "lab_filter", "lab_table", "grading_candidates",
)  # fmt: skip


def middle(widget: QWidget) -> list[int]:
    at = widget.mapToGlobal(widget.rect().center())
    return [at.x(), at.y()]


def state(window: MainWindow) -> dict[str, Any]:
    """Everything that a person at the screen could read."""
    lab, grading = window.lab, window.lab.grading
    panel, model = lab.panel, grading.model
    queries, means = panel.queries, panel.means.means
    found = {name: window.findChild(QWidget, name) for name in NAMES}
    rows = [model.clip_at(row) for row in range(model.rowCount())]
    order = queries.order
    return {
        "models": window.status._models.text(),
        "places": {name: middle(widget) for name, widget in found.items() if widget and widget.isVisible()},
        "dialog": QApplication.activeModalWidget() is not None,
        "popup": QApplication.activePopupWidget() is not None,
        "set": panel.sets.choice.currentText(),
        "facts": panel.sets.facts.full_text(),
        "banner": grading.banner.isVisible(),
        "waits": grading._waits,
        "query": grading.banner.query.full_text(),
        "where": grading.banner.where.full_text(),
        "counts": grading.banner.counts.text(),
        "candidates": [clip.rel_path for clip in rows if clip],
        "grades": [model.grade_at(row) for row in range(model.rowCount())],
        "row": grading.view.current_row(),
        "heard": window.deck.clip.rel_path if window.deck.clip else "",
        "measuring": panel.setup.line.running,
        "means": [
            [means.index(row, column).data(CELL_ROLE).value for column in range(means.columnCount())]
            for row in range(means.rowCount())
        ],
        "means_heads": [means.headerData(n, Qt.Orientation.Horizontal) for n in range(means.columnCount())],
        "heads": [column.title for column in queries.model.columns],
        "table": [
            [order.index(row, column).data() for column in range(order.columnCount())]
            for row in range(order.rowCount())
        ],
        "gate": panel.gate.full_text(),
        "change": panel.verdict.change.text(),
        "baseline": panel.baselines.choice.currentText(),
        "baselines": [saved.name for saved in lab.desk.shelf.baselines],
        "ratings": [row.clip.rating for row in window.results.model.rows],
        "said": [toast.label.text() for toast in window.messages.toasts],
    }


class Asked(QObject):
    """Lines of stdin as a signal."""

    line = Signal(str)

    def listen(self) -> None:
        for line in sys.stdin:
            self.line.emit(line.strip())


def main(library: str) -> int:
    application = QApplication([])
    window = create_window(Path(library), make_player=lambda: SilentPlayer(NO_SOUND))
    assert isinstance(window, MainWindow)
    window.setGeometry(0, 0, 1400, 900)
    window.show()
    window.search_bar.evaluation_button.setChecked(True)
    window.evaluation.show_lab(window.lab.panel)
    asked = Asked()
    asked.line.connect(lambda _: print(json.dumps(state(window)), flush=True))
    threading.Thread(target=asked.listen, daemon=True).start()
    window.closed.connect(application.quit)
    signal.signal(signal.SIGTERM, lambda *_: window.close())
    ticking = QTimer()  # Python sees a signal only when it gets to run
    ticking.timeout.connect(lambda: None)
    ticking.start(100)
    print(int(window.winId()), flush=True)
    code = application.exec()
    return code if window.ended_cleanly else 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
