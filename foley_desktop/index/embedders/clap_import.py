"""LAION-CLAP's network from the ``laion-clap`` package, without the rest of that package.

``import laion_clap`` fetches three tokenizers and half a gigabyte of weights, wants torchvision, wandb
and pandas, prints, and changes the module path. The network itself is one module of it, in its
``clap_module``; this imports that module alone, under a name of its own, so that nothing else in the
process notices. What it asks for and never uses is put in place for the moment of the import and taken
away again.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foley_desktop.errors import ModelError

if TYPE_CHECKING:
    import torch

_PACKAGE = "_foley_clap_module"
_BORROWED = ("torchvision", "h5py", "librosa", "torchlibrosa")
_lock = threading.RLock()


class Architecture(NamedTuple):
    """What a checkpoint's shapes say of the network: HTSAT's size and the layers of its RoBERTa."""

    size: str
    text_layers: int = 12

    def __str__(self) -> str:
        layers = "" if self.text_layers == 12 else str(self.text_layers)
        return f"htsat-{self.size}-roberta{layers}"


def build(architecture: Architecture) -> torch.nn.Module:
    """The network with memory set aside and nothing in it: every weight has to be loaded.

    Raises:
        ModelError: when the package is missing or cannot be used.
    """
    with _lock:
        module = _network_module()
        file = _package_folder() / "model_configs" / f"HTSAT-{architecture.size}.json"
        try:
            config = json.loads(file.read_text("utf-8"))
            config["text_cfg"]["model_type"] = "roberta"
            with _uninitialised(), _roberta(module, architecture.text_layers):
                model: torch.nn.Module = module.CLAP(**config, enable_fusion=False)
        except Exception as error:
            raise _unusable(error) from error
    return model.eval()


def _package_folder() -> Path:
    """Where the package lies; finding it does not run it."""
    try:
        spec = importlib.util.find_spec("laion_clap")
    except (ImportError, ValueError):
        spec = None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(folder) / "clap_module" / "model.py").is_file():
            return Path(folder) / "clap_module"
    raise ModelError(
        "The laion-clap package is not installed.",
        hint="Install it with: pip install --no-deps laion-clap, or set Foley Desktop up again.",
    )


def _unusable(error: Exception) -> ModelError:
    return ModelError(
        "The installed laion-clap package cannot be used.",
        hint="Set Foley Desktop up again; it is tested with laion-clap 1.1.7.",
        cause=error,
    )


@lru_cache(maxsize=1)
def _network_module() -> ModuleType:
    folder = _package_folder()
    # Transformers asks at its own import whether torchvision is there: it must not see ours.
    _import_transformers()
    package = _made(_PACKAGE)
    package.__path__ = [str(folder)]
    try:
        with _borrowed_modules(), _quiet():
            sys.modules[_PACKAGE] = package
            return importlib.import_module(f"{_PACKAGE}.model")
    except Exception as error:
        for name in [n for n in sys.modules if n.partition(".")[0] == _PACKAGE]:
            del sys.modules[name]
        raise _unusable(error) from error


def _import_transformers() -> None:
    # Read when transformers is imported; later it would have no effect.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        with _quiet():
            from transformers import RobertaConfig, RobertaModel  # noqa: F401
    except Exception as error:
        if importlib.util.find_spec("torchvision") is not None:
            raise ModelError(
                "The installed torchvision does not match torch, so CLAP's text network cannot be loaded.",
                hint="Remove it with: pip uninstall torchvision. Foley Desktop does not need it.",
                cause=error,
            ) from error
        raise ModelError("The transformers package cannot be used.", cause=error) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """No warnings of other people's code, nothing written beside it, the environment as it was."""
    environment, bytecode = dict(os.environ), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.dont_write_bytecode = bytecode
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
        os.environ.update(environment)


@contextmanager
def _borrowed_modules() -> Iterator[None]:
    """Stand-ins for what is imported and not needed; modules that bound them leave with them."""
    before = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in _BORROWED}
    for name in before:
        del sys.modules[name]
    try:
        for stand_in in _stand_ins():
            sys.modules[stand_in.__name__] = stand_in
        yield
    finally:
        for name in [n for n in sys.modules if n.partition(".")[0] in _BORROWED]:
            del sys.modules[name]
        sys.modules.update(before)


def _stand_ins() -> list[ModuleType]:
    """torchvision for a class of image models, h5py for data sets, librosa for constants.

    librosa would bring a compiler along to work out a window and a filter bank that every checkpoint
    carries anyway; only their shapes matter here.
    """

    def pad_center(data: np.ndarray, *, size: int) -> np.ndarray:
        before = (size - data.size) // 2
        return np.pad(data, (before, size - data.size - before))

    def mel(*, n_fft: int, n_mels: int, **_rest: Any) -> np.ndarray:
        return np.zeros((n_mels, n_fft // 2 + 1), dtype=np.float32)

    filters = _made("librosa.filters", get_window=lambda _kind, size, **_: np.ones(size), mel=mel)
    util = _made("librosa.util", pad_center=pad_center)
    misc = _made("torchvision.ops.misc", FrozenBatchNorm2d=type("FrozenBatchNorm2d", (), {}))
    ops = _made("torchvision.ops", misc=misc)
    librosa = _made("librosa", filters=filters, util=util)
    return [filters, util, librosa, misc, ops, _made("torchvision", ops=ops), _made("h5py")]


def _made(name: str, **contents: Any) -> ModuleType:
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None, is_package=True)
    module.__path__ = []
    module.__dict__.update(contents)
    return module


@contextmanager
def _uninitialised() -> Iterator[None]:
    """Random numbers for 160 million weights would take seconds and be overwritten."""
    from transformers.initialization import no_init_weights

    htsat: Any = sys.modules[f"{_PACKAGE}.htsat"]
    original = htsat.trunc_normal_
    htsat.trunc_normal_ = lambda tensor, **_: tensor
    try:
        with no_init_weights(), _quiet():
            yield
    finally:
        htsat.trunc_normal_ = original


@contextmanager
def _roberta(module: Any, layers: int) -> Iterator[None]:
    """roberta-base as its configuration has it; the package would fetch that and the weights.

    The epsilon is in no checkpoint, and the class's own default is another one.
    """
    from transformers import RobertaConfig, RobertaModel

    config = RobertaConfig(
        vocab_size=50265,
        max_position_embeddings=514,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        num_hidden_layers=layers,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )

    class Local:
        @staticmethod
        def from_pretrained(_name: str) -> RobertaModel:
            return RobertaModel(config)

    original = module.RobertaModel
    module.RobertaModel = Local
    try:
        yield
    finally:
        module.RobertaModel = original
