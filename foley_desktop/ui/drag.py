"""Files on their way out of the window, and files dropped on it.

Outwards only the copy action is offered: a target that moves what it is given would take the user's
original. Files are made ready when the button goes down, before a drag begins, and a drag begins only
from a mouse move with the button held.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from urllib.parse import unquote_to_bytes

from PySide6.QtCore import QMimeData, QObject, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QDrag, QFontMetrics, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from foley_desktop.errors import FoleyError
from foley_desktop.ui import icons, text, theme
from foley_desktop.ui.platform import file_url

Prepare = Callable[[Callable[[list[str]], None], Callable[[FoleyError], None]], None]
"""Has the files made ready elsewhere and calls the first function with them, or the second."""


def files_mime(paths: Sequence[str]) -> QMimeData:
    """``text/uri-list`` of ``paths`` in their order, and the plain paths for those who read only text.

    Every name comes out as the bytes it has on disk, in the list as in the text.
    """
    data = QMimeData()
    data.setUrls([file_url(path) for path in paths])
    data.setData("text/plain", b"\n".join(os.fsencode(path) for path in paths))
    return data


def dropped_paths(data: QMimeData) -> tuple[list[str], int]:
    """Local paths in dropped data, and how many things in it are none.

    The bytes of the URI list are read here: Qt makes ``//localhost/x`` of ``file://localhost/x``.
    """
    if not data.hasUrls():
        return [], 1
    raw = bytes(data.data("text/uri-list").data())
    lines = [line.strip() for line in raw.replace(b"\r", b"\n").split(b"\n")]
    paths, others = [], 0
    for line in lines:
        if not line or line.startswith(b"#"):
            continue
        path = _local_path(line)
        if path is None:
            others += 1
        else:
            paths.append(path)
    return paths, others


def _local_path(url: bytes) -> str | None:
    if not url.lower().startswith(b"file:"):
        return None
    rest, host = url[len(b"file:") :], b""
    if rest.startswith(b"//"):
        host, slash, tail = rest[2:].partition(b"/")
        if host.lower() in (b"localhost", b"127.0.0.1"):
            host = b""
        rest = slash + tail
    raw = unquote_to_bytes(rest)
    if not raw.startswith(b"/") or b"\0" in raw:
        return None
    if os.name == "nt":
        return os.path.normpath(windows_path(host, raw))
    return None if host else os.path.normpath(os.fsdecode(raw))


def windows_path(host: bytes, path: bytes) -> str:
    """The path that a file URL means on Windows: a share of a host, or a drive's."""
    text = path.decode("utf-8", "replace")
    if host:
        return rf"\\{host.decode('utf-8', 'replace')}" + text.replace("/", "\\")
    return text.lstrip("/").replace("/", "\\")


class DragSource(QObject):
    """One drag after another: prepared on the press, started by a move, never without the button."""

    failed = Signal(object)
    began = Signal()
    taken = Signal()
    """A receiver accepted the files."""
    finished = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._press = 0
        self._paths: list[str] | None = None
        self._label = ""
        self._drag: QDrag | None = None

    def prepare(self, label: str, prepare: Prepare) -> None:
        """The button went down; ``label`` is written beside the pointer while dragging."""
        self._press += 1
        self._paths = None
        self._label = label
        press = self._press

        def ready(paths: list[str]) -> None:
            if press == self._press:
                self._paths = paths

        def broken(error: FoleyError) -> None:
            if press == self._press and QApplication.mouseButtons() & Qt.MouseButton.LeftButton:
                self.failed.emit(error)

        prepare(ready, broken)

    @property
    def paths(self) -> list[str] | None:
        """The files that are ready to go; None while they are being made."""
        return self._paths

    def start(self, source: QWidget) -> bool:
        """Called on a mouse move with the button down; False while the files are not ready yet."""
        if not self._paths or self._drag is not None:
            return False
        paths, self._paths = self._paths, None
        self._drag = drag = QDrag(source)
        drag.setMimeData(files_mime(paths))
        drag.setPixmap(_picture(self._label, len(paths), source.devicePixelRatioF()))
        drag.setHotSpot(QPoint(-10, -6))
        self.began.emit()
        answer = Qt.DropAction.IgnoreAction
        try:
            answer = drag.exec(Qt.DropAction.CopyAction, Qt.DropAction.CopyAction)
        finally:
            self._drag = None
            # A drop on another panel of this window hands nothing over.
            if answer != Qt.DropAction.IgnoreAction and drag.target() is None:
                self.taken.emit()
            self.finished.emit()
        return True


def _picture(label: str, count: int, ratio: float) -> QPixmap:
    words = text.shown(label, 60) if count == 1 else f"{count} sounds"
    metrics = QFontMetrics(QApplication.font())
    words = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, 260)
    width, height = metrics.horizontalAdvance(words) + 40, 26
    picture = QPixmap(round(width * ratio), round(height * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(theme.colour("selection"))
    painter.setPen(theme.colour("accent"))
    painter.drawRoundedRect(QRectF(0.5, 0.5, width - 1, height - 1), 6, 6)
    icons.paint(painter, "library", QRectF(8, 5, 16, 16), theme.colour("accent"))
    painter.setPen(theme.colour("text"))
    painter.drawText(QRectF(31, 0, width - 36, height), Qt.AlignmentFlag.AlignVCenter, words)
    painter.end()
    return picture
