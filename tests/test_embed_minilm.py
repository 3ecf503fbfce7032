"""MiniLM in numpy gives what the reference implementation gives, and texts of any kind have a vector."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders import minilm, weights

TEXTS = [
    "dog bark",
    "Überlaute Türen & 日本 doors",
    "",
    "weapon " * 300,
    "cello note, sul ponticello. 3rd-take!",
    "tempest booming overhead",
]


@pytest.fixture(scope="module")
def embedder() -> minilm.MiniLMEmbedder:
    return minilm.MiniLMEmbedder()


@pytest.mark.model
def test_it_equals_the_reference_implementation(embedder: minilm.MiniLMEmbedder) -> None:
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    folder = minilm.model_files()[0].parent
    transformers.utils.logging.disable_progress_bar()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.BertModel.from_pretrained(folder).eval()
    for text, vector in zip(TEXTS, embedder.embed_text(TEXTS), strict=True):
        tokens = tokenizer(text, return_tensors="pt", truncation=True, max_length=256)
        with torch.no_grad():
            expected = model(**tokens).last_hidden_state[0].mean(dim=0).numpy()
        expected /= np.linalg.norm(expected)
        assert np.abs(vector - expected).max() < 2e-6


def test_vectors_are_rows_of_unit_length(embedder: minilm.MiniLMEmbedder) -> None:
    vectors = embedder.embed_text(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert embedder.embed_text("one").shape == (1, 384)
    assert embedder.embed_text([]).shape == (0, 384)


def test_a_vector_does_not_depend_on_its_company(embedder: minilm.MiniLMEmbedder) -> None:
    together = embedder.embed_text(TEXTS)
    fresh = minilm.MiniLMEmbedder()
    for text, vector in zip(reversed(TEXTS), reversed(together), strict=True):
        assert np.array_equal(fresh.embed_text(text)[0], vector)


def test_meaning_is_in_it(embedder: minilm.MiniLMEmbedder) -> None:
    dog, canine, rain = embedder.embed_text(["dog bark", "canine woofing", "heavy rain"])
    assert dog @ canine > dog @ rain + 0.2


@pytest.mark.parametrize("text", ["\udcff\udc80 name", "\0", "🔊" * 50, "a" * 1_000_000, " \n\t "])
def test_any_text_has_a_vector(embedder: minilm.MiniLMEmbedder, text: str) -> None:
    vector = embedder.embed_text(text)[0]
    assert np.isfinite(vector).all()
    assert abs(float(np.linalg.norm(vector)) - 1.0) < 1e-5


def test_the_id_is_known_without_loading_anything(embedder: minilm.MiniLMEmbedder) -> None:
    assert minilm.model_id() == embedder.model_id
    assert minilm.model_id().startswith("minilm-")


def test_a_vocabulary_that_is_not_its_own_is_refused(tmp_path: Path) -> None:
    _, file = minilm.model_files()
    vocabulary = json.loads(file.read_text("utf-8"))
    words = vocabulary["model"]["vocab"]
    words["hello"], words["world"] = words["world"], words["hello"]
    broken = tmp_path / "tokenizer.json"
    broken.write_text(json.dumps(vocabulary), "utf-8")
    with pytest.raises(ModelError, match="not the one"):
        minilm._load_tokenizer(broken)
    broken.write_text("{}", "utf-8")
    with pytest.raises(ModelError, match="cannot be read"):
        minilm._load_tokenizer(broken)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="A thing is not installed"):
        weights.package_file("no_such_package_at_all", "x", "A thing")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(ModelError, match="not installed"):
        weights.package_file("aisfx_gone", "models/checkpoint.pth", "The sound model")


def test_safetensors_are_read_as_their_own_library_writes_them(tmp_path: Path) -> None:
    numpy_format = pytest.importorskip("safetensors.numpy")
    arrays = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "half": np.linspace(0, 1, 5, dtype=np.float16),
        "whole": np.array([1, 2, 3], dtype=np.int64),
        "scalar": np.array(2.5, dtype=np.float32),
    }
    file = tmp_path / "some.safetensors"
    numpy_format.save_file(arrays, str(file), metadata={"format": "9"})
    read, metadata = weights.read_safetensors(file)
    assert metadata == {"format": "9"}
    assert read.keys() == arrays.keys()
    assert all(
        np.array_equal(read[name], arrays[name]) and read[name].dtype == arrays[name].dtype for name in read
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\1",
        struct.pack("<Q", 1 << 60),
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 4) + b"{bad",
        struct.pack("<Q", 55) + b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}',
        struct.pack("<Q", 54) + b'{"a":{"dtype":"XX","shape":[1],"data_offsets":[0,4]}}1234',
    ],
)
def test_damaged_weights_are_a_model_error(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "damaged.safetensors"
    file.write_bytes(content)
    with pytest.raises(ModelError, match=r"damaged\.safetensors"):
        weights.read_safetensors(file)


def test_a_fingerprint_follows_the_content(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"one")
    second.write_bytes(b"two")
    before = weights.fingerprint(first, second)
    assert before == weights.fingerprint(first, second)
    assert before != weights.fingerprint(second, first)
    second.write_bytes(b"three")
    assert before != weights.fingerprint(first, second)
    with pytest.raises(ModelError):
        weights.fingerprint(tmp_path / "missing")
