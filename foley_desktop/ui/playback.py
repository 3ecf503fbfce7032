"""The player as the window sees it: one clip in hand, and signals for what is heard of it.

The player itself never blocks and knows no Qt; this object asks it, while something sounds, sixty
times a second where it is, and turns changes into signals. The player may come later than the window
(asking for devices takes a moment): what was to be played by then is played when it comes.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal

from foley_desktop.audio.player import Player
from foley_desktop.audio.treatment import Treatment
from foley_desktop.errors import FoleyError
from foley_desktop.models import Clip, Region

TICK_MS = 16


class Playback(QObject):
    """Plays the clip in hand, its region, or from a point of it."""

    state_changed = Signal(str)
    moved = Signal(float)
    failed = Signal(object)
    treatment_changed = Signal(object)
    """The Treatment that holds from now on."""
    clip_changed = Signal(object)
    """Another Clip, or none, is in hand."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._player: Player | None = None
        self._wish: float | None = None
        self._moment_s: float | None = None
        self._gain_db = 0.0
        self.clip: Clip | None = None
        self.region: Region | None = None
        self.loop = False
        self.treatment = Treatment()
        self.holds = False
        """Whether the treatment stays when another clip is taken in hand."""
        self.peak: float | None = None
        """The highest sample of the clip in hand, None until it is known."""
        self._skips = False
        self._state = "stopped"
        self._told_error: FoleyError | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)

    def take_player(self, player: Player) -> None:
        """From now on there is something to play on."""
        self._player = player
        player.set_gain_db(self._gain_db)
        player.set_treatment(self.treatment)
        player.set_skip_silence(self._skips)
        if self._wish is not None:
            self._play(self._wish)

    @property
    def player(self) -> Player | None:
        return self._player

    @property
    def state(self) -> str:
        return self._state

    @property
    def position_s(self) -> float:
        return self._player.position_s if self._player else 0.0

    def take(self, clip: Clip | None, moment_s: float | None = None) -> None:
        """Takes a clip in hand; what sounded of another one stops.

        Args:
            moment_s: Where to listen first: what is not playing begins there when it is toggled.
        """
        if self._is_other(clip):
            self.stop()
            self.region = None
        self._take(clip)
        self._moment_s = moment_s
        if clip is not None and self._player is not None:
            self._player.prepare()

    def audition(self, clip: Clip, moment_s: float | None = None) -> None:
        """Takes ``clip`` in hand and plays it, from the moment that fits if it has one."""
        self._take(clip)
        self.region = None
        self._moment_s = moment_s
        self._play(moment_s or 0.0)

    def _is_other(self, clip: Clip | None) -> bool:
        return clip is None or self.clip is None or clip.id != self.clip.id

    def _take(self, clip: Clip | None) -> None:
        other, self.clip = self._is_other(clip), clip
        if not other:
            return
        self.peak = None
        if not self.holds:
            # Before the new clip sounds, and not for the one that still does.
            self._change_treatment(Treatment(keep_pitch=self.treatment.keep_pitch), heard=False)
        self.clip_changed.emit(clip)

    def set_region(self, region: Region | None) -> None:
        """What is selected is what is played from now on."""
        self.region = region
        if region is not None and self._state == "playing" and self.loop:
            self.play_from_start()

    def play_from_start(self) -> None:
        self._play(self.region.start_s if self.region else 0.0)

    def play_from(self, seconds: float) -> None:
        self._play(seconds)

    def toggle(self) -> None:
        """Pauses what plays, goes on with what is paused, else plays from the start."""
        if self._state == "playing" and self._player:
            self._player.pause()
            self._enter("paused")
        elif self._state == "paused" and self._player:
            self._player.resume()
            self._enter("playing")
        elif self.region is None and self._moment_s is not None:
            self._play(self._moment_s)
        else:
            self.play_from_start()

    def stop(self) -> None:
        self._wish = None
        if self._player is not None and self._state != "stopped":
            self._player.stop()
        self._enter("stopped")

    def nudge(self, seconds: float) -> None:
        """Moves by some seconds within the clip, also while paused."""
        if self.clip is None or self._player is None or self._state == "stopped":
            return
        end = max(0.0, (self.clip.duration_s or 0.0) - 0.01)
        target = min(max(0.0, self._player.position_s + seconds), end)
        self._player.seek(target)
        self.moved.emit(target)

    def set_loop(self, loop: bool) -> None:
        """Loops the clip or its region, also what plays already."""
        self.loop = loop
        if self._player is not None:
            self._player.set_loop(loop)

    def set_treatment(self, treatment: Treatment) -> None:
        """What is done to the sound from now on, also to what plays already."""
        self._change_treatment(treatment, heard=True)

    def alter_treatment(self, **changes: object) -> None:
        """The same with some of its parts changed."""
        self.set_treatment(replace(self.treatment, **changes))  # type: ignore[arg-type]

    def _change_treatment(self, treatment: Treatment, *, heard: bool) -> None:
        if treatment == self.treatment:
            return
        self.treatment = treatment
        if heard and self._player is not None:
            self._player.set_treatment(treatment, self.peak)
        self.treatment_changed.emit(treatment)

    def set_peak(self, clip_id: str, peak: float) -> None:
        """The highest sample of a clip has been found out; it counts if that clip is still in hand."""
        if self.clip is not None and self.clip.id == clip_id:
            self.peak = peak
            if self._player is not None and self.treatment.normalise_db is not None:
                self._player.set_treatment(self.treatment, peak)

    def set_skip_silence(self, on: bool) -> None:
        """Whether silence is left out of what is heard."""
        self._skips = on
        if self._player is not None:
            self._player.set_skip_silence(on)

    def set_gain_db(self, gain_db: float) -> None:
        self._gain_db = gain_db
        if self._player is not None:
            self._player.set_gain_db(gain_db)

    def _play(self, start_s: float) -> None:
        if self.clip is None or self.clip.status != "ok":
            return
        if self._player is None:
            self._wish = start_s
            return
        self._wish = None
        region = self.region if self.region and self.region.start_s <= start_s < self.region.end_s else None
        least = region.start_s if region is not None else 0.0
        self._player.play(
            self.clip.path,
            start_s=least,
            end_s=region.end_s if region is not None else None,
            loop=self.loop,
            at_s=start_s if start_s > least else None,
            treatment=self.treatment,
            peak=self.peak,
            frames=self.clip.frames,
        )
        self._told_error = None
        self._enter("playing")
        if self.treatment.reverse and start_s <= least:
            start_s = region.end_s if region is not None else self.clip.duration_s or 0.0
        self.moved.emit(start_s)

    def _enter(self, state: str) -> None:
        if state == "playing":
            self._timer.start()
        else:
            self._timer.stop()
        if state != self._state:
            self._state = state
            self.state_changed.emit(state)

    def _tick(self) -> None:
        if self._player is None:
            return
        error = self._player.error
        if error is not None and error is not self._told_error:
            self._told_error = error
            self.failed.emit(error)
        state = self._player.state
        if state == "playing":
            self.moved.emit(self._player.position_s)
        else:
            self._enter(state)
