"""Numbered takes fold into one row, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.library.takes import fold, take_of
from foley_desktop.models import Clip, Hit


def clip(rel_path: str, root_id: int = 1) -> Clip:
    name = rel_path.rpartition("/")[2]
    return Clip(f"id-{root_id}-{rel_path}", f"/r{root_id}/{rel_path}", root_id, rel_path, name)


@pytest.mark.parametrize(
    ("stem", "base"),
    [
        ("door_creak_01", "door_creak"),
        ("Footstep 3", "Footstep"),
        ("step.2", "step"),
        ("footstep(3)", "footstep"),
        ("Footstep (12)", "Footstep"),
        ("boom2", "boom"),
        ("door take 3", "door"),
        ("door_tk03", "door"),
        ("Door_v2", "Door"),
        ("loud var 2", "loud"),
        ("Take 1", "Take"),
        ("雷 3", "雷"),
        ("шаг_02", "шаг"),
        ("DOORWood_Door Creak 03_CRE_SRC", "Door Creak"),
    ],
)
def test_a_take_is_named_without_its_number(stem: str, base: str) -> None:
    key, shown = take_of(stem)
    assert key and shown == base


@pytest.mark.parametrize(
    "stem",
    [
        *("boom", "Rain 5.1", "tone 24-96", "MKH8040", "F16", "F-16", "AK47", "01", "(3)", "birds 2019"),
        *("hit-1-2", "x 1 2", "v2", "step_2_end", "", "-", "雷", "DOORWood_Door Creak_CRE_SRC"),
    ],
)
def test_other_numbers_are_no_takes(stem: str) -> None:
    assert take_of(stem) == ((), stem)


def test_forty_takes_are_one_row_where_the_best_of_them_stood() -> None:
    takes = [clip(f"doors/door_creak_{n:02}.wav") for n in (7, *range(1, 7), *range(8, 41))]
    rows = [clip("rain.wav"), *takes[:5], clip("wind.wav"), *takes[5:]]
    folded = fold(rows)
    assert [f.label for f in folded] == ["rain.wav", "door_creak ×40", "wind.wav"]
    assert folded[1].first == takes[0] and folded[1].count == 40
    assert folded[1].rows == tuple(takes)


def test_takes_share_folder_root_and_name() -> None:
    rows = [clip("a/step 1.wav"), clip("b/step 2.wav"), clip("a/step 3.wav", 2), clip("a/STEP_4.flac")]
    assert [f.count for f in fold(rows)] == [2, 1, 1]
    assert fold(rows)[0].rows == (rows[0], rows[3])


def test_ucs_names_differ_in_more_than_the_number() -> None:
    names = ["Creak 01_CRE_SRC", "Creak 02_CRE_SRC", "Creak 03_CRE_OTHER", "Slam 01_CRE_SRC"]
    assert [f.count for f in fold(clip(f"DOORWood_{name}.wav") for name in names)] == [2, 1, 1]


def test_hits_fold_as_clips_do() -> None:
    hits = [Hit(clip(name), rank) for rank, name in enumerate(["step 2.wav", "gate.wav", "step 1.wav"], 1)]
    folded = fold(hits)
    assert [f.rows for f in folded] == [(hits[0], hits[2]), (hits[1],)]


def test_files_that_were_refused_have_no_id_and_stay_apart() -> None:
    rejected = [Clip("", f"/r/{n}.wav", 1, f"{n}.wav", f"{n}.wav", status="rejected") for n in ("a", "b")]
    assert [f.count for f in fold(rejected)] == [1, 1]


@given(st.lists(st.text(min_size=1, max_size=12).filter(lambda t: "/" not in t), max_size=30, unique=True))
def test_folding_loses_nothing_and_keeps_the_order(names: list[str]) -> None:
    rows = [clip(f"{name}.wav") for name in names]
    folded = fold(rows)
    assert sorted(row.id for f in folded for row in f.rows) == sorted(row.id for row in rows)
    firsts = [rows.index(f.first) for f in folded]
    assert firsts == sorted(firsts)
    for f in folded:
        assert [rows.index(row) for row in f.rows] == sorted(rows.index(row) for row in f.rows)
    assert [f.rows for f in fold([f.first for f in folded])] == [(f.first,) for f in folded]
