"""What differs between desktops: showing a file where it lives. One room to change per platform."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices


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


def reveal(path: str) -> bool:
    """Shows a file or folder in the desktop's file manager; whether that could be asked for."""
    command = reveal_command(path)
    if command is not None:
        subprocess.Popen(command)
        return True
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    return QDesktopServices.openUrl(file_url(folder))
