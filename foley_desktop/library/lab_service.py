"""The relevance lab as the window and scripts call it: golden sets, grading, measuring, baselines, tuning.

Blocking and thread-safe like :class:`foley_desktop.library.service.LibraryService`, whose ``lab`` it is; long
work comes as generators that yield :class:`Progress` and can be closed at any yield.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from typing import TYPE_CHECKING, Any

import foley_desktop
from foley_desktop.errors import GoldenSetError
from foley_desktop.eval.golden import GoldenSet, resolve
from foley_desktop.library.baselines import BaselineStore
from foley_desktop.library.evaluation import conditions
from foley_desktop.library.golden_files import Imported, Naming, export_set, import_set, merge_file
from foley_desktop.library.golden_store import GoldenStore
from foley_desktop.library.grading import POOL_DEPTH, GradingSession
from foley_desktop.library.lab import LabReport, LabSettings, measure
from foley_desktop.library.lab_details import QueryDetails, details
from foley_desktop.library.tuning import Tuning, tune
from foley_desktop.models import MODES, Condition, Filters, Mode, Progress

if TYPE_CHECKING:
    import os

    from foley_desktop.library.service import LibraryService

INDEX_NAMES = ("keyword", "semantic", "audio")
FUSION_SETTINGS = ("fusion", "fusion_weights", "fusion_depth")


class Lab:
    """The relevance lab of one library. Stateless: what lasts is in the catalog and the settings.

    ``sets`` and ``baselines`` are the stores of golden sets and baselines.
    """

    def __init__(self, service: LibraryService) -> None:
        self._service = service
        self.sets = GoldenStore(service.catalog)
        self.baselines = BaselineStore(service.catalog, self.sets)

    # --- files

    def import_set(self, path: str | os.PathLike[str], name: str = "") -> Imported:
        """Reads a golden set from a file; see :func:`foley_desktop.library.golden_files.import_set`."""
        return import_set(self.sets, path, name)

    def merge_file(self, set_id: str, path: str | os.PathLike[str]) -> Imported:
        """Takes a file's queries and judgements into a set that is there."""
        return merge_file(self.sets, set_id, path)

    def export_set(self, set_id: str, path: str | os.PathLike[str], naming: Naming = "id") -> None:
        """Writes a golden set to a file of the kind that its ending says."""
        export_set(self.sets, self._service.catalog, set_id, path, naming)

    # --- grading

    def pool(self, text: str, depth: int = POOL_DEPTH) -> list[str]:
        """The ids of the clips that any mode puts among its first ``depth`` for a query, sorted.

        Raises:
            ModelError: the models cannot be started.
        """
        found = {hit.id for mode in MODES for hit in self._service.search(text, k=depth, mode=mode).hits}
        return sorted(found)

    def session(
        self,
        set_id: str,
        grader: str,
        *,
        depth: int = POOL_DEPTH,
        focus: Mapping[str, Collection[str]] | None = None,
        restart: bool = False,
    ) -> GradingSession:
        """Begins a grading session or goes on with one.

        Args:
            set_id: The golden set.
            grader: Who grades.
            depth: How many of each mode's first results are pooled.
            focus: Grade only these, such as :attr:`LabComparison.to_grade`.
            restart: Begin at the first query again.

        Raises:
            GoldenSetError: there is nothing to grade, or no grader.
        """
        return GradingSession(
            self.sets,
            self._service.catalog,
            set_id,
            grader,
            lambda text: self.pool(text, depth),
            focus=focus,
            restart=restart,
        )

    # --- measuring

    def measure(
        self, golden: str | GoldenSet, settings: LabSettings | None = None
    ) -> Generator[Progress, None, LabReport]:
        """Runs a golden set (its id, or one from elsewhere) through every mode that the settings name.

        A folder that ``settings.left_out`` names is searched without, and grades of its clips do not
        count. Its words still count in BM25's statistics, which a library without it would not have.

        Raises:
            GoldenSetError: there is no such set, or none of its queries has an answer.
        """
        settings = settings or LabSettings()
        yield Progress(0, 0, "Looking up clips")
        if isinstance(golden, str):
            self.sets.adopt(golden)
            golden = self.sets.golden(golden, settings.graders)
        service, catalog, filters = self._service, self._service.catalog, self._filters(settings.left_out)
        known = catalog.clips(clip for row in golden.qrels.values() for clip in row)
        fingerprints: dict[str, str] = {}

        def conditions_now() -> dict[str, Any]:
            # The fingerprint takes a while for a large library, and only a write can change it.
            written = catalog.generation()
            if written not in fingerprints:
                fingerprints[written] = catalog.fingerprint()
            return self._conditions(golden, settings) | {"library_hash": fingerprints[written]}

        report = yield from measure(
            golden,
            settings,
            search=lambda text, depth, mode: service.search(text, k=depth, mode=mode, filters=filters),
            find_id=lambda key: key if key in known else catalog.find(key).id,
            conditions=conditions_now,
            without=self._ids_below(settings.left_out),
        )
        return report

    def details(self, report: LabReport, mode: Mode, query_id: str, limit: int = 50) -> QueryDetails:
        """One query of a report with each ranker's view; see :func:`lab_details.details`."""
        return details(
            report,
            mode,
            query_id,
            searcher=self._service.searcher,
            catalog=self._service.catalog,
            filters=self._filters(report.settings.left_out),
            limit=limit,
        )

    def _conditions(self, golden: GoldenSet, settings: LabSettings) -> dict[str, Any]:
        service = self._service
        meta = conditions(golden, settings.modes[0], settings.k, service.measurement_conditions())
        del meta["mode"]
        return meta | {
            "app_version": foley_desktop.__version__,
            "indexes": {name: service.indexes.version(name) for name in INDEX_NAMES},
        }

    def _filters(self, left_out: str) -> Filters:
        return Filters((Condition("folder", "!=", left_out),)) if left_out else Filters()

    def _ids_below(self, left_out: str) -> list[str]:
        if not left_out:
            return []
        roots = [root for root in self._service.roots() if root.path == left_out]
        if not roots:
            raise GoldenSetError(f"There is no folder {left_out} in this library.")
        return self._service.catalog.ids_of_root(roots[0].id)

    # --- tuning

    def tune(self, set_id: str, k: int = 10) -> Generator[Progress, None, Tuning]:
        """Searches fusion weights on a golden set and changes nothing; see :func:`tuning.tune`.

        Raises:
            GoldenSetError: there is no such set, or it has fewer than 20 graded queries.
        """
        yield Progress(0, 0, "Looking up clips")
        self.sets.adopt(set_id)
        golden = self.sets.golden(set_id)
        qrels = resolve(golden, lambda clip: clip).qrels
        return (yield from tune(golden.texts, qrels, searcher=self._service.searcher, k=k))

    def apply(self, tuning: Tuning) -> None:
        """Puts a tuned fusion to use, from the next search on, and remembers the settings before it."""
        settings = self._service.settings
        settings.fusion_before = {name: getattr(settings, name) for name in FUSION_SETTINGS}
        settings.fusion = tuning.fusion.name
        settings.fusion_weights = dict(tuning.fusion.weights)
        settings.fusion_depth = tuning.fusion.depth
        settings.save(self._service.data.settings_file)

    @property
    def can_revert(self) -> bool:
        """Whether there is a fusion from before the last tuning to go back to."""
        return bool(self._service.settings.fusion_before)

    def revert(self) -> None:
        """Goes back to the fusion before the last tuning; without one, nothing happens."""
        settings = self._service.settings
        for name, value in settings.fusion_before.items():
            if name in FUSION_SETTINGS and type(value) is type(getattr(settings, name)):
                setattr(settings, name, value)
        settings.fusion_before = {}
        settings.save(self._service.data.settings_file)
