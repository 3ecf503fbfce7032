"""Lanes: off the GUI thread, newest first, cancellable, and over when they are told to be."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QThread

from foley_desktop.errors import CatalogError, FoleyError
from foley_desktop.models import Progress
from foley_desktop.workers.job import Job
from foley_desktop.workers.runner import Runner

pytestmark = pytest.mark.gui


@pytest.fixture
def runner(qtbot: Any) -> Iterator[Runner]:
    made = Runner()
    yield made
    assert made.shutdown()


def in_gui_thread() -> bool:
    return QThread.currentThread() is QCoreApplication.instance().thread()  # type: ignore[union-attr]


def count_to(total: int, seen: list[int] | None = None) -> Generator[Progress, None, str]:
    for done in range(total):
        if seen is not None:
            seen.append(done)
        yield Progress(done, total, "counting")
    yield Progress(total, total)
    return "counted"


def test_work_runs_elsewhere_and_answers_come_home(runner: Runner, qtbot: Any) -> None:
    places: dict[str, bool] = {}

    def work() -> int:
        places["work"] = in_gui_thread()
        return 42

    answers: list[int] = []

    def done(value: int) -> None:
        places["done"] = in_gui_thread()
        answers.append(value)

    runner.reads.submit(work, done)
    qtbot.waitUntil(lambda: answers == [42])
    assert places == {"work": False, "done": True}


def test_only_the_newest_of_a_key_is_answered(runner: Runner, qtbot: Any) -> None:
    gate, running = threading.Event(), threading.Event()
    ran: list[int] = []
    answers: list[int] = []

    def ask(number: int) -> Any:
        def work() -> int:
            ran.append(number)
            running.set()
            gate.wait(5)
            return number

        return work

    runner.search.submit(ask(0), answers.append, key="search")
    assert running.wait(5)
    for number in range(1, 20):
        runner.search.submit(ask(number), answers.append, key="search")
    gate.set()
    qtbot.waitUntil(lambda: bool(answers))
    qtbot.wait(50)
    assert answers == [19]
    assert ran == [0, 19], "questions that were overtaken while waiting are not even asked"


def test_keys_do_not_silence_each_other(runner: Runner, qtbot: Any) -> None:
    answers: list[str] = []
    runner.search.submit(lambda: "one", answers.append, key="a")
    runner.search.submit(lambda: "two", answers.append, key="b")
    runner.search.submit(lambda: "three", answers.append)
    qtbot.waitUntil(lambda: len(answers) == 3)
    assert answers == ["one", "two", "three"]


def test_a_forgotten_key_is_not_answered(runner: Runner, qtbot: Any) -> None:
    gate = threading.Event()
    answers: list[object] = []
    runner.search.submit(lambda: gate.wait(5), answers.append, key="search")
    runner.search.forget("search")
    gate.set()
    runner.search.submit(lambda: "next", answers.append)
    qtbot.waitUntil(lambda: bool(answers))
    assert answers == ["next"]


@pytest.mark.parametrize("error", [CatalogError("The catalog is gone."), ZeroDivisionError("division")])
def test_failures_come_back_as_something_to_show(runner: Runner, qtbot: Any, error: Exception) -> None:
    failures: list[FoleyError] = []

    def work() -> None:
        raise error

    runner.reads.submit(work, None, failures.append, what="Reading the list")
    qtbot.waitUntil(lambda: bool(failures))
    if isinstance(error, FoleyError):
        assert failures == [error]
    else:
        assert failures[0].sentence == "Reading the list did not work."
        assert "ZeroDivisionError" in failures[0].details()


def test_a_job_reports_progress_and_its_result(runner: Runner, qtbot: Any) -> None:
    job = Job("Counting", lambda: count_to(3))
    told: list[object] = []
    job.started.connect(lambda: told.append(("started", in_gui_thread())))
    job.progressed.connect(lambda step: told.append(step.done))
    job.finished.connect(told.append)
    job.ended.connect(lambda: told.append("ended"))
    runner.writes.submit(job)
    qtbot.waitUntil(lambda: job.is_over)
    assert told[0] == ("started", True)
    assert told[-2:] == ["counted", "ended"]
    assert 3 in told, "the last step is always told"
    assert job.state == "finished"


def test_jobs_of_a_lane_run_one_after_the_other(runner: Runner, qtbot: Any) -> None:
    at_once, most = [0], [0]

    def work() -> Generator[Progress, None, None]:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        for done in range(5):
            time.sleep(0.002)
            yield Progress(done, 5)
        at_once[0] -= 1

    jobs = [runner.writes.submit(Job(f"job {n}", work)) for n in range(4)]
    qtbot.waitUntil(lambda: all(job.is_over for job in jobs))
    assert most == [1]


def test_cancelling_closes_the_generator(runner: Runner, qtbot: Any) -> None:
    closed: list[str] = []

    def work() -> Generator[Progress, None, None]:
        try:
            for done in range(100_000):
                time.sleep(0.001)
                yield Progress(done, 100_000)
        finally:
            closed.append(threading.current_thread().name)

    job = Job("Long", work)
    outcomes: list[str] = []
    job.finished.connect(lambda _: outcomes.append("finished"))
    job.cancelled.connect(lambda: outcomes.append("cancelled"))
    runner.writes.submit(job)
    qtbot.waitUntil(lambda: job.progress is not None)
    job.cancel()
    qtbot.waitUntil(lambda: job.is_over)
    assert outcomes == ["cancelled"]
    assert closed == ["writes"], "the generator is closed by the thread that ran it"


def test_a_waiting_job_is_cancelled_at_once(runner: Runner, qtbot: Any) -> None:
    gate = threading.Event()
    seen: list[int] = []
    first = runner.writes.submit(Job("first", lambda: gate.wait(10)))
    second = runner.writes.submit(Job("second", lambda: count_to(3, seen)))
    second.cancel()
    assert second.state == "cancelled" and not first.is_over
    gate.set()
    qtbot.waitUntil(lambda: first.is_over)
    assert seen == []


def test_small_writes_do_not_wait_for_a_long_job(runner: Runner, qtbot: Any) -> None:
    stop = threading.Event()
    threads: list[str] = []

    def work() -> Generator[Progress, None, None]:
        while not stop.is_set():
            time.sleep(0.002)
            yield Progress(0, 0)

    job = runner.writes.submit(Job("indexing", work))
    qtbot.waitUntil(lambda: job.progress is not None)
    done: list[object] = []
    runner.writes.slip_in(lambda: threads.append(threading.current_thread().name), done.append)
    qtbot.waitUntil(lambda: bool(done))
    assert not job.is_over and threads == ["writes"], "written during the job, by the one writing thread"
    stop.set()
    qtbot.waitUntil(lambda: job.is_over)


@pytest.mark.parametrize(
    ("error", "traced"), [(CatalogError("The folder is gone."), False), (ZeroDivisionError("oh"), True)]
)
def test_only_what_cannot_be_explained_is_logged_with_its_trace(
    runner: Runner, qtbot: Any, caplog: pytest.LogCaptureFixture, error: Exception, traced: bool
) -> None:
    def work() -> None:
        raise error

    job = runner.writes.submit(Job("Exporting a.wav", work))
    qtbot.waitUntil(lambda: job.is_over)
    (record,) = [one for one in caplog.records if one.name.endswith("runner")]
    sentence = "Exporting a.wav did not work." if traced else "The folder is gone."
    assert record.getMessage() == f"job 'Exporting a.wav' failed: {sentence}"
    assert bool(record.exc_info) is traced


def test_a_failing_job_says_why(runner: Runner, qtbot: Any) -> None:
    def work() -> Generator[Progress, None, None]:
        yield Progress(0, 1)
        raise CatalogError("The catalog is gone.")

    job = Job("Indexing", work)
    failures: list[FoleyError] = []
    job.failed.connect(failures.append)
    runner.writes.submit(job)
    qtbot.waitUntil(lambda: job.is_over)
    assert [str(error) for error in failures] == ["The catalog is gone."]


def test_shutdown_in_mid_work_is_quick_and_silent(qtbot: Any) -> None:
    runner = Runner()
    answers: list[object] = []
    written: list[str] = []

    def endless() -> Generator[Progress, None, None]:
        while True:
            time.sleep(0.001)
            yield Progress(0, 0)

    job = Job("endless", endless)
    job.ended.connect(lambda: answers.append("ended"))
    runner.writes.submit(job)
    qtbot.waitUntil(lambda: job.progress is not None)
    runner.search.submit(lambda: time.sleep(0.2), answers.append)
    runner.writes.slip_in(lambda: written.append("rating"))
    closed: list[str] = []
    assert runner.shutdown(lambda: closed.append(threading.current_thread().name))
    qtbot.wait(50)
    assert closed == ["closing"]
    assert written == ["rating"], "what the user wrote is not lost"
    assert answers == [], "nothing is delivered to a window that is gone"


def test_closing_frees_a_thread_that_waits_for_the_models(qtbot: Any) -> None:
    runner, models_gone = Runner(), threading.Event()
    runner.search.submit(lambda: models_gone.wait(30))
    assert runner.shutdown(models_gone.set)


def test_shutdown_says_when_a_thread_hangs(qtbot: Any) -> None:
    runner, gate = Runner(), threading.Event()
    running = threading.Event()
    runner.search.submit(lambda: (running.set(), gate.wait(30)))
    assert running.wait(5)
    assert not runner.shutdown(timeout_s=0.3)
    gate.set()
    assert runner.search.wait(5)
