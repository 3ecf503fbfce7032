"""The aiSFX network, rebuilt here so that its package never has to run.

Only the checkpoint of the ``aisfx`` package is read (weights CC BY 4.0), with an unpickler that can
make nothing but tensors, tuples, dicts, strings and numbers. Four convolution blocks and nine
classifier heads of three layers each; batch normalisation is folded into the convolutions.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders.weights import package_file

if TYPE_CHECKING:
    import torch

EMBEDDING_DIM = 512
FEATURES = 512 + 512 + 2 * (64 + 128 + 256)
"""Columns of :meth:`AisfxNetwork.features`."""
HEADS = 4
"""The first four heads tell the categories of the Universal Category System apart."""

_STORAGE_TYPES: dict[str, np.dtype] = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}
_BATCH = 16
_BN_EPS = 1e-5


def checkpoint_path() -> Path:
    """The checkpoint inside the installed ``aisfx`` package, found without importing it.

    Raises:
        ModelError: when the package is not installed.
    """
    return package_file("aisfx", "models/checkpoint.pth", "The sound model")


class _Unpickler(pickle.Unpickler):
    """Knows the handful of names a checkpoint needs; everything else is refused."""

    def __init__(self, file: io.BytesIO, archive: zipfile.ZipFile, prefix: str) -> None:
        super().__init__(file)
        self._archive = archive
        self._prefix = prefix

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if module == "torch" and name in _STORAGE_TYPES:
            return name
        if (module, name) == ("numpy", "dtype"):
            return _NumberType
        if (module, name) == ("numpy.core.multiarray", "scalar"):
            return _number
        if (module, name) == ("_codecs", "encode"):
            return _encode
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a checkpoint")

    def persistent_load(self, pid: Any) -> np.ndarray:
        kind, storage, key, _location, count = pid
        if kind != "storage":
            raise pickle.UnpicklingError(f"unknown storage {kind!r}")
        data = self._archive.read(f"{self._prefix}data/{int(key)}")
        array: np.ndarray = np.frombuffer(data, dtype=_STORAGE_TYPES[storage], count=int(count))
        return array


class _NumberType:
    """Stands in for ``numpy.dtype`` of a pickled number: it only has to carry the type code."""

    def __init__(self, code: str, _align: object = False, _copy: object = True) -> None:
        self.code = code

    def __setstate__(self, state: object) -> None:
        """Byte order and field layout of a plain number are always little-endian here."""


def _number(kind: _NumberType, data: bytes) -> int:
    if kind.code not in ("i8", "i4"):
        raise pickle.UnpicklingError(f"unexpected number type {kind.code!r}")
    return int.from_bytes(data, "little", signed=True)


def _encode(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"unexpected encoding {encoding!r}")
    return text.encode("latin-1")


def _tensor(
    storage: np.ndarray, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_rest: object
) -> np.ndarray:
    count = int(np.prod(size, dtype=np.int64))
    contiguous = storage[offset : offset + count]
    if contiguous.size != count:
        raise pickle.UnpicklingError("a tensor reaches past its storage")
    strides = [step * storage.itemsize for step in stride]
    if strides == list(np.zeros(size, storage.dtype).strides):
        return contiguous.reshape(size).copy()
    raise pickle.UnpicklingError("a tensor of the checkpoint is not contiguous")


def read_checkpoint(path: Path) -> tuple[dict[str, np.ndarray], dict[str, tuple[int, int]]]:
    """Weights by name, and ``{training set: (head, classes)}``.

    Raises:
        ModelError: when the file cannot be read or holds anything unexpected.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            name = next(n for n in archive.namelist() if n.endswith("data.pkl"))
            pickled = io.BytesIO(archive.read(name))
            weights, heads = _Unpickler(pickled, archive, name.removesuffix("data.pkl")).load()
        return dict(weights), {str(key): (int(head), int(n)) for key, (head, n) in heads.items()}
    except (OSError, StopIteration, zipfile.BadZipFile, pickle.UnpicklingError) as error:
        raise ModelError("The sound model's file is damaged.", cause=error) from error
    except (ValueError, TypeError, KeyError, AttributeError, EOFError, IndexError) as error:
        raise ModelError("The sound model's file is damaged.", cause=error) from error


class AisfxNetwork:
    """The network with its weights, on the CPU.

    ``layers`` holds the folded convolutions as ``(weight, bias)``, ``heads`` the classifier heads as
    three ``(weight, bias)`` pairs each.
    """

    def __init__(self, path: Path | None = None) -> None:
        import torch

        weights, _ = read_checkpoint(path or checkpoint_path())
        try:
            self.layers: list[tuple[torch.Tensor, torch.Tensor]] = [
                _folded(weights, f"embedding_net.conv_block{block}.", conv)
                for block in (1, 2, 3, 4)
                for conv in (1, 2)
            ]
            self.heads: list[list[tuple[torch.Tensor, torch.Tensor]]] = [
                [
                    (
                        torch.from_numpy(weights[f"fc.{h}.{i}.weight"]),
                        torch.from_numpy(weights[f"fc.{h}.{i}.bias"]),
                    )
                    for i in (0, 2, 4)
                ]
                for h in range(HEADS)
            ]
        except KeyError as error:
            raise ModelError("The sound model's file lacks a layer.", cause=error) from error

    def maps(self, blocks: torch.Tensor) -> list[torch.Tensor]:
        """What the four convolution blocks put out for ``(n, 100, 96)``, as ``(n, c, time, band)``."""
        import torch.nn.functional as F

        x = blocks.unsqueeze(1)
        out = []
        for block in range(4):
            for weight, bias in self.layers[2 * block : 2 * block + 2]:
                x = F.relu_(F.conv2d(x, weight, bias, padding=1))
            if block < 3:
                x = F.max_pool2d(x, 2)
            out.append(x)
        return out

    def features(self, blocks: np.ndarray) -> np.ndarray:
        """What the network makes of each block: float32 ``(n, 1920)`` for ``(n, 100, 96)``.

        The first 512 columns are the published embedding: bands are averaged, then the maximum is taken over
        time. The next 512 are the mean over time instead. The rest are the mean and, in the same way, the
        maximum of each channel of the three earlier blocks, which hear timbre more than meaning.
        """
        import torch

        parts = []
        with torch.inference_mode():
            for first in range(0, len(blocks), _BATCH):
                *earlier, last = self.maps(torch.from_numpy(blocks[first : first + _BATCH]))
                over_bands = last.mean(dim=3)
                columns = [over_bands.amax(dim=2), over_bands.mean(dim=2)]
                for one in earlier:
                    columns += [one.mean(dim=(2, 3)), one.mean(dim=3).amax(dim=2)]
                parts.append(torch.cat(columns, dim=1).numpy())
        return np.concatenate(parts)

    def head_features(self, embedding: np.ndarray) -> np.ndarray:
        """Hidden layers and logits of the first four heads, ``(n, 4 × (256 + 128) + logits)``.

        ``embedding`` is ``(n, 512)``.
        """
        import torch
        import torch.nn.functional as F

        with torch.inference_mode():
            x = torch.from_numpy(np.ascontiguousarray(embedding, dtype=np.float32))
            parts = []
            for (w1, b1), (w2, b2), (w3, b3) in self.heads:
                first = F.relu(F.linear(x, w1, b1))
                second = F.relu(F.linear(first, w2, b2))
                parts += [first, second, F.linear(second, w3, b3)]
            return torch.cat(parts, dim=1).numpy()


def _folded(weights: dict[str, np.ndarray], block: str, conv: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A convolution with its batch normalisation folded in."""
    import torch

    norm = f"{block}bn{conv}."
    scale = weights[norm + "weight"] / np.sqrt(weights[norm + "running_var"] + _BN_EPS)
    weight = weights[f"{block}conv{conv}.weight"] * scale[:, None, None, None]
    bias = weights[norm + "bias"] - weights[norm + "running_mean"] * scale
    # Channels last makes the convolutions more than twice as fast on a CPU.
    folded = torch.from_numpy(weight.astype(np.float32)).to(memory_format=torch.channels_last)
    return folded, torch.from_numpy(bias.astype(np.float32))
