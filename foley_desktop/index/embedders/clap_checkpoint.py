"""Reading CLAP checkpoints as they are published, and a lean copy of them that loads at once.

A published file is a pickle of some 2 GB, two thirds of it the optimiser's. It is read with torch's
restricted unpickler and mapped, not copied; what it holds is recognised from names and shapes, held
against the network itself, and written as safetensors. Anything else is refused with the reason. Meant
for the model process, since it imports torch.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import shutil
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders.clap_import import Architecture, build

if TYPE_CHECKING:
    import torch

Report = Callable[[int, int, str], None]
"""Told of progress: bytes done, bytes in all, what is being done."""

_TEXT_LAYER = re.compile(r"text_branch\.encoder\.layer\.(\d+)\.")
_SIZES = {96: "tiny", 128: "base"}
_WORDS = (50265, 768)
LARGEST_WEIGHT = 1e6
"""No weight of a trained network comes near; of damaged floats nearly half lie above."""
_ALIGNED = 64
_RESERVE = 64 << 20
_CHOOSE = "Choose a checkpoint without fusion, such as 630k-audioset-best.pt."


class Checkpoint(NamedTuple):
    """A checkpoint that was recognised: its network, and the weights by the network's own names."""

    architecture: Architecture
    weights: dict[str, torch.Tensor]


def load(file: Path) -> torch.nn.Module:
    """The network of a checkpoint file, with its weights.

    Raises:
        ModelError: as :func:`read` and :func:`network` do.
    """
    return network(read(file), file.name)


def read(file: Path) -> Checkpoint:
    """Reads a checkpoint; its weights stay in the file until they are used.

    Raises:
        ModelError: when it is not complete, of another kind, or of a network that is not supported.
    """
    weights = _own_names(_state_of(_loaded(file), file.name))
    return Checkpoint(recognised(weights, file.name), weights)


def recognised(weights: Mapping[str, Any], name: str) -> Architecture:
    """The network that weights belong to, by their names and shapes.

    Raises:
        ModelError: when it is none of those that are supported; ``name`` is the file's.
    """
    if any(key.startswith(("audio_model.", "text_model.")) for key in weights):
        raise _refused(name, "it is in the format of the transformers library")
    patches = weights.get("audio_branch.patch_embed.proj.weight")
    if patches is None and "audio_branch.conv_block1.conv1.weight" in weights:
        raise _refused(name, "its audio network is PANN, not HTSAT")
    if patches is None:
        raise ModelError(f"{name} is no CLAP checkpoint: it holds no CLAP network.", hint=_CHOOSE)
    if any("fusion_model" in key or "mel_conv" in key for key in weights):
        raise _refused(name, "it is a fusion checkpoint")
    words = weights.get("text_branch.embeddings.word_embeddings.weight")
    if words is None or tuple(words.shape) != _WORDS:
        raise _refused(name, "its text network is not RoBERTa")
    size = _SIZES.get(int(patches.shape[0]))
    if size is None:
        raise _refused(name, f"its audio network has a width of {int(patches.shape[0])}")
    layers = {int(found[1]) for key in weights if (found := _TEXT_LAYER.match(key))}
    return Architecture(size, len(layers))


def _refused(name: str, why: str) -> ModelError:
    return ModelError(f"{name} cannot be used: {why}.", hint=_CHOOSE)


# --- opening


def _loaded(file: Path) -> Any:
    try:
        size = file.stat().st_size
        with open(file, "rb") as opened:
            head = opened.read(512)
    except OSError as error:
        raise ModelError(f"The file {file.name} cannot be read.", cause=error) from error
    if size == 0:
        raise ModelError(f"{file.name} is empty.", hint="Fetch it again.")
    if head.startswith(b"PK\x03\x04"):
        return _from_torch(file)
    if head[8:9] == b"{":
        return _from_safetensors(file)
    start = head.lstrip().lower()
    if start.startswith(b"version https://git-lfs"):
        raise ModelError(
            f"{file.name} only points to the checkpoint and is not the checkpoint itself.",
            hint="Fetch the file with Git LFS or with a browser.",
        )
    if start.startswith((b"<!doctype html", b"<html")):
        raise ModelError(f"{file.name} is a web page, not a checkpoint.", hint="Fetch it again.")
    raise ModelError(f"{file.name} is no checkpoint: neither PyTorch's format nor safetensors.", hint=_CHOOSE)


def _incomplete(file: Path, cause: BaseException | None = None) -> ModelError:
    return ModelError(f"{file.name} is not complete: it ends too early.", hint="Fetch it again.", cause=cause)


def _from_torch(file: Path) -> Any:
    if not zipfile.is_zipfile(file):
        raise _incomplete(file)
    import torch
    from torch.serialization import safe_globals

    try:
        with zipfile.ZipFile(file) as archive:
            # Weights are stored as they are. What is packed may come to any size and is not unpacked.
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise zipfile.BadZipFile("entries are compressed")
        with warnings.catch_warnings(), safe_globals(_numbers()):
            warnings.simplefilter("ignore")
            return torch.load(file, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:
        raise ModelError(
            f"{file.name} is damaged, or holds more than weights and is not opened.", cause=error
        ) from error


def _numbers() -> list[Any]:
    """Numpy's single numbers, under the names that numpy 1 and numpy 2 write: a learning rate is one."""
    # The restricted unpickler takes the name from the file, so both have to be allowed.
    scalar = np._core.multiarray.scalar  # type: ignore[attr-defined]
    names = [(scalar, f"numpy.{core}.multiarray.scalar") for core in ("core", "_core")]
    return [*names, np.dtype, *(type(np.dtype(code)) for code in ("f8", "f4", "i8", "i4", "?"))]


def _from_safetensors(file: Path) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(file)
    except SafetensorError as error:
        if "incomplete" in str(error).lower() or "not fully covered" in str(error).lower():
            raise _incomplete(file, error) from error
        raise ModelError(f"{file.name} is damaged.", cause=error) from error
    except Exception as error:
        raise ModelError(f"The file {file.name} cannot be read.", cause=error) from error


def _state_of(loaded: Any, name: str) -> dict[str, torch.Tensor]:
    import torch

    state = loaded.get("state_dict", loaded) if isinstance(loaded, Mapping) else None
    if not isinstance(state, Mapping) or not state:
        raise ModelError(f"{name} is no CLAP checkpoint: it holds no weights.", hint=_CHOOSE)
    tensors = {key: value for key, value in state.items() if isinstance(value, torch.Tensor)}
    if len(tensors) != len(state) or not all(isinstance(key, str) for key in tensors):
        raise ModelError(f"{name} is no CLAP checkpoint: it holds no CLAP network.", hint=_CHOOSE)
    return tensors


def _own_names(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Without what training wrapped around the network, and without a table that newer RoBERTas derive."""
    for prefix in ("module.", "model."):
        if all(key.startswith(prefix) for key in weights):
            weights = {key.removeprefix(prefix): value for key, value in weights.items()}
    weights.pop("text_branch.embeddings.position_ids", None)
    return weights


# --- into the network


def network(checkpoint: Checkpoint, name: str) -> torch.nn.Module:
    """The network with these weights, which it shares with the file.

    Raises:
        ModelError: when a weight is missing, unknown or of another shape.
    """
    model = build(checkpoint.architecture)
    wanted, weights = model.state_dict(), checkpoint.weights
    for missing in sorted(wanted.keys() - weights.keys()):
        raise ModelError(f"{name} is no whole checkpoint: {missing} is missing.", hint=_CHOOSE)
    for unknown in sorted(weights.keys() - wanted.keys()):
        raise ModelError(f"{name} is of another network: {unknown} is unknown.", hint=_CHOOSE)
    for key, tensor in wanted.items():
        if tensor.shape != weights[key].shape:
            raise ModelError(f"{name} is of another network: {key} has another shape.", hint=_CHOOSE)
        if not _holds_numbers_for(tensor, weights[key]):
            raise ModelError(f"{name} is of another network: {key} is of another kind.", hint=_CHOOSE)
    fitting = {key: tensor.to(wanted[key].dtype) for key, tensor in weights.items()}
    model.load_state_dict(fitting, strict=True, assign=True)
    return model.eval()


def _holds_numbers_for(wanted: torch.Tensor, found: torch.Tensor) -> bool:
    """Whether a tensor is a plain array of the wanted kind of number, whatever its precision."""
    import torch

    plain = found.layout is torch.strided and not found.is_quantized and not found.is_meta
    # Who halves a whole checkpoint halves its whole numbers too; they come out the same.
    return plain and (found.is_floating_point() or not (wanted.is_floating_point() or found.is_complex()))


# --- the lean copy


def write_lean(model: torch.nn.Module, target: Path, report: Report) -> str:
    """Writes a network's weights as safetensors and gives the file's sha256.

    The same weights make the same bytes, whatever file they came from.

    Raises:
        ModelError: when the disk is full, or a weight is not a number.
    """
    arrays = _in_order({key: tensor.numpy(force=True) for key, tensor in model.state_dict().items()})
    total = sum(array.nbytes for array in arrays.values())
    if shutil.disk_usage(target.parent).free < total + _RESERVE:
        raise _full(target.parent)
    digest = hashlib.sha256()
    try:
        with open(target, "wb") as file:
            done = 0
            for part in _parts(arrays):
                file.write(part)
                digest.update(part)
                done += len(part)
                report(min(done, total), total, "Writing the weights")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full(target.parent) from error
        raise ModelError("The weights cannot be written.", cause=error) from error
    return digest.hexdigest()


def _full(folder: Path) -> ModelError:
    sentence = f"There is not enough room for the weights in {folder}."
    return ModelError(sentence, hint="Make room and try again.")


def _in_order(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Weights of whole cache lines first, so that all of them are aligned in memory."""
    return {
        key: np.require(arrays[key], requirements="C")
        for key in sorted(arrays, key=lambda k: (arrays[k].nbytes % _ALIGNED > 0, -arrays[k].itemsize, k))
    }


def _parts(arrays: Mapping[str, np.ndarray]) -> Iterator[bytes | memoryview]:
    kinds = {"f": "F", "i": "I", "u": "U"}
    header: dict[str, Any] = {}
    first = 0
    for key, array in arrays.items():
        kind = f"{kinds[array.dtype.kind]}{8 * array.itemsize}"
        header[key] = {"dtype": kind, "shape": array.shape, "data_offsets": [first, first + array.nbytes]}
        first += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-(len(text) + 8) % _ALIGNED)
    yield struct.pack("<Q", len(text)) + text
    for key, array in arrays.items():
        if array.dtype.kind == "f" and array.size:
            largest = max(float(array.max()), -float(array.min()))
            if not math.isfinite(largest):
                raise ModelError(f"The checkpoint is damaged: {key} holds values that are not numbers.")
            if largest > LARGEST_WEIGHT:
                raise ModelError(f"The checkpoint is damaged: {key} holds values that no training gives.")
        yield array.reshape(-1).view(np.uint8).data
