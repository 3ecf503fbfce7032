"""What listening needs to know of a clip, off the window's thread."""

from __future__ import annotations

import numpy as np

from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip


def clip_peak(service: LibraryService, clip: Clip) -> float:
    """The highest sample of a clip, 1.0 being full scale, from its waveform.

    Raises:
        AudioFileError: when there is no waveform yet and the clip cannot be read.
    """
    bins = service.pictures.outline(clip).bins
    return float(np.abs(bins[:2]).max()) if bins.size else 0.0
