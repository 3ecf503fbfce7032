"""Rendering clips into new files, as a job that tells how far each file is and can be stopped within one."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foley_desktop.audio.render import RenderOptions, Watch
from foley_desktop.errors import FoleyError
from foley_desktop.library.presets import AS_IT_IS
from foley_desktop.library.service import LibraryService
from foley_desktop.library.usage import Use
from foley_desktop.models import Clip, Progress, Region
from foley_desktop.workers.job import Job

FOLDER = "export_folder"
"""The key of the settings' free part that holds the folder of the last export."""

_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export made: files, the clips they were made of, and sentences on what could not be made."""

    files: tuple[str, ...]
    clips: tuple[Clip, ...]
    failed: tuple[str, ...] = ()
    at_s: float = 0.0


def folder_flaw(folder: str) -> str:
    """Why nothing can be written to a folder, a sentence; empty when it can. Looks at the disk."""
    if not os.path.isdir(folder):
        return f"The folder {folder} is not there. Choose another, or make it first."
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"The folder {folder} cannot be written to. Choose another."
    return ""


def export_job(
    service: LibraryService,
    clips: Sequence[Clip],
    folder: str,
    stems: Sequence[str],
    extension: str,
    options: Sequence[RenderOptions],
) -> Job:
    """Renders each clip into ``folder``; the result is an :class:`Exported`.

    ``options`` are those of each clip. A file that is there already is never replaced, see
    :func:`free_targets`. An empty ``extension`` keeps the clips' own formats where they can be written. A
    clip that cannot be rendered is passed over and told of; the job fails when none can.
    """

    def work() -> Generator[Progress, None, Exported]:
        files: list[str] = []
        done: list[tuple[Clip, RenderOptions]] = []
        failed: list[str] = []
        first: FoleyError | None = None
        started = time.monotonic()
        endings = [extension or AS_IT_IS.extension_for(clip) for clip in clips]
        targets = free_targets(folder, stems, endings)
        for number, (clip, target) in enumerate(zip(clips, targets, strict=True)):
            try:
                yield from _one(service, clip, target, options[number], number, len(clips), started)
            except FoleyError as error:
                first = first or error
                failed.append(f"{clip.name}: {error.sentence}")
            else:
                files.append(target)
                done.append((clip, options[number]))
        if first is not None and not files:
            raise first
        at = _remember(service, done, files)
        return Exported(tuple(files), tuple(clip for clip, _ in done), tuple(failed), at)

    title = f"Exporting {clips[0].name}" if len(clips) == 1 else f"Exporting {len(clips)} sounds"
    return Job(title, work, kind="export")


def _remember(
    service: LibraryService, done: Sequence[tuple[Clip, RenderOptions]], files: Sequence[str]
) -> float:
    if not files:
        return 0.0
    service.settings.extra[FOLDER] = folder = os.path.dirname(files[0])
    transfer = service.transfer
    project = transfer.bins.current().name
    uses = [
        Use(clip.id, "export", file, folder, project, _region(options))
        for (clip, options), file in zip(done, files, strict=True)
    ]
    return transfer.usage.record(uses)


def _region(options: RenderOptions) -> Region | None:
    if options.start_s is None or options.end_s is None:
        return None
    return Region(options.start_s, options.end_s)


def _one(
    service: LibraryService,
    clip: Clip,
    target: str,
    options: RenderOptions,
    number: int,
    total: int,
    started: float,
) -> Generator[Progress, None, None]:
    """Renders one file, yielding how far it is."""
    end_s = options.end_s if options.end_s is not None else clip.duration_s
    length_s = (end_s or 0.0) - (options.start_s or 0.0)

    def render(watch: Watch) -> None:
        service.export(clip.id or clip.path, Path(target), options, watch)

    for read_s in _followed(render):
        share = min(0.99, read_s / length_s) if length_s > 0 else 0.0
        done = number + share
        took = time.monotonic() - started
        rate = done / took if done and took > 0 else None
        left = (total - done) / rate if rate else None
        yield Progress(number, total, clip.name, None, left, done / total)


def _followed(render: Callable[[Watch], None]) -> Generator[float, None, None]:
    """Runs a rendering on a thread of its own, yielding how many seconds it has read; closing stops it."""
    state: dict[str, Any] = {"read_s": 0.0, "stop": False, "error": None}

    def watch(read_s: float) -> None:
        state["read_s"] = read_s
        if state["stop"]:
            raise CancelledError

    def run() -> None:
        try:
            render(watch)
        except CancelledError:
            pass
        except BaseException as error:
            state["error"] = error

    thread = threading.Thread(target=run, name="export", daemon=True)
    thread.start()
    try:
        yield 0.0
        while thread.is_alive():
            thread.join(_POLL_S)
            yield state["read_s"]
    finally:
        state["stop"] = True
        thread.join()
    if state["error"] is not None:
        raise state["error"]


def free_targets(folder: str, stems: Sequence[str], extension: str | Sequence[str]) -> list[str]:
    """A path for each stem that no file has yet, nor another one of them: ``name.wav``, ``name 2.wav``."""
    endings = [extension] * len(stems) if isinstance(extension, str) else extension
    taken: set[str] = set()
    targets: list[str] = []
    for stem, ending in zip(stems, endings, strict=True):
        number, path = 1, os.path.join(folder, stem + ending)
        while path.casefold() in taken or os.path.lexists(path):
            number += 1
            path = os.path.join(folder, f"{stem} {number}{ending}")
        taken.add(path.casefold())
        targets.append(path)
    return targets
