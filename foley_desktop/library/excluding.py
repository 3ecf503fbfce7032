"""Excluding by ear: ``rain -thunder`` hides what sounds more like thunder than like rain.

The keyword index keeps out clips whose words say thunder. What remains may still thunder under another
name, so a clip is hidden too when its sound is nearer to an excluded text than to the wanted one::

    hidden  if  cos(sound, "thunder") > 0  and  cos(sound, "thunder") > cos(sound, "rain") + 0.01

each cosine being that of the clip's best window. On the six packages of the development corpus that no
training has seen, over 810 pairs of words, this hid 81 % of the clips named after the excluded word and
6 % of those named after the wanted one; so what is hidden is counted and can be shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from foley_desktop.index.protocols import WindowHit
from foley_desktop.index.query import ParsedQuery
from foley_desktop.index.vectors import LanceVectorIndex
from foley_desktop.index.words import FUNCTION_WORDS

MARGIN = 0.01
"""By how much a sound has to be nearer to the excluded text than to the wanted one."""

_SHORTEST = 3

_FILE_WORDS = """mono stereo surround binaural ambisonic take takes edit final master mix version raw
processed wav wave flac mp3 ogg aif aiff khz bit alt test copy new old untitled"""
_UNHEARD = frozenset(_FILE_WORDS.split())
"""Words about files, of which nothing is heard."""


def audible_exclusions(parsed: ParsedQuery) -> tuple[str, ...]:
    """The excluded words and phrases that name a sound, as typed.

    Without those limited to a field, numbers, codes and words about files, and none at all where nothing
    is wanted that a sound could be nearer to.
    """
    if not parsed.plain:
        return ()
    words = [word for word in parsed.excluded if not word.field and _names_sound(word.parts)]
    return tuple(dict.fromkeys(word.text for word in words))


def _names_sound(parts: Sequence[str]) -> bool:
    if not all(part.isalpha() for part in parts):
        return False
    telling = [part for part in parts if part not in FUNCTION_WORDS and part not in _UNHEARD]
    return any(len(part) >= _SHORTEST or not part.isascii() for part in telling)


class SoundExclusion:
    """Tells for one query which clips its exclusions hide by sound; remembers what it has told.

    Args:
        index: The joint space of text and sound.
        wanted: The vector of the wanted words, shape ``(dim,)``.
        unwanted: The vector of each excluded text, by text.
    """

    def __init__(self, index: LanceVectorIndex, wanted: np.ndarray, unwanted: dict[str, np.ndarray]) -> None:
        self._index = index
        self._wanted = wanted
        self._unwanted = unwanted
        self._said: dict[str, str] = {}

    def sounds_like(self, clip_id: str) -> str:
        """The excluded text that a clip judged by :meth:`hidden` sounds like most, or an empty string."""
        return self._said.get(clip_id, "")

    def hidden(self, clip_ids: Iterable[str]) -> set[str]:
        """Those of the clips that sound like what is excluded; a clip without a sound vector never does."""
        ids = list(dict.fromkeys(clip_ids))
        self._judge([clip_id for clip_id in ids if clip_id not in self._said])
        return {clip_id for clip_id in ids if self._said[clip_id]}

    def _judge(self, ids: Collection[str]) -> None:
        if not ids:
            return
        wanted = _scores(self._index.best_windows(self._wanted, ids))
        said = dict.fromkeys(ids, "")
        highest = dict.fromkeys(ids, 0.0)
        for text, vector in self._unwanted.items():
            for clip_id, score in _scores(self._index.best_windows(vector, ids)).items():
                if score > highest[clip_id] and score > wanted[clip_id] + MARGIN:
                    said[clip_id], highest[clip_id] = text, score
        self._said |= said


def _scores(hits: dict[str, WindowHit]) -> dict[str, float]:
    return {clip_id: hit.score for clip_id, hit in hits.items()}
