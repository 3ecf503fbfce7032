"""Golden sets as tables: read from what spreadsheets write, and back without loss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.golden import GoldenQuery, GoldenSet
from foley_desktop.eval.golden_csv import dump_csv, load_csv

EXPECTED = GoldenSet(
    "t",
    (GoldenQuery("q001", "dog, barking"), GoldenQuery("q002", "rain"), GoldenQuery("q003", "nothing yet")),
    {"q001": {"a b.wav": 2, "c.wav": 0}, "q002": {"d.wav": 1}},
)


ROWS = [
    ("dog, barking", "a b.wav", "2"),
    ("dog, barking", "c.wav", "0"),
    ("rain", "d.wav", "1"),
    ("nothing yet", "", ""),
]


def table(rows, delimiter, end="\n", quote='"') -> str:
    quoted = [[f"{quote}{cell}{quote}" if delimiter in cell else cell for cell in row] for row in rows]
    return "".join(delimiter.join(row) + end for row in quoted)


@pytest.mark.parametrize(
    "text",
    [
        table([("query", "clip", "grade"), *ROWS], ","),
        table(ROWS, ","),
        "\ufeff" + table([("Query", "Clip", "Grade"), *ROWS], ";", "\r\n"),
        table([("grade", "note", "query", "clip"), *((g, "x", q, c) for q, c, g in ROWS[:3])], "\t")
        + "\t\tnothing yet\t\n",
        table([(" query", "clip ", " grade")], ",") + "\n,,\n" + table(ROWS[:3], ",") + "nothing yet\n",
    ],
)
def test_tables_as_programs_write_them(tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text.encode())
    assert load_csv(tmp_path / "t.csv") == EXPECTED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no queries"),
        ("query,clip,grade\n", "has no queries"),
        (
            "query,clip,grade\ndog,a.wav,2.0\n",
            "Line 2 of the CSV file .* has a grade '2.0' that is not 0, 1 or 2",
        ),
        ("dog,a.wav,high\n", "grade 'high'"),
        ("dog,a.wav,-1\n", "grade '-1'"),
        ("dog,a.wav,NaN\n", "grade 'NaN'"),
        ("dog,a.wav,\n", "grade ''"),
        ("dog,,2\n", "grades no clip"),
        (",a.wav,2\n", "names no query"),
        ("dog,a.wav\n", "has 2 columns"),
        ("dog,a.wav,2\ndog,a.wav,1\n", "Line 2 .* a second time"),
        ('dog,"a.wav,2\n', "is not CSV"),
        ("dog," + "x" * 200_000 + ",2\n", "is not CSV"),
    ],
)
def test_damage_is_one_sentence(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text, "utf-8")
    with pytest.raises(GoldenSetError, match=words) as caught:
        load_csv(tmp_path / "t.csv")
    assert str(caught.value).count("\n") == 0


def test_another_encoding_is_named(tmp_path):
    (tmp_path / "t.csv").write_bytes("query,clip,grade\nTür,a.wav,2\n".encode("latin-1"))
    with pytest.raises(GoldenSetError, match="not UTF-8 text"):
        load_csv(tmp_path / "t.csv")


def test_what_a_table_cannot_hold_is_refused_and_nothing_written(tmp_path):
    queries = (GoldenQuery("a", "dog"), GoldenQuery("b", "dog"))
    for qrels, words in (
        ({"a": {"x": 1}, "b": {"x": 2}}, "differently"),
        ({"a": {"caf\udce9.wav": 1}}, "every file name"),
        ({"a": {" x": 1}}, "every file name"),
    ):
        with pytest.raises(GoldenSetError, match=words):
            dump_csv(GoldenSet("t", queries, qrels), tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).map(str.strip)


@given(
    st.lists(
        st.tuples(texts, st.dictionaries(texts.filter(bool), st.sampled_from([0, 1, 2]), max_size=4)),
        min_size=1,
        max_size=5,
        unique_by=lambda pair: pair[0],
    ).filter(lambda pairs: all(text for text, _ in pairs))
)
def test_every_table_comes_back(tmp_path, pairs):
    golden = GoldenSet(
        "round",
        tuple(GoldenQuery(f"q{n:03}", text) for n, (text, _) in enumerate(pairs, start=1)),
        {f"q{n:03}": row for n, (_, row) in enumerate(pairs, start=1) if row},
    )
    dump_csv(golden, tmp_path / "round.csv")
    assert load_csv(tmp_path / "round.csv") == golden


@given(st.binary(max_size=200))
def test_any_bytes_give_a_set_or_a_sentence(tmp_path, data):
    (tmp_path / "t.csv").write_bytes(data)
    try:
        assert load_csv(tmp_path / "t.csv").queries
    except GoldenSetError as error:
        assert str(error)
