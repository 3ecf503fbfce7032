"""BM25 over clips: what is found, in which order, and that neither history nor damage changes it."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foley_desktop.errors import IndexStoreError, LibraryBusyError
from foley_desktop.index.keyword_query import SINGLE_FIELDS
from foley_desktop.index.keywords import KeywordIndex
from foley_desktop.index.protocols import Document
from foley_desktop.index.protocols import KeywordIndex as KeywordProtocol
from foley_desktop.index.query import parse_query

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture
def index(tmp_path: Path) -> Iterator[KeywordIndex]:
    keywords = KeywordIndex(tmp_path / "keywords")
    yield keywords
    keywords.close()


def fill(index: KeywordIndex, *documents: Document | str) -> KeywordIndex:
    """A bare string is a document whose name is also its id."""
    index.upsert(Document(d, name=d) if isinstance(d, str) else d for d in documents)
    index.commit()
    return index


def found(index: KeywordIndex, query: str, k: int = 20) -> list[str]:
    return [clip_id for clip_id, _ in index.bm25(query, k)]


_WORDS = """rain heavy light door wood metal slam creak open close thunder wind forest night birds gravel
footsteps running dog bark engine start idle car horn glass break splash water drip 5 1 24 96"""
WORDS = _WORDS.split()


def made_up(count: int, seed: int = 0) -> list[Document]:
    """Documents of drawn words; many share their words, so that scores tie."""
    rng = random.Random(seed)

    def some(most: int) -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(0, most)))

    return [
        Document(
            f"{number * 2654435761 % 2**32:08x}-{number % 3}",
            name="_".join(rng.choices(WORDS, k=rng.randint(1, 4))),
            folder=some(2),
            description=some(12),
            keywords=some(3),
            category=some(1),
            ext=rng.choice(["wav", "flac"]),
        )
        for number in range(count)
    ]


QUERIES = [
    "door", "rain", "heavy rain", "wooden door creaking open", "dog bark -night", "-door", '"rain heavy"',
    "car engine start idle", "5.1", "24-96", "thunder OR wind", "name:door", "desc:wind cat:rain", "wav", "",
    "footsteps on gravel running at night in the forest",
]  # fmt: skip


def answers(index: KeywordIndex, k: int = 30) -> dict[str, list[tuple[str, float]]]:
    return {query: index.bm25(query, k) for query in QUERIES}


# ---------------------------------------------------------------- what is found


def test_it_is_a_keyword_index(index: KeywordIndex) -> None:
    assert isinstance(index, KeywordProtocol)
    assert index.bm25("door", 5) == []
    assert index.count() == 0 and index.ids() == set()


def test_exact_words_stand_above_other_forms(index: KeywordIndex) -> None:
    fill(index, "dog barking", "dog bark", "cat meow")
    assert found(index, "bark") == ["dog bark", "dog barking"]
    assert found(index, "barking") == ["dog barking", "dog bark"]


def test_names_weigh_more_than_descriptions(index: KeywordIndex) -> None:
    fill(
        index, Document("d", name="take", description="door"), Document("n", name="door", description="take")
    )
    assert found(index, "door") == ["n", "d"]


def test_all_words_stand_above_some(index: KeywordIndex) -> None:
    both = Document("both", name="old", description="gate " + "and so on " * 8 + "metal")
    fill(index, both, *[f"metal {number}" for number in range(12)], "gate", "rusty gate")
    assert found(index, "metal gate")[0] == "both"


def test_adjacent_numbers_deep_in_a_text_stand_above_numbers_in_names(index: KeywordIndex) -> None:
    deep = Document("deep", name="tone", description="surround 5.1 " + "and more to say " * 60)
    fill(index, deep, "1 5", "take 5 x 1", "1", "5")
    assert found(index, "5.1")[0] == "deep"


def test_function_words_do_not_drown_the_others(index: KeywordIndex) -> None:
    fill(index, "gravel 1", "gravel 2", "gravel 3", "switch on")
    assert found(index, "footsteps on gravel") == ["gravel 1", "gravel 2", "gravel 3", "switch on"]
    assert found(index, "on") == ["switch on"]
    assert index.bm25("on", 1) == index.bm25("switch", 1)


def test_every_commit_changes_the_version(index: KeywordIndex) -> None:
    versions = [index.version()]
    fill(index, "door")
    versions.append(index.version())
    index.upsert([Document("door", name="gate")])
    assert index.version() == versions[-1]
    index.commit()
    assert len({*versions, index.version()}) == 3


def test_excluding(index: KeywordIndex) -> None:
    fill(index, "rain (light) no thunder", "dry rain", "door", "usb-c", "order-12")
    assert found(index, "-thunder") == ["door", "dry rain", "order-12", "usb-c"]
    assert found(index, "NOT thunder") == found(index, "-thunder")
    assert found(index, "rain -thunder") == ["dry rain"]
    assert found(index, "rain -rains") == []
    assert found(index, '-"no thunder" -"rain dry"') == ["door", "dry rain", "order-12", "usb-c"]
    assert found(index, "usb-c") == ["usb-c"]
    assert found(index, "order-12") == ["order-12"]
    assert index.bm25("-thunder", 2) == [("door", 0.0), ("dry rain", 0.0)]


def test_an_exclusion_covers_compounds_whichever_way_they_are_written(index: KeywordIndex) -> None:
    fill(index, "door_bell", "DoorBells", "doorbell", "door", "bell door", "doorbells of old")
    for query in ("-doorbell", "-doorbells", '-"door bell"', "-door-bell", "-DoorBell"):
        assert found(index, query) == ["bell door", "door"], query
    assert found(index, "-name:doorbell") == ["bell door", "door"]


def test_a_field_finds_compounds_whichever_way_they_are_written(index: KeywordIndex) -> None:
    fill(index, "DoorClose", "door_close_01", "close door", Document("cat", name="b", category="DOORWood"))
    fill(index, Document("else", name="a", description="DoorClose"))
    assert set(found(index, "name:doorclose")) == set(found(index, "name:DoorClose"))
    assert set(found(index, "name:doorclose")) == {"DoorClose", "door_close_01"}
    assert found(index, "desc:doorclose") == ["else"]
    assert found(index, "cat:doorwood") == ["cat"]
    for typed in ("name:doorc", "name:doorclo", "name:DoorClo", "name:door_c"):
        assert index.permitted(typed, prefix_last=True) == {"DoorClose", "door_close_01"}, typed
        assert index.permitted(typed) == frozenset()
        listed = index.search(parse_query(typed), 10, prefix_last=True)
        assert {clip_id for clip_id, _ in listed} == {"DoorClose", "door_close_01"}


def test_an_exclusion_spares_words_that_only_share_a_stem(index: KeywordIndex) -> None:
    fill(index, "animation whoosh", "animal growl")
    assert found(index, "-animation") == ["animal growl"]


def test_phrases_hold_in_order_and_within_a_field(index: KeywordIndex) -> None:
    fill(index, "light rain", "rain light", Document("split", name="light", description="rain"))
    assert found(index, '"light rain"') == ["light rain"]
    assert found(index, '"light rain" OR "rain light"') == ["light rain", "rain light"]
    assert found(index, '"rain light light"') == []


def test_fields(index: KeywordIndex) -> None:
    fill(
        index,
        Document("name", name="door"),
        Document("desc", name="a", description="doors"),
        Document("title", name="b", title="door"),
        Document("cat", name="c", category="DOORS WOOD DOORWood"),
        Document("folder", name="d", folder="house/door"),
        Document("ext", name="e", ext="wav"),
    )
    assert found(index, "name:door") == ["name"]
    assert set(found(index, "desc:door")) == {"desc", "title"}
    assert found(index, "cat:door") == ["cat"]
    assert found(index, "cat:doorwood") == found(index, 'cat:"door wood"') == ["cat"]
    assert found(index, "folder:house") == ["folder"]
    assert found(index, "ext:wav") == ["ext"]
    assert found(index, "-name:door -cat:door -ext:wav") == ["desc", "folder", "title"]
    assert set(found(index, "door")) == {"name", "desc", "title", "cat", "folder"}


def test_cjk(index: KeywordIndex) -> None:
    fill(index, "爆炸声 远处", "ドアの音", "한국어 소리")
    assert found(index, "爆炸") == ["爆炸声 远处"]
    assert found(index, "爆炸声") == ["爆炸声 远处"]
    assert found(index, "音") == ["ドアの音"]
    assert found(index, "ﾄﾞｱ") == ["ドアの音"]
    assert found(index, "한국") == ["한국어 소리"]
    assert found(index, "炸爆") == []


def test_accents_apostrophes_and_normal_forms(index: KeywordIndex) -> None:
    fill(index, Document("a", name="Türschlag café"), Document("b", name="ox’s bell"))
    fill(index, Document("c", name="Tu\u0308r Łódź Smørrebrød Straße"))
    assert found(index, "turschlag") == found(index, "Tu\u0308rschlag") == ["a"]
    assert found(index, "cafe") == found(index, "CAFÉ") == ["a"]
    assert found(index, "ox's") == found(index, "ox’s") == found(index, "oxs") == ["b"]
    for query in ("tür", "lodz", "smorrebrod", "strasse", "STRAẞE"):
        assert found(index, query) == ["c"]


def test_numbers_and_codes_as_adjacent_parts(index: KeywordIndex) -> None:
    fill(
        index,
        "1 5", "5 5 1 5 1 1", "1 take 5", "room tone 5.1 surround with a long tail of words that say little",
        "24-96", "96 24", "24 96 24", "AMBForst_B00M01", "AMB B00 Forst M01", "BW-0012.wav", "7.1.4", "7.4.1",
        "mono MKH8040", "MKH 60 8040",
    )  # fmt: skip
    assert found(index, "5.1")[0].startswith("room tone 5.1")
    assert found(index, '"5.1"') == found(index, "5.1")[:2]
    assert {"1 5", "1 take 5"} <= set(found(index, "5.1")[2:])
    assert found(index, "24-96")[0] == found(index, "24/96")[0] == "24-96"
    assert found(index, "AMBForst_B00M01")[0] == "AMBForst_B00M01"
    assert found(index, "ambforst")[0] == found(index, "b00m01")[0] == "AMBForst_B00M01"
    assert set(found(index, "forst")) == {"AMBForst_B00M01", "AMB B00 Forst M01"}
    assert found(index, "BW-0012.wav")[0] == found(index, "0012")[0] == "BW-0012.wav"
    assert found(index, "7.1.4")[0] == "7.1.4"
    assert found(index, "MKH8040")[0] == found(index, "mkh-8040")[0] == "mono MKH8040"


def test_compounds_whichever_way_they_are_written(index: KeywordIndex) -> None:
    fill(index, "door_bell", "doorbell", "heavytraffic", "restrain")
    assert set(found(index, "doorbell")) == set(found(index, "door bell")) == {"door_bell", "doorbell"}
    assert found(index, "doorbells")[0] in ("door_bell", "doorbell")
    assert found(index, "busy traffic") == ["heavytraffic"]
    assert found(index, "rain") == []


def test_the_word_being_typed(index: KeywordIndex) -> None:
    fill(index, "thunder", "thud", "other", "door", "doors", "doorbell", "dolphin")
    typed = [i for i, _ in index.search(parse_query("thu"), 10, prefix_last=True)]
    assert typed == ["thud", "thunder"]
    assert index.search(parse_query("thu"), 10) == []
    assert index.search(parse_query("thu "), 10, prefix_last=True) == []
    assert index.search(parse_query("door"), 10, prefix_last=True)[0][0] == "door"
    assert {i for i, _ in index.search(parse_query("do"), 10, prefix_last=True)} == {
        "door", "doors", "doorbell", "dolphin",
    }  # fmt: skip
    assert [i for i, _ in index.search(parse_query("name:thun"), 10, prefix_last=True)] == ["thunder"]
    assert index.permitted("name:thun", prefix_last=True) == {"thunder"}


def test_a_common_completion_is_not_beaten_by_a_rare_one(index: KeywordIndex) -> None:
    fill(index, *[f"door {n} creak" for n in range(20)], "long tale about a faraway dolphin")
    assert index.search(parse_query("do"), 1, prefix_last=True)[0][0].startswith("door")


@pytest.mark.parametrize("text", ["*", "(t:>12)", "?", '"', "-", "((((", ":"])
def test_no_word_finds_nothing_and_no_syntax_finds_everything(index: KeywordIndex, text: str) -> None:
    fill(index, "door", "rain")
    assert index.bm25(text, 10) == []


def test_a_blank_query_lists_everything_by_id(index: KeywordIndex) -> None:
    fill(index, "b", "a", "c")
    assert index.bm25(" \0", 2) == [("a", 0.0), ("b", 0.0)]
    assert index.bm25("", 0) == index.bm25("a", -1) == []


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeywordIndex]:
    keywords = KeywordIndex(tmp_path_factory.mktemp("stocked") / "keywords")
    yield fill(keywords, *made_up(300), Document("z", name="AMBForst_B00M01 5.1", folder="声"))
    keywords.close()


pieces = st.sampled_from(
    [
        "door",
        "rain",
        '"',
        "-",
        "NOT ",
        "OR ",
        "name:",
        "cat:",
        " ",
        "(",
        "*",
        "5.1",
        "'",
        "声",
        "do",
        ":",
        "~",
        "\\",
    ]
)


@settings(max_examples=1500)
@given(st.one_of(st.text(max_size=120), st.lists(pieces, max_size=25).map("".join)), st.booleans())
@example("(" * 5000, True)
@example("a\udce9 \udfff", False)
def test_no_text_breaks_a_search(stocked: KeywordIndex, text: str, typing: bool) -> None:
    parsed = parse_query(text)
    hits = stocked.search(parsed, 7, prefix_last=typing)
    assert len(hits) <= 7
    assert hits == sorted(hits, key=lambda hit: (-hit[1], hit[0]))
    assert len({clip_id for clip_id, _ in hits}) == len(hits)
    assert all(score >= 0 for _, score in hits)


# ---------------------------------------------------------------- order and statistics


def test_the_order_is_that_of_rounded_scores_then_ids(stocked: KeywordIndex) -> None:
    everything = stocked.bm25("door", 1000)
    assert everything == sorted(everything, key=lambda hit: (-hit[1], hit[0]))
    assert all(score == round(score, 6) for _, score in everything)
    for k in range(1, len(everything), 3):
        assert stocked.bm25("door", k) == everything[:k]


def test_a_large_tie_is_read_to_its_end(tmp_path: Path) -> None:
    ids = [f"{number:04x}" for number in range(3000)]
    shuffled = ids[:]
    random.Random(1).shuffle(shuffled)
    index = fill(KeywordIndex(tmp_path / "k"), *[Document(i, name="door") for i in shuffled])
    assert found(index, "door", 10) == ids[:10]
    some = set(ids[5::2])
    assert [i for i, _ in index.bm25("door", 10, where={"clip_id": some})] == sorted(some)[:10]
    index.close()


def test_history_leaves_no_trace(tmp_path: Path) -> None:
    documents = made_up(400)
    fresh = fill(KeywordIndex(tmp_path / "fresh"), *documents)
    lived = KeywordIndex(tmp_path / "lived")
    shuffled = documents[:]
    random.Random(7).shuffle(shuffled)
    others = [document._replace(clip_id="x" + document.clip_id) for document in made_up(150, seed=9)]
    changed = {document.clip_id: document for document in made_up(400, seed=5)}
    for start in range(0, 400, 45):
        fill(lived, *[changed[d.clip_id] for d in shuffled[start : start + 45]], *others[start // 3 :][:15])
    fill(lived, *shuffled[:250], *others[:100])
    fill(lived, *shuffled[250:], *others[100:])
    lived.delete(document.clip_id for document in others)
    lived.delete(["never there"])
    lived.commit()
    assert answers(lived) != answers(fresh), "nothing to clean: the test has lost its point"
    lived.merge()
    assert lived.ids() == {document.clip_id for document in documents}
    assert answers(lived) == answers(fresh)
    assert answers(lived, 400) == answers(fresh, 400)
    for query in QUERIES:
        assert lived.max_score(query) == fresh.max_score(query)
        assert lived.coverage(query, lived.ids()) == fresh.coverage(query, fresh.ids())
    lived.close()
    fresh.close()


def test_many_segments_score_as_one(tmp_path: Path) -> None:
    documents = made_up(20)
    one = fill(KeywordIndex(tmp_path / "one"), *documents)
    many = KeywordIndex(tmp_path / "many")
    for document in reversed(documents):
        fill(many, document)
    assert answers(many) == answers(one)
    many.close()
    one.close()


def test_the_same_again_changes_nothing(index: KeywordIndex) -> None:
    documents = made_up(50)
    fill(index, *documents)
    before = sorted(path.name for path in Path(index.folder).iterdir())
    fill(index, *documents)
    assert sorted(path.name for path in Path(index.folder).iterdir()) == before
    index.delete([documents[0].clip_id])
    index.upsert([documents[0]])
    index.commit()
    assert index.count() == 50


def test_a_document_is_replaced_whole(index: KeywordIndex) -> None:
    fill(index, Document("a", name="door", description="wooden"))
    fill(index, Document("a", name="gate"))
    assert index.count() == 1
    assert found(index, "wooden") == found(index, "door") == []
    assert found(index, "gate") == ["a"]


def test_deleted_clips_are_gone_before_the_index_is_rewritten(tmp_path: Path) -> None:
    names = [f"{number:04x}" for number in range(2500)]
    index = fill(KeywordIndex(tmp_path / "k"), *[Document(name, name="door") for name in names])
    index.delete(names[:2490])
    index.commit()
    left = names[2490:]
    assert index.count() == 10 and index.ids() == set(left)
    assert found(index, "door") == found(index, "-rain") == found(index, "") == left
    assert [i for i, _ in index.search(parse_query("do"), 20, prefix_last=True)] == left
    assert index.coverage("door", left[:1]) == {left[0]: 1.0}
    assert index.max_score("door") > 0
    fill(index, *[Document(name, name="door") for name in names[:2400]])
    assert index.ids() == set(names[:2400]) | set(left)
    assert index.permitted("-rain") == index.ids()
    index.close()


# ---------------------------------------------------------------- filters


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeywordIndex]:
    keywords = KeywordIndex(tmp_path_factory.mktemp("crowded") / "keywords")
    yield fill(keywords, *made_up(20_000))
    keywords.close()


@pytest.mark.parametrize("share", [0.0001, 0.04, 0.06, 0.5, 0.9999])
@pytest.mark.parametrize("query", ["door", "wooden door creaking open", "5.1", "-door", "rain -heavy", ""])
def test_a_filter_is_exact_at_any_share(crowded: KeywordIndex, share: float, query: str) -> None:
    ids = sorted(crowded.ids())
    passing = set(random.Random(3).sample(ids, round(share * len(ids))))
    everything = crowded.bm25(query, len(ids))
    expected = [hit for hit in everything if hit[0] in passing][:40]
    assert crowded.bm25(query, 40, where={"clip_id": frozenset(passing)}) == expected
    assert crowded.bm25(query, 40, where={"clip_id": [*passing, "unknown"]}) == expected


def test_filters_of_nothing_and_of_other_things(index: KeywordIndex) -> None:
    fill(index, "door")
    assert index.bm25("door", 5, where={"clip_id": []}) == []
    assert index.bm25("door", 5, where={}) == index.bm25("door", 5)
    with pytest.raises(ValueError, match="clip_id"):
        index.bm25("door", 5, where={"rating": ["5"]})


# ---------------------------------------------------------------- what is told beside


def test_why_a_clip_was_found(index: KeywordIndex) -> None:
    fill(
        index,
        Document("a", name="DoorSlam_01", folder="wood doors", description="a heavytraffic", ext="wav"),
    )
    assert index.explain("door slams wood zebra", "a") == {
        "door": ["name", "folder"],
        "slams": ["name"],
        "wood": ["folder"],
    }
    assert index.explain("traffic wav", "a") == {"traffic": ["description"], "wav": ["ext"]}
    assert index.explain("doorslam", "a") == {"doorslam": ["name"]}
    assert index.explain("hea", "a") == {}
    assert index.explain("hea", "a", prefix_last=True) == {"hea": ["description"]}
    assert index.explain("door", "unknown") == {}


def test_coverage_is_the_share_of_what_was_asked(index: KeywordIndex) -> None:
    fill(index, "door slam", "door", "rain", "doorbell", *[f"filler {n}" for n in range(20)])
    parts = index.coverage("door slam", ["door slam", "door", "rain", "unknown"])
    assert parts["door slam"] == 1.0
    assert 0 < parts["door"] < 0.5
    assert parts["rain"] == parts["unknown"] == 0.0
    assert index.coverage("doors", ["door"]) == {"door": 1.0}
    assert index.coverage("door bell", ["doorbell"]) == {"doorbell": 1.0}
    assert index.coverage("door zyzzyva", ["door"])["door"] < 0.5
    assert index.coverage("", ["door"]) == {"door": 0.0}
    assert index.coverage("door", []) == {}


def test_only_a_complete_match_passes_what_words_can_score(index: KeywordIndex) -> None:
    fill(index, "heavy " * 50, "heavy rain", "rain", "5 1", "1 5", *[f"filler {n}" for n in range(30)])
    over = {name: score / index.max_score("heavy rain") for name, score in index.bm25("heavy rain", 5)}
    assert over["rain"] < 0.5 and over["heavy " * 50] < 0.6 < 1 < over["heavy rain"] < 2
    over = {name: score / index.max_score("5.1") for name, score in index.bm25("5.1", 5)}
    assert over["1 5"] < over["5 1"] < 2
    assert index.bm25("rain", 1)[0][1] < index.max_score("rain")
    assert index.max_score("") == index.max_score("*") == index.max_score("-heavy") == 0.0
    assert index.max_score("rain zyzzyva") > index.max_score("rain heavy")


def test_what_a_query_permits(index: KeywordIndex) -> None:
    fill(index, "light rain", "rain", "door", Document("d", name="door", category="rain"))
    assert index.permitted("rain") is None
    assert index.permitted("-rain") == {"door"}
    assert index.permitted('"light rain"') == {"light rain"}
    assert index.permitted("cat:rain -light") == {"d"}
    assert index.permitted('"light rain" OR cat:rain') == {"light rain", "d"}


def test_document_frequency(index: KeywordIndex) -> None:
    fill(index, "door", "doors", "DoorSlam 5.1")
    assert index.doc_freq("Door") == 2
    assert index.doc_freq("doorslam") == index.doc_freq("5.1") == 1
    assert index.doc_freq("zebra") == index.doc_freq("*") == 0


# ---------------------------------------------------------------- writers, readers, damage


def run(code: str, *arguments: object) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


WRITE_AND_WAIT = """
import sys, time
from pathlib import Path
from foley_desktop.index.keywords import KeywordIndex
from foley_desktop.index.protocols import Document
index = KeywordIndex(Path(sys.argv[1]))
index.upsert([Document("first", name="door")])
index.commit()
index.upsert(Document(f"{n:06x}", name="rain") for n in range(5000))
print("writing", flush=True)
time.sleep(60)
"""


def test_one_writer_and_no_stale_lock(index: KeywordIndex) -> None:
    assert index.ids() == set()
    writer = run(WRITE_AND_WAIT, index.folder)
    try:
        assert writer.stdout is not None and writer.stdout.readline() == "writing\n"
        assert index.ids() == {"first"}
        with pytest.raises(LibraryBusyError):
            index.upsert([Document("second", name="door")])
        with pytest.raises(LibraryBusyError):
            index.clear()
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    assert found(index, "door") == ["first"] and found(index, "rain") == []
    fill(index, "second door")
    assert set(found(index, "door")) == {"first", "second door"}


def test_a_reader_sees_what_others_commit(index: KeywordIndex) -> None:
    other = KeywordIndex(index.folder)
    assert other.count() == 0
    index.upsert([Document("a", name="door")])
    assert other.count() == 0
    index.commit()
    assert found(other, "door") == ["a"]
    fill(other, "door two")
    assert set(found(index, "door")) == {"a", "door two"}
    other.close()


def test_searches_go_on_while_another_thread_writes(index: KeywordIndex) -> None:
    documents = made_up(600)
    fill(index, *documents[:100])
    errors: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                assert index.bm25("door rain", 5)
        except BaseException as error:
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    for start in range(100, 600, 100):
        fill(index, *documents[start : start + 100])
        index.delete([documents[start - 10].clip_id])
        index.commit()
    index.merge()
    done.set()
    for thread in readers:
        thread.join()
    assert not errors
    assert index.count() == 595


def test_an_error_in_a_batch_writes_nothing_and_leaves_no_lock(index: KeywordIndex) -> None:
    def broken() -> Iterator[Document]:
        yield Document("a", name="door")
        raise RuntimeError("the catalog went away")

    with pytest.raises(RuntimeError, match="went away"):
        index.upsert(broken())
    index.commit()
    assert index.count() == 0
    other = fill(KeywordIndex(index.folder), "door")
    assert found(index, "door") == ["door"]
    other.close()


def test_text_that_is_no_text_is_indexed_as_far_as_it_goes(index: KeywordIndex) -> None:
    fill(index, Document("a", name="caf\udce9 door", description="x" * 10_000 + " \0 gate"))
    assert found(index, "door") == found(index, "gate") == ["a"]


def test_closing_drops_what_was_not_committed(index: KeywordIndex) -> None:
    index.upsert([Document("a", name="door")])
    index.close()
    assert index.count() == 0


DAMAGE = ["meta.json", ".managed.json", "*.term", "*.idx", "*.pos", "*.store", "*.fast", "*.fieldnorm"]


@pytest.mark.parametrize("pattern", DAMAGE)
@pytest.mark.parametrize("how", ["cut", "scrambled"])
def test_damage_is_told_and_can_be_cleared(index: KeywordIndex, pattern: str, how: str) -> None:
    fill(index, *made_up(30))
    index.close()
    for path in index.folder.glob(pattern):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] if how == "cut" else bytes(byte ^ 0x5A for byte in data))
    with pytest.raises(IndexStoreError):
        index.bm25("door rain -heavy", 5)
    with pytest.raises(IndexStoreError):
        index.ids()
    with pytest.raises(IndexStoreError):
        fill(index, "door")
    index.clear()
    assert found(fill(index, "door"), "door") == ["door"]


def test_a_lost_part_is_told_where_it_is_needed(index: KeywordIndex) -> None:
    fill(index, *made_up(30))
    index.close()
    for path in index.folder.glob("*.pos"):
        path.unlink()
    with pytest.raises(IndexStoreError):
        index.bm25('"door rain" 5.1', 5)


def test_another_schema_is_told(index: KeywordIndex) -> None:
    import tantivy

    index.folder.mkdir()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("words")
    tantivy.Index(builder.build(), path=str(index.folder))
    with pytest.raises(IndexStoreError):
        index.count()
    index.clear()
    assert index.count() == 0


def test_a_folder_that_vanished_is_an_empty_index(index: KeywordIndex) -> None:
    fill(index, "door")
    shutil.rmtree(index.folder)
    assert index.ids() == set()
    assert found(fill(index, "gate"), "gate") == ["gate"]


def test_a_search_among_many_is_quick(crowded: KeywordIndex) -> None:
    crowded.bm25("door", 50)
    times = []
    for query in itertools.chain(QUERIES, ["wooden door creaking open " * 20]):
        started = time.perf_counter()
        crowded.bm25(query, 50)
        times.append(time.perf_counter() - started)
    assert sorted(times)[len(times) // 2] < 0.05


def test_every_field_of_a_document_is_found(index: KeywordIndex) -> None:
    assert set(SINGLE_FIELDS) == set(Document._fields) - {"clip_id"}
    fill(index, *[Document(field, **{field: "zebra"}) for field in SINGLE_FIELDS])
    assert set(found(index, "zebra")) == set(SINGLE_FIELDS)
    for field in SINGLE_FIELDS:
        assert index.explain("zebra", field) == {"zebra": [field]}


def test_what_a_killed_commit_left_behind_costs_the_index_and_not_the_lock(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path / "keywords")
    index.upsert([Document("a-0", name="door"), Document("b-0", name="rain")])
    index.commit()
    meta = json.loads((index.folder / "meta.json").read_text())
    segment = meta["segments"][0]["segment_id"].replace("-", "")
    for number in range(300):  # the name that the next deletion will want is among them
        (index.folder / f"{segment}.{number}.del").write_bytes(b"")
    index.delete(["a-0"])
    try:
        index.commit()
    except IndexStoreError:
        index.clear()  # while the failure, and with it the writer, is still at hand
    else:
        pytest.fail("the left-over files did not get in the way")
    index.upsert([Document("b-0", name="rain")])
    index.commit()
    assert index.ids() == {"b-0"}
    index.close()
