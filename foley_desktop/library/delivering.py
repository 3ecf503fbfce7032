"""Delivers copies of chosen clips into a folder, under UCS names, with the catalog's words in them.

Everything that could stand against it is found before the first file is made: missing categories and IDs,
characters, lengths, collisions, room on the disk. A delivery that fails or is stopped takes its files away
again. The originals are only ever read. A manifest in CSV beside the copies says what each of them is.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from foley_desktop.audio.replacing import part_beside, sync_folder, to_disk
from foley_desktop.audio.tags import best
from foley_desktop.audio.tagwriter import can_write, write_copy
from foley_desktop.errors import DeliveryError, FoleyError
from foley_desktop.library import ucs
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.database import as_text
from foley_desktop.library.file_names import flaws, key, rename_exclusive
from foley_desktop.library.meter import Meter
from foley_desktop.library.ucs_names import NameParts, UcsFileName, ucs_names
from foley_desktop.library.writeback import values_to_write
from foley_desktop.models import Clip, Progress

MANIFEST = "manifest.csv"
_SPARE_BYTES = 64 << 10
"""Room for new texts that is reckoned with for each copy."""

COLUMNS = (
    "FileName",
    "CatID",
    "Category",
    "SubCategory",
    "FXName",
    "Description",
    "Keywords",
    "CreatorID",
    "SourceID",
    "Library",
    "Duration",
    "SampleRate",
    "BitDepth",
    "Channels",
    "OriginalName",
    "OriginalPath",
    "Notes",
)
"""Columns of the manifest."""


@dataclass(frozen=True, slots=True)
class Item:
    """One copy to be made. With ``problems`` the delivery is refused; ``remarks`` are for information."""

    clip: Clip
    name: str
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeliveryPlan:
    """A delivery, checked but not begun. ``problems`` concern the whole of it, not one copy."""

    folder: str
    items: tuple[Item, ...]
    problems: tuple[str, ...] = ()
    size_bytes: int = 0
    manifest: str = MANIFEST

    @property
    def good(self) -> bool:
        return not self.problems and not any(item.problems for item in self.items)


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """What was delivered; ``notes`` are ``(file name, sentence)``."""

    folder: str
    files: tuple[str, ...]
    manifest: str
    notes: tuple[tuple[str, str], ...] = field(default=())


def plan_delivery(
    catalog: Catalog,
    ids: Sequence[str],
    folder: str,
    parts: NameParts,
    *,
    names: Mapping[str, str] | None = None,
) -> DeliveryPlan:
    """Checks everything about a delivery of some clips into ``folder``, which need not exist yet.

    Args:
        parts: What their UCS names share.
        names: Names given by the user instead, by clip id.
    """
    folder = os.path.abspath(folder)
    clips = catalog.clips(ids)
    made = ucs_names(catalog, list(clips), parts)
    wanted = {i: (names or {}).get(i) or made[i].name for i in clips}
    taken = _taken(folder)
    same: dict[str, int] = {}
    for name in wanted.values():
        same[key(name)] = same.get(key(name), 0) + 1
    items = []
    for clip in clips.values():
        name = wanted[clip.id]
        problems = _lacks(name, made[clip.id]) + flaws(name)
        if os.path.splitext(name)[1].lower() != os.path.splitext(clip.name)[1].lower():
            problems.append("The ending says what kind of file it is, and has to stay.")
        if same[key(name)] > 1:
            problems.append("Two copies would get the same name.")
        if key(name) in taken or key(name) == key(MANIFEST):
            problems.append("There is already a file of this name in the folder.")
        if clip.status != "ok" or not os.access(clip.path, os.R_OK):
            problems.append("The file cannot be read now.")
        remarks = () if can_write(clip.name) else ("Files of this kind take no tags; it is a plain copy.",)
        items.append(Item(clip, name, tuple(dict.fromkeys(problems)), remarks))
    size = sum(clip.size_bytes + _SPARE_BYTES for clip in clips.values())
    return DeliveryPlan(folder, tuple(items), tuple(_folder_problems(folder, size, taken)), size)


def _lacks(name: str, made: UcsFileName) -> list[str]:
    """What a name lacks to be a whole one by the UCS."""
    found = ucs.parse_name(os.path.splitext(name)[0])
    if found is not None and found.complete:
        return []
    return list(made.lacks) or ["This is no complete UCS name."]


def _taken(folder: str) -> set[str]:
    try:
        return {key(name) for name in os.listdir(folder)}
    except OSError:
        return set()


def _folder_problems(folder: str, size: int, taken: set[str]) -> list[str]:
    problems = []
    existing = folder
    while not os.path.lexists(existing) and os.path.dirname(existing) != existing:
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        return ["Where the folder should be, there is a file."]
    if not os.stat(existing).st_mode & 0o222 or not os.access(existing, os.W_OK | os.X_OK):
        problems.append("The folder cannot be written to.")
    with contextlib.suppress(OSError):
        if shutil.disk_usage(existing).free < size:
            problems.append("There is not enough free space on the disk.")
    if key(MANIFEST) in taken:
        problems.append(f"There is already a {MANIFEST} in the folder.")
    return problems


def deliver(catalog: Catalog, plan: DeliveryPlan) -> Generator[Progress, None, DeliveryReport]:
    """Makes the copies and the manifest. A failure, or closing the generator, takes all of them away again.

    Raises:
        DeliveryError: something stands against it, or went wrong; there is nothing new in the folder.
    """
    plan = _checked_again(catalog, plan)
    meter = Meter(len(plan.items), "Delivering")
    new_folder = not os.path.isdir(plan.folder)
    made: list[str] = []
    notes: list[tuple[str, str]] = []
    rows: list[list[str]] = []
    name = ""
    try:
        os.makedirs(plan.folder, exist_ok=True)
        for item in plan.items:
            name = item.name
            target = os.path.join(plan.folder, item.name)
            values = values_to_write(catalog, item.clip, everything=True)
            written = write_copy(item.clip.path, values if can_write(item.clip.name) else {}, target)
            made.append(target)
            remarks = [*item.remarks, *written.notes]
            notes += [(item.name, note) for note in remarks]
            rows.append(_manifest_row(catalog, item, remarks))
            yield meter.step(1, item.name)
        name = plan.manifest
        manifest = os.path.join(plan.folder, plan.manifest)
        _write_manifest(manifest, rows)
    except BaseException as error:
        _take_away(made, plan.folder if new_folder else "")
        if not isinstance(error, (OSError, FoleyError)):
            raise
        why = error.strerror if isinstance(error, OSError) else str(error)
        sentence = f"Nothing was delivered, because of {as_text(name)}: {why}"
        raise DeliveryError(sentence, cause=error) from error
    return DeliveryReport(plan.folder, tuple(made), manifest, tuple(notes))


def _checked_again(catalog: Catalog, plan: DeliveryPlan) -> DeliveryPlan:
    """The plan as it is now: names are given, so that nothing is named anew."""
    names = {item.clip.id: item.name for item in plan.items}
    now = plan_delivery(catalog, list(names), plan.folder, NameParts(), names=names)
    wrong = [item for item in now.items if item.problems]
    if now.problems or wrong:
        sentence = now.problems[0] if now.problems else f"{as_text(wrong[0].name)}: {wrong[0].problems[0]}"
        raise DeliveryError(f"Nothing was delivered. {sentence}", hint="Look at the list of copies again.")
    return now


def _take_away(made: Sequence[str], folder: str) -> None:
    for path in made:
        with contextlib.suppress(OSError):
            os.unlink(path)
    if folder:
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _manifest_row(catalog: Catalog, item: Item, remarks: Sequence[str]) -> list[str]:
    clip, tags = item.clip, catalog.tags(item.clip.id)
    name = ucs.parse_name(os.path.splitext(item.name)[0])
    category = (name.catid, name.category, name.subcategory) if name else ()
    return [
        item.name,
        *(category or (clip.catid, clip.category, clip.subcategory)),
        name.fx_name if name else clip.title,
        clip.description,
        clip.keywords,
        name.creator if name else best(tags, "creator"),
        name.source if name else best(tags, "source_id"),
        best(tags, "library"),
        f"{clip.duration_s:.3f}" if clip.duration_s is not None else "",
        str(clip.samplerate or ""),
        str(clip.bit_depth or ""),
        str(clip.channels or ""),
        clip.name,
        clip.path,
        " ".join(remarks),
    ]


def _write_manifest(path: str, rows: Sequence[Sequence[str]]) -> None:
    """A CSV that spreadsheets open: UTF-8 with its mark, cells that look like formulas defused."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows([[_cell(value) for value in row] for row in rows])
    with part_beside(os.path.dirname(path)) as (part, file):
        file.write(b"\xef\xbb\xbf" + text.getvalue().encode("utf-8"))
        to_disk(file)
        os.chmod(part, 0o644)
        rename_exclusive(part, path)
    sync_folder(os.path.dirname(path))


def _cell(value: str) -> str:
    plain = as_text(value)
    return "'" + plain if plain[:1] in ("=", "+", "@", "\t", "\r") else plain
