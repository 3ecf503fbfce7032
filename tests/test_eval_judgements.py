"""Judgements of several people: which grade counts, and how they stand in a file."""

from __future__ import annotations

import pytest

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.golden import GoldenQuery, GoldenSet, golden_document, parse_golden
from foley_desktop.eval.judgements import Judgement, judgement_entries, merged, parse_judgements


def test_the_lower_median_counts_and_people_outrank_files():
    given = [
        Judgement("q", "a", 2),
        Judgement("q", "a", 0, "anna"),
        Judgement("q", "b", 1),
        Judgement("q", "c", 2, "anna"),
        Judgement("q", "c", 1, "ben"),
        Judgement("q", "d", 2, "anna"),
        Judgement("q", "d", 0, "ben"),
        Judgement("q", "d", 1, "cleo"),
        Judgement("r", "a", 1, "ben"),
    ]
    assert merged(given) == {"q": {"a": 0, "b": 1, "c": 1, "d": 1}, "r": {"a": 1}}
    assert merged(reversed(given)) == merged(given)
    assert merged(given, ["anna"]) == {"q": {"a": 0, "c": 2, "d": 2}}
    assert merged(given, ["", "ben"]) == {"q": {"a": 2, "b": 1, "c": 1, "d": 0}, "r": {"a": 1}}


def test_judgements_come_back_from_a_file():
    given = (Judgement("q", "a b.wav", 2, "Änne", 1700000000.0), Judgement("q", "c", 0, "", 0.0))
    assert parse_judgements(judgement_entries(given), {"q"}) == given


GOOD = {"query": "q", "clip": "a", "grade": 2, "grader": "anna", "at": "2024-05-01T10:00:00Z"}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "have to be a list"),
        ([1], "has to be an object"),
        ([GOOD | {"query": 1}], "name a query, a clip and a grader"),
        ([GOOD | {"clip": ""}], "name a query, a clip and a grader"),
        ([GOOD | {"query": "other"}], "not among the queries"),
        ([GOOD | {"grade": "2"}], "not 0, 1 or 2"),
        ([GOOD | {"grade": True}], "not 0, 1 or 2"),
        ([GOOD | {"grade": 3}], "not 0, 1 or 2"),
        ([GOOD | {"at": "yesterday"}], "not a time"),
        ([GOOD | {"at": 5}], "not a time"),
        ([GOOD | {"at": "9999-12-31T23:59:59Z"}], "not a time"),
        ([GOOD, GOOD | {"grade": 1}], "Judgement 2 grades a clip that the same grader graded before"),
    ],
)
def test_damage_is_one_sentence(value, words):
    with pytest.raises(GoldenSetError, match=words):
        parse_judgements(value, {"q"})


def test_a_golden_file_keeps_the_id_of_its_set():
    golden = GoldenSet("s", (GoldenQuery("q", "dog"),), {"q": {"a": 1}}, "5e7")
    assert parse_golden(golden_document(golden)) == golden
    assert parse_golden(golden_document(golden) | {"set_id": 5}).set_id == ""
    assert "set_id" not in golden_document(GoldenSet("s"))
