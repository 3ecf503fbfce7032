"""The Evaluation panel shows what the service measures, to the last digit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from job_support import run as run_job
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from ui_support import Desk, copy_library, make_library

from foley_desktop.eval.golden import load_golden

pytestmark = pytest.mark.gui

GOLDEN = {
    "queries": [
        {"id": "q1", "text": "dog bark"},
        {"id": "q2", "text": "wooden door"},
        {"id": "q3", "text": "rain"},
        {"id": "q4", "text": "<b>gate</b>\nof metal"},
        {"id": "q5", "text": "helicopter"},
        {"id": "q6", "text": "spaceship"},
        {"id": "q7", "text": "lost sound"},
    ],
    "qrels": {
        "q1": {"animals/dog bark small.wav": 2, "animals/dog bark large.wav": 2, "animals/dog growl.wav": 1},
        "q2": {"doors/wooden door slam.wav": 2, "doors/metal gate.wav": 1},
        "q3": {"weather/rain on roof.wav": 1, "weather/thunder rumble.wav": 2},
        "q4": {"doors/metal gate.wav": 2},
        "q6": {"animals/cat meow.wav": 0},
        "q7": {"not/there.wav": 2},
    },
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_library(tmp_path_factory.mktemp("evaluation"))[0]


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    file = tmp_path / "golden set.json"
    file.write_text(json.dumps(GOLDEN), "utf-8")
    return file


@pytest.fixture
def desk(qtbot: Any, library: Path, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(qtbot, copy_library(library, tmp_path / "library"))
    desk.window.search_bar.evaluation_button.click()
    yield desk
    desk.close()


def run(desk: Desk, golden: Path, mode: str = "hybrid", k: int = 10) -> Any:
    """Runs the panel as a user does, and the service beside it."""
    panel = desk.window.evaluation
    desk.find("evaluation_golden").setText(str(golden))
    panel.mode_box.setCurrentIndex(panel.mode_box.findData(mode))
    desk.find("evaluation_k").setValue(k)
    desk.find("evaluation_run").click()
    desk.wait(lambda: panel.model.rowCount() > 0 and panel._job is None)
    return run_job(desk.service.evaluate(load_golden(golden), mode=mode, k=k))


def table_rows(desk: Desk) -> dict[str, list[str]]:
    model = desk.find("evaluation_table").model()
    rows = {}
    for row in range(model.rowCount()):
        cells = [model.index(row, column).data() for column in range(model.columnCount())]
        rows[model.index(row, 0).data(Qt.ItemDataRole.UserRole)] = cells
    return rows


@pytest.mark.parametrize(("mode", "k"), [("hybrid", 10), ("keyword", 3), ("semantic", 5), ("audio", 1)])
def test_the_table_is_the_report_of_the_service(desk: Desk, golden: Path, mode: str, k: int) -> None:
    evaluation = run(desk, golden, mode, k)
    report = evaluation.report
    rows = table_rows(desk)
    assert set(rows) == set(report.per_query) == {"q1", "q2", "q3", "q4", "q7"}
    metrics = desk.window.evaluation.model.metrics
    assert metrics == list(report.mean) and all(metric.endswith(f"@{k}") for metric in metrics)
    for query, cells in rows.items():
        text = evaluation.texts[query].replace("\n", "⏎")
        numbers = [f"{report.per_query[query][metric]:.3f}" for metric in metrics]
        rank = report.ranks[query]
        assert cells == [text, *numbers, str(rank) if rank else "–"]
    for metric in metrics:
        tile = desk.window.findChild(QLabel, f"evaluation_mean_{metric}")
        assert tile.text() == f"{report.mean[metric]:.3f}"


def test_queries_without_an_answer_stand_apart(desk: Desk, golden: Path) -> None:
    run(desk, golden)
    words = desk.find("evaluation_unanswerable")
    assert words.isVisible()
    assert "“helicopter”, “spaceship”" in words.text()
    assert "1 clip not in the library" in words.text() and "not/there.wav" in words.text()
    assert words.textFormat() == Qt.TextFormat.PlainText


def test_the_table_sorts_numbers_and_puts_what_was_not_found_last(desk: Desk, golden: Path) -> None:
    run(desk, golden)
    table = desk.find("evaluation_table")
    last = table.model().columnCount() - 1
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        table.sortByColumn(last, order)
        ranks = [table.model().index(row, last).data() for row in range(table.model().rowCount())]
        known = [int(rank) for rank in ranks if rank != "–"]
        assert known == sorted(known, reverse=order == Qt.SortOrder.DescendingOrder)
        assert ranks[-1] == "–"
    table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    values = [float(table.model().index(row, 1).data()) for row in range(table.model().rowCount())]
    assert values == sorted(values, reverse=True)


def test_a_click_on_a_query_searches_for_it(desk: Desk, golden: Path) -> None:
    run(desk, golden)
    table = desk.find("evaluation_table")
    row = next(
        n for n in range(table.model().rowCount()) if table.model().index(n, 0).data() == "wooden door"
    )
    place = table.visualRect(table.model().index(row, 2)).center()
    desk.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    desk.wait(lambda: desk.search.is_answered and desk.search.found.request.text == "wooden door")
    assert desk.box.text() == "wooden door"


def test_a_run_can_be_cancelled(desk: Desk, tmp_path: Path) -> None:
    queries = [{"id": f"q{n}", "text": f"dog number {n}"} for n in range(3000)]
    qrels = {f"q{n}": {"animals/dog growl.wav": 1} for n in range(3000)}
    file = tmp_path / "long.json"
    file.write_text(json.dumps({"queries": queries, "qrels": qrels}), "utf-8")
    panel = desk.window.evaluation
    desk.find("evaluation_golden").setText(str(file))
    desk.find("evaluation_run").click()
    assert not panel.run_button.isVisible() and panel.cancel_button.isVisible()
    desk.wait(lambda: panel.progress_bar.maximum() == 3000 and panel.progress_bar.value() > 0)
    desk.type("metal gate")
    assert desk.names()[0] == "metal gate.wav", "searching goes on meanwhile"
    panel.cancel_button.click()
    desk.idle()
    assert panel.model.rowCount() == 0 and panel.run_button.isVisible() and panel.run_button.isEnabled()


BROKEN = (
    "not json",
    "[]",
    '{"queries": 5}',
    '{"queries":[{"id":"a","text":"b"}],"qrels":{"a":{"x":"high"}}}',
)


@pytest.mark.parametrize("content", BROKEN)
def test_a_broken_golden_file_is_one_sentence(desk: Desk, tmp_path: Path, content: str) -> None:
    file = tmp_path / "broken.json"
    file.write_text(content, "utf-8")
    desk.find("evaluation_golden").setText(str(file))
    desk.find("evaluation_run").click()
    desk.wait(lambda: desk.window.messages.toasts)
    assert desk.window.evaluation._job is None and desk.window.evaluation.run_button.isEnabled()


def test_without_a_file_there_is_nothing_to_run(desk: Desk) -> None:
    assert not desk.find("evaluation_run").isEnabled()
    assert desk.window.evaluation.summary.isVisible()


def test_the_panel_opens_and_closes_with_its_button(desk: Desk) -> None:
    button, panel = desk.window.search_bar.evaluation_button, desk.window.evaluation
    assert panel.isVisible() and button.isChecked()
    panel.close()
    assert not button.isChecked()
    button.click()
    assert panel.isVisible()
