"""Searching by sound: one example or several, to be like and unlike, from anywhere, with words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hearing_library import RATE, names, open_library, sound, write

from foley_desktop.errors import FoleyError, SilentAudioError, UnknownClipError
from foley_desktop.library.examples import Example
from foley_desktop.library.likeness import UNLIKE_WEIGHT, Likeness
from foley_desktop.library.service import LibraryService
from foley_desktop.library.wishes import read_wish
from foley_desktop.models import Condition, Filters, Region, SearchResult

CLIPS = {
    "low 1": sound("rumble"),
    "low 2": sound({"rumble": 0.4, "moan": 0.1}),
    "low 3": sound({"rumble": 0.4, "tone": 0.1}),
    "low long": sound("rumble", seconds=4.0),
    "mid 1": sound("tone"),
    "mid 2": sound({"tone": 0.4, "moan": 0.15}),
    "high 1": sound("beep"),
    "high 2": sound({"beep": 0.4, "hiss": 0.1}),
    "low and high": sound({"rumble": 0.3, "beep": 0.3}),
    "low and hiss": sound({"rumble": 0.3, "hiss": 0.3}),
    "low then high": sound("rumble", "beep", seconds=3.0),
    "silent": sound({}),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryService]:
    folder = tmp_path_factory.mktemp("likeness")
    service = open_library(folder / "data", write(folder / "clips", CLIPS))
    yield service
    service.close()


@pytest.fixture
def likeness(library: LibraryService) -> Likeness:
    return library.likeness


def found(result: SearchResult) -> list[str]:
    return names(result.hits)


def test_neighbours_come_first_and_never_the_clip_itself(likeness: Likeness) -> None:
    hits = found(likeness.similar("low 1.wav", k=5))
    assert hits[:2] == ["low long", "low 2"] or hits[:2] == ["low long", "low 3"]
    assert "low 1" not in hits and len(hits) == 5


def test_all_others_come_if_so_many_are_asked_for(likeness: Likeness) -> None:
    with_sound = set(CLIPS) - {"silent"}
    assert set(found(likeness.similar("low 1.wav", k=50))) == with_sound - {"low 1"}
    assert set(found(likeness.similar_to(["low 1.wav", "mid 1.wav"], ["high 1.wav"], k=50))) == with_sound - {
        "low 1",
        "mid 1",
        "high 1",
    }


def test_several_examples_meet_in_the_middle(likeness: Likeness) -> None:
    assert found(likeness.similar_to(["low 1.wav", "high 1.wav"], k=3))[0] in (
        "low and high",
        "low then high",
    )
    scores = {h.sound.name: h.clap_score for h in likeness.similar_to(["low 1.wav", "high 1.wav"], k=9).hits}
    assert scores["low and high.wav"] == pytest.approx(1.0, abs=0.01)


def test_unlike_turns_away(likeness: Likeness) -> None:
    like = found(likeness.similar_to(["low and high.wav"], k=20))
    turned = found(likeness.similar_to(["low and high.wav"], ["high 1.wav"], k=20))
    assert turned.index("low long") < like.index("low long")
    assert like.index("high 1") < like.index("low 2") and "high 1" not in turned
    assert turned.index("low and hiss") < turned.index("high 2")


def test_the_same_sounds_on_both_sides_are_refused(likeness: Likeness) -> None:
    with pytest.raises(FoleyError, match="both sides"):
        likeness.similar_to(["low 1.wav", "mid 1.wav"], ["mid 1.wav", "low 1.wav"])


def test_the_formula_is_what_is_documented(library: LibraryService, likeness: Likeness) -> None:
    space = library.indexes.likeness
    low, mid, high = (
        space.mean_vector(library.clip(f"{name}.wav").id) for name in ("low 1", "mid 1", "high 1")
    )
    together = (low + mid) / np.linalg.norm(low + mid)
    query = together - UNLIKE_WEIGHT * high
    query /= np.linalg.norm(query)
    for hit in likeness.similar_to(["low 1.wav", "mid 1.wav"], ["high 1.wav"], k=20).hits:
        best = max(float(w.vector @ query) for w in space.get_vectors(hit.id))
        assert hit.clap_score == pytest.approx(best, abs=1e-5)
        assert hit.why["likeness"] == {"rank": hit.rank, "score": hit.clap_score, "share": None}


def test_a_region_is_another_example_than_its_clip(likeness: Likeness) -> None:
    high = Example("low then high.wav", Region(3.2, 5.8))
    assert found(likeness.similar_to([high], k=2))[0] in ("high 1", "high 2")
    low = found(likeness.similar("low then high.wav", region=Region(0.2, 2.8), k=2))
    assert low[0] in ("low 1", "low long")


def test_a_file_from_outside_and_a_recording(likeness: Likeness, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere.wav"
    soundfile.write(outside, sound({"beep": 0.3, "hiss": 0.08}), RATE)
    for example in (
        str(outside),
        Example(str(outside)),
        Example(samples=sound("beep").astype(np.float32), samplerate=RATE),
    ):
        assert set(found(likeness.similar_to([example], k=2))) == {"high 1", "high 2"}


def test_filters_hold_and_the_rest_moves_up(likeness: Likeness) -> None:
    filters = Filters((Condition("duration", ">", 2.0),))
    assert found(likeness.similar("low 1.wav", k=5, filters=filters)) == ["low long", "low then high"]


def test_what_cannot_be_searched_by_says_why(likeness: Likeness, tmp_path: Path) -> None:
    with pytest.raises(SilentAudioError, match="silent"):
        likeness.similar("silent.wav")
    with pytest.raises(SilentAudioError):
        likeness.similar_to([Example(samples=np.zeros(RATE, np.float32), samplerate=RATE)])
    with pytest.raises(UnknownClipError):
        likeness.similar_to(["low 1.wav"], ["nowhere.wav"])
    with pytest.raises(FoleyError, match="nothing to be like"):
        likeness.similar_to([])
    with pytest.raises(FoleyError, match="no words"):
        likeness.with_words("low 1.wav", "  ")


# ---------------------------------------------------------------- with words


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("metallic", ("metallic", "", "")),
        ("but more metallic", ("metallic", "", "")),
        ("more distant, and longer", ("distant", "", ">")),
        ("shorter", ("", "", "<")),
        ("metallic -wooden", ("metallic", "wooden", "")),
        ("less wooden", ("", "wooden", "")),
        ("less wooden more metallic", ("metallic", "wooden", "")),
        ("not a bell", ("", "bell", "")),
        ("", ("", "", "")),
        ("-", ("", "", "")),
    ],
)
def test_how_it_should_differ(text: str, wish: tuple[str, str, str]) -> None:
    assert tuple(read_wish(text)) == wish


def test_words_pull_as_strongly_as_asked(likeness: Likeness) -> None:
    def order(strength: float) -> list[str]:
        return found(likeness.with_words("low 1.wav", "hiss", strength, k=20))

    assert order(0.0)[0] == "low long"
    assert order(0.5)[0] == "low and hiss"
    assert order(1.0).index("high 2") < order(1.0).index("low long")
    assert order(0.0) == order(-1.0) and order(1.0) == order(2.0)
    assert "low 1" not in order(0.0) + order(0.5) + order(1.0)


def test_words_may_lead_away(likeness: Likeness) -> None:
    plain = found(likeness.similar("low and high.wav", k=20))
    away = found(likeness.with_words("low and high.wav", "less beep", 0.5, k=20))
    assert away.index("low long") < plain.index("low long")
    assert away.index("high 1") > plain.index("high 1")


def test_longer_and_shorter_compare_durations(library: LibraryService, likeness: Likeness) -> None:
    assert set(found(likeness.with_words("low 1.wav", "longer", k=20))) >= {"low long", "low then high"}
    for hit in likeness.with_words("low long.wav", "shorter hiss", k=20).hits:
        assert hit.sound.duration_s < 4.0
    assert found(likeness.with_words("low long.wav", "longer", k=20)) == ["low then high"]
    region = Example("low then high.wav", Region(0.0, 4.5))
    assert found(likeness.with_words(region, "longer", k=20)) == []


def test_words_with_several_examples(likeness: Likeness) -> None:
    result = likeness.with_words(["low 1.wav", "low 2.wav"], "hiss", 0.5, minus=["mid 1.wav"], k=20)
    assert found(result)[0] == "low and hiss"
    assert not {"low 1", "low 2", "mid 1"} & set(found(result))
    assert result.query == "low 1.wav, low 2.wav, unlike mid 1.wav, but hiss"
    assert result.hits[0].why["audio"]["score"] > 0.4
