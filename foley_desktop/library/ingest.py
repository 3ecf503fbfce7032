"""Indexing: from folders on disk to a catalog and indexes that agree with them.

First the whole of every folder is scanned and its files read in path order (lengths, tags, words), so
that everything is searchable by words soon; then come the vectors of words, then those of sound.
Unchanged files are recognised by ``stat`` alone. Every step is taken up again after a kill: what was
committed stays, what was not is still to do, and path order makes the outcome the same either way.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from foley_desktop.errors import ModelError
from foley_desktop.library.attention import Attention
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.comparing import READER, Plan, Scope, Task, compare, finish
from foley_desktop.library.derived import Derived
from foley_desktop.library.identity import Identities
from foley_desktop.library.meter import Meter
from foley_desktop.library.places import clear_the_way
from foley_desktop.library.reading import Outcome, Reader
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.models import IndexReport, Progress, Rejection
from foley_desktop.settings import DataFolder

if TYPE_CHECKING:
    from foley_desktop.index.embedders.host import Models
    from foley_desktop.library.indexes import Indexes

_FILES_A_BATCH = 48
_BATCH_S = 1.0
_WORDS_EVERY_FILES = 400
_WORDS_EVERY_S = 4.0

Job = Generator[Progress, None, IndexReport]


def ingest(
    catalog: Catalog,
    indexes: Indexes,
    folders: Sequence[str] | None,
    *,
    models: Models,
    audio: bool = True,
    attention: Attention | None = None,
) -> Job:
    """Brings the library up to date with ``folders`` (None: every root), which become roots if new.

    Closing the generator at any yield cancels; what was finished stays.

    Args:
        audio: False leaves out the vectors of sound, and nothing else.
        attention: What is listened to first; the outcome is the same in any order.

    Raises:
        LibraryBusyError: this library is being indexed already.
        CatalogError: a folder does not exist.
    """
    started = time.monotonic()
    data = DataFolder(catalog.path.parent)
    with writer_lock(data):
        run = _Run(catalog, Derived(catalog, indexes, models, attention), clear_the_way(data))
        scopes = list(_scopes(catalog, folders))
        plans = []
        for scope in scopes:
            plans.append((yield from compare(catalog, scope)))
        yield from run.read(plans)
        run.finish(plans)
        yield from run.derive(audio=audio)
        return run.report(plans, time.monotonic() - started)


def refill(catalog: Catalog, indexes: Indexes, *, models: Models, audio: bool = True) -> Job:
    """Makes what the bookkeeping says the derived indexes lack, without looking at any folder.

    Raises:
        LibraryBusyError: this library is being indexed already.
    """
    started = time.monotonic()
    data = DataFolder(catalog.path.parent)
    with writer_lock(data):
        run = _Run(catalog, Derived(catalog, indexes, models), clear_the_way(data))
        yield from run.derive(audio=audio)
        return run.report([], time.monotonic() - started)


def _scopes(catalog: Catalog, folders: Sequence[str] | None) -> Iterator[Scope]:
    """What to scan, each folder once: those inside another one of the list are part of it."""
    if folders is None:
        yield from (Scope(root, b"") for root in catalog.roots())
        return
    # All are placed first: a later folder may take an earlier one's root in.
    for folder in folders:
        catalog.place(folder)
    placed = sorted({(root.id, prefix) for root, prefix in map(catalog.place, folders)})
    for root_id, prefix in placed:
        around = [other for i, other in placed if i == root_id and other != prefix]
        if any(not other or prefix.startswith(other + b"/") for other in around):
            continue
        root = catalog.root(root_id)
        if root is not None:
            yield Scope(root, prefix)


class _Run:
    """One run: its counts, and the steps that write."""

    def __init__(self, catalog: Catalog, derived: Derived, notices: Sequence[str] = ()) -> None:
        self._catalog = catalog
        self._derived = derived
        derived.notices += notices
        self._added = self._updated = self._unchanged = self._missing = 0
        self._worded: list[str] = []
        self._worded_at = time.monotonic()
        self._identities = Identities(catalog)

    # --- first pass

    def read(self, plans: Sequence[Plan]) -> Generator[Progress, None, None]:
        """Reads new and changed files in path order; catalog and keyword index follow in batches."""
        tasks = [(plan, task) for plan in plans for task in plan.tasks]
        self._unchanged = sum(plan.unchanged for plan in plans)
        self._updated = sum(plan.returned for plan in plans)
        self._identities.learn(plans)
        total = len(tasks) + sum(plan.settled for plan in plans)
        meter = Meter(total, "Reading")
        meter.done = total - len(tasks)
        batch: list[tuple[Plan, Task, Outcome | None]] = []
        since = time.monotonic()
        with Reader() as reader:
            outcomes = reader.read((plan.path(task), task.state) for plan, task in tasks if task.to_read)
            try:
                for plan, task in tasks:
                    batch.append((plan, task, next(outcomes) if task.to_read else None))
                    if len(batch) >= _FILES_A_BATCH or time.monotonic() - since > _BATCH_S:
                        self._store(batch)
                        batch, since = [], time.monotonic()
                    yield meter.step(1, task.name)
            finally:
                self._store(batch)
                self._flush_words(always=True)

    def _store(self, batch: Sequence[tuple[Plan, Task, Outcome | None]]) -> None:
        """Writes a batch of files into the catalog, all or none of it."""
        if not batch:
            return
        with self._catalog.write():
            # A folder may have been removed, or taken in by another, since it was scanned.
            there = self._catalog.root_ids()
            present = [entry for entry in batch if entry[0].scope.root.id in there]
            changed = [i for plan, task, outcome in present for i in self._store_one(plan, task, outcome)]
        self._worded += changed
        self._flush_words()

    def _store_one(self, plan: Plan, task: Task, outcome: Outcome | None) -> Iterator[str]:
        root_id, rel_path = plan.scope.root.id, task.rel_path
        if task.moved is not None:
            self._catalog.move_clip(task.moved.id, root_id, rel_path, task.state)
            self._updated += 1
            yield task.moved.id
            return
        if task.refusal is not None:
            self._catalog.reject(root_id, rel_path, task.state, *task.refusal, READER)
            return
        assert outcome is not None
        if outcome.reading is None:
            if outcome.reason == "vanished" and not plan.is_link(task):
                plan.note_gone(task)  # deleted since the scan: nothing to report
                return
            self._catalog.reject(root_id, rel_path, outcome.state, outcome.reason, outcome.sentence, READER)
            return
        clip_id = task.clip_id or self._identities.claim(plan, task, outcome.reading)
        if clip_id is None:
            clip_id = self._catalog.insert_clip(root_id, rel_path, outcome.state, outcome.reading)
            self._added += 1
        elif self._catalog.update_clip(clip_id, root_id, rel_path, outcome.state, outcome.reading):
            self._updated += 1
        else:
            self._unchanged += 1
        yield clip_id

    def _flush_words(self, *, always: bool = False) -> None:
        if not self._worded:
            return
        due = len(self._worded) >= _WORDS_EVERY_FILES or time.monotonic() - self._worded_at > _WORDS_EVERY_S
        if always or due:
            ids, self._worded = self._worded, []
            self._derived.add_words(ids)
            self._worded_at = time.monotonic()

    def finish(self, plans: Sequence[Plan]) -> None:
        """What is gone from folders that are there becomes missing, after all moves are known."""
        for plan in plans:
            self._missing += finish(self._catalog, plan)

    # --- derived indexes

    def derive(self, *, audio: bool) -> Generator[Progress, None, None]:
        """Words, their meaning, and sound; once more if an index had to be thrown away."""
        yield from self._derive_once(audio)
        if self._derived.damaged:
            self._derived.damaged = False
            yield from self._derive_once(audio)

    def _derive_once(self, audio: bool) -> Generator[Progress, None, None]:
        """All indexes in turn. A model that fails costs its own index only."""
        yield from self._derived.keyword()
        steps = [self._derived.semantic(), self._derived.sound(embed=audio)]
        for step in steps:
            try:
                yield from step
            except ModelError as error:
                notice = f"{error} What is left to do is taken up at the next run."
                if notice not in self._derived.notices:
                    self._derived.notices.append(notice)

    def report(self, plans: Sequence[Plan], seconds: float) -> IndexReport:
        rejected: list[Rejection] = []
        notices: list[str] = []
        for plan in plans:
            if plan.online:
                rejected += self._catalog.rejections(plan.scope.root.id, plan.scope.prefix)
                rejected += plan.unreadable_folders()
            notices += plan.notices
        return IndexReport(
            added=self._added,
            updated=self._updated,
            unchanged=self._unchanged,
            missing=self._missing,
            rejected=tuple(sorted(rejected, key=lambda rejection: rejection.path)),
            seconds=round(seconds, 3),
            notices=tuple(notices + self._derived.notices),
        )
