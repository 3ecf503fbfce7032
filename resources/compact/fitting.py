"""Fits every part of the bridge to training clips. Seeded: the same clips give the same weights.

* Category columns: which class of a head is which UCS category is not written in the checkpoint, but the
  classes stand in alphabetical order with some left out. So they are matched to the alphabet by the
  captions of the clips each class is sure of, under the constraint that the order is kept.
* Words: kernel ridge regression over a sample of centres, and small networks with a soft-target contrastive
  loss; their scores are brought to one scale and added.
* Likeness: principal components of the embedding, whitened, and beside them the words a sound seems to mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from foley_desktop.index.embedders import bridge

COMPONENTS = 256
CENTRES = 1000
RIDGE = 1.0
NETWORKS = 4
HIDDEN = 512
EPOCHS = 20
LIKENESS_HEARD = 416
LIKENESS_MEANT = 96
LIKENESS_MEANT_SHARE = 0.5
CATEGORY_WEIGHT = 2.0
LENGTH_QUANTILE = 0.999
CLASSES = (78, 79, 69)


@dataclass
class Clips:
    """Training clips: embeddings ``[(t, 512)]``, head layers ``[(t, n)]``, captions ``(n, 384)``, weights."""

    blocks: list[np.ndarray]
    heads: list[np.ndarray]
    captions: np.ndarray
    weights: np.ndarray


@dataclass
class Phrases:
    """What people call the sounds of each category: MiniLM vectors ``(n, 384)`` and category of each."""

    vectors: np.ndarray
    categories: np.ndarray
    names: list[str]


def fit(clips: Clips, phrases: Phrases, seed: int = 0) -> dict[str, np.ndarray]:
    """The bridge's arrays, as its file holds them."""
    order = np.argsort(phrases.categories, kind="stable")
    vectors, categories = phrases.vectors[order], phrases.categories[order]
    first_of = np.searchsorted(categories, np.arange(len(phrases.names)))
    columns = category_columns(clips, vectors, categories)
    arrays: dict[str, np.ndarray] = {f"categories.head{i}": c for i, c in enumerate(columns)}
    arrays |= {"phrases": vectors.astype(np.float16), "phrases.first": first_of}
    mean = np.average(clips.captions, axis=0, weights=clips.weights)
    arrays["words.mean"] = mean.astype(np.float32)

    features = np.stack([bridge.pooled(b, h) for b, h in zip(clips.blocks, clips.heads, strict=True)])
    arrays |= projection(features, COMPONENTS, seed)
    x = np.clip((features - arrays["mean"]) / arrays["scale"], -6.0, 6.0) @ arrays["projection"].astype(
        np.float32
    )
    targets = clips.captions - mean
    questions = bridge.unit_rows(vectors - mean)

    kernel, by_kernel = kernel_regression(x, targets, clips.weights, seed)
    kernel_gain = 1.0 / float((questions @ by_kernel.T).std())
    arrays |= kernel
    arrays["kernel.scalars"] = np.array([float(kernel["kernel.scalars"][0]), kernel_gain], np.float32)
    by_networks = np.zeros_like(by_kernel)
    for number in range(NETWORKS):
        weights, out = network(x, bridge.unit_rows(targets), clips.weights, seed + number)
        arrays |= {f"net{number}.{part}": value.astype(np.float16) for part, value in weights.items()}
        by_networks += bridge.unit_rows(out) / NETWORKS
    network_gain = 1.0 / float((questions @ by_networks.T).std())
    arrays["networks.gain"] = np.array([network_gain], np.float32)

    evidence = np.stack([bridge.category_evidence(h, columns, len(phrases.names)) for h in clips.heads])
    asked = bridge.category_question(vectors, vectors, first_of)
    centre = evidence.mean(axis=0)
    evidence_gain = CATEGORY_WEIGHT / float((asked @ (evidence - centre).T).std())
    arrays["categories.mean"] = centre.astype(np.float32)
    arrays["categories.gain"] = np.array([evidence_gain], np.float32)
    parts = [by_kernel * kernel_gain + by_networks * network_gain, (evidence - centre) * evidence_gain]
    lengths = np.sqrt(sum(np.square(part).sum(axis=1) for part in parts))
    arrays["length"] = np.array([np.quantile(lengths, LENGTH_QUANTILE)], np.float32)

    arrays |= likeness(clips, vectors, seed)
    return arrays


def likeness(clips: Clips, phrases: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """The sound-only space: whitened components of the embedding, and the main directions of meaning."""
    loudness = np.stack([bridge.loudness(b) for b in clips.blocks])
    arrays = {f"likeness.{k}": v for k, v in projection(loudness, LIKENESS_HEARD, seed, 1.0).items()}
    _, _, directions = np.linalg.svd(phrases - phrases.mean(axis=0), full_matrices=False)
    arrays["likeness.words"] = directions[:LIKENESS_MEANT].T.astype(np.float16)
    arrays["likeness.share"] = np.array([LIKENESS_MEANT_SHARE], np.float32)
    return arrays


def category_columns(clips: Clips, vectors: np.ndarray, categories: np.ndarray) -> list[np.ndarray]:
    """For each of the first heads, the category of each of its classes."""
    count = int(categories.max()) + 1
    mean = np.average(clips.captions, axis=0, weights=clips.weights)
    meant = np.stack([vectors[categories == c].mean(axis=0) for c in range(count)])
    meant = bridge.unit_rows(bridge.unit_rows(meant) - bridge.unit_rows(meant).mean(axis=0))
    means = np.stack([h.mean(axis=0) for h in clips.heads])
    columns, first = [], 0
    for classes in CLASSES:
        logits = means[:, first + bridge.HIDDEN : first + bridge.HIDDEN + classes]
        first += bridge.HIDDEN + classes
        sure = bridge.softmax(logits) * clips.weights[:, None]
        heard = bridge.unit_rows((sure / np.maximum(sure.sum(axis=0), 1e-9)).T @ clips.captions - mean)
        columns.append(in_order(heard @ meant.T))
    return columns


def in_order(likeness: np.ndarray) -> np.ndarray:
    """The increasing assignment of rows to columns with the greatest sum, by dynamic programming."""
    rows, columns = likeness.shape
    best = np.full((rows + 1, columns + 1), -np.inf)
    best[0] = 0.0
    for row in range(1, rows + 1):
        for column in range(row, columns + 1):
            taken = best[row - 1, column - 1] + likeness[row - 1, column - 1]
            best[row, column] = max(best[row, column - 1], taken)
    chosen, row, column = [], rows, columns
    while row:
        if best[row, column] != best[row, column - 1]:
            chosen.append(column - 1)
            row -= 1
        column -= 1
    return np.array(chosen[::-1], dtype=np.int64)


def projection(features: np.ndarray, count: int, seed: int, whitening: float = 0.0) -> dict[str, np.ndarray]:
    """Standardisation and principal components, by a randomised decomposition (Halko et al. 2011).

    Components are divided by their deviation to the power of ``whitening``; without it all are divided by
    the deviation of the whole.
    """
    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-3 * features.std()
    x = np.clip((features - mean) / scale, -6.0, 6.0).astype(np.float32)
    offset = x.mean(axis=0)
    x -= offset
    basis = x @ np.random.default_rng(seed).standard_normal((x.shape[1], count + 40)).astype(np.float32)
    for _ in range(3):
        basis = np.linalg.qr(x @ (x.T @ basis))[0]
    _, deviations, components = np.linalg.svd(basis.T @ x, full_matrices=False)
    deviations = deviations[:count] / np.sqrt(len(x))
    by = deviations**whitening if whitening else np.full(len(deviations), (x @ components[:count].T).std())
    return {
        "mean": (mean + offset * scale).astype(np.float32),
        "scale": scale.astype(np.float32),
        "projection": (components[:count].T / by).astype(np.float16),
    }


def kernel_regression(
    x: np.ndarray, targets: np.ndarray, weights: np.ndarray, seed: int
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Weighted ridge regression with a Gaussian kernel over sampled centres (Nyström)."""
    rng = np.random.default_rng(seed)
    count = min(CENTRES, len(x))
    centres = x[rng.choice(len(x), count, replace=False, p=weights / weights.sum())].astype(np.float16)
    centres = centres.astype(np.float32)

    def squared(a: np.ndarray) -> np.ndarray:
        return np.square(a).sum(axis=1)[:, None] + np.square(centres).sum(axis=1) - 2.0 * a @ centres.T

    distances = squared(x)
    width = float(np.median(distances))
    kernel = np.exp(-distances / width)
    share = (weights / weights.mean())[:, None]
    system = kernel.T @ (kernel * share) + RIDGE * np.exp(-squared(centres) / width)
    system[np.diag_indices(count)] += 1e-3
    coefficients = np.linalg.solve(system, kernel.T @ (targets * share)).astype(np.float16)
    arrays = {
        "kernel.centres": centres.astype(np.float16),
        "kernel.coefficients": coefficients,
        "kernel.scalars": np.array([width, 1.0], np.float32),
    }
    return arrays, (kernel @ coefficients.astype(np.float32)).astype(np.float32)


def network(
    x: np.ndarray, targets: np.ndarray, weights: np.ndarray, seed: int
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """One hidden layer, trained to tell captions apart; targets are shared among like captions."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    inputs, answers = torch.from_numpy(x.astype(np.float32)), torch.from_numpy(targets.astype(np.float32))
    shares = torch.from_numpy(weights.astype(np.float32))
    up, down = nn.Linear(x.shape[1], HIDDEN), nn.Linear(HIDDEN, targets.shape[1])
    model = nn.Sequential(nn.Dropout(0.2), up, nn.ReLU(), nn.Dropout(0.4), down)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    size, temperature, noise = 256, 0.07, 0.2
    steps = max(1, len(x) // size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, 1e-3, total_steps=EPOCHS * steps + 1, pct_start=0.1
    )
    model.train()
    for _ in range(EPOCHS):
        order = torch.from_numpy(rng.permutation(len(x)))
        for step in range(steps):
            batch = order[step * size : (step + 1) * size]
            heard = F.normalize(model(inputs[batch] + noise * torch.randn(len(batch), x.shape[1])), dim=1)
            said = answers[batch]
            scores = heard @ said.T / temperature
            wanted = F.softmax(said @ said.T / temperature, dim=1)
            to_words = -(wanted * F.log_softmax(scores, dim=1)).sum(dim=1)
            to_sounds = -(wanted * F.log_softmax(scores.T, dim=1)).sum(dim=1)
            share = shares[batch] / shares[batch].mean()
            optimiser.zero_grad()
            ((to_words + to_sounds) / 2.0 * share).mean().backward()
            optimiser.step()
            schedule.step()
    model.eval()
    with torch.no_grad():
        out = model(inputs).numpy()
        parts = {"w1": up.weight.T, "b1": up.bias, "w2": down.weight.T, "b2": down.bias}
        return {name: value.contiguous().numpy() for name, value in parts.items()}, out
