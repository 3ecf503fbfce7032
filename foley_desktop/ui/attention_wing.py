"""Tells the library which sounds are on the screen, so that an index run listens to them first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from foley_desktop.ui.results_model import ROW_ROLE

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

REST_MS = 150
"""Scrolling rests this long before it counts as looking."""


class AttentionWing(QObject):
    """Part of the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REST_MS)
        self._timer.timeout.connect(self._look)
        view = window.results.view
        view.verticalScrollBar().valueChanged.connect(lambda _: self._timer.start())
        window.results.search.listed.connect(lambda _: self._timer.start())

    def stop(self) -> None:
        """The window closes."""
        self._timer.stop()

    def _look(self) -> None:
        """Rows of the table from its top to its bottom; the selected one leads."""
        view = self._window.results.view
        model = view.model()
        first = view.rowAt(0)
        if first < 0:
            self._window.service.attention.look_at(())
            return
        last = view.rowAt(view.viewport().height() - 1)
        end = last + 1 if last >= 0 else model.rowCount()
        indexes = (view.currentIndex(), *(model.index(row, 0) for row in range(first, end)))
        rows = [index.data(ROW_ROLE) for index in indexes if index.isValid()]
        self._window.service.attention.look_at([row.clip.id for row in rows if row is not None])
