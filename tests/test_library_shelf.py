"""Collections, saved searches, refused suggestions, and files with faults, in a real catalog."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from indexing import Library

from foley_desktop.errors import CatalogError
from foley_desktop.library.filters import parse_where
from foley_desktop.library.schema import SCHEMA_VERSION
from foley_desktop.library.shelf import Shelf
from foley_desktop.models import Condition, Filters


@pytest.fixture
def library(tmp_path: Path, synth: Callable[..., Path]) -> Iterator[Library]:
    sounds = tmp_path / "sounds"
    sounds.mkdir()
    for number, name in enumerate(("door.wav", "rain.wav", "dog.wav")):
        synth(sounds / name, seconds=0.2, seed=number, kind="noise")
    whole = synth(sounds / "short.wav", seconds=0.5).read_bytes()
    (sounds / "short.wav").write_bytes(whole[: len(whole) // 2])
    (sounds / "page.wav").write_text("<html>not a sound</html>")
    (sounds / "empty.wav").touch()
    with Library(tmp_path / "data") as opened:
        opened.index(sounds, audio=False)
        yield opened


@pytest.fixture
def shelf(library: Library) -> Shelf:
    return Shelf(library.catalog)


def ids_by_name(library: Library) -> dict[str, str]:
    return {clip.name: clip.id for clip in library.catalog.list_clips()}


def test_a_collection_is_made_filled_renamed_and_forgotten(library: Library, shelf: Shelf) -> None:
    ids = ids_by_name(library)
    assert shelf.create("  Best   of ", [ids["door.wav"]]) == "Best of"
    assert shelf.add("Best of", [ids["door.wav"], ids["rain.wav"]]) == [ids["rain.wav"]]
    assert shelf.collections() == [("Best of", 2)]
    assert shelf.take_out("best of", [ids["rain.wav"], ids["dog.wav"]]) == [ids["rain.wav"]]
    found = library.catalog.list_clips(Filters((Condition("collection", "=", "Best of"),)))
    assert [clip.name for clip in found] == ["door.wav"]
    assert shelf.rename("Best of", "Best of all") == "Best of all"
    assert shelf.members("Best of all") == [ids["door.wav"]]
    assert shelf.delete("Best of all") == [ids["door.wav"]]
    assert shelf.collections() == [] and len(ids_by_name(library)) == len(ids)


def test_names_of_collections_are_told_apart_and_never_empty(shelf: Shelf) -> None:
    shelf.create("Rain")
    shelf.create("Wind")
    for wrong in ("rain", "RAIN ", "", "  \n "):
        with pytest.raises(CatalogError):
            shelf.create(wrong)
    with pytest.raises(CatalogError, match="already"):
        shelf.rename("Wind", "rain")
    with pytest.raises(CatalogError, match="no collection"):
        shelf.rename("Thunder", "Storm")
    assert [name for name, _ in shelf.collections()] == ["Rain", "Wind"]
    assert shelf.rename("Wind", "WIND") == "WIND", "another case of its own name"


def test_a_saved_search_keeps_words_mode_and_filters(shelf: Shelf) -> None:
    odd = os.fsdecode(b"/sounds/caf\xe9")
    filters = Filters(
        (*parse_where(["duration<5", "favourite=yes", "category="]).conditions, Condition("folder", "=", odd))
    )
    saved = shelf.save("Short ones", "  heavy   door ", "keyword", filters)
    assert shelf.saved() == [saved] and (saved.text, saved.mode) == ("heavy door", "keyword")
    assert shelf.saved()[0].filters == filters, "also a folder whose name is no text"
    again = shelf.save("SHORT ones", "rain", "audio", Filters())
    assert [s.text for s in shelf.saved()] == ["rain"], "the same name is the same search"
    assert again.number == saved.number
    with pytest.raises(CatalogError, match="nothing to save"):
        shelf.save("Nothing", "  ", "hybrid", Filters())
    shelf.save("Other", "wind", "hybrid", Filters())
    with pytest.raises(CatalogError, match="already"):
        shelf.rename_search(again.number, "other")
    shelf.rename_search(again.number, "Zebra")
    assert [s.name for s in shelf.saved()] == ["Other", "Zebra"]
    shelf.delete_search(again.number)
    assert [s.name for s in shelf.saved()] == ["Other"]


def test_saved_searches_follow_a_renamed_collection(shelf: Shelf) -> None:
    shelf.create("Doors")
    conditions = (Condition("collection", "=", "Doors"), Condition("rating", ">=", 3.0))
    shelf.save("Good doors", "", "hybrid", Filters(conditions))
    shelf.rename("Doors", "Gates")
    (saved,) = shelf.saved()
    assert saved.filters.conditions == (Condition("collection", "=", "Gates"), conditions[1])


@pytest.mark.parametrize(
    "document",
    [
        "",
        "[]",
        "{}",
        '{"text": 1, "mode": "hybrid"}',
        '{"text": "a", "mode": "hybrid", "filters": [["x", "=", 1]]}',
    ],
)
def test_a_saved_search_of_another_version_is_left_out(library: Library, shelf: Shelf, document: str) -> None:
    shelf.save("Good", "rain", "hybrid", Filters())
    with library.catalog.write() as connection:
        connection.execute(
            "INSERT INTO saved_searches (name, document, saved_s) VALUES ('Bad', ?, 0)", (document,)
        )
    assert [saved.name for saved in shelf.saved()] == ["Good"]


def test_refused_categories_are_remembered_by_clip(library: Library, shelf: Shelf) -> None:
    ids = ids_by_name(library)
    shelf.refuse(ids["door.wav"], "DOORWood")
    shelf.refuse(ids["door.wav"], "DOORMetl")
    shelf.refuse("no such clip", "RAIN")
    assert shelf.refused([ids["door.wav"], ids["rain.wav"]]) == {
        ids["door.wav"]: frozenset({"DOORWood", "DOORMetl"})
    }
    shelf.refuse(ids["door.wav"], "DOORWood", False)
    assert shelf.refused(list(ids.values())) == {ids["door.wav"]: frozenset({"DOORMetl"})}


def test_faults_are_counted_and_told_in_sentences(library: Library, shelf: Shelf) -> None:
    assert shelf.badges() == {"truncated": 1}
    reasons = {clip.name: (clip.reason, sentence) for clip, sentence in shelf.unusable()}
    assert shelf.unusable_count() == len(reasons) == 2
    assert reasons["empty.wav"][0] == "empty" and reasons["page.wav"][0] == "not_audio"
    assert all(sentence.endswith(".") and " " in sentence for _, sentence in reasons.values())


def test_a_sound_that_is_gone_is_listed_with_those_refused(library: Library, shelf: Shelf) -> None:
    clip = next(c for c in library.catalog.list_clips() if c.name == "dog.wav")
    library.catalog.set_rating([clip.id], 4)
    os.unlink(clip.path)
    library.index(Path(clip.path).parent, audio=False)
    gone = [(c.name, c.status) for c, _ in shelf.unusable() if c.status != "rejected"]
    assert gone == [("dog.wav", "missing")] and shelf.unusable_count() == 3


def test_a_refused_file_is_read_again_only_when_asked(
    library: Library, shelf: Shelf, tmp_path: Path, synth: Callable[..., Path]
) -> None:
    page = next(clip for clip, _ in shelf.unusable() if clip.name == "page.wav")
    before = library.catalog.value("SELECT count(*) FROM rejected")
    shelf.forget_rejections([page, next(iter(library.catalog.list_clips()))])
    assert library.catalog.value("SELECT count(*) FROM rejected") == before - 1
    library.index(Path(page.path).parent, audio=False)
    assert library.catalog.value("SELECT count(*) FROM rejected") == before, "it is still no sound"


def test_an_older_catalog_gets_the_new_tables(tmp_path: Path) -> None:
    from foley_desktop.library import schema
    from foley_desktop.library.catalog import Catalog

    file = tmp_path / "catalog.sqlite3"
    connection: Any = sqlite3.connect(file, isolation_level=None)
    for script in schema.MIGRATIONS[:5]:
        for statement in script.split(";\n"):
            if statement.strip():
                connection.execute(statement)
    connection.execute("PRAGMA user_version = 5")
    connection.close()
    catalog = Catalog(file)
    assert catalog.value("PRAGMA user_version") == SCHEMA_VERSION
    assert Shelf(catalog).saved() == [] and Shelf(catalog).refused(["x"]) == {}
    catalog.close()
