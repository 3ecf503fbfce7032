"""What the settings dialog asks for and changes, as plain functions and jobs over the library service."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from foley_desktop.audio.player import Player, create_player
from foley_desktop.errors import FoleyError
from foley_desktop.index.embedders import clap_store
from foley_desktop.library.service import LibraryService


@dataclass(frozen=True, slots=True)
class Embedder:
    """One embedder as the Models page shows it; ``heard`` of ``clips`` have its vectors, None: unknown.

    ``complete`` says of one that is to take over that nothing would be lost by that, ``removable`` that its
    weights can be deleted.
    """

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
    complete: bool = False
    removable: bool = False

    @property
    def ready(self) -> bool:
        return self.state == "ready"

    @property
    def without_numbers(self) -> Embedder:
        """The same but for how many sounds it knows; whether it knows any is kept."""
        return replace(self, heard=min(1, self.heard or 0), clips=None)


def embedders(service: LibraryService) -> list[Embedder]:
    """What there is to choose from, and how far each one is."""
    document = service.models_document()
    checkpoints = clap_store.names(service.data.models)
    return [_embedder(service, entry, document, checkpoints) for entry in document["models"]]


def _embedder(
    service: LibraryService, entry: dict[str, Any], document: dict[str, Any], checkpoints: Collection[str]
) -> Embedder:
    name = str(entry["name"])
    heard = clips = None
    following = document.get("next") == name
    offer = service.embedders.offer() if following else None
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
        following=following,
        heard=heard,
        clips=clips,
        complete=offer is not None and offer.complete,
        removable=name in checkpoints,
    )


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
