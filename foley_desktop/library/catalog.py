"""The catalog: the only truth about clips, folders and everything the user added to them.

SQLite in WAL mode. The vector and keyword indexes are derived from it and from the audio; they can be
thrown away. The class is put together from one module per concern: folders, clips, files, index
bookkeeping and the user's own layer.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from foley_desktop.library.catalog_clips import ORDERS, ClipQueries
from foley_desktop.library.catalog_files import FileState, FileTables, KnownFile, KnownRejection, Reading
from foley_desktop.library.catalog_roots import Volume
from foley_desktop.library.catalog_user import UserTables

__all__ = ["ORDERS", "Catalog", "FileState", "KnownFile", "KnownRejection", "Reading", "Volume"]


class Catalog(ClipQueries, FileTables, UserTables):
    """The catalog in the SQLite file ``path``, which is made when it is not there.

    Any number of threads and processes may use it; each thread has a connection of its own.

    Raises:
        CatalogError: the file cannot be opened, or a newer version of the app wrote it.
    """

    def __init__(self, path: Path) -> None:
        self._sets = OrderedDict()
        self._sets_guard = threading.Lock()
        super().__init__(path)
