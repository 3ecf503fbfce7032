"""Joins what is done to the sound with the player, the keyboard and the settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from foley_desktop.audio.board import advice
from foley_desktop.audio.treatment import NORMALISED_DB, SEMITONES, Treatment, choices
from foley_desktop.errors import FoleyError
from foley_desktop.models import Clip
from foley_desktop.ui import treatment_words
from foley_desktop.ui.keys import CTRL, NONE, SHIFT, Key
from foley_desktop.ui.treatment_bar import TreatmentBar
from foley_desktop.workers import playback_jobs

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

_SETTING = "treatment"
_BRACKETS = (
    (Qt.Key.Key_BracketLeft, Qt.Key.Key_BraceLeft, -1.0),
    (Qt.Key.Key_BracketRight, Qt.Key.Key_BraceRight, 1.0),
)


class TreatmentWing(QObject):
    """Part of the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._playback = playback = window.deck.playback
        self._lost = False
        self.bar = bar = TreatmentBar()
        transport = window.deck.transport
        transport.tools.addWidget(bar)
        transport.chips.addWidget(bar.chip)
        panel = bar.panel
        bar.reverse_toggled.connect(lambda on: self._alter(reverse=on))
        bar.reset_pressed.connect(self.reset)
        panel.altered.connect(lambda parts: self._alter(**parts))
        panel.reset_pressed.connect(self.reset)
        panel.hold_toggled.connect(self._hold)
        panel.skip_toggled.connect(playback.set_skip_silence)
        playback.clip_changed.connect(self._on_clip)
        playback.treatment_changed.connect(self._on_treatment)
        playback.failed.connect(self._on_failed)
        playback.state_changed.connect(self._on_state)
        self._restore()
        self._on_clip(playback.clip)
        self._set_keys()

    def stop(self) -> None:
        """Keeps for the next time what is a habit; what was done to one sound is forgotten."""
        panel = self.bar.panel
        panel.hide()
        self._window.service.settings.extra[_SETTING] = {
            "hold": panel.hold.isChecked(),
            "skip_silence": panel.skip.isChecked(),
            "keep_pitch": self._playback.treatment.keep_pitch,
        }

    def _restore(self) -> None:
        kept = self._window.service.settings.extra.get(_SETTING)
        if isinstance(kept, dict):
            panel = self.bar.panel
            panel.hold.setChecked(kept.get("hold") is True)
            panel.skip.setChecked(kept.get("skip_silence") is True)
            self._alter(keep_pitch=kept.get("keep_pitch") is True)

    def _set_keys(self) -> None:
        keys, key = self._window.keys, Qt.Key
        for plain, shifted, way in _BRACKETS:
            keys.add(
                Key(plain, partial(self.step, way), NONE, repeats=True),
                Key(plain, partial(self.step, way * 0.1), CTRL, repeats=True),
                # With Shift it is a brace on most keyboards, and still a bracket on others.
                Key(shifted, partial(self.step, way * 12), SHIFT),
                Key(plain, partial(self.step, way * 12), SHIFT),
            )
        keys.add(
            Key(key.Key_R, self.bar.reverse.toggle),
            Key(key.Key_Backslash, self.reset),
            Key(key.Key_P, self.bar.panel.keep_pitch.toggle),
            Key(key.Key_N, self.bar.panel.normalise.toggle),
            Key(key.Key_V, self.bar.open_panel),
            Key(key.Key_C, self.next_channels),
        )

    # --- what is done

    def step(self, semitones: float) -> None:
        """Changes the speed by so much, as far as it goes."""
        value = round(self._playback.treatment.semitones + semitones, 1)
        self._alter(semitones=max(-SEMITONES, min(SEMITONES, value)))

    def next_channels(self) -> None:
        """The next choice of channels, and after the last one all of them."""
        clip = self._playback.clip
        offered = choices((clip.channels or 1) if clip else 1)
        now = self._playback.treatment.channels
        at = offered.index(now) if now in offered else -1
        self._alter(channels=offered[(at + 1) % len(offered)])

    def reset(self) -> None:
        """The sound as it is; how speed is changed is a habit and stays."""
        self._playback.set_treatment(Treatment(keep_pitch=self._playback.treatment.keep_pitch))

    def _alter(self, **parts: object) -> None:
        if self._playback.treatment.normalise_db is None and parts.get("normalise_db") == NORMALISED_DB:
            self._find_peak()
        self._playback.alter_treatment(**parts)

    def _hold(self, on: bool) -> None:
        self._playback.holds = on

    # --- what is shown

    def _on_clip(self, clip: Clip | None) -> None:
        self.bar.show_clip(clip)
        self._on_treatment(self._playback.treatment)
        if self._playback.treatment.normalise_db is not None:
            self._find_peak()

    def _on_treatment(self, treatment: Treatment) -> None:
        self.bar.show_treatment(treatment)
        self._window.deck.waveform.set_backwards(treatment.reverse)

    # --- a device that is gone

    def _on_failed(self, error: FoleyError) -> None:
        """What is paused by itself says so until it goes on; what else cannot be heard says so once."""
        player = self._playback.player
        if player is not None and player.state == "paused":
            self._lost = True
            self._window.sound_banner.say(advice(error), "Play", self._playback.toggle)
        else:
            self._window.messages.fail(error)

    def _on_state(self, state: str) -> None:
        player = self._playback.player
        if self._lost and state != "paused" and player is not None:
            self._lost = False
            self._window.sound_banner.say(player.unavailable_reason)

    def _find_peak(self) -> None:
        clip = self._playback.clip
        if clip is None or clip.status != "ok" or self._playback.peak is not None:
            return
        window = self._window
        window.runner.reads.submit(
            partial(playback_jobs.clip_peak, window.service, clip),
            partial(self._playback.set_peak, clip.id),
            lambda _: None,  # a clip that cannot be read says so when it is played
            key="peak",
            what="Reading the level",
        )

    def said(self) -> str:
        """What is done to the sound, in words."""
        clip = self._playback.clip
        return treatment_words.summary(self._playback.treatment, clip.channels if clip else None)
