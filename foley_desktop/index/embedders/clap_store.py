"""The CLAP checkpoints that the user added: where they lie, what they are called, how one gets in.

A checkpoint is a folder of the models folder, ``clap`` the first and ``clap-…`` any further one, with
lean weights and a note of what they are. ``clap:half`` is an embedder of its own: the same weights, heard
with in half precision. The two tokenizer files serve all of them. A folder gets its name when everything in
it is complete, so that a half-made one is never taken for a whole one. Light, except for :func:`take`, which
is meant for the model process.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders.clap_sources import OFFERS
from foley_desktop.index.embedders.clap_tokenizer import FILES, RobertaTokens

if TYPE_CHECKING:
    from foley_desktop.index.embedders.clap_checkpoint import Report

NAME = "clap"
HALF = ":half"
WEIGHTS = "model.safetensors"
_NOTE = "checkpoint.json"
_TOKENIZER = "roberta-base"
_ADDING = ".adding-"
_CHUNK = 8 << 20

PUBLISHED = {known.sha256: Path(known.file).stem for known in OFFERS if known.sha256}
"""Names of published checkpoints by their sha256."""


class Note(NamedTuple):
    """What is known of a checkpoint. ``digest`` is the sha256 of the lean weights, ``source`` the name of
    the file they came from and ``published`` that of the published checkpoint it equals, or empty."""

    digest: str
    size: str
    text_layers: int
    source: str
    source_sha256: str
    published: str
    size_bytes: int
    mtime_ns: int


def is_name(name: str) -> bool:
    """Whether an embedder of this name is a CLAP checkpoint, in full precision or in half."""
    base = checkpoint_of(name)
    return (base == NAME or base.startswith(NAME + "-")) and ":" not in base


def is_half(name: str) -> bool:
    """Whether an embedder of this name hears in half precision."""
    return name.endswith(HALF)


def checkpoint_of(name: str) -> str:
    """The checkpoint behind an embedder, which is the name of its folder."""
    return name.removesuffix(HALF)


def names(models: Path) -> list[str]:
    """The checkpoints that are there, the first one added first."""
    try:
        folders = [p for p in models.iterdir() if is_name(p.name) and not is_half(p.name)]
        found = [folder.name for folder in folders if (folder / WEIGHTS).is_file()]
    except OSError:
        return []
    return sorted(found, key=lambda name: (name != NAME, name))


def tokenizer_folder(models: Path) -> Path:
    """Where the tokenizer's files lie, or will."""
    return models / _TOKENIZER


def weights_file(models: Path, name: str) -> Path:
    """The lean weights of an embedder."""
    return models / checkpoint_of(name) / WEIGHTS


def note(models: Path | None, name: str) -> Note:
    """What is known of the checkpoint of an embedder.

    Raises:
        ModelError: when it is not there, or its weights were changed since it was added.
    """
    if models is None or not weights_file(models, name).is_file():
        raise ModelError(
            f"The embedder {name} has no weights yet.",
            hint="Add a checkpoint file (models add FILE) or use another embedder (models use compact).",
        )
    folder = models / checkpoint_of(name)
    try:
        known = Note(**json.loads((folder / _NOTE).read_text("utf-8")))
        stat = (folder / WEIGHTS).stat()
    except (OSError, ValueError, TypeError) as error:
        raise _damaged(name, error) from error
    if (stat.st_size, stat.st_mtime_ns) == (known.size_bytes, known.mtime_ns):
        return known
    # Copied to another machine, most likely: the times differ, the weights should not.
    if stat.st_size != known.size_bytes or _sha256(folder / WEIGHTS) != known.digest:
        raise _damaged(name)
    known = known._replace(mtime_ns=stat.st_mtime_ns)
    _write_note(folder, known)
    return known


def _damaged(name: str, cause: Exception | None = None) -> ModelError:
    return ModelError(
        f"The weights of the embedder {name} are damaged.", hint="Add its checkpoint file again.", cause=cause
    )


def remove(models: Path, name: str) -> None:
    """Deletes a checkpoint's folder, never the file it came from.

    Raises:
        ModelError: when there is none of that name, or it cannot be deleted.
    """
    if not is_name(name) or is_half(name) or not (models / name).is_dir():
        raise ModelError(f"There is no checkpoint called {name}.")
    doomed = models / f"{_ADDING}removed-{name}"
    try:
        os.replace(models / name, doomed)
    except OSError as error:
        raise ModelError(f"The checkpoint {name} cannot be deleted.", cause=error) from error
    shutil.rmtree(doomed, ignore_errors=True)


def clear_leftovers(models: Path) -> None:
    """Deletes what an adding that was cut short has left behind."""
    for folder in models.glob(_ADDING + "*"):
        shutil.rmtree(folder, ignore_errors=True)


# --- the tokenizer


def add_tokenizer(source: Path, models: Path) -> None:
    """Takes ``vocab.json`` and ``merges.txt`` from a folder, for every checkpoint.

    Raises:
        ModelError: when they are not there, not those of roberta-base, or cannot be copied.
    """
    RobertaTokens(source)
    target = tokenizer_folder(models)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            part = target / (name + ".part")
            shutil.copyfile(source / name, part)
            os.replace(part, target / name)
    except OSError as error:
        raise ModelError("The tokenizer's files cannot be copied.", cause=error) from error


def text_trouble(models: Path | None) -> str:
    """Why texts cannot be read, as a sentence; empty when they can."""
    try:
        RobertaTokens(tokenizer_folder(models or Path()))
    except ModelError as error:
        return error.sentence
    return ""


# --- adding


def take(report: Report, *, file: str, models: str) -> dict[str, Any]:
    """Takes a checkpoint file in: reads, checks and copies it. The file itself stays as it is.

    Returns:
        The ``name`` it is called by from now on.

    Raises:
        ModelError: when it is no checkpoint that can be used.
    """
    from foley_desktop.index.embedders import clap_checkpoint
    from foley_desktop.index.embedders.clap import hears

    source, folder = Path(file), Path(models)
    report(0, 0, "Reading the checkpoint")
    checkpoint = clap_checkpoint.read(source)
    architecture = checkpoint.architecture
    model = clap_checkpoint.network(checkpoint, source.name)
    with _new_folder(folder) as adding:
        digest = clap_checkpoint.write_lean(model, adding / WEIGHTS, report)
        del model, checkpoint  # and with them a gigabyte that is mapped
        known = _same(folder, digest)
        if known is None:
            # The copy is what will be used, so it is the copy that is tried.
            if not hears(clap_checkpoint.load(adding / WEIGHTS)):
                raise ModelError(f"{source.name} is damaged: its network hears nothing.")
            sha256 = _sha256(source, report)
            stat = (adding / WEIGHTS).stat()
            entry = Note(
                digest,
                *architecture,
                source=source.name,
                source_sha256=sha256,
                published=PUBLISHED.get(sha256, ""),
                size_bytes=stat.st_size,
                mtime_ns=stat.st_mtime_ns,
            )
            _write_note(adding, entry)
            known = _free_name(folder, entry)
            os.replace(adding, folder / known)
    return {"name": known}


@contextmanager
def _new_folder(models: Path) -> Iterator[Path]:
    adding = models / f"{_ADDING}{os.getpid()}"
    try:
        shutil.rmtree(adding, ignore_errors=True)
        adding.mkdir(parents=True)
    except OSError as error:
        raise ModelError(f"The folder {models} cannot be written to.", cause=error) from error
    try:
        yield adding
    finally:
        shutil.rmtree(adding, ignore_errors=True)


def _same(models: Path, digest: str) -> str | None:
    for name in names(models):
        try:
            if note(models, name).digest == digest:
                return name
        except ModelError:
            continue
    return None


def _free_name(models: Path, entry: Note) -> str:
    """``clap`` for the first one, a name after its file for any further one."""
    if not (models / NAME).exists():
        return NAME
    stem = entry.published or Path(entry.source).stem
    short = re.sub(r"[^0-9a-z]+", "-", stem.lower()).strip("-")[:40] or "checkpoint"
    name, number = f"{NAME}-{short}", 2
    while (models / name).exists():
        name, number = f"{NAME}-{short}-{number}", number + 1
    return name


def _write_note(folder: Path, entry: Note) -> None:
    part = folder / (_NOTE + ".part")
    try:
        part.write_text(json.dumps(entry._asdict(), indent=1), "utf-8", errors="replace")
        os.replace(part, folder / _NOTE)
    except OSError as error:
        raise ModelError(f"The folder {folder} cannot be written to.", cause=error) from error


def _sha256(file: Path, report: Report | None = None) -> str:
    digest = hashlib.sha256()
    done, total = 0, file.stat().st_size
    with open(file, "rb") as opened:
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
            done += len(chunk)
            if report is not None:
                report(done, total, "Checking the file")
    return digest.hexdigest()
