"""What a sound becomes on its way to a target: format, handles, fades, name and folder, under one name.

A preset changes only what it names. One that names nothing hands over the original file itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from foley_desktop.audio.render import RenderOptions
from foley_desktop.audio.treatment import Treatment
from foley_desktop.errors import RenderError
from foley_desktop.library import spot_names
from foley_desktop.models import Clip, Region
from foley_desktop.settings import Settings

PRESETS, ACTIVE, HEARD, TEMPLATE, FOLDER = (
    "presets",
    "preset",
    "drag_as_heard",
    "spotted_template",
    "spotted_folder",
)
"""Keys of the settings' free part."""

NEUTRAL = Treatment()
EXTENSIONS = (".wav", ".flac", ".aiff", ".ogg")
_LIMITS = {"handle_s": 60.0, "fade_in_s": 60.0, "fade_out_s": 60.0}


@dataclass(frozen=True, slots=True)
class Preset:
    """How sounds leave for one kind of target; None and "" leave things as the source has them.

    Attributes:
        extension: ``.wav``, ``.flac``, ``.aiff`` or ``.ogg``.
        rate: Hz.
        depth: 16, 24, or 32 bits.
        channels: 1 or 2.
        normalise_db: The highest sample's level, dBFS.
        handle_s: Seconds of the source before and after a region, as far as there are any.
        fade_in_s, fade_out_s: Seconds.
        dither: Triangular dither where the depth falls.
        template: Names, see :mod:`foley_desktop.library.spot_names`; empty for the one of the settings.
        folder: Where new files go; empty for the spotted folder.
    """

    name: str
    extension: str = ""
    rate: int | None = None
    depth: int | None = None
    channels: int | None = None
    normalise_db: float | None = None
    handle_s: float = 0.0
    fade_in_s: float = 0.0
    fade_out_s: float = 0.0
    dither: bool = True
    template: str = ""
    folder: str = ""

    def extension_for(self, clip: Clip) -> str:
        """The ending of a new file of ``clip``: its own where it can be written, else WAV."""
        own = "." + clip.name.rpartition(".")[2].lower()
        if self.extension:
            return self.extension
        return own if own in (".wav", ".flac", ".aif", ".aiff") else ".wav"

    def options(
        self, clip: Clip, region: Region | None = None, treatment: Treatment = NEUTRAL
    ) -> RenderOptions:
        """What is rendered of a clip, or of a region of it, with what is done to it while listening."""
        stretch = self.widened(clip, region)
        return RenderOptions(
            start_s=stretch.start_s if stretch else None,
            end_s=stretch.end_s if stretch else None,
            rate=self.rate,
            depth=None if self.extension == ".ogg" else self.depth,
            channels=self.channels,
            normalise_db=self.normalise_db,
            fade_in_s=self.fade_in_s,
            fade_out_s=self.fade_out_s,
            dither=self.dither,
            treatment=treatment,
        )

    def widened(self, clip: Clip, region: Region | None) -> Region | None:
        """A region with its handles, inside the clip."""
        if region is None or not self.handle_s:
            return region
        end_s = region.end_s + self.handle_s
        if clip.duration_s is not None:
            end_s = max(region.end_s, min(end_s, clip.duration_s))
        return Region(max(0.0, region.start_s - self.handle_s), end_s)

    def leaves(self, clip: Clip, treatment: Treatment = NEUTRAL) -> bool:
        """Whether a whole clip already is what it would become, so that the original itself can go."""
        if not treatment.is_neutral:
            return False
        if self.normalise_db is not None or self.fade_in_s or self.fade_out_s or self.folder or self.template:
            return False
        same = (
            (self.rate, clip.samplerate),
            (self.depth, clip.bit_depth),
            (self.channels, clip.channels),
        )
        if any(wanted is not None and wanted != own for wanted, own in same):
            return False
        if self.depth == 32 and clip.subtype not in ("FLOAT", "PCM_32"):
            return False
        return not self.extension or clip.name.lower().endswith(self.extension)

    def words(self) -> str:
        """What it does, in a line."""
        said = [
            self.extension[1:].upper().replace("OGG", "Ogg"),
            f"{self.rate / 1000:g} kHz" if self.rate else "",
            f"{self.depth} bit" if self.depth else "",
            {1: "mono", 2: "stereo"}.get(self.channels or 0, ""),
            f"peak {self.normalise_db:g} dBFS" if self.normalise_db is not None else "",
            f"handles {self.handle_s:g} s" if self.handle_s else "",
            f"fades {self.fade_in_s:g} / {self.fade_out_s:g} s" if self.fade_in_s or self.fade_out_s else "",
            "into its own folder" if self.folder else "",
        ]
        return ", ".join(part for part in said if part) or "the original file; regions as WAV or FLAC"


AS_IT_IS = Preset("As it is")
BUILT_IN = (
    AS_IT_IS,
    Preset("Pro Tools 48k/24", ".wav", 48000, 24),
    Preset("Premiere 48k/24", ".wav", 48000, 24),
    Preset("REAPER", ".wav"),
)


class Presets:
    """The presets there are, the built-in ones and the user's own, and the one in force."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def all(self) -> list[Preset]:
        """Built-in ones first, then the user's own by name; one of a built-in's name takes its place."""
        own = {preset.name.casefold(): preset for preset in self.own()}
        first = [own.pop(preset.name.casefold(), preset) for preset in BUILT_IN]
        return first + sorted(own.values(), key=lambda preset: preset.name.casefold())

    def own(self) -> list[Preset]:
        """The user's own. What of the settings makes no sense is passed over."""
        raw = self._settings.extra.get(PRESETS)
        found = [_read(entry) for entry in raw] if isinstance(raw, list) else []
        return [preset for preset in found if preset is not None]

    @property
    def active(self) -> Preset:
        """The preset that drags go by."""
        name = self._settings.extra.get(ACTIVE)
        return next((preset for preset in self.all() if preset.name == name), AS_IT_IS)

    @property
    def as_heard(self) -> bool:
        """Whether what is heard (speed, reverse, level, channels …) is what is handed over."""
        return self._settings.extra.get(HEARD) is True

    @property
    def template(self) -> str:
        """How new files are named where a preset has no say."""
        found = self._settings.extra.get(TEMPLATE)
        return found if isinstance(found, str) and not spot_names.flaw(found) else spot_names.DEFAULT

    def save(self, preset: Preset) -> None:
        """Keeps a preset; one of the same name makes room. The caller writes the settings.

        Raises:
            RenderError: the preset makes no sense.
        """
        check(preset)
        kept = [one for one in self.own() if one.name.casefold() != preset.name.casefold()]
        self._settings.extra[PRESETS] = [asdict(one) for one in (*kept, preset)]

    def remove(self, name: str) -> None:
        """Forgets one of the user's own; a built-in one of that name is as it was again."""
        self._settings.extra[PRESETS] = [asdict(one) for one in self.own() if one.name != name]


def check(preset: Preset) -> None:
    """Raises RenderError with a sentence when a preset makes no sense."""
    if not preset.name.strip():
        raise RenderError("A preset needs a name.")
    if preset.extension not in ("", *EXTENSIONS):
        raise RenderError(f"Files ending in “{preset.extension}” cannot be written.")
    if preset.extension == ".flac" and preset.depth == 32:
        raise RenderError("FLAC holds at most 24 bit.", hint="Choose 24 bit, or WAV.")
    if any(not 0 <= getattr(preset, name) <= most for name, most in _LIMITS.items()):
        raise RenderError("Handles and fades are 0 to 60 s long.")
    if preset.template and (said := spot_names.flaw(preset.template)):
        raise RenderError(said)
    preset.options(_NOBODY).check()


_NOBODY = Clip(id="", path="", root_id=0, rel_path="", name="")


def _read(raw: Any) -> Preset | None:
    if not isinstance(raw, dict):
        return None
    known = {field.name for field in fields(Preset)}
    try:
        preset = Preset(**{key: value for key, value in raw.items() if key in known})
        check(preset)
    except (TypeError, AttributeError, ValueError, RenderError):
        return None
    return preset


def named(presets: Sequence[Preset], name: str) -> Preset | None:
    """The preset of that name."""
    return next((preset for preset in presets if preset.name == name), None)
