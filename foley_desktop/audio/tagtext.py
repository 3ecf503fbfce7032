"""Turns the bytes of a tag into text a person can read, whatever encoding its writer believed in."""

from __future__ import annotations

import re

MAX_CHARACTERS = 20_000
"""A tag's value is cut here; nothing that describes a sound is longer."""

_SPACES = re.compile(r"[\t\r\n\v\f\x85\u2028\u2029]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ufeff\ufffe\uffff\ud800-\udfff]")


def decode_text(raw: bytes) -> str:
    """Text of a fixed or NUL-terminated field: cut at the first NUL, decoded, cleaned.

    UTF-8 comes first, without a character that the field's end cut in half; then cp1252, then
    Latin-1, which takes anything.
    """
    raw = raw.split(b"\0", 1)[0]
    if raw[:3] == b"\xef\xbb\xbf":
        raw = raw[3:]
    return clean(_decode(raw))


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and len(raw) - error.start < 4 and error.start:
            head = raw[: error.start]
            if not head.isascii() or _is_cut_field(raw):
                return head.decode("utf-8")
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _is_cut_field(raw: bytes) -> bool:
    """Whether a field is filled to one of the sizes at which writers cut: then its end is suspect."""
    return len(raw) in (4, 10, 32, 255, 256)


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
