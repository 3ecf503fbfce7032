"""What is drawn and told of a clip's sound, from the cache or computed now.

Waveforms, outlines, spectrograms, loudness and markers. Everything computed is kept under the hash of the
clip's audio; of a clip that has none, such as a file outside the library, nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from foley_desktop.audio import loudness, spectrogram
from foley_desktop.audio.crossings import nearest_crossing
from foley_desktop.audio.decode import read_frames
from foley_desktop.audio.loudness import Loudness
from foley_desktop.audio.markers import read_markers
from foley_desktop.audio.peaks import Level, PeakCache, Peaks, compute
from foley_desktop.audio.spectrogram import Spectrogram
from foley_desktop.library.catalog import Catalog
from foley_desktop.models import Clip, Marker

Cancelled = Callable[[], bool]

SNAP_WITHIN_S = 0.01
"""So far from where it was put an edge may snap."""


class Pictures:
    """Blocking and thread-safe.

    All methods raise ``AudioFileError`` where the file cannot be read, and
    ``concurrent.futures.CancelledError`` once ``cancelled`` says so.
    """

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog = catalog
        self._cache = PeakCache(folder)

    def peaks(
        self,
        clip: Clip,
        *,
        cancelled: Cancelled | None = None,
        preview: Callable[[Peaks], None] | None = None,
    ) -> Peaks:
        """The waveform. ``preview`` is given what is there so far, where reading takes longer."""
        if not clip.audio_hash:
            return compute(clip.path, cancelled=cancelled, preview=preview)
        return self._cache.get(clip.audio_hash, clip.path, cancelled=cancelled, preview=preview)

    def outline(self, clip: Clip, *, cancelled: Cancelled | None = None) -> Level:
        """A coarse waveform, for a picture no wider than a table's cell."""
        found = self._cache.load_outline(clip.audio_hash) if clip.audio_hash else None
        return found or self.peaks(clip, cancelled=cancelled).outline

    def has_outline(self, clip: Clip) -> bool:
        """Whether :meth:`outline` would be quick."""
        return bool(clip.audio_hash) and self._cache.load_outline(clip.audio_hash) is not None

    def loudness(self, clip: Clip, *, cancelled: Cancelled | None = None) -> Loudness:
        """Integrated loudness and peaks."""
        found = loudness.load(self._cache, clip.audio_hash) if clip.audio_hash else None
        if found is None:
            found = loudness.measure(clip.path, cancelled=cancelled)
            if clip.audio_hash:
                loudness.store(self._cache, clip.audio_hash, found)
        return found

    def spectrogram(
        self,
        clip: Clip,
        first: int,
        last: int,
        columns: int,
        *,
        cancelled: Cancelled | None = None,
        preview: Callable[[Spectrogram], None] | None = None,
    ) -> Spectrogram:
        """The frames from ``first`` up to ``last`` in ``columns`` columns. Of the whole clip, told by a
        ``first`` of 0 and the clip's own length, the picture in the cache is given, whatever its width."""
        whole = bool(clip.audio_hash) and first == 0 and last == clip.frames
        found = spectrogram.load(self._cache, clip.audio_hash) if whole else None
        if found is not None and (found.first, found.last) == (first, last):
            return found
        width = spectrogram.COLUMNS if whole else columns
        made = spectrogram.compute(clip.path, first, last, width, cancelled=cancelled, preview=preview)
        if whole:
            spectrogram.store(self._cache, clip.audio_hash, made)
        return made

    def markers(self, clip: Clip) -> tuple[Marker, ...]:
        """Cue points, regions and loops: those the catalog knows; of a file outside it, the file's own."""
        if clip.id:
            return tuple(self._catalog.clip_markers(clip.id))
        if not clip.samplerate or not clip.frames:
            return ()
        return read_markers(clip.path, clip.samplerate, clip.frames)

    def samples(self, clip: Clip, first: int, frames: int) -> np.ndarray:
        """Some frames, float32 ``(n, channels)``, for drawing them one by one."""
        return read_frames(clip.path, first, frames)[0]

    def snapped(self, clip: Clip, frames: tuple[int, ...], total: int) -> tuple[int, ...]:
        """Each of some boundaries moved to the nearest zero crossing, where one is near enough.

        The clip's own ends stay where they are.
        """
        return tuple(self._snapped(clip, frame, total) for frame in frames)

    def _snapped(self, clip: Clip, frame: int, total: int) -> int:
        if not 0 < frame < total:
            return frame
        reach = max(1, round(SNAP_WITHIN_S * (clip.samplerate or 48000)))
        first = max(0, frame - reach)
        crossing = nearest_crossing(self.samples(clip, first, frame - first + reach), frame - first)
        return frame if crossing is None else first + crossing
