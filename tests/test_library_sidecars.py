"""Words that stand beside the sounds, in sidecar files and in lists of other librarians."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import audio_files as make
import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexing import Library
from test_audio_markers import adtl, cue, label

from foley_desktop.errors import ImportListError
from foley_desktop.library.editing import Editor
from foley_desktop.library.list_fields import FILE_NAME, PATH, decoded, field_of, table
from foley_desktop.library.lists import apply_list, preview_list, read_list
from foley_desktop.library.sidecars import read_sidecars
from foley_desktop.models import Marker, Tag

Synth = Callable[..., Path]


@pytest.fixture
def sounds(tmp_path: Path, synth: Synth) -> Path:
    folder = tmp_path / "sounds"
    for number, name in enumerate(("door.wav", "rain.wav", "deep/door.wav", "dog.flac")):
        synth(folder / name, 0.1, kind="noise", seed=number)
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library(tmp_path / "library") as opened:
        yield opened


def beside(path: Path, extension: str, content: str | bytes) -> dict[str, str]:
    """Writes a sidecar and reads it as tags."""
    raw = content.encode() if isinstance(content, str) else content
    sidecar = path.with_suffix(extension)
    sidecar.write_bytes(raw)
    tags, mark = read_sidecars(str(path))
    sidecar.unlink()
    assert mark != 0 and all(tag.source == "sidecar" for tag in tags)
    return {tag.field: tag.value for tag in tags}


# ---------------------------------------------------------------- sidecar files


def test_running_text_is_a_description(tmp_path: Path) -> None:
    path = tmp_path / "door.wav"
    assert beside(path, ".txt", "An old door\n\nin a castle.\n") == {
        "description": "An old door in a castle."
    }
    assert beside(path, ".TXT", "\ufeffTür".encode("utf-16")) == {"description": "Tür"}
    assert beside(path, ".txt", "Tür".encode("cp1252")) == {"description": "Tür"}
    assert beside(path, ".txt", b"") == {}


def test_lines_with_names_are_fields(tmp_path: Path) -> None:
    text = (
        "Title: Door Creak\nDesigner = Somebody\nBW Description: Old door\nKey words: a, b\n"
        "Source: http://x.org/y\nFile name: door.wav\nsomething else: not a field\n"
    )
    assert beside(tmp_path / "door.wav", ".txt", text) == {
        "title": "Door Creak",
        "designer": "Somebody",
        "description": "Old door",
        "keywords": "a, b",
        "source": "http://x.org/y",
    }


def test_tables_and_pairs(tmp_path: Path) -> None:
    path = tmp_path / "door.wav"
    table_text = "Filename;Description;Category\nrain.wav;Rain;RAIN\nDOOR.WAV;Door, old;DOORS\n"
    assert beside(path, ".csv", table_text) == {"description": "Door, old", "category": "DOORS"}
    single = 'Description,Microphone\n"Door ""old""",MKH 8040\n'
    assert beside(path, ".csv", single) == {"description": 'Door "old"', "microphone": "MKH 8040"}
    assert beside(path, ".csv", "title\tDoor\nlocation\tCastle\n") == {"title": "Door", "location": "Castle"}
    others = "Filename,Description\na.wav,A\nb.wav,B\n"
    assert beside(path, ".csv", others) == {}


def test_xml_of_any_shape(tmp_path: Path) -> None:
    path = tmp_path / "door.wav"
    xml = (
        '<?xml version="1.0" encoding="UTF-8"?><Sound FileName="door.wav" Library="L">'
        '<Description>Old &amp; heavy</Description><Field name="Microphone" value="MKH"/>'
        '<Field name="Location">Castle</Field></Sound>'
    )
    assert beside(path, ".xml", xml) == {
        "library": "L",
        "description": "Old & heavy",
        "microphone": "MKH",
        "location": "Castle",
    }
    assert beside(path, ".xml", "<a><b>cut off") == {}
    loose = "<x><title>a & b</title><keywords>creak</keywords><description>cut o"
    assert beside(path, ".xml", loose) == {"title": "a & b", "keywords": "creak"}
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><x><title>&a;</title></x>'
    assert beside(path, ".xml", bomb) == {}
    assert beside(path, ".xml", "<x>" * 5000) == {}
    assert beside(path, ".xml", "<x>" * 30_000 + "</x>" * 30_000) == {}


@given(extension=st.sampled_from([".txt", ".csv", ".xml"]), content=st.binary(max_size=300))
def test_no_content_is_too_odd(tmp_path: Path, extension: str, content: bytes) -> None:
    for value in beside(tmp_path / "a.wav", extension, content).values():
        assert value and "\n" not in value and "\0" not in value
        value.encode()


def test_sidecars_count_like_tags_and_are_read_again_when_they_change(library: Library, sounds: Path) -> None:
    library.index(sounds)
    ids = library.ids()
    assert library.catalog.find("door.wav").description == ""
    (sounds / "door.txt").write_text("Creaking hinge")
    report = library.index()
    assert (report.updated, report.unchanged) == (1, 3)
    clip = library.catalog.find(str(sounds / "door.wav"))
    assert (clip.id, clip.description) == (ids["door.wav"], "Creaking hinge")
    assert Tag("description", "Creaking hinge", "sidecar") in library.catalog.tags(clip.id)
    assert library.indexes.keyword.bm25("hinge", 5)[0][0] == clip.id
    assert library.index().unchanged == 4
    (sounds / "door.txt").write_text("Squeaking hinge")
    os.utime(sounds / "door.txt", (1, 1))
    assert library.index().updated == 1
    assert library.catalog.clip(clip.id).description == "Squeaking hinge"  # type: ignore[union-attr]
    (sounds / "door.txt").unlink()
    assert library.index().updated == 1
    assert library.catalog.clip(clip.id).description == ""  # type: ignore[union-attr]
    assert library.catalog.indexed_ids("audio", library.indexes.version("audio")), "no sound was heard again"


def test_a_files_own_words_go_before_those_beside_it(library: Library, sounds: Path) -> None:
    (sounds / "own.wav").write_bytes(make.wav(make.info((b"ICMT", b"in the file\0"))))
    (sounds / "own.csv").write_text("Description,Location\nbeside the file,Castle\n")
    library.index(sounds)
    clip = library.catalog.find("own.wav")
    assert clip.description == "in the file"
    shown = Editor(library.catalog).inspect([clip.id])
    assert {(v.value, v.source) for v in shown["description"].values} == {
        ("in the file", "INFO"),
        ("beside the file", "sidecar"),
    }
    assert shown["location"].value == "Castle"


def test_markers_of_files_come_into_the_catalog_and_the_users_stay(library: Library, sounds: Path) -> None:
    path = sounds / "marked.wav"
    path.write_bytes(make.wav(cue((1, 480)), adtl(label(1, b"hit"))))
    library.index(sounds)
    clip = library.catalog.find("marked.wav")
    library.catalog.add_marker(clip.id, 0.03, text="mine")
    assert library.catalog.clip_markers(clip.id) == [
        Marker(0.01, None, "hit", "file"),
        Marker(0.03, None, "mine", "user"),
    ]
    path.write_bytes(make.wav(cue((1, 960)), make.info((b"INAM", b"t\0"))))
    library.index()
    assert library.catalog.clip_markers(clip.id) == [
        Marker(0.02, None, "", "file"),
        Marker(0.03, None, "mine", "user"),
    ]


# ---------------------------------------------------------------- lists of other librarians


@pytest.mark.parametrize(
    ("heading", "field"),
    [
        ("FileName", FILE_NAME),
        ("File Name", FILE_NAME),
        ("FilePath", PATH),
        ("FX Name", "title"),
        ("BWDescription", "description"),
        ("Sub-Category", "subcategory"),
        ("CatID", "catid"),
        ("Microphone", "microphone"),
        ("Beschreibung", "description"),
        ("Recording Location", "location"),
        ("Sample Rate", ""),
        ("", ""),
        ("Whatever", ""),
    ],
)
def test_headings_are_understood(heading: str, field: str) -> None:
    assert field_of(heading) == field


def test_tables_in_any_dress() -> None:
    assert table("a,b\n1,2\n") == [["a", "b"], ["1", "2"]]
    assert table("a;b, c\r\n1;2\r\n\r\n") == [["a", "b, c"], ["1", "2"]]
    assert table('a\tb\n"x\ny"\tz') == [["a", "b"], ["x\ny", "z"]]
    assert table("") == []
    assert decoded("a\tb".encode("utf-16-le")) == "a\tb"
    assert decoded(b"\xef\xbb\xbfa") == "a"
    assert decoded("a\tДверь, old door".encode("utf-16-be")) == "a\tДверь, old door"


def test_tables_with_something_above_them_and_with_marks_left_open() -> None:
    assert table("sep=;\r\nFile;Notes\r\na,b;c\r\n") == [["File", "Notes"], ["a,b", "c"]]
    assert table("My list of 2020\n\nFile,Notes\na,b\n") == [["File", "Notes"], ["a", "b"]]
    assert table("Filename\na.wav\nb, c.wav\n")[0] == ["Filename"]
    rows = table('File,Notes\na,"one\ntwo"\nc,5" nail\nb,"open\nd,e\n')
    assert rows == [["File", "Notes"], ["a", "one\ntwo"], ["c", '5" nail'], ["b", '"open'], ["d", "e"]]
    long = "x" * 200_000  # more than a cell may have by Python's csv
    assert table(f"File,Notes\na,{long}\nb,c\n") == [["File", "Notes"], ["a", long], ["b", "c"]]


def test_a_list_is_previewed_applied_and_taken_back(library: Library, sounds: Path, tmp_path: Path) -> None:
    library.index(sounds)
    ids = library.ids()
    exported = tmp_path / "export.csv"
    exported.write_text(
        "FilePath,FileName,Description,Category,SubCategory,Designer,Duration\n"
        "/old/place/deep/door.wav,door.wav,Deep door,doors,wood,Me,0:01\n"
        ",rain.wav,Soft rain,Nothing,Like it,,0:01\n"
        ",gone.wav,Not here,,,,\n"
        ",dog,A dog,,,Me,\n"
    )
    sounds_list = read_list(str(exported))
    assert [c.field for c in sounds_list.columns] == [
        PATH, FILE_NAME, "description", "category", "subcategory", "designer", "",
    ]  # fmt: skip
    preview = preview_list(library.catalog, sounds_list, sounds_list.mapping)
    assert (preview.matched, preview.ambiguous, preview.unmatched) == (3, 0, ("gone.wav",))
    changes = {(c.clip.rel_path, c.field): (c.before, c.after) for c in preview.changes}
    assert changes["deep/door.wav", "catid"] == ("", "DOORWood")
    assert changes["deep/door.wav", "category"] == ("", "DOORS")
    assert changes["rain.wav", "category"] == ("", "Nothing")
    assert ("rain.wav", "designer") not in changes and ("door.wav", "description") not in changes
    assert library.catalog.find("rain.wav").description == "", "a preview changes nothing"
    assert len(apply_list(library.catalog, sounds_list, preview)) == 3
    deep = library.catalog.find("deep/door.wav")
    assert (deep.id, deep.description, deep.catid) == (ids["deep/door.wav"], "Deep door", "DOORWood")
    assert Tag("designer", "Me", "list") in library.catalog.tags(ids["dog.flac"])
    step = library.catalog.next_step(undone=False)
    assert step is not None and step.label == "Import export.csv"
    Editor(library.catalog).undo(step)
    assert library.catalog.find("deep/door.wav").catid == ""
    assert preview_list(library.catalog, sounds_list, sounds_list.mapping).changes == preview.changes


def test_a_corrected_mapping_counts(library: Library, sounds: Path, tmp_path: Path) -> None:
    library.index(sounds)
    listed = tmp_path / "list.tsv"
    listed.write_bytes(
        "Ton\tWas\tCat ID\nrain.wav\tRegen\tRAINLike\ndog.flac\tHund\tanmldog\n".encode("utf-16")
    )
    found = read_list(str(listed))
    assert [c.field for c in found.columns] == [FILE_NAME, "", "catid"]
    assert found.columns[1].samples == ("Regen", "Hund")
    preview = preview_list(library.catalog, found, {**found.mapping, 1: "description"})
    assert preview.notes == ("RAINLike is no CatID of the UCS; it was passed over.",)
    apply_list(library.catalog, found, preview)
    assert library.catalog.find("rain.wav").description == "Regen"
    assert library.catalog.find("dog.flac").catid == "ANMLDog"
    with pytest.raises(ImportListError):
        preview_list(library.catalog, found, {1: "description"})
    with pytest.raises(ImportListError):
        preview_list(library.catalog, found, {0: FILE_NAME, 1: "no such field"})


def test_a_name_that_several_clips_have_is_told_by_its_folders(
    library: Library, sounds: Path, tmp_path: Path
) -> None:
    library.index(sounds)
    listed = tmp_path / "list.csv"
    listed.write_text("File,Title\nX:\\sfx\\deep\\door.wav,One\n")
    found = read_list(str(listed))
    preview = preview_list(library.catalog, found, found.mapping)
    assert [c.clip.rel_path for c in preview.changes] == ["deep/door.wav"]
    listed.write_text("File,Title\ndoor.wav,Both\n")
    both = preview_list(library.catalog, read_list(str(listed)), found.mapping)
    assert both.ambiguous == 1 and {c.clip.rel_path for c in both.changes} == {"door.wav", "deep/door.wav"}
    assert both.several == (("door.wav", 2),) and both.clips == 2
    none = preview_list(library.catalog, read_list(str(listed)), found.mapping, several=False)
    assert none.ambiguous == 1 and not none.changes and not none.values, "passed over, but told"
    listed.write_text(f"File,Title\n{sounds / 'door.wav'},Exact\n")
    exact = preview_list(library.catalog, read_list(str(listed)), found.mapping)
    assert [c.clip.rel_path for c in exact.changes] == ["door.wav"]


def test_a_list_may_only_fill_what_is_empty(library: Library, sounds: Path, tmp_path: Path) -> None:
    library.index(sounds)
    ids = library.ids()
    Editor(library.catalog).set_fields([ids["rain.wav"]], {"catid": "RAINMetl", "title": "Mine"})
    listed = tmp_path / "list.csv"
    listed.write_text("File,Title,Description,CatID\nrain.wav,Theirs,Wet,RAIN\ndeep/door.wav,New,,DOORWood\n")
    found = read_list(str(listed))
    both = preview_list(library.catalog, found, found.mapping)
    assert {(c.field, c.before) for c in both.changes if c.replaces} == {
        ("title", "Mine"), ("subcategory", "METAL"), ("catid", "RAINMetl"),
    }  # fmt: skip
    assert both.conflicts == 3
    filled = preview_list(library.catalog, found, found.mapping, replace=False)
    assert filled.conflicts == 0 and filled.values[ids["rain.wav"]] == {"description": "Wet"}
    assert filled.values[ids["deep/door.wav"]]["catid"] == "DOORWood"
    apply_list(library.catalog, found, filled)
    rain = library.catalog.find("rain.wav")
    assert (rain.title, rain.description, rain.catid) == ("Mine", "Wet", "RAINMetl")


def test_a_list_is_read_as_it_is_told_to(tmp_path: Path) -> None:
    listed = tmp_path / "list.csv"
    listed.write_bytes("File;Title\na.wav;Größe, rund".encode("mac_roman"))
    found = read_list(str(listed))
    assert (found.encoding, found.delimiter) == ("cp1252", ";")
    right = read_list(str(listed), encoding="mac_roman")
    assert right.rows == (("a.wav", "Größe, rund"),) and right.encoding == "mac_roman"
    assert read_list(str(listed), delimiter=",").columns[0].heading == "File;Title"
    listed.write_bytes("File\tTitle\na.wav\tü".encode("utf-16"))
    assert (read_list(str(listed)).encoding, read_list(str(listed)).rows) == ("utf-16", (("a.wav", "ü"),))


@pytest.mark.parametrize("content", [b"", b"\n\n", b"only a heading\n", b"\0\0\0\0\0\0"])
def test_files_without_a_table_are_refused(tmp_path: Path, content: bytes) -> None:
    listed = tmp_path / "list.csv"
    listed.write_bytes(content)
    with pytest.raises(ImportListError):
        read_list(str(listed))
    with pytest.raises(ImportListError):
        read_list(str(tmp_path / "gone.csv"))


@given(st.binary(max_size=400))
def test_any_bytes_are_a_list_or_refused(tmp_path: Path, content: bytes) -> None:
    listed = tmp_path / "list.csv"
    listed.write_bytes(content)
    try:
        found = read_list(str(listed))
    except ImportListError:
        return
    assert all(len(row) == len(found.columns) for row in found.rows)
