"""Fusion by hand and by property, and the orchestration around it with indexes that are simply lists."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, field, fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from foley_desktop.index import search
from foley_desktop.index.search import (
    DEFAULT_CANDIDATE_K,
    RRF_K,
    SCORE_WEIGHTS,
    FusedHit,
    Ranker,
    fuse_hits,
    fuse_scores,
    hybrid_search,
    reciprocal_rank_fusion,
    vector_search,
)

IDS = [f"c{number:02}" for number in range(15)]

ranked = st.lists(st.sampled_from(IDS), unique=True, max_size=12)
grid = st.integers(-100, 100).map(lambda number: number / 100)


@st.composite
def scored(draw: st.DrawFn) -> list[tuple[str, float]]:
    ids = draw(st.lists(st.sampled_from(IDS), unique=True, max_size=12))
    return [(clip_id, draw(grid)) for clip_id in ids]


@dataclass
class ListIndex:
    """Both indexes at once: hands out the hits it was given and notes how it was asked."""

    hits: list[tuple[str, float]]
    asked: list[tuple] = field(default_factory=list)
    dim: int = 3

    def upsert(self, clip_id, windows):
        raise AssertionError("a search writes nothing")

    def knn(self, vector, k, *, where=None):
        self.asked.append((vector, k, where))
        return self.hits[:k]

    def bm25(self, query, k, *, where=None):
        self.asked.append((query, k, where))
        return self.hits[:k]


@dataclass
class ConstantEmbedder:
    vector: object
    texts: list[str] = field(default_factory=list)
    model_id: str = "constant"
    dim: int = 3

    def embed_text(self, text):
        self.texts.append(text)
        return self.vector


ROW = np.array([[1.0, 0.0, 0.0]], dtype=np.float32)
SOUND = [("a", 0.9), ("b", 0.5), ("c", 0.1)]
WORDS = [("c", 12.0), ("d", 3.5)]


def ask(query: str = "dog", **changes) -> list[FusedHit]:
    arguments = {
        "embedder": ConstantEmbedder(ROW),
        "vindex": ListIndex(SOUND),
        "kindex": ListIndex(WORDS),
    }
    return hybrid_search(query, **(arguments | changes))


# Reciprocal rank fusion


def test_rank_fusion_by_hand():
    fused = reciprocal_rank_fusion([["a", "b", "c"], ["c", "d"]])
    assert fused == [("c", 1 / 63 + 1 / 61), ("a", 1 / 61), ("b", 1 / 62), ("d", 1 / 62)]
    assert reciprocal_rank_fusion([["a", "b"]], k=0) == [("a", 1.0), ("b", 0.5)]
    assert reciprocal_rank_fusion([]) == reciprocal_rank_fusion([[], []]) == []


def test_equal_sums_stay_equal_and_go_by_id():
    lists = [["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"]]
    fused = reciprocal_rank_fusion(lists)
    assert [clip_id for clip_id, _ in fused] == ["a", "b", "c"]
    assert len({score for _, score in fused}) == 1


def test_an_id_named_twice_counts_once_at_its_better_place():
    assert reciprocal_rank_fusion([["a", "a", "b"]]) == reciprocal_rank_fusion([["a", "b"]])


@given(st.lists(ranked, max_size=5), st.integers(0, 100))
def test_rank_fusion_is_the_formula(lists, k):
    fused = reciprocal_rank_fusion(lists, k=k)
    exact = {
        clip_id: sum(Fraction(1, k + ids.index(clip_id) + 1) for ids in lists if clip_id in ids)
        for clip_id in {clip_id for ids in lists for clip_id in ids}
    }
    assert {clip_id for clip_id, _ in fused} == set(exact)
    assert all(score == pytest.approx(float(exact[clip_id]), rel=1e-15) for clip_id, score in fused)
    assert fused == sorted(fused, key=lambda item: (-item[1], item[0]))


@given(st.lists(ranked, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_rankers_changes_no_byte(lists, random):
    shuffled = random.sample(lists, len(lists))
    assert repr(reciprocal_rank_fusion(lists)) == repr(reciprocal_rank_fusion(shuffled))


@given(ranked, ranked, st.data())
def test_moving_up_in_one_list_never_lowers_a_clip(first, second, data):
    assume(len(first) >= 2)
    place = data.draw(st.integers(1, len(first) - 1))
    moved = [*first[: place - 1], first[place], first[place - 1], *first[place + 1 :]]
    before = [clip_id for clip_id, _ in reciprocal_rank_fusion([first, second])]
    after = [clip_id for clip_id, _ in reciprocal_rank_fusion([moved, second])]
    assert after.index(first[place]) <= before.index(first[place])


def test_weights_scale_the_lists():
    fused = reciprocal_rank_fusion([["a"], ["b"]], weights=[1.0, 3.0])
    assert fused == [("b", 3 / 61), ("a", 1 / 61)]
    with pytest.raises(ValueError):
        reciprocal_rank_fusion([["a"], ["b"]], weights=[1.0])


@pytest.mark.parametrize(
    "wrong", [{"k": -1}, {"weights": [-1.0]}, {"weights": [math.nan]}, {"weights": [math.inf]}]
)
def test_numbers_without_sense_are_refused(wrong):
    with pytest.raises(ValueError):
        reciprocal_rank_fusion([["a"]], **wrong)


# fuse_hits


def test_fused_hits_carry_their_raw_scores():
    assert fuse_hits(SOUND, WORDS, k=3) == [
        FusedHit("c", 1 / 63 + 1 / 61, 0.1, 12.0),
        FusedHit("a", 1 / 61, 0.9, None),
        FusedHit("b", 1 / 62, 0.5, None),
    ]
    assert [hit.id for hit in fuse_hits(SOUND, WORDS, k=10)] == ["c", "a", "b", "d"]
    assert fuse_hits(SOUND, WORDS, k=0) == fuse_hits(SOUND, WORDS, k=-1) == fuse_hits([], [], k=5) == []
    assert fuse_hits(SOUND, WORDS, k=1, rrf_k=0)[0].rrf_score == 1 + 1 / 3


@given(scored(), scored())
def test_fusing_twice_gives_the_same_bytes_whichever_list_comes_first(first, second):
    fused = fuse_hits(first, second, k=20)
    assert repr(fused) == repr(fuse_hits(first, second, k=20))
    swapped = [FusedHit(hit.id, hit.rrf_score, hit.bm25_score, hit.clap_score) for hit in fused]
    assert repr(fuse_hits(second, first, k=20)) == repr(swapped)
    assert fuse_hits(first, second, k=3) == fused[:3]


# hybrid_search


@given(scored(), scored(), st.integers(0, 20), st.integers(1, 20), st.integers(0, 100))
def test_a_plain_hybrid_search_is_fuse_hits(sound, words, k, candidate_k, rrf_k):
    hits = ask(vindex=ListIndex(sound), kindex=ListIndex(words), k=k, candidate_k=candidate_k, rrf_k=rrf_k)
    assert repr(hits) == repr(fuse_hits(sound[:candidate_k], words[:candidate_k], k=k, rrf_k=rrf_k))


@pytest.mark.parametrize("vector", [ROW, ROW[0], [1.0, 0.0, 0.0], [[1.0, 0.0, 0.0]]])
def test_the_indexes_get_query_depth_and_restriction(vector):
    embedder, vindex, kindex = ConstantEmbedder(vector), ListIndex(SOUND), ListIndex(WORDS)
    where = {"clip_id": {"a"}}
    ask("dog  bark", embedder=embedder, vindex=vindex, kindex=kindex, where=where)
    assert embedder.texts == ["dog  bark"]
    ((asked_vector, depth, restriction),) = vindex.asked
    assert asked_vector.shape == (3,)
    assert (depth, restriction) == (DEFAULT_CANDIDATE_K, where)
    assert kindex.asked == [("dog  bark", DEFAULT_CANDIDATE_K, where)]


@pytest.mark.parametrize("blank", ["", "  ", "\t\n"])
def test_a_blank_query_asks_nobody(blank):
    embedder, vindex, kindex = ConstantEmbedder(ROW), ListIndex(SOUND), ListIndex(WORDS)
    assert ask(blank, embedder=embedder, vindex=vindex, kindex=kindex) == []
    assert embedder.texts == vindex.asked == kindex.asked == []


def test_weights_of_one_change_no_byte_and_names_that_take_no_part_are_ignored():
    assert repr(ask(weights={"audio": 1.0, "keyword": 1, "semantic": 5.0})) == repr(ask())


def test_a_weight_lifts_its_ranker_and_zero_leaves_it_unasked():
    assert [hit.id for hit in ask(weights={"audio": 0.5})] == ["c", "d", "a", "b"]
    embedder, vindex = ConstantEmbedder(ROW), ListIndex(SOUND)
    hits = ask(weights={"audio": 0.0}, embedder=embedder, vindex=vindex)
    assert hits == fuse_hits([], WORDS, k=10)
    assert embedder.texts == vindex.asked == []
    with pytest.raises(ValueError):
        ask(weights={"audio": -1.0})


def test_further_rankers_join_and_the_trace_shows_every_list():
    seen = []

    def meaning(query, k, where):
        seen.append((query, k, where))
        return [("d", 0.8), ("e", 0.7)]

    trace = {}
    hits = ask(rankers=[Ranker("semantic", meaning)], trace=trace, candidate_k=7)
    assert seen == [("dog", 7, None)]
    assert trace == {"audio": SOUND, "keyword": WORDS, "semantic": [("d", 0.8), ("e", 0.7)]}
    assert hits[0] == FusedHit("d", math.fsum([1 / 62, 1 / 61]), None, 3.5)
    assert FusedHit("e", 1 / 62, None, None) in hits
    with pytest.raises(ValueError, match="same name"):
        ask(rankers=[Ranker("audio", meaning)])


def test_a_failing_ranker_is_passed_on_or_reported():
    class Broken:
        def embed_text(self, text):
            raise RuntimeError("the model died")

    with pytest.raises(RuntimeError, match="the model died"):
        ask(embedder=Broken())
    errors, trace = [], {}
    hits = ask(embedder=Broken(), trace=trace, on_error=lambda name, error: errors.append((name, str(error))))
    assert errors == [("audio", "the model died")]
    assert hits == fuse_hits([], WORDS, k=10)
    assert trace == {"keyword": WORDS}


# vector_search


def test_a_vector_search_keeps_the_order_of_the_index():
    vindex = ListIndex([("b", np.float32(0.5)), ("a", np.float32(0.5)), ("c", np.float32(-0.25))])
    hits = vector_search(ROW[0], vindex=vindex, where={"clip_id": {"b"}})
    assert hits == [FusedHit("b", None, 0.5), FusedHit("a", None, 0.5), FusedHit("c", None, -0.25)]
    assert all(type(hit.clap_score) is float for hit in hits)
    assert vindex.asked == [(pytest.approx(ROW[0]), 10, {"clip_id": {"b"}})]
    assert vector_search(ROW[0], vindex=vindex, k=1) == hits[:1]
    assert vector_search(ROW[0], vindex=vindex, k=0) == []


# fuse_scores

LISTS = {"semantic": [("a", 0.6), ("b", 0.5)], "keyword": [("b", 8.0), ("c", 2.0)], "audio": [("c", 0.3)]}


def test_score_fusion_by_hand():
    shares = {}
    hits = fuse_scores(LISTS, k=10, best={"keyword": 10.0}, shares=shares)
    # a and b take the only sound score as their floor there, c the lower meaning score.
    assert hits == [
        FusedHit("b", round(0.5 + 0.4 * 0.8 + 0.2 * 0.3, 6), None, 8.0),
        FusedHit("a", round(0.6 + 0.0 + 0.2 * 0.3, 6), None, None),
        FusedHit("c", round(0.5 + 0.4 * 0.2 + 0.2 * 0.3, 6), 0.3, 2.0),
    ]
    assert {hit.id: hit.rrf_score for hit in hits} == {"b": 0.88, "a": 0.66, "c": 0.64}
    assert shares["b"] == pytest.approx({"semantic": 0.5, "keyword": 0.32, "audio": 0.06})


def test_a_given_floor_replaces_the_lowest_score():
    hits = fuse_scores(
        LISTS, k=10, best={"keyword": 10.0}, floors={"keyword": 0.0, "semantic": 0.0, "audio": 0.0}
    )
    assert {hit.id: hit.rrf_score for hit in hits} == {"b": 0.82, "a": 0.6, "c": 0.14}


def test_lists_without_a_say_add_no_clips():
    assert [hit.id for hit in fuse_scores(LISTS, {"audio": 0.0, "keyword": 0.0}, k=10)] == ["a", "b"]
    assert [hit.id for hit in fuse_scores(LISTS, k=10, best={"keyword": 0.0})] == ["a", "b", "c"]
    assert fuse_scores({}, k=10) == fuse_scores({"semantic": []}, k=10) == fuse_scores(LISTS, k=0) == []
    with pytest.raises(ValueError):
        fuse_scores(LISTS, {"audio": -0.1}, k=10)


def test_scores_that_are_no_numbers_count_as_missing_and_the_best_of_several_counts():
    lists = {
        "semantic": [("a", math.nan), ("b", 0.2), ("b", 0.4), ("c", math.inf), ("d", -math.inf), ("e", 0.1)]
    }
    assert [(hit.id, hit.rrf_score) for hit in fuse_scores(lists, k=9)] == [("b", 0.4), ("e", 0.1)]


def test_last_bits_never_decide_and_no_zero_is_negative():
    lists = {"semantic": [("b", 0.1 + 0.2), ("a", 0.3), ("c", -1e-9)]}
    hits = fuse_scores(lists, k=9)
    assert [hit.id for hit in hits] == ["a", "b", "c"]
    assert repr(hits[2].rrf_score) == "0.0"


score_lists = st.dictionaries(st.sampled_from(["semantic", "keyword", "audio", "other"]), scored())


@given(score_lists, st.randoms(use_true_random=False))
def test_no_order_of_lists_or_hits_changes_a_byte(lists, random):
    names = random.sample(list(lists), len(lists))
    shuffled = {name: random.sample(lists[name], len(lists[name])) for name in names}
    assert repr(fuse_scores(lists, k=20)) == repr(fuse_scores(shuffled, k=20))
    assert repr(fuse_scores(lists, k=20)) == repr(fuse_scores(lists, k=20))
    assert fuse_scores(lists, k=4) == fuse_scores(lists, k=20)[:4]


@given(score_lists, st.data())
def test_a_higher_score_never_lowers_a_clip(lists, data):
    assume(any(lists.values()))
    name = data.draw(st.sampled_from([name for name in lists if lists[name]]))
    place = data.draw(st.integers(0, len(lists[name]) - 1))
    clip_id, score = lists[name][place]
    raised = [*lists[name]]
    raised[place] = (clip_id, score + data.draw(st.integers(1, 100)) / 100)
    before = [hit.id for hit in fuse_scores(lists, k=20)]
    after = [hit.id for hit in fuse_scores(lists | {name: raised}, k=20)]
    assert after.index(clip_id) <= before.index(clip_id)


@given(score_lists)
def test_every_clip_of_a_list_with_a_say_comes_up(lists):
    hits = fuse_scores(lists, k=100)
    assert {hit.id for hit in hits} == {clip_id for listed in lists.values() for clip_id, _ in listed}
    assert [hit.id for hit in hits] == sorted(
        (hit.id for hit in hits), key={hit.id: (-hit.rrf_score, hit.id) for hit in hits}.__getitem__
    )


# The reference


def test_names_and_defaults_are_those_of_the_reference():
    expected = {
        "fuse_hits": "(vector_hits, keyword_hits, *, k, rrf_k=60)",
        "vector_search": "(qvec, *, vindex, k=10, where=None)",
    }
    for name, signature in expected.items():
        parameters = inspect.signature(getattr(search, name)).parameters.values()
        bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
        assert str(inspect.Signature(bare)) == signature
    assert (RRF_K, DEFAULT_CANDIDATE_K) == (60, 50)
    assert dict(SCORE_WEIGHTS) == {"semantic": 1.0, "keyword": 0.4, "audio": 0.2}
    assert [field.name for field in fields(FusedHit)] == ["id", "rrf_score", "clap_score", "bm25_score"]
    assert FusedHit("a") == FusedHit("a", None, None, None)
    parameters = inspect.signature(hybrid_search).parameters
    assert [name for name, parameter in parameters.items() if parameter.kind is parameter.KEYWORD_ONLY] == [
        *("embedder", "vindex", "kindex", "k", "candidate_k", "rrf_k", "where"),
        *("weights", "rankers", "trace", "on_error", "fuse"),
    ]
    assert (parameters["k"].default, parameters["candidate_k"].default, parameters["rrf_k"].default) == (
        10,
        50,
        60,
    )
    assert inspect.signature(reciprocal_rank_fusion).parameters["k"].default == 60


def test_hybrid_search_hands_its_lists_to_another_fusion():
    seen = {}

    def fuse(lists, k):
        seen.update(lists=dict(lists), k=k)
        return [FusedHit("chosen", 1.0)]

    assert ask(fuse=fuse, k=4) == [FusedHit("chosen", 1.0)]
    assert seen == {"lists": {"audio": SOUND, "keyword": WORDS}, "k": 4}
