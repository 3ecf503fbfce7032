"""Golden sets in the catalog: made, changed, taken in and out, and what outlives the clips."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from lab_library import index, make_golden, open_library, write_clips

from foley_desktop.errors import CatalogError, GoldenSetError
from foley_desktop.eval.golden import GoldenQuery, GoldenSet, golden_hash, load_golden
from foley_desktop.eval.judgements import Judgement
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.golden_files import export_set, import_set, merge_file
from foley_desktop.library.golden_store import GoldenStore
from foley_desktop.library.schema import MIGRATIONS, SCHEMA_VERSION


class Clock:
    """Seconds that pass one by one, so that times can be told apart."""

    now = 1_000_000.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def catalog(tmp_path):
    catalog = Catalog(tmp_path / "catalog.sqlite3")
    yield catalog
    catalog.close()


@pytest.fixture
def store(catalog):
    return GoldenStore(catalog, Clock())


@pytest.fixture
def service(tmp_path):
    service = open_library(tmp_path / "data")
    index(service, write_clips(tmp_path / "clips"))
    yield service
    service.close()


def everything(catalog: Catalog) -> list[str]:
    return list(sqlite3.connect(catalog.path).iterdump())


# --- sets


def test_sets_are_made_renamed_duplicated_and_deleted(store):
    made = store.create("  Doors  and rain ")
    assert (made.name, made.queries, made.judged) == ("Doors and rain", 0, 0)
    query = store.add_query(made.id, "door creak")
    store.judge(made.id, query.id, "c1", 2, "Anna")
    renamed = store.rename(made.id, "Doors")
    assert (renamed.id, renamed.name, renamed.queries, renamed.judged) == (made.id, "Doors", 1, 1)
    copy = store.duplicate(made.id)
    assert copy.id != made.id and copy.name == "Doors copy"
    assert store.judgements(copy.id) == store.judgements(made.id)
    assert store.duplicate(made.id).name == "Doors copy 2"
    store.delete(made.id)
    assert [info.name for info in store.sets()] == ["Doors copy", "Doors copy 2"]
    assert len(store.judgements(copy.id)) == 1
    with pytest.raises(GoldenSetError, match="not there any more"):
        store.golden(made.id)


@pytest.mark.parametrize("name", ["", "   ", "taken", "TAKEN "])
def test_a_name_has_to_be_there_and_free(store, catalog, name):
    store.create("Taken")
    other = store.create("other")
    before = everything(catalog)
    for attempt in (
        lambda: store.create(name),
        lambda: store.rename(other.id, name),
        lambda: store.add(GoldenSet(name, (GoldenQuery("q", "x"),), {"q": {"a": 1}})),
    ):
        with pytest.raises(GoldenSetError, match=r"needs a name|called (taken|TAKEN) already"):
            attempt()
    assert everything(catalog) == before
    assert store.rename(other.id, "OTHER").name == "OTHER"


def test_a_set_keeps_its_id_through_all_that_happens_to_it(store):
    made = store.create("a")
    before = golden_hash(store.golden(made.id))
    query = store.add_query(made.id, "rain")
    store.judge(made.id, query.id, "c1", 1, "Anna")
    store.rename(made.id, "b")
    golden = store.golden(made.id)
    assert golden.set_id == made.id and golden.name == "b"
    assert golden_hash(golden) != before


# --- queries


def test_a_query_is_known_by_its_text(store):
    made = store.create("a")
    first = store.add_query(made.id, "Dog  barking ")
    assert first == GoldenQuery("q001", "Dog barking")
    assert store.add_query(made.id, "dog barking") == first
    assert store.add_query(made.id, "rain").id == "q002"
    store.remove_query(made.id, "q001")
    assert store.add_query(made.id, "wind").id == "q003"
    store.edit_query(made.id, "q002", "heavy  rain")
    assert [query.text for query in store.queries(made.id)] == ["heavy rain", "wind"]
    for text in ("", " \n"):
        with pytest.raises(GoldenSetError, match="needs a text"):
            store.add_query(made.id, text)
        with pytest.raises(GoldenSetError, match="needs a text"):
            store.edit_query(made.id, "q002", text)


def test_removing_a_query_removes_its_judgements(store):
    made = store.create("a")
    query, before = store.good_answer(made.id, "rain", "c1", "Anna")
    assert before is None and store.golden(made.id).qrels == {query.id: {"c1": 2}}
    store.remove_query(made.id, query.id)
    assert store.judgements(made.id) == ()


# --- judgements


def test_judgements_say_who_and_when_and_can_be_changed(store):
    made = store.create("a")
    query = store.add_query(made.id, "rain")
    assert store.judge(made.id, query.id, "c1", 2, "Anna") is None
    first = store.judgements(made.id)[0]
    assert (first.grade, first.grader) == (2, "Anna") and first.at_s > 1_000_000
    assert store.judge(made.id, query.id, "c1", 0, " Anna ") == first
    assert store.grades(made.id, query.id, "Anna") == {"c1": 0}
    store.judge(made.id, query.id, "c1", None, "Anna")
    assert store.judgements(made.id) == ()
    for grade in (3, -1, True, "2", 1.5):
        with pytest.raises(GoldenSetError, match="0, 1 or 2"):
            store.judge(made.id, query.id, "c1", grade, "Anna")
    with pytest.raises(GoldenSetError, match="not in the golden set"):
        store.judge(made.id, "q999", "c1", 1, "Anna")


def test_two_graders_and_how_they_agree(store):
    made = store.create("a")
    query = store.add_query(made.id, "rain")
    for clip, anna, ben in (("c1", 2, 2), ("c2", 0, 1), ("c3", 1, None), ("c4", 0, 0)):
        store.judge(made.id, query.id, clip, anna, "Anna")
        if ben is not None:
            store.judge(made.id, query.id, clip, ben, "Ben")
    assert store.graders(made.id) == {"Anna": 4, "Ben": 3}
    found = store.agreement(made.id, "Anna", "Ben")
    # table [[1, 1, 0], [0, 0, 0], [0, 0, 1]]; observed 1; expected (2*1*1 + 2*1*4 + 1*1*4 + 1*1*1) / 3 = 5
    assert found.clips == 3 and found.kappa == pytest.approx(1 - 1 / 5)
    assert store.golden(made.id).qrels == {query.id: {"c1": 2, "c2": 0, "c3": 1, "c4": 0}}
    assert store.golden(made.id, ["Ben"]).qrels == {query.id: {"c1": 2, "c2": 1, "c4": 0}}


def test_what_a_file_says_counts_until_a_person_grades(store):
    made = store.add(GoldenSet("a", (GoldenQuery("x", "rain"),), {"x": {"c1": 0, "c2": 1}}))
    assert store.graders(made.id) == {}
    store.judge(made.id, "x", "c1", 2, "Anna")
    assert store.golden(made.id).qrels == {"x": {"c1": 2, "c2": 1}}
    store.judge(made.id, "x", "c1", None, "Anna")
    assert store.golden(made.id).qrels == {"x": {"c1": 0, "c2": 1}}


def test_names_that_are_no_text_are_kept(store):
    qrels = {"q 1\udce9": {"caf\udce9.wav": 2, "half \ud800 pair.wav": 1, "50% off.wav": 0}}
    made = store.add(GoldenSet("a", (GoldenQuery("q 1\udce9", "caf\ufffd"),), qrels, "set \ud800"))
    assert store.golden(made.id).qrels == qrels
    assert store.queries(made.id)[0].id == "q 1\udce9"
    store.judge(made.id, "q 1\udce9", "caf\udce9.wav", 1, "Zo\ud800")
    assert store.graders(made.id) == {"Zo?": 1}


# --- clips


def test_judgements_follow_a_clip_that_moves(service, tmp_path):
    store = GoldenStore(service.catalog)
    made = store.create("a")
    clip = service.clip("kitchen/dog bark kitchen.wav")
    query, _ = store.good_answer(made.id, "dog bark", clip.id, "Anna")
    (tmp_path / "clips" / "moved").mkdir()
    shutil.move(clip.path, tmp_path / "clips" / "moved" / "something else.wav")
    index(service)
    moved = service.clip("moved/something else.wav")
    assert moved.id == clip.id
    assert store.golden(made.id).qrels == {query.id: {moved.id: 2}}


def test_judgements_outlive_a_folder_that_is_taken_out_and_put_back(service, tmp_path):
    store = GoldenStore(service.catalog)
    made = store.add(make_golden())
    before = store.golden(made.id)
    service.remove_root(service.roots()[0].id)
    assert store.golden(made.id) == before
    assert not store.has_clip("kitchen/dog bark kitchen.wav")
    index(service, tmp_path / "clips")
    assert all(store.has_clip(clip) for clip in before.qrels["q001"])


def test_a_clip_that_turns_up_later_is_found(service, tmp_path):
    store = GoldenStore(service.catalog)
    golden = GoldenSet("a", (GoldenQuery("q", "late"),), {"q": {"late.wav": 2, "never.wav": 1}})
    made = store.add(golden)
    store.judge(made.id, "q", "late.wav", 1, "Anna")
    assert store.golden(made.id).qrels == {"q": {"late.wav": 1, "never.wav": 1}}
    assert store.adopt(made.id) == 0
    shutil.copy(service.clip("street/bell ring street.wav").path, tmp_path / "clips" / "late.wav")
    index(service)
    assert store.adopt(made.id) == 2
    late = service.clip("late.wav").id
    assert store.golden(made.id).qrels == {"q": {late: 1, "never.wav": 1}}
    assert {(one.clip, one.grader, one.grade) for one in store.judgements(made.id)} == {
        (late, "Anna", 1),
        (late, "", 2),
        ("never.wav", "", 1),
    }


# --- files


@pytest.mark.parametrize("naming", ["id", "path"])
@pytest.mark.parametrize("ending", ["json", "csv", "txt"])
def test_a_set_comes_back_from_every_kind_of_file(service, tmp_path, ending, naming):
    store = GoldenStore(service.catalog)
    made = store.add(make_golden())
    clip = service.clip("kitchen/rain heavy kitchen.wav").id
    store.judge(made.id, "q003", clip, 1, "Anna")
    file = tmp_path / f"export.{ending}"
    export_set(store, service.catalog, made.id, file, naming)
    names = file.read_text("utf-8")
    assert ("rain heavy kitchen.wav" in names.replace("%20", " ")) == (naming == "path")
    golden = store.golden(made.id)
    if ending == "json":
        store.delete(made.id)
    back, notes = import_set(store, file)
    assert notes == []
    assert (back.queries, back.judged) == (8, 24)
    assert store.golden(back.id).qrels == golden.qrels
    assert store.queries(back.id) == golden.queries
    if ending == "json":
        assert store.golden(back.id) == golden
        assert store.graders(back.id) == {"Anna": 1}
        again, notes = import_set(store, file)
        assert again.id != back.id and again.name == "made up 2"
        assert notes == ["This set is in the library already: the file was taken in as a copy."]


def test_an_exported_file_is_a_golden_file_with_the_same_hash(service, tmp_path):
    store = GoldenStore(service.catalog)
    made = store.add(make_golden())
    export_set(store, service.catalog, made.id, tmp_path / "g.json")
    assert load_golden(tmp_path / "g.json") == store.golden(made.id)


def test_a_file_edited_by_hand_says_what_counts(service, tmp_path):
    store = GoldenStore(service.catalog)
    made = store.create("a")
    query = store.add_query(made.id, "rain")
    for clip, grade in (("c1", 2), ("c2", 1), ("c3", 0)):
        store.judge(made.id, query.id, clip, grade, "Anna")
    export_set(store, service.catalog, made.id, tmp_path / "g.json")
    document = json.loads((tmp_path / "g.json").read_text())
    document["qrels"][query.id] = {"c1": 0, "c2": 1}
    (tmp_path / "g.json").write_text(json.dumps(document))
    back, _ = import_set(store, tmp_path / "g.json", "b")
    assert store.golden(back.id).qrels == {query.id: {"c1": 0, "c2": 1}}
    assert store.graders(back.id) == {"Anna": 1}


def test_what_the_library_does_not_have_is_counted(service, tmp_path):
    (tmp_path / "t.csv").write_text("dog,nowhere.wav,2\ndog,kitchen/dog bark kitchen.wav,1\n")
    back, notes = import_set(GoldenStore(service.catalog), tmp_path / "t.csv", "mine")
    assert back.name == "mine" and notes == ["Clips that the library does not have: 1 of 2."]


def test_another_graders_file_is_merged(service, tmp_path):
    store = GoldenStore(service.catalog, Clock())
    made = store.add(make_golden())
    store.judge(made.id, "q001", "c1", 2, "Anna")
    document = {
        "queries": [{"id": "z", "text": "DOG bark"}, {"id": "new", "text": "thunder"}],
        "qrels": {"z": {"c1": 1, "kitchen/dog bark kitchen.wav": 1}, "new": {}},
        "judgements": [
            {"query": "z", "clip": "c1", "grade": 1, "grader": "Ben", "at": "2024-05-01T10:00:00Z"},
        ],
    }
    (tmp_path / "ben.json").write_text(json.dumps(document))
    info, notes = merge_file(store, made.id, tmp_path / "ben.json")
    assert info.queries == 9 and notes[0] == "Judgements that are new or different: 2."
    assert store.graders(made.id) == {"Anna": 1, "Ben": 1}
    kitchen = service.clip("kitchen/dog bark kitchen.wav").id
    assert store.golden(made.id).qrels["q001"]["c1"] == 1
    assert store.golden(made.id).qrels["q001"][kitchen] == 1
    _, notes = merge_file(store, made.id, tmp_path / "ben.json")
    assert notes[0] == "Judgements that are new or different: 0."


def test_of_two_grades_by_one_grader_the_later_counts(store):
    made = store.add(GoldenSet("a", (GoldenQuery("q", "rain"),)))
    store.judge(made.id, "q", "c1", 2, "Anna")
    golden = GoldenSet("b", (GoldenQuery("q", "rain"),), {"q": {"c1": 0}})
    assert store.merge(made.id, golden, [Judgement("q", "c1", 0, "Anna", 5.0)]) == 0
    assert store.merge(made.id, golden, [Judgement("q", "c1", 0, "Anna", 9e9)]) == 1
    assert store.golden(made.id).qrels == {"q": {"c1": 0}}


BROKEN = {
    "types.json": b'{"queries": {"id": 1}, "qrels": []}',
    "doubled.json": b'{"queries": [{"id": "q", "text": "a"}, {"id": "q", "text": "b"}], "qrels": {}}',
    "grade.json": b'{"queries": [{"id": "q", "text": "a"}], "qrels": {"q": {"c": "2.0"}}}',
    "word.json": b'{"queries": [{"id": "q", "text": "a"}], "qrels": {"q": {"c": "high"}}}',
    "minus.json": b'{"queries": [{"id": "q", "text": "a"}], "qrels": {"q": {"c": -1}}}',
    "nan.json": b'{"queries": [{"id": "q", "text": "a"}], "qrels": {"q": {"c": NaN}}}',
    "nested.json": b"[" * 5_000_000 + b"]" * 5_000_000,
    "half.json": b'{"queries": [{"id": "q", "te',
    "judgement.json": b'{"queries": [{"id": "q", "text": "a"}], "qrels": {}, "judgements": [{"query": "q"}]}',
    "grade.csv": b"query,clip,grade\ndog,a.wav,good\n",
    "columns.csv": b"dog,a.wav\n",
    "qrels.txt": b"q1 0 a.wav\n",
    "latin.csv": b"T\xfcr,a.wav,2\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_one_sentence_and_change_nothing(store, catalog, tmp_path, name):
    made = store.add(make_golden())
    before = everything(catalog)
    (tmp_path / name).write_bytes(BROKEN[name])
    for attempt in (
        lambda: import_set(store, tmp_path / name),
        lambda: merge_file(store, made.id, tmp_path / name),
    ):
        with pytest.raises(GoldenSetError) as caught:
            attempt()
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
    assert everything(catalog) == before


# --- older catalogs


def test_an_older_catalog_learns_about_golden_sets(tmp_path):
    path = tmp_path / "old.sqlite3"
    with sqlite3.connect(path) as connection:
        for statement in MIGRATIONS[0].split(";\n"):
            connection.execute(statement)
        connection.execute("INSERT INTO searches VALUES ('rain', 1.0, 0, 1)")
        connection.execute("INSERT INTO roots (id, path, real, added_s) VALUES (1, x'2F', x'2F', 1.0)")
        connection.execute(
            "INSERT INTO clips (id, root_id, rel_path, name_key, first_hash, ordinal, audio_hash, size, "
            "mtime_ns, ctime_ns, inode, dev, added_s) "
            "VALUES ('c1', 1, x'61', 'a', 'h', 0, 'h', 1, 1, 1, 1, 1, 1)"
        )
        connection.execute("INSERT INTO tags VALUES ('c1', 2, 'title', 'Door', 'INFO')")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    catalog = Catalog(path)
    store = GoldenStore(catalog)
    store.good_answer(store.create("a").id, "rain", "c1", "Anna")
    assert catalog.recent_searches() == ["rain"]
    assert catalog.value("PRAGMA user_version") == SCHEMA_VERSION
    kept = catalog.rows("SELECT clip_id, position, field, value, source FROM tags")
    assert [tuple(row) for row in kept] == [("c1", 2, "title", "Door", "INFO")]
    assert catalog.integrity() == []
    catalog.close()


def test_a_closed_catalog_is_one_sentence(tmp_path: Path):
    catalog = Catalog(tmp_path / "c.sqlite3")
    catalog.close()
    with pytest.raises(CatalogError, match="closed"):
        GoldenStore(catalog).sets()
