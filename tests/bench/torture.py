"""300 kills of a writer of tags, and 300 of a writer of names, at random moments; full disks; refusals.

Run: python tests/bench/torture.py [KILLS] [SEED]

Prints what was found; ends with 1 when a file was lost or altered, or half a file left in a sound's place.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torture


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory(prefix="foley-torture-") as folder:
        started = time.monotonic()
        outcome = torture.torture_tags(Path(folder) / "tags", kills, seed)
        print(
            f"tags: {outcome.kills} kills in {time.monotonic() - started:.0f} s, {outcome.written} of "
            f"{len(torture.KINDS)} files written, {outcome.swept} half-made files cleared away; lost "
            f"{outcome.lost}, altered {outcome.altered}, unreadable {outcome.unreadable}, "
            f"left over {outcome.strangers}"
        )
        started = time.monotonic()
        renamed = torture.torture_renames(Path(folder) / "names", kills, seed)
        print(
            f"names: {renamed.kills} kills in {time.monotonic() - started:.0f} s, {renamed.swept} batches "
            f"taken back; lost {renamed.lost}, altered {renamed.altered}, descriptions mixed up "
            f"{renamed.unreadable}, left over {renamed.strangers}"
        )
        full = torture.torture_full_disk(Path(folder) / "disk", kills, seed)
        if full is None:
            print("full disk: left out, a small disk can only be mounted by root")
        else:
            print(
                f"full disk: {full.attempts} attempts, {full.written} written, refused {dict(full.refused)}, "
                f"wrong {full.wrong}"
            )
        refused = torture.torture_refusals(Path(folder) / "refused")
        print(
            f"protected and open files: {refused.attempts} attempts, {refused.written} written, refused "
            f"{dict(refused.refused)}, wrong {refused.wrong}"
        )
        print(f"read back elsewhere: {torture.read_elsewhere(Path(folder) / 'elsewhere')}")
    good = outcome.harmless and outcome.written and renamed.harmless and renamed.swept
    return 0 if good and not refused.wrong and not (full and full.wrong) else 1


if __name__ == "__main__":
    sys.exit(main())
