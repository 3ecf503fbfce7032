"""A whole session of the relevance lab by real keys and a real pointer, on the real clips.

Fifteen queries are graded, the app is closed in the middle and goes on; four modes are measured, a baseline
is saved, the fusion is broken in the settings, the drop is marked and the gate fails; mended, it passes.

``FOLEY_LAB_LIBRARY`` names an indexed library of the real clips to work on a copy of, such as one with the
real models; ``FOLEY_LAB_SHOTS`` a folder for pictures of the screen.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from x_server import x_server

from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library.service import LibraryService
from foley_desktop.settings import DataFolder, Settings

pytestmark = [
    pytest.mark.gui,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("Xvfb") and shutil.which("xdotool")), reason="needs Xvfb and xdotool"
    ),
]
HERE = Path(__file__).parent
BROKEN = {"keyword": 0.0, "semantic": 0.0, "audio": 1.0}
QUERIES = 15
CLOSED_AT = 8
"""During which query, from 0, the app is closed."""
WAIT_S = 90.0


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    with x_server() as number:
        yield number


@pytest.fixture(scope="module")
def corpus(shared_dir: Path) -> Path:
    if not (shared_dir / "corpus" / "small").is_dir():
        pytest.skip("the real clips are not there")
    return shared_dir / "corpus"


@pytest.fixture(scope="module")
def library(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("session") / "library"
    prepared = os.environ.get("FOLEY_LAB_LIBRARY")
    if prepared:
        shutil.copytree(prepared, folder)
    else:
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps({"embedder": "hash"}), "utf-8")
        service = LibraryService(DataFolder(folder), models=InProcessModels())
        for _ in service.index([str(corpus / "small")]):
            pass
        service.close()
    set_fusion(folder, {})
    return folder


def set_fusion(library: Path, weights: dict[str, float]) -> None:
    """Changes the fusion where a user can: in the settings file."""
    file = DataFolder(library).settings_file
    settings = Settings.load(file)
    settings.fusion_weights = weights
    settings.grader = "Anna"
    settings.save(file)


class App:
    """The program, its screen, and the hands in front of it."""

    def __init__(self, library: Path, display: str) -> None:
        self._display = display
        self._shots = os.environ.get("FOLEY_LAB_SHOTS")
        environment = os.environ | {
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)]),
        }
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "lab_session.py"), str(library)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True,
        )  # fmt: skip
        self.window = self._line()
        self.wait(lambda state: "ready" in state["models"] and "lab_grade" in state["places"])
        self.tool("windowfocus", self.window)

    def _line(self) -> str:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], WAIT_S)
        said = self.process.stdout.readline() if ready else ""
        if not said:
            self.process.kill()
            pytest.fail(f"the window said nothing: {self.process.communicate()[1]}")
        return said.strip()

    def state(self) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write("state\n")
        self.process.stdin.flush()
        return json.loads(self._line())

    def wait(self, condition: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        end = time.monotonic() + WAIT_S
        while not condition(state := self.state()):
            assert time.monotonic() < end, f"this never came: {json.dumps(state)[:3000]}"
            time.sleep(0.1)
        return state

    def tool(self, *words: object) -> None:
        environment = os.environ | {"DISPLAY": self._display}
        subprocess.run(["xdotool", *map(str, words)], env=environment, check=True, timeout=60)

    def click(self, name: str) -> None:
        self.tool("mousemove", *self.state()["places"][name], "click", 1)

    def keys(self, *names: str) -> None:
        self.tool("key", "--delay", 12, *names)

    def type(self, words: str) -> None:
        self.tool("type", "--delay", 12, words)

    def shot(self, name: str) -> None:
        """Keeps a picture of the screen, where somebody wants to look at it."""
        if self._shots and shutil.which("import"):
            self.tool("mousemove", 700, 895)
            time.sleep(0.6)
            file = str(Path(self._shots) / f"{name}.png")
            environment = os.environ | {"DISPLAY": self._display}
            subprocess.run(["import", "-window", "root", file], env=environment, check=True)

    def quit(self) -> None:
        """Closes the window as a session that ends does, and waits for a clean end."""
        started = time.monotonic()
        self.process.terminate()
        _, complaints = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, complaints
        assert time.monotonic() - started < 8.0


@pytest.fixture
def start(library: Path, display: str) -> Iterator[Callable[[], App]]:
    apps: list[App] = []

    def begin() -> App:
        apps.append(App(library, display))
        return apps[-1]

    yield begin
    for app in apps:
        if app.process.poll() is None:
            app.process.kill()
            app.process.communicate()


def make_set(app: App, texts: list[str]) -> None:
    """A new set with these queries, by menu and dialogs."""
    app.click("lab_set_menu")
    app.wait(lambda state: state["popup"])
    app.keys("Down", "Return")
    app.wait(lambda state: state["dialog"])
    app.keys("ctrl+a")
    app.type("Fifteen")
    app.keys("Return")
    app.wait(lambda state: state["set"] == "Fifteen")
    app.click("lab_set_menu")
    app.wait(lambda state: state["popup"])
    app.keys(*["Down"] * 5, "Return")
    app.wait(lambda state: state["dialog"])
    for text in texts:
        app.type(text)
        app.keys("Return")
    app.keys("Tab", "Tab", "space")
    app.wait(lambda state: f"{len(texts)} queries" in state["facts"])


def grade_query(app: App, grades: dict[str, int], most: int | None = None) -> dict[str, Any]:
    """Grades the candidates on the screen by what is known of them, each by its key."""
    state = app.state()
    assert state["row"] == 0 and set(state["grades"]) == {None}
    keys = [str(grades.get(path, 0)) for path in state["candidates"]][:most]
    app.keys(*keys)
    given = [int(key) for key in keys]
    return app.wait(lambda s: [g for g in s["grades"] if g is not None] == given)


def wait_for_query(app: App, text: str) -> dict[str, Any]:
    return app.wait(
        lambda state: state["query"] == f"“{text}”" and state["candidates"] and not state["waits"]
    )


def measured(app: App) -> dict[str, Any]:
    """Presses Measure and waits for the means."""
    app.click("lab_measure")
    return app.wait(lambda state: state["means"] and not state["measuring"] and state["table"])


def hybrid(state: dict[str, Any]) -> float:
    return float(state["means"][0][state["means_heads"].index("nDCG@10")])


def gates(state: dict[str, Any]) -> list[str]:
    return [row[state["means_heads"].index("Gate")] for row in state["means"]]


def choose_baseline(app: App, name: str) -> dict[str, Any]:
    app.click("lab_baseline")
    app.wait(lambda state: state["popup"])
    app.keys("Down", "Return")
    return app.wait(lambda state: state["baseline"].startswith(name))


def test_a_session_from_the_first_query_to_the_gate(
    start: Callable[[], App], library: Path, corpus: Path
) -> None:
    golden = json.loads((corpus / "small_golden.json").read_text("utf-8"))
    queries = [q for q in golden["queries"] if any(golden["qrels"].get(q["id"], {}).values())]
    queries = queries[:QUERIES]
    grades = [golden["qrels"][query["id"]] for query in queries]

    app = start()
    make_set(app, [query["text"] for query in queries])
    app.click("lab_grade")
    for number, query in enumerate(queries[:CLOSED_AT]):
        state = wait_for_query(app, query["text"])
        assert f"query {number + 1} of {QUERIES} · {number} done" in state["where"]
        assert state["banner"] and state["heard"] == state["candidates"][0], "auditioned"
        state = grade_query(app, grades[number])
        assert state["counts"].startswith("all ")
        if number == 2:
            app.shot("1-grading")
        app.keys("n")
    wait_for_query(app, queries[CLOSED_AT]["text"])
    before = grade_query(app, grades[CLOSED_AT], most=5)
    assert not any(before["ratings"]), "no digit has rated anything"
    app.quit()

    app = start()
    state = app.state()
    assert not state["banner"] and state["set"] == "Fifteen"
    app.click("lab_grade")
    state = wait_for_query(app, queries[CLOSED_AT]["text"])
    assert state["candidates"] == before["candidates"] and state["grades"] == before["grades"]
    assert state["row"] == 5, "the candidate behind the last one that was graded"
    app.shot("2-resumed")
    app.keys("u")
    app.wait(lambda s: s["candidates"] and not s["waits"] and sum(g is not None for g in s["grades"]) == 4)
    rest = [str(grades[CLOSED_AT].get(path, 0)) for path in state["candidates"][4:]]
    app.keys(*rest)
    app.wait(lambda s: None not in s["grades"])
    app.keys("n")
    for number in range(CLOSED_AT + 1, QUERIES):
        wait_for_query(app, queries[number]["text"])
        grade_query(app, grades[number])
        app.keys("n")
    state = app.wait(lambda s: not s["banner"])
    assert any("Every query of Fifteen is graded or skipped." in sentence for sentence in state["said"])

    state = measured(app)
    assert [row[0] for row in state["means"]] == ["hybrid", "keyword", "semantic", "audio"]
    good = hybrid(state)
    assert good > 0.3 and float(state["means"][0][-1]) == 1.0, "everything among the first ten was judged"
    app.click("lab_save_baseline")
    app.wait(lambda s: s["dialog"])
    app.keys("ctrl+a")
    app.type("good")
    app.keys("Return")
    app.wait(lambda s: s["baselines"] == ["good"])
    app.shot("3-measured")
    app.quit()

    set_fusion(library, BROKEN)
    app = start()
    choose_baseline(app, "good")
    state = measured(app)
    assert hybrid(state) < good - 0.1
    at = state["heads"].index("hybrid ndcg@10 change")
    fallen = [row for row in state["table"] if row[at].startswith("−")]
    assert len(fallen) > QUERIES / 2
    assert "FAILS the floor" in state["gate"] and "Worse (p" in state["change"]
    assert gates(state) == ["FAILS", "passes", "passes", "passes"]
    app.shot("4-broken")
    app.quit()

    set_fusion(library, {})
    app = start()
    choose_baseline(app, "good")
    state = measured(app)
    assert hybrid(state) == good and "passes the floor" in state["gate"]
    assert gates(state) == ["passes"] * 4
    app.shot("5-mended")
    app.quit()
