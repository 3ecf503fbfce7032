"""How well sound alone is found: ``python tests/bench/hidden_names.py CLIPS GOLDEN.json [--library DIR]``.

Copies every clip that can be played into a flat folder under a random code, as plain samples without tags,
so that nothing is left but sound; indexes that with the active embedder; and asks the queries of the golden
set that have an answer. Prints the hit rate at 10, which is the part of the queries with a right answer
among the first ten, of each mode and of a random order. The latter is exact: for ``r`` right answers among
``n`` clips it is ``1 - C(n - r, 10) / C(n, 10)``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from math import comb
from pathlib import Path

import soundfile

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from foley_desktop.audio.decode import is_media_name, open_audio  # noqa: E402
from foley_desktop.errors import AudioFileError  # noqa: E402
from foley_desktop.eval.golden import GoldenSet, load_golden  # noqa: E402
from foley_desktop.library.service import LibraryService  # noqa: E402
from foley_desktop.models import MODES, Mode  # noqa: E402
from foley_desktop.settings import DataFolder  # noqa: E402

K = 10
BLOCK = 1 << 16


def copy_under_codes(clips: Path, target: Path, seed: int) -> dict[str, str]:
    """Writes the samples of every clip as ``<code>.wav``; gives ``{path below clips: file name}``."""
    target.mkdir(parents=True, exist_ok=True)
    files = sorted(file for file in clips.rglob("*") if is_media_name(file.name) and file.is_file())
    codes = random.Random(seed).sample(range(16**8), len(files))
    names = {}
    for file, code in zip(files, codes, strict=True):
        name = f"{code:08x}.wav"
        try:
            with (
                open_audio(str(file)) as reader,
                soundfile.SoundFile(
                    target / name, "w", reader.info.samplerate, reader.info.channels, "FLOAT"
                ) as copy,
            ):
                while len(block := reader.read(BLOCK)):
                    copy.write(block)
        except (AudioFileError, soundfile.LibsndfileError):
            (target / name).unlink(missing_ok=True)
            continue
        names[file.relative_to(clips).as_posix()] = name
    return names


def open_indexed(folder: Path, clips: Path) -> LibraryService:
    data = DataFolder(folder)
    data.create()
    service = LibraryService(data)
    for step in service.index([clips]):
        if step.done % 500 == 0:
            print(f"{step.what} {step.done}/{step.total}", file=sys.stderr)
    return service


def right_answers(golden: GoldenSet, names: dict[str, str]) -> dict[str, set[str]]:
    """By query the file names of its right answers; queries without one are left out."""
    answers = {
        query: {names[key] for key, grade in row.items() if grade >= 1 and key in names}
        for query, row in golden.qrels.items()
    }
    return {query: right for query, right in answers.items() if right}


def hit_rate(service: LibraryService, golden: GoldenSet, answers: dict[str, set[str]], mode: Mode) -> float:
    hits = 0
    for query in golden.queries:
        if query.id in answers:
            found = service.search(query.text, k=K, mode=mode).hits
            hits += any(hit.sound.name in answers[query.id] for hit in found)
    return hits / len(answers)


def random_rate(answers: dict[str, set[str]], clips: int) -> float:
    chances = [1.0 - comb(clips - len(right), K) / comb(clips, K) for right in answers.values()]
    return sum(chances) / len(chances)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clips", type=Path)
    parser.add_argument("golden", type=Path)
    parser.add_argument("--library", type=Path, help="keep copies and index here and use them again")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    golden = load_golden(arguments.golden)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.library or Path(temporary)
        listed = folder / "codes.json"
        if not listed.is_file():
            names = copy_under_codes(arguments.clips.resolve(), folder / "clips", arguments.seed)
            listed.write_text(json.dumps(names))
        names = json.loads(listed.read_text())
        service = open_indexed(folder / "data", folder / "clips")
        answers = right_answers(golden, names)
        clips = service.measurement_conditions()["library_size"]
        chance = random_rate(answers, clips)
        print(f"{len(answers)} queries over {clips} clips, names replaced by codes")
        print(f"{'random order':14} hit rate@{K} {chance:.4f}")
        for mode in MODES:
            rate = hit_rate(service, golden, answers, mode)
            print(f"{mode:14} hit rate@{K} {rate:.4f}  {rate / chance:5.1f} times", flush=True)
        service.close()


if __name__ == "__main__":
    main()
