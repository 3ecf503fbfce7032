"""Showing a file where it lives: selected by the desktop's file manager, or else by opening its folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from foley_desktop.errors import FoleyError
from foley_desktop.ui import platform

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other desktops need no bus")

ASK = "import sys; from foley_desktop.ui import platform; print(platform.reveal(sys.argv[1]))"


@on_linux
@pytest.mark.skipif(
    not (shutil.which("dbus-run-session") and shutil.which("dbus-send")), reason="there is no D-Bus here"
)
def test_the_file_manager_selects_the_file(tmp_path: Path) -> None:
    """On a bus of its own, with a file manager of ours on it."""
    file = tmp_path / "door, slow 100%.wav"
    file.touch()
    manager = Path(__file__).with_name("file_manager.py")
    script = f'"{sys.executable}" "{manager}" > shown & while ! grep -q ready shown; do sleep 0.05; done; '
    script += f'"{sys.executable}" -c "$ASK" "$FILE" > said; wait'
    environment = os.environ | {"ASK": ASK, "FILE": str(file), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(
        ["dbus-run-session", "--", "sh", "-c", script],
        cwd=tmp_path,
        env=environment,
        timeout=60,
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "said").read_text().strip() == "None"
    shown = (tmp_path / "shown").read_text().split()
    assert shown == ["ready", file.as_uri().replace(",", "%2C")]


@on_linux
def test_without_a_file_manager_the_folder_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    file = tmp_path / "door.wav"
    file.touch()
    assert platform.reveal(str(file)) == str(tmp_path)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/nobody")
    assert platform.reveal(str(file)) == str(tmp_path)
    assert platform.reveal(str(tmp_path / "gone.wav")) == str(tmp_path)


def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(FoleyError, match="not there now"):
        platform.reveal(str(tmp_path / "gone" / "door.wav"))
