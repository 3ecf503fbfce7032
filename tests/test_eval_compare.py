"""Baselines: kept without loss, compared only where that makes sense, and a gate with a floor."""

from __future__ import annotations

import json
import math

import pytest

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.compare import (
    baseline_ndcg,
    baseline_report,
    check_comparable,
    floor,
    gate,
    load_baseline,
    make_baseline,
    ranked_run,
    rescore,
    run_of_ranks,
    save_baseline,
)
from foley_desktop.eval.retrieval import RetrievalReport, evaluate_run, metrics_at


def report(ndcg: float = 0.75, k: int = 10) -> RetrievalReport:
    return RetrievalReport({"q1": {f"ndcg@{k}": ndcg}}, {f"ndcg@{k}": ndcg}, {"q1": 3}, k)


def baseline(ndcg: float = 0.75, k: int = 10, **changes) -> dict:
    meta = {"mode": "hybrid", "golden_hash": "ab12", "embedder": "compact", "fusion": "weighted"}
    return make_baseline(report(ndcg, k), **meta) | changes


def test_a_baseline_survives_a_file(tmp_path):
    scored = evaluate_run({"q": {"a": 1.0, "b": 0.1}}, {"q": {"b": 2, "c": 1}}, k=3, metrics=metrics_at(3))
    meta = {"mode": "audio", "golden_hash": "ab", "embedder": "compact", "fusion": "rrf"}
    document = make_baseline(scored, **meta, clips=[1, 2], note="Tür")
    save_baseline(tmp_path / "b.json", document)
    loaded = load_baseline(tmp_path / "b.json")
    assert loaded == document
    assert baseline_report(loaded) == scored
    assert set(loaded) == {"mode", "golden_hash", "embedder", "fusion", "k", "report", "clips", "note"}
    assert loaded["k"] == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mode": None}, "lacks its mode"),
        ({"golden_hash": 5}, "lacks its golden_hash"),
        ({"embedder": ["compact"]}, "lacks its embedder"),
        ({"fusion": None}, "lacks its fusion"),
        ({"k": "10"}, "lacks its k"),
        ({"k": True}, "lacks its k"),
        ({"k": 5}, "lacks ndcg@5"),
        ({"report": None}, "report of the baseline is damaged"),
        ({"report": {"mean": {"ndcg@10": "0.5"}}}, "report of the baseline is damaged"),
        ({"report": {"mean": {"ndcg@10": math.nan}}}, "report of the baseline is damaged"),
        ({"report": {"mean": {}}}, "lacks ndcg@10"),
        ({"run": ["q1"]}, "run of the baseline is damaged"),
        ({"run": {"q1": {"a": 1.0}}}, "run of the baseline is damaged"),
        ({"run": {"q1": ["a", 1]}}, "run of the baseline is damaged"),
        ({"texts": {"q1": None}}, "query texts of the baseline are damaged"),
    ],
)
def test_each_damage_has_its_sentence(tmp_path, change, words):
    path = tmp_path / "b.json"
    path.write_text(json.dumps(baseline() | change))
    with pytest.raises(GoldenSetError, match=words) as error:
        load_baseline(path)
    assert str(error.value).endswith(".")
    with pytest.raises(GoldenSetError, match=words):
        save_baseline(tmp_path / "out.json", baseline() | change)
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[]", "JSON object"),
        (b"{", "is not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"mode": "hybrid"}', "lacks its golden_hash"),
    ],
)
def test_files_that_hold_no_baseline(tmp_path, data, words):
    path = tmp_path / "b.json"
    path.write_bytes(data)
    with pytest.raises(GoldenSetError, match=words):
        load_baseline(path)


def test_a_report_without_its_object_is_named(tmp_path):
    document = baseline()
    del document["report"]
    with pytest.raises(GoldenSetError, match="lacks its report"):
        save_baseline(tmp_path / "b.json", document)


def test_the_same_measurement_needs_no_words():
    assert check_comparable(baseline(0.9), baseline(0.1)) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mode": "audio"}, "in mode hybrid, this run in mode audio"),
        ({"golden_hash": "cd"}, "another golden set"),
        ({"k": 5}, "at k = 10, this run at k = 5"),
    ],
)
def test_another_mode_golden_set_or_cut_cannot_be_compared(change, words):
    with pytest.raises(GoldenSetError, match=words):
        check_comparable(baseline(), baseline(**change))


def test_another_embedder_or_fusion_is_named_and_still_gates():
    notes = check_comparable(baseline(), baseline(embedder="clap", fusion="rrf"))
    assert notes == [
        "The embedder differs: compact in the baseline, clap now.",
        "The fusion differs: weighted in the baseline, rrf now.",
    ]
    assert not gate(report(0.5), baseline(embedder="clap"))


@pytest.mark.parametrize(
    ("now", "tolerance", "passes"),
    [
        (0.80, 0.02, True),
        (0.73, 0.02, True),
        (0.7299, 0.02, False),
        (0.75, 0.0, True),
        (0.7499, 0.0, False),
        (0.0, 1.0, True),
    ],
)
def test_the_floor_is_the_baseline_minus_the_tolerance(now, tolerance, passes):
    assert gate(report(now), baseline(0.75), tolerance) is passes
    assert floor(baseline(0.75), tolerance) == pytest.approx(0.75 - tolerance)


def test_a_fall_of_exactly_the_tolerance_passes_whatever_the_last_bit():
    for hundredths in range(2, 101):
        assert gate(report((hundredths - 2) / 100), baseline(hundredths / 100))
        assert not gate(report((hundredths - 2.01) / 100), baseline(hundredths / 100))


def test_the_gate_uses_the_cut_of_the_baseline():
    assert baseline_ndcg(baseline(0.5, k=5)) == 0.5
    assert gate(report(0.5, k=5), baseline(0.5, k=5))
    with pytest.raises(GoldenSetError, match="did not measure ndcg@5"):
        gate(report(0.5), baseline(0.5, k=5))


@pytest.mark.parametrize("tolerance", [-0.01, math.nan, math.inf])
def test_a_tolerance_without_sense_is_refused(tolerance):
    with pytest.raises(ValueError):
        gate(report(), baseline(), tolerance)


def test_a_set_that_has_grown_is_the_same_set_if_the_run_is_there():
    old = baseline(set_id="5e7", run={"q1": ["a"]})
    grown = baseline(golden_hash="other", set_id="5e7")
    assert check_comparable(old, grown) == [
        "The golden set has changed since the baseline: both are scored with today's judgements."
    ]
    for before, now in (
        (old, grown | {"set_id": "5e8"}),
        (old, grown | {"set_id": ""}),
        (baseline(set_id="", run={"q1": ["a"]}), grown | {"set_id": ""}),
        (baseline(set_id="5e7"), grown),
        (baseline(run={"q1": ["a"]}), baseline(golden_hash="other")),
    ):
        with pytest.raises(GoldenSetError, match="another golden set"):
            check_comparable(before, now)


def test_another_cut_is_no_matter_where_both_are_scored_anew():
    old = baseline(k=5)
    with pytest.raises(GoldenSetError, match="k = 5"):
        check_comparable(old, baseline(k=10))
    assert check_comparable(old, baseline(k=10), same_cut=False) == []


def test_ranks_keep_the_order_of_a_run():
    run = {"q": {"b": 0.5, "a": 0.5, "c": 9.0}}
    assert ranked_run(run) == {"q": ["c", "a", "b"]}
    assert ranked_run(run_of_ranks(ranked_run(run))) == ranked_run(run)


def test_old_and_new_are_scored_with_the_same_judgements_over_the_same_queries():
    old = {
        "run": {"same": ["x", "a"], "reworded": ["a"], "gone": ["a"]},
        "texts": {"same": "dog", "reworded": "cat", "gone": "cow"},
    }
    run = run_of_ranks({"same": ["n", "x", "a"], "reworded": ["a"], "new": ["a"]})
    qrels = {"same": {"a": 1, "n": 2}, "reworded": {"a": 1}, "new": {"a": 1}}
    texts = {"same": "dog", "reworded": "cats", "new": "hen"}
    both = rescore(old, run, qrels, texts, k=5, metrics=("mrr@5",))
    assert both.old.mean == {"mrr@5": 0.5}  # "x" has no grade, "a" is second
    assert both.new.mean == {"mrr@5": 1.0}  # "n" was graded since
    assert both.left_out == ("reworded", "new")
    with pytest.raises(GoldenSetError, match="no query in common"):
        rescore(old, run, {"new": {"a": 1}}, texts)
