"""kill -9 at many moments of indexing: the next run ends where an undisturbed one ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from indexing import Library, append_info_tag

Synth = Callable[..., Path]

# Small batches, so that many commits lie between the first file and the last vector.
SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from foley_desktop.library import derived, ingest
ingest._FILES_A_BATCH, ingest._WORDS_EVERY_FILES = 3, 6
derived._WORDS_A_BATCH, derived._TEXTS_A_CALL, derived._CLIPS_A_BATCH = 4, 4, 4
from indexing import Library
with Library(Path(sys.argv[1])) as library:
    job = ingest.ingest(library.catalog, library.indexes, [sys.argv[2]], models=library.models)
    for step in job:
        print(step.what, flush=True)
print("finished", flush=True)
"""


@pytest.fixture
def sounds(tmp_path: Path, synth: Synth) -> Path:
    """Twenty clips in folders, every third the same audio as another, and two broken files."""
    folder = tmp_path / "sounds"
    for n in range(20):
        seed = n - 3 if n % 3 == 0 and n else n
        name = ("door", "rain", "gravel", "wind")[n % 4]
        synth(folder / f"part {n % 5}" / f"{name} {n:02d}.wav", 0.1, kind="noise", seed=seed)
    synth(folder / "silent clip.wav", 0.1, kind="silence")
    (folder / "broken one.wav").write_bytes(b"RIFF")
    (folder / "part 1" / "broken two.mp3").write_bytes(b"nothing")
    return folder


def start(library: Path, sounds: Path) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", SCRIPT, str(library), str(sounds), str(Path(__file__).parent)]
    root = Path(__file__).parent.parent
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=root)


def kill_after(library: Path, sounds: Path, lines: int, delay_s: float) -> bool:
    """Kills a run a moment after it printed some lines; False when it had finished by then."""
    process = start(library, sounds)
    assert process.stdout is not None
    printed = [line for _, line in zip(range(lines), process.stdout, strict=False)]
    time.sleep(delay_s)
    process.send_signal(signal.SIGKILL)
    process.wait()
    printed += process.stdout.readlines()
    process.stdout.close()
    return "finished\n" not in printed


@pytest.mark.slow
def test_killed_again_and_again_a_library_ends_as_an_undisturbed_one(tmp_path: Path, sounds: Path) -> None:
    with Library(tmp_path / "undisturbed") as undisturbed:
        undisturbed.index(sounds)
        expected = undisturbed.picture()
    disturbed = tmp_path / "disturbed"
    kills = [kill_after(disturbed, sounds, lines, delay) for lines, delay in (
        (1, 0.0), (4, 0.002), (7, 0.0), (8, 0.01), (12, 0.004), (6, 0.03), (9, 0.0), (11, 0.015), (5, 0.05),
    )]  # fmt: skip
    assert sum(kills) >= 5, "most runs were to be killed before their end"
    with Library(disturbed) as library:
        library.index(sounds)
        assert library.picture() == expected
        assert library.catalog.integrity() == []


@pytest.mark.slow
def test_killed_in_the_middle_of_an_update(tmp_path: Path, sounds: Path) -> None:
    libraries = [tmp_path / "undisturbed", tmp_path / "disturbed"]
    for folder in libraries:
        with Library(folder) as library:
            library.index(sounds)
    (sounds / "part 0").rename(sounds / "part 9")
    for path in sorted((sounds / "part 1").glob("*.wav")):
        append_info_tag(path, b"ICMT", f"Recorded beside a waterfall, {path.stem}")
    for path in sorted((sounds / "part 2").glob("*.wav"))[1:]:
        path.unlink()
    (sounds / "part 3" / "door 08.wav").rename(sounds / "moved.wav")
    with Library(libraries[0]) as library:
        library.index(sounds)
        expected = library.picture()
    for lines, delay in ((2, 0.0), (5, 0.004), (3, 0.02), (6, 0.01)):
        kill_after(libraries[1], sounds, lines, delay)
    with Library(libraries[1]) as library:
        library.index(sounds)
        assert library.picture() == expected
