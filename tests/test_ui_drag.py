"""Files on their way out and in: every byte of a name survives, and a copy is all that is offered."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, Qt
from ui_support import ODD_NAMES

from foley_desktop.errors import FoleyError
from foley_desktop.ui import drag
from foley_desktop.ui.drag import DragSource, dropped_paths, files_mime

pytestmark = pytest.mark.gui


def uri_list(data: QMimeData) -> bytes:
    return bytes(data.data("text/uri-list").data())


def receive(data: QMimeData) -> list[bytes]:
    """The paths another program reads from a URI list, as RFC 2483 has it."""
    lines = uri_list(data).split(b"\r\n")
    assert all(line.startswith(b"file:///") for line in lines if line)
    return [unquote_to_bytes(line[len(b"file://") :]) for line in lines if line]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_receiver_finds_the_file_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = os.path.join(tmp_path, name)
    Path(path).write_bytes(b"sound of " + os.fsencode(name))
    (received,) = receive(files_mime([path]))
    assert received == os.fsencode(path)
    with open(received, "rb") as file:
        assert file.read() == b"sound of " + os.fsencode(name)


def test_many_files_keep_their_order_and_end_their_lines_as_the_format_asks() -> None:
    paths = [f"/s/{n}.wav" for n in (3, 1, 2)]
    data = files_mime(paths)
    assert uri_list(data).count(b"\r\n") >= 2
    assert uri_list(data).replace(b"\r\n", b"").count(b"\n") == 0
    assert receive(data) == [path.encode() for path in paths]
    assert data.formats() == ["text/uri-list", "text/plain"]
    assert bytes(data.data("text/plain").data()) == b"/s/3.wav\n/s/1.wav\n/s/2.wav", "for who reads only text"


@given(st.binary(min_size=1, max_size=40).filter(lambda raw: not set(raw) & set(b"/\0")))
def test_any_name_goes_out_and_comes_in_again(raw: bytes) -> None:
    if raw in (b".", b".."):
        return
    path = os.fsdecode(b"/sounds/" + raw)
    data = files_mime([path])
    assert receive(data) == [os.fsencode(path)]
    assert dropped_paths(data) == ([path], 0)


@pytest.mark.parametrize(
    ("lines", "paths", "others"),
    [
        (b"file:///tmp/a\r\nfile:///tmp/b%20c\r\n", ["/tmp/a", "/tmp/b c"], 0),
        (b"file://localhost/tmp/x\r\n", ["/tmp/x"], 0),
        (b"file:/tmp/x\n", ["/tmp/x"], 0),
        (b"# comment\r\nfile:///tmp/x", ["/tmp/x"], 0),
        (b"https://example.org/a.wav\r\nfile:///tmp/x\r\n", ["/tmp/x"], 1),
        (b"file://server/share/x\r\n", [], 1),
        (b"file:///tmp/caf%E9\r\n", [os.fsdecode(b"/tmp/caf\xe9")], 0),
        (b"file:///tmp/%00\r\n", [], 1),
        (b"file:///tmp/folder/\r\n", ["/tmp/folder"], 0),
    ],
)
def test_dropped_things_are_sorted(lines: bytes, paths: list[str], others: int) -> None:
    data = QMimeData()
    data.setData("text/uri-list", lines)
    assert dropped_paths(data) == (paths, others)


@pytest.mark.parametrize(
    ("host", "path", "meant"),
    [
        (b"", b"/C:/My Sounds/100% #1.wav", r"C:\My Sounds\100% #1.wav"),
        (b"nas", b"/effects/a b.wav", r"\\nas\effects\a b.wav"),
        (b"", b"/D:/\xc3\xbc.wav", "D:\\ü.wav"),
    ],
)
def test_file_urls_as_windows_means_them(host: bytes, path: bytes, meant: str) -> None:
    assert drag.windows_path(host, path) == meant


def test_a_document_of_a_portal_is_a_file(tmp_path: Path) -> None:
    """Sandboxed programs drop paths below /run/user/…/doc, beside a key that only portals understand."""
    data = QMimeData()
    data.setData("text/uri-list", b"file:///run/user/1000/doc/8a1f00e/Rain%20%231.wav\r\n")
    data.setData("application/vnd.portal.filetransfer", b"some key")
    assert dropped_paths(data) == (["/run/user/1000/doc/8a1f00e/Rain #1.wav"], 0)


def test_dropped_text_is_no_file() -> None:
    data = QMimeData()
    data.setText("/etc/passwd")
    assert dropped_paths(data) == ([], 1)


class FakeDrag:
    """Stands for the desktop's side of a drag, which no test can hold by the hand."""

    made: list[FakeDrag] = []  # noqa: RUF012
    answer = Qt.DropAction.CopyAction
    panel: object = None
    """A panel of our own that it was dropped on."""

    def __init__(self, source: object) -> None:
        self.mime: QMimeData | None = None
        self.offered: tuple[Any, ...] = ()
        FakeDrag.made.append(self)

    def setMimeData(self, data: QMimeData) -> None:
        self.mime = data

    def setPixmap(self, pixmap: object) -> None: ...

    def setHotSpot(self, point: object) -> None: ...

    def exec(self, *actions: Any) -> Qt.DropAction:
        self.offered = actions
        return self.answer

    def target(self) -> object:
        return self.panel


@pytest.fixture
def drags(monkeypatch: pytest.MonkeyPatch) -> list[FakeDrag]:
    FakeDrag.made = []
    monkeypatch.setattr(drag, "QDrag", FakeDrag)
    return FakeDrag.made


def test_a_drag_waits_for_its_files_and_offers_a_copy_only(qtbot: Any, drags: list[FakeDrag]) -> None:
    from PySide6.QtWidgets import QLabel

    widget = QLabel()
    qtbot.addWidget(widget)
    source, answers = DragSource(), []
    source.prepare("door.wav", lambda ready, broken: answers.append((ready, broken)))
    assert not source.start(widget), "the files are not there yet"
    answers[0][0](["/s/door.wav"])
    assert source.start(widget)
    assert drags[0].offered == (Qt.DropAction.CopyAction, Qt.DropAction.CopyAction)
    assert drags[0].mime is not None and receive(drags[0].mime) == [b"/s/door.wav"]
    assert not source.start(widget), "one press is one drag"


@pytest.mark.parametrize(
    ("answer", "panel", "taken"),
    [(Qt.DropAction.CopyAction, None, 1), (Qt.DropAction.IgnoreAction, None, 0),
     (Qt.DropAction.CopyAction, "the sidebar", 0)],
)  # fmt: skip
def test_only_what_another_program_took_is_taken(
    qtbot: Any, drags: list[FakeDrag], monkeypatch: pytest.MonkeyPatch, answer: Any, panel: object, taken: int
) -> None:
    from PySide6.QtWidgets import QLabel

    monkeypatch.setattr(FakeDrag, "answer", answer)
    monkeypatch.setattr(FakeDrag, "panel", panel)
    widget, told = QLabel(), []
    qtbot.addWidget(widget)
    source = DragSource()
    source.taken.connect(lambda: told.append("taken"))
    source.began.connect(lambda: told.append("began"))
    source.finished.connect(lambda: told.append("finished"))
    source.prepare("x", lambda ready, broken: ready(["/s/x.wav"]))
    assert source.start(widget)
    assert told == ["began", *["taken"] * taken, "finished"]


def test_files_of_an_older_press_never_ride_along(qtbot: Any, drags: list[FakeDrag]) -> None:
    from PySide6.QtWidgets import QLabel

    widget = QLabel()
    qtbot.addWidget(widget)
    source, answers = DragSource(), []
    for name in ("old", "new"):
        source.prepare(name, lambda ready, broken: answers.append(ready))
    answers[1](["/s/new.wav"])
    answers[0](["/s/old.wav"])
    assert source.start(widget)
    assert drags[0].mime is not None and receive(drags[0].mime) == [b"/s/new.wav"]


def test_no_drag_without_files(qtbot: Any, drags: list[FakeDrag]) -> None:
    from PySide6.QtWidgets import QLabel

    widget = QLabel()
    qtbot.addWidget(widget)
    source = DragSource()
    source.prepare("x", lambda ready, broken: broken(FoleyError("It is not there.")))
    assert not source.start(widget) and drags == []
