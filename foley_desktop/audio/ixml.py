"""Edits an iXML payload in place: what is not edited stays character for character.

Parsing and writing the document anew would lose what writers put between its elements, and their tools
look at that. So elements are found in the text, and a payload that is not well formed, before or after,
is left alone. Layout as in the iXML specification 3.0; librarians keep their fields in ``USER``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from foley_desktop.audio.riff_tags import IXML_FIELDS
from foley_desktop.audio.tagfields import PLACES, TOP_LEVEL_IXML

_NEW = '<?xml version="1.0" encoding="UTF-8"?>\n<BWFXML>\n<IXML_VERSION>3.01</IXML_VERSION>\n</BWFXML>\n'
_NOT_OURS = frozenset(["trackname"])
"""Elements that mean a channel rather than the sound, though they are read as a title."""
_WIDE = {
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
    b"<\0": "utf-16-le",
    b"\0<": "utf-16-be",
}
"""How a document of two bytes a letter begins."""
_FREE_TEXT = re.compile(r"<USER(?:\s[^<>]*)?>[^<>]*[^<>\s][^<>]*\Z")
_STATED = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([\w-]+)")


class IxmlError(ValueError):
    """The payload is not an iXML document that can be edited."""


def edited(payload: bytes, changes: Mapping[str, str]) -> bytes:
    """The payload with the fields of ``changes`` set, or taken out where the value is empty.

    Args:
        payload: A whole iXML chunk, empty for a new one.
        changes: New values by our field names; fields that iXML has no place for are passed over.

    Raises:
        IxmlError: the payload is not well formed, or says something else afterwards.
    """
    text, encoding, tail = _decoded(payload) if payload else (_NEW, "utf-8", b"")
    before = _leaves(text)
    for field, value in changes.items():
        places = PLACES.get(field)
        if places is None:
            continue
        text, found = _replaced(text, field, value)
        if value and places.ixml and places.ixml.lower() not in found:
            text = _inserted(text, places.ixml, value)
    if not payload and text == _NEW:
        return b""
    after = _leaves(text)
    names = {name for name, field in IXML_FIELDS.items() if field in changes}
    if [leaf for leaf in before if leaf[0] not in names] != [leaf for leaf in after if leaf[0] not in names]:
        raise IxmlError("an edit would change other elements")
    return _encoded(text, encoding) + tail


def _decoded(payload: bytes) -> tuple[str, str, bytes]:
    """Text (a mark of its encoding included), encoding, and the zeros behind it with what follows them."""
    for start, encoding in _WIDE.items():
        if payload.startswith(start):
            body = payload.rstrip(b"\0")
            body += b"\0" * (len(body) % 2)
            return _text(body, encoding), encoding, payload[len(body) :]
    body = payload.partition(b"\0")[0]
    stated = _STATED.match(body.removeprefix(b"\xef\xbb\xbf"))
    encoding = "utf-8"
    if stated and stated[1].lower() in (b"iso-8859-1", b"latin1", b"windows-1252", b"cp1252"):
        encoding = "cp1252" if b"1252" in stated[1] else "latin-1"
    return _text(body, encoding), encoding, payload[len(body) :]


def _text(body: bytes, encoding: str) -> str:
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        raise IxmlError(str(error)) from error


def _encoded(text: str, encoding: str) -> bytes:
    """Letters that an old encoding does not have become references to them."""
    return text.encode(encoding, "xmlcharrefreplace")


def _leaves(text: str) -> list[tuple[str, str]]:
    """``(lower-case name, text)`` of the elements without children, in order."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise IxmlError("the document has a type declaration")
    bare = re.sub(r"^\s*<\?xml[^>]*\?>", "", text.lstrip("\ufeff"))
    try:
        root = ElementTree.fromstring(bare)
    except (ElementTree.ParseError, ValueError) as error:
        raise IxmlError(str(error)) from error
    # An empty container has no children either; as a leaf without text it says nothing.
    return [
        (element.tag.lower(), (element.text or "").strip())
        for element in root.iter()
        if isinstance(element.tag, str) and not len(element) and (element.text or "").strip()
    ]


def _replaced(text: str, field: str, value: str) -> tuple[str, set[str]]:
    """Sets every element that holds the field; gives the names found, lower case."""
    names = [n for n, f in IXML_FIELDS.items() if f == field and n not in _NOT_OURS]
    found: set[str] = set()
    if not names:
        return text, found
    element = re.compile(rf"<({'|'.join(names)})(\s[^<>]*)?(?:/>|>[^<>]*</\1\s*>)", re.IGNORECASE)

    def put(match: re.Match[str]) -> str:
        at = match.start()
        if text.rfind("<SPEED>", 0, at) > text.rfind("</SPEED>", 0, at):
            return match[0]  # a note about the speed alone
        found.add(match[1].lower())
        attributes = match[2] or ""
        return f"<{match[1]}{attributes.rstrip('/')}>{_escaped(value)}</{match[1]}>"

    return element.sub(put, text), found


def _inserted(text: str, name: str, value: str) -> str:
    """Adds an element at the end of ``USER``, or of the root where it belongs there."""
    element = f"<{name}>{_escaped(value)}</{name}>\n"
    if name not in TOP_LEVEL_IXML:
        text = re.sub(r"<USER\s*/>", "<USER></USER>", text, count=1)
        user = text.rfind("</USER>")
        # The specification has free text in USER; fields go into one of their own then.
        if user >= 0 and not _FREE_TEXT.search(text[:user]):
            return text[:user] + element + text[user:]
        element = f"<USER>\n{element}</USER>\n"
    end = re.search(r"</[^<>]+>\s*\Z", text)
    if end is None:
        raise IxmlError("the document has no end")
    return text[: end.start()] + element + text[end.start() :]


def _escaped(value: str) -> str:
    return escape(value)
