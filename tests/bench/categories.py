"""Measures how often suggested categories are right, and prints JSON.

Two truths. The clips that the golden set calls good answers (grade 2) to its literal queries carry the CatIDs
in which a librarian would look for that query, by the table below: several where the UCS leaves a choice. The
clips of the demo library have one CatID each, in their names, which are stripped of it before.

    python tests/bench/categories.py --corpus shared/corpus/small --golden shared/corpus/small_golden.json
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from foley_desktop.errors import FoleyError  # noqa: E402
from foley_desktop.eval.golden import load_golden, resolve  # noqa: E402
from foley_desktop.library import ucs  # noqa: E402
from foley_desktop.library.demo import create_demo  # noqa: E402
from foley_desktop.library.service import LibraryService  # noqa: E402
from foley_desktop.library.suggesting import Suggestion  # noqa: E402
from foley_desktop.models import Clip  # noqa: E402
from foley_desktop.settings import DataFolder  # noqa: E402

GOOD = 2
THRESHOLDS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)

RIGHT = {
    "cat meowing": "ANMLCat",
    "dog bark": "ANMLDog",
    "cow moo": "ANMLFarm",
    "sheep baa": "ANMLFarm",
    "horse neighing": "ANMLHors",
    "horse galloping": "FEETHors ANMLHors",
    "rooster": "BIRDFowl ANMLFarm",
    "owl hooting": "BIRDPrey",
    "crickets chirping at night": "ANMLInsc AMBInsc",
    "wolf howling": "ANMLWdog",
    "wooden door creaking open": "DOORCreak DOORWood",
    "door close": "DOORWood DOORMetl DOORMisc DOORGlas DOORComp DOORGate DOORCab",
    "glass breaking": "GLASBrk GLASCrsh",
    "cash register": "MACHOffc MACHMisc MACHAntq MACHMech OBJCoin",
    "keyboard typing": "CMPTKey",
    "sewing machine": "MACHAppl MACHMisc MACHAntq",
    "audience applause": "CRWDApls",
    "female scream": "VOXScrm VOXFem",
    "sneeze": "HMNSneez",
    "footsteps on gravel": "FEETHmn FOLYFeet",
    "footsteps on grass": "FEETHmn FOLYFeet",
    "footsteps in snow": "FEETHmn FOLYFeet",
    "thunder": "THUN STORM",
    "wind blowing": "WIND WINDGust WINDTurb WINDVege WINDInt WINDTonl",
    "campfire crackling": "FIRECrkl FIREBurn FIREMisc",
    "water splash": "WATRSplsh WATRImpt",
    "water drip": "WATRDrip",
    "bubbles": "WATRBubl LIQBubl",
    "car horn": "VEHHorn",
    "jet plane flyby": "AEROJet",
    "propeller plane": "AEROProp",
    "busy traffic": "AMBTraf",
    "shotgun": "GUNShotg",
    "weapon reload": "GUNMech GUNHndl",
    "chopping wood with an axe": "WEAPAxe TOOLHand WOODImpt WOODBrk",
    "gong": "BELLGong",
}


def drained(steps: Any) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value


def labelled(service: LibraryService, golden_file: Path) -> dict[str, set[str]]:
    """CatIDs that are right, by clip."""
    golden = load_golden(golden_file)

    def lookup(key: str) -> str | None:
        try:
            return service.clip(key).id
        except FoleyError:
            return None

    qrels = resolve(golden, lookup).qrels
    found: dict[str, set[str]] = {}
    for query in golden.queries:
        catids = RIGHT.get(query.text, "").split()
        for clip, grade in qrels.get(query.id, {}).items():
            if grade >= GOOD and catids:
                assert all(ucs.canonical(catid) for catid in catids), catids
                found.setdefault(clip, set()).update(catids)
    return found


def scored(
    made: Mapping[str, tuple[Suggestion, ...]], right: Mapping[str, set[str]], clips: Mapping[str, Clip]
) -> dict[str, Any]:
    rows = [([s.catid for s in made[i]], right[i], made[i][0].confidence) for i in right if made.get(i)]
    at = {
        f"{threshold:g}": {
            "clips": len(sure),
            "right": round(sum(first[0] in good for first, good, _ in sure) / len(sure), 3) if sure else None,
        }
        for threshold in THRESHOLDS
        if (sure := [row for row in rows if row[2] >= threshold]) is not None
    }
    wrong = [
        [clips[i].name, made[i][0].catid, round(made[i][0].confidence, 2), sorted(right[i])]
        for i in right
        if made.get(i) and made[i][0].catid not in right[i]
    ]
    return {
        "clips": len(rows),
        "top_1": round(sum(order[0] in good for order, good, _ in rows) / len(rows), 3),
        "top_3": round(sum(bool(good & set(order[:3])) for order, good, _ in rows) / len(rows), 3),
        "category_top_1": round(
            sum(ucs.table()[order[0]][0] in {ucs.table()[c][0] for c in good} for order, good, _ in rows)
            / len(rows),
            3,
        ),
        "first_suggestion_at_least_so_sure": at,
        "wrong": wrong,
    }


def measure(service: LibraryService, right: Mapping[str, set[str]]) -> dict[str, Any]:
    service.models.wait_ready(300)
    started = time.monotonic()
    made = drained(service.desk.suggest_categories(list(right)))
    took = time.monotonic() - started
    return {
        **scored(made, right, service.catalog.clips(right)),
        "ms_a_clip": round(1000 * took / len(right), 1),
    }


def on_golden(corpus: Path, golden: Path, folder: Path, *, indexed: bool) -> dict[str, Any]:
    service = LibraryService(DataFolder(folder))
    try:
        service.start_models()
        if not indexed:
            drained(service.index([corpus]))
        return measure(service, labelled(service, golden))
    finally:
        service.close()


def on_demo(base: Path) -> dict[str, Any]:
    """The demo clips under their effect names alone, without words of anyone inside."""
    named = create_demo(base / "made")
    plain, right = base / "plain", {}
    plain.mkdir()
    for path in sorted(Path(named).rglob("*.wav")):
        name = ucs.parse_name(path.stem)
        if name is not None:
            target = plain / f"{name.fx_name} {len(right)}.wav"
            shutil.copy(path, target)
            right[target.name] = {name.catid}
    service = LibraryService(DataFolder(base / "data"))
    try:
        service.start_models()
        drained(service.index([plain]))
        ids = {clip.name: clip.id for clip in service.browse(limit=10_000)}
        # Words inside the files name the category too: only the names are to count.
        with service.catalog.write() as connection:
            connection.execute("DELETE FROM tags")
            connection.execute(
                "UPDATE clips SET title = '', description = '', keywords = '', category = '', "
                "subcategory = '', catid = ''"
            )
        return measure(service, {ids[name]: catids for name, catids in right.items()})
    finally:
        service.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--golden", type=Path)
    parser.add_argument("--library", type=Path, help="a library in which the corpus is indexed already")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        base = Path(made)
        report = {"demo": on_demo(base / "demo")}
        if arguments.corpus and arguments.golden:
            folder, indexed = arguments.library or base / "golden", arguments.library is not None
            report["golden"] = on_golden(arguments.corpus, arguments.golden, folder, indexed=indexed)
    json.dump(report, sys.stdout, indent=1, ensure_ascii=False)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
