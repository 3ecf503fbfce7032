"""Embedders whose models live in the model process, as the application sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from foley_desktop.index.embedders import wire
from foley_desktop.index.embedders.spaces import Description, Vectors, WindowedEmbedder

if TYPE_CHECKING:
    from foley_desktop.index.embedders.host import ModelHost

TEXT_TIMEOUT_S = 120.0
SOUND_TIMEOUT_S = 600.0
_TEXTS_A_MESSAGE = 4


class RemoteText:
    """A text embedder whose model lives in the child process."""

    def __init__(self, host: ModelHost, name: str, description: Description) -> None:
        self._host = host
        self._name = name
        self.model_id = description.model_id
        self.dim = description.dim

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        """Unit vectors, float32 ``(n, dim)``; a single text goes before batches.

        Raises:
            ModelError: when the model cannot answer.
        """
        texts = [text] if isinstance(text, str) else list(text)
        urgency = 0 if len(texts) == 1 else 1
        futures = [
            self._host.submit(
                {
                    "op": "text",
                    "model": self._name,
                    "texts": texts[first : first + _TEXTS_A_MESSAGE],
                    "urgency": urgency,
                }
            )
            for first in range(0, len(texts), _TEXTS_A_MESSAGE)
        ]
        parts = [self._host.wait(future, TEXT_TIMEOUT_S)[1] for future in futures]
        flat = np.concatenate(parts) if parts else np.zeros(0, np.float32)
        return flat.reshape(len(texts), self.dim)


class RemoteEmbedder(WindowedEmbedder):
    """A joint embedder whose models live in the child process; clips are cut here."""

    def __init__(self, host: ModelHost, name: str, description: Description) -> None:
        super().__init__(description)
        self._host = host
        self._name = name
        self._text = RemoteText(host, name, description)

    def embed_text(self, text: str | Sequence[str]) -> np.ndarray:
        return self._text.embed_text(text)

    def submit(self, samples: np.ndarray) -> Callable[[], Vectors]:
        future = self._host.submit({"op": "sound", "model": self._name}, samples)

        def vectors() -> Vectors:
            header, flat = self._host.wait(future, SOUND_TIMEOUT_S)
            return wire.parted(header["layout"], flat)

        return vectors
