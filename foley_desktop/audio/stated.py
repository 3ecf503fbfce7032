"""The length that a file's own header claims, beside which the true one can be shown."""

from __future__ import annotations

import math


def stated_length_s(path: str) -> float | None:
    """Seconds according to the file's header, however wrong; None where it claims nothing. Never raises."""
    import mutagen

    try:
        with open(path, "rb") as file:
            found = mutagen.File(file)
            length = float(found.info.length) if found is not None else 0.0
    except Exception:  # a header may be broken in ways that nobody foresaw
        return None
    return length if math.isfinite(length) and length > 0 else None
