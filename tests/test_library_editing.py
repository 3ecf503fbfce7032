"""Editing the words of clips, taking it back, and writing it into the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from indexing import append_info_tag
from job_support import run

from foley_desktop.audio import decode
from foley_desktop.audio.tags import best, read_tags
from foley_desktop.errors import CatalogError, LibraryBusyError, LockedError
from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library.desk import Desk
from foley_desktop.library.filters import parse_where
from foley_desktop.library.service import LibraryService
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.models import Clip, IndexReport
from foley_desktop.settings import DataFolder, Settings

Synth = Callable[..., Path]


@pytest.fixture
def sounds(tmp_path: Path, synth: Synth) -> Path:
    folder = tmp_path / "sounds"
    for number, name in enumerate(("a.wav", "b.flac", "c.aif", "d.mp3", "e.ogg", "deep/f.wav")):
        synth(folder / name, 0.3, kind="noise", seed=number)
    append_info_tag(folder / "a.wav", b"INAM", "Old title")
    append_info_tag(folder / "a.wav", b"ICMT", "Old words")
    return folder


@pytest.fixture
def service(tmp_path: Path, sounds: Path) -> Iterator[LibraryService]:
    settings = Settings(embedder="hash")
    models = InProcessModels(("hash",))
    opened = LibraryService(DataFolder(tmp_path / "library"), models=models, settings=settings)
    index(opened, sounds)
    yield opened
    opened.close()
    models.close()


def index(service: LibraryService, *folders: Path) -> IndexReport:
    return run(service.index([str(folder) for folder in folders] or None))


@pytest.fixture
def desk(service: LibraryService) -> Desk:
    return service.desk


def clip(service: LibraryService, name: str) -> Clip:
    return service.catalog.find(name)


def found(service: LibraryService, query: str) -> set[str]:
    return {hit.sound.name for hit in service.search(query, mode="keyword", k=50).hits}


def unlock(service: LibraryService) -> None:
    service.desk.set_root_locked(service.roots()[0].id, False)


# ---------------------------------------------------------------- editing


def test_an_edit_counts_at_once_and_stands_beside_the_files_own_value(
    service: LibraryService, desk: Desk
) -> None:
    a = clip(service, "a.wav")
    assert desk.set_fields([a.id], {"title": "New title", "designer": "  Some\nBody "}) == [a.id]
    assert clip(service, "a.wav").title == "New title"
    assert "a.wav" in found(service, "new title")
    shown = desk.inspect([a.id])
    assert (shown["title"].value, shown["title"].mixed, shown["title"].edited) == ("New title", False, 1)
    assert {(v.value, v.source) for v in shown["title"].values} == {
        ("New title", "edit"),
        ("Old title", "INFO"),
    }
    assert shown["designer"].value == "Some Body"
    assert [(t.field, t.value) for t in service.tags(clip(service, "a.wav")) if t.source == "edit"] == [
        ("designer", "Some Body"),
        ("title", "New title"),
    ]


def test_shared_and_mixed_values_over_a_selection(service: LibraryService, desk: Desk) -> None:
    ids = [clip(service, name).id for name in ("a.wav", "b.flac", "c.aif")]
    desk.set_fields(ids, {"library": "My Library"})
    shown = desk.inspect(ids)
    assert shown["title"].mixed and shown["title"].value == ""
    assert (shown["library"].value, shown["library"].mixed) == ("My Library", False)
    assert shown["library"].values[0].clips == 3
    assert desk.editor.values("library") == ["My Library"]
    assert desk.inspect([])["title"] == ("", False, 0, ())


def test_a_value_equal_to_the_files_own_is_no_edit(service: LibraryService, desk: Desk) -> None:
    a = clip(service, "a.wav")
    desk.set_fields([a.id], {"title": "Other"})
    desk.set_fields([a.id], {"title": "Old title"})
    assert service.catalog.edits(a.id) == {}
    assert desk.set_fields([a.id], {"title": "Old title"}) == []
    assert len(service.catalog.steps()) == 2


def test_emptying_a_field_counts_too(service: LibraryService, desk: Desk) -> None:
    a = clip(service, "a.wav")
    desk.set_fields([a.id], {"title": ""})
    assert clip(service, "a.wav").title == ""
    assert desk.inspect([a.id])["title"].value == ""
    assert "Old title" in {tag.value for tag in service.tags(a)}


def test_category_and_catid_go_together(service: LibraryService, desk: Desk) -> None:
    a = clip(service, "a.wav")
    desk.set_fields([a.id], {"catid": "doorcreak"})
    now = clip(service, "a.wav")
    assert (now.catid, now.category, now.subcategory) == ("DOORCreak", "DOORS", "CREAK")
    assert service.browse(parse_where(["catid=DOORCreak"]))[0].id == a.id
    desk.set_fields([a.id], {"subcategory": "Wood"})
    assert clip(service, "a.wav").catid == "DOORWood"
    desk.set_fields([a.id], {"category": "My own"})
    now = clip(service, "a.wav")
    assert (now.catid, now.category, now.subcategory) == ("", "My own", "Wood")
    desk.set_fields([a.id], {"catid": ""})
    now = clip(service, "a.wav")
    assert (now.catid, now.category, now.subcategory) == ("", "", "")
    with pytest.raises(CatalogError):
        desk.set_fields([a.id], {"catid": "NOTHINGLikeThat"})
    with pytest.raises(CatalogError):
        desk.set_fields([a.id], {"samplerate": "1"})


def test_every_step_can_be_taken_back_and_done_again(service: LibraryService, desk: Desk) -> None:
    ids = [clip(service, name).id for name in ("a.wav", "b.flac")]
    before = desk.inspect(ids)
    desk.set_fields(ids, {"title": "One", "catid": "RAIN"}, "First")
    first = desk.inspect(ids)
    desk.set_fields(ids[:1], {"title": "Two"}, "Second")
    second = desk.inspect(ids)
    assert desk.next_undo().label == "Second"  # type: ignore[union-attr]
    assert run(desk.undo()) == "Second" and desk.inspect(ids) == first
    assert run(desk.undo()) == "First" and desk.inspect(ids) == before
    assert run(desk.undo()) == "" and service.catalog.edits(ids[0]) == {}
    assert run(desk.redo()) == "First" and desk.inspect(ids) == first
    assert run(desk.redo()) == "Second" and desk.inspect(ids) == second
    assert run(desk.redo()) == ""
    run(desk.undo())
    desk.set_fields(ids[1:], {"title": "Three"})
    assert desk.next_redo() is None, "a new step ends the way forward"
    assert "b.flac" in found(service, "three") and "a.wav" not in found(service, "two")


def test_the_stack_survives_a_restart(service: LibraryService, desk: Desk, tmp_path: Path) -> None:
    a = clip(service, "a.wav")
    desk.set_fields([a.id], {"title": "New"})
    settings = Settings(embedder="hash")
    again = LibraryService(service.data, models=InProcessModels(("hash",)), settings=settings)
    try:
        assert clip(again, "a.wav").title == "New"
        run(again.desk.undo())
        assert clip(again, "a.wav").title == "Old title"
    finally:
        again.close()


def test_revert_goes_back_to_the_files_values(service: LibraryService, desk: Desk) -> None:
    a = clip(service, "a.wav")
    desk.set_fields([a.id], {"title": "x", "description": "y", "catid": "RAIN"})
    desk.revert([a.id], ["title"])
    assert clip(service, "a.wav").title == "Old title" and clip(service, "a.wav").description == "y"
    desk.revert([a.id], ["category"])
    assert clip(service, "a.wav").catid == ""
    desk.revert([a.id])
    assert service.catalog.edits(a.id) == {} and clip(service, "a.wav").description == "Old words"
    run(desk.undo())
    assert clip(service, "a.wav").description == "y"


def test_rescans_leave_edits_alone(service: LibraryService, desk: Desk, sounds: Path) -> None:
    a = clip(service, "a.wav")
    desk.set_fields([a.id], {"title": "Mine"})
    append_info_tag(sounds / "a.wav", b"IART", "Somebody")
    assert index(service).updated == 1
    now = clip(service, "a.wav")
    assert (now.id, now.title, now.description) == (a.id, "Mine", "Old words")
    assert best(service.tags(now), "artist") == "Somebody"
    (sounds / "a.wav").rename(sounds / "moved.wav")
    index(service)
    assert clip(service, "moved.wav").title == "Mine"


def test_edits_while_the_library_is_indexed_wait_for_that_run(service: LibraryService, desk: Desk) -> None:
    a = clip(service, "a.wav")
    with writer_lock(service.data):
        desk.set_fields([a.id], {"title": "zebra"})
        assert clip(service, "a.wav").title == "zebra"
        run(desk.refresh())
        assert found(service, "zebra") == set()
    run(desk.refresh())
    assert found(service, "zebra") == {"a.wav"}
    assert a.id in service.indexes.semantic.ids()


def test_every_label_is_found_whoever_wrote_it_and_wherever_it_stands(
    service: LibraryService, desk: Desk, sounds: Path
) -> None:
    append_info_tag(sounds / "a.wav", b"IENG", "Nobody")
    append_info_tag(sounds / "a.wav", b"IART", "Annabel")
    (sounds / "a.csv").write_text("Title,Microphone,CatID\nOutdone title,Schoeps,RAIN\n")
    index(service)
    a = clip(service, "a.wav")
    desk.set_fields([a.id], {"title": "Newest", "designer": "Bertram", "keywords": "x, y"})
    for word in ("annabel", "schoeps", "outdone", "bertram", "newest", "old", "words"):
        assert found(service, word) == {"a.wav"}, word
    desk.revert([a.id])
    assert found(service, "bertram") == set() and found(service, "outdone") == {"a.wav"}


def test_many_clips_at_once(service: LibraryService, desk: Desk) -> None:
    ids = [c.id for c in service.browse()]
    assert len(desk.set_fields(ids, {"library": "L", "keywords": "all, of, them"})) == 6
    assert found(service, "them") == {"a.wav", "b.flac", "c.aif", "d.mp3", "e.ogg", "f.wav"}
    run(desk.undo())
    assert found(service, "them") == set()


# ---------------------------------------------------------------- writing into files


def test_a_locked_folder_refuses_and_touches_nothing(
    service: LibraryService, desk: Desk, sounds: Path
) -> None:
    assert all(root.locked for root in service.roots())
    a = clip(service, "a.wav")
    desk.set_fields([a.id], {"title": "New"})
    before = (sounds / "a.wav").read_bytes()
    with pytest.raises(LockedError) as caught:
        run(desk.write_to_files([a.id]))
    assert "locked" in str(caught.value) and (sounds / "a.wav").read_bytes() == before
    unlock(service)
    assert not service.roots()[0].locked
    assert run(desk.write_to_files([a.id])).written == 1


def test_written_values_take_the_edits_place_and_ids_stay(
    service: LibraryService, desk: Desk, sounds: Path
) -> None:
    unlock(service)
    clips = service.browse()
    ids = [c.id for c in clips]
    service.catalog.add_to_collection("Mine", ids)
    hashes = {c.id: decode.probe(c.path).audio_hash for c in clips}
    values = {"title": "Thing", "catid": "DOORCreak", "designer": "Me", "comment": "a note"}
    desk.set_fields(ids, values)
    assert desk.edited_ids() and len(desk.edited_ids()) == 6
    report = run(desk.write_to_files(ids))
    assert (report.written, report.refused) == (6, ())
    assert desk.edited_ids() == []
    for c in clips:
        tags = read_tags(c.path)
        assert {f: best(tags, f) for f in values} == values
        assert best(tags, "category_full") == "DOORS-CREAK"
        assert decode.probe(c.path).audio_hash == hashes[c.id]
    assert index(service).unchanged == 6, "the catalog had taken up what was written"
    assert {c.id for c in service.browse(parse_where(["collection=Mine"]))} == set(ids)
    assert clip(service, "a.wav").title == "Thing"
    assert run(desk.write_to_files(ids)).unchanged == 6
    run(desk.undo())
    assert clip(service, "a.wav").title == "Old title", "the way back leads to the old value, as an edit"
    assert service.catalog.edits(clip(service, "a.wav").id)["title"] == ("Old title", "edit")
    run(desk.write_to_files(ids))
    assert best(read_tags(str(sounds / "a.wav")), "title") == "Old title"


def test_one_file_that_refuses_costs_itself_alone(service: LibraryService, desk: Desk, sounds: Path) -> None:
    unlock(service)
    os.chmod(sounds / "a.wav", 0o444)
    (sounds / "c.aif").unlink()
    ids = [clip(service, name).id for name in ("a.wav", "b.flac", "c.aif")]
    desk.set_fields(ids, {"title": "New"})
    report = run(desk.write_to_files(ids, backup=True))
    assert report.written == 1
    assert {(Path(r.path).name, r.reason) for r in report.refused} == {
        ("a.wav", "read_only"),
        ("c.aif", "vanished"),
    }
    assert Path(report.backups[0]).name == "b.flac.bak"
    assert set(desk.edited_ids()) == {ids[0], ids[2]}, "edits that are not written stay"


def test_everything_that_counts_can_be_written(
    service: LibraryService, desk: Desk, sounds: Path, synth: Synth
) -> None:
    unlock(service)
    path = synth(sounds / "DOORWood_Castle Gate_ABC_LIB.wav", 0.1)
    index(service)
    gate = clip(service, path.name)
    assert run(desk.write_to_files([gate.id])).unchanged == 1
    assert run(desk.write_to_files([gate.id], everything=True)).written == 1
    tags = read_tags(str(path))
    assert (best(tags, "catid"), best(tags, "title")) == ("DOORWood", "Castle Gate")


def test_writing_waits_for_indexing(service: LibraryService, desk: Desk) -> None:
    unlock(service)
    a = clip(service, "a.wav")
    with writer_lock(service.data), pytest.raises(LibraryBusyError):
        run(desk.write_to_files([a.id]))


def test_stopping_keeps_what_was_written(service: LibraryService, desk: Desk) -> None:
    unlock(service)
    ids = [c.id for c in service.browse()]
    desk.set_fields(ids, {"title": "New"})
    job = desk.write_to_files(ids)
    next(job)
    next(job)
    job.close()
    written = [c for c in service.browse() if best(read_tags(c.path), "title") == "New"]
    assert len(written) == 2 and len(desk.edited_ids()) == 4
    assert run(desk.write_to_files(ids)).written == 4
