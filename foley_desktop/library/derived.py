"""Keeps the derived indexes in step with the catalog.

Four indexes, one road: the bookkeeping says what is pending, a batch is put on record, written, and
marked once the index has committed. Killed anywhere, the next run finds what is left to do. An index
that turns out to be damaged is thrown away and made anew.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from foley_desktop.errors import (
    AudioFileError,
    FoleyError,
    IndexStoreError,
    LibraryBusyError,
    ModelError,
    SilentAudioError,
)
from foley_desktop.index.protocols import Window
from foley_desktop.library.attention import Attention, in_turn
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.catalog_state import SOUND_INDEXES
from foley_desktop.library.meter import Meter
from foley_desktop.library.text import meaning_text
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.models import Clip, Progress
from foley_desktop.settings import DataFolder

if TYPE_CHECKING:
    from foley_desktop.index.embedders.host import Models
    from foley_desktop.index.embedders.spaces import WindowedEmbedder
    from foley_desktop.index.vectors import LanceVectorIndex
    from foley_desktop.library.indexes import Indexes

log = logging.getLogger(__name__)

INDEX_NAMES = ("keyword", "semantic", *SOUND_INDEXES)

_BLOCK_S = 10.0
_WORDS_A_BATCH = 300
_CLIPS_AHEAD = 200
_TEXTS_A_CALL = 64
_CLIPS_A_BATCH = 256
_BATCH_S = 20.0
_FAILURES = 3

Steps = Generator[Progress, None, None]
Spaces = Mapping[str, Sequence[Window]]
"""The windows of one clip by model id; none where there is no sound."""


class Derived:
    """Brings the indexes of one library up to date.

    ``notices`` gathers sentences for the user, ``unreadable`` the clips that could not be listened to.
    """

    def __init__(
        self, catalog: Catalog, indexes: Indexes, models: Models, attention: Attention | None = None
    ) -> None:
        self._catalog = catalog
        self._indexes = indexes
        self._models = models
        self._attention = attention
        self.notices: list[str] = []
        self.unreadable: set[str] = set()
        self.damaged = False
        """Whether an index was thrown away, so that clips are pending that were not before."""

    # --- words

    def add_words(self, ids: Sequence[str]) -> None:
        """Puts some clips into the keyword index, searchable at once."""
        self._mended("keyword", lambda: self._write_words(ids))

    def _write_words(self, ids: Sequence[str]) -> None:
        version = self._indexes.version("keyword")
        for batch in _parts(ids, _WORDS_A_BATCH):
            self._catalog.set_untidy("keyword", True)
            self._catalog.begin_indexing("keyword", version, batch)
            self._indexes.keyword.upsert(self._catalog.documents(batch))
            self._indexes.keyword.commit()
            self._catalog.mark_indexed("keyword", version, batch)

    def keyword(self) -> Steps:
        """What the keyword index lacks, and what it holds too much of."""
        self._forget_lost("keyword")
        pending = self._catalog.pending("keyword", self._indexes.version("keyword"))
        meter = Meter(len(pending), "Indexing words")
        for batch in _parts(pending, _WORDS_A_BATCH):
            self.add_words(batch)
            yield meter.step(len(batch))
        self._delete("keyword", self._catalog.stale("keyword"))
        if self._catalog.untidy("keyword"):
            self._mended("keyword", lambda: self._indexes.keyword.merge())
            self._catalog.set_untidy("keyword", False)

    # --- meaning of words

    def semantic(self) -> Steps:
        """Vectors of each clip's own words."""
        self._reconcile("semantic")
        version = self._indexes.version("semantic")
        pending = self._catalog.pending("semantic", version)
        if pending:
            yield from self._embed_words(pending, version)
        yield from self._tidy("semantic")

    def _embed_words(self, pending: Sequence[str], version: str) -> Steps:
        embedder = self._models.text_embedder()
        meter = Meter(len(pending), "Embedding words")
        with _Batch(lambda done: self._store("semantic", version, done)) as batch:
            for part in _parts(pending, _TEXTS_A_CALL):
                clips = self._catalog.clips(part)
                texts = [meaning_text(clip, self._catalog.tags(clip.id)) for clip in clips.values()]
                rows = list(embedder.embed_text(texts)) if texts else []
                for clip, text, row in zip(clips.values(), texts, rows, strict=True):
                    # A name that is a mere code has no meaning, and a vector of it would have one.
                    batch.add(clip.id, [Window(0.0, clip.duration_s or 0.0, row)] if text else [])
                yield meter.step(len(part))

    # --- sound

    def sound(self, *, embed: bool = True) -> Steps:
        """Vectors of the sound itself, in every space of the active embedder.

        Args:
            embed: False leaves pending clips pending and only takes out what is out of date.
        """
        for name in SOUND_INDEXES:
            self._reconcile(name)
            if not embed:
                self._delete(name, self._catalog.dirty(name))
        if embed:
            versions = {name: self._indexes.version(name) for name in SOUND_INDEXES}
            pending = [i for name in SOUND_INDEXES for i in self._catalog.pending(name, versions[name])]
            if pending:
                yield from self._embed_sounds(list(dict.fromkeys(pending)), versions)
        for name in SOUND_INDEXES:
            yield from self._tidy(name)

    def _embed_sounds(self, pending: Sequence[str], versions: Mapping[str, str]) -> Steps:
        embedder = self._models.embedder(self._indexes.embedder_name)
        meter = Meter(len(pending), "Listening")
        failures = 0
        with _Batch(lambda done: self._store_sounds(versions, done)) as batch:
            for clip, heard in _one_ahead(
                (clip, _begun(embedder, clip)) for clip in self._clips_in_turn(pending)
            ):
                try:
                    batch.add(clip.id, heard())
                    failures = 0
                except SilentAudioError:
                    batch.add(clip.id, {})
                except ModelError:
                    failures += 1
                    if failures >= _FAILURES:
                        raise
                except AudioFileError as error:
                    log.info("%r cannot be listened to: %s", clip.path, error)
                    self.unreadable.add(clip.id)
                yield meter.step(1, clip.name)

    def _store_sounds(self, versions: Mapping[str, str], done: Mapping[str, Spaces]) -> None:
        for name, model_id in versions.items():
            self._store(name, model_id, {i: spaces.get(model_id, ()) for i, spaces in done.items()})

    def _clips_in_turn(self, pending: Sequence[str]) -> Iterator[Clip]:
        """The clips of ``pending``, those on the screen first. They are read ahead, some at a time."""
        places = {clip_id: place for place, clip_id in enumerate(pending)}
        ahead: dict[str, Clip] = {}
        for clip_id in in_turn(pending, self._attention):
            if clip_id not in ahead:
                place = places[clip_id]
                ahead |= self._catalog.clips(pending[place : place + _CLIPS_AHEAD])
            clip = ahead.pop(clip_id, None)
            if clip is not None:
                yield clip

    # --- shared

    def _store(self, name: str, version: str, done: Mapping[str, Sequence[Window]]) -> None:
        """Writes vectors and books their clips as done; those without vectors as empty."""
        vectors = {i: windows for i, windows in done.items() if windows}

        def write() -> None:
            self._catalog.set_untidy(name, True)
            self._catalog.begin_indexing(name, version, done)
            index: LanceVectorIndex = getattr(self._indexes, name)
            refused = set(index.upsert_many(vectors)) if vectors else set()
            empty = [i for i in done if i in refused or i not in vectors]
            if empty:
                index.delete(empty)
            self._catalog.mark_indexed(name, version, list(done), empty=empty)

        self._mended(name, write)

    def _reconcile(self, name: str) -> None:
        """Takes out what an index should not hold, and forgets what it cannot hold: its folder is gone."""
        self._forget_lost(name)
        self._delete(name, self._catalog.stale(name))

    def _forget_lost(self, name: str) -> None:
        version = self._indexes.version(name)
        if self._catalog.is_marked(name, version) and not self._has_folder(name):
            self._catalog.unmark(name, version=version)

    def _delete(self, name: str, by_version: Mapping[str, Sequence[str]]) -> None:
        for version, ids in by_version.items():
            self._mended(name, lambda v=version, i=ids: self._delete_from(name, v, i))  # type: ignore[misc]

    def _delete_from(self, name: str, version: str, ids: Sequence[str]) -> None:
        index = self._index_of(name, version)
        if index is not None:
            self._catalog.set_untidy(name, True)
            index.delete(ids)
            if name == "keyword":
                index.commit()
        self._catalog.forget_indexed(name, version, ids)

    def _index_of(self, name: str, version: str):  # type: ignore[no-untyped-def]
        """The index that holds entries of a version, also one of an embedder that is not active."""
        if name not in SOUND_INDEXES or version == self._indexes.version(name):
            return getattr(self._indexes, name)
        from foley_desktop.index.vectors import LanceVectorIndex, tables

        folder = DataFolder(self._catalog.path.parent).vectors
        for model_id, dim, _ in tables(folder):
            if model_id == version:
                return LanceVectorIndex(folder, model_id, dim)
        return None

    def _has_folder(self, name: str) -> bool:
        """Whether the index is there at all; a look at the disk that opens nothing."""
        data = DataFolder(self._catalog.path.parent)
        if name == "keyword":
            return (data.keywords / "meta.json").exists()
        from foley_desktop.index.vectors import table_name

        index: LanceVectorIndex = getattr(self._indexes, name)
        return (index.folder / f"{table_name(index.model_id)}.lance").exists()

    def _tidy(self, name: str) -> Steps:
        if self._catalog.untidy(name):
            yield Meter(0, "Tidying up").step(0)
            self._mended(name, lambda: getattr(self._indexes, name).optimize())
            self._catalog.set_untidy(name, False)

    def _mended(self, name: str, step: Callable[[], None]) -> None:
        """Runs a step; when the index is damaged, throws it away, books it as empty and runs it again."""
        try:
            step()
        except IndexStoreError as error:
            log.warning("the %s index is damaged: %s", name, error)
            index = getattr(self._indexes, name)
            if name == "keyword":
                index.clear()
            else:
                index.drop()
            self._catalog.unmark(name, version=self._indexes.version(name))
            self.damaged = True
            self.notices.append(f"The {name} index was damaged and is made anew.")
            step()


class _Batch:
    """Gathers what was made and stores it now and then; the rest on leaving, also when cancelled."""

    def __init__(self, store: Callable[[dict], None]) -> None:  # type: ignore[type-arg]
        self._store = store
        self._done: dict = {}  # type: ignore[type-arg]
        self._since = time.monotonic()

    def __enter__(self) -> _Batch:
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()

    def add(self, clip_id: str, made: object) -> None:
        self._done[clip_id] = made
        if len(self._done) >= _CLIPS_A_BATCH or time.monotonic() - self._since > _BATCH_S:
            self._flush()

    def _flush(self) -> None:
        done, self._done = self._done, {}
        self._since = time.monotonic()
        if done:
            self._store(done)


def delete_everywhere(indexes: Indexes, ids: Collection[str]) -> None:
    """Takes clips out of the active indexes now, if nobody is writing; otherwise the next run does."""
    if not ids:
        return
    try:
        with writer_lock(DataFolder(indexes.semantic.folder.parent)):
            for name in INDEX_NAMES:
                getattr(indexes, name).delete(ids)
            indexes.keyword.merge()
    except LibraryBusyError:
        log.info("the indexes are being written; the next run takes %d clips out", len(ids))


Item = TypeVar("Item")


def _one_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, each handed out when the next one has been made."""
    last: list[Item] = []
    for item in items:
        yield from last
        last = [item]
    yield from last


def _begun(embedder: WindowedEmbedder, clip: Clip) -> Callable[[], Spaces]:
    """Reads a clip and leaves the model at work on it; what comes back waits, and raises as `listen` does.

    After the model's process died it listens once more: the call starts a new process.
    """
    if clip.silent:
        return dict
    error: FoleyError | None = None
    try:
        wait = begin(embedder, clip.path)
    except FoleyError as raised:
        error = raised

    def heard() -> Spaces:
        if error is not None and not isinstance(error, ModelError):
            raise error
        if error is None:
            try:
                return wait()
            except ModelError:
                pass
        return listen(embedder, clip.path)

    return heard


def listen(embedder: WindowedEmbedder, path: str) -> dict[str, list[Window]]:
    """The windows of a file in every space of an embedder, by model id, in bounded memory.

    Raises:
        AudioFileError: the file cannot be read.
        SilentAudioError: there is no sound in it.
        ModelError: the model failed.
    """
    return begin(embedder, path)()


def begin(embedder: WindowedEmbedder, path: str) -> Callable[[], dict[str, list[Window]]]:
    """Reads a file as :func:`listen` does; what comes back waits for its last windows."""
    from foley_desktop.audio.decode import iter_mono

    rate = embedder.rule.samplerate
    return embedder.begin_stream(iter_mono(path, rate, _BLOCK_S), rate)


def _parts(items: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))
