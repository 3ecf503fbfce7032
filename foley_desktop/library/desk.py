"""The librarian's desk as the window calls it: editing, writing into files, categories, names, deliveries.

Blocking and thread-safe like :class:`foley_desktop.library.service.LibraryService`, whose ``desk`` it is;
long work comes as generators that yield :class:`Progress` and can be closed at any yield.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import TYPE_CHECKING

from foley_desktop.errors import FoleyError, IndexStoreError, LibraryBusyError, ModelError
from foley_desktop.library import delivering, editing, lists, renaming, trashing, write_preview, writeback
from foley_desktop.library.catalog_edits import Step
from foley_desktop.library.categories import Category, category_tree, unlabelled
from foley_desktop.library.derived import Derived
from foley_desktop.library.editing import FIELDS, Editor, Field, Shown
from foley_desktop.library.ucs_names import NameParts, UcsFileName, ucs_names
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.models import Progress

if TYPE_CHECKING:
    from foley_desktop.library.service import LibraryService
    from foley_desktop.library.suggesting import Suggestion

log = logging.getLogger(__name__)


class Desk:
    """What a librarian does with one library. Stateless: what lasts is in the catalog and the files."""

    def __init__(self, service: LibraryService) -> None:
        self._service = service
        self._catalog = service.catalog
        self.editor = Editor(service.catalog)

    # --- editing

    @property
    def fields(self) -> tuple[Field, ...]:
        """The inspector's fields in order."""
        return FIELDS

    def inspect(self, ids: Collection[str]) -> dict[str, Shown]:
        """Every field over a selection; see :meth:`foley_desktop.library.editing.Editor.inspect`."""
        return self.editor.inspect(ids)

    def set_fields(self, ids: Collection[str], values: Mapping[str, str], label: str = "") -> list[str]:
        """Sets fields of some clips in the catalog, searchable at once; gives the ids of those that changed.

        Raises:
            CatalogError: a field cannot be edited, or there is no such CatID.
        """
        return self._worded(self.editor.set_fields(ids, values, label))

    def revert(self, ids: Collection[str], fields: Collection[str] | None = None) -> list[str]:
        """Lets the files' own values count again."""
        return self._worded(self.editor.revert(ids, fields))

    def next_undo(self) -> Step | None:
        """The step that :meth:`undo` would take back, with its label."""
        return self._catalog.next_step(undone=False)

    def next_redo(self) -> Step | None:
        """The step that :meth:`redo` would do again."""
        return self._catalog.next_step(undone=True)

    def undo(self) -> Generator[Progress, None, str]:
        """Takes the latest step back: an edit, a renaming, files thrown away.

        Returns:
            Its label, "" when there is none.

        Raises:
            RenameError: a renaming cannot be taken back; everything is as it was.
            TagWriteError: a file that was thrown away cannot be put back.
        """
        return self._again(self.next_undo(), self.editor.undo)

    def redo(self) -> Generator[Progress, None, str]:
        """Does the step again that was taken back last."""
        return self._again(self.next_redo(), self.editor.redo)

    def _again(self, step: Step | None, put: Callable[[Step], list[str]]) -> Generator[Progress, None, str]:
        if step is None:
            return ""
        if step.kind == editing.KIND:
            self._worded(put(step))
            return step.label
        try:
            if step.kind == renaming.KIND:
                yield from renaming.reverse(self._catalog, step.document["log"], step=step)
            elif step.undone:
                paths = [str(path) for path, _ in step.document["thrown"]]
                clips = [self._catalog.clip_by_path(path) for path in paths]
                ids = [clip.id for clip in clips if clip is not None and clip.id]
                yield from trashing.throw_away(self._catalog, ids, step=step)
            else:
                yield from trashing.put_back(self._catalog, step)
        except FoleyError:
            yield from self.refresh(meaning=False)
            raise
        yield from self.refresh(meaning=False)
        return step.label

    def forget_step(self, step: Step) -> None:
        """Gives up a step that cannot be taken back, so that those before it can be."""
        self._catalog.drop_steps([step.number])

    # --- indexes

    def make_searchable(self, ids: Collection[str]) -> None:
        """Lets the search know the words of clips that were edited in the catalog alone."""
        self._worded(list(ids))

    def _worded(self, ids: list[str]) -> list[str]:
        """Makes changed words searchable now. While the library is being indexed, that run does it."""
        if ids:
            try:
                with writer_lock(self._service.data):
                    self._derived().add_words(ids)
            except (LibraryBusyError, IndexStoreError) as error:
                log.info("%d clips become searchable by their new words later: %s", len(ids), error)
        return ids

    def refresh(self, *, meaning: bool = True) -> Generator[Progress, None, bool]:
        """Brings the indexes of words and (with ``meaning``) of their meaning up to date after edits.

        Returns:
            Whether they are; False while the library is being written to, or the models fail.
        """
        try:
            with writer_lock(self._service.data):
                derived = self._derived()
                yield from derived.keyword()
                if meaning:
                    yield from derived.semantic()
        except (LibraryBusyError, ModelError) as error:
            log.info("the indexes are brought up to date later: %s", error)
            return False
        return True

    def _derived(self) -> Derived:
        return Derived(self._catalog, self._service.indexes, self._service.models)

    # --- files

    def set_root_locked(self, root_id: int, locked: bool) -> None:
        """Whether files of a folder are protected from renaming, writing and throwing away."""
        self._catalog.set_root_locked(root_id, locked)

    def edited_ids(self) -> list[str]:
        """Clips with edits that are not in their files yet."""
        return self._catalog.edited_ids()

    def unwritten(self, ids: Collection[str]) -> int:
        """In how many of these clips there are edits that are not in their files yet."""
        return self._catalog.count_edited(ids)

    def preview_write(
        self, ids: Collection[str], *, everything: bool = False
    ) -> list[write_preview.FilePlan]:
        """What writing would change in each file; see ``write_preview``."""
        return write_preview.preview_write(self._catalog, ids, everything=everything)

    def write_to_files(
        self, ids: Collection[str], *, everything: bool = False, backup: bool = False
    ) -> Generator[Progress, None, writeback.WriteReport]:
        """Writes edits into the files; see :func:`foley_desktop.library.writeback.write_back`.

        Raises:
            LockedError: a folder is locked; no file has been touched.
            LibraryBusyError: the library is being indexed.
        """
        report = yield from writeback.write_back(self._catalog, ids, everything=everything, backup=backup)
        yield from self.refresh(meaning=False)
        return report

    def throw_away(self, ids: Collection[str]) -> Generator[Progress, None, trashing.TrashReport]:
        """Puts files into the system's wastebasket; see :func:`foley_desktop.library.trashing.throw_away`."""
        report = yield from trashing.throw_away(self._catalog, ids)
        yield from self.refresh(meaning=False)
        return report

    # --- names

    def ucs_names(self, ids: Sequence[str], parts: NameParts) -> dict[str, UcsFileName]:
        """UCS names for some clips, with what each lacks to be a whole one."""
        return ucs_names(self._catalog, ids, parts)

    def preview_rename(self, names: Mapping[str, str]) -> renaming.RenamePlan:
        """The plan of giving clips (by id) new names, with all conflicts."""
        return renaming.preview(self._catalog, names)

    def rename(self, plan: renaming.RenamePlan) -> Generator[Progress, None, renaming.RenameReport]:
        """Carries a plan out; see :func:`foley_desktop.library.renaming.rename`."""
        report = yield from renaming.rename(self._catalog, plan)
        yield from self.refresh(meaning=False)
        return report

    def rename_logs(self) -> list[str]:
        """Logs of former renamings, the latest first."""
        return [str(log) for log in renaming.rename_log.logs(self._service.data)]

    def rename_history(self, limit: int = 200) -> list[renaming.rename_log.Batch]:
        """Former batches with their names, the latest first."""
        return renaming.rename_log.batches(self._service.data, limit)

    def reverse_rename(self, log: str) -> Generator[Progress, None, renaming.RenameReport]:
        """Gives the files of a log their former names again, as a step of its own."""
        report = yield from renaming.reverse(self._catalog, log)
        yield from self.refresh(meaning=False)
        return report

    # --- deliveries

    def plan_delivery(
        self, ids: Sequence[str], folder: str, parts: NameParts, names: Mapping[str, str] | None = None
    ) -> delivering.DeliveryPlan:
        """Checks everything about a delivery before its first file is made."""
        return delivering.plan_delivery(self._catalog, ids, folder, parts, names=names)

    def deliver(self, plan: delivering.DeliveryPlan) -> Generator[Progress, None, delivering.DeliveryReport]:
        """Makes the copies and their manifest; see :func:`foley_desktop.library.delivering.deliver`."""
        return delivering.deliver(self._catalog, plan)

    # --- lists

    def read_list(self, path: str, *, encoding: str = "", delimiter: str = "") -> lists.SoundList:
        """Reads another librarian's list and guesses what its columns mean."""
        return lists.read_list(path, encoding=encoding, delimiter=delimiter)

    def preview_list(
        self,
        sounds: lists.SoundList,
        mapping: Mapping[int, str],
        *,
        replace: bool = True,
        several: bool = True,
    ) -> lists.ListPreview:
        """What a list would change with its columns meaning ``mapping``; see :func:`lists.preview_list`."""
        return lists.preview_list(self._catalog, sounds, mapping, replace=replace, several=several)

    def apply_list(self, sounds: lists.SoundList, preview: lists.ListPreview) -> list[str]:
        """Sets what the preview showed, as one step to take back."""
        return self._worded(lists.apply_list(self._catalog, sounds, preview))

    # --- categories

    def category_tree(self, *, whole: bool = False) -> tuple[Category, ...]:
        """Categories and subcategories with the number of their clips."""
        return category_tree(self._catalog, whole=whole)

    def unlabelled(self) -> int:
        """How many clips have no category; ``categories.UNLABELLED`` narrows to them."""
        return unlabelled(self._catalog)

    def suggest_categories(
        self,
        ids: Sequence[str],
        take: Callable[[dict[str, tuple[Suggestion, ...]]], object] | None = None,
    ) -> Generator[Progress, None, dict[str, tuple[Suggestion, ...]]]:
        """Categories for clips, the likeliest first, with a confidence; see ``suggesting``.

        ``take`` is handed what each step found. What the user refused for a clip is not suggested again.
        """
        from foley_desktop.library.suggesting import Suggester

        service = self._service
        suggester = Suggester(self._catalog, service.indexes, service.models)
        return suggester.suggest(ids, refused=service.shelf.refused(ids), take=take)

    def accept_categories(self, catids: Mapping[str, str]) -> list[str]:
        """Sets the CatIDs (by clip id) that the user accepted, as one step."""
        from foley_desktop.library import ucs

        changes = {}
        for clip_id, catid in catids.items():
            found = ucs.canonical(catid)
            if not found:
                raise FoleyError(f"The UCS has no CatID {catid}.")
            category, subcategory = ucs.table()[found]
            changes[clip_id] = {"catid": found, "category": category, "subcategory": subcategory}
        label = "Accept a category" if len(changes) == 1 else f"Accept {len(changes)} categories"
        return self._worded(self.editor.apply(changes, label))
