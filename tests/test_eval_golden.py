"""Golden files: what is read, and one clear sentence for each kind of damage."""

from __future__ import annotations

import json
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval import files
from foley_desktop.eval.golden import (
    GoldenQuery,
    GoldenSet,
    dump_golden,
    golden_document,
    golden_hash,
    load_golden,
    parse_golden,
    resolve,
)

SOUND = {
    "queries": [{"id": "q1", "text": "dog bark", "kind": "literal"}, {"id": "q2", "text": "rain on a roof"}],
    "qrels": {"q1": {"dogs/bark 01.wav": 2, "dogs/growl.wav": 1, "cats/cat.wav": 0}},
}


def changed(**keys) -> dict:
    return SOUND | keys


def one_sentence(error: pytest.ExceptionInfo) -> str:
    sentence = str(error.value)
    assert sentence[0].isupper() and sentence.endswith(".") and "\n" not in sentence and len(sentence) < 300
    sentence.encode("utf-8")
    return sentence


def test_a_file_is_read_as_written(tmp_path):
    path = tmp_path / "my set.json"
    path.write_text(json.dumps(SOUND), "utf-8")
    golden = load_golden(path)
    assert golden.name == "my set"
    assert golden.queries == (
        GoldenQuery("q1", "dog bark", "literal"),
        GoldenQuery("q2", "rain on a roof", ""),
    )
    assert golden.qrels == SOUND["qrels"]
    assert golden.texts == {"q1": "dog bark", "q2": "rain on a roof"}


def test_the_corpus_set_is_read(shared_dir):
    golden = load_golden(shared_dir / "corpus" / "small_golden.json")
    assert len(golden.queries) > 30
    assert {query.kind for query in golden.queries} >= {"literal", "paraphrase"}
    assert set(golden.qrels) <= set(golden.texts)


def test_further_keys_are_ignored_even_where_they_are_odd():
    queries = [{"id": "q1", "text": "dog", "kind": 5, "notes": {"deep": [[[None]]]}}]
    golden = parse_golden({"queries": queries, "qrels": {}, "version": 7, "name": 3}, name="set")
    assert golden == GoldenSet("set", (GoldenQuery("q1", "dog", ""),), {})


def test_whole_floats_are_the_numbers_they_are():
    golden = parse_golden(
        json.loads('{"queries":[{"id":"q","text":"t"}],"qrels":{"q":{"a":2.0,"b":1e0,"c":-0.0}}}')
    )
    assert golden.qrels == {"q": {"a": 2, "b": 1, "c": 0}}
    assert all(type(grade) is int for grade in golden.qrels["q"].values())


def with_grade(grade) -> dict:
    return changed(qrels={"q1": {"a.wav": grade}})


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([], "object, not a list"),
        (None, "object, not null"),
        ("text", "object, not a text"),
        ({"qrels": {}}, "lacks the list of queries"),
        ({"queries": [{"id": "q", "text": "t"}]}, "lacks the qrels"),
        (changed(queries={}), "list, not an object"),
        (changed(queries=None), "list, not null"),
        (changed(queries=[]), "has no queries"),
        (changed(queries=["dog"]), "Query 1 has to be an object, not a text"),
        (changed(queries=[{"text": "dog"}]), "Query 1 lacks its id"),
        (changed(queries=[{"id": "q1"}]), "Query 1 lacks its text"),
        (changed(queries=[{"id": 1, "text": "dog"}]), "id of query 1 has to be a text, not a number"),
        (changed(queries=[{"id": "q1", "text": ["dog"]}]), "text of query 1 has to be a text, not a list"),
        (changed(queries=[{"id": " ", "text": "dog"}]), "id of query 1 is empty"),
        (changed(queries=[{"id": "q1", "text": ""}]), "text of query 1 is empty"),
        (changed(queries=SOUND["queries"] + [{"id": "q1", "text": "cat"}]), 'query id "q1" is used twice'),
        (changed(qrels=[]), "qrels have to be an object, not a list"),
        (changed(qrels={"q1": ["a.wav"]}), 'qrels of query "q1" have to be an object, not a list'),
        (changed(qrels={"q9": {"a.wav": 1}}), 'query "q9" that is not among the queries'),
        (changed(qrels={"q1": {"": 1}}), "clip without a name"),
        (with_grade("2.0"), 'grade "2.0" of "a.wav" in query "q1" is not 0, 1 or 2'),
        (with_grade("high"), 'grade "high"'),
        (with_grade(-1), "grade -1 "),
        (with_grade(3), "grade 3 "),
        (with_grade(1.5), "grade 1.5 "),
        (with_grade(float("nan")), "grade NaN "),
        (with_grade(float("inf")), "grade Infinity "),
        (with_grade(True), "grade true "),
        (with_grade(None), "grade null "),
        (with_grade([2]), "grade a list "),
        (with_grade(10**30), "grade a number "),
        (with_grade("x" * 1000), "is not 0, 1 or 2"),
        (changed(qrels={"q1": {"\udcff" * 500: 7}}), "grade 7 of"),
    ],
)
def test_each_damage_has_its_sentence(tmp_path, document, words):
    path = tmp_path / "golden.json"
    path.write_text(json.dumps(document), "ascii")
    with pytest.raises(GoldenSetError) as error:
        load_golden(path)
    assert words in one_sentence(error)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is not JSON"),
        (b"queries", "is not JSON"),
        (b'{"queries": [', "is not JSON"),
        (b'{"queries": []} x', "is not JSON"),
        ('{"queries": []}'.encode("utf-16"), "not UTF-8 text"),
        (b'{"queries": [{"id": "q", "text": "caf\xe9"}], "qrels": {}}', "not UTF-8 text (byte 37)"),
        (b"9" * 10_000, "number that is too long"),
        (
            b'{"queries": [{"id": "q", "text": "t"}], "qrels": {"q": {"a": 1, "b": 0, "a": 2}}}',
            'gives "a" twice',
        ),
        (b'{"queries": [{"id": "q", "text": "t"}], "qrels": {"q": {}, "q": {}}}', 'gives "q" twice'),
        (b'{"queries": [], "queries": [], "qrels": {}}', 'gives "queries" twice'),
        (b'{"queries": [{"id": "a", "text": "t", "id": "b"}], "qrels": {}}', 'gives "id" twice'),
    ],
)
def test_files_that_hold_no_golden_set(tmp_path, data, words):
    path = tmp_path / "golden.json"
    path.write_bytes(data)
    with pytest.raises(GoldenSetError) as error:
        load_golden(path)
    assert words in one_sentence(error)


def test_a_byte_order_mark_is_no_damage(tmp_path):
    path = tmp_path / "golden.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(SOUND).encode())
    assert len(load_golden(path).queries) == 2


@pytest.mark.parametrize(
    "nested",
    [
        b"[" * 10_000_000,
        b'{"queries":' * 1_000_000,
        b"[" * 5_000_000 + b"]" * 5_000_000,
        b'[{"a":' * 1_000_000,
    ],
)
def test_ten_megabytes_of_brackets_are_refused_at_once(tmp_path, nested):
    path = tmp_path / "golden.json"
    path.write_bytes(nested)
    start = time.perf_counter()
    with pytest.raises(GoldenSetError) as error:
        load_golden(path)
    assert time.perf_counter() - start < 2.0
    assert "nested too deeply" in one_sentence(error)


def test_a_huge_file_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "golden.json"
    with open(path, "wb") as file:
        file.truncate(files.MAX_JSON_BYTES + 1)
    with pytest.raises(GoldenSetError) as error:
        load_golden(path)
    assert "larger than 32 MB" in one_sentence(error)


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, words in [(tmp_path / "none.json", "does not exist"), (tmp_path, "is not a file")]:
        with pytest.raises(GoldenSetError) as error:
            load_golden(path)
        assert words in one_sentence(error)
    with pytest.raises(GoldenSetError, match="is not a file"):
        load_golden(tmp_path / "pipe")
    with pytest.raises(GoldenSetError, match="cannot be read"):
        load_golden(str(tmp_path / "nul\0.json"))
    with pytest.raises(GoldenSetError) as error:
        load_golden(os.fsencode(tmp_path).decode() + "/\udcff.json")
    one_sentence(error)


def test_half_a_surrogate_pair_never_reaches_a_query_but_names_a_clip():
    document = {"queries": [{"id": "q", "text": "dog \ud83d"}], "qrels": {"q": {"caf\udce9.wav": 2}}}
    golden = parse_golden(document)
    assert golden.queries[0].text == "dog ?"
    assert golden.qrels == {"q": {"caf\udce9.wav": 2}}
    assert len(golden_hash(golden)) == 32


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
clips = st.text(min_size=1)


@st.composite
def golden_sets(draw: st.DrawFn) -> GoldenSet:
    ids = draw(st.lists(texts, unique=True, min_size=1, max_size=5))
    queries = tuple(GoldenQuery(query, draw(texts), draw(st.text(max_size=5))) for query in ids)
    rows = st.dictionaries(clips, st.integers(0, 2), max_size=4)
    judged = draw(st.lists(st.sampled_from(ids), unique=True))
    return GoldenSet(draw(texts), queries, {query: draw(rows) for query in judged})


@given(golden_sets())
def test_a_set_survives_json(golden):
    assert parse_golden(json.loads(json.dumps(golden_document(golden)))) == golden


def test_a_set_survives_a_file(tmp_path):
    queries = (GoldenQuery("q 1", "Tür zu", "literal"), GoldenQuery("q2", "dog"))
    golden = GoldenSet("set", queries, {"q 1": {"caf\udce9.wav": 2, "雨.wav": 1}})
    dump_golden(golden, tmp_path / "out.json")
    assert load_golden(tmp_path / "out.json") == golden
    assert os.listdir(tmp_path) == ["out.json"]
    with pytest.raises(GoldenSetError, match="cannot be written"):
        dump_golden(golden, tmp_path / "none" / "out.json")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


@given(
    st.fixed_dictionaries({}, optional={"queries": json_values, "qrels": json_values, "name": json_values})
    | st.fixed_dictionaries(
        {
            "queries": st.lists(st.fixed_dictionaries({"id": json_values, "text": json_values}), max_size=3),
            "qrels": st.dictionaries(st.text(max_size=3), json_values, max_size=3),
        }
    )
    | json_values
)
def test_any_document_is_a_set_or_one_sentence(document):
    try:
        golden = parse_golden(document)
    except GoldenSetError as error:
        assert str(error).endswith(".") and "\n" not in str(error)
    else:
        assert golden.queries


# The hash


@given(golden_sets(), st.randoms(use_true_random=False))
def test_the_hash_ignores_order_name_and_kind(golden, random):
    queries = tuple(
        GoldenQuery(query.id, query.text, "other")
        for query in random.sample(golden.queries, len(golden.queries))
    )
    qrels = {
        query: dict(random.sample(list(golden.qrels[query].items()), len(golden.qrels[query])))
        for query in random.sample(list(golden.qrels), len(golden.qrels))
    }
    assert golden_hash(GoldenSet("other", queries, qrels)) == golden_hash(golden)


def test_the_hash_names_ids_texts_and_grades():
    base = parse_golden(SOUND)
    others = [
        changed(queries=[SOUND["queries"][0] | {"text": "dogs bark"}, SOUND["queries"][1]]),
        changed(queries=SOUND["queries"] + [{"id": "q3", "text": "wind"}]),
        changed(qrels={"q1": SOUND["qrels"]["q1"] | {"dogs/growl.wav": 2}}),
        changed(qrels={"q2": SOUND["qrels"]["q1"]}),
    ]
    assert len({golden_hash(golden) for golden in [base, *map(parse_golden, others)]}) == 5
    # A value kept by baselines on disk: it must not change.
    assert golden_hash(base) == "9514b68a267f8b9c3799b7d3db87ced8"


# Against a library


def test_clips_become_ids_and_those_not_there_stay_as_they_are():
    golden = parse_golden(
        {
            "queries": [{"id": query, "text": "t"} for query in ("q1", "q2", "q3", "q4")],
            "qrels": {
                "q1": {"a.wav": 1, "id-a": 2, "gone.wav": 2},
                "q2": {"b.wav": 0, "lost.wav": 0},
                "q3": {"gone.wav": 1},
            },
        }
    )
    asked = []

    def lookup(clip):
        asked.append(clip)
        return {"a.wav": "id-a", "id-a": "id-a", "b.wav": "id-b"}.get(clip)

    resolved = resolve(golden, lookup)
    assert resolved.qrels == {"q1": {"id-a": 2, "gone.wav": 2}, "q3": {"gone.wav": 1}}
    assert resolved.unanswerable == ["q2", "q4"]
    assert resolved.unknown == ["gone.wav", "lost.wav"]
    assert len(asked) == len(set(asked))
