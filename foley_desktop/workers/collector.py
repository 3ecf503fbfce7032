"""What Python's threads share, arranged so that workers do not stop the window: collection and turns.

The interpreter collects garbage in whichever thread happens to allocate the next object. A worker would
then take apart closed dialogs and their like, and Qt objects taken apart outside their thread bring the
process down. So while there are workers, collection is off, and the GUI thread collects by a timer.

Only one thread at a time runs Python, and one that wants its turn waits for the switch interval first.
Painting a list takes dozens of turns: at the usual 5 ms each, a worker that reads a large library would
hold the window up for a tenth of a second.
"""

from __future__ import annotations

import gc
import sys

from PySide6.QtCore import QObject, QTimer

EVERY_MS = 100
MANY = 50_000
"""So many living objects make a full collection noticeable: they are passed over from then on."""
BURST = 50_000
"""So many new objects at once are data that a worker reads, not circles: they are passed over as well."""
SWITCH_S = 0.0005
"""How long a thread that wants to run waits before the one that runs is asked to let go."""


class Collector(QObject):
    """Collects in the thread it was made in, from now to :meth:`end`. There may be several at once."""

    _users = 0
    _was_enabled = True
    _switch_s = SWITCH_S

    def __init__(self) -> None:
        super().__init__()
        if Collector._users == 0:
            Collector._was_enabled = gc.isenabled()
            gc.disable()
            # Modules and their like stay to the end: looking them through would stop the window for long.
            gc.freeze()
            Collector._switch_s = sys.getswitchinterval()
            sys.setswitchinterval(SWITCH_S)
        Collector._users += 1
        self._ended = False
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.collect_some)
        self._timer.start()

    def collect_some(self) -> None:
        """What the interpreter would do by itself: the young often, the old seldom."""
        counts, limits = gc.get_count(), gc.get_threshold()
        if counts[0] <= limits[0]:
            return
        if counts[0] > BURST:
            gc.freeze()
        elif counts[1] <= limits[1]:
            gc.collect(0)
        elif counts[2] <= limits[2]:
            gc.collect(1)
        else:
            gc.collect()
            if len(gc.get_objects()) > MANY:
                # What lives by now are modules and the window itself, which stay to the end.
                gc.freeze()

    def end(self) -> None:
        """Collects once more, and hands collection back to the interpreter. Safe to call twice."""
        if self._ended:
            return
        self._ended = True
        self._timer.stop()
        gc.collect()
        Collector._users -= 1
        if Collector._users == 0:
            sys.setswitchinterval(Collector._switch_s)
            if Collector._was_enabled:
                gc.enable()
