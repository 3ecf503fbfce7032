"""REAPER as a receiver: files go to the edit cursor, through its web interface or through an action file.

REAPER's web interface runs actions but inserts no files, so a small script of ours does that inside REAPER.
It is told of a list of files, inserts them and says how many. By web interface it is run as an action;
without one it watches a list file. The list holds paths percent-encoded, one a line: any name survives that.

The web interface's requests are those of REAPER's own ``reaper_www_root/main.js``.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Sequence
from pathlib import Path

from foley_desktop.errors import TransferError
from foley_desktop.settings import resource

SECTION = "FoleyDesktop"
_PENDING = "waiting"
_TIMEOUT_S = 3.0
_ANSWER_S = 2.0
_SETUP = "See Settings, Handing over: load the script into REAPER and enter its command ID."


class ReaperReceiver:
    """Inserts files at REAPER's edit cursor.

    Args:
        folder: Where lists of files are written.
        address: Of REAPER's web interface, such as ``http://localhost:8080``; empty without one.
        action: Command ID of the script in REAPER, ``_RS…``.
        file: A list file that the script watches, where there is no web interface.
    """

    name = "REAPER"
    label = "Insert in REAPER, at the edit cursor"

    def __init__(self, folder: Path, address: str, action: str, file: Path | None) -> None:
        self._folder = folder
        self._address = address.rstrip("/")
        self._action = action
        self._file = file

    def send(self, files: Sequence[str]) -> str:
        """See :class:`foley_desktop.library.receivers.Receiver`."""
        if self._address and self._action:
            return self._by_web(files)
        assert self._file is not None
        write_list(self._file, files)
        return f"Handed to REAPER: {_counted(files)}, at its edit cursor."

    def _by_web(self, files: Sequence[str]) -> str:
        path = self._folder / f"{uuid.uuid4().hex}.txt"
        write_list(path, files)
        try:
            answer = self._ask(
                f"SET/EXTSTATE/{SECTION}/result/{_PENDING}",
                f"SET/EXTSTATE/{SECTION}/list/{urllib.parse.quote(os.fsencode(path), safe='')}",
                urllib.parse.quote(self._action, safe="_"),
            )
            deadline = time.monotonic() + _ANSWER_S
            while (answer := self._result()) == _PENDING and time.monotonic() < deadline:
                time.sleep(0.05)
        finally:
            with contextlib.suppress(OSError):
                path.unlink()
        if answer == _PENDING or not answer:
            raise TransferError("REAPER does not know the script for inserting files.", hint=_SETUP)
        if not answer.isdigit():
            raise TransferError(f"REAPER could not insert the files: {answer}.")
        if int(answer) < len(files):
            raise TransferError(
                f"REAPER inserted {answer} of {len(files)} files.", hint="See its own messages."
            )
        return f"REAPER inserted {_counted(files)} at its edit cursor."

    def _result(self) -> str:
        """What the script has said; its tabs, line ends and backslashes come escaped."""
        for line in self._ask(f"GET/EXTSTATE/{SECTION}/result").splitlines():
            parts = line.split("\t")
            if parts[:3] == ["EXTSTATE", SECTION, "result"]:
                return parts[3] if len(parts) > 3 else ""
        return ""

    def _ask(self, *requests: str) -> str:
        address = f"{self._address}/_/{';'.join(requests)}"
        if urllib.parse.urlsplit(address).scheme not in ("http", "https"):
            raise TransferError("The address of REAPER's web interface has to begin with http://.")
        # Without the system's proxies: it is on this machine, or on one beside it.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(address, timeout=_TIMEOUT_S) as response:
                return str(response.read(1 << 16).decode("utf-8", "replace"))
        except urllib.error.HTTPError as error:
            error.close()
            raise TransferError(
                f"REAPER's web interface refused: {error.code} {error.reason}.",
                hint="Check the address, and that it asks for no password.",
                cause=error,
            ) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise TransferError(
                f"REAPER does not answer at {self._address}.",
                hint="Start it, and switch on its web browser interface under Preferences, Control/OSC/web.",
                cause=error,
            ) from error


def write_list(path: Path, files: Sequence[str]) -> None:
    """Writes the list of files, whole or not at all; one that waits there already is added to.

    Raises:
        TransferError: it cannot be written.
    """
    lines = "".join(urllib.parse.quote(os.fsencode(file)) + "\n" for file in files)
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            lines = path.read_text("ascii", "replace") + lines
        part.write_text(lines, "ascii")
        os.replace(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise TransferError(
            f"The list for REAPER cannot be written: {error.strerror or error}.",
            hint="Choose another place for it in the settings, under Handing over.",
            cause=error,
        ) from error


def script(list_file: str) -> str:
    """The script to be loaded into REAPER; it watches ``list_file`` where it is not told of a list."""
    text = resource("reaper/foley_desktop_insert.lua").read_text("utf-8")
    return text.replace("@LIST_FILE@", urllib.parse.quote(os.fsencode(list_file)) if list_file else "")


def _counted(files: Sequence[str]) -> str:
    return f"{len(files)} files" if len(files) > 1 else "1 file"
