"""Taking in another librarian's list: reading it, looking what it would change, and doing it."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from dataclasses import dataclass

from foley_desktop.library.list_fields import FILE_NAME, PATH
from foley_desktop.library.lists import ListPreview, SoundList, apply_list
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Progress
from foley_desktop.workers.job import Job

ENCODINGS = (
    ("utf-8-sig", "UTF-8"),
    ("utf-16", "UTF-16"),
    ("utf-16-le", "UTF-16, no mark"),
    ("cp1252", "Western (Windows)"),
    ("mac_roman", "Western (Mac)"),
    ("cp1250", "Central European"),
    ("cp1251", "Cyrillic"),
    ("shift_jis", "Japanese (Shift JIS)"),
    ("gb18030", "Chinese (GB 18030)"),
)
AT_ONCE = 200
"""Up to so many sounds are searchable by their new words in the same breath."""

DELIMITER_NAMES = ((",", "Comma"), ("\t", "Tab"), (";", "Semicolon"), ("|", "Bar"))


@dataclass(frozen=True, slots=True)
class Imported:
    """A list that was taken in. ``step`` takes it back as a whole; 0 when nothing changed."""

    name: str
    clips: int
    step: int


def fields(service: LibraryService) -> tuple[tuple[str, str], ...]:
    """What a column can mean: ``(our field, its label)``."""
    found = [(FILE_NAME, "File name"), (PATH, "Path")]
    found += [(field.name, field.label) for field in service.desk.fields]
    return (*found, ("category_full", "Category-Subcategory"))


def preview(
    service: LibraryService, sounds: SoundList, mapping: Mapping[int, str], replace: bool, several: bool
) -> ListPreview:
    """See :func:`foley_desktop.library.lists.preview_list`."""
    return service.desk.preview_list(sounds, mapping, replace=replace, several=several)


def import_job(service: LibraryService, sounds: SoundList, found: ListPreview) -> Job:
    """Sets what a preview showed; the result is an :class:`Imported`."""

    def work() -> Generator[Progress, None, Imported]:
        clips = len(found.values)
        yield Progress(0, clips, "Setting words")
        if clips <= AT_ONCE:
            changed = service.desk.apply_list(sounds, found)
        else:
            changed = apply_list(service.catalog, sounds, found)
        step = service.desk.next_undo() if changed else None
        yield Progress(clips, clips, "Setting words")
        if clips > AT_ONCE:  # in steps, between which small things are still done
            yield from service.desk.refresh(meaning=False)
        return Imported(os.path.basename(sounds.path), len(changed), step.number if step else 0)

    return Job(f"Importing {os.path.basename(sounds.path)}", work, kind="list")
