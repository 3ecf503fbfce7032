"""The query language through the whole search: every operator with its right answer, and any text at all.

The clips carry hashed vectors, so what is proved here is what words do; ``FOLEY_HYPOTHESIS=thorough`` throws
twenty thousand texts at the search.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import numpy as np
import pytest
import soundfile
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lab_library import index, open_library

from foley_desktop.library.service import LibraryService
from foley_desktop.models import MODES, SearchResult

NAMES = (
    "rain/rain light.wav",
    "rain/rain heavy thunder.wav",
    "rain/light drizzle.wav",
    "doors/door wood creak 01.wav",
    "doors/door metal slam.flac",
    "doors/DoorBell_5.1.wav",
    "doors/gate squeak.wav",
    "tech/MKH8040 room tone.wav",
    "tech/sine 24-96.wav",
    "tech/sine 5 then 1.wav",
    "tech/colour wheel.wav",
    "animals/wolves howling.ogg",
    "animals/dog bark.wav",
    "animals/Türschlag café.wav",
    "animals/爆炸声 远处.wav",
    "animals/صوت المطر.wav",
    "animals/🐕 barking.wav",
    "fx/whoosh fast.wav",
    "fx/AMBForst_B00M01.wav",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryService]:
    folder = tmp_path_factory.mktemp("queries")
    rng = np.random.default_rng(2)
    for name in NAMES:
        file = folder / "clips" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(file, 0.3 * rng.standard_normal(2205), 22050)
    service = open_library(folder / "data")
    index(service, folder / "clips")
    yield service
    service.close()


def names(result: SearchResult) -> list[str]:
    return [hit.sound.name.rpartition(".")[0] for hit in result.hits]


def keyword(library: LibraryService, query: str, **options) -> list[str]:
    return names(library.search(query, k=50, mode="keyword", **options))


# ---------------------------------------------------------------- the right answers


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("thunder", ["rain heavy thunder"]),
        ("door creak", ["door wood creak 01"]),
        ('"light rain"', []),
        ('"rain light"', ["rain light"]),
        ("rain -thunder", ["rain light", "light drizzle"]),
        ("rain NOT thunder", ["rain light", "light drizzle"]),
        ("creak OR slam", ["door metal slam", "door wood creak 01", "gate squeak"]),
        ("name:gate", ["gate squeak"]),
        ("folder:tech sine", ["sine 24-96", "sine 5 then 1"]),
        ("ext:ogg", ["wolves howling"]),
        ("ext:flac door", ["door metal slam"]),
        ("-ext:wav", ["wolves howling", "door metal slam"]),
        ("5.1", ["DoorBell_5.1"]),
        ("24-96", ["sine 24-96"]),
        ("24/96", ["sine 24-96"]),
        ("MKH8040", ["MKH8040 room tone"]),
        ("mkh", ["MKH8040 room tone"]),
        ("AMBForst_B00M01", ["AMBForst_B00M01"]),
        ("wolf", ["wolves howling"]),
        ("dogs", ["dog bark"]),
        ("barks", ["dog bark", "🐕 barking"]),
        ("color", ["colour wheel"]),
        ("swish", ["whoosh fast"]),
        ("ambience", ["AMBForst_B00M01"]),
        ("turschlag cafe", ["Türschlag café"]),
        ("爆炸", ["爆炸声 远处"]),
        ("المطر", ["صوت المطر"]),
        ("🐕 barking", ["🐕 barking"]),
        ("doorbell", ["DoorBell_5.1"]),
        ("sine then", ["sine 5 then 1"]),
    ],
)
def test_operators_and_words_find_what_they_mean(
    library: LibraryService, query: str, first: list[str]
) -> None:
    found = keyword(library, query)
    assert set(found[: len(first)]) == set(first)
    if not first or query.startswith(("-", '"', "ext:", "name:")) or " -" in query or "NOT" in query:
        assert len(found) == len(first)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("query", "banned"),
    [("rain -thunder", "thunder"), ("-rain", "rain"), ('door -"door metal"', "door metal")],
)
def test_excluded_words_are_excluded_from_every_ranker(
    library: LibraryService, mode: str, query: str, banned: str
) -> None:
    found = names(library.search(query, k=50, mode=mode))
    assert found and not [name for name in found if banned in name]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", ['"rain light"', "name:gate", "folder:tech sine", "ext:ogg howling"])
def test_phrases_and_fields_hold_for_every_ranker(library: LibraryService, mode: str, query: str) -> None:
    wanted = set(keyword(library, query))
    assert wanted and set(names(library.search(query, k=50, mode=mode))) <= wanted


def test_the_last_word_is_a_beginning_only_while_typing(library: LibraryService) -> None:
    assert keyword(library, "thun") == []
    assert keyword(library, "thun", typing=True) == ["rain heavy thunder"]
    assert keyword(library, "thun ", typing=True) == []
    assert keyword(library, "name:ga", typing=True) == ["gate squeak"]


def test_nothing_typed_shows_everything_and_punctuation_nothing(library: LibraryService) -> None:
    assert len(keyword(library, "  ")) == len(NAMES)
    assert keyword(library, "()[]{}*?") == []


# ---------------------------------------------------------------- any text at all

MEGABYTE = 'rain (door) "-thunder 声 🚪 ' * 40_000
AWKWARD = [
    '"', '"rain', 'rain "', '-"', "-", "--", "OR", "NOT", "OR OR", "rain OR", "then", "a then",
    "then then then",
    "name:", "ext::", "(" * 10_000, ")" * 10_000, "[" * 5_000 + "]" * 5_000, '"' * 9_999, "-" * 9_999,
    "rain " * 5_000, "OR " * 3_000, "then " * 3_000, "name:" * 2_000, "\0\0", "\udce9\ud800", "🚪🐕🔥" * 500,
    "صوت المطر -الرعد", "爆炸" * 3_000, "ﷺ" * 500, "\u202e abc", "a" * 100_000, "e\u0301" * 5_000,
    "%s %d \\x00",
    "'; DROP TABLE clips; --", "*", "rain~2", "/rain/", "rain^5", "path:door", "t:>12", MEGABYTE,
]  # fmt: skip


@pytest.mark.parametrize("text", AWKWARD, ids=range(len(AWKWARD)))
def test_no_text_is_an_error_or_slow(library: LibraryService, text: str) -> None:
    for mode in MODES:
        started = time.perf_counter()
        result = library.search(text, k=20, mode=mode)
        assert time.perf_counter() - started < 2.0
        assert result.notices == () and result.complete
        assert 0.0 <= result.answerable <= 1.0


PIECES = st.sampled_from(
    [
        *(
            '"',
            "-",
            "NOT ",
            "OR ",
            " then ",
            "name:",
            "cat:",
            "ext:",
            " ",
            "(",
            ")",
            "'",
            "5.1",
            "24-96",
            ":",
        ),
        *("door", "rain", "thunder", "声", "صوت", "🚪", "\\", "\0", "\udce9", "colour", "AMB", "*", "\n"),
    ]
)
TEXTS = st.one_of(st.text(max_size=120), st.lists(PIECES, max_size=25).map("".join))
MANY = 20_000 if os.environ.get("FOLEY_HYPOTHESIS") == "thorough" else 300


@settings(max_examples=MANY)
@given(TEXTS, st.sampled_from(MODES), st.booleans(), st.sampled_from([None, 0.0, 0.4, 1.0]))
@example("thunder then -rain", "hybrid", True, None)
def test_any_text_is_a_query(
    library: LibraryService, text: str, mode: str, typing: bool, balance: float | None
) -> None:
    result = library.search(text, k=10, mode=mode, typing=typing, balance=balance)
    assert len(result.hits) <= 10 and result.notices == ()
    assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))
    assert len({hit.id for hit in result.hits}) == len(result.hits)
    scores = [hit.rrf_score for hit in result.hits if hit.rrf_score is not None]
    assert scores == sorted(scores, reverse=True) and all(map(np.isfinite, scores))
