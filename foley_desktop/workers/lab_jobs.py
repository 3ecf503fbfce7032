"""The pieces of work that the relevance lab of the window asks for, as plain functions and jobs.

Nothing here knows a widget. Every function blocks and runs on a lane of the runner.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.agreement import Agreement
from foley_desktop.eval.golden import GoldenQuery, resolve
from foley_desktop.eval.significance import bootstrap_interval
from foley_desktop.library.baselines import BaselineInfo
from foley_desktop.library.fusing import Fusion
from foley_desktop.library.golden_store import SetInfo
from foley_desktop.library.lab import CONFIDENCE, LabReport, LabSettings
from foley_desktop.library.lab_compare import LabComparison, against_baseline, between_reports
from foley_desktop.library.lab_table import QueryRow, curve, rows
from foley_desktop.library.service import LibraryService
from foley_desktop.library.tuning import refuse_too_few
from foley_desktop.models import Mode, Progress, Root
from foley_desktop.workers.job import Job

FIRST_SET = "My searches"
"""The golden set that is made when a result is graded before there is one."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The baselines that were saved under one name, by mode."""

    name: str
    saved_s: float
    modes: Mapping[Mode, BaselineInfo]


@dataclass(frozen=True, slots=True)
class Shelf:
    """What the lab's choosers show.

    ``current`` is the set in hand with its ``queries``, ``graders`` (judgements by name), ``agreements``
    (every two graders) and ``baselines``. ``answered`` counts its queries with an answer; ``too_few`` says
    why the fusion cannot be tuned on it. ``fusion`` describes the one in use.
    """

    sets: tuple[SetInfo, ...] = ()
    current: SetInfo | None = None
    queries: tuple[GoldenQuery, ...] = ()
    graders: Mapping[str, int] = field(default_factory=dict)
    agreements: tuple[tuple[str, str, Agreement], ...] = ()
    baselines: tuple[Saved, ...] = ()
    roots: tuple[Root, ...] = ()
    answered: int = 0
    too_few: str = ""
    grader: str = ""
    fusion: str = ""
    weights: Mapping[str, float] = field(default_factory=dict)
    can_revert: bool = False


@dataclass(frozen=True, slots=True)
class Measurement:
    """A report with what it is held against.

    ``set_size`` is how many queries and graded pairs the set had, to see whether it has changed since.
    ``against`` says what that is, empty for nothing. ``refusals`` are the reasons, by mode, why one was not
    compared. ``table`` and ``judged_table`` are the per-query rows, the latter without unjudged clips, whose
    means ``judged_intervals`` bound as the report's own intervals do the others.
    """

    report: LabReport
    set_size: tuple[int, int] = (0, 0)
    against: str = ""
    comparisons: Mapping[Mode, LabComparison] = field(default_factory=dict)
    refusals: Mapping[Mode, str] = field(default_factory=dict)
    table: tuple[QueryRow, ...] = ()
    judged_table: tuple[QueryRow, ...] = ()
    judged_intervals: Mapping[Mode, Mapping[str, tuple[float, float]]] = field(default_factory=dict)

    @property
    def modes(self) -> tuple[Mode, ...]:
        return tuple(self.report.results)


@dataclass(frozen=True, slots=True)
class GoodAnswer:
    """What grading results of a normal search did: enough to say it, and to take it back.

    ``before`` holds the same grader's former grade by clip id, with its time.
    """

    set: SetInfo
    query: GoldenQuery
    grader: str
    grade: int
    before: Mapping[str, tuple[int, float] | None]
    new_query: bool
    new_set: bool


# --- choosers


def grader_name(service: LibraryService) -> str:
    """Whose name stands by new judgements: the one that was given, or the user's on this machine."""
    if service.settings.grader.strip():
        return service.settings.grader.strip()
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # no such user, or no way to ask
        return "me"


def shelf(service: LibraryService, set_id: str = "") -> Shelf:
    """Reads everything the choosers show; ``set_id`` is the set in hand, by default the last one."""
    store, settings = service.lab.sets, service.settings
    sets = tuple(store.sets())
    wanted = set_id or settings.golden_set
    current = next((info for info in sets if info.id == wanted), sets[0] if sets else None)
    fusion = Fusion.of(settings)
    found = Shelf(
        sets,
        current,
        roots=tuple(service.roots()),
        grader=grader_name(service),
        fusion=fusion.describe(),
        weights=fusion.weights,
        can_revert=service.lab.can_revert,
    )
    if current is None:
        return found
    graders = store.graders(current.id)
    answered = len(resolve(store.golden(current.id), lambda clip: clip).qrels)
    return replace(
        found,
        queries=store.queries(current.id),
        graders=graders,
        agreements=tuple((a, b, store.agreement(current.id, a, b)) for a, b in combinations(graders, 2)),
        baselines=_by_name(service.lab.baselines.of_set(current.id)),
        answered=answered,
        too_few=_why_too_few(answered),
    )


def _by_name(infos: Iterable[BaselineInfo]) -> tuple[Saved, ...]:
    modes: dict[str, dict[Mode, BaselineInfo]] = {}
    for info in infos:
        modes.setdefault(info.name, {})[info.mode] = info
    return tuple(Saved(name, max(i.saved_s for i in row.values()), row) for name, row in modes.items())


def _why_too_few(answered: int) -> str:
    try:
        refuse_too_few(answered)
    except GoldenSetError as error:
        return error.sentence
    return ""


def remember(service: LibraryService, **chosen: Any) -> None:
    """Keeps choices (``golden_set``, ``grader``) in the settings."""
    for name, value in chosen.items():
        setattr(service.settings, name, value)
    service.settings.save(service.data.settings_file)


# --- measuring


def measure_job(service: LibraryService, info: SetInfo, settings: LabSettings, baseline: str = "") -> Job:
    """Measures a golden set in every mode of the settings; its result is a Measurement."""

    def work() -> Generator[Progress, None, Measurement]:
        size = _set_size(service, info)
        report = yield from service.lab.measure(info.id, settings)
        return replace((yield from hold_against(service, report, baseline)), set_size=size)

    return Job(f"Measuring {info.name}", work, kind="evaluate")


def without_job(
    service: LibraryService, info: SetInfo, settings: LabSettings, root: Root, before: LabReport | None
) -> Job:
    """Measures with a folder and without it; its result is a Measurement of the latter.

    ``before`` is a measurement with the folder, where one is at hand.
    """

    def work() -> Generator[Progress, None, Measurement]:
        whole, size = before, _set_size(service, info)
        if whole is None:
            whole = yield from service.lab.measure(info.id, replace(settings, left_out=""))
        report = yield from service.lab.measure(info.id, replace(settings, left_out=root.path))
        comparisons = {}
        for mode in report.results:
            yield Progress(0, 0, f"{mode}: comparing")
            comparisons[mode] = between_reports(whole, report, mode)
        found = yield from _measurement(report, f"the library with {root.name}", comparisons, {})
        return replace(found, set_size=size)

    return Job(f"Measuring {info.name} without {root.name}", work, kind="evaluate")


def hold_against(
    service: LibraryService, report: LabReport, baseline: str
) -> Generator[Progress, None, Measurement]:
    """Compares a report with the baselines of a name, mode by mode; without a name with nothing."""
    if not baseline:
        return (yield from _measurement(report, "", {}, {}))
    documents = service.lab.baselines.named(report.conditions["set_id"], baseline)
    comparisons: dict[Mode, LabComparison] = {}
    refusals: dict[Mode, str] = {}
    for mode in report.results:
        yield Progress(0, 0, f"{mode}: comparing with {baseline}")
        try:
            if mode not in documents:
                raise GoldenSetError(f"The baseline {baseline} was not measured in mode {mode}.")
            comparisons[mode] = against_baseline(report, mode, documents[mode])
        except GoldenSetError as error:
            refusals[mode] = f"{error.sentence} {error.hint}".strip()
    return (yield from _measurement(report, f"baseline {baseline}", comparisons, refusals))


def compare_job(service: LibraryService, measurement: Measurement, baseline: str) -> Job:
    """Holds a measurement that is there against another baseline; its result is a Measurement."""

    def work() -> Generator[Progress, None, Measurement]:
        found = yield from hold_against(service, measurement.report, baseline)
        return replace(found, set_size=measurement.set_size)

    return Job(f"Comparing with {baseline or 'nothing'}", work, kind="evaluate")


def _set_size(service: LibraryService, info: SetInfo) -> tuple[int, int]:
    now = service.lab.sets.info(info.id)
    return now.queries, now.judged


def _measurement(
    report: LabReport,
    against: str,
    comparisons: Mapping[Mode, LabComparison],
    refusals: Mapping[Mode, str],
) -> Generator[Progress, None, Measurement]:
    table = tuple(rows(report, comparisons))
    judged = tuple(judged_only(row, comparisons) for row in table)
    intervals: dict[Mode, dict[str, tuple[float, float]]] = {}
    for mode in report.results:
        yield Progress(0, 0, f"{mode}: how sure the judged means are")
        values = {name: [row.metrics[mode][name] for row in judged] for name in report.settings.names}
        intervals[mode] = {
            name: bootstrap_interval(row, confidence=CONFIDENCE) for name, row in values.items()
        }
    return Measurement(report, (0, 0), against, comparisons, refusals, table, judged, intervals)


def judged_only(row: QueryRow, comparisons: Mapping[Mode, LabComparison]) -> QueryRow:
    """A row whose metrics and changes are those without unjudged clips."""
    change = {mode: comparisons[mode].changes[row.query_id].condensed for mode in row.change}
    return replace(row, metrics=row.condensed, change=change)


def curves(report: LabReport, metric: str) -> dict[Mode, list[float]]:
    """The mean of a metric (a name without a cut) at k = 1, 2 … of every mode."""
    return {mode: curve(report, mode, metric) for mode in report.results}


def tune_job(service: LibraryService, info: SetInfo, k: int) -> Job:
    """Searches fusion weights on a golden set; its result is a Tuning. Nothing is applied."""
    return Job(f"Tuning the fusion on {info.name}", lambda: service.lab.tune(info.id, k), kind="evaluate")


# --- grading results of a normal search


def good_answer(
    service: LibraryService, set_id: str, text: str, clip_ids: Sequence[str], grade: int
) -> GoodAnswer:
    """Grades clips for a query, which joins the set in hand; a set is made where there is none."""
    store, grader = service.lab.sets, grader_name(service)
    info = shelf(service, set_id).current
    new_set = info is None
    if info is None:
        info = store.create(FIRST_SET)
    known = {query.id for query in store.queries(info.id)}
    before: dict[str, tuple[int, float] | None] = {}
    query = store.add_query(info.id, text)
    for clip_id in clip_ids:
        old = store.judge(info.id, query.id, clip_id, grade, grader)
        before[clip_id] = (old.grade, old.at_s) if old else None
    remember(service, golden_set=info.id)
    return GoodAnswer(
        store.info(info.id), query, grader, grade, before, new_query=query.id not in known, new_set=new_set
    )


def take_back(service: LibraryService, done: GoodAnswer) -> None:
    """Undoes :func:`good_answer`, as far as nothing has been built on it since."""
    store, set_id = service.lab.sets, done.set.id
    for clip_id, old in done.before.items():
        grade, at_s = old if old is not None else (None, None)
        store.judge(set_id, done.query.id, clip_id, grade, done.grader, at_s=at_s)
    if done.new_query and not store.judged_clips(set_id, done.query.id):
        store.remove_query(set_id, done.query.id)
    if done.new_set and not store.queries(set_id):
        store.delete(set_id)


# --- queries of a set


def add_queries(service: LibraryService, set_id: str, lines: Iterable[str]) -> int:
    """Adds a query for each line that is not blank; gives how many are new."""
    store = service.lab.sets
    known = {query.id for query in store.queries(set_id)}
    added = {store.add_query(set_id, line).id for line in lines if line.strip()}
    return len(added - known)


# --- files


def export_baseline(service: LibraryService, saved: Saved, folder: str, *, as_run: bool) -> list[str]:
    """Writes each mode of a baseline into a folder, as a document or as a TREC run; gives the names."""
    written = []
    for mode, info in saved.modes.items():
        stem = "".join(c if c.isalnum() or c in " -_." else "_" for c in saved.name).strip(". ") or "baseline"
        name = f"{stem} {mode}.{'run.txt' if as_run else 'json'}"
        store = service.lab.baselines
        (store.export_run if as_run else store.export_file)(info.id, os.path.join(folder, name))
        written.append(name)
    return written


def save_text(path: str, text: str) -> None:
    """Writes a text file.

    Raises:
        GoldenSetError: it cannot be written.
    """
    from foley_desktop.eval.files import write_text

    write_text(path, text, "report")
