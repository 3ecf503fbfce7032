"""Says what a written file holds less of than its source, where nobody asked for less.

An export without options keeps the source's own samples where the format can. Where it cannot, that has to
be said: a person who archives floats as FLAC believes that nothing was lost.
"""

from __future__ import annotations

from foley_desktop.audio.reader import AudioInfo

_FLOATS = {"FLOAT": 32, "DOUBLE": 64}


def losses(source: AudioInfo, written: AudioInfo) -> str:
    """One sentence for the user; empty when the written file's encoding holds all of the source's."""
    bits = _FLOATS.get(source.subtype) or source.bit_depth
    if bits is None or written.subtype == source.subtype:
        return ""
    if written.bit_depth is None:
        return f"{written.format} is lossy: write .wav or .flac to keep the source bit for bit."
    floats = source.subtype in _FLOATS
    if written.subtype in _FLOATS or (not floats and written.bit_depth >= bits):
        return ""
    kind = f"{bits}-bit floats" if floats else f"{bits}-bit integers"
    over = ", and what was over full scale cut off" if floats else ""
    return (
        f"{written.format} holds no {kind}: the samples were rounded to {written.bit_depth} bit{over}. "
        "Write .wav to keep them bit for bit."
    )
