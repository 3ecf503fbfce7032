"""What a typed line means, and how text becomes words: by example and by property."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from foley_desktop.index.query import FIELDS, LONGEST_QUERY, MOST_PARTS, ParsedQuery, parse_query
from foley_desktop.index.words import LONGEST_WORD, analyse, joined, stems, tokenize


def terms(text: str) -> tuple[str, ...]:
    return parse_query(text).terms


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("text", "parts", "wholes"),
    [
        ("DoorSlam_01", ["door", "slam", "01"], ["doorslam"]),
        ("AMBForst_B00M01", ["amb", "forst", "b", "00", "m", "01"], ["ambforst", "b00m01"]),
        ("MKH8040", ["mkh", "8040"], ["mkh8040"]),
        ("XMLHttpRequest", ["xml", "http", "request"], ["xmlhttprequest"]),
        ("SFXs and CDs", ["sfxs", "and", "cds"], []),
        ("5.1 7.1.4", ["5", "1", "7", "1", "4"], ["5.1", "7.1.4"]),
        ("24-96", ["24", "96"], ["24.96"]),
        ("24/96", ["24", "96"], ["24.96"]),
        ("48kHz", ["48", "k", "hz"], ["48khz"]),
        ("BW-0012.wav", ["bw", "0012", "wav"], []),
        ("Türschlag café", ["turschlag", "cafe"], []),
        ("Łódź straße øre ĳs ŒUVRE", ["lodz", "strasse", "ore", "ijs", "oeuvre"], []),
        ("ΑΘΉΝΑ Ёлка", ["αθηνα", "елка"], []),
        ("don't ox's l'orage", ["don", "ox", "l", "orage"], ["dont", "oxs", "lorage"]),
        ("'door' ''", ["door"], []),
        ("爆炸声 远处", ["爆", "炸", "声", "远", "处"], ["爆炸", "炸声", "远处"]),
        ("ドアの音", ["ド", "ア", "の", "音"], ["ドア", "アの", "の音"]),
        ("ﾄﾞｱ", ["ド", "ア"], ["ドア"]),
        ("한국어", ["한", "국", "어"], ["한국", "국어"]),
        ("door門", ["door", "門"], []),
        ("ﬁre½", ["fire", "1", "2"], ["fire1"]),
        ("so\u00adft", ["soft"], []),
        ("कुत्ता", ["कुत्ता"], []),
        ("", [], []),
        (" \t\n\0 *?—…🚪", [], []),
        ("caf\udce9 door", ["caf", "door"], []),
    ],
)
def test_text_becomes_parts_in_order_and_joined_forms(text: str, parts: list[str], wholes: list[str]) -> None:
    assert analyse(text) == (parts, wholes)


@pytest.mark.parametrize("other", ["ox’s", "oxʼs", "ox`s", "ox＇s", "ox´s"])
def test_apostrophes_are_one(other: str) -> None:
    assert analyse(other) == analyse("ox's")


@given(st.text(max_size=80))
def test_normal_forms_give_the_same_words(text: str) -> None:
    assert tokenize(unicodedata.normalize("NFD", text)) == tokenize(unicodedata.normalize("NFC", text))


@given(st.text(max_size=200))
@example("İ" * 100)
@example("ŉ" * 40)
def test_words_are_folded_and_stay_words(text: str) -> None:
    parts, wholes = analyse(text)
    for word in parts + wholes:
        assert word and len(word) <= LONGEST_WORD
        assert not any(char.isspace() for char in word)
        assert word == word.casefold()
        word.encode()
    for word in parts:
        assert not any("\u0300" <= char <= "\u036f" for char in word)


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), max_size=6))
def test_plain_words_are_left_alone(words: list[str]) -> None:
    assert analyse(" ".join(words)) == (words, [])
    assert analyse("_".join(words).upper()) == (words, [])


def test_stems_stand_one_for_one() -> None:
    assert stems(["barking", "dogs", "mkh8040", "声"]) == ["bark", "dog", "mkh8040", "声"]
    assert stems([]) == []


def test_only_whole_words_join() -> None:
    assert joined(["door", "bell", "01", "a", "bell"]) == ["doorbell"]


# ---------------------------------------------------------------- queries

HARMLESS = [
    "(copy", "door)", '"', '"door', "'", "don't", "ox's", "door:", "A:B", "https://x.org", "-", "+", "door -",
    "[", "{", "^", "door^", "\\", "AND", "OR", "door AND", "IN", "/re/", "<b>", ">12", "?", "*", "#682",
    "50%", "B=128", "what's the budget, roughly?", "", "   ", "\0", "(t:>12)", "path:door", "door~2", "NOT",
    "- -", '""', '-"', "name:", 'name:"', '-name:"', "OR OR OR", "NOT NOT NOT", '" " "', "(" * 5000, "\udce9",
]  # fmt: skip


@pytest.mark.parametrize("text", HARMLESS)
def test_punctuation_is_no_syntax_and_no_error(text: str) -> None:
    parsed = parse_query(text)
    assert set(parsed.terms) <= {word for part in text.split() for word in tokenize(part)}
    assert not parsed.excluded and not parsed.phrases and not parsed.fields


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(copy", ("copy",)),
        ("don't", ("don",)),
        ("A:B", ("a", "b")),
        ("https://x.org", ("https", "x", "org")),
        ("door AND", ("door", "and")),
        ("door OR", ("door", "or")),
        ("path:door", ("path", "door")),
        ("(t:>12)", ("t", "12")),
        ("door~2", ("door", "2")),
        ("usb-c order-12", ("usb", "c", "order", "12")),
        ("what's the budget, roughly?", ("what", "the", "budget", "roughly")),
        ('12" vinyl', ("12", "vinyl")),
    ],
)
def test_words_in_punctuation_are_searched(text: str, expected: tuple[str, ...]) -> None:
    assert terms(text) == expected


def test_nothing_typed_is_not_the_same_as_no_word() -> None:
    assert all(parse_query(text).blank for text in ("", " ", "\t\n", "\0", "\u3000"))
    assert not any(parse_query(text).blank for text in ("*", '"', "door", "-door"))


def test_phrases_in_any_kind_of_double_quotes() -> None:
    for text in ('"light rain" door', "“light rain” door", "„light rain“ door", "«light rain» door"):
        parsed = parse_query(text)
        assert parsed.phrases == (("light", "rain"),)
        assert parsed.terms == ("door",)
        assert parsed.plain == "light rain door"


def test_a_quote_in_a_word_opens_nothing() -> None:
    parsed = parse_query('5" and 7" vinyl')
    assert parsed.phrases == ()
    assert parsed.terms == ("5", "and", "7", "vinyl")


@pytest.mark.parametrize(
    ("text", "plain", "excluded"),
    [
        ("rain -thunder", "rain", ["thunder"]),
        ("rain NOT thunder", "rain", ["thunder"]),
        ("NOT thunder", "", ["thunder"]),
        ("-thunder", "", ["thunder"]),
        ('rain -"light rain" -wind', "rain", ["light rain", "wind"]),
        ("-usb-c hub", "hub", ["usb-c"]),
        ("-cat:doors", "", ["doors"]),
        ("tone -20dBFS -6.5db -9", "tone -20dBFS -6.5db", ["9"]),
        ("usb-c order-12 a - b", "usb-c order-12 a b", []),
        ("tone -20 dB -23 LUFS \u22126 dB", "tone -20 dB -23 LUFS \u22126 dB", []),
        ("rain \u2013thunder \u2212\u201clight rain\u201d", "rain", ["thunder", "light rain"]),
        ("rain\u2013thunder \u2013 wind", "rain\u2013thunder wind", []),
        ("rain AND NOT thunder", "rain", ["thunder"]),
        ("not thunder", "not thunder", []),
        ("rain NOT ( thunder", "rain", ["thunder"]),
        ("rain OR NOT thunder", "rain", ["thunder"]),
    ],
)
def test_exclusions(text: str, plain: str, excluded: list[str]) -> None:
    parsed = parse_query(text)
    assert parsed.plain == plain
    assert [word.text for word in parsed.excluded] == excluded
    assert parsed.only_excludes == (not plain)


def test_and_between_words_is_no_word_of_its_own() -> None:
    parsed = parse_query('rain AND name:door AND "front gate" and -wind AND hail')
    assert [[word.text for word in group] for group in parsed.groups] == [
        ["rain"], ["door"], ["front gate"], ["and"], ["hail"],
    ]  # fmt: skip
    assert parse_query("AND rain").terms == ("and", "rain")


def test_a_kind_of_file_says_nothing_of_a_sound() -> None:
    parsed = parse_query("ext:wav dog EXT:flac bark")
    assert parsed.fields == (("ext", "wav"), ("ext", "flac"))
    assert parsed.plain == "dog bark"
    assert parse_query("ext:wav").plain == ""


def test_alternatives_stand_in_one_group() -> None:
    parsed = parse_query('rain OR hail "front door" OR gate wind')
    assert [[word.text for word in group] for group in parsed.groups] == [
        ["rain", "hail"],
        ["front door", "gate"],
        ["wind"],
    ]
    assert [[word.text for word in group] for group in parse_query("a OR b OR c d").groups] == [
        ["a", "b", "c"],
        ["d"],
    ]


@pytest.mark.parametrize("field", FIELDS)
def test_the_documented_fields_and_no_other(field: str) -> None:
    parsed = parse_query(f'{field}:wood {field.upper()}:"front door" x{field}:steel')
    assert parsed.fields == ((FIELDS[field], "wood"), (FIELDS[field], "front door"))
    assert parsed.groups[0][0].required and parsed.groups[1][0].required
    assert parsed.groups[2][0].parts == (f"x{field}", "steel")
    assert not parsed.groups[2][0].required


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("doo", "doo"),
        ("heavy doo", "doo"),
        ("heavy doo ", None),
        ('heavy "doo', "doo"),
        ('"heavy doo"', None),
        ("rain -thu", None),
        ("rain NOT thu", None),
        ("name:doo", "doo"),
        ("DoorSl", "sl"),
        ("*", None),
        ("", None),
    ],
)
def test_the_word_still_being_typed(text: str, prefix: str | None) -> None:
    assert parse_query(text).prefix == prefix


@pytest.mark.parametrize(
    ("text", "steps", "plain"),
    [
        ("thunder then rain", ("thunder", "rain"), "thunder rain"),
        ("Door creak THEN door slam", ("Door creak", "door slam"), "Door creak door slam"),
        ("a then b then c", ("a", "b", "c"), "a b c"),
        ('"heavy door" then "light rain"', ("heavy door", "light rain"), "heavy door light rain"),
        ("thunder then rain -wind", ("thunder", "rain"), "thunder rain"),
        ("thunder -wind then rain", ("thunder", "rain"), "thunder rain"),
        ("rain OR hail then wind", ("rain hail", "wind"), "rain hail wind"),
        ("name:thunder then rain", ("thunder", "rain"), "thunder rain"),
        ("a then then b", ("a", "then b"), "a then b"),
        ("then rain", (), "then rain"),
        ("thunder then", (), "thunder then"),
        ("thunder then -rain", (), "thunder then"),
        ("thunder then NOT rain", (), "thunder then"),
        ("-thunder then rain", (), "then rain"),
        ('"thunder then rain"', (), "thunder then rain"),
        ('thunder "then" rain', (), "thunder then rain"),
        ("thunder name:then rain", (), "thunder then rain"),
        ("thunder -then rain", (), "thunder rain"),
        ("thunder, then... rain", (), "thunder, then... rain"),
        ("now-and-then rain", (), "now-and-then rain"),
        ("thunder then ext:wav", (), "thunder then"),
        ("thunder then ext:wav rain", ("thunder", "rain"), "thunder rain"),
    ],
)
def test_one_after_the_other(text: str, steps: tuple[str, ...], plain: str) -> None:
    parsed = parse_query(text)
    assert parsed.steps == steps
    assert parsed.plain == plain


def test_steps_leave_words_and_alternatives_as_they_are() -> None:
    parsed = parse_query("rain OR hail then wind OR storm")
    assert [[word.text for word in group] for group in parsed.groups] == [["rain", "hail"], ["wind", "storm"]]
    assert "then" not in parsed.terms
    assert parse_query("rain OR then wind").steps == ("rain", "wind")


def test_codes_keep_their_parts_together() -> None:
    (group,) = parse_query("AMBForst_B00M01").groups
    assert group[0].parts == ("amb", "forst", "b", "00", "m", "01")
    assert group[0].wholes == ("ambforst", "b00m01")


def test_a_long_paste_is_cut_before_anything_looks_at_it() -> None:
    tail = parse_query("a" * LONGEST_QUERY + "zebra")
    assert "zebra" not in tail.plain
    crowd = parse_query("a " * 249 + "zz")
    assert len(crowd.terms) == MOST_PARTS
    assert crowd.prefix is None
    paste = "(door " * 170_000
    took = []
    for _ in range(5):
        started = time.perf_counter()
        parse_query(paste)
        took.append(time.perf_counter() - started)
    assert min(took) < 0.02


operators = st.sampled_from(
    [
        '"',
        "-",
        " then ",
        "NOT ",
        "OR ",
        "name:",
        "cat:",
        " ",
        "(",
        ")",
        "'",
        "5.1",
        "door",
        "\\",
        ":",
        "\0",
        "声",
        "\udce9",
    ]
)


@settings(max_examples=500)
@given(st.one_of(st.text(max_size=600), st.lists(operators, max_size=40).map("".join)))
def test_every_string_is_a_query(text: str) -> None:
    parsed = parse_query(text)
    assert isinstance(parsed, ParsedQuery)
    parsed.plain.encode()
    assert sum(len(word.parts) for word in parsed.words + parsed.excluded) <= MOST_PARTS
    for word in parsed.words + parsed.excluded:
        assert word.parts and word.field in ("", *FIELDS.values())
        assert not word.phrase or len(word.parts) > 1
    if parsed.prefix is not None:
        assert parsed.prefix in parsed.words[-1].parts
    assert parsed.blank <= (not parsed.groups and not parsed.excluded)
    assert len(parsed.steps) != 1 and all(parsed.steps)
    assert not parsed.steps or " ".join(parsed.steps) == parsed.plain


@given(st.lists(st.from_regex(r"[a-z]{3,8}", fullmatch=True), min_size=1, max_size=8))
def test_plain_words_come_through_as_typed(words: list[str]) -> None:
    assume("then" not in words)
    text = " ".join(words)
    parsed = parse_query(text)
    assert parsed.plain == text
    assert parsed.terms == tuple(words)
    assert not parsed.excluded
