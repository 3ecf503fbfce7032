"""The embedder without a model keeps every promise of the protocol but meaning."""

from __future__ import annotations

import numpy as np
import pytest

from foley_desktop.errors import ModelError, SilentAudioError
from foley_desktop.index.embedders import registry
from foley_desktop.index.embedders.hashing import HashEmbedder, HashTextEmbedder
from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.index.protocols import Embedder, TextEmbedder


def tone(hz: float, seconds: float = 1.0, rate: int = 48000) -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


def test_it_is_an_embedder() -> None:
    assert isinstance(HashEmbedder(), Embedder)
    assert isinstance(HashTextEmbedder(), TextEmbedder)


@pytest.mark.parametrize("text", ["dog", ["dog"], ["dog", "", "\udcff", "a " * 5000]])
def test_text_vectors_are_rows_of_unit_length(text: str | list[str]) -> None:
    vectors = HashEmbedder().embed_text(text)
    assert vectors.dtype == np.float32
    assert vectors.shape == (1 if isinstance(text, str) else len(text), 64)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_no_text_gives_no_rows() -> None:
    assert HashEmbedder().embed_text([]).shape == (0, 64)


def test_texts_that_share_a_stem_are_near() -> None:
    dog, dogs, rain = HashTextEmbedder().embed_text(["dog barking", "dogs bark", "heavy rain"])
    assert dog @ dogs > 0.99
    assert abs(dog @ rain) < 0.6


def test_like_sounds_are_near_in_the_likeness_space() -> None:
    likeness = HashEmbedder().likeness
    low, low_too, high = (likeness.embed_audio(tone(hz), 48000) for hz in (200.0, 205.0, 6000.0))
    assert low @ low_too > low @ high


def test_one_run_gives_both_spaces() -> None:
    embedder = HashEmbedder()
    clip = tone(300.0, 32.0)
    spaces = embedder.embed_spaces(clip, 48000)
    assert set(spaces) == {embedder.model_id, embedder.likeness.model_id}
    for space, dim in (
        (embedder.model_id, embedder.dim),
        (embedder.likeness.model_id, embedder.likeness.dim),
    ):
        windows = spaces[space]
        assert [(w.start_s, w.end_s) for w in windows] == [(0, 10), (10, 20), (20, 30), (22, 32)]
        assert all(w.vector.shape == (dim,) and w.vector.dtype == np.float32 for w in windows)
    for a, b in zip(embedder.embed_windows(clip, 48000), spaces[embedder.model_id], strict=True):
        assert np.array_equal(a.vector, b.vector)


def test_a_quiet_tail_far_below_the_rest_is_left_out() -> None:
    clip = np.concatenate([tone(300.0, 20.0, 44100), tone(300.0, 10.0, 44100) * np.float32(1e-4)])
    assert len(HashEmbedder().embed_windows(clip, 44100)) == 2


def test_silence_is_refused() -> None:
    with pytest.raises(SilentAudioError):
        HashEmbedder().embed_audio(np.zeros(48000, np.float32), 48000)


def test_in_process_models_look_like_a_host() -> None:
    models = InProcessModels(("hash",))
    assert models.state == "off"
    assert models.wait_ready(1.0)
    assert models.state == "ready"
    described = models.describe("hash")
    embedder = models.embedder("hash")
    assert (embedder.model_id, embedder.dim) == described[:2]
    assert (embedder.likeness.model_id, embedder.likeness.dim) == described[2:4]
    assert models.text_embedder().model_id == models.describe("hash-text").model_id
    models.close()
    assert models.state == "off"


def test_an_unknown_model_is_named() -> None:
    with pytest.raises(ModelError, match="no model called nonsense"):
        registry.describe("nonsense")
