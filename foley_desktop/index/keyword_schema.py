"""How a clip's words are laid out in Tantivy.

One field, ``text``, is ranked. It holds the words of all fields of a clip, those of weightier fields
several times, which is BM25F in its simple form (Robertson, Zaragoza, Taylor: "Simple BM25 extension to
multiple weighted fields", 2004): one document frequency and one length for a clip. ``stem`` holds the same
as stems, ``joined`` neighbouring words as one, ``endings`` long words backwards. The single fields stand
beside, for phrases and for ``field:word``. What went in is stored, so that the index can be rewritten.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from foley_desktop.index.keyword_query import SINGLE_FIELDS, forms_of, neighbours
from foley_desktop.index.protocols import Document
from foley_desktop.index.query import ParsedQuery
from foley_desktop.index.synonyms import synonyms
from foley_desktop.index.words import analyse, backwards, is_compound, joined, stems

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

SOURCE_FIELD = f"source{SCHEMA_VERSION}"


Source = dict[str, list[str]]
"""What is kept of a document: by field its parts and its wholes, each joined by blanks."""


def open_index(folder: Path) -> tantivy.Index:
    """The index in ``folder``, made if there is none.

    Raises:
        ValueError, OSError: it is damaged or has another schema.
    """
    import tantivy

    folder.mkdir(parents=True, exist_ok=True)
    index = tantivy.Index(_schema(), path=str(folder), reuse=True)
    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    index.register_tokenizer("words", words.build())
    stemmed = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    index.register_tokenizer("stems", stemmed.filter(tantivy.Filter.stemmer("english")).build())
    index.config_reader(reload_policy="manual")
    index.reload()
    return index


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
    builder.add_bytes_field(SOURCE_FIELD, stored=True)
    return builder.build()


def source_of(document: Document) -> Source:
    """The words of a document; they alone go into the index."""
    source = {}
    for name in SINGLE_FIELDS:
        text = getattr(document, name)
        if text:
            parts, wholes = analyse(text)
            source[name] = [" ".join(parts[:MOST_WORDS]), " ".join(wholes[:MOST_WORDS])]
    return source


def tantivy_document(clip_id: str, source: Source) -> tantivy.Document:
    """A document with all fields of the index."""
    import tantivy

    single = {name: parts for name, (parts, _) in source.items()}
    ranked = [words for name, pair in source.items() for words in pair * WEIGHTS[name]]
    text = " ".join(ranked)
    stored = json.dumps(source, ensure_ascii=False, separators=(",", ":")).encode()
    return tantivy.Document(
        **single,
        **{SOURCE_FIELD: stored},
        id=clip_id,
        text=text,
        stem=text,
        joined=" ".join(pair for parts in single.values() for pair in joined(parts.split())),
        endings=" ".join(backwards(dict.fromkeys(text.split()))),
    )


def stored_source(searcher: tantivy.Searcher, query: tantivy.Query) -> Source | None:
    """What is kept of the one document that ``query`` finds, None if it finds none."""
    hits = searcher.search(query, 1, count=False).hits
    return read_source(searcher.doc(hits[0][1])) if hits else None


def read_source(stored: tantivy.Document) -> Source:
    """What is kept of a document that was read back."""
    return json.loads(stored[SOURCE_FIELD][0])


def explain_match(parsed: ParsedQuery, source: Source, *, prefix: str | None = None) -> dict[str, list[str]]:
    """Which words of a query stand in which fields, by the word as it was asked for.

    Where a field has a plain word only by what stands for it, the field is given under that synonym.

    Args:
        prefix: The last word, if it may be unfinished: what it begins counts for it.
    """
    found: dict[str, list[str]] = {}
    spoken = neighbours(parsed)
    for name, pair in source.items():
        words = set(" ".join(pair).split())
        stemmed = set(stems(words)) | set(stems(joined(pair[0].split())))
        for word in parsed.words:
            forms = forms_of(word)
            for form, stem in zip(forms, stems(forms), strict=True):
                if (
                    stem in stemmed
                    or any(is_compound(other, form) or is_compound(other, stem) for other in words)
                    or any(left + right in words for left, right in spoken if form in (left, right))
                    or (form == prefix and any(other.startswith(form) for other in words))
                ):
                    found.setdefault(form, []).append(name)
                elif form in word.parts and not word.required:
                    for other in _stand_ins(form, stemmed):
                        found.setdefault(other, []).append(name)
    return {word: list(dict.fromkeys(fields)) for word, fields in found.items()}


def _stand_ins(form: str, stemmed: set[str]) -> list[str]:
    """The synonyms of a word that are among these stems."""
    others = [other.word for other in synonyms(form)]
    return [other for other, stem in zip(others, stems(others), strict=True) if stem in stemmed]
