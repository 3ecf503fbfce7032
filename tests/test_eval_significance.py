"""Resampling against exact counting, known cases and its own seed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.eval.significance import (
    Comparison,
    bootstrap_interval,
    compare_runs,
    randomisation_p_value,
)

tenths = st.integers(0, 10).map(lambda number: number / 10)
pairs = st.lists(st.tuples(tenths, tenths), max_size=8)


@given(pairs)
def test_few_pairs_are_counted_exactly(values):
    first, second = [a for a, _ in values], [b for _, b in values]
    differences = [b - a for a, b in values]
    observed = abs(sum(differences)) - 1e-9
    patterns = list(itertools.product([1, -1], repeat=len(values)))
    large = sum(abs(sum(s * d for s, d in zip(p, differences, strict=True))) >= observed for p in patterns)
    assert randomisation_p_value(first, second) == pytest.approx(large / len(patterns))
    assert randomisation_p_value(first, second) == randomisation_p_value(second, first)


def test_many_pairs_come_close_to_the_exact_count():
    random = np.random.RandomState(3)
    first, second = random.rand(13), random.rand(13) + 0.15
    exact = randomisation_p_value(first, second, resamples=2**13)
    drawn = randomisation_p_value(first, second, resamples=2**13 - 1)
    assert 0.02 < exact < 0.9
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 2**13))


def test_a_clear_difference_is_significant_and_none_is_not():
    first = np.linspace(0.1, 0.6, 40)
    assert randomisation_p_value(first, first + 0.2) == 1 / 10_001
    assert randomisation_p_value(first, first) == randomisation_p_value([], []) == 1.0
    alternating = first + np.tile([0.1, -0.1], 20)
    assert randomisation_p_value(first, alternating) > 0.9


def test_the_test_keeps_its_level_when_the_runs_are_alike():
    random = np.random.RandomState(5)
    p_values = [randomisation_p_value(*random.rand(2, 10), resamples=2**10) for _ in range(300)]
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=0.04)


def test_the_interval_is_about_that_of_the_normal_law():
    values = np.random.RandomState(1).rand(400)
    low, high = bootstrap_interval(values)
    error = values.std() / math.sqrt(values.size)
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.15 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.15 * error)
    narrow = bootstrap_interval(values, confidence=0.5)
    assert low < narrow[0] < values.mean() < narrow[1] < high


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says():
    random = np.random.RandomState(2)
    intervals = [bootstrap_interval(random.rand(40), resamples=500) for _ in range(200)]
    assert np.mean([low <= 0.5 <= high for low, high in intervals]) == pytest.approx(0.95, abs=0.05)


@given(st.lists(tenths, min_size=1, max_size=30), st.integers(0, 2**32 - 1))
def test_the_interval_lies_within_the_values_and_repeats(values, seed):
    low, high = bootstrap_interval(values, resamples=200, seed=seed)
    assert min(values) - 1e-12 <= low <= high <= max(values) + 1e-12
    assert (low, high) == bootstrap_interval(values, resamples=200, seed=seed)


def test_few_values():
    assert bootstrap_interval([]) == (0.0, 0.0)
    assert bootstrap_interval([0.25]) == (0.25, 0.25)


def test_the_numbers_do_not_change_between_machines():
    values = [0.0, 0.3, 0.31, 0.5, 0.63, 0.9, 1.0] * 3
    assert bootstrap_interval(values, resamples=1000) == pytest.approx(
        (0.3771428571428571, 0.6585952380952382), abs=1e-12
    )
    others = [value * 0.9 + 0.2 * (place % 3 == 0) for place, value in enumerate(values)]
    assert randomisation_p_value(values, others, resamples=1000) == 532 / 1001


def test_blocks_do_not_change_what_is_counted(monkeypatch):
    from foley_desktop.eval import significance

    random = np.random.RandomState(4)
    first, second = random.rand(2, 50)
    whole = (bootstrap_interval(first), randomisation_p_value(first, second))
    monkeypatch.setattr(significance, "_BLOCK", 7_000)
    assert (bootstrap_interval(first), randomisation_p_value(first, second)) == whole


def test_runs_are_compared_over_the_queries_that_both_have():
    first = {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.5, "only": 0.0}
    second = {"d": 0.5, "c": 0.25, "b": 1.0, "a": 0.75, "other": 1.0}
    compared = compare_runs(first, second)
    assert (compared.queries, compared.better, compared.worse, compared.equal) == (4, 2, 1, 1)
    assert compared.difference == 0.125
    # Signs of 0.25, 0.5, -0.25: six of eight patterns reach 0.5.
    assert compared.p_value == 6 / 8
    assert compared.low < compared.difference < compared.high
    assert compare_runs(dict(reversed(first.items())), second) == compared
    assert compare_runs({}, first) == Comparison(0, 0.0, 0.0, 0.0, 1.0, 0, 0, 0)


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([math.nan], {}),
        ([math.inf], {}),
        ([[0.5]], {}),
        ([0.5], {"confidence": 0.0}),
        ([0.5], {"confidence": 1.0}),
        ([0.5], {"resamples": 0}),
    ],
)
def test_what_makes_no_sense_is_refused(values, options):
    with pytest.raises(ValueError):
        bootstrap_interval(values, **options)


def test_pairs_have_to_be_pairs():
    with pytest.raises(ValueError, match="2 and 1 values"):
        randomisation_p_value([0.1, 0.2], [0.1])


def test_a_comparison_says_when_there_are_too_few_queries_to_tell():
    def of(changes):
        before = {f"q{n}": 0.5 for n in range(len(changes))}
        return compare_runs(before, {f"q{n}": 0.5 + change for n, change in enumerate(changes)})

    five = of([0.1] * 5 + [0.0] * 20)
    assert five.significant is None
    assert five.sentence() == "Too few queries to tell: 5 differ (p = 0.062, n = 25)."
    assert of([0.1] * 6).sentence() == "Better (p = 0.031, n = 6)."
    assert of([-0.1] * 11).sentence() == "Worse (p < 0.001, n = 11)."
    assert of([0.1, -0.1] * 4).sentence() == "No difference to be sure of (p = 1.000, n = 8)."
    assert of([0.0] * 3).sentence() == "No query differs (n = 3)."
    assert of([]).significant is False
