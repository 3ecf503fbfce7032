"""Reading weights, and telling one set of weights from another.

The safetensors format is a header of JSON and raw numbers, so that numpy can map a file into memory
at once; no deep-learning library has to be imported for it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import struct
from functools import lru_cache
from pathlib import Path

import numpy as np

from foley_desktop.errors import ModelError

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "|u1", "I8": "|i1"}
_MAX_HEADER = 16 << 20


def package_file(package: str, relative: str, what: str) -> Path:
    """A file inside an installed package, found without importing the package.

    Raises:
        ModelError: when the package or the file is missing; ``what`` names it for the user.
    """
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / relative
        if path.is_file():
            return path
    raise ModelError(
        f"{what} is not installed.",
        hint=f"Install the package {package.replace('_', '-')} (--no-deps) or set Foley Desktop up again.",
    )


def read_safetensors(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Arrays by name (read-only, mapped from the file) and the file's own metadata.

    Raises:
        ModelError: when the file is missing or damaged.
    """
    try:
        with open(path, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > _MAX_HEADER:
                raise ValueError("header too long")
            header = json.loads(file.read(length))
        data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length)
        metadata = {str(k): str(v) for k, v in header.pop("__metadata__", {}).items()}
        arrays = {}
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            flat = np.frombuffer(data[first:last], dtype=_DTYPES[entry["dtype"]])
            arrays[name] = flat.reshape(entry["shape"])
        return arrays, metadata
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise ModelError(f"The model file {Path(path).name} is missing or damaged.", cause=error) from error


def fingerprint(*paths: Path) -> str:
    """Ten hex digits that change when any of these files does.

    Raises:
        ModelError: when a file cannot be read.
    """
    joined = hashlib.blake2b(digest_size=5)
    for path in paths:
        try:
            stat = path.stat()
            joined.update(_digest(path, stat.st_size, stat.st_mtime_ns))
        except OSError as error:
            raise ModelError(f"The model file {path.name} cannot be read.", cause=error) from error
    return joined.hexdigest()


@lru_cache(maxsize=32)
def _digest(path: Path, _size: int, _mtime_ns: int) -> bytes:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
