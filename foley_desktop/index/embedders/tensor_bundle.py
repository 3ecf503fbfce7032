"""Reads the variables of a TensorFlow SavedModel, so that TensorFlow, half a gigabyte, need not be installed.

A tensor bundle is two files. The index is a sorted table (the format of LevelDB, uncompressed): blocks of
keys that share prefixes, then an index of the blocks, then a footer of 48 bytes. Each value is a protocol
buffer that says where in the data file the numbers of one variable stand. Formats as documented with LevelDB
("table_format") and in TensorFlow's ``tensor_bundle.proto``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from foley_desktop.errors import ModelError

_FOOTER = 48
_MAGIC = 0xDB4775248B80FB57
_FLOAT32 = 1
_DTYPE, _SHAPE, _OFFSET, _SIZE = 1, 2, 4, 5
"""Fields of a ``BundleEntryProto``."""

Field = int | bytes


def read_bundle(index: Path, data: Path) -> dict[str, np.ndarray]:
    """The float32 variables by their names in the file; others are passed over.

    Raises:
        ModelError: when a file is missing or damaged.
    """
    try:
        table, numbers = index.read_bytes(), data.read_bytes()
        if len(table) < _FOOTER or struct.unpack_from("<Q", table, len(table) - 8)[0] != _MAGIC:
            raise ValueError("no table")
        variables = {}
        for name, entry in _entries(table):
            if name and entry.get(_DTYPE) == _FLOAT32:
                variables[name.decode("utf-8")] = _numbers(entry, numbers)
        return variables
    except (OSError, ValueError, IndexError, struct.error) as error:
        raise ModelError(f"The model file {index.name} is missing or damaged.", cause=error) from error


def _numbers(entry: dict[int, Field], data: bytes) -> np.ndarray:
    size, offset = entry.get(_SIZE, 0), entry.get(_OFFSET, 0)
    if not (isinstance(size, int) and isinstance(offset, int)) or size % 4 or offset + size > len(data):
        raise ValueError("a variable reaches past the data")
    return np.frombuffer(data, "<f4", size // 4, offset).reshape(_shape(entry.get(_SHAPE, b""))).copy()


def _shape(encoded: Field) -> list[int]:
    """The lengths in a ``TensorShapeProto``: a message for each dimension, its field 1 the length."""
    if not isinstance(encoded, bytes):
        raise ValueError("a shape is no message")
    lengths = []
    for field, value in _fields(encoded):
        if field == 2 and isinstance(value, bytes):
            length = dict(_fields(value)).get(1, 0)
            if not isinstance(length, int):
                raise ValueError("a length is no number")
            lengths.append(length)
    return lengths


def _entries(table: bytes) -> Iterator[tuple[bytes, dict[int, Field]]]:
    position = len(table) - _FOOTER
    for _ in range(2):  # where the index of other data stands, which is not needed
        _, position = _varint(table, position)
    offset, position = _varint(table, position)
    size, _ = _varint(table, position)
    for _, place in _block(table, offset, size):
        first, after = _varint(place, 0)
        for key, value in _block(table, first, _varint(place, after)[0]):
            yield key, dict(_fields(value))


def _block(table: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of one block; each key repeats only what differs from the one before."""
    block = table[offset : offset + size]
    if len(block) < size or len(block) < 4 or table[offset + size] != 0:
        raise ValueError("a block is cut off or compressed")
    restarts = struct.unpack_from("<I", block, size - 4)[0]
    end = size - 4 - 4 * restarts
    position, key = 0, b""
    while position < end:
        shared, position = _varint(block, position)
        fresh, position = _varint(block, position)
        length, position = _varint(block, position)
        key = key[:shared] + block[position : position + fresh]
        position += fresh
        if position + length > end:
            raise ValueError("a value reaches past its block")
        yield key, block[position : position + length]
        position += length


def _fields(message: bytes) -> Iterator[tuple[int, Field]]:
    """Field numbers and values of a protocol buffer."""
    position = 0
    while position < len(message):
        tag, position = _varint(message, position)
        kind = tag & 7
        if kind == 0:
            value, position = _varint(message, position)
            yield tag >> 3, value
            continue
        if kind == 2:
            length, position = _varint(message, position)
        else:
            length = {1: 8, 5: 4}.get(kind, 0)
            if not length:
                raise ValueError("an unknown kind of field")
        if position + length > len(message):
            raise ValueError("a field reaches past its message")
        yield tag >> 3, message[position : position + length]
        position += length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A number of seven bits a byte, the least first, and where it ends."""
    number = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
    raise ValueError("a number has no end")
