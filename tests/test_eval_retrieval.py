"""The metrics against trec_eval, against values worked out by hand, and at their edges."""

from __future__ import annotations

import ast
import inspect
import json
import math
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from foley_desktop.eval import regression, retrieval
from foley_desktop.eval.retrieval import (
    DEFAULT_METRICS,
    RetrievalReport,
    average_precision_at_k,
    build_run,
    evaluate_run,
    mean_over_queries,
    metrics_at,
    mrr_at_k,
    ndcg_at_k,
    parse_metric,
    precision_at_k,
    ranked_ids,
    recall_at_k,
)

DOCS = [f"d{number}" for number in range(30)]

qrels_rows = st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 3), min_size=1, max_size=20)


@st.composite
def run_rows(draw: st.DrawFn) -> dict[str, float]:
    """Rows without equal scores; trec_eval keeps scores in single precision, so those have to differ."""
    docs = draw(st.lists(st.sampled_from(DOCS), unique=True, min_size=1))
    widths = st.floats(-1e6, 1e6, width=32)
    scores = draw(st.lists(widths, unique=True, min_size=len(docs), max_size=len(docs)))
    return dict(zip(docs, scores, strict=True))


def trec_eval(qrels_q: dict[str, int], run_q: dict[str, float], measure: str, level: int = 1) -> float:
    evaluator = pytrec_eval.RelevanceEvaluator({"q": qrels_q}, {measure}, relevance_level=level)
    (value,) = evaluator.evaluate({"q": run_q})["q"].values()
    return value


def close(ours: float, theirs: float) -> bool:
    return math.isclose(ours, theirs, rel_tol=0.0, abs_tol=1e-9)


@settings(max_examples=500)
@given(qrels_rows, run_rows(), st.integers(1, 35), st.integers(1, 3))
def test_every_metric_equals_trec_eval(qrels_q, run_q, k, level):
    assert close(ndcg_at_k(qrels_q, run_q, k), trec_eval(qrels_q, run_q, f"ndcg_cut.{k}"))
    pairs = [(recall_at_k, "recall"), (precision_at_k, "P"), (average_precision_at_k, "map_cut")]
    for ours, theirs in pairs:
        assert close(
            ours(qrels_q, run_q, k, rel_lvl=level), trec_eval(qrels_q, run_q, f"{theirs}.{k}", level)
        )
    first = {doc: run_q[doc] for doc in ranked_ids(run_q)[:k]}
    assert close(mrr_at_k(qrels_q, run_q, k, rel_lvl=level), trec_eval(qrels_q, first, "recip_rank", level))


@settings(max_examples=100)
@given(st.lists(st.tuples(qrels_rows, run_rows()), min_size=1, max_size=6))
def test_means_equal_trec_eval_over_queries(rows):
    qrels = {f"q{number}": row for number, (row, _) in enumerate(rows)}
    run = {f"q{number}": row for number, (_, row) in enumerate(rows)}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recall.10", "map_cut.10"}).evaluate(run)
    report = evaluate_run(run, qrels)
    for ours, name in [("ndcg@10", "ndcg_cut_10"), ("recall@10", "recall_10"), ("map@10", "map_cut_10")]:
        mean = sum(values[name] for values in theirs.values()) / len(theirs)
        assert close(report.mean[ours], mean)
        assert all(close(report.per_query[query][ours], theirs[query][name]) for query in qrels)


QRELS = {"a": 2, "b": 1, "c": 1, "x": 0}
RUN = {"x": 9.0, "a": 8.0, "u": 7.0, "b": 6.0}


def test_values_worked_out_by_hand():
    # Ranking x a u b: gains 0 2 0 1, ideal 2 1 1.
    dcg = 2 / math.log2(3) + 1 / math.log2(5)
    ideal = 2 + 1 / math.log2(3) + 1 / 2
    assert ndcg_at_k(QRELS, RUN) == pytest.approx(dcg / ideal, abs=1e-12)
    assert ndcg_at_k(QRELS, RUN, 2) == pytest.approx((2 / math.log2(3)) / (2 + 1 / math.log2(3)), abs=1e-12)
    assert recall_at_k(QRELS, RUN) == 2 / 3
    assert recall_at_k(QRELS, RUN, 2) == 1 / 3
    assert precision_at_k(QRELS, RUN) == 2 / 10
    assert precision_at_k(QRELS, RUN, 2) == 1 / 2
    assert average_precision_at_k(QRELS, RUN) == pytest.approx((1 / 2 + 2 / 4) / 3, abs=1e-12)
    assert average_precision_at_k(QRELS, RUN, 2) == pytest.approx((1 / 2) / 3, abs=1e-12)
    assert mrr_at_k(QRELS, RUN) == 1 / 2
    assert mrr_at_k(QRELS, RUN, 1) == 0.0
    assert recall_at_k(QRELS, RUN, rel_lvl=2) == 1.0
    assert mrr_at_k({"b": 1, "a": 2}, {"b": 2.0, "a": 1.0}, rel_lvl=2) == 1 / 2


def test_the_gain_is_the_grade_itself():
    # With 2 ** grade - 1 this would be about 0.797.
    value = ndcg_at_k({"a": 2, "b": 1}, {"b": 2.0, "a": 1.0})
    assert value == pytest.approx((1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)), abs=1e-12)


def test_equal_scores_rank_by_id_and_nan_ranks_last():
    assert ranked_ids({"b": 1.0, "a": 1.0, "c": 2.0}) == ["c", "a", "b"]
    assert ranked_ids({"n": math.nan, "b": -math.inf, "a": 1.0}) == ["a", "b", "n"]
    assert mrr_at_k({"b": 1}, {"b": 1.0, "a": 1.0}) == 1 / 2


METRICS = [ndcg_at_k, recall_at_k, precision_at_k, average_precision_at_k, mrr_at_k]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("k", [0, -1, -10])
def test_a_cut_of_nothing_is_zero(metric, k):
    assert metric(QRELS, RUN, k) == 0.0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("qrels_q", [{}, {"a": 0}, {"a": -1, "b": 0}])
def test_no_graded_answer_is_zero(metric, qrels_q):
    assert metric(qrels_q, RUN) == 0.0


@pytest.mark.parametrize("metric", METRICS)
def test_no_answers_are_zero(metric):
    assert metric(QRELS, {}) == 0.0


def test_the_mean_ignores_the_order_of_queries():
    values = [0.1, 0.7, 1e-17, 0.3, 1 / 3] * 7
    assert mean_over_queries(values) == mean_over_queries(sorted(values)) == mean_over_queries(iter(values))
    assert mean_over_queries([]) == 0.0


def test_a_report_scores_exactly_the_queries_with_qrels():
    qrels = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}, "q3": {"d": 0}, "q4": {}}
    run = {"q1": {"b": 3.0, "a": 2.0}, "q3": {"d": 1.0}, "stray": {"a": 1.0}}
    report = evaluate_run(run, qrels)
    assert list(report.per_query) == ["q1", "q2", "q3", "q4"]
    assert report.ranks == {"q1": 2, "q2": 0, "q3": 0, "q4": 0}
    assert set(report.per_query["q2"].values()) == {0.0}
    assert report.mean["recall@10"] == 1 / 4
    assert report.k == 10


def test_the_rank_is_of_the_best_placed_among_the_highest_graded():
    qrels = {"q": {"a": 2, "b": 2, "c": 1}}
    assert evaluate_run({"q": {"c": 5.0, "b": 4.0, "a": 3.0}}, qrels).ranks == {"q": 2}
    deep = {f"z{number:03}": 1000.0 - number for number in range(40)} | {"a": 1.0}
    assert evaluate_run({"q": deep}, qrels).ranks == {"q": 41}


def test_nothing_to_score_is_a_report_of_zeros():
    report = evaluate_run({}, {})
    assert report == RetrievalReport(per_query={}, mean=dict.fromkeys(DEFAULT_METRICS, 0.0), ranks={}, k=10)


def test_metric_names_carry_their_own_cut():
    report = evaluate_run({"q": RUN}, {"q": QRELS}, k=3, metrics=("ndcg", "precision@2", "recall@1"))
    assert report.k == 3
    assert report.mean == {"ndcg": ndcg_at_k(QRELS, RUN, 10), "precision@2": 0.5, "recall@1": 0.0}
    assert metrics_at(5) == ("ndcg@5", "recall@5", "map@5", "mrr@5")
    assert parse_metric("map@100") == ("map", 100)


@pytest.mark.parametrize(
    "name", ["f1", "ndcg@", "ndcg@x", "@10", "", "NDCG@10", "ndcg@1.5", "ndcg@٣", "ndcg@10 "]
)
def test_an_unknown_metric_names_those_that_exist(name):
    with pytest.raises(ValueError, match="ndcg, recall, precision, map, mrr"):
        evaluate_run({}, {}, metrics=(name,))


def test_the_relevance_level_reaches_every_metric_but_ndcg():
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    low, high = evaluate_run(run, qrels), evaluate_run(run, qrels, rel_lvl=2)
    assert (low.mean["mrr@10"], high.mean["mrr@10"]) == (1.0, 0.5)
    assert (low.mean["map@10"], high.mean["map@10"]) == (1.0, 0.5)
    assert low.mean["ndcg@10"] == high.mean["ndcg@10"]


@dataclass
class FoundClip:
    sound: SimpleNamespace


def found(*ids: str) -> list[FoundClip]:
    return [FoundClip(SimpleNamespace(id=clip_id)) for clip_id in ids]


def test_a_run_row_keeps_the_order_of_the_search():
    assert build_run(found("b", "c", "a")) == {"b": 3, "c": 2, "a": 1}
    assert build_run([]) == {}


@given(st.lists(st.sampled_from(DOCS)))
def test_a_run_row_has_no_equal_scores_and_keeps_first_places(ids):
    row = build_run(found(*ids))
    assert len(set(row.values())) == len(row)
    assert ranked_ids(row) == list(dict.fromkeys(ids))


scores = st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False), max_size=4)
reports = st.builds(
    RetrievalReport,
    per_query=st.dictionaries(st.text(), scores, max_size=4),
    mean=scores,
    ranks=st.dictionaries(st.text(), st.integers(0, 10**6), max_size=4),
    k=st.integers(-5, 1000),
)


@given(reports)
def test_a_report_survives_json(report):
    document = json.loads(json.dumps(report.to_dict()))
    assert list(document) == ["k", "mean", "per_query", "ranks"]
    assert RetrievalReport.from_dict(document) == report


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"k": "10"},
        {"k": True},
        {"mean": []},
        {"mean": {"ndcg@10": "1"}},
        {"mean": {"ndcg@10": True}},
        {"mean": {"ndcg@10": math.nan}},
        {"per_query": {"q": 3}},
        {"per_query": {"q": {"ndcg@10": None}}},
        {"ranks": {"q": 1.5}},
        {"ranks": {"q": -1}},
    ],
)
def test_a_damaged_report_is_refused(document):
    with pytest.raises(ValueError):
        RetrievalReport.from_dict(document)


def test_reports_do_not_share_their_defaults():
    RetrievalReport().mean["ndcg@10"] = 1.0
    assert RetrievalReport() == RetrievalReport(per_query={}, mean={}, ranks={}, k=10)
    assert [field.name for field in fields(RetrievalReport)] == ["per_query", "mean", "ranks", "k"]


def reports_before_and_after() -> tuple[RetrievalReport, RetrievalReport]:
    qrels = {"q1": {"a": 2}, "q2": {"b": 2}, "q3": {"c": 2}}
    before = evaluate_run({"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {}}, qrels)
    after = evaluate_run({"q1": {"a": 1.0}, "q2": {"x": 2.0, "b": 1.0}, "q3": {}}, qrels)
    return before, after


def test_the_diff_shows_means_with_signed_changes_and_the_worst_queries():
    before, after = reports_before_and_after()
    text = after.format_regression_diff(before)
    assert "mrr@10         baseline 0.6667  now 0.5000  -0.1667" in text
    assert "recall@10      baseline 0.6667  now 0.6667  +0.0000" in text
    assert "queries that fell most in ndcg@10 (1 fell)" in text
    assert "q2  baseline 1.0000  now 0.6309  -0.3691  best answer at rank 2" in text
    worst = text.split("worst queries by ndcg@10\n")[1].splitlines()
    assert [line.split()[0] for line in worst] == ["q3", "q2"]
    assert "best answer not retrieved" in worst[0]


def test_the_diff_takes_every_form_of_a_baseline():
    before, after = reports_before_and_after()
    whole = after.format_regression_diff(before)
    assert after.format_regression_diff(before.to_dict()) == whole
    assert after.format_regression_diff({"mode": "hybrid", "report": before.to_dict()}) == whole
    for bare in ({"mean": {"ndcg@10": 0.9}}, {"ndcg@10": 0.9}, {"ndcg@10": 0.9, "note": "by hand"}):
        text = after.format_regression_diff(bare)
        assert "baseline 0.9000  now 0.5436  -0.3564" in text
        assert "mrr@10         baseline not measured  now 0.5000" in text
        assert "q3" in text


def test_the_diff_of_nothing_and_of_other_metrics_is_still_a_text():
    assert "0 queries" in RetrievalReport().format_regression_diff({})
    assert "now not measured" in RetrievalReport().format_regression_diff({"mean": {"ndcg@10": 0.5}})
    many = evaluate_run({}, {f"q{number:02}": {"a": 1} for number in range(30)})
    assert len(many.format_regression_diff({}).splitlines()) < 20


def test_signatures_are_those_of_the_reference():
    metrics = "('ndcg@10', 'recall@10', 'map@10', 'mrr@10')"
    names = {
        "average_precision_at_k": "(qrels_q, run_q, k=10, *, rel_lvl=1)",
        "build_run": "(candidates)",
        "evaluate_run": f"(run, qrels, *, k=10, metrics={metrics}, rel_lvl=1)",
        "mean_over_queries": "(values)",
        "mrr_at_k": "(qrels_q, run_q, k=10, *, rel_lvl=1)",
        "ndcg_at_k": "(qrels_q, run_q, k=10)",
        "precision_at_k": "(qrels_q, run_q, k=10, *, rel_lvl=1)",
        "recall_at_k": "(qrels_q, run_q, k=10, *, rel_lvl=1)",
    }
    for name, expected in names.items():
        function = getattr(retrieval, name)
        bare = [
            parameter.replace(annotation=inspect.Parameter.empty)
            for parameter in inspect.signature(function).parameters.values()
        ]
        assert str(inspect.Signature(bare)) == expected, name
    assert DEFAULT_METRICS == ("ndcg@10", "recall@10", "map@10", "mrr@10")


@pytest.mark.parametrize("module", [retrieval, regression])
def test_measuring_needs_the_standard_library_only(module):
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    further = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names}
    assert further <= {"foley_desktop.eval.regression"}
