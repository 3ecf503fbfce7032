"""Typed settings and the data folder's layout.

Settings live in ``settings.json`` of the data folder. Unknown keys are kept on saving, wrong values
fall back to the default, so that neither an older nor a newer version loses what the other wrote.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import platformdirs

from foley_desktop.errors import FoleyError


def resource(name: str) -> Path:
    """A file or folder of ``resources/``, in a checkout as in an installed wheel.

    Raises:
        FoleyError: when the installation is incomplete.
    """
    package = Path(__file__).resolve().parent
    for base in (package / "resources", package.parent / "resources"):
        if (base / name).exists():
            return base / name
    raise FoleyError(f"The installation lacks the resource {name}.", hint="Install Foley Desktop again.")


@dataclass(frozen=True, slots=True)
class DataFolder:
    """Where one library keeps its things. Nothing is created before :meth:`create`."""

    path: Path

    @classmethod
    def default(cls) -> DataFolder:
        """The user's data folder as the platform has it."""
        return cls(Path(platformdirs.user_data_dir("foley-desktop", appauthor=False)))

    @property
    def catalog(self) -> Path:
        return self.path / "catalog.sqlite3"

    @property
    def vectors(self) -> Path:
        return self.path / "vectors"

    @property
    def keywords(self) -> Path:
        return self.path / "keywords"

    @property
    def peaks(self) -> Path:
        return self.path / "peaks"

    @property
    def spotted(self) -> Path:
        return self.path / "spotted"

    @property
    def demo(self) -> Path:
        return self.path / "demo"

    @property
    def models(self) -> Path:
        return self.path / "models"

    @property
    def writer_lock(self) -> Path:
        return self.path / "writer.lock"

    @property
    def settings_file(self) -> Path:
        return self.path / "settings.json"

    def create(self) -> None:
        """Makes the folder.

        Raises:
            FoleyError: when it cannot be made or written to.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FoleyError(
                f"The library folder {self.path} cannot be created.",
                hint="Choose another folder with --library DIR.",
                cause=error,
            ) from error
        if not os.access(self.path, os.W_OK):
            raise FoleyError(
                f"The library folder {self.path} cannot be written to.",
                hint="Choose another folder with --library DIR.",
            )


@dataclass(slots=True)
class Settings:
    """What the user chose. Every field has a default that works."""

    embedder: str = "compact"
    next_embedder: str = ""
    """One whose vectors are being made, to take the place of ``embedder``; empty when there is none."""
    device: str = "cpu"
    """What CLAP runs on: ``cpu``, ``cuda`` or ``mps``."""
    checkpoint_address: str = ""
    """Where checkpoints are fetched from instead of their publisher: a mirror's address; empty for none."""
    audition_on_select: bool = True
    watch_folders: bool = True
    """Whether changes on disk are taken up by themselves while the window is open."""
    output_device: str = ""
    output_latency: str = "low"
    fusion: str = "weighted"
    fusion_weights: dict[str, float] = field(default_factory=dict)
    """Weights by ranker; empty stands for the app's own."""
    fusion_depth: int = 50
    fusion_before: dict[str, Any] = field(default_factory=dict)
    """What the fusion settings were before they were tuned, to go back to; empty when they never were."""
    grader: str = ""
    """Whose name stands by new judgements."""
    golden_set: str = ""
    """Id of the golden set that results of a normal search are graded in."""
    similar_k: int = 100
    results_k: int = 500
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path) -> Settings:
        """Reads ``file``; a missing or broken one gives the defaults."""
        try:
            raw = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            return cls()
        if not isinstance(raw, dict):
            return cls()
        settings = cls()
        known = {f.name for f in fields(cls)} - {"extra"}
        for key, value in raw.items():
            if key not in known:
                settings.extra[key] = value
            elif type(value) is type(getattr(settings, key)):
                setattr(settings, key, value)
        return settings

    def save(self, file: Path) -> None:
        """Writes ``file`` beside itself first, so that a crash never leaves half a file."""
        values = asdict(self)
        values |= values.pop("extra")
        part = file.with_suffix(".part")
        part.write_text(json.dumps(values, indent=2, sort_keys=True) + "\n", "utf-8")
        os.replace(part, file)
