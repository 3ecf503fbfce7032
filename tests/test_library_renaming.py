"""Renaming a batch of files: all or nothing, back again at any time, and the catalog follows."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from indexing import Library
from job_support import run
from torture import torture_renames

from foley_desktop.errors import LibraryBusyError, LockedError, RenameError
from foley_desktop.library import file_names, rename_log, renaming
from foley_desktop.library.filters import parse_where
from foley_desktop.library.renaming import preview, rename, reverse
from foley_desktop.library.ucs_names import NameParts, new_names, ucs_names
from foley_desktop.library.writer_lock import writer_lock

Synth = Callable[..., Path]


@pytest.fixture
def sounds(tmp_path: Path, synth: Synth) -> Path:
    folder = tmp_path / "sounds"
    for number, name in enumerate(("a.wav", "b.wav", "c.wav", "deep/a.wav")):
        synth(folder / name, 0.1, kind="noise", seed=number)
    return folder


@pytest.fixture
def library(tmp_path: Path, sounds: Path) -> Iterator[Library]:
    with Library(tmp_path / "library") as opened:
        opened.index(sounds)
        opened.catalog.set_root_locked(opened.catalog.roots()[0].id, False)
        yield opened


def batch(library: Library, names: dict[str, str]) -> renaming.RenamePlan:
    """A plan by relative paths."""
    ids = library.ids()
    return preview(library.catalog, {ids[rel]: new for rel, new in names.items()})


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def problem(plan: renaming.RenamePlan) -> str:
    return " ".join(p for row in plan.rows for p in row.problems)


# ---------------------------------------------------------------- preview


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "empty"),
        (".wav", "hidden"),
        ("con.wav", "reserves"),
        ("NUL.tar.wav", "reserves"),
        ("com1 .wav", "reserves"),
        ("a/b.wav", "not every system"),
        ("what?.wav", "not every system"),
        ("line\nbreak.wav", "U+000A"),
        ("gnp\u202evaw.wav", "U+202E"),
        (" blank.wav", "blank"),
        ("dot.", "dot"),
        (".hidden.wav", "hidden"),
        ("x" * 252 + ".wav", "256 bytes"),
        ("é" * 126 + ".wav", "256 bytes"),
        ("caf\udce9.wav", "no text"),
    ],
)
def test_names_that_are_not_to_be_given(name: str, words: str) -> None:
    assert words in " ".join(file_names.flaws(name))


@pytest.mark.parametrize(
    "name", ["a.wav", "é" * 125 + ".wav", "-dash.wav", "🚪.wav", "con man.wav", "باب.wav"]
)
def test_names_that_may_be_given(name: str) -> None:
    assert file_names.flaws(name) == []


def test_names_are_cut_between_characters() -> None:
    assert file_names.fitted("é" * 200, ".wav", 255) == "é" * 125 + ".wav"
    assert file_names.fitted("short", ".wav") == "short.wav"
    assert file_names.fitted("🚪" * 64, ".wav", 20) == "🚪" * 4 + ".wav"
    assert file_names.tame("ab\u202ecd \u2067e") == "abcd e"
    assert file_names.tame('a<b>:"c/\n\x7f  d.') == "a b c d"


def test_conflicts_are_shown_before_anything_happens(library: Library, sounds: Path) -> None:
    (sounds / "Taken.wav").write_bytes(b"x")
    assert "already a file Taken.wav" in problem(batch(library, {"a.wav": "taken.wav"}))
    assert "same name" in problem(batch(library, {"a.wav": "X.wav", "b.wav": "x.wav"}))
    assert "already a file b.wav" in problem(batch(library, {"a.wav": "b.wav"}))
    assert "ending" in problem(batch(library, {"a.wav": "a.flac"}))
    assert "ending" in problem(batch(library, {"a.wav": "a"}))
    assert problem(batch(library, {"a.wav": "b.wav", "b.wav": "a.wav"})) == ""
    assert (
        problem(batch(library, {"a.wav": "a.wav"})) == ""
        and batch(library, {"a.wav": "a.wav"}).to_rename == 0
    )
    assert problem(batch(library, {"a.wav": "x.wav", "deep/a.wav": "x.wav"})) == ""
    composed, decomposed = "Tür.wav", unicodedata.normalize("NFD", "Tür.wav")
    assert "same name" in problem(batch(library, {"a.wav": composed, "b.wav": decomposed}))
    library.catalog.set_root_locked(library.catalog.roots()[0].id, True)
    plan = batch(library, {"a.wav": "x.wav"})
    assert "locked" in problem(plan) and plan.problems == 1
    with pytest.raises(LockedError):
        run(rename(library.catalog, plan))


def test_write_protected_folders_are_found_out(library: Library, sounds: Path) -> None:
    os.chmod(sounds, 0o555)
    try:
        assert "write-protected" in problem(batch(library, {"a.wav": "x.wav"}))
    finally:
        os.chmod(sounds, 0o755)


# ---------------------------------------------------------------- renaming


def test_ids_ratings_and_collections_stay_with_their_clips(library: Library, sounds: Path) -> None:
    before = library.ids()
    library.catalog.set_rating([before["a.wav"]], 4)
    library.catalog.add_to_collection("Mine", [before["a.wav"], before["deep/a.wav"]])
    plan = batch(library, {"a.wav": "Door Slam.wav", "deep/a.wav": "RAINInt_Roof_AB_CD.wav"})
    report = run(rename(library.catalog, plan))
    assert report.renamed == 2 and os.path.exists(report.log)
    assert files(sounds) == ["Door Slam.wav", "b.wav", "c.wav", "deep/RAINInt_Roof_AB_CD.wav"]
    after = library.ids()
    assert after["Door Slam.wav"] == before["a.wav"]
    clip = library.catalog.find("Door Slam.wav")
    assert clip.rating == 4
    assert library.catalog.count(parse_where(["collection=Mine"])) == 2
    rain = library.catalog.find("deep/RAINInt_Roof_AB_CD.wav")
    assert (rain.catid, rain.title) == ("RAINInt", "Roof"), "what the new name says counts at once"
    report = library.index()
    assert (report.added, report.updated, report.missing, report.unchanged) == (0, 0, 0, 4)
    assert library.indexes.keyword.bm25("slam", 5)[0][0] == before["a.wav"]


def test_swaps_and_rings_and_case_alone(library: Library, sounds: Path) -> None:
    ids, contents = (
        library.ids(),
        {name: (sounds / name).read_bytes() for name in ("a.wav", "b.wav", "c.wav")},
    )
    run(rename(library.catalog, batch(library, {"a.wav": "b.wav", "b.wav": "c.wav", "c.wav": "a.wav"})))
    assert (sounds / "b.wav").read_bytes() == contents["a.wav"]
    assert (sounds / "a.wav").read_bytes() == contents["c.wav"]
    now = library.ids()
    assert (now["b.wav"], now["c.wav"], now["a.wav"]) == (ids["a.wav"], ids["b.wav"], ids["c.wav"])
    plan = batch(library, {"a.wav": "A.WAV"})
    assert plan.rows[0].case_only and not plan.problems
    run(rename(library.catalog, plan))
    assert "A.WAV" in files(sounds) and library.ids()["A.WAV"] == ids["c.wav"]
    run(rename(library.catalog, batch(library, {"b.wav": "x.wav", "c.wav": "b.wav"})))
    assert library.ids()["x.wav"] == ids["a.wav"] and library.ids()["b.wav"] == ids["b.wav"]
    assert library.index().unchanged == 4


def test_a_batch_is_one_step_back_and_forth(library: Library, sounds: Path) -> None:
    before, ids = files(sounds), library.ids()
    run(rename(library.catalog, batch(library, {"a.wav": "b.wav", "b.wav": "a.wav", "c.wav": "d.wav"})))
    after = files(sounds)
    step = library.catalog.next_step(undone=False)
    assert step is not None and step.kind == renaming.KIND and "3 files" in step.label
    run(reverse(library.catalog, step.document["log"], step=step))
    assert files(sounds) == before and library.ids() == ids
    assert library.catalog.next_step(undone=False) is None
    redo = library.catalog.next_step(undone=True)
    assert redo is not None
    run(reverse(library.catalog, redo.document["log"], step=redo))
    assert files(sounds) == after and library.ids()["b.wav"] == ids["a.wav"]


def test_a_log_reverses_a_batch_later(library: Library, sounds: Path, tmp_path: Path) -> None:
    ids = library.ids()
    report = run(rename(library.catalog, batch(library, {"a.wav": "x.wav", "b.wav": "y.wav"})))
    logs = rename_log.logs(library.data)
    assert [str(log) for log in logs] == [report.log]
    with Library(tmp_path / "other") as other:  # another library that never saw the batch
        other.index(sounds)
        other.catalog.set_root_locked(other.catalog.roots()[0].id, False)
        run(reverse(other.catalog, report.log))
        assert files(sounds) == ["a.wav", "b.wav", "c.wav", "deep/a.wav"]
    library.index()
    assert library.ids() == ids
    with pytest.raises(RenameError):
        run(reverse(library.catalog, report.log))
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(RenameError):
        run(reverse(library.catalog, str(tmp_path / "no.json")))


def test_a_way_back_that_is_blocked_changes_nothing(library: Library, sounds: Path) -> None:
    report = run(rename(library.catalog, batch(library, {"a.wav": "x.wav", "b.wav": "y.wav"})))
    (sounds / "a.wav").write_bytes(b"somebody else's")
    with pytest.raises(RenameError) as caught:
        run(reverse(library.catalog, report.log))
    assert "already a file a.wav" in str(caught.value)
    assert {"x.wav", "y.wav", "a.wav"} <= set(files(sounds))
    assert (sounds / "a.wav").read_bytes() == b"somebody else's"


def test_files_that_describe_a_clip_go_with_it(library: Library, sounds: Path) -> None:
    (sounds / "a.txt").write_text("words about a")
    (sounds / "b.txt").write_text("words about b")
    (sounds / "b.mp3").write_bytes(b"another sound of the same stem")
    library.index()
    plan = batch(library, {"a.wav": "x.wav", "b.wav": "y.wav"})
    assert [len(row.companions) for row in plan.rows] == [1, 0]
    run(rename(library.catalog, plan))
    assert {"x.wav", "x.txt", "y.wav", "b.txt"} <= set(files(sounds))
    assert library.index().updated == 1, "the one whose description stayed behind"
    assert library.catalog.find("x.wav").description == "words about a"
    assert library.catalog.find("y.wav").description == ""


def test_a_failure_on_the_way_takes_everything_back(
    library: Library, sounds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, ids = files(sounds), library.ids()
    whole = renaming.rename_exclusive
    calls = []

    def failing(source: str, target: str) -> None:
        calls.append(target)
        if len(calls) == 3:
            raise PermissionError(13, "Permission denied")
        whole(source, target)

    monkeypatch.setattr(renaming, "rename_exclusive", failing)
    plan = batch(library, {"a.wav": "x.wav", "b.wav": "y.wav", "c.wav": "z.wav"})
    with pytest.raises(RenameError) as caught:
        run(rename(library.catalog, plan))
    assert "Permission denied" in str(caught.value)
    assert files(sounds) == before and library.ids() == ids
    assert library.catalog.steps() == [] and rename_log.logs(library.data) == []


def test_stopping_takes_everything_back(library: Library, sounds: Path) -> None:
    before = files(sounds)
    job = rename(library.catalog, batch(library, {"a.wav": "x.wav", "b.wav": "y.wav"}))
    next(job)
    assert files(sounds) != before
    job.close()
    assert files(sounds) == before
    with writer_lock(library.data), pytest.raises(LibraryBusyError):
        run(rename(library.catalog, batch(library, {"a.wav": "x.wav"})))


def test_a_file_that_appears_meanwhile_is_not_covered(library: Library, sounds: Path) -> None:
    plan = batch(library, {"a.wav": "x.wav"})
    (sounds / "x.wav").write_bytes(b"new")
    with pytest.raises(RenameError):
        run(rename(library.catalog, plan))
    assert (sounds / "x.wav").read_bytes() == b"new"
    with pytest.raises(FileExistsError):
        file_names.rename_exclusive(str(sounds / "a.wav"), str(sounds / "x.wav"))
    assert (sounds / "a.wav").exists()


def test_names_that_are_not_text_can_be_made_good(library: Library, sounds: Path, synth: Synth) -> None:
    source = synth("other.wav", 0.1, kind="noise", seed=9)
    os.rename(source, os.fsencode(sounds) + b"/caf\xe9\n.wav")
    library.index()
    names = {rel: i for rel, i in library.ids().items() if "\udce9" in rel}
    (clip_id,) = names.values()
    report = run(rename(library.catalog, preview(library.catalog, {clip_id: "café.wav"})))
    assert "café.wav" in os.listdir(sounds) and library.ids()["café.wav"] == clip_id
    assert rename_log.read(report.log)[0].source.endswith("caf\udce9\n.wav")


# ---------------------------------------------------------------- UCS names


def test_ucs_names_are_put_together_from_what_is_known(library: Library, sounds: Path, synth: Synth) -> None:
    synth(sounds / "DOORWood-OLD_CASTLE-Gate_ME_LIB_take 2.wav", 0.1, kind="noise", seed=10)
    library.index()
    ids = library.ids()
    from foley_desktop.library.editing import Editor

    editor = Editor(library.catalog)
    editor.set_fields([ids["a.wav"], ids["b.wav"]], {"catid": "RAINInt", "title": "Rain: on <the> roof_"})
    editor.set_fields([ids["b.wav"]], {"creator": "OWN"})
    made = ucs_names(library.catalog, list(ids.values()), NameParts(creator="ABC", source="MyLib"))
    names = {rel: made[i] for rel, i in ids.items()}
    assert names["a.wav"].name == "RAINInt_Rain on the roof_ABC_MyLib.wav" and not names["a.wav"].lacks
    assert names["b.wav"].name == "RAINInt_Rain on the roof_OWN_MyLib.wav"
    assert names["c.wav"].lacks == ("The clip has no category yet.",) and names["c.wav"].name == "c.wav"
    kept = "DOORWood-OLD_CASTLE-Gate_ME_LIB_take 2.wav"
    assert names[kept].name == kept
    replaced = ucs_names(library.catalog, [ids[kept]], NameParts("ABC", "MyLib", replace=True))
    assert replaced[ids[kept]].name == "DOORWood-OLD_CASTLE-Gate_ABC_MyLib_take 2.wav"
    bare = ucs_names(library.catalog, [ids["a.wav"]], NameParts())
    assert len(bare[ids["a.wav"]].lacks) == 2
    run(rename(library.catalog, preview(library.catalog, new_names({ids["a.wav"]: names["a.wav"]}))))
    assert library.ids()["RAINInt_Rain on the roof_ABC_MyLib.wav"] == ids["a.wav"]


def test_equal_ucs_names_are_numbered_and_long_ones_cut(library: Library) -> None:
    from foley_desktop.library.editing import Editor

    ids = library.ids()
    chosen = [ids["a.wav"], ids["b.wav"], ids["c.wav"]]
    Editor(library.catalog).set_fields(chosen, {"catid": "WIND", "title": "ü" * 200})
    made = ucs_names(library.catalog, chosen, NameParts("ABC", "Lib"))
    names = [made[i].name for i in chosen]
    assert len(set(names)) == 3 and names[1].endswith("ü 2_ABC_Lib.wav")
    assert all(len(os.fsencode(name)) <= 255 and not file_names.flaws(name) for name in names)
    assert not preview(library.catalog, new_names(made)).problems
    short = ucs_names(library.catalog, chosen[:1], NameParts("ABC", "Lib", longest=60))
    assert len(os.fsencode(short[chosen[0]].name)) <= 60


# ---------------------------------------------------------------- kills


def test_kills_at_any_moment_leave_every_file_under_one_of_its_names(tmp_path: Path) -> None:
    outcome = torture_renames(tmp_path, kills=25, seed=3)
    assert outcome.harmless, outcome
    assert outcome.kills == 25 and outcome.swept > 0, "no batch was ever caught half-way"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems rename in other ways")
def test_without_the_systems_help_nothing_is_covered_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_names, "_library_call", lambda: None)
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    other.write_text("2")
    with pytest.raises(FileExistsError):
        file_names.rename_exclusive(str(one), str(other))
    file_names.rename_exclusive(str(one), str(tmp_path / "new"))
    assert (tmp_path / "new").read_text() == "1" and not one.exists() and other.read_text() == "2"
    monkeypatch.setattr(os, "link", lambda *a, **k: (_ for _ in ()).throw(PermissionError(1, "no links")))
    file_names.rename_exclusive(str(tmp_path / "new"), str(one))
    with pytest.raises(FileExistsError):
        file_names.rename_exclusive(str(one), str(other))
