"""The keyword index: BM25 over the words of each clip, in Tantivy.

Tantivy's own query language and analysers never see text of ours or of a user. We cut words
(:mod:`foley_desktop.index.words`), hand them over joined by blanks, and build every query from terms.

One field, ``text``, is ranked. It holds the words of all fields of a clip, those of weightier fields
several times, which is BM25F in its simple form (Robertson, Zaragoza, Taylor: "Simple BM25 extension to
multiple weighted fields", 2004): one document frequency and one length for a clip. ``stem`` holds the same
as stems, ``joined`` neighbouring words as one, ``endings`` long words backwards. The single fields stand
beside, for phrases and for ``field:word``.
"""

from __future__ import annotations

import itertools
import json
import shutil
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from foley_desktop.errors import IndexStoreError, LibraryBusyError
from foley_desktop.index.keyword_query import SINGLE_FIELDS, QueryBuilder
from foley_desktop.index.protocols import Document, Where
from foley_desktop.index.query import ParsedQuery, parse_query
from foley_desktop.index.words import analyse, compounds, joined, stems

if TYPE_CHECKING:
    import tantivy

SCHEMA_VERSION = 1
"""Counts up with every change of the fields or of how words are cut; an older index is rebuilt."""

WEIGHTS = {
    "name": 4, "title": 2, "keywords": 2, "category": 2, "tags": 2, "description": 1, "folder": 1, "ext": 1,
}  # fmt: skip
"""How many times the words of a field of :class:`Document` count in the ranking."""

MOST_WORDS = 2000
"""Words of one field that are indexed."""

_SOURCE = f"source{SCHEMA_VERSION}"
_HEAP_BYTES = 64_000_000

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
        self._folder = Path(folder)
        self._index: tantivy.Index | None = None
        self._writer: tantivy.IndexWriter | None = None
        self._lock = threading.RLock()

    # -- opening --------------------------------------------------------------------------------

    def _open(self) -> tantivy.Index:
        with self._lock:
            if self._index is None:
                self._index = self._create()
            return self._index

    def _create(self) -> tantivy.Index:
        import tantivy

        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            index = tantivy.Index(_schema(), path=str(self._folder), reuse=True)
            analyzer = tantivy.TextAnalyzerBuilder
            words = analyzer(tantivy.Tokenizer.whitespace()).build()
            stemmed = analyzer(tantivy.Tokenizer.whitespace()).filter(tantivy.Filter.stemmer("english"))
            index.register_tokenizer("words", words)
            index.register_tokenizer("stems", stemmed.build())
            index.config_reader(reload_policy="manual")
            index.reload()
            return index
        except (ValueError, OSError) as error:
            raise _damaged(error) from error

    def _searcher(self) -> tantivy.Searcher:
        index = self._open()
        try:
            index.reload()
            return index.searcher()
        except (ValueError, OSError) as error:
            raise _damaged(error) from error

    def _builder(self) -> tuple[tantivy.Searcher, QueryBuilder]:
        searcher = self._searcher()
        return searcher, QueryBuilder(self._open().schema, searcher)

    # -- writing --------------------------------------------------------------------------------

    def upsert(self, documents: Iterable[Document]) -> None:
        """Puts documents in place of those with the same id. Visible after :meth:`commit`."""
        import tantivy

        with self._writing() as writer:
            for document in documents:
                source = _source(document)
                writer.delete_documents_by_term("id", document.clip_id)
                writer.add_document(tantivy.Document(**_fields(document.clip_id, source)))

    def delete(self, ids: Iterable[str]) -> None:
        """Takes documents out. Gone after :meth:`commit`; ids that are not there are fine."""
        with self._writing() as writer:
            for clip_id in ids:
                writer.delete_documents_by_term("id", clip_id)

    def commit(self) -> None:
        """Makes what was written since the last commit visible and lasting, and lets go of the lock."""
        with self._lock:
            writer, self._writer = self._writer, None
            if writer is None:
                return
            try:
                writer.commit()
                writer.wait_merging_threads()
            except (ValueError, OSError) as error:
                raise _damaged(error) from error

    def merge(self) -> None:
        """Rewrites the index if documents were deleted from it, so that they no longer count.

        Tantivy counts deleted documents in its statistics until their segment is rewritten. Readers see
        the old state or the new one, nothing between.
        """
        import tantivy

        self.commit()
        if not self._has_deleted():
            return
        searcher = self._searcher()
        everything = searcher.search(tantivy.Query.all_query(), max(searcher.num_docs, 1), count=False)
        with self._writing() as writer:
            writer.delete_all_documents()
            for _, address in everything.hits:
                stored = searcher.doc(address)
                fields = _fields(stored["id"][0], json.loads(stored[_SOURCE][0]))
                writer.add_document(tantivy.Document(**fields))
        self.commit()

    def clear(self) -> None:
        """Starts with an empty index, whatever is in the folder now."""
        with self._lock:
            self._rollback()
            self._index = None
            shutil.rmtree(self._folder, ignore_errors=True)
            self._open()

    def close(self) -> None:
        """Drops what was not committed and lets go of the lock."""
        with self._lock:
            self._rollback()
            self._index = None

    @contextmanager
    def _writing(self) -> Iterator[tantivy.IndexWriter]:
        with self._lock:
            index = self._open()
            if self._writer is None:
                try:
                    self._writer = index.writer(heap_size=_HEAP_BYTES, num_threads=1)
                except ValueError as error:
                    if "LockBusy" not in str(error):
                        raise _damaged(error) from error
                    raise LibraryBusyError(
                        "Another program is writing to this library.",
                        hint="Wait until it is done, or close the other window.",
                        cause=error,
                    ) from error
            try:
                yield self._writer
            except BaseException:
                self._rollback()
                raise

    def _rollback(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.rollback()

    def _has_deleted(self) -> bool:
        try:
            segments = json.loads((self._folder / "meta.json").read_text("utf-8"))["segments"]
            return any(segment.get("deletes") for segment in segments)
        except (OSError, ValueError, KeyError, AttributeError) as error:
            raise _damaged(error) from error

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
        within = _within(where)
        if k <= 0 or (within is not None and not within):
            return []
        if not parsed.groups and not parsed.excluded and not parsed.blank:
            return []
        searcher, builder = self._builder()
        narrow = within is not None and len(within) <= max(_FEW_IDS, _SMALL_SHARE * searcher.num_docs)
        query = builder.build(parsed, within=within if narrow else None, prefix_last=prefix_last)
        passing = None if narrow or within is None else frozenset(within)
        if not parsed.groups:
            return [(clip_id, 0.0) for clip_id in _first_ids(searcher, query, k, passing)]
        return _ranked(searcher, query, k, passing)

    def ids(self) -> set[str]:
        """The ids of all documents."""
        import tantivy

        return set(_all_ids(self._searcher(), tantivy.Query.all_query()))

    def count(self) -> int:
        """How many documents there are."""
        return self._searcher().num_docs

    def permitted(self, query: str | ParsedQuery, *, prefix_last: bool = False) -> frozenset[str] | None:
        """The clips that the query's exclusions, phrases and fields leave; None if it has none of them.

        For rankers that know no words, so that ``-thunder`` holds for every list.
        """
        parsed = _parsed(query)
        searcher, builder = self._builder()
        wanted = builder.restriction(parsed, prefix_last=prefix_last)
        return None if wanted is None else frozenset(_all_ids(searcher, wanted))

    def coverage(self, query: str | ParsedQuery, ids: Collection[str]) -> dict[str, float]:
        """Which part of the query each clip has, 0 to 1: the idf of its words found over that of all.

        Words the library does not know weigh most, so a query about nothing that is here stays low.
        """
        parsed = _parsed(query)
        searcher, builder = self._builder()
        found = dict.fromkeys(ids, 0.0)
        words = builder.word_masses(parsed)
        total = sum(words.values())
        for word, mass in words.items() if found else ():
            having = builder.all_of([builder.one_of_ids(found), builder.mentions(word)])
            for clip_id in _all_ids(searcher, having):
                found[clip_id] += mass / total
        return {clip_id: min(round(part, 6), 1.0) for clip_id, part in found.items()}

    def doc_freq(self, word: str) -> int:
        """In how many clips the word, as one form, occurs."""
        parts, wholes = analyse(word)
        forms = wholes[:1] or parts[:1]
        return self._searcher().doc_freq("text", forms[0]) if forms else 0

    def max_score(self, query: str | ParsedQuery) -> float:
        """A score that no document can pass: the sum over the query's words of weight × idf × (k1 + 1).

        Words the library does not know count with the idf of an unseen word, so a clip that matches the
        known half of a query stays well below. 0 for a query without words.
        """
        parsed = _parsed(query)
        return self._builder()[1].best(parsed)

    def explain(self, query: str | ParsedQuery, clip_id: str) -> dict[str, list[str]]:
        """Which words of the query were found in which fields of a clip: ``{"door": ["name"]}``."""
        parsed = _parsed(query)
        source = self._stored(clip_id)
        found: dict[str, list[str]] = {}
        fields = {name: set(stems(" ".join(pair).split())) for name, pair in source.items()}
        for word in parsed.words:
            forms = list(dict.fromkeys([*word.parts, *word.wholes]))
            for form, stem in zip(forms, stems(forms), strict=True):
                where = [name for name in SINGLE_FIELDS if stem in fields.get(name, ())]
                if where:
                    found[form] = where
        return found

    def _stored(self, clip_id: str) -> Mapping[str, tuple[str, str]]:
        searcher, builder = self._builder()
        hits = searcher.search(builder.term("id", clip_id), 1, count=False).hits
        return json.loads(searcher.doc(hits[0][1])[_SOURCE][0]) if hits else {}


def _schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, fast=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name="words", index_option="freq")
    builder.add_text_field("stem", tokenizer_name="stems", index_option="freq")
    builder.add_text_field("joined", tokenizer_name="stems", index_option="basic")
    builder.add_text_field("endings", tokenizer_name="words", index_option="basic")
    for name in SINGLE_FIELDS:
        builder.add_text_field(name, tokenizer_name="words", index_option="position")
    builder.add_bytes_field(_SOURCE, stored=True)
    return builder.build()


def _source(document: Document) -> dict[str, tuple[str, str]]:
    """What is kept of a document: per field its parts and its wholes, each joined by blanks."""
    source = {}
    for name in SINGLE_FIELDS:
        text = getattr(document, name)
        if text:
            parts, wholes = analyse(text)
            source[name] = (" ".join(parts[:MOST_WORDS]), " ".join(wholes[:MOST_WORDS]))
    return source


def _fields(clip_id: str, source: Mapping[str, tuple[str, str]]) -> dict[str, str | bytes]:
    ranked = []
    fields: dict[str, str | bytes] = {"id": clip_id}
    for name, (parts, wholes) in source.items():
        ranked += [parts, wholes] * WEIGHTS[name]
        fields[name] = parts
    text = " ".join(ranked)
    stored = json.dumps(source, ensure_ascii=False, separators=(",", ":")).encode()
    pairs = " ".join(pair for parts, _ in source.values() for pair in joined(parts.split()))
    endings = " ".join(compounds(dict.fromkeys(text.split())))
    return fields | {"text": text, "stem": text, "joined": pairs, "endings": endings, _SOURCE: stored}


def _parsed(query: str | ParsedQuery) -> ParsedQuery:
    return parse_query(query) if isinstance(query, str) else query


def _within(where: Where | None) -> Collection[str] | None:
    if where is None:
        return None
    unknown = set(where) - {"clip_id"}
    if unknown:
        raise ValueError(f"unknown filter {sorted(unknown)}; there is clip_id")
    return where.get("clip_id")


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


def _damaged(error: BaseException) -> IndexStoreError:
    return IndexStoreError(
        "The keyword index cannot be read.",
        hint="Rebuild it with: foley-desktop doctor --rebuild",
        cause=error,
    )
