"""LAION-CLAP: text and sound in one space of 512 dimensions, with weights that the user added.

Sound is 48 kHz mono in windows of exactly 10 s: long clips are cut into consecutive ones, a short clip
is repeated in whole copies and filled up with silence, and samples are rounded to 16 bit as they were
in training. The package's own functions draw a random window instead; here the same clip always gets
the same vectors. Importing this module is light, making a :class:`ClapEmbedder` takes seconds.

``clap:half`` hears in half precision, which see (:mod:`foley_desktop.index.embedders.clap_half`). Its vectors
are held to be those of ``clap`` within a cosine of 0.001, not the same ones, so it has an id and a table of
its own, and going from one to the other is a change of embedder like any other.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders import clap_half, clap_store
from foley_desktop.index.embedders.clap_import import Architecture
from foley_desktop.index.embedders.clap_tokenizer import RobertaTokens
from foley_desktop.index.embedders.frontend import WindowRule
from foley_desktop.index.embedders.spaces import Description, Vectors, WindowedEmbedder

DIM = 512
PIPELINE = "1"
"""Changes when windows, padding, rounding or pooling do: old vectors are never mixed with new ones."""

SAMPLERATE = 48_000
WINDOW = 480_000
_STEPS = 32767.0
RULE = WindowRule(SAMPLERATE, whole_s=10.0, window_s=10.0, tail_s=1.0, silence_peak=1.0 / _STEPS)
"""What rounds to zero at 16 bit is silence here."""

PARALLEL = 0.8
"""Mean cosine of four unrelated captions from which on texts are taken to be told apart no longer."""

_CAPTIONS = (
    "a dog barks in the distance",
    "heavy rain on a tin roof",
    "somebody plays the violin",
    "a car engine starts and idles",
)


def describe(models: Path | None, name: str = clap_store.NAME) -> Description:
    """The space of an embedder, without loading it.

    Raises:
        ModelError: when its weights are not there or damaged.
    """
    note = clap_store.note(models, name)
    architecture = Architecture(note.size, note.text_layers)
    pipeline = PIPELINE + "-half" * clap_store.is_half(name)
    return Description(f"clap-{note.digest[:12]}-{architecture}-{pipeline}", DIM, rule=RULE)


_loading = threading.RLock()
_embedders: WeakValueDictionary[tuple[str, Path, str], ClapEmbedder] = WeakValueDictionary()
_networks: WeakValueDictionary[tuple[str, Path], Any] = WeakValueDictionary()


def shared(models: Path, name: str, device: str = "cpu") -> ClapEmbedder:
    """The one embedder of this name in this process, for as long as somebody holds it."""
    with _loading:
        key = describe(models, name).model_id, models, device
        embedder = _embedders.get(key)
        if embedder is None:
            embedder = _embedders[key] = ClapEmbedder(models, name, device)
        return embedder


class ClapEmbedder(WindowedEmbedder):
    """A checkpoint at work. Calls from several threads are safe.

    Args:
        models: The folder of all checkpoints.
        name: Which of them; with ``:half`` it hears in half precision, where that gives the same vectors to
            a cosine of 0.001. Where it does not, full precision is used, and ``notice`` says so.
        device: ``cpu``, ``cuda`` or ``mps``; what torch cannot use gives way to ``cpu``, and ``notice``
            says so.

    Raises:
        ModelError: when the weights are missing or damaged, or a package is.
    """

    def __init__(self, models: Path, name: str = clap_store.NAME, device: str = "cpu") -> None:
        super().__init__(describe(models, name))
        self._models = models
        self._model = _loaded(models, name)
        self._device, self.notice = _placed(self._model, device)
        self._ears = self._model
        if clap_store.is_half(name):
            self._ears, trouble = _halved(self._model, self._device)
            self.notice = f"{self.notice} {trouble}".strip()
        self._lock = threading.Lock()
        self._tokens: RobertaTokens | None = None
        self._refusal: str | None = None

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        """Unit vectors, float32 ``(n, 512)``; an empty text has one too, words past 77 tokens are not read.

        Raises:
            ModelError: when the tokenizer's files are missing or wrong, or texts come out all alike.
        """
        texts = [text] if isinstance(text, str) else list(text)
        tokens = self._reader()
        rows = [self._text_vector(tokens, one) for one in texts]
        return np.stack(rows) if rows else np.zeros((0, DIM), dtype=np.float32)

    def submit(self, samples: np.ndarray) -> Callable[[], Vectors]:
        vector = _heard(self._ears, samples, self._device)
        return lambda: {self.model_id: vector}

    def _reader(self) -> RobertaTokens:
        """The tokenizer, once texts have proved to be told apart."""
        with self._lock:
            if self._refusal is not None:
                raise ModelError(self._refusal, hint="Add the checkpoint file again.")
            if self._tokens is None:
                tokens = RobertaTokens(clap_store.tokenizer_folder(self._models))
                likeness = _mean_cosine([self._text_vector(tokens, caption) for caption in _CAPTIONS])
                if not likeness < PARALLEL:
                    self._refusal = (
                        "CLAP cannot search by text: its weights give unrelated texts nearly the same place "
                        f"(mean cosine {likeness:.2f})."
                    )
                    raise ModelError(self._refusal, hint="Add the checkpoint file again.")
                self._tokens = tokens
            return self._tokens

    def _text_vector(self, tokens: RobertaTokens, text: str) -> np.ndarray:
        import torch

        ids = torch.tensor([tokens.ids(text)])
        with torch.inference_mode():
            row = self._model.get_text_embedding({"input_ids": ids, "attention_mask": torch.ones_like(ids)})
        vector: np.ndarray = row[0].float().cpu().numpy()
        return vector


def hears(model: Any, device: str = "cpu") -> bool:
    """Whether a network makes a vector of a sound at all."""
    vector = _heard(model, _trial(), device)
    return vector.shape == (DIM,) and abs(float(np.linalg.norm(vector)) - 1.0) < 1e-3


def _trial() -> np.ndarray:
    """A second of noise that dies away."""
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, SAMPLERATE)
    return (noise * np.linspace(1.0, 0.0, SAMPLERATE) ** 2).astype(np.float32)


def prepared(samples: np.ndarray) -> np.ndarray:
    """The network's input for one window, float32 ``(480000,)``.

    ``samples`` is float32 mono ``(n,)`` at 48 kHz with n from 1 to 480000. Rounded towards zero to
    16 bit, then repeated in whole copies; the rest is silence.
    """
    steps = (np.clip(samples, -1.0, 1.0) * np.float32(_STEPS)).astype(np.int16)
    rounded = (steps / np.float32(_STEPS)).astype(np.float32)
    copies = WINDOW // rounded.size
    window = np.zeros(WINDOW, dtype=np.float32)
    window[: copies * rounded.size] = np.tile(rounded, copies)
    return window


def _heard(model: Any, samples: np.ndarray, device: str) -> np.ndarray:
    import torch

    waveform = torch.empty(WINDOW)
    waveform.copy_(torch.from_numpy(prepared(samples)))
    with torch.inference_mode():
        # One window at a time: on a processor larger batches cost memory and gain nothing.
        given = [{"waveform": waveform.to(device), "longer": torch.tensor([False])}]
        vector: np.ndarray = model.get_audio_embedding(given)[0].float().cpu().numpy()
    return vector


def _loaded(models: Path, name: str) -> Any:
    from foley_desktop.index.embedders import clap_checkpoint

    with _loading:
        key = clap_store.note(models, name).digest, models
        network = _networks.get(key)
        if network is None:
            network = _networks[key] = clap_checkpoint.load(clap_store.weights_file(models, name))
        return network


def _halved(model: Any, device: str) -> tuple[Any, str]:
    """The network that hears in half precision; or the one given, and a sentence why."""
    import torch

    able = torch.cuda.is_bf16_supported() if device == "cuda" else clap_half.processor_can()
    if device == "mps" or not able:
        return model, "There is no fast half precision here, so clap hears in full precision."
    half = clap_half.halved(model)
    cosine = float(_heard(model, _trial(), device) @ _heard(half, _trial(), device))
    if not abs(cosine - 1.0) <= clap_half.TOLERANCE:
        return model, "Half precision gives other vectors here, so clap hears in full precision."
    return half, ""


def _mean_cosine(vectors: Sequence[np.ndarray]) -> float:
    cosines = np.stack(vectors) @ np.stack(vectors).T
    return float(cosines[np.triu_indices(len(vectors), 1)].mean())


# --- devices


def devices(_report: object = None) -> dict[str, Any]:
    """The ``devices`` that torch can use here, as far as it says; a task of the model process."""
    return {"devices": ["cpu", *(device for device in ("cuda", "mps") if _usable(device))]}


def _placed(model: Any, device: str) -> tuple[str, str]:
    """Moves the network; the device it is on now, and a sentence where that is not the one asked for."""
    if device == "cpu":
        return "cpu", ""
    try:
        if not _usable(device):
            return "cpu", f"There is no {device} device for torch here, so the processor is used."
        if device == "cuda":
            _full_precision()
        model.to(device)
        if not hears(model, device):
            raise RuntimeError("no vector")
    except Exception as error:
        model.to("cpu")
        reason = type(error).__name__
        return "cpu", f"The {device} device cannot run CLAP ({reason}), so the processor is used."
    return device, ""


def _usable(device: str) -> bool:
    import torch

    if device == "cuda":
        return torch.cuda.is_available()
    if device == "mps":
        # Bicubic scaling is missing there; torch runs it on the processor if told so beforehand.
        os.environ.setdefault("PYTORCH_ENABLE_MPS_FALLBACK", "1")
        return torch.backends.mps.is_available()
    return False


def _full_precision() -> None:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
