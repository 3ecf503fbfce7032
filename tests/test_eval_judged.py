"""Grades that are missing: judged@k, condensed lists, and what displaced a good answer."""

from __future__ import annotations

import pytest

from foley_desktop.eval.judged import Displacement, condensed, displaced, judged_at_k, unjudged
from foley_desktop.eval.retrieval import evaluate_run

QRELS = {"a": 2, "b": 1, "x": 0}
RUN = {"n1": 5.0, "a": 4.0, "x": 3.0, "n2": 2.0, "b": 1.0}


@pytest.mark.parametrize(("k", "share"), [(1, 0.0), (2, 0.5), (3, 2 / 3), (4, 0.5), (10, 0.6), (0, 1.0)])
def test_judged_at_k(k, share):
    assert judged_at_k(QRELS, RUN, k) == pytest.approx(share)


def test_an_empty_answer_holds_nothing_unjudged():
    assert judged_at_k(QRELS, {}, 10) == 1.0
    assert judged_at_k({}, RUN, 10) == 0.0


def test_the_unjudged_come_best_first():
    assert unjudged(QRELS, RUN, 10) == ["n1", "n2"]
    assert unjudged(QRELS, RUN, 3) == ["n1"]


def test_metrics_of_condensed_lists_do_not_see_unjudged_clips():
    run = condensed({"q": RUN, "other": RUN}, {"q": QRELS})
    assert run == {"q": {"a": 4.0, "x": 3.0, "b": 1.0}, "other": {}}
    plain = evaluate_run({"q": RUN}, {"q": QRELS}, metrics=("mrr@10", "precision@3"))
    clean = evaluate_run(run, {"q": QRELS}, metrics=("mrr@10", "precision@3"))
    assert (plain.mean["mrr@10"], clean.mean["mrr@10"]) == (0.5, 1.0)
    assert (plain.mean["precision@3"], clean.mean["precision@3"]) == (1 / 3, 2 / 3)


def test_a_clip_pushed_out_names_who_pushed():
    old = ["a", "b", "n1", "x"]
    new = ["n2", "x", "b", "a"]
    assert displaced(QRELS, old, new, k=3) == [
        Displacement("a", 2, 1, None, worse=("x", "b"), unjudged=("n2",)),
        Displacement("b", 1, 2, 3, worse=("x",), unjudged=("n2",)),
    ]


def test_a_better_clip_in_front_is_no_harm():
    assert displaced(QRELS, ["b", "a"], ["a", "b"], k=10) == []
    assert displaced({"a": 2, "c": 2}, ["a"], ["c", "a"], k=10) == []


def test_nothing_is_displaced_by_what_already_stood_above():
    # "n1" was above "a" before and still is; only "n2" has overtaken it.
    assert displaced(QRELS, ["n1", "a"], ["n1", "n2", "a"], k=10) == [
        Displacement("a", 2, 2, 3, worse=(), unjudged=("n2",))
    ]


def test_clips_beyond_the_cut_and_wrong_ones_cannot_be_displaced():
    assert displaced(QRELS, ["x", "n1", "a"], ["n2", "n3"], k=2) == []
    assert displaced(QRELS, ["a"], ["n1"], k=0) == []
