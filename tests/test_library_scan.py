"""The scanner: what it lists, in which order, and what it passes over."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from foley_desktop.library.scan import Surroundings, current_state, volume_of, walk


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


def names(folder: Path, prefix: bytes = b"") -> list[str]:
    return [os.fsdecode(file.rel_path) for file in walk(str(folder), prefix)]


def test_files_come_in_the_order_of_their_whole_paths(tmp_path: Path) -> None:
    touch(tmp_path, "b/z.wav", "b.wav", "b-1.wav", "a/x/y.wav", "a.WAV", "B.flac", "b/a.ogg", "é.mp3")
    found = [file.rel_path for file in walk(str(tmp_path))]
    assert found == sorted(found)
    assert len(found) == 8


def test_every_media_file_is_listed_and_nothing_else(tmp_path: Path) -> None:
    touch(
        tmp_path, "a.wav", "b.M4A", "clip.mov", "notes.txt", "a.wav.reapeaks", "wav", ".wav", "a.asd", "x.pk"
    )
    assert names(tmp_path) == ["a.wav", "b.M4A", "clip.mov"]


def test_companions_trash_and_hidden_folders_are_passed_over(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "a.wav",
        "._a.wav",
        ".hidden/b.wav",
        "$RECYCLE.BIN/c.wav",
        "#recycle/d.wav",
        "@eaDir/a.wav/e.wav",
    )
    touch(tmp_path, "__MACOSX/f.wav", "System Volume Information/g.wav", "Trash cans/h.wav", ".i.wav")
    assert names(tmp_path) == [".i.wav", "Trash cans/h.wav", "a.wav"]


def test_a_folder_named_like_a_file_is_a_folder(tmp_path: Path) -> None:
    touch(tmp_path, "loop.wav/inner.wav")
    assert names(tmp_path) == ["loop.wav/inner.wav"]


def test_a_walk_may_start_below_the_root(tmp_path: Path) -> None:
    touch(tmp_path, "a/b/c.wav", "a/b2/d.wav", "e.wav")
    assert names(tmp_path, b"a/b") == ["a/b/c.wav"]
    assert names(tmp_path, b"nowhere") == []


def test_symlinks_out_of_the_root_are_followed_once_and_loops_never(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    touch(root, "in/a.wav")
    touch(outside, "b.wav")
    (root / "up").symlink_to(root, target_is_directory=True)
    (root / "again").symlink_to(root / "in", target_is_directory=True)
    (root / "out 1").symlink_to(outside, target_is_directory=True)
    (root / "out 2").symlink_to(outside, target_is_directory=True)
    (outside / "back").symlink_to(root, target_is_directory=True)
    (outside / "self").symlink_to(outside, target_is_directory=True)
    (root / "file.wav").symlink_to(outside / "b.wav")
    assert names(root) == ["file.wav", "in/a.wav", "out 1/b.wav"]


def test_names_that_are_not_text_are_bytes_and_stay_so(tmp_path: Path) -> None:
    for name in (b"caf\xe9.wav", b"two\nlines.wav", "e\u0301.wav".encode(), "\u00e9.wav".encode()):
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_bytes(b"")
    found = {file.rel_path for file in walk(str(tmp_path))}
    assert found == {b"caf\xe9.wav", b"two\nlines.wav", "e\u0301.wav".encode(), "\u00e9.wav".encode()}


def test_what_is_no_plain_file_has_a_problem(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "dangling.wav").symlink_to(tmp_path / "nowhere")
    touch(tmp_path, "plain.wav")
    found = {os.fsdecode(file.rel_path): file.problem for file in walk(str(tmp_path))}
    assert found == {"pipe.wav": "not_audio", "dangling.wav": "vanished", "plain.wav": ""}


def test_a_very_deep_tree_ends_the_walk_in_peace(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    here = os.getcwd()
    try:
        os.chdir(folder)
        for _ in range(300):
            os.mkdir(b"deep")
            os.chdir(b"deep")
    finally:
        os.chdir(here)
    touch(tmp_path, "top.wav")
    assert names(tmp_path) == ["top.wav"]


@pytest.mark.skipif(os.name != "posix", reason="permissions as on POSIX systems")
def test_an_unreadable_folder_is_reported_and_does_not_end_the_walk(tmp_path: Path) -> None:
    touch(tmp_path, "a/one.wav", "lost+found/two.wav", "#recycle/three.wav", "z/four.wav")
    script = """
import os, sys
from foley_desktop.library.scan import Surroundings, walk
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)  # for root nothing is unreadable
noted = Surroundings()
print([file.rel_path for file in walk(sys.argv[1], b"", noted)], sorted(path for path, _ in noted.unreadable))
"""
    for folder in ("lost+found", "#recycle"):
        (tmp_path / folder).chmod(0)
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)
    try:
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent.parent,
        )
    finally:
        for folder in ("lost+found", "#recycle"):
            (tmp_path / folder).chmod(0o755)
    expected = f"{[b'a/one.wav', b'z/four.wav']} {[b'#recycle', b'lost+found']}\n"
    assert done.stdout == expected, done.stderr


def test_states_tell_content_apart_but_not_mounts(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"1")
    first = current_state(str(path))
    assert first is not None
    assert first.same_content(first._replace(dev=first.dev + 1))
    path.write_bytes(b"22")
    second = current_state(str(path))
    assert second is not None and not first.same_content(second)
    assert current_state(str(tmp_path / "none")) is None


def test_a_volume_is_known_while_its_folder_is_there(tmp_path: Path) -> None:
    assert volume_of(str(tmp_path)) == volume_of(str(tmp_path))
    assert volume_of(str(tmp_path / "none")) is None
    assert Surroundings().entries == 0
