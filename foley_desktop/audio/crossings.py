"""Where a sound crosses zero: the places where it can be cut without a click."""

from __future__ import annotations

import numpy as np


def nearest_crossing(samples: np.ndarray, near: int) -> int | None:
    """The boundary between two frames nearest to ``near`` at which the sound crosses or touches zero.

    Boundary ``b`` lies before frame ``b``: a region that starts there begins with frame ``b``, one that ends
    there has frame ``b - 1`` as its last. Of several channels the one with the most energy decides.

    Args:
        samples: float32 ``(n, channels)``.
        near: Boundary from 0 to n.

    Returns:
        A boundary from 1 to n - 1; of two equally near ones the earlier. None where there is none.
    """
    if len(samples) < 2:
        return None
    loudest = int(np.argmax(np.einsum("nc,nc->c", samples, samples)))
    line = samples[:, loudest]
    crossings = np.flatnonzero(np.sign(line[1:]) * np.sign(line[:-1]) <= 0) + 1
    if not crossings.size:
        return None
    return int(crossings[np.argmin(np.abs(crossings - near))])
