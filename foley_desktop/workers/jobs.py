"""The pieces of work the window asks for, as plain functions and jobs over the library service.

Nothing here knows a widget. Every function blocks and runs on a lane of the runner.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foley_desktop.library.categories import Category
from foley_desktop.library.searching import LOADING
from foley_desktop.library.service import LibraryService
from foley_desktop.library.shelf import SavedSearch
from foley_desktop.models import (
    Clip,
    Condition,
    Filters,
    Hit,
    IndexReport,
    Mode,
    Progress,
    Root,
    SearchResult,
)
from foley_desktop.workers.job import Job
from foley_desktop.workers.patterns import Pattern, alike

VECTOR_STORE = "lancedb"
PAGE = 500
"""How many clips a page of the unsearched list holds."""


@dataclass(frozen=True, slots=True)
class Request:
    """A question to the library: words, a sound to compare with, or, with neither, just the list.

    ``patterns`` are the sounds to compare with, ``wish`` says how the answers should differ from them and
    ``strength`` how much. ``order_by`` and ``descending`` count for the list only. ``typing`` says that the
    last word may be unfinished. ``balance`` is that of words (0) and sound (1), None the fusion's own;
    ``show_hidden`` lists what is hidden because it sounds like an excluded word.
    """

    text: str = ""
    mode: Mode = "hybrid"
    filters: Filters = Filters()
    patterns: tuple[Pattern, ...] = ()
    wish: str = ""
    strength: float = 0.5
    order_by: str = "name"
    descending: bool = False
    typing: bool = False
    balance: float | None = None
    show_hidden: bool = False

    @property
    def kind(self) -> str:
        """``similar``, ``text`` or ``list``."""
        if self.patterns:
            return "similar"
        return "text" if self.text.strip() else "list"

    @property
    def is_reordered(self) -> bool:
        """Whether the list stands in another order than by name."""
        return (self.order_by, self.descending) != ("name", False)

    @property
    def subject(self) -> tuple[Any, ...]:
        """Two requests with the same subject are the same question."""
        if self.patterns:
            keys = tuple((pattern.key, pattern.unlike) for pattern in self.patterns)
            wish = (self.wish.strip(), self.strength) if self.wish.strip() else ()
            return ("similar", keys, wish, self.filters)
        if self.text.strip():
            return ("text", self.text.strip(), self.mode, self.filters, self.balance, self.show_hidden)
        return ("list", self.filters, self.order_by, self.descending)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the results: a clip, and the hit that brought it when it was searched for.

    Where it stands for several takes of one sound ``takes`` is their number and ``label`` their name.
    """

    clip: Clip
    hit: Hit | None = None
    takes: int = 1
    label: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a request. ``more`` says that there is more of the list, ``total`` how much in all."""

    request: Request
    rows: tuple[Row, ...]
    more: bool = False
    notices: tuple[str, ...] = ()
    complete: bool = True
    answerable: float = 1.0
    took_ms: float = 0.0
    total: int = 0
    hidden: int = 0
    """How many sounds are hidden because of what they sound like; of those listed, where they are shown."""
    neutral: float | None = None
    """The balance that the fusion has by itself; None where there is nothing to balance."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What the sidebar shows, each with its counts; ``badges`` are the faults of files by their codes."""

    roots: tuple[Root, ...] = ()
    categories: tuple[Category, ...] = ()
    recent: tuple[str, ...] = ()
    favourites: int = 0
    unlabelled: int = 0
    collections: tuple[tuple[str, int], ...] = ()
    saved: tuple[SavedSearch, ...] = ()
    badges: tuple[tuple[str, int], ...] = ()
    unusable: int = 0

    @property
    def clip_count(self) -> int:
        return sum(root.clip_count for root in self.roots)


def find(service: LibraryService, request: Request, limit: int) -> Found:
    """Answers ``request`` with at most ``limit`` rows, without ever waiting for a model to load."""
    if request.kind == "list":
        return _listed(service, request, limit)
    if request.kind == "similar":
        result = alike(service, request.patterns, request.wish, request.strength, limit, request.filters)
    else:
        result = _search(service, request, limit)
    rows = tuple(Row(hit.sound, hit) for hit in result.hits)
    return Found(
        request,
        rows,
        notices=result.notices,
        complete=result.complete,
        answerable=result.answerable,
        took_ms=result.took_ms,
        total=len(rows),
        hidden=result.hidden_by_sound,
        neutral=_neutral(service, request, result),
    )


def _neutral(service: LibraryService, request: Request, result: SearchResult) -> float | None:
    balanced = request.kind == "text" and request.mode == "hybrid" and result.complete
    return service.searcher.neutral_balance if balanced else None


def _search(service: LibraryService, request: Request, limit: int) -> SearchResult:
    by_words_first = request.mode == "hybrid" and not _indexes_imported()
    result = service.search(
        request.text,
        k=limit,
        mode="keyword" if by_words_first else request.mode,
        filters=request.filters,
        wait=False,
        typing=request.typing,
        show_hidden=request.show_hidden,
        balance=request.balance if request.mode == "hybrid" else None,
    )
    if by_words_first:
        return replace(result, mode="hybrid", complete=False, notices=(*result.notices, LOADING))
    return result


def _listed(service: LibraryService, request: Request, limit: int) -> Found:
    rows = tuple(Row(clip) for clip in page(service, request, 0, limit))
    total = max(len(rows), service.catalog.count(request.filters))
    return Found(request, rows, more=len(rows) < total, total=total)


def page(service: LibraryService, request: Request, offset: int, limit: int = PAGE) -> list[Clip]:
    """Part of the unsearched list."""
    return service.browse(request.filters, request.order_by, request.descending, limit, offset)


def overview(service: LibraryService) -> Overview:
    """Everything the sidebar shows, read in one go."""
    favourites = Filters((Condition("favourite", "=", True),))
    shelf = service.shelf
    return Overview(
        tuple(service.roots()),
        service.desk.category_tree(),
        tuple(service.recent_searches(12)),
        service.catalog.count(favourites),
        service.desk.unlabelled(),
        tuple(shelf.collections()),
        tuple(shelf.saved()),
        tuple(shelf.badges().items()),
        shelf.unusable_count(),
    )


def index_job(service: LibraryService, folders: Sequence[str] | None) -> Job:
    """Scans folders (None: every root) in the background; its result is an IndexReport."""
    if folders is None:
        title = "Indexing all folders"
    elif len(folders) == 1:
        title = f"Indexing {os.path.basename(os.path.normpath(folders[0])) or folders[0]}"
    else:
        title = f"Indexing {len(folders)} folders"
    return Job(title, lambda: service.index(folders), kind="index")


def demo_job(service: LibraryService) -> Job:
    """Makes the demo library's clips and indexes them; its result is an IndexReport."""

    def work() -> Generator[Progress, None, IndexReport]:
        from foley_desktop.library.demo import make_demo

        folder = yield from make_demo(service.data.demo)
        return (yield from service.index([folder]))

    return Job("Indexing the demo library", work, kind="index")


def remove_job(service: LibraryService, root: Root) -> Job:
    """Forgets a folder. The files stay where they are."""
    return Job(f"Removing {root.name}", lambda: service.remove_root(root.id), kind="remove")


def evaluate_job(service: LibraryService, golden_file: str, mode: Mode, k: int) -> Job:
    """Measures the search with a golden file; its result is an Evaluation."""

    def work() -> Generator[Progress, None, Any]:
        from foley_desktop.eval.golden import load_golden

        golden = load_golden(Path(golden_file))
        return (yield from service.evaluate(golden, mode=mode, k=k))

    return Job(f"Evaluating {os.path.basename(golden_file)}", work, kind="evaluate")


def start_models(service: LibraryService) -> None:
    """Starts the models, and imports what the indexes need when there is something to search."""
    service.start_models()
    if service.roots():
        import_indexes()


def import_indexes() -> None:
    """Imports the vector store, which takes seconds, outside the locks that opening an index takes."""
    if _indexes_imported():
        return
    importlib.import_module(VECTOR_STORE)
    # What the program itself is made of never becomes garbage. Looking it through took a tenth of a second
    # each time the rows of a large library were read, and stopped the window meanwhile.
    gc.freeze()


def _indexes_imported() -> bool:
    module = sys.modules.get(VECTOR_STORE)
    return module is not None and not getattr(module.__spec__, "_initializing", False)


def readiness(service: LibraryService) -> tuple[str, str]:
    """State and sentence of what a full search needs: the models, and the code behind the indexes."""
    state, sentence = service.models_state()
    if state == "ready" and not _indexes_imported():
        return "loading", "The indexes are being opened."
    return state, sentence


def golden_files(service: LibraryService) -> list[str]:
    """Golden files at hand: that of the demo library, once it is there."""
    return [str(path) for path in sorted(service.data.demo.glob("*golden*.json"))]


LIST_ENDINGS = (".csv", ".tsv")
"""Endings of lists of sounds, as other librarians export them."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was dropped on the window: folders, audio files, lists, and how many things that are neither."""

    folders: tuple[str, ...]
    files: tuple[str, ...]
    others: int
    lists: tuple[str, ...] = ()


def sort_dropped(paths: Sequence[str], others: int = 0) -> Dropped:
    """Looks at each dropped path on disk."""
    from foley_desktop.audio.decode import is_media_name

    folders = tuple(path for path in paths if os.path.isdir(path))
    files = tuple(path for path in paths if os.path.isfile(path) and is_media_name(os.path.basename(path)))
    lists = tuple(path for path in paths if os.path.isfile(path) and path.lower().endswith(LIST_ENDINGS))
    known = len(folders) + len(files) + len(lists)
    return Dropped(folders, files, others + len(paths) - known, lists)


def folders_of(files: Sequence[str]) -> list[str]:
    """The folders that some files lie in, each once, in order."""
    return list(dict.fromkeys(os.path.dirname(file) for file in files))


def save_settings(service: LibraryService, change: Callable[[dict[str, Any]], None]) -> None:
    """Applies ``change`` to the settings' free part and writes them."""
    change(service.settings.extra)
    service.settings.save(service.data.settings_file)
