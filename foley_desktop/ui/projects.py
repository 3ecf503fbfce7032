"""Projects in the window: choosing the current one, making, renaming and removing them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from foley_desktop.library.bins import Bin
from foley_desktop.ui import prompt, text
from foley_desktop.ui.menu_button import plain
from foley_desktop.workers import transfer_jobs

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow


class Projects(QObject):
    """Every change is written in the background; the handover then tells of the new manner."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def fill(self, menu: QMenu) -> None:
        """The menu of projects."""
        manner = self._window.handover.manner
        for project in manner.projects:
            things = f"\t{project.count}" if project.count else ""
            action = menu.addAction(plain(project.name, 60) + things)
            action.setCheckable(True)
            action.setChecked(project.current)
            action.triggered.connect(partial(self._later, self.choose, project.name))
        menu.addSeparator()
        menu.addAction("New project …", self.ask_new)
        menu.addAction("Rename …", partial(self.ask_rename, manner.project))
        menu.addAction("Remove …", partial(self.ask_remove, manner.project))

    @staticmethod
    def _later(call: Callable[[str], object], name: str, _: bool = False) -> None:
        call(name)

    def choose(self, name: str) -> None:
        """Makes a project the current one, and makes it if there is none of that name."""
        self._change(partial(transfer_jobs.choose_project, self._window.service, name))

    def ask_new(self) -> None:
        prompt.ask_line(
            self._window,
            "New project",
            "It gets a bin of its own. Files are named by it, and what you use is remembered for it.",
            "",
            "Make",
            self.choose,
        )

    def ask_rename(self, project: Bin) -> None:
        prompt.ask_line(
            self._window,
            "Rename the project",
            "Files that were made already keep their names.",
            project.name,
            "Rename",
            lambda name: self._change(
                partial(transfer_jobs.rename_project, self._window.service, project.id, name)
            ),
        )

    def ask_remove(self, project: Bin) -> None:
        things = text.plural(project.count, "thing")
        self._window.messages.ask(
            f"Remove the project {project.name}?",
            f"Its bin with {things} is forgotten. Sounds, and files that were made for it, stay.",
            [
                (
                    "Remove",
                    lambda: self._change(
                        partial(transfer_jobs.remove_project, self._window.service, project.id)
                    ),
                )
            ],
        )

    def _change(self, work: Callable[[], Any]) -> None:
        window = self._window
        window.runner.writes.slip_in(work, window.handover.set_manner, window.messages.fail, "The project")
