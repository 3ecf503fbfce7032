"""The table's model: numeric order, unknown last, nothing read, nothing rich."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from foley_desktop.models import Clip, Hit
from foley_desktop.ui.results_model import BY_NAME, COLUMNS, SORT_ROLE, ResultsModel, sorted_rows
from foley_desktop.workers.jobs import Row

pytestmark = pytest.mark.gui

ASCENDING, DESCENDING = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder


def row(clip_id: str, score: float | None = None, **values: Any) -> Row:
    name = values.pop("name", f"{clip_id}.wav")
    clip = Clip(id=clip_id, path=f"/s/{name}", root_id=1, rel_path=f"sub/{name}", name=name, **values)
    return Row(clip, None if score is None else Hit(clip, 1, rrf_score=score))


def ids(model: ResultsModel) -> list[str]:
    return [r.clip.id for r in model.rows]


@pytest.fixture
def model(qtbot: Any) -> ResultsModel:
    made = ResultsModel()
    QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal, made)
    return made


LENGTHS = {"m59": 59.0, "m550": 550.0, "m605": 605.0, "h1": 3600.0, "none": None, "tiny": 0.001}


@pytest.mark.parametrize("order", [ASCENDING, DESCENDING])
def test_lengths_sort_as_numbers_and_unknown_comes_last(model: ResultsModel, order: Qt.SortOrder) -> None:
    model.set_rows([row(name, duration_s=seconds) for name, seconds in LENGTHS.items()])
    model.sort(BY_NAME["duration"], order)
    known = ["tiny", "m59", "m550", "m605", "h1"]
    assert ids(model) == [*(known if order == ASCENDING else known[::-1]), "none"]


@pytest.mark.parametrize(
    ("column", "field", "values"),
    [
        ("rate", "samplerate", (8000, 44100, 96000, 192000)),
        ("channels", "channels", (1, 2, 6, 12)),
        ("depth", "bit_depth", (8, 16, 24, 32)),
        ("rating", "rating", (1, 2, 4, 5)),
    ],
)
def test_numbers_sort_as_numbers(
    model: ResultsModel, column: str, field: str, values: tuple[int, ...]
) -> None:
    rows = [row(f"c{value}", **{field: value}) for value in reversed(values)]
    model.set_rows(rows)
    model.sort(BY_NAME[column], ASCENDING)
    assert ids(model) == [f"c{value}" for value in values]
    model.sort(BY_NAME[column], DESCENDING)
    assert ids(model) == [f"c{value}" for value in reversed(values)]


def test_the_third_click_brings_back_the_search_s_own_order(model: ResultsModel) -> None:
    model.set_rows(
        [row("b", 0.9, name="Zoo.wav"), row("a", 0.5, name="alarm.wav"), row("c", 0.1, name="Bell.wav")]
    )
    model.sort(BY_NAME["name"], ASCENDING)
    assert ids(model) == ["a", "c", "b"], "letters in either case"
    model.sort(-1, ASCENDING)
    assert ids(model) == ["b", "a", "c"]


def test_equal_rows_keep_the_order_of_the_search() -> None:
    rows = [row("b", duration_s=1.0), row("a", duration_s=1.0), row("c", duration_s=0.5)]
    assert [r.clip.id for r in sorted_rows(rows, BY_NAME["duration"], True)] == ["b", "a", "c"]


def test_what_points_at_a_row_follows_it_through_sorting(model: ResultsModel) -> None:
    model.set_rows([row(f"c{n}", duration_s=float(9 - n)) for n in range(5)])
    held = QPersistentModelIndex(model.index(1, 4))
    model.sort(BY_NAME["duration"], ASCENDING)
    assert model.clip_at(held.row()).id == "c1" and held.row() == 3  # type: ignore[union-attr]


def test_a_long_list_is_loaded_page_by_page(qtbot: Any) -> None:
    model = ResultsModel()  # a model tester would fetch by itself
    wanted: list[int] = []
    model.page_wanted.connect(wanted.append)
    model.set_rows([row(f"a{n}") for n in range(3)], more=True)
    assert model.canFetchMore(model.index(-1, -1))
    model.fetchMore(model.index(-1, -1))
    model.fetchMore(model.index(-1, -1))
    assert wanted == [3], "one page is asked for at a time"
    model.add_page([row("a2"), row("b0")], more=False)
    assert ids(model) == ["a0", "a1", "a2", "b0"], "a clip is listed once"
    assert not model.canFetchMore(model.index(-1, -1))


def test_a_list_that_is_not_all_here_is_ordered_by_the_catalog(model: ResultsModel) -> None:
    orders: list[tuple[str, bool]] = []
    model.order_wanted.connect(lambda *order: orders.append(order))
    model.set_rows([row("b"), row("a")], more=True)
    model.sort(BY_NAME["duration"], DESCENDING)
    model.sort(-1, ASCENDING)
    assert orders == [("duration", True), ("name", False)]
    assert ids(model) == ["b", "a"]


def test_changed_clips_show_at_once_and_stay_where_they_are(model: ResultsModel) -> None:
    model.set_rows([row(f"c{n}", 1.0 - n / 10) for n in range(4)])
    changes: list[object] = []
    model.dataChanged.connect(lambda *args: changes.append(args))
    model.change_clips(["c2"], rating=5, favourite=True)
    assert ids(model) == ["c0", "c1", "c2", "c3"]
    assert model.clip_at(2).rating == 5 and model.clip_at(2).favourite  # type: ignore[union-attr]
    assert changes
    model.sort(BY_NAME["rating"], DESCENDING)
    model.sort(-1, ASCENDING)
    assert model.clip_at(2).rating == 5, "kept in every order"  # type: ignore[union-attr]


def test_cells_are_plain_text(model: ResultsModel) -> None:
    model.set_rows([row("a", name="<b>x\n.wav", description="<img src='x'>\r\nnext", category="A<i>")])
    shown = [model.index(0, n).data() for n in range(len(COLUMNS))]
    assert shown[BY_NAME["name"]] == "<b>x⏎.wav"
    assert shown[BY_NAME["description"]] == "<img src='x'>⏎⏎next"
    for number in range(len(COLUMNS)):
        tip = model.index(0, number).data(Qt.ItemDataRole.ToolTipRole) or ""
        assert "<b>" not in tip and "<img" not in tip and "<i>" not in tip


def test_unknown_values_have_no_sort_key(model: ResultsModel) -> None:
    model.set_rows([row("a")])
    for name in ("duration", "rate", "channels", "depth", "category", "description", "score", "rating"):
        assert model.index(0, BY_NAME[name]).data(SORT_ROLE) is None


def test_every_header_explains_itself(model: ResultsModel) -> None:
    for number in range(len(COLUMNS)):
        for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            assert model.headerData(number, Qt.Orientation.Horizontal, role)
