"""How the relevance lab writes numbers: nothing without its metric, cut, mode and number of queries.

A difference has a sign and a colour, so that neither a colour-blind reader nor a fast one is misled.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor

from foley_desktop.eval.significance import Comparison
from foley_desktop.models import Mode
from foley_desktop.ui import theme
from foley_desktop.ui.evaluation_model import metric_title

MINUS = "−"
NONE = "–"
TOO_FEW = "too few"
"""Too few queries differ to tell a difference from chance."""

MODE_TIPS: dict[str, str] = {
    "hybrid": "words, meaning and sound, fused",
    "keyword": "BM25 over names, folders and tags, alone",
    "semantic": "the query's meaning against each clip's own words, alone",
    "audio": "the query against the sound itself, alone",
}

METRIC_NAMES = {"ndcg": "nDCG", "recall": "Recall", "precision": "Prec.", "map": "mAP", "mrr": "MRR"}


@dataclass(frozen=True, slots=True)
class View:
    """What of a measurement is looked at: a metric with its cut, a mode, with or without unjudged clips."""

    metric: str = "ndcg@10"
    mode: Mode = "hybrid"
    judged_only: bool = False

    @property
    def title(self) -> str:
        """``nDCG@10`` or ``nDCG@10 judged only``."""
        return metric_title(self.metric) + (" judged only" if self.judged_only else "")


def number(value: float | None) -> str:
    """A metric to three places."""
    return NONE if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """A difference to three places with its sign; a true zero has none."""
    if value is None:
        return NONE
    shown = f"{abs(value):.3f}"
    if value == 0.0:
        return shown
    return ("+" if value > 0 else MINUS) + shown


def change_colour(value: float | None) -> QColor:
    """Green for better, red for worse, grey for neither."""
    if value is None or value == 0.0:
        return theme.colour("faint")
    return theme.colour("accent" if value > 0 else "red")


def interval(low: float, high: float) -> str:
    """``0.651 – 0.802``."""
    return f"{low:.3f} – {high:.3f}"


def signed_interval(low: float, high: float) -> str:
    """``−0.021 to +0.030``."""
    return f"{signed(low)} to {signed(high)}"


def p_words(comparison: Comparison) -> str:
    """The p-value as it stands in a narrow column, or why there is none."""
    if not comparison.better + comparison.worse:
        return "equal"
    if comparison.significant is None:
        return TOO_FEW
    return "p < 0.001" if comparison.p_value < 0.001 else f"p {comparison.p_value:.3f}"


def counts_words(comparison: Comparison) -> str:
    """``12 better, 20 worse, 18 equal``."""
    return f"{comparison.better} better, {comparison.worse} worse, {comparison.equal} equal"


def fusion_words(fusion: str) -> str:
    """A fusion as reports describe it, for a line of text."""
    return fusion.replace("=", " ")
