"""The keyword index: BM25 over the words of each clip, in Tantivy.

Tantivy's own query language and analysers never see text of ours or of a user: we cut the words
(:mod:`foley_desktop.index.words`), lay them out (:mod:`foley_desktop.index.keyword_schema`), and build every
query from terms (:mod:`foley_desktop.index.keyword_query`).
"""

from __future__ import annotations

import itertools
import json
import shutil
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from foley_desktop.errors import IndexStoreError, LibraryBusyError
from foley_desktop.index.keyword_query import QueryBuilder
from foley_desktop.index.keyword_schema import SCHEMA_VERSION as SCHEMA_VERSION
from foley_desktop.index.keyword_schema import (
    explain_match,
    open_index,
    read_source,
    source_of,
    stored_source,
    tantivy_document,
)
from foley_desktop.index.protocols import Document, Where
from foley_desktop.index.query import ParsedQuery, parse_query
from foley_desktop.index.where import clips_within
from foley_desktop.index.words import analyse

if TYPE_CHECKING:
    import tantivy

_HEAP_BYTES = 64_000_000

_ATTEMPTS = 4
_FEW_IDS = 2000
_SMALL_SHARE = 0.05
"""A filter of so few ids, or of so small a share of all, is part of the query; a larger one is applied
to what the query finds, reading on until enough has passed. Both are exact."""


class KeywordIndex:
    """BM25 over words. Usable from several threads; one writer at a time among all processes.

    Every method raises :class:`IndexStoreError` when the index on disk is damaged or of another
    version; :meth:`clear` then makes a new one. Methods that write raise :class:`LibraryBusyError` when
    another process is writing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._index: tantivy.Index | None = None
        self._writer: tantivy.IndexWriter | None = None
        # Two locks, because rewriting takes seconds in which searches go on.
        self._open_lock = threading.RLock()
        self._write_lock = threading.RLock()
        self._touched: set[str] = set()

    # -- opening --------------------------------------------------------------------------------

    def _open(self) -> tantivy.Index:
        with self._open_lock:
            if self._index is None:
                self._index = open_index(self.folder)
            return self._index

    @contextmanager
    def _asking(self) -> Iterator[tuple[tantivy.Searcher, QueryBuilder]]:
        """The latest state of the index, whoever wrote it."""
        searcher, builder = self._latest()
        with _guarded():
            yield searcher, builder

    def _latest(self) -> tuple[tantivy.Searcher, QueryBuilder]:
        for attempt in range(_ATTEMPTS):
            try:
                with _guarded():
                    index = self._open()
                    index.reload()
                    searcher = index.searcher()
                    return searcher, QueryBuilder(index.schema, searcher)
            except IndexStoreError:
                # A writer may have taken files away between the list of them and the opening.
                with self._open_lock:
                    self._index = None
                if attempt + 1 == _ATTEMPTS:
                    raise
                time.sleep(0.02 * attempt)
        raise AssertionError("unreachable")

    # -- writing --------------------------------------------------------------------------------

    def upsert(self, documents: Iterable[Document]) -> None:
        """Puts documents in place of those with the same id. Visible after :meth:`commit`.

        One that says the same as what is there already is left alone.
        """
        with self._writing() as writer:
            searcher, builder = self._latest()
            for document in documents:
                clip_id, source = document.clip_id, source_of(document)
                there = None
                if clip_id not in self._touched:
                    there = stored_source(searcher, builder.term("id", clip_id))
                if there != source:
                    self._touched.add(clip_id)
                    writer.delete_documents_by_term("id", clip_id)
                    writer.add_document(tantivy_document(clip_id, source))

    def delete(self, ids: Iterable[str]) -> None:
        """Takes documents out. Gone after :meth:`commit`; ids that are not there are fine."""
        with self._writing() as writer:
            for clip_id in ids:
                self._touched.add(clip_id)
                writer.delete_documents_by_term("id", clip_id)

    def commit(self) -> None:
        """Makes what was written since the last commit visible and lasting, and lets go of the lock."""
        with self._write_lock:
            writer, self._writer = self._writer, None
            self._touched.clear()
            if writer is not None:
                with _guarded():
                    try:
                        writer.commit()
                    finally:
                        # Only this lets go of the lock at once when the commit has failed.
                        writer.wait_merging_threads()

    def merge(self) -> None:
        """Rewrites the index if documents were deleted from it, so that they no longer count.

        Tantivy counts deleted documents in its statistics until their segment is rewritten. Readers see
        the old state or the new one, nothing between.
        """
        import tantivy

        with self._write_lock:
            self.commit()
            if not self._has_deleted():
                return
            searcher, _ = self._latest()
            everything = searcher.search(tantivy.Query.all_query(), max(searcher.num_docs, 1), count=False)
            with self._writing() as writer:
                writer.delete_all_documents()
                for _, address in everything.hits:
                    stored = searcher.doc(address)
                    writer.add_document(tantivy_document(stored["id"][0], read_source(stored)))
            self.commit()

    def clear(self) -> None:
        """Starts with an empty index, whatever is in the folder now."""
        with self._write_lock, self._open_lock:
            with suppress(IndexStoreError), self._writing():
                pass  # Raises when another process is writing.
            self._rollback()
            self._index = None
            if self.folder.is_dir():
                shutil.rmtree(self.folder, ignore_errors=True)
            else:
                self.folder.unlink(missing_ok=True)
            self._latest()

    def close(self) -> None:
        """Drops what was not committed and lets go of the lock."""
        with self._write_lock, self._open_lock:
            self._rollback()
            self._index = None

    @contextmanager
    def _writing(self) -> Iterator[tantivy.IndexWriter]:
        with self._write_lock:
            if self._writer is None:
                self._writer = self._new_writer()
            try:
                with _guarded():
                    yield self._writer
            except BaseException:
                self._rollback()
                raise

    def _new_writer(self) -> tantivy.IndexWriter:
        try:
            with _guarded():
                return self._open().writer(heap_size=_HEAP_BYTES, num_threads=1)
        except IndexStoreError as error:
            if "LockBusy" not in str(error.__cause__):
                raise
            raise LibraryBusyError(
                "Another program is writing to this library.",
                hint="Wait until it is done, or close the other window.",
                cause=error,
            ) from error

    def _rollback(self) -> None:
        writer, self._writer = self._writer, None
        self._touched.clear()
        if writer is not None:
            writer.rollback()

    def _has_deleted(self) -> bool:
        with _guarded():
            meta = json.loads((self.folder / "meta.json").read_text("utf-8"))
        return any(segment.get("deletes") for segment in meta.get("segments", ()))

    # -- asking ---------------------------------------------------------------------------------

    def bm25(self, query: str, k: int, *, where: Where | None = None) -> list[tuple[str, float]]:
        """The ``k`` best matches as ``(id, score)``, score descending, then id ascending.

        A blank query and one that only excludes give every clip that is left, with score 0.
        """
        return self.search(parse_query(query), k, where=where)

    def search(
        self, parsed: ParsedQuery, k: int, *, where: Where | None = None, prefix_last: bool = False
    ) -> list[tuple[str, float]]:
        """As :meth:`bm25`, of a parsed query; ``prefix_last`` also finds what its last word begins."""
        within = clips_within(where)
        if k <= 0 or (within is not None and not within):
            return []
        if not parsed.groups and not parsed.excluded and not parsed.blank:
            return []
        with self._asking() as (searcher, builder):
            narrow = within is not None and len(within) <= max(_FEW_IDS, _SMALL_SHARE * searcher.num_docs)
            query = builder.build(parsed, within=within if narrow else None, prefix_last=prefix_last)
            passing = None if narrow or within is None else frozenset(within)
            if not parsed.groups:
                return [(clip_id, 0.0) for clip_id in _first_ids(searcher, query, k, passing)]
            return _ranked(searcher, query, k, passing)

    def version(self) -> int:
        """A number that every commit changes, whoever makes it; 0 without an index."""
        with suppress(OSError):
            return (self.folder / "meta.json").stat().st_mtime_ns
        return 0

    def ids(self) -> set[str]:
        """The ids of all documents."""
        with self._asking() as (searcher, builder):
            return set(_all_ids(searcher, builder.everything()))

    def count(self) -> int:
        """How many documents there are."""
        with self._asking() as (searcher, _):
            return searcher.num_docs

    def permitted(self, query: str | ParsedQuery, *, prefix_last: bool = False) -> frozenset[str] | None:
        """The clips that the query's exclusions, phrases and fields leave; None if it has none of them.

        For rankers that know no words, so that ``-thunder`` holds for every list.
        """
        with self._asking() as (searcher, builder):
            wanted = builder.restriction(_parsed(query), prefix_last=prefix_last)
            return None if wanted is None else frozenset(_all_ids(searcher, wanted))

    def coverage(self, query: str | ParsedQuery, ids: Collection[str]) -> dict[str, float]:
        """Which part of the query each clip has, 0 to 1: the idf of its words found over that of all.

        Words the library does not know weigh most, so a query about nothing that is here stays low.
        """
        found = dict.fromkeys(ids, 0.0)
        if not found:
            return {}
        with self._asking() as (searcher, builder):
            parsed = _parsed(query)
            masses = builder.word_masses(parsed)
            total = sum(masses.values())
            for word, mass in masses.items():
                having = [builder.one_of_ids(found), builder.mentions(word, parsed)]
                for clip_id in _all_ids(searcher, builder.all_of(having)):
                    found[clip_id] += mass / total
        return {clip_id: min(round(part, 6), 1.0) for clip_id, part in found.items()}

    def doc_freq(self, word: str) -> int:
        """In how many clips the word, as one form, occurs."""
        parts, wholes = analyse(word)
        forms = wholes[:1] or parts[:1]
        with self._asking() as (searcher, _):
            return searcher.doc_freq("text", forms[0]) if forms else 0

    def max_score(self, query: str | ParsedQuery) -> float:
        """The best that words alone can score: the sum over them of weight × idf × (k1 + 1).

        A clip that lacks a word of the query stays below. One that has them all, or has the parts of a
        code side by side, gets as much again on top and passes it: over this score, a complete match is
        about 1 to 2, half a match under 0.5. Words the library does not know count with the idf of an
        unseen word, so a clip that matches the known half of a query stays low. 0 for a query without
        words.
        """
        with self._asking() as (_, builder):
            return builder.best(_parsed(query))

    def explain(
        self, query: str | ParsedQuery, clip_id: str, *, prefix_last: bool = False
    ) -> dict[str, list[str]]:
        """Which words of the query were found in which fields of a clip: ``{"door": ["name"]}``."""
        parsed = _parsed(query)
        with self._asking() as (searcher, builder):
            source = stored_source(searcher, builder.term("id", clip_id)) or {}
        return explain_match(parsed, source, prefix=parsed.prefix if prefix_last else None)


def _parsed(query: str | ParsedQuery) -> ParsedQuery:
    return parse_query(query) if isinstance(query, str) else query


def _all_ids(searcher: tantivy.Searcher, query: tantivy.Query) -> list[str]:
    """The ids of all documents that match, ascending.

    A few are read one by one; for many a walk through the dictionary of ids is quicker.
    """
    few = searcher.search(query, _FEW_IDS, count=False).hits
    if len(few) < _FEW_IDS:
        return sorted(searcher.doc(address)["id"][0] for _, address in few)
    return [clip_id for clip_id, _ in searcher.terms_with_prefix("id", "", filter_query=query)]


def _first_ids(
    searcher: tantivy.Searcher, query: tantivy.Query, k: int, passing: Collection[str] | None
) -> list[str]:
    """The ``k`` smallest ids of documents that match and are among ``passing``, ascending."""
    import tantivy

    if passing is None and k <= 1000:
        limit = max(1, min(k, searcher.num_docs))
        found = searcher.search(query, limit, count=False, order_by_field="id", order=tantivy.Order.Asc)
        return [clip_id for clip_id, _ in found.hits]
    ids = (i for i in _all_ids(searcher, query) if passing is None or i in passing)
    return list(itertools.islice(ids, k))


def _ranked(
    searcher: tantivy.Searcher, query: tantivy.Query, k: int, passing: Collection[str] | None
) -> list[tuple[str, float]]:
    """The best ``k`` among ``passing``, read on until no document of equal score can be missing."""
    share = 1.0 if passing is None else len(passing) / max(searcher.num_docs, 1)
    limit = int((k + 64) / min(share, 1.0))
    while True:
        hits = searcher.search(query, limit, count=False).hits
        scored = _with_ids(searcher, hits, k if passing is None else len(hits))
        if passing is not None:
            scored = [hit for hit in scored if hit[0] in passing]
        scored.sort(key=lambda hit: (-hit[1], hit[0]))
        if len(hits) < limit or (len(scored) >= k and round(hits[-1][0], 6) < scored[k - 1][1]):
            return scored[:k]
        limit *= 4


def _with_ids(
    searcher: tantivy.Searcher, hits: list[tuple[float, tantivy.DocAddress]], k: int
) -> list[tuple[str, float]]:
    """The first ``k`` hits and those that equal the last of them, as ``(id, score)``."""
    if len(hits) > k:
        floor = round(hits[k - 1][0], 6)
        hits = [hit for hit in hits if round(hit[0], 6) >= floor]
    return [(searcher.doc(address)["id"][0], round(score, 6)) for score, address in hits]


@contextmanager
def _guarded() -> Iterator[None]:
    """Turns what Tantivy raises about its files, panics too, into an :class:`IndexStoreError`."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, (ValueError, OSError)) or type(error).__name__ == "PanicException":
            raise IndexStoreError(
                "The keyword index cannot be read or written.",
                hint="Rebuild it with: foley-desktop doctor --rebuild",
                cause=error,
            ) from error
        raise
