"""From a parsed query to a Tantivy query, and what its scores can reach.

Scores are sums of 32-bit floats, and such sums depend on their order, which in Tantivy depends on how
documents lie in segments. So sums are built as binary trees: adding two numbers is the same either way
round, hence a document's score depends on the words and the statistics alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from foley_desktop.index.query import ParsedQuery, Word
from foley_desktop.index.words import FUNCTION_WORDS, stems

if TYPE_CHECKING:
    import tantivy

K1 = 1.2
"""BM25's saturation, as Tantivy has it (b = 0.75)."""

STEM_WEIGHT = 0.6
FUNCTION_WORD_WEIGHT = 0.25
PREFIX_WEIGHT = 0.5
MOST_COMPLETIONS = 40

SINGLE_FIELDS = ("name", "title", "keywords", "category", "tags", "description", "folder", "ext")
OPERATOR_FIELDS = {
    "": SINGLE_FIELDS,
    "name": ("name",),
    "desc": ("description", "title", "keywords"),
    "cat": ("category",),
    "folder": ("folder",),
    "ext": ("ext",),
}


def variants(word: str) -> tuple[str, ...]:
    """``word`` in singular and plural, by rule of thumb: what an exclusion or a field has to cover."""
    found = [word, word + "s", word + "es"]
    if word.endswith("es") and len(word) > 4:
        found.append(word[:-2])
    if word.endswith("s") and len(word) > 3:
        found.append(word[:-1])
    return tuple(dict.fromkeys(found))


class QueryBuilder:
    """Builds queries for one state of the index.

    Args:
        schema: The index's schema, with the fields of :class:`foley_desktop.index.keywords.KeywordIndex`.
        searcher: The state of the index whose statistics count.
    """

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        import tantivy

        self._t = tantivy
        self._schema = schema
        self._searcher = searcher

    # -- building blocks ------------------------------------------------------------------------

    def term(self, field: str, word: str) -> tantivy.Query:
        return self._t.Query.term_query(self._schema, field, word)

    def boost(self, query: tantivy.Query, weight: float) -> tantivy.Query:
        return query if weight == 1.0 else self._t.Query.boost_query(query, weight)

    def constant(self, query: tantivy.Query, score: float) -> tantivy.Query:
        return self._t.Query.const_score_query(query, score)

    def sum(self, queries: Sequence[tantivy.Query]) -> tantivy.Query:
        """Documents matching any; the score is the sum, see the module's docstring."""
        return self._tree(list(queries), self._t.Occur.Should)

    def all_of(self, queries: Sequence[tantivy.Query]) -> tantivy.Query:
        """Documents matching every one; the score is the sum."""
        return self._tree(list(queries), self._t.Occur.Must)

    def _tree(self, queries: list[tantivy.Query], occur: tantivy.Occur) -> tantivy.Query:
        if not queries:
            return self._t.Query.empty_query()
        while len(queries) > 1:
            pairs = [queries[i : i + 2] for i in range(0, len(queries), 2)]
            queries = [
                p[0] if len(p) == 1 else self._t.Query.boolean_query([(occur, q) for q in p]) for p in pairs
            ]
        return queries[0]

    def ids(self, ids: Iterable[str]) -> tantivy.Query:
        return self.constant(self._t.Query.term_set_query(self._schema, "id", list(ids)), 0.0)

    def idf(self, field: str, word: str) -> float:
        """BM25's inverse document frequency, log(1 + (N - n + 0.5) / (n + 0.5))."""
        found = self._searcher.doc_freq(field, word)
        return math.log(1 + (self._searcher.num_docs - found + 0.5) / (found + 0.5))

    # -- words ----------------------------------------------------------------------------------

    def present(self, word: Word) -> tantivy.Query:
        """Documents that hold ``word`` as an exclusion, a phrase or a field means it; no score."""
        fields = OPERATOR_FIELDS[word.field]
        if len(word.parts) > 1:
            return self.constant(self.sum([self._phrase(f, word.parts) for f in fields]), 0.0)
        if not word.field:
            fields = ("text",)
        return self.constant(
            self.sum([self.term(f, v) for f in fields for v in variants(word.parts[0])]), 0.0
        )

    def _phrase(self, field: str, parts: Sequence[str]) -> tantivy.Query:
        return self._t.Query.phrase_query(self._schema, field, list(parts))

    def clauses(self, word: Word, weight: float) -> list[tuple[str, str, float]]:
        """``(field, term, weight)`` of everything that ranks for ``word``."""
        parts = list(dict.fromkeys(word.parts))
        if word.wholes and all(len(p) == 1 and not p.isascii() for p in parts):
            parts = []
        terms = [*parts, *dict.fromkeys(word.wholes)]
        exact = [("text", term, weight) for term in terms]
        stemmed = [("stem", stem, weight * STEM_WEIGHT) for stem in stems(terms)]
        return exact + stemmed

    def score(self, word: Word, weight: float) -> list[tantivy.Query]:
        ranked = [self.boost(self.term(f, t), w) for f, t, w in self.clauses(word, weight) if w > 0]
        return ranked + self._adjacent(word, weight)

    def _adjacent(self, word: Word, weight: float) -> list[tantivy.Query]:
        """What lifts ``5.1`` above a 5 and a 1 apart: more than the two words can bring alone."""
        if len(word.parts) < 2 or word.phrase:
            return []
        found = []
        for pair in dict.fromkeys(zip(word.parts, word.parts[1:], strict=False)):
            phrases = [self._phrase(field, pair) for field in OPERATOR_FIELDS[word.field]]
            found.append(self.constant(self.sum(phrases), self.adjacency(pair, weight)))
        return found

    def adjacency(self, pair: Sequence[str], weight: float) -> float:
        return weight * (K1 + 1) * (1 + STEM_WEIGHT) * sum(self.idf("text", part) for part in pair)

    def completions(self, prefix: str) -> list[str]:
        """The most frequent words that start with ``prefix`` and are longer, at most a few dozen."""
        found = self._searcher.terms_with_prefix("text", prefix, limit=5000)
        found = [(word, n) for word, n in found if word != prefix]
        found.sort(key=lambda pair: (-pair[1], pair[0]))
        return [word for word, _ in found[:MOST_COMPLETIONS]]

    # -- whole queries --------------------------------------------------------------------------

    def weights(self, parsed: ParsedQuery) -> list[tuple[Word, float]]:
        words = parsed.words
        light = [len(w.parts) == 1 and w.parts[0] in FUNCTION_WORDS and not w.required for w in words]
        if all(light):
            return [(word, 1.0) for word in words]
        return [(w, FUNCTION_WORD_WEIGHT if f else 1.0) for w, f in zip(words, light, strict=True)]

    def build(
        self, parsed: ParsedQuery, *, within: Iterable[str] | None = None, prefix_last: bool = False
    ) -> tantivy.Query:
        """The query whose score is BM25 plus what adjacent parts earn."""
        occur = self._t.Occur
        clauses = []
        if within is not None:
            clauses.append((occur.Must, self.ids(within)))
        restriction = self.restriction(parsed)
        if restriction is not None:
            clauses.append((occur.Must, self.constant(restriction, 0.0)))
        ranked: list[tantivy.Query] = []
        for word, weight in self.weights(parsed):
            ranked += self.score(word, weight)
        if prefix_last and parsed.prefix:
            ranked += [
                self.boost(self.term("text", word), PREFIX_WEIGHT) for word in self.completions(parsed.prefix)
            ]
        clauses.append((occur.Must, self.sum(ranked) if ranked else self._t.Query.all_query()))
        return self._t.Query.boolean_query(clauses)

    def restriction(self, parsed: ParsedQuery) -> tantivy.Query | None:
        """Documents that exclusions, phrases and fields leave over; None if the query has none."""
        occur = self._t.Occur
        clauses = [(occur.MustNot, self.present(word)) for word in parsed.excluded]
        for group in parsed.groups:
            if all(word.required for word in group):
                clauses.append((occur.Must, self.sum([self.present(word) for word in group])))
        if not clauses:
            return None
        if len(clauses) == len(parsed.excluded):
            clauses.append((occur.Must, self._t.Query.all_query()))
        return self._t.Query.boolean_query(clauses)

    def word_masses(self, parsed: ParsedQuery) -> list[tuple[str, float]]:
        """Every part of the query with its idf, less for function words."""
        masses: dict[str, float] = {}
        for word, weight in self.weights(parsed):
            for part, stem in zip(word.parts, stems(word.parts), strict=True):
                masses[part] = max(masses.get(part, 0.0), weight * self.idf("stem", stem))
        return list(masses.items())

    def mentions(self, part: str) -> tantivy.Query:
        """Documents that hold a word or another form of it; no score."""
        return self.constant(self.sum([self.term("text", part), self.term("stem", stems([part])[0])]), 0.0)

    def best(self, parsed: ParsedQuery) -> float:
        """The score that no document can pass: every word found endlessly often, every part adjacent."""
        total = 0.0
        for word, weight in self.weights(parsed):
            total += sum(w * (K1 + 1) * self.idf(f, t) for f, t, w in self.clauses(word, weight))
            if not word.phrase:
                pairs = dict.fromkeys(zip(word.parts, word.parts[1:], strict=False))
                total += sum(self.adjacency(pair, weight) for pair in pairs)
        return total
