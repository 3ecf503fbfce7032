"""LAION-CLAP: its vectors are those of another implementation, and its files are read with care."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clap_files
import numpy as np
import pytest

from foley_desktop.errors import ModelError, SilentAudioError
from foley_desktop.index.embedders import catalogue, clap, clap_checkpoint, clap_half, clap_store, host
from foley_desktop.index.embedders.clap import ClapEmbedder
from foley_desktop.index.embedders.clap_import import Architecture
from foley_desktop.index.embedders.clap_tokenizer import RobertaTokens
from foley_desktop.index.embedders.host import ModelHost

pytestmark = [pytest.mark.model, pytest.mark.filterwarnings("ignore")]

LAYERS = 1
TEXTS = ["", "a dog barks", "rain on a tin roof", "door " * 400, "雨", "door \udcff creak"]


def noise(seconds: float, rate: int = 48000, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (0.3 * rng.standard_normal(max(1, round(seconds * rate)))).astype(np.float32)


def quiet(*_: Any) -> None:
    """No one wants to know of progress."""


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def weights() -> dict[str, Any]:
    return clap_files.shared_weights()


@pytest.fixture(scope="module")
def checkpoint() -> Path:
    return clap_files.shared_checkpoint()


@pytest.fixture(scope="module")
def models(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    assert clap_store.take(quiet, file=str(checkpoint), models=str(folder)) == {"name": "clap"}
    clap_store.add_tokenizer(clap_files.write_tokenizer(folder / "given"), folder)
    return folder


@pytest.fixture(scope="module")
def embedder(models: Path) -> ClapEmbedder:
    return ClapEmbedder(models)


@pytest.fixture(scope="module")
def oracle(weights: dict[str, Any]) -> Any:
    return clap_files.oracle(weights, LAYERS)


def heard_by(oracle: Any, window: np.ndarray) -> np.ndarray:
    """The vector that transformers makes of a window of 10 s."""
    import torch
    from transformers import ClapFeatureExtractor

    make = ClapFeatureExtractor(
        truncation="rand_trunc", padding="repeatpad", frequency_min=50, frequency_max=14000
    )
    with torch.inference_mode():
        found = oracle.get_audio_features(**make(window, sampling_rate=48000, return_tensors="pt"))
    row = getattr(found, "pooler_output", found)[0].numpy()
    return row / np.linalg.norm(row)


def read_by(oracle: Any, ids: list[int]) -> np.ndarray:
    import torch

    tokens = torch.tensor([ids])
    with torch.inference_mode():
        found = oracle.get_text_features(input_ids=tokens, attention_mask=torch.ones_like(tokens))
    row = getattr(found, "pooler_output", found)[0].numpy()
    return row / np.linalg.norm(row)


# --- vectors


@pytest.mark.parametrize(
    ("seconds", "windows"),
    [
        (0.005, [(0.0, 0.005)]),
        (3.0, [(0.0, 3.0)]),
        (10.0, [(0.0, 10.0)]),
        (10.9, [(0.0, 10.0)]),
        (12.0, [(0.0, 10.0), (2.0, 12.0)]),
    ],
)
def test_sounds_equal_those_of_transformers(
    embedder: ClapEmbedder, oracle: Any, seconds: float, windows: list[tuple[float, float]]
) -> None:
    clip = noise(seconds)
    found = embedder.embed_windows(clip, 48000)
    assert [(round(w.start_s, 3), round(w.end_s, 3)) for w in found] == windows
    for window in found:
        cut = clip[round(window.start_s * 48000) : round(window.end_s * 48000)]
        assert np.abs(window.vector - heard_by(oracle, clap.prepared(cut))).max() < 1e-5
        assert np.linalg.norm(window.vector) == pytest.approx(1.0, abs=1e-6)
        assert (window.vector.shape, window.vector.dtype) == ((512,), np.float32)
    again = embedder.embed_windows(clip, 48000)
    assert all(np.array_equal(a.vector, b.vector) for a, b in zip(found, again, strict=True))
    mean = np.mean([w.vector for w in found], axis=0)
    assert np.allclose(embedder.embed_audio(clip, 48000), mean / np.linalg.norm(mean), atol=1e-6)


def test_a_minute_is_six_windows_at_any_rate(embedder: ClapEmbedder) -> None:
    clip = np.stack([noise(60.0, 8000), noise(60.0, 8000, seed=1)], axis=1)
    found = embedder.embed_windows(clip, 8000)
    assert [w[:2] for w in found] == [(10.0 * n, 10.0 * n + 10.0) for n in range(6)]
    assert all(np.isfinite(w.vector).all() for w in found)
    assert embedder.likeness.model_id == embedder.model_id


def test_different_sounds_are_told_apart(embedder: ClapEmbedder) -> None:
    tone = np.sin(np.arange(48000) * 0.05).astype(np.float32) * 0.3
    assert float(embedder.embed_audio(noise(1.0), 48000) @ embedder.embed_audio(tone, 48000)) < 0.95


@pytest.mark.parametrize(
    "clip",
    [
        np.zeros(48000, np.float32),
        np.full(48000, 2e-5, np.float32),
        np.zeros(0, np.float32),
        np.full(480, np.nan, np.float32),
        np.full(480, np.inf, np.float32),
    ],
)
def test_what_is_no_sound_is_refused(embedder: ClapEmbedder, clip: np.ndarray) -> None:
    with pytest.raises(SilentAudioError):
        embedder.embed_windows(clip, 48000)


def test_samples_are_prepared_as_in_training() -> None:
    clip = np.array([0.5, -0.5, 2.0, -2.0, 1e-6], np.float32)
    window = clap.prepared(clip)
    assert (window.shape, window.dtype) == ((480_000,), np.float32)
    assert np.array_equal(window[:5], window[479_995:])
    assert list(window[:5] * 32767) == [16383.0, -16383.0, 32767.0, -32767.0, 0.0]
    ragged = clap.prepared(noise(3.0))
    assert np.array_equal(ragged[:144_000], ragged[288_000:432_000])
    assert not ragged[432_000:].any()


def test_texts_equal_those_of_transformers(embedder: ClapEmbedder, oracle: Any, models: Path) -> None:
    found = embedder.embed_text(TEXTS)
    assert (found.shape, found.dtype) == ((len(TEXTS), 512), np.float32)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-6)
    tokens = RobertaTokens(clap_store.tokenizer_folder(models))
    for text, row in zip(TEXTS, found, strict=True):
        assert len(tokens.ids(text)) <= 77
        assert np.abs(row - read_by(oracle, tokens.ids(text))).max() < 1e-5
    assert np.array_equal(embedder.embed_text(TEXTS), found)
    assert np.array_equal(embedder.embed_text(TEXTS[1]), found[1:2])
    assert embedder.embed_text([]).shape == (0, 512)


def test_tokens_equal_those_of_transformers(models: Path) -> None:
    from transformers import RobertaTokenizer

    folder = clap_store.tokenizer_folder(models)
    theirs = RobertaTokenizer.from_pretrained(str(folder))
    ours = RobertaTokens(folder)
    for text in ["", "Hello world!", "a dog, barking  twice", "door " * 400, "雨 Regen naïve"]:
        assert ours.ids(text) == theirs(text, truncation=True, max_length=77)["input_ids"]


def test_texts_that_all_come_out_alike_are_refused(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = ClapEmbedder(models)
    monkeypatch.setattr(clap, "PARALLEL", 0.1)
    for _ in range(2):
        with pytest.raises(ModelError, match="unrelated texts nearly the same place"):
            embedder.embed_text("dog")
    assert embedder.embed_audio(noise(1.0), 48000).shape == (512,)


@pytest.mark.parametrize(
    ("ids", "said"),
    [({"Hello": 31415}, "not those of roberta-base"), ({"one more": 50265}, "not those of roberta-base")],
)
def test_another_tokenizer_is_refused(tmp_path: Path, ids: dict[str, int], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        RobertaTokens(clap_files.write_tokenizer(tmp_path, ids=ids))


def test_a_tokenizer_that_is_missing_or_broken_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"vocab.json and merges.txt missing"):
        RobertaTokens(tmp_path)
    clap_files.write_tokenizer(tmp_path)
    (tmp_path / "vocab.json").write_text("{")
    with pytest.raises(ModelError, match="cannot be read"):
        RobertaTokens(tmp_path)
    with pytest.raises(ModelError):
        clap_store.add_tokenizer(tmp_path, tmp_path / "models")
    assert not (tmp_path / "models").exists()


def test_a_device_that_is_not_there_gives_way_with_a_notice(models: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a cuda device")
    embedder = ClapEmbedder(models, device="cuda")
    assert "cuda" in embedder.notice
    assert "processor" in embedder.notice
    assert embedder.embed_audio(noise(0.5), 48000).shape == (512,)


# --- half precision


def bends(seed: int) -> np.ndarray:
    """Noise of a slowness that differs by ``seed``, which sounds more varied than white noise."""
    slow = (1, 8, 60, 400)[seed % 4]
    return np.repeat(noise(10.0 / slow, seed=seed), slow)[:480_000]


def test_half_precision_is_near_enough_and_has_an_id_of_its_own(
    embedder: ClapEmbedder, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clap_half, "processor_can", lambda: True)
    half = ClapEmbedder(models, "clap:half")
    assert half.notice == ""
    assert half.model_id == embedder.model_id + "-half"
    assert half.model_id == clap.describe(models, "clap:half").model_id
    for seed in range(4):
        full, near = (one.submit(bends(seed))()[one.model_id] for one in (embedder, half))
        assert abs(float(full @ near) - 1.0) < clap_half.TOLERANCE
        assert not np.array_equal(full, near)
        assert np.linalg.norm(near) == pytest.approx(1.0, abs=1e-6)
        assert np.array_equal(half.submit(bends(seed))()[half.model_id], near)
    assert np.array_equal(half.embed_text("a dog barks"), embedder.embed_text("a dog barks"))
    listed = {info.name: info for info in catalogue.list_models(models)}
    assert listed["clap:half"].model_id == half.model_id
    assert (listed["clap:half"].state, listed["clap:half"].size_bytes) == ("ready", 0)


def test_where_half_precision_is_not_the_same_it_stays_full(
    embedder: ClapEmbedder, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clap_half, "processor_can", lambda: True)
    monkeypatch.setattr(clap_half, "TOLERANCE", 0.0)
    half = ClapEmbedder(models, "clap:half")
    assert "other vectors" in half.notice
    assert np.array_equal(
        half.submit(bends(1))()[half.model_id], embedder.submit(bends(1))()[embedder.model_id]
    )
    monkeypatch.setattr(clap_half, "processor_can", lambda: False)
    assert "no fast half precision" in ClapEmbedder(models, "clap:half").notice
    assert "clap:half" not in {info.name for info in catalogue.list_models(models)}


def test_names_of_checkpoints_and_of_their_halves() -> None:
    assert [name for name in ("clap", "clap:half", "clap-x", "clap-x:half") if clap_store.is_name(name)]
    assert not any(map(clap_store.is_name, ("compact", "clap:quarter", "clapper", "clap:half:half", ":half")))
    assert clap_store.checkpoint_of("clap-x:half") == "clap-x"


# --- memory


def test_weights_are_let_go_of_when_another_embedder_is_in_use(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("/proc/self/maps").exists():
        pytest.skip("what a process has mapped is not to be seen here")
    monkeypatch.setattr(host, "IDLE_S", 0.3)
    with ModelHost(("hash-text",), models_folder=models) as running:
        assert running.wait_ready(60)

        def holds() -> bool:
            return clap_store.WEIGHTS in Path(f"/proc/{running.pid}/maps").read_text()

        def until(wanted: bool) -> None:
            deadline = time.monotonic() + 10
            while holds() is not wanted and time.monotonic() < deadline:
                time.sleep(0.05)
            assert holds() is wanted

        far, clip = running.embedder("clap"), noise(0.5)
        vector = far.embed_audio(clip, 48000)
        until(False)
        running.activate("clap")
        assert np.array_equal(far.embed_audio(clip, 48000), vector)
        far.embed_text("dog")
        time.sleep(1.0)
        assert holds(), "the active one stays"
        running.activate("hash")
        until(False)
        running.activate("clap")
        far.embed_text("dog")
        assert holds()
        running.forget("clap")
        until(False)


# --- files


def variants(weights: dict[str, Any]) -> dict[str, Any]:
    bare = dict(weights)
    return {
        "bare": bare,
        "state only": {"state_dict": bare},
        "wrapped": clap_files.published(weights)["state_dict"],
        "table": bare | {"text_branch.embeddings.position_ids": weights["logit_scale_a"]},
    }


@pytest.mark.parametrize("dress", ["bare", "state only", "wrapped", "table"])
def test_every_dress_of_the_same_weights_gives_the_same_embedder(
    weights: dict[str, Any], models: Path, tmp_path: Path, dress: str
) -> None:
    import torch

    torch.save(variants(weights)[dress], tmp_path / "x.pt")
    found = clap_checkpoint.read(tmp_path / "x.pt")
    assert found.architecture == Architecture("tiny", LAYERS)
    model = clap_checkpoint.network(found, "x.pt")
    digest = clap_checkpoint.write_lean(model, tmp_path / "lean.safetensors", quiet)
    assert digest == clap_store.note(models, "clap").digest


def test_the_lean_copy_is_itself_a_checkpoint_and_the_same_one(models: Path, tmp_path: Path) -> None:
    copy = shutil.copy(models / "clap" / clap_store.WEIGHTS, tmp_path / "lean copy.safetensors")
    assert clap_store.take(quiet, file=copy, models=str(models)) == {"name": "clap"}
    assert clap_store.names(models) == ["clap"]
    assert not list(models.glob(".adding*"))


def test_further_checkpoints_get_names_of_their_own(checkpoint: Path, models: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    shutil.copytree(models / "clap", folder / "clap")
    note = json.loads((folder / "clap" / "checkpoint.json").read_text())
    (folder / "clap" / "checkpoint.json").write_text(json.dumps(note | {"digest": "0" * 64}))
    assert clap_store.take(quiet, file=str(checkpoint), models=str(folder)) == {"name": "clap-630k-random"}
    assert clap_store.names(folder) == ["clap", "clap-630k-random"]
    clap_store.remove(folder, "clap-630k-random")
    assert clap_store.names(folder) == ["clap"]
    assert checkpoint.exists()


def test_the_id_follows_the_weights_and_not_their_time(models: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    shutil.copytree(models / "clap", folder / "clap")
    os.utime(folder / "clap" / clap_store.WEIGHTS, (1, 1))
    assert clap.describe(folder) == clap.describe(models)
    assert clap.describe(folder).model_id.endswith(f"-htsat-tiny-roberta{LAYERS}-{clap.PIPELINE}")
    with open(folder / "clap" / clap_store.WEIGHTS, "r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(b"\0\0\1\0")
    with pytest.raises(ModelError, match="damaged"):
        clap.describe(folder)


def test_weights_that_are_not_there_are_a_sentence(tmp_path: Path) -> None:
    for folder in (tmp_path, None):
        with pytest.raises(ModelError, match="no weights yet"):
            clap.describe(folder)


def test_a_truncated_file_is_recognised(checkpoint: Path, models: Path, tmp_path: Path) -> None:
    for source in (checkpoint, models / "clap" / clap_store.WEIGHTS):
        short = tmp_path / source.name
        with open(source, "rb") as file:
            short.write_bytes(file.read(1_000_000))
        with pytest.raises(ModelError, match="is not complete"):
            clap_checkpoint.read(short)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"RIFF" + bytes(100), "is no checkpoint"),
        (b"<!DOCTYPE html><html>", "is a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "only points"),
        (b"\x10\0\0\0\0\0\0\0{not json........", "damaged"),
    ],
)
def test_foreign_files_are_refused_with_the_reason(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "x.pt").write_bytes(content)
    with pytest.raises(ModelError, match=said):
        clap_checkpoint.read(tmp_path / "x.pt")


def test_nothing_in_a_file_is_run(tmp_path: Path) -> None:
    import pickle

    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "broken in"),)

    with zipfile.ZipFile(tmp_path / "x.pt", "w") as archive:
        archive.writestr("x/data.pkl", pickle.dumps({"state_dict": Evil()}, protocol=2))
        archive.writestr("x/version", "3")
    with pytest.raises(ModelError, match="is not opened"):
        clap_checkpoint.read(tmp_path / "x.pt")
    assert not (tmp_path / "broken in").exists()


def test_what_is_packed_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/data.pkl", bytes(1 << 20))
        archive.writestr("x/version", "3")
    with pytest.raises(ModelError, match="is not opened") as refusal:
        clap_checkpoint.read(tmp_path / "x.pt")
    assert isinstance(refusal.value.__cause__, zipfile.BadZipFile)


def spoilt(weights: dict[str, Any], how: str) -> dict[str, Any]:
    import torch

    patches = "audio_branch.patch_embed.proj.weight"
    changed = dict(weights)
    if how == "fusion":
        changed["audio_branch.patch_embed.fusion_model.local_att.0.weight"] = torch.zeros(1)
    elif how == "large":
        changed[patches] = torch.zeros(256, 1, 4, 4)
    elif how == "bert":
        changed["text_branch.embeddings.word_embeddings.weight"] = torch.zeros(30522, 768)
    elif how == "pann":
        changed = {"audio_branch.conv_block1.conv1.weight": torch.zeros(1)}
    elif how == "transformers":
        changed = {"audio_model.audio_encoder.patch_embed.proj.weight": torch.zeros(96, 1, 4, 4)}
    elif how == "other":
        changed = {"layer.weight": torch.zeros(3)}
    elif how == "lacking":
        del changed["audio_projection.2.bias"]
    elif how == "unknown":
        changed["more"] = torch.zeros(1)
    elif how == "shape":
        changed["audio_projection.2.bias"] = torch.zeros(3)
    elif how == "complex":
        changed["audio_projection.2.bias"] = torch.zeros(512, dtype=torch.complex64)
    elif how == "whole numbers":
        changed["audio_projection.2.bias"] = torch.zeros(512, dtype=torch.int64)
    elif how == "sparse":
        changed["audio_projection.2.bias"] = torch.zeros(512).to_sparse()
    elif how == "nowhere":
        changed["audio_projection.2.bias"] = torch.zeros(512, device="meta")
    return changed


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("fusion", "it is a fusion checkpoint"),
        ("large", "width of 256"),
        ("bert", "its text network is not RoBERTa"),
        ("pann", "PANN"),
        ("transformers", "format of the transformers library"),
        ("other", "no CLAP network"),
        ("lacking", r"audio_projection.2.bias is missing"),
        ("unknown", "more is unknown"),
        ("shape", r"audio_projection.2.bias has another shape"),
        ("complex", r"audio_projection.2.bias is of another kind"),
        ("whole numbers", r"audio_projection.2.bias is of another kind"),
        ("sparse", r"audio_projection.2.bias is of another kind"),
        ("nowhere", r"audio_projection.2.bias is of another kind"),
    ],
)
def test_other_networks_are_recognised_and_refused(weights: dict[str, Any], how: str, said: str) -> None:
    changed = spoilt(weights, how)
    with pytest.raises(ModelError, match=said):
        clap_checkpoint.network(
            clap_checkpoint.Checkpoint(clap_checkpoint.recognised(changed, "x.pt"), changed), "x.pt"
        )


@pytest.mark.parametrize(
    ("value", "said"), [("nan", "not numbers"), ("-inf", "not numbers"), ("-2e6", "that no training gives")]
)
def test_weights_that_cannot_be_are_refused(
    weights: dict[str, Any], tmp_path: Path, value: str, said: str
) -> None:
    bias = weights["audio_projection.2.bias"].clone()
    bias[7] = float(value)
    changed = dict(weights) | {"audio_projection.2.bias": bias}
    model = clap_checkpoint.network(clap_checkpoint.Checkpoint(Architecture("tiny", LAYERS), changed), "x.pt")
    with pytest.raises(ModelError, match=said):
        clap_checkpoint.write_lean(model, tmp_path / "lean", quiet)


# --- the package


ALONE = """
import socket, sys

def refused(*_, **__):
    raise OSError("no network")

socket.socket.connect = socket.getaddrinfo = socket.create_connection = refused
path = list(sys.path)
from pathlib import Path
from foley_desktop.index.embedders import clap, clap_checkpoint
from foley_desktop.index.embedders.clap import ClapEmbedder
from foley_desktop.errors import SilentAudioError
import numpy as np
assert "torch" not in sys.modules
models, given, out = map(Path, sys.argv[1:4])
embedder = ClapEmbedder(models)
if given.is_dir():
    for file in sorted(given.glob("*.pt")):
        own = clap_checkpoint.load(file)
        heard = embedder.submit(clap._trial())()[embedder.model_id]
        assert np.array_equal(clap._heard(own, clap._trial(), "cpu"), heard)
    rng = np.random.default_rng(5)
    made = {}
    for seconds in (0.005, 3.0, 10.0, 12.0, 60.0):
        clip = (0.3 * rng.standard_normal(round(seconds * 48000))).astype(np.float32)
        windows = embedder.embed_windows(clip, 48000)
        again = embedder.embed_windows(clip, 48000)
        assert all(np.array_equal(a.vector, b.vector) for a, b in zip(windows, again, strict=True))
        made[f"clip {seconds}"] = clip
        made[f"found {seconds}"] = np.stack([window.vector for window in windows])
    for clip in (np.zeros(48000), np.full(480, np.nan), np.zeros(0)):
        try:
            embedder.embed_windows(clip.astype(np.float32), 48000)
        except SilentAudioError:
            continue
        raise AssertionError("a vector of nothing")
    texts = ["", "dog", "rain on a tin roof", "door " * 400]
    made["texts"] = embedder.embed_text(texts)
    assert np.array_equal(embedder.embed_text(texts), made["texts"])
    np.savez(out, **made)
assert sys.path == path
foreign = {"torchvision", "h5py", "librosa", "numba", "laion_clap", "clap_module", "wandb", "pandas"}
assert not foreign & {name.partition(".")[0] for name in sys.modules}, foreign & set(sys.modules)
"""


def alone(models: Path, given: Path, *path: Path) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "TRANSFORMERS_"))}
    env["PYTHONPATH"] = os.pathsep.join([*map(str, path), *(p for p in sys.path if p)])
    env["OMP_NUM_THREADS"] = "1"
    command = [sys.executable, "-c", ALONE, str(models), str(given), str(given / "made.npz")]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=300)


def test_it_runs_alone_without_network_and_says_nothing(
    weights: dict[str, Any], models: Path, oracle: Any, tmp_path: Path
) -> None:
    """Import, building, every dress of a checkpoint, every length of sound and text, in one process."""
    import torch

    from foley_desktop.index.embedders import clap_import

    package = clap_import._package_folder().parent
    before = {path: path.stat().st_mtime_ns for path in package.rglob("*")}
    torch.save(clap_files.published(weights), tmp_path / "wrapped, with a table and numpy's numbers.pt")
    torch.save(dict(weights), tmp_path / "bare.pt")
    result = alone(models, tmp_path)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    assert {path: path.stat().st_mtime_ns for path in package.rglob("*")} == before
    made = np.load(tmp_path / "made.npz")
    tokens = RobertaTokens(clap_store.tokenizer_folder(models))
    for text, row in zip(["", "dog", "rain on a tin roof", "door " * 400], made["texts"], strict=True):
        assert np.abs(row - read_by(oracle, tokens.ids(text))).max() < 1e-5
    for seconds, starts in {0.005: [0], 3.0: [0], 10.0: [0], 12.0: [0, 2], 60.0: range(0, 60, 10)}.items():
        clip, found = made[f"clip {seconds}"], made[f"found {seconds}"]
        assert len(found) == len(starts)
        assert np.abs(np.linalg.norm(found, axis=1) - 1.0).max() < 1e-6
        for start, row in zip(starts, found, strict=True):
            window = clap.prepared(clip[start * 48000 :][:480_000])
            assert np.abs(row - heard_by(oracle, window)).max() < 1e-5


def test_a_torchvision_that_does_not_match_is_a_sentence(models: Path, tmp_path: Path) -> None:
    """Transformers imports it where Pillow is installed too."""
    packages = {
        "torchvision/__init__.py": "raise RuntimeError('operator torchvision::nms does not exist')",
        "torchvision-0.28.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: torchvision\nVersion: 0.28.0",
        "PIL/__init__.py": "__version__ = '12.0.0'",
        "PIL/Image.py": "class Image: pass\nclass Resampling: BOX = BICUBIC = BILINEAR = NEAREST = 0",
        "PIL/ImageOps.py": "",
        "pillow-12.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: pillow\nVersion: 12.0.0",
    }
    for name, text in packages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    result = alone(models, tmp_path / "nothing given", tmp_path)
    assert result.returncode == 1
    assert "The installed torchvision does not match torch" in result.stderr.splitlines()[-1]


def test_a_package_that_is_not_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    from foley_desktop.index.embedders import clap_import

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "laion_clap" else find(name)
    )
    with pytest.raises(ModelError, match="laion-clap package is not installed"):
        clap_import._package_folder()


# --- the true architecture


@pytest.mark.slow
def test_the_larger_network_of_the_music_checkpoints(tmp_path: Path) -> None:
    """It is recognised by its weights alone, and gives the vectors of transformers as well."""
    import torch

    weights = clap_files.random_weights("base", layers=LAYERS, seed=2)
    torch.save(clap_files.published(weights), tmp_path / "music.pt")
    assert clap_store.take(quiet, file=str(tmp_path / "music.pt"), models=str(tmp_path)) == {"name": "clap"}
    embedder = ClapEmbedder(tmp_path)
    assert embedder.model_id.endswith(f"-htsat-base-roberta{LAYERS}-{clap.PIPELINE}")
    vector = embedder.submit(bends(1))()[embedder.model_id]
    oracle = clap_files.oracle(weights, LAYERS, "base")
    assert np.abs(vector - heard_by(oracle, clap.prepared(bends(1)))).max() < 1e-5


@pytest.mark.slow
def test_the_whole_network_in_the_model_process(tmp_path: Path) -> None:
    """Every layer, from a published file to vectors, within its limits of memory."""
    import torch

    weights = clap_files.random_weights(layers=12, seed=1)
    torch.save(clap_files.published(weights), tmp_path / "whole.pt")
    clap_files.write_tokenizer(tmp_path)
    models = tmp_path / "models"
    assert catalogue.add_checkpoint(tmp_path / "whole.pt", models) == "clap"
    (info,) = [info for info in catalogue.list_models(models) if info.name == "clap"]
    assert info.state == "ready"
    assert info.model_id is not None
    assert info.model_id.endswith("-htsat-tiny-roberta-1")
    oracle = clap_files.oracle(weights, 12)
    del weights
    clip = noise(12.0)
    with ModelHost(("minilm", "clap"), models_folder=models) as host:
        assert host.wait_ready(300), host.error
        far = host.embedder("clap")
        assert (far.model_id, far.dim, far.rule) == (info.model_id, 512, clap.RULE)
        for text in TEXTS[:4]:
            ids = RobertaTokens(clap_store.tokenizer_folder(models)).ids(text)
            assert np.abs(far.embed_text(text)[0] - read_by(oracle, ids)).max() < 1e-5
        windows = far.embed_windows(clip, 48000)
        assert [(w.start_s, w.end_s) for w in windows] == [(0.0, 10.0), (2.0, 12.0)]
        for window in windows:
            cut = clip[round(window.start_s * 48000) :][:480_000]
            assert np.abs(window.vector - heard_by(oracle, clap.prepared(cut))).max() < 1e-5
        again = far.embed_windows(clip, 48000)
        assert all(np.array_equal(a.vector, b.vector) for a, b in zip(windows, again, strict=True))
        status = Path(f"/proc/{host.pid}/status")
        if status.exists():
            peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
            assert int(peak.split()[1]) < 1_300_000
