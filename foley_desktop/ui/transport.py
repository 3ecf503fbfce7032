"""The bar above the waveform: what is in hand, play, stop, loop, audition, Find similar, volume.

Further tools and chips come from wings, which put them into ``tools`` and ``chips``.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSlider, QToolButton, QVBoxLayout, QWidget

from foley_desktop.models import Clip, Region
from foley_desktop.ui import buttons, icons, text, theme

QUIETEST_DB = -40
NAME_WIDTH = 120
_WORDED = Qt.ToolButtonStyle.ToolButtonTextBesideIcon


class Transport(QWidget):
    """Shows the state it is told and says which button was pressed; it plays nothing itself."""

    play_pressed = Signal()
    stop_pressed = Signal()
    loop_toggled = Signal(bool)
    audition_toggled = Signal(bool)
    similar_pressed = Signal()
    gain_changed = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(50)
        self._duration = 0.0
        self.play = self._make_play()
        self.stop = buttons.tool("stop", "Stop  (Esc)", self.stop_pressed.emit)
        self.loop = buttons.tool("loop", "Loop the clip or the selected region  (L)", checkable=True)
        self.loop.toggled.connect(self.loop_toggled)
        self.audition = buttons.tool(
            "audition", "Audition: play each sound as it is selected  (A)", checkable=True
        )
        self.audition.toggled.connect(self.audition_toggled)
        self.find_similar = buttons.tool(
            "similar",
            "Find sounds like this one, or like the selected region  (S)",
            self.similar_pressed.emit,
            label="Find similar",
        )
        self.find_similar.setObjectName("find_similar")
        self._name = buttons.ElidedLabel("title")
        self._name.setMinimumWidth(NAME_WIDTH)
        self._facts = buttons.ElidedLabel("small")
        self._time = buttons.words("", "dim")
        self._time.setFont(theme.digits_font(self._time.font()))
        self._volume = self._make_volume()
        self._volume_mark = buttons.words()
        self._lay_out()
        self.show_clip(None)

    def _make_play(self) -> QToolButton:
        button = buttons.tool("play", "Play or pause  (Space)", self.play_pressed.emit, size=20)
        button.setObjectName("play")
        button.setFixedSize(34, 34)
        button.setIcon(icons.icon("play", theme.colour("accent_text")))
        theme.mark(button, "round")
        return button

    def _make_volume(self) -> QSlider:
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(QUIETEST_DB, 6)
        slider.setValue(0)
        slider.setFixedWidth(88)
        slider.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        slider.setAccessibleName("Volume")
        slider.setToolTip("Listening volume: 0 dB. Files you drag out keep their own level.")
        slider.valueChanged.connect(self._on_volume)
        return slider

    def _lay_out(self) -> None:
        volume_mark = self._volume_mark
        volume_mark.setPixmap(icons.pixmap("volume", 16, theme.colour("dim"), self.devicePixelRatioF()))
        volume_mark.setFixedSize(QSize(16, 16))
        volume_mark.setToolTip("Listening volume")
        line = QHBoxLayout(self)
        line.setContentsMargins(10, 6, 12, 6)
        line.setSpacing(4)
        line.addWidget(self.play)
        line.addSpacing(4)
        for widget in (self.stop, self.loop, self.audition):
            line.addWidget(widget)
        self.tools = QHBoxLayout()
        self.tools.setSpacing(4)
        line.addLayout(self.tools)
        line.addSpacing(8)
        about = QVBoxLayout()
        about.setSpacing(0)
        about.addStretch(1)
        about.addWidget(self._name)
        about.addWidget(self._facts)
        about.addStretch(1)
        line.addLayout(about, 1)
        self.chips = QHBoxLayout()
        line.addLayout(self.chips)
        line.addSpacing(12)
        line.addWidget(self._time)
        line.addSpacing(12)
        line.addWidget(volume_mark)
        line.addWidget(self._volume)
        line.addSpacing(12)
        line.addWidget(self.find_similar)

    def minimumSizeHint(self) -> QSize:
        """The room that is left to take once all that can give way has done so.

        What is shown now does not count: else a wide bar would hold the window wide beside a new panel.
        """
        return QSize(self._room(words=False, volume=False), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_way()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._give_way()
        return done

    def _give_way(self) -> None:
        """What is least needed goes first when there is little room: the volume, then words on a button."""
        volume = self.width() >= self._room(words=True, volume=True)
        for widget in (self._volume, self._volume_mark):
            widget.setVisible(volume)
        worded = self.width() >= self._room(words=True, volume=False)
        style = _WORDED if worded else Qt.ToolButtonStyle.ToolButtonIconOnly
        if self.find_similar.toolButtonStyle() != style:
            self.find_similar.setToolButtonStyle(style)

    def _room(self, *, words: bool, volume: bool) -> int:
        """The least width of the bar with and without what can give way, in pixels."""
        line = self.layout()
        if line is None:
            return 0
        least = line.minimumSize().width()
        shown = not self._volume.isHidden()
        if volume != shown:
            room = self._volume.width() + self._volume_mark.width() + 2 * line.spacing()
            least += room if volume else -room
        similar = self.find_similar
        if words != (similar.toolButtonStyle() == _WORDED):
            room = similar.fontMetrics().horizontalAdvance(similar.text()) + line.spacing()
            least += room if words else -room
        return least

    @property
    def volume(self) -> int:
        """Listening volume in dB."""
        return self._volume.value()

    @volume.setter
    def volume(self, gain_db: int) -> None:
        self._volume.setValue(gain_db)

    # --- what is shown

    def show_clip(self, clip: Clip | None) -> None:
        self._duration = (clip.duration_s or 0.0) if clip else 0.0
        self.name_clip(clip)
        theme.mark(self._name, "title" if clip else "faint")
        self._name.style().polish(self._name)
        self._facts.setVisible(clip is not None)
        usable = clip is not None and clip.status == "ok"
        for button in (self.play, self.stop, self.find_similar):
            button.setEnabled(usable)
        self.show_position(None)

    def name_clip(self, clip: Clip | None) -> None:
        """Only the words about the clip, which may have another name than before."""
        self._name.set_words(text.file_name(clip) if clip else "Nothing selected")
        self._name.setToolTip(text.plain_tooltip(clip.path) if clip else "")
        self._facts.set_words(_facts(clip) if clip else "")

    def show_position(self, seconds: float | None) -> None:
        if self._duration <= 0:
            self._time.setText("")
            return
        self._time.setText(f"{text.clock(seconds or 0.0)} / {text.clock(self._duration)}")

    def show_region(self, region: Region | None) -> None:
        buttons.relabel(self.find_similar, "Similar to region" if region else "Find similar")

    def show_state(self, state: str) -> None:
        name = "pause" if state == "playing" else "play"
        self.play.setIcon(icons.icon(name, theme.colour("accent_text")))

    def _on_volume(self, value: int) -> None:
        quiet = value == QUIETEST_DB
        level = "muted" if quiet else f"{value:+d} dB" if value else "0 dB"
        self._volume.setToolTip(f"Listening volume: {level}. Files you drag out keep their own level.")
        self.gain_changed.emit(-120.0 if quiet else float(value))


def _facts(clip: Clip) -> str:
    parts = []
    if clip.samplerate:
        parts.append(f"{clip.samplerate / 1000:g} kHz")
    if clip.bit_depth:
        parts.append(f"{clip.bit_depth} bit")
    if clip.channels:
        parts.append({1: "mono", 2: "stereo"}.get(clip.channels, f"{clip.channels} channels"))
    if clip.format:
        parts.append(text.shown(clip.format))
    return " · ".join(parts)
