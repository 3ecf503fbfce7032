"""Fetching a large file: every way ends in a clear state, and no half file passes for a whole one."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from file_server import FileServer, serving
from job_support import run_with_steps

from foley_desktop.errors import DownloadError
from foley_desktop.library import download as module
from foley_desktop.library.download import Fetched, Patience, Source, download
from foley_desktop.models import Progress

CONTENT = np.random.default_rng(0).bytes(600_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
QUICK = Patience(silence_s=0.5, attempts=2, pause_s=0.01)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving(CONTENT) as running:
        yield running


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "models" / "weights.pt"


def fetch(source: Source, target: Path) -> tuple[Fetched, list[Progress]]:
    return run_with_steps(download(source, target, patience=QUICK))


def leftovers(target: Path) -> set[str]:
    return {path.name for path in target.parent.iterdir() if not path.name.endswith(".lock")}


def test_a_file_comes_whole_and_is_checked(server: FileServer, target: Path) -> None:
    fetched, steps = fetch(Source(server.address, SHA256, len(CONTENT)), target)
    assert fetched == Fetched(target, SHA256, True)
    assert target.read_bytes() == CONTENT
    assert leftovers(target) == {"weights.pt"}
    done = [step.done for step in steps if step.what.startswith("Fetching")]
    assert done == sorted(done)
    assert done[-1] == len(CONTENT)


def test_without_a_checksum_it_is_called_unverified(server: FileServer, target: Path) -> None:
    fetched, _ = fetch(Source(server.address), target)
    assert (fetched.sha256, fetched.verified) == (SHA256, False)


def test_a_cut_is_taken_up_where_it_broke_off(server: FileServer, target: Path) -> None:
    server.cut_after = 300_000
    fetched, _ = fetch(Source(server.address), target)
    assert target.read_bytes() == CONTENT
    assert fetched.sha256 == SHA256
    assert server.requests[0] is None
    assert int(server.requests[1].removeprefix("bytes=").removesuffix("-")) >= 300_000  # type: ignore[union-attr]


def test_what_was_fetched_serves_the_next_run(server: FileServer, target: Path) -> None:
    server.cut_after, server.status = 100_000, None
    job = download(Source(server.address), target, patience=QUICK)
    for step in job:
        if step.done >= 100_000:
            break
    job.close()
    held = (target.parent / "weights.pt.part").stat().st_size
    assert 0 < held < len(CONTENT)
    assert not target.exists()
    server.cut_after = None
    fetch(Source(server.address), target)
    assert server.requests[-1] == f"bytes={held}-"
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("etag", ['"2"', None, 'W/"1"'])
def test_a_file_that_may_have_changed_is_fetched_anew(
    server: FileServer, target: Path, etag: str | None
) -> None:
    server.cut_after = 100_000
    server.etag = etag if etag != '"2"' else '"1"'
    job = download(Source(server.address), target, patience=QUICK)
    for step in job:
        if step.done >= 100_000:
            break
    job.close()
    server.cut_after, server.etag, server.content = None, etag, CONTENT[::-1]
    fetched, _ = fetch(Source(server.address), target)
    assert target.read_bytes() == CONTENT[::-1]
    assert fetched.sha256 == hashlib.sha256(CONTENT[::-1]).hexdigest()


def test_a_server_that_always_cuts_ends_in_a_sentence(server: FileServer, target: Path) -> None:
    server.cut_after = 0
    with pytest.raises(DownloadError, match="connection was lost"):
        fetch(Source(server.address), target)
    assert not target.exists()


def test_a_wrong_checksum_leaves_nothing(server: FileServer, target: Path) -> None:
    with pytest.raises(DownloadError, match="checksum"):
        fetch(Source(server.address, "0" * 64), target)
    assert leftovers(target) == set()


def test_another_size_than_expected_is_refused_before_anything_is_fetched(
    server: FileServer, target: Path
) -> None:
    with pytest.raises(DownloadError, match="600000 bytes where 5 were expected"):
        fetch(Source(server.address, size=5), target)
    assert leftovers(target) == set()


def test_a_file_of_unknown_length_is_refused(server: FileServer, target: Path) -> None:
    server.without_length = True
    with pytest.raises(DownloadError, match="how long"):
        fetch(Source(server.address), target)
    assert leftovers(target) == set()


def test_cancelling_is_quick_and_keeps_what_came(server: FileServer, target: Path) -> None:
    server.silent_after = 200_000
    job = download(Source(server.address), target, patience=Patience(silence_s=60.0))
    for step in job:
        if step.done >= 200_000:
            break
    next(job)
    before = time.monotonic()
    job.close()
    assert time.monotonic() - before < 1.0
    assert not [thread for thread in threading.enumerate() if thread.name == "download"]
    assert (target.parent / "weights.pt.part").read_bytes() == CONTENT[: step.done]
    assert not target.exists()


def test_a_server_that_falls_silent_counts_as_lost(server: FileServer, target: Path) -> None:
    server.silent_after = 0
    with pytest.raises(DownloadError, match="connection was lost"):
        fetch(Source(server.address), target)


def test_a_slow_server_is_waited_for(target: Path) -> None:
    with serving(CONTENT[:80_000]) as slow:
        slow.pause_s = 0.2
        _, steps = fetch(Source(slow.address), target)
    assert target.read_bytes() == CONTENT[:80_000]
    assert sum(step.what.startswith("Fetching") for step in steps) >= 5


def test_redirects_are_followed(server: FileServer, target: Path) -> None:
    server.redirect = server.address.replace("weights.pt", "moved")
    server.cut_after = 300_000
    fetch(Source(server.address, SHA256), target)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("place", ["file:///etc/hostname", "ftp://127.0.0.1/x"])
def test_no_redirect_leads_out_of_http(server: FileServer, target: Path, place: str) -> None:
    server.redirect = place
    with pytest.raises(DownloadError):
        fetch(Source(server.address), target)
    with pytest.raises(DownloadError, match="has to begin with"):
        fetch(Source(place), target)
    assert not target.exists()


@pytest.mark.parametrize(
    ("status", "said"),
    [(404, "does not have"), (403, "not allow"), (400, "refused: 400"), (503, "cannot be reached")],
)
def test_refusals_are_sentences(server: FileServer, target: Path, status: int, said: str) -> None:
    server.status = status
    with pytest.raises(DownloadError, match=said):
        fetch(Source(server.address), target)
    assert leftovers(target) == set()


def test_nobody_there(target: Path) -> None:
    with pytest.raises(DownloadError, match="cannot be reached"):
        fetch(Source("http://127.0.0.1:9/weights.pt"), target)


def test_a_part_longer_than_the_file_is_thrown_away(server: FileServer, target: Path) -> None:
    server.cut_after = 500_000
    job = download(Source(server.address), target, patience=QUICK)
    for step in job:
        if step.done >= 500_000:
            break
    job.close()
    server.cut_after, server.content = None, CONTENT[:1000]
    fetch(Source(server.address), target)
    assert target.read_bytes() == CONTENT[:1000]


def test_too_little_room_is_noticed_before_fetching(server: FileServer, target: Path) -> None:
    job = download(Source(server.address), target, reserve=1 << 60, patience=QUICK)
    with pytest.raises(DownloadError, match="not enough room"):
        list(job)
    assert not target.exists()


def test_a_disk_that_fills_up_keeps_the_part(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tmp_path / "small disk"
    disk.mkdir()
    mounted = os.name == "posix" and os.geteuid() == 0
    if mounted:
        mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    if not mounted:
        pytest.skip("a small disk can only be mounted as root")
    try:
        plenty = type("Usage", (), {"free": 1 << 40})
        monkeypatch.setattr(module.shutil, "disk_usage", lambda _: plenty)
        target = disk / "weights.pt"
        with pytest.raises(DownloadError, match="not enough room"):
            fetch(Source(server.address), target)
        assert not target.exists()
        assert 0 < (disk / "weights.pt.part").stat().st_size < len(CONTENT)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_the_same_file_is_not_fetched_twice_at_once(server: FileServer, target: Path) -> None:
    server.pause_s = 0.05
    first = download(Source(server.address), target, patience=QUICK)
    next(first)
    with pytest.raises(DownloadError, match="already"):
        fetch(Source(server.address), target)
    first.close()


def test_another_address_does_not_go_on_with_the_part(server: FileServer, target: Path) -> None:
    target.parent.mkdir(parents=True)
    (target.parent / "weights.pt.part").write_bytes(b"something else")
    fetch(Source(server.address), target)
    assert target.read_bytes() == CONTENT
    assert server.requests == [None]
