"""Kills writers of tags and of names at random moments, fills disks, and looks at what is left.

Shared by the suite (a few dozen kills) and ``tests/bench/torture.py`` (hundreds). The writer is forked from
a warm interpreter, so that a kill costs milliseconds and falls into the writing, not into imports.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import soundfile

KINDS = (
    ("wav", "WAV", "PCM_24"),
    ("rf64.wav", "RF64", "PCM_16"),
    ("aif", "AIFF", "PCM_16"),
    ("flac", "FLAC", "PCM_16"),
    ("mp3", "MP3", "MPEG_LAYER_III"),
    ("ogg", "OGG", "VORBIS"),
    ("opus", "OGG", "OPUS"),
)
"""Extension, format and subtype of one file of each kind that takes tags."""


@dataclass
class Outcome:
    """What was found after the kills; every count but ``kills``, ``swept`` and ``written`` has to be 0."""

    kills: int = 0
    written: int = 0
    """Files that were seen with new tags."""
    swept: int = 0
    """Hidden half-made files that were cleared away afterwards."""
    lost: list[str] = field(default_factory=list)
    altered: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    @property
    def harmless(self) -> bool:
        return not (self.lost or self.altered or self.unreadable or self.strangers)


def make_files(folder: Path, seconds: float = 0.6) -> list[Path]:
    """One file of each kind, with noise in it, so that a single changed sample shows."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number, (extension, form, subtype) in enumerate(KINDS):
        path = folder / f"take {number}.{extension}"
        samples = np.random.default_rng(number).uniform(-0.5, 0.5, (int(48000 * seconds), 2))
        soundfile.write(path, samples.astype(np.float32), 48000, subtype=subtype, format=form)
        files.append(path)
    return files


def heard(path: Path) -> str:
    """A hash of all samples, as libsndfile alone reads them."""
    samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return hashlib.sha256(samples.tobytes() + str(rate).encode()).hexdigest()


def kill_often(
    script: str, arguments: Sequence[str], kills: int, seed: int, longest_s: float
) -> subprocess.CompletedProcess[str]:
    """Runs ``script`` (which defines ``work(arguments, round)``) in forks that are killed at random moments.

    Between two kills ``settle(arguments)`` is called, if the script defines it.
    """
    command = [sys.executable, "-c", _DRIVER, script, json.dumps([kills, seed, longest_s, list(arguments)])]
    return subprocess.run(command, capture_output=True, text=True, timeout=1800)


_DRIVER = """
import json, os, random, signal, sys, time
script, settings = sys.argv[1], json.loads(sys.argv[2])
kills, seed, longest_s, arguments = settings
room = {}
exec(script, room)
chance = random.Random(seed)
for number in range(kills):
    child = os.fork()
    if not child:
        try:
            while True:
                room["work"](arguments, number)
                number += 1000003
        except BaseException as error:
            sys.stderr.write(repr(error) + "\\n")
            sys.stderr.flush()
            os._exit(3)
    time.sleep(chance.uniform(0.0, longest_s))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        sys.exit("the writer ended by itself, with %d" % os.WEXITSTATUS(status))
    if "settle" in room:
        room["settle"](arguments)
"""

WRITE_TAGS = """
import random
from foley_desktop.audio.tagwriter import write_tags

def work(paths, number):
    for path in paths:
        text = "take %d of %s" % (number, "x" * random.randrange(600))
        write_tags(path, {"description": text, "title": "Round %d" % number, "catid": "DOORCreak"})
"""


def torture_tags(folder: Path, kills: int, seed: int = 1) -> Outcome:
    """Kills a writer of tags ``kills`` times and examines all of its files after every 10 kills."""
    from foley_desktop.audio.replacing import sweep
    from foley_desktop.audio.tags import best, read_tags

    files = make_files(folder)
    before = {path: heard(path) for path in files}
    outcome = Outcome()
    chance = random.Random(seed)
    for start in range(0, kills, 10):
        some = min(10, kills - start)
        paths = [str(path) for path in chance.sample(files, len(files))]
        result = kill_often(WRITE_TAGS, paths, some, seed + start, longest_s=0.25)
        assert result.returncode == 0, result.stderr
        outcome.kills += some
        outcome.swept += sweep(str(folder))
        examine(folder, before, outcome)
    outcome.written = sum(best(read_tags(str(path)), "title").startswith("Round") for path in files)
    return outcome


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[bool]:
    """A disk of its own at ``folder``; False where this user may not mount one."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    mounted = is_root() and not subprocess.run(command, capture_output=True).returncode
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


@dataclass
class Refusals:
    """What became of writing where there is no room, or where it is not allowed."""

    attempts: int = 0
    written: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def torture_full_disk(folder: Path, rounds: int, seed: int = 1) -> Refusals | None:
    """Writes tags on a disk that is full to another degree each time; None where none can be mounted.

    Half of the times the disk pretends to have room when it is asked, so that it fills up while writing.
    """
    from foley_desktop.audio import replacing
    from foley_desktop.audio.tagwriter import write_tags
    from foley_desktop.errors import TagWriteError

    chance, found = random.Random(seed), Refusals()
    asked = replacing.shutil.disk_usage
    with small_disk(folder, "6m") as mounted:
        if not mounted:
            return None
        files = make_files(folder, 0.4)
        before = {path: heard(path) for path in files}
        for number in range(rounds):
            path = chance.choice(files)
            _fill(folder / ".filler", chance.randrange(0, (1 << 20) + 3 * path.stat().st_size))
            if number % 2:
                replacing.shutil.disk_usage = lambda _: asked("/")  # type: ignore[assignment,misc]
            try:
                text = f"take {number} " + "x" * chance.randrange(2000)
                found.written += write_tags(str(path), {"description": text, "title": f"T{number}"}).changed
            except TagWriteError as error:
                found.refused[error.reason] += 1
            finally:
                replacing.shutil.disk_usage = asked  # type: ignore[misc]
            found.attempts += 1
            _judge(folder, before, found)
    return found


def _fill(filler: Path, leave: int) -> None:
    """Fills a disk up to ``leave`` free bytes."""
    filler.unlink(missing_ok=True)
    status = os.statvfs(filler.parent)
    filler.write_bytes(bytes(max(0, status.f_bavail * status.f_frsize - leave)))


def torture_refusals(folder: Path) -> Refusals:
    """Write-protected files and folders, and files that another program has open for writing."""
    from foley_desktop.audio.tagwriter import write_tags
    from foley_desktop.errors import TagWriteError

    found = Refusals()
    files = make_files(folder)
    before = {path: heard(path) for path in files}
    content = {path: path.read_bytes() for path in files}

    def attempt(path: Path, wanted: str) -> None:
        found.attempts += 1
        try:
            found.written += write_tags(str(path), {"title": "never"}).changed
            found.wrong.append(f"{path.name} was written although {wanted}")
        except TagWriteError as error:
            found.refused[error.reason] += 1
            if error.reason != wanted:
                found.wrong.append(f"{path.name}: {error.reason} instead of {wanted}")

    for path in files:
        os.chmod(path, 0o444)
        attempt(path, "read_only")
        os.chmod(path, 0o644)
        with open(path, "r+b"):
            attempt(path, "in_use")
    os.chmod(folder, 0o555)
    for path in files:
        attempt(path, "read_only")
    os.chmod(folder, 0o755)
    found.wrong += [path.name for path in files if path.read_bytes() != content[path]]
    _judge(folder, before, found)
    return found


def _judge(folder: Path, before: dict[Path, str], found: Refusals) -> None:
    names = {path.name for path in before} | {".filler"}
    found.wrong += [f"{path.name} left over" for path in folder.iterdir() if path.name not in names]
    for path, sound in before.items():
        if not path.exists() or heard(path) != sound:
            found.wrong.append(f"{path.name} altered")


def read_elsewhere(folder: Path) -> dict[str, int]:
    """How many files of each kind other programs read the written title and description from.

    Raises:
        AssertionError: one of them reads something else.
    """
    import mutagen
    import wavinfo

    from foley_desktop.audio.tagwriter import write_tags

    title, words = "Tür knarrt", "Old wooden door, slow & long"
    counted = {"wavinfo": 0, "mutagen": 0, "ffprobe": 0}
    for path in make_files(folder):
        write_tags(str(path), {"title": title, "description": words})
        if path.suffix == ".wav":
            said = wavinfo.WavInfoReader(str(path), info_encoding="utf-8", bext_encoding="utf-8")
            assert (said.info.title, said.bext.description) == (title, words), path
            counted["wavinfo"] += 1
        if "rf64" not in path.name:  # mutagen knows no RF64
            tags = mutagen.File(path).tags
            titles = tags.get("TIT2") or tags.get("title")
            assert str(titles[0] if isinstance(titles, list) else titles.text[0]) == title, path
            counted["mutagen"] += 1
        if shutil.which("ffprobe"):
            command = ["ffprobe", "-v", "error", "-show_entries", "format_tags:stream_tags", "-of", "json"]
            answer = json.loads(subprocess.run([*command, str(path)], capture_output=True, text=True).stdout)
            tags = dict(answer.get("format", {}).get("tags", {}))
            for stream in answer.get("streams", []):
                tags |= stream.get("tags", {})
            assert title in {value for name, value in tags.items() if name.casefold() == "title"}, (
                path,
                tags,
            )
            counted["ffprobe"] += 1
    return counted


RENAME = """
import random
from pathlib import Path
from foley_desktop.library.catalog import Catalog
from foley_desktop.library.rename_log import recover
from foley_desktop.library.renaming import preview, rename
from foley_desktop.library.writer_lock import writer_lock
from foley_desktop.settings import DataFolder

def work(arguments, number):
    data = DataFolder(Path(arguments[0]))
    catalog = Catalog(data.catalog)
    clips = catalog.list_clips()
    names = [clip.name for clip in clips]
    random.shuffle(names)
    wanted = {clip.id: name for clip, name in zip(clips, names)}
    for _ in rename(catalog, preview(catalog, wanted)):
        pass
    catalog.close()

def settle(arguments):
    data = DataFolder(Path(arguments[0]))
    catalog = Catalog(data.catalog)
    with writer_lock(data):
        Path(arguments[1]).open("a").write(str(recover(catalog, data)))
    catalog.close()
"""


def torture_renames(folder: Path, kills: int, seed: int = 1) -> Outcome:
    """Kills a writer that shuffles the names of 40 files; ``swept`` counts batches that were taken back."""
    from indexing import Library

    sounds, data, log = folder / "sounds", folder / "library", folder / "recovered"
    sounds.mkdir(parents=True)
    outcome = Outcome()
    for number in range(40):
        samples = np.random.default_rng(number).uniform(-0.5, 0.5, 480)
        soundfile.write(sounds / f"sound {number:02}.wav", samples, 48000, subtype="PCM_16")
        (sounds / f"sound {number:02}.txt").write_text(f"words about {number}")
    with Library(data) as library:
        library.index(sounds, audio=False)
        library.catalog.set_root_locked(library.catalog.roots()[0].id, False)
        hashes = {clip.id: heard(Path(clip.path)) for clip in library.catalog.list_clips()}
        words = {clip.id: clip.description for clip in library.catalog.list_clips()}
    for start in range(0, kills, 5):
        some = min(5, kills - start)
        result = kill_often(RENAME, [str(data), str(log)], some, seed + start, longest_s=0.3)
        assert result.returncode == 0, result.stderr
        outcome.kills += some
        with Library(data) as library:
            clips = {clip.id: clip for clip in library.catalog.list_clips()}
            outcome.lost += [i for i in hashes if i not in clips]
            for clip in clips.values():
                path = Path(clip.path)
                if not path.exists() or heard(path) != hashes[clip.id]:
                    outcome.altered.append(clip.name)
                elif path.with_suffix(".txt").read_text() != words[clip.id]:
                    outcome.unreadable.append(clip.name)
            wanted = {f"sound {number:02}" for number in range(40)}
            outcome.strangers += [p.name for p in sounds.iterdir() if p.stem not in wanted]
            report = library.index(audio=False)
            if (report.added, report.updated, report.missing) != (0, 0, 0):
                outcome.altered.append(f"the next scan found {report}")
    outcome.swept = sum(map(int, log.read_text())) if log.exists() else 0
    return outcome


def examine(folder: Path, before: dict[Path, str], outcome: Outcome) -> None:
    """Notes every file that is gone, sounds otherwise, has unreadable tags, or should not be there."""
    from foley_desktop.audio.tags import read_tags

    for path, sound in before.items():
        if not path.exists():
            outcome.lost.append(path.name)
        elif heard(path) != sound:
            outcome.altered.append(path.name)
        else:
            tags = {tag.value for tag in read_tags(str(path)) if tag.field == "title"}
            if len(tags) > 1:
                outcome.unreadable.append(f"{path.name}: {tags}")
    names = {path.name for path in before}
    outcome.strangers += [path.name for path in folder.iterdir() if path.name not in names]


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def wait_for(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether ``condition`` came true in time."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if condition():
            return True
        time.sleep(0.01)
    return False


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
