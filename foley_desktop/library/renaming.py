"""Renames files of the library as one batch: all of it or nothing, and back again at any time.

Every batch is planned in full first. What is about to happen is written to a log before the first file moves,
so that a killed batch is taken back at the next start, and a finished one can be reversed from the log alone.
The catalog follows: ids, ratings and collections stay with their clips.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from foley_desktop.audio.decode import is_media_name
from foley_desktop.errors import RenameError
from foley_desktop.library import rename_log
from foley_desktop.library.catalog import Catalog, FileState
from foley_desktop.library.catalog_edits import Step
from foley_desktop.library.database import as_text
from foley_desktop.library.file_names import flaws, key, rename_exclusive
from foley_desktop.library.meter import Meter
from foley_desktop.library.reading import name_tags
from foley_desktop.library.rename_log import Move
from foley_desktop.library.scan import current_state
from foley_desktop.library.sidecars import SIDECAR_EXTENSIONS
from foley_desktop.library.writeback import require_unlocked
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.models import Progress
from foley_desktop.settings import DataFolder

KIND = "rename"
"""What the steps of this module are called in the catalog."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the preview.

    ``problems`` are sentences; with any, the batch is refused. ``companions`` are files of the same name that
    describe the clip and go with it, as ``(old path, new path)``.
    """

    clip_id: str
    path: str
    name: str
    new_name: str
    problems: tuple[str, ...] = ()
    companions: tuple[tuple[str, str], ...] = ()

    @property
    def target(self) -> str:
        return os.path.join(os.path.dirname(self.path), self.new_name)

    @property
    def unchanged(self) -> bool:
        return self.name == self.new_name

    @property
    def case_only(self) -> bool:
        """Whether the names differ in case or normal form alone."""
        return not self.unchanged and key(self.name) == key(self.new_name)


@dataclass(frozen=True, slots=True)
class RenamePlan:
    """A batch, checked but not begun."""

    rows: tuple[Row, ...]

    @property
    def problems(self) -> int:
        return sum(bool(row.problems) for row in self.rows)

    @property
    def to_rename(self) -> int:
        return sum(not row.unchanged for row in self.rows)


@dataclass(frozen=True, slots=True)
class RenameReport:
    """What a batch did; ``log`` is the file by which it can be reversed."""

    renamed: int
    log: str


def preview(catalog: Catalog, names: Mapping[str, str]) -> RenamePlan:
    """A plan that gives clips (by id) new names in their folders, with everything that stands against it."""
    clips = catalog.clips(names)
    roots = {root.id: root for root in catalog.roots()}
    rows = []
    for clip in clips.values():
        problems = [] if names[clip.id] == clip.name else flaws(names[clip.id])
        if os.path.splitext(names[clip.id])[1].lower() != os.path.splitext(clip.name)[1].lower():
            problems.append("The ending says what kind of file it is, and has to stay.")
        if clip.status != "ok":
            problems.append("The file is not there now.")
        if roots[clip.root_id].locked:
            problems.append(f"The folder {as_text(roots[clip.root_id].path)} is locked.")
        rows.append(Row(clip.id, clip.path, clip.name, names[clip.id], tuple(problems)))
    return RenamePlan(tuple(_against_the_disk(rows)))


def _against_the_disk(rows: Sequence[Row]) -> Iterable[Row]:
    """Adds what the folders' other files stand against, and the companions."""
    folders: dict[str, list[Row]] = {}
    for row in rows:
        folders.setdefault(os.path.dirname(row.path), []).append(row)
    checked: dict[str, Row] = {}
    for folder, inside in folders.items():
        for row in _check_folder(folder, inside):
            checked[row.clip_id] = row
    return [checked[row.clip_id] for row in rows]


def _check_folder(folder: str, rows: Sequence[Row]) -> Iterable[Row]:
    try:
        there = os.listdir(folder)
    except OSError:
        yield from (_with(row, "The folder cannot be read.") for row in rows)
        return
    writable = os.stat(folder).st_mode & 0o222 and os.access(folder, os.W_OK | os.X_OK)
    rows = [row if row.unchanged else _with_companions(row, folder, there) for row in rows]
    moving = [row for row in rows if not row.unchanged]
    leaving = {row.name for row in moving}
    leaving |= {os.path.basename(old) for row in moving for old, _ in row.companions}
    taken = {key(name): name for name in there if name not in leaving}
    wanted = Counter(key(name) for row in rows for name in _new_names(row))
    for row in rows:
        if not row.unchanged and not writable:
            row = _with(row, "The folder is write-protected.")
        in_the_way = [taken[key(name)] for name in _new_names(row) if key(name) in taken]
        if in_the_way and not row.unchanged:
            row = _with(row, f"There is already a file {as_text(in_the_way[0])}.")
        if any(wanted[key(name)] > 1 for name in _new_names(row)):
            row = _with(row, "Two files would get the same name.")
        yield row


def _new_names(row: Row) -> list[str]:
    return [row.new_name, *(os.path.basename(new) for _, new in row.companions)]


def _with(row: Row, problem: str) -> Row:
    return replace(row, problems=(*row.problems, problem))


def _with_companions(row: Row, folder: str, there: Sequence[str]) -> Row:
    """Files that describe this clip and no other one go with it."""
    stem, new_stem = os.path.splitext(row.name)[0], os.path.splitext(row.new_name)[0]
    alike = [name for name in there if os.path.splitext(name)[0] == stem]
    if new_stem == stem or sum(is_media_name(name) for name in alike) > 1:
        return row
    endings = [os.path.splitext(name)[1] for name in alike]
    return replace(
        row,
        companions=tuple(
            (os.path.join(folder, stem + ending), os.path.join(folder, new_stem + ending))
            for ending in endings
            if ending.lower() in SIDECAR_EXTENSIONS
        ),
    )


def rename(
    catalog: Catalog, plan: RenamePlan, label: str = "", *, step: Step | None = None
) -> Generator[Progress, None, RenameReport]:
    """Carries a plan out, as one step to take back.

    A failure on the way, or closing the generator, takes back what was done: all is as before.

    Args:
        step: The step that this takes back or does again; without one it is a step of its own.

    Raises:
        LockedError: a folder is locked.
        RenameError: something stands against it; nothing has been renamed.
        LibraryBusyError: the library is being indexed.
    """
    clips = catalog.clips([row.clip_id for row in plan.rows])
    require_unlocked(catalog, clips.values(), "Renaming")
    data = DataFolder(catalog.path.parent)
    with writer_lock(data):
        rename_log.recover(catalog, data)
        moves = _moves(_still_good(catalog, plan))
        if not moves:
            return RenameReport(0, "")
        log = rename_log.begin(data, moves)
        yield from _carry_out(moves, log)
        count = sum(move.clip_id != "" and not move.passing for move in moves)
        document = {"log": os.fspath(rename_log.finished_path(log))}
        try:
            with catalog.write():
                follow(catalog, moves)
                if step is None:
                    catalog.add_step(KIND, label or f"Rename {count} files", document)
                else:
                    catalog.mark_step(step.number, undone=not step.undone, document=document)
        except BaseException:
            _undone(moves, log)
            raise
        return RenameReport(count, os.fspath(rename_log.finish(log)))


def _still_good(catalog: Catalog, plan: RenamePlan) -> RenamePlan:
    """The plan as it is now, in case the disk changed since it was looked at."""
    now = preview(catalog, {row.clip_id: row.new_name for row in plan.rows})
    row = next((row for row in now.rows if row.problems), None)
    if row is not None:
        raise RenameError(
            f"Nothing was renamed, because of {as_text(row.name)}: {row.problems[0]}",
            hint="Change its new name, or leave it out.",
        )
    return now


def _moves(plan: RenamePlan) -> list[Move]:
    """What has to be renamed, companions included, in an order that works."""
    wanted = []
    for row in plan.rows:
        if not row.unchanged:
            wanted.append(Move(row.path, row.target, row.clip_id))
            wanted += [Move(old, new, "") for old, new in row.companions]
    return rename_log.ordered(wanted)


def _carry_out(moves: Sequence[Move], log: os.PathLike[str]) -> Generator[Progress, None, None]:
    """Renames the files; on any failure, and when closed, backwards again."""
    meter = Meter(len(moves), "Renaming")
    done: list[Move] = []
    name = ""
    try:
        for move in moves:
            name = as_text(os.path.basename(move.source))
            rename_exclusive(move.source, move.target)
            done.append(move)
            yield meter.step(1, os.path.basename(move.target))
        rename_log.sync(moves)
    except BaseException as error:
        _undone(done, log)
        if not isinstance(error, OSError):
            raise
        raise RenameError(
            f"Nothing was renamed, because {name} could not be: {error.strerror}.", cause=error
        ) from error


def _undone(done: Sequence[Move], log: os.PathLike[str]) -> None:
    """Takes back what was done. Where that fails the log is kept, so that the next start tries again."""
    if rename_log.take_back(done):
        rename_log.drop(log)


def follow(catalog: Catalog, moves: Sequence[Move]) -> None:
    """Points clips at their files' new names."""
    final = {move.clip_id: move.target for move in moves if move.clip_id}
    clips = catalog.clips(final)
    with catalog.write() as connection:
        # Two clips may swap names: nothing may stand in the way for a moment.
        connection.executemany(
            "UPDATE clips SET rel_path = CAST(rel_path || X'00' || id AS BLOB) WHERE id = ?",
            [(clip_id,) for clip_id in clips],
        )
        for clip in clips.values():
            path = final[clip.id]
            # One that is gone this very moment is found missing at the next scan.
            state = current_state(path) or FileState(0, 0, 0, 0, 0)
            folder = clip.rel_path.rpartition("/")[0]
            name = os.path.basename(path)
            rel_path = os.fsencode(f"{folder}/{name}" if folder else name)
            catalog.move_clip(clip.id, clip.root_id, rel_path, state, tuple(name_tags(name)))


def reverse(
    catalog: Catalog, log: str, label: str = "Take a renaming back", *, step: Step | None = None
) -> Generator[Progress, None, RenameReport]:
    """Gives the files of a log their former names again, as a batch of its own; see :func:`rename`.

    Raises:
        RenameError: also when the log cannot be read, or one of its files is somewhere else now.
    """
    names: dict[str, str] = {}
    for move in rename_log.read(log):
        if move.passing or not move.clip_id:
            continue
        clip = catalog.clip(move.clip_id)
        if clip is None or clip.path != move.target:
            clip = catalog.clip_by_path(move.target)
        if clip is None or not clip.id:
            raise RenameError(
                f"{as_text(os.path.basename(move.target))} is not in the library any more, "
                "so the renaming cannot be taken back."
            )
        names[clip.id] = os.path.basename(move.origin or move.source)
    return rename(catalog, preview(catalog, names), label, step=step)
