"""What a clip sounds like in plain words, read off its vectors: a clip without a telling name gets one."""

from __future__ import annotations

from foley_desktop.errors import IndexStoreError, ModelError
from foley_desktop.library.indexes import Indexes


def heard_as(indexes: Indexes, clip_id: str) -> list[str]:
    """The likeliest kinds of sound in a clip, by AudioSet's names.

    Empty where nothing is likely, where the clip has no vector yet, and with an embedder that knows no kinds.
    """
    if indexes.embedder_name != "compact":
        return []
    from foley_desktop.index.embedders import compact

    try:
        return compact.heard_as([window.vector for window in indexes.audio.get_vectors(clip_id)])
    except (IndexStoreError, ModelError):
        return []  # an explanation does without it
