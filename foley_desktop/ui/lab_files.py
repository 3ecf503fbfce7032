"""What the lab's menus do: names, files, questions before something is forgotten."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from foley_desktop.library.golden_files import Imported
from foley_desktop.library.service import LibraryService
from foley_desktop.ui import prompt, text
from foley_desktop.ui.lab_baselines import about
from foley_desktop.ui.lab_sets import agreement_lines
from foley_desktop.ui.messages import Messages
from foley_desktop.ui.queries_dialog import QueriesDialog
from foley_desktop.workers import lab_jobs
from foley_desktop.workers.runner import Runner

if TYPE_CHECKING:
    from foley_desktop.ui.lab_desk import LabDesk

_SETS = ["Golden sets (*.json *.csv *.tsv *.qrels *.txt)", "All files (*)"]
_SAVED_SETS = ["JSON (*.json)", "CSV (*.csv)", "TREC qrels (*.qrels)", "All files (*)"]


class LabFiles(QObject):
    """Acts on the set, the measurement and the baseline that a :class:`LabDesk` has in hand."""

    def __init__(
        self, service: LibraryService, runner: Runner, messages: Messages, desk: LabDesk, parent: QWidget
    ) -> None:
        super().__init__(desk)
        self._service = service
        self._runner = runner
        self._messages = messages
        self._desk = desk
        self._parent = parent

    def do(self, name: str) -> None:
        """Does what a menu entry is called after; see the tables of the bars."""
        needs = {"create": True, "import": True}.get(name, self._desk.shelf.current is not None)
        if needs:
            getattr(self, name if name != "import" else "import_set")()

    def _write(self, work: Callable[[], Any], done: Callable[[Any], object], what: str) -> None:
        """Has ``work`` done on the lab lane, then ``done(result)`` here, or the error shown."""

        def after(result: Any) -> None:
            done(result)

        self._runner.lab.slip_in(work, after, self._messages.fail, what)

    @property
    def _set_id(self) -> str:
        current = self._desk.shelf.current
        assert current is not None
        return current.id

    @property
    def _name(self) -> str:
        current = self._desk.shelf.current
        return current.name if current else ""

    def _refresh(self, *_: object) -> None:
        self._desk.refresh()

    # --- sets

    def create(self) -> None:
        def make(name: str) -> None:
            self._write(
                lambda: self._service.lab.sets.create(name),
                lambda info: self._desk.choose_set(info.id),
                "The new golden set",
            )

        prompt.ask_line(
            self._parent, "New golden set",
            "Queries join it by “Add queries”, or when a search result is graded.",
            f"Golden set {time.strftime('%Y-%m-%d')}", "Create", make,
        )  # fmt: skip

    def rename(self) -> None:
        set_id = self._set_id
        prompt.ask_line(
            self._parent, "Rename golden set", "It stays the same set, with its judgements and baselines.",
            self._name, "Rename",
            lambda name: self._write(
                lambda: self._service.lab.sets.rename(set_id, name), self._refresh, "The new name"
            ),
        )  # fmt: skip

    def duplicate(self) -> None:
        set_id = self._set_id
        prompt.ask_line(
            self._parent, "Duplicate golden set", "Queries and judgements are copied, baselines are not.",
            f"{self._name} copy", "Duplicate",
            lambda name: self._write(
                lambda: self._service.lab.sets.duplicate(set_id, name),
                lambda info: self._desk.choose_set(info.id),
                "The copy",
            ),
        )  # fmt: skip

    def delete(self) -> None:
        info = self._desk.shelf.current
        assert info is not None
        self._messages.ask(
            f"Delete the golden set {text.shown(info.name, 60)}?",
            f"Its {text.plural(info.queries, 'query', 'queries')}, "
            f"{text.plural(info.judged, 'graded pair')} and its baselines are forgotten for good.",
            [
                (
                    "Delete",
                    lambda: self._write(
                        lambda: self._service.lab.sets.delete(info.id), self._refresh, "Deleting the set"
                    ),
                )
            ],
        )

    def queries(self) -> None:
        set_id = self._set_id

        def add(lines: list[str]) -> None:
            self._write(
                lambda: lab_jobs.add_queries(self._service, set_id, lines),
                lambda count: (
                    self._messages.say(f"{text.plural(count, 'query', 'queries')} added."),
                    self._refresh(),
                ),
                "The queries",
            )

        prompt.LinesDialog(
            self._parent, "Add queries", "One a line. Those that are in the set already are passed over.",
            "Add", add,
        ).open()  # fmt: skip

    def edit(self) -> None:
        set_id, store = self._set_id, self._service.lab.sets

        def change(edited: dict[str, str], removed: list[str]) -> None:
            def work() -> None:
                for query_id, words in edited.items():
                    store.edit_query(set_id, query_id, words)
                for query_id in removed:
                    store.remove_query(set_id, query_id)

            self._write(work, self._refresh, "The queries")

        QueriesDialog(self._parent, self._desk.shelf.queries, change).open()

    def grader(self) -> None:
        prompt.ask_line(
            self._parent, "Who grades", "The name stands by each judgement from now on.",
            self._desk.shelf.grader, "Keep",
            lambda name: self._write(
                lambda: lab_jobs.remember(self._service, grader=name), self._refresh, "The grader's name"
            ),
        )  # fmt: skip

    def agreement(self) -> None:
        self._messages.list_lines(f"Agreement on {self._name}", agreement_lines(self._desk.shelf))

    # --- files of sets

    def import_set(self) -> None:
        prompt.ask_open(self._parent, "Import a golden set", _SETS, self.import_file)

    def import_file(self, path: str) -> None:
        """Reads a golden set from a file and takes it in hand."""

        def done(imported: Imported) -> None:
            self._say_imported(imported, "imported")
            self._desk.choose_set(imported.info.id)

        self._write(lambda: self._service.lab.import_set(path), done, "The import")

    def merge(self) -> None:
        set_id = self._set_id

        def take(path: str) -> None:
            self._write(
                lambda: self._service.lab.merge_file(set_id, path),
                lambda imported: (self._say_imported(imported, "taken in"), self._refresh()),
                "Taking the file in",
            )

        prompt.ask_open(self._parent, "Take a file into this set", _SETS, take)

    def _say_imported(self, imported: Imported, what: str) -> None:
        info = imported.info
        counted = (
            f"{text.plural(info.queries, 'query', 'queries')}, {text.plural(info.judged, 'graded pair')}"
        )
        notes = " ".join(imported.notes)
        self._messages.say(f"{text.shown(info.name, 60)} {what}: {counted}. {notes}".strip())

    def export(self) -> None:
        """Asks how clips are to be named, then where to write."""
        self._messages.ask(
            f"Export {text.shown(self._name, 60)}",
            "Name clips by their path below the folder, which people and other libraries can read, or by "
            "their id, which no move of a file changes?",
            [("By id", partial(self._export, "id")), ("By path", partial(self._export, "path"))],
        )

    def _export(self, naming: str) -> None:
        set_id = self._set_id

        def write(path: str) -> None:
            self._write(
                lambda: self._service.lab.export_set(set_id, path, naming),  # type: ignore[arg-type]
                lambda _: self._messages.say(f"Exported to {text.shown(os.path.basename(path))}."),
                "The export",
            )

        prompt.ask_save(self._parent, "Export golden set", _SAVED_SETS, f"{_stem(self._name)}.json", write)

    # --- baselines

    def save_baseline(self) -> None:
        if self._desk.measurement is not None:
            prompt.ask_line(
                self._parent, "Save as baseline",
                "Every measured mode is kept with its whole run, its conditions and the date.",
                f"Baseline {time.strftime('%Y-%m-%d')}", "Save", self._save_named,
            )  # fmt: skip

    def _save_named(self, name: str) -> None:
        if any(one.name == name for one in self._desk.shelf.baselines):
            self._messages.ask(
                f"Replace the baseline {text.shown(name, 60)}?",
                "What it says now is forgotten.",
                [("Replace", partial(self._save, name, True))],
            )
        else:
            self._save(name, False)

    def _save(self, name: str, replace: bool) -> None:
        measurement = self._desk.measurement
        if measurement is None:
            return
        self._write(
            lambda: self._service.lab.baselines.save(measurement.report, name, replace=replace),
            lambda _: (self._messages.say(f"Baseline {text.shown(name, 60)} saved."), self._refresh()),
            "The baseline",
        )

    def about_baseline(self) -> None:
        saved = self._desk.panel.baselines.saved
        if saved is not None:
            self._messages.list_lines(f"Baseline {saved.name}", about(saved))

    def delete_baseline(self) -> None:
        saved, set_id = self._desk.panel.baselines.saved, self._set_id
        if saved is None:
            return

        def forget() -> None:
            def done(_: object) -> None:
                self._desk.panel.baselines.choose("")
                self._refresh()
                self._desk.compare_with("")

            self._write(lambda: self._service.lab.baselines.delete(set_id, saved.name), done, "Deleting")

        self._messages.ask(
            f"Delete the baseline {text.shown(saved.name, 60)}?",
            "It is forgotten for good.",
            [("Delete", forget)],
        )

    def export_baseline(self, *, as_run: bool = False) -> None:
        saved = self._desk.panel.baselines.saved
        if saved is None:
            return

        def write(folder: str) -> None:
            self._write(
                lambda: lab_jobs.export_baseline(self._service, saved, folder, as_run=as_run),
                lambda names: self._messages.say(f"Written: {', '.join(text.shown(n, 60) for n in names)}."),
                "The export",
            )

        prompt.ask_folder(self._parent, "Export into a folder", write)

    def export_run(self) -> None:
        self.export_baseline(as_run=True)

    def import_baseline(self) -> None:
        set_id = self._set_id
        prompt.ask_open(
            self._parent, "Import a baseline", ["Baselines (*.json)", "All files (*)"],
            lambda path: self._take_baseline(
                lambda: self._service.lab.baselines.import_file(set_id, path)
            ),
        )  # fmt: skip

    def import_run(self) -> None:
        set_id, mode = self._set_id, self._desk.view.mode
        prompt.ask_open(
            self._parent, f"Import a TREC run, to compare {mode} with", ["All files (*)"],
            lambda path: self._take_baseline(
                lambda: self._service.lab.baselines.import_run(set_id, path, mode=mode)
            ),
        )  # fmt: skip

    def _take_baseline(self, work: Callable[[], Any]) -> None:
        self._write(
            work,
            lambda info: (
                self._messages.say(f"Baseline {text.shown(info.name, 60)} imported, {info.mode}."),
                self._refresh(),
            ),
            "The import",
        )

    # --- reports

    def conditions(self) -> None:
        measurement = self._desk.measurement
        if measurement is not None:
            lines = json.dumps(measurement.report.conditions, indent=1, sort_keys=True).splitlines()
            self._messages.list_lines("Everything needed to repeat this measurement", lines)

    def save_report(self) -> None:
        measurement = self._desk.measurement
        if measurement is None:
            return

        def write(path: str) -> None:
            self._write(
                lambda: lab_jobs.save_text(path, measurement.report.to_json()),
                lambda _: self._messages.say(f"Report written to {text.shown(os.path.basename(path))}."),
                "The report",
            )

        name = f"{_stem(self._name)} report.json"
        prompt.ask_save(self._parent, "Save the report", ["JSON (*.json)", "All files (*)"], name, write)

    def save_trec(self) -> None:
        measurement = self._desk.measurement
        if measurement is None:
            return

        def write(folder: str) -> None:
            self._write(
                lambda: measurement.report.write_trec(Path(folder)),
                lambda _: self._messages.say("qrels.txt and the run files are written."),
                "The TREC files",
            )

        prompt.ask_folder(self._parent, "Save TREC files into a folder", write)


def _stem(name: str) -> str:
    """A name as the stem of a file."""
    return "".join(c if c.isalnum() or c in " -_." else "_" for c in name).strip(". ") or "golden set"
