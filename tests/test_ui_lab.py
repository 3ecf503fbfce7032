"""The relevance lab in the real window: what it shows is what the library measures, to the last digit."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from job_support import run as run_job
from lab_library import index, make_golden, open_library, write_clips
from lab_window import BROKEN, LabWindow
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from ui_support import copy_library

from foley_desktop.eval.golden import GoldenQuery, GoldenSet, dump_golden
from foley_desktop.library.lab import LabSettings
from foley_desktop.library.lab_compare import against_baseline
from foley_desktop.models import MODES
from foley_desktop.ui import theme
from foley_desktop.ui.lab_chart import Curves, Differences
from foley_desktop.ui.lab_means import CELL_ROLE
from foley_desktop.ui.lab_words import signed

pytestmark = pytest.mark.gui
DISPLAY, COLOUR = Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ForegroundRole


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    service = open_library(folder / "data")
    write_clips(folder / "clips")
    index(service, folder / "clips" / "kitchen", folder / "clips" / "street", folder / "clips" / "forest")
    service.settings.grader = "Anna"
    service.settings.save(service.data.settings_file)
    service.close()
    return folder / "data"


@pytest.fixture
def lab(qtbot: Any, library: Path, tmp_path: Path) -> Iterator[LabWindow]:
    lab = LabWindow(qtbot, copy_library(library, tmp_path / "data"))
    yield lab
    lab.close()


def golden(name: str = "made up") -> GoldenSet:
    """The made-up set with clips by their path below the three folders, which are roots here."""
    made = make_golden(name)
    qrels = {
        query: {clip.partition("/")[2]: grade for clip, grade in row.items()}
        for query, row in made.qrels.items()
    }
    return GoldenSet(name, made.queries, qrels)


@pytest.fixture
def set_id(lab: LabWindow) -> str:
    return lab.take_set(golden())


def run(lab: LabWindow, set_id: str, **settings: Any) -> Any:
    """The library's own measurement, beside the window's."""
    return run_job(lab.service.lab.measure(set_id, LabSettings(**settings)))


def compared(lab: LabWindow) -> Any:
    """A baseline, then a broken fusion, measured against it."""
    lab.measure()
    save_baseline(lab, "good")
    lab.use_fusion(BROKEN)
    choose_baseline(lab, "good")
    return lab.measure()


def save_baseline(lab: LabWindow, name: str) -> None:
    lab.find("lab_save_baseline").click()
    lab.answer_line(name)


def choose_baseline(lab: LabWindow, name: str) -> None:
    choice = lab.panel.baselines.choice
    choice.setCurrentIndex(choice.findData(name))
    choice.activated.emit(choice.currentIndex())
    lab.wait(lambda: not lab.panel.setup.line.running)


# --- golden sets


def test_without_a_set_the_lab_says_what_to_do(lab: LabWindow) -> None:
    assert not lab.find("lab_set").isEnabled() and lab.find("lab_set").currentText() == "No golden set yet"
    assert "make one, or import one" in lab.find("lab_set_facts").full_text()
    for name in ("lab_measure", "lab_grade", "lab_save_baseline", "lab_tune"):
        assert not lab.find(name).isEnabled(), name
    assert not lab.entry("lab_set_menu", "Rename …").isEnabled()
    assert not lab.find("lab_means").isVisible()


def test_sets_are_made_named_copied_and_deleted(lab: LabWindow) -> None:
    lab.do("lab_set_menu", "New …")
    lab.answer_line("doors & more")
    assert lab.shelf.current.name == "doors & more" and lab.find("lab_set").currentText() == "doors & more"
    lab.do("lab_set_menu", "Add queries …")
    dialog = lab.find("prompt_lines").window()
    dialog.body.setPlainText("door creak\n\n  Door   Creak \nrain heavy\n")
    dialog.accept_button.click()
    lab.settle()
    assert [query.text for query in lab.shelf.queries] == ["door creak", "rain heavy"]
    lab.do("lab_set_menu", "Rename …")
    lab.answer_line("doors")
    lab.do("lab_set_menu", "Duplicate …")
    lab.answer_line("doors again")
    assert [info.name for info in lab.shelf.sets] == ["doors", "doors again"]
    assert lab.shelf.current.name == "doors again" and lab.shelf.current.queries == 2
    lab.do("lab_set_menu", "Rename …")
    lab.answer_line("doors")
    assert "There is a golden set called doors already." in lab.said()[-1]
    lab.do("lab_set_menu", "Delete …")
    lab.answer("Delete")
    assert [info.name for info in lab.shelf.sets] == ["doors"] and lab.shelf.current.name == "doors"


def test_queries_can_be_reworded_and_taken_out(lab: LabWindow, set_id: str) -> None:
    lab.do("lab_set_menu", "Edit or remove queries …")
    queries = lab.find("queries_list")
    queries.item(0).setText("dog barking")
    queries.setCurrentRow(1)
    queries.window().take_out()
    queries.window().keep_button.click()
    lab.settle()
    assert [query.text for query in lab.shelf.queries][:2] == ["dog barking", "rain heavy"]
    assert lab.shelf.current.queries == 7 and lab.service.lab.sets.judged_clips(set_id, "q001")


@pytest.mark.parametrize("ending", [".json", ".csv", ".qrels"])
def test_sets_travel_as_files(lab: LabWindow, set_id: str, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"my set{ending}"
    lab.do("lab_set_menu", "Export …")
    lab.answer("By path")
    lab.choose_file(file)
    assert file.is_file() and f"Exported to my set{ending}." in lab.said()
    before = lab.service.lab.sets.golden(set_id)
    lab.do("lab_set_menu", "Delete …")
    lab.answer("Delete")
    lab.do("lab_set_menu", "Import …")
    lab.choose_file(file)
    after = lab.service.lab.sets.golden(lab.shelf.current.id)
    assert after.qrels == before.qrels and after.texts == before.texts
    assert "imported: 8 queries, 24 graded pairs." in lab.said()[-1]


@pytest.mark.parametrize(
    "content",
    ['{"queries": 5, "qrels": {}}', '{"queries":[{"id":"a","text":"b"}],"qrels":{"a":{"x":-1}}}', "[" * 9999],
)
def test_a_broken_file_is_one_sentence_and_changes_nothing(
    lab: LabWindow, set_id: str, tmp_path: Path, content: str
) -> None:
    file = tmp_path / "broken.json"
    file.write_text(content, "utf-8")
    for words in ("Import …", "Take a file into this set …"):
        before = len(lab.window.messages.toasts)
        lab.do("lab_set_menu", words)
        lab.choose_file(file)
        assert len(lab.window.messages.toasts) in (before, before + 1) and lab.said()
    assert [info.id for info in lab.shelf.sets] == [set_id] and lab.shelf.current.judged == 24


def test_a_golden_file_goes_from_the_quick_run_to_the_lab(lab: LabWindow, tmp_path: Path) -> None:
    dump_golden(golden(), tmp_path / "golden.json")
    lab.window.evaluation.pages.setCurrentIndex(0)
    assert not lab.find("evaluation_to_lab").isEnabled()
    lab.find("evaluation_golden").setText(str(tmp_path / "golden.json"))
    lab.find("evaluation_to_lab").click()
    lab.settle()
    assert lab.window.evaluation.pages.currentWidget() is lab.panel and lab.shelf.current.queries == 8


def test_two_graders_agreement_is_shown(lab: LabWindow, set_id: str) -> None:
    store = lab.service.lab.sets
    clips = store.judged_clips(set_id, "q001")
    for clip, first, second in zip(clips, (0, 1, 2), (0, 2, 2), strict=True):
        store.judge(set_id, "q001", clip, first, "Anna")
        store.judge(set_id, "q001", clip, second, "Ben")
    lab.desk.refresh()
    lab.settle()
    kappa = store.agreement(set_id, "Anna", "Ben").kappa
    facts = lab.find("lab_set_facts").full_text()
    assert "Anna 3 · Ben 3" in facts and f"kappa {kappa:.2f} on n = 3" in facts
    lab.do("lab_grader_menu", "Agreement of graders …")
    from foley_desktop.ui.messages import TextDialog

    (dialog,) = lab.window.findChildren(TextDialog)
    assert store.agreement(set_id, "Anna", "Ben").sentence() in dialog.body.toPlainText()
    dialog.accept()
    lab.do("lab_grader_menu", "Grader: Anna …")
    lab.answer_line("Carla")
    assert lab.shelf.grader == "Carla" == lab.service.settings.grader


# --- measuring


def test_the_table_and_the_means_are_the_librarys_measurement(lab: LabWindow, set_id: str) -> None:
    measurement = lab.measure()
    report = run(lab, set_id)
    assert measurement.report.to_json() == report.to_json()
    titles = [column.title for column in lab.panel.queries.model.columns]
    metric_titles = [f"{mode} ndcg@10" for mode in MODES]
    assert titles == ["Query", "Graded", *metric_titles, *(f"{mode} best rank" for mode in MODES)]
    for query, cells in lab.cells().items():
        values = [f"{report.results[mode].report.per_query[query]['ndcg@10']:.3f}" for mode in MODES]
        ranks = [str(report.results[mode].report.ranks[query] or "–") for mode in MODES]
        assert cells == [report.texts[query], "3", *values, *ranks]
    means = lab.panel.means.means
    for row, mode in enumerate(MODES):
        for column, metric in enumerate(report.settings.names, 1):
            cell = means.index(row, column).data(CELL_ROLE)
            low, high = report.results[mode].intervals[metric]
            assert cell.value == f"{report.results[mode].report.mean[metric]:.3f}" and not cell.change
            assert cell.below == f"{low:.3f} – {high:.3f}" and "n = 8 queries" in cell.tip
    assert means.columnCount() == 6 and means.headerData(5, Qt.Orientation.Horizontal) == "judged@10"
    words = lab.find("lab_verdict_mean").text()
    assert words.startswith("hybrid nDCG@10: mean ") and words.endswith("n = 8 queries.")


def test_modes_metrics_cut_and_level_are_chosen(lab: LabWindow, set_id: str) -> None:
    for mode in ("keyword", "audio"):
        lab.find(f"lab_mode_{mode}").click()
    for name in ("Recall", "mAP", "MRR", "Prec."):
        lab.do("lab_metrics", name)
    lab.find("lab_k").setValue(3)
    lab.find("lab_level").setCurrentIndex(1)
    report = lab.measure().report
    assert report.settings == LabSettings(("hybrid", "semantic"), 3, ("ndcg", "precision"), 2)
    assert (
        report.to_json()
        == run(
            lab, set_id, modes=("hybrid", "semantic"), k=3, metrics=("ndcg", "precision"), rel_lvl=2
        ).to_json()
    )
    assert lab.desk.view.metric == "ndcg@3" and "grade 2 only" in lab.panel.caption.full_text()
    for name in ("nDCG", "Prec."):
        lab.do("lab_metrics", name)
    assert lab.panel.setup.settings().metrics == ("precision",), "one metric always stays"
    for mode in ("hybrid", "semantic"):
        lab.find(f"lab_mode_{mode}").click()
    assert not lab.find("lab_measure").isEnabled(), "and without a mode there is nothing to measure"


def test_only_one_graders_grades_can_count(lab: LabWindow, set_id: str) -> None:
    store = lab.service.lab.sets
    for clip in store.judged_clips(set_id, "q002"):
        store.judge(set_id, "q002", clip, 2, "Ben")
    store.judge(set_id, "q001", store.judged_clips(set_id, "q001")[0], 2, "Anna")
    lab.desk.refresh()
    lab.settle()
    graders = lab.panel.setup.graders_button
    graders.setObjectName("graders")
    lab.do("graders", "Ben")
    assert list(lab.measure().report.qrels) == ["q002"]
    assert "grades of Ben" in lab.panel.caption.full_text()


def test_measuring_is_cancelled_at_once(lab: LabWindow) -> None:
    queries = tuple(GoldenQuery(f"q{n}", f"dog number {n}") for n in range(2000))
    lab.take_set(GoldenSet("long", queries, {q.id: {"dog bark kitchen.wav": 1} for q in queries}))
    line = lab.panel.setup.line
    took: list[float] = []
    while not took or (took[-1] >= 0.2 and len(took) < 3):  # a busy machine may be late once
        lab.find("lab_measure").click()
        lab.wait(lambda: line.bar.maximum() == 8000 and line.bar.value() > 0)
        assert not lab.find("lab_measure").isEnabled() and line.isVisible()
        started = time.monotonic()
        lab.find("lab_cancel").click()
        lab.wait(lambda: not line.running)
        took.append(time.monotonic() - started)
        lab.idle()
    assert took[-1] < 0.2, took
    assert lab.desk.measurement is None and lab.find("lab_measure").isEnabled() and not line.isVisible()


def test_a_set_keeps_its_measurement_while_another_is_in_hand(lab: LabWindow, set_id: str) -> None:
    lab.measure()
    lab.take_set(GoldenSet("empty"))
    assert lab.desk.measurement is None and not lab.find("lab_means").isVisible()
    assert "grade some clips first" in lab.find("lab_measure").toolTip()
    lab.desk.choose_set(set_id)
    lab.settle()
    assert lab.desk.measurement is not None and len(lab.cells()) == 8
    assert lab.service.settings.golden_set == set_id


def test_what_has_changed_since_is_said(lab: LabWindow, set_id: str) -> None:
    lab.measure()
    stale = lab.find("lab_stale")
    assert not stale.isVisible()
    lab.use_fusion(BROKEN)
    assert stale.isVisible() and "another fusion is in use" in stale.text()
    lab.use_fusion({})
    lab.service.lab.sets.judge(set_id, "q001", lab.service.search("wind").hits[0].id, 0, "Anna")
    lab.desk.refresh()
    lab.settle()
    assert "other queries or grades" in stale.text()


# --- baselines


def test_a_drop_is_marked_and_fails_the_gate_and_mended_it_passes(lab: LabWindow, set_id: str) -> None:
    measurement = compared(lab)
    comparison = measurement.comparisons["hybrid"]
    assert not comparison.passed and measurement.comparisons["keyword"].passed
    columns = [column.key for column in lab.panel.queries.model.columns]
    at = columns.index("change:ndcg@10:hybrid")
    model = lab.panel.queries.model
    for row in range(model.rowCount()):
        change = comparison.changes[model.row(row).query_id].difference["ndcg@10"]
        assert change < 0 and model.index(row, at).data() == signed(change) and "−" in signed(change)
        assert model.index(row, at).data(COLOUR) == theme.colour("red")
    gate = lab.find("lab_gate").full_text()
    assert "FAILS the floor" in gate and gate.startswith("Gate, hybrid nDCG@10:")
    words = lab.find("lab_verdict_change").text()
    statistics = comparison.statistics["ndcg@10"]
    assert words.startswith("Against baseline good: −") and statistics.sentence() in words
    assert "The fusion differs" in lab.find("lab_notes").text()
    means = lab.panel.means.means
    assert means.index(0, 1).data(CELL_ROLE).value == "FAILS"
    assert means.index(1, 1).data(CELL_ROLE).value == "passes"
    assert means.index(0, 2).data(CELL_ROLE).change == signed(statistics.difference)
    lab.use_fusion({})
    lab.measure()
    assert "passes the floor" in lab.find("lab_gate").full_text()
    assert "No query differs (n = 8)" in lab.find("lab_verdict_change").text()


def test_too_few_queries_are_named_so(lab: LabWindow) -> None:
    made = golden()
    few = {query.id for query in made.queries[:4]}
    lab.take_set(GoldenSet("few", made.queries[:4], {q: row for q, row in made.qrels.items() if q in few}))
    compared(lab)
    assert "Too few queries to tell: 4 differ" in lab.find("lab_verdict_change").text()
    assert lab.panel.means.means.index(0, 2).data(CELL_ROLE).below_right == "too few"


def test_the_table_is_filtered_sorted_and_its_columns_chosen(lab: LabWindow, set_id: str) -> None:
    measurement = compared(lab)
    queries = lab.panel.queries
    differences = dict(measurement.comparisons["hybrid"].sorted_differences("ndcg@10"))
    queries.set_filter("worse")
    assert list(lab.cells()) == sorted(differences, key=lambda q: (differences[q], q))
    assert lab.find("lab_count").text() == "8 of 8"
    lab.desk.look_at(lab.desk.view.__class__("ndcg@10", "keyword"))
    assert lab.cells() == {} and lab.find("lab_count").text() == "0 of 8"
    queries.set_filter("below")
    values = {r.query_id: r.metrics for r in measurement.table}
    expected = [
        q for q, m in values.items() if m["hybrid"]["ndcg@10"] < max(m[x]["ndcg@10"] for x in MODES[1:])
    ]
    assert set(lab.cells()) == set(expected) and expected
    queries.set_filter("all")
    for kind in ("latency", "unjudged", "judged", "id", "value:recall", "change:mrr", "graded", "rank"):
        queries.toggle_kind(kind)
    keys = [column.key for column in queries.model.columns]
    assert keys[:2] == ["query", "id"] and "latency:audio" in keys and "change:mrr@10:hybrid" in keys
    assert "graded" not in keys and not any(key.startswith("rank") for key in keys)
    assert keys.index("ndcg@10:keyword") < keys.index("recall@10:hybrid")
    at = keys.index("ndcg@10:hybrid")
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        queries.table.sortByColumn(at, order)
        shown = [float(cells[at]) for cells in lab.cells().values()]
        assert shown == sorted(shown, reverse=order == Qt.SortOrder.DescendingOrder)
    entry = lab.entry("lab_columns", "Latency in ms")
    assert entry.isCheckable() and entry.isChecked()


def test_a_mean_that_is_selected_is_what_everything_looks_at(lab: LabWindow, set_id: str) -> None:
    lab.measure()
    means = lab.panel.means
    place = means.visualRect(means.means.index(2, 4)).center()
    lab.qtbot.mouseClick(means.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert (lab.desk.view.mode, lab.desk.view.metric) == ("semantic", "mrr@10")
    assert lab.find("lab_verdict_mean").text().startswith("semantic MRR@10")


def test_without_unjudged_clips(lab: LabWindow, set_id: str) -> None:
    measurement = compared(lab)
    lab.find("lab_judged_only").setChecked(True)
    comparison, result = measurement.comparisons["hybrid"], measurement.report.results["hybrid"]
    cell = lab.panel.means.means.index(0, 2).data(CELL_ROLE)
    assert cell.value == f"{result.condensed.mean['ndcg@10']:.3f}"
    assert cell.change == signed(comparison.condensed["ndcg@10"].difference)
    columns = lab.panel.queries.model.columns
    titles = [column.title for column in columns]
    assert "hybrid ndcg@10 judged only" in titles and "hybrid ndcg@10 change judged only" in titles
    at = titles.index("hybrid ndcg@10 change judged only")
    for query, cells in lab.cells().items():
        assert cells[at] == signed(comparison.changes[query].condensed["ndcg@10"])
    assert "judged only" in lab.find("lab_verdict_mean").text()
    assert lab.panel.chart.content.title.startswith("hybrid nDCG@10 judged only")


def test_what_nobody_graded_is_graded_with_one_click(lab: LabWindow, set_id: str) -> None:
    comparison = compared(lab).comparisons["hybrid"]
    assert comparison.to_grade
    count = sum(len(clips) for clips in comparison.to_grade.values())
    button = lab.find("lab_grade_displaced")
    assert (
        button.text() == f"Grade those {count}"
        and "by something unjudged" in lab.find("lab_displaced").text()
    )
    lab.panel.queries.set_filter("displaced")
    assert set(lab.cells()) == set(comparison.to_grade)
    button.click()
    lab.wait(lambda: lab.grading.model.rowCount() > 0)
    first = next(iter(comparison.to_grade))
    shown = {lab.grading.model.clip_at(row).id for row in range(lab.grading.model.rowCount())}
    assert shown == set(comparison.to_grade[first])
    assert "Only clips that took the place of good ones" in lab.grading.banner.where.full_text()
    lab.grading.banner.widen.click()
    lab.wait(lambda: lab.grading.model.rowCount() > len(shown))


def test_baselines_are_kept_named_replaced_and_deleted(lab: LabWindow, set_id: str) -> None:
    lab.measure()
    save_baseline(lab, "June")
    save_baseline(lab, "June")
    lab.answer("Replace")
    choose_baseline(lab, "June")
    assert lab.panel.baselines.saved.name == "June" and len(lab.shelf.baselines) == 1
    lab.do("lab_baseline_menu", "About this baseline …")
    from foley_desktop.ui.messages import TextDialog

    said = lab.window.findChildren(TextDialog)[-1].body.toPlainText()
    for words in (
        "golden set hash",
        "embedder hash-64-1",
        "fusion weighted",
        "library of 24 clips",
        "saved 20",
    ):
        assert words in said
    lab.window.findChildren(TextDialog)[-1].accept()
    lab.do("lab_baseline_menu", "Delete …")
    lab.answer("Delete")
    lab.wait(lambda: not lab.panel.setup.line.running)
    assert lab.shelf.baselines == () and lab.panel.baselines.name == "" and not lab.desk.measurement.against


def test_baselines_travel_and_what_cannot_be_compared_is_refused_in_a_sentence(
    lab: LabWindow, set_id: str, tmp_path: Path
) -> None:
    lab.measure()
    save_baseline(lab, "June")
    choose_baseline(lab, "June")
    lab.do("lab_baseline_menu", "Export for the command line …")
    lab.choose_file(tmp_path)
    files = sorted(file.name for file in tmp_path.glob("June *.json"))
    assert files == [f"June {mode}.json" for mode in sorted(MODES)]
    lab.do("lab_baseline_menu", "Delete …")
    lab.answer("Delete")
    lab.wait(lambda: not lab.panel.setup.line.running)
    lab.do("lab_baseline_menu", "Import a baseline …")
    lab.choose_file(tmp_path / "June keyword.json")
    choose_baseline(lab, "June")
    measurement = lab.desk.measurement
    assert set(measurement.comparisons) == {"keyword"}
    assert measurement.refusals["hybrid"] == "The baseline June was not measured in mode hybrid."
    assert lab.find("lab_verdict_change").text() == measurement.refusals["hybrid"]
    assert lab.panel.means.means.index(0, 1).data(CELL_ROLE).below == "not compared"
    other = json.loads((tmp_path / "June hybrid.json").read_text()) | {"set_id": "x", "golden_hash": "y"}
    (tmp_path / "other.json").write_text(json.dumps(other))
    lab.do("lab_baseline_menu", "Import a baseline …")
    lab.choose_file(tmp_path / "other.json")
    assert "The baseline was measured with another golden set." in lab.said()[-1]


def test_a_run_of_another_search_can_be_compared_with(lab: LabWindow, set_id: str, tmp_path: Path) -> None:
    (tmp_path / "theirs.txt").write_text("q001 Q0 dog%20bark%20kitchen.wav 1 9.0 them\n", "utf-8")
    lab.do("lab_baseline_menu", "Import a TREC run …")
    lab.choose_file(tmp_path / "theirs.txt")
    choose_baseline(lab, "theirs")
    comparison = lab.measure().comparisons["hybrid"]
    assert set(comparison.changes) == {"q001"}
    assert "not ours in the baseline" in lab.find("lab_notes").text()


def test_a_folder_can_be_left_out(lab: LabWindow, set_id: str) -> None:
    root = next(root for root in lab.service.roots() if root.name == "kitchen")
    before = lab.measure()
    lab.do("lab_without", "Compare without kitchen")
    lab.wait(lambda: lab.desk.measurement is not before and not lab.panel.setup.line.running)
    measurement = lab.desk.measurement
    assert measurement.report.settings.left_out == root.path
    assert measurement.against == "the library with kitchen" in lab.find("lab_verdict_change").text()
    assert root.path in lab.panel.caption.full_text()
    assert f"Measured without {root.path} now." in lab.find("lab_notes").text()
    assert measurement.report.to_json() == run(lab, set_id, left_out=root.path).to_json()


def test_texts_to_copy(lab: LabWindow, set_id: str) -> None:
    measurement = compared(lab)
    clipboard = QGuiApplication.clipboard()
    lab.do("lab_copy", "Table as CSV")
    rows = list(csv.reader(io.StringIO(clipboard.text())))
    assert len(rows) == 9 and rows[0][:3] == ["Query", "Graded", "hybrid ndcg@10"]
    report = measurement.report.results["hybrid"].report
    assert [float(row[2]) for row in rows[1:]] == [row["ndcg@10"] for row in report.per_query.values()]
    lab.panel.queries.set_filter("worse")
    lab.do("lab_copy", "Table as Markdown")
    lines = clipboard.text().splitlines()
    assert len(lines) == 10 and [f"| {lab.desk.measurement.report.texts[q]} " for q in lab.cells()] == [
        line[: line.index("|", 1)] for line in lines[2:]
    ]
    lab.do("lab_copy", "Means as Markdown")
    text = clipboard.text()
    assert "n = 8 queries with 95 % bootstrap intervals, against baseline good" in text
    assert f"{report.mean['ndcg@10']:.3f}" in text and text.count("\n|") == 6
    lab.do("lab_copy", "Regression diff, hybrid")
    assert clipboard.text() == measurement.comparisons["hybrid"].text
    assert "queries that fell most in ndcg@10 (8 fell)" in clipboard.text()


def test_the_report_is_written_as_files(lab: LabWindow, set_id: str, tmp_path: Path) -> None:
    report = lab.measure().report
    lab.do("lab_report", "Save as JSON …")
    lab.choose_file(tmp_path / "report.json")
    assert (tmp_path / "report.json").read_text("utf-8") == report.to_json()
    lab.do("lab_report", "Save as TREC files …")
    lab.choose_file(tmp_path / "trec")
    assert {file.name for file in (tmp_path / "trec").iterdir()} == {
        "qrels.txt", *(f"run-{mode}.txt" for mode in MODES)
    }  # fmt: skip


# --- a closer look


def test_a_query_is_shown_with_who_brought_each_clip_and_what_is_missing(lab: LabWindow, set_id: str) -> None:
    lab.service.lab.sets.judge(set_id, "q001", "gone.wav", 2, "Anna")
    lab.find("lab_k").setValue(2)
    report = lab.measure().report
    lab.panel.queries.table.selectRow(0)
    lab.wait(lambda: lab.panel.query.details is not None)
    expected = lab.service.lab.details(report, "hybrid", "q001")
    assert lab.panel.query.details == expected and lab.panel.tabs.currentIndex() == 1
    missing, answers = (lab.panel.query.tree.topLevelItem(n) for n in range(2))
    assert (
        missing.text(0)
        == f"Missing: {len(expected.missing)} relevant clips (from grade 1) not among the first 2"
    )
    assert answers.childCount() == len(expected.ranked) and missing.childCount() == len(expected.missing)
    gone = next(
        missing.child(n)
        for n in range(missing.childCount())
        if "not in the library" in missing.child(n).text(0)
    )
    assert [gone.text(n) for n in range(1, 6)] == ["–", "2 ideal", "–", "–", "–"]
    first, row = answers.child(0), expected.ranked[0]
    ranks = [str(row.standings[name].rank) for name in ("keyword", "semantic", "audio")]
    assert [first.text(n) for n in range(3, 6)] == ranks and first.text(1) == "1"


def test_its_clips_are_heard_and_graded_there(lab: LabWindow, set_id: str) -> None:
    lab.measure()
    lab.wait_listed(24)
    lab.view.selectRow(5)
    lab.panel.queries.table.selectRow(0)
    lab.wait(lambda: lab.panel.query.details is not None)
    tree = lab.panel.query.tree
    item = tree.topLevelItem(1).child(1)
    tree.setCurrentItem(item)
    clip = lab.panel.query.details.ranked[1].clip
    assert lab.window.deck.clip == clip and lab.window.deck.playback.state == "playing"
    assert not lab.view.selectedIndexes(), "what a rating key means is what is heard"
    from lab_window import entry_of

    entry_of(lab.panel.query.make_menu(item), "Grade 2: ideal").trigger()
    lab.settle()
    assert item.text(2) == "2 ideal"
    given = [one for one in lab.service.lab.sets.judgements(set_id) if one.grader == "Anna"]
    assert [(one.query, one.clip, one.grade) for one in given] == [("q001", clip.id, 2)]
    lab.panel.query.search_button.click()
    lab.wait(lambda: lab.search.is_answered and lab.search.found.request.text == "dog bark")


def test_charts_show_differences_and_curves(lab: LabWindow, set_id: str) -> None:
    measurement = compared(lab)
    chart = lab.panel.chart
    assert isinstance(chart.content, Differences)
    assert chart.content.title == "hybrid nDCG@10, now minus baseline good, n = 8 queries"
    pairs = [(bar.query_id, bar.value) for bar in chart.content.bars]
    assert pairs == measurement.comparisons["hybrid"].sorted_differences("ndcg@10")
    lab.panel.tabs.setCurrentIndex(0)
    area = chart.plot()
    x = area.left() + 0.5 * area.width() / 8
    assert signed(pairs[0][1]) in chart.words_at(x) and chart.words_at(0.0) == ""
    lab.qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(area.center().y())))
    lab.wait(lambda: lab.panel.query.details is not None)
    assert lab.panel.query.details.query_id == pairs[0][0]
    assert lab.panel.queries.current_query() == pairs[0][0]
    choice = lab.find("lab_chart_choice")
    choice.setCurrentIndex(choice.findData("curves"))
    lab.panel.chart_changed.emit()
    lab.wait(lambda: isinstance(chart.content, Curves))
    from foley_desktop.library.lab_table import curve

    for mode in MODES:
        assert list(chart.content.lines[mode]) == curve(measurement.report, mode, "ndcg")
    assert chart.words_at(chart.curve_plot().left()).startswith("k = 1\n")
    for size in ((500, 240), (60, 30), (1200, 500)):
        chart.resize(*size)
        assert not chart.grab().isNull()


# --- learning


def test_with_too_few_queries_the_reason_is_given(lab: LabWindow, set_id: str) -> None:
    reason = lab.find("lab_too_few").text()
    assert "at least 20 graded queries and this set has 8" in reason and not lab.find("lab_tune").isEnabled()


def many() -> GoldenSet:
    """24 queries, one for each clip, which a broken fusion fails."""
    made = golden()
    queries, qrels = [], {}
    for number, (clip, query) in enumerate((clip, q) for q in made.queries for clip in made.qrels[q.id]):
        queries.append(GoldenQuery(f"n{number}", clip.removesuffix(".wav")))
        qrels[f"n{number}"] = {clip: 2} | {other: 1 for other in made.qrels[query.id] if other != clip}
    return GoldenSet("many", tuple(queries), qrels)


def test_the_fusion_is_tuned_applied_and_taken_back(lab: LabWindow) -> None:
    lab.use_fusion(BROKEN)
    lab.take_set(many())
    assert not lab.find("lab_too_few").isVisible()
    before = lab.service.searcher.fusion
    lab.panel.show_tab(lab.panel.fusion)
    lab.find("lab_tune").click()
    lab.wait(lambda: lab.panel.fusion._tuning is not None, 60_000)
    lab.idle()
    tuning = lab.panel.fusion._tuning
    assert lab.service.searcher.fusion == before, "nothing is applied silently"
    assert lab.find("lab_training_gain").text() == signed(tuning.training)
    assert lab.find("lab_held_out_gain").text() == signed(tuning.held_out.difference)
    assert tuning.sentence() == lab.find("lab_tuning").text() and tuning.worthwhile
    said = lab.panel.fusion.held_out.words.text()
    assert "95 % interval" in said and "n = 24 queries" in said and "p " in said
    assert not lab.find("lab_revert").isVisible()
    lab.find("lab_apply").click()
    lab.settle()
    assert lab.service.searcher.fusion == tuning.fusion and lab.find("lab_revert").isVisible()
    assert lab.find("lab_fusion_in_use").text().startswith("Fusion in use: weighted ")
    lab.find("lab_revert").click()
    lab.settle()
    assert lab.service.searcher.fusion == before and not lab.find("lab_revert").isVisible()


def test_tuning_is_cancelled(lab: LabWindow) -> None:
    lab.take_set(many())
    lab.find("lab_tune").click()
    line = lab.panel.fusion.line
    lab.wait(lambda: line.bar.value() > 0)
    line.cancel_button.click()
    lab.wait(lambda: not line.running)
    assert lab.panel.fusion._tuning is None and lab.find("lab_tune").isEnabled()


# --- grading results of a normal search


def menu_entry(lab: LabWindow, words: str, grade: str) -> Any:
    from lab_window import entry_of
    from PySide6.QtWidgets import QMenu

    lab.window.actions_.show_menu(lab.view.selected_clips(), QPoint(5, 5))
    menu = [m for m in lab.window.findChildren(QMenu) if m.isVisible()][-1]
    found = entry_of(entry_of(menu, words).menu(), grade)
    menu.close()
    return found


def test_a_result_is_a_good_answer_and_its_query_joins_the_set(lab: LabWindow) -> None:
    lab.type("wind & howl")
    lab.enter_results()
    clip = lab.view.current_clip()
    menu_entry(lab, "Good answer for “wind && howl”", "2 ideal").trigger()
    lab.settle()
    store = lab.service.lab.sets
    info = lab.shelf.current
    assert (info.name, info.queries, info.judged) == ("My searches", 1, 1)
    (one,) = store.judgements(info.id)
    assert (one.clip, one.grade, one.grader) == (clip.id, 2, "Anna") and one.at_s > 0
    assert "1 clip graded 2 ideal for “wind & howl” in My searches." in lab.said()[-1]
    menu_entry(lab, "Good answer for “wind && howl”", "0 wrong").trigger()
    lab.settle()
    assert [j.grade for j in store.judgements(info.id)] == [0]
    from PySide6.QtWidgets import QPushButton

    toasts = lab.window.messages.toasts
    for toast, grades in ((toasts[-1], [2]), (toasts[-2], None)):
        next(b for b in toast.findChildren(QPushButton) if b.text() == "Undo").click()
        lab.settle()
        assert ([j.grade for j in store.judgements(info.id)] if grades else None) == grades
    assert lab.shelf.sets == ()


def test_without_a_query_there_is_nothing_to_be_an_answer_to(lab: LabWindow) -> None:
    from PySide6.QtWidgets import QMenu

    lab.wait_listed(24)
    lab.view.selectRow(0)
    lab.window.actions_.show_menu(lab.view.selected_clips(), QPoint(5, 5))
    menu = [m for m in lab.window.findChildren(QMenu) if m.isVisible()][-1]
    assert not [a for a in menu.actions() if "Good answer" in a.text()]
    menu.close()


# --- the panel


def test_columns_and_the_set_in_hand_are_there_the_next_time(qtbot: Any, lab: LabWindow, set_id: str) -> None:
    lab.panel.queries.toggle_kind("latency")
    lab.find("lab_chart_choice").setCurrentIndex(2)
    lab.close()
    again = LabWindow(qtbot, lab.library)
    assert "latency" in again.panel.queries.kinds and again.find("lab_chart_choice").currentIndex() == 2
    assert again.shelf.current.id == set_id
    assert again.window.evaluation.pages.currentWidget() is again.panel
    again.close()


def test_wide_the_queries_stand_beside_the_rest_and_back(lab: LabWindow, set_id: str) -> None:
    lab.window.resize(1700, 900)
    lab.measure()
    panel, wide = lab.panel, lab.window.evaluation.wide_button
    assert panel.halves.orientation() == Qt.Orientation.Vertical
    wide.click()
    lab.wait(lambda: panel.halves.orientation() == Qt.Orientation.Horizontal)
    assert lab.window.sidebar.isHidden() and panel.column.indexOf(panel.tabs) == 1
    lab.window.evaluation.close()
    lab.wait(lambda: not lab.window.sidebar.isHidden())
    assert not wide.isChecked()


def test_against_baseline_in_the_window_is_that_of_the_library(lab: LabWindow, set_id: str) -> None:
    measurement = compared(lab)
    documents = lab.service.lab.baselines.named(set_id, "good")
    for mode in MODES:
        assert measurement.comparisons[mode] == against_baseline(measurement.report, mode, documents[mode])
