"""Logs of renaming: written before the first file moves, and enough to put every file back.

A log is one JSON document in the data folder's ``renames``. While a batch is under way its file ends in
``.open``; one that still does at the next start belongs to a batch that was killed, and is taken back.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from foley_desktop.audio.replacing import sync_folder
from foley_desktop.errors import RenameError
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.file_names import rename_exclusive
from foley_desktop.settings import DataFolder

logger = logging.getLogger(__name__)

_OPEN = ".open"


class Move(NamedTuple):
    """One renaming, by absolute paths. ``clip_id`` is empty for a companion.

    ``passing`` marks a name that a file has only for a moment, because its own is not free yet; ``origin`` is
    where a file that came that way really started.
    """

    source: str
    target: str
    clip_id: str
    passing: bool = False
    origin: str = ""


def folder(data: DataFolder) -> Path:
    return data.path / "renames"


def passing_path(path: str) -> str:
    """A name for a file whose own is not free yet; readable, should anything go wrong meanwhile."""
    place, name = os.path.split(path)
    extension = os.path.splitext(name)[1]
    return os.path.join(place, f"renaming {uuid.uuid4().hex}{extension}")


def begin(data: DataFolder, moves: Sequence[Move]) -> Path:
    """Writes the log of a batch that is about to begin, and brings it to the disk."""
    place = folder(data)
    place.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now().astimezone()
    log = place / f"{stamp:%Y-%m-%d %H%M%S} {uuid.uuid4().hex[:6]}.json{_OPEN}"
    origins = {move.target: move.source for move in moves if move.passing}
    moves = [move._replace(origin=origins.get(move.source, "")) for move in moves]
    document = {
        "what": "files renamed by Foley Desktop",
        "at": stamp.isoformat(timespec="seconds"),
        "moves": [move._asdict() | {"file": _identity(move.source)} for move in moves],
    }
    with open(log, "x", encoding="ascii") as file:
        json.dump(document, file, indent=1, ensure_ascii=True)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(os.fspath(place))
    return log


def _identity(path: str) -> list[int] | None:
    """By what a file is known again under another name; None when it is not there."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return [status.st_ino, status.st_size, status.st_mtime_ns]


def finished_path(log: Path) -> Path:
    return log.with_name(log.name.removesuffix(_OPEN))


def finish(log: Path) -> Path:
    """Marks a batch as done; gives the log's lasting path."""
    done = finished_path(log)
    os.replace(log, done)
    return done


def drop(log: os.PathLike[str]) -> None:
    """Forgets a batch that was taken back."""
    with contextlib.suppress(OSError):
        os.unlink(log)


def read(log: str | os.PathLike[str]) -> list[Move]:
    """The moves of a log.

    Raises:
        RenameError: it is no log, or cannot be read.
    """
    return [move for move, _ in _entries(log)]


def _entries(log: str | os.PathLike[str]) -> list[tuple[Move, list[int] | None]]:
    try:
        document: Any = json.loads(Path(log).read_text("ascii"))
        return [
            (
                Move(m["source"], m["target"], m["clip_id"], bool(m["passing"]), m.get("origin", "")),
                m.get("file"),
            )
            for m in document["moves"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RenameError("The log of the renaming cannot be read.", cause=error) from error


def logs(data: DataFolder) -> list[Path]:
    """Logs of finished batches, the latest first."""
    try:
        return sorted(folder(data).glob("*.json"), reverse=True)
    except OSError:
        return []


class Batch(NamedTuple):
    """A batch of the past: its log, when it was, how many sounds, and their names before and after."""

    log: str
    at: str
    names: tuple[tuple[str, str], ...]

    @property
    def files(self) -> int:
        return len(self.names)


def batches(data: DataFolder, limit: int) -> list[Batch]:
    """Finished batches, the latest first; logs that cannot be read are left out. ``at`` is local time."""
    found = []
    for log in logs(data)[:limit]:
        try:
            moves = [move for move in read(log) if move.clip_id and not move.passing]
        except RenameError:
            continue
        names = tuple(
            (os.path.basename(move.origin or move.source), os.path.basename(move.target)) for move in moves
        )
        stamp = log.name[:17]
        found.append(Batch(os.fspath(log), f"{stamp[:10]} {stamp[11:13]}:{stamp[13:15]}", names))
    return found


def sync(moves: Iterable[Move]) -> None:
    """Brings the folders' new lists of names to the disk."""
    for place in {os.path.dirname(move.target) for move in moves}:
        sync_folder(place)


def ordered(moves: Iterable[Move]) -> list[Move]:
    """Moves in an order in which every target is free; rings go through a name of their own."""
    waiting = {move.source: move for move in moves if move.source != move.target}
    found: list[Move] = []
    while waiting:
        free = [move for move in waiting.values() if move.target not in waiting]
        if not free:
            first = next(iter(waiting.values()))
            through = passing_path(first.source)
            found.append(Move(first.source, through, first.clip_id, passing=True))
            del waiting[first.source]
            waiting[through] = Move(through, first.target, first.clip_id)
            continue
        for move in free:
            found.append(move)
            del waiting[move.source]
    return found


def take_back(done: Sequence[Move]) -> bool:
    """Undoes moves that were done, the last first; whether all could be undone."""
    whole = True
    for move in reversed(done):
        try:
            rename_exclusive(move.target, move.source)
        except OSError:
            whole = False
    return whole


def recover(catalog: Catalog, data: DataFolder) -> int:
    """Takes back batches that were killed half-way; gives their number. For the holder of the writer lock."""
    from foley_desktop.library.renaming import follow

    taken_back = 0
    found = sorted(folder(data).glob(f"*.json{_OPEN}")) if folder(data).is_dir() else []
    known = {step.document.get("log") for step in catalog.steps(5) if isinstance(step.document, dict)}
    for log in found:
        if os.fspath(finished_path(log)) in known:
            finish(log)  # only the very last step was missing
            continue
        try:
            entries = _entries(log)
            for move in ordered(_way_back(entries)):
                rename_exclusive(move.source, move.target)
        except (OSError, RenameError) as error:
            logger.warning("the renaming of %s cannot be taken back yet: %s", log.name, error)
            continue  # a disk is away, say; another start may do better
        clips = [move for move, _ in entries if not move.passing and move.clip_id]
        follow(catalog, [Move("", move.origin or move.source, move.clip_id) for move in clips])
        drop(log)
        taken_back += 1
    return taken_back


def _way_back(entries: Sequence[tuple[Move, list[int] | None]]) -> list[Move]:
    """Moves from where the files of a batch are now to where they were.

    Names alone don't tell how far a batch came: after a ring of renamings they are the same as before. So
    each file is looked for among the names that it could have, by what it is.
    """
    places: dict[str, list[str]] = {}
    for move, _ in entries:
        places.setdefault(move.origin or move.source, [move.origin or move.source]).append(move.target)
    back = []
    for move, identity in entries:
        if identity is None:
            continue  # a passing name, which nothing had yet
        candidates = places[move.source]
        now = [path for path in candidates if _is_there(path) and _identity(path) == identity]
        if not now:
            raise RenameError("A file of the batch is not where it can be.")
        if now[0] != move.source:
            back.append(Move(now[0], move.source, move.clip_id))
    return back


def _is_there(path: str) -> bool:
    """Whether there is an entry of exactly this name, also where case makes no difference to the system."""
    place, name = os.path.split(path)
    try:
        return name in os.listdir(place)
    except OSError:
        return False
