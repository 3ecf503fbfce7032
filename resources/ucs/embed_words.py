"""Makes ``words.npz``: the vectors of all phrases of ``words.tsv``, so that no user waits for them.

Run after every change of ``words.tsv`` or of the text model:  python resources/ucs/embed_words.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library.category_words import packed, phrases, version


def main() -> None:
    models = InProcessModels(("minilm",))
    embedder = models.text_embedder()
    texts = [phrase.text for phrase in phrases()]
    vectors = np.concatenate([embedder.embed_text(texts[at : at + 64]) for at in range(0, len(texts), 64)])
    target = Path(__file__).with_name("words.npz")
    np.savez_compressed(target, vectors=packed(vectors), model_id=embedder.model_id, version=version())
    print(f"{target}: {vectors.shape[0]} phrases, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
