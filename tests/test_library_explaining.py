"""The line and the panel that say why a hit is where it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hearing_library import open_library, sound, write

from foley_desktop.library.explaining import Match, Part, explain
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip, Hit

CLIP = Clip("c1", "/r/dog.wav", 1, "dog.wav", "dog.wav")
WHY = {
    "keyword": {"rank": 1, "score": 7.25, "share": 0.3},
    "semantic": {"rank": 2, "score": 0.7149, "share": 0.5},
    "audio": {"rank": 14, "score": 0.326, "share": 0.2},
    "matched": {"dog": ["name"]},
}


def test_the_line_reads_as_a_sentence_would() -> None:
    hit = Hit(CLIP, 1, rrf_score=1.0, clap_score=0.33, start_s=12.4, end_s=22.4, why=WHY)
    assert explain(hit, "dog").line == "Words: dog (name) · meaning #2 0.71 · sound #14 0.33 at 0:12"


def test_the_panel_has_every_part() -> None:
    told = explain(Hit(CLIP, 1, rrf_score=1.0, start_s=0.0, end_s=10.0, why=WHY), "dog")
    assert told.parts == (
        Part("keyword", "words", 1, 7.25, pytest.approx(0.3)),
        Part("semantic", "meaning", 2, 0.7149, pytest.approx(0.5)),
        Part("audio", "sound", 14, 0.326, pytest.approx(0.2)),
    )
    assert told.matches == (Match("dog", ("name",)),)
    assert (told.window_s, told.score, told.sounds_like) == ((0.0, 10.0), 1.0, "")
    assert told.heard_as == ()


@pytest.mark.parametrize(
    ("why", "query", "line"),
    [
        ({}, "dog", ""),
        ({"matched": {}}, "dog", ""),
        ({"semantic": {"rank": 1, "score": 0.5, "share": None}}, "dog", "Meaning #1 0.50"),
        ({"audio": {"rank": None, "score": 0.1, "share": 0.1}}, "dog", "Sound 0.10 at 1:02:05"),
        ({"likeness": {"rank": 3, "score": 0.9, "share": None}}, "", "Likeness #3 0.90 at 1:02:05"),
        ({"matched": {"swish": ["name"]}}, "whoosh", "Words: swish for whoosh (name)"),
        ({"matched": {"swish": ["name"]}}, "", "Words: swish (name)"),
        (
            {"matched": {"dog": ["name", "folder"], "bark": ["tags"]}},
            "x",
            "Words: dog (name, folder), bark (tags)",
        ),
        ({"matched": {f"w{n}": ["name"] for n in range(8)}}, "", None),
        ({"sounds_like": "thunder"}, "rain -thunder", "Sounds like thunder"),
    ],
)
def test_lines_of_all_kinds(why: dict, query: str, line: str | None) -> None:
    told = explain(Hit(CLIP, 1, start_s=3725.0, end_s=3735.0, why=why), query).line
    assert told == line if line is not None else told.endswith("w5 (name) and 2 more")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryService]:
    folder = tmp_path_factory.mktemp("explaining")
    clips = {
        "rumble one": sound("rumble"),
        "whoosh": sound("beep"),
        "late": sound("moan", "rumble", seconds=12.0),
    }
    service = open_library(folder / "data", write(folder / "clips", clips))
    yield service
    service.close()


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_every_hit_of_a_real_search_explains_itself(library: LibraryService, fusion: str) -> None:
    library.settings.fusion = fusion
    for query in ("rumble", "swish rumble", "rumble then beep", "rumble -beep"):
        for hit in library.search(query, k=10).hits:
            told = explain(hit, query)
            assert {part.ranker for part in told.parts} >= {"semantic", "audio"}
            shares = [part.share for part in told.parts if part.share is not None]
            assert not shares or sum(shares) == pytest.approx(1.0)
            assert "sound" in told.line.lower()
    library.settings.fusion = "weighted"


def test_a_moment_and_a_synonym_are_told(library: LibraryService) -> None:
    hits = {hit.sound.name: hit for hit in library.search("rumble swish", k=10).hits}
    assert " at 0:1" in explain(hits["late.wav"], "rumble swish").line
    assert explain(hits["whoosh.wav"], "rumble swish").line.startswith("Words: whoosh for swish (name)")
    alike = library.similar("rumble one.wav", k=5).hits
    assert explain(alike[0]).line.startswith("Likeness #1 ")


def test_other_modes_explain_what_they_know(library: LibraryService) -> None:
    assert explain(library.search("rumble", mode="keyword").hits[0], "rumble").line == "Words: rumble (name)"
    assert explain(library.search("rumble", mode="semantic").hits[0], "rumble").line.startswith("Meaning #1 ")
    assert explain(library.search("rumble", mode="audio").hits[0], "rumble").line.startswith("Sound #1 ")
    assert explain(library.search("", k=1).hits[0]).line == ""


def test_the_kinds_of_sound_heard_are_told() -> None:
    hit = Hit(CLIP, 1, why={"heard_as": ["Rain"]})
    assert explain(hit).heard_as == ("Rain",)
