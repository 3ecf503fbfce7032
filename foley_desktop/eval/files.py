"""Reading and writing the files of an evaluation: bounded, decoded with care, never half written."""

from __future__ import annotations

import codecs
import json
import os
import stat
from collections import Counter
from pathlib import Path
from typing import Any

from foley_desktop.errors import GoldenSetError

MAX_JSON_BYTES = 32 * 2**20
"""No golden set or baseline is larger. Decoding takes up to some twenty times as much memory."""


class DoubledObject(dict[str, Any]):
    """A JSON object that gave a key twice; ``json`` alone would keep the last value without a word."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.doubled = Counter(key for key, _ in pairs).most_common(1)[0][0]


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    return result if len(result) == len(pairs) else DoubledObject(pairs)


def shown(path: str | os.PathLike[str]) -> str:
    """A path as it can stand in a sentence, also when its name is no text or spans lines."""
    return "".join(char if char.isprintable() else "?" for char in os.fspath(path))


def read_bytes(path: str | os.PathLike[str], what: str, max_bytes: int) -> bytes:
    """The content of a regular file of at most ``max_bytes``.

    Args:
        path: The file.
        what: What the file should be, for the sentence: ``golden file``.
        max_bytes: Reading stops there.

    Raises:
        GoldenSetError: when it cannot be read, is no file or is too large.
    """
    name = shown(path)
    try:
        # A pipe would block here without end, so the kind of file is looked at before it is opened.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise GoldenSetError(f"The {what} {name} is not a file.")
        with open(path, "rb") as file:
            data = file.read(max_bytes + 1)
    except FileNotFoundError as error:
        raise GoldenSetError(f"The {what} {name} does not exist.", cause=error) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise GoldenSetError(f"The {what} {name} cannot be read: {reason}.", cause=error) from error
    if len(data) > max_bytes:
        raise GoldenSetError(f"The {what} {name} is larger than {max_bytes // 2**20} MB.")
    return data


def read_json(path: str | os.PathLike[str], what: str) -> Any:
    """The JSON document in a UTF-8 file, with or without a byte order mark.

    An object that gives a key twice comes as :class:`DoubledObject`.

    Raises:
        GoldenSetError: when the file cannot be read or holds no JSON.
    """
    name = shown(path)
    data = read_bytes(path, what, MAX_JSON_BYTES).removeprefix(codecs.BOM_UTF8)
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_object_of_pairs)
    except UnicodeDecodeError as error:
        raise GoldenSetError(
            f"The {what} {name} is not UTF-8 text (byte {error.start}).", cause=error
        ) from error
    except json.JSONDecodeError as error:
        sentence = f"The {what} {name} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}."
        raise GoldenSetError(sentence, cause=error) from error
    except RecursionError:
        # The trace has a thousand equal frames and says nothing more.
        raise GoldenSetError(f"The {what} {name} is nested too deeply.") from None
    except ValueError as error:
        raise GoldenSetError(f"The {what} {name} holds a number that is too long.", cause=error) from error


def write_text(path: str | os.PathLike[str], text: str, what: str) -> None:
    """Writes UTF-8 beside the target first, so that a crash never leaves half a file.

    Raises:
        GoldenSetError: when it cannot be written.
    """
    target = Path(path)
    part = target.with_name(target.name + ".part")
    try:
        part.write_bytes(text.encode("utf-8"))
        os.replace(part, target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise GoldenSetError(f"The {what} {shown(path)} cannot be written: {reason}.", cause=error) from error
