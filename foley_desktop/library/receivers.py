"""Where files can be sent to besides a drag: an editor that is started, REAPER, a folder. One protocol.

A receiver is only ever given paths; it refers to the files or reads them. Nothing here moves a file.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from foley_desktop.audio.naming import plain_name
from foley_desktop.audio.target import TargetExistsError, new_file
from foley_desktop.errors import TransferError
from foley_desktop.library.reaper import ReaperReceiver
from foley_desktop.settings import DataFolder, Settings

EDITOR, EDITOR_NAME, SEND_FOLDER = "editor_command", "editor_name", "send_folder"
REAPER_ADDRESS, REAPER_ACTION, REAPER_FILE = "reaper_address", "reaper_action", "reaper_file"
"""Keys of the settings' free part."""

_EARLY_S = 0.6
"""An editor that ends with an error within this time has not taken the files."""


class Receiver(Protocol):
    """Something that takes files. ``label`` is what choosing it does, in a menu."""

    name: str
    label: str

    def send(self, files: Sequence[str]) -> str:
        """Hands files over; gives a sentence that says what happened. Blocks for a second or so.

        Raises:
            TransferError: it does not take them, with what to do.
        """


class EditorReceiver:
    """A program that is started with the files.

    Args:
        name: What it is called in menus.
        template: Its command line. ``{files}`` stands for all files as arguments of their own, ``{file}`` for
            one file, for each of which the program is then started; without either the files come last.
    """

    def __init__(self, name: str, template: str) -> None:
        self.name = name
        self.label = f"Open in {name}"
        self._template = template

    def send(self, files: Sequence[str]) -> str:
        commands = command_lines(self._template, files)
        for command in commands:
            self._start(command)
        return f"{len(files)} opened in {self.name}." if len(files) > 1 else f"Opened in {self.name}."

    def _start(self, command: Sequence[str]) -> None:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise TransferError(
                f"{self.name} cannot be started: {getattr(error, 'strerror', None) or error}.",
                hint="Check its command in the settings, under Handing over.",
                cause=error,
            ) from error
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(_EARLY_S)
            if code:
                raise TransferError(
                    f"{self.name} ended at once, with code {code}.",
                    hint="Check its command in the settings, under Handing over.",
                )
        if process.returncode is not None:
            return
        # It lives on by itself; someone has to take notice of its end all the same.
        threading.Thread(target=process.wait, name="editor", daemon=True).start()


def command_lines(template: str, files: Sequence[str]) -> list[list[str]]:
    """The commands, as arguments, that open ``files``. No shell reads them: a name is never more than a name.

    Raises:
        TransferError: the template is no command.
    """
    try:
        words = shlex.split(template, posix=os.name != "nt")
    except ValueError as error:
        raise TransferError(
            "The editor's command is not understood.", hint="A quotation mark has no partner.", cause=error
        ) from error
    if os.name == "nt":
        words = [word.strip('"') for word in words]
    if not words or "{file" in words[0]:
        raise TransferError(
            "No editor is set up.", hint="Enter its command in the settings, under Handing over."
        )
    safe = [os.path.abspath(file) for file in files]  # never begins with a dash
    if any("{file}" in word for word in words):
        return [[word.replace("{file}", file) for word in words] for file in safe]
    if "{files}" not in words:
        words = [*words, "{files}"]
    spread: list[str] = []
    for word in words:
        spread.extend(safe if word == "{files}" else [word])
    return [spread]


class FolderReceiver:
    """A folder that files are copied into, each under a name that no file has there yet."""

    def __init__(self, folder: str) -> None:
        self.name = os.path.basename(folder.rstrip("/\\")) or folder
        self.label = f"Copy to {self.name}"
        self._folder = folder

    def send(self, files: Sequence[str]) -> str:
        for file in files:
            self._copy(file)
        return f"{len(files)} copied to {self.name}." if len(files) > 1 else f"Copied to {self.name}."

    def _copy(self, file: str) -> None:
        stem, extension = os.path.splitext(os.path.basename(file))
        for number in itertools.count(1):
            name = plain_name(stem) + (f" {number}" if number > 1 else "") + extension
            try:
                with (
                    open(os.fsencode(file), "rb") as source,
                    new_file(Path(self._folder) / name, overwrite=False) as copy,
                ):
                    shutil.copyfileobj(source, copy, 1 << 20)
                return
            except TargetExistsError:
                continue
            except OSError as error:
                raise TransferError(
                    f"{name} cannot be copied: {error.strerror or error}.",
                    hint="Choose another folder, or make room on its disk.",
                    cause=error,
                ) from error


def receivers(settings: Settings, data: DataFolder) -> list[Receiver]:
    """Those that are set up, REAPER first."""
    extra, found = settings.extra, list[Receiver]()
    address, action, file = (_text(extra.get(key)) for key in (REAPER_ADDRESS, REAPER_ACTION, REAPER_FILE))
    if (address and action) or file:
        found.append(ReaperReceiver(data.path / "reaper", address, action, Path(file) if file else None))
    folder = _text(extra.get(SEND_FOLDER))
    if os.path.isabs(folder):
        found.append(FolderReceiver(folder))
    command = _text(extra.get(EDITOR))
    if command:
        found.append(EditorReceiver(_text(extra.get(EDITOR_NAME)) or _program(command), command))
    return found


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _program(command: str) -> str:
    """What an editor is called when nobody gave it a name."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    return os.path.basename(words[0]) if words else "the editor"
