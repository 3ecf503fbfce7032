"""Behind the librarian's windows: previews of writing, patterns of names, the way out of the wastebasket."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from job_support import run

from foley_desktop.audio.tags import read_tags
from foley_desktop.errors import LockedError, RenameError, TagWriteError
from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library import name_template, ucs
from foley_desktop.library.service import LibraryService
from foley_desktop.library.ucs_names import NameParts
from foley_desktop.settings import DataFolder, Settings

Synth = Callable[..., Path]
ODD = b"caf\xe9 \n.wav".decode("utf-8", "surrogateescape")


@pytest.fixture
def service(tmp_path: Path, synth: Synth, monkeypatch: pytest.MonkeyPatch) -> Iterator[LibraryService]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for number, name in enumerate(("a.wav", "b.flac", "c.mp3", ODD)):
        synth(tmp_path / "sounds" / name, 0.1, kind="noise", seed=number)
    models = InProcessModels(("hash",))
    opened = LibraryService(
        DataFolder(tmp_path / "library"), models=models, settings=Settings(embedder="hash")
    )
    run(opened.index([str(tmp_path / "sounds")], audio=False))
    yield opened
    opened.close()
    models.close()


def unlock(service: LibraryService) -> None:
    service.desk.set_root_locked(service.roots()[0].id, False)


def test_the_preview_says_that_a_header_will_be_mended(service: LibraryService, tmp_path: Path) -> None:
    """A recorder that lost its power never wrote the size of the whole."""
    path = tmp_path / "sounds" / "a.wav"
    data = bytearray(path.read_bytes())
    data[4:8] = b"\0\0\0\0"
    path.write_bytes(bytes(data))
    run(service.index(None, audio=False))
    unlock(service)
    clip = service.catalog.find("a.wav")
    assert clip.badges == ("not_finalised",)
    service.desk.set_fields([clip.id, id_of(service, "b.flac")], {"title": "Gate"})
    broken, whole = service.desk.preview_write([clip.id, id_of(service, "b.flac")])
    assert broken.will_be_written and "put right" in broken.notes[-1]
    assert whole.will_be_written and not whole.notes


def id_of(service: LibraryService, name: str) -> str:
    return service.catalog.find(name).id


def found(service: LibraryService, query: str) -> set[str]:
    return {hit.sound.name for hit in service.search(query, mode="keyword", k=50).hits}


# ---------------------------------------------------------------- what writing would do


def test_the_preview_says_file_by_file_what_changes_and_where(service: LibraryService) -> None:
    unlock(service)
    ids = [id_of(service, name) for name in ("a.wav", "b.flac", "c.mp3")]
    service.desk.set_fields(ids[:2], {"description": "Old door"})
    run(service.desk.write_to_files(ids))
    service.desk.set_fields(ids[:2], {"description": "New door"})
    wav, flac, mp3 = service.desk.preview_write(ids)
    assert {(c.field, c.source, c.old, c.new) for c in wav.changes} == {
        ("description", source, "Old door", "New door") for source in ("bext", "INFO", "iXML", "ID3")
    }
    assert [(c.source, c.old, c.new) for c in flac.changes] == [("Vorbis", "Old door", "New door")]
    assert wav.will_be_written and not mp3.will_be_written and not mp3.reason
    run(service.desk.write_to_files(ids))
    assert not any(plan.will_be_written for plan in service.desk.preview_write(ids))
    assert "New door" in {tag.value for tag in read_tags(wav.path)}


def test_the_preview_says_why_a_file_will_not_be_written(service: LibraryService, tmp_path: Path) -> None:
    ids = [id_of(service, "a.wav"), id_of(service, "b.flac")]
    service.desk.set_fields(ids, {"title": "x"})
    locked = service.desk.preview_write(ids)
    assert {plan.reason for plan in locked} == {"locked"}
    assert "The folder sounds is locked." in locked[0].problem
    unlock(service)
    os.chmod(tmp_path / "sounds" / "a.wav", 0o444)
    os.unlink(tmp_path / "sounds" / "b.flac")
    assert [plan.reason for plan in service.desk.preview_write(ids)] == ["read_only", "vanished"]
    assert all(plan.problem.endswith(".") for plan in service.desk.preview_write(ids))


def test_a_folder_that_is_away_and_a_kind_that_takes_no_tags_are_named(
    service: LibraryService, tmp_path: Path, synth: Synth
) -> None:
    unlock(service)
    root = service.roots()[0]
    synth(tmp_path / "sounds" / "d.au", 0.1)
    run(service.index(audio=False))
    ids = [id_of(service, "a.wav"), id_of(service, "d.au")]
    service.desk.set_fields(ids, {"title": "x"})
    assert "cannot be written into AU files" in service.desk.preview_write(ids)[1].problem
    service.catalog.set_root_online(root.id, False)
    wav, au = service.desk.preview_write(ids)
    assert (wav.reason, au.reason) == ("vanished", "vanished")
    assert wav.problem == "The folder sounds is not there now: connect its drive and rescan."
    report = run(service.desk.write_to_files(ids))
    assert report.written == 0 and [r.reason for r in report.refused] == ["vanished", "vanished"]


# ---------------------------------------------------------------- the wastebasket and back


def test_throwing_away_is_a_step_like_any_other(service: LibraryService, tmp_path: Path) -> None:
    ids = [id_of(service, "a.wav"), id_of(service, ODD)]
    with pytest.raises(LockedError):
        run(service.desk.throw_away(ids))
    unlock(service)
    service.set_rating([ids[0]], 4)
    before = {name: os.stat(tmp_path / "sounds" / name).st_ino for name in ("a.wav", ODD)}
    report = run(service.desk.throw_away(ids))
    assert len(report.thrown) == 2 and not report.refused
    assert {service.catalog.clip(i).status for i in ids} == {"missing"}  # type: ignore[union-attr]
    assert "a.wav" not in found(service, "a")
    step = service.desk.next_undo()
    assert step is not None and step.label == "Throw away 2 files"

    assert run(service.desk.undo()) == step.label
    assert {name: os.stat(tmp_path / "sounds" / name).st_ino for name in before} == before
    back = service.catalog.clip(ids[0])
    assert back is not None and (back.status, back.rating) == ("ok", 4)
    assert "a.wav" in found(service, "a")
    assert os.listdir(tmp_path / "data" / "Trash" / "info") == []

    assert run(service.desk.redo()) == step.label
    assert not (tmp_path / "sounds" / "a.wav").exists()
    run(service.desk.undo())
    report = run(service.index(audio=False))
    assert (report.added, report.missing) == (0, 0)
    assert {service.catalog.clip(i).status for i in ids} == {"ok"}  # type: ignore[union-attr]


def test_what_is_not_in_the_wastebasket_any_more_does_not_block_the_way_back(
    service: LibraryService, tmp_path: Path
) -> None:
    unlock(service)
    a = id_of(service, "a.wav")
    service.desk.set_fields([id_of(service, "b.flac")], {"title": "Edited before"})
    ((_, place),) = run(service.desk.throw_away([a])).thrown
    os.unlink(place)
    with pytest.raises(TagWriteError, match=r"a\.wav cannot be put back"):
        run(service.desk.undo())
    assert run(service.desk.undo()) == "Edit title"


def test_a_file_that_took_the_place_is_not_covered(service: LibraryService, tmp_path: Path) -> None:
    unlock(service)
    ((path, place),) = run(service.desk.throw_away([id_of(service, "a.wav")])).thrown
    Path(path).write_bytes(b"another one")
    with pytest.raises(TagWriteError):
        run(service.desk.undo())
    assert Path(path).read_bytes() == b"another one" and os.path.isfile(place)


def test_stopping_half_way_leaves_a_step_for_what_was_thrown(service: LibraryService) -> None:
    unlock(service)
    ids = [id_of(service, "a.wav"), id_of(service, "b.flac")]
    job = service.desk.throw_away(ids)
    next(job)
    job.close()
    assert [service.catalog.clip(i).status for i in ids] == ["missing", "ok"]  # type: ignore[union-attr]
    assert run(service.desk.undo()) == "Throw away a.wav"
    assert service.catalog.clip(ids[0]).status == "ok"  # type: ignore[union-attr]


# ---------------------------------------------------------------- patterns of names

WORDS = st.text(st.characters(codec="ascii", categories=["L", "N"]), max_size=8)


@given(st.fixed_dictionaries(dict.fromkeys(ucs.UcsName._fields, WORDS)))
def test_the_ucs_pattern_makes_what_the_ucs_makes(values: dict[str, str]) -> None:
    values |= {part: "x" + values[part] for part in ("catid", "fx_name", "creator", "source")}
    made = name_template.fill(name_template.UCS_PATTERN, values)
    assert made == ucs.compose(ucs.UcsName(**values))


@pytest.mark.parametrize(
    ("pattern", "values", "made"),
    [
        ("{category} {title}", {"category": "DOORS", "title": "Creak"}, "DOORS Creak"),
        ("{title}[ ({description})]", {"title": "Creak", "description": ""}, "Creak"),
        ("{title}[ ({description})]", {"title": "Creak", "description": "old"}, "Creak (old)"),
        ("{number}_{name}", {"number": "007", "name": "a {b}"}, "007_a {b}"),
    ],
)
def test_patterns_are_filled(pattern: str, values: dict[str, str], made: str) -> None:
    assert name_template.fill(pattern, values) == made


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("{colour}", "no part {colour}"),
        ("{title}[", "no other half"),
        ("{title}]", "no other half"),
        ("{title", "no other half"),
        ("[{title} {]", "no other half"),
        ("always the same", "no part, so all"),
    ],
)
def test_patterns_that_cannot_be_used(pattern: str, words: str) -> None:
    with pytest.raises(RenameError, match=words):
        name_template.check(pattern)


def test_names_by_a_pattern_of_ones_own(service: LibraryService) -> None:
    ids = [id_of(service, "a.wav"), id_of(service, "b.flac")]
    service.desk.set_fields(ids[:1], {"title": "Door / creak: loud", "catid": "DOORCreak"})
    names = service.desk.ucs_names(ids, NameParts(pattern="{number} {title}[ {category}]"))
    assert names[ids[0]].name == "001 Door creak loud DOORS.wav"
    assert names[ids[1]].name == "002.flac"
    long = service.desk.ucs_names(ids[:1], NameParts(pattern="{title}{title}{title}", longest=20))
    assert long[ids[0]].name == "Door creak loudD.wav"
    needs = service.desk.ucs_names(ids[1:], NameParts(pattern="{catid} {name}"))[ids[1]]
    assert needs.lacks == ("The clip has no category yet.",)
