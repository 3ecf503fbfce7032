"""The catalog: folders, look-ups, filters as ids, bookkeeping, and what the user adds."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from foley_desktop.errors import CatalogError, UnknownClipError
from foley_desktop.library.catalog import Catalog, FileState, Reading
from foley_desktop.library.filters import parse_where
from foley_desktop.library.shelf import Shelf
from foley_desktop.models import Filters, Tag

STATE = FileState(10, 1_700_000_000_000_000_000, 2, 3, 4)


def reading(number: int = 0, **values: object) -> Reading:
    """A made-up reading whose audio is told apart by its number."""
    facts = {
        "audio_hash": f"{number:032x}"[::-1],
        "duration_s": 1.0 + number,
        "frames": 48_000 * (1 + number),
        "samplerate": 48_000,
        "channels": 1,
        "bit_depth": 16,
        "format": "WAV",
        "subtype": "PCM_16",
        "badges": (),
        "silent": False,
    }
    return Reading(**(facts | values))  # type: ignore[arg-type]


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog(tmp_path / "data" / "catalog.sqlite3")
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "sounds"
    (path / "inner" / "most").mkdir(parents=True)
    return path


def test_a_folder_is_one_root_however_it_is_spelt(catalog: Catalog, folder: Path, tmp_path: Path) -> None:
    root = catalog.add_root(folder)
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    for spelling in (f"{folder}/", f"{folder}/inner/..", str(tmp_path / "link")):
        assert catalog.place(spelling) == (root, b"")
    assert catalog.place(folder / "inner" / "most") == (root, b"inner/most")
    assert catalog.place(tmp_path / "link" / "inner") == (root, b"inner")


def test_a_folder_beside_another_with_a_longer_name_is_a_root_of_its_own(
    catalog: Catalog, folder: Path, tmp_path: Path
) -> None:
    catalog.add_root(folder)
    (tmp_path / "sounds 2").mkdir()
    assert catalog.place(tmp_path / "sounds 2")[1] == b""
    assert len(catalog.roots()) == 2


def test_a_surrounding_folder_takes_roots_in_with_their_clips(
    catalog: Catalog, folder: Path, tmp_path: Path
) -> None:
    inner = catalog.add_root(folder / "inner")
    clip_id = catalog.insert_clip(inner.id, b"caf\xe9/a.wav", STATE, reading())
    catalog.reject(inner.id, b"bad.wav", STATE, "not_audio", "No sound.", "test")
    catalog.begin_indexing("keyword", "1", [clip_id])
    catalog.mark_indexed("keyword", "1", [clip_id])
    root = catalog.add_root(tmp_path)
    assert [r.id for r in catalog.roots()] == [root.id]
    assert (catalog.roots()[0].clip_count, catalog.roots()[0].rejected_count) == (1, 1)
    clip = catalog.find(clip_id)
    assert os.fsencode(clip.path) == os.fsencode(folder) + b"/inner/caf\xe9/a.wav"
    assert os.fsencode(clip.rel_path) == b"sounds/inner/caf\xe9/a.wav"
    assert catalog.pending("keyword", "1") == [clip_id], "its folder words have changed"


def test_clips_are_found_by_id_path_and_path_below_the_root(catalog: Catalog, folder: Path) -> None:
    root = catalog.add_root(folder)
    clip_id = catalog.insert_clip(root.id, "inner/Tür.wav".encode(), STATE, reading())
    catalog.reject(root.id, b"bad.wav", STATE, "not_audio", "No sound.", "test")
    for ref in (clip_id, str(folder / "inner" / "Tür.wav"), "inner/Tür.wav", "inner/Tu\u0308r.wav"):
        assert catalog.find(ref).id == clip_id
    rejected = catalog.find("bad.wav")
    assert (rejected.status, rejected.reason, rejected.id) == ("rejected", "not_audio", "")
    for ref in ("", "nothing.wav", str(folder), "a\0b", "../x", "inner"):
        with pytest.raises(UnknownClipError):
            catalog.find(ref)


def test_numbers_beyond_63_bits_are_kept(catalog: Catalog, folder: Path) -> None:
    from foley_desktop.library.database import to_i64

    state = FileState(1, -5, to_i64(2**64 - 1), to_i64(2**63), 2)
    root = catalog.add_root(folder)
    catalog.insert_clip(root.id, b"a.wav", state, reading())
    present, _ = catalog.known_files(root.id, b"")
    assert present[b"a.wav"].state.same_content(state)


def test_ordinals_are_never_given_twice(catalog: Catalog, folder: Path) -> None:
    root = catalog.add_root(folder)
    ids = [catalog.insert_clip(root.id, f"{n}.wav".encode(), STATE, reading(7)) for n in range(3)]
    assert [i.rpartition("-")[2] for i in ids] == ["0", "1", "2"]
    assert len({i.rpartition("-")[0] for i in ids}) == 1
    assert all(i.isascii() for i in ids)


WHERE = [
    ("duration<3", {1, 2}), ("duration<=3", {1, 2, 3}), ("duration=2", {2}), ("duration!=2", {1, 3, 4}),
    ("duration>0:02", {3, 4}), ("rate>=48000", {1, 2, 3}), ("rate=44.1k", {4}), ("channels=stereo", {3}),
    ("depth!=16", {4}), ("depth>8", {1, 2, 3}), ("rating>=3", {2}), ("favourite=yes", {3}),
    ("favourite!=yes", {1, 2, 4}), ("favourite=no", {1, 2, 4}), ("category=doors", {1}),
    ("category!=DOORS", {2, 3, 4}), ("category=", {3, 4}), ("subcategory=creak", {1}),
    ("catid=doorcreak", {1}), ("collection=best of", {2, 4}), ("format=mp3", {4}), ("badge=truncated", {4}),
    ("date<2000-01-01", {4}), ("date=1970-01-02", {4}),
    ("date>=2000-01-01", {1, 2, 3}), ("folder=inner", {2, 3}), ("folder=inner/most", {3}),
    ("folder!=inner", {1, 4}), ("folder=inne", set()),
]  # fmt: skip


@pytest.fixture
def filled(catalog: Catalog, folder: Path) -> tuple[Catalog, dict[str, int]]:
    root = catalog.add_root(folder)
    doors = {"category": "DOORS", "subcategory": "CREAK", "catid": "DOORCreak"}
    old = FileState(10, 36 * 3600 * 10**9, 2, 3, 4)
    rows = [
        (b"1.wav", STATE, reading(0, **doors)),
        (b"inner/2.wav", STATE, reading(1, category="RAIN")),
        (b"inner/most/3.wav", STATE, reading(2, channels=2)),
        (b"4.mp3", old, reading(3, samplerate=44_100, bit_depth=None, format="MP3", badges=("truncated",))),
    ]
    numbers = {catalog.insert_clip(root.id, p, s, r): n for n, (p, s, r) in enumerate(rows, start=1)}
    ids = list(numbers)
    catalog.set_rating(ids[1:2], 4)
    catalog.set_favourite(ids[2:3], True)
    catalog.add_to_collection("Best of", [ids[1], ids[3]])
    return catalog, numbers


@pytest.mark.parametrize(("expression", "expected"), WHERE)
def test_filters_pass_exactly_the_clips_they_should(
    filled: tuple[Catalog, dict[str, int]], expression: str, expected: set[int]
) -> None:
    catalog, numbers = filled
    filters = parse_where([expression])
    found = catalog.matching_ids(filters)
    assert found is not None
    assert {numbers[i] for i in found} == expected
    assert {numbers[clip.id] for clip in catalog.list_clips(filters)} == expected
    assert catalog.count(filters) == len(expected)


def test_an_absolute_folder_may_be_a_root_lie_in_one_or_around_one(
    filled: tuple[Catalog, dict[str, int]], folder: Path, tmp_path: Path
) -> None:
    catalog, _numbers = filled
    for where, expected in ((folder, 4), (tmp_path, 4), (folder / "inner", 2), (tmp_path / "soun", 0)):
        found = catalog.matching_ids(parse_where([f"folder={where}"]))
        assert found is not None and len(found) == expected, where


def test_conditions_all_have_to_hold(filled: tuple[Catalog, dict[str, int]]) -> None:
    catalog, numbers = filled
    found = catalog.matching_ids(parse_where(["folder=inner", "duration>2", "rating=0"]))
    assert found is not None and {numbers[i] for i in found} == {3}


def test_no_restriction_is_told_apart_from_nothing_to_search(
    filled: tuple[Catalog, dict[str, int]],
) -> None:
    catalog, numbers = filled
    ids = list(numbers)
    assert catalog.matching_ids(Filters()) is None
    catalog.begin_indexing("keyword", "1", ids)
    catalog.mark_indexed("keyword", "1", ids)
    assert catalog.matching_ids(Filters()) is None
    root = catalog.roots()[0]
    catalog.set_root_searchable(root.id, False)
    assert catalog.matching_ids(Filters()) == frozenset()
    assert catalog.matching_ids(Filters(), searchable_only=False) is None
    assert (catalog.list_clips(), catalog.all_ids()) == ([], [])
    catalog.set_root_searchable(root.id, True)
    catalog.set_missing(ids[:1], retained=False)
    assert catalog.matching_ids(Filters()) == frozenset(ids[1:])
    catalog.forget_indexed("keyword", "1", ids[:1])
    assert catalog.matching_ids(Filters()) is None, "the index no longer holds what must not be found"
    catalog.set_root_online(root.id, False)
    assert catalog.matching_ids(Filters()) == frozenset()


def test_another_process_ends_a_remembered_set_of_ids(
    filled: tuple[Catalog, dict[str, int]],
) -> None:
    catalog, numbers = filled
    filters = parse_where(["rating>=3"])
    assert len(catalog.matching_ids(filters) or ()) == 1
    other = Catalog(catalog.path)
    other.set_rating(list(numbers), 5)
    other.close()
    assert len(catalog.matching_ids(filters) or ()) == 4


def test_lists_are_paged_and_unknown_values_come_last(filled: tuple[Catalog, dict[str, int]]) -> None:
    catalog, numbers = filled
    for descending in (False, True):
        clips = catalog.list_clips(order_by="depth", descending=descending)
        assert numbers[clips[-1].id] == 4
    by_length = [numbers[c.id] for c in catalog.list_clips(order_by="duration", descending=True)]
    assert by_length == [4, 3, 2, 1]
    pages = [catalog.list_clips(order_by="duration", limit=3, offset=n) for n in (0, 3)]
    assert [numbers[c.id] for page in pages for c in page] == [1, 2, 3, 4]
    with pytest.raises(CatalogError):
        catalog.list_clips(order_by="name; DROP TABLE clips")


def test_bookkeeping_leaves_pending_what_changed_while_it_was_written(
    filled: tuple[Catalog, dict[str, int]],
) -> None:
    catalog, _numbers = filled
    ids = catalog.all_ids()
    catalog.begin_indexing("keyword", "1", ids)
    assert catalog.pending("keyword", "1") == ids
    catalog.set_user_tags(ids[0], ["spooky"])
    catalog.mark_indexed("keyword", "1", ids)
    assert catalog.pending("keyword", "1") == ids[:1]
    assert catalog.pending("keyword", "2") == ids
    catalog.begin_indexing("keyword", "2", ids)
    catalog.mark_indexed("keyword", "2", ids)
    assert catalog.indexed_ids("keyword", "1") == []


def test_vectors_of_two_models_are_booked_side_by_side(filled: tuple[Catalog, dict[str, int]]) -> None:
    catalog, _ = filled
    ids = catalog.all_ids()
    for model in ("compact-1", "clap-1"):
        catalog.begin_indexing("audio", model, ids)
        catalog.mark_indexed("audio", model, ids, empty=ids[:1])
    assert catalog.pending("audio", "compact-1") == [] == catalog.pending("audio", "clap-1")
    assert catalog.without_vectors() == {ids[0]}


def test_what_a_removed_folder_left_in_the_indexes_stays_on_record(
    filled: tuple[Catalog, dict[str, int]],
) -> None:
    catalog, numbers = filled
    ids = sorted(numbers)
    catalog.begin_indexing("audio", "m", ids)
    catalog.mark_indexed("audio", "m", ids)
    catalog.remove_root(catalog.roots()[0].id)
    assert catalog.all_ids(searchable_only=False) == []
    assert {k: sorted(v) for k, v in catalog.stale("audio").items()} == {"m": ids}
    assert catalog.matching_ids(Filters()) == frozenset()
    catalog.forget_indexed("audio", "m", ids)
    assert catalog.matching_ids(Filters()) is None


def test_tags_of_the_user_outlive_a_new_reading(catalog: Catalog, folder: Path) -> None:
    root = catalog.add_root(folder)
    clip_id = catalog.insert_clip(root.id, b"a.wav", STATE, reading(tags=(Tag("title", "Old", "INFO"),)))
    catalog.set_user_tags(clip_id, ["  my   own ", "my own", "other"])
    assert catalog.update_clip(
        clip_id, root.id, b"a.wav", STATE, reading(tags=(Tag("title", "New", "INFO"),))
    )
    assert not catalog.update_clip(
        clip_id, root.id, b"a.wav", STATE, reading(tags=(Tag("title", "New", "INFO"),))
    )
    tags = [(tag.value, tag.source) for tag in catalog.tags(clip_id)]
    assert sorted(tags) == [("New", "INFO"), ("my own", "user"), ("other", "user")]
    assert catalog.document(clip_id).tags == "my own other"


def test_searches_collections_and_markers(filled: tuple[Catalog, dict[str, int]]) -> None:
    catalog, numbers = filled
    first = next(iter(numbers))
    for query in ("door", "rain", "  door ", "", "bad \udce9 byte"):
        catalog.remember_search(query)
    assert catalog.recent_searches(2) == ["bad \ufffd byte", "door"]
    shelf = Shelf(catalog)
    assert shelf.save("Wind", "wind", "keyword", Filters()).name == "Wind"
    assert [(saved.name, saved.text) for saved in shelf.saved()] == [("Wind", "wind")]
    catalog.add_to_collection("best OF", [first])
    assert catalog.collections() == [("Best of", 3)]
    catalog.remove_from_collection("best of", [first])
    catalog.remove_collection("Best of")
    assert catalog.collections() == []
    number = catalog.add_marker(first, 0.5, 1.0, "hit")
    assert catalog.markers(first) == [(number, 0.5, 1.0, "hit")]
    with pytest.raises(CatalogError):
        catalog.set_rating([first], 6)


def test_threads_read_while_one_writes(filled: tuple[Catalog, dict[str, int]]) -> None:
    catalog, _numbers = filled
    counts: list[int] = []
    with catalog.write() as connection:
        connection.execute("UPDATE clips SET rating = 5")
        thread = threading.Thread(target=lambda: counts.append(catalog.count(parse_where(["rating=5"]))))
        thread.start()
        thread.join(10)
        assert counts == [0], "a reader sees the state before the write, and does not wait"
    assert catalog.count(parse_where(["rating=5"])) == 4


def test_a_failed_write_leaves_nothing_behind(filled: tuple[Catalog, dict[str, int]]) -> None:
    catalog, _numbers = filled
    with pytest.raises(RuntimeError), catalog.write() as connection:
        connection.execute("DELETE FROM clips")
        raise RuntimeError
    assert catalog.count() == 4


def test_a_sound_catalog_with_tags_is_called_sound(catalog: Catalog, folder: Path) -> None:
    root = catalog.add_root(folder)
    tags = tuple(Tag(field, "Door", source) for field in ("title", "artist") for source in ("INFO", "ID3"))
    for number in range(3):
        catalog.insert_clip(root.id, b"%d.wav" % number, STATE, reading(number, tags=tags))
    assert len(catalog.rows("SELECT * FROM tags")) == 12
    assert catalog.integrity() == []


def test_a_catalog_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite3"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(CatalogError, match="newer version"):
        Catalog(path)


def test_a_file_that_is_no_catalog_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite3"
    path.write_bytes(b"not a database " * 100)
    with pytest.raises(CatalogError, match="cannot be used"):
        Catalog(path)
    assert path.read_bytes().startswith(b"not a database")


def test_a_closed_catalog_says_so(catalog: Catalog) -> None:
    catalog.close()
    catalog.close()
    with pytest.raises(CatalogError, match="closed"):
        catalog.roots()


def test_a_damaged_catalog_is_said_to_be_damaged(tmp_path: Path) -> None:
    opened = Catalog(tmp_path / "catalog.sqlite3")
    with opened.write():
        opened.connection.execute("PRAGMA writable_schema = ON")
        opened.connection.execute("UPDATE sqlite_master SET rootpage = 3 WHERE name = 'clips_audio'")
    opened.close()
    again = Catalog(tmp_path / "catalog.sqlite3")
    try:
        assert again.integrity()
    finally:
        again.close()
