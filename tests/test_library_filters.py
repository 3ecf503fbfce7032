"""``--where``: what is understood, and one sentence for everything that is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.errors import FilterError
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.filters import FIELDS, filters_to_sql, parse_where
from foley_desktop.models import Condition, Filters


@pytest.mark.parametrize(
    ("expression", "condition"),
    [
        ("duration<5", Condition("duration", "<", 5.0)),
        ("duration <= 0.5 s", Condition("duration", "<=", 0.5)),
        ("duration>250ms", Condition("duration", ">", 0.25)),
        ("duration>=1:30", Condition("duration", ">=", 90.0)),
        ("category=DOORS", Condition("category", "=", "DOORS")),
        ("CATEGORY==doors", Condition("category", "=", "doors")),
        ("category='USER INTERFACE'", Condition("category", "=", "USER INTERFACE")),
        ("rate>=48000", Condition("rate", ">=", 48000.0)),
        ("samplerate=96 kHz", Condition("rate", "=", 96000.0)),
        ("channels=2", Condition("channels", "=", 2.0)),
        ("channels=mono", Condition("channels", "=", 1.0)),
        ("rating>=3", Condition("rating", ">=", 3.0)),
        ("favourite=yes", Condition("favourite", "=", True)),
        ("favorite!=no", Condition("favourite", "!=", False)),
        ("folder=a=b<c", Condition("folder", "=", "a=b<c")),
        ("date>=2024-02-29", Condition("date", ">=", "2024-02-29")),
    ],
)
def test_expressions(expression: str, condition: Condition) -> None:
    assert parse_where([expression]) == Filters((condition,))


@pytest.mark.parametrize(
    "expression",
    ["", "duration", "<5", "duration<", "duration<five", "duration<nan", "duration<5 apples", "colour=red",
     "category<DOORS", "favourite=maybe", "favourite>yes", "date=2024-02-30", "date=yesterday", "folder=",
     "rating=1e999", "duration<1;DROP TABLE clips", "rate=5 s"],
)  # fmt: skip
def test_what_is_not_understood_is_named_in_one_sentence(expression: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse_where([expression])
    sentence = str(caught.value)
    assert sentence.endswith(".") and "\n" not in sentence and len(sentence) < 200


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    opened = Catalog(tmp_path_factory.mktemp("catalog") / "catalog.sqlite3")
    yield opened
    opened.close()


@given(st.text(max_size=40))
def test_any_text_is_a_filter_or_a_filter_error(catalog: Catalog, text: str) -> None:
    try:
        filters = parse_where([text])
    except FilterError:
        return
    assert catalog.matching_ids(filters) == frozenset()


@given(
    st.sampled_from(FIELDS),
    st.sampled_from(["<", "<=", "=", "!=", ">=", ">"]),
    st.text(max_size=20) | st.dates().map(str) | st.floats().map(str) | st.integers().map(str),
)
def test_any_comparison_is_sql_that_runs_or_a_filter_error(
    catalog: Catalog, field: str, op: str, value: str
) -> None:
    try:
        filters = parse_where([f"{field}{op}{value}"])
    except FilterError:
        return
    assert catalog.matching_ids(filters) == frozenset()
    assert filters_to_sql(filters)[0].count("?") == len(filters_to_sql(filters)[1])


def test_conditions_made_elsewhere_are_checked_too(catalog: Catalog, tmp_path: Path) -> None:
    for condition in (
        Condition("colour", "=", "red"),
        Condition("category", "<", "A"),
        Condition("category", "= 1 OR 1", "A"),  # type: ignore[arg-type]
        Condition("date", "=", "soon"),
        Condition("rating", "=", "five"),
    ):
        with pytest.raises(FilterError):
            catalog.matching_ids(Filters((condition,)))
