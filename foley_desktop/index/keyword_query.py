"""From a parsed query to a Tantivy query, and what its scores can reach.

A document's score is a sum over what it has of the query: BM25 of each word in several forms, something
for parts that stand together as they were asked, something for having every word.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from foley_desktop.index.query import ParsedQuery, Word
from foley_desktop.index.synonyms import spellings, synonyms
from foley_desktop.index.words import FUNCTION_WORDS, SHORTEST_ENDING, is_compound, joinable, stems

if TYPE_CHECKING:
    import tantivy

K1 = 1.2
"""BM25's saturation, as Tantivy has it (b = 0.75)."""

STEM_WEIGHT = 0.6
"""What another form of a word counts beside the word itself."""
FUNCTION_WORD_WEIGHT = 0.25
PREFIX_WEIGHT = 0.5
COMPOUND_WEIGHT = 0.6
"""What ``heavytraffic`` counts for ``traffic``: in English the last part of a compound says what it is."""
MOST_COMPLETIONS = 40
MOST_COMPOUNDS = 20
MOST_PAIRS = 24
"""Neighbouring words of a query that are looked at as pairs."""

SINGLE_FIELDS = ("name", "title", "keywords", "category", "tags", "description", "folder", "ext")
OPERATOR_FIELDS = {
    "": SINGLE_FIELDS,
    "name": ("name",),
    "desc": ("description", "title", "keywords"),
    "cat": ("category",),
    "folder": ("folder",),
    "ext": ("ext",),
}
"""What the fields a user may write stand for."""


def variants(word: str) -> tuple[str, ...]:
    """``word`` in singular and plural, by rule of thumb, and in its other spellings: what an exclusion or a
    field has to cover."""
    found = []
    for spelling in (word, *spellings(word)):
        found += [spelling, spelling + "s", spelling + "es"]
        if spelling.endswith("es") and len(spelling) > 4:
            found.append(spelling[:-2])
        if spelling.endswith("s") and len(spelling) > 3:
            found.append(spelling[:-1])
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
        """Documents that hold ``word`` in ``field``, scored by BM25."""
        return self._t.Query.term_query(self._schema, field, word)

    def boost(self, query: tantivy.Query, weight: float) -> tantivy.Query:
        return query if weight == 1.0 else self._t.Query.boost_query(query, weight)

    def constant(self, query: tantivy.Query, score: float) -> tantivy.Query:
        return self._t.Query.const_score_query(query, score)

    def any_of(self, queries: Sequence[tantivy.Query]) -> tantivy.Query:
        """Documents matching any; the score is the sum."""
        return self._together(queries, self._t.Occur.Should)

    def all_of(self, queries: Sequence[tantivy.Query]) -> tantivy.Query:
        """Documents matching every one; the score is the sum."""
        return self._together(queries, self._t.Occur.Must)

    def _together(self, queries: Sequence[tantivy.Query], occur: tantivy.Occur) -> tantivy.Query:
        if not queries:
            return self._t.Query.empty_query()
        if len(queries) == 1:
            return queries[0]
        return self._t.Query.boolean_query([(occur, query) for query in queries])

    def everything(self) -> tantivy.Query:
        return self._t.Query.all_query()

    def one_of_ids(self, ids: Iterable[str]) -> tantivy.Query:
        return self.constant(self._t.Query.term_set_query(self._schema, "id", list(ids)), 0.0)

    def idf(self, found: int) -> float:
        """BM25's inverse document frequency, log(1 + (N - n + 0.5) / (n + 0.5))."""
        # Documents that were deleted still count in frequencies until the index is rewritten.
        found = min(found, self._searcher.num_docs)
        return math.log(1 + (self._searcher.num_docs - found + 0.5) / (found + 0.5))

    def word_idf(self, field: str, word: str) -> float:
        return self.idf(self._searcher.doc_freq(field, word))

    # -- words that have to be there, or must not ------------------------------------------------

    def present(self, word: Word, prefix: str | None = None) -> tantivy.Query:
        """Documents that hold ``word`` as an exclusion, a phrase or a field means it; no score.

        Args:
            prefix: The word may be unfinished: what it begins counts too.
        """
        fields = OPERATOR_FIELDS[word.field]
        unfinished = prefix == word.parts[-1]
        if len(word.parts) > 1:
            found = [query for field in fields for query in self._in_order(field, word.parts, unfinished)]
            return self.constant(self.any_of(found), 0.0)
        if not word.field:
            fields = ("text",)
        terms = [(field, form) for field in fields for form in variants(word.parts[0])]
        if unfinished:
            terms += [
                (field, form) for field in fields for form, _ in self._completions(field, word.parts[0])
            ]
        found = [self.term(field, form) for field, form in terms]
        if word.field:
            # Single fields hold the parts of a compound, not the whole.
            halves = [pair for form in variants(word.parts[0]) for pair in self._halves(form, unfinished)]
            found += [
                q for field in fields for pair in halves for q in self._in_order(field, pair, unfinished)
            ]
        return self.constant(self.any_of(found), 0.0)

    def _in_order(self, field: str, parts: Sequence[str], unfinished: bool) -> list[tantivy.Query]:
        """Documents that hold the parts one behind the other; the last may be the beginning of a word."""
        *before, last = parts
        ends = [last, *(form for form, _ in self._completions(field, last))] if unfinished else [last]
        return [self._phrase(field, [*before, end]) for end in ends]

    def _halves(self, word: str, unfinished: bool) -> list[tuple[str, str]]:
        """The words of the library that ``word`` may be made of: ``doorbell`` is ``door`` and ``bell``."""
        if not word.isalpha():
            return []
        pairs = [(word[:cut], word[cut:]) for cut in range(1, len(word))]
        pairs = [(left, right) for left, right in pairs if joinable(left) and (unfinished or joinable(right))]
        known = self._searcher.doc_freq
        return [
            (left, right)
            for left, right in pairs
            if known("text", left) > 0 and (unfinished or known("text", right) > 0)
        ]

    def restriction(self, parsed: ParsedQuery, *, prefix_last: bool = False) -> tantivy.Query | None:
        """Documents that exclusions, phrases and fields leave over; None if the query has none."""
        occur = self._t.Occur
        clauses = [
            (occur.MustNot, self.any_of([self.present(word), *self._otherwise_written(word)]))
            for word in parsed.excluded
        ]
        prefix = parsed.prefix if prefix_last else None
        for group in parsed.groups:
            if all(word.required for word in group):
                last = prefix if group is parsed.groups[-1] else None
                clauses.append((occur.Must, self.any_of([self.present(word, last) for word in group])))
        if not clauses:
            return None
        if len(clauses) == len(parsed.excluded):
            clauses.append((occur.Must, self.everything()))
        return self._t.Query.boolean_query(clauses)

    def _otherwise_written(self, word: Word) -> list[tantivy.Query]:
        """An excluded ``doorbell`` is also ``door_bell``, and the other way round."""
        if word.field or not all(map(joinable, word.parts)):
            return []
        if len(word.parts) == 1:
            return [self.constant(self.term("joined", stems(word.parts)[0]), 0.0)]
        if len(word.parts) == 2:
            forms = variants("".join(word.parts))
            return [self.constant(self.any_of([self.term("text", form) for form in forms]), 0.0)]
        return []

    def _phrase(self, field: str, parts: Sequence[str]) -> tantivy.Query:
        return self._t.Query.phrase_query(self._schema, field, list(parts))

    # -- words that rank ------------------------------------------------------------------------

    def weights(self, parsed: ParsedQuery) -> list[tuple[Word, float]]:
        """The wanted words; function words count less unless there are no others."""
        words = parsed.words
        light = [len(w.parts) == 1 and w.parts[0] in FUNCTION_WORDS and not w.required for w in words]
        if all(light):
            return [(word, 1.0) for word in words]
        return [(w, FUNCTION_WORD_WEIGHT if f else 1.0) for w, f in zip(words, light, strict=True)]

    def word_masses(self, parsed: ParsedQuery) -> dict[str, float]:
        """Every word of the query, split, with its idf; less for function words."""
        masses: dict[str, float] = {}
        for word, weight in self.weights(parsed):
            units = forms_of(word) if is_cjk(word) else word.parts
            for unit, stem in _with_stems(units):
                masses[unit] = max(masses.get(unit, 0.0), weight * self.word_idf("stem", stem))
        return masses

    def mentions(self, part: str, parsed: ParsedQuery) -> tantivy.Query:
        """Documents that hold a word of the query in any form; no score."""
        stem = stems([part])[0]
        forms = [self.term("text", part), self.term("stem", stem), self.term("joined", stem)]
        together = [left + right for left, right in neighbours(parsed) if part in (left, right)]
        forms += [self.term("text", other) for other in self._compounds(part) + together]
        others = [other.word for other in synonyms(part)]
        forms += [self.term(field, other) for field, other in _placed(others)]
        return self.constant(self.any_of(forms), 0.0)

    def _terms(self, parsed: ParsedQuery) -> list[tuple[str, str, float]]:
        """``(field, term, weight)`` of everything whose BM25 makes up the score."""
        weighed: dict[tuple[str, str], float] = {}
        for word, weight in self.weights(parsed):
            for form, stem in _with_stems(forms_of(word)):
                weighed.setdefault(("text", form), weight)
                weighed.setdefault(("stem", stem), weight * STEM_WEIGHT)
                if joinable(form):
                    weighed.setdefault(("joined", stem), weight * STEM_WEIGHT)
                for compound in self._compounds(form):
                    weighed.setdefault(("text", compound), weight * COMPOUND_WEIGHT)
        for left, right in neighbours(parsed):
            weighed.setdefault(("text", left + right), 1.0)
            weighed.setdefault(("stem", stems([left + right])[0]), STEM_WEIGHT)
        return [(field, term, weight) for (field, term), weight in weighed.items()]

    def _reach(self, forms: Iterable[str]) -> float:
        """The BM25 that no document can pass for these words, however often it has them."""
        idfs = [
            self.word_idf("text", form) + STEM_WEIGHT * self.word_idf("stem", stem)
            for form, stem in _with_stems(forms)
        ]
        return (K1 + 1) * sum(idfs)

    def _stand_ins(self, parsed: ParsedQuery) -> list[tantivy.Query]:
        """For each plain word the best that a document has of what stands for it, never worth more than
        the word: a rare synonym counts as if it were as common as the word itself."""
        found = []
        words = {left + right: 1.0 for left, right in neighbours(parsed)}
        for word, weight in self.weights(parsed):
            words |= {form: weight for form in word.parts if not word.required}
        for form, weight in words.items():
            own = dict(zip(("text", "stem", "joined"), (form, *stems([form]) * 2), strict=True))
            others = []
            for other in synonyms(form):
                terms = []
                for field, term in _placed([other.word]):
                    ratio = min(1.0, self.word_idf(field, own[field]) / self.word_idf(field, term))
                    worth = weight * other.weight * ratio * (1.0 if field == "text" else STEM_WEIGHT)
                    terms.append(self.boost(self.term(field, term), worth))
                others.append(self.any_of(terms))
            if others:
                found.append(self._t.Query.disjunction_max_query(others))
        return found

    def _adjacent(self, parsed: ParsedQuery) -> list[tuple[tuple[str, str], float]]:
        """Pairs of parts that were written as one, and what their standing together is worth.

        It is more than the two words can bring apart, so that ``5.1`` stands above a 5 and a 1.
        """
        found: dict[tuple[str, str], float] = {}
        for word, weight in self.weights(parsed):
            if not word.phrase and not is_cjk(word):
                for pair in itertools.pairwise(word.parts):
                    found.setdefault(pair, weight * self._reach(pair))
        return list(found.items())[:MOST_PAIRS]

    def _all_words(self, parsed: ParsedQuery) -> tuple[list[str], float]:
        """The words that count fully if there are several, and what having them all is worth.

        It is more than all but one of them can bring, so that complete matches come first.
        """
        light = {word.parts[0] for word, weight in self.weights(parsed) if weight < 1.0}
        words = [unit for unit in self.word_masses(parsed) if unit not in light]
        if len(words) < 2 or any(len(group) > 1 for group in parsed.groups):
            return [], 0.0
        return words, self._reach(words)

    def _completions(self, field: str, prefix: str) -> list[tuple[str, int]]:
        """The most frequent words that ``prefix`` begins, with their counts; at most a few dozen."""
        found = self._searcher.terms_with_prefix(field, prefix, limit=5000)
        found = sorted((pair for pair in found if pair[0] != prefix), key=lambda pair: (-pair[1], pair[0]))
        return found[:MOST_COMPLETIONS]

    def _compounds(self, word: str) -> list[str]:
        """The most frequent compounds in the library that end in ``word`` or its stem."""
        found: dict[str, int] = {}
        for ending in {word, stems([word])[0]}:
            if len(ending) >= SHORTEST_ENDING and ending.isalpha():
                for reverse, count in self._searcher.terms_with_prefix("endings", ending[::-1], limit=1000):
                    if is_compound(reverse[::-1], ending):
                        found[reverse[::-1]] = count
        return sorted(found, key=lambda compound: (-found[compound], compound))[:MOST_COMPOUNDS]

    def _completed(self, prefix: str) -> list[tantivy.Query]:
        """Longer words count as if they were one word, or rare ones would come first."""
        found = self._completions("text", prefix)
        together = self.idf(min(sum(count for _, count in found), self._searcher.num_docs))
        queries = []
        for word, _ in found:
            own = self.word_idf("text", word)
            queries.append(self.boost(self.term("text", word), PREFIX_WEIGHT * together / own))
        return queries

    # -- whole queries --------------------------------------------------------------------------

    def build(
        self, parsed: ParsedQuery, *, within: Iterable[str] | None = None, prefix_last: bool = False
    ) -> tantivy.Query:
        """The query whose score is BM25, plus what adjacent parts and complete matches earn."""
        clauses = []
        if within is not None:
            clauses.append(self.one_of_ids(within))
        restriction = self.restriction(parsed, prefix_last=prefix_last)
        if restriction is not None:
            clauses.append(self.constant(restriction, 0.0))
        ranked = [self.boost(self.term(f, term), weight) for f, term, weight in self._terms(parsed)]
        for pair, worth in self._adjacent(parsed):
            phrases = self.any_of([self._phrase(field, pair) for field in SINGLE_FIELDS])
            ranked.append(self.constant(phrases, worth))
        words, worth = self._all_words(parsed)
        if words:
            ranked.append(self.constant(self.all_of([self.mentions(word, parsed) for word in words]), worth))
        ranked += self._stand_ins(parsed)
        if prefix_last and parsed.prefix:
            ranked += self._completed(parsed.prefix)
        if any(all(word.required for word in group) for group in parsed.groups):
            # What has to match does: half a compound that is being typed is nothing that could rank.
            ranked.append(self.constant(self.everything(), 0.0))
        clauses.append(self.any_of(ranked) if ranked else self.everything())
        return self.all_of(clauses)

    def best(self, parsed: ParsedQuery) -> float:
        """The BM25 that no document can pass: every word found endlessly often."""
        return sum(weight * self._reach(forms_of(word)) for word, weight in self.weights(parsed))


def _with_stems(forms: Iterable[str]) -> list[tuple[str, str]]:
    forms = list(forms)
    return list(zip(forms, stems(forms), strict=True))


def _placed(words: Sequence[str]) -> list[tuple[str, str]]:
    """``(field, term)`` under which each word stands: as it is, as its stem, and written apart."""
    stemmed = stems(words)
    pairs = [
        (("text", word), ("stem", stem), ("joined", stem)) for word, stem in zip(words, stemmed, strict=True)
    ]
    return [place for places in pairs for place in places]


def is_cjk(word: Word) -> bool:
    """Whether a word is several characters of CJK, for which its bigrams stand."""
    return bool(word.wholes) and all(len(part) == 1 and not part.isascii() for part in word.parts)


def forms_of(word: Word) -> list[str]:
    """Words to look for; of a run of CJK the bigrams alone, single characters say too little."""
    return list(dict.fromkeys(word.wholes if is_cjk(word) else [*word.parts, *word.wholes]))


def neighbours(parsed: ParsedQuery) -> list[tuple[str, str]]:
    """Neighbouring words of the query that someone else may have written as one."""
    groups = parsed.groups
    words = [group[0].parts[0] if len(group) == 1 and len(group[0].parts) == 1 else "" for group in groups]
    pairs = [(left, right) for left, right in itertools.pairwise(words) if joinable(left) and joinable(right)]
    return pairs[:MOST_PAIRS]
