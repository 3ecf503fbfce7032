"""Fetches one large file so that a half one is never taken for a whole one.

The file grows as ``NAME.part`` and gets its name in one step, when its length and, where it is known, its
checksum are right. A connection that is lost is taken up again where it broke off, in the same run or in a
later one, if the server still has the same file.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from foley_desktop.errors import DownloadError
from foley_desktop.library.connection import Connection, Lost, Unfit
from foley_desktop.library.meter import Meter
from foley_desktop.models import Progress

_RESERVE = 64 << 20
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Source:
    """What to fetch. ``size`` in bytes and ``sha256`` are None where they are not known."""

    address: str
    sha256: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that is there as a whole. ``verified`` means that its checksum was known and is right."""

    path: Path
    sha256: str
    verified: bool


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds without a byte after which a connection counts as lost, and how often to connect anew."""

    silence_s: float = 30.0
    attempts: int = 5
    pause_s: float = 1.0


Job = Generator[Progress, None, Fetched]


def download(
    source: Source, target: Path, *, reserve: int = _RESERVE, patience: Patience = Patience()
) -> Job:
    """Fetches ``source`` into ``target``; yields progress in bytes. Closing the generator cancels.

    What was fetched before a cancellation or an error stays for the next run, except after a wrong
    checksum.

    Args:
        reserve: Bytes that have to stay free on the disk beside the file itself.

    Raises:
        DownloadError: the server refuses, the connection is lost for good, the disk is full, or what came
            is not what was wanted.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(str(target) + ".lock", timeout=0, thread_local=False):
            return (yield from _Download(source, target, reserve, patience).run())
    except Timeout as error:
        raise DownloadError(f"{target.name} is being fetched already.", cause=error) from error


class _Download:
    def __init__(self, source: Source, target: Path, reserve: int, patience: Patience) -> None:
        self._source = source
        self._target = target
        self._part = target.with_name(target.name + ".part")
        self._memory = target.with_name(target.name + ".part.json")
        self._reserve = reserve
        self._patience = patience
        self._answered = False

    def run(self) -> Job:
        lost = 0
        while True:
            before = self._held()
            try:
                total = yield from self._fetch()
                break
            except Lost as error:
                lost = 1 if self._held() > before else lost + 1
                if isinstance(error, Unfit):
                    self._part.unlink(missing_ok=True)
                if lost >= self._patience.attempts:
                    raise self._given_up(error) from error
                until = time.monotonic() + self._patience.pause_s
                while time.monotonic() < until:
                    yield Progress(self._held(), self._source.size or 0, "Waiting to connect again")
                    time.sleep(min(_POLL_S, self._patience.pause_s))
        digest = yield from self._checked(total)
        os.replace(self._part, self._target)
        self._memory.unlink(missing_ok=True)
        _sync_folder(self._target.parent)
        return Fetched(self._target, digest, self._source.sha256 is not None)

    def _given_up(self, cause: Exception) -> DownloadError:
        if not self._answered:
            return DownloadError(
                "The server cannot be reached.", hint="Check the network and the address.", cause=cause
            )
        return DownloadError(
            "The connection was lost. What was fetched is kept.",
            hint="Try again to go on where it broke off.",
            cause=cause,
        )

    def _held(self) -> int:
        try:
            return self._part.stat().st_size
        except OSError:
            return 0

    # --- one connection

    def _fetch(self) -> Generator[Progress, None, int]:
        """Fetches what is still missing; the length of the whole file."""
        remembered = self._remembered()
        held = self._held() if remembered.get("validator") or self._source.sha256 else 0
        if held and held == remembered.get("total"):
            return held
        validator = remembered.get("validator")
        connection = Connection(self._source.address, held, validator, self._patience.silence_s)
        with contextlib.closing(connection):
            answer = yield from connection.answer(held, self._source.size)
            self._answered = True
            start, total = held if answer.resumed else 0, answer.total
            if self._source.size is not None and total != self._source.size:
                raise DownloadError(
                    f"The server offers {total} bytes where {self._source.size} were expected.",
                    hint="Check the address.",
                )
            self._check_room(total - start)
            self._remember(answer.validator, total)
            yield from self._receive(connection, start, total)
        return total

    def _receive(self, connection: Connection, start: int, total: int) -> Generator[Progress, None, None]:
        meter = Meter(total, f"Fetching {self._target.name}")
        if start:
            meter.step(start)
        try:
            with open(self._part, "r+b" if start else "wb") as file:
                file.seek(start)
                file.truncate()
                left = total - start
                while left:
                    chunk = yield from connection.chunk(meter)
                    if len(chunk) > left:
                        raise DownloadError("The server sent more than it announced.")
                    file.write(chunk)
                    left -= len(chunk)
                    yield meter.step(len(chunk))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise self._full(error) from error
            raise DownloadError(f"The file {self._part.name} cannot be written.", cause=error) from error

    def _check_room(self, missing: int) -> None:
        if shutil.disk_usage(self._target.parent).free < missing + self._reserve:
            raise self._full(None)

    def _full(self, cause: OSError | None) -> DownloadError:
        return DownloadError(
            f"There is not enough room in {self._target.parent}. What was fetched is kept.",
            hint="Make room and try again.",
            cause=cause,
        )

    # --- what lasts

    def _remembered(self) -> dict[str, Any]:
        """What is known of the file that the part belongs to; nothing if that is another address's."""
        try:
            known = json.loads(self._memory.read_text("utf-8"))
        except (OSError, ValueError):
            known = None
        if isinstance(known, dict) and known.get("address") == self._source.address:
            return known
        self._part.unlink(missing_ok=True)
        return {}

    def _remember(self, validator: str | None, total: int) -> None:
        known = {"address": self._source.address, "validator": validator, "total": total}
        try:
            self._memory.write_text(json.dumps(known), "utf-8")
        except OSError as error:
            raise self._full(error) from error

    def _checked(self, total: int) -> Generator[Progress, None, str]:
        digest = hashlib.sha256()
        meter = Meter(total, f"Checking {self._target.name}")
        with open(self._part, "rb") as file:
            while chunk := file.read(4 << 20):
                digest.update(chunk)
                yield meter.step(len(chunk))
        found = digest.hexdigest()
        if self._source.sha256 is not None and found != self._source.sha256.lower():
            self._part.unlink(missing_ok=True)
            self._memory.unlink(missing_ok=True)
            raise DownloadError(
                f"{self._target.name} is not the file that was wanted: its checksum is another one.",
                hint="Check the address, then fetch it again.",
            )
        return found


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
