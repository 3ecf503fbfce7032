"""The facade that the window and the command line call.

Blocking and thread-safe: any thread but the GUI thread may call any method. Long work comes as a
generator that yields :class:`Progress` and can be closed at any yield; what was finished stays.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Generator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foley_desktop.errors import FoleyError, UnknownClipError
from foley_desktop.index.embedders.host import InProcessModels, ModelHost, Models
from foley_desktop.library.attention import Attention
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.indexes import Indexes
from foley_desktop.models import (
    Clip,
    Filters,
    IndexReport,
    Mode,
    Progress,
    Region,
    Root,
    SearchResult,
    Tag,
)
from foley_desktop.settings import DataFolder, Settings

if TYPE_CHECKING:
    from foley_desktop.audio.decode import AudioInfo
    from foley_desktop.audio.peaks import Peaks
    from foley_desktop.audio.render import RenderOptions, Watch
    from foley_desktop.eval.golden import GoldenSet
    from foley_desktop.library.desk import Desk
    from foley_desktop.library.doctor import DoctorReport
    from foley_desktop.library.embedders import Embedders
    from foley_desktop.library.evaluation import Evaluation
    from foley_desktop.library.lab_service import Lab
    from foley_desktop.library.likeness import Likeness
    from foley_desktop.library.pictures import Pictures
    from foley_desktop.library.searching import Searcher
    from foley_desktop.library.shelf import Shelf
    from foley_desktop.library.transfer import Transfer


class LibraryService:
    """One library: catalog, derived indexes, models and settings.

    Args:
        data: The data folder; it is created.
        models: The embedders; by default a host with a child process, started when first needed.
        settings: By default those of the data folder.
    """

    def __init__(
        self, data: DataFolder, *, models: Models | None = None, settings: Settings | None = None
    ) -> None:
        data.create()
        self.data = data
        self.settings = settings or Settings.load(data.settings_file)
        self.catalog = Catalog(data.catalog)
        self.attention = Attention()
        self._models = models
        self._own_models = models is None
        self._lock = threading.RLock()
        self._indexes: Indexes | None = None
        self._searcher: Searcher | None = None
        self._pictures: Pictures | None = None

    # --- parts, made when first needed

    @property
    def models(self) -> Models:
        with self._lock:
            if self._models is None:
                name, folder = self.settings.embedder, self.data.models
                # The hash embedder needs no library that is slow or may crash, hence no process.
                if name == "hash":
                    self._models = InProcessModels(models_folder=folder)
                else:
                    device = self.settings.device
                    self._models = ModelHost(("minilm", name), models_folder=folder, device=device)
            return self._models

    @property
    def indexes(self) -> Indexes:
        with self._lock:
            if self._indexes is None:
                self._indexes = Indexes(self.data, self.models, self.settings.embedder)
            return self._indexes

    @property
    def searcher(self) -> Searcher:
        with self._lock:
            if self._searcher is None:
                from foley_desktop.library.searching import Searcher

                self._searcher = Searcher(self.catalog, self.indexes, self.models, self.settings)
            return self._searcher

    @property
    def likeness(self) -> Likeness:
        from foley_desktop.library.likeness import Likeness

        return Likeness(self.catalog, self.indexes, self.models)

    @cached_property
    def embedders(self) -> Embedders:
        from foley_desktop.library.embedders import Embedders

        return Embedders(self)

    @property
    def lab(self) -> Lab:
        from foley_desktop.library.lab_service import Lab

        return Lab(self)

    @property
    def desk(self) -> Desk:
        from foley_desktop.library.desk import Desk

        return Desk(self)

    @property
    def transfer(self) -> Transfer:
        from foley_desktop.library.transfer import Transfer

        return Transfer(self)

    @property
    def shelf(self) -> Shelf:
        from foley_desktop.library.shelf import Shelf

        return Shelf(self.catalog)

    # --- folders

    def roots(self) -> list[Root]:
        return self.catalog.roots()

    def add_root(self, path: str | os.PathLike[str]) -> Root:
        """Adds a folder without reading it yet.

        Raises:
            FoleyError: when it is no folder.
        """
        return self.catalog.add_root(_absolute_folder(path))

    def remove_root(self, root_id: int) -> None:
        """Forgets a folder and its clips. The files stay where they are."""
        ids = self.catalog.ids_of_root(root_id)
        self.catalog.remove_root(root_id)
        self._drop_vectors(ids)

    def set_root_searchable(self, root_id: int, searchable: bool) -> None:
        self.catalog.set_root_searchable(root_id, searchable)

    def _drop_vectors(self, ids: Collection[str]) -> None:
        from foley_desktop.library.derived import delete_everywhere

        delete_everywhere(self.indexes, ids)

    # --- indexing

    def index(
        self,
        folders: Sequence[str | os.PathLike[str]] | None = None,
        *,
        audio: bool = True,
        embedder: str | None = None,
    ) -> Generator[Progress, None, IndexReport]:
        """Scans ``folders`` (None: every root) and brings the derived indexes up to date.

        Closing the generator cancels; what was finished stays, the rest is taken up next time.

        Raises:
            LibraryBusyError: another process is indexing this library.
            FoleyError: a folder does not exist.
        """
        from foley_desktop.library.ingest import ingest

        if embedder:
            self.use_embedder(embedder)
        # A known folder whose drive is away is scanned too: its clips become offline.
        known = {root.path for root in self.catalog.roots()}
        chosen = None if folders is None else [_absolute_folder(folder, known) for folder in folders]
        sight, models = self.attention, self.models
        indexing = ingest(self.catalog, self.indexes, chosen, models=models, audio=audio, attention=sight)
        return self.embedders.after(indexing) if audio else indexing

    def create_demo(self) -> Path:
        """Writes the demo library's clips on first use and gives their folder."""
        from foley_desktop.library.demo import create_demo

        return create_demo(self.data.demo)

    # --- finding

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        mode: Mode = "hybrid",
        filters: Filters = Filters(),
        wait: bool = True,
        typing: bool = False,
        show_hidden: bool = False,
        balance: float | None = None,
    ) -> SearchResult:
        """Searches; see :meth:`foley_desktop.library.searching.Searcher.search`."""
        return self.searcher.search(
            query,
            k=k,
            mode=mode,
            filters=filters,
            wait=wait,
            typing=typing,
            show_hidden=show_hidden,
            balance=balance,
        )

    def similar(
        self,
        ref: str,
        *,
        region: Region | None = None,
        k: int = 10,
        filters: Filters = Filters(),
    ) -> SearchResult:
        """Nearest by sound to a clip (id or path), a region of it, or any audio file."""
        return self.likeness.similar(ref, region=region, k=k, filters=filters)

    def region(self, ref: str, start_s: float | None, end_s: float | None) -> Region | None:
        """A region of a clip or file from optional ends.

        Raises:
            FoleyError: when the ends make no region of it.
        """
        if start_s is None and end_s is None:
            return None
        length_s = self.likeness.duration(ref)
        if start_s is not None and start_s >= length_s:
            raise FoleyError(f"The region begins behind the clip's end at {length_s:.3f} s.")
        if end_s is None:
            end_s = length_s
        try:
            return Region(start_s or 0.0, end_s)
        except ValueError as error:
            raise FoleyError(
                "The region is empty.", hint="Give a start before the end, in seconds.", cause=error
            ) from error

    def remember_search(self, query: str) -> None:
        """Puts a query into the recent searches."""
        self.catalog.remember_search(query)

    def recent_searches(self, limit: int = 20) -> list[str]:
        return self.catalog.recent_searches(limit)

    def browse(
        self,
        filters: Filters = Filters(),
        order_by: str = "name",
        descending: bool = False,
        limit: int = 500,
        offset: int = 0,
    ) -> list[Clip]:
        """Clips in catalog order, without a query."""
        return self.catalog.list_clips(filters, order_by, descending, limit, offset)

    # --- clips

    def clip(self, ref: str) -> Clip:
        """The clip of an id, an absolute path, or a path relative to its root.

        Raises:
            UnknownClipError: there is none.
        """
        return self.catalog.find(ref)

    def tags(self, clip: Clip) -> list[Tag]:
        return self.catalog.tags(clip.id) if clip.id else []

    def set_rating(self, ids: Collection[str], rating: int) -> None:
        """``rating`` from 0 to 5."""
        self.catalog.set_rating(ids, rating)

    def set_favourite(self, ids: Collection[str], favourite: bool) -> None:
        self.catalog.set_favourite(ids, favourite)

    def categories(self) -> dict[tuple[str, str], int]:
        """Number of clips by (Category, SubCategory)."""
        return self.catalog.category_counts()

    @property
    def pictures(self) -> Pictures:
        """What is drawn of a clip's sound."""
        if self._pictures is None:  # once it is there, nobody waits for what else goes on under the lock
            with self._lock:
                if self._pictures is None:
                    from foley_desktop.library.pictures import Pictures

                    self._pictures = Pictures(self.catalog, self.data.peaks)
        return self._pictures

    def peaks(self, clip: Clip, *, cancelled: Callable[[], bool] | None = None) -> Peaks:
        """The waveform of a clip; raises as :meth:`Pictures.peaks`."""
        return self.pictures.peaks(clip, cancelled=cancelled)

    # --- handing over

    def export(self, ref: str, target: Path, options: RenderOptions, watch: Watch | None = None) -> AudioInfo:
        """Renders a clip (id or path) or a file outside the library into a new file."""
        from foley_desktop.audio.render import export

        return export(self._file_of(ref), target, options, watch=watch)

    def _file_of(self, ref: str) -> str:
        try:
            return self.catalog.find(ref).path
        except UnknownClipError:
            if os.path.isfile(ref):
                return os.path.abspath(ref)
            raise

    # --- measuring

    def evaluate(
        self, golden: GoldenSet, *, mode: Mode = "hybrid", k: int = 10
    ) -> Generator[Progress, None, Evaluation]:
        """Runs a golden set; see :func:`foley_desktop.library.evaluation.evaluate`."""
        from foley_desktop.library.evaluation import evaluate

        return evaluate(
            golden,
            search=lambda text, depth: self.search(text, k=depth, mode=mode),
            find_id=lambda key: self.catalog.find(key).id,
            mode=mode,
            k=k,
            meta=self.measurement_conditions(),
        )

    def measurement_conditions(self, embedder: str = "") -> dict[str, Any]:
        """What a report has to name so that it can be repeated; by default with the active embedder."""
        return {
            "embedder": self.indexes.of(embedder or self.settings.embedder).describe().model_id,
            "text_embedder": self.indexes.describe_text().model_id,
            "fusion": self.searcher.fusion.describe(),
            "library_size": self.catalog.count(Filters()),
        }

    # --- models and health

    def start_models(self) -> None:
        """Starts the model process in the background."""
        self.models.start()

    def models_state(self) -> tuple[str, str]:
        """State (``off``, ``loading``, ``ready``, ``failed``) and a sentence for it."""
        state = self.models.state
        error = self.models.error
        sentences = {
            "off": "The models are not started.",
            "loading": "The models are loading.",
            "ready": " ".join(("The models are ready.", *self.models.notices)),
        }
        return state, sentences.get(state) or (str(error) if error else "The models could not be started.")

    def models_document(self) -> dict[str, Any]:
        """The embedders and their state, as the command line prints them."""
        return self.embedders.document()

    def use_embedder(self, name: str) -> None:
        """Makes an embedder the active one, see :meth:`foley_desktop.library.embedders.Embedders.use`."""
        self.embedders.use(name)

    def shares_models(self, name: str) -> bool:
        """Whether another embedder can work beside the active one: with the same ranker of meaning."""
        return not self._own_models or (name == "hash") == (self.settings.embedder == "hash")

    def embedder_changed(self, name: str, *, beside: bool) -> None:
        """Lets everything that is opened from now on use the embedder that became the active one.

        Args:
            beside: The same models go on, so that a search that runs ends with the embedder it began with.
        """
        with self._lock:
            if self._models is None:
                self._indexes = None
            elif beside:
                self._models.activate(name)
                self._indexes = self.indexes.of(name)
            else:
                self._models.close()
                self.indexes.close()
                self._models = self._indexes = None
            self._searcher = None

    def add_checkpoint(self, file: str) -> str:
        """Takes a CLAP checkpoint file into the library; the name of the embedder that can be used now.

        Raises:
            ModelError: the file is no checkpoint that can be used.
        """
        from foley_desktop.index.embedders.catalogue import add_checkpoint

        return add_checkpoint(Path(os.path.abspath(file)), self.data.models)

    def doctor(self, *, rebuild: bool = False) -> Generator[Progress, None, DoctorReport]:
        """Checks and repairs the derived indexes; see :func:`foley_desktop.library.doctor.examine`."""
        from foley_desktop.library.doctor import examine
        from foley_desktop.library.ingest import refill

        return examine(
            self.catalog,
            self.indexes,
            self.data,
            rebuild=rebuild,
            refill=lambda: refill(self.catalog, self.indexes, models=self.models),
        )

    def close(self) -> None:
        """Ends the model process and closes every file. Safe to call twice."""
        with self._lock:
            if self._models is not None:
                self._models.close()
            if self._indexes is not None:
                self._indexes.close()
                self._indexes = None
            self._searcher = None
            self.catalog.close()


def _absolute_folder(path: str | os.PathLike[str], known: Collection[str] = ()) -> str:
    folder = os.path.abspath(os.fspath(path))
    if folder not in known and not os.path.isdir(folder):
        raise FoleyError(f"There is no folder {folder}.", hint="Check the path, and that the drive is there.")
    return folder
