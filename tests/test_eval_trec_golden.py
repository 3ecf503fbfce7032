"""Golden sets from TREC collections: qrels with or without the texts of the queries."""

from __future__ import annotations

import pytest

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.golden import GoldenQuery, GoldenSet
from foley_desktop.eval.trec_golden import dump_trec, load_trec, read_texts


def test_a_set_comes_back_whatever_its_ids(tmp_path):
    golden = GoldenSet(
        "qrels",
        (GoldenQuery("q 1", "dog barking"), GoldenQuery("50%", "Tür"), GoldenQuery("q3", "not graded")),
        {"q 1": {"a b.wav": 2, "caf\udce9.wav": 0}, "50%": {"c.wav": 1}},
    )
    dump_trec(golden, tmp_path / "qrels.txt", tmp_path / "queries.tsv")
    assert load_trec(tmp_path / "qrels.txt", tmp_path / "queries.tsv") == (golden, [])


def test_what_is_changed_is_said(tmp_path):
    (tmp_path / "q.txt").write_text("301 0 FBIS-1 -2\n301 0 FBIS-2 4\n302 0 FBIS-1 1\n")
    golden, notes = load_trec(tmp_path / "q.txt")
    assert golden.qrels == {"301": {"FBIS-1": 0, "FBIS-2": 2}, "302": {"FBIS-1": 1}}
    assert golden.texts == {"301": "301", "302": "302"}
    assert notes == [
        "Queries without a text, searched for by their id: 2.",
        "Grades below 0, taken as 0: 1.",
        "Grades above 2, taken as 2: 1.",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q1 dog\n", "not an id, a tab and a text"),
        ("q1\ta\nq1\tb\n", "Line 2 .* second time"),
        ("\tx\n", "Line 1"),
    ],
)
def test_damaged_texts_are_named(tmp_path, text, words):
    (tmp_path / "t.tsv").write_text(text)
    with pytest.raises(GoldenSetError, match=words):
        read_texts(tmp_path / "t.tsv")


def test_empty_qrels_are_refused(tmp_path):
    (tmp_path / "q.txt").write_text("\n")
    with pytest.raises(GoldenSetError, match="has no queries"):
        load_trec(tmp_path / "q.txt")
