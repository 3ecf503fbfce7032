"""What is written on screen: plain, on one line, numbers a designer reads at a glance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.models import Clip, Hit, IndexReport, Progress, Rejection
from foley_desktop.ui import text

pytestmark = pytest.mark.gui


def clip(**values: object) -> Clip:
    return Clip(
        **({"id": "a", "path": "/s/x.wav", "root_id": 1, "rel_path": "x.wav", "name": "x.wav"} | values)
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("door.wav", "door.wav"),
        ("line\nbreak", "line⏎break"),
        ("caf\udce9.wav", "caf�.wav"),
        ("abc\u202efdp.wav", "abc\\u202efdp.wav"),
        ("bell\x07", "bell\\u0007"),
        ("Tür 爆炸", "Tür 爆炸"),
    ],
)
def test_names_cannot_disturb_a_line(raw: str, expected: str) -> None:
    assert text.shown(raw) == expected


@given(st.text(st.characters(codec=None), max_size=60))
def test_whatever_the_name_the_line_is_one_plain_line(raw: str) -> None:
    shown = text.shown(raw)
    assert "\n" not in shown and "\r" not in shown and "\x00" not in shown
    shown.encode("utf-8")


def test_long_tags_are_cut() -> None:
    assert text.shown("x" * 5000, 100) == "x" * 100 + "…"


def test_markup_in_tags_is_not_markup_in_tooltips() -> None:
    tip = text.plain_tooltip("<b>bold</b> & <img src=x>")
    assert "<b>" not in tip and "<img" not in tip
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;img" in tip


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, "–"),
        (0.0, "0:00.0"),
        (0.007, "7 ms"),
        (0.144, "0:00.1"),
        (3.25, "0:03.2"),
        (59.96, "1:00.0"),
        (725.0, "12:05.0"),
        (3600.0, "1:00:00"),
        (3725.4, "1:02:05"),
    ],
)
def test_durations(seconds: float | None, expected: str) -> None:
    assert text.duration(seconds) == expected


def test_rates_are_in_kilohertz() -> None:
    assert [text.rate(r) for r in (None, 22050, 44100, 48000, 192000)] == ["–", "22.05", "44.1", "48", "192"]


def test_progress_is_told_with_rate_and_time_left() -> None:
    assert text.progress(Progress(120, 737, "x", 45.2, 13.7)) == "120 of 737 · 45/s · 14 s left"
    assert text.progress(Progress(5, 0)) == "5"
    assert text.progress(None) == "waiting"
    assert text.remaining(5000) == "83 min" and text.remaining(8000) == "2 h 13 min"


def test_the_score_of_each_mode() -> None:
    assert text.best_score(Hit(clip(), 1, rrf_score=0.8, clap_score=0.2, bm25_score=7.0)) == 0.8
    assert text.best_score(Hit(clip(), 1, clap_score=0.2)) == 0.2
    assert text.best_score(Hit(clip(), 1, bm25_score=7.0)) == 7.0
    meaning = {"semantic": {"rank": 1, "score": 0.7, "share": None}}
    assert text.best_score(Hit(clip(), 1, why=meaning)) == 0.7
    assert text.best_score(Hit(clip(), 1)) is None
    assert text.best_score(Hit(clip(), 1, rrf_score=0.0)) is None
    assert text.score(Hit(clip(), 1, rrf_score=0.0)) == ""


def test_why_names_rankers_words_and_the_best_moment() -> None:
    why = {
        "keyword": {"rank": 2, "score": 7.5, "share": 0.3},
        "semantic": {"rank": 1, "score": 0.7, "share": 0.1},
        "audio": {"rank": None, "score": None, "share": 0.0},
        "matched": {"door": ["name", "folder"]},
    }
    lines = text.why(Hit(clip(), 1, rrf_score=0.4, start_s=1.0, end_s=11.0, why=why)).split("\n")
    assert "words: rank 2, score 7.500, 75% of the total" in lines
    assert "meaning: rank 1, score 0.700, 25% of the total" in lines
    assert "“door” in name, folder" in lines
    assert "best moment: 0:01.000 – 0:11.000" in lines
    assert not any(line.startswith("sound:") for line in lines)


def test_index_runs_are_summed_up_in_a_sentence() -> None:
    rejected = (Rejection("/s/a.wav", "empty"), Rejection("/s/b.wav", "empty"))
    assert text.index_summary(IndexReport(added=1, rejected=rejected)) == (
        "1 sound added. 2 files could not be used."
    )
    assert text.index_summary(IndexReport(unchanged=1200)) == "Nothing new, 1,200 sounds unchanged."
