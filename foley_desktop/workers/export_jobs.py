"""Rendering clips into new files, as a job."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Sequence
from pathlib import Path

from foley_desktop.audio.render import RenderOptions
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Clip, Progress
from foley_desktop.workers.job import Job

FOLDER = "export_folder"
"""The key of the settings' free part that holds the folder of the last export."""


def export_job(
    service: LibraryService,
    clips: Sequence[Clip],
    folder: str,
    stems: Sequence[str],
    extension: str,
    options: RenderOptions,
) -> Job:
    """Renders each clip into ``folder``; the result is the list of files made.

    A file that is there already is never replaced, see :func:`free_targets`. The job fails at the first clip
    that cannot be rendered; what was made before stays.
    """

    def work() -> Generator[Progress, None, list[str]]:
        made: list[str] = []
        started = time.monotonic()
        targets = free_targets(folder, stems, extension)
        for number, (clip, target) in enumerate(zip(clips, targets, strict=True)):
            rate = number / max(1e-3, time.monotonic() - started) if number else None
            left = (len(clips) - number) / rate if rate else None
            yield Progress(number, len(clips), clip.name, rate, left)
            service.export(clip.id or clip.path, Path(target), options)
            made.append(target)
        if made:
            service.settings.extra[FOLDER] = os.path.dirname(made[0])
        return made

    title = f"Exporting {clips[0].name}" if len(clips) == 1 else f"Exporting {len(clips)} sounds"
    return Job(title, work, kind="export")


def free_targets(folder: str, stems: Sequence[str], extension: str) -> list[str]:
    """A path for each stem that no file has yet, nor another one of them: ``name.wav``, ``name 2.wav``."""
    taken: set[str] = set()
    targets: list[str] = []
    for stem in stems:
        number, path = 1, os.path.join(folder, stem + extension)
        while path.casefold() in taken or os.path.lexists(path):
            number += 1
            path = os.path.join(folder, f"{stem} {number}{extension}")
        taken.add(path.casefold())
        targets.append(path)
    return targets
