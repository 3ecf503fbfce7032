"""Nearest windows: exact to the last tie, whatever filter, history, size or damage."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from foley_desktop.errors import IndexStoreError
from foley_desktop.index.protocols import VectorIndex, Window, WindowHit
from foley_desktop.index.vector_readers import cosines
from foley_desktop.index.vectors import LanceVectorIndex, is_id, table_name, tables

REPOSITORY = Path(__file__).resolve().parent.parent
DIM = 8
Clips = dict[str, list[Window]]


@pytest.fixture(params=["memory", "disk"])
def index(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LanceVectorIndex]:
    memory_bytes = 2**28 if request.param == "memory" else 0
    vectors = LanceVectorIndex(tmp_path / "vectors", "test-model", DIM, memory_bytes=memory_bytes)
    yield vectors
    vectors.close()


def axis(number: int, dim: int = DIM) -> np.ndarray:
    return np.eye(dim, dtype=np.float32)[number]


def one(vector: np.ndarray, start_s: float = 0.0, end_s: float = 1.0) -> list[Window]:
    return [Window(start_s, end_s, vector)]


def unit_rows(count: int, dim: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def clip_id(number: int) -> str:
    return f"{number * 2654435761 % 2**32:08x}-{number % 3}"


def made_up(count: int, dim: int = DIM, seed: int = 0) -> Clips:
    """Clips of one to three windows, among them exact copies of earlier clips."""
    rng = random.Random(seed)
    rows = unit_rows(3 * count, dim, seed)
    clips: Clips = {}
    for number in range(count):
        windows = [
            Window(10.0 * i, 10.0 * i + 10, rows[3 * number + i]) for i in range(rng.choice([1, 1, 2, 3]))
        ]
        if number % 5 == 4:
            windows = clips[clip_id(number - rng.randint(1, 4))]
        clips[clip_id(number)] = windows
    return clips


def by_hand(clips: Clips, query: np.ndarray, k: int, within: set[str] | None = None) -> list[WindowHit]:
    """What has to come out, one window at a time."""
    hits = []
    for clip, windows in clips.items():
        if within is None or clip in within:
            scored = []
            for window in windows:
                vector, asked = window.vector.astype(np.float64), query.astype(np.float64)
                cosine = (vector * asked).sum() / np.linalg.norm(vector) / np.linalg.norm(asked)
                scored.append((-round(float(cosine), 6), window.start_s, window.end_s))
            score, start, end = min(scored)
            hits.append(WindowHit(clip, -score + 0.0, start, end))
    hits.sort(key=lambda hit: (-hit.score, hit.clip_id))
    return hits[:k]


# ---------------------------------------------------------------- what is found


def test_it_is_a_vector_index(index: LanceVectorIndex) -> None:
    assert isinstance(index, VectorIndex)
    assert index.knn(axis(0), 5) == []
    assert index.ids() == set() and index.count() == 0
    assert index.get_vectors("a") == [] and index.mean_vector("a") is None
    index.delete(["a"])
    index.optimize()


def test_the_best_window_of_each_clip(index: LanceVectorIndex) -> None:
    index.upsert("a", [Window(0, 10, axis(0)), Window(10, 20, axis(1)), Window(20, 30, axis(1))])
    index.upsert("b", one((axis(0) + axis(1)) / np.float32(2**0.5), 3, 4))
    assert index.knn_windows(axis(1), 5) == [
        WindowHit("a", 1.0, 10.0, 20.0),
        WindowHit("b", 0.707107, 3.0, 4.0),
    ]
    assert index.knn(-axis(0), 5) == [("a", 0.0), ("b", -0.707107)]
    assert index.best_windows(axis(0), ["b", "zz"]) == {"b": WindowHit("b", 0.707107, 3.0, 4.0)}
    assert index.best_windows(axis(0), []) == {}


def test_windows_of_many_clips_at_once(index: LanceVectorIndex) -> None:
    clips = made_up(40)
    index.upsert_many(clips)
    wanted = [*list(clips)[::3], "never there", "no id!"]
    found = index.get_many(wanted)
    assert set(found) == set(wanted) & set(clips)
    for clip, windows in found.items():
        assert [w[:2] for w in windows] == [w[:2] for w in clips[clip]]
        assert np.allclose([w.vector for w in windows], [w.vector for w in clips[clip]])
    assert index.get_many([]) == {}


def test_every_writing_changes_the_version(index: LanceVectorIndex) -> None:
    versions = [index.version()]
    for change in (lambda: index.upsert("a", one(axis(0))), lambda: index.upsert("a", one(axis(1)))):
        change()
        versions.append(index.version())
    index.delete(["a"])
    assert len({*versions, index.version()}) == 4


def test_clips_are_counted_not_windows(index: LanceVectorIndex) -> None:
    index.upsert("long", [Window(i, i + 1, axis(0)) for i in range(500)])
    index.upsert("short", one(axis(1)))
    assert [clip for clip, _ in index.knn(axis(0), 2)] == ["long", "short"]
    assert index.count() == 501


def test_vectors_come_back_in_time_order(index: LanceVectorIndex) -> None:
    index.upsert("a", [Window(10, 20, axis(1)), Window(0, 10, axis(0))])
    first, second = index.get_vectors("a")
    assert (first.start_s, first.end_s, second.start_s) == (0.0, 10.0, 10.0)
    assert first.vector.dtype == np.float32 and np.array_equal(first.vector, axis(0))
    mean = index.mean_vector("a")
    assert mean is not None and mean.dtype == np.float32
    assert np.allclose(mean, (axis(0) + axis(1)) / 2**0.5)
    index.upsert("none", [Window(0, 1, axis(0)), Window(1, 2, -axis(0))])
    assert index.mean_vector("none") is None


def test_a_clip_is_replaced_whole(index: LanceVectorIndex) -> None:
    index.upsert("a", [Window(0, 10, axis(0)), Window(10, 20, axis(1))])
    index.upsert("a", one(axis(2)))
    assert index.count() == 1
    assert index.knn(axis(1), 5) == [("a", 0.0)]
    index.delete(["a", "never there", "no' OR 1=1 --"])
    assert index.ids() == set()


def test_cosines_of_any_length(index: LanceVectorIndex) -> None:
    index.upsert("a", one(axis(0) * 40))
    assert index.knn(axis(0) * 1e-3, 1) == [("a", 1.0)]
    (window,) = index.get_vectors("a")
    assert np.linalg.norm(window.vector) == pytest.approx(1.0)
    assert index.knn(axis(0)[np.newaxis], 1) == [("a", 1.0)]


# ---------------------------------------------------------------- what is refused

BAD = {
    "nan": np.full(DIM, np.nan, np.float32),
    "infinite": np.full(DIM, np.inf, np.float32),
    "zero": axis(0) * 0,
    "short": axis(0)[:4],
    "square": np.eye(DIM, dtype=np.float32),
}


def test_bad_vectors_are_refused_and_the_rest_is_kept(index: LanceVectorIndex) -> None:
    index.upsert("nan", one(axis(3)))
    batch = {"good": one(axis(0)), **{name: one(vector) for name, vector in BAD.items()}}
    batch |= {
        "mixed": [Window(0, 1, axis(1)), Window(1, 2, axis(1) * np.nan)],
        "empty": [],
        "fine": one(axis(2)),
    }
    assert index.upsert_many(batch) == [*BAD, "mixed", "empty"]
    assert index.ids() == {"good", "fine", "nan"}
    assert index.knn(axis(3), 1) == [("nan", 1.0)]


@pytest.mark.parametrize("name", BAD)
def test_one_bad_vector_is_an_error(index: LanceVectorIndex, name: str) -> None:
    with pytest.raises(ValueError, match="vector"):
        index.upsert("a", one(BAD[name]))


@pytest.mark.parametrize("name", ["nan", "infinite", "short", "square"])
def test_a_bad_query_is_an_error(index: LanceVectorIndex, name: str) -> None:
    index.upsert("a", one(axis(0)))
    with pytest.raises(ValueError, match="query vector"):
        index.knn(BAD[name], 3)


def test_a_zero_query_is_near_to_nothing(index: LanceVectorIndex) -> None:
    index.upsert("a", one(axis(0)))
    assert index.knn(axis(0) * 0, 3) == []
    assert index.knn(axis(0), 0) == index.knn(axis(0), -1) == []


@pytest.mark.parametrize("text", ["x' OR 1=1 --", "don't", "a b", "", "ä", 'a"b', "a\n", "a" * 300])
def test_ids_that_would_need_quoting_never_reach_a_predicate(index: LanceVectorIndex, text: str) -> None:
    assert not is_id(text)
    index.upsert("a", one(axis(0)))
    assert index.upsert_many({text: one(axis(1))}) == [text]
    index.delete([text])
    assert index.knn(axis(0), 3, where={"clip_id": [text]}) == []
    assert index.get_vectors(text) == []
    assert index.ids() == {"a"}


def test_filters_of_nothing_and_of_other_things(index: LanceVectorIndex) -> None:
    index.upsert("a", one(axis(0)))
    assert index.knn(axis(0), 3, where={"clip_id": []}) == []
    assert index.knn(axis(0), 3, where={"clip_id": iter(())}) == []  # type: ignore[dict-item]
    assert index.knn(axis(0), 3, where={}) == [("a", 1.0)]
    with pytest.raises(ValueError, match="clip_id"):
        index.knn(axis(0), 3, where={"rating": ["5"]})


# ---------------------------------------------------------------- order, exactness, filters


def test_insertion_order_and_history_leave_no_trace(tmp_path: Path) -> None:
    clips = made_up(200)
    queries = [*unit_rows(4, DIM, seed=1), clips[clip_id(3)][0].vector, clips[clip_id(8)][0].vector]
    names = list(clips)
    for number, memory_bytes in enumerate((2**28, 0, 2**28, 0)):
        random.Random(number).shuffle(names)
        index = LanceVectorIndex(tmp_path / str(number), "m", DIM, memory_bytes=memory_bytes)
        index.upsert_many({name: one(axis(5)) for name in names[:50]})
        for start in range(0, len(names), 60):
            index.upsert_many({name: clips[name] for name in names[start : start + 60]})
        index.upsert_many(made_up(20, seed=9) | {"x": one(axis(0))})
        index.upsert_many({name: clips[name] for name in made_up(20, seed=9)})
        index.delete(["x"])
        if number > 1:
            index.optimize()
        for query in queries:
            for k in (1, 2, 3, 7, 50, 199, 200, 1000):
                assert index.knn_windows(query, k) == by_hand(clips, query, k)
        index.close()


def test_ties_at_the_cut_are_read_to_their_end(tmp_path: Path) -> None:
    names = [f"{number:04x}" for number in range(700)]
    shuffled = names[:]
    random.Random(2).shuffle(shuffled)
    vector = unit_rows(1, DIM, seed=3)[0]
    for memory_bytes in (2**28, 0):
        index = LanceVectorIndex(tmp_path / str(memory_bytes), "m", DIM, memory_bytes=memory_bytes)
        index.upsert_many({name: one(vector) for name in shuffled})
        assert [name for name, _ in index.knn(axis(0), 5)] == names[:5]
        some = names[3::2]
        assert [name for name, _ in index.knn(axis(0), 5, where={"clip_id": some})] == some[:5]
        index.close()


@pytest.mark.parametrize("dim", [1, 7, 8, 64, 384, 512])
def test_a_cosine_depends_on_its_row_alone(dim: int) -> None:
    rows, query = unit_rows(301, dim), unit_rows(1, dim, seed=1)[0].astype(np.float64)
    together = cosines(rows, query)
    assert all(np.array_equal(cosines(rows[i : i + 1], query), together[i : i + 1]) for i in range(301))
    assert np.array_equal(cosines(rows[::-1], query), together[::-1])


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray, list[str]]:
    """20,000 clips of one window of 64 dimensions."""
    folder = tmp_path_factory.mktemp("crowd")
    rows = unit_rows(20_000, 64)
    names = [clip_id(number) for number in range(len(rows))]
    index = LanceVectorIndex(folder, "crowd", 64)
    assert index.upsert_many(dict(zip(names, map(one, rows), strict=True))) == []
    index.close()
    return folder, rows, names


@pytest.mark.parametrize("memory_bytes", [2**28, 0])
@pytest.mark.parametrize("share", [0.0001, 0.04, 0.06, 0.5, 1.0])
def test_a_filter_is_exact_at_any_share(
    crowd: tuple[Path, np.ndarray, list[str]], share: float, memory_bytes: int
) -> None:
    folder, rows, names = crowd
    index = LanceVectorIndex(folder, "crowd", 64, memory_bytes=memory_bytes)
    for seed in range(3):
        query = unit_rows(1, 64, seed=100 + seed)[0].astype(np.float64)
        passing = set(random.Random(seed).sample(names, max(1, round(share * len(names)))))
        scores = np.round(rows.astype(np.float64) @ query, 6)
        ranked = sorted(zip(-scores, names, strict=True))
        expected = [(name, pytest.approx(-score, abs=2e-6)) for score, name in ranked if name in passing]
        assert index.knn(query, 50, where={"clip_id": frozenset(passing)}) == expected[:50]
        assert index.knn(query, 50, where={"clip_id": [*passing, "unknown"]}) == expected[:50]
    index.close()


def clustered(count: int, dim: int) -> np.ndarray:
    """Rows as libraries have them: many takes of one thing, few directions in all."""
    rng = np.random.default_rng(5)
    centres = rng.standard_normal((count // 40, dim))
    spread = rng.standard_normal((count, 24)) @ rng.standard_normal((24, dim)) / 5
    rows = 0.6 * centres[rng.integers(0, len(centres), count)] + 0.8 * spread
    rows += 0.3 * rng.standard_normal((count, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def approximate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LanceVectorIndex, Clips]]:
    """6,000 clips of two windows behind an approximate index that knows the first 5,500."""
    rows = clustered(12_000, 32)
    clips = {clip_id(i): [Window(0, 1, rows[2 * i]), Window(1, 2, rows[2 * i + 1])] for i in range(6000)}
    names = list(clips)
    folder = tmp_path_factory.mktemp("approximate")
    index = LanceVectorIndex(folder, "m", 32, memory_bytes=0, approximate_above=5000)
    index.upsert_many({name: clips[name] for name in names[:5500]})
    index.optimize()
    index.upsert_many({name: clips[name] for name in names[5500:]})
    yield index, clips
    index.close()


@pytest.mark.parametrize("share", [None, 0.0005, 0.04, 0.4, 0.9])
def test_an_approximate_index_misses_little_and_nothing_behind_a_narrow_filter(
    approximate: tuple[LanceVectorIndex, Clips], share: float | None
) -> None:
    index, clips = approximate
    everything = LanceVectorIndex(index.folder, "m", 32)
    missed = 0
    for seed in range(8):
        query = clips[clip_id(seed * 700)][0].vector + unit_rows(1, 32, seed)[0] * 0.5
        where = None
        if share is not None:
            where = {"clip_id": random.Random(seed).sample(sorted(clips), round(share * len(clips)))}
        exact = everything.knn_windows(query, 50, where=where)
        near = index.knn_windows(query, 50, where=where)
        assert len(near) == len(exact)
        missed += len({hit.clip_id for hit in exact} - {hit.clip_id for hit in near})
        if share is not None and share < 0.05:
            assert near == exact
    assert missed <= 0.02 * 8 * 50
    everything.close()


def test_clips_written_after_the_index_was_built_are_found(
    approximate: tuple[LanceVectorIndex, Clips],
) -> None:
    index, clips = approximate
    for number in (0, 5400, 5600, 5999):
        window = clips[clip_id(number)][1]
        assert index.knn_windows(window.vector, 1) == [WindowHit(clip_id(number), 1.0, 1.0, 2.0)]
    assert index.ids() == set(clips)


# ---------------------------------------------------------------- spaces


def test_spaces_are_never_mixed(tmp_path: Path) -> None:
    first = LanceVectorIndex(tmp_path, "model one", DIM)
    second = LanceVectorIndex(tmp_path, "model two", 4)
    first.upsert("a", one(axis(0)))
    second.upsert_many({"b": one(axis(0, 4)), "c": one(axis(1, 4))})
    assert first.ids() == {"a"} and second.ids() == {"b", "c"}
    assert tables(tmp_path) == [("model one", DIM, 1), ("model two", 4, 2)]
    assert tables(tmp_path / "nowhere") == []
    with pytest.raises(IndexStoreError):
        LanceVectorIndex(tmp_path, "model one", 9).ids()
    first.drop()
    assert first.ids() == set() and second.ids() == {"b", "c"}


def test_small_writes_do_not_pile_up(tmp_path: Path) -> None:
    index = LanceVectorIndex(tmp_path, "m", DIM)
    for number in range(40):
        index.upsert(clip_id(number), one(axis(number % DIM)))
    index.delete([clip_id(3)])
    index.optimize()
    folder = tmp_path / f"{table_name('m')}.lance"
    assert len(list((folder / "_versions").glob("*.manifest"))) == 1
    assert len(list((folder / "data").iterdir())) == 1
    assert index.count() == 39


def test_a_batch_is_one_version(tmp_path: Path) -> None:
    index = LanceVectorIndex(tmp_path, "m", DIM)
    index.upsert_many({clip_id(n): one(axis(n % DIM)) for n in range(300)})
    assert len(list(tmp_path.glob("*/_versions/*.manifest"))) == 2


# ---------------------------------------------------------------- writers, readers, damage


def test_every_handle_sees_what_was_written(index: LanceVectorIndex) -> None:
    other = LanceVectorIndex(index.folder, "test-model", DIM)
    assert other.ids() == set()
    index.upsert("a", one(axis(0)))
    assert other.ids() == {"a"}
    other.upsert("b", one(axis(1)))
    other.optimize()
    assert index.knn(axis(1), 1) == [("b", 1.0)]
    index.drop()
    assert other.ids() == set()
    other.close()


def test_searches_go_on_while_another_thread_writes_and_tidies(tmp_path: Path) -> None:
    clips = made_up(240)
    names = list(clips)
    writer = LanceVectorIndex(tmp_path, "m", DIM)
    writer.upsert_many({name: clips[name] for name in names[:40]})
    errors: list[BaseException] = []
    done = threading.Event()

    def read(reader: LanceVectorIndex) -> None:
        try:
            while not done.is_set():
                assert len(reader.knn(axis(0), 10)) == 10
                assert reader.get_vectors(names[0])
        except BaseException as error:
            errors.append(error)

    readers = [writer, LanceVectorIndex(tmp_path, "m", DIM, memory_bytes=0)]
    threads = [threading.Thread(target=read, args=[reader]) for reader in readers]
    for thread in threads:
        thread.start()
    for start in range(40, 240, 25):
        writer.upsert_many({name: clips[name] for name in names[start : start + 25]})
        writer.delete([names[start]])
        writer.optimize()
    done.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(writer.ids()) == 232


WRITE_FOREVER = """
import sys
from pathlib import Path
import numpy as np
from foley_desktop.index.protocols import Window
from foley_desktop.index.vector_readers import cosines
from foley_desktop.index.vectors import LanceVectorIndex
index = LanceVectorIndex(Path(sys.argv[1]), "m", 64)
rows = np.random.default_rng(0).standard_normal((2000, 64))
for batch in range(10_000):
    index.upsert_many({f"{batch % 7:04x}-{n}": [Window(0, 1, row)] for n, row in enumerate(rows)})
    print(batch, flush=True)
"""


def test_a_writer_killed_in_the_middle_leaves_a_table_that_opens(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    for seed in range(3):
        command = [sys.executable, "-c", WRITE_FOREVER, str(tmp_path)]
        writer = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        for _ in range(2 + seed):
            assert writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        index = LanceVectorIndex(tmp_path, "m", 64)
        assert len(index.ids()) >= 4000
        index.upsert("after", one(axis(0, 64)))
        index.optimize()
        assert index.knn(axis(0, 64), 1) == [("after", 1.0)]
        index.delete(["after"])
        index.close()


@pytest.mark.parametrize("pattern", ["_versions/*.manifest", "data/*.lance"])
@pytest.mark.parametrize("how", ["cut", "emptied"])
def test_damage_is_told_and_can_be_dropped(index: LanceVectorIndex, pattern: str, how: str) -> None:
    index.upsert_many({clip_id(n): one(axis(n % DIM)) for n in range(50)})
    index.close()
    for path in index.folder.glob(f"*.lance/{pattern}"):
        path.write_bytes(path.read_bytes()[:40] if how == "cut" else b"")
    for question in (
        lambda: index.knn(axis(0), 3),
        index.ids,
        lambda: index.upsert(clip_id(1), one(axis(1))),
    ):
        with pytest.raises(IndexStoreError) as caught:
            question()
        assert "rebuild" in caught.value.hint.lower() and caught.value.__cause__ is not None
    index.drop()
    index.upsert("a", one(axis(0)))
    assert index.ids() == {"a"}


def test_a_folder_that_vanished_is_an_empty_index(index: LanceVectorIndex) -> None:
    index.upsert("a", one(axis(0)))
    assert index.ids() == {"a"}
    shutil.rmtree(index.folder)
    assert index.ids() == set()
    index.upsert("b", one(axis(0)))
    assert index.ids() == {"b"}


def test_a_half_made_table_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / f"{table_name('m')}.lance" / "_versions").mkdir(parents=True)
    index = LanceVectorIndex(tmp_path, "m", DIM)
    index.upsert("a", one(axis(0)))
    assert index.ids() == {"a"}
    index.close()
