"""Agreement between graders, against values worked out by hand."""

from __future__ import annotations

import pytest

from foley_desktop.eval.agreement import agreement, weighted_kappa


def test_a_table_worked_out_by_hand():
    # 10 clips; rows (5, 3, 2), columns (4, 3, 3).
    table = [[4, 1, 0], [0, 2, 1], [0, 0, 2]]
    # observed: 1*1 + 1*1 = 2; expected: (5*3*1 + 5*3*4 + 3*4*1 + 3*3*1 + 2*4*4 + 2*3*1) / 10 = 13.4
    assert weighted_kappa(table) == pytest.approx(1 - 2 / 13.4, abs=1e-12)


def test_a_zero_against_a_two_costs_four_times_as_much_as_a_one():
    near = [[5, 0, 0], [0, 5, 1], [0, 0, 5]]
    far = [[5, 0, 1], [0, 5, 0], [0, 0, 5]]
    # expected of near: rows (5, 6, 5), columns (5, 5, 6)
    assert weighted_kappa(near) == pytest.approx(1 - 1 / ((25 + 120 + 30 + 36 + 100 + 25) / 16), abs=1e-12)
    assert weighted_kappa(far) == pytest.approx(1 - 4 / ((30 + 144 + 25 + 30 + 100 + 25) / 16), abs=1e-12)


def test_full_agreement_is_one_and_full_contradiction_minus_one():
    assert weighted_kappa([[3, 0, 0], [0, 4, 0], [0, 0, 2]]) == 1.0
    assert weighted_kappa([[0, 0, 5], [0, 0, 0], [5, 0, 0]]) == -1.0


def test_independent_graders_agree_by_chance_alone():
    assert weighted_kappa([[4, 8, 4], [2, 4, 2], [2, 4, 2]]) == pytest.approx(0.0, abs=1e-12)


def test_kappa_has_no_value_without_any_difference_to_be_expected():
    assert weighted_kappa([[0, 0, 0], [0, 7, 0], [0, 0, 0]]) is None
    assert weighted_kappa([[0, 0], [0, 0]]) is None
    with pytest.raises(ValueError, match="square"):
        weighted_kappa([[1, 0], [0]])


def test_only_what_both_graded_counts():
    anna = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1}}
    ben = {"q1": {"a": 2, "b": 1, "x": 2}, "q3": {"a": 0}}
    found = agreement(anna, ben)
    assert found.clips == 2
    assert found.exact == 0.5
    assert found.table == ((0, 1, 0), (0, 0, 0), (0, 0, 1))
    # observed 1; rows (1, 0, 1), columns (0, 1, 1): expected (1 + 4 + 1) / 2 = 3
    assert found.kappa == pytest.approx(1 - 1 / 3)
    assert found.sentence() == "Kappa 0.67 (substantial) on 2 clips; 50% of the grades are equal."


def test_sentences_for_what_cannot_be_told():
    assert agreement({}, {"q": {"a": 1}}).sentence() == "No clip was graded by both."
    same = agreement({"q": {"a": 1}}, {"q": {"a": 1}})
    assert same.kappa is None and same.exact == 1.0
    assert "kappa has no value" in same.sentence()
