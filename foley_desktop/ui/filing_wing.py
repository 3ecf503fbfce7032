"""What the window does to the files themselves: writing into them, renaming, throwing away, and the locks.

Nothing here happens without having been shown first, and nothing at all in a folder that is locked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMenu
from shiboken6 import isValid

from foley_desktop.library.renaming import RenamePlan, RenameReport
from foley_desktop.library.trashing import TrashReport
from foley_desktop.library.ucs_names import NameParts
from foley_desktop.library.write_preview import FilePlan
from foley_desktop.library.writeback import Refusal, WriteReport
from foley_desktop.models import Clip, Root
from foley_desktop.ui import text
from foley_desktop.ui.keys import CTRL, Key
from foley_desktop.ui.rename_dialog import RenameDialog
from foley_desktop.ui.rename_history import RenameHistory
from foley_desktop.ui.write_dialog import WriteDialog
from foley_desktop.workers import edit_jobs, jobs
from foley_desktop.workers.edit_jobs import RenamePreview
from foley_desktop.workers.job import Job

if TYPE_CHECKING:
    from foley_desktop.ui.inspector_wing import InspectorWing
    from foley_desktop.ui.main_window import MainWindow

A_PORTION = 40
"""So many files are looked at in one go, so that a preview of thousands lets others in between."""
REMEMBERED = "rename"
"""The key of the settings' free part that holds what the last renaming was made of."""
PERMITS = (
    "Its files may then be renamed, written to and thrown away, each time only when you ask for it. "
    "Unlocking changes nothing by itself; the folder's menu in the sidebar locks it again."
)


class FilingWing(QObject):
    """Built and owned by the inspector's wing, whose edits it writes."""

    def __init__(self, window: MainWindow, inspector: InspectorWing) -> None:
        super().__init__(window)
        self._window, self._inspector = window, inspector
        self._service, self._runner = window.service, window.runner
        inspector.panel.write_wanted.connect(self.write)
        window.actions_.additions.append(self._add_to_menu)
        window.sidebar.lock_wanted.connect(self.set_locked)
        window.keys.add(
            Key(Qt.Key.Key_S, self.write, CTRL, everywhere=True),
            Key(Qt.Key.Key_F2, self.rename),
            Key(Qt.Key.Key_Delete, self.throw_away),
        )

    def _add_to_menu(self, menu: QMenu, clips: list[Clip]) -> None:
        menu.addAction("Write to files …\tCtrl+S", self.write)
        menu.addAction("Rename …\tF2", self.rename)
        menu.addAction("Rename history …", self.show_history)
        menu.addAction("Move to trash …\tDel", self.throw_away)

    def _chosen(self, what: str) -> list[Clip]:
        """The clips that are meant, or a word about why there are none."""
        self._inspector.panel.flush()
        chosen = [clip for clip in self._window.actions_.clips() if clip.id]
        if not chosen:
            self._window.messages.say(f"Select the sounds to {what}.")
        return chosen

    # --- locks

    def set_locked(self, root: Root, locked: bool) -> None:
        """Locks a folder at once; unlocks it once the user has read what that permits."""
        if locked:
            self._put_lock([root], True, lambda: None)
        else:
            self._ask_to_unlock([root], "", lambda: None)

    def _ask_to_unlock(self, roots: Sequence[Root], why: str, then: Callable[[], object]) -> None:
        names = ", ".join(text.shown(root.name, 60) for root in roots)
        answer = "Unlock and go on" if why else "Unlock"
        self._window.messages.ask(
            f"Unlock {names}?",
            f"{why}{PERMITS}",
            [(answer, partial(self._put_lock, roots, False, then))],
        )

    def _put_lock(self, roots: Sequence[Root], locked: bool, then: Callable[[], object]) -> None:
        def work() -> None:
            for root in roots:
                edit_jobs.lock(self._service, root.id, locked)

        def done(_: object) -> None:
            self._window.library.refresh()
            self._inspector.after_change()
            then()

        self._runner.writes.slip_in(work, done, self._window.messages.fail, "The lock")

    def _unlocked(self, root_ids: Sequence[int], what: str, then: Callable[[], object]) -> None:
        """Goes on at once where nothing is locked; otherwise asks first."""

        def ask(locked: list[Root]) -> None:
            if not locked:
                then()
                return
            name = text.shown(locked[0].name, 60)
            which = f"{name} is locked" if len(locked) == 1 else f"{len(locked)} folders are locked"
            self._ask_to_unlock(locked, f"{which}, so its files cannot be {what}. ", then)

        self._runner.reads.submit(
            partial(edit_jobs.locked_roots, self._service, sorted(set(root_ids))),
            ask,
            self._window.messages.fail,
            what="The locks",
        )

    # --- writing

    def write(self) -> None:
        """Shows what writing would change in the files of the selection."""
        clips = self._chosen("write to files")
        if not clips:
            return
        ids = [clip.id for clip in clips]
        dialog = WriteDialog(self._window, len(ids))
        look = partial(self._look_at, dialog, ids)
        dialog.look_wanted.connect(lambda everything: look(everything=everything))
        dialog.unlock_wanted.connect(partial(self._unlock_for, dialog, look))
        dialog.write_wanted.connect(self._write)
        dialog.open()
        # Behind the edits that were typed last.
        self._runner.writes.slip_in(lambda: None, lambda _: look(everything=False))

    def _look_at(self, dialog: WriteDialog, ids: Sequence[str], *, everything: bool) -> None:
        rest = list(ids)

        def next_portion() -> None:
            portion, rest[:A_PORTION] = rest[:A_PORTION], []
            self._runner.reads.submit(
                partial(edit_jobs.preview_write, self._service, portion, everything=everything),
                take,
                self._window.messages.fail,
                what="Looking at the files",
            )

        def take(plans: list[FilePlan]) -> None:
            if not isValid(dialog) or dialog.everything.isChecked() != everything:
                return
            dialog.add(plans)
            if rest:
                next_portion()
            else:
                dialog.finish()

        next_portion()

    def _unlock_for(self, dialog: WriteDialog, look: Callable[..., None], root_ids: list[int]) -> None:
        def again() -> None:
            if isValid(dialog):
                dialog.clear()
                look(everything=dialog.everything.isChecked())

        self._unlocked(root_ids, "written to", again)

    def _write(self, ids: list[str], everything: bool, backup: bool) -> None:
        job = edit_jobs.write_job(self._service, ids, everything=everything, backup=backup)
        self._run(job, self._written)

    def _written(self, report: WriteReport) -> None:
        said = f"{text.plural(report.written, 'file')} written"
        if report.unchanged:
            said += f", {text.count(report.unchanged)} left as they were"
        notes = [f"{text.shown(path)}\t{note}" for path, note in report.notes]
        backups = [f"{path}\tthe old version" for path in report.backups]
        self._report(said, report.refused, notes + backups)

    def _report(self, said: str, refused: Sequence[Refusal], more: Sequence[str] = ()) -> None:
        """One sentence, and a list behind it where single files have something to say."""
        lines = [f"{refusal.path}\t{refusal.sentence}" for refusal in refused] + list(more)
        if refused:
            said += f". {text.plural(len(refused), 'file')} could not be"
        self._window.messages.say(
            said + ".",
            action="Show" if lines else "",
            call=lambda: self._window.messages.list_lines("File by file", lines),
        )

    def _run(self, job: Job, done: Callable[..., None]) -> None:
        job.finished.connect(done)
        job.failed.connect(self._window.messages.fail)
        job.ended.connect(self._inspector.after_change)
        self._window.status.jobs.add(job)
        self._runner.writes.submit(job)

    # --- names

    def rename(self) -> None:
        """Shows new names for the files of the selection."""
        clips = self._chosen("rename")
        if clips:
            self._unlocked(
                [clip.root_id for clip in clips], "renamed", partial(self._open_rename, [c.id for c in clips])
            )

    def _open_rename(self, ids: Sequence[str]) -> None:
        known = self._service.settings.extra.get(REMEMBERED)
        dialog = RenameDialog(self._window, ids, known if isinstance(known, dict) else {})
        dialog.preview_wanted.connect(partial(self._preview, dialog, ids))
        dialog.rename_wanted.connect(partial(self._rename, dialog))
        dialog.history_wanted.connect(self.show_history)
        dialog.open()
        dialog.ask()

    def _preview(
        self, dialog: RenameDialog, ids: Sequence[str], parts: NameParts, own: dict[str, str]
    ) -> None:
        def show(found: RenamePreview) -> None:
            if isValid(dialog):
                dialog.show_preview(found)

        self._runner.reads.submit(
            partial(edit_jobs.preview_rename, self._service, ids, parts, own),
            show,
            self._window.messages.fail,
            key="rename preview",
            what="The new names",
        )

    def _rename(self, dialog: RenameDialog, plan: RenamePlan) -> None:
        remembered = dialog.remembered()
        self._run(edit_jobs.rename_job(self._service, plan), self._renamed)
        self._runner.writes.slip_in(
            lambda: jobs.save_settings(self._service, lambda extra: extra.update({REMEMBERED: remembered})),
            what="Remembering the pattern",
        )

    def _renamed(self, report: RenameReport) -> None:
        self._inspector.offer_undo(f"{text.plural(report.renamed, 'file')} renamed.")

    def show_history(self) -> None:
        """Shows former renamings."""
        dialog = RenameHistory(self._window)
        dialog.reverse_wanted.connect(
            lambda log: self._run(edit_jobs.reverse_job(self._service, log), self._renamed)
        )
        dialog.open()

        def show(batches: list[edit_jobs.Batch]) -> None:
            if isValid(dialog):
                dialog.show_batches(batches)

        self._runner.reads.submit(
            partial(edit_jobs.rename_history, self._service), show, self._window.messages.fail
        )

    # --- throwing away

    def throw_away(self) -> None:
        """Puts the files of the selection into the wastebasket, once the user said so."""
        clips = self._chosen("throw away")
        if clips:
            ids = [clip.id for clip in clips]
            ask = partial(self._ask_to_throw_away, clips[0].name if len(ids) == 1 else "", ids)
            self._unlocked([clip.root_id for clip in clips], "thrown away", ask)

    def _ask_to_throw_away(self, name: str, ids: list[str]) -> None:
        what = text.shown(name, 80) or text.plural(len(ids), "file")
        self._window.messages.ask(
            f"Move {what} to the trash?",
            "What is known about it stays, and undo puts it back." if name
            else "What is known about them stays, and undo puts them back.",
            [("Move to trash", lambda: self._run(edit_jobs.trash_job(self._service, ids), self._thrown))],
        )  # fmt: skip

    def _thrown(self, report: TrashReport) -> None:
        if report.thrown:
            self._window.results.search.list_next()
        said = f"{text.plural(len(report.thrown), 'file')} moved to the trash"
        if report.refused or not report.thrown:
            self._report(said, report.refused)
            return
        self._inspector.offer_undo(said + ".")
