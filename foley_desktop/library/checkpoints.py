"""How CLAP's weights get into the data folder and out of it: from a file, from a server, by the user's word.

Nothing is fetched and nothing of the user's is deleted unless the user has agreed to that very thing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foley_desktop.errors import DownloadError, FoleyError, ModelError
from foley_desktop.index.embedders import catalogue, clap_sources, clap_store
from foley_desktop.index.embedders.clap_tokenizer import FILES
from foley_desktop.library.download import Source, download
from foley_desktop.models import Progress

if TYPE_CHECKING:
    from foley_desktop.library.service import LibraryService
    from foley_desktop.settings import Settings

LEAN_BYTES = 1 << 30
"""What the lean copy and its making need on the disk beside the file itself."""


@dataclass(frozen=True, slots=True)
class Fetchable:
    """A published checkpoint as it can be fetched from here.

    ``about_bytes`` is its size, ``held_bytes`` what an earlier run left of it, ``needed_bytes`` the room
    that fetching it and taking it in asks for. ``checked`` says whether its checksum is known.
    """

    file: str
    suits: str
    about_bytes: int
    held_bytes: int
    needed_bytes: int
    checked: bool
    licence: str


@dataclass(frozen=True, slots=True)
class Market:
    """What can be fetched. ``address`` is the mirror's, empty for the publisher ``publisher``; the
    tokenizer's files come from ``tokenizer`` then. ``free_bytes`` is the room in ``folder``."""

    files: tuple[Fetchable, ...]
    address: str
    publisher: str
    tokenizer: str
    folder: str
    free_bytes: int


class Checkpoints:
    """The weights of a library's embedders."""

    def __init__(self, service: LibraryService) -> None:
        self._service = service
        self._unreadable: dict[str, frozenset[str]] = {}

    @property
    def _settings(self) -> Settings:
        return self._service.settings

    @property
    def _models(self) -> Path:
        return self._service.data.models

    def adding(self, file: str | os.PathLike[str]) -> Generator[Progress, None, str]:
        """Takes a checkpoint or tokenizer file in; the name of the embedder that can be used now.

        Raises:
            ModelError: the file is none that can be used.
        """
        return catalogue.adding(Path(os.path.abspath(file)), self._models)

    # --- fetching

    @property
    def _fetched(self) -> Path:
        return self._models / "fetched"

    def market(self) -> Market:
        """What can be fetched, from where, and whether there is room for it."""
        self._models.mkdir(parents=True, exist_ok=True)
        return Market(
            tuple(self._fetchable(known) for known in clap_sources.OFFERS),
            self._settings.checkpoint_address,
            clap_sources.PUBLISHER,
            clap_sources.TOKENIZER,
            str(self._models),
            shutil.disk_usage(self._models).free,
        )

    def _fetchable(self, known: clap_sources.Offer) -> Fetchable:
        held = 0
        for name in (known.file, known.file + ".part"):
            held = max(held, _size(self._fetched / name))
        return Fetchable(
            known.file,
            known.suits,
            known.about_bytes,
            held,
            max(0, known.about_bytes - held) + LEAN_BYTES,
            known.sha256 is not None,
            catalogue.CLAP_LICENCE,
        )

    def set_mirror(self, address: str) -> None:
        """Fetches from another address from now on; an empty one stands for the publisher.

        Raises:
            DownloadError: for what is no address of the web.
        """
        address = address.strip()
        if address and not address.lower().startswith(("https://", "http://")):
            raise DownloadError(f"{address} is no web address.", hint="It begins with https://")
        self._settings.checkpoint_address = address
        self._settings.save(self._service.data.settings_file)

    def fetching(self, file: str, *, agreed: bool) -> Generator[Progress, None, str]:
        """Fetches a published checkpoint with RoBERTa's tokenizer, and takes both in.

        The files come from the publisher, or from the address in the settings, where they have to lie under
        the same names. What was fetched stays until :meth:`discard_fetched`.

        Args:
            file: A name of :data:`foley_desktop.index.embedders.clap_sources.OFFERS`.
            agreed: Whether the user has agreed to the download.

        Returns:
            The name of the embedder that can be used now.

        Raises:
            DownloadError: it cannot be fetched; also where the user has not agreed.
            ModelError: it is not offered, or cannot be used.
        """
        if not agreed:
            raise DownloadError("Nothing is fetched before you agree to it.")
        known = clap_sources.offer(file)
        if known is None:
            raise ModelError(f"There is no published checkpoint called {file}.")
        folder = self._fetched
        mirror = self._settings.checkpoint_address
        base = mirror.rstrip("/") + "/" if mirror else ""
        needs_tokenizer = bool(clap_store.text_trouble(self._models))
        for name in FILES if needs_tokenizer else ():
            if not (folder / name).is_file():
                yield from download(Source((base or clap_sources.TOKENIZER) + name), folder / name)
        if not (folder / file).is_file():
            source = Source((base or clap_sources.PUBLISHER) + file, known.sha256)
            yield from download(source, folder / file, reserve=LEAN_BYTES)
        return (yield from self.adding(folder / file))

    def discard_fetched(self) -> int:
        """Deletes what was fetched, once the user has agreed to that; the bytes that are free again."""
        size = sum(_size(path) for path in self._fetched.glob("*"))
        shutil.rmtree(self._fetched, ignore_errors=True)
        return size

    # --- letting go

    def deletable(self, file: str | os.PathLike[str]) -> int:
        """Bytes of a file that was taken in and is needed no more; 0 for one that is needed or not there.

        A light look: :meth:`delete_original` makes sure.
        """
        path = Path(os.path.abspath(file))
        is_ours = self._models in path.parents and path.parent != self._fetched
        if is_ours or path.name in FILES:
            return 0
        known = (self._note(name) for name in clap_store.names(self._models))
        return _size(path) if any(note and note.source == path.name for note in known) else 0

    def _note(self, name: str) -> clap_store.Note | None:
        try:
            return clap_store.note(self._models, name)
        except FoleyError:
            return None

    def delete_original(self, file: str | os.PathLike[str]) -> Generator[Progress, None, int]:
        """Deletes the file that a checkpoint came from, once the user has agreed to that.

        It is read first: only a file that is bit for bit the one that was taken in is deleted.

        Returns:
            The bytes that are free again.

        Raises:
            ModelError: it is another file, or cannot be deleted.
        """
        path, size = Path(os.path.abspath(file)), self.deletable(file)
        known = {note.source_sha256 for name in clap_store.names(self._models) if (note := self._note(name))}
        digest, done = hashlib.sha256(), 0
        try:
            if size:
                with open(path, "rb") as opened:
                    while chunk := opened.read(8 << 20):
                        digest.update(chunk)
                        done += len(chunk)
                        yield Progress(done, size, f"Checking {path.name}")
            if not size or digest.hexdigest() not in known:
                raise ModelError(f"{path.name} is not the file that was taken in, so it is left alone.")
            path.unlink()
        except OSError as error:
            raise ModelError(f"{path.name} cannot be deleted.", cause=error) from error
        return size

    def in_use(self, name: str) -> bool:
        """Whether a checkpoint is behind the active embedder or the next one."""
        chosen = (self._settings.embedder, self._settings.next_embedder)
        return name in {clap_store.checkpoint_of(one) for one in chosen}

    def remove(self, name: str, *, fall_back: bool = False) -> None:
        """Deletes the weights of an embedder. Its vectors stay.

        Args:
            fall_back: Let compact take the place of one that is in use; otherwise such a one is refused.

        Raises:
            ModelError: it is in use, or there is none, or it cannot be deleted.
        """
        if self.in_use(name) and not fall_back:
            raise ModelError(f"The embedder {name} is in use.", hint="Choose another one first.")
        if name not in clap_store.names(self._models):
            raise ModelError(f"There is no checkpoint called {name}.")
        for one in (name, name + clap_store.HALF):
            self._leave(one)
        clap_store.remove(self._models, name)

    def _leave(self, name: str) -> None:
        """Another embedder takes the place of this one."""
        raise NotImplementedError


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0
