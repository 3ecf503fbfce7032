"""Telling codes from words: random names of every make, and the names that people give to sounds."""

from __future__ import annotations

import random
import string
import uuid
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.library.codes import all_codes, halves, is_code, plausibility

WORDS = """
    rain thunder door creak footsteps whoosh boing squelch ambience glass metal tyre colour aeroplane knives
    blacksmith quagmire goblin dwarf ogre menu enemy upgrade reject dog3 step2 whoosh12 explosion01 DoorSlam
    bassdrum AMBForst oilpump Türschlag Schritt 爆炸声 صوت шаг 雷3 ui fx vo
"""
CODES = """
    8f3a09c2 00fdec23 0042 7 x7Qp2k a1b2c3 t9 bd_06 deadbeef01 hkdr qzkvwp xjqzv B00M01 3f2504e0 YPb0CjFGep
"""
rng = random.Random(4)


def letters(alphabet: str, length: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(length))


@pytest.mark.parametrize("word", WORDS.split())
def test_words_are_no_codes(word: str) -> None:
    assert not is_code(word)


@pytest.mark.parametrize("word", CODES.split())
def test_codes_are_codes(word: str) -> None:
    assert all_codes(word.split("_"))


@pytest.mark.parametrize(
    ("make", "least"),
    [
        (lambda: f"{rng.getrandbits(32):08x}", 0.99),
        (lambda: uuid.UUID(int=rng.getrandbits(128)).hex, 0.99),
        (lambda: str(rng.getrandbits(40)), 1.0),
        (lambda: letters(string.ascii_letters + string.digits, 10), 0.97),
        (lambda: letters(string.ascii_lowercase + string.digits, 8), 0.95),
        (lambda: letters(string.ascii_lowercase, 8), 0.9),
    ],
)
def test_random_names_are_nearly_always_found_out(make: Callable[[], str], least: float) -> None:
    assert sum(is_code(make()) for _ in range(1000)) >= least * 1000


def test_one_word_makes_a_name_of_something() -> None:
    assert all_codes(["8f3a", "0042"]) and all_codes([])
    assert not all_codes(["8f3a", "door", "0042"])


def test_letters_of_words_are_likelier_than_others() -> None:
    assert plausibility("thunder") > plausibility("blacksmith") > plausibility("qzkvwp")


@pytest.mark.parametrize(
    ("word", "two"),
    [
        ("smallfire", ("small", "fire")),
        ("heavytraffic", ("heavy", "traffic")),
        ("honkhonk", ("honk", "honk")),
        ("thunder", None),
        ("door", None),
        ("qzkvwpxj", None),
        ("", None),
    ],
)
def test_words_written_together_are_told_apart(word: str, two: tuple[str, str] | None) -> None:
    assert halves(word) == two


@given(st.text(max_size=40))
def test_any_word_can_be_judged(word: str) -> None:
    assert is_code(word) in (True, False)
