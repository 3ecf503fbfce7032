"""The deck: the clip in hand with its transport, its waveform, and the playback behind them."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip, Hit, Region
from foley_desktop.ui import text
from foley_desktop.ui.playback import Playback
from foley_desktop.ui.transport import Transport
from foley_desktop.ui.wave_desk import WaveDesk
from foley_desktop.workers.runner import Runner


class Deck(QWidget):
    """Takes clips in hand, plays them, draws them."""

    similar_wanted = Signal(object, object)
    """Clip and Region (or None) to find similar sounds for."""
    playing_changed = Signal(str)
    """Id of the clip that sounds; empty for none."""

    def __init__(self, service: LibraryService, runner: Runner, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.playback = Playback(self)
        self.transport = Transport()
        self.waves = WaveDesk(service, runner)
        self.waveform = self.waves.waveform
        self.transport.audition.setChecked(service.settings.audition_on_select)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.transport)
        column.addWidget(self.waves, 1)
        self._connect()

    def _connect(self) -> None:
        transport, waveform, playback = self.transport, self.waveform, self.playback
        transport.play_pressed.connect(playback.toggle)
        transport.stop_pressed.connect(self.stop)
        transport.loop_toggled.connect(playback.set_loop)
        transport.similar_pressed.connect(self.find_similar)
        transport.gain_changed.connect(playback.set_gain_db)
        waveform.seeked.connect(playback.play_from)
        waveform.region_changed.connect(self._on_region)
        playback.moved.connect(self._on_moved)
        playback.state_changed.connect(self._on_state)
        playback.clip_changed.connect(lambda _: self._tell_playing())

    @property
    def clip(self) -> Clip | None:
        return self.waveform.clip

    @property
    def region(self) -> Region | None:
        return self.waveform.region

    @property
    def auditions(self) -> bool:
        """Whether selecting a sound plays it."""
        return self.transport.audition.isChecked()

    def take(self, clip: Clip, hit: Hit | None = None) -> None:
        """Takes a clip in hand; plays it when auditioning is on."""
        best, moment_s = None, text.moment_s(hit)
        if hit is not None and moment_s is not None and hit.end_s is not None:
            best = (moment_s, hit.end_s)
        new = self.clip is None or self.clip.id != clip.id
        if new:
            self.waves.show_clip(clip, best)
            self.transport.show_clip(clip)
        else:
            self.waveform.set_best(best)
        if self.auditions:
            self.playback.audition(clip, moment_s)
            if not new:
                self.playback.set_region(self.region)
        else:
            self.playback.take(clip, moment_s)
            if new and moment_s is not None:
                self._on_moved(moment_s)

    def update_clip(self, clip: Clip) -> None:
        """New facts about the clip in hand."""
        if self.clip is not None and self.clip.id == clip.id:
            self.waveform.clip = clip
            self.playback.clip = clip
            self.transport.name_clip(clip)

    def stop(self) -> None:
        self.playback.stop()
        self.waveform.set_position(None)
        self.transport.show_position(None)

    def find_similar(self) -> None:
        if self.clip is not None:
            self.similar_wanted.emit(self.clip, self.region)

    def select_moment(self) -> bool:
        """Makes the moment that fits the search the region; False where none is marked."""
        best = self.waveform.best
        if best is None:
            return False
        self.waveform.set_region(Region(*best))
        return True

    def _on_region(self, region: Region | None) -> None:
        self.playback.set_region(region)
        self.transport.show_region(region)

    def _on_moved(self, seconds: float) -> None:
        self.waveform.set_position(seconds)
        self.transport.show_position(seconds)

    def _on_state(self, state: str) -> None:
        self.transport.show_state(state)
        if state == "stopped":
            self.waveform.set_position(None)
            self.transport.show_position(None)
        self._tell_playing()

    def _tell_playing(self) -> None:
        clip = self.clip
        sounds = clip is not None and self.playback.state == "playing"
        self.playing_changed.emit(clip.id if clip is not None and sounds else "")
