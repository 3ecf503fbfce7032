"""The relevance lab: measured side by side, repeatable to the byte, held against baselines, explained."""

from __future__ import annotations

import csv
import io
import json
import shutil

import pytest
from job_support import run_with_steps as finish
from lab_library import index, make_golden, open_library, write_clips

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.compare import load_baseline
from foley_desktop.eval.golden import GoldenQuery, GoldenSet
from foley_desktop.eval.retrieval import evaluate_run, metrics_at
from foley_desktop.eval.trec import read_qrels, read_run
from foley_desktop.index.vectors import table_name
from foley_desktop.library import lab_table
from foley_desktop.library.lab import LabSettings
from foley_desktop.library.lab_compare import against_baseline, between_reports
from foley_desktop.models import MODES, Filters, Progress

BROKEN = {"keyword": 0.0, "semantic": 0.0, "audio": 1.0}


def measured(service, golden, **settings):
    return finish(service.lab.measure(golden, LabSettings(**settings)))[0]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """An indexed library on disk; tests work on copies of its data folder."""
    folder = tmp_path_factory.mktemp("lab")
    service = open_library(folder / "data")
    index(service, write_clips(folder / "clips"))
    service.close()
    return folder


@pytest.fixture
def service(built, tmp_path):
    shutil.copytree(built / "data", tmp_path / "data")
    service = open_library(tmp_path / "data")
    yield service
    service.close()


@pytest.fixture
def set_id(service) -> str:
    return service.lab.sets.add(make_golden()).id


# --- measuring


def test_every_mode_scores_as_the_command_line_does(service, set_id):
    report, steps = finish(service.lab.measure(set_id))
    assert list(report.results) == list(MODES)
    for mode in MODES:
        alone, _ = finish(service.evaluate(service.lab.sets.golden(set_id), mode=mode))
        assert report.results[mode].report == alone.report
        assert report.results[mode].run == {q: list(row) for q, row in alone.run.items()}
    assert [step.done for step in steps] == [0, 0, *range(32), *[32] * 16]
    assert all(isinstance(step, Progress) and step.total == 32 for step in steps[2:])
    assert steps[3].what == "keyword: dog bark"
    assert report.latency_ms.keys() == set(MODES)
    assert all(times.keys() == report.texts.keys() for times in report.latency_ms.values())


def test_the_same_library_set_and_settings_give_the_same_bytes(service, set_id, built, tmp_path):
    first = measured(service, set_id).to_json()
    assert measured(service, set_id).to_json() == first
    service.lab.export_set(set_id, tmp_path / "set.json")
    other = open_library(tmp_path / "other")
    index(other, built / "clips")
    (built / "clips" / "late.txt").touch()
    index(other)
    again = other.lab.import_set(tmp_path / "set.json").info
    assert measured(other, again.id).to_json() == first
    other.close()


def test_a_report_states_what_is_needed_to_repeat_it(service, set_id):
    conditions = measured(service, set_id, k=5, metrics=("mrr", "precision"), rel_lvl=2).to_dict()[
        "conditions"
    ]
    assert (
        conditions
        | {
            "embedder": "hash-64-1",
            "text_embedder": "hash-text-64-1",
            "fusion": "weighted audio=0.2 keyword=0.4 semantic=1 depth=50",
            "library_size": 24,
            "set_id": set_id,
            "golden": "made up",
            "k": 5,
            "metrics": ["mrr@5", "precision@5"],
            "rel_lvl": 2,
            "depth": 100,
            "modes": list(MODES),
            "graders": None,
            "left_out": "",
        }
        == conditions
    )
    assert conditions["app_version"] and conditions["golden_hash"] and conditions["library_hash"]
    assert set(conditions["indexes"]) == {"keyword", "semantic", "audio"}


def test_metrics_cut_and_lowest_relevant_grade_can_be_chosen(service, set_id):
    report = measured(service, set_id, modes=("keyword",), k=3, metrics=("precision", "ndcg"), rel_lvl=2)
    result = report.results["keyword"]
    assert list(result.report.mean) == ["precision@3", "ndcg@3"]
    assert result.report.mean["precision@3"] == pytest.approx(1 / 3)  # of three with the words one is ideal
    low, high = result.intervals["ndcg@3"]
    assert low <= result.report.mean["ndcg@3"] <= high
    for wrong in (
        {"k": 0},
        {"rel_lvl": 3},
        {"modes": ()},
        {"modes": ("keyword", "keyword")},
        {"metrics": ("ndcg@10",)},
    ):
        with pytest.raises(ValueError):
            LabSettings(**wrong)


def test_what_nobody_graded_is_counted_and_left_out_of_the_condensed_lists(service, set_id):
    hybrid = measured(service, set_id).results["hybrid"]
    assert hybrid.judged["q001"] == 0.3 and len(hybrid.unjudged["q001"]) == 7
    assert not set(hybrid.unjudged["q001"]) & set(service.lab.sets.golden(set_id).qrels["q001"])
    assert hybrid.condensed.mean["ndcg@10"] >= hybrid.report.mean["ndcg@10"]


def test_a_report_can_be_checked_by_other_tools(service, set_id, tmp_path):
    report = measured(service, set_id, modes=("hybrid", "audio"))
    report.write_trec(tmp_path / "new" / "trec")
    assert read_qrels(tmp_path / "new" / "trec" / "qrels.txt") == report.qrels
    for mode in ("hybrid", "audio"):
        run = read_run(tmp_path / "new" / "trec" / f"run-{mode}.txt")
        assert evaluate_run(run, report.qrels).per_query == report.results[mode].report.per_query
    (tmp_path / "file").touch()
    with pytest.raises(GoldenSetError, match="cannot be made"):
        report.write_trec(tmp_path / "file")


def test_queries_without_an_answer_and_unknown_clips_are_named(service):
    golden = GoldenSet(
        "g",
        (GoldenQuery("a", "dog"), GoldenQuery("b", "nothing"), GoldenQuery("c", "wrong")),
        {"a": {"gone.wav": 2}, "c": {"kitchen/dog bark kitchen.wav": 0}},
    )
    report = measured(service, golden, modes=("keyword",))
    assert (report.unanswerable, report.unknown_clips) == (("b", "c"), ("gone.wav",))
    assert report.results["keyword"].report.mean["recall@10"] == 0.0
    with pytest.raises(GoldenSetError, match="No query of this golden set has an answer"):
        measured(service, GoldenSet("e", (GoldenQuery("a", "dog"),)))


def test_only_some_graders_can_count(service, set_id):
    clip = service.clip("forest/dog bark forest.wav").id
    service.lab.sets.judge(set_id, "q001", clip, 2, "Ben")
    report = measured(service, set_id, modes=("keyword",), graders=("Ben",))
    assert report.qrels == {"q001": {clip: 2}}
    assert report.conditions["graders"] == ["Ben"]


def test_cancelling_takes_effect_at_the_next_step_and_leaves_nothing(service, set_id):
    before = service.catalog.generation()
    job = service.lab.measure(set_id)
    for _ in range(5):
        next(job)
    job.close()
    assert next(job, None) is None
    assert service.catalog.generation() == before


def test_a_change_while_measuring_is_said(service, set_id):
    job = service.lab.measure(set_id, LabSettings(modes=("keyword",)))
    for _ in range(4):
        next(job)
    service.settings.fusion_depth = 60
    report, _ = finish(job)
    assert report.notices == ("The library or its settings changed while they were measured.",)


def test_a_ranker_that_fails_is_part_of_the_report(service, set_id):
    table = service.data.vectors / f"{table_name(service.indexes.describe().model_id)}.lance"
    for file in (table / "data").iterdir():
        file.write_bytes(b"damaged")
    report = measured(service, set_id, modes=("hybrid",))
    assert len(report.notices) == 1 and report.notices[0].startswith("Without the audio part")
    assert report.to_dict()["notices"] == list(report.notices)


# --- a folder left out


def test_a_measurement_without_a_folder(service, set_id, built, tmp_path):
    new = tmp_path / "new month"
    shutil.copytree(built / "clips" / "street", new / "dog bark")
    for n, file in enumerate(sorted((new / "dog bark").iterdir())):
        data = bytearray(file.read_bytes())
        data[-200] ^= 0x55  # another sound, so another clip
        file.write_bytes(data)
        file.rename(file.with_name(f"dog bark {n}.wav"))
    index(service, new)
    answer = service.clip("dog bark/dog bark 1.wav").id
    service.lab.sets.judge(set_id, "q001", answer, 2, "Anna")
    query = service.lab.sets.add_query(set_id, "dog bark 2")
    service.lab.sets.judge(set_id, query.id, service.clip("dog bark/dog bark 2.wav").id, 2, "Anna")
    theirs = set(service.catalog.ids_of_root(service.clip("dog bark/dog bark 1.wav").root_id))
    assert len(theirs) == 8

    whole = measured(service, set_id, modes=("keyword",))
    without = measured(service, set_id, modes=("keyword",), left_out=str(new))
    assert not theirs & {clip for row in without.results["keyword"].run.values() for clip in row}
    assert theirs & {clip for row in whole.results["keyword"].run.values() for clip in row}
    assert answer in whole.qrels["q001"] and answer not in without.qrels["q001"]
    assert query.id in whole.texts and without.unanswerable == (query.id,)
    assert without.conditions["left_out"] == str(new)

    comparison = between_reports(without, whole, "keyword")
    assert comparison.notes == (f"Measured without {new} before.",)
    assert comparison.left_out == (query.id,)
    change = comparison.changes["q001"]
    assert change.difference["ndcg@10"] < 0.0 and not change.by_worse
    assert set(change.by_unjudged) <= theirs - {answer} and comparison.to_grade["q001"]
    assert comparison.changes["q005"].difference["ndcg@10"] == 0.0
    with pytest.raises(GoldenSetError, match="no folder /nowhere"):
        measured(service, set_id, left_out="/nowhere")


def test_reports_that_have_nothing_to_do_with_each_other_are_refused(service, set_id):
    report = measured(service, set_id, modes=("keyword",))
    other = measured(service, make_golden(), modes=("keyword",))
    cut = measured(service, set_id, modes=("keyword",), k=5)
    for before, after, mode, words in (
        (report, other, "keyword", "different golden sets"),
        (report, cut, "keyword", "different metrics"),
        (report, report, "audio", "audio was not measured"),
    ):
        with pytest.raises(GoldenSetError, match=words):
            between_reports(before, after, mode)


# --- baselines


def test_a_baseline_keeps_its_run_and_both_are_scored_with_todays_grades(service, set_id):
    lab = service.lab
    saved = lab.baselines.save(measured(service, set_id), "May")
    assert [(info.name, info.mode, info.library_size) for info in saved] == [
        ("May", mode, 24) for mode in sorted(MODES)
    ]
    assert lab.baselines.load(saved[0].id)["saved"].startswith("20")
    documents = lab.baselines.named(set_id, "may")
    same = against_baseline(measured(service, set_id), "hybrid", documents["hybrid"])
    assert same.notes == () and same.passed
    assert same.statistics["ndcg@10"].sentence() == "No query differs (n = 8)."
    assert same.old.mean == same.new.mean

    forest = service.clip("forest/dog bark forest.wav").id
    lab.sets.judge(set_id, "q001", forest, 2, "Anna")
    lab.sets.good_answer(set_id, "glass", forest, "Anna", 1)
    lab.sets.edit_query(set_id, "q002", "creaky door")
    after = against_baseline(measured(service, set_id), "hybrid", documents["hybrid"])
    assert after.notes == (
        "The golden set has changed since the baseline: both are scored with today's judgements.",
        "Queries that the baseline does not have are left out: 2.",
    )
    assert after.left_out == ("q002", "q009") and after.passed
    qrels = lab.sets.golden(set_id).qrels
    run = {"q001": {clip: -float(n) for n, clip in enumerate(documents["hybrid"]["run"]["q001"])}}
    today = evaluate_run(run, {"q001": qrels["q001"]}, metrics=metrics_at(10))
    assert after.old.per_query["q001"] == today.per_query["q001"]
    assert after.old.per_query["q001"] != documents["hybrid"]["report"]["per_query"]["q001"]


def test_a_broken_fusion_is_seen_and_fails_the_gate(service, set_id):
    baselines = service.lab.baselines
    baselines.save(measured(service, set_id), "good")
    service.settings.fusion_weights = BROKEN
    report = measured(service, set_id)
    comparison = against_baseline(report, "hybrid", baselines.named(set_id, "good")["hybrid"])
    assert not comparison.passed
    assert comparison.floor == pytest.approx(comparison.old.mean["ndcg@10"] - 0.02)
    assert comparison.notes == (
        "The fusion differs: weighted audio=0.2 keyword=0.4 semantic=1 depth=50 in the baseline, "
        "weighted audio=1 keyword=0 semantic=0 depth=50 now.",
    )
    assert comparison.statistics["ndcg@10"].sentence().startswith("Worse (p = 0.008, n = 8)")
    assert comparison.text.splitlines()[0] == "mean over 8 queries against the baseline"
    worst_loss, best = comparison.sorted_differences("ndcg@10")[0], comparison.changes["q001"]
    assert worst_loss[1] == min(c.difference["ndcg@10"] for c in comparison.changes.values())
    assert best.by_unjudged and comparison.to_grade["q001"] == list(best.by_unjudged)
    keyword = against_baseline(report, "keyword", baselines.named(set_id, "good")["keyword"])
    assert keyword.passed and not keyword.to_grade
    service.settings.fusion_weights = {}
    report = measured(service, set_id)
    assert against_baseline(report, "hybrid", baselines.named(set_id, "good")["hybrid"]).passed


def test_displaced_by_something_worse_is_told_from_displaced_by_something_unjudged(service, set_id):
    service.lab.baselines.save(measured(service, set_id), "good")
    service.settings.fusion_weights = BROKEN
    for candidate in service.search("dog bark", k=100).hits:
        if candidate.id not in service.lab.sets.golden(set_id).qrels["q001"]:
            service.lab.sets.judge(set_id, "q001", candidate.id, 0, "Anna")
    report = measured(service, set_id)
    comparison = against_baseline(report, "hybrid", service.lab.baselines.named(set_id, "good")["hybrid"])
    graded, other = comparison.changes["q001"], comparison.changes["q007"]
    assert graded.by_worse and graded.by_unjudged == ()
    assert other.by_unjudged
    assert "q001" not in comparison.to_grade and "q007" in comparison.to_grade
    session = service.lab.session(set_id, "Ben", focus=comparison.to_grade)
    sheet = session.sheet()
    assert {c.clip.id for c in sheet.candidates} == set(comparison.to_grade[sheet.query.id])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mode": "keyword"}, "measured in mode keyword"),
        ({"set_id": "another", "golden_hash": "another"}, "another golden set"),
        ({"golden_hash": "another", "run": {}}, "another golden set"),
        ({"run": {}}, "keeps no run"),
        ({"texts": {}}, "no query in common"),
    ],
)
def test_what_cannot_be_compared_is_refused(service, set_id, change, words):
    report = measured(service, set_id, modes=("hybrid",))
    with pytest.raises(GoldenSetError, match=words):
        against_baseline(report, "hybrid", report.baseline_document("hybrid") | change)


def test_another_library_and_another_cut_are_compared(service, set_id):
    report = measured(service, set_id, modes=("hybrid",), k=7)
    old = measured(service, set_id, modes=("hybrid",), metrics=("mrr",)).baseline_document("hybrid")
    assert set(old["report"]["mean"]) == {"mrr@10", "ndcg@10"}
    comparison = against_baseline(report, "hybrid", old | {"library_hash": "x", "library_size": 20})
    assert comparison.notes == ("The library differs: 20 clips then, 24 now.",)
    assert comparison.old.mean == comparison.new.mean and set(comparison.new.mean) == set(metrics_at(7))
    deep = measured(service, set_id, modes=("hybrid",), k=150)
    with pytest.raises(GoldenSetError, match="not deep enough for k = 150"):
        against_baseline(deep, "hybrid", old)


def test_baselines_have_names_and_go_with_their_set(service, set_id):
    baselines = service.lab.baselines
    report = measured(service, set_id, modes=("keyword", "audio"))
    baselines.save(report, "one")
    for name, words in (("ONE ", "called ONE already"), (" ", "needs a name")):
        with pytest.raises(GoldenSetError, match=words):
            baselines.save(report, name)
    baselines.save(measured(service, set_id, modes=("keyword",)), "one", replace=True)
    assert [info.mode for info in baselines.of_set(set_id)] == ["keyword"]
    baselines.save(report, "two")
    baselines.delete(set_id, "one")
    assert [info.name for info in baselines.of_set(set_id)] == ["two", "two"]
    number = baselines.of_set(set_id)[0].id
    service.lab.sets.delete(set_id)
    with pytest.raises(GoldenSetError, match="baseline is not there"):
        baselines.load(number)
    with pytest.raises(GoldenSetError, match="golden set is not there"):
        baselines.save(report, "three")


def test_baselines_travel_as_files(service, set_id, tmp_path):
    baselines = service.lab.baselines
    info = baselines.save(measured(service, set_id, modes=("hybrid",)), "May")[0]
    baselines.export_file(info.id, tmp_path / "may.json")
    assert load_baseline(tmp_path / "may.json") == baselines.load(info.id)
    with pytest.raises(GoldenSetError, match="called May already"):
        baselines.import_file(set_id, tmp_path / "may.json")
    back = baselines.import_file(set_id, tmp_path / "may.json", "again")
    assert (back.name, back.mode, back.ndcg) == ("again", "hybrid", info.ndcg)
    other = service.lab.sets.create("other")
    service.lab.sets.good_answer(other.id, "dog", "c1", "Anna")
    with pytest.raises(GoldenSetError, match="another golden set"):
        baselines.import_file(other.id, tmp_path / "may.json")
    document = json.loads((tmp_path / "may.json").read_text()) | {"mode": "magic"}
    (tmp_path / "may.json").write_text(json.dumps(document))
    with pytest.raises(GoldenSetError, match="mode 'magic'"):
        baselines.import_file(set_id, tmp_path / "may.json", "x")


def test_runs_of_other_searches_can_be_compared(service, set_id, tmp_path):
    baselines = service.lab.baselines
    info = baselines.save(measured(service, set_id, modes=("keyword",)), "ours")[0]
    baselines.export_run(info.id, tmp_path / "run.txt")
    run = read_run(tmp_path / "run.txt")
    assert {q: list(row) for q, row in run.items()} == baselines.load(info.id)["run"]
    theirs = baselines.import_run(set_id, tmp_path / "run.txt", "theirs", "hybrid")
    assert (theirs.embedder, theirs.ndcg) == ("not ours", info.ndcg)
    comparison = against_baseline(
        measured(service, set_id, modes=("hybrid",)), "hybrid", baselines.load(theirs.id)
    )
    assert comparison.old.mean["ndcg@10"] == info.ndcg and len(comparison.notes) == 2
    (tmp_path / "run.txt").write_text("q999 Q0 a 1 1.0 x\n")
    with pytest.raises(GoldenSetError, match="no query of this golden set"):
        baselines.import_run(set_id, tmp_path / "run.txt")


# --- details


def test_details_say_who_brought_a_clip_and_where_the_missing_ones_are(service):
    golden = GoldenSet(
        "g",
        (GoldenQuery("q", "dog bark"),),
        {"q": {"kitchen/dog bark kitchen.wav": 2, "street/bell ring street.wav": 1, "gone.wav": 1}},
    )
    report = measured(service, golden, k=3)
    found = service.lab.details(report, "hybrid", "q")
    assert [row.clip_id for row in found.ranked] == report.results["hybrid"].run["q"]
    kitchen = service.clip("kitchen/dog bark kitchen.wav").id
    bell = service.clip("street/bell ring street.wav").id
    row = next(row for row in found.ranked if row.clip_id == kitchen)
    assert (row.grade, row.rank, row.clip.name) == (2, 3, "dog bark kitchen.wav")
    for name, mode in (("keyword", "keyword"), ("semantic", "semantic"), ("audio", "audio")):
        place = report.results[mode].run["q"].index(kitchen) + 1
        assert row.standings[name].rank == place
        assert (name in row.brought_by(place), name in row.brought_by(place - 1)) == (True, False)
    assert [row.clip_id for row in found.missing] == [bell, "gone.wav"]
    bell_row, gone = found.missing
    assert bell_row.rank == report.results["hybrid"].run["q"].index(bell) + 1
    assert bell_row.standings["keyword"].rank is None and bell_row.standings["keyword"].score is None
    assert bell_row.standings["audio"].rank is not None
    assert (gone.clip, gone.rank, gone.grade) == (None, None, 1)
    assert all(standing.rank is standing.score is None for standing in gone.standings.values())


# --- the table


@pytest.fixture
def compared(service, set_id):
    service.lab.baselines.save(measured(service, set_id), "good")
    service.settings.fusion_weights = BROKEN
    report = measured(service, set_id)
    document = service.lab.baselines.named(set_id, "good")["hybrid"]
    return report, {"hybrid": against_baseline(report, "hybrid", document)}


def test_a_row_holds_everything_about_a_query(compared):
    report, comparisons = compared
    row = lab_table.rows(report, comparisons)[0]
    hybrid = report.results["hybrid"]
    assert (row.query_id, row.text, row.graded) == ("q001", "dog bark", 3)
    assert row.metrics["hybrid"] == hybrid.report.per_query["q001"]
    assert row.unjudged["hybrid"] == len(hybrid.unjudged["q001"]) > 7
    assert row.best_rank["audio"] == report.results["audio"].report.ranks["q001"]
    assert row.change["hybrid"] == comparisons["hybrid"].changes["q001"].difference
    assert "audio" not in row.change and row.latency_ms["hybrid"] > 0.0


def test_the_table_can_be_filtered(compared):
    report, comparisons = compared
    table = lab_table.rows(report, comparisons)
    worst = lab_table.worst(table, "hybrid", "ndcg@10", 3)
    assert [row.query_id for row in worst] == [
        query for _, query in sorted((r.metrics["hybrid"]["ndcg@10"], r.query_id) for r in table)
    ][:3]
    fallen = lab_table.got_worse(table, "hybrid", "ndcg@10")
    losses = [row.change["hybrid"]["ndcg@10"] for row in fallen]
    assert losses == sorted(losses) and losses[-1] < 0.0 and len(losses) == 8
    assert lab_table.got_worse(table, "keyword", "ndcg@10") == []
    below = lab_table.below_best_single(table, "ndcg@10")
    assert below and all(
        row.metrics["hybrid"]["ndcg@10"] < max(row.metrics[m]["ndcg@10"] for m in ("keyword", "semantic"))
        for row in below
    )
    assert lab_table.below_best_single(lab_table.rows(report), "mrr@10")


def test_the_table_can_be_copied(compared):
    report, comparisons = compared
    columns = {column.key: column for column in lab_table.columns(report, comparisons)}
    assert {f"{m}:{mode}" for m in metrics_at(10) for mode in MODES} <= set(columns)
    assert "change:ndcg@10:hybrid" in columns and "change:ndcg@10:audio" not in columns
    chosen = [
        columns[key] for key in ("query", "graded", "ndcg@10:hybrid", "change:ndcg@10:hybrid", "rank:audio")
    ]
    table = lab_table.rows(report, comparisons)
    text = list(csv.reader(io.StringIO(lab_table.to_csv(table, chosen))))
    assert text[0] == ["Query", "Graded", "hybrid ndcg@10", "hybrid ndcg@10 change", "audio best rank"]
    assert [float(row[2]) for row in text[1:]] == [row.metrics["hybrid"]["ndcg@10"] for row in table]
    lines = lab_table.to_markdown(table, chosen).splitlines()
    assert lines[1] == "| --- | --- | --- | --- | --- |" and len(lines) == 10
    change = table[0].change["hybrid"]["ndcg@10"]
    assert f"| {change:+.4f} |" in lines[2] and change < 0.0
    values = [column.value(table[0]) for column in columns.values()]
    assert len(values) == len(columns)


def test_markdown_survives_any_query():
    row = lab_table.QueryRow("q", "a|b\\ \n c", 0, {}, {}, {}, {}, {}, {}, {})
    column = lab_table.Column("query", "Query", lambda r: r.text)
    assert lab_table.to_markdown([row], [column]).splitlines()[2] == "| a\\|b\\\\ c |"


def test_a_metric_over_the_cut(service, set_id):
    report = measured(service, set_id, modes=("keyword",))
    values = lab_table.curve(report, "keyword", "recall", 12)
    assert len(values) == 12 and values == sorted(values) and values[2] == values[11] == 1.0
    assert values[9] == report.results["keyword"].report.mean["recall@10"]
    assert len(lab_table.curve(report, "keyword", "ndcg", 500)) == 100


# --- grading, end to end


def test_candidates_come_from_every_mode(service, set_id):
    lab = service.lab
    pool = set(lab.pool("dog bark", 3))
    tops = [{hit.id for hit in service.search("dog bark", k=3, mode=mode).hits} for mode in MODES]
    assert pool == set().union(*tops) and len(pool) > 3
    session = lab.session(set_id, "Anna", depth=3)
    assert {c.clip.id for c in session.sheet().candidates} == pool | set(
        lab.sets.judged_clips(set_id, "q001")
    )
    assert service.catalog.count(Filters()) == 24
