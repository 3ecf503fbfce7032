"""What the settings dialog asks for and changes, as plain functions and jobs over the library service."""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from foley_desktop.audio.player import Player, create_player
from foley_desktop.errors import FoleyError
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Progress
from foley_desktop.workers.job import Job


@dataclass(frozen=True, slots=True)
class Embedder:
    """One embedder as the Models page shows it; ``heard`` of ``clips`` have its vectors, None: unknown."""

    name: str
    state: str
    size_bytes: int
    licence: str
    description: str
    note: str
    active: bool
    following: bool
    heard: int | None = None
    clips: int | None = None

    @property
    def ready(self) -> bool:
        return self.state == "ready"


def embedders(service: LibraryService) -> list[Embedder]:
    """What there is to choose from, and how far each one is."""
    document = service.models_document()
    return [_embedder(service, entry, document) for entry in document["models"]]


def _embedder(service: LibraryService, entry: dict[str, Any], document: dict[str, Any]) -> Embedder:
    name = str(entry["name"])
    heard = clips = None
    if entry["state"] == "ready":
        try:
            heard, clips = service.embedders.progress(name)
        except FoleyError:
            heard = clips = None  # what an embedder cannot say of itself is no reason to show none
    return Embedder(
        name=name,
        state=str(entry["state"]),
        size_bytes=int(entry["size_bytes"]),
        licence=str(entry["licence"]),
        description=str(entry["description"]),
        note=str(entry.get("note", "")),
        active=document["active"] == name,
        following=document.get("next") == name,
        heard=heard,
        clips=clips,
    )


def use_embedder_job(service: LibraryService, name: str) -> Job:
    """Chooses an embedder; the result is whether vectors have to be made before or after it takes over."""

    def work() -> bool:
        service.use_embedder(name)
        heard, clips = service.embedders.progress(name)
        return heard < clips

    return Job(f"Switching to {name}", work, kind="embedder")


def add_checkpoint_job(service: LibraryService, file: str) -> Job:
    """Takes a checkpoint file in; its result is the embedder's name."""

    def work() -> Generator[Progress, None, str]:
        return (yield from service.embedders.adding(file))

    return Job(f"Reading {os.path.basename(file)}", work, kind="checkpoint")


def output_devices() -> list[str]:
    """Names of the sound outputs; none where there is no sound."""
    from foley_desktop.audio.device import load_sounddevice

    try:
        devices = load_sounddevice().query_devices()
    except Exception:  # without PortAudio, or with one that fails, there is just the default
        return []
    return list(dict.fromkeys(str(d["name"]) for d in devices if d["max_output_channels"] > 0))


def change(service: LibraryService, **values: object) -> None:
    """Sets some settings and writes them."""
    for name, value in values.items():
        setattr(service.settings, name, value)
    service.settings.save(service.data.settings_file)


def open_output(service: LibraryService, device: str, latency: str) -> Player:
    """Keeps the choice of an output and gives a player on it."""
    change(service, output_device=device, output_latency=latency)
    return create_player(device, latency)
