"""The inspector as a part of the window: follows the selection, has edits written, takes steps back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QMenu, QToolButton
from shiboken6 import isValid

from foley_desktop.errors import FoleyError
from foley_desktop.library.editing import FIELDS
from foley_desktop.models import Clip
from foley_desktop.ui import buttons, desk_icons, text
from foley_desktop.ui.filing_wing import FilingWing
from foley_desktop.ui.inspector_panel import InspectorPanel, lowered
from foley_desktop.ui.keys import CTRL, SHIFT, Key
from foley_desktop.ui.messages import Toast
from foley_desktop.workers import edit_jobs
from foley_desktop.workers.edit_jobs import Inspection, Steps
from foley_desktop.workers.job import Job

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

LOOK_MS = 70
"""How long a selection has to stand before it is read."""
REFRESH_MS = 3000
"""How long after the last edit, or a vain attempt, its meaning is brought into the search."""
WIDTH = 360
_LABELS = {field.name: field.label for field in FIELDS}


class InspectorWing(QObject):
    """Built by the window, once its other panels are there."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._service, self._runner = window.service, window.runner
        self._looked_at: tuple[str, ...] | None = None
        self._steps = Steps()
        self._stopped = False
        self._offered: Toast | None = None
        self.panel = InspectorPanel(window)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.panel)
        window.tabifyDockWidget(window.evaluation, self.panel)
        window.resizeDocks([self.panel], [WIDTH], Qt.Orientation.Horizontal)
        self.panel.hide()
        self._look_timer = self._timer(LOOK_MS, self._look)
        self._refresh_timer = self._timer(REFRESH_MS, self._refresh_meaning)
        self._values_of = ""
        self._connect()
        self.filing = FilingWing(window, self)

    def _timer(self, interval_ms: int, call: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        timer.timeout.connect(call)
        return timer

    def _connect(self) -> None:
        window, panel = self._window, self.panel
        view, model = window.results.view, window.results.model
        view.selectionModel().selectionChanged.connect(lambda *_: self._look_timer.start())
        view.all_wanted.connect(lambda: window.results.search.fetch_all(view.selectAll))
        model.modelReset.connect(self._look_timer.start)
        model.dataChanged.connect(lambda *_: self._look_again())
        panel.visibilityChanged.connect(self._on_visibility)
        panel.field_set.connect(self.set_field)
        panel.field_reverted.connect(self.revert)
        panel.rated.connect(lambda stars: window.actions_.rate(stars))
        panel.favoured.connect(lambda: window.actions_.favour())
        panel.refused.connect(lambda sentence: window.messages.say(sentence))
        panel.undo_wanted.connect(self.undo)
        panel.redo_wanted.connect(self.redo)
        panel.words_wanted.connect(self._fetch_values)
        window.actions_.additions.append(self._add_to_menu)
        self.button = self._make_button()
        key = Qt.Key
        window.keys.add(
            Key(key.Key_I, self.toggle),
            Key(key.Key_I, self.edit, CTRL, everywhere=True),
            Key(key.Key_Z, self.undo, CTRL),
            Key(key.Key_Z, self.redo, CTRL | SHIFT),
            Key(key.Key_Y, self.redo, CTRL),
        )
        self._fetch_steps()
        self._runner.reads.submit(edit_jobs.categories, panel.set_categories, what="Reading the categories")

    def _make_button(self) -> QToolButton:
        tip = "Inspector: see and edit all fields of the selected sounds  (I)"
        button = buttons.tool(desk_icons.INSPECT, tip, checkable=True, label="Inspect", folds=True)
        button.setObjectName("inspector_button")
        button.clicked.connect(lambda _=False: self.toggle())
        self._window.search_bar.add_button(button)
        return button

    def stop(self) -> None:
        """The window closes: what is being typed is still written."""
        self.panel.flush()
        self._stopped = True
        self._look_timer.stop()
        self._refresh_timer.stop()

    # --- showing

    def toggle(self) -> None:
        """Shows the inspector, or hides it when it is in sight."""
        if self.panel.isVisible() and not self.panel.visibleRegion().isEmpty():
            self.panel.flush()
            self.panel.hide()
        else:
            self.open()

    def open(self) -> None:
        """Brings the inspector into sight."""
        self.panel.show()
        self.panel.raise_()
        self._look()

    def edit(self) -> None:
        """Brings the inspector into sight and puts the cursor into its first field."""
        self.open()
        self.panel.focus_field()

    def _on_visibility(self, visible: bool) -> None:
        self.button.setChecked(not self.panel.isHidden())
        if visible and not self._stopped:
            self._look()
        elif not self._stopped:
            self.panel.flush()

    def _add_to_menu(self, menu: QMenu, clips: list[Clip]) -> None:
        menu.addAction("Inspect and edit\tI", self.open)

    # --- looking

    def look(self) -> None:
        """Another sound is in hand, though it was not chosen in the results."""
        self._look_timer.start()

    def _look_again(self) -> None:
        """The same clips may have changed."""
        self._looked_at = None
        self._look_timer.start()

    def _look(self) -> None:
        self._look_timer.stop()
        if self._stopped or not self.panel.isVisible():
            self._looked_at = None
            return
        clips = self._window.actions_.clips()
        keys = tuple(clip.id or clip.path for clip in clips)
        if keys == self._looked_at:
            return
        shown = self.panel.inspection
        if shown is None or shown.ids != tuple(clip.id for clip in clips if clip.id):
            self.panel.begin(len(clips))
        self._looked_at = keys
        self._runner.reads.submit(
            partial(edit_jobs.inspect, self._service, clips),
            self._show,
            self._window.messages.fail,
            key="inspect",
            what="Reading the fields",
        )

    def _show(self, found: Inspection) -> None:
        self.panel.show_inspection(found)

    def _fetch_values(self, field: str) -> None:
        if field == self._values_of or field in ("catid", "category", "subcategory"):
            return
        self._values_of = field
        take = self.panel.rows[field].editor.complete_with
        self._runner.reads.submit(partial(edit_jobs.values, self._service, field), take, key="field values")

    # --- editing

    def set_field(self, ids: Sequence[str], field: str, value: str) -> None:
        """Sets a field of some clips, as one step."""
        label = f"{_LABELS[field]} of {self._counted(ids)}"
        work = partial(edit_jobs.set_fields, self._service, list(ids), {field: value}, label)
        self._write(work, label, len(ids))

    def revert(self, ids: Sequence[str], field: str) -> None:
        """Lets the files' own values of a field count again."""
        work = partial(edit_jobs.revert, self._service, list(ids), [field])
        self._write(work, "", len(ids))

    def _counted(self, ids: Sequence[str]) -> str:
        shown = self.panel.inspection
        if len(ids) == 1 and shown is not None and shown.clip is not None and shown.clip.id == ids[0]:
            return text.shown(shown.clip.name, 60)
        return text.plural(len(ids), "sound")

    def _write(self, work: Callable[[], list[str]], label: str, count: int) -> None:
        """Edits go in before the next step of whatever job is running: they never wait for it."""

        def done(ids: list[str]) -> None:
            self._values_of = ""
            if ids:
                self._make_searchable(ids)
                self.after_change(ids)
            if ids and label and count > 1:
                self.offer_undo(f"{label} changed.")

        def failed(error: FoleyError) -> None:
            self._window.messages.fail(error)
            self._look_again()

        self._runner.writes.slip_in(work, done, failed, "The edit")

    def _make_searchable(self, ids: list[str]) -> None:
        if len(ids) > edit_jobs.MANY:
            self._run_quietly(edit_jobs.refresh_job(self._service, meaning=False), shown=True)
            return
        work = partial(edit_jobs.make_searchable, self._service, ids)
        self._runner.writes.slip_in(work, lambda _: self._search_again(), what="The search index")

    def _search_again(self) -> None:
        """What is found by words may be other now; the mere list knows already."""
        if self._window.results.search.request.kind == "text":
            self._window.library.clips_changed.emit()

    def after_change(self, ids: Sequence[str] = ()) -> None:
        """Clips changed: the table, the sidebar, the deck and the inspector are brought up to date."""
        window = self._window
        window.library.refresh()
        window.library.clips_changed.emit()
        self._look_again()
        self._fetch_steps()
        self._refresh_timer.start()
        deck = window.deck.clip
        if deck is not None and deck.id and (not ids or deck.id in set(ids)):
            self._runner.reads.submit(
                partial(edit_jobs.clip, self._service, deck.id), self._update_deck, key="clip in the deck"
            )

    def _update_deck(self, clip: Clip | None) -> None:
        if clip is not None:
            self._window.deck.update_clip(clip)

    def _refresh_meaning(self) -> None:
        self._run_quietly(edit_jobs.refresh_job(self._service, meaning=True), shown=False)

    def _run_quietly(self, job: Job, *, shown: bool) -> None:
        if self._stopped:
            return
        if shown:
            self._window.status.jobs.add(job)
        job.finished.connect(self._refreshed)
        self._runner.writes.submit(job)

    def _refreshed(self, up_to_date: bool) -> None:
        """While somebody else writes to the library, later is soon enough."""
        if self._stopped:
            return
        if up_to_date:
            self._search_again()
        else:
            self._refresh_timer.start()

    # --- taking back

    def _fetch_steps(self) -> None:
        self._runner.reads.submit(
            partial(edit_jobs.steps, self._service), self._show_steps, key="steps", what="Reading the steps"
        )

    def _show_steps(self, steps: Steps) -> None:
        self._steps = steps
        self.panel.show_steps(steps)

    def undo(self) -> None:
        """Takes the latest step back, whatever it was."""
        self.panel.flush()
        self._runner.reads.submit(partial(edit_jobs.steps, self._service), partial(self._again, redo=False))

    def redo(self) -> None:
        """Does the step again that was taken back last."""
        self.panel.flush()
        self._runner.reads.submit(partial(edit_jobs.steps, self._service), partial(self._again, redo=True))

    def _again(self, steps: Steps, *, redo: bool) -> None:
        label, kind = (steps.redo, steps.redo_kind) if redo else (steps.undo, steps.undo_kind)
        if not label:
            self._window.messages.say(f"There is nothing to {'redo' if redo else 'undo'}.")
            return
        job = (edit_jobs.redo_job if redo else edit_jobs.undo_job)(self._service, steps)
        done = partial(self._after_step, redo=redo)
        if edit_jobs.is_edit(kind):
            work = job.work
            self._runner.writes.slip_in(
                lambda: edit_jobs.run_through(work()), done, self._step_failed, job.title
            )
            return
        job.finished.connect(done)
        job.failed.connect(self._step_failed)
        job.cancelled.connect(self.after_change)
        self._window.status.jobs.add(job)
        self._runner.writes.submit(job)

    def _after_step(self, label: str, *, redo: bool) -> None:
        self.after_change()
        said = f"{'Done again' if redo else 'Undone'}: {lowered(label)}."
        self._offer(said, *(("Undo", self.undo) if redo else ("Redo", self.redo)))

    def offer_undo(self, sentence: str) -> None:
        """Says what was done, with a button to take it back."""
        self._offer(sentence, "Undo", self.undo)

    def _offer(self, sentence: str, action: str, call: Callable[[], object]) -> None:
        """Only the latest offer stands: the button of an older one would take another step back."""
        if self._offered is not None and isValid(self._offered):
            self._offered.leave()
        self._offered = self._window.messages.say(sentence, action=action, call=call)

    def _step_failed(self, error: FoleyError) -> None:
        """A step that cannot be taken back stands before all others: it may be given up."""
        self.after_change()
        self._window.messages.ask(
            "This step cannot be taken back",
            f"{error.sentence} {error.hint} Give it up to reach the steps before it?".replace("  ", " "),
            [("Give it up", self._forget_step)],
        )

    def _forget_step(self) -> None:
        work = partial(edit_jobs.forget_step, self._service)
        self._runner.writes.slip_in(
            work, lambda _: self._fetch_steps(), self._window.messages.fail, "The step"
        )
