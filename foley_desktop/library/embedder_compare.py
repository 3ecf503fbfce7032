"""Two embedders on one golden set, side by side: what the other one would find, before it takes over.

Both search the same library at the same moment, the active embedder and one whose vectors lie beside its
own; all that differs is who listens. Everything about fusion stays as the settings have it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from foley_desktop.errors import GoldenSetError, ModelError
from foley_desktop.eval.significance import Comparison, compare_runs
from foley_desktop.library.evaluation import Evaluation, evaluate
from foley_desktop.library.searching import Searcher
from foley_desktop.models import Mode, Progress

if TYPE_CHECKING:
    from foley_desktop.eval.golden import GoldenSet
    from foley_desktop.library.service import LibraryService

COMPARED_MODES: tuple[Mode, ...] = ("hybrid", "audio")
"""Where an embedder makes a difference: in everything together, and by itself."""


@dataclass(frozen=True, slots=True)
class Side:
    """One embedder: its evaluations by mode, and the sounds it knows of all that are there."""

    name: str
    model_id: str
    heard: int
    clips: int
    evaluations: Mapping[Mode, Evaluation]


@dataclass(frozen=True, slots=True)
class QueryPair:
    """One query under both embedders: its metrics by name, and the rank of its best answer (0: not found)."""

    query_id: str
    text: str
    old: Mapping[str, float]
    new: Mapping[str, float]
    old_rank: int
    new_rank: int


@dataclass(frozen=True, slots=True)
class EmbedderComparison:
    """The active embedder (``old``) and another one (``new``) on the golden set ``golden``, at the cut ``k``.

    ``verdicts`` are the paired comparisons by mode and metric, ``notes`` sentences on what to bear in mind.
    """

    golden: str
    k: int
    old: Side
    new: Side
    verdicts: Mapping[Mode, Mapping[str, Comparison]]
    notes: tuple[str, ...] = ()

    @property
    def modes(self) -> tuple[Mode, ...]:
        return tuple(self.old.evaluations)

    def metrics(self, mode: Mode) -> list[str]:
        """The metrics with their cut, the one that counts first."""
        return list(self.old.evaluations[mode].report.mean)

    def means(self, mode: Mode) -> dict[str, tuple[float, float]]:
        """``{metric: (old, new)}``, means over the queries that have an answer."""
        old, new = (side.evaluations[mode].report.mean for side in (self.old, self.new))
        return {metric: (old[metric], new[metric]) for metric in old}

    def rows(self, mode: Mode) -> list[QueryPair]:
        """Every query that has an answer, in the set's order."""
        old, new = (side.evaluations[mode] for side in (self.old, self.new))
        return [
            QueryPair(
                query,
                old.texts[query],
                values,
                new.report.per_query[query],
                old.report.ranks[query],
                new.report.ranks[query],
            )
            for query, values in old.report.per_query.items()
        ]

    def verdict(self, mode: Mode, metric: str = "") -> Comparison:
        """The paired comparison of a metric, by default nDCG at the cut."""
        return self.verdicts[mode][metric or f"ndcg@{self.k}"]


def evaluate_with(
    service: LibraryService, golden: GoldenSet, name: str, *, mode: Mode = "hybrid", k: int = 10
) -> Generator[Progress, None, Evaluation]:
    """Runs a golden set as if the embedder ``name`` were the active one; see :func:`evaluation.evaluate`.

    Raises:
        ModelError: there is no such embedder, it has no weights, or it knows no sound yet.
    """
    if name == service.settings.embedder:
        return (yield from service.evaluate(golden, mode=mode, k=k))
    _check(service, name)
    indexes = service.indexes.of(name)
    searcher = Searcher(service.catalog, indexes, service.models, service.settings)
    return (
        yield from evaluate(
            golden,
            search=lambda text, depth: searcher.search(text, k=depth, mode=mode),
            find_id=lambda key: service.catalog.find(key).id,
            mode=mode,
            k=k,
            meta=service.measurement_conditions(name),
        )
    )


def compare_embedders(
    service: LibraryService,
    golden: GoldenSet,
    name: str,
    *,
    modes: Sequence[Mode] = COMPARED_MODES,
    k: int = 10,
) -> Generator[Progress, None, EmbedderComparison]:
    """Evaluates the active embedder and ``name`` on a golden set; changes nothing.

    Raises:
        ModelError: as :func:`evaluate_with`, or ``name`` is the active one already.
        GoldenSetError: no query of the set has an answer.
    """
    active = service.settings.embedder
    if name == active:
        raise ModelError(f"{name} is in use already: there is nothing to compare it with.")
    _check(service, name)
    found: dict[str, dict[Mode, Evaluation]] = {active: {}, name: {}}
    runs = [(embedder, mode) for embedder in found for mode in modes]
    for number, (embedder, mode) in enumerate(runs):
        job = evaluate_with(service, golden, embedder, mode=mode, k=k)
        found[embedder][mode] = yield from _part_of(job, number, len(runs), f"{embedder}, {mode}")
    sides = [_side(service, embedder, evaluations) for embedder, evaluations in found.items()]
    if not sides[0].evaluations[modes[0]].report.per_query:
        raise GoldenSetError("No query of this golden set has an answer yet.", hint="Grade some clips first.")
    verdicts: dict[Mode, dict[str, Comparison]] = {}
    for mode in modes:
        yield Progress(1, 1, f"{mode}: how sure the difference is")
        verdicts[mode] = _verdicts(*(side.evaluations[mode] for side in sides))
    return EmbedderComparison(golden.name, k, sides[0], sides[1], verdicts, tuple(_notes(sides)))


def _verdicts(old: Evaluation, new: Evaluation) -> dict[str, Comparison]:
    before, after = old.report.per_query, new.report.per_query
    return {
        metric: compare_runs(
            {query: values[metric] for query, values in before.items()},
            {query: values[metric] for query, values in after.items()},
        )
        for metric in old.report.mean
    }


def _part_of(
    job: Generator[Progress, None, Evaluation], number: int, parts: int, what: str
) -> Generator[Progress, None, Evaluation]:
    """The progress of one run as a part of several equal ones."""
    while True:
        try:
            step = next(job)
        except StopIteration as done:
            evaluation: Evaluation = done.value
            return evaluation
        left = None
        if step.rate:
            left = (step.total * (parts - number) - step.done) / step.rate
        yield replace(
            step,
            done=number * step.total + step.done,
            total=parts * step.total,
            what=f"{what}: {step.what}",
            remaining_s=left,
        )


def _check(service: LibraryService, name: str) -> None:
    embedders = service.embedders
    embedders.check(name)
    if not service.shares_models(name):
        raise ModelError(
            f"{name} cannot be measured beside {service.settings.embedder}: it ranks words anew as well.",
            hint="Switch to it, and measure then.",
        )
    if not embedders.progress(name)[0]:
        raise ModelError(
            f"{name} knows no sound of this library yet.",
            hint=f"Let it listen first: foley-desktop models use {name}, then index.",
        )


def _side(service: LibraryService, name: str, evaluations: Mapping[Mode, Evaluation]) -> Side:
    heard, clips = service.embedders.progress(name)
    return Side(name, service.indexes.of(name).describe().model_id, heard, clips, dict(evaluations))


def _notes(sides: Sequence[Side]) -> list[str]:
    notes = [
        f"{side.name} knows {side.heard} of {side.clips} sounds: the others cannot be found by it yet."
        for side in sides
        if side.heard < side.clips
    ]
    evaluation = next(iter(sides[0].evaluations.values()))
    if evaluation.unanswerable:
        notes.append(f"Queries that expect no answer are left out: {len(evaluation.unanswerable)}.")
    if evaluation.unknown_clips:
        count = len(evaluation.unknown_clips)
        notes.append(f"Graded clips that are not in this library count as not found: {count}.")
    return notes
