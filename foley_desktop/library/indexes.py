"""The derived indexes of one library, opened when first needed.

Four of them: ``keyword`` (Tantivy), ``semantic`` (each clip's own words as a vector), ``audio`` (the
joint space of text and sound) and ``likeness`` (the sound-only space of an embedder that carries
one, else the joint space again). Opening is lazy because LanceDB alone takes seconds to import and
a rescan of an unchanged folder needs none of it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from foley_desktop.errors import IndexStoreError, ModelError
from foley_desktop.index.embedders.host import Models
from foley_desktop.index.embedders.spaces import Description
from foley_desktop.settings import DataFolder

if TYPE_CHECKING:
    from foley_desktop.index.keywords import KeywordIndex
    from foley_desktop.index.vectors import LanceVectorIndex


class Handles:
    """What is open of the indexes of one library."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.keywords: KeywordIndex | None = None
        self.vectors: dict[str, LanceVectorIndex] = {}


class Indexes:
    """Handles on the derived indexes of ``data`` for the embedder ``embedder_name``.

    Thread-safe. The handles are shared by reader and writer threads; each index takes care of its
    own consistency.
    """

    def __init__(
        self, data: DataFolder, models: Models, embedder_name: str, handles: Handles | None = None
    ) -> None:
        self._data = data
        self._models = models
        self.embedder_name = embedder_name
        self._handles = handles or Handles()

    def of(self, embedder_name: str) -> Indexes:
        """The same indexes as another embedder sees them; what is open is shared, and closed with these."""
        return Indexes(self._data, self._models, embedder_name, self._handles)

    def describe(self) -> Description:
        """Ids and sizes of the active embedder, known without starting a model."""
        return self._models.describe(self.embedder_name)

    def describe_text(self) -> Description:
        """Ids and sizes of the text embedder behind the ``semantic`` index."""
        return self._models.describe_text()

    @property
    def hears_words(self) -> bool:
        """Whether texts and sounds have to do with one another in the joint space; hashed they have not."""
        return self.embedder_name != "hash"

    @property
    def sure_cosine(self) -> float | None:
        """The cosine between a text and a sound at which the active embedder is sure; None if not known.

        Of compact it is the mean of the best cosines of the development queries, each found by a bridge that
        was trained without the package that was found.
        """
        return 0.15 if self.embedder_name == "compact" else None

    def state(self) -> tuple[int, ...] | None:
        """Numbers that change with every writing to the indexes a query is answered from; None if one is
        damaged, or the embedder of sounds is not there."""
        try:
            return self.keyword.version(), self.semantic.version(), self.audio.version()
        except (IndexStoreError, ModelError):
            return None

    def deaf(self) -> ModelError | None:
        """Why there is nothing to be found by sound: the active embedder's weights are gone or damaged."""
        try:
            self.describe()
        except ModelError as error:
            return error
        return None

    def version(self, index_name: str) -> str:
        """What the bookkeeping calls the state of an index: a change of it makes all clips pending."""
        if index_name == "keyword":
            from foley_desktop.index.keywords import SCHEMA_VERSION
            from foley_desktop.library.text import DOCUMENT_VERSION

            return f"keyword-{SCHEMA_VERSION}/{DOCUMENT_VERSION}"
        if index_name == "semantic":
            from foley_desktop.library.text import TEXT_VERSION

            return f"{self.describe_text().model_id}/{TEXT_VERSION}"
        description = self.describe()
        if index_name == "audio":
            return description.model_id
        return description.likeness_model_id or description.model_id

    @property
    def keyword(self) -> KeywordIndex:
        handles = self._handles
        with handles.lock:
            if handles.keywords is None:
                from foley_desktop.index.keywords import KeywordIndex

                handles.keywords = KeywordIndex(self._data.keywords)
            return handles.keywords

    @property
    def semantic(self) -> LanceVectorIndex:
        text = self.describe_text()
        return self._vector("semantic-" + text.model_id, text.dim)

    @property
    def audio(self) -> LanceVectorIndex:
        description = self.describe()
        return self._vector(description.model_id, description.dim)

    @property
    def likeness(self) -> LanceVectorIndex:
        description = self.describe()
        if description.likeness_model_id is None or description.likeness_dim is None:
            return self.audio
        return self._vector(description.likeness_model_id, description.likeness_dim)

    def _vector(self, model_id: str, dim: int) -> LanceVectorIndex:
        vectors = self._handles.vectors
        with self._handles.lock:
            if model_id not in vectors:
                from foley_desktop.index.vectors import LanceVectorIndex

                vectors[model_id] = LanceVectorIndex(self._data.vectors, model_id, dim)
            return vectors[model_id]

    def close(self) -> None:
        """Closes what was opened."""
        handles = self._handles
        with handles.lock:
            for vectors in handles.vectors.values():
                vectors.close()
            handles.vectors.clear()
            if handles.keywords is not None:
                handles.keywords.close()
                handles.keywords = None
