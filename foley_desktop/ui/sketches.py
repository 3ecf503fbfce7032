"""Tiny waveforms for the rows of the table, made only for rows that are seen.

The delegate asks for the picture of a clip while it paints and gets it or nothing. What was missing is read
on a lane of its own, what the cache has first and short clips before long ones; what has scrolled away before
its turn is never read, and a clip that is being read is given up when its row is gone.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import partial

import numpy as np
from PySide6.QtCore import QObject, QRect, QTimer
from PySide6.QtGui import QImage

from foley_desktop.audio.peaks import Level
from foley_desktop.errors import FoleyError
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip
from foley_desktop.ui import theme
from foley_desktop.ui.results_delegate import ResultsDelegate
from foley_desktop.ui.results_model import BY_NAME, ResultsModel
from foley_desktop.ui.results_view import ResultsView
from foley_desktop.ui.waveform_image import WaveMasks
from foley_desktop.workers.runner import Runner

KEPT = 4000
"""Outlines that are kept in memory, some kilobytes each."""
PICTURES_KEPT = 400
GATHER_MS = 25
"""Rows that come into sight together are asked for together."""
_MARGIN = 3


@dataclass(slots=True, eq=False)
class _Reading:
    """What the lane is at. ``over`` is asked there: no Qt."""

    clip: Clip
    runner: Runner
    over: bool = False

    def is_over(self) -> bool:
        return self.over or self.runner.is_ending


class Sketches(QObject):
    """Made for one view, whose delegate it serves."""

    def __init__(self, service: LibraryService, runner: Runner, view: ResultsView) -> None:
        super().__init__(view)
        self._service, self._runner, self._view = service, runner, view
        model = view.model()
        assert isinstance(model, ResultsModel)
        self._model = model
        self._outlines: OrderedDict[str, np.ndarray | None] = OrderedDict()
        self._images: OrderedDict[tuple[str, int, int, float, bool], QImage] = OrderedDict()
        self._wanted: dict[str, Clip] = {}
        self._reading: _Reading | None = None
        self._waits = False
        self._gather = QTimer(self)
        self._gather.setSingleShot(True)
        self._gather.setInterval(GATHER_MS)
        self._gather.timeout.connect(self._next)
        view.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        model.modelReset.connect(self._on_scrolled)
        delegate = view.itemDelegate()
        assert isinstance(delegate, ResultsDelegate)
        delegate.sketches = self

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being read or waited for."""
        return self._reading is None and not self._wanted

    def stop(self) -> None:
        """Nothing more is read."""
        self._gather.stop()
        self._wanted.clear()
        if self._reading is not None:
            self._reading.over = True

    def wait(self, waits: bool) -> None:
        """Steps back while a larger waveform is being read, which may be that of a row too."""
        self._waits = waits
        if waits and self._reading is not None:
            self._reading.over = True
        elif not waits:
            self._gather.start()

    def image(self, clip: Clip, cell: QRect, ratio: float, selected: bool) -> QImage | None:
        """The picture for a cell; where it is missing it is made, and the cell is painted again."""
        key = clip.audio_hash or clip.id
        if not key or clip.status != "ok":
            return None
        if key not in self._outlines:
            self._wanted[key] = clip
            if not self._gather.isActive() and self._reading is None:
                self._gather.start()
            return None
        self._outlines.move_to_end(key)
        bins = self._outlines[key]
        if bins is None:
            return None
        width, height = round(cell.width() * ratio), round((cell.height() - 2 * _MARGIN) * ratio)
        name = (key, width, height, ratio, selected)
        if name not in self._images:
            self._images[name] = sketch(bins, width, height, ratio, selected)
            _forget_oldest(self._images, PICTURES_KEPT)
        return self._images[name]

    # --- reading what is seen

    def _seen(self) -> set[str]:
        """Keys of the clips in the rows that are seen now."""
        view = self._view
        if not view.isVisible() or view.isColumnHidden(BY_NAME["wave"]):
            return set()
        top, bottom = view.rowAt(0), view.rowAt(view.viewport().height() - 1)
        last = self._model.rowCount() - 1 if bottom < 0 else bottom
        clips = (self._model.clip_at(row) for row in range(max(0, top), last + 1))
        return {clip.audio_hash or clip.id for clip in clips if clip is not None}

    def _on_scrolled(self) -> None:
        reading = self._reading
        if reading is not None and (reading.clip.audio_hash or reading.clip.id) not in self._seen():
            reading.over = True

    def _next(self) -> None:
        """Has the next outline read, of what is still seen."""
        if self._reading is not None or self._waits:
            return
        seen = self._seen()
        self._wanted = {key: clip for key, clip in self._wanted.items() if key in seen}
        if not self._wanted:
            return
        clips = sorted(self._wanted.values(), key=lambda clip: clip.duration_s or 0.0)
        self._reading = reading = _Reading(clips[0], self._runner)
        work = partial(_read_first, self._service, clips, reading)
        self._runner.sketches.submit(work, self._done, self._failed, what="A small waveform")

    def _done(self, found: dict[str, np.ndarray | None]) -> None:
        self._reading = None
        for key, bins in found.items():
            self._outlines[key] = bins
            self._wanted.pop(key, None)
        _forget_oldest(self._outlines, KEPT)
        self._repaint()
        self._next()

    def _failed(self, _: FoleyError) -> None:
        """What cannot be read has no picture, and is not asked for again; what was given up may be."""
        reading, self._reading = self._reading, None
        if reading is not None and not reading.over:
            key = reading.clip.audio_hash or reading.clip.id
            self._outlines[key] = None
            self._wanted.pop(key, None)
        self._next()

    def _repaint(self) -> None:
        column = BY_NAME["wave"]
        left, width = self._view.columnViewportPosition(column), self._view.columnWidth(column)
        self._view.viewport().update(left, 0, width, self._view.viewport().height())


def _read_first(service: LibraryService, clips: list[Clip], reading: _Reading) -> dict[str, np.ndarray]:
    """Outlines of all that the cache has; where it has none, of the first clip. On a worker."""
    pictures, found = service.pictures, {}
    for clip in clips:
        if reading.is_over():
            break
        if pictures.has_outline(clip):
            found[clip.audio_hash or clip.id] = _one_line(pictures.outline(clip))
    if not found:
        clip = reading.clip
        found[clip.audio_hash or clip.id] = _one_line(pictures.outline(clip, cancelled=reading.is_over))
    return found


def _one_line(level: Level) -> np.ndarray:
    """The envelope of all channels together, float32 ``(3, n)``."""
    bins = level.bins
    return np.stack([bins[0].min(axis=0), bins[1].max(axis=0), bins[2].max(axis=0)])


def sketch(bins: np.ndarray, width: int, height: int, ratio: float, selected: bool) -> QImage:
    """A picture ``width`` by ``height`` device pixels of minimum, maximum and RMS, float32 ``(3, n)``."""
    count = bins.shape[1]
    width, height = max(1, width), max(2, height)
    view = np.zeros((1, width, 3), np.float32)
    if count:
        edges = np.arange(width + 1) * (count / width)
        first = np.floor(edges[:-1]).astype(np.int64).clip(0, count - 1)
        last = np.maximum(np.ceil(edges[1:]).astype(np.int64).clip(1, count), first + 1)
        padded = np.concatenate([bins, np.zeros((3, 1), np.float32)], axis=1)
        pairs = np.stack([first, last], axis=1).ravel()
        view[0, :, 0] = np.minimum.reduceat(padded[0], pairs)[::2]
        view[0, :, 1] = np.maximum.reduceat(padded[1], pairs)[::2]
        view[0, :, 2] = np.maximum.reduceat(padded[2], pairs)[::2]
    core = theme.colour("text" if selected else "wave_core")
    image = WaveMasks(view, height).coloured(theme.colour("wave"), core, theme.colour("red"))
    image.setDevicePixelRatio(ratio)
    return image


def _forget_oldest(kept: OrderedDict, most: int) -> None:  # type: ignore[type-arg]
    while len(kept) > most:
        kept.popitem(last=False)
