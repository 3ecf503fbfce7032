"""Turns the bytes of a tag into text a person can read, whatever encoding its writer believed in."""

from __future__ import annotations

import re

MAX_CHARACTERS = 20_000
"""A tag's value is cut here; nothing that describes a sound is longer."""

_SPACES = re.compile(r"[\t\r\n\v\f\x85\u2028\u2029]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")
"""Control characters, overrides of the writing direction, and what is no character at all."""


def decode_text(raw: bytes, field_size: int = 0) -> str:
    """Text of a fixed or NUL-terminated field: cut at the first NUL, decoded, cleaned.

    UTF-8 comes first, without a character that the field's end cut in half; then cp1252, then
    Latin-1, which takes anything. ``field_size`` is the width in bytes of a field that cuts.
    """
    raw = raw.split(b"\0", 1)[0].removeprefix(b"\xef\xbb\xbf")
    return clean(_decode(raw, cut=len(raw) == field_size))


def _decode(raw: bytes, *, cut: bool) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        head, tail = raw[: error.start], raw[error.start :]
        if error.reason == "unexpected end of data" and (cut or _looks_cut(head, tail)):
            return head.decode("utf-8")
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _looks_cut(head: bytes, tail: bytes) -> bool:
    """Whether the last bytes are half a UTF-8 character rather than a letter of an older encoding.

    They are if other such characters came before, if there is more than one of them, or if the letter
    would be a capital (0xC2 to 0xC5, which begin the accented letters of Latin scripts) behind a small one.
    """
    return not head.isascii() or len(tail) > 1 or (tail[0] in range(0xC2, 0xC6) and head[-1:].islower())


def clean(text: str) -> str:
    """One line without control characters, blanks around it removed, bounded in length."""
    text = _SPACES.sub(" ", text[: 2 * MAX_CHARACTERS])
    return _CONTROLS.sub("", text).strip()[:MAX_CHARACTERS]


def repair_latin(text: str) -> str:
    """Undoes UTF-8 that was stored as Latin-1, a common mistake in ID3; other text stays."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text
