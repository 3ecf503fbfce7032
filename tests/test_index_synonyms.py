"""Words that stand for one another: the table itself, and what it does to answers, exclusions and reasons."""

from __future__ import annotations

from pathlib import Path

import pytest

from foley_desktop.index.keywords import KeywordIndex
from foley_desktop.index.protocols import Document
from foley_desktop.index.synonyms import LIKE, SAME, SHORT, read_lines, spellings, spelt_out, synonyms
from foley_desktop.index.words import tokenize
from foley_desktop.settings import resource


@pytest.fixture
def index(tmp_path: Path):
    index = KeywordIndex(tmp_path / "keywords")
    yield index
    index.close()


def fill(index: KeywordIndex, *names: str) -> None:
    index.upsert(Document(name.replace(" ", "-"), name=name) for name in names)
    index.commit()


def found(index: KeywordIndex, query: str, k: int = 20) -> list[str]:
    return [clip_id.replace("-", " ") for clip_id, _ in index.bm25(query, k)]


def words_for(word: str) -> dict[str, str]:
    return {other.word: other.kind for other in synonyms(word)}


# ---------------------------------------------------------------- the table


def test_every_entry_is_made_of_words_as_the_index_has_them() -> None:
    entries = read_lines(resource("words/synonyms.tsv").read_text("utf-8").splitlines())
    assert len(entries) > 300
    assert len(entries) == len(set(entries))
    for _, words in entries:
        for word in words:
            assert tokenize(word.replace("_", " ")) == word.split("_"), word


@pytest.mark.parametrize("line", ["like\twhoosh", "near\ta b", "like a b", "same\tdoor door"])
def test_a_line_that_is_no_entry_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="no entry"):
        read_lines([line])


@pytest.mark.parametrize(
    ("asked", "other", "kind"),
    [
        ("whoosh", "swish", LIKE),
        ("swoosh", "whoosh", LIKE),
        ("thud", "thump", LIKE),
        ("creak", "squeak", LIKE),
        ("bang", "boom", LIKE),
        ("amb", "ambience", SHORT),
        ("ambience", "amb", SHORT),
        ("fol", "foley", SHORT),
        ("vo", "voiceover", SHORT),
        ("sfx", "soundeffect", SHORT),
        ("wpn", "weapon", SHORT),
        ("veh", "vehicle", SHORT),
        ("fs", "footstep", SHORT),
        ("int", "interior", SHORT),
        ("ext", "exterior", SHORT),
        ("colour", "color", SAME),
        ("tyre", "tire", SAME),
        ("aeroplane", "airplane", SAME),
        ("gray", "grey", SAME),
        ("knives", "knife", SAME),
        ("whooshes", "swish", LIKE),
        ("colours", "color", SAME),
    ],
)
def test_words_stand_for_one_another(asked: str, other: str, kind: str) -> None:
    assert words_for(asked)[other] == kind


def test_nothing_is_concluded_from_one_line_to_the_next() -> None:
    assert "rumble" not in words_for("explosion")
    assert "indoor" not in words_for("interior")
    assert synonyms("zebra") == ()


def test_spellings_are_the_same_word_and_nothing_else() -> None:
    assert spellings("grey") == ("gray",)
    assert spellings("whoosh") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AMB forest", "ambience forest"),
        ("amb forest INT", "ambience forest interior"),
        ("VO door", "voice over door"),
        ("ambience", "ambience"),
        ("AMBForst_B00M01", "AMBForst_B00M01"),
        ("5.1 -3 声 𝄞", "5.1 -3 声 𝄞"),
        ("", ""),
    ],
)
def test_abbreviations_are_written_out_for_models(text: str, expected: str) -> None:
    assert spelt_out(text) == expected


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("swish", "whoosh 01"),
        ("swishes", "whoosh 01"),
        ("thump", "body thud"),
        ("squeak", "creak of a gate"),
        ("boom", "distant bang"),
        ("AMB", "forest ambience"),
        ("ambience", "AMBForst_B00M01"),
        ("VO", "voice over take"),
        ("voice over", "VO_take"),
        ("voiceover", "VO_take"),
        ("FOL", "foley cloth"),
        ("SFX", "sound effect 3"),
        ("WPN", "weapon reload"),
        ("VEH", "vehicle passing"),
        ("FS", "footsteps gravel"),
        ("footsteps", "FS_gravel"),
        ("INT", "interior office"),
        ("EXT", "exterior office"),
        ("colour", "color wheel"),
        ("color", "Colours"),
        ("tyre", "tire screech"),
        ("tires", "tyre screech"),
        ("aeroplane", "airplanes passing"),
        ("gray", "grey wolf"),
        ("wolves", "grey wolf"),
        ("footstep", "footsteps gravel"),
        ("doors", "door wood"),
        ("glass", "glasses clink"),
        ("glasses", "glass break"),
        ("knives", "knife drawn"),
        ("boxes", "box closed"),
    ],
)
def test_a_word_finds_what_stands_for_it(index: KeywordIndex, query: str, name: str) -> None:
    fill(index, name, "zebra")
    assert found(index, query) == [name]


def test_the_word_itself_comes_first_however_rare_its_synonyms_are(index: KeywordIndex) -> None:
    fill(index, *[f"whoosh {n}" for n in range(30)], "swish", "swish swoosh whish", "zebra")
    hits = found(index, "whoosh", 40)
    assert len(hits) == 32
    assert set(hits[-2:]) == {"swish", "swish swoosh whish"}


def test_another_spelling_comes_before_a_mere_likeness(index: KeywordIndex) -> None:
    fill(index, "ambient hall", "atmosphere hall", "ambiance hall", "zebra")
    assert found(index, "ambience")[0] == "ambiance hall"


def test_several_synonyms_in_one_name_count_once(index: KeywordIndex) -> None:
    fill(index, "swish a", "swoosh b", "swish swoosh", "zebra")
    scores = dict(index.bm25("whoosh", 5))
    assert scores["swish-swoosh"] == pytest.approx(scores["swish-a"])


def test_a_complete_match_may_be_made_of_synonyms(index: KeywordIndex) -> None:
    fill(index, "door a", "door b", "door squeak", "creak of a ship", "zebra")
    assert found(index, "door creak")[0] == "door squeak"


def test_phrases_and_fields_want_the_very_word(index: KeywordIndex) -> None:
    fill(index, "whoosh by", "swish by")
    assert found(index, '"swish by"') == ["swish by"]
    assert found(index, "name:swish") == ["swish by"]
    assert found(index, "name:swish")[:1] == found(index, "swish")[:1]


def test_an_exclusion_means_the_word_in_every_spelling_but_no_synonym(index: KeywordIndex) -> None:
    fill(index, "grey cat", "gray cat", "grays", "cat meow", "cat mew")
    assert set(found(index, "cat -grey")) == {"cat meow", "cat mew"}
    assert set(found(index, "cat -meow")) == {"grey cat", "gray cat", "cat mew"}


def test_reasons_name_the_word_that_is_there(index: KeywordIndex) -> None:
    fill(index, "swish by", "whoosh by")
    assert index.explain("whoosh", "swish-by") == {"swish": ["name"]}
    assert index.explain("whoosh", "whoosh-by") == {"whoosh": ["name"]}
    assert index.explain('"whoosh by"', "swish-by") == {"by": ["name"]}


def test_a_synonym_covers_its_word(index: KeywordIndex) -> None:
    fill(index, "swish", "zebra")
    assert index.coverage("whoosh", ["swish", "zebra"]) == {"swish": 1.0, "zebra": 0.0}
