"""A library whose embedder really hears, if only pitch: for tests of what depends on text and sound agreeing.

Sounds are placed by their energy in six bands, words by the band that they name in :data:`BANDS`, so what a
test writes into a clip is what a query can ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import soundfile

from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.index.embedders.spaces import Description, Vectors, WindowedEmbedder, unit
from foley_desktop.library.service import LibraryService
from foley_desktop.models import Hit
from foley_desktop.settings import DataFolder, Settings

BANDS = {"rumble": 90.0, "moan": 220.0, "tone": 550.0, "whistle": 1400.0, "beep": 3400.0, "hiss": 8500.0}
RATE = 22050
_EDGES = np.array([0.0, 140.0, 350.0, 880.0, 2200.0, 5400.0, 1e6])


class PitchEmbedder(WindowedEmbedder):
    """Six numbers for a sound, how much of it lies in each band, and one for texts that name no band.

    Counts how often it is asked for texts.
    """

    def __init__(self) -> None:
        super().__init__(Description("pitch-1", len(BANDS) + 1))
        self.texts_asked = 0

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        texts = [text] if isinstance(text, str) else list(text)
        self.texts_asked += len(texts)
        rows = [[float(name in one.lower().split()) for name in BANDS] for one in texts]
        return np.stack(
            [_centred(np.array(row)) if any(row) else np.eye(7, dtype=np.float32)[6] for row in rows]
        )

    def submit(self, samples: np.ndarray) -> Callable[[], Vectors]:
        power = np.abs(np.fft.rfft(samples)) ** 2
        pitches = np.fft.rfftfreq(len(samples), 1 / 44100)
        energy = np.histogram(pitches, _EDGES, weights=power)[0]
        vector = _centred(np.sqrt(energy / energy.sum()))
        return lambda: {self.model_id: vector}


def _centred(row: np.ndarray) -> np.ndarray:
    return unit(np.append(row - row.mean(), 0.0))


class PitchModels(InProcessModels):
    """Hashed words for meaning, pitch for sound."""

    def __init__(self) -> None:
        super().__init__(("hash", "hash-text"))
        self.pitch = PitchEmbedder()

    def describe(self, name: str, /) -> Description:
        return self.pitch.description if name == "pitch" else InProcessModels.describe(self, name)

    def embedder(self, name: str = "pitch") -> WindowedEmbedder:
        self.start()
        return self.pitch


def sound(*parts: str | dict[str, float], seconds: float = 0.5) -> np.ndarray:
    """Mono samples: one part after the other, each a band's name or ``{band: amplitude}``, or silence."""
    moments = np.arange(round(seconds * RATE)) / RATE
    rows = []
    for part in parts:
        mixed = {part: 0.5} if isinstance(part, str) else part
        tones = [level * np.sin(2 * np.pi * BANDS[name] * moments) for name, level in mixed.items()]
        rows.append(np.sum(tones, axis=0) if tones else np.zeros_like(moments))
    return np.concatenate(rows)


def write(root: Path, clips: dict[str, np.ndarray]) -> Path:
    """``{path below root without extension: samples}`` as WAV files, no two of them the same."""
    for number, (name, samples) in enumerate(clips.items()):
        file = root / f"{name}.wav"
        file.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(file, np.append(samples, np.zeros(number)), RATE)
    return root


def open_library(data: Path, root: Path) -> LibraryService:
    """A library over ``root``, indexed to the end."""
    folder = DataFolder(data)
    folder.create()
    service = LibraryService(folder, models=PitchModels(), settings=Settings(embedder="pitch"))
    for _ in service.index([root]):
        pass
    return service


def names(hits: Sequence[Hit]) -> list[str]:
    """The hits' clips by path without extension, best first."""
    return [hit.sound.rel_path.removesuffix(".wav") for hit in hits]
