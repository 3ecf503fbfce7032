"""What differs between desktops: showing a file where it lives. One room to change per platform."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from foley_desktop.errors import FoleyError


def file_url(path: str) -> QUrl:
    """The URL of a local path, exact even for names that are not text.

    ``QUrl.fromLocalFile`` cannot hold bytes that are not UTF-8; percent-encoding them by hand can.
    """
    return QUrl.fromEncoded(Path(path).as_uri().encode("ascii"), QUrl.ParsingMode.StrictMode)


def reveal_command(path: str) -> Sequence[str] | None:
    """The command that shows a file selected in the file manager; None where there is only a folder."""
    if sys.platform == "darwin":
        return ["open", "-R", path]
    if sys.platform == "win32":
        return ["explorer", f"/select,{path}"]
    return None


def reveal(path: str) -> str | None:
    """Shows a file selected in its folder, or gives the folder that :func:`open_folder` is to open.

    Looks at the disk: not for the GUI thread.

    Raises:
        FoleyError: when neither the file nor its folder is there.
    """
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    if not os.path.isdir(folder):
        raise FoleyError(f"The folder {folder} is not there now.", hint="Connect its drive.")
    command = reveal_command(path)
    if command is None:
        return None if os.path.lexists(path) and shown_by_file_manager(path) else folder
    subprocess.Popen(command)
    return None


def shown_by_file_manager(path: str) -> bool:
    """Asks the desktop's file manager over D-Bus to show a file selected; False where there is none to ask.

    The interface is ``org.freedesktop.FileManager1``, which Nautilus, Dolphin, Nemo, Thunar and others have.
    """
    if not os.environ.get("DBUS_SESSION_BUS_ADDRESS") or shutil.which("dbus-send") is None:
        return False
    url = Path(path).as_uri().replace(",", "%2C")  # a comma would begin another element of the array
    command = ["dbus-send", "--session", "--print-reply", "--reply-timeout=2000"]
    command += ["--dest=org.freedesktop.FileManager1", "/org/freedesktop/FileManager1"]
    command += ["org.freedesktop.FileManager1.ShowItems", f"array:string:{url}", "string:"]
    try:
        return subprocess.run(command, capture_output=True, timeout=5, check=False).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def open_folder(folder: str) -> bool:
    """Opens a folder in the file manager; whether that could be asked for. For the GUI thread."""
    return QDesktopServices.openUrl(file_url(folder))
