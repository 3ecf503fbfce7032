"""Compares a folder with what the catalog knows of it, by ``stat`` alone.

The outcome is a plan: what has to be read, what is unchanged, what is gone. Whether "gone" means
deleted or "the disk is not there" is decided here, and in doubt nothing is called deleted.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import dataclass, field

from foley_desktop import __version__
from foley_desktop.library.catalog import Catalog, FileState, KnownFile, KnownRejection, Volume
from foley_desktop.library.catalog_clips import join_path
from foley_desktop.library.database import as_text, decode_path
from foley_desktop.library.scan import FoundFile, Surroundings, volume_of, walk
from foley_desktop.models import Progress, Rejection, Root

READER = f"{__version__}/2"
"""Who refused a file. Another version of the app reads refused files again: it may know better."""

RETRIED = frozenset(["vanished", "no_permission", "still_being_written"])
"""Reasons that may pass without the file's times changing; such files are tried at every run."""

_MASS = 20
_PROGRESS_EVERY = 1000
_PROBLEMS = {
    "vanished": "The link leads to a file that is not there.",
    "not_audio": "This is not a file but a device, pipe or socket.",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What is scanned: a root, or a folder below it (``prefix``, empty for the whole root)."""

    root: Root
    prefix: bytes


@dataclass(slots=True)
class Task:
    """A file to take up: to be read, to be refused unread, or moved here without a change."""

    rel_path: bytes
    state: FileState
    clip_id: str | None = None
    former: tuple[KnownFile, ...] = ()
    """Missing clips that once stood at this path."""
    refusal: tuple[str, str] | None = None
    moved: KnownFile | None = None

    @property
    def to_read(self) -> bool:
        return self.refusal is None and self.moved is None

    @property
    def name(self) -> str:
        return decode_path(self.rel_path).rpartition("/")[2]


@dataclass(slots=True)
class Plan:
    """What a comparison came to, for one scope."""

    scope: Scope
    online: bool = True
    volume: Volume | None = None
    tasks: list[Task] = field(default_factory=list)
    gone: list[KnownFile] = field(default_factory=list)
    known: int = 0
    unchanged: int = 0
    returned: int = 0
    """Clips that had been missing and are there again, untouched."""
    settled: int = 0
    """Files found that need no reading."""
    surroundings: Surroundings = field(default_factory=Surroundings)
    notices: list[str] = field(default_factory=list)

    def path(self, file: Task | KnownFile) -> str:
        """Absolute path."""
        return join_path(os.fsencode(self.scope.root.path), file.rel_path)

    def is_link(self, task: Task) -> bool:
        return os.path.islink(self.path(task))

    def note_gone(self, task: Task) -> None:
        """A file that went away between scan and reading."""
        if task.clip_id is not None:
            self.gone.append(KnownFile(task.clip_id, task.rel_path, task.state, "ok", ""))

    def unreadable_folders(self) -> list[Rejection]:
        """Folders whose content is unknown, as entries of the report."""
        found = []
        for rel_path, words in self.surroundings.unreadable:
            path = join_path(os.fsencode(self.scope.root.path), rel_path)
            found.append(Rejection(path, "no_permission", f"The folder cannot be read: {words}."))
        return found


def compare(catalog: Catalog, scope: Scope) -> Generator[Progress, None, Plan]:
    """Scans ``scope`` and gives the plan. Writes only what is certain: unchanged, offline, returned."""
    plan = Plan(scope)
    root = scope.root
    plan.volume = volume_of(root.path)
    if plan.volume is None:
        _set_offline(catalog, plan)
        return plan
    found: list[FoundFile] = []
    for file in walk(root.path, scope.prefix, plan.surroundings):
        found.append(file)
        if len(found) % _PROGRESS_EVERY == 0:
            yield Progress(len(found), len(found), "Looking for sounds")
    present, missing = catalog.known_files(root.id, scope.prefix)
    if _disk_is_away(catalog, plan, found, present):
        _set_offline(catalog, plan)
        return plan
    if not root.online:
        catalog.set_root_online(root.id, True)
    former_volume = catalog.volume(root.id)
    catalog.set_volume(root.id, plan.volume, os.fsencode(os.path.realpath(root.path)))
    plan.known = len(present)
    _sort_found(catalog, plan, found, present, missing)
    _sort_gone(catalog, plan, {file.rel_path for file in found}, present, former_volume)
    return plan


def _disk_is_away(
    catalog: Catalog, plan: Plan, found: list[FoundFile], present: dict[bytes, KnownFile]
) -> bool:
    """Whether the root is an empty mount point, or another disk stands in its place."""
    root, prefix = plan.scope.root, plan.scope.prefix
    if any(file.rel_path in present for file in found) or not catalog.has_clips(root.id):
        return False
    if not prefix or not plan.surroundings.entries:
        if is_empty(root.path):
            return True
        before = catalog.volume(root.id).identity
        assert plan.volume is not None
        return bool(present) and bool(before) and before != plan.volume.identity
    return False


def is_empty(folder: str) -> bool:
    """Whether nothing at all is in a folder, as in a mount point without its disk."""
    try:
        with os.scandir(folder) as listing:
            return next(listing, None) is None
    except OSError:
        return True


def _set_offline(catalog: Catalog, plan: Plan) -> None:
    root = plan.scope.root
    plan.online = False
    if root.online or catalog.root(root.id) != root:
        catalog.set_root_online(root.id, False)
    plan.notices.append(f"The folder {as_text(root.path)} is not there; its clips are offline.")


def _sort_found(
    catalog: Catalog,
    plan: Plan,
    found: list[FoundFile],
    present: dict[bytes, KnownFile],
    missing: list[KnownFile],
) -> None:
    """Sorts what was found into unchanged, returned and tasks."""
    rejections = catalog.known_rejections(plan.scope.root.id, plan.scope.prefix)
    former: dict[bytes, list[KnownFile]] = {}
    for lost in missing:
        former.setdefault(lost.rel_path, []).append(lost)
    touched: list[tuple[str, FileState]] = []
    for file in found:
        clip = present.get(file.rel_path)
        refused = rejections.get(file.rel_path)
        if refused is not None and _still_refused(file, refused):
            plan.settled += 1
        elif file.problem:
            plan.tasks.append(
                Task(file.rel_path, file.state, refusal=(file.problem, _PROBLEMS[file.problem]))
            )
        elif clip is not None and clip.state.same_content(file.state) and clip.sidecar == file.sidecar:
            plan.settled += 1
            plan.unchanged += 1
            if clip.status != "ok" or clip.state.dev != file.state.dev:
                touched.append((clip.id, file.state))
        elif clip is not None:
            plan.tasks.append(Task(file.rel_path, file.state, clip.id))
        else:
            once = tuple(former.get(file.rel_path, ()))
            same = [known for known in once if known.state.same_content(file.state)]
            if same and refused is None:
                plan.settled += 1
                plan.returned += 1
                touched.append((same[0].id, file.state))
            else:
                plan.tasks.append(Task(file.rel_path, file.state, former=once))
    if touched:
        catalog.touch_clips(touched)
    names = {file.rel_path for file in found}
    dropped = [path for path in rejections if path not in names and not _hidden(plan, path)]
    if dropped:
        catalog.drop_rejections(plan.scope.root.id, dropped)


def _still_refused(file: FoundFile, refused: KnownRejection) -> bool:
    if file.problem:
        return refused.reason == file.problem
    return (
        refused.reader == READER and refused.reason not in RETRIED and refused.state.same_content(file.state)
    )


def _hidden(plan: Plan, rel_path: bytes) -> bool:
    """Whether a path lies in a folder that could not be read, so that nobody knows what is there."""
    return any(not folder or rel_path.startswith(folder + b"/") for folder, _ in plan.surroundings.unreadable)


def _sort_gone(
    catalog: Catalog, plan: Plan, names: set[bytes], present: dict[bytes, KnownFile], before: Volume
) -> None:
    """What was not found: gone, hidden in an unreadable folder, or on a disk mounted inside the root."""
    away: list[str] = []
    for rel_path, clip in present.items():
        if rel_path in names or _hidden(plan, rel_path):
            continue
        if before.dev is not None and clip.state.dev != before.dev and _unmounted(plan, clip):
            away.append(clip.id)
        else:
            plan.gone.append(clip)
    if away:
        catalog.set_offline(away)
        plan.notices.append(f"{len(away)} clips lie on a disk that is not there; they are offline.")


def _unmounted(plan: Plan, clip: KnownFile) -> bool:
    """Whether a clip of an inner disk has the root's own disk in its place now."""
    folder = os.path.dirname(plan.path(clip))
    while not os.path.isdir(folder) and len(folder) > len(plan.scope.root.path):
        folder = os.path.dirname(folder)
    volume = volume_of(folder)
    return volume is None or (plan.volume is not None and volume.dev == plan.volume.dev)


def finish(catalog: Catalog, plan: Plan) -> int:
    """Marks as missing what is gone and was not found elsewhere; gives their number.

    The folder is looked at again first: it may have gone away while its files were read. When most
    of it is gone, vectors are kept too: that is rarely meant.
    """
    if not plan.online or not plan.gone:
        return 0
    root = plan.scope.root
    if catalog.root(root.id) is None:
        return 0
    if volume_of(root.path) != plan.volume or is_empty(root.path):
        _set_offline(catalog, plan)
        return 0
    here = catalog.still_at(root.id, [clip.id for clip in plan.gone])
    left = [
        clip.id
        for clip in plan.gone
        if here.get(clip.id) == clip.rel_path and not os.path.lexists(plan.path(clip))
    ]
    mass = len(left) > _MASS and 2 * len(left) > plan.known
    if left:
        catalog.set_missing(left, retained=mass)
    if mass:
        plan.notices.append(
            f"{len(left)} of {plan.known} clips of {as_text(root.path)} are gone. "
            "They are kept as missing, with everything known of them."
        )
    return len(left)
