"""The balance between words and sound, as one number that re-weighs whatever fusion is in use.

At 0 only the rankers that read count, at 1 only the one that listens, between them words and meaning
keep their relation to one another. The point that a fusion's own weights stand for is :func:`neutral`.
"""

from __future__ import annotations

from collections.abc import Mapping

from foley_desktop.index.search import AUDIO


def neutral(weights: Mapping[str, float]) -> float:
    """The balance that leaves ``weights`` as they are: the sound's part of their sum, 0 to 1."""
    total = sum(weights.values())
    return weights.get(AUDIO, 0.0) / total if total > 0.0 else 0.5


def balanced(weights: Mapping[str, float], balance: float) -> dict[str, float]:
    """Weights by ranker of which the sound's is ``balance`` and the others' sum is ``1 - balance``.

    Args:
        weights: The fusion's own, 0 or more. If none of the reading rankers has any, they share evenly.
        balance: 0 words alone, 1 sound alone; beyond that it is cut.
    """
    balance = min(max(balance, 0.0), 1.0)
    words = {name: weight for name, weight in weights.items() if name != AUDIO}
    total = sum(words.values())
    shares = {name: weight / total if total > 0.0 else 1.0 / len(words) for name, weight in words.items()}
    return {**{name: (1.0 - balance) * share for name, share in shares.items()}, AUDIO: balance}
