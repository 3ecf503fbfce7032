"""The model process: it answers, it dies well, it is replaced, and it never outlives its application."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from foley_desktop.errors import ModelError, SilentAudioError
from foley_desktop.index.embedders import child_process, host, remote, wire
from foley_desktop.index.embedders.hashing import HashEmbedder, HashTextEmbedder
from foley_desktop.index.embedders.host import ModelHost


def noise(seconds: float, rate: int = 48000, seed: int = 0) -> np.ndarray:
    return (0.3 * np.random.default_rng(seed).standard_normal(round(seconds * rate))).astype(np.float32)


def until(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.01)
    return true()


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


@pytest.fixture
def models() -> Iterator[ModelHost]:
    with ModelHost(("hash",)) as running:
        yield running


def test_starting_does_not_wait(models: ModelHost) -> None:
    assert models.state == "off"
    before = time.monotonic()
    models.start()
    assert time.monotonic() - before < 1.0
    assert models.state in ("loading", "ready")
    assert models.wait_ready(60)
    assert models.state == "ready"
    assert models.error is None


def test_answers_equal_those_of_the_model_itself(models: ModelHost) -> None:
    clip = noise(33.3)
    near, far = HashEmbedder(), models.embedder("hash")
    assert (far.model_id, far.dim, far.likeness.model_id) == (near.model_id, near.dim, near.likeness.model_id)
    here, there = near.embed_spaces(clip, 48000), far.embed_spaces(clip, 48000)
    assert here.keys() == there.keys()
    for space in here:
        for a, b in zip(here[space], there[space], strict=True):
            assert a[:2] == b[:2]
            assert b.vector.dtype == np.float32
            assert np.allclose(a.vector, b.vector, atol=1e-6)
    texts = ["dog", "", "door \udcff creak", "雨"] * 5
    assert np.array_equal(far.embed_text(texts), near.embed_text(texts))
    assert np.array_equal(models.text_embedder().embed_text("dog"), HashTextEmbedder().embed_text("dog"))
    assert far.embed_text([]).shape == (0, far.dim)


def test_silence_is_refused_without_asking_the_child(models: ModelHost) -> None:
    with pytest.raises(SilentAudioError):
        models.embedder("hash").embed_audio(np.zeros(480, np.float32), 48000)
    assert models.state == "off"


def test_an_array_that_must_not_be_written_to_stays_as_it_is(models: ModelHost) -> None:
    clip = noise(2.0)
    before = clip.copy()
    clip.setflags(write=False)
    models.embedder("hash").embed_audio(clip, 48000)
    assert np.array_equal(clip, before)


def test_a_killed_child_fails_the_calls_that_wait_and_is_replaced(models: ModelHost) -> None:
    assert models.wait_ready(60)
    embedder = models.embedder("hash")
    first = models.pid
    assert first is not None
    os.kill(first, signal.SIGSTOP)
    failed: list[BaseException] = []

    def call() -> None:
        try:
            embedder.embed_text("never answered")
        except ModelError as error:
            failed.append(error)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert until(lambda: models._child is not None and len(models._child._pending) == 3)
    os.kill(first, signal.SIGKILL)
    for thread in threads:
        thread.join(20)
    assert len(failed) == 3
    assert len({id(error) for error in failed}) == 3
    assert embedder.embed_text("again").shape == (1, 64)
    assert models.pid not in (None, first)


def test_a_child_that_does_not_answer_is_ended(models: ModelHost, monkeypatch: pytest.MonkeyPatch) -> None:
    assert models.wait_ready(60)
    pid = models.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(remote, "TEXT_TIMEOUT_S", 0.2)
    with pytest.raises(ModelError, match="in time"):
        models.text_embedder().embed_text("hello")
    assert until(lambda: not alive(pid))
    monkeypatch.undo()
    assert models.text_embedder().embed_text("hello").shape == (1, 64)


def test_closing_ends_everything_at_once() -> None:
    threads = set(threading.enumerate())
    models = ModelHost(("hash",))
    assert models.wait_ready(60)
    pid = models.pid
    assert pid is not None
    before = time.monotonic()
    models.close()
    assert time.monotonic() - before < 2.0
    assert not alive(pid)
    assert not Path(f"/proc/{pid}").exists()
    assert set(threading.enumerate()) == threads
    assert models.state == "off"
    models.close()
    with pytest.raises(ModelError, match="closed"):
        models.text_embedder().embed_text("too late")


def test_closing_ends_a_child_that_hangs() -> None:
    models = ModelHost(("hash",))
    assert models.wait_ready(60)
    pid = models.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    models.close(timeout=0.2)
    assert not alive(pid)


def test_closing_fails_the_calls_that_wait() -> None:
    models = ModelHost(("hash",))
    assert models.wait_ready(60)
    pid = models.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    future = models.submit({"op": "text", "model": "hash", "texts": ["x"]})
    models.close(timeout=0.2)
    with pytest.raises(ModelError):
        future.result(5)


PARENT = """
import sys, time
from foley_desktop.index.embedders.host import ModelHost
models = ModelHost(("hash",))
assert models.wait_ready(60)
print(models.pid, flush=True)
{then}
"""


@pytest.mark.parametrize("then", ["time.sleep(600)", "sys.exit(0)", "import os; os._exit(1)"])
def test_the_child_ends_when_the_application_does(then: str) -> None:
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PARENT.format(then=then)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        text=True,
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    if "sleep" in then:
        assert alive(pid)
        parent.kill()
    _, complaints = parent.communicate(timeout=30)
    assert until(lambda: not alive(pid))
    assert complaints == ""


def test_what_the_child_prints_does_not_reach_the_protocol_or_our_output(
    models: ModelHost, capfd: pytest.CaptureFixture[str]
) -> None:
    models.embedder("hash").embed_audio(noise(1.0), 48000)
    models.close()
    assert capfd.readouterr() == ("", "")


def test_models_that_cannot_load_are_reported_and_tried_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", "import sys; sys.stderr.write('no such library'); sys.exit(3)"]
    monkeypatch.setattr(host, "child_command", lambda: command)
    monkeypatch.setattr(host, "_RETRY_AFTER_S", 60.0)
    with ModelHost(("hash",)) as models:
        assert not models.wait_ready(60)
        assert models.state == "failed"
        assert models.error is not None
        assert "no such library" in models.error.details()
        with pytest.raises(ModelError):
            models.text_embedder().embed_text("x")
        monkeypatch.undo()
        monkeypatch.setattr(host, "_RETRY_AFTER_S", 0.0)
        assert models.wait_ready(60)
        assert models.error is None


def test_an_interpreter_that_is_not_there_is_a_model_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with ModelHost(("hash",)) as models:
        assert not models.wait_ready(1)
        assert models.state == "failed"
        with pytest.raises(ModelError):
            models.text_embedder().embed_text("x")


def test_many_threads_may_ask_at_once(models: ModelHost) -> None:
    embedder, near = models.embedder("hash"), HashEmbedder()
    wrong: list[object] = []

    def ask(number: int) -> None:
        try:
            for turn in range(10):
                text = f"thread {number} turn {turn}"
                if not np.array_equal(embedder.embed_text(text), near.embed_text(text)):
                    wrong.append(text)
            clip = noise(12.0, seed=number)
            if not np.allclose(embedder.embed_audio(clip, 48000), near.embed_audio(clip, 48000), atol=1e-6):
                wrong.append(number)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_query_overtakes_batches_of_texts(models: ModelHost) -> None:
    assert models.wait_ready(60)
    order: list[str] = []
    batch = [models.submit({"op": "text", "model": "hash", "texts": ["w " * 2000] * 4}) for _ in range(60)]
    query = models.submit({"op": "text", "model": "hash", "texts": ["dog"], "urgency": 0})
    for name, future in [("query", query), ("last of the batch", batch[-1])]:
        future.add_done_callback(lambda _, name=name: order.append(name))
    batch[-1].result(60)
    assert order == ["query", "last of the batch"]


def test_an_idle_child_uses_no_processor(models: ModelHost) -> None:
    assert models.wait_ready(60)
    models.embedder("hash").embed_audio(noise(1.0), 48000)

    def ticks() -> int:
        fields = Path(f"/proc/{models.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    time.sleep(0.2)
    before = ticks()
    time.sleep(1.0)
    assert ticks() - before <= 1


def test_no_file_stays_open() -> None:
    def files() -> int:
        return len(os.listdir("/proc/self/fd"))

    with ModelHost(("hash",)) as warm:
        assert warm.wait_ready(60)
    gc.collect()
    before = files()
    for _ in range(3):
        with ModelHost(("hash",)) as models:
            assert models.wait_ready(60)
    assert files() == before


def test_a_module_in_the_current_folder_does_not_shadow_the_childs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "numpy", "queue"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('shadowed')\n")
    monkeypatch.chdir(tmp_path)
    with ModelHost(("hash",)) as models:
        assert models.wait_ready(60)


def test_messages_survive_the_pipe() -> None:
    reading, writing = os.pipe()
    numbers = np.arange(100_000, dtype=np.float32)
    sender = threading.Thread(target=wire.send, args=(writing, wire.pack({"a": "\udcff é"}, numbers)))
    sender.start()
    header, got = wire.receive(reading)
    sender.join()
    os.close(writing)
    assert header == {"a": "\udcff é"}
    assert np.array_equal(got, numbers)
    with pytest.raises(wire.Closed):
        wire.receive(reading)
    os.close(reading)


@pytest.mark.parametrize("junk", [b"", b"\0", b"\xff" * 64, b"\4\0\0\0\0\0\0\0[1]!", b"\2\0\0\0\0\0\0\0[]"])
def test_junk_is_no_message(junk: bytes) -> None:
    reading, writing = os.pipe()
    os.write(writing, junk)
    os.close(writing)
    with pytest.raises(wire.Closed):
        wire.receive(reading)
    os.close(reading)


def test_vectors_join_and_part() -> None:
    vectors = {"a": np.arange(3, dtype=np.float32), "b": np.arange(5, dtype=np.float32)}
    layout, flat = wire.joined(vectors)
    parted = wire.parted(layout, flat)
    assert parted.keys() == vectors.keys()
    assert all(np.array_equal(parted[key], vectors[key]) for key in vectors)


def test_a_frozen_application_starts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert host.child_command() == [sys.executable, host.CHILD_FLAG]


@pytest.mark.skipif(os.name != "posix", reason="the launcher is a shell script")
def test_a_frozen_application_is_its_own_model_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "foley-desktop"
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    launcher.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" -m foley_desktop "$@"\n')
    launcher.chmod(0o755)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(launcher))
    with ModelHost(("hash-text",)) as models:
        assert models.wait_ready(60), models.error
        assert models.text_embedder().embed_text("dog").shape[0] == 1


def test_another_device_takes_another_process(models: ModelHost) -> None:
    with ModelHost(("hash-text",)) as own:
        assert own.wait_ready(60)
        first = own.pid
        own.move_to("cpu")
        assert own.pid == first, "nothing changes"
        own.move_to("cuda")
        assert own.text_embedder().embed_text("dog").shape[0] == 1
        assert own.pid != first and own.device == "cuda"


def test_errors_told_by_the_child_keep_their_kind() -> None:
    told = {"kind": "silent", "sentence": "Nothing there.", "hint": "", "detail": ""}
    assert isinstance(child_process._rebuilt(told), SilentAudioError)
    error = child_process._rebuilt(told | {"kind": "model", "detail": "Traceback: somewhere"})
    assert isinstance(error, ModelError)
    assert "somewhere" in error.details()
