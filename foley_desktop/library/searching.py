"""How the app searches: four modes over three rankers.

``hybrid_search`` does the ranking and the fusion. What is added here is the library around it: the
filters as ids, exclusions and phrases that hold for every ranker, the window of a clip that fits best,
why a clip is where it is, and an answer in words alone while the models are still loading. What the rankers
said to the last query is kept, so that moving the balance between words and sound asks nobody again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from foley_desktop.errors import FoleyError, IndexStoreError
from foley_desktop.index.embedders.host import Models
from foley_desktop.index.protocols import TextEmbedder, VectorIndex, Where, WindowHit
from foley_desktop.index.query import ParsedQuery, parse_query
from foley_desktop.index.search import (
    AUDIO,
    KEYWORD,
    RRF_K,
    SEMANTIC,
    FusedHit,
    ScoredIds,
    hybrid_search,
)
from foley_desktop.library.answers import Answers
from foley_desktop.library.balancing import balanced, neutral
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.fusing import SOUNDS_ASKED, Fusion, answerable
from foley_desktop.library.hearing import heard_as
from foley_desktop.library.indexes import Indexes
from foley_desktop.library.rankers import COVERAGE_DEPTH, RANKERS, QueryRankers, Scores
from foley_desktop.library.writer_lock import is_being_written
from foley_desktop.models import Filters, Hit, Mode, SearchResult
from foley_desktop.settings import DataFolder, Settings

log = logging.getLogger(__name__)

LOADING = "Words only for now: the models are still loading."
NOT_HEARD = "Nothing has been listened to with this embedder yet: rescan the folders to search by sound."
LISTENING = "The sounds are being listened to: until that is done, sound says nothing here."
DEAF = "Found by words and meaning alone: {}"
NO_KEYWORDS = "Keywords are unavailable: run doctor to rebuild the keyword index."
WITH_REASONS = 50
"""For how many hits the matched words are looked up at once; the rest are explained when asked."""


@dataclass(slots=True)
class _Found:
    """The ranked lists behind one result, and what was noticed on the way.

    ``scores`` hold what rankers gave to hits that their lists did not reach, ``sounds_like`` the excluded
    text that a hit sounds like, where it is shown all the same.
    """

    hits: list[FusedHit] = field(default_factory=list)
    lists: dict[str, Scores] = field(default_factory=dict)
    shares: dict[str, dict[str, float]] = field(default_factory=dict)
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    windows: dict[str, WindowHit] = field(default_factory=dict)
    sounds_like: dict[str, str] = field(default_factory=dict)
    hidden: int = 0
    notices: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Request:
    """One search as the modes need it."""

    query: str
    parsed: ParsedQuery
    mode: Mode
    k: int
    where: Where | None
    typing: bool = False
    show_hidden: bool = False
    balance: float | None = None


class Searcher:
    """Searches one library. Safe to use from several threads; the last query's answers are kept."""

    def __init__(self, catalog: Catalog, indexes: Indexes, models: Models, settings: Settings) -> None:
        self._catalog = catalog
        self._indexes = indexes
        self._models = models
        self._settings = settings
        self._lock = threading.Lock()
        self._last: tuple[object, Answers] | None = None

    @property
    def fusion(self) -> Fusion:
        """The fusion of the hybrid mode as the settings have it."""
        return Fusion.of(self._settings)

    @property
    def neutral_balance(self) -> float:
        """Where a slider between words and sound rests: the balance that the fusion in use has by itself."""
        return neutral(self._weights(self.fusion))

    def rankers(self, query: str, filters: Filters = Filters()) -> tuple[QueryRankers, Where | None]:
        """Each ranker by itself for a query, and the restriction that filters and exclusions come to."""
        parsed = parse_query(query)
        return QueryRankers(self._indexes, self._models, parsed), self._where(filters, parsed)

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        mode: Mode = "hybrid",
        filters: Filters = Filters(),
        wait: bool = True,
        typing: bool = False,
        show_hidden: bool = False,
        balance: float | None = None,
    ) -> SearchResult:
        """The ``k`` best clips for ``query``.

        Args:
            mode: ``keyword`` BM25 alone; ``semantic`` the query's meaning against each clip's own
                words; ``audio`` the query against the sound; ``hybrid`` all of them, fused.
            filters: Conditions that every hit fulfils.
            wait: Wait for the models. Otherwise ``hybrid`` answers in words alone until they are
                ready, and the result says so and is not ``complete``. ``audio`` answers by words and meaning
                then, and says so, when the weights of its embedder are gone.
            typing: The last word may still be unfinished and matches as a prefix.
            show_hidden: Shows clips that sound like what the query excludes instead of hiding them.
            balance: Between words (0) and sound (1) in ``hybrid``; None leaves it to the fusion. When
                nothing else changes from one call to the next, no model is asked again.

        Raises:
            ModelError: with ``wait``, when the models cannot be started and the mode needs them.
        """
        started = time.perf_counter()
        parsed = parse_query(query)
        if parsed.blank:
            return self._everything(query, mode, filters, k, started)
        where = self._where(filters, parsed, typing)
        if mode == "audio" and not wait and self._indexes.deaf():
            mode = "hybrid"
        request = _Request(query, parsed, mode, k, where, typing, show_hidden, balance)
        usable = mode == "keyword" or not parsed.plain or wait or self._models.state == "ready"
        if usable:
            found = self._find(request)
        else:
            self._models.start()
            found = self._by_words(request) if mode == "hybrid" else _Found()
            found.notices.append(self._why_words_only())
        if found.lists.get(KEYWORD) == [] and self._words_are_lost():
            found.notices.append(NO_KEYWORDS)
        hits = self._hits(query, found)
        return SearchResult(
            query=query,
            mode=mode,
            hits=hits,
            took_ms=(time.perf_counter() - started) * 1000.0,
            answerable=self._answerable(found, parsed, hits),
            notices=tuple(found.notices),
            complete=usable,
            hidden_by_sound=found.hidden,
        )

    def explained(self, query: str, hit: Hit) -> Hit:
        """``hit`` with what takes a look at the clip: words of one far down the list, and ``heard_as``."""
        why = dict(hit.why)
        if "matched" not in why and KEYWORD in why:
            why["matched"] = self._indexes.keyword.explain(query, hit.id)
        return replace(hit, why={"heard_as": heard_as(self._indexes, hit.id), **why})

    def _words_are_lost(self) -> bool:
        """Whether the keyword index is empty though there are clips; a damaged one has been told of."""
        try:
            return not self._indexes.keyword.count() and bool(self._catalog.all_ids())
        except IndexStoreError:
            return False

    def _why_words_only(self) -> str:
        error = self._models.error
        if self._models.state == "failed" and error is not None:
            return f"Words only: {error}"
        return LOADING

    def _everything(self, query: str, mode: Mode, filters: Filters, k: int, started: float) -> SearchResult:
        clips = self._catalog.list_clips(filters, "name", False, k, 0)
        hits = tuple(Hit(clip, rank) for rank, clip in enumerate(clips, start=1))
        took = (time.perf_counter() - started) * 1000.0
        return SearchResult(query=query, mode=mode, hits=hits, took_ms=took)

    def _where(self, filters: Filters, parsed: ParsedQuery, typing: bool = False) -> Where | None:
        """Filters, exclusions and required phrases as one restriction that every ranker gets."""
        allowed = self._catalog.matching_ids(filters)
        try:
            wanted = self._indexes.keyword.permitted(parsed, prefix_last=typing)
        except IndexStoreError:
            if parsed.excluded or parsed.phrases or parsed.fields:
                raise  # what was to be left out would be shown
            wanted = None
        if wanted is not None:
            allowed = wanted if allowed is None else frozenset(allowed) & wanted
        return None if allowed is None else {"clip_id": allowed}

    # --- the modes

    def _find(self, request: _Request) -> _Found:
        if request.mode == "keyword" or not request.parsed.plain:
            return self._by_words(request)
        answers = self._answers(request)
        if request.mode == "hybrid":
            found = self._by_all(request, answers)
        else:
            found = self._by_one(SEMANTIC if request.mode == "semantic" else AUDIO, request, answers)
        if answers.problem:
            found.notices.append(answers.problem)
        ids = [hit.id for hit in found.hits]
        if found.lists.get(AUDIO):
            found.windows = answers.windows(ids)
        elif AUDIO in found.lists and not self._indexes.audio.count():
            writing = is_being_written(DataFolder(self._catalog.path.parent))
            found.notices.append(LISTENING if writing else NOT_HEARD)
        if answers.exclusion is not None and request.show_hidden:
            shown = answers.hidden(ids)
            found.hidden = len(shown)
            found.sounds_like = {clip_id: answers.exclusion.sounds_like(clip_id) for clip_id in shown}
        return found

    def _by_words(self, request: _Request) -> _Found:
        scores = self._indexes.keyword.search(
            request.parsed, request.k, where=request.where, prefix_last=request.typing
        )
        return _Found([FusedHit(i, bm25_score=score) for i, score in scores], {KEYWORD: scores})

    def _answers(self, request: _Request) -> Answers:
        """What the rankers say to a query: as kept from the last one if nothing but the fusion changed."""
        state = self._indexes.state()
        key = (request.parsed, request.typing, request.where, state)
        with self._lock:
            if state is not None and self._last is not None and self._last[0] == key:
                return self._last[1]
        rankers = QueryRankers(self._indexes, self._models, request.parsed, request.typing)
        answers = Answers(rankers, request.where)
        try:
            answers.exclusion = rankers.exclusion
        except FoleyError as error:
            if self._indexes.deaf() is None:
                answers.problem = f"Nothing is excluded by its sound: {error}"
            log.warning("nothing is excluded by its sound: %s", error)
            return answers
        with self._lock:
            self._last = key, answers
        return answers

    def _by_one(self, name: str, request: _Request, answers: Answers) -> _Found:
        hide = not request.show_hidden
        scores = answers.lists(hide=hide).ask(name, request.k)
        hits = [FusedHit(i, clap_score=score if name == AUDIO else None) for i, score in scores]
        found = _Found(hits, {name: scores})
        if hide:
            found.hidden = len(answers.hidden([clip_id for clip_id, _ in answers.raw(name, request.k)]))
        return found

    def _by_all(self, request: _Request, answers: Answers) -> _Found:
        found = _Found()
        deaf = self._indexes.deaf()
        if deaf is None:
            answers.rankers.start()
        else:
            answers.rankers.meaning.load()
            found.notices.append(DEAF.format(f"{deaf} {deaf.hint}".strip()))
        found.hits = self._fuse(request, answers, found, hide=not request.show_hidden)
        if answers.exclusion is not None and not request.show_hidden:
            others = self._fuse(request, answers, _Found(), hide=False)
            found.hidden = len(answers.hidden([hit.id for hit in others]))
        for name in found.lists:
            found.scores[name] = answers.scores(name, [hit.id for hit in found.hits])
        return found

    def _fuse(self, request: _Request, answers: Answers, found: _Found, *, hide: bool) -> list[FusedHit]:
        fusion = self.fusion
        weights = self._weights(fusion)
        if request.balance is not None:
            weights = balanced(weights, request.balance)
            fusion = replace(fusion, weights=weights)
        by_rank = fusion.name == "rrf"

        def missed(name: str, error: Exception) -> None:
            if name == AUDIO and self._indexes.deaf() is not None:
                return  # which is said already
            log.warning("the %s ranker failed: %s", name, error)
            found.notices.append(NO_KEYWORDS if name == KEYWORD else f"Without the {name} part: {error}")

        lists = answers.lists(hide=hide)
        hits = hybrid_search(
            request.query,
            embedder=cast(TextEmbedder, answers.rankers.sound),
            vindex=cast(VectorIndex, lists),
            kindex=lists,
            k=request.k,
            candidate_k=max(fusion.depth, request.k),
            where=request.where,
            weights=weights if by_rank else None,
            rankers=lists.further,
            fuse=fusion.function(answers.scores, answers.rankers.best, found.shares),
            trace=found.lists,
            on_error=missed,
        )
        if by_rank:
            found.shares |= _shares_by_rank(found.lists, weights)
        return hits

    @staticmethod
    def _weights(fusion: Fusion) -> dict[str, float]:
        """The weights by ranker that a fusion comes to: by rank all count alike."""
        return dict.fromkeys(RANKERS, 1.0) if fusion.name == "rrf" else dict(fusion.weights)

    # --- what a hit says of itself

    def _hits(self, query: str, found: _Found) -> tuple[Hit, ...]:
        clips = self._catalog.clips([hit.id for hit in found.hits])
        ranks = {name: _ranked(scores) for name, scores in found.lists.items()}
        hits: list[Hit] = []
        for hit in found.hits:
            clip = clips.get(hit.id)
            if clip is None:
                continue
            window = found.windows.get(hit.id)
            rank = len(hits) + 1
            hits.append(
                Hit(
                    sound=clip,
                    rank=rank,
                    rrf_score=hit.rrf_score,
                    clap_score=window.score if window else hit.clap_score,
                    bm25_score=hit.bm25_score,
                    start_s=window.start_s if window else None,
                    end_s=window.end_s if window else None,
                    why=self._why(query, hit, ranks, found, rank <= WITH_REASONS),
                )
            )
        return tuple(hits)

    def _why(
        self,
        query: str,
        hit: FusedHit,
        ranks: Mapping[str, Mapping[str, tuple[int, float]]],
        found: _Found,
        with_words: bool,
    ) -> dict[str, Any]:
        """By ranker its rank, score and share, each None where it has none; ``matched`` words by field;
        ``sounds_like``, the excluded text that a hit shown all the same sounds like."""
        why: dict[str, Any] = {}
        for name, by_id in ranks.items():
            rank, score = by_id.get(hit.id, (None, found.scores.get(name, {}).get(hit.id)))
            share = found.shares.get(hit.id, {}).get(name)
            if score is not None:
                why[name] = {"rank": rank, "score": score, "share": share}
        if with_words and KEYWORD in why:
            why["matched"] = self._indexes.keyword.explain(query, hit.id)
        if hit.id in found.sounds_like:
            why["sounds_like"] = found.sounds_like[hit.id]
        return why

    def _answerable(self, found: _Found, parsed: ParsedQuery, hits: Sequence[Hit]) -> float:
        if not hits or not parsed.plain:
            return 1.0 if hits else 0.0  # what words say of clips that are not at hand answers nothing
        semantic = found.lists.get(SEMANTIC)
        keyword = self._indexes.keyword
        try:
            words = found.lists.get(KEYWORD) or keyword.search(parsed, COVERAGE_DEPTH)
            ids = {clip_id for clip_id, _ in words[:COVERAGE_DEPTH]} | {hit.id for hit in hits[:10]}
            coverage = max(keyword.coverage(parsed, ids).values(), default=0.0)
        except IndexStoreError:
            coverage = 0.0  # without words, meaning alone says how well it fits
        if all(word.required for word in parsed.words):
            coverage = 1.0  # every hit has what was asked for, be it only the beginning of a word being typed
        sure, heard = self._indexes.sure_cosine, found.lists.get(AUDIO, ())
        sounds = [score / sure for _, score in heard[:SOUNDS_ASKED]] if sure else []
        return round(answerable(semantic[0][1] if semantic else None, coverage, sounds), 6)


def _ranked(scores: Scores) -> dict[str, tuple[int, float]]:
    return {clip_id: (rank, score) for rank, (clip_id, score) in enumerate(scores, start=1)}


def _shares_by_rank(
    lists: Mapping[str, ScoredIds], weights: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """What each ranker's list adds to a clip's score under rank fusion, ``{id: {ranker: share}}``."""
    shares: dict[str, dict[str, float]] = {}
    for name, scores in lists.items():
        for rank, (clip_id, _) in enumerate(scores, start=1):
            shares.setdefault(clip_id, {})[name] = weights.get(name, 1.0) / (RRF_K + rank)
    return shares
