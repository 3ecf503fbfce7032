"""Handing sounds over: what is made for a drag or an export, for which project, and what is remembered of it.

Blocking and thread-safe like :class:`foley_desktop.library.service.LibraryService`, whose ``transfer`` it is.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from foley_desktop.audio.render import RenderOptions, Watch, render_new
from foley_desktop.audio.treatment import Treatment
from foley_desktop.errors import AudioFileError
from foley_desktop.library import spot_names
from foley_desktop.library.bins import Bins
from foley_desktop.library.presets import FOLDER, NEUTRAL, Preset, Presets
from foley_desktop.library.receivers import Receiver, receivers
from foley_desktop.library.spotted import Spotted
from foley_desktop.library.usage import How, Usage, Use
from foley_desktop.models import Clip, Region

if TYPE_CHECKING:
    from foley_desktop.library.service import LibraryService


@dataclass(frozen=True, slots=True)
class Order:
    """A clip, or a region of it, that is to leave, with what is done to it on the way."""

    clip: Clip
    region: Region | None = None
    treatment: Treatment = NEUTRAL


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file that is ready to leave. ``made`` says that it was rendered, not the clip's own."""

    order: Order
    file: str
    made: bool


class Transfer:
    """What leaves one library. Stateless but for a lock: what lasts is in the catalog and the settings."""

    _rendering = threading.Lock()

    def __init__(self, service: LibraryService) -> None:
        self._data = service.data
        self._settings = service.settings
        self.presets = Presets(service.settings)
        self.bins = Bins(service.catalog)
        self.spotted = Spotted(service.catalog)
        self.usage = Usage(service.catalog)

    @property
    def receivers(self) -> list[Receiver]:
        """What files can be sent to, as it is set up now."""
        return receivers(self._settings, self._data)

    @property
    def folder(self) -> Path:
        """Where files for drags are made when the preset names no folder."""
        chosen = self._settings.extra.get(FOLDER)
        return Path(chosen) if isinstance(chosen, str) and os.path.isabs(chosen) else self._data.spotted

    def prepare(self, orders: Sequence[Order], preset: Preset, watch: Watch | None = None) -> list[Parcel]:
        """The files to hand over, in order: originals where nothing changes, else rendered ones.

        What was rendered before in just that way, and is as it was, is handed over again. ``watch`` is told
        of every rendering, see :func:`foley_desktop.audio.render.export`.

        Raises:
            AudioFileError: a clip is not there now, or cannot be read.
            RenderError: a file cannot be written, with what to do.
        """
        project = self.bins.current().name
        return [self._parcel(order, preset, project, watch) for order in orders]

    def _parcel(self, order: Order, preset: Preset, project: str, watch: Watch | None) -> Parcel:
        clip = order.clip
        if clip.status != "ok" or not os.path.isfile(os.fsencode(clip.path)):
            raise AudioFileError(
                "vanished",
                f"{clip.name} is not there now, so it cannot be dragged.",
                hint="Connect its drive, or rescan its folder.",
            )
        if order.region is None and preset.leaves(clip, order.treatment):
            return Parcel(order, clip.path, made=False)
        options = preset.options(clip, order.region, order.treatment)
        recipe = self._recipe(order, options, preset, project)
        with self._rendering:
            file = self.spotted.find(recipe)
            if file is None:
                folder = Path(preset.folder) if preset.folder else self.folder
                stem, extension = self.name(order, preset, project), preset.extension_for(clip)
                made = render_new(clip.path, options, folder, stem, "", extension, watch)
                self.spotted.add(made, recipe, clip.id, project)
                file = str(made)
        return Parcel(order, file, made=True)

    def name(self, order: Order, preset: Preset, project: str) -> str:
        """What a new file is called, without extension and without the number that a collision adds."""
        template = preset.template or self.presets.template
        return spot_names.stem(
            template, order.clip, preset.widened(order.clip, order.region), project=project
        )

    def _recipe(self, order: Order, options: RenderOptions, preset: Preset, project: str) -> str:
        """Names a render: the same words, the same file."""
        clip = order.clip
        plain = replace(options, treatment=NEUTRAL) if order.treatment.is_neutral else options
        facts = {
            "sound": [clip.audio_hash, os.fsencode(clip.path).hex(), clip.mtime_s],
            "options": asdict(plain),
            "form": [preset.extension_for(clip), preset.template or self.presets.template, preset.folder],
            "place": [project, os.fsencode(self.folder).hex()],
        }
        return json.dumps(facts, sort_keys=True)

    # --- what became of it

    def offer(self, parcels: Sequence[Parcel]) -> None:
        """A drag may begin with these."""
        self.spotted.offer(_made(parcels))

    def withdraw(self, parcels: Sequence[Parcel]) -> None:
        """No drag began with these after all."""
        self.spotted.withdraw(_made(parcels))

    def taken(self, parcels: Sequence[Parcel], how: How = "drag", place: str = "") -> float:
        """A receiver took these; gives the moment that is remembered."""
        self.spotted.take(_made(parcels))
        project = self.bins.current().name
        return self.usage.record(
            [Use(p.order.clip.id, how, p.file, place, project, p.order.region) for p in parcels]
        )

    def discard(self, keep: Collection[Parcel] = ()) -> int:
        """Deletes renders that were never offered, but for ``keep``; gives how many."""
        return self.spotted.discard({parcel.file for parcel in keep})


def _made(parcels: Sequence[Parcel]) -> list[str]:
    return [parcel.file for parcel in parcels if parcel.made]
