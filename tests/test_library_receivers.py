"""Sending files: an editor that is started, a folder, REAPER; the files themselves stay where they are."""

from __future__ import annotations

import http.server
import os
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.errors import TransferError
from foley_desktop.library.reaper import ReaperReceiver, script, write_list
from foley_desktop.library.receivers import (
    EditorReceiver,
    FolderReceiver,
    command_lines,
    receivers,
)
from foley_desktop.settings import DataFolder, Settings

ODD = (
    "100% rain.wav",
    "take #3.wav",
    "$(touch gone); `x` & 'y' \"z\".wav",
    "line\nbreak.wav",
    "-rf.wav",
    b"caf\xe9.wav".decode("utf-8", "surrogateescape"),
)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    folder = tmp_path / "sounds"
    folder.mkdir()
    paths = [os.path.join(folder, name) for name in ODD]
    for path in paths:
        Path(path).write_bytes(b"sound of " + os.fsencode(path))
    return paths


# ---------------------------------------------------------------- editors


@pytest.mark.parametrize(
    ("template", "lines"),
    [
        ("edit", [["edit", "/s/a b.wav", "/s/-c.wav"]]),
        ("edit --new {files} --end", [["edit", "--new", "/s/a b.wav", "/s/-c.wav", "--end"]]),
        ("'my editor' -f {file}", [["my editor", "-f", "/s/a b.wav"], ["my editor", "-f", "/s/-c.wav"]]),
        ("edit file={file}", [["edit", "file=/s/a b.wav"], ["edit", "file=/s/-c.wav"]]),
    ],
)
def test_commands(template: str, lines: list[list[str]]) -> None:
    assert command_lines(template, ["/s/a b.wav", "/s/-c.wav"]) == lines


@given(
    st.lists(st.binary(min_size=1, max_size=30).filter(lambda raw: not set(raw) & set(b"/\0")), min_size=1)
)
def test_a_name_is_never_more_than_a_name(names: list[bytes]) -> None:
    files = [os.fsdecode(b"/sounds/x" + name) for name in names]
    assert command_lines("edit -x {files}", files) == [["edit", "-x", *files]]
    assert command_lines("edit {file}", files) == [["edit", file] for file in files]


@pytest.mark.parametrize("template", ["", "   ", "edit 'x", "{files}", "{file} x"])
def test_what_is_no_command_is_told(template: str) -> None:
    with pytest.raises(TransferError):
        command_lines(template, ["/a.wav"])


def test_an_editor_gets_exactly_the_files(tmp_path: Path, files: list[str]) -> None:
    out = tmp_path / "got"
    program = f"import os, sys; open({str(out)!r}, 'wb').write(b'\\0'.join(map(os.fsencode, sys.argv[1:])))"
    editor = tmp_path / "the editor.py"
    editor.write_text(program)
    said = EditorReceiver("Ed", f"{sys.executable} '{editor}' {{files}}").send(files)
    assert said == f"{len(files)} opened in Ed."
    assert out.read_bytes().split(b"\0") == [os.fsencode(file) for file in files]
    assert not (tmp_path / "gone").exists() and all(os.path.exists(file) for file in files)


@pytest.mark.parametrize(
    ("template", "said"),
    [("no-such-editor-here", "cannot be started"), (f"{sys.executable} -c 'exit(3)'", "code 3")],
)
def test_an_editor_that_does_not_start_is_told(template: str, said: str) -> None:
    with pytest.raises(TransferError, match=said):
        EditorReceiver("Ed", template).send(["/a.wav"])


def test_a_folder_gets_copies_and_loses_nothing(tmp_path: Path, files: list[str]) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "take #3.wav").write_bytes(b"mine")
    FolderReceiver(str(target)).send(files)
    assert (target / "take #3.wav").read_bytes() == b"mine"
    assert (target / "take #3 2.wav").read_bytes() == Path(files[1]).read_bytes()
    assert len(list(target.iterdir())) == len(files) + 1
    with pytest.raises(TransferError):
        FolderReceiver(str(tmp_path / "nowhere")).send(files[:1])
    with pytest.raises(TransferError):
        FolderReceiver(str(target)).send([str(tmp_path / "missing.wav")])


# ---------------------------------------------------------------- REAPER


class Reaper(http.server.BaseHTTPRequestHandler):
    """Does what REAPER's web interface does with the requests we make; the script is done by hand."""

    states: dict[str, str]
    actions: list[str]
    inserted: list[bytes]
    knows = "_RSscript"
    refuses = False

    def do_GET(self) -> None:
        path = self.path
        if self.refuses or not path.startswith("/_/"):
            self.send_error(404)
            return
        said = "".join(self._do(request) for request in path[3:].split(";"))
        body = said.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _do(self, request: str) -> str:
        cls = type(self)
        if request.startswith("SET/EXTSTATE/"):
            section, key, value = request[len("SET/EXTSTATE/") :].split("/")
            cls.states[f"{section}/{key}"] = urllib.parse.unquote(value, errors="surrogateescape")
        elif request.startswith("GET/EXTSTATE/"):
            name = request[len("GET/EXTSTATE/") :]
            return f"EXTSTATE\t{name.replace('/', chr(9))}\t{cls.states.get(name, '')}\n"
        elif request == cls.knows:
            cls.actions.append(request)
            lines = Path(cls.states["FoleyDesktop/list"]).read_bytes().splitlines()
            cls.inserted += [urllib.parse.unquote_to_bytes(line) for line in lines]
            cls.states["FoleyDesktop/result"] = str(len(lines))
        return ""

    def log_message(self, *words: object) -> None: ...


@pytest.fixture
def reaper() -> Iterator[tuple[type[Reaper], str]]:
    handler = type("Handler", (Reaper,), {"states": {}, "actions": [], "inserted": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield handler, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_reaper_inserts_files_of_any_name(
    reaper: tuple[type[Reaper], str], tmp_path: Path, files: list[str]
) -> None:
    handler, address = reaper
    receiver = ReaperReceiver(tmp_path / "lists of %", address + "/", "_RSscript", None)
    assert receiver.send(files) == f"REAPER inserted {len(files)} files at its edit cursor."
    assert handler.inserted == [os.fsencode(file) for file in files]
    assert handler.actions == ["_RSscript"] and not list((tmp_path / "lists of %").iterdir())
    assert receiver.send(files[:1]) == "REAPER inserted 1 file at its edit cursor."


def test_reaper_without_the_script_is_told(
    reaper: tuple[type[Reaper], str], tmp_path: Path, monkeypatch
) -> None:  # type: ignore[no-untyped-def]
    from foley_desktop.library import reaper as module

    monkeypatch.setattr(module, "_ANSWER_S", 0.2)
    with pytest.raises(TransferError, match="does not know the script"):
        ReaperReceiver(tmp_path, reaper[1], "_RSother", None).send(["/a.wav"])
    reaper[0].refuses = True
    with pytest.raises(TransferError, match="refused: 404"):
        ReaperReceiver(tmp_path, reaper[1], "_RSscript", None).send(["/a.wav"])
    with pytest.raises(TransferError, match="http://"):
        ReaperReceiver(tmp_path, "file:///etc", "_RSscript", None).send(["/a.wav"])


def test_reaper_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="does not answer"):
        ReaperReceiver(tmp_path, "http://127.0.0.1:9", "_RSscript", None).send(["/a.wav"])


def test_an_action_file_collects_what_waits(tmp_path: Path, files: list[str]) -> None:
    waiting = tmp_path / "folder" / "insert.txt"
    receiver = ReaperReceiver(tmp_path, "", "", waiting)
    receiver.send(files[:2])
    receiver.send(files[2:])
    lines = waiting.read_bytes().splitlines()
    assert [urllib.parse.unquote_to_bytes(line) for line in lines] == [os.fsencode(file) for file in files]
    (tmp_path / "blocked").write_bytes(b"")
    with pytest.raises(TransferError):
        write_list(tmp_path / "blocked" / "insert.txt", files)


def test_the_script_knows_its_list() -> None:
    assert 'WATCHED = "/a%20b/%C3%BC.txt"' in script("/a b/ü.txt") and 'WATCHED = ""' in script("")


def test_only_what_is_set_up_is_offered(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    assert (
        receivers(
            Settings(extra={"editor_command": 3, "reaper_address": "http://x", "send_folder": "x"}), data
        )
        == []
    )
    extra = {
        "editor_command": "/usr/bin/audacity {files}",
        "reaper_file": "/tmp/x.txt",
        "send_folder": str(tmp_path / "Inbox"),
    }
    found = receivers(Settings(extra=extra), data)
    assert [receiver.name for receiver in found] == ["REAPER", "Inbox", "audacity"]
