"""Handing over: presets, names, the files made for drags and what becomes of them, uses, bins."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from foley_desktop.audio.treatment import Treatment
from foley_desktop.errors import AudioFileError, CatalogError, FilterError, RenderError
from foley_desktop.index.embedders.host import InProcessModels
from foley_desktop.library import spot_names
from foley_desktop.library.filters import parse_where
from foley_desktop.library.presets import AS_IT_IS, BUILT_IN, Preset, named
from foley_desktop.library.service import LibraryService
from foley_desktop.library.spotted import OFFERED, TAKEN, Spot, surplus
from foley_desktop.library.transfer import Order, Transfer
from foley_desktop.library.usage import Use
from foley_desktop.models import Clip, Filters, Region
from foley_desktop.settings import DataFolder, Settings

Synth = Callable[..., Path]


@pytest.fixture
def service(tmp_path: Path, synth: Synth) -> Iterator[LibraryService]:
    synth("sounds/door slam.wav", seconds=2.0, channels=2, kind="noise", subtype="PCM_24")
    synth("sounds/rain.flac", seconds=1.0, samplerate=44100, kind="noise", seed=1)
    synth("sounds/wind.ogg", seconds=1.0, samplerate=44100, kind="noise", seed=2)
    made = LibraryService(
        DataFolder(tmp_path / "library"), models=InProcessModels(), settings=Settings(embedder="hash")
    )
    for _ in made.index([str(tmp_path / "sounds")], audio=False):
        pass
    yield made
    made.close()


@pytest.fixture
def door(service: LibraryService) -> Clip:
    return service.clip("door slam.wav")


@pytest.fixture
def transfer(service: LibraryService) -> Transfer:
    return service.transfer


def one(transfer: Transfer, order: Order, preset: Preset = AS_IT_IS) -> Path:
    (parcel,) = transfer.prepare([order], preset)
    return Path(parcel.file)


# ---------------------------------------------------------------- what leaves


def test_an_unchanged_row_is_the_original_itself(transfer: Transfer, door: Clip) -> None:
    (parcel,) = transfer.prepare([Order(door)], AS_IT_IS)
    assert (parcel.file, parcel.made) == (door.path, False)


def test_a_region_is_made_of_exactly_those_samples(transfer: Transfer, door: Clip) -> None:
    made = one(transfer, Order(door, Region(0.5, 1.25)))
    assert made.parent == transfer.folder and made.name == "door slam_0.500s-1.250s.wav"
    old, new = (soundfile.read(path, dtype="int32")[0] for path in (door.path, made))
    assert np.array_equal(new, old[24000:60000])


def test_the_same_again_is_the_same_file_unless_someone_changed_it(transfer: Transfer, door: Clip) -> None:
    order = Order(door, Region(0.5, 1.0))
    first = one(transfer, order)
    assert one(transfer, order) == first
    os.utime(first, (1, 1))  # an editor wrote into it
    assert one(transfer, order).name == "door slam_0.500s-1.000s_2.wav"
    assert one(transfer, Order(door, Region(0.5, 1.0), Treatment(reverse=True))).name.endswith("_3.wav")


def test_what_is_heard_is_what_leaves(transfer: Transfer, door: Clip) -> None:
    made = one(transfer, Order(door, None, Treatment(reverse=True, gain_db=-6.0, channels="2")))
    old, new = soundfile.read(door.path)[0], soundfile.read(made, always_2d=True)[0]
    assert new == pytest.approx(old[::-1, 1:] * 10 ** (-6 / 20), abs=2**-22)


def test_a_preset_converts_what_is_not_so_already(
    service: LibraryService, transfer: Transfer, door: Clip
) -> None:
    tools = named(BUILT_IN, "Pro Tools 48k/24")
    assert tools is not None
    assert one(transfer, Order(door), tools) == Path(door.path)
    made = one(transfer, Order(service.clip("rain.flac")), tools)
    info = soundfile.info(made)
    assert (info.format, info.samplerate, info.subtype) == ("WAV", 48000, "PCM_24")
    assert made.name == "rain.wav", "a whole sound has no times in its name"


def test_handles_reach_into_the_sound_and_no_further(transfer: Transfer, door: Clip) -> None:
    preset = Preset("handles", handle_s=0.5)
    old = soundfile.read(door.path, dtype="int32")[0]
    for region, first, last in ((Region(0.75, 1.0), 12000, 72000), (Region(0.25, 1.9), 0, 96000)):
        made = one(transfer, Order(door, region), preset)
        assert np.array_equal(soundfile.read(made, dtype="int32")[0], old[first:last])


@pytest.mark.parametrize("extension", [".wav", ".flac", ".aiff", ".ogg"])
def test_every_format_has_its_preset(transfer: Transfer, door: Clip, tmp_path: Path, extension: str) -> None:
    preset = Preset(
        "x", extension, 44100, None, 1, -1.0, 0.0, 0.01, 0.01, True, "{project} {name}", str(tmp_path)
    )
    made = one(transfer, Order(door, Region(0.0, 0.5)), preset)
    assert made.parent == tmp_path and made.name == f"Untitled project door slam{extension}"
    info = soundfile.info(made)
    assert (info.samplerate, info.channels) == (44100, 1)


def test_a_lossy_region_is_kept_whole_and_named_wav(service: LibraryService, transfer: Transfer) -> None:
    made = one(transfer, Order(service.clip("wind.ogg"), Region(0.1, 0.2)))
    assert made.suffix == ".wav" and soundfile.info(made).subtype == "FLOAT"


def test_what_is_not_there_is_told(transfer: Transfer, door: Clip) -> None:
    os.unlink(door.path)
    with pytest.raises(AudioFileError, match="not there"):
        transfer.prepare([Order(door)], AS_IT_IS)


# ---------------------------------------------------------------- presets


def test_own_presets_last_and_may_stand_in_for_built_in_ones(transfer: Transfer) -> None:
    presets = transfer.presets
    presets.save(Preset("Avid 96", ".wav", 96000, 24, handle_s=1.0))
    presets.save(Preset("REAPER", ".flac"))
    assert [preset.name for preset in presets.all()] == [*(p.name for p in BUILT_IN), "Avid 96"]
    reaper = named(presets.all(), "REAPER")
    assert reaper is not None and reaper.extension == ".flac"
    presets.remove("REAPER")
    reaper = named(presets.all(), "REAPER")
    assert reaper is not None and reaper.extension == ".wav"


@pytest.mark.parametrize(
    "preset",
    [Preset(""), Preset("x", ".mp3"), Preset("x", ".flac", depth=32), Preset("x", handle_s=-1),
     Preset("x", rate=5), Preset("x", template="{nmae}"), Preset("x", fade_in_s=100.0)],
)  # fmt: skip
def test_senseless_presets_are_refused(transfer: Transfer, preset: Preset) -> None:
    with pytest.raises(RenderError):
        transfer.presets.save(preset)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: (
            st.lists(x)
            | st.dictionaries(st.text() | st.sampled_from(["name", "rate", "extension", "template"]), x)
        ),
    )
)
def test_any_settings_give_presets(raw: object) -> None:
    from foley_desktop.library.presets import Presets

    presets = Presets(Settings(extra={"presets": [raw], "preset": raw, "spotted_template": raw}))
    assert len(presets.all()) >= len(BUILT_IN) and presets.active in presets.all()
    assert not spot_names.flaw(presets.template)


# ---------------------------------------------------------------- names

CLIP = Clip(
    id="x", path="/s/x.wav", root_id=1, rel_path="x.wav", name="DOORWood_Big Slam_JD_LIB.wav",
    catid="DOORWood", category="DOORS", subcategory="WOOD", title="Slam", description="A big one",
    samplerate=44100, channels=2, duration_s=3.0,
)  # fmt: skip
NOW = datetime.datetime(2026, 1, 31, 14, 5, 9)


@pytest.mark.parametrize(
    ("template", "region", "name"),
    [
        (spot_names.DEFAULT, Region(1.0, 62.5), "DOORWood_Big Slam_JD_LIB_1.000s-1m02.500s"),
        (spot_names.DEFAULT, None, "DOORWood_Big Slam_JD_LIB"),
        ("{project}_{catid}_{fxname}_{date}", None, "Film_DOORWood_Big Slam_2026-01-31"),
        ("{start} {name}", None, "DOORWood_Big Slam_JD_LIB"),
        ("{category}-{subcategory} {rate} {channels}ch", None, "DOORS-WOOD 44.1k 2ch"),
        ("{title} ({description}) {time} {length}", None, "Slam (A big one) 14.05.09 3.000s"),
    ],
)
def test_templates_are_filled(template: str, region: Region | None, name: str) -> None:
    assert spot_names.flaw(template) == ""
    assert spot_names.stem(template, CLIP, region, project="Film", now=NOW) == name


@pytest.mark.parametrize(
    "template", ["", "  ", "take", "{nmae}", "{name", "name}", "{name}/{date}", "{name}" * 90]
)
def test_bad_templates_say_what_is_wrong(template: str) -> None:
    said = spot_names.flaw(template)
    assert said.endswith(".") and "\n" not in said


@given(st.text(max_size=400) | st.binary(max_size=300).map(os.fsdecode), st.text(max_size=300))
def test_any_clip_gets_a_name_that_keeps_its_times(name: str, project: str) -> None:
    clip = Clip(id="x", path="", root_id=0, rel_path="", name=name)
    made = spot_names.stem("{project}_{name}_{start}-{end}", clip, Region(1.0, 2.0), project=project)
    assert made.endswith("1.000s-2.000s") and len(made.encode()) <= 224 and made.isprintable()
    assert not set(made) & set('<>:"/\\|?*')


# ---------------------------------------------------------------- what becomes of the files


def test_what_was_never_offered_goes_and_what_was_stays(transfer: Transfer, door: Clip) -> None:
    parcels = [transfer.prepare([Order(door, Region(0.0, end))], AS_IT_IS)[0] for end in (0.1, 0.2, 0.3, 0.4)]
    _, offered, taken, withdrawn = parcels
    transfer.offer([offered, taken, withdrawn])
    transfer.taken([taken])
    transfer.withdraw([withdrawn])
    assert transfer.discard() == 2
    assert [os.path.exists(p.file) for p in parcels] == [False, True, True, False]
    assert transfer.discard() == 0


def test_what_is_kept_or_was_changed_is_not_discarded(transfer: Transfer, door: Clip) -> None:
    kept, changed = transfer.prepare([Order(door, Region(0.0, e)) for e in (0.1, 0.2)], AS_IT_IS)
    Path(changed.file).write_bytes(b"an editor's now")
    assert transfer.discard([kept]) == 0
    assert os.path.exists(kept.file) and Path(changed.file).read_bytes() == b"an editor's now"
    assert [spot.file for spot in transfer.spotted.all(transfer.folder)] == [changed.file]


def test_a_drag_that_failed_for_the_receiver_costs_no_file(transfer: Transfer, door: Clip) -> None:
    """Some receivers take a file and answer that they did not."""
    (parcel,) = transfer.prepare([Order(door, Region(0.0, 0.1))], AS_IT_IS)
    transfer.offer([parcel])
    transfer.discard()
    assert os.path.exists(parcel.file)


def test_housekeeping_lists_all_of_it_and_removes_what_it_was_shown(transfer: Transfer, door: Clip) -> None:
    parcels = transfer.prepare([Order(door, Region(0.0, e)) for e in (0.1, 0.2)], AS_IT_IS)
    transfer.offer(parcels)
    stranger = transfer.folder / "older.wav"
    stranger.write_bytes(b"made by an earlier version")
    spots = transfer.spotted.all(transfer.folder)
    assert {Path(spot.file).name for spot in spots} == {
        "older.wav", "door slam_0.000s-0.100s.wav", "door slam_0.000s-0.200s.wav",
    }  # fmt: skip
    freed, refused = transfer.spotted.remove(spots)
    assert freed == sum(spot.size for spot in spots) and not refused
    assert not transfer.spotted.all(transfer.folder) and not any(transfer.folder.iterdir())


@given(
    st.lists(
        st.tuples(st.integers(0, 100), st.sampled_from([OFFERED, TAKEN]), st.integers(0, 50)), max_size=12
    ),
    st.none() | st.integers(0, 300),
    st.none() | st.integers(0, 60),
)
def test_what_goes_makes_the_rest_fit(
    raw: list[tuple[int, str, int]], most: int | None, older: int | None
) -> None:
    spots = sorted(
        (Spot(f"/s/{n}", state, "", "", size, at) for n, (size, state, at) in enumerate(raw)),
        key=lambda spot: (spot.at_s, spot.file),
    )
    going = surplus(spots, most, older)
    left = [spot for spot in spots if spot not in going]
    assert older is None or all(spot.at_s >= older for spot in left)
    assert most is None or sum(spot.size for spot in left) <= most
    if most is None and older is None:
        assert not going
    unforced = [s for s in going if older is None or s.at_s >= older]
    if any(spot.state == TAKEN for spot in unforced):
        assert all(spot.state == TAKEN for spot in left), "those that nobody took go first"


# ---------------------------------------------------------------- uses


def test_uses_are_remembered_and_filtered_by(service: LibraryService, transfer: Transfer, door: Clip) -> None:
    assert (door.uses, door.used_s) == (0, None)
    parcels = transfer.prepare([Order(door, Region(0.5, 1.0))], AS_IT_IS)
    transfer.bins.choose("Film")
    at = transfer.taken(parcels, "drag")
    transfer.usage.record([Use(door.id, "export", "/out/a.wav", "/out", at_s=at - 86400 * 400)])
    now = service.clip("door slam.wav")
    listed = {clip.name: clip for clip in service.browse()}
    assert (now.uses, now.used_s) == (2, pytest.approx(at))
    assert (listed["door slam.wav"].uses, listed["door slam.wav"].used_s) == (2, pytest.approx(at))
    assert listed["rain.flac"].uses == 0
    last, first = transfer.usage.of(door.id)
    assert (last.how, last.project, last.region, last.file) == (
        "drag",
        "Film",
        Region(0.5, 1.0),
        parcels[0].file,
    )
    assert (first.how, first.place, first.project) == ("export", "/out", "")

    def names(*where: str) -> set[str]:
        return {clip.name for clip in service.browse(parse_where(where))}

    everything = {"door slam.wav", "rain.flac", "wind.ogg"}
    today = datetime.date.today()
    assert names("used=yes") == names("used!=no") == {"door slam.wav"}
    assert names("used=no") == names("used!=yes") == everything - {"door slam.wav"}
    assert names("used>2020-01-01") == names(f"used>={today}") == names(f"used={today}") == {"door slam.wav"}
    assert names(f"used<{today}") == names(f"used>{today}") == set(), "what was never used is in no past"
    assert names("project=film") == {"door slam.wav"} and names("project=Other") == set()
    assert next(clip.name for clip in service.browse(order_by="used", descending=True)) == "door slam.wav"
    transfer.usage.forget([door.id])
    assert names("used=yes") == set()


@pytest.mark.parametrize("expression", ["used=perhaps", "used>yes", "used", "used=2026-13-01", "project<a"])
def test_senseless_use_filters_are_named(expression: str) -> None:
    with pytest.raises(FilterError):
        parse_where([expression])


# ---------------------------------------------------------------- bins


def test_there_is_always_a_project(transfer: Transfer) -> None:
    assert transfer.bins.current().name == "Untitled project"
    transfer.bins.choose("Film")
    transfer.bins.choose("  film ")
    assert [(b.name, b.current) for b in transfer.bins.all()] == [("Film", True), ("Untitled project", False)]
    transfer.bins.remove(transfer.bins.current().id)
    assert transfer.bins.current().name == "Untitled project"
    transfer.bins.choose("Other")
    with pytest.raises(CatalogError, match="already"):
        transfer.bins.rename(transfer.bins.current().id, "untitled project")
    with pytest.raises(CatalogError, match="name"):
        transfer.bins.choose("  ")


def test_a_bin_holds_clips_and_regions_in_order(
    service: LibraryService, transfer: Transfer, door: Clip
) -> None:
    bins, rain = transfer.bins, service.clip("rain.flac")
    here = bins.current().id
    things = [(door.id, None), (door.id, Region(0.1, 0.2)), (rain.id, None)]
    assert bins.add(here, things) == 3 and bins.add(here, things) == 0
    picks = bins.picks(here)
    assert [(p.clip.name if p.clip else "", p.region) for p in picks] == [
        ("door slam.wav", None), ("door slam.wav", Region(0.1, 0.2)), ("rain.flac", None),
    ]  # fmt: skip
    bins.take_out([picks[1]])
    assert bins.current().count == 2
    bins.put_back(here, [picks[1]])
    assert bins.picks(here) == picks
    service.remove_root(door.root_id)
    assert [pick.clip for pick in bins.picks(here)] == [None, None, None], "it waits for the folder"


def test_a_library_of_before_gets_its_bins(tmp_path: Path) -> None:
    import sqlite3

    from foley_desktop.library.catalog import Catalog
    from foley_desktop.library.schema import MIGRATIONS

    connection = sqlite3.connect(tmp_path / "catalog.sqlite3")
    for script in MIGRATIONS[:4]:
        connection.executescript(script)
    connection.execute("PRAGMA user_version = 4")
    connection.close()
    catalog = Catalog(tmp_path / "catalog.sqlite3")
    assert not catalog.list_clips(Filters()) and not catalog.rows("SELECT * FROM bins")
    catalog.close()
