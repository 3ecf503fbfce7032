"""How long a query's vectors take once the models are ready: ``python tests/bench/query_latency.py``.

Starts the model process, waits until it says that it is ready, and asks for the vector of a first query and
of a hundred further ones, as the search lane does: meaning and sound, one after the other. Prints JSON, times
in milliseconds. Nothing else should be running.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from foley_desktop.index.embedders.host import ModelHost  # noqa: E402

QUERIES = [
    f"{how} {what}"
    for how in ("heavy", "slow", "distant", "wooden", "metallic", "soft", "short", "wet", "old", "bright")
    for what in (
        "door creak",
        "rain",
        "footsteps",
        "engine",
        "whoosh",
        "glass",
        "dog",
        "crowd",
        "wind",
        "bell",
    )
]


def main() -> None:
    with ModelHost() as models:
        began = time.perf_counter()
        if not models.wait_ready(120):
            raise SystemExit("the models did not get ready")
        ready = time.perf_counter() - began
        meaning, sound = models.text_embedder(), models.embedder("compact")
        taken = []
        for query in ["heavy wooden door, slow creak", *QUERIES]:
            started = time.perf_counter()
            meaning.embed_text(query)
            sound.embed_text(query)
            taken.append(1000.0 * (time.perf_counter() - started))
    first, *rest = taken
    print(
        json.dumps(
            {
                "ready_s": round(ready, 2),
                "first_ms": round(first, 1),
                "median_ms": round(statistics.median(rest), 1),
                "p95_ms": round(sorted(rest)[int(0.95 * len(rest))], 1),
                "queries": len(rest),
            }
        )
    )


if __name__ == "__main__":
    main()
