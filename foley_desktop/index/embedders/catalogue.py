"""The embedders a user can choose from, the state each of them is in, and how checkpoints get in."""

from __future__ import annotations

import importlib.util
import queue
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

from foley_desktop.errors import FoleyError, ModelError
from foley_desktop.index.embedders import clap_half, clap_store
from foley_desktop.index.embedders.clap_tokenizer import FILES
from foley_desktop.index.embedders.host import ModelHost
from foley_desktop.index.embedders.registry import Place, describe
from foley_desktop.models import Progress

READY = "ready"

CLAP_LICENCE = "LAION-CLAP and its published weights CC0-1.0, RoBERTa MIT"
_CLAP_TEXT = "Hears what sounds are: LAION-CLAP, with weights that you add."
_HALF_TEXT = (
    "{} in half precision (bfloat16): takes about half the time to listen. Its vectors are the same to a "
    "cosine of 0.001, which is checked each time it is loaded, and are kept apart."
)


class ModelInfo(NamedTuple):
    """One embedder. ``state`` is ``ready``, or a short phrase for what is missing; ``note`` is a sentence
    about one that is ready and cannot do all it should, or where its weights are from."""

    name: str
    model_id: str | None
    dim: int | None
    state: str
    size_bytes: int
    licence: str
    description: str
    note: str = ""


def list_models(folder: Path) -> list[ModelInfo]:
    """Every embedder that can be the active one, usable or not.

    Args:
        folder: Where checkpoints that the user added are kept.
    """
    checkpoints = clap_store.names(folder) or [clap_store.NAME]
    found = [_compact()]
    for name in checkpoints:
        info = _clap(folder, name)
        found.append(info)
        if info.state == READY and clap_half.processor_can():
            found.append(_half(folder, info))
    return [*found, _hash()]


def _compact() -> ModelInfo:
    licence = "aiSFX CC BY 4.0, YAMNet and all-MiniLM-L6-v2 Apache-2.0, bridge GPL-3.0-or-later"
    text = "Finds sounds by words and by likeness, offline, on any processor."
    try:
        from foley_desktop.index.embedders.compact import model_files

        size = sum(Path(file).stat().st_size for file in model_files())
        described = describe("compact")
    except FoleyError as error:
        return ModelInfo("compact", None, None, error.sentence, 0, licence, text)
    return ModelInfo("compact", described.model_id, described.dim, READY, size, licence, text)


def _clap(folder: Path, name: str) -> ModelInfo:
    def in_state(state: str) -> ModelInfo:
        return ModelInfo(name, None, None, state, 0, CLAP_LICENCE, _CLAP_TEXT)

    if importlib.util.find_spec("laion_clap") is None:
        return in_state("the laion-clap package is not installed")
    if name not in clap_store.names(folder):
        return in_state("no weights yet")
    try:
        known = clap_store.note(folder, name)
        described = describe(name, Place(folder))
    except FoleyError:
        return in_state("damaged weights")
    origin = (
        f"Weights of {known.published}." if known.published else f"Unverified weights from {known.source}."
    )
    note = f"{origin} {clap_store.text_trouble(folder)}".strip()
    return ModelInfo(
        name, described.model_id, described.dim, READY, known.size_bytes, CLAP_LICENCE, _CLAP_TEXT, note
    )


def _half(folder: Path, whole: ModelInfo) -> ModelInfo:
    """The same checkpoint in half precision, which takes no room of its own."""
    name = whole.name + clap_store.HALF
    model_id = describe(name, Place(folder)).model_id
    return whole._replace(
        name=name, model_id=model_id, size_bytes=0, description=_HALF_TEXT.format(whole.name)
    )


def _hash() -> ModelInfo:
    described = describe("hash")
    text = "Knows no meaning; for tests and for machines without the model packages."
    return ModelInfo("hash", described.model_id, described.dim, READY, 0, "GPL-3.0-or-later", text)


# --- adding


def adding(file: Path, folder: Path) -> Generator[Progress, None, str]:
    """Takes a CLAP checkpoint in, or RoBERTa's tokenizer; the file itself stays as it is.

    The checkpoint is read in a process of its own, so that a file that is none can do no harm; closing
    the generator ends it. Where the tokenizer's two files lie beside a checkpoint they come along.

    Args:
        file: A checkpoint as published (``.pt``) or as safetensors, or ``vocab.json`` or ``merges.txt``.
        folder: Where checkpoints are kept.

    Returns:
        The name of the embedder that can be used now.

    Raises:
        ModelError: when the file is none of these, with the reason in one sentence.
    """
    if file.name in FILES:
        yield Progress(0, 1, "Reading the tokenizer")
        clap_store.add_tokenizer(file.parent, folder)
        return (clap_store.names(folder) or [clap_store.NAME])[0]
    if not file.is_file():
        raise ModelError(f"There is no file {file}.", hint="Check the path.")
    name = yield from _taken(file, folder)
    beside = all((file.parent / part).is_file() for part in FILES)
    if beside and clap_store.text_trouble(folder):
        clap_store.add_tokenizer(file.parent, folder)
    return name


def _taken(file: Path, folder: Path) -> Generator[Progress, None, str]:
    told: queue.SimpleQueue[tuple[int, int, str]] = queue.SimpleQueue()
    progress = Progress(0, 0, "Reading the checkpoint")
    host = ModelHost((), models_folder=folder)
    try:
        arguments = {"file": str(file), "models": str(folder)}
        future = host.task("clap.take", arguments, lambda *step: told.put(step))
        while not future.done():
            yield progress
            try:
                progress = Progress(*told.get(timeout=0.1))
            except queue.Empty:
                continue
        return str(future.result()[0]["made"]["name"])
    finally:
        host.close(0.0)
        clap_store.clear_leftovers(folder)


def add_checkpoint(file: Path, folder: Path) -> str:
    """Takes a checkpoint or tokenizer in, see :func:`adding`; the name of the embedder.

    Raises:
        ModelError: when the file is none of these.
    """
    job = adding(file, folder)
    while True:
        try:
            next(job)
        except StopIteration as done:
            return str(done.value)
