"""The words of a clip, and the Universal Category System."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.library import ucs
from foley_desktop.library.text import (
    clean_name,
    keyword_document,
    meaning_text,
    nearest_folders,
    telling_words,
)
from foley_desktop.models import Clip, Tag


def clip(rel_path: str, **values: str) -> Clip:
    return Clip("id", f"/lib/{rel_path}", 1, rel_path, rel_path.rpartition("/")[2], **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stem", "words"),
    [
        ("DoorSlam_03", "door slam"),
        ("dog-barking-02", "dog barking"),
        ("WaterRunning", "water running"),
        ("41_Toyland_ Sugar mine (1)", "toyland sugar mine"),
        ("SFX_Rain_Heavy_take4_v2", "rain heavy"),
        ("sfx_01", "sfx"),
        ("0042", "0042"),
        ("footstep_gravel_a", "footstep gravel"),
        ("HTMLParser click", "html parser click"),
        ("café_Türschlag", "café türschlag"),
        ("F16 flyby", "f16 flyby"),
        ("don't stop", "don't stop"),
        ("DOORWood_Castle Gate Slam_ABC_LIB01", "castle gate slam wood doors"),
        ("ANMLDog-PETS_Bark Big_ABC_X", "bark big pets dog animals"),
        ("RAIN_HEAVY_ON_ROOF", "rain heavy on roof"),
        ("wind_in_the_trees", "wind in the trees"),
        ("音_ドア", "音 ドア"),
    ],
)
def test_names_are_cut_down_to_what_is_heard(stem: str, words: str) -> None:
    assert clean_name(stem) == words


@pytest.mark.parametrize(
    ("rel_path", "folders"),
    [
        ("usr/share/games/xyz/sounds/footsteps/gravel1.ogg", "footsteps"),
        ("Weapons/Swords 01/wav/clash.wav", "swords"),
        ("xyzlib-data/opensfx.cat.d/moo.wav", ""),
        ("moo.wav", ""),
    ],
)
def test_the_nearest_folder_that_speaks_of_sound(rel_path: str, folders: str) -> None:
    assert nearest_folders(rel_path) == folders


def test_a_root_counts_as_a_folder() -> None:
    assert nearest_folders("a/b.wav", "/home/me/Birds and Insects") == "birds insects"
    assert nearest_folders("Rain/b.wav", "/home/me/Birds", count=2) == "birds rain"


def test_a_name_that_says_nothing_leaves_it_to_the_folders() -> None:
    assert meaning_text(clip("Rusty Harbour Gate/Takes/003.wav")) == "rusty harbour gate"
    assert meaning_text(clip("Rusty Harbour Gate/8f3a09c2.wav")) == "rusty harbour gate"
    assert meaning_text(clip("003.wav")) == meaning_text(clip("8f3a09c2.wav")) == ""
    assert meaning_text(clip("clip_0042_x7Qp2k.wav")) == ""
    assert meaning_text(clip("8f3a09c2.wav", description="Heavy gate")) == "heavy gate"


def test_meaning_takes_in_tags_as_far_as_they_add_words() -> None:
    plain = meaning_text(clip("Doors/slam.wav"))
    assert plain == "doors slam"
    assert meaning_text(clip("Doors/slam.wav", title="Door Slam")) == plain
    told = meaning_text(clip("Doors/slam.wav", description="Heavy oak gate of a castle"))
    assert told == "doors slam. heavy oak gate of castle"
    own = meaning_text(clip("Doors/slam.wav"), [Tag("keywords", "spooky", "user")])
    assert own == "doors slam. spooky"
    assert "doors" in meaning_text(clip("slam.wav", category="DOORS", subcategory="WOOD"))


@pytest.mark.parametrize(
    "value",
    ["http://www.example.org", "Processed by SoX", "© 2004 somebody", "me@example.org", "CC-BY-SA v3.00",
     "01", "", "Pro Tools generated sound file", "Recorded on 5/4/2014 in Edison."],
)  # fmt: skip
def test_tags_that_do_not_speak_of_the_sound_are_left_out(value: str) -> None:
    assert telling_words(value) == []


@given(st.text(), st.text(), st.text())
def test_any_path_and_any_tag_gives_a_text(path: str, title: str, description: str) -> None:
    made = clip(path or "x", title=title, description=description)
    text = meaning_text(made)
    text.encode("utf-8")
    document = keyword_document(made)
    for field in document[1:3]:
        field.encode("utf-8")


def test_documents_hold_every_field() -> None:
    made = clip(
        "Doors/Castle/slam_01.WAV", title="T", description="D", keywords="a, b", category="DOORS", catid="X"
    )
    document = keyword_document(made, [Tag("keywords", "mine", "user"), Tag("artist", "Somebody", "INFO")])
    assert document.clip_id == "id"
    assert (document.name, document.ext, document.tags) == ("slam_01", "wav", "mine")
    assert "Castle" in document.folder and "DOORS" in document.category


def test_the_table_is_whole_and_looked_up_in_any_case() -> None:
    assert len(ucs.table()) == 753
    assert ucs.category("doorwood") == ("DOORS", "WOOD") == ucs.table()["DOORWood"]
    assert ucs.catid_of("doors", "Wood") == "DOORWood"
    assert ucs.category("nothing") is None
    assert ucs.canonical("") == ""


@pytest.mark.parametrize(
    ("stem", "parts"),
    [
        ("DOORWood_Castle Gate_ABC_LIB", ("DOORWood", "", "Castle Gate", "ABC", "LIB", "")),
        ("DOORWood-OLD_Gate_ABC_LIB_kHz_96", ("DOORWood", "OLD", "Gate", "ABC", "LIB", "kHz_96")),
        ("doorwood_gate_abc_lib", ("DOORWood", "", "gate", "abc", "lib", "")),
        ("RAIN_Roof", ("RAIN", "", "Roof", "", "", "")),
    ],
)
def test_ucs_names_are_read(stem: str, parts: tuple[str, ...]) -> None:
    name = ucs.parse_name(stem)
    assert name is not None
    assert (name.catid, name.user_category, name.fx_name, name.creator, name.source, name.user_data) == parts
    assert name.vendor_category == ""


@pytest.mark.parametrize(
    ("stem", "vendor", "fx_name"),
    [
        ("DOORWood-OLD_CASTLE-Gate Slam_ABC_LIB", "CASTLE", "Gate Slam"),
        ("DOORWood_CASTLE-Gate-Slam_ABC_LIB_x", "CASTLE", "Gate-Slam"),
        ("CLOTHRip_T-Shirt Rip_ABC_LIB", "", "T-Shirt Rip"),
        ("RAIN_Roof - Heavy_ABC_LIB", "", "Roof - Heavy"),
        ("RAIN_Roof-Heavy", "", "Roof-Heavy"),
    ],
)
def test_a_vendor_category_stands_in_front_of_the_effects_name(stem: str, vendor: str, fx_name: str) -> None:
    name = ucs.parse_name(stem)
    assert name is not None and (name.vendor_category, name.fx_name) == (vendor, fx_name)
    if name.complete:
        assert ucs.parse_name(ucs.compose(name)) == name


@given(st.lists(st.text(max_size=20), min_size=6, max_size=6), st.sampled_from(sorted(ucs.table())))
def test_what_is_composed_is_a_ucs_name_again(parts: list[str], catid: str) -> None:
    category, subcategory = ucs.table()[catid]
    user, fx_name, creator, source, data, vendor = parts
    wanted = ucs.UcsName(catid, category, subcategory, user, fx_name + "x", creator, source, data, vendor)
    stem = ucs.compose(wanted)
    found = ucs.parse_name(stem)
    assert found is not None and found.catid == catid
    if creator.strip(" _\n\t") and found.complete:
        assert ucs.compose(found) == stem


@pytest.mark.parametrize(
    "stem", ["", "DOORWood", "door_wood_slam_01", "rain_on_the_roof", "RAIN_ON_ROOF", "_x_y_z"]
)
def test_other_names_are_not_taken_for_ucs(stem: str) -> None:
    assert ucs.parse_name(stem) is None
