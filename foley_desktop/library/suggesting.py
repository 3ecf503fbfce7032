"""Suggests a category of the UCS for clips that have none, from name, words and sound, with a confidence.

Four witnesses: the words of the clip against phrases for each category, the meaning of these words, the sound
in the joint space of text and sound, and clips that sound alike and have a category. Their votes are weighted
and made probabilities. ``tests/bench/categories.py`` measures them: of 126 clips of games, the answers to
golden queries, the first suggestion was right for 85 %, one of the first three for 95 %, and of those that
were at least 80 % sure 93 %; on the names of the 50 demo clips, each with one right answer, 80, 94 and 85 %.
A model that cannot be started costs its votes, not the suggestion.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foley_desktop.errors import FoleyError
from foley_desktop.index.protocols import TextEmbedder, Window
from foley_desktop.library import ucs
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.category_words import phrases, shipped_vectors, stemmed, version, words_scores
from foley_desktop.library.codes import halves
from foley_desktop.library.meter import Meter
from foley_desktop.library.text import meaning_text
from foley_desktop.models import Clip, Progress

if TYPE_CHECKING:
    from foley_desktop.index.embedders.host import Models
    from foley_desktop.library.indexes import Indexes

log = logging.getLogger(__name__)

WEIGHTS: Mapping[str, float] = {"words": 6.0, "meaning": 9.0, "sound": 4.0, "neighbours": 2.5}
"""How much each witness's vote counts."""

MISC_MALUS = 1.5
"""What is taken off categories for what fits nowhere else."""

COUNT = 5
"""Suggestions a clip gets at most."""

_NEIGHBOURS = 12
_TEXTS_A_CALL = 64
_CLIPS_A_STEP = 8
_PHRASES_A_SOUND = 4
"""Phrases that stand for a category where sounds are compared with it; more blur it."""


class Suggestion(NamedTuple):
    """A category for a clip.

    ``confidence`` is its share of the votes from 0 to 1, ``why`` what each witness gave it.
    """

    catid: str
    category: str
    subcategory: str
    confidence: float
    why: Mapping[str, float]


def _means(windows: Mapping[str, Sequence[Window]]) -> dict[str, np.ndarray]:
    """The direction of each clip as a whole, a unit vector; clips whose windows cancel out are left out."""
    found = {}
    for clip_id, some in windows.items():
        mean = np.stack([window.vector for window in some]).mean(axis=0, dtype=np.float64)
        length = np.linalg.norm(mean)
        if length > 1e-6:
            found[clip_id] = (mean / length).astype(np.float32)
    return found


class Suggester:
    """Suggestions for one library."""

    def __init__(self, catalog: Catalog, indexes: Indexes, models: Models) -> None:
        self._catalog = catalog
        self._indexes = indexes
        self._models = models
        self._texts: dict[str, list[str]] = {}
        for phrase in phrases():
            self._texts.setdefault(phrase.catid, []).append(phrase.text)
        self._catids = list(self._texts)
        self._place = {catid: place for place, catid in enumerate(self._catids)}
        counts = [len(texts) for texts in self._texts.values()]
        self._firsts = np.cumsum([0, *counts[:-1]])  # the phrases of one category stand together
        self._spoken: np.ndarray | None = None
        self._labelled: bool | None = None
        misc = [ucs.table()[catid][1] == "MISC" for catid in self._catids]
        self._malus = np.where(misc, np.float32(MISC_MALUS), np.float32(0.0))

    def suggest(
        self,
        ids: Sequence[str],
        *,
        refused: Mapping[str, Collection[str]] | None = None,
        take: Callable[[dict[str, tuple[Suggestion, ...]]], object] | None = None,
    ) -> Generator[Progress, None, dict[str, tuple[Suggestion, ...]]]:
        """The likeliest categories of each clip, the likeliest first; unknown clips are left out.

        Args:
            refused: CatIDs by clip that are not to be suggested for it.
            take: Is handed what each step found, in the thread that runs the generator.
        """
        clips = list(self._catalog.clips(ids).values())
        meter = Meter(len(clips), "Finding categories")
        made: dict[str, tuple[Suggestion, ...]] = {}
        for start in range(0, len(clips), _TEXTS_A_CALL):
            part = clips[start : start + _TEXTS_A_CALL]
            texts = {clip.id: self._text(clip) for clip in part}
            meanings = self._meanings(texts)
            for first in range(0, len(part), _CLIPS_A_STEP):
                some = part[first : first + _CLIPS_A_STEP]
                heard = self._heard(some)
                for clip in some:
                    votes = {"words": self._words(texts[clip.id]), **heard[clip.id]}
                    if clip.id in meanings:
                        votes["meaning"] = meanings[clip.id]
                    made[clip.id] = self._ranked(votes, (refused or {}).get(clip.id, ()))
                if take is not None:
                    take({clip.id: made[clip.id] for clip in some})
                yield meter.step(len(some))
        return made

    def _text(self, clip: Clip) -> str:
        words = meaning_text(clip, self._catalog.tags(clip.id)).split()
        return " ".join(" ".join(halves(word.lower()) or (word,)) for word in words)

    # --- witnesses; each gives an array over the categories, or nothing

    def _words(self, text: str) -> np.ndarray:
        votes = np.zeros(len(self._catids), np.float32)
        for catid, score in words_scores(stemmed(text)).items():
            votes[self._place[catid]] = score
        return votes

    def _meanings(self, texts: Mapping[str, str]) -> dict[str, np.ndarray]:
        texts = {i: text for i, text in texts.items() if text}
        if not texts:
            return {}
        try:
            embedder = self._models.text_embedder()
            table = shipped_vectors(embedder.model_id)
            if table is None:
                table = self._table(embedder, "phrases", [phrase.text for phrase in phrases()])
            vectors = embedder.embed_text(list(texts.values()))
        except FoleyError as error:
            log.info("categories are suggested without meaning: %s", error)
            return {}
        return dict(zip(texts, self._best_phrases(table, vectors), strict=True))

    def _heard(self, clips: Sequence[Clip]) -> dict[str, dict[str, np.ndarray]]:
        """What the sounds say, by clip: themselves, and through clips that are alike."""
        votes: dict[str, dict[str, np.ndarray]] = {clip.id: {} for clip in clips}
        ids = list(votes)
        try:
            means = _means(self._indexes.audio.get_many(ids))
            if means:
                cosines = np.stack(list(means.values())) @ self._of_categories().T
                for clip_id, one in zip(means, cosines, strict=True):
                    votes[clip_id]["sound"] = one - one.mean()
            if self._any_labelled():
                for clip_id, alike in _means(self._indexes.likeness.get_many(ids)).items():
                    votes[clip_id]["neighbours"] = self._neighbours(clip_id, alike)
        except FoleyError as error:
            log.info("%d clips are given categories without their sound: %s", len(clips), error)
        return votes

    def _of_categories(self) -> np.ndarray:
        """A vector in the joint space of text and sound for each category."""
        if self._spoken is None:
            embedder = self._models.embedder(self._indexes.embedder_name)
            said = [", ".join(texts[:_PHRASES_A_SOUND]) for texts in self._texts.values()]
            self._spoken = self._table(embedder, "categories", said)
        return self._spoken

    def _any_labelled(self) -> bool:
        if self._labelled is None:
            found = self._catalog.value("SELECT EXISTS (SELECT 1 FROM clips WHERE catid != '')")
            self._labelled = bool(found)
        return self._labelled

    def _neighbours(self, clip_id: str, vector: np.ndarray) -> np.ndarray:
        """Votes of labelled clips near by, by their likeness beyond the farthest of them."""
        votes = np.zeros(len(self._catids), np.float32)
        found = self._indexes.likeness.knn(vector, _NEIGHBOURS + 1)
        near = [(other, score) for other, score in found if other != clip_id][:_NEIGHBOURS]
        clips = self._catalog.clips(i for i, _ in near)
        for other, score in near:
            catid = clips[other].catid if other in clips else ""
            if catid in self._place:
                votes[self._place[catid]] += max(0.0, score) ** 8
        return votes / max(1.0, float(votes.sum()))

    def _best_phrases(self, table: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """By text and category, the cosine of the phrase that is nearest, the mean over all taken off.

        Shape ``(texts, categories)``.
        """
        cosines = np.asarray(vectors) @ table.T
        votes = np.maximum.reduceat(cosines, self._firsts, axis=1)
        return votes - votes.mean(axis=1, keepdims=True)

    # --- all together

    def _ranked(
        self, votes: Mapping[str, np.ndarray], refused: Collection[str] = ()
    ) -> tuple[Suggestion, ...]:
        total = -self._malus
        for name, vote in votes.items():
            total = total + WEIGHTS[name] * vote
        for catid in refused:
            if catid in self._place:
                total[self._place[catid]] = -np.inf
        shares = np.exp(total - total.max())
        shares /= shares.sum()
        found = []
        for index in np.argsort(-shares, kind="stable")[:COUNT]:
            catid = self._catids[index]
            why = {name: round(float(WEIGHTS[name] * vote[index]), 3) for name, vote in votes.items()}
            category, subcategory = ucs.table()[catid]
            found.append(Suggestion(catid, category, subcategory, round(float(shares[index]), 4), why))
        return tuple(found)

    # --- vectors

    def _table(self, embedder: TextEmbedder, name: str, texts: Sequence[str]) -> np.ndarray:
        """Vectors of some texts, float32 ``(texts, dim)``, kept in the data folder by model."""
        plain = "".join(c if c.isalnum() else "-" for c in embedder.model_id)[:80]
        file = self._catalog.path.parent / "categories" / f"{name} {plain} {version()}.npy"
        try:
            table = np.load(file)
            if table.shape == (len(texts), embedder.dim):
                return table
        except (OSError, ValueError, EOFError):
            pass  # not made yet, or broken
        parts = [texts[at : at + _TEXTS_A_CALL] for at in range(0, len(texts), _TEXTS_A_CALL)]
        table = np.concatenate([embedder.embed_text(part) for part in parts]).astype(np.float32)
        part_file = file.with_suffix(".part")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with open(part_file, "wb") as target:
                np.save(target, table)
            os.replace(part_file, file)
        except OSError as error:
            log.info("the categories' vectors cannot be kept: %s", error)
        return table
