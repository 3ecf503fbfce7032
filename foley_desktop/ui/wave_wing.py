"""The keys of the waveform, the columns that may be hidden, and the small waveforms in the table's rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from foley_desktop.ui.keys import CTRL, NONE, SHIFT, Key
from foley_desktop.ui.results_columns import ColumnMenu
from foley_desktop.ui.sketches import Sketches
from foley_desktop.ui.wave_desk import ZOOM_STEP

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow


class WaveWing(QObject):
    """Part of the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        view, waves = window.results.view, window.deck.waves
        self.sketches = Sketches(window.service, window.runner, view)
        waves.reading_changed.connect(self.sketches.wait)
        self.columns = ColumnMenu(view)
        wave, key = waves.waveform, Qt.Key
        closer, wider = partial(wave.zoom, ZOOM_STEP), partial(wave.zoom, 1 / ZOOM_STEP)
        window.keys.add(
            Key(key.Key_Plus, closer, repeats=True),
            Key(key.Key_Plus, closer, SHIFT, repeats=True),  # on keyboards where it shares a key with =
            Key(key.Key_Equal, closer, repeats=True),
            Key(key.Key_Minus, wider, repeats=True),
            Key(key.Key_Z, wave.fit),
            Key(key.Key_Z, wave.fit_region, SHIFT),
            Key(key.Key_G, waves.bar.spectrum.toggle),
        )
        for edge, modifiers in (("start", NONE), ("end", SHIFT)):
            window.keys.add(
                Key(key.Key_Left, partial(wave.nudge, edge, -1), CTRL | modifiers, repeats=True),
                Key(key.Key_Right, partial(wave.nudge, edge, 1), CTRL | modifiers, repeats=True),
            )

    def stop(self) -> None:
        """The window closes."""
        self.sketches.stop()
