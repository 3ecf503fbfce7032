"""Keeps FFmpeg from allocating what a damaged header promises.

A few lying bytes in an AVI of ten kilobytes make it take two gigabytes, which is its default limit for one
piece of memory. PyAV has no word for that limit, so the library that PyAV brings is asked itself; where it
cannot be found, the default stays. With the limit such a file plays, because FFmpeg steps over the lie.
"""

from __future__ import annotations

import ctypes
import functools
import logging
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

log = logging.getLogger(__name__)

MOST_BYTES = 192 << 20
"""For one piece of memory; the frame index of a day of MPEG-4 audio takes about 100 MB."""


@functools.cache
def limit_memory(av: ModuleType) -> bool:
    """Sets the limit for the process, once; False when FFmpeg's own library was not found."""
    for file in _libraries(Path(str(av.__file__)).parent):
        try:
            set_limit = ctypes.CDLL(str(file)).av_max_alloc
        except (OSError, AttributeError):
            continue
        set_limit.argtypes, set_limit.restype = [ctypes.c_size_t], None
        set_limit(MOST_BYTES)
        return True
    log.info("FFmpeg's memory cannot be limited here")
    return False


def _libraries(package: Path) -> Iterator[Path]:
    """Where wheels of PyAV keep libavutil: Linux and Windows beside the package, macOS inside."""
    for folder in (package.parent / "av.libs", package / ".dylibs", package):
        if folder.is_dir():
            yield from sorted(path for path in folder.iterdir() if "avutil" in path.name)
