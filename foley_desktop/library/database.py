"""SQLite under the catalog: a connection a thread, transactions, and errors in the user's words.

WAL mode, so that searching never waits for indexing. Every write raises a generation number, by
which what was computed from the catalog (sets of ids) knows that it is out of date.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foley_desktop.errors import CatalogError
from foley_desktop.library.schema import migrate

BUSY_S = 30.0
"""How long a write waits for another process's write."""


def as_text(value: str) -> str:
    """``value`` as text that UTF-8 can hold: surrogates become replacement signs."""
    if _plain(value):
        return value
    try:
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # half a surrogate pair, which stands for no byte
        return value.encode("utf-8", "replace").decode("utf-8")


def guessed_text(value: str) -> str:
    """``value`` as words to search by: bytes that are no UTF-8 are taken for Western European letters.

    Names from before UTF-8 are mostly in Windows-1252; ``caf\\xe9`` is then found as "café". What such a
    guess gets wrong is a few odd letters, whereas a replacement sign is found by nobody.
    """
    if _plain(value):
        return value
    return "".join(map(_guessed, value))


def _guessed(character: str) -> str:
    code = ord(character)
    if not 0xD800 <= code <= 0xDFFF:
        return character
    if not 0xDC80 <= code <= 0xDCFF:
        return "\N{REPLACEMENT CHARACTER}"
    raw = bytes([code - 0xDC00])
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _plain(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def decode_path(raw: bytes) -> str:
    """A stored path as ``str``, with surrogate escapes where the bytes are not text."""
    return os.fsdecode(raw)


def to_i64(number: int) -> int:
    """An unsigned 64-bit number (some file systems' inodes) as SQLite's signed one. Reversible."""
    return (number + 2**63) % 2**64 - 2**63


class Database:
    """One SQLite file, used by any number of threads and processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._closed = False
        with self.errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            migrate(self.connection)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turns SQLite's and the file system's exceptions into :class:`CatalogError`."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise CatalogError(
                    "Another program is writing to this library's catalog.",
                    hint="Wait until it has finished, then try again.",
                    cause=error,
                ) from error
            raise self._failed(error) from error
        except (sqlite3.Error, OSError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> CatalogError:
        return CatalogError(
            f"The catalog {as_text(str(self.path))} cannot be used: {error}.",
            hint="Check the disk and its free space, or choose another folder with --library DIR.",
        )

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection, opened on first use."""
        found = getattr(self._local, "connection", None)
        if found is None:
            if self._closed:
                raise CatalogError("The catalog is closed.")
            found = self._open()
            self._local.connection = found
            with self._guard:
                self._all.append(found)
        return found

    def _open(self) -> sqlite3.Connection:
        # Autocommit: transactions are begun and ended here alone. Closing happens from another thread.
        connection = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            connection.row_factory = sqlite3.Row
            # A network drive may refuse WAL; SQLite then keeps its old journal, which works too.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("PRAGMA cache_size = -32768")
        except BaseException:
            connection.close()
            raise
        return connection

    def rows(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[sqlite3.Row]:
        """All rows of a reading statement."""
        with self.errors():
            return self.connection.execute(sql, parameters).fetchall()

    def value(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> Any:
        """The first column of the first row, or None."""
        with self.errors():
            row = self.connection.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A write transaction; nested uses join the outer one. An exception takes all of it back."""
        with self.errors():
            connection = self.connection
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def generation(self) -> str:
        """Changes with every write, whichever process made it."""
        return str(self.value("SELECT value FROM meta WHERE key = 'generation'"))

    @contextmanager
    def id_table(self, ids: Any) -> Iterator[str]:
        """A temporary table of ids to join with; yields its name. For sets of any size."""
        with self.errors():
            connection = self.connection
            number = getattr(self._local, "tables", 0)
            self._local.tables = number + 1
            name = f"temp.ids_{number}"
            connection.execute(f"CREATE TABLE {name} (id TEXT PRIMARY KEY) WITHOUT ROWID")
            try:
                connection.executemany(
                    f"INSERT OR IGNORE INTO {name} VALUES (?)", ((as_text(i),) for i in ids)
                )
                yield name
            finally:
                connection.execute(f"DROP TABLE {name}")

    def integrity(self) -> list[str]:
        """What is wrong with the file, in sentences; empty when it is sound."""
        try:
            found = [row[0] for row in self.rows("PRAGMA integrity_check(5)")]
        except CatalogError as error:
            return [str(error)]
        return [] if found == ["ok"] else [f"The catalog is damaged: {line}." for line in found]

    def close(self) -> None:
        """Closes the connections of all threads. Safe to call twice."""
        with self._guard:
            self._closed = True
            for connection in self._all:
                connection.close()
            self._all.clear()
            self._local = threading.local()
