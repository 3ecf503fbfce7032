"""The tree of categories, suggestions for clips without one, and the wastebasket."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from indexing import Library
from job_support import run
from torture import is_root

from foley_desktop.errors import FoleyError, LockedError
from foley_desktop.index.embedders.host import InProcessModels, ModelHost
from foley_desktop.library import category_words, suggesting, ucs
from foley_desktop.library.categories import UNLABELLED, category_tree, unlabelled
from foley_desktop.library.editing import Editor
from foley_desktop.library.service import LibraryService
from foley_desktop.library.suggesting import Suggester, Suggestion
from foley_desktop.library.trashing import throw_away
from foley_desktop.settings import DataFolder, Settings, resource

Synth = Callable[..., Path]


NAMES = (
    "door creak old.wav",
    "heavy rain.wav",
    "dog barking.wav",
    "AMBForst_Birds_ABC_LIB.wav",
    "DOORWood_Slam_ABC_LIB.wav",
    "DOORWood_Slam 2_ABC_LIB.wav",
    "0042.wav",
)


@pytest.fixture
def library(tmp_path: Path, synth: Synth) -> Iterator[Library]:
    for number, name in enumerate(NAMES):
        synth(tmp_path / "sounds" / name, 0.3, kind="noise", seed=number)
    with Library(tmp_path / "library") as opened:
        opened.index(tmp_path / "sounds")
        yield opened


def suggest(library: Library, *names: str) -> dict[str, tuple[Suggestion, ...]]:
    ids = library.ids()
    made = run(
        Suggester(library.catalog, library.indexes, library.models).suggest([ids[name] for name in names])
    )
    return {name: made[ids[name]] for name in names}


# ---------------------------------------------------------------- tree


def test_the_tree_counts_what_the_library_holds(library: Library) -> None:
    tree = {category.name: category for category in category_tree(library.catalog)}
    assert list(tree) == ["AMBIENCE", "DOORS"]
    assert (tree["DOORS"].clips, tree["DOORS"].known) == (2, True)
    assert tree["DOORS"].branches == (("WOOD", "DOORWood", 2),)
    assert library.catalog.count(tree["DOORS"].filters) == 2
    assert library.catalog.count(tree["DOORS"].branches[0].filters("DOORS")) == 2
    assert unlabelled(library.catalog) == 4
    assert {clip.name for clip in library.catalog.list_clips(UNLABELLED)} == set(NAMES[:3]) | {NAMES[6]}
    ids = library.ids()
    Editor(library.catalog).set_fields(
        [ids["heavy rain.wav"]], {"category": "doors", "subcategory": "my own"}
    )
    Editor(library.catalog).set_fields([ids["0042.wav"]], {"category": "Other things"})
    tree = {category.name: category for category in category_tree(library.catalog)}
    assert [(b.subcategory, b.catid, b.clips) for b in tree["DOORS"].branches] == [
        ("WOOD", "DOORWood", 2),
        ("my own", "", 1),
    ]
    assert not tree["Other things"].known
    whole = category_tree(library.catalog, whole=True)
    assert sum(len(category.branches) for category in whole) == 753 + 2
    assert sum(category.clips for category in whole) == 5


# ---------------------------------------------------------------- suggestions


def test_the_phrases_cover_the_whole_table() -> None:
    covered = {phrase.catid for phrase in category_words.phrases()}
    assert covered == set(ucs.table()) - category_words.NEVER
    assert all(phrase.stems for phrase in category_words.phrases())


@pytest.mark.parametrize(
    ("text", "catid"),
    [
        ("door creak", "DOORCreak"),
        ("dogs barking", "ANMLDog"),
        ("heavy rain", "RAIN"),
        ("rain on tin roof metal", "RAINMetl"),
        ("church bell", "BELLLrg"),
        ("footsteps gravel", "FEETHmn"),
        ("pistol shot", "GUNPis"),
        ("glass shatter", "GLASBrk"),
        ("plate smash", "CERMBrk"),
    ],
)
def test_words_alone_suggest_a_category(text: str, catid: str) -> None:
    scores = category_words.words_scores(category_words.stemmed(text))
    best = max(scores.values())
    assert scores[catid] >= 0.8 * best, sorted(scores.items(), key=lambda item: -item[1])[:5]


def test_words_that_are_no_sounds_suggest_nothing() -> None:
    assert category_words.words_scores([]) == {}
    assert category_words.words_scores(category_words.stemmed("zzyzx qwrt")) == {}


def test_clips_get_categories_with_a_confidence(library: Library) -> None:
    made = suggest(library, "door creak old.wav", "heavy rain.wav", "dog barking.wav", "0042.wav")
    assert made["door creak old.wav"][0].catid == "DOORCreak"
    assert made["heavy rain.wav"][0].category == "RAIN"
    assert made["dog barking.wav"][0].catid == "ANMLDog"
    for suggestions in made.values():
        shares = [suggestion.confidence for suggestion in suggestions]
        assert len(shares) == suggesting.COUNT and shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1.001
    sure, unsure = made["dog barking.wav"][0], made["0042.wav"][0]
    assert sure.confidence > 2 * unsure.confidence, "a name that says nothing gives no confidence"
    assert set(sure.why) == {"words", "meaning", "sound", "neighbours"}
    assert suggest(library, "dog barking.wav") == {"dog barking.wav": made["dog barking.wav"]}
    assert run(Suggester(library.catalog, library.indexes, library.models).suggest(["nobody"])) == {}


def test_words_written_together_count_one_by_one(library: Library, tmp_path: Path, synth: Synth) -> None:
    synth(tmp_path / "sounds" / "heavytraffic.wav", 0.3, kind="noise", seed=50)
    library.index()
    (first, *_) = suggest(library, "heavytraffic.wav")["heavytraffic.wav"]
    assert first.catid == "AMBTraf" and first.why["words"] > 0


def test_what_was_refused_is_not_suggested_and_steps_are_handed_over(library: Library) -> None:
    ids = library.ids()
    asked = [ids["door creak old.wav"], ids["dog barking.wav"]]
    suggester = Suggester(library.catalog, library.indexes, library.models)
    handed: dict[str, tuple[Suggestion, ...]] = {}
    made = run(suggester.suggest(asked, refused={asked[0]: {"DOORCreak"}}, take=handed.update))
    assert handed == made and set(made) == set(asked)
    assert "DOORCreak" not in {suggestion.catid for suggestion in made[asked[0]]}
    assert made[asked[1]][0].catid == "ANMLDog"


def test_labelled_clips_that_sound_alike_speak_for_their_category(
    library: Library, tmp_path: Path, synth: Synth
) -> None:
    for number in range(3):
        synth(tmp_path / "sounds" / f"WINDGust_Blow {number}_ABC_LIB.wav", 0.3, kind="tone", seed=number)
    synth(tmp_path / "sounds" / "0043.wav", 0.3, kind="tone", seed=1)
    library.index()
    why = suggest(library, "0043.wav")["0043.wav"]
    votes = {suggestion.catid: suggestion.why["neighbours"] for suggestion in why}
    assert votes.get("WINDGust", 0) == max(votes.values()) > 0


def test_suggestions_are_accepted_as_one_step(tmp_path: Path, library: Library) -> None:
    ids = library.ids()
    models = InProcessModels(("hash",))
    service = LibraryService(DataFolder(library.data.path), models=models, settings=Settings(embedder="hash"))
    try:
        desk = service.desk
        made = run(desk.suggest_categories([ids["door creak old.wav"], ids["heavy rain.wav"]]))
        changed = desk.accept_categories({i: suggestions[0].catid for i, suggestions in made.items()})
        assert set(changed) == set(made)
        clip = service.catalog.find("door creak old.wav")
        assert (clip.catid, clip.category) == ("DOORCreak", "DOORS")
        assert any(tag.source == "edit" and tag.field == "catid" for tag in service.tags(clip))
        assert desk.next_undo().label == "Accept 2 categories"  # type: ignore[union-attr]
        run(desk.undo())
        assert service.catalog.find("door creak old.wav").catid == ""
        with pytest.raises(FoleyError):
            desk.accept_categories({ids["0042.wav"]: "NOSuch"})
    finally:
        service.close()
        models.close()


def test_the_phrases_vectors_are_made_once(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    suggest(library, "heavy rain.wav")
    kept = sorted((library.data.path / "categories").iterdir())
    counts = [len(ucs.table()) - len(category_words.NEVER), len(category_words.phrases())]
    assert [len(np.load(file)) for file in kept] == counts
    kept[1].write_bytes(b"broken")
    assert suggest(library, "heavy rain.wav")["heavy rain.wav"][0].category == "RAIN"
    assert len(np.load(kept[1])) == counts[1]


def test_the_vectors_that_are_shipped_are_those_of_the_phrases() -> None:
    """After a change of words.tsv, run: python resources/ucs/embed_words.py"""
    with np.load(resource("ucs/words.npz")) as file:
        assert str(file["version"]) == category_words.version()
        vectors = category_words.shipped_vectors(str(file["model_id"]))
    assert vectors is not None and vectors.shape == (len(category_words.phrases()), 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert category_words.shipped_vectors("another model") is None


@pytest.mark.model
def test_meaning_suggests_what_no_phrase_says(tmp_path: Path, synth: Synth) -> None:
    models = ModelHost(("minilm", "hash"))
    names = {
        "canine yapping.wav": "ANMLDog",
        "feline wailing.wav": "ANMLCat",
        "thunderous downpour.wav": "RAIN",
    }
    try:
        for number, name in enumerate(names):
            synth(tmp_path / "sounds" / name, 0.2, kind="noise", seed=number)
        with Library(tmp_path / "library", models) as library:
            library.index(tmp_path / "sounds", audio=False)
            made = suggest(library, *names)
            for name, catid in names.items():
                assert catid in [suggestion.catid for suggestion in made[name][:3]], made[name]
    finally:
        models.close()


# ---------------------------------------------------------------- wastebasket


def test_what_is_thrown_away_can_be_taken_out_again(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    ids = library.ids()
    chosen = ids["dog barking.wav"]
    with pytest.raises(LockedError):
        run(throw_away(library.catalog, [chosen]))
    assert (tmp_path / "sounds" / "dog barking.wav").exists()
    library.catalog.set_root_locked(library.catalog.roots()[0].id, False)
    library.catalog.set_rating([chosen], 3)
    report = run(throw_away(library.catalog, [chosen]))
    ((path, place),) = report.thrown
    assert not os.path.exists(path) and os.path.isfile(place)
    info = (tmp_path / "data" / "Trash" / "info" / "dog barking.wav.trashinfo").read_text()
    assert "dog%20barking.wav" in info and "DeletionDate=" in info
    assert library.catalog.clip(chosen).status == "missing"  # type: ignore[union-attr]
    assert run(throw_away(library.catalog, [chosen])).refused[0].reason == "vanished"
    os.rename(place, path)
    library.index()
    clip = library.catalog.clip(chosen)
    assert clip is not None and (clip.status, clip.rating, clip.path) == ("ok", 3, path)


@pytest.mark.skipif(not is_root(), reason="only root can mount a disk")
def test_each_disk_has_a_wastebasket_of_its_own(tmp_path: Path, synth: Synth) -> None:
    import subprocess

    from foley_desktop.library.trashing import trash_file

    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        for _ in range(2):
            path = disk / "a.wav"
            path.write_bytes(b"sound")
            place = trash_file(str(path))
            assert place.startswith(str(disk / f".Trash-{os.getuid()}")) and os.path.isfile(place)
        assert len(os.listdir(disk / f".Trash-{os.getuid()}" / "files")) == 2
    finally:
        subprocess.run(["umount", str(disk)], check=True)
