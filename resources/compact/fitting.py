"""Fits every part of the bridge to training clips. Seeded: the same clips give the same weights.

* Heard: principal components of a sound's features, whitened, so that rare properties weigh as much as common
  ones; and a kernel ridge regression from captions to them, which says what sounds of such words are like.
* Categories: which class of a head of aiSFX is which UCS category is not written in the checkpoint, but the
  classes stand in alphabetical order with some left out. So they are matched to the alphabet by the captions
  of the clips each class is sure of, under the constraint that the order is kept.
* Classes: YAMNet's own, by their names; only what is usual is taken from the clips, and the directions in
  which the likeness space compares them.

The three scores are brought to one scale, the deviation over training clips and everyday phrases, and added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from foley_desktop.index.embedders import bridge

CAPTION_RIDGE = 2.0
SHARES = (1.0, 1.0, 2.0)
"""How much each score counts: heard, categories, classes."""
KINDS_SHARE = 0.5
LENGTH_QUANTILE = 0.999
CLASSES = (78, 79, 69)
"""Of aiSFX's first heads."""


@dataclass
class Clips:
    """Training clips: what the networks make of them, captions, vectors ``(n, 384)``, weights ``(n,)``."""

    listened: list[bridge.Listened]
    texts: list[str]
    captions: np.ndarray
    weights: np.ndarray


@dataclass
class Phrases:
    """What people call the sounds of some things: MiniLM vectors ``(n, 384)`` and the thing of each.

    ``as_sound`` are the vectors of "sound of" them.
    """

    vectors: np.ndarray
    as_sound: np.ndarray
    things: np.ndarray


def fit(clips: Clips, phrases: Phrases, names: Phrases, seed: int = 0) -> dict[str, np.ndarray]:
    """The bridge's arrays, as its file holds them.

    ``phrases`` name the categories of the UCS, ``names`` the classes of YAMNet.
    """
    arrays = sorted_phrases("phrases", phrases) | sorted_phrases("names", names)
    vectors, categories = bridge.restored(arrays, "phrases"), np.sort(phrases.things)
    columns = category_columns(clips, vectors, categories)
    arrays |= {f"categories.head{i}": known for i, known in enumerate(columns)}
    evidence = np.stack([bridge.category_evidence(one.heads, columns) for one in clips.listened])
    arrays["categories.mean"] = evidence.mean(axis=0).astype(np.float32)
    arrays |= usual_classes(clips)
    timbres = [bridge.timbre(one) for one in clips.listened]
    arrays |= projection("heard", np.stack(timbres), bridge.HEARD, seed)
    arrays |= caption_regression(clips, bridge.unit_rows(projected(arrays, "heard", timbres)))
    arrays["likeness.share"] = np.array([KINDS_SHARE], np.float32)
    return scaled(arrays, clips, phrases)


def sorted_phrases(name: str, phrases: Phrases) -> dict[str, np.ndarray]:
    """Phrases in the order of what they name, and where those of each thing begin."""
    order = np.argsort(phrases.things, kind="stable")
    things = phrases.things[order]
    first = np.searchsorted(things, np.arange(int(things[-1]) + 1))
    return {name: stored(phrases.vectors[order]), f"{name}.first": first}


def usual_classes(clips: Clips) -> dict[str, np.ndarray]:
    """What speaks for each class on average, and the principal directions in which clips differ."""
    evidence = np.stack([bridge.class_evidence(one.logits) for one in clips.listened])
    mean = evidence.mean(axis=0)
    _, _, directions = np.linalg.svd(evidence - mean, full_matrices=False)
    return {
        "classes.mean": mean.astype(np.float32),
        "classes.kinds": directions[: bridge.KINDS].T.astype(np.float16),
    }


def scaled(arrays: dict[str, np.ndarray], clips: Clips, phrases: Phrases) -> dict[str, np.ndarray]:
    """Adds the gains that bring the three scores to one scale, and the length of the joint vectors."""
    arrays["gains"], arrays["length"] = np.ones(3, np.float32), np.ones(1, np.float32)
    trained = bridge.Bridge.of(arrays)
    asked = trained.question_parts(phrases.vectors, phrases.as_sound)
    answered = [trained.answer_parts(one) for one in clips.listened]
    answers = [np.stack(part) for part in zip(*answered, strict=True)]
    gains = [
        share / float((question @ answer.T).std())
        for share, question, answer in zip(SHARES, asked, answers, strict=True)
    ]
    squares = sum(np.square(answer * gain).sum(axis=1) for answer, gain in zip(answers, gains, strict=True))
    arrays["gains"] = np.array(gains, np.float32)
    arrays["length"] = np.array([np.quantile(np.sqrt(squares), LENGTH_QUANTILE)], np.float32)
    return arrays


def stored(rows: np.ndarray) -> np.ndarray:
    """Unit rows as whole numbers from -127 to 127."""
    scale = 127.0 / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-9)
    return np.rint(rows * scale).astype(np.int8)


def category_columns(clips: Clips, vectors: np.ndarray, categories: np.ndarray) -> list[np.ndarray]:
    """For each of the first heads, the category of each of its classes."""
    mean = np.average(clips.captions, axis=0, weights=clips.weights)
    meant = np.stack([vectors[categories == c].mean(axis=0) for c in range(bridge.CATEGORIES)])
    meant = bridge.unit_rows(bridge.unit_rows(meant) - bridge.unit_rows(meant).mean(axis=0))
    means = np.stack([one.heads.mean(axis=0) for one in clips.listened])
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


def projection(name: str, features: np.ndarray, count: int, seed: int) -> dict[str, np.ndarray]:
    """Standardisation and whitened principal components, by a randomised decomposition (Halko et al. 2011).

    Components are divided by their deviations, and all by one number that brings the whole to one.
    """
    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-3 * features.std()
    x = np.clip((features - mean) / scale, -6.0, 6.0).astype(np.float32)
    offset = x.mean(axis=0)
    x -= offset
    basis = x @ np.random.default_rng(seed).standard_normal((x.shape[1], count + 40)).astype(np.float32)
    for _ in range(3):
        basis = np.linalg.qr(x @ (x.T @ basis))[0]
    _, deviations, components = np.linalg.svd(basis.T @ x, full_matrices=False)
    directions = components[:count].T / deviations[:count]
    directions /= (x @ directions).std()
    return {
        f"{name}.mean": (mean + offset * scale).astype(np.float32),
        f"{name}.scale": scale.astype(np.float32),
        f"{name}.projection": directions.astype(np.float16),
    }


def projected(arrays: dict[str, np.ndarray], name: str, features: list[np.ndarray]) -> np.ndarray:
    """Features on the directions as they are stored, float32 ``(n, count)``."""
    exact = {key: value.astype(np.float32) for key, value in arrays.items() if key.startswith(f"{name}.")}
    return bridge.Projection(exact, name)(np.stack(features)).astype(np.float32)


def caption_regression(clips: Clips, heard: np.ndarray) -> dict[str, np.ndarray]:
    """From words to what is heard: kernel ridge regression from captions to the mean of their clips."""
    different = sorted(set(clips.texts))
    place = {text: number for number, text in enumerate(different)}
    which = np.array([place[text] for text in clips.texts])
    often = np.bincount(which)
    means = np.zeros((len(different), heard.shape[1]))
    np.add.at(means, which, heard)
    means /= often[:, None]
    means -= means.mean(axis=0)
    first = np.array([clips.texts.index(text) for text in different])
    captions = stored(clips.captions[first])
    vectors = bridge.unit_rows(captions.astype(np.float32))
    kernel = bridge.caption_kernel(vectors, vectors).astype(np.float64)
    # A caption that many clips share is known better, so it is smoothed less.
    kernel[np.diag_indices(len(different))] += CAPTION_RIDGE / np.sqrt(often)
    coefficients = np.linalg.solve(kernel, means)
    return {"captions": captions, "captions.coefficients": coefficients.astype(np.float16)}
