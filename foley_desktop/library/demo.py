"""The demo library: some forty clips made by our own code, for the first minute with the app.

Each clip is named by the UCS and tagged as a good library would be (bext and INFO), and a small golden
set lies beside them. The same version of the app makes the same files.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from foley_desktop.errors import FoleyError
from foley_desktop.library import ucs
from foley_desktop.library.meter import Meter
from foley_desktop.models import Progress

if TYPE_CHECKING:
    import numpy as np

GOLDEN_NAME = "demo_golden.json"
_SEED = 2024
_ORIGINATOR = "Foley Desktop"
_DAY, _TIME = "2024-01-01", "12:00:00"


class DemoClip(NamedTuple):
    """One clip: its UCS parts, what is written into it, and the function that makes its samples."""

    catid: str
    fx_name: str
    description: str
    keywords: str
    synth: Callable[[np.random.Generator], np.ndarray]

    @property
    def file_name(self) -> str:
        return f"{self.catid}_{self.fx_name}_FOLEY_DEMO.wav"


def demo_clips() -> list[DemoClip]:
    """All clips of the demo library, by file name."""
    from foley_desktop.library import demo_foley as f
    from foley_desktop.library import demo_machines as m
    from foley_desktop.library import demo_nature as n

    # fmt: off
    rows = [
        ("RAINMetl", "Heavy Rain On Roof", "Heavy rain drums on a tin roof",
         "downpour, storm", n.rain_on_roof),
        ("RAINVege", "Light Rain On Leaves", "Light drizzle falls on leaves",
         "drizzle, garden", n.rain_on_leaves),
        ("WINDGust", "Howling Wind", "Wind howls and whistles in strong gusts",
         "storm, gale", n.wind_howling),
        ("THUN", "Thunder Crack And Rumble", "Thunder cracks close by and rumbles away",
         "storm, lightning", n.thunder),
        ("WATRDrip", "Tap Dripping In Sink", "Water drips from a tap into a full sink",
         "leak, faucet", n.water_drips),
        ("WATRFlow", "Brook Babbling", "A small stream babbles over stones",
         "creek, river", n.stream),
        ("WATRBubl", "Bubbles Underwater", "A diver breathes out bubbles under water",
         "diving, scuba", n.underwater_bubbles),
        ("WATRSurf", "Ocean Waves On Beach", "Waves break on a sandy beach and run out",
         "sea, shore, surf", n.ocean_waves),
        ("WATRSplsh", "Stone Into Pond", "A stone splashes into a pond",
         "plop, plunge", f.splash),
        ("FIRECrkl", "Campfire Crackling", "A campfire crackles and pops",
         "flames, wood, burning", n.campfire),
        ("BIRDSong", "Birds Morning Chorus", "Songbirds chirp and trill in the morning",
         "dawn, garden", n.songbirds),
        ("ANMLInsc", "Crickets At Night", "Field crickets chirp on a summer night",
         "insects, meadow", n.crickets),
        ("ANMLInsc", "Bees Swarm", "A swarm of bees buzzes about",
         "hive, insects", n.bees),
        ("BIRDPrey", "Owl Hooting", "An owl hoots in the forest at night",
         "night, woods", n.owl),
        ("ANMLDog", "Dog Barking", "A large dog barks four times",
         "woof, pet, guard", n.dog_bark),
        ("FEETHmn", "Footsteps Gravel Boots", "Footsteps in boots on loose gravel",
         "walk, path, stones", f.gravel),
        ("FEETHmn", "Footsteps Snow Boots", "Footsteps crunch through dry snow",
         "walk, winter", f.snow),
        ("FEETHmn", "Footsteps Wooden Floor", "Footsteps in shoes on creaky floorboards",
         "walk, indoors", f.wooden_floor),
        ("FEETHmn", "Footsteps High Heels Concrete", "Footsteps in high heels in a stairwell",
         "walk, echo", f.heels_on_concrete),
        ("DOORKnck", "Knocking On Wooden Door", "Three knocks on a wooden door",
         "knuckles, visitor", f.knock),
        ("DOORCreak", "Door Creaking Open", "An old wooden door creaks open slowly",
         "squeak, hinge, haunted", f.door_creak),
        ("DOORWood", "Heavy Door Slam", "A heavy wooden door slams shut",
         "close, bang", f.door_slam),
        ("GLASBrk", "Window Smash", "A window pane is smashed, shards fall",
         "shatter, broken", f.glass_break),
        ("OBJCoin", "Coins Dropped On Table", "Coins are dropped on a table and spin",
         "money, change", f.coins),
        ("OBJZipr", "Zipper Close And Open", "The zip of a jacket is closed and opened",
         "zip, clothes", f.zipper),
        ("CMPTKey", "Keyboard Typing", "Fast typing on a computer keyboard",
         "office, keys", f.typing),
        ("CLOCKTick", "Mantel Clock Ticking", "A clock on the mantelpiece ticks",
         "time, seconds", f.clock_tick),
        ("HMNHart", "Heartbeat Slow", "A heart beats slowly",
         "pulse, medical", f.heartbeat),
        ("CRWDApls", "Audience Applause", "A large audience claps",
         "clapping, theatre, ovation", f.applause),
        ("VOXScrm", "Frightened Scream", "A scream of terror",
         "horror, fear, yell", f.scream),
        ("TOOLHand", "Hammer And Nail", "A hammer drives a nail into wood",
         "carpenter, build", f.hammer),
        ("TOOLHand", "Hand Saw Cutting Wood", "A hand saw cuts through a board",
         "carpenter, rasp", f.handsaw),
        ("TOOLPowr", "Power Drill", "An electric drill bores into wood",
         "workshop, motor", m.power_drill),
        ("WEAPSwrd", "Sword Clash", "Two swords clash and scrape",
         "blade, duel, metal", f.sword),
        ("PAPRHndl", "Paper Crumple", "A sheet of paper is crumpled into a ball",
         "crinkle, office", f.paper),
        ("VEHCar", "Car Engine Idling", "A car's engine idles",
         "motor, exhaust", m.engine_idle),
        ("VEHSirn", "Police Siren Wail", "A police siren wails in the street",
         "emergency, cops", m.siren),
        ("VEHHorn", "Car Horn Honking", "A car honks its horn three times",
         "traffic, beep", m.car_horn),
        ("TRNHorn", "Train Horn", "A diesel train sounds its horn",
         "railway, locomotive", m.train_horn),
        ("AEROHeli", "Helicopter Pass By", "A helicopter flies past overhead",
         "chopper, rotor", m.helicopter),
        ("BELLLrg", "Church Bell Tolling", "A church bell tolls three times",
         "tower, ring", m.church_bell),
        ("BELLDoor", "Doorbell Ding Dong", "An electric doorbell chimes",
         "visitor, chime", m.doorbell),
        ("COMTelph", "Old Telephone Ringing", "An old telephone rings twice",
         "phone, call", m.phone_ring),
        ("ALRMClok", "Alarm Clock Beeping", "A digital alarm clock beeps",
         "wake up, morning", m.alarm_beep),
        ("UIClick", "Button Click Soft", "A soft click for a button",
         "interface, app, tap", m.ui_click),
        ("UIAlert", "Success Chime", "Two rising tones confirm something",
         "notification, app", m.ui_success),
        ("WHSH", "Fast Whoosh Pass By", "Something fast whooshes past",
         "transition, swish", m.whoosh),
        ("LASRGun", "Laser Pistol Shots", "A science fiction laser pistol fires",
         "blaster, zap, space", m.laser),
        ("EXPLReal", "Large Explosion", "A large explosion, debris falls",
         "blast, boom, bomb", m.explosion),
        ("GUNPis", "Pistol Shot", "A pistol is fired outdoors",
         "gunshot, gun, firearm", m.gunshot),
    ]
    # fmt: on
    return sorted((DemoClip(*row) for row in rows), key=lambda clip: clip.file_name)


_QUERIES: list[tuple[str, str, dict[str, int]]] = [
    ("dog barking", "literal", {"Dog Barking": 2}),
    ("rain on a roof", "literal", {"Heavy Rain On Roof": 2, "Light Rain On Leaves": 1}),
    ("footsteps in snow", "literal", {"Footsteps Snow Boots": 2}),
    ("door knock", "literal", {"Knocking On Wooden Door": 2}),
    ("thunder", "literal", {"Thunder Crack And Rumble": 2}),
    ("keyboard typing", "literal", {"Keyboard Typing": 2}),
    ("car engine", "literal", {"Car Engine Idling": 2}),
    ("explosion", "literal", {"Large Explosion": 2}),
    ("plumbing that needs fixing", "paraphrase", {"Tap Dripping In Sink": 2}),
    ("rotorcraft above the city", "paraphrase", {"Helicopter Pass By": 2}),
    ("eerie entrance swinging on rusty joints", "paraphrase", {"Door Creaking Open": 2}),
    ("spectators showing appreciation", "paraphrase", {"Audience Applause": 2}),
    ("seaside breakers", "paraphrase", {"Ocean Waves On Beach": 2}),
    ("loose cents hitting a counter", "paraphrase", {"Coins Dropped On Table": 2}),
    ("cardiac rhythm", "paraphrase", {"Heartbeat Slow": 2}),
    ("bagpipes", "none", {}),
    ("cat meowing", "none", {}),
    ("lawn mower", "none", {}),
]


def golden_document() -> dict[str, object]:
    """The demo library's golden set: clips by file name, some queries without an answer."""
    names = {clip.fx_name: clip.file_name for clip in demo_clips()}
    queries, qrels = [], {}
    for number, (text, kind, answers) in enumerate(_QUERIES, start=1):
        query_id = f"demo{number:02d}"
        queries.append({"id": query_id, "text": text, "kind": kind})
        qrels[query_id] = {names[fx_name]: grade for fx_name, grade in answers.items()}
    return {"queries": queries, "qrels": qrels}


def create_demo(folder: Path) -> Path:
    """Makes the demo library in ``folder`` and gives the folder, in one go; see :func:`make_demo`."""
    job = make_demo(folder)
    while True:
        try:
            next(job)
        except StopIteration as stop:
            return stop.value


def make_demo(folder: Path) -> Generator[Progress, None, Path]:
    """Makes the demo library in ``folder``, clip by clip; clips already there stay as they are.

    Raises:
        FoleyError: the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        clips = demo_clips()
        meter = Meter(len(clips), "Making")
        for clip in clips:
            target = folder / clip.file_name
            yield meter.step(0, clip.fx_name)
            if not target.exists():
                _write(target, wav_bytes(clip))
            yield meter.step(1, clip.fx_name)
        golden = json.dumps(golden_document(), indent=1) + "\n"
        if not (folder / GOLDEN_NAME).exists():
            _write(folder / GOLDEN_NAME, golden.encode())
    except OSError as error:
        raise FoleyError(
            f"The demo library cannot be written to {folder}: {error.strerror}.",
            hint="Check the disk and its free space.",
            cause=error,
        ) from error
    return folder


def _write(target: Path, content: bytes) -> None:
    """Writes beside the target first, so that a half-written file never looks finished."""
    part = target.with_suffix(".part")
    part.write_bytes(content)
    os.replace(part, target)


def wav_bytes(clip: DemoClip) -> bytes:
    """The clip as a 48 kHz 24-bit WAV file with bext and INFO chunks (EBU Tech 3285)."""
    import numpy as np

    from foley_desktop.library.demo_synth import RATE, level

    seed = np.random.SeedSequence([_SEED, *clip.file_name.encode()])
    sound = level(clip.synth(np.random.default_rng(seed)))
    samples = np.atleast_2d(sound.T).T
    channels = samples.shape[1]
    whole = np.ascontiguousarray(np.round(samples * (2**23 - 1)).astype("<i4"))
    data = whole.view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
    chunks = [
        (b"fmt ", struct.pack("<HHIIHH", 1, channels, RATE, RATE * channels * 3, channels * 3, 24)),
        (b"bext", _bext(clip)),
        (b"LIST", _info(clip)),
        (b"data", data),
    ]
    body = b"".join(
        tag + struct.pack("<I", len(part)) + part + b"\0" * (len(part) % 2) for tag, part in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WAVE" + body


def _bext(clip: DemoClip) -> bytes:
    return struct.pack(
        "<256s32s32s10s8sQH64s10s180s",
        clip.description.encode(),
        _ORIGINATOR.encode(),
        f"FOLEYDEMO{clip.catid}".encode(),
        _DAY.encode(),
        _TIME.encode(),
        0,
        1,
        b"",
        b"",
        b"",
    )


def _info(clip: DemoClip) -> bytes:
    category, subcategory = ucs.table()[clip.catid]
    values = {
        b"INAM": clip.fx_name,
        b"ICMT": clip.description,
        b"IKEY": clip.keywords,
        b"IGNR": f"{category} {subcategory}".title(),
        b"IART": _ORIGINATOR,
        b"ICRD": _DAY,
    }
    parts = []
    for tag, text in values.items():
        raw = text.encode() + b"\0"
        parts.append(tag + struct.pack("<I", len(raw)) + raw + b"\0" * (len(raw) % 2))
    return b"INFO" + b"".join(parts)
