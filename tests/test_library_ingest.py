"""Indexing real files with the real catalog, Tantivy and LanceDB, and the hash embedder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from indexing import Library, append_info_tag, change_audio

from foley_desktop.errors import CatalogError, LibraryBusyError, ModelError
from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library.attention import Attention
from foley_desktop.library.ingest import ingest

Synth = Callable[..., Path]


@pytest.fixture
def sounds(tmp_path: Path, synth: Synth) -> Path:
    """Six clips, two of them with the same audio, a broken file and one that is no sound at all."""
    folder = tmp_path / "sounds"
    synth(folder / "Doors" / "door_close_01.wav", 0.4, kind="clicks", seed=1)
    synth(folder / "Doors" / "door_open_01.wav", 0.4, kind="clicks", seed=2)
    synth(folder / "Rain" / "rain on roof.wav", 0.5, kind="noise", seed=3)
    synth(folder / "Rain" / "rain on roof copy.wav", 0.5, kind="noise", seed=3)
    synth(folder / "dog barking.flac", 0.3, kind="tone", seed=4)
    synth(folder / "silence.wav", 0.2, kind="silence")
    (folder / "broken.wav").write_bytes(b"this is not audio at all" * 10)
    (folder / "notes.txt").write_text("not a sound")
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library(tmp_path / "library") as opened:
        yield opened


def test_first_run_adds_every_clip_and_names_every_rejected_file(library: Library, sounds: Path) -> None:
    report = library.index(sounds)
    assert (report.added, report.updated, report.unchanged, report.missing) == (6, 0, 0, 0)
    assert [(rejection.path, rejection.reason) for rejection in report.rejected] == [
        (str(sounds / "broken.wav"), "not_audio")
    ]
    clip = library.catalog.find("Doors/door_close_01.wav")
    assert (clip.frames, clip.samplerate, clip.channels, clip.bit_depth) == (19200, 48000, 1, 16)
    assert clip.duration_s == pytest.approx(0.4)
    assert clip.path == str(sounds / "Doors" / "door_close_01.wav")
    found = library.indexes.keyword.bm25("door", 10)
    assert {clip_id for clip_id, _ in found} == {
        library.ids()["Doors/door_close_01.wav"],
        library.ids()["Doors/door_open_01.wav"],
    }
    assert library.indexes.semantic.ids() == set(library.ids().values())
    assert library.steps[-1].total >= library.steps[-1].done


def test_second_run_changes_nothing_and_names_rejections_again(library: Library, sounds: Path) -> None:
    library.index(sounds)
    before = library.picture()
    report = library.index(sounds)
    assert (report.added, report.updated, report.unchanged, report.missing) == (0, 0, 6, 0)
    assert [rejection.reason for rejection in report.rejected] == ["not_audio"]
    assert library.picture() == before


def test_a_run_over_an_unchanged_folder_opens_no_index_no_model_and_no_file(
    library: Library, sounds: Path, tmp_path: Path
) -> None:
    library.index(sounds)
    script = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
import foley_desktop.library.reading as reading
def refuse(*_):
    raise AssertionError("a file was read")
reading.probe = reading.read_tags = refuse
from indexing import Library
with Library(Path(sys.argv[1])) as library:
    report = library.index(sys.argv[2])
    print(report.unchanged, len(report.rejected), library.models.state)
heavy = [name for name in ("lancedb", "tantivy", "torch", "transformers", "pyarrow") if name in sys.modules]
print(heavy)
"""
    arguments = [
        sys.executable,
        "-c",
        script,
        str(library.data.path),
        str(sounds),
        str(Path(__file__).parent),
    ]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=Path(__file__).parent.parent)
    assert done.stdout.split("\n")[:2] == ["6 1 off", "[]"], done.stderr


def test_identical_audio_gets_ordinals_in_path_order_and_the_same_ids_elsewhere(
    library: Library, sounds: Path, tmp_path: Path
) -> None:
    library.index(sounds)
    ids = library.ids()
    first, second = ids["Rain/rain on roof copy.wav"], ids["Rain/rain on roof.wav"]
    assert first.endswith("-0") and second.endswith("-1")
    assert first.rpartition("-")[0] == second.rpartition("-")[0]
    copied = tmp_path / "elsewhere" / "sounds"
    shutil.copytree(sounds, copied)
    with Library(tmp_path / "other library") as other:
        other.index(copied)
        assert other.ids() == ids
        assert other.found() == library.found()


def test_writing_tags_keeps_the_id_and_the_vectors(library: Library, sounds: Path) -> None:
    library.index(sounds)
    ids = library.ids()
    clip_id = ids["Doors/door_open_01.wav"]
    library.catalog.set_rating([clip_id], 4)
    before = library.indexes.audio.get_vectors(clip_id)
    append_info_tag(sounds / "Doors" / "door_open_01.wav", b"INAM", "Creaking castle gate")
    report = library.index(sounds)
    assert (report.added, report.updated, report.unchanged) == (0, 1, 5)
    clip = library.catalog.find("Doors/door_open_01.wav")
    assert (clip.id, clip.title, clip.rating) == (clip_id, "Creaking castle gate", 4)
    assert [hit for hit, _ in library.indexes.keyword.bm25("castle", 5)] == [clip_id]
    assert not any(step.what.startswith("Listening") for step in library.steps)
    after = library.indexes.audio.get_vectors(clip_id)
    assert (after[0].vector == before[0].vector).all()


def test_new_audio_at_a_known_path_keeps_the_id_and_gets_new_vectors(library: Library, sounds: Path) -> None:
    library.index(sounds)
    clip_id = library.ids()["dog barking.flac"]
    before = library.indexes.likeness.mean_vector(clip_id)
    change_audio(sounds / "Rain" / "rain on roof.wav")
    other = library.ids()["Rain/rain on roof.wav"]
    report = library.index(sounds)
    assert (report.added, report.updated) == (0, 1)
    assert library.ids()["Rain/rain on roof.wav"] == other
    assert library.catalog.find(other).audio_hash[:16] != other[:16]
    assert (library.indexes.likeness.mean_vector(clip_id) == before).all()
    assert library.catalog.pending("audio", library.indexes.version("audio")) == []


def test_moved_and_renamed_files_keep_their_ids(library: Library, sounds: Path) -> None:
    library.index(sounds)
    ids = library.ids()
    (sounds / "dog barking.flac").rename(sounds / "hound.flac")
    (sounds / "Doors").rename(sounds / "Gates")
    report = library.index(sounds)
    assert (report.added, report.missing, report.updated) == (0, 0, 3)
    after = library.ids()
    assert after["hound.flac"] == ids["dog barking.flac"]
    assert after["Gates/door_open_01.wav"] == ids["Doors/door_open_01.wav"]
    assert [hit for hit, _ in library.indexes.keyword.bm25("hound", 5)] == [after["hound.flac"]]
    assert library.indexes.keyword.bm25("barking", 5) == []
    assert not any(step.what.startswith("Listening") for step in library.steps)


def test_a_moved_folder_is_not_read_again(
    library: Library, sounds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.index(sounds)
    ids = library.ids()
    (sounds / "Rain").rename(sounds / "Weather")

    def refuse(path: str, *_: object) -> None:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr("foley_desktop.library.reading.read_file", refuse)
    report = library.index(sounds)
    assert (report.added, report.updated, report.missing) == (0, 2, 0)
    assert library.ids()["Weather/rain on roof.wav"] == ids["Rain/rain on roof.wav"]
    assert library.ids()["Weather/rain on roof copy.wav"] == ids["Rain/rain on roof copy.wav"]


def test_a_copy_is_a_new_clip_while_the_original_is_there(library: Library, sounds: Path) -> None:
    library.index(sounds)
    ids = library.ids()
    shutil.copy2(sounds / "dog barking.flac", sounds / "a copy.flac")
    assert library.index(sounds).added == 1
    assert library.ids()["dog barking.flac"] == ids["dog barking.flac"]
    assert library.ids()["a copy.flac"] == ids["dog barking.flac"][:-1] + "1"


def test_an_id_follows_into_another_root_once_its_old_file_is_gone(
    library: Library, sounds: Path, tmp_path: Path
) -> None:
    library.index(sounds)
    ids = library.ids()
    other = tmp_path / "archive"
    other.mkdir()
    shutil.move(sounds / "dog barking.flac", other / "dog barking.flac")
    library.index(other)
    assert library.catalog.find(str(other / "dog barking.flac")).id == ids["dog barking.flac"]
    assert library.index(sounds).missing == 0


def test_a_file_replaced_while_its_former_self_moved_is_told_apart(library: Library, sounds: Path) -> None:
    library.index(sounds)
    ids = library.ids()
    (sounds / "Doors" / "door_close_01.wav").rename(sounds / "Doors" / "old.wav")
    shutil.copy(sounds / "silence.wav", sounds / "Doors" / "door_close_01.wav")
    library.index(sounds)
    # The old path is not gone, so the id stays there; what moved away is a new clip.
    assert library.ids()["Doors/door_close_01.wav"] == ids["Doors/door_close_01.wav"]
    assert library.ids()["Doors/old.wav"] != ids["Doors/door_close_01.wav"]


def test_swapped_contents_with_equal_size_and_time_are_noticed(library: Library, sounds: Path) -> None:
    library.index(sounds)
    one, two = sounds / "Doors" / "door_close_01.wav", sounds / "Doors" / "door_open_01.wav"
    hashes = [library.catalog.find(str(path)).audio_hash for path in (one, two)]
    stamp = one.stat().st_mtime_ns
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    for path in (one, two):
        os.utime(path, ns=(stamp, stamp))
    assert library.index(sounds).updated == 2
    assert [library.catalog.find(str(path)).audio_hash for path in (two, one)] == hashes


def test_a_shift_of_an_hour_costs_no_embedding(library: Library, sounds: Path) -> None:
    library.index(sounds)
    for path in sounds.rglob("*.wav"):
        stamp = path.stat().st_mtime + 3600
        os.utime(path, (stamp, stamp))
    report = library.index(sounds)
    assert (report.added, report.missing) == (0, 0)
    assert not any(step.what.startswith(("Listening", "Embedding")) for step in library.steps)


def test_deleted_files_become_missing_and_come_back_with_their_rating(
    library: Library, sounds: Path, tmp_path: Path
) -> None:
    library.index(sounds)
    clip_id = library.ids()["dog barking.flac"]
    library.catalog.set_rating([clip_id], 5)
    shutil.move(sounds / "dog barking.flac", tmp_path / "kept.flac")
    report = library.index(sounds)
    assert report.missing == 1
    assert library.index(sounds).missing == 0
    assert library.catalog.find(clip_id).status == "missing"
    assert clip_id not in library.catalog.all_ids()
    assert library.indexes.keyword.bm25("dog", 5) == []
    assert clip_id not in library.indexes.audio.ids()
    shutil.move(tmp_path / "kept.flac", sounds / "dog barking.flac")
    library.index(sounds)
    back = library.catalog.find(clip_id)
    assert (back.status, back.rating, back.rel_path) == ("ok", 5, "dog barking.flac")
    assert [hit for hit, _ in library.indexes.keyword.bm25("dog", 5)] == [clip_id]
    assert clip_id in library.indexes.audio.ids()


def test_deleting_leaves_the_statistics_of_a_library_that_never_had_the_clip(
    library: Library, sounds: Path, tmp_path: Path
) -> None:
    library.index(sounds)
    (sounds / "Doors" / "door_open_01.wav").unlink()
    library.index(sounds)
    with Library(tmp_path / "fresh") as fresh:
        fresh.index(sounds)
        assert fresh.found() == library.found()


def test_an_empty_mount_point_turns_clips_offline_and_nothing_is_lost(
    library: Library, sounds: Path, tmp_path: Path
) -> None:
    library.index(sounds)
    before = library.picture()
    away = tmp_path / "away"
    sounds.rename(away)
    sounds.mkdir()
    report = library.index(sounds)
    assert (report.missing, report.rejected) == (0, ())
    assert any("not there" in notice for notice in report.notices)
    assert {clip.status for clip in library.catalog.list_clips()} == {"offline"}
    assert library.catalog.all_ids() == []
    assert library.catalog.matching_ids(_no_filters()) == frozenset()
    sounds.rmdir()
    away.rename(sounds)
    report = library.index(sounds)
    assert (report.added, report.updated, report.unchanged) == (0, 0, 6)
    assert not any(step.what.startswith(("Listening", "Embedding")) for step in library.steps)
    assert library.picture() == before


def test_a_root_that_is_gone_altogether_is_offline(library: Library, sounds: Path, tmp_path: Path) -> None:
    library.index(sounds)
    sounds.rename(tmp_path / "away")
    library.index()
    assert [root.online for root in library.catalog.roots()] == [False]
    assert {clip.status for clip in library.catalog.list_clips()} == {"offline"}


def test_mass_disappearance_keeps_vectors(library: Library, tmp_path: Path, synth: Synth) -> None:
    folder = tmp_path / "many"
    for n in range(24):
        synth(folder / f"clip {n:02d}.wav", 0.05, kind="noise", seed=n)
    library.index(folder)
    vectors = library.indexes.audio.ids()
    for path in sorted(folder.iterdir())[1:]:
        path.unlink()
    report = library.index(folder)
    assert report.missing == 23
    assert any("23 of 24" in notice for notice in report.notices)
    assert library.indexes.audio.ids() == vectors
    assert library.indexes.keyword.count() == 1
    assert library.catalog.matching_ids(_no_filters()) == frozenset(library.catalog.all_ids())


def test_a_clip_that_breaks_is_kept_and_comes_back(library: Library, sounds: Path) -> None:
    library.index(sounds)
    target = sounds / "Rain" / "rain on roof.wav"
    clip_id = library.ids()["Rain/rain on roof.wav"]
    library.catalog.set_favourite([clip_id], True)
    good = target.read_bytes()
    target.write_bytes(b"")
    report = library.index(sounds)
    assert (report.missing, {r.reason for r in report.rejected}) == (0, {"not_audio", "empty"})
    assert library.catalog.find(str(target)).status == "rejected"
    assert clip_id not in library.catalog.all_ids()
    target.write_bytes(good)
    library.index(sounds)
    clip = library.catalog.find(str(target))
    assert (clip.id, clip.status, clip.favourite) == (clip_id, "ok", True)
    assert {r.reason for r in library.index(sounds).rejected} == {"not_audio"}


def test_without_audio_only_sound_vectors_are_left_out(library: Library, sounds: Path) -> None:
    report = library.index(sounds, audio=False)
    assert report.added == 6
    assert library.catalog.find("dog barking.flac").duration_s == pytest.approx(0.3)
    assert library.indexes.semantic.count() == 6
    version = library.indexes.version("audio")
    assert len(library.catalog.pending("audio", version)) == 6
    assert library.index(sounds).added == 0
    assert library.catalog.pending("audio", version) == []
    assert len(library.indexes.audio.ids()) == 5


def test_changed_audio_loses_its_old_vectors_even_without_audio(library: Library, sounds: Path) -> None:
    library.index(sounds)
    clip_id = library.ids()["Doors/door_open_01.wav"]
    change_audio(sounds / "Doors" / "door_open_01.wav")
    library.index(sounds, audio=False)
    assert clip_id not in library.indexes.audio.ids()
    assert clip_id not in library.indexes.likeness.ids()
    library.index(sounds)
    assert clip_id in library.indexes.audio.ids()


def test_silence_has_no_vector_and_says_so(library: Library, sounds: Path) -> None:
    library.index(sounds)
    clip = library.catalog.find("silence.wav")
    assert clip.silent
    assert clip.id in library.catalog.without_vectors()
    assert clip.id not in library.indexes.audio.ids()
    assert library.catalog.pending("audio", library.indexes.version("audio")) == []
    assert clip.id in library.indexes.semantic.ids()


@pytest.mark.parametrize(
    "name",
    [
        b"caf\xe9.wav",
        b"line\nbreak.wav",
        "🚪 door.wav".encode(),
        b"don't.wav",
        b"x' OR 1=1 --.wav",
        b"100%20.wav",
    ],
)
def test_awkward_names_are_found_searched_and_deleted(
    library: Library, tmp_path: Path, synth: Synth, name: bytes
) -> None:
    folder = tmp_path / "odd"
    plain = synth(folder / "plain.wav", 0.1)
    other = synth(folder / "x.wav", 0.1, kind="noise")
    target = os.path.join(os.fsencode(folder), name)
    os.rename(other, target)
    assert library.index(folder).added == 2
    clip = library.catalog.find(os.fsdecode(target))
    assert os.fsencode(clip.path) == target
    assert library.catalog.find(os.fsdecode(name)).id == clip.id
    os.unlink(target)
    library.index(folder)
    assert (
        library.indexes.keyword.ids() == {library.catalog.find(str(plain)).id} == library.indexes.audio.ids()
    )


def test_what_is_no_plain_file_is_refused_without_being_opened(library: Library, sounds: Path) -> None:
    os.mkfifo(sounds / "pipe.wav")
    (sounds / "dangling.wav").symlink_to(sounds / "nowhere.wav")
    (sounds / "linked.wav").symlink_to(sounds / "dog barking.flac")
    report = library.index(sounds)
    reasons = {Path(r.path).name: r.reason for r in report.rejected}
    assert reasons == {"broken.wav": "not_audio", "pipe.wav": "not_audio", "dangling.wav": "vanished"}
    assert report.added == 7
    again = library.index(sounds)
    assert {Path(r.path).name: r.reason for r in again.rejected} == reasons
    (sounds / "dangling.wav").unlink()
    assert len(library.index(sounds).rejected) == 2


def test_nested_and_surrounding_folders_share_one_root(library: Library, sounds: Path) -> None:
    library.index(sounds / "Rain")
    ids = library.ids()
    library.index(sounds)
    assert [root.path for root in library.catalog.roots()] == [str(sounds)]
    assert {path: library.ids()[f"Rain/{path}"] for path in ids} == ids
    (sounds / "Rain" / "rain on roof.wav").unlink()
    (sounds / "dog barking.flac").unlink()
    # Only the inner folder is looked at.
    assert library.index(sounds / "Rain").missing == 1
    assert library.index(f"{sounds}/").missing == 1
    assert len(library.catalog.roots()) == 1


def test_a_root_that_was_taken_in_is_found_by_its_new_words(library: Library, sounds: Path) -> None:
    library.index(sounds / "Rain")
    library.index(sounds)
    library.refill()
    assert library.catalog.pending("keyword", library.indexes.version("keyword")) == []
    assert len(library.indexes.keyword.bm25("rain", 10)) == 2


def test_a_symlink_to_a_root_is_that_root(library: Library, sounds: Path, tmp_path: Path) -> None:
    library.index(sounds)
    link = tmp_path / "link"
    link.symlink_to(sounds, target_is_directory=True)
    report = library.index(link)
    assert (report.added, report.unchanged) == (0, 6)
    assert len(library.catalog.roots()) == 1
    assert library.catalog.find(str(link / "dog barking.flac")).rel_path == "dog barking.flac"


def test_removing_a_root_empties_the_indexes_at_the_next_run(
    library: Library, sounds: Path, tmp_path: Path, synth: Synth
) -> None:
    other = tmp_path / "other"
    synth(other / "wind.wav", 0.2, kind="noise", seed=9)
    library.index(sounds, other)
    root = next(root for root in library.catalog.roots() if root.path == str(sounds))
    library.catalog.remove_root(root.id)
    left = set(library.catalog.all_ids())
    assert library.catalog.matching_ids(_no_filters()) == left
    library.index()
    assert library.indexes.keyword.ids() == left == library.indexes.audio.ids()
    assert library.catalog.matching_ids(_no_filters()) is None
    library.index(sounds)
    assert len(library.catalog.all_ids()) == 7


def test_a_cancelled_run_keeps_what_was_done(library: Library, sounds: Path, tmp_path: Path) -> None:
    with Library(tmp_path / "undisturbed") as other:
        other.index(sounds)
        expected, count = other.picture(), len(other.steps)
    for stop_after in range(1, count + 1):
        job = ingest(library.catalog, library.indexes, [str(sounds)], models=library.models)
        for _, _step in zip(range(stop_after), job, strict=False):
            pass
        job.close()
    library.index(sounds)
    assert library.picture() == expected


def test_a_cancelled_first_pass_leaves_searchable_words(library: Library, sounds: Path) -> None:
    job = ingest(library.catalog, library.indexes, [str(sounds)], models=library.models)
    for _ in range(4):
        next(job)
    job.close()
    done = library.catalog.all_ids()
    assert 3 <= len(done) <= 6
    assert library.indexes.keyword.ids() == set(done)


def test_one_writer_at_a_time_and_readers_go_on(library: Library, sounds: Path) -> None:
    job = ingest(library.catalog, library.indexes, [str(sounds)], models=library.models)
    next(job)
    with Library(library.data.path) as second, pytest.raises(LibraryBusyError):
        second.index(sounds)
    with Library(library.data.path) as reader:
        reader.catalog.set_rating(reader.catalog.all_ids(), 3)
        assert reader.catalog.count() <= 6
    job.close()
    library.index(sounds)
    assert len(library.catalog.all_ids()) == 6


def test_a_root_removed_while_it_is_indexed_stays_removed(library: Library, sounds: Path) -> None:
    job = ingest(library.catalog, library.indexes, [str(sounds)], models=library.models)
    next(job)
    library.catalog.remove_root(library.catalog.roots()[0].id)
    report = library.run(job)
    assert report.added == 0
    assert library.catalog.all_ids(searchable_only=False) == []
    assert library.index(sounds).added == 6


def test_a_folder_that_does_not_exist_is_named(library: Library, sounds: Path) -> None:
    with pytest.raises(CatalogError, match="no folder"):
        library.index(sounds / "nowhere")
    assert library.catalog.roots() == []


class _DyingModels(InProcessModels):
    """Models whose process dies again and again, after some clips."""

    def __init__(self, after: int) -> None:
        super().__init__(("hash",))
        self.left = after

    def embedder(self, name: str = "hash"):  # type: ignore[no-untyped-def]
        embedder = super().embedder(name)
        listen = embedder.begin_stream

        def begin_stream(*args: object) -> object:
            if self.left <= 0:
                raise ModelError("The model process died.")
            self.left -= 1
            return listen(*args)  # type: ignore[arg-type]

        embedder.begin_stream = begin_stream  # type: ignore[method-assign, assignment]
        return embedder


def test_a_dying_model_costs_only_what_it_had_not_heard(sounds: Path, tmp_path: Path) -> None:
    with Library(tmp_path / "dying", _DyingModels(after=2)) as library:
        report = library.index(sounds)
        assert report.added == 6
        assert any("died" in notice for notice in report.notices)
        assert len(library.indexes.audio.ids()) == 2
        assert library.indexes.keyword.count() == 6
        library.models.left = 100
        assert library.index(sounds).notices == ()
        assert len(library.indexes.audio.ids()) == 5


def _no_filters():  # type: ignore[no-untyped-def]
    from foley_desktop.models import Filters

    return Filters()


def test_what_is_on_the_screen_is_listened_to_first_and_the_outcome_is_the_same(
    sounds: Path, tmp_path: Path
) -> None:
    """The hint changes while the run goes on, as scrolling does."""
    with Library(tmp_path / "in path order") as plain:
        plain.index(sounds)
        expected = plain.picture()
    with Library(tmp_path / "hinted") as library:
        library.index(sounds, audio=False)
        pending = library.catalog.pending("audio", library.indexes.version("audio"))
        attention = Attention()
        attention.look_at([pending[-1], "not-in-the-library-0"])
        job = ingest(
            library.catalog, library.indexes, None, models=library.models, audio=True, attention=attention
        )
        heard = []
        try:
            while True:
                step = next(job)
                if step.what.startswith("Listening"):
                    heard.append(step.what.removeprefix("Listening: "))
                    attention.look_at([pending[-2], pending[-1]])
        except StopIteration:
            pass
        clips = library.catalog.clips(pending)
        names = [clips[clip_id].name for clip_id in pending]
        # One clip is always on its way already when the first one's step is told.
        assert heard[0] == names[-1] and names[-2] in heard[1:3]
        assert sorted(heard) == sorted(names)
        assert library.picture() == expected
