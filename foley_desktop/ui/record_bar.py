"""Searching by a sound made into the microphone: a strip with a level meter while it is recorded."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from foley_desktop.audio.recorder import Recorder, Recording
from foley_desktop.errors import FoleyError, RecordingError
from foley_desktop.library.examples import Example
from foley_desktop.ui import buttons, icons, text, theme
from foley_desktop.workers.patterns import Pattern
from foley_desktop.workers.runner import Runner

TICK_MS = 50
FLOOR_DBFS = -60.0
"""The left end of the meter; a recording that stays below it holds nothing to search by."""
HOT_DBFS = -3.0


class LevelMeter(QWidget):
    """A level in dBFS as a bar, with a mark where it was highest."""

    def __init__(self) -> None:
        super().__init__()
        self.level_dbfs = FLOOR_DBFS
        self.highest_dbfs = FLOOR_DBFS
        self.setFixedSize(QSize(220, 10))

    def show_level(self, dbfs: float) -> None:
        self.level_dbfs = dbfs
        self.highest_dbfs = max(dbfs, self.highest_dbfs - 0.4)
        self.update()

    def clear(self) -> None:
        self.level_dbfs = self.highest_dbfs = FLOOR_DBFS
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("line"))

        def x(dbfs: float) -> float:
            return self.width() * min(1.0, max(0.0, 1.0 - dbfs / FLOOR_DBFS))

        shade = "red" if self.level_dbfs > HOT_DBFS else "accent"
        painter.fillRect(QRectF(0, 0, x(self.level_dbfs), self.height()), theme.colour(shade))
        at = x(self.highest_dbfs)
        if at > 2:
            painter.fillRect(QRectF(at - 2, 0, 2, self.height()), theme.colour("text"))
        painter.end()


class RecordBar(QFrame):
    """Records one take at a time. The device is opened and closed on a worker."""

    recorded = Signal(object)
    """A Pattern to search by."""
    active_changed = Signal(bool)
    failed = Signal(object)

    def __init__(
        self, runner: Runner, recorder: Recorder | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("record_bar")
        theme.mark(self, "notice")
        self.recorder = recorder or Recorder()
        self._runner = runner
        self._ended = False
        self.state = "off"  # "opening", "recording", "closing"
        self.meter = LevelMeter()
        self._words = buttons.words("")
        self._words.setFont(theme.digits_font(self._words.font()))
        self.use = buttons.push(
            "Find similar", "Stop, and search by what was recorded", self.finish, "primary"
        )
        self.use.setObjectName("record_use")
        self.cancel_button = buttons.push("Cancel", "Throw the recording away", self.cancel)
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        mark = buttons.words()
        mark.setPixmap(icons.pixmap("microphone", 16, theme.colour("red"), self.devicePixelRatioF()))
        line = QHBoxLayout(self)
        line.setContentsMargins(14, 5, 12, 5)
        line.setSpacing(10)
        line.addWidget(mark)
        line.addWidget(self.meter)
        line.addWidget(self._words, 1)
        line.addWidget(self.use)
        line.addWidget(self.cancel_button)
        self.hide()

    def toggle(self) -> None:
        """Begins a recording, or ends it and searches by it."""
        if self.state == "off":
            self.begin()
        elif self.state == "recording":
            self.finish()

    def begin(self) -> None:
        """Opens the microphone."""
        if self.state == "off":
            self._enter("opening")
            self._words.setText("Opening the microphone …")
            self._submit(self._open, lambda _: self._on_open())

    def _open(self) -> None:
        """On a worker; the window may have closed meanwhile."""
        self.recorder.start()
        if self._ended:
            self.recorder.cancel()

    def finish(self) -> None:
        """Ends the recording and gives it out."""
        if self.state == "recording":
            self._enter("closing")
            self._submit(self.recorder.stop, self._on_recorded)

    def cancel(self) -> None:
        """Throws the recording away."""
        if self.state == "recording":
            self._enter("closing")
            self._submit(self.recorder.cancel, lambda _: self._enter("off"))

    def stop(self) -> None:
        """The window closes."""
        self._ended = True
        self._timer.stop()
        self.recorder.cancel()

    def _submit(self, work: Callable[[], object], done: Callable[[Recording], None]) -> None:
        self._runner.reads.submit(work, done, self._fail, what="The recording")

    def _enter(self, state: str) -> None:
        self.state = state
        self.setVisible(state != "off")
        self.use.setEnabled(state == "recording")
        self.cancel_button.setEnabled(state == "recording")
        if state == "recording":
            self._timer.start()
        else:
            self._timer.stop()
            self.meter.clear()
        self.active_changed.emit(state != "off")

    def _on_open(self) -> None:
        self._enter("recording")
        self._tick()

    def _on_recorded(self, recording: Recording) -> None:
        self._enter("off")
        if recording.peak_dbfs < FLOOR_DBFS:
            self._fail(RecordingError("Nothing was heard.", hint="Check the input device and its level."))
            return
        name = f"recording, {text.duration(recording.duration_s)}"
        self.recorded.emit(Pattern(name, Example(samples=recording.samples, samplerate=recording.samplerate)))

    def _fail(self, error: FoleyError) -> None:
        self._enter("off")
        self.failed.emit(error)

    def _tick(self) -> None:
        recorder = self.recorder
        self.meter.show_level(recorder.level_dbfs)
        longest = text.duration(recorder.longest_s)
        self._words.setText(f"Make the sound you look for:  {text.duration(recorder.elapsed_s)} of {longest}")
        if not recorder.recording:
            self.finish()
